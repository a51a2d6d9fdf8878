//! What the other program says about time, and what of it a move may take.

use std::time::Duration;

use engine::Side;

use super::{parse, parse_side, seconds};

/// What has been said about time.
pub(super) struct Clock {
    pace: Pace,
    left: [Option<Left>; 2],
    /// The most for a move, whatever the clock says.
    most: Option<Duration>,
    /// Whether playouts end a move when nothing was said.
    by_playouts: bool,
}

#[derive(Clone, Copy)]
enum Pace {
    /// Nothing: a second a move, unless told otherwise on the command line.
    None,
    /// No limit was asked for.
    Free,
    /// So much for the game, then so much for every so many moves.
    Clock { main: Duration, more: Duration, stones: u32 },
}

/// What is left on one side's clock; stones of the present period, 0 in the main time.
#[derive(Clone, Copy)]
struct Left {
    time: Duration,
    stones: u32,
}

/// What a move may take, counted from when it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Allotted {
    /// If the choice is in doubt; `None`: no limit.
    pub(super) most: Option<Duration>,
    /// If it is not.
    pub(super) usual: Option<Duration>,
}

/// Kept back from each move for the way through pipes and the other program's own delays.
const RESERVE: Duration = Duration::from_millis(8);
/// Without any limit.
const DEFAULT_TIME: Duration = Duration::from_secs(1);

impl Clock {
    pub(super) const fn new(most: Option<Duration>, by_playouts: bool) -> Self {
        Self { pace: Pace::None, left: [None; 2], most, by_playouts }
    }

    /// A new game: what is left has to be told again, the pace stays.
    pub(super) const fn begin(&mut self) {
        self.left = [None; 2];
    }

    /// For a move after so many plies on a board of so many points.
    pub(super) fn allotted(&self, side: Side, ply: u32, points: u32) -> Allotted {
        // About so many own moves are to come, never few: a game may go on long after the board is full.
        let to_come = (points * 2 / 5).saturating_sub(ply / 2).max(points / 8).max(4);
        // Beside the share what may be taken at most: of a bank no more than a fifth, of a period all.
        let (share, most) = match (self.pace, self.left[side.index()]) {
            (Pace::None, None) if self.by_playouts || self.most.is_some() => (None, None),
            (Pace::None, None) => (Some(DEFAULT_TIME), None),
            (Pace::Free, _) => (None, None),
            // The last stone of a period may take what is left of it, others lend from those to come.
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
                // The clock is ours to keep when nobody tells what is left: a share of what there was at first.
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
        // Section 4.2: time for no stones means that there is no limit.
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

/// A move in doubt may take so many shares.
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
        for (setting, seconds) in [("absolute 60", 60.0), ("absolute 600", 600.0), ("byoyomi 60 5 3", 60.0)] {
            let mut left = seconds;
            for ply in 0..200 {
                let most = clock(setting, &format!("b {left:.3} 0"))
                    .allotted(Side::First, 2 * ply, 361)
                    .most
                    .expect("there is a clock");
                let period = if setting.starts_with("byoyomi") { 5.0 } else { 0.0 };
                assert!(most.as_secs_f64() <= left + period, "{setting}: {most:?} of {left}");
                left = (left - most.as_secs_f64()).max(0.0);
            }
        }
    }

    #[test]
    fn a_period_is_never_overrun() {
        for stones in 1..=10 {
            let Allotted { most, usual } =
                clock("canadian 0 30 10", &format!("b 30 {stones}")).allotted(Side::First, 10, 81);
            let most = most.expect("there is a clock");
            assert!(most <= Duration::from_secs(30), "{stones} stones: {most:?}");
            assert!(usual.is_none_or(|usual| usual * stones <= Duration::from_secs(30)));
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
