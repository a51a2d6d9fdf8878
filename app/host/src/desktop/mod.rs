//! The desktop around this host, by D-Bus: notifications while nobody looks at a client, and the system's sleep.
//!
//! Each lives in a task of its own that connects when it has to, and again when its bus was gone. A system without D-Bus is
//! fine: then nobody is notified, and sleep comes as any other loss of the link.

#[cfg(target_os = "linux")]
mod bus;
pub(crate) mod news;
mod notifications;
#[cfg(all(target_os = "linux", feature = "online"))]
pub(crate) mod secret_service;
mod sleep;

use std::ffi::OsStr;
use std::process::Stdio;

use proto::control::{self, Language, event};
use tokio::sync::mpsc;

pub(crate) use notifications::{Notification, Order, Subject, Urgency};
pub(crate) use sleep::{Inhibitor, SleepNews};

use crate::actor::{Actor, LANGUAGE, Message};
use crate::show::Refusal;

/// Which bus to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bus {
    /// The one of this login, or the system's, as the environment says.
    Usual,
    /// The one at this address, such as `unix:path=/tmp/bus`.
    At(String),
}

/// Orders that wait for a desktop which does not answer; more are dropped, as news grow old.
const QUEUE: usize = 64;

/// The actor's end of the notifications.
pub(crate) struct Desktop {
    orders: mpsc::Sender<Order>,
    news: news::News,
}

impl Desktop {
    pub(crate) fn tell(&self, order: Order) {
        let _ = self.orders.try_send(order);
    }
}

impl Actor {
    pub(crate) fn start_desktop(&mut self, notifications: Option<Bus>, sleep: Option<Bus>) {
        if let Some(bus) = notifications {
            let (orders, queue) = mpsc::channel(QUEUE);
            let inbox = self.inbox.clone();
            let activated = move |subject| {
                // When the actor has ended, so has its desktop.
                let _ = inbox.send(Message::Activated(subject));
            };
            self.tasks.spawn(notifications::run(bus, queue, activated));
            self.desktop = Some(Desktop { orders, news: news::News::default() });
        }
        if let Some(bus) = sleep {
            let inbox = self.inbox.clone();
            // Ends by itself when the actor has ended; it waits for the bus, and nobody waits for it.
            let task = tokio::spawn(sleep::run(bus, move |news| inbox.send(Message::Sleep(news)).is_ok()));
            self.sleep_watch = Some(AbortOnDrop(task.abort_handle()));
        }
    }

    /// Asks the desktop to say what a person would miss otherwise.
    pub(crate) fn notify(&mut self, body: &event::Body) {
        let unseen = !self.clients.anyone_in_front();
        let language = self.language;
        let Some(desktop) = &mut self.desktop else { return };
        for order in desktop.news.heard(body, language) {
            // What is over is taken away in any case.
            if unseen || matches!(order, Order::Withdraw(_)) {
                desktop.tell(order);
            }
        }
    }

    /// The person has chosen a notification: whoever has a window shows what it is about, or the app is started.
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

    /// A person looks at a client, or does not any more.
    pub(crate) fn someone_looks(&mut self, language: Language) -> Result<(), Refusal> {
        if language != Language::Unspecified && language != self.language {
            self.journal.keep(|store| store.set_setting(LANGUAGE, language.as_str_name()))?;
            self.language = language;
        }
        if self.clients.anyone_in_front()
            && let Some(desktop) = &self.desktop
        {
            desktop.tell(Order::WithdrawAll);
        }
        Ok(())
    }
}

/// Starts a program and forgets it. That it is not installed is no error of ours.
fn start(program: &OsStr) {
    match std::process::Command::new(program).stdin(Stdio::null()).spawn() {
        Ok(mut child) => {
            // Waited for, so that it leaves nothing behind when it ends.
            std::thread::spawn(move || child.wait());
        }
        Err(error) => tracing::info!(?program, %error, "the app cannot be started"),
    }
}

/// Ends a task with its owner.
pub(crate) struct AbortOnDrop(tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The language of messages that this environment asks for: Chinese where the locale begins with `zh`, else English.
pub(crate) fn environment_language() -> Language {
    // In the order in which they count (POSIX, Environment Variables, 8.2).
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    if locale.is_some_and(|locale| locale.starts_with("zh")) { Language::Chinese } else { Language::English }
}
