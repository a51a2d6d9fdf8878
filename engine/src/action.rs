//! Actions of players, and the reasons for which they are illegal.

use std::fmt;

use crate::{Language, Point};

/// What a player does, as a touch or the wire expresses it. It may be illegal; only [`crate::Game::legal_move`] decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Place a stone on this point.
    Place(Point),
    /// Move the own piece on `from` to `to`.
    Step {
        /// Where the piece stands.
        from: Point,
        /// Where it goes.
        to: Point,
    },
    /// Liuzhou chess: capture the enemy stone on this point, where the rules offer a choice.
    Capture(Point),
    /// Leave the turn to the other side.
    Pass,
    /// Press a light (Lights Out).
    Press(Point),
    /// Go, after two passes: mark the chain on this point as dead, or as alive again.
    Toggle(Point),
    /// Go: agree to the dead stones as marked.
    Agree,
    /// Go: resume play instead of agreeing.
    Resume,
    /// Gomoku: a decision of an opening such as swap2.
    Choose(Choice),
    /// Lights Out race: end the own run, with its time in tenths of a second.
    Done(u32),
}

impl Action {
    /// Whether players count the action as a move: not choices of colour, marks, agreements, or captures that complete an
    /// earlier action.
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

/// A decision of an opening of gomoku: see [`crate::GomokuOpening`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Choice {
    /// Play Black.
    Black,
    /// Play White.
    White,
    /// Place a white and a black stone, and let the opponent choose.
    TwoMore,
    /// Renju: Black is to offer this many fifth moves, 1 to [`Self::MOST_FIFTHS`], of which White chooses one.
    Fifths(u8),
}

impl Choice {
    /// The greatest number of fifth moves: that of Taraguchi-10.
    pub const MOST_FIFTHS: u8 = 10;

    /// Every choice.
    pub const ALL: [Self; 13] = [
        Self::Black,
        Self::White,
        Self::TwoMore,
        Self::Fifths(1),
        Self::Fifths(2),
        Self::Fifths(3),
        Self::Fifths(4),
        Self::Fifths(5),
        Self::Fifths(6),
        Self::Fifths(7),
        Self::Fifths(8),
        Self::Fifths(9),
        Self::Fifths(10),
    ];

    /// The choice's word in notation: `black`, `white`, `more`, `offer5`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Black => "black",
            Self::White => "white",
            Self::TwoMore => "more",
            Self::Fifths(1) => "offer1",
            Self::Fifths(2) => "offer2",
            Self::Fifths(3) => "offer3",
            Self::Fifths(4) => "offer4",
            Self::Fifths(5) => "offer5",
            Self::Fifths(6) => "offer6",
            Self::Fifths(7) => "offer7",
            Self::Fifths(8) => "offer8",
            Self::Fifths(9) => "offer9",
            Self::Fifths(_) => "offer10",
        }
    }

    /// The choice with this word, in capitals or not.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.word().eq_ignore_ascii_case(word))
    }

    /// The choice in words for players.
    pub fn words(self, language: Language) -> String {
        match self {
            Self::Black => language.pick("执黑", "Play Black").into(),
            Self::White => language.pick("执白", "Play White").into(),
            Self::TwoMore => {
                language.pick("再摆两子，由对方选色", "Place two more stones and let the other choose").into()
            }
            Self::Fifths(1) => language.pick("第五手一个点", "One fifth move").into(),
            Self::Fifths(count) if language == Language::Chinese => format!("第五手 {count} 个点"),
            Self::Fifths(count) => format!("{count} fifth moves"),
        }
    }
}

/// The action in coordinates that are the same for all games: `h8`, `h8i9`, `xh8`, `pass`. Games with a notation of their
/// own use this for actions that their notation lacks.
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

/// Why an action is illegal in a position. Facts for the local user; alone never a reason to end a session with a peer.
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
    /// A colour has to be chosen first, in the opening.
    #[error("choose a colour first")]
    ChooseFirst,
    /// The game has no such action, or not in the present phase.
    #[error("that is not possible here")]
    WrongKind,
    /// The point is empty.
    #[error("there is no piece on {0}")]
    Empty(Point),
    /// The piece on the point is the other side's.
    #[error("the piece on {0} is not yours")]
    NotYours(Point),
    /// The piece on the point is the player's own, and cannot be captured.
    #[error("the piece on {0} is your own")]
    OwnPiece(Point),
    /// The piece on this point does not move that way, regardless of other pieces.
    #[error("the piece on {0} does not move that way")]
    NotItsStep(Point),
    /// This many captures have to be made first.
    #[error("{0} to capture first")]
    CaptureFirst(u8),
    /// The stone is part of a formation, while others are not.
    #[error("{0} is safe: it stands in a formation")]
    InFormation(Point),
    /// The stone is already captured, and will be lifted later.
    #[error("{0} is captured already")]
    AlreadyCaptured(Point),
    /// The step would restore the formation that the stone has just left.
    #[error("{0} may not go straight back into the formation it has just left")]
    StraightBack(Point),
    /// A piece on this point blocks a chariot, or a cannon that does not capture.
    #[error("{0} is in the way")]
    InTheWay(Point),
    /// Horse's leg: the piece on this adjacent point blocks the horse.
    #[error("the horse is blocked by {0}")]
    HorseLeg(Point),
    /// Elephant's eye: the piece on this middle point blocks the elephant.
    #[error("the elephant is blocked by {0}")]
    ElephantEye(Point),
    /// A cannon captures over exactly one piece.
    #[error("a cannon captures only over exactly one piece")]
    CannonScreen,
    /// Elephants cannot cross the river.
    #[error("an elephant does not cross the river")]
    River,
    /// General and advisers cannot leave the palace.
    #[error("general and advisers stay in the palace")]
    Palace,
    /// The enemy piece on this point would give check.
    #[error("the piece on {0} would capture the general")]
    GeneralAttacked(Point),
    /// The generals would face each other on an open file.
    #[error("the generals would face each other")]
    GeneralsFace,
    /// Ko: the stone on this point has just captured one, and cannot be recaptured at once.
    #[error("{0} is a ko: play elsewhere first")]
    Ko(Point),
    /// Superko: the position would repeat an earlier one.
    #[error("the board would repeat itself")]
    Superko,
    /// Suicide: the stone would have no liberty and capture nothing.
    #[error("{0} would be suicide")]
    Suicide(Point),
    /// Renju: the number of fifth moves has to be said first.
    #[error("say how many fifth moves first")]
    SayFifthsFirst,
    /// Gomoku's openings: the first stone goes on the centre point.
    #[error("this stone goes on the centre point")]
    NotCentre,
    /// Gomoku's openings: the stone goes within the central square with this many points on a side.
    #[error("this stone goes within the central {0} x {0}")]
    OutsideCentre(u8),
    /// Gomoku's openings: the stone goes outside the central square with this many points on a side.
    #[error("this stone goes outside the central {0} x {0}")]
    InsideCentre(u8),
    /// Renju: this fifth move is offered already.
    #[error("{0} is offered already")]
    Offered(Point),
    /// Renju: by symmetry, the point is the same as this fifth move that is offered.
    #[error("by symmetry that is the same as {0}, which is offered")]
    Symmetric(Point),
    /// Renju: the point is none of the fifth moves that are offered.
    #[error("{0} is not one of the fifth moves offered")]
    NotOffered(Point),
}
