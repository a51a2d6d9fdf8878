//! What a finger or a peer asks for, and why it may be refused.

use std::fmt;

use crate::{Language, Point};

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
    /// Press a light (Lights Out).
    Press(Point),
    /// Say that the stones of the chain on this point are dead, or alive again (Go, once both have passed).
    Toggle(Point),
    /// Agree to the dead stones as they are marked (Go).
    Agree,
    /// Go back to the board rather than agree (Go).
    Resume,
    /// Take a colour, or ask the other to, in the opening (gomoku's swap2).
    Choose(Choice),
    /// End the own run of a race, which took so many tenths of a second (Lights Out).
    Done(u32),
}

impl Action {
    /// Whether players count it as a move: not what settles colours or a count, nor the capture that ends a turn begun before.
    pub const fn is_move(self) -> bool {
        match self {
            Self::Place(_) | Self::Step { .. } | Self::Pass | Self::Press(_) => true,
            Self::Capture(_)
            | Self::Toggle(_)
            | Self::Agree
            | Self::Resume
            | Self::Choose(_)
            | Self::Done(_) => false,
        }
    }
}

/// What a player chooses in an opening in which the colours are not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Choice {
    /// Play Black.
    Black,
    /// Play White.
    White,
    /// Put a white and a black stone more, and let the other choose.
    TwoMore,
}

impl Choice {
    /// Every choice.
    pub const ALL: [Self; 3] = [Self::Black, Self::White, Self::TwoMore];

    /// The choice's word in notation: `black`, `white`, `more`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Black => "black",
            Self::White => "white",
            Self::TwoMore => "more",
        }
    }

    /// The choice as the player reads it.
    pub const fn words(self, language: Language) -> &'static str {
        match self {
            Self::Black => language.pick("执黑", "Play Black"),
            Self::White => language.pick("执白", "Play White"),
            Self::TwoMore => {
                language.pick("再摆两子，由对方选色", "Place two more stones and let the other choose")
            }
        }
    }
}

/// The action in plain coordinates, whatever the game: `h8`, `h8i9`, `xh8`, `pass`. Games with a notation of their own use
/// this for the actions that they do not have.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Place(point) | Self::Press(point) => write!(f, "{point}"),
            Self::Step { from, to } => write!(f, "{from}{to}"),
            Self::Capture(point) => write!(f, "x{point}"),
            Self::Pass => write!(f, "pass"),
            Self::Toggle(point) => write!(f, "dead {point}"),
            Self::Agree => write!(f, "agree"),
            Self::Resume => write!(f, "resume"),
            Self::Choose(choice) => f.write_str(choice.word()),
            Self::Done(tenths) => write!(f, "{}.{}s", tenths / 10, tenths % 10),
        }
    }
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
    /// A colour is to be chosen first, in the opening.
    #[error("choose a colour first")]
    ChooseFirst,
    /// This game has no such action, or not in this phase.
    #[error("that is not possible here")]
    WrongKind,
    /// There is nothing on the point that could be moved or taken.
    #[error("there is no piece on {0}")]
    Empty(Point),
    /// The piece on the point is the other side's.
    #[error("the piece on {0} is not yours")]
    NotYours(Point),
    /// The piece on the point is the player's own, so it cannot be taken.
    #[error("the piece on {0} is your own")]
    OwnPiece(Point),
    /// The piece on this point does not move that way, wherever the others stand.
    #[error("the piece on {0} does not move that way")]
    NotItsStep(Point),
    /// Captures are due first; how many.
    #[error("{0} to capture first")]
    CaptureFirst(u8),
    /// The stone stands in a formation, and others do not.
    #[error("{0} is safe: it stands in a formation")]
    InFormation(Point),
    /// The stone was captured before and only waits to be lifted.
    #[error("{0} is captured already")]
    AlreadyCaptured(Point),
    /// The step would go straight back into the formation that the stone has just left.
    #[error("{0} may not go straight back into the formation it has just left")]
    StraightBack(Point),
    /// A piece between stops a chariot, or a cannon that takes nothing.
    #[error("{0} is in the way")]
    InTheWay(Point),
    /// The horse's leg: a piece next to it stops the leap.
    #[error("the horse is blocked by {0}")]
    HorseLeg(Point),
    /// The elephant's eye: a piece on the middle point stops it.
    #[error("the elephant is blocked by {0}")]
    ElephantEye(Point),
    /// A cannon takes over exactly one piece.
    #[error("a cannon captures only over exactly one piece")]
    CannonScreen,
    /// Elephants stay on their own side of the river.
    #[error("an elephant does not cross the river")]
    River,
    /// General and advisers stay in the palace.
    #[error("general and advisers stay in the palace")]
    Palace,
    /// After the move the enemy piece on this point could take the general.
    #[error("the piece on {0} would capture the general")]
    GeneralAttacked(Point),
    /// After the move the generals would face each other on an open line.
    #[error("the generals would face each other")]
    GeneralsFace,
    /// The ko: the stone that could be taken back has just taken one itself.
    #[error("{0} is a ko: play elsewhere first")]
    Ko(Point),
    /// The board would look as it did after an earlier move (superko).
    #[error("the board would repeat itself")]
    Superko,
    /// The stone would have no liberty and take nothing.
    #[error("{0} would be suicide")]
    Suicide(Point),
}
