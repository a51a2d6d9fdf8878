//! The players that the user has blocked, and by what they are recognised.

use std::collections::BTreeMap;

use link::{Address, Epoch, Sighting};
use proto::control::{self, event};

use crate::room::PlayerId;
use crate::store::SavedBlocked;

/// Every blocked player.
#[derive(Default)]
pub(crate) struct Blocked {
    all: BTreeMap<PlayerId, SavedBlocked>,
}

impl Blocked {
    /// Those that are stored.
    pub(crate) fn new(stored: Vec<SavedBlocked>) -> Self {
        Self { all: stored.into_iter().map(|one| (one.key, one)).collect() }
    }

    pub(crate) fn contains(&self, key: PlayerId) -> bool {
        self.all.contains_key(&key)
    }

    /// Adds a player who is stored as blocked; returns what clients are told.
    pub(crate) fn insert(&mut self, one: SavedBlocked) -> control::Blocked {
        let told = shown(&one);
        self.all.insert(one.key, one);
        told
    }

    pub(crate) fn remove(&mut self, key: PlayerId) {
        self.all.remove(&key);
    }

    /// The blocked player that a client means.
    pub(crate) fn named(&self, who: &str) -> Option<PlayerId> {
        PlayerId::parse(who).filter(|key| self.contains(*key))
    }

    /// Whether this sighting is a blocked player: by its address, or as a former friend by its tag.
    pub(crate) fn is_seen(&self, sighting: &Sighting, epoch: Epoch) -> bool {
        let tag_is_of = |key: &[u8; 32]| sighting.tag.is_of(key, epoch);
        self.is_at(&sighting.address)
            || self.all.values().any(|one| one.advert_key.as_ref().is_some_and(tag_is_of))
    }

    /// Whether a blocked player was last met at this address.
    pub(crate) fn is_at(&self, address: &Address) -> bool {
        let address = address.to_string();
        self.all.values().any(|one| one.address.as_deref() == Some(&*address))
    }

    /// The players for a client that attaches.
    pub(crate) fn events(&self) -> impl Iterator<Item = event::Body> + '_ {
        self.all.values().map(|one| event::Body::Blocked(shown(one)))
    }
}

fn shown(one: &SavedBlocked) -> control::Blocked {
    control::Blocked {
        id: one.key.to_string(),
        name: one.name.clone(),
        since_unix_ms: one.since_unix_ms.try_into().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use link::{CarrierKind, Tag};

    use super::*;

    const ANNA: PlayerId = PlayerId([1; 32]);
    const BEN: PlayerId = PlayerId([2; 32]);

    fn at(text: &str) -> Address {
        Address { kind: CarrierKind::Memory, text: text.into() }
    }

    fn one(key: PlayerId, advert_key: Option<[u8; 32]>, address: Option<Address>) -> SavedBlocked {
        let address = address.map(|address| address.to_string());
        SavedBlocked { key, name: "Anna".into(), since_unix_ms: -1, advert_key, address }
    }

    fn sighting(address: Address, tag: Tag) -> Sighting {
        let (open_to_all, busy, wish, name, rssi_dbm) = (true, false, None, None, None);
        Sighting { address, tag, open_to_all, busy, wish, name, rssi_dbm }
    }

    #[test]
    fn a_blocked_friend_is_recognised_by_the_tag_wherever_it_is_and_a_stranger_where_it_was_met() {
        let (now, later) = (Epoch::at(Duration::ZERO), Epoch::at(Duration::from_hours(1)));
        let blocked = Blocked::new(vec![one(ANNA, Some([7; 32]), None), one(BEN, None, Some(at("here")))]);
        let seen = |address, tag| blocked.is_seen(&sighting(address, tag), now);
        assert!(seen(at("anywhere"), Tag::of(&[7; 32], now)));
        assert!(!seen(at("anywhere"), Tag::of(&[7; 32], later)), "the tag of another time");
        assert!(!seen(at("anywhere"), Tag::of(&[8; 32], now)));
        assert!(seen(at("here"), Tag::of(&[8; 32], now)));
        assert!(blocked.is_at(&at("here")) && !blocked.is_at(&at("anywhere")));
    }

    #[test]
    fn whoever_is_unblocked_is_not_hidden_and_cannot_be_unblocked_again() {
        let mut blocked = Blocked::default();
        let told = blocked.insert(one(ANNA, Some([7; 32]), Some(at("here"))));
        assert_eq!((told.id, told.since_unix_ms), (ANNA.to_string(), 0));
        assert!(blocked.contains(ANNA) && blocked.events().count() == 1);
        assert_eq!(blocked.named(&ANNA.to_string()), Some(ANNA));
        assert_eq!((blocked.named(&BEN.to_string()), blocked.named("Anna")), (None, None));
        blocked.remove(ANNA);
        assert!(blocked.named(&ANNA.to_string()).is_none() && !blocked.is_at(&at("here")));
        assert_eq!(blocked.events().count(), 0);
    }
}
