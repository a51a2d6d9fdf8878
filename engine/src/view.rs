//! Everything needed to display a position, independent of any user interface.

use crate::gomoku::Opening;
use crate::{Action, GameKind, Language, Outcome, Point, Side};

/// A position for display. Made by [`crate::Game::view`]; a user interface draws it and computes no rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardView {
    /// The game, which determines the board and the pieces.
    pub game: GameKind,
    /// Number of columns.
    pub columns: u16,
    /// Number of rows.
    pub rows: u16,
    /// All pieces on the board, at most one per point.
    pub pieces: Vec<PieceView>,
    /// The last action, which is marked.
    pub last: Option<Action>,
    /// Marks on the board, such as the winning five.
    pub marks: Vec<Mark>,
    /// Facts beside the board, such as captures due.
    pub facts: Vec<Fact>,
    /// The legal steps of the side to move as pairs of points, from and to. Empty in games without moving pieces.
    pub steps: Vec<(Point, Point)>,
    /// Those of [`Self::steps`] that lose at once by repetition, for warnings.
    pub losing_steps: Vec<(Point, Point)>,
    /// Legal actions without a point, such as [`Action::Pass`].
    pub choices: Vec<Action>,
    /// The meaning of a touch on a point.
    pub touch: Touch,
    /// The side to move; `None` when the game is over.
    pub turn: Option<Side>,
    /// The result; `None` while the game is in progress.
    pub outcome: Option<Outcome>,
    /// Number of decisions since the start.
    pub ply: u32,
}

/// The meaning of a touch on a point in the present phase. [`crate::Game::legal_move`] decides whether the action is legal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// None: the game is over.
    Nothing,
    /// None: one of [`BoardView::choices`] has to be made first.
    Choose,
    /// [`Action::Place`] of a stone with this colour.
    Place(Side),
    /// [`Action::Step`] by two touches: a piece, then its destination.
    Step,
    /// [`Action::Capture`].
    Capture,
    /// [`Action::Toggle`].
    Toggle,
    /// [`Action::Press`].
    Press,
}

/// A piece on a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceView {
    /// Its point.
    pub at: Point,
    /// Its colour. After a swap in gomoku it is not the player's own: see [`Fact::Swapped`].
    pub side: Side,
    /// Its kind.
    pub piece: Piece,
}

/// Kinds of pieces of all games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
    /// A stone of gomoku, Go or Liuzhou chess.
    Stone,
    /// 帅 / 将 of xiangqi.
    General,
    /// 仕 / 士 of xiangqi.
    Adviser,
    /// 相 / 象 of xiangqi.
    Elephant,
    /// 马 of xiangqi.
    Horse,
    /// 车 of xiangqi.
    Chariot,
    /// 炮 of xiangqi.
    Cannon,
    /// 兵 / 卒 of xiangqi.
    Soldier,
    /// Lights Out: a light that is on. It has no owner; its side is [`Side::First`].
    Light,
}

impl Piece {
    /// The name in the middle of a sentence: 马, horse.
    pub(crate) fn name(self, side: Side, language: Language) -> &'static str {
        let red = side == Side::First;
        let [chinese, english] = match self {
            Self::General => [if red { "帅" } else { "将" }, "general"],
            Self::Adviser => [if red { "仕" } else { "士" }, "adviser"],
            Self::Elephant => [if red { "相" } else { "象" }, "elephant"],
            Self::Horse => ["马", "horse"],
            Self::Chariot => ["车", "chariot"],
            Self::Cannon => ["炮", "cannon"],
            Self::Soldier => [if red { "兵" } else { "卒" }, "soldier"],
            Self::Stone => ["子", "stone"],
            Self::Light => ["灯", "light"],
        };
        language.pick(chinese, english)
    }
}

/// A mark on a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The point.
    pub at: Point,
    /// The kind.
    pub kind: MarkKind,
}

/// Kinds of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// A stone of the winning line. All stones of the line are marked.
    Winning,
    /// Liuzhou chess: a stone of a formation that the last move made.
    Formation,
    /// Liuzhou chess: a captured stone that will be lifted.
    Captured,
    /// A stone that can be captured now.
    Target,
    /// Liuzhou chess: a point from which the last turn captured a stone.
    Taken,
    /// Xiangqi: a general in check.
    Check,
    /// Xiangqi: a piece that gives check.
    Checker,
    /// Xiangqi: a piece that can end the check.
    Helper,
    /// Go: a point forbidden by ko for one move.
    Ko,
    /// Go: a stone marked as dead.
    Dead,
    /// Go: a point of this side's territory.
    Territory(Side),
    /// Lights Out: a cell to press, from the solution.
    Press,
    /// Renju: a forbidden point, where a move of the side to move loses.
    Forbidden,
    /// Renju: a stone of the lines that made the last move forbidden. All their stones are marked.
    Fault,
    /// Renju: a fifth move that Black offers, on an empty point.
    Offered,
}

/// A fact to show beside the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Number of captures that the side to move has to choose.
    CapturesDue(u8),
    /// Number of stones that a side has not placed yet.
    InHand(Side, u16),
    /// Number of pieces that a side has captured.
    Taken(Side, u16),
    /// Final score of a side in half points: 15 means 7.5.
    Points(Side, u32),
    /// This side has agreed to the dead stones as marked.
    Agreed(Side),
    /// Lights Out: number of presses so far.
    Presses(u32),
    /// The players have swapped colours: the second has Black.
    Swapped,
    /// Renju: the named opening on the board.
    Opening(Opening),
    /// Lights Out, at the end: minimal number of presses for the initial board.
    Fewest(u32),
}

/// The steps among these moves, for [`BoardView::steps`].
pub(crate) fn steps<G: crate::Game>(moves: &[G::Move]) -> Vec<(Point, Point)> {
    let step = |mv: &G::Move| match G::action(*mv) {
        Action::Step { from, to } => Some((from, to)),
        _ => None,
    };
    moves.iter().filter_map(step).collect()
}
