//! Training of pattern weights: softmax regression on the visit counts of searches.

use std::collections::HashMap;

use super::features::{Feature, PLAIN, Room, features};
use super::patterns::FeatureWeights;
use super::stones::{PASS, Stones, Vertex, colour};
use super::{Go, GoMove, GoSetup};
use crate::{Game, Rng};

/// A position with the visit counts of its moves.
struct Sample {
    /// End of each candidate's range of features.
    ends: Vec<u32>,
    features: Vec<Feature>,
    /// Share of playouts of each candidate.
    shares: Vec<f32>,
}

/// Hyperparameters.
#[derive(Clone, Copy, Debug)]
pub struct PatternTrainingConfig {
    /// Number of epochs.
    pub epochs: u32,
    /// Initial learning rate.
    pub learning_rate: f32,
    /// L2 regularisation.
    pub l2: f32,
    /// Minimum number of occurrences of a pattern among candidates.
    pub min_count: u32,
    /// Seed of the order of positions.
    pub seed: u64,
}

/// Trains on lines written by `qiyou-engine go-games`; returns the bytes of `patterns.bin`.
pub fn train_patterns(
    lines: &[String],
    config: PatternTrainingConfig,
    say: &mut dyn FnMut(String),
) -> Vec<u8> {
    let mut games: Vec<Vec<Sample>> = lines.iter().filter_map(|line| samples(line)).collect();
    let mut seen: HashMap<Feature, u32> = HashMap::new();
    for sample in games.iter().flatten() {
        for &feature in &sample.features {
            *seen.entry(feature).or_default() += 1;
        }
    }
    let mut index: HashMap<Feature, u32> = HashMap::new();
    let mut names: Vec<Feature> = Vec::new();
    for (&feature, &times) in &seen {
        if times >= config.min_count || (feature as usize) < PLAIN {
            names.push(feature);
        }
    }
    names.sort_unstable();
    index.extend(names.iter().enumerate().map(|(n, &feature)| (feature, n as u32)));
    // Rare patterns are removed first, to speed up epochs.
    for sample in games.iter_mut().flatten() {
        let mut kept = Vec::new();
        let mut begin = 0;
        for end in &mut sample.ends {
            kept.extend(
                sample.features[begin..*end as usize].iter().filter_map(|feature| index.get(feature)),
            );
            begin = *end as usize;
            *end = kept.len() as u32;
        }
        sample.features = kept;
    }
    let held = games.len() / 10;
    let validation_set: Vec<Sample> = games.drain(..held).flatten().collect();
    let mut training_set: Vec<Sample> = games.into_iter().flatten().collect();
    say(format!(
        "{} positions, {} unknown, {} features",
        training_set.len(),
        validation_set.len(),
        names.len()
    ));
    let mut weights = vec![0.0_f32; names.len()];
    let mut squares = vec![1e-6_f32; names.len()];
    let mut rng = Rng::new(config.seed);
    let mut logits = Vec::new();
    for epoch in 0..config.epochs {
        rng.shuffle(&mut training_set);
        let rate = config.learning_rate * (1.0 - epoch as f32 / config.epochs as f32);
        for sample in &training_set {
            sample.predict(&weights, &mut logits);
            let mut begin = 0;
            for (n, &end) in sample.ends.iter().enumerate() {
                let gradient = logits[n] - sample.shares[n];
                for &feature in &sample.features[begin..end as usize] {
                    let feature = feature as usize;
                    let step = gradient + config.l2 * weights[feature];
                    squares[feature] += gradient * gradient;
                    weights[feature] -= rate * step / squares[feature].sqrt();
                }
                begin = end as usize;
            }
        }
        let (loss, hits) = measure(&training_set, &weights);
        let (validation_loss, validation_hits) = measure(&validation_set, &weights);
        say(format!(
            "round {}: loss {loss:.4}, best move {:.1} %; unknown games {validation_loss:.4}, {:.1} %",
            epoch + 1,
            100.0 * hits,
            100.0 * validation_hits
        ));
    }
    for (n, &feature) in names.iter().enumerate().take_while(|&(_, &feature)| (feature as usize) < PLAIN) {
        say(format!("feature {feature}: {:.2}", weights[n]));
    }
    FeatureWeights::to_bytes(names.iter().copied().zip(weights))
}

/// Mean loss, and top-1 accuracy.
fn measure(samples: &[Sample], weights: &[f32]) -> (f64, f64) {
    let (mut loss, mut hits) = (0.0, 0);
    let mut logits = Vec::new();
    for sample in samples {
        sample.predict(weights, &mut logits);
        let most = |list: &[f32]| list.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map(|(n, _)| n);
        hits += usize::from(most(&logits) == most(&sample.shares));
        let each = logits.iter().zip(&sample.shares);
        loss -=
            each.map(|(&chance, &share)| f64::from(share) * f64::from(chance.max(1e-9)).ln()).sum::<f64>();
    }
    let count = samples.len().max(1) as f64;
    (loss / count, hits as f64 / count)
}

impl Sample {
    /// The predicted probability of each candidate.
    fn predict(&self, weights: &[f32], chances: &mut Vec<f32>) {
        chances.clear();
        let mut begin = 0;
        for &end in &self.ends {
            let features = &self.features[begin..end as usize];
            chances.push(features.iter().map(|&feature| weights[feature as usize]).sum());
            begin = end as usize;
        }
        let most = chances.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let mut sum = 0.0;
        for chance in chances.iter_mut() {
            *chance = (*chance - most).exp();
            sum += *chance;
        }
        for chance in chances.iter_mut() {
            *chance /= sum;
        }
    }
}

/// The positions in a line of `qiyou-engine go-games`; `None` if it is malformed.
fn samples(line: &str) -> Option<Vec<Sample>> {
    let mut words = line.split(' ');
    let size: u8 = words.next()?.parse().ok()?;
    let komi_half_points = words.next()?.parse().ok()?;
    let (_winner, _owners) = (words.next()?, words.next()?);
    let mut go = Go::new(&GoSetup { size, komi_half_points, ..GoSetup::default() }).ok()?;
    let mut room = Room::new(size);
    let mut list = Vec::new();
    let mut trail = [PASS; 2];
    for word in words {
        let (played, tried) = word.split_once(':')?;
        let mut sums: HashMap<Vertex, f32> = HashMap::new();
        for one in tried.split(',').filter(|one| !one.is_empty()) {
            let (mv, count) = one.split_once('=')?;
            if let Some(GoMove::Place(point)) = go.parse(mv).and_then(|action| go.legal_move(action).ok()) {
                sums.insert((point.row + 1) * (u16::from(size) + 1) + point.column + 1, count.parse().ok()?);
            }
        }
        let turn = colour(go.turn());
        let sample = match size {
            ..=9 => look(&Stones::<128, 2>::of(&go), turn, trail, &mut room, &sums),
            10..=13 => look(&Stones::<256, 4>::of(&go), turn, trail, &mut room, &sums),
            _ => look(&Stones::<448, 7>::of(&go), turn, trail, &mut room, &sums),
        };
        list.extend(sample);
        let mv = go.legal_move(go.parse(played)?).ok()?;
        let at = match mv {
            GoMove::Place(point) => (point.row + 1) * (u16::from(size) + 1) + point.column + 1,
            _ => PASS,
        };
        trail = [at, trail[0]];
        go.play(mv);
    }
    Some(list)
}

fn look<const N: usize, const W: usize>(
    stones: &Stones<N, W>,
    turn: u8,
    trail: [Vertex; 2],
    room: &mut Room,
    tried: &HashMap<Vertex, f32>,
) -> Option<Sample> {
    let mut candidates = Vec::new();
    let mut told: Vec<(u32, Feature)> = Vec::new();
    features(stones, turn, trail, room, &mut candidates, |n, feature| told.push((n as u32, feature)));
    told.sort_unstable();
    let mut shares: Vec<f32> = candidates.iter().map(|at| tried.get(at).copied().unwrap_or(0.0)).collect();
    let sum: f32 = shares.iter().sum();
    if sum <= 0.0 || candidates.len() < 2 {
        return None;
    }
    for share in &mut shares {
        *share /= sum;
    }
    let ends =
        (0..candidates.len() as u32).map(|n| told.partition_point(|&(of, _)| of <= n) as u32).collect();
    Some(Sample { ends, features: told.into_iter().map(|(_, feature)| feature).collect(), shares })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_that_were_always_tried_become_likely() {
        // Every second move is adjacent to the one before it.
        let line = |turn: usize| {
            let squares = [["E5", "E6"], ["C3", "D3"], ["G3", "G4"], ["C7", "B7"]];
            let mut words = format!("9 15 b {}", "-".repeat(81));
            for [first, second] in squares.iter().cycle().skip(turn).take(3) {
                words.extend([" ", first, ": ", second, ":", second, "=100"]);
            }
            words
        };
        let lines: Vec<String> = (0..40).map(line).collect();
        let config =
            PatternTrainingConfig { epochs: 5, learning_rate: 0.1, l2: 0.001, min_count: 5, seed: 1 };
        let mut said = Vec::new();
        let bytes = train_patterns(&lines, config, &mut |line| said.push(line));
        assert!(said[0].starts_with("108 positions, 12 unknown"), "{}", said[0]);
        let number = |feature: Feature| {
            bytes
                .chunks_exact(5)
                .find(|five| five[..4] == feature.to_le_bytes())
                .map_or(0, |five| five[4] as i8)
        };
        let (next_to_it, far_away) = (66, 75);
        assert!(number(next_to_it) > number(far_away));
    }
}
