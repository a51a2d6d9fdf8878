//! A D-Bus connection.

use std::sync::Arc;
use std::time::Duration;

use dbus::channel::{BusType, Channel};
use dbus::nonblock::SyncConnection;
use tokio::task::JoinHandle;

use super::Bus;

/// Timeout of every call. A desktop answers in milliseconds.
pub(super) const CALL_WITHIN: Duration = Duration::from_secs(5);

/// An open connection, closed when dropped.
pub(super) struct Connected {
    pub(super) connection: Arc<SyncConnection>,
    resource: JoinHandle<()>,
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.resource.abort();
    }
}

impl Connected {
    /// `usual`: the bus that [`Bus::Usual`] stands for.
    pub(super) fn open(bus: &Bus, usual: BusType) -> Result<Connected, dbus::Error> {
        let channel = match bus {
            Bus::Usual => Channel::get_private(usual)?,
            Bus::At(address) => {
                let mut channel = Channel::open_private(address)?;
                channel.register()?;
                channel
            }
        };
        let (resource, connection) = dbus_tokio::connection::from_channel(channel)?;
        let resource = tokio::spawn(async move {
            let error = resource.await;
            tracing::debug!(%error, "a bus is gone");
        });
        Ok(Connected { connection, resource })
    }

    /// Waits until the connection is lost.
    pub(super) async fn gone(&mut self) {
        // An error is a panic in the D-Bus crate, which is treated as a lost connection.
        let _ = (&mut self.resource).await;
    }

    pub(super) fn is_gone(&self) -> bool {
        self.resource.is_finished()
    }
}
