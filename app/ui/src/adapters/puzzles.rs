//! Puzzles: the list of a game's puzzles, and the card beside the board of a puzzle.

use std::rc::Rc;

use proto::board as wire;
use proto::control::{self, event, reply, request};
use slint::{ComponentHandle, ModelRc, VecModel};

use super::{game, new_game, touched, update};
use crate::app::{Answer, AppState, Asked, Controller, Cx};
use crate::art::Sprites;
use crate::screens::{
    BoardAdapter, MainWindow, Page, PuzzleGame, PuzzleProgress, PuzzleRow, PuzzlesAdapter, Remark, TodayMark,
    TodayPuzzle,
};

/// The games in the order of the home page.
const GAMES: [wire::Game; 5] =
    [wire::Game::Gomoku, wire::Game::Go, wire::Game::Xiangqi, wire::Game::Liuzhou, wire::Game::LightsOut];

/// One's own mistakes, in place of a difficulty.
const OWN: u32 = 6;

/// State of the page.
pub(crate) struct Puzzles {
    game: wire::Game,
    /// Selected difficulty, 1 to 5; 0: that of the first unsolved puzzle; [`OWN`]: one's own mistakes.
    grade: u32,
    counts: Vec<control::PuzzleCount>,
    /// How the player fares in the selected game; `None` until the host has replied.
    standing: Option<control::PuzzleStanding>,
    days: control::PuzzleDays,
    /// Puzzles of the selected game; `None` until the host has replied.
    found: Option<Vec<control::Puzzle>>,
    /// One's own mistakes of the game; `None` until they were asked for and the host has replied.
    own: Option<Vec<control::Puzzle>>,
    /// Puzzles are being made, as the host said last.
    making: bool,
    games: Rc<VecModel<PuzzleGame>>,
    rows: Rc<VecModel<PuzzleRow>>,
    today: Rc<VecModel<TodayPuzzle>>,
    week: Rc<VecModel<bool>>,
}

impl Default for Puzzles {
    fn default() -> Self {
        Self {
            game: wire::Game::Gomoku,
            grade: 0,
            counts: Vec::new(),
            standing: None,
            days: control::PuzzleDays::default(),
            found: None,
            own: None,
            making: false,
            games: Rc::default(),
            rows: Rc::default(),
            today: Rc::default(),
            week: Rc::default(),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Question {
    /// The puzzles of this game, or one's own mistakes.
    List { game: wire::Game, yours: bool },
    /// A puzzle room was opened.
    Open,
}

impl From<Question> for Asked {
    fn from(question: Question) -> Self {
        Self::Puzzles(question)
    }
}

impl Puzzles {
    pub(super) fn attach(&self, window: &MainWindow, app: &Rc<Controller>) {
        let page = window.global::<PuzzlesAdapter>();
        page.set_games(ModelRc::from(self.games.clone()));
        page.set_rows(ModelRc::from(self.rows.clone()));
        page.set_today(ModelRc::from(self.today.clone()));
        page.set_week(ModelRc::from(self.week.clone()));
        page.on_choose_game(touched!(app, |pages, cx, game| {
            pages.puzzles.begin_with(game::of(game));
            pages.puzzles.list(cx);
        }));
        page.on_choose_grade(touched!(app, |pages, cx, grade| {
            pages.puzzles.grade = grade.clamp(1, OWN as i32) as u32;
            pages.puzzles.list_own(cx);
        }));
        page.on_open(touched!(app, |pages, cx, id| pages.puzzles.open(id.into(), cx)));
        page.on_next(touched!(app, |pages, cx| pages.puzzles.open(String::new(), cx)));
        page.on_again(touched!(app, |pages, cx| {
            let open = control::OpenPuzzle {
                game: pages.puzzles.game.into(),
                yours: true,
                ..control::OpenPuzzle::default()
            };
            cx.ask.send(request::Body::OpenPuzzle(open), Question::Open);
        }));
        page.on_make(touched!(app, |pages, cx, on| {
            let game = pages.puzzles.game.into();
            cx.ask.done(request::Body::MakePuzzles(control::MakePuzzles { game, on }));
        }));
        let board = window.global::<BoardAdapter>();
        board.on_next_puzzle(touched!(app, |pages, cx| pages.puzzles.open_next(cx)));
        board.on_play_on_puzzle(touched!(app, |pages, cx| {
            if let Some((game, from)) = played(cx.known) {
                pages.position.open_from(game, from, cx);
            }
        }));
        board.on_to_puzzles(touched!(app, |_pages, cx| cx.go.leave_room()));
    }

    /// The selected game.
    pub(super) fn game(&self) -> wire::Game {
        self.game
    }

    /// Selects the game whose puzzles are listed.
    pub(crate) fn choose_game(&mut self, game: wire::Game) {
        if self.game != game {
            self.begin_with(game);
        }
    }

    fn begin_with(&mut self, game: wire::Game) {
        (self.game, self.grade, self.found, self.own, self.standing) = (game, 0, None, None, None);
    }

    /// Requests the list; called when the page is opened or the game changes.
    pub(crate) fn list(&self, cx: &mut Cx<'_>) {
        let list = control::ListPuzzles { game: self.game.into(), yours: false };
        cx.ask.send(request::Body::ListPuzzles(list), Question::List { game: self.game, yours: false });
        self.list_own(cx);
    }

    /// Requests the player's own mistakes, if they are looked at.
    fn list_own(&self, cx: &mut Cx<'_>) {
        if self.grade == OWN {
            let list = control::ListPuzzles { game: self.game.into(), yours: true };
            cx.ask.send(request::Body::ListPuzzles(list), Question::List { game: self.game, yours: true });
        }
    }

    /// Opens a puzzle by id; empty: the unsolved one of the game that is nearest to the player's rating.
    fn open(&self, puzzle: String, cx: &mut Cx<'_>) {
        let open = control::OpenPuzzle { puzzle, game: self.game.into(), yours: false, today: false };
        cx.ask.send(request::Body::OpenPuzzle(open), Question::Open);
    }

    /// Opens the puzzle after the one on the board.
    fn open_next(&self, cx: &mut Cx<'_>) {
        let puzzle = cx.known.room.as_ref().and_then(|room| room.puzzle.as_ref());
        if let Some(puzzle) = puzzle.filter(|puzzle| !puzzle.next.is_empty()) {
            self.open(puzzle.next.clone(), cx);
        }
    }

    /// Puzzles are being made: with the end of it there are more.
    pub(crate) fn hear(&mut self, event: &event::Body, cx: &mut Cx<'_>) {
        let event::Body::PuzzleMaking(making) = event else { return };
        let ended = self.making && making.wanted == 0;
        self.making = making.wanted > 0;
        if ended && cx.known.page() == Page::Puzzles {
            self.list(cx);
        }
    }

    pub(crate) fn reply(&mut self, question: &Question, answer: Answer, cx: &mut Cx<'_>) {
        match (answer, question) {
            (Ok(reply::Body::Puzzles(list)), Question::List { game, yours: false }) => {
                self.found(*game, list);
            }
            (Ok(reply::Body::Puzzles(list)), Question::List { game, yours: true }) => {
                self.counts = list.counts;
                if self.game == *game {
                    self.own = Some(list.puzzles);
                }
            }
            (Ok(reply::Body::RoomId(room)), Question::Open) => cx.go.room(&room),
            (Err(refusal), _) => cx.go.refused(refusal, Remark::BadRequest),
            (Ok(_), _) => {}
        }
    }

    fn found(&mut self, of: wire::Game, list: control::Puzzles) {
        self.counts = list.counts;
        self.days = list.days.unwrap_or_default();
        if self.game == of {
            self.standing = list.standings.into_iter().find(|standing| standing.game() == of);
            if self.grade == 0 {
                let first = list.puzzles.iter().find(|one| !one.solved && !one.daily);
                self.grade = first.map_or(1, |first| first.grade.clamp(1, 5));
            }
            self.found = Some(list.puzzles);
        }
    }

    /// Numbers of puzzles of the game, and of one's own mistakes.
    fn count(&self, of: wire::Game) -> control::PuzzleCount {
        self.counts.iter().find(|count| count.game() == of).copied().unwrap_or_default()
    }

    pub(super) fn show(&self, window: &MainWindow, known: &AppState, sprites: &Sprites) {
        show_board(window, known);
        if known.page() != Page::Puzzles {
            return;
        }
        let page = window.global::<PuzzlesAdapter>();
        let games: Vec<PuzzleGame> = GAMES
            .into_iter()
            .map(|of| {
                let count = self.count(of);
                PuzzleGame {
                    game: game::shown(of),
                    number: of as i32,
                    puzzles: count.puzzles as i32,
                    solved: count.solved as i32,
                    due: count.due as i32,
                }
            })
            .collect();
        update(&self.games, &games);
        let count = self.count(self.game);
        page.set_total(count.puzzles as i32);
        page.set_solved(count.solved as i32);
        page.set_yours(count.yours as i32);
        page.set_due(count.due as i32);
        page.set_game(game::shown(self.game));
        page.set_grade(self.grade.max(1) as i32);
        let making = known.state.puzzle_making;
        page.set_making_game(if making.wanted > 0 {
            game::shown(making.game())
        } else {
            game::shown(self.game)
        });
        page.set_making_found(making.found as i32);
        page.set_making_wanted(making.wanted as i32);
        self.show_standing(&page);
        let is_own = self.grade == OWN;
        let found = if is_own { &self.own } else { &self.found };
        page.set_known(found.is_some());
        let rows: Vec<PuzzleRow> = (found.iter().flatten())
            .filter(|one| is_own || one.daily || one.grade == self.grade)
            .map(|one| row(sprites, one, known.chinese()))
            .collect();
        update(&self.rows, &rows);
    }
}

impl Puzzles {
    /// Shows how the player fares, and today's five.
    fn show_standing(&self, page: &PuzzlesAdapter<'_>) {
        let none = control::PuzzleStanding::default();
        let standing = self.standing.as_ref().unwrap_or(&none);
        page.set_rating(standing.rating as i32);
        page.set_deviation(standing.deviation as i32);
        page.set_run(standing.run as i32);
        page.set_best_run(standing.best_run as i32);
        page.set_streak(self.days.streak as i32);
        let mark = |one: &control::TodayPuzzle| match one.mark() {
            control::TodayMark::TodayUnspecified | control::TodayMark::TodayOpen => TodayMark::Open,
            control::TodayMark::TodayMissed => TodayMark::Missed,
            control::TodayMark::TodayLate => TodayMark::Late,
            control::TodayMark::TodayFirst => TodayMark::First,
        };
        let today =
            standing.today.iter().map(|one| TodayPuzzle { id: one.id.as_str().into(), mark: mark(one) });
        update(&self.today, &today.collect::<Vec<_>>());
        let week: Vec<bool> = (0..7).rev().map(|ago| (self.days.week >> ago) & 1 == 1).collect();
        update(&self.week, &week);
    }
}

fn row(sprites: &Sprites, one: &control::Puzzle, chinese: bool) -> PuzzleRow {
    PuzzleRow {
        id: one.id.as_str().into(),
        grade: one.grade as i32,
        moves: one.moves as i32,
        goal: new_game::said(one.goal.as_ref(), chinese).into(),
        solved: one.solved,
        tries: one.tries as i32,
        daily: one.daily,
        yours: one.mistake.is_some(),
        due_in: one.mistake.map_or(0, |mistake| mistake.due_in_days as i32),
        revision: sprites.set_thumbnail(&format!("puzzle {}", one.id), one.board.as_ref()),
    }
}

/// The position on the board of a puzzle that is over, to play on from; Lights Out has none.
fn played(known: &AppState) -> Option<(wire::Game, control::SetUpFrom)> {
    let room = known.room.as_ref()?;
    let over = matches!(
        room.puzzle.as_ref()?.progress(),
        control::PuzzleProgress::PuzzleWrong | control::PuzzleProgress::PuzzleSolved
    );
    let game = super::wire_game(room.setup.as_ref());
    let from = control::SetUpFrom { room_id: room.id.clone(), ply: room.record.len() as u32, lesson: None };
    (over && game != wire::Game::LightsOut).then_some((game, from))
}

/// Fills the card beside the board of a puzzle.
fn show_board(window: &MainWindow, known: &AppState) {
    let board = window.global::<BoardAdapter>();
    let state = known.room.as_ref().and_then(|room| room.puzzle.as_ref());
    board.set_puzzle(state.is_some());
    board.set_puzzle_of_review(known.is_from_review());
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
    let chinese = known.chinese();
    let goal = puzzle.and_then(|puzzle| puzzle.goal.as_ref());
    board.set_puzzle_goal(new_game::said(goal, chinese).into());
    board.set_puzzle_says(new_game::said(state.say.as_ref(), chinese).into());
    board.set_puzzle_left(state.left as i32);
    board.set_puzzle_grade(puzzle.map_or(1, |puzzle| puzzle.grade as i32));
    board.set_puzzle_next(!state.next.is_empty());
    board.set_puzzle_plays_on(played(known).is_some());
}
