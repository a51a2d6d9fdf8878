//! The bytes of docs/vectors.json, which a Python program computes from docs/protocol.md alone, equal those of these crates.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use ble_transport::stream::{
    Accepting, Kind, LinkId, Opening, Refusal, RefusalReason, Role, Segment, Versions, read_accepting,
    read_opening, read_refusal, write_accepting, write_opening, write_refusal,
};
use bytes::{Bytes, BytesMut};
use engine::lights_out::{LightsOut, LightsOutSetup, Neighbours, Start};
use engine::{Action, Choice, Game, GameKind, GomokuSetup, Point, Setup, Side};
use link::friend_code::FriendCode;
use link::identity::{Identity, fingerprint};
use link::lan::{card_strings, read_card};
use link::secure::{self, AcceptedPeers, ExpectedPeer, SecureError};
use link::{Address, Card, CarrierKind, Epoch, Tag, letter};
use prost::Message;
use proto::frame::{Arrival, Frame, FrameCodec, FrameLimit, Outgoing};
use proto::peer::{self, Envelope};
use proto::short_string::PICTURES;
use serde_json::Value;
use session::{
    Command, Config, Event, Input, Instant, MatchId, MatchRecord, MatchResult, Output, Pace, Session,
    ShortString, wire,
};
use sha2::{Digest, Sha256};
use snow::{Builder, HandshakeState};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio_util::codec::{Decoder, Encoder};

fn vectors() -> Value {
    let text = include_str!("../../docs/vectors.json");
    serde_json::from_str(text).expect("docs/vectors.json is JSON")
}

/// The elements of a list, which must not be empty.
fn list(value: &Value) -> &[Value] {
    let list = value.as_array().expect("a list");
    assert!(!list.is_empty());
    list
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn number<N: TryFrom<u64>>(value: &Value) -> N {
    let number = value.as_u64().expect("a number");
    N::try_from(number).ok().expect("it is not too large")
}

fn bytes(value: &Value) -> Vec<u8> {
    let digits = text(value);
    assert!(digits.len().is_multiple_of(2));
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal digits");
    (0..digits.len()).step_by(2).map(byte).collect()
}

fn array<const N: usize>(value: &Value) -> [u8; N] {
    bytes(value).try_into().expect("so many bytes")
}

fn side(value: &Value) -> Side {
    match text(value) {
        "first" => Side::First,
        "second" => Side::Second,
        other => panic!("no side: {other}"),
    }
}

// Frames.

#[test]
fn frames_are_these_bytes() {
    for one in list(&vectors()["frames"]) {
        let (wire, payload) = (bytes(&one["bytes"]), Bytes::from(bytes(&one["payload"])));
        let (msgid, seqnum) = (number(&one["msgid"]), number(&one["seqnum"]));
        let mut decoder = FrameCodec::new(FrameLimit::Peer);
        let frame = Frame { msgid, seqnum, payload: payload.clone() };
        let arrival = decoder.decode(&mut BytesMut::from(&wire[..])).expect("a frame").expect("it is whole");
        let due = Arrival::Gap { due: 1, frame: frame.clone() };
        assert_eq!(arrival, if seqnum == 1 { Arrival::Next(frame) } else { due });
        // The encoder counts by itself: a large number can only be decoded.
        if seqnum < 100 {
            let (mut encoder, mut written) = (FrameCodec::new(FrameLimit::Peer), BytesMut::new());
            for _ in 1..seqnum {
                encoder.encode(Outgoing { msgid: 1, payload: Bytes::new() }, &mut written).expect("fits");
            }
            let before = written.len();
            encoder.encode(Outgoing { msgid, payload }, &mut written).expect("fits");
            assert_eq!(written[before..], wire);
        }
    }
}

// The stream over GATT.

fn versions(one: &Value) -> Versions {
    Versions { lowest: number(&one["lowest"]), highest: number(&one["highest"]) }
}

fn opening(one: &Value) -> Opening {
    Opening { versions: versions(one), nonce: number(&one["nonce"]), limit: number(&one["limit"]) }
}

fn link_id(one: &Value) -> LinkId {
    LinkId { opener: number(&one["opener"]), accepter: number(&one["accepter"]) }
}

#[test]
fn a_link_over_gatt_is_opened_accepted_and_refused_with_these_bytes() {
    let vectors = vectors();
    let stream = &vectors["stream"];
    for one in list(&stream["openings"]) {
        let (opening, wire) = (opening(one), bytes(&one["bytes"]));
        assert_eq!(write_opening(opening)[..], wire);
        assert_eq!(read_opening(&wire), Some(opening));
    }
    let later = &stream["opening_of_a_later_version"];
    assert_eq!(read_opening(&bytes(&later["bytes"])), Some(opening(later)));
    for one in list(&stream["acceptings"]) {
        let wire = bytes(&one["bytes"]);
        let (version, limit) = (number(&one["version"]), number(&one["limit"]));
        let accepting = Accepting { version, link: link_id(one), limit };
        assert_eq!(write_accepting(accepting)[..], wire);
        assert_eq!(read_accepting(&wire), Some(accepting));
    }
    for one in list(&stream["refusals"]) {
        let wire = bytes(&one["bytes"]);
        let reason = match text(&one["reason"]) {
            "busy" => RefusalReason::Busy,
            "version" => RefusalReason::Version,
            other => panic!("no reason: {other}"),
        };
        let refusal = Refusal { nonce: number(&one["nonce"]), reason, versions: versions(one) };
        assert_eq!(write_refusal(refusal)[..], wire);
        assert_eq!(read_refusal(&wire), Some(refusal));
    }
}

#[test]
fn segments_with_and_without_sack_are_these_bytes() {
    for one in list(&vectors()["stream"]["segments"]) {
        let sender = match text(&one["sender"]) {
            "opener" => Role::Opener,
            "accepter" => Role::Accepter,
            other => panic!("no role: {other}"),
        };
        let kind = match text(&one["kind"]) {
            "data" => Kind::Data,
            "ack" => Kind::Ack,
            "end" => Kind::End,
            "probe" => Kind::Probe,
            "reset" => Kind::Reset,
            other => panic!("no kind: {other}"),
        };
        let segment = Segment {
            kind,
            room: number(&one["room"]),
            number: number(&one["number"]),
            ack: number(&one["ack"]),
            sack: number(&one["sack"]),
            payload: bytes(&one["payload"]).into(),
        };
        let (wire, link) = (bytes(&one["bytes"]), link_id(one));
        assert_eq!(segment.write(link, sender)[..], wire, "{one}");
        assert_eq!(Segment::read(&wire, link, sender), Some(segment), "{one}");
        assert_eq!(Segment::read(&wire, link, sender.other()), None, "{one}");
    }
}

// Cards. The elements of XMPP are compared by link/src/online/account/tests.rs.

fn card(one: &Value) -> Card {
    let is = |key: &str| one[key].as_bool().expect("yes or no");
    Card {
        tag: Tag(array(&one["tag"])),
        open_to_all: is("open_to_all"),
        busy: is("busy"),
        wish: number(&one["wish"]),
        name: one["name"].as_str().map(str::to_owned),
        seldom: false,
    }
}

/// Pieces with their length, one byte, before them.
fn pieces(mut rest: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    while let Some((length, more)) = rest.split_first() {
        let (piece, after) = more.split_at(usize::from(*length));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

#[test]
fn adverts_of_these_cards_are_these_bytes() {
    for one in list(&vectors()["adverts"]) {
        let (card, payload) = (card(one), bytes(&one["payload"]));
        assert_eq!(ble_transport::card_payload(&card)[..], payload);
        let service = ble_transport::SERVICE.as_u128().to_le_bytes();
        let company = ble_transport::COMPANY.to_le_bytes();
        let data = bytes(&one["advertising_data"]);
        // BlueZ puts them together. The flags are its own: found by anybody, no BR/EDR.
        let structures = [
            vec![1, 6],
            [&[7_u8][..], &service[..]].concat(),
            [&[0xFF_u8][..], &company[..], &payload[..]].concat(),
        ];
        assert_eq!(pieces(&data), structures);
        assert_eq!(data.len(), 31);
        let name = card.name.as_deref().map(|name| ble_transport::fitting_name(name).to_owned());
        let scan_response = bytes(&one["scan_response"]);
        let named: Vec<Vec<u8>> = name.iter().map(|name| [&[9_u8][..], name.as_bytes()].concat()).collect();
        assert_eq!(pieces(&scan_response), named);
        let read = ble_transport::read_card(&payload, name.clone());
        assert_eq!(read, Some(Card { name, ..card }));
    }
}

#[test]
fn cards_on_the_local_network_are_these_bytes() {
    for one in list(&vectors()["cards"]) {
        let (card, txt) = (card(one), bytes(&one["txt"]));
        let strings = card_strings(&card).into_iter().map(|(key, value)| format!("{key}={value}"));
        let strings: Vec<Vec<u8>> = strings.map(String::into_bytes).collect();
        assert_eq!(pieces(&txt), strings);
        let read: BTreeMap<&[u8], &[u8]> = pieces(&txt)
            .into_iter()
            .map(|string| {
                let (key, value) =
                    string.split_at(string.iter().position(|byte| *byte == b'=').expect("a key"));
                (key, &value[1..])
            })
            .collect();
        assert_eq!(read_card(|key| read.get(key.as_bytes()).copied()), Some(card));
    }
}

// Noise.

/// The identity with this static key, read from its file.
fn identity(secret: &[u8]) -> Identity {
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16).expect("four bits");
    let hex =
        |bytes: &[u8]| bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(digit).collect::<String>();
    let body = format!("qiyou identity 1\nsecret {}\nadvert {}\n", hex(secret), hex(&[7; 32]));
    let check = hex(&Sha256::digest(body.as_bytes())[..16]);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("identity");
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).expect("a file");
    file.write_all(format!("{body}check {check}\n").as_bytes()).expect("written");
    Identity::load(&path).expect("an identity").expect("it was just written")
}

/// A handshake of the vectors.
struct Transcript {
    name: String,
    carrier: CarrierKind,
    dialer: [u8; 32],
    listener: [u8; 32],
    ephemeral: [[u8; 32]; 2],
    dialer_public: [u8; 32],
    listener_public: [u8; 32],
    challenge: Vec<u8>,
    choice: Vec<u8>,
    prologue: Vec<u8>,
    /// For each message: whether it is the dialer's, and its bytes with their length.
    messages: Vec<(bool, Vec<u8>)>,
    handshake_hash: [u8; 32],
    /// For each record: whether it is the dialer's, its plaintext, and its bytes with their length.
    records: Vec<(bool, Vec<u8>, Vec<u8>)>,
}

impl Transcript {
    fn both() -> [Self; 2] {
        let vectors = vectors();
        ["strangers", "friends"].map(|pattern| Self::read(&vectors["noise"][pattern]))
    }

    fn read(one: &Value) -> Self {
        let is_dialers = |value: &Value| match text(&value["from"]) {
            "dialer" => true,
            "listener" => false,
            other => panic!("no end: {other}"),
        };
        Self {
            name: text(&one["name"]).to_owned(),
            carrier: match text(&one["carrier"]) {
                "bluetooth" => CarrierKind::Bluetooth,
                "lan" => CarrierKind::Lan,
                other => panic!("no carrier: {other}"),
            },
            dialer: array(&one["dialer_static"]),
            listener: array(&one["listener_static"]),
            ephemeral: [array(&one["dialer_ephemeral"]), array(&one["listener_ephemeral"])],
            dialer_public: array(&one["dialer_public"]),
            listener_public: array(&one["listener_public"]),
            challenge: bytes(&one["challenge"]),
            choice: bytes(&one["choice"]),
            prologue: bytes(&one["prologue"]),
            messages: list(&one["messages"])
                .iter()
                .map(|message| (is_dialers(message), bytes(&message["bytes"])))
                .collect(),
            handshake_hash: array(&one["handshake_hash"]),
            records: list(&one["records"])
                .iter()
                .map(|record| (is_dialers(record), bytes(&record["plain"]), bytes(&record["bytes"])))
                .collect(),
        }
    }

    fn is_of_friends(&self) -> bool {
        self.name.contains("_IK_")
    }

    fn wanted(&self) -> ExpectedPeer {
        if self.is_of_friends() { ExpectedPeer::Key(self.listener_public) } else { ExpectedPeer::Anybody }
    }

    fn welcome(&self) -> AcceptedPeers {
        let friends = AcceptedPeers { friends: [self.dialer_public].into(), strangers: false };
        if self.is_of_friends() { friends } else { AcceptedPeers::all() }
    }

    /// A side that is not ours, with the vectors' static keys; also with the ephemeral keys, to reproduce the vectors' bytes.
    fn noise(&self, dials: bool, prologue: &[u8], fixed: bool) -> HandshakeState {
        let secret = if dials { &self.dialer } else { &self.listener };
        let mut builder = Builder::new(self.name.parse().expect("a pattern"))
            .prologue(prologue)
            .and_then(|builder| builder.local_private_key(secret))
            .expect("given once");
        if dials && self.is_of_friends() {
            builder = builder.remote_public_key(&self.listener_public).expect("given once");
        }
        if fixed {
            builder = builder.fixed_ephemeral_key_for_testing_only(&self.ephemeral[usize::from(!dials)]);
        }
        if dials { builder.build_initiator() } else { builder.build_responder() }.expect("a handshake")
    }

    /// The vectors' prologue with the nonce of another link.
    fn prologue_with(&self, challenge: &[u8], choice: &[u8]) -> Vec<u8> {
        let words = self.prologue.len() - self.challenge.len() - self.choice.len();
        [&self.prologue[..words], challenge, choice].concat()
    }
}

fn with_length(body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(body.len()).expect("short");
    [&length.to_be_bytes(), body].concat()
}

async fn write_message(to: &mut DuplexStream, body: &[u8]) {
    to.write_all(&with_length(body)).await.expect("written");
}

async fn read_message(from: &mut DuplexStream) -> Vec<u8> {
    let length = from.read_u16().await.expect("a length");
    let mut body = vec![0; length.into()];
    from.read_exact(&mut body).await.expect("a message");
    body
}

const ROOM: usize = 512;

#[test]
fn handshakes_with_these_keys_and_their_records_are_these_bytes() {
    for transcript in Transcript::both() {
        let prologue = transcript.prologue_with(&transcript.challenge, &transcript.choice);
        assert_eq!(prologue, transcript.prologue);
        let mut dialer = transcript.noise(true, &prologue, true);
        let mut listener = transcript.noise(false, &prologue, true);
        let (challenge, messages) = transcript.messages.split_first().expect("a challenge");
        assert_eq!(*challenge, (false, with_length(&transcript.challenge)));
        for (at, (is_dialers, wire)) in messages.iter().enumerate() {
            let (from, to) =
                if *is_dialers { (&mut dialer, &mut listener) } else { (&mut listener, &mut dialer) };
            let (mut message, mut nothing) = ([0; ROOM], [0; ROOM]);
            let length = from.write_message(&[], &mut message).expect("its turn");
            let choice = if at == 0 { &transcript.choice[..] } else { &[] };
            assert_eq!(with_length(&[choice, &message[..length]].concat()), *wire, "message {at}");
            assert_eq!(to.read_message(&message[..length], &mut nothing).expect("for it"), 0);
        }
        for end in [&dialer, &listener] {
            assert!(end.is_handshake_finished());
            assert_eq!(end.get_handshake_hash(), transcript.handshake_hash);
        }
        let mut dialer = dialer.into_transport_mode().expect("finished");
        let mut listener = listener.into_transport_mode().expect("finished");
        for (is_dialers, plain, wire) in &transcript.records {
            let (from, to) =
                if *is_dialers { (&mut dialer, &mut listener) } else { (&mut listener, &mut dialer) };
            let (mut record, mut read) = ([0; ROOM], [0; ROOM]);
            let length = from.write_message(plain, &mut record).expect("sealed");
            assert_eq!(with_length(&record[..length]), *wire);
            let count = to.read_message(&record[..length], &mut read).expect("opened");
            assert_eq!(read[..count], plain[..]);
        }
    }
}

/// The dialer answers the vectors' challenge as the vectors do: same prologue, lengths and pattern.
#[tokio::test]
async fn our_dialer_meets_a_listener_made_of_the_vectors() {
    for transcript in Transcript::both() {
        let dialer = identity(&transcript.dialer);
        assert_eq!(dialer.public_key(), transcript.dialer_public);
        let (here, mut there) = tokio::io::duplex(4_096);
        let listens = async {
            write_message(&mut there, &transcript.challenge).await;
            let first = read_message(&mut there).await;
            let (choice, first) = first.split_at(transcript.choice.len());
            assert_eq!(choice, transcript.choice);
            let mut noise = transcript.noise(false, &transcript.prologue, false);
            let (mut room, mut nothing) = ([0; ROOM], [0; ROOM]);
            noise.read_message(first, &mut nothing).expect("the first message");
            let length = noise.write_message(&[], &mut room).expect("the second");
            write_message(&mut there, &room[..length]).await;
            if !noise.is_handshake_finished() {
                let third = read_message(&mut there).await;
                noise.read_message(&third, &mut nothing).expect("the third message");
            }
            (there, noise)
        };
        let dials = secure::dial(here, &dialer, transcript.carrier, transcript.wanted());
        let (dialed, (there, noise)) = tokio::join!(dials, listens);
        let link = dialed.expect("met");
        assert_eq!(link.peer_key(), transcript.listener_public);
        assert_eq!(noise.get_remote_static(), Some(&transcript.dialer_public[..]));
        speak(link, there, noise).await;
    }
}

#[tokio::test]
async fn our_listener_lets_in_a_dialer_made_of_the_vectors() {
    for transcript in Transcript::both() {
        let listener = identity(&transcript.listener);
        assert_eq!(listener.public_key(), transcript.listener_public);
        let (here, mut there) = tokio::io::duplex(4_096);
        let dials = async {
            let challenge = read_message(&mut there).await;
            assert_eq!(challenge.len(), transcript.challenge.len());
            assert_eq!(challenge[..2], transcript.challenge[..2], "the versions");
            let prologue = transcript.prologue_with(&challenge, &transcript.choice);
            let mut noise = transcript.noise(true, &prologue, false);
            let (mut room, mut nothing) = ([0; ROOM], [0; ROOM]);
            let length = noise.write_message(&[], &mut room).expect("the first message");
            write_message(&mut there, &[&transcript.choice[..], &room[..length]].concat()).await;
            let second = read_message(&mut there).await;
            noise.read_message(&second, &mut nothing).expect("the second message");
            if !noise.is_handshake_finished() {
                let length = noise.write_message(&[], &mut room).expect("the third");
                write_message(&mut there, &room[..length]).await;
            }
            (there, noise)
        };
        let welcome = transcript.welcome();
        let accepts = secure::accept(here, &listener, transcript.carrier, &welcome);
        let (accepted, (there, noise)) = tokio::join!(accepts, dials);
        let link = accepted.expect("let in");
        assert_eq!(link.peer_key(), transcript.dialer_public);
        assert_eq!(noise.get_remote_static(), Some(&transcript.listener_public[..]));
        speak(link, there, noise).await;
    }
}

/// A record in each direction.
async fn speak(mut ours: secure::SecureLink<DuplexStream>, mut theirs: DuplexStream, noise: HandshakeState) {
    assert_eq!(noise.get_handshake_hash(), ours.handshake_hash());
    let mut noise = noise.into_transport_mode().expect("finished");
    let mut room = [0; ROOM];
    let length = noise.write_message(b"to us", &mut room).expect("sealed");
    write_message(&mut theirs, &room[..length]).await;
    let mut heard = [0; 5];
    ours.read_exact(&mut heard).await.expect("opened");
    assert_eq!(&heard, b"to us");
    ours.write_all(b"from us").await.expect("kept");
    ours.flush().await.expect("sealed and sent");
    let record = read_message(&mut theirs).await;
    let length = noise.read_message(&record, &mut room).expect("opened");
    assert_eq!(&room[..length], b"from us");
}

#[tokio::test]
async fn our_dialer_says_what_it_speaks_where_no_version_is_common() {
    let vectors = vectors();
    let one = &vectors["noise"]["no_common_version"];
    let (here, mut there) = tokio::io::duplex(4_096);
    let answer = async {
        write_message(&mut there, &bytes(&one["challenge"])).await;
        let mut answer = Vec::new();
        there.read_to_end(&mut answer).await.expect("an answer and the end");
        answer
    };
    let dialer = Identity::generate().expect("randomness");
    let dials = secure::dial(here, &dialer, CarrierKind::Lan, ExpectedPeer::Anybody);
    let (dialed, answer) = tokio::join!(dials, answer);
    assert!(matches!(dialed, Err(SecureError::Versions { .. })));
    assert_eq!(answer, bytes(&one["answer"]));
}

// What a session does.

fn config(known: bool, seed: [u8; 32]) -> Config {
    Config {
        versions: session::VERSIONS,
        name: "Anna".into(),
        advert_key: [1; 32],
        known,
        known_name_new_key: false,
        matches: Vec::new(),
        promised: Vec::new(),
        seed,
    }
}

/// Hands in an input and returns the outputs.
fn handle(session: &mut Session, input: Input) -> Vec<Output> {
    session.handle(Instant::default(), input).expect("nothing wrong");
    let mut outputs = Vec::new();
    loop {
        match session.poll(&mut Vec::new()) {
            Ok(Output::Idle { .. }) => return outputs,
            Ok(output) => outputs.push(output),
            Err(never) => match never {},
        }
    }
}

fn receive(session: &mut Session, message: impl Into<Envelope>) -> Vec<Output> {
    handle(session, Input::Received(message.into()))
}

/// A session with a link, after both hellos.
fn greeted(config: Config, role: session::Role, handshake_hash: [u8; 32]) -> (Session, Vec<Output>) {
    let known = config.known;
    let mut session = Session::new(config);
    handle(&mut session, Input::LinkUp { role, handshake_hash });
    let hello = peer::Hello {
        lowest_version: 1,
        highest_version: 1,
        name: "Ben".into(),
        games: vec![1, 5],
        advert_key: if known { vec![2; 32].into() } else { Bytes::new() },
        wants_comparison: !known,
        ..peer::Hello::default()
    };
    let outputs = receive(&mut session, hello);
    (session, outputs)
}

fn friend(config: Config) -> Session {
    greeted(config, session::Role::Listener, [3; 32]).0
}

fn sent(outputs: &[Output]) -> Vec<&Envelope> {
    outputs
        .iter()
        .filter_map(|output| if let Output::Send(envelope) = output { Some(envelope) } else { None })
        .collect()
}

fn pair(step: peer::pair::Step) -> Envelope {
    Envelope::Pair(peer::Pair { step: Some(step) })
}

#[test]
fn the_pictures_have_these_numbers() {
    let ours: String = PICTURES.iter().map(|picture| picture.emoji).collect();
    assert_eq!(ours, text(&vectors()["short_strings"]["pictures"]));
}

#[test]
fn both_ends_of_a_first_meeting_show_this_short_string() {
    use peer::pair::Step;
    for one in list(&vectors()["short_strings"]["strings"]) {
        let pictures: Vec<u8> = list(&one["pictures"]).iter().map(number).collect();
        let string = ShortString {
            emoji: pictures.try_into().expect("four pictures"),
            digits: text(&one["digits"]).to_owned(),
        };
        let shows = |outputs: &[Output]| {
            let shown = outputs.iter().find_map(|output| match output {
                Output::Event(Event::Comparing { string, .. }) => Some(string.clone()),
                _ => None,
            });
            assert_eq!(shown.as_ref(), Some(&string));
        };
        let part = |name: &str| Bytes::from(bytes(&one[name]));
        let (commitment, a, b) = (part("commitment"), part("nonce_a"), part("nonce_b"));
        let handshake_hash = array(&one["handshake_hash"]);

        let config_a = config(false, array(&one["nonce_a_seed"]));
        let (mut session, outputs) = greeted(config_a, session::Role::Dialer, handshake_hash);
        assert_eq!(sent(&outputs), [&pair(Step::Commitment(commitment.clone()))]);
        let outputs = receive(&mut session, pair(Step::Nonce(b.clone())));
        assert_eq!(sent(&outputs), [&pair(Step::Reveal(a.clone()))]);
        shows(&outputs);

        let config_b = config(false, array(&one["nonce_b_seed"]));
        let (mut session, outputs) = greeted(config_b, session::Role::Listener, handshake_hash);
        assert!(sent(&outputs).is_empty());
        let outputs = receive(&mut session, pair(Step::Commitment(commitment)));
        assert_eq!(sent(&outputs), [&pair(Step::Nonce(b))]);
        let outputs = receive(&mut session, pair(Step::Reveal(a)));
        assert!(sent(&outputs).is_empty());
        shows(&outputs);
    }
}

/// The match begun by an invitation of the vectors, as the invited device sees it.
fn drawn(one: &Value, setup: &Setup) -> MatchRecord {
    let id = MatchId(array(&one["invite_id"]));
    let invite_id = Bytes::copy_from_slice(&id.0);
    let mut session = friend(config(true, array(&one["invited_nonce_seed"])));
    let invite = peer::Invite {
        invite_id: invite_id.clone(),
        setup: Some(wire::setup(setup)),
        colours: peer::Colours::Random.into(),
        commitment: bytes(&one["commitment"]).into(),
        ..peer::Invite::default()
    };
    receive(&mut session, invite);
    let outputs = handle(&mut session, Input::Command(Command::AnswerInvite { id, decline: None }));
    let answer = peer::InviteAnswer {
        invite_id: invite_id.clone(),
        answer: Some(peer::invite_answer::Answer::Accept(true)),
        nonce: bytes(&one["invited_nonce"]).into(),
        ..peer::InviteAnswer::default()
    };
    assert_eq!(sent(&outputs), [&Envelope::from(answer)]);
    receive(&mut session, peer::Reveal { invite_id, nonce: bytes(&one["inviter_nonce"]).into() });
    session.match_state(id).expect("it has begun").record().clone()
}

#[test]
fn colours_and_the_board_of_a_race_are_drawn_so() {
    for one in list(&vectors()["drawings"]) {
        let inviter = side(&one["inviter_side"]);
        let gomoku = Setup::Gomoku(GomokuSetup::default());
        assert_eq!(drawn(one, &gomoku).my_side, inviter.other());
        let race = LightsOutSetup { race: true, ..LightsOutSetup::default() };
        let record = drawn(one, &Setup::LightsOut(race));
        assert_eq!(record.my_side, inviter.other());
        let Setup::LightsOut(LightsOutSetup { start: Start::Random { seed, .. }, .. }) = record.setup else {
            panic!("a race on a random board");
        };
        assert_eq!(seed, number::<u64>(&one["lights_seed"]));
    }
}

#[test]
fn a_seed_makes_this_board_of_lights() {
    for one in list(&vectors()["boards_of_lights"]) {
        let flag = |name: &str| one[name].as_bool().expect("true or false");
        let setup = LightsOutSetup {
            neighbours: Neighbours { torus: flag("torus"), diagonals: flag("diagonals") },
            start: Start::Random {
                columns: number(&one["columns"]),
                rows: number(&one["rows"]),
                seed: number(&one["seed"]),
            },
            race: false,
        };
        let board = LightsOut::new(&setup).expect("a board");
        assert_eq!(board.lights().to_bytes(), bytes(&one["lights"]), "{one}");
    }
}

#[test]
fn the_game_that_follows_another_has_this_id() {
    for one in list(&vectors()["new_games"]) {
        let id = MatchId(array(&one["match_id"]));
        let revision = number(&one["revision"]);
        let ended = MatchRecord {
            revision,
            result: Some(MatchResult::Resigned(Side::Second)),
            ..MatchRecord::new(id, Setup::Gomoku(GomokuSetup::default()), Side::First)
        };
        let matches = vec![(ended, true)];
        let mut session = friend(Config { matches, ..config(true, [5; 32]) });
        let (kind, my_side) = match text(&one["colours"]) {
            "swapped" => (peer::OfferKind::OfferNewGame, Side::Second),
            "same" => (peer::OfferKind::OfferNewGameSame, Side::First),
            other => panic!("no colours: {other}"),
        };
        let offer = peer::Offer {
            match_id: Bytes::copy_from_slice(&id.0),
            offer_id: 1,
            kind: kind.into(),
            revision,
            ..peer::Offer::default()
        };
        receive(&mut session, offer);
        handle(&mut session, Input::Command(Command::AnswerOffer { id, accept: true }));
        let next = session.match_state(MatchId(array(&one["next_id"]))).expect("it has this id");
        assert_eq!(next.record().my_side, my_side);
    }
}

// Records.

fn action(one: &Value) -> Action {
    let parts = list(one);
    let point = |at: usize| Point::new(number(&parts[at]), number(&parts[at + 1]));
    match text(&parts[0]) {
        "place" => Action::Place(point(1)),
        "step" => Action::Step { from: point(1), to: point(3) },
        "capture" => Action::Capture(point(1)),
        "pass" => Action::Pass,
        "press" => Action::Press(point(1)),
        "toggle" => Action::Toggle(point(1)),
        "agree" => Action::Agree,
        "resume" => Action::Resume,
        "choose" => Action::Choose(match number::<u8>(&parts[1]) {
            1 => Choice::Black,
            2 => Choice::White,
            3 => Choice::TwoMore,
            number @ 4..=13 => Choice::Fifths(number - 3),
            other => panic!("no choice: {other}"),
        }),
        "done" => Action::Done(number(&parts[1])),
        other => panic!("no action: {other}"),
    }
}

#[test]
fn actions_are_packed_so() {
    for one in list(&vectors()["actions"]) {
        let (action, packed) = (action(&one["action"]), bytes(&one["packed"]));
        assert_eq!(wire::pack_actions(&[action]), packed, "{one}");
        assert_eq!(wire::unpack_actions(&packed), Ok(vec![action]), "{one}");
    }
}

#[test]
fn setups_of_xiangqi_are_these() {
    for one in list(&vectors()["setups"]) {
        let setup = Setup::Xiangqi(text(&one["text"]).parse().expect("a setup"));
        assert_eq!(wire::setup(&setup).encode_to_vec(), bytes(&one["setup"]), "{one}");
        let told = proto::board::Setup::decode(&bytes(&one["setup"])[..]).expect("a setup");
        assert_eq!(wire::read_setup(Some(&told)), Ok(setup.clone()));
        let record = MatchRecord::new(MatchId([7; 16]), setup, Side::First);
        assert_eq!(format!("{:016x}", record.digest()), text(&one["digest"]));
    }
}

#[test]
fn setups_with_a_start_are_these() {
    for one in list(&vectors()["starts"]) {
        let game = GameKind::from_word(text(&one["game"])).expect("a game");
        let start = engine::start::Start::read(game, text(&one["line"]).as_bytes()).expect("a start");
        assert_eq!(start.line(), text(&one["line"]));
        assert_eq!(start.to_bytes(), bytes(&one["points"]));
        let setup = game.default_setup().begin_from(start).expect("a match begins from it");
        assert_eq!(wire::setup(&setup).encode_to_vec(), bytes(&one["setup"]), "{one}");
        let told = proto::board::Setup::decode(&bytes(&one["setup"])[..]).expect("a setup");
        assert_eq!(wire::read_setup(Some(&told)), Ok(setup.clone()));
        let record = MatchRecord::new(MatchId([7; 16]), setup, Side::First);
        assert_eq!(format!("{:016x}", record.digest()), text(&one["digest"]));
    }
}

fn record(one: &Value) -> MatchRecord {
    let setup = Setup::Gomoku(GomokuSetup::default());
    assert_eq!(wire::setup(&setup).encode_to_vec(), bytes(&one["setup"]));
    let pace = one["fischer"].as_array().map(|seconds| Pace::Fischer {
        main: Duration::from_secs(number(&seconds[0])),
        bonus: Duration::from_secs(number(&seconds[1])),
    });
    MatchRecord {
        actions: list(&one["actions"]).iter().map(action).collect(),
        times: one["times"].as_array().expect("a list").iter().map(number).collect(),
        revision: number(&one["revision"]),
        result: one["resigned"].as_str().map(|_| MatchResult::Resigned(side(&one["resigned"]))),
        pace,
        ..MatchRecord::new(MatchId(array(&one["match_id"])), setup, side(&one["sender_side"]))
    }
}

#[test]
fn whole_records_and_their_digests_are_these() {
    for one in list(&vectors()["records"]) {
        let record = record(one);
        for (ply, digest) in list(&one["digests"]).iter().enumerate() {
            let beginning = MatchRecord { actions: record.actions[..ply].to_vec(), ..record.clone() };
            assert_eq!(format!("{:016x}", beginning.digest()), text(digest), "after {ply}");
        }
        assert_eq!(list(&one["digests"]).len(), record.actions.len() + 1);
        assert_eq!(wire::pack_actions(&record.actions), bytes(&one["packed"]));
        let mut session = friend(config(true, [5; 32]));
        let outputs = handle(&mut session, Input::Command(Command::Give(Box::new(record))));
        let messages = sent(&outputs);
        let [Envelope::Gift(gift)] = messages[..] else { panic!("{messages:?}") };
        let message = gift.record.clone().expect("a gift holds a record");
        let wire = bytes(&one["bytes"]);
        assert_eq!(Envelope::from(message.clone()).encode(), (11, Bytes::from(wire.clone())));
        assert_eq!(Envelope::decode(11, &wire), Ok(Envelope::from(message)));
    }
}

// Friends.

#[test]
fn a_tag_is_this_one_in_its_quarter_of_an_hour() {
    for one in list(&vectors()["tags"]) {
        let epoch = Epoch(number(&one["epoch"]));
        assert_eq!(Epoch::at(Duration::from_secs(number(&one["seconds"]))), epoch);
        assert_eq!(Tag::of(&array(&one["advert_key"]), epoch), Tag(array(&one["tag"])));
    }
}

#[test]
fn friend_codes_are_written_and_read_so() {
    for one in list(&vectors()["friend_codes"]) {
        let place = |place: &Value| {
            let (kind, text) = text(place).split_once('=').expect("a kind and a place");
            let kind = if kind == "lan" { CarrierKind::Lan } else { CarrierKind::Online };
            Address { kind, text: text.to_owned() }
        };
        let code = FriendCode {
            key: array(&one["key"]),
            name: text(&one["name"]).to_owned(),
            tag: one["tag"].as_str().map(|_| Tag(array(&one["tag"]))),
            places: one["places"].as_array().expect("a list").iter().map(place).collect(),
        };
        assert_eq!(code.to_string(), text(&one["text"]));
        assert_eq!(FriendCode::read(text(&one["text"])), Ok(code));
    }
}

#[test]
fn fingerprints_are_these() {
    for one in list(&vectors()["fingerprints"]) {
        assert_eq!(fingerprint(&array(&one["key"])), text(&one["fingerprint"]));
    }
}

#[test]
fn letters_of_this_sender_are_read_by_this_receiver() {
    let mut accounts = Vec::new();
    for one in list(&vectors()["letters"]) {
        let sender = identity(&bytes(&one["sender_static"]));
        let receiver = identity(&bytes(&one["receiver_static"]));
        let (sealed, text) = (bytes(&one["sealed"]), bytes(&one["text"]));
        assert_eq!(letter::open(&receiver, &sender.public_key(), &sealed), Some(text.clone()));
        assert_eq!(letter::open(&receiver, &receiver.public_key(), &sealed), None);
        let (number, message) = text.split_first_chunk().expect("a number");
        let envelope = Envelope::decode(u32::from_be_bytes(*number), message);
        let Ok(Envelope::Record(record)) = envelope else { panic!("{envelope:?}") };
        accounts.push(record.account);
    }
    assert_eq!(accounts, ["", "ann@example.org"], "the first as earlier versions write");
}
