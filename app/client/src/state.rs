//! The host's state, built by applying events only, so that a late start and a change take one path.

use std::collections::BTreeMap;

use proto::control::{
    Account, Blocked, Carrier, Comparison, Connecting, Contact, Endings, Event, Friend, Gift, Guest,
    Invitation, Me, Nearby, Radio, Ready, Room, Stranger, Thinking, event::Body,
};

/// What the host has told so far. Keys are the host's ids.
///
/// A client that attaches later comes to the same state but for what is progress: `connecting` and `thinking` are told as they
/// change, and not again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostState {
    /// The whole present state has been told.
    pub ready: bool,
    /// This device.
    pub me: Me,
    /// By the number of their carrier.
    pub radios: BTreeMap<i32, Radio>,
    /// Devices in reach.
    pub nearby: BTreeMap<String, Nearby>,
    /// By the fingerprints of their keys, as all people are.
    pub friends: BTreeMap<String, Friend>,
    /// Never let in.
    pub blocked: BTreeMap<String, Blocked>,
    /// Connected, and no friends.
    pub strangers: BTreeMap<String, Stranger>,
    /// For play over the internet; `None`: this host cannot.
    pub account: Option<Account>,
    /// On the account's list, by their accounts.
    pub contacts: BTreeMap<String, Contact>,
    /// Liuzhou chess's table of endings.
    pub endings: Endings,
    /// In the order in which they came, as invitations and gifts are.
    pub comparisons: Vec<Comparison>,
    /// Ours and theirs.
    pub invitations: Vec<Invitation>,
    /// Matches that friends show.
    pub gifts: Vec<Gift>,
    /// Matches and puzzles that are open.
    pub rooms: BTreeMap<String, Room>,
    /// Codes that are shown to guests, by room and side; side 0: to watch.
    pub guests: BTreeMap<(String, i32), Guest>,
    /// How far the last try to connect to somebody has come, or what came of it.
    pub connecting: BTreeMap<String, Connecting>,
    /// The latest report of each room's bot: while it thinks, or what it found in the end.
    pub thinking: BTreeMap<String, Thinking>,
}

impl HostState {
    /// Takes in one event. Those that are news and no state change nothing: notices, what is said, ends.
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
            Body::Guest(guest) => drop(self.guests.insert((guest.room_id.clone(), guest.side), guest)),
            Body::GuestGone(gone) => drop(self.guests.remove(&(gone.room_id, gone.side))),
            Body::Connecting(connecting) => {
                drop(self.connecting.insert(connecting.peer.clone(), connecting));
            }
            Body::Thinking(thinking) => drop(self.thinking.insert(thinking.room_id.clone(), thinking)),
            Body::Notice(_) | Body::Said(_) | Body::Judgements(_) | Body::Activated(_) => {}
        }
    }

    /// Events that make an empty state equal to this one. Durations in them are as of when they were told, and `monotonic_us`
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
        bodies.extend(self.thinking.values().cloned().map(Body::Thinking));
        bodies.extend(self.connecting.values().cloned().map(Body::Connecting));
        bodies.extend(self.account.clone().map(Body::Account));
        bodies.extend(self.contacts.values().cloned().map(Body::Contact));
        bodies.push(Body::Endings(self.endings));
        bodies.extend(self.ready.then_some(Body::Ready(Ready {})));
        bodies.into_iter().map(|body| Event { body: Some(body), monotonic_us: 0 }).collect()
    }

    /// The state of one carrier, where the host has it.
    pub fn radio(&self, carrier: Carrier) -> Option<&Radio> {
        self.radios.get(&(carrier as i32))
    }

    /// The state of Bluetooth, where the host has it.
    pub fn bluetooth(&self) -> Option<&Radio> {
        self.radio(Carrier::Bluetooth)
    }
}

/// In the place of the item of the same key, or last.
fn put<T>(items: &mut Vec<T>, item: T, key: impl Fn(&T) -> &String) {
    match items.iter_mut().find(|known| key(known) == key(&item)) {
        Some(known) => *known = item,
        None => items.push(item),
    }
}
