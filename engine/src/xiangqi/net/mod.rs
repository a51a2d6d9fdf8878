//! Judgement by a small network over pieces on squares, brought up to date from one judged position to the next.
//!
//! Each side looks at the board from its own end: every piece on a square, its own or the enemy's, has a row of `CHANNELS`
//! numbers in that view. The rows of the pieces on the board are added, cut to 0..1 and squared; what both views give, that of
//! the side to move first, is weighed by one of `BUCKETS` sets of weights, by how many attacking pieces are left. What comes
//! out is the judgement: nothing else is counted but what no side can win any more (`eval::scale`).
//!
//! The weights are made by `train` from games of this engine against itself; see EXPERIMENTS.md for the recipe. All sums are of
//! whole numbers and come out the same on every processor.

#![allow(
    clippy::inline_always,
    reason = "the judgement is compiled once for each kind of processor, and only where it is inlined"
)]

mod train;
mod weights;

use super::attacks::{Set, squares};
use super::board::{Board, FILES, Kind, RANKS, SQUARES};
use super::eval::PHASE_MAX;
use crate::Side;
pub use crate::descent::{Learning, Record};
pub use train::train;
pub(super) use weights::Weights;

/// Numbers for each piece on a square in one side's view.
const CHANNELS: usize = 64;
/// Own and enemy pieces of seven kinds on any square.
const ROWS: usize = 2 * 7 * SQUARES;
/// Sets of weights of the way out.
const BUCKETS: usize = 8;
/// What stands for 1.0 in the sums.
const ONE: i16 = 255;
/// What stands for 1.0 in the weights of the way out.
const OUT_ONE: i32 = 64;
/// Points of judgement that stand for 1.0 of what comes out: a win is e times as likely as a loss.
const POINTS: i32 = 520;

/// One row of numbers.
type Row = [i16; CHANNELS];

/// The sums that a judgement needs, and the board that they belong to. It may lag behind the board of the search, which makes
/// and takes back many moves that nobody judges: what differs is put right when a judgement is asked for.
#[derive(Clone)]
pub(super) struct Sums {
    pieces: [[Set; 7]; 2],
    /// By view.
    rows: [Row; 2],
}

/// The row of a piece on a square in the view of a side: both sides see their own pieces at the bottom.
const fn row(view: Side, side: Side, kind: usize, square: usize) -> usize {
    let enemy = !matches!((view, side), (Side::First, Side::First) | (Side::Second, Side::Second));
    let square = match view {
        Side::First => square,
        Side::Second => (RANKS - 1 - square / FILES) * FILES + square % FILES,
    };
    (enemy as usize * 7 + kind) * SQUARES + square
}

/// Which weights of the way out a board has.
fn bucket(phase: i32) -> usize {
    (phase.clamp(0, PHASE_MAX) as usize * BUCKETS / (PHASE_MAX as usize + 1)).min(BUCKETS - 1)
}

impl Sums {
    /// The sums of a board without pieces.
    pub(super) fn new(weights: &Weights) -> Self {
        Self { pieces: [[0; 7]; 2], rows: [weights.bias; 2] }
    }

    /// The judgement of a board for the side to move, in points, once these are its sums. `phase` is that of `eval`.
    pub(super) fn judge(&mut self, board: &Board, phase: i32, weights: &Weights) -> i32 {
        #[cfg(target_arch = "x86_64")]
        #[allow(
            unsafe_code,
            reason = "loops over rows of 64 numbers are nearly all of the judgement; EXPERIMENTS.md"
        )]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { self.judge_by_avx2(board, phase, weights) };
        }
        self.judge_anywhere(board, phase, weights)
    }

    /// [`Self::judge`] with twice as wide instructions as compilers may take for granted.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn judge_by_avx2(&mut self, board: &Board, phase: i32, weights: &Weights) -> i32 {
        self.judge_anywhere(board, phase, weights)
    }

    #[inline(always)]
    fn judge_anywhere(&mut self, board: &Board, phase: i32, weights: &Weights) -> i32 {
        self.follow(board, weights);
        let bucket = bucket(phase);
        let mut sum = weights.out_bias[bucket];
        for (view, out) in [board.turn(), board.turn().other()].into_iter().zip(&weights.out[bucket]) {
            sum += weigh(&self.rows[view.index()], out);
        }
        // Squares are of 255 * 255 / 256.
        (i64::from(sum) * i64::from(POINTS) / i64::from(OUT_ONE * 254)) as i32
    }

    /// Makes these the sums of this board.
    #[inline(always)]
    fn follow(&mut self, board: &Board, weights: &Weights) {
        for side in Side::BOTH {
            for kind in Kind::ALL {
                let now = board.pieces(side, kind);
                let known = &mut self.pieces[side.index()][kind as usize];
                let changed = now ^ *known;
                *known = now;
                for square in squares(changed) {
                    let comes = now >> square & 1 != 0;
                    for view in Side::BOTH {
                        let row = &weights.rows[row(view, side, kind as usize, usize::from(square))];
                        let sums = &mut self.rows[view.index()];
                        if comes {
                            add(sums, row);
                        } else {
                            subtract(sums, row);
                        }
                    }
                }
            }
        }
    }
}

// One step over a whole row each, so that the compiler makes a few wide instructions of it.

#[inline(always)]
fn add(sums: &mut Row, row: &Row) {
    for (sum, weight) in sums.iter_mut().zip(row) {
        *sum = sum.wrapping_add(*weight);
    }
}

#[inline(always)]
fn subtract(sums: &mut Row, row: &Row) {
    for (sum, weight) in sums.iter_mut().zip(row) {
        *sum = sum.wrapping_sub(*weight);
    }
}

#[inline(always)]
fn weigh(sums: &Row, out: &Row) -> i32 {
    let mut total = 0;
    for (&sum, &weight) in sums.iter().zip(out) {
        let cut = sum.clamp(0, ONE) as u16;
        let square = ((cut * cut) >> 8) as i16;
        total += i32::from(square) * i32::from(weight);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::xiangqi::fen::Fen;

    #[test]
    fn sums_that_followed_any_way_here_are_those_of_a_fresh_look_whatever_the_processor() {
        let weights = Weights::drawn(1);
        let mut board = Fen::read(Fen::START).expect("a position").board;
        let mut sums = Sums::new(&weights);
        let (mut rng, mut moves, mut made) = (Rng::new(5), Vec::new(), Vec::new());
        for _ in 0..2_000 {
            board.legal_moves(&mut moves);
            if moves.is_empty() || (!made.is_empty() && rng.below(3) == 0) {
                let Some((mv, taken)) = made.pop() else { break };
                board.unmake(mv, taken);
            } else {
                let mv = moves[rng.below(moves.len() as u32) as usize];
                made.push((mv, board.make(mv)));
            }
            if rng.below(2) == 0 {
                let judged = sums.judge(&board, 20, &weights);
                let mut fresh = Sums::new(&weights);
                assert_eq!(fresh.judge_anywhere(&board, 20, &weights), judged);
                assert!(fresh.rows == sums.rows);
            }
        }
    }

    #[test]
    fn both_sides_are_judged_alike() {
        let weights = Weights::drawn(2);
        let judge = |fen: &str| {
            let board = Fen::read(fen).expect("a position").board;
            let mut sums = Sums::new(&weights);
            sums.judge(&board, 20, &weights)
        };
        let said = judge("2bak4/4a4/4b4/9/4c4/4N4/9/4B1C2/4A4/3AK1BC1 w");
        assert_eq!(said, judge("3ak1bc1/4a4/4b1c2/9/4n4/4C4/9/4B4/4A4/2BAK4 b"));
        assert_ne!(said, 0);
    }
}
