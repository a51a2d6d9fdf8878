//! A match without a peer: against a bot, between two people at one screen, with a guest at a browser, or alone.
//!
//! The same record, entries and clocks as with a peer, but no agreement: a command takes effect at once. Each command makes at
//! most one [`Entry`], which the journal keeps before anything changes (write-ahead). A command that could not be kept has no
//! effect, and the match stays usable. (A [`crate::Session`] has to be made anew after such an error, because its peer already
//! has the earlier messages.)

use std::time::Duration;

use engine::{Action, AnyGame, Point, Side};
use proto::limits::{REVISIONS, SHOWN_ACTIONS, TRIED_ACTIONS};

use crate::line::Line;
use crate::local_race::LocalRacing;
use crate::{
    Analysis, Entry, Instant, Journal, MatchId, MatchRecord, MatchResult, Refused, ShownClock, Unplayable,
};

/// A match whose every side is decided on this device.
#[derive(Clone)]
pub struct LocalMatch {
    pub(crate) line: Line,
    /// The analysis after the end.
    analysis: Option<Analysis>,
    /// Held: nobody can decide now, and no clock runs.
    pub(crate) held: bool,
    /// Both boards of a race.
    pub(crate) racing: Option<LocalRacing>,
}

/// Commands of the people at this device, or of a bot in a seat. Any side may give them: the caller knows who sits where.
#[derive(Clone, Debug, PartialEq)]
pub enum LocalCommand {
    /// The side to move plays; not in a race.
    Act(Action),
    /// A side presses a light of its own board in a race.
    Press(Side, Point),
    /// Truncate the record.
    TakeBack {
        /// Less than the present length.
        ply: u32,
    },
    /// Both people agree to a draw.
    Draw,
    /// This side resigns.
    Resign(Side),
    /// Pause the match, or continue it.
    Pause(bool),
    /// After the end: show the position after `ply` actions of the record plus these. `None`: the end.
    Analyse(Option<(u32, Vec<Action>)>),
    /// Whether the match is held, for want of a bot or of disk space: that costs nobody time.
    Hold(bool),
    /// A time from [`LocalMatch::due`] has come.
    Tick,
    /// The page was left: the clock stops.
    Leave,
}

/// Why a command failed. Nothing has changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Undone<E> {
    /// The command is not possible now.
    Refused(Refused),
    /// The journal could not keep it.
    Journal(E),
}

impl<E> From<Refused> for Undone<E> {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

/// What is shown.
impl LocalMatch {
    /// The match's id.
    pub fn id(&self) -> MatchId {
        self.line.record.id
    }

    /// The record in the journal.
    pub fn record(&self) -> &MatchRecord {
        &self.line.record
    }

    /// The position that the record makes.
    pub fn position(&self) -> &AnyGame {
        self.line.game()
    }

    /// The deciding side of each action, oldest first.
    pub fn decided_by(&self) -> impl ExactSizeIterator<Item = Side> + '_ {
        self.line.decided_by()
    }

    /// The side that decides next; `None` when the match is over.
    pub fn turn(&self) -> Option<Side> {
        let over = self.line.record.result.is_some() || self.line.game().outcome().is_some();
        (!over).then(|| self.line.game().turn())
    }

    /// Length of the record before the last decision of one of these sides: the result of a take back.
    pub fn before_last_of(&self, sides: impl Fn(Side) -> bool) -> Option<u32> {
        let decided: Vec<Side> = self.line.decided_by().collect();
        decided.iter().rposition(|side| sides(*side)).map(|ply| ply as u32)
    }

    /// A side's clock at `now`; `None` without a pace.
    pub fn clock(&self, side: Side, now: Instant) -> Option<ShownClock> {
        self.line.clock(side, now)
    }

    /// The longest time of the present action; `None` without a pace.
    pub fn left_for_action(&self) -> Option<Duration> {
        self.line.left_for_action()
    }

    /// The analysis after the end; `None` for the end itself.
    pub fn analysis(&self) -> Option<&Analysis> {
        self.analysis.as_ref()
    }

    /// When a displayed clock runs out, and a [`LocalCommand::Tick`] is due.
    pub fn due(&self, now: Instant) -> Option<Instant> {
        if self.racing.is_some() {
            return self.race_due(now);
        }
        self.line.clock_change(now).map(|left| now + left)
    }
}

impl LocalMatch {
    /// Makes a match of a record. A record of another program is trusted as far as its actions are legal, even with times that
    /// no clock allows, and with a result that the position does not show.
    pub fn new(record: MatchRecord) -> Result<Self, Unplayable> {
        let line = Line::new(record, SHOWN_ACTIONS, false)?;
        let racing = LocalRacing::new(&line.record, line.game())?;
        Ok(Self { line, analysis: None, held: false, racing })
    }

    /// Carries out a command; returns whether anything displayed has changed. `now` never goes back.
    pub fn handle<J: Journal>(
        &mut self,
        now: Instant,
        command: LocalCommand,
        journal: &mut J,
    ) -> Result<bool, Undone<J::Error>> {
        let id = self.id();
        if let LocalCommand::Press(side, at) = command {
            self.press(now, side, at, journal)?;
            self.run_clock(now, journal);
            return Ok(true);
        }
        if let (LocalCommand::Tick, Some(_)) = (&command, &self.racing) {
            let changed = self.race_check(now, journal)?;
            self.run_clock(now, journal);
            return Ok(changed);
        }
        let mut keep = |entry: Entry| journal.keep(&entry).map_err(Undone::Journal);
        let changed = match command {
            LocalCommand::Press(..) => false,
            LocalCommand::Act(_) | LocalCommand::TakeBack { .. } if self.racing.is_some() => {
                return Err(Refused::WrongPhase.into());
            }
            LocalCommand::Act(action) => {
                keep(self.act(now, action)?)?;
                let mv = self.line.game().legal_move(action).map_err(Refused::from)?;
                self.line.push(action, mv, self.line.spent_ms_at(now));
                self.line.new_action();
                true
            }
            LocalCommand::TakeBack { ply } => {
                let revision = self.next_revision().ok_or(Refused::NothingToTakeBack)?;
                if self.line.record.paused {
                    return Err(Refused::Paused.into());
                }
                if ply >= self.line.ply() {
                    return Err(Refused::NothingToTakeBack.into());
                }
                keep(Entry::TakenBack { id, ply, revision })?;
                self.line.cut(ply, revision);
                self.analysis = None;
                true
            }
            LocalCommand::Draw => self.end(MatchResult::DrawAgreed, keep)?,
            LocalCommand::Resign(side) => self.end(MatchResult::Resigned(side), keep)?,
            LocalCommand::Pause(paused) => {
                let revision = self.next_revision().ok_or(Refused::WrongPhase)?;
                if self.line.record.result.is_some() || self.line.record.paused == paused {
                    return Err(Refused::WrongPhase.into());
                }
                keep(Entry::Paused { id, revision, paused })?;
                (self.line.record.revision, self.line.record.paused) = (revision, paused);
                true
            }
            LocalCommand::Analyse(at) => {
                self.analysis = self.to_look_at(at)?;
                return Ok(true);
            }
            LocalCommand::Hold(held) => {
                self.held = held;
                false
            }
            LocalCommand::Tick => {
                let turn = self.line.game().turn();
                if self.line.clock_runs() && self.line.overtime(now).is_some() {
                    self.end(MatchResult::TimedOut(turn), keep)?
                } else {
                    self.line.clock_runs() && self.line.enters_phase(now)
                }
            }
            LocalCommand::Leave => {
                self.set_clock(now, false, journal);
                return Ok(false);
            }
        };
        self.run_clock(now, journal);
        Ok(changed)
    }

    fn run_clock<J: Journal>(&mut self, now: Instant, journal: &mut J) {
        let timed = self.race_goes_on()
            || self.racing.is_none()
                && self.turn().is_some()
                && !self.line.record.paused
                && self.line.is_timed();
        self.set_clock(now, timed && !self.held, journal);
    }

    /// The entry for this action, if it is legal now.
    fn act(&self, now: Instant, action: Action) -> Result<Entry, Refused> {
        let (id, ply) = (self.id(), self.line.ply() + 1);
        if self.line.record.result.is_some() {
            return Err(engine::IllegalAction::Ended.into());
        }
        if ply as usize > SHOWN_ACTIONS {
            return Err(Refused::RecordFull);
        }
        if self.line.record.paused {
            return Err(Refused::Paused);
        }
        let spent_ms = self.line.spent_ms_at(now);
        if self.line.clock_runs() && !self.line.has_time_for(spent_ms) {
            return Err(Refused::TimeOver);
        }
        let mut game = self.line.game().clone();
        game.act(action)?;
        let took_ms = if self.line.is_timed() { spent_ms } else { 0 };
        Ok(Entry::Acted { id, ply, action, took_ms, result: game.outcome().map(MatchResult::Played) })
    }

    fn end<E>(
        &mut self,
        result: MatchResult,
        mut keep: impl FnMut(Entry) -> Result<(), Undone<E>>,
    ) -> Result<bool, Undone<E>> {
        if self.line.record.result.is_some() {
            return Err(Refused::WrongPhase.into());
        }
        let (id, revision) = (self.id(), self.line.record.revision);
        keep(Entry::Ended { id, revision, result })?;
        (self.line.record.result, self.line.record.paused) = (Some(result), false);
        Ok(true)
    }

    fn next_revision(&self) -> Option<u32> {
        let revision = self.line.record.revision;
        (revision < REVISIONS).then_some(revision + 1)
    }

    fn to_look_at(&self, at: Option<(u32, Vec<Action>)>) -> Result<Option<Analysis>, Refused> {
        if self.line.record.result.is_none() {
            return Err(Refused::WrongPhase);
        }
        let Some((ply, tried)) = at else { return Ok(None) };
        if tried.len() > TRIED_ACTIONS || self.line.position_with(ply, &tried).is_none() {
            return Err(Refused::WrongPhase);
        }
        Ok(Some(Analysis { ply, tried }))
    }

    /// Starts or stops the clock. The time of a stopped clock is written to the journal; with a full disk, at most the thinking
    /// time since the last write is lost.
    fn set_clock<J: Journal>(&mut self, now: Instant, runs: bool, journal: &mut J) {
        match (runs, self.line.clock_runs()) {
            (true, false) => {
                self.line.start_clock(now);
                self.line.enters_phase(now);
            }
            (false, true) => {
                let (id, spent_ms) = (self.id(), self.line.halt_clock(now));
                if self.line.record.result.is_none() {
                    let _ = journal.keep(&Entry::Spent { id, spent_ms });
                }
            }
            _ => {}
        }
    }
}
