//! Hearing peers, with bluer.
//!
//! Not with btleplug, as elsewhere: its `start_scan` switches the adapter on, against the user's choice, and searches for
//! Bluetooth Classic devices as well, which takes half of the time from LE.

use std::collections::{HashMap, HashSet};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bluer::{Adapter, AdapterEvent, DeviceProperty, DiscoveryFilter, DiscoveryTransport};
use futures::{Stream, StreamExt};
use link::{Address, CarrierKind, Sighting};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use crate::advert::{COMPANY, SERVICE, read_card};
use crate::shared::Shared;

/// A device is looked at this often at most: BlueZ reports each property of each advert as a change of its own.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Devices remembered for [`LOOK_EVERY`]. More than anybody meets; a hostile air invents addresses without end.
const REMEMBERED: usize = 256;

/// Discovery runs until this is dropped.
pub(super) struct Scan {
    task: JoinHandle<()>,
}

impl Drop for Scan {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Scan {
    /// Starts discovery. Never called while the adapter is off.
    pub(super) async fn start(adapter: &Adapter, shared: Arc<Shared>) -> bluer::Result<Scan> {
        let filter = DiscoveryFilter {
            uuids: HashSet::from([SERVICE]),
            transport: DiscoveryTransport::Le,
            duplicate_data: true,
            ..DiscoveryFilter::default()
        };
        adapter.set_discovery_filter(filter).await?;
        let events = adapter.discover_devices_with_changes().await?;
        let task = tokio::spawn(look_at(events, adapter.clone(), shared));
        Ok(Scan { task })
    }

    /// Whether discovery ended by itself: somebody switched the adapter off or took it.
    pub(super) fn is_over(&self) -> bool {
        self.task.is_finished()
    }
}

/// Looks at each device that BlueZ reports something of, at most every [`LOOK_EVERY`], and always once more after the last
/// report: the signal strength may come just after a first look, and not again for the 10 s of a discovery, because the
/// controller filters duplicates.
async fn look_at(events: impl Stream<Item = AdapterEvent>, adapter: Adapter, shared: Arc<Shared>) {
    let mut events = pin!(events);
    let mut looked: HashMap<bluer::Address, Instant> = HashMap::new();
    let mut due: HashMap<bluer::Address, Instant> = HashMap::new();
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
        let address = tokio::select! {
            event = events.next() => match event {
                Some(AdapterEvent::DeviceAdded(address)) => {
                    if let Some(&at) = looked.get(&address).filter(|at| at.elapsed() < LOOK_EVERY) {
                        due.entry(address).or_insert(at + LOOK_EVERY);
                        continue;
                    }
                    address
                }
                Some(_) => continue,
                None => return,
            },
            address = next => address,
        };
        if looked.len() >= REMEMBERED {
            looked.clear();
            due.clear();
        }
        due.remove(&address);
        looked.insert(address, Instant::now());
        let Ok(device) = adapter.device(address) else { continue };
        // Gone meanwhile: no error.
        let Ok(properties) = device.all_properties().await else { continue };
        if let Some(sighting) = sighting(address, properties) {
            shared.sighted(sighting);
        }
    }
}

/// A device's properties as a sighting. BlueZ merges the filters of all its clients, so what comes need not be one of
/// ours; and it replays what it remembers, without a signal strength.
fn sighting(address: bluer::Address, properties: Vec<DeviceProperty>) -> Option<Sighting> {
    let (mut rssi, mut payload, mut ours, mut name) = (None, None, false, None);
    for property in properties {
        match property {
            DeviceProperty::Rssi(value) => rssi = Some(value),
            DeviceProperty::ManufacturerData(mut fields) => payload = fields.remove(&COMPANY),
            DeviceProperty::Uuids(uuids) => ours = uuids.contains(&SERVICE),
            DeviceProperty::Name(value) => name = Some(value),
            _ => {}
        }
    }
    let rssi_dbm = Some(rssi?);
    let card = read_card(&payload.filter(|_| ours)?, name)?;
    Some(Sighting {
        address: Address { kind: CarrierKind::Bluetooth, text: address.to_string() },
        tag: card.tag,
        open_to_all: card.open_to_all,
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
        let card = Card { tag: Tag([1; 5]), open_to_all: true, busy: true, name: Some("Lin".into()) };
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
}
