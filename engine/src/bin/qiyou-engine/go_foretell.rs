//! Prediction error of Go's playouts for results of games: a quick comparison of playout policies.
//!
//! Both parameter sets are evaluated on the same positions, so that small differences are significant long before a match
//! would show them. A set that predicts better must still be confirmed by matches.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::go::{Go, GoBot, GoSetup};
use engine::{Game as _, Limits, Rng, Side, Tier};

use crate::tune;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Files of games that `go-games` has written.
    games: Vec<PathBuf>,
    /// Playouts per position.
    #[arg(long, default_value_t = 64)]
    playouts: u32,
    /// Evaluate one position in this many.
    #[arg(long, default_value_t = 4)]
    every: u32,
    /// Run the playouts within a tree search.
    #[arg(long)]
    search: bool,
    /// Parameters to compare with the present ones, as `NAME=VALUE,NAME=VALUE`; may be given several times.
    #[arg(long)]
    tune: Vec<String>,
}

/// A position with the result of its game.
struct Sample {
    go: Go,
    /// Whether Black won.
    black: bool,
    /// Final owner of each point, 1 for Black.
    owners: Vec<f32>,
}

/// The prediction for a position.
struct Foretold {
    /// Log odds of Black's win.
    logit: f64,
    /// Mean squared error of ownership.
    owners: f64,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let mut samples = Vec::new();
    for path in &arguments.games {
        match std::fs::read_to_string(path) {
            Ok(text) => samples.extend(text.lines().filter_map(|line| read(line, arguments.every)).flatten()),
            Err(error) => {
                eprintln!("{}: {error}", path.display());
                return ExitCode::FAILURE;
            }
        }
    }
    println!("{} positions", samples.len());
    let mut first: Option<Vec<Foretold>> = None;
    for set in std::iter::once("").chain(arguments.tune.iter().map(String::as_str)) {
        let changes: Vec<String> = set.split(',').filter(|one| !one.is_empty()).map(str::to_owned).collect();
        let mut bot = GoBot::new(Tier::MAX, 1);
        if let Err(why) = tune::set(&mut bot, &changes) {
            eprintln!("--tune: {why}");
            return ExitCode::from(2);
        }
        let begin = Instant::now();
        let told: Vec<Foretold> =
            samples.iter().enumerate().map(|(n, sample)| foretell(&mut bot, sample, n, arguments)).collect();
        let seconds = begin.elapsed().as_secs_f64();
        let scale = best_scale(&samples, &told);
        let (loss, owners) = errors(&samples, &told, scale);
        let compared = first.as_ref().map(|first| compare(&samples, first, &told, scale)).unwrap_or_default();
        println!("{set:40} loss {loss:.4} (scale {scale:.2}), owners {owners:.4}, {seconds:.1} s{compared}");
        if first.is_none() {
            first = Some(told);
        }
    }
    ExitCode::SUCCESS
}

/// The positions in a line of `go-games`; `None` if it is malformed.
fn read(line: &str, every: u32) -> Option<Vec<Sample>> {
    let mut words = line.split(' ');
    let size: u8 = words.next()?.parse().ok()?;
    let komi_half_points = words.next()?.parse().ok()?;
    let black = words.next()? == "b";
    let owner = |letter: char| match letter {
        'b' => 1.0,
        'w' => -1.0,
        _ => 0.0,
    };
    let owners: Vec<f32> = words.next()?.chars().map(owner).collect();
    let mut go = Go::new(&GoSetup { size, komi_half_points, ..GoSetup::default() }).ok()?;
    let mut list = Vec::new();
    for word in words {
        let (played, _) = word.split_once(':')?;
        let mv = go.legal_move(go.parse(played)?).ok()?;
        go.play(mv);
        if go.ply() % every == 0 {
            list.push(Sample { go: go.clone(), black, owners: owners.clone() });
        }
    }
    Some(list)
}

fn foretell(bot: &mut GoBot, sample: &Sample, n: usize, arguments: &Arguments) -> Foretold {
    let (black, owners) = if arguments.search {
        let stop = AtomicBool::new(false);
        let limits = Limits {
            time: None,
            nodes: Some(arguments.playouts.into()),
            depth: None,
            stop: &stop,
            elapsed: &|| Duration::ZERO,
        };
        let found = bot.analyse(&sample.go, &limits, &mut |_| {}).expect("the game goes on");
        let chance = if sample.go.turn() == Side::First { found.chance } else { 1.0 - found.chance };
        (f64::from(chance), found.owners)
    } else {
        let played = bot.play_outs(&sample.go, arguments.playouts, Rng::new(n as u64).next_u64());
        (f64::from(played.black), played.owners)
    };
    let count = f64::from(arguments.playouts);
    let chance = (black * count + 1.0) / (count + 2.0);
    let squares = owners.iter().zip(&sample.owners).map(|(told, owner)| f64::from(told - owner).powi(2));
    Foretold { logit: (chance / (1.0 - chance)).ln(), owners: squares.sum::<f64>() / owners.len() as f64 }
}

fn loss(sample: &Sample, told: &Foretold, scale: f64) -> f64 {
    let logit = if sample.black { told.logit } else { -told.logit } * scale;
    (1.0 + (-logit).exp()).ln()
}

/// Mean loss of results, and mean error of ownership.
fn errors(samples: &[Sample], told: &[Foretold], scale: f64) -> (f64, f64) {
    let count = samples.len() as f64;
    let losses: f64 = samples.iter().zip(told).map(|(sample, told)| loss(sample, told, scale)).sum();
    (losses / count, told.iter().map(|told| told.owners).sum::<f64>() / count)
}

/// The factor of the log odds that minimises the loss: playouts are underconfident or overconfident.
fn best_scale(samples: &[Sample], told: &[Foretold]) -> f64 {
    let at = |scale: f64| errors(samples, told, scale).0;
    let (mut low, mut high) = (0.1, 5.0);
    for _ in 0..30 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if at(a) < at(b) {
            high = b;
        } else {
            low = a;
        }
    }
    f64::midpoint(low, high)
}

/// Difference of the errors to those before, in standard errors, assuming independent positions.
fn compare(samples: &[Sample], before: &[Foretold], now: &[Foretold], scale: f64) -> String {
    let old_scale = best_scale(samples, before);
    let sigmas = |differences: Vec<f64>| {
        let count = differences.len() as f64;
        let mean = differences.iter().sum::<f64>() / count;
        let variance = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / count;
        (mean, mean / (variance / count).sqrt().max(1e-12))
    };
    let of_results = samples.iter().zip(before.iter().zip(now));
    let results = sigmas(of_results.map(|(s, (a, b))| loss(s, b, scale) - loss(s, a, old_scale)).collect());
    let owners = sigmas(before.iter().zip(now).map(|(a, b)| b.owners - a.owners).collect());
    format!(
        "; loss {:+.4} ({:+.1} sigma), owners {:+.4} ({:+.1} sigma)",
        results.0, results.1, owners.0, owners.1
    )
}
