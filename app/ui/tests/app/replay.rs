//! Review of a kept match.

use proto::control::{self, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::{Dialog, HomeAdapter, RecordsAdapter, ReplayAdapter};
use slint::{ComponentHandle, Model};

use crate::support::{Told, body, games, keep, look_through};
use crate::touches::{dialog, names, says, started, tap};

/// Goes to the turning point beside the position that is seen. Returns the position that is asked for, which the host then tells.
fn turned(stage: &Stage, told: &mut Told, forward: bool) -> u32 {
    told.app.window().global::<ReplayAdapter<'_>>().invoke_turn(forward);
    let asked = told.asked();
    let [look] = &asked[..] else { panic!("one look: {asked:?}") };
    let request::Body::Look(of) = body(look) else { panic!("a look: {look:?}") };
    let position = control::Position {
        room_id: "x".into(),
        ply: of.ply,
        total: 12,
        board: Some(host::position(&games::xiangqi())),
        ..Default::default()
    };
    told.reply(look.id, reply::Body::Position(position));
    stage.settle(&told.scene);
    of.ply
}

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
    told.asked();
    // Before the last one, before the first one, and back.
    for (forward, before, more) in
        [(false, 11, (true, false)), (false, 8, (false, true)), (true, 11, (true, false))]
    {
        assert_eq!(turned(&stage, &mut told, forward), before);
        let page = told.app.window().global::<ReplayAdapter<'_>>();
        // The cannon in the eighth row from above goes from the eighth file from the left to the fifth.
        let arrow = (page.get_arrow_from(), page.get_arrow_to());
        assert_eq!(arrow, (7 * 9 + 7, 7 * 9 + 4), "the better move is drawn before move {}", before + 1);
        assert_eq!(page.get_opening(), "Central Cannon with River Cannon vs Screen Horses");
        assert_eq!((page.get_turns_before(), page.get_turns_after()), more, "before move {}", before + 1);
    }
}

#[test]
fn a_match_that_goes_on_against_another_person_is_neither_analysed_nor_played_on_from() {
    let stage = Stage::new();
    let mut told = started(&stage);
    let offered = |told: &Told| {
        let page = told.app.window().global::<ReplayAdapter<'_>>();
        (page.get_can_judge(), page.get_goes_on())
    };
    told.app.window().global::<HomeAdapter<'_>>().invoke_open_records();
    keep(&stage, &mut told);
    stage.settle(&told.scene);
    for (id, expected) in [("n", (false, true)), ("x", (true, false))] {
        told.app.window().global::<RecordsAdapter<'_>>().invoke_open(id.into());
        stage.settle(&told.scene);
        assert_eq!(offered(&told), expected, "{id}");
    }
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
    assert_eq!(stage.take_copied(), None, "nobody has touched anything yet");
    for (button, text) in
        [("Copy this position", "rnbakabnr/9 w"), ("Copy the whole game", "[Game \"Chinese Chess\"]")]
    {
        tap(&stage, &told, button);
        assert_eq!(stage.take_copied().as_deref(), Some(text), "{button}");
        assert!(says(&told, "Copied"), "the button says so: {:?}", names(&told));
        assert_eq!(dialog(&told), Dialog::Share);
    }
}
