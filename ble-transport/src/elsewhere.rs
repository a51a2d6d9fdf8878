//! Systems other than Linux: central role only. The device finds and connects; it cannot be found and
//! reports [`CarrierState::NoAdvertising`]. Not yet tried on any device.

use std::sync::Arc;
use std::time::Duration;

use btleplug::api::{Central as _, CentralEvent, CentralState, Peripheral as _, ScanFilter};
use btleplug::platform::Adapter;
use futures::StreamExt;
use link::{CarrierState, Finding, LinkError, Sighting, Verdict};
use tokio::time::sleep;

use crate::advert::{COMPANY, SERVICE, read_card};
use crate::central;
use crate::shared::Shared;

const RETRY: Duration = Duration::from_secs(3);

/// Runs until the transport has parted.
pub(crate) async fn supervise(shared: Arc<Shared>) {
    while !shared.has_parted() {
        match central::adapter(shared.adapter().as_deref()).await {
            Ok(adapter) => {
                if let Err(error) = attend(&shared, &adapter).await {
                    tracing::warn!(%error, "Bluetooth");
                }
                shared.lose_ground();
            }
            Err(btleplug::Error::PermissionDenied) => shared.set_state(CarrierState::NoPermission),
            Err(_) => shared.set_state(CarrierState::NoAdapter),
        }
        sleep(RETRY).await;
    }
}

async fn attend(shared: &Arc<Shared>, adapter: &Adapter) -> Result<(), btleplug::Error> {
    let mut events = adapter.events().await?;
    let mut scanning = false;
    loop {
        let on = adapter.adapter_state().await? != CentralState::PoweredOff;
        shared.set_state(if on { CarrierState::NoAdvertising } else { CarrierState::Off });
        let wants = shared.wants();
        let scan =
            on && wants.links == 0 && wants.dialing == 0 && (wants.scanning > 0 || wants.connecting > 0);
        if scan != scanning {
            if scan {
                adapter.start_scan(ScanFilter { services: vec![SERVICE] }).await?;
            } else {
                adapter.stop_scan().await?;
            }
            scanning = scan;
        }
        let event = tokio::select! {
            event = events.next() => event,
            () = shared.changed.notified() => {
                if shared.has_parted() {
                    return adapter.stop_scan().await;
                }
                continue;
            }
        };
        match event {
            Some(CentralEvent::StateUpdate(CentralState::PoweredOff)) => shared.lose_ground(),
            Some(CentralEvent::ManufacturerDataAdvertisement { id, manufacturer_data }) => {
                let Some(payload) = manufacturer_data.get(&COMPANY) else { continue };
                let Ok(peripheral) = adapter.peripheral(&id).await else { continue };
                let Ok(Some(properties)) = peripheral.properties().await else { continue };
                let Some(card) = read_card(payload, properties.advertisement_name) else { continue };
                if properties.rssi.is_some() && properties.services.contains(&SERVICE) {
                    shared.sighted(Sighting {
                        address: central::address_of(&peripheral),
                        tag: card.tag,
                        open_to_all: card.open_to_all,
                        wish: None,
                        busy: card.busy,
                        name: card.name,
                        rssi_dbm: properties.rssi,
                    });
                }
            }
            Some(_) => {}
            None => return Ok(()),
        }
    }
}

/// Only the system's own settings can do this.
pub(crate) async fn power_on(_: &Shared) -> Result<(), LinkError> {
    Err(LinkError::Carrier(CarrierState::Off))
}

/// These systems have no call that forgets one device.
pub(crate) async fn forget(_: Option<&str>, _: &str) {}

pub(crate) async fn adapters(_: &Shared) -> Vec<link::Adapter> {
    Vec::new()
}

pub(crate) async fn diagnose(shared: &Shared) -> Vec<Finding> {
    let adapter = match central::adapter(shared.adapter().as_deref()).await {
        Ok(_) => Finding {
            subject: "adapter",
            verdict: Verdict::Good,
            found: "present".into(),
            remedy: String::new(),
        },
        Err(error) => Finding {
            subject: "adapter",
            verdict: Verdict::Broken,
            found: error.to_string(),
            remedy: "switch Bluetooth on and allow this program to use it".into(),
        },
    };
    let roles = Finding {
        subject: "roles",
        verdict: Verdict::Limited,
        found: "central only on this system".into(),
        remedy: "a peer on Linux can be found from here, not the other way round".into(),
    };
    vec![adapter, roles]
}
