//! Gomoku 五子棋: five in a row.

mod ai;

pub use ai::GomokuBot;

use crate::game::points;
use crate::{
    Action, BoardView, Game, GameKind, IllegalAction, Mark, MarkKind, Outcome, Piece, PieceView, Point,
    Reason, Rng, SetupError, Side,
};

/// Which lines win.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GomokuRule {
    /// Five or more.
    #[default]
    Freestyle,
    /// Exactly five.
    Standard,
}

/// What a match of gomoku is played by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GomokuSetup {
    /// Points on a side: 15.
    pub size: u8,
    /// Which lines win.
    pub rule: GomokuRule,
    /// Whether a five that lies wholly on an edge line of the board wins. Off is the house rule of the design that this
    /// project continues.
    pub edge_five_wins: bool,
}

impl Default for GomokuSetup {
    fn default() -> Self {
        Self { size: 15, rule: GomokuRule::Freestyle, edge_five_wins: true }
    }
}

/// A stone put on this point, counted row by row from the bottom left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placement(u16);

/// A position of gomoku. Black ([`Side::First`]) begins.
#[derive(Clone)]
pub struct Gomoku {
    setup: GomokuSetup,
    stones: Vec<Option<Side>>,
    turn: Side,
    ply: u32,
    last: Option<Placement>,
    /// The winning line, in order along it; empty while nobody has won.
    five: Vec<Point>,
    key: u64,
}

/// The four directions of a line: along a row, up a column, both diagonals.
const DIRECTIONS: [(i32, i32); 4] = [(1, 0), (0, 1), (1, 1), (1, -1)];

impl Gomoku {
    fn at(&self, column: i32, row: i32) -> Option<Side> {
        let size = i32::from(self.setup.size);
        if (0..size).contains(&column) && (0..size).contains(&row) {
            self.stones[(row * size + column) as usize]
        } else {
            None
        }
    }

    fn point(&self, placement: Placement) -> Point {
        let size = u16::from(self.setup.size);
        Point::new(placement.0 % size, placement.0 / size)
    }

    /// The winning line through a stone just put there, if it made one.
    fn five_through(&self, point: Point, side: Side) -> Option<Vec<Point>> {
        let (column, row) = (i32::from(point.column), i32::from(point.row));
        DIRECTIONS.iter().find_map(|&(dc, dr)| {
            let run = |sign: i32| {
                (1..)
                    .take_while(|&n| self.at(column + dc * sign * n, row + dr * sign * n) == Some(side))
                    .count() as i32
            };
            let (back, forth) = (run(-1), run(1));
            let length = back + forth + 1;
            let long_enough = match self.setup.rule {
                GomokuRule::Freestyle => length >= 5,
                GomokuRule::Standard => length == 5,
            };
            let edge = i32::from(self.setup.size) - 1;
            let on_edge =
                (dr == 0 && (row == 0 || row == edge)) || (dc == 0 && (column == 0 || column == edge));
            (long_enough && (self.setup.edge_five_wins || !on_edge)).then(|| {
                (-back..=forth).map(|n| Point::new((column + dc * n) as u16, (row + dr * n) as u16)).collect()
            })
        })
    }
}

/// Key of a stone on a point, the same on every machine.
const fn stone_key(index: u16, side: Side) -> u64 {
    Rng::new(0x676f_6d6f_6b75_0000 ^ ((index as u64) << 1) ^ side as u64).next_u64()
}

/// Key of White to move.
const TURN_KEY: u64 = Rng::new(0x7475_726e).next_u64();

impl Game for Gomoku {
    type Setup = GomokuSetup;
    type Move = Placement;

    fn new(setup: &GomokuSetup) -> Result<Self, SetupError> {
        if setup.size != 15 {
            return Err(SetupError("gomoku is played on 15 x 15"));
        }
        Ok(Self {
            setup: setup.clone(),
            stones: vec![None; usize::from(setup.size) * usize::from(setup.size)],
            turn: Side::First,
            ply: 0,
            last: None,
            five: Vec::new(),
            key: 0,
        })
    }

    fn setup(&self) -> &GomokuSetup {
        &self.setup
    }

    fn turn(&self) -> Side {
        self.turn
    }

    fn ply(&self) -> u32 {
        self.ply
    }

    fn outcome(&self) -> Option<Outcome> {
        if !self.five.is_empty() {
            Some(Outcome { winner: Some(self.turn.other()), reason: Reason::FiveInARow })
        } else if self.ply as usize == self.stones.len() {
            Some(Outcome { winner: None, reason: Reason::BoardFull })
        } else {
            None
        }
    }

    fn legal_moves(&self, into: &mut Vec<Placement>) {
        into.clear();
        if self.outcome().is_none() {
            into.extend(
                (0..self.stones.len()).filter(|&n| self.stones[n].is_none()).map(|n| Placement(n as u16)),
            );
        }
    }

    fn legal_move(&self, action: Action) -> Result<Placement, IllegalAction> {
        if self.outcome().is_some() {
            return Err(IllegalAction::Ended);
        }
        let Action::Place(point) = action else { return Err(IllegalAction::WrongKind) };
        let size = u16::from(self.setup.size);
        if point.column >= size || point.row >= size {
            return Err(IllegalAction::OffBoard(point));
        }
        let index = point.row * size + point.column;
        match self.stones[usize::from(index)] {
            Some(_) => Err(IllegalAction::Occupied(point)),
            None => Ok(Placement(index)),
        }
    }

    fn action(mv: Placement) -> Action {
        // The move alone must show its point: the size is 15 until other sizes come with the size in the move.
        Action::Place(Point::new(mv.0 % 15, mv.0 / 15))
    }

    fn play(&mut self, mv: Placement) {
        let side = self.turn;
        self.stones[usize::from(mv.0)] = Some(side);
        self.five = self.five_through(self.point(mv), side).unwrap_or_default();
        self.key ^= stone_key(mv.0, side) ^ TURN_KEY;
        self.turn = side.other();
        self.ply += 1;
        self.last = Some(mv);
    }

    fn key(&self) -> u64 {
        self.key
    }

    fn view(&self) -> BoardView {
        let size = u16::from(self.setup.size);
        let outcome = self.outcome();
        BoardView {
            game: GameKind::Gomoku,
            columns: size,
            rows: size,
            pieces: points(size, size)
                .zip(&self.stones)
                .filter_map(|(at, side)| side.map(|side| PieceView { at, side, piece: Piece::Stone }))
                .collect(),
            last: self.last.map(Self::action),
            marks: self.five.iter().map(|&at| Mark { at, kind: MarkKind::Winning }).collect(),
            turn: outcome.is_none().then_some(self.turn),
            outcome,
            ply: self.ply,
        }
    }

    fn notation(&self, action: Action) -> String {
        match action {
            Action::Place(point) | Action::Capture(point) => point.to_string(),
            Action::Step { from, to } => format!("{from}{to}"),
            Action::Pass => "pass".into(),
        }
    }

    fn parse(&self, text: &str) -> Option<Action> {
        text.trim().parse().ok().map(Action::Place)
    }
}
