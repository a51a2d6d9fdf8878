//! Formations (城): sets of points that capture when one side occupies all of them.

use super::{BOARD, POINTS, SIZE};
use crate::Language;

/// Kinds of formations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FormationKind {
    /// 成六: a whole row, column or main diagonal that is not an edge.
    Six,
    /// 斜五: a diagonal of exactly five with both ends on the edge.
    DiagonalFive,
    /// 斜四: a diagonal of exactly four with both ends on the edge.
    DiagonalFour,
    /// 斜三: a diagonal of exactly three, which cuts off a corner.
    DiagonalThree,
    /// 成方: a square of two by two points.
    Square,
    /// 边六: a whole edge. A formation by option only; not among the 47.
    EdgeSix,
}

impl FormationKind {
    /// The name in words for players.
    pub const fn name(self, language: Language) -> &'static str {
        match self {
            Self::Six => language.pick("成六", "a six"),
            Self::DiagonalFive => language.pick("斜五", "a diagonal five"),
            Self::DiagonalFour => language.pick("斜四", "a diagonal four"),
            Self::DiagonalThree => language.pick("斜三", "a diagonal three"),
            Self::Square => language.pick("成方", "a square"),
            Self::EdgeSix => language.pick("边六", "an edge six"),
        }
    }
}

/// A formation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formation {
    /// Its kind.
    pub kind: FormationKind,
    /// Whether it is along a diagonal, which an option excludes. Of the sixes the two main diagonals.
    pub diagonal: bool,
    /// Bitboard of its points; bit number = row * 6 + column.
    pub points: u64,
}

/// 25 squares, 12 rows and columns including 4 edges, 14 diagonals.
const COUNT: usize = 51;

/// All formations: the 47 and the four edges.
pub(super) const ALL: [Formation; COUNT] = all();

/// For each point the indices of the formations (in [`ALL`]) that contain it: at most four squares, a row, a column and two
/// diagonals. Unused entries are `u8::MAX`.
const THROUGH: [[u8; 8]; POINTS as usize] = through();

/// Formations through this point that these stones complete.
pub(super) fn complete_through(point: u8, stones: u64) -> impl Iterator<Item = &'static Formation> {
    through_point(point).filter(move |formation| formation.points & !stones == 0)
}

/// Formations through this point.
pub(super) fn through_point(point: u8) -> impl Iterator<Item = &'static Formation> {
    let numbers = THROUGH[usize::from(point)].iter().take_while(|&&number| number != u8::MAX);
    numbers.map(|&number| &ALL[usize::from(number)])
}

const fn bit(column: u8, row: u8) -> u64 {
    1 << (row * SIZE + column)
}

const fn all() -> [Formation; COUNT] {
    let mut list = [Formation { kind: FormationKind::Square, diagonal: false, points: 0 }; COUNT];
    let mut n = 0;
    let mut row = 0;
    while row + 1 < SIZE {
        let mut column = 0;
        while column + 1 < SIZE {
            list[n].points =
                bit(column, row) | bit(column + 1, row) | bit(column, row + 1) | bit(column + 1, row + 1);
            n += 1;
            column += 1;
        }
        row += 1;
    }
    let mut line = 0;
    while line < SIZE {
        let kind = if line == 0 || line == SIZE - 1 { FormationKind::EdgeSix } else { FormationKind::Six };
        list[n] = Formation { kind, diagonal: false, points: run(0, line, 1, 0).0 };
        list[n + 1] = Formation { kind, diagonal: false, points: run(line, 0, 0, 1).0 };
        n += 2;
        line += 1;
    }
    // Diagonals rising to the right start at the bottom or left edge, falling ones at the top or left edge.
    let mut start = 0;
    while start < SIZE {
        let (falling, top) = (-1, SIZE - 1);
        let mut runs = [run(start, 0, 1, 1), run(start, top, 1, falling), (0, 0), (0, 0)];
        if start > 0 {
            runs[2] = run(0, start, 1, 1);
            runs[3] = run(0, top - start, 1, falling);
        }
        let mut r = 0;
        while r < 4 {
            let kind = match runs[r].1 {
                3 => Some(FormationKind::DiagonalThree),
                4 => Some(FormationKind::DiagonalFour),
                5 => Some(FormationKind::DiagonalFive),
                6 => Some(FormationKind::Six),
                _ => None,
            };
            if let Some(kind) = kind {
                list[n] = Formation { kind, diagonal: true, points: runs[r].0 };
                n += 1;
            }
            r += 1;
        }
        start += 1;
    }
    assert!(n == COUNT, "the table is full");
    list
}

/// The points from here to the edge, and their number.
const fn run(column: u8, row: u8, right: i8, up: i8) -> (u64, u8) {
    let (mut c, mut r, mut points, mut length) = (column as i8, row as i8, 0, 0);
    while c >= 0 && c < SIZE as i8 && r >= 0 && r < SIZE as i8 {
        points |= bit(c as u8, r as u8);
        length += 1;
        c += right;
        r += up;
    }
    (points, length)
}

const fn through() -> [[u8; 8]; POINTS as usize] {
    let mut table = [[u8::MAX; 8]; POINTS as usize];
    let mut point = 0;
    while point < POINTS as usize {
        let (mut found, mut n) = (0, 0);
        while n < COUNT {
            assert!(ALL[n].points & !BOARD == 0, "formations lie on the board");
            if ALL[n].points & (1 << point) != 0 {
                table[point][found] = n as u8;
                found += 1;
            }
            n += 1;
        }
        point += 1;
    }
    table
}
