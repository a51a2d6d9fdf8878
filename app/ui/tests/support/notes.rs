//! Stories about comments and variations: the review of a match that has some.

use std::time::Duration;

use proto::board;
use proto::control::{self, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::{ExploredAdapter, HomeAdapter, NotesAdapter, RecordsAdapter};
use slint::ComponentHandle;

use super::{Tell, Told, body, games, keep};

/// A move of a variation.
pub(crate) fn side_move(at: u32, zh: &str, en: &str) -> control::SideMove {
    let step = board::Step { from: 2 * 1_024 + at, to: 2 * 1_024 + at + 1 };
    control::SideMove {
        action: Some(board::Action { kind: Some(board::action::Kind::Step(step)) }),
        written: "h2e2".into(),
        spoken: Some(control::Words { zh: zh.into(), en: en.into() }),
    }
}

pub(crate) fn first() -> control::SideMove {
    side_move(1, "马二进三", "H2+3")
}

pub(crate) fn second() -> control::SideMove {
    side_move(2, "卒7进1", "P7+1")
}

pub(crate) fn other() -> control::SideMove {
    side_move(3, "兵七进一", "P7+1")
}

/// What is noted, as the host tells it: comments on positions 4 and 11, and two variations from position 11.
pub(crate) fn notes(ply: u32, line: &[board::Action]) -> control::PositionNotes {
    let known = [first(), second()];
    let along =
        known.iter().zip(line).take_while(|(known, action)| known.action.as_ref() == Some(*action)).count();
    let all = control::PositionNotes { marked: vec![4, 11], ..Default::default() };
    match (ply, along) {
        (4, _) => control::PositionNotes { comment: "Both sides develop.".into(), ..all },
        (11, 0) => control::PositionNotes {
            comment: "The turning point. Red has to choose between the attack on the seventh file, which looks strong, \
                      and a quiet move that keeps everything guarded. In the game the attack was tried; it fails because \
                      the chariot comes back in time.\n\nBoth variations are worth a look."
                .into(),
            beside: vec![first(), other()],
            ..all
        },
        (11, along) => control::PositionNotes {
            comment: if along == 2 { "Red is better.".into() } else { String::new() },
            line: known[..along].to_vec(),
            next: known.get(along).cloned(),
            ..all
        },
        _ => all,
    }
}

/// The reply to a look.
pub(crate) fn position(look: &control::Look) -> control::Position {
    let game = games::xiangqi();
    let (record, spoken) = if look.record { games::written(&game) } else { Default::default() };
    control::Position {
        room_id: "x".into(),
        ply: look.ply.min(game.ply()),
        board: Some(host::position(&game)),
        total: game.ply(),
        moves: look.ply.min(game.ply()),
        total_moves: game.ply(),
        record,
        spoken,
        notes: Some(notes(look.ply, &look.line)),
    }
}

/// Answers each look, and returns what was asked else.
pub(crate) fn answer_looks(stage: &Stage, told: &mut Told) -> Vec<request::Body> {
    let mut others = Vec::new();
    for request in told.answer(stage) {
        match body(&request) {
            request::Body::Look(look) => told.reply(request.id, reply::Body::Position(position(look))),
            other => others.push(other.clone()),
        }
    }
    stage.pass(Duration::ZERO);
    others
}

/// Opens the review of a match with notes, at the position with variations.
pub(crate) fn look_through_noted(stage: &Stage, told: &mut Told) {
    told.app.window().global::<HomeAdapter<'_>>().invoke_open_records();
    keep(stage, told);
    stage.pass(Duration::ZERO);
    told.app.window().global::<RecordsAdapter<'_>>().invoke_open("x".into());
    answer_looks(stage, told);
    told.app.window().global::<NotesAdapter<'_>>().invoke_turn(false);
    answer_looks(stage, told);
}

/// What was played in the position.
fn played() -> control::Explored {
    let row = |side, [games, first_won, drawn, second_won]: [u32; 4], in_book| control::ExploredMove {
        r#move: Some(side),
        games,
        first_won,
        drawn,
        second_won,
        in_book,
    };
    let moves = vec![
        row(first(), [9, 5, 1, 3], false),
        row(other(), [2, 0, 0, 2], true),
        row(second(), [1, 0, 0, 0], false),
    ];
    control::Explored { games: 12, moves }
}

pub(crate) const NOTES: [(&str, Tell); 4] = [
    ("replay-noted", look_through_noted),
    ("replay-variation", |stage, told| {
        look_through_noted(stage, told);
        told.app.window().global::<NotesAdapter<'_>>().invoke_enter(0);
        answer_looks(stage, told);
        told.app.window().global::<NotesAdapter<'_>>().invoke_step(true);
        answer_looks(stage, told);
    }),
    ("replay-played", |stage, told| {
        look_through_noted(stage, told);
        told.app.window().global::<ExploredAdapter<'_>>().invoke_show(true);
        for request in told.answer(stage) {
            if matches!(body(&request), request::Body::Explore(_)) {
                told.reply(request.id, reply::Body::Explored(played()));
            }
        }
        stage.pass(Duration::ZERO);
    }),
    ("replay-comment", |stage, told| {
        look_through_noted(stage, told);
        told.app.ask(qiyou::screens::Dialog::Comment);
    }),
];
