//! Hearing peers: BlueZ's discovery, and the properties of each device.
//!
//! Not with btleplug, as on other systems: its `start_scan` switches the adapter on, against the user's choice, and searches
//! for Bluetooth Classic devices as well, which takes half of the time from LE.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use bluer::{Adapter, DeviceProperty};
use link::{Address, CarrierKind, Sighting};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};
use uuid::{Uuid, uuid};

use super::bus::{Bus, Devices, Discovery};
use crate::advert::{COMPANY, SERVICE, read_card};
use crate::shared::Shared;

/// A device is read at most this often: BlueZ reports each property of each advertisement as a change of its own.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Devices remembered for [`LOOK_EVERY`]: more than are ever in range; a hostile sender can invent any number of addresses.
const REMEMBERED: usize = 256;

/// Discovery restarts this often. A controller that filters duplicates reports each device once per scan, so a device that
/// went away and came back, or was reported before discovery was ours, stays unheard until the next scan, which BlueZ alone
/// begins after 10 s. Long enough to hear an advertising interval of 1.28 s, the kernel's slowest.
const BEGIN_ANEW: Duration = Duration::from_secs(2);

/// Discovery runs until [`stop`](Scan::stop); sightings are reported until drop. Dropping alone makes no call: a call to a
/// stopped bluetoothd would make D-Bus start it.
pub(super) struct Scan {
    task: JoinHandle<()>,
    discovery: Discovery,
}

impl Drop for Scan {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Scan {
    /// Starts discovery. Never called while the adapter is off.
    ///
    /// `left` says that an earlier discovery may still run: BlueZ would answer InProgress for ever.
    pub(super) async fn start(
        bus: &Bus,
        adapter: &Adapter,
        shared: Arc<Shared>,
        left: bool,
    ) -> Result<Scan, dbus::Error> {
        // Subscribed before discovery starts, so that no report is missed.
        let devices = bus.devices(adapter.name()).await?;
        let discovery = bus.discovery(adapter.name());
        if left {
            // BlueZ itself may have ended discovery.
            let _: Result<(), _> = discovery.stop().await;
        }
        discovery.start(SERVICE).await?;
        let task = tokio::spawn(listen(devices, discovery.clone(), adapter.clone(), shared));
        Ok(Scan { task, discovery })
    }

    /// Returns when the radio is free; says whether BlueZ agreed. If not, BlueZ may believe that the discovery still runs.
    pub(super) async fn stop(self) -> bool {
        self.task.abort();
        self.discovery.stop().await.is_ok()
    }

    /// Whether discovery ended by itself: the adapter was switched off or taken over.
    pub(super) fn is_over(&self) -> bool {
        self.task.is_finished()
    }
}

/// Reads each reported device, at most every [`LOOK_EVERY`], and always once more after the last report: the RSSI may arrive
/// just after a first read, and not again in this scan.
async fn listen(mut devices: Devices, discovery: Discovery, adapter: Adapter, shared: Arc<Shared>) {
    let mut looked: HashMap<bluer::Address, Instant> = HashMap::new();
    // While another program's discovery runs, BlueZ has already reported the devices in range and does not repeat the
    // reports.
    let known = adapter.device_addresses().await.unwrap_or_default();
    let mut due: HashMap<bluer::Address, Instant> =
        known.into_iter().take(REMEMBERED).map(|address| (address, Instant::now())).collect();
    let mut begun = Instant::now();
    loop {
        let next = due.iter().map(|(&address, &at)| (at, address)).min();
        let next = async {
            match next {
                Some((at, address)) => {
                    sleep_until(at).await;
                    address
                }
                None => std::future::pending().await,
            }
        };
        let anew = async {
            sleep_until(begun + BEGIN_ANEW).await;
            // During a connection attempt discovery continues, because BlueZ forgets a device with a random address when
            // discovery stops. The attempt asks for a new scan if the peer stays unheard.
            if shared.wants().connecting > 0 {
                shared.unheard.notified().await;
            }
        };
        let address = tokio::select! {
            address = devices.next() => match address {
                Some(address) => {
                    if let Some(&at) = looked.get(&address).filter(|at| at.elapsed() < LOOK_EVERY) {
                        due.entry(address).or_insert(at + LOOK_EVERY);
                        continue;
                    }
                    address
                }
                None => break,
            },
            address = next => address,
            () = anew => {
                if let Err(error) = discovery.restart().await {
                    tracing::info!(%error, "discovery ended");
                    break;
                }
                begun = Instant::now();
                continue;
            }
        };
        if looked.len() >= REMEMBERED {
            looked.clear();
            due.clear();
        }
        due.remove(&address);
        looked.insert(address, Instant::now());
        let Ok(device) = adapter.device(address) else { continue };
        // The device has gone: no error.
        let Ok(properties) = device.all_properties().await else { continue };
        if let Some(sighting) = sighting(address, properties) {
            shared.sighted(sighting);
        }
    }
    // The supervisor starts another discovery, if one is wanted.
    shared.changed.notify_one();
}

/// Services that every connected device has, and none advertises.
const OF_A_CONNECTION: [Uuid; 2] =
    [uuid!("00001800-0000-1000-8000-00805f9b34fb"), uuid!("00001801-0000-1000-8000-00805f9b34fb")];

/// Makes a sighting of a device's properties. BlueZ merges the discovery filters of all its clients, so a device need not be
/// one of ours; and BlueZ replays remembered devices, without an RSSI.
///
/// If any program of this system has ever connected to a device, BlueZ shows the services of that connection instead of the
/// advertised services: then the raw bytes of the advertisement decide.
fn sighting(address: bluer::Address, properties: Vec<DeviceProperty>) -> Option<Sighting> {
    let (mut rssi, mut payload, mut services, mut name) = (None, None, HashSet::new(), None);
    for property in properties {
        match property {
            DeviceProperty::Rssi(value) => rssi = Some(value),
            DeviceProperty::ManufacturerData(mut fields) => payload = fields.remove(&COMPANY),
            DeviceProperty::Uuids(uuids) => services = uuids,
            DeviceProperty::Name(value) => name = Some(value),
            _ => {}
        }
    }
    let rssi_dbm = Some(rssi?);
    let ours = services.contains(&SERVICE) || OF_A_CONNECTION.iter().any(|known| services.contains(known));
    let card = read_card(&payload.filter(|_| ours)?, name)?;
    Some(Sighting {
        address: Address { kind: CarrierKind::Bluetooth, text: address.to_string() },
        tag: card.tag,
        open_to_all: card.open_to_all,
        wish: None,
        busy: card.busy,
        name: card.name,
        rssi_dbm,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advert::card_payload;
    use link::{Card, Tag};

    const ADDRESS: bluer::Address = bluer::Address([0, 0xAA, 1, 0, 0, 0x42]);

    fn properties() -> Vec<DeviceProperty> {
        let card = Card {
            tag: Tag([1; 5]),
            open_to_all: true,
            busy: true,
            wish: 0,
            name: Some("Lin".into()),
            seldom: false,
            beside_links: false,
        };
        vec![
            DeviceProperty::Rssi(-60),
            DeviceProperty::Uuids(HashSet::from([SERVICE])),
            DeviceProperty::ManufacturerData(HashMap::from([(COMPANY, card_payload(&card).to_vec())])),
            DeviceProperty::Name("Lin".into()),
        ]
    }

    #[test]
    fn a_peer_that_was_heard_is_a_sighting() {
        let seen = sighting(ADDRESS, properties()).expect("a sighting");
        assert_eq!(seen.address.text, "00:AA:01:00:00:42");
        assert_eq!((seen.tag, seen.open_to_all, seen.busy), (Tag([1; 5]), true, true));
        assert_eq!((seen.name.as_deref(), seen.rssi_dbm), (Some("Lin"), Some(-60)));
    }

    #[test]
    fn what_bluez_only_remembers_or_is_not_ours_is_none() {
        for missing in 0..3 {
            let mut some = properties();
            some.remove(missing);
            assert_eq!(sighting(ADDRESS, some), None, "without property {missing}");
        }
        let mut nameless = properties();
        nameless.pop();
        assert!(sighting(ADDRESS, nameless).is_some());
    }

    #[test]
    fn a_peer_that_others_connected_to_is_known_by_its_advert() {
        let with = |services: &[Uuid]| {
            let mut some = properties();
            some[1] = DeviceProperty::Uuids(services.iter().copied().collect());
            sighting(ADDRESS, some)
        };
        assert!(with(&OF_A_CONNECTION).is_some());
        let heart_rate = uuid!("0000180d-0000-1000-8000-00805f9b34fb");
        assert!(with(&[OF_A_CONNECTION[1], heart_rate]).is_some());
        assert_eq!(with(&[heart_rate]), None, "an advert of another program with the same company number");
    }
}
