//! State of a race beside its record; `race` has the transitions.

use std::time::Duration;

use engine::lights_out::{LightsOut, LightsOutSetup, Run};
use engine::{Action, AnyGame, Game as _};

use crate::Instant;

/// State of a race beside its record.
#[derive(Clone)]
pub(crate) struct Racing {
    /// This side's board.
    pub(crate) board: LightsOut,
    /// The peer's last report.
    pub(crate) their_presses: u32,
    pub(crate) their_lit: u32,
    /// The peer's finished run before its turn in the record.
    pub(crate) shown: Option<Run>,
    /// Time of the peer's run as measured here, when its clock last stopped, and since when it runs. `None`: unknown.
    pub(crate) watched: Option<Duration>,
    pub(crate) watched_since: Option<Instant>,
    /// When the own progress was last sent on this link, and whether it has changed since.
    pub(crate) told_at: Option<Instant>,
    pub(crate) untold: bool,
    /// Whether the own run was shown on this link.
    pub(crate) run_shown: bool,
}

impl Racing {
    /// `None` if the match is no race.
    pub(crate) fn new(game: &AnyGame) -> Option<Self> {
        let AnyGame::LightsOut(race) = game else { return None };
        let board = LightsOut::new(&race.setup().alone()).expect("a race is on a board that one may play on");
        race.setup().race.then(|| Self {
            their_lit: board.lights().count(),
            board,
            their_presses: 0,
            shown: None,
            watched: Some(Duration::ZERO),
            watched_since: None,
            told_at: None,
            untold: true,
            run_shown: false,
        })
    }

    /// Clears the state of one link.
    pub(crate) fn link_lost(&mut self) {
        (self.told_at, self.untold, self.run_shown) = (None, true, false);
    }

    /// Sets the own presses so far; `false` if they are invalid.
    pub(crate) fn press_all(&mut self, actions: &[Action]) -> bool {
        self.board = LightsOut::new(self.board.setup()).expect("it was made before");
        let presses = match actions {
            [presses @ .., Action::Done(_)] => presses,
            presses => presses,
        };
        presses.len() <= LightsOutSetup::RACE_PRESSES as usize
            && presses.iter().all(|press| self.board.legal_move(*press).map(|mv| self.board.play(mv)).is_ok())
    }

    pub(crate) fn cells(&self) -> u32 {
        u32::from(self.board.lights().columns()) * u32::from(self.board.lights().rows())
    }

    pub(crate) fn unwatch(&mut self, now: Instant) {
        if let Some(since) = self.watched_since.take() {
            self.watched = self.watched.map(|watched| watched.saturating_add(now.since(since)));
        }
    }
}
