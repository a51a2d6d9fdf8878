//! Level 1: the greedy five-cell table of the original design. Evaluates single points without search.

use super::{DIRECTIONS, Gomoku, GomokuMove, Placement};
use crate::{Game, Point, Rng, Side};

/// The best point by the table for the next colour, avoiding forbidden points if possible; the seed breaks ties. `None` when
/// the game is over or a choice is due.
pub(super) fn greedy(game: &Gomoku, seed: u64) -> Option<Placement> {
    let mut moves = Vec::new();
    game.legal_moves(&mut moves);
    let forbidden: Vec<Point> = game.forbidden().into_iter().map(|(point, _)| point).collect();
    let mut rng = Rng::new(seed ^ game.key());
    moves.into_iter().filter_map(GomokuMove::placement).max_by_key(|&mv| {
        (!forbidden.contains(&mv.point()), worth(game, mv, game.next_color()), rng.next_u64())
    })
}

/// Value of an empty point for each window of five that contains it: windows with 0..=4 own stones only, or 0..=4 enemy
/// stones only.
const OWN: [i64; 5] = [7, 35, 800, 15_000, 800_000];
const ENEMY: [i64; 5] = [7, 15, 400, 1_800, 100_000];

/// Sum over the windows of five that contain the point, from the point of view of `side`.
fn worth(game: &Gomoku, placement: Placement, side: Side) -> i64 {
    let size = i32::from(game.setup().size);
    let point = placement.point();
    let (column, row) = (i32::from(point.column), i32::from(point.row));
    let mut sum = 0;
    for (dc, dr) in DIRECTIONS {
        for start in -4..=0 {
            let cells = (start..start + 5).map(|n| (column + dc * n, row + dr * n));
            if cells.clone().any(|(c, r)| !(0..size).contains(&c) || !(0..size).contains(&r)) {
                continue;
            }
            let (mut own, mut enemy) = (0, 0);
            for (c, r) in cells {
                match game.at(c, r) {
                    Some(s) if s == side => own += 1,
                    Some(_) => enemy += 1,
                    None => {}
                }
            }
            sum += match (own, enemy) {
                (own, 0) => OWN[own],
                (0, enemy) => ENEMY[enemy],
                _ => 0,
            };
        }
    }
    sum
}
