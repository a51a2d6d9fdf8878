//! Training of the games' networks by gradient descent: training targets, loss, batches.

use crate::adam::Adam;
use crate::{Rng, Score, Side};

/// A finished game with the search scores of its positions.
pub struct Record<M> {
    /// From the initial position.
    pub moves: Vec<M>,
    /// Score before each move, for the side to move; `None` for moves without a search.
    pub scores: Vec<Option<Score>>,
    /// `None` for a draw.
    pub winner: Option<Side>,
}

/// Hyperparameters.
#[derive(Clone, Copy, Debug)]
pub struct TrainingConfig {
    /// Number of epochs.
    pub epochs: u32,
    /// Initial learning rate; it decreases to zero.
    pub learning_rate: f32,
    /// Weight of the game's result in the training target; the rest is the search score.
    pub result_weight: f32,
    /// Coefficient of decoupled weight decay (AdamW).
    pub weight_decay: f32,
    /// Seed of the initial weights and of the order of positions.
    pub seed: u64,
}

/// A network that [`fit`] trains.
pub(crate) trait Trainable {
    /// A training position.
    type Sample;
    /// Batch size, in positions.
    const BATCH: usize;
    /// The trainable weights.
    fn weights(&mut self) -> &mut [f32];
    /// Number of weights, from the first on, to which weight decay applies.
    fn decayed_weights(&self) -> usize;
    /// Adds the gradient of this sample's loss to `gradient`, unless that is empty; returns the loss. With `rng`, the position
    /// is mirrored at random (data augmentation).
    fn accumulate_gradient(
        &mut self,
        sample: &Self::Sample,
        rng: Option<&mut Rng>,
        gradient: &mut [f32],
    ) -> f32;
    /// Adjusts the gradient of a batch before the optimiser step.
    fn before_step(&self, _gradient: &mut [f32]) {}
    /// Called after the weights have changed.
    fn after_step(&mut self) {}
}

/// One game in this many is held out for validation.
const VALIDATION_EVERY: usize = 20;

/// The training samples, and the validation samples.
pub(crate) fn samples_of<M, S>(
    records: &[Record<M>],
    mut add: impl FnMut(&Record<M>, &mut Vec<S>),
) -> (Vec<S>, Vec<S>) {
    let (mut training_set, mut validation_set) = (Vec::new(), Vec::new());
    for (n, record) in records.iter().enumerate() {
        add(record, if n % VALIDATION_EVERY == 0 { &mut validation_set } else { &mut training_set });
    }
    (training_set, validation_set)
}

impl<M> Record<M> {
    /// The training target: winning chance of the side to move, from the search score and, weighted by `config`, from the
    /// game's result. `points`: the score that multiplies the odds of winning by e.
    pub(crate) fn target(&self, turn: Side, score: Score, points: f32, config: &TrainingConfig) -> f32 {
        let result = match self.winner {
            None => 0.5,
            Some(side) => f32::from(u8::from(side == turn)),
        };
        let said = match score {
            Score::Points(judged) => sigmoid(judged as f32 / points),
            Score::Chance { permille, .. } => f32::from(permille) / 1000.0,
            Score::WinIn(_) => 1.0,
            Score::LossIn(_) => 0.0,
        };
        (config.result_weight * result + (1.0 - config.result_weight) * said).clamp(0.005, 0.995)
    }
}

/// The mean loss of samples.
pub(crate) fn mean<S>(samples: &[S], mut loss: impl FnMut(&S) -> f32) -> f64 {
    samples.iter().map(|sample| f64::from(loss(sample))).sum::<f64>() / samples.len().max(1) as f64
}

/// The minimum of the loss for this target: its entropy.
pub(crate) fn target_entropy(target: f32) -> f32 {
    cross_entropy((target / (1.0 - target)).ln(), target)
}

/// Trains on samples with a cosine learning rate schedule. `tell` gets a line per epoch.
pub(crate) fn fit<L: Trainable>(
    network: &mut L,
    training_set: &[L::Sample],
    validation_set: &[L::Sample],
    config: TrainingConfig,
    tell: &mut dyn FnMut(String),
) {
    let size = network.weights().len();
    let (mut gradient, mut adam) = (vec![0.0_f32; size], Adam::new(size));
    let mut order: Vec<usize> = (0..training_set.len()).collect();
    let mut rng = Rng::new(config.seed ^ 0x006f_7264_6572);
    let steps = config.epochs as usize * training_set.len().div_ceil(L::BATCH);
    let mut step = 0_usize;
    for epoch in 1..=config.epochs {
        rng.shuffle(&mut order);
        let mut sum = 0.0;
        for batch in order.chunks(L::BATCH) {
            gradient.fill(0.0);
            for &n in batch {
                sum +=
                    f64::from(network.accumulate_gradient(&training_set[n], Some(&mut rng), &mut gradient));
            }
            network.before_step(&mut gradient);
            step += 1;
            let rate = config.learning_rate
                * 0.5
                * (1.0 + (std::f32::consts::PI * step as f32 / steps as f32).cos());
            let part = 1.0 / batch.len() as f32;
            for gradient in &mut gradient {
                *gradient *= part;
            }
            adam.step(network.weights(), &gradient, rate);
            let decay = 1.0 - rate * config.weight_decay;
            let decayed = network.decayed_weights();
            for weight in &mut network.weights()[..decayed] {
                *weight *= decay;
            }
            network.after_step();
        }
        tell(format!(
            "round {epoch}: loss {:.4}, on unknown games {:.4}",
            sum / order.len().max(1) as f64,
            mean(validation_set, |sample| network.accumulate_gradient(sample, None, &mut []))
        ));
    }
}

/// The logistic function: the chance for log odds.
pub(crate) fn sigmoid(odds: f32) -> f32 {
    1.0 / (1.0 + (-odds).exp())
}

/// Cross entropy of predicted log odds with a target chance.
pub(crate) fn cross_entropy(odds: f32, target: f32) -> f32 {
    let chance = sigmoid(odds).clamp(1e-6, 1.0 - 1e-6);
    -(target * chance.ln() + (1.0 - target) * (1.0 - chance).ln())
}
