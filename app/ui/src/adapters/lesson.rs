//! A lesson: the host works out each position from the touches so far, and says which touch is wanted next.

use std::rc::Rc;

use proto::board::{self as wire, Action, action};
use proto::control::{self, request};
use senses::Cue;
use slint::{ComponentHandle, ModelRc, SharedString, VecModel};

use super::board::{Layout, Names, Touch, meaning, names, plain_points, point_of};
use super::{game, new_game, update, when};
use crate::app::{Desk, Purpose};
use crate::screens::{LessonAdapter, MainWindow, Page, PointView, Remark};

/// Rows of the models that the page draws from.
#[derive(Default)]
pub(crate) struct Rows {
    points: Rc<VecModel<PointView>>,
    columns: Rc<VecModel<SharedString>>,
    upper: Rc<VecModel<SharedString>>,
    numbers: Rc<VecModel<SharedString>>,
}

/// Where the learner is.
#[derive(Default)]
pub(crate) struct Lesson {
    game: wire::Game,
    step: u32,
    /// In this step, oldest first; the last may not have been answered yet.
    actions: Vec<Action>,
    /// What the host has told of it last.
    told: Option<control::Lesson>,
    picked: Option<u32>,
}

pub(super) fn attach(window: &MainWindow, desk: &Rc<Desk>) {
    let page = window.global::<LessonAdapter>();
    page.set_points(ModelRc::from(desk.lesson.points.clone()));
    page.set_column_names(ModelRc::from(desk.lesson.columns.clone()));
    page.set_upper_names(ModelRc::from(desk.lesson.upper.clone()));
    page.set_row_names(ModelRc::from(desk.lesson.numbers.clone()));
    page.on_open(when!(desk, |desk, game| open(&desk, game::of(game))));
    page.on_touch(when!(desk, |desk, index| touch(&desk, index)));
    page.on_turn(when!(desk, |desk, by| turn(&desk, by)));
    page.on_play(when!(desk, |desk| {
        let game = desk.see().lesson.game;
        desk.back();
        new_game::open(&desk, game);
    }));
}

/// Turns to the lesson of this game.
pub(crate) fn open(desk: &Desk, game: wire::Game) {
    desk.change(|inner| inner.lesson = Lesson { game, ..Lesson::default() });
    ask(desk);
    desk.go(Page::Lesson);
}

fn ask(desk: &Desk) {
    let asked = {
        let inner = desk.see();
        let lesson = &inner.lesson;
        control::Teach { game: lesson.game.into(), step: lesson.step, actions: lesson.actions.clone() }
    };
    desk.ask(request::Body::Teach(asked.clone()), Purpose::Teach(asked));
}

fn turn(desk: &Desk, by: i32) {
    desk.change(|inner| {
        let lesson = &mut inner.lesson;
        let steps = lesson.told.as_ref().map_or(1, |told| told.steps);
        lesson.step = lesson.step.saturating_add_signed(by).min(steps.saturating_sub(1));
        lesson.actions.clear();
        lesson.picked = None;
    });
    ask(desk);
}

fn touch(desk: &Desk, index: i32) {
    let meant = {
        let inner = desk.see();
        let lesson = &inner.lesson;
        let Some(told) = &lesson.told else { return };
        let Some(board) = told.board.as_ref().filter(|_| !told.wanted.is_empty()) else { return };
        let Some(at) = Layout::still(board).point(index) else { return };
        meaning(board, lesson.picked, at)
    };
    let kind = match meant {
        Touch::Act(kind) | Touch::Warn(kind, _) => kind,
        Touch::Pick(at) => return desk.change(|inner| inner.lesson.picked = Some(at)),
        Touch::PutDown => return desk.change(|inner| inner.lesson.picked = None),
        Touch::PickFirst => return desk.remark(Remark::PickFirst, ""),
        Touch::Nothing => return,
        Touch::Stuck(why) => {
            let said = new_game::said(why.words.as_ref(), desk.see().chinese()).to_owned();
            return desk.remark(Remark::Told, &said);
        }
    };
    desk.change(|inner| {
        inner.lesson.picked = None;
        inner.lesson.actions.push(Action { kind: Some(kind) });
    });
    ask(desk);
}

/// The host has worked out what was asked; an answer to an older question says nothing any more.
pub(crate) fn taught(desk: &Desk, asked: &control::Teach, lesson: control::Lesson) {
    let mut heard = None;
    desk.change(|inner| {
        let now = &mut inner.lesson;
        if (i32::from(now.game), now.step, &now.actions) == (asked.game, asked.step, &asked.actions) {
            heard = (!asked.actions.is_empty()).then_some(if lesson.wanted.is_empty() {
                Cue::YourTurn
            } else {
                Cue::Stone
            });
            now.told = Some(lesson);
        }
    });
    if let Some(cue) = heard {
        desk.hear(cue);
    }
}

/// The last touch is not taken; the reason is said by the caller.
pub(crate) fn not_taught(desk: &Desk, asked: &control::Teach) {
    desk.change(|inner| {
        if inner.lesson.actions == asked.actions {
            inner.lesson.actions.pop();
        }
    });
}

pub(super) fn show(window: &MainWindow, desk: &Desk) {
    let inner = desk.see();
    let lesson = &inner.lesson;
    let Some(told) = &lesson.told else { return };
    let board = told.board.clone().unwrap_or_default();
    let page = window.global::<LessonAdapter>();
    let layout = Layout::still(&board);
    let mut points = plain_points(&board, &layout, inner.chinese());
    let mut mark = |at: u32, set: &dyn Fn(&mut PointView)| {
        if let Some(point) = layout.index(at).and_then(|index| points.get_mut(index)) {
            set(point);
        }
    };
    if let Some(from) = lesson.picked {
        mark(from, &|point| (point.marked, point.picked) = (true, true));
        for step in board.steps.iter().filter(|step| step.from == from) {
            mark(step.to, &|point| {
                (point.marked, point.target) = (true, if point.stone == 0 { 1 } else { 2 });
            });
        }
    }
    for wanted in &told.wanted {
        let at = match &wanted.kind {
            // First the piece, then where it goes.
            Some(action::Kind::Step(step)) if lesson.picked != Some(step.from) => Some(step.from),
            _ => point_of(wanted),
        };
        if let Some(at) = at {
            mark(at, &|point| (point.marked, point.hint) = (true, true));
        }
    }
    let Names { below, above, left } = names(board.game(), &layout, inner.chinese());
    update(&desk.lesson.columns, &below);
    update(&desk.lesson.upper, &above);
    update(&desk.lesson.numbers, &left);
    page.set_game(game::shown(lesson.game));
    page.set_ground(game::ground(board.game()));
    update(&desk.lesson.points, &points);
    let (columns, rows) = layout.seen();
    page.set_columns(columns);
    page.set_rows(rows);
    page.set_coordinates(inner.preferences.coordinates);
    page.set_step(told.step as i32);
    page.set_steps(told.steps as i32);
    page.set_finished(told.wanted.is_empty());
    let words = if told.wanted.is_empty() { &told.then } else { &told.say };
    page.set_words(new_game::said(words.as_ref(), inner.chinese()).into());
}
