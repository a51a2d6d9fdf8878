//! Pages, dialogs, and keys that no control handles.

use std::rc::Rc;
use std::time::Duration;

use slint::platform::{Key, WindowEvent};
use slint::{ComponentHandle, SharedString};

use super::when;
use crate::app::Controller;
use crate::screens::{Dialog, Focus, MainWindow, Navigation, Remark};

pub(super) fn attach(window: &MainWindow, app: &Rc<Controller>) {
    let navigation = window.global::<Navigation>();
    navigation.on_go(when!(app, |app, page| app.go(page)));
    navigation.on_back(when!(app, |app| app.back()));
    navigation.on_open(when!(app, |app, dialog| app.open(dialog)));
    navigation.on_close_dialog(when!(app, |app| app.open(Dialog::None)));
    navigation.on_clear_remark(when!(app, |app| app.remark(Remark::None, "")));
    window.global::<Focus>().on_window_turned(when!(app, |app, front| app.set_in_front(front)));
    let weak = window.as_weak();
    navigation.on_step_focus(move |step| {
        let weak = weak.clone();
        // Deferred, because the key event that requested it is still being handled.
        slint::Timer::single_shot(Duration::ZERO, move || {
            let Some(window) = weak.upgrade() else { return };
            let text: SharedString = if step > 0 { Key::Tab.into() } else { Key::Backtab.into() };
            window.window().dispatch_event(WindowEvent::KeyPressed { text: text.clone() });
            window.window().dispatch_event(WindowEvent::KeyReleased { text });
        });
    });
}

pub(super) fn show(window: &MainWindow, app: &Controller) {
    let known = app.read();
    let navigation = window.global::<Navigation>();
    navigation.set_page(known.page());
    navigation.set_dialog(app.dialog());
}
