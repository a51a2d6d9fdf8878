//! Works out a table of endings backwards from its ends.

use std::sync::atomic::{AtomicBool, Ordering};

use super::super::rules::neighbours;
use super::super::{BOARD, Blocked};
use super::bits;
use super::index::Index;
use super::table::Found;

/// What an ending is played by: all of a setup that matters where the next capture ends the game.
pub(super) struct Ground {
    pub(super) blocked: Blocked,
    /// The formations that count, of those that so many stones can make.
    pub(super) formations: Vec<u64>,
}

impl Ground {
    /// Whether a stone that has come to this point has made a formation.
    fn makes(&self, point: u8, stones: u64) -> bool {
        self.formations.iter().any(|&formation| formation >> point & 1 != 0 && formation & !stones == 0)
    }

    fn is_blocked(own: u64, enemy: u64) -> bool {
        Self::steps(own, enemy).next().is_none()
    }

    fn steps(own: u64, enemy: u64) -> impl Iterator<Item = (u8, u8)> {
        let empty = BOARD & !(own | enemy);
        bits(own).flat_map(move |from| bits(neighbours(from) & empty).map(move |to| (from, to)))
    }

    /// Whether the side to move wins before the other has a turn.
    fn wins_at_once(&self, own: u64, enemy: u64) -> bool {
        let mut blocked = true;
        for (from, to) in Self::steps(own, enemy) {
            blocked = false;
            let after = own ^ (1 << from | 1 << to);
            if self.makes(to, after) || (self.blocked == Blocked::Loses && Self::is_blocked(enemy, after)) {
                return true;
            }
        }
        // Who is blocked removes a stone first.
        blocked && self.blocked == Blocked::Removal
    }

    /// Positions of the other side's turn after which the side to move has this one. No formation was made on the way.
    fn before(&self, own: u64, enemy: u64, mut found: impl FnMut(u64, u64)) {
        let empty = BOARD & !(own | enemy);
        for to in bits(enemy) {
            if self.makes(to, enemy) {
                continue;
            }
            for from in bits(neighbours(to) & empty) {
                found(enemy ^ (1 << from | 1 << to), own);
            }
        }
        if self.blocked == Blocked::Passes && Self::is_blocked(enemy, own) {
            found(enemy, own);
        }
    }

    /// Whether every way on leads to a win of the other side that is known already.
    fn is_lost(&self, own: u64, enemy: u64, index: &Index, found: &Found) -> bool {
        let lost = |own, enemy| found.code(index.number(enemy, own)) % 2 == 1;
        let mut blocked = true;
        for (from, to) in Self::steps(own, enemy) {
            blocked = false;
            if !lost(own ^ (1 << from | 1 << to), enemy) {
                return false;
            }
        }
        !blocked || (self.blocked == Blocked::Passes && lost(own, enemy))
    }
}

/// Positions between two looks at the stop flag.
const STRIDE: usize = 1 << 16;

/// The values of all positions, or `None` when stopped. `tell` hears now and then how many plies are done, and which part of the
/// next one in thousandths.
pub(super) fn make(
    ground: &Ground,
    index: &Index,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(u8, u16),
) -> Option<Found> {
    let mut found = Found::new(index.len());
    let part = |number: usize| (number as u64 * 1_000 / index.len() as u64) as u16;
    for number in 0..index.len() {
        if number % STRIDE == 0 {
            tell(0, part(number));
            if stop.load(Ordering::Relaxed) {
                return None;
            }
        }
        let (own, enemy) = index.position(number);
        if ground.wins_at_once(own, enemy) {
            found.set(number, 1);
        }
    }
    for plies in 1..Found::MOST {
        let mut any = false;
        if plies <= Found::EXACT {
            for number in 0..index.len() {
                if number % STRIDE == 0 {
                    tell(plies, part(number));
                    if stop.load(Ordering::Relaxed) {
                        return None;
                    }
                }
                if found.code(number) == plies {
                    any |= go_back(ground, index, &mut found, number, plies);
                }
            }
        } else {
            let late = usize::from(plies - Found::EXACT - 1);
            let numbers = std::mem::take(&mut found.late[late]);
            tell(plies, 0);
            for (n, &number) in numbers.iter().enumerate() {
                if n % STRIDE == 0 && stop.load(Ordering::Relaxed) {
                    return None;
                }
                any |= go_back(ground, index, &mut found, number as usize, plies);
            }
            found.late[late] = numbers;
        }
        if !any {
            break;
        }
    }
    Some(found)
}

/// From a position whose end is so many plies away to those before it: before a loss there is a win, before a win there may
/// be a loss. Whether there was any.
fn go_back(ground: &Ground, index: &Index, found: &mut Found, number: usize, plies: u8) -> bool {
    let (own, enemy) = index.position(number);
    let mut any = false;
    ground.before(own, enemy, |own, enemy| {
        let known = found.code(index.number(own, enemy)) != 0;
        if known || (plies % 2 == 1 && !ground.is_lost(own, enemy, index, found)) {
            return;
        }
        any = true;
        for image in index.images(own, enemy) {
            // Where both sides' stones have the same symmetry two images are one.
            if found.code(image) == 0 {
                found.set(image, plies + 1);
            }
        }
    });
    any
}
