//! What the host has said so far. Built by applying events only, so that a late start and a change take one path.

use std::collections::BTreeMap;

use proto::control::{
    Carrier, Comparison, Connecting, Event, Friend, Invitation, MatchSummary, Me, Nearby, Radio, Room,
    Thinking, event::Body,
};

/// The host's state as far as screens show it. Keys are the host's ids.
#[derive(Default)]
pub(crate) struct HostState {
    pub(crate) me: Me,
    pub(crate) radios: BTreeMap<i32, Radio>,
    pub(crate) nearby: BTreeMap<String, Nearby>,
    pub(crate) friends: BTreeMap<String, Friend>,
    pub(crate) connecting: BTreeMap<String, Connecting>,
    /// At most one is shown: the first that came.
    pub(crate) comparisons: Vec<Comparison>,
    pub(crate) invitations: Vec<Invitation>,
    pub(crate) rooms: BTreeMap<String, Room>,
    /// The latest report of each room's bot.
    pub(crate) thinking: BTreeMap<String, Thinking>,
    /// From the last `ListMatches`, the latest first.
    pub(crate) matches: Vec<MatchSummary>,
}

impl HostState {
    /// Takes in one event. Events that are no state (notices, ends of invitations) pass through the caller.
    pub(crate) fn apply(&mut self, event: &Event) {
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
            Body::Thinking(thinking) => self.think(thinking),
            Body::Ready(_)
            | Body::Notice(_)
            | Body::Said(_)
            | Body::Judgements(_)
            | Body::Blocked(_)
            | Body::BlockedGone(_)
            | Body::Account(_)
            | Body::Contact(_)
            | Body::ContactGone(_) => {}
        }
    }

    /// A bot that has moved reports its end; what it found stays readable until it thinks again.
    fn think(&mut self, new: Thinking) {
        let known = self.thinking.entry(new.room_id.clone()).or_default();
        if !new.on && new.depth == 0 {
            known.on = false;
        } else {
            *known = new;
        }
    }

    pub(crate) fn bluetooth(&self) -> Option<&Radio> {
        self.radios.get(&(Carrier::Bluetooth as i32))
    }
}
