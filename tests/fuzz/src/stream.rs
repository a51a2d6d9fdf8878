//! The stream over Bluetooth, with a peer that sends any values at any time.
//!
//! The input is a script: one byte for what happens, one for how much. A hostile peer knows the link's nonces, so that its
//! fragments pass the check; libFuzzer could not find a CRC by itself.

use std::time::{Duration, Instant};

use ble_transport::stream::{
    Accepting, Kind, LARGEST, LinkId, MAX_WINDOW, Opening, Output, Role, SACK, Segment, Stream, VERSIONS,
    WINDOW_UNIT, write_accepting,
};
use bytes::Bytes;

const LINK: LinkId = LinkId { opener: 7, accepter: 9 };
const KINDS: [Kind; 5] = [Kind::Data, Kind::Ack, Kind::End, Kind::Probe, Kind::Reset];

/// Most values that a stream may send between two events: a window in each of its two roles, an acknowledgement, a reset.
const MOST_AT_ONCE: usize = 2 * MAX_WINDOW as usize + 2;

/// Most bytes that wait to be read: the advertised window, each fragment full.
const MOST_BUFFERED: usize = MAX_WINDOW as usize * LARGEST;

struct Script<'input>(&'input [u8]);

impl<'input> Script<'input> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn word(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes([self.byte()?, self.byte()?]))
    }

    fn bytes(&mut self, length: usize) -> &'input [u8] {
        let (piece, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        piece
    }
}

/// The first byte chooses the role and the fragment limit.
pub(crate) fn check(input: &[u8]) {
    let mut script = Script(input);
    let _ = run(&mut script);
}

fn run(script: &mut Script<'_>) -> Option<()> {
    let start = Instant::now();
    let mut now = start;
    let first = script.byte()?;
    let limit = 18 + u16::from(first >> 1) * 4;
    let (mut stream, peer) = if first & 1 == 0 {
        (Stream::open(now, LINK.opener, limit), Role::Accepter)
    } else {
        let opening = Opening { versions: VERSIONS, nonce: LINK.opener, limit: LARGEST as u16 };
        (Stream::accept(now, LINK.accepter, limit, opening), Role::Opener)
    };
    drain(&mut stream, now);
    loop {
        match script.byte()? % 8 {
            0 => now += Duration::from_millis(u64::from(script.word()?)),
            1 => {
                let length = script.word()? as usize % 600;
                stream.handle(now, script.bytes(length));
            }
            2 => {
                let length = usize::from(script.byte()?) * 16;
                let room = stream.writable();
                assert!(stream.write(now, &vec![3; length]) <= room.min(length));
            }
            3 => stream.flush(),
            4 => {
                let mut into = vec![0; usize::from(script.byte()?) * 16];
                let readable = stream.readable();
                assert_eq!(stream.read(&mut into), readable.min(into.len()));
            }
            5 => drop(stream.finish()),
            6 => {
                let accepting = Accepting { version: VERSIONS.highest, link: LINK, limit: 100 };
                stream.handle(now, &write_accepting(accepting));
            }
            _ => {
                let kind = KINDS[usize::from(script.byte()?) % KINDS.len()];
                let room = script.byte()? % 16 * WINDOW_UNIT;
                let (number, ack) = (script.word()?, script.word()?);
                let sack = u32::from(script.byte()?) << (script.byte()? % 25);
                // A reset has no SACK.
                let sack = if kind == Kind::Reset { 0 } else { sack };
                let most = LARGEST - ble_transport::stream::OVERHEAD - SACK;
                let carries = matches!(kind, Kind::Data | Kind::End);
                let length = if carries { script.word()? as usize % most } else { 0 };
                let payload = Bytes::from(vec![5; length]);
                let segment = Segment { kind, room, number, ack, sack, payload };
                let value = segment.write(LINK, peer);
                if !(carries && kind == Kind::Data && length == 0) {
                    assert_eq!(Segment::read(&value, LINK, peer).as_ref(), Some(&segment));
                }
                stream.handle(now, &value);
            }
        }
        drain(&mut stream, now);
        assert!(stream.readable() <= MOST_BUFFERED, "{} bytes wait to be read", stream.readable());
    }
}

/// Takes what the stream sends until it is idle: soon, and with a time that is still to come.
fn drain(stream: &mut Stream, now: Instant) {
    for _ in 0..=MOST_AT_ONCE {
        match stream.poll(now) {
            Output::Send(value) => assert!(value.len() <= LARGEST),
            Output::Idle { until } => {
                assert!(until.is_none_or(|until| until > now), "it would be polled for ever");
                return;
            }
        }
    }
    panic!("it never stops sending");
}
