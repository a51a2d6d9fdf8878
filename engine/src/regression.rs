//! Tuning of evaluations: logistic regression of game results on evaluation terms (Texel tuning).
//!
//! An evaluation is a sum of terms, each with a weight for a full board and one for an empty board, interpolated by game
//! phase (tapered evaluation). `qiyou-engine fit` fits the weights of games with this module.

use std::fmt::Write as _;

use crate::Rng;
use crate::adam::Adam;

/// A position as evaluation terms.
pub(crate) struct Sample {
    /// Indices of terms with their counts, positive for the side that `result` is about.
    pub(crate) terms: Vec<(u16, i8)>,
    /// Share of the full-board weights, 0 to 1.
    pub(crate) full: f32,
    /// Factor of the whole evaluation.
    pub(crate) scale: f32,
    /// Result of the game for that side: 1 for a win, 0.5 for a draw.
    pub(crate) result: f32,
}

/// Prediction loss of weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loss {
    /// On the training samples.
    pub(crate) learnt: f64,
    /// On the validation samples (every tenth block).
    pub(crate) unknown: f64,
}

/// Weights fitted to samples.
pub(crate) struct Fit {
    pub(crate) weights: Vec<[i16; 2]>,
    /// Number of points that multiplies the odds of winning by e, determined for the initial weights and kept.
    pub(crate) points_per_e: f64,
    pub(crate) before: Loss,
    pub(crate) after: Loss,
}

/// Samples are in the order of games. A block of this size is used for either training or validation, so that hardly any
/// game is in both.
const BLOCK: usize = 500;

/// Fits weights to samples, starting from the present weights. `pull` is the strength of the L2 prior towards the present
/// value for each term, in samples: the samples of a game share one result, so that a hundred of them count about as one.
pub(crate) fn fit(samples: &[Sample], before: &[[i16; 2]], pull: impl Fn(usize) -> f64) -> Fit {
    let blocks = |held_back: bool| -> Vec<&Sample> {
        let blocks = samples.chunks(BLOCK).enumerate().filter(|(n, _)| (n % 10 == 0) == held_back);
        blocks.flat_map(|(_, block)| block).collect()
    };
    let (unknown, learnt) = (blocks(true), blocks(false));
    let points = |scale: f64| -> Vec<[f64; 2]> {
        before.iter().map(|pair| pair.map(|weight| f64::from(weight) / scale)).collect()
    };
    // The scale at which the present weights predict best.
    let points_per_e = (5..60)
        .map(|n| f64::from(n) * 10.0)
        .min_by(|&a, &b| loss(&learnt, &points(a)).total_cmp(&loss(&learnt, &points(b))))
        .expect("there are scales to choose from");
    let start = points(points_per_e);
    let pull: Vec<f64> = (0..before.len()).map(|term| pull(term) / learnt.len().max(1) as f64).collect();
    let weights = descend(&learnt, &start, &pull);
    let losses =
        |weights: &[[f64; 2]]| Loss { learnt: loss(&learnt, weights), unknown: loss(&unknown, weights) };
    Fit {
        before: losses(&start),
        after: losses(&weights),
        weights: weights
            .iter()
            .map(|pair| pair.map(|weight| (weight * points_per_e).round() as i16))
            .collect(),
        points_per_e,
    }
}

/// [`Adam`] in mini-batches, with a learning rate that decreases to zero.
fn descend(samples: &[&Sample], start: &[[f64; 2]], pull: &[f64]) -> Vec<[f64; 2]> {
    const EPOCHS: usize = 24;
    const BATCH: usize = 512;
    const RATE: f64 = 0.006;
    let mut weights = start.to_vec();
    let mut adam = Adam::new(2 * start.len());
    let mut order: Vec<usize> = (0..samples.len()).collect();
    let mut rng = Rng::new(1);
    let steps = EPOCHS * samples.len().div_ceil(BATCH);
    let mut step = 0;
    for _ in 0..EPOCHS {
        rng.shuffle(&mut order);
        for batch in order.chunks(BATCH) {
            step += 1;
            let mut slope: Vec<[f64; 2]> = weights
                .iter()
                .zip(start)
                .zip(pull)
                .map(|((weight, start), pull)| [0, 1].map(|n| (weight[n] - start[n]) * pull))
                .collect();
            for &n in batch {
                let sample = samples[n];
                let error = (foretell(sample, &weights) - f64::from(sample.result)) / batch.len() as f64
                    * f64::from(sample.scale);
                let full = f64::from(sample.full);
                for &(term, count) in &sample.terms {
                    let slope = &mut slope[usize::from(term)];
                    slope[0] += error * f64::from(count) * full;
                    slope[1] += error * f64::from(count) * (1.0 - full);
                }
            }
            let rate = RATE * (1.0 - step as f64 / (steps + 1) as f64);
            adam.step(weights.as_flattened_mut(), slope.as_flattened(), rate);
        }
    }
    weights
}

/// Predicted score of a sample's side, 0 to 1.
fn foretell(sample: &Sample, weights: &[[f64; 2]]) -> f64 {
    let (mut full, mut empty) = (0.0, 0.0);
    for &(term, count) in &sample.terms {
        let [a, b] = weights[usize::from(term)];
        full += a * f64::from(count);
        empty += b * f64::from(count);
    }
    let share = f64::from(sample.full);
    let sum = (full * share + empty * (1.0 - share)) * f64::from(sample.scale);
    1.0 / (1.0 + (-sum).exp())
}

fn loss(samples: &[&Sample], weights: &[[f64; 2]]) -> f64 {
    let total: f64 = samples
        .iter()
        .map(|sample| {
            let (p, result) = (foretell(sample, weights).clamp(1e-6, 1.0 - 1e-6), f64::from(sample.result));
            -(result * p.ln() + (1.0 - result) * (1.0 - p).ln())
        })
        .sum();
    total / samples.len().max(1) as f64
}

/// The weights formatted as rows of a Rust table.
pub(crate) fn rows(weights: &[[i16; 2]]) -> String {
    let mut text = String::new();
    for row in weights.chunks(10) {
        let pairs: Vec<String> = row.iter().map(|[full, empty]| format!("[{full}, {empty}],")).collect();
        writeln!(text, "    {}", pairs.join(" ")).expect("writing to a String cannot fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_that_made_the_results_are_found_again() {
        // Two terms: the first is worth a factor e on a full board and nothing on an empty one, the second the opposite.
        let mut rng = Rng::new(3);
        let samples: Vec<Sample> = (0..20_000)
            .map(|_| {
                let counts = [0, 1].map(|_| rng.below(5) as i8 - 2);
                let full = rng.below(101) as f32 / 100.0;
                let sum = f32::from(counts[0]) * full + f32::from(counts[1]) * (1.0 - full);
                let p = 1.0 / (1.0 + (-f64::from(sum)).exp());
                let won = f64::from(rng.below(1_000_000)) < p * 1e6;
                let terms = vec![(0, counts[0]), (1, counts[1])];
                Sample { terms, full, scale: 1.0, result: f32::from(u8::from(won)) }
            })
            .collect();
        let found = fit(&samples, &[[40, 60], [60, 40]], |_| 20.0);
        let unit = found.points_per_e;
        let part = |term: usize, n: usize| f64::from(found.weights[term][n]) / unit;
        assert!((part(0, 0) - 1.0).abs() < 0.15 && part(0, 1).abs() < 0.15, "{:?} of {unit}", found.weights);
        assert!((part(1, 1) - 1.0).abs() < 0.15 && part(1, 0).abs() < 0.15, "{:?} of {unit}", found.weights);
        assert!(found.after.unknown < found.before.unknown);
    }
}
