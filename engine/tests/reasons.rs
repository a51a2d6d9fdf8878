//! Reasons for mistakes: each motif on its own positions, with near misses, evaluated by the search.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::reasons::{Mistake, Motif, Reason, complete, reason};
use engine::{AnyGame, GameKind, Limits, Report, Score, Side, Tier, bot};

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
    let (mut better, mut reply) = (judged(before), judged(&after));
    complete(before, &mut better, |game| Some(judged(game)));
    complete(&after, &mut reply, |game| Some(judged(game)));
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
    assert_eq!(motif(&three, "a15"), Some(Motif::OpenFour));
    assert!(
        said(&three, "a15").starts_with("It was not stopped: White makes an open four at "),
        "{}",
        said(&three, "a15")
    );
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
fn a_pinned_piece_and_what_falls_a_few_moves_later_are_told() {
    let pinned =
        at(GameKind::Xiangqi, "3akrb2/4a2R1/b1n1c4/p1p5C/1r2p1p1p/P1P6/1c2P1P1P/1RN1C3B/4A4/2B1KA3 b");
    assert_eq!(
        said(&pinned, "e7d7"),
        "Red plays C1+3: Black's chariot on file 6 is pinned to its general and falls."
    );
    let better = pinned.notation(judged(&pinned).line[0]);
    assert_ne!(motif(&pinned, &better), Some(Motif::Pin), "{better} prevents it");
    let at_hand =
        at(GameKind::Xiangqi, "2bakrbR1/4a4/2n1c4/p1p5C/1r2p1p1p/P1P6/1c2P1P1P/1RN1C3B/4A4/2B1KA3 w");
    assert_eq!(motif(&at_hand, "h9h3"), Some(Motif::MissedMaterial));
    assert_ne!(motif(&at_hand, "i6i9"), Some(Motif::MissedMaterial), "it was played");
    let stones = at(GameKind::Liuzhou, "6/3b2/3b1b/1wb3/1ww3/6 w p 0 0 0");
    assert_eq!(motif(&stones, "e1"), Some(Motif::LosesMaterial));
    let at_hand = at(GameKind::Liuzhou, "6/3b2/3b1b/1wb3/1ww3/4w1 b p 0 0 0");
    assert_eq!(motif(&at_hand, "c1"), Some(Motif::MissedMaterial));
}

#[test]
fn in_gomoku_a_vital_point_an_attack_and_a_prepared_double_threat_are_told() {
    let vital = at(GameKind::Gomoku, "15/15/15/15/15/8b6/9b5/7bw6/7w7/15/15/15/15/15/15 w");
    assert_eq!(said(&vital, "k8"), "Both sides want J10, and after this Black takes it.");
    assert_ne!(motif(&vital, "j10"), Some(Motif::VitalPoint), "it was taken");
    let attack = at(GameKind::Gomoku, "15/15/15/8w6/9bw4/10b4/11b3/15/15/15/15/15/15/15/15 w");
    assert_eq!(said(&attack, "l11"), "After this Black attacks with a four at M8.");
    let prepared = at(GameKind::Gomoku, "15/15/15/15/15/15/15/6w8/7bw6/8b6/9bw4/15/15/15/15 b");
    let said = said(&prepared, "i4");
    assert!(said.starts_with("Black could begin with J6: move 5 at H6 makes "), "{said}");
    let names = ["an open four.", "two fours.", "a four and a three.", "two open threes."];
    assert!(names.iter().any(|name| said.ends_with(name)), "{said}");
}

/// Pieces of both sides in a position of xiangqi, by their letters.
fn pieces(game: &AnyGame) -> BTreeMap<char, i32> {
    let mut count = BTreeMap::new();
    for letter in
        game.position().split(' ').next().expect("a board").chars().filter(char::is_ascii_alphabetic)
    {
        *count.entry(letter).or_default() += 1;
    }
    count
}

/// "2 soldiers and a horse" as letters of a side.
fn letters(said: &str, red: bool) -> BTreeMap<char, i32> {
    const LETTERS: [(&str, char); 6] = [
        ("adviser", 'a'),
        ("elephant", 'b'),
        ("horse", 'n'),
        ("chariot", 'r'),
        ("cannon", 'c'),
        ("soldier", 'p'),
    ];
    let mut count = BTreeMap::new();
    for part in said.replace(" and ", ", ").split(", ") {
        let (number, name) = part.split_once(' ').expect("a number and a name");
        let letter = LETTERS.iter().find(|(word, _)| name.trim_end_matches('s') == *word).expect(name).1;
        let letter = if red { letter.to_ascii_uppercase() } else { letter };
        count.insert(letter, number.parse().unwrap_or(1));
    }
    count
}

#[test]
fn pieces_that_a_reason_names_are_gone_from_a_position_of_the_line() {
    let (mut told, mut bots) =
        (0, Side::BOTH.map(|side| bot(GameKind::Xiangqi, Tier::new(2).expect("one"), side.index() as u64)));
    let mut judge = bot(GameKind::Xiangqi, Tier::MAX, 1);
    let (stop, elapsed) = (AtomicBool::new(false), || Duration::ZERO);
    let limits =
        |nodes| Limits { time: None, nodes: Some(nodes), depth: None, stop: &stop, elapsed: &elapsed };
    let mut game = AnyGame::new(&GameKind::Xiangqi.default_setup()).expect("a game");
    let mut better = judge.judge(&game, &limits(3_000)).expect("a move");
    while game.outcome().is_none() && game.ply() < 80 {
        let before = game.clone();
        let bot = bots[game.turn().index()].as_mut();
        let played = bot.choose(&game, &limits(300), &mut |_| {}).expect("a move").line[0];
        game.act(played).expect("legal");
        let Some(mut reply) = judge.judge(&game, &limits(3_000)) else { break };
        let next = reply.clone();
        complete(&before, &mut better, |game| judge.judge(game, &limits(1_000)));
        complete(&game, &mut reply, |game| judge.judge(game, &limits(1_000)));
        let found = reason(&Mistake { before: &before, played, better: &better, reply: &reply });
        if let Some(Reason {
            motif: motif @ (Motif::LosesMaterial | Motif::MissedMaterial),
            words: [_, words],
            ..
        }) = found
        {
            told += 1;
            let red = before.turn() == Side::First;
            let end = words.find(" within ").or_else(|| words.find(" at once")).expect("when");
            let verb = if motif == Motif::LosesMaterial { " loses " } else { " wins " };
            let named = &words[words.find(verb).expect("a verb") + verb.len()..end];
            let (first, second) = named.split_once(" for ").unwrap_or((named, ""));
            let own = motif == Motif::LosesMaterial;
            // Of the first named side, and what is captured for it.
            let mut wanted = letters(first, red == own);
            if !second.is_empty() {
                wanted.extend(letters(second, red != own));
            }
            let mut line = game.clone();
            let actions = if own {
                reply.line.clone()
            } else {
                line = before.clone();
                better.line.clone()
            };
            let all = pieces(&before);
            let is_so = |game: &AnyGame| {
                let now = pieces(game);
                // Equal pieces of both sides cancel in the sentence.
                all.keys().filter(|letter| letter.is_ascii_uppercase()).all(|letter| {
                    let of = |letter: &char| {
                        let gone = all.get(letter).unwrap_or(&0) - now.get(letter).unwrap_or(&0);
                        gone - wanted.get(letter).unwrap_or(&0)
                    };
                    of(letter) == of(&letter.to_ascii_lowercase())
                })
            };
            let mut seen = is_so(&line);
            for action in actions {
                line.act(action).expect("a line is legal");
                seen |= is_so(&line);
            }
            assert!(seen, "{words}\n{}", before.position());
        }
        better = next;
    }
    assert!(told >= 3, "{told} in {} plies", game.ply());
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
fn in_go_a_group_that_dies_and_one_that_was_not_killed_are_told() {
    let why = |turn: &str| {
        // Three points in a row are the whole eye of Black's group: who plays in the middle decides.
        let before = at(GameKind::Go, &format!("9/9/9/9/9/9/wwww5/bbbbw4/3bw4 {turn}"));
        let found = |action| {
            let score = Score::Chance { permille: 500, points: 0 };
            Report { line: vec![action], score, depth: 1, nodes: 1 }
        };
        let [played, middle] = ["H9", "B1"].map(|text| before.parse(text).expect("a move"));
        let found = found(middle);
        reason(&Mistake { before: &before, played, better: &found, reply: &found }).expect("a reason")
    };
    let (dies, lives) = (why("b"), why("w"));
    assert_eq!((dies.motif, lives.motif), (Motif::LifeAndDeath, Motif::LifeAndDeath));
    assert_eq!(dies.words[1], "The 5 stones at D1 die, and could have lived.");
    assert_eq!(lives.words[1], "The 5 stones at D1 live, and could have been killed.");
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
