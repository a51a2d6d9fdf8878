//! Matches between two levels of a game: balanced openings drawn by seed, each played twice with colours exchanged.

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::{
    Action, AnyGame, Bot, GameKind, GomokuRule, GomokuSetup, Level, Point, Rng, Score, Setup, Side, bot,
};

use crate::timer::{Ask, choose};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Which game: its word, such as `xiangqi`.
    #[arg(long, default_value = "gomoku", value_parser = kind)]
    game: GameKind,
    /// Level of the one side.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=10))]
    a: u8,
    /// Level of the other.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=10))]
    b: u8,
    /// Games in all; an odd number is rounded up to whole pairs.
    #[arg(long, default_value_t = 40)]
    games: u32,
    /// Time for a move, in milliseconds.
    #[arg(long, default_value_t = 500)]
    ms: u64,
    /// Positions for a move instead of time: then the result depends on the seed only.
    #[arg(long)]
    nodes: Option<u64>,
    /// Draws the openings and colours the players' errors.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Gomoku: exactly five wins.
    #[arg(long)]
    standard: bool,
    /// Fails when A scores less than this share, in percent.
    #[arg(long)]
    at_least: Option<f64>,
    /// Writes every game as a line of moves.
    #[arg(long)]
    print: bool,
}

/// A game that this can play matches of.
fn kind(word: &str) -> Result<GameKind, String> {
    GameKind::from_word(word)
        .filter(|&kind| kind != GameKind::LightsOut)
        .ok_or_else(|| "a game for two: gomoku, xiangqi, liuzhou or go".into())
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let (Some(a), Some(b)) = (Level::new(arguments.a), Level::new(arguments.b)) else {
        return ExitCode::FAILURE;
    };
    let setup = if arguments.standard && arguments.game == GameKind::Gomoku {
        Setup::Gomoku(GomokuSetup { rule: GomokuRule::Standard, ..GomokuSetup::default() })
    } else {
        arguments.game.default_setup()
    };
    let mut rng = Rng::new(arguments.seed);
    let mut pairs = Vec::new();
    let mut tally = [0_u32; 3];
    let begin = Instant::now();
    for pair in 0..arguments.games.div_ceil(2) {
        let opening = opening(&setup, &mut rng);
        let mut points = 0.0;
        for a_plays in Side::BOTH {
            let seed = rng.next_u64();
            let winner = play(arguments, [a, b], a_plays, &setup, &opening, seed);
            let result = match winner {
                Some(side) if side == a_plays => 0,
                None => 1,
                Some(_) => 2,
            };
            tally[result] += 1;
            points += [1.0, 0.5, 0.0][result];
        }
        pairs.push(points / 2.0);
        if arguments.print {
            continue;
        }
        eprint!(
            "\r{} of {} pairs: +{} ={} -{}",
            pair + 1,
            arguments.games.div_ceil(2),
            tally[0],
            tally[1],
            tally[2]
        );
    }
    if !arguments.print {
        eprintln!();
    }
    let (share, error) = share(&pairs);
    let [won, drawn, lost] = tally;
    let low = elo(share - error);
    let high = elo(share + error);
    println!(
        "{}, level {} against level {}: +{won} ={drawn} -{lost}, {:.1} %, Elo {:+.0} ({low:+.0} to {high:+.0}), {:.0} s",
        arguments.game.word(),
        arguments.a,
        arguments.b,
        share * 100.0,
        elo(share),
        begin.elapsed().as_secs_f64()
    );
    match arguments.at_least {
        Some(bar) if share * 100.0 < bar => {
            println!("missed: at least {bar} % was asked for");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

fn play(
    arguments: &Arguments,
    [a, b]: [Level; 2],
    a_plays: Side,
    setup: &Setup,
    opening: &[Action],
    seed: u64,
) -> Option<Side> {
    let mut game = replay(setup, opening);
    let (first, second) = if a_plays == Side::First { (a, b) } else { (b, a) };
    let kind = setup.kind();
    let mut bots = [bot(kind, first, seed), bot(kind, second, seed ^ 1)];
    let time = arguments.nodes.is_none().then(|| Duration::from_millis(arguments.ms));
    let mut record: Vec<String> = opening.iter().map(|&action| game.notation(action)).collect();
    while game.outcome().is_none() && game.ply() < LONGEST {
        let action = ask(bots[game.turn().index()].as_mut(), &game, time, arguments.nodes).0;
        record.push(game.notation(action));
        game.act(action).expect("a bot's choice is legal");
    }
    let winner = game.outcome().and_then(|outcome| outcome.winner);
    if arguments.print {
        let result = match winner {
            Some(Side::First) => "first",
            Some(Side::Second) => "second",
            None => "draw",
        };
        println!("{result} {} {}", opening.len(), record.join(" "));
    }
    winner
}

/// A game that goes on after this many plies counts as a draw. Xiangqi's soldiers can go to and fro for ever.
const LONGEST: u32 = 500;

fn ask(bot: &mut dyn Bot, game: &AnyGame, time: Option<Duration>, nodes: Option<u64>) -> (Action, Score) {
    let stop = AtomicBool::new(false);
    let limits = Ask { time, nodes, depth: None, stop: &stop };
    let found = choose(bot, game, &limits, Instant::now(), &mut |_| {}).expect("the game goes on");
    (found.line[0], found.score)
}

fn replay(setup: &Setup, actions: &[Action]) -> AnyGame {
    let mut game = AnyGame::new(setup).expect("the setup is valid");
    for &action in actions {
        game.act(action).expect("the actions are of this game");
    }
    game
}

/// A few plies after which neither side is far ahead, by the judgement of a middling search: in gomoku stones near the
/// middle, in the other games any legal moves.
fn opening(setup: &Setup, rng: &mut Rng) -> Vec<Action> {
    /// Gomoku stones may lie this far from the middle.
    const REACH: u32 = 3;
    let kind = setup.kind();
    // A judgement beyond this is not balanced: about the worth of an open three, of half a soldier, of a stone.
    let (balanced, nodes) = match kind {
        GameKind::Gomoku => (60, 20_000),
        GameKind::Xiangqi => (60, 5_000),
        _ => (100, 5_000),
    };
    loop {
        let plies = if kind == GameKind::Gomoku { 3 + rng.below(4) } else { 4 + rng.below(5) };
        let mut game = replay(setup, &[]);
        let middle = game.view().columns / 2;
        let mut actions = Vec::new();
        while actions.len() < plies as usize && game.outcome().is_none() {
            let action = if kind == GameKind::Gomoku {
                let mut coordinate = || middle + rng.below(2 * REACH + 1) as u16 - REACH as u16;
                Action::Place(Point::new(coordinate(), coordinate()))
            } else {
                let legal = game.legal_actions();
                legal[rng.below(legal.len() as u32) as usize]
            };
            if game.act(action).is_ok() {
                actions.push(action);
            }
        }
        if game.outcome().is_some() {
            continue;
        }
        let mut judge = bot(kind, Level::MAX, 0);
        if let (_, Score::Points(points)) = ask(judge.as_mut(), &game, None, Some(nodes))
            && points.abs() <= balanced
        {
            return actions;
        }
    }
}

/// Share of the points, and its 95 % error from the spread of the pairs. One pair's points are not independent of each
/// other; two pairs are.
fn share(pairs: &[f64]) -> (f64, f64) {
    let n = pairs.len() as f64;
    let mean = pairs.iter().sum::<f64>() / n;
    let spread = pairs.iter().map(|pair| (pair - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    // When every pair ended alike the spread says nothing; half a point in all games is then the least error.
    let error = 1.96 * (spread / n).sqrt();
    (mean, error.max(0.5 / n))
}

/// Elo difference of a share of the points; 1,200 stands for all or nothing.
fn elo(share: f64) -> f64 {
    (-400.0 * (1.0 / share.clamp(0.001, 0.999) - 1.0).log10()).clamp(-1200.0, 1200.0)
}
