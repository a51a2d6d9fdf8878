//! Glicko-2 (Mark Glickman, "Example of the Glicko-2 system", 2013), one result at a time.
//!
//! For pairs whose strengths are both unknown, such as a person and a puzzle. Strength against levels, which are known, is on a grid:
//! see [`crate::rating`].

use std::f64::consts::PI;

/// Rating points of one unit of the paper's scale.
const SCALE: f64 = 173.7178;
/// Rating that is 0 on the paper's scale.
const CENTRE: f64 = 1500.0;
/// How much the volatility may change: the paper's τ, 0.3 to 1.2.
const TAU: f64 = 0.5;
/// The volatility is found this exactly: the paper's ε.
const EXACT: f64 = 0.000_001;
/// Deviation of who nothing is known of; longer rest makes nobody less known than that.
const UNKNOWN: f64 = 350.0;
/// A deviation never falls below this, so that a rating can follow who gets better.
const KNOWN: f64 = 45.0;

/// A rating, how uncertain it is, and how erratic its holder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glicko {
    /// Strength: 400 above the opponent means ten wins for a loss, if both are well known.
    pub rating: f64,
    /// Standard deviation of the rating.
    pub deviation: f64,
    /// Expected change of the rating within a period, in units of the paper's scale.
    pub volatility: f64,
}

impl Glicko {
    /// With the volatility that the paper begins with.
    pub const fn new(rating: f64, deviation: f64) -> Self {
        Self { rating, deviation, volatility: 0.06 }
    }

    /// Of a person without results: probably weak, and hardly known.
    pub const fn novice() -> Self {
        Self::new(1000.0, UNKNOWN)
    }

    /// Probability that this one beats the opponent.
    pub fn expected(self, opponent: Self) -> f64 {
        1.0 / (1.0 + (-weight(opponent) * (unit(self) - unit(opponent))).exp())
    }

    /// After a result against this opponent; `score` is 1 for a win and 0 for a loss.
    #[must_use]
    pub fn after(self, opponent: Self, score: f64) -> Self {
        let (g, e, phi) = (weight(opponent), self.expected(opponent), self.deviation / SCALE);
        let variance = 1.0 / (g * g * e * (1.0 - e));
        let surprise = g * (score - e);
        let volatility = volatility(phi, self.volatility, variance, variance * surprise);
        let before = phi * phi + volatility * volatility;
        let after = 1.0 / (1.0 / before + 1.0 / variance);
        Self {
            rating: self.rating + SCALE * after * surprise,
            deviation: (SCALE * after.sqrt()).clamp(KNOWN, UNKNOWN),
            volatility,
        }
    }

    /// After so many days without a result: known less well, and no weaker.
    #[must_use]
    pub fn rested(self, days: u32) -> Self {
        let grown = (self.deviation / SCALE).powi(2) + f64::from(days) * self.volatility.powi(2);
        Self { deviation: (SCALE * grown.sqrt()).min(UNKNOWN.max(self.deviation)), ..self }
    }
}

/// The rating on the paper's scale: μ.
fn unit(one: Glicko) -> f64 {
    (one.rating - CENTRE) / SCALE
}

/// How much a result against this opponent says: the paper's g(φ).
fn weight(opponent: Glicko) -> f64 {
    let phi = opponent.deviation / SCALE;
    1.0 / (1.0 + 3.0 * phi * phi / (PI * PI)).sqrt()
}

/// The new volatility, by the Illinois algorithm: step 5 of the paper. `delta`: the improvement that the result suggests.
fn volatility(phi: f64, sigma: f64, variance: f64, delta: f64) -> f64 {
    let a = (sigma * sigma).ln();
    let f = |x: f64| {
        let (grown, change) = (phi * phi + variance + x.exp(), x.exp());
        change * (delta * delta - grown) / (2.0 * grown * grown) - (x - a) / (TAU * TAU)
    };
    let mut low = a;
    let mut high = if delta * delta > phi * phi + variance {
        (delta * delta - phi * phi - variance).ln()
    } else {
        // f falls without end to the left, so that one of the first few steps is beyond its zero.
        let step = (1..100).find(|&k| f(a - f64::from(k) * TAU) >= 0.0).unwrap_or(100);
        a - f64::from(step) * TAU
    };
    let (mut at_low, mut at_high) = (f(low), f(high));
    // It has converged long before.
    for _ in 0..100 {
        if (high - low).abs() <= EXACT {
            break;
        }
        let middle = low + (low - high) * at_low / (at_high - at_low);
        let at_middle = f(middle);
        if at_middle * at_high <= 0.0 {
            (low, at_low) = (high, at_high);
        } else {
            at_low /= 2.0;
        }
        (high, at_high) = (middle, at_middle);
    }
    (low / 2.0).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn the_papers_example_has_the_papers_numbers() {
        let player = Glicko::new(1500.0, 200.0);
        let expected = [(1400.0, 30.0, 0.639), (1550.0, 100.0, 0.432), (1700.0, 300.0, 0.303)];
        for (rating, deviation, e) in expected {
            let found = player.expected(Glicko::new(rating, deviation));
            assert!((found - e).abs() < 0.001, "{rating}: {found}");
        }
        // Its three results at once: variance 1.7785, improvement -0.4834.
        let sigma = volatility(200.0 / SCALE, 0.06, 1.7785, -0.4834);
        assert!((sigma - 0.05999).abs() < 0.00001, "{sigma}");
    }

    #[test]
    fn a_win_raises_a_loss_lowers_and_both_make_it_better_known() {
        let (player, puzzle) = (Glicko::novice(), Glicko::new(1000.0, 150.0));
        let (won, lost) = (player.after(puzzle, 1.0), player.after(puzzle, 0.0));
        assert!(lost.rating < player.rating && player.rating < won.rating);
        assert!(won.deviation < player.deviation && lost.deviation < player.deviation);
        let (mirrored, equal) = (puzzle.after(player, 0.0), (won.rating - 1000.0) + (lost.rating - 1000.0));
        assert!(mirrored.rating < puzzle.rating && equal.abs() < 0.1, "even chances move by as much");
        assert!((won.rating - 1000.0) > (1000.0 - mirrored.rating) * 2.0, "who is known less moves further");
    }

    #[test]
    fn rest_makes_less_known_up_to_what_nothing_is_known_of() {
        let known = Glicko::new(1400.0, 60.0);
        let (month, age) = (known.rested(30), known.rested(u32::MAX));
        assert!(month.deviation > known.deviation && (month.rating - known.rating).abs() < 1e-9);
        assert!((age.deviation - UNKNOWN).abs() < 1e-9);
        assert!((known.rested(0).deviation - 60.0).abs() < 1e-9);
    }

    #[test]
    fn a_person_of_any_strength_is_found_by_forty_puzzles_near_the_rating() {
        let mut rng = Rng::new(5);
        for strength in [700.0, 1000.0, 1300.0, 1600.0, 1900.0, 2200.0] {
            let mut off: Vec<f64> = (0..40)
                .map(|_| {
                    let mut player = Glicko::novice();
                    for _ in 0..40 {
                        let puzzle = Glicko::new(player.rating.clamp(800.0, 2300.0), 150.0);
                        let wins = Glicko::new(strength, 0.0).expected(Glicko::new(puzzle.rating, 0.0));
                        let won = f64::from(rng.below(1_000_000)) < wins * 1e6;
                        player = player.after(puzzle, if won { 1.0 } else { 0.0 });
                    }
                    (player.rating - strength).abs()
                })
                .collect();
            off.sort_by(f64::total_cmp);
            assert!(off[20] < 150.0, "{strength}: {} away", off[20]);
        }
    }

    #[test]
    fn however_one_sided_the_results_the_numbers_stay_numbers() {
        for score in [0.0, 1.0] {
            let (mut player, puzzle) = (Glicko::novice(), Glicko::new(1500.0, 30.0));
            for _ in 0..2000 {
                player = player.after(puzzle, score);
                assert!(player.rating.is_finite() && player.volatility.is_finite(), "{player:?}");
                assert!((KNOWN..=UNKNOWN).contains(&player.deviation));
            }
        }
    }
}
