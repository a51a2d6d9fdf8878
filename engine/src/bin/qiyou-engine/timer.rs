//! The wall clock, which the engine library does not have.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use engine::{AnyGame, Bot, Limits, Report};

/// Limits of a decision; `stop` ends it at once.
pub(crate) struct Ask<'a> {
    pub(crate) time: Option<Duration>,
    pub(crate) nodes: Option<u64>,
    pub(crate) depth: Option<u32>,
    pub(crate) stop: &'a AtomicBool,
}

/// Asks a bot, with time counted from `since`.
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

/// Estimates scheduling delays. On a busy machine the system may suspend a thread for 50 ms and more; if that happens at the
/// end of a move's time, the reply is late, however often the engine checks the clock: all overruns in 1,099 replies of 200
/// ms beside six other programs had this cause (EXPERIMENTS.md).
#[derive(Default)]
pub(crate) struct Stalls {
    /// Time of the last check, in microseconds.
    last: AtomicU64,
    /// Longest interval between two checks of this decision.
    longest: AtomicU64,
    /// Moving average over earlier decisions.
    expected: Duration,
}

impl Stalls {
    /// Must be called at the start of a decision, with the time already spent.
    pub(crate) fn begin(&mut self, spent: Duration) {
        *self.last.get_mut() = spent.as_micros() as u64;
        *self.longest.get_mut() = 0;
    }

    /// Must be called at each check of the clock, on any thread.
    pub(crate) fn look(&self, spent: Duration) -> Duration {
        let now = spent.as_micros() as u64;
        let last = self.last.swap(now, Ordering::Relaxed);
        self.longest.fetch_max(now.saturating_sub(last), Ordering::Relaxed);
        spent
    }

    /// Must be called at the end of a decision.
    pub(crate) fn end(&mut self) {
        let longest = Duration::from_micros(*self.longest.get_mut());
        self.expected = longest.max(self.expected * 7 / 8);
    }

    /// The reserve for this amount of time: at most a fifth, and negligible on a machine with a free core.
    pub(crate) fn reserve(&self, of: Duration) -> Duration {
        self.expected.min(of / 5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_once_waited_for_is_kept_back_for_a_while() {
        let ms = Duration::from_millis;
        let mut stalls = Stalls::default();
        for spent in [0, 1, 31, 32] {
            if spent == 0 {
                stalls.begin(ms(0));
            }
            assert_eq!(stalls.look(ms(spent)), ms(spent));
        }
        stalls.end();
        assert_eq!((stalls.reserve(ms(1_000)), stalls.reserve(ms(100))), (ms(30), ms(20)));
        for _ in 0..40 {
            stalls.begin(ms(0));
            stalls.look(ms(1));
            stalls.end();
        }
        assert_eq!(stalls.reserve(ms(1_000)), ms(1));
    }
}
