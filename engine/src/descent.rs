//! Training of the games' networks by gradient descent: training targets, loss, optimiser.

use crate::{Rng, Score, Side};

/// A finished game with the search scores of its positions.
pub struct Record<M> {
    /// From the initial position.
    pub moves: Vec<M>,
    /// Score before each move, for the side to move; `None` for moves without a search.
    pub thoughts: Vec<Option<Score>>,
    /// `None` for a draw.
    pub winner: Option<Side>,
}

/// Hyperparameters.
#[derive(Clone, Copy, Debug)]
pub struct Learning {
    /// Number of epochs.
    pub rounds: u32,
    /// Initial learning rate; it decreases to zero.
    pub rate: f32,
    /// Weight of the game's result in the training target; the rest is the search score.
    pub result: f32,
    /// Coefficient of decoupled weight decay (AdamW).
    pub fade: f32,
    /// Seed of the initial weights and of the order of positions.
    pub seed: u64,
}

/// A network that [`descend`] trains.
pub(crate) trait Learner {
    /// A training position.
    type Sample;
    /// Batch size, in positions.
    const BATCH: usize;
    /// The trainable weights.
    fn weights(&mut self) -> &mut [f32];
    /// Number of weights, from the first on, to which weight decay applies.
    fn fading(&self) -> usize;
    /// Adds the gradient of this sample's loss to `slope`, unless that is empty; returns the loss. With `rng`, the position
    /// is mirrored at random (data augmentation).
    fn walk(&mut self, sample: &Self::Sample, rng: Option<&mut Rng>, slope: &mut [f32]) -> f32;
    /// Adjusts the gradient of a batch before the optimiser step.
    fn before_step(&self, _slope: &mut [f32]) {}
    /// Called after the weights have changed.
    fn after_step(&mut self) {}
}

/// One game in this many is held out for validation.
const HELD_BACK: usize = 20;

/// The training samples, and the validation samples.
pub(crate) fn samples_of<M, S>(
    records: &[Record<M>],
    mut add: impl FnMut(&Record<M>, &mut Vec<S>),
) -> (Vec<S>, Vec<S>) {
    let (mut learnt, mut unknown) = (Vec::new(), Vec::new());
    for (n, record) in records.iter().enumerate() {
        add(record, if n % HELD_BACK == 0 { &mut unknown } else { &mut learnt });
    }
    (learnt, unknown)
}

impl<M> Record<M> {
    /// The training target: winning chance of the side to move, from the search score and, weighted by `learning`, from the
    /// game's result. `points`: the score that multiplies the odds of winning by e.
    pub(crate) fn aim(&self, turn: Side, thought: Score, points: f32, learning: &Learning) -> f32 {
        let result = match self.winner {
            None => 0.5,
            Some(side) => f32::from(u8::from(side == turn)),
        };
        let said = match thought {
            Score::Points(judged) => chance(judged as f32 / points),
            Score::Chance { permille, .. } => f32::from(permille) / 1000.0,
            Score::WinIn(_) => 1.0,
            Score::LossIn(_) => 0.0,
        };
        (learning.result * result + (1.0 - learning.result) * said).clamp(0.005, 0.995)
    }
}

/// The mean loss of samples.
pub(crate) fn mean<S>(samples: &[S], mut loss: impl FnMut(&S) -> f32) -> f64 {
    samples.iter().map(|sample| f64::from(loss(sample))).sum::<f64>() / samples.len().max(1) as f64
}

/// The minimum of the loss for this target: its entropy.
pub(crate) fn least(aim: f32) -> f32 {
    entropy((aim / (1.0 - aim)).ln(), aim)
}

/// Trains on samples with a cosine learning rate schedule. `tell` gets a line per epoch.
pub(crate) fn descend<L: Learner>(
    learner: &mut L,
    learnt: &[L::Sample],
    unknown: &[L::Sample],
    learning: Learning,
    tell: &mut dyn FnMut(String),
) {
    let size = learner.weights().len();
    let (mut slope, mut momentum, mut spread) =
        (vec![0.0_f32; size], vec![0.0_f32; size], vec![0.0_f32; size]);
    let mut order: Vec<usize> = (0..learnt.len()).collect();
    let mut rng = Rng::new(learning.seed ^ 0x006f_7264_6572);
    let steps = learning.rounds as usize * learnt.len().div_ceil(L::BATCH);
    let mut step = 0;
    for round in 1..=learning.rounds {
        rng.shuffle(&mut order);
        let mut sum = 0.0;
        for batch in order.chunks(L::BATCH) {
            slope.fill(0.0);
            for &n in batch {
                sum += f64::from(learner.walk(&learnt[n], Some(&mut rng), &mut slope));
            }
            learner.before_step(&mut slope);
            step += 1;
            let rate =
                learning.rate * 0.5 * (1.0 + (std::f32::consts::PI * step as f32 / steps as f32).cos());
            adam(learner.weights(), &slope, &mut momentum, &mut spread, rate, step, batch.len());
            let fade = 1.0 - rate * learning.fade;
            let fading = learner.fading();
            for weight in &mut learner.weights()[..fading] {
                *weight *= fade;
            }
            learner.after_step();
        }
        tell(format!(
            "round {round}: loss {:.4}, on unknown games {:.4}",
            sum / order.len().max(1) as f64,
            mean(unknown, |sample| learner.walk(sample, None, &mut []))
        ));
    }
}

/// One step of Adam (Kingma and Ba 2015) with its usual constants.
fn adam(
    weights: &mut [f32],
    slope: &[f32],
    momentum: &mut [f32],
    spread: &mut [f32],
    rate: f32,
    step: usize,
    count: usize,
) {
    let (keep, keep_spread) = (0.9_f32, 0.999_f32);
    let step = step.min(100_000) as i32;
    let (fresh, fresh_spread) = (1.0 - keep.powi(step), 1.0 - keep_spread.powi(step));
    let part = 1.0 / count as f32;
    for (((weight, &slope), momentum), spread) in weights.iter_mut().zip(slope).zip(momentum).zip(spread) {
        let slope = slope * part;
        *momentum = keep * *momentum + (1.0 - keep) * slope;
        *spread = keep_spread * *spread + (1.0 - keep_spread) * slope * slope;
        *weight -= rate * (*momentum / fresh) / ((*spread / fresh_spread).sqrt() + 1e-8);
    }
}

/// The logistic function: the chance for log odds.
pub(crate) fn chance(odds: f32) -> f32 {
    1.0 / (1.0 + (-odds).exp())
}

/// Cross entropy of predicted log odds with a target chance.
pub(crate) fn entropy(odds: f32, aim: f32) -> f32 {
    let chance = chance(odds).clamp(1e-6, 1.0 - 1e-6);
    -(aim * chance.ln() + (1.0 - aim) * (1.0 - chance).ln())
}
