//! How different the games of a player with itself begin.

use std::collections::BTreeSet;
use std::process::ExitCode;

use engine::{GameKind, Rng, Setup, Side};

use crate::levels::{Player, kind};
use crate::matches::{ask, replay, verdict};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Which game: its word, such as `xiangqi`.
    #[arg(long, default_value = "gomoku", value_parser = kind)]
    game: GameKind,
    /// Who plays both sides, as for `levels`.
    #[arg(long, default_value = "10")]
    player: Player,
    /// Games in all.
    #[arg(long, default_value_t = 50)]
    games: u32,
    /// Plies from the start that are compared.
    #[arg(long, default_value_t = 8)]
    plies: u32,
    /// Positions for a move.
    #[arg(long, default_value_t = 20_000)]
    nodes: u64,
    /// Go: points on a side.
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u8).range(2..=25))]
    size: u8,
    /// Exit with an error if fewer beginnings differ.
    #[arg(long)]
    at_least: Option<usize>,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let setup = match arguments.game.default_setup() {
        Setup::Go(setup) => Setup::Go(engine::go::GoSetup { size: arguments.size, ..setup }),
        other => other,
    };
    let mut rng = Rng::new(1);
    let mut begun = BTreeSet::new();
    for _ in 0..arguments.games {
        let seeds = Side::BOTH.map(|_| rng.next_u64());
        let mut players = seeds.map(|seed| arguments.player.bot(arguments.game, seed));
        let mut game = replay(&setup, &[]);
        let mut record = Vec::new();
        while game.ply() < arguments.plies && game.outcome().is_none() {
            let player = players[game.turn().index()].as_mut();
            let action = ask(player, &game, None, Some(arguments.nodes)).0;
            record.push(game.notation(action));
            game.act(action).expect("a bot's choice is legal");
        }
        begun.insert(record.join(" "));
    }
    let size =
        if arguments.game == GameKind::Go { format!(" {0}x{0}", arguments.size) } else { String::new() };
    println!(
        "{}{size}, {}: {} beginnings of {} plies in {} games",
        arguments.game.word(),
        arguments.player,
        begun.len(),
        arguments.plies,
        arguments.games
    );
    match arguments.at_least {
        Some(bar) => verdict(begun.len() >= bar, &format!("at least {bar}")),
        None => ExitCode::SUCCESS,
    }
}
