//! The seeds of the fuzz targets as code: one usual message of each type and, where it makes a
//! difference, an unusual one.

#![allow(clippy::needless_update, reason = "a message that gains a field keeps its sample")]

use bytes::Bytes;
use proto::board::{self, action, setup};
use proto::control::{self, Message, event, reply, request, seat};
use proto::frame::{HEADER_BYTES, MAGIC, VERSION};
use proto::peer::{self, Envelope, invite_answer, pair};

/// Target, name, bytes.
pub(crate) fn all() -> Vec<(&'static str, String, Vec<u8>)> {
    let mut all: Vec<(&str, String, Vec<u8>)> =
        frames().into_iter().map(|(name, bytes)| ("frame", name.to_owned(), bytes)).collect();
    for (name, envelope) in peer_messages() {
        let (msgid, payload) = envelope.encode();
        all.push(("peer", format!("{msgid:02}-{name}"), [&[msgid as u8], &payload[..]].concat()));
    }
    for (name, message) in control_messages() {
        let (msgid, payload) = message.encode();
        all.push(("control", format!("{msgid:02}-{name}"), [&[msgid as u8], &payload[..]].concat()));
    }
    all
}

/// First two bytes of a frame sample: limit of a peer, pieces of seven bytes.
const STEER: [u8; 2] = [1, 7];

fn gnugo() -> control::Engine {
    control::Engine {
        name: "GNU Go".into(),
        program: "/usr/games/gnugo".into(),
        arguments: vec!["--mode".into(), "gtp".into()],
        protocol: control::EngineProtocol::Gtp.into(),
        game: board::Game::Go.into(),
        confined: true,
        missing: false,
    }
}

fn header(magic: u32, total: u32, seqnum: u32, version: u32) -> Vec<u8> {
    [magic, total, 7, seqnum, version].iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn whole(seqnum: u32, payload: &[u8]) -> Vec<u8> {
    [&header(MAGIC, (HEADER_BYTES + payload.len()) as u32, seqnum, VERSION), payload].concat()
}

fn frames() -> Vec<(&'static str, Vec<u8>)> {
    let golden = whole(1, &[0x0A, 0x03, 0x41, 0x42, 0x43]);
    let streams = vec![
        ("golden", golden.clone()),
        ("empty-payload", whole(1, &[])),
        ("three", [whole(1, b"one"), whole(2, b"two"), whole(3, b"three")].concat()),
        ("posing-payload", [whole(1, &golden), whole(2, &golden[..19])].concat()),
        ("repeated", [golden.clone(), golden.clone()].concat()),
        ("gap", [golden.clone(), whole(3, b"x")].concat()),
        ("half", golden[..12].to_vec()),
        ("total-0", header(MAGIC, 0, 1, VERSION)),
        ("total-19", header(MAGIC, 19, 1, VERSION)),
        ("total-most", header(MAGIC, 16 * 1024, 1, VERSION)),
        ("total-8-mib", header(MAGIC, 8 << 20, 1, VERSION)),
        ("total-all-ones", header(MAGIC, u32::MAX, 1, VERSION)),
        ("magic-swapped", header(MAGIC.swap_bytes(), 20, 1, VERSION)),
        ("version-2", header(MAGIC, 20, 1, 2)),
        ("seqnum-0", header(MAGIC, 20, 0, VERSION)),
        ("seqnum-all-ones", header(MAGIC, 20, u32::MAX, VERSION)),
    ];
    streams.into_iter().map(|(name, wire)| (name, [&STEER[..], &wire].concat())).collect()
}

fn id() -> Bytes {
    Bytes::from_static(b"sixteen bytes id")
}

fn key() -> Bytes {
    Bytes::from_static(b"thirty-two bytes of a public key")
}

fn at(row: u32, column: u32) -> u32 {
    row * 1024 + column
}

fn act(kind: action::Kind) -> board::Action {
    board::Action { kind: Some(kind) }
}

fn place(row: u32, column: u32) -> board::Action {
    act(action::Kind::Place(at(row, column)))
}

fn gomoku() -> board::Setup {
    let gomoku = board::GomokuSetup {
        size: 15,
        rule: board::GomokuRule::Standard.into(),
        edge_five_wins: true,
        ..board::GomokuSetup::default()
    };
    board::Setup { game: Some(setup::Game::Gomoku(gomoku)) }
}

fn fischer() -> board::Pace {
    board::Pace { kind: board::PaceKind::PaceFischer.into(), main_s: 300, step_s: 5, periods: 0 }
}

fn won() -> board::Result {
    board::Result { winner: board::Side::First.into(), ending: board::Ending::FiveInARow.into() }
}

fn peer_messages() -> Vec<(&'static str, Envelope)> {
    use peer::{
        Ack, Bye, Hello, Invite, InviteAnswer, Offer, OfferAnswer, Pair, Ping, Play, Pong, Record, Resign,
        ResumePoint, Unsupported, Verdict, Withdraw,
    };
    let pairing = |step| Pair { step: Some(step) }.into();
    let play = |kind| {
        Play {
            match_id: id(),
            ply: 9,
            action: Some(act(kind)),
            thought_ms: 4_200,
            digest: 7,
            revision: 1,
            spent_ms: 0,
        }
        .into()
    };
    let point =
        ResumePoint { match_id: id(), ply: 31, digest: 0xDEAD_BEEF, revision: 2, ..ResumePoint::default() };
    let over = ResumePoint { result: Some(won()), ..point.clone() };
    let invite = |game| {
        let setup = Some(board::Setup { game: Some(game) });
        Envelope::from(Invite { invite_id: id(), setup, ..Invite::default() })
    };
    vec![
        (
            "hello-stranger",
            Hello {
                lowest_version: 1,
                highest_version: 1,
                name: "小明".into(),
                games: vec![1, 2, 3, 4, 5],
                wants_comparison: true,
                ..Hello::default()
            }
            .into(),
        ),
        (
            "hello-friend",
            Hello {
                lowest_version: 1,
                highest_version: 2,
                name: "Anna".into(),
                games: vec![1],
                advert_key: key(),
                matches: vec![point, over],
                ..Hello::default()
            }
            .into(),
        ),
        (
            "hello-wish",
            Hello { lowest_version: 1, highest_version: 1, name: "Ben".into(), wish: 3, ..Hello::default() }
                .into(),
        ),
        ("pair-commitment", pairing(pair::Step::Commitment(key()))),
        ("pair-nonce", pairing(pair::Step::Nonce(key()))),
        ("pair-reveal", pairing(pair::Step::Reveal(key()))),
        ("pair-verdict", pairing(pair::Step::Verdict(Verdict { same: true, advert_key: key() }))),
        ("pair-nothing", Pair { step: None }.into()),
        ("invite", Invite { invite_id: id(), setup: Some(gomoku()), colours: 1, ..Invite::default() }.into()),
        (
            "invite-unknown-game",
            Invite { invite_id: id(), setup: None, colours: 9, ..Invite::default() }.into(),
        ),
        (
            "invite-liuzhou",
            invite(setup::Game::Liuzhou(board::LiuzhouSetup {
                inner_six: 3,
                loses_at: 3,
                quiet_limit: 60,
                ..Default::default()
            })),
        ),
        (
            "invite-go",
            invite(setup::Game::Go(board::GoSetup {
                size: 19,
                komi_half_points: 15,
                handicap: 2,
                ..Default::default()
            })),
        ),
        (
            "invite-xiangqi",
            invite(setup::Game::Xiangqi(board::XiangqiSetup { quiet_limit: 120, ..Default::default() })),
        ),
        (
            "invite-xiangqi-chinese",
            invite(setup::Game::XiangqiChinese(board::XiangqiSetup {
                quiet_limit: 120,
                ..Default::default()
            })),
        ),
        (
            "invite-start",
            invite(setup::Game::Started(board::Started {
                rules: Some(board::started::Rules::Xiangqi(board::XiangqiSetup {
                    quiet_limit: 120,
                    ..Default::default()
                })),
                turn: board::Side::Second.into(),
                points: Bytes::from_static(&[0x10, 0x08]),
                moving: false,
            })),
        ),
        (
            "invite-lights",
            invite(setup::Game::LightsOut(board::LightsOutSetup {
                columns: 3,
                rows: 2,
                start: Some(board::lights_out_setup::Start::Lights(Bytes::from_static(&[5, 2]))),
                ..Default::default()
            })),
        ),
        (
            "answer-accept",
            InviteAnswer {
                invite_id: id(),
                answer: Some(invite_answer::Answer::Accept(true)),
                ..InviteAnswer::default()
            }
            .into(),
        ),
        (
            "answer-decline",
            InviteAnswer {
                invite_id: id(),
                answer: Some(invite_answer::Answer::Decline(2)),
                ..InviteAnswer::default()
            }
            .into(),
        ),
        ("withdraw", Withdraw { invite_id: id() }.into()),
        ("play-place", play(action::Kind::Place(at(7, 7)))),
        ("play-step", play(action::Kind::Step(board::Step { from: at(0, 4), to: at(1, 4) }))),
        ("play-capture", play(action::Kind::Capture(at(3, 3)))),
        ("play-pass", play(action::Kind::Pass(true))),
        ("play-done", play(action::Kind::Done(123))),
        ("play-choose", play(action::Kind::Choose(board::Choice::TwoMore.into()))),
        (
            "ack",
            Ack { match_id: id(), ply: 9, digest: 7, revision: 1, result: Some(won()), ..Ack::default() }
                .into(),
        ),
        (
            "offer",
            Offer {
                match_id: id(),
                offer_id: 3,
                kind: 1,
                ply: 9,
                to_ply: 7,
                revision: 1,
                ..Offer::default()
            }
            .into(),
        ),
        (
            "offer-answer",
            OfferAnswer {
                match_id: id(),
                offer_id: 3,
                accept: true,
                ply: 7,
                revision: 2,
                ..OfferAnswer::default()
            }
            .into(),
        ),
        ("resign", Resign { match_id: id(), ply: 9, revision: 1, ..Resign::default() }.into()),
        (
            "record",
            Record {
                match_id: id(),
                setup: Some(gomoku()),
                sender_side: 1,
                revision: 2,
                actions: Bytes::from_static(&[0x80, 0x03, 0x88, 0x03, 0x90, 0x03]),
                result: Some(won()),
                ..Record::default()
            }
            .into(),
        ),
        (
            "gift",
            peer::Gift {
                record: Some(Record {
                    match_id: id(),
                    setup: Some(gomoku()),
                    sender_side: 1,
                    actions: Bytes::from_static(&[0x80, 0x03, 0x88, 0x03, 0x90, 0x03]),
                    result: Some(won()),
                    ..Record::default()
                }),
            }
            .into(),
        ),
        (
            "club",
            peer::Club {
                number: 2,
                name: "星期五".into(),
                setup: Some(gomoku()),
                twice: false,
                phase: peer::ClubPhase::ClubRunning.into(),
                players: vec![
                    peer::ClubPlayer {
                        id: 1,
                        name: "Anna".into(),
                        number: 1,
                        who: peer::ClubWho::ClubSender.into(),
                        ..peer::ClubPlayer::default()
                    },
                    peer::ClubPlayer {
                        id: 2,
                        name: "Ben".into(),
                        number: 2,
                        who: peer::ClubWho::ClubReceiver.into(),
                        ..peer::ClubPlayer::default()
                    },
                ],
                games: Bytes::from_static(&[1, 1, 1, 2, 0x09]),
                ..peer::Club::default()
            }
            .into(),
        ),
        ("ping", Ping { token: 0x0123_4567_89AB_CDEF }.into()),
        ("pong", Pong { token: 1 }.into()),
        ("bye", Bye { reason: 1 }.into()),
        ("unsupported", Unsupported { msgid: 99 }.into()),
        ("phrase", peer::Say { match_id: id(), what: Some(peer::say::What::Phrase(3)) }.into()),
        ("text", peer::Say { match_id: id(), what: Some(peer::say::What::Text("好棋！".into())) }.into()),
        (
            "invite-random-colours",
            Invite {
                invite_id: id(),
                setup: Some(gomoku()),
                colours: peer::Colours::Random.into(),
                pace: Some(fischer()),
                commitment: key(),
                counters: id(),
                alternates: false,
                hints: false,
            }
            .into(),
        ),
        (
            "invite-hints",
            Invite { invite_id: id(), setup: Some(gomoku()), hints: true, ..Invite::default() }.into(),
        ),
        ("hint-taken", peer::HintTaken { match_id: id(), hints: 3 }.into()),
        (
            "answer-nonce",
            InviteAnswer {
                invite_id: id(),
                answer: Some(invite_answer::Answer::Accept(true)),
                nonce: key(),
                ..InviteAnswer::default()
            }
            .into(),
        ),
        (
            "record-with-clocks",
            Record {
                match_id: id(),
                setup: Some(gomoku()),
                sender_side: 2,
                actions: Bytes::from_static(&[0x80, 0x03, 0x88, 0x03]),
                pace: Some(fischer()),
                times: Bytes::from_static(&[0x88, 0x27, 0x05]),
                paused: true,
                reveal: key(),
                spent_ms: 1_200,
                ..Record::default()
            }
            .into(),
        ),
        ("flag", peer::Flag { match_id: id(), ply: 9, revision: 1 }.into()),
        ("reveal", peer::Reveal { invite_id: id(), nonce: key() }.into()),
        (
            "analysis",
            peer::Analysis {
                match_id: id(),
                revision: 1,
                version: 3,
                open: true,
                ply: 7,
                actions: Bytes::from_static(&[0x80, 0x03, 0x88, 0x03]),
            }
            .into(),
        ),
        (
            "progress",
            peer::Progress { match_id: id(), presses: 4, lit: 9, elapsed_ms: 8_000, revision: 0 }.into(),
        ),
        (
            "run",
            peer::Run {
                match_id: id(),
                ply: 3,
                actions: Bytes::from_static(&[0x0C, 0x14, 0xBB, 0x04]),
                digest: 9,
                revision: 0,
            }
            .into(),
        ),
    ]
}

fn control_messages() -> Vec<(&'static str, Message)> {
    let ask = |body| control::Request { id: 5, body: Some(body) }.into();
    let answer = |body| control::Reply { id: 5, body: Some(body) }.into();
    let tell = |body| control::Event { body: Some(body), ..control::Event::default() }.into();
    let seat = |who| Some(control::Seat { who: Some(who), ..control::Seat::default() });
    let board = control::Board {
        game: 1,
        columns: 15,
        rows: 15,
        pieces: vec![control::Piece { at: at(7, 7), side: 1, ..control::Piece::default() }],
        last: Some(place(7, 7)),
        marks: vec![control::Mark { at: at(7, 7), ..control::Mark::default() }],
        facts: vec![control::Fact {
            kind: control::FactKind::FactTaken.into(),
            side: 2,
            number: 3,
            ..control::Fact::default()
        }],
        steps: vec![board::Step { from: at(0, 1), to: at(2, 2) }],
        choices: vec![act(action::Kind::Pass(true))],
        turn: 2,
        ply: 1,
        ..control::Board::default()
    };
    vec![
        ("attach", ask(request::Body::Attach(control::Attach { client: "qiyouctl 0.1".into(), version: 1 }))),
        ("scan", ask(request::Body::Scan(control::Scan { on: true }))),
        (
            "invite",
            ask(request::Body::Invite(control::Invite {
                peer: "abcd-efgh".into(),
                setup: Some(gomoku()),
                ..control::Invite::default()
            })),
        ),
        (
            "open-room",
            ask(request::Body::OpenRoom(control::OpenRoom {
                setup: Some(gomoku()),
                first: seat(seat::Who::Here(true)),
                second: seat(seat::Who::BotLevel(10)),
                ..control::OpenRoom::default()
            })),
        ),
        (
            "describe",
            ask(request::Body::Describe(control::Describe {
                choice: Some(control::GameChoice {
                    game: board::Game::Go.into(),
                    preset: "japanese".into(),
                    options: vec![control::ChosenOption { option: "size".into(), value: "9".into() }],
                    ..control::GameChoice::default()
                }),
                ..control::Describe::default()
            })),
        ),
        (
            "set-up",
            ask(request::Body::SetUp(control::SetUp {
                choice: Some(control::GameChoice {
                    game: board::Game::Go.into(),
                    start: Bytes::from_static(b"9/9/9/9/9/9/9/9/9 w"),
                    ..control::GameChoice::default()
                }),
                change: Some(control::set_up::Change::Put(control::SetUpPut { at: 4 * 1024 + 4, piece: 1 })),
            })),
        ),
        (
            "act",
            ask(request::Body::Act(control::Act {
                room_id: "r1".into(),
                action: Some(place(7, 7)),
                ..control::Act::default()
            })),
        ),
        ("block", ask(request::Body::Block(control::Block { peer: "abcd-efgh".into() }))),
        (
            "note",
            ask(request::Body::SetNote(control::SetNote { peer: "abcd-efgh".into(), note: "午休".into() })),
        ),
        (
            "front",
            ask(request::Body::Front(control::Front {
                unhurried: true,
                on: true,
                language: control::Language::Chinese.into(),
            })),
        ),
        (
            "carrier",
            ask(request::Body::SetCarrier(control::SetCarrier {
                carrier: control::Carrier::Lan.into(),
                on: true,
            })),
        ),
        ("adapter", ask(request::Body::SetAdapter(control::SetAdapter { adapter: "hci1".into() }))),
        (
            "give",
            ask(request::Body::Give(control::Give {
                room_id: "0123456789abcdef0123456789abcdef".into(),
                peer: "abcd-efgh".into(),
            })),
        ),
        ("set-hotspot", ask(request::Body::SetHotspot(control::SetHotspot { on: true }))),
        (
            "hotspot",
            tell(event::Body::Hotspot(control::Hotspot {
                state: control::HotspotState::HotspotOn.into(),
                ssid: "Qiyou-k3wz".into(),
                passphrase: "n7hcq4yb2xdm".into(),
                side: 2,
                dark: Bytes::from_static(&[1, 2]),
                trouble: None,
            })),
        ),
        (
            "add-engine",
            ask(request::Body::AddEngine(control::AddEngine {
                program: "/usr/games/gnugo".into(),
                arguments: vec!["--mode".into(), "gtp".into()],
                protocol: control::EngineProtocol::Gtp.into(),
                name: "GNU Go".into(),
            })),
        ),
        ("remove-engine", ask(request::Body::RemoveEngine(control::RemoveEngine { name: "GNU Go".into() }))),
        ("find-engines", ask(request::Body::FindEngines(control::FindEngines {}))),
        ("engine", answer(reply::Body::Engine(gnugo()))),
        ("engines-found", answer(reply::Body::Engines(control::Engines { engines: vec![gnugo()] }))),
        ("engines", tell(event::Body::Engines(control::Engines { engines: vec![gnugo()] }))),
        (
            "club-open",
            ask(request::Body::Club(control::ClubRequest {
                club_id: String::new(),
                deed: Some(control::club_request::Deed::Open(control::OpenClub {
                    name: "Friday".into(),
                    twice: true,
                    ..Default::default()
                })),
            })),
        ),
        (
            "club-result",
            ask(request::Body::Club(control::ClubRequest {
                club_id: "3".into(),
                deed: Some(control::club_request::Deed::Result(control::ClubVerdict {
                    round: 2,
                    board: 1,
                    result: control::ClubResult::ClubDraw.into(),
                })),
            })),
        ),
        ("club-opened", answer(reply::Body::ClubId("3".into()))),
        (
            "club",
            tell(event::Body::Club(control::Club {
                id: "3".into(),
                name: "Friday".into(),
                state: control::ClubState::ClubRunning.into(),
                players: vec![control::ClubPlayer {
                    id: 1,
                    who: Some(control::club_player::Who::Guest(true)),
                    name: "Guo".into(),
                    number: 2,
                    left: false,
                }],
                rounds: vec![control::ClubRound { round: 1, games: Vec::new(), free: vec![1] }],
                round: 1,
                standings: vec![control::ClubStanding {
                    player: 1,
                    place: 1,
                    half_points: 3,
                    sonneborn_berger: 5,
                    direct: Some(0),
                    wins: 1,
                    played: 2,
                    cross: vec![String::new()],
                }],
                ..Default::default()
            })),
        ),
        ("club-gone", tell(event::Body::ClubGone(control::Gone { id: "3".into() }))),
        (
            "show-evening",
            ask(request::Body::ShowGuestCode(control::ShowGuestCode {
                club_id: "3".into(),
                ..Default::default()
            })),
        ),
        (
            "evening-shown",
            tell(event::Body::Guest(control::Guest {
                watchers: 2,
                came: true,
                club_id: "3".into(),
                ..Default::default()
            })),
        ),
        (
            "engine-failed",
            tell(event::Body::Notice(control::Notice {
                kind: control::NoticeKind::NoticeEngineFailed.into(),
                name: "GNU Go".into(),
                words: Some(control::Words {
                    zh: "没有按时回应".into(),
                    en: "did not answer in time".into(),
                }),
                ..control::Notice::default()
            })),
        ),
        (
            "make-puzzles",
            ask(request::Body::MakePuzzles(control::MakePuzzles {
                game: board::Game::Xiangqi.into(),
                on: true,
            })),
        ),
        ("set-makes-puzzles", ask(request::Body::SetMakesPuzzles(control::SetMakesPuzzles { on: true }))),
        ("set-endings", ask(request::Body::SetEndings(control::SetEndings { on: true }))),
        ("set-wish", ask(request::Body::SetWish(control::SetWish { game: 3 }))),
        (
            "answer-gift",
            ask(request::Body::AnswerGift(control::AnswerGift { gift_id: "1".into(), keep: true })),
        ),
        (
            "save-everything",
            ask(request::Body::SaveBackup(control::SaveBackup {
                path: "/home/anna/qiyou.qiyou-backup".into(),
                passphrase: "correct horse".into(),
            })),
        ),
        (
            "take-everything",
            ask(request::Body::RestoreBackup(control::RestoreBackup {
                path: "/home/anna/qiyou.qiyou-backup".into(),
                passphrase: "correct horse".into(),
            })),
        ),
        (
            "teach",
            ask(request::Body::Teach(control::Teach {
                game: board::Game::Gomoku.into(),
                step: 3,
                actions: vec![place(7, 7)],
            })),
        ),
        (
            "lesson",
            answer(reply::Body::Lesson(control::Lesson {
                steps: 4,
                say: Some(control::Words { zh: "点正中".into(), en: "Touch the middle".into() }),
                wanted: vec![place(7, 7)],
                ..control::Lesson::default()
            })),
        ),
        ("done", answer(reply::Body::Done(control::Done {}))),
        (
            "adapters",
            answer(reply::Body::Adapters(control::Adapters {
                adapters: vec![control::Adapter {
                    name: "hci0".into(),
                    address: "00:AA:01:00:00:42".into(),
                    powered: true,
                    ..control::Adapter::default()
                }],
            })),
        ),
        (
            "refusal",
            answer(reply::Body::Refusal(control::Refusal {
                code: control::RefusalCode::RefusalOccupied.into(),
                detail: "h8 is occupied".into(),
                action: Some(place(7, 7)),
                reason: Some(control::Words { zh: "e5 已有棋子".into(), en: "e5 is occupied".into() }),
                points: Vec::new(),
            })),
        ),
        (
            "refusal-lit",
            answer(reply::Body::Refusal(control::Refusal {
                code: control::RefusalCode::RefusalIllegal.into(),
                action: Some(place(7, 7)),
                points: vec![7 * 1_024 + 7],
                ..control::Refusal::default()
            })),
        ),
        (
            "explore",
            ask(request::Body::Explore(control::Explore {
                room_id: "r1".into(),
                ply: 2,
                line: vec![board::Action { kind: Some(board::action::Kind::Place(7)) }],
            })),
        ),
        (
            "explored",
            answer(reply::Body::Explored(control::Explored {
                games: 3,
                moves: vec![control::ExploredMove {
                    r#move: Some(control::SideMove {
                        action: Some(board::Action { kind: Some(board::action::Kind::Place(7)) }),
                        written: "h1".into(),
                        spoken: None,
                    }),
                    games: 3,
                    first_won: 1,
                    second_won: 1,
                    drawn: 1,
                    in_book: true,
                }],
            })),
        ),
        (
            "matches",
            answer(reply::Body::Matches(control::Matches {
                matches: vec![control::MatchSummary {
                    room_id: "r1".into(),
                    setup: Some(gomoku()),
                    first: seat(seat::Who::Here(true)),
                    second: seat(seat::Who::Peer("abcd-efgh".into())),
                    ply: 2,
                    result: Some(won()),
                    record: vec!["h8".into(), "h9".into()],
                    ..control::MatchSummary::default()
                }],
                ..control::Matches::default()
            })),
        ),
        ("ready", tell(event::Body::Ready(control::Ready {}))),
        (
            "nearby",
            tell(event::Body::Nearby(control::Nearby {
                id: "Bluetooth:00:11:22:33:44:55".into(),
                name: "小明".into(),
                rssi_dbm: -61,
                ..control::Nearby::default()
            })),
        ),
        (
            "nearby-wish",
            tell(event::Body::Nearby(control::Nearby { id: "p".into(), wish: 3, ..Default::default() })),
        ),
        (
            "endings",
            tell(event::Body::Endings(control::Endings {
                state: control::EndingsState::EndingsWorking.into(),
                plies: 7,
                permille: 430,
                bytes: 0,
            })),
        ),
        ("work-progress", tell(event::Body::WorkProgress(control::WorkProgress { permille: 730 }))),
        (
            "puzzle-making",
            tell(event::Body::PuzzleMaking(control::PuzzleMaking {
                game: board::Game::Go.into(),
                found: 3,
                wanted: 20,
            })),
        ),
        (
            "comparison-gone",
            tell(event::Body::ComparisonGone(control::ComparisonGone {
                id: "p".into(),
                end: control::ComparisonEnd::ComparisonFriends.into(),
            })),
        ),
        (
            "activated",
            tell(event::Body::Activated(control::Activated { room_id: "r1".into(), ..Default::default() })),
        ),
        (
            "comparison",
            tell(event::Body::Comparison(control::Comparison {
                peer: "abcd-efgh".into(),
                name: "Anna".into(),
                emoji: vec![0, 21, 42, 63],
                digits: "482091".into(),
                ..control::Comparison::default()
            })),
        ),
        (
            "room",
            tell(event::Body::Room(control::Room {
                id: "r1".into(),
                setup: Some(gomoku()),
                first: seat(seat::Who::Here(true)),
                second: seat(seat::Who::BotLevel(10)),
                board: Some(board),
                mine: vec![1],
                record: vec!["h8".into()],
                digest: 7,
                ..control::Room::default()
            })),
        ),
        (
            "thinking",
            tell(event::Body::Thinking(control::Thinking {
                room_id: "r1".into(),
                on: true,
                depth: 9,
                line: vec!["h8".into(), "i9".into()],
                ..control::Thinking::default()
            })),
        ),
    ]
}
