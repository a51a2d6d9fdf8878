//! Time settings by the protocol, and the time of a move.

use std::time::Duration;

use engine::Side;

use super::{parse, parse_side, seconds};

/// Time settings.
pub(super) struct Clock {
    pace: Pace,
    left: [Option<Left>; 2],
    /// Maximum time of a move, whatever the clock says.
    most: Option<Duration>,
    /// Whether moves are limited by playouts without time settings.
    by_playouts: bool,
}

#[derive(Clone, Copy)]
enum Pace {
    /// Not set: a second per move, unless the command line says otherwise.
    None,
    /// Explicitly unlimited.
    Free,
    /// Main time, then a period for a number of stones (Canadian byo-yomi).
    Clock { main: Duration, more: Duration, stones: u32 },
}

/// The state of a side's clock; stones of the present period, 0 in the main time.
#[derive(Clone, Copy)]
struct Left {
    time: Duration,
    stones: u32,
}

/// The time for a move, from its request on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Allotted {
    /// If the choice is in doubt; `None`: unlimited.
    pub(super) most: Option<Duration>,
    /// Otherwise.
    pub(super) usual: Option<Duration>,
}

/// Reserve per move for the latency of pipes and of the other program.
const RESERVE: Duration = Duration::from_millis(8);
/// Without any time settings.
const DEFAULT_TIME: Duration = Duration::from_secs(1);

impl Clock {
    pub(super) const fn new(most: Option<Duration>, by_playouts: bool) -> Self {
        Self { pace: Pace::None, left: [None; 2], most, by_playouts }
    }

    /// A new game: remaining times are reset, settings are kept.
    pub(super) const fn begin(&mut self) {
        self.left = [None; 2];
    }

    /// The time for a move after this number of plies on a board of this number of points.
    pub(super) fn allotted(&self, side: Side, ply: u32, points: u32) -> Allotted {
        // Expected number of further own moves, never few, because a game may continue long after the board is full.
        let to_come = (points * 2 / 5).saturating_sub(ply / 2).max(points / 8).max(4);
        // The share of a move, and its maximum: a fifth of the main time, or the whole period.
        let (share, most) = match (self.pace, self.left[side.index()]) {
            (Pace::None, None) if self.by_playouts || self.most.is_some() => (None, None),
            (Pace::None, None) => (Some(DEFAULT_TIME), None),
            (Pace::Free, _) => (None, None),
            // The last stone of a period may use what is left; others may borrow from later ones.
            (_, Some(Left { time, stones })) if stones > 0 => {
                (Some(time / stones), Some((time / stones * 2).min(time)))
            }
            (Pace::Clock { more, stones, .. }, Some(Left { time, .. })) => {
                let period = more / stones.max(1) / 2;
                (Some(time / to_come + period), Some(time / 5 + period))
            }
            (Pace::None, Some(Left { time, .. })) => (Some(time / to_come), Some(time / 5)),
            (Pace::Clock { main, more, stones }, None) if main.is_zero() => {
                (Some(more / stones.max(1)), None)
            }
            (Pace::Clock { main, more, stones }, None) => {
                // If nobody reports remaining times: a share of the initial time.
                (Some(main / (points * 2 / 5).max(10) + more / stones.max(1) / 2), None)
            }
        };
        let most = share.map(|share| most.map_or(share, |most| (share * DOUBT).min(most).max(share)));
        let within = |time: Option<Duration>| {
            let time = match (time, self.most) {
                (Some(time), Some(most)) => Some(time.min(most)),
                (time, most) => time.or(most),
            };
            time.map(|time| time.saturating_sub(RESERVE).max(Duration::from_millis(1)))
        };
        let most = within(most);
        let usual = within(share.map(|share| share * 9 / 10)).filter(|&usual| Some(usual) < most);
        Allotted { most, usual }
    }

    pub(super) fn time_settings(&mut self, words: &[&str]) -> Result<(), String> {
        let &[main, more, stones] = words else { return Err("syntax error".into()) };
        let (main, more, stones) = (seconds(main)?, seconds(more)?, parse::<u32>(stones)?);
        self.set(main, more, stones);
        Ok(())
    }

    pub(super) fn kgs_time_settings(&mut self, words: &[&str]) -> Result<(), String> {
        match *words {
            ["none"] => {
                self.pace = Pace::Free;
                self.left = [None; 2];
            }
            ["absolute", main] => self.set(seconds(main)?, Duration::ZERO, 0),
            // Each period of Japanese byo-yomi is for one move.
            ["byoyomi", main, period, _] => self.set(seconds(main)?, seconds(period)?, 1),
            ["canadian", main, more, stones] => {
                self.set(seconds(main)?, seconds(more)?, parse(stones)?);
            }
            _ => return Err("syntax error".into()),
        }
        Ok(())
    }

    fn set(&mut self, main: Duration, more: Duration, stones: u32) {
        // Section 4.2: time for no stones means unlimited.
        self.pace =
            if stones == 0 && !more.is_zero() { Pace::Free } else { Pace::Clock { main, more, stones } };
        self.left = [None; 2];
    }

    pub(super) fn time_left(&mut self, words: &[&str]) -> Result<(), String> {
        let &[colour, time, stones] = words else { return Err("syntax error".into()) };
        let left = Left { time: seconds(time)?, stones: parse(stones)? };
        self.left[parse_side(colour)?.index()] = Some(left);
        Ok(())
    }
}

/// Number of shares for a move in doubt.
const DOUBT: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(setting: &str, left: &str) -> Clock {
        let mut clock = Clock::new(None, false);
        let words: Vec<&str> = setting.split(' ').collect();
        clock.kgs_time_settings(&words).expect("it is well formed");
        if !left.is_empty() {
            let words: Vec<&str> = left.split(' ').collect();
            clock.time_left(&words).expect("it is well formed");
        }
        clock
    }

    #[test]
    fn no_clock_runs_out_however_often_the_choice_is_in_doubt() {
        for (setting, main, period) in
            [("absolute 60", 60.0, 0.0), ("absolute 600", 600.0, 0.0), ("byoyomi 60 5 3", 60.0, 5.0)]
        {
            let mut left = main;
            let mut in_periods = 0;
            for ply in 0..200 {
                // Once the main time is over, each move has a period of its own.
                let said = if left > 0.0 { format!("b {left:.6} 0") } else { format!("b {period} 1") };
                let allotted = clock(setting, &said).allotted(Side::First, 2 * ply, 361);
                let most = allotted.most.expect("there is a clock").as_secs_f64();
                assert!(most < left + period, "{setting}, ply {ply}: {most} of {left}");
                in_periods += u32::from(left <= 0.0);
                left = (left - most).max(0.0);
            }
            if period > 0.0 {
                assert!(in_periods > 100, "{setting}: {in_periods} moves in a period");
            } else {
                assert!(left > 0.0, "{setting}: it has run out");
            }
        }
    }

    #[test]
    fn a_period_is_never_overrun() {
        let canadian = |left: f64, stones: u32| {
            clock("canadian 0 30 10", &format!("b {left:.6} {stones}")).allotted(Side::First, 10, 81)
        };
        for stones in 1..=10 {
            let usual = canadian(30.0, stones).usual.expect("less than in doubt");
            assert!(usual * stones <= Duration::from_secs(30), "{stones} stones: {usual:?}");
        }
        // Every move of the period is in doubt.
        let mut left = 30.0;
        for stones in (1..=10).rev() {
            let most = canadian(left, stones).most.expect("there is a clock").as_secs_f64();
            assert!(most < left, "{stones} stones: {most} of {left}");
            left -= most;
        }
        let byoyomi = clock("byoyomi 0 5 3", "").allotted(Side::First, 10, 81);
        assert!(byoyomi.most.is_some_and(|most| most < Duration::from_secs(5)));
    }

    #[test]
    fn a_time_for_each_move_is_used_whole_and_not_exceeded() {
        let second = Duration::from_secs(1);
        let allotted = Clock::new(Some(second), false).allotted(Side::First, 0, 361);
        assert_eq!(allotted, Allotted { most: second.checked_sub(RESERVE), usual: None });
        assert_eq!(
            Clock::new(None, true).allotted(Side::First, 0, 361),
            Allotted { most: None, usual: None }
        );
    }
}
