//! Comments and variations in the review of a match.

use proto::board as wire;
use proto::control::{self, edit_notes, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::{Dialog, NotesAdapter, PointView, ReplayAdapter};
use slint::ComponentHandle;
use slint::platform::Key;

use crate::club::type_in;
use crate::support::notes::{answer_looks, first, look_through_noted, notes, position, second};
use crate::support::{Told, body, games};
use crate::touches::{dialog, says, started, tap};

/// The review at the position with variations, on a phone so tall that everything is in view.
fn reviewing(stage: &Stage) -> Told {
    let mut told = started(stage);
    look_through_noted(stage, &mut told);
    told.scene.resize(720, 4_000, 2.0);
    stage.settle(&told.scene);
    told
}

fn page(told: &Told) -> NotesAdapter<'_> {
    told.app.window().global::<NotesAdapter<'_>>()
}

/// The looks that were asked for, which are answered.
fn looked(stage: &Stage, told: &mut Told) -> Vec<(u32, usize)> {
    let asked = told.asked();
    let mut looks = Vec::new();
    for request in &asked {
        let request::Body::Look(look) = body(request) else { panic!("only looks: {request:?}") };
        looks.push((look.ply, look.line.len()));
        told.reply(request.id, reply::Body::Position(position(look)));
    }
    stage.settle(&told.scene);
    looks
}

#[test]
fn a_variation_is_entered_walked_by_buttons_and_keys_and_left_again() {
    let stage = Stage::new();
    let mut told = reviewing(&stage);
    assert!(page(&told).get_comment().starts_with("The turning point."));
    assert!(says(&told, "Variation: P7+1"), "the second one");
    tap(&stage, &told, "Variation: H2+3");
    assert_eq!(looked(&stage, &mut told), [(11, 1)]);
    assert!(says(&told, "Variation: H2+3") && says(&told, "Back to the game"), "it is what is shown now");
    assert!(!page(&told).get_comment().starts_with("The turning point."));
    tap(&stage, &told, "Next move");
    assert_eq!(looked(&stage, &mut told), [(11, 2)]);
    assert!(says(&told, "Variation: H2+3 P7+1") && says(&told, "Red is better."));
    assert!(!page(&told).get_can_step(), "it is the end of the variation");
    told.scene.key(Key::PageDown);
    stage.settle(&told.scene);
    assert_eq!(looked(&stage, &mut told), [], "nothing is behind it");
    told.scene.key(Key::PageUp);
    stage.settle(&told.scene);
    assert_eq!(looked(&stage, &mut told), [(11, 1)]);
    told.scene.key(Key::PageUp);
    stage.settle(&told.scene);
    assert_eq!(looked(&stage, &mut told), [(11, 0)], "before its first move is the game");
    tap(&stage, &told, "Variation: H2+3");
    looked(&stage, &mut told);
    tap(&stage, &told, "Back to the game");
    assert_eq!(looked(&stage, &mut told), [(11, 0)]);
    told.scene.key(Key::PageDown);
    stage.settle(&told.scene);
    assert_eq!(looked(&stage, &mut told), [(12, 0)], "from there the game goes on");
}

#[test]
fn notes_are_gone_through_from_one_to_the_next() {
    let stage = Stage::new();
    let mut told = reviewing(&stage);
    assert_eq!((page(&told).get_marked_before(), page(&told).get_marked_after()), (true, false));
    tap(&stage, &told, "Previous note");
    assert_eq!(looked(&stage, &mut told), [(4, 0)]);
    assert!(says(&told, "Both sides develop."));
    assert_eq!((page(&told).get_marked_before(), page(&told).get_marked_after()), (false, true));
    let rows: Vec<bool> = slint::Model::iter(&page(&told).get_marked_rows()).collect();
    assert_eq!(rows, [false, true, false, false, false, true], "moves 2 and 6 of both sides");
    tap(&stage, &told, "Next note");
    assert_eq!(looked(&stage, &mut told), [(11, 0)]);
    assert!(page(&told).get_comment().starts_with("The turning point."));
    assert_eq!((page(&told).get_marked_before(), page(&told).get_marked_after()), (true, false));
}

#[test]
fn a_comment_is_changed_in_a_dialog_and_the_position_is_shown_anew() {
    let stage = Stage::new();
    let mut told = reviewing(&stage);
    tap(&stage, &told, "Previous note");
    looked(&stage, &mut told);
    tap(&stage, &told, "Change the comment…");
    assert_eq!(dialog(&told), Dialog::Comment);
    type_in(&stage, &told, "!\n?");
    tap(&stage, &told, "Keep");
    assert_eq!(dialog(&told), Dialog::None);
    let asked = told.asked();
    let [edit] = &asked[..] else { panic!("one request: {asked:?}") };
    let request::Body::EditNotes(change) = body(edit) else { panic!("an edit: {edit:?}") };
    assert_eq!((change.room_id.as_str(), change.ply, change.line.len()), ("x", 4, 0));
    let Some(edit_notes::Change::Comment(text)) = &change.change else { panic!("a comment: {change:?}") };
    // Where in the text the tap has set the cursor depends on the font.
    assert_eq!(text.replace("!\n?", ""), "Both sides develop.");
    assert_ne!(text, "Both sides develop.");
    told.reply(edit.id, reply::Body::Done(control::Done {}));
    stage.settle(&told.scene);
    assert_eq!(looked(&stage, &mut told), [(4, 0)], "it is asked for again");
}

#[test]
fn a_variation_is_deleted_from_the_move_that_is_shown_on_once_that_is_confirmed() {
    let stage = Stage::new();
    let mut told = reviewing(&stage);
    page(&told).invoke_enter(0);
    looked(&stage, &mut told);
    page(&told).invoke_step(true);
    looked(&stage, &mut told);
    tap(&stage, &told, "Delete from here");
    assert_eq!(dialog(&told), Dialog::RemoveLine);
    assert!(told.asked().is_empty(), "not yet");
    tap(&stage, &told, "Delete");
    let asked = told.asked();
    let [edit] = &asked[..] else { panic!("one request: {asked:?}") };
    let request::Body::EditNotes(change) = body(edit) else { panic!("an edit: {edit:?}") };
    assert_eq!(change.line, [first().action, second().action].map(|action| action.expect("a move")));
    assert_eq!(change.change, Some(edit_notes::Change::Remove(true)));
    told.reply(edit.id, reply::Body::Done(control::Done {}));
    stage.settle(&told.scene);
    assert_eq!(looked(&stage, &mut told), [(11, 1)], "what is left of it");
}

#[test]
fn a_variation_that_is_gone_meanwhile_leads_back_and_asks_for_no_more() {
    let stage = Stage::new();
    let mut told = reviewing(&stage);
    page(&told).invoke_enter(0);
    let asked = told.asked();
    let gone = control::Position {
        notes: Some(notes(11, &[])),
        ..position(&control::Look { room_id: "x".into(), ply: 11, record: false, line: Vec::new() })
    };
    told.reply(asked[0].id, reply::Body::Position(gone));
    stage.settle(&told.scene);
    assert_eq!(looked(&stage, &mut told), []);
    assert!(page(&told).get_line().is_empty() && answer_looks(&stage, &mut told).is_empty());
}

/// The index of a point of a xiangqi board that is not turned.
fn index(at: u32) -> i32 {
    ((9 - at / 1_024) * 9 + at % 1_024) as i32
}

fn point(told: &Told, index: i32) -> PointView {
    let points = told.app.window().global::<ReplayAdapter<'_>>().get_points();
    slint::Model::row_data(&points, index as usize).expect("a point of the board")
}

/// Touches the points of a step, and returns the request that follows.
fn try_move(stage: &Stage, told: &mut Told, step: wire::Step) -> control::Request {
    page(told).invoke_try_move(index(step.from));
    stage.settle(&told.scene);
    assert!(told.asked().is_empty(), "it is only picked");
    assert!(point(told, index(step.from)).picked && point(told, index(step.to)).target > 0);
    page(told).invoke_try_move(index(step.to));
    stage.settle(&told.scene);
    assert!(!point(told, index(step.from)).picked);
    told.asked().pop().expect("a request")
}

#[test]
fn a_move_on_the_board_begins_a_variation_and_one_that_is_known_enters_it() {
    let stage = Stage::new();
    let mut told = reviewing(&stage);
    assert!(says(&told, "Tap the board to try another move"));
    let step = host::position(&games::xiangqi()).steps[0];
    let action = wire::Action { kind: Some(wire::action::Kind::Step(step)) };
    let request = try_move(&stage, &mut told, step);
    let request::Body::EditNotes(edit) = body(&request) else { panic!("an edit: {request:?}") };
    assert_eq!((edit.ply, &edit.line[..]), (11, &[][..]));
    assert_eq!(edit.change, Some(edit_notes::Change::Add(action)));
    page(&told).invoke_try_move(index(step.from));
    stage.settle(&told.scene);
    assert!(!point(&told, index(step.from)).picked, "until the new position is there, nothing is touched");
    told.reply(request.id, reply::Body::Done(control::Done {}));
    stage.settle(&told.scene);
    let looked = told.asked();
    let [look] = &looked[..] else { panic!("one look: {looked:?}") };
    let request::Body::Look(asked) = body(look) else { panic!("a look: {look:?}") };
    assert_eq!((asked.ply, &asked.line[..]), (11, &[action][..]), "what was added is entered");
    // Another client has deleted it, and kept one that begins with this move.
    let side = control::SideMove { action: Some(action), written: "known".into(), spoken: None };
    let known = control::PositionNotes { beside: vec![side], ..notes(11, &[]) };
    let back = control::Position { notes: Some(known), ..position(asked) };
    told.reply(look.id, reply::Body::Position(back));
    stage.settle(&told.scene);
    let request = try_move(&stage, &mut told, step);
    let request::Body::Look(asked) = body(&request) else { panic!("a look: {request:?}") };
    assert_eq!((asked.ply, &asked.line[..]), (11, &[action][..]));
}

#[test]
fn a_move_that_is_refused_leaves_the_position_and_the_board_takes_the_next() {
    let stage = Stage::new();
    let mut told = reviewing(&stage);
    let step = host::position(&games::xiangqi()).steps[0];
    let request = try_move(&stage, &mut told, step);
    let reason = control::Words { zh: "棋谱已满。".into(), en: "There is no room.".into() };
    let refusal = control::Refusal {
        code: control::RefusalCode::RefusalIllegal.into(),
        reason: Some(reason),
        ..Default::default()
    };
    told.reply(request.id, reply::Body::Refusal(refusal));
    stage.settle(&told.scene);
    assert!(says(&told, "There is no room."));
    let again = try_move(&stage, &mut told, step);
    assert!(matches!(body(&again), request::Body::EditNotes(_)), "{again:?}");
}

#[test]
fn the_last_position_of_the_game_takes_no_other_move() {
    let stage = Stage::new();
    let mut told = reviewing(&stage);
    told.app.window().global::<ReplayAdapter<'_>>().invoke_go(games::xiangqi().ply() as i32);
    looked(&stage, &mut told);
    assert!(!page(&told).get_can_try() && !says(&told, "Tap the board to try another move"));
    page(&told).invoke_try_move(index(host::position(&games::xiangqi()).steps[0].from));
    stage.settle(&told.scene);
    assert!(told.asked().is_empty());
}

#[test]
fn what_was_played_in_a_position_is_asked_for_shown_and_entered() {
    let stage = Stage::new();
    let mut told = reviewing(&stage);
    let explored = |told: &mut Told| {
        let asked = told.asked();
        let of = |request: &control::Request| match body(request) {
            request::Body::Explore(explore) => Some((request.id, explore.ply, explore.line.len())),
            _ => None,
        };
        asked.iter().filter_map(of).collect::<Vec<_>>()
    };
    assert_eq!(explored(&mut told), [], "nobody has asked yet");
    tap(&stage, &told, "What was played here?");
    let asked = explored(&mut told);
    assert_eq!(asked.iter().map(|one| (one.1, one.2)).collect::<Vec<_>>(), [(11, 0)]);
    assert!(says(&told, "Looking through your games…"));
    let row = |action, written: &str, ends: [u32; 4], in_book| control::ExploredMove {
        r#move: Some(control::SideMove { action: Some(action), written: written.into(), spoken: None }),
        games: ends[0],
        first_won: ends[1],
        drawn: ends[2],
        second_won: ends[3],
        in_book,
    };
    let known = notes(11, &[]).beside[0].action.expect("a move");
    let new =
        wire::Action { kind: Some(wire::action::Kind::Step(wire::Step { from: 9 * 1024, to: 8 * 1024 })) };
    let moves = vec![row(known, "h2e2", [5, 3, 1, 1], false), row(new, "a0a1", [0; 4], true)];
    let whole = control::Explored { games: 5, moves };
    told.reply(asked[0].0, reply::Body::Explored(whole.clone()));
    stage.settle(&told.scene);
    assert!(says(&told, "5 games went on from here. Left: Red won; right: Black won."));
    assert!(says(&told, "Red won 3, drawn 1, Black won 1"));
    // A move that is known is looked at, and what was played after it is asked for. The way back asks again.
    for (touch, place) in [("H2E2 · 5 games", (11, 1)), ("Back to the game", (11, 0))] {
        tap(&stage, &told, touch);
        assert_eq!(looked(&stage, &mut told), [place], "{touch}");
        let asked = explored(&mut told);
        assert_eq!(asked.iter().map(|one| (one.1, one.2)).collect::<Vec<_>>(), [place], "{touch}");
        told.reply(
            asked[0].0,
            reply::Body::Explored(if place.1 == 0 { whole.clone() } else { control::Explored::default() }),
        );
        stage.settle(&told.scene);
        assert_eq!(says(&told, "No other game went on from here."), place.1 == 1, "{touch}");
    }
    // Another one is noted.
    tap(&stage, &told, "A0A1 · in the opening book");
    let asked = told.asked();
    assert!(
        matches!(asked.iter().map(body).collect::<Vec<_>>()[..], [request::Body::EditNotes(edit)]
            if edit.change == Some(edit_notes::Change::Add(new))),
        "{asked:?}"
    );
    tap(&stage, &told, "Hide what was played here");
    assert!(!says(&told, "Red won 3, drawn 1, Black won 1"));
}
