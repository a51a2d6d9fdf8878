//! What of the search suits a game.

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
    /// For games of exchanges, in which judgement means little while something hangs.
    pub tactics: Option<Tactics>,
}

/// What the search adds in games where pieces are taken.
#[derive(Clone, Copy, Debug)]
pub struct Tactics {
    /// A capture that does not come within this of the window is not looked at where the search ends.
    pub delta: i32,
    /// (a, b): a quiet move with d plies left needs judgement within a + b * d of the window.
    pub futility: (i32, i32),
    /// Up to this depth, reductions counted.
    pub futility_plies: i32,
    /// A quiet move may lose this much by exchange, times the square of the depth left.
    pub quiet_loss: i32,
    /// A capture or check may lose this much by exchange, for each ply left.
    pub loud_loss: i32,
    /// A quiet move of which history says less than this, for each ply left, is not looked at; in parts of 1024.
    pub history: i32,
    /// From this depth on the search asks whether the remembered move is the only good one, and looks deeper if so.
    pub singular_plies: i32,
    /// By how much better for each ply left it must be, in points.
    pub singular: i32,
    /// Parts of a ply (see `PLY`) by which a side in check is looked at more deeply.
    pub check_extension: i32,
    /// Judgement above the window, in points, that makes the look at doing nothing a ply shallower.
    pub null_move_step: i32,
}
