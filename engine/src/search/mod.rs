//! Alpha-beta search for two-player games with perfect information.
//!
//! A game provides moves, static evaluation and proofs ([`AlphaBetaGame`]); [`AlphaBeta`] searches. Its parts: `alphabeta`
//! walks the tree, `prune` prunes and extends, `quiescence` resolves captures at the leaves, `order` orders moves, `table`
//! is the transposition table, `clock` enforces limits, `value` defines the scale of values, `finding` is the result,
//! `params` are tuned parameters per game, `strength` are limits per level. Static evaluation belongs to the games.
//!
//! What it does not do: read a clock (the caller provides one in [`crate::Limits`]), draw random numbers. It starts threads
//! only on request ([`AlphaBeta::set_threads`]), and they end with the search.

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

/// A position that [`AlphaBeta`] can search: moves are made and unmade in place.
///
/// A bot builds it from a [`crate::Game`]. It contains what only a search needs, such as pattern counts or attack tables,
/// updated incrementally.
pub trait AlphaBetaGame: Clone + Send {
    /// A compact move.
    type Move: Copy + Eq + Debug + Send;
    /// Upper bound (exclusive) of [`Self::number`], the size of tables indexed by moves.
    const MOVE_NUMBERS: usize;
    /// Upper bound (exclusive) of [`Self::continuation_index`]; 0 for a game without continuation history.
    const CONTINUATIONS: usize = 0;
    /// The search parameters of this game.
    const PARAMS: SearchParams;
    /// The result for a side without moves.
    const STUCK: NodeVerdict = NodeVerdict::Draw;
    /// Whether the turn changes with every move. If not, the search reads [`Self::turn`] after each move.
    const ALTERNATES: bool = true;
    /// Whether there are wins by continuous threats, for which [`Self::forced_win`] searches.
    const FORCES: bool = false;

    /// A unique number of the move, the same in every position.
    fn number(mv: Self::Move) -> u16;
    /// The index of a move of [`Self::candidates`] in continuation history: piece and destination.
    fn continuation_index(&self, _mv: Self::Move) -> usize {
        0
    }
    /// A hash of slowly changing features of the position (such as the pawn structure in chess), as the key of correction
    /// history. Used only in games with [`Tactics`].
    fn structure_key(&self) -> u64 {
        0
    }
    /// The side to move.
    fn turn(&self) -> Side;
    /// Zobrist hash of the position, including the side to move.
    fn key(&self) -> u64;
    /// [`Self::key`] after a move of [`Self::candidates`], or a key that is equal in most cases, if it is cheap: the search
    /// prefetches the table entry of that position while the move is made.
    fn key_after(&self, _mv: Self::Move) -> Option<u64> {
        None
    }
    /// Makes a move from [`Self::candidates`].
    fn make(&mut self, mv: Self::Move);
    /// Unmakes the last move.
    fn unmake(&mut self);
    /// Makes a null move if that is sound here (no zugzwang), and returns whether it did. [`Self::unpass`] unmakes it.
    fn pass(&mut self) -> bool {
        false
    }
    /// Unmakes [`Self::pass`].
    fn unpass(&mut self) {}
    /// A certain result without search: the game is over, or its end follows from the position.
    fn verdict(&self) -> Option<NodeVerdict>;
    /// How restricted the side to move is.
    fn urgency(&self) -> Urgency;
    /// Writes the moves worth searching into `into` (cleared first). Under a threat, a move may be left out only if it is no
    /// better than a listed one; otherwise also by heuristics. Empty: [`Self::STUCK`].
    fn candidates(&self, into: &mut Vec<Candidate<Self::Move>>);
    /// The move of [`Self::candidates`] with this number, if the game can generate it alone: then the table's move is
    /// searched before the others are generated.
    fn candidate(&self, _number: u16) -> Option<Candidate<Self::Move>> {
        None
    }
    /// Writes the moves of quiescence search into `into` (cleared first): captures that do not lose material, and, if
    /// `checks`, checks. If the side to move is [`Urgency::Forced`], all its replies. Used only in games with [`Tactics`].
    fn noisy(&self, into: &mut Vec<Candidate<Self::Move>>, _checks: bool) {
        into.clear();
    }
    /// Static exchange evaluation: whether the capture sequence on the move's destination gains at least this many points of
    /// material for the side to move.
    fn see_at_least(&self, _mv: Self::Move, _points: i32) -> bool {
        true
    }
    /// Static evaluation for the side to move, well below [`Value::PROVEN`] in absolute value. May update incremental state;
    /// the position is unchanged.
    fn evaluate(&mut self) -> i32;
    /// Searches for a win by continuous threats, with this effort, and returns its length in plies. `None` proves nothing.
    /// Ticks the clock for each node, and gives up when it is over.
    fn forced_win(&mut self, _effort: Effort, _clock: &mut Clock<'_>) -> Option<u32> {
        None
    }
}

/// A move to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate<M> {
    /// The move.
    pub mv: M,
    /// The game's own rank of the move among those of the node, to which history is added. Between -10,000 and 10,000.
    pub rank: i32,
    /// Value of the immediate capture in points; 0 for none. Captures have no history: the rank is used alone.
    pub takes: i32,
    /// Whether the move makes a threat that must be answered. Such moves are not pruned, and hardly reduced.
    pub forcing: bool,
}

/// How restricted the side to move is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// Not restricted.
    Free,
    /// It loses unless it answers a threat, for which there are few replies.
    Threatened,
    /// There is effectively one reply.
    Forced,
}

/// Effort of a search for a forced win.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// At a leaf: thousands of times per second.
    Leaf,
    /// At an inner node.
    Inner,
    /// After a root move: determines whether the move loses at once.
    Thorough,
}
