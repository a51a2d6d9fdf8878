//! Index of endgame positions; positions that are equal by symmetry share an index.

use super::super::{BOARD, POINTS, SIZE};
use crate::Point;

/// Number of symmetries of the board.
const WAYS: usize = 8;
/// Maximum number of stones per side.
const MOST: usize = 5;

/// Indexes the positions with this many stones on each side and one side ("own") to move.
///
/// The own stones are mapped to the smallest of their eight images; its rank among all such sets, and the rank of the
/// enemy's set among the remaining points, form the index. If the own stones are symmetric themselves, equivalent positions
/// still have several indices: see [`Self::images`].
pub(super) struct Index {
    stones: u32,
    /// For every set of own stones, by rank: the rank of its smallest image, and the symmetries that lead there.
    sets: Vec<Set>,
    /// The smallest images, by rank.
    smallest: Vec<u64>,
    /// Number of enemy's sets for each own set.
    beside: usize,
    /// Binomial coefficients.
    choose: [[usize; MOST + 1]; POINTS as usize + 1],
    /// The image of each point under each symmetry.
    turned: [[u8; POINTS as usize]; WAYS],
}

#[derive(Clone, Copy)]
struct Set {
    smallest: u32,
    /// Bit mask of the symmetries that lead to the smallest image: usually one, more if the set is symmetric.
    ways: u8,
}

impl Index {
    /// The index for this many stones on each side.
    pub(super) fn new(stones: u32) -> Self {
        let mut choose = [[0; MOST + 1]; POINTS as usize + 1];
        for points in 0..choose.len() {
            choose[points][0] = 1;
            for chosen in 1..=MOST.min(points) {
                let without = if points > chosen { choose[points - 1][chosen] } else { 0 };
                choose[points][chosen] = choose[points - 1][chosen - 1] + without;
            }
        }
        let turned = std::array::from_fn(|way| std::array::from_fn(|point| turned(way, point as u8)));
        let mut index = Self {
            stones,
            sets: Vec::new(),
            smallest: Vec::new(),
            beside: choose[usize::from(POINTS) - stones as usize][stones as usize],
            choose,
            turned,
        };
        let count = choose[usize::from(POINTS)][stones as usize];
        let mut numbers = vec![u32::MAX; count];
        for number in 0..count {
            let set = index.set_of(number, BOARD);
            let images: [u64; WAYS] = std::array::from_fn(|way| index.turn(way, set));
            let least = images.into_iter().min().unwrap_or(set);
            let at = index.number_of(least, BOARD);
            if numbers[at] == u32::MAX {
                numbers[at] = index.smallest.len() as u32;
                index.smallest.push(least);
            }
            let ways = (0..WAYS).filter(|&way| images[way] == least).fold(0, |ways, way| ways | 1 << way);
            index.sets.push(Set { smallest: numbers[at], ways });
        }
        index
    }

    /// Number of indices.
    pub(super) fn len(&self) -> usize {
        self.smallest.len() * self.beside
    }

    /// The index of a position.
    pub(super) fn number(&self, own: u64, enemy: u64) -> usize {
        let set = self.sets[self.number_of(own, BOARD)];
        self.numbered(set, set.ways.trailing_zeros() as usize, enemy)
    }

    /// All indices of a position and its images.
    pub(super) fn images(&self, own: u64, enemy: u64) -> impl Iterator<Item = usize> + '_ {
        let set = self.sets[self.number_of(own, BOARD)];
        (0..WAYS).filter(move |way| set.ways >> way & 1 != 0).map(move |way| self.numbered(set, way, enemy))
    }

    fn numbered(&self, set: Set, way: usize, enemy: u64) -> usize {
        let own = self.smallest[set.smallest as usize];
        set.smallest as usize * self.beside + self.number_of(self.turn(way, enemy), BOARD & !own)
    }

    /// The position of an index: own stones, enemy's stones.
    pub(super) fn position(&self, number: usize) -> (u64, u64) {
        let own = self.smallest[number / self.beside];
        (own, self.set_of(number % self.beside, BOARD & !own))
    }

    fn turn(&self, way: usize, set: u64) -> u64 {
        super::bits(set).fold(0, |image, point| image | 1 << self.turned[way][usize::from(point)])
    }

    /// The combinatorial rank of a set among the sets of equal size within these points.
    fn number_of(&self, set: u64, points: u64) -> usize {
        let places = super::bits(set).map(|point| (points & ((1 << point) - 1)).count_ones() as usize);
        places.enumerate().map(|(n, place)| self.choose[place][n + 1]).sum()
    }

    /// The inverse of [`Self::number_of`].
    fn set_of(&self, mut number: usize, points: u64) -> u64 {
        let mut set = 0;
        let mut place = points.count_ones() as usize;
        let mut left = points;
        for chosen in (1..=self.stones as usize).rev() {
            // The highest point of the set is the last one whose coefficient does not exceed the rank.
            loop {
                let highest = left.ilog2();
                left &= !(1 << highest);
                place -= 1;
                if self.choose[place][chosen] <= number {
                    number -= self.choose[place][chosen];
                    set |= 1 << highest;
                    break;
                }
            }
        }
        set
    }
}

/// The image of a point under a symmetry: see [`Point::turned`].
fn turned(way: usize, point: u8) -> u8 {
    let size = u16::from(SIZE);
    let from = Point::new((point % SIZE).into(), (point / SIZE).into());
    let Point { column, row } = from.turned(way as u8, [size; 2]);
    (row * size + column) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    fn drawn(stones: u32, rng: &mut Rng) -> (u64, u64) {
        let mut sets = [0_u64; 2];
        for n in 0..2 {
            while sets[n].count_ones() < stones {
                let bit = 1 << rng.below(POINTS.into());
                if (sets[0] | sets[1]) & bit == 0 {
                    sets[n] |= bit;
                }
            }
        }
        (sets[0], sets[1])
    }

    #[test]
    fn a_position_and_its_images_are_one_to_the_index() {
        let mut rng = Rng::new(6);
        for stones in [1, 3, 4] {
            let index = Index::new(stones);
            for _ in 0..2_000 {
                let (own, enemy) = drawn(stones, &mut rng);
                let images: Vec<usize> = index.images(own, enemy).collect();
                assert!(images.contains(&index.number(own, enemy)));
                for way in 0..WAYS {
                    let number = index.number(index.turn(way, own), index.turn(way, enemy));
                    assert!(images.contains(&number));
                }
                for number in images {
                    let (own, enemy) = index.position(number);
                    assert!(index.images(own, enemy).any(|image| image == number));
                }
            }
        }
    }

    #[test]
    fn every_number_has_a_position_and_an_eighth_of_the_sets_are_left() {
        let index = Index::new(3);
        // Burnside's lemma: (7140 + sets fixed by the other symmetries) / 8.
        assert_eq!(index.smallest.len(), 920);
        assert_eq!(index.len(), 920 * 5_456);
        for number in (0..index.len()).step_by(37) {
            let (own, enemy) = index.position(number);
            assert_eq!((own.count_ones(), enemy.count_ones(), own & enemy), (3, 3, 0));
            assert!(index.images(own, enemy).any(|image| image == number));
        }
    }
}
