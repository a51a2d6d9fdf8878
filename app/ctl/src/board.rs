//! A board as text.

use proto::board::{Side, action};
use proto::control::{Board, MarkKind, Piece, PieceKind};

/// Rows from the top; the last move in round brackets, marked points (a winning line, a formation, a captured stone) in square
/// ones. Stones are X for the first player and O for the other, lights `#`, xiangqi pieces the letters of a FEN.
pub(crate) fn text(board: &Board) -> String {
    let cell = |row: u32, column: u32| row * 1024 + column;
    let last = board.last.as_ref().and_then(|action| match &action.kind {
        Some(action::Kind::Place(at) | action::Kind::Capture(at) | action::Kind::Press(at)) => Some(*at),
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
            let letter = match piece {
                Some(piece) => letter(piece),
                None if lit(board, row, column) => '#',
                None => '.',
            };
            let marked =
                board.marks.iter().any(|mark| mark.at == at && mark.kind() != MarkKind::MarkTerritory);
            let (left, right) = match (marked, last == Some(at)) {
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

fn letter(piece: &Piece) -> char {
    let letter = match piece.kind() {
        PieceKind::PieceStone => {
            return match piece.side() {
                Side::First => 'X',
                Side::Second => 'O',
                Side::Unspecified => '?',
            };
        }
        PieceKind::PieceGeneral => 'k',
        PieceKind::PieceAdviser => 'a',
        PieceKind::PieceElephant => 'b',
        PieceKind::PieceHorse => 'n',
        PieceKind::PieceChariot => 'r',
        PieceKind::PieceCannon => 'c',
        PieceKind::PieceSoldier => 'p',
    };
    if piece.side() == Side::First { letter.to_ascii_uppercase() } else { letter }
}

fn lit(board: &Board, row: u32, column: u32) -> bool {
    let length = board.columns.div_ceil(8);
    let byte = board.lights.get((row * length + column / 8) as usize);
    byte.is_some_and(|byte| byte >> (column % 8) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto::board::Action;
    use proto::control::Mark;

    #[test]
    fn the_last_move_stands_in_brackets_and_row_one_at_the_bottom() {
        let piece = |at, side: Side| Piece { at, side: side.into(), kind: 0 };
        let board = Board {
            columns: 3,
            rows: 2,
            pieces: vec![piece(0, Side::First), piece(1024 + 2, Side::Second)],
            last: Some(Action { kind: Some(action::Kind::Place(1024 + 2)) }),
            marks: vec![Mark { at: 0, kind: MarkKind::MarkWinning.into(), ..Mark::default() }],
            ..Board::default()
        };
        let expected = "     a  b  c \n  2  .  . (O) 2\n  1 [X] .  .  1\n     a  b  c \n";
        assert_eq!(text(&board), expected);
    }

    #[test]
    fn pieces_are_letters_and_lights_are_crosses() {
        let piece = |at, side: Side, kind: PieceKind| Piece { at, side: side.into(), kind: kind.into() };
        let mut board = Board { columns: 9, rows: 1, lights: vec![0b100, 1].into(), ..Board::default() };
        let letters = "    ".to_owned() + " a  b  c  d  e  f  g  h  i \n";
        assert_eq!(text(&board), format!("{letters}  1  .  .  #  .  .  .  .  .  #  1\n{letters}"));
        board.lights.clear();
        board.pieces = vec![
            piece(0, Side::First, PieceKind::PieceHorse),
            piece(8, Side::Second, PieceKind::PieceCannon),
        ];
        assert_eq!(text(&board), format!("{letters}  1  N  .  .  .  .  .  .  .  c  1\n{letters}"));
    }
}
