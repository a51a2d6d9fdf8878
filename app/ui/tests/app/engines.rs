//! Engines that the person has installed, as opponents.

use engine::Side;
use proto::board::Game;
use proto::control::{self, request};
use qiyou::headless::Stage;
use qiyou::screens::{Dialog, EnginesAdapter, NewGameAdapter, Page};
use slint::{ComponentHandle, Model};

use crate::support::engines::{added, engine, find};
use crate::support::games::{against_the_device, go, xiangqi};
use crate::support::{SIZES, Told, body, open};
use crate::touches::{dialog, names, says, tap};

fn asked(stage: &Stage, told: &mut Told) -> Vec<request::Body> {
    told.answer(stage).iter().map(|request| body(request).clone()).collect()
}

#[test]
fn an_engine_is_chosen_as_opponent_with_its_time_and_only_in_its_game() {
    let stage = Stage::new();
    let mut told = Told::new(&stage, SIZES[0]);
    added(&told, vec![engine("GNU Go", Game::Go, true, false), engine("Pachi", Game::Go, true, false)]);
    told.app.new_game(qiyou::screens::Game::Gomoku);
    told.answer(&stage);
    stage.settle(&told.scene);
    assert!(!says(&told, "Other program"), "{:?}", names(&told));
    told.app.new_game(qiyou::screens::Game::Go);
    told.answer(&stage);
    stage.settle(&told.scene);
    tap(&stage, &told, "Other program");
    tap(&stage, &told, "Pachi");
    tap(&stage, &told, "More time");
    told.answer(&stage);
    stage.settle(&told.scene);
    told.app.window().global::<NewGameAdapter<'_>>().invoke_start();
    let opened = asked(&stage, &mut told).into_iter().find_map(|body| match body {
        request::Body::OpenRoom(open) => Some(open),
        _ => None,
    });
    let open = opened.expect("a match is opened");
    let against: Vec<(String, u32)> = [&open.first, &open.second]
        .into_iter()
        .flatten()
        .filter(|seat| !seat.engine.is_empty())
        .map(|seat| (seat.engine.clone(), seat.engine_seconds))
        .collect();
    assert_eq!(against, [("Pachi".to_owned(), 4)]);
}

#[test]
fn programs_are_found_added_and_removed_in_the_settings() {
    let stage = Stage::new();
    let mut told = Told::new(&stage, SIZES[0]);
    told.app.go(Page::Settings);
    added(&told, vec![engine("Rapfi", Game::Gomoku, true, false)]);
    find(&stage, &mut told, vec![engine("GNU Go", Game::Go, true, false)]);
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::Engines);
    tap(&stage, &told, "Add GNU Go (Go)");
    let add = asked(&stage, &mut told);
    let is_added = |body: &request::Body| matches!(body, request::Body::AddEngine(control::AddEngine { program, .. }) if program == "/usr/games/GNU Go");
    assert!(add.iter().any(is_added), "{add:?}");
    // While one is tried, no other is added.
    assert!(told.app.window().global::<EnginesAdapter<'_>>().get_busy());
    tap(&stage, &told, "Remove Rapfi");
    let removed = asked(&stage, &mut told);
    let is_removed =
        |body: &request::Body| matches!(body, request::Body::RemoveEngine(one) if one.name == "Rapfi");
    assert!(removed.iter().any(is_removed), "{removed:?}");
}

/// A match of xiangqi against this device's bot, with Red to move.
fn xiangqi_room() -> control::Room {
    against_the_device(&xiangqi(), Side::First)
}

/// Touches "Hint" in this room. Returns the engine that is asked.
fn hinted(stage: &Stage, told: &mut Told, room: control::Room) -> String {
    open(stage, told, room);
    told.answer(stage);
    stage.settle(&told.scene);
    tap(stage, told, "Hint");
    let asked = told.answer(stage);
    let engine = asked.iter().find_map(|request| match body(request) {
        request::Body::Hint(hint) => Some(hint.engine.clone()),
        _ => None,
    });
    engine.unwrap_or_else(|| panic!("a hint is asked for, not {asked:?}"))
}

#[test]
fn hints_come_from_the_program_that_is_switched_on_while_it_is_there_and_in_its_game() {
    let stage = Stage::new();
    let mut told = Told::new(&stage, SIZES[0]);
    let programs = |missing| {
        vec![engine("Pikafish", Game::Xiangqi, true, missing), engine("Pachi", Game::Go, true, false)]
    };
    told.app.go(Page::Settings);
    added(&told, programs(false));
    find(&stage, &mut told, Vec::new());
    stage.settle(&told.scene);
    tap(&stage, &told, "Hints by Pikafish");
    told.answer(&stage);
    stage.settle(&told.scene);
    let added_view = |told: &Told| -> Vec<bool> {
        told.app.window().global::<EnginesAdapter<'_>>().get_added().iter().map(|one| one.advises).collect()
    };
    assert_eq!(added_view(&told), [true, false]);
    tap(&stage, &told, "Close");
    assert_eq!(hinted(&stage, &mut told, xiangqi_room()), "Pikafish");
    assert_eq!(hinted(&stage, &mut told, against_the_device(&go(), Side::Second)), "", "nobody chose Pachi");
    added(&told, programs(true));
    assert_eq!(hinted(&stage, &mut told, xiangqi_room()), "", "the program is gone");
}
