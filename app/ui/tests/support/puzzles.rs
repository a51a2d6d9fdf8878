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
        ..Default::default()
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
        standings: vec![fares()],
        days: Some(control::PuzzleDays { streak: 2, best: 5, week: 0b010_0110 }),
    }
}

/// Someone who has solved one of today's five at once, one later, and missed one.
fn fares() -> control::PuzzleStanding {
    use control::TodayMark::{TodayFirst, TodayLate, TodayMissed, TodayOpen};
    let today =
        [("g1", TodayFirst), ("g2", TodayLate), ("g3", TodayMissed), ("g4", TodayOpen), ("g5", TodayOpen)];
    control::PuzzleStanding {
        game: proto::board::Game::Gomoku.into(),
        rating: 1210,
        deviation: 90,
        rated: 14,
        run: 3,
        best_run: 8,
        today: today.map(|(id, mark)| control::TodayPuzzle { id: id.into(), mark: mark.into() }).into(),
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

/// One's own mistake, in this box and due in so many days.
fn own(id: &str, r#box: u32, due_in_days: u32) -> control::Puzzle {
    control::Puzzle {
        id: id.into(),
        grade: 0,
        moves: 1,
        goal: Some(words("这一步你走了 O15。找一步更好的。", "You played O15 here. Find a better move.")),
        mistake: Some(control::Mistake { r#box, boxes: 5, learnt: false, due_in_days }),
        ..puzzle(id, 1)
    }
}

/// Two mistakes that are due, one that is not, and one that is learnt.
pub(crate) fn own_listed() -> control::Puzzles {
    let learnt = control::Mistake { r#box: 5, boxes: 5, learnt: true, due_in_days: 0 };
    let mut listed = listed();
    (listed.counts[0].yours, listed.counts[0].due) = (4, 2);
    let last = control::Puzzle { mistake: Some(learnt), solved: true, ..own("yours-4", 5, 0) };
    listed.puzzles = vec![own("yours-1", 0, 0), own("yours-2", 1, 0), own("yours-3", 3, 4), last];
    listed
}

/// Opens the page for somebody who has mistakes to try again, and answers its requests.
pub(crate) fn look_at_own(stage: &Stage, told: &mut Told) {
    let answer = |told: &mut Told| {
        for request in told.answer(stage) {
            if let request::Body::ListPuzzles(list) = body(&request) {
                let puzzles = if list.yours { own_listed().puzzles } else { listed().puzzles };
                told.reply(request.id, reply::Body::Puzzles(control::Puzzles { puzzles, ..own_listed() }));
            }
        }
        stage.pass(std::time::Duration::ZERO);
    };
    told.answer(stage);
    told.app.window().global::<HomeAdapter<'_>>().invoke_open_puzzles();
    answer(told);
    told.app.window().global::<PuzzlesAdapter<'_>>().invoke_choose_grade(6);
    answer(told);
}

/// The board of a mistake, of which a hint has said where the move is.
pub(crate) fn narrowed() -> control::Room {
    let mut room = tried(PuzzleProgress::PuzzleOpen);
    let near = (6..9).flat_map(|row| (6..9).map(move |column| row * 1_024 + column));
    let mark =
        |at| control::Mark { at, kind: control::MarkKind::MarkNear.into(), ..control::Mark::default() };
    if let Some(board) = &mut room.board {
        board.marks.extend(near.map(mark));
    }
    if let Some(state) = &mut room.puzzle {
        state.puzzle = Some(control::Puzzle { board: None, ..own("yours-1", 0, 0) });
        state.say = Some(words("在标出的地方找找。", "Look in the marked part of the board."));
        state.left = 1;
    }
    room
}

pub(crate) const MISTAKES: [(&str, Tell); 3] = [
    ("mistakes", look_at_own),
    ("mistakes-near", |stage, told| open(stage, told, narrowed())),
    ("mistakes-review", |stage, told| {
        super::look_through(stage, told, false);
        told.say(event::Body::Judgements(super::judgements("yours-1")));
    }),
];
