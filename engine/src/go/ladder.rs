//! Ladder reading: whether a chain with few liberties can be captured by successive ataris.

use super::stones::{PASS, Stones, Vertex, other};
use super::tactics::distinct_saving_moves;

/// Maximum number of positions per reading: a ladder across a whole 19 x 19 board takes about 80.
const MOST: u32 = 150;

/// Whether a chain in atari escapes if its side is to move.
pub(super) fn escapes<const N: usize, const W: usize>(stones: &Stones<N, W>, chain: Vertex) -> bool {
    runs(stones, chain, &mut 0)
}

/// An atari that captures a chain with two liberties; [`PASS`] if there is none.
pub(super) fn catch<const N: usize, const W: usize>(stones: &Stones<N, W>, chain: Vertex) -> Vertex {
    chase(stones, chain, &mut 0)
}

/// Whether a chain with two liberties is safe from a ladder if the enemy moves next.
pub(super) fn is_safe<const N: usize, const W: usize>(stones: &Stones<N, W>, chain: Vertex) -> bool {
    match stones.count(chain) {
        0 | 1 => false,
        2 => catch(stones, chain) == PASS,
        _ => true,
    }
}

/// A copy on the heap: a ladder across 19 x 19 holds about eighty boards of 33 kB at once, more than a thread's stack. Not
/// inlined, so that callers reserve no stack space for a board.
#[inline(never)]
#[expect(clippy::unnecessary_box_returns, reason = "a board that is returned would be on the caller's stack")]
fn copy<const N: usize, const W: usize>(stones: &Stones<N, W>) -> Box<Stones<N, W>> {
    Box::new(stones.clone())
}

fn runs<const N: usize, const W: usize>(stones: &Stones<N, W>, chain: Vertex, seen: &mut u32) -> bool {
    let colour = stones.cell(chain);
    // Extending succeeds more often than capturing.
    distinct_saving_moves(stones, chain).rev().any(|at| {
        *seen += 1;
        if *seen > MOST {
            // Beyond the limit: chains that take so long usually escape.
            return true;
        }
        let mut next = copy(stones);
        next.put(at, colour);
        match next.count(chain) {
            0 | 1 => false,
            2 => chase(&next, chain, seen) == PASS,
            _ => true,
        }
    })
}

fn chase<const N: usize, const W: usize>(stones: &Stones<N, W>, chain: Vertex, seen: &mut u32) -> Vertex {
    let hunter = other(stones.cell(chain));
    let mut moves = [PASS; 2];
    for (place, at) in moves.iter_mut().zip(stones.liberties(chain).iter()) {
        *place = at;
    }
    // Plays on the side where extending would give more liberties.
    if stones.liberties_after(moves[0], other(hunter)) < stones.liberties_after(moves[1], other(hunter)) {
        moves.swap(0, 1);
    }
    for at in moves {
        if !stones.is_legal(at, hunter) {
            continue;
        }
        *seen += 1;
        if *seen > MOST {
            return PASS;
        }
        let mut next = copy(stones);
        next.put(at, hunter);
        if next.count(chain) == 1 && !runs(&next, chain, seen) {
            return at;
        }
    }
    PASS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Point;
    use crate::go::stones::{BLACK, WHITE};

    /// White's stone `d4` is blocked on two sides; more stones by column and row.
    fn ladder(more: &[(u16, u16, u8)]) -> (Stones<128, 2>, Vertex) {
        let mut stones = Stones::new(9);
        let held = [(3, 3, WHITE), (2, 3, BLACK), (3, 2, BLACK), (4, 2, BLACK)];
        for &(column, row, colour) in held.iter().chain(more) {
            let at = stones.geometry.at(Point::new(column, row));
            stones.put(at, colour);
        }
        let chain = stones.geometry.at(Point::new(3, 3));
        (stones, chain)
    }

    #[test]
    fn a_ladder_catches_on_an_open_board() {
        let (mut stones, chain) = ladder(&[]);
        assert!(!is_safe(&stones, chain));
        let at = catch(&stones, chain);
        assert_eq!(stones.geometry.point(at), Point::new(3, 4));
        stones.put(at, BLACK);
        assert!(!escapes(&stones, chain));
    }

    #[test]
    fn a_stone_in_the_way_breaks_a_ladder() {
        let (stones, chain) = ladder(&[(6, 6, WHITE)]);
        assert!(is_safe(&stones, chain));
        let (stones, chain) = ladder(&[(6, 6, WHITE), (3, 4, BLACK)]);
        assert!(escapes(&stones, chain));
    }

    #[test]
    fn a_ladder_across_a_large_board_fits_on_a_small_stack() {
        let read = || {
            let mut stones = Stones::<448, 7>::new(19);
            for (column, row, colour) in [(3, 3, WHITE), (2, 3, BLACK), (3, 2, BLACK), (4, 2, BLACK)] {
                let at = stones.geometry.at(Point::new(column, row));
                stones.put(at, colour);
            }
            catch(&stones, stones.geometry.at(Point::new(3, 3))) != PASS
        };
        let reader = std::thread::Builder::new().stack_size(256 << 10).spawn(read).expect("a thread starts");
        assert!(reader.join().expect("it fits"));
    }

    #[test]
    fn the_rules_read_the_same_ladders_as_the_playouts_board() {
        use crate::go::Go;
        use crate::reasons;
        use crate::threats::chain;
        use crate::{Action, Game as _, Rng, Side};

        let mut rng = Rng::new(5);
        let mut read = 0;
        for _ in 0..60 {
            let setup = crate::go::GoSetup { size: 9, ..Default::default() };
            let mut go = Go::new(&setup).expect("a board");
            for _ in 0..70 {
                let mut moves = Vec::new();
                go.legal_moves(&mut moves);
                let places: Vec<_> =
                    moves.into_iter().filter(|&mv| matches!(Go::action(mv), Action::Place(_))).collect();
                let Some(&mv) = places.get(rng.below(places.len().max(1) as u32) as usize) else { break };
                go.play(mv);
                let mut stones = Stones::<128, 2>::new(9);
                for at in crate::game::points(9, 9) {
                    if let Some(side) = go.at(at) {
                        let colour = if side == Side::First { BLACK } else { WHITE };
                        stones.put(stones.geometry.at(at), colour);
                    }
                }
                // The playouts' board was set up without a ko.
                if go.position().split(' ').nth(2) != Some("-") {
                    continue;
                }
                for at in crate::game::points(9, 9).filter(|&at| go.at(at) == Some(go.turn())) {
                    if chain(&go, at).1.len() == 1 {
                        read += 1;
                        let by_rules = reasons::go::escapes(&go, at, &mut 0);
                        assert_eq!(
                            by_rules,
                            escapes(&stones, stones.geometry.at(at)),
                            "{at} in {}",
                            go.position()
                        );
                    }
                }
            }
        }
        assert!(read > 500, "{read} chains in atari");
    }

    #[test]
    fn taking_a_chaser_breaks_a_ladder() {
        let (stones, chain) = ladder(&[(1, 3, WHITE), (2, 2, WHITE)]);
        assert!(is_safe(&stones, chain));
    }
}
