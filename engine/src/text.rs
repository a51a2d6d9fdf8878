//! Errors in texts of positions, records and setups, and helpers of their parsers.

use crate::{Point, Side};

/// A place in a text, and what was expected there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: expected {expected}")]
pub struct TextError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What was expected, as words after "expected".
    pub expected: &'static str,
}

impl TextError {
    /// An error in a text of one line, at this byte offset.
    pub(crate) fn at(text: &str, byte: usize, expected: &'static str) -> Self {
        let before = text.char_indices().take_while(|(at, _)| *at < byte).count();
        Self { line: 1, column: before as u32 + 1, expected }
    }
}

/// The words of a line with their byte offsets.
pub(crate) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_whitespace().map(move |word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

/// Parses rows of characters from the top, separated by `/`, where a number stands for that many empty points; `at` is their
/// offset in the line. `put` gets each character with its point, and returns what was expected if it is invalid.
pub(crate) fn read_rows(
    line: &str,
    at: usize,
    rows: &str,
    (columns, count): (usize, usize),
    mut put: impl FnMut(char, Point) -> Result<(), &'static str>,
) -> Result<(), TextError> {
    const LENGTH: &str = "as many points in a row as the board has";
    const COUNT: &str = "as many rows as the board has";
    let (mut row, mut column, mut digits) = (count - 1, 0_usize, 0_usize);
    for (offset, c) in rows.char_indices() {
        let wrong = |expected| Err(TextError::at(line, at + offset, expected));
        if let Some(digit) = c.to_digit(10) {
            // The preceding digit was the tens digit.
            let number = digits.saturating_mul(10).saturating_add(digit as usize);
            column = column.saturating_sub(digits).saturating_add(number);
            digits = number;
        } else if c == '/' {
            digits = 0;
            if column != columns {
                return wrong(LENGTH);
            }
            if row == 0 {
                return wrong(COUNT);
            }
            (row, column) = (row - 1, 0);
        } else {
            digits = 0;
            if column >= columns {
                return wrong(LENGTH);
            }
            if let Err(expected) = put(c, Point::new(column as u16, row as u16)) {
                return wrong(expected);
            }
            column += 1;
        }
        if column > columns {
            return wrong(LENGTH);
        }
    }
    match (row, column == columns) {
        (0, true) => Ok(()),
        (0, false) => Err(TextError::at(line, at + rows.len(), LENGTH)),
        _ => Err(TextError::at(line, at + rows.len(), COUNT)),
    }
}

/// Stones of two colours, and the side to move.
pub(crate) struct Stones {
    /// Byte offset of the rows in the line.
    pub at: usize,
    pub placed: Vec<(Point, Option<Side>)>,
    pub next: Side,
}

/// Parses the first two of the `fields` of a line, for a square board of this size; `turn` parses the second.
pub(crate) fn read_stones<'a>(
    line: &'a str,
    fields: &mut impl Iterator<Item = (usize, &'a str)>,
    size: u8,
    turn: &'static str,
) -> Result<Stones, TextError> {
    let (at, rows) = fields.next().ok_or(TextError::at(line, 0, "rows of stones"))?;
    let mut stones = Vec::new();
    let size = usize::from(size);
    read_rows(line, at, rows, (size, size), |sign, point| {
        let side = match sign {
            'b' | 'x' | 'X' => Side::First,
            'w' | 'o' | 'O' => Side::Second,
            _ => return Err("b, w, a number or /"),
        };
        stones.push((point, Some(side)));
        Ok(())
    })?;
    let (side_at, side) = fields.next().ok_or(TextError::at(line, line.len(), turn))?;
    let next = match side {
        "b" => Side::First,
        "w" => Side::Second,
        _ => return Err(TextError::at(line, side_at, turn)),
    };
    Ok(Stones { at, placed: stones, next })
}

/// The letter of a stone, as [`read_stones`] parses it.
pub(crate) fn stone_letter(side: Side) -> char {
    if side == Side::First { 'b' } else { 'w' }
}

/// The rows, as [`read_rows`] parses them.
pub(crate) fn write_rows(columns: u16, rows: u16, sign: impl Fn(Point) -> Option<char>) -> String {
    let mut text = String::new();
    for row in (0..rows).rev() {
        let mut empty = 0;
        for column in 0..columns {
            match sign(Point::new(column, row)) {
                None => empty += 1,
                Some(c) => {
                    if empty > 0 {
                        text += &std::mem::take(&mut empty).to_string();
                    }
                    text.push(c);
                }
            }
        }
        if empty > 0 {
            text += &empty.to_string();
        }
        if row > 0 {
            text.push('/');
        }
    }
    text
}
