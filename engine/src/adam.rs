//! The optimiser of networks and evaluations: Adam (Kingma and Ba 2015) with its default constants.

use std::ops::{Add, Div, Mul, Sub, SubAssign};

/// The floats that are optimised. The constants of each are rounded as in the trainings that made the committed weights, so that
/// these can be made again bit by bit.
pub(crate) trait Real:
    Copy + Default + SubAssign + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    const ONE: Self;
    /// Decay of the mean and of the variance (beta 1 and 2).
    const DECAY: [Self; 2];
    /// What the decays leave for the new gradient.
    const FRESH: [Self; 2];
    const EPSILON: Self;

    fn powi(self, exponent: i32) -> Self;
    fn sqrt(self) -> Self;
}

impl Real for f32 {
    const ONE: Self = 1.0;
    const DECAY: [Self; 2] = [0.9, 0.999];
    const FRESH: [Self; 2] = [1.0 - Self::DECAY[0], 1.0 - Self::DECAY[1]];
    const EPSILON: Self = 1e-8;

    fn powi(self, exponent: i32) -> Self {
        self.powi(exponent)
    }

    fn sqrt(self) -> Self {
        self.sqrt()
    }
}

impl Real for f64 {
    const ONE: Self = 1.0;
    const DECAY: [Self; 2] = [0.9, 0.999];
    const FRESH: [Self; 2] = [0.1, 0.001];
    const EPSILON: Self = 1e-8;

    fn powi(self, exponent: i32) -> Self {
        self.powi(exponent)
    }

    fn sqrt(self) -> Self {
        self.sqrt()
    }
}

/// The moments of each weight's gradient.
pub(crate) struct Adam<T> {
    mean: Vec<T>,
    variance: Vec<T>,
    steps: i32,
}

impl<T: Real> Adam<T> {
    /// For this number of weights.
    pub(crate) fn new(weights: usize) -> Self {
        Self { mean: vec![T::default(); weights], variance: vec![T::default(); weights], steps: 0 }
    }

    /// Changes the weights by one step against the gradient.
    pub(crate) fn step(&mut self, weights: &mut [T], gradient: &[T], rate: T) {
        self.steps = self.steps.saturating_add(1);
        let [mean_decay, variance_decay] = T::DECAY;
        let [mean_fresh, variance_fresh] = T::FRESH;
        let mean_correction = T::ONE - mean_decay.powi(self.steps);
        let variance_correction = T::ONE - variance_decay.powi(self.steps);
        let moments = self.mean.iter_mut().zip(&mut self.variance);
        for ((weight, &gradient), (mean, variance)) in weights.iter_mut().zip(gradient).zip(moments) {
            *mean = mean_decay * *mean + mean_fresh * gradient;
            *variance = variance_decay * *variance + variance_fresh * gradient * gradient;
            *weight -=
                rate * (*mean / mean_correction) / ((*variance / variance_correction).sqrt() + T::EPSILON);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_is_the_rate_against_each_gradient_whatever_its_size() {
        let mut weights = [1.0_f64, 1.0, 1.0];
        Adam::new(3).step(&mut weights, &[0.001, -50.0, 0.0], 0.25);
        for (weight, expected) in weights.into_iter().zip([0.75, 1.25, 1.0]) {
            assert!((weight - expected).abs() < 1e-5, "{weight} is not {expected}");
        }
    }

    #[test]
    fn the_lowest_point_of_a_valley_is_found() {
        let mut weights = [3.0_f32, -2.0];
        let mut adam = Adam::new(2);
        for _ in 0..5_000 {
            let gradient = [2.0 * (weights[0] - 1.0), 20.0 * (weights[1] - 0.5)];
            adam.step(&mut weights, &gradient, 0.01);
        }
        assert!((weights[0] - 1.0).abs() < 0.05 && (weights[1] - 0.5).abs() < 0.05, "{weights:?}");
    }
}
