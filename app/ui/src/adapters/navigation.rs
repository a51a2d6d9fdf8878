//! Pages, dialogs, and the keys that belong to no control.

use std::rc::Rc;
use std::time::Duration;

use slint::platform::{Key, WindowEvent};
use slint::{ComponentHandle, SharedString};

use super::when;
use crate::app::Desk;
use crate::screens::{Dialog, Focus, MainWindow, Navigation, Remark};

pub(super) fn attach(window: &MainWindow, desk: &Rc<Desk>) {
    let navigation = window.global::<Navigation>();
    navigation.on_go(when!(desk, |desk, page| desk.go(page)));
    navigation.on_back(when!(desk, |desk| desk.back()));
    navigation.on_open(when!(desk, |desk, dialog| desk.open(dialog)));
    navigation.on_close_dialog(when!(desk, |desk| desk.open(Dialog::None)));
    navigation.on_clear_remark(when!(desk, |desk| desk.remark(Remark::None, "")));
    window.global::<Focus>().on_window_turned(when!(desk, |desk, front| desk.set_in_front(front)));
    let weak = window.as_weak();
    navigation.on_step_focus(move |step| {
        let weak = weak.clone();
        // The key that asked for it is still being handled, so the step waits for its end.
        slint::Timer::single_shot(Duration::ZERO, move || {
            let Some(window) = weak.upgrade() else { return };
            let text: SharedString = if step > 0 { Key::Tab.into() } else { Key::Backtab.into() };
            window.window().dispatch_event(WindowEvent::KeyPressed { text: text.clone() });
            window.window().dispatch_event(WindowEvent::KeyReleased { text });
        });
    });
}

pub(super) fn show(window: &MainWindow, desk: &Desk) {
    let inner = desk.see();
    let navigation = window.global::<Navigation>();
    navigation.set_page(inner.page());
    navigation.set_dialog(desk.dialog());
}
