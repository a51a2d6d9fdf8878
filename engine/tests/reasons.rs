//! Reasons for mistakes: each motif on its own positions, with near misses, evaluated by the search.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::reasons::{Mistake, Motif, Reason, reason};
use engine::{AnyGame, GameKind, Limits, Report, Tier, bot};

/// Node limit; for Go: playouts.
fn nodes(kind: GameKind) -> u64 {
    if kind == GameKind::Go { 400 } else { 20_000 }
}

fn at(kind: GameKind, line: &str) -> AnyGame {
    AnyGame::from_position(&kind.default_setup_for(line), line).expect("a position")
}

fn judged(game: &AnyGame) -> Report {
    let (stop, elapsed) = (AtomicBool::new(false), || Duration::ZERO);
    let limits =
        Limits { time: None, nodes: Some(nodes(game.kind())), depth: None, stop: &stop, elapsed: &elapsed };
    bot(game.kind(), Tier::MAX, 1).judge(game, &limits).expect("the game goes on")
}

/// The reason why this move was a mistake in this position.
fn why(before: &AnyGame, played: &str) -> Option<Reason> {
    let played = before.parse(played).expect("a move");
    let mut after = before.clone();
    after.act(played).expect("a legal move");
    let (better, reply) = (judged(before), judged(&after));
    reason(&Mistake { before, played, better: &better, reply: &reply })
}

fn motif(before: &AnyGame, played: &str) -> Option<Motif> {
    why(before, played).map(|reason| reason.motif)
}

fn said(before: &AnyGame, played: &str) -> String {
    let [chinese, english] = why(before, played).expect("a reason").words;
    assert!(!chinese.is_ascii(), "{chinese}");
    english
}

#[test]
fn in_gomoku_a_five_that_was_not_blocked_or_not_made_and_fours_in_a_row_are_told() {
    // White has a four with one open end at j8.
    let four = at(GameKind::Gomoku, "15/15/15/15/15/15/15/4bwwww6/15/15/15/15/15/15/b5b7b b");
    assert_eq!(said(&four, "a15"), "White wins at once with J8: that had to be stopped.");
    // The same, but Black has four of its own with an open end at j3.
    let both = at(GameKind::Gomoku, "15/15/15/15/15/15/15/4bwwww6/15/15/15/15/4wbbbb6/15/15 b");
    assert_eq!(said(&both, "j8"), "Black could win at once with J3.");
    // An open three of White is ignored.
    let three = at(GameKind::Gomoku, "15/15/15/15/15/15/15/5www7/15/15/15/15/15/15/b5b7b b");
    assert_eq!(motif(&three, "a15"), Some(Motif::LosesByForce));
    assert!(said(&three, "a15").starts_with("White wins by fours in 2 moves"), "{}", said(&three, "a15"));
}

#[test]
fn in_xiangqi_mates_hanging_pieces_forks_and_missed_captures_are_told() {
    // The horse can go where the chariot captures it, or stay out of its reach.
    let horse = at(GameKind::Xiangqi, "3k5/9/9/9/9/9/9/r8/9/3AKA1N1 w");
    assert_eq!(said(&horse, "h0g2"), "Red's horse on file 3 is not guarded and falls.");
    // One chariot is on the rank below the general: the other one mates.
    let mate = at(GameKind::Xiangqi, "4k4/R8/9/9/9/9/9/9/9/1R1K5 w");
    assert_eq!(motif(&mate, "d0d1"), Some(Motif::MissedWin));
    let let_in = at(GameKind::Xiangqi, "4k4/R8/9/9/p8/9/9/9/9/1R1K5 b");
    assert_eq!(motif(&let_in, "a5a4"), Some(Motif::LosesAtOnce));
    // The black horse comes to f2 with check, and beside it the chariot on h3 is attacked.
    let fork = at(GameKind::Xiangqi, "3k5/9/9/9/9/4n4/P6R1/9/9/4K4 w");
    assert_eq!(motif(&fork, "a3a4"), Some(Motif::Fork));
    assert!(said(&fork, "a3a4").ends_with("Red's chariot on file 2 falls."), "{}", said(&fork, "a3a4"));
    // An unprotected chariot could be captured.
    let cannon = at(GameKind::Xiangqi, "3ak4/9/9/9/c6R1/9/9/9/9/3K5 w");
    assert_eq!(motif(&cannon, "d0d1"), Some(Motif::MissedCapture));
}

#[test]
fn in_go_ataris_snapbacks_and_ladders_are_told() {
    // Two black stones with one liberty at e6; White captures them if Black plays elsewhere.
    let atari = at(GameKind::Go, "9/9/3ww4/2wbb4/3ww4/9/9/9/9 b");
    assert_eq!(motif(&atari, "A1"), Some(Motif::Atari));
    let capture = at(GameKind::Go, "9/9/3ww4/2wbb4/3ww4/9/9/9/9 w");
    assert_eq!(motif(&capture, "A1"), Some(Motif::MissedAtari));
    // Black's stone at C1 is captured at D1, and then the five white stones are.
    let thrown_in = at(GameKind::Go, "9/9/9/9/9/9/1bbb5/bwwwb4/bwb1b4 w");
    assert_eq!(said(&thrown_in, "D1"), "This takes 1, and a snapback captures 5.");
    let ladder = at(GameKind::Go, "9/9/9/9/3b5/2bww4/3bb4/9/9 w");
    assert_eq!(motif(&ladder, "A9"), Some(Motif::Ladder));
}

#[test]
fn in_liuzhou_chess_a_formation_that_was_not_prevented_or_not_made_is_told() {
    // Three corners of a square, and a neighbour that can step into the fourth.
    let position = |turn| at(GameKind::Liuzhou, &format!("w1w1w1/6/1w1w1b/6/bb2ww/b1b1w1 {turn} m 0 0 0"));
    assert_eq!(motif(&position("w"), "a6b6"), Some(Motif::Formation));
    assert_eq!(motif(&position("b"), "f4f5"), Some(Motif::MissedFormation));
    // Without the neighbour nothing is threatened.
    let none = at(GameKind::Liuzhou, "w1w1w1/6/1w1w1b/6/bb2ww/b3w1 w m 0 0 0");
    assert_ne!(motif(&none, "a6b6"), Some(Motif::Formation));
}
