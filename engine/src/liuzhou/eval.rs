//! Static evaluation.
//!
//! A tapered evaluation: every term has two weights, for the empty board with all stones in hand and for the moving phase,
//! interpolated by the stones in hand. [`each_term`] enumerates the terms of a position: the search sums their weights, and
//! `fit` fits the weights to games with the same enumeration.

use super::formations::ALL;
use super::rules::{Liuzhou, Phase, bits, neighbours};
use super::weights::Weights;
use super::{BOARD, FormationKind, LiuzhouSetup, POINTS, SIZE, STONES};
use crate::{Game, Side};

/// Number of live stones, as a table: 0 to 18.
pub(super) const STONES_LEFT: usize = 0;
/// Stones on each of the six classes of points under symmetry.
pub(super) const PLACES: usize = STONES_LEFT + 19;
/// Complete formations, by kind.
pub(super) const COMPLETE: usize = PLACES + 6;
/// Formations without enemy stones that lack one, two or three stones, by kind.
pub(super) const SHORT: usize = COMPLETE + KINDS;
/// Formations that lack one stone which an adjacent own stone could provide, by kind.
pub(super) const READY: usize = SHORT + 3 * KINDS;
/// The same if that stone is part of a complete formation.
pub(super) const SWING: usize = READY + KINDS;
/// Complete formations with a stone that can step out and back, by kind.
pub(super) const SHUTTLE: usize = SWING + KINDS;
/// Formations with an enemy stone on the last point.
pub(super) const HELD: usize = SHUTTLE + KINDS;
/// Stones in complete formations, which usually cannot be captured.
pub(super) const SAFE: usize = HELD + 1;
/// Mobility in the moving phase: empty points adjacent to own stones, counted per stone.
pub(super) const STEPS: usize = SAFE + 1;
/// Having no step, one, or two.
pub(super) const FEW_STEPS: usize = STEPS + 1;
/// Captures that are due.
pub(super) const DUE: usize = FEW_STEPS + 3;
/// Side to move.
pub(super) const TEMPO: usize = DUE + 1;
/// Number of terms.
pub(super) const TERMS: usize = TEMPO + 1;

const KINDS: usize = 6;

const fn kind_number(kind: FormationKind) -> usize {
    match kind {
        FormationKind::Six => 0,
        FormationKind::DiagonalFive => 1,
        FormationKind::DiagonalFour => 2,
        FormationKind::DiagonalThree => 3,
        FormationKind::Square => 4,
        FormationKind::EdgeSix => 5,
    }
}

/// The class of each point: by its distances from the edges, the smaller one first.
static PLACE: [u8; POINTS as usize] = {
    let mut table = [0; POINTS as usize];
    let mut n = 0;
    while n < POINTS {
        let (column, row) = (n % SIZE, n / SIZE);
        let across = if column < SIZE / 2 { column } else { SIZE - 1 - column };
        let up = if row < SIZE / 2 { row } else { SIZE - 1 - row };
        let (low, high) = if across < up { (across, up) } else { (up, across) };
        table[n as usize] = match (low, high) {
            (0, high) => high,
            (1, high) => 2 + high,
            _ => 5,
        };
        n += 1;
    }
    table
};

/// A formation as the evaluation uses it.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    points: u64,
    size: u32,
    kind: usize,
}

/// The formations that count with a setup.
pub(super) fn shapes(setup: &LiuzhouSetup) -> Vec<Shape> {
    ALL.iter()
        .filter(|formation| setup.captures(formation) > 0)
        .map(|formation| Shape {
            points: formation.points,
            size: formation.points.count_ones(),
            kind: kind_number(formation.kind),
        })
        .collect()
}

/// Maximum of stones in hand, the denominator of the interpolation.
pub(super) const HAND_MAX: i32 = 2 * STONES as i32;

/// Stones in hand of both sides.
pub(super) fn in_hand(game: &Liuzhou) -> i32 {
    let state = game.state();
    match state.phase {
        Phase::Placing => {
            let placed = (state.live[0] | state.live[1] | state.marked[0] | state.marked[1]).count_ones();
            HAND_MAX - placed as i32
        }
        Phase::Forced { .. } | Phase::Moving | Phase::Blocked { .. } => 0,
    }
}

/// Static evaluation for the side to move.
pub(super) fn evaluate(game: &Liuzhou, shapes: &[Shape], weights: &Weights) -> i32 {
    let (mut hand, mut moving) = (0, 0);
    each_term(game, shapes, |term, count| {
        let [a, b] = weights[term];
        hand += i32::from(a) * count;
        moving += i32::from(b) * count;
    });
    let share = in_hand(game);
    let value = (hand * share + moving * (HAND_MAX - share)) / HAND_MAX;
    if game.turn() == Side::First { value } else { -value }
}

/// Points adjacent to any of these.
const fn beside(set: u64) -> u64 {
    ((set & !RIGHT) << 1 | (set & !LEFT) >> 1 | set << SIZE | set >> SIZE) & BOARD
}

const LEFT: u64 = {
    let (mut set, mut row) = (0, 0);
    while row < SIZE {
        set |= 1 << (row * SIZE);
        row += 1;
    }
    set
};
const RIGHT: u64 = LEFT << (SIZE - 1);

/// Calls `add` with every term of the position and its count, positive for Black and negative for White.
pub(super) fn each_term(game: &Liuzhou, shapes: &[Shape], mut add: impl FnMut(usize, i32)) {
    let state = game.state();
    let empty = BOARD & !(state.live[0] | state.live[1] | state.marked[0] | state.marked[1]);
    for (side, sign) in [(Side::First, 1), (Side::Second, -1)] {
        let own = state.live[side.index()];
        // Points that block a formation: enemy stones, and marked stones until they are lifted.
        let others = BOARD & !(own | empty);
        add(STONES_LEFT + own.count_ones() as usize, sign);
        for point in bits(own) {
            add(PLACES + usize::from(PLACE[usize::from(point)]), sign);
        }
        let complete =
            shapes.iter().filter(|shape| shape.points & !own == 0).fold(0, |all, shape| all | shape.points);
        let room = beside(empty);
        for shape in shapes {
            let held = shape.points & others;
            let lacks = shape.size - (shape.points & own).count_ones();
            if held != 0 {
                if lacks == 1 {
                    add(HELD, sign);
                }
                continue;
            }
            match lacks {
                0 => {
                    add(COMPLETE + shape.kind, sign);
                    if shape.points & room != 0 {
                        add(SHUTTLE + shape.kind, sign);
                    }
                }
                1..=3 => {
                    add(SHORT + (lacks as usize - 1) * KINDS + shape.kind, sign);
                    if lacks == 1 {
                        let gap = shape.points & empty;
                        let movers = neighbours(gap.trailing_zeros() as u8) & own & !shape.points;
                        if movers != 0 {
                            add(READY + shape.kind, sign);
                        }
                        if movers & complete != 0 {
                            add(SWING + shape.kind, sign);
                        }
                    }
                }
                _ => {}
            }
        }
        let safe = complete.count_ones() as i32;
        if safe > 0 {
            add(SAFE, sign * safe);
        }
        let left = own & !LEFT;
        let right = own & !RIGHT;
        let steps = ((left >> 1) & empty).count_ones()
            + ((right << 1) & empty).count_ones()
            + ((own << SIZE) & empty).count_ones()
            + ((own >> SIZE) & empty).count_ones();
        add(STEPS, sign * steps as i32);
        if steps < 3 {
            add(FEW_STEPS + steps as usize, sign);
        }
    }
    let sign = if state.turn == Side::First { 1 } else { -1 };
    if state.due > 0 {
        add(DUE, sign * i32::from(state.due));
    }
    add(TEMPO, sign);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::liuzhou::LiuzhouSetup;
    use crate::liuzhou::fitted::FITTED;

    #[test]
    fn points_that_turning_makes_one_are_of_one_kind() {
        let counts = PLACE.iter().fold([0; 6], |mut counts, &kind| {
            counts[usize::from(kind)] += 1;
            counts
        });
        assert_eq!(counts, [4, 8, 8, 4, 8, 4]);
    }

    #[test]
    fn both_sides_are_judged_alike() {
        let setup = LiuzhouSetup::default();
        let shapes = shapes(&setup);
        for (line, turned) in [
            ("bb4/1bw3/6/b5/4ww/w4w b m 0 0 2", "ww4/1wb3/6/w5/4bb/b4b b m 0 0 2"),
            ("bb4/bbw3/2ww2/6/1w1w2/b5 b m 0 3 9", "ww4/wwb3/2bb2/6/1b1b2/w5 w m 0 3 9"),
        ] {
            let judge = |line: &str, side: Side| {
                let mut game = Liuzhou::from_position(&setup, line).expect("a position");
                if game.turn() != side {
                    game.skip();
                }
                evaluate(&game, &shapes, &FITTED)
            };
            assert_eq!(judge(line, Side::First), judge(turned, Side::Second), "{line}");
            assert_ne!(judge(line, Side::First), 0, "{line}");
        }
    }
}
