//! Liuzhou chess: formations.

use engine::{Action, AnyGame, Side};

use super::{Board, to};

/// Formations that a placement or step completes: squares, inner rows and columns, diagonals between edges.
pub(super) fn formations(game: &AnyGame, action: Action) -> usize {
    const LAST: i32 = 5;
    let (Some(at), AnyGame::Liuzhou(_)) = (to(action), game) else { return 0 };
    let own = if game.turn() == Side::First { 'b' } else { 'w' };
    let mut board = Board::of(game);
    if let Action::Step { from, .. } = action {
        board.put(from, '.');
    }
    board.put(at, own);
    let (x, y) = (i32::from(at.column), i32::from(at.row));
    let is_own = |(column, row): (i32, i32)| board.get(column, row) == Some(own);
    let squares = [(0, 0), (-1, 0), (0, -1), (-1, -1)]
        .into_iter()
        .filter(|(dx, dy)| {
            [(0, 0), (1, 0), (0, 1), (1, 1)].iter().all(|(i, j)| is_own((x + dx + i, y + dy + j)))
        })
        .count();
    let inner = |n: i32| n > 0 && n < LAST;
    let row = usize::from(inner(y) && (0..=LAST).all(|n| is_own((n, y))));
    let column = usize::from(inner(x) && (0..=LAST).all(|n| is_own((x, n))));
    let diagonals = [1, -1]
        .into_iter()
        .filter(|slope| {
            let line: Vec<_> = (-LAST..=LAST)
                .map(|n| (x + n, y + slope * n))
                .filter(|&(column, row)| (0..=LAST).contains(&column) && (0..=LAST).contains(&row))
                .collect();
            line.len() >= 3 && line.into_iter().all(is_own)
        })
        .count();
    squares + row + column + diagonals
}

/// Most formations that one placement or step completes.
pub(crate) fn most_formations(game: &AnyGame) -> usize {
    game.legal_actions().into_iter().map(|action| formations(game, action)).max().unwrap_or(0)
}
