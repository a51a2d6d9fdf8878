//! Shows notifications through `org.freedesktop.Notifications` (Desktop Notifications Specification 1.2).

use session::MatchId;
use tokio::sync::mpsc;

use super::Bus;
use crate::room::PlayerId;

/// What a notification is about. There is one of each at a time; a newer one takes its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    /// Somebody asks for a match.
    Invitation(MatchId),
    /// Somebody unknown wants to compare strings.
    Comparison(PlayerId),
    /// Something happened in a match.
    Match(MatchId),
    /// Something is wrong with this device.
    Device,
}

/// How much it matters; the numbers are the specification's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Urgency {
    Normal = 1,
    /// Stays until it is dismissed.
    Critical = 2,
}

/// What is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notification {
    pub(crate) subject: Subject,
    pub(crate) summary: String,
    pub(crate) body: String,
    pub(crate) urgency: Urgency,
}

/// What is asked of the desktop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Show(Notification),
    /// It is over.
    Withdraw(Subject),
    /// A person looks at a client.
    WithdrawAll,
}

#[cfg(not(target_os = "linux"))]
pub(super) async fn run(_: Bus, mut orders: mpsc::Receiver<Order>) {
    while orders.recv().await.is_some() {}
}

/// Follows orders until the actor ends.
#[cfg(target_os = "linux")]
pub(super) async fn run(bus: Bus, mut orders: mpsc::Receiver<Order>) {
    let mut desk = linux::Desk::new(bus);
    while let Some(order) = orders.recv().await {
        if let Err(error) = desk.follow(order).await {
            tracing::debug!(%error, "the desktop cannot be asked to notify");
            desk.leave();
        }
    }
    // Nobody would answer what still stands there.
    let _ = desk.follow(Order::WithdrawAll).await;
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;

    use dbus::arg::{PropMap, Variant};
    use dbus::channel::BusType;
    use dbus::nonblock::{Proxy, SyncConnection};

    use super::super::bus::{CALL_WITHIN, Connected};
    use super::{Bus, Notification, Order, Subject};

    const SERVICE: &str = "org.freedesktop.Notifications";
    const PATH: &str = "/org/freedesktop/Notifications";

    /// The name of our `.desktop` file: gives the notification its icon and its place in the shell.
    const DESKTOP_ENTRY: &str = "qiyou";

    /// Where notifications are given up.
    pub(super) struct Desk {
        bus: Bus,
        connected: Option<Connected>,
        /// The desktop's numbers of what it was asked to show.
        shown: BTreeMap<Subject, u32>,
    }

    impl Desk {
        pub(super) fn new(bus: Bus) -> Self {
            Self { bus, connected: None, shown: BTreeMap::new() }
        }

        /// Another bus is asked next time.
        pub(super) fn leave(&mut self) {
            self.connected = None;
            self.shown.clear();
        }

        pub(super) async fn follow(&mut self, order: Order) -> Result<(), dbus::Error> {
            match order {
                Order::Show(notification) => self.show(notification).await,
                Order::Withdraw(subject) => match self.shown.remove(&subject) {
                    Some(number) => self.close(number).await,
                    None => Ok(()),
                },
                Order::WithdrawAll => {
                    for number in std::mem::take(&mut self.shown).into_values() {
                        self.close(number).await?;
                    }
                    Ok(())
                }
            }
        }

        async fn show(&mut self, notification: Notification) -> Result<(), dbus::Error> {
            let Notification { subject, summary, body, urgency } = notification;
            let replaces = self.shown.get(&subject).copied().unwrap_or(0);
            let hints = PropMap::from([
                ("urgency".to_owned(), Variant(Box::new(urgency as u8) as _)),
                ("desktop-entry".to_owned(), Variant(Box::new(DESKTOP_ENTRY.to_owned()) as _)),
            ]);
            // The specification lets bodies hold markup; names are a stranger's words.
            let body = body.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            // -1: the desktop decides how long it stays.
            let arguments =
                ("Qiyou", replaces, DESKTOP_ENTRY, summary, body, Vec::<String>::new(), hints, -1_i32);
            let (number,): (u32,) = self.proxy()?.method_call(SERVICE, "Notify", arguments).await?;
            self.shown.insert(subject, number);
            Ok(())
        }

        async fn close(&mut self, number: u32) -> Result<(), dbus::Error> {
            // An error means that the person has dismissed it.
            let _: Result<(), _> = self.proxy()?.method_call(SERVICE, "CloseNotification", (number,)).await;
            Ok(())
        }

        fn proxy(&mut self) -> Result<Proxy<'_, &SyncConnection>, dbus::Error> {
            if self.connected.as_ref().is_none_or(Connected::is_gone) {
                self.shown.clear();
                self.connected = Some(Connected::open(&self.bus, BusType::Session)?);
            }
            let connected = self.connected.as_ref().expect("it was made above");
            Ok(Proxy::new(SERVICE, PATH, CALL_WITHIN, &*connected.connection))
        }
    }
}
