//! D-Bus beside bluer's own connections: whether bluetoothd runs, when the system sleeps, and calls that bluer lacks.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use dbus::Message;
use dbus::arg::{PropMap, Variant};
use dbus::channel::{MatchingReceiver, Token};
use dbus::message::MatchRule;
use dbus::nonblock::stdintf::org_freedesktop_dbus::Properties;
use dbus::nonblock::{Proxy, SyncConnection};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

const BLUEZ: &str = "org.bluez";
const CALL_WITHIN: Duration = Duration::from_secs(5);

/// Devices with a report that nobody has read yet. A hostile sender can fill the list; a device that does not fit is
/// reported again.
const DEVICES_KEPT: usize = 64;

/// Events from the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// bluetoothd stopped or crashed.
    ServiceLeft,
    /// bluetoothd started.
    ServiceCame,
    /// The system goes to sleep (`true`) or woke up.
    Sleep(bool),
    /// The bus itself is gone.
    BusGone,
}

pub(super) struct Bus {
    connection: Arc<SyncConnection>,
    news: mpsc::UnboundedReceiver<News>,
    left: watch::Receiver<()>,
    resource: JoinHandle<()>,
}

impl Drop for Bus {
    fn drop(&mut self) {
        self.resource.abort();
    }
}

impl Bus {
    /// Connects and subscribes; returns whether bluetoothd runs now. A call to bluetoothd by name would make D-Bus start
    /// it.
    pub(super) async fn connect() -> Result<(Bus, bool), dbus::Error> {
        let (resource, connection) = dbus_tokio::connection::new_system_sync()?;
        let (tell, news) = mpsc::unbounded_channel();
        let gone = tell.clone();
        let resource = tokio::spawn(async move {
            let error = resource.await;
            tracing::warn!(%error, "the system bus is gone");
            let _ = gone.send(News::BusGone);
        });
        let (leaves, left) = watch::channel(());
        let bus = Bus { connection, news, left, resource };

        // The bus filters by `arg0`: without the filter every program that starts or stops would wake this process.
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
                    // A killed bluetoothd gives no other signal: neither stream of bluer ends, and btleplug gets no event.
                    if !old.is_empty() {
                        leaves.send_replace(());
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

    /// Waits for the next event. Cancel-safe.
    pub(super) async fn news(&mut self) -> News {
        self.news.recv().await.unwrap_or(News::BusGone)
    }

    /// Changes when bluetoothd leaves, before [`News::ServiceLeft`] is read, and stays changed until [`saw_it_leave`](Self::saw_it_leave).
    pub(super) fn left(&self) -> watch::Receiver<()> {
        self.left.clone()
    }

    /// [`News::ServiceLeft`] has been dealt with.
    pub(super) fn saw_it_leave(&mut self) {
        self.left.mark_unchanged();
    }

    /// `Roles` of an adapter; `None` before BlueZ 5.54.
    pub(super) async fn roles(&self, adapter: &str) -> Option<Vec<String>> {
        let path = format!("/org/bluez/{adapter}");
        let proxy = Proxy::new(BLUEZ, path, CALL_WITHIN, &*self.connection);
        proxy.get("org.bluez.Adapter1", "Roles").await.ok()
    }

    /// Discovery on an adapter, owned by this connection.
    pub(super) fn discovery(&self, adapter: &str) -> Discovery {
        Discovery { connection: self.connection.clone(), adapter: format!("/org/bluez/{adapter}") }
    }

    /// Devices below an adapter whose advertisements BlueZ reports from now on.
    pub(super) async fn devices(&self, adapter: &str) -> Result<Devices, dbus::Error> {
        let (tell, heard) = mpsc::channel(DEVICES_KEPT);
        let above = format!("/org/bluez/{adapter}");
        // The bus filters as far as it can: characteristics and adapters change as well.
        let changed = format!(
            "type='signal',sender='{BLUEZ}',interface='{PROPERTIES}',member='PropertiesChanged',arg0='{DEVICE}',path_namespace='{above}'"
        );
        let added = format!("type='signal',sender='{BLUEZ}',interface='{OBJECTS}',member='InterfacesAdded'");
        let rules = vec![changed, added];
        for rule in &rules {
            self.connection.add_match_no_cb(rule).await?;
        }
        let mut tokens = Vec::new();
        for (interface, member, read) in [
            (PROPERTIES, "PropertiesChanged", heard_of as fn(&Message) -> Option<bluer::Address>),
            (OBJECTS, "InterfacesAdded", added_device),
        ] {
            let (tell, above) = (tell.clone(), above.clone());
            tokens.push(self.connection.start_receive(
                MatchRule::new_signal(interface, member),
                Box::new(move |message, _| {
                    if let Some(address) = read(&message)
                        && object(&message).is_some_and(|path| path.starts_with(&above))
                    {
                        let _ = tell.try_send(address);
                    }
                    true
                }),
            ));
        }
        Ok(Devices { connection: self.connection.clone(), rules, tokens, heard })
    }
}

const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
const OBJECTS: &str = "org.freedesktop.DBus.ObjectManager";
const DEVICE: &str = "org.bluez.Device1";

/// Properties that change with an advertisement. Changes of others are ignored.
const FROM_THE_AIR: [&str; 4] = ["RSSI", "ManufacturerData", "UUIDs", "Name"];

/// The object of a signal: the new object of an InterfacesAdded, else the sender's path.
fn object(message: &Message) -> Option<String> {
    match message.member().as_deref() {
        Some("InterfacesAdded") => Some(message.get1::<dbus::Path>()?.to_string()),
        _ => Some(message.path()?.to_string()),
    }
}

fn heard_of(message: &Message) -> Option<bluer::Address> {
    let (interface, changed, _) = message.read3::<String, PropMap, Vec<String>>().ok()?;
    let from_the_air = FROM_THE_AIR.iter().any(|name| changed.contains_key(*name));
    if interface == DEVICE && from_the_air { device_address(&object(message)?) } else { None }
}

fn added_device(message: &Message) -> Option<bluer::Address> {
    let (path, interfaces) = message.read2::<dbus::Path, HashMap<String, PropMap>>().ok()?;
    if interfaces.contains_key(DEVICE) { device_address(&path) } else { None }
}

/// "/org/bluez/hci0/dev_00_AA_01_00_00_42"
fn device_address(path: &str) -> Option<bluer::Address> {
    path.rsplit('/').next()?.strip_prefix("dev_")?.replace('_', ":").parse().ok()
}

/// Devices that are being heard. The subscription ends on drop.
pub(super) struct Devices {
    connection: Arc<SyncConnection>,
    rules: Vec<String>,
    tokens: Vec<Token>,
    heard: mpsc::Receiver<bluer::Address>,
}

impl Devices {
    /// The next device with a report. `None`: the bus is gone.
    pub(super) async fn next(&mut self) -> Option<bluer::Address> {
        self.heard.recv().await
    }
}

impl Drop for Devices {
    fn drop(&mut self) {
        for token in self.tokens.drain(..) {
            self.connection.stop_receive(token);
        }
        let (connection, rules) = (self.connection.clone(), std::mem::take(&mut self.rules));
        tokio::spawn(async move {
            for rule in rules {
                // Fails only when the bus is gone; then the match rule is gone too.
                let _ = connection.remove_match_no_cb(&rule).await;
            }
        });
    }
}

/// BlueZ's discovery. Each connection to the bus starts and stops its own.
///
/// Not through bluer, whose discovery cannot be restarted while its event stream is open.
#[derive(Clone)]
pub(super) struct Discovery {
    connection: Arc<SyncConnection>,
    adapter: String,
}

impl Discovery {
    /// Starts discovery of Low Energy devices that advertise this service. Never switches the adapter on.
    pub(super) async fn start(&self, service: uuid::Uuid) -> Result<(), dbus::Error> {
        let filter = PropMap::from([
            ("UUIDs".to_owned(), Variant(Box::new(vec![service.to_string()]) as _)),
            ("Transport".to_owned(), Variant(Box::new("le".to_owned()) as _)),
            ("DuplicateData".to_owned(), Variant(Box::new(true) as _)),
        ]);
        let () = self.proxy().method_call(ADAPTER, "SetDiscoveryFilter", (filter,)).await?;
        self.proxy().method_call(ADAPTER, "StartDiscovery", ()).await
    }

    /// Restarts discovery, so that the controller reports the devices in range again.
    pub(super) async fn restart(&self) -> Result<(), dbus::Error> {
        // Fails if discovery has ended by itself, which does not prevent a start.
        let _: Result<(), _> = self.stop().await;
        self.proxy().method_call(ADAPTER, "StartDiscovery", ()).await
    }

    pub(super) async fn stop(&self) -> Result<(), dbus::Error> {
        self.proxy().method_call(ADAPTER, "StopDiscovery", ()).await
    }

    fn proxy(&self) -> Proxy<'_, &SyncConnection> {
        Proxy::new(BLUEZ, &*self.adapter, CALL_WITHIN, &*self.connection)
    }
}

const ADAPTER: &str = "org.bluez.Adapter1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_known_by_its_path() {
        let address = device_address("/org/bluez/hci0/dev_00_AA_01_00_00_42").expect("an address");
        assert_eq!(address.to_string(), "00:AA:01:00:00:42");
        for other in ["/org/bluez/hci0", "/org/bluez/hci0/dev_00_AA/service000a", "/", ""] {
            assert_eq!(device_address(other), None);
        }
    }

    #[test]
    fn a_change_that_comes_with_an_advert_is_told_from_others() {
        let signal = |interface: &str, property: &str| {
            let path = "/org/bluez/hci0/dev_00_AA_01_00_00_42";
            let changed = PropMap::from([(property.to_owned(), Variant(Box::new(-60_i16) as _))]);
            let message = Message::new_signal(path, PROPERTIES, "PropertiesChanged").expect("a signal");
            message.append3(interface, changed, Vec::<String>::new())
        };
        assert!(heard_of(&signal(DEVICE, "RSSI")).is_some());
        assert!(heard_of(&signal(DEVICE, "Connected")).is_none());
        assert!(heard_of(&signal("org.bluez.Adapter1", "RSSI")).is_none());
    }

    #[test]
    fn a_new_device_is_told_from_another_new_object() {
        let signal = |path: &str, interface: &str| {
            let interfaces = HashMap::from([(interface.to_owned(), PropMap::new())]);
            let message = Message::new_signal("/", OBJECTS, "InterfacesAdded").expect("a signal");
            message.append2(dbus::Path::new(path).expect("a path"), interfaces)
        };
        let device = "/org/bluez/hci0/dev_00_AA_01_00_00_42";
        assert!(added_device(&signal(device, DEVICE)).is_some());
        assert!(added_device(&signal(device, "org.bluez.GattService1")).is_none());
        assert_eq!(object(&signal(device, DEVICE)).as_deref(), Some(device));
    }
}
