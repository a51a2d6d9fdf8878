//! Positions with their results, from `rules.txt`, and claims about single rules.

use engine::{
    Action, AnyGame, Game, GameKind, Gomoku, GomokuRule, GomokuSetup, IllegalAction, Language, MarkKind,
    Outcome, Point, Reason, Setup, Side,
};

#[test]
fn every_position_of_rules_txt_ends_as_its_line_says() {
    let mut checked = 0;
    for (number, line) in (1..).zip(include_str!("rules.txt").lines()) {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let [game, options, moves, result, _source] = fields[..] else {
            panic!("line {number} has not five fields")
        };
        let setup = match game {
            "gomoku" => Setup::Gomoku(gomoku_setup(options)),
            _ => panic!("line {number}: which game is {game}?"),
        };
        let game = played(&setup, moves);
        assert_eq!(said(&game), result, "line {number}");
        checked += 1;
    }
    assert!(checked >= 20, "the file was read");
}

fn gomoku_setup(options: &str) -> GomokuSetup {
    let mut setup = GomokuSetup::default();
    for word in options.split(' ') {
        match word {
            "freestyle" => setup.rule = GomokuRule::Freestyle,
            "standard" => setup.rule = GomokuRule::Standard,
            "renju" => setup.rule = GomokuRule::Renju,
            "no-edge" => setup.edge_five_wins = false,
            size => setup.size = size.parse().expect("an option is a word of this list or a size"),
        }
    }
    setup
}

fn played(setup: &Setup, moves: &str) -> AnyGame {
    let mut game = AnyGame::new(setup).expect("the setup is valid");
    for text in moves.split(' ') {
        let action = game.parse(text).unwrap_or_else(|| panic!("{text} is no move"));
        game.act(action).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
    }
    game
}

fn said(game: &AnyGame) -> String {
    let view = game.view();
    let winners = view
        .marks
        .iter()
        .filter(|mark| matches!(mark.kind, MarkKind::Winning | MarkKind::Fault))
        .map(|mark| mark.at.to_string());
    let who = match view.outcome {
        None => "open",
        Some(Outcome { winner: None, .. }) => "draw",
        Some(Outcome { winner: Some(Side::First), .. }) => "first",
        Some(Outcome { winner: Some(Side::Second), .. }) => "second",
    };
    std::iter::once(who.to_owned()).chain(winners).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_stone_on_a_stone_is_refused_and_the_point_named() {
    let game = played(&Setup::Gomoku(GomokuSetup::default()), "h8");
    let h8 = Point::new(7, 7);
    let refusal = game.legal_move(Action::Place(h8)).expect_err("h8 is taken");
    assert_eq!(refusal, IllegalAction::Occupied(h8));
    assert_eq!(refusal.words(Language::English), "h8 is occupied");
    assert_eq!(refusal.words(Language::Chinese), "h8 已有棋子");
}

#[test]
fn a_point_beyond_the_edge_is_refused() {
    let game = Gomoku::new(&GomokuSetup::default()).expect("the default setup is valid");
    for point in [Point::new(15, 0), Point::new(0, 15), Point::new(u16::MAX, u16::MAX), Point::new(256, 0)] {
        assert_eq!(game.legal_move(Action::Place(point)), Err(IllegalAction::OffBoard(point)));
    }
}

#[test]
fn gomoku_knows_no_pass_and_no_step() {
    let game = Gomoku::new(&GomokuSetup::default()).expect("the default setup is valid");
    let (from, to) = (Point::new(1, 1), Point::new(2, 2));
    for action in [Action::Pass, Action::Step { from, to }, Action::Capture(from)] {
        assert_eq!(game.legal_move(action), Err(IllegalAction::WrongKind));
    }
}

#[test]
fn after_a_five_nothing_may_be_played() {
    let game = played(&Setup::Gomoku(GomokuSetup::default()), "h8 h9 i8 i9 j8 j9 k8 k9 l8");
    assert!(game.legal_actions().is_empty());
    assert_eq!(game.legal_move(Action::Place(Point::new(0, 0))), Err(IllegalAction::Ended));
    assert_eq!(game.outcome(), Some(Outcome { winner: Some(Side::First), reason: Reason::FiveInARow }));
}

#[test]
fn a_board_too_small_for_five_or_too_large_is_no_game() {
    for size in (0..=u8::MAX).filter(|size| !GomokuSetup::SIZES.contains(size)) {
        assert!(Gomoku::new(&GomokuSetup { size, ..GomokuSetup::default() }).is_err(), "{size}");
    }
}

#[test]
fn the_same_stones_have_another_key_with_the_other_side_to_move_or_another_rule() {
    let default = GomokuSetup::default();
    let key = |setup: GomokuSetup, moves: &str| played(&Setup::Gomoku(setup), moves).key();
    assert_eq!(
        key(default.clone(), "h8 a1 i8 b1"),
        key(default.clone(), "i8 b1 h8 a1"),
        "order does not matter"
    );
    assert_ne!(key(default.clone(), "h8 a1"), key(default.clone(), "a1 h8"), "colours do");
    let standard = GomokuSetup { rule: GomokuRule::Standard, ..default.clone() };
    let no_edge = GomokuSetup { edge_five_wins: false, ..default.clone() };
    let larger = GomokuSetup { size: 19, ..default.clone() };
    for other in [standard, no_edge, larger] {
        assert_ne!(key(default.clone(), "h8"), key(other, "h8"), "the rules decide what may follow");
    }
}

#[test]
fn the_key_of_a_position_is_part_of_the_format_and_never_changes() {
    // Saves and peers compare these hashes. A change breaks compatibility.
    let key = |moves: &str| played(&Setup::Gomoku(GomokuSetup::default()), moves).key();
    assert_eq!(key("h8"), KEY_AFTER_H8);
    assert_eq!(key("h8 i9 g7"), KEY_AFTER_THREE);
}
// Computed independently of this crate, in Python.
const KEY_AFTER_H8: u64 = 11095029318559759816;
const KEY_AFTER_THREE: u64 = 2410551631193051001;

#[test]
fn the_outcome_is_said_in_both_languages() {
    let game = played(&Setup::Gomoku(GomokuSetup::default()), "h8 h9 i8 i9 j8 j9 k8 k9 l8");
    let outcome = game.outcome().expect("five in a row");
    assert_eq!(game.kind().outcome_words(&outcome, Language::English), "Black wins: five in a row.");
    assert_eq!(game.kind().outcome_words(&outcome, Language::Chinese), "黑方胜：五子连珠。");
}

#[test]
fn the_rule_sheet_says_the_option_only_when_it_is_on() {
    let sheet = |setup: GomokuSetup, language| Setup::Gomoku(setup).rule_sheet(language);
    let default = GomokuSetup::default();
    assert_eq!(
        sheet(default.clone(), Language::English),
        "1. The aim: be first to get five stones in a row.\n\
         2. The board is 15 x 15. Black goes first; each turn places one stone on an empty point.\n\
         3. The first row of five or more stones wins: across, down or diagonally (freestyle).\n\
         4. A full board without a winner is a draw.\n"
    );
    let house = GomokuSetup { edge_five_wins: false, ..default };
    assert!(sheet(house.clone(), Language::English).contains("edge"));
    assert!(sheet(house, Language::Chinese).contains("最外边"));
}

#[test]
fn a_refusal_names_points_as_the_board_of_the_game_does_in_both_languages() {
    let occupied = IllegalAction::Occupied(Point::new(8, 3));
    for (game, name) in [
        (GameKind::Gomoku, "I4"),
        (GameKind::Liuzhou, "I4"),
        (GameKind::Go, "J4"),
        (GameKind::Xiangqi, "i3"),
        (GameKind::LightsOut, "I4"),
    ] {
        assert_eq!(occupied.words_in(game, Language::English), format!("{name} is occupied"));
        assert_eq!(occupied.words_in(game, Language::Chinese), format!("{name} 已有棋子"));
    }
    let at = Point::new(2, 3);
    for refusal in [
        IllegalAction::Ended,
        IllegalAction::OffBoard(at),
        IllegalAction::ChooseFirst,
        IllegalAction::WrongKind,
        IllegalAction::Empty(at),
        IllegalAction::NotYours(at),
        IllegalAction::OwnPiece(at),
        IllegalAction::NotItsStep(at),
        IllegalAction::CaptureFirst(2),
        IllegalAction::InFormation(at),
        IllegalAction::AlreadyCaptured(at),
        IllegalAction::StraightBack(at),
        IllegalAction::InTheWay(at),
        IllegalAction::HorseLeg(at),
        IllegalAction::ElephantEye(at),
        IllegalAction::CannonScreen,
        IllegalAction::River,
        IllegalAction::Palace,
        IllegalAction::GeneralAttacked(at),
        IllegalAction::GeneralsFace,
        IllegalAction::Ko(at),
        IllegalAction::Superko,
        IllegalAction::Suicide(at),
        IllegalAction::SayFifthsFirst,
        IllegalAction::NotCentre,
        IllegalAction::OutsideCentre(5),
        IllegalAction::InsideCentre(7),
        IllegalAction::Offered(at),
        IllegalAction::Symmetric(at),
        IllegalAction::NotOffered(at),
    ] {
        assert_eq!(refusal.words(Language::English), refusal.to_string(), "Display is the English");
        assert_ne!(refusal.words(Language::Chinese), refusal.to_string());
    }
}
