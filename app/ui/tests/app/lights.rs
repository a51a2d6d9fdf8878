//! Lights Out: a hint shows one press, a solution is played out.

use std::time::Duration;

use proto::board::{Action, action};
use proto::control::{self, event, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::BoardAdapter;
use slint::{ComponentHandle, Model};

use crate::support::{Told, body, games};
use crate::touches::{acted, at, playing, tap};

/// A board of five by five, with the host's solution.
fn lamps_with_a_solution(stage: &Stage) -> Told {
    playing(stage, games::alone(&games::lights("5", "5")))
}

/// B1, A3 and E3.
fn solution() -> reply::Body {
    reply::Body::Hint(control::HintFound {
        action: Some(Action { kind: Some(action::Kind::Press(at(1, 0))) }),
        presses: vec![0b10, 0, 0b1_0001, 0, 0].into(),
        fewest: true,
        ..Default::default()
    })
}

/// Number of presses in the solution, and the blinking cells.
fn blinking(told: &Told) -> (i32, Vec<String>) {
    let board = told.app.window().global::<BoardAdapter<'_>>();
    let points = board.get_points();
    (board.get_solution(), points.iter().filter(|point| point.hint).map(|point| point.name.into()).collect())
}

#[test]
fn a_hint_for_a_board_of_lights_is_one_press_and_how_many_will_do() {
    let stage = Stage::new();
    let mut told = lamps_with_a_solution(&stage);
    assert_eq!(blinking(&told), (-1, vec![]));
    tap(&stage, &told, "Hint");
    let asked = told.asked();
    assert!(matches!(body(&asked[0]), request::Body::Hint(_)));
    told.reply(asked[0].id, solution());
    stage.settle(&told.scene);
    assert_eq!(blinking(&told), (3, vec!["B1".into()]));
    let mut next = games::lights("5", "5");
    next.act(engine::Action::Press(engine::Point::new(1, 0))).expect("a lamp");
    told.say(event::Body::Room(games::alone(&next)));
    stage.settle(&told.scene);
    assert_eq!(
        (blinking(&told), told.asked().len()),
        ((-1, vec![]), 0),
        "another is asked for by the player"
    );
}

#[test]
fn a_solution_is_played_out_press_by_press_rests_and_ends_when_told_to() {
    let stage = Stage::new();
    let mut told = lamps_with_a_solution(&stage);
    tap(&stage, &told, "More");
    tap(&stage, &told, "Show the solution");
    let asked = told.asked();
    assert!(matches!(body(&asked[0]), request::Body::Hint(_)));
    told.reply(asked[0].id, solution());
    stage.settle(&told.scene);
    assert_eq!(blinking(&told), (3, vec!["B1".into()]));
    let second = Duration::from_secs(1);
    stage.pass(second);
    assert_eq!(acted(&mut told), action::Kind::Press(at(1, 0)));
    stage.pass(second);
    assert_eq!(told.asked().len(), 0, "the first press is not on the board yet");
    let mut next = games::lights("5", "5");
    next.act(engine::Action::Press(engine::Point::new(1, 0))).expect("a lamp");
    told.say(event::Body::Room(games::alone(&next)));
    stage.settle(&told.scene);
    tap(&stage, &told, "Pause");
    stage.pass(second);
    assert_eq!((blinking(&told), told.asked().len()), ((2, vec!["A3".into()]), 0));
    tap(&stage, &told, "Go on");
    stage.pass(second);
    assert_eq!(acted(&mut told), action::Kind::Press(at(0, 2)));
    tap(&stage, &told, "Stop here");
    next.act(engine::Action::Press(engine::Point::new(0, 2))).expect("a lamp");
    told.say(event::Body::Room(games::alone(&next)));
    stage.pass(second);
    assert_eq!((blinking(&told), told.asked().len()), ((-1, vec![]), 0));
}
