//! A match as the journal keeps it, and the digest by which two devices compare theirs.

use std::fmt;

use engine::{Action, Outcome, Setup, Side};
use sha2::{Digest, Sha256};

use crate::{Pace, wire};

/// Names a match on both devices: 16 random bytes drawn by the inviter, or cut from the match that a new game follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MatchId(pub [u8; 16]);

impl MatchId {
    /// The new game that follows this match by consent. Both devices compute it, so an acceptance that is lost with the link
    /// leads to one new match and not to two. The revision is in it because a match that was taken back after its end may
    /// end again.
    pub(crate) fn of_new_game(self, revision: u32, swapped: bool) -> Self {
        let hash = Sha256::new()
            .chain_update(if swapped { &b"qiyou new game 1"[..] } else { b"qiyou same game 1" })
            .chain_update(self.0)
            .chain_update(revision.to_be_bytes())
            .finalize();
        let mut id = [0; 16];
        id.copy_from_slice(&hash[..16]);
        Self(id)
    }
}

/// Thirty-two hexadecimal digits.
impl fmt::Display for MatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A match as the journal keeps it.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchRecord {
    /// Same on both devices.
    pub id: MatchId,
    /// What is played. Same on both devices.
    pub setup: Setup,
    /// This device's side; the peer has the other.
    pub my_side: Side,
    /// Every action so far, oldest first; same on both devices. A match is its setup plus this list.
    pub actions: Vec<Action>,
    /// Grows with everything that was agreed upon (take back, draw), so that a shorter record can be the newer one. Same on
    /// both devices.
    pub revision: u32,
    /// `None` while it goes on. Same on both devices.
    pub result: Option<MatchResult>,
    /// The clocks' pace; `None` without clocks. Same on both devices.
    pub pace: Option<Pace>,
    /// With a pace: milliseconds that each action took by its player's own measure, one for each action. Same on both devices.
    pub times: Vec<u32>,
    /// Paused by consent: nobody plays. Same on both devices; never with a result.
    pub paused: bool,
    /// With a pace: milliseconds that the present action had taken when the clock last stopped, as seen here.
    pub spent_ms: u32,
    /// A race of Lights Out: what this side has pressed while its run is not in the record, with [`Action::Done`] last if the run is
    /// over. `spent_ms` is then what it has taken. Not the peer's affair until it is over.
    pub run: Vec<Action>,
    /// This device invited with [`crate::Colours::Random`] and drew this: the proof that it did not choose. Not the peer's affair
    /// until it asks.
    pub reveal: Option<[u8; 32]>,
    /// This device's own offer that the peer may have accepted without our knowing. Not the peer's affair.
    pub offered: Option<Consent>,
}

impl MatchRecord {
    /// A match without an action.
    pub fn new(id: MatchId, setup: Setup, my_side: Side) -> Self {
        Self {
            id,
            setup,
            my_side,
            actions: Vec::new(),
            revision: 0,
            result: None,
            pace: None,
            times: Vec::new(),
            paused: false,
            spent_ms: 0,
            run: Vec::new(),
            reveal: None,
            offered: None,
        }
    }

    /// The same with clocks.
    #[must_use]
    pub fn with_pace(self, pace: Option<Pace>) -> Self {
        Self { pace, ..self }
    }

    /// Whether both devices hold the same: everything but the side and the own offers, which belong to one device.
    pub fn agrees_with(&self, peers: &Self) -> bool {
        self.id == peers.id
            && self.setup == peers.setup
            && self.my_side != peers.my_side
            && self.actions == peers.actions
            && self.revision == peers.revision
            && self.result == peers.result
            && self.pace == peers.pace
            && self.times == peers.times
            && self.paused == peers.paused
    }

    /// The digest of setup and actions, equal on both devices when these are. A chain: it begins with SHA-256 of
    /// `qiyou record 1` and of the setup as `board.Setup` in protobuf (fields in order of number, defaults left out); each
    /// action makes it SHA-256 of the previous 32 bytes and of the action as packed in `peer.Record`. What is compared is the
    /// first 8 bytes, big-endian. Revision, result, sides and all that is about time are left out.
    pub fn digest(&self) -> u64 {
        self.actions.iter().fold(Chain::new(&self.setup), |chain, action| chain.then(*action)).digest()
    }
}

/// How a match ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchResult {
    /// By the rules of the game.
    Played(Outcome),
    /// This side gave up.
    Resigned(Side),
    /// This side's time was over.
    TimedOut(Side),
    /// By consent.
    DrawAgreed,
}

impl MatchResult {
    /// The side that lost by its own doing, which its device alone decides: it gave up, or its time was over.
    pub fn given_up_by(self) -> Option<Side> {
        match self {
            Self::Resigned(side) | Self::TimedOut(side) => Some(side),
            Self::Played(_) | Self::DrawAgreed => None,
        }
    }
}

/// What needs the other's consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OfferKind {
    /// Back to the offerer's last decision, whoever has moved since.
    TakeBack,
    /// End the match as a draw.
    Draw,
    /// Another match of the same setup and pace with colours swapped, after the end.
    NewGame,
    /// The same, with the same colours.
    NewGameSame,
    /// Nobody plays, and no clock runs, until both want to go on.
    Pause,
    /// Ends a pause.
    Continue,
    /// A pause until another day: both leave the board.
    Adjourn,
}

impl OfferKind {
    /// Whether accepting begins another match and leaves this one as it is.
    pub fn begins_another(self) -> bool {
        matches!(self, Self::NewGame | Self::NewGameSame)
    }
}

/// What this device has agreed to in advance by offering it. It is in the journal before the offer is sent: after a crash the
/// peer may have accepted already, and its newer record is then taken over because of this and of nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Consent {
    /// To what.
    pub kind: OfferKind,
    /// Of the record when it was offered. Void once the record's own revision is another.
    pub revision: u32,
    /// Length of the record when it was offered.
    pub ply: u32,
    /// Take back: the length of the record afterwards.
    pub to_ply: u32,
}

/// The chain that [`MatchRecord::digest`] describes, whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chain([u8; 32]);

impl Chain {
    pub(crate) fn new(setup: &Setup) -> Self {
        Self(
            Sha256::new()
                .chain_update(b"qiyou record 1")
                .chain_update(wire::setup_bytes(setup))
                .finalize()
                .into(),
        )
    }

    pub(crate) fn then(self, action: Action) -> Self {
        let mut packed = Vec::with_capacity(8);
        wire::pack_action(action, &mut packed);
        Self(Sha256::new().chain_update(self.0).chain_update(packed).finalize().into())
    }

    pub(crate) fn digest(self) -> u64 {
        self.0[..8].iter().fold(0, |digest, byte| digest << 8 | u64::from(*byte))
    }
}
