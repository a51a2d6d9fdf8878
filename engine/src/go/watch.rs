//! How long a search goes on.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::Limits;

/// How long to think within what the limits allow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Patience {
    /// Stops once no more playouts could change the choice.
    pub(super) early: bool,
    /// Stops after this time unless the choice is in doubt; without it only the limits count.
    pub(super) usual: Option<Duration>,
}

/// What the moves at the root look like.
pub(super) struct Contest {
    /// Visits of the most visited move.
    pub(super) best: f32,
    /// Visits of the one after it.
    pub(super) second: f32,
    /// Whether the most visited move wins the largest share too, among those with a tenth of its visits.
    pub(super) agrees: bool,
}

/// Looks at the limits for one search.
pub(super) struct Watch<'a> {
    limits: &'a Limits<'a>,
    patience: Patience,
    begin: Duration,
    next_look: u64,
    next_check: u64,
}

/// Playouts between two looks at whether the choice is decided.
const CHECK_EVERY: u64 = 16;

impl<'a> Watch<'a> {
    /// For a search that begins now.
    pub(super) fn new(limits: &'a Limits<'a>, patience: Patience) -> Self {
        Self { limits, patience, begin: (limits.elapsed)(), next_look: 64, next_check: CHECK_EVERY }
    }

    /// Whether the limits are reached after so many playouts.
    pub(super) fn is_over(&self, playouts: u64) -> bool {
        self.limits.stop.load(Ordering::Relaxed)
            || self.limits.nodes.is_some_and(|nodes| playouts >= nodes)
            || self.limits.time.is_some_and(|time| (self.limits.elapsed)() >= time)
    }

    /// Whether it is time to tell what was found. At first often, then every 512 playouts.
    pub(super) fn is_time_to_tell(&mut self, playouts: u64) -> bool {
        if playouts < self.next_look {
            return false;
        }
        self.next_look = playouts + (playouts / 2).min(512);
        true
    }

    /// Whether patience ends after so many playouts. `contest` is asked now and then.
    pub(super) fn is_enough(&mut self, playouts: u64, contest: impl FnOnce() -> Contest) -> bool {
        if playouts < self.next_check || (!self.patience.early && self.patience.usual.is_none()) {
            return false;
        }
        self.next_check = playouts + CHECK_EVERY;
        let now = (self.limits.elapsed)();
        let spent = now.saturating_sub(self.begin).as_secs_f64();
        let Contest { best, second, agrees } = contest();
        if let Some(usual) = self.patience.usual {
            /// A second move with more than this part of the best one's visits may still become the best.
            const DOUBT: f32 = 0.7;
            if !agrees || second > DOUBT * best {
                return false;
            }
            if now >= usual {
                return true;
            }
        }
        if !self.patience.early {
            return false;
        }
        let left = match (self.limits.nodes, self.limits.time) {
            (Some(nodes), _) => nodes.saturating_sub(playouts) as f64,
            (None, Some(time)) => {
                let time = self.patience.usual.unwrap_or(time);
                // At first the rate is a guess.
                if spent * 10.0 < time.as_secs_f64() {
                    return false;
                }
                playouts as f64 / spent * time.saturating_sub(now).as_secs_f64()
            }
            (None, None) => return false,
        };
        // The best stays the best if all that is left goes to the second.
        f64::from(best - second) > left
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Mutex;
    use std::sync::atomic::AtomicBool;

    use super::*;

    /// After how many playouts, each of a millisecond, patience ends; at most a second.
    fn ends(patience: Patience, contest: impl Fn(u64) -> Contest) -> u64 {
        let (stop, now) = (AtomicBool::new(false), Mutex::new(Duration::ZERO));
        let elapsed = || *now.lock().expect("nobody panics with it");
        let second = Duration::from_secs(1);
        let limits = Limits { time: Some(second), nodes: None, depth: None, stop: &stop, elapsed: &elapsed };
        let mut watch = Watch::new(&limits, patience);
        let playouts = Cell::new(0);
        while !watch.is_over(playouts.get()) {
            playouts.set(playouts.get() + 1);
            *now.lock().expect("nobody panics with it") += Duration::from_millis(1);
            if watch.is_enough(playouts.get(), || contest(playouts.get())) {
                break;
            }
        }
        playouts.get()
    }

    const USUAL: Patience = Patience { early: true, usual: Some(Duration::from_millis(400)) };

    fn close(playouts: u64) -> Contest {
        Contest { best: 0.5 * playouts as f32, second: 0.45 * playouts as f32, agrees: true }
    }

    fn clear(playouts: u64) -> Contest {
        Contest { best: 0.5 * playouts as f32, second: 0.2 * playouts as f32, agrees: true }
    }

    #[test]
    fn a_choice_in_doubt_gets_all_the_time_and_another_the_usual() {
        assert_eq!(ends(USUAL, close), 1_000);
        assert_eq!(ends(USUAL, |n| Contest { agrees: false, ..clear(n) }), 1_000);
        let usual = Patience { early: false, ..USUAL };
        assert!((400..=416).contains(&ends(usual, clear)));
        // The doubt is settled on the way.
        let later = ends(USUAL, |n| if n < 600 { close(n) } else { clear(n) });
        assert!((600..=616).contains(&later), "{later}");
    }

    #[test]
    fn a_decided_choice_ends_before_the_usual_time() {
        let decided = |n: u64| Contest { best: 0.95 * n as f32, second: 0.05 * n as f32, agrees: true };
        // With 0.9 of the playouts between them the second needs nine tenths of what there was so far.
        assert!((210..=240).contains(&ends(USUAL, decided)));
        let early = Patience { early: true, usual: None };
        assert!((525..=550).contains(&ends(early, decided)));
        assert_eq!(ends(Patience::default(), decided), 1_000);
    }
}
