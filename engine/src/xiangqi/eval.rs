//! Evaluation terms besides the network: game phase, and scaling of drawish endgames.

use super::board::{Board, Kind};
use crate::Side;

/// Phase weight of a piece.
pub(super) const fn phase_of(kind: Kind) -> i32 {
    match kind {
        Kind::Chariot => 4,
        Kind::Horse | Kind::Cannon => 2,
        _ => 0,
    }
}

/// Phase of the full board.
pub(super) const PHASE_MAX: i32 = 32;

/// Game phase: the sum of [`phase_of`] over the board.
pub(super) fn phase(board: &Board) -> i32 {
    let count = |side, kind| phase_of(kind) * board.pieces(side, kind).count_ones() as i32;
    Side::BOTH.into_iter().flat_map(|side| Kind::ALL.map(|kind| count(side, kind))).sum()
}

pub(super) const SCALE_FULL: i32 = 64;

/// Scale factor of a side's advantage, in parts of [`SCALE_FULL`]: 0 without a piece that can cross the river, small for a
/// single horse or cannon against two or more advisers and elephants.
pub(super) fn scale(board: &Board, strong: Side) -> i32 {
    if board.pieces(strong, Kind::Soldier) | board.pieces(strong, Kind::Chariot) != 0 {
        return SCALE_FULL;
    }
    let count = |side, kind| board.pieces(side, kind).count_ones();
    let minors = count(strong, Kind::Horse) + count(strong, Kind::Cannon);
    if minors > 1 {
        return SCALE_FULL;
    }
    let weak = strong.other();
    match (minors, count(weak, Kind::Adviser) + count(weak, Kind::Elephant)) {
        (0, _) => 0,
        (_, 0) => SCALE_FULL,
        (_, 1) => SCALE_FULL / 2,
        _ => SCALE_FULL / 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xiangqi::fen::Fen;

    #[test]
    fn the_board_is_full_at_the_start_and_empty_without_attacking_pieces() {
        assert_eq!(phase(&Fen::read(Fen::START).expect("a position").board), PHASE_MAX);
        assert_eq!(
            phase(&Fen::read("3ak4/9/3PbP3/2p6/9/9/6p2/3p1p3/9/3AK4 w").expect("a position").board),
            0
        );
    }

    #[test]
    fn a_side_that_cannot_cross_the_river_has_no_hope() {
        let board = Fen::read("2bakab2/9/9/9/9/9/9/4c4/9/4K4 w").expect("a position").board;
        assert_eq!(scale(&board, Side::First), 0);
        assert_eq!(scale(&board, Side::Second), SCALE_FULL);
        let board = Fen::read("2bak4/4a4/9/9/9/9/9/C8/9/4K4 w").expect("a position").board;
        assert_eq!(scale(&board, Side::First), SCALE_FULL / 8, "a cannon alone against three guards");
    }
}
