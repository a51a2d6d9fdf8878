//! Fuzzes the gate and the codes behind it: whatever a page sends, nothing panics, and what is admitted is in the protocol and
//! about the room of the page's own code. Runs for `FUZZ_SECONDS`, or a fixed number of mutations.

#[path = "../../../tests/src/seed.rs"]
mod seed;

use std::net::IpAddr;
use std::time::{Duration, Instant};

use guest::{Codes, Denied, Effect, MESSAGE_BYTES, Message, Place, Role, Token};
use proto::board::Side;

/// Mutations without `FUZZ_SECONDS`: about a second.
const CHANGES: u32 = 100_000;

/// What is put into messages: pieces of JSON, and of what is no JSON.
const PIECES: [&str; 12] = [
    "{",
    "}",
    "\"",
    "null",
    "9007199254740992",
    "-1",
    "1e99",
    "\\u0000",
    "true",
    ",\"x\":1",
    "[[[[[[[[",
    "棋",
];

struct World {
    codes: Codes,
    seat: Place,
    now: Instant,
    tokens: [Token; 2],
}

/// Two rooms, each with a guest's seat: connection 1 has the seat of the room of the examples.
fn world() -> World {
    let place = |room: &str| Place { room: room.into(), role: Role::Seat(Side::Second) };
    let tokens = [Token::new([1; 16]), Token::new([2; 16])];
    let mut world = World {
        codes: Codes::default(),
        seat: place("00112233445566778899aabbccddeeff"),
        now: Instant::now(),
        tokens,
    };
    world.codes.show(world.seat.clone(), tokens[0]);
    world.codes.show(place("another room"), tokens[1]);
    let hello = format!(r#"{{"hello":{{"version":1,"token":"{}","tab":"0123456789abcdef"}}}}"#, tokens[0]);
    let Ok(Message::Hello(hello)) = guest::read(&hello) else { panic!("a hello") };
    let effects = world.codes.hello(world.now, 1, IpAddr::from([10, 0, 0, 1]), &hello);
    assert!(effects.contains(&Effect::Welcome(1)));
    world
}

/// Returns whether it passed the gate.
fn check(world: &mut World, text: &str) -> bool {
    let Ok(message) = guest::read(text) else { return false };
    assert!(text.len() <= MESSAGE_BYTES);
    assert!(message.id().is_none_or(|id| (1..1 << 53).contains(&id)));
    match world.codes.admit(1, &message) {
        Ok(place) => {
            assert_eq!(*place, world.seat);
            assert!(message.room().is_none_or(|room| room == world.seat.room));
        }
        Err(Denied::OtherRoom) => assert!(message.room().is_some_and(|room| room != world.seat.room)),
        Err(Denied::BadMessage) => assert!(matches!(message, Message::Hello(_))),
        Err(Denied::Watching) => panic!("it has a seat"),
    }
    if let Message::Hello(hello) = &message {
        // From a stranger: it gets in with a right token alone.
        world.now += Duration::from_secs(61);
        let effects = world.codes.hello(world.now, 2, IpAddr::from([10, 0, 0, 2]), hello);
        let token = Token::read(&hello.token);
        let known = world.tokens.iter().any(|one| token.is_some_and(|token| token.is(one)));
        let comes = effects.iter().any(|effect| matches!(effect, Effect::Welcome(2) | Effect::Taken(2, _)));
        assert!(!comes || known, "{hello:?} came in: {effects:?}");
        world.codes.gone(2);
    }
    true
}

#[test]
fn whatever_a_page_sends_only_the_protocol_passes_and_only_to_its_own_room() {
    let examples: serde_json::Value =
        serde_json::from_str(include_str!("../../../docs/guest-examples.json")).expect("the file is JSON");
    let mut seeds: Vec<String> =
        examples["from_page"].as_array().expect("a list").iter().map(ToString::to_string).collect();
    let mut world = world();
    assert!(seeds.iter().all(|seed| check(&mut world, seed)), "the documentation's examples pass");
    seeds.extend(world.tokens.map(|token| seeds[0].replace("q3vZt1c8cJ0yqvUe0xWz9A", &token.to_string())));
    let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    // Xorshift64 (Marsaglia 2003).
    let mut random = seed::begin("guest", 1).max(1);
    let mut below = move |end: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % end.max(1) as u64) as usize
    };
    let (mut done, mut passed) = (0_u32, 0_u32);
    while end.map_or(done < CHANGES, |end| Instant::now() < end) {
        let mut text: Vec<u8> = seeds[below(seeds.len())].clone().into_bytes();
        for _ in 0..=below(3) {
            let at = below(text.len() + 1);
            match below(5) {
                0 if at < text.len() => text[at] = below(256) as u8,
                1 if at < text.len() => text[at] = b'0' + below(10) as u8,
                2 => {
                    text.splice(at..at, PIECES[below(PIECES.len())].bytes());
                }
                3 => {
                    let again = text.clone();
                    text.splice(at..at, again);
                }
                _ => text.truncate(at),
            }
        }
        passed += u32::from(check(&mut world, &String::from_utf8_lossy(&text)));
        done += 1;
    }
    assert!(passed > 0, "some changes leave a message");
    println!("guest: {} seeds, {done} changes, {passed} passed the gate", seeds.len());
}
