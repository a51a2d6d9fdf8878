//! Swap2, the opening of Gomocup and of the world championships of gomoku: who plays which colour is part of the game.
//!
//! Source: gomocup.org and gomokuworld.com, "Swap2". The first player puts three stones, black, white and black. The second
//! player then chooses to play White and goes on, to play Black, or to put a white and a black stone more; after these the
//! first player chooses a colour. White always has the next stone.

use super::GomokuOpening;
use crate::{Choice, Side};

/// How far the opening is. Stones alternate in colour all along, so what is left to know is whose decision is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    /// The first player puts so many stones more, of both colours.
    First(u8),
    /// The second player chooses: a colour, or to put two more.
    SecondChooses,
    /// The second player puts so many stones more, of both colours.
    Second(u8),
    /// The first player chooses a colour.
    FirstChooses,
    /// The colours are settled; whether the first player has White.
    Settled { swapped: bool },
}

impl Stage {
    pub(super) const fn new(opening: GomokuOpening) -> Self {
        match opening {
            GomokuOpening::Free => Self::Settled { swapped: false },
            GomokuOpening::Swap2 => Self::First(3),
        }
    }

    /// The player whose decision is next, when the next stone has this colour.
    pub(super) const fn player(self, color: Side) -> Side {
        match self {
            Self::First(_) | Self::FirstChooses => Side::First,
            Self::Second(_) | Self::SecondChooses => Side::Second,
            Self::Settled { swapped: false } => color,
            Self::Settled { swapped: true } => color.other(),
        }
    }

    /// What may be chosen now; none while a stone is next.
    pub(super) const fn choices(self) -> &'static [Choice] {
        match self {
            Self::SecondChooses => &[Choice::Black, Choice::White, Choice::TwoMore],
            Self::FirstChooses => &[Choice::Black, Choice::White],
            Self::First(_) | Self::Second(_) | Self::Settled { .. } => &[],
        }
    }

    /// After a stone.
    pub(super) const fn after_stone(self) -> Self {
        match self {
            Self::First(1) => Self::SecondChooses,
            Self::First(left) => Self::First(left - 1),
            Self::Second(1) => Self::FirstChooses,
            Self::Second(left) => Self::Second(left - 1),
            Self::SecondChooses | Self::FirstChooses | Self::Settled { .. } => self,
        }
    }

    /// After one of [`Self::choices`].
    pub(super) const fn after_choice(self, choice: Choice) -> Self {
        let first_chooses = matches!(self, Self::FirstChooses);
        match choice {
            Choice::TwoMore => Self::Second(2),
            // Whoever chooses has the colour chosen.
            Choice::Black => Self::Settled { swapped: !first_chooses },
            Choice::White => Self::Settled { swapped: first_chooses },
        }
    }

    /// Part of the key; nothing where no opening is played.
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
