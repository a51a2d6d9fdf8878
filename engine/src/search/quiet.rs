//! Where the depth ends: captures and what else cannot wait are looked at until the position can be judged.

use super::alphabeta::Walk;
use super::order::{Way, pick};
use super::table::{Bound, Memory, NO_MOVE};
use super::{AlphaBetaGame, MAX_PLY, Urgency, Value};

impl<G: AlphaBetaGame> Walk<'_, '_, G> {
    /// The value of a position that has been counted and is not decided: the side to move may be content with the judgement,
    /// unless it is in check or owes a choice. `level` is the number of plies since the depth ended.
    pub(super) fn quiet(&mut self, mut alpha: i32, beta: i32, ply: usize, level: u32) -> i32 {
        let in_line = beta - alpha > 1;
        let key = self.game.key();
        let memory = self.known.table.get(key);
        if let Some(memory) = memory
            && !in_line
        {
            let value = Value::from_node(memory.value, ply);
            if memory.bound.decides(value, alpha, beta) {
                return value;
            }
        }
        let urgency = self.game.urgency();
        let free = urgency == Urgency::Free;
        let mut best = -Value::INFINITE;
        let mut eval = 0;
        let mut bound = Bound::Upper;
        if free {
            eval = memory.map_or_else(|| self.known.judge(self.game), |memory| memory.eval);
            best = self.correct(eval);
            if best >= beta {
                if memory.is_none() {
                    let memory = Memory { mv: NO_MOVE, value: best, eval, depth: 0, bound: Bound::Lower };
                    self.known.table.put(key, memory);
                }
                return best;
            }
            alpha = alpha.max(best);
        }
        let content = best;
        let first = memory.map_or(NO_MOVE, |memory| memory.mv);
        let mut best_number = NO_MOVE;
        let mut candidates = std::mem::take(&mut self.known.lists[ply]);
        let in_check = urgency == Urgency::Threatened;
        if in_check {
            self.game.candidates(&mut candidates);
            let way = Way { ply, previous: None, before: self.before(ply) };
            let known = &*self.known;
            known.order.rank(self.game, &known.habits, &mut candidates, first, way);
        } else {
            self.game.loud(&mut candidates, level == 0);
            for candidate in &mut candidates {
                if G::number(candidate.mv) == first {
                    candidate.rank = i32::MAX;
                }
            }
        }
        let stuck = in_check && candidates.is_empty();
        let delta = self.known.habits.tactics.map_or(0, |tactics| tactics.delta);
        let side = self.game.turn();
        for n in 0..candidates.len() {
            let candidate = pick(&mut candidates, n);
            self.expect(candidate.mv);
            if free && candidate.takes > 0 && self.known.options.pruning {
                let most = content + candidate.takes + delta;
                if most <= alpha {
                    best = best.max(most);
                    continue;
                }
            }
            // Out of check one quiet answer is enough once something holds.
            if in_check
                && best > -Value::PROVEN
                && candidate.takes == 0
                && self.known.options.pruning
                && n > 2
            {
                break;
            }
            self.make(candidate.mv, ply);
            let value = if !G::ALTERNATES && self.game.turn() == side {
                self.further(alpha, beta, ply + 1, level + 1)
            } else {
                -self.further(-beta, -alpha, ply + 1, level + 1)
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
        self.known.lists[ply] = candidates;
        if self.clock.is_over() {
            return 0;
        }
        if stuck {
            return G::STUCK.value(ply);
        }
        if best == -Value::INFINITE {
            // It owes a choice, and has none: a game does not ask so, but judgement is the answer to it.
            return self.known.judge(self.game);
        }
        if !Value::is_ruled(best) {
            let value = Value::to_node(best, ply);
            self.known.table.put(key, Memory { mv: best_number, value, eval, depth: 0, bound });
        }
        best
    }

    /// [`Self::quiet`] one move on.
    fn further(&mut self, alpha: i32, beta: i32, ply: usize, level: u32) -> i32 {
        self.known.lines[ply].clear();
        if self.clock.tick() {
            return 0;
        }
        if let Some(known) = self.game.known() {
            return known.value(ply);
        }
        if ply >= MAX_PLY - 1 {
            return self.known.judge(self.game);
        }
        self.quiet(alpha, beta, ply, level)
    }
}
