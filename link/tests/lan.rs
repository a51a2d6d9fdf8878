//! The local network on one device: real sockets and real multicast on the loopback interface.

use std::net::UdpSocket;
use std::time::Duration;

use futures::{FutureExt, StreamExt};
use link::lan::{LanConfig, LanTransport};
use link::{
    Address, Card, CarrierKind, CarrierState, Duplex, LinkError, Sighting, Tag, Transport, Watch, WatchEvent,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

/// A limit for hanging tests, not a bound on speed.
const PATIENCE: Duration = Duration::from_mins(1);

/// A multicast DNS port of this test's own: it hears only itself, even beside another checkout's tests.
fn quiet_port() -> u16 {
    UdpSocket::bind("0.0.0.0:0").and_then(|socket| socket.local_addr()).expect("a port").port()
}

fn transport(mdns_port: u16) -> LanTransport {
    LanTransport::new(LanConfig { port: 0, mdns_port, loopback: true })
}

fn card(tag: u8, name: &str) -> Card {
    Card {
        tag: Tag([tag; 5]),
        open_to_all: true,
        busy: false,
        wish: 5,
        name: Some(name.into()),
        seldom: false,
    }
}

async fn seen(watch: &mut Watch, mut fits: impl FnMut(&Sighting) -> bool) -> Sighting {
    let look = async {
        loop {
            match watch.next().await.expect("a watch does not end") {
                WatchEvent::Seen(sighting) if fits(&sighting) => return sighting,
                WatchEvent::Seen(_) | WatchEvent::TurnedAway => {}
                WatchEvent::State(state) => assert_eq!(state, CarrierState::Ready),
            }
        }
    };
    timeout(PATIENCE, look).await.expect("seen at last")
}

async fn passes(mut one: Box<dyn Duplex>, mut other: Box<dyn Duplex>) {
    one.write_all(b"h8").await.expect("written");
    let mut heard = [0; 2];
    timeout(PATIENCE, other.read_exact(&mut heard)).await.expect("in time").expect("read");
    assert_eq!(&heard, b"h8");
    drop(one);
    assert_eq!(other.read(&mut heard).await.expect("an end"), 0);
}

#[tokio::test]
async fn two_devices_find_each_other_and_connect() {
    let port = quiet_port();
    let (anna, ben) = (transport(port), transport(port));
    let mut listener = ben.listen(card(2, "Ben 棋友")).await.expect("listens");
    let _annas = anna.listen(card(1, "Anna")).await.expect("listens");
    let mut watch = anna.watch(true);
    let sighting = seen(&mut watch, |one| {
        assert_ne!(one.tag, Tag([1; 5]), "nobody sees itself");
        one.tag == Tag([2; 5])
    })
    .await;
    assert_eq!(
        (sighting.name.as_deref(), sighting.open_to_all, sighting.busy),
        (Some("Ben 棋友"), true, false)
    );
    let (dialed, accepted) = tokio::join!(anna.connect(&sighting.address), listener.accept());
    passes(dialed.expect("connects"), accepted.expect("accepts").duplex).await;

    // An update is seen under the same address while the tag stays.
    listener
        .update(Card { busy: true, name: None, open_to_all: false, ..card(2, "") })
        .await
        .expect("updated");
    let busy = seen(&mut watch, |one| one.busy).await;
    assert_eq!((busy.address, busy.name, busy.open_to_all), (sighting.address.clone(), None, false));

    // A new tag comes under a new name, so that nobody can link the two.
    listener.update(card(3, "Ben")).await.expect("updated");
    let other = seen(&mut watch, |one| one.tag == Tag([3; 5])).await;
    assert_ne!(other.address, sighting.address);
    let (dialed, accepted) = tokio::join!(anna.connect(&other.address), listener.accept());
    passes(dialed.expect("connects"), accepted.expect("accepts").duplex).await;
}

#[tokio::test]
async fn who_stops_listening_says_goodbye_and_is_not_reached() {
    let port = quiet_port();
    let (anna, ben) = (transport(port), transport(port));
    let listener = ben.listen(card(2, "Ben")).await.expect("listens");
    let mut watch = anna.watch(true);
    let address = seen(&mut watch, |_| true).await.address;
    drop(listener);
    // A known device is reported every four seconds: six quiet ones mean a goodbye.
    let quiet = async { while timeout(Duration::from_secs(6), watch.next()).await.is_ok() {} };
    timeout(PATIENCE, quiet).await.expect("gone at last");
    let error = anna.connect(&address).await.map(drop).expect_err("nobody is there");
    assert!(matches!(&error, LinkError::Unreachable(which) if *which == address), "{error}");
}

#[tokio::test]
async fn an_address_from_a_friend_code_needs_no_search() {
    let port = quiet_port();
    let (anna, ben) = (transport(port), transport(port));
    assert!(ben.places().is_empty(), "nobody listens yet");
    let mut listener = ben.listen(card(2, "Ben")).await.expect("listens");
    let told = ben.places();
    let address =
        told.iter().find(|one| one.text.starts_with("127.0.0.1:")).expect("loopback at least").clone();
    let (dialed, accepted) = tokio::join!(anna.connect(&address), listener.accept());
    passes(dialed.expect("connects"), accepted.expect("accepts").duplex).await;
    drop(listener);
    assert!(ben.places().is_empty());
}

#[tokio::test]
async fn addresses_that_make_no_sense_are_refused() {
    let anna = transport(quiet_port());
    let foreign = Address { kind: CarrierKind::Bluetooth, text: "127.0.0.1:1".into() };
    assert!(matches!(anna.connect(&foreign).await.map(drop), Err(LinkError::WrongAddress(_))));
    for text in ["", "nobody", "127.0.0.1", "127.0.0.1:99999", "[::1", "\u{0}"] {
        let address = Address { kind: CarrierKind::Lan, text: text.into() };
        assert!(matches!(anna.connect(&address).await.map(drop), Err(LinkError::Unreachable(_))), "{text}");
    }
}

#[tokio::test]
async fn whoever_announces_rubbish_is_not_seen() {
    use mdns_sd::{ServiceDaemon, ServiceInfo};
    let port = quiet_port();
    let forger = ServiceDaemon::new_with_port(port).expect("a daemon");
    forger
        .disable_interface(mdns_sd::IfKind::Predicate(mdns_sd::IfPredicate::new(|one| !one.is_loopback())))
        .expect("asked");
    for (name, strings) in [
        ("no-card", vec![]),
        ("newer", vec![("v", "2"), ("s", "1"), ("t", "0101010101")]),
        ("short", vec![("v", "1"), ("s", "1"), ("t", "01")]),
        (
            "long-name-of-an-instance-which-is-odd but allowed. \\ ",
            vec![("v", "1"), ("s", "x"), ("t", "0101010101")],
        ),
        // Right, and the last: who has seen it has received the others.
        ("witness", vec![("v", "1"), ("s", "1"), ("t", "0303030303")]),
    ] {
        let service =
            ServiceInfo::new(link::lan::SERVICE, name, "forger.local.", "127.0.0.1", 9, &strings[..])
                .expect("a service");
        forger.register(service).expect("asked");
    }
    let (anna, ben) = (transport(port), transport(port));
    let _listener = ben.listen(card(2, "Ben")).await.expect("listens");
    let mut watch = anna.watch(true);
    // Twice each, so that what the forger announced together has arrived.
    let mut times = [0, 0];
    seen(&mut watch, |one| {
        let who = [Tag([2; 5]), Tag([3; 5])].iter().position(|tag| *tag == one.tag);
        times[who.unwrap_or_else(|| panic!("rubbish is seen: {one:?}"))] += 1;
        times.iter().all(|seen| *seen >= 2)
    })
    .await;
    // Ends the thread.
    let _ = forger.shutdown();
}

#[tokio::test]
async fn an_address_of_the_internet_is_not_dialed() {
    let anna = transport(quiet_port());
    let _found = anna.listen(card(1, "Anna")).await.expect("listens");
    for text in ["8.8.8.8:4711", "[2001:4860::8888]:4711"] {
        let address = Address { kind: CarrierKind::Lan, text: text.into() };
        // Fails at once, because no connection is attempted.
        let dialed = anna.connect(&address).now_or_never().expect("nothing is tried");
        assert!(matches!(dialed, Err(LinkError::Unreachable(_))), "{text}");
    }
}
