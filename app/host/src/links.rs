//! A link to a peer: the handshake, frames of envelopes in both directions, and the timeouts of the frame layer.

use std::collections::BTreeSet;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use link::frames::{FrameReader, FrameWriter, FramesError};
use link::identity::Identity;
use link::secure::{self, AcceptedPeers, ExpectedPeer, SecureError, SecureLink};
use link::{CarrierKind, Duplex, Outdated};
use proto::EnvelopeError;
use proto::frame::{Arrival, FrameError, FrameLimit};
use proto::peer::{self, Envelope};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, ReadHalf, WriteHalf};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::time::{sleep, timeout};

use crate::room::PlayerId;

/// Maximum number of envelopes queued for the carrier. A resume sends a few; a full queue means that the carrier has
/// stalled.
const QUEUE: usize = 256;

/// A carrier that accepts no bytes for this time is dead. The session's own pings need 9 s to detect it.
const WRITE_DEADLINE: Duration = Duration::from_secs(10);

/// A message that has been arriving for this time is reported before it is complete. Well below the 9 s of silence after
/// which the session closes the link.
const UNDERWAY: Duration = Duration::from_secs(2);

/// Time limit for sending the goodbye.
const CLOSE_DEADLINE: Duration = Duration::from_secs(2);

/// Maximum number of different unknown message ids that are answered with Unsupported per link.
const UNSUPPORTED: usize = 32;

/// Identifies a link while the host runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LinkId(pub(crate) u64);

/// A message from a link to the actor.
pub(crate) enum LinkNews {
    /// The carrier is connected, and the handshake begins.
    Greeting,
    /// The handshake has succeeded with this player.
    Up { key: PlayerId, handshake_hash: [u8; 32], ends: LinkEnds },
    /// An envelope from the peer; nothing more is read until the permit is dropped.
    Received(Box<Envelope>, OwnedSemaphorePermit),
    /// A long message from the peer is arriving.
    Underway,
    /// The link has ended, or could not be established.
    Down(Down),
}

/// Why a link ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Down {
    /// By the carrier or the peer's absence.
    #[error("{0}")]
    Lost(String),
    /// The devices have no common version of some layer.
    #[error(transparent)]
    Outdated(Outdated),
    /// The peer violated the frame or record format.
    #[error("{0}")]
    Misbehaved(String),
}

/// The actor's handle of a link.
pub(crate) struct LinkEnds {
    pub(crate) orders: mpsc::Sender<Order>,
    pub(crate) traffic: Arc<Traffic>,
}

/// An order from the actor to a link.
pub(crate) enum Order {
    Send(Box<Envelope>),
    /// Close the link after everything queued.
    Close,
}

/// Statistics of a link, and whether the peer may send long frames.
#[derive(Default)]
pub(crate) struct Traffic {
    pub(crate) bytes_sent: AtomicU64,
    pub(crate) bytes_received: AtomicU64,
    pub(crate) messages_sent: AtomicU32,
    pub(crate) messages_received: AtomicU32,
    /// Notified when bytes arrive from the carrier.
    arrived: Notify,
    /// True once the short strings were compared, now or at an earlier meeting.
    pub(crate) trusted: watch::Sender<bool>,
}

impl Traffic {
    /// Waits until a message has been arriving for [`UNDERWAY`], and bytes still arrive.
    async fn underway(&self) {
        let received = || self.bytes_received.load(Ordering::Relaxed);
        let mut before = received();
        loop {
            while received() == before {
                self.arrived.notified().await;
            }
            before = received();
            sleep(UNDERWAY).await;
            if received() > before {
                return;
            }
        }
    }
}

/// The role in the handshake, and the peer if it is known.
pub(crate) enum HandshakeRole {
    Dialer(ExpectedPeer),
    Listener(AcceptedPeers),
}

/// Runs a link from the handshake to its end.
pub(crate) async fn run(
    duplex: Box<dyn Duplex>,
    role: HandshakeRole,
    kind: CarrierKind,
    identity: Arc<Identity>,
    tell: impl Fn(LinkNews) + Send + Sync,
) {
    tell(LinkNews::Greeting);
    let traffic = Arc::new(Traffic::default());
    let counted = Counted { inner: duplex, traffic: traffic.clone() };
    let handshake = match role {
        HandshakeRole::Dialer(expected) => secure::dial(counted, &identity, kind, expected).await,
        HandshakeRole::Listener(accepted) => secure::accept(counted, &identity, kind, &accepted).await,
    };
    let link = match handshake {
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
    // One envelope at a time, because an envelope can change how the next is read, such as its maximum length.
    let turn = Arc::new(Semaphore::new(1));
    let mut frames = FrameReader::new(reader, FrameLimit::Stranger);
    let mut trusted = traffic.trusted.subscribe();
    let mut refused = BTreeSet::new();
    loop {
        let Ok(permit) = turn.clone().acquire_owned().await else {
            return Down::Lost("the host has ended".into());
        };
        // `trusted` may change while this waits for a frame, when the user confirms the short string.
        let next = loop {
            if *trusted.borrow_and_update() {
                frames.set_limit(FrameLimit::Peer);
            }
            tokio::select! {
                biased;
                Ok(()) = trusted.changed() => {}
                next = frames.next() => break next,
                () = traffic.underway() => tell(LinkNews::Underway),
            }
        };
        let frame = match next {
            Ok(None) => return Down::Lost("the peer closed the link".into()),
            Ok(Some(Arrival::Next(frame))) => frame,
            // Over a reliable stream only a faulty peer causes these.
            Ok(Some(Arrival::Old(_) | Arrival::Gap { .. })) => {
                return Down::Misbehaved("frames out of order".into());
            }
            Err(error) => return broken(&error),
        };
        traffic.messages_received.fetch_add(1, Ordering::Relaxed);
        match Envelope::decode(frame.msgid, &frame.payload) {
            Ok(envelope) => tell(LinkNews::Received(Box::new(envelope), permit)),
            Err(EnvelopeError::UnknownMessage(msgid)) => {
                if refused.len() < UNSUPPORTED
                    && refused.insert(msgid)
                    && let Some(orders) = orders.upgrade()
                {
                    let answer = Box::new(Envelope::Unsupported(peer::Unsupported { msgid }));
                    // If the queue is full, the link is about to end.
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
        let mut send = pin!(frames.send(envelope.as_ref()));
        loop {
            let before = traffic.bytes_sent.load(Ordering::Relaxed);
            match timeout(WRITE_DEADLINE, send.as_mut()).await {
                Ok(Ok(())) => break,
                Ok(Err(error)) => return broken(&error),
                // A long message over a slow carrier makes progress.
                Err(_) if traffic.bytes_sent.load(Ordering::Relaxed) > before => {}
                Err(_) => return Down::Lost("the carrier takes nothing more".into()),
            }
        }
        traffic.messages_sent.fetch_add(1, Ordering::Relaxed);
    }
    frames.close(CLOSE_DEADLINE).await;
    Down::Lost("closed from here".into())
}

fn broken(error: &FramesError) -> Down {
    if let Some(outdated) = error.outdated() {
        return Down::Outdated(outdated);
    }
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
    if let Some(outdated) = error.outdated() {
        return Down::Outdated(outdated);
    }
    match error {
        SecureError::TimedOut | SecureError::Truncated | SecureError::Refused | SecureError::Io(_) => {
            Down::Lost(error.to_string())
        }
        _ => Down::Misbehaved(error.to_string()),
    }
}

/// Counts the bytes in both directions.
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
        self.traffic.arrived.notify_one();
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use link::frames::FrameWriter;
    use link::memory;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// The link's reports while the peer sends a record of 2 KB over a carrier with this many bytes per 100 ms.
    async fn told(bytes: usize) -> Vec<&'static str> {
        let (far, near) = memory::pair();
        let (here, there) = memory::pair();
        let identity = || Arc::new(Identity::generate().expect("randomness"));
        let news = Arc::new(Mutex::new(Vec::new()));
        let tell = {
            let news = news.clone();
            move |one: LinkNews| {
                news.lock().expect("no panic").push(match one {
                    LinkNews::Greeting => "greeting",
                    LinkNews::Up { ends, .. } => {
                        ends.traffic.trusted.send_replace(true);
                        // Keeps the link open.
                        std::mem::forget(ends.orders);
                        "up"
                    }
                    LinkNews::Received(..) => "said",
                    LinkNews::Underway => "underway",
                    LinkNews::Down(Down::Lost(_)) => "down",
                    LinkNews::Down(Down::Outdated(_)) => "outdated",
                    LinkNews::Down(Down::Misbehaved(what)) => panic!("{what}"),
                });
            }
        };
        let run = tokio::spawn(run(
            Box::new(there),
            HandshakeRole::Listener(AcceptedPeers::all()),
            CarrierKind::Memory,
            identity(),
            tell,
        ));
        let sending = async {
            let link = secure::dial(far, &identity(), CarrierKind::Memory, ExpectedPeer::Anybody)
                .await
                .expect("greeted");
            let mut frames = FrameWriter::new(link, FrameLimit::Peer);
            let match_id = vec![1; proto::limits::ID_BYTES].into();
            let long = peer::Record { match_id, actions: vec![1; 2_000].into(), ..peer::Record::default() };
            frames.send(&Envelope::from(long)).await.expect("sent");
            frames
        };
        let carry = async {
            let (mut from, mut to) = tokio::io::split(near);
            let (mut back, mut on) = tokio::io::split(here);
            let slowly = async {
                let mut part = vec![0; bytes];
                while let Ok(count) = from.read(&mut part).await {
                    if count == 0 || on.write_all(&part[..count]).await.is_err() {
                        break;
                    }
                    sleep(Duration::from_millis(100)).await;
                }
            };
            tokio::select! {
                () = slowly => {}
                _ = tokio::io::copy(&mut back, &mut to) => {}
            }
            let _ = on.shutdown().await;
        };
        let both = async {
            let frames = sending.await;
            sleep(Duration::from_mins(1)).await;
            drop(frames);
        };
        let _ = tokio::join!(both, carry);
        let _ = run.await;
        std::mem::take(&mut *news.lock().expect("no panic"))
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_message_is_told_of_while_it_comes_and_a_short_one_is_not() {
        assert_eq!(told(4_096).await, ["greeting", "up", "said", "down"]);
        let slow = told(9).await;
        let underway = slow.iter().filter(|one| **one == "underway").count();
        // 22 s at 9 bytes per 100 ms: reported often enough for a session that closes the link after 9 s of silence.
        assert!((5..=12).contains(&underway), "{slow:?}");
        assert_eq!(slow[slow.len() - 2..], ["said", "down"]);
    }
}
