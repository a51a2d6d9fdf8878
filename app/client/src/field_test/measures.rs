//! What a field test has measured, and the report of it: for those who build Qiyou, in English.

use std::fmt::Write as _;
use std::time::{Duration, Instant, SystemTime};

use proto::control::{Carrier, Diagnosis};

use super::Interruption;
use crate::device::{checks, controllers, this_device};
use crate::redact::Redactor;
use crate::{HostState, words};

/// An interruption of the link.
#[derive(Clone, Debug, PartialEq)]
pub struct Outage {
    /// What the people did; `None` on the device that follows, which is not told.
    pub what: Option<Interruption>,
    /// From the loss of the link until play went on.
    pub away: Duration,
    /// From the moment at which the radio worked again, the device woke up or the person said to be back. `None`: not known.
    pub after_return: Option<Duration>,
}

/// What was measured. `None` and empty: it did not happen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measures {
    /// The carrier of the match.
    pub carrier: Option<Carrier>,
    /// From the start until the other device was found.
    pub found: Option<Duration>,
    /// From then until it was connected.
    pub connected: Option<Duration>,
    /// From the invitation until the match began.
    pub invited: Option<Duration>,
    /// From each own move until its acknowledgement; the first one is the first of the match.
    pub echoes: Vec<Duration>,
    /// Round trip of the link, in milliseconds; 0: not known.
    pub round_trip_ms: u32,
    /// Signal strength, in dBm; 0: not known.
    pub rssi_dbm: i32,
    /// Interruptions, in order.
    pub outages: Vec<Outage>,
    /// What went wrong, in English.
    pub troubles: Vec<String>,
}

impl Measures {
    /// The echo that this percentage does not exceed; without the first, which opens the match.
    pub fn echo(&self, percent: usize) -> Option<Duration> {
        let mut sorted: Vec<Duration> = self.echoes.iter().skip(1).copied().collect();
        sorted.sort();
        let place = (sorted.len() * percent).div_ceil(100).max(1) - 1;
        sorted.get(place).copied()
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: Option<String>| {
            let _ = writeln!(text, "{name}: {}", value.unwrap_or_else(|| "not measured".into()));
        };
        line("carrier", self.carrier.map(|carrier| words::carrier(carrier.into())));
        line("found", self.found.map(seconds));
        line("connected", self.connected.map(seconds));
        line("invitation until the match", self.invited.map(seconds));
        line("first move", self.echoes.first().copied().map(milliseconds));
        line("echo p50", self.echo(50).map(milliseconds));
        line("echo p95", self.echo(95).map(milliseconds));
        line("moves", Some(self.echoes.len().to_string()));
        line(
            "round trip of the link",
            (self.round_trip_ms > 0).then(|| format!("{} ms", self.round_trip_ms)),
        );
        line("signal", (self.rssi_dbm != 0).then(|| format!("{} dBm", self.rssi_dbm)));
        for outage in &self.outages {
            let mut value = format!("play went on {} after the link was lost", seconds(outage.away));
            if let Some(after) = outage.after_return {
                let _ = write!(value, ", {} after the return", seconds(after));
            }
            line(outage.what.map_or("interruption", Interruption::name), Some(value));
        }
        for trouble in &self.troubles {
            line("trouble", Some(trouble.clone()));
        }
        text
    }

    /// The row of the table in hardware-notes.md.
    fn row(&self, device: &str, system: &str, date: &str) -> String {
        let short = |value: Option<Duration>, form: fn(Duration) -> String| value.map_or("–".into(), form);
        let went_on = self.outages.iter().map(|outage| {
            let time = seconds(outage.after_return.unwrap_or(outage.away));
            outage.what.map_or(time.clone(), |what| format!("{}: {time}", what.name()))
        });
        let went_on: Vec<String> = went_on.collect();
        let cells = [
            date.to_owned(),
            device.to_owned(),
            "–".into(),
            system.to_owned(),
            format!(
                "{}, {}, {}",
                short(self.found, seconds),
                short(self.connected, seconds),
                short(self.echoes.first().copied(), milliseconds)
            ),
            short(self.echo(50), milliseconds),
            if went_on.is_empty() { "–".into() } else { went_on.join(", ") },
            if self.troubles.is_empty() { "–".into() } else { self.troubles.join("; ") },
        ];
        format!("| {} |", cells.join(" | "))
    }

    /// The report: this device, what was measured, the host's findings, and a row for hardware-notes.md. Names, keys and
    /// addresses that the host knows are removed.
    pub(super) fn report(
        &self,
        role: &str,
        diagnosis: &Diagnosis,
        state: &HostState,
        now: SystemTime,
    ) -> String {
        let device = this_device();
        let of = |name: &str| {
            let value = device.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            value.unwrap_or("unknown").to_owned()
        };
        let found = |subject: &str| {
            let check = diagnosis.checks.iter().find(|check| check.subject == subject);
            check.map_or("–", |check| check.found.as_str())
        };
        let system = format!("{}, {}, {}", of("kernel"), found("bluez"), of("desktop"));
        let controllers = controllers();
        let row = self.row(&format!("{}, {controllers}", of("machine")), &system, &day(now));
        let redactor = Redactor::new(Some(state));
        // A player may be called like the device, whose model is no secret: only the rest is searched for names.
        format!(
            "# Field test of Qiyou\n\n{device}controllers: {controllers}\nthis device: {role}\n\n## Measured\n\n{}\n## Doctor\n\n{}\n\n## Row for hardware-notes.md\n\n{row}\n",
            redactor.redact(&self.text()) + "\n",
            redactor.redact(&checks(diagnosis)),
        )
    }
}

/// Such as `1.5 s`.
pub fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// Such as `52 ms`.
pub fn milliseconds(time: Duration) -> String {
    format!("{:.0} ms", time.as_secs_f64() * 1_000.0)
}

/// When an interruption began, by both clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocks(pub(super) Instant, pub(super) SystemTime);

impl Clocks {
    /// Whether the device slept since then: the wall clock has run on, its own has not.
    pub(super) fn slept(&self, now: Instant, wall: SystemTime) -> bool {
        wall.duration_since(self.1).unwrap_or_default() > now.duration_since(self.0) + super::SLEPT
    }
}

/// The day of this time in UTC, such as 2026-03-01 (proleptic Gregorian calendar).
fn day(time: SystemTime) -> String {
    let mut left = time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400);
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1_970;
    while left >= 365 + u64::from(is_leap(year)) {
        left -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if left < days {
            break;
        }
        left -= days;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", left + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_leave_out_the_first_move_and_name_a_value_that_was_measured() {
        let of = |echoes: &[u64]| {
            let echoes = echoes.iter().map(|one| Duration::from_millis(*one)).collect();
            let measures = Measures { echoes, ..Measures::default() };
            [50, 95].map(|percent| measures.echo(percent).map(|time| time.as_millis()))
        };
        assert_eq!(of(&[]), [None, None]);
        assert_eq!(of(&[900]), [None, None]);
        assert_eq!(of(&[900, 5]), [Some(5), Some(5)]);
        assert_eq!(of(&[900, 40, 10, 30, 20]), [Some(20), Some(40)]);
    }

    #[test]
    fn a_row_fits_the_table_of_hardware_notes() {
        let notes = include_str!("../../../../hardware-notes.md");
        let (_, after) = notes.split_once("| date | device, controller").expect("the table");
        let columns = after.lines().next().expect("its first line").matches('|').count() + 2;
        let measures = Measures {
            found: Some(Duration::from_millis(512)),
            echoes: vec![Duration::from_millis(80), Duration::from_millis(52)],
            outages: vec![Outage {
                what: Some(Interruption::Lid),
                away: Duration::from_secs(40),
                after_return: Some(Duration::from_millis(3_200)),
            }],
            ..Measures::default()
        };
        let row = measures.row("Deck, hci0", "6.1, BlueZ 5.66, Phosh", "2026-03-01");
        assert_eq!(row.matches('|').count(), columns, "{row}");
        assert!(row.contains("| 0.5 s, –, 80 ms | 52 ms | lid closed: 3.2 s | – |"), "{row}");
    }

    #[test]
    fn days_follow_the_calendar() {
        let at = |seconds: u64| day(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01");
        assert_eq!(at(951_782_400), "2000-02-29");
        assert_eq!(at(951_868_800), "2000-03-01");
        assert_eq!(at(1_772_323_200), "2026-03-01");
        assert_eq!(at(1_798_675_200), "2026-12-31");
    }
}
