//! What every game is.

use std::fmt::Debug;

use crate::gomoku::Fault;
use crate::options::Options;
use crate::{Action, BoardView, IllegalAction, Language, Names, Point};

/// A player: the one who begins, or the other. Black in gomoku, go and Liuzhou chess, red in xiangqi is `First`'s colour, and
/// so a side stands for a colour as well, except where players may exchange them: [`Game::color`] says who has which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Begins the game.
    First,
    /// Answers.
    Second,
}

impl Side {
    /// Both sides, the beginner first.
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    /// The other side.
    pub const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// 0 for the beginner, 1 for the other; for arrays of two.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// How a game ended by its own rules. Resigning, agreed draws and time belong to the match, not to the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// `None` is a draw.
    pub winner: Option<Side>,
    /// Why, for words on the screen.
    pub reason: Reason,
}

/// Why a game is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// Five (or, where the rule allows, more) stones in a line.
    FiveInARow,
    /// No empty point is left.
    BoardFull,
    /// The loser has too few stones left (Liuzhou chess); or, in a draw, both have.
    TooFewStones,
    /// The loser has no legal step (Liuzhou chess), no legal move without being in check (xiangqi).
    NoMoves,
    /// The same position came up for the third time.
    Repetition,
    /// Too many plies without progress, or in all.
    TooLong,
    /// The general cannot be saved.
    Checkmate,
    /// The loser gave check without end.
    PerpetualCheck,
    /// The loser chased an unprotected piece without end.
    PerpetualChase,
    /// Neither side has the material to give mate.
    BareMaterial,
    /// The score was counted. A draw here is an equal score.
    Score,
    /// Every light is out. In a race a draw: both in the same time, with as many presses.
    AllOut,
    /// Every light was out in less time, or the other stopped (a race of Lights Out).
    Faster,
    /// As fast, with fewer presses (a race of Lights Out).
    FewerPresses,
    /// The loser played on a forbidden point (renju).
    Forbidden(Fault),
}

/// Options that do not make a game, such as a board of 3 x 3 for gomoku.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SetupError(pub &'static str);

/// One game: a position that knows its rules.
///
/// The contract, checked for every game by `tests/contract.rs`: `legal_move(action(m)) == Ok(m)` for each legal move `m`;
/// an ended game has no legal moves; `key` computed step by step equals the key of the position set up afresh; `play`
/// changes the turn as the view says; no action, however wrong, panics.
pub trait Game: Clone + Send + 'static {
    /// Rules and size that both players agree on before the first move.
    type Setup: Options + Debug + Default + Send;
    /// Compact, and legal by construction for the position it was made from.
    type Move: Copy + Eq + Debug + Send;

    /// The starting position of this setup.
    fn new(setup: &Self::Setup) -> Result<Self, SetupError>;
    /// What the game was set up with.
    fn setup(&self) -> &Self::Setup;
    /// Whose decision is next. After the end: the side that would be next.
    fn turn(&self) -> Side;
    /// The colour that a player has, as the side whose colour it usually is: they differ once the players of gomoku have
    /// exchanged colours in the opening.
    fn color(&self, player: Side) -> Side {
        player
    }
    /// Decisions made since the start.
    fn ply(&self) -> u32;
    /// `None` while the game goes on.
    fn outcome(&self) -> Option<Outcome>;
    /// Puts every legal move into `into` (cleared first), in a fixed order. Empty exactly when the game is over.
    fn legal_moves(&self, into: &mut Vec<Self::Move>);
    /// The only gate from outside: the move that this action is here, or why it is none.
    fn legal_move(&self, action: Action) -> Result<Self::Move, IllegalAction>;
    /// The action that a move of this game shows as; the inverse of `legal_move`.
    fn action(mv: Self::Move) -> Action;
    /// Plays a move that is legal here. Cannot fail.
    fn play(&mut self, mv: Self::Move);
    /// Hash of everything that decides what may follow, whoever computes it on whatever machine: the constants are part of
    /// the format. What it leaves out (history, in most games) is said by each game.
    fn key(&self) -> u64;
    /// `key` computed from the position alone, without the steps that led here. Slow; it is what checks compare with.
    fn fresh_key(&self) -> u64;
    /// Everything that a screen or a text shows.
    fn view(&self) -> BoardView;
    /// The action in the game's own notation, in this position: `h8`.
    fn notation(&self, action: Action) -> String;
    /// The action that a player's text means in this position, legal or not; `None` if it is none.
    fn parse(&self, text: &str) -> Option<Action>;
    /// A point as the edge of this game's board names it, whether or not it is on the board: `H8`.
    fn point_name(point: Point) -> String {
        point.to_string().to_uppercase()
    }
    /// What this game and its sides are called.
    fn names(language: Language) -> Names;
    /// The rules that this setup makes, for two people to agree on: numbered sentences, one a line.
    fn rule_sheet(setup: &Self::Setup, language: Language) -> String;
}

/// The points of a board of this size, row by row from the bottom.
pub(crate) fn points(columns: u16, rows: u16) -> impl Iterator<Item = Point> {
    (0..rows).flat_map(move |row| (0..columns).map(move |column| Point::new(column, row)))
}
