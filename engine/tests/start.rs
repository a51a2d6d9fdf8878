//! Positions that were set up: every format reads back, illegal ones are refused with the reason, and games begin from them.

mod starts;

use engine::start::{Start, StartError, StartPiece, StartText};
use engine::{
    AnyGame, GameKind, GomokuOpening, GomokuRule, GomokuSetup, Language, Piece, Point, Rng, Setup, Side,
};
use starts::{GAMES, legal, rules};

#[test]
fn ten_thousand_legal_starts_of_each_game_read_back_from_every_format() {
    for game in GAMES {
        let mut written = [0; 3];
        for start in legal(game, 7).take(10_000) {
            for (n, format) in [StartText::Line, StartText::Sgf, StartText::Psq].into_iter().enumerate() {
                let Some(text) = start.write(format) else { continue };
                written[n] += 1;
                assert_eq!(Start::read(game, text.as_bytes()).as_ref(), Ok(&start), "{text}");
            }
            let size = start.rows();
            let again = Start::empty(game, size).and_then(|empty| empty.with_bytes(&start.to_bytes()));
            let again = again.map(|again| again.with_turn(start.turn()).with_phase(start.phase()));
            assert_eq!(again.as_ref(), Some(&start));
        }
        let expected = match game {
            GameKind::Gomoku => [10_000; 3],
            GameKind::Go => [10_000, 10_000, 0],
            _ => [10_000, 0, 0],
        };
        assert_eq!(written, expected, "{game:?}");
    }
}

#[test]
fn a_game_begins_from_its_start_and_its_first_position_is_that_start() {
    for game in GAMES {
        for start in legal(game, 8).take(500) {
            let setup = rules(&start).begin_from(start.clone()).expect("it is legal");
            assert_eq!(setup.start(), Some(&start));
            let begun = AnyGame::new(&setup).expect("it is legal");
            assert_eq!(Start::of(&begun).as_ref(), Some(&start));
            assert_eq!((begun.ply(), begun.outcome()), (0, None));
            assert_eq!(begun.key(), begun.fresh_key());
            assert!(!begun.legal_actions().is_empty(), "{}", start.line());
            let by_line = AnyGame::from_position(&rules(&start), &start.line()).expect("a position");
            assert_eq!(by_line.view(), begun.view(), "{}", start.line());
            assert_eq!(setup.clone().without_start(), rules(&start));
            assert_eq!(setup.preset(), rules(&start).preset(), "a start changes no rules");
        }
    }
}

#[test]
fn games_from_a_start_go_on_by_the_rules_to_their_end() {
    let mut rng = Rng::new(9);
    let mut over = 0;
    for game in GAMES {
        for start in legal(game, 10).take(25) {
            let setup = rules(&start).begin_from(start).expect("it is legal");
            let mut played = AnyGame::new(&setup).expect("it is legal");
            for _ in 0..300 {
                let legal = played.legal_actions();
                assert_eq!(legal.is_empty(), played.outcome().is_some());
                if legal.is_empty() {
                    over += 1;
                    break;
                }
                played.act(legal[rng.below(legal.len() as u32) as usize]).expect("it is legal");
                assert_eq!(played.key(), played.fresh_key());
            }
        }
    }
    assert!(over > 20, "{over} games came to an end");
}

fn refusal(game: GameKind, line: &str) -> Option<StartError> {
    let start = Start::read(game, line.as_bytes()).unwrap_or_else(|error| panic!("{line}: {error}"));
    let error = start.check(&rules(&start)).err()?;
    for language in [Language::Chinese, Language::English] {
        assert!(!error.words(game, language).is_empty());
    }
    Some(error)
}

#[test]
fn an_illegal_start_is_refused_with_the_reason() {
    use Side::{First, Second};
    use StartError as Why;
    let at = Point::new;
    let (xiangqi, go) = (GameKind::Xiangqi, GameKind::Go);
    let (gomoku, liuzhou) = (GameKind::Gomoku, GameKind::Liuzhou);
    for (game, line, expected) in [
        (xiangqi, "5k3/9/9/9/9/9/9/9/9/3RK4 w", None),
        (xiangqi, "9/9/9/9/9/9/9/9/9/3RK4 w", Some(Why::NoGeneral(Second))),
        (xiangqi, "3k5/9/9/9/9/9/9/9/9/9 w", Some(Why::NoGeneral(First))),
        (xiangqi, "3k5/9/9/4k4/9/9/9/9/9/4K4 w", Some(Why::Misplaced(Piece::General, at(4, 6)))),
        (xiangqi, "3kk4/9/9/9/9/9/9/9/9/5K3 w", Some(Why::TooMany(Second, Piece::General))),
        (xiangqi, "4k4/9/9/9/9/9/9/9/9/3K1R3 w", None),
        (xiangqi, "4k4/9/9/9/9/9/9/9/9/4KR3 w", Some(Why::GeneralsFace)),
        (xiangqi, "3k5/9/9/9/9/9/9/9/9/3R1K3 b", None),
        (xiangqi, "3k5/9/9/9/9/3R5/9/9/9/4K4 w", Some(Why::InCheck(Second))),
        (xiangqi, "4k4/9/9/9/4B4/9/9/9/9/5K3 w", Some(Why::Misplaced(Piece::Elephant, at(4, 5)))),
        (xiangqi, "4k4/9/9/9/9/9/9/9/3A5/5K3 w", Some(Why::Misplaced(Piece::Adviser, at(3, 1)))),
        (xiangqi, "4k4/9/9/9/9/9/9/P8/9/5K3 w", Some(Why::Misplaced(Piece::Soldier, at(0, 2)))),
        (xiangqi, "4k4/9/9/9/RR7/R8/9/9/9/5K3 w", Some(Why::TooMany(First, Piece::Chariot))),
        (xiangqi, "3k5/9/9/9/9/9/9/9/9/4K4 w", Some(Why::Bare)),
        (xiangqi, "3k5/4R4/9/9/9/9/9/9/9/3RK4 b", Some(Why::NoMove(Second))),
        (go, "bb3/w4/5/5/5 b", None),
        (go, "bw3/w4/5/5/5 b", Some(Why::NoLiberty(at(0, 4)))),
        (go, "bb/bb b", Some(Why::NoLiberty(at(0, 0)))),
        (gomoku, "5/5/2b2/5/5 w", None),
        (gomoku, "5/5/2b2/5/5 b", Some(Why::Counts { black: 1, white: 0 })),
        (gomoku, "bbbbb/wwww1/5/5/5 w", Some(Why::Won(First))),
        (gomoku, "bbwbb/wwbww/bbwbb/wwbww/bwbwb w", Some(Why::Full)),
        (liuzhou, "bbx3/wwo3/6/6/6/6 b p", None),
        (liuzhou, "bbx3/wwo3/6/6/6/6 w p", Some(Why::NotInTurn)),
        (liuzhou, "bbbbbb/bbbbbb/bbbbbb/wwwwww/wwwwww/wwwwww b p", Some(Why::AllPlaced)),
        (liuzhou, "bbbbbb/bbbbbb/bbbbbb/b5/wwwwww/wwwwww b m", Some(Why::TooMany(First, Piece::Stone))),
        (liuzhou, "bbbb2/wwww2/6/6/5x/6 b m", Some(Why::NotLifted)),
        (liuzhou, "bbbb2/www3/6/6/6/6 b m", Some(Why::TooFew(Second))),
        (liuzhou, "bbbbbb/bbbbbb/bbbbbb/wwwwww/wwwwww/wwwwww b m", Some(Why::NoMove(First))),
    ] {
        assert_eq!(refusal(game, line), expected, "{game:?} {line}");
    }
}

#[test]
fn rules_with_a_beginning_of_their_own_have_no_start() {
    let start = Start::read(GameKind::Gomoku, b"5/5/2b2/5/5 w").expect("a line");
    let swap2 = GomokuSetup { size: 5, opening: GomokuOpening::Swap2, ..GomokuSetup::default() };
    assert_eq!(start.check(&Setup::Gomoku(swap2.clone())), Err(StartError::OwnBeginning));
    assert!(Setup::Gomoku(swap2).begin_from(start.clone()).is_ok(), "the start takes the place of swap2");
    assert_eq!(start.check(&GameKind::Gomoku.default_setup()), Err(StartError::Size));
    assert_eq!(start.check(&GameKind::Go.default_setup()), Err(StartError::OtherGame));
    assert_eq!(start.check(&GameKind::LightsOut.default_setup()), Err(StartError::OtherGame));
    assert_eq!(GameKind::LightsOut.default_setup().begin_from(start).err(), Some(StartError::OtherGame));
}

#[test]
fn six_in_a_row_is_no_five_by_the_standard_rule() {
    let start = Start::read(GameKind::Gomoku, b"bbbbbb/wwwww1/6/6/5w/6 b").expect("a line");
    let of = |rule| start.check(&Setup::Gomoku(GomokuSetup { size: 6, rule, ..GomokuSetup::default() }));
    assert_eq!(of(GomokuRule::Freestyle), Err(StartError::Won(Side::Second)));
    let start = Start::read(GameKind::Gomoku, b"bbbbbb/wwww2/6/6/4ww/6 b").expect("a line");
    let of = |rule| start.check(&Setup::Gomoku(GomokuSetup { size: 6, rule, ..GomokuSetup::default() }));
    assert_eq!(of(GomokuRule::Freestyle), Err(StartError::Won(Side::First)));
    assert_eq!(of(GomokuRule::Standard), Ok(()));
}

#[test]
fn what_is_no_start_is_not_read() {
    for (game, text) in [
        (GameKind::Xiangqi, ""),
        (GameKind::Xiangqi, "3k5/9/9 w"),
        (GameKind::Xiangqi, "3k5/9/9/9/9/9/9/9/9/3RK4 x"),
        (GameKind::Xiangqi, "3q5/9/9/9/9/9/9/9/9/3RK4 w"),
        (GameKind::Xiangqi, "3k5/9/9/9/9/9/9/9/9/3RK4 w - - 0 1 and more"),
        (GameKind::Go, "1/1 b"),
        (GameKind::Go, "99999999999999999999/1 b"),
        (GameKind::Go, "(;GM[1]SZ[26])"),
        (GameKind::Go, "(;GM[4]SZ[15]AB[aa])"),
        (GameKind::Go, "(;GM[1]SZ[9]AB[zz])"),
        (GameKind::Gomoku, "Piskvorky 3x3, 0:0, 0"),
        (GameKind::Liuzhou, "6/6/6/6/6/6 b q"),
        (GameKind::Liuzhou, "b5/6/6/6/6/6 b p 1 0 0"),
        (GameKind::LightsOut, "#"),
    ] {
        assert!(Start::read(game, text.as_bytes()).is_err(), "{game:?} {text}");
    }
}

#[test]
fn the_last_position_of_a_file_with_moves_is_a_start() {
    let read = |game, text: &str| Start::read(game, text.as_bytes()).expect("a file").line();
    assert_eq!(read(GameKind::Go, "(;GM[1]SZ[3]AB[aa];W[bb];B[cc])"), "b2/1w1/2b w");
    assert_eq!(read(GameKind::Gomoku, "(;GM[4]SZ[5];B[cc];W[cb])"), "5/2w2/2b2/5/5 b");
    let pgn = "[Game \"Chinese Chess\"]\n[FEN \"5k3/9/9/9/9/9/9/9/9/3RK4 w - - 0 1\"]\n\n1. e0e1 *\n";
    assert_eq!(read(GameKind::Xiangqi, pgn), "5k3/9/9/9/9/9/9/9/4K4/3R5 b - - 0 1");
}

#[test]
fn a_board_has_pieces_of_its_game_only_and_bytes_of_one_form() {
    let start = Start::empty(GameKind::Go, 3).expect("a board");
    assert!(start.clone().with(Point::new(3, 0), None).is_none());
    let general = StartPiece::of(Side::First, Piece::General);
    assert!(start.clone().with(Point::new(0, 0), Some(general)).is_none());
    assert!(start.clone().with_bytes(&[0x21, 0, 0, 0, 0]).is_some());
    for wrong in [&[0, 0, 0, 0][..], &[0; 6], &[0, 0, 0, 0, 0x10], &[3, 0, 0, 0, 0]] {
        assert!(start.clone().with_bytes(wrong).is_none(), "{wrong:?}");
    }
    for game in GAMES {
        for piece in StartPiece::all(game) {
            assert_eq!(StartPiece::from_code(game, piece.code()), Some(piece));
        }
    }
    assert_eq!(StartPiece::all(GameKind::Xiangqi).len(), 14);
    assert!(StartPiece::all(GameKind::LightsOut).is_empty());
}

#[test]
fn the_rule_sheet_says_where_the_game_begins_and_who_moves() {
    let start = Start::read(GameKind::Xiangqi, b"3k5/9/9/9/9/9/9/9/9/3R1K3 b").expect("a line");
    let setup = GameKind::Xiangqi.default_setup().begin_from(start).expect("it is legal");
    let sheet = setup.rule_sheet(Language::English);
    assert!(sheet.contains("Black goes first") && sheet.contains("with Black to move."), "{sheet}");
    assert!(setup.rule_sheet(Language::Chinese).contains("从摆好的局面开始，黑方先走。"));
}

#[test]
fn each_odds_of_xiangqi_is_its_position_and_a_game_is_played_from_it() {
    let usual = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1";
    for (odds, giver, fen, english, chinese) in [
        ("first-move", Side::Second, usual, "Black lets Red move first", "让先"),
        (
            "two-moves",
            Side::Second,
            "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR w - - 0 1",
            "the first two moves",
            "炮二平五",
        ),
        (
            "horse",
            Side::First,
            "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/R1BAKABNR w - - 0 1",
            "without the left horse, and moves first",
            "让单马",
        ),
        (
            "chariot",
            Side::First,
            "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/1NBAKABNR w - - 0 1",
            "without the left chariot",
            "让车",
        ),
        (
            "two-horses",
            Side::First,
            "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/R1BAKAB1R w - - 0 1",
            "without horses",
            "让双马",
        ),
        (
            "nine-pieces",
            Side::First,
            "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/9/1C5C1/9/RN2K2NR w - - 0 1",
            "Odds of nine pieces",
            "让九子",
        ),
    ] {
        let mut setup = GameKind::Xiangqi.default_setup();
        setup.choose("black-first", "yes").expect("it is offered");
        setup.choose("odds", odds).expect("it is offered");
        assert_eq!(setup.gives_odds(), Some(giver), "{odds}");
        assert_eq!(setup.start().map(Start::line).as_deref(), Some(fen), "{odds}");
        assert!(setup.choose("black-first", "yes").is_err(), "the odds say who moves first");
        assert!(setup.rule_sheet(Language::English).contains(english), "{odds}");
        assert!(setup.rule_sheet(Language::Chinese).contains(chinese), "{odds}");
        let mut game = AnyGame::new(&setup).expect("a game begins");
        let mut rng = Rng::new(odds.len() as u64);
        for _ in 0..60 {
            let actions = game.legal_actions();
            if actions.is_empty() {
                break;
            }
            let action = actions[rng.below(actions.len() as u32) as usize];
            game.act(action).expect("it is legal");
        }
        assert!(game.ply() > 10, "{odds}: both sides have moved");
        setup.choose("odds", "none").expect("it is offered");
        assert_eq!((setup.start(), setup.gives_odds()), (None, None));
    }
}

#[test]
fn a_position_of_ones_own_has_no_odds_and_the_first_move_keeps_the_names_of_openings() {
    let line = b"rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKAB1R w";
    let start = Start::read(GameKind::Xiangqi, line).expect("a line");
    let setup = GameKind::Xiangqi.default_setup().begin_from(start).expect("a legal start");
    assert_eq!(setup.gives_odds(), None, "the right horse is not the custom");
    assert!(setup.options().iter().all(|option| option.word != "odds" && option.word != "black-first"));
    assert!(setup.rule_sheet(Language::English).contains("from a position that was set up"));
    let mut setup = GameKind::Xiangqi.default_setup();
    setup.choose("odds", "first-move").expect("it is offered");
    let mut game = AnyGame::new(&setup).expect("a game");
    let elephant = game.parse("相三进五").expect("a move");
    game.act(elephant).expect("it is legal");
    let AnyGame::Xiangqi(game) = game else { panic!("it is xiangqi") };
    let opening = game.opening().map(|opening| opening.name(Language::English));
    assert_eq!(opening.as_deref(), Some("Elephant Opening"));
}
