//! The format of one GATT write or notification.
//!
//! ```text
//! open    0x10 lowest highest  nonce u32  limit u16  …                check u32   13 bytes
//! accept  0x20 version  opener's nonce u32  own nonce u32  limit u16  …  check u32   16 bytes
//! refuse  0x30 reason  lowest highest  opener's nonce u32  …            check u32   12 bytes
//! others  kind+room  number u16  ack u16  [sack u32]  payload…          check u32   9 bytes, 13 with SACK
//! ```
//!
//! The opener sends its range of versions. The accepter chooses the highest version in both ranges, or refuses and sends its own
//! range. A later version may add fields to these three at the `…`; receivers ignore them. The fields above keep their place in
//! every version, so that two devices of any age can tell each other which of them is outdated.
//!
//! Numbers are big-endian. The check is a CRC-32 of everything before it and detects a truncated value. SACK (selective
//! acknowledgement) is present only when a fragment arrived out of order: at ATT's smallest MTU its four bytes are a third of
//! the payload. The CRC of the numbered kinds is seeded with the [`LinkId`] and the sender's role, which are not sent: a
//! fragment of an older link, or an echo of one's own, fails the check like a damaged fragment. That matters because BlueZ keeps
//! streams open across links, so that a new link begins with leftovers of the old link.

use bytes::Bytes;

/// Versions of this layer, sent when a link opens. Version 1 had a header of 15 bytes and was never released.
pub const VERSIONS: Versions = Versions { lowest: 2, highest: 2 };

/// Bytes around the payload of a numbered fragment; [`SACK`] more if a fragment arrived out of order.
pub const OVERHEAD: usize = HEADER + CHECK;

/// Bytes of a selective acknowledgement.
pub const SACK: usize = 4;

/// Smallest maximum fragment of any link: ATT's smallest MTU of 23 less five, of which bluer's writer subtracts two for safety.
/// Openings and acceptings fit.
pub const SMALLEST: usize = 18;

/// Largest fragment ever sent or accepted.
///
/// Seen in the lab: writes of 511 bytes and more return Ok and vanish, and with EATT some of 500 to 508 bytes are lost.
pub const LARGEST: usize = 496;

/// Most fragments in flight: the advertised room has four bits, in [`WINDOW_UNIT`]s.
///
/// A 30 ms interval with two full fragments and an RTT of 60 ms need four. On a busy machine a fragment and its acknowledgement
/// take up to 600 ms through two bluetoothd, which is 40: with 30 the air was idle for a fifth of the time.
pub const MAX_WINDOW: u8 = 15 * WINDOW_UNIT;

/// Fragments per unit of the room's four bits.
pub const WINDOW_UNIT: u8 = 4;

const HEADER: usize = 5;
const CHECK: usize = 4;
/// Flag in the kind byte.
const WITH_SACK: u8 = 0x80;
const LINK_ID: usize = 9;

/// Identifies one link: a nonce from each side, drawn afresh for each link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkId {
    /// Drawn by the side that opened.
    pub opener: u32,
    /// Drawn by the side that accepted.
    pub accepter: u32,
}

/// The two ends of a link.
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

/// A range of versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The oldest.
    pub lowest: u8,
    /// The newest.
    pub highest: u8,
}

impl Versions {
    /// The newest version in both ranges.
    pub fn common(self, other: Versions) -> Option<u8> {
        let highest = self.highest.min(other.highest);
        (highest >= self.lowest.max(other.lowest)).then_some(highest)
    }

    /// Whether the range contains `version`.
    pub fn hold(self, version: u8) -> bool {
        (self.lowest..=self.highest).contains(&version)
    }
}

/// The first fragment of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Versions that the opener speaks.
    pub versions: Versions,
    /// The opener's half of the [`LinkId`].
    pub nonce: u32,
    /// The largest fragment the opener can send, in bytes.
    pub limit: u16,
}

/// The answer to an [`Opening`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepting {
    /// The version of this link.
    pub version: u8,
    /// Both nonces.
    pub link: LinkId,
    /// The largest fragment the accepter can send, in bytes.
    pub limit: u16,
}

/// The other answer to an [`Opening`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The nonce of the refused opening.
    pub nonce: u32,
    /// Why.
    pub reason: RefusalReason,
    /// Versions that the refusing side speaks.
    pub versions: Versions,
}

/// Why an [`Opening`] is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalReason {
    /// Another link is up, or a reason of a later version.
    Busy,
    /// No version in common.
    Version,
}

/// The type of a numbered fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Carries bytes of the stream.
    Data,
    /// Only acknowledges. Consumes no number.
    Ack,
    /// The last bytes of the stream, or none.
    End,
    /// Window probe: asks for an acknowledgement when the peer had no room. Consumes no number.
    Probe,
    /// The sender closed the link abnormally. Consumes no number.
    Reset,
}

/// A numbered fragment, or one that only acknowledges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its type.
    pub kind: Kind,
    /// Receive window: how many fragments from `ack` on the sender can take, 0 to [`MAX_WINDOW`]; sent in [`WINDOW_UNIT`]s, rounded
    /// down.
    pub room: u8,
    /// Sequence number for [`Kind::Data`] and [`Kind::End`], else the next number to be used.
    pub number: u16,
    /// Cumulative acknowledgement: the first number that the sender has not received.
    pub ack: u16,
    /// Selective acknowledgement: bit i says that `ack + 1 + i` was received. 0 is not sent.
    pub sack: u32,
    /// Bytes of the stream.
    pub payload: Bytes,
}

/// Writes an [`Opening`].
pub fn write_opening(opening: Opening) -> Bytes {
    let mut out = vec![0x10, opening.versions.lowest, opening.versions.highest];
    out.extend(opening.nonce.to_be_bytes());
    out.extend(opening.limit.to_be_bytes());
    with_crc(out, &[])
}

/// Reads an [`Opening`]; `None` for other kinds and damaged bytes.
pub fn read_opening(bytes: &[u8]) -> Option<Opening> {
    let body = strip_crc(bytes, &[])?;
    let (&[0x10, lowest, highest], rest) = body.split_first_chunk()? else { return None };
    let (nonce, rest) = rest.split_first_chunk()?;
    let (limit, _later) = rest.split_first_chunk()?;
    Some(Opening {
        versions: Versions { lowest, highest },
        nonce: u32::from_be_bytes(*nonce),
        limit: u16::from_be_bytes(*limit),
    })
}

/// Writes an [`Accepting`].
pub fn write_accepting(accepting: Accepting) -> Bytes {
    let mut out = vec![0x20, accepting.version];
    out.extend(accepting.link.opener.to_be_bytes());
    out.extend(accepting.link.accepter.to_be_bytes());
    out.extend(accepting.limit.to_be_bytes());
    with_crc(out, &[])
}

/// Reads an [`Accepting`]; `None` for other kinds and damaged bytes.
pub fn read_accepting(bytes: &[u8]) -> Option<Accepting> {
    let body = strip_crc(bytes, &[])?;
    let (&[0x20, version], rest) = body.split_first_chunk()? else { return None };
    let (opener, rest) = rest.split_first_chunk()?;
    let (accepter, rest) = rest.split_first_chunk()?;
    let (limit, _later) = rest.split_first_chunk()?;
    Some(Accepting {
        version,
        link: LinkId { opener: u32::from_be_bytes(*opener), accepter: u32::from_be_bytes(*accepter) },
        limit: u16::from_be_bytes(*limit),
    })
}

/// Writes a [`Refusal`].
pub fn write_refusal(refusal: Refusal) -> Bytes {
    let reason = match refusal.reason {
        RefusalReason::Busy => 0,
        RefusalReason::Version => 1,
    };
    let mut out = vec![0x30, reason, refusal.versions.lowest, refusal.versions.highest];
    out.extend(refusal.nonce.to_be_bytes());
    with_crc(out, &[])
}

/// Reads a [`Refusal`]; `None` for other kinds and damaged bytes.
pub fn read_refusal(bytes: &[u8]) -> Option<Refusal> {
    let body = strip_crc(bytes, &[])?;
    let (&[0x30, reason, lowest, highest], rest) = body.split_first_chunk()? else { return None };
    let (nonce, _later) = rest.split_first_chunk()?;
    Some(Refusal {
        nonce: u32::from_be_bytes(*nonce),
        reason: if reason == 1 { RefusalReason::Version } else { RefusalReason::Busy },
        versions: Versions { lowest, highest },
    })
}

impl Segment {
    /// Encodes the segment for this link, sent by `sender`.
    ///
    /// The result has at most [`LARGEST`] bytes, the room is at most [`MAX_WINDOW`]. The last fragment of a link has no SACK.
    pub fn write(&self, link: LinkId, sender: Role) -> Bytes {
        debug_assert!(self.length() <= LARGEST && self.room <= MAX_WINDOW);
        let has_sack = self.has_sack();
        let kind = match self.kind {
            Kind::Data => 0x40,
            Kind::Ack => 0x50,
            Kind::End => 0x60,
            Kind::Probe => 0x70,
            Kind::Reset => 0x80,
        };
        let mut out = Vec::with_capacity(self.length());
        out.push(kind | if has_sack { WITH_SACK } else { 0 } | (self.room / WINDOW_UNIT));
        out.extend(self.number.to_be_bytes());
        out.extend(self.ack.to_be_bytes());
        if has_sack {
            out.extend(self.sack.to_be_bytes());
        }
        out.extend(&self.payload);
        with_crc(out, &crc_seed(link, sender))
    }

    /// Reads a fragment of this link sent by `sender`; `None` if it is damaged, of another link, or of another kind.
    pub fn read(bytes: &[u8], link: LinkId, sender: Role) -> Option<Segment> {
        if bytes.len() > LARGEST {
            return None;
        }
        let body = strip_crc(bytes, &crc_seed(link, sender))?;
        let (header, payload) = body.split_first_chunk::<HEADER>()?;
        let (kind, has_sack) = match header[0] & 0xF0 {
            0x80 => (Kind::Reset, false),
            other => match (other & !WITH_SACK, other & WITH_SACK != 0) {
                (0x40, has_sack) => (Kind::Data, has_sack),
                (0x50, has_sack) => (Kind::Ack, has_sack),
                (0x60, has_sack) => (Kind::End, has_sack),
                (0x70, has_sack) => (Kind::Probe, has_sack),
                _ => return None,
            },
        };
        let (sack, payload) = if has_sack {
            let (sack, payload) = payload.split_first_chunk::<SACK>()?;
            (u32::from_be_bytes(*sack), payload)
        } else {
            (0, payload)
        };
        let carries = matches!(kind, Kind::Data | Kind::End);
        if (!carries && !payload.is_empty()) || (kind == Kind::Data && payload.is_empty()) {
            return None;
        }
        let number = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        Some(Segment {
            kind,
            room: (header[0] & 0x0F) * WINDOW_UNIT,
            number: number(1),
            ack: number(3),
            sack,
            payload: Bytes::copy_from_slice(payload),
        })
    }

    fn has_sack(&self) -> bool {
        self.sack != 0 && self.kind != Kind::Reset
    }

    /// Encoded length in bytes.
    pub(super) fn length(&self) -> usize {
        OVERHEAD + if self.has_sack() { SACK } else { 0 } + self.payload.len()
    }
}

fn crc_seed(link: LinkId, sender: Role) -> [u8; LINK_ID] {
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

fn with_crc(mut body: Vec<u8>, prefix: &[u8]) -> Bytes {
    let check = sum(prefix, &body);
    body.extend(check.to_be_bytes());
    body.into()
}

fn strip_crc<'a>(bytes: &'a [u8], prefix: &[u8]) -> Option<&'a [u8]> {
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
            sack: 5,
            payload: Bytes::from_static(b"h8"),
        }
    }

    #[test]
    fn the_three_words_of_the_handshake_read_back_and_fit_the_smallest_mtu() {
        let opening = Opening { versions: VERSIONS, nonce: 0xDEAD_BEEF, limit: 490 };
        let accepting = Accepting { version: VERSIONS.highest, link: LINK, limit: 20 };
        let refusal = |reason| Refusal { nonce: 77, reason, versions: VERSIONS };
        assert_eq!(read_opening(&write_opening(opening)), Some(opening));
        assert_eq!(read_accepting(&write_accepting(accepting)), Some(accepting));
        for reason in [RefusalReason::Busy, RefusalReason::Version] {
            assert_eq!(read_refusal(&write_refusal(refusal(reason))), Some(refusal(reason)));
        }
        let refused = write_refusal(refusal(RefusalReason::Busy));
        for word in [write_opening(opening), write_accepting(accepting), refused] {
            assert!(word.len() <= SMALLEST);
            for cut in 0..word.len() {
                assert_eq!(read_opening(&word[..cut]), None);
                assert_eq!(read_accepting(&word[..cut]), None);
                assert_eq!(read_refusal(&word[..cut]), None);
            }
        }
    }

    /// The present encoding of the handshake, which every later version must read.
    #[test]
    fn the_words_of_the_handshake_stay_as_they_are() {
        let opening = Opening { versions: VERSIONS, nonce: 0xDEAD_BEEF, limit: 490 };
        let accepting = Accepting { version: 2, link: LINK, limit: 20 };
        let refusal = Refusal { nonce: 77, reason: RefusalReason::Version, versions: VERSIONS };
        assert_eq!(write_opening(opening)[..], FROZEN_OPENING);
        assert_eq!(write_accepting(accepting)[..], FROZEN_ACCEPTING);
        assert_eq!(write_refusal(refusal)[..], FROZEN_REFUSAL);
    }

    /// The CRCs come from Python's zlib.crc32.
    const FROZEN_OPENING: [u8; 13] = hex(b"100202deadbeef01ea3927f2e0");
    const FROZEN_ACCEPTING: [u8; 16] = hex(b"200200000007000000090014eb24752a");
    const FROZEN_REFUSAL: [u8; 12] = hex(b"300102020000004d79fd48e6");

    const fn hex<const N: usize>(digits: &[u8]) -> [u8; N] {
        const fn value(digit: u8) -> u8 {
            if digit < b'a' { digit - b'0' } else { digit - b'a' + 10 }
        }
        let mut out = [0; N];
        let mut at = 0;
        while at < N {
            out[at] = value(digits[2 * at]) << 4 | value(digits[2 * at + 1]);
            at += 1;
        }
        out
    }

    #[test]
    fn what_a_later_version_adds_to_the_handshake_is_passed_over() {
        let opening = Opening { versions: Versions { lowest: 2, highest: 9 }, nonce: 7, limit: 490 };
        let accepting = Accepting { version: 2, link: LINK, limit: 20 };
        let refusal = Refusal { nonce: 7, reason: RefusalReason::Version, versions: opening.versions };
        let longer = |word: Bytes| with_crc([&word[..word.len() - CHECK], b"more"].concat(), &[]);
        assert_eq!(read_opening(&longer(write_opening(opening))), Some(opening));
        assert_eq!(read_accepting(&longer(write_accepting(accepting))), Some(accepting));
        assert_eq!(read_refusal(&longer(write_refusal(refusal))), Some(refusal));
    }

    #[test]
    fn the_newest_version_that_both_speak_is_chosen() {
        let range = |lowest, highest| Versions { lowest, highest };
        for (one, other, common) in [
            (range(2, 2), range(2, 2), Some(2)),
            (range(2, 4), range(3, 9), Some(4)),
            (range(3, 9), range(2, 4), Some(4)),
            (range(2, 3), range(4, 5), None),
            (range(9, 2), range(2, 9), None),
        ] {
            assert_eq!(one.common(other), common, "{one:?} {other:?}");
        }
    }

    #[test]
    fn in_order_a_fragment_has_nine_bytes_around_its_payload() {
        for (sack, around) in [(0, 9), (1, 13)] {
            let segment = Segment { sack, ..sample() };
            assert_eq!(segment.write(LINK, Role::Opener).len(), around + segment.payload.len());
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
        fn any_fragment_reads_back(kind in 0..5usize, room in 0..=15u8, numbers: [u16; 2], sack: u32, told: bool, bytes: Vec<u8>) {
            let kind = [Kind::Data, Kind::Ack, Kind::End, Kind::Probe, Kind::Reset][kind];
            let payload = match kind {
                Kind::Data if bytes.is_empty() => Bytes::from_static(b"x"),
                Kind::Data | Kind::End => bytes.into(),
                Kind::Ack | Kind::Probe | Kind::Reset => Bytes::new(),
            };
            let [number, ack] = numbers;
            let sack = if told && kind != Kind::Reset { sack } else { 0 };
            let segment = Segment { kind, room: room * WINDOW_UNIT, number, ack, sack, payload };
            let bytes = segment.write(LINK, Role::Opener);
            prop_assert_eq!(bytes.len(), segment.length());
            prop_assert_eq!(Segment::read(&bytes, LINK, Role::Opener), Some(segment));
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            let _ = (read_opening(&bytes), read_accepting(&bytes), read_refusal(&bytes));
            let _ = Segment::read(&bytes, LINK, Role::Opener);
        }
    }
}
