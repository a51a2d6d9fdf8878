//! Questions about one position: how many ways to play (`perft`), and which actions are legal (`legal`).

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::ValueEnum;
use engine::go::{Go, GoSetup};
use engine::liuzhou::{Liuzhou, LiuzhouSetup};
use engine::xiangqi::{Xiangqi, XiangqiSetup};
use engine::{Game, Gomoku, GomokuSetup, TextError};

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
