//! Whole hosts that play through real XMPP servers on loopback.
//!
//! `make test-carriers` runs this; it needs Prosody and ejabberd from Debian, and root for the latter.

mod contacts;
mod crowd;
mod keyring;
#[allow(dead_code, reason = "the captures use a part")]
mod network;
#[path = "../../../session/tests/pair/mod.rs"]
mod pair;
mod real;
mod rough;
#[path = "../../../session/tests/schedule/mod.rs"]
mod schedule;
mod servers;
mod troubles;
mod versions;
mod way;

use std::sync::Arc;
use std::time::{Duration, Instant};

use host::{Bus, Host, HostConfig};
use link::Transport;
use link::online::OnlineConfig;
use proto::board::Game;
use proto::control::{self, AccountState, Carrier, ContactState, LetterState, PeerLink, request};
use servers::{Authority, DOMAIN, Kind, Server};
use tests::house::{Client, Seen, begin, meet};

/// A device that plays over the internet only. Its data survives while it is off.
struct Device {
    host: Option<Host>,
    client: Client,
    config: HostConfig,
    _home: tempfile::TempDir,
}

impl Device {
    async fn new(name: &str, authority: &Authority) -> Self {
        if let Ok(filter) = tracing_subscriber::EnvFilter::try_from_env("QIYOU_LOG") {
            // Another device of this process may have initialised the log.
            let _ = tracing_subscriber::fmt().with_env_filter(filter).with_test_writer().try_init();
        }
        Self::with(name, authority, Vec::new()).await
    }

    /// The same with these additional carriers.
    async fn with(name: &str, authority: &Authority, carriers: Vec<Arc<dyn Transport>>) -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let mut config = HostConfig::new(home.path());
        config.name = Some(name.to_owned());
        // `hand_over`.
        config.stand_ins = true;
        config.transports = carriers;
        let config = config.with_online(OnlineConfig { authorities: Some(authority.certificate()) });
        let host = Host::start(config.clone()).expect("the host starts");
        let client = Client::attach(host.client()).await;
        Self { host: Some(host), client, config, _home: home }
    }

    async fn switch_off(&mut self) {
        self.host.take().expect("it is on").stop().await;
    }

    async fn switch_on(&mut self) {
        let host = Host::start(self.config.clone()).expect("the host starts again");
        self.client = Client::attach(host.client()).await;
        self.host = Some(host);
    }

    async fn sign_in(&mut self, name: &str, password: &str, server: &str, make_it: bool) {
        self.sign_in_as(format!("{name}@{DOMAIN}"), password, server, make_it).await;
    }

    async fn sign_in_as(&mut self, account: String, password: &str, server: &str, make_it: bool) {
        let sign_in = control::SignIn { account, password: password.into(), make_it, server: server.into() };
        self.client.done(request::Body::SignIn(sign_in)).await;
    }

    async fn ask_contact(&mut self, account: &str) {
        let ask = control::AskContact { account: account.into() };
        self.client.done(request::Body::AskContact(ask)).await;
    }

    async fn answer_contact(&mut self, account: &str, answer: control::ContactAnswer) {
        let answer = control::AnswerContact { account: account.into(), answer: answer.into() };
        self.client.done(request::Body::AnswerContact(answer)).await;
    }

    async fn until_account(&mut self, state: AccountState) {
        let is = |seen: &Seen| seen.account.as_ref().is_some_and(|account| account.state() == state);
        self.client.until(&format!("{state:?}"), is).await;
        // States that need the user have sentences in both languages, with a remedy.
        let words = self.client.seen.account.as_ref().and_then(|account| account.sentence.clone());
        let told = words.is_some_and(|words| words.en.contains(". ") && words.zh.chars().count() > 8);
        let well = matches!(state, AccountState::AccountOnline | AccountState::AccountConnecting);
        assert_eq!(told, !well, "{state:?}: {:?}", self.client.seen.account);
    }
}

/// Two accounts that are contacts of each other, and two users who have compared strings.
async fn friends(server: &Server, authority: &Authority) -> (Device, Device) {
    friends_at([server, server], authority).await
}

async fn friends_at(servers: [&Server; 2], authority: &Authority) -> (Device, Device) {
    let places = servers.map(|server| (server.domain, server.address()));
    let (mut anna, mut ben) = contacts_at(places, authority).await;
    meet(&mut anna.client, &mut ben.client, "Ben").await;
    (anna, ben)
}

/// Two new accounts at these domains and addresses that are contacts of each other.
async fn contacts_at(places: [(&str, String); 2], authority: &Authority) -> (Device, Device) {
    let (mut anna, mut ben) = (Device::new("Anna", authority).await, Device::new("Ben", authority).await);
    let accounts = [format!("anna@{}", places[0].0), format!("ben@{}", places[1].0)];
    for ((device, account), (_, address)) in [&mut anna, &mut ben].into_iter().zip(&accounts).zip(&places) {
        device.sign_in_as(account.clone(), "secret of it", address, true).await;
        device.until_account(AccountState::AccountOnline).await;
    }
    become_contacts(&mut anna, &mut ben, &accounts).await;
    (anna, ben)
}

/// The first requests, the second accepts.
async fn become_contacts(anna: &mut Device, ben: &mut Device, accounts: &[String; 2]) {
    anna.ask_contact(&accounts[1]).await;
    let asks = |seen: &Seen| contact(seen, &accounts[0]) == Some(ContactState::ContactAsks);
    ben.client.until("Anna asks", asks).await;
    ben.answer_contact(&accounts[0], control::ContactAnswer::ContactAccept).await;
    for (device, other) in [(anna, &accounts[1]), (ben, &accounts[0])] {
        device
            .client
            .until("both see each other", |seen| {
                contact(seen, other) == Some(ContactState::ContactMutual)
                    && seen.contacts[other].presence() == control::Presence::Online
            })
            .await;
    }
}

fn contact(seen: &Seen, account: &str) -> Option<ContactState> {
    Some(seen.contacts.get(account)?.state())
}

fn link_up(seen: &Seen) -> bool {
    let link = seen.room().and_then(|room| room.link.as_ref().map(|link| (link.carrier(), link.state())));
    link == Some((Carrier::Online, PeerLink::Up))
}

/// Both let a bot play, and have equal records at the end.
async fn play_on(anna: &mut Device, ben: &mut Device) -> usize {
    for device in [&mut *anna, &mut *ben] {
        if device.client.seen.room().is_some_and(|room| room.result.is_none()) {
            device.client.hand_over(1).await;
        }
    }
    until_equal(anna, ben).await
}

/// The match is over, each side knows that the other has everything, and both records are equal. Returns the number of plies.
async fn until_equal(anna: &mut Device, ben: &mut Device) -> usize {
    for device in [&mut *anna, &mut *ben] {
        device.client.until_over().await;
        let all = |room: &control::Room| room.seen_ply as usize == room.record.len();
        device.client.until("everything is acknowledged", |seen| seen.room().is_some_and(all)).await;
    }
    // An action that crossed an agreed end reaches the other's client a moment later.
    let plies = |device: &Device| device.client.seen.room().map_or(0, |room| room.record.len());
    let most = plies(anna).max(plies(ben));
    for device in [&mut *anna, &mut *ben] {
        let all = |room: &control::Room| room.record.len() >= most;
        device.client.until("it has all", |seen| seen.room().is_some_and(all)).await;
    }
    let (here, there) = (anna.client.seen.room().expect("a room"), ben.client.seen.room().expect("a room"));
    assert_eq!((&here.record, here.digest), (&there.record, there.digest));
    here.record.len()
}

async fn a_match_and_a_restart(kind: Kind) {
    let authority = Authority::new();
    let mut server = Server::start(kind, &authority);
    let (mut anna, mut ben) = friends(&server, &authority).await;
    begin(&mut anna.client, &mut ben.client, None).await;
    // The server is killed in the middle; actions of the meantime arrive once.
    anna.client.play("h8").await.expect("played");
    ben.client.until("h8", |seen| seen.room().is_some_and(|room| room.record == ["h8"])).await;
    // New accounts must be on disk: ejabberd's database writes its log every few seconds.
    tokio::time::sleep(Duration::from_secs(6)).await;
    server.kill();
    ben.client.play("i9").await.expect("kept");
    anna.until_account(AccountState::AccountServerGone).await;
    server.again();
    let back = Instant::now();
    for device in [&mut anna, &mut ben] {
        device
            .client
            .until("it goes on", |seen| {
                link_up(seen) && seen.room().is_some_and(|room| room.record == ["h8", "i9"])
            })
            .await;
    }
    println!("{kind:?}: restarted in mid-game, match goes on {:?} after it listens", back.elapsed());
    let plies = play_on(&mut anna, &mut ben).await;
    println!("{kind:?}: whole match of {plies} plies, records equal");
}

#[tokio::test]
#[ignore = "needs Prosody: make test-carriers"]
async fn a_match_goes_on_when_prosody_is_killed_and_restarted() {
    a_match_and_a_restart(Kind::Prosody).await;
}

#[tokio::test]
#[ignore = "needs ejabberd: make test-carriers"]
async fn a_match_goes_on_when_ejabberd_is_killed_and_restarted() {
    a_match_and_a_restart(Kind::Ejabberd).await;
}

/// Each game from the invitation to an end, one after another between the same two players.
async fn every_game(kind: Kind) {
    let authority = Authority::new();
    let server = Server::start(kind, &authority);
    let (mut anna, mut ben) = friends(&server, &authority).await;
    for game in [Game::Gomoku, Game::Liuzhou, Game::Go, Game::Xiangqi, Game::LightsOut] {
        let choice = control::GameChoice {
            game: game.into(),
            preset: String::new(),
            options: Vec::new(),
            ..Default::default()
        };
        begin(&mut anna.client, &mut ben.client, Some(choice)).await;
        for device in [&mut anna, &mut ben] {
            device.client.hand_over(1).await;
        }
        let some =
            |seen: &Seen| seen.room().is_some_and(|room| room.record.len() >= 16 || room.result.is_some());
        ben.client.until("some plies", some).await;
        let room_id = ben.client.seen.room().expect("a room").id.clone();
        // Refused if the game has ended by itself.
        let _ = ben.client.ask(request::Body::Resign(control::Resign { room_id, side: 0 })).await;
        // A move that crossed the resignation is in both records.
        let plies = until_equal(&mut anna, &mut ben).await;
        println!("{kind:?}: {game:?}, {plies} plies, records equal");
        for device in [&mut anna, &mut ben] {
            let room_id = device.client.seen.room().expect("a room").id.clone();
            device.client.done(request::Body::CloseRoom(control::CloseRoom { room_id })).await;
        }
    }
}

#[tokio::test]
#[ignore = "needs Prosody: make test-carriers"]
async fn every_game_is_played_through_prosody() {
    every_game(Kind::Prosody).await;
}

#[tokio::test]
#[ignore = "needs ejabberd: make test-carriers"]
async fn every_game_is_played_through_ejabberd() {
    every_game(Kind::Ejabberd).await;
}

#[tokio::test]
#[ignore = "needs Prosody and root: make test-carriers"]
async fn a_capture_of_a_whole_match_shows_nothing_that_was_said() {
    let authority = Authority::new();
    let server = Server::start(Kind::Prosody, &authority);
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("match.pcap");
    let port = server.address().split_once(':').expect("an address").1.to_owned();
    let tshark = std::process::Command::new("tshark")
        .args(["-q", "-i", "lo", "-f", &format!("tcp port {port}"), "-w"])
        .arg(&file)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("tshark runs");
    let tshark = network::Running(tshark);
    while std::fs::metadata(&file).is_err() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let (mut anna, mut ben) = friends(&server, &authority).await;
    begin(&mut anna.client, &mut ben.client, None).await;
    let room_id = anna.client.seen.room().expect("a room").id.clone();
    let say = control::Say { room_id, phrase: 0, text: "xylophone".into() };
    anna.client.done(request::Body::Say(say)).await;
    ben.client.until("the word", |seen| seen.said.iter().any(|said| said.text == "xylophone")).await;
    let plies = play_on(&mut anna, &mut ben).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    network::interrupt(tshark);
    let captured = std::fs::read(&file).expect("a capture");
    assert!(captured.len() > plies * 100, "the match was captured: {} bytes", captured.len());
    // What precedes the encryption, which proves that the capture can be read.
    let holds = |word: &[u8]| captured.windows(word.len()).any(|window| window == word);
    assert!(holds(b"urn:ietf:params:xml:ns:xmpp-tls"), "the beginning was captured");
    for word in
        [&b"xylophone"[..], b"secret of it", b"\x98\x76\x54\x32", b"eHlsb3Bob25l", b"<message", b"qiyou:link"]
    {
        assert!(!holds(word), "{word:?} in the capture");
    }
    println!("capture of {plies} plies: {} bytes, nothing readable", captured.len());
}

#[tokio::test]
#[ignore = "needs Prosody and lua-unbound: make test-carriers"]
async fn players_of_two_servers_play_as_those_of_one() {
    let authority = Authority::new();
    let servers = Server::federated(&authority);
    let (mut anna, mut ben) = friends_at([&servers[0], &servers[1]], &authority).await;
    begin(&mut anna.client, &mut ben.client, None).await;
    let plies = play_on(&mut anna, &mut ben).await;
    println!("two federated servers: whole match of {plies} plies, records equal");
}

/// The two are never online together: the server stores the messages. From the invitation to the end.
async fn a_match_by_letters(kind: Kind) {
    let authority = Authority::new();
    let server = Server::start(kind, &authority);
    let (mut anna, mut ben) = friends(&server, &authority).await;
    let friend = anna.client.seen.friends.values().next().expect("a friend").clone();
    assert_eq!(friend.met_by(), Carrier::Online);
    ben.switch_off().await;
    anna.client.until("Ben is away", |seen| seen.friends.values().all(|friend| !friend.connected)).await;
    let invite = control::Invite {
        peer: friend.id,
        my_side: proto::board::Side::First.into(),
        by_letter: true,
        ..control::Invite::default()
    };
    anna.client.ask(request::Body::Invite(invite)).await.expect("written");
    anna.client.until("a room", |seen| seen.room().is_some()).await;
    anna.client.play("h8").await.expect("played ahead");
    until_letter(&mut anna, LetterState::AtServer).await;
    anna.switch_off().await;

    // Days later.
    ben.switch_on().await;
    ben.client
        .until("an invitation by letter", |seen| seen.invitations.iter().any(|one| one.by_letter))
        .await;
    // The request survives a restart before the answer.
    ben.switch_off().await;
    ben.switch_on().await;
    ben.client.until("the invitation again", |seen| seen.invitations.iter().any(|one| one.by_letter)).await;
    let invite_id = ben.client.seen.invitations.first().expect("it was there above").invite_id.clone();
    let answer = control::AnswerInvite { invite_id, accept: true, reason: 0 };
    ben.client.done(request::Body::AnswerInvite(answer)).await;
    ben.client.until("a room", |seen| seen.room().is_some_and(|room| room.record == ["h8"])).await;
    ben.client.play("i9").await.expect("played");
    until_letter(&mut ben, LetterState::AtServer).await;
    ben.switch_off().await;

    let moves = ["h8", "i9", "h9", "i10", "h10", "i11", "h11", "i12", "h12"];
    for plies in 2..moves.len() {
        let mover = if plies % 2 == 0 { &mut anna } else { &mut ben };
        mover.switch_on().await;
        let there = |seen: &Seen| seen.room().is_some_and(|room| room.record == moves[..plies]);
        mover.client.until("the other's move", there).await;
        assert_eq!(mover.client.seen.room().expect("a room").seen_ply as usize, plies, "the other has it");
        mover.client.play(moves[plies]).await.expect("played");
        until_letter(mover, LetterState::Waiting).await;
        // The app is closed right after the move: the letter is sent with the goodbye.
        if plies % 3 != 0 {
            until_letter(mover, LetterState::AtServer).await;
        }
        mover.switch_off().await;
    }
    // Anna has five in a row. Ben receives it, and Anna, now online too, gets his receipt or his record.
    anna.switch_on().await;
    ben.switch_on().await;
    for device in [&mut anna, &mut ben] {
        device.client.until_over().await;
        assert_eq!(device.client.seen.room().expect("a room").record, moves);
    }
    println!("{kind:?}: whole match of {} plies by letters, never both there", moves.len());
}

async fn until_letter(device: &mut Device, state: LetterState) {
    let is = |seen: &Seen| {
        let letter = seen.room().and_then(|room| room.link).map(|link| link.letter());
        letter == Some(state)
    };
    device.client.until(&format!("the letter is {state:?}"), is).await;
}

#[tokio::test]
#[ignore = "needs Prosody: make test-carriers"]
async fn a_match_is_played_over_days_by_letters_that_prosody_keeps() {
    a_match_by_letters(Kind::Prosody).await;
}

#[tokio::test]
#[ignore = "needs ejabberd: make test-carriers"]
async fn a_match_is_played_over_days_by_letters_that_ejabberd_keeps() {
    a_match_by_letters(Kind::Ejabberd).await;
}

#[tokio::test]
#[ignore = "needs Prosody: make test-carriers"]
async fn a_letter_is_acknowledged_by_the_server_then_by_the_friend_and_may_be_declined() {
    let authority = Authority::new();
    let server = Server::start(Kind::Prosody, &authority);
    let (mut anna, mut ben) = friends(&server, &authority).await;
    let peer = anna.client.seen.friends.values().next().expect("a friend").id.clone();
    ben.switch_off().await;
    anna.client.until("Ben is away", |seen| seen.friends.values().all(|friend| !friend.connected)).await;
    let clocked = control::Invite {
        peer: peer.clone(),
        by_letter: true,
        pace: session::Pace::write(Some(session::Pace::SuddenDeath { main: Duration::from_mins(5) })),
        ..control::Invite::default()
    };
    anna.client.ask(request::Body::Invite(clocked)).await.expect_err("nobody's clock runs by letter");
    let invite = control::Invite { peer, by_letter: true, ..control::Invite::default() };
    anna.client.ask(request::Body::Invite(invite)).await.expect("written");
    until_letter(&mut anna, LetterState::AtServer).await;
    ben.switch_on().await;
    ben.client
        .until("an invitation by letter", |seen| seen.invitations.iter().any(|one| one.by_letter))
        .await;
    until_letter(&mut anna, LetterState::Delivered).await;
    let invite_id = ben.client.seen.invitations.first().expect("it was there above").invite_id.clone();
    let reason = proto::peer::DeclineReason::DeclineLater.into();
    let answer = control::AnswerInvite { invite_id, accept: false, reason };
    ben.client.done(request::Body::AnswerInvite(answer)).await;
    assert!(ben.client.seen.invitations.is_empty());
    let declined = |notice: &control::Notice| {
        notice.kind() == control::NoticeKind::NoticeOfferDeclined && notice.name == "Ben"
    };
    anna.client
        .until("the match is gone, and why", |seen| {
            seen.rooms.is_empty() && seen.notices.iter().any(declined)
        })
        .await;
}

#[tokio::test]
#[ignore = "needs Prosody: make test-carriers"]
async fn an_invitation_by_letter_of_a_muted_friend_is_not_shown_and_declined() {
    let authority = Authority::new();
    let server = Server::start(Kind::Prosody, &authority);
    let (mut anna, mut ben) = friends(&server, &authority).await;
    let [bens, annas] =
        [&anna, &ben].map(|device| device.client.seen.friends.values().next().expect("a friend").id.clone());
    let mute = control::SetMuted { peer: annas, muted: true };
    ben.client.done(request::Body::SetMuted(mute)).await;
    ben.switch_off().await;
    anna.client.until("Ben is away", |seen| seen.friends.values().all(|friend| !friend.connected)).await;
    let invite = control::Invite { peer: bens, by_letter: true, ..control::Invite::default() };
    anna.client.ask(request::Body::Invite(invite)).await.expect("written");
    until_letter(&mut anna, LetterState::AtServer).await;
    ben.switch_on().await;
    anna.client.until("the match is gone", |seen| seen.rooms.is_empty()).await;
    ben.client.scan(false).await;
    let seen = &ben.client.seen;
    assert!(seen.invitations.is_empty() && seen.ended.is_empty(), "nothing was shown");
}

/// Another client of the account reads the offline messages: the archive still has them.
#[tokio::test]
#[ignore = "needs Prosody: make test-carriers"]
async fn letters_that_another_program_has_fetched_are_read_from_the_archive() {
    let authority = Authority::new();
    let server = Server::start(Kind::Prosody, &authority);
    let (mut anna, mut ben) = friends(&server, &authority).await;
    let peer = anna.client.seen.friends.values().next().expect("a friend").id.clone();
    ben.switch_off().await;
    anna.client.until("Ben is away", |seen| seen.friends.values().all(|friend| !friend.connected)).await;
    let invite = control::Invite { peer, by_letter: true, ..control::Invite::default() };
    anna.client.ask(request::Body::Invite(invite)).await.expect("written");
    until_letter(&mut anna, LetterState::AtServer).await;
    // Nobody writes it once more, and there is no link to ask by.
    anna.switch_off().await;
    let waits = || server.has_offline_messages("ben");
    network::within("the letter waits at the server", async || waits().then_some(())).await;
    // The same account on a device without the friend: it receives the letter, and cannot decrypt it.
    let mut other = Device::new("Other", &authority).await;
    other.sign_in("ben", "secret of it", &server.address(), false).await;
    other.until_account(AccountState::AccountOnline).await;
    network::within("the letter is fetched", async || (!waits()).then_some(())).await;
    other.switch_off().await;
    assert!(!waits(), "it is in the archive only");
    ben.switch_on().await;
    ben.client
        .until("an invitation by letter", |seen| seen.invitations.iter().any(|one| one.by_letter))
        .await;
}

#[test]
#[ignore = "needs Prosody: make test-carriers"]
fn random_schedules_through_a_server_end_with_equal_records() {
    /// Fewer than over sockets: each link is a handshake through the server.
    const LISTS: u64 = 8;
    const LENGTH: usize = 120;
    let authority = Authority::new();
    let server = Server::start(Kind::Prosody, &authority);
    let config = OnlineConfig { authorities: Some(authority.certificate()) };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = Arc::new(runtime.expect("threads"));
    let names = ["anna", "bert"].map(|name| format!("{name}@{DOMAIN}"));
    let both = runtime.block_on(crowd::contacts(&server, &config, &names));
    let both = both.map(|(transport, listener)| (transport as Arc<dyn Transport>, listener));
    let (links, messages) = real::Real::new(runtime, both).play(0..LISTS, LENGTH);
    println!("XMPP: {LISTS} lists of {LENGTH} operations, {links} links, {messages} messages, records equal");
    assert!(links > LISTS as usize && messages > 20 * LISTS as usize, "{links} links, {messages} messages");
}

/// In a process of its own, so that its memory is the players'.
async fn two_hundred_accounts(kind: Kind) {
    const PAIRS: usize = 100;
    let authority = Authority::new();
    let server = Server::start(kind, &authority);
    let config = OnlineConfig { authorities: Some(authority.certificate()) };
    let own = std::process::id();
    let (before, idle) = (servers::resident_kb(own), server.resident_kb());
    let figures = crowd::play(&server, &config, PAIRS).await;
    let of_hundred = |percent: usize| figures.seen[(figures.seen.len() * percent).div_ceil(100) - 1];
    println!(
        "{kind:?}: {} accounts, {} matches at once: {} moves in {:.1?}, {:.0} moves/s; seen and acknowledged p50 {:.0?}, \
         p95 {:.0?}; a client {} kB ({} MB in all), server {} MB ({} MB before)",
        2 * figures.matches,
        figures.matches,
        figures.moves,
        figures.took,
        figures.moves as f64 / figures.took.as_secs_f64(),
        of_hundred(50),
        of_hundred(95),
        servers::resident_kb(own).saturating_sub(before) / (2 * figures.matches as u64),
        servers::resident_kb(own) >> 10,
        server.resident_kb() >> 10,
        idle >> 10,
    );
    assert_eq!(figures.moves, PAIRS * 40, "every match has all its moves");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Prosody: make test-carriers"]
async fn two_hundred_accounts_play_a_hundred_matches_at_once_through_prosody() {
    two_hundred_accounts(Kind::Prosody).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs ejabberd: make test-carriers"]
async fn two_hundred_accounts_play_a_hundred_matches_at_once_through_ejabberd() {
    two_hundred_accounts(Kind::Ejabberd).await;
}

#[tokio::test]
#[ignore = "needs gnome-keyring: make test-carriers"]
async fn the_password_is_in_the_keyring_when_there_is_one_and_else_in_a_file() {
    let authority = Authority::new();
    for with_keyring in [true, false] {
        let mut desktop = keyring::Desktop::new();
        if with_keyring {
            desktop.start_keyring();
        }
        let mut anna = Device::new("Anna", &authority).await;
        anna.switch_off().await;
        anna.config.secrets = Some(Bus::At(desktop.address.clone()));
        anna.switch_on().await;
        // Nobody listens there: the test checks where the password is stored, not whether it is right.
        anna.sign_in("anna", "pass word \u{e4}", "127.0.0.1:9", false).await;
        anna.until_account(AccountState::AccountServerGone).await;
        anna.switch_off().await;
        let account = format!("anna@{DOMAIN}");
        let file = anna.config.data_dir.join("account-password");
        if with_keyring {
            assert_eq!(
                desktop.lookup(&account).as_deref(),
                Some("pass word \u{e4}"),
                "another program reads it"
            );
        }
        assert_eq!(file.exists(), !with_keyring, "in one place only");
        anna.switch_on().await;
        anna.until_account(AccountState::AccountServerGone).await;
        assert_eq!(anna.client.seen.account.as_ref().map(|one| one.account.as_str()), Some(account.as_str()));
        anna.client.done(request::Body::SignOut(control::SignOut { forget: true })).await;
        anna.switch_off().await;
        assert!(!file.exists());
        if with_keyring {
            assert_eq!(desktop.lookup(&account).as_deref(), Some(""), "it is forgotten");
        }
    }
    println!("the password: in gnome-keyring, and in a file where there is none");
}
