//! Evaluation by an NNUE: an efficiently updatable neural network over pieces on squares.
//!
//! Features are (piece, square) in each side's perspective; the feature transformer has a row of `CHANNELS` numbers for each. The
//! accumulator is the sum of the rows of the pieces on the board. Its activation is a squared clipped ReLU; both perspectives, that
//! of the side to move first, go into an output layer of one unit, with `BUCKETS` sets of weights by how many attacking pieces are
//! left. The output is the whole static evaluation, but for what no side can win any more (`eval::scale`).
//!
//! `train` makes the weights from games of this engine against itself; see EXPERIMENTS.md for the recipe. Accumulators are integers
//! and the same on every processor.

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
pub use crate::training::{Record, TrainingConfig};
pub use train::train;
pub(super) use weights::Weights;

/// Width of the accumulator in one perspective.
const CHANNELS: usize = 64;
/// Features: own and enemy pieces of seven kinds on any square.
const ROWS: usize = 2 * 7 * SQUARES;
/// Output buckets.
const BUCKETS: usize = 8;
/// Quantisation of the accumulator: this is 1.0.
const ONE: i16 = 255;
/// Quantisation of the output layer: this is 1.0.
const OUT_ONE: i32 = 64;
/// Points that an output of 1.0 stands for: a win is e times as likely as a loss.
const POINTS: i32 = 520;

/// One row of numbers.
type Row = [i16; CHANNELS];

/// The accumulator of both perspectives with the board that it belongs to. Updated lazily: the search makes and unmakes many
/// moves without an evaluation, and the difference is applied when one is requested.
#[derive(Clone)]
pub(super) struct Accumulator {
    pieces: [[Set; 7]; 2],
    /// By perspective.
    rows: [Row; 2],
}

/// Index of a feature in a side's perspective: each side sees its own pieces at the bottom.
const fn row(view: Side, side: Side, kind: usize, square: usize) -> usize {
    let enemy = !matches!((view, side), (Side::First, Side::First) | (Side::Second, Side::Second));
    let square = match view {
        Side::First => square,
        Side::Second => (RANKS - 1 - square / FILES) * FILES + square % FILES,
    };
    (enemy as usize * 7 + kind) * SQUARES + square
}

/// The output bucket of a board.
fn bucket(phase: i32) -> usize {
    (phase.clamp(0, PHASE_MAX) as usize * BUCKETS / (PHASE_MAX as usize + 1)).min(BUCKETS - 1)
}

impl Accumulator {
    /// The accumulator of an empty board.
    pub(super) fn new(weights: &Weights) -> Self {
        Self { pieces: [[0; 7]; 2], rows: [weights.bias; 2] }
    }

    /// Static evaluation for the side to move, in points, after updating the accumulator to the board. `phase` is that of
    /// `eval`.
    pub(super) fn judge(&mut self, board: &Board, phase: i32, weights: &Weights) -> i32 {
        #[cfg(target_arch = "x86_64")]
        #[allow(
            unsafe_code,
            reason = "loops over rows of 64 numbers are nearly all of the judgement; EXPERIMENTS.md"
        )]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor supports AVX2, for which the function is compiled.
            return unsafe { self.judge_by_avx2(board, phase, weights) };
        }
        self.judge_anywhere(board, phase, weights)
    }

    /// [`Self::judge`] compiled for AVX2, whose vectors are twice as wide as the baseline's.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn judge_by_avx2(&mut self, board: &Board, phase: i32, weights: &Weights) -> i32 {
        self.judge_anywhere(board, phase, weights)
    }

    #[inline(always)]
    fn judge_anywhere(&mut self, board: &Board, phase: i32, weights: &Weights) -> i32 {
        self.refresh(board, weights);
        let bucket = bucket(phase);
        let mut sum = weights.out_bias[bucket];
        for (view, out) in [board.turn(), board.turn().other()].into_iter().zip(&weights.out[bucket]) {
            sum += weigh(&self.rows[view.index()], out);
        }
        // Squared activations have the scale 255 * 255 / 256.
        (i64::from(sum) * i64::from(POINTS) / i64::from(OUT_ONE * 254)) as i32
    }

    /// Applies the difference between the accumulator's board and this one.
    #[inline(always)]
    fn refresh(&mut self, board: &Board, weights: &Weights) {
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
                        let accumulator = &mut self.rows[view.index()];
                        if comes {
                            add(accumulator, row);
                        } else {
                            subtract(accumulator, row);
                        }
                    }
                }
            }
        }
    }
}

// Whole-row operations, which the compiler vectorises.

#[inline(always)]
fn add(accumulator: &mut Row, row: &Row) {
    for (sum, weight) in accumulator.iter_mut().zip(row) {
        *sum = sum.wrapping_add(*weight);
    }
}

#[inline(always)]
fn subtract(accumulator: &mut Row, row: &Row) {
    for (sum, weight) in accumulator.iter_mut().zip(row) {
        *sum = sum.wrapping_sub(*weight);
    }
}

#[inline(always)]
fn weigh(accumulator: &Row, out: &Row) -> i32 {
    let mut total = 0;
    for (&sum, &weight) in accumulator.iter().zip(out) {
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
        let mut accumulator = Accumulator::new(&weights);
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
                let judged = accumulator.judge(&board, 20, &weights);
                let mut fresh = Accumulator::new(&weights);
                assert_eq!(fresh.judge_anywhere(&board, 20, &weights), judged);
                assert!(fresh.rows == accumulator.rows);
            }
        }
    }

    #[test]
    fn both_sides_are_judged_alike() {
        let weights = Weights::drawn(2);
        let judge = |fen: &str| {
            let board = Fen::read(fen).expect("a position").board;
            let mut accumulator = Accumulator::new(&weights);
            accumulator.judge(&board, 20, &weights)
        };
        let said = judge("2bak4/4a4/4b4/9/4c4/4N4/9/4B1C2/4A4/3AK1BC1 w");
        assert_eq!(said, judge("3ak1bc1/4a4/4b1c2/9/4n4/4C4/9/4B4/4A4/2BAK4 b"));
        assert_ne!(said, 0);
    }
}
