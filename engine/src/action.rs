//! What a finger or a peer asks for, and why it may be refused.

use crate::Point;

/// What a player does, as fingers and the wire say it. It may be illegal; [`crate::Game::legal_move`] is the only gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Put a stone on an empty point.
    Place(Point),
    /// Take the own piece on `from` to `to`.
    Step {
        /// Where the piece stands.
        from: Point,
        /// Where it goes.
        to: Point,
    },
    /// Take an enemy stone off the board where the rules make that a choice of its own (Liuzhou chess).
    Capture(Point),
    /// Leave the turn to the other side.
    Pass,
}

/// Why an action is not a legal move here. Facts for the local user; never a reason to end a session with a peer by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IllegalAction {
    /// The game is over.
    #[error("the game is over")]
    Ended,
    /// The point is not on this board.
    #[error("{0} is not on the board")]
    OffBoard(Point),
    /// A piece stands there.
    #[error("{0} is occupied")]
    Occupied(Point),
    /// This game has no such action, or not in this phase.
    #[error("this game does not know that action here")]
    WrongKind,
}
