//! Static exchange evaluation (SEE).

use super::attacks::{
    self, ADVISER, ELEPHANT, EYES, FILE, GENERAL, HORSE_TO, PALACES, RANK, SOLDIER_TO, Set, bit,
};
use super::board::{Board, Kind, XiangqiMove};
use crate::Side;

/// Piece values for exchanges only: players' usual values (chariot 9, cannon 4 1/2, horse 4, adviser and elephant 2, soldier
/// 1 to 2), so that exchanges do not depend on fitted weights.
pub(super) const WORTH: [i32; 7] = [10_000, 200, 200, 400, 900, 450, 150];

/// Kinds by ascending value: the order of capturing.
const BY_WORTH: [Kind; 7] =
    [Kind::Soldier, Kind::Adviser, Kind::Elephant, Kind::Horse, Kind::Cannon, Kind::Chariot, Kind::General];

impl Board {
    /// Value of the piece on a square; 0 if empty.
    pub(super) fn worth_at(&self, square: u8) -> i32 {
        self.at(square).map_or(0, |(_, kind)| WORTH[kind as usize])
    }

    /// Whether the side to move gains at least this much by the capture sequence on the destination of the move. Ignores
    /// pins.
    pub(super) fn exchange_holds(&self, mv: XiangqiMove, least: i32) -> bool {
        let Some((mut side, kind)) = self.at(mv.from) else { return false };
        // From here on: by how much the side to capture would miss `least`.
        let mut balance = self.worth_at(mv.to) - least;
        if balance < 0 {
            return false;
        }
        balance = WORTH[kind as usize] - balance;
        if balance <= 0 {
            return true;
        }
        let mut left = Left::new(self);
        left.remove(mv.from);
        let mut holds = true;
        loop {
            side = side.other();
            let Some((from, kind)) = left.cheapest(self, mv.to, side) else { break };
            left.remove(from);
            if kind == Kind::General && left.cheapest(self, mv.to, side.other()).is_some() {
                // The general cannot capture a protected piece.
                break;
            }
            holds = !holds;
            balance = WORTH[kind as usize] - balance;
            if balance < i32::from(holds) {
                break;
            }
        }
        holds
    }
}

/// Pieces that have not taken part in the exchange yet.
struct Left {
    occupied: Set,
    ranks: [u16; super::board::RANKS],
    files: [u16; super::board::FILES],
}

impl Left {
    fn new(board: &Board) -> Self {
        let (ranks, files) = board.lines();
        Self { occupied: board.occupied(), ranks: *ranks, files: *files }
    }

    fn remove(&mut self, square: u8) {
        let n = usize::from(square);
        self.occupied &= !bit(square);
        self.ranks[usize::from(RANK[n])] &= !(1 << FILE[n]);
        self.files[usize::from(FILE[n])] &= !(1 << RANK[n]);
    }

    /// The cheapest piece of a side that can capture on a square.
    fn cheapest(&self, board: &Board, to: u8, side: Side) -> Option<(u8, Kind)> {
        let n = usize::from(to);
        let in_palace = bit(to) & PALACES != 0;
        let eyes =
            || (0..4).fold(0, |set, eye| set | usize::from(self.occupied & bit(EYES[n][eye]) != 0) << eye);
        BY_WORTH.into_iter().find_map(|kind| {
            let own = board.pieces(side, kind) & self.occupied;
            if own == 0 {
                return None;
            }
            let from = match kind {
                Kind::Soldier => SOLDIER_TO[side.index()][n],
                Kind::Adviser if in_palace => ADVISER[n],
                Kind::General if in_palace => GENERAL[n],
                Kind::Adviser | Kind::General => 0,
                Kind::Elephant => ELEPHANT[n][eyes()],
                Kind::Horse => HORSE_TO[n][eyes()],
                Kind::Cannon => attacks::shots(to, &self.ranks, &self.files),
                Kind::Chariot => {
                    let (along_rank, along_file) = attacks::rides(to, &self.ranks, &self.files);
                    along_rank | along_file
                }
            } & own;
            (from != 0).then(|| (from.trailing_zeros() as u8, kind))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xiangqi::fen::Fen;

    fn check(fen: &str, mv: &str, worth: i32) {
        let board = Fen::read(fen).expect("a position").board;
        let square = |text: &str| {
            let point: crate::Point = text.parse().expect("a point");
            super::super::board::to_square(point).expect("on the board")
        };
        let mv = XiangqiMove { from: square(&mv[..2]), to: square(&mv[2..]) };
        assert!(board.exchange_holds(mv, worth), "{fen} {mv:?} is worth {worth}");
        assert!(!board.exchange_holds(mv, worth + 1), "{fen} {mv:?} is worth no more than {worth}");
    }

    #[test]
    fn an_exchange_is_worth_what_is_left_when_nobody_wants_to_take_any_more() {
        // An unprotected soldier; one protected by a chariot; one attacked by two chariots in line.
        check("4k4/9/9/9/4p4/9/9/4R4/9/3K5 w", "e3e6", 150);
        check("5k3/9/4r4/9/4p4/9/9/4R4/9/3K5 w", "e3e6", 150 - 900);
        check("5k3/9/4r4/9/4p4/9/9/4R4/4R4/3K5 w", "e3e6", 150);
        // A cannon's screen can be the piece that captures before it.
        check("5k3/9/4r4/9/4p4/9/9/4R4/4C4/3K5 w", "e3e6", 150 - 900);

        // The general cannot capture a protected piece.
        check("3ak4/9/9/9/9/9/9/9/3R5/5K3 w", "d2d10", 200 - 900);
        check("3ak4/9/9/9/9/9/9/3R5/3R5/5K3 w", "d3d10", 200);
    }
}
