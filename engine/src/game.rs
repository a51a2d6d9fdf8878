//! The trait that every game implements.

use std::fmt::Debug;

use crate::gomoku::Fault;
use crate::options::Options;
use crate::{Action, BoardView, IllegalAction, Language, Names, Point};

/// A player: the first to move, or the other. `First` has Black in gomoku, Go and Liuzhou chess, and Red in xiangqi. So a
/// side also stands for a colour, except where players may swap: [`Game::color`] tells who has which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Moves first.
    First,
    /// Moves second.
    Second,
}

impl Side {
    /// Both sides, `First` first.
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    /// The other side.
    pub const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// 0 for `First`, 1 for `Second`; an index into arrays of two.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// The result of a game by its rules. Resignation, agreed draws and time belong to the match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// `None` for a draw.
    pub winner: Option<Side>,
    /// Why, for display.
    pub reason: Reason,
}

/// Why a game is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// Five stones in a line, or more where the rule allows it.
    FiveInARow,
    /// The board is full.
    BoardFull,
    /// Liuzhou chess: the loser has too few stones; in a draw both have.
    TooFewStones,
    /// The loser has no legal move (Liuzhou chess), or none without being in check (xiangqi: stalemate).
    NoMoves,
    /// Threefold repetition.
    Repetition,
    /// Too many plies without progress, or in total.
    TooLong,
    /// Checkmate.
    Checkmate,
    /// The loser gave perpetual check.
    PerpetualCheck,
    /// The loser perpetually chased an unprotected piece.
    PerpetualChase,
    /// Xiangqi by the Chinese rules: the loser perpetually threatened mate, or checked, threatened mate and chased in turn.
    PerpetualAttack,
    /// Neither side has enough material to give mate.
    BareMaterial,
    /// The score was counted; equal in a draw.
    Score,
    /// Every light is off. In a race: a draw by equal time and equal presses.
    AllOut,
    /// Lights Out race: the winner needed less time, or the loser gave up.
    Faster,
    /// Lights Out race: equal time, and the winner needed fewer presses.
    FewerPresses,
    /// The loser played on a forbidden point (renju).
    Forbidden(Fault),
}

/// Options that are not valid together, such as a 3 x 3 board for gomoku.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SetupError(pub &'static str);

/// A position of a game with its rules.
///
/// The contract, checked for every game by `tests/contract.rs`: `legal_move(action(m)) == Ok(m)` for each legal move `m`; a
/// finished game has no legal moves; the incrementally computed `key` equals the key of the same position set up afresh;
/// `play` changes the turn as the view says; no action, however invalid, panics.
pub trait Game: Clone + Send + 'static {
    /// The rules and sizes that both players agree on before the first move.
    type Setup: Options + Debug + Default + Send;
    /// Compact, and legal by construction in the position that it was made from.
    type Move: Copy + Eq + Debug + Send;

    /// The initial position of this setup.
    fn new(setup: &Self::Setup) -> Result<Self, SetupError>;
    /// The setup of the game.
    fn setup(&self) -> &Self::Setup;
    /// The side whose decision is next; after the end, the side that would be next.
    fn turn(&self) -> Side;
    /// The colour of a player, as the side that usually has it. They differ after the players of gomoku have swapped colours
    /// in the opening.
    fn color(&self, player: Side) -> Side {
        player
    }
    /// Number of decisions since the start.
    fn ply(&self) -> u32;
    /// The result; `None` while the game is in progress.
    fn outcome(&self) -> Option<Outcome>;
    /// Writes all legal moves into `into` (cleared first), in a fixed order. Empty if and only if the game is over.
    fn legal_moves(&self, into: &mut Vec<Self::Move>);
    /// The legal move for this action, or why it is illegal. Every action from outside goes through this function.
    fn legal_move(&self, action: Action) -> Result<Self::Move, IllegalAction>;
    /// The action of a move; the inverse of `legal_move`.
    fn action(mv: Self::Move) -> Action;
    /// Plays a legal move. Cannot fail.
    fn play(&mut self, mv: Self::Move);
    /// Hash of everything that determines the possible continuations. Equal on all machines, because its constants are part
    /// of the format. Each game documents what the hash leaves out (in most games the history).
    fn key(&self) -> u64;
    /// `key` computed from scratch, as a reference for checks. Slow.
    fn fresh_key(&self) -> u64;
    /// Everything needed to display the position.
    fn view(&self) -> BoardView;
    /// The action in the game's notation in this position: `h8`.
    fn notation(&self, action: Action) -> String;
    /// The action for a text in the game's notation, legal or not; `None` if it cannot be parsed.
    fn parse(&self, text: &str) -> Option<Action>;
    /// The name of a point as at the edge of this game's board, whether on the board or not: `H8`.
    fn point_name(point: Point) -> String {
        point.to_string().to_uppercase()
    }
    /// The names of this game and its sides.
    fn names(language: Language) -> Names;
    /// The rules of this setup for two people to agree on: numbered sentences, one per line.
    fn rule_sheet(setup: &Self::Setup, language: Language) -> String;
}

/// The points of a board, row by row from the bottom.
pub(crate) fn points(columns: u16, rows: u16) -> impl Iterator<Item = Point> {
    (0..rows).flat_map(move |row| (0..columns).map(move |column| Point::new(column, row)))
}
