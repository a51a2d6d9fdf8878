//! The choice of a level.

use std::time::Duration;

use proto::control::{reply, request};
use qiyou::headless::Stage;
use qiyou::screens::{Game, NewGameAdapter};
use slint::ComponentHandle;

use crate::support::{Told, body, games};
use crate::touches::{names, says, started, tap};

/// The page for a new match of gomoku, for which the host offers levels so many tenths apart; this level is chosen.
fn page(stage: &Stage, step: u32, level: f32) -> Told {
    let mut told = started(stage);
    told.app.new_game(Game::Gomoku);
    stage.pass(Duration::ZERO);
    for request in told.asked() {
        if let request::Body::Describe(describe) = body(&request) {
            let sheet = games::sheet(describe);
            let sheet = proto::control::GameSheet { level_step_tenths: step, ..sheet };
            told.reply(request.id, reply::Body::Sheet(sheet));
        }
    }
    stage.settle(&told.scene);
    told.app.window().global::<NewGameAdapter<'_>>().invoke_choose_level(level);
    stage.settle(&told.scene);
    told
}

#[test]
fn a_level_is_chosen_in_the_steps_that_the_host_offers_and_from_between_two_of_them_the_next_one() {
    let stage = Stage::new();
    for (step, level, weaker, stronger) in [
        (2, 3.0, "2.8", "3.2"),
        (2, 3.5, "3.4", "3.6"),
        (2, 1.2, "1", "1.4"),
        (5, 3.0, "2.5", "3.5"),
        (5, 3.4, "3", "3.5"),
        (10, 9.2, "9", "10"),
        (1, 9.9, "9.8", "10"),
    ] {
        for (button, then) in [("Weaker", weaker), ("Stronger", stronger)] {
            let told = page(&stage, step, level);
            tap(&stage, &told, button);
            stage.settle(&told.scene);
            assert!(
                says(&told, &format!("Level {then}")),
                "{button} than {level} by {step}: {:?}",
                names(&told)
            );
        }
    }
}

#[test]
fn nothing_is_weaker_than_level_1_or_stronger_than_level_10() {
    let stage = Stage::new();
    for (button, level) in [("Weaker", 1.0), ("Stronger", 10.0)] {
        let told = page(&stage, 2, level);
        told.app.window().global::<NewGameAdapter<'_>>().invoke_choose_level(level);
        if names(&told).iter().any(|name| name == button) {
            tap(&stage, &told, button);
        }
        stage.settle(&told.scene);
        assert!(says(&told, &format!("Level {level}")), "{button}: {:?}", names(&told));
    }
}
