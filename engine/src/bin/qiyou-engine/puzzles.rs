//! Generates puzzles, and proves the built-in ones.

use std::collections::HashSet;
use std::process::ExitCode;
use std::time::Instant;

use engine::GameKind;
use engine::puzzles::{self, Progress, Puzzle};

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
    /// Make so many at a time, each batch from the next seed, as a device does; what comes again, also turned or reflected, is left
    /// out and counted.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    batch: Option<u32>,
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
    let Arguments { game, count, seed, batch, verify } = *arguments;
    if verify {
        let wrong: Vec<String> =
            puzzles::all(game).iter().filter_map(|one| one.verify(NODES).err()).collect();
        for error in &wrong {
            println!("{error}");
        }
        println!("{} puzzles, {} wrong", puzzles::all(game).len(), wrong.len());
        return if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let began = Instant::now();
    if let Some(batch) = batch {
        let (made, again) = in_batches(game, count, seed, batch as usize, began);
        for puzzle in &made {
            println!("{}", puzzle.write());
        }
        eprintln!("\n{} made in {} s, {again} came again", made.len(), began.elapsed().as_secs());
        return ExitCode::SUCCESS;
    }
    let mut told = None;
    let made = puzzles::make(game, count, seed, &mut |Progress { tried, found }| {
        let seconds = began.elapsed().as_secs();
        if told != Some(seconds) {
            told = Some(seconds);
            eprint!("\r{found} of {count} in {tried} games or boards and {seconds} s");
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

/// Puzzles with different shapes, and how many were left out because theirs were there already, or in the built-in set.
fn in_batches(game: GameKind, count: usize, seed: u64, batch: usize, began: Instant) -> (Vec<Puzzle>, usize) {
    let mut shapes: HashSet<u64> = puzzles::all(game).iter().map(Puzzle::shape).collect();
    let (mut made, mut again) = (Vec::new(), 0);
    for seed in seed.. {
        for puzzle in puzzles::make(game, batch, seed, &mut |_| true) {
            if !shapes.insert(puzzle.shape()) {
                again += 1;
            } else if made.len() < count {
                made.push(puzzle);
            }
        }
        eprint!("\r{} of {count}, {again} came again, {} s", made.len(), began.elapsed().as_secs());
        if made.len() == count {
            break;
        }
    }
    (made, again)
}
