//! The setup of Go.

use std::fmt;
use std::str::FromStr;

use crate::start::Start;
use crate::text::{TextError, words};
use crate::words::numbered;
use crate::{Language, SetupError};

/// The setup of a match of Go.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GoSetup {
    /// Points on a side, within [`Self::SIZES`].
    pub size: u8,
    /// The scoring rule.
    pub scoring: Scoring,
    /// Komi, White's compensation for moving second, in half points, so that 15 means 7.5. An odd number rules out draws.
    /// Chinese rules give 3 3/4 stones on 19 x 19, which is 15; Japanese rules 6.5 points, which is 13.
    pub komi_half_points: u8,
    /// The superko rule.
    pub superko: Superko,
    /// Black's stones before White's first move.
    pub handicap: Handicap,
    /// The position from which the game begins, if it is not the usual one. Not part of the text form.
    pub start: Option<Start>,
}

/// Scoring rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scoring {
    /// Living stones and the points they surround (Chinese rules). White gets a point per handicap stone.
    #[default]
    Area,
    /// Surrounded points, except in seki, and prisoners (Japanese rules of 1989).
    Territory,
}

/// Superko rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Superko {
    /// No move may repeat an earlier board.
    #[default]
    Positional,
    /// No move may repeat an earlier board with the same side to move.
    Situational,
}

/// Black's stones before White's first move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Handicap {
    /// None: Black moves first.
    #[default]
    None,
    /// This number of stones on star points, 2 to 9; White moves first.
    Stars(u8),
    /// This number of stones, 2 to 9, which Black places freely before White's first move.
    Free(u8),
}

impl Handicap {
    /// Number of stones.
    pub const fn stones(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Stars(stones) | Self::Free(stones) => stones,
        }
    }
}

impl Default for GoSetup {
    fn default() -> Self {
        Self {
            size: 19,
            scoring: Scoring::Area,
            komi_half_points: 15,
            superko: Superko::Positional,
            handicap: Handicap::None,
            start: None,
        }
    }
}

impl GoSetup {
    /// Valid sizes. There are 25 column letters without `i`.
    pub const SIZES: std::ops::RangeInclusive<u8> = 2..=25;

    /// Columns and rows of handicap stones on star points, in the order of the GTP specification, version 2, 4.1.1; `None`
    /// where it defines none: below 7 x 7, and for more than four stones on even sizes and on 7 x 7.
    pub(crate) fn stars(&self, stones: u8) -> Option<Vec<(u8, u8)>> {
        let size = self.size;
        let most = if size < 7 {
            0
        } else if size.is_multiple_of(2) || size == 7 {
            4
        } else {
            9
        };
        if !(2..=most).contains(&stones) {
            return None;
        }
        // Third line up to 12 x 12, fourth line beyond.
        let low = if size < 13 { 2 } else { 3 };
        let (high, middle) = (size - 1 - low, size / 2);
        let corners = [(low, low), (high, high), (low, high), (high, low)];
        let sides = [(low, middle), (high, middle), (middle, low), (middle, high)];
        // With five, seven or nine stones, the last is in the centre.
        let in_the_middle = stones >= 5 && stones % 2 == 1;
        let around = usize::from(stones) - usize::from(in_the_middle);
        let mut list: Vec<(u8, u8)> = corners.into_iter().chain(sides).take(around).collect();
        if in_the_middle {
            list.push((middle, middle));
        }
        Some(list)
    }

    pub(super) fn check(&self) -> Result<(), SetupError> {
        if !Self::SIZES.contains(&self.size) {
            return Err(SetupError("go is played on 2 x 2 to 25 x 25"));
        }
        match self.handicap {
            Handicap::Stars(stones) if self.stars(stones).is_none() => {
                Err(SetupError("the board has no star points for so many stones"))
            }
            Handicap::Free(stones) if !(2..=9).contains(&stones) => {
                Err(SetupError("a handicap is 2 to 9 stones"))
            }
            // Limited, so that White has somewhere to move.
            Handicap::Free(stones)
                if u16::from(stones) >= u16::from(self.size) * u16::from(self.size) - 1 =>
            {
                Err(SetupError("the handicap leaves no room on the board"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn rule_sheet(&self, language: Language) -> String {
        let pick = |chinese: &'static str, english: &'static str| language.pick(chinese, english).to_owned();
        let chinese = language == Language::Chinese;
        let size = self.size;
        let komi = points_text(self.komi_half_points.into());
        let stones = self.handicap.stones();
        let mut sentences = vec![
            pick("目标：围住比对方更多的地盘。", "The aim: surround more of the board than the other side."),
            match (self.handicap, chinese) {
                (Handicap::None, true) => format!("棋盘 {size} 路，黑先，轮流下一子或停一手。"),
                (Handicap::None, false) => {
                    format!(
                        "The board is {size} x {size}. Black goes first; each turn places a stone or passes."
                    )
                }
                (Handicap::Stars(_), true) => {
                    format!("棋盘 {size} 路，黑在星位先摆 {stones} 子，白先，轮流下一子或停一手。")
                }
                (Handicap::Stars(_), false) => format!(
                    "The board is {size} x {size}. Black has {stones} stones on star points and White goes first; each turn places a stone or passes."
                ),
                (Handicap::Free(_), true) => {
                    format!("棋盘 {size} 路，黑先任意摆 {stones} 子，然后白先，轮流下一子或停一手。")
                }
                (Handicap::Free(_), false) => format!(
                    "The board is {size} x {size}. Black places {stones} stones anywhere, then White goes first; each turn places a stone or passes."
                ),
            },
            pick(
                "棋子旁边的空点是气，连在一起的子共用气。没有气的子提掉；不得自杀。",
                "The free points next to a stone are its liberties, and stones that are joined share them. Stones without a liberty are captured; suicide is forbidden.",
            ),
            pick(
                "有两只真眼的棋是活棋：它围住两处分开的空点，对方不能同时占住。",
                "A group with two eyes is alive: it surrounds two separate empty places, which cannot both be filled.",
            ),
            match self.superko {
                Superko::Positional => pick(
                    "全局不得同形：任何一手不得使盘面回到以前出现过的样子。",
                    "No move may make the board look as it did before (positional superko).",
                ),
                Superko::Situational => pick(
                    "全局不得同形：任何一手不得使盘面和轮走方都回到以前出现过的样子。",
                    "No move may make the board look as it did before with the same side to move (situational superko).",
                ),
            },
            pick(
                "连停两手后双方点出死子，就是做不活的子。都同意同一结果即计算胜负；也可以要求继续下，由对方先走。",
                "After two passes in a row both mark the dead stones: those that cannot live. When both agree, the game is counted; or either side resumes play, and the other moves first.",
            ),
        ];
        sentences.push(match (self.scoring, chinese) {
            (Scoring::Area, true) => format!("数子：活子和围住的空点都算，黑贴白 {komi} 目。"),
            (Scoring::Area, false) => {
                format!("Area counts: living stones and the points they surround. White gets {komi} more (komi) for going second.")
            }
            (Scoring::Territory, true) => {
                format!("数目：围住的空点（双活中的不算）和提子都算，黑贴白 {komi} 目。")
            }
            (Scoring::Territory, false) => format!(
                "Territory counts: surrounded points, except in seki, and captured stones. White gets {komi} more (komi) for going second."
            ),
        });
        if stones > 0 && self.scoring == Scoring::Area {
            sentences.push(if chinese {
                format!("让子棋，白再加 {stones} 目。")
            } else {
                format!("For the handicap White gets {stones} more points.")
            });
        }
        numbered(&sentences)
    }
}

/// Size, followed by options with other than default values: `9`, `13 territory komi=6.5`, `19 superko=situational
/// handicap=4`, `9 free=2`.
impl fmt::Display for GoSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usual = Self::default();
        write!(f, "{}", self.size)?;
        if self.scoring == Scoring::Territory {
            write!(f, " territory")?;
        }
        if self.komi_half_points != usual.komi_half_points {
            write!(f, " komi={}", points_text(self.komi_half_points.into()))?;
        }
        if self.superko == Superko::Situational {
            write!(f, " superko=situational")?;
        }
        match self.handicap {
            Handicap::None => Ok(()),
            Handicap::Stars(stones) => write!(f, " handicap={stones}"),
            Handicap::Free(stones) => write!(f, " free={stones}"),
        }
    }
}

/// Half points as a number of points: `7.5`.
pub(crate) fn points_text(half_points: u32) -> String {
    format!("{}{}", half_points / 2, if half_points % 2 == 1 { ".5" } else { "" })
}

/// Parses a number of points in halves; returns half points.
pub(crate) fn read_points(text: &str) -> Option<u8> {
    let (whole, half) = match text.split_once('.') {
        None => (text, 0),
        Some((whole, fraction)) => match fraction.trim_end_matches('0') {
            "" => (whole, 0),
            "5" => (whole, 1),
            _ => return None,
        },
    };
    let whole: u8 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    whole.checked_mul(2)?.checked_add(half)
}

/// Parses the format of `Display`, in any order, and also `area` and `superko=positional`.
impl FromStr for GoSetup {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let mut setup = Self::default();
        for (at, word) in words(text) {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let wrong = |expected| TextError::at(text, at + name.len() + 1, expected);
            let stones = || value.parse().map_err(|_| wrong("a number of stones"));
            match (name, value) {
                ("area", "") => setup.scoring = Scoring::Area,
                ("territory", "") => setup.scoring = Scoring::Territory,
                ("komi", value) => {
                    setup.komi_half_points =
                        read_points(value).ok_or_else(|| wrong("0 to 127.5 points, in halves"))?;
                }
                ("superko", "positional") => setup.superko = Superko::Positional,
                ("superko", "situational") => setup.superko = Superko::Situational,
                ("superko", _) => return Err(wrong("positional or situational")),
                ("handicap", _) => setup.handicap = Handicap::Stars(stones()?),
                ("free", _) => setup.handicap = Handicap::Free(stones()?),
                (size, "") if size.parse::<u8>().is_ok() => {
                    setup.size = size.parse().expect("it was just parsed");
                }
                _ => {
                    let expected = "a size, area, territory, komi=, superko=, handicap= or free=";
                    return Err(TextError::at(text, at, expected));
                }
            }
        }
        setup.check().map_err(|error| TextError::at(text, 0, error.0))?;
        Ok(setup)
    }
}
