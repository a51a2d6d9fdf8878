//! A position that is set up. Computes no rule: the host makes each change, and says what is wrong.

use std::collections::VecDeque;
use std::rc::Rc;

use proto::board as wire;
use proto::control::{self, GameChoice, SetUpPosition, reply, request, set_up::Change};
use senses::Cue;
use slint::{ComponentHandle, ModelRc, SharedString, VecModel};

use super::board::{Layout, Names, names, plain_points};
use super::{game, new_game, touched, update};
use crate::app::{Answer, AppState, Asked, Controller, Cx};
use crate::preferences::LastOpponent;
use crate::screens::{MainWindow, Page, PointView, PositionAdapter, Remark};

/// State of the page.
#[derive(Default)]
pub(crate) struct Position {
    /// Game and rules, with the position as the host told it last.
    choice: GameChoice,
    told: Option<SetUpPosition>,
    /// Number of openings of the page: replies to an earlier one are passed over.
    opened: u32,
    /// The host has not replied to the last request. Each is about the position in the reply before, so others wait.
    asked: bool,
    waiting: VecDeque<Step>,
    /// The page opens only if no match can begin from the position: it is to be played with a friend as it is.
    with_friend: bool,
    /// The chosen piece: an index into the tray.
    held: Option<usize>,
    /// A piece of the board that is to be moved.
    picked: Option<u32>,
    points: Rc<VecModel<PointView>>,
    tray: Rc<VecModel<PointView>>,
    columns: Rc<VecModel<SharedString>>,
    upper: Rc<VecModel<SharedString>>,
    numbers: Rc<VecModel<SharedString>>,
}

/// What is done to the position.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    /// Nothing: it is asked for.
    Show,
    Change(Change),
    /// Another position takes its place, as text; empty: the usual beginning.
    Replace(Vec<u8>),
}

/// The reply has the position after a step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Question {
    opened: u32,
}

impl From<Question> for Asked {
    fn from(question: Question) -> Self {
        Self::Position(question)
    }
}

impl Position {
    pub(super) fn attach(&self, window: &MainWindow, app: &Rc<Controller>) {
        let page = window.global::<PositionAdapter>();
        page.set_points(ModelRc::from(self.points.clone()));
        page.set_tray(ModelRc::from(self.tray.clone()));
        page.set_column_names(ModelRc::from(self.columns.clone()));
        page.set_upper_names(ModelRc::from(self.upper.clone()));
        page.set_row_names(ModelRc::from(self.numbers.clone()));
        page.on_touch(touched!(app, |pages, cx, index| pages.position.touch(index, cx)));
        page.on_hold(touched!(app, |pages, _cx, index| pages.position.hold(index)));
        page.on_turn(touched!(app, |pages, cx, second| {
            let side = if second { wire::Side::Second } else { wire::Side::First };
            pages.position.change(Change::Turn(side.into()), cx);
        }));
        page.on_phase(touched!(app, |pages, cx, moving| {
            pages.position.change(Change::Moving(moving), cx);
        }));
        page.on_clear(touched!(app, |pages, cx| pages.position.change(Change::Clear(true), cx)));
        page.on_usual(touched!(app, |pages, cx| pages.position.replace(Vec::new(), cx)));
        page.on_paste(touched!(app, |pages, cx, text| {
            pages.position.replace(text.trim().as_bytes().to_vec(), cx);
        }));
        page.on_play(touched!(app, |pages, cx| pages.position.play(cx)));
    }

    /// Opens the page with the position of this choice, or the usual beginning of its rules.
    pub(crate) fn open(&mut self, choice: GameChoice, cx: &mut Cx<'_>) {
        self.begin(choice);
        self.ask(Step::Show, cx);
        cx.go.page(Page::Position);
    }

    /// Opens the page with a position of a kept match, a puzzle or a lesson.
    pub(crate) fn open_from(&mut self, game: wire::Game, from: control::SetUpFrom, cx: &mut Cx<'_>) {
        self.ask_from(game, from, cx);
        cx.go.page(Page::Position);
    }

    /// Goes on to a match with a friend from such a position.
    pub(crate) fn with_friend_from(&mut self, game: wire::Game, from: control::SetUpFrom, cx: &mut Cx<'_>) {
        self.ask_from(game, from, cx);
        self.with_friend = true;
    }

    fn ask_from(&mut self, game: wire::Game, from: control::SetUpFrom, cx: &mut Cx<'_>) {
        self.begin(GameChoice { game: game.into(), ..GameChoice::default() });
        self.ask(Step::Change(Change::From(from)), cx);
    }

    fn begin(&mut self, choice: GameChoice) {
        (self.choice, self.told, self.held, self.picked) = (choice, None, None, None);
        (self.opened, self.asked) = (self.opened.wrapping_add(1), false);
        self.waiting.clear();
        self.with_friend = false;
    }

    fn ask(&mut self, step: Step, cx: &mut Cx<'_>) {
        if self.asked {
            return self.waiting.push_back(step);
        }
        let mut choice = self.choice.clone();
        let change = match step {
            Step::Show => None,
            Step::Change(change) => Some(change),
            Step::Replace(start) => {
                choice.start = start.into();
                None
            }
        };
        let asked = control::SetUp { choice: Some(choice), change };
        cx.ask.send(request::Body::SetUp(asked), Question { opened: self.opened });
        self.asked = true;
    }

    /// A change of the position that the host has told; without one there is nothing to change.
    fn change(&mut self, change: Change, cx: &mut Cx<'_>) {
        self.picked = None;
        if self.told.is_some() {
            self.ask(Step::Change(change), cx);
        }
    }

    fn replace(&mut self, start: Vec<u8>, cx: &mut Cx<'_>) {
        if start.len() > proto::limits::START_TEXT_BYTES {
            return cx.go.remark(Remark::BadRequest, "");
        }
        self.picked = None;
        self.ask(Step::Replace(start), cx);
    }

    fn hold(&mut self, index: i32) {
        let Some(told) = &self.told else { return };
        let chosen = usize::try_from(index).ok().filter(|&index| index < told.tray.len());
        self.held = chosen.filter(|_| chosen != self.held);
        self.picked = None;
    }

    fn touch(&mut self, index: i32, cx: &mut Cx<'_>) {
        let Some(told) = &self.told else { return };
        let board = told.board.clone().unwrap_or_default();
        let Some(at) = Layout::still(&board).point(index) else { return };
        let standing = board.pieces.iter().find(|piece| piece.at == at);
        let captured = board.marks.iter().any(|mark| mark.at == at);
        match self.held.and_then(|held| told.tray.get(held)) {
            Some(held) => {
                let is_same = |shape: &control::Piece| {
                    standing.is_some_and(|piece| (piece.side, piece.kind) == (shape.side, shape.kind))
                        && captured == held.captured
                };
                let piece = if held.shape.as_ref().is_some_and(is_same) { 0 } else { held.piece };
                self.change(Change::Put(control::SetUpPut { at, piece }), cx);
            }
            None => match self.picked {
                Some(from) if from == at => self.picked = None,
                Some(from) => self.change(Change::Move(wire::Step { from, to: at }), cx),
                None if standing.is_some() => self.picked = Some(at),
                None => cx.go.remark(Remark::PickFirst, ""),
            },
        }
    }

    fn play(&self, cx: &mut Cx<'_>) {
        let Some(choice) = self.told.as_ref().and_then(|told| told.choice.clone()) else { return };
        cx.go.leave(Page::Position);
        cx.go.begin_from(choice);
    }

    /// The position has been told that a match with a friend is to begin from.
    fn told_for_friend(&self, cx: &mut Cx<'_>) {
        if self.told.as_ref().is_some_and(|told| told.problem.is_some()) {
            return cx.go.page(Page::Position);
        }
        let word = game::word(wire::Game::try_from(self.choice.game).unwrap_or_default());
        cx.preferences.change(move |known| {
            known.games.entry(word.into()).or_default().opponent = LastOpponent::Peer;
        });
        self.play(cx);
    }

    pub(crate) fn reply(&mut self, question: &Question, answer: Answer, cx: &mut Cx<'_>) {
        if question.opened != self.opened {
            return;
        }
        self.asked = false;
        match answer {
            Ok(reply::Body::SetUp(told)) => {
                if self.told.is_some() {
                    cx.feel.hear(Cue::Stone);
                }
                if let Some(choice) = &told.choice {
                    self.choice.clone_from(choice);
                }
                self.told = Some(told);
                if std::mem::take(&mut self.with_friend) {
                    self.told_for_friend(cx);
                }
            }
            Ok(_) => {}
            Err(refusal) => {
                if self.told.is_none() {
                    // There is nothing to change.
                    cx.go.leave(Page::Position);
                }
                cx.go.refused(refusal, Remark::BadRequest);
            }
        }
        if let Some(next) = self.waiting.pop_front() {
            self.ask(next, cx);
        }
    }

    pub(super) fn show(&self, window: &MainWindow, known: &AppState) {
        if known.page() != Page::Position {
            return;
        }
        let page = window.global::<PositionAdapter>();
        let chinese = known.chinese();
        page.set_there(self.told.is_some());
        let game = wire::Game::try_from(self.choice.game).unwrap_or_default();
        page.set_game(game::shown(game));
        page.set_ground(game::ground(game));
        page.set_phases(game == wire::Game::Liuzhou);
        page.set_coordinates(known.preferences.coordinates);
        let Some(told) = &self.told else {
            update(&self.points, &[]);
            update(&self.tray, &[]);
            page.set_problem(SharedString::new());
            return;
        };
        let board = told.board.clone().unwrap_or_default();
        let layout = Layout::still(&board);
        let mut points = plain_points(&board, &layout, chinese);
        if let Some(point) = self.picked.and_then(|at| layout.index(at)).and_then(|at| points.get_mut(at)) {
            (point.marked, point.picked) = (true, true);
        }
        update(&self.points, &points);
        let Names { below, above, left } = names(game, &layout, chinese);
        update(&self.columns, &below);
        update(&self.upper, &above);
        update(&self.numbers, &left);
        let (columns, rows) = layout.seen();
        page.set_columns(columns);
        page.set_rows(rows);
        let tray = self.tray_points(told, chinese);
        page.set_tray_columns((tray.len().min(TRAY_COLUMNS)) as i32);
        page.set_tray_rows(tray.len().div_ceil(TRAY_COLUMNS) as i32);
        update(&self.tray, &tray);
        let held = self.held.and_then(|held| told.tray.get(held));
        page.set_held(held.map_or("", |held| new_game::said(held.name.as_ref(), chinese)).into());
        page.set_second_moves(board.turn() == wire::Side::Second);
        page.set_moving(told.moving);
        page.set_problem(new_game::said(told.problem.as_ref(), chinese).into());
    }

    fn tray_points(&self, told: &SetUpPosition, chinese: bool) -> Vec<PointView> {
        let point = |(index, one): (usize, &control::TrayPiece)| {
            let shape = one.shape.unwrap_or_default();
            let picked = self.held == Some(index);
            PointView {
                stone: shape.side,
                piece: shape.kind,
                captured: one.captured,
                picked,
                marked: picked || one.captured,
                name: new_game::said(one.name.as_ref(), chinese).into(),
                ..PointView::default()
            }
        };
        told.tray.iter().enumerate().map(point).collect()
    }
}

/// A set of xiangqi has seven kinds: a row for each side.
const TRAY_COLUMNS: usize = 7;
