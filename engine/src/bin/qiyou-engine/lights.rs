//! `solve-lights`: solves Lights Out boards.

use std::io::{Read as _, Write as _};
use std::process::ExitCode;

use engine::lights_out::{Lights, Neighbours, Solution, solve};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Join the left edge to the right one, and the top edge to the bottom one.
    #[arg(long)]
    torus: bool,
    /// Let a press also toggle the four diagonal neighbours.
    #[arg(long)]
    diagonals: bool,
}

/// Exit code: the board has no solution.
const UNSOLVABLE: u8 = 3;
/// Exit code: the input is not a board.
const BAD_INPUT: u8 = 2;
/// Size of the largest board with line ends of two bytes, plus a reserve.
const MOST_BYTES: u64 = 1002 * 1000 + 4096;

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let neighbours = Neighbours { torus: arguments.torus, diagonals: arguments.diagonals };
    let mut text = String::new();
    if let Err(error) = std::io::stdin().take(MOST_BYTES).read_to_string(&mut text) {
        eprintln!("standard input: {error}");
        return ExitCode::from(BAD_INPUT);
    }
    let lights: Lights = match text.parse() {
        Ok(lights) => lights,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(BAD_INPUT);
        }
    };
    if neighbours.torus && lights.columns().min(lights.rows()) < 3 {
        eprintln!("line 1, column 1: expected at least 3 columns and rows, since the edges are joined");
        return ExitCode::from(BAD_INPUT);
    }
    let (answer, code) = match solve(&lights, neighbours) {
        Solution::Unsolvable => ("unsolvable\n".to_owned(), ExitCode::from(UNSOLVABLE)),
        Solution::Presses { presses, fewest } => {
            let word = if fewest { " fewest" } else { "" };
            (format!("solvable {}{word}\n{presses}", presses.count()), ExitCode::SUCCESS)
        }
    };
    // A closed pipe is no error.
    let _ = std::io::stdout().write_all(answer.as_bytes());
    code
}
