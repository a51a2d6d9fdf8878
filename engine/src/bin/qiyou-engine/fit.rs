//! Fits a game's evaluation to games.

use std::path::PathBuf;
use std::process::ExitCode;

use engine::gomoku::fit as gomoku;
use engine::liuzhou::{Liuzhou, LiuzhouSetup, fit as liuzhou};
use engine::{Game, GameKind, Gomoku, GomokuRule, GomokuSetup, Side};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// File of games that `levels --print` has written.
    games: PathBuf,
    /// Game of the file, such as `liuzhou`.
    #[arg(long, default_value = "gomoku", value_parser = kind)]
    game: GameKind,
    /// Gomoku: the games were played by the standard rule.
    #[arg(long)]
    standard: bool,
}

/// A game whose evaluation can be fitted.
fn kind(word: &str) -> Result<GameKind, String> {
    GameKind::from_word(word)
        .filter(|kind| matches!(kind, GameKind::Gomoku | GameKind::Liuzhou))
        .ok_or_else(|| "gomoku or liuzhou".into())
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
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
    // Games are grouped by winner: shuffled, so that the validation games are representative.
    lines.sort_by_key(|line| {
        line.bytes().fold(7_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    });
    let (file, line) = if arguments.game == GameKind::Liuzhou {
        let start = Liuzhou::new(&LiuzhouSetup::default()).expect("the default setup is valid");
        let records: Vec<_> = lines
            .into_iter()
            .filter_map(|line| read(&start, line))
            .map(|(moves, opening, winner)| liuzhou::Record { moves, opening, winner })
            .collect();
        liuzhou::fit(&records)
    } else {
        let rule = if arguments.standard { GomokuRule::Standard } else { GomokuRule::Freestyle };
        let setup = GomokuSetup { rule, ..GomokuSetup::default() };
        let start = Gomoku::new(&setup).expect("the setup is valid");
        let records: Vec<_> = lines
            .into_iter()
            .filter_map(|line| read(&start, line))
            .map(|(moves, opening, winner)| {
                let moves = moves.into_iter().filter_map(engine::gomoku::GomokuMove::placement).collect();
                gomoku::Record { moves, opening, winner }
            })
            .collect();
        (gomoku::fit(&start, &records), format!("{} games", records.len()))
    };
    eprintln!("{line}");
    print!("{file}");
    ExitCode::SUCCESS
}

/// Moves, number of opening moves, winner.
type Read<G> = (Vec<<G as Game>::Move>, usize, Option<Side>);

/// Parses `winner opening moves…`; `None` if the line is malformed or a move is illegal.
fn read<G: Game>(start: &G, line: &str) -> Option<Read<G>> {
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
    Some((moves, opening, winner))
}
