//! Quiet hours: the part of each day in which nothing rings.

use std::time::SystemTime;

use rusqlite::Connection;

const MINUTES_OF_A_DAY: u16 = 24 * 60;

/// From one time of day until another, which can be after midnight. Both are minutes since local midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QuietHours {
    from: u16,
    until: u16,
}

impl QuietHours {
    /// `None`: a time that is not in a day, or an empty span.
    pub(crate) fn new(from: u32, until: u32) -> Option<Self> {
        let minute = |minute: u32| u16::try_from(minute).ok().filter(|minute| *minute < MINUTES_OF_A_DAY);
        let hours = Self { from: minute(from)?, until: minute(until)? };
        (hours.from != hours.until).then_some(hours)
    }

    /// Beginning and end.
    pub(crate) fn minutes(self) -> (u32, u32) {
        (self.from.into(), self.until.into())
    }

    /// Whether this minute since local midnight is within. The end is not.
    pub(crate) fn contains(self, minute: u16) -> bool {
        if self.from < self.until {
            (self.from..self.until).contains(&minute)
        } else {
            minute >= self.from || minute < self.until
        }
    }

    /// As stored: `1320-480`.
    pub(crate) fn written(self) -> String {
        format!("{}-{}", self.from, self.until)
    }

    pub(crate) fn read(text: &str) -> Option<Self> {
        let (from, until) = text.split_once('-')?;
        Self::new(from.parse().ok()?, until.parse().ok()?)
    }
}

/// Minutes since local midnight, by the system's time zone; UTC if the zone cannot be read. SQLite asks the C library, which the
/// standard library does not.
pub(crate) fn local_minute(time: SystemTime) -> u16 {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let local = || -> rusqlite::Result<u16> {
        const QUERY: &str = "SELECT CAST(strftime('%H', ?1, 'unixepoch', 'localtime') AS INTEGER) * 60 \
            + CAST(strftime('%M', ?1, 'unixepoch', 'localtime') AS INTEGER)";
        Connection::open_in_memory()?.query_row(QUERY, [seconds as i64], |row| row.get(0))
    };
    local().unwrap_or((seconds / 60 % u64::from(MINUTES_OF_A_DAY)) as u16)
}

/// The day of the calendar in the system's time zone, counted from 1 January 1970. `minute`: [`local_minute`] of that time.
pub(crate) fn local_day(time: SystemTime, minute: u16) -> u32 {
    /// A minute of the day does not tell UTC+14 from UTC-10, where more people live, nor UTC+13 from UTC-11, where fewer do.
    const EASTERNMOST: i64 = 13 * 60;
    let day = i64::from(MINUTES_OF_A_DAY);
    let utc = (time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs() / 60) as i64;
    let ahead = (i64::from(minute) - utc).rem_euclid(day);
    let ahead = if ahead > EASTERNMOST { ahead - day } else { ahead };
    u32::try_from((utc + ahead).div_euclid(day)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(hour: u16, minute: u16) -> u16 {
        hour * 60 + minute
    }

    #[test]
    fn a_span_over_midnight_is_quiet_on_both_sides_of_it() {
        let night = QuietHours::new(22 * 60, 8 * 60).expect("a span");
        let quiet = [at(22, 0), at(23, 59), at(0, 0), at(7, 59)];
        assert!(quiet.into_iter().all(|minute| night.contains(minute)));
        let loud = [at(8, 0), at(12, 0), at(21, 59)];
        assert!(!loud.into_iter().any(|minute| night.contains(minute)));
        let noon = QuietHours::new(13 * 60, 14 * 60 + 30).expect("a span");
        assert!(noon.contains(at(13, 0)) && noon.contains(at(14, 29)));
        assert!(!noon.contains(at(12, 59)) && !noon.contains(at(14, 30)) && !noon.contains(at(0, 0)));
    }

    #[test]
    fn what_is_stored_is_read_again_and_nonsense_is_none() {
        let night = QuietHours::new(1_320, 480).expect("a span");
        assert_eq!(QuietHours::read(&night.written()), Some(night));
        for text in ["", "1320", "1320-1320", "1440-480", "a-b", "-5-10", "1320-480-1"] {
            assert_eq!(QuietHours::read(text), None, "{text}");
        }
    }

    #[test]
    fn local_time_differs_from_utc_by_an_offset_that_there_is() {
        let midnight = SystemTime::UNIX_EPOCH + Duration::from_hours(480_000);
        let minute = local_minute(midnight);
        assert!(minute < MINUTES_OF_A_DAY);
        // Time zones differ by quarters of an hour.
        assert_eq!(minute % 15, 0);
        assert_eq!(local_minute(midnight + Duration::from_secs(119)), (minute + 1) % MINUTES_OF_A_DAY);
    }

    #[test]
    fn a_day_begins_at_midnight_of_the_zone() {
        let at = |minutes: u64| SystemTime::UNIX_EPOCH + Duration::from_mins(minutes);
        let noon = 20_000 * 1_440 + 12 * 60;
        let day = |zone: i64| local_day(at(noon), (12 * 60 + zone).rem_euclid(1_440) as u16);
        assert_eq!([-10 * 60, -60, 0, 8 * 60, 11 * 60 + 59].map(day), [20_000; 5]);
        assert_eq!([12 * 60, 13 * 60].map(day), [20_001; 2], "it is tomorrow there");
        let early = 20_000 * 1_440 + 30;
        assert_eq!(local_day(at(early), 23 * 60 + 30), 19_999, "an hour to the west it is yesterday");
    }
}
