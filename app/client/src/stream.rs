//! Frames over a byte stream to the host: requests in one direction, replies and events in the other.

use futures::{SinkExt, StreamExt};
use proto::control::{Attach, Event, Message, Reply, Request, request};
use proto::frame::{Arrival, FrameCodec, FrameError, FrameLimit, Outgoing};
use tokio::io::{AsyncRead, AsyncWrite, ReadHalf, WriteHalf};
use tokio_util::codec::{FramedRead, FramedWrite};

/// The version of `proto::control` that this crate speaks.
pub const VERSION: u32 = 1;

/// A message from the host, or the end of the stream.
#[derive(Debug)]
pub enum FromHost {
    /// A change of the state, or a part of the initial state.
    Event(Box<Event>),
    /// The answer to a request.
    Reply(Box<Reply>),
    /// The stream has ended. It is the last message.
    Lost(Lost),
}

/// Why the connection has ended.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// The stream could not be opened; the text is the cause, for the log.
    #[error("{0}")]
    Unreachable(String),
    /// The host has stopped, or has dropped this client.
    #[error("the host closed the connection")]
    Closed,
    /// The stream failed, or contains no valid frames.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A sequence number was skipped.
    #[error("message {due} is missing")]
    Missing {
        /// The first sequence number that is missing.
        due: u32,
    },
    /// A request was received: the other end is not a host.
    #[error("the host sent a request")]
    Request,
}

/// The first request of every connection. `client`: program and version, for the host's log.
pub fn attach(client: &str) -> request::Body {
    request::Body::Attach(Attach { client: client.to_owned(), version: VERSION })
}

/// Both directions of a stream to a host.
pub fn open<S: AsyncRead + AsyncWrite>(stream: S) -> (Requests<WriteHalf<S>>, Messages<ReadHalf<S>>) {
    let (reading, writing) = tokio::io::split(stream);
    let codec = || FrameCodec::new(FrameLimit::Local);
    let requests = Requests { frames: FramedWrite::new(writing, codec()) };
    (requests, Messages { frames: FramedRead::new(reading, codec()) })
}

/// The direction to the host.
#[derive(Debug)]
pub struct Requests<W> {
    frames: FramedWrite<W, FrameCodec>,
}

impl<W: AsyncWrite + Unpin> Requests<W> {
    /// Writes a request. The caller chooses its id, unique on the connection.
    pub async fn send(&mut self, request: Request) -> Result<(), FrameError> {
        self.frames.send(Outgoing::from(&Message::Request(request))).await
    }
}

/// The direction from the host.
#[derive(Debug)]
pub struct Messages<R> {
    frames: FramedRead<R, FrameCodec>,
}

impl<R: AsyncRead + Unpin> Messages<R> {
    /// The next event or reply. Messages of unknown kinds, from a newer host, are skipped. Cancel safe: dropping the future
    /// loses nothing.
    pub async fn next(&mut self) -> FromHost {
        loop {
            let frame = match self.frames.next().await {
                None => return FromHost::Lost(Lost::Closed),
                Some(Err(error)) => return FromHost::Lost(error.into()),
                Some(Ok(Arrival::Next(frame))) => frame,
                Some(Ok(Arrival::Old(_))) => continue,
                Some(Ok(Arrival::Gap { due, .. })) => return FromHost::Lost(Lost::Missing { due }),
            };
            match Message::decode(frame.msgid, &frame.payload) {
                Ok(Message::Event(event)) => return FromHost::Event(Box::new(event)),
                Ok(Message::Reply(reply)) => return FromHost::Reply(Box::new(reply)),
                Ok(Message::Request(_)) => return FromHost::Lost(Lost::Request),
                Err(error) => tracing::warn!(%error, "a message of the host was left out"),
            }
        }
    }
}
