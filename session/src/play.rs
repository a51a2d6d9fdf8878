//! Actions, giving up, and time that is over. Whoever receives an action is its referee: turn, number, legality and digest are checked before
//! anything is written.

use std::time::Duration;

use engine::{Action, Side};
use proto::peer;

use crate::clock::{TOLERANCE, UNNOTICED};
use crate::cx::Cx;
use crate::match_state::Standing;
use crate::{Entry, Event, Instant, MatchResult, MatchState, Refused, Violation, resume, wire};

impl MatchState {
    pub(crate) fn act(&mut self, cx: &mut Cx<'_>, action: Action) -> Result<(), Refused> {
        let id = self.id();
        if self.is_race() {
            return self.press(cx, action);
        }
        self.check_can_act()?;
        let mv = self.legal_move(self.my_side(), action)?;
        let took_ms = self.line.spent_ms_at(cx.now);
        if !self.line.has_time_for(took_ms) {
            return Err(Refused::TimeOver);
        }
        // Playing on is an answer too. It goes out first, so that the peer never waits for one.
        self.decline_theirs(cx);
        self.push(action, mv, took_ms);
        let (ply, result) = (self.ply(), self.result());
        let took_ms = self.line.took(ply - 1);
        self.keep(cx, Entry::Acted { id, ply, action, took_ms, result });
        if self.is_level() {
            let play = self.play_message(ply, action);
            cx.send_awaited(play);
        }
        self.clock_check(cx);
        cx.tell(Event::MatchChanged(id));
        Ok(())
    }

    pub(crate) fn play_message(&self, ply: u32, action: Action) -> peer::Play {
        peer::Play {
            match_id: resume::id_bytes(self.id()),
            ply,
            action: Some(wire::action(action)),
            thought_ms: self.line.took(ply - 1),
            digest: self.line.digest_at(ply).unwrap_or_default(),
            revision: self.revision(),
            spent_ms: 0,
        }
    }

    pub(crate) fn received_play(&mut self, cx: &mut Cx<'_>, play: &peer::Play) -> Result<(), Violation> {
        let action = wire::read_action(play.action.as_ref()).map_err(|_| Violation::OutOfBounds("action"))?;
        let bad = Violation::BadPlay { ply: play.ply };
        // A match that is not level is brought level by its record, not by single actions.
        if !self.is_level() {
            return Ok(());
        }
        if self.is_race() {
            return Err(bad);
        }
        if play.revision < self.revision() {
            // It was on its way when an offer of the peer's was accepted here; the peer's record is cut by the answer.
            return Ok(());
        }
        if play.revision > self.revision() {
            return Err(bad);
        }
        let ply = self.ply();
        if play.ply <= ply {
            if play.ply == 0 || self.line.digest_at(play.ply) != Some(play.digest) {
                return Err(bad);
            }
            // Sent twice.
            self.send_ack(cx, false);
            return Ok(());
        }
        if play.ply > ply + 1 {
            self.send_ack(cx, true);
            return Ok(());
        }
        if !self.counts(play.ply) || !self.line.has_time_for(play.thought_ms) {
            return Err(bad);
        }
        let mv = self.legal_move(self.their_side(), action).map_err(|_| bad.clone())?;
        if self.line.digest_with(action) != play.digest {
            return Err(bad);
        }
        self.check_measure(cx, play.thought_ms);
        let told = self.there.filter(|there| there.revision == self.revision());
        self.take_action(cx, action, mv, play.thought_ms);
        self.taken(cx, told);
        if play.spent_ms > 0 {
            self.hear_spent(cx, play.spent_ms);
        }
        Ok(())
    }

    /// What the peer played is written down. `told`: how its record stood before, as far as it has said.
    pub(crate) fn taken(&mut self, cx: &mut Cx<'_>, told: Option<Standing>) {
        if told.is_none_or(|told| told.ply <= self.ply()) {
            // That this side gave up, the peer may not know yet.
            let unknown = |result: &MatchResult| result.given_up_by() == Some(self.my_side());
            let known = told.is_some_and(|told| told.result.as_ref().is_some_and(unknown));
            let result = self.result().filter(|result| !unknown(result) || known);
            self.there = Some(Standing { result, ..self.standing() });
        }
        self.settle(cx);
        self.send_ack(cx, false);
        self.clock_check(cx);
    }

    /// The peer's own measure of its action beside what was seen here.
    fn check_measure(&mut self, cx: &mut Cx<'_>, said_ms: u32) {
        let said = Duration::from_millis(said_ms.into());
        let half_way = cx.half_round_trip;
        let tolerance = if self.interrupted { TOLERANCE + UNNOTICED } else { TOLERANCE };
        let seen = self.line.spent_at(cx.now).saturating_sub(half_way);
        if (self.line.clock_runs() || self.interrupted) && seen.abs_diff(said) > tolerance && !self.doubted {
            cx.tell(Event::ClocksDiffer { id: self.id(), said, seen });
        }
    }

    /// Writes down an action of the peer's that was found legal.
    pub(crate) fn take_action(&mut self, cx: &mut Cx<'_>, action: Action, mv: engine::AnyMove, took_ms: u32) {
        self.push(action, mv, took_ms);
        let (id, ply, result) = (self.id(), self.ply(), self.result());
        let took_ms = self.line.took(ply - 1);
        self.keep(cx, Entry::Acted { id, ply, action, took_ms, result });
        // Who plays on no longer asks to go back.
        if self.their_offer.is_some_and(|offer| offer.kind == crate::OfferKind::TakeBack) {
            self.decline_theirs(cx);
        }
        self.decline_pointless(cx);
        cx.tell(Event::MatchChanged(id));
    }

    pub(crate) fn resign(&mut self, cx: &mut Cx<'_>) -> Result<(), Refused> {
        if !self.can_resign() {
            return Err(Refused::WrongPhase);
        }
        self.lose(cx, MatchResult::Resigned(self.my_side()));
        Ok(())
    }

    /// This side has lost by its own doing.
    fn lose(&mut self, cx: &mut Cx<'_>, result: MatchResult) {
        self.decline_theirs(cx);
        self.stop_clock(cx);
        let (id, revision) = (self.id(), self.revision());
        self.set_result(revision, result);
        self.keep(cx, Entry::Ended { id, revision, result });
        if self.is_level() {
            self.send_given_up(cx);
        }
        cx.tell(Event::MatchChanged(id));
    }

    /// Tells that this side has given up, or that its time was over.
    pub(crate) fn send_given_up(&mut self, cx: &mut Cx<'_>) {
        let (match_id, ply, revision) = (resume::id_bytes(self.id()), self.ply(), self.revision());
        if matches!(self.result(), Some(MatchResult::TimedOut(_))) {
            cx.send_awaited(peer::Flag { match_id, ply, revision });
        } else {
            cx.send_awaited(peer::Resign { match_id, ply, revision });
        }
    }

    pub(crate) fn received_resign(
        &mut self,
        cx: &mut Cx<'_>,
        resign: &peer::Resign,
    ) -> Result<(), Violation> {
        let result = MatchResult::Resigned(self.their_side());
        self.given_up_there(cx, resign.ply, resign.revision, result)
    }

    pub(crate) fn received_flag(&mut self, cx: &mut Cx<'_>, flag: &peer::Flag) -> Result<(), Violation> {
        if self.record().pace.is_none() {
            return Err(Violation::OutOfBounds("flag"));
        }
        let result = MatchResult::TimedOut(self.their_side());
        self.given_up_there(cx, flag.ply, flag.revision, result)
    }

    fn given_up_there(
        &mut self,
        cx: &mut Cx<'_>,
        ply: u32,
        revision: u32,
        result: MatchResult,
    ) -> Result<(), Violation> {
        if !self.is_level() {
            return Ok(());
        }
        // An older revision is fine: giving up outlives a take back that was accepted here in the meantime.
        if self.offered().is_some() && revision == self.revision().saturating_add(1) {
            // The peer has agreed to something and given up since: both come with its record, which was asked for.
            return Ok(());
        }
        if revision > self.revision() {
            return Err(Violation::OutOfBounds("revision"));
        }
        let shown = ply.min(self.ply());
        self.join_given_up(cx, result, shown);
        if revision == self.revision() && ply == self.ply() && self.there.is_some() {
            self.there = Some(Standing { result: Some(result), paused: false, ..self.standing() });
        }
        self.settle(cx);
        self.send_ack(cx, false);
        Ok(())
    }

    /// The peer has given up, or its time was over, with so many actions in its record. Whoever learns what in whatever order
    /// comes to the same result: the rules' own end goes before giving up, an agreed draw (which has a newer revision) too, and
    /// if both have given up, the first side has.
    pub(crate) fn join_given_up(&mut self, cx: &mut Cx<'_>, result: MatchResult, ply: u32) {
        self.gave_up_at = ply;
        let gives_way = match self.result() {
            None => true,
            Some(mine) => {
                mine.given_up_by() == Some(Side::Second) && result.given_up_by() == Some(Side::First)
            }
        };
        if !gives_way {
            return;
        }
        self.stop_clock(cx);
        let (id, revision) = (self.id(), self.revision());
        self.set_result(revision, result);
        self.keep(cx, Entry::Ended { id, revision, result });
        self.decline_pointless(cx);
        cx.tell(Event::MatchChanged(id));
    }

    // Clocks.

    /// Starts or stops the clock of a match, whichever is due.
    pub(crate) fn clock_check(&mut self, cx: &mut Cx<'_>) {
        self.race_check(cx);
        let half_way = cx.half_round_trip;
        match (self.clock_should_run(), self.line.clock_runs()) {
            (true, false) => {
                // What tells that the peer has the position was on its way for half a round trip.
                let mine = self.is_race() || self.position().turn() == self.my_side();
                let ago = if mine { Duration::ZERO } else { half_way };
                self.line.start_clock(Instant(cx.now.0.saturating_sub(ago)));
                self.line.enters_phase(cx.now);
            }
            (false, true) => self.stop_clock(cx),
            _ => {}
        }
    }

    /// Stops the clock, if it runs, and writes down what it shows.
    pub(crate) fn stop_clock(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now;
        self.unwatch(now);
        if self.result().is_some() {
            self.line.forget_clock();
        } else if self.line.clock_runs() {
            let (id, spent_ms) = (self.id(), self.line.halt_clock(cx.now));
            self.keep(cx, Entry::Spent { id, spent_ms });
        }
    }

    /// Both stand at the same action, and the clock here stands or has started just now: the word of whoever has the turn counts.
    pub(crate) fn hear_spent(&mut self, cx: &mut Cx<'_>, spent_ms: u32) {
        let now = cx.now;
        let theirs = self.record().pace.is_some() && self.position().turn() == self.their_side();
        if !theirs || self.result().is_some() {
            return;
        }
        let (said, seen) = (Duration::from_millis(spent_ms.into()), self.line.spent_at(now));
        let id = self.id();
        let doubt = seen.abs_diff(said) > TOLERANCE + UNNOTICED && !self.doubted;
        self.set_spent(spent_ms);
        self.doubted |= doubt;
        if doubt {
            cx.tell(Event::ClocksDiffer { id, said, seen });
        }
    }

    /// What has come about by time alone: this side's time is over, or a clock shows something else.
    pub(crate) fn clock_due(&mut self, cx: &mut Cx<'_>) {
        if self.is_race() && self.is_level() {
            return self.race_check(cx);
        }
        if !self.line.clock_runs() {
            return;
        }
        let (id, mine) = (self.id(), self.position().turn() == self.my_side());
        match self.line.overtime(cx.now) {
            Some(_) if mine => self.lose(cx, MatchResult::TimedOut(self.my_side())),
            // Its device has not said so, and is not away.
            Some(beyond) if beyond > TOLERANCE + UNNOTICED && !self.doubted => {
                let seen = self.line.spent_at(cx.now);
                self.doubted = true;
                cx.tell(Event::ClocksDiffer { id, said: seen.saturating_sub(beyond), seen });
            }
            _ if self.line.enters_phase(cx.now) => cx.tell(Event::MatchChanged(id)),
            _ => {}
        }
    }

    /// When `clock_due` has something again, or a clock shows something else. `now`: of the last input.
    pub(crate) fn next_clock(&self, now: Instant) -> Option<Instant> {
        let change = || {
            self.line.clock_runs().then_some(())?;
            match self.line.overtime(now) {
                None => self.line.clock_change(now).map(|left| now + left),
                // A drop can stop the clock just at its end: then it falls as soon as it runs again.
                Some(_) if !self.is_race() && self.position().turn() == self.my_side() => Some(now),
                Some(beyond) if !self.doubted => {
                    Some(now + (TOLERANCE + UNNOTICED + Duration::from_millis(1)).saturating_sub(beyond))
                }
                Some(_) => None,
            }
        };
        [change(), self.next_race(now)].into_iter().flatten().min()
    }
}
