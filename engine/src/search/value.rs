//! What the numbers of a search mean.

use crate::Score;

/// Plies from the root beyond which no search goes. The longest forced lines seen are about 60 plies.
pub const MAX_PLY: usize = 128;

/// The scale of scores: judgement in the middle, proven wins and losses at the ends, nearer ones further out. All are seen
/// from the side to move.
#[derive(Clone, Copy, Debug)]
pub struct Value;

impl Value {
    /// Above every score.
    pub const INFINITE: i32 = 32_000;
    /// A win on the spot. A win in n plies from the root is n less.
    pub const WIN: i32 = 30_000;
    /// From here on up a score is a proven win; judgement stays below.
    pub const PROVEN: i32 = Self::WIN - 2 * MAX_PLY as i32;

    /// A win or loss by a rule about repetition, less the plies to it. It is no proof, since it depends on the moves that
    /// led there, and so is not remembered either.
    pub(super) const RULED: i32 = Self::PROVEN - 1;

    /// Whether the score is a win or loss by a rule about repetition.
    pub(super) const fn is_ruled(value: i32) -> bool {
        let value = value.abs();
        value < Self::PROVEN && value >= Self::RULED - MAX_PLY as i32
    }

    /// Whether the score is a proven win or loss.
    pub const fn is_proven(value: i32) -> bool {
        value.abs() >= Self::PROVEN
    }

    /// In the words of a report. `value` is seen from the root.
    pub const fn score(value: i32) -> Score {
        if value >= Self::PROVEN {
            Score::WinIn((Self::WIN - value) as u32)
        } else if value <= -Self::PROVEN {
            Score::LossIn((Self::WIN + value) as u32)
        } else {
            Score::Points(value)
        }
    }

    /// From the root's count of plies to this node's, for the table: there a win in n plies is so for every way to get there.
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

/// What is certain of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeVerdict {
    /// The side to move wins in this many plies.
    WinIn(u32),
    /// The side to move loses in this many plies; 0 when it has lost.
    LossIn(u32),
    /// Nobody wins.
    Draw,
    /// The moves that led here have lost the game for the other side by a rule about repetition.
    WonByRule,
    /// The moves that led here have lost the game for the side to move by a rule about repetition.
    LostByRule,
}

impl NodeVerdict {
    /// As a score seen at `ply`.
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
