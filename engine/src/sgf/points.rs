//! SGF points: two letters, column from the left and row from the top.

use super::Value;
use crate::{Point, TextError};

/// The point as text, such as `pd`. Lower-case letters limit boards to 26 points per side.
pub(super) fn write(point: Point, size: u16) -> String {
    let letter = |n: u16| char::from(b'a' + n as u8);
    [letter(point.column), letter(size - 1 - point.row)].iter().collect()
}

/// Parses a point of a board of this size; `None` if invalid.
pub(super) fn read(text: &str, size: u16) -> Option<Point> {
    let [column, row] = text.as_bytes() else { return None };
    let number = |letter: u8| letter.is_ascii_lowercase().then(|| u16::from(letter - b'a'));
    let (column, row) = (number(*column)?, number(*row)?);
    (column < size && row < size).then(|| Point::new(column, size - 1 - row))
}

/// The points of a list property such as `AB`: single points, and rectangles as `aa:cc`.
pub(super) fn list(values: &[Value], read: impl Fn(&str) -> Option<Point>) -> Result<Vec<Point>, TextError> {
    const EXPECTED: &str = "a point of the board";
    let mut points = Vec::new();
    for value in values {
        match value.parts() {
            // Some programs write an empty value for an empty list.
            None if value.text().trim().is_empty() => {}
            None => points.push(read(value.text().trim()).ok_or_else(|| value.error(EXPECTED))?),
            Some((from, to)) => {
                let corner = |text: &str| read(text.trim()).ok_or_else(|| value.error(EXPECTED));
                let (from, to) = (corner(&from)?, corner(&to)?);
                let span = |a: u16, b: u16| a.min(b)..=a.max(b);
                for row in span(from.row, to.row) {
                    points.extend(span(from.column, to.column).map(|column| Point::new(column, row)));
                }
            }
        }
        // A list names each point once; more points than this are repetitions.
        if points.len() > MOST_POINTS {
            return Err(value.error("no point twice"));
        }
    }
    Ok(points)
}

/// Twice the number of points of the largest board.
const MOST_POINTS: usize = 2 * 26 * 26;
