//! Time management of a search.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::Limits;

/// When to stop before the limits are reached.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StopRule {
    /// Stop as soon as more playouts cannot change the choice.
    pub(super) early: bool,
    /// Stop after this time unless the choice is in doubt; `None`: only the limits count.
    pub(super) usual: Option<Duration>,
}

/// Statistics of the root's moves.
pub(super) struct RootStats {
    /// Visits of the most visited move.
    pub(super) best: f32,
    /// Visits of the second one.
    pub(super) second: f32,
    /// Whether the most visited move also has the highest winning share, among moves with at least a tenth of its visits.
    pub(super) agrees: bool,
}

/// Checks the limits of one search.
pub(super) struct TimeManager<'a> {
    limits: &'a Limits<'a>,
    stop_rule: StopRule,
    begin: Duration,
    next_look: u64,
    next_check: u64,
}

/// Number of playouts between two checks of whether the choice is decided.
const CHECK_EVERY: u64 = 16;

impl<'a> TimeManager<'a> {
    /// For a search that starts now.
    pub(super) fn new(limits: &'a Limits<'a>, stop_rule: StopRule) -> Self {
        Self { limits, stop_rule, begin: (limits.elapsed)(), next_look: 64, next_check: CHECK_EVERY }
    }

    /// Whether a limit is reached after this number of playouts.
    pub(super) fn is_over(&self, playouts: u64) -> bool {
        self.limits.stop.load(Ordering::Relaxed)
            || self.limits.nodes.is_some_and(|nodes| playouts >= nodes)
            || self.limits.time.is_some_and(|time| (self.limits.elapsed)() >= time)
    }

    /// Whether to report: often at first, then every 512 playouts.
    pub(super) fn is_time_to_tell(&mut self, playouts: u64) -> bool {
        if playouts < self.next_look {
            return false;
        }
        self.next_look = playouts + (playouts / 2).min(512);
        true
    }

    /// Whether the stop rule applies after this number of playouts. `root_stats` is called occasionally.
    pub(super) fn is_enough(&mut self, playouts: u64, root_stats: impl FnOnce() -> RootStats) -> bool {
        if playouts < self.next_check || (!self.stop_rule.early && self.stop_rule.usual.is_none()) {
            return false;
        }
        self.next_check = playouts + CHECK_EVERY;
        let now = (self.limits.elapsed)();
        let spent = now.saturating_sub(self.begin).as_secs_f64();
        let RootStats { best, second, agrees } = root_stats();
        if let Some(usual) = self.stop_rule.usual {
            /// A second move with more than this fraction of the best one's visits may still become the best.
            const DOUBT: f32 = 0.7;
            if !agrees || second > DOUBT * best {
                return false;
            }
            if now >= usual {
                return true;
            }
        }
        if !self.stop_rule.early {
            return false;
        }
        let left = match (self.limits.nodes, self.limits.time) {
            (Some(nodes), _) => nodes.saturating_sub(playouts) as f64,
            (None, Some(time)) => {
                let time = self.stop_rule.usual.unwrap_or(time);
                // At first the rate of playouts is uncertain.
                if spent * 10.0 < time.as_secs_f64() {
                    return false;
                }
                playouts as f64 / spent * time.saturating_sub(now).as_secs_f64()
            }
            (None, None) => return false,
        };
        // The best move stays the best even if the second gets all remaining playouts.
        f64::from(best - second) > left
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Mutex;
    use std::sync::atomic::AtomicBool;

    use super::*;

    /// Number of playouts, of a millisecond each, after which the stop rule applies; at most a second.
    fn ends(stop_rule: StopRule, root_stats: impl Fn(u64) -> RootStats) -> u64 {
        let (stop, now) = (AtomicBool::new(false), Mutex::new(Duration::ZERO));
        let elapsed = || *now.lock().expect("nobody panics with it");
        let second = Duration::from_secs(1);
        let limits = Limits { time: Some(second), nodes: None, depth: None, stop: &stop, elapsed: &elapsed };
        let mut time = TimeManager::new(&limits, stop_rule);
        let playouts = Cell::new(0);
        while !time.is_over(playouts.get()) {
            playouts.set(playouts.get() + 1);
            *now.lock().expect("nobody panics with it") += Duration::from_millis(1);
            if time.is_enough(playouts.get(), || root_stats(playouts.get())) {
                break;
            }
        }
        playouts.get()
    }

    const USUAL: StopRule = StopRule { early: true, usual: Some(Duration::from_millis(400)) };

    fn close(playouts: u64) -> RootStats {
        RootStats { best: 0.5 * playouts as f32, second: 0.45 * playouts as f32, agrees: true }
    }

    fn clear(playouts: u64) -> RootStats {
        RootStats { best: 0.5 * playouts as f32, second: 0.2 * playouts as f32, agrees: true }
    }

    #[test]
    fn a_choice_in_doubt_gets_all_the_time_and_another_the_usual() {
        assert_eq!(ends(USUAL, close), 1_000);
        assert_eq!(ends(USUAL, |n| RootStats { agrees: false, ..clear(n) }), 1_000);
        let usual = StopRule { early: false, ..USUAL };
        assert!((400..=416).contains(&ends(usual, clear)));
        // The doubt is settled on the way.
        let later = ends(USUAL, |n| if n < 600 { close(n) } else { clear(n) });
        assert!((600..=616).contains(&later), "{later}");
    }

    #[test]
    fn a_decided_choice_ends_before_the_usual_time() {
        let decided = |n: u64| RootStats { best: 0.95 * n as f32, second: 0.05 * n as f32, agrees: true };
        // With 0.9 of the playouts between them the second needs nine tenths of what there was so far.
        assert!((210..=240).contains(&ends(USUAL, decided)));
        let early = StopRule { early: true, usual: None };
        assert!((525..=550).contains(&ends(early, decided)));
        assert_eq!(ends(StopRule::default(), decided), 1_000);
    }
}
