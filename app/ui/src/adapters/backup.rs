//! Everything of this device in one file, and back. The host reads and writes the file.

use std::path::PathBuf;
use std::rc::Rc;

use proto::control::{self, request};
use slint::ComponentHandle;

use super::{records, when};
use crate::app::{Desk, Purpose};
use crate::screens::{BackupAdapter, Dialog, MainWindow, Remark};

/// What is being saved or taken.
#[derive(Default)]
pub(crate) struct Backup {
    path: PathBuf,
    busy: bool,
    /// Why it did not work the last time, in both languages.
    trouble: Option<control::Words>,
    taken: Option<control::Taken>,
}

/// What such a file is called.
pub(super) const ENDING: &str = "qiyou-backup";

pub(super) fn attach(window: &MainWindow, desk: &Rc<Desk>) {
    let dialog = window.global::<BackupAdapter>();
    dialog.on_begin_save(when!(desk, |desk| {
        let Some(path) = records::free_file(&format!("qiyou.{ENDING}")) else {
            return desk.remark(Remark::Disk, "");
        };
        desk.change(|inner| inner.backup = Backup { path, ..Backup::default() });
        desk.open(Dialog::SaveAll);
    }));
    dialog.on_choose(when!(desk, |desk| records::look_for_backups(&desk)));
    dialog.on_save(when!(desk, |desk, passphrase| {
        if let Some(path) = begin(&desk) {
            let asked = control::SaveEverything { path, passphrase: passphrase.into() };
            desk.ask(request::Body::SaveEverything(asked), Purpose::SaveEverything);
        }
    }));
    dialog.on_take(when!(desk, |desk, passphrase| {
        if let Some(path) = begin(&desk) {
            let asked = control::TakeEverything { path, passphrase: passphrase.into() };
            desk.ask(request::Body::TakeEverything(asked), Purpose::TakeEverything);
        }
    }));
    dialog.on_quit(when!(desk, |desk| {
        if let Some(window) = desk.window.upgrade() {
            // The event loop ends with its last window, and says goodbye on its way.
            window.hide().ok();
        }
        slint::quit_event_loop().ok();
    }));
}

/// The path to be asked for, once at a time.
fn begin(desk: &Desk) -> Option<String> {
    let mut path = None;
    desk.change(|inner| {
        if !inner.backup.busy {
            inner.backup.busy = true;
            inner.backup.trouble = None;
            path = Some(inner.backup.path.display().to_string());
        }
    });
    path
}

/// A file was chosen: its passphrase is asked for.
pub(super) fn chosen(desk: &Desk, path: PathBuf) {
    desk.change(|inner| inner.backup = Backup { path, ..Backup::default() });
    desk.open(Dialog::TakeAll);
}

/// Everything is in the file.
pub(crate) fn saved(desk: &Desk) {
    let path = desk.see().backup.path.display().to_string();
    desk.change(|inner| inner.backup.busy = false);
    desk.open(Dialog::None);
    desk.remark(Remark::SavedFile, &path);
}

/// The file could be read: the next start brings it.
pub(crate) fn taken(desk: &Desk, taken: control::Taken) {
    desk.change(|inner| {
        inner.backup.busy = false;
        inner.backup.taken = Some(taken);
    });
    desk.open(Dialog::TakenAll);
}

/// It did not work; the dialog says why and stays.
pub(crate) fn refused(desk: &Desk, refusal: &control::Refusal) {
    let words = refusal.reason.clone().unwrap_or_else(|| control::Words {
        zh: format!("没有成功：{}", refusal.detail),
        en: format!("That didn't work: {}", refusal.detail),
    });
    desk.change(|inner| {
        inner.backup.busy = false;
        inner.backup.trouble = Some(words);
    });
}

pub(super) fn show(window: &MainWindow, desk: &Desk) {
    let inner = desk.see();
    let dialog = window.global::<BackupAdapter>();
    let backup = &inner.backup;
    dialog.set_path(backup.path.display().to_string().into());
    dialog.set_busy(backup.busy);
    dialog.set_trouble(super::new_game::said(backup.trouble.as_ref(), inner.chinese()).into());
    if let Some(taken) = &backup.taken {
        dialog.set_taken_name(taken.name.as_str().into());
        dialog.set_taken_friends(taken.friends as i32);
        dialog.set_taken_matches(taken.matches as i32);
    }
}
