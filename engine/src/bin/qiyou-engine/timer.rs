//! The clock that the engine itself does not own.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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

/// How long the system keeps a thinking program from its processor. On a busy machine it does so for 50 ms and more, and if that
/// happens where a move's time ends, the answer is late however often the engine looks at the clock: every overrun in 1,099
/// answers of 200 ms beside six other programs was such a wait, and none of the engine's own (EXPERIMENTS.md).
#[derive(Default)]
pub(crate) struct Stalls {
    /// The last look at the clock, in microseconds.
    last: AtomicU64,
    /// The longest time between two looks of this decision.
    longest: AtomicU64,
    /// What earlier decisions say, the more recent the more.
    expected: Duration,
}

impl Stalls {
    /// To be called when a decision begins, with the time already spent on it.
    pub(crate) fn begin(&mut self, spent: Duration) {
        *self.last.get_mut() = spent.as_micros() as u64;
        *self.longest.get_mut() = 0;
    }

    /// To be called at each look at the clock; any thread may.
    pub(crate) fn look(&self, spent: Duration) -> Duration {
        let now = spent.as_micros() as u64;
        let last = self.last.swap(now, Ordering::Relaxed);
        self.longest.fetch_max(now.saturating_sub(last), Ordering::Relaxed);
        spent
    }

    /// To be called when the decision is made.
    pub(crate) fn end(&mut self) {
        let longest = Duration::from_micros(*self.longest.get_mut());
        self.expected = longest.max(self.expected * 7 / 8);
    }

    /// What is to be kept back of this much time: a fifth at most. Nothing worth mentioning on a machine with a core to spare.
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
