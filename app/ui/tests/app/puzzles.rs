//! Puzzles: chosen by game and difficulty, tried on the board, continued with the next one.

use std::time::Duration;

use engine::puzzles::{self, Attempt, Verdict};
use engine::{Action, GameKind, Point};
use proto::control::{self, PuzzleProgress, event, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::{
    BoardAdapter, HomeAdapter, Navigation, Page, PuzzleProgress as Progress, PuzzlesAdapter, Remark,
};
use slint::{ComponentHandle, Model};

use crate::play::Table;
use crate::support::puzzles::{listed, look, look_at_own, narrowed, tried};
use crate::support::{Told, body, judgements, look_through};
use crate::touches::{names, page, says, started, tap};

fn rows(told: &Told) -> Vec<String> {
    let adapter = told.app.window().global::<PuzzlesAdapter<'_>>();
    adapter.get_rows().iter().map(|row| row.id.to_string()).collect()
}

#[test]
fn puzzles_are_listed_by_difficulty_and_the_first_unsolved_one_says_which() {
    let stage = Stage::new();
    let mut told = started(&stage);
    look(&stage, &mut told);
    told.scene.resize(720, 3_000, 2.0);
    stage.settle(&told.scene);
    assert_eq!(page(&told), Page::Puzzles);
    assert_eq!(rows(&told), ["g1", "g2", "g3"]);
    assert!(says(&told, "Gomoku, 1 of 104 solved"));
    let told_so = says(&told, "Black to play: five in a row in 2 moves, all of them fours. 4 tries so far");
    assert!(told_so, "{:?}", names(&told));
    tap(&stage, &told, "Expert");
    assert_eq!(rows(&told), ["g4"]);
    told.answer(&stage);
    tap(&stage, &told, "Go, 12 of 100 solved");
    let asked: Vec<request::Body> = told.answer(&stage).iter().map(|one| body(one).clone()).collect();
    let list = control::ListPuzzles { game: proto::board::Game::Go.into(), yours: false };
    assert_eq!(asked, [request::Body::ListPuzzles(list)]);
}

#[test]
fn todays_five_are_marks_that_open_their_puzzles_beside_the_days_the_rating_and_the_run() {
    let stage = Stage::new();
    let mut told = started(&stage);
    look(&stage, &mut told);
    stage.settle(&told.scene);
    for (number, state) in (1..).zip([
        "solved",
        "solved at a later try",
        "missed, not solved yet",
        "not tried yet",
        "not tried yet",
    ]) {
        let mark = format!("Today's puzzle {number}: {state}");
        assert!(says(&told, &mark), "{mark}: {:?}", names(&told));
    }
    for said in [
        "Today's five: 2 days in a row",
        "Your rating: 1210, give or take 90",
        "3 in a row without a miss; at best 8",
    ] {
        assert!(says(&told, said), "{said}: {:?}", names(&told));
    }
    let week = told.app.window().global::<PuzzlesAdapter<'_>>().get_week();
    let week: Vec<bool> = week.iter().collect();
    assert_eq!(week, [false, true, false, false, true, true, false], "today is the last");
    tap(&stage, &told, "Today's puzzle 4: not tried yet");
    let asked = told.answer(&stage);
    let fourth = control::OpenPuzzle {
        puzzle: "g4".into(),
        game: proto::board::Game::Gomoku.into(),
        ..Default::default()
    };
    assert_eq!(body(&asked[0]), &request::Body::OpenPuzzle(fourth));
    // Of another game nothing is known until the host has told it.
    told.scene.resize(720, 3_000, 2.0);
    stage.settle(&told.scene);
    tap(&stage, &told, "Go, 12 of 100 solved");
    assert!(!names(&told).iter().any(|name| name.starts_with("Today's puzzle")), "{:?}", names(&told));
}

#[test]
fn todays_five_are_reached_by_keys_alone() {
    let stage = Stage::new();
    let mut told = started(&stage);
    look(&stage, &mut told);
    stage.settle(&told.scene);
    // Back, five games, the third mark.
    for _ in 0..9 {
        told.scene.key(slint::platform::Key::Tab);
        stage.settle(&told.scene);
    }
    told.scene.key(slint::platform::Key::Return);
    stage.settle(&told.scene);
    let asked = told.answer(&stage);
    let open = asked.iter().find_map(|one| match body(one) {
        request::Body::OpenPuzzle(open) => Some(open.puzzle.clone()),
        _ => None,
    });
    assert_eq!(open.as_deref(), Some("g3"));
}

#[test]
fn a_puzzle_is_opened_tried_solved_and_left_for_the_next() {
    let stage = Stage::new();
    let mut told = started(&stage);
    look(&stage, &mut told);
    stage.settle(&told.scene);
    tap(&stage, &told, "Next unsolved puzzle");
    let asked = told.answer(&stage);
    let next = control::OpenPuzzle { game: proto::board::Game::Gomoku.into(), ..Default::default() };
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
    // A puzzle starts over without a confirmation.
    let asked = told.answer(&stage);
    assert!(
        matches!(body(&asked[0]), request::Body::Offer(offer) if offer.kind() == control::OfferKind::OfferNewGame)
    );
    told.say(event::Body::Room(tried(PuzzleProgress::PuzzleSolved)));
    stage.settle(&told.scene);
    tap(&stage, &told, "Next puzzle");
    let asked = told.answer(&stage);
    let [one] = &asked[..] else { panic!("{asked:?}") };
    assert!(matches!(body(one), request::Body::OpenPuzzle(open) if open.puzzle == "g3"), "{asked:?}");
    // The previous room is closed after the next one is there, so that no board without a puzzle is shown.
    assert_eq!(page(&told), Page::Board);
    told.reply(one.id, reply::Body::RoomId("next".into()));
    told.say(event::Body::Room(control::Room { id: "next".into(), ..tried(PuzzleProgress::PuzzleOpen) }));
    let asked: Vec<request::Body> = told.answer(&stage).iter().map(|one| body(one).clone()).collect();
    assert_eq!(asked, [request::Body::CloseRoom(control::CloseRoom { room_id: "room".into() })]);
    stage.settle(&told.scene);
    assert!(says(&told, "Black to play: five in a row in 2 moves, all of them fours."));
    for expected in [Page::Puzzles, Page::Home] {
        tap(&stage, &told, "Back");
        assert_eq!(page(&told), expected);
    }
}

#[test]
fn ones_own_mistakes_are_listed_with_the_day_they_come_back_and_the_first_is_one_tap_away() {
    let stage = Stage::new();
    let mut told = started(&stage);
    look_at_own(&stage, &mut told);
    told.scene.resize(720, 3_000, 2.0);
    stage.settle(&told.scene);
    assert_eq!(rows(&told), ["yours-1", "yours-2", "yours-3", "yours-4"]);
    for when in ["due today", "due in 4 days", "learnt"] {
        let row = format!("You played O15 here. Find a better move. {when}");
        assert!(says(&told, &row), "{row}: {:?}", names(&told));
    }
    assert!(says(&told, "Gomoku, 1 of 104 solved · 2 due"), "{:?}", names(&told));
    tap(&stage, &told, "Your mistakes: 2 due today");
    let asked = told.answer(&stage);
    let first =
        control::OpenPuzzle { game: proto::board::Game::Gomoku.into(), yours: true, ..Default::default() };
    assert_eq!(body(&asked[0]), &request::Body::OpenPuzzle(first));
    tap(&stage, &told, "Novice");
    assert_eq!(rows(&told), ["g1", "g2", "g3"], "the puzzles are still there");
}

#[test]
fn a_hint_of_a_puzzle_narrows_and_where_to_look_is_seen_and_read_out() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.say(event::Body::Room(tried(PuzzleProgress::PuzzleOpen)));
    stage.pass(Duration::ZERO);
    told.app.open_room("room");
    stage.settle(&told.scene);
    told.answer(&stage);
    tap(&stage, &told, "Hint");
    let asked = told.answer(&stage);
    assert!(matches!(body(&asked[0]), request::Body::Hint(hint) if hint.narrow), "{asked:?}");
    told.say(event::Body::Room(narrowed()));
    let say = narrowed().puzzle.and_then(|state| state.say);
    told.reply(asked[0].id, reply::Body::Hint(control::HintFound { say, ..Default::default() }));
    stage.settle(&told.scene);
    assert!(says(&told, "Look in the marked part of the board."), "{:?}", names(&told));
    let board = told.app.window().global::<BoardAdapter<'_>>();
    assert_eq!(board.get_points().iter().filter(|point| point.near).count(), 9);
    assert!(names(&told).iter().any(|name| name.ends_with("look here")), "{:?}", names(&told));
    tap(&stage, &told, "Hint");
    assert_eq!(told.answer(&stage).len(), 1, "the next hint can be asked for");
}

#[test]
fn a_mistake_is_tried_again_from_the_review_of_its_match_and_the_way_back_leads_there() {
    let stage = Stage::new();
    let mut told = started(&stage);
    look_through(&stage, &mut told, false);
    told.say(event::Body::Judgements(judgements("")));
    told.scene.resize(720, 3_000, 2.0);
    stage.settle(&told.scene);
    assert!(!says(&told, "Find a better move"), "it is not kept");
    told.say(event::Body::Judgements(judgements("yours-1")));
    stage.settle(&told.scene);
    told.answer(&stage);
    tap(&stage, &told, "Find a better move");
    let asked = told.answer(&stage);
    let again = control::OpenPuzzle { puzzle: "yours-1".into(), ..Default::default() };
    assert_eq!(body(&asked[0]), &request::Body::OpenPuzzle(again));
    told.reply(asked[0].id, reply::Body::RoomId("room".into()));
    told.say(event::Body::Room(tried(PuzzleProgress::PuzzleSolved)));
    stage.settle(&told.scene);
    assert_eq!(page(&told), Page::Board);
    tap(&stage, &told, "Back to the game");
    stage.settle(&told.scene);
    assert_eq!(page(&told), Page::Replay);
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
    let gomoku = control::ListPuzzles { game: proto::board::Game::Gomoku.into(), yours: false };
    let list = asked.iter().find(|one| *body(one) == request::Body::ListPuzzles(gomoku));
    let list = list.unwrap_or_else(|| panic!("they are asked for: {asked:?}"));
    told.reply(list.id, reply::Body::Puzzles(listed()));
    stage.settle(&told.scene);
    assert_eq!(rows(&told), ["g1", "g2", "g3"]);
    tap(&stage, &told, "Back");
    assert_eq!(page(&told), Page::Home);
}

/// Taps what this action needs. Boards are shown from Red's side, or from Black's if Black solves.
fn touch(table: &Table<'_>, action: Action, turned: bool) {
    let board = table.app.window().global::<BoardAdapter<'_>>();
    let (columns, rows) = (board.get_columns(), board.get_rows());
    let index = |at: Point| {
        let (column, row) = (i32::from(at.column), i32::from(at.row));
        if turned { row * columns + columns - 1 - column } else { (rows - 1 - row) * columns + column }
    };
    let points = match action {
        Action::Step { from, to } => vec![from, to],
        Action::Place(at) | Action::Capture(at) | Action::Press(at) => vec![at],
        _ => panic!("{action:?} is made beside the points"),
    };
    for at in points {
        board.invoke_touch(index(at));
        table.stage.pass(Duration::ZERO);
    }
}

#[test]
fn puzzles_of_every_game_are_solved_in_the_window_after_a_wrong_move_and_no_right_one_is_refused() {
    let stage = Stage::new();
    let table = Table::new(&stage);
    let board = || table.app.window().global::<BoardAdapter<'_>>();
    let navigation = || table.app.window().global::<Navigation<'_>>();
    table.app.window().global::<HomeAdapter<'_>>().invoke_open_puzzles();
    for &kind in GameKind::ALL {
        let all = puzzles::all(kind);
        let mut wrong_ones = 0;
        // The first, one of the middle, and the hardest puzzle.
        for puzzle in [&all[0], &all[all.len() / 2], &all[all.len() - 1]] {
            table.app.window().global::<PuzzlesAdapter<'_>>().invoke_open(puzzle.id.as_str().into());
            table.until("the puzzle", || {
                navigation().get_page() == Page::Board
                    && board().get_puzzle_progress() == Progress::Open
                    && board().get_ply() == puzzle.start.ply() as i32
            });
            let mut attempt = Attempt::new(puzzle.clone());
            let turned = kind == GameKind::Xiangqi && attempt.solver() == engine::Side::Second;
            let wrong = attempt
                .game()
                .legal_actions()
                .into_iter()
                .find(|action| *action != puzzle.solution && !matches!(action, Action::Pass));
            if let Some(wrong) = wrong {
                touch(&table, wrong, turned);
                table.until("the wrong move is judged", || {
                    board().get_ply() > puzzle.start.ply() as i32
                        && board().get_puzzle_progress() != Progress::Judging
                });
                // Where it is not wrong yet, the turn goes on, or more presses are left.
                if board().get_puzzle_progress() == Progress::Wrong {
                    wrong_ones += 1;
                } else {
                    let verdict = attempt.clone().act(wrong).expect("it is legal");
                    assert!(!matches!(verdict, Verdict::Wrong(_)), "{}: {wrong:?}", puzzle.id);
                }
                board().invoke_take_back();
                table.until("it is taken back", || board().get_ply() == puzzle.start.ply() as i32);
            }
            while let Some(action) = attempt.hint() {
                touch(&table, action, turned);
                attempt.act(action).expect("the hint is legal");
                let ply = attempt.game().ply() as i32;
                table.until("the move is judged", || {
                    assert_ne!(
                        navigation().get_remark(),
                        Remark::Told,
                        "{} is refused: {}",
                        puzzle.id,
                        navigation().get_remark_name()
                    );
                    board().get_ply() == ply && board().get_puzzle_progress() != Progress::Judging
                });
            }
            assert_eq!(board().get_puzzle_progress(), Progress::Solved, "{}", puzzle.id);
            board().invoke_to_puzzles();
            table.until("the list again", || navigation().get_page() == Page::Puzzles);
        }
        assert!(wrong_ones > 0 || kind == GameKind::LightsOut, "no move was wrong in {kind:?}");
    }
    table.end();
}

#[test]
fn more_puzzles_are_made_at_a_touch_with_progress_and_the_list_is_asked_for_again() {
    let stage = Stage::new();
    let mut told = started(&stage);
    look(&stage, &mut told);
    told.scene.resize(720, 3_000, 2.0);
    stage.settle(&told.scene);
    let gomoku = proto::board::Game::Gomoku;
    let make = |on| request::Body::MakePuzzles(control::MakePuzzles { game: gomoku.into(), on });
    let making = |game: proto::board::Game, found, wanted| {
        event::Body::PuzzleMaking(control::PuzzleMaking { game: game.into(), found, wanted })
    };
    tap(&stage, &told, "Make more puzzles");
    assert_eq!(told.answer(&stage).iter().map(body).collect::<Vec<_>>(), [&make(true)]);
    told.say(making(gomoku, 3, 20));
    stage.settle(&told.scene);
    tap(&stage, &told, "Stop making puzzles (3 of 20)");
    assert_eq!(told.answer(&stage).iter().map(body).collect::<Vec<_>>(), [&make(false)]);
    told.say(making(proto::board::Game::Unspecified, 0, 0));
    stage.settle(&told.scene);
    let list = control::ListPuzzles { game: gomoku.into(), yours: false };
    let asked = told.answer(&stage);
    assert_eq!(asked.iter().map(body).collect::<Vec<_>>(), [&request::Body::ListPuzzles(list)]);
    assert!(says(&told, "Make more puzzles"));
    // Of another game they cannot be made meanwhile.
    told.say(making(proto::board::Game::Xiangqi, 1, 20));
    stage.settle(&told.scene);
    assert!(says(&told, "Puzzles are being made: Xiangqi"), "{:?}", names(&told));
}
