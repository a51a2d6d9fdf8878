//! Generates puzzles, and proves the built-in ones.

use std::process::ExitCode;

use engine::GameKind;
use engine::puzzles::{self, Progress};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Game of the puzzles, such as `xiangqi`.
    #[arg(value_parser = kind)]
    game: GameKind,
    /// Number of puzzles to make.
    #[arg(long, default_value_t = 120)]
    count: usize,
    /// Seed; the same seed makes the same puzzles.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Prove the puzzles of the built-in set instead of making new ones.
    #[arg(long)]
    verify: bool,
}

fn kind(word: &str) -> Result<GameKind, String> {
    GameKind::from_word(word).ok_or_else(|| "a game: gomoku, liuzhou, go, xiangqi or lights-out".into())
}

/// Maximum number of positions for the proof of a puzzle.
const NODES: u64 = 20_000_000;

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let Arguments { game, count, seed, verify } = *arguments;
    if verify {
        let wrong: Vec<String> =
            puzzles::all(game).iter().filter_map(|one| one.verify(NODES).err()).collect();
        for error in &wrong {
            println!("{error}");
        }
        println!("{} puzzles, {} wrong", puzzles::all(game).len(), wrong.len());
        return if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let made = puzzles::make(game, count, seed, &mut |Progress { tried, found }| {
        if tried.is_multiple_of(16) {
            eprint!("\r{found} of {count} in {tried} games or boards");
        }
        true
    });
    eprintln!();
    println!("# Made by: qiyou-engine puzzles {} --count {count} --seed {seed}", game.word());
    println!("# Goal, moves, first move, position.");
    for puzzle in made {
        println!("{}", puzzle.write());
    }
    ExitCode::SUCCESS
}
