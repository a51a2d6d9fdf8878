//! The supervisor on Linux: keeps the radio as [`plan`] wants it, through restarts of bluetoothd, changes of the adapter and
//! acts of the user.
//!
//! A reconciliation loop: after each change (bus names, adapters, power, sleep, wants) it reads the state of the system,
//! plans, and applies the difference. It caches no state that could go stale: after a restart of bluetoothd everything is
//! missing and is made again.

mod bus;
mod doctor;
mod peripheral;
mod rfkill;
mod scan;

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bluer::adv::{Advertisement, AdvertisementHandle};
use bluer::agent::{Agent, AgentHandle};
use bluer::{Adapter, AdapterEvent, AdapterProperty, Session, SessionEvent};
use futures::stream::BoxStream;
use futures::{StreamExt, stream};
use link::{Card, CarrierState, Finding, LinkError};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use self::bus::{Bus, News};
use self::peripheral::Served;
use self::scan::Scan;
use crate::advert::{COMPANY, SERVICE, card_payload, fitting_name};
use crate::plan::{Ability, Power, SelfTest, Trial, Turn, Turns, World, plan, renewal};
use crate::shared::Shared;

/// Limit for any single call to BlueZ. bluer alone would wait for two minutes.
const CALL_WITHIN: Duration = Duration::from_secs(10);
/// Limit for finding the adapter, where D-Bus may have to start bluetoothd: its own limit is 25 s (`service_start_timeout`).
const START_WITHIN: Duration = Duration::from_secs(30);
/// Limit for a bluetoothd that has just started to list its adapters.
const ADAPTER_WITHIN: Duration = Duration::from_secs(5);
/// Pause after a failure.
const RETRY: Duration = Duration::from_secs(1);
/// Pause while there is no bus at all.
const RETRY_BUS: Duration = Duration::from_secs(5);
/// Poll interval while an rfkill switch is off: no event reports that the switch is on again.
const LOOK_AT_SWITCH: Duration = Duration::from_secs(3);
/// An adapter that could not advertise is tried again after this time.
const ADVERTISE_AGAIN: Duration = Duration::from_mins(1);
/// An adapter that takes turns is tried with both at once after this time: the earlier failure may come from a busy BlueZ. The
/// trial costs a few seconds of discovery.
const TRY_BOTH: Duration = Duration::from_mins(10);
/// Pause between unregistering an advertisement and registering the next: without it BlueZ answers "cannot advertise" or
/// forgets the advertisement (bluez#644).
const ADVERT_GAP: Duration = Duration::from_millis(150);
/// Advertising interval, against the kernel's 1.28 s: found in a fraction of a second, for about 50 microamperes.
const ADVERT_INTERVAL: Duration = Duration::from_millis(100);
/// Advertising interval to save energy: the longest that Apple's guidelines advise for accessories (Accessory Design
/// Guidelines, Bluetooth, Advertising Interval), about a tenth of the energy; a scanner hears the device in one to four
/// seconds.
const SELDOM_INTERVAL: Duration = Duration::from_millis(1285);

/// The answer to calls to bluetoothd. `None`: not within [`CALL_WITHIN`], or bluetoothd has left: the bus keeps such a call for the
/// next one, which it would start.
async fn answer<T>(mut left: watch::Receiver<()>, calls: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        _ = left.changed() => None,
        answer = timeout(CALL_WITHIN, calls) => answer.ok(),
    }
}

/// Runs until the transport has parted. It ends between two steps: bluetoothd 5.66 may free an advertisement twice if the program
/// that registers it leaves before the answer (`add_client_complete` in its advertising.c).
pub(crate) async fn supervise(shared: Arc<Shared>) {
    let mut supervisor = Supervisor::new(shared);
    loop {
        let next = supervisor.settle().await;
        if supervisor.shared.has_parted() {
            return;
        }
        supervisor.wait(next).await;
    }
}

struct Supervisor {
    shared: Arc<Shared>,
    bus: Option<Bus>,
    /// The last logged reason why there is no bus.
    bus_error: Option<String>,
    /// bluetoothd is on the bus.
    service: bool,
    permitted: bool,
    asleep: bool,
    session: Option<Session>,
    session_events: BoxStream<'static, SessionEvent>,
    adapter: Option<Used>,
    agent: Option<AgentHandle>,
    turns: Turns,
    /// Handles of a bluetoothd that left. Dropping one makes D-Bus calls, and a call would make D-Bus start bluetoothd against
    /// the user's will; they are kept until the next bluetoothd runs.
    graveyard: Vec<Box<dyn Any + Send>>,
}

/// The adapter in use, and this program's objects on it.
struct Used {
    adapter: Adapter,
    powered: bool,
    /// Power changes only; others would wake the process for nothing.
    events: BoxStream<'static, ()>,
    test: SelfTest,
    tested: Instant,
    served: Option<Served>,
    advert: Option<Advert>,
    /// The advertisement is to be registered again, whatever its age.
    renew: bool,
    scan: Option<Scan>,
    /// BlueZ may believe that an old scan of this program still runs.
    left_scan: bool,
}

struct Advert {
    _handle: AdvertisementHandle,
    card: Card,
    since: Instant,
}

impl Advert {
    /// When the advertisement is to be registered again.
    fn renewal(&self, left: Option<std::time::Instant>) -> Instant {
        Instant::from_std(renewal(self.since.into_std(), left))
    }
}

/// Makes BlueZ forget a device, on the adapter with this name, or on the first.
pub(crate) async fn forget(adapter: Option<&str>, address: &str) {
    let forget = async {
        let session = Session::new().await?;
        match pick(session.adapter_names().await?, adapter) {
            Some(name) => session.adapter(&name)?.remove_device(address.parse::<bluer::Address>()?).await,
            None => Ok(()),
        }
    };
    let _ = timeout(CALL_WITHIN, forget).await;
}

/// Switches the adapter on. A bluetoothd that does not run is started by D-Bus, where the system allows that.
pub(crate) async fn power_on(shared: &Shared) -> Result<(), LinkError> {
    let io = |error: bluer::Error| LinkError::Io(std::io::Error::other(error));
    let ran = shared.known_state().await != CarrierState::NoService;
    let find = async {
        let session = Session::new().await?;
        let mut late = None;
        loop {
            // Calls that the bus keeps for a bluetoothd that starts were seen to stay without an answer.
            let Ok(names) = timeout(CALL_WITHIN, session.adapter_names()).await else { continue };
            // A bluetoothd that has just started lists its adapters a moment later.
            let patience = if ran { Duration::ZERO } else { ADAPTER_WITHIN };
            let late = *late.get_or_insert_with(|| Instant::now() + patience);
            match pick(names?, shared.adapter().as_deref()) {
                Some(name) => return session.adapter(&name).map(Some),
                None if Instant::now() < late => sleep(Duration::from_millis(200)).await,
                None => return Ok(None),
            }
        }
    };
    let adapter = match timeout(START_WITHIN, find).await {
        Ok(Ok(Some(adapter))) => adapter,
        Ok(Ok(None)) => return Err(LinkError::Carrier(CarrierState::NoAdapter)),
        Ok(Err(error)) if ran => return Err(io(error)),
        Err(_) if ran => return Err(LinkError::Io(std::io::ErrorKind::TimedOut.into())),
        Ok(Err(error)) => {
            tracing::warn!(%error, "bluetoothd was not started");
            return Err(LinkError::Carrier(CarrierState::NoService));
        }
        Err(_) => {
            tracing::warn!("bluetoothd was not started in time");
            return Err(LinkError::Carrier(CarrierState::NoService));
        }
    };
    match timeout(CALL_WITHIN, adapter.set_powered(true)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) if rfkill::block(Path::new(rfkill::CLASS)).is_some() => {
            Err(LinkError::Carrier(CarrierState::Blocked))
        }
        Ok(Err(error)) => Err(io(error)),
        Err(_) => Err(LinkError::Io(std::io::ErrorKind::TimedOut.into())),
    }
}

/// The adapters present, plus the chosen adapter if it is absent.
pub(crate) async fn adapters(shared: &Shared) -> Vec<link::Adapter> {
    let chosen = shared.adapter();
    // A call to a bluetoothd that does not run would make D-Bus start it.
    let here = if shared.known_state().await == CarrierState::NoService {
        Vec::new()
    } else {
        timeout(CALL_WITHIN, adapters_here()).await.ok().and_then(Result::ok).unwrap_or_default()
    };
    with_choice(here, chosen.as_deref())
}

async fn adapters_here() -> bluer::Result<Vec<link::Adapter>> {
    let session = Session::new().await?;
    let mut all = Vec::new();
    for name in session.adapter_names().await? {
        let adapter = session.adapter(&name)?;
        let address = adapter.address().await?.to_string();
        let powered = adapter.is_powered().await?;
        all.push(link::Adapter { name, address, powered, here: true, ..link::Adapter::default() });
    }
    Ok(all)
}

/// Marks the adapter in use and the chosen adapter.
fn with_choice(mut here: Vec<link::Adapter>, chosen: Option<&str>) -> Vec<link::Adapter> {
    here.sort_by(|a, b| a.name.cmp(&b.name));
    let used = pick(here.iter().map(|one| one.name.clone()).collect(), chosen);
    for one in &mut here {
        one.in_use = used.as_ref() == Some(&one.name);
        one.chosen = chosen == Some(&one.name);
    }
    if let Some(away) = chosen.filter(|_| used.is_none()) {
        here.push(link::Adapter { name: away.to_owned(), chosen: true, ..link::Adapter::default() });
    }
    here
}

/// All findings of [`doctor`].
pub(crate) async fn diagnose(shared: &Shared) -> Vec<Finding> {
    doctor::diagnose(shared.adapter().as_deref()).await
}

/// The wanted adapter if present; without a wanted adapter the first by name.
fn pick(mut names: Vec<String>, wanted: Option<&str>) -> Option<String> {
    names.sort();
    match wanted {
        Some(wanted) => names.into_iter().find(|name| name == wanted),
        None => names.into_iter().next(),
    }
}

/// Whether an error means a missing permission of this user.
fn is_permission(error: &str) -> bool {
    error.contains("AccessDenied") || error.contains("not authorized") || error.contains("Permission denied")
}

impl Supervisor {
    fn new(shared: Arc<Shared>) -> Supervisor {
        Supervisor {
            shared,
            bus: None,
            bus_error: None,
            service: false,
            permitted: true,
            asleep: false,
            session: None,
            session_events: stream::pending().boxed(),
            adapter: None,
            agent: None,
            turns: Turns::new(getrandom::u64().unwrap_or_default()),
            graveyard: Vec::new(),
        }
    }

    /// Applies the plan; returns when to run again without an event.
    async fn settle(&mut self) -> Option<Instant> {
        let mut retry = self.find_adapter().await;
        let blocked = match &self.adapter {
            Some(used) if used.powered => false,
            _ => self.service && rfkill::block(Path::new(rfkill::CLASS)).is_some(),
        };
        let ability = self.adapter.as_ref().map_or(Ability::Both, |used| used.test.ability());
        let power = self.adapter.as_ref().map(|used| if used.powered { Power::On } else { Power::Off });
        let world = World {
            service: self.service,
            permitted: self.permitted,
            adapter: power,
            blocked,
            ability,
            asleep: self.asleep,
        };
        let wants = self.shared.wants();
        let now = Instant::now();
        let contended = plan(world, wants, Turn::Scan).contended;
        let (turn, turn_ends) = self.turns.at(now.into_std(), contended);
        let plan = plan(world, wants, turn);
        self.shared.set_state(plan.state);

        self.keep_agent(wants.links > 0 && power == Some(Power::On)).await;
        if let (Some(used), Some(bus)) = (&mut self.adapter, &self.bus)
            && used.powered
        {
            let shared = &self.shared;
            let mut failed = false;
            // What must not run at the same time stops first.
            if !plan.scan
                && let Some(scan) = used.scan.take()
            {
                used.left_scan |= !scan.stop().await;
                used.renew = true;
            }
            if !plan.advertise && used.advert.take().is_some() && ability == Ability::InTurns && plan.scan {
                // BlueZ takes the advertisement off the air with a delay, and refuses a scan until then.
                sleep(ADVERT_GAP).await;
            }
            // A link outlives its listener.
            if !plan.serve && wants.links == 0 {
                used.served = None;
            }
            if plan.serve && used.served.is_none() {
                failed |= !used.serve(bus.left(), shared).await;
            }
            // The scan starts first, and alone until both have worked at once: a refused advertisement is an ordinary error,
            // but BlueZ 5.66 crashes, at once or later, on a scan that the controller refuses while it advertises.
            if plan.scan && used.scan.is_none() && !used.test.both_worked() && used.advert.take().is_some() {
                sleep(ADVERT_GAP).await;
            }
            if plan.scan {
                failed |= !used.listen_for_others(bus, shared).await;
            }
            if plan.advertise
                && let Some(card) = shared.card()
            {
                // A new registration takes a fifth of a second of BlueZ's time: postponed while a connection attempt runs.
                let renew = wants.connecting == 0;
                failed |= !used.advertise(bus, card, renew, shared.left()).await;
            }
            if failed {
                retry = Some(earlier(retry, now + RETRY));
            }
            if let Some(advert) = &used.advert
                && wants.connecting == 0
            {
                retry = Some(earlier(retry, advert.renewal(shared.left())));
            }
        }
        if blocked || (self.service && power.is_none()) {
            retry = Some(earlier(retry, now + LOOK_AT_SWITCH));
        }
        // Otherwise a device at which nothing happens would stay unheard after some refused advertisements.
        if wants.listening
            && ability == Ability::ScanOnly
            && let Some(used) = &self.adapter
        {
            retry = Some(earlier(retry, (used.tested + ADVERTISE_AGAIN).max(now + RETRY)));
        }
        [retry, turn_ends.map(Instant::from_std)].into_iter().flatten().min()
    }

    /// Finds the bus, bluetoothd and the adapter, and reads its power. Returns when to try again if something failed.
    async fn find_adapter(&mut self) -> Option<Instant> {
        if self.bus.is_none() {
            match timeout(CALL_WITHIN, Bus::connect()).await {
                Ok(Ok((bus, service))) => {
                    self.bus = Some(bus);
                    self.bus_error = None;
                    self.service = service;
                }
                error => {
                    let error = error.map_or_else(
                        |_| "timed out".to_owned(),
                        |result| match result {
                            Ok(_) => String::new(),
                            Err(error) => error.to_string(),
                        },
                    );
                    // Retried every few seconds, logged once.
                    if self.bus_error.as_ref() != Some(&error) {
                        tracing::warn!(error, "no system bus");
                        self.bus_error = Some(error.clone());
                    }
                    self.permitted = !is_permission(&error);
                    self.service = false;
                    return Some(Instant::now() + RETRY_BUS);
                }
            }
        }
        if !self.service {
            return None;
        }
        self.graveyard.clear();
        let left = self.bus.as_ref().map(Bus::left)?;
        match answer(left, self.look()).await {
            Some(Ok(())) => {
                self.permitted = true;
                None
            }
            Some(Err(error)) => {
                tracing::warn!(%error, "BlueZ");
                self.permitted = !is_permission(&error.to_string());
                Some(Instant::now() + RETRY)
            }
            None => {
                tracing::warn!("BlueZ does not answer");
                Some(Instant::now() + RETRY)
            }
        }
    }

    async fn look(&mut self) -> bluer::Result<()> {
        let session = if let Some(session) = &self.session {
            session.clone()
        } else {
            let session = Session::new().await?;
            self.session_events = session.events().await?.boxed();
            self.session = Some(session.clone());
            session
        };
        let name = pick(session.adapter_names().await?, self.shared.adapter().as_deref());
        if name.as_deref() != self.adapter.as_ref().map(|used| used.adapter.name()) {
            if let Some(mut used) = self.adapter.take() {
                tracing::info!(
                    adapter = used.adapter.name(),
                    "not used any more: taken away, or another was chosen"
                );
                if let Some(scan) = used.scan.take() {
                    // Fails if the adapter is gone; then nothing needs a stop.
                    let _ = scan.stop().await;
                }
                self.shared.lose_ground();
            }
            if let Some(name) = &name {
                self.adapter =
                    Some(Used::start(self.bus.as_ref(), session.adapter(name)?, &self.shared).await?);
            }
        }
        if let Some(used) = &mut self.adapter {
            let powered = used.adapter.is_powered().await?;
            if used.powered && !powered {
                used.advert = None;
                used.left_scan |= used.scan.take().is_some();
                self.shared.lose_ground();
            }
            used.powered = powered;
            let test_again = match used.test.ability() {
                // Another program's advertisements may fill all instances for some time.
                Ability::ScanOnly => Some(ADVERTISE_AGAIN),
                Ability::InTurns => Some(TRY_BOTH),
                Ability::Both => None,
            };
            if test_again.is_some_and(|after| used.tested.elapsed() > after) {
                used.test = self_test(self.bus.as_ref(), &used.adapter).await;
                used.tested = Instant::now();
            }
        }
        Ok(())
    }

    /// While a link is up, pairing is refused: bluetoothd's plug-ins on the peer read protected characteristics of this
    /// device, and a dialog would ask the player to pair. Only while a link is up: this adapter also serves headphones. The
    /// agent disappears with this process, even a killed one, unlike `Pairable`, which BlueZ stores.
    async fn keep_agent(&mut self, wanted: bool) {
        if !wanted {
            self.agent = None;
        } else if self.agent.is_none()
            && let (Some(session), Some(bus)) = (&self.session, &self.bus)
        {
            let agent = Agent { request_default: true, ..Agent::default() };
            match answer(bus.left(), session.register_agent(agent)).await {
                Some(Ok(agent)) => self.agent = Some(agent),
                Some(Err(error)) => tracing::debug!(%error, "no agent"),
                None => tracing::debug!("no agent: no answer"),
            }
        }
    }

    /// Waits for any event that may change the plan.
    async fn wait(&mut self, until: Option<Instant>) {
        let news = async {
            match &mut self.bus {
                Some(bus) => bus.news().await,
                None => std::future::pending().await,
            }
        };
        let power = async {
            match &mut self.adapter {
                Some(used) => used.events.next().await,
                None => std::future::pending().await,
            }
        };
        let until = async {
            match until {
                Some(until) => sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            news = news => self.handle_news(news),
            event = self.session_events.next() => {
                tracing::debug!(?event, "adapters");
                if event.is_none() {
                    self.session_events = stream::pending().boxed();
                }
            }
            event = power => {
                if event.is_none() && let Some(used) = &mut self.adapter {
                    used.events = stream::pending().boxed();
                }
            }
            () = self.shared.changed.notified() => {}
            () = until => {}
        }
    }

    fn handle_news(&mut self, news: News) {
        tracing::info!(?news, "bus");
        match news {
            News::ServiceCame => self.service = true,
            News::ServiceLeft => {
                self.bury();
                if let Some(bus) = &mut self.bus {
                    bus.saw_it_leave();
                }
            }
            News::BusGone => {
                self.bury();
                self.bus = None;
            }
            News::Sleep(asleep) => {
                self.asleep = asleep;
                // Advertising is disabled during sleep, and some controllers wake up deaf: everything is made again.
                if !asleep && let Some(used) = &mut self.adapter {
                    used.advert = None;
                    used.left_scan |= used.scan.take().is_some();
                }
            }
        }
    }

    /// bluetoothd is gone, and with it all its objects for this program; no link is left.
    fn bury(&mut self) {
        self.service = false;
        self.session_events = stream::pending().boxed();
        // The handles first, their session last.
        self.graveyard.push(Box::new((self.agent.take(), self.adapter.take(), self.session.take())));
        self.shared.set_state(CarrierState::NoService);
        self.shared.lose_ground();
    }
}

impl Used {
    async fn start(bus: Option<&Bus>, adapter: Adapter, shared: &Arc<Shared>) -> bluer::Result<Used> {
        let events = adapter.events().await?;
        let is_power = |event: &AdapterEvent| {
            matches!(event, AdapterEvent::PropertyChanged(AdapterProperty::Powered(_)))
        };
        let events = events.filter(move |event| std::future::ready(is_power(event))).map(|_| ()).boxed();
        let test = self_test(bus, &adapter).await;
        tokio::spawn(hang_up_leftovers(adapter.clone(), shared.clone()));
        tracing::info!(adapter = adapter.name(), ability = ?test.ability(), "using");
        Ok(Used {
            adapter,
            powered: false,
            events,
            test,
            tested: Instant::now(),
            served: None,
            advert: None,
            renew: false,
            scan: None,
            left_scan: false,
        })
    }

    /// Registers the GATT service. Returns whether that worked.
    async fn serve(&mut self, left: watch::Receiver<()>, shared: &Arc<Shared>) -> bool {
        match answer(left, Served::start(&self.adapter, shared.clone())).await {
            Some(Ok(served)) => {
                self.served = Some(served);
                true
            }
            Some(Err(error)) => {
                tracing::warn!(%error, "offering the service");
                false
            }
            None => false,
        }
    }

    /// Advertises this card. An advertisement on the air is registered again if `renew` and the card changed or the renewal is
    /// due; `left` is when a central last disconnected. Returns whether that worked.
    async fn advertise(
        &mut self,
        bus: &Bus,
        card: Card,
        renew: bool,
        left: Option<std::time::Instant>,
    ) -> bool {
        if let Some(advert) = &self.advert {
            let fresh = Instant::now() < advert.renewal(left) && !self.renew;
            if !renew || (fresh && advert.card == card) {
                return true;
            }
            self.advert = None;
            sleep(ADVERT_GAP).await;
        }
        let result = answer(bus.left(), self.adapter.advertise(advertisement(&card))).await;
        let worked = matches!(result, Some(Ok(_)));
        self.test.learn(Trial { started: Turn::Advertise, other_ran: self.scan.is_some(), worked });
        match result {
            Some(Ok(handle)) => {
                self.advert = Some(Advert { _handle: handle, card, since: Instant::now() });
                self.renew = false;
            }
            Some(Err(error)) => tracing::warn!(%error, "advertising"),
            None => tracing::warn!("advertising: no answer"),
        }
        worked
    }

    /// Keeps discovery running. Returns whether it runs.
    async fn listen_for_others(&mut self, bus: &Bus, shared: &Arc<Shared>) -> bool {
        if self.scan.as_ref().is_some_and(|scan| !scan.is_over()) {
            return true;
        }
        self.left_scan |= self.scan.take().is_some();
        let start = Scan::start(bus, &self.adapter, shared.clone(), std::mem::take(&mut self.left_scan));
        let result = answer(bus.left(), start).await;
        let worked = matches!(result, Some(Ok(_)));
        self.test.learn(Trial { started: Turn::Scan, other_ran: self.advert.is_some(), worked });
        match result {
            Some(Ok(scan)) => self.scan = Some(scan),
            Some(Err(error)) => {
                tracing::warn!(%error, "discovery");
                self.left_scan = true;
            }
            None => {
                tracing::warn!("discovery: no answer");
                self.left_scan = true;
            }
        }
        worked
    }
}

/// The advertisement of a card, and its scan response, which carries the name.
fn advertisement(card: &Card) -> Advertisement {
    let interval = if card.seldom { SELDOM_INTERVAL } else { ADVERT_INTERVAL };
    Advertisement {
        service_uuids: BTreeSet::from([SERVICE]),
        manufacturer_data: BTreeMap::from([(COMPANY, card_payload(card).to_vec())]),
        // BlueZ sets flags 0x06 if the adapter itself is not discoverable, or is LE only. Without "BR/EDR not supported"
        // the peer's bluetoothd pages this device on BR/EDR and the LE link dies after 4.7 s.
        discoverable: Some(true),
        local_name: card.name.as_deref().map(|name| fitting_name(name).to_owned()),
        min_interval: Some(interval),
        max_interval: Some(interval),
        ..Advertisement::default()
    }
}

/// Ends connections that outlived their link: the kernel keeps a connection when bluetoothd or this program dies, and the peer
/// would neither scan nor advertise until its session times out after nine seconds.
async fn hang_up_leftovers(adapter: Adapter, shared: Arc<Shared>) {
    let Ok(addresses) = adapter.device_addresses().await else { return };
    for address in addresses {
        let Ok(device) = adapter.device(address) else { continue };
        if !device.is_connected().await.unwrap_or(false) {
            continue;
        }
        // A bluetoothd that has just started does not know its devices' services.
        let services = device.uuids().await.ok().flatten().unwrap_or_default();
        if (services.contains(&SERVICE) || shared.has_met(&address.to_string())) && shared.wants().links == 0
        {
            let ended = timeout(CALL_WITHIN, device.disconnect()).await;
            tracing::info!(%address, ?ended, "a connection was left over");
        }
    }
}

async fn self_test(bus: Option<&Bus>, adapter: &Adapter) -> SelfTest {
    let roles = match bus {
        Some(bus) => bus.roles(adapter.name()).await,
        None => None,
    };
    let free = adapter.supported_advertising_instances().await.ok();
    let active = adapter.active_advertising_instances().await.ok();
    let instances = free.map(|free| free.saturating_add(active.unwrap_or(0)));
    SelfTest::new(roles.as_deref(), instances)
}

fn earlier(a: Option<Instant>, b: Instant) -> Instant {
    a.map_or(b, |a| a.min(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advert_fills_its_31_bytes_and_no_more_and_the_scan_response_has_room_for_the_name() {
        let name = Some("棋友".repeat(20));
        for seldom in [false, true] {
            let card = Card {
                tag: link::Tag([7; 5]),
                open_to_all: true,
                busy: false,
                wish: 3,
                name: name.clone(),
                seldom,
            };
            let advertisement = advertisement(&card);
            // Each field takes two bytes more, for its length and its type; those of a manufacturer begin with two for the company.
            let flags = advertisement.discoverable.map_or(0, |_| 2 + 1);
            let uuids = 2 + 16 * advertisement.service_uuids.len();
            let makers = advertisement.manufacturer_data.values();
            let makers: usize = makers.map(|data| 2 + 2 + data.len()).sum();
            assert_eq!(flags + uuids + makers, 31);
            let name = advertisement.local_name.as_deref().expect("the card has one");
            assert!(2 + name.len() <= 31, "{name}");
            // Nothing else takes room.
            let timing = Advertisement {
                discoverable: advertisement.discoverable,
                service_uuids: advertisement.service_uuids.clone(),
                manufacturer_data: advertisement.manufacturer_data.clone(),
                local_name: advertisement.local_name.clone(),
                min_interval: advertisement.min_interval,
                max_interval: advertisement.max_interval,
                ..Advertisement::default()
            };
            assert_eq!(advertisement, timing);
        }
    }

    #[test]
    fn the_wanted_adapter_is_used_or_none() {
        let names = || vec!["hci1".to_owned(), "hci0".to_owned()];
        assert_eq!(pick(names(), None).as_deref(), Some("hci0"));
        assert_eq!(pick(names(), Some("hci1")).as_deref(), Some("hci1"));
        assert_eq!(pick(names(), Some("hci2")), None, "another one is not what was asked for");
        assert_eq!(pick(Vec::new(), None), None);
    }

    #[test]
    fn the_list_says_which_adapter_is_used_and_which_is_missed() {
        let here = |names: &[&str]| -> Vec<link::Adapter> {
            let one =
                |name: &&str| link::Adapter { name: (*name).into(), here: true, ..link::Adapter::default() };
            names.iter().map(one).collect()
        };
        let marks = |here, chosen| -> Vec<(String, bool, bool, bool)> {
            let all = with_choice(here, chosen).into_iter();
            all.map(|one| (one.name, one.here, one.in_use, one.chosen)).collect()
        };
        let line = |name: &str, here, used, chosen| (name.to_owned(), here, used, chosen);
        let both = [line("hci0", true, true, false), line("hci1", true, false, false)];
        assert_eq!(marks(here(&["hci1", "hci0"]), None), both);
        let second = [line("hci0", true, false, false), line("hci1", true, true, true)];
        assert_eq!(marks(here(&["hci0", "hci1"]), Some("hci1")), second);
        let away = [line("hci0", true, false, false), line("hci1", false, false, true)];
        assert_eq!(marks(here(&["hci0"]), Some("hci1")), away);
        assert!(marks(Vec::new(), None).is_empty());
    }

    #[test]
    fn a_missing_permission_is_told_from_a_missing_service() {
        assert!(is_permission("org.freedesktop.DBus.Error.AccessDenied: Rejected send message"));
        assert!(!is_permission("org.freedesktop.DBus.Error.ServiceUnknown: The name is not activatable"));
    }
}
