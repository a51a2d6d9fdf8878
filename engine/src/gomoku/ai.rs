//! The gomoku bot: the greedy five-cell table (level 1 of every level until the search stands beside it).

use crate::{Action, AnyGame, Bot, Game, Level, Limits, Point, Report, Rng, Score, Side};

use super::{DIRECTIONS, Gomoku};

/// A gomoku player.
pub struct GomokuBot {
    #[allow(dead_code, reason = "levels above 1 come with the search")]
    level: Level,
    rng: Rng,
}

impl GomokuBot {
    /// A player of this strength; the seed breaks ties.
    pub fn new(level: Level, seed: u64) -> Self {
        Self { level, rng: Rng::new(seed) }
    }
}

/// Worth of an empty point by the windows of five that hold it: own stones 0..=4 alone, enemy stones 0..=4 alone.
const OWN: [i64; 5] = [7, 35, 800, 15_000, 800_000];
const ENEMY: [i64; 5] = [7, 15, 400, 1_800, 100_000];

/// Sum over the five-cell windows that contain the point, from the point of view of `side`.
fn worth(game: &Gomoku, point: Point, side: Side) -> i64 {
    let size = i32::from(game.setup().size);
    let (column, row) = (i32::from(point.column), i32::from(point.row));
    let mut sum = 0;
    for (dc, dr) in DIRECTIONS {
        for start in -4..=0 {
            let cells = (start..start + 5).map(|n| (column + dc * n, row + dr * n));
            if cells.clone().any(|(c, r)| !(0..size).contains(&c) || !(0..size).contains(&r)) {
                continue;
            }
            let (mut own, mut enemy) = (0, 0);
            for (c, r) in cells {
                match game.at(c, r) {
                    Some(s) if s == side => own += 1,
                    Some(_) => enemy += 1,
                    None => {}
                }
            }
            sum += match (own, enemy) {
                (own, 0) => OWN[own],
                (0, enemy) => ENEMY[enemy],
                _ => 0,
            };
        }
    }
    sum
}

impl Bot for GomokuBot {
    fn choose(
        &mut self,
        game: &AnyGame,
        _limits: &Limits<'_>,
        report: &mut dyn FnMut(&Report),
    ) -> Option<Report> {
        #[allow(irrefutable_let_patterns, reason = "with one game in the list every game is this one")]
        let AnyGame::Gomoku(game) = game else { return None };
        let mut moves = Vec::new();
        game.legal_moves(&mut moves);
        let side = game.turn();
        let mut best: Option<(i64, u64, Point)> = None;
        for &mv in &moves {
            let Action::Place(point) = Gomoku::action(mv) else { continue };
            let candidate = (worth(game, point, side), self.rng.next_u64(), point);
            if best.is_none_or(|best| (candidate.0, candidate.1) > (best.0, best.1)) {
                best = Some(candidate);
            }
        }
        let (_, _, point) = best?;
        let found = Report {
            line: vec![Action::Place(point)],
            score: Score::Points(0),
            depth: 1,
            nodes: moves.len() as u64,
        };
        report(&found);
        Some(found)
    }
}
