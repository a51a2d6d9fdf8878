//! One file per view: where what the host says becomes what a page shows, and a touch becomes a request. No other file
//! knows both worlds' types.

pub(crate) mod backup;
pub(crate) mod board;
pub(crate) mod comparison;
pub(crate) mod editor;
pub(crate) mod feel;
pub(crate) mod friends;
pub(crate) mod game;
pub(crate) mod gifts;
pub(crate) mod home;
pub(crate) mod invitation;
pub(crate) mod lesson;
mod navigation;
pub(crate) mod nearby;
pub(crate) mod new_game;
pub(crate) mod puzzles;
pub(crate) mod records;
pub(crate) mod replay;
pub(crate) mod settings;

use std::rc::Rc;

use proto::board::{self as wire, setup};
use proto::control;
use slint::{Model, VecModel};

use crate::app::Desk;
use crate::screens::{Carrier, Game, MainWindow, Side};

/// Connects every touch to what it does.
pub(crate) fn attach(window: &MainWindow, desk: &Rc<Desk>) {
    navigation::attach(window, desk);
    board::attach(window, desk);
    comparison::attach(window, desk);
    backup::Backup::attach(window, desk);
    feel::attach(window, desk);
    let pages = desk.pages();
    pages.editor.attach(window, desk);
    pages.friends.attach(window, desk);
    pages.gifts.attach(window, desk);
    pages.home.attach(window, desk);
    pages.invitation.attach(window, desk);
    pages.lesson.attach(window, desk);
    pages.nearby.attach(window, desk);
    pages.new_game.attach(window, desk);
    pages.puzzles.attach(window, desk);
    pages.records.attach(window, desk);
    pages.replay.attach(window, desk);
    pages.settings.attach(window, desk);
}

/// Shows on every page what is known now.
pub(crate) fn show(window: &MainWindow, desk: &Desk) {
    let (known, pages) = (desk.see(), desk.pages());
    // First, since it chooses the language.
    pages.settings.show(window, &known);
    board::show(window, desk);
    feel::show(window, desk);
    comparison::show(window, &known);
    pages.backup.show(window, &known);
    pages.editor.show(window, &known);
    pages.friends.show(window, &known);
    pages.gifts.show(window, &known, &desk.sprites);
    pages.home.show(window, &known, &desk.sprites);
    pages.invitation.show(window, &known);
    pages.lesson.show(window, &known);
    pages.nearby.show(window, &known);
    pages.new_game.show(window, &known, &pages.invitation);
    pages.puzzles.show(window, &known, &desk.sprites);
    pages.records.show(window, &known, &desk.sprites);
    pages.replay.show(window, &known);
    // Last, so that a page is complete before it is turned to.
    navigation::show(window, desk);
}

/// Makes a closure for a callback: it does nothing once the app is gone.
macro_rules! when {
    ($desk:expr, |$it:ident $(, $argument:ident)*| $body:expr) => {{
        let desk = std::rc::Rc::downgrade($desk);
        move |$($argument),*| {
            if let Some($it) = desk.upgrade() {
                let _turn = $it.begin_turn();
                $body
            }
        }
    }};
}
pub(crate) use when;

/// Makes a closure for a callback that lets a page do its part; see [`Cx`](crate::app::Cx).
macro_rules! touched {
    ($desk:expr, |$pages:ident, $cx:ident $(, $argument:ident)*| $body:expr) => {{
        let desk = std::rc::Rc::downgrade($desk);
        move |$($argument),*| {
            if let Some(desk) = desk.upgrade() {
                desk.turn(|$pages, $cx| $body);
            }
        }
    }};
}
pub(crate) use touched;

thread_local! {
    /// Rows of models that were changed on this thread.
    static ROWS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Rows of models that were changed on this thread so far: what an event costs, counted rather than timed.
pub(crate) fn rows_changed() -> u64 {
    ROWS.get()
}

/// Changes only the rows that differ, so that only they are drawn again.
fn update<T: Clone + PartialEq + 'static>(model: &VecModel<T>, rows: &[T]) {
    if model.row_count() != rows.len() {
        model.set_vec(rows.to_vec());
        ROWS.set(ROWS.get() + rows.len() as u64);
        return;
    }
    for (index, row) in rows.iter().enumerate() {
        if model.row_data(index).as_ref() != Some(row) {
            model.set_row_data(index, row.clone());
            ROWS.set(ROWS.get() + 1);
        }
    }
}

fn side(side: wire::Side) -> Side {
    match side {
        wire::Side::First => Side::First,
        wire::Side::Second => Side::Second,
        wire::Side::Unspecified => Side::None,
    }
}

fn carrier(carrier: control::Carrier) -> Carrier {
    match carrier {
        control::Carrier::Unspecified => Carrier::None,
        control::Carrier::Bluetooth => Carrier::Bluetooth,
        control::Carrier::Lan => Carrier::Lan,
        control::Carrier::Online => Carrier::Online,
        control::Carrier::Memory => Carrier::Memory,
    }
}

/// Whose setup it is.
fn wire_game(setup: Option<&wire::Setup>) -> wire::Game {
    match setup.and_then(|setup| setup.game.as_ref()) {
        Some(setup::Game::Gomoku(_)) => wire::Game::Gomoku,
        Some(setup::Game::Liuzhou(_)) => wire::Game::Liuzhou,
        Some(setup::Game::Go(_)) => wire::Game::Go,
        Some(setup::Game::Xiangqi(_)) => wire::Game::Xiangqi,
        Some(setup::Game::LightsOut(_)) => wire::Game::LightsOut,
        None => wire::Game::Unspecified,
    }
}

fn game_of(setup: Option<&wire::Setup>) -> Game {
    game::shown(wire_game(setup))
}
