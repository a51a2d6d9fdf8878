//! Which events become notifications of the desktop, and what a click on one does.

use std::ffi::{OsStr, OsString};
use std::process::Stdio;

use proto::control::{self, Language, event};

use crate::desktop::{Bus, Desktop, Order, Subject, Urgency};

/// The desktop, if there is one, and the app that a click starts.
pub(crate) struct Notifying {
    desktop: Option<Desktop>,
    /// Program to start when a notification is clicked and no client with a window is attached.
    app: Option<OsString>,
}

impl Notifying {
    /// Without a desktop, until [`connect`](Self::connect).
    pub(crate) fn new(app: Option<OsString>) -> Self {
        Self { desktop: None, app }
    }

    /// Notifies on this bus; `activated` gets the subject of a clicked notification. Returns the task to be run.
    pub(crate) fn connect<F: Fn(Subject) + Send + Sync + 'static>(
        &mut self,
        bus: Bus,
        activated: F,
    ) -> impl Future<Output = ()> + Send + use<F> {
        let (desktop, task) = Desktop::new(bus, activated);
        self.desktop = Some(desktop);
        task
    }

    /// Turns an event into notifications, as far as the user would otherwise miss it. `is_seen`: somebody looks at a client.
    pub(crate) fn heard(
        &mut self,
        body: &event::Body,
        language: Language,
        is_seen: bool,
        is_quiet: impl Fn() -> bool,
    ) {
        let Some(desktop) = &mut self.desktop else { return };
        for order in desktop.heard(body, language) {
            if is_told(&order, is_seen, &is_quiet) {
                desktop.tell(order);
            }
        }
    }

    /// Withdraws all notifications, because somebody looks at a client.
    pub(crate) fn withdraw_all(&self) {
        if let Some(desktop) = &self.desktop {
            desktop.tell(Order::WithdrawAll);
        }
    }

    /// Ends all notifications.
    pub(crate) fn close(&mut self) {
        self.desktop = None;
    }

    /// Starts the app after a click that no window can answer.
    pub(crate) fn start_app(&self, anyone_has_window: bool) {
        if let Some(app) = self.app.as_deref().filter(|_| !anyone_has_window) {
            start(app);
        }
    }
}

/// Whether an order reaches the desktop.
fn is_told(order: &Order, is_seen: bool, is_quiet: impl Fn() -> bool) -> bool {
    match order {
        Order::Show(one) => !is_seen && (one.urgency == Urgency::Critical || !is_quiet()),
        // Even while somebody looks at a client.
        Order::Withdraw(_) | Order::WithdrawAll => true,
    }
}

/// The event by which a client with a window shows the subject of a clicked notification.
pub(crate) fn activated(subject: Subject) -> control::Activated {
    let mut body = control::Activated::default();
    match subject {
        Subject::Match(id) => body.room_id = id.to_string(),
        Subject::Invitation(id) => body.invite_id = id.to_string(),
        Subject::Comparison(key) => body.peer = key.to_string(),
        Subject::Device => {}
    }
    body
}

/// Starts a program without waiting for it. A missing program is no error.
fn start(program: &OsStr) {
    match std::process::Command::new(program).stdin(Stdio::null()).spawn() {
        Ok(mut child) => {
            // Waiting avoids a zombie process.
            std::thread::spawn(move || child.wait());
        }
        Err(error) => tracing::info!(?program, %error, "the app cannot be started"),
    }
}

#[cfg(test)]
mod tests {
    use session::MatchId;

    use super::*;
    use crate::desktop::Notification;
    use crate::room::PlayerId;

    fn show(urgency: Urgency) -> Order {
        let (summary, body) = (String::new(), String::new());
        Order::Show(Notification { subject: Subject::Device, summary, body, urgency })
    }

    #[test]
    fn a_notification_is_shown_to_nobody_who_looks_and_at_night_only_if_it_is_critical() {
        for (urgency, is_seen, is_quiet, told) in [
            (Urgency::Normal, false, false, true),
            (Urgency::Normal, false, true, false),
            (Urgency::Normal, true, false, false),
            (Urgency::Critical, false, true, true),
            (Urgency::Critical, true, false, false),
        ] {
            assert_eq!(
                is_told(&show(urgency), is_seen, || is_quiet),
                told,
                "{urgency:?} {is_seen} {is_quiet}"
            );
        }
    }

    #[test]
    fn what_is_settled_is_withdrawn_at_any_hour_and_whoever_looks() {
        for order in [Order::Withdraw(Subject::Device), Order::WithdrawAll] {
            assert!(is_told(&order, true, || true) && is_told(&order, false, || false));
        }
    }

    #[test]
    fn a_critical_notification_asks_for_no_time() {
        assert!(is_told(&show(Urgency::Critical), false, || unreachable!("the time does not matter")));
    }

    #[test]
    fn a_click_names_its_subject() {
        let (id, key) = (MatchId([3; 16]), PlayerId([4; 32]));
        assert_eq!(activated(Subject::Match(id)).room_id, id.to_string());
        assert_eq!(activated(Subject::Invitation(id)).invite_id, id.to_string());
        assert_eq!(activated(Subject::Comparison(key)).peer, key.to_string());
        assert_eq!(activated(Subject::Device), control::Activated::default());
    }
}
