//! The carriers: their states, and the tasks that scan, advertise and listen.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use link::{Accepted, Card, CarrierKind, CarrierState, Finding, Transport, Verdict, WatchEvent};
use proto::control;
use proto::limits;
use tokio::sync::watch;
use tracing::{debug, warn};

use crate::show;

/// Delay before a carrier that has failed is asked to listen again.
const LISTEN_AGAIN: Duration = Duration::from_secs(2);

/// Time limit of a carrier's diagnosis: bluetoothd answers in milliseconds.
const DIAGNOSIS: Duration = Duration::from_secs(10);

/// A carrier's state.
pub(crate) struct Radio {
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) wants: watch::Sender<Wants>,
    pub(crate) state: Option<CarrierState>,
    pub(crate) advertising: bool,
    /// Turned off by the user.
    pub(crate) unused: bool,
    /// The state that clients were last sent.
    pub(crate) told: Option<control::Radio>,
}

impl Radio {
    pub(crate) fn kind(&self) -> CarrierKind {
        self.transport.kind()
    }

    /// Whether it can discover others.
    pub(crate) fn works(&self) -> bool {
        use CarrierState::{NoAdvertising, Ready, TakingTurns};
        matches!(self.state, Some(Ready | TakingTurns | NoAdvertising))
    }

    /// Whether it is a radio that can discover others but cannot be discovered. Announcements on a network do not count.
    pub(crate) fn is_unheard(&self) -> bool {
        let is_radio = matches!(self.kind(), CarrierKind::Bluetooth | CarrierKind::Memory);
        is_radio
            && !self.unused
            && match self.state {
                Some(CarrierState::NoAdvertising) => true,
                Some(CarrierState::Ready | CarrierState::TakingTurns) => !self.advertising,
                _ => false,
            }
    }
}

/// The doctor's lines about carriers, and about the port on which guests' browsers are awaited (whether it stays the same).
pub(crate) async fn diagnose(
    transports: &[Arc<dyn Transport>],
    guest_port: Option<(u16, bool)>,
) -> Vec<control::Check> {
    let mut checks = Vec::new();
    if transports.is_empty() {
        checks.push(control::Check {
            subject: "links".into(),
            state: control::CheckState::CheckWarning.into(),
            found: "this host was started without any: one plays alone".into(),
            remedy: "Start qiyoud without --no-bluetooth or --no-lan to play with others.".into(),
        });
    }
    for transport in transports {
        let findings = tokio::time::timeout(DIAGNOSIS, transport.diagnose()).await;
        checks.extend(findings.unwrap_or_default().into_iter().map(check));
    }
    if let Some((port, is_fixed)) = guest_port {
        checks.extend(diagnose_guest_port(port, is_fixed).await);
    }
    checks
}

fn check(finding: Finding) -> control::Check {
    control::Check {
        subject: finding.subject.into(),
        state: match finding.verdict {
            Verdict::Good => control::CheckState::CheckOk,
            Verdict::Limited => control::CheckState::CheckWarning,
            Verdict::Broken => control::CheckState::CheckFailed,
        }
        .into(),
        found: finding.found,
        remedy: finding.remedy,
    }
}

async fn diagnose_guest_port(port: u16, is_fixed: bool) -> Option<control::Check> {
    let fixed_by = (!is_fixed).then_some("--guest-port");
    let examined = tokio::task::spawn_blocking(move || link::lan::examine_guest_port(port, fixed_by));
    // An error is a panic there, or programs that do not end.
    tokio::time::timeout(DIAGNOSIS, examined).await.ok()?.ok().map(check)
}

/// Turns on the Bluetooth adapter, if there is one: networks and servers are not under this device's control. Returns why it
/// failed.
pub(crate) async fn power_on(transports: &[Arc<dyn Transport>]) -> Result<(), String> {
    let mut on = if transports.is_empty() { Err("this host has no links".to_owned()) } else { Ok(()) };
    let is_meant = |transport: &&Arc<dyn Transport>| {
        !matches!(transport.kind(), CarrierKind::Lan | CarrierKind::Online) || transports.len() == 1
    };
    for transport in transports.iter().filter(is_meant) {
        if let Err(error) = transport.power_on().await {
            on = Err(error.to_string());
        }
    }
    on
}

/// The adapters of all carriers.
pub(crate) async fn adapters(transports: &[Arc<dyn Transport>]) -> Vec<control::Adapter> {
    let mut adapters = Vec::new();
    for transport in transports {
        let all = tokio::time::timeout(DIAGNOSIS, transport.adapters()).await.unwrap_or_default();
        adapters.extend(all.into_iter().map(show::adapter));
    }
    adapters.truncate(limits::ADAPTERS);
    adapters
}

/// What is required of a carrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wants {
    pub(crate) scan: bool,
    /// The card to advertise. `None`: do not advertise.
    pub(crate) card: Option<Card>,
}

/// A message from a carrier's tasks.
pub(crate) enum RadioNews {
    Watched(WatchEvent),
    Advertising(bool),
    Accepted(Accepted),
}

pub(crate) fn shown_radio(radio: &Radio) -> control::Radio {
    let works = matches!(radio.state, Some(CarrierState::Ready | CarrierState::TakingTurns));
    control::Radio {
        carrier: show::carrier(radio.transport.kind()).into(),
        state: radio.state.map_or(control::RadioState::RadioUnspecified, show::carrier_state).into(),
        detail: radio.state.map_or("", sentence).into(),
        scanning: radio.wants.borrow().scan && (works || radio.state == Some(CarrierState::NoAdvertising)),
        advertising: radio.advertising && works,
        unused: radio.unused,
    }
}

/// A carrier's state in English, for logs and terminals; the app has its own words.
fn sentence(state: CarrierState) -> &'static str {
    match state {
        CarrierState::Ready => "finds others and is found",
        CarrierState::TakingTurns => "finds others and is found in turns: the adapter cannot do both at once",
        CarrierState::NoAdvertising => "finds others and cannot be found: the adapter does not advertise",
        CarrierState::Off => "the adapter is switched off",
        CarrierState::Blocked => "the adapter is blocked by flight mode or a switch",
        CarrierState::NoAdapter => {
            "no adapter is there, or it was taken away; for the local network: no address"
        }
        CarrierState::NoService => "bluetoothd isn't running",
        CarrierState::NoPermission => "this user may not use it",
        CarrierState::Connecting => "not connected just now; it goes on trying",
        CarrierState::NeedsPerson => "waits for a person: see the account",
    }
}

/// Runs a carrier's scanning, on and off as required.
pub(crate) async fn look(
    transport: Arc<dyn Transport>,
    mut wanted: watch::Receiver<Wants>,
    tell: impl Fn(RadioNews) + Send,
) {
    loop {
        let scan = wanted.borrow_and_update().scan;
        let mut watch = transport.watch(scan);
        loop {
            tokio::select! {
                event = watch.next() => {
                    let Some(event) = event else {
                        // The carrier has ended the scan: try again after a delay.
                        tokio::time::sleep(LISTEN_AGAIN).await;
                        break;
                    };
                    tell(RadioNews::Watched(event));
                }
                changed = wanted.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    if wanted.borrow_and_update().scan != scan {
                        break;
                    }
                }
            }
        }
    }
}

/// Runs a carrier's advertising and listening, with the present card.
pub(crate) async fn be_found(
    transport: Arc<dyn Transport>,
    mut wanted: watch::Receiver<Wants>,
    tell: impl Fn(RadioNews) + Send,
) {
    loop {
        let card = wanted.borrow_and_update().card.clone();
        let Some(mut card) = card else {
            if wanted.changed().await.is_err() {
                return;
            }
            continue;
        };
        let mut listener = match transport.listen(card.clone()).await {
            Ok(listener) => listener,
            Err(error) => {
                debug!(%error, "a carrier does not listen");
                tokio::select! {
                    () = tokio::time::sleep(LISTEN_AGAIN) => {}
                    changed = wanted.changed() => if changed.is_err() { return },
                }
                continue;
            }
        };
        tell(RadioNews::Advertising(true));
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok(accepted) => tell(RadioNews::Accepted(accepted)),
                    Err(error) => {
                        warn!(%error, "a carrier stopped listening");
                        tokio::time::sleep(LISTEN_AGAIN).await;
                        break;
                    }
                },
                changed = wanted.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    let new = wanted.borrow_and_update().card.clone();
                    match new {
                        None => break,
                        Some(new) if new == card => {}
                        Some(new) => {
                            if let Err(error) = listener.update(new.clone()).await {
                                debug!(%error, "a card could not be changed");
                                break;
                            }
                            card = new;
                        }
                    }
                }
            }
        }
        drop(listener);
        tell(RadioNews::Advertising(false));
    }
}
