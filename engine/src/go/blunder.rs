//! What a move overlooks in Go: see [`crate::blunders`].

use super::{Go, GoMove};
use crate::blunders::{Blunder, Overlooked};
use crate::game::points;
use crate::novice::is_own_eye;
use crate::reasons::go::saving;
use crate::threats::chain;
use crate::{Action, Game, Point};

/// Stones of a chain that is worth saving wherever it stands.
const SEVERAL: usize = 4;

impl Go {
    /// See [`crate::blunders::overlooked`]. Whoever passes has left nothing.
    pub(crate) fn overlooked(&self, played: Action, watched: &[Blunder]) -> Option<Overlooked> {
        let (Action::Place(at), mv) = (played, self.legal_move(played).ok()?) else { return None };
        if watched.contains(&Blunder::OwnEye) && self.fills_eye(at) {
            let mut moves = Vec::new();
            self.legal_moves(&mut moves);
            moves.retain(|mv| !matches!(mv, GoMove::Place(at) if is_own_eye(self, *at)));
            return Overlooked::by::<Self>(Blunder::OwnEye, &moves);
        }
        if !watched.contains(&Blunder::LeftInAtari) {
            return None;
        }
        let mut after = self.clone();
        after.play(mv);
        let taken = (after.prisoners(self.turn()) - self.prisoners(self.turn())) as usize;
        let size = u16::from(self.setup().size);
        let mut seen: Vec<Point> = Vec::new();
        // Of the chains in atari: the stones of the largest that is saved, and those that are left, with their stones.
        let (mut saved, mut left) = (0, Vec::new());
        for from in points(size, size).filter(|&at| self.at(at) == Some(self.turn())) {
            if seen.contains(&from) {
                continue;
            }
            let (stones, liberties) = chain(self, from);
            seen.extend(&stones);
            if liberties.len() != 1 {
                continue;
            }
            if chain(&after, from).1.len() == 1 {
                left.push((stones.len(), from));
            } else {
                saved = saved.max(stones.len());
            }
        }
        left.sort_by_key(|&(stones, _)| std::cmp::Reverse(stones));
        let worth = SEVERAL.max(taken + 1).max(saved + 1);
        left.into_iter().filter(|&(stones, _)| stones >= worth).find_map(|(_, from)| {
            let moves: Vec<GoMove> = saving(self, from).into_iter().map(GoMove::Place).collect();
            Overlooked::by::<Self>(Blunder::LeftInAtari, &moves)
        })
    }

    /// Whether a stone here fills an own eye without need: no chain beside it has this liberty alone.
    fn fills_eye(&self, at: Point) -> bool {
        let size = u16::from(self.setup().size);
        is_own_eye(self, at) && at.neighbours(size).all(|beside| chain(self, beside).1.len() > 1)
    }
}
