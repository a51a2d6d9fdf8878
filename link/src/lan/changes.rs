//! The kernel's notification of changed interfaces or addresses (rtnetlink(7)), in place of polling.

use std::future::pending;
use std::io;
use std::time::Duration;

use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{AsyncSocket, AsyncSocketExt, SocketAddr, TokioSocket};
use tracing::debug;

/// Debounce time: plugging in one cable causes several messages in a row.
const TOGETHER: Duration = Duration::from_millis(100);

/// Multicast groups for links, IPv4 and IPv6 addresses: RTMGRP_LINK, RTMGRP_IPV4_IFADDR and RTMGRP_IPV6_IFADDR of
/// linux/rtnetlink.h.
const GROUPS: u32 = 0x1 | 0x10 | 0x100;

/// A subscription to changes, until dropped or until the kernel's socket fails.
pub(super) struct Changes {
    socket: Option<TokioSocket>,
    /// A message was read; the debounce time runs.
    heard: bool,
}

impl Changes {
    /// Must be called within a runtime.
    pub(super) fn listen() -> Self {
        let socket = open().inspect_err(|error| debug!(%error, "the kernel tells nothing of networks")).ok();
        Self { socket, heard: false }
    }

    /// Whether the kernel reports changes; otherwise the caller has to poll.
    pub(super) fn are_told(&self) -> bool {
        self.socket.is_some()
    }

    /// Waits for a possible change. Cancel-safe.
    pub(super) async fn next(&mut self) {
        if !self.heard {
            let Some(socket) = &self.socket else { return pending().await };
            if let Err(error) = read(socket).await {
                debug!(%error, "the kernel tells no more of networks");
                self.socket = None;
            }
            self.heard = true;
        }
        tokio::time::sleep(TOGETHER).await;
        if let Some(socket) = &self.socket {
            while socket.socket_ref().recv(&mut &mut [0; 64][..], 0).is_ok() {}
        }
        self.heard = false;
    }
}

fn open() -> io::Result<TokioSocket> {
    let mut socket = TokioSocket::new(NETLINK_ROUTE)?;
    socket.socket_mut().bind(&SocketAddr::new(0, GROUPS))?;
    Ok(socket)
}

/// The arrival of a message is enough: the present state is read elsewhere. The rest of a longer message is discarded.
async fn read(socket: &TokioSocket) -> io::Result<()> {
    /// ENOBUFS: the kernel's queue overflowed. Counts as a change.
    const TOO_MANY: i32 = 105;
    match socket.recv(&mut &mut [0; 64][..]).await {
        Err(error) if error.raw_os_error() != Some(TOO_MANY) => Err(error),
        _ => Ok(()),
    }
}
