//! Claims about single rules of Liuzhou chess. Positions are lines as `engine::liuzhou` documents them.

#[path = "../../tests/src/seed.rs"]
mod seed;

use engine::liuzhou::{Formation, FormationKind, Liuzhou, LiuzhouSetup, Preset};
use engine::{Fact, Game, IllegalAction, Language, MarkKind, Outcome, Point, Reason, Rng, Side, TextError};

fn game(rules: &str, position: &str) -> Liuzhou {
    let setup = rules.parse().expect("the rules are valid");
    Liuzhou::from_position(&setup, position).unwrap_or_else(|error| panic!("{position}: {error}"))
}

/// Plays the actions, each in players' notation.
fn play(mut game: Liuzhou, actions: &str) -> Liuzhou {
    for text in actions.split_whitespace() {
        let action = game.parse(text).unwrap_or_else(|| panic!("{text} is no action"));
        let mv = game.legal_move(action).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
        game.play(mv);
    }
    game
}

fn refusal(game: &Liuzhou, text: &str) -> IllegalAction {
    let action = game.parse(text).unwrap_or_else(|| panic!("{text} is no action"));
    game.legal_move(action).expect_err("it is refused")
}

fn point(text: &str) -> Point {
    text.parse().expect("a point")
}

/// The legal actions as text, sorted.
fn choices(game: &Liuzhou) -> String {
    let mut moves = Vec::new();
    game.legal_moves(&mut moves);
    let mut texts: Vec<String> = moves.into_iter().map(|mv| game.notation(Liuzhou::action(mv))).collect();
    texts.sort();
    texts.join(" ")
}

const fn won(side: Side, reason: Reason) -> Outcome {
    Outcome { winner: Some(side), reason }
}

const DRAW_BY_REPETITION: Option<Outcome> = Some(Outcome { winner: None, reason: Reason::Repetition });
const DRAW_TOO_LONG: Option<Outcome> = Some(Outcome { winner: None, reason: Reason::TooLong });

/// A placing position in which these points are black, with as many white stones that form nothing, placed in
/// turn: Black is to place on the point left out.
fn all_but(points: &[Point], left_out: usize) -> String {
    let own: Vec<Point> = (0..points.len()).filter(|&n| n != left_out).map(|n| points[n]).collect();
    let mut rows = vec![vec!['.'; 6]; 6];
    for at in &own {
        rows[usize::from(at.row)][usize::from(at.column)] = 'b';
    }
    let mut white = own.len();
    // White stones on points of which no two are adjacent, and no three form a diagonal that cuts a corner.
    for at in ["a1", "c1", "e1", "b3", "d3", "f3", "a5", "c5", "e5", "f5", "b6", "d6", "f1", "a3"].map(point)
    {
        let cell = &mut rows[usize::from(at.row)][usize::from(at.column)];
        if white > 0 && *cell == '.' && !points.contains(&at) {
            *cell = 'w';
            white -= 1;
        }
    }
    assert_eq!(white, 0);
    let rows: Vec<String> =
        rows.iter().rev().map(|row| row.iter().map(|&c| if c == '.' { '1' } else { c }).collect()).collect();
    format!("{} b p 0 0 0", rows.join("/"))
}

/// The 47 formations of the rule page by name, and the four edge lines, as lists of points.
fn named_formations() -> Vec<(FormationKind, Vec<Point>)> {
    use FormationKind::{DiagonalFive, DiagonalFour, DiagonalThree, EdgeSix, Six, Square};
    let list = |kind, texts: &[&str]| {
        texts
            .iter()
            .map(|text| (kind, text.split(' ').map(point).collect()))
            .collect::<Vec<(FormationKind, Vec<Point>)>>()
    };
    let mut all = list(
        Six,
        &[
            "a2 b2 c2 d2 e2 f2",
            "a3 b3 c3 d3 e3 f3",
            "a4 b4 c4 d4 e4 f4",
            "a5 b5 c5 d5 e5 f5",
            "b1 b2 b3 b4 b5 b6",
            "c1 c2 c3 c4 c5 c6",
            "d1 d2 d3 d4 d5 d6",
            "e1 e2 e3 e4 e5 e6",
            "a1 b2 c3 d4 e5 f6",
            "a6 b5 c4 d3 e2 f1",
        ],
    );
    all.extend(list(
        EdgeSix,
        &["a1 b1 c1 d1 e1 f1", "a6 b6 c6 d6 e6 f6", "a1 a2 a3 a4 a5 a6", "f1 f2 f3 f4 f5 f6"],
    ));
    all.extend(list(DiagonalFive, &["a2 b3 c4 d5 e6", "b1 c2 d3 e4 f5", "a5 b4 c3 d2 e1", "b6 c5 d4 e3 f2"]));
    all.extend(list(DiagonalFour, &["a3 b4 c5 d6", "c1 d2 e3 f4", "a4 b3 c2 d1", "c6 d5 e4 f3"]));
    all.extend(list(DiagonalThree, &["a4 b5 c6", "d1 e2 f3", "a3 b2 c1", "d6 e5 f4"]));
    for column in 0..5 {
        for row in 0..5 {
            let corner = |c: u16, r: u16| Point::new(column + c, row + r);
            all.push((Square, vec![corner(0, 0), corner(1, 0), corner(0, 1), corner(1, 1)]));
        }
    }
    all
}

#[test]
fn each_of_the_47_formations_captures_what_the_page_says_whichever_of_its_points_comes_last() {
    let formations = named_formations();
    assert_eq!(formations.len(), 47 + 4);
    for (kind, points) in formations {
        let due = match kind {
            FormationKind::Six => 3,
            FormationKind::DiagonalFive => 2,
            FormationKind::DiagonalFour | FormationKind::DiagonalThree | FormationKind::Square => 1,
            FormationKind::EdgeSix => 0,
        };
        for (n, last) in points.iter().enumerate() {
            let position = all_but(&points, n);
            let after = play(game("fengyang", &position), &last.to_string());
            assert_eq!(after.captures_due(), due, "{kind:?}: {last} in {position}");
            let complete: Vec<&Formation> = after.formations(Side::First).collect();
            let marked = after.view().marks.iter().filter(|mark| mark.kind == MarkKind::Formation).count();
            if due == 0 {
                assert!(complete.is_empty() && marked == 0);
            } else {
                assert_eq!(complete.iter().map(|formation| formation.kind).collect::<Vec<_>>(), [kind]);
                assert_eq!(marked, points.len());
            }
        }
    }
}

#[test]
fn presets_and_options_change_what_a_formation_captures() {
    let edge = "bbbbb1/1w1w1w/6/w1w3/6/6 b p 0 0 0";
    let row = "6/bbbbb1/6/w1w1w1/6/w1w3 b p 0 0 0";
    let diagonal = "5w/6/6/b1w3/1b4/6 b p 0 0 0";
    let long_diagonal = "6/w3b1/3b2/w1b1w1/1b1w2/b3w1 b p 0 0 0";
    for (rules, position, last, due) in [
        ("fengyang", edge, "f6", 0),
        ("fengyang edge-six=1", edge, "f6", 1),
        ("fengyang edge-six=3", edge, "f6", 3),
        ("shandong", edge, "f6", 2),
        ("huainan", edge, "f6", 1),
        ("fengyang", row, "f5", 3),
        ("shandong", row, "f5", 2),
        ("huainan", row, "f5", 2),
        ("fengyang", diagonal, "c1", 1),
        ("shandong", diagonal, "c1", 0),
        ("huainan", diagonal, "c1", 1),
        ("fengyang", long_diagonal, "f6", 3),
        ("fengyang diagonals=off", long_diagonal, "f6", 0),
        ("huainan", long_diagonal, "f6", 2),
    ] {
        assert_eq!(play(game(rules, position), last).captures_due(), due, "{rules}: {position} {last}");
    }
}

/// b2 completes the squares a1-b2 and b1-c2, and nothing else; with the row also a six.
#[test]
fn several_formations_at_once_capture_their_sum_or_by_option_the_highest() {
    let squares = "6/wwww2/6/6/b1b3/bbb1w1 b p 0 0 0";
    let with_row = "1w4/w1w1w1/3w1w/w1w3/b1bbbb/bbb3 b p 0 0 0";
    assert_eq!(play(game("fengyang", squares), "b2").captures_due(), 2);
    assert_eq!(play(game("fengyang several=highest", squares), "b2").captures_due(), 1);
    assert_eq!(play(game("fengyang", with_row), "b2").captures_due(), 5);
    assert_eq!(play(game("fengyang several=highest", with_row), "b2").captures_due(), 3);
}

/// White has a complete square and one stone adjacent to it.
const SQUARE_AND_ONE: &str = "ww4/ww4/6/5w/b5/bb4 b m 0 0 0";

#[test]
fn a_stone_in_a_formation_is_safe_while_there_is_another() {
    let position = "ww4/ww4/6/w4b/b2b2/bb1b2 b m 1 0 0";
    assert_eq!(choices(&game("fengyang", position)), "xa3");
    assert_eq!(choices(&game("fengyang safe=always", position)), "xa3");
    assert_eq!(choices(&game("fengyang safe=never", position)), "xa3 xa5 xa6 xb5 xb6");
    assert_eq!(refusal(&game("fengyang", position), "xb5"), IllegalAction::InFormation(point("b5")));
}

#[test]
fn if_all_stand_in_formations_any_may_be_taken_or_by_option_none() {
    let square = |rules| play(game(rules, "ww4/ww4/6/6/b1b3/bb1b2 b m 0 0 0"), "c2b2");
    assert_eq!(choices(&square("fengyang")), "xa5 xa6 xb5 xb6");
    let lapsed = square("fengyang safe=always");
    assert_eq!((lapsed.captures_due(), lapsed.turn()), (0, Side::Second), "the claim lapses");
    assert_eq!(choices(&square("fengyang safe=never")), "xa5 xa6 xb5 xb6");
}

#[test]
fn after_the_only_free_stone_the_rest_of_a_claim_takes_from_formations_or_lapses() {
    // Row 2 is completed by d3d2: three captures; White has the square and the stone on f3.
    let position = "ww4/ww4/6/3b1w/bbb1bb/6 b m 0 0 0";
    let claim = |rules| play(game(rules, position), "d3d2");
    let one = play(claim("fengyang loses-at=0"), "xf3");
    assert_eq!(choices(&one), "xa5 xa6 xb5 xb6");
    let broken = play(one, "xa5");
    assert_eq!(choices(&broken), "xa6 xb5 xb6", "the square is gone, its stones are as any others");
    let lapsed = play(claim("fengyang loses-at=0 safe=always"), "xf3");
    assert_eq!((lapsed.captures_due(), lapsed.turn()), (0, Side::Second));
}

#[test]
fn a_stone_captured_while_placing_keeps_its_point_and_counts_for_nobody() {
    // Black completes a1-b2 and marks c1 of White.
    let marked = play(game("fengyang", "6/6/6/6/b5/bbw1ww b p 0 0 0"), "b2 xc1");
    assert_eq!(marked.position(), "6/6/6/6/bb4/bbo1ww w p 0 0 0");
    assert_eq!(refusal(&marked, "c1"), IllegalAction::Occupied(point("c1")));
    let view = marked.view();
    assert!(view.marks.iter().any(|mark| mark.at == point("c1") && mark.kind == MarkKind::Captured));
    assert!(view.facts.contains(&Fact::Taken(Side::First, 1)));
    assert!(view.facts.contains(&Fact::InHand(Side::Second, 15)));
    // White completes c1-d2 with d2, but c1 is marked.
    let white = play(game("fengyang", "5b/w5/6/6/bbw3/bbow2 w p 0 0 0"), "d2");
    assert_eq!(white.captures_due(), 0);
    // A marked stone cannot be marked again, and a formation that contains it protects no stone.
    let again = game("fengyang", "6/6/3b2/6/bbww2/bbow2 b p 1 0 0");
    assert_eq!(refusal(&again, "xc1"), IllegalAction::AlreadyCaptured(point("c1")));
    assert_eq!(choices(&again), "xc2 xd1 xd2");
}

#[test]
fn nothing_else_may_be_done_while_a_capture_is_due() {
    let due = play(game("fengyang", "6/6/6/6/b5/bbw1ww b p 0 0 0"), "b2");
    assert_eq!(refusal(&due, "f6"), IllegalAction::CaptureFirst(1));
    assert_eq!(refusal(&due, "a1a3"), IllegalAction::CaptureFirst(1));
    assert_eq!(refusal(&due, "xa1"), IllegalAction::OwnPiece(point("a1")));
    assert_eq!(refusal(&due, "xf6"), IllegalAction::Empty(point("f6")));
    assert_eq!(refusal(&due, "xg6"), IllegalAction::OffBoard(point("g6")));
    assert!(due.view().facts.contains(&Fact::CapturesDue(1)));
}

/// Columns in two colours without a complete formation; White places last, on f6.
const FULL_BUT_ONE: &str = "bwbwb1/wbwbwb/bwbwbw/wbwbwb/bwbwbw/wbwbwb w p 0 0 0";

#[test]
fn a_full_board_without_a_capture_forces_a_removal_of_each_then_the_second_placer_moves() {
    // A chessboard completes diagonals, so they are off here; without them nothing on it is complete.
    let rules = "fengyang diagonals=off";
    let full = play(game(rules, FULL_BUT_ONE), "f6");
    assert_eq!(full.turn(), Side::First, "Black removes first");
    assert_eq!(full.captures_due(), 1);
    let one = play(full, "xf6");
    assert_eq!(one.turn(), Side::Second);
    let both = play(one, "xf5");
    assert_eq!((both.turn(), both.captures_due()), (Side::Second, 0), "the second placer moves first");
    assert_eq!(choices(&both), "e5f5 f4f5");

    let second = play(game("fengyang diagonals=off removal=second", FULL_BUT_ONE), "f6");
    assert_eq!(second.turn(), Side::Second);
    assert_eq!(play(second, "xf5 xf6").turn(), Side::Second);
    let only = play(game("fengyang diagonals=off removal=only-second", FULL_BUT_ONE), "f6 xf5");
    assert_eq!((only.turn(), only.captures_due()), (Side::Second, 0));
    assert_eq!(only.position().split(' ').nth(2), Some("m"));
}

#[test]
fn marked_stones_of_both_sides_are_lifted_together_when_the_last_is_placed() {
    let position = "bwbwb1/wbwbwb/bwbwbw/wbwbwb/bwbwxw/obwbwb w p 0 0 0";
    let lifted = play(game("fengyang diagonals=off", position), "f6");
    assert_eq!(lifted.position(), "bwbwbw/wbwbwb/bwbwbw/wbwbwb/bwbw1w/1bwbwb w m 0 0 0");
    assert!(lifted.view().facts.contains(&Fact::Taken(Side::First, 1)));
}

#[test]
fn both_at_three_or_fewer_after_the_lifting_is_a_draw_and_one_alone_has_lost() {
    let draw = play(game("fengyang", "xxxxx1/ooooox/xxxxxx/oooooo/xxbbbx/ooooow w p 0 0 0"), "f6");
    assert_eq!(draw.outcome(), Some(Outcome { winner: None, reason: Reason::TooFewStones }));
    assert_eq!(choices(&draw), "");
    let lost = play(game("fengyang", "xxxxx1/ooooox/bxbxbx/oooooo/xxbxbx/ooooow w p 0 0 0"), "f6");
    assert_eq!(lost.outcome(), Some(won(Side::First, Reason::TooFewStones)));
    let open = play(game("fengyang loses-at=0", "xxxxx1/ooooox/bxbxbx/oooooo/xxbxbx/ooooow w p 0 0 0"), "f6");
    assert_eq!(open.outcome(), None);
}

#[test]
fn a_side_loses_with_the_capture_that_leaves_it_three_two_or_none() {
    let position = "w5/2w3/6/w4w/b1b3/bb1b2 b m 0 0 0";
    assert_eq!(
        play(game("fengyang", position), "c2b2 xa6").outcome(),
        Some(won(Side::First, Reason::TooFewStones))
    );
    assert_eq!(play(game("fengyang loses-at=2", position), "c2b2 xa6").outcome(), None);
    let two = "w5/2w3/6/w5/b1b3/bb1b2 b m 0 0 0";
    assert_eq!(
        play(game("fengyang loses-at=2", two), "c2b2 xa6").outcome(),
        Some(won(Side::First, Reason::TooFewStones))
    );
    let one = "w5/6/6/6/b1b3/bb1b2 b m 0 0 0";
    assert_eq!(
        play(game("shandong", one), "c2b2 xa6").outcome(),
        Some(won(Side::First, Reason::TooFewStones))
    );
}

/// White is in the corner, blocked by Black; White to move.
const HEMMED_IN: &str = "wwb3/wwb3/bb4/5b/6/4b1 w m 0 0 0";

#[test]
fn a_blocked_player_removes_one_the_enemy_removes_one_and_he_moves_when_he_can() {
    let blocked = game("fengyang", HEMMED_IN);
    assert_eq!((blocked.turn(), blocked.captures_due()), (Side::Second, 1));
    assert_eq!(choices(&blocked), "xa4 xb4 xc5 xc6 xe1 xf3");
    // Away from the action: White is still blocked after Black's removal, unless that made room, so removal and block repeat.
    let first = play(blocked.clone(), "xe1");
    assert_eq!((first.turn(), first.captures_due()), (Side::First, 1));
    assert_eq!(choices(&first), "xa5 xa6 xb5 xb6", "all of them stand in a formation");
    let lost = play(first, "xa6");
    assert_eq!(lost.outcome(), Some(won(Side::First, Reason::TooFewStones)), "three are left");
    let open = play(game("fengyang loses-at=0", HEMMED_IN), "xa4 xb6");
    assert_eq!((open.turn(), open.captures_due()), (Side::Second, 0));
    assert_eq!(choices(&open), "a5a4 a6b6 b5b6");
}

#[test]
fn a_player_who_is_still_blocked_after_the_removals_removes_again() {
    // One white stone in each of two corners.
    let blocked = game("fengyang loses-at=0", "wb4/b5/6/2b3/5b/4bw w m 0 0 0");
    let again = play(blocked, "xc3 xf1");
    assert_eq!((again.turn(), again.captures_due()), (Side::Second, 1));
    assert_eq!(choices(&again), "xa5 xb6 xe1 xf2");
}

#[test]
fn by_option_a_blocked_player_loses_or_passes() {
    assert_eq!(game("fengyang blocked=loses", HEMMED_IN).outcome(), Some(won(Side::First, Reason::NoMoves)));
    let passing = game("fengyang blocked=passes", HEMMED_IN);
    assert_eq!(choices(&passing), "pass");
    assert_eq!(play(passing, "pass").turn(), Side::First);
    let free = game("fengyang blocked=passes", "wwb3/wwb3/b5/5b/6/4b1 w m 0 0 0");
    assert_eq!(refusal(&free, "pass"), IllegalAction::WrongKind);
}

#[test]
fn steps_that_are_none_are_refused_with_the_reason() {
    let game = game("fengyang loses-at=0", "6/6/2bw2/2b3/6/w4b b m 0 0 0");
    for (text, reason) in [
        ("b4b5", IllegalAction::Empty(point("b4"))),
        ("d4d5", IllegalAction::NotYours(point("d4"))),
        ("c4d4", IllegalAction::Occupied(point("d4"))),
        ("c4c3", IllegalAction::Occupied(point("c3"))),
        ("c4d5", IllegalAction::NotItsStep(point("c4"))),
        ("c4c6", IllegalAction::NotItsStep(point("c4"))),
        ("c4c4", IllegalAction::NotItsStep(point("c4"))),
        ("f1g1", IllegalAction::OffBoard(point("g1"))),
        ("a6", IllegalAction::WrongKind),
        ("xd4", IllegalAction::WrongKind),
        ("pass", IllegalAction::WrongKind),
    ] {
        assert_eq!(refusal(&game, text), reason, "{text}");
        assert!(!reason.words(Language::Chinese).is_empty());
    }
}

#[test]
fn stepping_out_and_back_makes_the_formation_again_unless_the_option_forbids_it_at_once() {
    let position = "w3w1/2w3/5w/w5/bb4/bb3w b m 0 0 0";
    let back = |rules| play(game(rules, position), "b2c2 f1f2");
    assert_eq!(play(back("fengyang"), "c2b2").captures_due(), 1);
    let restricted = back("fengyang back=not-at-once");
    assert_eq!(refusal(&restricted, "c2b2"), IllegalAction::StraightBack(point("c2")));
    assert!(!choices(&restricted).contains("c2b2"));
    // After one more own move it may go back.
    assert_eq!(play(restricted, "c2d2 f2f1 d2c2 f1f2 c2b2").captures_due(), 1);
    // A stone that left no formation may return at once.
    let plain =
        play(game("fengyang back=not-at-once", "w3w1/2w3/5w/w5/b1b3/bb3w b m 0 0 0"), "c2c3 f1f2 c3c2");
    assert_eq!(plain.captures_due(), 0);
}

#[test]
fn the_same_position_with_the_same_side_to_move_for_the_third_time_is_a_draw() {
    let start = "w3w1/2w3/5w/w5/b1b3/bb3w w m 0 0 0";
    let twice = play(game("fengyang", start), "f1f2 c2d2 f2f1 d2c2 f1f2 c2d2 f2f1");
    assert_eq!(twice.outcome(), None);
    assert_eq!(play(twice, "d2c2").outcome(), DRAW_BY_REPETITION);
}

#[test]
fn plies_without_a_capture_and_plies_in_all_have_their_limits() {
    let quiet =
        |rules, count| play(game(rules, &format!("w3w1/2w3/5w/w5/b1b3/bb3w w m 0 {count} {count}")), "f1f2");
    assert_eq!(quiet("fengyang", 58).outcome(), None);
    assert_eq!(quiet("fengyang", 59).outcome(), DRAW_TOO_LONG);
    assert_eq!(quiet("fengyang quiet=100", 59).outcome(), None);
    assert_eq!(quiet("fengyang quiet=off", 10_000).outcome(), None);
    assert_eq!(quiet("shandong", 35).outcome(), DRAW_TOO_LONG);
    let total = game("shandong", "w3w1/2w3/5w/w5/b1b3/bb3w w m 0 0 143");
    assert_eq!(play(total, "f1f2").outcome(), DRAW_TOO_LONG);
    // The sixtieth ply captures: the count restarts.
    let capturing = game("fengyang", "w3w1/2w3/5w/w5/b1b3/bb3w b m 0 59 80");
    let after = play(capturing, "c2b2 xf1");
    assert_eq!((after.outcome(), after.position().as_str()), (None, "w3w1/2w3/5w/w5/bb4/bb4 w m 0 0 81"));
}

#[test]
fn rules_read_back_from_what_they_print() {
    for preset in Preset::ALL {
        assert_eq!(preset.setup().to_string(), preset.word());
        assert_eq!(preset.setup().preset(), Some(preset));
    }
    let text = "fengyang several=highest edge-six=2 inner-six=2 diagonals=off safe=never blocked=passes loses-at=2 quiet=off total=144 back=not-at-once removal=only-second";
    let setup: LiuzhouSetup = text.parse().expect("every option once");
    assert_eq!(setup.to_string(), text);
    for (text, column) in [
        ("beijing", 1),
        ("fengyang shandong", 10),
        ("fengyang loses-at=x", 19),
        ("fengyang often=yes", 10),
        ("六洲 quiet=0", 1),
    ] {
        let error = text.parse::<LiuzhouSetup>().expect_err(text);
        assert_eq!((error.line, error.column), (1, column), "{text}: {error}");
    }
    assert!("fengyang quiet=0".parse::<LiuzhouSetup>().is_err());
    assert!("fengyang loses-at=7".parse::<LiuzhouSetup>().is_err());
}

#[test]
fn a_line_that_is_no_position_is_refused_with_the_column() {
    let setup = LiuzhouSetup::default();
    for (line, column) in [
        ("", 1),
        ("6/6/6/6/6 b p 0 0 0", 10),
        ("6/6/6/6/6/6/6 b p 0 0 0", 12),
        ("6/6/6/6/6/7 b p 0 0 0", 11),
        ("6/6/6/6/6/5q b p 0 0 0", 12),
        ("6/6/6/6/6/5bb b p 0 0 0", 13),
        ("6/6/6/6/6/6 r p 0 0 0", 13),
        ("6/6/6/6/6/6 b z 0 0 0", 15),
        ("6/6/6/6/6/6 b p", 16),
        ("6/6/6/6/6/6 b p -1 0 0", 17),
        ("6/6/6/6/6/6 b p 0 0 0 0", 23),
        ("6/6/6/6/6/6 w p 0 0 0", 15),
        ("6/6/6/6/6/5x b m 0 0 0", 16),
        ("bbbbbb/bbbbbb/bbbbbb/b5/6/6 b m 0 0 0", 31),
        ("wwbb2/6/6/6/6/bbb3 b m 3 0 0", 24),
    ] {
        match Liuzhou::from_position(&setup, line) {
            Err(TextError { line: 1, column: at, .. }) => assert_eq!(at, column, "{line}"),
            Err(error) => panic!("{line}: {error}"),
            Ok(_) => assert_eq!(line, "wwbb2/6/6/6/6/bbb3 b m 3 0 0"),
        }
    }
}

#[test]
fn a_position_reads_back_from_what_it_prints() {
    for line in [SQUARE_AND_ONE, FULL_BUT_ONE, "6/6/6/6/6/6 b p 0 0 0", "ww4/ww4/6/w4b/b2b2/bb1b2 b m 1 7 9"]
    {
        assert_eq!(game("fengyang", line).position(), line);
    }
    let line = "wb4/6/6/w3bw/b3w1/w4b w m 0 3 5 a1a2 -";
    assert_eq!(game("fengyang back=not-at-once", line).position(), line);
}

#[test]
fn a_line_bent_at_random_is_refused_or_makes_a_position_that_can_be_played() {
    let setup: LiuzhouSetup = "fengyang back=not-at-once".parse().expect("valid rules");
    let lines = [
        "wwb3/wwb3/bb4/5b/6/4b1 w m 0 0 0 a1a2 -",
        "bwbxb1/wbwbwb/bwbwbw/wbwbw1/bwbww1/obwbw1 b p 0 0 0",
        "bwbwbw/wbwbwb/bwbwbw/wbwbwb/bwbwbw/wbwbwb b f 1 0 0",
        "ww4/ww4/6/5w/bbbbbb/6 b m 3 0 0",
    ];
    let mut rng = Rng::new(seed::begin("bent lines", 11));
    let mut played = 0;
    // With another seed fewer of them may be positions.
    for round in 0..200_000 {
        if round >= 20_000 && played > 500 {
            break;
        }
        let mut line: Vec<char> = lines[round % lines.len()].chars().collect();
        for _ in 0..=rng.below(3) {
            let (at, signs) = (rng.below(line.len() as u32) as usize, "bwxo0123456789/ pfFmkK-a六");
            line[at] = signs.chars().nth(rng.below(25) as usize).expect("25 signs");
        }
        let line: String = line.into_iter().collect();
        let Ok(mut game) = Liuzhou::from_position(&setup, &line) else { continue };
        played += 1;
        for _ in 0..8 {
            let mut moves = Vec::new();
            game.legal_moves(&mut moves);
            assert_eq!(moves.is_empty(), game.outcome().is_some(), "{line}");
            assert_eq!(game.key(), game.fresh_key(), "{line}");
            let Some(&mv) = moves.get(rng.below(moves.len().max(1) as u32) as usize) else { break };
            game.play(mv);
        }
    }
    assert!(played > 500, "{played} of the lines were positions");
}

#[test]
fn a_formation_is_told_with_what_it_takes_and_all_that_it_took_is_marked() {
    let mut game = Liuzhou::new(&LiuzhouSetup::default()).expect("the default is valid");
    // Two squares that share a side, completed by one move.
    for text in ["b3", "a6", "c3", "f6", "d3", "a1", "b4", "f1", "d4", "c6", "c4"] {
        let action = game.parse(text).expect("a point");
        game.play(game.legal_move(action).expect("legal"));
    }
    assert_eq!(game.captures_due(), 2);
    assert_eq!(game.told(Language::English).as_deref(), Some("Black made a square ×2 and takes 2 stones."));
    let taken = |game: &Liuzhou| -> Vec<String> {
        let marks = game.view().marks.into_iter();
        marks.filter(|mark| mark.kind == MarkKind::Taken).map(|mark| mark.at.to_string()).collect()
    };
    assert!(taken(&game).is_empty());
    for text in ["xa6", "xf1"] {
        let action = game.parse(text).expect("a capture");
        game.play(game.legal_move(action).expect("legal"));
    }
    assert_eq!(taken(&game), ["f1", "a6"]);
    assert_eq!(game.told(Language::English).as_deref(), Some("Black made a square ×2 and took 2 stones."));
    assert!(
        game.told(Language::Chinese)
            .is_some_and(|told| told.starts_with("黑方成方") && told.ends_with("提了 2 子。"))
    );
    let action = game.parse("f3").expect("a point");
    game.play(game.legal_move(action).expect("legal"));
    assert!(taken(&game).is_empty() && game.told(Language::English).is_none(), "the next move ends it");
}
