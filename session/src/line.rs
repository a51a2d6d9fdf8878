//! A record, the position that it makes, and the clocks: what a match with a peer and a match without one have in common.

use std::time::Duration;

use engine::{Action, AnyGame, AnyMove, Side};

use crate::clock::Clocks;
use crate::record::Chain;
use crate::{Instant, MatchRecord, MatchResult, ShownClock};

/// A record and what follows from it. Its actions and times change through [`Line::push`] and [`Line::cut`] alone.
#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) record: MatchRecord,
    game: AnyGame,
    /// The digest before the first action.
    start: Chain,
    /// One for each action of the record.
    steps: Vec<Step>,
    /// The clocks before the first action.
    clocks: Option<Clocks>,
    /// What the present action took before the clock last stopped.
    spent: Duration,
    /// Since when the clock runs.
    since: Option<Instant>,
    /// Which part of its time the running clock was last seen in: byo-yomi, and periods left.
    phase: (bool, u32),
}

/// One action of the record.
#[derive(Clone, Copy)]
struct Step {
    /// Whose decision it was.
    by: Side,
    /// The digest with this action.
    chain: Chain,
    /// The clocks after it.
    clocks: Option<Clocks>,
}

/// The list of actions is not one that the rules allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the record cannot be played")]
pub struct Unplayable;

impl Line {
    /// Plays a record from its setup. `referee`: refuses actions for which there was no time. At most `most` actions are played.
    pub(crate) fn new(record: MatchRecord, most: usize, referee: bool) -> Result<Self, Unplayable> {
        let game = AnyGame::new(&record.setup).map_err(|_| Unplayable)?;
        let start = Chain::new(&record.setup);
        let mut line = Self {
            record: MatchRecord {
                actions: Vec::with_capacity(record.actions.len()),
                times: Vec::with_capacity(record.times.len()),
                ..record
            },
            start,
            steps: Vec::with_capacity(record.actions.len()),
            clocks: record.pace.map(Clocks::new),
            spent: Duration::ZERO,
            since: None,
            phase: (false, 0),
            game,
        };
        if record.actions.len() > most {
            return Err(Unplayable);
        }
        for (index, action) in record.actions.into_iter().enumerate() {
            let took = record.times.get(index).copied().unwrap_or(0);
            let mv = line.game.legal_move(action).map_err(|_| Unplayable)?;
            if referee && !line.has_time_for(took) {
                return Err(Unplayable);
            }
            line.push(action, mv, took);
        }
        line.spent = Duration::from_millis(record.spent_ms.into());
        Ok(line)
    }

    /// The position that the record makes.
    pub(crate) fn game(&self) -> &AnyGame {
        &self.game
    }

    /// Actions in the record.
    pub(crate) fn ply(&self) -> u32 {
        self.steps.len() as u32
    }

    /// The digest of the record.
    pub(crate) fn digest(&self) -> u64 {
        self.steps.last().map_or(self.start, |step| step.chain).digest()
    }

    /// Whose decision each action was, oldest first.
    pub(crate) fn decided_by(&self) -> impl ExactSizeIterator<Item = Side> + '_ {
        self.steps.iter().map(|step| step.by)
    }

    /// The digest that the record would have with these actions.
    pub(crate) fn digest_with_all(&self, actions: &[Action]) -> u64 {
        let chain = self.steps.last().map_or(self.start, |step| step.chain);
        actions.iter().fold(chain, |chain, action| chain.then(*action)).digest()
    }

    /// The digest of the first `ply` actions; `None` if there are not so many.
    pub(crate) fn digest_at(&self, ply: u32) -> Option<u64> {
        match (ply as usize).checked_sub(1) {
            None => Some(self.start.digest()),
            Some(last) => self.steps.get(last).map(|step| step.chain.digest()),
        }
    }

    /// The digest that the record would have with this action.
    pub(crate) fn digest_with(&self, action: Action) -> u64 {
        self.steps.last().map_or(self.start, |step| step.chain).then(action).digest()
    }

    /// The actions after the first `ply`, with whose decision each was.
    pub(crate) fn rest(&self, ply: u32) -> impl ExactSizeIterator<Item = (Side, Action)> + '_ {
        let from = (ply as usize).min(self.steps.len());
        self.steps[from..].iter().map(|step| step.by).zip(self.record.actions[from..].iter().copied())
    }

    /// What the action after the first `ply` took, in milliseconds; 0 without a pace.
    pub(crate) fn took(&self, ply: u32) -> u32 {
        self.record.times.get(ply as usize).copied().unwrap_or(0)
    }

    /// How many actions both lists begin with.
    pub(crate) fn common(&self, actions: &[Action]) -> u32 {
        self.record.actions.iter().zip(actions).take_while(|(ours, theirs)| ours == theirs).count() as u32
    }

    /// The index of the last decision of a side's among the first `ply`: the length of the record without it.
    pub(crate) fn last_decision(&self, side: Side, ply: u32) -> Option<u32> {
        let steps = &self.steps[..(ply as usize).min(self.steps.len())];
        steps.iter().rposition(|step| step.by == side).map(|index| index as u32)
    }

    /// Adds a move that took so many milliseconds; the rules may end the match with it, whatever its result was before.
    pub(crate) fn push(&mut self, action: Action, mv: AnyMove, took_ms: u32) {
        let by = self.game.turn();
        let chain = self.steps.last().map_or(self.start, |step| step.chain).then(action);
        let clocks = self.clocks_now();
        let took = Duration::from_millis(if self.is_timed() { took_ms.into() } else { 0 });
        self.game.play(mv);
        let clocks = clocks.map(|clocks| clocks.after(by, took, self.game.turn() != by));
        self.steps.push(Step { by, chain, clocks });
        self.record.actions.push(action);
        if self.record.pace.is_some() {
            self.record.times.push(took.as_millis() as u32);
        }
        if let Some(outcome) = self.game.outcome() {
            self.record.result = Some(MatchResult::Played(outcome));
        }
    }

    /// Cuts the record by consent. The result is gone, and the match is not paused.
    pub(crate) fn cut(&mut self, ply: u32, revision: u32) {
        self.record.actions.truncate(ply as usize);
        self.record.times.truncate(ply as usize);
        self.steps.truncate(ply as usize);
        self.game = AnyGame::new(&self.record.setup).expect("the setup made a game before");
        for action in &self.record.actions {
            self.game.act(*action).expect("the action was legal before");
        }
        self.record.result = None;
        self.record.paused = false;
        self.record.revision = revision;
        self.new_action();
    }

    /// The position after so many actions of the record and these; `None` if there are not so many or one is not legal.
    pub(crate) fn position_with(&self, ply: u32, tried: &[Action]) -> Option<AnyGame> {
        let actions = self.record.actions.get(..ply as usize)?;
        let mut game = AnyGame::new(&self.record.setup).ok()?;
        actions.iter().chain(tried).try_for_each(|action| game.act(*action)).ok()?;
        Some(game)
    }

    // Clocks.

    /// Whoever decides next begins to think.
    pub(crate) fn new_action(&mut self) {
        (self.spent, self.since) = (Duration::ZERO, None);
        self.record.spent_ms = 0;
    }

    /// The present action has taken so long, and its clock, if it runs, goes on from there. The record says so only once the
    /// clock stops.
    pub(crate) fn set_spent(&mut self, spent: Duration) {
        self.spent = spent;
    }

    /// What the present action took before its clock last stopped, and since when the clock runs.
    pub(crate) fn timing(&self) -> (Duration, Option<Instant>) {
        (self.spent, self.since)
    }

    /// Puts back a clock that a cut has put to its beginning.
    pub(crate) fn set_timing(&mut self, spent: Duration, since: Option<Instant>) {
        (self.spent, self.since) = (spent, since);
        self.record.spent_ms = u32::try_from(spent.as_millis()).unwrap_or(u32::MAX);
    }

    /// A side's clock at this moment; `None` without a pace.
    pub(crate) fn clock(&self, side: Side, now: Instant) -> Option<ShownClock> {
        let clocks = self.clocks_now()?;
        if self.record.result == Some(MatchResult::TimedOut(side)) {
            return Some(ShownClock { left: Duration::ZERO, byo_yomi: false, periods: 0, running: false });
        }
        let has_turn = self.record.result.is_none() && self.game.turn() == side;
        Some(clocks.shown(side, has_turn.then(|| self.spent_at(now)), has_turn && self.since.is_some()))
    }

    /// How much the present action may take in all, if there is a clock.
    pub(crate) fn left_for_action(&self) -> Option<Duration> {
        Some(self.clocks_now()?.left_for_action(self.game.turn()))
    }

    fn clocks_now(&self) -> Option<Clocks> {
        self.steps.last().map_or(self.clocks, |step| step.clocks)
    }

    /// Whether thinking costs time now: not while two agree on dead stones.
    pub(crate) fn is_timed(&self) -> bool {
        self.record.pace.is_some() && self.game.legal_move(Action::Agree).is_err()
    }

    /// Whether whoever has the turn may have taken so long for an action.
    pub(crate) fn has_time_for(&self, took_ms: u32) -> bool {
        let took = Duration::from_millis(took_ms.into());
        !self.is_timed() || self.clocks_now().is_none_or(|clocks| !clocks.is_over(self.game.turn(), took))
    }

    /// What the present action has taken.
    pub(crate) fn spent_at(&self, now: Instant) -> Duration {
        self.spent + self.since.map_or(Duration::ZERO, |since| now.since(since))
    }

    /// The same in milliseconds, as records say it.
    pub(crate) fn spent_ms_at(&self, now: Instant) -> u32 {
        u32::try_from(self.spent_at(now).as_millis()).unwrap_or(u32::MAX)
    }

    pub(crate) fn clock_runs(&self) -> bool {
        self.since.is_some()
    }

    pub(crate) fn start_clock(&mut self, at: Instant) {
        self.since = Some(at);
    }

    /// Stops the clock. What the present action has taken is to be written down.
    pub(crate) fn halt_clock(&mut self, now: Instant) -> u32 {
        self.spent = self.spent_at(now);
        self.since = None;
        self.record.spent_ms = self.spent_ms_at(now);
        self.record.spent_ms
    }

    /// The match is over: what the last action has taken means nothing more.
    pub(crate) fn forget_clock(&mut self) {
        self.since = None;
    }

    /// How long until whoever has the turn comes to the end of what its clock shows, if the clock runs; zero at the end of all.
    pub(crate) fn clock_change(&self, now: Instant) -> Option<Duration> {
        self.since?;
        let clocks = self.clocks_now()?;
        Some(clocks.shown(self.game.turn(), Some(self.spent_at(now)), true).left)
    }

    /// Whether the running clock has come to another part of its time since this was last asked.
    pub(crate) fn enters_phase(&mut self, now: Instant) -> bool {
        let Some(clock) = self.clock(self.game.turn(), now) else { return false };
        let phase = (clock.byo_yomi, clock.periods);
        std::mem::replace(&mut self.phase, phase) != phase
    }

    /// What the present action took beyond the time of whoever has the turn.
    pub(crate) fn overtime(&self, now: Instant) -> Option<Duration> {
        let left = self.clocks_now()?.left_for_action(self.game.turn());
        self.spent_at(now).checked_sub(left).filter(|_| self.is_timed())
    }
}
