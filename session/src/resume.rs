//! Bringing both records level: what hellos tell of matches, acknowledgements, whole records, and what happens when records
//! have gone different ways.
//!
//! What makes this safe: everything is in the journal before it is sent, so no device forgets what it said. With equal
//! revisions one list of actions is then always a beginning of the other, since only the side to move may play; a newer
//! revision comes from an offer that the older side has written down. Whatever else is found (a restored backup, a lost
//! journal, a lie) is not decided here: both people are told.

use bytes::Bytes;
use engine::Side;
use proto::peer;

use crate::match_state::{Reach, Standing};
use crate::offers::Following;
use crate::session::Session;
use crate::{
    Entry, Event, Instant, MatchId, MatchRecord, MatchResult, MatchState, Pace, Refused, Violation, wire,
};

/// Missing actions are sent one by one up to this many, more as a whole record. One by one is the common case (one or two)
/// and is refereed like play; many would come near the burst of frames that closes a link.
const REST_BY_PLAYS: usize = 16;

/// A record that two people have revised more often than once a second for a day was made up; what counts up from here
/// does not overflow.
const MOST_REVISIONS: u32 = 86_400;

impl Session {
    /// Both hellos are here, and the strings are known to be the same: brings every match level.
    pub(crate) fn resume(&mut self, told: &[Told]) {
        for index in 0..self.matches.len() {
            let id = self.matches[index].id();
            let before = self.matches[index].standing();
            let settled = self.matches[index].settled;
            if let Some(Told { standing, spent_ms, .. }) = told.iter().find(|told| told.id == id) {
                self.matches[index].reach = Reach::Level;
                self.learn(index, *standing, true);
                self.level_clock(index, standing, *spent_ms);
                // Our hello told of an older state, or left the match out.
                if self.matches[index].is_level() && (settled || self.matches[index].standing() != before) {
                    self.send_ack(index, false);
                }
            } else if settled {
                self.matches[index].reach = Reach::Level;
                self.matches[index].there = Some(before);
            } else {
                self.matches[index].reach = Reach::Asked;
                self.send_record(index);
            }
            let revision = self.matches[index].revision();
            let there = told.iter().find(|told| told.id == id).map(|told| told.standing.revision);
            if there.is_some_and(|there| there < revision) {
                self.matches[index].offer_waits = true;
            } else {
                let followed = told.iter().any(|told| self.matches[index].is_followed_by(told.id));
                self.offer_again(index, followed || there.is_some_and(|there| there > revision));
            }
            self.send_analysis(index);
            self.tell(Event::MatchChanged(id));
        }
        self.invitations_again();
    }

    /// The match has come level, or the peer has said how its clock stands at a moment in which both clocks stand.
    fn level_clock(&mut self, index: usize, there: &Standing, spent_ms: u32) {
        let state = &self.matches[index];
        if (there.revision, there.ply) == (state.revision(), state.ply()) {
            self.hear_spent(index, spent_ms);
        }
        self.clock_check(index);
    }

    /// Takes in how the peer's record stands. `rest`: and sends what the peer lacks.
    pub(crate) fn learn(&mut self, index: usize, there: Standing, rest: bool) {
        self.take_consent(index, &there);
        let state = &mut self.matches[index];
        let mine = state.standing();
        let (my_side, their_side) = (state.my_side(), state.their_side());
        let same_revision = there.revision == mine.revision;
        if there.revision > mine.revision {
            if state.would_agree(&there) && there.ply > mine.ply {
                // Our offer was accepted before or after an action that we have not seen: it comes with the record.
                return self.send_ack(index, true);
            }
            return self.differ(index);
        }
        if same_revision && there.ply <= mine.ply && !state.begins_with(&there) {
            return self.differ(index);
        }
        // An acknowledgement that comes twice, the second time late, says nothing new.
        let stale = state.there.is_some_and(|known| {
            known.revision == there.revision
                && (known.ply > there.ply || known.ply == there.ply && there.result.is_none())
        });
        if same_revision && (rest || !stale && there.ply <= mine.ply) {
            state.there = Some(there);
        }
        if same_revision && there.paused != mine.paused && there.result.is_none() && mine.result.is_none() {
            return self.differ(index);
        }
        match there.result {
            Some(result) if result.given_up_by() == Some(their_side) => {
                self.join_given_up(index, result, there.ply);
            }
            Some(MatchResult::Resigned(_) | MatchResult::TimedOut(_))
                if same_revision && mine.result.is_none() =>
            {
                return self.differ(index);
            }
            Some(MatchResult::DrawAgreed) if same_revision && mine.result != there.result => {
                return self.differ(index);
            }
            Some(MatchResult::Played(_))
                if same_revision && there.ply == mine.ply && mine.result != there.result =>
            {
                return self.differ(index);
            }
            Some(_) | None => {}
        }
        if rest {
            if same_revision {
                self.send_rest(index, there.ply);
            }
            // Giving up is told whatever the revision: the peer may still be about to take over what was agreed.
            let gave_up = self.matches[index].result().filter(|mine| mine.given_up_by() == Some(my_side));
            if gave_up.is_some() && there.result != gave_up {
                self.send_given_up(index);
            }
        }
        self.settle(index);
        self.clock_check(index);
    }

    /// Sends what comes after the first `ply` actions.
    fn send_rest(&mut self, index: usize, ply: u32) {
        let state = &self.matches[index];
        let rest: Vec<_> = state.rest(ply).collect();
        if rest.is_empty() {
            return;
        }
        let their_side = state.their_side();
        if state.is_race() && rest.iter().all(|(by, _)| *by != their_side) {
            let run = state.my_run();
            if rest.iter().map(|(_, action)| action).eq(&run) {
                return self.send_run(index);
            }
        }
        // The peer would rightly refuse to be sent its own actions: it has lost them, and its person has to be asked.
        if state.is_race() || rest.len() > REST_BY_PLAYS || rest.iter().any(|(by, _)| *by == their_side) {
            self.send_record(index);
            return;
        }
        for (number, (_, action)) in (ply + 1..).zip(rest) {
            let mut play = self.play_message(index, number, action);
            let state = &self.matches[index];
            if number == state.ply() && state.position().turn() == state.my_side() {
                play.spent_ms = state.spent_ms_at(self.now);
            }
            self.send_awaited(play);
        }
    }

    pub(crate) fn send_ack(&mut self, index: usize, wants_rest: bool) {
        let state = &self.matches[index];
        let ack = ack(point(state, self.now), wants_rest);
        self.send(ack);
    }

    pub(crate) fn received_ack(&mut self, ack: peer::Ack) -> Result<(), Violation> {
        let id = read_id(&ack.match_id)?;
        let there = standing(ack.revision, ack.ply, ack.digest, ack.result.as_ref(), ack.paused)?;
        let Some(index) = self.index_of(id) else { return Ok(()) };
        let state = &mut self.matches[index];
        match state.reach {
            Reach::Away => {}
            Reach::Level => {
                let before = (state.there, state.result());
                let stood = !state.clock_runs();
                self.learn(index, there, ack.wants_rest);
                let state = &self.matches[index];
                if stood && (there.revision, there.ply) == (state.revision(), state.ply()) {
                    self.hear_spent(index, ack.spent_ms);
                }
                if ack.wants_rest && there.revision < self.matches[index].revision() {
                    self.send_record(index);
                }
                let state = &mut self.matches[index];
                if there.revision == state.revision() && std::mem::take(&mut state.offer_waits) {
                    self.offer_again(index, false);
                }
                let state = &self.matches[index];
                if (state.there, state.result()) != before {
                    self.tell(Event::MatchChanged(id));
                }
            }
            // The peer has taken the record that it was sent.
            Reach::Asked => {
                state.reach = Reach::Level;
                self.learn(index, there, true);
                self.level_clock(index, &there, ack.spent_ms);
                self.send_analysis(index);
                self.offer_again(index, false);
                self.tell(Event::MatchChanged(id));
            }
            Reach::Differs { .. } => {
                if there == state.standing() {
                    state.reach = Reach::Level;
                    state.there = Some(there);
                    self.settle(index);
                    self.level_clock(index, &there, ack.spent_ms);
                    self.offer_again(index, false);
                    self.tell(Event::MatchChanged(id));
                }
            }
        }
        Ok(())
    }

    fn send_record(&mut self, index: usize) {
        let state = &mut self.matches[index];
        // Once on each link: two devices must not answer records with records.
        if std::mem::replace(&mut state.record_sent, true) {
            return;
        }
        let message = record_message(state.record(), state.spent_ms_at(self.now));
        self.send_awaited(message);
    }

    pub(crate) fn received_record(&mut self, record: peer::Record) -> Result<(), Violation> {
        const WRONG: Violation = Violation::OutOfBounds("record");
        let theirs = read_record(&record)?;
        let id = theirs.id();
        let reveal = match &record.reveal[..] {
            [] => None,
            bytes => Some(bytes.try_into().map_err(|_| WRONG)?),
        };
        let there = theirs.standing();
        match self.index_of(id) {
            Some(index) => {
                let mine = self.matches[index].record();
                let theirs_record = theirs.record();
                if mine.setup != theirs_record.setup
                    || mine.my_side != theirs_record.my_side
                    || mine.pace != theirs_record.pace
                {
                    return Err(WRONG);
                }
                self.compare_record(index, theirs);
            }
            None => match self.invitations.drawn(theirs.record(), reveal) {
                Some(true) => self.adopt(theirs.record().clone()),
                Some(false) => {
                    self.drawing_cheated(id);
                    return Err(Violation::BadReveal);
                }
                None => self.unknown_record(theirs),
            },
        }
        if let Some(index) = self.index_of(id).filter(|index| self.matches[*index].is_level()) {
            self.level_clock(index, &there, record.spent_ms);
            self.send_analysis(index);
        }
        Ok(())
    }

    /// The peer's journal holds a match that ours does not.
    fn unknown_record(&mut self, theirs: MatchState) {
        let id = theirs.id();
        // What has actions of this device's was not merely accepted there: this device has forgotten it.
        let untouched = theirs.decided_by().all(|by| by != theirs.my_side()) && theirs.revision() == 0;
        let follows = self.matches.iter().find(|before| {
            before.my_offer().filter(|kind| kind.begins_another()).is_some_and(|kind| {
                let (new, theirs) = (before.new_game(kind), theirs.record());
                new.id == id
                    && new.setup == theirs.setup
                    && new.my_side == theirs.my_side
                    && new.pace == theirs.pace
            })
        });
        let follows = follows.map(MatchState::id);
        if let Some(before) = follows.filter(|_| untouched) {
            self.begin_following(Following { before, record: theirs.record().clone(), answers: None });
        } else if untouched && self.invitations.asked_for(theirs.record()) {
            self.adopt(theirs.record().clone());
        } else if theirs.result().is_some() {
            // Over and unknown: settled here and put away, or never heard of. Either way there is nothing left to play. Only what
            // this device has asked for or accepted is kept: a peer could fill the journal with matches that it lost.
            let gave_up = theirs.result().and_then(MatchResult::given_up_by);
            if untouched && gave_up == Some(theirs.their_side()) && self.invitations.take_promise(id) {
                self.save(Entry::Learned(theirs.record().clone()));
            }
            let ack = ack(point(&theirs, self.now), false);
            self.send(ack);
        } else if !self.invitations.considers(id) {
            self.consider_continued(theirs.record().clone());
        }
    }

    /// The peer's whole record beside ours.
    fn compare_record(&mut self, index: usize, theirs: MatchState) {
        let there = theirs.standing();
        if !self.take_agreed(index, &theirs) {
            self.take_consent(index, &there);
        }
        let state = &self.matches[index];
        let mine = state.standing();
        let (my_side, their_side) = (state.my_side(), state.their_side());
        if there == mine {
            self.matches[index].reach = Reach::Level;
            self.matches[index].there = Some(there);
            self.settle(index);
            self.send_ack(index, false);
            self.tell(Event::MatchChanged(state_id(self, index)));
            return;
        }
        let result_fits = match (mine.result, there.result) {
            (_, Some(theirs)) if theirs.given_up_by() == Some(my_side) => mine.result == there.result,
            (None, Some(MatchResult::DrawAgreed)) => false,
            (None, _) => true,
            (Some(mine), theirs) if mine.given_up_by() == Some(my_side) => {
                theirs != Some(MatchResult::DrawAgreed)
            }
            (Some(mine), theirs) => Some(mine) == theirs || there.ply < state.ply(),
        };
        let ours_first = theirs.begins_with(&mine);
        let only_theirs = theirs.rest(mine.ply).all(|(by, _)| by == their_side);
        let pause_differs = there.paused != mine.paused && there.result.is_none() && mine.result.is_none();
        if there.revision != mine.revision || !result_fits || pause_differs {
            self.differ_with(index, theirs);
        } else if ours_first && only_theirs {
            self.matches[index].reach = Reach::Level;
            if self.matches[index].is_race() {
                let run: Vec<_> = theirs.rest(mine.ply).map(|(_, action)| action).collect();
                if !run.is_empty() {
                    self.take_run(index, run);
                }
            }
            let mine = self.matches[index].standing();
            for (ply, (_, action)) in (mine.ply..).zip(theirs.rest(mine.ply)) {
                let took = theirs.took(ply);
                let Ok(mv) = self.matches[index].legal_move(their_side, action) else { break };
                if !self.matches[index].has_time_for(took) {
                    break;
                }
                self.take_action(index, action, mv, took);
            }
            self.learn(index, there, true);
            if self.matches[index].is_level() {
                self.send_ack(index, false);
            }
        } else if state.begins_with(&there) && !(state.record_sent && rest_has(state, there.ply, their_side))
        {
            self.matches[index].reach = Reach::Level;
            self.learn(index, there, true);
        } else {
            self.differ_with(index, theirs);
        }
        let id = self.matches[index].id();
        self.tell(Event::MatchChanged(id));
    }

    /// Neither device may decide which record holds. The peer is sent ours, so that both people can be told how far the
    /// records are the same.
    fn differ(&mut self, index: usize) {
        let state = &mut self.matches[index];
        if !state.differs() {
            state.reach = Reach::Differs { theirs: None };
            state.my_offer = None;
        }
        let id = state.id();
        self.decline_theirs(index);
        self.send_record(index);
        self.tell(Event::MatchChanged(id));
    }

    fn differ_with(&mut self, index: usize, theirs: MatchState) {
        self.differ(index);
        let state = &mut self.matches[index];
        let id = state.id();
        let common = state.common(&theirs.record().actions);
        state.reach = Reach::Differs { theirs: Some(Box::new(theirs.record().clone())) };
        self.tell(Event::RecordsDiffer { id, common });
    }

    /// The person here gives way.
    pub(crate) fn take_theirs(&mut self, id: MatchId) -> Result<(), Refused> {
        let index = self.index_of(id).ok_or(Refused::NoSuchMatch)?;
        let Reach::Differs { theirs: Some(theirs) } = &self.matches[index].reach else {
            return Err(Refused::WrongPhase);
        };
        // What was pressed here in a race is this side's alone to say.
        let before = &self.matches[index];
        let (run, spent_ms) = (before.my_run(), before.spent_ms_at(self.now));
        let (run, spent_ms) = if before.is_race() { (run, spent_ms) } else { (Vec::new(), 0) };
        let theirs = MatchRecord { spent_ms, run, ..MatchRecord::clone(theirs) };
        let mut state = MatchState::new(theirs).map_err(|_| Refused::WrongPhase)?;
        state.reach = Reach::Level;
        state.there = Some(state.standing());
        state.last_offer = self.matches[index].last_offer;
        state.last_offer_there = self.matches[index].last_offer_there;
        self.save(Entry::Replaced(state.record().clone()));
        self.matches[index] = state;
        self.settle(index);
        self.send_ack(index, false);
        self.tell(Event::MatchChanged(id));
        Ok(())
    }

    /// Notes that a match is over on both devices, once that is known.
    pub(crate) fn settle(&mut self, index: usize) {
        let state = &mut self.matches[index];
        let level = state.there == Some(state.standing());
        if level && state.result().is_some() && state.offered().is_none() && !state.settled {
            let id = state.id();
            self.save(Entry::Settled(id));
            self.matches[index].settled = true;
        }
    }
}

fn state_id(session: &Session, index: usize) -> MatchId {
    session.matches[index].id()
}

/// Whether the actions after the first `ply` hold a decision of this side's.
fn rest_has(state: &MatchState, ply: u32, side: Side) -> bool {
    state.rest(ply).any(|(by, _)| by == side)
}

/// A whole record as it is sent, with what the present action has taken so far.
pub(crate) fn record_message(record: &MatchRecord, spent_ms: u32) -> peer::Record {
    peer::Record {
        match_id: id_bytes(record.id),
        setup: Some(wire::setup(&record.setup)),
        sender_side: wire::side(record.my_side).into(),
        revision: record.revision,
        actions: wire::pack_actions(&record.actions).into(),
        result: record.result.map(wire::result),
        pace: Pace::write(record.pace),
        times: wire::pack_times(&record.times).into(),
        paused: record.paused,
        reveal: record.reveal.map_or_else(Bytes::new, |reveal| Bytes::copy_from_slice(&reveal)),
        spent_ms,
    }
}

/// The match that the peer's whole record makes, seen from this side.
pub(crate) fn read_record(record: &peer::Record) -> Result<MatchState, Violation> {
    const WRONG: Violation = Violation::OutOfBounds("record");
    let their_side = wire::read_side(record.sender_side).map_err(|_| WRONG)?;
    let result = record.result.as_ref().map(wire::read_result).transpose().map_err(|_| WRONG)?;
    let actions = wire::unpack_actions(&record.actions).map_err(|_| WRONG)?;
    let pace = Pace::read(record.pace.as_ref()).map_err(|_| WRONG)?;
    let timed = if pace.is_some() { actions.len() } else { 0 };
    let theirs = MatchState::new(MatchRecord {
        id: read_id(&record.match_id)?,
        setup: wire::read_peer_setup(record.setup.as_ref()).map_err(|_| WRONG)?,
        my_side: their_side.other(),
        times: wire::unpack_times(&record.times, timed).map_err(|_| WRONG)?,
        actions,
        revision: record.revision,
        result,
        pace,
        paused: record.paused,
        spent_ms: 0,
        run: Vec::new(),
        reveal: None,
        offered: None,
    })
    .map_err(|_| WRONG)?;
    if theirs.result() != result || record.revision > MOST_REVISIONS {
        return Err(WRONG);
    }
    Ok(theirs)
}

/// A match as a hello tells it.
pub(crate) fn point(state: &MatchState, now: Instant) -> peer::ResumePoint {
    let Standing { revision, ply, digest, result, paused } = state.standing();
    peer::ResumePoint {
        match_id: id_bytes(state.id()),
        ply,
        digest,
        revision,
        result: result.map(wire::result),
        paused,
        spent_ms: if result.is_none() { state.spent_ms_at(now) } else { 0 },
    }
}

fn ack(point: peer::ResumePoint, wants_rest: bool) -> peer::Ack {
    let peer::ResumePoint { match_id, ply, digest, revision, result, paused, spent_ms } = point;
    peer::Ack { match_id, ply, digest, revision, result, wants_rest, paused, spent_ms }
}

/// A match as the peer's hello tells it.
pub(crate) struct Told {
    id: MatchId,
    standing: Standing,
    spent_ms: u32,
}

/// The matches that a hello tells; each at most once.
pub(crate) fn read_points(hello: &peer::Hello) -> Result<Vec<Told>, Violation> {
    let mut told = Vec::new();
    for point in hello.matches.iter().take(proto::limits::RESUME_POINTS) {
        let id = read_id(&point.match_id)?;
        if told.iter().any(|other: &Told| other.id == id) {
            return Err(Violation::OutOfBounds("match id"));
        }
        let standing =
            standing(point.revision, point.ply, point.digest, point.result.as_ref(), point.paused)?;
        told.push(Told { id, standing, spent_ms: point.spent_ms });
    }
    Ok(told)
}

fn standing(
    revision: u32,
    ply: u32,
    digest: u64,
    result: Option<&proto::board::Result>,
    paused: bool,
) -> Result<Standing, Violation> {
    let result = result.map(wire::read_result).transpose().map_err(|_| Violation::OutOfBounds("result"))?;
    // What is over is not paused, whatever was.
    Ok(Standing { revision, ply, digest, result, paused: paused && result.is_none() })
}

pub(crate) fn id_bytes(id: MatchId) -> Bytes {
    Bytes::copy_from_slice(&id.0)
}

pub(crate) fn read_id(bytes: &[u8]) -> Result<MatchId, Violation> {
    bytes.try_into().map(MatchId).map_err(|_| Violation::OutOfBounds("id"))
}
