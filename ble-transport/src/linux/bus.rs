//! The system bus beside bluer's own connections: whether bluetoothd is there, when the system sleeps, and what bluer does
//! not read.

use std::sync::Arc;
use std::time::Duration;

use dbus::channel::MatchingReceiver;
use dbus::message::MatchRule;
use dbus::nonblock::stdintf::org_freedesktop_dbus::Properties;
use dbus::nonblock::{Proxy, SyncConnection};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

const BLUEZ: &str = "org.bluez";
const CALL_WITHIN: Duration = Duration::from_secs(5);

/// News from the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// bluetoothd left: it was stopped, or died.
    ServiceLeft,
    /// bluetoothd came.
    ServiceCame,
    /// The system goes to sleep (`true`) or woke up.
    Sleep(bool),
    /// The bus itself is gone.
    BusGone,
}

pub(super) struct Bus {
    connection: Arc<SyncConnection>,
    news: mpsc::UnboundedReceiver<News>,
    resource: JoinHandle<()>,
}

impl Drop for Bus {
    fn drop(&mut self) {
        self.resource.abort();
    }
}

impl Bus {
    /// Connects and subscribes; says whether bluetoothd is there now. Asking for it by its name in any other way would
    /// have D-Bus start it.
    pub(super) async fn connect() -> Result<(Bus, bool), dbus::Error> {
        let (resource, connection) = dbus_tokio::connection::new_system_sync()?;
        let (tell, news) = mpsc::unbounded_channel();
        let gone = tell.clone();
        let resource = tokio::spawn(async move {
            let error = resource.await;
            tracing::warn!(%error, "the system bus is gone");
            let _ = gone.send(News::BusGone);
        });
        let bus = Bus { connection, news, resource };

        // Filtered at the bus by `arg0`: without it every program that comes or goes would wake us.
        let owner =
            "type='signal',interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='org.bluez'";
        bus.connection.add_match_no_cb(owner).await?;
        let rule = MatchRule::new_signal("org.freedesktop.DBus", "NameOwnerChanged");
        let told = tell.clone();
        bus.connection.start_receive(
            rule,
            Box::new(move |message, _| {
                if let Ok((name, old, new)) = message.read3::<String, String, String>()
                    && name == BLUEZ
                {
                    // bluetoothd killed: nothing else tells. Neither stream of bluer ends, btleplug sees no event.
                    if !old.is_empty() {
                        let _ = told.send(News::ServiceLeft);
                    }
                    if !new.is_empty() {
                        let _ = told.send(News::ServiceCame);
                    }
                }
                true
            }),
        );
        let rule = MatchRule::new_signal("org.freedesktop.login1.Manager", "PrepareForSleep");
        bus.connection.add_match_no_cb(&rule.match_str()).await?;
        bus.connection.start_receive(
            rule,
            Box::new(move |message, _| {
                if let Ok(asleep) = message.read1::<bool>() {
                    let _ = tell.send(News::Sleep(asleep));
                }
                true
            }),
        );

        let proxy =
            Proxy::new("org.freedesktop.DBus", "/org/freedesktop/DBus", CALL_WITHIN, &*bus.connection);
        let (there,): (bool,) = proxy.method_call("org.freedesktop.DBus", "NameHasOwner", (BLUEZ,)).await?;
        Ok((bus, there))
    }

    /// Waits for news. Cancel-safe.
    pub(super) async fn news(&mut self) -> News {
        self.news.recv().await.unwrap_or(News::BusGone)
    }

    /// `Roles` of an adapter; `None` before BlueZ 5.54.
    pub(super) async fn roles(&self, adapter: &str) -> Option<Vec<String>> {
        let path = format!("/org/bluez/{adapter}");
        let proxy = Proxy::new(BLUEZ, path, CALL_WITHIN, &*self.connection);
        proxy.get("org.bluez.Adapter1", "Roles").await.ok()
    }
}
