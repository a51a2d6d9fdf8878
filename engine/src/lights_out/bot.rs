//! The Lights Out bot, which plays the solution.

use super::{LightsOut, Solution};
use crate::{Action, AnyGame, Bot, Limits, Point, Report, Score};

/// Plays the presses of a minimal solution; all levels are the same. A hint is its next press.
#[derive(Clone, Copy, Debug, Default)]
pub struct LightsOutBot;

/// The presses of a solution in reading order, from the top row down.
fn in_reading_order(game: &LightsOut) -> Option<Vec<Point>> {
    match game.solution() {
        Solution::Unsolvable => None,
        Solution::Presses { presses, .. } => {
            let mut points: Vec<Point> = presses.points().collect();
            points.sort_unstable_by_key(|point| (std::cmp::Reverse(point.row), point.column));
            Some(points)
        }
    }
}

impl Bot for LightsOutBot {
    /// Returns the whole solution as the line; `None` also for an unsolvable board. Ignores the limits: 1,000 x 1,000 takes
    /// well under a second.
    fn choose(
        &mut self,
        game: &AnyGame,
        _limits: &Limits<'_>,
        report: &mut dyn FnMut(&Report),
    ) -> Option<Report> {
        let AnyGame::LightsOut(game) = game else { return None };
        let presses = in_reading_order(game).filter(|presses| !presses.is_empty())?;
        let plies = presses.len() as u32;
        let line = presses.into_iter().map(Action::Press).collect();
        let found = Report { line, score: Score::WinIn(plies), depth: plies, nodes: 1 };
        report(&found);
        Some(found)
    }
}
