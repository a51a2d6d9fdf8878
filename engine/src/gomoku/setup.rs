//! The setup of gomoku.

use std::fmt;
use std::str::FromStr;

use crate::start::Start;
use crate::text::{TextError, words};
use crate::words::numbered;
use crate::{Language, SetupError};

/// Which lines win.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GomokuRule {
    /// Five or more.
    #[default]
    Freestyle,
    /// Exactly five; six or more do not win.
    Standard,
    /// Exactly five for Black, for whom overlines, double fours and double threes are forbidden; five or more for White.
    Renju,
}

impl GomokuRule {
    /// All rules, in the order of menus.
    pub const ALL: [Self; 3] = [Self::Freestyle, Self::Standard, Self::Renju];

    /// The name in words for players.
    pub const fn name(self, language: Language) -> &'static str {
        match self {
            Self::Freestyle => language.pick("自由规则", "Freestyle"),
            Self::Standard => language.pick("标准规则", "Standard"),
            Self::Renju => language.pick("连珠规则", "Renju"),
        }
    }

    /// The name on command lines and in files: `renju`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Freestyle => "freestyle",
            Self::Standard => "standard",
            Self::Renju => "renju",
        }
    }
}

/// The opening rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GomokuOpening {
    /// No restriction.
    #[default]
    Free,
    /// Swap2: the players choose colours after three or five stones.
    Swap2,
}

impl GomokuOpening {
    /// All opening rules, in the order of menus.
    pub const ALL: [Self; 2] = [Self::Free, Self::Swap2];

    /// The name in words for players.
    pub const fn name(self, language: Language) -> &'static str {
        match self {
            Self::Free => language.pick("自由开局", "Free opening"),
            Self::Swap2 => language.pick("Swap2 开局", "Swap2"),
        }
    }
}

/// The setup of a match of gomoku.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GomokuSetup {
    /// Points on a side, within [`Self::SIZES`]. 15 is the international standard; Gomocup uses 15 and 20, Go boards have 13
    /// or 19.
    pub size: u8,
    /// Which lines win.
    pub rule: GomokuRule,
    /// Whether a line along an edge of the board wins. Off is a house rule of the original design.
    pub edge_five_wins: bool,
    /// The opening rule.
    pub opening: GomokuOpening,
    /// The position from which the game begins, if it is not the empty board. Not part of the text form.
    pub start: Option<Start>,
}

impl Default for GomokuSetup {
    fn default() -> Self {
        Self {
            size: 15,
            rule: GomokuRule::Freestyle,
            edge_five_wins: true,
            opening: GomokuOpening::Free,
            start: None,
        }
    }
}

impl GomokuSetup {
    /// Valid sizes. Below 5 no five fits; above 20 (the maximum at Gomocup) a line with margins would exceed the 64 bits of
    /// the bot's representation.
    pub const SIZES: std::ops::RangeInclusive<u8> = 5..=20;

    pub(super) fn check(&self) -> Result<(), SetupError> {
        if Self::SIZES.contains(&self.size) {
            Ok(())
        } else {
            Err(SetupError("gomoku is played on 5 x 5 to 20 x 20"))
        }
    }

    pub(super) fn rule_sheet(&self, language: Language) -> String {
        let size = self.size;
        let pick = |chinese: &'static str, english: &'static str| language.pick(chinese, english).to_owned();
        let mut sentences = vec![
            pick("目标：先把五枚棋子连成一线。", "The aim: be first to get five stones in a row."),
            match language {
                Language::Chinese => format!("棋盘 {size} × {size}，黑先白后，轮流在空点下一子。"),
                Language::English => {
                    format!(
                        "The board is {size} x {size}. Black goes first; each turn places one stone on an empty point."
                    )
                }
            },
            match self.rule {
                GomokuRule::Freestyle => pick(
                    "横、竖或斜先连成五子或更多者胜（自由规则）。",
                    "The first row of five or more stones wins: across, down or diagonally (freestyle).",
                ),
                GomokuRule::Renju => pick(
                    "横、竖或斜先连成五子者胜（连珠规则）：黑须恰好五子，白五子或更多。",
                    "The first row of five wins: across, down or diagonally (renju). Black needs exactly five, White five or more.",
                ),
                GomokuRule::Standard => pick(
                    "横、竖或斜先恰好连成五子者胜，六子或更多不算（标准规则）。",
                    "The first row of exactly five stones wins: across, down or diagonally. Six or more do not count (standard).",
                ),
            },
        ];
        if self.rule == GomokuRule::Renju {
            sentences.push(pick(
                "黑有禁手：长连（六子或更多）、四四、三三。下在禁手点者负，但同时成五则胜。能以合法的一手成为活四的才算活三。白无禁手。",
                "Black may not make a row of six or more (overline), two fours at once, or two open threes at once. A move that does loses, unless it also makes five. A three counts only if a legal move can make it an open four. White may do all of this.",
            ));
        }
        match self.opening {
            GomokuOpening::Free => {}
            GomokuOpening::Swap2 => sentences.push(pick(
                "Swap2 开局：先手方摆黑、白、黑三子；后手方选择执白续下、执黑，或再摆白、黑两子后由先手方选色。之后轮到白下。",
                "Swap2: the first player places a black, a white and a black stone. The second player then plays White and continues, or plays Black, or places one more white and one more black stone and lets the first player choose a colour. White plays next.",
            )),
        }
        if !self.edge_five_wins {
            sentences.push(pick(
                "整条连线都在棋盘最外边上的不算。",
                "A row that lies wholly on an edge of the board does not count.",
            ));
        }
        sentences.push(pick("棋盘下满而无人获胜为和棋。", "A full board without a winner is a draw."));
        numbered(&sentences)
    }
}

/// Size and rule, followed by options with other than default values: `15 freestyle`, `15 renju swap2`, `19 standard
/// no-edge`.
impl fmt::Display for GomokuSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.size, self.rule.word())?;
        if !self.edge_five_wins {
            write!(f, " no-edge")?;
        }
        if self.opening == GomokuOpening::Swap2 {
            write!(f, " swap2")?;
        }
        Ok(())
    }
}

/// Parses the format of `Display`, in any order; missing options have defaults.
impl FromStr for GomokuSetup {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let mut setup = Self::default();
        for (at, word) in words(text) {
            match word {
                "no-edge" => setup.edge_five_wins = false,
                "swap2" => setup.opening = GomokuOpening::Swap2,
                _ => {
                    let rule = GomokuRule::ALL.into_iter().find(|rule| rule.word() == word);
                    match (rule, word.parse()) {
                        (Some(rule), _) => setup.rule = rule,
                        (None, Ok(size)) if Self::SIZES.contains(&size) => setup.size = size,
                        _ => {
                            let expected = "a size of 5 to 20, freestyle, standard, renju, no-edge or swap2";
                            return Err(TextError::at(text, at, expected));
                        }
                    }
                }
            }
        }
        Ok(setup)
    }
}
