//! The alpha-beta search that the board games with two sides and nothing hidden share.
//!
//! A game gives its moves, its judgement and what it can prove ([`AlphaBetaGame`]); [`AlphaBeta`] looks ahead. The parts are
//! files apart: `alphabeta` walks the tree, `prune` says what of it is not worth a look, `quiet` looks on from its leaves until
//! nothing is hanging, `order` decides which move comes first, `table` remembers positions, `clock` says when to stop, `value`
//! is what scores mean, `finding` what a search answers, `params` is what of all this suits a game, `strength` what a level may
//! use. Evaluation belongs to the games.
//!
//! What it does not do: read a clock (the caller lends one in [`crate::Limits`]), draw random numbers. It starts threads only
//! when asked to ([`AlphaBeta::set_threads`]), and they end with the search.

mod alphabeta;
#[cfg(test)]
mod asking;
mod clock;
mod finding;
mod order;
mod pages;
mod params;
mod prune;
mod quiescence;
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
pub use params::{Reductions, SearchParams, Tactics};
pub(crate) use strength::Strength;
pub use value::{MAX_PLY, NodeVerdict, Value};

/// A position that [`AlphaBeta`] can search: moves are made and taken back in place.
///
/// This is not [`crate::Game`] itself but what a bot builds from one, since it carries what only a search needs (pattern
/// counts, attack tables) along with every move.
pub trait AlphaBetaGame: Clone + Send {
    /// A move, as small as can be.
    type Move: Copy + Eq + Debug + Send;
    /// [`Self::number`] is always below this. Tables of moves have this size.
    const MOVE_NUMBERS: usize;
    /// [`Self::continuation_index`] is always below this; 0 for a game without continuation history.
    const CONTINUATIONS: usize = 0;
    /// The search's parameters for this game.
    const PARAMS: SearchParams;
    /// What a side that has no move has come to.
    const STUCK: NodeVerdict = NodeVerdict::Draw;
    /// Whether the turn changes with every move. If not, the search looks at [`Self::turn`] after each.
    const ALTERNATES: bool = true;
    /// Whether there are wins by threats that leave no choice, and [`Self::forced_win`] looks for them.
    const FORCES: bool = false;

    /// A number of its own for each move; the same move has the same number in every position.
    fn number(mv: Self::Move) -> u16;
    /// What moves where, as a number: the index of a move of [`Self::candidates`] in continuation history.
    fn continuation_index(&self, _mv: Self::Move) -> usize {
        0
    }
    /// A hash of what changes slowly in a position (as a pawn structure in chess): the key of correction history. Only asked in
    /// games with [`Tactics`] that correct.
    fn structure_key(&self) -> u64 {
        0
    }
    /// Whose move it is.
    fn turn(&self) -> Side;
    /// Hash of the position, side to move included.
    fn key(&self) -> u64;
    /// [`Self::key`] after a move of [`Self::candidates`], or a key that is mostly the same, if it is quickly told: the search
    /// then prefetches the entry of that position while the move is made.
    fn key_after(&self, _mv: Self::Move) -> Option<u64> {
        None
    }
    /// Makes a move from [`Self::candidates`].
    fn make(&mut self, mv: Self::Move);
    /// Unmakes the last move.
    fn unmake(&mut self);
    /// Makes a null move, if it is sound here (no zugzwang), and says whether it did. [`Self::unpass`] unmakes it.
    fn pass(&mut self) -> bool {
        false
    }
    /// Undoes [`Self::pass`].
    fn unpass(&mut self) {}
    /// What is certain here without looking ahead: the game is over, or its end can be seen from the position.
    fn verdict(&self) -> Option<NodeVerdict>;
    /// How free the side to move is.
    fn urgency(&self) -> Urgency;
    /// Puts the moves worth searching into `into` (cleared first). A move left out must be no better than some move that is
    /// in, when the side to move is under a threat; else it may be left out by judgement. Empty: [`Self::STUCK`].
    fn candidates(&self, into: &mut Vec<Candidate<Self::Move>>);
    /// The one of [`Self::candidates`] that has this number, if the game can tell without listing them all: then the table's
    /// move is tried before the others are generated.
    fn candidate(&self, _number: u16) -> Option<Candidate<Self::Move>> {
        None
    }
    /// Puts the moves of quiescence into `into` (cleared first): captures that do not lose material, and, if `checks`, what attacks
    /// at once. Where the side to move is [`Urgency::Forced`] those among which
    /// it must choose. Only asked in games with [`Tactics`].
    fn noisy(&self, into: &mut Vec<Candidate<Self::Move>>, _checks: bool) {
        into.clear();
    }
    /// Static exchange evaluation: whether the exchange that the move begins on its point leaves the side to move with at least
    /// this many points more than before, by count of material alone.
    fn see_at_least(&self, _mv: Self::Move, _points: i32) -> bool {
        true
    }
    /// Static evaluation for the side to move, well inside [`Value::PROVEN`].
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
