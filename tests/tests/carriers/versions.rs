//! A friend's device of a later year, which speaks no version of cards, links and letters that this one does: each side is told what the
//! other speaks, and a person reads which of the two needs an update.

use std::process::Stdio;

use proto::control::{self, NoticeKind, Presence, request};
use tests::house::{Seen, begin};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::friends;
use crate::servers::{Authority, DOMAIN, Kind, Server};

/// How often a person was told that this device is too old for Ben's.
fn updates(seen: &Seen) -> usize {
    let is_one =
        |notice: &&control::Notice| notice.kind() == NoticeKind::NoticeUpdateHere && notice.name == "Ben";
    seen.notices.iter().filter(is_one).count()
}

async fn a_friend_of_a_later_year(kind: Kind) {
    let authority = Authority::new();
    let server = Server::start(kind, &authority);
    let (mut anna, mut ben) = friends(&server, &authority).await;
    let peer = anna.client.seen.friends.values().next().expect("a friend").id.clone();
    ben.switch_off().await;
    anna.client.until("Ben is away", |seen| seen.friends.values().all(|friend| !friend.connected)).await;

    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/carriers/newer.py");
    let account = format!("anna@{DOMAIN}");
    let mut newer = tokio::process::Command::new("python3")
        .args(["-B", script, &server.address(), DOMAIN, "ben", "secret of it", &account])
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("python3 runs");
    let mut lines = BufReader::new(newer.stdout.take().expect("piped")).lines();
    let mut says = async |expected: &str| {
        let line = lines.next_line().await.expect("text");
        assert_eq!(line.as_deref(), Some(expected));
    };
    says("links 1 to 1").await;
    says("letters 1 to 1").await;
    anna.client.until("his card and his letter cannot be read", |seen| updates(seen) == 2).await;

    // She tries all the same: the card alone does not say what links his device speaks.
    let invite = control::Invite { peer, ..control::Invite::default() };
    anna.client.ask(request::Body::Invite(invite)).await.expect("asked");
    anna.client.until("no link can be", |seen| updates(seen) == 3).await;
    says("a link is refused").await;
    assert!(newer.wait().await.expect("it ends").success());

    // The friend stays one.
    ben.switch_on().await;
    let bens = format!("ben@{DOMAIN}");
    let online =
        |seen: &Seen| seen.contacts.get(&bens).is_some_and(|contact| contact.presence() == Presence::Online);
    anna.client.until("Ben is back", online).await;
    begin(&mut anna.client, &mut ben.client, None).await;
    println!(
        "{kind:?}: a newer device was told what this one speaks, and a person of its card, letter and link"
    );
}

#[tokio::test]
#[ignore = "needs Prosody: make test-carriers"]
async fn a_person_reads_through_prosody_which_device_needs_an_update() {
    a_friend_of_a_later_year(Kind::Prosody).await;
}

#[tokio::test]
#[ignore = "needs ejabberd: make test-carriers"]
async fn a_person_reads_through_ejabberd_which_device_needs_an_update() {
    a_friend_of_a_later_year(Kind::Ejabberd).await;
}
