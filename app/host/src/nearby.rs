//! Nearby devices, each listed once, even if several carriers see it.
//!
//! Two sightings belong to one device if a friend's key recognises both tags, if they have the same address, or if they have
//! the same tag on different carriers: a device uses one tag on all of them. A tag from two Bluetooth addresses belongs to
//! two devices, one of which replays the other's: each is listed separately, and never replaces the other.

use std::collections::BTreeMap;
use std::time::Duration;

use link::{Address, CarrierKind, Sighting, Tag};
use tokio::time::Instant;

use crate::room::PlayerId;

/// A device is removed when not seen for this time. Advertisements are sent about once per second, a scan may miss several,
/// and BlueZ may restart its scan only after ten seconds; two of these rounds avoid flickering.
const NEARBY_TIMEOUT: Duration = Duration::from_secs(20);

/// Minimum interval between events about the signal of a device: as often as a list can be read.
const NEARBY_TOLD: Duration = Duration::from_secs(1);

/// Maximum number of listed devices: nobody reads more, and a forger cannot exhaust memory.
const MAX_NEARBY: usize = 64;

/// A nearby device.
pub(crate) struct Nearby {
    /// The address from which a stranger's id is derived; it is kept while the device is listed.
    first: Address,
    tag: Tag,
    /// Where it is seen, preferred carrier first. Never empty.
    places: Vec<Place>,
    pub(crate) name: String,
    pub(crate) player: Option<PlayerId>,
    pub(crate) is_friend: bool,
    /// Advertises that it is in a match.
    pub(crate) busy: bool,
    /// The game that it advertises as its wish; 0: none.
    pub(crate) wish: u8,
    told: Instant,
    /// What clients were last sent besides sightings: whether it is connected, and its wish by its hello.
    told_of_player: (bool, i32),
}

/// A device's sighting on one carrier; at most one per carrier.
struct Place {
    address: Address,
    rssi_dbm: i16,
    heard: Instant,
}

impl Nearby {
    /// The address that identifies a stranger.
    pub(crate) fn first(&self) -> &Address {
        &self.first
    }

    /// Addresses at which it was seen at this time or later, preferred carrier first.
    pub(crate) fn places(&self, since: Option<Instant>) -> impl Iterator<Item = &Address> {
        self.places
            .iter()
            .filter(move |place| since.is_none_or(|since| place.heard >= since))
            .map(|place| &place.address)
    }

    /// Carriers that see it, preferred first.
    pub(crate) fn carriers(&self) -> impl Iterator<Item = CarrierKind> {
        self.places.iter().map(|place| place.address.kind)
    }

    /// Signal strength at the radio that sees it, in dBm; 0 if none does.
    pub(crate) fn rssi_dbm(&self) -> i16 {
        self.places.iter().map(|place| place.rssi_dbm).find(|rssi| *rssi != 0).unwrap_or(0)
    }

    /// Latest sighting on any carrier.
    pub(crate) fn heard(&self) -> Instant {
        self.places.iter().map(|place| place.heard).max().expect("a device was heard somewhere")
    }

    fn is_at(&self, address: &Address) -> bool {
        self.places.iter().any(|place| place.address == *address)
    }

    /// Whether the same carrier sees it at another address, so that `address` belongs to another device.
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

/// Rank of a carrier, lowest first: the local network is fastest and uses no radio of its own; online play is for people who
/// are not near.
fn preference(kind: CarrierKind) -> u8 {
    match kind {
        CarrierKind::Memory => 0,
        CarrierKind::Lan => 1,
        CarrierKind::Bluetooth => 2,
        CarrierKind::Online => 3,
    }
}

/// All nearby devices, by the id used by clients: a friend's key, or a stranger's first address.
#[derive(Default)]
pub(crate) struct Neighbourhood {
    all: BTreeMap<String, Nearby>,
}

/// Changes of the list caused by a sighting.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct NearbyChange {
    /// Id of a device to be shown again.
    pub(crate) shown: Option<String>,
    /// Ids to be removed: they turned out to be the device that is shown.
    pub(crate) gone: Vec<String>,
}

impl Neighbourhood {
    pub(crate) fn get(&self, id: &str) -> Option<&Nearby> {
        self.all.get(id)
    }

    /// The device at this address.
    pub(crate) fn at(&self, address: &Address) -> Option<&Nearby> {
        self.all
            .values()
            .find(|near| near.places.iter().any(|place| place.address == *address) || near.first == *address)
    }

    /// The device of this player, if it is known to be.
    pub(crate) fn of_player(&self, key: PlayerId) -> Option<&Nearby> {
        self.all.values().find(|near| near.player == Some(key))
    }

    /// Removes this player, and the device at this address. Returns their ids.
    pub(crate) fn forget(&mut self, key: PlayerId, address: Option<&str>) -> Vec<String> {
        let is_at = |near: &Nearby| near.places(None).any(|place| Some(&*place.to_string()) == address);
        let gone = |near: &mut Nearby| near.player == Some(key) || is_at(near);
        self.all.extract_if(.., |_, near| gone(near)).map(|(id, _)| id).collect()
    }

    /// The device that advertises this tag.
    pub(crate) fn with_tag(&self, tag: Tag) -> Option<&Nearby> {
        self.all.values().find(|near| near.tag == tag)
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = &String> {
        self.all.keys()
    }

    /// Handles that the device at this address has this key.
    pub(crate) fn is_player(&mut self, address: &Address, key: PlayerId) {
        let here = |near: &&mut Nearby| near.places.iter().any(|place| place.address == *address);
        for near in self.all.values_mut().filter(here) {
            near.player = Some(key);
        }
    }

    /// Signal strength at this address, in dBm.
    pub(crate) fn rssi_at(&self, address: &Address) -> Option<i16> {
        let places = self.all.values().flat_map(|near| &near.places);
        places.into_iter().find(|place| place.address == *address).map(|place| place.rssi_dbm)
    }

    /// Records what clients are about to be sent; returns whether it differs from the last time.
    pub(crate) fn note_told_of_player(&mut self, id: &str, told: (bool, i32)) -> bool {
        let Some(near) = self.all.get_mut(id) else { return false };
        std::mem::replace(&mut near.told_of_player, told) != told
    }

    /// The next time at which [`expire`](Self::expire) has an effect.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let places = self.all.values().flat_map(|near| &near.places);
        places.map(|place| place.heard + NEARBY_TIMEOUT).min()
    }

    /// Removes expired sightings. Returns the ids of removed devices, and of those seen on fewer carriers than before.
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

    /// Handles a sighting: of a friend, with the name stored here, or of a stranger, with the advertised name.
    pub(crate) fn hear(
        &mut self,
        sighting: Sighting,
        friend: Option<(PlayerId, &str)>,
        now: Instant,
    ) -> NearbyChange {
        let Sighting { address, tag, name, rssi_dbm, busy, wish, open_to_all: _ } = sighting;
        let alike = |near: &Nearby| near.tag == tag && !near.is_elsewhere(&address);
        let here = self.all.iter().filter(|(_, near)| near.is_at(&address));
        let there = self.all.iter().filter(|(_, near)| !near.is_at(&address) && alike(near));
        let mut same: Vec<String> = here.chain(there).map(|(id, _)| id.clone()).collect();
        let id = match friend {
            Some((key, _)) => key.to_string(),
            // Known at this address; otherwise the oldest entry, which keeps its id.
            None => same.first().cloned().unwrap_or_else(|| address.to_string()),
        };
        same.retain(|other| *other != id);
        if let Some(known) = self.all.get(&id).filter(|_| friend.is_none()) {
            // If two devices advertise one tag, a sighting on a third carrier is attributed to one of them only.
            let apart = |other: &Nearby| other.places.iter().any(|place| known.is_elsewhere(&place.address));
            same.retain(|other| !self.all.get(other).is_some_and(apart));
        }
        let merged: Vec<Nearby> = same.iter().filter_map(|other| self.all.remove(other)).collect();
        let mut heard = NearbyChange { shown: None, gone: same };
        let name = friend.map_or_else(
            || proto::limits::fit_name(name.as_deref().unwrap_or_default()),
            |(_, name)| name.to_owned(),
        );
        // A device that was identified before it became a friend keeps its player.
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

    fn shown(id: &str) -> NearbyChange {
        NearbyChange { shown: Some(id.into()), gone: Vec::new() }
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
        // Nothing is new: reported only after a while.
        assert_eq!(all.hear(sighting(CarrierKind::Lan, "l", 1), None, now), NearbyChange::default());
        let later = now + NEARBY_TOLD;
        assert_eq!(all.hear(sighting(CarrierKind::Lan, "l", 1), None, later), shown("Bluetooth:b"));
    }

    #[tokio::test(start_paused = true)]
    async fn two_that_turn_out_to_be_one_become_one() {
        let (mut all, now) = (Neighbourhood::default(), Instant::now());
        all.hear(sighting(CarrierKind::Bluetooth, "b", 1), None, now);
        // The next quarter of an hour: the network sees the new tag first.
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
        assert_eq!(all.hear(sighting(CarrierKind::Bluetooth, "b", 1), None, now), NearbyChange::default());
        for (id, text) in [("Bluetooth:b", "b"), ("Bluetooth:c", "c")] {
            let places: Vec<_> = all.get(id).expect("is near").places(None).cloned().collect();
            assert_eq!(places, [address(text)], "whoever wants {id} dials it and nobody else");
        }
        // The network's tag belongs to one of the two, but it is unknown to which: they stay separate.
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
        assert_eq!(heard, NearbyChange { shown: Some(BEN.to_string()), gone: vec!["Bluetooth:b".into()] });
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
