//! Benchmark of the frame codec against `LengthDelimitedCodec`, alternating within one run.
//!
//! Decoding: both get the same bytes in the same pieces; the other codec is set to our layout, skips the header and returns
//! the payload, without checking magic, number, sequence or version. Encoding: the other codec cannot write our layout, so it
//! writes its own usual one, four bytes of length and the payload: sixteen bytes a frame fewer than ours.

use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use proto::frame::{Arrival, FrameCodec, FrameLimit, HEADER_BYTES, Outgoing};
use tokio_util::codec::{Decoder, Encoder, LengthDelimitedCodec};

/// Payload bytes: a ping, a move, part of a record.
const PAYLOADS: [usize; 3] = [16, 64, 1024];

/// The payload whose ratio must not fall below 1.
const JUDGED: usize = 64;

/// Bytes of payload per codec and turn: about a millisecond, which is long against the clock's resolution and short against a
/// time slice of the scheduler.
const TURN: usize = 1 << 20;

/// Turns of each codec. The fastest counts: other load on the machine only adds time.
const TURNS: usize = 61;

/// Bytes of one read or write: the initial buffer of `Framed`.
const BUFFER: usize = 8 << 10;

/// Prints the table, and the ratio at [`JUDGED`] bytes for `scripts/ratchet`, which judges.
pub(crate) fn run() {
    println!("payload  ours: encode  decode   other: encode  decode   ns a frame; ratio other/ours");
    let mut judged = 0.0;
    for payload in PAYLOADS {
        let (ours, other) = measure(payload);
        let ratio = other.both() / ours.both();
        if payload == JUDGED {
            judged = ratio;
        }
        println!(
            "{payload:>7} {:>13.1} {:>7.1} {:>15.1} {:>7.1}   encode {:.2}, decode {:.2}, both {ratio:.2}",
            ours.encode,
            ours.decode,
            other.encode,
            other.decode,
            other.encode / ours.encode,
            other.decode / ours.decode,
        );
    }
    println!("figure codec.ratio_{JUDGED} {judged:.3} 1 at-least");
}

/// Nanoseconds a frame.
struct Cost {
    encode: f64,
    decode: f64,
}

impl Cost {
    fn both(&self) -> f64 {
        self.encode + self.decode
    }
}

fn measure(payload: usize) -> (Cost, Cost) {
    let frames = TURN / payload;
    let payload = Bytes::from(vec![0xA5; payload]);
    let mut wire = BytesMut::new();
    let mut codec = FrameCodec::new(FrameLimit::Peer);
    for _ in 0..frames {
        let outgoing = Outgoing { msgid: 6, payload: payload.clone() };
        codec.encode(outgoing, &mut wire).expect("is shorter than the limit");
    }
    // A warm-up, which also checks that both decode the same frames.
    let (_, ours) = decode_ours(&wire);
    let (_, other) = decode_other(&wire);
    assert_eq!((ours, other), (frames, frames));

    let [mut encode_us, mut decode_us, mut encode_them, mut decode_them] =
        [const { Vec::<Duration>::new() }; 4];
    for _ in 0..TURNS {
        encode_us.push(encode_ours(frames, &payload));
        encode_them.push(encode_other(frames, &payload));
        decode_us.push(decode_ours(&wire).0);
        decode_them.push(decode_other(&wire).0);
    }
    let each = |turns: Vec<Duration>| fastest(&turns).as_secs_f64() * 1e9 / frames as f64;
    (
        Cost { encode: each(encode_us), decode: each(decode_us) },
        Cost { encode: each(encode_them), decode: each(decode_them) },
    )
}

fn fastest(turns: &[Duration]) -> Duration {
    turns.iter().min().copied().expect("there are turns")
}

fn encode_ours(frames: usize, payload: &Bytes) -> Duration {
    let mut codec = FrameCodec::new(FrameLimit::Peer);
    encode(frames, |buffer| {
        let outgoing = Outgoing { msgid: 6, payload: black_box(payload).clone() };
        codec.encode(outgoing, buffer).expect("is shorter than the limit");
    })
}

fn encode_other(frames: usize, payload: &Bytes) -> Duration {
    let mut codec = LengthDelimitedCodec::new();
    encode(frames, |buffer| {
        codec.encode(black_box(payload).clone(), buffer).expect("is shorter than the limit");
    })
}

/// As `Framed` does: into one buffer, written out when full.
fn encode(frames: usize, mut next: impl FnMut(&mut BytesMut)) -> Duration {
    let mut buffer = BytesMut::with_capacity(2 * BUFFER);
    let begun = Instant::now();
    for _ in 0..frames {
        next(&mut buffer);
        if buffer.len() >= BUFFER {
            black_box(&buffer[..]);
            buffer.clear();
        }
    }
    begun.elapsed()
}

fn decode_ours(wire: &[u8]) -> (Duration, usize) {
    let mut codec = FrameCodec::new(FrameLimit::Peer);
    decode(wire, |buffer| match codec.decode(buffer).expect("our own frames") {
        Some(Arrival::Next(frame)) => Some(black_box(frame).payload.len()),
        Some(out_of_turn) => panic!("in order: {out_of_turn:?}"),
        None => None,
    })
}

fn decode_other(wire: &[u8]) -> (Duration, usize) {
    let mut codec = LengthDelimitedCodec::builder()
        .length_field_offset(4)
        .length_field_length(4)
        .length_adjustment(-(HEADER_BYTES as isize))
        .num_skip(HEADER_BYTES)
        .max_frame_length(FrameLimit::Peer.bytes())
        .new_codec();
    decode(wire, |buffer| {
        codec.decode(buffer).expect("our own frames").map(|payload| black_box(payload).len())
    })
}

/// The time, and the number of decoded frames.
fn decode(wire: &[u8], mut next: impl FnMut(&mut BytesMut) -> Option<usize>) -> (Duration, usize) {
    let mut buffer = BytesMut::with_capacity(BUFFER);
    let mut frames = 0;
    let begun = Instant::now();
    for read in wire.chunks(BUFFER) {
        buffer.extend_from_slice(read);
        while next(&mut buffer).is_some() {
            frames += 1;
        }
    }
    (begun.elapsed(), frames)
}
