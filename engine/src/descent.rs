//! What the games' networks are trained by: steps of gradient descent and the loss that they lessen.

/// One step of Adam (Kingma and Ba 2015) with its usual constants.
pub(crate) fn adam(
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

/// Loss of saying these odds where that is the chance.
pub(crate) fn entropy(odds: f32, aim: f32) -> f32 {
    let chance = (1.0 / (1.0 + (-odds).exp())).clamp(1e-6, 1.0 - 1e-6);
    -(aim * chance.ln() + (1.0 - aim) * (1.0 - chance).ln())
}
