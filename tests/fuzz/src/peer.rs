//! A session between friends with a match and an invitation, whose peer sends any messages.
//!
//! The input is a list of messages, each with its length (one byte), its number and its payload; length 0 lets a second pass,
//! and number 0 makes the honest side play.

use engine::Side;
use proto::peer::Envelope;
use session::{Command, Error, Input, MAX_MATCHES, MatchResult, Role};

#[path = "../../../session/tests/pair/mod.rs"]
#[allow(clippy::pedantic, unused, reason = "the session's own test bench")]
mod pair;

use pair::{BERT, Pair, choices, small};

/// Most messages and events after one message, as in the session's test of hostile peers.
const MOST_OUTPUTS: usize = 40 + 8 * MAX_MATCHES;

/// Nothing is taken away, played or ended in Bert's name, and each message has few consequences.
pub(crate) fn check(mut input: &[u8]) {
    let (mut pair, _) = Pair::playing();
    pair.begin(BERT, small(), Side::First);
    // Anna's device is the attacker's from here on.
    pair.devices[pair::ANNA].linked = false;
    while let Some((length, rest)) = input.split_first() {
        if pair.closed(BERT).is_some() || !pair.devices[BERT].linked {
            pair.devices[BERT].linked = true;
            pair.input(BERT, Input::LinkUp { role: Role::Listener, handshake_hash: [1; 32] });
        }
        let (message, rest) = rest.split_at(usize::from(*length).min(rest.len()));
        input = rest;
        let Some((&msgid, payload)) = message.split_first() else {
            pair.delay(std::time::Duration::from_secs(1));
            continue;
        };
        if msgid == 0 {
            let open = pair.devices[BERT]
                .session
                .matches()
                .find_map(|state| choices(state, pair.now).first().map(|action| (state.id(), *action)));
            if let Some((id, action)) = open {
                let _ = pair.try_input(BERT, Input::Command(Command::Act { id, action }));
            }
            continue;
        }
        let Ok(envelope) = Envelope::decode(msgid.into(), payload) else { continue };
        hear(&mut pair, envelope);
    }
}

fn hear(pair: &mut Pair, envelope: Envelope) {
    let before: Vec<_> = pair.devices[BERT].session.matches().map(|state| state.record().clone()).collect();
    pair.devices[BERT].sent.clear();
    pair.devices[BERT].told();
    let done = pair.try_input(BERT, Input::Received(envelope.clone()));
    assert!(!matches!(done, Err(Error::Refused(_))), "a message is not refused");
    let outputs = pair.devices[BERT].sent.len() + pair.devices[BERT].events.len();
    assert!(outputs <= MOST_OUTPUTS, "{outputs} outputs after {envelope:?}");
    assert!(pair.devices[BERT].session.matches().len() <= MAX_MATCHES + 4);
    for old in before {
        let Some(state) = pair.devices[BERT].session.match_state(old.id) else { continue };
        let new = state.record();
        if done.is_err() {
            assert_eq!(*new, old, "a violation changes nothing: {envelope:?}");
        }
        assert_eq!(new.revision, old.revision, "Bert has offered nothing: {envelope:?}");
        assert!(new.actions.starts_with(&old.actions), "nothing is taken away: {envelope:?}");
        let theirs = new.my_side.other();
        let played = state.decided_by().zip(&new.actions).skip(old.actions.len());
        assert!(played.into_iter().all(|(by, _)| by == theirs), "nobody plays for Bert: {envelope:?}");
        if new.result != old.result {
            let fair = match new.result {
                Some(MatchResult::Resigned(side) | MatchResult::TimedOut(side)) => side == theirs,
                Some(MatchResult::Played(_)) => new.actions.len() > old.actions.len(),
                Some(MatchResult::DrawAgreed) | None => false,
            };
            assert!(fair, "{old:?} became {new:?} by {envelope:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// Each is the hello of a friend, a message, a second, what the honest side plays, and the message again. A new message needs
    /// its seed written: `WRITE_SEEDS=1 cargo test -p fuzz`, after `cargo test -p proto` has written the golden one.
    #[test]
    fn a_session_has_a_seed_for_each_golden_message() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (golden, seeds) = (here.join(crate::GOLDEN).join("peer"), here.join("seeds/session"));
        let hello = fs::read(golden.join("01-hello-friend")).expect("a seed");
        for entry in fs::read_dir(&golden).expect("readable") {
            let name = entry.expect("readable").file_name();
            let message = about_the_match(fs::read(golden.join(&name)).expect("readable"));
            let message = sized(&message);
            let bytes = [&sized(&hello)[..], &message[..], &[0, 1, 0][..], &message[..]].concat();
            if std::env::var_os("WRITE_SEEDS").is_some() {
                fs::write(seeds.join(&name), &bytes).expect("written");
            }
            let seed = fs::read(seeds.join(&name)).unwrap_or_else(|error| panic!("{name:?}: {error}"));
            assert_eq!(seed, bytes, "{name:?}");
        }
    }

    fn sized(message: &[u8]) -> Vec<u8> {
        let length = u8::try_from(message.len()).expect("golden messages are short");
        [&[length][..], message].concat()
    }

    /// The message with an id of this session in place of its first: all but a hello, and a gift, which is of a match of its own.
    fn about_the_match(mut message: Vec<u8>) -> Vec<u8> {
        const GOLDEN_ID: &[u8] = b"sixteen bytes id";
        const ID: [u8; 16] = [1; 16];
        const WITHOUT: [u8; 2] = [1, 22];
        let at = message.windows(GOLDEN_ID.len()).position(|window| window == GOLDEN_ID);
        if let Some(at) = at.filter(|_| !WITHOUT.contains(&message[0])) {
            message[at..at + ID.len()].copy_from_slice(&ID);
        }
        message
    }
}
