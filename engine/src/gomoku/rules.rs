//! The game itself.
//!
//! Sources: freestyle and standard as played at Gomocup (gomocup.org/detail-information, rules 0 and 1). The edge option is
//! this project's own.

use super::{DIRECTIONS, GomokuRule, GomokuSetup};
use crate::game::points;
use crate::{
    Action, BoardView, Game, GameKind, IllegalAction, Language, Mark, MarkKind, Names, Outcome, Piece,
    PieceView, Point, Reason, Rng, SetupError, Side,
};

/// A stone put on an empty point of the board that the move was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    column: u8,
    row: u8,
}

impl Placement {
    /// Where the stone goes.
    pub const fn point(self) -> Point {
        Point::new(self.column as u16, self.row as u16)
    }
}

/// A position of gomoku. Black ([`Side::First`]) begins.
///
/// Its key covers the setup, the stones and whose turn it is: everything that decides what may follow. The order of the
/// moves and which stone was last are left out.
#[derive(Clone)]
pub struct Gomoku {
    setup: GomokuSetup,
    /// Row by row from the bottom.
    stones: Vec<Option<Side>>,
    turn: Side,
    ply: u32,
    last: Option<Placement>,
    /// Every stone of every line that won, line by line; empty while nobody has won.
    five: Vec<Point>,
    key: u64,
}

impl Gomoku {
    /// The stone on a point, `None` where there is none or the point is off the board. Columns and rows may be any number.
    pub(super) fn at(&self, column: i32, row: i32) -> Option<Side> {
        let size = i32::from(self.setup.size);
        if (0..size).contains(&column) && (0..size).contains(&row) {
            self.stones[(row * size + column) as usize]
        } else {
            None
        }
    }

    fn index(&self, placement: Placement) -> usize {
        usize::from(placement.row) * usize::from(self.setup.size) + usize::from(placement.column)
    }

    /// The stones of the lines that win through a stone just put there; empty when none does. One stone may complete several.
    fn fives_through(&self, placement: Placement, side: Side) -> Vec<Point> {
        let (column, row) = (i32::from(placement.column), i32::from(placement.row));
        let size = i32::from(self.setup.size);
        let edge = size - 1;
        let mut stones = Vec::new();
        for (dc, dr) in DIRECTIONS {
            let run = |sign: i32| {
                (1..size)
                    .take_while(|&n| self.at(column + dc * sign * n, row + dr * sign * n) == Some(side))
                    .count() as i32
            };
            let (back, forth) = (run(-1), run(1));
            let length = back + forth + 1;
            let long_enough = match self.setup.rule {
                GomokuRule::Freestyle => length >= 5,
                GomokuRule::Standard => length == 5,
            };
            let on_edge =
                (dr == 0 && (row == 0 || row == edge)) || (dc == 0 && (column == 0 || column == edge));
            if long_enough && (self.setup.edge_five_wins || !on_edge) {
                stones.extend(
                    (-back..=forth).map(|n| Point::new((column + dc * n) as u16, (row + dr * n) as u16)),
                );
            }
        }
        stones
    }
}

/// Key of a stone on a point, the same on every machine and every size of board.
pub(super) const fn stone_key(column: u16, row: u16, side: Side) -> u64 {
    let cell = (row as u64) << 17 | (column as u64) << 1 | side as u64;
    Rng::new(0x676f_6d6f_6b75_0000_u64.wrapping_add(cell)).next_u64()
}

/// Key of White to move.
pub(super) const TURN_KEY: u64 = Rng::new(0x7475_726e).next_u64();

/// Key of the empty board: the setup.
const fn setup_key(setup: &GomokuSetup) -> u64 {
    let rule = match setup.rule {
        GomokuRule::Freestyle => 0,
        GomokuRule::Standard => 1,
    };
    Rng::new(0x7365_7475_7000_0000 | (setup.size as u64) << 8 | rule << 1 | setup.edge_five_wins as u64)
        .next_u64()
}

impl Game for Gomoku {
    type Setup = GomokuSetup;
    type Move = Placement;

    fn new(setup: &GomokuSetup) -> Result<Self, SetupError> {
        setup.check()?;
        Ok(Self {
            setup: setup.clone(),
            stones: vec![None; usize::from(setup.size) * usize::from(setup.size)],
            turn: Side::First,
            ply: 0,
            last: None,
            five: Vec::new(),
            key: setup_key(setup),
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
            let size = self.setup.size;
            let placements = (0..size).flat_map(|row| (0..size).map(move |column| Placement { column, row }));
            into.extend(placements.zip(&self.stones).filter(|(_, stone)| stone.is_none()).map(|(mv, _)| mv));
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
        let placement = Placement { column: point.column as u8, row: point.row as u8 };
        match self.stones[self.index(placement)] {
            Some(_) => Err(IllegalAction::Occupied(point)),
            None => Ok(placement),
        }
    }

    fn action(mv: Placement) -> Action {
        Action::Place(mv.point())
    }

    fn play(&mut self, mv: Placement) {
        let side = self.turn;
        let index = self.index(mv);
        debug_assert!(
            self.stones[index].is_none() && self.five.is_empty(),
            "a move is for the position it was made from"
        );
        self.stones[index] = Some(side);
        self.five = self.fives_through(mv, side);
        self.key ^= stone_key(mv.column.into(), mv.row.into(), side) ^ TURN_KEY;
        self.turn = side.other();
        self.ply += 1;
        self.last = Some(mv);
    }

    fn key(&self) -> u64 {
        self.key
    }

    fn fresh_key(&self) -> u64 {
        let size = u16::from(self.setup.size);
        let turn = if self.turn == Side::Second { TURN_KEY } else { 0 };
        points(size, size)
            .zip(&self.stones)
            .filter_map(|(at, stone)| stone.map(|side| stone_key(at.column, at.row, side)))
            .fold(setup_key(&self.setup) ^ turn, |key, stone| key ^ stone)
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
            facts: Vec::new(),
            steps: Vec::new(),
            losing_steps: Vec::new(),
            choices: Vec::new(),
            turn: outcome.is_none().then_some(self.turn),
            outcome,
            ply: self.ply,
        }
    }

    fn notation(&self, action: Action) -> String {
        action.to_string()
    }

    fn parse(&self, text: &str) -> Option<Action> {
        text.trim().parse().ok().map(Action::Place)
    }

    fn names(language: Language) -> Names {
        match language {
            Language::Chinese => Names { game: "五子棋", first: "黑方", second: "白方" },
            Language::English => Names { game: "Gomoku", first: "Black", second: "White" },
        }
    }

    fn rule_sheet(setup: &GomokuSetup, language: Language) -> String {
        setup.rule_sheet(language)
    }
}
