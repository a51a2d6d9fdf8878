//! Other players: one session each, the links to them, comparing strings, invitations.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use engine::{Language, Setup, Side};
use link::{Address, CarrierKind};
use proto::control::{self, ConnectState, NoticeKind, RefusalCode, Visibility, event};
use proto::peer::{ByeReason, DeclineReason, Envelope};
use session::{
    Command, Config, Entry, Event, Input, LinkState, MatchId, MatchRecord, MatchState, Output, Role, Session,
    ShortString, wire,
};
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tracing::{debug, info, warn};

use crate::actor::{Actor, DISK_RETRY, notice};
use crate::links::{Down, LinkEnds, LinkId, LinkNews, Order, Traffic};
use crate::reach::{Target, target_id};
use crate::room::{PlayerId, Room, Seat};
use crate::show::{self, Refusal};
use crate::store::{SavedFriend, StoreError};

/// Two links to the same peer that came up within this time are both sides' dialing at once; later, a new link means that
/// the old one is dead on the other side. Longer than a slow Bluetooth connect, shorter than any restart of a host.
const GLARE: Duration = Duration::from_secs(3);

/// Unknown devices that may be connected at a time: two people cannot compare strings with more, and each costs one of a
/// controller's few connections.
const MAX_STRANGERS: usize = 3;

/// Links that others have opened and that have not finished the handshake.
const MAX_HANDSHAKES: usize = 4;

/// An invitation that waits for its link is given up after this; longer than any goal of `reach` lasts.
const UNSENT: Duration = Duration::from_mins(5);

/// The session's own time for an invitation that was sent.
const OPEN_FOR: Duration = Duration::from_mins(1);

/// Another device's player.
pub(crate) struct Peer {
    pub(crate) key: PlayerId,
    /// As it last called itself; may be empty before its first hello.
    pub(crate) name: String,
    pub(crate) friend: Option<SavedFriend>,
    session: Session,
    /// The name that the session tells; a session is made anew when ours has changed.
    told_name: String,
    pub(crate) link: Option<PeerLink>,
    /// When the last link was lost.
    pub(crate) lost: Option<Instant>,
    /// It said goodbye.
    pub(crate) left: bool,
    /// When the session wants to be woken.
    tick: Option<Instant>,
    /// The journal could not be written: the session is made anew then, and does nothing before.
    pub(crate) rebuild: Option<Instant>,
    comparison: Option<Comparison>,
    /// The last action of this device: where, which, and when the host was given it.
    given: Option<(MatchId, u32, Instant)>,
}

/// The link in use.
pub(crate) struct PeerLink {
    pub(crate) id: LinkId,
    role: Role,
    kind: CarrierKind,
    since: Instant,
    ends: LinkEnds,
    rssi_dbm: i16,
}

struct Comparison {
    string: ShortString,
    answered_here: bool,
    answered_there: bool,
    known_name_new_key: bool,
}

/// An invitation of either side.
pub(crate) struct Invitation {
    pub(crate) target: Target,
    pub(crate) mine: bool,
    setup: Setup,
    my_side: Side,
    until: Instant,
    /// Only of ours: the session has it.
    sent: bool,
}

/// A task that runs a link, from dialing or accepting to its end.
pub(crate) struct LinkTask {
    task: AbortHandle,
    role: Role,
    kind: CarrierKind,
    /// Where it was dialed, and for what.
    pub(crate) dialed: Option<(Address, Target)>,
    /// Known once the handshake is over.
    pub(crate) peer: Option<PlayerId>,
}

impl LinkTask {
    pub(crate) fn new(
        task: AbortHandle,
        role: Role,
        kind: CarrierKind,
        dialed: Option<(Address, Target)>,
    ) -> Self {
        Self { task, role, kind, dialed, peer: None }
    }
}

/// Why a command to a session was not done.
enum Undone {
    Refused(session::Refused),
    Disk(StoreError),
}

impl From<Undone> for Refusal {
    fn from(undone: Undone) -> Self {
        match undone {
            Undone::Refused(refused) => refused.into(),
            Undone::Disk(error) => error.into(),
        }
    }
}

impl Peer {
    fn session_up(&self) -> bool {
        matches!(self.session.link(), LinkState::Up { .. })
    }

    pub(crate) fn match_state(&self, id: MatchId) -> Option<&MatchState> {
        self.session.match_state(id)
    }

    /// Every match that is not settled.
    pub(crate) fn unsettled(&self) -> impl Iterator<Item = &MatchState> {
        self.session.matches().filter(|state| !state.is_settled())
    }

    pub(crate) fn shown_link(&self, now: Instant, kind: CarrierKind) -> control::LinkState {
        use control::PeerLink as Shown;
        let state = match (self.session.link(), &self.link) {
            (LinkState::Up { weak: false }, Some(_)) => Shown::Up,
            (LinkState::Up { weak: true }, Some(_)) => Shown::Weak,
            _ if self.left => Shown::Left,
            _ => Shown::Lost,
        };
        let away = self.lost.filter(|_| self.link.is_none()).map_or(Duration::ZERO, |lost| now - lost);
        let mut shown = control::LinkState {
            carrier: show::carrier(self.link.as_ref().map_or(kind, |link| link.kind)).into(),
            state: state.into(),
            away_ms: away.as_millis() as u32,
            round_trip_ms: self.session.round_trip().map_or(0, |time| time.as_millis() as u32),
            ..control::LinkState::default()
        };
        if let Some(link) = &self.link {
            let Traffic { bytes_sent, bytes_received, messages_sent, messages_received, .. } =
                &*link.ends.traffic;
            shown.rssi_dbm = link.rssi_dbm.into();
            shown.bytes_sent = bytes_sent.load(Ordering::Relaxed);
            shown.bytes_received = bytes_received.load(Ordering::Relaxed);
            shown.messages_sent = messages_sent.load(Ordering::Relaxed);
            shown.messages_received = messages_received.load(Ordering::Relaxed);
        }
        shown
    }

    fn shown_comparison(&self) -> Option<control::Comparison> {
        self.comparison.as_ref().map(|comparison| control::Comparison {
            peer: self.key.to_string(),
            name: self.name.clone(),
            emoji: comparison.string.emoji.iter().map(|number| u32::from(*number)).collect(),
            digits: comparison.string.digits.clone(),
            answered_here: comparison.answered_here,
            answered_there: comparison.answered_there,
            known_name_new_key: comparison.known_name_new_key,
        })
    }
}

impl Actor {
    /// Everyone in the file gets a session, so that matches go on as soon as a link stands.
    pub(crate) fn load_people(&mut self) -> Result<(), StoreError> {
        for friend in self.store.friends()? {
            let key = friend.key;
            let peer = self.new_peer(key, Some(friend))?;
            self.people.insert(key, peer);
        }
        Ok(())
    }

    fn new_peer(&mut self, key: PlayerId, friend: Option<SavedFriend>) -> Result<Peer, StoreError> {
        Ok(Peer {
            key,
            name: friend.as_ref().map_or_else(String::new, |friend| friend.name.clone()),
            session: self.new_session(key, friend.is_some())?,
            friend,
            told_name: self.name.clone(),
            link: None,
            lost: None,
            left: false,
            tick: None,
            rebuild: None,
            comparison: None,
            given: None,
        })
    }

    fn new_session(&mut self, key: PlayerId, known: bool) -> Result<Session, StoreError> {
        let matches = if known { self.store.matches_with(key)? } else { Vec::new() };
        Ok(Session::new(Config {
            name: self.name.clone(),
            advert_key: *self.identity.advert_key(),
            known,
            // The name is known after the hello only; `event` compares it then.
            known_name_new_key: false,
            matches: matches.into_iter().map(|saved| (saved.record, saved.settled)).collect(),
            seed: self.chance.bytes(),
        }))
    }

    pub(crate) fn session_now(&self) -> session::Instant {
        session::Instant(self.started.elapsed())
    }

    /// The earliest moment at which a session, an invitation or a broken journal wants attention.
    pub(crate) fn people_deadline(&self) -> Option<Instant> {
        let peers = self.people.values().filter_map(|peer| match peer.rebuild {
            Some(rebuild) => Some(rebuild),
            None => peer.tick,
        });
        let unsent = self.invitations.values().filter(|one| one.mine && !one.sent).map(|one| one.until);
        peers.chain(unsent).min()
    }

    pub(crate) fn people_on_time(&mut self) {
        let now = Instant::now();
        let due: Vec<PlayerId> = self
            .people
            .values()
            .filter(|peer| peer.rebuild.is_none() && peer.tick.is_some_and(|tick| tick <= now))
            .map(|peer| peer.key)
            .collect();
        for key in due {
            if self.people.contains_key(&key) {
                let _ = self.drive(key, Input::Tick);
            }
        }
        let broken: Vec<PlayerId> = self
            .people
            .values()
            .filter(|peer| peer.rebuild.is_some_and(|at| at <= now))
            .map(|peer| peer.key)
            .collect();
        for key in broken {
            self.rebuild(key);
        }
        let unsent: Vec<MatchId> = self
            .invitations
            .iter()
            .filter(|(_, one)| one.mine && !one.sent && one.until <= now)
            .map(|(id, _)| *id)
            .collect();
        for id in unsent {
            self.invitation_gone(id, control::InvitationEnd::InvitationLinkLost, None);
        }
    }

    // Driving a session.

    /// Hands something to a session and does everything that comes out of it.
    fn drive(&mut self, key: PlayerId, input: Input) -> Result<(), Undone> {
        let now = self.session_now();
        let Some(peer) = self.people.get_mut(&key) else { return Ok(()) };
        if peer.rebuild.is_some() {
            return Err(Undone::Disk(StoreError::Other("the journal could not be written lately".into())));
        }
        let handled = peer.session.handle(now, input);
        let drained = self.drain(key);
        match handled {
            Err(session::Error::Violation(violation)) => {
                let name = self.name_of(key);
                warn!(peer = name, %violation, "the peer broke the protocol: the link is closed");
                self.back_off(&Target::Friend(key));
                let detail = violation.to_string();
                self.notice(control::Notice { name, detail, ..notice(NoticeKind::NoticePeerMisbehaved) });
                Ok(())
            }
            Err(session::Error::Refused(refused)) => Err(Undone::Refused(refused)),
            Ok(()) => drained.map_err(Undone::Disk),
        }
    }

    fn drain(&mut self, key: PlayerId) -> Result<(), StoreError> {
        let now = self.session_now();
        let mut events = Vec::new();
        let mut result = Ok(());
        while let Some(peer) = self.people.get_mut(&key) {
            match peer.session.poll() {
                Output::Save(entry) => {
                    let written = self.write_entry(key, &entry);
                    if let Err(error) = self.saved(written) {
                        // What the session believes is not on disk: it is made anew from what is.
                        self.break_off(key);
                        result = Err(error);
                        break;
                    }
                }
                Output::Send(envelope) => {
                    let full = peer
                        .link
                        .as_ref()
                        .is_some_and(|link| link.ends.orders.try_send(Order::Send(envelope)).is_err());
                    if full {
                        debug!("a link takes nothing more: it is dropped");
                        self.drop_link(key, None);
                    }
                }
                Output::Event(event) => events.push(event),
                Output::Close(reason) => {
                    debug!(?reason, "the session closes the link");
                    let silent = reason == ByeReason::ByeSilent;
                    let link = peer.link.as_ref().map(|link| link.id).filter(|_| silent);
                    self.drop_link(key, None);
                    if let Some(link) = link {
                        // The carrier holds on to a link that is dead, and there may be only one at a time.
                        self.abort_link(link);
                    }
                    if let Some(peer) = self.people.get_mut(&key) {
                        let down = peer.session.handle(now, Input::LinkDown);
                        debug_assert!(down.is_ok(), "a lost link is no error");
                    }
                }
                Output::Idle { until } => {
                    let started = self.started;
                    // Far beyond any host's life rather than an overflow.
                    peer.tick = until.and_then(|until| started.checked_add(until.0));
                    break;
                }
            }
        }
        for event in events {
            self.event(key, event);
        }
        // A stranger without a link is nobody.
        if let Some(peer) = self.people.get(&key)
            && peer.friend.is_none()
            && peer.link.is_none()
        {
            self.people.remove(&key);
            if self.compared.remove(&key) {
                self.tell(event::Body::ComparisonGone(control::Gone { id: key.to_string() }));
            }
        }
        result
    }

    fn write_entry(&mut self, key: PlayerId, entry: &Entry) -> Result<(), StoreError> {
        let now = self.now_unix_ms();
        match entry {
            Entry::Friend { name, advert_key } => {
                let met = self.people.get(&key).and_then(|peer| peer.friend.as_ref());
                let met_unix_ms = met.map_or(now, |friend| friend.met_unix_ms);
                let friend = SavedFriend { key, name: name.clone(), advert_key: *advert_key, met_unix_ms };
                self.store.put_friend(&friend)?;
                if let Some(peer) = self.people.get_mut(&key) {
                    peer.name.clone_from(name);
                    peer.friend = Some(friend);
                }
                Ok(())
            }
            Entry::Began(record) => self.store.begin(record, seats_with(key, record), now),
            Entry::Learned(record) => self.store.learn(record, seats_with(key, record), now),
            Entry::Acted { id, ply, action, result } => self.store.append(*id, *ply, *action, *result, now),
            Entry::TakenBack { id, ply, revision } => self.store.take_back(*id, *ply, *revision, now),
            Entry::Ended { id, revision, result } => self.store.end(*id, *revision, *result, now),
            Entry::Offered { id, offered } => self.store.set_offered(*id, *offered, now),
            Entry::Replaced(record) => self.store.replace(record, now),
            Entry::Settled(id) => self.store.settle(*id),
        }
    }

    /// The journal could not be written: no link and no action with this peer until it can.
    fn break_off(&mut self, key: PlayerId) {
        self.drop_link(key, None);
        if let Some(peer) = self.people.get_mut(&key) {
            peer.rebuild = Some(Instant::now() + DISK_RETRY);
        }
        self.touch_rooms_with(key);
    }

    /// Makes the session anew from the journal, if the journal can be written again.
    fn rebuild(&mut self, key: PlayerId) {
        let known = self.people.get(&key).is_some_and(|peer| peer.friend.is_some());
        let probed = self.store.probe();
        let made = self.saved(probed).and_then(|()| self.new_session(key, known));
        let Some(peer) = self.people.get_mut(&key) else { return };
        match made {
            Ok(session) => {
                peer.session = session;
                peer.rebuild = None;
                peer.tick = None;
                let matches: Vec<MatchId> = peer.session.matches().map(MatchState::id).collect();
                for id in matches {
                    self.sync_room(key, id);
                }
                self.look_again(key);
            }
            Err(error) => {
                debug!(%error, "the journal still cannot be written");
                peer.rebuild = Some(Instant::now() + DISK_RETRY);
            }
        }
    }

    // What a session tells.

    fn event(&mut self, key: PlayerId, event: Event) {
        match event {
            Event::Greeted { name } => {
                info!(name, "a peer is here");
                if let Some(peer) = self.people.get_mut(&key) {
                    peer.name = name;
                    peer.left = false;
                }
                self.reached(key);
                self.touch_rooms_with(key);
                self.send_invitations(key);
            }
            Event::NoCommonVersion => {
                let name = self.name_of(key);
                self.notice(control::Notice { name, ..notice(NoticeKind::NoticeUpdateNeeded) });
                self.give_up(&Target::Friend(key));
            }
            Event::Comparing { string, known_name_new_key } => {
                let name = self.name_of(key);
                let claimed = self
                    .people
                    .values()
                    .any(|other| other.key != key && other.friend.is_some() && other.name == name);
                if let Some(peer) = self.people.get_mut(&key) {
                    peer.comparison = Some(Comparison {
                        string,
                        answered_here: false,
                        answered_there: false,
                        known_name_new_key: known_name_new_key || claimed,
                    });
                }
                // From here on it is up to the two people.
                self.reached(key);
                self.tell_comparison(key);
            }
            Event::ComparedThere => {
                if let Some(comparison) = self.people.get_mut(&key).and_then(|peer| peer.comparison.as_mut())
                {
                    comparison.answered_there = true;
                }
                self.tell_comparison(key);
            }
            Event::Friends => {
                self.comparison_over(key);
                if let Some(link) = self.people.get(&key).and_then(|peer| peer.link.as_ref()) {
                    link.ends.traffic.trusted.send_replace(true);
                }
                let name = self.name_of(key);
                info!(name, "a new friend");
                self.notice(control::Notice { name, ..notice(NoticeKind::NoticeNewFriend) });
                self.reached(key);
                self.send_invitations(key);
            }
            Event::NotCompared => {
                self.comparison_over(key);
                let name = self.name_of(key);
                self.notice(control::Notice { name, ..notice(NoticeKind::NoticeStringsDiffer) });
                self.end_invitations(key);
                self.give_up(&Target::Friend(key));
            }
            Event::Invited { id, setup, my_side, ply: _, until } => {
                let until = self.started + until.0;
                let target = Target::Friend(key);
                self.invitations
                    .insert(id, Invitation { target, mine: false, setup, my_side, until, sent: true });
                self.tell_invitation(id);
            }
            Event::InvitationEnded { id, mine: _, end } => {
                self.invitation_gone(id, show::invitation_end(end), None);
            }
            Event::MatchChanged(id) => self.sync_room(key, id),
            Event::Offered { id, kind: _ } => self.touched(id),
            Event::OfferEnded { id, kind: _, mine, accepted } => {
                if mine && !accepted && self.people.get(&key).is_some_and(Peer::session_up) {
                    let (name, room_id) = (self.name_of(key), id.to_string());
                    self.notice(control::Notice { name, room_id, ..notice(NoticeKind::NoticeOfferDeclined) });
                }
                self.sync_room(key, id);
            }
            Event::RecordsDiffer { id, common } => {
                let (name, room_id) = (self.name_of(key), id.to_string());
                warn!(%id, common, "the records differ");
                self.notice(control::Notice {
                    name,
                    room_id,
                    detail: format!("the first {common} actions are the same"),
                    ..notice(NoticeKind::NoticeRecordsDiffer)
                });
                self.sync_room(key, id);
            }
            Event::RecordUnreadable(id) => warn!(%id, "a saved match cannot be replayed: it is left out"),
            Event::Weak(weak) => {
                debug!(weak, "the link's answers");
                self.touch_rooms_with(key);
            }
            Event::RoundTrip(time) => debug!(milliseconds = time.as_millis() as u64, "round trip"),
            Event::Left(reason) => {
                debug!(?reason, "the peer says goodbye");
                if matches!(reason, ByeReason::ByeLeaving | ByeReason::ByeSuspend) {
                    if let Some(peer) = self.people.get_mut(&key) {
                        peer.left = true;
                    }
                    let name = self.name_of(key);
                    self.notice(control::Notice { name, ..notice(NoticeKind::NoticePeerLeft) });
                } else if reason == ByeReason::ByeBlocked {
                    self.give_up(&Target::Friend(key));
                }
                self.touch_rooms_with(key);
            }
        }
    }

    fn name_of(&self, key: PlayerId) -> String {
        self.people.get(&key).map_or_else(String::new, |peer| peer.name.clone())
    }

    fn tell_comparison(&mut self, key: PlayerId) {
        if let Some(shown) = self.people.get(&key).and_then(Peer::shown_comparison) {
            self.compared.insert(key);
            self.tell(event::Body::Comparison(shown));
        }
    }

    fn comparison_over(&mut self, key: PlayerId) {
        if let Some(peer) = self.people.get_mut(&key) {
            peer.comparison = None;
        }
        if self.compared.remove(&key) {
            self.tell(event::Body::ComparisonGone(control::Gone { id: key.to_string() }));
        }
    }

    // Rooms with a peer.

    pub(crate) fn rooms_with(&self, key: PlayerId) -> Vec<MatchId> {
        self.rooms.values().filter(|room| room.peer() == Some(key)).map(Room::id).collect()
    }

    fn touch_rooms_with(&mut self, key: PlayerId) {
        for id in self.rooms_with(key) {
            self.changed(id);
        }
    }

    /// Brings the room level with the session; opens one for a match that has just begun.
    fn sync_room(&mut self, key: PlayerId, id: MatchId) {
        let Some(peer) = self.people.get_mut(&key) else { return };
        let Some(state) = peer.session.match_state(id) else { return };
        let record = state.record().clone();
        let seen = state.seen_ply();
        let seats = seats_with(key, &record);
        if let Some((given_id, ply, at)) = peer.given
            && given_id == id
            && seen.is_some_and(|seen| seen >= ply)
        {
            peer.given = None;
            let after = at.elapsed();
            if let Some(room) = self.rooms.get_mut(&id) {
                room.seen_action = (ply, after.as_micros().try_into().unwrap_or(u32::MAX));
            }
        }
        if let Some(room) = self.rooms.get_mut(&id) {
            if let Err(error) = room.set_record(record) {
                warn!(%id, %error, "a record of the session cannot be shown");
            }
            self.changed(id);
            return;
        }
        match self.store.load(id) {
            Ok(Some(saved)) if saved.open => {}
            // The person has left that room.
            Ok(_) => return,
            Err(error) => return warn!(%error, "a match cannot be read"),
        }
        let mut room = match Room::new(record, seats) {
            Ok(room) => room,
            Err(error) => return warn!(%id, %error, "a match of the session cannot be shown"),
        };
        let invited = self.invitations.contains_key(&id);
        // A new game by consent takes the place of the one that is over.
        let before = (!invited)
            .then(|| {
                self.rooms.values().find(|old| {
                    old.peer() == Some(key)
                        && old.record().result.is_some()
                        && old.record().setup == room.record().setup
                })
            })
            .flatten()
            .map(Room::id);
        room.follows = before;
        self.rooms.insert(id, room);
        self.changed(id);
        if invited {
            self.invitation_gone(id, control::InvitationEnd::InvitationAccepted, Some(id));
        }
        if let Some(before) = before {
            // Clients hear of the new room first, so that a screen may go from one to the other.
            self.show_changes();
            if let Err(refusal) = self.close_room(before) {
                debug!(detail = refusal.detail, "the room before could not be closed");
            }
        }
    }

    pub(crate) fn act_with_peer(
        &mut self,
        key: PlayerId,
        id: MatchId,
        action: engine::Action,
    ) -> Result<(), Refusal> {
        let room = &self.rooms[&id];
        // The rules' own word comes before the session's: it says what is wrong with the action.
        room.after(action).map_err(|why| Refusal::illegal(why, action))?;
        let (ply, now) = (room.ply() + 1, Instant::now());
        let thought = now - room.turn_since;
        if let Some(peer) = self.people.get_mut(&key) {
            peer.given = Some((id, ply, now));
        }
        self.drive(key, Input::Command(Command::Act { id, action, thought })).map_err(Refusal::from)?;
        self.look_again(key);
        Ok(())
    }

    pub(crate) fn command(&mut self, key: PlayerId, command: Command) -> Result<(), Refusal> {
        self.drive(key, Input::Command(command)).map_err(Refusal::from)
    }

    // Links.

    /// Somebody has connected to this device.
    pub(crate) fn accepted(&mut self, duplex: Box<dyn link::Duplex>, kind: CarrierKind) {
        let waiting =
            self.links.values().filter(|link| link.role == Role::Listener && link.peer.is_none()).count();
        if waiting >= MAX_HANDSHAKES {
            debug!("too many handshakes at once: a link is refused");
            return;
        }
        let id = self.next_link();
        let (identity, tell) = (Arc::clone(&self.identity), self.link_teller(id));
        let task = self.tasks.spawn(crate::links::run(duplex, Role::Listener, kind, identity, tell));
        self.links.insert(id, LinkTask::new(task, Role::Listener, kind, None));
    }

    pub(crate) fn next_link(&mut self) -> LinkId {
        self.last_link += 1;
        LinkId(self.last_link)
    }

    pub(crate) fn link_teller(&self, id: LinkId) -> impl Fn(LinkNews) + Send + Sync + 'static {
        let inbox = self.inbox.clone();
        move |news| {
            // When the actor has ended, so does this link.
            let _ = inbox.send(crate::actor::Message::Link(id, news));
        }
    }

    pub(crate) fn link_said(&mut self, id: LinkId, news: LinkNews) {
        match news {
            LinkNews::Greeting => {
                if let Some((_, target)) = self.links.get(&id).and_then(|link| link.dialed.clone()) {
                    self.tell_connecting(&target, ConnectState::ConnectGreeting);
                }
            }
            LinkNews::Up { key, handshake_hash, ends } => self.link_up(id, key, handshake_hash, ends),
            LinkNews::Said(envelope, _permit) => {
                let Some(key) = self.links.get(&id).and_then(|link| link.peer) else { return };
                if self.people.get(&key).is_some_and(|peer| peer.uses(id)) {
                    if self.claims_anothers_match(key, &envelope) {
                        warn!(peer = self.name_of(key), "a match of this id stands elsewhere: not heard");
                        return;
                    }
                    // A violation was dealt with, a refusal cannot come from the peer, and a disk that is full was told.
                    let _ = self.drive(key, Input::Received(envelope));
                }
            }
            LinkNews::Down(down) => self.link_down(id, &down),
        }
    }

    /// Whether the peer speaks of a new match under an id that belongs to a match or an invitation outside its session: one
    /// with somebody else, or one long put away. Ids are 16 random bytes, so an honest device never does by chance, and
    /// hearing it would let a peer rewrite what is none of its business.
    fn claims_anothers_match(&self, key: PlayerId, envelope: &Envelope) -> bool {
        let (Envelope::Invite(proto::peer::Invite { invite_id: claimed, .. })
        | Envelope::Record(proto::peer::Record { match_id: claimed, .. })) = envelope
        else {
            return false;
        };
        let Ok(id) = <[u8; 16]>::try_from(&claimed[..]).map(MatchId) else { return false };
        if self.people.get(&key).is_some_and(|peer| peer.session.match_state(id).is_some()) {
            return false;
        }
        let invited_elsewhere =
            self.invitations.get(&id).is_some_and(|invitation| invitation.target != Target::Friend(key));
        // A journal that cannot be read protects what it may hold.
        invited_elsewhere || self.rooms.contains_key(&id) || !matches!(self.store.load(id), Ok(None))
    }

    fn link_up(&mut self, id: LinkId, key: PlayerId, handshake_hash: [u8; 32], ends: LinkEnds) {
        let Some(link) = self.links.get_mut(&id) else { return };
        link.peer = Some(key);
        let (role, kind, dialed) = (link.role, link.kind, link.dialed.clone());
        let refuse = |ends: &LinkEnds, reason: ByeReason| {
            let bye = proto::peer::Bye { reason: reason.into() };
            let _ = ends.orders.try_send(Order::Send(bye.into()));
            let _ = ends.orders.try_send(Order::Close);
        };
        let known = self.people.get(&key).is_some_and(|peer| peer.friend.is_some());
        if !known {
            // Whoever was looked for by this device's person is no surprise; others only ring when they may.
            if role == Role::Listener && self.visibility != Visibility::Everyone {
                debug!("a stranger was refused: only friends may connect");
                return refuse(&ends, ByeReason::ByeBlocked);
            }
            let strangers = self.people.values().filter(|peer| peer.friend.is_none()).count();
            if strangers >= MAX_STRANGERS && !self.people.contains_key(&key) {
                debug!("a stranger was refused: too many at once");
                return refuse(&ends, ByeReason::ByeLeaving);
            }
        }
        if let Some(peer) = self.people.get(&key) {
            if peer.rebuild.is_some() {
                return refuse(&ends, ByeReason::ByeLeaving);
            }
            if let Some(old) = &peer.link {
                let both_dialed = old.role != role && old.since.elapsed() < GLARE;
                let lower_dials = self.identity.public_key() < key.0;
                let keep_new = !both_dialed || (role == Role::Dialer) == lower_dials;
                if !keep_new {
                    debug!("both sides have dialed: this link is given up");
                    refuse(&ends, ByeReason::ByeReplaced);
                    self.reached(key);
                    return;
                }
                debug!("another link to the same peer takes over");
                self.drop_link(key, Some(ByeReason::ByeReplaced));
            }
        }
        if !self.people.contains_key(&key) {
            match self.new_peer(key, None) {
                Ok(peer) => drop(self.people.insert(key, peer)),
                Err(error) => {
                    warn!(%error, "a peer cannot be looked up");
                    return refuse(&ends, ByeReason::ByeLeaving);
                }
            }
        }
        if self.people[&key].told_name != self.name {
            match self.new_session(key, known) {
                Ok(session) => {
                    let name = self.name.clone();
                    let peer = self.people.get_mut(&key).expect("it was there above");
                    (peer.session, peer.told_name) = (session, name);
                }
                Err(error) => debug!(%error, "the session keeps our old name"),
            }
        }
        let rssi_dbm = dialed.as_ref().and_then(|(address, _)| self.rssi_at(address)).unwrap_or(0);
        if let Some((address, _)) = &dialed {
            self.is_at(address, key);
        }
        ends.traffic.trusted.send_replace(known);
        let peer = self.people.get_mut(&key).expect("it was made above");
        peer.link = Some(PeerLink { id, role, kind, since: Instant::now(), ends, rssi_dbm });
        let role_in_session = role;
        // Cannot be refused; a disk that is full was told.
        let _ = self.drive(key, Input::LinkUp { role: role_in_session, handshake_hash });
    }

    fn link_down(&mut self, id: LinkId, down: &Down) {
        let Some(link) = self.links.remove(&id) else { return };
        debug!(%down, "a link is over");
        let key = link.peer;
        if let Some((address, target)) = &link.dialed {
            self.dial_ended(id, address, target, key.is_some());
        }
        let Some(key) = key else {
            if let Down::Misbehaved(what) = down {
                warn!(what, "somebody who connected does not speak our protocol");
            }
            return;
        };
        if !self.people.get(&key).is_some_and(|peer| peer.uses(id)) {
            return;
        }
        if let Down::Misbehaved(detail) = down {
            let (name, detail) = (self.name_of(key), detail.clone());
            warn!(peer = name, detail, "the peer broke the protocol: the link is closed");
            self.back_off(&Target::Friend(key));
            self.notice(control::Notice { name, detail, ..notice(NoticeKind::NoticePeerMisbehaved) });
        }
        self.link_is_gone(key);
        let _ = self.drive(key, Input::LinkDown);
    }

    /// Lets go of the peer's link, after a last word if there is one. The session is told by the caller.
    fn drop_link(&mut self, key: PlayerId, last_word: Option<ByeReason>) {
        let Some(link) = self.people.get_mut(&key).and_then(|peer| peer.link.take()) else { return };
        if let Some(reason) = last_word {
            let bye = proto::peer::Bye { reason: reason.into() };
            let _ = link.ends.orders.try_send(Order::Send(bye.into()));
        }
        if link.ends.orders.try_send(Order::Close).is_err() {
            // It takes no orders any more.
            self.abort_link(link.id);
        }
        if last_word.is_none() {
            self.link_is_gone(key);
        }
    }

    pub(crate) fn abort_link(&mut self, id: LinkId) {
        if let Some(link) = self.links.remove(&id) {
            link.task.abort();
            if let Some((address, target)) = &link.dialed {
                self.dial_ended(id, address, target, link.peer.is_some());
            }
        }
    }

    fn link_is_gone(&mut self, key: PlayerId) {
        if let Some(peer) = self.people.get_mut(&key) {
            peer.link = None;
            peer.lost = Some(Instant::now());
            if !peer.left {
                self.look_again(key);
            }
        }
        self.touch_rooms_with(key);
    }

    /// Says goodbye to everyone.
    pub(crate) fn leave_everyone(&mut self) {
        for key in self.people.keys().copied().collect::<Vec<_>>() {
            if self.people.get(&key).is_some_and(|peer| peer.link.is_some()) {
                let _ = self.drive(key, Input::Command(Command::Leave(ByeReason::ByeLeaving)));
            }
        }
    }

    // Requests of clients.

    pub(crate) fn compare(&mut self, who: &str, same: bool) -> Result<(), Refusal> {
        let key = self.player(who)?;
        self.command(key, Command::Compare { same })?;
        if let Some(comparison) = self.people.get_mut(&key).and_then(|peer| peer.comparison.as_mut()) {
            comparison.answered_here = true;
        }
        self.tell_comparison(key);
        Ok(())
    }

    pub(crate) fn invite(
        &mut self,
        target: Target,
        setup: Setup,
        my_side: Option<Side>,
    ) -> Result<MatchId, Refusal> {
        if self.invitations.values().any(|one| one.mine && one.target == target) {
            return Err(Refusal::new(RefusalCode::RefusalBusy, "one invitation is open already"));
        }
        let id = MatchId(self.chance.bytes());
        let my_side = my_side.unwrap_or_else(|| Side::BOTH[(self.chance.seed() & 1) as usize]);
        let up = match &target {
            Target::Friend(key) => self.people.get(key).is_some_and(Peer::session_up),
            Target::Address(_) => false,
        };
        let now = Instant::now();
        let mut invitation = Invitation {
            target: target.clone(),
            mine: true,
            setup: setup.clone(),
            my_side,
            until: now + UNSENT,
            sent: false,
        };
        if let (true, Target::Friend(key)) = (up, &target) {
            self.command(*key, Command::Invite { id, setup, my_side })?;
            (invitation.sent, invitation.until) = (true, now + OPEN_FOR);
            self.invitations.insert(id, invitation);
        } else {
            self.invitations.insert(id, invitation);
            self.seek(target);
        }
        self.tell_invitation(id);
        Ok(id)
    }

    /// Sends what waited for the link or for the comparison.
    fn send_invitations(&mut self, key: PlayerId) {
        if !self.people.get(&key).is_some_and(Peer::session_up) {
            return;
        }
        let waiting: Vec<MatchId> = self
            .invitations
            .iter()
            .filter(|(_, one)| one.mine && !one.sent && one.target == Target::Friend(key))
            .map(|(id, _)| *id)
            .collect();
        for id in waiting {
            let Some(one) = self.invitations.get_mut(&id) else { continue };
            (one.sent, one.until) = (true, Instant::now() + OPEN_FOR);
            let command = Command::Invite { id, setup: one.setup.clone(), my_side: one.my_side };
            match self.command(key, command) {
                Ok(()) => self.tell_invitation(id),
                Err(refusal) => {
                    debug!(detail = refusal.detail, "an invitation could not be sent");
                    let end = match refusal.code {
                        RefusalCode::RefusalBusy => control::InvitationEnd::InvitationBusy,
                        RefusalCode::RefusalBadRequest => control::InvitationEnd::InvitationUnknownGame,
                        _ => control::InvitationEnd::InvitationLinkLost,
                    };
                    self.invitation_gone(id, end, None);
                }
            }
        }
    }

    /// Invitations to a device at this address are invitations to this player, now that it is known.
    pub(crate) fn invitations_meant(&mut self, address: &Address, key: PlayerId) {
        for one in self.invitations.values_mut() {
            if one.target == Target::Address(address.clone()) {
                one.target = Target::Friend(key);
            }
        }
    }

    fn end_invitations(&mut self, key: PlayerId) {
        self.invitations_over(&Target::Friend(key), control::InvitationEnd::InvitationDeclined);
    }

    /// Invitations that were never sent end with what they waited for.
    pub(crate) fn invitations_over(&mut self, target: &Target, end: control::InvitationEnd) {
        let gone: Vec<MatchId> = self
            .invitations
            .iter()
            .filter(|(_, one)| one.mine && !one.sent && one.target == *target)
            .map(|(id, _)| *id)
            .collect();
        for id in gone {
            self.invitation_gone(id, end, None);
        }
    }

    pub(crate) fn withdraw(&mut self, id: MatchId) -> Result<(), Refusal> {
        let no_such = || Refusal::new(RefusalCode::RefusalNoOffer, "no such invitation");
        let one = self.invitations.get(&id).filter(|one| one.mine).ok_or_else(no_such)?;
        match (one.sent, one.target.clone()) {
            (true, Target::Friend(key)) => self.command(key, Command::Withdraw(id))?,
            (_, target) => self.give_up(&target),
        }
        self.invitation_gone(id, control::InvitationEnd::InvitationWithdrawn, None);
        Ok(())
    }

    pub(crate) fn answer_invite(&mut self, id: MatchId, accept: bool) -> Result<(), Refusal> {
        let no_such = || Refusal::new(RefusalCode::RefusalNoOffer, "no such invitation");
        let one = self.invitations.get(&id).filter(|one| !one.mine).ok_or_else(no_such)?;
        let Target::Friend(key) = one.target else { return Err(no_such()) };
        let decline = (!accept).then_some(DeclineReason::DeclineNotNow);
        self.command(key, Command::AnswerInvite { id, decline })?;
        if !accept {
            self.invitation_gone(id, control::InvitationEnd::InvitationDeclined, None);
        }
        Ok(())
    }

    pub(crate) fn forget(&mut self, key: PlayerId) -> Result<(), Refusal> {
        if self.people.get(&key).is_none_or(|peer| peer.friend.is_none()) {
            return Err(Refusal::new(RefusalCode::RefusalNoSuchPeer, "no such friend"));
        }
        let written = self.store.forget(key);
        self.saved(written)?;
        self.drop_link(key, Some(ByeReason::ByeLeaving));
        for id in self.rooms_with(key) {
            self.rooms.remove(&id);
            self.drop_bots(id);
            self.tell(event::Body::RoomGone(control::Gone { id: id.to_string() }));
        }
        let invitations: Vec<MatchId> = self
            .invitations
            .iter()
            .filter(|(_, one)| one.target == Target::Friend(key))
            .map(|(id, _)| *id)
            .collect();
        for id in invitations {
            self.invitation_gone(id, control::InvitationEnd::InvitationWithdrawn, None);
        }
        self.give_up(&Target::Friend(key));
        self.people.remove(&key);
        Ok(())
    }

    /// The player whom a client names: by its id, or by the id of a device nearby.
    pub(crate) fn player(&self, who: &str) -> Result<PlayerId, Refusal> {
        let near = || self.nearby.get(who).and_then(|near| near.player);
        PlayerId::parse(who)
            .filter(|key| self.people.contains_key(key))
            .or_else(near)
            .filter(|key| self.people.contains_key(key))
            .ok_or_else(|| Refusal::new(RefusalCode::RefusalNoSuchPeer, "no such player"))
    }

    // Showing.

    pub(crate) fn people_events(&self) -> Vec<event::Body> {
        let comparisons = self.people.values().filter_map(Peer::shown_comparison);
        let invitations = self.invitations.keys().filter_map(|id| self.shown_invitation(*id));
        comparisons.map(event::Body::Comparison).chain(invitations.map(event::Body::Invitation)).collect()
    }

    pub(crate) fn shown_friend(&self, peer: &Peer) -> Option<control::Friend> {
        let friend = peer.friend.as_ref()?;
        let id = peer.key.to_string();
        Some(control::Friend {
            near: self.nearby.contains_key(&id) || peer.link.is_some(),
            id,
            name: peer.name.clone(),
            connected: peer.session_up(),
            met_unix_ms: friend.met_unix_ms.try_into().unwrap_or(0),
        })
    }

    fn shown_invitation(&self, id: MatchId) -> Option<control::Invitation> {
        let one = self.invitations.get(&id)?;
        Some(control::Invitation {
            invite_id: id.to_string(),
            peer: target_id(&one.target),
            name: self.target_name(&one.target),
            mine: one.mine,
            setup: Some(wire::setup(&one.setup)),
            my_side: show::side(one.my_side).into(),
            expires_ms: one.until.saturating_duration_since(Instant::now()).as_millis() as u32,
            rule_sheet_en: one.setup.rule_sheet(Language::English),
            rule_sheet_zh: one.setup.rule_sheet(Language::Chinese),
        })
    }

    fn tell_invitation(&mut self, id: MatchId) {
        if let Some(shown) = self.shown_invitation(id) {
            self.tell(event::Body::Invitation(shown));
        }
    }

    fn invitation_gone(&mut self, id: MatchId, end: control::InvitationEnd, room: Option<MatchId>) {
        if self.invitations.remove(&id).is_none() {
            return;
        }
        self.show_changes();
        self.tell(event::Body::InvitationGone(control::InvitationGone {
            invite_id: id.to_string(),
            end: end.into(),
            room_id: room.map_or_else(String::new, |id| id.to_string()),
        }));
    }
}

/// Who sits where in a match with this player.
fn seats_with(key: PlayerId, record: &MatchRecord) -> [Seat; 2] {
    let mut seats = [Seat::Peer(key); 2];
    seats[record.my_side.index()] = Seat::Here;
    seats
}

impl Peer {
    fn uses(&self, id: LinkId) -> bool {
        self.link.as_ref().is_some_and(|link| link.id == id)
    }
}
