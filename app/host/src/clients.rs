//! The clients of the host: who is attached, what each does, and what they are told.

use std::collections::BTreeMap;

use link::Duplex;
use proto::control::{self, Message, event};
use proto::frame::Outgoing;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tracing::{debug, warn};

use crate::connection::{self, ClientId, ClientNews};
use crate::responder::Responder;

/// Every connected client.
#[derive(Default)]
pub(crate) struct Clients {
    connected: BTreeMap<ClientId, Client>,
    /// Number of the last client that came.
    last: u64,
}

/// A client's connection.
struct Client {
    queue: mpsc::Sender<Outgoing>,
    connection: AbortHandle,
    /// As it calls itself, once it has attached.
    attached: Option<String>,
    scanning: bool,
    /// A person looks at it.
    in_front: bool,
    /// It has said whether somebody looks at it: it has a window.
    has_window: bool,
    /// Its person wants bots to answer unhurried.
    unhurried: bool,
}

impl Clients {
    /// Serves a connection as one of `tasks`. What the client asks goes to `tell`, and its end last, however it ends.
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

    /// Closes every connection, after what waits in its queue.
    pub(crate) fn close(&mut self) {
        self.connected.clear();
    }

    /// What the client is owed for its request; `None` once it has gone.
    pub(crate) fn responder(&self, id: ClientId, number: u64) -> Option<Responder> {
        let client = self.connected.get(&id)?;
        Some(Responder::new(&client.queue, client.connection.clone(), number))
    }

    /// From now on the client hears of every change. `name`: as it calls itself.
    pub(crate) fn attach(&mut self, id: ClientId, name: String) {
        if let Some(client) = self.connected.get_mut(&id) {
            client.attached = Some(name);
        }
    }

    pub(crate) fn is_attached(&self, id: ClientId) -> bool {
        self.connected.get(&id).is_some_and(|client| client.attached.is_some())
    }

    /// Whether a person looks at the client's window.
    pub(crate) fn set_front(&mut self, id: ClientId, on: bool) {
        if let Some(client) = self.connected.get_mut(&id) {
            (client.in_front, client.has_window) = (on, true);
        }
    }

    /// Whether the client's person wants bots to answer unhurried.
    pub(crate) fn set_unhurried(&mut self, id: ClientId, unhurried: bool) {
        if let Some(client) = self.connected.get_mut(&id) {
            client.unhurried = unhurried;
        }
    }

    pub(crate) fn anyone_unhurried(&self) -> bool {
        self.connected.values().any(|client| client.unhurried)
    }

    /// Whether the client shows who is near.
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

    /// Tells every client that has attached.
    pub(crate) fn tell(&mut self, body: event::Body) {
        let message = encode(body);
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

    /// Tells one client.
    pub(crate) fn tell_one(&mut self, id: ClientId, body: event::Body) {
        self.send(id, &encode(body));
    }

    fn send(&mut self, id: ClientId, message: &Outgoing) {
        let Some(client) = self.connected.get(&id) else { return };
        if client.queue.try_send(message.clone()).is_err() {
            warn!(client = client.name(), "a client does not read: it is dropped");
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

fn encode(body: event::Body) -> Outgoing {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let microseconds = now.tv_sec as u64 * 1_000_000 + now.tv_nsec as u64 / 1_000;
    connection::encode(&Message::Event(control::Event { body: Some(body), monotonic_us: microseconds }))
}

#[cfg(test)]
mod tests {
    use proto::control::{Notice, RefusalCode};

    use super::*;
    use crate::show::Refusal;

    fn notice() -> event::Body {
        event::Body::Notice(Notice::default())
    }

    /// Clients of which one is connected, the tasks that serve them, and what they say.
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
        clients.tell(notice());
        assert_eq!(waiting(&clients), 0);
        clients.attach(id, "a test".into());
        clients.tell(notice());
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
            clients.tell(notice());
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
            clients.tell(notice());
        }
        owed.refuse(Refusal::new(RefusalCode::RefusalBusy, "later"));
        drop(tasks.join_next().await);
        assert!(matches!(said.recv().await, Some(ClientNews::Gone)));
        clients.gone(id);
        assert!(clients.responder(id, 2).is_none());
        drop(far);
    }
}
