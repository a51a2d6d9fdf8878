//! The strength of a person, from results against levels.
//!
//! The model is Glicko's: a player has a strength in Elo, known only as a distribution, which each result narrows and time widens.
//! Glicko-2 keeps a normal distribution. Here the distribution lies on a grid, since the scale of a game spans up to 4,000 Elo and
//! the result of a one-sided match says only on which side of the opponent a player is: with a normal distribution a strong player is
//! still a thousand Elo away after twelve matches. See `docs/decisions/0032-strength-on-a-grid.md`.

use crate::{AnyGame, Level};

/// Width of a grid cell in Elo.
const CELL: f64 = 25.0;
/// The grid reaches this far beyond both ends of the scale, in Elo.
const BEYOND: f64 = 200.0;
/// Standard deviation by which strength may change between two matches, in Elo.
const DRIFT: f64 = 25.0;
/// Share of the prior that is uniform over the grid, so that a few results lead to any strength.
const UNIFORM: f64 = 0.6;
/// Where a new player is expected, and the standard deviation of it, as fractions of the scale.
const EXPECTED: (f64, f64) = (0.15, 0.3);

/// How sure it must be that a player is beyond an end of the scale.
const SURE: f64 = 0.7;

/// An end of the scale that a player is beyond: no level makes an even match, and odds do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Weaker than level 1.
    Below,
    /// Stronger than level 10.
    Above,
}

/// How one match ended for the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scored {
    /// The person won.
    Won,
    /// Nobody won.
    Drawn,
    /// The opponent won.
    Lost,
}

/// What is known of a person's strength in one game, in Elo above the game's level 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Rating {
    /// Probability of each cell; they sum up to 1.
    cells: Vec<f64>,
    /// No result has been taken in.
    is_new: bool,
}

impl Rating {
    /// Before the first match. `None` for a game without levels.
    pub fn new(game: &AnyGame) -> Option<Self> {
        let top = Level::MAX.elo(game)?;
        let count = ((top + 2.0 * BEYOND) / CELL).ceil() as usize + 1;
        let (mean, deviation) = (EXPECTED.0 * top, EXPECTED.1 * top);
        let normal: Vec<f64> =
            (0..count).map(|cell| (-0.5 * ((elo(cell) - mean) / deviation).powi(2)).exp()).collect();
        let sum: f64 = normal.iter().sum();
        let cells = normal.iter().map(|p| (1.0 - UNIFORM) * p / sum + UNIFORM / count as f64).collect();
        Some(Self { cells, is_new: true })
    }

    /// Takes in the result of one match against a player of this strength.
    pub fn update(&mut self, opponent: f64, score: Scored) {
        for (cell, p) in self.cells.iter_mut().enumerate() {
            let win = expected(elo(cell) - opponent);
            *p *= match score {
                Scored::Won => win,
                Scored::Lost => 1.0 - win,
                // As half a win and half a loss.
                Scored::Drawn => (win * (1.0 - win)).sqrt(),
            };
        }
        self.is_new = false;
        self.drift();
        let sum: f64 = self.cells.iter().sum();
        self.cells.iter_mut().for_each(|p| *p /= sum);
    }

    /// Spreads each cell over those around it. What would leave the grid stays in its last cell.
    fn drift(&mut self) {
        let reach = (3.0 * DRIFT / CELL) as isize;
        let weight = |step: isize| (-0.5 * (step as f64 * CELL / DRIFT).powi(2)).exp();
        let sum: f64 = (-reach..=reach).map(weight).sum();
        let last = self.cells.len() as isize - 1;
        let mut spread = vec![0.0; self.cells.len()];
        for (cell, p) in self.cells.iter().enumerate() {
            for step in -reach..=reach {
                spread[(cell as isize + step).clamp(0, last) as usize] += p * weight(step) / sum;
            }
        }
        self.cells = spread;
    }

    /// The strength that the player is below with this probability, 0 to 1.
    pub fn quantile(&self, probability: f64) -> f64 {
        let mut below = 0.0;
        let cell = self.cells.iter().position(|p| {
            below += p;
            below >= probability
        });
        elo(cell.unwrap_or(self.cells.len() - 1))
    }

    /// The level against which the player is expected to score one half; the first or the last for who is beyond it. The first
    /// before any result: who is new to a game should not meet a wall.
    pub fn level(&self, game: &AnyGame) -> Level {
        if self.is_new { Level::MIN } else { Level::nearest(self.quantile(0.5), game) }
    }

    /// The end of the scale that the player is beyond, with a probability of 70 %.
    pub fn beyond(&self, game: &AnyGame) -> Option<Beyond> {
        let top = Level::MAX.elo(game)?;
        if self.quantile(SURE) < 0.0 {
            Some(Beyond::Below)
        } else {
            (self.quantile(1.0 - SURE) > top).then_some(Beyond::Above)
        }
    }
}

/// Elo of a cell.
fn elo(cell: usize) -> f64 {
    cell as f64 * CELL - BEYOND
}

/// Expected score of a player who is this many Elo above the opponent.
fn expected(above: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-above / 400.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::go::GoSetup;
    use crate::{GameKind, Rng, Setup};

    fn boards() -> Vec<(String, AnyGame)> {
        let even = [GameKind::Gomoku, GameKind::Xiangqi, GameKind::Liuzhou]
            .map(|kind| (format!("{kind:?}"), kind.default_setup()));
        let go =
            [9, 13, 19].map(|size| (format!("go {size}"), Setup::Go(GoSetup { size, ..GoSetup::default() })));
        even.into_iter()
            .chain(go)
            .map(|(name, setup)| (name, AnyGame::new(&setup).expect("a valid setup")))
            .collect()
    }

    #[test]
    fn who_is_beyond_an_end_of_the_scale_is_found_out_and_nobody_else() {
        for (name, game) in boards() {
            let top = Level::MAX.elo(&game).expect("a game with levels");
            let after = |opponent: f64, score: Scored, matches: usize| {
                let mut rating = Rating::new(&game).expect("a game with levels");
                (0..matches).for_each(|_| rating.update(opponent, score));
                rating.beyond(&game)
            };
            assert_eq!(after(0.0, Scored::Lost, 0), None, "{name}: nothing is known");
            assert_eq!(after(0.0, Scored::Lost, 1), None, "{name}: a defeat says little");
            assert_eq!(after(0.0, Scored::Lost, 12), Some(Beyond::Below), "{name}");
            assert_eq!(after(top, Scored::Won, 12), Some(Beyond::Above), "{name}");
            assert_eq!(after(top / 2.0, Scored::Drawn, 12), None, "{name}: in the middle");
            // Who scores one half against an end is not beyond it.
            for end in [0.0, top] {
                let mut rating = Rating::new(&game).expect("a game with levels");
                for _ in 0..10 {
                    rating.update(end, Scored::Won);
                    rating.update(end, Scored::Lost);
                }
                assert_eq!(rating.beyond(&game), None, "{name}: even with {end}");
            }
        }
    }

    /// Distances of the offered level from a player of constant strength, before each of so many matches, in Elo.
    fn distances(game: &AnyGame, strength: f64, matches: usize, rng: &mut Rng) -> Vec<f64> {
        let mut rating = Rating::new(game).expect("a game with levels");
        (0..matches)
            .map(|_| {
                let offered = rating.level(game).elo(game).expect("a game with levels");
                let wins = f64::from(rng.below(1_000_000)) < 1e6 * expected(strength - offered);
                rating.update(offered, if wins { Scored::Won } else { Scored::Lost });
                offered - strength
            })
            .collect()
    }

    #[test]
    fn after_twelve_matches_players_of_every_strength_are_met_within_100_elo_and_stay_met() {
        /// Of each tenth of the scale.
        const PLAYERS: u32 = 500;
        let mut rng = Rng::new(1);
        for (name, game) in boards() {
            for tenths in (10..=100).step_by(10) {
                let level = Level::from_tenths(tenths).expect("a level");
                // Spread from half a level below to half a level above: at whole levels a distance is a multiple of a tenth of one.
                let elo = |tenths: u8| {
                    let level = Level::from_tenths(tenths.clamp(10, 100)).expect("a level");
                    level.elo(&game).expect("a game with levels")
                };
                let (low, high) = (elo(tenths - 5), elo(tenths + 5));
                let share = |number: u32| (f64::from(number) + 0.5) / f64::from(PLAYERS);
                let runs: Vec<Vec<f64>> = (0..PLAYERS)
                    .map(|number| distances(&game, low + (high - low) * share(number), 25, &mut rng))
                    .collect();
                let median = |at: usize| {
                    let mut away: Vec<f64> = runs.iter().map(|run| run[at].abs()).collect();
                    away.sort_by(f64::total_cmp);
                    away[away.len() / 2]
                };
                for at in [12, 16, 20, 24] {
                    assert!(median(at) <= 100.0, "{name}, level {level}, match {at}: {}", median(at));
                    let mean = runs.iter().map(|run| run[at]).sum::<f64>() / runs.len() as f64;
                    assert!(mean.abs() <= 100.0, "{name}, level {level}, match {at}: {mean} on the mean");
                }
            }
        }
    }

    #[test]
    fn a_draw_moves_the_rating_towards_the_opponent_and_results_narrow_it() {
        let game = AnyGame::new(&GameKind::Xiangqi.default_setup()).expect("valid");
        let new = Rating::new(&game).expect("a game with levels");
        let width = |rating: &Rating| rating.quantile(0.9) - rating.quantile(0.1);
        let opponent = 1500.0;
        let mut drawn = new.clone();
        (0..10).for_each(|_| drawn.update(opponent, Scored::Drawn));
        assert!((drawn.quantile(0.5) - opponent).abs() <= 100.0, "{}", drawn.quantile(0.5));
        assert!(width(&drawn) < width(&new) / 3.0);
        let (mut won, mut lost) = (drawn.clone(), drawn.clone());
        won.update(opponent, Scored::Won);
        lost.update(opponent, Scored::Lost);
        assert!(lost.quantile(0.5) < drawn.quantile(0.5) && drawn.quantile(0.5) < won.quantile(0.5));
    }

    #[test]
    fn a_thousand_losses_or_wins_offer_the_ends_of_the_scale_and_a_dozen_results_lead_away_again() {
        let game = AnyGame::new(&GameKind::Liuzhou.default_setup()).expect("valid");
        for (score, back, end) in
            [(Scored::Lost, Scored::Won, Level::MIN), (Scored::Won, Scored::Lost, Level::MAX)]
        {
            let mut rating = Rating::new(&game).expect("a game with levels");
            for _ in 0..1000 {
                rating.update(rating.level(&game).elo(&game).expect("a game with levels"), score);
            }
            assert_eq!(rating.level(&game), end);
            for _ in 0..12 {
                rating.update(rating.level(&game).elo(&game).expect("a game with levels"), back);
            }
            assert_ne!(rating.level(&game), end);
        }
    }

    #[test]
    fn a_game_without_levels_has_no_rating() {
        let game = AnyGame::new(&GameKind::LightsOut.default_setup()).expect("valid");
        assert_eq!(Rating::new(&game), None);
    }
}
