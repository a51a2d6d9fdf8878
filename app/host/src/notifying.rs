//! Turns events into notifications of the desktop, and clicks on them into events.

use std::ffi::OsStr;
use std::process::Stdio;

use proto::control::{self, Language, event};

use crate::actor::{Actor, Message};
use crate::desktop::{AbortOnDrop, Bus, Desktop, Order, Subject, Urgency, watch_power, watch_sleep};
use crate::quiet::QuietHours;
use crate::show::Refusal;

impl Actor {
    pub(crate) fn start_desktop(
        &mut self,
        notifications: Option<Bus>,
        sleep: Option<Bus>,
        power: Option<Bus>,
    ) {
        if let Some(bus) = notifications {
            let inbox = self.inbox.clone();
            let activated = move |subject| {
                // Sending fails only after the actor has ended.
                let _ = inbox.send(Message::Activated(subject));
            };
            let (desktop, task) = Desktop::new(bus, activated);
            self.tasks.spawn(task);
            self.desktop = Some(desktop);
        }
        if let Some(bus) = sleep {
            let inbox = self.inbox.clone();
            // The task ends by itself after the actor; nothing waits for it, and it only waits for the bus.
            let task = tokio::spawn(watch_sleep(bus, move |news| inbox.send(Message::Sleep(news)).is_ok()));
            self.power.keep(AbortOnDrop(task.abort_handle()));
        }
        if let Some(bus) = power {
            let inbox = self.inbox.clone();
            let task = tokio::spawn(watch_power(bus, move |news| inbox.send(Message::Power(news)).is_ok()));
            self.power.keep(AbortOnDrop(task.abort_handle()));
        }
    }

    /// Turns an event into notifications, as far as the user would otherwise miss it.
    pub(crate) fn notify(&mut self, body: &event::Body) {
        let unseen = !self.clients.anyone_in_front();
        let language = self.profile.language();
        let (hours, clock, local_minute) =
            (self.profile.quiet_hours(), self.wall_clock.clone(), self.local_minute.clone());
        let quiet = || is_quiet(hours, || local_minute(clock()));
        let Some(desktop) = &mut self.desktop else { return };
        for order in desktop.heard(body, language) {
            let is_told = match &order {
                Order::Show(one) => unseen && (one.urgency == Urgency::Critical || !quiet()),
                // Even while somebody looks at a client.
                Order::Withdraw(_) | Order::WithdrawAll => true,
            };
            if is_told {
                desktop.tell(order);
            }
        }
    }

    /// Whether the present time is within the quiet hours.
    pub(crate) fn is_quiet(&self) -> bool {
        is_quiet(self.profile.quiet_hours(), || (self.local_minute)((self.wall_clock)()))
    }

    /// Handles a click on a notification: a client with a window shows its subject; without one, the app is started.
    pub(crate) fn activated(&mut self, subject: Subject) {
        let mut body = control::Activated::default();
        match subject {
            Subject::Match(id) => body.room_id = id.to_string(),
            Subject::Invitation(id) => body.invite_id = id.to_string(),
            Subject::Comparison(key) => body.peer = key.to_string(),
            Subject::Device => {}
        }
        self.tell(event::Body::Activated(body));
        if let Some(app) = self.app.clone().filter(|_| !self.clients.anyone_has_window()) {
            start(&app);
        }
    }

    /// Handles a change of who looks at a client: stores the language of notifications, and withdraws all notifications if
    /// somebody looks.
    pub(crate) fn someone_looks(&mut self, language: Language) -> Result<(), Refusal> {
        self.profile.set_language(&mut self.journal, language)?;
        if self.clients.anyone_in_front()
            && let Some(desktop) = &self.desktop
        {
            desktop.tell(Order::WithdrawAll);
        }
        Ok(())
    }
}

/// The time is read only if there are quiet hours.
fn is_quiet(hours: Option<QuietHours>, minute: impl FnOnce() -> u16) -> bool {
    hours.is_some_and(|hours| hours.contains(minute()))
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
