//! The matches of a session: the list, the room for more, and the start of follow-up matches.

use proto::peer;

use crate::cx::Cx;
use crate::invitation::{Around, Begin, Invitations};
use crate::line::Unplayable;
use crate::match_state::Reach;
use crate::offers::{Following, answer_offer};
use crate::resume::{self, Told};
use crate::session::{KEPT_SETTLED, Link, Session};
use crate::{
    Entry, Event, Instant, MatchId, MatchRecord, MatchResult, MatchState, OfferKind, Refused, Settled,
    Violation, wire,
};

impl Session {
    pub(crate) fn index_of(&self, id: MatchId) -> Option<usize> {
        self.matches.iter().position(|state| state.id() == id)
    }

    /// Runs a transition of one match.
    pub(crate) fn step<T>(
        &mut self,
        index: usize,
        step: impl FnOnce(&mut MatchState, &mut Cx<'_>) -> T,
    ) -> T {
        let half_round_trip = self.liveness.round_trip().unwrap_or_default() / 2;
        let Self { matches, effects, liveness, buckets, now, .. } = self;
        let analyses = &mut buckets.analyses;
        step(&mut matches[index], &mut Cx { now: *now, half_round_trip, effects, liveness, analyses })
    }

    /// Runs a transition of each match.
    pub(crate) fn each(&mut self, mut step: impl FnMut(&mut MatchState, &mut Cx<'_>)) {
        for index in 0..self.matches.len() {
            self.step(index, &mut step);
        }
    }

    /// Handles a message about one match. A message about an unknown match is ignored.
    pub(crate) fn about<T: Default>(
        &mut self,
        id: &[u8],
        step: impl FnOnce(&mut MatchState, &mut Cx<'_>) -> Result<T, Violation>,
    ) -> Result<T, Violation> {
        let id = resume::read_id(id)?;
        self.index_of(id).map_or(Ok(T::default()), |index| self.step(index, step))
    }

    /// Handles a command about one match.
    pub(crate) fn with<T>(
        &mut self,
        id: MatchId,
        step: impl FnOnce(&mut MatchState, &mut Cx<'_>) -> Result<T, Refused>,
    ) -> Result<T, Refused> {
        let index = self.index_of(id).ok_or(Refused::NoSuchMatch)?;
        self.step(index, step)
    }

    /// Restores a match from the journal.
    pub(crate) fn restore(&mut self, record: MatchRecord, settled: Settled) {
        let id = record.id;
        let ended = record.result.is_some();
        match MatchState::new(record) {
            Ok(mut state) => {
                let result = state.result();
                let revision = state.revision();
                state.settled = settled && ended;
                let before = self.matches.iter_mut().find(|other| other.is_followed_by(id));
                if let Some(before) = before {
                    before.followed = true;
                }
                let index = self.add_match(state);
                if let Some(result) = result
                    && !ended
                {
                    self.step(index, |state, cx| state.keep(cx, Entry::Ended { id, revision, result }));
                }
            }
            Err(Unplayable) => self.tell(Event::RecordUnreadable(id)),
        }
    }

    /// Adds a match, and drops the oldest settled ones beyond the limit. A match with an open offer stays: somebody waits for the
    /// answer.
    fn add_match(&mut self, state: MatchState) -> usize {
        self.matches.retain(|other| other.id() != state.id());
        self.matches.push(state);
        let may_go = |state: &MatchState| state.settled && state.their_offer.is_none();
        let mut surplus =
            self.matches.iter().filter(|state| may_go(state)).count().saturating_sub(KEPT_SETTLED);
        self.matches.retain(|state| {
            let dropped = may_go(state) && surplus > 0;
            surplus -= usize::from(dropped);
            !dropped
        });
        self.matches.len() - 1
    }

    /// Whether there is room for one more match.
    pub(crate) fn has_room(&self) -> bool {
        self.invitations.has_room_beside(&self.matches)
    }

    /// Runs a transition of the invitations.
    pub(crate) fn invitations<T>(&mut self, step: impl FnOnce(&mut Invitations, &mut Around<'_>) -> T) -> T {
        let link_is_up = matches!(self.link, Link::Up);
        let Self {
            invitations, matches, effects, nonces, peer_games, peer_capabilities, buckets, now, ..
        } = self;
        let around = &mut Around {
            now: *now,
            link_is_up,
            peer_games,
            peer_capabilities: *peer_capabilities,
            matches,
            nonces,
            invites: &mut buckets.invites,
            effects,
        };
        step(invitations, around)
    }

    /// Begins the match that results from an invitation.
    pub(crate) fn begin_agreed(&mut self, begin: Option<Begin>) {
        match begin {
            None => {}
            Some(Begin::Adopted(record)) => self.adopt(record),
            Some(Begin::Accepted(record)) => {
                let id = record.id;
                if let Some(index) = self.begin(record) {
                    self.invitations(|_, cx| cx.accepted(id));
                    self.step(index, MatchState::clock_check);
                }
            }
            Some(Begin::Drawn(record)) => {
                if let Some(index) = self.begin(record) {
                    self.step(index, |state, cx| {
                        state.send_reveal(cx);
                        state.clock_check(cx);
                    });
                }
            }
            Some(Begin::Continued(record)) => {
                if let Some(index) = self.begin(record)
                    && self.matches[index].is_level()
                {
                    self.step(index, MatchState::ask_for_rest);
                }
            }
            Some(Begin::Already(id)) => {
                if let Some(index) = self.index_of(id) {
                    self.step(index, MatchState::send_reveal);
                }
            }
        }
    }

    /// Adopts a match that the peer has begun.
    pub(crate) fn adopt(&mut self, record: MatchRecord) {
        if let Some(index) = self.begin(record) {
            self.step(index, |state, cx| {
                state.begun_there(cx);
                state.clock_check(cx);
            });
        }
    }

    /// Writes a match to the journal and adds it to the session. `None` if it cannot be played, which the caller has excluded.
    pub(crate) fn begin(&mut self, record: MatchRecord) -> Option<usize> {
        let state = self.write_down(record)?;
        Some(self.take_in(state))
    }

    /// Queues the journal entry of a new match.
    fn write_down(&mut self, record: MatchRecord) -> Option<MatchState> {
        self.invitations.began(record.id);
        let mut state = MatchState::new(record).ok()?;
        // A match accepted while the peer is away is announced in the next hello.
        if matches!(self.link, Link::Up) {
            state.reach = Reach::Level;
        }
        if let Some(index) = self.index_of(state.id()) {
            self.matches[index].settled = false;
        }
        self.effects.keep(Entry::Began(state.record().clone()));
        Some(state)
    }

    /// Adds a match that is in the journal, which may drop others.
    fn take_in(&mut self, state: MatchState) -> usize {
        let id = state.id();
        let index = self.add_match(state);
        self.tell(Event::MatchChanged(id));
        index
    }

    pub(crate) fn offer(&mut self, id: MatchId, kind: OfferKind) -> Result<(), Refused> {
        let index = self.index_of(id).ok_or(Refused::NoSuchMatch)?;
        let state = &self.matches[index];
        state.check_can_offer(kind)?;
        if kind.begins_another() {
            let (accepts, new) = (state.their_offer() == Some(kind), state.new_game(kind).id);
            if !self.has_room() {
                return Err(Refused::TooManyMatches);
            }
            if !accepts {
                self.invitations.promise(&mut self.effects, new);
            }
        }
        let following = self.step(index, |state, cx| state.offer(cx, kind))?;
        self.follow(following);
        Ok(())
    }

    pub(crate) fn answer_offer(&mut self, id: MatchId, accept: bool) -> Result<(), Refused> {
        let index = self.index_of(id).ok_or(Refused::NoSuchMatch)?;
        let kind = self.matches[index].their_offer().ok_or(Refused::NoSuchOffer)?;
        if accept && kind.begins_another() && !self.has_room() {
            return Err(Refused::TooManyMatches);
        }
        let following = self.step(index, |state, cx| state.answer_offer(cx, accept))?;
        self.follow(following);
        Ok(())
    }

    pub(crate) fn received_offer(&mut self, offer: &peer::Offer) -> Result<(), Violation> {
        let id = resume::read_id(&offer.match_id)?;
        if let Some(index) = self.index_of(id) {
            return self.step(index, |state, cx| state.received_offer(cx, offer));
        }
        let declined = peer::OfferAnswer {
            match_id: wire::id_bytes(id),
            offer_id: offer.offer_id,
            ..peer::OfferAnswer::default()
        };
        self.send(declined);
        Ok(())
    }

    pub(crate) fn received_offer_answer(&mut self, answer: &peer::OfferAnswer) -> Result<(), Violation> {
        let following = self.about(&answer.match_id, |state, cx| state.received_offer_answer(cx, answer))?;
        self.follow(following);
        Ok(())
    }

    fn follow(&mut self, following: Option<Following>) {
        if let Some(following) = following {
            self.begin_following(following);
        }
    }

    /// Begins the match that follows another. The session may drop the earlier match before this returns.
    fn begin_following(&mut self, following: Following) {
        let Following { before, record, answers } = following;
        let begun = self.write_down(record);
        let accepted = begun.is_some();
        if let Some(index) = self.index_of(before) {
            self.step(index, |state, cx| {
                // The journal entry precedes the message to the peer; the message precedes the dropping of old matches.
                if let Some((offer, ply, revision)) = answers {
                    answer_offer(cx, before, offer.id, Some((ply, revision)).filter(|_| accepted));
                }
                if accepted {
                    state.new_game_began(cx);
                }
            });
        }
        let Some(state) = begun else { return };
        if let Some((offer, ..)) = answers {
            self.tell(Event::OfferEnded { id: before, kind: offer.kind, mine: false, accepted: true });
        }
        let index = self.take_in(state);
        self.step(index, |state, cx| {
            if answers.is_none() {
                state.begun_there(cx);
            }
            state.clock_check(cx);
        });
    }

    /// Both hellos have arrived and the peer is a friend: synchronises every match.
    pub(crate) fn resume(&mut self, told: &[Told]) {
        self.invitations(Invitations::send_withdrawn);
        self.each(|state, cx| state.resume(cx, told));
        // The old link may have lost it.
        self.invitations(Invitations::send_invitation);
    }

    pub(crate) fn received_record(&mut self, record: &peer::Record) -> Result<(), Violation> {
        const WRONG: Violation = Violation::OutOfBounds("record");
        // Checked before unpacking and replaying the record, which are the expensive part.
        if !self.buckets.records.take(self.now) {
            return Ok(());
        }
        let theirs = resume::read_record(record)?;
        let id = theirs.id();
        let reveal = match &record.reveal[..] {
            [] => None,
            bytes => Some(bytes.try_into().map_err(|_| WRONG)?),
        };
        if let Some(index) = self.index_of(id) {
            return self.step(index, |state, cx| state.received_record(cx, theirs, record.spent_ms));
        }
        let there = theirs.standing();
        match self.invitations.drawn(theirs.record(), reveal) {
            Some(true) => self.adopt(theirs.record().clone()),
            Some(false) => {
                self.invitations(|invitations, cx| invitations.drawing_cheated(cx, id));
                return Err(Violation::BadReveal);
            }
            None => self.unknown_record(theirs),
        }
        if let Some(index) = self.index_of(id) {
            self.step(index, |state, cx| state.record_came(cx, &there, record.spent_ms));
        }
        Ok(())
    }

    /// Handles a match that the peer's journal has and this device's lacks.
    fn unknown_record(&mut self, theirs: MatchState) {
        let id = theirs.id();
        // A match with actions of this device was not merely accepted by the peer: this device has lost it.
        let untouched = theirs.decided_by().all(|by| by != theirs.my_side()) && theirs.revision() == 0;
        let follows = self.matches.iter().find(|before| before.asked_for_new_game(theirs.record()));
        let follows = follows.map(MatchState::id);
        if let Some(before) = follows.filter(|_| untouched) {
            self.begin_following(Following { before, record: theirs.record().clone(), answers: None });
        } else if untouched && self.invitations.asked_for(theirs.record()) {
            self.adopt(theirs.record().clone());
        } else if theirs.result().is_some() {
            // A finished, unknown match: settled and archived here, or never seen. Nothing is left to play. Such a match is kept
            // only if this device has requested or accepted it: otherwise a peer could fill the journal with lost matches.
            let gave_up = theirs.result().and_then(MatchResult::given_up_by);
            if untouched && gave_up == Some(theirs.their_side()) && self.invitations.take_promise(id) {
                self.effects.keep(Entry::Learned(theirs.record().clone()));
            }
            self.invitations(|invitations, cx| invitations.ended_there(cx, id));
            let ack = resume::ack(resume::point(&theirs, self.now), false);
            self.send(ack);
        } else if !self.invitations.considers(id) {
            let record = theirs.record().clone();
            self.invitations(|invitations, cx| invitations.consider_continued(cx, record));
        }
    }

    /// When the next timer of a match is due. `now`: the time of the last input.
    pub(crate) fn next_clock(&self) -> Option<Instant> {
        self.matches.iter().filter_map(|state| state.next_clock(self.now)).min()
    }
}
