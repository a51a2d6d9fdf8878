//! Matches over a bad connection to the server: connections that are cut, silent, or slow.

use std::time::{Duration, Instant};

use proto::control::{AccountState, PeerLink};
use tests::house::{Seen, begin};

use crate::servers::{Authority, DOMAIN, Kind, Server};
use crate::way::{Way, Weather};
use crate::{Device, contacts_at, link_up, play_on};

/// Anna over a connection that may be impaired, Ben over a good one, friends in a match after the first move.
async fn two(server: &Server, authority: &Authority) -> (Way, Device, Device) {
    let way = Way::to(server.address()).await;
    let places = [(DOMAIN, way.address.clone()), (DOMAIN, server.address())];
    let (mut anna, mut ben) = contacts_at(places, authority).await;
    tests::house::meet(&mut anna.client, &mut ben.client, "Ben").await;
    begin(&mut anna.client, &mut ben.client, None).await;
    anna.client.play("h8").await.expect("played");
    ben.client.until("h8", |seen| seen.room().is_some_and(|room| room.record == ["h8"])).await;
    (way, anna, ben)
}

async fn until_record(anna: &mut Device, ben: &mut Device, moves: &[&str]) {
    for device in [anna, ben] {
        let there = |seen: &Seen| link_up(seen) && seen.room().is_some_and(|room| room.record == moves);
        device.client.until("both have it", there).await;
    }
}

/// In a tunnel: the server keeps the session (XEP-0198), and the opponent does not notice the absence.
async fn a_cut(kind: Kind) {
    let authority = Authority::new();
    let server = match kind {
        Kind::Prosody => Server::prosody_with(&authority, "log = { debug = \"*console\" }\n"),
        Kind::Ejabberd => Server::start(kind, &authority),
    };
    let (way, mut anna, mut ben) = two(&server, &authority).await;
    way.becomes(Weather::Cut);
    anna.until_account(AccountState::AccountServerGone).await;
    ben.client.play("i9").await.expect("kept");
    way.becomes(Weather::Clear);
    let back = Instant::now();
    anna.until_account(AccountState::AccountOnline).await;
    until_record(&mut anna, &mut ben, &["h8", "i9"]).await;
    println!("{kind:?}: cut for a moment, the move is there {:?} after", back.elapsed());
    let log = server.log();
    let resumed = match kind {
        Kind::Prosody => "mod_smacks resuming existing session",
        Kind::Ejabberd => "Resumed session for anna",
    };
    assert!(log.contains(resumed), "the session was resumed");
    play_on(&mut anna, &mut ben).await;
}

#[tokio::test]
#[ignore = "needs Prosody: make test-carriers"]
async fn a_connection_to_prosody_that_is_cut_is_resumed() {
    Box::pin(a_cut(Kind::Prosody)).await;
}

#[tokio::test]
#[ignore = "needs ejabberd: make test-carriers"]
async fn a_connection_to_ejabberd_that_is_cut_is_resumed() {
    Box::pin(a_cut(Kind::Ejabberd)).await;
}

#[tokio::test]
#[ignore = "needs Prosody: make test-carriers"]
async fn a_way_that_falls_silent_loses_no_move() {
    let authority = Authority::new();
    let server = Server::start(Kind::Prosody, &authority);
    let (way, mut anna, mut ben) = two(&server, &authority).await;
    way.becomes(Weather::Silent);
    ben.client.play("i9").await.expect("kept");
    for device in [&mut anna, &mut ben] {
        let lost = |seen: &Seen| seen.link_is(PeerLink::Lost);
        device.client.until("it is noticed without being told", lost).await;
    }
    way.becomes(Weather::Clear);
    let back = Instant::now();
    until_record(&mut anna, &mut ben, &["h8", "i9"]).await;
    println!("silent until both noticed, then the match goes on after {:?}", back.elapsed());
    play_on(&mut anna, &mut ben).await;
}

#[tokio::test]
#[ignore = "needs Prosody: make test-carriers"]
async fn a_slow_way_is_played_over() {
    let authority = Authority::new();
    let server = Server::start(Kind::Prosody, &authority);
    let (way, mut anna, mut ben) = two(&server, &authority).await;
    way.becomes(Weather::Slow(Duration::from_millis(100), Duration::from_millis(200)));
    let began = Instant::now();
    let plies = play_on(&mut anna, &mut ben).await;
    println!("100 to 300 ms each way: {plies} plies in {:?}", began.elapsed());
}
