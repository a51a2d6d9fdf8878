//! The parameters of the search: margins, depths and amounts of reduction, tuned for each game by self-play.

use crate::parameters::{ParameterRef, Visit};

/// Search parameters of one game. Margins are in the game's points, depths in plies. All were tuned by self-play
/// (EXPERIMENTS.md).
#[derive(Clone, Copy, Debug)]
pub struct SearchParams {
    /// Half width of the first aspiration window, around the value of the last iteration.
    pub aspiration: i32,
    /// Reverse futility pruning (static null move): a node whose evaluation exceeds beta by this much a ply is cut off.
    pub reverse_futility: i32,
    /// Maximum depth of reverse futility pruning.
    pub reverse_futility_plies: i32,
    /// Razoring: a node whose evaluation is below alpha by this much a ply (and one more) drops into quiescence.
    pub razor: i32,
    /// Maximum depth of razoring.
    pub razor_plies: i32,
    /// Minimum depth of null move pruning.
    pub null_move_plies: i32,
    /// Late move pruning: how many moves a node of depth d searches, where it is not improving and where it is.
    /// (a, b, c) stands for a + d * d * b / c.
    pub late_move_count: [(i32, i32, i32); 2],
    /// What a killer move adds to its rank.
    pub killer: i32,
    /// What a countermove adds to its rank.
    pub countermove: i32,
    /// Late move reductions: the n-th move at depth d is reduced by a + ln d * ln n / b plies, for (a, b).
    pub late_move_reduction: (f64, f64),
    /// More reduction at an expected cut node, in parts of a ply (see `PLY`).
    pub cut_node_reduction: i32,
    /// Less reduction on the principal variation, in parts of a ply.
    pub pv_reduction: i32,
    /// Less reduction for a move with the best history, in parts of a ply; in proportion for others.
    pub history_reduction: i32,
    /// Internal iterative reduction: from this depth on a node without a move in the table is searched a ply less deeply.
    pub internal_reduction_plies: i32,
    /// Null move pruning: the reduction is a plies and the b-th part of the depth, for (a, b).
    pub null_move: (i32, i32),
    /// Ranks of the game are multiplied by this before history is added.
    pub rank_scale: i32,
    /// History bonus of a refutation at depth d: a * d * d + b, for (a, b).
    pub bonus: (i32, i32),
    /// Percent of continuation history that counts, in games with [`super::AlphaBetaGame::CONTINUATIONS`].
    pub continuation_percent: i32,
    /// Futility pruning: a quiet move at depth d is pruned where the evaluation is below alpha by a + b * d, for (a, b).
    pub futility: (i32, i32),
    /// Maximum depth of futility pruning, after reductions; negative: none.
    pub futility_plies: i32,
    /// History pruning: a quiet move is pruned where its history is below minus this, for each ply and one more; in parts of 1024.
    pub history_pruning: i32,
    /// Minimum depth of singular extensions.
    pub singular_plies: i32,
    /// Singular extensions: the margin below the table's value that every other move must miss, for each ply.
    pub singular_margin: i32,
    /// Minimum depth at which the game is queried for a forced win; see [`super::AlphaBetaGame::FORCES`].
    pub forced_plies: i32,
    /// Further terms of late move reductions.
    pub reductions: Reductions,
    /// For games with captures, in which a static evaluation is unreliable while something hangs.
    pub tactics: Option<Tactics>,
}

impl SearchParams {
    /// Visits every parameter with its name; see EXPERIMENTS.md.
    pub(crate) fn each(&mut self, visit: Visit<'_>) {
        use ParameterRef::{Float, Whole};
        visit("aspiration", (5.0, 200.0), Whole(&mut self.aspiration));
        visit("reverse-futility", (10.0, 300.0), Whole(&mut self.reverse_futility));
        visit("reverse-futility-plies", (1.0, 16.0), Whole(&mut self.reverse_futility_plies));
        visit("razor", (20.0, 600.0), Whole(&mut self.razor));
        visit("razor-plies", (0.0, 8.0), Whole(&mut self.razor_plies));
        visit("null-plies", (1.0, 20.0), Whole(&mut self.null_move_plies));
        visit("null-base", (1.0, 6.0), Whole(&mut self.null_move.0));
        visit("null-part", (2.0, 12.0), Whole(&mut self.null_move.1));
        for (n, late) in self.late_move_count.iter_mut().enumerate() {
            visit(["late-move-base", "late-move-base-improving"][n], (1.0, 20.0), Whole(&mut late.0));
            visit(["late-move-growth", "late-move-growth-improving"][n], (1.0, 20.0), Whole(&mut late.1));
            visit(["late-move-parts", "late-move-parts-improving"][n], (1.0, 20.0), Whole(&mut late.2));
        }
        visit("killer", (0.0, 30_000.0), Whole(&mut self.killer));
        visit("countermove", (0.0, 30_000.0), Whole(&mut self.countermove));
        visit("reduction-base", (-1.0, 3.0), Float(&mut self.late_move_reduction.0));
        visit("reduction-flatness", (0.5, 6.0), Float(&mut self.late_move_reduction.1));
        visit("cut-node-reduction", (0.0, 12.0), Whole(&mut self.cut_node_reduction));
        visit("pv-reduction", (0.0, 12.0), Whole(&mut self.pv_reduction));
        visit("history-reduction", (0.0, 24.0), Whole(&mut self.history_reduction));
        visit("internal-reduction-plies", (1.0, 20.0), Whole(&mut self.internal_reduction_plies));
        visit("rank-scale", (1.0, 256.0), Whole(&mut self.rank_scale));
        visit("bonus", (1.0, 200.0), Whole(&mut self.bonus.0));
        visit("bonus-base", (0.0, 400.0), Whole(&mut self.bonus.1));
        visit("continuation-percent", (0.0, 200.0), Whole(&mut self.continuation_percent));
        visit("futility", (0.0, 600.0), Whole(&mut self.futility.0));
        visit("futility-slope", (0.0, 300.0), Whole(&mut self.futility.1));
        visit("futility-plies", (-1.0, 16.0), Whole(&mut self.futility_plies));
        visit("history-pruning", (0.0, 10_000.0), Whole(&mut self.history_pruning));
        visit("singular-plies", (3.0, 100.0), Whole(&mut self.singular_plies));
        visit("singular-margin", (0.0, 40.0), Whole(&mut self.singular_margin));
        visit("forced-plies", (0.0, 20.0), Whole(&mut self.forced_plies));
        visit("worse-reduction", (0.0, 12.0), Whole(&mut self.reductions.worse));
        visit("taking-reduction", (0.0, 12.0), Whole(&mut self.reductions.taking));
        visit("killer-reduction", (0.0, 12.0), Whole(&mut self.reductions.killer));
        visit("threatened-reduction", (0.0, 100.0), Whole(&mut self.reductions.threatened));
        visit("unreduced", (1.0, 8.0), Whole(&mut self.reductions.unreduced));
        if let Some(tactics) = &mut self.tactics {
            tactics.each(visit);
        }
    }
}

/// Further terms of late move reductions, in parts of a ply (see `PLY`).
#[derive(Clone, Copy, Debug)]
pub struct Reductions {
    /// More where the node is not improving.
    pub worse: i32,
    /// More where the table's move is a capture: a quiet one is then rarely better.
    pub taking: i32,
    /// Less for a killer move or countermove.
    pub killer: i32,
    /// Percent of the reduction that counts for a side under a threat.
    pub threatened: i32,
    /// So many moves of a node are never reduced.
    pub unreduced: i32,
}

impl Reductions {
    /// Reductions by move number only.
    pub const PLAIN: Self = Self { worse: 0, taking: 0, killer: 0, threatened: 0, unreduced: 2 };
}

/// Quiescence, static exchange evaluation (SEE) and corrections, for games in which pieces are captured.
#[derive(Clone, Copy, Debug)]
pub struct Tactics {
    /// Delta pruning: in quiescence a capture is pruned that does not come within this of alpha.
    pub delta_margin: i32,
    /// SEE pruning: a quiet move may lose this much, times the square of the depth.
    pub see_quiet_margin: i32,
    /// SEE pruning: a capture or check may lose this much, times the depth.
    pub see_noisy_margin: i32,
    /// Check extension, in parts of a ply (see `PLY`).
    pub check_extension: i32,
    /// Percent of correction history that is added to a static evaluation; see [`super::AlphaBetaGame::structure_key`].
    pub correction: i32,
    /// Null move pruning: so many points above beta reduce by one ply more, three at the most.
    pub null_move_step: i32,
}

impl Tactics {
    fn each(&mut self, visit: Visit<'_>) {
        use ParameterRef::Whole;
        visit("delta-margin", (0.0, 600.0), Whole(&mut self.delta_margin));
        visit("see-quiet-margin", (0.0, 200.0), Whole(&mut self.see_quiet_margin));
        visit("see-noisy-margin", (0.0, 600.0), Whole(&mut self.see_noisy_margin));
        visit("check-extension", (0.0, 8.0), Whole(&mut self.check_extension));
        visit("correction", (0.0, 200.0), Whole(&mut self.correction));
        visit("null-step", (20.0, 2_000.0), Whole(&mut self.null_move_step));
    }
}
