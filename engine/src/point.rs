//! A point of a board.

use std::fmt;
use std::str::FromStr;

/// A point (or cell) of a board. 0-based: column from the left, row from the bottom, from the first player's point of view,
/// so that `h8` in gomoku is column 7, row 7. Wide enough for Lights Out boards of 1,000 x 1,000.
/// [`crate::Game::legal_move`] checks whether a point is on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Point {
    /// From the left, 0-based.
    pub column: u16,
    /// From the bottom, 0-based.
    pub row: u16,
}

impl Point {
    /// The point in this column (from the left) and row (from the bottom).
    pub const fn new(column: u16, row: u16) -> Self {
        Self { column, row }
    }

    /// The points beside it on a board of this many columns and rows.
    pub(crate) fn neighbours(self, size: u16) -> impl Iterator<Item = Self> {
        let Self { column, row } = self;
        let beside = [
            (column.wrapping_sub(1), row),
            (column + 1, row),
            (column, row.wrapping_sub(1)),
            (column, row + 1),
        ];
        beside
            .into_iter()
            .filter(move |&(column, row)| column < size && row < size)
            .map(|(column, row)| Self::new(column, row))
    }

    /// The image under one of the eight symmetries of a board of this size: bit 0 of `way` mirrors the columns, bit 1 the
    /// rows, and then bit 2, on square boards, transposes.
    pub(crate) const fn turned(self, way: u8, [columns, rows]: [u16; 2]) -> Self {
        let column = if way & 1 == 0 { self.column } else { columns - 1 - self.column };
        let row = if way & 2 == 0 { self.row } else { rows - 1 - self.row };
        if way & 4 == 0 { Self { column, row } } else { Self { column: row, row: column } }
    }
}

/// The inverse of this symmetry: see [`Point::turned`].
pub(crate) const fn way_back(way: u8) -> u8 {
    if way & 4 == 0 { way } else { 4 | (way & 1) << 1 | (way & 2) >> 1 }
}

/// Column letters and row number, including `i` (gomoku's custom, unlike Go's): `h8`, `aa12`.
impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut letters = [0u8; 4];
        let mut length = 0;
        let mut rest = u32::from(self.column) + 1;
        while rest > 0 {
            letters[length] = b'a' + ((rest - 1) % 26) as u8;
            length += 1;
            rest = (rest - 1) / 26;
        }
        for letter in letters[..length].iter().rev() {
            write!(f, "{}", *letter as char)?;
        }
        write!(f, "{}", u32::from(self.row) + 1)
    }
}

/// The text is not a column letter followed by a row number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a column letter and a row number, such as h8")]
pub struct ParsePointError;

impl FromStr for Point {
    type Err = ParsePointError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.find(|c: char| c.is_ascii_digit()).ok_or(ParsePointError)?;
        let (letters, number) = text.split_at(digits);
        if letters.is_empty() || letters.len() > 3 || number.len() > 5 {
            return Err(ParsePointError);
        }
        let mut column = 0u32;
        for c in letters.chars() {
            if !c.is_ascii_alphabetic() {
                return Err(ParsePointError);
            }
            column = column * 26 + (c.to_ascii_lowercase() as u32 - 'a' as u32) + 1;
        }
        if !number.bytes().all(|b| b.is_ascii_digit()) {
            return Err(ParsePointError);
        }
        let row: u32 = number.parse().map_err(|_| ParsePointError)?;
        let column = u16::try_from(column - 1).map_err(|_| ParsePointError)?;
        let row = u16::try_from(row.checked_sub(1).ok_or(ParsePointError)?).map_err(|_| ParsePointError)?;
        Ok(Self { column, row })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_reads_back_from_what_it_prints() {
        for column in [0, 7, 14, 25, 26, 51, 52, 701, 702, 999] {
            for row in [0, 7, 998] {
                let point = Point::new(column, row);
                assert_eq!(point.to_string().parse(), Ok(point));
            }
        }
        assert_eq!(Point::new(7, 7).to_string(), "h8");
        assert_eq!("H8".parse(), Ok(Point::new(7, 7)));
    }

    #[test]
    fn text_that_is_no_point_is_refused() {
        for text in ["", "h", "8", "h0", "h-1", "8h", "h8x", "h 8", "五8", "zzzz1", "a99999999999"] {
            assert_eq!(text.parse::<Point>(), Err(ParsePointError), "{text:?}");
        }
    }
}
