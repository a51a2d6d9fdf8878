//! Forbidden points of renju, computed exactly.
//!
//! Source: the rules of play of the Renju International Federation (renju.net, "The rules of Renju", section 9):
//! - A *five* is exactly five black stones in a line; it wins, whatever else the stone does. An *overline* is six or more.
//! - A *four* is four stones in a line that one more stone makes a five. A line may hold two fours at once.
//! - A *straight four* is four stones side by side of which each end makes a five.
//! - A *three* is three stones in a line that one more stone makes a straight four, where that stone makes no five at the same
//!   time and is itself not forbidden. Whether it is takes the same question about that point, one stone later.
//! - Forbidden for Black are a stone that makes an overline, one that makes two or more fours, and one that makes two or more
//!   threes, unless it makes a five.
//!
//! A three and a four need different stones, so that a line through a point has either fours or one three. Lines that do not
//! count because they are on the edge are ignored in all of this.

use super::DIRECTIONS;
use crate::{Language, Point, Side};

/// Why a point is forbidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Overline (长连): six or more in a line.
    Overline,
    /// Double four (四四): two or more fours.
    DoubleFour,
    /// Double three (三三): two or more threes.
    DoubleThree,
}

impl Fault {
    /// The name in words for players.
    pub const fn words(self, language: Language) -> &'static str {
        match self {
            Self::Overline => language.pick("长连禁手", "a forbidden overline"),
            Self::DoubleFour => language.pick("四四禁手", "a forbidden double four"),
            Self::DoubleThree => language.pick("三三禁手", "a forbidden double three"),
        }
    }
}

/// A scratch board, row by row from the bottom, which is unchanged after each query.
pub(super) struct Trial<'a> {
    pub(super) size: i32,
    /// Whether lines on the edge count.
    pub(super) edges: bool,
    pub(super) stones: &'a mut [Option<Side>],
}

/// Column and row, from 0.
type Coordinates = (i32, i32);

impl Trial<'_> {
    /// Why Black may not play on this empty point, and the stones of the fault, including this one. `None` if allowed.
    pub(super) fn fault(&mut self, at: Coordinates) -> Option<(Fault, Vec<Point>)> {
        self.put(at, Some(Side::First));
        let fault = self.fault_of(at);
        self.put(at, None);
        fault
    }

    /// All empty points that are forbidden for Black.
    pub(super) fn forbidden(&mut self) -> Vec<(Point, Fault)> {
        let mut list = Vec::new();
        let size = self.size;
        for at in (0..size).flat_map(|row| (0..size).map(move |column| (column, row))) {
            if self.is_empty(at)
                && self.has_company(at)
                && let Some((fault, _)) = self.fault(at)
            {
                list.push((point(at), fault));
            }
        }
        list
    }

    /// Whether enough black stones for a fault are within reach: four, because two threes share this stone.
    fn has_company(&self, at: Coordinates) -> bool {
        let near = DIRECTIONS.into_iter().flat_map(|step| (-5..=5).map(move |n| along(at, step, n)));
        near.filter(|&near| near != at && self.is_black(near)).take(4).count() == 4
    }

    fn fault_of(&mut self, at: Coordinates) -> Option<(Fault, Vec<Point>)> {
        let lines: Vec<Coordinates> = DIRECTIONS.into_iter().filter(|&step| self.counts(at, step)).collect();
        let runs: Vec<(i32, i32)> = lines.iter().map(|&step| self.run(at, step)).collect();
        if runs.iter().any(|(back, forth)| back + forth == 4) {
            return None;
        }
        let overline = lines.iter().zip(&runs).find(|(_, (back, forth))| back + forth > 4);
        if let Some((&step, &(back, forth))) = overline {
            let stones = (-back..=forth).map(|n| point(along(at, step, n))).collect();
            return Some((Fault::Overline, stones));
        }
        let mut threes: Vec<Vec<Coordinates>> = Vec::new();
        let mut fours: Vec<Vec<Coordinates>> = Vec::new();
        for &step in &lines {
            let before = fours.len();
            self.fours(at, step, &mut fours);
            if fours.len() == before
                && let Some(three) = self.three(at, step)
            {
                threes.push(three);
            }
        }
        let (fault, made) = if fours.len() >= 2 {
            (Fault::DoubleFour, fours)
        } else if threes.len() >= 2 {
            (Fault::DoubleThree, threes)
        } else {
            return None;
        };
        let mut stones: Vec<Point> = made.concat().into_iter().map(point).collect();
        stones.sort_unstable();
        stones.dedup();
        Some((fault, stones))
    }

    /// The fours through a black stone along a line, each as its stones, without duplicates.
    fn fours(&mut self, at: Coordinates, step: Coordinates, into: &mut Vec<Vec<Coordinates>>) {
        for n in (-4..=4).filter(|&n| n != 0) {
            let gap = along(at, step, n);
            if !self.is_empty(gap) {
                continue;
            }
            self.put(gap, Some(Side::First));
            let (back, forth) = self.run(at, step);
            self.put(gap, None);
            if back + forth == 4 && (-back..=forth).contains(&n) {
                let stones: Vec<Coordinates> =
                    (-back..=forth).filter(|&m| m != n).map(|m| along(at, step, m)).collect();
                if !into.contains(&stones) {
                    into.push(stones);
                }
            }
        }
    }

    /// The three through a black stone along a line that contains no four of it.
    fn three(&mut self, at: Coordinates, step: Coordinates) -> Option<Vec<Coordinates>> {
        for n in (-3..=3).filter(|&n| n != 0) {
            let gap = along(at, step, n);
            if !self.is_empty(gap) {
                continue;
            }
            self.put(gap, Some(Side::First));
            let (back, forth) = self.run(at, step);
            let straight = back + forth == 3
                && (-back..=forth).contains(&n)
                && [(-back - 1, -back - 2), (forth + 1, forth + 2)].into_iter().all(|(end, beyond)| {
                    self.is_empty(along(at, step, end)) && !self.is_black(along(at, step, beyond))
                });
            // The completing stone must neither make five nor be forbidden.
            let allowed = straight && !self.makes_five(gap) && self.fault_of(gap).is_none();
            self.put(gap, None);
            if allowed {
                return Some((-back..=forth).filter(|&m| m != n).map(|m| along(at, step, m)).collect());
            }
        }
        None
    }

    fn makes_five(&self, at: Coordinates) -> bool {
        DIRECTIONS.into_iter().filter(|&step| self.counts(at, step)).any(|step| {
            let (back, forth) = self.run(at, step);
            back + forth == 4
        })
    }

    /// Number of adjacent black stones on both sides of a point.
    fn run(&self, at: Coordinates, step: Coordinates) -> (i32, i32) {
        let count = |sign: i32| {
            (1..self.size).take_while(|&n| self.is_black(along(at, step, sign * n))).count() as i32
        };
        (count(-1), count(1))
    }

    /// Whether the line through this point counts.
    fn counts(&self, (column, row): Coordinates, (right, up): Coordinates) -> bool {
        let edge = |n: i32| n == 0 || n == self.size - 1;
        self.edges || !((up == 0 && edge(row)) || (right == 0 && edge(column)))
    }

    fn index(&self, (column, row): Coordinates) -> Option<usize> {
        let inside = (0..self.size).contains(&column) && (0..self.size).contains(&row);
        inside.then_some((row * self.size + column) as usize)
    }

    fn is_black(&self, at: Coordinates) -> bool {
        self.index(at).is_some_and(|n| self.stones[n] == Some(Side::First))
    }

    fn is_empty(&self, at: Coordinates) -> bool {
        self.index(at).is_some_and(|n| self.stones[n].is_none())
    }

    fn put(&mut self, at: Coordinates, stone: Option<Side>) {
        if let Some(n) = self.index(at) {
            self.stones[n] = stone;
        }
    }
}

fn along((column, row): Coordinates, (right, up): Coordinates, n: i32) -> Coordinates {
    (column + n * right, row + n * up)
}

fn point((column, row): Coordinates) -> Point {
    Point::new(column as u16, row as u16)
}
