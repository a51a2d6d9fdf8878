//! Records of xiangqi and Liuzhou chess, written and parsed.

use engine::liuzhou::Liuzhou;
use engine::record::{Record, WrittenMove, replay};
use engine::xiangqi::{Notation, Xiangqi, XiangqiSetup};
use engine::{Action, Game, IllegalAction, Rng};

/// The first moves of random play.
fn random_actions<G: Game>(start: &G, seed: u64, limit: u32) -> (G, Vec<Action>) {
    let (mut game, mut rng, mut moves, mut actions) = (start.clone(), Rng::new(seed), Vec::new(), Vec::new());
    while game.outcome().is_none() && game.ply() < limit {
        game.legal_moves(&mut moves);
        let mv = moves[rng.below(moves.len() as u32) as usize];
        actions.push(G::action(mv));
        game.play(mv);
    }
    (game, actions)
}

#[test]
fn random_games_read_back_from_their_records() {
    let start = Xiangqi::new(&XiangqiSetup::default()).expect("the default setup is valid");
    for (seed, notation) in [(1, Notation::Iccs), (2, Notation::Wxf), (3, Notation::Chinese)] {
        let (game, actions) = random_actions(&start, seed, 120);
        let text = start.record(&actions, notation);
        let record = Record::read(&text).expect("it was written by us");
        let again =
            replay(Xiangqi::start_of(&record).expect("the FEN is ours"), &record).expect("the same moves");
        assert_eq!(again.view(), game.view(), "{text}");
        assert!(text.lines().all(|line| line.chars().count() < 80), "{text}");
    }
    for rules in ["fengyang", "shandong blocked=passes", "huainan back=not-at-once"] {
        let start = Liuzhou::new(&rules.parse().expect("valid rules")).expect("a valid setup");
        let (game, actions) = random_actions(&start, 4, 400);
        let text = start.record(&actions);
        let record = Record::read(&text).expect("it was written by us");
        let again =
            replay(Liuzhou::start_of(&record).expect("the tags are ours"), &record).expect("the same moves");
        assert_eq!(again.view(), game.view(), "{text}");
        assert_eq!(again.setup(), game.setup());
    }
}

/// As other programs write it: numbers without a space before the move, comments, variations, notes, a byte order mark.
const FOREIGN: &str = "\u{feff}[Game \"Chinese Chess\"]\r\n[Event \"a \\\"friendly\\\" game\"]\n[Result \"1/2-1/2\"]\n\n\
    1.炮二平五 {central cannon} 马８进７ $1\n2. 马二进三 (2. 兵七进一 (2. 车一进一) 卒7进1) 2... 车9平8 ; the chariot\n1/2-1/2";

#[test]
fn a_record_of_another_program_is_read() {
    let record = Record::read(FOREIGN).expect("it is PGN");
    assert_eq!(record.tag("event"), Some("a \"friendly\" game"));
    assert_eq!(record.result.as_deref(), Some("1/2-1/2"));
    let texts: Vec<&str> = record.moves.iter().map(|mv| mv.text.as_str()).collect();
    assert_eq!(texts, ["炮二平五", "马８进７", "马二进三", "车9平8"]);
    assert_eq!(record.moves[0], WrittenMove { text: "炮二平五".into(), line: 5, column: 3 });
    let game = replay(Xiangqi::start_of(&record).expect("no FEN"), &record).expect("four legal moves");
    assert_eq!(game.position(), "rnbakabr1/9/1c4nc1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C1N2/9/RNBAKAB1R w - - 4 3");
}

#[test]
fn a_move_that_is_none_ends_the_reading_with_its_place_and_what_came_before() {
    let start = Xiangqi::new(&XiangqiSetup::default()).expect("the default setup is valid");
    for (text, line, column, refused, plies) in [
        ("1. h2e2 h9g7\n2. a0a5", 2, 4, true, 2),
        ("1. h2e2 hello", 1, 9, false, 1),
        ("1.h2e2 h9g7 2.h0g2 炮九平九", 1, 20, false, 3),
    ] {
        let record = Record::read(text).expect("the grammar is right");
        let stopped = replay(start.clone(), &record).expect_err("a move is wrong");
        assert_eq!((stopped.error.line, stopped.error.column), (line, column), "{text}");
        assert_eq!(stopped.refusal.is_some(), refused, "{text}");
        assert_eq!(stopped.read.ply(), plies, "{text}");
    }
    let record = Record::read("a0a5").expect("the grammar is right");
    let stopped = replay(start, &record).expect_err("a soldier is in the way");
    assert!(matches!(stopped.refusal, Some(IllegalAction::InTheWay(_))));
}

#[test]
fn a_text_that_is_no_record_is_refused_with_its_place() {
    for (text, line, column, moves) in [
        ("[", 1, 2, 0),
        ("[Game", 1, 6, 0),
        ("[Game Chess]", 1, 7, 0),
        ("[Game \"Chess]", 1, 14, 0),
        ("[Game \"Chess\\", 1, 13, 0),
        ("[Game \"Chess\"", 1, 14, 0),
        ("1. h2e2 {what", 1, 9, 1),
        ("1. h2e2 (1. h2d2", 1, 17, 1),
        ("1. h2e2 )", 1, 9, 1),
        ("1. h2e2\n]", 2, 1, 1),
        ("1. h2e2 [Game \"x\"]", 1, 9, 1),
    ] {
        let stopped = Record::read(text).expect_err(text);
        assert_eq!((stopped.error.line, stopped.error.column), (line, column), "{text}: {}", stopped.error);
        assert_eq!(stopped.read.moves.len(), moves, "{text}");
    }
}

#[test]
fn every_beginning_of_a_record_is_read_or_refused_without_a_panic() {
    for (at, _) in FOREIGN.char_indices() {
        let record = match Record::read(&FOREIGN[..at]) {
            Ok(record) => record,
            Err(stopped) => stopped.read,
        };
        // A truncated result could be a move.
        assert!(record.moves.len() <= 5);
    }
}
