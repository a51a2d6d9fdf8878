//! Values of a peer's characteristics through sockets that BlueZ lends, rather than a D-Bus call for each.
//!
//! A call and its reply pass four processes' queues on the way to bluetoothd, and each notification two: on a slow device
//! that is a quarter of a move's time and a third of a transfer's bytes. Where BlueZ lends none, the calls remain.

use std::io;
use std::time::Duration;

use async_trait::async_trait;
use bluer::Session;
use bluer::gatt::remote::Characteristic;
use bluer::gatt::{CharacteristicReader, CharacteristicWriter};
use bytes::Bytes;
use dbus::nonblock::stdintf::org_freedesktop_dbus::ObjectManager;
use dbus::nonblock::{Proxy, SyncConnection};
use futures::{StreamExt, stream};
use std::sync::Arc;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use crate::advert::{TO_CENTRAL, TO_PERIPHERAL};
use crate::central::{Values, Ways};

const CALL_WITHIN: Duration = Duration::from_secs(5);

/// Connections to the bus, made once: making one takes a good part of what a socket saves.
static CONNECTIONS: OnceCell<(Session, Arc<SyncConnection>)> = OnceCell::const_new();

/// The ways to and from a connected device, named as "hci0/dev_00_AA_01_00_00_42". `None`: this BlueZ lends none.
pub(crate) async fn ways(device: &str) -> Result<Option<Ways>, String> {
    timeout(CALL_WITHIN, open(device)).await.map_err(|_| "sockets: timed out".to_owned())?
}

async fn open(device: &str) -> Result<Option<Ways>, String> {
    let (session, bus) = CONNECTIONS.get_or_try_init(connect).await?;
    let objects = Proxy::new("org.bluez", "/", CALL_WITHIN, &**bus).get_managed_objects().await;
    let objects = objects.map_err(|error| error.to_string())?;
    let found = |wanted: uuid::Uuid| {
        objects.iter().find_map(|(path, interfaces)| {
            let place = Place::read(path, device)?;
            let uuid = interfaces.get("org.bluez.GattCharacteristic1")?.get("UUID")?.0.as_str()?;
            (uuid.parse() == Ok(wanted)).then_some(place)
        })
    };
    let place = |wanted| found(wanted).ok_or_else(|| format!("no characteristic {wanted}"));
    let text = |error: bluer::Error| format!("sockets: {error}");
    // The one that may not be lent first: a subscription that was acquired and given back is in the way of another.
    let writer = place(TO_PERIPHERAL)?.characteristic(session).await.map_err(text)?.write_io().await;
    let writer = match writer {
        Err(bluer::Error { kind: bluer::ErrorKind::NotSupported, .. }) => return Ok(None),
        other => other.map_err(text)?,
    };
    let reader = place(TO_CENTRAL)?.characteristic(session).await.map_err(text)?.notify_io().await;
    let reader = reader.map_err(text)?;
    // bluer has taken five from ATT's MTU, three of them for ATT's header.
    let mtu = Some((writer.mtu() + 5) as u16);
    let incoming = stream::unfold(reader, |reader: CharacteristicReader| async move {
        match reader.recv().await {
            // An empty value is how the socket ends.
            Ok(value) if !value.is_empty() => Some((Bytes::from(value), reader)),
            Ok(_) | Err(_) => None,
        }
    });
    Ok(Some(Ways { incoming: incoming.boxed(), outgoing: Box::new(Socket(writer)), mtu }))
}

async fn connect() -> Result<(Session, Arc<SyncConnection>), String> {
    let (resource, bus) = dbus_tokio::connection::new_system_sync().map_err(|error| error.to_string())?;
    // It ends with the bus, and then every call fails.
    tokio::spawn(resource);
    let session = Session::new().await.map_err(|error| error.to_string())?;
    Ok((session, bus))
}

/// Where a characteristic is among BlueZ's objects.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    adapter: String,
    address: bluer::Address,
    service: u16,
    characteristic: u16,
}

impl Place {
    /// "/org/bluez/hci0/dev_00_AA_01_00_00_42/service000a/char000b", if it belongs to `device`.
    fn read(path: &str, device: &str) -> Option<Place> {
        let below = path.strip_prefix("/org/bluez/")?.strip_prefix(device)?.strip_prefix('/')?;
        let (service, characteristic) = below.split_once('/')?;
        let number = |text: &str, prefix| u16::from_str_radix(text.strip_prefix(prefix)?, 16).ok();
        let (adapter, address) = device.split_once("/dev_")?;
        Some(Place {
            adapter: adapter.to_owned(),
            address: address.replace('_', ":").parse().ok()?,
            service: number(service, "service")?,
            characteristic: number(characteristic, "char")?,
        })
    }

    async fn characteristic(&self, session: &Session) -> bluer::Result<Characteristic> {
        let device = session.adapter(&self.adapter)?.device(self.address)?;
        device.service(self.service).await?.characteristic(self.characteristic).await
    }
}

struct Socket(CharacteristicWriter);

#[async_trait]
impl Values for Socket {
    async fn write(&mut self, value: &[u8]) -> io::Result<()> {
        self.0.send(value).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_characteristic_is_found_by_its_path() {
        let device = "hci0/dev_00_AA_01_00_00_42";
        let path = "/org/bluez/hci0/dev_00_AA_01_00_00_42/service000a/char000b";
        let place = Place::read(path, device).expect("a place");
        assert_eq!((place.service, place.characteristic), (10, 11));
        assert_eq!(
            (place.adapter.as_str(), place.address.to_string().as_str()),
            ("hci0", "00:AA:01:00:00:42")
        );
        for other in [
            "/org/bluez/hci0/dev_00_AA_01_00_00_42/service000a",
            "/org/bluez/hci0/dev_00_AA_01_00_00_42/service000a/char000b/desc000d",
            "/org/bluez/hci0/dev_00_AA_01_00_00_43/service000a/char000b",
            "/org/bluez/hci1/dev_00_AA_01_00_00_42/service000a/char000b",
            "",
        ] {
            assert_eq!(Place::read(other, device), None, "{other}");
        }
    }
}
