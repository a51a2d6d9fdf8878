//! Positions that are set up: pieces from the tray, what is wrong, and the match that begins.

use proto::control::{self, PuzzleProgress, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::{Game, NewGameAdapter, Opponent, Page, PositionAdapter, Remark};
use slint::{ComponentHandle, Model};

use crate::support::puzzles::tried;
use crate::support::{Told, body, look_through, open};
use crate::touches::{self, says, started, tap};

/// The editor of positions of this game, opened by touch.
fn editing(stage: &Stage, game: Game) -> Told {
    let mut told = started(stage);
    told.app.new_game(game);
    told.answer(stage);
    stage.settle(&told.scene);
    told.app.window().global::<NewGameAdapter<'_>>().invoke_set_up();
    told.answer(stage);
    stage.settle(&told.scene);
    told
}

fn page(told: &Told) -> PositionAdapter<'_> {
    told.app.window().global::<PositionAdapter<'_>>()
}

/// Names of the points with a piece of this kind and side.
fn standing(told: &Told, stone: i32, piece: i32) -> Vec<String> {
    let points = page(told).get_points();
    let is_it = |point: &qiyou::screens::PointView| (point.stone, point.piece) == (stone, piece);
    points.iter().filter(is_it).map(|point| point.name.into()).collect()
}

/// The start of the match that is asked for.
fn begun(asked: &[control::Request]) -> Vec<String> {
    let of = |request: &control::Request| match body(request) {
        request::Body::OpenRoom(open) => {
            let start = open.choice.as_ref().map(|choice| choice.start.to_vec()).unwrap_or_default();
            Some(String::from_utf8(start).expect("a line"))
        }
        _ => None,
    };
    asked.iter().filter_map(of).collect()
}

const HORSES: [(i32, i32); 1] = [(1, 4)];

#[test]
fn a_piece_of_the_tray_is_put_where_it_is_touched_and_taken_away_by_a_second_touch() {
    let stage = Stage::new();
    let mut told = editing(&stage, Game::Xiangqi);
    let [(side, horse)] = HORSES;
    assert_eq!(standing(&told, side, horse).len(), 2);
    page(&told).invoke_hold(3);
    stage.settle(&told.scene);
    assert_eq!(page(&told).get_held(), "red horse");
    // The lower left corner of ten rows of nine, and beside it.
    page(&told).invoke_touch(81 + 1);
    told.answer(&stage);
    stage.settle(&told.scene);
    assert_eq!(standing(&told, side, horse).len(), 1, "the same piece takes it away");
    let at = |told: &Told, index: usize| {
        let point = page(told).get_points().row_data(index).expect("a point of the board");
        (point.stone, point.piece)
    };
    assert_eq!(at(&told, 81 + 1), (0, 0));
    page(&told).invoke_touch(81 + 1);
    told.answer(&stage);
    stage.settle(&told.scene);
    assert_eq!(at(&told, 81 + 1), (side, horse), "it is put where it is touched");
    page(&told).invoke_hold(3);
    page(&told).invoke_touch(81 + 1);
    page(&told).invoke_touch(45);
    told.answer(&stage);
    stage.settle(&told.scene);
    assert_eq!(page(&told).get_held(), "", "a second touch puts the piece back");
    assert_eq!(
        (at(&told, 81 + 1), at(&told, 45)),
        ((0, 0), (side, horse)),
        "without a piece of the tray one of the board is moved"
    );
    assert_eq!(standing(&told, side, horse).len(), 2);
}

#[test]
fn a_match_begins_from_the_position_and_home_forgets_it() {
    let stage = Stage::new();
    let mut told = editing(&stage, Game::Xiangqi);
    page(&told).invoke_hold(3);
    page(&told).invoke_touch(81 + 1);
    told.answer(&stage);
    stage.settle(&told.scene);
    tap(&stage, &told, "Play from here");
    told.answer(&stage);
    stage.settle(&told.scene);
    let new_game = told.app.window().global::<NewGameAdapter<'_>>();
    assert!(new_game.get_started() && new_game.get_ready());
    tap(&stage, &told, "Start");
    let line = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/R1BAKABNR w - - 0 1";
    assert_eq!(begun(&told.answer(&stage)), [line]);
    told.app.go(Page::Home);
    told.answer(&stage);
    told.app.new_game(Game::Xiangqi);
    told.answer(&stage);
    stage.settle(&told.scene);
    assert!(!told.app.window().global::<NewGameAdapter<'_>>().get_started());
    tap(&stage, &told, "Start");
    assert_eq!(begun(&told.answer(&stage)), [""]);
}

#[test]
fn an_illegal_position_says_why_and_begins_nothing() {
    let stage = Stage::new();
    let mut told = editing(&stage, Game::Gomoku);
    page(&told).invoke_hold(0);
    page(&told).invoke_touch(7 * 15 + 7);
    told.answer(&stage);
    stage.settle(&told.scene);
    assert!(page(&told).get_problem().contains("1 black, 0 white"));
    tap(&stage, &told, "Play from here");
    assert_eq!(told.answer(&stage).len(), 0, "the button is off");
    page(&told).invoke_turn(true);
    told.answer(&stage);
    stage.settle(&told.scene);
    assert_eq!(page(&told).get_problem(), "");
}

#[test]
fn changes_faster_than_the_host_replies_are_made_one_after_the_other() {
    let stage = Stage::new();
    let mut told = editing(&stage, Game::Xiangqi);
    page(&told).invoke_hold(3);
    // Both horses of Red are taken away before the host has replied to the first.
    page(&told).invoke_touch(81 + 1);
    page(&told).invoke_touch(81 + 7);
    page(&told).invoke_turn(true);
    told.answer(&stage);
    stage.settle(&told.scene);
    let [(side, horse)] = HORSES;
    assert_eq!(standing(&told, side, horse), Vec::<String>::new());
    assert!(page(&told).get_second_moves());
}

/// Replies to the one request for a position; returns what it was about.
fn replied(told: &mut Told) -> control::SetUpFrom {
    let asked = told.asked();
    let [request] = &asked[..] else { panic!("one request: {asked:?}") };
    let request::Body::SetUp(set_up) = body(request) else { panic!("{asked:?}") };
    let Some(control::set_up::Change::From(from)) = &set_up.change else { panic!("{asked:?}") };
    let position = host::set_up(set_up).expect("a position");
    told.reply(request.id, reply::Body::SetUp(position));
    from.clone()
}

#[test]
fn a_lesson_is_played_on_from_the_position_that_it_shows() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.scene.resize(720, 3_000, 2.0);
    told.app.learn(Game::Xiangqi);
    told.answer(&stage);
    stage.settle(&told.scene);
    tap(&stage, &told, "Play on from here");
    let from = replied(&mut told);
    let lesson = control::Teach { game: proto::board::Game::Xiangqi.into(), step: 0, actions: Vec::new() };
    assert_eq!(from.lesson, Some(lesson));
    stage.settle(&told.scene);
    assert_eq!(touches::page(&told), Page::Position);
    assert!(page(&told).get_points().iter().any(|point| point.stone != 0));
    tap(&stage, &told, "Play from here");
    told.answer(&stage);
    stage.settle(&told.scene);
    assert!(told.app.window().global::<NewGameAdapter<'_>>().get_started());
    // Lights Out has nothing to play on from.
    told.app.learn(Game::LightsOut);
    told.answer(&stage);
    stage.settle(&told.scene);
    assert!(says(&told, "Previous step") && !says(&told, "Play on from here"));
}

#[test]
fn a_puzzle_is_played_on_from_when_it_is_over_and_not_before() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.scene.resize(720, 3_000, 2.0);
    for (progress, over) in [
        (PuzzleProgress::PuzzleOpen, false),
        (PuzzleProgress::PuzzleJudging, false),
        (PuzzleProgress::PuzzleWrong, true),
        (PuzzleProgress::PuzzleSolved, true),
    ] {
        open(&stage, &mut told, tried(progress));
        told.answer(&stage);
        stage.settle(&told.scene);
        assert_eq!(says(&told, "Play on from here"), over, "{progress:?}");
    }
    tap(&stage, &told, "Play on from here");
    let from = replied(&mut told);
    let room = tried(PuzzleProgress::PuzzleSolved);
    assert_eq!((from.room_id, from.ply), (room.id, room.record.len() as u32));
    stage.settle(&told.scene);
    assert_eq!(touches::page(&told), Page::Position);
}

#[test]
fn what_cannot_be_played_on_from_is_said_where_it_was_asked() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.scene.resize(720, 3_000, 2.0);
    told.app.learn(Game::Liuzhou);
    told.answer(&stage);
    stage.settle(&told.scene);
    tap(&stage, &told, "Play on from here");
    let asked = told.asked();
    let reason = Some(control::Words { zh: "还有一步。".into(), en: "A capture is due.".into() });
    let refusal = control::Refusal { reason, ..Default::default() };
    told.reply(asked[0].id, reply::Body::Refusal(refusal));
    stage.settle(&told.scene);
    assert_eq!((touches::page(&told), touches::remark(&told)), (Page::Lesson, Remark::Told));
    assert_eq!(touches::remark_says(&told), "A capture is due.");
}

/// A record from which one plays on by this button of the dialog; the host has replied.
fn played_on_by(stage: &Stage, label: &str) -> Told {
    let mut told = started(stage);
    told.scene.resize(720, 3_000, 2.0);
    look_through(stage, &mut told, false);
    told.answer(stage);
    stage.settle(&told.scene);
    tap(stage, &told, "Play on from here");
    tap(stage, &told, label);
    replied(&mut told);
    told.answer(stage);
    stage.settle(&told.scene);
    told
}

#[test]
fn a_record_is_played_on_with_a_friend_without_the_page_of_positions() {
    let stage = Stage::new();
    let told = played_on_by(&stage, "With a friend…");
    assert_eq!(touches::page(&told), Page::NewGame);
    let new_game = told.app.window().global::<NewGameAdapter<'_>>();
    assert!(new_game.get_started());
    assert_eq!(new_game.get_opponent(), Opponent::Peer);
}

#[test]
fn a_record_is_played_on_after_changes() {
    let stage = Stage::new();
    let told = played_on_by(&stage, "Change the position first…");
    assert_eq!(touches::page(&told), Page::Position);
}
