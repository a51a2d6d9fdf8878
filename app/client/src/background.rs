//! A connection on tasks of its own, for a caller that must not wait: a window's thread.

use proto::control::Request;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::stream::{self, FromHost, Lost, Messages, Requests};

/// The way to the host. Dropping it ends the connection.
#[derive(Clone, Debug)]
pub struct Client {
    requests: UnboundedSender<Request>,
}

impl Client {
    /// A connection of which the other end is in the caller's hand rather than behind a stream: what the app asks comes out
    /// of the first receiver, what is put into the sender is taken as said by the host. For tests and pictures.
    pub fn in_hand() -> (Self, UnboundedReceiver<FromHost>, HandOfHost) {
        let (requests, asked) = unbounded_channel();
        let (say, from_host) = unbounded_channel();
        (Self { requests }, from_host, HandOfHost { asked, say })
    }

    /// Puts a request on its way. A lost host drops it: `FromHost::Lost` says so once, for all of them.
    pub fn send(&self, request: Request) {
        self.requests.send(request).ok();
    }
}

/// The host's end of [`Client::in_hand`].
#[derive(Debug)]
pub struct HandOfHost {
    /// What the app has asked.
    pub asked: UnboundedReceiver<Request>,
    /// What the host says.
    pub say: UnboundedSender<FromHost>,
}

/// Speaks `proto::control` over the stream that `opening` gives, on tasks of the runtime that this is called in. What is
/// asked before the stream is there waits for it; an error is told as [`FromHost::Lost`].
///
/// Requests queue without a bound: they are made by touches, and the host answers each.
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

/// Ends with the caller, or with the stream: the reading side tells why.
async fn write(mut to_send: UnboundedReceiver<Request>, mut requests: Requests<impl AsyncWrite + Unpin>) {
    while let Some(request) = to_send.recv().await {
        if let Err(error) = requests.send(request).await {
            tracing::warn!(%error, "a request could not be sent");
            return;
        }
    }
}

/// Ends with the caller, or with the stream.
async fn read(mut messages: Messages<impl AsyncRead + Unpin>, arrived: &UnboundedSender<FromHost>) {
    loop {
        let said = messages.next().await;
        let is_last = matches!(said, FromHost::Lost(_));
        if arrived.send(said).is_err() || is_last {
            return;
        }
    }
}
