//! Who is near: devices that were heard, each shown once, on however many carriers it is heard.
//!
//! Two sightings are of one device when a friend's key recognises both tags, when they come from the same place, or when they
//! carry the same tag on different carriers: a device tells one tag on all of them. A tag that is heard from two Bluetooth
//! addresses is told by two devices, of which one repeats the other's: each is shown for itself, and never takes the other's
//! place.

use std::collections::BTreeMap;
use std::time::Duration;

use link::{Address, CarrierKind, Sighting, Tag};
use tokio::time::Instant;

use crate::room::PlayerId;

/// Who was not heard for this long is gone. Adverts come about once a second, a scan may miss several, and BlueZ may begin its
/// scan anew only after ten seconds: less than two of these rounds would let names flicker.
const NEARBY_TIMEOUT: Duration = Duration::from_secs(20);

/// How often a client is told that somebody is still near, with the signal: as often as a list can be read.
const NEARBY_TOLD: Duration = Duration::from_secs(1);

/// Devices in the list of those nearby; a crowd beyond it cannot be read, and a forger cannot fill the memory.
const MAX_NEARBY: usize = 64;

/// A device that was heard.
pub(crate) struct Nearby {
    /// The place of a stranger that its id is made of: it stays while the device does.
    first: Address,
    tag: Tag,
    /// Where it is heard, the best carrier first. Never empty.
    places: Vec<Place>,
    pub(crate) name: String,
    pub(crate) player: Option<PlayerId>,
    pub(crate) is_friend: bool,
    /// Says that it plays already.
    pub(crate) busy: bool,
    /// What it would like, as its card says; 0 for nothing or not told.
    pub(crate) wish: u8,
    told: Instant,
    /// What clients were last told that no sighting says: whether it is connected, and what it would like by its hello.
    told_of_player: (bool, i32),
}

/// Where a device is heard: at most one on each carrier.
struct Place {
    address: Address,
    rssi_dbm: i16,
    heard: Instant,
}

impl Nearby {
    /// What a stranger is wanted by.
    pub(crate) fn first(&self) -> &Address {
        &self.first
    }

    /// Where it was heard at this time or later, the best carrier first.
    pub(crate) fn places(&self, since: Option<Instant>) -> impl Iterator<Item = &Address> {
        self.places
            .iter()
            .filter(move |place| since.is_none_or(|since| place.heard >= since))
            .map(|place| &place.address)
    }

    /// Its carriers, the best first.
    pub(crate) fn carriers(&self) -> impl Iterator<Item = CarrierKind> {
        self.places.iter().map(|place| place.address.kind)
    }

    /// Of the radio that hears it, in dBm; 0 if none does.
    pub(crate) fn rssi_dbm(&self) -> i16 {
        self.places.iter().map(|place| place.rssi_dbm).find(|rssi| *rssi != 0).unwrap_or(0)
    }

    /// When it was heard last, anywhere.
    pub(crate) fn heard(&self) -> Instant {
        self.places.iter().map(|place| place.heard).max().expect("a device was heard somewhere")
    }

    fn is_at(&self, address: &Address) -> bool {
        self.places.iter().any(|place| place.address == *address)
    }

    /// Whether it is heard by the same radio from another address, and so is another device, whatever it says.
    fn is_elsewhere(&self, address: &Address) -> bool {
        let same_radio = |place: &Place| {
            place.address.kind == CarrierKind::Bluetooth && place.address.kind == address.kind
        };
        self.places.iter().any(|place| same_radio(place) && place.address != *address)
    }

    fn hear(&mut self, address: Address, rssi_dbm: i16, heard: Instant) {
        self.places.retain(|place| place.address.kind != address.kind);
        self.places.push(Place { address, rssi_dbm, heard });
        self.places.sort_by_key(|place| preference(place.address.kind));
    }
}

/// Which carrier is tried first: the local network is the fastest and costs no radio of its own; what goes over a server is
/// for those who are not here.
fn preference(kind: CarrierKind) -> u8 {
    match kind {
        CarrierKind::Memory => 0,
        CarrierKind::Lan => 1,
        CarrierKind::Bluetooth => 2,
        CarrierKind::Online => 3,
    }
}

/// Everyone who is near, by the id that clients know: a friend's key, or a stranger's first address.
#[derive(Default)]
pub(crate) struct Neighbourhood {
    all: BTreeMap<String, Nearby>,
}

/// What a sighting changes for clients.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    /// To be shown anew.
    pub(crate) shown: Option<String>,
    /// To be taken off the list: they turned out to be the one that is shown.
    pub(crate) gone: Vec<String>,
}

impl Neighbourhood {
    pub(crate) fn get(&self, id: &str) -> Option<&Nearby> {
        self.all.get(id)
    }

    /// Whoever was heard at this address.
    pub(crate) fn at(&self, address: &Address) -> Option<&Nearby> {
        self.all
            .values()
            .find(|near| near.places.iter().any(|place| place.address == *address) || near.first == *address)
    }

    /// This player's device, where it is known for it.
    pub(crate) fn of_player(&self, key: PlayerId) -> Option<&Nearby> {
        self.all.values().find(|near| near.player == Some(key))
    }

    /// Takes this player, and whoever is at this address, off the list. Gives their ids.
    pub(crate) fn forget(&mut self, key: PlayerId, address: Option<&str>) -> Vec<String> {
        let is_at = |near: &Nearby| near.places(None).any(|place| Some(&*place.to_string()) == address);
        let gone = |near: &mut Nearby| near.player == Some(key) || is_at(near);
        self.all.extract_if(.., |_, near| gone(near)).map(|(id, _)| id).collect()
    }

    /// Whoever tells this tag.
    pub(crate) fn with_tag(&self, tag: Tag) -> Option<&Nearby> {
        self.all.values().find(|near| near.tag == tag)
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = &String> {
        self.all.keys()
    }

    /// The device at this address turned out to be this player.
    pub(crate) fn is_player(&mut self, address: &Address, key: PlayerId) {
        let here = |near: &&mut Nearby| near.places.iter().any(|place| place.address == *address);
        for near in self.all.values_mut().filter(here) {
            near.player = Some(key);
        }
    }

    /// The signal at this address, in dBm.
    pub(crate) fn rssi_at(&self, address: &Address) -> Option<i16> {
        let places = self.all.values().flat_map(|near| &near.places);
        places.into_iter().find(|place| place.address == *address).map(|place| place.rssi_dbm)
    }

    /// Clients are about to be told this of a device. Whether it is other than what they were told before.
    pub(crate) fn note_told_of_player(&mut self, id: &str, told: (bool, i32)) -> bool {
        let Some(near) = self.all.get_mut(id) else { return false };
        std::mem::replace(&mut near.told_of_player, told) != told
    }

    /// The next moment at which [`expire`](Self::expire) has something to do.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let places = self.all.values().flat_map(|near| &near.places);
        places.map(|place| place.heard + NEARBY_TIMEOUT).min()
    }

    /// Lets go of who was not heard lately. Gives who is gone, and who is heard on fewer carriers than before.
    pub(crate) fn expire(&mut self, now: Instant) -> (Vec<String>, Vec<String>) {
        let (mut gone, mut fewer) = (Vec::new(), Vec::new());
        self.all.retain(|id, near| {
            let before = near.places.len();
            near.places.retain(|place| place.heard + NEARBY_TIMEOUT > now);
            if near.places.is_empty() {
                gone.push(id.clone());
            } else if near.places.len() < before {
                fewer.push(id.clone());
            }
            !near.places.is_empty()
        });
        (gone, fewer)
    }

    /// Somebody was heard: a friend under the name that is known here, or a stranger under the one that it tells.
    pub(crate) fn hear(
        &mut self,
        sighting: Sighting,
        friend: Option<(PlayerId, &str)>,
        now: Instant,
    ) -> Heard {
        let Sighting { address, tag, name, rssi_dbm, busy, wish, open_to_all: _ } = sighting;
        let alike = |near: &Nearby| near.tag == tag && !near.is_elsewhere(&address);
        let here = self.all.iter().filter(|(_, near)| near.is_at(&address));
        let there = self.all.iter().filter(|(_, near)| !near.is_at(&address) && alike(near));
        let mut same: Vec<String> = here.chain(there).map(|(id, _)| id.clone()).collect();
        let id = match friend {
            Some((key, _)) => key.to_string(),
            // Known from there, or else the one that was here first: it keeps its id.
            None => same.first().cloned().unwrap_or_else(|| address.to_string()),
        };
        same.retain(|other| *other != id);
        if let Some(known) = self.all.get(&id).filter(|_| friend.is_none()) {
            // Of two that tell one tag, a third carrier's place is one's only.
            let apart = |other: &Nearby| other.places.iter().any(|place| known.is_elsewhere(&place.address));
            same.retain(|other| !self.all.get(other).is_some_and(apart));
        }
        let merged: Vec<Nearby> = same.iter().filter_map(|other| self.all.remove(other)).collect();
        let mut heard = Heard { shown: None, gone: same };
        let name = friend.map_or_else(
            || proto::limits::fit_name(name.as_deref().unwrap_or_default()),
            |(_, name)| name.to_owned(),
        );
        // A device that was met before it was a friend keeps its player.
        let player = friend.map(|(key, _)| key).or_else(|| merged.iter().find_map(|other| other.player));
        let full = self.all.len() >= MAX_NEARBY;
        let mut new = merged.iter().any(|other| !other.places.is_empty());
        let near = match self.all.entry(id.clone()) {
            std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::btree_map::Entry::Vacant(_) if full => return heard,
            std::collections::btree_map::Entry::Vacant(place) => {
                new = true;
                let first = address.clone();
                place.insert(Nearby {
                    first,
                    tag,
                    places: Vec::new(),
                    name: String::new(),
                    player,
                    is_friend: false,
                    busy: false,
                    wish: 0,
                    told: now,
                    told_of_player: (false, 0),
                })
            }
        };
        for place in merged.into_iter().flat_map(|other| other.places) {
            if !near
                .places
                .iter()
                .any(|known| known.address.kind == place.address.kind && known.heard >= place.heard)
            {
                near.hear(place.address, place.rssi_dbm, place.heard);
            }
        }
        let carriers = near.places.len();
        near.hear(address, rssi_dbm.unwrap_or(0), now);
        (near.tag, near.is_friend) = (tag, friend.is_some());
        near.player = player.or(near.player);
        let wish = wish.unwrap_or(near.wish);
        let turned = (near.busy, near.wish) != (busy, wish);
        (near.busy, near.wish) = (busy, wish);
        let renamed = near.name != name && !name.is_empty();
        if renamed {
            near.name = name;
        }
        if new || renamed || turned || near.places.len() != carriers || now - near.told >= NEARBY_TOLD {
            near.told = now;
            heard.shown = Some(id);
        }
        heard
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sighting(kind: CarrierKind, text: &str, tag: u8) -> Sighting {
        Sighting {
            address: Address { kind, text: text.into() },
            tag: Tag([tag; 5]),
            open_to_all: true,
            busy: false,
            wish: (kind == CarrierKind::Lan).then_some(3),
            name: Some("Ben".into()),
            rssi_dbm: (kind == CarrierKind::Bluetooth).then_some(-60),
        }
    }

    const BEN: PlayerId = PlayerId([7; 32]);

    fn shown(id: &str) -> Heard {
        Heard { shown: Some(id.into()), gone: Vec::new() }
    }

    #[tokio::test(start_paused = true)]
    async fn a_stranger_on_two_carriers_is_one_and_the_local_network_comes_first() {
        let (mut all, now) = (Neighbourhood::default(), Instant::now());
        assert_eq!(all.hear(sighting(CarrierKind::Bluetooth, "b", 1), None, now), shown("Bluetooth:b"));
        assert_eq!(all.hear(sighting(CarrierKind::Lan, "l", 1), None, now), shown("Bluetooth:b"));
        assert_eq!(all.ids().collect::<Vec<_>>(), ["Bluetooth:b"]);
        let near = all.get("Bluetooth:b").expect("is near");
        let places: Vec<String> = near.places(None).map(ToString::to_string).collect();
        assert_eq!(places, ["Lan:l", "Bluetooth:b"]);
        assert_eq!((near.name.as_str(), near.rssi_dbm(), near.wish), ("Ben", -60, 3));
        // Told again only after a while, since nothing is new.
        assert_eq!(all.hear(sighting(CarrierKind::Lan, "l", 1), None, now), Heard::default());
        let later = now + NEARBY_TOLD;
        assert_eq!(all.hear(sighting(CarrierKind::Lan, "l", 1), None, later), shown("Bluetooth:b"));
    }

    #[tokio::test(start_paused = true)]
    async fn two_that_turn_out_to_be_one_become_one() {
        let (mut all, now) = (Neighbourhood::default(), Instant::now());
        all.hear(sighting(CarrierKind::Bluetooth, "b", 1), None, now);
        // The next quarter of an hour: the network knows the new tag first.
        all.hear(sighting(CarrierKind::Lan, "l", 2), None, now);
        assert_eq!(all.ids().count(), 2);
        let heard = all.hear(sighting(CarrierKind::Bluetooth, "b", 2), None, now);
        assert_eq!(heard.gone, ["Lan:l"]);
        assert_eq!(all.get("Bluetooth:b").expect("is near").carriers().count(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn who_repeats_a_tag_is_another_device_and_takes_nobodys_place() {
        let (mut all, now) = (Neighbourhood::default(), Instant::now());
        let address = |text: &str| Address { kind: CarrierKind::Bluetooth, text: text.into() };
        assert_eq!(all.hear(sighting(CarrierKind::Bluetooth, "b", 1), None, now), shown("Bluetooth:b"));
        assert_eq!(all.hear(sighting(CarrierKind::Bluetooth, "c", 1), None, now), shown("Bluetooth:c"));
        assert_eq!(all.hear(sighting(CarrierKind::Bluetooth, "b", 1), None, now), Heard::default());
        for (id, text) in [("Bluetooth:b", "b"), ("Bluetooth:c", "c")] {
            let places: Vec<_> = all.get(id).expect("is near").places(None).cloned().collect();
            assert_eq!(places, [address(text)], "whoever wants {id} dials it and nobody else");
        }
        // On the network the tag is one of theirs; whose cannot be known, and they stay two.
        all.hear(sighting(CarrierKind::Lan, "l", 1), None, now);
        all.hear(sighting(CarrierKind::Bluetooth, "c", 1), None, now);
        all.hear(sighting(CarrierKind::Lan, "l", 1), None, now);
        assert_eq!(all.ids().collect::<Vec<_>>(), ["Bluetooth:b", "Bluetooth:c"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_friend_is_one_under_its_key_and_a_stranger_before_it_is_gone() {
        let (mut all, now) = (Neighbourhood::default(), Instant::now());
        all.hear(sighting(CarrierKind::Bluetooth, "b", 1), None, now);
        let heard = all.hear(sighting(CarrierKind::Lan, "l", 1), Some((BEN, "Benjamin")), now);
        assert_eq!(heard, Heard { shown: Some(BEN.to_string()), gone: vec!["Bluetooth:b".into()] });
        let near = all.get(&BEN.to_string()).expect("is near");
        assert_eq!((near.name.as_str(), near.player, near.carriers().count()), ("Benjamin", Some(BEN), 2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_carrier_that_falls_silent_is_forgotten_before_the_device_is() {
        let (mut all, now) = (Neighbourhood::default(), Instant::now());
        all.hear(sighting(CarrierKind::Bluetooth, "b", 1), None, now);
        let later = now + NEARBY_TIMEOUT / 2;
        all.hear(sighting(CarrierKind::Lan, "l", 1), None, later);
        assert_eq!(all.deadline(), Some(now + NEARBY_TIMEOUT));
        assert_eq!(all.expire(now + NEARBY_TIMEOUT), (Vec::new(), vec!["Bluetooth:b".to_owned()]));
        let near = all.get("Bluetooth:b").expect("is still near");
        assert_eq!(near.places(None).map(|place| place.kind).collect::<Vec<_>>(), [CarrierKind::Lan]);
        assert_eq!(near.places(Some(later + Duration::from_secs(1))).count(), 0);
        assert_eq!(all.expire(later + NEARBY_TIMEOUT), (vec!["Bluetooth:b".to_owned()], Vec::new()));
        assert_eq!(all.deadline(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_crowd_beyond_the_limit_is_not_listed() {
        let (mut all, now) = (Neighbourhood::default(), Instant::now());
        for number in 0..200 {
            all.hear(sighting(CarrierKind::Lan, &format!("l{number}"), number), None, now);
        }
        assert_eq!(all.ids().count(), MAX_NEARBY);
    }
}
