//! Backup and restoration of all data. The host reads and writes the file.

use std::path::PathBuf;
use std::rc::Rc;

use proto::control::{self, RefusalCode, event, reply, request};
use slint::ComponentHandle;

use super::{records, touched};
use crate::app::{Answer, AppState, Asked, Controller, Cx};
use crate::screens::{BackupAdapter, Dialog, MainWindow, Remark};

/// Extension of a backup file.
pub(super) const ENDING: &str = "qiyou-backup";

/// State of the backup dialogs.
#[derive(Default)]
pub(crate) struct Backup {
    path: PathBuf,
    busy: bool,
    /// How much of the request in progress is done, in thousandths.
    permille: u32,
    /// Error of the last attempt, in both languages.
    trouble: Option<control::Words>,
    taken: Option<control::Taken>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Question {
    Save,
    Take,
    Stop,
}

impl From<Question> for Asked {
    fn from(question: Question) -> Self {
        Self::Backup(question)
    }
}

impl Backup {
    pub(super) fn attach(window: &MainWindow, app: &Rc<Controller>) {
        let dialog = window.global::<BackupAdapter>();
        dialog.on_begin_save(touched!(app, |pages, cx| pages.backup.begin_save(cx)));
        dialog.on_choose(touched!(app, |_pages, cx| cx.go.look_for_backups()));
        dialog.on_save(touched!(app, |pages, cx, passphrase| pages.backup.save(passphrase.into(), cx)));
        dialog.on_take(touched!(app, |pages, cx, passphrase| pages.backup.take(passphrase.into(), cx)));
        dialog.on_cancel(touched!(app, |pages, cx| pages.backup.cancel(cx)));
        let weak = window.as_weak();
        dialog.on_quit(move || {
            if let Some(window) = weak.upgrade() {
                // Closing the last window ends the event loop, which then says goodbye.
                window.hide().ok();
            }
            slint::quit_event_loop().ok();
        });
    }

    fn begin_save(&mut self, cx: &mut Cx<'_>) {
        let Some(path) = records::free_file(&format!("qiyou.{ENDING}"), cx.known) else {
            return cx.go.remark(Remark::Disk, "");
        };
        *self = Self { path, ..Self::default() };
        cx.go.dialog(Dialog::SaveAll);
    }

    fn save(&mut self, passphrase: String, cx: &mut Cx<'_>) {
        if let Some(path) = self.begin() {
            let asked = control::SaveBackup { path, passphrase };
            cx.ask.send(request::Body::SaveBackup(asked), Question::Save);
        }
    }

    fn take(&mut self, passphrase: String, cx: &mut Cx<'_>) {
        if let Some(path) = self.begin() {
            let asked = control::RestoreBackup { path, passphrase };
            cx.ask.send(request::Body::RestoreBackup(asked), Question::Take);
        }
    }

    /// Closes the dialog. A request in progress is stopped; its reply says whether it was already done.
    fn cancel(&self, cx: &mut Cx<'_>) {
        if self.busy {
            cx.ask.send(request::Body::StopWork(control::StopWork {}), Question::Stop);
        }
        cx.go.dialog(Dialog::None);
    }

    /// The path of the dialog's file, unless a request is in progress.
    fn begin(&mut self) -> Option<String> {
        if std::mem::replace(&mut self.busy, true) {
            return None;
        }
        (self.trouble, self.permille) = (None, 0);
        Some(self.path.display().to_string())
    }

    /// Opens the dialog for the passphrase of the chosen file.
    pub(crate) fn chosen(&mut self, path: PathBuf, cx: &mut Cx<'_>) {
        *self = Self { path, ..Self::default() };
        cx.go.dialog(Dialog::TakeAll);
    }

    /// Notes the progress of the request.
    pub(crate) fn hear(&mut self, event: &event::Body) {
        if let event::Body::WorkProgress(progress) = event {
            self.permille = progress.permille.min(1000);
        }
    }

    pub(crate) fn reply(&mut self, question: &Question, answer: Answer, cx: &mut Cx<'_>) {
        if *question == Question::Stop {
            return;
        }
        self.busy = false;
        match (answer, question) {
            (Ok(reply::Body::Done(_)), Question::Save) => {
                cx.go.dialog(Dialog::None);
                cx.go.remark(Remark::SavedFile, &self.path.display().to_string());
            }
            // The restored data is used from the next start on.
            (Ok(reply::Body::Taken(taken)), Question::Take) => {
                self.taken = Some(taken);
                cx.go.dialog(Dialog::TakenAll);
            }
            (Err(refusal), _) if refusal.code() == RefusalCode::RefusalStopped => {}
            // The dialog stays open and shows the reason.
            (Err(refusal), _) => {
                self.trouble = Some(refusal.reason.unwrap_or_else(|| control::Words {
                    zh: format!("没有成功：{}", refusal.detail),
                    en: format!("That didn't work: {}", refusal.detail),
                }));
            }
            (Ok(_), _) => {}
        }
    }

    pub(super) fn show(&self, window: &MainWindow, known: &AppState) {
        let dialog = window.global::<BackupAdapter>();
        dialog.set_path(self.path.display().to_string().into());
        dialog.set_busy(self.busy);
        dialog.set_done(self.permille as f32 / 1000.0);
        dialog.set_trouble(super::new_game::said(self.trouble.as_ref(), known.chinese()).into());
        if let Some(taken) = &self.taken {
            dialog.set_taken_name(taken.name.as_str().into());
            dialog.set_taken_friends(taken.friends as i32);
            dialog.set_taken_matches(taken.matches as i32);
        }
    }
}
