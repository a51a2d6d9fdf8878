//! The connected clients: what each has attached to, and what is sent to them.

use std::collections::BTreeMap;

use link::Duplex;
use proto::control::{self, Message, event};
use proto::frame::Outgoing;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::task::{AbortHandle, JoinSet};
use tracing::{debug, warn};

use crate::connection::{self, ClientId, ClientNews};
use crate::responder::Responder;

/// Every connected client.
#[derive(Default)]
pub(crate) struct Clients {
    connected: BTreeMap<ClientId, Client>,
    /// Number of the most recent client.
    last: u64,
}

/// A client's connection.
struct Client {
    queue: mpsc::Sender<Outgoing>,
    connection: AbortHandle,
    /// Program and version, once the client has attached.
    attached: Option<String>,
    scanning: bool,
    /// A person looks at the client.
    in_front: bool,
    /// The client has reported whether a person looks at it, so it has a window.
    has_window: bool,
    /// The client wants bots to answer with a delay.
    unhurried: bool,
}

impl Clients {
    /// Serves a connection as a task of `tasks`. Its requests go to `tell`; its end is reported last, for whatever reason it
    /// ends.
    pub(crate) fn welcome(
        &mut self,
        stream: Box<dyn Duplex>,
        tasks: &mut JoinSet<()>,
        tell: impl Fn(ClientId, ClientNews) + Send + Sync + 'static,
    ) {
        self.last += 1;
        let id = ClientId(self.last);
        let (queue, waiting) = mpsc::channel(connection::QUEUE);
        let connection = tasks.spawn(connection::run(stream, waiting, move |news| tell(id, news)));
        let client = Client {
            queue,
            connection,
            attached: None,
            scanning: false,
            in_front: false,
            has_window: false,
            unhurried: false,
        };
        self.connected.insert(id, client);
    }

    /// The connection is over.
    pub(crate) fn gone(&mut self, id: ClientId) {
        if let Some(client) = self.connected.remove(&id) {
            debug!(client = client.name(), "a client has gone");
        }
    }

    /// Closes every connection after its queued messages.
    pub(crate) fn close(&mut self) {
        self.connected.clear();
    }

    /// A responder for this request; `None` if the client has disconnected.
    pub(crate) fn responder(&self, id: ClientId, number: u64) -> Option<Responder> {
        let client = self.connected.get(&id)?;
        Some(Responder::new(&client.queue, client.connection.clone(), id, number))
    }

    /// Sends the client every event from now on. `name`: its program and version.
    pub(crate) fn attach(&mut self, id: ClientId, name: String) {
        if let Some(client) = self.connected.get_mut(&id) {
            client.attached = Some(name);
        }
    }

    pub(crate) fn is_attached(&self, id: ClientId) -> bool {
        self.connected.get(&id).is_some_and(|client| client.attached.is_some())
    }

    /// Sets whether a person looks at the client.
    pub(crate) fn set_front(&mut self, id: ClientId, on: bool) {
        if let Some(client) = self.connected.get_mut(&id) {
            (client.in_front, client.has_window) = (on, true);
        }
    }

    /// Sets whether the client wants bots to answer with a delay.
    pub(crate) fn set_unhurried(&mut self, id: ClientId, unhurried: bool) {
        if let Some(client) = self.connected.get_mut(&id) {
            client.unhurried = unhurried;
        }
    }

    pub(crate) fn anyone_unhurried(&self) -> bool {
        self.connected.values().any(|client| client.unhurried)
    }

    /// Sets whether the client wants nearby devices to be scanned for.
    pub(crate) fn set_scanning(&mut self, id: ClientId, on: bool) {
        if let Some(client) = self.connected.get_mut(&id) {
            client.scanning = on;
        }
    }

    pub(crate) fn anyone_scans(&self) -> bool {
        self.connected.values().any(|client| client.scanning)
    }

    pub(crate) fn anyone_in_front(&self) -> bool {
        self.connected.values().any(|client| client.in_front)
    }

    pub(crate) fn anyone_has_window(&self) -> bool {
        self.connected.values().any(|client| client.has_window)
    }

    pub(crate) fn anyone_attached(&self) -> bool {
        self.connected.values().any(|client| client.attached.is_some())
    }

    /// Sends an event to every attached client.
    pub(crate) fn tell(&mut self, body: event::Body, quiet: bool) {
        let message = encode(body, quiet);
        let attached: Vec<ClientId> = self
            .connected
            .iter()
            .filter(|(_, client)| client.attached.is_some())
            .map(|(id, _)| *id)
            .collect();
        for id in attached {
            self.send(id, &message);
        }
    }

    /// Sends an event to one client.
    pub(crate) fn tell_one(&mut self, id: ClientId, body: event::Body) {
        self.send(id, &encode(body, false));
    }

    fn send(&mut self, id: ClientId, message: &Outgoing) {
        let Some(client) = self.connected.get(&id) else { return };
        if let Err(error) = client.queue.try_send(message.clone()) {
            match error {
                TrySendError::Full(_) => {
                    warn!(client = client.name(), "a client does not read: it is dropped");
                }
                // It has just ended, and the news of that comes next.
                TrySendError::Closed(_) => debug!(client = client.name(), "a client is gone"),
            }
            client.connection.abort();
            self.connected.remove(&id);
        }
    }
}

impl Client {
    fn name(&self) -> &str {
        self.attached.as_deref().unwrap_or("?")
    }
}

/// An event as it is sent, with the present time.
pub(crate) fn encode(body: event::Body, quiet: bool) -> Outgoing {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let microseconds = now.tv_sec as u64 * 1_000_000 + now.tv_nsec as u64 / 1_000;
    connection::encode(&Message::Event(control::Event {
        body: Some(body),
        monotonic_us: microseconds,
        quiet,
    }))
}

#[cfg(test)]
mod tests {
    use proto::control::{Notice, RefusalCode};

    use super::*;
    use crate::refusal::Refusal;

    fn notice() -> event::Body {
        event::Body::Notice(Notice::default())
    }

    /// One connected client, the tasks that serve it, its messages, and its end of the stream.
    fn one() -> (Clients, JoinSet<()>, mpsc::UnboundedReceiver<ClientNews>, tokio::io::DuplexStream) {
        let (mut clients, mut tasks) = (Clients::default(), JoinSet::new());
        let (tell, said) = mpsc::unbounded_channel();
        let (near, far) = tokio::io::duplex(64);
        clients.welcome(Box::new(near), &mut tasks, move |_, news| drop(tell.send(news)));
        (clients, tasks, said, far)
    }

    #[tokio::test]
    async fn only_a_client_that_has_attached_is_told_of_changes() {
        let (mut clients, _tasks, _said, far) = one();
        let id = ClientId(1);
        let waiting = |clients: &Clients| connection::QUEUE - clients.connected[&id].queue.capacity();
        clients.tell(notice(), false);
        assert_eq!(waiting(&clients), 0);
        clients.attach(id, "a test".into());
        clients.tell(notice(), false);
        assert_eq!(waiting(&clients), 1);
        drop(far);
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_is_dropped_and_its_end_is_told() {
        let (mut clients, mut tasks, mut said, far) = one();
        let id = ClientId(1);
        clients.attach(id, "a test".into());
        clients.set_scanning(id, true);
        for _ in 0..=connection::QUEUE {
            clients.tell(notice(), false);
        }
        assert!(!clients.is_attached(id) && !clients.anyone_scans());
        drop(tasks.join_next().await);
        assert!(matches!(said.recv().await, Some(ClientNews::Gone)));
        drop(far);
    }

    #[tokio::test]
    async fn a_client_that_does_not_take_its_answer_is_dropped_and_its_end_is_told() {
        let (mut clients, mut tasks, mut said, far) = one();
        let id = ClientId(1);
        clients.attach(id, "a test".into());
        let owed = clients.responder(id, 1).expect("it is connected");
        for _ in 0..connection::QUEUE {
            clients.tell(notice(), false);
        }
        owed.refuse(Refusal::new(RefusalCode::RefusalBusy, "later"));
        drop(tasks.join_next().await);
        assert!(matches!(said.recv().await, Some(ClientNews::Gone)));
        clients.gone(id);
        assert!(clients.responder(id, 2).is_none());
        drop(far);
    }
}
