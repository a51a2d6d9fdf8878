//! Desktop integration over D-Bus: notifications while nobody looks at a client, the system's sleep, battery and lid.
//!
//! Each part runs in a task of its own, which connects on demand and reconnects after a loss. Without D-Bus there are no
//! notifications, and sleep looks like a lost link.

#[cfg(feature = "guest")]
mod access_point;
#[cfg(target_os = "linux")]
mod bus;
pub(crate) mod news;
mod notifications;
mod power;
#[cfg(all(target_os = "linux", feature = "online"))]
pub(crate) mod secret_service;
mod sleep;

use proto::control::{Language, event};
use tokio::sync::mpsc;

#[cfg(feature = "guest")]
pub(crate) use access_point::{
    AccessPointNews, AccessPointTrouble, BeforeFile, Network, return_after_crash, run as make_access_point,
};
pub(crate) use notifications::{Notification, Order, Subject, Urgency};
pub(crate) use power::run as watch_power;
pub(crate) use sleep::{Inhibitor, SleepNews, run as watch_sleep};

/// The D-Bus to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bus {
    /// The session or system bus, found by the environment.
    Usual,
    /// The bus at this address, such as `unix:path=/tmp/bus`.
    At(String),
}

/// Maximum number of queued orders while the desktop does not answer; further ones are dropped, because news become
/// outdated.
const QUEUE: usize = 64;

/// The actor's handle of the notification task.
pub(crate) struct Desktop {
    orders: mpsc::Sender<Order>,
    news: news::News,
}

impl Desktop {
    /// The handle, and the task to be run.
    pub(crate) fn new<F: Fn(Subject) + Send + Sync + 'static>(
        bus: Bus,
        activated: F,
    ) -> (Self, impl Future<Output = ()> + Send + use<F>) {
        let (orders, queue) = mpsc::channel(QUEUE);
        (Self { orders, news: news::News::default() }, notifications::run(bus, queue, activated))
    }

    /// The orders that follow from an event.
    pub(crate) fn heard(&mut self, body: &event::Body, language: Language) -> Vec<Order> {
        self.news.heard(body, language)
    }

    pub(crate) fn tell(&self, order: Order) {
        let _ = self.orders.try_send(order);
    }
}

/// Aborts a task when dropped.
pub(crate) struct AbortOnDrop(pub(crate) tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The language of messages by the environment: Chinese if the locale begins with `zh`, otherwise English.
pub(crate) fn environment_language() -> Language {
    // In order of precedence (POSIX, Environment Variables, 8.2).
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    if locale.is_some_and(|locale| locale.starts_with("zh")) { Language::Chinese } else { Language::English }
}
