//! How soon an opponent whose level follows a player is as strong as the player, in simulation.

use std::process::ExitCode;

use engine::rating::{Rating, Scored};
use engine::{AnyGame, GameKind, Level, Rng, Setup};

use crate::matches::{share_of, verdict};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Simulated players around each level.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    players: u32,
    /// Players exactly as strong as the whole levels, instead of all strengths from half a level below to half a level above.
    #[arg(long)]
    whole: bool,
    /// Exit with an error if the opponent after twelve matches or more is further away on the median, in Elo.
    #[arg(long)]
    at_most: Option<f64>,
}

/// Matches before the one whose opponent is looked at.
const AFTER: [usize; 3] = [6, 12, 30];

/// The index in `AFTER` from which on the distance is bounded.
const MET: usize = 1;

/// For each game and strength: by how many Elo the opponent differs, on the median and on the mean.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    println!(
        "game, level of the player: after {AFTER:?} matches, Elo of the distance on the median (and of the mean)"
    );
    let mut furthest = 0_f64;
    let games = [GameKind::Gomoku, GameKind::Xiangqi, GameKind::Liuzhou]
        .map(|kind| (kind.word().to_owned(), kind.default_setup()));
    let go = [9, 13, 19]
        .map(|size| (format!("go {size}"), Setup::Go(engine::go::GoSetup { size, ..Default::default() })));
    for (name, setup) in games.into_iter().chain(go) {
        let game = AnyGame::new(&setup).expect("a valid setup");
        for level in (1..=10).filter_map(Level::new) {
            let mut rng = Rng::new(u64::from(level.tenths()));
            let mut away: [Vec<f64>; AFTER.len()] = Default::default();
            let (low, high) = around(&game, level, arguments.whole);
            for number in 0..arguments.players {
                let share = (f64::from(number) + 0.5) / f64::from(arguments.players);
                simulate(&game, low + (high - low) * share, &mut rng, &mut away);
            }
            let told: Vec<String> = away
                .iter_mut()
                .enumerate()
                .map(|(at, away)| {
                    let mean = away.iter().sum::<f64>() / away.len() as f64;
                    away.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
                    let median = away[away.len() / 2].abs();
                    if at >= MET {
                        furthest = furthest.max(median);
                    }
                    format!("{median:.0} ({mean:+.0})")
                })
                .collect();
            println!("{name}, level {level}: {}", told.join(", "));
        }
    }
    println!("furthest away after {} matches or more, on the median: {furthest:.0} Elo", AFTER[MET]);
    match arguments.at_most {
        Some(bar) => verdict(furthest <= bar, &format!("at most {bar} Elo")),
        None => ExitCode::SUCCESS,
    }
}

/// Elo of half a level below and half a level above this one, as far as there are levels; of this level itself if `whole`.
fn around(game: &AnyGame, level: Level, whole: bool) -> (f64, f64) {
    let reach = if whole { 0 } else { 5 };
    let elo = |tenths: u8| {
        let level = Level::from_tenths(tenths.clamp(Level::MIN.tenths(), Level::MAX.tenths()));
        level.and_then(|level| level.elo(game)).expect("a level of a game with levels")
    };
    (elo(level.tenths() - reach), elo(level.tenths() + reach))
}

/// One player of this strength: adds the distance of its opponent after so many matches as `AFTER` says.
fn simulate(game: &AnyGame, strength: f64, rng: &mut Rng, away: &mut [Vec<f64>; AFTER.len()]) {
    let elo = |level: Level| level.elo(game).expect("a game with levels");
    let mut rating = Rating::new(game).expect("a game with levels");
    for played in 0..=AFTER[AFTER.len() - 1] {
        let opponent = elo(rating.level(game));
        if let Some(at) = AFTER.iter().position(|&after| after == played) {
            away[at].push(opponent - strength);
        }
        let won = f64::from(rng.below(1_000_000)) < share_of(strength - opponent) * 1e6;
        rating.update(opponent, if won { Scored::Won } else { Scored::Lost });
    }
}
