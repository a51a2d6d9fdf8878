//! The result of a threefold repetition.
//!
//! Source: the Asian rules as the project's rule page states them, with the cases that it leaves open decided so:
//! - What counts is every move of a side between the first and the third occurrence.
//! - A *check* is a move after which the enemy general is attacked. A *chase* is a move, not a check, after which a piece
//!   other than the general or a soldier threatens one that it did not threaten before the move: it could legally take it,
//!   and the taker could not legally be taken in return. A chariot threatened by a horse or a cannon counts as unprotected,
//!   since the exchange wins.
//! - Generals, and soldiers that have not crossed the river, are not chased. Nor is a piece that could itself take the piece
//!   of the same kind that threatens it: that is an offer to exchange.
//! - The chased piece must be the same one after every move of the chaser.
//! - Perpetual check is worse than perpetual chase: if one side does the one and the other the other, the checker loses.

use super::attacks::squares;
use super::board::{Board, Kind, SQUARES, XiangqiMove};
use crate::{Outcome, Reason, Side};

/// The result of the third occurrence of a position. `moves` lead from the first occurrence to the third, without captures;
/// `last` is the position after them.
pub(super) fn judge(last: &Board, moves: &[XiangqiMove]) -> Outcome {
    let mut board = *last;
    for &mv in moves.iter().rev() {
        board.unmake(mv, super::board::Cell::EMPTY);
    }
    // Each piece is identified by its square at the first occurrence.
    let mut names: [u8; SQUARES] = std::array::from_fn(|square| square as u8);
    let mut conduct = [Conduct { checks: true, chased: u128::MAX }; 2];
    for &mv in moves {
        let side = board.turn();
        let before = threats(&board, side);
        board.make(mv);
        names.swap(usize::from(mv.from), usize::from(mv.to));
        let conduct = &mut conduct[side.index()];
        if board.in_check() {
            conduct.chased = 0;
            continue;
        }
        conduct.checks = false;
        let standing = |threat: &Threat| {
            let from = if threat.from == mv.to { mv.from } else { threat.from };
            before.iter().any(|old| old.from == from && old.to == threat.to)
        };
        let new = threats(&board.passed(), side).into_iter().filter(|threat| !standing(threat));
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

/// A winning capture that a piece threatens.
struct Threat {
    from: u8,
    to: u8,
}

/// The threats of the side to move, as defined above.
fn threats(board: &Board, side: Side) -> Vec<Threat> {
    debug_assert_eq!(board.turn(), side, "threats are those of the side to move");
    let mut list = Vec::new();
    for chaser in [Kind::Adviser, Kind::Elephant, Kind::Horse, Kind::Chariot, Kind::Cannon] {
        for from in squares(board.pieces(side, chaser)) {
            let targets = board.reach(from, side, chaser) & board.side(side.other());
            for to in squares(targets) {
                let (_, target) = board.at(to).expect("an enemy stands there");
                let at_home = target == Kind::Soldier && !has_crossed(to, side.other());
                if target != Kind::General
                    && !at_home
                    && wins(board, XiangqiMove { from, to }, chaser, target)
                {
                    list.push(Threat { from, to });
                }
            }
        }
    }
    list
}

fn has_crossed(square: u8, side: Side) -> bool {
    (usize::from(square) >= SQUARES / 2) == (side == Side::First)
}

/// Whether the capture is legal and cannot be answered by recapture.
fn wins(board: &Board, mv: XiangqiMove, chaser: Kind, target: Kind) -> bool {
    let side = board.turn();
    let mut after = *board;
    after.make(mv);
    if after.checkers(side) != 0 {
        return false;
    }
    let takes = |board: &Board, to: u8| {
        let mut moves = Vec::new();
        board.legal_moves(&mut moves);
        moves.into_iter().filter(move |mv| mv.to == to).collect::<Vec<_>>()
    };
    // Whether the target could capture its chaser, if it were its turn.
    let exchange = chaser == target && takes(&board.passed(), mv.from).iter().any(|back| back.from == mv.to);
    let stronger = target == Kind::Chariot && matches!(chaser, Kind::Horse | Kind::Cannon);
    !exchange && (stronger || takes(&after, mv.to).is_empty())
}
