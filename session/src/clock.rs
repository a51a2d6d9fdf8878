//! The players' clocks, as a function of the pace and of what each turn took.
//!
//! Devices share no time. Whoever has the turn measures its own thinking, from the moment in which it had the position until
//! it acted, and that measure is part of the record: what a message takes on its way costs nobody anything, and equal records
//! make equal clocks. The other side watches from acknowledgement to arrival, less half the round trip each, and tells its person of a
//! difference of more than [`TOLERANCE`]. A clock runs only while both are known to hold the same position on a link that
//! stands; who notices a drop later has seen more, up to [`UNNOTICED`], until the next hello settles it by the word of whose
//! turn it is.

use std::time::Duration;

use engine::Side;
use proto::{board, limits};

use crate::wire::Unreadable;

/// A difference that is told: several retransmissions of a bad link.
pub(crate) const TOLERANCE: Duration = Duration::from_secs(2);

/// A drop is noticed after so long on one side and at once on the other (see `liveness`).
pub(crate) const UNNOTICED: Duration = Duration::from_secs(9);

/// How much time the players have. In whole seconds, as on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pace {
    /// As long for each turn; with days, a match by correspondence.
    PerMove {
        /// Not zero.
        each: Duration,
    },
    /// So much for everything.
    SuddenDeath {
        /// Not zero.
        main: Duration,
    },
    /// So much, and something more after each turn.
    Fischer {
        /// Not zero.
        main: Duration,
        /// After each turn.
        bonus: Duration,
    },
    /// So much, then periods: a turn that ends within a period does not use it up.
    ByoYomi {
        /// May be zero.
        main: Duration,
        /// Not zero.
        period: Duration,
        /// At least one.
        periods: u32,
    },
}

/// A clock for the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownClock {
    /// Of the main time, of this turn (per move), or of this period.
    pub left: Duration,
    /// In the periods of byo-yomi.
    pub byo_yomi: bool,
    /// Byo-yomi: how many are left, the present one included.
    pub periods: u32,
    /// Whether it goes down now.
    pub running: bool,
}

impl Pace {
    /// As messages say it; `None` is no clock.
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

    /// As messages say it, within the bounds of [`limits::PACE_SECONDS`] and [`limits::PACE_PERIODS`].
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
    /// As each was when its last turn ended.
    sides: [Clock; 2],
    /// What the turn took so far, where it is of several actions.
    turn: Duration,
}

/// One side's clock between two turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Clock {
    /// Of the main time; per move: of each turn.
    left: Duration,
    /// Byo-yomi: periods left.
    periods: u32,
}

impl Clocks {
    /// Before the first action.
    pub fn new(pace: Pace) -> Self {
        let (left, periods) = match pace {
            Pace::PerMove { each } => (each, 0),
            Pace::SuddenDeath { main } | Pace::Fischer { main, .. } => (main, 0),
            Pace::ByoYomi { main, periods, .. } => (main, periods),
        };
        Self { pace, sides: [Clock { left, periods }; 2], turn: Duration::ZERO }
    }

    /// Whether this side's time is over when its present action has taken so long.
    pub fn is_over(&self, side: Side, spent: Duration) -> bool {
        self.turn.saturating_add(spent) >= self.budget(side)
    }

    /// How much the present action of this side may take in all.
    pub fn left_for_action(&self, side: Side) -> Duration {
        self.budget(side).saturating_sub(self.turn)
    }

    /// After an action that took so long, which must be within the time. `turn_ends`: the next decision is the other's.
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

    /// This side's clock. `spent`: it has the turn, and its present action has taken so long.
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

    /// What the first side's clock shows after turns of so many seconds each; the last one still goes on.
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
