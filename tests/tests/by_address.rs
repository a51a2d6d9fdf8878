//! Devices in a network without multicast: they are told each other's address by their users.

use std::net::{TcpListener, UdpSocket};
use std::sync::Arc;

use link::lan::{LanConfig, LanTransport};
use proto::control::{self, PeerLink, RefusalCode, reply, request};
use serde_json::Value;
use tests::house::{Device, House, Seen, begin};
use tests::programs::Hands;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// A device on the loopback interface whose multicast nobody else hears.
async fn device(house: &mut House, name: &str, port: u16) -> Device {
    let socket = UdpSocket::bind("0.0.0.0:0").expect("a port");
    let mdns_port = socket.local_addr().expect("bound").port();
    let lan = LanTransport::new(LanConfig { port, mdns_port, loopback: true });
    house.device_with(name, |config| config.transports = vec![Arc::new(lan)]).await
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("bound").port()
}

/// The address of this device that its user reads out.
async fn address(device: &mut Device) -> String {
    device.client.until("it listens", |seen| seen.radio().is_some_and(|radio| radio.advertising)).await;
    match device.client.ask(request::Body::ShowPlaces(control::ShowPlaces {})).await {
        Ok(reply::Body::Places(places)) => {
            let loopback = places.addresses.into_iter().find(|one| one.starts_with("127.0.0.1:"));
            loopback.expect("the loopback interface is used")
        }
        other => panic!("{other:?}"),
    }
}

fn is_up(seen: &Seen) -> bool {
    seen.link_is(PeerLink::Up)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_typed_address_leads_to_the_same_comparison_and_to_a_match_that_survives_a_lost_link() {
    let mut house = House::new(410);
    let port = free_port();
    let mut anna = device(&mut house, "Anna", 0).await;
    let mut ben = device(&mut house, "Ben", port).await;
    let typed = address(&mut ben).await;
    assert_eq!(typed, format!("127.0.0.1:{port}"), "the port is the one that was fixed");
    // By qiyouctl, as a person types it.
    let met = Hands::at(&anna).does(&["meet", &typed]).await;
    assert_eq!((met.text("name"), met.text("digits").len()), ("Ben", 6));
    for device in [&mut anna, &mut ben] {
        device.client.until("a string", |seen| !seen.comparisons.is_empty()).await;
        let peer = device.client.seen.comparisons.first().expect("one").peer.clone();
        device.client.done(request::Body::Compare(control::Compare { peer, same: true })).await;
    }
    for device in [&mut anna, &mut ben] {
        device.client.until("a friend", |seen| seen.friends.values().any(|friend| friend.connected)).await;
    }
    begin(&mut anna.client, &mut ben.client, None).await;
    anna.client.play("h8").await.expect("played");
    ben.client.until("h8", |seen| seen.room().is_some_and(|room| room.record.len() == 1)).await;
    // Nothing announces Ben: the typed address is dialed again.
    ben.kill().await;
    anna.client.until("Ben is gone", |seen| !is_up(seen)).await;
    ben.start().await;
    ben.client.until("Anna is back", is_up).await;
    ben.client.play("i9").await.expect("played");
    anna.client.until("i9", |seen| seen.room().is_some_and(|room| room.record.len() == 2)).await;
    assert_eq!(anna.record(), ben.record());
    // A friend is connected already.
    let again = Hands::at(&anna).does(&["meet", &typed]).await;
    assert_eq!(again.text("name"), "Ben");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_leads_nowhere_is_refused_with_the_reason_and_the_doctor_says_the_port() {
    let mut house = House::new(412);
    let port = free_port();
    let mut anna = device(&mut house, "Anna", port).await;
    let own = address(&mut anna).await;
    let meet = |address: &str| request::Body::MeetAddress(control::MeetAddress { address: address.into() });
    for (typed, why) in [
        (own.as_str(), "this device"),
        ("8.8.8.8:47415", "not on the local network"),
        ("192.168.1.20", "port is missing"),
        ("ben", "no address"),
    ] {
        let refusal = anna.client.ask(meet(typed)).await.expect_err(typed);
        let words = refusal.reason.clone().expect("a reason");
        assert_eq!(refusal.code(), RefusalCode::RefusalBadRequest);
        assert!(words.en.contains(why), "{typed}: {}", words.en);
    }
    let hands = Hands::at(&anna);
    let addresses = hands.does(&["address"]).await;
    assert!(addresses.lines.iter().any(|line| line["address"] == own), "{addresses:?}");
    let checks = hands.ctl(&["doctor"]).await.lines;
    let found = |subject: &str| {
        let check = checks.iter().find(|check| check["subject"] == subject);
        check.and_then(|check| check["found"].as_str()).unwrap_or_default().to_owned()
    };
    assert_eq!(found("lan_port"), format!("TCP port {port}, always"));
    assert_ne!(found("firewall"), "", "{checks:?}");
    let off = control::SetCarrier { carrier: control::Carrier::Lan.into(), on: false };
    anna.client.done(request::Body::SetCarrier(off)).await;
    let refusal = anna.client.ask(meet("127.0.0.1:9")).await.expect_err("the local network is off");
    assert_eq!(refusal.code(), RefusalCode::RefusalRadio);
    let hidden: Vec<Value> = hands.ctl(&["address"]).await.lines;
    assert!(hidden.iter().all(|line| line.get("address").is_none()), "{hidden:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stranger_who_knows_the_address_of_a_device_that_friends_alone_may_see_is_not_let_in() {
    let mut house = House::new(414);
    let mut anna = device(&mut house, "Anna", 0).await;
    let mut ben = device(&mut house, "Ben", free_port()).await;
    let typed = address(&mut ben).await;
    let friends = control::SetVisibility { visibility: control::Visibility::Friends.into() };
    ben.client.done(request::Body::SetVisibility(friends)).await;
    let met = Hands::at(&anna).ctl(&["meet", &typed, "--seconds", "3"]).await;
    assert_eq!(met.code, 5, "{met:?}");
    assert!(anna.client.seen.comparisons.is_empty() && ben.client.seen.comparisons.is_empty());
    anna.client.done(request::Body::Scan(control::Scan { on: false })).await;
    assert!(anna.client.seen.friends.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_types_the_address_of_a_device_of_another_age_reads_which_one_is_too_old() {
    for (lowest, highest, sentence) in
        [(3, 5, "this Qiyou is too old for theirs"), (1, 1, "their Qiyou is too old for yours")]
    {
        let mut house = House::new(416);
        let mut anna = device(&mut house, "Anna", 0).await;
        address(&mut anna).await;
        // A device that knows other versions of the handshake than this one.
        let other = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let typed = other.local_addr().expect("bound").to_string();
        let answers = async {
            let (mut link, _) = other.accept().await.expect("she dials");
            let challenge = [&[0, 34, lowest, highest][..], &[7; 32]].concat();
            link.write_all(&challenge).await.expect("written");
            let mut answer = Vec::new();
            link.read_to_end(&mut answer).await.expect("hung up");
            answer
        };
        let (hands, words) = (Hands::at(&anna), ["meet", typed.as_str()]);
        let (said, answer) = tokio::join!(hands.ctl(&words), answers);
        assert_eq!(answer, [0, 3, 0, 2, 2], "no version, and which this device speaks");
        assert_eq!(said.code, 5, "{said:?}");
        assert!(said.text("error").contains(sentence), "{said:?}");
    }
}
