//! Positions that somebody has set up, from which matches begin.
//!
//! A [`Start`] is the pieces, the side to move and, in Liuzhou chess, the phase. It is well formed by construction (a board of
//! bounded size, pieces of its game only) and may be illegal: [`Start::check`] says why, in words for players. A legal one is
//! part of a [`Setup`], so that everything that begins a game from a setup begins from there.
//!
//! `text` reads and writes it: the line of a position, SGF and `.psq`. Earlier positions, a ko, passes, prisoners and counters of
//! plies are not part of it: a start has no past.

mod text;

use std::fmt;
use std::sync::Arc;

use crate::game::points;
use crate::go::{GoSetup, Handicap};
use crate::gomoku::GomokuSetup;
use crate::xiangqi::{Kind, XiangqiSetup};
use crate::{AnyGame, GameKind, GomokuOpening, Language, Piece, PieceView, Point, Setup, SetupError, Side};

pub use text::StartText;

/// A position set up on a board of gomoku, Go, xiangqi or Liuzhou chess. Clones share one allocation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Start(Arc<Board>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Board {
    game: GameKind,
    columns: u8,
    rows: u8,
    /// Codes of [`StartPiece`], row by row from the bottom; 0 is an empty point.
    cells: Vec<u8>,
    turn: Side,
    phase: StartPhase,
}

/// A piece of a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StartPiece {
    /// Its colour.
    pub side: Side,
    /// Its kind.
    pub piece: Piece,
    /// Liuzhou chess: it was captured while stones are placed, and keeps its point until they are lifted.
    pub marked: bool,
}

/// What a decision is in a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StartPhase {
    /// As at the beginning of the game: in Liuzhou chess stones are placed.
    Opening,
    /// Liuzhou chess: all stones are placed, and they move.
    Moving,
}

/// Why no match can begin from a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartError {
    /// It is a position of another game than the setup.
    OtherGame,
    /// The rules are for a board of another size.
    Size,
    /// The rules begin in their own way: swap2, handicap stones, Black first in xiangqi.
    OwnBeginning,
    /// This side has more pieces of this kind than there are.
    TooMany(Side, Piece),
    /// Gomoku: the numbers of stones do not fit the side to move.
    Counts {
        /// Black stones.
        black: u16,
        /// White stones.
        white: u16,
    },
    /// Gomoku: this side has already won.
    Won(Side),
    /// There is no empty point.
    Full,
    /// Go: the chain of this stone has no liberty.
    NoLiberty(Point),
    /// Xiangqi: this side has no general.
    NoGeneral(Side),
    /// Xiangqi: this piece can never come to this point.
    Misplaced(Piece, Point),
    /// Xiangqi: nothing stands between the generals on one file.
    GeneralsFace,
    /// Xiangqi: this side is in check, but the other is to move.
    InCheck(Side),
    /// The side to move has no move.
    NoMove(Side),
    /// Xiangqi: neither side has a piece that can cross the river.
    Bare,
    /// Liuzhou chess, placing: the stones were not placed in turn, Black first.
    NotInTurn,
    /// Liuzhou chess, placing: all stones are placed.
    AllPlaced,
    /// Liuzhou chess, moving: captured stones are lifted by then.
    NotLifted,
    /// Liuzhou chess, moving: this side has so few stones that it has lost.
    TooFew(Side),
}

impl StartPiece {
    /// A stone of this colour.
    pub const fn stone(side: Side) -> Self {
        Self::of(side, Piece::Stone)
    }

    /// A piece of this colour and kind.
    pub const fn of(side: Side, piece: Piece) -> Self {
        Self { side, piece, marked: false }
    }

    /// All pieces that can be set up in this game, in the order of a tray.
    pub fn all(game: GameKind) -> Vec<Self> {
        (1..16).filter_map(|code| Self::from_code(game, code)).collect()
    }

    /// The name of the piece with its colour: `black stone`, 红车.
    pub fn name(self, language: Language) -> String {
        let captured = |name: &str| match (self.marked, language) {
            (false, _) => name.to_owned(),
            (true, Language::Chinese) => format!("被吃的{name}"),
            (true, Language::English) => format!("captured {name}"),
        };
        let red = self.piece != Piece::Stone && self.side == Side::First;
        let kind = self.piece.name(self.side, language);
        let colour = match (self.side, red) {
            (_, true) => language.pick("红", "red"),
            (Side::First, false) => language.pick("黑", "black"),
            (Side::Second, _) if self.piece == Piece::Stone => language.pick("白", "white"),
            (Side::Second, _) => language.pick("黑", "black"),
        };
        let space = language.pick("", " ");
        captured(&format!("{colour}{space}{kind}"))
    }

    /// A number of four bits, not 0. The numbers are those of the wire and the saves, and never change.
    pub fn code(self) -> u8 {
        let side = self.side.index() as u8;
        match Kind::of(self.piece) {
            Some(kind) => 1 + 7 * side + kind as u8,
            None => 1 + side + 2 * u8::from(self.marked),
        }
    }

    /// The piece of this game with this number.
    pub fn from_code(game: GameKind, code: u8) -> Option<Self> {
        match (game, code) {
            (GameKind::Gomoku | GameKind::Go | GameKind::Liuzhou, 1 | 2) => {
                Some(Self::stone(Side::BOTH[usize::from(code - 1)]))
            }
            (GameKind::Liuzhou, 3 | 4) => {
                Some(Self { marked: true, ..Self::stone(Side::BOTH[usize::from(code - 3)]) })
            }
            (GameKind::Xiangqi, 1..=14) => {
                let (side, kind) = ((code - 1) / 7, (code - 1) % 7);
                Some(Self::of(Side::BOTH[usize::from(side)], Kind::ALL[usize::from(kind)].piece()))
            }
            _ => None,
        }
    }
}

impl Start {
    /// An empty board of this game, the first side to move. `None` if the game has no starts, or no board of this size; the size
    /// counts in gomoku and Go only.
    pub fn empty(game: GameKind, size: u8) -> Option<Self> {
        let (columns, rows) = match game {
            GameKind::Gomoku if GomokuSetup::SIZES.contains(&size) => (size, size),
            GameKind::Go if GoSetup::SIZES.contains(&size) => (size, size),
            GameKind::Xiangqi => (9, 10),
            GameKind::Liuzhou => (6, 6),
            GameKind::Gomoku | GameKind::Go | GameKind::LightsOut => return None,
        };
        let cells = vec![0; usize::from(columns) * usize::from(rows)];
        let (turn, phase) = (Side::First, StartPhase::Opening);
        Some(Self(Arc::new(Board { game, columns, rows, cells, turn, phase })))
    }

    /// As [`Self::empty`], on the board of these rules.
    pub fn empty_for(rules: &Setup) -> Option<Self> {
        let size = match rules {
            Setup::Gomoku(gomoku) => gomoku.size,
            Setup::Go(go) => go.size,
            Setup::Liuzhou(_) | Setup::Xiangqi(_) | Setup::LightsOut(_) => 0,
        };
        Self::empty(rules.kind(), size)
    }

    /// The pieces, the side to move and the phase of a game. `None` where a start cannot express what is due next: lights, the
    /// choices of swap2, free handicap stones, the agreement about dead stones, captures and removals.
    pub fn of(game: &AnyGame) -> Option<Self> {
        let view = game.view();
        let mut start = Self::empty(view.game, u8::try_from(view.rows).ok()?)?;
        let phase = match game {
            AnyGame::Liuzhou(liuzhou) => liuzhou.start_phase()?,
            AnyGame::Go(go) if !go.is_plain() => return None,
            AnyGame::Gomoku(gomoku) if gomoku.is_opening() => return None,
            _ => StartPhase::Opening,
        };
        let marked = match game {
            AnyGame::Liuzhou(liuzhou) => liuzhou.marked_stones(),
            _ => Vec::new(),
        };
        for PieceView { at, side, piece } in view.pieces {
            start = start.with(at, Some(StartPiece::of(side, piece)))?;
        }
        for (at, side) in marked {
            start = start.with(at, Some(StartPiece { marked: true, ..StartPiece::stone(side) }))?;
        }
        let turn = match game {
            AnyGame::Gomoku(gomoku) => gomoku.next_color(),
            _ => game.turn(),
        };
        Some(start.with_turn(turn).with_phase(phase))
    }

    /// The game.
    pub fn game(&self) -> GameKind {
        self.0.game
    }

    /// Number of columns.
    pub fn columns(&self) -> u8 {
        self.0.columns
    }

    /// Number of rows.
    pub fn rows(&self) -> u8 {
        self.0.rows
    }

    /// The side to move; in gomoku the colour of the next stone.
    pub fn turn(&self) -> Side {
        self.0.turn
    }

    /// The phase.
    pub fn phase(&self) -> StartPhase {
        self.0.phase
    }

    /// The piece on a point.
    pub fn at(&self, at: Point) -> Option<StartPiece> {
        StartPiece::from_code(self.0.game, self.0.cells[self.index(at)?])
    }

    /// All pieces, row by row from the bottom.
    pub fn pieces(&self) -> impl Iterator<Item = (Point, StartPiece)> {
        points(self.0.columns.into(), self.0.rows.into()).filter_map(|at| Some((at, self.at(at)?)))
    }

    /// The stones in an order in which they can have been placed: black and white ones in turn, Black first.
    pub fn in_turn(&self) -> impl Iterator<Item = (Point, StartPiece)> {
        let of = |side| self.pieces().filter(move |(_, piece)| piece.side == side);
        let mut white = of(Side::Second);
        of(Side::First).flat_map(move |black| [Some(black), white.next()]).flatten()
    }

    /// The same with this piece, or none, on a point. `None` if the point is off the board or the piece is of another game.
    #[must_use]
    pub fn with(mut self, at: Point, piece: Option<StartPiece>) -> Option<Self> {
        let index = self.index(at)?;
        let code = piece.map_or(0, StartPiece::code);
        if piece.is_some_and(|piece| StartPiece::from_code(self.0.game, code) != Some(piece)) {
            return None;
        }
        Arc::make_mut(&mut self.0).cells[index] = code;
        Some(self)
    }

    /// The same with this side to move.
    #[must_use]
    pub fn with_turn(mut self, turn: Side) -> Self {
        Arc::make_mut(&mut self.0).turn = turn;
        self
    }

    /// The same in this phase; in other games than Liuzhou chess there is only one.
    #[must_use]
    pub fn with_phase(mut self, phase: StartPhase) -> Self {
        if self.0.game == GameKind::Liuzhou {
            Arc::make_mut(&mut self.0).phase = phase;
        }
        self
    }

    /// The points as bytes: four bits each ([`StartPiece::code`]), row by row from the bottom, the low bits first.
    pub fn to_bytes(&self) -> Vec<u8> {
        let pair = |pair: &[u8]| pair[0] | pair.get(1).copied().unwrap_or(0) << 4;
        self.0.cells.chunks(2).map(pair).collect()
    }

    /// The same with these points; the inverse of [`Self::to_bytes`]. `None` if the length or a piece is wrong.
    #[must_use]
    pub fn with_bytes(mut self, bytes: &[u8]) -> Option<Self> {
        let count = self.0.cells.len();
        if bytes.len() != count.div_ceil(2) {
            return None;
        }
        let mut cells: Vec<u8> = bytes.iter().flat_map(|byte| [byte & 15, byte >> 4]).collect();
        if cells.split_off(count).iter().any(|&rest| rest != 0) {
            return None;
        }
        if cells.iter().any(|&code| code != 0 && StartPiece::from_code(self.0.game, code).is_none()) {
            return None;
        }
        Arc::make_mut(&mut self.0).cells = cells;
        Some(self)
    }

    /// Whether a match with these rules can begin from here; what else the setup says about its start does not count.
    pub fn check(&self, rules: &Setup) -> Result<(), StartError> {
        match rules {
            Setup::Gomoku(setup) => crate::Gomoku::from_start(setup, self).map(|_| ()),
            Setup::Go(setup) => crate::go::Go::from_start(setup, self).map(|_| ()),
            Setup::Xiangqi(setup) => crate::xiangqi::Xiangqi::from_start(setup, self).map(|_| ()),
            Setup::Liuzhou(setup) => crate::liuzhou::Liuzhou::from_start(setup, self).map(|_| ()),
            Setup::LightsOut(_) => Err(StartError::OtherGame),
        }
    }

    /// Number of pieces of a side, marked ones included.
    pub(crate) fn count(&self, side: Side) -> u16 {
        self.pieces().filter(|(_, piece)| piece.side == side).count() as u16
    }

    fn index(&self, at: Point) -> Option<usize> {
        let (columns, rows) = (u16::from(self.0.columns), u16::from(self.0.rows));
        (at.column < columns && at.row < rows).then(|| usize::from(at.row * columns + at.column))
    }
}

impl Setup {
    /// The position that somebody has set up for the match, if it does not begin as usual.
    pub fn start(&self) -> Option<&Start> {
        match self {
            Self::Gomoku(setup) => setup.start.as_ref(),
            Self::Go(setup) => setup.start.as_ref(),
            Self::Xiangqi(setup) => setup.start.as_ref(),
            Self::Liuzhou(setup) => setup.start.as_ref(),
            Self::LightsOut(_) => None,
        }
    }

    /// The same rules from the usual beginning.
    #[must_use]
    pub fn without_start(mut self) -> Self {
        if let Some(start) = self.start_mut() {
            *start = None;
        }
        self
    }

    /// The same rules from this start. Size and the game's own beginning (swap2, handicap stones, who begins) follow from it. The
    /// setup is returned only if a match can begin from it.
    pub fn begin_from(mut self, start: Start) -> Result<Self, StartError> {
        match &mut self {
            Self::Gomoku(setup) => {
                (setup.size, setup.opening) = (start.rows(), GomokuOpening::Free);
            }
            Self::Go(setup) => (setup.size, setup.handicap) = (start.rows(), Handicap::None),
            Self::Xiangqi(XiangqiSetup { black_first, .. }) => *black_first = false,
            Self::Liuzhou(_) | Self::LightsOut(_) => {}
        }
        start.check(&self)?;
        *self.start_mut().ok_or(StartError::OtherGame)? = Some(start);
        Ok(self)
    }

    fn start_mut(&mut self) -> Option<&mut Option<Start>> {
        match self {
            Self::Gomoku(setup) => Some(&mut setup.start),
            Self::Go(setup) => Some(&mut setup.start),
            Self::Xiangqi(setup) => Some(&mut setup.start),
            Self::Liuzhou(setup) => Some(&mut setup.start),
            Self::LightsOut(_) => None,
        }
    }
}

impl StartError {
    /// A sentence for players of this game.
    pub fn words(self, game: GameKind, language: Language) -> String {
        let pick = |chinese: &'static str, english: &'static str| language.pick(chinese, english).to_owned();
        let both = |chinese: String, english: String| {
            if language == Language::Chinese { chinese } else { english }
        };
        let names = game.names(language);
        let name = |side| names.side(side);
        let kind = |side, piece: Piece| piece.name(side, language);
        match self {
            Self::OtherGame => pick("这是另一种棋的局面。", "This is a position of another game."),
            Self::Size => pick("棋盘大小与规则不符。", "The rules are for a board of another size."),
            Self::OwnBeginning => pick(
                "规则另有开局方式，不能从摆好的局面开始。",
                "These rules begin in their own way, not from a position.",
            ),
            Self::TooMany(side, piece) => {
                let (side, piece) = (name(side), kind(side, piece));
                both(format!("{side}的{piece}太多。"), format!("{side} has too many {piece}s."))
            }
            Self::Counts { black, white } => both(
                format!("黑 {black} 子，白 {white} 子：轮到黑时应一样多，轮到白时黑应多一子。"),
                format!(
                    "{black} black, {white} white stones: as many of both with Black to move, one more black with White to move."
                ),
            ),
            Self::Won(side) => {
                both(format!("{}已经连成五子。", name(side)), format!("{} has five already.", name(side)))
            }
            Self::Full => pick("棋盘已满。", "The board is full."),
            Self::NoLiberty(at) => {
                let at = game.point_name(at);
                both(format!("{at} 的棋没有气。"), format!("The stones at {at} have no liberty."))
            }
            Self::NoGeneral(side) => {
                let (side, piece) = (name(side), kind(side, Piece::General));
                both(format!("{side}没有{piece}。"), format!("{side} has no {piece}."))
            }
            Self::Misplaced(piece, at) => {
                let at = game.point_name(at);
                let zh = piece.name(Side::First, Language::Chinese);
                let en = piece.name(Side::First, Language::English);
                let which = if piece == Piece::General { "将、帅" } else { zh };
                both(format!("{which}到不了 {at}。"), format!("No {en} can come to {at}."))
            }
            Self::GeneralsFace => pick("将帅照面。", "The generals face each other."),
            Self::InCheck(side) => {
                let (side, other) = (name(side), name(side.other()));
                both(
                    format!("{side}被将军，不能轮到{other}走。"),
                    format!("{side} is in check, so it cannot be {other}'s move."),
                )
            }
            Self::NoMove(side) => {
                both(format!("{}无棋可走。", name(side)), format!("{} has no move.", name(side)))
            }
            Self::Bare => {
                pick("双方都没有能过河的子，已是和棋。", "Neither side can attack: it is a draw already.")
            }
            Self::NotInTurn => pick(
                "放子阶段黑先轮流放：轮到黑时一样多，轮到白时黑多一子。",
                "Stones are placed in turn: as many of both with Black to place, one more black with White to place.",
            ),
            Self::AllPlaced => pick("子已放完，应是走子阶段。", "All stones are placed: now they move."),
            Self::NotLifted => {
                pick("走子阶段没有记号子。", "Once stones move, captured ones are off the board.")
            }
            Self::TooFew(side) => both(
                format!("{}的子太少，已经输了。", name(side)),
                format!("{} has too few stones and has lost.", name(side)),
            ),
        }
    }
}

/// For logs.
impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.brief())
    }
}

impl std::error::Error for StartError {}

impl From<StartError> for SetupError {
    fn from(error: StartError) -> Self {
        Self(error.brief())
    }
}

impl StartError {
    const fn brief(self) -> &'static str {
        match self {
            Self::OtherGame => "the start is a position of another game",
            Self::Size => "the start is on a board of another size",
            Self::OwnBeginning => "these rules begin in their own way",
            Self::TooMany(..) => "the start has too many pieces of a kind",
            Self::Counts { .. } => "the numbers of stones do not fit the side to move",
            Self::Won(_) => "a side has won at the start",
            Self::Full => "the board is full at the start",
            Self::NoLiberty(_) => "a chain has no liberty at the start",
            Self::NoGeneral(_) => "a side has no general at the start",
            Self::Misplaced(..) => "a piece stands at the start where it can never come",
            Self::GeneralsFace => "the generals face each other at the start",
            Self::InCheck(_) => "the side that is not to move is in check at the start",
            Self::NoMove(_) => "the side to move has no move at the start",
            Self::Bare => "neither side can attack at the start",
            Self::NotInTurn => "the stones of the start were not placed in turn",
            Self::AllPlaced => "all stones of the start are placed",
            Self::NotLifted => "captured stones of the start are on the board while stones move",
            Self::TooFew(_) => "a side has lost at the start",
        }
    }
}
