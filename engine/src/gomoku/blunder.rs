//! What a move overlooks in gomoku: see [`crate::blunders`].

use super::Gomoku;
use super::board::{Board, Square, Tables};
use super::shape::Threat;
use crate::blunders::{Blunder, Overlooked};
use crate::{Action, Game, Side};

impl Gomoku {
    /// See [`crate::blunders::overlooked`]; not in the opening.
    pub(crate) fn overlooked(&self, played: Action, watched: &[Blunder]) -> Option<Overlooked> {
        let Action::Place(at) = played else { return None };
        self.legal_move(played).ok()?;
        let mut board = Board::new(self, Tables::shared(self.setup().rule));
        let (us, them) = (board.turn(), board.turn().other());
        let blunder = if board.count(us, Threat::Five) > 0 { Blunder::MissedWin } else { Blunder::OpenWin };
        let mut sound = match blunder {
            Blunder::MissedWin => fives(&board, us),
            _ if board.count(them, Threat::Five) > 0 => fives(&board, them),
            _ => return None,
        };
        if blunder == Blunder::OpenWin {
            // What makes no five can only stop one where it stands.
            sound.retain(|&square| {
                if board.is_forbidden(square) {
                    return false;
                }
                board.make(square);
                let stopped = board.count(them, Threat::Five) == 0;
                board.unmake();
                stopped
            });
        }
        if sound.is_empty() || sound.contains(&Square::of(at)) || !watched.contains(&blunder) {
            return None;
        }
        Some(Overlooked {
            blunder,
            sound: sound.into_iter().map(|square| Action::Place(square.point())).collect(),
        })
    }
}

/// The points where a side makes five.
fn fives(board: &Board, side: Side) -> Vec<Square> {
    board.near().filter(|&square| board.threat(square, side) == Threat::Five).collect()
}
