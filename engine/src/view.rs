//! What a screen or a text needs to show a position, in words that no screen owns.

use crate::gomoku::Opening;
use crate::{Action, GameKind, Outcome, Point, Side};

/// A position to be looked at. Made by [`crate::Game::view`]; the UI draws it and computes no rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardView {
    /// Which game, hence which board and pieces to draw.
    pub game: GameKind,
    /// Points from left to right.
    pub columns: u16,
    /// Points from bottom to top.
    pub rows: u16,
    /// Every piece on the board, at most one a point.
    pub pieces: Vec<PieceView>,
    /// The last action, if any: the seal-red dot.
    pub last: Option<Action>,
    /// What else is to be shown on the board, such as the winning five.
    pub marks: Vec<Mark>,
    /// What is to be said beside the board, such as captures due.
    pub facts: Vec<Fact>,
    /// Where each piece of the side to move may go, from and to: the targets of a touched piece. Empty in games whose pieces
    /// stay where they are.
    pub steps: Vec<(Point, Point)>,
    /// Those of [`Self::steps`] with which the side to move would lose at once, because the position repeats: to be warned of.
    pub losing_steps: Vec<(Point, Point)>,
    /// Legal actions that no point of the board stands for, such as [`Action::Pass`].
    pub choices: Vec<Action>,
    /// What a touch on a point is now.
    pub touch: Touch,
    /// Whose decision is next; `None` when the game is over.
    pub turn: Option<Side>,
    /// How it ended, if it did.
    pub outcome: Option<Outcome>,
    /// Decisions made since the start.
    pub ply: u32,
}

/// What a touch on a point of the board is in this phase of the game. Whether it is legal at that point
/// [`crate::Game::legal_move`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// The board takes no action: the game is over.
    Nothing,
    /// A choice beside the board comes first; the board refuses every action until then.
    Choose,
    /// [`Action::Place`]: a stone of this colour comes onto the point.
    Place(Side),
    /// [`Action::Step`]: a piece is picked first, then the point where it goes.
    Step,
    /// [`Action::Capture`].
    Capture,
    /// [`Action::Toggle`].
    Toggle,
    /// [`Action::Press`].
    Press,
}

/// One piece on its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceView {
    /// Where it stands.
    pub at: Point,
    /// Whose colour it has: in gomoku after an exchange of colours not the player's own, see [`Fact::Swapped`].
    pub side: Side,
    /// What it is.
    pub piece: Piece,
}

/// Kinds of pieces of all games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A stone of gomoku, go or Liuzhou chess.
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
    /// A light that is on. It belongs to nobody; its side is [`Side::First`].
    Light,
}

/// Something to be shown at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Where.
    pub at: Point,
    /// What.
    pub kind: MarkKind,
}

/// What a mark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// Part of the line that won. Every stone of the line is marked.
    Winning,
    /// Part of a formation that the last move made (Liuzhou chess).
    Formation,
    /// A captured stone that waits to be lifted (Liuzhou chess).
    Captured,
    /// A stone that may be captured now.
    Target,
    /// A stone that the last turn took stood here (Liuzhou chess).
    Taken,
    /// A general in check (xiangqi).
    Check,
    /// A piece that gives check (xiangqi).
    Checker,
    /// A piece that can end the check (xiangqi).
    Helper,
    /// A point forbidden by ko for one move (Go).
    Ko,
    /// A stone marked as dead (Go).
    Dead,
    /// A point that counts for a side at the end (Go).
    Territory(Side),
    /// A light to press, from the solution (Lights Out).
    Press,
    /// A point where the side to move would lose by playing (renju).
    Forbidden,
    /// Part of the lines for which the last stone was forbidden (renju). Every stone of them is marked.
    Fault,
}

/// Something to be said beside the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Captures that the side to move has still to choose.
    CapturesDue(u8),
    /// Stones that a side has still to place.
    InHand(Side, u16),
    /// Pieces that a side has taken.
    Taken(Side, u16),
    /// What a side has at the end, in half points: 15 means 7.5.
    Points(Side, u32),
    /// A side has agreed to the dead stones as they are marked.
    Agreed(Side),
    /// Presses made so far (Lights Out).
    Presses(u32),
    /// The players have exchanged colours: the second has Black.
    Swapped,
    /// The opening on the board has a name (renju).
    Opening(Opening),
    /// Fewest presses that solve the board as it was set up (Lights Out); said at the end.
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
