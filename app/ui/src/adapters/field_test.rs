//! The field test (`client::field_test`) by touch: two people with two devices measure how play goes over the air.

use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime};

use client::field_test::{FieldTest, Interruption, Message, Output, Role, Trouble, milliseconds, seconds};
use proto::control::{self, event, request};
use slint::{ComponentHandle, ModelRc, Timer, TimerMode, VecModel};

use super::{records, touched, update};
use crate::app::{Answer, AppState, Asked, Controller, Cx};
use crate::screens::{
    Dialog, FieldFigure, FieldPeer, FieldPhase, FieldStep, FieldTestAdapter, FieldTrouble, FigureView,
    MainWindow, Page,
};

/// How often the clock is looked at: a device that has slept shows by it.
const TICK: Duration = Duration::from_secs(1);

/// Name of the report.
const REPORT: &str = "qiyou-field-test.md";

/// State of the dialog, and the test in progress.
#[derive(Default)]
pub(crate) struct FieldTestDialog {
    test: Option<FieldTest>,
    step: Option<FieldStep>,
    /// How the last test ended, with the path of its report.
    ended: Option<(Result<(), Trouble>, String)>,
    tick: Timer,
    /// This dialog has asked the host to scan.
    scans: bool,
    peers: Rc<VecModel<FieldPeer>>,
    figures: Rc<VecModel<FigureView>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Question;

impl From<Question> for Asked {
    fn from(question: Question) -> Self {
        Self::FieldTest(question)
    }
}

impl FieldTestDialog {
    pub(super) fn attach(&self, window: &MainWindow, app: &Rc<Controller>) {
        // Started again with each test.
        self.tick.start(
            TimerMode::Repeated,
            TICK,
            touched!(app, |pages, cx| pages.field_test.look(None, cx)),
        );
        self.tick.stop();
        let dialog = window.global::<FieldTestAdapter>();
        dialog.set_peers(ModelRc::from(self.peers.clone()));
        dialog.set_figures(ModelRc::from(self.figures.clone()));
        dialog.on_open(touched!(app, |pages, cx| {
            pages.field_test.look_around(cx);
            cx.go.dialog(Dialog::FieldTest);
        }));
        dialog.on_lead(touched!(app, |pages, cx, id| {
            pages.field_test.begin(Role::Leads { who: id.into(), steps: Interruption::ALL.to_vec() }, cx);
        }));
        dialog.on_follow(touched!(app, |pages, cx| pages.field_test.begin(Role::Follows, cx)));
        dialog.on_confirm(touched!(app, |pages, cx| {
            pages.field_test.with(cx, |test| test.confirm(Instant::now()));
        }));
        dialog.on_stop(touched!(app, |pages, cx| pages.field_test.with(cx, FieldTest::stop)));
        dialog.on_again(touched!(app, |pages, cx| {
            pages.field_test.ended = None;
            pages.field_test.look_around(cx);
        }));
    }

    /// Whether a test is in progress: then the screen stays on.
    pub(crate) fn runs(&self) -> bool {
        self.test.is_some()
    }

    /// Lets the host look for devices to test with.
    fn look_around(&mut self, cx: &mut Cx<'_>) {
        if self.test.is_none() && !self.scans && !scans(cx.known.page()) {
            self.scans = true;
            cx.ask.done(request::Body::Scan(control::Scan { on: true }));
        }
    }

    fn begin(&mut self, role: Role, cx: &mut Cx<'_>) {
        if self.test.is_some() {
            return;
        }
        (self.ended, self.step) = (None, Some(FieldStep::Checking));
        self.test = Some(FieldTest::new(role));
        self.tick.restart();
        self.look(None, cx);
    }

    /// Does something to the test, and carries out what it then wants.
    fn with(&mut self, cx: &mut Cx<'_>, act: impl FnOnce(&mut FieldTest)) {
        if let Some(test) = &mut self.test {
            act(test);
            self.look(None, cx);
        }
    }

    pub(crate) fn hear(&mut self, event: &event::Body, cx: &mut Cx<'_>) {
        self.look(Some(event), cx);
        // The dialog may be left by the key for going back.
        if self.test.is_none() && self.scans && cx.known.question() != Dialog::FieldTest {
            self.stop_scanning(cx);
        }
    }

    pub(crate) fn reply(&mut self, answer: Answer, cx: &mut Cx<'_>) {
        self.with(cx, |test| test.reply(answer.map_err(|refusal| refusal.detail), Instant::now()));
    }

    fn stop_scanning(&mut self, cx: &mut Cx<'_>) {
        if std::mem::take(&mut self.scans) && !scans(cx.known.page()) {
            cx.ask.done(request::Body::Scan(control::Scan { on: false }));
        }
    }

    /// Gives the test the present state, and carries out what it wants.
    fn look(&mut self, event: Option<&event::Body>, cx: &mut Cx<'_>) {
        let Some(test) = &mut self.test else { return };
        test.handle(event, &cx.known.state, Instant::now(), SystemTime::now());
        while let Some(output) = self.test.as_mut().and_then(FieldTest::poll) {
            match output {
                Output::Ask(request::Body::Scan(control::Scan { on: true })) => {
                    self.step = Some(FieldStep::Finding);
                    self.scans = true;
                    cx.ask.send(request::Body::Scan(control::Scan { on: true }), Question);
                }
                Output::Ask(request::Body::Scan(_)) => self.stop_scanning(cx),
                Output::Ask(body) => {
                    if matches!(body, request::Body::Invite(_) | request::Body::AnswerInvite(_)) {
                        self.step = Some(FieldStep::Starting);
                    }
                    cx.ask.send(body, Question);
                }
                Output::Say(message) => self.step = Some(step(&message)),
                Output::Ended(ended) => {
                    self.tick.stop();
                    self.stop_scanning(cx);
                    let Some(test) = self.test.take() else { return };
                    self.show_figures(&test);
                    let text = test.report(&cx.known.state, SystemTime::now());
                    let path = records::write_new(REPORT, text.as_bytes(), cx.known);
                    let path = match path {
                        Ok(path) => path.display().to_string(),
                        Err(error) => {
                            tracing::warn!(%error, "a report could not be written");
                            String::new()
                        }
                    };
                    self.ended = Some((ended, path));
                    cx.go.dialog(Dialog::FieldTest);
                }
            }
        }
        if let Some(test) = &self.test {
            self.show_figures(test);
        }
    }

    fn show_figures(&self, test: &FieldTest) {
        let measures = test.measures();
        let single = [
            (FieldFigure::Found, measures.found.map(seconds)),
            (FieldFigure::Connected, measures.connected.map(seconds)),
            (FieldFigure::Echo, measures.echo(50).map(milliseconds)),
        ];
        let single = single.into_iter().filter_map(|(figure, value)| Some((figure, value?)));
        let outages = measures.outages.iter().map(|outage| {
            let figure = match outage.what {
                None => FieldFigure::Interruption,
                Some(Interruption::Range) => FieldFigure::Range,
                Some(Interruption::Bluetooth) => FieldFigure::Bluetooth,
                Some(Interruption::Lid) => FieldFigure::Lid,
            };
            (figure, seconds(outage.after_return.unwrap_or(outage.away)))
        });
        let rows = single.chain(outages).map(|(figure, value)| FigureView { figure, value: value.into() });
        update(&self.figures, &rows.collect::<Vec<_>>());
    }

    pub(super) fn show(&self, window: &MainWindow, known: &AppState) {
        let dialog = window.global::<FieldTestAdapter>();
        dialog.set_phase(match (&self.test, &self.ended) {
            (Some(_), _) => FieldPhase::Running,
            (None, None) => FieldPhase::Choosing,
            (None, Some((Ok(()), _))) => FieldPhase::Done,
            (None, Some((Err(_), _))) => FieldPhase::Failed,
        });
        dialog.set_asks(self.test.as_ref().is_some_and(FieldTest::wants_confirmation));
        if let Some(step) = self.step {
            dialog.set_step(step);
        }
        if let Some((ended, report)) = &self.ended {
            dialog.set_report(report.as_str().into());
            dialog.set_trouble(ended.as_ref().err().map_or(FieldTrouble::None, trouble));
        }
        let nearby = known.state.nearby.values().map(|one| (one.id.clone(), one.name.clone()));
        let friends = known.state.friends.values().filter(|one| one.connected);
        let friends = friends.map(|one| (one.id.clone(), one.name.clone()));
        let mut peers: Vec<(String, String)> = friends.chain(nearby).collect();
        peers.sort_by(|one, other| (&one.1, &one.0).cmp(&(&other.1, &other.0)));
        // A friend that is connected may be seen nearby, too.
        peers.dedup_by(|one, other| one.0 == other.0);
        let peers = peers.into_iter().map(|(id, name)| FieldPeer { id: id.into(), name: name.into() });
        update(&self.peers, &peers.collect::<Vec<_>>());
    }
}

/// Whether this page lets the host scan by itself.
fn scans(page: Page) -> bool {
    matches!(page, Page::Home | Page::Nearby | Page::Friends)
}

fn step(message: &Message) -> FieldStep {
    match message {
        Message::Beside => FieldStep::Beside,
        Message::Waiting => FieldStep::Waiting,
        Message::Found(_) => FieldStep::Connecting,
        Message::Connected(_) => FieldStep::Starting,
        Message::Compare(_) => FieldStep::Comparing,
        Message::Playing | Message::Echo(_) | Message::Back(_) => FieldStep::Playing,
        Message::Interrupt(Interruption::Range) => FieldStep::Range,
        Message::Interrupt(Interruption::Bluetooth) => FieldStep::Bluetooth,
        Message::Interrupt(Interruption::Lid) => FieldStep::Lid,
        Message::Lost(Some(Interruption::Range)) => FieldStep::RangeBack,
        Message::Lost(Some(Interruption::Bluetooth)) => FieldStep::BluetoothBack,
        Message::Lost(Some(Interruption::Lid)) => FieldStep::LidBack,
        Message::Lost(None) => FieldStep::Lost,
    }
}

fn trouble(trouble: &Trouble) -> FieldTrouble {
    match trouble {
        Trouble::NotFound => FieldTrouble::NotFound,
        Trouble::NotConnected => FieldTrouble::NotConnected,
        Trouble::NotCompared => FieldTrouble::NotCompared,
        Trouble::StringsDiffer => FieldTrouble::StringsDiffer,
        Trouble::NotAccepted => FieldTrouble::NotAccepted,
        Trouble::NotBegun | Trouble::NoMatch => FieldTrouble::NotBegun,
        Trouble::NotMoved => FieldTrouble::NotMoved,
        Trouble::Left => FieldTrouble::Left,
        Trouble::Stopped => FieldTrouble::Stopped,
        // A device is chosen by its id, so that there is one.
        Trouble::Ambiguous | Trouble::Refused(_) => FieldTrouble::Refused,
    }
}
