//! What a malicious friend can do to a host: a device that completes the Noise handshake with a known key, and then sends
//! anything. A concurrent honest match goes on, each offence closes the link with the right reason, and memory stays bounded.

mod notices;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use engine::lights_out::{LightsOutSetup, Start};
use engine::{Action, AnyGame, GameKind, GomokuSetup, Rng, Setup};
use link::frames::FrameReader;
use link::identity::Identity;
use link::secure::{self, ExpectedPeer, SecureLink};
use link::{CarrierKind, Duplex, Transport};
use proto::board::{self, Game, action};
use proto::control::{self, NoticeKind, reply, request};
use proto::frame::{Arrival, FrameCodec, FrameLimit, Outgoing};
use proto::limits;
use proto::peer::{self, ByeReason, Envelope, Hello, Ping, Play, invite_answer::Answer, pair};
use session::club::{self, Club, PlayerKind};
use tests::house::{Device, House, Seen, friends};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::timeout;
use tokio_util::codec::Encoder;

/// Bytes allocated on this thread, and the peak since the last reset. A test's hosts all run on its thread.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn count(more: usize, fewer: usize) {
    let held = HELD.get() + more as isize - fewer as isize;
    HELD.set(held);
    MOST.set(MOST.get().max(held));
}

// SAFETY: every call is forwarded unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Memory that hostile peers may make a host allocate, the test's own share and the in-memory network included
/// (64 KiB per link and direction). Measured: 1.6 MiB; an unbounded queue exceeds it within a second.
const MOST_BYTES: usize = 4 << 20;

/// Anna, in one match with an honest friend and in another one with a friend whose key was stolen.
struct Scene {
    house: House,
    anna: Device,
    carl: Device,
    honest: String,
    attacked: String,
    stolen: Identity,
}

impl Scene {
    async fn new(seed: u64) -> Self {
        let mut house = House::new(seed);
        let (mut anna, mut carl) = (house.device("Anna").await, house.device("Carl").await);
        let mut ben = house.device("Ben").await;
        friends(&mut anna, &mut carl).await;
        let honest = begin(&mut anna, &mut carl).await;
        friends(&mut ben, &mut anna).await;
        anna.client.until("Ben", |seen| is_connected(seen, "Ben")).await;
        let attacked = begin(&mut anna, &mut ben).await;
        act(&mut anna, &attacked, "h8").await;
        ben.client.until("h8", |seen| record(seen, &attacked) == ["h8"]).await;
        ben.kill().await;
        let stolen = Identity::load_or_create(&ben.directory().join("identity")).expect("a key");
        anna.client.until("Ben is away", |seen| !is_connected(seen, "Ben")).await;
        Self { house, anna, carl, honest, attacked, stolen }
    }

    /// A carrier to Anna, from Ben's device.
    async fn carrier(&self) -> Box<dyn Duplex> {
        let address = self.house.air.transport("Anna").address();
        self.house.air.transport("Ben").connect(&address).await.expect("in reach")
    }

    async fn link(&self) -> SecureLink<Box<dyn Duplex>> {
        secure::dial(self.carrier().await, &self.stolen, CarrierKind::Memory, ExpectedPeer::Anybody)
            .await
            .expect("a known key")
    }

    fn digest(&self) -> u64 {
        self.anna.client.seen.rooms[&self.attacked].digest
    }

    /// Sends this as a friend in the middle of the match.
    fn hello(&self) -> Hello {
        let point = peer::ResumePoint {
            match_id: id(&self.attacked),
            ply: 1,
            digest: self.digest(),
            ..peer::ResumePoint::default()
        };
        Hello {
            lowest_version: session::LOWEST_VERSION,
            highest_version: session::HIGHEST_VERSION,
            name: "Ben".into(),
            games: vec![Game::Gomoku.into()],
            advert_key: Bytes::from_static(&[9; 32]),
            matches: vec![point],
            ..Hello::default()
        }
    }

    fn play(&self, ply: u32, kind: action::Kind) -> Play {
        let action = Some(board::Action { kind: Some(kind) });
        Play { match_id: id(&self.attacked), ply, action, ..Play::default() }
    }

    /// Sends all these after a hello; returns what arrived until Anna closed the link, or for a while if she did not.
    async fn say(&mut self, envelopes: Vec<Envelope>) -> Heard {
        let hello = self.hello();
        self.say_from_the_start(std::iter::once(hello.into()).chain(envelopes).collect()).await
    }

    async fn say_from_the_start(&mut self, envelopes: Vec<Envelope>) -> Heard {
        let (reader, mut writer) = tokio::io::split(self.link().await);
        let _ = writer.write_all(&frames(envelopes)).await;
        let _ = writer.flush().await;
        let mut frames = FrameReader::new(reader, FrameLimit::Peer);
        let mut heard = Heard { bye: None, hung_up: false, evenings: Vec::new() };
        let listen = async {
            while let Ok(Some(Arrival::Next(frame))) = frames.next().await {
                match Envelope::decode(frame.msgid, &frame.payload) {
                    Ok(Envelope::Bye(bye)) => heard.bye = Some(bye.reason()),
                    Ok(Envelope::Club(club)) => heard.evenings.push(club.name),
                    _ => {}
                }
            }
        };
        // Shorter than the 9 s after which silence closes a link.
        heard.hung_up = timeout(Duration::from_secs(4), listen).await.is_ok();
        drop(writer);
        // Reads the notices about it too.
        self.anna.client.scan(false).await;
        self.anna.client.until("the link is over", |seen| !is_connected(seen, "Ben")).await;
        heard
    }

    fn misbehaved(&self) -> usize {
        let notices = self.anna.client.seen.notices.iter();
        notices.filter(|one| one.kind() == NoticeKind::NoticePeerMisbehaved).count()
    }

    async fn check_undisturbed(mut self) {
        assert_eq!(record(&self.anna.client.seen, &self.attacked), ["h8"], "nobody has played there");
        assert!(record(&self.anna.client.seen, &self.honest).is_empty());
        for (number, action) in ["h8", "i9", "j8"].into_iter().enumerate() {
            let (mover, other) = if number % 2 == 0 {
                (&mut self.anna, &mut self.carl)
            } else {
                (&mut self.carl, &mut self.anna)
            };
            act(mover, &self.honest, action).await;
            let honest = &self.honest;
            other.client.until(action, |seen| record(seen, honest).len() == number + 1).await;
        }
        let seen = &self.anna.client.seen;
        assert!(seen.comparisons.is_empty() && seen.friends.len() == 2);
    }
}

struct Heard {
    bye: Option<ByeReason>,
    hung_up: bool,
    /// Club evenings that were told.
    evenings: Vec<String>,
}

fn is_connected(seen: &Seen, name: &str) -> bool {
    seen.friends.values().any(|friend| friend.name == name && friend.connected)
}

fn record<'seen>(seen: &'seen Seen, room: &str) -> &'seen [String] {
    &seen.rooms[room].record
}

fn id(room: &str) -> Bytes {
    let digits: Vec<u8> =
        room.bytes().map(|c| (c as char).to_digit(16).expect("hexadecimal") as u8).collect();
    digits.chunks(2).map(|pair| pair[0] * 16 + pair[1]).collect()
}

async fn act(device: &mut Device, room: &str, notation: &str) {
    let act = control::Act { room_id: room.into(), action: None, notation: notation.into() };
    device.client.ask(request::Body::Act(act)).await.expect("played");
}

/// A match between two friends, `one` first. Returns its room.
async fn begin(one: &mut Device, other: &mut Device) -> String {
    let peer = one.client.seen.friends.values().find(|friend| friend.name == other.name);
    let peer = peer.expect("a friend").id.clone();
    let before: Vec<String> = one.client.seen.rooms.keys().cloned().collect();
    let invite = control::Invite { peer, my_side: 1, ..control::Invite::default() };
    one.client.ask(request::Body::Invite(invite)).await.expect("invited");
    other.client.until("an invitation", |seen| seen.invitations.iter().any(|one| !one.mine)).await;
    let invite_id = other.client.seen.invitations.first().expect("one").invite_id.clone();
    let answer = control::AnswerInvite { invite_id, accept: true, ..control::AnswerInvite::default() };
    other.client.done(request::Body::AnswerInvite(answer)).await;
    let new = |seen: &Seen| seen.rooms.keys().find(|room| !before.contains(room)).cloned();
    one.client.until("a room", |seen| new(seen).is_some()).await;
    let room = new(&one.client.seen).expect("it was there a line above");
    other.client.until("a room", |seen| seen.rooms.contains_key(&room)).await;
    room
}

fn frames(envelopes: impl IntoIterator<Item = Envelope>) -> BytesMut {
    let (mut codec, mut bytes) = (FrameCodec::new(FrameLimit::Peer), BytesMut::new());
    for envelope in envelopes {
        codec.encode(Outgoing::from(&envelope), &mut bytes).expect("it fits");
    }
    bytes
}

fn invite(number: u8) -> Envelope {
    let gomoku = board::GomokuSetup { size: 15, edge_five_wins: true, ..board::GomokuSetup::default() };
    let setup = Some(board::Setup { game: Some(board::setup::Game::Gomoku(gomoku)) });
    peer::Invite { invite_id: Bytes::from(vec![number; 16]), setup, ..peer::Invite::default() }.into()
}

/// One of each game for two devices, on a large board where there is a choice.
fn setups() -> [Setup; 5] {
    let start = Start::Random { columns: 15, rows: 15, seed: 0 };
    [
        Setup::Gomoku(GomokuSetup { size: 20, ..GomokuSetup::default() }),
        GameKind::Liuzhou.default_setup(),
        GameKind::Xiangqi.default_setup(),
        GameKind::Go.default_setup(),
        Setup::LightsOut(LightsOutSetup { start, race: true, ..LightsOutSetup::default() }),
    ]
}

fn invite_to(setup: &Setup, number: u8) -> Envelope {
    peer::Invite {
        invite_id: Bytes::from(vec![number; 16]),
        setup: Some(session::wire::setup(setup)),
        // The only ones for a race.
        colours: peer::Colours::Random.into(),
        commitment: Bytes::from(vec![1; 32]),
        ..peer::Invite::default()
    }
    .into()
}

/// An invitation that is withdrawn at once, repeatedly.
fn rings(first: u8, count: u8) -> Vec<Envelope> {
    let ring = |number| {
        let withdraw = peer::Withdraw { invite_id: Bytes::from(vec![number; 16]) };
        [invite(number), withdraw.into()]
    };
    (first..first + count).flat_map(ring).collect()
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_played_ends_the_link_and_is_told_by_name() {
    let mut scene = Scene::new(110).await;
    let place = |column: u32| action::Kind::Place(7 * 1024 + column);
    let digest = scene.digest();
    let cases: Vec<(&str, Envelope)> = vec![
        ("an occupied point", scene.play(2, place(7)).into()),
        ("a point off the board", scene.play(2, action::Kind::Place(1023 * 1024 + 1023)).into()),
        ("another game's action", scene.play(2, action::Kind::Pass(true)).into()),
        ("a move that leads elsewhere", Play { digest: 7, ..scene.play(2, place(8)) }.into()),
        ("an action without any", Play { action: None, ..scene.play(2, place(8)) }.into()),
        ("Anna's own move, changed", Play { digest: 7, ..scene.play(1, place(9)) }.into()),
        ("a later revision", Play { digest, revision: 9, ..scene.play(2, place(8)) }.into()),
        ("ply 0", scene.play(0, place(8)).into()),
        (
            "an id that is none",
            Play { match_id: Bytes::from_static(b"short"), ..scene.play(2, place(8)) }.into(),
        ),
        ("a second hello", scene.hello().into()),
        ("a string to compare, of a friend", peer::Pair { step: None }.into()),
    ];
    for (number, (what, envelope)) in cases.into_iter().enumerate() {
        // Anna is told once a minute.
        tokio::time::sleep(Duration::from_mins(1)).await;
        let heard = scene.say(vec![envelope]).await;
        assert!(heard.hung_up, "{what}: Anna listens on");
        // Bytes that no codec accepts end the frames; what the match rejects ends with a reason.
        assert!(matches!(heard.bye, None | Some(ByeReason::ByeViolation)), "{what}: {:?}", heard.bye);
        assert_eq!(scene.misbehaved(), number + 1, "{what}: Anna is not told");
    }
    scene.check_undisturbed().await;
}

#[tokio::test(start_paused = true)]
async fn what_speaks_of_nothing_is_not_heard() {
    let mut scene = Scene::new(112).await;
    let elsewhere = id(&scene.honest);
    let unknown = Bytes::from_static(&[0xEE; 16]);
    let place = action::Kind::Place(7 * 1024 + 8);
    let answer = Some(peer::invite_answer::Answer::Accept(true));
    let quiet: Vec<(&str, Envelope)> = vec![
        ("a ply far ahead", scene.play(40, place).into()),
        (
            "a move in somebody else's match",
            Play { match_id: elsewhere.clone(), ..scene.play(1, place) }.into(),
        ),
        ("a move in no match", Play { match_id: unknown.clone(), ..scene.play(1, place) }.into()),
        (
            "giving up somebody else's match",
            peer::Resign { match_id: elsewhere.clone(), ..peer::Resign::default() }.into(),
        ),
        (
            "an invitation under somebody else's id",
            peer::Invite { invite_id: elsewhere, ..peer::Invite::default() }.into(),
        ),
        (
            "an answer to nothing",
            peer::InviteAnswer { invite_id: unknown.clone(), answer, ..peer::InviteAnswer::default() }.into(),
        ),
        ("a withdrawal of nothing", peer::Withdraw { invite_id: unknown }.into()),
        ("a pong that was not asked for", peer::Pong { token: 77 }.into()),
    ];
    for (what, envelope) in quiet {
        let before = scene.anna.client.seen.rooms.clone();
        scene.say(vec![envelope]).await;
        let after = &scene.anna.client.seen.rooms;
        for room in [&scene.attacked, &scene.honest] {
            assert_eq!(before[room].record, after[room].record, "{what}");
            assert_eq!(before[room].result, after[room].result, "{what}");
        }
        assert!(scene.anna.client.seen.invitations.is_empty(), "{what}");
    }
    scene.check_undisturbed().await;
}

#[tokio::test(start_paused = true)]
async fn a_version_of_the_past_or_the_future_is_told_as_an_update() {
    let mut scene = Scene::new(116).await;
    let (version, violation) = (ByeReason::ByeVersion, ByeReason::ByeViolation);
    for (lowest_version, highest_version, word) in [(0, 0, version), (200, 300, version), (3, 2, violation)] {
        let hello = Hello { lowest_version, highest_version, ..scene.hello() };
        let heard = scene.say_from_the_start(vec![hello.into()]).await;
        assert!(heard.hung_up, "{lowest_version} to {highest_version}");
        assert_eq!(heard.bye, Some(word), "{lowest_version} to {highest_version}");
    }
    let update = |seen: &Seen| seen.notices.iter().any(|one| one.kind() == NoticeKind::NoticeUpdateNeeded);
    scene.anna.client.until("an update is asked for", update).await;
    scene.check_undisturbed().await;
}

#[tokio::test(start_paused = true)]
async fn a_friend_who_opens_link_after_link_is_soon_let_in_once_a_second() {
    let scene = Scene::new(131).await;
    let began = tokio::time::Instant::now();
    let mut let_in = 0;
    for _ in 0..600 {
        let (reader, mut writer) = tokio::io::split(scene.link().await);
        let _ = writer.write_all(&frames(vec![scene.hello().into()])).await;
        let _ = writer.flush().await;
        let mut frames = FrameReader::new(reader, FrameLimit::Peer);
        // Whoever is let in is greeted, and everybody else is sent away at once.
        if let Ok(Some(Arrival::Next(frame))) = frames.next().await {
            let_in +=
                u64::from(matches!(Envelope::decode(frame.msgid, &frame.payload), Ok(Envelope::Hello(_))));
        }
    }
    let seconds = began.elapsed().as_secs();
    assert!((50..=62 + seconds).contains(&let_in), "{let_in} links in {seconds} s");
    tokio::time::sleep(Duration::from_mins(2)).await;
    scene.check_undisturbed().await;
}

#[tokio::test(start_paused = true)]
async fn an_evening_is_not_told_to_a_friend_whose_version_cannot_read_its_rules_and_the_person_is_told_why() {
    use control::club_request::Deed;
    let mut scene = Scene::new(133).await;
    let ben =
        scene.anna.client.seen.friends.values().find(|one| one.name == "Ben").expect("a friend").id.clone();
    let option = |game: Game, option: &str, value: &str| control::GameChoice {
        game: game.into(),
        options: vec![control::ChosenOption { option: option.into(), value: value.into() }],
        ..Default::default()
    };
    let told = |scene: &Scene| {
        let notices = scene.anna.client.seen.notices.iter();
        notices.filter(|one| one.kind() == NoticeKind::NoticeUpdateNeeded && one.name == "Ben").count()
    };
    for (number, (choice, is_usual)) in [
        (option(Game::Gomoku, "opening", "swap"), false),
        (option(Game::Xiangqi, "repetition", "chinese"), false),
        (option(Game::Xiangqi, "repetition", "asian"), true),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("Evening {}", number + 1);
        let open =
            control::OpenClub { name: name.clone(), choice: Some(choice), ..control::OpenClub::default() };
        let who = Some(control::club_player::Who::Friend(ben.clone()));
        let player = control::ClubPlayer { who, ..control::ClubPlayer::default() };
        let deed = |club_id: &str, deed| {
            request::Body::Club(control::ClubRequest { club_id: club_id.into(), deed: Some(deed) })
        };
        let opened = scene.anna.client.ask(deed("", Deed::Open(open))).await;
        let Ok(reply::Body::ClubId(club)) = opened else { panic!("{opened:?}") };
        scene.anna.client.done(deed(&club, Deed::Add(player))).await;
        scene.anna.client.seen.notices.clear();
        let older = scene.hello();
        let heard = scene.say_from_the_start(vec![older.into()]).await;
        assert_eq!(heard.evenings.contains(&name), is_usual, "{name}: {:?}", heard.evenings);
        assert_eq!(told(&scene) > 0, !is_usual, "{name}: {:?}", scene.anna.client.seen.notices);
        scene.anna.client.seen.notices.clear();
        let newer = Hello {
            knows_starts: true,
            knows_openings: true,
            knows_chinese_repetition: true,
            ..scene.hello()
        };
        let heard = scene.say_from_the_start(vec![newer.into()]).await;
        assert!(heard.evenings.contains(&name), "{name}: {:?}", heard.evenings);
        assert_eq!(told(&scene), 0, "{name}");
        scene.anna.client.done(deed(&club, Deed::Discard(true))).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_letter_from_a_position_is_not_written_to_a_friend_whose_version_does_not_know_it() {
    let mut scene = Scene::new(129).await;
    let peer =
        scene.anna.client.seen.friends.values().find(|one| one.name == "Ben").expect("a friend").id.clone();
    let letter = |started: bool| {
        let line = "9/9/9/9/9/9/2b6/9/9 w";
        let start = if started { line.as_bytes().to_vec() } else { Vec::new() };
        let choice = control::GameChoice { game: Game::Go.into(), start: start.into(), ..Default::default() };
        let peer = peer.clone();
        request::Body::Invite(control::Invite {
            peer,
            choice: Some(choice),
            by_letter: true,
            ..Default::default()
        })
    };
    let opening = || {
        let options = vec![control::ChosenOption { option: "opening".into(), value: "swap".into() }];
        let choice = control::GameChoice { game: Game::Gomoku.into(), options, ..Default::default() };
        let (peer, choice) = (peer.clone(), Some(choice));
        request::Body::Invite(control::Invite { peer, choice, by_letter: true, ..Default::default() })
    };
    let rule = || {
        let options = vec![control::ChosenOption { option: "repetition".into(), value: "chinese".into() }];
        let choice = control::GameChoice { game: Game::Xiangqi.into(), options, ..Default::default() };
        let (peer, choice) = (peer.clone(), Some(choice));
        request::Body::Invite(control::Invite { peer, choice, by_letter: true, ..Default::default() })
    };
    let is_outdated = |answer: Result<_, control::Refusal>| {
        answer.is_err_and(|refusal: control::Refusal| {
            refusal
                .reason
                .is_some_and(|words| words.en == "Their Qiyou is too old for yours: ask them to update it.")
        })
    };
    let refused = scene.anna.client.ask(letter(true)).await;
    assert!(!is_outdated(refused), "Ben's last hello knew it");
    let refused = scene.anna.client.ask(opening()).await;
    assert!(!is_outdated(refused), "it knew this too");
    let refused = scene.anna.client.ask(rule()).await;
    assert!(!is_outdated(refused), "and this");
    let older = Hello {
        knows_starts: false,
        knows_openings: false,
        knows_chinese_repetition: false,
        ..scene.hello()
    };
    scene.say_from_the_start(vec![older.into()]).await;
    let usual = scene.anna.client.ask(letter(false)).await;
    assert!(!is_outdated(usual), "the usual beginning is known to all");
    let refused = scene.anna.client.ask(letter(true)).await;
    assert!(is_outdated(refused), "it is said at once");
    assert!(is_outdated(scene.anna.client.ask(opening()).await), "and of an opening");
    assert!(is_outdated(scene.anna.client.ask(rule()).await), "and of a rule of repetition");
    // It is known after a restart too, before Ben is heard.
    scene.anna.stop().await;
    scene.anna.start().await;
    let refused = scene.anna.client.ask(letter(true)).await;
    assert!(is_outdated(refused), "it is kept");
    assert!(is_outdated(scene.anna.client.ask(opening()).await), "and of an opening");
    assert!(is_outdated(scene.anna.client.ask(rule()).await), "and of a rule of repetition");
}

#[tokio::test(start_paused = true)]
async fn a_message_without_end_is_cut_off() {
    let mut scene = Scene::new(118).await;
    let mut link = scene.link().await;
    let whole = frames([scene.hello().into(), Ping { token: 1 }.into()]);
    let cut = whole.len() - 1;
    link.write_all(&whole[..cut]).await.expect("written");
    link.flush().await.expect("written");
    let mut heard = Vec::new();
    // The last byte never arrives; without a timeout for frames (5 s), silence would close the link after 9 s.
    assert!(timeout(Duration::from_secs(8), link.read_to_end(&mut heard)).await.is_ok(), "Anna waits on");
    scene.anna.client.until("Ben is away", |seen| !is_connected(seen, "Ben")).await;
    scene.check_undisturbed().await;
}

/// A carrier that sends the last bytes twice on request.
async fn relay(mut near: DuplexStream, mut far: Box<dyn Duplex>, again: std::sync::Arc<tokio::sync::Notify>) {
    let (mut last, mut up, mut down) = (Vec::new(), [0; 4096], [0; 4096]);
    loop {
        tokio::select! {
            read = near.read(&mut up) => match read {
                Ok(0) | Err(_) => return,
                Ok(read) => {
                    last = up[..read].to_vec();
                    if far.write_all(&last).await.is_err() { return }
                }
            },
            read = far.read(&mut down) => match read {
                Ok(0) | Err(_) => return,
                Ok(read) => if near.write_all(&down[..read]).await.is_err() { return },
            },
            () = again.notified() => if far.write_all(&last).await.is_err() { return },
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_record_that_was_heard_before_ends_the_link() {
    let scene = Scene::new(120).await;
    let (near, ours) = tokio::io::duplex(64 << 10);
    let again = std::sync::Arc::new(tokio::sync::Notify::new());
    let relay = tokio::spawn(relay(near, scene.carrier().await, again.clone()));
    let mut link = secure::dial(ours, &scene.stolen, CarrierKind::Memory, ExpectedPeer::Anybody)
        .await
        .expect("a known key");
    link.write_all(&frames([scene.hello().into()])).await.expect("written");
    link.flush().await.expect("written");
    tokio::time::sleep(Duration::from_secs(1)).await;
    again.notify_one();
    let mut heard = Vec::new();
    assert!(timeout(Duration::from_secs(5), link.read_to_end(&mut heard)).await.is_ok(), "Anna listens on");
    relay.abort();
    let mut scene = scene;
    let told = |seen: &Seen| seen.notices.iter().any(|one| one.kind() == NoticeKind::NoticePeerMisbehaved);
    scene.anna.client.until("Anna is told", told).await;
    scene.check_undisturbed().await;
}

/// Number of matches in a device's database, and its size in bytes, with the write-ahead log.
fn saved(device: &Device) -> (u32, u64) {
    let path = device.directory().join(host::DATABASE);
    let database = rusqlite::Connection::open(&path).expect("the saves open");
    database.pragma_update(None, "wal_checkpoint", "TRUNCATE").expect("the log is brought in");
    let count = database.query_row("SELECT count(*) FROM matches", [], |row| row.get(0)).expect("a count");
    (count, std::fs::metadata(path).expect("the file is there").len())
}

/// A match of the attacked pair with a made-up id, which the false friend has resigned at once; of one game after the other.
fn given_up(number: u32) -> Envelope {
    let setups = setups();
    given_up_in(&setups[number as usize % setups.len()], number).into()
}

fn given_up_in(setup: &Setup, number: u32) -> peer::Record {
    let mut match_id = vec![0xAB; 16];
    match_id[..4].copy_from_slice(&number.to_be_bytes());
    peer::Record {
        match_id: match_id.into(),
        setup: Some(session::wire::setup(setup)),
        sender_side: board::Side::Second.into(),
        result: Some(board::Result {
            winner: board::Side::First.into(),
            ending: board::Ending::Resigned.into(),
        }),
        ..peer::Record::default()
    }
}

/// A long match, resigned at its end. Of a race only the board: its record has no unfinished run.
fn long_record(setup: &Setup) -> peer::Record {
    const LONG: usize = 250;
    let mut game = AnyGame::new(setup).expect("a setup");
    let (mut rng, mut actions) = (Rng::new(1), Vec::new());
    while setup.kind() != GameKind::LightsOut && actions.len() < LONG {
        let mut legal = game.legal_actions();
        rng.shuffle(&mut legal);
        // Nothing that ends the match, or begins its end.
        let next = legal.into_iter().filter(|action| *action != Action::Pass).find_map(|action| {
            let mut next = game.clone();
            next.act(action).expect("it is legal");
            next.outcome().is_none().then_some((action, next))
        });
        let Some((action, next)) = next else { break };
        actions.push(action);
        game = next;
    }
    let least = if setup.kind() == GameKind::LightsOut { 0 } else { 30 };
    assert!(actions.len() >= least, "{setup:?}: {} actions", actions.len());
    peer::Record { actions: session::wire::pack_actions(&actions).into(), ..given_up_in(setup, 0) }
}

#[tokio::test(start_paused = true)]
async fn a_friend_cannot_fill_the_file_with_matches_that_nobody_here_has_asked_for() {
    let mut scene = Scene::new(124).await;
    let before = saved(&scene.anna);
    for round in 0..10 {
        let heard = scene.say((0..40).map(|number| given_up(round * 40 + number)).collect()).await;
        assert_eq!(heard.bye, None, "what is not wanted is not an offence");
    }
    let after = saved(&scene.anna);
    assert_eq!(after.0, before.0, "no match was kept");
    assert!(after.1 <= before.1 + (16 << 10), "{} bytes more", after.1 - before.1);
    scene.check_undisturbed().await;
}

/// An unfinished match of the attacked pair with a made-up id, which Anna never knew.
fn unheard_of(number: u32) -> Envelope {
    let [gomoku, ..] = setups();
    peer::Record { result: None, ..given_up_in(&gomoku, number) }.into()
}

#[tokio::test(start_paused = true)]
async fn a_friend_asks_a_dozen_times_a_day_to_go_on_with_matches_that_nobody_here_knows() {
    let mut scene = Scene::new(130).await;
    let asked = |scene: &Scene| scene.anna.client.seen.ended.len();
    let (before, kept) = (asked(&scene), saved(&scene.anna));
    for number in 0..40 {
        scene.say(vec![unheard_of(number)]).await;
        // Longer than the pace of rings.
        tokio::time::sleep(Duration::from_mins(2)).await;
    }
    assert_eq!(asked(&scene) - before, 12);
    // Invitations are not among them.
    scene.say(rings(1, 1)).await;
    assert_eq!(asked(&scene) - before, 13);
    let after = saved(&scene.anna);
    assert_eq!(after.0, kept.0, "no match was kept");
    assert!(after.1 <= kept.1 + (16 << 10), "{} bytes more", after.1 - kept.1);
    scene.check_undisturbed().await;
}

/// A club evening of four on the false friend's device, with long names.
fn evening(number: u32) -> Envelope {
    const ANNA: [u8; 32] = [9; 32];
    let name = |player: u32| format!("{} {number} {player}", "棋".repeat(20));
    let mut club = Club::empty(name(0), engine::GameKind::Gomoku.default_setup(), None, true);
    club.add(&name(1), PlayerKind::Friend(ANNA)).expect("there is room");
    for player in 2..=3 {
        club.add(&name(player), PlayerKind::Nobody).expect("there is room");
    }
    club.start(None).expect("there are enough");
    club::message(number, &club, &ANNA).expect("she is on the list").into()
}

#[tokio::test(start_paused = true)]
async fn a_friend_cannot_fill_the_file_with_anything_else_that_it_says() {
    let mut scene = Scene::new(132).await;
    let before = saved(&scene.anna);
    let about = id(&scene.attacked);
    let digest = scene.digest();
    for round in 0..60_u8 {
        // Another name and another key of adverts each time: what is written last replaces what was before.
        let hello = Hello {
            name: format!("{round} {}", "棋".repeat(29)),
            advert_key: Bytes::from(vec![round; 32]),
            ..scene.hello()
        };
        // Nine of kinds that nobody knows, and one that waits for an answer: a second would be an offence.
        let offers = (1..=10_u32).map(|number| {
            let draw = peer::OfferKind::OfferDraw as i32;
            let kind = if number < 10 { 90 + number as i32 } else { draw };
            let match_id = about.clone();
            Envelope::from(peer::Offer { match_id, offer_id: number, kind, ply: 1, ..peer::Offer::default() })
        });
        let takings = (1..=10).map(|hints| peer::HintTaken { match_id: about.clone(), hints }.into());
        let words = (0..10).map(|_| {
            let what = Some(peer::say::What::Text("棋".repeat(60)));
            peer::Say { match_id: about.clone(), what }.into()
        });
        let acks = (0..10).map(|spent_ms| {
            peer::Ack { match_id: about.clone(), ply: 1, digest, spent_ms, ..peer::Ack::default() }.into()
        });
        let Envelope::Record(given) = given_up(u32::from(round)) else { panic!("a record") };
        let gift = Envelope::from(peer::Gift { record: Some(given) });
        let evenings = (0..3).map(|number| evening(u32::from(round) * 3 + number + 1));
        let analyses = (1..=5).map(|version| {
            let h8 = engine::Action::Place(engine::Point::new(7, 7));
            let actions = session::wire::pack_actions(&[h8; limits::TRIED_ACTIONS]).into();
            let match_id = about.clone();
            let analysis =
                peer::Analysis { match_id, version, open: true, actions, ..peer::Analysis::default() };
            Envelope::from(analysis)
        });
        // Of accounts only letters speak.
        let answers = [Answer::Accept(true), Answer::Decline(1)].into_iter().flat_map(|answer| {
            (0..3_u8).map(move |number| {
                let invite_id = Bytes::from(vec![200 + number; 16]);
                let account = format!("{round}@{}", "a".repeat(2_000));
                let answer = Some(answer);
                let answer =
                    peer::InviteAnswer { invite_id, answer, account, ..peer::InviteAnswer::default() };
                Envelope::from(answer)
            })
        });
        // Neither this match nor an unknown one is a race; a run in this one would be an offence.
        let progress = (1..=5).map(|presses| {
            let match_id = about.clone();
            Envelope::from(peer::Progress { match_id, presses, lit: 1, ..peer::Progress::default() })
        });
        let runs = (0..5_u8).map(|number| {
            let press = engine::Action::Press(engine::Point::new(7, 7));
            let actions = session::wire::pack_actions(&[press; 100]).into();
            let match_id = Bytes::from(vec![210 + number; 16]);
            Envelope::from(peer::Run { match_id, actions, ..peer::Run::default() })
        });
        let all: Vec<Envelope> = std::iter::once(hello.into())
            .chain(rings(round, 5))
            // Before the words, with which it shares a limit.
            .chain([gift])
            .chain(offers)
            .chain(takings)
            .chain(words)
            .chain(acks)
            .chain(evenings)
            .chain(analyses)
            .chain(answers)
            .chain(progress)
            .chain(runs)
            .collect();
        let heard = scene.say_from_the_start(all).await;
        assert_eq!(heard.bye, None, "it is heard to the last");
        scene.anna.client.seen.notices.clear();
    }
    let after = saved(&scene.anna);
    assert_eq!(after.0, before.0, "no match was kept");
    assert!(after.1 <= before.1 + (16 << 10), "{} bytes more", after.1 - before.1);
}

#[tokio::test(start_paused = true)]
async fn strangers_store_nothing() {
    let mut scene = Scene::new(134).await;
    let before = saved(&scene.anna);
    let mut let_in = 0;
    for number in 0..60_u8 {
        let stranger = Identity::generate().expect("random");
        let carrier = scene.carrier().await;
        let Ok(link) = secure::dial(carrier, &stranger, CarrierKind::Memory, ExpectedPeer::Anybody).await
        else {
            continue;
        };
        let hello =
            Hello { name: format!("{number} {}", "棋".repeat(29)), wants_comparison: true, ..scene.hello() };
        let hello = Hello { advert_key: Bytes::new(), matches: Vec::new(), ..hello };
        let commitment = pair::Step::Commitment(Bytes::from(vec![number; 32]));
        let compare = peer::Pair { step: Some(commitment) };
        let (reader, mut writer) = tokio::io::split(link);
        // The host may close the link in the middle.
        let _ = writer.write_all(&frames([hello.into(), compare.into(), invite(number), given_up(1)])).await;
        let _ = writer.flush().await;
        let mut frames = FrameReader::new(reader, FrameLimit::Peer);
        let listen = async {
            while let Ok(Some(Arrival::Next(frame))) = frames.next().await {
                let_in += u64::from(matches!(
                    Envelope::decode(frame.msgid, &frame.payload),
                    Ok(Envelope::Hello(_))
                ));
            }
        };
        let next = tokio::time::Instant::now() + Duration::from_secs(25);
        let _ = tokio::time::timeout_at(next, listen).await;
        tokio::time::sleep_until(next).await;
    }
    assert!(let_in >= 3, "{let_in} strangers were let in");
    scene.anna.client.scan(false).await;
    let after = saved(&scene.anna);
    assert_eq!(after.0, before.0);
    assert!(after.1 <= before.1 + (8 << 10), "{} bytes more", after.1 - before.1);
    scene.check_undisturbed().await;
}

#[tokio::test(start_paused = true)]
async fn memory_stays_bounded_whatever_a_crowd_of_them_sends() {
    let mut scene = Scene::new(122).await;
    let setups = setups();
    let long = setups.each_ref().map(long_record);
    let held = HELD.get();
    MOST.set(held);
    for round in 0..20_u8 {
        // Unfinished handshakes.
        let mut open = Vec::new();
        for _ in 0..8 {
            let address = scene.house.air.transport("Anna").address();
            // Refused once too many handshakes wait.
            open.extend(scene.house.air.transport("Mallory").connect(&address).await.ok());
        }
        // Nobody else can connect until they time out.
        tokio::time::sleep(secure::HANDSHAKE_DEADLINE + Duration::from_secs(1)).await;
        // Floods of well-formed messages, from a friend and from strangers.
        let flood = (0..2_000).map(|token| Ping { token }.into());
        let words = (0..200).map(|_| {
            let what = Some(peer::say::What::Text("棋".repeat(200)));
            peer::Say { match_id: id(&scene.attacked), what }.into()
        });
        // Whole records, each of another match; as many as are allowed.
        let records = long.iter().cycle().zip(0..40_u8).map(|(long, number)| {
            let match_id = Bytes::from([vec![round, number], vec![0xAB; 14]].concat());
            Envelope::from(peer::Record { match_id, ..long.clone() })
        });
        let gifts = long.iter().map(|long| peer::Gift { record: Some(long.clone()) }.into());
        let invitations =
            setups.iter().cycle().zip(0..200_u8).map(|(setup, number)| invite_to(setup, number));
        let said: [Vec<Envelope>; 4] =
            [flood.collect(), words.collect(), gifts.collect(), invitations.collect()];
        for envelopes in said {
            scene.say(envelopes).await;
        }
        let heard = scene.say(records.collect()).await;
        assert_eq!(heard.bye, None, "records are read to the last, and none of them is an offence");
        let stranger = Identity::generate().expect("random");
        if let Ok(mut link) =
            secure::dial(scene.carrier().await, &stranger, CarrierKind::Memory, ExpectedPeer::Anybody).await
        {
            // The host may close the link in the middle.
            let _ = link.write_all(&vec![0xFF; 64 << 10]).await;
        }
        drop(open);
        scene.anna.client.seen.notices.clear();
    }
    let most = (MOST.get() - held) as usize;
    println!("{} KiB at most beside what was held before", most >> 10);
    assert!(most < MOST_BYTES, "{} KiB", most >> 10);
    scene.check_undisturbed().await;
}
