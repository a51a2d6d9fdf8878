//! A player for games that have no search of their own yet: it plays each move out to the end at random, many times.

use crate::{AnyGame, Bot, Game, Level, Limits, Outcome, Report, Rng, Score};

/// Plies of one random game; after them it counts as a draw.
const PLIES: u32 = 200;
/// Random games for each level and legal move.
const GAMES_PER_LEVEL: u64 = 4;

/// Chooses the move that wins most of the random games after it.
pub(crate) struct PlayoutsBot {
    level: Level,
    rng: Rng,
}

impl PlayoutsBot {
    /// The same seed gives the same choices.
    pub(crate) fn new(level: Level, seed: u64) -> Self {
        Self { level, rng: Rng::new(seed) }
    }

    fn play_out<G: Game>(&mut self, mut game: G) -> Option<Outcome> {
        let mut moves = Vec::new();
        for _ in 0..PLIES {
            game.legal_moves(&mut moves);
            if moves.is_empty() {
                break;
            }
            game.play(moves[self.rng.below(moves.len() as u32) as usize]);
        }
        game.outcome()
    }

    fn best<G: Game>(&mut self, game: &G, limits: &Limits<'_>) -> Option<Report> {
        let mut moves = Vec::new();
        game.legal_moves(&mut moves);
        let side = game.turn();
        let mut best: Option<(i64, G::Move)> = None;
        let mut nodes = 0;
        for mv in moves {
            let mut score = 0;
            for _ in 0..GAMES_PER_LEVEL * u64::from(self.level.number()) {
                let late = limits.stop.load(std::sync::atomic::Ordering::Relaxed)
                    || limits.time.is_some_and(|time| (limits.elapsed)() >= time)
                    || limits.nodes.is_some_and(|most| nodes >= most);
                if late {
                    break;
                }
                let mut after = game.clone();
                after.play(mv);
                nodes += 1;
                score += match self.play_out(after).and_then(|outcome| outcome.winner) {
                    None => 0,
                    Some(winner) => {
                        if winner == side {
                            1
                        } else {
                            -1
                        }
                    }
                };
            }
            if best.is_none_or(|(most, _)| score > most) {
                best = Some((score, mv));
            }
        }
        let (score, mv) = best?;
        Some(Report { line: vec![G::action(mv)], score: Score::Points(score as i32), depth: 1, nodes })
    }
}

impl Bot for PlayoutsBot {
    fn choose(
        &mut self,
        game: &AnyGame,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Report),
    ) -> Option<Report> {
        let found = match game {
            AnyGame::Liuzhou(game) => self.best(game, limits),
            AnyGame::Go(game) => self.best(game, limits),
            AnyGame::Xiangqi(game) => self.best(game, limits),
            AnyGame::Gomoku(_) | AnyGame::LightsOut(_) => None,
        }?;
        report(&found);
        Some(found)
    }
}
