//! Training games: self-play with the search score of each position.
//!
//! One line per game: `winner opening action/score action/score …`, where the first `opening` actions have no score. A score
//! is from the point of view of the side to move before the action: points, `W` with the plies of a proven win, or `L` with
//! those of a proven loss. Some moves are random instead of the best, so that unusual positions occur.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use engine::{Action, AnyGame, GameKind, GomokuRule, GomokuSetup, Point, Rng, Score, Setup, Side, Tier, bot};

use crate::levels::{kind, rule};
use crate::matches::{LONGEST, ask, opening_within, replay};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Game to play, such as `xiangqi`.
    #[arg(long, default_value = "gomoku", value_parser = kind)]
    game: GameKind,
    /// Gomoku: rule to play by, freestyle, standard or renju.
    #[arg(long, default_value = "freestyle", value_parser = rule)]
    rule: GomokuRule,
    /// Total number of games.
    #[arg(long, default_value_t = 1_000)]
    games: u32,
    /// Positions to search per move.
    #[arg(long, default_value_t = 2_000)]
    nodes: u64,
    /// Share of moves that are played at random, in percent.
    #[arg(long, default_value_t = 8)]
    random: u32,
    /// Number of games played in parallel.
    #[arg(long, default_value_t = 1)]
    threads: u32,
    /// Seed of the openings and moves.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let setup = if arguments.game == GameKind::Gomoku {
        Setup::Gomoku(GomokuSetup { rule: arguments.rule, ..GomokuSetup::default() })
    } else {
        arguments.game.default_setup()
    };
    let (next, output) = (AtomicU32::new(0), Mutex::new(std::io::stdout()));
    let failed = std::thread::scope(|scope| {
        let players: Vec<_> = (0..arguments.threads.max(1))
            .map(|_| {
                scope.spawn(|| {
                    while let n = next.fetch_add(1, Ordering::Relaxed)
                        && n < arguments.games
                    {
                        let line = game(arguments, &setup, n);
                        let mut output = output.lock().expect("no thread panics while it writes");
                        if writeln!(output, "{line}").is_err() {
                            return true;
                        }
                    }
                    false
                })
            })
            .collect();
        players.into_iter().any(|player| player.join().expect("a game does not panic"))
    });
    if failed {
        eprintln!("nothing can be written to the output any more");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Plays one game.
fn game(arguments: &Arguments, setup: &Setup, n: u32) -> String {
    let mut rng = Rng::new(arguments.seed << 32 | u64::from(n));
    let opening = opening_within(setup, 200, 500, &mut rng);
    let mut game = replay(setup, &[]);
    let mut words = Vec::new();
    for &action in &opening {
        words.push(game.notation(action));
        game.act(action).expect("the actions are of this game");
    }
    let mut player = bot(setup.kind(), Tier::MAX, rng.next_u64());
    let mut winner = None;
    while game.outcome().is_none() && game.ply() < LONGEST {
        let turn = game.turn();
        let (best, score) = ask(player.as_mut(), &game, None, Some(arguments.nodes));
        let action = if rng.below(100) < arguments.random { any(&game, &mut rng) } else { best };
        let thought = match score {
            Score::Points(points) => points.to_string(),
            Score::Chance { permille, .. } => permille.to_string(),
            Score::WinIn(plies) => format!("W{plies}"),
            Score::LossIn(plies) => format!("L{plies}"),
        };
        words.push(format!("{}/{thought}", game.notation(action)));
        // A game with a proven result is not played on, unless a random move changes that.
        if action == best {
            match score {
                Score::WinIn(_) => winner = Some(turn),
                Score::LossIn(_) => winner = Some(turn.other()),
                Score::Points(_) | Score::Chance { .. } => {}
            }
            if winner.is_some() {
                break;
            }
        }
        game.act(action).expect("a bot's choice is legal");
    }
    winner = winner.or_else(|| game.outcome().and_then(|outcome| outcome.winner));
    let result = match winner {
        Some(Side::First) => "first",
        Some(Side::Second) => "second",
        None => "draw",
    };
    format!("{result} {} {}", opening.len(), words.join(" "))
}

/// A random legal action; in gomoku one within two lines of a stone.
fn any(game: &AnyGame, rng: &mut Rng) -> Action {
    let legal = game.legal_actions();
    let stones: Vec<Point> = game.view().pieces.iter().map(|piece| piece.at).collect();
    let near = |action: &Action| match *action {
        Action::Place(point) => stones
            .iter()
            .any(|stone| stone.column.abs_diff(point.column) <= 2 && stone.row.abs_diff(point.row) <= 2),
        _ => true,
    };
    let wanted: Vec<Action> = match game.kind() {
        GameKind::Gomoku => legal.iter().copied().filter(near).collect(),
        _ => Vec::new(),
    };
    let among = if wanted.is_empty() { &legal } else { &wanted };
    among[rng.below(among.len() as u32) as usize]
}
