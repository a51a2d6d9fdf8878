//! Benchmark of drawing without a display: a move on the board, and a whole page. The only place of the app that measures
//! time.
//!
//! `cargo run --release -p qiyou --example bench`

#[allow(dead_code, reason = "tests use the rest")]
#[path = "../tests/support/mod.rs"]
mod support;

use std::time::{Duration, Instant};

use proto::board::Side;
use proto::control::{Piece, event};
use qiyou::headless::Stage;
use slint::ComponentHandle;

/// A phone of 360 x 720 logical pixels.
const SIZE: (u32, u32, f32) = (720, 1_440, 2.0);

fn main() {
    let stage = Stage::new();
    let mut told = support::Told::new(&stage, SIZE);
    told.prefer(false, false, 0);
    let mut room = support::room(support::here(), support::here(), &[Side::First, Side::Second]);
    told.say(event::Body::Room(room.clone()));
    stage.pass(Duration::ZERO);
    told.app.open_room("room");
    told.answer(&stage);
    stage.settle(&told.scene);

    let mut moves = Vec::new();
    let mut painted = Vec::new();
    let taken: Vec<u32> =
        room.board.iter().flat_map(|board| board.pieces.iter().map(|piece| piece.at)).collect();
    for index in 0..225_u32 {
        let at = index / 15 * 1_024 + index % 15;
        if taken.contains(&at) {
            continue;
        }
        let board = room.board.as_mut().expect("a board");
        board.pieces.push(Piece { at, side: board.turn, kind: 0 });
        board.last = Some(support::place(index % 15, index / 15));
        board.turn = 3 - board.turn;
        board.ply += 1;
        told.scene.take_repainted();
        let began = Instant::now();
        told.say(event::Body::Room(room.clone()));
        stage.pass(Duration::from_millis(16));
        told.scene.draw();
        moves.push(began.elapsed());
        painted.push(told.scene.take_repainted());
    }
    moves.sort();
    painted.sort_unstable();
    let at = |part: usize| moves[(moves.len() * part / 100).min(moves.len() - 1)].as_secs_f64() * 1_000.0;
    println!("move to frame: median {:.2} ms, p95 {:.2} ms ({} moves)", at(50), at(95), moves.len());
    println!("painted for a move: median {} pixels, a cell has {}", painted[painted.len() / 2], 42 * 42);

    let mut whole = Vec::new();
    for _ in 0..40 {
        told.app.window().window().request_redraw();
        told.scene.resize(SIZE.0, SIZE.1, SIZE.2);
        let began = Instant::now();
        told.scene.draw();
        whole.push(began.elapsed());
    }
    whole.sort();
    println!("whole page: median {:.2} ms", whole[whole.len() / 2].as_secs_f64() * 1_000.0);
}
