//! The tasks that run links, from dialing or accepting to their end, and how many handshakes there may be at a time.

use std::collections::BTreeMap;
use std::time::Duration;

use link::{Address, CarrierKind};
use session::Role;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::dialing::{Attempt, Target};
use crate::links::LinkId;
use crate::room::PlayerId;

/// The attempt that a dialed link belongs to.
#[derive(Clone)]
pub(crate) struct Dialed {
    pub(crate) attempt: Attempt,
    pub(crate) address: Address,
    pub(crate) target: Target,
}

/// A task that runs a link from dialing or accepting to its end.
pub(crate) struct LinkTask {
    pub(crate) task: AbortHandle,
    pub(crate) role: Role,
    pub(crate) kind: CarrierKind,
    pub(crate) since: Instant,
    pub(crate) dialed: Option<Dialed>,
    /// Set after the handshake.
    pub(crate) peer: Option<PlayerId>,
    /// Where an incoming link comes from, if the carrier knows.
    pub(crate) source: Option<Address>,
}

impl LinkTask {
    pub(crate) fn new(task: AbortHandle, role: Role, kind: CarrierKind, dialed: Option<Dialed>) -> Self {
        Self { task, role, kind, since: Instant::now(), dialed, peer: None, source: None }
    }

    pub(crate) fn accepted(task: AbortHandle, kind: CarrierKind, source: Option<Address>) -> Self {
        Self { source, ..Self::new(task, Role::Listener, kind, None) }
    }

    /// Where the other device is, if known.
    #[cfg(feature = "online")]
    pub(crate) fn other_end(&self) -> Option<&Address> {
        self.dialed.as_ref().map(|dialed| &dialed.address).or(self.source.as_ref())
    }
}

/// Maximum number of simultaneous handshakes of incoming links on one carrier. The local network has room for several sources; a
/// controller has few connections.
fn max_handshakes(kind: CarrierKind) -> usize {
    match kind {
        CarrierKind::Lan => 4 * FROM_ONE_SOURCE,
        _ => FROM_ONE_SOURCE,
    }
}

/// Maximum number of simultaneous handshakes with one address, so that a device which dials all the time keeps no other out.
const FROM_ONE_SOURCE: usize = 4;

/// A handshake older than this is dropped for a new incoming link: its three messages take a tenth of this on a LAN, and
/// half on a bad Bluetooth link. So a caller that stays silent cannot keep others out.
const HANDSHAKE_GRACE: Duration = Duration::from_secs(3);

/// Whether an incoming link may begin its handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Free,
    /// If this one ends, whose handshake takes too long.
    InPlaceOf(LinkId),
    Full,
}

/// All links from the start of dialing or accepting on, before the peer is known too.
#[derive(Default)]
pub(crate) struct LinkTasks {
    all: BTreeMap<LinkId, LinkTask>,
    /// Number of the last link.
    last: u64,
}

impl LinkTasks {
    /// The id of a new link.
    pub(crate) fn next_id(&mut self) -> LinkId {
        self.last += 1;
        LinkId(self.last)
    }

    pub(crate) fn insert(&mut self, id: LinkId, link: LinkTask) {
        self.all.insert(id, link);
    }

    pub(crate) fn get(&self, id: LinkId) -> Option<&LinkTask> {
        self.all.get(&id)
    }

    pub(crate) fn remove(&mut self, id: LinkId) -> Option<LinkTask> {
        self.all.remove(&id)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The peer of a link whose handshake is over.
    pub(crate) fn peer(&self, id: LinkId) -> Option<PlayerId> {
        self.get(id)?.peer
    }

    /// Whether this device has dialed a link that is, or was until just now, one with this player.
    pub(crate) fn has_dialed(&self, key: PlayerId) -> bool {
        self.all.values().any(|link| link.peer == Some(key) && link.dialed.is_some())
    }

    /// The handshake of a link is over: it leads to this peer.
    pub(crate) fn identify(&mut self, id: LinkId, peer: PlayerId) -> Option<&LinkTask> {
        let link = self.all.get_mut(&id)?;
        link.peer = Some(peer);
        Some(link)
    }

    /// The link that was dialed in this attempt and has no peer yet.
    pub(crate) fn dialing(&self, attempt: Attempt) -> Option<LinkId> {
        let is_it = |link: &LinkTask| {
            link.peer.is_none() && link.dialed.as_ref().is_some_and(|dialed| dialed.attempt == attempt)
        };
        self.all.iter().find(|(_, link)| is_it(link)).map(|(id, _)| *id)
    }

    /// Incoming links on this carrier whose peer is not known yet.
    fn greeting(&self, kind: CarrierKind) -> impl Iterator<Item = (LinkId, &LinkTask)> {
        let greets =
            move |link: &LinkTask| link.role == Role::Listener && link.kind == kind && link.peer.is_none();
        self.all.iter().filter(move |(_, link)| greets(link)).map(|(id, link)| (*id, link))
    }

    /// Whether one more incoming link on this carrier may begin its handshake. `source`: where it comes from, if known.
    pub(crate) fn place(&self, kind: CarrierKind, source: Option<&Address>, now: Instant) -> Place {
        let held = |source: &Address| self.greeting_from(kind, source).count();
        let by_this = source.map_or(0, held);
        if by_this >= FROM_ONE_SOURCE {
            return in_place_of_slow(
                source.into_iter().flat_map(|source| self.greeting_from(kind, source)),
                now,
            );
        }
        if self.greeting(kind).count() < max_handshakes(kind) {
            return Place::Free;
        }
        let of_slow = in_place_of_slow(self.greeting(kind), now);
        if source.is_none() || of_slow != Place::Full {
            return of_slow;
        }
        // Sources share the places: who holds more than the newcomer would gives one up.
        let greediest =
            self.greeting(kind).filter_map(|(_, link)| link.source.as_ref()).max_by_key(|one| held(one));
        let gives = greediest.filter(|one| held(one) > by_this + 1);
        let oldest = gives.and_then(|one| self.greeting_from(kind, one).min_by_key(|(_, link)| link.since));
        oldest.map_or(Place::Full, |(id, _)| Place::InPlaceOf(id))
    }

    fn greeting_from(
        &self,
        kind: CarrierKind,
        source: &Address,
    ) -> impl Iterator<Item = (LinkId, &LinkTask)> {
        self.greeting(kind).filter(move |(_, link)| link.source.as_ref() == Some(source))
    }

    /// An incoming link on this carrier whose handshake takes too long.
    pub(crate) fn slow(&self, kind: CarrierKind, now: Instant) -> Option<LinkId> {
        self.greeting(kind).find(|(_, link)| link.is_slow(now)).map(|(id, _)| id)
    }
}

/// In place of the oldest of these, if its handshake takes too long.
fn in_place_of_slow<'a>(links: impl Iterator<Item = (LinkId, &'a LinkTask)>, now: Instant) -> Place {
    let oldest = links.min_by_key(|(_, link)| link.since);
    let slow = oldest.filter(|(_, link)| link.is_slow(now));
    slow.map_or(Place::Full, |(id, _)| Place::InPlaceOf(id))
}

impl LinkTask {
    fn is_slow(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.since) >= HANDSHAKE_GRACE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: CarrierKind = CarrierKind::Bluetooth;
    const LAN: CarrierKind = CarrierKind::Lan;

    /// Adds an incoming link.
    fn accept(links: &mut LinkTasks) -> LinkId {
        accept_from(links, KIND, None)
    }

    fn accept_from(links: &mut LinkTasks, kind: CarrierKind, source: Option<&Address>) -> LinkId {
        let (task, id) = (tokio::spawn(std::future::pending::<()>()).abort_handle(), links.next_id());
        links.insert(id, LinkTask::accepted(task, kind, source.cloned()));
        id
    }

    /// A device on the local network.
    fn device(number: usize) -> Address {
        Address { kind: LAN, text: format!("192.168.1.{number}") }
    }

    #[tokio::test]
    async fn a_device_that_dials_all_the_time_keeps_no_other_out() {
        let mut links = LinkTasks::default();
        let now = Instant::now();
        let greedy: Vec<LinkId> = (0..FROM_ONE_SOURCE)
            .map(|_| {
                assert_eq!(links.place(LAN, Some(&device(1)), now), Place::Free);
                accept_from(&mut links, LAN, Some(&device(1)))
            })
            .collect();
        assert_eq!(links.place(LAN, Some(&device(1)), now), Place::Full);
        assert_eq!(links.place(LAN, Some(&device(2)), now), Place::Free);
        accept_from(&mut links, LAN, Some(&device(2)));
        let late = Instant::now() + HANDSHAKE_GRACE;
        assert_eq!(links.place(LAN, Some(&device(1)), late), Place::InPlaceOf(greedy[0]), "only of its own");
    }

    #[tokio::test]
    async fn one_person_with_many_addresses_gives_up_a_place_for_a_device_that_has_none() {
        let (mut links, now) = (LinkTasks::default(), Instant::now());
        // As many as there are, dialed by turns at a high rate.
        for round in 0..100 {
            let source = device(round % 8);
            match links.place(LAN, Some(&source), now) {
                Place::Free => drop(accept_from(&mut links, LAN, Some(&source))),
                Place::InPlaceOf(id) => {
                    links.remove(id).expect("it was there");
                    accept_from(&mut links, LAN, Some(&source));
                }
                Place::Full => {}
            }
        }
        assert_eq!(links.greeting(LAN).count(), max_handshakes(LAN));
        let friend = device(99);
        let Place::InPlaceOf(given) = links.place(LAN, Some(&friend), now) else {
            panic!("nobody gives way")
        };
        assert!(links.remove(given).is_some());
        let friends = accept_from(&mut links, LAN, Some(&friend));
        for round in 0..100 {
            let source = device(round % 8);
            let place = links.place(LAN, Some(&source), now);
            assert_ne!(place, Place::InPlaceOf(friends), "the friend keeps its place");
            assert_ne!(place, Place::Free);
            if let Place::InPlaceOf(id) = place {
                links.remove(id).expect("it was there");
                accept_from(&mut links, LAN, Some(&source));
            }
        }
    }

    #[tokio::test]
    async fn a_silent_caller_keeps_its_place_for_a_while_and_then_gives_way_to_the_next() {
        let mut links = LinkTasks::default();
        let now = Instant::now();
        let first = accept(&mut links);
        for _ in 1..max_handshakes(KIND) {
            assert_eq!(links.place(KIND, None, now), Place::Free);
            accept(&mut links);
        }
        assert_eq!(links.place(KIND, None, now), Place::Full);
        assert_eq!(links.place(LAN, None, now), Place::Free, "each carrier by itself");
        let late = Instant::now() + HANDSHAKE_GRACE;
        assert_eq!(links.place(KIND, None, late), Place::InPlaceOf(first));
        assert_eq!((links.slow(KIND, now), links.slow(KIND, late)), (None, Some(first)));
        assert!(links.remove(first).is_some() && links.remove(first).is_none());
        assert_eq!(links.place(KIND, None, late), Place::Free);
    }

    #[tokio::test]
    async fn a_link_whose_peer_is_known_takes_no_place_of_a_handshake() {
        let mut links = LinkTasks::default();
        for _ in 0..2 * max_handshakes(KIND) {
            let id = accept(&mut links);
            assert!(links.peer(id).is_none());
            assert!(links.identify(id, PlayerId([1; 32])).is_some());
            assert_eq!(links.peer(id), Some(PlayerId([1; 32])));
        }
        let late = Instant::now() + HANDSHAKE_GRACE;
        assert_eq!((links.place(KIND, None, late), links.slow(KIND, late)), (Place::Free, None));
        assert!(links.identify(LinkId(99), PlayerId([1; 32])).is_none() && !links.is_empty());
    }
}
