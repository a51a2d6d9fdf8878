//! A network inside one process: devices that discover each other, links with delay, silence or failure.
//!
//! It keeps every promise of the traits, and host and app run on it unchanged. All randomness comes from a seed. Delays
//! use Tokio's clock, so that a test with paused time does not wait.

mod pipe;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

pub use self::pipe::MemoryLink;
pub(crate) use self::pipe::Rng;
use self::pipe::{Pipe, Shared, break_link, link_between};
use crate::{
    Accepted, Address, Card, CarrierKind, CarrierState, Duplex, Finding, LinkError, Listener, Sighting,
    Transport, Verdict, Watch, WatchEvent,
};

/// How often a device in range is reported again, as a Bluetooth advertisement is heard about once a second.
pub const SIGHTING_PERIOD: Duration = Duration::from_secs(1);

/// Links that wait for one device to accept them; a further dial fails as unreachable.
const BACKLOG: usize = 8;

/// Two ends of one link without network, delay or failure.
pub fn pair() -> (MemoryLink, MemoryLink) {
    link_between(
        &Shared::new(Pipe::new(Duration::ZERO..Duration::ZERO, 0)),
        &Shared::new(Pipe::new(Duration::ZERO..Duration::ZERO, 0)),
    )
}

/// A network of devices. Clones share one network.
#[derive(Clone)]
pub struct MemoryNetwork {
    kind: CarrierKind,
    air: Arc<Mutex<Air>>,
    /// Notified of every change that a watcher can observe.
    changed: Arc<watch::Sender<u64>>,
}

struct Air {
    random: Rng,
    delay: Range<Duration>,
    /// Number of bytes after which new links break; `None`: never.
    lives: Option<Range<u64>>,
    devices: BTreeMap<String, Device>,
    links: Vec<Standing>,
    next_listener: u64,
}

struct Device {
    state: CarrierState,
    in_reach: bool,
    listening: Option<Listening>,
    /// Maximum number of incoming links; `None`: no maximum.
    places: Option<usize>,
    /// Peers turned away so far.
    turned_away: u64,
}

struct Listening {
    /// Distinguishes a listener from its replacement.
    id: u64,
    card: Card,
    incoming: mpsc::Sender<MemoryLink>,
}

/// A link that was made and may still be up.
struct Standing {
    ends: [String; 2],
    pipes: [Shared; 2],
}

impl MemoryNetwork {
    /// A network without devices, delay or loss. `seed` determines all randomness.
    pub fn new(seed: u64) -> Self {
        Self::posing_as(CarrierKind::Memory, seed)
    }

    /// A network that reports another kind of carrier, for a device with several carriers.
    pub fn posing_as(kind: CarrierKind, seed: u64) -> Self {
        let air = Air {
            random: Rng::new(seed),
            delay: Duration::ZERO..Duration::ZERO,
            lives: None,
            devices: BTreeMap::new(),
            links: Vec::new(),
            next_listener: 0,
        };
        Self { kind, air: Arc::new(Mutex::new(air)), changed: Arc::new(watch::Sender::new(0)) }
    }

    /// Adds a device called `name`, which is also its address: ready, and in range of all others.
    pub fn transport(&self, name: &str) -> MemoryTransport {
        self.lock().device(name);
        MemoryTransport { network: self.clone(), name: name.to_owned() }
    }

    /// A link between two devices, without a listener.
    pub fn pair(&self, dialer: &str, listener: &str) -> (MemoryLink, MemoryLink) {
        self.lock().new_link(dialer, listener)
    }

    /// Each chunk of bytes takes a random time from this range to arrive and never overtakes an earlier chunk. Applies to
    /// new links.
    pub fn set_delay(&self, delay: Range<Duration>) {
        self.lock().delay = delay;
    }

    /// New links break after a random number of bytes from this range, counted in both directions together; `None`: never.
    pub fn set_lives(&self, bytes: Option<Range<u64>>) {
        self.lock().lives = bytes;
    }

    /// Breaks all links between the two. Bytes in flight are lost; both ends see an error.
    pub fn cut(&self, one: &str, other: &str) {
        self.lock().for_links(one, other, break_link);
    }

    /// Breaks all links of all devices.
    pub fn cut_all(&self) {
        for link in self.lock().links.drain(..) {
            break_link(&link.pipes);
        }
    }

    /// Breaks the present links between the two after `bytes` more, both directions together. The last write is truncated
    /// at that byte.
    pub fn cut_after(&self, one: &str, other: &str, bytes: u64) {
        self.lock().for_links(one, other, |pipes| {
            let life = Arc::new(Mutex::new(bytes));
            for pipe in pipes {
                pipe.lock().life = Some(life.clone());
            }
            if bytes == 0 {
                break_link(pipes);
            }
        });
    }

    /// While `silent`, bytes between the two stay in flight, and neither end sees an error. Afterwards they arrive.
    pub fn mute(&self, one: &str, other: &str, silent: bool) {
        self.lock().for_links(one, other, |pipes| {
            for pipe in pipes {
                let mut pipe = pipe.lock();
                pipe.silent = silent;
                pipe.wake_reader();
            }
        });
    }

    /// Out of range a device is neither seen nor connected to, and its links break.
    pub fn set_reach(&self, name: &str, in_reach: bool) {
        let mut air = self.lock();
        air.device(name).in_reach = in_reach;
        if !in_reach {
            air.break_links_of(name);
        }
        drop(air);
        self.tell();
    }

    /// Sets the state of a device's carrier. In a state that cannot work, its links break. A listener stays, and becomes
    /// findable again later.
    pub fn set_state(&self, name: &str, state: CarrierState) {
        let mut air = self.lock();
        air.device(name).state = state;
        if !works(state) {
            air.break_links_of(name);
        }
        drop(air);
        self.tell();
    }

    /// The device accepts at most this many links at a time, as a Bluetooth peripheral accepts one central; `None`: any number.
    /// Further peers are turned away. A network that poses as Bluetooth hears nothing of a device whose places are taken.
    pub fn set_places(&self, name: &str, places: Option<usize>) {
        self.lock().device(name).places = places;
    }

    /// How many links are up between the two.
    pub fn links(&self, one: &str, other: &str) -> usize {
        let mut standing = 0;
        self.lock().for_links(one, other, |_| standing += 1);
        standing
    }

    /// The card that a device advertises; `None` while it cannot be found.
    pub fn card(&self, name: &str) -> Option<Card> {
        self.lock().advertised(name, self.kind).cloned()
    }

    fn address(&self, name: &str) -> Address {
        Address { kind: self.kind, text: name.to_owned() }
    }

    fn tell(&self) {
        self.changed.send_modify(|revision| *revision += 1);
    }

    fn lock(&self) -> MutexGuard<'_, Air> {
        // A panic elsewhere leaves the state valid.
        self.air.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for MemoryNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let air = self.lock();
        f.debug_struct("MemoryNetwork")
            .field("devices", &air.devices.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

fn works(state: CarrierState) -> bool {
    matches!(state, CarrierState::Ready | CarrierState::TakingTurns | CarrierState::NoAdvertising)
}

impl Air {
    fn device(&mut self, name: &str) -> &mut Device {
        self.devices.entry(name.to_owned()).or_insert(Device {
            state: CarrierState::Ready,
            in_reach: true,
            listening: None,
            places: None,
            turned_away: 0,
        })
    }

    /// The listener of this name, if it can be found now.
    fn findable(&self, name: &str) -> Option<&Listening> {
        let device = self.devices.get(name)?;
        let found = device.in_reach && works(device.state) && device.state != CarrierState::NoAdvertising;
        device.listening.as_ref().filter(|_| found)
    }

    /// The card of this name that can be heard now.
    fn advertised(&self, name: &str, kind: CarrierKind) -> Option<&Card> {
        let is_mute = kind == CarrierKind::Bluetooth && self.is_full(name);
        self.findable(name).filter(|_| !is_mute).map(|listening| &listening.card)
    }

    fn new_link(&mut self, dialer: &str, listener: &str) -> (MemoryLink, MemoryLink) {
        let life = self.lives.clone().map(|range| Arc::new(Mutex::new(self.random.within(range))));
        let mut pipe = || {
            let mut pipe = Pipe::new(self.delay.clone(), self.random.next());
            pipe.life.clone_from(&life);
            Shared::new(pipe)
        };
        let pipes = [pipe(), pipe()];
        self.links.retain(|link| link.pipes.iter().any(Shared::is_open));
        self.links.push(Standing { ends: [dialer.to_owned(), listener.to_owned()], pipes: pipes.clone() });
        link_between(&pipes[0], &pipes[1])
    }

    /// Whether incoming links occupy all places of the device.
    fn is_full(&self, name: &str) -> bool {
        let Some(places) = self.devices.get(name).and_then(|device| device.places) else { return false };
        // A link with one closed end is over for the person there; the other end may still hold unread bytes.
        let taken = |link: &&Standing| link.ends[1] == name && link.pipes.iter().all(Shared::is_open);
        self.links.iter().filter(taken).count() >= places
    }

    fn for_links(&mut self, one: &str, other: &str, mut each: impl FnMut(&[Shared; 2])) {
        self.links.retain(|link| link.pipes.iter().any(Shared::is_open));
        for link in &self.links {
            let [a, b] = &link.ends;
            if (a == one && b == other) || (a == other && b == one) {
                each(&link.pipes);
            }
        }
    }

    fn break_links_of(&mut self, name: &str) {
        for link in &self.links {
            if link.ends.iter().any(|end| end == name) {
                break_link(&link.pipes);
            }
        }
    }
}

/// One device's transport in the network.
#[derive(Clone, Debug)]
pub struct MemoryTransport {
    network: MemoryNetwork,
    name: String,
}

impl MemoryTransport {
    /// This device's address for the others.
    pub fn address(&self) -> Address {
        self.network.address(&self.name)
    }
}

#[async_trait]
impl Transport for MemoryTransport {
    fn kind(&self) -> CarrierKind {
        self.network.kind
    }

    async fn listen(&self, card: Card) -> Result<Box<dyn Listener>, LinkError> {
        let (incoming, accepted) = mpsc::channel(BACKLOG);
        let mut air = self.network.lock();
        let id = air.next_listener;
        air.next_listener += 1;
        air.device(&self.name).listening = Some(Listening { id, card, incoming });
        drop(air);
        self.network.tell();
        Ok(Box::new(MemoryListener { transport: self.clone(), id, accepted }))
    }

    fn watch(&self, scan: bool) -> Watch {
        let watching = Watching {
            transport: self.clone(),
            scan,
            changed: self.network.changed.subscribe(),
            told: None,
            turned_away: self.network.lock().device(&self.name).turned_away,
            next_look: None,
            waiting: VecDeque::new(),
        };
        Box::pin(futures::stream::unfold(watching, |mut watching| async {
            let event = watching.next().await;
            Some((event, watching))
        }))
    }

    async fn connect(&self, address: &Address) -> Result<Box<dyn Duplex>, LinkError> {
        if address.kind != self.network.kind {
            return Err(LinkError::WrongAddress(address.clone()));
        }
        let delay = {
            let mut air = self.network.lock();
            let delay = air.delay.clone();
            air.random.time_within(delay)
        };
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        let mut air = self.network.lock();
        let here = air.device(&self.name);
        if !works(here.state) {
            return Err(LinkError::Carrier(here.state));
        }
        let unreachable = || LinkError::Unreachable(address.clone());
        if !here.in_reach {
            return Err(unreachable());
        }
        if air.findable(&address.text).is_some() && air.is_full(&address.text) {
            air.device(&address.text).turned_away += 1;
            drop(air);
            self.network.tell();
            return Err(unreachable());
        }
        let place =
            air.findable(&address.text).and_then(|there| there.incoming.clone().try_reserve_owned().ok());
        let place = place.ok_or_else(unreachable)?;
        let (dialed, accepted) = air.new_link(&self.name, &address.text);
        place.send(accepted);
        Ok(Box::new(dialed))
    }

    async fn power_on(&self) -> Result<(), LinkError> {
        let state = self.network.lock().device(&self.name).state;
        match state {
            CarrierState::Off => {
                self.network.set_state(&self.name, CarrierState::Ready);
                Ok(())
            }
            state if works(state) => Ok(()),
            state => Err(LinkError::Carrier(state)),
        }
    }

    async fn diagnose(&self) -> Vec<Finding> {
        let mut air = self.network.lock();
        let state = air.device(&self.name).state;
        let (verdict, remedy) = match state {
            CarrierState::Ready => (Verdict::Good, ""),
            CarrierState::TakingTurns | CarrierState::NoAdvertising => (Verdict::Limited, ""),
            CarrierState::Off => (Verdict::Broken, "Switch it on."),
            _ => (Verdict::Broken, "Set another state with MemoryNetwork::set_state."),
        };
        vec![Finding {
            subject: "adapter",
            verdict,
            found: format!("memory network, device {}, {state:?}", self.name),
            remedy: remedy.to_owned(),
        }]
    }
}

struct MemoryListener {
    transport: MemoryTransport,
    id: u64,
    accepted: mpsc::Receiver<MemoryLink>,
}

#[async_trait]
impl Listener for MemoryListener {
    async fn accept(&mut self) -> Result<Accepted, LinkError> {
        match self.accepted.recv().await {
            Some(link) => Ok(Accepted::from_anywhere(link)),
            None => Err(LinkError::Lost("another listener took its place".to_owned())),
        }
    }

    async fn update(&mut self, card: Card) -> Result<(), LinkError> {
        if let Some(listening) = &mut self.transport.network.lock().device(&self.transport.name).listening
            && listening.id == self.id
        {
            listening.card = card;
        }
        self.transport.network.tell();
        Ok(())
    }
}

impl Drop for MemoryListener {
    fn drop(&mut self) {
        let mut air = self.transport.network.lock();
        let device = air.device(&self.transport.name);
        if device.listening.as_ref().is_some_and(|listening| listening.id == self.id) {
            device.listening = None;
        }
        drop(air);
        self.transport.network.tell();
    }
}

struct Watching {
    transport: MemoryTransport,
    scan: bool,
    changed: watch::Receiver<u64>,
    told: Option<CarrierState>,
    /// Peers turned away until the last event.
    turned_away: u64,
    /// `None`: poll at once.
    next_look: Option<Instant>,
    waiting: VecDeque<WatchEvent>,
}

impl Watching {
    async fn next(&mut self) -> WatchEvent {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return event;
            }
            if let Some(next_look) = self.next_look {
                tokio::select! {
                    // Cannot fail: `transport` holds the network, which has the sender.
                    _ = self.changed.changed() => {}
                    () = tokio::time::sleep_until(next_look), if self.scan => {}
                }
            }
            self.look();
            self.next_look = Some(Instant::now() + SIGHTING_PERIOD);
        }
    }

    fn look(&mut self) {
        self.changed.mark_unchanged();
        let mut air = self.transport.network.lock();
        let here = air.device(&self.transport.name);
        let (state, hears, turned_away) = (here.state, here.in_reach && works(here.state), here.turned_away);
        if self.told != Some(state) {
            self.told = Some(state);
            self.waiting.push_back(WatchEvent::State(state));
        }
        if self.turned_away != turned_away {
            self.turned_away = turned_away;
            self.waiting.push_back(WatchEvent::TurnedAway);
        }
        if !self.scan || !hears {
            return;
        }
        for name in air.devices.keys().filter(|name| **name != self.transport.name) {
            if let Some(card) = air.advertised(name, self.transport.network.kind) {
                self.waiting.push_back(WatchEvent::Seen(Sighting {
                    address: self.transport.network.address(name),
                    tag: card.tag,
                    open_to_all: card.open_to_all,
                    wish: Some(card.wish),
                    busy: card.busy,
                    name: card.name.clone(),
                    rssi_dbm: Some(-50),
                }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use futures::{FutureExt, StreamExt};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::pipe::WINDOW;
    use super::*;
    use crate::Tag;

    fn card(name: &str) -> Card {
        Card {
            tag: Tag([1, 2, 3, 4, 5]),
            open_to_all: true,
            wish: 0,
            busy: false,
            name: Some(name.to_owned()),
            seldom: false,
        }
    }

    async fn next_seen(watch: &mut Watch) -> Sighting {
        loop {
            if let WatchEvent::Seen(sighting) = watch.next().await.expect("a watch does not end") {
                return sighting;
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn two_devices_find_each_other_and_talk() {
        let network = MemoryNetwork::new(1);
        let (anna, ben) = (network.transport("anna"), network.transport("ben"));
        let mut listener = ben.listen(card("Ben")).await.expect("listens");
        let mut watch = anna.watch(true);
        assert_eq!(watch.next().await, Some(WatchEvent::State(CarrierState::Ready)));
        let seen = next_seen(&mut watch).await;
        assert_eq!((seen.address.clone(), seen.name), (ben.address(), Some("Ben".to_owned())));
        let (dialed, accepted) = tokio::join!(anna.connect(&seen.address), listener.accept());
        let (mut dialed, mut accepted) = (dialed.expect("dials"), accepted.expect("accepts").duplex);
        dialed.write_all(b"hello").await.expect("written");
        let mut got = [0; 5];
        accepted.read_exact(&mut got).await.expect("read");
        assert_eq!(&got, b"hello");
        drop(accepted);
        assert_eq!(dialed.read(&mut got).await.expect("an end"), 0);
        assert_eq!(dialed.write(b"x").await.expect_err("nobody reads").kind(), io::ErrorKind::BrokenPipe);
    }

    #[tokio::test(start_paused = true)]
    async fn a_device_is_seen_again_and_again_and_with_its_new_card_at_once() {
        let network = MemoryNetwork::new(1);
        let (anna, ben) = (network.transport("anna"), network.transport("ben"));
        let mut listener = ben.listen(card("Ben")).await.expect("listens");
        let mut watch = anna.watch(true);
        let begun = Instant::now();
        next_seen(&mut watch).await;
        next_seen(&mut watch).await;
        assert_eq!(begun.elapsed(), SIGHTING_PERIOD);
        listener.update(card("Benjamin")).await.expect("told");
        assert_eq!(next_seen(&mut watch).await.name.as_deref(), Some("Benjamin"));
        assert_eq!(begun.elapsed(), SIGHTING_PERIOD);
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_listen_or_is_out_of_reach_is_neither_seen_nor_reached() {
        let network = MemoryNetwork::new(1);
        let (anna, ben) = (network.transport("anna"), network.transport("ben"));
        let mut watch = anna.watch(true);
        watch.next().await;
        assert!(watch.next().now_or_never().is_none());
        assert!(matches!(anna.connect(&ben.address()).await, Err(LinkError::Unreachable(_))));

        let listener = ben.listen(card("Ben")).await.expect("listens");
        network.set_reach("ben", false);
        assert!(matches!(anna.connect(&ben.address()).await, Err(LinkError::Unreachable(_))));
        network.set_reach("ben", true);
        next_seen(&mut watch).await;
        anna.connect(&ben.address()).await.expect("in reach again");
        drop(listener);
        assert!(matches!(anna.connect(&ben.address()).await, Err(LinkError::Unreachable(_))));

        let wrong = Address { kind: CarrierKind::Lan, text: "ben".to_owned() };
        assert!(matches!(anna.connect(&wrong).await, Err(LinkError::WrongAddress(_))));
    }

    #[tokio::test(start_paused = true)]
    async fn a_device_with_one_place_turns_others_away_and_tells_of_it() {
        let network = MemoryNetwork::new(1);
        let [anna, ben, carl] = ["anna", "ben", "carl"].map(|name| network.transport(name));
        network.set_places("ben", Some(1));
        let mut listener = ben.listen(card("Ben")).await.expect("listens");
        let mut watch = ben.watch(false);
        assert_eq!(watch.next().await, Some(WatchEvent::State(CarrierState::Ready)));
        let _first = anna.connect(&ben.address()).await.expect("the place is free");
        let accepted = listener.accept().await.expect("accepts");
        assert!(watch.next().now_or_never().is_none());
        assert!(matches!(carl.connect(&ben.address()).await, Err(LinkError::Unreachable(_))));
        assert_eq!(watch.next().await, Some(WatchEvent::TurnedAway));
        drop(accepted);
        carl.connect(&ben.address()).await.expect("the place is free again");
        assert!(watch.next().now_or_never().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_listener_outlives_its_adapter() {
        let network = MemoryNetwork::new(1);
        let (anna, ben) = (network.transport("anna"), network.transport("ben"));
        let mut listener = ben.listen(card("Ben")).await.expect("listens");
        let at_ben = ben.address();
        let mut states = ben.watch(false);
        assert_eq!(states.next().await, Some(WatchEvent::State(CarrierState::Ready)));
        let (dialed, _accepted) = tokio::join!(anna.connect(&at_ben), listener.accept());
        let mut dialed = dialed.expect("dials");

        network.set_state("ben", CarrierState::NoAdapter);
        assert_eq!(states.next().await, Some(WatchEvent::State(CarrierState::NoAdapter)));
        assert!(dialed.read(&mut [0; 1]).await.is_err());
        assert!(matches!(
            ben.connect(&anna.address()).await,
            Err(LinkError::Carrier(CarrierState::NoAdapter))
        ));
        assert!(ben.power_on().await.is_err());
        assert_eq!(ben.diagnose().await[0].verdict, Verdict::Broken);

        network.set_state("ben", CarrierState::Off);
        ben.power_on().await.expect("is only off");
        assert_eq!(states.next().await, Some(WatchEvent::State(CarrierState::Ready)));
        let (dialed, accepted) = tokio::join!(anna.connect(&at_ben), listener.accept());
        assert!(dialed.is_ok() && accepted.is_ok());
    }

    #[tokio::test]
    async fn a_cut_loses_what_was_on_its_way_and_both_ends_see_it() {
        let network = MemoryNetwork::new(1);
        let (mut here, mut there) = network.pair("anna", "ben");
        here.write_all(b"lost").await.expect("written");
        assert_eq!(network.links("ben", "anna"), 1);
        network.cut("ben", "anna");
        assert_eq!(there.read(&mut [0; 9]).await.expect_err("cut").kind(), io::ErrorKind::ConnectionReset);
        assert_eq!(here.read(&mut [0; 9]).await.expect_err("cut").kind(), io::ErrorKind::ConnectionReset);
        assert!(here.write_all(b"more").await.is_err());
        assert_eq!(network.links("anna", "ben"), 0);
    }

    #[tokio::test]
    async fn a_cut_wakes_who_waits() {
        let network = MemoryNetwork::new(1);
        let (mut here, _there) = network.pair("anna", "ben");
        let waiting = tokio::spawn(async move { here.read(&mut [0; 1]).await.is_err() });
        tokio::task::yield_now().await;
        network.cut_all();
        assert!(waiting.await.expect("no panic"));
    }

    #[tokio::test]
    async fn a_link_breaks_at_the_byte_it_was_told_to() {
        for bytes in 1..10_u64 {
            let network = MemoryNetwork::new(1);
            let (mut here, mut there) = network.pair("anna", "ben");
            network.cut_after("anna", "ben", bytes);
            assert!(here.write_all(b"0123456789").await.is_err());
            assert!(there.read(&mut [0; 16]).await.is_err(), "what was on its way is lost");
        }
    }

    #[tokio::test]
    async fn lives_are_drawn_from_the_seed() {
        let written = |seed| async move {
            let network = MemoryNetwork::new(seed);
            network.set_lives(Some(100..200));
            let mut all = Vec::new();
            for _ in 0..5 {
                let (mut here, _there) = network.pair("anna", "ben");
                let mut count = 0_u64;
                while here.write_all(&[0]).await.is_ok() {
                    count += 1;
                }
                assert!((100..200).contains(&count));
                all.push(count);
            }
            all
        };
        assert_eq!(written(7).await, written(7).await);
        assert_ne!(written(7).await, written(8).await);
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_take_their_time_and_keep_their_order() {
        let network = MemoryNetwork::new(3);
        network.set_delay(Duration::from_millis(10)..Duration::from_millis(90));
        let (mut here, mut there) = network.pair("anna", "ben");
        let begun = Instant::now();
        for at in 0..50_u8 {
            here.write_all(&[at]).await.expect("written");
        }
        let mut got = [0; 50];
        there.read_exact(&mut got).await.expect("read");
        assert!(got.iter().enumerate().all(|(at, byte)| at == usize::from(*byte)));
        assert!((Duration::from_millis(10)..Duration::from_millis(100)).contains(&begun.elapsed()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_link_neither_delivers_nor_ends_and_delivers_later() {
        let network = MemoryNetwork::new(1);
        let (mut here, mut there) = network.pair("anna", "ben");
        network.mute("anna", "ben", true);
        here.write_all(b"later").await.expect("written");
        let mut got = [0; 5];
        let early = tokio::time::timeout(Duration::from_mins(1), there.read_exact(&mut got)).await;
        assert!(early.is_err());
        network.mute("anna", "ben", false);
        there.read_exact(&mut got).await.expect("read");
        assert_eq!(&got, b"later");
    }

    #[tokio::test]
    async fn a_full_link_makes_the_writer_wait() {
        let (mut here, mut there) = pair();
        here.write_all(&vec![1; WINDOW]).await.expect("fits");
        assert!(here.write(&[2]).now_or_never().is_none());
        let mut got = vec![0; WINDOW];
        let (read, written) = tokio::join!(there.read_exact(&mut got), here.write_all(&[2]));
        assert!(read.is_ok() && written.is_ok());
    }

    #[tokio::test]
    async fn an_end_comes_after_what_was_written_before_it() {
        let (mut here, mut there) = pair();
        here.write_all(b"last words").await.expect("written");
        here.shutdown().await.expect("ended");
        assert!(here.write_all(b"x").await.is_err());
        let mut got = Vec::new();
        there.read_to_end(&mut got).await.expect("to the end");
        assert_eq!(got, b"last words");
    }
}
