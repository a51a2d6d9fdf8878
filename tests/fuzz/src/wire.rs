//! Frames, messages between devices, and messages on the control socket; what a message between devices says of a game.

use bytes::BytesMut;
use engine::AnyGame;
use prost::Message as _;
use proto::control::Message;
use proto::frame::{Arrival, FrameCodec, FrameLimit, HEADER_BYTES, Outgoing};
use proto::peer::Envelope;
use proto::{EnvelopeError, board};
use session::wire;
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

/// A setup that is read is written in one form, which is read as the same; a board that is too large for two is not made.
pub(crate) fn setup(input: &[u8]) {
    let Ok(said) = board::Setup::decode(input) else { return };
    let for_peers = wire::read_peer_setup(Some(&said));
    let setup = match wire::read_setup(Some(&said)) {
        Ok(setup) => setup,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert_eq!(for_peers, Err(error));
            return;
        }
    };
    let written = wire::setup(&setup).encode_to_vec();
    let again = board::Setup::decode(&written[..]).expect("what was written is decoded");
    let again = wire::read_setup(Some(&again)).expect("what was written is read");
    assert_eq!(again, setup);
    assert_eq!(wire::setup(&again).encode_to_vec(), written, "writing twice gives the same");
    assert_eq!(for_peers.is_ok(), wire::is_for_peers(&setup));
    if let Ok(setup) = for_peers
        && let Ok(game) = AnyGame::new(&setup)
    {
        assert_eq!(game.key(), game.fresh_key());
    }
}

/// A record's actions have one form: what is unpacked packs into the same bytes, and each action reads back as a message too.
pub(crate) fn actions(input: &[u8]) {
    match wire::unpack_actions(input) {
        Ok(actions) => {
            assert_eq!(wire::pack_actions(&actions), input);
            for action in actions {
                assert_eq!(wire::read_action(Some(&wire::action(action))), Ok(action));
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeds(name: &str) -> Vec<Vec<u8>> {
        crate::Target::of(name).expect("a target").seeds()
    }

    /// Otherwise the mutations would begin from nothing.
    #[test]
    fn the_seeds_of_setups_and_actions_are_read() {
        for seed in seeds("wire-setup") {
            let said = board::Setup::decode(&seed[..]).expect("a message");
            let setup = wire::read_setup(Some(&said)).expect("a setup");
            assert_eq!(wire::setup(&setup), said);
        }
        for seed in seeds("wire-actions") {
            assert!(wire::unpack_actions(&seed).is_ok(), "{seed:?}");
        }
    }
}
