//! Life and death: proven, and estimated by playouts.

use std::collections::HashSet;

use super::stones::{BORDER, EMPTY, Stones, Vertex, margin, other, side};
use crate::{Point, Side};

/// The status of a chain with best play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Alive.
    Alive,
    /// Dead.
    Dead,
    /// Alive in seki: without two eyes, but neither side can attack.
    Seki,
}

/// A chain with its status.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// Its stones, row by row from the bottom.
    pub stones: Vec<Point>,
    /// The owner.
    pub side: Side,
    /// The status.
    pub fate: Fate,
    /// Whether it is proven: unconditionally alive (D. B. Benson, "Life in the Game of Go", 1976), or dead inside an eye of
    /// such stones that is too small to live in. Otherwise estimated by playouts.
    pub proven: bool,
}

/// The status of a board, as a proposal for scoring.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// All chains, in the order of their first stones.
    pub chains: Vec<Chain>,
    /// Ownership of every point, from 1.0 (certainly First's) to -1.0 (Second's); row by row from the bottom.
    pub owners: Vec<(Point, f32)>,
    /// Lead of First in points after removing the dead stones, including komi.
    pub margin: f32,
}

impl Status {
    /// The dead stones.
    pub fn dead(&self) -> impl Iterator<Item = Point> + '_ {
        self.chains
            .iter()
            .filter(|chain| chain.fate == Fate::Dead)
            .flat_map(|chain| chain.stones.iter().copied())
    }
}

/// Heads of the unconditionally alive chains of this colour.
pub(super) fn unconditional<const N: usize, const W: usize>(
    stones: &Stones<N, W>,
    colour: u8,
) -> HashSet<Vertex> {
    let regions = regions(stones, colour);
    let mut chains: HashSet<Vertex> = stones
        .geometry
        .points
        .iter()
        .copied()
        .filter(|&at| stones.cell(at) == colour && stones.head(at) == at)
        .collect();
    let mut left: Vec<&Region> = regions.iter().collect();
    loop {
        let before = (chains.len(), left.len());
        chains.retain(|chain| left.iter().filter(|region| region.vital_to.contains(chain)).count() >= 2);
        left.retain(|region| region.borders.iter().all(|chain| chains.contains(chain)));
        if (chains.len(), left.len()) == before {
            return chains;
        }
    }
}

/// A connected region of points without stones of one colour.
struct Region {
    points: Vec<Vertex>,
    /// Heads of the chains of that colour around it.
    borders: HashSet<Vertex>,
    /// Heads of those chains for which all its empty points are liberties (vital regions).
    vital_to: HashSet<Vertex>,
}

fn regions<const N: usize, const W: usize>(stones: &Stones<N, W>, colour: u8) -> Vec<Region> {
    let mut seen = HashSet::new();
    let mut list = Vec::new();
    for &start in &stones.geometry.points {
        if stones.cell(start) == colour || !seen.insert(start) {
            continue;
        }
        let mut points = vec![start];
        let mut borders = HashSet::new();
        let mut looked = 0;
        while let Some(&at) = points.get(looked) {
            looked += 1;
            for neighbour in stones.four(at) {
                let neighbour = neighbour as Vertex;
                match stones.cell(neighbour) {
                    BORDER => {}
                    cell if cell == colour => {
                        borders.insert(stones.head(neighbour));
                    }
                    _ => {
                        if seen.insert(neighbour) {
                            points.push(neighbour);
                        }
                    }
                }
            }
        }
        let is_vital = |&chain: &Vertex| {
            let liberties = stones.liberties(chain);
            points.iter().all(|&at| stones.cell(at) != EMPTY || liberties.has(usize::from(at)))
        };
        let vital_to = borders.iter().copied().filter(is_vital).collect();
        list.push(Region { points, borders, vital_to });
    }
    list
}

/// Chains of each colour, by head, with a proven status.
pub(super) fn proven<const N: usize, const W: usize>(stones: &Stones<N, W>) -> Vec<(Vertex, Fate)> {
    let mut list = Vec::new();
    for colour in [1, 2] {
        let alive = unconditional(stones, colour);
        for region in regions(stones, colour) {
            let closed =
                !region.borders.is_empty() && region.borders.iter().all(|chain| alive.contains(chain));
            // With at most one inner empty point there is no space for two eyes.
            let inner =
                |at: Vertex| stones.four(at).iter().all(|&next| stones.cell(next as Vertex) != colour);
            let room = region.points.iter().filter(|&&at| inner(at)).count();
            if closed && room < 2 {
                let enemies = region.points.iter().copied();
                list.extend(
                    enemies
                        .filter(|&at| stones.cell(at) == other(colour) && stones.head(at) == at)
                        .map(|at| (at, Fate::Dead)),
                );
            }
        }
        list.extend(alive.into_iter().map(|chain| (chain, Fate::Alive)));
    }
    list.sort_by_key(|&(chain, _)| chain);
    list
}

/// The status of every chain by ownership in playouts: from 1 (Black's) to -1 (White's), in the order of the geometry's
/// points.
pub(super) fn status<const N: usize, const W: usize>(stones: &Stones<N, W>, owned: &[f32]) -> Status {
    let geometry = stones.geometry;
    let certain = proven(stones);
    let mut chains = Vec::new();
    let mut dead = HashSet::new();
    for &head in &geometry.points {
        let colour = stones.cell(head);
        if colour == EMPTY {
            continue;
        }
        if chains.iter().any(|&(other, _, _): &(Vertex, Fate, bool)| other == stones.head(head)) {
            continue;
        }
        let head = stones.head(head);
        let sum: f32 = geometry
            .points
            .iter()
            .zip(owned)
            .filter(|&(&at, _)| stones.cell(at) == colour && stones.head(at) == head)
            .map(|(_, owned)| owned * margin(colour) as f32)
            .sum();
        let (fate, proven) = match certain.iter().find(|&&(chain, _)| chain == head) {
            Some(&(_, fate)) => (fate, true),
            None if sum < 0.0 => (Fate::Dead, false),
            None => (Fate::Alive, false),
        };
        if fate == Fate::Dead {
            dead.insert(head);
        }
        chains.push((head, fate, proven));
    }
    let is_dead = |at: Vertex| stones.cell(at) != EMPTY && dead.contains(&stones.head(at));
    for (head, fate, proven) in &mut chains {
        if *fate == Fate::Alive && !*proven && is_seki(stones, *head, &is_dead) {
            *fate = Fate::Seki;
        }
    }
    let point = |at: Vertex| geometry.point(at);
    let list = chains
        .into_iter()
        .map(|(head, fate, proven)| Chain {
            stones: geometry
                .points
                .iter()
                .filter(|&&at| stones.cell(at) != EMPTY && stones.head(at) == head)
                .map(|&at| point(at))
                .collect(),
            side: side(stones.cell(head)),
            fate,
            proven,
        })
        .collect();
    Status {
        chains: list,
        owners: geometry.points.iter().zip(owned).map(|(&at, &owned)| (point(at), owned)).collect(),
        margin: 0.0,
    }
}

/// Whether a living chain shares liberties with living enemies and has at most one liberty of its own.
fn is_seki<const N: usize, const W: usize>(
    stones: &Stones<N, W>,
    head: Vertex,
    is_dead: &impl Fn(Vertex) -> bool,
) -> bool {
    let colour = stones.cell(head);
    let shared = |at: Vertex| {
        stones
            .four(at)
            .iter()
            .any(|&next| stones.cell(next as Vertex) == other(colour) && !is_dead(next as Vertex))
    };
    let touches_dead = stones.chain(head).any(|stone| {
        stones
            .four(stone)
            .iter()
            .any(|&next| stones.cell(next as Vertex) == other(colour) && is_dead(next as Vertex))
    });
    let (with_both, alone): (Vec<Vertex>, Vec<Vertex>) =
        stones.liberties(head).iter().partition(|&at| shared(at));
    !touches_dead && !with_both.is_empty() && alone.len() <= 1
}

/// Owner of each point after removing the dead chains, in the order of the geometry's points.
pub(super) fn owners_without<const N: usize, const W: usize>(
    stones: &Stones<N, W>,
    dead: &[Point],
) -> Vec<u8> {
    let mut board = stones.clone();
    for &point in dead {
        let at = board.geometry.at(point);
        if board.cell(at) != EMPTY {
            board.remove(at);
        }
    }
    board.area()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::go::stones::{BLACK, WHITE};

    /// A board from rows from the top, `X` black, `O` white.
    fn board(picture: &[&str]) -> Stones<128, 2> {
        let mut stones = Stones::new(picture.len() as u8);
        for (row, line) in picture.iter().rev().enumerate() {
            for (column, cell) in line.bytes().enumerate() {
                let at = stones.geometry.at(Point::new(column as u16, row as u16));
                match cell {
                    b'X' => stones.put(at, BLACK),
                    b'O' => stones.put(at, WHITE),
                    _ => {}
                }
            }
        }
        stones
    }

    fn fate(list: &[(Vertex, Fate)], stones: &Stones<128, 2>, column: u16, row: u16) -> Option<Fate> {
        let head = stones.head(stones.geometry.at(Point::new(column, row)));
        list.iter().find(|&&(chain, _)| chain == head).map(|&(_, fate)| fate)
    }

    #[test]
    fn two_eyes_live_for_certain_and_one_does_not() {
        let stones = board(&[
            ".........",
            ".........",
            ".........",
            ".........",
            ".........",
            "......OOO",
            "......O..",
            "XXXXX.O..",
            ".X.X..OOO",
        ]);
        let list = proven(&stones);
        // The black chain has two eyes at the edge; the white one has a single eye space of four points.
        assert_eq!(fate(&list, &stones, 1, 0), Some(Fate::Alive));
        assert_eq!(fate(&list, &stones, 8, 0), None);
        let stones = board(&[
            ".........",
            ".........",
            ".........",
            ".........",
            "OO.......",
            "XXXXXX...",
            "XO..XO...",
            "XXXXXX...",
            ".X.XX....",
        ]);
        let list = proven(&stones);
        assert_eq!(fate(&list, &stones, 0, 1), Some(Fate::Alive));
        assert_eq!(fate(&list, &stones, 1, 2), Some(Fate::Dead));
        assert_eq!(fate(&list, &stones, 5, 2), None);
        assert_eq!(fate(&list, &stones, 0, 4), None);
    }

    /// Whether the other side, moving alone, can capture the chain of a stone.
    fn can_be_taken(stones: &Stones<128, 2>, stone: Vertex, seen: &mut HashSet<u64>) -> bool {
        let attacker = other(stones.cell(stone));
        stones.empty().to_vec().into_iter().any(|at| {
            if !stones.is_legal(at, attacker) {
                return false;
            }
            let mut after = stones.clone();
            after.put(at, attacker);
            // The defender's pass ends a ko.
            after.pass();
            after.cell(stone) == EMPTY || (seen.insert(after.key) && can_be_taken(&after, stone, seen))
        })
    }

    #[test]
    fn what_lives_for_certain_is_just_what_nobody_can_take_from_one_who_passes() {
        let mut rng = crate::Rng::new(3);
        let (mut alive, mut mortal) = (0, 0);
        for _ in 0..300 {
            // Random legal moves until the board is nearly full.
            let mut stones = Stones::<128, 2>::new(4);
            let mut turn = BLACK;
            for _ in 0..20 + rng.below(60) {
                let moves = stones.empty().to_vec();
                let at = moves[rng.below(moves.len() as u32) as usize];
                if stones.is_legal(at, turn) && !stones.is_eye(at, turn) {
                    stones.put(at, turn);
                }
                turn = other(turn);
            }
            if stones.empty().len() > 6 {
                continue;
            }
            // A pass ends an open ko.
            stones.pass();
            for colour in [BLACK, WHITE] {
                let certain = unconditional(&stones, colour);
                for &at in &stones.geometry.points {
                    if stones.cell(at) == colour && stones.head(at) == at {
                        let taken = can_be_taken(&stones, at, &mut HashSet::new());
                        assert_eq!(certain.contains(&at), !taken, "{at} of {colour}");
                        alive += u32::from(!taken);
                        mortal += u32::from(taken);
                    }
                }
            }
        }
        assert!(alive > 50 && mortal > 50, "{alive} {mortal}");
    }
}
