//! The reply to one request of a client, which is given exactly once.

pub(crate) use proto::control::reply::Body as Answer;
use proto::control::{self, Message, RefusalCode, event};
use proto::frame::Outgoing;
use session::MatchId;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tracing::{debug, warn};

use crate::clients;
use crate::connection::{self, ClientId};
use crate::refusal::Refusal;

/// An outstanding reply. Can be sent to another thread or task.
///
/// Dropping it unanswered refuses the request, so that no client waits forever: when a room closes while a move is verified,
/// a thread panics, or a code path forgets to reply.
#[must_use = "the client waits for its answer"]
pub(crate) struct Responder {
    /// Weak, so that an outstanding reply does not keep a connection open.
    queue: mpsc::WeakSender<Outgoing>,
    connection: AbortHandle,
    pub(crate) client: ClientId,
    /// Id of the request.
    number: u64,
    answered: bool,
}

impl Responder {
    /// A responder for the request with this id, which replies through the client's queue.
    pub(crate) fn new(
        queue: &mpsc::Sender<Outgoing>,
        connection: AbortHandle,
        client: ClientId,
        number: u64,
    ) -> Self {
        Self { queue: queue.downgrade(), connection, client, number, answered: false }
    }

    /// Replies with success.
    pub(crate) fn done(mut self, body: Answer) {
        self.send(body);
    }

    /// Replies with a refusal.
    pub(crate) fn refuse(mut self, refusal: Refusal) {
        debug!(code = ?refusal.code, detail = refusal.detail, "refused");
        self.send(Answer::Refusal(refusal.into_wire()));
    }

    /// Replies with either.
    pub(crate) fn answer(self, result: Result<Answer, Refusal>) {
        match result {
            Ok(body) => self.done(body),
            Err(refusal) => self.refuse(refusal),
        }
    }

    /// Sends an event to the client while it waits. Dropped when the client does not read: the reply matters.
    pub(crate) fn teller(&self) -> impl Fn(event::Body) + Send + Sync + 'static {
        let queue = self.queue.clone();
        move |body| {
            if let Some(queue) = queue.upgrade() {
                let _ = queue.try_send(clients::encode(body, false));
            }
        }
    }

    fn send(&mut self, body: Answer) {
        self.answered = true;
        // Without a queue the client has disconnected.
        let Some(queue) = self.queue.upgrade() else { return };
        let reply = control::Reply { id: self.number, body: Some(body) };
        if queue.try_send(connection::encode(&Message::Reply(reply))).is_err() {
            warn!("a client does not read: it is dropped");
            self.connection.abort();
        }
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        if !self.answered {
            let refusal = Refusal::new(RefusalCode::RefusalBusy, "this was not answered: ask again");
            self.send(Answer::Refusal(refusal.into_wire()));
        }
    }
}

/// Success without further data.
pub(crate) fn done() -> Answer {
    Answer::Done(control::Done {})
}

/// Success, with the id of a room.
pub(crate) fn in_room(id: MatchId) -> Answer {
    Answer::RoomId(id.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A responder, its queue, and the receiver of its reply.
    fn responder() -> (Responder, mpsc::Sender<Outgoing>, mpsc::Receiver<Outgoing>) {
        let (queue, sent) = mpsc::channel(4);
        let connection = tokio::spawn(std::future::pending::<()>()).abort_handle();
        (Responder::new(&queue, connection, ClientId(1), 7), queue, sent)
    }

    fn reply(outgoing: &Outgoing) -> control::Reply {
        match Message::decode(outgoing.msgid, &outgoing.payload) {
            Ok(Message::Reply(reply)) => reply,
            other => panic!("no reply: {other:?}"),
        }
    }

    #[tokio::test]
    async fn a_request_is_answered_once_with_its_number() {
        let (responder, _queue, mut sent) = responder();
        responder.done(done());
        let answer = reply(&sent.try_recv().expect("an answer"));
        assert_eq!((answer.id, answer.body), (7, Some(done())));
        assert!(sent.try_recv().is_err(), "one answer");
    }

    #[tokio::test]
    async fn a_request_that_everybody_forgets_is_refused() {
        let (responder, _queue, mut sent) = responder();
        drop(responder);
        let answer = reply(&sent.try_recv().expect("an answer"));
        assert_eq!(answer.id, 7);
        assert!(
            matches!(answer.body, Some(Answer::Refusal(refusal)) if refusal.code() == RefusalCode::RefusalBusy)
        );
        assert!(sent.try_recv().is_err(), "one answer");
    }

    #[tokio::test]
    async fn an_answer_to_a_client_that_has_gone_is_no_trouble() {
        let (responder, queue, sent) = responder();
        drop((queue, sent));
        responder.done(done());
    }
}
