//! Two people at one device: the board turns to whoever is to move.

use i_slint_backend_testing::ElementQuery;
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

/// The pixels of a part of the window, in logical pixels.
fn part(told: &Told, x: f32, y: f32, width: f32, height: f32) -> Vec<[u8; 3]> {
    let (picture, scale) = (told.scene.picture(), told.app.window().window().scale_factor());
    let device = |length: f32| (length * scale).round() as usize;
    let (left, top) = (device(x), device(y));
    let rows = top..top + device(height);
    let columns = left..left + device(width);
    rows.flat_map(|row| columns.clone().map(move |column| (row, column)))
        .map(|(row, column)| {
            let pixel = picture.pixels[row * picture.width as usize + column];
            [pixel.r, pixel.g, pixel.b]
        })
        .collect()
}

#[test]
fn the_far_seat_is_upside_down_for_two_who_face_each_other_and_says_the_same() {
    let stage = Stage::new();
    for turn in [Side::First, Side::Second] {
        let mut told = started(&stage);
        told.prefer(false, false, 0);
        open(&stage, &mut told, both_here(turn, 17));
        pass(&stage, &mut told);
        let seats = ElementQuery::from_root(told.app.window()).match_type_name("SeatCard").find_all();
        assert_eq!(seats.len(), 2);
        let (at, size) = (seats[0].absolute_position(), seats[0].size());
        let upright = part(&told, at.x, at.y, size.width, size.height);
        let spoken = seats[0].accessible_label();
        told.app.prefer_facing();
        for _ in 0..3 {
            pass(&stage, &mut told);
        }
        assert_eq!(
            ElementQuery::from_root(told.app.window()).match_type_name("SeatCard").find_all().len(),
            1
        );
        let mut turned = part(&told, at.x, at.y, size.width, size.height);
        assert_ne!(upright, turned);
        turned.reverse();
        let apart = upright
            .iter()
            .zip(&turned)
            .filter(|(one, other)| one.iter().zip(*other).any(|(one, other)| one.abs_diff(*other) > 24));
        let apart = apart.count();
        assert!(apart * 200 < upright.len(), "{apart} of {} pixels differ", upright.len());
        let label = told.app.window().global::<BoardAdapter<'_>>().get_far_spoken();
        assert_eq!(Some(label), spoken);
    }
}

#[test]
fn the_clock_of_a_far_seat_that_is_upside_down_goes_on() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.app.prefer_facing();
    let mut timed = both_here(Side::Second, 17);
    timed.clocks = vec![
        control::Clock { left_ms: 300_000, ..Default::default() },
        control::Clock { left_ms: 300_000, running: true, ..Default::default() },
    ];
    open(&stage, &mut told, timed);
    for _ in 0..3 {
        pass(&stage, &mut told);
    }
    let seat = || {
        let image = told.app.window().global::<BoardAdapter<'_>>().get_far_seat();
        image.to_rgba8().expect("pixels").as_bytes().to_vec()
    };
    let before = seat();
    for _ in 0..4 {
        stage.pass(std::time::Duration::from_millis(500));
    }
    assert!(seat() != before, "two seconds later");
}
