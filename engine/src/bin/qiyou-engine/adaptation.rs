//! How soon an opponent whose level follows a player is as strong as the player, in simulation.

use engine::rating::{Rating, Scored};
use engine::{AnyGame, GameKind, Level, Rng, Setup};

use crate::matches::share_of;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Simulated players of each strength.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    players: u32,
}

/// Matches before the one whose opponent is looked at.
const AFTER: [usize; 3] = [6, 12, 30];

/// For each game and strength: by how many Elo the opponent differs, on the median and on the mean.
pub(crate) fn run(arguments: &Arguments) {
    println!(
        "game, level of the player: after {AFTER:?} matches, Elo of the distance on the median (and of the mean)"
    );
    let games = [GameKind::Gomoku, GameKind::Xiangqi, GameKind::Liuzhou]
        .map(|kind| (kind.word().to_owned(), kind.default_setup()));
    let go = [9, 13, 19]
        .map(|size| (format!("go {size}"), Setup::Go(engine::go::GoSetup { size, ..Default::default() })));
    for (name, setup) in games.into_iter().chain(go) {
        let game = AnyGame::new(&setup).expect("a valid setup");
        for level in (1..=10).filter_map(Level::new) {
            let mut rng = Rng::new(u64::from(level.tenths()));
            let mut away: [Vec<f64>; AFTER.len()] = Default::default();
            for _ in 0..arguments.players {
                simulate(&game, level, &mut rng, &mut away);
            }
            let told: Vec<String> = away
                .iter_mut()
                .map(|away| {
                    let mean = away.iter().sum::<f64>() / away.len() as f64;
                    away.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
                    format!("{:.0} ({mean:+.0})", away[away.len() / 2].abs())
                })
                .collect();
            println!("{name}, level {level}: {}", told.join(", "));
        }
    }
}

/// One player of this strength: adds the distance of its opponent after so many matches as `AFTER` says.
fn simulate(game: &AnyGame, strength: Level, rng: &mut Rng, away: &mut [Vec<f64>; AFTER.len()]) {
    let elo = |level: Level| level.elo(game).expect("a game with levels");
    let mut rating = Rating::new(game).expect("a game with levels");
    for played in 0..=AFTER[AFTER.len() - 1] {
        let opponent = elo(rating.level(game));
        if let Some(at) = AFTER.iter().position(|&after| after == played) {
            away[at].push(opponent - elo(strength));
        }
        let won = f64::from(rng.below(1_000_000)) < share_of(elo(strength) - opponent) * 1e6;
        rating.update(opponent, if won { Scored::Won } else { Scored::Lost });
    }
}
