//! The result of a threefold repetition. What counts is every move of a side between the first and the third occurrence.

mod asian;

use super::attacks::squares;
use super::board::{Board, Cell, Kind, SQUARES, XiangqiMove};
use crate::{Outcome, Side};

/// The result of the third occurrence of a position. `moves` lead from the first occurrence to the third, without captures;
/// `last` is the position after them.
pub(super) fn judge(last: &Board, moves: &[XiangqiMove]) -> Outcome {
    let mut first = *last;
    for &mv in moves.iter().rev() {
        first.unmake(mv, Cell::EMPTY);
    }
    asian::judge(first, moves)
}

/// A winning capture that a piece threatens: it is legal, and the taker cannot legally be taken in return. A chariot
/// threatened by a horse or a cannon counts as unprotected, since the exchange wins.
///
/// Generals and soldiers make no threats. Generals, and soldiers that have not crossed the river, are not threatened. Nor is
/// a piece that could itself take the piece of the same kind that threatens it: that is an offer to exchange.
struct Threat {
    from: u8,
    to: u8,
}

impl Threat {
    /// Whether the move has created the threat: the same piece did not threaten the same before.
    fn is_new(&self, mv: XiangqiMove, before: &[Self]) -> bool {
        let from = if self.from == mv.to { mv.from } else { self.from };
        !before.iter().any(|old| old.from == from && old.to == self.to)
    }
}

/// The threats of the side to move.
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
