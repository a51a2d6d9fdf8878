//! Repetition by the Chinese rules: the Chinese Xiangqi Association's 象棋竞赛规则 of 2020, articles 24 to 26.
//! `docs/decisions/0040-repetition-by-chinese-rules.md` has the clauses, and what of them is not decided here.
//!
//! Each move is of one nature:
//! - *check* 将: the enemy general is attacked.
//! - *kill* 杀: no check, and it creates the threat of checkmate by a single move, if the opponent were to pass.
//! - *chase* 捉: neither, and it creates a [`Threat`] to a piece.
//! - *idle* 闲: anything else. An offer to exchange 兑, a sacrifice 献, a block 拦 and following a protected piece 跟 are idle.
//!
//! A side that made no idle move repeats forbidden moves 禁止着法: perpetual check, kill or chase, or a mixture of these. The
//! piece that is chased need not be the same one each time.

use super::{Threat, threats};
use crate::xiangqi::attacks::{Set, squares};
use crate::xiangqi::board::{Board, Kind, XiangqiMove};
use crate::{Outcome, Reason, Side};

pub(super) fn judge(mut board: Board, moves: &[XiangqiMove]) -> Outcome {
    let mut conduct = [Conduct::default(); 2];
    for &mv in moves {
        let conduct = &mut conduct[board.turn().index()];
        // What a side did besides does not matter after an idle move.
        if !conduct.idles {
            conduct.add(nature(&board, mv));
        }
        board.make(mv);
    }
    let alone = |is: fn(Conduct) -> bool| match conduct.map(is) {
        [true, false] => Some(Side::First),
        [false, true] => Some(Side::Second),
        _ => None,
    };
    let loser = alone(Conduct::only_checks).or_else(|| alone(Conduct::is_forbidden));
    loser.map_or(Outcome { winner: None, reason: Reason::Repetition }, |side| Outcome {
        winner: Some(side.other()),
        reason: conduct[side.index()].reason(),
    })
}

/// The natures of the moves of a side so far.
#[derive(Clone, Copy, Default)]
struct Conduct {
    checks: bool,
    kills: bool,
    chases: bool,
    idles: bool,
}

impl Conduct {
    fn add(&mut self, nature: Nature) {
        *match nature {
            Nature::Check => &mut self.checks,
            Nature::Kill => &mut self.kills,
            Nature::Chase => &mut self.chases,
            Nature::Idle => &mut self.idles,
        } = true;
    }

    fn is_forbidden(self) -> bool {
        !self.idles
    }

    fn only_checks(self) -> bool {
        !(self.kills || self.chases || self.idles)
    }

    /// The reason for which the side loses.
    fn reason(self) -> Reason {
        match (self.checks, self.kills, self.chases) {
            (true, false, false) => Reason::PerpetualCheck,
            (false, false, true) => Reason::PerpetualChase,
            _ => Reason::PerpetualAttack,
        }
    }
}

/// The nature of a move; of several the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nature {
    Check,
    Kill,
    Chase,
    Idle,
}

fn nature(board: &Board, mv: XiangqiMove) -> Nature {
    let mut after = *board;
    after.make(mv);
    if after.in_check() {
        return Nature::Check;
    }
    let checkers = board.checkers(board.turn());
    let by_general = matches!(board.at(mv.from), Some((_, Kind::General)));
    if by_general && checkers != 0 {
        return Nature::Idle;
    }
    let next = after.passed();
    let creates = |list: fn(&Board, Set) -> Vec<Threat>| {
        let threats = list(&next, 0);
        if threats.is_empty() {
            return false;
        }
        // What a check kept from being carried out was there before its answer.
        let before = list(board, checkers);
        threats.iter().any(|threat| threat.is_new(mv, &before))
    };
    if creates(kills) {
        Nature::Kill
    } else if creates(threats) {
        Nature::Chase
    } else {
        Nature::Idle
    }
}

/// The moves of the side to move that checkmate. Attacks of the pieces in `ignored` on its general do not count.
fn kills(board: &Board, ignored: Set) -> Vec<Threat> {
    let side = board.turn();
    let mut list = Vec::new();
    for kind in Kind::ALL {
        for from in squares(board.pieces(side, kind)) {
            for to in squares(board.reach(from, side, kind)) {
                let mut after = *board;
                after.make(XiangqiMove { from, to });
                let is_legal = after.checkers(side) & !ignored == 0;
                if is_legal && after.in_check() && !after.has_legal_move() {
                    list.push(Threat { from, to });
                }
            }
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Point;
    use crate::xiangqi::board::to_square;
    use crate::xiangqi::fen::Fen;

    /// A claim about one move; a position, the move in ICCS notation, its nature; then a near miss in the same form.
    type Claim = (&'static str, [(&'static str, &'static str, Nature); 2]);

    const CLAIMS: &[Claim] = &[
        (
            "24.1: a check attacks the general itself, not the elephant before it",
            [
                ("3k5/9/9/9/9/9/9/9/9/R4K3 w", "a0a9", Nature::Check),
                ("2bk5/9/9/9/9/9/9/9/9/R4K3 w", "a0a9", Nature::Chase),
            ],
        ),
        (
            "24.2: a kill threatens checkmate by one move, not a check from which the general escapes",
            [
                ("3k5/7R1/9/9/1n7/9/9/9/9/1R2K4 w", "b0a0", Nature::Kill),
                ("3k5/9/7R1/9/1n7/9/9/9/9/1R2K4 w", "b0a0", Nature::Idle),
            ],
        ),
        (
            "24.2: a kill threatens a mate with a check, not a stalemate",
            [
                ("2b2k3/1P4P2/2P6/9/8N/9/9/9/9/4K4 w", "i5h7", Nature::Kill),
                ("2b2k3/1P4P2/2P6/9/8N/9/9/9/9/4K4 w", "c7c8", Nature::Idle),
            ],
        ),
        (
            "24.3: a chase is of an unprotected piece, not of one with a real root",
            [
                ("3k5/9/9/9/2c6/9/9/9/9/R4K3 w", "a0a5", Nature::Chase),
                ("2rk5/9/9/9/2c6/9/9/9/9/R4K3 w", "a0a5", Nature::Idle),
            ],
        ),
        (
            "24.3: a root that is pinned is a false one",
            [
                ("3k5/9/3n5/9/2c6/9/9/9/9/R2R1K3 w", "a0a5", Nature::Chase),
                ("3k5/9/3n5/9/2c6/9/9/9/9/R3RK3 w", "a0a5", Nature::Idle),
            ],
        ),
        (
            "24.3: a horse chases a protected chariot, not a protected cannon",
            [
                ("3k5/3r5/9/9/3r5/9/9/N8/9/5K3 w", "a2c3", Nature::Chase),
                ("3k5/3r5/9/9/3c5/9/9/N8/9/5K3 w", "a2c3", Nature::Idle),
            ],
        ),
        (
            "24.3: a chase is new, not an attack that was there",
            [
                ("3k5/9/9/9/c8/9/9/9/9/1R3K3 w", "b0a0", Nature::Chase),
                ("3k5/9/9/9/c8/9/9/9/9/R4K3 w", "a0a1", Nature::Idle),
            ],
        ),
        (
            "a soldier is chased that has crossed the river, not one at home",
            [
                ("3k5/9/9/9/9/2p6/9/9/9/R4K3 w", "a0a4", Nature::Chase),
                ("3k5/9/9/2p6/9/9/9/9/9/R4K3 w", "a0a6", Nature::Idle),
            ],
        ),
        (
            "24.4: chariots that can take each other are offered to exchange, not chased",
            [
                ("3k5/9/9/9/2n6/9/9/9/9/R4K3 w", "a0a5", Nature::Chase),
                ("3k5/9/9/9/2r6/9/9/9/9/R4K3 w", "a0a5", Nature::Idle),
            ],
        ),
        (
            "26.1: a chariot chases, a soldier may",
            [
                ("3k5/9/1c7/R8/9/9/9/9/9/5K3 w", "a6b6", Nature::Chase),
                ("3k5/9/1c7/P8/9/9/9/9/9/5K3 w", "a6b6", Nature::Idle),
            ],
        ),
        (
            "26.1: a piece behind the general that moves chases, the general itself may",
            [
                ("3k5/4a4/9/9/9/9/9/9/R3K2c1/9 w", "e1e0", Nature::Chase),
                ("3k5/4a4/9/9/9/9/9/9/4K4/3c5 w", "e1e0", Nature::Idle),
            ],
        ),
        (
            "26.1: a general that answers a check neither chases nor kills",
            [
                ("3k5/4a4/9/9/9/9/9/9/7n1/R3K2c1 w", "e0e1", Nature::Chase),
                ("3k5/4a4/9/9/9/9/9/9/6n2/R3K2c1 w", "e0e1", Nature::Idle),
            ],
        ),
        (
            "26.1: another piece that answers a check chases what it did not before",
            [
                ("3k5/9/9/2c6/4r4/9/9/9/2N6/2R1K4 w", "c1e2", Nature::Chase),
                ("3k5/9/9/9/4r4/R5n2/9/9/9/2B1K4 w", "c0e2", Nature::Idle),
            ],
        ),
    ];

    fn square(text: &str) -> u8 {
        let [file, rank] = text.as_bytes() else { panic!("a square: {text}") };
        let point = Point::new(u16::from(file - b'a'), u16::from(rank - b'0'));
        to_square(point).expect("on the board")
    }

    #[test]
    fn a_move_is_of_the_nature_that_the_clause_says_and_its_near_miss_is_not() {
        for (claim, moves) in CLAIMS {
            for &(fen, text, expected) in moves {
                let board = Fen::read(fen).unwrap_or_else(|error| panic!("{claim}: {fen}: {error}")).board;
                let mv = XiangqiMove { from: square(&text[..2]), to: square(&text[2..]) };
                assert!(board.is_legal(mv), "{claim}: {fen} {text}");
                assert_eq!(nature(&board, mv), expected, "{claim}: {fen} {text}");
            }
            assert_ne!(moves[0].2, moves[1].2, "{claim}");
        }
    }
}
