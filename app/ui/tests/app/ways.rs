//! Navigation: from every page, however it was opened, the back button leads home through sensible pages.

use std::time::Duration;

use engine::Side;
use proto::control::{PuzzleProgress, event, request};
use qiyou::headless::Stage;
use qiyou::press;
use qiyou::screens::{
    BoardAdapter, ClubAdapter, Dialog, Game, HomeAdapter, ManualAdapter, NearbyAdapter, NewGameAdapter, Page,
    PuzzlesAdapter, RecordsAdapter, SettingsAdapter,
};
use senses::Press;
use slint::ComponentHandle;
use slint::platform::Key;

use crate::support::{Told, body, bot, games, here, keep, open, puzzles, room};
use crate::touches::{dialog, page, started, tap};

/// A way to press back.
type Way = fn(&Stage, &Told);

/// Input that leads to a page.
type Go = fn(&Stage, &mut Told);

/// Ways to every page, with the pages on the way back, home last.
const WAYS: [(&str, Go, &[Page]); 29] = [
    ("a new game", |_, told| told.app.new_game(Game::Gomoku), &[Page::NewGame]),
    ("people near", |_, told| told.app.go(Page::Nearby), &[Page::Nearby]),
    ("friends", |_, told| told.app.go(Page::Friends), &[Page::Friends]),
    (
        "friends from those near",
        |_, told| {
            told.app.go(Page::Nearby);
            told.app.window().global::<NearbyAdapter<'_>>().invoke_open_friends();
        },
        &[Page::Friends, Page::Nearby],
    ),
    (
        "friends from the settings and back to them",
        |_, told| {
            told.app.go(Page::Settings);
            told.app.window().global::<SettingsAdapter<'_>>().invoke_open_friends();
            told.app.go(Page::Settings);
        },
        &[Page::Settings],
    ),
    ("the settings", |_, told| told.app.go(Page::Settings), &[Page::Settings]),
    ("a lesson", |_, told| told.app.learn(Game::Liuzhou), &[Page::Lesson]),
    (
        "a lesson from a new game",
        |_, told| {
            told.app.new_game(Game::Go);
            told.app.learn(Game::Go);
        },
        &[Page::Lesson, Page::NewGame],
    ),
    (
        "a board to set up",
        |stage, told| {
            told.app.new_game(Game::LightsOut);
            told.answer(stage);
            told.app.window().global::<NewGameAdapter<'_>>().invoke_set_up();
        },
        &[Page::Editor, Page::NewGame],
    ),
    (
        "a position to set up",
        |stage, told| {
            told.app.new_game(Game::Go);
            told.answer(stage);
            told.app.window().global::<NewGameAdapter<'_>>().invoke_set_up();
        },
        &[Page::Position, Page::NewGame],
    ),
    ("puzzles", puzzles::look, &[Page::Puzzles]),
    (
        "puzzles from a new game",
        |_, told| {
            told.app.new_game(Game::Gomoku);
            told.app.window().global::<NewGameAdapter<'_>>().invoke_open_puzzles();
        },
        &[Page::Puzzles, Page::NewGame],
    ),
    ("a puzzle", try_one, &[Page::Board, Page::Puzzles]),
    (
        "a puzzle from a new game's",
        |stage, told| {
            told.app.new_game(Game::Gomoku);
            told.app.window().global::<NewGameAdapter<'_>>().invoke_open_puzzles();
            told.answer(stage);
            open(stage, told, puzzles::tried(PuzzleProgress::PuzzleOpen));
        },
        &[Page::Board, Page::Puzzles, Page::NewGame],
    ),
    (
        "the settings from a puzzle",
        |stage, told| {
            try_one(stage, told);
            told.app.go(Page::Settings);
        },
        &[Page::Settings, Page::Board, Page::Puzzles],
    ),
    ("records", |_, told| told.app.go(Page::Records), &[Page::Records]),
    (
        "a kept match",
        |stage, told| {
            told.app.window().global::<HomeAdapter<'_>>().invoke_open_records();
            keep(stage, told);
            stage.pass(Duration::ZERO);
            told.app.window().global::<RecordsAdapter<'_>>().invoke_open("x".into());
        },
        &[Page::Replay, Page::Records],
    ),
    (
        "a match that was just chosen",
        |stage, told| {
            told.app.new_game(Game::Gomoku);
            told.answer(stage);
            open(stage, told, room(bot(3), here(), &[proto::board::Side::Second]));
        },
        &[Page::Board],
    ),
    (
        "a board of lights that is changed",
        |stage, told| {
            open(stage, told, games::alone(&games::lights("5", "5")));
            told.answer(stage);
            told.app.window().global::<BoardAdapter<'_>>().invoke_change_board();
        },
        &[Page::Editor, Page::Board],
    ),
    (
        "another match out of the settings",
        |stage, told| {
            open(stage, told, games::against_the_device(&games::xiangqi(), Side::First));
            told.app.go(Page::Settings);
            open(stage, told, room(bot(3), here(), &[proto::board::Side::Second]));
        },
        &[Page::Board],
    ),
    ("the manual", |stage, told| tap(stage, told, "Manual"), &[Page::Manual]),
    (
        "a chapter of the manual",
        |stage, told| {
            tap(stage, told, "Manual");
            tap(stage, told, "Gomoku");
        },
        &[Page::Chapter, Page::Manual],
    ),
    (
        "the chapter after it",
        |stage, told| {
            tap(stage, told, "Manual");
            tap(stage, told, "Your first game");
            told.app.window().global::<ManualAdapter<'_>>().invoke_open_chapter(1);
        },
        &[Page::Chapter, Page::Manual],
    ),
    (
        "what to do when nobody is found",
        |_, told| {
            told.app.go(Page::Nearby);
            told.app.window().global::<ManualAdapter<'_>>().invoke_open_trouble();
        },
        &[Page::Chapter, Page::Nearby],
    ),
    (
        "the list of libraries",
        |_, told| {
            told.app.go(Page::Settings);
            told.app.window().global::<ManualAdapter<'_>>().invoke_open_libraries();
        },
        &[Page::Chapter, Page::Settings],
    ),
    (
        "the manual from a board's rules",
        |stage, told| {
            open(stage, told, room(bot(3), here(), &[proto::board::Side::Second]));
            told.answer(stage);
            told.app.ask(Dialog::Rules);
            stage.settle(&told.scene);
            tap(stage, told, "Read about it in the manual");
        },
        &[Page::Chapter, Page::Board],
    ),
    ("a club evening", |_, told| told.app.go(Page::Club), &[Page::Club]),
    ("a club evening of those near", evening, &[Page::Club, Page::Nearby]),
    (
        "another game for a club evening",
        |stage, told| {
            evening(stage, told);
            told.app.window().global::<ClubAdapter<'_>>().invoke_change_game();
        },
        &[Page::NewGame, Page::Club, Page::Nearby],
    ),
];

fn evening(_: &Stage, told: &mut Told) {
    told.app.go(Page::Nearby);
    told.app.window().global::<ClubAdapter<'_>>().invoke_open();
}

fn try_one(stage: &Stage, told: &mut Told) {
    puzzles::look(stage, told);
    told.app.window().global::<PuzzlesAdapter<'_>>().invoke_open("g2".into());
    told.answer(stage);
    open(stage, told, puzzles::tried(PuzzleProgress::PuzzleOpen));
}

#[test]
fn from_every_page_back_leads_home_through_pages_that_make_sense_by_touch_key_and_gamepad() {
    let stage = Stage::new();
    let by: [(&str, Way); 3] = [
        ("a touch", |stage, told| tap(stage, told, "Back")),
        ("Escape", |_, told| told.scene.key(Key::Escape)),
        ("a gamepad", |_, told| press(told.app.window(), Press::Back)),
    ];
    let mut seen: Vec<Page> = vec![Page::Home];
    for (how, back) in by {
        for (what, go, way) in WAYS {
            let mut told = started(&stage);
            go(&stage, &mut told);
            told.answer(&stage);
            stage.settle(&told.scene);
            let mut closed = 0;
            for (at, expected) in way.iter().chain(&[Page::Home]).enumerate() {
                assert_eq!(
                    (page(&told), dialog(&told)),
                    (*expected, Dialog::None),
                    "{what}, {at} back by {how}"
                );
                seen.push(*expected);
                if *expected == Page::Home {
                    break;
                }
                back(&stage, &told);
                stage.settle(&told.scene);
                let asked = told.answer(&stage);
                if asked.iter().any(|one| matches!(body(one), request::Body::CloseRoom(_))) {
                    closed += 1;
                    told.say(event::Body::RoomGone(proto::control::Gone { id: "room".into() }));
                }
                stage.settle(&told.scene);
            }
            assert_eq!(
                closed,
                usize::from(way.contains(&Page::Board)),
                "{what}: the room is closed once, when it is left"
            );
            // Every way back ends at home.
            told.scene.key(Key::Escape);
            stage.settle(&told.scene);
            assert_eq!(page(&told), Page::Home, "{what}");
        }
    }
    for every in [
        Page::NewGame,
        Page::Nearby,
        Page::Board,
        Page::Settings,
        Page::Records,
        Page::Replay,
        Page::Editor,
        Page::Friends,
        Page::Lesson,
        Page::Puzzles,
        Page::Manual,
        Page::Chapter,
        Page::Club,
        Page::Position,
    ] {
        assert!(seen.contains(&every), "no way leads to {every:?}");
    }
}

#[test]
fn a_match_that_the_host_has_closed_is_left_without_a_word() {
    let stage = Stage::new();
    let mut told = started(&stage);
    open(&stage, &mut told, room(bot(3), here(), &[proto::board::Side::Second]));
    told.answer(&stage);
    told.say(event::Body::RoomGone(proto::control::Gone { id: "room".into() }));
    stage.settle(&told.scene);
    tap(&stage, &told, "Back");
    assert_eq!(page(&told), Page::Home);
    let asked = told.answer(&stage);
    assert!(!asked.iter().any(|one| matches!(body(one), request::Body::CloseRoom(_))), "{asked:?}");
}
