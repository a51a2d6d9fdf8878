//! Other players: their sessions, the sessions' outputs, and comparisons.

use link::Outdated;
use proto::control::{self, ComparisonEnd, NoticeKind, RefusalCode, event};
use proto::peer::{ByeReason, Phrase};
use session::{
    Capabilities, Command, Config, Event, Input, MatchId, MatchRecord, MatchState, OfferKind, Output, Role,
    Saying, Session,
};
use tokio::time::Instant;
use tracing::{debug, info, warn};

use crate::actor::{Actor, DISK_RETRY, Message, notice};
use crate::archive;
use crate::dialing::{DialingEvent, Target};
use crate::gifts::Gift;
use crate::invitations::Offered;
use crate::journal::{CAPABILITIES, MET_BY, Met, OfPeer};
use crate::links::Order;
use crate::names;
use crate::peer::{Comparison, DriveError, Interest, Peer};
use crate::refusal::Refusal;
use crate::room::{PlayerId, Room, Seat};
use crate::show;
use crate::store::{SavedFriend, Store, StoreError};
use crate::unreached;

impl Actor {
    /// Creates a session for each stored friend, so that matches continue as soon as a link is up.
    pub(crate) fn load_people(&mut self) -> Result<(), StoreError> {
        for friend in self.journal.friends()? {
            let key = friend.key;
            self.names.put(key, &friend.name, true);
            let peer = self.new_peer(key, Some(friend))?;
            self.people.insert(key, peer);
        }
        for (key, name) in self.journal.settings_of(MET_BY)? {
            if let (Some(key), Some(carrier)) =
                (PlayerId::parse(&key), control::Carrier::from_str_name(&name))
            {
                self.people.set_met_by(key, carrier);
            }
        }
        for (begins, capability) in CAPABILITIES {
            for (key, knows) in self.journal.settings_of(begins)? {
                let Some(key) = PlayerId::parse(&key) else { continue };
                // Of a word that this device did not know when it kept the hello nothing is known, and nothing is refused.
                let mut capabilities = self.people.capabilities(key).unwrap_or(Capabilities::ALL);
                *capability(&mut capabilities) = knows == "yes";
                self.people.set_capabilities(key, capabilities);
            }
        }
        Ok(())
    }

    pub(crate) fn new_peer(
        &mut self,
        key: PlayerId,
        friend: Option<SavedFriend>,
    ) -> Result<Peer, StoreError> {
        Ok(Peer {
            key,
            name: friend.as_ref().map_or_else(String::new, |friend| friend.name.clone()),
            session: self.new_session(key, friend.is_some())?,
            friend,
            told_name: self.profile.name().to_owned(),
            wish: None,
            link: None,
            lost: None,
            lost_on: None,
            left: false,
            tick: None,
            rebuild: None,
            comparison: None,
            interest: Interest::default(),
            given: None,
        })
    }

    pub(crate) fn new_session(&mut self, key: PlayerId, known: bool) -> Result<Session, StoreError> {
        self.session_forgotten(key);
        let matches = if known { self.journal.matches_with(key)? } else { Vec::new() };
        let promised = if known { self.journal.promised(key)? } else { Vec::new() };
        Ok(Session::new(Config {
            versions: session::VERSIONS,
            name: self.profile.name().to_owned(),
            advert_key: *self.profile.advert_key(),
            known,
            // Set in `event`, because the name is known only after the hello.
            known_name_new_key: false,
            matches: matches.into_iter().map(|saved| (saved.record, saved.settled)).collect(),
            promised,
            seed: self.chance.bytes(),
        }))
    }

    pub(crate) fn session_now(&self) -> session::Instant {
        session::Instant(self.started.elapsed())
    }

    /// The earliest deadline of sessions, invitations and rebuilds.
    pub(crate) fn people_deadline(&self) -> Option<Instant> {
        let peers = self.people.values().filter_map(|peer| match peer.rebuild {
            Some(rebuild) => Some(rebuild),
            None => peer.tick,
        });
        peers.chain(self.invitations.due()).min()
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
        for id in self.invitations.expired(now) {
            self.invitation_over(id, control::InvitationEnd::InvitationLinkLost);
        }
    }

    // Running sessions.

    /// Passes an input to a session, and processes all its outputs.
    pub(crate) fn drive(&mut self, key: PlayerId, input: Input) -> Result<(), DriveError> {
        let now = self.session_now();
        let Some(peer) = self.people.get_mut(&key) else { return Ok(()) };
        if peer.rebuild.is_some() {
            return Err(DriveError::Disk(StoreError::Other(
                "the journal could not be written lately".into(),
            )));
        }
        let handled = peer.session.handle(now, input);
        let drained = self.drain(key);
        match handled {
            Err(session::Error::Violation(violation)) => {
                let name = self.name_of(key);
                warn!(peer = name, %violation, "the peer broke the protocol: the link is closed");
                self.handle_dialing(DialingEvent::BrokeProtocol(key));
                let detail = violation.to_string();
                self.notice_about(
                    key,
                    control::Notice { name, detail, ..notice(NoticeKind::NoticePeerMisbehaved) },
                );
                Ok(())
            }
            Err(session::Error::Refused(refused)) => Err(DriveError::Refused(refused)),
            Ok(()) => drained.map_err(DriveError::Disk),
        }
    }

    fn drain(&mut self, key: PlayerId) -> Result<(), StoreError> {
        let (now, unix_ms) = (self.session_now(), self.wall_clock.unix_ms());
        let mut events = Vec::new();
        let mut result = Ok(());
        loop {
            let met_by = self.people.met_by(key).is_some();
            let Some(peer) = self.people.get_mut(&key) else { break };
            let mut kept = OfPeer {
                journal: &mut self.journal,
                key,
                now: unix_ms,
                friend: peer.friend.as_ref(),
                carrier: peer.link.as_ref().map(|link| show::carrier(link.kind)),
                met_by,
                met: Vec::new(),
            };
            let polled = peer.session.poll(&mut kept);
            let met = kept.met;
            for met in met {
                self.met(key, met);
            }
            let Some(peer) = self.people.get_mut(&key) else { break };
            let output = match polled {
                Ok(output) => output,
                Err(error) => {
                    // The session's state is not on disk: it is rebuilt from the journal.
                    self.break_off(key);
                    result = Err(error);
                    break;
                }
            };
            match output {
                Output::Send(envelope) => {
                    let full = peer.link.as_ref().is_some_and(|link| {
                        link.ends.orders.try_send(Order::Send(Box::new(envelope))).is_err()
                    });
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
                    if reason == ByeReason::ByeStringsDiffer {
                        // Before the link is closed, which would end the comparison with another outcome.
                        self.comparison_over(key, ComparisonEnd::ComparisonDifferent);
                    }
                    self.drop_link(key, None);
                    if reason == ByeReason::ByeNotCompared {
                        self.not_compared_in_time(key);
                    }
                    if let Some(link) = link {
                        // The carrier keeps a dead link, and may support only one at a time.
                        self.abort_link(link);
                    }
                    if let Some(peer) = self.people.get_mut(&key) {
                        let down = peer.session.handle(now, Input::LinkDown);
                        debug_assert!(down.is_ok(), "a lost link is no error");
                    }
                }
                Output::Idle { until } => {
                    let started = self.started;
                    // A duration that overflows is treated as no deadline.
                    peer.tick = until.and_then(|until| started.checked_add(until.0));
                    break;
                }
            }
        }
        #[cfg(feature = "online")]
        if self.people.get(&key).is_some_and(|peer| peer.link.is_none()) && !events.is_empty() {
            self.letters_soon();
        }
        for event in events {
            self.event(key, event);
        }
        // A stranger without a link is removed.
        if let Some(peer) = self.people.get(&key)
            && peer.friend.is_none()
            && peer.link.is_none()
        {
            self.people.part(key);
            self.names.forget(key);
            if self.people.hide_string(key) {
                self.tell(comparison_gone(key, ComparisonEnd::Unspecified));
            }
        }
        result
    }

    /// Handles that the journal has stored this friend.
    fn met(&mut self, key: PlayerId, Met { friend, carrier, renamed }: Met) {
        self.names.put(key, &friend.name, true);
        if let Some(carrier) = carrier {
            self.people.set_met_by(key, carrier);
        }
        self.keep_capabilities(key);
        if let Some(peer) = self.people.get_mut(&key) {
            peer.name.clone_from(&friend.name);
            peer.friend = Some(friend);
        }
        if let Some(before) = renamed {
            self.renamed(key, before);
        }
    }

    /// Tells clients a friend's new name: of a muted friend, and beyond the rate limit, if it looks like another friend's. The first
    /// name of a friend, who had none in the friend code, is told only then.
    fn renamed(&mut self, key: PlayerId, before: String) {
        let now = Instant::now();
        let muted = self.people.get(&key).and_then(|peer| peer.friend.as_ref()).is_some_and(|one| one.muted);
        let likens = self.names.friends_alike(key).any(|other| self.rings.friend_looks_like(key, other, now));
        let is_noticed = !muted && !before.is_empty();
        if likens || is_noticed && self.rings.friend_is_renamed(key, now) {
            let [name, detail] = [before, self.names.shown(key)]
                .map(|name| if name.is_empty() { names::stand_in(key) } else { name });
            self.notice(control::Notice { name, detail, ..notice(NoticeKind::NoticeRenamed) });
        }
    }

    /// Keeps what the hello of a friend said about its version, for letters to the friend.
    fn keep_capabilities(&mut self, key: PlayerId) {
        if let Some(mut capabilities) = self.people.capabilities(key) {
            // If this fails, nothing is known after the next start, and the friend's device declines what it does not know.
            let _ = self.journal.keep(|store| {
                CAPABILITIES.into_iter().try_for_each(|(begins, capability)| {
                    let knows = if *capability(&mut capabilities) { "yes" } else { "no" };
                    store.set_setting(&format!("{begins}{key}"), knows)
                })
            });
        }
    }

    /// Whether this peer may alert the user now of its own accord; takes a token if so. A muted friend never may.
    pub(crate) fn peer_rings(&mut self, key: PlayerId) -> bool {
        let now = Instant::now();
        match self.people.get(&key).and_then(|peer| peer.friend.as_ref()) {
            Some(friend) => !friend.muted && self.rings.friend_rings(key, now),
            None => self.rings.stranger_rings(now),
        }
    }

    /// Tells clients what this peer has caused of its own accord; not of a muted friend, nor beyond the rate limits. A user who waits
    /// for a stranger is always told.
    pub(crate) fn notice_about(&mut self, key: PlayerId, notice: control::Notice) {
        let now = Instant::now();
        let peer = self.people.get(&key);
        let shown = match peer.and_then(|peer| peer.friend.as_ref()) {
            Some(friend) => !friend.muted && self.rings.friend_is_noticed(key, now),
            None => {
                peer.is_some_and(|peer| peer.interest == Interest::Waits)
                    || self.links.has_dialed(key)
                    || self.rings.stranger_is_noticed(now)
            }
        };
        if shown {
            self.notice(notice);
        }
    }

    /// What the user has to do with the present or last link of this peer.
    fn interest_in(&self, key: PlayerId) -> Interest {
        self.people.get(&key).map_or(Interest::Nothing, |peer| peer.interest)
    }

    /// Handles a failed write: closes the link, and blocks actions with this peer until writing succeeds.
    fn break_off(&mut self, key: PlayerId) {
        self.drop_link(key, None);
        if let Some(peer) = self.people.get_mut(&key) {
            peer.rebuild = Some(Instant::now() + DISK_RETRY);
        }
        self.touch_rooms_with(key);
    }

    /// Rebuilds the session from the journal, if the journal is writable again.
    pub(crate) fn rebuild(&mut self, key: PlayerId) {
        let known = self.people.get(&key).is_some_and(|peer| peer.friend.is_some());
        let probed = self.journal.keep(Store::probe);
        let made = probed.and_then(|()| self.new_session(key, known));
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
                #[cfg(feature = "online")]
                self.letters_soon();
            }
            Err(error) => {
                debug!(%error, "the journal still cannot be written");
                peer.rebuild = Some(Instant::now() + DISK_RETRY);
            }
        }
    }

    // Events of sessions.

    fn event(&mut self, key: PlayerId, event: Event) {
        match event {
            Event::Greeted { name, wish } => {
                info!(name, "a peer is here");
                if let Some(peer) = self.people.get_mut(&key) {
                    let is_friend = peer.friend.is_some();
                    let capabilities = peer.session.peer_capabilities();
                    self.names.put(key, &name, is_friend);
                    (peer.name, peer.wish) = (name, wish);
                    peer.left = false;
                    if self.people.set_capabilities(key, capabilities) && is_friend {
                        self.keep_capabilities(key);
                    }
                }
                self.reached(key);
                self.touch_rooms_with(key);
                self.send_invitations(key);
                self.tell_club_to(key);
            }
            Event::NoCommonVersion { peer_is_older } => {
                let outdated = if peer_is_older { Outdated::There } else { Outdated::Here };
                // Whoever dials alerts the user; this device dials because the user wants it.
                if self.links.has_dialed(key) {
                    self.update_needed(self.name_of(key), outdated);
                } else {
                    self.peer_outdated(key, outdated);
                }
                self.give_up(&Target::Friend(key));
            }
            Event::Comparing { string, known_name_new_key } => {
                let link = self.people.get(&key).and_then(|peer| peer.link.as_ref());
                let has_called = link.is_some_and(|link| link.role == Role::Listener);
                let is_friend = self.people.get(&key).is_some_and(|peer| peer.friend.is_some());
                // Admission has let a stranger ring.
                if has_called && !self.peer_rings(key) && is_friend {
                    debug!("a friend's request to compare again does not ring");
                    self.drop_link(key, None);
                    let _ = self.drive(key, Input::LinkDown);
                    return;
                }
                let claimed = self.names.is_a_friends(key);
                if let Some(peer) = self.people.get_mut(&key) {
                    peer.comparison = Some(Comparison {
                        string,
                        answered_here: false,
                        answered_there: false,
                        known_name_new_key: known_name_new_key || claimed,
                    });
                    if peer.interest == Interest::Nothing {
                        peer.interest = Interest::Shown;
                    }
                }
                // The rest depends on the two users.
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
                self.comparison_over(key, ComparisonEnd::ComparisonFriends);
                if let Some(link) = self.people.get(&key).and_then(|peer| peer.link.as_ref()) {
                    link.ends.traffic.trusted.send_replace(true);
                }
                let name = self.name_of(key);
                info!(name, "a new friend");
                self.notice(control::Notice { name, ..notice(NoticeKind::NoticeNewFriend) });
                #[cfg(feature = "online")]
                self.learn_account_of_link(key);
                #[cfg(feature = "online")]
                self.learn_accounts();
                self.reached(key);
                self.send_invitations(key);
                self.tell_club_to(key);
            }
            Event::NotCompared => {
                self.comparison_over(key, ComparisonEnd::ComparisonDifferent);
                // A link that ends before its string is shown is nothing to whoever has not asked for it.
                if self.interest_in(key) != Interest::Nothing {
                    let name = self.name_of(key);
                    let differ = control::Notice { name, ..notice(NoticeKind::NoticeStringsDiffer) };
                    self.notice_about(key, differ);
                }
                self.end_invitations(key);
                self.give_up(&Target::Friend(key));
            }
            Event::Invited { id, terms, counters, continued, ply: _, until } => {
                let until = self.started + until.0;
                self.invited(key, id, Offered { terms, counters, continued, until });
            }
            Event::InvitationEnded { id, mine: _, end } => {
                self.invitation_gone(id, show::invitation_end(end));
            }
            Event::AnalysisChanged(id) => self.mark_for_display(id),
            Event::HintTaken { id } => {
                let (name, room_id) = (self.name_of(key), id.to_string());
                let notice = control::Notice { name, room_id, ..notice(NoticeKind::NoticeHintTaken) };
                // Muting a friend hides no help that was taken.
                if self.rings.friend_is_noticed(key, Instant::now()) {
                    self.notice(notice);
                }
            }
            Event::ClocksDiffer { id, said, seen } => {
                let (name, room_id) = (self.name_of(key), id.to_string());
                info!(%id, ?said, ?seen, "the peer's measure of its time is not ours");
                let notice = control::Notice {
                    name,
                    room_id,
                    detail: format!("it says {} s, seen were {} s", said.as_secs(), seen.as_secs()),
                    seconds: u32::try_from(said.abs_diff(seen).as_secs()).unwrap_or(u32::MAX),
                    ..notice(NoticeKind::NoticeClocksDiffer)
                };
                self.notice_about(key, notice);
            }
            Event::MatchChanged(id) => self.sync_room(key, id),
            Event::Offered { id, kind: _ } => self.mark_for_display(id),
            Event::OfferEnded { id, kind: OfferKind::Adjourn, accepted: true, .. } => {
                self.sync_room(key, id);
                let (name, room_id) = (self.name_of(key), id.to_string());
                self.show_changes();
                if self.rooms.contains_key(&id) {
                    if let Err(refusal) = self.close_room(id) {
                        debug!(detail = refusal.detail, "an adjourned room could not be closed");
                    }
                    self.notice(control::Notice { name, room_id, ..notice(NoticeKind::NoticeAdjourned) });
                }
            }
            Event::OfferEnded { id, kind: _, mine, accepted } => {
                if mine && !accepted && self.people.get(&key).is_some_and(Peer::session_up) {
                    let (name, room_id) = (self.name_of(key), id.to_string());
                    self.notice(control::Notice { name, room_id, ..notice(NoticeKind::NoticeOfferDeclined) });
                }
                self.sync_room(key, id);
            }
            Event::Said { id, saying } => {
                let muted = self
                    .people
                    .get(&key)
                    .and_then(|peer| peer.friend.as_ref())
                    .is_some_and(|friend| friend.muted);
                if !muted {
                    self.tell_said(id, false, saying, String::new());
                }
            }
            Event::Gift(record) => self.gift_came(key, *record),
            Event::Club { number, told } => self.club_came(key, number, told.map(|told| *told)),
            Event::RecordsDiffer { id, common } => {
                let (name, room_id) = (self.name_of(key), id.to_string());
                warn!(%id, common, "the records differ");
                let notice = control::Notice {
                    name,
                    room_id,
                    detail: format!("the first {common} actions are the same"),
                    ..notice(NoticeKind::NoticeRecordsDiffer)
                };
                self.notice_about(key, notice);
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
                    self.handle_dialing(DialingEvent::Left(key));
                    let is_friend = self.people.get(&key).is_some_and(|peer| peer.friend.is_some());
                    if is_friend || self.interest_in(key) != Interest::Nothing {
                        let name = self.name_of(key);
                        let left = control::Notice { name, ..notice(NoticeKind::NoticePeerLeft) };
                        self.notice_about(key, left);
                    }
                } else if reason == ByeReason::ByeBlocked {
                    self.give_up(&Target::Friend(key));
                } else if reason == ByeReason::ByeNotCompared {
                    self.not_compared_in_time(key);
                }
                self.touch_rooms_with(key);
            }
        }
    }

    /// Handles the timeout of a first meeting's comparison: dependent requests end, and the search stops. A stranger who has called
    /// is kept away, as one whom the user sends away; whom the user has called may call back.
    fn not_compared_in_time(&mut self, key: PlayerId) {
        let is_friend = self.people.get(&key).is_some_and(|peer| peer.friend.is_some());
        if !is_friend && !self.links.has_dialed(key) {
            self.strangers.send_away(key, Instant::now());
        }
        self.comparison_over(key, ComparisonEnd::Unspecified);
        self.end_invitations(key);
        self.give_up(&Target::Friend(key));
    }

    /// Handles an offer of a copy of a match.
    fn gift_came(&mut self, from: PlayerId, record: MatchRecord) {
        let muted = self.people.get(&from).and_then(|peer| peer.friend.as_ref()).is_none_or(|one| one.muted);
        let now = self.wall_clock.unix_ms();
        if self.gifts.offer(from, muted, record, now).is_none() {
            return info!(muted, "a gift is not shown");
        }
        self.replay_gift();
    }

    /// Replays the next offered match on another thread; [`gift_replayed`](Self::gift_replayed) shows it.
    fn replay_gift(&mut self) {
        let Some((number, saved)) = self.gifts.next_to_replay() else { return };
        let (seats, inbox) = (self.shown_seats(&saved), self.inbox.clone());
        let replay = move || {
            let summary = std::panic::AssertUnwindSafe(|| archive::summary(saved, seats, true));
            let summary = std::panic::catch_unwind(summary).ok().flatten().map(Box::new);
            // Sending fails only after the actor has ended.
            drop(inbox.send(Message::GiftReplayed(number, summary)));
        };
        self.tasks.spawn(self.work.review(replay));
    }

    pub(crate) fn gift_replayed(&mut self, number: u64, summary: Option<Box<control::MatchSummary>>) {
        self.gifts.replayed(number, summary.map(|summary| *summary));
        if let Some(shown) = self.gifts.get(number).and_then(|gift| self.shown_gift(gift)) {
            self.tell(event::Body::Gift(shown));
        }
        self.replay_gift();
    }

    pub(crate) fn shown_gift(&self, gift: &Gift) -> Option<control::Gift> {
        gift.shown(self.name_of(gift.from()))
    }

    pub(crate) fn name_of(&self, key: PlayerId) -> String {
        self.names.shown(key)
    }

    fn tell_comparison(&mut self, key: PlayerId) {
        let name = self.names.shown(key);
        if let Some(shown) = self.people.get(&key).and_then(|peer| peer.shown_comparison(name)) {
            self.people.show_string(key);
            self.tell(event::Body::Comparison(shown));
        }
    }

    pub(crate) fn comparison_over(&mut self, key: PlayerId, end: ComparisonEnd) {
        if let Some(peer) = self.people.get_mut(&key) {
            peer.comparison = None;
        }
        if self.people.hide_string(key) {
            self.tell(comparison_gone(key, end));
        }
    }

    // Rooms with a peer.

    pub(crate) fn rooms_with(&self, key: PlayerId) -> Vec<MatchId> {
        self.rooms.values().filter(|room| room.peer() == Some(key)).map(Room::id).collect()
    }

    pub(crate) fn touch_rooms_with(&mut self, key: PlayerId) {
        for id in self.rooms_with(key) {
            self.room_changed(id);
        }
    }

    /// Updates the room from the session; opens a room for a new match.
    fn sync_room(&mut self, key: PlayerId, id: MatchId) {
        let Some(peer) = self.people.get_mut(&key) else { return };
        let Some(state) = peer.session.match_state(id) else { return };
        let record = state.record().clone();
        let seen = state.seen_ply();
        let seats = Seat::with(key, &record);
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
            self.room_changed(id);
            return;
        }
        match self.journal.load(id) {
            Ok(Some(saved)) if saved.open => {}
            // The user has closed that room.
            Ok(_) => return,
            Err(error) => return warn!(%error, "a match cannot be read"),
        }
        let mut room = match Room::new(record, seats) {
            Ok(room) => room,
            Err(error) => return warn!(%id, %error, "a match of the session cannot be shown"),
        };
        let invited = self.invitations.contains(id);
        // A rematch replaces the room of the finished match.
        let before = (!invited)
            .then(|| {
                self.rooms.values().find(|old| {
                    old.peer() == Some(key)
                        && old.record().result.is_some()
                        && old.record().setup.is_alike(&room.record().setup)
                })
            })
            .flatten()
            .map(Room::id);
        room.follows = before;
        self.rooms.insert(id, room);
        self.room_changed(id);
        if invited {
            let mut gone = control::InvitationGone { room_id: id.to_string(), ..Default::default() };
            gone.set_end(control::InvitationEnd::InvitationAccepted);
            self.invitation_gone(id, gone);
        }
        if let Some(before) = before {
            // The new room is sent first, so that a client can switch to it.
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
        // The error of the rules precedes the session's, because it tells what is wrong with the action. In a race the
        // record is not yet what this player acts on.
        if self.race(room).is_none() {
            room.may(action).map_err(|why| Refusal::illegal(why, action, room.game()))?;
        }
        let (ply, now) = (room.ply() + 1, Instant::now());
        if let Some(peer) = self.people.get_mut(&key) {
            peer.given = Some((id, ply, now));
        }
        self.drive(key, Input::Command(Command::Act { id, action })).map_err(Refusal::from)?;
        self.look_again(key);
        Ok(())
    }

    pub(crate) fn command(&mut self, key: PlayerId, command: Command) -> Result<(), Refusal> {
        self.drive(key, Input::Command(command)).map_err(Refusal::from)
    }

    // Requests of clients.

    pub(crate) fn compare(&mut self, who: &str, same: bool) -> Result<(), Refusal> {
        let key = self.player(who)?;
        if let Some(peer) = self.people.get_mut(&key).filter(|peer| peer.is_comparing()) {
            peer.interest = Interest::Waits;
        }
        self.command(key, Command::Compare { same })?;
        if let Some(comparison) = self.people.get_mut(&key).and_then(|peer| peer.comparison.as_mut()) {
            comparison.answered_here = true;
        }
        self.tell_comparison(key);
        Ok(())
    }

    pub(crate) fn set_advert_key(&mut self, advert_key: [u8; 32]) {
        self.profile.set_advert_key(advert_key);
        for peer in self.people.values_mut() {
            peer.session.set_advert_key(advert_key);
        }
    }

    /// Sends a chat message of the user to the peer of a room.
    pub(crate) fn say(&mut self, say: control::Say) -> Result<(), Refusal> {
        let bad = |what: &str| Refusal::new(RefusalCode::RefusalBadRequest, what);
        let id = self.room_id(&say.room_id)?;
        let room = &self.rooms[&id];
        let peer = room.peer();
        if peer.is_none() && !room.seats.iter().any(|seat| matches!(seat, Seat::Guest(_))) {
            return Err(bad("nobody else is in this room"));
        }
        let saying = match (say.phrase(), say.text.is_empty()) {
            (phrase, true) => Saying::Phrase(phrase),
            (Phrase::Unspecified, false) => Saying::Text(say.text),
            _ => return Err(bad("a phrase or a text, but not both")),
        };
        match peer {
            Some(key) => self.command(key, Command::Say { id, saying: saying.clone() })?,
            None => self.say_to_guests(id, &saying)?,
        }
        self.tell_said(id, true, saying, String::new());
        Ok(())
    }

    pub(crate) fn tell_said(&mut self, id: MatchId, mine: bool, saying: Saying, name: String) {
        let (phrase, text) = match saying {
            Saying::Phrase(phrase) => (phrase, String::new()),
            Saying::Text(text) => (Phrase::Unspecified, text),
        };
        self.tell(event::Body::Said(control::Said {
            room_id: id.to_string(),
            mine,
            phrase: phrase.into(),
            text,
            name,
        }));
    }

    /// The player that a client means, by player id or by the id of a nearby device.
    pub(crate) fn player(&self, who: &str) -> Result<PlayerId, Refusal> {
        let near = || self.nearby.get(who).and_then(|near| near.player);
        PlayerId::parse(who)
            .filter(|key| self.people.contains_key(key))
            .or_else(near)
            .filter(|key| self.people.contains_key(key))
            .ok_or_else(|| Refusal::new(RefusalCode::RefusalNoSuchPeer, "no such player"))
    }

    // Events for clients.

    pub(crate) fn people_events(&self) -> Vec<event::Body> {
        let comparisons =
            self.people.values().filter_map(|peer| peer.shown_comparison(self.names.shown(peer.key)));
        let invitations = self.invitations.ids().filter_map(|id| self.shown_invitation(id));
        comparisons.map(event::Body::Comparison).chain(invitations.map(event::Body::Invitation)).collect()
    }

    #[cfg(not(feature = "online"))]
    #[expect(clippy::unused_self, reason = "with online play it asks the account")]
    fn presence_of(&self, _account: &str) -> control::Presence {
        control::Presence::Unspecified
    }

    pub(crate) fn shown_friend(&self, peer: &Peer) -> Option<control::Friend> {
        let friend = peer.friend.as_ref()?;
        let id = peer.key.to_string();
        let near = self.nearby.get(&id);
        let account = self.people.account(peer.key);
        let carrier = peer.link.as_ref().map(|link| link.kind).or_else(|| near?.carriers().next());
        let presence = account.map_or(control::Presence::Unspecified, |account| self.presence_of(account));
        let is_online = !matches!(presence, control::Presence::Unspecified | control::Presence::Offline);
        let seen = unreached::Seen {
            is_there: near.is_some() || peer.link.is_some() || is_online,
            has_left: peer.left,
            has_account: account.is_some(),
        };
        Some(control::Friend {
            near: near.is_some() || peer.link.is_some(),
            carrier: carrier.map_or(control::Carrier::Unspecified, show::carrier).into(),
            id,
            name: self.names.shown(peer.key),
            connected: peer.session_up(),
            met_unix_ms: friend.met_unix_ms.try_into().unwrap_or(0),
            muted: friend.muted,
            note: friend.note.clone(),
            met_by: self.people.met_by(peer.key).unwrap_or_default().into(),
            presence: presence.into(),
            unreached: unreached::why(seen, self.means()).into(),
            account: account.cloned().unwrap_or_default(),
        })
    }
}

fn comparison_gone(key: PlayerId, end: ComparisonEnd) -> event::Body {
    event::Body::ComparisonGone(control::ComparisonGone { id: key.to_string(), end: end.into() })
}
