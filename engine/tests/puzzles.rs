//! The built-in puzzles, proven again by the engine: a seventh of each set, selected by the seed; `make night` proves all.

#[path = "../../tests/src/seed.rs"]
mod seed;

use std::collections::HashSet;

use engine::puzzles::{self, Attempt, Puzzle, Verdict};
use engine::{Action, AnyGame, GameKind, Language};

/// Node limit for the proof of one puzzle; the largest proof so far needed a tenth.
const NODES: u64 = 3_000_000;

/// One in this many puzzles is proven in a quick run.
const STEP: usize = 7;

fn all() -> impl Iterator<Item = &'static Puzzle> {
    GameKind::ALL.iter().flat_map(|&kind| puzzles::all(kind))
}

/// Which puzzles of each set are proven: different ones in each CI run.
fn sample() -> impl Iterator<Item = &'static Puzzle> {
    let first = seed::begin("puzzles", 0) as usize % STEP;
    GameKind::ALL.iter().flat_map(move |&kind| puzzles::all(kind).iter().skip(first).step_by(STEP))
}

#[test]
fn every_game_has_a_hundred_puzzles_of_which_no_two_are_alike() {
    for &kind in GameKind::ALL {
        let all = puzzles::all(kind);
        assert!(all.len() >= 100, "{} has {}", kind.word(), all.len());
        let shapes: HashSet<u64> = all.iter().map(Puzzle::shape).collect();
        let ids: HashSet<&str> = all.iter().map(|puzzle| puzzle.id.as_str()).collect();
        assert_eq!((shapes.len(), ids.len()), (all.len(), all.len()), "{}", kind.word());
        let grades: HashSet<u32> = all.iter().map(Puzzle::grade).collect();
        assert!(grades.len() >= 2 && grades.iter().all(|grade| (1..=5).contains(grade)), "{grades:?}");
        assert!(all.is_sorted_by_key(Puzzle::grade), "the easier ones come first");
    }
}

#[test]
fn a_puzzle_is_written_as_it_is_read_and_found_by_its_id() {
    for puzzle in all() {
        let again = Puzzle::read(puzzle.kind(), &puzzle.write()).expect("it was written by us");
        assert_eq!((&again.id, again.write()), (&puzzle.id, puzzle.write()));
        assert_eq!(puzzles::find(&puzzle.id).map(|found| found.write()), Some(puzzle.write()));
        for language in [Language::Chinese, Language::English] {
            assert!(!puzzle.words(language).is_empty());
        }
    }
    for line in ["", "fours", "fours x h8 15 b", "mate 2 h8 15/15 b", "fours 99999 h8 15 b"] {
        assert!(Puzzle::read(GameKind::Gomoku, line).is_err(), "{line}");
    }
    assert!(puzzles::find("gomoku-00000000").is_none() && puzzles::find("daily-x").is_none());
}

fn is_proven(puzzle: &Puzzle) {
    assert_eq!(puzzle.verify(NODES), Ok(()), "{}", puzzle.write());
}

fn is_solved_by_its_hints(puzzle: &Puzzle) {
    let mut attempt = Attempt::new(puzzle.clone());
    let mut own = 0;
    loop {
        let hint = attempt.hint().expect("it goes on");
        own += u32::from(!matches!(hint, Action::Capture(_)));
        match attempt.act(hint).expect("a hint is legal") {
            Verdict::Solved => break,
            Verdict::Onward(_) => {}
            Verdict::Wrong(answers) => panic!("{}: {hint} is answered by {answers:?}", puzzle.write()),
        }
    }
    assert!(own <= puzzle.moves, "{}", puzzle.write());
    assert_eq!(attempt.end(), Some(true));
    assert!(attempt.hint().is_none());
}

/// Presses of lights commute: another first move is not wrong there.
fn knows_a_wrong_first_move(puzzle: &Puzzle) {
    let legal = puzzle.start.legal_actions();
    let Some(&other) = legal.iter().find(|action| **action != puzzle.solution) else { return };
    let mut attempt = Attempt::new(puzzle.clone());
    let verdict = attempt.act(other).expect("it is legal");
    assert!(matches!(verdict, Verdict::Wrong(_)), "{}: {other:?} {verdict:?}", puzzle.write());
    assert!(attempt.act(puzzle.solution).is_err(), "the try is over");
    assert!(attempt.take_back());
    assert_eq!((attempt.end(), attempt.left(), attempt.line().len()), (None, puzzle.moves, 0));
    assert_eq!(attempt.game().key(), puzzle.start.key());
    assert!(matches!(attempt.act(puzzle.solution), Ok(Verdict::Solved | Verdict::Onward(_))));
}

#[test]
fn the_goal_is_reached_in_as_many_moves_as_it_says_and_by_one_first_move_only() {
    sample().for_each(is_proven);
}

#[test]
fn following_the_hints_solves_it_against_the_best_defence_and_no_move_more_is_needed() {
    sample().for_each(is_solved_by_its_hints);
}

#[test]
fn another_first_move_is_wrong_and_can_be_taken_back() {
    sample().filter(|puzzle| puzzle.kind() != GameKind::LightsOut).for_each(knows_a_wrong_first_move);
}

#[test]
#[ignore = "half a minute: make night"]
fn every_puzzle_is_proven_is_solved_by_its_hints_and_knows_a_wrong_first_move() {
    all().for_each(is_proven);
    all().for_each(is_solved_by_its_hints);
    all().filter(|puzzle| puzzle.kind() != GameKind::LightsOut).for_each(knows_a_wrong_first_move);
}

#[test]
fn every_day_has_a_board_of_lights_of_its_own() {
    let days: Vec<Puzzle> = (20_000..20_030).map(puzzles::daily).collect();
    assert_eq!(days.iter().map(Puzzle::shape).collect::<HashSet<_>>().len(), days.len());
    for puzzle in &days {
        assert_eq!(puzzle.verify(0), Ok(()));
        assert!(puzzle.is_daily());
        assert_eq!(puzzles::find(&puzzle.id).map(|found| found.write()), Some(puzzle.write()));
        assert!(matches!(puzzle.start, AnyGame::LightsOut(_)));
    }
}

#[test]
fn the_same_seed_makes_the_same_puzzles() {
    let made = |kind| -> Vec<String> {
        puzzles::make(kind, 3, 7, &mut |_| true).iter().map(Puzzle::write).collect()
    };
    for kind in [GameKind::Xiangqi, GameKind::LightsOut] {
        let once = made(kind);
        assert_eq!((once.len(), &once), (3, &made(kind)));
    }
}
