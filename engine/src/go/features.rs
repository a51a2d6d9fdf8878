//! Features of a move: its effect on adjacent chains, its location, and the patterns of stones around it.
//!
//! Each feature adds a weight to the log odds of the move; see `patterns` for the weights, and `learn` for their training.

use super::ladder;
use super::stones::{BORDER, EMPTY, PASS, Stones, Vertex};
use super::tactics::{distinct_saving_moves, nakade};
use crate::Point;

/// A feature: below [`PLAIN`] an index, otherwise the hash of a pattern.
pub(super) type Feature = u32;

/// Number of features that are not patterns.
pub(super) const PLAIN: usize = 256;

/// Effects on chains, by size of the chain in stones: one, two or three, more.
mod kind {
    /// Captures a chain that could escape, by size; below: one that could not.
    pub(super) const TAKE: u32 = 0;
    pub(super) const TAKE_CAUGHT: u32 = 3;
    /// Captures a chain adjacent to an own one in atari.
    pub(super) const TAKE_TO_SAVE: u32 = 6;
    /// Saves a chain in atari; below: extends one that is captured nevertheless.
    pub(super) const SAVE: u32 = 9;
    pub(super) const RUN: u32 = 12;
    /// Catches a chain in a ladder; below: atari without a ladder.
    pub(super) const CATCH: u32 = 15;
    pub(super) const ATARI: u32 = 18;
    /// Prevents a ladder.
    pub(super) const SECURE: u32 = 21;
    /// Self-atari, by number of stones.
    pub(super) const SELF_ATARI: u32 = 24;
    /// Takes a liberty of a chain with three; below: extends an own chain with at most three.
    pub(super) const THREE: u32 = 27;
    pub(super) const LENGTHEN: u32 = 30;
    pub(super) const NAKADE: u32 = 33;
    /// Distance to the last move, and to the one before it.
    pub(super) const NEAR: u32 = 64;
    pub(super) const NEAR_BEFORE: u32 = 84;
    /// Adjacent to the chain of the last move, or one of its liberties.
    pub(super) const LIBERTY_OF_LAST: u32 = 104;
    /// On this line; below: on this line far from any stone; separate for small, medium and large boards.
    pub(super) const LINE: u32 = 112;
    pub(super) const OPEN: u32 = 8;
    pub(super) const BOARD: u32 = 16;
}

/// Offsets from a point by ascending distance, with the end of each pattern size. Distance as in [`distance`].
struct Ring {
    steps: Vec<(i32, i32)>,
    /// Number of points within each distance in [`DISTANCES`].
    ends: [usize; DISTANCES.len()],
    /// A hash key per offset, cell and symmetry, with the eight symmetries side by side.
    keys: Vec<[[u32; 8]; 4]>,
}

/// Radii of patterns: the eight neighbours, then 12, 20, 28, 36 and 48 points.
const DISTANCES: [u16; 5] = [3, 4, 5, 6, 8];
/// Lines beyond the edge that the largest pattern covers.
const REACH: usize = 4;

impl Ring {
    fn shared() -> &'static Self {
        static SHARED: std::sync::OnceLock<Ring> = std::sync::OnceLock::new();
        SHARED.get_or_init(Self::new)
    }

    fn new() -> Self {
        let far = |&(column, row): &(i32, i32)| {
            steps_apart(column.unsigned_abs() as u16, row.unsigned_abs() as u16)
        };
        let reach = REACH as i32;
        let mut steps: Vec<(i32, i32)> =
            (-reach..=reach).flat_map(|row| (-reach..=reach).map(move |column| (column, row))).collect();
        let most = DISTANCES[DISTANCES.len() - 1];
        steps.retain(|step| (1..=most).contains(&far(step)));
        steps.sort_by_key(far);
        let ends = DISTANCES.map(|distance| steps.iter().filter(|step| far(step) <= distance).count());
        let keys = steps.iter().map(|&step| {
            let mut keys = [[0; 8]; 4];
            for (cell, keys) in keys.iter_mut().enumerate().skip(1) {
                for (turn, key) in keys.iter_mut().enumerate() {
                    let (column, row) = turned(step, turn);
                    let seed = ((column + 8) as u64) << 16 | ((row + 8) as u64) << 8 | cell as u64;
                    *key = (crate::Rng::new(seed << 20).next_u64() >> 32) as u32;
                }
            }
            keys
        });
        let keys = keys.collect();
        Self { steps, ends, keys }
    }
}

fn turned((column, row): (i32, i32), turn: usize) -> (i32, i32) {
    let (column, row) = if turn & 1 == 1 { (row, column) } else { (column, row) };
    (if turn & 2 == 2 { -column } else { column }, if turn & 4 == 4 { -row } else { row })
}

/// Distance of two points: columns plus rows plus the larger of the two. Orthogonal neighbours have 2, diagonal ones 3.
const fn steps_apart(columns: u16, rows: u16) -> u16 {
    columns + rows + if columns > rows { columns } else { rows }
}

/// [`steps_apart`] of two points.
pub(super) fn distance<const N: usize, const W: usize>(stones: &Stones<N, W>, a: Vertex, b: Vertex) -> u16 {
    let (a, b) = (stones.geometry.point(a), stones.geometry.point(b));
    steps_apart(a.column.abs_diff(b.column), a.row.abs_diff(b.row))
}

/// Whether there is no stone within three steps.
pub(super) fn is_open<const N: usize, const W: usize>(stones: &Stones<N, W>, at: Vertex) -> bool {
    const STEPS: u16 = 3;
    let point = stones.geometry.point(at);
    let last = u16::from(stones.geometry.size) - 1;
    let around = |middle: u16| middle.saturating_sub(STEPS)..=(middle + STEPS).min(last);
    around(point.row).all(|row| {
        around(point.column).all(|column| {
            column.abs_diff(point.column) + row.abs_diff(point.row) > STEPS
                || stones.cell(stones.geometry.at(Point::new(column, row))) == EMPTY
        })
    })
}

/// The board from the point of view of the side to move, with a margin, for reading patterns.
pub(super) struct Padded {
    cells: Vec<u8>,
    width: usize,
    steps: Vec<isize>,
}

impl Padded {
    fn new(size: u8) -> Self {
        let width = usize::from(size) + 2 * REACH;
        let steps = Ring::shared().steps.iter();
        let steps = steps.map(|&(column, row)| row as isize * width as isize + column as isize).collect();
        Self { cells: vec![BORDER; width * width], width, steps }
    }

    fn fill<const N: usize, const W: usize>(&mut self, stones: &Stones<N, W>, turn: u8) {
        for &at in &stones.geometry.points {
            let here = self.index(stones.geometry.point(at));
            self.cells[here] = match stones.cell(at) {
                EMPTY => 0,
                colour if colour == turn => 1,
                _ => 2,
            };
        }
    }

    fn index(&self, point: Point) -> usize {
        (usize::from(point.row) + REACH) * self.width + usize::from(point.column) + REACH
    }

    /// The hash of each pattern size around a point, equal for all symmetries.
    #[inline]
    fn hashes(&self, point: Point) -> [Feature; DISTANCES.len()] {
        let ring = Ring::shared();
        let middle = self.index(point) as isize;
        let mut keys = [0_u32; 8];
        let mut from = 0;
        let mut hashes = [0; DISTANCES.len()];
        for (n, (&end, hash)) in ring.ends.iter().zip(&mut hashes).enumerate() {
            for (step, known) in self.steps[from..end].iter().zip(&ring.keys[from..end]) {
                let cell = self.cells[(middle + step) as usize];
                for (key, part) in keys.iter_mut().zip(&known[usize::from(cell & 3)]) {
                    *key ^= part;
                }
            }
            from = end;
            let least = keys.iter().copied().min().unwrap_or(0);
            // Pattern sizes are distinguished by rotating the bits; plain features have the smallest numbers.
            *hash = least.rotate_left(5 * n as u32 + 1) ^ (n as u32) << 27 | PLAIN as u32;
        }
        hashes
    }
}

/// The hash of the smallest pattern, from the board's code of the eight neighbours; see [`super::shape::Shapes`].
pub(super) fn hash_of_code(code: u16, turn: u8) -> Feature {
    let ring = Ring::shared();
    let mut keys = [0_u32; 8];
    for (n, known) in ring.keys[..ring.ends[0]].iter().enumerate() {
        let cell = match (code >> (2 * n) & 3) as u8 {
            EMPTY => 0,
            BORDER => 3,
            colour if colour == turn => 1,
            _ => 2,
        };
        for (key, part) in keys.iter_mut().zip(&known[cell]) {
            *key ^= part;
        }
    }
    keys.iter().copied().min().unwrap_or(0).rotate_left(1) | PLAIN as u32
}

/// Buffers that are reused between positions.
pub(super) struct Room {
    size: u8,
    padded: Padded,
    /// Index of each point in the list of candidates.
    place: Vec<u16>,
}

impl Room {
    pub(super) fn new(size: u8) -> Self {
        Self { size, padded: Padded::new(size), place: vec![u16::MAX; 704] }
    }
}

/// Lists the moves that are legal except for superko and fill no own eye, and reports the features of each by its index in
/// the list. `before` is the move before the last one.
pub(super) fn features<const N: usize, const W: usize>(
    stones: &Stones<N, W>,
    turn: u8,
    [last, before]: [Vertex; 2],
    room: &mut Room,
    candidates: &mut Vec<Vertex>,
    mut tell: impl FnMut(usize, Feature),
) {
    let size = stones.geometry.size;
    if room.size != size {
        *room = Room::new(size);
    }
    candidates.clear();
    room.place.fill(u16::MAX);
    for &at in &stones.geometry.points {
        if stones.cell(at) == EMPTY && stones.is_legal(at, turn) && !stones.is_eye(at, turn) {
            room.place[usize::from(at)] = candidates.len() as u16;
            candidates.push(at);
        }
    }
    room.padded.fill(stones, turn);
    let board = match size {
        ..=9 => 0,
        10..=13 => kind::BOARD,
        _ => 2 * kind::BOARD,
    };
    for (n, &at) in candidates.iter().enumerate() {
        for hash in room.padded.hashes(stones.geometry.point(at)) {
            tell(n, hash);
        }
        let line = u32::from(stones.geometry.line(at).min(6));
        let open = is_open(stones, at);
        tell(n, kind::LINE + board + line + if open { kind::OPEN } else { 0 });
        for (other, base) in [(last, kind::NEAR), (before, kind::NEAR_BEFORE)] {
            let far = if other == PASS { 0 } else { u32::from(distance(stones, at, other)).min(17) };
            tell(n, base + far);
        }
        if stones.is_self_atari(at, turn) {
            tell(n, kind::SELF_ATARI + own_around(stones, at, turn));
        }
    }
    chains(stones, turn, &mut |at, feature| {
        if let Some(n) = room.place.get(usize::from(at)).filter(|&&n| n != u16::MAX) {
            tell(usize::from(*n), feature);
        }
    });
    if last != PASS {
        let at = nakade(stones, turn, last);
        if at != PASS
            && let Some(n) = room.place.get(usize::from(at)).filter(|&&n| n != u16::MAX)
        {
            tell(usize::from(*n), kind::NAKADE);
        }
        if stones.cell(last) != EMPTY {
            for at in stones.liberties(last).iter() {
                if let Some(n) = room.place.get(usize::from(at)).filter(|&&n| n != u16::MAX) {
                    tell(usize::from(*n), kind::LIBERTY_OF_LAST);
                }
            }
        }
    }
}

/// The size class of a chain.
const fn class(stones: u16) -> u32 {
    match stones {
        0 | 1 => 0,
        2 | 3 => 1,
        _ => 2,
    }
}

fn own_around<const N: usize, const W: usize>(stones: &Stones<N, W>, at: Vertex, turn: u8) -> u32 {
    let own = stones.four(at).into_iter().filter(|&neighbour| stones.cell(neighbour as Vertex) == turn);
    own.map(|neighbour| class(1 + stones.stones(neighbour as Vertex))).max().unwrap_or(0)
}

/// Features of moves by their effect on chains.
fn chains<const N: usize, const W: usize>(
    stones: &Stones<N, W>,
    turn: u8,
    tell: &mut impl FnMut(Vertex, Feature),
) {
    for &stone in &stones.geometry.points {
        if stones.cell(stone) == EMPTY || stones.head(stone) != stone {
            continue;
        }
        let size = class(stones.stones(stone));
        let own = stones.cell(stone) == turn;
        match (own, stones.count(stone)) {
            (true, 1) => {
                for at in distinct_saving_moves(stones, stone) {
                    let mut next = stones.clone();
                    next.put(at, turn);
                    let safe = ladder::is_safe(&next, stone);
                    let takes = at != stones.liberties(stone).first();
                    tell(
                        at,
                        size + if !safe {
                            kind::RUN
                        } else if takes {
                            kind::TAKE_TO_SAVE
                        } else {
                            kind::SAVE
                        },
                    );
                }
            }
            (false, 1) => {
                let kind = if ladder::escapes(stones, stone) { kind::TAKE } else { kind::TAKE_CAUGHT };
                tell(stones.liberties(stone).first(), kind + size);
            }
            (false, 2) => {
                let catching = ladder::catch(stones, stone);
                for at in stones.liberties(stone).iter() {
                    tell(at, size + if at == catching { kind::CATCH } else { kind::ATARI });
                }
            }
            (true, 2) => {
                let in_danger = ladder::catch(stones, stone) != PASS;
                for at in stones.liberties(stone).iter() {
                    let after = stones.liberties_after(at, turn);
                    if in_danger && after >= 2 && stones.is_legal(at, turn) {
                        let mut next = stones.clone();
                        next.put(at, turn);
                        if ladder::is_safe(&next, stone) {
                            tell(at, kind::SECURE + size);
                        }
                    }
                    if after > 2 {
                        tell(at, kind::LENGTHEN + size);
                    }
                }
            }
            (false, 3) => {
                for at in stones.liberties(stone).iter() {
                    tell(at, kind::THREE + size);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::go::stones::{BLACK, WHITE, other};

    fn at(stones: &Stones<128, 2>, column: u16, row: u16) -> Vertex {
        stones.geometry.at(Point::new(column, row))
    }

    #[test]
    fn a_pattern_has_the_same_hashes_whichever_way_it_is_turned_and_for_either_colour() {
        let mut rng = Rng::new(5);
        for _ in 0..50 {
            let stones: Vec<(u16, u16, u8)> = (0..20)
                .map(|_| {
                    (rng.below(9) as u16, rng.below(9) as u16, if rng.below(2) == 0 { BLACK } else { WHITE })
                })
                .collect();
            let board = |place: fn(u16, u16) -> (u16, u16), swap: bool| {
                let mut board = Stones::<128, 2>::new(9);
                for &(column, row, colour) in &stones {
                    let (column, row) = place(column, row);
                    let colour = if swap { other(colour) } else { colour };
                    let here = at(&board, column, row);
                    if board.cell(here) == EMPTY && board.is_legal(here, colour) {
                        board.put(here, colour);
                    }
                }
                board
            };
            let hashes = |board: &Stones<128, 2>, turn, (column, row)| {
                let mut padded = Padded::new(9);
                padded.fill(board, turn);
                padded.hashes(Point::new(column, row))
            };
            let plain = board(|column, row| (column, row), false);
            let turned = board(|column, row| (8 - row, column), false);
            let swapped = board(|column, row| (column, 8 - row), true);
            for (column, row) in [(0, 0), (2, 3), (4, 4), (7, 5)] {
                let here = hashes(&plain, BLACK, (column, row));
                assert_eq!(here, hashes(&turned, BLACK, (8 - row, column)));
                assert_eq!(here, hashes(&swapped, WHITE, (column, 8 - row)));
                let code = plain.code(at(&plain, column, row));
                assert_eq!(here[0], hash_of_code(code, BLACK));
                assert!(here.iter().all(|&hash| hash as usize >= PLAIN));
            }
        }
    }

    #[test]
    fn taking_saving_and_throwing_away_are_told() {
        let mut stones = Stones::<128, 2>::new(9);
        for (column, row, colour) in [
            (0, 1, BLACK),
            (0, 0, WHITE),
            (5, 5, BLACK),
            (5, 6, WHITE),
            (4, 5, WHITE),
            // In two corners a stone of Black's has one liberty left: alone, and with its neighbour.
            (8, 1, WHITE),
            (1, 8, BLACK),
            (1, 7, WHITE),
            (2, 8, WHITE),
            (6, 5, WHITE),
        ] {
            stones.put(at(&stones, column, row), colour);
        }
        let last = at(&stones, 6, 5);
        let mut told = Vec::new();
        let mut candidates = Vec::new();
        features(&stones, BLACK, [last, PASS], &mut Room::new(9), &mut candidates, |n, feature| {
            told.push((n, feature));
        });
        let of = |column, row| {
            let wanted = at(&stones, column, row);
            let n = candidates.iter().position(|&candidate| candidate == wanted).expect("it is legal");
            told.iter().filter(|&&(of, _)| of == n).map(|&(_, feature)| feature).collect::<Vec<_>>()
        };
        assert!(of(5, 4).iter().any(|feature| [kind::SAVE, kind::RUN].contains(feature)));
        assert!(of(1, 0).iter().any(|feature| [kind::TAKE, kind::TAKE_CAUGHT].contains(feature)));
        assert!(of(5, 4).contains(&(kind::NEAR + 3)));
        assert!(!of(8, 8).contains(&kind::SAVE));
        let thrown = |column, row| -> Vec<u32> {
            (0..3).filter(|size| of(column, row).contains(&(kind::SELF_ATARI + size))).collect()
        };
        assert_eq!((thrown(8, 0), thrown(0, 8)), (vec![0], vec![1]), "one stone, and a chain of two");
        assert_eq!((thrown(8, 8), thrown(5, 4)), (vec![], vec![]));
    }
}
