//! Computation of an endgame table by retrograde analysis.

use std::sync::atomic::{AtomicBool, Ordering};

use super::super::rules::neighbours;
use super::super::{BOARD, Blocked};
use super::bits;
use super::index::Index;
use super::table::Found;

/// The rules that matter when the next capture ends the game.
pub(super) struct Ground {
    pub(super) blocked: Blocked,
    /// The formations that count and can be made with this many stones.
    pub(super) formations: Vec<u64>,
}

impl Ground {
    /// Whether a stone that has moved to this point makes a formation.
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

    /// Whether the side to move wins with its next move.
    fn wins_at_once(&self, own: u64, enemy: u64) -> bool {
        let mut blocked = true;
        for (from, to) in Self::steps(own, enemy) {
            blocked = false;
            let after = own ^ (1 << from | 1 << to);
            if self.makes(to, after) || (self.blocked == Blocked::Loses && Self::is_blocked(enemy, after)) {
                return true;
            }
        }
        // A blocked side removes a stone first.
        blocked && self.blocked == Blocked::Removal
    }

    /// Predecessors: positions of the other side's turn from which a step without a formation leads to this one.
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

    /// Whether every move leads to a known win of the other side.
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

/// Positions between two checks of the stop flag.
const STRIDE: usize = 1 << 16;

/// The values of all positions; `None` if stopped. `tell` gets the number of finished plies, and the progress of the next
/// one in thousandths.
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

/// Processes the predecessors of a position with this distance to the end: predecessors of a loss are wins, predecessors of
/// a win may be losses. Returns whether any value was new.
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
            // If both sides' stones have the same symmetry, two images can be equal.
            if found.code(image) == 0 {
                found.set(image, plies + 1);
            }
        }
    });
    any
}
