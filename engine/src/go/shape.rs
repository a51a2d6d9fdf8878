//! Lookup by the eight neighbours of a point: eyes and 3x3 patterns.
//!
//! A code has two bits per neighbour (empty, black, white, border): below, left, right, above, then the diagonals below
//! left, below right, above left, above right.

use std::sync::OnceLock;

use super::cells::{BLACK, BORDER, EMPTY, WHITE, other};

/// Lookup tables by code.
pub(super) struct Shapes {
    facts: Vec<u8>,
}

/// Two bits: whether the point is an eye of Black, of White.
const EYE: u8 = 0b11;
const PATTERN: u8 = 0b100;
/// Shift of the number of empty orthogonal neighbours.
const EMPTIES: u32 = 3;

impl Shapes {
    /// The tables, computed at first use.
    pub(super) fn shared() -> &'static Self {
        static SHARED: OnceLock<Shapes> = OnceLock::new();
        SHARED.get_or_init(|| {
            let mut facts: Vec<u8> = (0..=u16::MAX).map(facts).collect();
            for pattern in PATTERNS {
                add_pattern(&mut facts, pattern);
            }
            Shapes { facts }
        })
    }

    #[inline]
    pub(super) fn is_eye(&self, code: u16, colour: u8) -> bool {
        self.facts[usize::from(code)] & colour & EYE != 0
    }

    #[inline]
    pub(super) fn is_pattern(&self, code: u16) -> bool {
        self.facts[usize::from(code)] & PATTERN != 0
    }

    /// Number of empty orthogonal neighbours.
    #[inline]
    pub(super) fn empties(&self, code: u16) -> u8 {
        self.facts[usize::from(code)] >> EMPTIES
    }
}

fn neighbour(code: u16, n: usize) -> u8 {
    (code >> (2 * n) & 3) as u8
}

fn facts(code: u16) -> u8 {
    let empties = (0..4).filter(|&n| neighbour(code, n) == EMPTY).count() as u8;
    let mut facts = empties << EMPTIES;
    for colour in [BLACK, WHITE] {
        let closed = (0..4).all(|n| neighbour(code, n) == colour || neighbour(code, n) == BORDER);
        let corners = |what: u8| (4..8).filter(|&n| neighbour(code, n) == what).count();
        // In the middle one enemy diagonal leaves a real eye, at the edge none.
        let enemies = corners(other(colour)) + usize::from(corners(BORDER) > 0);
        if closed && enemies < 2 {
            facts |= colour;
        }
    }
    facts
}

/// 3x3 patterns around a move: hane, cuts and edge replies, from S. Gelly, Y. Wang, R. Munos and O. Teytaud, "Modification
/// of UCT with Patterns in Monte-Carlo Go" (INRIA 2006), section 3.2. Rows from above; `X` and `O` are stones of two
/// colours, either of which may be to move, `.` is empty, `#` border, `?` anything, `x` anything but `X` and `o` anything
/// but `O`, neither of them border. Each stands for its eight symmetries and for swapped colours.
const PATTERNS: [&str; 13] = [
    "XOX ... ???", // a hane that closes in
    "XO. ... ?.?", // a hane that does not cut
    "XO? X.. x.?", // bending around
    ".O. X.. ...", // at the shoulder, and where two stones touch at a corner
    "XO? O.o ?o?", // a cut that is not protected
    "XO? O.X ???", // a cut that is peeped at
    "?X? O.O ooo", // cutting through
    "OX? o.O ???", // a cut at a knight's move
    "X.? O.? ###", // following along the edge
    "OX? X.O ###", // blocking at the edge, with a cut
    "?X? x.O ###", // blocking at the edge
    "?XO x.x ###", // going down to the edge
    "?OX X.O ###", // a cut at the edge
];

fn add_pattern(facts: &mut [u8], pattern: &str) {
    let rows: Vec<&[u8]> = pattern.split(' ').map(str::as_bytes).collect();
    // Offsets of the neighbours, columns and rows, in the order of the code.
    const STEPS: [(i32, i32); 8] = [(0, -1), (-1, 0), (1, 0), (0, 1), (-1, -1), (1, -1), (-1, 1), (1, 1)];
    for turn in 0..8 {
        let wanted = STEPS.map(|(column, row)| {
            let (column, row) = if turn & 1 == 1 { (row, column) } else { (column, row) };
            let column = if turn & 2 == 2 { -column } else { column };
            let row = if turn & 4 == 4 { -row } else { row };
            rows[(1 - row) as usize][(1 + column) as usize]
        });
        for first in [BLACK, WHITE] {
            add_codes(facts, &wanted, first, 0);
        }
    }
}

/// Sets the codes that match all letters; `code` contains the letters processed so far.
fn add_codes(facts: &mut [u8], wanted: &[u8], x: u8, code: u16) {
    let Some((&letter, before)) = wanted.split_last() else {
        facts[usize::from(code)] |= PATTERN;
        return;
    };
    for cell in [EMPTY, BLACK, WHITE, BORDER] {
        if fits(cell, letter, x) {
            add_codes(facts, before, x, code << 2 | u16::from(cell));
        }
    }
}

/// Whether a neighbour matches a letter of a pattern, if `X` is this colour.
fn fits(cell: u8, letter: u8, x: u8) -> bool {
    match letter {
        b'X' => cell == x,
        b'O' => cell == other(x),
        b'.' => cell == EMPTY,
        b'#' => cell == BORDER,
        b'x' => cell != x && cell != BORDER,
        b'o' => cell != other(x) && cell != BORDER,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code of a point drawn as in the patterns, with `X` for Black.
    fn code(picture: &str) -> u16 {
        let rows: Vec<&[u8]> = picture.split(' ').map(str::as_bytes).collect();
        let cells =
            [rows[2][1], rows[1][0], rows[1][2], rows[0][1], rows[2][0], rows[2][2], rows[0][0], rows[0][2]];
        cells.iter().rev().fold(0, |code, cell| {
            let cell = match cell {
                b'X' => BLACK,
                b'O' => WHITE,
                b'#' => BORDER,
                _ => EMPTY,
            };
            code << 2 | u16::from(cell)
        })
    }

    #[test]
    fn an_eye_with_enemies_at_its_corners_is_false() {
        let shapes = Shapes::shared();
        for (picture, eye) in [
            ("XXX X.X XXX", true),
            ("OXX X.X XXX", true),
            (".X. X.X OX.", true),
            ("OXX X.X XXO", false),
            ("XXX X.X ###", true),
            ("OXX X.X ###", false),
            ("XX# X.# ###", true),
            ("OX# X.# ###", false),
            ("XXX X.. XXX", false),
        ] {
            assert_eq!(shapes.is_eye(code(picture), BLACK), eye, "{picture}");
            assert!(!shapes.is_eye(code(picture), WHITE), "{picture}");
        }
    }

    #[test]
    fn a_pattern_fits_whichever_way_it_is_turned() {
        let shapes = Shapes::shared();
        for picture in [
            "XOX ... ...",
            "X.. O.. X..",
            "OXO ... ...",
            ".O. X.. ...",
            "... ... XOX",
            "X.. O.. ###",
            "..O ..X ###",
        ] {
            assert!(shapes.is_pattern(code(picture)), "{picture}");
        }
        for picture in ["... ... ...", "... ..X ...", "... ... ###", "XXX X.X XXX"] {
            assert!(!shapes.is_pattern(code(picture)), "{picture}");
        }
    }
}
