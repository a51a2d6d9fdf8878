//! Small setups, time controls and actions for random play.

use std::time::Duration;

use engine::go::GoSetup;
use engine::lights_out::{LightsOut, LightsOutSetup, Solution, Start};
use engine::xiangqi::{RepetitionRule, XiangqiSetup};
use engine::{
    Action, AnyGame, Game as _, GameKind, GomokuOpening, GomokuRule, GomokuSetup, Point, Setup, Side,
};
use session::{Colours, Command, Instant, MatchId, MatchState, Pace, Terms};

/// Small enough for random play to end by five in a row, by a full board and by neither.
pub(crate) fn small() -> Setup {
    Setup::Gomoku(GomokuSetup { size: 5, ..GomokuSetup::default() })
}

/// A race in which three of four presses lead nearer to the end.
pub(crate) fn small_race() -> Setup {
    let start = Start::Random { columns: 2, rows: 2, seed: 0 };
    Setup::LightsOut(LightsOutSetup { start, race: true, ..LightsOutSetup::default() })
}

/// The legal actions of this side, the best first.
pub(crate) fn choices(state: &MatchState, now: Instant) -> Vec<Action> {
    let Some(race) = state.race(now) else { return state.position().legal_actions() };
    let AnyGame::LightsOut(lights) = &race.board else { panic!("a race is of lights") };
    let best = match lights.solution() {
        Solution::Presses { presses, .. } => presses.points().next().map(Action::Press),
        Solution::Unsolvable => panic!("a race can be finished"),
    };
    best.into_iter().chain(race.board.legal_actions()).collect()
}

/// The presses that solve the starting board of a race, from the record or the own board.
pub(crate) fn solution(race: &MatchState) -> Vec<Action> {
    let Setup::LightsOut(setup) = &race.record().setup else { panic!("it is no race") };
    let board = LightsOut::new(&setup.alone()).expect("it was played on");
    match board.solution() {
        Solution::Presses { presses, .. } => presses.points().map(Action::Press).collect(),
        Solution::Unsolvable => panic!("a race can be finished"),
    }
}

/// A small setup of any game; mostly gomoku, which has the most kinds of ends in random play.
pub(crate) fn any_small(number: u8) -> Setup {
    match number % 12 {
        0 => GameKind::Liuzhou.default_setup(),
        1 => Setup::Go(GoSetup { size: 3, ..GoSetup::default() }),
        2 => {
            let repetition = RepetitionRule::ALL[usize::from(number / 12) % 2];
            Setup::Xiangqi(XiangqiSetup { repetition, ..XiangqiSetup::default() })
        }
        3 => small_race(),
        4 => {
            let opening = GomokuOpening::Swap2;
            Setup::Gomoku(GomokuSetup { size: 5, opening, ..GomokuSetup::default() })
        }
        6 => {
            let opening = [GomokuOpening::Pro, GomokuOpening::Swap][usize::from(number / 12) % 2];
            Setup::Gomoku(GomokuSetup { size: 7, opening, ..GomokuSetup::default() })
        }
        7 => {
            let openings = [GomokuOpening::Taraguchi10, GomokuOpening::Soosorv8, GomokuOpening::Yamaguchi];
            let opening = openings[usize::from(number / 12) % 3];
            Setup::Gomoku(GomokuSetup { rule: GomokuRule::Renju, opening, ..GomokuSetup::default() })
        }
        5 => {
            let start =
                engine::start::Start::read(GameKind::Gomoku, b"5/1w1b1/2b2/1b3/1w3 w").expect("a line");
            small().begin_from(start).expect("a legal start")
        }
        _ => small(),
    }
}

/// Any time control, or none; short enough for flags to fall, and long enough for most not to.
pub(crate) fn any_pace(number: u8) -> Option<Pace> {
    let (second, minute) = (Duration::from_secs(1), Duration::from_mins(1));
    match number % 8 {
        0 => Some(Pace::PerMove { each: minute }),
        1 => Some(Pace::SuddenDeath { main: minute * 5 }),
        2 => Some(Pace::Fischer { main: minute * 2, bonus: second * 20 }),
        3 => Some(Pace::ByoYomi { main: second * 30, period: second * 20, periods: 5 }),
        4 => Some(Pace::Fischer { main: second * 5, bonus: second }),
        _ => None,
    }
}

/// Any colours.
pub(crate) fn any_colours(number: u8) -> Colours {
    match number % 6 {
        0 | 1 => Colours::Random,
        2 => Colours::Alternate(Side::First),
        3 => Colours::Alternate(Side::Second),
        4 => Colours::Mine(Side::First),
        _ => Colours::Mine(Side::Second),
    }
}

/// An invitation to a match without clocks, with this side for the inviter.
pub(crate) fn invite(id: MatchId, setup: Setup, my_side: Side) -> Command {
    let terms = Terms { setup, pace: None, colours: Colours::Mine(my_side), hints: false };
    Command::Invite { id, terms, counters: None }
}

pub(crate) fn place(column: u16, row: u16) -> Action {
    Action::Place(Point::new(column, row))
}
