//! Training of the network by gradient descent on positions of self-play games.
//!
//! The target of a position combines the score of a search and the game's result, both as winning chance of the side to
//! move. The evaluation by shapes is fixed; the network learns the correction to it.

use super::super::board::{Board, FIRST_ROW, Square, Tables};
use super::super::pattern::Pattern;
use super::super::position::Position;
use super::super::shape::Threat;
use super::super::vcf::Solver;
use super::super::{Gomoku, Placement};
use super::weights::{Weights, places};
use super::{CHANNELS, COUNTED, HIDDEN, INPUTS, ONE, POINTS, POOL_SCALE, RADIUS, Row, surrounding};
use crate::search::AlphaBetaGame;
use crate::training::{self, Record, Trainable, TrainingConfig, cross_entropy, sigmoid};
use crate::{Game, GomokuRule, Rng, Side};

/// A training position.
struct Sample {
    /// Bitboards of each side's stones, by row.
    stones: [[u32; ROWS]; 2],
    turn: Side,
    /// See [`super::counts`].
    counts: [f32; 2 * COUNTED.len()],
    /// Evaluation by shapes for the side to move, as log odds.
    shapes: f32,
    /// Target: winning chance of the side to move.
    target: f32,
}

/// Number of rows of the largest board, without margins.
const ROWS: usize = 20;

impl Sample {
    fn new(board: &Board, shapes: f32, target: f32) -> Self {
        let rows = |side: usize| std::array::from_fn(|y| board.stones()[side][y + FIRST_ROW]);
        Self { stones: [rows(0), rows(1)], turn: board.turn(), counts: super::counts(board), shapes, target }
    }
}

/// What all boards of one setup have in common.
struct Blank {
    lines: [[u64; 64]; 4],
    squares: Vec<Square>,
}

impl Blank {
    fn new(start: &Gomoku) -> Self {
        let board = Board::new(start, Tables::shared(start.setup().rule));
        Self { lines: board.empty_lines(), squares: board.every_square().collect() }
    }

    /// The lines with a sample's stones, and its empty squares.
    fn fill(&self, sample: &Sample) -> ([[u64; 64]; 4], impl Iterator<Item = Square>) {
        let mut lines = self.lines;
        let at = |side: usize, square: Square| {
            sample.stones[side][square.y() as usize - FIRST_ROW] >> square.x() & 1 != 0
        };
        for &square in &self.squares {
            let Some(side) = (0..2).find(|&side| at(side, square)) else { continue };
            for (direction, lines) in lines.iter_mut().enumerate() {
                let (line, place) = square.line(direction);
                if lines[line] != u64::MAX {
                    lines[line] |= (1 + side as u64) << (2 * place);
                }
            }
        }
        let empty = move |square: &Square| !at(0, *square) && !at(1, *square);
        (lines, self.squares.iter().copied().filter(empty))
    }
}

/// All weights in one vector: neighbourhood rows, hidden layer, its bias, output layer, its bias; after them the factorised
/// part, rows of the patterns that a stone in the neighbourhood makes for either side.
///
/// By this factorisation a rare neighbourhood is evaluated by its pattern until enough games are known.
struct Model {
    /// The trainable weights.
    weights: Vec<f32>,
    /// The effective weights: neighbourhood rows with their patterns' rows added, followed by the layers.
    effective: Vec<f32>,
    /// For each neighbourhood row the rows of its two patterns.
    patterns: Vec<[usize; 2]>,
    rows: usize,
}

const LAYER: usize = INPUTS * HIDDEN;

impl Model {
    fn random(rule: GomokuRule, seed: u64) -> Self {
        let (places, count) = places();
        let rows = count * CHANNELS;
        let mut rng = Rng::new(seed);
        let mut within =
            |low: f32, high: f32| low + (high - low) * rng.below(1 << 20) as f32 / (1 << 20) as f32;
        let mut weights = vec![0.0; rows];
        // Small initial values, so that no unit is clipped permanently.
        weights.extend((0..LAYER).map(|_| within(-0.02, 0.02)));
        weights.extend([0.5; HIDDEN]);
        weights.extend((0..HIDDEN).map(|_| within(-0.1, 0.1)));
        weights.push(0.0);
        weights.extend((0..2 * Pattern::COUNT * CHANNELS).map(|_| within(-0.08, 0.13)));
        let tables = Tables::shared(rule);
        let mut patterns = vec![[0; 2]; count];
        for (surrounding, &[black, _]) in places.iter().enumerate() {
            let [own, theirs] = tables.patterns_of(surrounding as u64, RADIUS);
            patterns[usize::from(black)] = [own as usize, Pattern::COUNT + theirs as usize];
        }
        let mut model = Self { effective: Vec::new(), weights, patterns, rows };
        model.rebuild_effective();
        model
    }

    /// Index of the first pattern row.
    const fn patterns_from(&self) -> usize {
        self.rows + LAYER + 2 * HIDDEN + 1
    }

    /// Computes the effective weights after a step.
    fn rebuild_effective(&mut self) {
        let from = self.patterns_from();
        self.effective.clear();
        self.effective.extend_from_slice(&self.weights[..from]);
        for (row, patterns) in self.effective.chunks_exact_mut(CHANNELS).zip(&self.patterns) {
            for pattern in patterns {
                let at = from + pattern * CHANNELS;
                for (whole, weight) in row.iter_mut().zip(&self.weights[at..at + CHANNELS]) {
                    *whole += weight;
                }
            }
        }
    }

    /// Adds the gradient of neighbourhood rows to their patterns' rows.
    fn scatter_to_patterns(&self, gradient: &mut [f32]) {
        let (whole, of_patterns) = gradient.split_at_mut(self.patterns_from());
        for (row, patterns) in whole.chunks_exact(CHANNELS).zip(&self.patterns) {
            for pattern in patterns {
                for (gradient, of_row) in of_patterns[pattern * CHANNELS..].iter_mut().zip(row) {
                    *gradient += of_row;
                }
            }
        }
    }

    fn row(&self, number: u16) -> &[f32] {
        let at = usize::from(number) * CHANNELS;
        &self.effective[at..at + CHANNELS]
    }

    fn quantized(&self) -> Weights {
        let (rows, rest) = self.effective.split_at(self.rows);
        let quantize = |weight: f32| (weight * f32::from(ONE)).round().clamp(-8_000.0, 8_000.0) as i16;
        let rows: Vec<Row> =
            rows.chunks_exact(CHANNELS).map(|row| std::array::from_fn(|n| quantize(row[n]))).collect();
        let layer = std::array::from_fn(|i| std::array::from_fn(|h| rest[i * HIDDEN + h]));
        let rest = &rest[LAYER..];
        let bias = std::array::from_fn(|h| rest[h]);
        let out = std::array::from_fn(|h| rest[HIDDEN + h]);
        Weights::from_parts(rows, &layer, bias, out, rest[2 * HIDDEN])
    }
}

/// Buffers of a forward and backward pass, kept to avoid allocations.
#[derive(Default)]
struct Pass {
    /// Row indices of each empty point's four lines, in both perspectives.
    points: Vec<[[u16; 2]; 4]>,
    /// The accumulator of each empty point.
    accumulator: Vec<[[f32; CHANNELS]; 2]>,
}

impl Pass {
    /// Adds the gradient of this sample's loss to `gradient`, unless that is empty; returns the loss.
    fn accumulate_gradient(
        &mut self,
        blank: &Blank,
        model: &Model,
        sample: &Sample,
        gradient: &mut [f32],
    ) -> f32 {
        let (lines, empty) = blank.fill(sample);
        let (places, _) = places();
        let us = sample.turn.index();
        self.points.clear();
        self.accumulator.clear();
        let mut pool = [[0.0_f32; CHANNELS]; 2];
        for square in empty {
            let rows: [[u16; 2]; 4] = std::array::from_fn(|direction| {
                let (line, place) = square.line(direction);
                places[surrounding(lines[direction][line], place)]
            });
            let mut accumulator = [[0.0_f32; CHANNELS]; 2];
            for row in &rows {
                for view in 0..2 {
                    for (sum, weight) in accumulator[view].iter_mut().zip(model.row(row[view])) {
                        *sum += weight;
                    }
                }
            }
            for view in 0..2 {
                for (pool, sum) in pool[view].iter_mut().zip(&accumulator[view]) {
                    *pool += sum.clamp(0.0, 1.0);
                }
            }
            self.points.push(rows);
            self.accumulator.push(accumulator);
        }
        let mut inputs = [0.0; INPUTS];
        for (n, view) in [us, 1 - us].into_iter().enumerate() {
            for (input, sum) in inputs[n * CHANNELS..].iter_mut().zip(&pool[view]) {
                *input = sum / POOL_SCALE;
            }
        }
        inputs[2 * CHANNELS..].copy_from_slice(&sample.counts);
        let layer = &model.effective[model.rows..];
        let (bias, out) = (&layer[LAYER..LAYER + HIDDEN], &layer[LAYER + HIDDEN..]);
        let mut hidden: [f32; HIDDEN] = std::array::from_fn(|h| bias[h]);
        for (input, row) in inputs.iter().zip(layer.chunks_exact(HIDDEN)) {
            for (hidden, weight) in hidden.iter_mut().zip(row) {
                *hidden += input * weight;
            }
        }
        let sum: f32 = out[HIDDEN] + (0..HIDDEN).map(|h| hidden[h].clamp(0.0, 1.0) * out[h]).sum::<f32>();
        let odds = sample.shapes + sum;
        let loss = cross_entropy(odds, sample.target);
        if gradient.is_empty() {
            return loss;
        }
        let error = sigmoid(odds).clamp(1e-6, 1.0 - 1e-6) - sample.target;
        let (row_gradient, layer_gradient) = gradient.split_at_mut(model.rows);
        let mut of_hidden = [0.0; HIDDEN];
        layer_gradient[LAYER + 2 * HIDDEN] += error;
        for h in 0..HIDDEN {
            layer_gradient[LAYER + HIDDEN + h] += error * hidden[h].clamp(0.0, 1.0);
            if hidden[h] > 0.0 && hidden[h] < 1.0 {
                of_hidden[h] = error * out[h];
                layer_gradient[LAYER + h] += of_hidden[h];
            }
        }
        let mut of_inputs = [0.0; INPUTS];
        for i in 0..INPUTS {
            let row = &layer[i * HIDDEN..(i + 1) * HIDDEN];
            let gradients = &mut layer_gradient[i * HIDDEN..(i + 1) * HIDDEN];
            for h in 0..HIDDEN {
                gradients[h] += of_hidden[h] * inputs[i];
                of_inputs[i] += of_hidden[h] * row[h];
            }
        }
        for (n, view) in [us, 1 - us].into_iter().enumerate() {
            let of_pool: [f32; CHANNELS] = std::array::from_fn(|c| of_inputs[n * CHANNELS + c] / POOL_SCALE);
            for (rows, accumulator) in self.points.iter().zip(&self.accumulator) {
                let of_sums: [f32; CHANNELS] = std::array::from_fn(|c| {
                    let sum = accumulator[view][c];
                    if sum > 0.0 && sum < 1.0 { of_pool[c] } else { 0.0 }
                });
                for row in rows {
                    let at = usize::from(row[view]) * CHANNELS;
                    for (gradient, of_sum) in row_gradient[at..at + CHANNELS].iter_mut().zip(of_sums) {
                        *gradient += of_sum;
                    }
                }
            }
        }
        loss
    }
}

/// The network in training, for boards of one setup.
struct Network {
    blank: Blank,
    model: Model,
    pass: Pass,
}

impl Trainable for Network {
    type Sample = Sample;
    const BATCH: usize = 256;

    fn weights(&mut self) -> &mut [f32] {
        &mut self.model.weights
    }

    fn decayed_weights(&self) -> usize {
        self.model.rows
    }

    fn accumulate_gradient(&mut self, sample: &Sample, _: Option<&mut Rng>, gradient: &mut [f32]) -> f32 {
        self.pass.accumulate_gradient(&self.blank, &self.model, sample, gradient)
    }

    fn before_step(&self, gradient: &mut [f32]) {
        self.model.scatter_to_patterns(gradient);
    }

    fn after_step(&mut self) {
        self.model.rebuild_effective();
    }
}

/// Trains a network on games with the setup of `start`; returns its file. `tell` gets progress lines.
pub fn train(
    start: &Gomoku,
    records: &[Record<Placement>],
    config: TrainingConfig,
    tell: &mut dyn FnMut(String),
) -> Vec<u8> {
    let (training_set, validation_set) =
        training::samples_of(records, |record, samples| add_samples(start, record, &config, samples));
    let model = Model::random(start.setup().rule, config.seed);
    let mut network = Network { blank: Blank::new(start), model, pass: Pass::default() };
    tell(format!(
        "{} positions of {} games; loss by shapes alone {:.4}, the least there can be {:.4}",
        training_set.len(),
        records.len(),
        training::mean(&validation_set, |sample| cross_entropy(sample.shapes, sample.target)),
        training::mean(&validation_set, |sample| training::target_entropy(sample.target))
    ));
    training::fit(&mut network, &training_set, &validation_set, config, tell);
    network.model.quantized().write()
}

/// Adds the positions that the search would evaluate: without a certain result, without a five to stop.
fn add_samples(
    start: &Gomoku,
    record: &Record<Placement>,
    config: &TrainingConfig,
    samples: &mut Vec<Sample>,
) {
    let tables = Tables::shared(start.setup().rule);
    let mut position = Position::new(Board::new(start, tables), Solver::new());
    for (&mv, score) in record.moves.iter().zip(&record.scores) {
        let turn = position.turn();
        if let Some(score) = *score
            && position.verdict().is_none()
            && position.board.count(turn.other(), Threat::Five) == 0
        {
            let target = record.target(turn, score, POINTS, config);
            let shapes = position.by_shapes() as f32 / POINTS;
            samples.push(Sample::new(&position.board, shapes, target));
        }
        position.make(Square::from(mv));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::Accumulator;
    use super::*;
    use crate::GomokuSetup;

    fn start() -> Gomoku {
        Gomoku::new(&GomokuSetup::default()).expect("the setup is valid")
    }

    fn boards(count: usize) -> Vec<Board> {
        let start = start();
        let mut rng = Rng::new(4);
        let tables = Tables::shared(GomokuRule::Freestyle);
        (0..count)
            .map(|n| {
                let mut board = Board::new(&start, Arc::clone(&tables));
                for _ in 0..6 + n % 30 {
                    let free: Vec<Square> = board.all_empty().collect();
                    board.make(free[rng.below(free.len() as u32) as usize]);
                }
                board
            })
            .collect()
    }

    #[test]
    fn the_gradient_is_that_of_the_loss() {
        let blank = Blank::new(&start());
        let mut model = Model::random(GomokuRule::Freestyle, 9);
        let mut pass = Pass::default();
        let mut rng = Rng::new(2);
        let mut off = 0;
        for board in boards(3) {
            let sample = &Sample::new(&board, 0.2, 0.3);
            let mut gradient = vec![0.0; model.weights.len()];
            pass.accumulate_gradient(&blank, &model, sample, &mut gradient);
            model.scatter_to_patterns(&mut gradient);
            let mut checked = 0;
            while checked < 40 {
                let n = if checked < 20 {
                    rng.below(model.weights.len() as u32) as usize
                } else {
                    model.rows + rng.below((model.weights.len() - model.rows) as u32) as usize
                };
                checked += 1;
                let (weight, by) = (model.weights[n], 0.0005);
                model.weights[n] = weight + by;
                model.rebuild_effective();
                let above = pass.accumulate_gradient(&blank, &model, sample, &mut []);
                model.weights[n] = weight - by;
                model.rebuild_effective();
                let below = pass.accumulate_gradient(&blank, &model, sample, &mut []);
                model.weights[n] = weight;
                model.rebuild_effective();
                let seen = (above - below) / (2.0 * by);
                off += u32::from((seen - gradient[n]).abs() > 0.02 + 0.1 * gradient[n].abs());
            }
        }
        // At a clipping boundary the loss has a kink, where the numerical gradient is off.
        assert!(off <= 3, "{off} of 120");
    }

    #[test]
    fn what_the_search_uses_is_what_was_learnt() {
        let blank = Blank::new(&start());
        let model = Model::random(GomokuRule::Freestyle, 9);
        let weights = model.quantized();
        let mut pass = Pass::default();
        let empty = Board::new(&start(), Tables::shared(GomokuRule::Freestyle));
        let mut accumulator = Accumulator::new(&empty, &weights);
        for board in boards(20) {
            let sample = &Sample::new(&board, 0.2, 0.3);
            let said = accumulator.judge(&board, &weights) as f32 / POINTS + sample.shapes;
            let loss = pass.accumulate_gradient(&blank, &model, sample, &mut []);
            assert!((cross_entropy(said, sample.target) - loss).abs() < 0.02, "{said}, {loss}");
        }
    }
}
