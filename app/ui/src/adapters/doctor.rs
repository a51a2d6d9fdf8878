//! What the host finds on this device: the dialog behind "Check this device".

use std::rc::Rc;

use proto::control::{self, Check, CheckState, reply, request};
use slint::{ComponentHandle, ModelRc, VecModel};

use super::{touched, update};
use crate::app::{Answer, Asked, Controller, Cx};
use crate::screens::{CheckVerdict, CheckView, Dialog, DoctorAdapter, MainWindow, Remark};

/// The latest findings.
#[derive(Default)]
pub(crate) struct Doctor {
    /// Worst first; those of one kind in the host's order.
    checks: Vec<Check>,
    /// The host examines the device.
    busy: bool,
    views: Rc<VecModel<CheckView>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Question;

impl From<Question> for Asked {
    fn from(question: Question) -> Self {
        Self::Doctor(question)
    }
}

impl Doctor {
    pub(super) fn attach(&self, window: &MainWindow, app: &Rc<Controller>) {
        let page = window.global::<DoctorAdapter>();
        page.set_checks(ModelRc::from(self.views.clone()));
        page.on_open(touched!(app, |pages, cx| {
            pages.doctor.examine(cx);
            cx.go.dialog(Dialog::Doctor);
        }));
        page.on_again(touched!(app, |pages, cx| pages.doctor.examine(cx)));
    }

    fn examine(&mut self, cx: &mut Cx<'_>) {
        if !std::mem::replace(&mut self.busy, true) {
            cx.ask.send(request::Body::Diagnose(control::Diagnose {}), Question);
        }
    }

    pub(crate) fn reply(&mut self, answer: Answer, cx: &mut Cx<'_>) {
        self.busy = false;
        match answer {
            Ok(reply::Body::Diagnosis(diagnosis)) => {
                self.checks = diagnosis.checks;
                self.checks.sort_by_key(|check| std::cmp::Reverse(check.state));
            }
            Ok(_) => {}
            Err(refusal) => cx.go.refused(refusal, Remark::BadRequest),
        }
    }

    pub(super) fn show(&self, window: &MainWindow) {
        let page = window.global::<DoctorAdapter>();
        update(&self.views, &self.checks.iter().map(view).collect::<Vec<_>>());
        page.set_problems(
            self.checks.iter().filter(|check| check.state() != CheckState::CheckOk).count() as i32
        );
        page.set_busy(self.busy);
    }
}

fn view(check: &Check) -> CheckView {
    CheckView {
        subject: check.subject.as_str().into(),
        verdict: match check.state() {
            CheckState::CheckOk => CheckVerdict::Fine,
            CheckState::CheckWarning => CheckVerdict::Limited,
            CheckState::CheckFailed => CheckVerdict::Broken,
        },
        found: check.found.as_str().into(),
        remedy: check.remedy.as_str().into(),
    }
}
