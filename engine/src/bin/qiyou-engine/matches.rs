//! Games between two bots, and statistics of their results.

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::{Action, AnyGame, Bot, GameKind, Limits, Point, Report, Rng, Score, Setup, Side, Tier, bot};

use crate::timer::{Ask, choose};

/// A finished game.
pub(crate) struct Played {
    pub(crate) winner: Option<Side>,
    /// All actions in the game's notation, including the opening.
    pub(crate) record: Vec<String>,
}

/// Plays a game from an opening; `players` and `times` are in the order First, Second.
pub(crate) fn play(
    players: &mut [Box<dyn Bot>; 2],
    setup: &Setup,
    opening: &[Action],
    times: Option<[Duration; 2]>,
    nodes: Option<u64>,
) -> Played {
    let mut game = replay(setup, opening);
    let mut start = replay(setup, &[]);
    let mut record = Vec::new();
    for &action in opening {
        record.push(start.notation(action));
        start.act(action).expect("the actions are of this game");
    }
    while game.outcome().is_none() && game.ply() < LONGEST {
        let time = times.map(|times| times[game.turn().index()]);
        let action = ask(players[game.turn().index()].as_mut(), &game, time, nodes).0;
        record.push(game.notation(action));
        game.act(action).expect("a bot's choice is legal");
    }
    Played { winner: game.outcome().and_then(|outcome| outcome.winner), record }
}

/// Games of this number of plies count as drawn. Xiangqi's soldiers can move sideways forever.
pub(crate) const LONGEST: u32 = 500;

pub(crate) fn ask(
    bot: &mut dyn Bot,
    game: &AnyGame,
    time: Option<Duration>,
    nodes: Option<u64>,
) -> (Action, Score) {
    let stop = AtomicBool::new(false);
    let limits = Ask { time, nodes, depth: None, stop: &stop };
    let found = choose(bot, game, &limits, Instant::now(), &mut |_| {}).expect("the game goes on");
    (found.line[0], found.score)
}

/// The judgement of a position, if the game goes on.
pub(crate) fn judge(bot: &mut dyn Bot, game: &AnyGame, nodes: u64) -> Option<Report> {
    let stop = AtomicBool::new(false);
    let elapsed = || Duration::ZERO;
    bot.judge(game, &Limits { time: None, nodes: Some(nodes), depth: None, stop: &stop, elapsed: &elapsed })
}

pub(crate) fn replay(setup: &Setup, actions: &[Action]) -> AnyGame {
    let mut game = AnyGame::new(setup).expect("the setup is valid");
    for &action in actions {
        game.act(action).expect("the actions are of this game");
    }
    game
}

/// A random opening of a few plies that is balanced by a short search: in gomoku stones near the centre, in other games any
/// legal moves.
pub(crate) fn opening(setup: &Setup, rng: &mut Rng) -> Vec<Action> {
    // Scores up to this count as balanced: about the value of an open three, half a soldier, a stone.
    let (balanced, nodes) = match setup.kind() {
        GameKind::Gomoku => (60, 20_000),
        GameKind::Xiangqi => (60, 5_000),
        GameKind::Go => (0, 1_000),
        _ => (100, 5_000),
    };
    opening_within(setup, balanced, nodes, rng)
}

/// As [`opening`], with this maximum absolute score and number of nodes.
pub(crate) fn opening_within(setup: &Setup, balanced: i32, nodes: u64, rng: &mut Rng) -> Vec<Action> {
    /// Maximum distance of gomoku's stones from the centre.
    const REACH: u32 = 3;
    /// Go: winning chances that count as balanced, in thousandths.
    const EVEN_CHANCES: std::ops::RangeInclusive<u16> = 400..=600;
    /// Go: lines at the edge without opening stones.
    const MARGIN: u16 = 2;
    let kind = setup.kind();
    loop {
        let plies = match kind {
            GameKind::Gomoku => 3 + rng.below(4),
            GameKind::Go => 2 + rng.below(3),
            _ => 4 + rng.below(5),
        };
        let mut game = replay(setup, &[]);
        let middle = game.view().columns / 2;
        let mut actions = Vec::new();
        while actions.len() < plies as usize && game.outcome().is_none() {
            let action = if kind == GameKind::Gomoku {
                let mut coordinate = || middle + rng.below(2 * REACH + 1) as u16 - REACH as u16;
                Action::Place(Point::new(coordinate(), coordinate()))
            } else if kind == GameKind::Go {
                let size = game.view().columns;
                let mut coordinate =
                    || MARGIN + rng.below(u32::from(size.saturating_sub(2 * MARGIN).max(1))) as u16;
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
        let mut judge = bot(kind, Tier::MAX, 0);
        let is_balanced = match ask(judge.as_mut(), &game, None, Some(nodes)).1 {
            Score::Points(points) => points.abs() <= balanced,
            Score::Chance { permille, .. } => EVEN_CHANCES.contains(&permille),
            Score::WinIn(_) | Score::LossIn(_) => false,
        };
        if is_balanced {
            return actions;
        }
    }
}

/// Score, and its 95 % confidence interval from the variance of pairs. The games of a pair are not independent; pairs are.
pub(crate) fn share(pairs: &[f64]) -> (f64, f64) {
    let n = pairs.len() as f64;
    let mean = pairs.iter().sum::<f64>() / n;
    let spread = pairs.iter().map(|pair| (pair - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    // With equal results the variance is 0; the minimum error is half a point in all games.
    let error = 1.96 * (spread / n).sqrt();
    (mean, error.max(0.5 / n))
}

/// Says whether what was asked for holds, and ends accordingly.
pub(crate) fn verdict(held: bool, asked: &str) -> ExitCode {
    println!("{}: {asked}", if held { "held" } else { "MISSED" });
    if held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Expected score for an Elo difference.
pub(crate) fn share_of(elo: f64) -> f64 {
    1.0 / (1.0 + 10_f64.powf(-elo / 400.0))
}

/// Elo difference for a score; limited to 1,200.
pub(crate) fn elo(share: f64) -> f64 {
    (-400.0 * (1.0 / share.clamp(0.001, 0.999) - 1.0).log10()).clamp(-1200.0, 1200.0)
}
