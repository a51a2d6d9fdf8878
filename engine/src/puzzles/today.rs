//! Which puzzles are offered: today's five, and the next one, near the player's rating.

use std::collections::BTreeSet;

use super::{Puzzle, all};
use crate::glicko::Glicko;
use crate::{GameKind, Rng};

/// Number of today's puzzles of a game.
pub const FIVE: usize = 5;
/// So many of them at most are ones that are due again.
const DUE: usize = 2;
/// They are drawn among so many that are nearest to the rating.
const NEAREST: usize = 15;

/// The rating of a puzzle that nobody has tried: by its difficulty and its length.
pub fn presumed(puzzle: &Puzzle) -> Glicko {
    let grade = f64::from(puzzle.grade());
    Glicko::new(700.0 + 300.0 * grade + 10.0 * f64::from(puzzle.moves.min(10)), 150.0)
}

/// Today's five of a game, easier ones first, those that are due before them: the same for the same arguments. `made`: further puzzles
/// of the game, besides the built-in set. `day`: counted from 1 January 1970. `player`: the player's rating. `due`: what is due, the
/// longest first. `solved`: what is only drawn where nothing else is left. `rated`: ratings of puzzles that were tried.
pub fn five(
    kind: GameKind,
    made: &[Puzzle],
    day: u32,
    player: f64,
    due: &[String],
    solved: impl Fn(&Puzzle) -> bool,
    rated: impl Fn(&Puzzle) -> f64,
) -> Vec<String> {
    let mut chosen: Vec<String> = due.iter().take(DUE).cloned().collect();
    let taken: BTreeSet<&str> = due.iter().map(String::as_str).collect();
    let mut near: Vec<&Puzzle> =
        all(kind).iter().chain(made).filter(|puzzle| !taken.contains(puzzle.id.as_str())).collect();
    let far = |puzzle: &&Puzzle| (rated(puzzle) - player).abs();
    near.sort_by(|one, other| solved(one).cmp(&solved(other)).then(far(one).total_cmp(&far(other))));
    near.truncate(NEAREST);
    // Solved ones are drawn after all others.
    let open = near.iter().take_while(|puzzle| !solved(puzzle)).count();
    let mut rng = Rng::new(0x6669_7665 ^ (u64::from(day) << 8) ^ kind as u64);
    let (fresh, again) = near.split_at_mut(open);
    rng.shuffle(fresh);
    rng.shuffle(again);
    near.truncate(FIVE.saturating_sub(chosen.len()));
    near.sort_by(|one, other| rated(one).total_cmp(&rated(other)));
    chosen.extend(near.into_iter().map(|puzzle| puzzle.id.clone()));
    chosen
}

/// The unsolved puzzle of a game that is nearest to the player's rating; of equally near ones the first of the built-in set, then of
/// `made`.
pub fn nearest(
    kind: GameKind,
    made: &[Puzzle],
    player: f64,
    solved: impl Fn(&Puzzle) -> bool,
    rated: impl Fn(&Puzzle) -> f64,
) -> Option<&Puzzle> {
    let far = |puzzle: &Puzzle| (rated(puzzle) - player).abs();
    let open = all(kind).iter().chain(made).filter(|puzzle| !solved(puzzle));
    open.min_by(|one, other| far(one).total_cmp(&far(other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rated(puzzle: &Puzzle) -> f64 {
        presumed(puzzle).rating
    }

    fn of(kind: GameKind, day: u32, player: f64) -> Vec<String> {
        five(kind, &[], day, player, &[], |_| false, rated)
    }

    #[test]
    fn puzzles_that_were_made_are_offered_as_those_of_the_set() {
        let kind = GameKind::LightsOut;
        let made = super::super::make(kind, 3, 9, &mut |_| true);
        let of_the_set = |one: &Puzzle| all(kind).iter().any(|puzzle| puzzle.id == one.id);
        assert!(made.len() == 3 && !made.iter().any(of_the_set));
        for one in &made {
            let solved = |other: &Puzzle| other.id != one.id;
            assert_eq!(nearest(kind, &made, 1000.0, solved, rated).map(|next| &next.id), Some(&one.id));
            assert!(nearest(kind, &[], 1000.0, solved, rated).is_none());
        }
        let only = five(kind, &made, 1, 1000.0, &[], of_the_set, rated);
        assert!(made.iter().all(|one| only.contains(&one.id)), "{only:?}");
    }

    #[test]
    fn five_are_the_same_all_day_others_tomorrow_and_near_the_rating() {
        for &kind in GameKind::ALL {
            for player in [700.0, 1200.0, 1700.0, 2400.0] {
                let today = of(kind, 20_000, player);
                assert_eq!(today, of(kind, 20_000, player));
                assert_eq!(today.iter().collect::<BTreeSet<_>>().len(), FIVE, "{kind:?}");
                let days: BTreeSet<_> = (20_000..20_010).map(|day| of(kind, day, player)).collect();
                assert!(days.len() >= 9, "{kind:?}: {}", days.len());
                let mut distances: Vec<f64> =
                    all(kind).iter().map(|one| (rated(one) - player).abs()).collect();
                distances.sort_by(f64::total_cmp);
                for id in today {
                    let puzzle = crate::puzzles::find(&id).expect("of the set");
                    assert!((rated(&puzzle) - player).abs() <= distances[NEAREST - 1], "{kind:?} {id}");
                }
            }
        }
    }

    #[test]
    fn what_is_due_comes_first_and_leaves_room_for_new_ones() {
        let due: Vec<String> = ["yours-1", "yours-2", "yours-3"].map(String::from).into();
        let today = five(GameKind::Gomoku, &[], 1, 1000.0, &due, |_| false, rated);
        assert_eq!((&today[..2], today.len()), (&due[..2], FIVE));
        assert!(today[2..].iter().all(|id| id.starts_with("gomoku-")));
        // A puzzle of the set that is due is not drawn once more.
        let own = vec![of(GameKind::Gomoku, 1, 1000.0)[3].clone()];
        let today = five(GameKind::Gomoku, &[], 1, 1000.0, &own, |_| false, rated);
        assert_eq!((&today[0], today.iter().collect::<BTreeSet<_>>().len()), (&own[0], FIVE));
    }

    #[test]
    fn solved_puzzles_are_drawn_only_where_nothing_else_is_left() {
        let (kind, set) = (GameKind::Go, all(GameKind::Go));
        let left: BTreeSet<&str> = [3, 40, 90].map(|at| set[at].id.as_str()).into();
        let today = five(kind, &[], 7, 1500.0, &[], |one| !left.contains(one.id.as_str()), rated);
        assert_eq!(today.len(), FIVE);
        assert!(left.iter().all(|id| today.contains(&(*id).to_owned())), "{today:?}");
        assert_eq!(
            five(kind, &[], 7, 1500.0, &[], |_| true, rated).len(),
            FIVE,
            "a set that is through goes on"
        );
    }

    #[test]
    fn the_next_puzzle_is_the_nearest_unsolved_one_and_a_novices_is_the_first() {
        for &kind in GameKind::ALL {
            let novice = Glicko::novice().rating;
            assert_eq!(
                nearest(kind, &[], novice, |_| false, rated).map(|one| &one.id),
                Some(&all(kind)[0].id)
            );
            // One after another is solved.
            let far = |puzzle: &Puzzle| (rated(puzzle) - 2200.0).abs();
            let mut solved = BTreeSet::new();
            for _ in 0..20 {
                let next = nearest(kind, &[], 2200.0, |one| solved.contains(&one.id), rated).expect("some");
                let mut open = all(kind).iter().filter(|one| !solved.contains(&one.id));
                assert!(open.clone().all(|one| far(next) <= far(one)), "{}", next.id);
                let first = open.find(|one| far(one) <= far(next)).expect("some");
                assert_eq!(next.id, first.id, "of equally near ones the first");
                assert!(solved.insert(next.id.clone()), "{} is solved", next.id);
            }
            assert!(nearest(kind, &[], novice, |_| true, rated).is_none());
        }
    }
}
