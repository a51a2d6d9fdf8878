//! The end of a match: it comes to be seen on the board, then its result is told, with what was achieved and the next step.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use proto::control::{self, event, request, seat};
use qiyou::headless::Stage;
use qiyou::screens::{BoardAdapter, Page};
use qiyou::{Preferences, Senses};
use senses::{Cue, Feel, Press};
use slint::platform::Key;
use slint::{ComponentHandle, Model};

use crate::support::{SIZES, Told, body, ended, games, here, open, stories, tell};
use crate::touches::{names, page, says, tap};

/// Writes down what is heard.
#[derive(Default)]
struct Listener(RefCell<Vec<Cue>>);

impl Senses for Listener {
    fn hear(&self, cue: Cue, _: u8) {
        self.0.borrow_mut().push(cue);
    }

    fn music(&self, _: u8) {}

    fn feel(&self, _: Feel) {}

    fn has_motor(&self) -> bool {
        false
    }

    fn keep_screen_on(&self, _: bool) {}
}

/// Before and after the last move of a match that this device's player wins, by a row on the board.
fn last_move() -> (control::Room, control::Room) {
    let setup = engine::GameKind::Gomoku.default_setup();
    let before = games::played(&setup, "d4 a1 e4 a2 f4 a3 h4 b1");
    let after = games::played(&setup, "d4 a1 e4 a2 f4 a3 h4 b1 g4");
    let room = |game| games::against_the_device(game, engine::Side::First);
    (room(&before), ended(room(&after)))
}

/// At the board before the last move, with motion as `reduced` says, in this size.
fn listening(stage: &Stage, size: usize, reduced: bool, before: &control::Room) -> (Told, Rc<Listener>) {
    let mut told = Told::new(stage, SIZES[size]);
    told.app.prefer(Preferences { reduced_motion: reduced, ..Preferences::default() });
    let listener = Rc::new(Listener::default());
    told.app.give_senses(listener.clone());
    open(stage, &mut told, before.clone());
    told.answer(stage);
    stage.settle(&told.scene);
    (told, listener)
}

fn moment(told: &Told) -> bool {
    told.app.window().global::<BoardAdapter<'_>>().get_moment()
}

/// Stones of the row that are lit.
fn lit(told: &Told) -> usize {
    told.app.window().global::<BoardAdapter<'_>>().get_points().iter().filter(|point| point.winning).count()
}

#[test]
fn the_row_is_drawn_stone_by_stone_and_heard_and_the_result_is_told_after_it() {
    let stage = Stage::new();
    let (before, after) = last_move();
    for size in [0, 2] {
        let (told, listener) = listening(&stage, size, false, &before);
        told.say(event::Body::Room(after.clone()));
        stage.pass(Duration::ZERO);
        stage.pass(Duration::from_millis(40));
        assert_eq!((moment(&told), lit(&told), says(&told, "You won")), (true, 0, false));
        assert!(!names(&told).iter().any(|name| name == "Undo"), "nothing can be done for a moment");
        let mut seen = Vec::new();
        for _ in 0..200 {
            stage.pass(Duration::from_millis(20));
            if seen.last() != Some(&lit(&told)) {
                seen.push(lit(&told));
            }
        }
        assert_eq!(seen, [0, 1, 2, 3, 4, 5]);
        let heard = listener.0.take();
        assert_eq!(heard.first(), Some(&Cue::Note(0)));
        assert_eq!((heard.len(), heard.last()), (7, Some(&Cue::Win)), "a note each, and the line");
        assert_eq!((moment(&told), says(&told, "You won")), (false, true));
    }
}

#[test]
fn with_reduced_motion_all_of_it_is_there_at_once_and_it_is_what_the_moment_ends_with() {
    let stage = Stage::new();
    let (before, after) = last_move();
    let (game, winner) = games::mated();
    let mated = ended(games::against_the_device(&game, winner));
    let unmated = control::Room { result: None, ..mated.clone() };
    let (lit_board, dark_board) = games::last_lights();
    let lights = [games::alone(&lit_board), ended(games::alone(&dark_board))];
    for [before, after] in [[before, after], [unmated, mated], lights] {
        let pictures = [true, false].map(|reduced| {
            let (told, listener) = listening(&stage, 0, reduced, &before);
            told.say(event::Body::Room(after.clone()));
            stage.pass(Duration::ZERO);
            stage.pass(Duration::from_millis(20));
            assert_eq!(moment(&told), !reduced);
            if reduced {
                assert_eq!(listener.0.take(), [Cue::Win], "no note");
            }
            for _ in 0..100 {
                stage.pass(Duration::from_millis(50));
            }
            stage.settle(&told.scene);
            // Drawn from nothing: edges of what was painted in parts are other by a shade.
            let (width, height, scale) = SIZES[0];
            told.scene.resize(width + 2, height, scale);
            stage.settle(&told.scene);
            told.scene.resize(width, height, scale);
            stage.settle(&told.scene);
            told.scene.picture()
        });
        assert!(pictures[0] == pictures[1], "{:?}", after.result);
    }
}

#[test]
fn a_tap_a_key_and_a_gamepad_end_the_moment_at_once() {
    let stage = Stage::new();
    let (before, after) = last_move();
    for hurry in [0, 1, 2] {
        let (told, listener) = listening(&stage, 0, false, &before);
        // The keyboard is on the board.
        told.scene.key(Key::UpArrow);
        stage.settle(&told.scene);
        told.say(event::Body::Room(after.clone()));
        stage.pass(Duration::ZERO);
        stage.pass(Duration::from_millis(40));
        assert!(moment(&told));
        match hurry {
            0 => told.scene.tap(180.0, 400.0),
            1 => told.scene.key(Key::Return),
            _ => qiyou::press(told.app.window(), Press::Confirm),
        }
        stage.settle(&told.scene);
        assert_eq!((moment(&told), lit(&told)), (false, 5), "{hurry}");
        assert_eq!(listener.0.take(), [Cue::Win]);
        assert!(says(&told, "You won"));
    }
}

#[test]
fn who_leaves_within_the_moment_hears_nothing_more_of_it() {
    let stage = Stage::new();
    let (before, after) = last_move();
    let (told, listener) = listening(&stage, 0, false, &before);
    told.say(event::Body::Room(after));
    stage.pass(Duration::ZERO);
    stage.pass(Duration::from_millis(40));
    assert!(moment(&told));
    told.scene.key(Key::Escape);
    stage.settle(&told.scene);
    assert_eq!(page(&told), Page::Home);
    stage.pass(Duration::from_secs(3));
    assert_eq!(listener.0.take(), []);
}

#[test]
fn a_board_whose_solution_was_shown_is_not_celebrated() {
    let stage = Stage::new();
    let (before, after) = games::last_lights();
    let mut after = ended(games::alone(&after));
    after.achieved = Some(control::Achieved { help: control::Help::Solved.into(), ..Default::default() });
    let (told, listener) = listening(&stage, 0, false, &games::alone(&before));
    told.say(event::Body::Room(after));
    for _ in 0..40 {
        stage.pass(Duration::from_millis(50));
    }
    assert_eq!(listener.0.take(), [Cue::End]);
    assert!(says(&told, "The solution was shown"));
}

#[test]
fn what_was_achieved_is_told_and_what_helped_comes_first() {
    let stage = Stage::new();
    let (_, after) = last_move();
    let of = control::Achieved::default;
    for (achieved, words) in [
        (control::Achieved { first_win: true, ..of() }, "Your first win against level 7"),
        (control::Achieved { streak: 4, ..of() }, "4 wins in a row"),
        (control::Achieved { help: control::Help::Hints.into(), ..of() }, "With hints"),
        (control::Achieved { help: control::Help::Solved.into(), ..of() }, "The computer played for you"),
    ] {
        let room = control::Room { achieved: Some(achieved), ..after.clone() };
        let (told, _) = listening(&stage, 0, true, &room);
        assert!(says(&told, words), "{words}: {:?}", names(&told));
    }
    for (help, words) in
        [(control::Help::Hints, "With hints"), (control::Help::Solved, "The computer played for you")]
    {
        let all = control::Achieved { help: help.into(), first_win: true, streak: 4, ..of() };
        let room = control::Room { achieved: Some(all), ..after.clone() };
        let (told, _) = listening(&stage, 0, true, &room);
        let all = names(&told);
        assert!(says(&told, words), "{words}: {all:?}");
        assert!(
            !all.iter().any(|name| name.contains("first win") || name.contains("wins in a row")),
            "{all:?}"
        );
    }
    let (_, lights) = games::last_lights();
    let achieved = control::Achieved { best_before: 9, ..of() };
    let room = control::Room { achieved: Some(achieved), ..ended(games::alone(&lights)) };
    let (told, _) = listening(&stage, 0, true, &room);
    assert!(says(&told, "Your fewest so far: before, it took you 9"));
}

#[test]
fn after_a_win_the_next_level_is_one_touch_away_by_the_same_rules() {
    let stage = Stage::new();
    let (_, after) = last_move();
    let achieved = Some(control::Achieved { next_level: 8, ..Default::default() });
    let (mut told, _) = listening(&stage, 0, true, &control::Room { achieved, ..after.clone() });
    told.asked();
    tap(&stage, &told, "On to level 8");
    let asked = told.asked();
    let opened = asked.iter().find_map(|one| match body(one) {
        request::Body::OpenRoom(open) => Some(open.clone()),
        _ => None,
    });
    let opened = opened.unwrap_or_else(|| panic!("no match was begun: {asked:?}"));
    assert_eq!(opened.setup, after.setup);
    assert_eq!(opened.first.and_then(|seat| seat.who), here().who);
    assert_eq!(opened.second.and_then(|seat| seat.who), Some(seat::Who::BotLevel(8)));
}

#[test]
fn after_a_loss_the_turning_points_are_one_touch_away() {
    let stage = Stage::new();
    let (_, story) = stories().find(|(name, _)| *name == "end-lost").expect("a story");
    for size in SIZES {
        let mut told = tell(&stage, size, (false, false, 0), story);
        told.asked();
        tap(&stage, &told, "See where it turned");
        assert_eq!(page(&told), Page::Replay);
        let asked = told.asked();
        let judged = asked.iter().filter_map(|one| match body(one) {
            request::Body::AnalyseMatch(analyse) => Some((analyse.room_id.as_str(), analyse.on)),
            _ => None,
        });
        assert_eq!(judged.collect::<Vec<_>>(), [("room", true)], "they are looked for");
    }
}
