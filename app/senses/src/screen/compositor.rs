//! The idle inhibitor of a Wayland compositor (idle-inhibit-unstable-v1): what sway and its like honour.
//!
//! An inhibitor belongs to a surface and counts while that is visible. The app's window belongs to winit, so there is a surface of its
//! own for it: one transparent pixel on the compositor's overlay (wlr-layer-shell-unstable-v1) that takes no input. A compositor without
//! the layer shell (GNOME's) has the D-Bus services.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use wayland_client::globals::{BindError, GlobalError, GlobalListContents, registry_queue_init};
use wayland_client::protocol::wl_buffer::WlBuffer;
use wayland_client::protocol::wl_compositor::WlCompositor;
use wayland_client::protocol::wl_region::WlRegion;
use wayland_client::protocol::wl_registry::{self, WlRegistry};
use wayland_client::protocol::wl_shm::{Format, WlShm};
use wayland_client::protocol::wl_shm_pool::WlShmPool;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Connection, Dispatch, DispatchError, QueueHandle, delegate_noop};
use wayland_protocols::wp::idle_inhibit::zv1::client::zwp_idle_inhibit_manager_v1::ZwpIdleInhibitManagerV1;
use wayland_protocols::wp::idle_inhibit::zv1::client::zwp_idle_inhibitor_v1::ZwpIdleInhibitorV1;
use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_shell_v1::{Layer, ZwlrLayerShellV1};
use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_surface_v1::{
    self, Anchor, ZwlrLayerSurfaceV1,
};

/// Why the compositor does not keep the screen on.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error(transparent)]
    Globals(#[from] GlobalError),
    /// No idle inhibitors, or no layer shell.
    #[error(transparent)]
    Missing(#[from] BindError),
    #[error(transparent)]
    Connection(#[from] DispatchError),
    #[error("no memory to share: {0}")]
    Memory(#[from] io::Error),
    #[error("there is no output for the surface")]
    Closed,
}

/// The screen stays on until this is dropped. It has a connection of its own, with whose end the compositor releases it.
pub(super) struct IdleInhibitor {
    _connection: Connection,
    _inhibitor: ZwpIdleInhibitorV1,
}

impl IdleInhibitor {
    pub(super) fn take(connection: Connection) -> Result<Self, Error> {
        let (globals, mut events) = registry_queue_init::<State>(&connection)?;
        let queue = events.handle();
        let manager: ZwpIdleInhibitManagerV1 = globals.bind(&queue, 1..=1, ())?;
        let shell: ZwlrLayerShellV1 = globals.bind(&queue, 1..=1, ())?;
        let compositor: WlCompositor = globals.bind(&queue, 1..=1, ())?;
        let memory: WlShm = globals.bind(&queue, 1..=1, ())?;

        let surface = compositor.create_surface(&queue, ());
        let layered = shell.get_layer_surface(&surface, None, Layer::Overlay, "qiyou".into(), &queue, ());
        layered.set_size(1, 1);
        layered.set_anchor(Anchor::Top | Anchor::Left);
        // It neither takes space from others nor gives way to them.
        layered.set_exclusive_zone(-1);
        surface.set_input_region(Some(&compositor.create_region(&queue, ())));
        surface.commit();
        let mut state = State::default();
        while !state.configured {
            events.blocking_dispatch(&mut state)?;
            if state.closed {
                return Err(Error::Closed);
            }
        }

        let pixel = transparent_pixel()?;
        let pool = memory.create_pool(pixel.as_fd(), 4, &queue, ());
        surface.attach(Some(&pool.create_buffer(0, 1, 1, 4, Format::Argb8888, &queue, ())), 0, 0);
        surface.damage(0, 0, 1, 1);
        let inhibitor = manager.create_inhibitor(&surface, &queue, ());
        surface.commit();
        // Here the compositor's errors come, if it has any.
        events.roundtrip(&mut state)?;
        Ok(Self { _connection: connection, _inhibitor: inhibitor })
    }
}

/// Memory for one pixel that is shared with the compositor.
fn transparent_pixel() -> io::Result<OwnedFd> {
    let memory = memfd_create("qiyou-pixel", MemfdFlags::CLOEXEC)?;
    ftruncate(&memory, 4)?;
    Ok(memory)
}

#[derive(Default)]
struct State {
    configured: bool,
    closed: bool,
}

impl Dispatch<ZwlrLayerSurfaceV1, ()> for State {
    fn event(
        state: &mut Self,
        surface: &ZwlrLayerSurfaceV1,
        event: zwlr_layer_surface_v1::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        match event {
            zwlr_layer_surface_v1::Event::Configure { serial, .. } => {
                surface.ack_configure(serial);
                state.configured = true;
            }
            zwlr_layer_surface_v1::Event::Closed => state.closed = true,
            _ => {}
        }
    }
}

impl Dispatch<WlRegistry, GlobalListContents> for State {
    fn event(
        _: &mut Self,
        _: &WlRegistry,
        _: wl_registry::Event,
        _: &GlobalListContents,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }
}

delegate_noop!(State: WlCompositor);
delegate_noop!(State: WlRegion);
delegate_noop!(State: WlShmPool);
delegate_noop!(State: ZwpIdleInhibitManagerV1);
delegate_noop!(State: ZwpIdleInhibitorV1);
delegate_noop!(State: ZwlrLayerShellV1);
delegate_noop!(State: ignore WlShm);
delegate_noop!(State: ignore WlSurface);
delegate_noop!(State: ignore WlBuffer);
