//! Noise records around a carrier: a man in the middle cannot read, change, replay or drop a byte unnoticed, and each side
//! authenticates the other's static key.
//!
//! A handshake that reveals this device to friends, and to strangers only while a person allows it (see [`handshake`]); then
//! records: two bytes of length, big-endian, and that many bytes of ciphertext. The prologue (data that both sides hash into the
//! handshake) names protocol, version, carrier, roles and a nonce of the listener, so that a handshake recorded on one link, or
//! reflected, fails on another.
//!
//! The layers above decide whom to trust, by [`SecureLink::peer_key`] and by the string that two people compare.

pub mod handshake;

use snow::TransportState;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::identity::Identity;
use crate::{CarrierKind, Duplex, Outdated};

use handshake::Role;
pub use handshake::{AcceptedPeers, ExpectedPeer, HANDSHAKE_DEADLINE, Versions};

/// Plaintext bytes of the longest record. A longer write becomes several records. The length bounds the buffer for an incomplete
/// record; 18 bytes of overhead in 4 KiB are 0.4 %.
pub const RECORD_PLAINTEXT: usize = 4_096;

/// Runs the handshake as the side that opened the carrier's link.
pub async fn dial<D: Duplex>(
    duplex: D,
    identity: &Identity,
    kind: CarrierKind,
    expected: ExpectedPeer,
) -> Result<SecureLink<D>, SecureError> {
    handshake_as(duplex, identity, kind, Role::Dialer(expected)).await
}

/// Runs the handshake as the side that listened.
pub async fn accept<D: Duplex>(
    duplex: D,
    identity: &Identity,
    kind: CarrierKind,
    accepted_peers: &AcceptedPeers,
) -> Result<SecureLink<D>, SecureError> {
    handshake_as(duplex, identity, kind, Role::Listener(accepted_peers)).await
}

/// Why a secure link failed or ended. The link is closed in every case.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecureError {
    /// [`HANDSHAKE_DEADLINE`] has passed.
    #[error("no handshake within 10 s")]
    TimedOut,
    /// Another protocol, version or carrier, or a man in the middle.
    #[error("the handshake failed at message {message}")]
    BadHandshake {
        /// Which Noise message, from 1.
        message: u8,
    },
    /// No version in common.
    #[error("the peer speaks versions {} to {} of the handshake", .theirs.lowest, .theirs.highest)]
    Versions {
        /// What this device speaks.
        ours: Versions,
        /// What the peer speaks.
        theirs: Versions,
    },
    /// This device refuses the dialer, to whom it has revealed nothing.
    #[error("not let in")]
    Refused,
    /// A connection to this device itself, or a reflection of its own messages.
    #[error("the peer has our own key")]
    Ourselves,
    /// A record that was damaged or replayed, follows a dropped record, or is not from the peer.
    #[error("a record failed to authenticate")]
    BadRecord,
    /// A record length that our side never writes.
    #[error("a record of {0} bytes")]
    BadLength(u16),
    /// The carrier ended in the middle of a record or of the handshake.
    #[error("the link ended within a record")]
    Truncated,
    /// An error of the carrier.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl SecureError {
    /// Which device has to be updated, if the versions of this layer or of the carrier were the reason.
    pub fn outdated(&self) -> Option<Outdated> {
        match self {
            Self::Versions { ours, theirs } => Some(Outdated::of(theirs.highest, ours.lowest)),
            // Of the carrier's own protocol.
            Self::Io(error) => error.get_ref()?.downcast_ref::<Outdated>().copied(),
            _ => None,
        }
    }

    /// The security reason of a failed read or write, if it was not the carrier.
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl From<SecureError> for io::Error {
    fn from(error: SecureError) -> Self {
        match error {
            SecureError::Io(error) => error,
            SecureError::Truncated => io::Error::new(io::ErrorKind::UnexpectedEof, error),
            SecureError::TimedOut => io::Error::new(io::ErrorKind::TimedOut, error),
            other => io::Error::new(io::ErrorKind::InvalidData, other),
        }
    }
}

/// An authenticated, encrypted byte stream.
///
/// Written bytes wait until a flush or until they fill a record. Each flush makes one record, sent to the carrier in one write: a
/// small frame, flushed once, stays in one Bluetooth fragment. Unflushed bytes are lost on drop.
///
/// The first record that fails to authenticate closes the carrier; every later read and write fails.
pub struct SecureLink<D> {
    /// `None` once an error has closed the link.
    carrier: Option<D>,
    noise: TransportState,
    peer_key: [u8; 32],
    handshake_hash: [u8; 32],
    incoming: Incoming,
    outgoing: Outgoing,
}

impl<D> SecureLink<D> {
    /// The peer's static public key; the handshake proves that the peer has the secret key.
    pub fn peer_key(&self) -> [u8; 32] {
        self.peer_key
    }

    /// The handshake hash, known only to the two sides: the short string is derived from it and both nonces.
    pub fn handshake_hash(&self) -> [u8; 32] {
        self.handshake_hash
    }
}

impl<D> fmt::Debug for SecureLink<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecureLink")
            .field("peer", &crate::identity::fingerprint(&self.peer_key))
            .field("open", &self.carrier.is_some())
            .finish_non_exhaustive()
    }
}

/// Poly1305 tag of each record.
const TAG: usize = 16;
/// Two bytes of length before each record.
const LENGTH: usize = 2;
const RECORD: usize = RECORD_PLAINTEXT + TAG;

async fn handshake_as<D: Duplex>(
    mut duplex: D,
    identity: &Identity,
    kind: CarrierKind,
    role: Role<'_>,
) -> Result<SecureLink<D>, SecureError> {
    let exchange = handshake::exchange(&mut duplex, identity, kind, role);
    let noise =
        tokio::time::timeout(HANDSHAKE_DEADLINE, exchange).await.map_err(|_| SecureError::TimedOut)??;
    let peer_key =
        handshake::remote_key(&noise).expect("both patterns have told the peer's key by their end");
    if peer_key == identity.public_key() {
        return Err(SecureError::Ourselves);
    }
    let handshake_hash = noise.get_handshake_hash().try_into().expect("BLAKE2s gives 32 bytes");
    let noise = noise.into_transport_mode().expect("all messages have been exchanged");
    Ok(SecureLink {
        carrier: Some(duplex),
        noise,
        peer_key,
        handshake_hash,
        incoming: Incoming::new(),
        outgoing: Outgoing::new(),
    })
}

/// Bytes of an incomplete record, and plaintext that has not been read yet. Both buffers have their full size from the start,
/// whatever length a record claims.
struct Incoming {
    raw: Box<[u8]>,
    /// `raw[..filled]` has arrived.
    filled: usize,
    plain: Box<[u8]>,
    /// `plain[taken..end]` is still to be read.
    taken: usize,
    end: usize,
}

impl Incoming {
    fn new() -> Self {
        let buffer = || vec![0; LENGTH + RECORD].into_boxed_slice();
        Self { raw: buffer(), filled: 0, plain: buffer(), taken: 0, end: 0 }
    }

    /// Decrypts the first record in `raw`; `false` if it is incomplete.
    fn open_record(&mut self, noise: &mut TransportState) -> Result<bool, SecureError> {
        let Some(length) = self.raw[..self.filled].first_chunk::<LENGTH>() else {
            return Ok(false);
        };
        let announced = u16::from_be_bytes(*length);
        let length = usize::from(announced);
        // An empty record would make a reader spin.
        if !(TAG + 1..=RECORD).contains(&length) {
            return Err(SecureError::BadLength(announced));
        }
        let whole = LENGTH + length;
        if self.filled < whole {
            return Ok(false);
        }
        // Both cleared first, so that nothing of the buffer can be read after a failure.
        (self.taken, self.end) = (0, 0);
        self.end = noise
            .read_message(&self.raw[LENGTH..whole], &mut self.plain)
            .map_err(|_| SecureError::BadRecord)?;
        self.raw.copy_within(whole..self.filled, 0);
        self.filled -= whole;
        Ok(true)
    }
}

/// Plaintext that waits for a record, and a record that waits for the carrier.
struct Outgoing {
    /// At most `RECORD_PLAINTEXT` bytes.
    plain: Vec<u8>,
    record: Box<[u8]>,
    /// `record[sent..end]` is still to be written.
    sent: usize,
    end: usize,
}

impl Outgoing {
    fn new() -> Self {
        let record = vec![0; LENGTH + RECORD].into_boxed_slice();
        Self { plain: Vec::with_capacity(RECORD_PLAINTEXT), record, sent: 0, end: 0 }
    }

    /// Encrypts `plain` into a record. The previous record must have been written.
    fn seal_record(&mut self, noise: &mut TransportState) -> Result<(), SecureError> {
        debug_assert!(self.sent == self.end && !self.plain.is_empty());
        // Fails only after 2^64 records.
        let length = noise
            .write_message(&self.plain, &mut self.record[LENGTH..])
            .map_err(|_| SecureError::BadRecord)?;
        self.record[..LENGTH].copy_from_slice(&(length as u16).to_be_bytes());
        self.plain.clear();
        (self.sent, self.end) = (0, LENGTH + length);
        Ok(())
    }
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "closed after a record that was not the peer's")
}

impl<D: Duplex> SecureLink<D> {
    /// Closes the carrier by dropping it, so that nothing more is sent or accepted.
    fn fail(&mut self, error: SecureError) -> io::Error {
        self.carrier = None;
        error.into()
    }

    /// Writes the rest of the sealed record.
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.outgoing.sent < self.outgoing.end {
            let carrier = self.carrier.as_mut().ok_or_else(closed)?;
            let rest = &self.outgoing.record[self.outgoing.sent..self.outgoing.end];
            match ready!(Pin::new(carrier).poll_write(cx, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => self.outgoing.sent += written,
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Seals waiting plaintext once the previous record has been written.
    fn poll_seal(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_drain(cx))?;
        if !self.outgoing.plain.is_empty() {
            self.outgoing.seal_record(&mut self.noise).map_err(|error| self.fail(error))?;
        }
        Poll::Ready(Ok(()))
    }
}

impl<D: Duplex> AsyncRead for SecureLink<D> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if into.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        loop {
            let incoming = &mut this.incoming;
            if incoming.taken < incoming.end {
                let count = into.remaining().min(incoming.end - incoming.taken);
                into.put_slice(&incoming.plain[incoming.taken..incoming.taken + count]);
                incoming.taken += count;
                return Poll::Ready(Ok(()));
            }
            let Some(carrier) = this.carrier.as_mut() else {
                return Poll::Ready(Err(closed()));
            };
            match incoming.open_record(&mut this.noise) {
                Ok(true) => continue,
                Ok(false) => {}
                Err(error) => return Poll::Ready(Err(this.fail(error))),
            }
            // An incomplete record leaves room: the longest record fills the buffer exactly.
            let mut room = ReadBuf::new(&mut incoming.raw[incoming.filled..]);
            ready!(Pin::new(carrier).poll_read(cx, &mut room))?;
            match room.filled().len() {
                0 if incoming.filled == 0 => return Poll::Ready(Ok(())),
                0 => return Poll::Ready(Err(this.fail(SecureError::Truncated))),
                count => incoming.filled += count,
            }
        }
    }
}

impl<D: Duplex> AsyncWrite for SecureLink<D> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.carrier.is_none() {
            return Poll::Ready(Err(closed()));
        }
        if this.outgoing.plain.len() == RECORD_PLAINTEXT {
            ready!(this.poll_seal(cx))?;
        }
        let count = bytes.len().min(RECORD_PLAINTEXT - this.outgoing.plain.len());
        this.outgoing.plain.extend_from_slice(&bytes[..count]);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_seal(cx))?;
        ready!(this.poll_drain(cx))?;
        Pin::new(this.carrier.as_mut().ok_or_else(closed)?).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush(cx))?;
        Pin::new(self.get_mut().carrier.as_mut().ok_or_else(closed)?).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::memory::{self, MemoryLink};

    fn identity() -> Identity {
        Identity::generate().expect("randomness")
    }

    /// Lengths of the messages between strangers, and whether the dialer sends them: challenge, and the three of XX.
    const MESSAGES: [(usize, bool); 4] = [(34, false), (2 + 32, true), (96, false), (64, true)];

    async fn dial<D: Duplex>(
        duplex: D,
        identity: &Identity,
        kind: CarrierKind,
    ) -> Result<SecureLink<D>, SecureError> {
        super::dial(duplex, identity, kind, ExpectedPeer::Anybody).await
    }

    async fn accept<D: Duplex>(
        duplex: D,
        identity: &Identity,
        kind: CarrierKind,
    ) -> Result<SecureLink<D>, SecureError> {
        super::accept(duplex, identity, kind, &AcceptedPeers::all()).await
    }

    async fn linked() -> (SecureLink<MemoryLink>, SecureLink<MemoryLink>) {
        let (here, there) = memory::pair();
        linked_over(here, there).await
    }

    async fn linked_over<A: Duplex, B: Duplex>(here: A, there: B) -> (SecureLink<A>, SecureLink<B>) {
        let (anna, ben) = (identity(), identity());
        let (dialed, accepted) =
            tokio::join!(dial(here, &anna, CarrierKind::Memory), accept(there, &ben, CarrierKind::Memory));
        let (dialed, accepted) = (dialed.expect("dials"), accepted.expect("accepts"));
        assert_eq!((dialed.peer_key(), accepted.peer_key()), (ben.public_key(), anna.public_key()));
        assert_eq!(dialed.handshake_hash(), accepted.handshake_hash());
        (dialed, accepted)
    }

    /// A carrier on which the test sees each write and changes the bytes to be read.
    struct Wire {
        inner: MemoryLink,
        writes: Arc<Mutex<Vec<Vec<u8>>>>,
    }

    impl Wire {
        fn new(inner: MemoryLink) -> (Self, Arc<Mutex<Vec<Vec<u8>>>>) {
            let writes = Arc::new(Mutex::new(Vec::new()));
            (Self { inner, writes: writes.clone() }, writes)
        }
    }

    impl AsyncRead for Wire {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            into: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.inner).poll_read(cx, into)
        }
    }

    impl AsyncWrite for Wire {
        fn poll_write(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            let count = ready!(Pin::new(&mut self.inner).poll_write(cx, bytes))?;
            self.writes.lock().expect("not poisoned").push(bytes[..count].to_vec());
            Poll::Ready(Ok(count))
        }

        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.inner).poll_flush(cx)
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.inner).poll_shutdown(cx)
        }
    }

    /// What arrives when the dialer sends `sent` in one flush and `change` modifies the bytes on the wire.
    async fn tampered(sent: &[u8], change: impl FnOnce(Vec<u8>) -> Vec<u8>) -> (Vec<u8>, io::Result<()>) {
        // The dialer's writes are recorded and not forwarded: a second wire carries the tampered bytes.
        let (here, middle_a) = memory::pair();
        let (middle_b, there) = memory::pair();
        let (mut a, mut b) = (middle_a, middle_b);
        let (anna, ben) = (identity(), identity());
        let relay = async {
            for (length, dialers) in MESSAGES {
                let mut message = vec![0; LENGTH + length];
                let (from, to) = if dialers { (&mut a, &mut b) } else { (&mut b, &mut a) };
                from.read_exact(&mut message).await.expect("a handshake message");
                to.write_all(&message).await.expect("is passed on");
            }
        };
        let (dialed, accepted, ()) = tokio::join!(
            dial(here, &anna, CarrierKind::Memory),
            accept(there, &ben, CarrierKind::Memory),
            relay
        );
        let (mut dialed, mut accepted) = (dialed.expect("dials"), accepted.expect("accepts"));
        dialed.write_all(sent).await.expect("written");
        dialed.flush().await.expect("flushed");
        drop(dialed);
        let mut records = Vec::new();
        a.read_to_end(&mut records).await.expect("all of it");
        b.write_all(&change(records)).await.expect("is passed on");
        drop(b);
        let mut got = Vec::new();
        let result = accepted.read_to_end(&mut got).await.map(drop);
        if result.is_err() {
            assert!(accepted.write_all(b"x").await.is_err(), "the link is closed both ways");
            assert!(accepted.read(&mut [0; 8]).await.is_err(), "and stays closed");
        }
        (got, result)
    }

    fn is_bad_record(result: &io::Result<()>) -> bool {
        result
            .as_ref()
            .err()
            .and_then(SecureError::of)
            .is_some_and(|why| matches!(why, SecureError::BadRecord))
    }

    #[tokio::test]
    async fn bytes_go_both_ways() {
        let (mut dialed, mut accepted) = linked().await;
        for round in 0..3_u8 {
            dialed.write_all(&[round; 5]).await.expect("written");
            dialed.flush().await.expect("flushed");
            let mut got = [0; 5];
            accepted.read_exact(&mut got).await.expect("read");
            assert_eq!(got, [round; 5]);
            accepted.write_all(b"back").await.expect("written");
            accepted.flush().await.expect("flushed");
            let mut got = [0; 4];
            dialed.read_exact(&mut got).await.expect("read");
            assert_eq!(&got, b"back");
        }
        dialed.shutdown().await.expect("closed");
        assert_eq!(accepted.read(&mut [0; 8]).await.expect("a clean end"), 0);
    }

    #[tokio::test]
    async fn a_small_frame_leaves_as_one_record_in_one_write() {
        let (here, there) = memory::pair();
        let (here, writes) = Wire::new(here);
        let (mut dialed, _accepted) = linked_over(here, there).await;
        assert_eq!(writes.lock().expect("not poisoned").len(), 2, "one write for each handshake message");
        writes.lock().expect("not poisoned").clear();
        // A frame is a header and a payload.
        dialed.write_all(&[1; 20]).await.expect("written");
        dialed.write_all(&[2; 44]).await.expect("written");
        assert!(writes.lock().expect("not poisoned").is_empty(), "nothing leaves before the flush");
        dialed.flush().await.expect("flushed");
        dialed.flush().await.expect("nothing to flush");
        let lengths: Vec<usize> = writes.lock().expect("not poisoned").iter().map(Vec::len).collect();
        assert_eq!(lengths, [LENGTH + 64 + TAG]);
    }

    #[tokio::test]
    async fn a_large_write_is_split_and_comes_out_whole() {
        let (mut dialed, mut accepted) = linked().await;
        let large: Vec<u8> = (0..200_000_u32).map(|at| ((at * 31) >> 3) as u8).collect();
        let send = async {
            dialed.write_all(&large).await.expect("written");
            dialed.flush().await.expect("flushed");
            dialed
        };
        let mut got = vec![0; large.len()];
        let (_dialed, read) = tokio::join!(send, accepted.read_exact(&mut got));
        read.expect("read");
        assert_eq!(got, large);
    }

    #[tokio::test]
    async fn nothing_of_the_plaintext_is_on_the_wire() {
        let (here, there) = memory::pair();
        let (here, writes) = Wire::new(here);
        let (mut dialed, _accepted) = linked_over(here, there).await;
        dialed.write_all(&[0x5A; 300]).await.expect("written");
        dialed.flush().await.expect("flushed");
        let all = writes.lock().expect("not poisoned").concat();
        assert!(!all.windows(8).any(|window| window == [0x5A; 8]));
    }

    #[tokio::test]
    async fn each_damaged_byte_of_a_record_is_noticed() {
        let sent = b"a move, for instance";
        for at in 0..LENGTH + sent.len() + TAG {
            let (got, result) = tampered(sent, |mut wire| {
                wire[at] ^= 1;
                wire
            })
            .await;
            assert!(got.is_empty() && result.is_err(), "byte {at}");
        }
    }

    #[tokio::test]
    async fn each_truncation_is_told_apart_from_an_end() {
        let sent = b"a move";
        let whole = LENGTH + sent.len() + TAG;
        for end in 0..=whole {
            let (got, result) = tampered(sent, |wire| wire[..end].to_vec()).await;
            match end {
                0 => assert!(got.is_empty() && result.is_ok()),
                _ if end == whole => assert!(got == sent && result.is_ok()),
                _ => {
                    let error = result.expect_err("ended within a record");
                    assert!(
                        matches!(SecureError::of(&error), Some(SecureError::Truncated)),
                        "{end}: {error}"
                    );
                    assert!(got.is_empty());
                }
            }
        }
    }

    #[tokio::test]
    async fn a_record_that_comes_twice_is_refused() {
        let (got, result) = tampered(b"once", |wire| [wire.clone(), wire].concat()).await;
        assert_eq!(got, b"once");
        assert!(is_bad_record(&result), "{result:?}");
    }

    #[tokio::test]
    async fn a_record_left_out_is_noticed_at_the_next() {
        let long = [3; RECORD_PLAINTEXT + 10];
        let (got, result) = tampered(&long, |wire| wire[LENGTH + RECORD..].to_vec()).await;
        assert!(got.is_empty());
        assert!(is_bad_record(&result), "{result:?}");
    }

    #[tokio::test]
    async fn records_in_another_order_are_refused() {
        let long = [3; RECORD_PLAINTEXT + 10];
        let (got, result) = tampered(&long, |wire| {
            let (first, second) = wire.split_at(LENGTH + RECORD);
            [second, first].concat()
        })
        .await;
        assert!(got.is_empty());
        assert!(is_bad_record(&result), "{result:?}");
    }

    #[tokio::test]
    async fn a_length_that_no_record_has_is_refused_at_once() {
        for length in [0, 1, TAG as u16, RECORD as u16 + 1, u16::MAX] {
            let (got, result) = tampered(b"x", |_| length.to_be_bytes().to_vec()).await;
            let error = result.expect_err("refused");
            assert!(got.is_empty());
            assert!(matches!(SecureError::of(&error), Some(SecureError::BadLength(got)) if *got == length));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_peer_is_given_up_after_ten_seconds() {
        let (here, _silent) = memory::pair();
        let begun = tokio::time::Instant::now();
        let error = accept(here, &identity(), CarrierKind::Memory).await.expect_err("nobody speaks");
        assert!(matches!(error, SecureError::TimedOut));
        assert_eq!(begun.elapsed(), HANDSHAKE_DEADLINE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_dribbles_is_given_up_after_ten_seconds_too() {
        let (here, mut slow) = memory::pair();
        let dribble = async {
            for byte in [0, 32].into_iter().chain(std::iter::repeat(7)) {
                if slow.write_all(&[byte]).await.is_err() {
                    break;
                }
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        };
        let anna = identity();
        let (result, ()) = tokio::join!(accept(here, &anna, CarrierKind::Memory), dribble);
        assert!(matches!(result, Err(SecureError::TimedOut)));
    }

    #[tokio::test(start_paused = true)]
    async fn garbage_instead_of_a_handshake_is_refused_on_both_sides() {
        let mut random = crate::memory::Rng::new(1);
        for length in [1_usize, 2, 33, 34, 200, 4_000] {
            for right_length in [false, true] {
                let mut garbage: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
                for listens in [true, false] {
                    let (expected, _) = MESSAGES[usize::from(listens)];
                    if right_length && length >= LENGTH {
                        garbage[..LENGTH].copy_from_slice(&(expected as u16).to_be_bytes());
                    }
                    let (here, mut there) = memory::pair();
                    there.write_all(&garbage).await.expect("written");
                    there.shutdown().await.expect("closed");
                    let anna = identity();
                    let result = if listens {
                        accept(here, &anna, CarrierKind::Memory).await
                    } else {
                        dial(here, &anna, CarrierKind::Memory).await
                    };
                    assert!(result.is_err(), "{length} bytes, listens: {listens}");
                }
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_handshake_cut_at_any_byte_fails_on_the_side_that_waits() {
        let total: usize = MESSAGES.iter().map(|(length, _)| LENGTH + length).sum();
        for cut in 0..total {
            let network = memory::MemoryNetwork::new(cut as u64);
            let (here, there) = network.pair("anna", "ben");
            network.cut_after("anna", "ben", cut as u64);
            let (anna, ben) = (identity(), identity());
            let (dialed, accepted) = tokio::join!(
                dial(here, &anna, CarrierKind::Memory),
                accept(there, &ben, CarrierKind::Memory)
            );
            assert!(accepted.is_err(), "cut at {cut}");
            drop(dialed);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn each_damaged_byte_of_the_handshake_is_noticed() {
        let ends: Vec<usize> = MESSAGES
            .iter()
            .scan(0, |sum, (length, _)| {
                *sum += LENGTH + length;
                Some(*sum)
            })
            .collect();
        for at in 0..ends[3] {
            let (here, mut a) = memory::pair();
            let (mut b, there) = memory::pair();
            let (anna, ben) = (identity(), identity());
            let relay = async {
                let mut done = 0;
                for (length, dialers) in MESSAGES {
                    let mut message = vec![0; LENGTH + length];
                    let (from, to) = if dialers { (&mut a, &mut b) } else { (&mut b, &mut a) };
                    if from.read_exact(&mut message).await.is_err() {
                        break;
                    }
                    if (done..done + message.len()).contains(&at) {
                        message[at - done] ^= 1;
                    }
                    done += message.len();
                    if to.write_all(&message).await.is_err() {
                        break;
                    }
                }
                drop((a, b));
            };
            let (dialed, accepted, ()) = tokio::join!(
                dial(here, &anna, CarrierKind::Memory),
                accept(there, &ben, CarrierKind::Memory),
                relay
            );
            assert!(accepted.is_err(), "byte {at}");
            if at < ends[2] {
                // The key exchange ignores the top bit of an X25519 point; the transcript hash does not.
                assert!(dialed.is_err(), "byte {at}");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn another_carrier_is_another_protocol() {
        let (here, there) = memory::pair();
        let (anna, ben) = (identity(), identity());
        let (dialed, accepted) =
            tokio::join!(dial(here, &anna, CarrierKind::Lan), accept(there, &ben, CarrierKind::Bluetooth));
        assert!(matches!(dialed, Err(SecureError::BadHandshake { message: 2 })));
        assert!(accepted.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn two_dialers_do_not_understand_each_other() {
        let (here, there) = memory::pair();
        let (anna, ben) = (identity(), identity());
        let (one, other) =
            tokio::join!(dial(here, &anna, CarrierKind::Memory), dial(there, &ben, CarrierKind::Memory));
        assert!(one.is_err() && other.is_err());
    }

    #[tokio::test]
    async fn our_own_key_is_no_peer() {
        let (here, there) = memory::pair();
        let anna = identity();
        let (dialed, accepted) =
            tokio::join!(dial(here, &anna, CarrierKind::Memory), accept(there, &anna, CarrierKind::Memory));
        assert!(matches!(dialed, Err(SecureError::Ourselves)));
        assert!(matches!(accepted, Err(SecureError::Ourselves)));
    }

    #[tokio::test]
    async fn debug_shows_the_peer_s_fingerprint_and_nothing_else() {
        let (dialed, _accepted) = linked().await;
        let fingerprint = crate::identity::fingerprint(&dialed.peer_key());
        let shown = format!("SecureLink {{ peer: {fingerprint:?}, open: true, .. }}");
        assert_eq!(format!("{dialed:?}"), shown);
    }
}
