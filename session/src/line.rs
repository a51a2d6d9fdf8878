//! A record with its position and clocks: the common part of matches with and without a peer.

use std::time::Duration;

use engine::{Action, AnyGame, AnyMove, Side};

use crate::clock::Clocks;
use crate::record::Chain;
use crate::{Instant, MatchRecord, MatchResult, ShownClock};

/// A record and the state derived from it. The record's actions and times change only through [`Line::push`] and
/// [`Line::cut`].
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
    /// Time of the present action until the clock last stopped.
    spent: Duration,
    /// Since when the clock runs.
    since: Option<Instant>,
    /// The running clock's phase when last checked: byo-yomi, and periods left.
    phase: (bool, u32),
}

/// One action of the record.
#[derive(Clone, Copy)]
struct Step {
    /// The side that decided the action.
    by: Side,
    /// The digest after this action.
    chain: Chain,
    /// The clocks after this action.
    clocks: Option<Clocks>,
}

/// The rules do not allow the record's actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the record cannot be played")]
pub struct Unplayable;

impl Line {
    /// Replays a record from its setup. `referee`: rejects actions for which there was no time. At most `most` actions are
    /// played.
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

    /// The deciding side of each action, oldest first.
    pub(crate) fn decided_by(&self) -> impl ExactSizeIterator<Item = Side> + '_ {
        self.steps.iter().map(|step| step.by)
    }

    /// The digest of the record extended by these actions.
    pub(crate) fn digest_with_all(&self, actions: &[Action]) -> u64 {
        let chain = self.steps.last().map_or(self.start, |step| step.chain);
        actions.iter().fold(chain, |chain, action| chain.then(*action)).digest()
    }

    /// The digest of the first `ply` actions; `None` if the record is shorter.
    pub(crate) fn digest_at(&self, ply: u32) -> Option<u64> {
        match (ply as usize).checked_sub(1) {
            None => Some(self.start.digest()),
            Some(last) => self.steps.get(last).map(|step| step.chain.digest()),
        }
    }

    /// The digest of the record extended by this action.
    pub(crate) fn digest_with(&self, action: Action) -> u64 {
        self.steps.last().map_or(self.start, |step| step.chain).then(action).digest()
    }

    /// The actions after the first `ply`, each with its deciding side.
    pub(crate) fn rest(&self, ply: u32) -> impl ExactSizeIterator<Item = (Side, Action)> + '_ {
        let from = (ply as usize).min(self.steps.len());
        self.steps[from..].iter().map(|step| step.by).zip(self.record.actions[from..].iter().copied())
    }

    /// Time of the action after the first `ply`, in milliseconds; 0 without a pace.
    pub(crate) fn took(&self, ply: u32) -> u32 {
        self.record.times.get(ply as usize).copied().unwrap_or(0)
    }

    /// Length of the common prefix of both lists.
    pub(crate) fn common(&self, actions: &[Action]) -> u32 {
        self.record.actions.iter().zip(actions).take_while(|(ours, theirs)| ours == theirs).count() as u32
    }

    /// Index of a side's last decision among the first `ply` actions: the length of the record without it.
    pub(crate) fn last_decision(&self, side: Side, ply: u32) -> Option<u32> {
        let steps = &self.steps[..(ply as usize).min(self.steps.len())];
        steps.iter().rposition(|step| step.by == side).map(|index| index as u32)
    }

    /// Appends a move that took `took_ms`. The rules may end the match with it and override the earlier result.
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

    /// Truncates the record by consent. This clears the result and a pause.
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

    /// The position after `ply` actions of the record plus `tried`; `None` if the record is shorter or a move is illegal.
    pub(crate) fn position_with(&self, ply: u32, tried: &[Action]) -> Option<AnyGame> {
        let actions = self.record.actions.get(..ply as usize)?;
        let mut game = AnyGame::new(&self.record.setup).ok()?;
        actions.iter().chain(tried).try_for_each(|action| game.act(*action)).ok()?;
        Some(game)
    }

    // Clocks.

    /// Starts the thinking time of the next decision.
    pub(crate) fn new_action(&mut self) {
        (self.spent, self.since) = (Duration::ZERO, None);
        self.record.spent_ms = 0;
    }

    /// Sets the time of the present action; a running clock continues from there. The record is updated only when the clock
    /// stops.
    pub(crate) fn set_spent(&mut self, spent: Duration) {
        self.spent = spent;
    }

    /// Time of the present action until its clock last stopped, and since when the clock runs.
    pub(crate) fn timing(&self) -> (Duration, Option<Instant>) {
        (self.spent, self.since)
    }

    /// Restores a clock that `cut` has reset.
    pub(crate) fn set_timing(&mut self, spent: Duration, since: Option<Instant>) {
        (self.spent, self.since) = (spent, since);
        self.record.spent_ms = u32::try_from(spent.as_millis()).unwrap_or(u32::MAX);
    }

    /// A side's clock at `now`; `None` without a pace.
    pub(crate) fn clock(&self, side: Side, now: Instant) -> Option<ShownClock> {
        let clocks = self.clocks_now()?;
        if self.record.result == Some(MatchResult::TimedOut(side)) {
            return Some(ShownClock { left: Duration::ZERO, byo_yomi: false, periods: 0, running: false });
        }
        let has_turn = self.record.result.is_none() && self.game.turn() == side;
        Some(clocks.shown(side, has_turn.then(|| self.spent_at(now)), has_turn && self.since.is_some()))
    }

    /// The longest time of the present action; `None` without a clock.
    pub(crate) fn left_for_action(&self) -> Option<Duration> {
        Some(self.clocks_now()?.left_for_action(self.game.turn()))
    }

    fn clocks_now(&self) -> Option<Clocks> {
        self.steps.last().map_or(self.clocks, |step| step.clocks)
    }

    /// Whether thinking costs time now; it does not while two agree on dead stones.
    pub(crate) fn is_timed(&self) -> bool {
        self.record.pace.is_some() && self.game.legal_move(Action::Agree).is_err()
    }

    /// Whether the side to move has enough time for an action of this length.
    pub(crate) fn has_time_for(&self, took_ms: u32) -> bool {
        let took = Duration::from_millis(took_ms.into());
        !self.is_timed() || self.clocks_now().is_none_or(|clocks| !clocks.is_over(self.game.turn(), took))
    }

    /// Time of the present action until `now`.
    pub(crate) fn spent_at(&self, now: Instant) -> Duration {
        self.spent + self.since.map_or(Duration::ZERO, |since| now.since(since))
    }

    /// The same in milliseconds, as in records.
    pub(crate) fn spent_ms_at(&self, now: Instant) -> u32 {
        u32::try_from(self.spent_at(now).as_millis()).unwrap_or(u32::MAX)
    }

    pub(crate) fn clock_runs(&self) -> bool {
        self.since.is_some()
    }

    pub(crate) fn start_clock(&mut self, at: Instant) {
        self.since = Some(at);
    }

    /// Stops the clock. Returns the time of the present action, for the journal.
    pub(crate) fn halt_clock(&mut self, now: Instant) -> u32 {
        self.spent = self.spent_at(now);
        self.since = None;
        self.record.spent_ms = self.spent_ms_at(now);
        self.record.spent_ms
    }

    /// Discards the clock of a finished match: the time of its last action has no meaning.
    pub(crate) fn forget_clock(&mut self) {
        self.since = None;
    }

    /// Time until the displayed clock of the side to move runs out, if the clock runs; zero when its flag has fallen.
    pub(crate) fn clock_change(&self, now: Instant) -> Option<Duration> {
        self.since?;
        let clocks = self.clocks_now()?;
        Some(clocks.shown(self.game.turn(), Some(self.spent_at(now)), true).left)
    }

    /// Whether the running clock has entered another phase since the last call.
    pub(crate) fn enters_phase(&mut self, now: Instant) -> bool {
        let Some(clock) = self.clock(self.game.turn(), now) else { return false };
        let phase = (clock.byo_yomi, clock.periods);
        std::mem::replace(&mut self.phase, phase) != phase
    }

    /// Time of the present action beyond the limit of the side to move.
    pub(crate) fn overtime(&self, now: Instant) -> Option<Duration> {
        let left = self.clocks_now()?.left_for_action(self.game.turn());
        self.spent_at(now).checked_sub(left).filter(|_| self.is_timed())
    }
}
