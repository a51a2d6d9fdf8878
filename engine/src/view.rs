//! What a screen or a text needs to show a position, in words that no screen owns.

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
    /// What else is to be shown, such as the winning five.
    pub marks: Vec<Mark>,
    /// Whose decision is next; `None` when the game is over.
    pub turn: Option<Side>,
    /// How it ended, if it did.
    pub outcome: Option<Outcome>,
    /// Decisions made since the start.
    pub ply: u32,
}

/// One piece on its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceView {
    /// Where it stands.
    pub at: Point,
    /// Whose it is.
    pub side: Side,
    /// What it is.
    pub piece: Piece,
}

/// Kinds of pieces of all games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Piece {
    /// A stone of gomoku, go or Liuzhou chess.
    Stone,
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
#[non_exhaustive]
pub enum MarkKind {
    /// Part of the line that won. Every stone of the line is marked.
    Winning,
}
