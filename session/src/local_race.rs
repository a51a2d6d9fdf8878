//! A race of Lights Out whose both sides are decided on this device: a person here and a guest, or two guests.
//!
//! As between two devices ([`crate::race`]) the record holds whole runs, the first side's before the second's. Until then the
//! presses of both stand in [`crate::MatchRecord::run`], in the order in which they were made: the first side's as
//! [`Action::Press`], the second's as [`Action::Toggle`], which no race has otherwise. Both sides have one clock, because both
//! runs begin at the same time and stand still at the same times.

use std::time::Duration;

use engine::lights_out::{LightsOut, LightsOutSetup, Run};
use engine::{Action, AnyGame, Game as _, IllegalAction, Point, Side};

use crate::local::{LocalMatch, Undone};
use crate::{Entry, Instant, Journal, MatchRecord, MatchResult, Race, Refused, Unplayable};

/// Both boards, beside the record.
#[derive(Clone)]
pub(crate) struct LocalRacing {
    sides: [Racer; 2],
}

#[derive(Clone)]
struct Racer {
    board: LightsOut,
    /// The presses, and [`Action::Done`] at the end.
    run: Vec<Action>,
}

impl Racer {
    fn ended(&self) -> Option<Run> {
        let Some(Action::Done(tenths)) = self.run.last() else { return None };
        let finished = self.board.outcome().is_some();
        Some(Run { presses: self.board.presses(), tenths: *tenths, finished })
    }

    fn take(&mut self, action: Action) -> Result<(), IllegalAction> {
        if let Action::Press(_) = action {
            let mv = self.board.legal_move(action)?;
            self.board.play(mv);
        }
        self.run.push(action);
        Ok(())
    }
}

/// As the run of the journal has it.
fn kept(side: Side, action: Action) -> Action {
    match (side, action) {
        (Side::Second, Action::Press(at)) => Action::Toggle(at),
        (_, action) => action,
    }
}

impl LocalRacing {
    /// `None` for a match that is no race.
    pub(crate) fn new(record: &MatchRecord, game: &AnyGame) -> Result<Option<Self>, Unplayable> {
        let AnyGame::LightsOut(race) = game else { return Ok(None) };
        if !race.setup().race {
            return Ok(None);
        }
        let board = LightsOut::new(&race.setup().alone()).map_err(|_| Unplayable)?;
        let racer = || Racer { board: board.clone(), run: Vec::new() };
        let mut racing = Self { sides: [racer(), racer()] };
        let in_record = race.runs().map(|run| run.is_some());
        let mut side = Side::First;
        for action in &record.actions {
            racing.sides[side.index()].take(*action).map_err(|_| Unplayable)?;
            if matches!(action, Action::Done(_)) {
                side = Side::Second;
            }
        }
        for action in &record.run {
            let (side, action) = match *action {
                Action::Press(at) => (Side::First, Action::Press(at)),
                Action::Toggle(at) => (Side::Second, Action::Press(at)),
                done => (Side::Second, done),
            };
            // What has entered the record is there already.
            if !in_record[side.index()] {
                racing.sides[side.index()].take(action).map_err(|_| Unplayable)?;
            }
        }
        Ok(Some(racing))
    }

    fn goes_on(&self) -> bool {
        self.sides.iter().any(|racer| racer.ended().is_none())
    }
}

fn tenths(time: Duration) -> u32 {
    u32::try_from(time.as_millis() / 100).unwrap_or(u32::MAX).min(LightsOutSetup::RACE_TENTHS)
}

impl LocalMatch {
    /// The race from this side's point of view; `None` if the match is no race.
    pub fn race(&self, side: Side, now: Instant) -> Option<Race> {
        let racing = self.racing.as_ref()?;
        let [mine, theirs] = [side, side.other()].map(|side| &racing.sides[side.index()]);
        let run = mine.ended();
        let time = |run: Run| Duration::from_millis(u64::from(run.tenths) * 100);
        Some(Race {
            board: AnyGame::LightsOut(mine.board.clone()),
            presses: mine.board.presses(),
            elapsed: run.map_or_else(|| self.line.spent_at(now), time),
            running: self.line.clock_runs() && run.is_none(),
            run,
            their_presses: theirs.board.presses(),
            their_lit: theirs.board.lights().count(),
            their_run: theirs.ended(),
        })
    }

    /// Whether this side may press a light of its board now; only of a race.
    pub fn can_press(&self, side: Side) -> bool {
        self.check_can_press(side).is_ok()
    }

    /// The presses of this side so far, oldest first; only of a race.
    pub fn run_of(&self, side: Side) -> &[Action] {
        self.racing.as_ref().map_or(&[], |racing| &racing.sides[side.index()].run)
    }

    pub(crate) fn race_goes_on(&self) -> bool {
        self.line.record.result.is_none()
            && !self.line.record.paused
            && self.racing.as_ref().is_some_and(LocalRacing::goes_on)
    }

    fn check_can_press(&self, side: Side) -> Result<(), Refused> {
        let Some(racing) = &self.racing else { return Err(Refused::WrongPhase) };
        if self.line.record.result.is_some() {
            Err(IllegalAction::Ended.into())
        } else if self.line.record.paused {
            Err(Refused::Paused)
        } else if self.held {
            Err(Refused::Away)
        } else if racing.sides[side.index()].ended().is_some() {
            Err(Refused::NotYourTurn)
        } else if racing.sides[side.index()].board.presses() >= LightsOutSetup::RACE_PRESSES {
            Err(Refused::RecordFull)
        } else {
            Ok(())
        }
    }

    /// A side presses a light of its own board.
    pub(crate) fn press<J: Journal>(
        &mut self,
        now: Instant,
        side: Side,
        at: Point,
        journal: &mut J,
    ) -> Result<(), Undone<J::Error>> {
        self.check_can_press(side)?;
        // A flag that fell since the last tick stands.
        if self.race_check(now, journal)? {
            self.check_can_press(side)?;
        }
        let press = Action::Press(at);
        let racing = self.racing.as_ref().ok_or(Refused::WrongPhase)?;
        let mut board = racing.sides[side.index()].board.clone();
        let mv = board.legal_move(press).map_err(Refused::from)?;
        board.play(mv);
        if board.outcome().is_some() {
            return self.end_run(now, side, Some(press), journal);
        }
        let spent_ms = self.line.spent_ms_at(now);
        self.keep_pressed(side, &[press], spent_ms, journal)
    }

    /// Ends the run that can no longer beat the other's, and lets whole runs enter the record. Returns whether anything has
    /// changed.
    pub(crate) fn race_check<J: Journal>(
        &mut self,
        now: Instant,
        journal: &mut J,
    ) -> Result<bool, Undone<J::Error>> {
        let mut changed = self.enter_runs(journal)?;
        if self.race_due(now).is_some_and(|due| due <= now)
            && let Some(beaten) = self.beaten()
        {
            self.end_run(now, beaten, None, journal)?;
            changed = true;
        }
        Ok(changed)
    }

    /// When a run that goes on can no longer beat the other's.
    pub(crate) fn race_due(&self, now: Instant) -> Option<Instant> {
        let racing = self.racing.as_ref().filter(|_| self.line.clock_runs())?;
        let finished = racing.sides.iter().filter_map(Racer::ended).find(|run| run.finished)?;
        self.beaten()?;
        let until = Duration::from_millis((u64::from(finished.tenths) + 1) * 100);
        Some(now + until.saturating_sub(self.line.spent_at(now)))
    }

    /// The side that still runs while the other has put its lights out.
    fn beaten(&self) -> Option<Side> {
        let racing = self.racing.as_ref().filter(|_| self.race_goes_on())?;
        let ended = |side: Side| racing.sides[side.index()].ended();
        let beaten =
            |side: &Side| ended(*side).is_none() && ended(side.other()).is_some_and(|run| run.finished);
        Side::BOTH.into_iter().find(beaten)
    }

    /// Ends a run with a last press or without, at the time of the clock.
    fn end_run<J: Journal>(
        &mut self,
        now: Instant,
        side: Side,
        last: Option<Action>,
        journal: &mut J,
    ) -> Result<(), Undone<J::Error>> {
        let spent = self.line.spent_at(now);
        let ended: Vec<Action> = last.into_iter().chain([Action::Done(tenths(spent))]).collect();
        let spent_ms = self.line.spent_ms_at(now);
        if side == Side::First {
            let racing = self.racing.as_ref().ok_or(Refused::WrongPhase)?;
            let run = [&racing.sides[0].run[..], &ended].concat();
            self.enter_run(run, false, journal)?;
            let racing = self.racing.as_mut().ok_or(Refused::WrongPhase)?;
            for action in ended {
                racing.sides[0].take(action).map_err(Refused::from)?;
            }
        } else {
            self.keep_pressed(side, &ended, spent_ms, journal)?;
        }
        self.enter_runs(journal).map(drop)
    }

    fn keep_pressed<J: Journal>(
        &mut self,
        side: Side,
        actions: &[Action],
        spent_ms: u32,
        journal: &mut J,
    ) -> Result<(), Undone<J::Error>> {
        let pressed: Vec<Action> = actions.iter().map(|action| kept(side, *action)).collect();
        let id = self.id();
        journal.keep(&Entry::Pressed { id, pressed: pressed.clone(), spent_ms }).map_err(Undone::Journal)?;
        self.line.record.run.extend(pressed);
        let racing = self.racing.as_mut().ok_or(Refused::WrongPhase)?;
        for action in actions {
            racing.sides[side.index()].take(*action).map_err(Refused::from)?;
        }
        Ok(())
    }

    /// The second side's whole run enters the record once the first side's is there. Returns whether it did.
    fn enter_runs<J: Journal>(&mut self, journal: &mut J) -> Result<bool, Undone<J::Error>> {
        let AnyGame::LightsOut(race) = self.line.game() else { return Ok(false) };
        let [first, second] = race.runs().map(|run| run.is_some());
        let racing = self.racing.as_ref().ok_or(Refused::WrongPhase)?;
        if !first || second || racing.sides[1].ended().is_none() || self.line.record.result.is_some() {
            return Ok(false);
        }
        let run = racing.sides[1].run.clone();
        self.enter_run(run, true, journal)?;
        Ok(true)
    }

    /// A whole run of the side to move enters the record. `last`: nothing of the runs is kept beside the record any more.
    fn enter_run<J: Journal>(
        &mut self,
        run: Vec<Action>,
        last: bool,
        journal: &mut J,
    ) -> Result<(), Undone<J::Error>> {
        let mut game = self.line.game().clone();
        let mut moves = Vec::with_capacity(run.len());
        for action in &run {
            let mv = game.legal_move(*action).map_err(Refused::from)?;
            game.play(mv);
            moves.push((*action, mv));
        }
        let (id, ply) = (self.id(), self.line.ply() + run.len() as u32);
        let result = game.outcome().map(MatchResult::Played);
        journal.keep(&Entry::Ran { id, ply, run, mine: last, result }).map_err(Undone::Journal)?;
        for (action, mv) in moves {
            self.line.push(action, mv, 0);
        }
        if last {
            self.line.record.run.clear();
        }
        Ok(())
    }
}
