//! A match without a peer: against the device, between two people at one screen, alone.
//!
//! The same record, entries and clocks as with a peer, and nobody to agree with: what a person here asks for is done at once.
//! Each command comes to at most one [`Entry`], which is in the journal before anything changes; so a command that could not be
//! kept has done nothing, and the match stays usable. (A [`crate::Session`] has to be made anew then, because it has told its
//! peer of what came before.)

use std::time::Duration;

use engine::{Action, AnyGame, Side};
use proto::limits::{REVISIONS, SHOWN_ACTIONS, TRIED_ACTIONS};

use crate::line::Line;
use crate::{
    Analysis, Entry, Instant, Journal, MatchId, MatchRecord, MatchResult, Refused, ShownClock, Unplayable,
};

/// A match whose every side is decided on this device.
#[derive(Clone)]
pub struct LocalMatch {
    line: Line,
    /// What is looked at after the end.
    analysis: Option<Analysis>,
    /// Nobody can decide now: no clock runs.
    held: bool,
}

/// What the people here, or a bot in a seat, want. Any side may want it: who sits where is the caller's to know.
#[derive(Clone, Debug, PartialEq)]
pub enum LocalCommand {
    /// The side to move plays.
    Act(Action),
    /// The record is cut to so many actions.
    TakeBack {
        /// Less than there are.
        ply: u32,
    },
    /// Nobody wins, as both people here agree.
    Draw,
    /// This side gives up.
    Resign(Side),
    /// The match is paused, or goes on.
    Pause(bool),
    /// After the end: the position after so many actions of the record and these. `None`: the end.
    Analyse(Option<(u32, Vec<Action>)>),
    /// Whether nobody can decide for want of a bot or of disk: that costs nobody time.
    Hold(bool),
    /// A moment that [`LocalMatch::due`] named has come.
    Tick,
    /// Nobody looks any more: the clock stops.
    Leave,
}

/// Why a command was not done. Nothing has changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Undone<E> {
    /// It cannot be done now.
    Refused(Refused),
    /// It could not be kept.
    Journal(E),
}

impl<E> From<Refused> for Undone<E> {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

/// What is to be looked at.
impl LocalMatch {
    /// The match's id.
    pub fn id(&self) -> MatchId {
        self.line.record.id
    }

    /// What the journal holds.
    pub fn record(&self) -> &MatchRecord {
        &self.line.record
    }

    /// The position that the record makes.
    pub fn position(&self) -> &AnyGame {
        self.line.game()
    }

    /// Whose decision each action was, oldest first.
    pub fn decided_by(&self) -> impl ExactSizeIterator<Item = Side> + '_ {
        self.line.decided_by()
    }

    /// Whose decision is next; `None` when the match is over.
    pub fn turn(&self) -> Option<Side> {
        let over = self.line.record.result.is_some() || self.line.game().outcome().is_some();
        (!over).then(|| self.line.game().turn())
    }

    /// The length of the record before the last decision of one of these sides: what a person can take back.
    pub fn before_last_of(&self, sides: impl Fn(Side) -> bool) -> Option<u32> {
        let decided: Vec<Side> = self.line.decided_by().collect();
        decided.iter().rposition(|side| sides(*side)).map(|ply| ply as u32)
    }

    /// A side's clock at this moment; `None` without a pace.
    pub fn clock(&self, side: Side, now: Instant) -> Option<ShownClock> {
        self.line.clock(side, now)
    }

    /// How much the present action may take in all; `None` without a pace.
    pub fn left_for_action(&self) -> Option<Duration> {
        self.line.left_for_action()
    }

    /// What is looked at after the end; `None` for the end itself.
    pub fn analysis(&self) -> Option<&Analysis> {
        self.analysis.as_ref()
    }

    /// When a clock comes to the end of what it shows, and a [`LocalCommand::Tick`] is due.
    pub fn due(&self, now: Instant) -> Option<Instant> {
        self.line.clock_change(now).map(|left| now + left)
    }
}

impl LocalMatch {
    /// The match that a record makes. What other programs wrote is believed as far as the rules allow its actions: times that no
    /// clock would have allowed, and a result that the position does not show.
    pub fn new(record: MatchRecord) -> Result<Self, Unplayable> {
        let line = Line::new(record, SHOWN_ACTIONS, false)?;
        Ok(Self { line, analysis: None, held: false })
    }

    /// Does what is asked for; returns whether anything that is shown has changed. `now` never goes back.
    pub fn handle<J: Journal>(
        &mut self,
        now: Instant,
        command: LocalCommand,
        journal: &mut J,
    ) -> Result<bool, Undone<J::Error>> {
        let mut keep = |entry: Entry| journal.keep(&entry).map_err(Undone::Journal);
        let id = self.id();
        let changed = match command {
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
        let runs = !self.held && self.turn().is_some() && !self.line.record.paused && self.line.is_timed();
        self.set_clock(now, runs, journal);
        Ok(changed)
    }

    /// The entry of this action, if it may be played now.
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

    /// Starts or stops the clock. What a stopped one shows is written down; a disk that is full costs at worst what was thought
    /// since it was last written.
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
