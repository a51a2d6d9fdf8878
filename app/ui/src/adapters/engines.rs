//! Engines that the user has installed: the dialog that adds and removes them.

use std::rc::Rc;

use proto::control::{self, Engine, EngineProtocol, reply, request};
use slint::{ComponentHandle, ModelRc, VecModel};

use super::{game, touched, update};
use crate::app::{Answer, AppState, Asked, Controller, Cx};
use crate::preferences::LastGame;
use crate::screens::{Dialog, EngineView, EnginesAdapter, MainWindow, Remark};

/// State of the dialog besides the host's list.
#[derive(Default)]
pub(crate) struct Engines {
    found: Vec<Engine>,
    searched: bool,
    /// Programs that are being tried.
    tried: u32,
    added_view: Rc<VecModel<EngineView>>,
    found_view: Rc<VecModel<EngineView>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Question {
    Find,
    Add,
}

impl From<Question> for Asked {
    fn from(question: Question) -> Self {
        Self::Engines(question)
    }
}

impl Engines {
    pub(super) fn attach(&self, window: &MainWindow, app: &Rc<Controller>) {
        let page = window.global::<EnginesAdapter>();
        page.set_added(ModelRc::from(self.added_view.clone()));
        page.set_found(ModelRc::from(self.found_view.clone()));
        page.on_open(touched!(app, |pages, cx| {
            pages.engines.searched = false;
            find(cx);
            cx.go.dialog(Dialog::Engines);
        }));
        page.on_find(touched!(app, |_pages, cx| find(cx)));
        page.on_add(touched!(app, |pages, cx, program| {
            pages.engines.add(program.trim().into(), Vec::new(), EngineProtocol::Unspecified, cx);
        }));
        page.on_add_found(touched!(app, |pages, cx, index| {
            let found = usize::try_from(index).ok().and_then(|index| pages.engines.found.get(index)).cloned();
            if let Some(found) = found {
                let protocol = found.protocol();
                pages.engines.add(found.program, found.arguments, protocol, cx);
            }
        }));
        page.on_set_adviser(touched!(app, |_pages, cx, index, on| {
            let named = usize::try_from(index).ok().and_then(|index| cx.known.state.engines.get(index));
            if let Some(engine) = named {
                let name = if on { engine.name.clone() } else { String::new() };
                let word = game::word(engine.game());
                cx.preferences.change(move |known| {
                    let last = known.games.entry(word.into()).or_insert_with(|| LastGame::first(word));
                    last.adviser = name;
                });
            }
        }));
        page.on_remove(touched!(app, |_pages, cx, index| {
            let named = usize::try_from(index).ok().and_then(|index| cx.known.state.engines.get(index));
            if let Some(name) = named.map(|engine| engine.name.clone()) {
                cx.ask.done(request::Body::RemoveEngine(control::RemoveEngine { name }));
                find(cx);
            }
        }));
    }

    fn add(&mut self, program: String, arguments: Vec<String>, protocol: EngineProtocol, cx: &mut Cx<'_>) {
        self.tried += 1;
        let protocol = protocol.into();
        let add = control::AddEngine { program, arguments, protocol, name: String::new() };
        cx.ask.send(request::Body::AddEngine(add), Question::Add);
    }

    pub(crate) fn reply(&mut self, question: Question, answer: Answer, cx: &mut Cx<'_>) {
        if question == Question::Add {
            self.tried = self.tried.saturating_sub(1);
        }
        match answer {
            Ok(reply::Body::Engines(found)) => (self.found, self.searched) = (found.engines, true),
            Ok(reply::Body::Engine(_)) => find(cx),
            Ok(_) => {}
            Err(refusal) if question == Question::Find => cx.go.refused_unasked(refusal),
            Err(refusal) => cx.go.refused(refusal, Remark::BadRequest),
        }
    }

    pub(super) fn show(&self, window: &MainWindow, known: &AppState) {
        let page = window.global::<EnginesAdapter>();
        let views = |list: &[Engine]| list.iter().map(|engine| view(engine, known)).collect::<Vec<_>>();
        update(&self.added_view, &views(&known.state.engines));
        update(&self.found_view, &views(&self.found));
        page.set_busy(self.tried > 0);
        page.set_searched(self.searched);
    }
}

fn find(cx: &mut Cx<'_>) {
    cx.ask.send(request::Body::FindEngines(control::FindEngines {}), Question::Find);
}

/// Whether it gives evaluations: so do the protocols of xiangqi.
pub(crate) fn judges(engine: &Engine) -> bool {
    matches!(engine.protocol(), EngineProtocol::Uci | EngineProtocol::Ucci)
}

fn view(engine: &Engine, known: &AppState) -> EngineView {
    EngineView {
        name: engine.name.as_str().into(),
        game: game::shown(engine.game()),
        confined: engine.confined,
        missing: engine.missing,
        advises: known.last(engine.game()).adviser == engine.name,
        judges: judges(engine),
    }
}
