//! Puzzles: lists of one game's, and what is said beside the board of one.

use std::rc::Rc;

use proto::board as wire;
use proto::control::{self, request};
use slint::{ComponentHandle, ModelRc, VecModel};

use super::{game, new_game, update, when};
use crate::app::{Desk, Inner, Purpose};
use crate::screens::{BoardAdapter, MainWindow, Page, PuzzleGame, PuzzleProgress, PuzzleRow, PuzzlesAdapter};

/// The games in the order of the first page.
const GAMES: [wire::Game; 5] =
    [wire::Game::Gomoku, wire::Game::Go, wire::Game::Xiangqi, wire::Game::Liuzhou, wire::Game::LightsOut];

/// Rows of the models that the page draws from.
#[derive(Default)]
pub(crate) struct Rows {
    games: Rc<VecModel<PuzzleGame>>,
    rows: Rc<VecModel<PuzzleRow>>,
}

/// What is listed.
pub(crate) struct Puzzles {
    game: wire::Game,
    /// 1 to 5; 0: that of the first which is not solved yet.
    grade: u32,
    counts: Vec<control::PuzzleCount>,
    /// Of this game; `None` until the host has told them.
    found: Option<Vec<control::Puzzle>>,
}

impl Default for Puzzles {
    fn default() -> Self {
        Self { game: wire::Game::Gomoku, grade: 0, counts: Vec::new(), found: None }
    }
}

pub(super) fn attach(window: &MainWindow, desk: &Rc<Desk>) {
    let page = window.global::<PuzzlesAdapter>();
    page.set_games(ModelRc::from(desk.puzzles.games.clone()));
    page.set_rows(ModelRc::from(desk.puzzles.rows.clone()));
    page.on_choose_game(when!(desk, |desk, game| {
        desk.change(|inner| {
            let counts = std::mem::take(&mut inner.puzzles.counts);
            inner.puzzles = Puzzles { game: game::of(game), counts, ..Puzzles::default() };
        });
        ask(&desk);
    }));
    page.on_choose_grade(when!(desk, |desk, grade| {
        desk.change(|inner| inner.puzzles.grade = grade.clamp(1, 5) as u32);
    }));
    page.on_open(when!(desk, |desk, id| open(&desk, id.into())));
    page.on_next(when!(desk, |desk| open(&desk, String::new())));
    let board = window.global::<BoardAdapter>();
    board.on_next_puzzle(when!(desk, |desk| {
        let next =
            desk.see().room.as_ref().and_then(|room| room.puzzle.as_ref()).map(|puzzle| puzzle.next.clone());
        if let Some(next) = next.filter(|next| !next.is_empty()) {
            open(&desk, next);
        }
    }));
    board.on_to_puzzles(when!(desk, |desk| desk.leave_room()));
}

/// Turns to the page of this game's puzzles.
pub(super) fn open_page(desk: &Desk, game: wire::Game) {
    desk.change(|inner| {
        if inner.puzzles.game != game {
            inner.puzzles = Puzzles { game, ..Puzzles::default() };
        }
    });
    desk.go(Page::Puzzles);
}

/// Asks for what the page shows.
pub(crate) fn ask(desk: &Desk) {
    let game = desk.see().puzzles.game;
    let list = control::ListPuzzles { game: game.into() };
    desk.ask(request::Body::ListPuzzles(list), Purpose::Puzzles { game });
}

/// A puzzle by its id; empty: the easiest of the game that is not solved yet.
fn open(desk: &Desk, puzzle: String) {
    let game = desk.see().puzzles.game.into();
    desk.ask(request::Body::OpenPuzzle(control::OpenPuzzle { puzzle, game }), Purpose::OpenRoom);
}

/// The host has told a game's puzzles.
pub(crate) fn found(desk: &Desk, of: wire::Game, list: control::Puzzles) {
    desk.change(|inner| {
        inner.puzzles.counts = list.counts;
        if inner.puzzles.game == of {
            if inner.puzzles.grade == 0 {
                let first = list.puzzles.iter().find(|one| !one.solved && !one.daily);
                inner.puzzles.grade = first.map_or(1, |first| first.grade.clamp(1, 5));
            }
            inner.puzzles.found = Some(list.puzzles);
        }
    });
}

fn count(inner: &Inner, of: wire::Game) -> (u32, u32) {
    let count = inner.puzzles.counts.iter().find(|count| count.game() == of);
    count.map_or((0, 0), |count| (count.puzzles, count.solved))
}

pub(super) fn show(window: &MainWindow, desk: &Desk) {
    let inner = desk.see();
    show_board(window, &inner);
    if inner.page() != Page::Puzzles {
        return;
    }
    let page = window.global::<PuzzlesAdapter>();
    let games: Vec<PuzzleGame> = GAMES
        .into_iter()
        .map(|of| {
            let (puzzles, solved) = count(&inner, of);
            PuzzleGame {
                game: game::shown(of),
                number: of as i32,
                puzzles: puzzles as i32,
                solved: solved as i32,
            }
        })
        .collect();
    update(&desk.puzzles.games, &games);
    let puzzles = &inner.puzzles;
    let (total, solved) = count(&inner, puzzles.game);
    page.set_total(total as i32);
    page.set_solved(solved as i32);
    page.set_game(game::shown(puzzles.game));
    page.set_grade(puzzles.grade.max(1) as i32);
    page.set_known(puzzles.found.is_some());
    let rows: Vec<PuzzleRow> = (puzzles.found.iter().flatten())
        .filter(|one| one.daily || one.grade == puzzles.grade)
        .map(|one| row(desk, one, inner.chinese()))
        .collect();
    update(&desk.puzzles.rows, &rows);
}

fn row(desk: &Desk, one: &control::Puzzle, chinese: bool) -> PuzzleRow {
    PuzzleRow {
        id: one.id.as_str().into(),
        grade: one.grade as i32,
        moves: one.moves as i32,
        goal: new_game::said(one.goal.as_ref(), chinese).into(),
        solved: one.solved,
        tries: one.tries as i32,
        daily: one.daily,
        revision: desk.sprites.set_thumbnail(&format!("puzzle {}", one.id), one.board.as_ref()),
    }
}

/// What is said beside the board of a puzzle.
fn show_board(window: &MainWindow, inner: &Inner) {
    let board = window.global::<BoardAdapter>();
    let state = inner.room.as_ref().and_then(|room| room.puzzle.as_ref());
    board.set_puzzle(state.is_some());
    let Some(state) = state else { return };
    let puzzle = state.puzzle.as_ref();
    board.set_puzzle_progress(match state.progress() {
        control::PuzzleProgress::PuzzleOpen | control::PuzzleProgress::PuzzleUnspecified => {
            PuzzleProgress::Open
        }
        control::PuzzleProgress::PuzzleJudging => PuzzleProgress::Judging,
        control::PuzzleProgress::PuzzleWrong => PuzzleProgress::Wrong,
        control::PuzzleProgress::PuzzleSolved => PuzzleProgress::Solved,
    });
    let chinese = inner.chinese();
    let goal = puzzle.and_then(|puzzle| puzzle.goal.as_ref());
    board.set_puzzle_goal(new_game::said(goal, chinese).into());
    board.set_puzzle_says(new_game::said(state.say.as_ref(), chinese).into());
    board.set_puzzle_left(state.left as i32);
    board.set_puzzle_grade(puzzle.map_or(1, |puzzle| puzzle.grade as i32));
    board.set_puzzle_next(!state.next.is_empty());
}

impl Inner {
    /// The game whose puzzles were looked at last.
    pub(super) fn puzzles_game(&self) -> wire::Game {
        self.puzzles.game
    }
}
