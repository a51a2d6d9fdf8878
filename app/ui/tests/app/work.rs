//! The user interface thread never blocks: while an engine searches at full strength, input is handled at once, and each
//! event costs a bounded amount of work. Work is counted, not timed.

use qiyou::headless::Stage;
use qiyou::screens::{BoardAdapter, Game, Navigation, Page};
use slint::ComponentHandle;
use std::time::Duration;

use crate::play::Table;

#[test]
fn while_an_engine_thinks_at_full_strength_pages_turn_at_once_and_its_reports_cost_little() {
    let stage = Stage::new();
    let table = Table::new(&stage);
    table.app.challenge(Game::Go, 10, &[]);
    table.until("the board", || table.page() == Page::Board);
    let thinks = || table.app.window().global::<BoardAdapter<'_>>().get_thought();
    table.until("it thinks", || thinks().on && thinks().known);
    table.stage.settle(&table.scene);
    table.app.show_thought();
    table.stage.settle(&table.scene);
    table.scene.take_repainted();

    // Each report of the engine updates the pages once, changes no point of the board, and repaints a part of the page.
    let all = 720 * 1_440;
    let mut reports = 0;
    let mut steps = 0;
    while reports < 8 && thinks().on && steps < 4_000 {
        let before = table.app.work();
        table.stage.pass(Duration::from_millis(1));
        table.scene.draw();
        let (after, painted) = (table.app.work(), table.scene.take_repainted());
        let taken = after.taken - before.taken;
        assert!(after.shown - before.shown <= taken, "{before:?} {after:?}");
        if thinks().on {
            assert_eq!(after.rows, before.rows, "a report changes no row");
            assert!(painted <= all / 3, "{painted} pixels of {all}");
        }
        reports += taken;
        steps += 1;
        if taken == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    assert!(reports > 0, "it reports while it thinks");

    // Touches are handled in the next pass, whatever the engine is doing.
    for page in [Page::Settings, Page::Records, Page::Board, Page::Settings] {
        let before = table.app.work();
        table.app.go(page);
        assert_eq!(table.page(), page, "turned to without waiting for anybody");
        table.stage.pass(Duration::ZERO);
        table.scene.draw();
        let after = table.app.work();
        assert!(after.shown - before.shown <= 4 + (after.taken - before.taken), "{before:?} {after:?}");
    }
    let navigation = table.app.window().global::<Navigation<'_>>();
    navigation.invoke_back();
    assert_ne!(table.page(), Page::Settings);
    table.end();
}

#[test]
fn a_touch_asks_once_and_waits_for_nothing() {
    let stage = Stage::new();
    let mut told = crate::support::Told::new(&stage, crate::support::SIZES[0]);
    told.prefer(false, false, 0);
    let room =
        crate::support::room(crate::support::bot(10), crate::support::here(), &[proto::board::Side::Second]);
    told.say(proto::control::event::Body::Room(room));
    stage.pass(Duration::ZERO);
    told.app.open_room("room");
    told.answer(&stage);
    stage.settle(&told.scene);
    told.asked();
    let before = told.app.work();
    for index in 0..225 {
        told.app.window().global::<BoardAdapter<'_>>().invoke_touch(index);
    }
    let after = told.app.work();
    // None of the requests has been answered.
    assert_eq!(told.asked().len(), 225);
    assert_eq!((after.taken, after.rows), (before.taken, before.rows));
}
