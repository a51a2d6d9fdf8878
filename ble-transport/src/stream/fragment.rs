//! What one GATT write or notification holds.
//!
//! ```text
//! open    0x10 version  nonce u32  limit u16                        check u32    12 bytes
//! accept  0x20 version  opener's nonce u32  own nonce u32  limit u16  check u32  16 bytes
//! refuse  0x30 version  opener's nonce u32                          check u32    10 bytes
//! others  kind+room  number u16  ack u16  also u32  length u16  payload…  check u32
//! ```
//!
//! Numbers are big-endian. The check is a CRC-32 of everything before it. For the numbered kinds the sum begins with the
//! [`LinkId`] and the sender's role, which are not sent: a fragment of an older link, or one's own fragment echoed, fails
//! its check like a damaged one. That matters because BlueZ keeps streams open across links, so that a new link begins
//! with the old one's leftovers.

use bytes::Bytes;

/// Version of this layer, sent when a link opens. A peer with another one is refused.
pub const VERSION: u8 = 1;

/// Bytes around the payload of a numbered fragment.
pub const OVERHEAD: usize = HEADER + CHECK;

/// Smallest fragment that any link carries: ATT's least MTU of 23 less five, of which bluer's writer takes two to be
/// safe. Opening and accepting fit it.
pub const SMALLEST: usize = 18;

/// Largest fragment that is ever sent or taken.
///
/// Seen in the lab: writes of 511 bytes and more return Ok and vanish, and with EATT some of 500 to 508 bytes are lost.
pub const LARGEST: usize = 496;

/// Most fragments that may be on their way at once: the room has four bits, and counts in [`ROOM_UNIT`]s.
///
/// A 30 ms interval with two full fragments and a round trip of 60 ms need four. On a busy machine a fragment and its
/// acknowledgement take up to 600 ms through two bluetoothd, which is 40: with 30 of them the air stood still for a fifth of
/// the time.
pub const MOST_ROOM: u8 = 15 * ROOM_UNIT;

/// Fragments for each one that the room's four bits count.
pub const ROOM_UNIT: u8 = 4;

const HEADER: usize = 11;
const CHECK: usize = 4;
const LINK_ID: usize = 9;

/// Tells one link from every other: a number from each side, drawn afresh for each link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkId {
    /// Drawn by the side that opened.
    pub opener: u32,
    /// Drawn by the side that accepted.
    pub accepter: u32,
}

/// Which end of a link sent something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Opened the link: the GATT central.
    Opener,
    /// Accepted it: the GATT peripheral.
    Accepter,
}

impl Role {
    /// The other end.
    pub fn other(self) -> Role {
        match self {
            Role::Opener => Role::Accepter,
            Role::Accepter => Role::Opener,
        }
    }
}

/// The first fragment of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// What the opener speaks.
    pub version: u8,
    /// The opener's half of the [`LinkId`].
    pub nonce: u32,
    /// The largest fragment the opener can send, in bytes.
    pub limit: u16,
}

/// The answer to an [`Opening`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepting {
    /// What the accepter speaks.
    pub version: u8,
    /// Both halves.
    pub link: LinkId,
    /// The largest fragment the accepter can send, in bytes.
    pub limit: u16,
}

/// What a numbered fragment is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Carries bytes of the stream.
    Data,
    /// Only acknowledges. Takes no number.
    Ack,
    /// The last bytes of the stream, or none: nothing follows.
    End,
    /// Asks for an acknowledgement, when the peer had no room. Takes no number.
    Probe,
    /// The sender gave up. Takes no number.
    Reset,
}

/// A numbered fragment, or one that only acknowledges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// What it is for.
    pub kind: Kind,
    /// How many fragments from `ack` on the sender can take, 0 to [`MOST_ROOM`]; sent in [`ROOM_UNIT`]s, rounded down.
    pub room: u8,
    /// Its place in the stream for [`Kind::Data`] and [`Kind::End`], else the next one to be used.
    pub number: u16,
    /// The first number that the sender has not received.
    pub ack: u16,
    /// Bit i: `ack + 1 + i` was received too.
    pub also: u32,
    /// Bytes of the stream.
    pub payload: Bytes,
}

/// Writes an [`Opening`].
pub fn write_opening(opening: Opening) -> Bytes {
    let mut out = vec![0x10, opening.version];
    out.extend(opening.nonce.to_be_bytes());
    out.extend(opening.limit.to_be_bytes());
    sealed(out, &[])
}

/// Reads an [`Opening`]; `None` for anything else and anything damaged.
pub fn read_opening(bytes: &[u8]) -> Option<Opening> {
    let body = checked(bytes, &[])?;
    let (&[0x10, version], rest) = body.split_first_chunk()? else { return None };
    let (nonce, rest) = rest.split_first_chunk()?;
    Some(Opening {
        version,
        nonce: u32::from_be_bytes(*nonce),
        limit: u16::from_be_bytes(rest.try_into().ok()?),
    })
}

/// Writes an [`Accepting`].
pub fn write_accepting(accepting: Accepting) -> Bytes {
    let mut out = vec![0x20, accepting.version];
    out.extend(accepting.link.opener.to_be_bytes());
    out.extend(accepting.link.accepter.to_be_bytes());
    out.extend(accepting.limit.to_be_bytes());
    sealed(out, &[])
}

/// Reads an [`Accepting`]; `None` for anything else and anything damaged.
pub fn read_accepting(bytes: &[u8]) -> Option<Accepting> {
    let body = checked(bytes, &[])?;
    let (&[0x20, version], rest) = body.split_first_chunk()? else { return None };
    let (opener, rest) = rest.split_first_chunk()?;
    let (accepter, rest) = rest.split_first_chunk()?;
    Some(Accepting {
        version,
        link: LinkId { opener: u32::from_be_bytes(*opener), accepter: u32::from_be_bytes(*accepter) },
        limit: u16::from_be_bytes(rest.try_into().ok()?),
    })
}

/// Writes the refusal of the opening with this nonce.
pub fn write_refusal(nonce: u32) -> Bytes {
    let mut out = vec![0x30, VERSION];
    out.extend(nonce.to_be_bytes());
    sealed(out, &[])
}

/// Reads which opening is refused; `None` for anything else and anything damaged.
pub fn read_refusal(bytes: &[u8]) -> Option<u32> {
    let body = checked(bytes, &[])?;
    let (&[0x30, _], nonce) = body.split_first_chunk()? else { return None };
    Some(u32::from_be_bytes(nonce.try_into().ok()?))
}

impl Segment {
    /// As bytes, for this link, sent by `sender`.
    ///
    /// The payload is at most [`LARGEST`] less [`OVERHEAD`] bytes long, the room at most [`MOST_ROOM`].
    pub fn write(&self, link: LinkId, sender: Role) -> Bytes {
        debug_assert!(self.payload.len() + OVERHEAD <= LARGEST && self.room <= MOST_ROOM);
        let kind = match self.kind {
            Kind::Data => 0x40,
            Kind::Ack => 0x50,
            Kind::End => 0x60,
            Kind::Probe => 0x70,
            Kind::Reset => 0x80,
        };
        let mut out = Vec::with_capacity(self.payload.len() + OVERHEAD);
        out.push(kind | (self.room / ROOM_UNIT));
        out.extend(self.number.to_be_bytes());
        out.extend(self.ack.to_be_bytes());
        out.extend(self.also.to_be_bytes());
        out.extend((self.payload.len() as u16).to_be_bytes());
        out.extend(&self.payload);
        sealed(out, &secret(link, sender))
    }

    /// Reads a fragment of this link sent by `sender`; `None` when it is damaged, of another link, or none of these kinds.
    pub fn read(bytes: &[u8], link: LinkId, sender: Role) -> Option<Segment> {
        if bytes.len() > LARGEST {
            return None;
        }
        let body = checked(bytes, &secret(link, sender))?;
        let (header, payload) = body.split_first_chunk::<HEADER>()?;
        let kind = match header[0] & 0xF0 {
            0x40 => Kind::Data,
            0x50 => Kind::Ack,
            0x60 => Kind::End,
            0x70 => Kind::Probe,
            0x80 => Kind::Reset,
            _ => return None,
        };
        let number = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        let length = usize::from(number(9));
        let carries = matches!(kind, Kind::Data | Kind::End);
        if length != payload.len() || (!carries && length > 0) || (kind == Kind::Data && length == 0) {
            return None;
        }
        Some(Segment {
            kind,
            room: (header[0] & 0x0F) * ROOM_UNIT,
            number: number(1),
            ack: number(3),
            also: u32::from_be_bytes([header[5], header[6], header[7], header[8]]),
            payload: Bytes::copy_from_slice(payload),
        })
    }
}

fn secret(link: LinkId, sender: Role) -> [u8; LINK_ID] {
    let mut out = [0; LINK_ID];
    out[..4].copy_from_slice(&link.opener.to_be_bytes());
    out[4..8].copy_from_slice(&link.accepter.to_be_bytes());
    out[8] = match sender {
        Role::Opener => 1,
        Role::Accepter => 2,
    };
    out
}

fn sum(prefix: &[u8], body: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(prefix);
    hasher.update(body);
    hasher.finalize()
}

fn sealed(mut body: Vec<u8>, prefix: &[u8]) -> Bytes {
    let check = sum(prefix, &body);
    body.extend(check.to_be_bytes());
    body.into()
}

fn checked<'a>(bytes: &'a [u8], prefix: &[u8]) -> Option<&'a [u8]> {
    let (body, check) = bytes.split_last_chunk::<CHECK>()?;
    (sum(prefix, body) == u32::from_be_bytes(*check)).then_some(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINK: LinkId = LinkId { opener: 7, accepter: 9 };

    fn sample() -> Segment {
        Segment {
            kind: Kind::Data,
            room: 8,
            number: 3,
            ack: 0xFFFE,
            also: 5,
            payload: Bytes::from_static(b"h8"),
        }
    }

    #[test]
    fn the_three_words_of_the_handshake_read_back_and_fit_the_smallest_mtu() {
        let opening = Opening { version: VERSION, nonce: 0xDEAD_BEEF, limit: 490 };
        let accepting = Accepting { version: VERSION, link: LINK, limit: 20 };
        assert_eq!(read_opening(&write_opening(opening)), Some(opening));
        assert_eq!(read_accepting(&write_accepting(accepting)), Some(accepting));
        assert_eq!(read_refusal(&write_refusal(77)), Some(77));
        for word in [write_opening(opening), write_accepting(accepting), write_refusal(1)] {
            assert!(word.len() <= SMALLEST);
            for cut in 0..word.len() {
                assert_eq!(read_opening(&word[..cut]), None);
                assert_eq!(read_accepting(&word[..cut]), None);
                assert_eq!(read_refusal(&word[..cut]), None);
            }
        }
    }

    #[test]
    fn a_fragment_of_another_link_or_of_oneself_is_not_read() {
        let bytes = sample().write(LINK, Role::Opener);
        assert_eq!(Segment::read(&bytes, LINK, Role::Opener), Some(sample()));
        assert_eq!(Segment::read(&bytes, LINK, Role::Accepter), None);
        assert_eq!(Segment::read(&bytes, LinkId { opener: 8, ..LINK }, Role::Opener), None);
        assert_eq!(Segment::read(&bytes, LinkId { accepter: 8, ..LINK }, Role::Opener), None);
    }

    #[test]
    fn every_truncation_and_every_flipped_bit_is_noticed() {
        let bytes = sample().write(LINK, Role::Accepter);
        for cut in 0..bytes.len() {
            assert_eq!(Segment::read(&bytes[..cut], LINK, Role::Accepter), None);
        }
        for bit in 0..bytes.len() * 8 {
            let mut bent = bytes.to_vec();
            bent[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Segment::read(&bent, LINK, Role::Accepter), None);
        }
    }

    proptest! {
        #[test]
        fn any_fragment_reads_back(kind in 0..5usize, room in 0..=15u8, numbers: [u16; 2], also: u32, bytes: Vec<u8>) {
            let kind = [Kind::Data, Kind::Ack, Kind::End, Kind::Probe, Kind::Reset][kind];
            let payload = match kind {
                Kind::Data if bytes.is_empty() => Bytes::from_static(b"x"),
                Kind::Data | Kind::End => bytes.into(),
                Kind::Ack | Kind::Probe | Kind::Reset => Bytes::new(),
            };
            let [number, ack] = numbers;
            let segment = Segment { kind, room: room * ROOM_UNIT, number, ack, also, payload };
            let bytes = segment.write(LINK, Role::Opener);
            prop_assert_eq!(bytes.len(), OVERHEAD + segment.payload.len());
            prop_assert_eq!(Segment::read(&bytes, LINK, Role::Opener), Some(segment));
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            let _ = (read_opening(&bytes), read_accepting(&bytes), read_refusal(&bytes));
            let _ = Segment::read(&bytes, LINK, Role::Opener);
        }
    }
}
