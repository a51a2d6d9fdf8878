//! Move ordering: killer moves, countermoves, history and continuation history; and correction history of the evaluation.

use super::{AlphaBetaGame, Candidate, MAX_PLY, SearchParams};
use crate::Side;

/// Statistics about moves, independent of positions.
pub(super) struct Order<G: AlphaBetaGame> {
    /// Killer moves: two a ply that refuted a sibling node.
    killers: Vec<[Option<G::Move>; 2]>,
    /// Countermoves: the refutation of a move, by that move's number.
    countermoves: Vec<Option<G::Move>>,
    /// Butterfly history: how often a move was the best, by side and number, between plus and minus [`HISTORY_MAX`].
    history: [Vec<i16>; 2],
    /// Continuation history: the same by the [`AlphaBetaGame::continuation_index`] of an earlier move (row) and of this one
    /// (column). Distances of one and two plies and both colours share it: an index tells whose move it was.
    continuation: Vec<i16>,
    /// [`SearchParams::continuation_percent`] of this search.
    continuation_percent: i32,
    /// Correction history, by side to move and [`AlphaBetaGame::structure_key`]: how much more positions turned out to be worth
    /// than their static evaluation.
    correction_history: [Vec<i16>; 2],
}

/// The preceding moves of a node, as far as move ordering uses them.
#[derive(Clone, Copy)]
pub(super) struct Way<M> {
    pub(super) ply: usize,
    /// The move that led to the node; `None` after a null move.
    pub(super) previous: Option<M>,
    /// Continuation indexes of the moves one and two plies ago.
    pub(super) before: [usize; 2],
}

/// In a list of [`AlphaBetaGame::continuation_index`]s: no move.
pub(super) const NO_CONTINUATION: usize = usize::MAX;

/// Bound of a history score: a full score outweighs the ranks of three open threes.
const HISTORY_MAX: i32 = 8192;

impl<G: AlphaBetaGame> Order<G> {
    pub(super) const fn new() -> Self {
        Self {
            killers: Vec::new(),
            countermoves: Vec::new(),
            history: [Vec::new(), Vec::new()],
            continuation: Vec::new(),
            continuation_percent: 0,
            correction_history: [const { Vec::new() }; 2],
        }
    }

    /// Must be called before each search: halves history, clears killer moves.
    pub(super) fn begin(&mut self, params: &SearchParams) {
        self.killers = vec![[None; 2]; MAX_PLY + 1];
        self.countermoves.resize(G::MOVE_NUMBERS, None);
        self.continuation_percent = params.continuation_percent;
        self.continuation
            .resize(if params.continuation_percent > 0 { G::CONTINUATIONS * G::CONTINUATIONS } else { 0 }, 0);
        if G::PARAMS.tactics.is_some() {
            for corrections in &mut self.correction_history {
                corrections.resize(STRUCTURES, 0);
            }
        }
        for history in &mut self.history {
            history.resize(G::MOVE_NUMBERS, 0);
            for score in history {
                *score /= 2;
            }
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        *self = Self::new();
    }

    /// The history score of a move, between -1 and 1 in units of 1/1024: butterfly history and, in games with continuations,
    /// continuation history for the moves one and two plies ago (`before`), with equal weights.
    pub(super) fn history(&self, game: &G, side: Side, mv: G::Move, before: [usize; 2]) -> i32 {
        let alone = i32::from(self.history[side.index()][usize::from(G::number(mv))]);
        (alone + self.continuation_history(game, mv, before)) * 1024 / HISTORY_MAX
    }

    fn continuation_history(&self, game: &G, mv: G::Move, before: [usize; 2]) -> i32 {
        if G::CONTINUATIONS == 0 || self.continuation_percent == 0 {
            return 0;
        }
        let continuation_index = game.continuation_index(mv);
        let rows = before.into_iter().filter(|&row| row != NO_CONTINUATION);
        rows.map(|row| i32::from(self.continuation[row * G::CONTINUATIONS + continuation_index])).sum::<i32>()
            * self.continuation_percent
            / 100
    }

    /// Whether this move has refuted a sibling or, elsewhere, the move before.
    pub(super) fn is_killer(&self, mv: G::Move, way: Way<G::Move>) -> bool {
        self.killers[way.ply].contains(&Some(mv))
            || way
                .previous
                .is_some_and(|previous| self.countermoves[usize::from(G::number(previous))] == Some(mv))
    }

    /// What correction history adds to a static evaluation with this structure key, in points for the side to move.
    pub(super) fn correction(&self, game: &G) -> i32 {
        i32::from(self.correction_history[game.turn().index()][structure_key(game)]) / CORRECTION_SCALE
    }

    /// Updates correction history: a search of this depth, in plies, has found this many points more than the static
    /// evaluation.
    pub(super) fn learn_correction(&mut self, game: &G, points: i32, plies: i32) {
        let correction = &mut self.correction_history[game.turn().index()][structure_key(game)];
        let (old, seen) =
            (i32::from(*correction), points.clamp(-CORRECTION_MAX, CORRECTION_MAX) * CORRECTION_SCALE);
        *correction = (old + (seen - old) * (plies + 1).min(16) / 256) as i16;
    }

    /// Sets the final rank of each candidate. `first` is the number of the table's move.
    pub(super) fn rank(
        &self,
        game: &G,
        params: &SearchParams,
        candidates: &mut [Candidate<G::Move>],
        first: u16,
        way: Way<G::Move>,
    ) {
        let Way { ply, previous, before } = way;
        let side = game.turn();
        let killers = self.killers[ply];
        let countermove = previous.and_then(|mv| self.countermoves[usize::from(G::number(mv))]);
        for candidate in candidates {
            let mv = candidate.mv;
            candidate.rank = if G::number(mv) == first {
                i32::MAX
            } else if candidate.takes > 0 {
                candidate.rank * params.rank_scale
            } else {
                let mut rank = candidate.rank * params.rank_scale
                    + i32::from(self.history[side.index()][usize::from(G::number(mv))])
                    + self.continuation_history(game, mv, before);
                if killers.contains(&Some(mv)) {
                    rank += params.killer;
                }
                if countermove == Some(mv) {
                    rank += params.countermove;
                }
                rank
            };
        }
    }

    /// Updates the tables: the last of `tried` refuted the node, the moves before it did not.
    pub(super) fn learn(&mut self, game: &G, tried: &[Candidate<G::Move>], way: Way<G::Move>, bonus: i32) {
        let Way { ply, previous, before } = way;
        let Some((&Candidate { mv: best, takes, .. }, others)) = tried.split_last() else { return };
        if takes > 0 {
            return;
        }
        let side = game.turn();
        let bonus = bonus.min(HISTORY_MAX / 4);
        self.nudge(game, side, best, before, bonus);
        for candidate in others.iter().filter(|candidate| candidate.takes == 0) {
            self.nudge(game, side, candidate.mv, before, -bonus / 2);
        }
        let killers = &mut self.killers[ply];
        if killers[0] != Some(best) {
            *killers = [Some(best), killers[0]];
        }
        if let Some(previous) = previous {
            self.countermoves[usize::from(G::number(previous))] = Some(best);
        }
    }

    fn nudge(&mut self, game: &G, side: Side, mv: G::Move, before: [usize; 2], bonus: i32) {
        nudge(&mut self.history[side.index()][usize::from(G::number(mv))], bonus);
        if G::CONTINUATIONS > 0 && self.continuation_percent > 0 {
            let continuation_index = game.continuation_index(mv);
            for row in before.into_iter().filter(|&row| row != NO_CONTINUATION) {
                nudge(&mut self.continuation[row * G::CONTINUATIONS + continuation_index], bonus);
            }
        }
    }
}

/// Slots of correction history, a power of two.
const STRUCTURES: usize = 1 << 14;
/// Corrections are stored in units of 1/128 point; one update learns at most 200 points.
const CORRECTION_SCALE: i32 = 128;
const CORRECTION_MAX: i32 = 200;

fn structure_key<G: AlphaBetaGame>(game: &G) -> usize {
    game.structure_key() as usize % STRUCTURES
}

/// History gravity: moves the score towards the sign of `bonus`, the less the closer it is to [`HISTORY_MAX`].
fn nudge(score: &mut i16, bonus: i32) {
    let old = i32::from(*score);
    *score = (old + bonus - old * bonus.abs() / HISTORY_MAX) as i16;
}

/// Selection sort step: moves the best candidate from index `from` on to that index. Sorting all would be wasted if the
/// first move refutes.
pub(super) fn pick<M: Copy>(candidates: &mut [Candidate<M>], from: usize) -> Candidate<M> {
    let (mut best, mut rank) = (from, candidates[from].rank);
    for (n, candidate) in candidates.iter().enumerate().skip(from + 1) {
        if candidate.rank > rank {
            (best, rank) = (n, candidate.rank);
        }
    }
    candidates.swap(from, best);
    candidates[from]
}
