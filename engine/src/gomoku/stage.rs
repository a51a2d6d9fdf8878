//! Swap2, the opening rule of Gomocup and of the gomoku world championships, in which the players choose colours.
//!
//! Source: gomocup.org and gomokuworld.com, "Swap2". The first player places three stones, black, white and black. The
//! second player then chooses White and continues, or Black, or places a white and a black stone; after these the first
//! player chooses a colour. White always places the next stone.

use super::GomokuOpening;
use crate::{Choice, Language, Side};

/// Stage of the opening. Stones alternate in colour throughout, so that only the next decision needs to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    /// The first player places this many more stones, of both colours.
    First(u8),
    /// The second player chooses a colour, or to place two more stones.
    SecondChooses,
    /// The second player places this many more stones, of both colours.
    Second(u8),
    /// The first player chooses a colour.
    FirstChooses,
    /// The colours are settled; `swapped` if the first player has White.
    Settled { swapped: bool },
}

impl Stage {
    pub(super) const fn new(opening: GomokuOpening) -> Self {
        match opening {
            GomokuOpening::Free => Self::Settled { swapped: false },
            GomokuOpening::Swap2 => Self::First(3),
        }
    }

    /// The player to decide, if the next stone has this colour.
    pub(super) const fn player(self, color: Side) -> Side {
        match self {
            Self::First(_) | Self::FirstChooses => Side::First,
            Self::Second(_) | Self::SecondChooses => Side::Second,
            Self::Settled { swapped: false } => color,
            Self::Settled { swapped: true } => color.other(),
        }
    }

    /// The possible choices; empty while a stone is next.
    pub(super) const fn choices(self) -> &'static [Choice] {
        match self {
            Self::SecondChooses => &[Choice::Black, Choice::White, Choice::TwoMore],
            Self::FirstChooses => &[Choice::Black, Choice::White],
            Self::First(_) | Self::Second(_) | Self::Settled { .. } => &[],
        }
    }

    /// The stage after a stone.
    pub(super) const fn after_stone(self) -> Self {
        match self {
            Self::First(1) => Self::SecondChooses,
            Self::First(left) => Self::First(left - 1),
            Self::Second(1) => Self::FirstChooses,
            Self::Second(left) => Self::Second(left - 1),
            Self::SecondChooses | Self::FirstChooses | Self::Settled { .. } => self,
        }
    }

    /// The stage after one of [`Self::choices`].
    pub(super) const fn after_choice(self, choice: Choice) -> Self {
        let first_chooses = matches!(self, Self::FirstChooses);
        match choice {
            Choice::TwoMore => Self::Second(2),
            // The chooser gets the chosen colour.
            Choice::Black => Self::Settled { swapped: !first_chooses },
            Choice::White => Self::Settled { swapped: first_chooses },
        }
    }

    /// The pending decision and its consequences, as a sentence for both players; `None` once the colours are settled.
    /// `color`: of the next stone.
    pub(super) fn told(self, color: Side, language: Language) -> Option<String> {
        let (stone, of, chooser) = match self {
            Self::First(left) => (4 - left, 3, Side::Second),
            Self::Second(left) => (3 - left, 2, Side::First),
            Self::SecondChooses | Self::FirstChooses => {
                let two_more = self == Self::SecondChooses;
                return Some(match (language, two_more) {
                    (Language::Chinese, true) => {
                        "Swap2：选执黑或执白，下一手由白方走；或者再摆两子，由先摆的一方选。".into()
                    }
                    (Language::Chinese, false) => "Swap2：选执黑或执白，下一手由白方走。".into(),
                    (Language::English, true) => {
                        "Swap2: choose a colour, White moves next; or put two more stones, and \
                                                  whoever began chooses."
                            .into()
                    }
                    (Language::English, false) => "Swap2: choose a colour. White moves next.".into(),
                });
            }
            Self::Settled { .. } => return None,
        };
        let (color, chooser) = match language {
            Language::Chinese => (
                if color == Side::First { "黑" } else { "白" },
                if chooser == Side::First { "先摆的一方" } else { "另一方" },
            ),
            Language::English => (
                if color == Side::First { "black" } else { "white" },
                if chooser == Side::First { "whoever began" } else { "the other player" },
            ),
        };
        Some(match language {
            Language::Chinese => {
                format!("Swap2：由同一方摆 {of} 子，现在是第 {stone} 子，{color}子。之后由{chooser}选颜色。")
            }
            Language::English => format!(
                "Swap2: one player puts all {of} stones. Now stone {stone} of {of}, a {color} one; then {chooser} chooses a colour."
            ),
        })
    }

    /// Part of the Zobrist key; 0 without an opening.
    pub(super) const fn number(self) -> u64 {
        match self {
            Self::Settled { swapped: false } => 0,
            Self::Settled { swapped: true } => 1,
            Self::SecondChooses => 2,
            Self::FirstChooses => 3,
            Self::First(left) => 4 + left as u64,
            Self::Second(left) => 8 + left as u64,
        }
    }
}
