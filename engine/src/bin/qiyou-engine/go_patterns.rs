//! Trains the weights of Go's patterns on games that `go-games` has written.

use std::path::PathBuf;
use std::process::ExitCode;

use engine::go::{PatternTrainingConfig, train_patterns};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Files of games that `go-games` has written.
    games: Vec<PathBuf>,
    /// File to write the patterns to.
    #[arg(long)]
    out: PathBuf,
    /// Number of epochs (passes over all positions).
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Initial learning rate.
    #[arg(long, default_value_t = 0.1)]
    rate: f32,
    /// Weight decay (L2 regularisation).
    #[arg(long, default_value_t = 0.0001)]
    fade: f32,
    /// Minimum number of occurrences of a pattern that is learnt.
    #[arg(long, default_value_t = 15)]
    least: u32,
    /// Seed of the order of positions.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let mut lines = Vec::new();
    for path in &arguments.games {
        match std::fs::read_to_string(path) {
            Ok(text) => lines.extend(text.lines().map(str::to_owned)),
            Err(error) => {
                eprintln!("{}: {error}", path.display());
                return ExitCode::FAILURE;
            }
        }
    }
    let Arguments { rounds, rate, fade, least, seed, .. } = *arguments;
    let config =
        PatternTrainingConfig { epochs: rounds, learning_rate: rate, l2: fade, min_count: least, seed };
    let bytes = train_patterns(&lines, config, &mut |line| eprintln!("{line}"));
    match std::fs::write(&arguments.out, bytes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", arguments.out.display());
            ExitCode::FAILURE
        }
    }
}
