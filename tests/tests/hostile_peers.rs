//! What hostile devices can do to a host: nothing that others notice.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use link::identity::Identity;
use link::memory::MemoryNetwork;
use link::secure::{self, ExpectedPeer, SecureLink};
use link::{Card, CarrierKind, Duplex, Tag, Transport};
use proto::control::{self, Carrier, NoticeKind, RefusalCode, request};
use proto::frame::{FrameCodec, FrameLimit, Outgoing};
use proto::peer::{Bye, ByeReason, Envelope, Hello, Pair, Ping, Play, pair};
use sha2::{Digest, Sha256};
use tests::house::{Device, House, Seen, begin_match, friends};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout};
use tokio_util::codec::Encoder;

/// The carrier's end of a link to the device of this name, before any byte is sent.
async fn connect(house: &House, victim: &str) -> Option<Box<dyn Duplex>> {
    let address = house.air.transport(victim).address();
    house.air.transport("Mallory").connect(&address).await.ok()
}

/// A link after a valid handshake of an unknown key.
async fn shake_hands(house: &House, victim: &str) -> SecureLink<Box<dyn Duplex>> {
    let identity = Identity::generate().expect("randomness");
    let carrier = connect(house, victim).await.expect("in reach");
    secure::dial(carrier, &identity, CarrierKind::Memory, ExpectedPeer::Anybody)
        .await
        .expect("Anna wants to be met")
}

fn frames(envelopes: impl IntoIterator<Item = Envelope>) -> BytesMut {
    let (mut codec, mut bytes) = (FrameCodec::new(FrameLimit::Peer), BytesMut::new());
    for envelope in envelopes {
        codec.encode(Outgoing::from(&envelope), &mut bytes).expect("it fits");
    }
    bytes
}

fn hello() -> Envelope {
    let mut hello = Hello { name: "Mallory".into(), ..Hello::default() };
    (hello.lowest_version, hello.highest_version, hello.wants_comparison) = (1, 1, true);
    hello.into()
}

/// Whether the host closes the link, whatever it sends before.
async fn is_dropped(link: &mut (impl tokio::io::AsyncRead + Unpin)) -> bool {
    let mut said = Vec::new();
    timeout(Duration::from_secs(20), link.read_to_end(&mut said)).await.is_ok()
}

/// The same because of what was sent, not because of the silence after it, which closes a link after 9 s.
async fn is_dropped_for_it(link: &mut (impl tokio::io::AsyncRead + Unpin)) -> bool {
    let mut said = Vec::new();
    timeout(Duration::from_secs(8), link.read_to_end(&mut said)).await.is_ok()
}

/// Two friends in a match that must not be disturbed.
async fn in_a_match(house: &mut House) -> (Device, Device) {
    let (mut anna, mut ben) = (house.device("Anna").await, house.device("Ben").await);
    friends(&mut anna, &mut ben).await;
    begin_match(&mut anna, &mut ben).await;
    (anna, ben)
}

async fn check_undisturbed(mut anna: Device, mut ben: Device) {
    anna.client.play("h8").await.expect("the match goes on");
    ben.client.until("h8", |seen| seen.room().is_some_and(|room| room.record == ["h8"])).await;
    for device in [&anna, &ben] {
        assert!(device.client.seen.invitations.is_empty());
        assert_eq!(device.client.seen.friends.len(), 1);
    }
    assert_eq!(anna.record(), ben.record());
}

#[tokio::test(start_paused = true)]
async fn whatever_comes_instead_of_a_handshake_is_dropped() {
    let mut house = House::new(40);
    let (anna, ben) = in_a_match(&mut house).await;
    for bytes in [b"GET / HTTP/1.1\r\n\r\n".to_vec(), vec![0; 3], vec![0xFF; 70_000], vec![0, 32, 1]] {
        let mut link = connect(&house, "Anna").await.expect("in reach");
        // The host may close the link in the middle.
        let _ = link.write_all(&bytes).await;
        assert!(is_dropped(&mut link).await, "{} bytes", bytes.len());
    }
    check_undisturbed(anna, ben).await;
}

#[tokio::test(start_paused = true)]
async fn links_that_say_nothing_are_few_and_short_lived() {
    let mut house = House::new(41);
    let (anna, ben) = in_a_match(&mut house).await;
    let mut silent = Vec::new();
    for _ in 0..40 {
        if let Some(link) = connect(&house, "Anna").await {
            silent.push(link);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(house.air.links("Mallory", "Anna") <= 8, "{} at once", house.air.links("Mallory", "Anna"));
    for link in &mut silent {
        assert!(is_dropped(link).await);
    }
    check_undisturbed(anna, ben).await;
}

#[tokio::test(start_paused = true)]
async fn who_connects_and_says_nothing_keeps_nobody_out() {
    let mut house = House::new(47);
    let (anna, ben) = in_a_match(&mut house).await;
    let mut silent = Vec::new();
    for _ in 0..4 {
        silent.push(connect(&house, "Anna").await.expect("in reach"));
    }
    // Longer than an honest handshake takes, and well before a silent one times out.
    tokio::time::sleep(Duration::from_secs(4)).await;
    let mut newcomer = timeout(Duration::from_secs(2), shake_hands(&house, "Anna")).await.expect("let in");
    assert_eq!(house.air.links("Mallory", "Anna"), 4, "the oldest of the silent ones has made room");
    // A handshake alone does not keep a link open.
    assert!(is_dropped(&mut newcomer).await);
    for link in &mut silent {
        assert!(is_dropped(link).await);
    }
    check_undisturbed(anna, ben).await;
}

#[tokio::test(start_paused = true)]
async fn frames_that_break_a_rule_end_the_link_and_people_are_told() {
    let mut house = House::new(42);
    let (mut anna, ben) = in_a_match(&mut house).await;
    let ping = |token| Envelope::from(Ping { token });
    let cases: Vec<(&str, BytesMut)> = vec![
        ("no frame", BytesMut::from(&b"this is no frame at all"[..])),
        ("a word before hello", frames([ping(1)])),
        ("two hellos", frames([hello(), hello()])),
        ("a move of a stranger", frames([hello(), Play::default().into()])),
        ("a flood", frames(std::iter::once(hello()).chain((0..500).map(ping)))),
        ("half a frame", frames([hello(), ping(1)]).split_to(50)),
        ("a frame of 8 MiB", {
            let mut bytes = frames([hello()]);
            bytes[4..8].copy_from_slice(&(8u32 << 20).to_be_bytes());
            bytes
        }),
    ];
    for (what, bytes) in cases {
        let mut link = shake_hands(&house, "Anna").await;
        let _ = link.write_all(&bytes).await;
        let _ = link.flush().await;
        assert!(is_dropped_for_it(&mut link).await, "{what}");
    }
    // How often is a matter of all strangers together.
    let misbehaved =
        |seen: &Seen| seen.notices.iter().any(|one| one.kind() == NoticeKind::NoticePeerMisbehaved);
    anna.client.until("a notice", misbehaved).await;
    check_undisturbed(anna, ben).await;
}

#[tokio::test(start_paused = true)]
async fn two_hundred_strangers_who_leave_break_a_rule_or_are_of_another_age_are_told_of_a_few_times() {
    let mut house = House::new(54);
    let (mut anna, ben) = in_a_match(&mut house).await;
    anna.client.scan(false).await;
    let before = anna.client.seen.notices.len();
    let bye = || Envelope::from(Bye { reason: ByeReason::ByeLeaving.into() });
    let newer = || {
        let mut bytes = frames([hello()]);
        bytes[16..20].copy_from_slice(&2u32.to_be_bytes());
        bytes
    };
    let older = || {
        let Envelope::Hello(hello) = hello() else { panic!("a hello") };
        frames([Hello { lowest_version: 0, highest_version: 0, ..hello }.into()])
    };
    let began = Instant::now();
    for number in 0..200 {
        let mut link = shake_hands(&house, "Anna").await;
        let bytes = match number % 5 {
            0 => frames([hello(), bye()]),
            1 => frames([hello(), hello()]),
            2 => newer(),
            3 => older(),
            // It hangs up in the middle of a first meeting.
            _ => frames([hello()]),
        };
        let _ = link.write_all(&bytes).await;
        let _ = link.flush().await;
        if number % 5 < 4 {
            assert!(is_dropped_for_it(&mut link).await, "link {number}");
        }
        drop(link);
        tokio::time::sleep(Duration::from_millis(10)).await;
        // Reads what she is told.
        anna.client.scan(false).await;
    }
    let notices = &anna.client.seen.notices[before..];
    let most = 3 + began.elapsed().as_secs() as usize / 60;
    assert!((1..=most.min(5)).contains(&notices.len()), "{notices:?}");
    let is_gone = |one: &control::Notice| {
        matches!(one.kind(), NoticeKind::NoticePeerLeft | NoticeKind::NoticeStringsDiffer)
    };
    assert!(!notices.iter().any(is_gone), "nobody here knew them: {notices:?}");
    check_undisturbed(anna, ben).await;
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_stranger_is_told_that_it_has_left_however_many_others_have_been_told_of() {
    let mut house = House::new(55);
    let mut anna = house.device("Anna").await;
    for _ in 0..10 {
        let mut link = shake_hands(&house, "Anna").await;
        let _ = link.write_all(&frames([hello(), hello()])).await;
        let _ = link.flush().await;
        assert!(is_dropped_for_it(&mut link).await);
    }
    let mut ben = house.device("Ben").await;
    let id = anna.client.find("Ben").await;
    anna.client.done(request::Body::Meet(control::Meet { peer: id })).await;
    ben.client.until("a string", |seen| !seen.comparisons.is_empty()).await;
    anna.client.until("a string", |seen| !seen.comparisons.is_empty()).await;
    ben.stop().await;
    let has_left = |seen: &Seen| {
        seen.notices.iter().any(|one| one.kind() == NoticeKind::NoticePeerLeft && one.name == "Ben")
    };
    anna.client.until("Ben has left", has_left).await;
}

/// Says all that makes the other side show a short string.
async fn ring(link: &mut SecureLink<Box<dyn Duplex>>) {
    let nonce = [7; 32];
    let commitment = pair::Step::Commitment(Bytes::copy_from_slice(&Sha256::digest(nonce)));
    let reveal = pair::Step::Reveal(Bytes::copy_from_slice(&nonce));
    let pairs = [commitment, reveal].map(|step| Envelope::from(Pair { step: Some(step) }));
    let _ = link.write_all(&frames(std::iter::once(hello()).chain(pairs))).await;
    let _ = link.flush().await;
}

#[tokio::test(start_paused = true)]
async fn a_crowd_of_strangers_rings_three_times_at_most() {
    let mut house = House::new(43);
    let (mut anna, ben) = in_a_match(&mut house).await;
    let before = anna.client.seen.compared.len();
    let mut crowd = Vec::new();
    for _ in 0..12 {
        let mut link = shake_hands(&house, "Anna").await;
        ring(&mut link).await;
        crowd.push(link);
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    anna.client.scan(false).await;
    let links = house.air.links("Mallory", "Anna");
    assert!((1..=3).contains(&links), "{links} strangers are connected");
    let rings = anna.client.seen.comparisons.len() + anna.client.seen.compared.len() - before;
    assert!((1..=3).contains(&rings), "{rings} rings");
    drop(crowd);
    check_undisturbed(anna, ben).await;
}

/// The first bytes that a device with this key hears from Anna after the handshake, and its link.
async fn greeting(house: &House, identity: &Identity) -> (Vec<u8>, SecureLink<Box<dyn Duplex>>) {
    let carrier = connect(house, "Anna").await.expect("in reach");
    let dialed = secure::dial(carrier, identity, CarrierKind::Memory, ExpectedPeer::Anybody).await;
    let mut link = dialed.expect("Anna wants to be met");
    let mut said = vec![0; 4096];
    let length = timeout(Duration::from_secs(20), link.read(&mut said)).await.expect("words").expect("words");
    said.truncate(length);
    (said, link)
}

/// What a device with this key hears from Anna after the handshake until she closes the link, and how long that takes.
async fn hears(house: &House, identity: &Identity, wanted: ExpectedPeer) -> (Vec<u8>, Duration) {
    let carrier = connect(house, "Anna").await.expect("in reach");
    let began = Instant::now();
    let mut link = secure::dial(carrier, identity, CarrierKind::Memory, wanted).await.expect("a handshake");
    let _ = link.write_all(&frames([hello()])).await;
    let _ = link.flush().await;
    let mut said = Vec::new();
    let closed = timeout(Duration::from_secs(20), link.read_to_end(&mut said)).await;
    assert!(closed.is_ok(), "it is closed");
    (said, began.elapsed())
}

#[tokio::test(start_paused = true)]
async fn while_visible_to_everyone_who_is_blocked_hears_what_anybody_hears_for_whom_there_is_no_place() {
    let mut house = House::new(48);
    let (mut anna, mut ben) = (house.device("Anna").await, house.device("Ben").await);
    friends(&mut anna, &mut ben).await;
    let [anna_key, blocked] = [&anna, &ben]
        .map(|device| Identity::load_or_create(&device.directory().join("identity")).expect("a key"));
    let anna_key = ExpectedPeer::Key(anna_key.public_key());
    let peer = anna.client.seen.friends.keys().next().expect("a friend").clone();
    anna.client.done(request::Body::Block(control::Block { peer })).await;
    ben.kill().await;
    let nobody = Identity::generate().expect("randomness");
    let (first_words, _) = greeting(&house, &nobody).await;
    let bye = frames([Bye { reason: ByeReason::ByeLeaving.into() }.into()]);
    assert_ne!(first_words, bye, "a stranger is greeted while there is a place");
    // The strangers who may ring for now.
    for _ in 0..3 {
        let (_, mut link) = greeting(&house, &Identity::generate().expect("randomness")).await;
        ring(&mut link).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let mut heard = Vec::new();
    for identity in [&Identity::generate().expect("randomness"), &blocked] {
        for wanted in [ExpectedPeer::Anybody, anna_key] {
            heard.push(hears(&house, identity, wanted).await);
        }
    }
    for (said, took) in heard {
        assert_eq!(said, bye, "the goodbye of a device that leaves");
        assert!(took < Duration::from_secs(1), "it comes at once: {took:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_is_turned_away_because_others_rang_tries_again_by_itself_and_is_let_in() {
    let mut house = House::new(47);
    let (mut anna, mut ben) = (house.device("Anna").await, house.device("Ben").await);
    let id = ben.client.find("Anna").await;
    for name in ["Cara", "Dan", "Eve"] {
        let mut other = house.device(name).await;
        let id = other.client.find("Anna").await;
        other.client.done(request::Body::Meet(control::Meet { peer: id })).await;
        anna.client.until("a string", |seen| seen.comparisons.iter().any(|one| one.name == name)).await;
        other.stop().await;
    }
    ben.client.done(request::Body::Meet(control::Meet { peer: id })).await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    ben.client.scan(true).await;
    assert!(ben.client.seen.comparisons.is_empty(), "three strangers have just rung at Anna's");
    for device in [&mut ben, &mut anna] {
        device
            .client
            .until("a string", |seen| seen.comparisons.iter().any(|one| one.name != "Mallory"))
            .await;
    }
}

/// A stranger that sends a hello, answers every ping, and never sends a short string.
async fn greets_and_stays(mut link: SecureLink<Box<dyn Duplex>>) {
    let mut token = 0;
    loop {
        token += 1;
        let bytes = if token == 1 { frames([hello()]) } else { ping_after_hello(token) };
        if link.write_all(&bytes).await.is_err() || link.flush().await.is_err() {
            return;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        let mut said = [0; 4096];
        if let Ok(Ok(0) | Err(_)) = timeout(Duration::from_millis(1), link.read(&mut said)).await {
            return;
        }
    }
}

/// A ping as the frame of this number on its link.
fn ping_after_hello(number: u64) -> BytesMut {
    let before = frames([hello()]).len();
    let pings = (2..=number).map(|token| Envelope::from(Ping { token }));
    let all = frames(std::iter::once(hello()).chain(pings));
    let one = frames([hello(), Ping { token: number }.into()]).len() - before;
    BytesMut::from(&all[all.len() - one..])
}

#[tokio::test(start_paused = true)]
async fn strangers_who_wait_for_ever_hold_no_place_for_ever() {
    let mut house = House::new(45);
    let mut anna = house.device("Anna").await;
    let strangers: Vec<_> = {
        let mut strangers = Vec::new();
        for _ in 0..3 {
            strangers.push(tokio::spawn(greets_and_stays(shake_hands(&house, "Anna").await)));
        }
        strangers
    };
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(house.air.links("Mallory", "Anna"), 3, "all places are taken");
    for stranger in strangers {
        timeout(Duration::from_secs(10), stranger).await.expect("let go of").expect("it ends");
    }
    // The next stranger is shown.
    tokio::time::sleep(Duration::from_mins(1)).await;
    let mut ben = house.device("Ben").await;
    friends(&mut anna, &mut ben).await;
}

#[tokio::test(start_paused = true)]
async fn a_friend_finds_the_only_place_of_a_carrier_that_a_stranger_holds() {
    let mut house = House::new(49);
    let (mut anna, mut ben) = in_a_match(&mut house).await;
    ben.stop().await;
    anna.client.until("Ben is away", |seen| seen.friends.values().all(|one| !one.connected)).await;
    house.air.set_places("Anna", Some(1));
    let mut carl = house.device("Carl").await;
    let id = carl.client.find("Anna").await;
    carl.client.done(request::Body::Meet(control::Meet { peer: id })).await;
    anna.client.until("Carl's string", |seen| !seen.comparisons.is_empty()).await;
    // Nobody compares the strings. Ben's device dials Anna after its start, because a match is unfinished.
    let asked = tokio::time::Instant::now();
    ben.start().await;
    ben.client.until("Anna", |seen| seen.friends.values().any(|one| one.connected)).await;
    assert!(asked.elapsed() < Duration::from_secs(45), "while he looks, and before the comparison times out");
    anna.client.until("Ben", |seen| seen.friends.values().any(|one| one.connected)).await;
    assert!(anna.client.seen.comparisons.is_empty());
    check_undisturbed(anna, ben).await;
}

#[tokio::test(start_paused = true)]
async fn a_friend_who_is_awaited_gets_in_where_a_stranger_has_the_radio_to_itself() {
    let mut house = House::new(47);
    house.air = MemoryNetwork::posing_as(CarrierKind::Bluetooth, 47);
    let (mut anna, mut ben) = in_a_match(&mut house).await;
    ben.stop().await;
    anna.client.until("Ben is away", |seen| seen.friends.values().all(|one| !one.connected)).await;
    house.air.set_places("Anna", Some(1));
    let mut carl = house.device("Carl").await;
    let id = carl.client.find("Anna").await;
    carl.client.done(request::Body::Meet(control::Meet { peer: id })).await;
    anna.client.until("Carl's string", |seen| !seen.comparisons.is_empty()).await;
    assert_eq!(house.air.card("Anna"), None, "nobody hears her beside the link");
    ben.start().await;
    ben.client.until("Anna", |seen| seen.friends.values().any(|one| one.connected)).await;
    anna.client.until("Ben", |seen| seen.friends.values().any(|one| one.connected)).await;
    assert!(anna.client.seen.comparisons.is_empty() && anna.client.seen.strangers.is_empty());
    check_undisturbed(anna, ben).await;
}

/// Two friends without a match, and the network in which one link takes all of Anna's Bluetooth.
async fn friends_with_one_radio(seed: u64) -> (House, Device, Device) {
    let mut house = House::new(seed);
    house.air = MemoryNetwork::posing_as(CarrierKind::Bluetooth, seed);
    let (mut anna, mut ben) = (house.device("Anna").await, house.device("Ben").await);
    friends(&mut anna, &mut ben).await;
    ben.stop().await;
    anna.client.until("Ben is away", |seen| seen.friends.values().all(|one| !one.connected)).await;
    // Longer than she looks for a friend with whom she has just been connected.
    tokio::time::sleep(Duration::from_mins(6)).await;
    house.air.set_places("Anna", Some(1));
    (house, anna, ben)
}

/// Ben's person wants to play with Anna; returns in what time she reads it.
async fn invites_anna(anna: &mut Device, ben: &mut Device) -> Duration {
    let peer = ben.client.seen.friends.keys().next().expect("a friend").clone();
    let asked = tokio::time::Instant::now();
    let invite = control::Invite { peer, my_side: 1, ..control::Invite::default() };
    ben.client.ask(request::Body::Invite(invite)).await.expect("asked");
    anna.client.until("his invitation", |seen| !seen.invitations.is_empty()).await;
    asked.elapsed()
}

/// Strangers who connect as soon as they hear the device, each time they lose the link.
async fn calls_again_and_again(air: MemoryNetwork, victim: &'static str, keys: Keys) {
    let mut identity = Identity::generate().expect("randomness");
    loop {
        // The interval of adverts, in which a friend may be the first to hear one.
        tokio::time::sleep(Duration::from_millis(170)).await;
        if air.card(victim).is_none() {
            continue;
        }
        if keys == Keys::Fresh {
            identity = Identity::generate().expect("randomness");
        }
        let address = air.transport(victim).address();
        let Ok(carrier) = air.transport("Mallory").connect(&address).await else { continue };
        let shaken = secure::dial(carrier, &identity, CarrierKind::Bluetooth, ExpectedPeer::Anybody).await;
        if let Ok(link) = shaken {
            greets_and_stays(link).await;
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keys {
    Same,
    Fresh,
}

#[tokio::test(start_paused = true)]
async fn a_friend_with_an_invitation_is_not_kept_waiting_by_strangers_who_call_again_and_again() {
    for (seed, keys) in [(50, Keys::Same), (51, Keys::Fresh)] {
        let (house, mut anna, mut ben) = friends_with_one_radio(seed).await;
        let mallory = tokio::spawn(calls_again_and_again(house.air.clone(), "Anna", keys));
        anna.client.until("Mallory", |seen| !seen.strangers.is_empty()).await;
        ben.start().await;
        let waited = invites_anna(&mut anna, &mut ben).await;
        assert!(waited < Duration::from_secs(12), "{keys:?}: {waited:?}");
        mallory.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn a_friend_with_an_invitation_is_not_kept_waiting_by_a_string_that_nobody_compares() {
    let (mut house, mut anna, mut ben) = friends_with_one_radio(52).await;
    let mut carl = house.device("Carl").await;
    let id = carl.client.find("Anna").await;
    carl.client.done(request::Body::Meet(control::Meet { peer: id })).await;
    anna.client.until("Carl's string", |seen| !seen.comparisons.is_empty()).await;
    ben.start().await;
    let waited = invites_anna(&mut anna, &mut ben).await;
    assert!(waited < Duration::from_secs(40), "before his device stops looking: {waited:?}");
}

#[tokio::test(start_paused = true)]
async fn a_stranger_who_has_called_and_compared_nothing_comes_back_only_when_a_person_here_asks_for_it() {
    let mut house = House::new(53);
    let (mut anna, mut carl) = (house.device("Anna").await, house.device("Carl").await);
    let id = carl.client.find("Anna").await;
    carl.client.done(request::Body::Meet(control::Meet { peer: id })).await;
    anna.client.until("Carl's string", |seen| !seen.comparisons.is_empty()).await;
    anna.client.until("nobody has compared it", |seen| seen.comparisons.is_empty()).await;
    let id = carl.client.find("Anna").await;
    carl.client.done(request::Body::Meet(control::Meet { peer: id })).await;
    tokio::time::sleep(Duration::from_mins(1)).await;
    anna.client.scan(false).await;
    assert!(anna.client.seen.strangers.is_empty() && anna.client.seen.comparisons.is_empty());
    friends(&mut anna, &mut carl).await;
}

#[tokio::test(start_paused = true)]
async fn a_stranger_whom_the_person_has_answered_keeps_the_radio() {
    let mut house = House::new(48);
    house.air = MemoryNetwork::posing_as(CarrierKind::Bluetooth, 48);
    let (mut anna, mut ben) = in_a_match(&mut house).await;
    ben.stop().await;
    house.air.set_places("Anna", Some(1));
    let mut carl = house.device("Carl").await;
    let id = carl.client.find("Anna").await;
    carl.client.done(request::Body::Meet(control::Meet { peer: id })).await;
    anna.client.until("Carl's string", |seen| !seen.comparisons.is_empty()).await;
    let peer = anna.client.seen.comparisons[0].peer.clone();
    anna.client.done(request::Body::Compare(control::Compare { peer, same: true })).await;
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(anna.client.seen.strangers.len(), 1, "she waits for his answer");
    carl.client.until("the string", |seen| !seen.comparisons.is_empty()).await;
}

#[tokio::test(start_paused = true)]
async fn a_person_sees_which_strangers_wait_and_sends_them_away() {
    let mut house = House::new(46);
    let mut anna = house.device("Anna").await;
    let silent = [
        tokio::spawn(greets_and_stays(shake_hands(&house, "Anna").await)),
        tokio::spawn(greets_and_stays(shake_hands(&house, "Anna").await)),
    ];
    anna.client.until("both are shown", |seen| seen.strangers.len() == 2).await;
    let mut ben = house.device("Ben").await;
    let id = ben.client.find("Anna").await;
    ben.client.done(request::Body::Meet(control::Meet { peer: id.clone() })).await;
    anna.client.until("Ben is", |seen| seen.strangers.values().any(|one| one.comparing)).await;
    let shown: Vec<control::Stranger> = anna.client.seen.strangers.values().cloned().collect();
    assert_eq!(shown.len(), 3);
    assert!(shown.iter().all(|one| !one.mine && one.carrier == i32::from(Carrier::Memory)), "{shown:?}");
    anna.open_app().await;
    assert_eq!(anna.client.seen.strangers.len(), 3, "whoever comes later sees them as well");

    for one in shown {
        anna.client.done(request::Body::SendAway(control::SendAway { peer: one.id.clone() })).await;
        assert!(!anna.client.seen.strangers.contains_key(&one.id));
    }
    assert!(anna.client.seen.comparisons.is_empty());
    for stranger in silent {
        timeout(Duration::from_secs(3), stranger).await.expect("let go of").expect("it ends");
    }
    // He receives what he would after a rejected comparison.
    ben.client.until("refused", |seen| !seen.notices.is_empty()).await;
    assert_eq!(ben.client.seen.notices[0].kind(), NoticeKind::NoticeStringsDiffer);
    ben.client.done(request::Body::Meet(control::Meet { peer: id })).await;
    tokio::time::sleep(Duration::from_mins(1)).await;
    anna.client.done(request::Body::Scan(control::Scan { on: true })).await;
    assert!(anna.client.seen.strangers.is_empty() && anna.client.seen.comparisons.is_empty());
    // If she dials him herself, he is accepted.
    friends(&mut anna, &mut ben).await;
    let friend = anna.client.seen.friends.keys().next().expect("a friend").clone();
    let refused = anna.client.ask(request::Body::SendAway(control::SendAway { peer: friend })).await;
    assert_eq!(refused.expect_err("a friend").code(), RefusalCode::RefusalBadRequest);
}

#[tokio::test(start_paused = true)]
async fn a_stranger_in_what_looks_like_a_friends_name_is_pointed_out() {
    let mut house = House::new(44);
    let (mut anna, mut ben) = (house.device("Anna").await, house.device("Ben").await);
    friends(&mut anna, &mut ben).await;
    ben.stop().await;
    // The same name with a Cyrillic letter, with a zero-width space, in another case; and an unrelated name.
    let names = ["Ben", "B\u{435}n", "B\u{200B}en", "BEN", "Carl"];
    for (number, name) in names.into_iter().enumerate() {
        let other = format!("Other {number}");
        let mut other = house.device_with(&other, |config| config.name = Some(name.into())).await;
        let id = other.client.find("Anna").await;
        other.client.done(request::Body::Meet(control::Meet { peer: id })).await;
        anna.client.until("a string", |seen| !seen.comparisons.is_empty()).await;
        let shown = anna.client.seen.comparisons.first().expect("one").clone();
        assert_eq!(shown.known_name_new_key, name != "Carl", "{name:?}");
        // Shown with the beginning of the key, to distinguish the two; the friend is, too, from then on.
        assert_eq!(
            shown.name.ends_with(&format!("({})", &shown.peer[..5])),
            name != "Carl",
            "{}",
            shown.name
        );
        other.stop().await;
        anna.client.until("it is over", |seen| seen.comparisons.is_empty()).await;
        tokio::time::sleep(Duration::from_mins(2)).await;
    }
    let friend = anna.client.seen.friends.values().next().expect("the only friend");
    assert_eq!(friend.name, "Ben");
}

#[tokio::test(start_paused = true)]
async fn who_dials_a_device_of_another_age_reads_which_one_is_too_old() {
    for (lowest, highest, kind) in
        [(3, 5, NoticeKind::NoticeUpdateHere), (1, 1, NoticeKind::NoticeUpdateNeeded)]
    {
        let mut house = House::new(48);
        let mut anna = house.device("Anna").await;
        let card = Card {
            tag: Tag([7; 5]),
            open_to_all: true,
            busy: false,
            wish: 0,
            name: Some("Zoe".into()),
            seldom: false,
        };
        let mut listener = house.air.transport("Zoe").listen(card).await.expect("it can be found");
        let id = anna.client.find("Zoe").await;
        anna.client.done(request::Body::Meet(control::Meet { peer: id })).await;
        let mut link = listener.accept().await.expect("she dials").duplex;
        let challenge = [&[0, 34, lowest, highest][..], &[7; 32]].concat();
        link.write_all(&challenge).await.expect("written");
        let mut answer = Vec::new();
        link.read_to_end(&mut answer).await.expect("hung up");
        assert_eq!(answer, [0, 3, 0, 2, 2], "no version, and which she speaks");
        let told = |seen: &Seen| seen.notices.iter().any(|one| one.kind() == kind && one.name == "Zoe");
        anna.client.until("an update is asked for", told).await;
        let again = timeout(Duration::from_mins(1), listener.accept()).await;
        assert!(again.is_err(), "another try would end in the same way");
    }
}
