//! What is solved in a puzzle room: a proven puzzle, or one's own mistake.

use engine::puzzles::{Attempt, narrow};
use engine::{Action, AnyGame, Side};

use crate::mistakes::{Again, Search};

#[derive(Clone)]
pub(crate) enum Task {
    Proven(Box<Attempt>),
    Again(Box<Again>),
}

impl Task {
    pub(super) fn start(&self) -> &AnyGame {
        match self {
            Self::Proven(attempt) => &attempt.puzzle().start,
            Self::Again(again) => &again.retry.mistake().before,
        }
    }

    pub(super) fn game(&self) -> &AnyGame {
        match self {
            Self::Proven(attempt) => attempt.game(),
            Self::Again(again) => again.retry.game(),
        }
    }

    pub(super) fn solver(&self) -> Side {
        match self {
            Self::Proven(attempt) => attempt.solver(),
            Self::Again(again) => again.retry.solver(),
        }
    }

    pub(super) fn line(&self) -> &[Action] {
        match self {
            Self::Proven(attempt) => attempt.line(),
            Self::Again(again) => again.retry.line(),
        }
    }

    pub(super) fn end(&self) -> Option<bool> {
        match self {
            Self::Proven(attempt) => attempt.end(),
            Self::Again(again) => again.retry.end(),
        }
    }

    /// Own moves left.
    pub(super) fn left(&self) -> u32 {
        match self {
            Self::Proven(attempt) => attempt.left(),
            Self::Again(again) => u32::from(again.retry.line().is_empty()),
        }
    }

    /// Makes a move, and searches what it does: not for the actor. `None` if the rules do not allow it.
    pub(super) fn act(&mut self, action: Action, search: &Search) -> Option<()> {
        match self {
            Self::Proven(attempt) => attempt.act(action).ok().map(drop),
            Self::Again(again) => again.act(action, search),
        }
    }

    pub(super) fn take_back(&mut self) -> bool {
        match self {
            Self::Proven(attempt) => attempt.take_back(),
            Self::Again(again) => again.retry.take_back(),
        }
    }

    pub(super) fn restart(&mut self) {
        match self {
            Self::Proven(attempt) => **attempt = Attempt::new(attempt.puzzle().clone()),
            Self::Again(again) => drop(again.retry.take_back()),
        }
    }

    /// A move that solves it. Searches: not for the actor.
    pub(super) fn hint(&self) -> Option<Action> {
        match self {
            Self::Proven(attempt) => attempt.hint(),
            Self::Again(again) => again.retry.hint(),
        }
    }

    /// Where the move of a hint is, once `given` hints were given in this position.
    pub(super) fn narrowed(&self, action: Action, given: u32) -> Option<engine::puzzles::Narrowed> {
        narrow(self.game(), action, given)
    }
}
