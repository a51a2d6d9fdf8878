//! A connection that runs on tasks of its own, for callers that must not block, such as a window's event loop.

use proto::control::Request;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::stream::{self, FromHost, Lost, Messages, Requests};

/// Sends requests to the host. Dropping it closes the connection.
#[derive(Clone, Debug)]
pub struct Client {
    requests: UnboundedSender<Request>,
}

impl Client {
    /// A connection without a stream, for tests and pictures: the returned receiver and [`HandOfHost`] are its two ends.
    /// Requests of the app appear in `HandOfHost::asked`; what is put into `HandOfHost::say` arrives as if sent by the host.
    pub fn in_hand() -> (Self, UnboundedReceiver<FromHost>, HandOfHost) {
        let (requests, asked) = unbounded_channel();
        let (say, from_host) = unbounded_channel();
        (Self { requests }, from_host, HandOfHost { asked, say })
    }

    /// Queues a request. Without a connection it is dropped; [`FromHost::Lost`] is delivered once for all dropped requests.
    pub fn send(&self, request: Request) {
        self.requests.send(request).ok();
    }
}

/// The host's end of [`Client::in_hand`], held by the test.
#[derive(Debug)]
pub struct HandOfHost {
    /// Requests sent by the app, oldest first.
    pub asked: UnboundedReceiver<Request>,
    /// Messages to deliver to the app.
    pub say: UnboundedSender<FromHost>,
}

/// Runs a `proto::control` connection over the stream that `opening` returns, on tasks of the current runtime. Requests sent
/// before the stream is open are queued; if opening fails, [`FromHost::Lost`] is delivered.
///
/// The request queue has no bound: requests come from touches, and the host answers each.
pub fn connect<S: AsyncRead + AsyncWrite + Send + 'static>(
    opening: impl Future<Output = Result<S, String>> + Send + 'static,
) -> (Client, UnboundedReceiver<FromHost>) {
    let (requests, to_send) = unbounded_channel::<Request>();
    let (arrived, from_host) = unbounded_channel();
    tokio::spawn(async move {
        match opening.await {
            Err(why) => drop(arrived.send(FromHost::Lost(Lost::Unreachable(why)))),
            Ok(stream) => {
                let (requests, messages) = stream::open(stream);
                tokio::spawn(write(to_send, requests));
                read(messages, &arrived).await;
            }
        }
    });
    (Client { requests }, from_host)
}

/// Ends when the [`Client`] is dropped or the stream fails; the reading task reports the error.
async fn write(mut to_send: UnboundedReceiver<Request>, mut requests: Requests<impl AsyncWrite + Unpin>) {
    while let Some(request) = to_send.recv().await {
        if let Err(error) = requests.send(request).await {
            tracing::warn!(%error, "a request could not be sent");
            return;
        }
    }
}

/// Ends when the receiver is dropped, or when the stream ends.
async fn read(mut messages: Messages<impl AsyncRead + Unpin>, arrived: &UnboundedSender<FromHost>) {
    loop {
        let said = messages.next().await;
        let is_last = matches!(said, FromHost::Lost(_));
        if arrived.send(said).is_err() || is_last {
            return;
        }
    }
}
