//! For how many mistakes of games a reason is known.

use std::collections::BTreeMap;

use engine::reasons::{Mistake, Motif, complete, reason};
use engine::{Action, AnyGame, GameKind, Report, Rng, Score, Setup, Side, Tier, bot};

use crate::levels::{Player, kind};
use crate::matches::{ask, judge, replay};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Which game: its word, such as `xiangqi`.
    #[arg(long, default_value = "gomoku", value_parser = kind)]
    game: GameKind,
    /// Who plays both sides, as for `levels`.
    #[arg(long, default_value = "4")]
    player: Player,
    /// Games in all.
    #[arg(long, default_value_t = 20)]
    games: u32,
    /// Positions that the judge looks at for each position of a game.
    #[arg(long, default_value_t = 20_000)]
    nodes: u64,
    /// Go: points on a side.
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u8).range(2..=25))]
    size: u8,
    /// Ask a second search, which looks at so many positions: it agrees with a reason if the move is at least half a mistake by
    /// it.
    #[arg(long)]
    again: Option<u64>,
    /// Print each mistake with its reason.
    #[arg(long)]
    print: bool,
}

/// A line is completed by searches of this part of the judge's nodes.
const FURTHER: u64 = 4;

/// Loss of winning chance that makes a mistake.
const LOSS: f64 = 0.1;

pub(crate) fn run(arguments: &Arguments) {
    let setup = match arguments.game.default_setup() {
        Setup::Go(setup) => Setup::Go(engine::go::GoSetup { size: arguments.size, ..setup }),
        other => other,
    };
    let mut rng = Rng::new(1);
    let mut motifs: BTreeMap<Motif, u32> = BTreeMap::new();
    let (mut mistakes, mut explained, mut agreed) = (0, 0, 0);
    for _ in 0..arguments.games {
        let seeds = Side::BOTH.map(|_| rng.next_u64());
        let mut players = seeds.map(|seed| arguments.player.bot(arguments.game, seed));
        let mut judging = bot(arguments.game, Tier::MAX, 1);
        let mut game = replay(&setup, &[]);
        let mut last: Option<(AnyGame, Action, Report)> = None;
        while game.outcome().is_none() && game.ply() < 400 {
            let report = judge(judging.as_mut(), &game, arguments.nodes);
            if let (Some((before, played, better)), Some(reply)) = (&last, &report)
                && before.turn() != game.turn()
                && loss(better, reply) >= LOSS
            {
                mistakes += 1;
                let (mut better, mut reply) = (better.clone(), reply.clone());
                let mut further = |game: &AnyGame| judge(judging.as_mut(), game, arguments.nodes / FURTHER);
                complete(before, &mut better, &mut further);
                complete(&game, &mut reply, &mut further);
                let (better, reply) = (&better, &reply);
                let found = reason(&Mistake { before, played: *played, better, reply });
                if let Some(reason) = &found {
                    explained += 1;
                    *motifs.entry(reason.motif).or_default() += 1;
                    let agrees = arguments.again.is_some_and(|nodes| {
                        let mut second = bot(arguments.game, Tier::MAX, 2);
                        let better = judge(second.as_mut(), before, nodes);
                        let reply = judge(second.as_mut(), &game, nodes);
                        better.zip(reply).is_some_and(|(better, reply)| loss(&better, &reply) >= LOSS / 2.0)
                    });
                    agreed += u32::from(agrees);
                }
                if arguments.print {
                    let said = found
                        .map_or_else(|| "-".into(), |found| format!("{:?}: {}", found.motif, found.words[1]));
                    println!("{} | {} | {said}", before.position(), before.notation(*played));
                    for (what, from, report) in [("better", before, better), ("reply", &game, reply)] {
                        println!("    {what}: {:?} {}", report.score, line(from, &report.line));
                    }
                }
            }
            let action = ask(players[game.turn().index()].as_mut(), &game, None, Some(arguments.nodes)).0;
            last = report.map(|report| (game.clone(), action, report));
            game.act(action).expect("a bot's choice is legal");
        }
    }
    println!(
        "{}: {mistakes} mistakes in {} games, reasons for {explained}",
        arguments.game.word(),
        arguments.games
    );
    if arguments.again.is_some() {
        println!("a second search agrees with {agreed} of {explained}");
    }
    for (motif, count) in motifs {
        println!("{count:5} {motif:?}");
    }
}

/// The moves of a line.
fn line(from: &AnyGame, line: &[Action]) -> String {
    let mut game = from.clone();
    let mut moves = Vec::new();
    for &action in line {
        moves.push(game.notation(action));
        if game.act(action).is_err() {
            break;
        }
    }
    moves.join(" ")
}

/// What a move lost: the chance before it, and after it for the other side.
fn loss(better: &Report, reply: &Report) -> f64 {
    chance(better.score) - (1.0 - chance(reply.score))
}

/// Winning chance of the side to move. A lead counts by a logistic curve, as in the app.
fn chance(score: Score) -> f64 {
    match score {
        Score::WinIn(_) => 1.0,
        Score::LossIn(_) => 0.0,
        Score::Chance { permille, .. } => f64::from(permille) / 1000.0,
        Score::Points(points) => 1.0 / (1.0 + (-f64::from(points) / 400.0).exp()),
    }
}
