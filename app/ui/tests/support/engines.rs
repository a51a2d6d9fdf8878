//! Engines that the person has installed.

use std::time::Duration;

use proto::board::Game;
use proto::control::{self, event, reply};
use qiyou::headless::Stage;
use qiyou::screens::{EnginesAdapter, NewGameAdapter};
use slint::ComponentHandle;

use super::{Tell, Told, body};

/// An engine of the host's list.
pub(crate) fn engine(name: &str, game: Game, confined: bool, missing: bool) -> control::Engine {
    control::Engine {
        name: name.into(),
        program: format!("/usr/games/{name}"),
        game: game.into(),
        confined,
        missing,
        ..Default::default()
    }
}

/// Tells the app that these have been added.
pub(crate) fn added(told: &Told, engines: Vec<control::Engine>) {
    told.say(event::Body::Engines(control::Engines { engines }));
}

/// Opens the dialog, in which these are found.
pub(crate) fn find(stage: &Stage, told: &mut Told, engines: Vec<control::Engine>) {
    told.app.window().global::<EnginesAdapter<'_>>().invoke_open();
    for request in told.answer(stage) {
        if matches!(body(&request), control::request::Body::FindEngines(_)) {
            told.reply(request.id, reply::Body::Engines(control::Engines { engines: engines.clone() }));
        }
    }
    stage.pass(Duration::ZERO);
}

/// The stories.
pub(super) const ENGINES: [(&str, Tell); 2] = [
    ("settings-engines", |stage, told| {
        told.app.go(qiyou::screens::Page::Settings);
        let pikafish = engine("Pikafish", Game::Xiangqi, false, false);
        added(told, vec![pikafish, engine("Rapfi", Game::Gomoku, true, true)]);
        find(stage, told, vec![engine("GNU Go", Game::Go, true, false)]);
    }),
    ("new-game-engine", |stage, told| {
        added(told, vec![engine("GNU Go", Game::Go, true, false), engine("Pachi", Game::Go, true, false)]);
        told.app.new_game(qiyou::screens::Game::Go);
        told.answer(stage);
        told.app.window().global::<NewGameAdapter<'_>>().invoke_choose_engine(1);
        told.answer(stage);
    }),
];
