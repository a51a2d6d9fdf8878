//! Fit of the evaluation: logistic regression of game results on evaluation terms.
//!
//! `qiyou-engine fit` runs this on games that `qiyou-engine levels --print` has written, and prints the constants of `shape`
//! and `position`.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::board::{Board, Tables};
use super::pattern::Pattern;
use super::position::{Position, TEMPO, THREATS};
use super::shape::{Threat, VALUE, VALUE_OF_THREAT};
use super::vcf::Solver;
use super::{Gomoku, Placement};
use crate::adam::Adam;
use crate::search::{AlphaBetaGame, Clock};
use crate::{Game, Limits, Side};

/// A finished game with its opening length and result.
pub struct Record {
    /// From the empty board.
    pub moves: Vec<Placement>,
    /// Number of opening moves that no bot has chosen.
    pub opening: usize,
    /// `None` for a draw.
    pub winner: Option<Side>,
}

/// The score that multiplies the odds of winning by e; it defines the unit of scores.
const POINTS_PER_E: f64 = 400.0;

/// Pattern counts, threat counts, presence of threats (own, opponent's), and the side to move.
const FEATURES: usize = Pattern::COUNT + Threat::COUNT + 2 * THREATS.len() + 1;

struct Sample {
    features: [f32; FEATURES],
    /// 1 if the side to move won.
    result: f32,
}

/// Fits the evaluation to games with the setup of `start`; returns the constants and the loss as text.
pub fn fit(start: &Gomoku, records: &[Record]) -> String {
    let tables = Tables::shared(start.setup().rule);
    let mut solver = Solver::new();
    let mut samples = Vec::new();
    for record in records {
        solver = samples_of(start, record, &tables, solver, &mut samples);
    }
    // Every tenth sample is held out for validation.
    let cut = samples.len() * 9 / 10;
    let (train, test) = samples.split_at(cut);
    let weights = descend(train);
    let mut text = String::new();
    let line = |text: &mut String, name: &str, weights: &[f64]| {
        let numbers: Vec<String> =
            weights.iter().map(|weight| format!("{:.0}", weight * POINTS_PER_E)).collect();
        writeln!(text, "{name}: [{}]", numbers.join(", ")).expect("writing to a String cannot fail");
    };
    let (patterns, rest) = weights.split_at(Pattern::COUNT);
    let (threats, rest) = rest.split_at(Threat::COUNT);
    line(&mut text, "VALUE", patterns);
    line(&mut text, "VALUE_OF_THREAT", threats);
    line(&mut text, "THREATS, own", &rest[..THREATS.len()]);
    line(&mut text, "THREATS, theirs", &rest[THREATS.len()..2 * THREATS.len()]);
    line(&mut text, "TEMPO", &rest[2 * THREATS.len()..]);
    writeln!(
        text,
        "before: loss {:.4}, on unknown games {:.4}",
        loss(train, &current()),
        loss(test, &current())
    )
    .expect("writing to a String cannot fail");
    writeln!(
        text,
        "{} samples, loss {:.4}, on unknown games {:.4}",
        train.len(),
        loss(train, &weights),
        loss(test, &weights)
    )
    .expect("writing to a String cannot fail");
    text
}

fn samples_of(
    start: &Gomoku,
    record: &Record,
    tables: &Arc<Tables>,
    solver: Solver,
    samples: &mut Vec<Sample>,
) -> Solver {
    let stop = AtomicBool::new(false);
    let limits = Limits { time: None, nodes: None, depth: None, stop: &stop, elapsed: &|| Duration::ZERO };
    let mut clock = Clock::new(&limits);
    let mut position = Position::new(Board::new(start, Arc::clone(tables)), solver);
    for (ply, &mv) in record.moves.iter().enumerate() {
        // The search evaluates only positions without a certain result, without a five to stop and without a VCF.
        if ply >= record.opening
            && position.verdict().is_none()
            && position.board.count(position.turn().other(), Threat::Five) == 0
            && position.solver.vcf(&mut position.board, 8, 1_000, &mut clock).is_none()
        {
            let result = match record.winner {
                None => 0.5,
                Some(side) if side == position.turn() => 1.0,
                Some(_) => 0.0,
            };
            samples.push(Sample { features: features(&position.board), result });
        }
        position.make(mv.into());
    }
    position.solver
}

fn features(board: &Board) -> [f32; FEATURES] {
    let us = board.turn();
    let mut features = [0.0; FEATURES];
    for square in board.all_empty() {
        for (side, sign) in [(us, 1.0), (us.other(), -1.0)] {
            for pattern in board.patterns(square, side) {
                features[pattern as usize] += sign;
            }
            features[Pattern::COUNT + board.threat(square, side) as usize] += sign;
        }
    }
    // An empty pattern is fixed at 0, so that the empty board is balanced.
    features[Pattern::Nothing as usize] = 0.0;
    features[Pattern::COUNT + Threat::None as usize] = 0.0;
    let flags = Pattern::COUNT + Threat::COUNT;
    for (n, (threat, ..)) in THREATS.into_iter().enumerate() {
        features[flags + n] = f32::from(board.count(us, threat) > 0);
        features[flags + THREATS.len() + n] = -f32::from(board.count(us.other(), threat) > 0);
    }
    features[FEATURES - 1] = 1.0;
    features
}

fn predict(sample: &Sample, weights: &[f64; FEATURES]) -> f64 {
    let sum: f64 =
        sample.features.iter().zip(weights).map(|(&feature, &weight)| f64::from(feature) * weight).sum();
    1.0 / (1.0 + (-sum).exp())
}

fn loss(samples: &[Sample], weights: &[f64; FEATURES]) -> f64 {
    let total: f64 = samples
        .iter()
        .map(|sample| {
            let (p, result) = (predict(sample, weights).clamp(1e-6, 1.0 - 1e-6), f64::from(sample.result));
            -(result * p.ln() + (1.0 - result) * (1.0 - p).ln())
        })
        .sum();
    total / samples.len().max(1) as f64
}

/// The present constants, in the order of the features.
fn current() -> [f64; FEATURES] {
    let threats = THREATS.iter().map(|&(_, own, _)| own).chain(THREATS.iter().map(|&(.., theirs)| theirs));
    let all = VALUE.into_iter().chain(VALUE_OF_THREAT).map(i32::from).chain(threats).chain([TEMPO]);
    let mut weights = [0.0; FEATURES];
    for (weight, points) in weights.iter_mut().zip(all) {
        *weight = f64::from(points) / POINTS_PER_E;
    }
    weights
}

/// [`Adam`] in full batches.
fn descend(samples: &[Sample]) -> [f64; FEATURES] {
    const STEPS: u32 = 1_500;
    const RATE: f64 = 0.004;
    /// Strength of the L2 prior towards the present constants, relative to the samples: 2 %.
    const PULL: f64 = 0.02;
    let before = current();
    let (mut weights, mut adam) = (before, Adam::new(FEATURES));
    for _ in 0..STEPS {
        let mut slope: [f64; FEATURES] = std::array::from_fn(|n| (weights[n] - before[n]) * PULL);
        for sample in samples {
            let error = (predict(sample, &weights) - f64::from(sample.result)) / samples.len() as f64;
            for (slope, &feature) in slope.iter_mut().zip(&sample.features) {
                *slope += error * f64::from(feature);
            }
        }
        adam.step(&mut weights, &slope, RATE);
    }
    weights
}
