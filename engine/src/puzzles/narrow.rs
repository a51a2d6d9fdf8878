//! Hints that narrow: where a move is, before the move itself.

use crate::explain::piece_name;
use crate::{Action, AnyGame, Language, Point};

/// A part of the board in which a move is to be looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Narrowed {
    /// The points of the part.
    pub points: Vec<Point>,
    /// A sentence, Chinese and English.
    pub words: [String; 2],
}

/// Where `action` is in this position, once `given` hints about it were given: each tells more than the one before. `None`: the next
/// hint is the move itself.
pub fn narrow(game: &AnyGame, action: Action, given: u32) -> Option<Narrowed> {
    stages(game, action).into_iter().nth(given as usize)
}

fn stages(game: &AnyGame, action: Action) -> Vec<Narrowed> {
    match (game, action) {
        (AnyGame::Xiangqi(xiangqi), Action::Step { from, .. }) => {
            let name = |at, language| piece_name(xiangqi, at, language).unwrap_or_default();
            let alike: Vec<Point> = movable(game)
                .into_iter()
                .filter(|at| name(*at, Language::English) == name(from, Language::English))
                .collect();
            let [zh, en] = Language::ALL.map(|language| name(from, language));
            let mut stages = Vec::new();
            if alike.len() > 1 {
                stages.push(Narrowed {
                    points: alike,
                    words: [format!("看看哪个{zh}该走。"), format!("Look at your {en}s.")],
                });
            }
            stages.push(Narrowed {
                points: vec![from],
                words: [format!("该走这个{zh}。"), format!("This {en} moves.")],
            });
            stages
        }
        (_, Action::Step { from, .. }) => {
            vec![
                around(game, from),
                Narrowed {
                    points: vec![from], words: ["该走这个棋子。".into(), "This stone moves.".into()]
                },
            ]
        }
        (_, Action::Place(at) | Action::Capture(at)) => {
            let view = game.view();
            // On a small board a quarter is as small as what comes next.
            if view.columns.min(view.rows) < SMALL {
                vec![around(game, at)]
            } else {
                vec![quarter(game, at), around(game, at)]
            }
        }
        _ => Vec::new(),
    }
}

/// Boards with fewer columns or rows are not divided into quarters.
const SMALL: u16 = 7;

/// Points from which a piece can move.
fn movable(game: &AnyGame) -> Vec<Point> {
    let mut from: Vec<Point> = game.view().steps.into_iter().map(|(from, _)| from).collect();
    from.sort_unstable_by_key(|at| (at.row, at.column));
    from.dedup();
    from
}

/// The quarter of the board with this point. A middle line belongs to both sides of it.
fn quarter(game: &AnyGame, at: Point) -> Narrowed {
    let view = game.view();
    let half = |at: u16, size: u16, toss: bool| {
        let middle = (size - 1) / 2;
        let upper = if at == middle && size % 2 == 1 { toss } else { at > middle };
        if upper { size - 1 - middle..size } else { 0..middle + 1 }
    };
    let key = game.key();
    let columns = half(at.column, view.columns, key & 1 == 1);
    let rows = half(at.row, view.rows, key & 2 == 2);
    part(columns, rows)
}

/// Three by three points with this one among them, not always in the middle.
fn around(game: &AnyGame, at: Point) -> Narrowed {
    let view = game.view();
    let window = |at: u16, size: u16, toss: u64| {
        let from = at.saturating_sub((toss % 3) as u16).min(size.saturating_sub(3));
        from..(from + 3).min(size)
    };
    let key = game.key();
    part(window(at.column, view.columns, key >> 8), window(at.row, view.rows, key >> 16))
}

fn part(columns: std::ops::Range<u16>, rows: std::ops::Range<u16>) -> Narrowed {
    let points = rows.flat_map(|row| columns.clone().map(move |column| Point::new(column, row))).collect();
    Narrowed {
        points, words: ["在标出的地方找找。".into(), "Look in the marked part of the board.".into()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GameKind, puzzles};

    #[test]
    fn each_hint_leaves_fewer_points_and_the_move_is_always_among_them() {
        for &kind in GameKind::ALL {
            for puzzle in puzzles::all(kind) {
                let origin = match puzzle.solution {
                    Action::Step { from, .. } => from,
                    Action::Place(at) | Action::Capture(at) | Action::Press(at) => at,
                    _ => panic!("{}: a solution without a point", puzzle.id),
                };
                let stages = stages(&puzzle.start, puzzle.solution);
                assert_eq!(stages.is_empty(), kind == GameKind::LightsOut, "{}", puzzle.id);
                for stage in &stages {
                    assert!(stage.points.contains(&origin), "{}: {stage:?}", puzzle.id);
                }
                assert!(
                    stages.windows(2).all(|pair| pair[0].points.len() > pair[1].points.len()),
                    "{}",
                    puzzle.id
                );
                let view = puzzle.start.view();
                let on_board = |at: &Point| at.column < view.columns && at.row < view.rows;
                assert!(stages.iter().flat_map(|stage| &stage.points).all(on_board), "{}", puzzle.id);
                let last = narrow(&puzzle.start, puzzle.solution, stages.len() as u32);
                assert_eq!(last, None, "then the move itself is told");
            }
        }
    }
}
