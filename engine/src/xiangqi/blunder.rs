//! What a move overlooks in xiangqi: see [`crate::blunders`].

use super::board::{Board, XiangqiMove};
use super::exchange::WORTH;
use super::{Kind, Xiangqi};
use crate::blunders::{Blunder, Overlooked};
use crate::{Action, Game};

/// What is spoken of as a piece: a horse, a cannon, a chariot.
const PIECE: i32 = WORTH[Kind::Horse as usize];
/// Net loss from which a piece is given away: a horse for a soldier. A horse for an adviser or an elephant is an exchange.
const GIVEN: i32 = PIECE - WORTH[Kind::Soldier as usize];

impl Xiangqi {
    /// See [`crate::blunders::overlooked`].
    pub(crate) fn overlooked(&self, played: Action, watched: &[Blunder]) -> Option<Overlooked> {
        let played = self.legal_move(played).ok()?;
        let board = self.board();
        let mut moves = Vec::new();
        self.legal_moves(&mut moves);
        let by = |blunder: Blunder, is_sound: &dyn Fn(XiangqiMove) -> bool| {
            let sound: Vec<XiangqiMove> = moves.iter().copied().filter(|&mv| is_sound(mv)).collect();
            Overlooked::by::<Self>(blunder, &sound)
        };
        if moves.iter().any(|&mv| wins(board, mv)) {
            if wins(board, played) {
                return None;
            }
            if watched.contains(&Blunder::MissedWin) {
                return by(Blunder::MissedWin, &|mv| wins(board, mv));
            }
        }
        let is_allowed = |mv| !lets_win(board, mv) && !self.loses_by_repetition(mv);
        let is_safe = |mv| !hangs(board, mv) && is_allowed(mv);
        if watched.contains(&Blunder::OpenWin) && lets_win(board, played) {
            // Whoever stops a mate does not give a piece away for it without need.
            return by(Blunder::OpenWin, &is_safe).or_else(|| by(Blunder::OpenWin, &is_allowed));
        }
        if watched.contains(&Blunder::Hanging) && hangs(board, played) {
            return by(Blunder::Hanging, &is_safe);
        }
        None
    }
}

/// Whether the other side has no move after this one.
fn wins(board: &Board, mv: XiangqiMove) -> bool {
    let mut after = *board;
    after.make(mv);
    !after.has_legal_move()
}

/// Whether the other side wins with its next move.
fn lets_win(board: &Board, mv: XiangqiMove) -> bool {
    let mut after = *board;
    after.make(mv);
    let mut replies = Vec::new();
    after.legal_moves(&mut replies);
    replies.into_iter().any(|reply| wins(&after, reply))
}

/// Whether the other side captures a piece for nothing or for much less: what the move has taken, and what can be taken in turn,
/// on the same square or elsewhere, is counted against it. Whoever mates in turn has given nothing away.
fn hangs(board: &Board, mv: XiangqiMove) -> bool {
    let won = board.worth_at(mv.to);
    let mut after = *board;
    after.make(mv);
    let mut captures = Vec::new();
    after.each_legal(after.side(after.turn().other()), |reply| {
        if after.worth_at(reply.to) >= PIECE && after.exchange_holds(reply, GIVEN + won) {
            captures.push(reply);
        }
    });
    captures.into_iter().any(|reply| {
        let wanted = after.worth_at(reply.to) - won - GIVEN + 1;
        let mut taken = after;
        taken.make(reply);
        let mut answers = Vec::new();
        taken.legal_moves(&mut answers);
        !answers.into_iter().any(|answer| {
            taken.worth_at(answer.to) > 0 && taken.exchange_holds(answer, wanted) || wins(&taken, answer)
        })
    })
}
