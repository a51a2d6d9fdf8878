//! Where the numbers of the evaluation come from: a logistic regression of game results on what the evaluation counts.
//!
//! `qiyou-engine fit` runs this over games that `qiyou-engine levels --print` has written, and prints the constants that
//! stand in `shape` and `position`.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::board::{Board, Tables};
use super::forced::Solver;
use super::pattern::Pattern;
use super::position::{Position, TEMPO, THREATS};
use super::shape::{Threat, VALUE, VALUE_OF_THREAT};
use super::{Gomoku, Placement};
use crate::search::{AlphaBetaGame, Clock};
use crate::{Game, Limits, Side};

/// A finished game: the moves, how many of them were the opening, and who won.
pub struct Record {
    /// From the empty board.
    pub moves: Vec<Placement>,
    /// Moves at the start that nobody chose.
    pub opening: usize,
    /// `None`: a draw.
    pub winner: Option<Side>,
}

/// Points of judgement that make a win e times as likely as a loss. It sets the unit of all scores.
const POINTS_PER_E: f64 = 400.0;

/// Pattern counts, threat counts, threats there at all (own, theirs), and the move itself.
const FEATURES: usize = Pattern::COUNT + Threat::COUNT + 2 * THREATS.len() + 1;

struct Sample {
    features: [f32; FEATURES],
    /// 1: the side to move won.
    result: f32,
}

/// Fits the evaluation to games of one setup (that of `start`), and says the constants and how well they do.
pub fn fit(start: &Gomoku, records: &[Record]) -> String {
    let tables = Tables::shared(start.setup().rule);
    let mut solver = Solver::new();
    let mut samples = Vec::new();
    for record in records {
        solver = samples_of(start, record, &tables, solver, &mut samples);
    }
    // Every tenth sample is only looked at, to see what the fit is worth on games it does not know.
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
        // The search judges only where nothing is certain, no five is to be stopped and no win by fours is there.
        if ply >= record.opening
            && position.verdict().is_none()
            && position.board.count(position.turn().other(), Threat::Five) == 0
            && position.solver.fours(&mut position.board, 8, 1_000, &mut clock).is_none()
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
    // What is nothing is worth nothing, so that an empty board is.
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

/// The constants as they are, in the order of the features.
fn current() -> [f64; FEATURES] {
    let threats = THREATS.iter().map(|&(_, own, _)| own).chain(THREATS.iter().map(|&(.., theirs)| theirs));
    let all = VALUE.into_iter().chain(VALUE_OF_THREAT).map(i32::from).chain(threats).chain([TEMPO]);
    let mut weights = [0.0; FEATURES];
    for (weight, points) in weights.iter_mut().zip(all) {
        *weight = f64::from(points) / POINTS_PER_E;
    }
    weights
}

/// Adam (Kingma and Ba 2015) with its usual constants, over all samples at once.
fn descend(samples: &[Sample]) -> [f64; FEATURES] {
    const STEPS: i32 = 1_500;
    const RATE: f64 = 0.004;
    /// Pull towards the constants as they are, for what the games say little about: as strong as 2 % of the samples.
    const PULL: f64 = 0.02;
    let before = current();
    let (mut weights, mut mean, mut spread) = (before, [0.0; FEATURES], [0.0; FEATURES]);
    for step in 1..=STEPS {
        let mut slope: [f64; FEATURES] = std::array::from_fn(|n| (weights[n] - before[n]) * PULL);
        for sample in samples {
            let error = (predict(sample, &weights) - f64::from(sample.result)) / samples.len() as f64;
            for (slope, &feature) in slope.iter_mut().zip(&sample.features) {
                *slope += error * f64::from(feature);
            }
        }
        for n in 0..FEATURES {
            mean[n] = 0.9 * mean[n] + 0.1 * slope[n];
            spread[n] = 0.999 * spread[n] + 0.001 * slope[n] * slope[n];
            let (mean, spread) =
                (mean[n] / (1.0 - 0.9_f64.powi(step)), spread[n] / (1.0 - 0.999_f64.powi(step)));
            weights[n] -= RATE * mean / (spread.sqrt() + 1e-8);
        }
    }
    weights
}
