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
use crate::kernel::{self, Kernel};
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
        kernel::run(Judgement { accumulator: self, board, phase, weights })
    }

    /// [`Self::judge`] with an output layer written for NEON. The compiler vectorises the rows by itself.
    #[cfg(target_arch = "aarch64")]
    #[target_feature(enable = "neon")]
    fn judge_by_neon(&mut self, board: &Board, phase: i32, weights: &Weights) -> i32 {
        self.refresh(board, weights);
        let ([us, them], [our_out, their_out], bias) = self.output_layer(board, phase, weights);
        points(bias + neon::weigh(us, our_out) + neon::weigh(them, their_out))
    }

    #[cfg_attr(target_arch = "aarch64", allow(dead_code, reason = "tests compare it with NEON's"))]
    #[inline(always)]
    fn judge_anywhere(&mut self, board: &Board, phase: i32, weights: &Weights) -> i32 {
        self.refresh(board, weights);
        let ([us, them], [our_out, their_out], bias) = self.output_layer(board, phase, weights);
        points(bias + weigh(us, our_out) + weigh(them, their_out))
    }

    /// The output layer's inputs, weights and bias, those of the side to move first.
    #[inline(always)]
    fn output_layer<'a>(
        &'a self,
        board: &Board,
        phase: i32,
        weights: &'a Weights,
    ) -> ([&'a Row; 2], &'a [Row; 2], i32) {
        let bucket = bucket(phase);
        let rows = [board.turn(), board.turn().other()].map(|view| &self.rows[view.index()]);
        (rows, &weights.out[bucket], weights.out_bias[bucket])
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

/// [`Accumulator::judge`], compiled for each kind of processor.
struct Judgement<'a> {
    accumulator: &'a mut Accumulator,
    board: &'a Board,
    phase: i32,
    weights: &'a Weights,
}

impl Kernel for Judgement<'_> {
    type Output = i32;

    #[inline(always)]
    fn run(self) -> i32 {
        let Self { accumulator, board, phase, weights } = self;
        #[cfg(target_arch = "aarch64")]
        #[allow(unsafe_code, reason = "an eighth of the instructions of tests; EXPERIMENTS.md")]
        // SAFETY: NEON belongs to the base architecture of 64-bit Arm.
        let judged = unsafe { accumulator.judge_by_neon(board, phase, weights) };
        #[cfg(not(target_arch = "aarch64"))]
        let judged = accumulator.judge_anywhere(board, phase, weights);
        judged
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

#[cfg_attr(target_arch = "aarch64", allow(dead_code, reason = "tests compare it with NEON's"))]
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

/// The output of the network in points. Squared activations have the scale 255 * 255 / 256.
#[inline(always)]
fn points(sum: i32) -> i32 {
    (i64::from(sum) * i64::from(POINTS) / i64::from(OUT_ONE * 254)) as i32
}

/// The output layer for 64-bit Arm. `SDOT` multiplies bytes, which these weights do not fit in: 6 of the network's 1,024 are above 127.
#[cfg(target_arch = "aarch64")]
mod neon {
    use std::arch::aarch64::{
        int16x8_t, vaddq_s32, vaddvq_s32, vdupq_n_s32, vget_low_s16, vget_low_u8, vmlal_high_s16, vmlal_s16,
        vmull_high_u8, vmull_u8, vqmovun_high_s16, vqmovun_s16, vreinterpretq_s16_u16, vshrq_n_u16,
    };

    use super::Row;

    /// [`super::weigh`]. Narrowing with saturation clamps to 0 ..= 255, which is `ONE`.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn weigh(accumulator: &Row, out: &Row) -> i32 {
        const { assert!(super::ONE == u8::MAX as i16) };
        let mut sums = [vdupq_n_s32(0); 4];
        let (numbers, weights) = (accumulator.as_chunks().0, out.as_chunks().0);
        for (numbers, weights) in numbers.chunks_exact(2).zip(weights.chunks_exact(2)) {
            let (low, high) = (load(&numbers[0]), load(&numbers[1]));
            let (low_weights, high_weights) = (load(&weights[0]), load(&weights[1]));
            let clipped = vqmovun_high_s16(vqmovun_s16(low), high);
            let low = vmull_u8(vget_low_u8(clipped), vget_low_u8(clipped));
            let low = vreinterpretq_s16_u16(vshrq_n_u16::<8>(low));
            let high = vreinterpretq_s16_u16(vshrq_n_u16::<8>(vmull_high_u8(clipped, clipped)));
            sums[0] = vmlal_s16(sums[0], vget_low_s16(low), vget_low_s16(low_weights));
            sums[1] = vmlal_high_s16(sums[1], low, low_weights);
            sums[2] = vmlal_s16(sums[2], vget_low_s16(high), vget_low_s16(high_weights));
            sums[3] = vmlal_high_s16(sums[3], high, high_weights);
        }
        vaddvq_s32(vaddq_s32(vaddq_s32(sums[0], sums[1]), vaddq_s32(sums[2], sums[3])))
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn load(numbers: &[i16; 8]) -> int16x8_t {
        #[allow(unsafe_code, reason = "as of `Judgement`")]
        // SAFETY: the vector is these eight numbers, of which any bits are valid.
        unsafe {
            std::mem::transmute::<[i16; 8], int16x8_t>(*numbers)
        }
    }
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

    #[test]
    fn the_network_says_the_same_on_every_processor() {
        let weights = Weights::shared();
        let (mut rng, mut moves, mut said) = (Rng::new(7), Vec::new(), 0_u64);
        for _ in 0..100 {
            let mut board = Fen::read(Fen::START).expect("a position").board;
            let mut accumulator = Accumulator::new(weights);
            let mut plain = accumulator.clone();
            for ply in 0..80 {
                board.legal_moves(&mut moves);
                if moves.is_empty() {
                    break;
                }
                board.make(moves[rng.below(moves.len() as u32) as usize]);
                let phase = PHASE_MAX - PHASE_MAX * ply / 80;
                let judged = accumulator.judge(&board, phase, weights);
                assert_eq!(plain.judge_anywhere(&board, phase, weights), judged);
                said = (said ^ u64::from(judged as u32)).wrapping_mul(0x100_0000_01b3);
            }
        }
        // From x86-64 without AVX2. Another network has another number.
        assert_eq!(said, 7_056_675_547_972_906_755);
    }

    #[cfg(target_arch = "aarch64")]
    #[test]
    fn the_output_layer_of_neon_is_the_plain_one_for_every_sum() {
        let mut rng = Rng::new(3);
        for sum in i16::MIN..=i16::MAX {
            // Each sum once in each lane of a vector, beside others, with weights from end to end.
            let accumulator: Row = std::array::from_fn(|n| sum.wrapping_add(n as i16 * 257));
            let out: Row = std::array::from_fn(|_| rng.below(1 << 16) as u16 as i16);
            // SAFETY: NEON belongs to the base architecture of 64-bit Arm.
            #[allow(unsafe_code, reason = "as of `Judgement`")]
            let by_neon = unsafe { neon::weigh(&accumulator, &out) };
            assert_eq!(by_neon, weigh(&accumulator, &out));
        }
    }
}
