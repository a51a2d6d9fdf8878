//! Bitboards of the pieces, with make and unmake.
//!
//! Squares are numbered rank * 9 + file, both from zero: rank 0 is Red's back rank, file 0 is at Red's left.

use super::attacks::{self, BESIDE, EYES, FILE, HORSE_TO, LEGS, RANK, SOLDIER_TO, Set, bit};
use crate::{Piece, Point, Rng, Side};

/// Files, from Red's left to right.
pub(super) const FILES: usize = 9;
/// Ranks, from Red to Black.
pub(super) const RANKS: usize = 10;
/// Number of squares (in xiangqi terms: points).
pub(super) const SQUARES: usize = FILES * RANKS;

/// Kinds of pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// 帅 / 将.
    General,
    /// 仕 / 士.
    Adviser,
    /// 相 / 象.
    Elephant,
    /// 马.
    Horse,
    /// 车.
    Chariot,
    /// 炮.
    Cannon,
    /// 兵 / 卒.
    Soldier,
}

impl Kind {
    /// Every kind, in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::General,
        Self::Adviser,
        Self::Elephant,
        Self::Horse,
        Self::Chariot,
        Self::Cannon,
        Self::Soldier,
    ];

    /// The piece of any game.
    pub(crate) const fn piece(self) -> Piece {
        match self {
            Self::General => Piece::General,
            Self::Adviser => Piece::Adviser,
            Self::Elephant => Piece::Elephant,
            Self::Horse => Piece::Horse,
            Self::Chariot => Piece::Chariot,
            Self::Cannon => Piece::Cannon,
            Self::Soldier => Piece::Soldier,
        }
    }

    /// The kind of a piece of any game; `None` if it is not of xiangqi.
    pub(crate) fn of(piece: Piece) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.piece() == piece)
    }

    /// Number of pieces of this kind per side at the start, which is also the maximum.
    pub const fn count(self) -> u32 {
        match self {
            Self::General => 1,
            Self::Soldier => 5,
            _ => 2,
        }
    }
}

/// A move from a square to another. Squares are rank * 9 + file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct XiangqiMove {
    /// Square of the piece.
    pub from: u8,
    /// Destination.
    pub to: u8,
}

/// The content of a square: 0 if empty, otherwise 1 + kind, plus 8 for Black. Encoded as a number to keep the board small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell(u8);

impl Cell {
    pub(super) const EMPTY: Self = Self(0);

    pub(super) const fn new(side: Side, kind: Kind) -> Self {
        Self(1 + kind as u8 + 8 * side as u8)
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) const fn piece(self) -> Option<(Side, Kind)> {
        if self.0 == 0 {
            return None;
        }
        let side = if self.0 & 8 == 0 { Side::First } else { Side::Second };
        Some((side, Kind::ALL[(self.0 & 7) as usize - 1]))
    }
}

/// The pieces and the side to move, without history: the position of a search. Red is [`Side::First`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// One more than there are squares, for [`BESIDE`].
    cells: [Cell; SQUARES + 1],
    /// Bitboards by side and kind.
    pieces: [[Set; 7]; 2],
    /// Bitboards by side.
    sides: [Set; 2],
    /// Occupancy of each rank, file 0 in the lowest bit.
    ranks: [u16; RANKS],
    /// Occupancy of each file, rank 0 in the lowest bit.
    files: [u16; FILES],
    turn: Side,
    key: u64,
}

impl Board {
    /// A board without pieces. Not a valid position: both generals are missing.
    pub(super) const fn empty(turn: Side) -> Self {
        Self {
            cells: [Cell::EMPTY; SQUARES + 1],
            pieces: [[0; 7]; 2],
            sides: [0; 2],
            ranks: [0; RANKS],
            files: [0; FILES],
            turn,
            key: match turn {
                Side::First => 0,
                Side::Second => TURN_KEY,
            },
        }
    }

    /// The side to move.
    pub fn turn(&self) -> Side {
        self.turn
    }

    /// Zobrist key of the pieces and the side to move.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The piece on a square.
    pub fn at(&self, square: u8) -> Option<(Side, Kind)> {
        self.cells[usize::from(square)].piece()
    }

    /// Bitboard of the pieces of this side and kind.
    pub fn pieces(&self, side: Side, kind: Kind) -> u128 {
        self.pieces[side.index()][kind as usize]
    }

    /// Bitboard of all pieces of this side.
    pub fn side(&self, side: Side) -> u128 {
        self.sides[side.index()]
    }

    pub(super) fn occupied(&self) -> Set {
        self.sides[0] | self.sides[1]
    }

    pub(super) fn lines(&self) -> (&[u16; RANKS], &[u16; FILES]) {
        (&self.ranks, &self.files)
    }

    /// Places a piece on an empty square, or removes it: toggles.
    pub(super) fn toggle(&mut self, square: u8, side: Side, kind: Kind) {
        let (n, set) = (usize::from(square), bit(square));
        self.cells[n] = if self.cells[n].is_empty() { Cell::new(side, kind) } else { Cell::EMPTY };
        self.pieces[side.index()][kind as usize] ^= set;
        self.sides[side.index()] ^= set;
        self.ranks[usize::from(RANK[n])] ^= 1 << FILE[n];
        self.files[usize::from(FILE[n])] ^= 1 << RANK[n];
        self.key ^= piece_key(square, side, kind);
    }

    /// Makes a move of the side to move, and returns the captured piece. Does not check legality.
    pub(super) fn make(&mut self, mv: XiangqiMove) -> Cell {
        let taken = self.cells[usize::from(mv.to)];
        if let Some((side, kind)) = taken.piece() {
            self.toggle(mv.to, side, kind);
        }
        let (side, kind) = self.at(mv.from).expect("a move has a piece");
        self.toggle(mv.from, side, kind);
        self.toggle(mv.to, side, kind);
        self.turn = self.turn.other();
        self.key ^= TURN_KEY;
        taken
    }

    /// [`Self::key`] after a move.
    pub(super) fn key_after(&self, mv: XiangqiMove) -> u64 {
        let key_of = |cell: u8, square| self.at(cell).map_or(0, |(side, kind)| piece_key(square, side, kind));
        self.key ^ TURN_KEY ^ key_of(mv.from, mv.from) ^ key_of(mv.from, mv.to) ^ key_of(mv.to, mv.to)
    }

    /// Unmakes the last move, which captured `taken`.
    pub(super) fn unmake(&mut self, mv: XiangqiMove, taken: Cell) {
        let (side, kind) = self.at(mv.to).expect("a move has a piece");
        self.toggle(mv.to, side, kind);
        self.toggle(mv.from, side, kind);
        if let Some((side, kind)) = taken.piece() {
            self.toggle(mv.to, side, kind);
        }
        self.turn = self.turn.other();
        self.key ^= TURN_KEY;
    }

    /// A copy with the other side to move.
    pub(super) fn passed(&self) -> Self {
        let mut passed = *self;
        passed.pass();
        passed
    }

    /// Changes the side to move; a second call undoes it.
    pub(super) fn pass(&mut self) {
        self.turn = self.turn.other();
        self.key ^= TURN_KEY;
    }

    /// Square of this side's general.
    pub fn general(&self, side: Side) -> u8 {
        self.pieces(side, Kind::General).trailing_zeros() as u8
    }

    /// Occupancy of the four orthogonal neighbours, as a number; squares off the board count as empty.
    pub(super) fn legs(&self, square: u8) -> usize {
        self.four(LEGS[usize::from(square)])
    }

    /// Occupancy of the four diagonal neighbours, as a number.
    pub(super) fn eyes(&self, square: u8) -> usize {
        self.four(EYES[usize::from(square)])
    }

    fn four(&self, squares: [u8; 4]) -> usize {
        let occupied = |n: usize| usize::from(!self.cells[usize::from(squares[n])].is_empty()) << n;
        occupied(0) | occupied(1) | occupied(2) | occupied(3)
    }

    /// Pieces that attack this side's general, including the enemy general on an open file.
    pub fn checkers(&self, side: Side) -> u128 {
        let square = self.general(side);
        let enemy = &self.pieces[side.other().index()];
        let of = |kind: Kind| enemy[kind as usize];
        let (along_rank, along_file) = attacks::rides(square, &self.ranks, &self.files);
        (along_rank | along_file) & of(Kind::Chariot)
            | along_file & of(Kind::General)
            | attacks::shots(square, &self.ranks, &self.files) & of(Kind::Cannon)
            | HORSE_TO[usize::from(square)][self.eyes(square)] & of(Kind::Horse)
            | SOLDIER_TO[side.other().index()][usize::from(square)] & of(Kind::Soldier)
    }

    /// Whether the side to move is in check.
    pub fn in_check(&self) -> bool {
        self.checkers(self.turn) != 0
    }

    /// [`Self::key`] computed from scratch.
    pub(super) fn fresh_key(&self) -> u64 {
        let turn = if self.turn == Side::Second { TURN_KEY } else { 0 };
        (0..BESIDE).fold(turn, |key, square| match self.at(square) {
            Some((side, kind)) => key ^ piece_key(square, side, kind),
            None => key,
        })
    }
}

/// The point of a square.
pub(super) fn to_point(square: u8) -> Point {
    Point::new(u16::from(FILE[usize::from(square)]), u16::from(RANK[usize::from(square)]))
}

/// The square of a point; `None` if it is off the board.
pub(super) fn to_square(point: Point) -> Option<u8> {
    let on_board = usize::from(point.column) < FILES && usize::from(point.row) < RANKS;
    on_board.then(|| (usize::from(point.row) * FILES + usize::from(point.column)) as u8)
}

static PIECE_KEYS: [[[u64; SQUARES]; 7]; 2] = {
    let mut rng = Rng::new(0x7869_616e_6771_6900);
    let mut table = [[[0; SQUARES]; 7]; 2];
    let mut side = 0;
    while side < 2 {
        let mut kind = 0;
        while kind < 7 {
            let mut square = 0;
            while square < SQUARES {
                table[side][kind][square] = rng.next_u64();
                square += 1;
            }
            kind += 1;
        }
        side += 1;
    }
    table
};

/// Zobrist key of a piece on a square, the same on every machine.
fn piece_key(square: u8, side: Side, kind: Kind) -> u64 {
    PIECE_KEYS[side.index()][kind as usize][usize::from(square)]
}

/// Zobrist key of Black to move.
const TURN_KEY: u64 = Rng::new(0x7475_726e).next_u64();
