//! Review of a kept match.

use proto::control::{self, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::{Dialog, ReplayAdapter};
use slint::{ComponentHandle, Model};

use crate::support::{body, games, look_through};
use crate::touches::{dialog, says, started, tap};

#[test]
fn turning_points_are_listed_gone_through_and_the_better_move_is_drawn_before_each() {
    let stage = Stage::new();
    let mut told = started(&stage);
    look_through(&stage, &mut told, true);
    stage.settle(&told.scene);
    let page = || told.app.window().global::<ReplayAdapter<'_>>();
    let listed: Vec<_> =
        page().get_turning_points().iter().map(|one| (one.number, one.before, one.after)).collect();
    // The mover's winning chances, in percent.
    assert_eq!(listed, [(9, 58, 29), (12, 65, 38)]);
    assert_eq!((page().get_turns_before(), page().get_turns_after()), (true, false), "the end is shown");
    assert_eq!(page().get_arrow_from(), -1);
    page().invoke_turn(false);
    let asked = told.asked();
    let looks: Vec<u32> = asked
        .iter()
        .filter_map(|one| match body(one) {
            request::Body::Look(look) => Some(look.ply),
            _ => None,
        })
        .collect();
    assert_eq!(looks, [11], "the position before the last turning point");
    let position = control::Position {
        room_id: "x".into(),
        ply: 11,
        total: 12,
        board: Some(host::position(&games::xiangqi())),
        ..Default::default()
    };
    told.reply(asked[0].id, reply::Body::Position(position));
    stage.settle(&told.scene);
    let page = told.app.window().global::<ReplayAdapter<'_>>();
    assert!(page.get_arrow_from() >= 0 && page.get_arrow_to() >= 0, "the better move is drawn");
    assert_eq!(page.get_opening(), "Central Cannon with River Cannon vs Screen Horses");
    assert_eq!((page.get_turns_before(), page.get_turns_after()), (true, false));
}

#[test]
fn the_game_and_the_position_that_is_seen_are_copied_as_the_host_writes_them() {
    let stage = Stage::new();
    let mut told = started(&stage);
    look_through(&stage, &mut told, false);
    stage.settle(&told.scene);
    told.asked();
    told.scene.resize(720, 3_000, 2.0);
    stage.settle(&told.scene);
    tap(&stage, &told, "Share…");
    let asked = told.asked();
    let exports: Vec<control::Export> = asked
        .iter()
        .filter_map(|one| match body(one) {
            request::Body::Export(export) => Some(export.clone()),
            _ => None,
        })
        .collect();
    let of = |format: &str, ply| control::Export { room_id: "x".into(), format: format.into(), ply };
    assert_eq!(exports, [of("", None), of("fen", Some(12))]);
    let page = || told.app.window().global::<ReplayAdapter<'_>>();
    for (request, text) in asked.iter().zip(["[Game \"Chinese Chess\"]\n", "rnbakabnr/9 w\n"]) {
        let file = control::File { name: "x".into(), content: text.as_bytes().to_vec().into() };
        told.reply(request.id, reply::Body::File(file));
    }
    stage.settle(&told.scene);
    assert_eq!(
        (page().get_game_text(), page().get_position_text()),
        ("[Game \"Chinese Chess\"]".into(), "rnbakabnr/9 w".into())
    );
    tap(&stage, &told, "Copy this position");
    assert!(says(&told, "Copy the whole game") && dialog(&told) == Dialog::Share);
}
