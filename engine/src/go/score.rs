//! Scoring.
//!
//! Sources: area as in tromp.github.io/go.html; territory as in the Japanese rules of 1989. There a group is in seki if it
//! is alive and has dame, so that all dame must be filled before the end. Here dame may be left: a group with dame is in
//! seki only if its own territory is not enough for two eyes, which is a single region of at most two points.

use super::board::{Board, Cell, Vertex};
use super::{GoSetup, Scoring};
use crate::{Point, Side};

/// The final score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Score {
    /// Black's and White's score in half points, including komi and compensation: 15 means 7.5.
    pub half_points: [u32; 2],
    /// Empty points, including those of dead stones, that count for a side.
    pub surrounded: Vec<(Point, Side)>,
}

/// A region of connected empty points.
struct Region {
    points: Vec<Vertex>,
    /// Sides with adjacent stones.
    touches: [bool; 2],
    /// Heads of adjacent chains.
    chains: Vec<Vertex>,
}

/// Scores a board without dead stones; `prisoners` are the captures of each side, including dead stones.
pub(super) fn count(board: &Board, setup: &GoSetup, prisoners: [u32; 2]) -> Score {
    let regions = regions(board);
    let seki = match setup.scoring {
        Scoring::Area => Vec::new(),
        Scoring::Territory => chains_in_seki(board, &regions),
    };
    let mut points = [0, 0];
    let mut surrounded = Vec::new();
    for region in &regions {
        let owner = match region.touches {
            [true, false] => Side::First,
            [false, true] => Side::Second,
            _ => continue,
        };
        if region.chains.iter().any(|chain| seki.contains(chain)) {
            continue;
        }
        points[owner.index()] += region.points.len() as u32;
        surrounded.extend(region.points.iter().map(|&place| (board.point(place), owner)));
    }
    match setup.scoring {
        Scoring::Area => {
            for place in board.places() {
                if let Cell::Stone(side) = board.at(place) {
                    points[side.index()] += 1;
                }
            }
            points[Side::Second.index()] += u32::from(setup.handicap.stones());
        }
        Scoring::Territory => {
            for side in Side::BOTH {
                points[side.index()] += prisoners[side.index()];
            }
        }
    }
    let mut half_points = points.map(|points| 2 * points);
    half_points[Side::Second.index()] += u32::from(setup.komi_half_points);
    Score { half_points, surrounded }
}

fn regions(board: &Board) -> Vec<Region> {
    let mut seen: Vec<Vertex> = Vec::new();
    let mut is_seen = std::collections::HashSet::new();
    let mut list = Vec::new();
    for start in board.places() {
        if board.at(start) != Cell::Empty || !is_seen.insert(start) {
            continue;
        }
        let mut region = Region { points: Vec::new(), touches: [false; 2], chains: Vec::new() };
        seen.push(start);
        while let Some(place) = seen.pop() {
            region.points.push(place);
            for neighbour in board.neighbours(place) {
                match board.at(neighbour) {
                    Cell::Border => {}
                    Cell::Empty => {
                        if is_seen.insert(neighbour) {
                            seen.push(neighbour);
                        }
                    }
                    Cell::Stone(side) => {
                        region.touches[side.index()] = true;
                        let head = board.head(neighbour);
                        if !region.chains.contains(&head) {
                            region.chains.push(head);
                        }
                    }
                }
            }
        }
        list.push(region);
    }
    list
}

/// Heads of the chains in seki: they have dame and cannot make two eyes. Chains around one region of their own share their status,
/// and so do chains that meet at two dame, of which one connects them. A group lives, too, where two dame lead to living groups:
/// the opponent fills one of them, and the other one connects.
fn chains_in_seki(board: &Board, regions: &[Region]) -> Vec<Vertex> {
    let is_own = |region: &Region| region.touches[0] != region.touches[1];
    let mut groups: Vec<Vec<Vertex>> = Vec::new();
    for place in board.places() {
        if matches!(board.at(place), Cell::Stone(_)) && board.head(place) == place {
            groups.push(vec![place]);
        }
    }
    for region in regions.iter().filter(|region| is_own(region)) {
        let (joined, mut rest): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| group.iter().any(|chain| region.chains.contains(chain)));
        rest.push(joined.concat());
        groups = rest;
    }
    let dame: Vec<Dame> = dame(board, regions.iter().filter(|region| !is_own(region)));
    while let Some((one, other)) = first_pair(&groups, |one, other| shared(&dame, one, other) > 1) {
        let joined = groups.remove(other);
        groups[one].extend(joined);
    }
    let touches = |group: &[Vertex], region: &Region| region.chains.iter().any(|chain| group.contains(chain));
    let (mut living, mut open): (Vec<_>, Vec<_>) = groups.into_iter().partition(|group| {
        let has_dame = dame.iter().any(|dame| dame.is_at(group));
        let eyes: Vec<usize> = regions
            .iter()
            .filter(|region| is_own(region) && touches(group, region))
            .map(|region| region.points.len())
            .collect();
        !has_dame || eyes.len() > 1 || eyes.iter().any(|&points| points > 2)
    });
    loop {
        let leads = |group: &[Vertex]| {
            let to_life =
                |dame: &&Dame| dame.is_at(group) && living.iter().any(|other| dame.connects(group, other));
            dame.iter().filter(to_life).count()
        };
        let Some(index) = open.iter().position(|group| leads(group) > 1) else { break };
        living.push(open.remove(index));
    }
    open.concat()
}

/// An empty point beside stones, in a region that belongs to nobody.
struct Dame {
    /// Heads of the adjacent chains of each side.
    chains: [Vec<Vertex>; 2],
}

impl Dame {
    fn is_at(&self, group: &[Vertex]) -> bool {
        self.chains.iter().flatten().any(|chain| group.contains(chain))
    }

    /// Whether a stone here connects these groups, which are of one side.
    fn connects(&self, one: &[Vertex], other: &[Vertex]) -> bool {
        let is_at = |chains: &[Vertex], group: &[Vertex]| chains.iter().any(|chain| group.contains(chain));
        self.chains.iter().any(|chains| is_at(chains, one) && is_at(chains, other))
    }
}

fn dame<'a>(board: &Board, neutral: impl Iterator<Item = &'a Region>) -> Vec<Dame> {
    let of = |&place: &Vertex| {
        let mut chains = [Vec::new(), Vec::new()];
        for neighbour in board.neighbours(place) {
            if let Cell::Stone(side) = board.at(neighbour) {
                chains[side.index()].push(board.head(neighbour));
            }
        }
        Dame { chains }
    };
    neutral.flat_map(|region| region.points.iter().map(of)).filter(|dame| dame.chains != [[], []]).collect()
}

fn shared(dame: &[Dame], one: &[Vertex], other: &[Vertex]) -> usize {
    dame.iter().filter(|dame| dame.connects(one, other)).count()
}

/// Indexes of the first two groups for which this holds, in ascending order.
fn first_pair(
    groups: &[Vec<Vertex>],
    holds: impl Fn(&[Vertex], &[Vertex]) -> bool,
) -> Option<(usize, usize)> {
    let pairs = (0..groups.len()).flat_map(|one| (one + 1..groups.len()).map(move |other| (one, other)));
    pairs.into_iter().find(|&(one, other)| holds(&groups[one], &groups[other]))
}
