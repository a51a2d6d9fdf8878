//! Games of two bots against each other, and what their results say.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::{Action, AnyGame, Bot, GameKind, Level, Point, Rng, Score, Setup, Side, bot};

use crate::timer::{Ask, choose};

/// A finished game.
pub(crate) struct Played {
    pub(crate) winner: Option<Side>,
    /// Every action in the game's notation, the opening's included.
    pub(crate) record: Vec<String>,
}

/// Plays a game from an opening to its end; `players` are First and Second, and so are their times for a move.
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

/// A game that goes on after this many plies counts as a draw. Xiangqi's soldiers can go to and fro for ever.
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

pub(crate) fn replay(setup: &Setup, actions: &[Action]) -> AnyGame {
    let mut game = AnyGame::new(setup).expect("the setup is valid");
    for &action in actions {
        game.act(action).expect("the actions are of this game");
    }
    game
}

/// A few plies after which neither side is far ahead, by the judgement of a middling search: in gomoku stones near the
/// middle, in the other games any legal moves.
pub(crate) fn opening(setup: &Setup, rng: &mut Rng) -> Vec<Action> {
    // A judgement beyond this is not balanced: about the worth of an open three, of half a soldier, of a stone.
    let (balanced, nodes) = match setup.kind() {
        GameKind::Gomoku => (60, 20_000),
        GameKind::Xiangqi => (60, 5_000),
        GameKind::Go => (0, 1_000),
        _ => (100, 5_000),
    };
    opening_within(setup, balanced, nodes, rng)
}

/// The same with a judgement of at most so many points after a search of so many positions.
pub(crate) fn opening_within(setup: &Setup, balanced: i32, nodes: u64, rng: &mut Rng) -> Vec<Action> {
    /// Gomoku stones may lie this far from the middle.
    const REACH: u32 = 3;
    /// Chances of winning, in thousandths, that are balanced in Go.
    const EVEN_CHANCES: std::ops::RangeInclusive<u16> = 400..=600;
    /// In Go no stone of an opening is on the first two lines.
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
        let mut judge = bot(kind, Level::MAX, 0);
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

/// Share of the points, and its 95 % error from the spread of the pairs. One pair's points are not independent of each
/// other; two pairs are.
pub(crate) fn share(pairs: &[f64]) -> (f64, f64) {
    let n = pairs.len() as f64;
    let mean = pairs.iter().sum::<f64>() / n;
    let spread = pairs.iter().map(|pair| (pair - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    // When every pair ended alike the spread says nothing; half a point in all games is then the least error.
    let error = 1.96 * (spread / n).sqrt();
    (mean, error.max(0.5 / n))
}

/// Share of the points that an Elo difference leads to.
pub(crate) fn share_of(elo: f64) -> f64 {
    1.0 / (1.0 + 10_f64.powf(-elo / 400.0))
}

/// Elo difference of a share of the points; 1,200 stands for all or nothing.
pub(crate) fn elo(share: f64) -> f64 {
    (-400.0 * (1.0 / share.clamp(0.001, 0.999) - 1.0).log10()).clamp(-1200.0, 1200.0)
}
