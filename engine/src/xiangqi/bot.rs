//! The xiangqi bot and its levels.

use super::position::Position;
use super::{Xiangqi, XiangqiMove};
use crate::search::{Clock, Finding, Strength, Value};
use crate::search_bot::{SearchBot, SearchedGame};
use crate::{AnyGame, Game, Limits, Score, Tier};

/// The xiangqi bot. It allocates its tables at the first search.
pub struct XiangqiBot(SearchBot<Position>);

const MB: usize = 1 << 20;
const NO_LIMIT: u32 = u32::MAX;

/// Levels 1 to 10. Up to 3 a level may overlook hanging pieces; from 4 on it uses quiescence search. Calibrated by matches
/// between adjacent levels; see EXPERIMENTS.md.
const STRENGTHS: [Strength; 10] = [
    Strength { depth: 1, nodes: 1_000, noise: 100, quiescence: false, table_bytes: MB / 4 },
    Strength { depth: 2, nodes: 2_000, noise: 480, quiescence: false, table_bytes: MB / 4 },
    Strength { depth: 2, nodes: 2_000, noise: 270, quiescence: false, table_bytes: MB / 4 },
    Strength { depth: 1, nodes: 2_000, noise: 230, quiescence: true, table_bytes: MB / 4 },
    Strength { depth: 1, nodes: 2_000, noise: 75, quiescence: true, table_bytes: MB / 4 },
    Strength { depth: 3, nodes: 6_000, noise: 80, quiescence: true, table_bytes: MB / 2 },
    Strength { depth: 5, nodes: 25_000, noise: 18, quiescence: true, table_bytes: 2 * MB },
    Strength { depth: 8, nodes: 100_000, noise: 5, quiescence: true, table_bytes: 4 * MB },
    Strength { depth: 11, nodes: 380_000, noise: 0, quiescence: true, table_bytes: 16 * MB },
    Strength { depth: NO_LIMIT, nodes: u64::MAX, noise: 0, quiescence: true, table_bytes: 64 * MB },
];

impl XiangqiBot {
    /// A player of this strength; the seed colours its errors.
    pub fn new(level: Tier, seed: u64) -> Self {
        Self::with_table(level, seed, None)
    }

    /// A player whose table of positions takes this many bytes instead of what the level would choose (64 MB at most).
    pub fn with_table(level: Tier, seed: u64, table_bytes: Option<usize>) -> Self {
        let strength = STRENGTHS[usize::from(level.number()) - 1];
        Self(SearchBot::new(strength, table_bytes.unwrap_or(strength.table_bytes), seed))
    }

    /// Allocates the table now, instead of at the first decision.
    pub fn prepare(&mut self) {
        self.0.search.prepare();
    }

    /// Clears all tables.
    pub fn forget(&mut self) {
        self.0.forget();
    }

    /// Chooses among the moves that `among` accepts. `None` when the game is over, or no move is accepted.
    pub fn think(
        &mut self,
        game: &Xiangqi,
        among: &dyn Fn(XiangqiMove) -> bool,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Finding<XiangqiMove>),
    ) -> Option<Finding<XiangqiMove>> {
        if game.outcome().is_some() {
            return None;
        }
        let own = self.0.strength.limit(limits);
        // Moves that lose by the repetition rule are left out if there is another one.
        let mut moves = Vec::new();
        game.legal_moves(&mut moves);
        moves.retain(|&mv| among(mv));
        let losing: Vec<XiangqiMove> =
            moves.iter().copied().filter(|&mv| game.loses_by_repetition(mv)).collect();
        let all_lose = losing.len() == moves.len();
        let among = |mv| among(mv) && (all_lose || !losing.contains(&mv));
        let mut position = Position::new(game);
        self.0.search.search_among(&mut position, &among, &mut Clock::new(&own), report)
    }

    /// The value of a finding as a [`Score`].
    pub fn score(finding: &Finding<XiangqiMove>) -> Score {
        Value::score(finding.value)
    }
}

impl SearchedGame for XiangqiBot {
    type Game = Xiangqi;
    type Position = Position;

    fn game(game: &AnyGame) -> Option<&Xiangqi> {
        match game {
            AnyGame::Xiangqi(game) => Some(game),
            _ => None,
        }
    }

    fn search_bot(&mut self) -> &mut SearchBot<Position> {
        &mut self.0
    }

    fn begin(&mut self, limits: &Limits<'_>) {
        self.0.start_afresh(limits);
    }

    fn think_among(
        &mut self,
        game: &Xiangqi,
        among: &dyn Fn(XiangqiMove) -> bool,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Finding<XiangqiMove>),
    ) -> Option<Finding<XiangqiMove>> {
        self.think(game, among, limits, report)
    }
}
