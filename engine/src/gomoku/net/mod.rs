//! Evaluation by an efficiently updatable network over line patterns.
//!
//! A feature is the neighbourhood of a point along a line (the `RADIUS` cells on either side), in each colour's perspective;
//! each has a row of `CHANNELS` numbers. The rows of a point's four lines are added and pass through a clipped ReLU, which
//! makes intersecting lines count. The sum over all empty points (sum pooling), in both perspectives, and a few counts of
//! threats are the input of one hidden layer. The output is added to the evaluation by shapes (`shape`), so that the network
//! learns only its error.
//!
//! Mirrored neighbourhoods share a row, and so do the colours: positions that are equal by symmetry or swap of colours get
//! the same score. `train` makes the weights from self-play games; see EXPERIMENTS.md for the recipe. Accumulators are
//! integers, the layers floats in a fixed order: the result is the same on every processor.

#![allow(
    clippy::inline_always,
    reason = "the judgement is compiled once for each kind of processor, and only where it is inlined"
)]

mod train;
mod weights;

use super::board::{Board, SQUARES, Square};
use super::shape::Threat;
use crate::Side;
use crate::kernel::{self, Kernel};
pub use crate::training::{Record, TrainingConfig};
pub use train::train;
pub(super) use weights::Weights;

/// Cells on either side of a point that the network sees along a line.
const RADIUS: u32 = 4;
/// Number of neighbourhoods: 2 * [`RADIUS`] cells of two bits.
const SURROUNDINGS: usize = 1 << (4 * RADIUS);
/// Width of a row in one perspective.
const CHANNELS: usize = 32;
/// Quantisation of a point's accumulator: this is 1.0.
const ONE: i16 = 127;
/// The pooled accumulator is divided by this before the hidden layer.
const POOL_SCALE: f32 = 16.0;
/// Threats whose number of squares is an input, for each side.
const COUNTED: [Threat; 7] = [
    Threat::Three,
    Threat::ThreeAndMore,
    Threat::DoubleThree,
    Threat::Four,
    Threat::FourAndMore,
    Threat::FourThree,
    Threat::TwoFours,
];
/// Maximum of such a count.
const COUNT_MAX: u32 = 4;
/// Inputs of the hidden layer: both perspectives of the accumulator, and both sides' counts, those of the side to move first.
const INPUTS: usize = 2 * CHANNELS + 2 * COUNTED.len();
/// Units of the layer.
const HIDDEN: usize = 32;
/// Points that an output of 1.0 stands for: a win is e times as likely as a loss.
const POINTS: f32 = 400.0;

/// One row of numbers.
type Row = [i16; CHANNELS];

/// The accumulator with the board that it belongs to. Updated lazily: the search makes and unmakes many moves without an
/// evaluation, and the difference is applied when one is requested.
#[derive(Clone)]
pub(super) struct Accumulator {
    /// For each point and perspective the sum of its four rows.
    points: Vec<[Row; 2]>,
    /// For each perspective the sum of the clipped values over the empty points. It can exceed an `i16` on the largest
    /// boards, and is read as `u16`.
    pool: [Row; 2],
    lines: [[u64; 64]; 4],
    stones: [[u32; 32]; 2],
}

impl Accumulator {
    /// The accumulator of an empty board of this size.
    pub(super) fn new(board: &Board, weights: &Weights) -> Self {
        let mut accumulator = Self {
            points: vec![[[0; CHANNELS]; 2]; SQUARES],
            pool: [[0; CHANNELS]; 2],
            lines: board.empty_lines(),
            stones: [[0; 32]; 2],
        };
        for square in board.every_square() {
            for direction in 0..4 {
                let (line, place) = square.line(direction);
                let rows = weights.rows(surrounding(accumulator.lines[direction][line], place));
                for (view, row) in rows.into_iter().enumerate() {
                    let point = &mut accumulator.points[usize::from(square.0)][view];
                    *point = sum(*point, *row);
                }
            }
            accumulator.count_point(square, true);
        }
        accumulator
    }

    /// The network's correction of the evaluation by shapes, for the side to move, in points. The board must have the size
    /// of the accumulator.
    pub(super) fn judge(&mut self, board: &Board, weights: &Weights) -> i32 {
        kernel::run(Judgement { accumulator: self, board, weights })
    }

    /// [`Self::judge`] with layers written for NEON. The compiler vectorises the rows by itself.
    #[cfg(target_arch = "aarch64")]
    #[target_feature(enable = "neon")]
    fn judge_by_neon(&mut self, board: &Board, weights: &Weights) -> i32 {
        self.refresh(board, weights);
        points(neon::layers(&self.inputs(board), weights))
    }

    #[cfg_attr(target_arch = "aarch64", allow(dead_code, reason = "tests compare it with NEON's"))]
    #[inline(always)]
    fn judge_anywhere(&mut self, board: &Board, weights: &Weights) -> i32 {
        self.refresh(board, weights);
        points(layers(&self.inputs(board), weights))
    }

    /// Applies the difference between the accumulator's board and this one.
    #[inline(always)]
    fn refresh(&mut self, board: &Board, weights: &Weights) {
        for (side, rows) in board.stones().iter().enumerate() {
            for (y, &row) in rows.iter().enumerate() {
                let mut changed = row ^ self.stones[side][y];
                while changed != 0 {
                    let square = Square::at(changed.trailing_zeros(), y as u32);
                    changed &= changed - 1;
                    self.change(board, square, Side::BOTH[side], weights);
                }
            }
        }
    }

    /// Adds a stone, or removes it if it is there.
    #[inline(always)]
    fn change(&mut self, board: &Board, square: Square, side: Side, weights: &Weights) {
        let bit = 1 << square.x();
        self.count_point(square, false);
        self.stones[side.index()][square.y() as usize] ^= bit;
        let stone = 1 + side as u64;
        for (direction, step) in super::board::STEPS.into_iter().enumerate() {
            let (number, place) = square.line(direction);
            let before = self.lines[direction][number];
            if before == u64::MAX {
                continue;
            }
            let after = before ^ stone << (2 * place);
            self.lines[direction][number] = after;
            for sign in [-1_i16, 1] {
                for distance in 1..=RADIUS as i16 {
                    let at = Square(square.0.wrapping_add_signed(step * sign * distance));
                    if !board.has(at) {
                        break;
                    }
                    let place = place.wrapping_add_signed(i32::from(sign * distance));
                    let old = weights.rows(surrounding(before, place));
                    let new = weights.rows(surrounding(after, place));
                    self.renew(at, old, new);
                }
            }
        }
        self.count_point(square, true);
    }

    /// Replaces a row of a point.
    #[inline(always)]
    fn renew(&mut self, square: Square, old: [&Row; 2], new: [&Row; 2]) {
        let empty = self.is_empty(square);
        let point = &mut self.points[usize::from(square.0)];
        for view in 0..2 {
            let (before, old, new) = (point[view], *old[view], *new[view]);
            let after = sum(sum(before, new), negative(old));
            point[view] = after;
            if empty {
                let by = sum(cut(after), negative(cut(before)));
                self.pool[view] = sum(self.pool[view], by);
            }
        }
    }

    fn is_empty(&self, square: Square) -> bool {
        let y = square.y() as usize;
        (self.stones[0][y] | self.stones[1][y]) >> square.x() & 1 == 0
    }

    /// Adds an empty point to the pooled sums, or removes it.
    #[inline(always)]
    fn count_point(&mut self, square: Square, add: bool) {
        if !self.is_empty(square) {
            return;
        }
        for view in 0..2 {
            let part = cut(self.points[usize::from(square.0)][view]);
            self.pool[view] = sum(self.pool[view], if add { part } else { negative(part) });
        }
    }

    /// Inputs of the hidden layer for the side to move.
    #[inline(always)]
    fn inputs(&self, board: &Board) -> [f32; INPUTS] {
        let mut inputs = [0.0; INPUTS];
        let us = board.turn();
        for (n, side) in [us, us.other()].into_iter().enumerate() {
            for (input, &sum) in inputs[n * CHANNELS..].iter_mut().zip(&self.pool[side.index()]) {
                *input = f32::from(sum as u16) * (1.0 / (127.0 * POOL_SCALE));
            }
        }
        inputs[2 * CHANNELS..].copy_from_slice(&counts(board));
        inputs
    }
}

/// [`Accumulator::judge`], compiled for each kind of processor.
struct Judgement<'a> {
    accumulator: &'a mut Accumulator,
    board: &'a Board,
    weights: &'a Weights,
}

impl Kernel for Judgement<'_> {
    type Output = i32;

    #[inline(always)]
    fn run(self) -> i32 {
        let Self { accumulator, board, weights } = self;
        #[cfg(target_arch = "aarch64")]
        #[allow(unsafe_code, reason = "one of a hundred instructions; EXPERIMENTS.md")]
        // SAFETY: NEON belongs to the base architecture of 64-bit Arm.
        let judged = unsafe { accumulator.judge_by_neon(board, weights) };
        #[cfg(not(target_arch = "aarch64"))]
        let judged = accumulator.judge_anywhere(board, weights);
        judged
    }
}

/// Evaluates the layers.
#[cfg_attr(target_arch = "aarch64", allow(dead_code, reason = "tests compare it with NEON's"))]
#[inline(always)]
fn layers(inputs: &[f32; INPUTS], weights: &Weights) -> f32 {
    let mut hidden = weights.bias;
    for (&input, row) in inputs.iter().zip(&weights.layer) {
        // Most counts are 0.
        if input != 0.0 {
            hidden = std::array::from_fn(|n| hidden[n] + input * row[n]);
        }
    }
    let mut sum = weights.out_bias;
    for (hidden, weight) in hidden.iter().zip(&weights.out) {
        sum += hidden.clamp(0.0, 1.0) * weight;
    }
    sum
}

/// An output of the network in points.
#[inline(always)]
fn points(output: f32) -> i32 {
    (output * POINTS) as i32
}

/// The layers for 64-bit Arm: the compiler keeps part of the hidden units as single numbers and moves them in and out of vectors for
/// each input.
#[cfg(target_arch = "aarch64")]
mod neon {
    use std::arch::aarch64::{
        float32x4_t, vaddq_f32, vdupq_n_f32, vgetq_lane_f32, vmaxq_f32, vminq_f32, vmulq_f32, vmulq_n_f32,
    };

    use super::{HIDDEN, INPUTS, Weights};

    /// [`super::layers`]: the same products and sums in the same order, without fused operations, so that every bit is the same.
    /// Only a zero may have another sign.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn layers(inputs: &[f32; INPUTS], weights: &Weights) -> f32 {
        let mut hidden: [float32x4_t; HIDDEN / 4] = [vdupq_n_f32(0.0); HIDDEN / 4];
        for (hidden, bias) in hidden.iter_mut().zip(weights.bias.as_chunks().0) {
            *hidden = load(bias);
        }
        for (&input, row) in inputs.iter().zip(&weights.layer) {
            if input != 0.0 {
                for (hidden, row) in hidden.iter_mut().zip(row.as_chunks().0) {
                    *hidden = vaddq_f32(*hidden, vmulq_n_f32(load(row), input));
                }
            }
        }
        let mut sum = weights.out_bias;
        for (&hidden, weights) in hidden.iter().zip(weights.out.as_chunks().0) {
            let clipped = vminq_f32(vmaxq_f32(hidden, vdupq_n_f32(0.0)), vdupq_n_f32(1.0));
            let products = vmulq_f32(clipped, load(weights));
            sum += vgetq_lane_f32::<0>(products);
            sum += vgetq_lane_f32::<1>(products);
            sum += vgetq_lane_f32::<2>(products);
            sum += vgetq_lane_f32::<3>(products);
        }
        sum
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn load(numbers: &[f32; 4]) -> float32x4_t {
        #[allow(unsafe_code, reason = "as of `Judgement`")]
        // SAFETY: the vector is these four numbers, of which any bits are valid.
        unsafe {
            std::mem::transmute::<[f32; 4], float32x4_t>(*numbers)
        }
    }
}

/// Counts of squares by threat, those of the side to move first.
fn counts(board: &Board) -> [f32; 2 * COUNTED.len()] {
    let us = board.turn();
    std::array::from_fn(|n| {
        let side = if n < COUNTED.len() { us } else { us.other() };
        board.count(side, COUNTED[n % COUNTED.len()]).min(COUNT_MAX) as f32 / COUNT_MAX as f32
    })
}

// Whole-row operations, which the compiler vectorises to one or two instructions.

#[inline(always)]
fn sum(a: Row, b: Row) -> Row {
    std::array::from_fn(|n| a[n].wrapping_add(b[n]))
}

#[inline(always)]
fn negative(a: Row) -> Row {
    std::array::from_fn(|n| a[n].wrapping_neg())
}

/// The clipped ReLU of a row.
#[inline(always)]
fn cut(a: Row) -> Row {
    std::array::from_fn(|n| a[n].clamp(0, ONE))
}

/// The neighbourhood of a place in a line, cells before it in the low bits.
#[inline]
fn surrounding(line: u64, place: u32) -> usize {
    let bits = 2 * RADIUS;
    let window = line >> (2 * (place - RADIUS));
    let mask = (1 << bits) - 1;
    (window & mask | (window >> (bits + 2) & mask) << bits) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gomoku::board::Tables;
    use crate::{Game, Gomoku, GomokuRule, GomokuSetup, Rng};

    #[test]
    fn sums_that_followed_any_way_here_are_those_of_a_fresh_look_whatever_the_processor() {
        let weights = Weights::drawn(1);
        let mut rng = Rng::new(5);
        for size in [9, 15, 20] {
            let setup = GomokuSetup { size, ..GomokuSetup::default() };
            let game = Gomoku::new(&setup).expect("the setup is valid");
            let mut board = Board::new(&game, Tables::shared(GomokuRule::Freestyle));
            let empty = Accumulator::new(&board, &weights);
            let mut accumulator = empty.clone();
            let mut made = 0;
            for _ in 0..300 {
                if made > 0 && rng.below(3) == 0 {
                    board.unmake();
                    made -= 1;
                } else {
                    let free: Vec<Square> = board.all_empty().collect();
                    let Some(&square) = free.get(rng.below(free.len().max(1) as u32) as usize) else { break };
                    board.make(square);
                    made += 1;
                }
                if rng.below(2) == 0 {
                    let judged = accumulator.judge(&board, &weights);
                    let mut fresh = empty.clone();
                    assert_eq!(fresh.judge_anywhere(&board, &weights), judged);
                    assert!(fresh.pool == accumulator.pool && fresh.points == accumulator.points);
                }
            }
        }
    }

    #[test]
    fn the_network_says_the_same_on_every_processor() {
        let rule = GomokuRule::Freestyle;
        let weights = Weights::shared(rule).expect("freestyle has a network");
        let game = Gomoku::new(&GomokuSetup::default()).expect("the setup is valid");
        let mut rng = Rng::new(7);
        let mut said = 0_u64;
        for _ in 0..50 {
            let mut board = Board::new(&game, Tables::shared(rule));
            let mut accumulator = Accumulator::new(&board, &weights);
            let mut plain = accumulator.clone();
            for _ in 0..60 {
                let free: Vec<Square> = board.all_empty().collect();
                board.make(free[rng.below(free.len() as u32) as usize]);
                let judged = accumulator.judge(&board, &weights);
                assert_eq!(plain.judge_anywhere(&board, &weights), judged);
                said = (said ^ u64::from(judged as u32)).wrapping_mul(0x100_0000_01b3);
            }
        }
        // From x86-64 without AVX2. Another network has another number.
        assert_eq!(said, 18_236_556_403_359_995_235);
    }

    #[cfg(target_arch = "aarch64")]
    #[test]
    fn the_layers_of_neon_are_the_plain_ones_to_the_last_bit() {
        let mut rng = Rng::new(11);
        for seed in 0..20 {
            let mut weights = Weights::drawn(seed);
            // From far below to far beyond what clipping leaves.
            let scale = 2.0_f32.powi(rng.below(20) as i32 - 14);
            weights.layer.iter_mut().flatten().for_each(|weight| *weight *= scale);
            for _ in 0..2_000 {
                let inputs = std::array::from_fn(|_| match rng.below(3) {
                    0 => 0.0,
                    _ => rng.below(1 << 16) as f32 * (1.0 / (127.0 * POOL_SCALE)),
                });
                // SAFETY: NEON belongs to the base architecture of 64-bit Arm.
                #[allow(unsafe_code, reason = "as of `Judgement`")]
                let by_neon = unsafe { neon::layers(&inputs, &weights) };
                assert_eq!(by_neon.to_bits(), layers(&inputs, &weights).to_bits());
            }
        }
    }
}
