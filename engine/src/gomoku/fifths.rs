//! Renju's fifth moves: which points are the same by symmetry.
//!
//! Source: the rules of Yamaguchi, Soosõrv-N and Taraguchi-N, by which fifth moves may not be symmetrical: see `stage`. As among
//! players of renju, the symmetry is of the stones, wherever its centre or axis is on the board: the distance to the edges does
//! not tell two points apart.

use super::Gomoku;
use crate::{Game, Point, Side};

/// The first of these points that a turn or reflection of the stones, with their colours, takes to `point`.
pub(super) fn same(game: &Gomoku, point: Point, points: impl Iterator<Item = Point>) -> Option<Point> {
    let images = images(game, point);
    points.into_iter().find(|at| images.contains(&(i32::from(at.column), i32::from(at.row))))
}

/// Where the symmetries of the stones take a point, itself included. An image may be off the board.
fn images(game: &Gomoku, point: Point) -> Vec<(i32, i32)> {
    let size = i32::from(game.setup().size);
    let cells = (0..size).flat_map(|row| (0..size).map(move |column| (column, row)));
    let stones: Vec<(i32, i32, Side)> =
        cells.filter_map(|(column, row)| game.at(column, row).map(|side| (column, row, side))).collect();
    let at = (i32::from(point.column), i32::from(point.row));
    let corner = |stones: &[(i32, i32, Side)]| {
        let column = stones.iter().map(|stone| stone.0).min().unwrap_or(0);
        (column, stones.iter().map(|stone| stone.1).min().unwrap_or(0))
    };
    let (left, bottom) = corner(&stones);
    let symmetric = (0..8).filter_map(|way| {
        let turned: Vec<_> = stones
            .iter()
            .map(|&(column, row, side)| {
                let (column, row) = turned((column, row), way);
                (column, row, side)
            })
            .collect();
        let (turned_left, turned_bottom) = corner(&turned);
        // The only shift that can bring the stones back onto themselves.
        let shifted = |(column, row): (i32, i32)| (column - turned_left + left, row - turned_bottom + bottom);
        let is_same = turned.iter().all(|&(column, row, side)| {
            let (column, row) = shifted((column, row));
            game.at(column, row) == Some(side)
        });
        is_same.then(|| shifted(self::turned(at, way)))
    });
    symmetric.collect()
}

/// The eight turns and reflections about the origin.
fn turned((column, row): (i32, i32), way: u8) -> (i32, i32) {
    let (column, row) = if way & 4 == 0 { (column, row) } else { (row, column) };
    (if way & 1 == 0 { column } else { -column }, if way & 2 == 0 { row } else { -row })
}
