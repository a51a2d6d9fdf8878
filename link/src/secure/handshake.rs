//! The handshake: how two devices derive keys, and to whom each reveals its static key.
//!
//! ```text
//! listener   lowest highest, nonce[32], …        a challenge, fresh for each link
//! dialer     version, pattern, Noise message 1
//! listener   Noise message 2
//! dialer     Noise message 3                     only with XX
//! ```
//!
//! Two bytes of length, big-endian, precede each message. Versions are negotiated as in the stream below: the dialer answers with
//! the highest common version, or with `0, lowest, highest` of its own, and both know why they part. A later version may add
//! fields to the challenge at the `…`; receivers ignore them.
//!
//! The Noise handshake pattern **IK** is for friends: the dialer knows the listener's static key and encrypts its own to it, so
//! that only that listener learns who dials; the listener's key is never sent. A listener does not answer a dialer that is no
//! friend. The challenge is part of the prologue, so that a recorded first message cannot be replayed on another link, whatever
//! the clocks of the two devices say.
//!
//! The pattern **XX**, which reveals each side's static key to any peer, is for people who want to meet somebody new: a listener
//! accepts it only while it is open to strangers, a dialer uses it when a person has chosen an unknown device.
//!
//! A listener that refuses a dialer stays silent and ends the link after [`REFUSED_AFTER`]: a blocked, forgotten or unknown
//! dialer, and a dialer that means another device, see the same behaviour and the same timing.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use snow::{Builder, HandshakeState};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

use super::{LENGTH, SecureError, TAG};
use crate::identity::Identity;
use crate::{CarrierKind, Duplex};

/// A longer handshake is given up: four small messages take a tenth of this on the slowest carrier, and a silent stranger must
/// not occupy one of a handheld's few connections.
pub const HANDSHAKE_DEADLINE: Duration = Duration::from_secs(10);

/// Time from a dialer's first message to the end of a refused link: constant, and much longer than the decision takes, so that
/// the timing reveals nothing.
pub const REFUSED_AFTER: Duration = Duration::from_millis(500);

/// Versions of this layer. Version 1 revealed each side's key to any peer, and was never released.
pub const VERSIONS: Versions = Versions { lowest: 2, highest: 2 };

/// Versions of this layer that a device speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The oldest.
    pub lowest: u8,
    /// The newest.
    pub highest: u8,
}

impl Versions {
    /// The newest version that both speak.
    pub(crate) fn common(self, other: Versions) -> Option<u8> {
        let highest = self.highest.min(other.highest);
        (highest >= self.lowest.max(other.lowest)).then_some(highest)
    }
}

/// The peer that a dialer wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedPeer {
    /// The owner of this static key and nobody else.
    Key([u8; 32]),
    /// Any peer.
    Anybody,
}

/// The peers that a listener accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AcceptedPeers {
    /// By their static keys.
    pub friends: BTreeSet<[u8; 32]>,
    /// Anybody else as well: a person on this side wants to meet somebody.
    pub strangers: bool,
}

impl AcceptedPeers {
    /// Everybody.
    pub fn all() -> Self {
        Self { strangers: true, ..Self::default() }
    }

    fn contains(&self, key: &[u8; 32]) -> bool {
        self.strangers || self.friends.contains(key)
    }
}

/// One end of a new link.
pub(super) enum Role<'a> {
    Dialer(ExpectedPeer),
    Listener(&'a AcceptedPeers),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pattern {
    Xx,
    Ik,
}

impl Pattern {
    const ALL: [Self; 2] = [Self::Xx, Self::Ik];

    fn number(self) -> u8 {
        match self {
            Self::Xx => 0,
            Self::Ik => 1,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Xx => "Noise_XX_25519_ChaChaPoly_BLAKE2s",
            Self::Ik => "Noise_IK_25519_ChaChaPoly_BLAKE2s",
        }
    }

    /// Lengths of the pattern's messages with empty payloads (Noise revision 34, sections 7.4 and 7.5): e · e, s, tag · s, tag
    /// for XX, and e, s, tag · e, tag for IK.
    fn message_lengths(self) -> &'static [usize] {
        match self {
            Self::Xx => &[32, 32 + (32 + TAG) + TAG, (32 + TAG) + TAG],
            Self::Ik => &[32 + (32 + TAG) + TAG, 32 + TAG],
        }
    }
}

const LONGEST_MESSAGE: usize = 32 + (32 + TAG) + TAG;
/// Bytes of version and pattern before a dialer's first message.
const CHOICE: usize = 2;
const NONCE: usize = 32;
const CHALLENGE: usize = 2 + NONCE;
/// Longest challenge, with space for fields of later versions.
const LONGEST_CHALLENGE: usize = 128;
/// In place of the version: no common version.
const NO_VERSION: u8 = 0;

/// The prologue, equal on both sides; its numbers and words never change within a version.
fn prologue(kind: CarrierKind, challenge: &[u8], choice: [u8; CHOICE]) -> Vec<u8> {
    let carrier = match kind {
        CarrierKind::Bluetooth => "bluetooth",
        CarrierKind::Lan => "lan",
        CarrierKind::Online => "online",
        CarrierKind::Memory => "memory",
    };
    let text = format!("qiyou secure\ncarrier {carrier}\ninitiator dialer\nresponder listener\n");
    [text.as_bytes(), challenge, &choice].concat()
}

/// Exchanges all messages. The handshake is complete when this returns.
pub(super) async fn exchange<D: Duplex>(
    duplex: &mut D,
    identity: &Identity,
    kind: CarrierKind,
    role: Role<'_>,
) -> Result<HandshakeState, SecureError> {
    match role {
        Role::Dialer(expected) => dial(duplex, identity, kind, expected, VERSIONS).await,
        Role::Listener(accepted_peers) => listen(duplex, identity, kind, accepted_peers, VERSIONS).await,
    }
}

async fn dial<D: Duplex>(
    duplex: &mut D,
    identity: &Identity,
    kind: CarrierKind,
    expected: ExpectedPeer,
    versions: Versions,
) -> Result<HandshakeState, SecureError> {
    let mut room = [0; LONGEST_CHALLENGE];
    let challenge = read_message(duplex, &mut room, CHALLENGE..=LONGEST_CHALLENGE).await?;
    let theirs = Versions { lowest: challenge[0], highest: challenge[1] };
    let Some(version) = versions.common(theirs) else {
        write_message(duplex, &[NO_VERSION, versions.lowest, versions.highest]).await?;
        return Err(SecureError::Versions { ours: versions, theirs });
    };
    let (pattern, key) = match expected {
        ExpectedPeer::Key(key) => (Pattern::Ik, Some(key)),
        ExpectedPeer::Anybody => (Pattern::Xx, None),
    };
    let choice = [version, pattern.number()];
    let prologue = prologue(kind, challenge, choice);
    let builder = builder(identity, pattern, &prologue);
    let mut noise = key
        .iter()
        .try_fold(builder, |builder, key| builder.remote_public_key(key))
        .and_then(Builder::build_initiator)
        .map_err(|_| SecureError::BadHandshake { message: 1 })?;
    exchange_messages(duplex, &mut noise, pattern, 1, &choice).await?;
    Ok(noise)
}

async fn listen<D: Duplex>(
    duplex: &mut D,
    identity: &Identity,
    kind: CarrierKind,
    accepted_peers: &AcceptedPeers,
    versions: Versions,
) -> Result<HandshakeState, SecureError> {
    let mut challenge = [0; CHALLENGE];
    challenge[..2].copy_from_slice(&[versions.lowest, versions.highest]);
    getrandom::fill(&mut challenge[2..]).map_err(|error| SecureError::Io(io::Error::other(error)))?;
    write_message(duplex, &challenge).await?;
    let mut room = [0; CHOICE + LONGEST_MESSAGE];
    let first = read_message(duplex, &mut room, CHOICE + 1..=CHOICE + LONGEST_MESSAGE).await?;
    let refused_at = Instant::now() + REFUSED_AFTER;
    let (choice, message) = first.split_first_chunk::<CHOICE>().expect("it is longer");
    if let ([NO_VERSION, lowest], [highest]) = (choice, message) {
        let theirs = Versions { lowest: *lowest, highest: *highest };
        return Err(SecureError::Versions { ours: versions, theirs });
    }
    let known = |pattern: &Pattern| {
        choice[0] >= versions.lowest
            && choice[0] <= versions.highest
            && choice[1] == pattern.number()
            && message.len() == pattern.message_lengths()[0]
    };
    let pattern = Pattern::ALL.into_iter().find(known).ok_or(SecureError::BadHandshake { message: 1 })?;
    let prologue = prologue(kind, &challenge, *choice);
    let mut noise = builder(identity, pattern, &prologue).build_responder().expect(SUPPORTED_BY_SNOW);
    // A message to another device, or a replayed one, must be indistinguishable from a refused dialer.
    let read = noise.read_message(message, &mut []).is_ok();
    let accepted = match pattern {
        Pattern::Xx => accepted_peers.strangers,
        Pattern::Ik => read && remote_key(&noise).is_some_and(|key| accepted_peers.contains(&key)),
    };
    if !accepted {
        tokio::time::sleep_until(refused_at).await;
        return Err(SecureError::Refused);
    }
    if !read {
        return Err(SecureError::BadHandshake { message: 1 });
    }
    exchange_messages(duplex, &mut noise, pattern, 2, &[]).await?;
    Ok(noise)
}

const SUPPORTED_BY_SNOW: &str = "the pattern is one that snow has, and key and prologue are given once";

fn builder<'a>(identity: &'a Identity, pattern: Pattern, prologue: &'a [u8]) -> Builder<'a> {
    Builder::new(pattern.name().parse().expect(SUPPORTED_BY_SNOW))
        .prologue(prologue)
        .and_then(|builder| builder.local_private_key(identity.secret_key()))
        .expect(SUPPORTED_BY_SNOW)
}

/// The peer's static key, once the handshake has revealed it.
pub(super) fn remote_key(noise: &HandshakeState) -> Option<[u8; 32]> {
    noise.get_remote_static()?.try_into().ok()
}

/// Exchanges the Noise messages from this one on, in turns. `before`: a prefix of the first message written.
async fn exchange_messages<D: Duplex>(
    duplex: &mut D,
    noise: &mut HandshakeState,
    pattern: Pattern,
    from: u8,
    mut before: &[u8],
) -> Result<(), SecureError> {
    for (message, &length) in (from..).zip(&pattern.message_lengths()[usize::from(from) - 1..]) {
        let failed = |_| SecureError::BadHandshake { message };
        // snow needs space for a tag even for a message without one, such as the first.
        let mut room = [0; LONGEST_MESSAGE + TAG];
        if noise.is_my_turn() {
            let written = noise.write_message(&[], &mut room).map_err(failed)?;
            debug_assert_eq!(written, length);
            write_message(duplex, &[std::mem::take(&mut before), &room[..length]].concat()).await?;
        } else {
            let body =
                read_message(duplex, &mut room, length..=length).await.map_err(|error| match error {
                    SecureError::BadHandshake { .. } => SecureError::BadHandshake { message },
                    other => other,
                })?;
            noise.read_message(body, &mut []).map_err(failed)?;
        }
    }
    Ok(())
}

async fn write_message<D: Duplex>(duplex: &mut D, body: &[u8]) -> Result<(), SecureError> {
    let length = u16::try_from(body.len()).expect("a message of a handshake is short");
    duplex.write_all(&[&length.to_be_bytes(), body].concat()).await?;
    duplex.flush().await?;
    Ok(())
}

/// Reads a message of an allowed length.
async fn read_message<'a, D: Duplex>(
    duplex: &mut D,
    room: &'a mut [u8],
    lengths: std::ops::RangeInclusive<usize>,
) -> Result<&'a [u8], SecureError> {
    let mut announced = [0; LENGTH];
    // The length first: a wrong protocol is detected without waiting for the rest.
    read_whole(duplex, &mut announced).await?;
    let length = usize::from(u16::from_be_bytes(announced));
    if !lengths.contains(&length) {
        return Err(SecureError::BadHandshake { message: 1 });
    }
    let body = &mut room[..length];
    read_whole(duplex, body).await?;
    Ok(body)
}

async fn read_whole<D: Duplex>(duplex: &mut D, into: &mut [u8]) -> Result<(), SecureError> {
    match duplex.read_exact(into).await {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(SecureError::Truncated),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};

    use super::*;
    use crate::Outdated;
    use crate::secure::{SecureLink, accept, dial};

    fn identity() -> Identity {
        Identity::generate().expect("randomness")
    }

    fn friends_only(friends: &[&Identity]) -> AcceptedPeers {
        AcceptedPeers {
            friends: friends.iter().map(|friend| friend.public_key()).collect(),
            strangers: false,
        }
    }

    /// Bytes on the wire: everything that the dialer wrote, and everything that the listener wrote.
    type Transcript = [Vec<u8>; 2];

    async fn carry(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, seen: &mut Vec<u8>) {
        let mut part = [0; 512];
        while let Ok(count) = from.read(&mut part).await {
            if count == 0 || to.write_all(&part[..count]).await.is_err() {
                break;
            }
            seen.extend(&part[..count]);
        }
        let _ = to.shutdown().await;
    }

    type HandshakeResult = Result<SecureLink<DuplexStream>, SecureError>;

    /// A handshake, and what an eavesdropper sees of it.
    async fn meet(
        dialer: &Identity,
        expected: ExpectedPeer,
        listener: &Identity,
        accepted_peers: &AcceptedPeers,
    ) -> (HandshakeResult, HandshakeResult, Transcript) {
        let (here, a) = tokio::io::duplex(4_096);
        let (b, there) = tokio::io::duplex(4_096);
        let ((a_in, a_out), (b_in, b_out)) = (tokio::io::split(a), tokio::io::split(b));
        let [mut said, mut answered] = [Vec::new(), Vec::new()];
        let kind = CarrierKind::Memory;
        let both = async {
            tokio::join!(dial(here, dialer, kind, expected), accept(there, listener, kind, accepted_peers))
        };
        let (dialed, accepted) = {
            let carried = async {
                tokio::join!(carry(a_in, b_out, &mut said), carry(b_in, a_out, &mut answered));
                std::future::pending::<()>().await;
            };
            tokio::select! {
                both = both => both,
                () = carried => unreachable!("it never ends"),
            }
        };
        (dialed, accepted, [said, answered])
    }

    fn tells(transcript: &Transcript, who: &Identity) -> bool {
        transcript.iter().any(|bytes| bytes.windows(32).any(|part| part == who.public_key()))
    }

    /// A dialer with XX: the listener's key, if revealed.
    async fn learns_key(
        dialer: &Identity,
        listener: &Identity,
        accepted_peers: &AcceptedPeers,
    ) -> Option<[u8; 32]> {
        let (dialed, _, _) = meet(dialer, ExpectedPeer::Anybody, listener, accepted_peers).await;
        dialed.ok().map(|link| link.peer_key())
    }

    #[tokio::test(start_paused = true)]
    async fn friends_meet_and_neither_key_is_in_the_air() {
        let (anna, ben) = (identity(), identity());
        let (dialed, accepted, seen) =
            meet(&anna, ExpectedPeer::Key(ben.public_key()), &ben, &friends_only(&[&anna])).await;
        let (dialed, accepted) = (dialed.expect("dials"), accepted.expect("is let in"));
        assert_eq!((dialed.peer_key(), accepted.peer_key()), (ben.public_key(), anna.public_key()));
        assert_eq!(dialed.handshake_hash(), accepted.handshake_hash());
        assert!(!tells(&seen, &anna) && !tells(&seen, &ben));
    }

    #[tokio::test(start_paused = true)]
    async fn strangers_meet_only_while_a_person_wants_them() {
        let (anna, ben) = (identity(), identity());
        assert_eq!(learns_key(&anna, &ben, &AcceptedPeers::all()).await, Some(ben.public_key()));
        assert_eq!(learns_key(&anna, &ben, &friends_only(&[])).await, None);
        assert_eq!(
            learns_key(&anna, &ben, &friends_only(&[&anna])).await,
            None,
            "a friend knows how to dial"
        );
        // By friend code: only one side knows the other's key so far.
        let by_code = ExpectedPeer::Key(ben.public_key());
        let (dialed, accepted, _) = meet(&anna, by_code, &ben, &AcceptedPeers::all()).await;
        assert!(dialed.is_ok() && accepted.is_ok_and(|link| link.peer_key() == anna.public_key()));
    }

    #[tokio::test(start_paused = true)]
    async fn every_refusal_is_the_same_silence_and_takes_as_long() {
        let (ben, carl, former, mallory) = (identity(), identity(), identity(), identity());
        let accepted_peers = friends_only(&[&carl]);
        for (dialer, expected) in [
            (&mallory, ExpectedPeer::Anybody),
            (&mallory, ExpectedPeer::Key(ben.public_key())),
            (&former, ExpectedPeer::Anybody),
            (&former, ExpectedPeer::Key(ben.public_key())),
            // When another device is meant, a friend is treated no better.
            (&former, ExpectedPeer::Key(mallory.public_key())),
            (&carl, ExpectedPeer::Key(mallory.public_key())),
            (&carl, ExpectedPeer::Anybody),
        ] {
            let begun = Instant::now();
            let (dialed, accepted, seen) = meet(dialer, expected, &ben, &accepted_peers).await;
            assert_eq!(begun.elapsed(), REFUSED_AFTER, "{expected:?}");
            assert!(matches!(dialed, Err(SecureError::Truncated)), "{dialed:?}");
            assert!(matches!(accepted, Err(SecureError::Refused)), "{accepted:?}");
            let [_, answered] = &seen;
            assert_eq!(answered.len(), LENGTH + CHALLENGE, "the challenge, and not a byte more");
            assert!(!tells(&seen, &ben));
            if expected != ExpectedPeer::Anybody {
                assert!(!tells(&seen, dialer));
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_poses_as_a_friend_does_not_learn_who_dials() {
        let (anna, ben, mallory) = (identity(), identity(), identity());
        let (dialed, accepted, seen) =
            meet(&anna, ExpectedPeer::Key(ben.public_key()), &mallory, &AcceptedPeers::all()).await;
        assert!(dialed.is_err());
        let failed = accepted.expect_err("it is not Ben");
        assert!(matches!(failed, SecureError::Refused), "{failed}");
        assert!(!tells(&seen, &anna));
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_friend_once_said_opens_no_other_link() {
        let (anna, ben) = (identity(), identity());
        let accepted_peers = friends_only(&[&anna]);
        let (_, accepted, [said, _]) =
            meet(&anna, ExpectedPeer::Key(ben.public_key()), &ben, &accepted_peers).await;
        accepted.expect("the first time");
        let (mut here, there) = tokio::io::duplex(4_096);
        let repeat = async {
            here.write_all(&said).await.expect("written");
            let mut answered = Vec::new();
            here.read_to_end(&mut answered).await.expect("hung up");
            answered
        };
        let (accepted, answered) =
            tokio::join!(accept(there, &ben, CarrierKind::Memory, &accepted_peers), repeat);
        assert!(matches!(accepted, Err(SecureError::Refused)), "{accepted:?}");
        assert_eq!(answered.len(), LENGTH + CHALLENGE);
    }

    #[tokio::test(start_paused = true)]
    async fn of_two_versions_both_sides_learn_what_the_other_one_speaks() {
        let range = |lowest, highest| Versions { lowest, highest };
        for (dials, listens, meet) in [
            (range(2, 2), range(2, 5), true),
            (range(2, 5), range(2, 2), true),
            (range(2, 2), range(3, 5), false),
            (range(3, 5), range(2, 2), false),
        ] {
            let (anna, ben) = (identity(), identity());
            let (mut here, mut there) = tokio::io::duplex(4_096);
            let (kind, accepted_peers) = (CarrierKind::Memory, AcceptedPeers::all());
            let (dialed, accepted) = tokio::join!(
                super::dial(&mut here, &anna, kind, ExpectedPeer::Anybody, dials),
                listen(&mut there, &ben, kind, &accepted_peers, listens)
            );
            assert_eq!((dialed.is_ok(), accepted.is_ok()), (meet, meet));
            if !meet {
                let told =
                    |result: Result<HandshakeState, SecureError>| result.err().and_then(|why| why.outdated());
                let dialer_is_older = dials.highest < listens.lowest;
                let (older, newer) = (Some(Outdated::Here), Some(Outdated::There));
                let expected = if dialer_is_older { (older, newer) } else { (newer, older) };
                assert_eq!((told(dialed), told(accepted)), expected);
            }
        }
    }

    /// The bytes of a later version's listener: a longer challenge, and a higher range of versions.
    #[tokio::test(start_paused = true)]
    async fn todays_dialer_answers_the_challenge_of_tomorrows_listener() {
        let (mut here, mut there) = tokio::io::duplex(4_096);
        let anna = identity();
        let tomorrow = async {
            let mut challenge = vec![0, 40, 2, 7];
            challenge.extend([9; NONCE]);
            challenge.extend(b"later!");
            there.write_all(&challenge).await.expect("written");
            let mut answer = [0; 4];
            there.read_exact(&mut answer).await.expect("an answer");
            drop(there);
            answer
        };
        let dialed = super::dial(&mut here, &anna, CarrierKind::Memory, ExpectedPeer::Anybody, VERSIONS);
        let (dialed, answer) = tokio::join!(dialed, tomorrow);
        assert_eq!(answer, [0, 34, 2, 0], "version 2, XX");
        assert!(dialed.is_err());
    }
}
