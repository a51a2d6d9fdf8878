//! Reads and writes whole frames on a byte stream, and enforces a peer's limits: a frame must be completed in time, and the
//! rate of frames is bounded.
//!
//! Reader and writer are separate, so that a peer that does not read cannot block this side's reading: split the link with
//! [`tokio::io::split`], after taking its key and handshake hash.

use std::io;
use std::time::Duration;

use bytes::BytesMut;
use proto::frame::{Arrival, FrameCodec, FrameError, FrameLimit, Outgoing, VERSION};
use proto::pace::{RateLimit, TooFast, frame_deadline};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::Instant;
use tokio_util::codec::{Decoder, Encoder};

use crate::Outdated;

/// Why a link's frames ended. The link is to be dropped; only if [`is_peers_fault`](Self::is_peers_fault) is the user told
/// about the peer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FramesError {
    /// Invalid or truncated frame, or a failure of the carrier.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A frame was slower than the slowest carrier: [`frame_deadline`].
    #[error("a frame came too slowly")]
    TooSlow,
    /// The peer exceeded the rate limit.
    #[error(transparent)]
    TooFast(#[from] TooFast),
}

impl FramesError {
    /// Whether the peer broke the protocol, as opposed to a bad link or an error of this side.
    pub fn is_peers_fault(&self) -> bool {
        match self {
            Self::TooFast(_) => true,
            // A bad radio link looks the same.
            Self::TooSlow => false,
            Self::Frame(error) => match error {
                FrameError::BadMagic | FrameError::BadLength { .. } | FrameError::BadSeqnum(_) => true,
                // Another version is told by [`outdated`](Self::outdated).
                FrameError::BadVersion(_)
                | FrameError::Truncated { .. }
                | FrameError::TooLong { .. }
                | FrameError::Exhausted
                | FrameError::Io(_) => false,
            },
        }
    }
}

impl FramesError {
    /// Which device has to be updated, if the peer's frames are of another version.
    pub fn outdated(&self) -> Option<Outdated> {
        match self {
            Self::Frame(FrameError::BadVersion(theirs)) => Some(Outdated::of(*theirs, VERSION)),
            _ => None,
        }
    }
}

impl From<io::Error> for FramesError {
    fn from(error: io::Error) -> Self {
        Self::Frame(FrameError::Io(error))
    }
}

/// Bytes read at once: a Bluetooth fragment, or a few small frames. The buffer grows with the received bytes, never with the
/// length in a header.
const READ: usize = 512;

/// Reads a peer's frames.
#[derive(Debug)]
pub struct FrameReader<R> {
    from: R,
    codec: FrameCodec,
    buffer: BytesMut,
    rate: RateLimit,
    /// Time zero of the rate limit.
    since: Instant,
    /// When the first byte of the frame in the buffer arrived.
    begun: Option<Instant>,
    received: u64,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// A reader for a fresh link.
    pub fn new(from: R, limit: FrameLimit) -> Self {
        Self {
            from,
            codec: FrameCodec::new(limit),
            buffer: BytesMut::new(),
            rate: RateLimit::default(),
            since: Instant::now(),
            begun: None,
            received: 0,
        }
    }

    /// Sets the limit from now on; called once the peer is authenticated.
    pub fn set_limit(&mut self, limit: FrameLimit) {
        self.codec.set_limit(limit);
    }

    /// Bytes of complete and incomplete frames so far, headers included.
    pub fn bytes_received(&self) -> u64 {
        self.received
    }

    /// The next frame; `None` when the peer has ended the stream between two frames. Cancel-safe. An error is final.
    pub async fn next(&mut self) -> Result<Option<Arrival>, FramesError> {
        loop {
            if let Some(arrival) = self.codec.decode(&mut self.buffer)? {
                self.rate.count(self.since.elapsed())?;
                self.begun = None;
                return Ok(Some(arrival));
            }
            let (within_frame, received) = (!self.buffer.is_empty(), self.buffer.len());
            self.buffer.reserve(READ);
            let read = self.from.read_buf(&mut self.buffer);
            let count = if within_frame {
                let begun = *self.begun.get_or_insert_with(Instant::now);
                let deadline = begun + frame_deadline(received);
                tokio::time::timeout_at(deadline, read).await.map_err(|_| FramesError::TooSlow)??
            } else {
                read.await?
            };
            if count == 0 {
                return Ok(self.codec.decode_eof(&mut self.buffer)?);
            }
            self.received += count as u64;
        }
    }
}

/// Writes frames to a peer.
#[derive(Debug)]
pub struct FrameWriter<W> {
    to: W,
    codec: FrameCodec,
    buffer: BytesMut,
    sent: u64,
}

impl<W: AsyncWrite + Unpin> FrameWriter<W> {
    /// A writer for a fresh link.
    pub fn new(to: W, limit: FrameLimit) -> Self {
        Self { to, codec: FrameCodec::new(limit), buffer: BytesMut::new(), sent: 0 }
    }

    /// Sets the limit from now on.
    pub fn set_limit(&mut self, limit: FrameLimit) {
        self.codec.set_limit(limit);
    }

    /// Bytes of frames so far, headers included.
    pub fn bytes_sent(&self) -> u64 {
        self.sent
    }

    /// Sends one message and flushes, so that the message leaves as one record. Not cancel-safe: dropped midway, it leaves
    /// half a frame, and the link is unusable.
    pub async fn send(&mut self, message: impl Into<Outgoing>) -> Result<(), FramesError> {
        self.codec.encode(message.into(), &mut self.buffer)?;
        self.sent += self.buffer.len() as u64;
        self.to.write_all_buf(&mut self.buffer).await?;
        self.to.flush().await?;
        Ok(())
    }

    /// Ends the stream after the sent frames. Waits for the carrier at most `patience`: the peer may have stopped reading.
    pub async fn close(mut self, patience: Duration) {
        // The link is dropped next, whatever the result.
        let _ = tokio::time::timeout(patience, self.to.shutdown()).await;
    }
}

#[cfg(test)]
mod tests {
    use proto::frame::HEADER_BYTES;
    use proto::pace::{BURST, FRAME_GRACE};
    use proto::peer::{Envelope, Ping};

    use super::*;
    use crate::memory::{self, MemoryLink};

    fn reader(link: MemoryLink) -> FrameReader<MemoryLink> {
        FrameReader::new(link, FrameLimit::Peer)
    }

    fn ping(token: u64) -> Envelope {
        Ping { token }.into()
    }

    async fn next_envelope(reader: &mut FrameReader<MemoryLink>) -> Envelope {
        match reader.next().await.expect("a frame") {
            Some(Arrival::Next(frame)) => Envelope::decode(frame.msgid, &frame.payload).expect("a message"),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn messages_come_in_order_and_their_bytes_are_counted() {
        let (here, there) = memory::pair();
        let (mut writer, mut reader) = (FrameWriter::new(here, FrameLimit::Peer), reader(there));
        for token in 0..50 {
            writer.send(&ping(token)).await.expect("sent");
        }
        for token in 0..50 {
            assert_eq!(next_envelope(&mut reader).await, ping(token));
        }
        assert_eq!(writer.bytes_sent(), reader.bytes_received());
        assert!(writer.bytes_sent() > 50 * 20);
        writer.close(Duration::from_secs(1)).await;
        assert!(reader.next().await.expect("a clean end").is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_link_may_be_quiet_for_as_long_as_it_likes_between_frames() {
        let (here, there) = memory::pair();
        let (mut writer, mut reader) = (FrameWriter::new(here, FrameLimit::Peer), reader(there));
        for token in 0..3 {
            writer.send(&ping(token)).await.expect("sent");
            assert_eq!(next_envelope(&mut reader).await, ping(token));
            let quiet = tokio::time::timeout(Duration::from_hours(1), reader.next()).await;
            assert!(quiet.is_err(), "nothing came and nothing failed");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_frame_that_dribbles_is_given_up_and_nobody_is_accused() {
        let (mut here, there) = memory::pair();
        let mut reader = reader(there);
        let mut wire = BytesMut::new();
        FrameCodec::new(FrameLimit::Peer).encode((&ping(1)).into(), &mut wire).expect("fits");
        let begun = Instant::now();
        let dribble = async {
            for byte in wire {
                tokio::time::sleep(Duration::from_millis(400)).await;
                if here.write_all(&[byte]).await.is_err() {
                    break;
                }
            }
        };
        let read = async {
            // Repeated calls must not restart the five seconds.
            loop {
                if let Ok(result) = tokio::time::timeout(Duration::from_millis(300), reader.next()).await {
                    break (result, begun.elapsed());
                }
            }
        };
        let ((), (result, after)) = tokio::join!(dribble, read);
        let error = result.expect_err("too slow");
        assert!(matches!(error, FramesError::TooSlow) && !error.is_peers_fault(), "{error}");
        assert!(after > FRAME_GRACE && after < FRAME_GRACE + Duration::from_secs(1), "{after:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn the_longest_frame_arrives_over_the_slowest_radio() {
        // Nine bytes in each connection interval of 100 ms; records of the secure link arrive whole.
        for at_once in [9, 512, 4_096] {
            let (mut here, there) = memory::pair();
            let mut reader = reader(there);
            let payload = vec![7; FrameLimit::Peer.bytes() - HEADER_BYTES].into();
            let mut wire = BytesMut::new();
            FrameCodec::new(FrameLimit::Peer)
                .encode(Outgoing { msgid: 1, payload }, &mut wire)
                .expect("the longest that fits");
            let length = wire.len();
            let write = async {
                for part in wire.chunks(at_once) {
                    tokio::time::sleep(Duration::from_millis(100) * part.len() as u32 / 9).await;
                    here.write_all(part).await.expect("it is read");
                }
                here
            };
            let (_here, read) = tokio::join!(write, reader.next());
            assert!(
                matches!(read, Ok(Some(Arrival::Next(frame))) if frame.payload.len() + HEADER_BYTES == length)
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_is_refused() {
        let (here, there) = memory::pair();
        let (mut writer, mut reader) = (FrameWriter::new(here, FrameLimit::Peer), reader(there));
        for token in 0..=u64::from(BURST) {
            writer.send(&ping(token)).await.expect("sent");
        }
        for token in 0..u64::from(BURST) {
            assert_eq!(next_envelope(&mut reader).await, ping(token));
        }
        let error = reader.next().await.expect_err("one too many");
        assert!(matches!(error, FramesError::TooFast(_)) && error.is_peers_fault());
    }

    #[tokio::test(start_paused = true)]
    async fn fifty_frames_a_second_are_welcome() {
        let (here, there) = memory::pair();
        let (mut writer, mut reader) = (FrameWriter::new(here, FrameLimit::Peer), reader(there));
        for token in 0..500 {
            writer.send(&ping(token)).await.expect("sent");
            assert_eq!(next_envelope(&mut reader).await, ping(token));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn rubbish_is_the_peers_fault_and_a_cut_is_not() {
        let (mut here, there) = memory::pair();
        here.write_all(b"GET / HTTP/1.1").await.expect("written");
        let error = reader(there).next().await.expect_err("not a frame");
        assert!(matches!(error, FramesError::Frame(FrameError::BadMagic)) && error.is_peers_fault());

        for (version, outdated) in [(0, Outdated::There), (2, Outdated::Here)] {
            let (here, there) = memory::pair();
            let mut bytes = Vec::new();
            FrameWriter::new(&mut bytes, FrameLimit::Peer).send(&ping(1)).await.expect("written");
            bytes[16..20].copy_from_slice(&u32::to_be_bytes(version));
            let mut here = here;
            here.write_all(&bytes).await.expect("written");
            let error = reader(there).next().await.expect_err("another version");
            assert_eq!((error.outdated(), error.is_peers_fault()), (Some(outdated), false), "{error}");
        }

        let network = memory::MemoryNetwork::new(1);
        let (_here, there) = network.pair("anna", "ben");
        network.cut("anna", "ben");
        let error = reader(there).next().await.expect_err("cut");
        assert!(!error.is_peers_fault());

        let (mut here, there) = memory::pair();
        here.write_all(&proto::frame::MAGIC.to_be_bytes()).await.expect("written");
        drop(here);
        let error = reader(there).next().await.expect_err("ended within a frame");
        assert!(
            matches!(error, FramesError::Frame(FrameError::Truncated { have: 4 })) && !error.is_peers_fault()
        );
    }
}
