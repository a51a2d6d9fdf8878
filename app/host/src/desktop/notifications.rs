//! Shows notifications through `org.freedesktop.Notifications` (Desktop Notifications Specification 1.2).

use session::MatchId;
use tokio::sync::mpsc;

use super::Bus;
use crate::room::PlayerId;

/// Subject of a notification. A new notification replaces the one of the same subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    /// An invitation.
    Invitation(MatchId),
    /// A stranger asks to compare strings.
    Comparison(PlayerId),
    /// News of a match.
    Match(MatchId),
    /// A problem of this device.
    Device,
}

/// Urgency levels with the numbers of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Urgency {
    Normal = 1,
    /// Shown until dismissed.
    Critical = 2,
}

/// A notification's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notification {
    pub(crate) subject: Subject,
    pub(crate) summary: String,
    pub(crate) body: String,
    pub(crate) urgency: Urgency,
}

/// An order to the desktop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Show(Notification),
    /// The subject is settled: close its notification.
    Withdraw(Subject),
    /// Close all notifications, because somebody looks at a client.
    WithdrawAll,
}

#[cfg(not(target_os = "linux"))]
pub(super) async fn run(_: Bus, mut orders: mpsc::Receiver<Order>, _: impl Fn(Subject)) {
    while orders.recv().await.is_some() {}
}

/// Carries out orders until the actor ends, and reports the subjects of clicked notifications.
#[cfg(target_os = "linux")]
pub(super) async fn run(bus: Bus, mut orders: mpsc::Receiver<Order>, activated: impl Fn(Subject)) {
    let (tell, mut chosen) = mpsc::unbounded_channel();
    let mut server = linux::NotificationServer::new(bus, tell);
    loop {
        let order = tokio::select! {
            order = orders.recv() => order,
            Some(number) = chosen.recv() => {
                if let Some(subject) = server.subject(number) {
                    activated(subject);
                }
                continue;
            }
        };
        let Some(order) = order else { break };
        if let Err(error) = server.follow(order).await {
            tracing::debug!(%error, "the desktop cannot be asked to notify");
            server.leave();
        }
    }
    // After the end nobody would handle a click.
    let _ = server.follow(Order::WithdrawAll).await;
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;

    use tokio::sync::mpsc;

    use dbus::arg::{PropMap, Variant};
    use dbus::channel::BusType;
    use dbus::channel::MatchingReceiver as _;
    use dbus::message::MatchRule;
    use dbus::nonblock::{Proxy, SyncConnection};

    use super::super::bus::{CALL_WITHIN, Connected};
    use super::{Bus, Notification, Order, Subject};

    const SERVICE: &str = "org.freedesktop.Notifications";
    const PATH: &str = "/org/freedesktop/Notifications";

    /// Name of the `.desktop` file, which gives notifications their icon and their group in the shell.
    const DESKTOP_ENTRY: &str = "qiyou";

    /// Key of the action that a click on the whole notification triggers, by the specification.
    const DEFAULT_ACTION: &str = "default";

    /// The connection to the notification server.
    pub(super) struct NotificationServer {
        bus: Bus,
        /// Receives the ids of clicked notifications.
        chosen: mpsc::UnboundedSender<u32>,
        connected: Option<Connected>,
        /// Ids that the server assigned to the notifications shown.
        shown: BTreeMap<Subject, u32>,
    }

    impl NotificationServer {
        pub(super) fn new(bus: Bus, chosen: mpsc::UnboundedSender<u32>) -> Self {
            Self { bus, chosen, connected: None, shown: BTreeMap::new() }
        }

        /// Subject of the notification with this id, if it is ours.
        pub(super) fn subject(&self, number: u32) -> Option<Subject> {
            self.shown.iter().find(|(_, shown)| **shown == number).map(|(subject, _)| *subject)
        }

        /// Disconnects; the next order connects again.
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
            // By the specification bodies may contain markup; names come from strangers.
            let body = body.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            // Desktops that support the `default` action do not show its label.
            let actions = vec![DEFAULT_ACTION.to_owned(), "Qiyou".to_owned()];
            // -1: the server chooses the timeout.
            let arguments = ("Qiyou", replaces, DESKTOP_ENTRY, summary, body, actions, hints, -1_i32);
            let (number,): (u32,) = self.proxy().await?.method_call(SERVICE, "Notify", arguments).await?;
            self.shown.insert(subject, number);
            Ok(())
        }

        async fn close(&mut self, number: u32) -> Result<(), dbus::Error> {
            // An error means that the notification was dismissed already.
            let _: Result<(), _> =
                self.proxy().await?.method_call(SERVICE, "CloseNotification", (number,)).await;
            Ok(())
        }

        async fn proxy(&mut self) -> Result<Proxy<'_, &SyncConnection>, dbus::Error> {
            if self.connected.as_ref().is_none_or(Connected::is_gone) {
                self.shown.clear();
                let connected = Connected::open(&self.bus, BusType::Session)?;
                listen(&connected.connection, self.chosen.clone()).await?;
                self.connected = Some(connected);
            }
            let connected = self.connected.as_ref().expect("it was made above");
            Ok(Proxy::new(SERVICE, PATH, CALL_WITHIN, &*connected.connection))
        }
    }

    /// Listens for clicks. Signals for other programs' notifications arrive too, with unknown ids.
    async fn listen(
        connection: &SyncConnection,
        chosen: mpsc::UnboundedSender<u32>,
    ) -> Result<(), dbus::Error> {
        let rule = MatchRule::new_signal(SERVICE, "ActionInvoked").with_path(PATH);
        connection.add_match_no_cb(&rule.match_str()).await?;
        connection.start_receive(
            rule,
            Box::new(move |message, _| {
                if let Ok((number, action)) = message.read2::<u32, String>()
                    && action == DEFAULT_ACTION
                {
                    let _ = chosen.send(number);
                }
                true
            }),
        );
        Ok(())
    }
}
