//! Several matches at once: one touch leads from game to game.

use std::time::Duration;

use proto::board::Side;
use proto::control::{self, event};
use qiyou::headless::Stage;
use qiyou::screens::{BoardAdapter, Page};
use slint::ComponentHandle;

use crate::support::several::waiting;
use crate::support::{Told, bot, games, here, open, room};
use crate::touches::{page, tap};

/// A match that waits, which is recognised by its number of moves.
fn numbered(id: &str, moves: u32) -> control::Room {
    control::Room { moves, ..waiting(id) }
}

/// The number of other matches that wait, and the number of moves of the one on the page.
fn shown(told: &Told) -> (i32, i32) {
    let board = told.app.window().global::<BoardAdapter<'_>>();
    (board.get_waiting_games(), board.get_moves())
}

#[test]
fn one_touch_after_another_visits_all_games_that_wait_and_no_other() {
    let stage = Stage::new();
    let mut told = Told::new(&stage, crate::support::SIZES[0]);
    let not_mine = control::Room { id: "c".into(), ..room(bot(3), here(), &[Side::First]) };
    let over = control::Room { result: Some(proto::board::Result::default()), ..waiting("d") };
    let paused = control::Room { paused: true, ..waiting("e") };
    let of_two_here = control::Room { id: "f".into(), ..room(here(), here(), &[Side::First, Side::Second]) };
    let alone = control::Room { id: "g".into(), ..games::alone(&games::lights("5", "5")) };
    let others =
        [numbered("a", 1), numbered("b", 2), not_mine, over, paused, of_two_here, alone, numbered("h", 4)];
    for other in others {
        told.say(event::Body::Room(other));
    }
    open(&stage, &mut told, numbered("bb", 3));
    stage.settle(&told.scene);
    assert_eq!(shown(&told), (3, 3));
    for next in [4, 1, 2, 3] {
        tap(&stage, &told, "3 other games wait for your move: go to the next");
        assert_eq!(shown(&told), (3, next));
    }
    // Back leads home at once, not through the games.
    tap(&stage, &told, "Back");
    assert_eq!(page(&told), Page::Home);
}

#[test]
fn the_number_of_waiting_games_follows_their_moves() {
    let stage = Stage::new();
    let mut told = Told::new(&stage, crate::support::SIZES[0]);
    open(&stage, &mut told, waiting("here"));
    assert_eq!(shown(&told).0, 0);
    told.say(event::Body::Room(waiting("there")));
    stage.pass(Duration::ZERO);
    assert_eq!(shown(&told).0, 1);
    told.say(event::Body::Room(control::Room { paused: true, ..waiting("there") }));
    stage.pass(Duration::ZERO);
    assert_eq!(shown(&told).0, 0);
}
