//! Actions, giving up, and time that is over. Whoever receives an action is its referee: turn, number, legality and digest are checked before
//! anything is written.

use std::time::Duration;

use engine::{Action, Side};
use proto::peer;

use crate::clock::{TOLERANCE, UNNOTICED};
use crate::match_state::{Standing, Unplayable};
use crate::session::Session;
use crate::{
    Entry, Event, Instant, MatchId, MatchRecord, MatchResult, MatchState, Refused, Settled, Violation,
    resume, wire,
};

impl Session {
    /// Puts back a match from the journal.
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
                self.add_match(state);
                if let Some(result) = result
                    && !ended
                {
                    self.save(Entry::Ended { id, revision, result });
                }
            }
            Err(Unplayable) => self.tell(Event::RecordUnreadable(id)),
        }
    }

    pub(crate) fn act(&mut self, id: MatchId, action: Action) -> Result<(), Refused> {
        let index = self.index_of(id).ok_or(Refused::NoSuchMatch)?;
        let state = &self.matches[index];
        if state.is_race() {
            return self.press(index, action);
        }
        state.check_can_act()?;
        let mv = state.legal_move(state.my_side(), action)?;
        let took_ms = state.spent_ms_at(self.now);
        if !state.has_time_for(took_ms) {
            return Err(Refused::TimeOver);
        }
        // Playing on is an answer too. It goes out first, so that the peer never waits for one.
        self.decline_theirs(index);
        let state = &mut self.matches[index];
        state.push(action, mv, took_ms);
        let (ply, result) = (state.ply(), state.result());
        let took_ms = state.took(ply - 1);
        self.save(Entry::Acted { id, ply, action, took_ms, result });
        if self.matches[index].is_level() {
            let play = self.play_message(index, ply, action);
            self.send_awaited(play);
        }
        self.clock_check(index);
        self.tell(Event::MatchChanged(id));
        Ok(())
    }

    pub(crate) fn play_message(&self, index: usize, ply: u32, action: Action) -> peer::Play {
        let state = &self.matches[index];
        peer::Play {
            match_id: resume::id_bytes(state.id()),
            ply,
            action: Some(wire::action(action)),
            thought_ms: state.took(ply - 1),
            digest: state.digest_at(ply).unwrap_or_default(),
            revision: state.revision(),
            spent_ms: 0,
        }
    }

    pub(crate) fn received_play(&mut self, play: peer::Play) -> Result<(), Violation> {
        let id = resume::read_id(&play.match_id)?;
        let action = wire::read_action(play.action.as_ref()).map_err(|_| Violation::OutOfBounds("action"))?;
        let bad = Violation::BadPlay { ply: play.ply };
        // A match that is not level is brought level by its record, not by single actions.
        let Some(index) = self.index_of(id).filter(|index| self.matches[*index].is_level()) else {
            return Ok(());
        };
        let state = &self.matches[index];
        if state.is_race() {
            return Err(bad);
        }
        if play.revision < state.revision() {
            // It was on its way when an offer of the peer's was accepted here; the peer's record is cut by the answer.
            return Ok(());
        }
        if play.revision > state.revision() {
            return Err(bad);
        }
        let ply = state.ply();
        if play.ply <= ply {
            if play.ply == 0 || state.digest_at(play.ply) != Some(play.digest) {
                return Err(bad);
            }
            // Sent twice.
            self.send_ack(index, false);
            return Ok(());
        }
        if play.ply > ply + 1 {
            self.send_ack(index, true);
            return Ok(());
        }
        if !state.counts(play.ply) || !state.has_time_for(play.thought_ms) {
            return Err(bad);
        }
        let mv = state.legal_move(state.their_side(), action).map_err(|_| bad.clone())?;
        if state.digest_with(action) != play.digest {
            return Err(bad);
        }
        self.check_measure(index, play.thought_ms);
        let state = &self.matches[index];
        let told = state.there.filter(|there| there.revision == state.revision());
        self.take_action(index, action, mv, play.thought_ms);
        self.taken(index, told);
        if play.spent_ms > 0 {
            self.hear_spent(index, play.spent_ms);
        }
        Ok(())
    }

    /// What the peer played is written down. `told`: how its record stood before, as far as it has said.
    pub(crate) fn taken(&mut self, index: usize, told: Option<Standing>) {
        let state = &mut self.matches[index];
        if told.is_none_or(|told| told.ply <= state.ply()) {
            // That this side gave up, the peer may not know yet.
            let unknown = |result: &MatchResult| result.given_up_by() == Some(state.my_side());
            let known = told.is_some_and(|told| told.result.as_ref().is_some_and(unknown));
            let result = state.result().filter(|result| !unknown(result) || known);
            state.there = Some(Standing { result, ..state.standing() });
        }
        self.settle(index);
        self.send_ack(index, false);
        self.clock_check(index);
    }

    /// The peer's own measure of its action beside what was seen here.
    fn check_measure(&mut self, index: usize, said_ms: u32) {
        let state = &self.matches[index];
        let said = Duration::from_millis(said_ms.into());
        let half_way = self.round_trip().unwrap_or_default() / 2;
        let tolerance = if state.interrupted { TOLERANCE + UNNOTICED } else { TOLERANCE };
        let seen = state.spent_at(self.now).saturating_sub(half_way);
        if (state.clock_runs() || state.interrupted) && seen.abs_diff(said) > tolerance && !state.doubted {
            self.tell(Event::ClocksDiffer { id: state.id(), said, seen });
        }
    }

    /// Writes down an action of the peer's that was found legal.
    pub(crate) fn take_action(&mut self, index: usize, action: Action, mv: engine::AnyMove, took_ms: u32) {
        let state = &mut self.matches[index];
        state.push(action, mv, took_ms);
        let (id, ply, result) = (state.id(), state.ply(), state.result());
        let took_ms = state.took(ply - 1);
        self.save(Entry::Acted { id, ply, action, took_ms, result });
        // Who plays on no longer asks to go back.
        if self.matches[index].their_offer.is_some_and(|offer| offer.kind == crate::OfferKind::TakeBack) {
            self.decline_theirs(index);
        }
        self.decline_pointless(index);
        self.tell(Event::MatchChanged(id));
    }

    pub(crate) fn resign(&mut self, id: MatchId) -> Result<(), Refused> {
        let index = self.index_of(id).ok_or(Refused::NoSuchMatch)?;
        if !self.matches[index].can_resign() {
            return Err(Refused::WrongPhase);
        }
        self.lose(index, MatchResult::Resigned(self.matches[index].my_side()));
        Ok(())
    }

    /// This side has lost by its own doing.
    fn lose(&mut self, index: usize, result: MatchResult) {
        self.decline_theirs(index);
        self.stop_clock(index);
        let state = &mut self.matches[index];
        let (id, revision) = (state.id(), state.revision());
        state.set_result(revision, result);
        self.save(Entry::Ended { id, revision, result });
        if self.matches[index].is_level() {
            self.send_given_up(index);
        }
        self.tell(Event::MatchChanged(id));
    }

    /// Tells that this side has given up, or that its time was over.
    pub(crate) fn send_given_up(&mut self, index: usize) {
        let state = &self.matches[index];
        let (match_id, ply, revision) = (resume::id_bytes(state.id()), state.ply(), state.revision());
        if matches!(state.result(), Some(MatchResult::TimedOut(_))) {
            self.send_awaited(peer::Flag { match_id, ply, revision });
        } else {
            self.send_awaited(peer::Resign { match_id, ply, revision });
        }
    }

    pub(crate) fn received_resign(&mut self, resign: peer::Resign) -> Result<(), Violation> {
        let side = |state: &MatchState| MatchResult::Resigned(state.their_side());
        self.given_up_there(&resign.match_id, resign.ply, resign.revision, side)
    }

    pub(crate) fn received_flag(&mut self, flag: peer::Flag) -> Result<(), Violation> {
        let id = resume::read_id(&flag.match_id)?;
        if self.match_state(id).is_some_and(|state| state.record().pace.is_none()) {
            return Err(Violation::OutOfBounds("flag"));
        }
        let side = |state: &MatchState| MatchResult::TimedOut(state.their_side());
        self.given_up_there(&flag.match_id, flag.ply, flag.revision, side)
    }

    fn given_up_there(
        &mut self,
        id: &[u8],
        ply: u32,
        revision: u32,
        result: impl Fn(&MatchState) -> MatchResult,
    ) -> Result<(), Violation> {
        let id = resume::read_id(id)?;
        let Some(index) = self.index_of(id).filter(|index| self.matches[*index].is_level()) else {
            return Ok(());
        };
        // An older revision is fine: giving up outlives a take back that was accepted here in the meantime.
        let state = &self.matches[index];
        if state.offered().is_some() && revision == state.revision().saturating_add(1) {
            // The peer has agreed to something and given up since: both come with its record, which was asked for.
            return Ok(());
        }
        if revision > self.matches[index].revision() {
            return Err(Violation::OutOfBounds("revision"));
        }
        let result = result(&self.matches[index]);
        let shown = ply.min(self.matches[index].ply());
        self.join_given_up(index, result, shown);
        let state = &mut self.matches[index];
        if revision == state.revision() && ply == state.ply() && state.there.is_some() {
            state.there = Some(Standing { result: Some(result), paused: false, ..state.standing() });
        }
        self.settle(index);
        self.send_ack(index, false);
        Ok(())
    }

    /// The peer has given up, or its time was over, with so many actions in its record. Whoever learns what in whatever order
    /// comes to the same result: the rules' own end goes before giving up, an agreed draw (which has a newer revision) too, and
    /// if both have given up, the first side has.
    pub(crate) fn join_given_up(&mut self, index: usize, result: MatchResult, ply: u32) {
        let state = &mut self.matches[index];
        state.gave_up_at = ply;
        let gives_way = match state.result() {
            None => true,
            Some(mine) => {
                mine.given_up_by() == Some(Side::Second) && result.given_up_by() == Some(Side::First)
            }
        };
        if !gives_way {
            return;
        }
        self.stop_clock(index);
        let state = &mut self.matches[index];
        let (id, revision) = (state.id(), state.revision());
        state.set_result(revision, result);
        self.save(Entry::Ended { id, revision, result });
        self.decline_pointless(index);
        self.tell(Event::MatchChanged(id));
    }

    // Clocks.

    /// Starts or stops the clock of a match, whichever is due.
    pub(crate) fn clock_check(&mut self, index: usize) {
        self.race_check(index);
        let half_way = self.round_trip().unwrap_or_default() / 2;
        let state = &mut self.matches[index];
        match (state.clock_should_run(), state.clock_runs()) {
            (true, false) => {
                // What tells that the peer has the position was on its way for half a round trip.
                let mine = state.is_race() || state.position().turn() == state.my_side();
                let ago = if mine { Duration::ZERO } else { half_way };
                state.start_clock(Instant(self.now.0.saturating_sub(ago)));
                state.enters_phase(self.now);
            }
            (false, true) => self.stop_clock(index),
            _ => {}
        }
    }

    /// Stops the clock, if it runs, and writes down what it shows.
    pub(crate) fn stop_clock(&mut self, index: usize) {
        let now = self.now;
        let state = &mut self.matches[index];
        state.unwatch(now);
        if state.result().is_some() {
            state.forget_clock();
        } else if state.clock_runs() {
            let (id, spent_ms) = (state.id(), state.stop_clock(self.now));
            self.save(Entry::Spent { id, spent_ms });
        }
    }

    /// Both stand at the same action, and the clock here stands or has started just now: the word of whoever has the turn counts.
    pub(crate) fn hear_spent(&mut self, index: usize, spent_ms: u32) {
        let now = self.now;
        let state = &mut self.matches[index];
        let theirs = state.record().pace.is_some() && state.position().turn() == state.their_side();
        if !theirs || state.result().is_some() {
            return;
        }
        let (said, seen) = (Duration::from_millis(spent_ms.into()), state.spent_at(now));
        let id = state.id();
        let doubt = seen.abs_diff(said) > TOLERANCE + UNNOTICED && !state.doubted;
        state.set_spent(spent_ms);
        state.doubted |= doubt;
        if doubt {
            self.tell(Event::ClocksDiffer { id, said, seen });
        }
    }

    /// What has come about by time alone: this side's time is over, or a clock shows something else.
    pub(crate) fn clocks_due(&mut self) {
        for index in 0..self.matches.len() {
            let state = &self.matches[index];
            if state.is_race() && state.is_level() {
                self.race_check(index);
                continue;
            }
            if !state.clock_runs() {
                continue;
            }
            let (id, mine) = (state.id(), state.position().turn() == state.my_side());
            match state.overtime(self.now) {
                Some(_) if mine => self.lose(index, MatchResult::TimedOut(self.matches[index].my_side())),
                // Its device has not said so, and is not away.
                Some(beyond) if beyond > TOLERANCE + UNNOTICED && !state.doubted => {
                    let seen = state.spent_at(self.now);
                    self.matches[index].doubted = true;
                    self.tell(Event::ClocksDiffer { id, said: seen.saturating_sub(beyond), seen });
                }
                _ if self.matches[index].enters_phase(self.now) => self.tell(Event::MatchChanged(id)),
                _ => {}
            }
        }
    }

    /// When `clocks_due` has something again, or a clock shows something else. `now`: of the last input.
    pub(crate) fn next_clock(&self) -> Option<Instant> {
        let change = |state: &MatchState| {
            state.clock_runs().then_some(())?;
            match state.overtime(self.now) {
                None => state.clock_change(self.now).map(|left| self.now + left),
                // A drop can stop the clock just at its end: then it falls as soon as it runs again.
                Some(_) if !state.is_race() && state.position().turn() == state.my_side() => Some(self.now),
                Some(beyond) if !state.doubted => {
                    Some(self.now + (TOLERANCE + UNNOTICED + Duration::from_millis(1)).saturating_sub(beyond))
                }
                Some(_) => None,
            }
        };
        let races = self.matches.iter().filter_map(|state| self.next_race(state));
        self.matches.iter().filter_map(change).chain(races).min()
    }
}
