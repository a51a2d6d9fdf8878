//! The frame codec: a 20-byte header and the errors in it.
//!
//! The header is big-endian: magic, total length including the header, number of the message, sequence number, version. The
//! decoder reserves no memory for the length in a header and checks the magic as its bytes arrive. After an error it does
//! not search for the next magic, because a payload could imitate a frame: the link is closed instead.
//!
//! `tokio_util`'s `LengthDelimitedCodec` set to this layout loops forever on a total of 0 and reserves the length that a
//! hostile header claims, up to its limit, before a byte of it has arrived. This codec is therefore written by hand.

use std::io;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use tokio_util::codec::{Decoder, Encoder};

/// First four bytes of every frame; inherited from the design that this project continues.
pub const MAGIC: u32 = 0x9876_5432;

/// Length of a header.
pub const HEADER_BYTES: usize = 20;

/// Version of the framing. The hellos negotiate the version of the messages.
pub const VERSION: u32 = 1;

/// Last sequence number of a link, long before the counter wraps: at 50 frames a second, the most that a peer may sustain, a
/// link reaches it after more than a year.
pub const LAST_SEQNUM: u32 = u32::MAX / 2;

/// A received message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Number of the message in the payload.
    pub msgid: u32,
    /// Grows by one per frame and direction, from 1.
    pub seqnum: u32,
    /// Shares the read buffer's memory: decode it soon instead of keeping it.
    pub payload: Bytes,
}

/// A message to send. The codec adds the sequence number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Number of the message in the payload.
    pub msgid: u32,
    /// Encoded message.
    pub payload: Bytes,
}

/// A whole frame and its place in the sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The frame with the sequence number that was due.
    Next(Frame),
    /// A duplicate: to be ignored and acknowledged again.
    Old(Frame),
    /// At least one frame before this one is missing. The same number stays due, and the receiver asks to resume.
    Gap {
        /// Sequence number that was due.
        due: u32,
        /// The frame that came instead.
        frame: Frame,
    },
}

/// The longest allowed frame, by its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameLimit {
    /// A peer that is not authenticated yet. The longest message that it may send, a hello with 12 resume points, is
    /// below 1 KiB.
    Stranger,
    /// An authenticated peer. The longest message, a record of 1,024 actions with their times, is 12 KiB.
    Peer,
    /// A program of the same user on the local socket. A hundred full records in notation are 600 KiB.
    Local,
}

impl FrameLimit {
    /// The limit in bytes, header included.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Stranger => 1 << 10,
            Self::Peer => 16 << 10,
            Self::Local => 1 << 20,
        }
    }
}

/// Why a link has to be closed. `TooLong`, `Exhausted` and `Io` come from this side; the peer causes all others.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// Not our protocol, or the stream lost its frame boundary.
    #[error("not the beginning of a frame")]
    BadMagic,
    /// Shorter than a header or longer than this peer may send.
    #[error("a frame of {total} bytes where 20 to {limit} are allowed")]
    BadLength {
        /// The total length in the header.
        total: u32,
        /// The present limit.
        limit: usize,
    },
    /// Another version of the framing.
    #[error("framing version {0} instead of 1")]
    BadVersion(u32),
    /// A sequence number outside `1..=LAST_SEQNUM`.
    #[error("sequence number {0} is out of range")]
    BadSeqnum(u32),
    /// The stream ended within a frame.
    #[error("the stream ended {have} bytes into a frame")]
    Truncated {
        /// Bytes of the frame that had arrived.
        have: usize,
    },
    /// Our own message exceeds the limit. Nothing was written.
    #[error("a message of {payload} bytes does not fit a frame of {limit}")]
    TooLong {
        /// Length of the payload.
        payload: usize,
        /// The present limit.
        limit: usize,
    },
    /// This link has sent [`LAST_SEQNUM`] frames. Nothing was written.
    #[error("this link has used up its sequence numbers")]
    Exhausted,
    /// An error of the carrier.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The codec for both directions of one link. A new link gets a new codec.
#[derive(Debug)]
pub struct FrameCodec {
    limit: FrameLimit,
    /// Sequence number of the next frame from the peer, in `1..=LAST_SEQNUM + 1`.
    due: u32,
    /// Sequence number of our next frame, in `1..=LAST_SEQNUM + 1`.
    next: u32,
}

impl FrameCodec {
    /// A codec for a fresh link.
    pub fn new(limit: FrameLimit) -> Self {
        Self { limit, due: 1, next: 1 }
    }

    /// Sets the limit for both directions. A frame whose header was already accepted is checked again.
    pub fn set_limit(&mut self, limit: FrameLimit) {
        self.limit = limit;
    }

    /// Sequence number of the last frame that came in order; 0 before the first.
    pub fn last_received(&self) -> u32 {
        self.due - 1
    }

    fn place(&mut self, frame: Frame) -> Result<Arrival, FrameError> {
        if !(1..=LAST_SEQNUM).contains(&frame.seqnum) {
            return Err(FrameError::BadSeqnum(frame.seqnum));
        }
        let due = self.due;
        Ok(match frame.seqnum {
            seqnum if seqnum == due => {
                self.due += 1;
                Arrival::Next(frame)
            }
            seqnum if seqnum < due => Arrival::Old(frame),
            _ => Arrival::Gap { due, frame },
        })
    }
}

/// Parses a header from the first bytes of a frame. `None`: valid so far, but not complete. The checks follow the order of
/// the fields, so that a header gives the same error wherever the stream is cut.
fn header(bytes: &[u8], limit: usize) -> Result<Option<Header>, FrameError> {
    let magic = MAGIC.to_be_bytes();
    let Some(bytes) = bytes.first_chunk::<HEADER_BYTES>() else {
        let come = bytes.len().min(magic.len());
        if bytes[..come] != magic[..come] {
            return Err(FrameError::BadMagic);
        }
        if let Some(length) = bytes.get(4..8) {
            checked_total(word(length), limit)?;
        }
        return Ok(None);
    };
    if bytes[..4] != magic {
        return Err(FrameError::BadMagic);
    }
    let total = checked_total(word(&bytes[4..8]), limit)?;
    let version = word(&bytes[16..20]);
    if version != VERSION {
        return Err(FrameError::BadVersion(version));
    }
    Ok(Some(Header { total, msgid: word(&bytes[8..12]), seqnum: word(&bytes[12..16]) }))
}

struct Header {
    /// In `HEADER_BYTES..=limit`.
    total: usize,
    msgid: u32,
    seqnum: u32,
}

fn checked_total(total: u32, limit: usize) -> Result<usize, FrameError> {
    if (HEADER_BYTES..=limit).contains(&(total as usize)) {
        Ok(total as usize)
    } else {
        Err(FrameError::BadLength { total, limit })
    }
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes.try_into().expect("callers give four bytes"))
}

impl Decoder for FrameCodec {
    type Item = Arrival;
    type Error = FrameError;

    /// After an error nothing has been consumed: the next call returns the same error.
    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<Arrival>, FrameError> {
        let Some(Header { total, msgid, seqnum }) = header(src, self.limit.bytes())? else {
            return Ok(None);
        };
        // No memory is reserved for the missing bytes: the buffer grows with the bytes that arrive, whatever length the
        // header claims.
        if src.len() < total {
            return Ok(None);
        }
        src.advance(HEADER_BYTES);
        let payload = src.split_to(total - HEADER_BYTES).freeze();
        self.place(Frame { msgid, seqnum, payload }).map(Some)
    }

    fn decode_eof(&mut self, src: &mut BytesMut) -> Result<Option<Arrival>, FrameError> {
        match self.decode(src)? {
            None if !src.is_empty() => Err(FrameError::Truncated { have: src.len() }),
            other => Ok(other),
        }
    }
}

impl Encoder<Outgoing> for FrameCodec {
    type Error = FrameError;

    fn encode(
        &mut self,
        Outgoing { msgid, payload }: Outgoing,
        dst: &mut BytesMut,
    ) -> Result<(), FrameError> {
        let limit = self.limit.bytes();
        let total = HEADER_BYTES + payload.len();
        if total > limit {
            return Err(FrameError::TooLong { payload: payload.len(), limit });
        }
        if self.next > LAST_SEQNUM {
            return Err(FrameError::Exhausted);
        }
        let mut header = [0; HEADER_BYTES];
        header[..4].copy_from_slice(&MAGIC.to_be_bytes());
        header[4..8].copy_from_slice(&(total as u32).to_be_bytes());
        header[8..12].copy_from_slice(&msgid.to_be_bytes());
        header[12..16].copy_from_slice(&self.next.to_be_bytes());
        header[16..].copy_from_slice(&VERSION.to_be_bytes());
        dst.reserve(total);
        dst.put_slice(&header);
        dst.put_slice(&payload);
        self.next += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GOLDEN: [u8; 25] = [
        0x98, 0x76, 0x54, 0x32, 0x00, 0x00, 0x00, 0x19, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x01, 0x00,
        0x00, 0x00, 0x01, 0x0A, 0x03, 0x41, 0x42, 0x43,
    ];

    fn encoded(messages: &[(u32, Vec<u8>)]) -> BytesMut {
        let mut codec = FrameCodec::new(FrameLimit::Peer);
        let mut wire = BytesMut::new();
        for (msgid, payload) in messages {
            codec
                .encode(Outgoing { msgid: *msgid, payload: payload.clone().into() }, &mut wire)
                .expect("fits");
        }
        wire
    }

    /// Feeds `wire` in pieces that end at `cuts`; returns the arrivals, and the first error as text.
    fn decoded(wire: &[u8], cuts: &[usize], limit: FrameLimit) -> (Vec<Arrival>, Option<String>) {
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (wire.len() + 1)).collect();
        ends.push(wire.len());
        ends.sort_unstable();
        let (mut codec, mut buffer, mut out, mut begin) =
            (FrameCodec::new(limit), BytesMut::new(), Vec::new(), 0);
        for end in ends {
            buffer.extend_from_slice(&wire[begin..end]);
            begin = end;
            loop {
                match codec.decode(&mut buffer) {
                    Ok(Some(arrival)) => out.push(arrival),
                    Ok(None) => break,
                    Err(error) => return (out, Some(error.to_string())),
                }
            }
        }
        let end = codec.decode_eof(&mut buffer).map_err(|error| error.to_string());
        (out, end.err())
    }

    fn header_of(magic: u32, total: u32, msgid: u32, seqnum: u32, version: u32) -> Vec<u8> {
        [magic, total, msgid, seqnum, version].iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn golden_bytes_go_both_ways() {
        let payload = vec![0x0A, 0x03, 0x41, 0x42, 0x43];
        assert_eq!(encoded(&[(7, payload.clone())])[..], GOLDEN);
        let frame = Frame { msgid: 7, seqnum: 1, payload: payload.into() };
        assert_eq!(decoded(&GOLDEN, &[], FrameLimit::Peer), (vec![Arrival::Next(frame)], None));
    }

    #[test]
    fn wrong_magic_is_noticed_at_its_first_wrong_byte() {
        for wrong in 0..4 {
            let mut codec = FrameCodec::new(FrameLimit::Peer);
            let mut buffer = BytesMut::new();
            for (at, byte) in GOLDEN[..=wrong].iter().enumerate() {
                buffer.put_u8(if at == wrong { byte ^ 1 } else { *byte });
                let result = codec.decode(&mut buffer);
                if at == wrong {
                    assert!(matches!(result, Err(FrameError::BadMagic)));
                } else {
                    assert!(matches!(result, Ok(None)));
                }
            }
        }
    }

    #[test]
    fn a_wrong_length_is_noticed_with_its_last_byte() {
        for (total, limit) in [
            (0, FrameLimit::Peer),
            (19, FrameLimit::Peer),
            (16 * 1024 + 1, FrameLimit::Peer),
            (1025, FrameLimit::Stranger),
            (u32::MAX, FrameLimit::Local),
        ] {
            let wire = header_of(MAGIC, total, 1, 1, VERSION);
            let mut codec = FrameCodec::new(limit);
            assert!(matches!(codec.decode(&mut BytesMut::from(&wire[..7])), Ok(None)));
            for length in [8, 12, 20] {
                let result = codec.decode(&mut BytesMut::from(&wire[..length]));
                assert!(matches!(result, Err(FrameError::BadLength { total: got, .. }) if got == total));
            }
        }
    }

    #[test]
    fn a_frame_may_be_as_long_as_the_limit_and_as_short_as_a_header() {
        for limit in [FrameLimit::Stranger, FrameLimit::Peer, FrameLimit::Local] {
            let mut codec = FrameCodec::new(limit);
            let mut wire = BytesMut::new();
            let full = Outgoing { msgid: 1, payload: vec![1; limit.bytes() - HEADER_BYTES].into() };
            let over = Outgoing { msgid: 1, payload: vec![1; limit.bytes() - HEADER_BYTES + 1].into() };
            codec.encode(full, &mut wire).expect("fits");
            codec.encode(Outgoing { msgid: 2, payload: Bytes::new() }, &mut wire).expect("fits");
            let before = wire.len();
            assert!(matches!(codec.encode(over, &mut wire), Err(FrameError::TooLong { .. })));
            assert_eq!(wire.len(), before);
            let (arrivals, error) = decoded(&wire, &[], limit);
            assert_eq!((arrivals.len(), error), (2, None));
        }
    }

    #[test]
    fn the_limit_grows_when_the_peer_is_authenticated() {
        let wire = encoded(&[(1, vec![0; 2_000])]);
        let mut codec = FrameCodec::new(FrameLimit::Stranger);
        let mut buffer = wire.clone();
        assert!(matches!(codec.decode(&mut buffer), Err(FrameError::BadLength { .. })));
        assert_eq!(buffer, wire, "nothing is consumed by an error");
        codec.set_limit(FrameLimit::Peer);
        assert!(matches!(codec.decode(&mut buffer), Ok(Some(Arrival::Next(_)))));
    }

    #[test]
    fn another_version_is_refused() {
        let wire = header_of(MAGIC, 20, 1, 1, 2);
        let (arrivals, error) = decoded(&wire, &[], FrameLimit::Peer);
        assert_eq!((arrivals.len(), error.as_deref()), (0, Some("framing version 2 instead of 1")));
    }

    #[test]
    fn old_frames_and_gaps_are_told_and_do_not_count() {
        let mut codec = FrameCodec::new(FrameLimit::Peer);
        let mut place = |seqnum| {
            let mut wire = BytesMut::from(&header_of(MAGIC, 20, 9, seqnum, VERSION)[..]);
            codec.decode(&mut wire).map(|arrival| arrival.expect("whole"))
        };
        assert!(matches!(place(2), Ok(Arrival::Gap { due: 1, .. })));
        assert!(matches!(place(1), Ok(Arrival::Next(_))));
        assert!(matches!(place(1), Ok(Arrival::Old(_))));
        assert!(matches!(place(3), Ok(Arrival::Gap { due: 2, .. })));
        assert!(matches!(place(2), Ok(Arrival::Next(_))));
        assert!(matches!(place(0), Err(FrameError::BadSeqnum(0))));
        assert!(matches!(place(LAST_SEQNUM + 1), Err(FrameError::BadSeqnum(_))));
        assert!(matches!(place(LAST_SEQNUM), Ok(Arrival::Gap { due: 3, .. })));
    }

    #[test]
    fn sequence_numbers_are_used_up_long_before_they_wrap() {
        let mut codec = FrameCodec { limit: FrameLimit::Peer, due: LAST_SEQNUM, next: LAST_SEQNUM };
        let empty = || Outgoing { msgid: 1, payload: Bytes::new() };
        let mut wire = BytesMut::new();
        codec.encode(empty(), &mut wire).expect("the last one");
        assert!(matches!(codec.encode(empty(), &mut wire), Err(FrameError::Exhausted)));
        assert!(matches!(codec.decode(&mut wire), Ok(Some(Arrival::Next(_)))));
        assert_eq!(codec.last_received(), LAST_SEQNUM);
        assert!(wire.is_empty());
    }

    #[test]
    fn links_do_not_share_state() {
        let wire = encoded(&[(1, vec![1, 2, 3])]);
        let (half, rest) = wire.split_at(10);
        let mut one = (FrameCodec::new(FrameLimit::Peer), BytesMut::from(half));
        let mut other = (FrameCodec::new(FrameLimit::Peer), BytesMut::from(&wire[..]));
        assert!(matches!(one.0.decode(&mut one.1), Ok(None)));
        assert!(matches!(other.0.decode(&mut other.1), Ok(Some(Arrival::Next(_)))));
        one.1.extend_from_slice(rest);
        assert!(matches!(one.0.decode(&mut one.1), Ok(Some(Arrival::Next(_)))));
    }

    #[test]
    fn a_stream_that_ends_within_a_frame_says_so_at_every_byte() {
        for end in 1..GOLDEN.len() {
            let (arrivals, error) = decoded(&GOLDEN[..end], &[], FrameLimit::Peer);
            assert_eq!(
                (arrivals.len(), error),
                (0, Some(format!("the stream ended {end} bytes into a frame")))
            );
        }
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_frames(
            messages in prop::collection::vec((any::<u32>(), prop::collection::vec(any::<u8>(), 0..200)), 0..12),
            cuts in prop::collection::vec(any::<usize>(), 0..40),
        ) {
            let wire = encoded(&messages);
            let (arrivals, error) = decoded(&wire, &cuts, FrameLimit::Peer);
            prop_assert_eq!(error, None);
            let sent: Vec<Arrival> = messages
                .into_iter()
                .zip(1..)
                .map(|((msgid, payload), seqnum)| Arrival::Next(Frame { msgid, seqnum, payload: payload.into() }))
                .collect();
            prop_assert_eq!(arrivals, sent);
        }

        #[test]
        fn any_cut_of_a_damaged_stream_gives_the_same_frames_and_the_same_error(
            messages in prop::collection::vec((any::<u32>(), prop::collection::vec(any::<u8>(), 0..60)), 1..6),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            cuts in prop::collection::vec(any::<usize>(), 0..40),
        ) {
            let mut wire = encoded(&messages);
            for (at, byte) in damage {
                let at = at.index(wire.len());
                wire[at] = byte;
            }
            prop_assert_eq!(decoded(&wire, &cuts, FrameLimit::Stranger), decoded(&wire, &[], FrameLimit::Stranger));
        }
    }
}
