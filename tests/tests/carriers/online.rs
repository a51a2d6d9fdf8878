//! Whole hosts that play through real XMPP servers on loopback.
//!
//! `make test-carriers` runs this; it needs Prosody and ejabberd from Debian, and root for the latter.

mod servers;

use std::time::{Duration, Instant};

use host::{Host, HostConfig};
use link::online::OnlineConfig;
use proto::board::Game;
use proto::control::{self, AccountState, Carrier, ContactState, PeerLink, request};
use servers::{Authority, DOMAIN, Kind, Server};
use tests::house::{Client, Seen, begin, meet};

/// A device that plays over the internet only.
struct Device {
    _host: Host,
    client: Client,
    _home: tempfile::TempDir,
}

impl Device {
    async fn new(name: &str, authority: &Authority) -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let mut config = HostConfig::new(home.path());
        config.name = Some(name.to_owned());
        let config = config.with_online(OnlineConfig { authorities: Some(authority.certificate()) });
        let host = Host::start(config).expect("the host starts");
        let client = Client::attach(host.client()).await;
        Self { _host: host, client, _home: home }
    }

    async fn sign_in(&mut self, name: &str, password: &str, server: &str, make_it: bool) {
        let sign_in = control::SignIn {
            account: format!("{name}@{DOMAIN}"),
            password: password.into(),
            make_it,
            server: server.into(),
        };
        self.client.done(request::Body::SignIn(sign_in)).await;
    }

    async fn until_account(&mut self, state: AccountState) {
        let is = |seen: &Seen| seen.account.as_ref().is_some_and(|account| account.state() == state);
        self.client.until(&format!("{state:?}"), is).await;
    }
}

/// Two accounts that are contacts of each other, and two people who have compared strings.
async fn friends(server: &Server, authority: &Authority) -> (Device, Device) {
    let (mut anna, mut ben) = (Device::new("Anna", authority).await, Device::new("Ben", authority).await);
    for (device, name) in [(&mut anna, "anna"), (&mut ben, "ben")] {
        device.sign_in(name, "secret of it", &server.address(), true).await;
        device.until_account(AccountState::AccountOnline).await;
    }
    let ask = control::AskContact { account: format!("ben@{DOMAIN}") };
    anna.client.done(request::Body::AskContact(ask)).await;
    ben.client.until("Anna asks", |seen| contact(seen, "anna") == Some(ContactState::ContactAsks)).await;
    let accept = control::AnswerContact {
        account: format!("anna@{DOMAIN}"),
        answer: control::ContactAnswer::ContactAccept.into(),
    };
    ben.client.done(request::Body::AnswerContact(accept)).await;
    for (device, other) in [(&mut anna, "ben"), (&mut ben, "anna")] {
        device
            .client
            .until("both see each other", |seen| {
                contact(seen, other) == Some(ContactState::ContactMutual)
                    && seen.contacts[&format!("{other}@{DOMAIN}")].presence() == control::Presence::Online
            })
            .await;
    }
    meet(&mut anna.client, &mut ben.client, "Ben").await;
    (anna, ben)
}

fn contact(seen: &Seen, name: &str) -> Option<ContactState> {
    Some(seen.contacts.get(&format!("{name}@{DOMAIN}"))?.state())
}

fn link_up(seen: &Seen) -> bool {
    let link = seen.room().and_then(|room| room.link.as_ref().map(|link| (link.carrier(), link.state())));
    link == Some((Carrier::Online, PeerLink::Up))
}

/// Both let a bot play, and hold the same in the end.
async fn play_on(anna: &mut Device, ben: &mut Device) -> usize {
    for device in [&mut *anna, &mut *ben] {
        if device.client.seen.room().is_some_and(|room| room.result.is_none()) {
            device.client.hand_over(1).await;
        }
    }
    for device in [&mut *anna, &mut *ben] {
        device.client.until_over().await;
        let all = |room: &control::Room| room.seen_ply as usize == room.record.len();
        device.client.until("everything is acknowledged", |seen| seen.room().is_some_and(all)).await;
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
    // The server dies in the middle, and what is played meanwhile arrives once.
    anna.client.play("h8").await.expect("played");
    ben.client.until("h8", |seen| seen.room().is_some_and(|room| room.record == ["h8"])).await;
    // Accounts that were made a moment ago must be on disk: ejabberd's database writes its log every few seconds.
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

#[tokio::test]
#[ignore = "needs Prosody: make test-carriers"]
async fn every_game_is_played_through_a_server() {
    let authority = Authority::new();
    let server = Server::start(Kind::Prosody, &authority);
    let (mut anna, mut ben) = friends(&server, &authority).await;
    for game in [Game::Gomoku, Game::Liuzhou, Game::Go, Game::Xiangqi] {
        let choice = control::GameChoice { game: game.into(), preset: String::new(), options: Vec::new() };
        begin(&mut anna.client, &mut ben.client, Some(choice)).await;
        for device in [&mut anna, &mut ben] {
            device.client.hand_over(1).await;
        }
        let some =
            |seen: &Seen| seen.room().is_some_and(|room| room.record.len() >= 16 || room.result.is_some());
        ben.client.until("some plies", some).await;
        let room_id = ben.client.seen.room().expect("a room").id.clone();
        // Refused when the game has come to its own end by now.
        let _ = ben.client.ask(request::Body::Resign(control::Resign { room_id, side: 0 })).await;
        for device in [&mut anna, &mut ben] {
            device.client.until_over().await;
            let room_id = device.client.seen.room().expect("a room").id.clone();
            device.client.done(request::Body::CloseRoom(control::CloseRoom { room_id })).await;
        }
    }
}

#[tokio::test]
#[ignore = "needs Prosody and ejabberd: make test-carriers"]
async fn each_trouble_with_an_account_is_told_for_what_it_is() {
    for kind in [Kind::Prosody, Kind::Ejabberd] {
        let authority = Authority::new();
        let server = Server::start(kind, &authority);
        let mut anna = Device::new("Anna", &authority).await;
        anna.sign_in("anna", "right", &server.address(), true).await;
        anna.until_account(AccountState::AccountOnline).await;

        let mut other = Device::new("Other", &authority).await;
        other.sign_in("anna", "again", &server.address(), true).await;
        other.until_account(AccountState::AccountTaken).await;
        other.sign_in("anna", "wrong", &server.address(), false).await;
        other.until_account(AccountState::AccountWrongPassword).await;

        // Signed in elsewhere, in both directions.
        other.sign_in("anna", "right", &server.address(), false).await;
        other.until_account(AccountState::AccountOnline).await;
        anna.until_account(AccountState::AccountElsewhere).await;
        let sentence = anna.client.seen.account.as_ref().and_then(|account| account.sentence.clone());
        assert!(sentence.is_some_and(|words| !words.zh.is_empty() && !words.en.is_empty()));
        anna.client.done(request::Body::TakeOver(control::TakeOver {})).await;
        anna.until_account(AccountState::AccountOnline).await;
        other.until_account(AccountState::AccountElsewhere).await;

        // A server that cannot prove who it is, for a device that does not know its authority.
        let mut stranger = Device::new("Stranger", &Authority::new()).await;
        stranger.sign_in("anna", "right", &server.address(), false).await;
        stranger.until_account(AccountState::AccountCertificate).await;

        // Deleted while it is in use.
        server.delete_account("anna");
        anna.until_account(AccountState::AccountGone).await;

        // Nobody listens.
        drop(server);
        stranger.sign_in("anna", "right", "127.0.0.1:9", false).await;
        stranger.until_account(AccountState::AccountServerGone).await;
        println!("{kind:?}: taken, wrong password, elsewhere both ways, certificate, deleted, server gone");
    }
}

#[tokio::test]
#[ignore = "needs Prosody and root: make test-carriers"]
async fn a_capture_of_a_whole_match_shows_nothing_that_was_said() {
    let authority = Authority::new();
    let server = Server::start(Kind::Prosody, &authority);
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("match.pcap");
    let port = server.address().split_once(':').expect("an address").1.to_owned();
    let mut tshark = std::process::Command::new("tshark")
        .args(["-q", "-i", "lo", "-f", &format!("tcp port {port}"), "-w"])
        .arg(&file)
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("tshark runs");
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
    let _ = std::process::Command::new("kill").args(["-INT", &tshark.id().to_string()]).status();
    let _ = tshark.wait();
    let captured = std::fs::read(&file).expect("a capture");
    assert!(captured.len() > plies * 100, "the match was captured: {} bytes", captured.len());
    for word in
        [&b"xylophone"[..], b"secret of it", b"\x98\x76\x54\x32", b"eHlsb3Bob25l", b"<message", b"qiyou:link"]
    {
        assert!(!captured.windows(word.len()).any(|window| window == word), "{word:?} in the capture");
    }
    println!("capture of {plies} plies: {} bytes, nothing readable", captured.len());
}
