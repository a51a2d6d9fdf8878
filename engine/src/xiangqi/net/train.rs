//! Training of the network by gradient descent on positions of self-play games.
//!
//! The target of a position is the score of a search and, weighted by [`TrainingConfig::result_weight`] (0 for the present network, see
//! EXPERIMENTS.md), the game's result, both as winning chance of the side to move. Positions are mirrored horizontally at
//! random.

use super::super::board::FILES;
use super::super::eval;
use super::super::position::Position;
use super::super::{Xiangqi, XiangqiMove};
use super::weights::Weights;
use super::{BUCKETS, CHANNELS, ONE, OUT_ONE, POINTS, ROWS, Row, bucket, row};
use crate::search::{AlphaBetaGame, Urgency};
use crate::training::{self, Record, Trainable, TrainingConfig, cross_entropy, sigmoid};
use crate::xiangqi::attacks::squares;
use crate::xiangqi::board::{Board, Kind};
use crate::{Game, Rng, Side};

/// A training position.
struct Sample {
    /// Each piece as its row in Red's perspective.
    pieces: Vec<u16>,
    turn: Side,
    bucket: u8,
    /// Target: winning chance of the side to move.
    target: f32,
}

impl Sample {
    fn new(board: &Board, target: f32) -> Self {
        let mut pieces = Vec::with_capacity(32);
        for side in Side::BOTH {
            for kind in Kind::ALL {
                let on = squares(board.pieces(side, kind));
                pieces.extend(
                    on.map(|square| row(Side::First, side, kind as usize, usize::from(square)) as u16),
                );
            }
        }
        Self { pieces, turn: board.turn(), bucket: bucket(eval::phase(board)) as u8, target }
    }
}

/// All weights in one vector: feature rows, accumulator bias, output layers (both perspectives each), their biases.
struct Model {
    weights: Vec<f32>,
    /// For each row in Red's perspective the one in Black's, and the one under horizontal reflection.
    turned: Vec<u16>,
    mirrored: Vec<u16>,
}

const BIAS: usize = ROWS * CHANNELS;
const OUT: usize = BIAS + CHANNELS;
const OUT_BIAS: usize = OUT + BUCKETS * 2 * CHANNELS;

impl Model {
    fn random(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut within =
            |low: f32, high: f32| low + (high - low) * rng.below(1 << 20) as f32 / (1 << 20) as f32;
        let mut weights: Vec<f32> = (0..BIAS).map(|_| within(-0.06, 0.06)).collect();
        weights.extend([0.4; CHANNELS]);
        weights.extend((OUT..OUT_BIAS).map(|_| within(-0.05, 0.05)));
        weights.extend([0.0; BUCKETS]);
        let (mut turned, mut mirrored) = (vec![0; ROWS], vec![0; ROWS]);
        for side in Side::BOTH {
            for kind in 0..7 {
                for square in 0..super::SQUARES {
                    let here = row(Side::First, side, kind, square);
                    let mirror = square / FILES * FILES + FILES - 1 - square % FILES;
                    turned[here] = row(Side::Second, side, kind, square) as u16;
                    mirrored[here] = row(Side::First, side, kind, mirror) as u16;
                }
            }
        }
        Self { weights, turned, mirrored }
    }

    fn quantized(&self) -> Weights {
        let quantize = |weight: f32, one: f32| (weight * one).round().clamp(-4_000.0, 4_000.0) as i16;
        let rows: Vec<Row> = self.weights[..OUT]
            .chunks_exact(CHANNELS)
            .map(|row| std::array::from_fn(|n| quantize(row[n], f32::from(ONE))))
            .collect();
        let (bias, rows) = rows.split_last().expect("the bias is the last row");
        let out =
            |bucket: usize, view: usize, n: usize| self.weights[OUT + (bucket * 2 + view) * CHANNELS + n];
        let out_one = (OUT_ONE * 254) as f32;
        Weights {
            rows: rows.to_vec(),
            bias: *bias,
            out: std::array::from_fn(|b| {
                std::array::from_fn(|view| std::array::from_fn(|n| quantize(out(b, view, n), OUT_ONE as f32)))
            }),
            out_bias: std::array::from_fn(|b| (self.weights[OUT_BIAS + b] * out_one).round() as i32),
        }
    }

    /// Adds the gradient of this sample's loss to `gradient`, unless that is empty; returns the loss.
    fn accumulate_gradient(&self, sample: &Sample, mirror: bool, gradient: &mut [f32]) -> f32 {
        let rows = |view: usize| {
            let own = (view == 0) == (sample.turn == Side::First);
            sample.pieces.iter().map(move |&piece| {
                let piece = if mirror { self.mirrored[usize::from(piece)] } else { piece };
                usize::from(if own { piece } else { self.turned[usize::from(piece)] })
            })
        };
        let mut accumulator = [[0.0_f32; CHANNELS]; 2];
        for (view, accumulator) in accumulator.iter_mut().enumerate() {
            accumulator.copy_from_slice(&self.weights[BIAS..OUT]);
            for row in rows(view) {
                let row = &self.weights[row * CHANNELS..(row + 1) * CHANNELS];
                for (sum, weight) in accumulator.iter_mut().zip(row) {
                    *sum += weight;
                }
            }
        }
        let bucket = usize::from(sample.bucket);
        let at = OUT + bucket * 2 * CHANNELS;
        let out = &self.weights[at..at + 2 * CHANNELS];
        let mut odds = self.weights[OUT_BIAS + bucket];
        for (sum, weight) in accumulator.iter().flatten().zip(out) {
            let cut = sum.clamp(0.0, 1.0);
            odds += cut * cut * weight;
        }
        let loss = cross_entropy(odds, sample.target);
        if gradient.is_empty() {
            return loss;
        }
        let error = sigmoid(odds) - sample.target;
        gradient[OUT_BIAS + bucket] += error;
        for (view, accumulator) in accumulator.iter().enumerate() {
            let mut of_sums = [0.0_f32; CHANNELS];
            for n in 0..CHANNELS {
                let cut = accumulator[n].clamp(0.0, 1.0);
                gradient[at + view * CHANNELS + n] += error * cut * cut;
                let inside = accumulator[n] > 0.0 && accumulator[n] < 1.0;
                of_sums[n] = if inside { 2.0 * error * cut * out[view * CHANNELS + n] } else { 0.0 };
            }
            for row in rows(view).chain([ROWS]) {
                for (gradient, of_sum) in
                    gradient[row * CHANNELS..(row + 1) * CHANNELS].iter_mut().zip(of_sums)
                {
                    *gradient += of_sum;
                }
            }
        }
        loss
    }
}

impl Trainable for Model {
    type Sample = Sample;
    const BATCH: usize = 512;

    fn weights(&mut self) -> &mut [f32] {
        &mut self.weights
    }

    fn decayed_weights(&self) -> usize {
        BIAS
    }

    fn accumulate_gradient(&mut self, sample: &Sample, rng: Option<&mut Rng>, gradient: &mut [f32]) -> f32 {
        Model::accumulate_gradient(self, sample, rng.is_some_and(|rng| rng.below(2) == 0), gradient)
    }
}

/// Trains a network on games; returns its file. `tell` gets progress lines.
pub fn train(
    records: &[Record<XiangqiMove>],
    config: TrainingConfig,
    tell: &mut dyn FnMut(String),
) -> Vec<u8> {
    let (training_set, validation_set) =
        training::samples_of(records, |record, samples| add_samples(record, &config, samples));
    let mut model = Model::random(config.seed);
    tell(format!(
        "{} positions of {} games; the least loss there can be {:.4}",
        training_set.len(),
        records.len(),
        training::mean(&validation_set, |sample| training::target_entropy(sample.target))
    ));
    training::fit(&mut model, &training_set, &validation_set, config, tell);
    model.quantized().write()
}

/// Adds the positions that the search would evaluate: without a certain result, a check, or a winning capture.
fn add_samples(record: &Record<XiangqiMove>, config: &TrainingConfig, samples: &mut Vec<Sample>) {
    let start = Xiangqi::new(&super::super::XiangqiSetup::default()).expect("the default setup is valid");
    let mut position = Position::new(&start);
    for (&mv, score) in record.moves.iter().zip(&record.scores) {
        if let Some(score) = *score
            && position.urgency() == Urgency::Free
            && position.verdict().is_none()
            && !position.hangs()
        {
            let target = record.target(position.turn(), score, POINTS as f32, config);
            samples.push(Sample::new(position.board(), target));
        }
        position.make(mv);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Accumulator;
    use super::*;
    use crate::xiangqi::fen::Fen;

    const SIZE: usize = OUT_BIAS + BUCKETS;

    fn samples() -> Vec<(Position, Sample)> {
        let mut rng = Rng::new(4);
        let mut moves = Vec::new();
        (0..10)
            .map(|n| {
                let mut position = Position::from_board(&Fen::read(Fen::START).expect("a position").board);
                for _ in 0..5 + 4 * n {
                    position.board().legal_moves(&mut moves);
                    position.make(moves[rng.below(moves.len() as u32) as usize]);
                }
                let sample = Sample::new(position.board(), 0.3);
                (position, sample)
            })
            .collect()
    }

    #[test]
    fn the_gradient_is_that_of_the_loss() {
        let mut model = Model::random(9);
        let mut rng = Rng::new(2);
        let mut off = 0;
        for (_, sample) in samples() {
            let mut gradient = vec![0.0; SIZE];
            model.accumulate_gradient(&sample, false, &mut gradient);
            let piece = usize::from(sample.pieces[0]) * CHANNELS;
            for part in [piece..piece + CHANNELS, BIAS..OUT, OUT..SIZE] {
                for _ in 0..10 {
                    let n = part.start + rng.below(part.len() as u32) as usize;
                    let (weight, by) = (model.weights[n], 0.002);
                    let mut loss = |weight| {
                        model.weights[n] = weight;
                        model.accumulate_gradient(&sample, false, &mut [])
                    };
                    let seen = (loss(weight + by) - loss(weight - by)) / (2.0 * by);
                    loss(weight);
                    off += u32::from((seen - gradient[n]).abs() > 0.001 + 0.1 * gradient[n].abs());
                }
            }
        }
        // At a clipping boundary the loss has a kink, where the numerical gradient is off.
        assert!(off <= 6, "{off} of 300");
    }

    #[test]
    fn what_the_search_uses_is_what_was_learnt() {
        let model = Model::random(9);
        let weights = model.quantized();
        for (position, sample) in samples() {
            let mut accumulator = Accumulator::new(&weights);
            let phase = eval::phase(position.board());
            let said = accumulator.judge(position.board(), phase, &weights) as f32 / POINTS as f32;
            let loss = model.accumulate_gradient(&sample, false, &mut []);
            assert!((cross_entropy(said, sample.target) - loss).abs() < 0.02, "{said}, {loss}");
        }
    }
}
