//! The byte stream to the host: requests out, replies and events in.

use futures::{SinkExt, StreamExt};
use proto::control::{Event, Message, Reply, Request};
use proto::frame::{Arrival, FrameCodec, FrameLimit, Outgoing};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::codec::{FramedRead, FramedWrite};

/// What comes from the host.
#[derive(Debug)]
pub enum FromHost {
    /// A change, or a part of the present state.
    Event(Box<Event>),
    /// The answer to a request.
    Reply(Box<Reply>),
    /// The stream has ended; why, for the log. Nothing comes after it.
    Lost(String),
}

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
        let why = match opening.await {
            Err(why) => why,
            Ok(stream) => {
                let (reading, writing) = tokio::io::split(stream);
                tokio::spawn(write(to_send, writing));
                match read(reading, &arrived).await {
                    Some(why) => why,
                    None => return,
                }
            }
        };
        arrived.send(FromHost::Lost(why)).ok();
    });
    (Client { requests }, from_host)
}

/// Ends with the app, or with the stream: the reading side tells why.
async fn write(mut to_send: UnboundedReceiver<Request>, writing: impl AsyncWrite + Unpin) {
    let mut frames = FramedWrite::new(writing, FrameCodec::new(FrameLimit::Local));
    while let Some(request) = to_send.recv().await {
        let message = Message::Request(request);
        if let Err(error) = frames.send(Outgoing::from(&message)).await {
            tracing::warn!(%error, "a request could not be sent");
            return;
        }
    }
}

/// Why the stream has ended; `None` when the app has.
async fn read(reading: impl AsyncRead + Unpin, arrived: &UnboundedSender<FromHost>) -> Option<String> {
    let mut frames = FramedRead::new(reading, FrameCodec::new(FrameLimit::Local));
    loop {
        let frame = match frames.next().await {
            None => return Some("the host closed the connection".into()),
            Some(Err(error)) => return Some(error.to_string()),
            Some(Ok(Arrival::Next(frame))) => frame,
            Some(Ok(Arrival::Old(_))) => continue,
            Some(Ok(Arrival::Gap { due, .. })) => return Some(format!("message {due} is missing")),
        };
        let said = match Message::decode(frame.msgid, &frame.payload) {
            Ok(Message::Event(event)) => FromHost::Event(Box::new(event)),
            Ok(Message::Reply(reply)) => FromHost::Reply(Box::new(reply)),
            Ok(Message::Request(_)) => return Some("the host sent a request".into()),
            // A newer host may say more than we know.
            Err(error) => {
                tracing::warn!(%error, "a message of the host was left out");
                continue;
            }
        };
        if arrived.send(said).is_err() {
            return None;
        }
    }
}
