//! Input planes and global inputs of the network.

use super::super::stones::{EMPTY, Stones, Vertex};

/// The binary input planes of a point, one bit each; see the constants.
pub(in super::super) type InputPlanes = u16;

/// Number of planes.
pub(super) const FACTS: usize = 9;

const OWN: InputPlanes = 1;
const ENEMY: InputPlanes = 1 << 1;
/// A stone of a chain with one, two or three liberties.
const LIBERTIES: [InputPlanes; 3] = [1 << 2, 1 << 3, 1 << 4];
/// An empty point that is illegal for the side to move, ignoring superko.
const FORBIDDEN: InputPlanes = 1 << 5;
/// The last move, and the one before it.
const TRAIL: [InputPlanes; 2] = [1 << 6, 1 << 7];
/// Every point of the board; padding has no planes.
const BOARD: InputPlanes = 1 << 8;

/// Inputs for the whole board.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct GlobalInputs {
    /// Compensation of the side to move in points; negative if it is the enemy's.
    pub(in super::super) komi: f32,
    /// Whether the enemy has just passed.
    pub(in super::super) passed: bool,
}

impl GlobalInputs {
    /// The inputs scaled to about 1.
    pub(super) fn values(self) -> [f32; 2] {
        [(self.komi / 10.0).clamp(-4.0, 4.0), f32::from(u8::from(self.passed))]
    }
}

/// The planes of each point for the side to move, in the order of the geometry's points.
pub(in super::super) fn facts<const N: usize, const W: usize>(
    stones: &Stones<N, W>,
    turn: u8,
    trail: [Vertex; 2],
    into: &mut Vec<InputPlanes>,
) {
    into.clear();
    for &at in &stones.geometry.points {
        let mut facts = BOARD;
        let cell = stones.cell(at);
        if cell == EMPTY {
            if !stones.is_legal(at, turn) {
                facts |= FORBIDDEN;
            }
        } else {
            facts |= if cell == turn { OWN } else { ENEMY };
            if let Some(liberties) = LIBERTIES.get(usize::from(stones.count(at)) - 1) {
                facts |= liberties;
            }
        }
        for (last, fact) in trail.into_iter().zip(TRAIL) {
            if at == last {
                facts |= fact;
            }
        }
        into.push(facts);
    }
}
