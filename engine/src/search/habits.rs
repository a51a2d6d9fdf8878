//! What of the search suits a game.

use crate::numbers::{Place, Visit};

/// Margins in the game's own points, and which shortcuts to take. Every number is found by self-play of its game.
#[derive(Clone, Copy, Debug)]
pub struct Habits {
    /// Half width of the first window around the last iteration's value.
    pub aspiration: i32,
    /// Judgement this much above the window, for each ply of depth left, is enough.
    pub reverse_futility: i32,
    /// Up to this depth.
    pub reverse_futility_plies: i32,
    /// Judgement this much below the window, for each ply left and one, is not worth more than a look for something loud.
    pub razor: i32,
    /// Up to this depth.
    pub razor_plies: i32,
    /// From this depth on the search asks what happens if the side to move does nothing.
    pub null_move_plies: i32,
    /// How many moves of a node with d plies left are enough, where things get no better and where they do:
    /// (a, b, c) stands for a + d * d * b / c.
    pub late: [(i32, i32, i32); 2],
    /// What it adds to a move's rank that it refuted a sibling.
    pub killer: i32,
    /// What it adds that it was the refutation of the same move elsewhere.
    pub answer: i32,
    /// (a, b): the n-th move with d plies left is looked at a + ln d * ln n / b plies less deeply.
    pub reduction: (f64, f64),
    /// Parts of a ply (see `PLY`) by which moves are looked at less deeply where the node is expected to be refuted.
    pub cut_reduction: i32,
    /// Parts of a ply by which they are looked at more deeply on the line of expected play.
    pub line_reduction: i32,
    /// Parts of a ply by which they are looked at more deeply when history says nothing but good of them.
    pub history_reduction: i32,
    /// From this depth on a node of which the table knows no move is looked at a ply less deeply.
    pub unknown_plies: i32,
    /// (a, b): doing nothing is looked at a plies and the b-th part of the depth less deeply.
    pub null_move: (i32, i32),
    /// Ranks of moves are multiplied by this before what the search has learnt is added.
    pub rank_scale: i32,
    /// (a, b): a refutation with d plies left adds a * d * d + b to history.
    pub bonus: (i32, i32),
    /// Percent of what history says of a move after the moves one and two plies before it that counts, in games with
    /// [`super::AlphaBetaGame::TRAILS`].
    pub after: i32,
    /// (a, b): a quiet move with d plies left needs judgement within a + b * d of the window.
    pub futility: (i32, i32),
    /// Up to this depth, reductions counted; below 0 every move is looked at.
    pub futility_plies: i32,
    /// A quiet move of which history says less than this, for each ply left and one, is not looked at; in parts of 1024.
    pub history: i32,
    /// From this depth on the search asks whether the remembered move is the only good one, and looks deeper if so.
    pub singular_plies: i32,
    /// By how much better for each ply left it must be, in points.
    pub singular: i32,
    /// From this depth on the search asks the game for wins by force; see [`super::AlphaBetaGame::FORCES`].
    pub forced_plies: i32,
    /// What else makes late moves worth more or less of a look.
    pub finer: Reductions,
    /// For games of exchanges, in which judgement means little while something hangs.
    pub tactics: Option<Tactics>,
}

impl Habits {
    /// Shows every number with its name; see EXPERIMENTS.md.
    pub(crate) fn each(&mut self, visit: Visit<'_>) {
        use Place::{Float, Whole};
        visit("aspiration", (5.0, 200.0), Whole(&mut self.aspiration));
        visit("reverse-futility", (10.0, 300.0), Whole(&mut self.reverse_futility));
        visit("reverse-futility-plies", (1.0, 16.0), Whole(&mut self.reverse_futility_plies));
        visit("razor", (20.0, 600.0), Whole(&mut self.razor));
        visit("razor-plies", (0.0, 8.0), Whole(&mut self.razor_plies));
        visit("null-plies", (1.0, 20.0), Whole(&mut self.null_move_plies));
        visit("null-base", (1.0, 6.0), Whole(&mut self.null_move.0));
        visit("null-part", (2.0, 12.0), Whole(&mut self.null_move.1));
        for (n, late) in self.late.iter_mut().enumerate() {
            visit(["late-base", "late-base-improving"][n], (1.0, 20.0), Whole(&mut late.0));
            visit(["late-growth", "late-growth-improving"][n], (1.0, 20.0), Whole(&mut late.1));
            visit(["late-parts", "late-parts-improving"][n], (1.0, 20.0), Whole(&mut late.2));
        }
        visit("killer", (0.0, 30_000.0), Whole(&mut self.killer));
        visit("answer", (0.0, 30_000.0), Whole(&mut self.answer));
        visit("reduction-base", (-1.0, 3.0), Float(&mut self.reduction.0));
        visit("reduction-flatness", (0.5, 6.0), Float(&mut self.reduction.1));
        visit("cut-reduction", (0.0, 12.0), Whole(&mut self.cut_reduction));
        visit("line-reduction", (0.0, 12.0), Whole(&mut self.line_reduction));
        visit("history-reduction", (0.0, 24.0), Whole(&mut self.history_reduction));
        visit("unknown-plies", (1.0, 20.0), Whole(&mut self.unknown_plies));
        visit("rank-scale", (1.0, 256.0), Whole(&mut self.rank_scale));
        visit("bonus", (1.0, 200.0), Whole(&mut self.bonus.0));
        visit("bonus-base", (0.0, 400.0), Whole(&mut self.bonus.1));
        visit("after", (0.0, 200.0), Whole(&mut self.after));
        visit("futility", (0.0, 600.0), Whole(&mut self.futility.0));
        visit("futility-slope", (0.0, 300.0), Whole(&mut self.futility.1));
        visit("futility-plies", (-1.0, 16.0), Whole(&mut self.futility_plies));
        visit("history", (0.0, 10_000.0), Whole(&mut self.history));
        visit("singular-plies", (3.0, 100.0), Whole(&mut self.singular_plies));
        visit("singular", (0.0, 40.0), Whole(&mut self.singular));
        visit("forced-plies", (0.0, 20.0), Whole(&mut self.forced_plies));
        visit("worse-reduction", (0.0, 12.0), Whole(&mut self.finer.worse));
        visit("taking-reduction", (0.0, 12.0), Whole(&mut self.finer.taking));
        visit("killer-reduction", (0.0, 12.0), Whole(&mut self.finer.killer));
        visit("threatened-reduction", (0.0, 100.0), Whole(&mut self.finer.threatened));
        visit("unreduced", (1.0, 8.0), Whole(&mut self.finer.unreduced));
        if let Some(tactics) = &mut self.tactics {
            tactics.each(visit);
        }
    }
}

/// By how much less deeply, beyond their number, later moves are looked at; in parts of a ply (see `PLY`).
#[derive(Clone, Copy, Debug)]
pub struct Reductions {
    /// Where things get no better for the side to move.
    pub worse: i32,
    /// Where the remembered move takes something: a quiet one is then rarely better.
    pub taking: i32,
    /// By this much less for a move that refuted a sibling.
    pub killer: i32,
    /// Percent of all reductions that count for a side under a threat.
    pub threatened: i32,
    /// So many moves are looked at in full.
    pub unreduced: i32,
}

impl Reductions {
    /// By their number only.
    pub const PLAIN: Self = Self { worse: 0, taking: 0, killer: 0, threatened: 0, unreduced: 2 };
}

/// What the search adds in games where pieces are taken.
#[derive(Clone, Copy, Debug)]
pub struct Tactics {
    /// A capture that does not come within this of the window is not looked at where the search ends.
    pub delta: i32,
    /// A quiet move may lose this much by exchange, times the square of the depth left.
    pub quiet_loss: i32,
    /// A capture or check may lose this much by exchange, for each ply left.
    pub loud_loss: i32,
    /// Parts of a ply (see `PLY`) by which a side in check is looked at more deeply.
    pub check_extension: i32,
    /// How much of the judgement's usual error in positions with the same [`super::AlphaBetaGame::frame`] is made good, in
    /// percent.
    pub correction: i32,
    /// Judgement above the window, in points, that makes the look at doing nothing a ply shallower.
    pub null_move_step: i32,
}

impl Tactics {
    fn each(&mut self, visit: Visit<'_>) {
        use Place::Whole;
        visit("delta", (0.0, 600.0), Whole(&mut self.delta));
        visit("quiet-loss", (0.0, 200.0), Whole(&mut self.quiet_loss));
        visit("loud-loss", (0.0, 600.0), Whole(&mut self.loud_loss));
        visit("check-extension", (0.0, 8.0), Whole(&mut self.check_extension));
        visit("correction", (0.0, 200.0), Whole(&mut self.correction));
        visit("null-step", (20.0, 2_000.0), Whole(&mut self.null_move_step));
    }
}
