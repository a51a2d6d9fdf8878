//! Pruning and extensions: decisions about a node or a move before its search.

use super::alphabeta::{Node, PLY, Searcher, Singular};
use super::order::NO_CONTINUATION;
use super::table::{Bound, NO_MOVE, TableEntry};
use super::{AlphaBetaGame, Candidate, Urgency, Value};

impl<G: AlphaBetaGame> Searcher<'_, '_, G> {
    /// Reverse futility pruning: whether the evaluation exceeds beta by more than the remaining depth can lose.
    pub(super) fn reverse_futility_prunes(&self, eval: i32, beta: i32, node: Node<G::Move>) -> bool {
        let Node { ply, depth, .. } = node;
        let params = &self.state.params;
        let improving = ply >= 2 && eval > self.state.evals[ply - 2];
        let margin =
            params.reverse_futility * depth / PLY - if improving { params.reverse_futility } else { 0 };
        self.state.options.pruning
            && !Value::is_proven(beta)
            && depth <= params.reverse_futility_plies * PLY
            && eval - margin >= beta
    }

    /// Reverse futility pruning, razoring and null move pruning: a bound outside the window, without a search of the moves.
    pub(super) fn prune_node(
        &mut self,
        eval: i32,
        alpha: i32,
        beta: i32,
        node: Node<G::Move>,
    ) -> Option<i32> {
        let Node { ply, depth, cut, .. } = node;
        if !self.state.options.pruning || Value::is_proven(beta) {
            return None;
        }
        let params = self.state.params;
        if self.reverse_futility_prunes(eval, beta, node) {
            return Some(eval);
        }
        if depth <= params.razor_plies * PLY && eval + params.razor * (depth / PLY + 1) <= alpha {
            if params.tactics.is_none() {
                return Some(eval);
            }
            let value = self.quiescence(alpha, alpha + 1, ply, 0);
            if value <= alpha {
                return Some(value);
            }
        }
        if cut && depth >= params.null_move_plies * PLY && eval >= beta && self.game.pass() {
            let further =
                params.tactics.map_or(0, |tactics| ((eval - beta) / tactics.null_move_step).min(3) * PLY);
            let (plies, part) = params.null_move;
            let depth = depth - plies * PLY - depth / part - further;
            if G::CONTINUATIONS > 0 {
                self.state.continuations[ply] = NO_CONTINUATION;
            }
            let node = Node { ply: ply + 1, depth, cut: false, previous: None, excluded: NO_MOVE };
            let value = -self.search_node(-beta, -beta + 1, node);
            self.game.unpass();
            if value >= beta && !self.clock.is_over() {
                return Some(if Value::is_proven(value) { beta } else { value });
            }
        }
        None
    }

    /// Singular extension: whether every other move misses the table's value by the margin. Multi-cut: if even another move
    /// reaches beta, the node is cut off.
    pub(super) fn singular(&mut self, entry: TableEntry, beta: i32, node: Node<G::Move>) -> Singular {
        let params = self.state.params;
        let plies = node.depth / PLY;
        if !self.state.options.extensions
            || plies < params.singular_plies
            || entry.mv == NO_MOVE
            || entry.bound == Bound::Upper
            || entry.depth < node.depth - 3 * PLY
            || Value::is_proven(entry.value)
            || Value::is_ruled(entry.value)
        {
            return Singular::Extend(0);
        }
        let enough = entry.value - params.singular_margin * plies;
        let depth = (node.depth - PLY) / 2;
        let value = self.search_node(enough - 1, enough, Node { depth, excluded: entry.mv, ..node });
        if value < enough {
            Singular::Extend(PLY)
        } else if enough >= beta && !self.clock.is_over() {
            Singular::Enough(enough)
        } else if entry.value >= beta {
            Singular::Extend(-PLY)
        } else {
            Singular::Extend(0)
        }
    }

    /// Futility, history and SEE pruning of a move before it is made. `depth`: its depth after reductions.
    pub(super) fn prune_move(
        &self,
        candidate: Candidate<G::Move>,
        eval: i32,
        alpha: i32,
        node: Node<G::Move>,
        urgency: Urgency,
        depth: i32,
    ) -> bool {
        let params = &self.state.params;
        if candidate.forcing || candidate.takes > 0 {
            let plies = node.depth / PLY;
            return plies <= 8
                && params.tactics.is_some_and(|tactics| {
                    !self.game.see_at_least(candidate.mv, -tactics.see_noisy_margin * plies)
                });
        }
        if urgency != Urgency::Free {
            return false;
        }
        let plies = depth.max(0) / PLY;
        let (base, slope) = params.futility;
        if plies <= params.futility_plies && eval + base + slope * plies <= alpha {
            return true;
        }
        if plies <= 4 && params.history_pruning < HISTORY_WORST {
            let (side, before) = (self.game.turn(), self.before(node.ply));
            let history = self.state.order.history(self.game, side, candidate.mv, before);
            if history < -params.history_pruning * (plies + 1) {
                return true;
            }
        }
        plies <= 8
            && params.tactics.is_some_and(|tactics| {
                !self.game.see_at_least(candidate.mv, -tactics.see_quiet_margin * plies * plies)
            })
    }
}

/// Magnitude of the worst history score: butterfly history and two continuation histories, 1,024 each.
const HISTORY_WORST: i32 = 3 * 1024;
