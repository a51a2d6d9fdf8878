//! Two people at one device: the board turns to whoever is to move.

use proto::board::{Side, action};
use proto::control::{self, event, request};
use qiyou::headless::Stage;
use qiyou::screens::{BoardAdapter, Side as Shown};
use slint::{ComponentHandle, Model};

use crate::support::{Told, body, bot, games, here, open, room};
use crate::touches::{names, started, tap};

/// Two people here; this side is to move.
fn both_here(turn: Side, ply: u32) -> control::Room {
    let mut room = room(here(), here(), &[Side::First, Side::Second]);
    let board = room.board.as_mut().expect("a board");
    (board.turn, board.ply) = (turn.into(), ply);
    room
}

fn near(told: &Told) -> Shown {
    told.app.window().global::<BoardAdapter<'_>>().get_mine().side
}

fn first_name(told: &Told) -> String {
    let names = told.app.window().global::<BoardAdapter<'_>>().get_row_names();
    names.row_data(0).unwrap_or_default().into()
}

/// Lets the board beside the points catch up with a move.
fn pass(stage: &Stage, told: &mut Told) {
    stage.pass(std::time::Duration::from_millis(100));
    told.answer(stage);
    stage.settle(&told.scene);
}

#[test]
fn the_board_with_its_seats_turns_to_whoever_is_to_move_if_the_two_want_that() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.scene.resize(720, 3_000, 2.0);
    open(&stage, &mut told, both_here(Side::Second, 17));
    pass(&stage, &mut told);
    assert_eq!((near(&told), first_name(&told).as_str()), (Shown::First, "15"), "it stays as it is");
    tap(&stage, &told, "More");
    tap(&stage, &told, "The board turns to whoever is to move");
    tap(&stage, &told, "Close");
    pass(&stage, &mut told);
    assert_eq!((near(&told), first_name(&told).as_str()), (Shown::Second, "1"));
    told.say(event::Body::Room(both_here(Side::First, 18)));
    pass(&stage, &mut told);
    assert_eq!((near(&told), first_name(&told).as_str()), (Shown::First, "15"));
    // The next match is as this one.
    let other = control::Room { id: "other".into(), ..both_here(Side::Second, 17) };
    open(&stage, &mut told, other);
    pass(&stage, &mut told);
    assert_eq!(near(&told), Shown::Second);
}

#[test]
fn a_touch_on_a_turned_board_is_at_the_point_that_is_seen() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.app.prefer_turning();
    open(&stage, &mut told, both_here(Side::Second, 17));
    pass(&stage, &mut told);
    // The upper left corner is O1 for whoever sits at the other side.
    told.app.window().global::<BoardAdapter<'_>>().invoke_touch(0);
    let asked = told.answer(&stage);
    let placed = asked.iter().find_map(|one| match body(one) {
        request::Body::Act(act) => act.action.as_ref()?.kind,
        _ => None,
    });
    assert_eq!(placed, Some(action::Kind::Place(14)), "{asked:?}");
}

#[test]
fn after_the_end_the_board_stays_with_whoever_made_the_last_move() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.app.prefer_turning();
    for (ply, last) in [(17, Shown::First), (18, Shown::Second)] {
        let ended = control::Room { id: format!("{ply}"), ..both_here(Side::Unspecified, ply) };
        open(&stage, &mut told, ended);
        pass(&stage, &mut told);
        assert_eq!(near(&told), last);
    }
}

#[test]
fn against_the_computer_and_alone_nothing_turns() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.app.prefer_turning();
    open(&stage, &mut told, room(bot(3), here(), &[Side::Second]));
    pass(&stage, &mut told);
    assert_eq!((near(&told), first_name(&told).as_str()), (Shown::Second, "15"));
    open(&stage, &mut told, games::alone(&games::lights("5", "5")));
    told.scene.resize(720, 3_000, 2.0);
    pass(&stage, &mut told);
    tap(&stage, &told, "More");
    assert!(!names(&told).iter().any(|name| name.contains("turns to whoever")), "{:?}", names(&told));
}
