//! Quiescence search: captures, and answers to checks, until the static evaluation can be trusted.

use super::alphabeta::Searcher;
use super::order::{Way, pick};
use super::table::{Bound, NO_MOVE, TableEntry};
use super::{AlphaBetaGame, MAX_PLY, Urgency, Value};

impl<G: AlphaBetaGame> Searcher<'_, '_, G> {
    /// The value of a position by quiescence search. The side to move may stand pat, unless it is in check or has a pending
    /// choice. The clock has already counted the node, and the game is not over. `level`: plies since the end of the depth.
    pub(super) fn quiescence(&mut self, mut alpha: i32, beta: i32, ply: usize, level: u32) -> i32 {
        let is_pv = beta - alpha > 1;
        let key = self.game.key();
        let entry = self.state.table.get(key);
        if let Some(entry) = entry
            && !is_pv
        {
            let value = Value::from_node(entry.value, ply);
            if entry.bound.decides(value, alpha, beta) {
                return value;
            }
        }
        let urgency = self.game.urgency();
        let free = urgency == Urgency::Free;
        let mut best = -Value::INFINITE;
        let mut eval = 0;
        let mut bound = Bound::Upper;
        if free {
            eval = entry.map_or_else(|| self.state.judge(self.game), |entry| entry.eval);
            best = self.corrected(eval);
            if best >= beta {
                if entry.is_none() {
                    let entry = TableEntry { mv: NO_MOVE, value: best, eval, depth: 0, bound: Bound::Lower };
                    self.state.table.put(key, entry);
                }
                return best;
            }
            alpha = alpha.max(best);
        }
        let stand_pat = best;
        let first = entry.map_or(NO_MOVE, |entry| entry.mv);
        let mut best_number = NO_MOVE;
        let mut candidates = std::mem::take(&mut self.state.lists[ply]);
        let in_check = urgency == Urgency::Threatened;
        if in_check {
            self.game.candidates(&mut candidates);
            let way = Way { ply, previous: None, before: self.before(ply) };
            let state = &*self.state;
            state.order.rank(self.game, &state.params, &mut candidates, first, way);
        } else {
            self.game.noisy(&mut candidates, level == 0);
            for candidate in &mut candidates {
                if G::number(candidate.mv) == first {
                    candidate.rank = i32::MAX;
                }
            }
        }
        let stuck = in_check && candidates.is_empty();
        let delta = self.state.params.tactics.map_or(0, |tactics| tactics.delta_margin);
        let side = self.game.turn();
        for n in 0..candidates.len() {
            let candidate = pick(&mut candidates, n);
            self.prefetch(candidate.mv);
            if free && candidate.takes > 0 && self.state.options.pruning {
                let most = stand_pat + candidate.takes + delta;
                if most <= alpha {
                    best = best.max(most);
                    continue;
                }
            }
            // Out of check, one quiet evasion suffices once a move holds.
            if in_check
                && best > -Value::PROVEN
                && candidate.takes == 0
                && self.state.options.pruning
                && n > 2
            {
                break;
            }
            self.make(candidate.mv, ply);
            let value = if !G::ALTERNATES && self.game.turn() == side {
                self.quiescence_child(alpha, beta, ply + 1, level + 1)
            } else {
                -self.quiescence_child(-beta, -alpha, ply + 1, level + 1)
            };
            self.game.unmake();
            if self.clock.is_over() {
                break;
            }
            if value > best {
                best = value;
                if value > alpha {
                    alpha = value;
                    best_number = G::number(candidate.mv);
                    bound = Bound::Exact;
                }
                if value >= beta {
                    bound = Bound::Lower;
                    break;
                }
            }
        }
        self.state.lists[ply] = candidates;
        if self.clock.is_over() {
            return 0;
        }
        if stuck {
            return G::STUCK.value(ply);
        }
        if best == -Value::INFINITE {
            // A pending choice without moves; games avoid this. The static evaluation is the answer.
            return self.state.judge(self.game);
        }
        if !Value::is_ruled(best) {
            let value = Value::to_node(best, ply);
            self.state.table.put(key, TableEntry { mv: best_number, value, eval, depth: 0, bound });
        }
        best
    }

    /// [`Self::quiescence`] after a move.
    fn quiescence_child(&mut self, alpha: i32, beta: i32, ply: usize, level: u32) -> i32 {
        self.state.lines[ply].clear();
        if self.clock.tick() {
            return 0;
        }
        if let Some(verdict) = self.game.verdict() {
            return verdict.value(ply);
        }
        if ply >= MAX_PLY - 1 {
            return self.state.judge(self.game);
        }
        self.quiescence(alpha, beta, ply, level)
    }
}
