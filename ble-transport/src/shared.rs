//! State shared by the parts of one transport: what is wanted of the radio, and its state.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use futures::{Stream, StreamExt, stream};
use link::{Card, CarrierState, Sighting, Watch, WatchEvent};
use tokio::sync::{Notify, broadcast, mpsc, watch};

use crate::BleConfig;
use crate::duplex::BleStream;
use crate::plan::Wants;

/// Sightings queued for a slow watcher. A sighting is a few dozen bytes, and a peer in range is seen again.
const SIGHTINGS_KEPT: usize = 64;

/// Addresses kept of peers met. A bound, because a peer may change its address all the time.
const MET_KEPT: usize = 64;

pub(crate) struct Shared {
    /// The adapter chosen by name.
    adapter: Mutex<Option<String>>,
    scanning: Arc<AtomicU32>,
    connecting: Arc<AtomicU32>,
    dialing: Arc<AtomicU32>,
    links: Arc<AtomicU32>,
    listener: Mutex<Option<Listening>>,
    /// Nothing is wanted any more but the links that are up.
    parting: AtomicBool,
    /// Notified when the wants change.
    pub(crate) changed: Arc<Notify>,
    /// Notified when a peer to be connected was not heard: a new scan is wanted.
    pub(crate) unheard: Notify,
    /// Addresses of peers that have had a link, while this process runs, in order of the last link.
    met: Mutex<VecDeque<String>>,
    /// When a central last disconnected.
    left: Mutex<Option<Instant>>,
    /// `None` until the system was read once.
    state: watch::Sender<Option<CarrierState>>,
    sightings: broadcast::Sender<Sighting>,
    /// Counts centrals that were refused because a link occupies the only place.
    turned_away: watch::Sender<u64>,
    /// Counts losses of everything below all links: bluetoothd, the adapter, its power.
    ground: watch::Sender<u64>,
}

#[derive(Clone)]
struct Listening {
    card: Card,
    arrivals: mpsc::Sender<BleStream>,
}

/// Wants something of the radio until dropped.
pub(crate) struct Want {
    counter: Arc<AtomicU32>,
    changed: Arc<Notify>,
}

impl Drop for Want {
    fn drop(&mut self) {
        self.counter.fetch_sub(1, Relaxed);
        self.changed.notify_one();
    }
}

impl Shared {
    pub(crate) fn new(config: BleConfig) -> Arc<Shared> {
        Arc::new(Shared {
            adapter: Mutex::new(config.adapter),
            scanning: Arc::default(),
            connecting: Arc::default(),
            dialing: Arc::default(),
            links: Arc::default(),
            listener: Mutex::default(),
            parting: AtomicBool::new(false),
            changed: Arc::default(),
            unheard: Notify::new(),
            met: Mutex::default(),
            left: Mutex::default(),
            state: watch::Sender::new(None),
            sightings: broadcast::Sender::new(SIGHTINGS_KEPT),
            turned_away: watch::Sender::new(0),
            ground: watch::Sender::new(0),
        })
    }

    /// From now on only links that are up are wanted.
    pub(crate) fn part(&self) {
        self.parting.store(true, Relaxed);
        self.changed.notify_one();
    }

    /// Whether the transport is parting and its last link has ended.
    pub(crate) fn has_parted(&self) -> bool {
        self.parting.load(Relaxed) && self.links.load(Relaxed) == 0
    }

    pub(crate) fn wants(&self) -> Wants {
        let parting = self.parting.load(Relaxed);
        Wants {
            listening: self.listener().is_some() && !parting,
            scanning: if parting { 0 } else { self.scanning.load(Relaxed) },
            connecting: self.connecting.load(Relaxed),
            dialing: self.dialing.load(Relaxed),
            links: self.links.load(Relaxed),
        }
    }

    /// The adapter chosen by name; `None`: the first.
    pub(crate) fn adapter(&self) -> Option<String> {
        self.adapter.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn use_adapter(&self, name: Option<String>) {
        *self.adapter.lock().unwrap_or_else(PoisonError::into_inner) = name;
        self.changed.notify_one();
    }

    fn want(&self, counter: &Arc<AtomicU32>) -> Want {
        counter.fetch_add(1, Relaxed);
        self.changed.notify_one();
        Want { counter: counter.clone(), changed: self.changed.clone() }
    }

    pub(crate) fn want_connecting(&self) -> Want {
        self.want(&self.connecting)
    }

    pub(crate) fn want_dialing(&self) -> Want {
        self.want(&self.dialing)
    }

    pub(crate) fn want_link(&self) -> Want {
        self.want(&self.links)
    }

    /// Remembers the address of a link that is up.
    pub(crate) fn meets(&self, address: String) {
        let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        met.retain(|known| *known != address);
        if met.len() >= MET_KEPT {
            met.pop_front();
        }
        met.push_back(address);
    }

    /// Records that a central has disconnected.
    pub(crate) fn somebody_leaves(&self) {
        *self.left.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        self.changed.notify_one();
    }

    /// When a central last disconnected.
    pub(crate) fn left(&self) -> Option<Instant> {
        *self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn has_met(&self, address: &str) -> bool {
        self.met.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|met| met == address)
    }

    fn listener(&self) -> MutexGuard<'_, Option<Listening>> {
        self.listener.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The card to advertise.
    pub(crate) fn card(&self) -> Option<Card> {
        self.listener().as_ref().map(|listening| listening.card.clone())
    }

    /// Starts listening; `None` if somebody listens already.
    pub(crate) fn start_listening(&self, card: Card) -> Option<mpsc::Receiver<BleStream>> {
        let mut listener = self.listener();
        if listener.is_some() {
            return None;
        }
        // One peer at a time: a second waits at most while the listener accepts the first.
        let (arrivals, receiver) = mpsc::channel(1);
        *listener = Some(Listening { card, arrivals });
        drop(listener);
        self.changed.notify_one();
        Some(receiver)
    }

    pub(crate) fn update_card(&self, card: Card) {
        if let Some(listening) = self.listener().as_mut() {
            listening.card = card;
        }
        self.changed.notify_one();
    }

    pub(crate) fn stop_listening(&self) {
        *self.listener() = None;
        self.changed.notify_one();
    }

    /// Gives a link to the listener. Without a listener, or if its queue is full, the link is dropped and so
    /// disconnected.
    pub(crate) fn arrive(&self, stream: BleStream) {
        if let Some(listening) = self.listener().as_ref() {
            let _ = listening.arrivals.try_send(stream);
        }
    }

    pub(crate) fn state(&self) -> Option<CarrierState> {
        *self.state.borrow()
    }

    /// Waits until the system was read once.
    pub(crate) async fn known_state(&self) -> CarrierState {
        let mut state = self.state.subscribe();
        let known = state.wait_for(Option::is_some).await;
        // `self` holds the sender.
        known.ok().and_then(|state| *state).unwrap_or(CarrierState::NoService)
    }

    pub(crate) fn set_state(&self, state: CarrierState) {
        self.state.send_if_modified(|known| {
            let news = *known != Some(state);
            if news {
                tracing::info!(?state, "Bluetooth");
            }
            *known = Some(state);
            news
        });
    }

    pub(crate) fn sighted(&self, sighting: Sighting) {
        // No watcher is no error.
        let _ = self.sightings.send(sighting);
    }

    pub(crate) fn sightings(&self) -> broadcast::Receiver<Sighting> {
        self.sightings.subscribe()
    }

    /// Reports that a central was refused because a link occupies the only place.
    pub(crate) fn turn_away(&self) {
        self.turned_away.send_modify(|count| *count += 1);
    }

    /// Everything below the links is gone: all links end.
    pub(crate) fn lose_ground(&self) {
        self.ground.send_modify(|count| *count += 1);
    }

    /// Waits until everything below the links is gone.
    pub(crate) fn ground_lost(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut ground = self.ground.subscribe();
        ground.mark_unchanged();
        async move {
            // An error means that the transport itself is gone.
            let _ = ground.changed().await;
        }
    }

    pub(crate) fn watch(&self, scan: bool) -> Watch {
        let want = scan.then(|| self.want(&self.scanning));
        let states = stream::unfold((self.state.subscribe(), None), |(mut state, told)| async move {
            loop {
                let now = *state.borrow_and_update();
                if let Some(now) = now.filter(|_| now != told) {
                    return Some((WatchEvent::State(now), (state, Some(now))));
                }
                state.changed().await.ok()?;
            }
        });
        let mut turned_away = self.turned_away.subscribe();
        turned_away.mark_unchanged();
        let turned_away = stream::unfold(turned_away, |mut count| async move {
            count.changed().await.ok()?;
            Some((WatchEvent::TurnedAway, count))
        });
        let quiet = stream::select(states, turned_away);
        if !scan {
            return quiet.boxed();
        }
        let seen = sightings(self.sightings()).map(WatchEvent::Seen);
        stream::select(quiet, seen)
            .map(move |event| {
                let _held = &want;
                event
            })
            .boxed()
    }
}

fn sightings(receiver: broadcast::Receiver<Sighting>) -> impl Stream<Item = Sighting> + Send {
    stream::unfold(receiver, |mut receiver| async move {
        loop {
            match receiver.recv().await {
                Ok(sighting) => return Some((sighting, receiver)),
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use link::Tag;

    fn card(tag: u8) -> Card {
        Card { tag: Tag([tag; 5]), open_to_all: true, busy: false, wish: 0, name: None, seldom: false }
    }

    #[tokio::test]
    async fn a_watch_tells_the_state_first_and_then_changes() {
        let shared = Shared::new(BleConfig::default());
        let mut watch = shared.watch(false);
        assert!(watch.next().now_or_never().is_none(), "not known yet");
        shared.set_state(CarrierState::Off);
        assert_eq!(watch.next().await, Some(WatchEvent::State(CarrierState::Off)));
        shared.set_state(CarrierState::Off);
        assert!(watch.next().now_or_never().is_none(), "no news");
        shared.set_state(CarrierState::Ready);
        assert_eq!(watch.next().await, Some(WatchEvent::State(CarrierState::Ready)));
        assert_eq!(shared.watch(true).next().await, Some(WatchEvent::State(CarrierState::Ready)));
    }

    #[tokio::test]
    async fn a_watch_tells_of_each_central_that_is_turned_away() {
        let shared = Shared::new(BleConfig::default());
        shared.turn_away();
        let mut watch = shared.watch(false);
        assert!(watch.next().now_or_never().is_none(), "that was before");
        for _ in 0..2 {
            shared.turn_away();
            assert_eq!(watch.next().await, Some(WatchEvent::TurnedAway));
            assert!(watch.next().now_or_never().is_none(), "told once");
        }
    }

    #[test]
    fn the_radio_is_wanted_only_as_long_as_somebody_holds_on() {
        let shared = Shared::new(BleConfig::default());
        assert_eq!(shared.wants(), Wants::default());
        let quiet = shared.watch(false);
        assert_eq!(shared.wants().scanning, 0, "watching without scanning costs no radio");
        let watches = [shared.watch(true), shared.watch(true)];
        let (connecting, link) = (shared.want_connecting(), shared.want_link());
        assert_eq!(
            shared.wants(),
            Wants { listening: false, scanning: 2, connecting: 1, dialing: 0, links: 1 }
        );
        drop((quiet, watches, connecting, link));
        assert_eq!(shared.wants(), Wants::default());
    }

    #[test]
    fn a_crowd_of_addresses_is_not_kept() {
        let shared = Shared::new(BleConfig::default());
        for number in 0..1000 {
            shared.meets(format!("{number:04}"));
            assert!(shared.has_met(&format!("{number:04}")));
        }
        // An address that sorts first is no older than the others.
        shared.meets("0000".into());
        shared.meets("0001".into());
        assert!(shared.has_met("0000") && shared.has_met("0001") && shared.has_met("0999"));
        shared.meets("0938".into());
        for number in 2_000..2_000 + MET_KEPT - 1 {
            shared.meets(format!("{number:04}"));
        }
        assert!(
            shared.has_met("0938")
                && !shared.has_met("0001")
                && shared.met.lock().expect("no panic").len() <= MET_KEPT
        );
    }

    #[test]
    fn there_is_one_listener_at_a_time_and_its_card_can_change() {
        let shared = Shared::new(BleConfig::default());
        let first = shared.start_listening(card(1));
        assert!(first.is_some() && shared.start_listening(card(2)).is_none());
        shared.update_card(card(3));
        assert_eq!(shared.card(), Some(card(3)));
        shared.stop_listening();
        assert_eq!(shared.card(), None);
        assert!(shared.start_listening(card(4)).is_some());
    }

    #[tokio::test]
    async fn all_links_learn_that_the_ground_is_gone() {
        let shared = Shared::new(BleConfig::default());
        shared.lose_ground();
        let lost = shared.ground_lost();
        let mut lost = std::pin::pin!(lost);
        assert!((&mut lost).now_or_never().is_none(), "that was before");
        shared.lose_ground();
        lost.await;
    }
}
