//! Multicast DNS: a thread of the `mdns-sd` crate that announces and browses, and the peers that it has found.

use std::collections::BTreeMap;
use std::net::{SocketAddr, SocketAddrV6};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mdns_sd::{IfKind, Receiver, ResolvedService, ScopedIp, ServiceDaemon, ServiceEvent, ServiceInfo};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tracing::{debug, warn};

use super::LanConfig;
use super::advert::{self, SERVICE};
use crate::{Card, LinkError};

/// How often the crate looks for new or removed interfaces, which it only polls. A safety net:
/// [`network_has_changed`](Mdns::network_has_changed) triggers a check after a change.
const CHECK_SECONDS: u32 = 30;

/// The same after the device's addresses have changed, for some time, since an address is often not ready at once. The crate's
/// own 5 s would be most of a resume.
const HURRIED_CHECK_SECONDS: u32 = 1;
const HURRIES_FOR: Duration = Duration::from_secs(4);

/// While somebody scans, each found device is queried this often: its records would otherwise stand for two minutes (RFC 6762,
/// section 10) after a device left without a goodbye.
const ASK_AGAIN: Duration = Duration::from_secs(8);

/// A device that does not answer for this long is gone (RFC 6762, section 10.4, allows up to ten seconds).
const ANSWER_WITHIN: Duration = Duration::from_secs(4);

/// Most devices kept; bounds the memory against forged records.
const MAX_FOUND: usize = 128;

/// Longest full name of an instance in bytes: four times the length of our names.
const LONGEST_NAME: usize = 160;

/// The mDNS thread. When dropped, it sends a goodbye for its announcements and ends.
pub(super) struct Mdns {
    daemon: ServiceDaemon,
    /// Ends the fast polling after a change of the network.
    calming: Mutex<Option<AbortHandle>>,
}

impl Mdns {
    pub(super) fn start(config: &LanConfig) -> Result<Self, LinkError> {
        let daemon = ServiceDaemon::new_with_port(config.mdns_port).map_err(lost)?;
        let unwanted = if config.loopback {
            // In a test a device hears only itself.
            vec![IfKind::Predicate(mdns_sd::IfPredicate::new(|interface| !interface.is_loopback()))]
        } else {
            vec![IfKind::LoopbackV4, IfKind::LoopbackV6]
        };
        daemon.disable_interface(unwanted).map_err(lost)?;
        daemon.set_ip_check_interval(CHECK_SECONDS).map_err(lost)?;
        Ok(Self { daemon, calming: Mutex::default() })
    }

    /// This device's addresses have changed. Must be called within a runtime.
    pub(super) fn network_has_changed(&self) {
        let check_every = |daemon: &ServiceDaemon, seconds| {
            if let Err(error) = daemon.set_ip_check_interval(seconds) {
                debug!(%error, "interfaces are looked for as before");
            }
        };
        check_every(&self.daemon, HURRIED_CHECK_SECONDS);
        let daemon = self.daemon.clone();
        let calm = tokio::spawn(async move {
            tokio::time::sleep(HURRIES_FOR).await;
            check_every(&daemon, CHECK_SECONDS);
        });
        let mut calming = self.calming.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = calming.replace(calm.abort_handle()) {
            before.abort();
        }
    }

    /// Announces a service under fresh random names.
    pub(super) fn announce(self: &Arc<Self>, card: &Card, port: u16) -> Result<Announced, LinkError> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| LinkError::Lost(error.to_string()))?;
        let announced = Announced { mdns: self.clone(), instance: crate::hex::text(&random), port };
        announced.update(card)?;
        Ok(announced)
    }
}

impl Drop for Mdns {
    fn drop(&mut self) {
        if let Some(calming) = self.calming.lock().unwrap_or_else(PoisonError::into_inner).take() {
            calming.abort();
        }
        // A full queue means that the thread has stopped; then no goodbye can be sent.
        let _ = self.daemon.shutdown();
    }
}

fn lost(error: mdns_sd::Error) -> LinkError {
    LinkError::Lost(format!("multicast DNS: {error}"))
}

/// A service announced until this is dropped.
pub(super) struct Announced {
    mdns: Arc<Mdns>,
    instance: String,
    port: u16,
}

impl Announced {
    /// Announces the same service with another card.
    pub(super) fn update(&self, card: &Card) -> Result<(), LinkError> {
        let host = format!("{}.local.", self.instance);
        let strings = advert::card_strings(card);
        let service = ServiceInfo::new(SERVICE, &self.instance, &host, "", self.port, strings.as_slice())
            .map_err(lost)?
            .enable_addr_auto();
        self.mdns.daemon.register(service).map_err(lost)
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        if let Err(error) = self.mdns.daemon.unregister(&format!("{}.{SERVICE}", self.instance)) {
            debug!(%error, "no goodbye to the network");
        }
    }
}

/// A discovered peer.
#[derive(Clone)]
pub(super) struct Found {
    pub(super) card: Card,
    pub(super) addresses: Vec<SocketAddr>,
}

/// Browses for services until this is dropped.
pub(super) struct Browsing {
    mdns: Arc<Mdns>,
    found: Arc<Mutex<BTreeMap<String, Found>>>,
    changed: Arc<watch::Sender<()>>,
    task: AbortHandle,
}

impl Browsing {
    /// Must be called within a runtime.
    pub(super) fn start(mdns: Arc<Mdns>) -> Result<Self, LinkError> {
        let events = mdns.daemon.browse(SERVICE).map_err(lost)?;
        let found = Arc::new(Mutex::new(BTreeMap::new()));
        let changed = Arc::new(watch::Sender::new(()));
        let task = tokio::spawn(follow(mdns.clone(), events, found.clone(), changed.clone())).abort_handle();
        Ok(Self { mdns, found, changed, task })
    }

    /// All peers found now, by instance.
    pub(super) fn found(&self) -> BTreeMap<String, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notified when a peer comes, changes or goes.
    pub(super) fn changed(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }
}

impl Drop for Browsing {
    fn drop(&mut self) {
        self.task.abort();
        if let Err(error) = self.mdns.daemon.stop_browse(SERVICE) {
            debug!(%error, "the network is still searched");
        }
    }
}

async fn follow(
    mdns: Arc<Mdns>,
    events: Receiver<ServiceEvent>,
    found: Arc<Mutex<BTreeMap<String, Found>>>,
    tell: Arc<watch::Sender<()>>,
) {
    let mut next_ask = Instant::now() + ASK_AGAIN;
    loop {
        tokio::select! {
            event = events.recv_async() => {
                let Ok(event) = event else {
                    warn!("multicast DNS has ended");
                    return;
                };
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                match event {
                    ServiceEvent::ServiceResolved(service) => {
                        let name = service.get_fullname();
                        match read(&service) {
                            Some(one) if found.len() < MAX_FOUND || found.contains_key(name) => {
                                found.insert(name.to_owned(), one);
                            }
                            Some(_) => {}
                            None => drop(found.remove(name)),
                        }
                    }
                    ServiceEvent::ServiceRemoved(_, name) => drop(found.remove(&name)),
                    _ => continue,
                }
                tell.send_replace(());
            }
            () = tokio::time::sleep_until(next_ask) => {
                next_ask = Instant::now() + ASK_AGAIN;
                let names: Vec<String> =
                    found.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect();
                for name in names {
                    // With a full queue the query is repeated in the next round.
                    let _ = mdns.daemon.verify(name, ANSWER_WITHIN);
                }
            }
        }
    }
}

fn read(service: &ResolvedService) -> Option<Found> {
    // The name becomes an id for clients and logs. Our names have 16 letters, and a number after a name conflict.
    let name = service.get_fullname();
    if name.len() > LONGEST_NAME || name.chars().any(char::is_control) {
        return None;
    }
    let card = advert::read_card(|key| service.get_property_val(key).flatten())?;
    let addresses: Vec<SocketAddr> = service
        .get_addresses()
        .iter()
        .filter_map(|ip| match ip {
            ScopedIp::V4(ip) => Some(SocketAddr::new((*ip.addr()).into(), service.get_port())),
            ScopedIp::V6(ip) => {
                let scope = if ip.addr().is_unicast_link_local() { ip.scope_id().index } else { 0 };
                Some(SocketAddrV6::new(*ip.addr(), service.get_port(), 0, scope).into())
            }
            _ => None,
        })
        .collect();
    (!addresses.is_empty() && service.get_port() != 0).then_some(Found { card, addresses })
}
