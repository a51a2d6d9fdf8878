//! One link to a peer: the handshake, frames of envelopes in and out, and the deadlines that the frames themselves have.

use std::collections::BTreeSet;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use link::frames::{FrameReader, FrameWriter, FramesError};
use link::identity::Identity;
use link::secure::{self, SecureError, SecureLink};
use link::{CarrierKind, Duplex};
use proto::EnvelopeError;
use proto::frame::{Arrival, FrameError, FrameLimit};
use proto::peer::{self, Envelope};
use session::Role;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, ReadHalf, WriteHalf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::time::timeout;

use crate::room::PlayerId;

/// Envelopes that wait for the carrier. A resume sends a few; more means that the carrier has stopped taking any.
const QUEUE: usize = 256;

/// A carrier that takes nothing for this long is dead. The session's own pings find out after 9 s.
const WRITE_DEADLINE: Duration = Duration::from_secs(10);

/// Time for the last words, so that the peer learns why.
const CLOSE_DEADLINE: Duration = Duration::from_secs(2);

/// Numbers of messages that are answered with Unsupported, each once a link; a peer of the far future has no more new ones.
const UNSUPPORTED: usize = 32;

/// Names a link while the host runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LinkId(pub(crate) u64);

/// What a link tells the actor.
pub(crate) enum LinkNews {
    /// The carrier is connected, and the handshake begins.
    Greeting,
    /// A secure link to this player stands.
    Up { key: PlayerId, handshake_hash: [u8; 32], ends: LinkEnds },
    /// The peer says something; nothing more is read until the permit is dropped.
    Said(Envelope, OwnedSemaphorePermit),
    /// It is over, or never was.
    Down(Down),
}

/// Why a link is over.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Down {
    /// The surroundings: the peer went away, the air was bad.
    #[error("{0}")]
    Lost(String),
    /// The peer broke a rule of the frames or of the records.
    #[error("{0}")]
    Misbehaved(String),
}

/// The actor's ends of a link.
pub(crate) struct LinkEnds {
    pub(crate) orders: mpsc::Sender<Order>,
    pub(crate) traffic: Arc<Traffic>,
}

/// What the actor tells a link.
pub(crate) enum Order {
    Send(Box<Envelope>),
    /// After what was sent before.
    Close,
}

/// What has passed over a link, and whether the peer may send long frames.
#[derive(Default)]
pub(crate) struct Traffic {
    pub(crate) bytes_sent: AtomicU64,
    pub(crate) bytes_received: AtomicU64,
    pub(crate) messages_sent: AtomicU32,
    pub(crate) messages_received: AtomicU32,
    /// Set once two people have compared strings, or had before.
    pub(crate) trusted: watch::Sender<bool>,
}

/// Runs a link from the handshake to its end.
pub(crate) async fn run(
    duplex: Box<dyn Duplex>,
    role: Role,
    kind: CarrierKind,
    identity: Arc<Identity>,
    tell: impl Fn(LinkNews) + Send + Sync,
) {
    tell(LinkNews::Greeting);
    let traffic = Arc::new(Traffic::default());
    let counted = Counted { inner: duplex, traffic: traffic.clone() };
    let shaken = match role {
        Role::Dialer => secure::dial(counted, &identity, kind).await,
        Role::Listener => secure::accept(counted, &identity, kind).await,
    };
    let link = match shaken {
        Ok(link) => link,
        Err(error) => return tell(LinkNews::Down(insecure(&error))),
    };
    let (key, handshake_hash) = (PlayerId(link.peer_key()), link.handshake_hash());
    let (orders, queue) = mpsc::channel(QUEUE);
    let unsupported = orders.downgrade();
    tell(LinkNews::Up { key, handshake_hash, ends: LinkEnds { orders, traffic: traffic.clone() } });
    let (reader, writer) = tokio::io::split(link);
    let down = tokio::select! {
        down = read(reader, &traffic, &unsupported, &tell) => down,
        down = write(writer, queue, &traffic) => down,
    };
    tell(LinkNews::Down(down));
}

async fn read(
    reader: ReadHalf<SecureLink<Counted>>,
    traffic: &Traffic,
    orders: &mpsc::WeakSender<Order>,
    tell: &impl Fn(LinkNews),
) -> Down {
    // One at a time, so that what an envelope changes (such as how long the next may be) holds for the next.
    let turn = Arc::new(Semaphore::new(1));
    let mut frames = FrameReader::new(reader, FrameLimit::Stranger);
    let mut trusted = traffic.trusted.subscribe();
    let mut refused = BTreeSet::new();
    loop {
        let Ok(permit) = turn.clone().acquire_owned().await else {
            return Down::Lost("the host has ended".into());
        };
        // The person here may be the last to say that the strings are the same, while this already waits for a frame.
        let next = loop {
            if *trusted.borrow_and_update() {
                frames.set_limit(FrameLimit::Peer);
            }
            tokio::select! {
                biased;
                Ok(()) = trusted.changed() => {}
                next = frames.next() => break next,
            }
        };
        let frame = match next {
            Ok(None) => return Down::Lost("the peer closed the link".into()),
            Ok(Some(Arrival::Next(frame))) => frame,
            // Over a stream that is reliable, only a peer that is out of order itself sends these.
            Ok(Some(Arrival::Old(_) | Arrival::Gap { .. })) => {
                return Down::Misbehaved("frames out of order".into());
            }
            Err(error) => return broken(&error),
        };
        traffic.messages_received.fetch_add(1, Ordering::Relaxed);
        match Envelope::decode(frame.msgid, &frame.payload) {
            Ok(envelope) => tell(LinkNews::Said(envelope, permit)),
            Err(EnvelopeError::UnknownMessage(msgid)) => {
                if refused.len() < UNSUPPORTED
                    && refused.insert(msgid)
                    && let Some(orders) = orders.upgrade()
                {
                    let answer = Box::new(Envelope::Unsupported(peer::Unsupported { msgid }));
                    // If the queue is full, the link is about to end anyway.
                    let _ = orders.try_send(Order::Send(answer));
                }
            }
            Err(error) => return Down::Misbehaved(error.to_string()),
        }
    }
}

async fn write(
    writer: WriteHalf<SecureLink<Counted>>,
    mut queue: mpsc::Receiver<Order>,
    traffic: &Traffic,
) -> Down {
    let mut frames = FrameWriter::new(writer, FrameLimit::Peer);
    while let Some(Order::Send(envelope)) = queue.recv().await {
        match timeout(WRITE_DEADLINE, frames.send(envelope.as_ref())).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return broken(&error),
            Err(_) => return Down::Lost("the carrier takes nothing more".into()),
        }
        traffic.messages_sent.fetch_add(1, Ordering::Relaxed);
    }
    frames.close(CLOSE_DEADLINE).await;
    Down::Lost("closed from here".into())
}

fn broken(error: &FramesError) -> Down {
    match error {
        FramesError::Frame(FrameError::Io(error)) => match SecureError::of(error) {
            Some(secure) => insecure(secure),
            None => Down::Lost(error.to_string()),
        },
        error if error.is_peers_fault() => Down::Misbehaved(error.to_string()),
        error => Down::Lost(error.to_string()),
    }
}

fn insecure(error: &SecureError) -> Down {
    match error {
        SecureError::TimedOut | SecureError::Truncated | SecureError::Io(_) => Down::Lost(error.to_string()),
        _ => Down::Misbehaved(error.to_string()),
    }
}

/// Counts what the carrier is given and gives.
struct Counted {
    inner: Box<dyn Duplex>,
    traffic: Arc<Traffic>,
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, into))?;
        let read = into.filled().len() - before;
        self.traffic.bytes_received.fetch_add(read as u64, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.inner).poll_write(context, bytes))?;
        self.traffic.bytes_sent.fetch_add(written as u64, Ordering::Relaxed);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
