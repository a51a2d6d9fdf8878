//! The players' clocks, as a function of the time control and the time of each turn.
//!
//! The devices share no time. Each device measures its own player's thinking time, from receiving the position until acting, and
//! records it: message delay costs nobody time, and equal records make equal clocks. The other side measures from acknowledgement
//! to arrival, less half a round trip each way, and tells its person of a difference of more than [`TOLERANCE`]. A clock runs
//! only while both sides are known to hold the same position on a link that is up. The side that detects a drop later has
//! measured more, up to [`UNNOTICED`]; at the next hello the value of the side to move decides.

use std::time::Duration;

use engine::Side;
use proto::{board, limits};

use crate::unreadable::Unreadable;

/// A difference reported to the person: several retransmissions of a bad link.
pub(crate) const TOLERANCE: Duration = Duration::from_secs(2);

/// Longest time between the two sides' detections of a drop (see `liveness`).
pub(crate) const UNNOTICED: Duration = Duration::from_secs(9);

/// A time control, in whole seconds, as on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pace {
    /// A fixed time for each turn; with days, a match by correspondence.
    PerMove {
        /// Not zero.
        each: Duration,
    },
    /// One time for the whole match.
    SuddenDeath {
        /// Not zero.
        main: Duration,
    },
    /// A main time, plus an increment after each turn.
    Fischer {
        /// Not zero.
        main: Duration,
        /// Increment after each turn.
        bonus: Duration,
    },
    /// A main time, then periods: a turn that ends within a period does not use it up.
    ByoYomi {
        /// May be zero.
        main: Duration,
        /// Not zero.
        period: Duration,
        /// At least one.
        periods: u32,
    },
}

/// A clock as shown on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownClock {
    /// Time left of the main time, of this turn (per move), or of this period.
    pub left: Duration,
    /// Whether the clock is in byo-yomi.
    pub byo_yomi: bool,
    /// Byo-yomi: periods left, the present one included.
    pub periods: u32,
    /// Whether the clock is running.
    pub running: bool,
}

impl Pace {
    /// The wire form; `None` is no clock.
    pub fn write(pace: Option<Self>) -> Option<board::Pace> {
        use board::PaceKind as Kind;
        let seconds = |duration: Duration| u32::try_from(duration.as_secs()).unwrap_or(u32::MAX);
        pace.map(|pace| {
            let (kind, main, step, periods) = match pace {
                Self::PerMove { each } => (Kind::PacePerMove, Duration::ZERO, each, 0),
                Self::SuddenDeath { main } => (Kind::PaceSuddenDeath, main, Duration::ZERO, 0),
                Self::Fischer { main, bonus } => (Kind::PaceFischer, main, bonus, 0),
                Self::ByoYomi { main, period, periods } => (Kind::PaceByoYomi, main, period, periods),
            };
            board::Pace { kind: kind.into(), main_s: seconds(main), step_s: seconds(step), periods }
        })
    }

    /// Parses the wire form, within [`limits::PACE_SECONDS`] and [`limits::PACE_PERIODS`].
    pub fn read(pace: Option<&board::Pace>) -> Result<Option<Self>, Unreadable> {
        const WRONG: Unreadable = Unreadable("pace");
        let Some(pace) = pace else { return Ok(None) };
        let seconds = |number: u32| Duration::from_secs(number.into());
        if pace.main_s > limits::PACE_SECONDS || pace.step_s > limits::PACE_SECONDS {
            return Err(WRONG);
        }
        let (main, step) = (seconds(pace.main_s), seconds(pace.step_s));
        let read = match board::PaceKind::try_from(pace.kind).map_err(|_| WRONG)? {
            board::PaceKind::PaceNone => return Ok(None),
            board::PaceKind::PacePerMove => Self::PerMove { each: step },
            board::PaceKind::PaceSuddenDeath => Self::SuddenDeath { main },
            board::PaceKind::PaceFischer => Self::Fischer { main, bonus: step },
            board::PaceKind::PaceByoYomi => Self::ByoYomi { main, period: step, periods: pace.periods },
        };
        let playable = match read {
            Self::PerMove { each } => !each.is_zero(),
            Self::SuddenDeath { main } | Self::Fischer { main, .. } => !main.is_zero(),
            Self::ByoYomi { period, periods, .. } => {
                !period.is_zero() && (1..=limits::PACE_PERIODS).contains(&periods)
            }
        };
        if playable { Ok(Some(read)) } else { Err(WRONG) }
    }
}

/// Both clocks between two actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    pace: Pace,
    /// Each clock at the end of its side's last turn.
    sides: [Clock; 2],
    /// Time of the present turn so far, if a turn has several actions.
    turn: Duration,
}

/// One side's clock between two turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Clock {
    /// Main time left; per move: time for each turn.
    left: Duration,
    /// Byo-yomi: periods left.
    periods: u32,
}

impl Clocks {
    /// Both clocks before the first action.
    pub fn new(pace: Pace) -> Self {
        let (left, periods) = match pace {
            Pace::PerMove { each } => (each, 0),
            Pace::SuddenDeath { main } | Pace::Fischer { main, .. } => (main, 0),
            Pace::ByoYomi { main, periods, .. } => (main, periods),
        };
        Self { pace, sides: [Clock { left, periods }; 2], turn: Duration::ZERO }
    }

    /// Whether this side's flag falls when its present action has taken `spent`.
    pub fn is_over(&self, side: Side, spent: Duration) -> bool {
        self.turn.saturating_add(spent) >= self.budget(side)
    }

    /// The longest time of this side's present action.
    pub fn left_for_action(&self, side: Side) -> Duration {
        self.budget(side).saturating_sub(self.turn)
    }

    /// Both clocks after an action that took `took`, which must be within the time. `turn_ends`: the next decision is the other
    /// side's.
    #[must_use]
    pub fn after(mut self, side: Side, took: Duration, turn_ends: bool) -> Self {
        self.turn = self.turn.saturating_add(took);
        if !turn_ends {
            return self;
        }
        let spent = std::mem::take(&mut self.turn);
        let clock = &mut self.sides[side.index()];
        match self.pace {
            Pace::PerMove { .. } => {}
            Pace::SuddenDeath { .. } => clock.left = clock.left.saturating_sub(spent),
            Pace::Fischer { bonus, .. } => clock.left = clock.left.saturating_sub(spent) + bonus,
            Pace::ByoYomi { period, .. } => {
                let beyond = spent.saturating_sub(clock.left);
                clock.left = clock.left.saturating_sub(spent);
                clock.periods = clock.periods.saturating_sub(whole_periods(beyond, period));
            }
        }
        self
    }

    /// This side's clock. `spent`: the side has the turn, and its present action has taken that long.
    pub fn shown(&self, side: Side, spent: Option<Duration>, running: bool) -> ShownClock {
        let clock = self.sides[side.index()];
        let spent = spent.map_or(Duration::ZERO, |spent| spent.saturating_add(self.turn));
        if let Pace::ByoYomi { period, .. } = self.pace
            && spent >= clock.left
        {
            let beyond = spent.saturating_sub(clock.left);
            let used = whole_periods(beyond, period);
            let periods = clock.periods.saturating_sub(used);
            let left =
                if periods == 0 { Duration::ZERO } else { (period * (used + 1)).saturating_sub(beyond) };
            return ShownClock { left, byo_yomi: true, periods, running };
        }
        let left = clock.left.saturating_sub(spent);
        ShownClock { left, byo_yomi: false, periods: clock.periods, running }
    }

    fn budget(&self, side: Side) -> Duration {
        let clock = self.sides[side.index()];
        match self.pace {
            Pace::ByoYomi { period, .. } => clock.left + period * clock.periods,
            Pace::PerMove { .. } | Pace::SuddenDeath { .. } | Pace::Fischer { .. } => clock.left,
        }
    }
}

fn whole_periods(time: Duration, period: Duration) -> u32 {
    u32::try_from(time.as_millis() / period.as_millis().max(1)).unwrap_or(u32::MAX - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// What the first side's clock shows after turns of so many seconds each, the last of them unfinished.
    fn shown(pace: Pace, turns: &[u64]) -> (u64, bool, u32) {
        let mut clocks = Clocks::new(pace);
        let (last, ended) = turns.split_last().expect("one goes on");
        for turn in ended {
            assert!(!clocks.is_over(Side::First, s(*turn)));
            clocks = clocks.after(Side::First, s(*turn), true);
        }
        let shown = clocks.shown(Side::First, Some(s(*last)), true);
        (shown.left.as_secs(), shown.byo_yomi, shown.periods)
    }

    #[test]
    fn each_pace_counts_as_its_name_says() {
        let each = Pace::PerMove { each: s(30) };
        assert_eq!(shown(each, &[29, 29, 10]), (20, false, 0));
        let sudden = Pace::SuddenDeath { main: s(60) };
        assert_eq!(shown(sudden, &[29, 29, 1]), (1, false, 0));
        let fischer = Pace::Fischer { main: s(60), bonus: s(5) };
        assert_eq!(shown(fischer, &[29, 29, 1]), (11, false, 0));
        let byo_yomi = Pace::ByoYomi { main: s(60), period: s(30), periods: 3 };
        assert_eq!(shown(byo_yomi, &[29, 29, 1]), (1, false, 3));
        assert_eq!(shown(byo_yomi, &[29, 29, 2]), (30, true, 3), "the main time is used up");
        assert_eq!(shown(byo_yomi, &[60, 29, 29, 29, 0]), (30, true, 3), "within a period none is used up");
        assert_eq!(shown(byo_yomi, &[60, 30, 29]), (1, true, 2));
        assert_eq!(shown(byo_yomi, &[60, 65, 0]), (30, true, 1));
    }

    #[test]
    fn a_flag_falls_when_nothing_is_left() {
        for (pace, most) in [
            (Pace::PerMove { each: s(30) }, 30),
            (Pace::SuddenDeath { main: s(60) }, 60),
            (Pace::Fischer { main: s(60), bonus: s(5) }, 60),
            (Pace::ByoYomi { main: s(60), period: s(30), periods: 3 }, 150),
        ] {
            let clocks = Clocks::new(pace);
            assert!(
                !clocks.is_over(Side::Second, s(most).saturating_sub(Duration::from_millis(1))),
                "{pace:?}"
            );
            assert!(clocks.is_over(Side::Second, s(most)), "{pace:?}");
            assert_eq!(clocks.left_for_action(Side::Second), s(most));
            assert_eq!(clocks.shown(Side::Second, Some(s(most)), true).left, Duration::ZERO);
        }
    }

    #[test]
    fn a_turn_of_several_actions_has_one_bonus() {
        let clocks = Clocks::new(Pace::Fischer { main: s(60), bonus: s(5) });
        let clocks = clocks.after(Side::First, s(10), false).after(Side::First, s(10), false);
        assert_eq!(clocks.shown(Side::First, Some(s(3)), true).left, s(37));
        assert!(clocks.is_over(Side::First, s(40)));
        let clocks = clocks.after(Side::First, s(1), true);
        assert_eq!(clocks.shown(Side::First, None, false).left, s(44));
        assert_eq!(clocks.shown(Side::Second, None, false).left, s(60));
    }

    #[test]
    fn paces_read_back_and_what_makes_no_clock_is_refused() {
        let paces = [
            Pace::PerMove { each: s(86_400) },
            Pace::SuddenDeath { main: s(300) },
            Pace::Fischer { main: s(300), bonus: s(0) },
            Pace::ByoYomi { main: s(0), period: s(30), periods: 5 },
        ];
        for pace in paces {
            assert_eq!(Pace::read(Pace::write(Some(pace)).as_ref()), Ok(Some(pace)));
        }
        assert_eq!(Pace::read(Pace::write(None).as_ref()), Ok(None));
        for (kind, main_s, step_s, periods) in [
            (1, 5, 0, 0),
            (2, 0, 5, 0),
            (3, 0, 5, 0),
            (4, 5, 0, 1),
            (4, 5, 5, 0),
            (4, 5, 5, 101),
            (5, 5, 5, 5),
        ] {
            let wrong = board::Pace { kind, main_s, step_s, periods };
            assert!(Pace::read(Some(&wrong)).is_err(), "{wrong:?}");
        }
        let long = board::Pace { kind: 2, main_s: limits::PACE_SECONDS + 1, step_s: 0, periods: 0 };
        assert!(Pace::read(Some(&long)).is_err());
    }
}
