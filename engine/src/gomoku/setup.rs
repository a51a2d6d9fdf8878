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
    /// Pro: the first stone on the centre, Black's second outside the central 5 x 5.
    Pro,
    /// Long Pro: the same with 7 x 7.
    LongPro,
    /// Swap: the second player chooses a colour after three stones.
    Swap,
    /// Renju's Taraguchi-10: a choice of colours after each of five stones, or ten fifth moves.
    Taraguchi10,
    /// Renju's Soosõrv-8: choices of colours after three and four stones, and up to eight fifth moves.
    Soosorv8,
    /// Renju's Yamaguchi: a choice of colours after three stones, and as many fifth moves as the first player says.
    Yamaguchi,
}

impl GomokuOpening {
    /// All opening rules, in the order of menus.
    pub const ALL: [Self; 8] = [
        Self::Free,
        Self::Pro,
        Self::LongPro,
        Self::Swap,
        Self::Swap2,
        Self::Taraguchi10,
        Self::Soosorv8,
        Self::Yamaguchi,
    ];

    /// The name in words for players.
    pub const fn title(self, language: Language) -> &'static str {
        match self {
            Self::Free => language.pick("自由开局", "Free"),
            Self::Pro => "Pro",
            Self::LongPro => "Long Pro",
            Self::Swap => "Swap",
            Self::Swap2 => "Swap2",
            Self::Taraguchi10 => language.pick("塔拉山口-10", "Taraguchi-10"),
            Self::Soosorv8 => language.pick("索索夫-8", "Soosõrv-8"),
            Self::Yamaguchi => language.pick("山口", "Yamaguchi"),
        }
    }

    /// The name on command lines and in files: `swap2`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Pro => "pro",
            Self::LongPro => "long-pro",
            Self::Swap => "swap",
            Self::Swap2 => "swap2",
            Self::Taraguchi10 => "taraguchi-10",
            Self::Soosorv8 => "soosorv-8",
            Self::Yamaguchi => "yamaguchi",
        }
    }

    /// The opening rule with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|opening| opening.word() == word)
    }

    /// Whether it is one of renju's, for its rules and its board.
    pub const fn is_of_renju(self) -> bool {
        matches!(self, Self::Taraguchi10 | Self::Soosorv8 | Self::Yamaguchi)
    }
}

/// Why an opening does not fit the rule or the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    NoRoomForPro,
    NoRoomForLongPro,
    NotRenju,
    NotRenjusBoard,
}

impl Misfit {
    /// The reason as a sentence for players.
    pub(crate) const fn words(self, language: Language) -> &'static str {
        match self {
            Self::NoRoomForPro => language.pick(
                "Pro 开局要有天元，中央 5 × 5 之外还要有点：请选 7 以上的单数棋盘。",
                "The opening Pro needs a centre point and points outside 5 x 5: choose a board of an odd size from 7 on.",
            ),
            Self::NoRoomForLongPro => language.pick(
                "Long Pro 开局要有天元，中央 7 × 7 之外还要有点：请选 9 以上的单数棋盘。",
                "The opening Long Pro needs a centre point and points outside 7 x 7: choose a board of an odd size from 9 on.",
            ),
            Self::NotRenju => {
                language.pick("这是连珠的开局：请选连珠规则。", "This is an opening of renju: choose the rules Renju.")
            }
            Self::NotRenjusBoard => language.pick(
                "连珠的这个开局用 15 × 15 的棋盘。",
                "This opening of renju is played on 15 x 15 points.",
            ),
        }
    }

    const fn brief(self) -> &'static str {
        match self {
            Self::NoRoomForPro => "Pro needs a board of an odd size of 7 or more",
            Self::NoRoomForLongPro => "Long Pro needs a board of an odd size of 9 or more",
            Self::NotRenju => "this opening belongs to the rules of renju",
            Self::NotRenjusBoard => "this opening of renju is played on 15 x 15",
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
        if !Self::SIZES.contains(&self.size) {
            return Err(SetupError("gomoku is played on 5 x 5 to 20 x 20"));
        }
        self.misfit().map_or(Ok(()), |misfit| Err(SetupError(misfit.brief())))
    }

    /// Why the opening does not fit the other choices.
    pub(crate) fn misfit(&self) -> Option<Misfit> {
        let has_room = |side| self.size % 2 == 1 && self.size > side;
        match self.opening {
            GomokuOpening::Pro if !has_room(5) => Some(Misfit::NoRoomForPro),
            GomokuOpening::LongPro if !has_room(7) => Some(Misfit::NoRoomForLongPro),
            opening if opening.is_of_renju() && self.rule != GomokuRule::Renju => Some(Misfit::NotRenju),
            opening if opening.is_of_renju() && self.size != 15 => Some(Misfit::NotRenjusBoard),
            _ => None,
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
            GomokuOpening::Pro => sentences.push(pick(
                "Pro 开局：黑第一子下在天元，黑第二子须下在中央 5 × 5 之外。",
                "Pro: Black's first stone goes on the centre point, Black's second outside the central 5 x 5.",
            )),
            GomokuOpening::LongPro => sentences.push(pick(
                "Long Pro 开局：黑第一子下在天元，黑第二子须下在中央 7 × 7 之外。",
                "Long Pro: Black's first stone goes on the centre point, Black's second outside the central 7 x 7.",
            )),
            GomokuOpening::Swap => sentences.push(pick(
                "Swap 开局：先手方摆黑、白、黑三子，后手方选颜色。之后轮到白下。",
                "Swap: the first player places a black, a white and a black stone; the second player chooses a colour. White plays next.",
            )),
            GomokuOpening::Taraguchi10 => sentences.push(pick(
                "塔拉山口-10 开局：第一手下在天元，第二至五手分别在中央 3 × 3、5 × 5、7 × 7、9 × 9 之内，每下一手后由另一方选颜色。第四手后黑方也可以不选色，改为摆出十个互不对称的第五手，由白方选一个。第六手起随意下。",
                "Taraguchi-10: the first stone goes on the centre point, the second to fifth within the central 3 x 3, 5 x 5, 7 x 7 and 9 x 9; after each the other player chooses a colour. In place of the choice after the fourth stone, Black may offer ten fifth moves, no two the same by symmetry, of which White chooses one. From the sixth stone on any point will do.",
            )),
            GomokuOpening::Soosorv8 => sentences.push(pick(
                "索索夫-8 开局：先手方摆前三子：天元、中央 3 × 3 之内、5 × 5 之内；后手方选颜色。白方下第四手，并定下第五手的个数（一至八）；另一方再选颜色。黑方摆出这么多互不对称的第五手，白方选一个，再下第六手。",
                "Soosõrv-8: the first player places three stones: on the centre point, within the central 3 x 3 and within 5 x 5; the second player chooses a colour. White places the fourth stone and says how many fifth moves there will be, one to eight; the other player chooses a colour. Black offers as many fifth moves, no two the same by symmetry; White chooses one and plays the sixth.",
            )),
            GomokuOpening::Yamaguchi => sentences.push(pick(
                "山口开局：先手方摆前三子：天元、中央 3 × 3 之内、5 × 5 之内，并定下第五手的个数（一至十）；后手方选颜色。白方下第四手，黑方摆出这么多互不对称的第五手，白方选一个，再下第六手。",
                "Yamaguchi: the first player places three stones: on the centre point, within the central 3 x 3 and within 5 x 5, and says how many fifth moves there will be, one to ten; the second player chooses a colour. White places the fourth stone. Black offers as many fifth moves, no two the same by symmetry; White chooses one and plays the sixth.",
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
        if self.opening != GomokuOpening::Free {
            write!(f, " {}", self.opening.word())?;
        }
        Ok(())
    }
}

/// Parses the format of `Display`, in any order; missing options have defaults. What makes no game is refused.
impl FromStr for GomokuSetup {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let mut setup = Self::default();
        for (at, word) in words(text) {
            let rule = GomokuRule::ALL.into_iter().find(|rule| rule.word() == word);
            match (rule, GomokuOpening::from_word(word), word.parse()) {
                _ if word == "no-edge" => setup.edge_five_wins = false,
                (Some(rule), ..) => setup.rule = rule,
                (_, Some(opening), _) => setup.opening = opening,
                (None, None, Ok(size)) if Self::SIZES.contains(&size) => setup.size = size,
                _ => {
                    let expected =
                        "a size of 5 to 20, freestyle, standard, renju, no-edge or an opening such as swap2";
                    return Err(TextError::at(text, at, expected));
                }
            }
        }
        setup.check().map_err(|error| TextError::at(text, 0, error.0))?;
        Ok(setup)
    }
}
