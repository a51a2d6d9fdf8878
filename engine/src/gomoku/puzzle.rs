//! Contests of gomoku puzzles: wins by continuous threats, proved move by move.

use super::Gomoku;
use super::board::{Board, Square, Tables};
use super::shape::{Double, Threat};
use crate::prover::{Contest, Stand};
use crate::{Action, Game, Point, Side};

/// The attacker makes only fours, or fours and open threes, until five.
pub(crate) struct ThreatContest {
    board: Board,
    attacker: Side,
    vct: bool,
}

impl ThreatContest {
    /// For rules without forbidden points. `vct`: open threes are allowed too.
    pub(crate) fn new(game: &Gomoku, attacker: Side, vct: bool) -> Self {
        Self { board: Board::new(game, Tables::shared(game.setup().rule)), attacker, vct }
    }
}

impl Contest for ThreatContest {
    type Move = Square;

    fn stand(&self) -> Stand {
        let Self { board, attacker, vct } = self;
        let (us, them) = (*attacker, attacker.other());
        let attack = board.turn() == us;
        if board.five_made() {
            return if attack { Stand::Failed } else { Stand::Reached };
        }
        if board.empty() == 0 {
            return Stand::Failed;
        }
        if attack {
            return Stand::Attack;
        }
        if board.count(us, Threat::Five) > 0 || board.count(them, Threat::Five) > 0 {
            return Stand::Defence;
        }
        // Without a threat of an open four, or with an own one that is faster, no reply is forced.
        let threatened = *vct && board.count(us, Threat::TwoFours) > 0;
        if threatened && board.count(them, Threat::TwoFours) == 0 { Stand::Defence } else { Stand::Failed }
    }

    fn key(&self) -> u64 {
        self.board.key()
    }

    fn attacks(&self, left: u32, into: &mut Vec<Square>) {
        let Self { board, attacker: us, vct } = self;
        let them = us.other();
        if board.count(*us, Threat::Five) > 0 {
            into.extend(board.near().filter(|&square| board.threat(square, *us) == Threat::Five));
            return;
        }
        let must = match board.count(them, Threat::Five) {
            0 => None,
            1 => Some(board.five(them)),
            _ => return,
        };
        let pressed = board.count(them, Threat::TwoFours) > 0;
        let mut ranked: Vec<(i16, Square)> = board
            .near()
            .filter(|&square| must.is_none_or(|must| must == square))
            .filter(|&square| {
                let threat = board.threat(square, *us);
                let answers = !pressed || board.threat(square, them) >= Threat::Four;
                left >= 2 && threat >= Threat::Four || *vct && left >= 3 && threat >= Threat::Three && answers
            })
            .map(|square| (board.shape(square, *us).attack, square))
            .collect();
        ranked.sort_by_key(|&(rank, _)| std::cmp::Reverse(rank));
        into.extend(ranked.into_iter().map(|(_, square)| square));
    }

    fn answers(&self, into: &mut Vec<Square>) {
        let (board, us) = (&self.board, self.attacker.other());
        if board.count(us, Threat::Five) > 0 {
            into.push(board.five(us));
        } else if board.count(self.attacker, Threat::Five) > 0 {
            into.push(board.five(self.attacker));
        } else {
            // Replies to a threatened open four: the points where the three becomes a four, and own fours.
            let mut ranked: Vec<(i16, Square)> = board
                .near()
                .map(|square| (square, board.shape(square, us), board.shape(square, self.attacker)))
                .filter(|(_, own, theirs)| own.threat >= Threat::Four || theirs.threat >= Threat::Four)
                .map(|(square, own, theirs)| (own.attack + theirs.defence, square))
                .collect();
            ranked.sort_by_key(|&(rank, _)| std::cmp::Reverse(rank));
            into.extend(ranked.into_iter().map(|(_, square)| square));
        }
    }

    fn make(&mut self, mv: Square) {
        self.board.make(mv);
    }

    fn unmake(&mut self) {
        self.board.unmake();
    }

    fn action(&self, mv: Square) -> Action {
        Action::Place(mv.point())
    }
}

impl Gomoku {
    /// The threats of both sides. Points that are forbidden for Black are no threats of Black.
    pub(crate) fn threats(&self) -> Vec<crate::threats::Threat> {
        use crate::threats::{Threat as Found, ThreatKind};
        if self.is_opening() || !self.choices().is_empty() {
            return Vec::new();
        }
        let board = Board::new(self, Tables::shared(self.setup().rule));
        let kind = |threat| match threat {
            Threat::Five => Some(ThreatKind::Five),
            Threat::TwoFours => Some(ThreatKind::OpenFour),
            Threat::FourThree | Threat::DoubleThree => Some(ThreatKind::Fork),
            Threat::Four | Threat::FourAndMore => Some(ThreatKind::Four),
            Threat::Three | Threat::ThreeAndMore => Some(ThreatKind::Three),
            Threat::None => None,
        };
        let mut found: Vec<Found> = Vec::new();
        for player in Side::BOTH {
            for square in board.near() {
                let color = self.color(player);
                let Some(kind) = kind(board.threat(square, color)) else { continue };
                if color == Side::First && self.fault(square.point()).is_some() {
                    continue;
                }
                match found.iter_mut().find(|one| one.side == player && one.kind == kind) {
                    Some(one) => one.at.push(square.point()),
                    None => found.push(Found { kind, side: player, at: vec![square.point()] }),
                }
            }
        }
        found
    }

    /// What a stone of this player on an empty point makes that no single reply stops; `None` if it makes five, or nothing of
    /// the kind. Meaningful where [`Self::threats`] names the point.
    pub(crate) fn double_threat(&self, at: Point, player: Side) -> Option<Double> {
        let board = Board::new(self, Tables::shared(self.setup().rule));
        Double::of(board.patterns(Square::of(at), self.color(player)))
    }

    /// As [`Self::threats`], but of the side to move only points where its stone does not lose at once: it makes five, or it
    /// leaves the other side neither a five nor, unless it makes a four, a point for an open four or two fours.
    pub(crate) fn sound_threats(&self) -> Vec<crate::threats::Threat> {
        let mut found = self.threats();
        if found.is_empty() {
            return found;
        }
        let mut board = Board::new(self, Tables::shared(self.setup().rule));
        let (us, turn) = (board.turn(), self.turn());
        let them = us.other();
        for threat in found.iter_mut().filter(|threat| threat.side == turn) {
            threat.at.retain(|&at| {
                let square = Square::of(at);
                if board.threat(square, us) == Threat::Five {
                    return true;
                }
                board.make(square);
                let answered = board.count(us, Threat::Five) > 0 || !board.has_two_fours(them);
                let stands = board.count(them, Threat::Five) == 0 && answered;
                board.unmake();
                stands
            });
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyGame, GameKind};

    #[test]
    fn what_no_single_reply_stops_has_the_name_that_players_give_it() {
        let made = |line: &str, at: Point| {
            let game = AnyGame::from_position(&GameKind::Gomoku.default_setup_for(line), line);
            let Ok(AnyGame::Gomoku(game)) = game else { panic!("{line} is no position") };
            game.double_threat(at, Side::First)
        };
        let h8 = Point::new(7, 7);
        for (line, wanted) in [
            ("15/15/15/15/15/7b7/7b7/3wbbb8/15/15/15/15/15/15/w13w b", Some(Double::FourThree)),
            ("15/15/15/15/15/7b7/7b7/5bb8/15/15/15/15/15/15/w13w b", Some(Double::TwoThrees)),
            ("15/15/15/7w7/7b7/7b7/7b7/3wbbb8/15/15/15/15/15/15/w13w b", Some(Double::TwoFours)),
            ("15/15/15/15/15/15/15/4bbb8/15/15/15/15/15/15/w13w b", Some(Double::OpenFour)),
            // A four with nothing beside it, a three, and five.
            ("15/15/15/15/15/15/15/3wbbb8/15/15/15/15/15/15/w13w b", None),
            ("15/15/15/15/15/15/15/5bb8/15/15/15/15/15/15/w13w b", None),
            ("15/15/15/15/15/15/15/2wbbbb8/15/15/15/15/15/15/w13w b", None),
        ] {
            assert_eq!(made(line, h8), wanted, "{line}");
        }
    }
}
