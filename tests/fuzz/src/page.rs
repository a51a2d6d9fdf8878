//! The gate to a guest's seat: what a page sends over its WebSocket.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use guest::{Codes, Denied, Effect, MESSAGE_BYTES, Message, Place, Role, Token};
use proto::board::Side;

/// The room of the documentation's examples, which are the seeds.
const ROOM: &str = "00112233445566778899aabbccddeeff";

/// What is admitted is in the protocol and about the room of the page's own code; a stranger gets in by a right token alone.
pub(crate) fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(message) = guest::read(&text) else { return };
    assert!(text.len() <= MESSAGE_BYTES);
    assert!(message.id().is_none_or(|id| (1..1 << 53).contains(&id)));

    let now = Instant::now();
    let place = |room: &str| Place { room: room.into(), role: Role::Seat(Side::Second) };
    let tokens = [Token::new([1; 16]), Token::new([2; 16])];
    let (seat, mut codes) = (place(ROOM), Codes::default());
    codes.show(seat.clone(), tokens[0]);
    codes.show(place("another room"), tokens[1]);
    let hello = format!(r#"{{"hello":{{"version":1,"token":"{}","tab":"0123456789abcdef"}}}}"#, tokens[0]);
    let Ok(Message::Hello(hello)) = guest::read(&hello) else { panic!("a hello") };
    let effects = codes.hello(now, 1, IpAddr::from([10, 0, 0, 1]), &hello);
    assert!(effects.contains(&Effect::Welcome(1)));

    match codes.admit(1, &message) {
        Ok(place) => {
            assert_eq!(*place, seat);
            assert!(message.room().is_none_or(|room| room == seat.room));
        }
        Err(Denied::OtherRoom) => assert!(message.room().is_some_and(|room| room != seat.room)),
        Err(Denied::BadMessage) => assert!(matches!(message, Message::Hello(_))),
        Err(Denied::Watching) => panic!("it has a seat"),
    }
    if let Message::Hello(hello) = &message {
        let later = now + Duration::from_secs(61);
        let effects = codes.hello(later, 2, IpAddr::from([10, 0, 0, 2]), hello);
        let token = Token::read(&hello.token);
        let known = tokens.iter().any(|one| token.is_some_and(|token| token.is(one)));
        let comes = effects.iter().any(|effect| matches!(effect, Effect::Welcome(2) | Effect::Taken(2, _)));
        assert!(!comes || known, "{hello:?} came in: {effects:?}");
    }
}
