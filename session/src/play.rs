//! Actions, resignation, and flag falls. The receiver of an action is its referee: it checks turn, number, legality and digest
//! before anything is written.

use std::time::Duration;

use engine::{Action, Side};
use proto::peer;

use crate::clock::{TOLERANCE, UNNOTICED};
use crate::cx::Cx;
use crate::match_state::Standing;
use crate::{Entry, Event, Instant, MatchResult, MatchState, Refused, Violation, wire};

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
        // Playing on declines an open offer. The answer goes first, so that the peer never waits for one.
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
            match_id: wire::id_bytes(self.id()),
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
        // Outside of sync the record arrives as a whole, not action by action.
        if !self.is_level() {
            return Ok(());
        }
        if self.is_race() {
            return Err(bad);
        }
        if play.revision < self.revision() {
            // In flight when this side accepted an offer of the peer; the answer truncates the peer's record.
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
            // A duplicate.
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

    /// Records an action of the peer. `told`: the summary of its record before the action, as far as sent.
    pub(crate) fn taken(&mut self, cx: &mut Cx<'_>, told: Option<Standing>) {
        if told.is_none_or(|told| told.ply <= self.ply()) {
            // The peer may not know of this side's resignation.
            let unknown = |result: &MatchResult| result.given_up_by() == Some(self.my_side());
            let known = told.is_some_and(|told| told.result.as_ref().is_some_and(unknown));
            let result = self.result().filter(|result| !unknown(result) || known);
            self.there = Some(Standing { result, ..self.standing() });
        }
        self.settle(cx);
        self.send_ack(cx, false);
        self.clock_check(cx);
    }

    /// Compares the time that the peer reports for its action with this device's measurement.
    fn check_measure(&mut self, cx: &mut Cx<'_>, said_ms: u32) {
        let said = Duration::from_millis(said_ms.into());
        let half_way = cx.half_round_trip;
        let tolerance = if self.interrupted { TOLERANCE + UNNOTICED } else { TOLERANCE };
        let seen = self.line.spent_at(cx.now).saturating_sub(half_way);
        if (self.line.clock_runs() || self.interrupted) && seen.abs_diff(said) > tolerance && !self.doubted {
            cx.tell(Event::ClocksDiffer { id: self.id(), said, seen });
        }
    }

    /// Records a legal action of the peer.
    pub(crate) fn take_action(&mut self, cx: &mut Cx<'_>, action: Action, mv: engine::AnyMove, took_ms: u32) {
        self.push(action, mv, took_ms);
        let (id, ply, result) = (self.id(), self.ply(), self.result());
        let took_ms = self.line.took(ply - 1);
        self.keep(cx, Entry::Acted { id, ply, action, took_ms, result });
        // An action after a take back offer withdraws the offer.
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

    /// This side loses by resignation or on time.
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

    /// Sends that this side has resigned or lost on time.
    pub(crate) fn send_given_up(&mut self, cx: &mut Cx<'_>) {
        let (match_id, ply, revision) = (wire::id_bytes(self.id()), self.ply(), self.revision());
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
        // An older revision is valid: a resignation outlives a take back that was accepted here in the meantime.
        if self.offered().is_some() && revision == self.revision().saturating_add(1) {
            // The peer has accepted an offer and resigned since: its requested record carries both.
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

    /// The peer has resigned or lost on time, with `ply` actions in its record. The result is independent of the order of
    /// messages: an end by the rules precedes a resignation, so does an agreed draw (which has a newer revision), and if both
    /// have resigned, the first side's resignation counts.
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

    /// Starts or stops the clock of a match, as needed.
    pub(crate) fn clock_check(&mut self, cx: &mut Cx<'_>) {
        self.race_check(cx);
        let half_way = cx.half_round_trip;
        match (self.clock_should_run(), self.line.clock_runs()) {
            (true, false) => {
                // The message showing that the peer has the position was in flight for half a round trip.
                let mine = self.is_race() || self.position().turn() == self.my_side();
                let ago = if mine { Duration::ZERO } else { half_way };
                self.line.start_clock(Instant(cx.now.0.saturating_sub(ago)));
                self.line.enters_phase(cx.now);
            }
            (false, true) => self.stop_clock(cx),
            _ => {}
        }
    }

    /// Stops a running clock and records its time in the journal.
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

    /// Both sides have the same record, and the clock here is stopped or has only just started: the value of the side to move
    /// counts.
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

    /// Handles timers: this side's flag falls, or a displayed clock changes.
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
            // The peer's device has not reported its flag, and is connected.
            Some(beyond) if beyond > TOLERANCE + UNNOTICED && !self.doubted => {
                let seen = self.line.spent_at(cx.now);
                self.doubted = true;
                cx.tell(Event::ClocksDiffer { id, said: seen.saturating_sub(beyond), seen });
            }
            _ if self.line.enters_phase(cx.now) => cx.tell(Event::MatchChanged(id)),
            _ => {}
        }
    }

    /// When `clock_due` is to be called, or a displayed clock changes. `now`: the time of the last input.
    pub(crate) fn next_clock(&self, now: Instant) -> Option<Instant> {
        let change = || {
            self.line.clock_runs().then_some(())?;
            match self.line.overtime(now) {
                None => self.line.clock_change(now).map(|left| now + left),
                // A drop can stop the clock exactly at its end: the flag falls when the clock runs again.
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
