//! Keeps the screen on: through the Wayland compositor, and through the desktop portal, else the desktop's screen saver, else logind.
//!
//! Both, because neither tells whether it has an effect: under sway the portal and logind accept a request that nobody heeds, and a
//! desktop may count only what came over D-Bus.

#[cfg(feature = "screen")]
mod compositor;

/// The screen, kept on from a thread of its own. Without a desktop that can do so nothing happens.
#[derive(Debug, Default)]
pub struct Screen {
    /// Started with the first wish to keep the screen on.
    #[cfg(feature = "screen")]
    wishes: std::sync::OnceLock<std::sync::mpsc::Sender<bool>>,
}

impl Screen {
    /// Keeps the screen on from now on, or lets it go off again.
    pub fn keep_on(&self, on: bool) {
        #[cfg(feature = "screen")]
        if on || self.wishes.get().is_some() {
            // The thread ends only with this sender.
            self.wishes.get_or_init(inhibiting::start).send(on).ok();
        }
        #[cfg(not(feature = "screen"))]
        let _ = on;
    }
}

#[cfg(feature = "screen")]
pub use inhibiting::{Inhibition, Keeper};

#[cfg(feature = "screen")]
mod inhibiting {
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Duration;

    use dbus::arg::{OwnedFd, PropMap, Variant};
    use dbus::blocking::Connection;
    use dbus::{Error, Path};

    use super::compositor::IdleInhibitor;

    /// Limit for a service that starts on demand.
    const PATIENCE: Duration = Duration::from_secs(5);
    const NAME: &str = "Qiyou";
    const REASON: &str = "A game is being played";

    const PORTAL: &str = "org.freedesktop.portal.Desktop";
    const PORTAL_PATH: &str = "/org/freedesktop/portal/desktop";
    const PORTAL_INHIBIT: &str = "org.freedesktop.portal.Inhibit";
    /// Flag of the portal's Inhibit: the session does not become idle.
    const IDLE: u32 = 8;
    const SCREEN_SAVER: &str = "org.freedesktop.ScreenSaver";
    const SCREEN_SAVER_PATH: &str = "/org/freedesktop/ScreenSaver";
    const LOGIND: &str = "org.freedesktop.login1";
    const LOGIND_PATH: &str = "/org/freedesktop/login1";

    pub(super) fn start() -> Sender<bool> {
        let (wishes, wished) = channel();
        let serve = move || attend(&wished);
        if let Err(error) = std::thread::Builder::new().name("screen".into()).spawn(serve) {
            tracing::debug!(%error, "no thread for the screen");
        }
        wishes
    }

    fn attend(wished: &Receiver<bool>) {
        let mut held = None;
        while let Ok(mut on) = wished.recv() {
            // Only the latest wish counts.
            while let Ok(later) = wished.try_recv() {
                on = later;
            }
            if !on {
                held = None;
            } else if held.is_none() {
                held = Inhibition::take(
                    wayland_client::Connection::connect_to_env().ok(),
                    || Connection::new_session().ok(),
                    || Connection::new_system().ok(),
                );
            }
        }
    }

    /// Which D-Bus service keeps the screen on.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Keeper {
        /// The desktop portal, and the object of the request.
        Portal(Path<'static>),
        /// The desktop's screen saver, and its cookie.
        ScreenSaver(u32),
        /// logind's idle inhibitor, which lasts as long as its file descriptor.
        Logind,
    }

    /// The screen stays on until this is dropped. Its connections are its own, and their end releases it too.
    pub struct Inhibition {
        compositor: Option<IdleInhibitor>,
        service: Option<Service>,
    }

    struct Service {
        bus: Connection,
        keeper: Keeper,
        _descriptor: Option<OwnedFd>,
    }

    impl Inhibition {
        /// Asks the compositor; and the portal, then the screen saver, then logind. `None`: nobody keeps the screen on.
        pub fn take(
            compositor: Option<wayland_client::Connection>,
            session: impl Fn() -> Option<Connection>,
            system: impl Fn() -> Option<Connection>,
        ) -> Option<Self> {
            let compositor = compositor.and_then(|connection| {
                IdleInhibitor::take(connection).map_err(|error| refused("the compositor", &error)).ok()
            });
            let service = Service::take(session, system);
            (compositor.is_some() || service.is_some()).then_some(Self { compositor, service })
        }

        /// Whether the compositor keeps the screen on.
        pub fn by_compositor(&self) -> bool {
            self.compositor.is_some()
        }

        /// Which D-Bus service keeps the screen on.
        pub fn keeper(&self) -> Option<&Keeper> {
            self.service.as_ref().map(|service| &service.keeper)
        }
    }

    fn refused(who: &str, error: &dyn std::fmt::Display) {
        tracing::debug!(%error, "{who} does not keep the screen on");
    }

    impl Service {
        fn take(
            session: impl Fn() -> Option<Connection>,
            system: impl Fn() -> Option<Connection>,
        ) -> Option<Self> {
            if let Some(bus) = session() {
                match portal(&bus) {
                    Ok(request) => {
                        return Some(Self { bus, keeper: Keeper::Portal(request), _descriptor: None });
                    }
                    Err(error) => refused("the portal", &error),
                }
                match screen_saver(&bus) {
                    Ok(cookie) => {
                        return Some(Self { bus, keeper: Keeper::ScreenSaver(cookie), _descriptor: None });
                    }
                    Err(error) => refused("the screen saver", &error),
                }
            }
            let bus = system()?;
            match logind(&bus) {
                Ok(descriptor) => Some(Self { bus, keeper: Keeper::Logind, _descriptor: Some(descriptor) }),
                Err(error) => {
                    refused("logind", &error);
                    None
                }
            }
        }
    }

    impl Drop for Service {
        fn drop(&mut self) {
            let released: Result<(), Error> = match &self.keeper {
                Keeper::Portal(request) => self
                    .bus
                    .with_proxy(PORTAL, request.clone(), PATIENCE)
                    .method_call("org.freedesktop.portal.Request", "Close", ()),
                Keeper::ScreenSaver(cookie) => self
                    .bus
                    .with_proxy(SCREEN_SAVER, SCREEN_SAVER_PATH, PATIENCE)
                    .method_call(SCREEN_SAVER, "UnInhibit", (*cookie,)),
                Keeper::Logind => Ok(()),
            };
            if let Err(error) = released {
                // The service has ended, and the inhibition with it.
                tracing::debug!(%error, "the screen was let go already");
            }
        }
    }

    fn portal(bus: &Connection) -> Result<Path<'static>, Error> {
        let options = PropMap::from([("reason".into(), Variant(Box::new(REASON.to_owned()) as _))]);
        let desktop = bus.with_proxy(PORTAL, PORTAL_PATH, PATIENCE);
        let (request,): (Path<'static>,) =
            desktop.method_call(PORTAL_INHIBIT, "Inhibit", ("", IDLE, options))?;
        Ok(request)
    }

    fn screen_saver(bus: &Connection) -> Result<u32, Error> {
        let saver = bus.with_proxy(SCREEN_SAVER, SCREEN_SAVER_PATH, PATIENCE);
        let (cookie,): (u32,) = saver.method_call(SCREEN_SAVER, "Inhibit", (NAME, REASON))?;
        Ok(cookie)
    }

    fn logind(bus: &Connection) -> Result<OwnedFd, Error> {
        let manager = bus.with_proxy(LOGIND, LOGIND_PATH, PATIENCE);
        let why = ("idle", NAME, REASON, "block");
        let (held,): (OwnedFd,) = manager.method_call("org.freedesktop.login1.Manager", "Inhibit", why)?;
        Ok(held)
    }
}
