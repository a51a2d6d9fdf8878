//! What the host has said so far. Built by applying events only, so that a late start and a change take one path.

use std::collections::BTreeMap;

use proto::control::{
    Account, Blocked, Carrier, Comparison, Connecting, Contact, Endings, Event, Friend, Gift, Invitation,
    Guest, MatchSummary, Me, Nearby, Radio, Room, Thinking, event::Body,
};

/// The host's state as far as screens show it. Keys are the host's ids.
#[derive(Default)]
pub struct HostState {
    pub me: Me,
    pub radios: BTreeMap<i32, Radio>,
    pub nearby: BTreeMap<String, Nearby>,
    pub friends: BTreeMap<String, Friend>,
    pub connecting: BTreeMap<String, Connecting>,
    pub blocked: BTreeMap<String, Blocked>,
    /// For play over the internet; `None`: this host cannot.
    pub account: Option<Account>,
    /// On the account's list, by their accounts.
    pub contacts: BTreeMap<String, Contact>,
    /// Liuzhou chess's table of endings.
    pub endings: Endings,
    /// At most one is shown: the first that came.
    pub comparisons: Vec<Comparison>,
    pub invitations: Vec<Invitation>,
    /// Matches that friends show: the first that came is asked about first.
    pub gifts: Vec<Gift>,
    pub rooms: BTreeMap<String, Room>,
    /// Codes that are shown to guests, by room and side; side 0: to watch.
    pub guests: BTreeMap<(String, i32), Guest>,
    /// The latest report of each room's bot: while it thinks, or what it found in the end.
    pub thinking: BTreeMap<String, Thinking>,
    /// From the last `ListMatches`, the latest first.
    pub matches: Vec<MatchSummary>,
}

impl HostState {
    /// Takes in one event. Events that are no state (notices, ends of invitations) pass through the caller.
    pub fn apply(&mut self, event: &Event) {
        let Some(body) = &event.body else { return };
        match body.clone() {
            Body::Me(me) => self.me = me,
            Body::Radio(radio) => {
                self.radios.insert(radio.carrier, radio);
            }
            Body::Nearby(nearby) => {
                self.nearby.insert(nearby.id.clone(), nearby);
            }
            Body::NearbyGone(gone) => {
                self.nearby.remove(&gone.id);
            }
            Body::Friend(friend) => {
                self.friends.insert(friend.id.clone(), friend);
            }
            Body::FriendGone(gone) => {
                self.friends.remove(&gone.id);
            }
            Body::Connecting(connecting) => {
                self.connecting.insert(connecting.peer.clone(), connecting);
            }
            Body::Comparison(comparison) => {
                match self.comparisons.iter_mut().find(|known| known.peer == comparison.peer) {
                    Some(known) => *known = comparison,
                    None => self.comparisons.push(comparison),
                }
            }
            Body::ComparisonGone(gone) => self.comparisons.retain(|known| known.peer != gone.id),
            Body::Invitation(invitation) => {
                match self.invitations.iter_mut().find(|known| known.invite_id == invitation.invite_id) {
                    Some(known) => *known = invitation,
                    None => self.invitations.push(invitation),
                }
            }
            Body::InvitationGone(gone) => self.invitations.retain(|known| known.invite_id != gone.invite_id),
            Body::Room(room) => {
                self.rooms.remove(&room.follows);
                self.rooms.insert(room.id.clone(), room);
            }
            Body::RoomGone(gone) => {
                self.rooms.remove(&gone.id);
                self.thinking.remove(&gone.id);
            }
            Body::Guest(guest) => {
                self.guests.insert((guest.room_id.clone(), guest.side), guest);
            }
            Body::GuestGone(gone) => {
                self.guests.remove(&(gone.room_id, gone.side));
            }
            Body::Thinking(thinking) => {
                self.thinking.insert(thinking.room_id.clone(), thinking);
            }
            Body::Blocked(blocked) => {
                self.blocked.insert(blocked.id.clone(), blocked);
            }
            Body::BlockedGone(gone) => {
                self.blocked.remove(&gone.id);
            }
            Body::Gift(gift) => {
                self.gifts.retain(|known| known.gift_id != gift.gift_id);
                self.gifts.push(gift);
            }
            Body::GiftGone(gone) => self.gifts.retain(|known| known.gift_id != gone.id),
            Body::Endings(endings) => self.endings = endings,
            Body::Account(account) => self.account = Some(account),
            Body::Contact(contact) => {
                self.contacts.insert(contact.account.clone(), contact);
            }
            Body::ContactGone(gone) => {
                self.contacts.remove(&gone.id);
            }
            Body::Ready(_)
            | Body::Notice(_)
            | Body::Said(_)
            | Body::Judgements(_)
            | Body::Activated(_)
            | Body::Stranger(_)
            | Body::StrangerGone(_) => {}
        }
    }

    pub fn bluetooth(&self) -> Option<&Radio> {
        self.radio(Carrier::Bluetooth)
    }

    pub fn radio(&self, carrier: Carrier) -> Option<&Radio> {
        self.radios.get(&(carrier as i32))
    }
}
