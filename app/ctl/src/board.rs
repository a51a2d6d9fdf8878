//! A board as text.

use proto::board::{Side, action};
use proto::control::{Board, MarkKind};

/// Rows from the top, X for who begins and O for the other; the last move in round, the winning line in square brackets.
pub(crate) fn text(board: &Board) -> String {
    let cell = |row: u32, column: u32| row * 1024 + column;
    let last = board.last.as_ref().and_then(|action| match &action.kind {
        Some(action::Kind::Place(at) | action::Kind::Capture(at)) => Some(*at),
        Some(action::Kind::Step(step)) => Some(step.to),
        _ => None,
    });
    let letters = |line: &mut String| {
        line.push_str("    ");
        for column in 0..board.columns {
            line.push(' ');
            line.push(char::from(b'a' + (column % 26) as u8));
            line.push(' ');
        }
        line.push('\n');
    };
    let mut shown = String::new();
    letters(&mut shown);
    for row in (0..board.rows).rev() {
        shown.extend(format!("{:>3} ", row + 1).chars());
        for column in 0..board.columns {
            let at = cell(row, column);
            let piece = board.pieces.iter().find(|piece| piece.at == at);
            let letter = match piece.map(|piece| Side::try_from(piece.side)) {
                Some(Ok(Side::First)) => 'X',
                Some(Ok(Side::Second)) => 'O',
                Some(_) => '?',
                None => '.',
            };
            let winning =
                board.marks.iter().any(|mark| mark.at == at && mark.kind == MarkKind::MarkWinning as i32);
            let (left, right) = match (winning, last == Some(at)) {
                (true, _) => ('[', ']'),
                (false, true) => ('(', ')'),
                (false, false) => (' ', ' '),
            };
            shown.extend([left, letter, right]);
        }
        shown.extend(format!(" {}\n", row + 1).chars());
    }
    letters(&mut shown);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto::board::Action;
    use proto::control::{Mark, Piece};

    #[test]
    fn the_last_move_stands_in_brackets_and_row_one_at_the_bottom() {
        let piece = |at, side: Side| Piece { at, side: side.into(), kind: 0 };
        let board = Board {
            columns: 3,
            rows: 2,
            pieces: vec![piece(0, Side::First), piece(1024 + 2, Side::Second)],
            last: Some(Action { kind: Some(action::Kind::Place(1024 + 2)) }),
            marks: vec![Mark { at: 0, kind: MarkKind::MarkWinning.into() }],
            ..Board::default()
        };
        let expected = "     a  b  c \n  2  .  . (O) 2\n  1 [X] .  .  1\n     a  b  c \n";
        assert_eq!(text(&board), expected);
    }
}
