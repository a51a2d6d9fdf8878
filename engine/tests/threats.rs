//! Threats by kind, and multiple principal variations, in every game.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::threats::{Threat, ThreatKind, sound_threats, threats};
use engine::{
    Action, AnyGame, GameKind, GomokuRule, GomokuSetup, Language, Limits, Point, Reason, Rng, Score, Setup,
    Side, Tier, bot,
};

fn at(kind: GameKind, line: &str) -> AnyGame {
    AnyGame::from_position(&kind.default_setup_for(line), line).expect("a position")
}

/// Kind, side, and number of points.
fn found(game: &AnyGame) -> Vec<(ThreatKind, Side, usize)> {
    threats(game).iter().map(|threat| (threat.kind, threat.side, threat.at.len())).collect()
}

#[test]
fn threats_are_named_by_kind_the_gravest_first() {
    use Side::First;
    use ThreatKind as Kind;
    // Four black stones with both ends open; White to move.
    let gomoku = at(GameKind::Gomoku, "15/15/15/15/15/15/15/4bbbb7/15/15/15/15/15/15/w12ww w");
    assert_eq!(found(&gomoku)[0], (Kind::Five, First, 2));
    assert_eq!(threats(&gomoku)[0].words(&gomoku, Language::English), "Black makes five next: D8, I8.");
    let three = at(GameKind::Gomoku, "15/15/15/15/15/15/15/5bbb7/15/15/15/15/15/15/w12ww w");
    assert_eq!(found(&three)[0], (Kind::OpenFour, First, 2));
    let check = at(GameKind::Xiangqi, "4k4/9/9/9/9/4R4/9/9/9/3K5 b");
    assert_eq!(found(&check), [(Kind::Check, First, 1)]);
    // The other chariot mates on the last rank.
    let mate = at(GameKind::Xiangqi, "4k4/R8/9/9/9/9/9/9/9/1R1K5 b");
    assert!(found(&mate).contains(&(Kind::Mate, First, 1)), "{:?}", threats(&mate));
    let atari = at(GameKind::Go, "9/9/9/9/4b4/3bwb3/9/9/9 w");
    assert_eq!(found(&atari), [(Kind::Atari, First, 1)]);
    // Three corners of a square, and a neighbour that can step into the fourth.
    let liuzhou = at(GameKind::Liuzhou, "6/6/6/6/bb2ww/b1b1ww b m 0 0 0");
    assert!(found(&liuzhou).iter().any(|(kind, side, _)| (*kind, *side) == (Kind::CaptureDue, First)));
    assert!(threats(&AnyGame::new(&GameKind::LightsOut.default_setup()).expect("a board")).is_empty());
}

#[test]
fn what_renju_forbids_to_black_is_no_threat_of_black_s_and_what_it_allows_to_white_is_one() {
    // Two threes that cross at H8, of either colour.
    let of = |stone: char, rule: GomokuRule| {
        let rows = "15/15/15/15/15/7s7/7s7/5ss8/15/15/15/15/15/15/o13o w".replace('s', &stone.to_string());
        let rows = rows.replace('o', if stone == 'b' { "w" } else { "b" });
        let setup = Setup::Gomoku(GomokuSetup { rule, ..GomokuSetup::default() });
        let game = AnyGame::from_position(&setup, &rows).expect("a position");
        let side = if stone == 'b' { Side::First } else { Side::Second };
        threats(&game).into_iter().any(|threat| threat.kind == ThreatKind::Fork && threat.side == side)
    };
    assert!(of('b', GomokuRule::Freestyle), "in freestyle two threes win");
    assert!(!of('b', GomokuRule::Renju), "Black may not make two threes");
    assert!(of('w', GomokuRule::Renju));
}

/// The points that the side to move is told of for itself.
fn own(game: &AnyGame, told: fn(&AnyGame) -> Vec<Threat>) -> Vec<(ThreatKind, Point)> {
    let own = told(game).into_iter().filter(|threat| threat.side == game.turn());
    own.flat_map(|Threat { kind, at, .. }| at.into_iter().map(move |at| (kind, at))).collect()
}

#[test]
fn beside_a_five_of_the_other_side_only_a_five_or_what_stops_it_is_named() {
    use ThreatKind as Kind;
    // Black makes five at I8. White's three could become an open four, and White would have lost.
    let game = at(GameKind::Gomoku, "15/15/15/15/15/15/15/3wbbbb7/15/15/5www7/15/15/15/b14 w");
    assert!(own(&game, threats).iter().any(|(kind, _)| *kind == Kind::OpenFour), "{:?}", threats(&game));
    assert!(own(&game, sound_threats).is_empty(), "{:?}", sound_threats(&game));
    let five =
        sound_threats(&game).into_iter().find(|threat| threat.kind == Kind::Five).expect("Black's five");
    assert_eq!((five.side, five.at), (Side::First, vec![Point::new(8, 7)]));
    // White has a four too, and wins first; nothing else of White's is named.
    let game = at(GameKind::Gomoku, "15/15/15/15/15/15/15/3wbbbb7/15/15/4bwwww6/15/15/15/b14 w");
    assert_eq!(own(&game, sound_threats), [(Kind::Five, Point::new(9, 4))]);
}

#[test]
fn beside_an_open_three_of_the_other_side_only_a_four_or_what_stops_it_is_named() {
    use ThreatKind as Kind;
    // White makes an open four next; Black's two could become an open three, which is too slow.
    let game = at(GameKind::Gomoku, "15/15/15/15/15/15/15/5www7/15/15/15/5bb8/15/15/15 b");
    assert!(own(&game, threats).iter().any(|(kind, _)| *kind == Kind::Three), "{:?}", threats(&game));
    assert!(own(&game, sound_threats).is_empty(), "{:?}", sound_threats(&game));
    // A four has to be answered first.
    let game = at(GameKind::Gomoku, "15/15/15/15/15/15/15/5www7/15/15/15/4wbbb7/15/15/15 b");
    let four = |column| (Kind::Four, Point::new(column, 3));
    assert_eq!(own(&game, sound_threats), [four(8), four(9)]);
    // An open three on the way of the other one.
    let game = at(GameKind::Gomoku, "15/15/15/15/15/15/15/5www7/8b6/8b6/15/15/15/15/15 b");
    assert!(own(&game, threats).len() > 1, "{:?}", threats(&game));
    assert_eq!(own(&game, sound_threats), [(Kind::Three, Point::new(8, 7))]);
}

#[test]
fn no_point_that_is_named_to_the_side_to_move_lets_the_other_side_make_five_at_once() {
    let (mut named, mut left_out) = (0, 0);
    for rule in GomokuRule::ALL {
        let setup = Setup::Gomoku(GomokuSetup { rule, size: 9, ..GomokuSetup::default() });
        for seed in 0..16 {
            let mut rng = Rng::new(seed);
            let mut game = AnyGame::new(&setup).expect("a game");
            while game.outcome().is_none() {
                let sound = own(&game, sound_threats);
                for &(kind, at) in &sound {
                    let mut after = game.clone();
                    after.act(Action::Place(at)).expect("a named point is free");
                    if kind == ThreatKind::Five {
                        assert_eq!(after.outcome().map(|outcome| outcome.reason), Some(Reason::FiveInARow));
                        continue;
                    }
                    assert!(
                        after.outcome().is_none_or(|outcome| outcome.winner.is_none()),
                        "{at} is forbidden"
                    );
                    for reply in after.legal_actions() {
                        let mut end = after.clone();
                        end.act(reply).expect("it is legal");
                        let five = end.outcome().is_some_and(|outcome| outcome.reason == Reason::FiveInARow);
                        assert!(!five, "{rule:?}, game {seed}: after {kind:?} at {at}, {reply} makes five");
                    }
                }
                named += sound.len();
                left_out += own(&game, threats).len() - sound.len();
                // Half the games are played at random. In the others most stones make or stop a threat, as players' do.
                let wanted: Vec<Action> =
                    threats(&game).into_iter().flat_map(|threat| threat.at).map(Action::Place).collect();
                let guided = seed % 2 == 1 && !wanted.is_empty() && rng.below(4) > 0;
                let choice = if guided { wanted } else { game.legal_actions() };
                let next = choice[rng.below(choice.len() as u32) as usize];
                game.act(next).expect("it is legal");
            }
        }
    }
    assert!(named > 100 && left_out > 10, "{named} named, {left_out} left out");
}

#[test]
fn every_threat_of_random_games_has_points_and_words() {
    let mut rng = Rng::new(4);
    let mut seen = 0;
    for &kind in GameKind::ALL {
        let mut game = AnyGame::new(&kind.default_setup()).expect("a game");
        for _ in 0..60 {
            let legal = game.legal_actions();
            if legal.is_empty() {
                break;
            }
            game.act(legal[rng.below(legal.len() as u32) as usize]).expect("it is legal");
            for threat in threats(&game) {
                seen += 1;
                assert!(!threat.at.is_empty());
                for language in [Language::Chinese, Language::English] {
                    assert!(threat.words(&game, language).len() > 5);
                }
            }
        }
    }
    assert!(seen > 20, "only {seen} threats");
}

#[test]
fn several_lines_begin_with_different_moves_and_the_best_is_first() {
    let (stop, elapsed) = (AtomicBool::new(false), || Duration::ZERO);
    for &kind in GameKind::ALL {
        let game = match kind {
            // An empty board has one sensible move.
            GameKind::Gomoku => at(kind, "15/15/15/15/15/15/6w8/7b7/15/15/15/15/15/15/15 b"),
            _ => AnyGame::new(&kind.default_setup()).expect("a game"),
        };
        let limits = Limits { time: None, nodes: Some(900), depth: None, stop: &stop, elapsed: &elapsed };
        let lines = bot(kind, Tier::MAX, 1).choose_lines(&game, 3, &limits, &mut |_| {});
        let wanted = if kind == GameKind::LightsOut { 1 } else { 3 };
        assert_eq!(lines.len(), wanted, "{}", kind.word());
        let firsts: HashSet<Action> = lines.iter().map(|line| line.line[0]).collect();
        assert_eq!(firsts.len(), wanted, "{}", kind.word());
        for line in &lines {
            let mut after = game.clone();
            assert!(line.line.iter().all(|action| after.act(*action).is_ok()), "{}", kind.word());
        }
        let scores: Vec<Score> = lines.iter().map(|line| line.score).collect();
        let points = scores.iter().map(|score| match score {
            Score::Points(points) => *points,
            other => panic!("{}: {other} is no judgement", kind.word()),
        });
        match kind {
            GameKind::LightsOut => {}
            // One search compares all of them: the most visited is the best.
            GameKind::Go => assert!(lines.is_sorted_by(|one, next| one.nodes >= next.nodes)),
            _ => assert!(points.is_sorted_by(|one, next| one >= next), "{}: {scores:?}", kind.word()),
        }
    }
    // Black wins by two points, and by nothing else.
    let won = at(GameKind::Gomoku, "15/15/15/15/15/15/15/4bbbb7/15/15/15/15/15/15/wwww11 b");
    let limits = Limits { time: None, nodes: Some(3_000), depth: None, stop: &stop, elapsed: &elapsed };
    let lines = bot(GameKind::Gomoku, Tier::MAX, 1).choose_lines(&won, 3, &limits, &mut |_| {});
    assert_eq!(lines[0].score, Score::WinIn(1));
    assert_eq!(lines[1].score, Score::WinIn(1));
    assert_ne!(lines[0].line[0], lines[1].line[0]);
    // One move mates at once; the soldier can always move.
    let won = at(GameKind::Xiangqi, "4k4/R8/9/9/8p/9/9/9/9/1R1K5 w");
    let lines = bot(GameKind::Xiangqi, Tier::MAX, 1).choose_lines(&won, 3, &limits, &mut |_| {});
    let mate = Action::Step { from: Point::new(1, 0), to: Point::new(1, 9) };
    assert_eq!((lines.len(), lines[0].score, lines[0].line[0]), (3, Score::WinIn(1), mate));
    assert!(!lines[1..].iter().any(|line| line.score == Score::WinIn(1)), "{lines:?}");
}
