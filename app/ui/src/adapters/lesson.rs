//! A lesson: the host works out each position from the touches so far, and says which touch is wanted next.

use std::rc::Rc;

use proto::board::{self as wire, Action, action};
use proto::control::{self, reply, request};
use senses::Cue;
use slint::{ComponentHandle, ModelRc, SharedString, VecModel};

use super::board::{Layout, Names, Touch, mark_picked, meaning, names, plain_points, point_of};
use super::{game, new_game, touched, update};
use crate::app::{Answer, AppState, Asked, Controller, Cx};
use crate::screens::{LessonAdapter, MainWindow, Page, PointView, Remark};

/// State of the lesson page.
#[derive(Default)]
pub(crate) struct Lesson {
    game: wire::Game,
    step: u32,
    /// Actions in this step, oldest first; the last one may be unanswered.
    actions: Vec<Action>,
    /// The last reply of the host.
    told: Option<control::Lesson>,
    /// The host has not answered the last request: nothing can be touched.
    asked: bool,
    picked: Option<u32>,
    points: Rc<VecModel<PointView>>,
    columns: Rc<VecModel<SharedString>>,
    upper: Rc<VecModel<SharedString>>,
    numbers: Rc<VecModel<SharedString>>,
}

/// The step and its actions in a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Question(control::Teach);

impl From<Question> for Asked {
    fn from(question: Question) -> Self {
        Self::Lesson(question)
    }
}

impl Lesson {
    pub(super) fn attach(&self, window: &MainWindow, app: &Rc<Controller>) {
        let page = window.global::<LessonAdapter>();
        page.set_points(ModelRc::from(self.points.clone()));
        page.set_column_names(ModelRc::from(self.columns.clone()));
        page.set_upper_names(ModelRc::from(self.upper.clone()));
        page.set_row_names(ModelRc::from(self.numbers.clone()));
        page.on_open(touched!(app, |pages, cx, game| pages.lesson.open(game::of(game), cx)));
        page.on_touch(touched!(app, |pages, cx, index| pages.lesson.touch(index, cx)));
        page.on_turn(touched!(app, |pages, cx, by| pages.lesson.turn(by, cx)));
        page.on_play(touched!(app, |pages, cx| {
            cx.go.back();
            cx.go.new_game(pages.lesson.game);
        }));
        page.on_play_on(touched!(app, |pages, cx| {
            let from = control::SetUpFrom { lesson: Some(pages.lesson.shown()), ..Default::default() };
            pages.position.open_from(pages.lesson.game, from, cx);
        }));
    }

    /// Opens the lesson of this game.
    pub(crate) fn open(&mut self, game: wire::Game, cx: &mut Cx<'_>) {
        (self.game, self.step, self.told, self.picked) = (game, 0, None, None);
        self.actions.clear();
        self.ask(cx);
        cx.go.page(Page::Lesson);
    }

    fn ask(&mut self, cx: &mut Cx<'_>) {
        self.asked = true;
        let asked = self.shown();
        cx.ask.send(request::Body::Teach(asked.clone()), Question(asked));
    }

    /// The step and what has been done in it.
    fn shown(&self) -> control::Teach {
        control::Teach { game: self.game.into(), step: self.step, actions: self.actions.clone() }
    }

    fn turn(&mut self, by: i32, cx: &mut Cx<'_>) {
        let steps = self.told.as_ref().map_or(1, |told| told.steps);
        self.step = self.step.saturating_add_signed(by).min(steps.saturating_sub(1));
        self.actions.clear();
        self.picked = None;
        self.ask(cx);
    }

    fn touch(&mut self, index: i32, cx: &mut Cx<'_>) {
        let Some(told) = self.told.as_ref().filter(|_| !self.asked) else { return };
        let Some(board) = told.board.as_ref().filter(|_| !told.wanted.is_empty()) else { return };
        let Some(at) = Layout::still(board).point(index) else { return };
        match meaning(board, self.picked, at) {
            Touch::Act(kind) | Touch::Warn(kind, _) => {
                self.picked = None;
                self.actions.push(Action { kind: Some(kind) });
                self.ask(cx);
            }
            Touch::Pick(at) => self.picked = Some(at),
            Touch::PutDown => self.picked = None,
            Touch::PickFirst => cx.go.remark(Remark::PickFirst, ""),
            Touch::Nothing => {}
            Touch::Stuck(why) => {
                cx.go.remark(Remark::Told, new_game::said(why.words.as_ref(), cx.known.chinese()));
            }
        }
    }

    /// Handles a reply; replies to outdated requests are ignored.
    pub(crate) fn reply(&mut self, Question(asked): &Question, answer: Answer, cx: &mut Cx<'_>) {
        if *asked != self.shown() {
            return;
        }
        self.asked = false;
        match answer {
            Ok(reply::Body::Lesson(lesson)) => {
                if !asked.actions.is_empty() {
                    let done = lesson.wanted.is_empty();
                    cx.feel.hear(if done { Cue::YourTurn } else { Cue::Stone });
                }
                self.told = Some(lesson);
            }
            Ok(_) => {}
            Err(refusal) => {
                // The last action was not accepted.
                self.actions.pop();
                cx.go.refused(refusal, Remark::BadRequest);
            }
        }
    }

    pub(super) fn show(&self, window: &MainWindow, known: &AppState) {
        let Some(told) = &self.told else { return };
        let board = told.board.clone().unwrap_or_default();
        let page = window.global::<LessonAdapter>();
        let layout = Layout::still(&board);
        let mut points = plain_points(&board, &layout, known.chinese());
        if let Some(from) = self.picked {
            mark_picked(from, &board, &layout, &mut points);
        }
        let mut mark = |at: u32, set: &dyn Fn(&mut PointView)| {
            if let Some(point) = layout.index(at).and_then(|index| points.get_mut(index)) {
                set(point);
            }
        };
        for wanted in &told.wanted {
            let at = match &wanted.kind {
                // The piece is picked first, then its destination.
                Some(action::Kind::Step(step)) if self.picked != Some(step.from) => Some(step.from),
                _ => point_of(wanted),
            };
            if let Some(at) = at {
                mark(at, &|point| (point.marked, point.hint) = (true, true));
            }
        }
        let Names { below, above, left } = names(board.game(), &layout, known.chinese());
        update(&self.columns, &below);
        update(&self.upper, &above);
        update(&self.numbers, &left);
        page.set_game(game::shown(self.game));
        page.set_ground(game::ground(board.game()));
        update(&self.points, &points);
        let (columns, rows) = layout.seen();
        page.set_columns(columns);
        page.set_rows(rows);
        page.set_coordinates(known.preferences.coordinates);
        page.set_step(told.step as i32);
        page.set_steps(told.steps as i32);
        page.set_finished(told.wanted.is_empty());
        let words = if told.wanted.is_empty() { &told.then } else { &told.say };
        page.set_words(new_game::said(words.as_ref(), known.chinese()).into());
    }
}
