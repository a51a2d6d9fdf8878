//! Turning points of a match: moves that made the mover's position much worse.

use proto::board::Side;
use proto::control::Judgement;

/// Minimum loss by one move for a turning point, of 2,000 between a sure win and a sure loss.
const LEAST_FALL: i32 = 350;
/// Maximum number of turning points per match; the largest losses are kept.
const MOST: usize = 6;

/// A turning point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TurningPoint {
    /// Number of actions in the record up to and including the move.
    pub(super) ply: usize,
    pub(super) side: Side,
    /// Winning chance of the mover before and after the move, in percent.
    pub(super) before: i32,
    pub(super) after: i32,
}

/// The turning points in order of play. `judged`: the evaluation of each position from the start of the record on.
pub(super) fn turning_points(judged: &[Judgement]) -> Vec<TurningPoint> {
    let mut falls: Vec<(i32, TurningPoint)> = judged
        .windows(2)
        .enumerate()
        .filter_map(|(before, pair)| {
            let side = pair[0].turn();
            let sign = match side {
                Side::First => 1,
                Side::Second => -1,
                Side::Unspecified => return None,
            };
            let [was, is] = [sign * pair[0].permille, sign * pair[1].permille];
            let percent = |permille: i32| (permille + 1_000 + 10) / 20;
            let point = TurningPoint { ply: before + 1, side, before: percent(was), after: percent(is) };
            (was - is >= LEAST_FALL).then_some((was - is, point))
        })
        .collect();
    falls.sort_by_key(|(fall, point)| (-fall, point.ply));
    falls.truncate(MOST);
    let mut points: Vec<TurningPoint> = falls.into_iter().map(|(_, point)| point).collect();
    points.sort_by_key(|point| point.ply);
    points
}

/// The nearest turning point before or after this position; `None` if there is none.
pub(super) fn beside(points: &[TurningPoint], ply: usize, forward: bool) -> Option<usize> {
    if forward {
        points.iter().map(|point| point.ply).find(|&at| at > ply)
    } else {
        points.iter().map(|point| point.ply).rfind(|&at| at < ply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Positions with alternating turns, evaluated for the first side.
    fn judged(permille: &[i32]) -> Vec<Judgement> {
        let sides = [Side::First, Side::Second].into_iter().cycle();
        let judgement =
            |(&permille, side): (&i32, Side)| Judgement { permille, turn: side.into(), ..Default::default() };
        permille.iter().zip(sides).map(judgement).collect()
    }

    #[test]
    fn a_turning_point_is_a_move_that_cost_whoever_made_it_much() {
        // The first side loses much with its second move; the second side gives it back with its third.
        let points = turning_points(&judged(&[0, 50, 0, -600, -650, -700, 300]));
        let of = |point: &TurningPoint| (point.ply, point.side, point.before, point.after);
        assert_eq!(
            points.iter().map(of).collect::<Vec<_>>(),
            [(3, Side::First, 50, 20), (6, Side::Second, 85, 35)]
        );
    }

    #[test]
    fn a_move_that_was_better_than_expected_is_none() {
        assert_eq!(turning_points(&judged(&[-500, 400, 400])), []);
    }

    #[test]
    fn of_many_the_worst_are_told_in_the_order_of_the_match() {
        let mut permille = Vec::new();
        for fall in [400, 900, 500, 800, 600, 700, 450, 1_000] {
            permille.extend([500, 500 - fall]);
        }
        let plies: Vec<usize> = turning_points(&judged(&permille)).iter().map(|point| point.ply).collect();
        assert_eq!(plies, [3, 4, 7, 8, 11, 15], "the six largest falls, of either side");
    }

    #[test]
    fn the_next_and_the_one_before_are_found_from_anywhere() {
        let points = turning_points(&judged(&[0, 50, 0, -600, -650, -700, 300]));
        assert_eq!(
            [(0, true), (3, true), (6, true)].map(|(at, on)| beside(&points, at, on)),
            [Some(3), Some(6), None]
        );
        assert_eq!(
            [(7, false), (6, false), (3, false)].map(|(at, on)| beside(&points, at, on)),
            [Some(6), Some(3), None]
        );
    }
}
