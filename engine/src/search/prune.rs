//! What is not worth looking at, and what is worth a deeper look: all that is decided about a node or a move from what is known
//! before it is searched.

use super::alphabeta::{PLY, Place, Walk};
use super::order::NO_TRAIL;
use super::table::{Bound, Memory, NO_MOVE};
use super::{AlphaBetaGame, Candidate, Urgency, Value};

impl<G: AlphaBetaGame> Walk<'_, '_, G> {
    /// Whether judgement is so far above the window that the depth left will hardly bring it down.
    pub(super) fn stands_above(&self, eval: i32, beta: i32, place: Place<G::Move>) -> bool {
        let Place { ply, depth, .. } = place;
        let habits = &self.known.habits;
        let improving = ply >= 2 && eval > self.known.evals[ply - 2];
        let margin =
            habits.reverse_futility * depth / PLY - if improving { habits.reverse_futility } else { 0 };
        self.known.options.pruning
            && !Value::is_proven(beta)
            && depth <= habits.reverse_futility_plies * PLY
            && eval - margin >= beta
    }

    /// A value outside the window that is as good as certain without looking at every move.
    pub(super) fn shortcut(
        &mut self,
        eval: i32,
        alpha: i32,
        beta: i32,
        place: Place<G::Move>,
    ) -> Option<i32> {
        let Place { ply, depth, cut, .. } = place;
        if !self.known.options.pruning || Value::is_proven(beta) {
            return None;
        }
        let habits = self.known.habits;
        if self.stands_above(eval, beta, place) {
            return Some(eval);
        }
        if depth <= habits.razor_plies * PLY && eval + habits.razor * (depth / PLY + 1) <= alpha {
            if habits.tactics.is_none() {
                return Some(eval);
            }
            let value = self.quiet(alpha, alpha + 1, ply, 0);
            if value <= alpha {
                return Some(value);
            }
        }
        if cut && depth >= habits.null_move_plies * PLY && eval >= beta && self.game.pass() {
            let further =
                habits.tactics.map_or(0, |tactics| ((eval - beta) / tactics.null_move_step).min(3) * PLY);
            let (plies, part) = habits.null_move;
            let depth = depth - plies * PLY - depth / part - further;
            if G::TRAILS > 0 {
                self.known.trails[ply] = NO_TRAIL;
            }
            let place = Place { ply: ply + 1, depth, cut: false, previous: None, without: NO_MOVE };
            let value = -self.node(-beta, -beta + 1, place);
            self.game.unpass();
            if value >= beta && !self.clock.is_over() {
                return Some(if Value::is_proven(value) { beta } else { value });
            }
        }
        None
    }

    /// Is the remembered move so much better than the others that it deserves a deeper look? And if even the others are good
    /// enough, the node is.
    pub(super) fn singular(&mut self, memory: Memory, beta: i32, place: Place<G::Move>) -> Singular {
        let habits = self.known.habits;
        let plies = place.depth / PLY;
        if !self.known.options.extensions
            || plies < habits.singular_plies
            || memory.mv == NO_MOVE
            || memory.bound == Bound::Upper
            || memory.depth < place.depth - 3 * PLY
            || Value::is_proven(memory.value)
            || Value::is_ruled(memory.value)
        {
            return Singular::Extend(0);
        }
        let enough = memory.value - habits.singular * plies;
        let depth = (place.depth - PLY) / 2;
        let value = self.node(enough - 1, enough, Place { depth, without: memory.mv, ..place });
        if value < enough {
            Singular::Extend(PLY)
        } else if enough >= beta && !self.clock.is_over() {
            Singular::Enough(enough)
        } else if memory.value >= beta {
            Singular::Extend(-PLY)
        } else {
            Singular::Extend(0)
        }
    }

    /// Whether a move is not worth a look by what is known of it before it is made: `depth` is what it would be looked at.
    pub(super) fn is_hopeless(
        &self,
        candidate: Candidate<G::Move>,
        eval: i32,
        alpha: i32,
        place: Place<G::Move>,
        urgency: Urgency,
        depth: i32,
    ) -> bool {
        let habits = &self.known.habits;
        if candidate.forcing || candidate.takes > 0 {
            let plies = place.depth / PLY;
            return plies <= 8
                && habits
                    .tactics
                    .is_some_and(|tactics| !self.game.holds(candidate.mv, -tactics.loud_loss * plies));
        }
        if urgency != Urgency::Free {
            return false;
        }
        let plies = depth.max(0) / PLY;
        let (base, slope) = habits.futility;
        if plies <= habits.futility_plies && eval + base + slope * plies <= alpha {
            return true;
        }
        if plies <= 4 && habits.history < HISTORY_WORST {
            let (side, before) = (self.game.turn(), self.before(place.ply));
            let history = self.known.order.history(self.game, side, candidate.mv, before);
            if history < -habits.history * (plies + 1) {
                return true;
            }
        }
        plies <= 8
            && habits
                .tactics
                .is_some_and(|tactics| !self.game.holds(candidate.mv, -tactics.quiet_loss * plies * plies))
    }
}

/// History says no worse than three times this: by itself, and after the moves one and two plies ago.
const HISTORY_WORST: i32 = 3 * 1024;

/// What came of the question whether a move is the only good one.
pub(super) enum Singular {
    /// Look this much deeper, in parts of a ply.
    Extend(i32),
    /// Without that move the node is worth at least this, which is outside the window.
    Enough(i32),
}
