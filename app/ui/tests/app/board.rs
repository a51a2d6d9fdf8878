//! Touches and keys on the points of a board, and what is drawn and said of them.

use std::time::Duration;

use i_slint_backend_testing::ElementHandle;
use proto::board::{Side, action};
use proto::control::{self, event, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::{BoardAdapter, Dialog, Page, Remark};
use slint::platform::Key;
use slint::{ComponentHandle, Model};

use crate::support::{Told, body, games, place};
use crate::touches::{acted, at, dialog, mine, names, only, page, playing, remark, remark_says, says, tap};

#[test]
fn a_stone_that_waits_is_played_or_given_up_by_its_buttons_too() {
    let stage = Stage::new();
    let mut told = playing(&stage, mine());
    tap(&stage, &told, "A1 empty");
    tap(&stage, &told, "Not there");
    assert!(told.asked().is_empty());
    tap(&stage, &told, "C1 empty");
    tap(&stage, &told, "Play there");
    assert!(matches!(only(&mut told), request::Body::Act(act) if act.action == Some(place(2, 0))));
    told.app.prefer(qiyou::Preferences { confirm_moves: qiyou::Confirm::Never, ..Default::default() });
    tap(&stage, &told, "D1 empty");
    assert!(matches!(only(&mut told), request::Body::Act(act) if act.action == Some(place(3, 0))));
}

#[test]
fn a_forbidden_point_says_why_before_it_is_played() {
    let stage = Stage::new();
    let mut room = mine();
    let board = room.board.as_mut().expect("a board");
    let words = Some(control::Words { zh: "三三禁手".into(), en: "a double three".into() });
    board.touch.as_mut().expect("stones are placed").warnings.push(control::Warning {
        at: 0,
        words,
        points: vec![0],
    });
    let mut told = playing(&stage, room);
    told.app.window().global::<BoardAdapter<'_>>().invoke_touch(14 * 15);
    stage.settle(&told.scene);
    assert!(told.asked().is_empty());
    assert!(
        ElementHandle::find_by_accessible_label(told.app.window(), "Forbidden: a double three")
            .next()
            .is_some()
    );
    assert_eq!(dialog(&told), Dialog::Losing);
    tap(&stage, &told, "Play there anyway");
    assert_eq!(dialog(&told), Dialog::None);
    assert!(matches!(only(&mut told), request::Body::Act(act) if act.action == Some(place(0, 0))));
}

#[test]
fn a_warned_move_is_not_played_in_the_position_or_match_that_came_after_the_question() {
    type Change = fn(&mut control::Room);
    let stage = Stage::new();
    // What is told after the question, and how often the move is then played. Told once more, the same position keeps its question.
    let changes: [(Change, usize); 4] = [
        (|_| {}, 1),
        (|room| room.id = "rematch".into(), 0),
        (|room| room.revision += 1, 0),
        (|room| room.board.as_mut().expect("a board").ply += 2, 0),
    ];
    for (change, played) in changes {
        let mut room = mine();
        let board = room.board.as_mut().expect("a board");
        let words = Some(control::Words { zh: "三三禁手".into(), en: "a double three".into() });
        board.touch.as_mut().expect("stones are placed").warnings.push(control::Warning {
            at: 0,
            words,
            points: vec![0],
        });
        let mut told = playing(&stage, room.clone());
        told.app.window().global::<BoardAdapter<'_>>().invoke_touch(14 * 15);
        stage.settle(&told.scene);
        assert_eq!(dialog(&told), Dialog::Losing);
        assert!(says(&told, "Play there anyway"), "{:?}", names(&told));
        change(&mut room);
        let id = room.id.clone();
        told.say(event::Body::Room(room));
        told.app.open_room(&id);
        stage.settle(&told.scene);
        told.asked();
        told.app.window().global::<BoardAdapter<'_>>().invoke_step_anyway();
        stage.settle(&told.scene);
        let acts = told.asked().iter().filter(|one| matches!(body(one), request::Body::Act(_))).count();
        assert_eq!(acts, played, "{id}");
    }
}

#[test]
fn a_finger_may_slide_to_its_point_before_it_is_lifted() {
    let stage = Stage::new();
    let mut told = playing(&stage, mine());
    let middle = |name: &str| {
        let element =
            ElementHandle::find_by_accessible_label(told.app.window(), name).next().expect("a point");
        let (position, size) = (element.absolute_position(), element.size());
        (position.x + size.width / 2.0, position.y + size.height / 2.0)
    };
    let (from, to) = (middle("A1 empty"), middle("C2 empty"));
    told.scene.slide(from, to);
    stage.settle(&told.scene);
    assert!(matches!(only(&mut told), request::Body::Act(act) if act.action == Some(place(2, 1))));
    let away = (to.0, 700.0);
    told.scene.slide(to, away);
    stage.settle(&told.scene);
    assert_eq!(told.asked(), [], "lifted off the board, nothing is played");
}

#[test]
fn while_nothing_may_be_done_a_touch_asks_nothing() {
    let stage = Stage::new();
    let mut told = playing(&stage, control::Room { can_act: false, ..mine() });
    // One touch plays, where something may be done.
    told.app.prefer(qiyou::Preferences { confirm_moves: qiyou::Confirm::Never, ..Default::default() });
    tap(&stage, &told, "A1 empty");
    assert_eq!(told.asked(), []);
    told.say(event::Body::Room(mine()));
    stage.settle(&told.scene);
    tap(&stage, &told, "A1 empty");
    assert!(matches!(only(&mut told), request::Body::Act(act) if act.action == Some(place(0, 0))));
}

#[test]
fn arrows_move_a_cursor_and_enter_plays_there() {
    let stage = Stage::new();
    let mut told = playing(&stage, mine());
    // The first arrow comes to the board; its cursor begins in the middle.
    for key in [Key::RightArrow, Key::RightArrow, Key::UpArrow, Key::UpArrow, Key::LeftArrow, Key::Return] {
        told.scene.key(key);
        stage.settle(&told.scene);
    }
    assert!(matches!(only(&mut told), request::Body::Act(act) if act.action == Some(place(7, 9))));
    for _ in 0..40 {
        told.scene.key(Key::DownArrow);
        told.scene.key(Key::RightArrow);
    }
    told.scene.key(" ");
    stage.settle(&told.scene);
    assert!(
        matches!(only(&mut told), request::Body::Act(act) if act.action == Some(place(14, 0))),
        "the edge holds"
    );
}

#[test]
fn a_hint_is_shown_for_its_position_only() {
    let stage = Stage::new();
    let mut told = playing(&stage, mine());
    tap(&stage, &told, "Hint");
    let asked = told.asked();
    assert!(matches!(body(&asked[0]), request::Body::Hint(_)));
    told.reply(
        asked[0].id,
        reply::Body::Hint(control::HintFound {
            action: Some(place(3, 3)),
            notation: "d4".into(),
            ..Default::default()
        }),
    );
    stage.settle(&told.scene);
    let points = || {
        told.app.window().global::<BoardAdapter<'_>>().get_points().iter().filter(|point| point.hint).count()
    };
    assert_eq!(points(), 1);
    let mut moved = mine();
    moved.board.as_mut().expect("a board").ply += 1;
    told.say(event::Body::Room(moved));
    stage.settle(&told.scene);
    assert_eq!(points(), 0);
}

fn step(from: u32, to: u32) -> action::Kind {
    action::Kind::Step(proto::board::Step { from, to })
}

fn targets(told: &Told) -> usize {
    let board = told.app.window().global::<BoardAdapter<'_>>();
    board.get_points().iter().filter(|point| point.target != 0).count()
}

#[test]
fn a_touched_piece_shows_where_it_can_go_and_the_next_touch_steps_there() {
    let stage = Stage::new();
    let start = games::played(&engine::GameKind::Xiangqi.default_setup(), "");
    let mut told = playing(&stage, games::against_the_device(&start, engine::Side::First));
    tap(&stage, &told, "File 5, row 6 empty");
    assert_eq!((remark(&told), told.asked().len()), (Remark::PickFirst, 0));
    tap(&stage, &told, "File 8, row 3 red cannon");
    assert_eq!(
        targets(&told),
        start.view().steps.iter().filter(|(from, _)| (from.column, from.row) == (1, 2)).count()
    );
    tap(&stage, &told, "File 2, row 1 red horse");
    assert_eq!(targets(&told), 2, "another piece of mine is picked instead");
    tap(&stage, &told, "File 2, row 1 red horse picked");
    assert_eq!(targets(&told), 0, "touched again it is put down");
    tap(&stage, &told, "File 2, row 1 red horse");
    told.scene.key(Key::Escape);
    stage.settle(&told.scene);
    assert_eq!((targets(&told), page(&told)), (0, Page::Board), "Escape puts it down and stays");
    assert_eq!(told.asked(), []);
    tap(&stage, &told, "File 2, row 1 red horse");
    tap(&stage, &told, "File 3, row 3 empty possible");
    assert_eq!(acted(&mut told), step(at(7, 0), at(6, 2)));
    // What the piece cannot do is asked for too: the host knows why not.
    tap(&stage, &told, "File 2, row 2 empty");
    assert_eq!(acted(&mut told), step(at(7, 0), at(7, 1)));
}

#[test]
fn a_piece_whose_move_was_undone_is_not_picked_any_more() {
    let stage = Stage::new();
    let setup = engine::GameKind::Xiangqi.default_setup();
    let start = games::played(&setup, "");
    let told = playing(&stage, games::against_the_device(&start, engine::Side::First));
    tap(&stage, &told, "File 2, row 1 red horse");
    assert_eq!(targets(&told), 2);
    for game in [games::played(&setup, "h0g2"), start] {
        told.say(event::Body::Room(games::against_the_device(&game, engine::Side::First)));
        stage.settle(&told.scene);
    }
    assert!(says(&told, "File 2, row 1 red horse"), "{:?}", names(&told));
    assert_eq!(targets(&told), 0);
}

#[test]
fn black_sees_the_board_from_his_own_side() {
    let stage = Stage::new();
    let game = games::played(&engine::GameKind::Xiangqi.default_setup(), "h2e2");
    let mut told = playing(&stage, games::against_the_device(&game, engine::Side::Second));
    let down = |name: &str| {
        let point = ElementHandle::find_by_accessible_label(told.app.window(), name).next().expect("a point");
        (point.absolute_position().x, point.absolute_position().y)
    };
    let (mine, theirs) = (down("File 1, row 1 black chariot"), down("File 1, row 10 red chariot"));
    assert!(mine.1 > theirs.1 && mine.0 > 180.0, "{mine:?} {theirs:?}");
    tap(&stage, &told, "File 8, row 1 black horse");
    tap(&stage, &told, "File 7, row 3 empty possible");
    assert_eq!(acted(&mut told), step(at(7, 9), at(6, 7)));
}

#[test]
fn a_step_that_would_lose_is_only_made_after_a_question() {
    let stage = Stage::new();
    let game = games::played(&engine::GameKind::Xiangqi.default_setup(), "");
    let mut room = games::against_the_device(&game, engine::Side::First);
    let losing = proto::board::Step { from: at(7, 0), to: at(6, 2) };
    room.board.as_mut().expect("a board").losing_steps = vec![losing];
    let mut told = playing(&stage, room);
    let try_it = |told: &Told| {
        tap(&stage, told, "File 2, row 1 red horse");
        tap(&stage, told, "File 3, row 3 empty possible");
    };
    try_it(&told);
    assert_eq!((dialog(&told), told.asked().len()), (Dialog::Losing, 0));
    tap(&stage, &told, "Choose another move");
    assert_eq!((dialog(&told), told.asked().len()), (Dialog::None, 0));
    tap(&stage, &told, "File 3, row 3 empty possible");
    tap(&stage, &told, "Play it anyway");
    assert_eq!(acted(&mut told), action::Kind::Step(losing));
}

#[test]
fn keys_pick_a_piece_and_its_target_as_a_finger_does() {
    let stage = Stage::new();
    let game = games::played(&engine::GameKind::Xiangqi.default_setup(), "");
    let mut told = playing(&stage, games::against_the_device(&game, engine::Side::First));
    // The first arrow comes to the board; its cursor begins in the middle, at e4.
    let keys = [Key::DownArrow, Key::DownArrow, Key::Return, Key::UpArrow, Key::Return];
    for key in keys {
        told.scene.key(key);
        stage.settle(&told.scene);
    }
    assert_eq!(acted(&mut told), step(at(4, 3), at(4, 4)));
}

#[test]
fn what_is_beside_the_points_is_done_by_buttons_and_dead_stones_by_touch() {
    let stage = Stage::new();
    let mut told = playing(&stage, games::against_the_device(&games::go(), engine::Side::Second));
    tap(&stage, &told, "Pass");
    assert_eq!((dialog(&told), told.asked().len()), (Dialog::ConfirmChoice, 0), "a finger may have slipped");
    tap(&stage, &told, "Cancel");
    assert_eq!((dialog(&told), told.asked().len()), (Dialog::None, 0));
    tap(&stage, &told, "Pass");
    tap(&stage, &told, "Yes, pass");
    assert_eq!(acted(&mut told), action::Kind::Pass(true));
    told.say(event::Body::Room(games::alone(&games::go_counting())));
    stage.settle(&told.scene);
    tap(&stage, &told, "E5 Black");
    assert_eq!(acted(&mut told), action::Kind::Toggle(at(4, 4)));
    tap(&stage, &told, "Agree and count");
    assert_eq!(acted(&mut told), action::Kind::Agree(true));
    tap(&stage, &told, "Play on");
    assert_eq!(acted(&mut told), action::Kind::Resume(true));
}

#[test]
fn numbers_of_fifth_moves_are_chosen_and_the_moves_offered_and_chosen_by_touch() {
    let stage = Stage::new();
    let number = games::renju("yamaguchi", "h8 i9 j8");
    let mut told = playing(&stage, games::against_the_device(&number, engine::Side::First));
    told.app.prefer(qiyou::Preferences { confirm_moves: qiyou::Confirm::Never, ..Default::default() });
    tap(&stage, &told, "7 fifth moves");
    assert_eq!((dialog(&told), told.asked().len()), (Dialog::ConfirmChoice, 0), "a finger may have slipped");
    assert!(says(&told, "7 fifth moves?"), "{:?}", names(&told));
    tap(&stage, &told, "Yes");
    assert_eq!(acted(&mut told), action::Kind::Choose(proto::board::Choice::Fifths7.into()));
    let colours = games::renju("taraguchi-10", "h8 white i9 black j8 white h9");
    told.say(event::Body::Room(games::against_the_device(&colours, engine::Side::First)));
    stage.settle(&told.scene);
    tap(&stage, &told, "Play Black");
    assert!(says(&told, "You play with the black stones and move next."), "{:?}", names(&told));
    tap(&stage, &told, "Cancel");
    tap(&stage, &told, "10 fifth moves");
    tap(&stage, &told, "Yes");
    assert_eq!(acted(&mut told), action::Kind::Choose(proto::board::Choice::Fifths10.into()));
    let offering = games::renju("yamaguchi", "h8 i9 j8 offer3 black g7 j10");
    told.say(event::Body::Room(games::against_the_device(&offering, engine::Side::Second)));
    stage.settle(&told.scene);
    tap(&stage, &told, "I10 empty");
    assert_eq!(acted(&mut told), action::Kind::Place(at(8, 9)));
    let offered = games::renju("yamaguchi", "h8 i9 j8 offer3 black g7 j10 i10 h10");
    told.say(event::Body::Room(games::against_the_device(&offered, engine::Side::First)));
    stage.settle(&told.scene);
    tap(&stage, &told, "I10 empty possible");
    assert_eq!(acted(&mut told), action::Kind::Place(at(8, 9)));
}

#[test]
fn captures_that_are_due_are_chosen_by_touch() {
    let stage = Stage::new();
    let game = games::liuzhou_placing();
    let mut told = playing(&stage, games::alone(&game));
    let due = told.app.window().global::<BoardAdapter<'_>>().get_captures_due();
    assert_eq!((due, targets(&told)), (1, 3));
    tap(&stage, &told, "A6 White possible");
    assert_eq!(acted(&mut told), action::Kind::Capture(at(0, 5)));
}

#[test]
fn of_a_large_board_a_part_is_seen_and_moved() {
    let stage = Stage::new();
    let mut told = playing(&stage, games::alone(&games::lights("100", "60")));
    let board = || told.app.window().global::<BoardAdapter<'_>>();
    assert_eq!((board().get_columns(), board().get_rows(), board().get_points().row_count()), (20, 20, 400));
    let first = |told: &Told| {
        told.app.window().global::<BoardAdapter<'_>>().get_points().row_data(0).expect("a lamp").name
    };
    assert_eq!(first(&told), "A60");
    tap(&stage, &told, "Move right");
    tap(&stage, &told, "Move down");
    assert_eq!(first(&told), "K50");
    for _ in 0..20 {
        tap(&stage, &told, "Move down");
    }
    assert_eq!(first(&told), "K20", "the lower edge holds");
    tap(&stage, &told, "Zoom out");
    assert_eq!(board().get_columns(), 28);
    board().invoke_touch(0);
    stage.settle(&told.scene);
    assert_eq!(acted(&mut told), action::Kind::Press(at(10, 27)));
}

/// The device has just played H8's neighbour at the end of this line, and the match goes on.
fn thought(on: bool, ply: u32) -> control::Thinking {
    control::Thinking {
        room_id: "room".into(),
        side: Side::First.into(),
        on,
        depth: 9,
        judged: true,
        permille: 640,
        line: ["j6", "m10", "l12"].map(Into::into).into(),
        actions: vec![place(9, 5), place(12, 9), place(11, 11)],
        stones: vec![Side::First.into(), Side::Second.into(), Side::First.into()],
        ply,
        ..Default::default()
    }
}

#[test]
fn what_the_device_thought_is_drawn_from_the_next_move_on_and_told_from_the_players_side() {
    let stage = Stage::new();
    let told = playing(&stage, mine());
    told.app.show_thought();
    let page = || told.app.window().global::<BoardAdapter<'_>>();
    let drawn = |told: &Told| -> Vec<(String, i32, i32)> {
        let board = told.app.window().global::<BoardAdapter<'_>>();
        let points = board.get_points();
        let named = |point: qiyou::screens::PointView| (point.name.to_string(), point.order, point.ghost);
        points.iter().filter(|point| point.order != 0).map(named).collect()
    };
    // Its last move is the first of the line, and stands on the board already.
    told.say(event::Body::Thinking(thought(false, 16)));
    stage.settle(&told.scene);
    assert_eq!(drawn(&told), [("L12".to_owned(), 2, 1), ("M10".to_owned(), 1, 2)]);
    assert_eq!(page().get_thought().percent, 36);
    assert!(says(&told, "Your chance as it sees it: 36 % · depth 9 · 0 positions"));
    // While it thinks nothing is drawn, so that the board does not flicker.
    told.say(event::Body::Thinking(thought(true, 17)));
    stage.settle(&told.scene);
    assert!(drawn(&told).is_empty());
    // What it thought of another position is not told of this one.
    told.say(event::Body::Thinking(thought(false, 14)));
    stage.settle(&told.scene);
    assert!(drawn(&told).is_empty() && !page().get_thought().known);
    assert!(says(&told, "Nothing to show yet"));
}

/// Red's general is in check from the chariot on e5; the horse on a2 cannot help.
fn in_check() -> control::Room {
    let setup = engine::GameKind::Xiangqi.default_setup();
    let game = engine::AnyGame::from_position(&setup, "3k5/9/9/9/4r4/9/9/N8/9/3AK4 w").expect("a position");
    games::against_the_device(&game, engine::Side::First)
}

fn lit(told: &Told) -> Vec<String> {
    let points = told.app.window().global::<BoardAdapter<'_>>().get_points();
    points.iter().filter(|point| point.flash).map(|point| format!("{}/{}", point.name, point.row)).collect()
}

#[test]
fn a_check_is_said_and_marked_with_what_gives_it_and_what_can_help() {
    let stage = Stage::new();
    let told = playing(&stage, in_check());
    let said = "Check! The enemy chariot on file 5 gives check. What can help: adviser on file 6, general on file 5.";
    assert!(says(&told, said), "for eyes and for a screen reader: {:?}", names(&told));
    assert!(says(&told, "You are in check"));
    for (point, what) in [
        ("File 5, row 1 red general in check can help", "the general"),
        ("File 5, row 6 black chariot gives check", "what gives it"),
        ("File 6, row 1 red adviser can help", "what can help"),
    ] {
        assert!(says(&told, point), "{what}: {:?}", names(&told));
    }
    told.prefer(true, false, 0);
    stage.settle(&told.scene);
    assert!(says(&told, "将军！对方五路的车在将军。能解将的：六路仕、五路帅。"), "{:?}", names(&told));
}

#[test]
fn a_piece_that_cannot_move_says_why_and_lights_what_holds_it() {
    let stage = Stage::new();
    let mut told = playing(&stage, in_check());
    tap(&stage, &told, "File 9, row 3 red horse");
    assert_eq!(remark(&told), Remark::Told);
    assert_eq!(remark_says(&told), "this horse cannot end the check");
    assert!(told.asked().is_empty(), "nothing is asked of the host");
    assert!(!told.app.window().global::<BoardAdapter<'_>>().get_points().iter().any(|point| point.picked));
    // It is lit for a moment only.
    told.app.window().global::<BoardAdapter<'_>>().invoke_touch(7 * 9);
    stage.pass(Duration::ZERO);
    assert_eq!(lit(&told), ["5/6"]);
    stage.pass(Duration::from_secs(2));
    assert!(lit(&told).is_empty());
}

#[test]
fn what_a_refusal_is_about_lights_up_on_the_board_until_the_next_move() {
    let stage = Stage::new();
    let setup = engine::GameKind::Xiangqi.default_setup();
    let game = engine::AnyGame::new(&setup).expect("the default");
    let mut told = playing(&stage, games::against_the_device(&game, engine::Side::First));
    tap(&stage, &told, "File 9, row 1 red chariot");
    tap(&stage, &told, "File 9, row 6 empty");
    let asked = told.asked();
    let refusal = control::Refusal {
        code: control::RefusalCode::RefusalIllegal.into(),
        reason: Some(control::Words {
            zh: "自己九路的兵挡住了车的路".into(),
            en: "your soldier on file 9 is in the chariot's way".into(),
        }),
        points: vec![3 * 1_024],
        ..Default::default()
    };
    told.reply(asked[0].id, reply::Body::Refusal(refusal));
    stage.pass(Duration::ZERO);
    assert_eq!(lit(&told), ["9/4"]);
    assert_eq!(remark_says(&told), "your soldier on file 9 is in the chariot's way");
    let mut moved = game;
    moved
        .act(engine::Action::Step { from: engine::Point::new(7, 2), to: engine::Point::new(4, 2) })
        .expect("legal");
    told.say(event::Body::Room(games::against_the_device(&moved, engine::Side::First)));
    stage.pass(Duration::ZERO);
    assert!(lit(&told).is_empty(), "the next position has nothing to do with it");
}

#[test]
fn files_are_named_at_the_edge_as_the_words_name_them_in_each_language() {
    let stage = Stage::new();
    let told = playing(&stage, in_check());
    let edge = |told: &Told| {
        let names = told.app.window().global::<BoardAdapter<'_>>().get_column_names();
        names.iter().map(|name| name.to_string()).collect::<Vec<_>>().concat()
    };
    assert_eq!(edge(&told), "987654321");
    told.prefer(true, false, 0);
    stage.settle(&told.scene);
    assert_eq!(edge(&told), "九八七六五四三二一");
    // A screen reader hears the same, and how far from the near side.
    for name in ["九路，第 3 行 红马", "五路，第 6 行 黑车 正在将军"] {
        assert!(says(&told, name), "{name}: {:?}", names(&told));
    }
}

#[test]
fn a_formation_of_the_other_side_is_told_and_every_stone_that_it_took_is_marked() {
    let stage = Stage::new();
    let setup = engine::GameKind::Liuzhou.default_setup();
    // A square in the middle, and one captured for it; it is White's turn now.
    let game = games::played(&setup, "c3 a6 d3 f6 c4 a1 d4 xa6");
    let told = playing(&stage, games::against_the_device(&game, engine::Side::Second));
    assert!(says(&told, "Black made a square and took a stone."), "{:?}", names(&told));
    let points = told.app.window().global::<BoardAdapter<'_>>().get_points();
    let taken: Vec<String> =
        points.iter().filter(|point| point.taken).map(|point| point.name.to_string()).collect();
    assert_eq!(taken, ["A6"]);
}

#[test]
fn a_stone_on_nine_by_nine_needs_one_touch_and_on_nineteen_two() {
    let stage = Stage::new();
    for (size, touches) in [("9", 1), ("19", 2)] {
        let setup = games::chosen(engine::GameKind::Go, &[("size", size)]);
        let mut told =
            playing(&stage, games::against_the_device(&games::played(&setup, ""), engine::Side::First));
        let mut asked = 0;
        for _ in 0..touches {
            assert_eq!(asked, 0, "{size}");
            tap(&stage, &told, "E5 empty");
            asked += told.asked().len();
        }
        assert_eq!(asked, 1, "{size}");
    }
}
