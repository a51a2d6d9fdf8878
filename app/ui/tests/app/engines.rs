//! Engines that the person has installed, as opponents.

use proto::board::Game;
use proto::control::{self, request};
use qiyou::headless::Stage;
use qiyou::screens::{Dialog, EnginesAdapter, NewGameAdapter, Page};
use slint::ComponentHandle;

use crate::support::engines::{added, engine, find};
use crate::support::{SIZES, Told, body};
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
