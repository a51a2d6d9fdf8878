//! Synchronising both records: the matches in the hellos, acknowledgements, whole records, and diverged records.
//!
//! Invariant: the journal is write-ahead, so no device forgets what it has sent. With equal revisions one list of actions
//! is therefore always a prefix of the other, since only the side to move may play; a newer revision comes from an offer
//! that the older side has in its journal. Any other difference (a restored backup, a lost journal, a lie) is not decided
//! here: both people are told.

use bytes::Bytes;
use engine::Side;
use proto::limits::HINTS;
use proto::peer;

use crate::cx::Cx;
use crate::match_state::{Reach, Standing};
use crate::{
    Entry, Event, Instant, MatchId, MatchRecord, MatchResult, MatchState, Pace, Refused, Violation, wire,
};

/// Up to this many missing actions are sent one by one, more as a whole record. Single actions are the common case (one or
/// two) and are refereed like play; many would approach the burst limit of frames, which closes a link.
const REST_BY_PLAYS: usize = 16;

/// One revision a second for a day: a record beyond this is forged. Within it the revision never overflows.
const MOST_REVISIONS: u32 = 86_400;

impl MatchState {
    /// Both hellos have arrived and the peer is a friend: synchronises the match.
    pub(crate) fn resume(&mut self, cx: &mut Cx<'_>, told: &[Told]) {
        let (id, before, settled) = (self.id(), self.standing(), self.settled);
        let here = told.iter().find(|told| told.id == id);
        if let Some(Told { standing, spent_ms, hints, .. }) = here {
            self.reach = Reach::Level;
            self.hear_hints(cx, *hints);
            self.learn(cx, *standing, true);
            self.level_clock(cx, standing, *spent_ms);
            // This device's hello was older, or left the match out.
            if self.is_level() && (settled || self.standing() != before) {
                self.send_ack(cx, false);
            }
        } else if settled {
            self.reach = Reach::Level;
            self.there = Some(before);
        } else {
            self.reach = Reach::Asked;
            self.send_record(cx);
        }
        let revision = self.revision();
        let there = here.map(|told| told.standing.revision);
        if there.is_some_and(|there| there < revision) {
            self.offer_waits = true;
        } else {
            let followed = told.iter().any(|told| self.is_followed_by(told.id));
            self.offer_again(cx, followed || there.is_some_and(|there| there > revision));
        }
        self.send_analysis(cx);
        cx.tell(Event::MatchChanged(id));
    }

    /// Adopts the peer's clock when the match comes into sync, or when the peer reports it while both clocks are stopped.
    pub(crate) fn level_clock(&mut self, cx: &mut Cx<'_>, there: &Standing, spent_ms: u32) {
        if (there.revision, there.ply) == (self.revision(), self.ply()) {
            self.hear_spent(cx, spent_ms);
        }
        self.clock_check(cx);
    }

    /// Handles a summary of the peer's record. `rest`: also sends what the peer lacks.
    pub(crate) fn learn(&mut self, cx: &mut Cx<'_>, there: Standing, rest: bool) {
        self.take_consent(cx, &there);
        let mine = self.standing();
        let (my_side, their_side) = (self.my_side(), self.their_side());
        let same_revision = there.revision == mine.revision;
        if there.revision > mine.revision {
            if self.would_agree(&there) && there.ply > mine.ply {
                // The own offer was accepted before or after an unseen action: the peer's record will carry the action.
                return self.send_ack(cx, true);
            }
            return self.differ(cx);
        }
        if same_revision && there.ply <= mine.ply && !self.begins_with(&there) {
            return self.differ(cx);
        }
        // A duplicate or late acknowledgement has no news.
        let stale = self.there.is_some_and(|known| {
            known.revision == there.revision
                && (known.ply > there.ply || known.ply == there.ply && there.result.is_none())
        });
        if same_revision && (rest || !stale && there.ply <= mine.ply) {
            self.there = Some(there);
        }
        if same_revision && there.paused != mine.paused && there.result.is_none() && mine.result.is_none() {
            return self.differ(cx);
        }
        match there.result {
            Some(result) if result.given_up_by() == Some(their_side) => {
                self.join_given_up(cx, result, there.ply);
            }
            Some(MatchResult::Resigned(_) | MatchResult::TimedOut(_))
                if same_revision && mine.result.is_none() =>
            {
                return self.differ(cx);
            }
            Some(MatchResult::DrawAgreed) if same_revision && mine.result != there.result => {
                return self.differ(cx);
            }
            Some(MatchResult::Played(_))
                if same_revision && there.ply == mine.ply && mine.result != there.result =>
            {
                return self.differ(cx);
            }
            Some(_) | None => {}
        }
        if rest {
            if same_revision {
                self.send_rest(cx, there.ply);
            }
            // A resignation is sent at any revision: the peer may still be about to adopt an accepted offer.
            let gave_up = self.result().filter(|mine| mine.given_up_by() == Some(my_side));
            if gave_up.is_some() && there.result != gave_up {
                self.send_given_up(cx);
            }
        }
        self.settle(cx);
        self.clock_check(cx);
    }

    /// Sends the actions after the first `ply`.
    fn send_rest(&mut self, cx: &mut Cx<'_>, ply: u32) {
        let rest: Vec<_> = self.line.rest(ply).collect();
        if rest.is_empty() {
            return;
        }
        let their_side = self.their_side();
        if self.is_race() && rest.iter().all(|(by, _)| *by != their_side) {
            let run = self.my_run();
            if rest.iter().map(|(_, action)| action).eq(&run) {
                return self.send_run(cx);
            }
        }
        // The peer would correctly reject its own actions: it has lost them, and its person has to be asked.
        if self.is_race() || rest.len() > REST_BY_PLAYS || rest.iter().any(|(by, _)| *by == their_side) {
            self.send_record(cx);
            return;
        }
        for (number, (_, action)) in (ply + 1..).zip(rest) {
            let mut play = self.play_message(number, action);
            if number == self.ply() && self.position().turn() == self.my_side() {
                play.spent_ms = self.line.spent_ms_at(cx.now);
            }
            cx.send_awaited(play);
        }
    }

    pub(crate) fn send_ack(&mut self, cx: &mut Cx<'_>, wants_rest: bool) {
        let ack = ack(point(self, cx.now), wants_rest);
        cx.send(ack);
    }

    pub(crate) fn received_ack(&mut self, cx: &mut Cx<'_>, ack: &peer::Ack) -> Result<(), Violation> {
        let id = self.id();
        let there = standing(ack.revision, ack.ply, ack.digest, ack.result.as_ref(), ack.paused)?;
        match self.reach {
            Reach::Away => {}
            Reach::Level => {
                let before = (self.there, self.result());
                let stood = !self.line.clock_runs();
                self.learn(cx, there, ack.wants_rest);
                if stood && (there.revision, there.ply) == (self.revision(), self.ply()) {
                    self.hear_spent(cx, ack.spent_ms);
                }
                if ack.wants_rest && there.revision < self.revision() {
                    self.send_record(cx);
                }
                if there.revision == self.revision() && std::mem::take(&mut self.offer_waits) {
                    self.offer_again(cx, false);
                }
                if (self.there, self.result()) != before {
                    cx.tell(Event::MatchChanged(id));
                }
            }
            // The peer has accepted the record.
            Reach::Asked => {
                self.reach = Reach::Level;
                self.learn(cx, there, true);
                self.level_clock(cx, &there, ack.spent_ms);
                self.send_analysis(cx);
                self.offer_again(cx, false);
                cx.tell(Event::MatchChanged(id));
            }
            Reach::Differs { .. } => {
                if there == self.standing() {
                    self.reach = Reach::Level;
                    self.there = Some(there);
                    self.settle(cx);
                    self.level_clock(cx, &there, ack.spent_ms);
                    self.offer_again(cx, false);
                    cx.tell(Event::MatchChanged(id));
                }
            }
        }
        Ok(())
    }

    fn send_record(&mut self, cx: &mut Cx<'_>) {
        // At most once per link: two devices must not answer records with records.
        if std::mem::replace(&mut self.record_sent, true) {
            return;
        }
        let message = record_message(self.record(), self.line.spent_ms_at(cx.now));
        cx.send_awaited(message);
    }

    /// Handles the peer's whole record of this match.
    pub(crate) fn received_record(
        &mut self,
        cx: &mut Cx<'_>,
        theirs: MatchState,
        spent_ms: u32,
    ) -> Result<(), Violation> {
        let (mine, told) = (self.record(), theirs.record());
        if mine.setup != told.setup || mine.my_side != told.my_side || mine.pace != told.pace {
            return Err(Violation::OutOfBounds("record"));
        }
        let there = theirs.standing();
        if let Some(taken) = told.hints {
            self.hear_hints(cx, taken[self.their_side().index()]);
        }
        self.compare_record(cx, theirs);
        self.record_came(cx, &there, spent_ms);
        Ok(())
    }

    /// Applies the rest of a record message, once the match is in sync.
    pub(crate) fn record_came(&mut self, cx: &mut Cx<'_>, there: &Standing, spent_ms: u32) {
        if self.is_level() {
            self.level_clock(cx, there, spent_ms);
            self.send_analysis(cx);
        }
    }

    /// Compares the peer's whole record with this one.
    fn compare_record(&mut self, cx: &mut Cx<'_>, theirs: MatchState) {
        let there = theirs.standing();
        if !self.take_agreed(cx, &theirs) {
            self.take_consent(cx, &there);
        }
        let mine = self.standing();
        let (my_side, their_side) = (self.my_side(), self.their_side());
        if there == mine {
            self.reach = Reach::Level;
            self.there = Some(there);
            self.settle(cx);
            self.send_ack(cx, false);
            cx.tell(Event::MatchChanged(self.id()));
            return;
        }
        let result_fits = match (mine.result, there.result) {
            (_, Some(theirs)) if theirs.given_up_by() == Some(my_side) => mine.result == there.result,
            (None, Some(MatchResult::DrawAgreed)) => false,
            (None, _) => true,
            (Some(mine), theirs) if mine.given_up_by() == Some(my_side) => {
                theirs != Some(MatchResult::DrawAgreed)
            }
            (Some(mine), theirs) => Some(mine) == theirs || there.ply < self.ply(),
        };
        let ours_first = theirs.begins_with(&mine);
        let only_theirs = theirs.line.rest(mine.ply).all(|(by, _)| by == their_side);
        let pause_differs = there.paused != mine.paused && there.result.is_none() && mine.result.is_none();
        if there.revision != mine.revision || !result_fits || pause_differs {
            self.differ_with(cx, theirs);
        } else if ours_first && only_theirs {
            self.reach = Reach::Level;
            if self.is_race() {
                let run: Vec<_> = theirs.line.rest(mine.ply).map(|(_, action)| action).collect();
                if !run.is_empty() {
                    self.take_run(cx, run);
                }
            }
            let mine = self.standing();
            for (ply, (_, action)) in (mine.ply..).zip(theirs.line.rest(mine.ply)) {
                let took = theirs.line.took(ply);
                let Ok(mv) = self.legal_move(their_side, action) else { break };
                if !self.line.has_time_for(took) {
                    break;
                }
                self.take_action(cx, action, mv, took);
            }
            self.learn(cx, there, true);
            if self.is_level() {
                self.send_ack(cx, false);
            }
        } else if self.begins_with(&there) && !(self.record_sent && rest_has(self, there.ply, their_side)) {
            self.reach = Reach::Level;
            self.learn(cx, there, true);
        } else {
            self.differ_with(cx, theirs);
        }
        let id = self.id();
        cx.tell(Event::MatchChanged(id));
    }

    /// The records have diverged and neither device may decide. Sends this record, so that both people can be told the
    /// length of the common prefix.
    fn differ(&mut self, cx: &mut Cx<'_>) {
        if !self.differs() {
            self.reach = Reach::Differs { theirs: None };
            self.my_offer = None;
        }
        let id = self.id();
        self.decline_theirs(cx);
        self.send_record(cx);
        cx.tell(Event::MatchChanged(id));
    }

    fn differ_with(&mut self, cx: &mut Cx<'_>, theirs: MatchState) {
        self.differ(cx);
        let id = self.id();
        let common = self.line.common(&theirs.record().actions);
        self.reach = Reach::Differs { theirs: Some(Box::new(theirs.record().clone())) };
        cx.tell(Event::RecordsDiffer { id, common });
    }

    /// This device's person gives way: adopts the peer's record.
    pub(crate) fn take_theirs(&mut self, cx: &mut Cx<'_>) -> Result<(), Refused> {
        let Reach::Differs { theirs: Some(theirs) } = &self.reach else {
            return Err(Refused::WrongPhase);
        };
        // In a race only this side decides what it has pressed.
        let (run, spent_ms) =
            if self.is_race() { (self.my_run(), self.line.spent_ms_at(cx.now)) } else { (Vec::new(), 0) };
        let hints = self.record().hints;
        let theirs = MatchRecord { spent_ms, run, hints, ..MatchRecord::clone(theirs) };
        let mut state = MatchState::new(theirs).map_err(|_| Refused::WrongPhase)?;
        state.reach = Reach::Level;
        state.there = Some(state.standing());
        state.last_offer = self.last_offer;
        state.last_offer_there = self.last_offer_there;
        *self = state;
        self.keep(cx, Entry::Replaced(self.record().clone()));
        self.settle(cx);
        self.send_ack(cx, false);
        cx.tell(Event::MatchChanged(self.id()));
        Ok(())
    }

    /// Marks a match as settled once it is known to be over on both devices.
    pub(crate) fn settle(&mut self, cx: &mut Cx<'_>) {
        let level = self.there == Some(self.standing());
        if level && self.result().is_some() && self.offered().is_none() && !self.settled {
            let id = self.id();
            self.keep(cx, Entry::Settled(id));
            self.settled = true;
        }
    }
}

/// Whether the actions after the first `ply` include a decision of `side`.
fn rest_has(state: &MatchState, ply: u32, side: Side) -> bool {
    state.line.rest(ply).any(|(by, _)| by == side)
}

/// A whole record as a message, with the time of the present action so far.
pub(crate) fn record_message(record: &MatchRecord, spent_ms: u32) -> peer::Record {
    peer::Record {
        match_id: wire::id_bytes(record.id),
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
        hints: record.hints.map(|[first, second]| peer::Hints { first, second }),
        account: String::new(),
    }
}

/// Makes a match of the peer's whole record, from this side's point of view.
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
        hints: record.hints.map(|taken| [taken.first, taken.second].map(|taken| taken.min(HINTS))),
        offered: None,
    })
    .map_err(|_| WRONG)?;
    if theirs.result() != result || record.revision > MOST_REVISIONS {
        return Err(WRONG);
    }
    Ok(theirs)
}

/// The summary of a match for a hello.
pub(crate) fn point(state: &MatchState, now: Instant) -> peer::ResumePoint {
    let Standing { revision, ply, digest, result, paused } = state.standing();
    peer::ResumePoint {
        match_id: wire::id_bytes(state.id()),
        ply,
        digest,
        revision,
        result: result.map(wire::result),
        paused,
        spent_ms: if result.is_none() { state.line.spent_ms_at(now) } else { 0 },
        hints: state.record().hints.map_or(0, |taken| taken[state.my_side().index()]),
    }
}

pub(crate) fn ack(point: peer::ResumePoint, wants_rest: bool) -> peer::Ack {
    let peer::ResumePoint { match_id, ply, digest, revision, result, paused, spent_ms, hints: _ } = point;
    peer::Ack { match_id, ply, digest, revision, result, wants_rest, paused, spent_ms }
}

/// The summary of a match in the peer's hello.
pub(crate) struct Told {
    id: MatchId,
    standing: Standing,
    spent_ms: u32,
    hints: u32,
}

/// The matches in a hello; each at most once.
pub(crate) fn read_points(hello: &peer::Hello) -> Result<Vec<Told>, Violation> {
    let mut told = Vec::new();
    for point in hello.matches.iter().take(proto::limits::RESUME_POINTS) {
        let id = read_id(&point.match_id)?;
        if told.iter().any(|other: &Told| other.id == id) {
            return Err(Violation::OutOfBounds("match id"));
        }
        let standing =
            standing(point.revision, point.ply, point.digest, point.result.as_ref(), point.paused)?;
        told.push(Told { id, standing, spent_ms: point.spent_ms, hints: point.hints });
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
    // A finished match is never paused, whatever was sent.
    Ok(Standing { revision, ply, digest, result, paused: paused && result.is_none() })
}

pub(crate) fn read_id(bytes: &[u8]) -> Result<MatchId, Violation> {
    bytes.try_into().map(MatchId).map_err(|_| Violation::OutOfBounds("id"))
}
