//! Review of a kept match.

use proto::control::{self, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::ReplayAdapter;
use slint::{ComponentHandle, Model};

use crate::support::{body, games, look_through};
use crate::touches::started;

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
    assert_eq!((page.get_turns_before(), page.get_turns_after()), (true, false));
}
