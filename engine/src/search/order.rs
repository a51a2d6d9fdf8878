//! Which move to try first.

use super::{AlphaBetaGame, Candidate, Habits, MAX_PLY};
use crate::Side;

/// What the search has learnt about moves apart from the positions they were made in.
pub(super) struct Order<G: AlphaBetaGame> {
    /// Two moves a ply that refuted a sibling.
    killers: Vec<[Option<G::Move>; 2]>,
    /// The refutation of the move that came before, by that move's number.
    answers: Vec<Option<G::Move>>,
    /// How often a move was the best, by side and number: between plus and minus [`HISTORY_MAX`].
    history: [Vec<i16>; 2],
    /// The same by what moved where before (a row) and what moves where now. Both colours and the distances of one and two
    /// plies share it: a row says by its number whose move it was.
    after: Vec<i16>,
    /// [`Habits::after`] of this search.
    after_part: i32,
    /// By side to move and [`AlphaBetaGame::frame`]: how much more positions turned out to be worth than they were judged.
    errors: [Vec<i16>; 2],
}

/// How the search came to a node.
#[derive(Clone, Copy)]
pub(super) struct Way<M> {
    pub(super) ply: usize,
    /// The move that led here; `None` after a pass.
    pub(super) previous: Option<M>,
    /// Trails of the moves one and two plies ago.
    pub(super) before: [usize; 2],
}

/// Stands for no move in a list of [`AlphaBetaGame::trail`]s.
pub(super) const NO_TRAIL: usize = usize::MAX;

/// Bound of a history score: a full score outweighs the ranks of three open threes.
const HISTORY_MAX: i32 = 8192;

impl<G: AlphaBetaGame> Order<G> {
    pub(super) const fn new() -> Self {
        Self {
            killers: Vec::new(),
            answers: Vec::new(),
            history: [Vec::new(), Vec::new()],
            after: Vec::new(),
            after_part: 0,
            errors: [const { Vec::new() }; 2],
        }
    }

    /// To be called before each search: history fades, killers go.
    pub(super) fn begin(&mut self, habits: &Habits) {
        self.killers = vec![[None; 2]; MAX_PLY + 1];
        self.answers.resize(G::MOVE_NUMBERS, None);
        self.after_part = habits.after;
        self.after.resize(if habits.after > 0 { G::TRAILS * G::TRAILS } else { 0 }, 0);
        if G::HABITS.tactics.is_some() {
            for errors in &mut self.errors {
                errors.resize(FRAMES, 0);
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

    /// How often this move has been the best, in [-1, 1] parts of 1024: by itself and, where the game has trails, after the
    /// moves one and two plies ago (`before`), which count as much each.
    pub(super) fn history(&self, game: &G, side: Side, mv: G::Move, before: [usize; 2]) -> i32 {
        let alone = i32::from(self.history[side.index()][usize::from(G::number(mv))]);
        (alone + self.after(game, mv, before)) * 1024 / HISTORY_MAX
    }

    fn after(&self, game: &G, mv: G::Move, before: [usize; 2]) -> i32 {
        if G::TRAILS == 0 || self.after_part == 0 {
            return 0;
        }
        let trail = game.trail(mv);
        let rows = before.into_iter().filter(|&row| row != NO_TRAIL);
        rows.map(|row| i32::from(self.after[row * G::TRAILS + trail])).sum::<i32>() * self.after_part / 100
    }

    /// Whether this move has refuted a sibling or, elsewhere, the move before.
    pub(super) fn is_killer(&self, mv: G::Move, way: Way<G::Move>) -> bool {
        self.killers[way.ply].contains(&Some(mv))
            || way.previous.is_some_and(|previous| self.answers[usize::from(G::number(previous))] == Some(mv))
    }

    /// How much more than judged the positions of this frame have been worth for the side to move, in points.
    pub(super) fn error(&self, game: &G) -> i32 {
        i32::from(self.errors[game.turn().index()][frame(game)]) / ERROR_PARTS
    }

    /// A search this deep (in plies) has found so many points more than the judgement.
    pub(super) fn err(&mut self, game: &G, points: i32, plies: i32) {
        let error = &mut self.errors[game.turn().index()][frame(game)];
        let (old, seen) = (i32::from(*error), points.clamp(-ERROR_MAX, ERROR_MAX) * ERROR_PARTS);
        *error = (old + (seen - old) * (plies + 1).min(16) / 256) as i16;
    }

    /// Gives each candidate its final rank. `first` is the number of the move that the table remembers.
    pub(super) fn rank(
        &self,
        game: &G,
        habits: &Habits,
        candidates: &mut [Candidate<G::Move>],
        first: u16,
        way: Way<G::Move>,
    ) {
        let Way { ply, previous, before } = way;
        let side = game.turn();
        let killers = self.killers[ply];
        let answer = previous.and_then(|mv| self.answers[usize::from(G::number(mv))]);
        for candidate in candidates {
            let mv = candidate.mv;
            candidate.rank = if G::number(mv) == first {
                i32::MAX
            } else if candidate.takes > 0 {
                candidate.rank * habits.rank_scale
            } else {
                let mut rank = candidate.rank * habits.rank_scale
                    + i32::from(self.history[side.index()][usize::from(G::number(mv))])
                    + self.after(game, mv, before);
                if killers.contains(&Some(mv)) {
                    rank += habits.killer;
                }
                if answer == Some(mv) {
                    rank += habits.answer;
                }
                rank
            };
        }
    }

    /// The last of `tried` refuted the node; the moves before it did not.
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
            self.answers[usize::from(G::number(previous))] = Some(best);
        }
    }

    fn nudge(&mut self, game: &G, side: Side, mv: G::Move, before: [usize; 2], bonus: i32) {
        nudge(&mut self.history[side.index()][usize::from(G::number(mv))], bonus);
        if G::TRAILS > 0 && self.after_part > 0 {
            let trail = game.trail(mv);
            for row in before.into_iter().filter(|&row| row != NO_TRAIL) {
                nudge(&mut self.after[row * G::TRAILS + trail], bonus);
            }
        }
    }
}

/// Frames that are told apart, a power of two.
const FRAMES: usize = 1 << 14;
/// An error is kept in this part of a point, and no larger than so many points.
const ERROR_PARTS: i32 = 128;
const ERROR_MAX: i32 = 200;

fn frame<G: AlphaBetaGame>(game: &G) -> usize {
    game.frame() as usize % FRAMES
}

/// Moves the score towards the sign of `bonus`, the less the further out it is, so that it stays inside its bound.
fn nudge(score: &mut i16, bonus: i32) {
    let old = i32::from(*score);
    *score = (old + bonus - old * bonus.abs() / HISTORY_MAX) as i16;
}

/// Brings the best of the candidates from `from` on to that place. Sorting them all would be wasted where the first refutes.
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
