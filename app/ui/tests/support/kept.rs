//! Kept matches, and their review.

use std::time::Duration;

use proto::board::{self, Side};
use proto::control::{self, event, reply, request};
use qiyou::headless::Stage;
use slint::ComponentHandle;

use super::{Told, body, bot, games, here, peer, room, won};

/// Four kept matches, latest first.
fn kept() -> Vec<control::MatchSummary> {
    let summary = |id: &str, room: control::Room, minutes: u64| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
        control::MatchSummary {
            room_id: id.into(),
            setup: room.setup,
            first: room.first,
            second: room.second,
            ply: room.board.as_ref().map_or(0, |board| board.ply),
            moves: room.moves,
            result: room.result,
            changed_unix_ms: now.as_millis() as u64 - minutes * 60_000,
            record: room.record,
            board: room.board,
            ..Default::default()
        }
    };
    let nearby = room(peer("Librem 5"), here(), &[Side::Second]);
    vec![
        summary("x", games::against_the_device(&games::xiangqi(), engine::Side::First), 12),
        summary("g", won(bot(5), here(), &[Side::Second]), 150),
        summary("n", nearby, 1_500),
        summary("o", games::against_the_device(&games::go(), engine::Side::Second), 4_000),
        summary("l", games::alone(&games::lights("5", "5")), 90_000),
    ]
}

/// Answers requests about kept matches.
pub(crate) fn keep(stage: &Stage, told: &mut Told) {
    for request in told.answer(stage) {
        if let request::Body::ListMatches(asked) = body(&request) {
            let unfinished = asked.outcome() == control::Outcome::Unfinished;
            let mut matches = kept();
            matches.retain(|one| !unfinished || one.result.is_none());
            let total = matches.len() as u32;
            told.reply(request.id, reply::Body::Matches(control::Matches { matches, total }));
        }
    }
}

/// Opens the review of the first kept match at its middle; with evaluations, if `judged`.
pub(crate) fn look_through(stage: &Stage, told: &mut Told, judged: bool) {
    told.app.window().global::<qiyou::screens::HomeAdapter<'_>>().invoke_open_records();
    keep(stage, told);
    stage.pass(Duration::ZERO);
    told.app.window().global::<qiyou::screens::RecordsAdapter<'_>>().invoke_open("x".into());
    let game = games::xiangqi();
    let (record, spoken) = games::written(&game);
    for request in told.answer(stage) {
        if matches!(body(&request), request::Body::Look(_)) {
            let position = control::Position {
                room_id: "x".into(),
                ply: game.ply(),
                board: Some(host::position(&game)),
                total: game.ply(),
                moves: game.ply(),
                total_moves: game.ply(),
                record: record.clone(),
                spoken: spoken.clone(),
                notes: None,
            };
            told.reply(request.id, reply::Body::Position(position));
        }
    }
    if judged {
        told.say(event::Body::Judgements(judgements("")));
    }
}

/// The analysis of that match: Red's ninth action and Black's last one are mistakes. `try_again`: the id by which the last one is
/// kept, if it is.
pub(crate) fn judgements(try_again: &str) -> control::Judgements {
    let (_, spoken) = games::written(&games::xiangqi());
    let stands = [20, 40, -10, 60, 30, 120, 90, 160, 150, -420, -380, -300, 250];
    let step = board::Step { from: 2 * 1_024 + 7, to: 2 * 1_024 + 4 };
    let positions = (0..)
        .zip(stands)
        .map(|(ply, permille)| control::Judgement {
            moves: ply,
            permille,
            best: "h2e2".into(),
            best_spoken: spoken.first().cloned(),
            best_action: Some(board::Action { kind: Some(board::action::Kind::Step(step)) }),
            turn: if ply % 2 == 0_u32 { Side::First } else { Side::Second }.into(),
            why: (ply == 12).then(|| control::Words {
                zh: "黑方7路的马没有根，会白白被吃掉。".into(),
                en: "Black's horse on file 7 is not guarded and falls.".into(),
            }),
            try_again: if ply == 12 { try_again.into() } else { String::new() },
        })
        .collect();
    control::Judgements { room_id: "x".into(), positions, total: 13, ended: true }
}
