//! Odds for who is beyond the levels of a game.

use std::time::Duration;

use proto::control::{ChosenOption, GameChoice, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::{Colour, Game, NewGameAdapter};
use slint::ComponentHandle;

use crate::support::{Told, body, games};
use crate::touches::{names, says, started, tap};

/// The host describes the choice, for a person whose strength is as `change` says. Returns the last choice.
fn described(
    stage: &Stage,
    told: &mut Told,
    change: fn(&mut proto::control::Strength),
) -> Option<GameChoice> {
    let mut last = None;
    loop {
        stage.pass(Duration::ZERO);
        let asked = told.asked();
        if asked.is_empty() {
            stage.settle(&told.scene);
            return last;
        }
        for request in asked {
            if let request::Body::Describe(describe) = body(&request) {
                let mut sheet = games::sheet(describe);
                change(sheet.strength.as_mut().expect("a game with levels"));
                if let Some(choice) = &describe.choice {
                    last = Some(choice.clone());
                    let has = |one: &ChosenOption| one.option == "handicap" || one.option == "odds";
                    if choice.options.iter().any(has) {
                        sheet.gives_odds = proto::board::Side::Second.into();
                    }
                }
                told.reply(request.id, reply::Body::Sheet(sheet));
            }
        }
    }
}

fn page(told: &Told) -> NewGameAdapter<'_> {
    told.app.window().global::<NewGameAdapter<'_>>()
}

/// The option that was chosen last.
fn chosen(choice: Option<GameChoice>) -> (String, String) {
    let mut options = choice.expect("it is described anew").options;
    let ChosenOption { option, value } = options.pop().expect("an option");
    (option, value)
}

#[test]
fn who_is_beyond_the_levels_is_offered_odds_and_gets_them_with_the_right_colour() {
    let stage = Stage::new();
    let words = |option: &str, value: &str| (option.to_owned(), value.to_owned());
    for (game, option, value, takes, gives) in [
        (Game::Go, "handicap", "2", Colour::First, Colour::Second),
        (Game::Xiangqi, "odds", "horse", Colour::Second, Colour::First),
    ] {
        let mut told = started(&stage);
        told.app.new_game(game);
        page(&told).invoke_choose_adaptive(true);
        described(&stage, &mut told, |strength| strength.below_levels = true);
        let advice = "Level 1 wins more often than you do. With odds the game is more even.";
        assert!(says(&told, advice), "{game:?}: {:?}", names(&told));
        tap(&stage, &told, "Take odds");
        let choice = described(&stage, &mut told, |strength| strength.below_levels = true);
        assert_eq!(chosen(choice), words(option, value));
        assert_eq!(page(&told).get_colour(), takes);
        assert!(!says(&told, "Take odds"), "they are chosen: {:?}", names(&told));

        let mut told = started(&stage);
        told.app.new_game(game);
        page(&told).invoke_choose_adaptive(true);
        described(&stage, &mut told, |strength| strength.above_levels = true);
        tap(&stage, &told, "Give odds");
        let choice = described(&stage, &mut told, |strength| strength.above_levels = true);
        assert_eq!(chosen(choice), words(option, value));
        assert_eq!(page(&told).get_colour(), gives);
    }
}

#[test]
fn nobody_else_is_offered_odds() {
    let stage = Stage::new();
    for (game, change) in [
        (Game::Xiangqi, (|_| {}) as fn(&mut proto::control::Strength)),
        // A game without odds.
        (Game::Gomoku, |strength| strength.above_levels = true),
    ] {
        let mut told = started(&stage);
        told.app.new_game(game);
        page(&told).invoke_choose_adaptive(true);
        described(&stage, &mut told, change);
        assert!(names(&told).iter().all(|name| !name.contains("odds")), "{:?}", names(&told));
    }
}
