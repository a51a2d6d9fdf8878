//! Alpha-beta: iterative deepening, aspiration windows, principal variation search, late move reductions, lazy SMP.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::finding::Finding;
use super::order::{NO_CONTINUATION, Order, Way, pick};
use super::table::{Bound, NO_MOVE, TableEntry, TranspositionTable};
use super::threads::{EndOnDrop, beside};
use super::{AlphaBetaGame, Candidate, Clock, Effort, MAX_PLY, SearchParams, Tactics, Urgency, Value};
use crate::parameters::{self, Parameter, ParameterError};
use crate::{Limits, Rng, Side};

/// The techniques to use. Without any, the search is plain alpha-beta with the result of plain minimax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Late move reductions and internal iterative reductions.
    pub reductions: bool,
    /// All pruning of nodes and moves.
    pub pruning: bool,
    /// Extensions: checks, only replies, singular moves.
    pub extensions: bool,
    /// Query [`AlphaBetaGame::forced_win`].
    pub forced_wins: bool,
    /// Quiescence search, for games with [`Tactics`].
    pub quiescence: bool,
    /// Noise of static evaluations, up to this much and deterministic for position and `seed`: it makes lower levels
    /// misjudge positions consistently.
    pub noise: i32,
    /// Seed of `noise`.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            reductions: true,
            pruning: true,
            extensions: true,
            forced_wins: true,
            quiescence: true,
            noise: 0,
            seed: 0,
        }
    }
}

/// The search with its tables, which are kept between decisions.
pub struct AlphaBeta<G: AlphaBetaGame> {
    pub(super) options: Options,
    pub(super) table: TranspositionTable,
    pub(super) order: Order<G>,
    /// Move lists by ply, kept to avoid allocations.
    pub(super) lists: Vec<Vec<Candidate<G::Move>>>,
    /// Principal variations by ply (triangular table).
    pub(super) lines: Vec<Vec<G::Move>>,
    /// [`AlphaBetaGame::continuation_index`] of the move made at each ply.
    pub(super) continuations: Vec<usize>,
    /// Static evaluations by ply, for whether a node is improving.
    pub(super) evals: Vec<i32>,
    /// [`AlphaBetaGame::PARAMS`], as modified by [`Self::set_parameter`].
    pub(super) params: SearchParams,
    reductions: Vec<[u8; 64]>,
    threads: usize,
    /// Searches of the helper threads, which share the transposition table.
    helpers: Vec<AlphaBeta<G>>,
}

/// Late move reductions in fractions of a ply ([`PLY`]), by depth in plies and move number.
fn reductions(params: &SearchParams) -> Vec<[u8; 64]> {
    let (base, flatness) = params.late_move_reduction;
    (0..64)
        .map(|depth| {
            std::array::from_fn(|n| {
                if depth == 0 || n == 0 {
                    return 0;
                }
                let plies = base + f64::from(depth).ln() * (n as f64).ln() / flatness;
                (plies * f64::from(PLY)) as u8
            })
        })
        .collect()
}

/// Fractions per ply in which depth is counted.
pub(super) const PLY: i32 = 4;

impl<G: AlphaBetaGame> AlphaBeta<G> {
    /// A search with a transposition table of this many bytes, allocated at the first search.
    pub fn new(table_bytes: usize, options: Options) -> Self {
        Self {
            options,
            table: TranspositionTable::new(table_bytes),
            order: Order::new(),
            lists: Vec::new(),
            lines: Vec::new(),
            continuations: Vec::new(),
            evals: Vec::new(),
            params: G::PARAMS,
            reductions: reductions(&G::PARAMS),
            threads: 1,
            helpers: Vec::new(),
        }
    }

    /// The search parameters; see `EXPERIMENTS.md`.
    pub fn parameters(&mut self) -> Vec<Parameter> {
        parameters::list(|visit| self.params.each(visit))
    }

    /// Sets a search parameter for subsequent searches.
    ///
    /// # Errors
    /// If there is no such parameter, or the value is out of range.
    pub fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        parameters::set(name, value, |visit| self.params.each(visit))?;
        self.reductions = reductions(&self.params);
        self.helpers.clear();
        Ok(())
    }

    /// Sets the number of search threads, at least 1. With more than one, helper threads search the same position and share
    /// the transposition table (lazy SMP), and the thread that has reached the greatest depth answers. Node limits count the
    /// caller's thread only; results are not reproducible.
    pub fn set_threads(&mut self, threads: usize) {
        self.threads = threads.max(1);
        self.helpers.truncate(self.threads - 1);
    }

    /// Clears all tables: afterwards the same input gives the same output again. The transposition table has this many bytes
    /// from now on; clearing a large one takes longer than a short search.
    pub fn forget(&mut self, table_bytes: usize) {
        self.table.clear(table_bytes);
        self.order.clear();
        self.helpers.clear();
    }

    /// Allocates the transposition table now instead of at the first search.
    pub fn prepare(&mut self) {
        self.table.begin();
    }

    /// The best move for the side to move. `report` is called after each iteration and whenever the best move changes.
    /// `None` if there are no candidates. Nodes that the clock has counted before are not included in the finding.
    pub fn search(
        &mut self,
        game: &mut G,
        clock: &mut Clock<'_>,
        report: &mut dyn FnMut(&Finding<G::Move>),
    ) -> Option<Finding<G::Move>> {
        self.search_among(game, &|_| true, clock, report)
    }

    /// As [`Self::search`], restricted to some moves.
    pub fn search_among(
        &mut self,
        game: &mut G,
        among: &dyn Fn(G::Move) -> bool,
        clock: &mut Clock<'_>,
        report: &mut dyn FnMut(&Finding<G::Move>),
    ) -> Option<Finding<G::Move>> {
        self.table.begin();
        self.begin();
        let mut candidates = Vec::new();
        game.candidates(&mut candidates);
        candidates.retain(|candidate| among(candidate.mv));
        candidates.sort_by_key(|candidate| -candidate.rank);
        let first = candidates.first()?.mv;
        let finding = Finding { line: vec![first], value: game.evaluate(), depth: 0, nodes: clock.nodes() };

        let mut helpers = std::mem::take(&mut self.helpers);
        helpers.resize_with(self.threads - 1, || Self {
            params: self.params,
            reductions: self.reductions.clone(),
            ..Self::new(0, self.options.clone())
        });
        let (over, visited) = (AtomicBool::new(false), AtomicU64::new(0));
        let (own, others) = std::thread::scope(|scope| {
            let end = EndOnDrop(&over);
            let mut running = Vec::new();
            let limits = clock.limits();
            for (n, helper) in helpers.iter_mut().enumerate() {
                helper.table = self.table.clone();
                let (mut game, candidates, finding) = (game.clone(), candidates.clone(), finding.clone());
                let (over, visited) = (&over, &visited);
                let (depth, elapsed) = (limits.depth, limits.elapsed);
                let help = move || {
                    let limits = Limits { time: None, nodes: None, depth, stop: over, elapsed };
                    let mut clock = Clock::new(&limits);
                    let mut counted = 0;
                    let mut count = |nodes| {
                        visited.fetch_add(nodes - counted, Ordering::Relaxed);
                        counted = nodes;
                    };
                    helper.begin();
                    let report = &mut |finding: &Finding<G::Move>| count(finding.nodes);
                    let none = &AtomicU64::new(0);
                    let (game, clock) = (&mut game, &mut clock);
                    let mut walk =
                        Searcher { state: helper, game, clock, report, candidates, finding, elsewhere: none };
                    // Every second helper starts one ply deeper, so that helpers do different work.
                    walk.deepen(1 + (n as u32 + 1) % 2);
                    let found = walk.finding;
                    count(found.nodes);
                    found
                };
                running.extend(beside(scope, help));
            }
            let mut walk =
                Searcher { state: self, game, clock, report, candidates, finding, elsewhere: &visited };
            walk.deepen(1);
            drop(end);
            let others = running.into_iter().map(|thread| thread.join().expect("a search does not panic"));
            (walk.finding, others.collect::<Vec<_>>())
        });
        self.helpers = helpers;
        let best = others.into_iter().fold(own.clone(), Finding::or_better);
        let best = Finding { nodes: clock.nodes() + visited.into_inner(), ..best };
        if (best.depth, &best.line) != (own.depth, &own.line) {
            // The reports so far were the caller's thread's.
            report(&best);
        }
        Some(best)
    }

    /// Must be called before each search, after the table is allocated.
    fn begin(&mut self) {
        self.order.begin(&self.params);
        self.lists.resize_with(MAX_PLY + 1, Vec::new);
        self.lines.resize_with(MAX_PLY + 2, Vec::new);
        self.evals.resize(MAX_PLY + 1, 0);
        self.continuations.resize(MAX_PLY + 1, NO_CONTINUATION);
    }

    /// The reduction for the n-th move of a node, in fractions of a ply.
    fn reduction(&self, depth: i32, n: usize) -> i32 {
        i32::from(self.reductions[(depth / PLY).min(63) as usize][n.min(63)])
    }

    pub(super) fn judge(&self, game: &mut G) -> i32 {
        let eval = game.evaluate();
        if self.options.noise == 0 {
            return eval;
        }
        let off = Rng::new(game.key() ^ self.options.seed).below(2 * self.options.noise as u32 + 1) as i32;
        eval + off - self.options.noise
    }
}

/// A search in progress on one thread.
pub(super) struct Searcher<'a, 'c, G: AlphaBetaGame> {
    pub(super) state: &'a mut AlphaBeta<G>,
    pub(super) game: &'a mut G,
    pub(super) clock: &'a mut Clock<'c>,
    report: &'a mut dyn FnMut(&Finding<G::Move>),
    /// The root moves, best first.
    candidates: Vec<Candidate<G::Move>>,
    finding: Finding<G::Move>,
    /// Nodes visited by other threads.
    elsewhere: &'a AtomicU64,
}

/// A node of the search tree.
#[derive(Clone, Copy)]
pub(super) struct Node<M> {
    pub(super) ply: usize,
    /// Remaining depth, in fractions of a ply.
    pub(super) depth: i32,
    /// Whether it is an expected cut node.
    pub(super) cut: bool,
    /// The move that led to the node; `None` after a null move.
    pub(super) previous: Option<M>,
    /// Number of the move that a singular search excludes, otherwise [`NO_MOVE`].
    pub(super) excluded: u16,
}

/// The result of a singular search.
pub(super) enum Singular {
    /// Extends the table's move by this many fractions of a ply; reduces it if negative.
    Extend(i32),
    /// Multi-cut: without the move the node has at least this value, which is outside the window.
    Enough(i32),
}

impl<G: AlphaBetaGame> Searcher<'_, '_, G> {
    /// Iterative deepening from this depth on, until the clock is over or the result is final.
    fn deepen(&mut self, first: u32) {
        for depth in first..MAX_PLY as u32 / 2 {
            if self.clock.is_over() || self.clock.is_too_deep(depth) {
                break;
            }
            let Some(value) = self.aspirate(depth as i32) else { break };
            self.finding.value = value;
            self.finding.depth = depth;
            self.finding.nodes = self.nodes();
            (self.report)(&self.finding);
            // A proven result within the depth is final, and an only move needs no search.
            let proven = Value::is_proven(value) && (Value::WIN - value.abs()) < depth as i32;
            if proven || (self.candidates.len() == 1 && depth >= 2) {
                break;
            }
        }
        self.finding.nodes = self.nodes();
    }

    /// Nodes visited so far by all threads.
    fn nodes(&self) -> u64 {
        self.clock.nodes() + self.elsewhere.load(Ordering::Relaxed)
    }

    /// One iteration with aspiration windows. `None` if the clock ran out.
    fn aspirate(&mut self, plies: i32) -> Option<i32> {
        let mut width = self.state.params.aspiration;
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

    /// The root node. Its move list stays sorted between iterations.
    fn root(&mut self, mut alpha: i32, beta: i32, depth: i32) -> Option<i32> {
        let side = self.game.turn();
        let mut best = -Value::INFINITE;
        for n in 0..self.candidates.len() {
            let candidate = self.candidates[n];
            self.make(candidate.mv, 0);
            let mut value = best;
            let node =
                |depth, cut| Node { ply: 1, depth, cut, previous: Some(candidate.mv), excluded: NO_MOVE };
            if n > 0 {
                let reducible =
                    self.state.options.reductions && n >= 3 && !candidate.forcing && depth >= 3 * PLY;
                let reduction = if reducible { self.state.reduction(depth, n) * 2 / 3 } else { 0 };
                value = self.search_child(side, alpha, alpha + 1, node(depth - PLY - reduction, true));
                if value > alpha && reduction > 0 {
                    value = self.search_child(side, alpha, alpha + 1, node(depth - PLY, true));
                }
            }
            if n == 0 || value > alpha {
                value = self.search_child(side, alpha, beta, node(depth - PLY, false));
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
                    self.finding.line.extend_from_slice(&self.state.lines[1]);
                    self.finding.value = value;
                    self.finding.nodes = self.nodes();
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

    /// Makes a move at this ply, and records its continuation index.
    pub(super) fn make(&mut self, mv: G::Move, ply: usize) {
        if G::CONTINUATIONS > 0 {
            self.state.continuations[ply] = self.game.continuation_index(mv);
        }
        self.game.make(mv);
    }

    /// Prefetches the table entry of the position after a move that will probably be made next.
    pub(super) fn prefetch(&self, mv: G::Move) {
        if let Some(key) = self.game.key_after(mv) {
            self.state.table.prefetch(key);
        }
    }

    /// Continuation indexes of the moves one and two plies before this one.
    pub(super) fn before(&self, ply: usize) -> [usize; 2] {
        if G::CONTINUATIONS == 0 {
            return [NO_CONTINUATION; 2];
        }
        [1, 2].map(|back| ply.checked_sub(back).map_or(NO_CONTINUATION, |ply| self.state.continuations[ply]))
    }

    /// The value of the node after a move of `side`, from that side's point of view.
    fn search_child(&mut self, side: Side, alpha: i32, beta: i32, node: Node<G::Move>) -> i32 {
        if !G::ALTERNATES && self.game.turn() == side {
            self.search_node(alpha, beta, node)
        } else {
            -self.search_node(-beta, -alpha, node)
        }
    }

    /// The value of a position: exact within the window, otherwise a bound. Invalid once the clock is over.
    pub(super) fn search_node(&mut self, mut alpha: i32, mut beta: i32, node: Node<G::Move>) -> i32 {
        let ply = node.ply;
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
        // Mate distance pruning: only a shorter win than one already found matters.
        alpha = alpha.max(-Value::WIN + ply as i32);
        beta = beta.min(Value::WIN - ply as i32 - 1);
        if alpha >= beta {
            return alpha;
        }
        let is_pv = beta - alpha > 1;
        let urgency = self.game.urgency();
        let mut depth = node.depth;
        if let Some(tactics) = self.state.params.tactics
            && self.state.options.extensions
            && urgency == Urgency::Threatened
        {
            depth += tactics.check_extension;
        }
        if depth <= 0 && self.has_quiescence() {
            return self.quiescence(alpha, beta, ply, 0);
        }
        let key = self.game.key();
        let entry = if node.excluded == NO_MOVE { self.state.table.get(key) } else { None };
        if let Some(entry) = entry
            && !is_pv
            && entry.depth >= depth
        {
            let value = Value::from_node(entry.value, ply);
            if entry.bound.decides(value, alpha, beta) {
                return value;
            }
        }
        if depth <= 0 && urgency != Urgency::Forced {
            return self.leaf(key, entry, beta, ply);
        }
        // Nodes pruned by reverse futility are not queried for a forced win.
        let mut early = None;
        if G::FORCES && !is_pv && urgency == Urgency::Free && node.excluded == NO_MOVE {
            let eval = entry.map_or_else(|| self.state.judge(self.game), |entry| entry.eval);
            early = Some(eval);
            if self.reverse_futility_prunes(eval, beta, Node { depth, ..node }) {
                return eval;
            }
        }
        // A table entry implies that the query was made, or skipped, before. One ply before the leaves it is cheaper to make
        // the first move of a forced win, and to query at the leaf.
        let looked = entry.is_some_and(|entry| !entry.is_glance());
        let new = !looked && depth >= self.state.params.forced_plies * PLY;
        let asks = node.excluded == NO_MOVE && (new || ply == 1);
        if self.state.options.forced_wins && asks && urgency != Urgency::Forced {
            let thorough = ply == 1 && depth >= PLY;
            let effort = if thorough { Effort::Thorough } else { Effort::Inner };
            if let Some(plies) = self.game.forced_win(effort, self.clock) {
                let value = Value::WIN - (ply as i32 + plies as i32);
                let value_here = Value::to_node(value, ply);
                let eval = early.or(entry.map(|entry| entry.eval)).unwrap_or(0);
                let proof =
                    TableEntry { mv: NO_MOVE, value: value_here, eval, depth: 255, bound: Bound::Exact };
                self.state.table.put(key, proof);
                return value;
            }
        }
        // Static evaluation is skipped in check and for only replies; "improving" compares with the evaluation at the own
        // previous move.
        let calm = match self.state.params.tactics {
            Some(_) => urgency == Urgency::Free,
            None => urgency != Urgency::Forced,
        };
        let judged = match entry {
            _ if !calm => 0,
            Some(entry) => entry.eval,
            None => early.unwrap_or_else(|| self.state.judge(self.game)),
        };
        let eval = if calm { self.corrected(judged) } else { 0 };
        self.state.evals[ply] = if calm || ply < 2 { eval } else { self.state.evals[ply - 2] };
        // The table's value replaces the static evaluation if its bound is in the right direction.
        let better = entry
            .filter(|entry| {
                self.state.params.tactics.is_some()
                    && !Value::is_proven(entry.value)
                    && !Value::is_ruled(entry.value)
                    && match entry.bound {
                        Bound::Exact => true,
                        Bound::Lower => entry.value > eval,
                        Bound::Upper => entry.value < eval,
                    }
            })
            .map_or(eval, |entry| entry.value);
        if !is_pv
            && urgency == Urgency::Free
            && node.excluded == NO_MOVE
            && let Some(value) = self.prune_node(better, alpha, beta, Node { depth, ..node })
        {
            return value;
        }
        if self.clock.is_over() {
            return 0;
        }
        let first = entry.map_or(NO_MOVE, |entry| entry.mv);
        depth = depth.max(0);
        let extension = match entry {
            Some(entry) if urgency != Urgency::Forced => {
                match self.singular(entry, beta, Node { depth, ..node }) {
                    Singular::Extend(extension) => extension,
                    Singular::Enough(value) => return value,
                }
            }
            _ => 0,
        };
        if self.state.options.reductions
            && first == NO_MOVE
            && node.excluded == NO_MOVE
            && depth >= self.state.params.internal_reduction_plies * PLY
        {
            depth -= PLY;
        }
        let mut candidates = std::mem::take(&mut self.state.lists[ply]);
        candidates.clear();
        let remembered = if first == NO_MOVE { None } else { self.game.candidate(first) };
        let here = Here { urgency, eval, first, extension, remembered };
        let (best, bound, mv) = self.moves(&mut candidates, alpha, beta, Node { depth, ..node }, here);
        let nothing_to_play = candidates.is_empty();
        self.state.lists[ply] = candidates;
        if self.clock.is_over() {
            return 0;
        }
        if nothing_to_play {
            return G::STUCK.value(ply);
        }
        if best == -Value::INFINITE {
            // The excluded move was the only one.
            return alpha;
        }
        if node.excluded == NO_MOVE && !Value::is_ruled(best) {
            let value = Value::to_node(best, ply);
            self.state.table.put(key, TableEntry { mv, value, eval: judged, depth: depth.min(255), bound });
            // Correction history does not learn from captures, nor from bounds that do not contradict the evaluation.
            let surprise = match bound {
                Bound::Exact => true,
                Bound::Lower => best > eval,
                Bound::Upper => best < eval,
            };
            if let Some(tactics) = self.state.params.tactics
                && tactics.correction > 0
                && calm
                && surprise
                && !Value::is_proven(best)
                && (mv == NO_MOVE || self.game.candidate(mv).is_none_or(|mv| mv.takes == 0))
            {
                self.state.order.learn_correction(self.game, best - judged, depth / PLY);
            }
        }
        best
    }

    /// The static evaluation with correction history applied.
    pub(super) fn corrected(&self, judged: i32) -> i32 {
        match self.state.params.tactics {
            Some(Tactics { correction, .. }) if correction > 0 => {
                let correction_value = self.state.order.correction(self.game);
                (judged + correction_value * correction / 100)
                    .clamp(1 - Value::RULED / 2, Value::RULED / 2 - 1)
            }
            _ => judged,
        }
    }

    /// Whether leaves are resolved by quiescence search.
    fn has_quiescence(&self) -> bool {
        self.state.params.tactics.is_some() && self.state.options.quiescence
    }

    /// Generates and searches the moves of a node; returns the best value, its bound and the best move's number.
    fn moves(
        &mut self,
        candidates: &mut Vec<Candidate<G::Move>>,
        mut alpha: i32,
        beta: i32,
        node: Node<G::Move>,
        here: Here<G::Move>,
    ) -> (i32, Bound, u16) {
        let Node { ply, depth, cut, previous, excluded } = node;
        let Here { urgency, eval, first, remembered, extension: tt_extension } = here;
        let tt_move_takes = remembered.is_some_and(|remembered| remembered.takes > 0);
        let finer = self.state.params.reductions;
        let side = self.game.turn();
        let before = self.before(ply);
        let is_pv = beta - alpha > 1;
        let improving = ply >= 2 && self.state.evals[ply] > self.state.evals[ply - 2];
        let plies = depth / PLY;
        let (base, growth, parts) = self.state.params.late_move_count[usize::from(improving)];
        let enough = base + plies * plies * growth / parts;
        let mut best = -Value::INFINITE;
        let mut best_number = NO_MOVE;
        let mut bound = Bound::Upper;
        let mut searched = 0;
        // Staged generation: the table's move usually cuts off, and then the other moves are never generated.
        let mut listed = false;
        if let Some(remembered) = remembered
            && first != excluded
        {
            candidates.push(remembered);
        } else {
            self.list(candidates, first, Way { ply, previous, before });
            listed = true;
        }
        let mut n = 0;
        loop {
            if n == candidates.len() && !listed {
                self.list(candidates, first, Way { ply, previous, before });
                listed = true;
                pick(candidates, 0);
            }
            if n == candidates.len() {
                break;
            }
            let candidate = if listed { pick(candidates, n) } else { candidates[n] };
            n += 1;
            let number = G::number(candidate.mv);
            if number == excluded {
                continue;
            }
            self.prefetch(candidate.mv);
            let extension = match urgency {
                _ if !self.state.options.extensions => 0,
                _ if number == first && tt_extension != 0 => tt_extension,
                Urgency::Forced => PLY,
                Urgency::Threatened | Urgency::Free => 0,
            };
            let new_depth = depth - PLY + extension;
            let quiet = !candidate.forcing && urgency == Urgency::Free;
            let late = quiet && !is_pv && best > -Value::PROVEN && searched >= enough;
            if self.state.options.pruning && late {
                // Late move pruning: the remaining quiet moves are skipped.
                let mut kept = n;
                for other in n..candidates.len() {
                    if candidates[other].forcing {
                        candidates.swap(kept, other);
                        kept += 1;
                    }
                }
                candidates.truncate(kept);
                continue;
            }
            let mut reduction = 0;
            let reducible =
                urgency == Urgency::Free || (urgency == Urgency::Threatened && finer.threatened > 0);
            if self.state.options.reductions && plies >= 2 && searched >= finer.unreduced && reducible {
                reduction = self.state.reduction(depth, searched as usize);
                if !improving {
                    reduction += finer.worse;
                }
                if tt_move_takes {
                    reduction += finer.taking;
                }
                if finer.killer > 0 && self.state.order.is_killer(candidate.mv, Way { ply, previous, before })
                {
                    reduction -= finer.killer;
                }
                if candidate.forcing {
                    reduction /= 2;
                }
                if is_pv {
                    reduction -= self.state.params.pv_reduction;
                }
                if cut {
                    reduction += self.state.params.cut_node_reduction;
                }
                if candidate.takes == 0 {
                    let history = self.state.order.history(self.game, side, candidate.mv, before);
                    reduction -= history * self.state.params.history_reduction / 1024;
                }
                if urgency == Urgency::Threatened {
                    reduction = reduction * finer.threatened / 100;
                }
                reduction = reduction.clamp(0, (new_depth - PLY).max(0));
            }
            if self.state.options.pruning
                && best > -Value::RULED + MAX_PLY as i32
                && urgency != Urgency::Forced
                && self.prune_move(candidate, eval, alpha, node, urgency, new_depth - reduction)
            {
                continue;
            }
            let next = |depth, cut| Node {
                ply: ply + 1,
                depth,
                cut,
                previous: Some(candidate.mv),
                excluded: NO_MOVE,
            };
            self.make(candidate.mv, ply);
            let mut value = best;
            if searched > 0 {
                value = self.search_child(side, alpha, alpha + 1, next(new_depth - reduction, true));
                if value > alpha && reduction > 0 {
                    value = self.search_child(side, alpha, alpha + 1, next(new_depth, !cut));
                }
            }
            if searched == 0 || (value > alpha && value < beta && is_pv) {
                value = self.search_child(side, alpha, beta, next(new_depth, !is_pv && !cut));
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
                best_number = number;
                bound = Bound::Exact;
                if is_pv {
                    let (here, below) = self.state.lines.split_at_mut(ply + 1);
                    here[ply].clear();
                    here[ply].push(candidate.mv);
                    here[ply].extend_from_slice(&below[0]);
                }
            }
            if value >= beta {
                bound = Bound::Lower;
                if urgency == Urgency::Free {
                    let (growth, base) = self.state.params.bonus;
                    let bonus = growth * plies * plies + base;
                    let way = Way { ply, previous, before };
                    self.state.order.learn(self.game, &candidates[..n], way, bonus);
                }
                break;
            }
        }
        (best, bound, best_number)
    }

    /// Generates and ranks the moves of this node.
    fn list(&mut self, candidates: &mut Vec<Candidate<G::Move>>, first: u16, way: Way<G::Move>) {
        self.game.candidates(candidates);
        let state = &*self.state;
        state.order.rank(self.game, &state.params, candidates, first, way);
    }

    /// A leaf: a forced win, or the static evaluation. In games with forced wins the result is stored, because the next
    /// iteration repeats the query.
    fn leaf(&mut self, key: u64, entry: Option<TableEntry>, beta: i32, ply: usize) -> i32 {
        if !G::FORCES || !self.state.options.forced_wins {
            return self.state.judge(self.game);
        }
        let judged = entry.map_or_else(|| self.state.judge(self.game), |entry| entry.eval);
        if entry.is_some_and(|entry| !entry.is_glance() && !Value::is_proven(entry.value)) {
            return judged;
        }
        let remember = |value, depth, bound| TableEntry { mv: NO_MOVE, value, eval: judged, depth, bound };
        if judged >= beta {
            // If the evaluation already reaches beta, a forced win could only raise it.
            if entry.is_none() {
                self.state.table.put(key, remember(judged, 0, Bound::Lower));
            }
            return judged;
        }
        if let Some(plies) = self.game.forced_win(Effort::Leaf, self.clock) {
            let value = Value::WIN - (ply as i32 + plies as i32);
            self.state.table.put(key, remember(Value::to_node(value, ply), 255, Bound::Exact));
            return value;
        }
        if !self.clock.is_over() {
            self.state.table.put(key, remember(judged, 0, Bound::Exact));
        }
        judged
    }
}

/// What is known of a node before its moves are searched.
#[derive(Clone, Copy)]
struct Here<M> {
    urgency: Urgency,
    eval: i32,
    /// Number of the table's move, and its extension.
    first: u16,
    extension: i32,
    /// The table's move itself, in games that can generate it alone.
    remembered: Option<Candidate<M>>,
}

/// Plain minimax over the same game: the reference result for the search without its options.
#[cfg(test)]
pub(crate) fn minimax<G: AlphaBetaGame>(game: &mut G, depth: u32, ply: usize) -> i32 {
    if ply > 0
        && let Some(verdict) = game.verdict()
    {
        return verdict.value(ply);
    }
    if depth == 0 && game.urgency() != Urgency::Forced {
        return game.evaluate();
    }
    let side = game.turn();
    let mut candidates = Vec::new();
    game.candidates(&mut candidates);
    let mut best = if candidates.is_empty() { G::STUCK.value(ply) } else { -Value::INFINITE };
    for candidate in candidates {
        game.make(candidate.mv);
        let value = minimax(game, depth.saturating_sub(1), ply + 1);
        best = best.max(if game.turn() == side { value } else { -value });
        game.unmake();
    }
    best
}
