//! Stories about puzzles: their lists, and the board of one.

use engine::{AnyGame, GameKind, Side};
use proto::control::{self, PuzzleProgress, event, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::{HomeAdapter, PuzzlesAdapter};
use slint::ComponentHandle;

use super::{Tell, Told, body, games, open};

fn words(zh: &str, en: &str) -> control::Words {
    control::Words { zh: zh.into(), en: en.into() }
}

/// Black has an open three on a small gomoku board.
fn position() -> AnyGame {
    games::played(&GameKind::Gomoku.default_setup(), "h8 a1 h9 a3 h10 c1")
}

pub(crate) fn puzzle(id: &str, grade: u32) -> control::Puzzle {
    control::Puzzle {
        id: id.into(),
        game: proto::board::Game::Gomoku.into(),
        grade,
        moves: grade + 1,
        goal: Some(words(
            "黑方先走，步步冲四，2 手之内成五。",
            "Black to play: five in a row in 2 moves, all of them fours.",
        )),
        board: Some(host::position(&position())),
        ..Default::default()
    }
}

/// Three easy puzzles, of which one is solved, and a hard one.
pub(crate) fn listed() -> control::Puzzles {
    let count = |game: proto::board::Game, puzzles, solved| control::PuzzleCount {
        game: game.into(),
        puzzles,
        solved,
    };
    control::Puzzles {
        puzzles: vec![
            control::Puzzle { solved: true, tries: 1, ..puzzle("g1", 1) },
            control::Puzzle { tries: 4, ..puzzle("g2", 1) },
            puzzle("g3", 1),
            puzzle("g4", 5),
        ],
        counts: vec![
            count(proto::board::Game::Gomoku, 104, 1),
            count(proto::board::Game::Go, 100, 12),
            count(proto::board::Game::Xiangqi, 120, 0),
            count(proto::board::Game::Liuzhou, 100, 0),
            count(proto::board::Game::LightsOut, 105, 30),
        ],
    }
}

/// The board of a puzzle in this state.
pub(crate) fn tried(progress: PuzzleProgress) -> control::Room {
    let mut room = games::against_the_device(&position(), Side::First);
    let say = match progress {
        PuzzleProgress::PuzzleWrong => words(
            "这样不行：对方应 H7，就来不及了。悔一步再试。",
            "Not quite: H7 stops it. Undo and try again.",
        ),
        PuzzleProgress::PuzzleSolved => words("解开了！", "Solved!"),
        _ => words(
            "黑方先走，步步冲四，2 手之内成五。",
            "Black to play: five in a row in 2 moves, all of them fours.",
        ),
    };
    let next = if progress == PuzzleProgress::PuzzleSolved { "g3" } else { "" };
    room.puzzle = Some(control::PuzzleState {
        puzzle: Some(control::Puzzle { board: None, ..puzzle("g2", 1) }),
        progress: progress.into(),
        left: 2,
        say: Some(say),
        next: next.into(),
        helped: false,
    });
    room.can_act = progress == PuzzleProgress::PuzzleOpen;
    room
}

/// Opens the page, and answers its request.
pub(crate) fn look(stage: &Stage, told: &mut Told) {
    told.answer(stage);
    told.app.window().global::<HomeAdapter<'_>>().invoke_open_puzzles();
    for request in told.answer(stage) {
        if matches!(body(&request), request::Body::ListPuzzles(_)) {
            told.reply(request.id, reply::Body::Puzzles(listed()));
        }
    }
}

pub(crate) const PUZZLES: [(&str, Tell); 5] = [
    ("puzzles", look),
    ("puzzles-master", |stage, told| {
        look(stage, told);
        stage.pass(std::time::Duration::ZERO);
        told.app.window().global::<PuzzlesAdapter<'_>>().invoke_choose_grade(5);
    }),
    ("puzzle", |stage, told| open(stage, told, tried(PuzzleProgress::PuzzleOpen))),
    ("puzzle-wrong", |stage, told| open(stage, told, tried(PuzzleProgress::PuzzleWrong))),
    ("puzzle-solved", |stage, told| {
        told.say(event::Body::Ready(control::Ready {}));
        open(stage, told, tried(PuzzleProgress::PuzzleSolved));
    }),
];
