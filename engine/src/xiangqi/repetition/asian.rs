//! Repetition by the Asian rules.
//!
//! Source: the Asian rules as the project's rule page states them, with the cases that it leaves open decided so:
//! - A *check* is a move after which the enemy general is attacked. A *chase* is a move, not a check, that creates a
//!   [`Threat`](super::Threat).
//! - The chased piece must be the same one after every move of the chaser.
//! - Perpetual check is worse than perpetual chase: if one side does the one and the other the other, the checker loses.

use super::threats;
use crate::xiangqi::board::{Board, SQUARES, XiangqiMove};
use crate::{Outcome, Reason, Side};

pub(super) fn judge(mut board: Board, moves: &[XiangqiMove]) -> Outcome {
    // Each piece is identified by its square at the first occurrence.
    let mut names: [u8; SQUARES] = std::array::from_fn(|square| square as u8);
    let mut conduct = [Conduct { checks: true, chased: u128::MAX }; 2];
    for &mv in moves {
        let side = board.turn();
        let before = threats(&board, 0);
        board.make(mv);
        names.swap(usize::from(mv.from), usize::from(mv.to));
        let conduct = &mut conduct[side.index()];
        if board.in_check() {
            conduct.chased = 0;
            continue;
        }
        conduct.checks = false;
        let new = threats(&board.passed(), 0).into_iter().filter(|threat| threat.is_new(mv, &before));
        conduct.chased &= new.fold(0, |set, threat| set | 1 << names[usize::from(threat.to)]);
    }
    let blame = |guilty: fn(&Conduct) -> bool, reason| match conduct.each_ref().map(guilty) {
        [true, false] => Some(Outcome { winner: Some(Side::Second), reason }),
        [false, true] => Some(Outcome { winner: Some(Side::First), reason }),
        [true, true] => Some(Outcome { winner: None, reason: Reason::Repetition }),
        [false, false] => None,
    };
    blame(|conduct| conduct.checks, Reason::PerpetualCheck)
        .or_else(|| blame(|conduct| conduct.chased != 0, Reason::PerpetualChase))
        .unwrap_or(Outcome { winner: None, reason: Reason::Repetition })
}

/// What all moves of a side so far have in common.
#[derive(Clone, Copy)]
struct Conduct {
    /// Every move gave check.
    checks: bool,
    /// Pieces that every move chased.
    chased: u128,
}
