//! The setup of Liuzhou chess. Local rules differ, so everything that differs is an option, and three published rule sets
//! are presets.

use std::fmt;
use std::str::FromStr;

use super::{Formation, FormationKind};
use crate::start::Start;
use crate::text::{TextError, words};
use crate::words::numbered;
use crate::{Language, SetupError};

/// The setup of a match of Liuzhou chess. The default is the Fengyang rules.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LiuzhouSetup {
    /// Captures for a move that makes several formations.
    pub several: SeveralFormations,
    /// Captures for a whole edge, 0 to 3. With 0 an edge is no formation: it neither captures nor protects.
    pub edge_six: u8,
    /// Captures for any other six, 2 or 3.
    pub inner_six: u8,
    /// Whether lines along diagonals, including the main ones, are formations.
    pub diagonals: bool,
    /// Whether stones in complete formations may be captured.
    pub safety: Safety,
    /// What happens to a side without a step.
    pub blocked: Blocked,
    /// A side with at most this many live stones loses: 3, 2 or 0.
    pub loses_at: u8,
    /// Plies (steps and passes) without a capture in the moving phase that make a draw.
    pub quiet_limit: Option<u16>,
    /// Plies (steps and passes) in the moving phase that make a draw.
    pub total_limit: Option<u16>,
    /// Whether a stone may step straight back into the formation that it has just left.
    pub step_back: StepBack,
    /// Who removes a stone when the board is full without captures.
    pub forced_removal: ForcedRemoval,
    /// The position from which the game begins, if it is not the empty board. Not part of the text form.
    pub start: Option<Start>,
}

/// Captures for a move that makes several formations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SeveralFormations {
    /// The sum of all.
    #[default]
    Sum,
    /// The maximum.
    Highest,
}

/// Whether stones in complete formations may be captured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Safety {
    /// Only if all live stones of that side are in formations.
    #[default]
    UnlessNoOther,
    /// Never; captures without other targets lapse.
    Always,
    /// Always: formations protect nothing.
    Never,
}

/// What happens to a side without a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Blocked {
    /// Each side removes an enemy stone, repeatedly until there is a step.
    #[default]
    Removal,
    /// It loses.
    Loses,
    /// It passes.
    Passes,
}

/// Whether a stone may step straight back into the formation that it has just left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StepBack {
    /// Yes, and it captures again.
    #[default]
    Allowed,
    /// Not with the next move of the same side.
    NotAtOnce,
}

/// Who removes a stone of the other side when the board is full without captures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ForcedRemoval {
    /// Black, then White.
    #[default]
    FirstThenSecond,
    /// White, then Black.
    SecondThenFirst,
    /// White only.
    OnlySecond,
}

/// A named set of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preset {
    /// 凤阳, the default.
    Fengyang,
    /// 山东.
    Shandong,
    /// 淮南.
    Huainan,
}

impl Preset {
    /// All presets, in the order of menus.
    pub const ALL: [Self; 3] = [Self::Fengyang, Self::Shandong, Self::Huainan];

    /// The name in words for players.
    pub const fn name(self, language: Language) -> &'static str {
        match self {
            Self::Fengyang => language.pick("凤阳", "Fengyang"),
            Self::Shandong => language.pick("山东", "Shandong"),
            Self::Huainan => language.pick("淮南", "Huainan"),
        }
    }

    /// The name on command lines and in files: `fengyang`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fengyang => "fengyang",
            Self::Shandong => "shandong",
            Self::Huainan => "huainan",
        }
    }

    /// The setup of the preset.
    pub fn setup(self) -> LiuzhouSetup {
        let fengyang = LiuzhouSetup {
            several: SeveralFormations::Sum,
            edge_six: 0,
            inner_six: 3,
            diagonals: true,
            safety: Safety::UnlessNoOther,
            blocked: Blocked::Removal,
            loses_at: 3,
            quiet_limit: Some(60),
            total_limit: None,
            step_back: StepBack::Allowed,
            forced_removal: ForcedRemoval::FirstThenSecond,
            start: None,
        };
        match self {
            Self::Fengyang => fengyang,
            Self::Shandong => LiuzhouSetup {
                edge_six: 2,
                inner_six: 2,
                diagonals: false,
                loses_at: 0,
                quiet_limit: Some(36),
                total_limit: Some(144),
                forced_removal: ForcedRemoval::SecondThenFirst,
                ..fengyang
            },
            Self::Huainan => LiuzhouSetup { edge_six: 1, inner_six: 2, ..fengyang },
        }
    }
}

impl Default for LiuzhouSetup {
    fn default() -> Self {
        Preset::Fengyang.setup()
    }
}

impl LiuzhouSetup {
    /// Valid limits in plies. Beyond 1,000 a record would not fit a message between devices.
    pub const LIMITS: std::ops::RangeInclusive<u16> = 1..=1000;

    /// The preset that is equal to this setup, if any.
    pub fn preset(&self) -> Option<Preset> {
        let rules = Self { start: None, ..self.clone() };
        Preset::ALL.into_iter().find(|preset| preset.setup() == rules)
    }

    /// Captures for a formation; 0 if it does not count by these rules.
    pub fn captures(&self, formation: &Formation) -> u8 {
        match formation.kind {
            _ if formation.diagonal && !self.diagonals => 0,
            FormationKind::Six => self.inner_six,
            FormationKind::EdgeSix => self.edge_six,
            FormationKind::DiagonalFive => 2,
            FormationKind::DiagonalFour | FormationKind::DiagonalThree | FormationKind::Square => 1,
        }
    }

    pub(super) fn check(&self) -> Result<(), SetupError> {
        let limits = [self.quiet_limit, self.total_limit];
        if self.edge_six > 3 {
            Err(SetupError("an edge line captures 0 to 3 stones"))
        } else if !(2..=3).contains(&self.inner_six) {
            Err(SetupError("a six captures 2 or 3 stones"))
        } else if ![0, 2, 3].contains(&self.loses_at) {
            Err(SetupError("a side loses at 3, 2 or no stones"))
        } else if limits.iter().flatten().any(|limit| !Self::LIMITS.contains(limit)) {
            Err(SetupError("a limit of plies is 1 to 1,000"))
        } else {
            Ok(())
        }
    }

    pub(super) fn rule_sheet(&self, language: Language) -> String {
        let pick = |chinese: &'static str, english: &'static str| language.pick(chinese, english).to_owned();
        let chinese = language == Language::Chinese;
        let mut sentences = vec![pick(
            "目标：摆出各种城，吃对方的子，吃到对方剩子太少。",
            "The aim: make formations, capture stones, and leave the other side too few.",
        )];
        sentences.push(pick(
            "棋盘 6 × 6 点，各 18 子。黑先，轮流在空点放一子，放完为止。",
            "The board has 6 x 6 points and each side has 18 stones. Black goes first; the sides take turns placing a stone on an empty point until all are placed.",
        ));
        sentences.push(match (chinese, self.diagonals) {
            (true, true) => format!(
                "成城吃子：整行、整列或长斜线成六吃 {} 子，斜五吃 2，斜四、斜三、成方各吃 1。",
                self.inner_six
            ),
            (false, true) => format!(
                "Formations capture stones: a six (a whole row, column or long diagonal) {}, a diagonal five 2; a diagonal four, a diagonal three and a square 1 each.",
                self.inner_six
            ),
            (true, false) => {
                format!("成城吃子：整行或整列成六吃 {} 子，成方吃 1；斜线不算。", self.inner_six)
            }
            (false, false) => format!(
                "Formations capture stones: a six (a whole row or column) {}, a square 1. Diagonals do not count.",
                self.inner_six
            ),
        });
        sentences.push(match (chinese, self.edge_six) {
            (true, 0) => "四条边线成六不算。".into(),
            (false, 0) => "A line along an edge does not count.".into(),
            (true, n) => format!("四条边线成六吃 {n} 子。"),
            (false, n) => format!("A whole line along an edge captures {n}."),
        });
        sentences.push(match self.several {
            SeveralFormations::Sum => pick(
                "一步成几城，吃子数相加。",
                "A move that makes several formations captures for all of them.",
            ),
            SeveralFormations::Highest => pick(
                "一步成几城，只按最大的吃子。",
                "A move that makes several formations captures for the highest only.",
            ),
        });
        sentences.push(match self.safety {
            Safety::UnlessNoOther => pick(
                "必须吃子，由吃的一方选；不吃城里的子，除非别无可吃。",
                "You must capture, and choose which stone; stones in a complete formation are safe unless there are no others.",
            ),
            Safety::Always => pick(
                "必须吃子，由吃的一方选；城里的子不能吃，别无可吃则作罢。",
                "You must capture, and choose which stone; stones in a complete formation are always safe, and if there are no others nothing is captured.",
            ),
            Safety::Never => pick(
                "必须吃子，由吃的一方任选，城里的子也可以吃。",
                "You must capture, and choose any stone, even one in a formation.",
            ),
        });
        sentences.push(pick(
            "放子时吃的子先作记号，占着点但不算子；放完后一齐拿走。",
            "A stone captured while placing is only marked: it keeps its point and counts for nobody. When all stones are placed the marked ones are lifted together.",
        ));
        sentences.push(match self.forced_removal {
            ForcedRemoval::FirstThenSecond => pick(
                "放满而无子被吃：黑先去一枚白子，白再去一枚黑子。",
                "If the board is full and nothing was captured, Black removes a white stone, then White a black one.",
            ),
            ForcedRemoval::SecondThenFirst => pick(
                "放满而无子被吃：白先去一枚黑子，黑再去一枚白子。",
                "If the board is full and nothing was captured, White removes a black stone, then Black a white one.",
            ),
            ForcedRemoval::OnlySecond => pick(
                "放满而无子被吃：白去一枚黑子。",
                "If the board is full and nothing was captured, White removes a black stone.",
            ),
        });
        sentences.push(match self.step_back {
            StepBack::Allowed => pick(
                "然后白先走，轮流沿线走一步到相邻空点；走出再走回重新成城也可以。",
                "Then White moves first; the sides take turns moving one stone one step along a line to an empty point. Moving out and back makes the formation again.",
            ),
            StepBack::NotAtOnce => pick(
                "然后白先走，轮流沿线走一步到相邻空点；刚走出城的子，下一步不得走回原城。",
                "Then White moves first; the sides take turns moving one stone one step along a line to an empty point. A stone may not move straight back into the formation it has just left.",
            ),
        });
        sentences.push(match self.blocked {
            Blocked::Removal => pick(
                "无路可走的一方去掉对方一子，对方也去掉这一方一子，直到能走。",
                "A side that cannot move removes one enemy stone; the other side then removes one in return, until a move is possible.",
            ),
            Blocked::Loses => pick("无路可走者负。", "A side that cannot move loses."),
            Blocked::Passes => pick("无路可走者停一手。", "A side that cannot move passes."),
        });
        sentences.push(match (chinese, self.loses_at) {
            (true, 0) => "走子时子被吃光者负。".into(),
            (false, 0) => "Once stones move, a side without stones loses.".into(),
            (true, n) => format!("走子时只剩 {n} 子或更少者负；拿走记号子后双方都是如此则和。"),
            (false, n) => format!(
                "Once stones move, a side with {n} stones or fewer loses; if both are right after the lifting, it is a draw."
            ),
        });
        sentences.push(pick(
            "同一局面同一方走第三次出现为和。",
            "The same position with the same side to move for the third time is a draw.",
        ));
        if let Some(limit) = self.quiet_limit {
            sentences.push(if chinese {
                format!("连续 {limit} 步无吃子为和。")
            } else {
                format!("So are {limit} half-moves without a capture.")
            });
        }
        if let Some(limit) = self.total_limit {
            sentences.push(if chinese {
                format!("走子满 {limit} 步为和。")
            } else {
                format!("So are {limit} half-moves in all once stones move.")
            });
        }
        numbered(&sentences)
    }
}

/// An option as text: its word, how it is written and how it is parsed. `read` returns false for an unknown value.
struct OptionText {
    word: &'static str,
    write: fn(&LiuzhouSetup) -> String,
    read: fn(&mut LiuzhouSetup, &str) -> bool,
}

/// Sets `place` to the value with this word; false if there is none.
fn choose<T: Copy>(place: &mut T, value: &str, values: &[(&str, T)]) -> bool {
    let found = values.iter().find(|(word, _)| *word == value);
    found.is_some_and(|&(_, chosen)| {
        *place = chosen;
        true
    })
}

/// The word of this value.
fn word_of<T: PartialEq>(value: &T, values: &[(&'static str, T)]) -> String {
    let found = values.iter().find(|(_, listed)| listed == value);
    found.expect("every value of the option is listed").0.to_owned()
}

const SEVERAL: &[(&str, SeveralFormations)] =
    &[("sum", SeveralFormations::Sum), ("highest", SeveralFormations::Highest)];
const ON_OFF: &[(&str, bool)] = &[("on", true), ("off", false)];
const SAFETY: &[(&str, Safety)] =
    &[("unless-last", Safety::UnlessNoOther), ("always", Safety::Always), ("never", Safety::Never)];
const BLOCKED: &[(&str, Blocked)] =
    &[("removal", Blocked::Removal), ("loses", Blocked::Loses), ("passes", Blocked::Passes)];
const BACK: &[(&str, StepBack)] = &[("allowed", StepBack::Allowed), ("not-at-once", StepBack::NotAtOnce)];
const REMOVAL: &[(&str, ForcedRemoval)] = &[
    ("first", ForcedRemoval::FirstThenSecond),
    ("second", ForcedRemoval::SecondThenFirst),
    ("only-second", ForcedRemoval::OnlySecond),
];

fn number(place: &mut u8, value: &str) -> bool {
    value.parse().map(|number| *place = number).is_ok()
}

fn write_limit(limit: Option<u16>) -> String {
    limit.map_or_else(|| "off".into(), |limit| limit.to_string())
}

fn read_limit(place: &mut Option<u16>, value: &str) -> bool {
    if value == "off" {
        *place = None;
        return true;
    }
    value.parse().map(|limit| *place = Some(limit)).is_ok()
}

const OPTIONS: [OptionText; 11] = [
    OptionText {
        word: "several",
        write: |s| word_of(&s.several, SEVERAL),
        read: |s, v| choose(&mut s.several, v, SEVERAL),
    },
    OptionText {
        word: "edge-six",
        write: |s| s.edge_six.to_string(),
        read: |s, v| number(&mut s.edge_six, v),
    },
    OptionText {
        word: "inner-six",
        write: |s| s.inner_six.to_string(),
        read: |s, v| number(&mut s.inner_six, v),
    },
    OptionText {
        word: "diagonals",
        write: |s| word_of(&s.diagonals, ON_OFF),
        read: |s, v| choose(&mut s.diagonals, v, ON_OFF),
    },
    OptionText {
        word: "safe",
        write: |s| word_of(&s.safety, SAFETY),
        read: |s, v| choose(&mut s.safety, v, SAFETY),
    },
    OptionText {
        word: "blocked",
        write: |s| word_of(&s.blocked, BLOCKED),
        read: |s, v| choose(&mut s.blocked, v, BLOCKED),
    },
    OptionText {
        word: "loses-at",
        write: |s| s.loses_at.to_string(),
        read: |s, v| number(&mut s.loses_at, v),
    },
    OptionText {
        word: "quiet",
        write: |s| write_limit(s.quiet_limit),
        read: |s, v| read_limit(&mut s.quiet_limit, v),
    },
    OptionText {
        word: "total",
        write: |s| write_limit(s.total_limit),
        read: |s, v| read_limit(&mut s.total_limit, v),
    },
    OptionText {
        word: "back",
        write: |s| word_of(&s.step_back, BACK),
        read: |s, v| choose(&mut s.step_back, v, BACK),
    },
    OptionText {
        word: "removal",
        write: |s| word_of(&s.forced_removal, REMOVAL),
        read: |s, v| choose(&mut s.forced_removal, v, REMOVAL),
    },
];

/// The preset's word, or `fengyang` followed by the options that differ from it: `fengyang safe=never quiet=off`.
impl fmt::Display for LiuzhouSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(preset) = self.preset() {
            return f.write_str(preset.word());
        }
        let base = LiuzhouSetup::default();
        f.write_str(Preset::Fengyang.word())?;
        for option in &OPTIONS {
            let value = (option.write)(self);
            if value != (option.write)(&base) {
                write!(f, " {}={value}", option.word)?;
            }
        }
        Ok(())
    }
}

/// Parses a preset's word (default: `fengyang`) followed by options in any order: `shandong quiet=off`.
impl FromStr for LiuzhouSetup {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let mut setup = Self::default();
        for (n, (at, word)) in words(text).enumerate() {
            if let Some((name, value)) = word.split_once('=') {
                let option = OPTIONS.iter().find(|option| option.word == name);
                let option = option.ok_or(TextError::at(text, at, "an option such as several=highest"))?;
                if !(option.read)(&mut setup, value) {
                    return Err(TextError::at(text, at + name.len() + 1, "a value of this option"));
                }
            } else {
                let preset = Preset::ALL.into_iter().find(|preset| n == 0 && preset.word() == word);
                setup = preset
                    .ok_or(TextError::at(text, at, "fengyang, shandong or huainan, then options"))?
                    .setup();
            }
        }
        setup.check().map_err(|error| TextError::at(text, 0, error.0))?;
        Ok(setup)
    }
}
