//! One file per view: it turns the host's state into what a page shows, and touches into requests. Only these files use both
//! the schema's and Slint's types.

pub(crate) mod address;
pub(crate) mod backup;
pub(crate) mod board;
pub(crate) mod club;
pub(crate) mod comparison;
pub(crate) mod doctor;
pub(crate) mod editor;
pub(crate) mod engines;
pub(crate) mod feel;
pub(crate) mod field_test;
pub(crate) mod friends;
pub(crate) mod game;
pub(crate) mod gifts;
pub(crate) mod guest;
pub(crate) mod home;
pub(crate) mod invitation;
pub(crate) mod lesson;
mod libraries;
pub(crate) mod manual;
mod navigation;
pub(crate) mod nearby;
pub(crate) mod new_game;
pub(crate) mod picture;
pub(crate) mod position;
pub(crate) mod puzzles;
pub(crate) mod records;
pub(crate) mod replay;
pub(crate) mod settings;
mod waiting;

use std::rc::Rc;

use proto::board::{self as wire, setup};
use proto::control;
use slint::{Model, VecModel};

use crate::app::Controller;
use crate::screens::{Carrier, Game, MainWindow, Side};

/// Connects the callbacks of all pages.
pub(crate) fn attach(window: &MainWindow, app: &Rc<Controller>) {
    navigation::attach(window, app);
    board::attach(window, app);
    comparison::attach(window, app);
    address::ByAddress::attach(window, app);
    backup::Backup::attach(window, app);
    feel::attach(window, app);
    guest::Guest::attach(window, app);
    let pages = app.pages();
    pages.club.attach(window, app);
    pages.doctor.attach(window, app);
    pages.editor.attach(window, app);
    pages.engines.attach(window, app);
    pages.field_test.attach(window, app);
    pages.friends.attach(window, app);
    pages.gifts.attach(window, app);
    pages.home.attach(window, app);
    pages.invitation.attach(window, app);
    pages.lesson.attach(window, app);
    pages.manual.attach(window, app);
    pages.nearby.attach(window, app);
    pages.new_game.attach(window, app);
    pages.position.attach(window, app);
    pages.puzzles.attach(window, app);
    pages.records.attach(window, app);
    pages.replay.attach(window, app);
    pages.settings.attach(window, app);
}

/// Updates all pages from the present state.
pub(crate) fn show(window: &MainWindow, app: &Controller) {
    let (known, pages) = (app.read(), app.pages());
    // First, because it selects the language.
    pages.settings.show(window, &known);
    pages.board.show(window, app);
    feel::show(window, app);
    comparison::show(window, &known);
    pages.address.show(window, &known);
    pages.backup.show(window, &known);
    pages.club.show(window, &known);
    pages.doctor.show(window);
    pages.editor.show(window, &known);
    pages.engines.show(window, &known);
    pages.field_test.show(window, &known);
    pages.friends.show(window, &known);
    pages.gifts.show(window, &known, &app.sprites);
    pages.guest.show(window, &known);
    pages.home.show(window, &known, &app.sprites);
    pages.invitation.show(window, &known);
    pages.lesson.show(window, &known);
    pages.manual.show(window, &known);
    pages.nearby.show(window, &known);
    pages.new_game.show(window, &known, &pages.invitation);
    pages.position.show(window, &known);
    pages.puzzles.show(window, &known, &app.sprites);
    pages.records.show(window, &known, &app.sprites);
    pages.replay.show(window, &known);
    // Last, so that a page is complete before it becomes visible.
    navigation::show(window, app);
}

/// Makes a closure for a callback; it does nothing once the app is dropped.
macro_rules! when {
    ($app:expr, |$it:ident $(, $argument:ident)*| $body:expr) => {{
        let app = std::rc::Rc::downgrade($app);
        move |$($argument),*| {
            if let Some($it) = app.upgrade() {
                let _turn = $it.begin_turn();
                $body
            }
        }
    }};
}
pub(crate) use when;

/// Makes a closure for a callback that runs a page's method with a [`Cx`](crate::app::Cx).
macro_rules! touched {
    ($app:expr, |$pages:ident, $cx:ident $(, $argument:ident)*| $body:expr) => {{
        let app = std::rc::Rc::downgrade($app);
        move |$($argument),*| {
            if let Some(app) = app.upgrade() {
                app.turn(|$pages, $cx| $body);
            }
        }
    }};
}
pub(crate) use touched;

thread_local! {
    /// Number of model rows changed on this thread.
    static ROWS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Number of model rows changed on this thread so far: a measure for the cost of an event that does not depend on time.
pub(crate) fn rows_changed() -> u64 {
    ROWS.get()
}

/// Changes only the rows that differ, so that only they are redrawn.
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

/// The game of this setup.
fn wire_game(setup: Option<&wire::Setup>) -> wire::Game {
    match setup.and_then(wire::Setup::rules) {
        Some(setup::Game::Gomoku(_)) => wire::Game::Gomoku,
        Some(setup::Game::Liuzhou(_)) => wire::Game::Liuzhou,
        Some(setup::Game::Go(_)) => wire::Game::Go,
        Some(setup::Game::Xiangqi(_) | setup::Game::XiangqiChinese(_)) => wire::Game::Xiangqi,
        Some(setup::Game::LightsOut(_)) => wire::Game::LightsOut,
        Some(setup::Game::Started(_)) | None => wire::Game::Unspecified,
    }
}

fn game_of(setup: Option<&wire::Setup>) -> Game {
    game::shown(wire_game(setup))
}
