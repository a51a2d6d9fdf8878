//! Fits gomoku's evaluation to games.

use std::path::PathBuf;
use std::process::ExitCode;

use engine::gomoku::fit::{Record, fit};
use engine::{Game, Gomoku, GomokuRule, GomokuSetup, Side};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// What `levels --print` has written.
    games: PathBuf,
    /// The games are of the standard rule.
    #[arg(long)]
    standard: bool,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let rule = if arguments.standard { GomokuRule::Standard } else { GomokuRule::Freestyle };
    let start = Gomoku::new(&GomokuSetup { rule, ..GomokuSetup::default() }).expect("the setup is valid");
    let text = match std::fs::read_to_string(&arguments.games) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{}: {error}", arguments.games.display());
            return ExitCode::FAILURE;
        }
    };
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines.dedup();
    // Sorted by winner: mix them, so that the games held back are like the others.
    lines.sort_by_key(|line| {
        line.bytes().fold(7_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    });
    let records: Vec<Record> = lines.into_iter().filter_map(|line| read(&start, line)).collect();
    print!("{} games\n{}", records.len(), fit(&start, &records));
    ExitCode::SUCCESS
}

/// `winner opening moves…`; `None` if the line is not of that form or a move is not legal.
fn read(start: &Gomoku, line: &str) -> Option<Record> {
    let mut words = line.split(' ');
    let winner = match words.next()? {
        "first" => Some(Side::First),
        "second" => Some(Side::Second),
        "draw" => None,
        _ => return None,
    };
    let opening = words.next()?.parse().ok()?;
    let mut game = start.clone();
    let mut moves = Vec::new();
    for word in words {
        let mv = game.legal_move(game.parse(word)?).ok()?;
        game.play(mv);
        moves.push(mv);
    }
    Some(Record { moves, opening, winner })
}
