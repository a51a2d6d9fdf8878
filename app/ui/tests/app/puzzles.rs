//! Puzzles: chosen by game and difficulty, tried on the board, left for the next.

use std::time::Duration;

use proto::control::{self, PuzzleProgress, event, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::{Page, PuzzlesAdapter};
use slint::{ComponentHandle, Model};

use crate::support::puzzles::{listed, look, tried};
use crate::support::{Told, body};
use crate::touches::{page, says, started, tap};

fn rows(told: &Told) -> Vec<String> {
    let adapter = told.app.window().global::<PuzzlesAdapter<'_>>();
    adapter.get_rows().iter().map(|row| row.id.to_string()).collect()
}

#[test]
fn puzzles_are_listed_by_difficulty_and_the_first_unsolved_one_says_which() {
    let stage = Stage::new();
    let mut told = started(&stage);
    look(&stage, &mut told);
    stage.settle(&told.scene);
    assert_eq!(page(&told), Page::Puzzles);
    assert_eq!(rows(&told), ["g1", "g2", "g3"]);
    assert!(says(&told, "Gomoku, 1 of 104 solved"));
    assert!(says(&told, "Black to play: five in a row in 2 moves, all of them fours. 4 tries so far"));
    tap(&stage, &told, "Expert");
    assert_eq!(rows(&told), ["g4"]);
    told.answer(&stage);
    tap(&stage, &told, "Go, 12 of 100 solved");
    let asked: Vec<request::Body> = told.answer(&stage).iter().map(|one| body(one).clone()).collect();
    let list = control::ListPuzzles { game: proto::board::Game::Go.into() };
    assert_eq!(asked, [request::Body::ListPuzzles(list)]);
}

#[test]
fn a_puzzle_is_opened_tried_solved_and_left_for_the_next() {
    let stage = Stage::new();
    let mut told = started(&stage);
    look(&stage, &mut told);
    stage.settle(&told.scene);
    tap(&stage, &told, "Next unsolved puzzle");
    let asked = told.answer(&stage);
    let next = control::OpenPuzzle { puzzle: String::new(), game: proto::board::Game::Gomoku.into() };
    assert_eq!(body(&asked[0]), &request::Body::OpenPuzzle(next));
    told.reply(asked[0].id, reply::Body::RoomId("room".into()));
    told.say(event::Body::Room(tried(PuzzleProgress::PuzzleOpen)));
    stage.settle(&told.scene);
    assert_eq!(page(&told), Page::Board);
    assert!(
        says(&told, "Black to play: five in a row in 2 moves, all of them fours.")
            && says(&told, "2 moves left")
    );
    told.say(event::Body::Room(tried(PuzzleProgress::PuzzleWrong)));
    stage.settle(&told.scene);
    assert!(says(&told, "Not quite: H7 stops it. Undo and try again."));
    told.answer(&stage);
    tap(&stage, &told, "Restart");
    // A puzzle begins again unasked.
    let asked = told.answer(&stage);
    assert!(
        matches!(body(&asked[0]), request::Body::Offer(offer) if offer.kind() == control::OfferKind::OfferNewGame)
    );
    told.say(event::Body::Room(tried(PuzzleProgress::PuzzleSolved)));
    stage.settle(&told.scene);
    tap(&stage, &told, "Next puzzle");
    let asked: Vec<request::Body> = told.answer(&stage).iter().map(|one| body(one).clone()).collect();
    assert!(matches!(&asked[0], request::Body::CloseRoom(close) if close.room_id == "room"));
    assert!(
        matches!(asked.last(), Some(request::Body::OpenPuzzle(open)) if open.puzzle == "g3"),
        "{asked:?}"
    );
}

#[test]
fn the_way_back_from_a_puzzle_is_the_puzzles() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.say(event::Body::Room(tried(PuzzleProgress::PuzzleOpen)));
    stage.pass(Duration::ZERO);
    told.app.open_room("room");
    stage.settle(&told.scene);
    told.answer(&stage);
    tap(&stage, &told, "Back");
    assert_eq!(page(&told), Page::Puzzles);
    let asked = told.answer(&stage);
    assert!(asked.iter().any(|one| matches!(body(one), request::Body::ListPuzzles(_))));
    assert_eq!(listed().puzzles.len(), 4);
}
