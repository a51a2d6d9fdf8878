//! FEN of xiangqi positions, as UCI engines write it.
//!
//! ```text
//! rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1
//! ```
//! Rows from Black's side; upper case is Red (`K A B N R C P`; `E` and `H` are read as `B` and `N`); `w` (or `r`) is Red to
//! move. The hyphens stand for chess's castling and en passant; then follow the halfmove clock and the move number.
//! Everything after the side may be missing.

use std::fmt::Write as _;

use super::attacks::PALACES;
use super::attacks::bit;
use super::board::{Board, FILES, Kind, RANKS};
use crate::Side;
use crate::text::{TextError, words};

/// A position with its counters.
pub(super) struct Fen {
    pub(super) board: Board,
    /// Halfmove clock: plies without a capture or a soldier's move.
    pub(super) quiet: u16,
    /// Move number, from 1.
    pub(super) number: u32,
}

const LETTERS: [(char, Kind); 9] = [
    ('k', Kind::General),
    ('a', Kind::Adviser),
    ('b', Kind::Elephant),
    ('n', Kind::Horse),
    ('r', Kind::Chariot),
    ('c', Kind::Cannon),
    ('p', Kind::Soldier),
    ('e', Kind::Elephant),
    ('h', Kind::Horse),
];

/// The letter of a piece: upper case is Red.
pub(crate) fn letter(side: Side, kind: Kind) -> char {
    let (letter, _) = LETTERS.iter().find(|(_, of)| *of == kind).expect("every kind has a letter");
    if side == Side::First { letter.to_ascii_uppercase() } else { *letter }
}

/// The piece with this letter.
pub(crate) fn of_letter(letter: char) -> Option<(Side, Kind)> {
    let &(_, kind) = LETTERS.iter().find(|(of, _)| *of == letter.to_ascii_lowercase())?;
    Some((if letter.is_ascii_uppercase() { Side::First } else { Side::Second }, kind))
}

impl Fen {
    /// The beginning of [`Self::START`], up to the side to move.
    pub(super) const STANDARD: &str = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w";
    pub(super) const START: &str = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1";

    /// The initial position with Black to move.
    pub(super) const START_BLACK: &str =
        "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR b - - 0 1";

    /// Fails if the line is malformed, a piece is on an impossible square, or the side not to move is in check.
    pub(super) fn read(line: &str) -> Result<Self, TextError> {
        let mut fields = words(line);
        let (at, rows) = fields.next().ok_or(TextError::at(line, line.len(), "ten rows of pieces"))?;
        let (side_at, side) =
            fields.next().ok_or(TextError::at(line, line.len(), "w or b, the side to move"))?;
        let turn = match side {
            "w" | "r" => Side::First,
            "b" => Side::Second,
            _ => return Err(TextError::at(line, side_at, "w or b, the side to move")),
        };
        let mut board = Board::empty(turn);
        read_rows(line, at, rows, &mut board)?;
        for side in Side::BOTH {
            if board.pieces(side, Kind::General) == 0 {
                return Err(TextError::at(line, at, "both generals"));
            }
        }
        if board.checkers(turn.other()) != 0 {
            return Err(TextError::at(line, side_at, "the other side to move, since it is in check"));
        }
        for _ in 0..2 {
            if let Some((at, _)) = fields.next().filter(|(_, word)| *word != "-") {
                return Err(TextError::at(line, at, "-"));
            }
        }
        let mut number = |expected, default: u32| {
            fields
                .next()
                .map_or(Ok(default), |(at, word)| word.parse().map_err(|_| TextError::at(line, at, expected)))
        };
        let quiet = number("the number of plies without a capture", 0)?;
        let number = number("the number of the move", 1)?;
        if let Some((at, _)) = fields.next() {
            return Err(TextError::at(line, at, "the end of the line"));
        }
        Ok(Self { board, quiet: u16::try_from(quiet).unwrap_or(u16::MAX), number })
    }

    pub(super) fn write(&self) -> String {
        let mut line = String::new();
        for rank in (0..RANKS).rev() {
            let mut empty = 0;
            for file in 0..FILES {
                let Some((side, kind)) = self.board.at((rank * FILES + file) as u8) else {
                    empty += 1;
                    continue;
                };
                if empty > 0 {
                    write!(line, "{empty}").expect("writing to a String cannot fail");
                    empty = 0;
                }
                line.push(letter(side, kind));
            }
            if empty > 0 {
                write!(line, "{empty}").expect("writing to a String cannot fail");
            }
            if rank > 0 {
                line.push('/');
            }
        }
        let side = if self.board.turn() == Side::First { 'w' } else { 'b' };
        write!(line, " {side} - - {} {}", self.quiet, self.number).expect("writing to a String cannot fail");
        line
    }
}

/// `at` is the offset of the rows in the line.
fn read_rows(line: &str, at: usize, rows: &str, board: &mut Board) -> Result<(), TextError> {
    let (mut rank, mut file) = (RANKS - 1, 0);
    for (offset, c) in rows.char_indices() {
        let wrong = |expected| Err(TextError::at(line, at + offset, expected));
        match c {
            '/' if file != FILES => return wrong("nine points in a row"),
            '/' if rank == 0 => return wrong("ten rows"),
            '/' => {
                rank -= 1;
                file = 0;
            }
            '1'..='9' => {
                file += usize::from(c as u8 - b'0');
                if file > FILES {
                    return wrong("nine points in a row");
                }
            }
            _ => {
                let Some((side, kind)) = of_letter(c) else { return wrong("a piece, a digit or /") };
                if file >= FILES {
                    return wrong("nine points in a row");
                }
                let square = (rank * FILES + file) as u8;
                if !may_stand(square, side, kind) {
                    return wrong("a piece that can stand here");
                }
                if board.pieces(side, kind).count_ones() == kind.count() {
                    return wrong("no more pieces of a kind than a set has");
                }
                board.toggle(square, side, kind);
                file += 1;
            }
        }
    }
    if rank == 0 && file == FILES {
        Ok(())
    } else {
        Err(TextError::at(line, at + rows.len(), "ten rows of nine points"))
    }
}

/// Whether a piece can ever reach a square: palaces, river, and soldiers never move backwards.
pub(super) fn may_stand(square: u8, side: Side, kind: Kind) -> bool {
    let (file, rank) = (usize::from(square) % FILES, usize::from(square) / FILES);
    // From the owner's point of view.
    let rank = if side == Side::First { rank } else { RANKS - 1 - rank };
    match kind {
        Kind::General => bit(square) & PALACES != 0 && rank < 3,
        Kind::Adviser => bit(square) & PALACES != 0 && rank < 3 && (file + rank) % 2 == 1,
        Kind::Elephant => {
            matches!((file, rank), (2 | 6, 0 | 4) | (0 | 4 | 8, 2))
        }
        Kind::Soldier => rank >= 5 || (rank >= 3 && file % 2 == 0),
        Kind::Horse | Kind::Chariot | Kind::Cannon => true,
    }
}
