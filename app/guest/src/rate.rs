//! A rate limit.

use std::time::{Duration, Instant};

/// A token bucket.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    at_once: f64,
    a_second: f64,
    left: f64,
    at: Option<Instant>,
}

impl Rate {
    /// A bucket of `at_once` tokens that is refilled with `a_second` tokens per second.
    pub const fn new(at_once: u32, a_second: f64) -> Self {
        Self { at_once: at_once as f64, a_second, left: at_once as f64, at: None }
    }

    /// Takes a token if there is one; returns whether there was.
    pub fn may(&mut self, now: Instant) -> bool {
        let since = self.at.map_or(Duration::ZERO, |at| now.saturating_duration_since(at));
        self.at = Some(now);
        self.left = (self.left + since.as_secs_f64() * self.a_second).min(self.at_once);
        let may = self.left >= 1.0;
        if may {
            self.left -= 1.0;
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_at_once_and_then_so_many_a_second() {
        let start = Instant::now();
        let mut rate = Rate::new(20, 10.0);
        let allowed = |rate: &mut Rate, at: Duration| (0..100).filter(|_| rate.may(start + at)).count();
        assert_eq!(allowed(&mut rate, Duration::ZERO), 20);
        assert_eq!(allowed(&mut rate, Duration::from_millis(500)), 5);
        assert_eq!(allowed(&mut rate, Duration::from_hours(1)), 20, "no more than at once is saved up");
        assert_eq!(allowed(&mut rate, Duration::ZERO), 0, "a clock that goes back gives nothing");
    }
}
