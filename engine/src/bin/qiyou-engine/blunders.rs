//! What the moves of a level overlook: a win at hand, the other side's, a piece that hangs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use engine::blunders::{Blunder, overlooked};
use engine::{Action, AnyGame, GameKind, Rng, Score, Setup, Side, Tier, bot};

use crate::levels::{Player, kind};
use crate::matches::{LONGEST, ask, judge, replay};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Which game: its word, such as `xiangqi`.
    #[arg(long, default_value = "gomoku", value_parser = kind)]
    game: GameKind,
    /// Whose moves are counted: a level such as `4.5`, or another player as for `levels`.
    #[arg(long, default_value = "4")]
    level: Player,
    /// Who plays the other side, whose moves are not counted. By default the level plays both, and all moves are counted.
    #[arg(long)]
    against: Option<Player>,
    /// Games in all.
    #[arg(long, default_value_t = 1000)]
    games: u32,
    /// Positions for a move.
    #[arg(long, default_value_t = 20_000)]
    nodes: u64,
    /// Positions that the strongest player looks at before and after what may be a sacrifice: it is counted if it costs
    /// something. Go: a fiftieth of it. 0: whatever looks like a blunder is counted.
    #[arg(long, default_value_t = 20_000)]
    judge: u64,
    /// Go: points on a side.
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u8).range(2..=25))]
    size: u8,
    /// Positions of each kind that are printed.
    #[arg(long, default_value_t = 3)]
    shown: usize,
    /// Number of games played in parallel.
    #[arg(long, default_value_t = 1)]
    threads: u32,
    /// Seed of the games.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// A move that overlooks something, with the number of its game.
struct Seen {
    game: u32,
    ply: u32,
    blunder: Blunder,
    /// The position and the move, in the game's notation.
    line: String,
}

pub(crate) fn run(arguments: &Arguments) {
    let setup = match arguments.game.default_setup() {
        Setup::Go(setup) => Setup::Go(engine::go::GoSetup { size: arguments.size, ..setup }),
        other => other,
    };
    let (next, moves, seen) = (AtomicU32::new(0), AtomicU32::new(0), Mutex::new(Vec::<Seen>::new()));
    std::thread::scope(|scope| {
        for _ in 0..arguments.threads.max(1) {
            scope.spawn(|| {
                while let n = next.fetch_add(1, Ordering::Relaxed)
                    && n < arguments.games
                {
                    let (counted, found) = play(arguments, &setup, n);
                    moves.fetch_add(counted, Ordering::Relaxed);
                    seen.lock().expect("no thread panics while it adds").extend(found);
                }
            });
        }
    });
    let mut seen = seen.into_inner().expect("no thread has panicked");
    seen.sort_by_key(|one| (one.game, one.ply));
    let size =
        if arguments.game == GameKind::Go { format!(" {0}x{0}", arguments.size) } else { String::new() };
    let against = arguments.against.map_or_else(String::new, |other| format!(" against {other}"));
    println!(
        "{}{size}, {}{against}: {} games, {} moves",
        arguments.game.word(),
        arguments.level,
        arguments.games,
        moves.into_inner()
    );
    for &blunder in Blunder::of(arguments.game) {
        let found: Vec<&Seen> = seen.iter().filter(|one| one.blunder == blunder).collect();
        let share = found.len() as f64 * 1000.0 / f64::from(arguments.games.max(1));
        println!("{share:8.1} in 1,000 games ({}): {}", found.len(), words(blunder));
        for one in found.into_iter().take(arguments.shown) {
            println!("         game {}, ply {}: {}", one.game, one.ply, one.line);
        }
    }
}

const fn words(blunder: Blunder) -> &'static str {
    match blunder {
        Blunder::MissedWin => "a win at hand was missed",
        Blunder::OpenWin => "the other side's win was left open",
        Blunder::Hanging => "a piece was left hanging",
        Blunder::MissedCapture => "a capture was missed",
        Blunder::LeftCapture => "a capture was left to the other side",
        Blunder::OwnEye => "an own eye was filled",
        Blunder::LeftInAtari => "stones were left in atari",
    }
}

/// Plays a game: how many moves were looked at, and what they overlook.
fn play(arguments: &Arguments, setup: &Setup, n: u32) -> (u32, Vec<Seen>) {
    let kind = arguments.game;
    let mut rng = Rng::new(arguments.seed << 32 | u64::from(n));
    // Both sides begin in turn.
    let counted_side = Side::BOTH[(n % 2) as usize];
    let players = Side::BOTH.map(|side| match arguments.against {
        Some(other) if side != counted_side => other,
        _ => arguments.level,
    });
    let mut bots = players.map(|player| player.bot(kind, rng.next_u64()));
    let mut game = replay(setup, &[]);
    let (mut moves, mut seen) = (0, Vec::new());
    while game.outcome().is_none() && game.ply() < LONGEST {
        let turn = game.turn();
        let action = ask(bots[turn.index()].as_mut(), &game, None, Some(arguments.nodes)).0;
        if arguments.against.is_none() || turn == counted_side {
            moves += 1;
            let found = overlooked(&game, action, Blunder::of(kind)).map(|found| found.blunder);
            if let Some(blunder) = found
                && (blunder.is_certain() || arguments.judge == 0 || costs(&game, action, arguments.judge))
            {
                let line = format!("{} | {}", game.position(), game.notation(action));
                seen.push(Seen { game: n, ply: game.ply(), blunder, line });
            }
        }
        game.act(action).expect("a bot's choice is legal");
    }
    (moves, seen)
}

/// Whether the strongest player thinks that a move costs something: otherwise it is a sacrifice, or nothing matters any more.
fn costs(game: &AnyGame, played: Action, nodes: u64) -> bool {
    /// Points in hundredths of the game's unit, and winning chance in thousandths: less than what a piece or some stones are
    /// worth, more than searches differ by.
    const POINTS: i32 = 150;
    const STONE: i32 = 50;
    const CHANCE: u16 = 100;
    /// Go's network takes as long for one position as a search of another game for so many.
    const NETWORK: u64 = 50;
    let mut after = game.clone();
    after.act(played).expect("the move is legal");
    if after.turn() == game.turn() {
        return true;
    }
    let nodes = if game.kind() == GameKind::Go { nodes / NETWORK } else { nodes };
    let mut judging = bot(game.kind(), Tier::MAX, 1);
    let before = judge(judging.as_mut(), game, nodes).map(|report| report.score);
    let reply = judge(judging.as_mut(), &after, nodes).map(|report| report.score);
    let (Some(before), Some(reply)) = (before, reply) else { return true };
    match (before, reply) {
        (Score::LossIn(_), _) | (_, Score::LossIn(_)) => false,
        (Score::WinIn(_), _) | (_, Score::WinIn(_)) => true,
        (Score::Points(before), Score::Points(reply)) => {
            before + reply >= if game.kind() == GameKind::Liuzhou { STONE } else { POINTS }
        }
        (
            Score::Chance { permille: before, points: lead },
            Score::Chance { permille: reply, points: their_lead },
        ) => before + reply >= 1000 + CHANCE || lead + their_lead >= 2 * POINTS,
        _ => true,
    }
}
