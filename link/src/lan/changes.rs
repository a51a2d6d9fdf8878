//! The kernel's word that the device's interfaces or addresses are others (rtnetlink(7)), so that nobody has to look for it
//! by the clock.

use std::future::pending;
use std::io;
use std::time::Duration;

use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{AsyncSocket, AsyncSocketExt, SocketAddr, TokioSocket};
use tracing::debug;

/// One cable that is plugged in is several messages in a row.
const TOGETHER: Duration = Duration::from_millis(100);

/// Of links, of IPv4 and of IPv6 addresses: RTMGRP_LINK, RTMGRP_IPV4_IFADDR and RTMGRP_IPV6_IFADDR of linux/rtnetlink.h.
const GROUPS: u32 = 0x1 | 0x10 | 0x100;

/// Listens until it is dropped, or until the kernel will say no more.
pub(super) struct Changes {
    socket: Option<TokioSocket>,
    /// A message was read, and what comes with it is waited for.
    heard: bool,
}

impl Changes {
    /// Must be called within a runtime.
    pub(super) fn listen() -> Self {
        let socket = open().inspect_err(|error| debug!(%error, "the kernel tells nothing of networks")).ok();
        Self { socket, heard: false }
    }

    /// Where the kernel says nothing, one has to look by the clock.
    pub(super) fn are_told(&self) -> bool {
        self.socket.is_some()
    }

    /// Until something may be otherwise than before. Nothing is lost when this is dropped half-way.
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

/// That there is a message says enough: what is so now is read elsewhere. Of one that is longer the rest is thrown away.
async fn read(socket: &TokioSocket) -> io::Result<()> {
    /// More has come than the kernel keeps: a change all the same (ENOBUFS).
    const TOO_MANY: i32 = 105;
    match socket.recv(&mut &mut [0; 64][..]).await {
        Err(error) if error.raw_os_error() != Some(TOO_MANY) => Err(error),
        _ => Ok(()),
    }
}
