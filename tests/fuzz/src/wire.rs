//! Frames, messages between devices, and messages on the control socket.

use bytes::BytesMut;
use proto::EnvelopeError;
use proto::control::Message;
use proto::frame::{Arrival, FrameCodec, FrameLimit, HEADER_BYTES, Outgoing};
use proto::peer::Envelope;
use tokio_util::codec::{Decoder, Encoder};

/// The first byte chooses the limit, the second the length of the pieces; the rest is the stream from a
/// link.
pub(crate) fn frame(input: &[u8]) {
    let Some(([limit, piece], wire)) = input.split_first_chunk() else { return };
    let limit = [FrameLimit::Stranger, FrameLimit::Peer, FrameLimit::Local][usize::from(*limit) % 3];
    let (arrivals, end) = decoded(wire, wire.len(), limit);
    assert_eq!(
        decoded(wire, usize::from(*piece), limit),
        (arrivals.clone(), end),
        "another cut, another meaning"
    );

    let mut codec = FrameCodec::new(limit);
    let mut again = BytesMut::new();
    let mut in_order = true;
    for arrival in arrivals {
        let (Arrival::Next(frame) | Arrival::Old(frame) | Arrival::Gap { frame, .. }) = &arrival;
        assert!(HEADER_BYTES + frame.payload.len() <= limit.bytes());
        in_order &= matches!(arrival, Arrival::Next(_));
        if in_order {
            let outgoing = Outgoing { msgid: frame.msgid, payload: frame.payload.clone() };
            codec.encode(outgoing, &mut again).expect("was within the limit");
        }
    }
    assert!(wire.starts_with(&again), "what was accepted is not what we would write");
}

/// The decoded frames, and the error that ended the stream.
fn decoded(wire: &[u8], piece: usize, limit: FrameLimit) -> (Vec<Arrival>, String) {
    let mut codec = FrameCodec::new(limit);
    let mut buffer = BytesMut::new();
    let mut arrivals = Vec::new();
    for piece in wire.chunks(piece.max(1)) {
        buffer.extend_from_slice(piece);
        loop {
            match codec.decode(&mut buffer) {
                Ok(Some(arrival)) => arrivals.push(arrival),
                Ok(None) => break,
                Err(error) => return (arrivals, error.to_string()),
            }
        }
    }
    let end =
        codec.decode_eof(&mut buffer).map_or_else(|error| error.to_string(), |more| format!("{more:?}"));
    (arrivals, end)
}

/// The first byte is the message's number, the rest its payload.
pub(crate) fn peer(input: &[u8]) {
    let Some((msgid, payload)) = input.split_first() else { return };
    let msgid = u32::from(*msgid);
    match Envelope::decode(msgid, payload) {
        Ok(envelope) => {
            let (again, payload) = envelope.encode();
            assert_eq!((again, envelope.msgid()), (msgid, msgid));
            assert_eq!(Envelope::decode(msgid, &payload), Ok(envelope));
        }
        Err(error) => explained(&error, Envelope::MSGIDS, msgid),
    }
}

/// The first byte is the message's number, the rest its payload.
pub(crate) fn control(input: &[u8]) {
    let Some((msgid, payload)) = input.split_first() else { return };
    let msgid = u32::from(*msgid);
    match Message::decode(msgid, payload) {
        Ok(message) => {
            let (again, payload) = message.encode();
            assert_eq!((again, message.msgid()), (msgid, msgid));
            assert_eq!(Message::decode(msgid, &payload), Ok(message));
        }
        Err(error) => explained(&error, Message::MSGIDS, msgid),
    }
}

fn explained(error: &EnvelopeError, known: &[u32], msgid: u32) {
    assert_eq!(matches!(error, EnvelopeError::UnknownMessage(_)), !known.contains(&msgid));
    assert!(!error.to_string().is_empty());
}
