//! Looking ahead: iterative deepening, principal variation search with aspiration windows, and what is not worth looking at.

use super::order::{Order, pick};
use super::table::{Bound, Memory, NO_MOVE, Table};
use super::{AlphaBetaGame, Candidate, Clock, Effort, MAX_PLY, Urgency, Value};
use crate::Rng;

/// What a search has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding<M> {
    /// Expected play, never empty.
    pub line: Vec<M>,
    /// Seen from the side to move; see [`Value`].
    pub value: i32,
    /// Plies of full search completed.
    pub depth: u32,
    /// Positions visited.
    pub nodes: u64,
}

/// Which of the search's shortcuts to take. Without any it is plain alpha-beta and finds what plain minimax finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Look at late moves less deeply first.
    pub reductions: bool,
    /// Leave out what can hardly matter: hopeless late moves, positions far outside the window.
    pub pruning: bool,
    /// Look deeper where there is one answer.
    pub extensions: bool,
    /// Ask the game for wins by force.
    pub forced_wins: bool,
    /// Every judgement is off by up to this much, always the same for the same position and `seed`: how a weaker player
    /// sees the board.
    pub noise: i32,
    /// For `noise`.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { reductions: true, pruning: true, extensions: true, forced_wins: true, noise: 0, seed: 0 }
    }
}

/// The search and what it remembers from one decision to the next.
pub struct AlphaBeta<G: AlphaBetaGame> {
    options: Options,
    table: Table,
    order: Order<G>,
    /// Candidate lists by ply, kept to spare allocations.
    lists: Vec<Vec<Candidate<G::Move>>>,
    /// Best lines by ply.
    lines: Vec<Vec<G::Move>>,
    /// Judgements by ply, for whether things get better.
    evals: Vec<i32>,
    reductions: Vec<[u8; 64]>,
}

/// Depth is counted in parts of a ply, so that extensions and reductions can be finer than a move.
const PLY: i32 = 4;

// Found by self-play; see EXPERIMENTS.md.
/// Half width of the first window around the last iteration's value.
const ASPIRATION: i32 = 25;
/// Judgement this much above the window, for each ply of depth left, is enough.
const REVERSE_FUTILITY: i32 = 40;
const REVERSE_FUTILITY_DEPTH: i32 = 6 * PLY;
/// Judgement this much below the window is not worth more than a look for a forced win.
const RAZOR: i32 = 110;
const RAZOR_DEPTH: i32 = 3 * PLY;
const NULL_MOVE_DEPTH: i32 = 3 * PLY;

impl<G: AlphaBetaGame> AlphaBeta<G> {
    /// A search whose table of positions takes this many bytes, from the first search on.
    pub fn new(table_bytes: usize, options: Options) -> Self {
        // Reduction in parts of a ply by depth in plies and number of the move: both act as logarithms.
        let reductions = (0..64)
            .map(|depth| {
                std::array::from_fn(|n| {
                    if depth == 0 || n == 0 {
                        return 0;
                    }
                    let plies = 0.4 + f64::from(depth).ln() * (n as f64).ln() / 1.5;
                    (plies * f64::from(PLY)) as u8
                })
            })
            .collect();
        Self {
            options,
            table: Table::new(table_bytes),
            order: Order::new(),
            lists: Vec::new(),
            lines: Vec::new(),
            evals: Vec::new(),
            reductions,
        }
    }

    /// Forgets what earlier searches have learnt: after this the same input gives the same output again. The table takes this
    /// many bytes from now on; filling a large one with nothing takes longer than a short search.
    pub fn forget(&mut self, table_bytes: usize) {
        self.table.clear(table_bytes);
        self.order.clear();
    }

    /// Takes the table's memory now instead of at the first search.
    pub fn prepare(&mut self) {
        self.table.begin();
    }

    /// The best move for the side to move. `report` is called after each iteration and whenever the best move changes.
    /// `None` when there is no candidate. The clock may have counted before; the finding's nodes are all that it has.
    pub fn search(
        &mut self,
        game: &mut G,
        clock: &mut Clock<'_>,
        report: &mut dyn FnMut(&Finding<G::Move>),
    ) -> Option<Finding<G::Move>> {
        self.table.begin();
        self.order.begin();
        self.lists.resize_with(MAX_PLY + 1, Vec::new);
        self.lines.resize_with(MAX_PLY + 2, Vec::new);
        self.evals.resize(MAX_PLY + 1, 0);

        let mut candidates = Vec::new();
        game.candidates(&mut candidates);
        candidates.sort_by_key(|candidate| -candidate.rank);
        let first = candidates.first()?.mv;
        let finding = Finding { line: vec![first], value: game.evaluate(), depth: 0, nodes: clock.nodes() };
        let mut walk = Walk { known: self, game, clock, report, candidates, finding };
        walk.deepen();
        Some(walk.finding)
    }

    /// In parts of a ply, for the n-th move of a node.
    fn reduction(&self, depth: i32, n: usize) -> i32 {
        i32::from(self.reductions[(depth / PLY).min(63) as usize][n.min(63)])
    }

    fn judge(&self, game: &G) -> i32 {
        let eval = game.evaluate();
        if self.options.noise == 0 {
            return eval;
        }
        let off = Rng::new(game.key() ^ self.options.seed).below(2 * self.options.noise as u32 + 1) as i32;
        eval + off - self.options.noise
    }
}

/// One search under way.
struct Walk<'a, 'c, G: AlphaBetaGame> {
    known: &'a mut AlphaBeta<G>,
    game: &'a mut G,
    clock: &'a mut Clock<'c>,
    report: &'a mut dyn FnMut(&Finding<G::Move>),
    /// The moves of the root, the best so far first.
    candidates: Vec<Candidate<G::Move>>,
    finding: Finding<G::Move>,
}

/// Where in the tree a node is.
#[derive(Clone, Copy)]
struct Place<M> {
    ply: usize,
    /// Depth left, in parts of a ply.
    depth: i32,
    /// Whether the node is expected to be refuted by its first move.
    cut: bool,
    /// The move that led here; `None` after a pass.
    previous: Option<M>,
}

impl<G: AlphaBetaGame> Walk<'_, '_, G> {
    /// One iteration after the other, each a ply deeper, until the clock runs out or there is nothing left to find.
    fn deepen(&mut self) {
        for depth in 1..MAX_PLY as u32 / 2 {
            if self.clock.is_over() || self.clock.is_too_deep(depth) {
                break;
            }
            let Some(value) = self.aspirate(depth as i32) else { break };
            self.finding.value = value;
            self.finding.depth = depth;
            self.finding.nodes = self.clock.nodes();
            (self.report)(&self.finding);
            // A proof that is shorter than the depth gets no better, and one move needs no thought.
            let proven = Value::is_proven(value) && (Value::WIN - value.abs()) < depth as i32;
            if proven || (self.candidates.len() == 1 && depth >= 2) {
                break;
            }
        }
        self.finding.nodes = self.clock.nodes();
    }

    /// One iteration: a narrow window first, wider ones until the value lies inside. `None` when the clock ran out.
    fn aspirate(&mut self, plies: i32) -> Option<i32> {
        let mut width = ASPIRATION;
        let last = self.finding.value;
        let (mut alpha, mut beta) = if plies >= 4 && !Value::is_proven(last) {
            (last - width, last + width)
        } else {
            (-Value::INFINITE, Value::INFINITE)
        };
        loop {
            let value = self.root(alpha, beta, plies * PLY)?;
            if value > alpha && value < beta {
                return Some(value);
            }
            width *= 4;
            if value <= alpha {
                alpha = if width > 1000 { -Value::INFINITE } else { value - width };
            } else {
                beta = if width > 1000 { Value::INFINITE } else { value + width };
            }
        }
    }

    /// The root: every candidate is searched, and the list is kept in order from one iteration to the next.
    fn root(&mut self, mut alpha: i32, beta: i32, depth: i32) -> Option<i32> {
        let mut best = -Value::INFINITE;
        for n in 0..self.candidates.len() {
            let candidate = self.candidates[n];
            self.game.make(candidate.mv);
            let mut value = best;
            let place = |depth, cut| Place { ply: 1, depth, cut, previous: Some(candidate.mv) };
            if n > 0 {
                let reducible =
                    self.known.options.reductions && n >= 3 && !candidate.forcing && depth >= 3 * PLY;
                let reduction = if reducible { self.known.reduction(depth, n) * 2 / 3 } else { 0 };
                value = -self.node(-alpha - 1, -alpha, place(depth - PLY - reduction, true));
                if value > alpha && reduction > 0 {
                    value = -self.node(-alpha - 1, -alpha, place(depth - PLY, true));
                }
            }
            if n == 0 || value > alpha {
                value = -self.node(-beta, -alpha, place(depth - PLY, false));
            }
            self.game.unmake();
            if self.clock.is_over() {
                return None;
            }
            if value > best {
                best = value;
                if value > alpha {
                    alpha = value;
                    self.finding.line.clear();
                    self.finding.line.push(candidate.mv);
                    self.finding.line.extend_from_slice(&self.known.lines[1]);
                    self.finding.value = value;
                    self.finding.nodes = self.clock.nodes();
                    self.candidates[..=n].rotate_right(1);
                    if n > 0 {
                        (self.report)(&self.finding);
                    }
                }
                if value >= beta {
                    break;
                }
            }
        }
        Some(best)
    }

    /// The value of a position, exact inside the window and a bound outside. Worthless once the clock is over.
    fn node(&mut self, mut alpha: i32, mut beta: i32, place: Place<G::Move>) -> i32 {
        let ply = place.ply;
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
        // A shorter win than one already found is all that counts.
        alpha = alpha.max(-Value::WIN + ply as i32);
        beta = beta.min(Value::WIN - ply as i32 - 1);
        if alpha >= beta {
            return alpha;
        }
        let in_line = beta - alpha > 1;
        let key = self.game.key();
        let memory = self.known.table.get(key);
        if let Some(memory) = memory
            && !in_line
            && memory.depth >= place.depth
        {
            let value = Value::from_node(memory.value, ply);
            let good = match memory.bound {
                Bound::Exact => true,
                Bound::Lower => value >= beta,
                Bound::Upper => value <= alpha,
            };
            if good {
                return value;
            }
        }
        let urgency = self.game.urgency();
        if place.depth <= 0 && urgency != Urgency::Forced {
            return self.leaf(ply);
        }
        let eval = memory.map_or_else(|| self.known.judge(self.game), |memory| memory.eval);
        self.known.evals[ply] = eval;
        // Nothing new where the table has been here: a forced win would have been found then.
        if self.known.options.forced_wins && (memory.is_none() || ply == 1) && urgency != Urgency::Forced {
            let thorough = ply == 1 && place.depth >= PLY;
            let effort = if thorough { Effort::Thorough } else { Effort::Inner };
            if let Some(plies) = self.game.forced_win(effort, self.clock) {
                let value = Value::WIN - (ply as i32 + plies as i32);
                let value_here = Value::to_node(value, ply);
                let proof = Memory { mv: NO_MOVE, value: value_here, eval, depth: 255, bound: Bound::Exact };
                self.known.table.put(key, proof);
                return value;
            }
        }
        if !in_line
            && urgency == Urgency::Free
            && let Some(value) = self.shortcut(eval, alpha, beta, place)
        {
            return value;
        }
        if self.clock.is_over() {
            return 0;
        }
        let first = memory.map_or(NO_MOVE, |memory| memory.mv);
        let mut depth = place.depth.max(0);
        if self.known.options.reductions && first == NO_MOVE && depth >= 4 * PLY {
            depth -= PLY;
        }
        let mut candidates = std::mem::take(&mut self.known.lists[ply]);
        self.game.candidates(&mut candidates);
        self.known.order.rank(&mut candidates, first, self.game.turn(), ply, place.previous);
        let (best, bound, mv) = self.moves(&mut candidates, alpha, beta, Place { depth, ..place }, urgency);
        let nothing_to_play = candidates.is_empty();
        self.known.lists[ply] = candidates;
        if self.clock.is_over() || nothing_to_play {
            return 0;
        }
        let value = Value::to_node(best, ply);
        self.known.table.put(key, Memory { mv, value, eval, depth: depth.min(255), bound });
        best
    }

    /// Searches the candidates of a node, and says the best value, what it is worth and the number of its move.
    fn moves(
        &mut self,
        candidates: &mut [Candidate<G::Move>],
        mut alpha: i32,
        beta: i32,
        place: Place<G::Move>,
        urgency: Urgency,
    ) -> (i32, Bound, u16) {
        let Place { ply, depth, cut, previous } = place;
        let side = self.game.turn();
        let in_line = beta - alpha > 1;
        let improving = ply >= 2 && self.known.evals[ply] > self.known.evals[ply - 2];
        let extension = match urgency {
            _ if !self.known.options.extensions => 0,
            Urgency::Forced => PLY,
            Urgency::Threatened | Urgency::Free => 0,
        };
        let plies = depth / PLY;
        let enough = if improving { 6 + plies * plies } else { 4 + plies * plies * 2 / 3 };
        let new_depth = depth - PLY + extension;
        let mut best = -Value::INFINITE;
        let mut best_number = NO_MOVE;
        let mut bound = Bound::Upper;
        let mut searched = 0;
        for n in 0..candidates.len() {
            let candidate = pick(candidates, n);
            let quiet = !candidate.forcing && urgency == Urgency::Free;
            let late = quiet && !in_line && best > -Value::PROVEN && searched >= enough;
            if self.known.options.pruning && late {
                continue;
            }
            let mut reduction = 0;
            if self.known.options.reductions && plies >= 2 && searched >= 2 && urgency == Urgency::Free {
                reduction = self.known.reduction(depth, searched as usize);
                if candidate.forcing {
                    reduction /= 2;
                }
                if in_line {
                    reduction -= PLY / 2;
                }
                if cut {
                    reduction += PLY / 2;
                }
                reduction -= self.known.order.history(side, candidate.mv) * PLY / 1024;
                reduction = reduction.clamp(0, (new_depth - PLY).max(0));
            }
            let next = |depth, cut| Place { ply: ply + 1, depth, cut, previous: Some(candidate.mv) };
            self.game.make(candidate.mv);
            let mut value = best;
            if searched > 0 {
                value = -self.node(-alpha - 1, -alpha, next(new_depth - reduction, true));
                if value > alpha && reduction > 0 {
                    value = -self.node(-alpha - 1, -alpha, next(new_depth, !cut));
                }
            }
            if searched == 0 || (value > alpha && value < beta && in_line) {
                value = -self.node(-beta, -alpha, next(new_depth, !in_line && !cut));
            }
            self.game.unmake();
            if self.clock.is_over() {
                break;
            }
            searched += 1;
            if value > best {
                best = value;
            }
            if value > alpha {
                alpha = value;
                best_number = G::number(candidate.mv);
                bound = Bound::Exact;
                if in_line {
                    let (here, below) = self.known.lines.split_at_mut(ply + 1);
                    here[ply].clear();
                    here[ply].push(candidate.mv);
                    here[ply].extend_from_slice(&below[0]);
                }
            }
            if value >= beta {
                bound = Bound::Lower;
                if urgency == Urgency::Free {
                    self.known.order.learn(&candidates[..=n], side, ply, previous, plies);
                }
                break;
            }
        }
        (best, bound, best_number)
    }

    /// A value outside the window that is as good as certain without looking at every move.
    fn shortcut(&mut self, eval: i32, alpha: i32, beta: i32, place: Place<G::Move>) -> Option<i32> {
        let Place { ply, depth, cut, .. } = place;
        if !self.known.options.pruning || Value::is_proven(beta) {
            return None;
        }
        let improving = ply >= 2 && eval > self.known.evals[ply - 2];
        let margin = REVERSE_FUTILITY * depth / PLY - if improving { REVERSE_FUTILITY } else { 0 };
        if depth <= REVERSE_FUTILITY_DEPTH && eval - margin >= beta {
            return Some(eval);
        }
        if depth <= RAZOR_DEPTH && eval + RAZOR * (depth / PLY + 1) <= alpha {
            return Some(eval);
        }
        if cut && depth >= NULL_MOVE_DEPTH && eval >= beta && self.game.pass() {
            let depth = depth - 3 * PLY - depth / 4;
            let value =
                -self.node(-beta, -beta + 1, Place { ply: ply + 1, depth, cut: false, previous: None });
            self.game.unpass();
            if value >= beta && !self.clock.is_over() {
                return Some(if Value::is_proven(value) { beta } else { value });
            }
        }
        None
    }

    /// The end of the look ahead: a win by force, or judgement.
    fn leaf(&mut self, ply: usize) -> i32 {
        if self.known.options.forced_wins
            && let Some(plies) = self.game.forced_win(Effort::Leaf, self.clock)
        {
            return Value::WIN - (ply as i32 + plies as i32);
        }
        self.known.judge(self.game)
    }
}

/// Plain minimax over the same game, slow and simple: what the search without its options must equal.
#[cfg(test)]
pub(crate) fn minimax<G: AlphaBetaGame>(game: &mut G, depth: u32, ply: usize) -> i32 {
    if ply > 0
        && let Some(known) = game.known()
    {
        return known.value(ply);
    }
    if depth == 0 && game.urgency() != Urgency::Forced {
        return game.evaluate();
    }
    let mut candidates = Vec::new();
    game.candidates(&mut candidates);
    let mut best = if candidates.is_empty() { 0 } else { -Value::INFINITE };
    for candidate in candidates {
        game.make(candidate.mv);
        best = best.max(-minimax(game, depth.saturating_sub(1), ply + 1));
        game.unmake();
    }
    best
}
