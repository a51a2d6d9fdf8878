//! The answer to one request of a client: given exactly once, whoever gives it and whenever.

pub(crate) use proto::control::reply::Body as Answer;
use proto::control::{self, Message, RefusalCode};
use proto::frame::Outgoing;
use session::MatchId;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tracing::{debug, warn};

use crate::connection;
use crate::show::Refusal;

/// Owed to a client that has asked for something. It can be sent to a thread or a task that takes its time.
///
/// Dropping it unanswered refuses the request, so that no client waits for ever: a room that closes while a move is judged,
/// a thread that panics, a path that was forgotten.
#[must_use = "the client waits for its answer"]
pub(crate) struct Responder {
    /// Weak: an answer that is still owed does not keep a connection open.
    queue: mpsc::WeakSender<Outgoing>,
    connection: AbortHandle,
    /// Number of the request.
    number: u64,
    answered: bool,
}

impl Responder {
    /// For the request with this number, to be answered into the client's queue.
    pub(crate) fn new(queue: &mpsc::Sender<Outgoing>, connection: AbortHandle, number: u64) -> Self {
        Self { queue: queue.downgrade(), connection, number, answered: false }
    }

    /// Done, with this answer.
    pub(crate) fn done(mut self, body: Answer) {
        self.send(body);
    }

    /// Not done.
    pub(crate) fn refuse(mut self, refusal: Refusal) {
        debug!(code = ?refusal.code, detail = refusal.detail, "refused");
        self.send(Answer::Refusal(refusal.into_wire()));
    }

    /// Done or not.
    pub(crate) fn answer(self, result: Result<Answer, Refusal>) {
        match result {
            Ok(body) => self.done(body),
            Err(refusal) => self.refuse(refusal),
        }
    }

    fn send(&mut self, body: Answer) {
        self.answered = true;
        // Without a queue the client has gone, and nobody waits.
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

/// Done, and there is nothing more to say.
pub(crate) fn done() -> Answer {
    Answer::Done(control::Done {})
}

/// Done: it is in this room.
pub(crate) fn in_room(id: MatchId) -> Answer {
    Answer::RoomId(id.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A responder, and what it sends.
    fn responder() -> (Responder, mpsc::Sender<Outgoing>, mpsc::Receiver<Outgoing>) {
        let (queue, sent) = mpsc::channel(4);
        let connection = tokio::spawn(std::future::pending::<()>()).abort_handle();
        (Responder::new(&queue, connection, 7), queue, sent)
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
