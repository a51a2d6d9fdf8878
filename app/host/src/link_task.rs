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
}

impl LinkTask {
    pub(crate) fn new(task: AbortHandle, role: Role, kind: CarrierKind, dialed: Option<Dialed>) -> Self {
        Self { task, role, kind, since: Instant::now(), dialed, peer: None }
    }
}

/// Maximum number of simultaneous handshakes of incoming links on one carrier.
const MAX_HANDSHAKES: usize = 4;

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

    /// Whether one more incoming link on this carrier may begin its handshake.
    pub(crate) fn place(&self, kind: CarrierKind, now: Instant) -> Place {
        if self.greeting(kind).count() < MAX_HANDSHAKES {
            return Place::Free;
        }
        let oldest = self.greeting(kind).min_by_key(|(_, link)| link.since);
        let slow = oldest.filter(|(_, link)| link.is_slow(now));
        slow.map_or(Place::Full, |(id, _)| Place::InPlaceOf(id))
    }

    /// An incoming link on this carrier whose handshake takes too long.
    pub(crate) fn slow(&self, kind: CarrierKind, now: Instant) -> Option<LinkId> {
        self.greeting(kind).find(|(_, link)| link.is_slow(now)).map(|(id, _)| id)
    }
}

impl LinkTask {
    fn is_slow(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.since) >= HANDSHAKE_GRACE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: CarrierKind = CarrierKind::Lan;

    /// Adds an incoming link.
    fn accept(links: &mut LinkTasks) -> LinkId {
        let (task, id) = (tokio::spawn(std::future::pending::<()>()).abort_handle(), links.next_id());
        links.insert(id, LinkTask::new(task, Role::Listener, KIND, None));
        id
    }

    #[tokio::test]
    async fn a_silent_caller_keeps_its_place_for_a_while_and_then_gives_way_to_the_next() {
        let mut links = LinkTasks::default();
        let now = Instant::now();
        let first = accept(&mut links);
        for _ in 1..MAX_HANDSHAKES {
            assert_eq!(links.place(KIND, now), Place::Free);
            accept(&mut links);
        }
        assert_eq!(links.place(KIND, now), Place::Full);
        assert_eq!(links.place(CarrierKind::Bluetooth, now), Place::Free, "each carrier by itself");
        let late = Instant::now() + HANDSHAKE_GRACE;
        assert_eq!(links.place(KIND, late), Place::InPlaceOf(first));
        assert_eq!((links.slow(KIND, now), links.slow(KIND, late)), (None, Some(first)));
        assert!(links.remove(first).is_some() && links.remove(first).is_none());
        assert_eq!(links.place(KIND, late), Place::Free);
    }

    #[tokio::test]
    async fn a_link_whose_peer_is_known_takes_no_place_of_a_handshake() {
        let mut links = LinkTasks::default();
        for _ in 0..2 * MAX_HANDSHAKES {
            let id = accept(&mut links);
            assert!(links.peer(id).is_none());
            assert!(links.identify(id, PlayerId([1; 32])).is_some());
            assert_eq!(links.peer(id), Some(PlayerId([1; 32])));
        }
        let late = Instant::now() + HANDSHAKE_GRACE;
        assert_eq!((links.place(KIND, late), links.slow(KIND, late)), (Place::Free, None));
        assert!(links.identify(LinkId(99), PlayerId([1; 32])).is_none() && !links.is_empty());
    }
}
