//! Questions about positions: how many ways to play (`perft`), which actions are legal (`legal`), and how a recorded game
//! ended (`replay`).

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::ValueEnum;
use engine::go::{Go, GoSetup};
use engine::liuzhou::{Liuzhou, LiuzhouSetup};
use engine::record::{self, Record};
use engine::xiangqi::{Xiangqi, XiangqiSetup};
use engine::{Game, Gomoku, GomokuSetup, Language, TextError};

#[derive(clap::Args)]
pub(crate) struct Start {
    /// Which game.
    #[arg(long)]
    game: Which,
    /// What it is played by: for Liuzhou chess a preset and options such as `shandong quiet=off`.
    #[arg(long)]
    rules: Option<String>,
    /// The position in the game's own notation (FEN for xiangqi, the line of Liuzhou chess); left out: the start.
    #[arg(long)]
    position: Option<String>,
}

#[derive(clap::Args)]
pub(crate) struct Perft {
    #[command(flatten)]
    start: Start,
    /// Decisions in a row.
    #[arg(long)]
    depth: u32,
}

#[derive(clap::Args)]
pub(crate) struct Replay {
    /// Which game: xiangqi (PGN) or liuzhou.
    #[arg(long)]
    game: Which,
    /// The record.
    file: std::path::PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum Which {
    Gomoku,
    Liuzhou,
    Go,
    Xiangqi,
}

/// Prints the number of sequences of legal decisions of this length, the number alone on the last line.
pub(crate) fn perft(arguments: &Perft) -> ExitCode {
    let depth = arguments.depth;
    answer(arguments.start.open().map(|position| match position {
        Opened::Gomoku(game) => count(&game, depth),
        Opened::Liuzhou(game) => count(&game, depth),
        Opened::Go(game) => count(&game, depth),
        // The last ply in bulk; endings by repetition are no matter of single moves, as in other programs' counts.
        Opened::Xiangqi(game) => engine::xiangqi::perft(game.board(), depth),
    }))
}

/// Prints every legal action, one a line.
pub(crate) fn legal(arguments: &Start) -> ExitCode {
    answer(arguments.open().map(|position| match position {
        Opened::Gomoku(game) => actions(&game),
        Opened::Liuzhou(game) => actions(&game),
        Opened::Go(game) => actions(&game),
        Opened::Xiangqi(game) => actions(&game),
    }))
}

/// Plays a record and prints how it ended, with the reason, on the last line.
pub(crate) fn replay(arguments: &Replay) -> ExitCode {
    let read = |error: String| Unreadable("FILE", error);
    let ended = std::fs::read_to_string(&arguments.file)
        .map_err(|error| read(error.to_string()))
        .and_then(|text| Record::read(&text).map_err(|stopped| read(stopped.error.to_string())))
        .and_then(|record| match arguments.game {
            Which::Xiangqi => ending(Xiangqi::start_of(&record), &record).map_err(read),
            Which::Liuzhou => ending(Liuzhou::start_of(&record), &record).map_err(read),
            Which::Gomoku | Which::Go => Err(read("this game's records are not read yet".into())),
        });
    answer(ended)
}

fn ending<G: Game>(start: Result<G, TextError>, record: &Record) -> Result<String, String> {
    let start = start.map_err(|error| format!("in a tag, {error}"))?;
    let game = record::replay(start, record).map_err(|stopped| {
        let why = stopped.refusal.map_or_else(String::new, |refusal| format!(" ({refusal})"));
        format!("{}{why}; {} actions before it are legal", stopped.error, stopped.read.ply())
    })?;
    Ok(match (game.outcome(), &record.result) {
        (Some(outcome), _) => outcome.words::<G>(Language::English),
        (None, Some(result)) => format!("The game is not over by its rules; the record says {result}."),
        (None, None) => "The game is not over.".into(),
    })
}

enum Opened {
    Gomoku(Gomoku),
    Liuzhou(Liuzhou),
    Go(Go),
    Xiangqi(Xiangqi),
}

/// An argument that cannot be read: which, and why.
struct Unreadable(&'static str, String);

impl Start {
    fn open(&self) -> Result<Opened, Unreadable> {
        let rules = |error: TextError| Unreadable("--rules", error.to_string());
        let position = |error: TextError| Unreadable("--position", error.to_string());
        let none = |what: Option<&String>, name| match what {
            Some(_) => Err(Unreadable(name, "this game has no notation for it yet".into())),
            None => Ok(()),
        };
        let text = self.position.as_deref();
        Ok(match self.game {
            Which::Liuzhou => {
                let setup: LiuzhouSetup = self.rules.as_deref().unwrap_or_default().parse().map_err(rules)?;
                let start = Liuzhou::new(&setup).expect("rules that were read make a game");
                Opened::Liuzhou(match text {
                    Some(line) => Liuzhou::from_position(&setup, line).map_err(position)?,
                    None => start,
                })
            }
            Which::Xiangqi => {
                none(self.rules.as_ref(), "--rules")?;
                let setup = XiangqiSetup::default();
                let start = Xiangqi::new(&setup).expect("the default setup is valid");
                Opened::Xiangqi(match text {
                    Some(fen) => Xiangqi::from_position(&setup, fen).map_err(position)?,
                    None => start,
                })
            }
            Which::Gomoku | Which::Go => {
                none(self.rules.as_ref(), "--rules")?;
                none(self.position.as_ref(), "--position")?;
                match self.game {
                    Which::Go => {
                        Opened::Go(Go::new(&GoSetup::default()).expect("the default setup is valid"))
                    }
                    _ => Opened::Gomoku(
                        Gomoku::new(&GomokuSetup::default()).expect("the default setup is valid"),
                    ),
                }
            }
        })
    }
}

fn answer(result: Result<impl std::fmt::Display, Unreadable>) -> ExitCode {
    match result {
        Ok(text) => {
            // A reader that has closed its end has read enough.
            let _ = writeln!(std::io::stdout(), "{text}");
            ExitCode::SUCCESS
        }
        Err(Unreadable(what, why)) => {
            eprintln!("{what}: {why}");
            ExitCode::from(2)
        }
    }
}

fn count<G: Game>(game: &G, depth: u32) -> u64 {
    let mut moves = Vec::new();
    game.legal_moves(&mut moves);
    if depth == 0 {
        return 1;
    }
    let total = moves.len();
    let watched = std::io::stderr().is_terminal() && depth > 3;
    let mut sum = 0;
    for (n, mv) in (1..).zip(moves) {
        let mut after = game.clone();
        after.play(mv);
        sum += below(&after, depth - 1);
        if watched {
            eprint!("\r{n} of {total}, {sum} so far");
        }
    }
    if watched {
        eprintln!();
    }
    sum
}

fn below<G: Game>(game: &G, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let mut moves = Vec::new();
    game.legal_moves(&mut moves);
    if depth == 1 {
        return moves.len() as u64;
    }
    moves
        .into_iter()
        .map(|mv| {
            let mut after = game.clone();
            after.play(mv);
            below(&after, depth - 1)
        })
        .sum()
}

fn actions<G: Game>(game: &G) -> String {
    let mut moves = Vec::new();
    game.legal_moves(&mut moves);
    let texts: Vec<String> = moves.into_iter().map(|mv| game.notation(G::action(mv))).collect();
    texts.join("\n")
}
