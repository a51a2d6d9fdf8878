//! Positions that are set up.

use qiyou::screens::{Game, NewGameAdapter, PositionAdapter};
use slint::ComponentHandle;

use super::Tell;

/// The stories.
pub(super) const POSITIONS: [(&str, Tell); 2] = [
    ("position", |stage, told| {
        told.app.new_game(Game::Xiangqi);
        told.answer(stage);
        told.app.window().global::<NewGameAdapter<'_>>().invoke_set_up();
        told.answer(stage);
        let position = told.app.window().global::<PositionAdapter<'_>>();
        // The left horse of Red is taken away by the same piece from the tray.
        position.invoke_hold(3);
        position.invoke_touch(9 * 9 + 1);
        told.answer(stage);
    }),
    ("position-illegal", |stage, told| {
        told.app.new_game(Game::Liuzhou);
        told.answer(stage);
        told.app.window().global::<NewGameAdapter<'_>>().invoke_set_up();
        told.answer(stage);
        let position = told.app.window().global::<PositionAdapter<'_>>();
        position.invoke_hold(1);
        position.invoke_touch(14);
        told.answer(stage);
    }),
];
