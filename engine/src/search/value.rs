//! The scale of search values.

use crate::Score;

/// Maximum ply of a search. The longest forced lines measured have about 60 plies.
pub const MAX_PLY: usize = 128;

/// The scale of values, for the side to move: static evaluations in the middle, proven wins and losses at the ends, shorter
/// ones further out.
#[derive(Clone, Copy, Debug)]
pub struct Value;

impl Value {
    /// Greater than every value.
    pub const INFINITE: i32 = 32_000;
    /// An immediate win. A win in n plies from the root is n less.
    pub const WIN: i32 = 30_000;
    /// Values from here on are proven wins; static evaluations stay below.
    pub const PROVEN: i32 = Self::WIN - 2 * MAX_PLY as i32;

    /// A win or loss by a repetition rule, minus its distance in plies. Not a proof, because it depends on the path, and
    /// therefore not stored in the table.
    pub(super) const RULED: i32 = Self::PROVEN - 1;

    /// Whether the value is a win or loss by a repetition rule.
    pub(super) const fn is_ruled(value: i32) -> bool {
        let value = value.abs();
        value < Self::PROVEN && value >= Self::RULED - MAX_PLY as i32
    }

    /// Whether the value is a proven win or loss.
    pub const fn is_proven(value: i32) -> bool {
        value.abs() >= Self::PROVEN
    }

    /// The value as a [`Score`]; `value` is relative to the root.
    pub const fn score(value: i32) -> Score {
        if value >= Self::PROVEN {
            Score::WinIn((Self::WIN - value) as u32)
        } else if value <= -Self::PROVEN {
            Score::LossIn((Self::WIN + value) as u32)
        } else {
            Score::Points(value)
        }
    }

    /// Converts a value relative to the root to one relative to the node, for the table: the distance of a win there does
    /// not depend on the path.
    pub(super) const fn to_node(value: i32, ply: usize) -> i32 {
        if value >= Self::PROVEN {
            value + ply as i32
        } else if value <= -Self::PROVEN {
            value - ply as i32
        } else {
            value
        }
    }

    /// The inverse of `to_node`.
    pub(super) const fn from_node(value: i32, ply: usize) -> i32 {
        if value >= Self::PROVEN {
            value - ply as i32
        } else if value <= -Self::PROVEN {
            value + ply as i32
        } else {
            value
        }
    }
}

/// A certain result of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeVerdict {
    /// The side to move wins in this many plies.
    WinIn(u32),
    /// The side to move loses in this many plies; 0 when it has lost.
    LossIn(u32),
    /// A draw.
    Draw,
    /// The path has won the game for the side to move by a repetition rule.
    WonByRule,
    /// The path has lost the game for the side to move by a repetition rule.
    LostByRule,
}

impl NodeVerdict {
    /// The value of this result at `ply`.
    pub(super) const fn value(self, ply: usize) -> i32 {
        match self {
            Self::WinIn(plies) => Value::WIN - (ply as i32 + plies as i32),
            Self::LossIn(plies) => -Value::WIN + (ply as i32 + plies as i32),
            Self::Draw => 0,
            Self::WonByRule => Value::RULED - ply as i32,
            Self::LostByRule => -Value::RULED + ply as i32,
        }
    }
}
