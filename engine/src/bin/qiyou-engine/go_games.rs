//! Training games of Go: self-play with the visit counts of each position.
//!
//! One line per game: `size komi winner owners move:visits,… move:visits,… …`. Komi is in half points. Winner is `b` or `w`.
//! Owners are one letter per point, row by row from the bottom: `b`, `w`, or `-` for neither, at the end of the game. Each
//! decision is the move played, a colon, and the moves searched with their playouts: `e5:e5=400,d4=100`. A decision without
//! visits is an opening move or random.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use engine::go::{Analysis, Go, GoBot, GoMove, GoSetup, PassWhen};
use engine::{Game as _, Limits, Rng, Side, Tier};

use crate::tune;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Board size, in points on a side.
    #[arg(long, default_value_t = 9)]
    size: u8,
    /// Total number of games.
    #[arg(long, default_value_t = 1_000)]
    games: u32,
    /// Playouts per move.
    #[arg(long, default_value_t = 1_000)]
    playouts: u64,
    /// Number of games played in parallel.
    #[arg(long, default_value_t = 1)]
    threads: u32,
    /// Seed of the openings and moves.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Set a search parameter, as NAME=VALUE; may be given several times.
    #[arg(long)]
    tune: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let (next, output) = (AtomicU32::new(0), Mutex::new(std::io::stdout()));
    let failed = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..arguments.threads.max(1) {
            scope.spawn(|| {
                while let n = next.fetch_add(1, Ordering::Relaxed)
                    && n < arguments.games
                {
                    let line = game(arguments, n);
                    let mut output = output.lock().expect("no thread panics while it writes");
                    if writeln!(output, "{line}").and_then(|()| output.flush()).is_err() {
                        failed.store(true, Ordering::Relaxed);
                        return;
                    }
                }
            });
        }
    });
    if failed.into_inner() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Minimum ownership in playouts for a point to count as owned.
const OWNED: f32 = 0.8;

fn game(arguments: &Arguments, n: u32) -> String {
    let size = arguments.size;
    let mut rng = Rng::new(arguments.seed << 32 | u64::from(n));
    let setup = GoSetup { size, komi_half_points: 15, ..GoSetup::default() };
    let mut go = Go::new(&setup).expect("the setup is valid");
    let area = u32::from(size) * u32::from(size);
    let mut bot = GoBot::new(Tier::MAX, rng.next_u64()).by_playouts_alone().passing(PassWhen::CleanedUp);
    tune::set(&mut bot, &arguments.tune).expect("the numbers exist");
    // The first moves are sampled by visits, so that games differ.
    let drawn = 2 + rng.below(area / 8);
    let hopeless_counts = rng.below(5) > 0;
    let (mut hopeless, mut decisions) = (0, String::new());
    let (winner, owners) = loop {
        let stop = AtomicBool::new(false);
        let limits = Limits {
            time: None,
            nodes: Some(arguments.playouts),
            depth: None,
            stop: &stop,
            elapsed: &|| Duration::ZERO,
        };
        let found = bot.analyse(&go, &limits, &mut |_| {}).expect("the game goes on");
        let is_settled = found.owners.iter().all(|owner| owner.abs() > OWNED);
        hopeless = if (0.03..0.97).contains(&found.chance) { 0 } else { hopeless + 1 };
        let over = go.ply() > 2 * area || found.moves[0].line[0] == GoMove::Pass;
        if is_settled && go.ply() > area / 3 || over || hopeless_counts && hopeless > 4 {
            let sign = if go.turn() == Side::First { 1.0 } else { -1.0 };
            break (found.lead * sign > 0.0, found.owners);
        }
        let chosen = choose(&found, go.ply() < drawn, &mut rng);
        let _ = write!(decisions, " {}:", go.notation(Go::action(chosen)));
        let least = found.moves[0].visits / 100;
        for (k, one) in found.moves.iter().filter(|one| one.visits > least).enumerate() {
            let comma = if k > 0 { "," } else { "" };
            let _ = write!(decisions, "{comma}{}={}", go.notation(Go::action(one.line[0])), one.visits);
        }
        go.play(chosen);
    };
    let letters = owners.iter().map(|owner| match owner {
        owner if *owner > 0.5 => 'b',
        owner if *owner < -0.5 => 'w',
        _ => '-',
    });
    let letters: String = letters.collect();
    let winner = if winner { 'b' } else { 'w' };
    format!("{size} {} {winner} {letters}{decisions}", setup.komi_half_points)
}

/// The most visited move; in the opening, and later in one of twenty moves, one sampled by visits.
fn choose(found: &Analysis, draw: bool, rng: &mut Rng) -> GoMove {
    let best = found.moves[0].line[0];
    if !draw && rng.below(20) > 0 {
        return best;
    }
    let tried = found.moves.iter().filter(|one| one.line[0] != GoMove::Pass);
    let total: u32 = tried.clone().map(|one| one.visits).sum();
    if total == 0 {
        return best;
    }
    let mut left = rng.below(total);
    for one in tried {
        if left < one.visits {
            return one.line[0];
        }
        left -= one.visits;
    }
    best
}
