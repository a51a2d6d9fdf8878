//! Bit matrices for boards of lights or presses, with 64 cells per word.

use std::fmt;
use std::str::FromStr;

use crate::{Point, TextError};

/// The cells that a press toggles besides its own and the four orthogonal neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Neighbours {
    /// The board is a torus: left and right edge are joined, and top and bottom edge.
    pub torus: bool,
    /// A press also toggles the four diagonal neighbours.
    pub diagonals: bool,
}

/// One bit per cell of a board.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lights {
    columns: u16,
    rows: u16,
    /// Row by row from the bottom, each row padded to whole words, column 0 in the lowest bit. Padding bits are 0.
    words: Vec<u64>,
}

impl Lights {
    /// Valid numbers of columns and rows. 1,000 is the limit of points on the wire.
    pub const SIZES: std::ops::RangeInclusive<u16> = 1..=1000;

    /// A board of zeros. `None` if a size is not within [`Self::SIZES`].
    pub fn new(columns: u16, rows: u16) -> Option<Self> {
        if !Self::SIZES.contains(&columns) || !Self::SIZES.contains(&rows) {
            return None;
        }
        let words = vec![0; usize::from(columns).div_ceil(64) * usize::from(rows)];
        Some(Self { columns, rows, words })
    }

    /// Decodes row by row from the bottom, each row from column 0 on and padded to whole bytes, least significant bit first.
    /// `None` if a size is not within [`Self::SIZES`], the length is wrong, or a padding bit is 1.
    pub fn from_bytes(columns: u16, rows: u16, bytes: &[u8]) -> Option<Self> {
        let mut lights = Self::new(columns, rows)?;
        let length = usize::from(columns).div_ceil(8);
        if bytes.len() != length * usize::from(rows) {
            return None;
        }
        for (row, bytes) in (0..).zip(bytes.chunks_exact(length)) {
            for (word, bytes) in lights.row_mut(row).iter_mut().zip(bytes.chunks(8)) {
                let mut whole = [0; 8];
                whole[..bytes.len()].copy_from_slice(bytes);
                *word = u64::from_le_bytes(whole);
            }
            let beyond = !(u64::MAX >> (63 - (columns - 1) % 64));
            if lights.row(row).last().is_some_and(|word| word & beyond != 0) {
                return None;
            }
        }
        Some(lights)
    }

    /// The inverse of [`Self::from_bytes`].
    pub fn to_bytes(&self) -> Vec<u8> {
        let length = usize::from(self.columns).div_ceil(8);
        let bytes_of = |row| self.row(row).iter().flat_map(|word| word.to_le_bytes()).take(length);
        (0..self.rows).flat_map(bytes_of).collect()
    }

    /// Number of columns.
    pub fn columns(&self) -> u16 {
        self.columns
    }

    /// Number of rows.
    pub fn rows(&self) -> u16 {
        self.rows
    }

    /// Whether the bit is 1. The point must be on the board.
    pub fn get(&self, at: Point) -> bool {
        let (word, bit) = self.place(at);
        self.words[word] >> bit & 1 == 1
    }

    /// Toggles the bit. The point must be on the board.
    pub fn toggle(&mut self, at: Point) {
        let (word, bit) = self.place(at);
        self.words[word] ^= 1 << bit;
    }

    /// Whether the point is on the board.
    pub fn has(&self, at: Point) -> bool {
        at.column < self.columns && at.row < self.rows
    }

    /// Number of bits that are 1.
    pub fn count(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// The points whose bit is 1, row by row from the bottom.
    pub fn points(&self) -> impl Iterator<Item = Point> {
        (0..self.rows).flat_map(move |row| {
            self.row(row).iter().zip(0_u16..).flat_map(move |(&word, n)| {
                let mut rest = word;
                std::iter::from_fn(move || {
                    (rest != 0).then(|| {
                        let bit = rest.trailing_zeros() as u16;
                        rest &= rest - 1;
                        Point::new(64 * n + bit, row)
                    })
                })
            })
        })
    }

    /// Toggles the cells that a press on this point, which must be on the board, toggles.
    pub fn press(&mut self, at: Point, neighbours: Neighbours) {
        let near = |place: u16, length: u16| {
            let (before, after) = beside(place, length, neighbours.torus);
            [before, Some(place), after]
        };
        let (columns, rows) = (near(at.column, self.columns), near(at.row, self.rows));
        for (across, column) in columns.iter().enumerate() {
            for (along, row) in rows.iter().enumerate() {
                let straight = across == 1 || along == 1;
                if let (Some(column), Some(row), true) = (*column, *row, straight || neighbours.diagonals) {
                    self.toggle(Point::new(column, row));
                }
            }
        }
    }

    /// The cells that all these presses together toggle.
    pub fn toggled_by(presses: &Self, neighbours: Neighbours) -> Self {
        let mut lights = Self { words: vec![0; presses.words.len()], ..*presses };
        let wide = |row: u16| {
            let mut out = presses.row(row).to_vec();
            presses.add_sides(row, neighbours.torus, &mut out);
            out
        };
        for row in 0..presses.rows {
            let (before, after) = beside(row, presses.rows, neighbours.torus);
            add(lights.row_mut(row), &wide(row));
            for other in [before, after].into_iter().flatten() {
                if neighbours.diagonals {
                    add(lights.row_mut(row), &wide(other));
                } else {
                    add(lights.row_mut(row), presses.row(other));
                }
            }
        }
        lights
    }

    /// The transposed board.
    pub(super) fn transposed(&self) -> Self {
        let mut other = Self::new(self.rows, self.columns).expect("both sides are valid");
        for Point { column, row } in self.points() {
            other.toggle(Point::new(row, column));
        }
        other
    }

    /// The words of a row.
    pub(super) fn row(&self, row: u16) -> &[u64] {
        let stride = usize::from(self.columns).div_ceil(64);
        &self.words[usize::from(row) * stride..][..stride]
    }

    /// The words of a row, mutable.
    pub(super) fn row_mut(&mut self, row: u16) -> &mut [u64] {
        let stride = usize::from(self.columns).div_ceil(64);
        &mut self.words[usize::from(row) * stride..][..stride]
    }

    /// Adds over GF(2) the row shifted by one to the left and by one to the right.
    pub(super) fn add_sides(&self, row: u16, torus: bool, into: &mut [u64]) {
        add_sides(self.row(row), self.columns, torus, into);
    }

    fn place(&self, at: Point) -> (usize, u16) {
        assert!(self.has(at), "the caller asks for points of the board");
        let stride = usize::from(self.columns).div_ceil(64);
        (usize::from(at.row) * stride + usize::from(at.column / 64), at.column % 64)
    }
}

/// The neighbours of an index in a line of this length, if they exist.
fn beside(place: u16, length: u16, torus: bool) -> (Option<u16>, Option<u16>) {
    if torus {
        (Some((place + length - 1) % length), Some((place + 1) % length))
    } else {
        (place.checked_sub(1), Some(place + 1).filter(|&next| next < length))
    }
}

/// Adds over GF(2) (XOR).
pub(super) fn add(into: &mut [u64], other: &[u64]) {
    for (word, other) in into.iter_mut().zip(other) {
        *word ^= other;
    }
}

/// Adds over GF(2) a row of this many columns shifted by one to the left and by one to the right.
fn add_sides(row: &[u64], columns: u16, torus: bool, into: &mut [u64]) {
    let last_word = row.len() - 1;
    let last_bit = (columns - 1) % 64;
    for n in 0..=last_word {
        into[n] ^= row[n] << 1 | if n > 0 { row[n - 1] >> 63 } else { 0 };
        into[n] ^= row[n] >> 1 | if n < last_word { row[n + 1] << 63 } else { 0 };
    }
    if torus {
        into[0] ^= row[last_word] >> last_bit & 1;
        into[last_word] ^= (row[0] & 1) << last_bit;
    }
    into[last_word] &= u64::MAX >> (63 - last_bit);
}

/// Rows from the top, `#` for 1 and `.` for 0, each with a line feed.
impl fmt::Display for Lights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in (0..self.rows).rev() {
            let line: String = (0..self.columns)
                .map(|column| if self.get(Point::new(column, row)) { '#' } else { '.' })
                .collect();
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

/// Parses the format of [`fmt::Display`]. Empty lines at the end are ignored.
impl FromStr for Lights {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let lines: Vec<&str> = text.trim_end().lines().map(str::trim_end).collect();
        let wrong = |line: usize, column: usize, expected| TextError {
            line: line as u32 + 1,
            column: column as u32 + 1,
            expected,
        };
        let columns = lines.first().map_or(0, |line| line.chars().count());
        let most = usize::from(*Self::SIZES.end());
        if lines.len() > most {
            return Err(wrong(most, 0, "at most 1,000 rows"));
        }
        if columns > most {
            return Err(wrong(0, most, "at most 1,000 columns"));
        }
        let board = Self::new(columns as u16, lines.len() as u16);
        let mut board = board.ok_or(wrong(0, 0, "a row of . and #"))?;
        for (n, line) in lines.iter().enumerate() {
            let row = (lines.len() - 1 - n) as u16;
            let mut length = 0;
            for (column, c) in line.chars().enumerate() {
                if column == columns {
                    return Err(wrong(n, column, "rows of the same length"));
                }
                match c {
                    '#' => board.toggle(Point::new(column as u16, row)),
                    '.' => {}
                    _ => return Err(wrong(n, column, ". or #")),
                }
                length += 1;
            }
            if length < columns {
                return Err(wrong(n, length, "rows of the same length"));
            }
        }
        Ok(board)
    }
}
