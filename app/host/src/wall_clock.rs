//! The wall clock: what is stored with a time, tags that change, days, and quiet hours. The only place that reads it; all else
//! in the host uses tokio's clock.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use link::Epoch;

use crate::quiet::{self, QuietHours};

/// Reads the time of day.
pub(crate) struct WallClock {
    now: Arc<dyn Fn() -> SystemTime + Send + Sync>,
    /// Minutes since local midnight at this time.
    local_minute: Arc<dyn Fn(SystemTime) -> u16 + Send + Sync>,
}

impl WallClock {
    pub(crate) fn new(
        now: Arc<dyn Fn() -> SystemTime + Send + Sync>,
        local_minute: Arc<dyn Fn(SystemTime) -> u16 + Send + Sync>,
    ) -> Self {
        Self { now, local_minute }
    }

    /// A clock that stands at this time, in UTC.
    #[cfg(test)]
    pub(crate) fn standing(since_1970: Duration) -> Self {
        let at = SystemTime::UNIX_EPOCH + since_1970;
        let minute = (since_1970.as_secs() / 60 % 1_440) as u16;
        Self::new(Arc::new(move || at), Arc::new(move |_| minute))
    }

    fn since_1970(&self) -> Duration {
        (self.now)().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
    }

    /// Unix time in milliseconds.
    pub(crate) fn unix_ms(&self) -> i64 {
        self.since_1970().as_millis().try_into().unwrap_or(i64::MAX)
    }

    /// The present UTC day, counted from 1 January 1970.
    pub(crate) fn utc_day(&self) -> u32 {
        (self.unix_ms() / 86_400_000).clamp(0, 3_649_999) as u32
    }

    /// The present day where the user is, counted from 1 January 1970.
    pub(crate) fn local_day(&self) -> u32 {
        let now = (self.now)();
        quiet::local_day(now, (self.local_minute)(now))
    }

    /// The present quarter of an hour, for which a tag holds.
    pub(crate) fn epoch(&self) -> Epoch {
        Epoch::at(self.since_1970())
    }

    /// Time until the next epoch has begun.
    pub(crate) fn until_next_epoch(&self) -> Duration {
        self.epoch().end().saturating_sub(self.since_1970()) + Duration::from_millis(1)
    }

    /// Whether the present time is within the quiet hours. The time is read only if there are any.
    pub(crate) fn is_quiet(&self, hours: Option<QuietHours>) -> bool {
        hours.is_some_and(|hours| hours.contains((self.local_minute)((self.now)())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock that stands at this time, in a zone so many minutes ahead of UTC.
    fn clock(since_1970: Duration, ahead: u64) -> WallClock {
        let at = SystemTime::UNIX_EPOCH + since_1970;
        let local = move |time: SystemTime| {
            let minutes = time.duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_secs() / 60;
            ((minutes + ahead) % 1_440) as u16
        };
        WallClock::new(Arc::new(move || at), Arc::new(local))
    }

    #[test]
    fn a_local_day_begins_before_the_utc_day_in_the_east() {
        let late = Duration::from_hours(24 * 20_000 + 20);
        assert_eq!((clock(late, 0).utc_day(), clock(late, 0).local_day()), (20_000, 20_000));
        assert_eq!((clock(late, 480).utc_day(), clock(late, 480).local_day()), (20_000, 20_001));
    }

    #[test]
    fn a_night_is_that_of_the_users_zone_and_without_one_no_time_is_read() {
        let night = QuietHours::new(22 * 60, 8 * 60);
        let noon = Duration::from_hours(24 * 20_000 + 15);
        assert!(!clock(noon, 0).is_quiet(night));
        assert!(clock(noon, 480).is_quiet(night), "23:00 there");
        let unread = || unreachable!("nobody needs the time");
        assert!(!WallClock::new(Arc::new(unread), Arc::new(|_| unreachable!())).is_quiet(None));
    }

    #[test]
    fn the_next_epoch_has_begun_after_the_time_until_it() {
        for ms in [0, 1, 899_999, 900_000, 1_234_567_890_123] {
            let at = Duration::from_millis(ms);
            let now = clock(at, 0);
            let then = clock(at + now.until_next_epoch(), 0);
            assert_eq!(then.epoch().0, now.epoch().0 + 1, "{ms}");
        }
    }

    #[test]
    fn a_clock_before_1970_gives_the_first_moment() {
        let before: fn() -> SystemTime = || SystemTime::UNIX_EPOCH - Duration::from_secs(5);
        let clock = WallClock::new(Arc::new(before), Arc::new(|_| 0));
        assert_eq!((clock.unix_ms(), clock.utc_day()), (0, 0));
    }
}
