//! The host's state, built by applying events only, so that a late start and a change take one path.

use std::collections::BTreeMap;

use proto::control::{
    Account, Blocked, Carrier, Club, Comparison, Connecting, Contact, Endings, Engine, Engines, Event,
    Friend, Gift, Guest, Hotspot, Invitation, Me, Nearby, PuzzleMaking, Radio, Ready, Room, Stranger,
    Thinking, event::Body,
};

/// The host's state as received so far. Keys are the host's ids.
///
/// A client that attaches later gets the same state, except for `connecting` and `thinking`: the host sends progress only
/// when it changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostState {
    /// The initial state is complete.
    pub ready: bool,
    /// This device.
    pub me: Me,
    /// States of carriers, by the number of the `Carrier`.
    pub radios: BTreeMap<i32, Radio>,
    /// Nearby devices, by id.
    pub nearby: BTreeMap<String, Nearby>,
    /// Friends, by key fingerprint. Blocked people and strangers have the same kind of key.
    pub friends: BTreeMap<String, Friend>,
    /// Blocked people.
    pub blocked: BTreeMap<String, Blocked>,
    /// Connected devices that are not friends.
    pub strangers: BTreeMap<String, Stranger>,
    /// The XMPP account; `None` if the host is built without online play.
    pub account: Option<Account>,
    /// Contacts of the account, by XMPP address.
    pub contacts: BTreeMap<String, Contact>,
    /// Engines that the user has added.
    pub engines: Vec<Engine>,
    /// Club evenings, by the number of their id: the latest last.
    pub clubs: BTreeMap<u32, Club>,
    /// State of Liuzhou chess's endgame table.
    pub endings: Endings,
    /// Puzzles that are being made.
    pub puzzle_making: PuzzleMaking,
    /// Open comparisons, oldest first.
    pub comparisons: Vec<Comparison>,
    /// Open invitations, sent and received, oldest first.
    pub invitations: Vec<Invitation>,
    /// Matches that friends offer, oldest first.
    pub gifts: Vec<Gift>,
    /// Open rooms, by id.
    pub rooms: BTreeMap<String, Room>,
    /// Active guest codes, by room or club evening and side; side 0 is the spectators' code, or the evening's.
    pub guests: BTreeMap<(String, i32), Guest>,
    /// The Wi-Fi network that this device makes for guests.
    pub hotspot: Hotspot,
    /// Progress or result of the last attempt to connect, by peer.
    pub connecting: BTreeMap<String, Connecting>,
    /// Latest report of each room's bot, by room: its progress, or its final result.
    pub thinking: BTreeMap<String, Thinking>,
}

impl HostState {
    /// Applies one event. Events without state (notices, chat, ends) change nothing.
    pub fn apply(&mut self, event: &Event) {
        let Some(body) = event.body.clone() else { return };
        match body {
            Body::Ready(Ready {}) => self.ready = true,
            Body::Me(me) => self.me = me,
            Body::Radio(radio) => drop(self.radios.insert(radio.carrier, radio)),
            Body::Nearby(one) => drop(self.nearby.insert(one.id.clone(), one)),
            Body::NearbyGone(gone) => drop(self.nearby.remove(&gone.id)),
            Body::Friend(friend) => drop(self.friends.insert(friend.id.clone(), friend)),
            Body::FriendGone(gone) => drop(self.friends.remove(&gone.id)),
            Body::Blocked(blocked) => drop(self.blocked.insert(blocked.id.clone(), blocked)),
            Body::BlockedGone(gone) => drop(self.blocked.remove(&gone.id)),
            Body::Stranger(one) => drop(self.strangers.insert(one.id.clone(), one)),
            Body::StrangerGone(gone) => drop(self.strangers.remove(&gone.id)),
            Body::Account(account) => self.account = Some(account),
            Body::Contact(contact) => drop(self.contacts.insert(contact.account.clone(), contact)),
            Body::ContactGone(gone) => drop(self.contacts.remove(&gone.id)),
            Body::Endings(endings) => self.endings = endings,
            Body::PuzzleMaking(making) => self.puzzle_making = making,
            Body::Engines(list) => self.engines = list.engines,
            Body::Club(club) => drop(self.clubs.insert(club.id.parse().unwrap_or(0), club)),
            Body::ClubGone(gone) => drop(self.clubs.remove(&gone.id.parse().unwrap_or(0))),
            Body::Comparison(comparison) => put(&mut self.comparisons, comparison, |one| &one.peer),
            Body::ComparisonGone(gone) => self.comparisons.retain(|one| one.peer != gone.id),
            Body::Invitation(invitation) => put(&mut self.invitations, invitation, |one| &one.invite_id),
            Body::InvitationGone(gone) => self.invitations.retain(|one| one.invite_id != gone.invite_id),
            Body::Gift(gift) => put(&mut self.gifts, gift, |one| &one.gift_id),
            Body::GiftGone(gone) => self.gifts.retain(|one| one.gift_id != gone.id),
            Body::Room(room) => drop(self.rooms.insert(room.id.clone(), room)),
            Body::RoomGone(gone) => {
                self.rooms.remove(&gone.id);
                self.thinking.remove(&gone.id);
            }
            Body::Guest(guest) => {
                let place = (format!("{}{}", guest.room_id, guest.club_id), guest.side);
                self.guests.insert(place, guest);
            }
            Body::GuestGone(gone) => {
                self.guests.remove(&(gone.room_id + &gone.club_id, gone.side));
            }
            Body::Hotspot(hotspot) => self.hotspot = hotspot,
            Body::Connecting(connecting) => {
                drop(self.connecting.insert(connecting.peer.clone(), connecting));
            }
            Body::Thinking(thinking) => drop(self.thinking.insert(thinking.room_id.clone(), thinking)),
            Body::Notice(_)
            | Body::Said(_)
            | Body::Judgements(_)
            | Body::Activated(_)
            | Body::WorkProgress(_) => {}
        }
    }

    /// Events that turn an empty state into this one. Durations in them are those of the original events, and `monotonic_us`
    /// is 0.
    pub fn replicate(&self) -> Vec<Event> {
        let mut bodies = vec![Body::Me(self.me.clone())];
        bodies.extend(self.radios.values().cloned().map(Body::Radio));
        bodies.extend(self.friends.values().cloned().map(Body::Friend));
        bodies.extend(self.nearby.values().cloned().map(Body::Nearby));
        bodies.extend(self.comparisons.iter().cloned().map(Body::Comparison));
        bodies.extend(self.invitations.iter().cloned().map(Body::Invitation));
        bodies.extend(self.blocked.values().cloned().map(Body::Blocked));
        bodies.extend(self.strangers.values().cloned().map(Body::Stranger));
        bodies.extend(self.gifts.iter().cloned().map(Body::Gift));
        bodies.extend(self.rooms.values().cloned().map(Body::Room));
        bodies.extend(self.guests.values().cloned().map(Body::Guest));
        bodies.extend((self.hotspot != Hotspot::default()).then(|| Body::Hotspot(self.hotspot.clone())));
        bodies.extend(self.thinking.values().cloned().map(Body::Thinking));
        bodies.extend(self.connecting.values().cloned().map(Body::Connecting));
        bodies.extend(self.account.clone().map(Body::Account));
        bodies.extend(self.contacts.values().cloned().map(Body::Contact));
        bodies.extend(self.clubs.values().cloned().map(Body::Club));
        bodies.push(Body::Endings(self.endings));
        bodies.push(Body::PuzzleMaking(self.puzzle_making));
        bodies.extend(
            (!self.engines.is_empty()).then(|| Body::Engines(Engines { engines: self.engines.clone() })),
        );
        bodies.extend(self.ready.then_some(Body::Ready(Ready {})));
        bodies.into_iter().map(|body| Event { body: Some(body), ..Event::default() }).collect()
    }

    /// The state of a carrier; `None` if the host does not have it.
    pub fn radio(&self, carrier: Carrier) -> Option<&Radio> {
        self.radios.get(&(carrier as i32))
    }

    /// The state of Bluetooth; `None` if the host does not have it.
    pub fn bluetooth(&self) -> Option<&Radio> {
        self.radio(Carrier::Bluetooth)
    }
}

/// Replaces the item with the same key in place, or appends the item.
fn put<T>(items: &mut Vec<T>, item: T, key: impl Fn(&T) -> &String) {
    match items.iter_mut().find(|known| key(known) == key(&item)) {
        Some(known) => *known = item,
        None => items.push(item),
    }
}
