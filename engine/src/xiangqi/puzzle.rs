//! Contests of xiangqi puzzles: mates by continuous checks, proved move by move.

use super::Xiangqi;
use super::board::{Board, Cell, XiangqiMove, to_point};
use crate::prover::{Contest, Stand};
use crate::{Action, Game, Side};

/// The attacker gives check with every move until mate.
pub(crate) struct MateContest {
    board: Board,
    attacker: Side,
    made: Vec<(XiangqiMove, Cell)>,
}

impl MateContest {
    /// Repetition and the halfmove clock are ignored, because the sequences are too short.
    pub(crate) fn new(game: &Xiangqi, attacker: Side) -> Self {
        Self { board: *game.board(), attacker, made: Vec::new() }
    }
}

impl Contest for MateContest {
    type Move = XiangqiMove;

    fn stand(&self) -> Stand {
        if self.board.turn() == self.attacker {
            // An attacker without legal moves has no checks either.
            Stand::Attack
        } else if !self.board.in_check() {
            Stand::Failed
        } else if self.board.legal_count() == 0 {
            Stand::Reached
        } else {
            Stand::Defence
        }
    }

    fn key(&self) -> u64 {
        self.board.key()
    }

    fn attacks(&self, left: u32, into: &mut Vec<XiangqiMove>) {
        if left == 0 {
            return;
        }
        let mut board = self.board;
        let mut checks = Vec::new();
        let mut moves = Vec::new();
        self.board.legal_moves(&mut moves);
        for mv in moves {
            let taken = board.make(mv);
            if board.in_check() {
                checks.push((board.legal_count(), mv));
            }
            board.unmake(mv, taken);
        }
        // Checks with the fewest replies first.
        checks.sort_by_key(|&(answers, _)| answers);
        into.extend(checks.into_iter().map(|(_, mv)| mv));
    }

    fn answers(&self, into: &mut Vec<XiangqiMove>) {
        self.board.legal_moves(into);
    }

    fn make(&mut self, mv: XiangqiMove) {
        let taken = self.board.make(mv);
        self.made.push((mv, taken));
    }

    fn unmake(&mut self) {
        let (mv, taken) = self.made.pop().expect("a move was made");
        self.board.unmake(mv, taken);
    }

    fn action(&self, mv: XiangqiMove) -> Action {
        Xiangqi::action(mv)
    }
}

impl Xiangqi {
    /// Checks that are given, and threatened mates.
    pub(crate) fn threats(&self) -> Vec<crate::threats::Threat> {
        use crate::threats::{Threat, ThreatKind};
        let (turn, board) = (self.turn(), self.board());
        let mut found = Vec::new();
        if board.in_check() {
            let at = vec![to_point(board.general(turn))];
            found.push(Threat { kind: ThreatKind::Check, side: turn.other(), at });
        }
        for side in Side::BOTH {
            // A side in check has no threats, and a position in which the other side could capture the general is
            // impossible.
            if board.in_check() && side != turn {
                continue;
            }
            let board = if side == turn { *board } else { board.passed() };
            let mut moves = Vec::new();
            board.legal_moves(&mut moves);
            let mates = moves.into_iter().filter(|&mv| {
                let mut after = board;
                after.make(mv);
                after.in_check() && after.legal_count() == 0
            });
            let mut at: Vec<_> = mates.map(|mv| to_point(mv.to)).collect();
            at.dedup();
            found.push(Threat { kind: ThreatKind::Mate, side, at });
        }
        found
    }
}
