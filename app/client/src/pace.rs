//! Time controls as a person types them: `none`, `15m`, `5m+3s`, `10m+3x30s`, `30s/move`.

use proto::board::{Pace, PaceKind};
use proto::limits;

const EXPECTED: &str = "expected `none`, `15m` for everything, `5m+3s` with a bonus, `10m+3x30s` with periods, or `30s/move`; \
                        times are in s, m, h or d";

/// Parses a time control; `Ok(None)` for `none`.
pub fn parse(text: &str) -> Result<Option<Pace>, String> {
    let wrong = || EXPECTED.to_owned();
    if text == "none" {
        return Ok(None);
    }
    let pace = |kind: PaceKind, main_s, step_s, periods| {
        Ok(Some(Pace { kind: kind.into(), main_s, step_s, periods }))
    };
    if let Some(each) = text.strip_suffix("/move") {
        return pace(PaceKind::PacePerMove, 0, seconds(each).ok_or_else(wrong)?, 0);
    }
    let Some((main, step)) = text.split_once('+') else {
        return pace(PaceKind::PaceSuddenDeath, seconds(text).ok_or_else(wrong)?, 0, 0);
    };
    let main = seconds(main).ok_or_else(wrong)?;
    match step.split_once('x') {
        None => pace(PaceKind::PaceFischer, main, seconds(step).ok_or_else(wrong)?, 0),
        Some((periods, period)) => {
            let periods = periods.parse().map_err(|_| wrong())?;
            pace(PaceKind::PaceByoYomi, main, seconds(period).ok_or_else(wrong)?, periods)
        }
    }
}

/// The inverse of [`parse`].
pub fn text(pace: Option<&Pace>) -> String {
    let Some(pace) = pace else { return "none".into() };
    let (main, step) = (time(pace.main_s), time(pace.step_s));
    match pace.kind() {
        PaceKind::PaceNone => "none".into(),
        PaceKind::PacePerMove => format!("{step}/move"),
        PaceKind::PaceSuddenDeath => main,
        PaceKind::PaceFischer => format!("{main}+{step}"),
        PaceKind::PaceByoYomi => format!("{main}+{}x{step}", pace.periods),
    }
}

const UNITS: [(char, u32); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

fn seconds(text: &str) -> Option<u32> {
    let (_, unit) = UNITS.into_iter().find(|(unit, _)| text.ends_with(*unit))?;
    let number: u32 = text[..text.len() - 1].parse().ok()?;
    number.checked_mul(unit).filter(|seconds| *seconds <= limits::PACE_SECONDS)
}

/// Formats a time in the largest unit without a remainder.
fn time(seconds: u32) -> String {
    let fits = |(_, unit): &(char, u32)| seconds > 0 && seconds.is_multiple_of(*unit);
    let (unit, size) = UNITS.into_iter().find(fits).unwrap_or(('s', 1));
    format!("{}{unit}", seconds / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paces_read_back_as_they_were_typed() {
        for typed in ["none", "15m", "5m+3s", "5m+0s", "10m+3x30s", "0s+5x20s", "30s/move", "3d/move", "90s"]
        {
            assert_eq!(text(parse(typed).expect("a pace").as_ref()), typed);
        }
    }

    #[test]
    fn what_is_no_pace_says_what_one_is() {
        for typed in ["", "5", "m", "5m+", "5m+3", "5m+x3s", "+3s", "five", "31d", "5m/move/move", "-5m"] {
            assert_eq!(parse(typed), Err(EXPECTED.into()), "{typed}");
        }
    }
}
