//! The alpha-beta search that the board games with two sides and nothing hidden share.
//!
//! A game gives its moves, its judgement and what it can prove ([`AlphaBetaGame`]); [`AlphaBeta`] looks ahead. The parts are
//! files apart: `alphabeta` walks the tree, `prune` says what of it is not worth a look, `quiet` looks on from its leaves until
//! nothing is hanging, `order` decides which move comes first, `table` remembers positions, `clock` says when to stop, `value`
//! is what scores mean, `finding` what a search answers, `habits` is what of all this suits a game, `strength` what a level may
//! use. Evaluation belongs to the games.
//!
//! What it does not do: read a clock (the caller lends one in [`crate::Limits`]), draw random numbers. It starts threads only
//! when asked to ([`AlphaBeta::set_threads`]), and they end with the search.

mod alphabeta;
#[cfg(test)]
mod asking;
mod clock;
mod finding;
mod habits;
mod order;
mod pages;
mod prune;
mod quiet;
mod strength;
mod table;
pub(crate) mod threads;
mod value;

use std::fmt::Debug;

use crate::Side;

#[cfg(test)]
pub(crate) use alphabeta::minimax;
pub use alphabeta::{AlphaBeta, Options};
pub use clock::Clock;
pub use finding::Finding;
pub use habits::{Habits, Reductions, Tactics};
pub(crate) use strength::Strength;
pub use value::{Known, MAX_PLY, Value};

/// A position that [`AlphaBeta`] can search: moves are made and taken back in place.
///
/// This is not [`crate::Game`] itself but what a bot builds from one, since it carries what only a search needs (pattern
/// counts, attack tables) along with every move.
pub trait AlphaBetaGame: Clone + Send {
    /// A move, as small as can be.
    type Move: Copy + Eq + Debug + Send;
    /// [`Self::number`] is always below this. Tables of moves have this size.
    const MOVE_NUMBERS: usize;
    /// [`Self::trail`] is always below this; 0 for a game whose moves say little about the next ones.
    const TRAILS: usize = 0;
    /// What of the search suits the game.
    const HABITS: Habits;
    /// What a side that has no move has come to.
    const STUCK: Known = Known::Draw;
    /// Whether the turn changes with every move. If not, the search looks at [`Self::turn`] after each.
    const ALTERNATES: bool = true;
    /// Whether there are wins by threats that leave no choice, and [`Self::forced_win`] looks for them.
    const FORCES: bool = false;

    /// A number of its own for each move; the same move has the same number in every position.
    fn number(mv: Self::Move) -> u16;
    /// What moves where, as a number: a move of [`Self::candidates`] here. What was good after what is learnt by these.
    fn trail(&self, _mv: Self::Move) -> usize {
        0
    }
    /// A number of what changes slowly in a position: where it is the same the judgement often errs in the same way. Only
    /// asked in games with [`Tactics`] that correct it.
    fn frame(&self) -> u64 {
        0
    }
    /// Whose move it is.
    fn turn(&self) -> Side;
    /// Hash of the position, side to move included.
    fn key(&self) -> u64;
    /// [`Self::key`] after a move of [`Self::candidates`], or a key that is mostly the same, if it is quickly told: the search
    /// then fetches what it remembers of that position while the move is made.
    fn key_after(&self, _mv: Self::Move) -> Option<u64> {
        None
    }
    /// Makes a move from [`Self::candidates`].
    fn make(&mut self, mv: Self::Move);
    /// Takes the last move back.
    fn unmake(&mut self);
    /// Gives the turn away without a move, if the game can bear that in a search (no side is hurt by having to move), and
    /// says whether it did. [`Self::unpass`] undoes it.
    fn pass(&mut self) -> bool {
        false
    }
    /// Undoes [`Self::pass`].
    fn unpass(&mut self) {}
    /// What is certain here without looking ahead: the game is over, or its end can be seen from the position.
    fn known(&self) -> Option<Known>;
    /// How free the side to move is.
    fn urgency(&self) -> Urgency;
    /// Puts the moves worth searching into `into` (cleared first). A move left out must be no better than some move that is
    /// in, when the side to move is under a threat; else it may be left out by judgement. Empty: [`Self::STUCK`].
    fn candidates(&self, into: &mut Vec<Candidate<Self::Move>>);
    /// The one of [`Self::candidates`] that has this number, if the game can tell without listing them all: then a remembered
    /// move is tried before the others are listed.
    fn candidate(&self, _number: u16) -> Option<Candidate<Self::Move>> {
        None
    }
    /// Puts the moves into `into` (cleared first) that must be looked at before the position is judged: captures that do not
    /// lose material, and, if `checks`, what attacks at once. Where the side to move is [`Urgency::Forced`] those among which
    /// it must choose. Only asked in games with [`Tactics`].
    fn loud(&self, into: &mut Vec<Candidate<Self::Move>>, _checks: bool) {
        into.clear();
    }
    /// Whether the exchange of pieces that the move begins on its point leaves the side to move with at least this many
    /// points more than before, by count of material alone.
    fn holds(&self, _mv: Self::Move, _points: i32) -> bool {
        true
    }
    /// Judgement of the position for the side to move, well inside [`Value::PROVEN`].
    /// May bring up to date what it keeps; the position stays the same.
    fn evaluate(&mut self) -> i32;
    /// Looks for a win by threats that leave no choice, with this much effort, and says in how many plies it wins. `None`
    /// proves nothing. Ticks the clock for each position visited, and gives up when it is over.
    fn forced_win(&mut self, _effort: Effort, _clock: &mut Clock<'_>) -> Option<u32> {
        None
    }
}

/// A move worth searching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate<M> {
    /// The move.
    pub mv: M,
    /// The game's own rank of it among the moves here; history adds to it. Between -10,000 and 10,000.
    pub rank: i32,
    /// What it takes at once, in points; 0 for nothing. Such moves have no history: their rank says it all.
    pub takes: i32,
    /// Whether it threatens something that the other side must answer. Such moves are neither pruned nor reduced much.
    pub forcing: bool,
}

/// How free the side to move is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// It may do what it likes.
    Free,
    /// It loses unless it answers a threat; there are a few answers.
    Threatened,
    /// There is one move, or as good as one.
    Forced,
}

/// How hard to look for a forced win.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Where the search ends: thousands of times a second.
    Leaf,
    /// Inside the tree.
    Inner,
    /// Right after a move of the root: the answer decides whether that move loses at once.
    Thorough,
}
