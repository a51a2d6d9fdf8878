//! The clock that the engine itself does not own.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::{AnyGame, Bot, Limits, Report};

/// What one decision may use; `stop` ends it at once.
pub(crate) struct Ask<'a> {
    pub(crate) time: Option<Duration>,
    pub(crate) nodes: Option<u64>,
    pub(crate) depth: Option<u32>,
    pub(crate) stop: &'a AtomicBool,
}

/// Asks a bot by the wall clock, counted from `since`.
pub(crate) fn choose(
    bot: &mut dyn Bot,
    game: &AnyGame,
    ask: &Ask<'_>,
    since: Instant,
    report: &mut dyn FnMut(&Report),
) -> Option<Report> {
    let elapsed = move || since.elapsed();
    let limits =
        Limits { time: ask.time, nodes: ask.nodes, depth: ask.depth, stop: ask.stop, elapsed: &elapsed };
    bot.choose(game, &limits, report)
}
