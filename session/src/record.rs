//! A match in the journal, and the digest with which two devices compare their records.

use std::fmt;

use engine::{Action, Outcome, Setup, Side};
use sha2::{Digest, Sha256};

use crate::{Pace, wire};

/// Identifies a match on both devices: 16 random bytes drawn by the inviter, or derived from the previous match of a new game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MatchId(pub [u8; 16]);

impl MatchId {
    /// The id of the new game that follows this match by consent. Both devices compute it, so that an acceptance lost with the
    /// link leads to one new match and not to two. The id includes the revision, because a match that was taken back after its
    /// end may end again.
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

/// A match in the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchRecord {
    /// Same on both devices.
    pub id: MatchId,
    /// The game and its rules. Same on both devices.
    pub setup: Setup,
    /// This device's side; the peer has the other.
    pub my_side: Side,
    /// Every action so far, oldest first; same on both devices. A match is its setup plus this list.
    pub actions: Vec<Action>,
    /// Incremented by each accepted offer (take back, draw), so that a shorter record can be the newer one. Same on both devices.
    pub revision: u32,
    /// `None` while the match is not over. Same on both devices.
    pub result: Option<MatchResult>,
    /// The time control; `None` without clocks. Same on both devices.
    pub pace: Option<Pace>,
    /// With a pace: each action's time in milliseconds, measured by its player's device. Same on both devices.
    pub times: Vec<u32>,
    /// Paused by consent: nobody plays. Same on both devices; never together with a result.
    pub paused: bool,
    /// With a pace: time of the present action in milliseconds when the clock last stopped, measured here.
    pub spent_ms: u32,
    /// A race of Lights Out: this side's presses while its run is not in the record, with [`Action::Done`] last if the run is
    /// over. `spent_ms` is then the run's time. Not shared with the peer until the run is over.
    pub run: Vec<Action>,
    /// The nonce of this device's invitation with [`crate::Colours::Random`]: it proves that this device did not choose the
    /// result. Not shared with the peer until it asks.
    pub reveal: Option<[u8; 32]>,
    /// The number of hints that each side has taken, first side first; `None`: the terms allow no hints. Agreed by both people in
    /// the terms. The peer's number is as the peer reports it.
    pub hints: Option<[u32; 2]>,
    /// This device's own offer that the peer may have accepted without this device knowing. Not shared with the peer.
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
            hints: None,
            offered: None,
        }
    }

    /// The same with clocks.
    #[must_use]
    pub fn with_pace(self, pace: Option<Pace>) -> Self {
        Self { pace, ..self }
    }

    /// The same with hints allowed, or not.
    #[must_use]
    pub fn with_hints(self, allowed: bool) -> Self {
        Self { hints: allowed.then_some([0; 2]), ..self }
    }

    /// Whether both devices have the same record: every field except the side and the own offers, which belong to one device.
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
            && self.hints == peers.hints
    }

    /// The digest of setup and actions: a hash chain. The chain begins with SHA-256 of `qiyou record 1` and of the setup as
    /// `board.Setup` in protobuf (fields in order of number, defaults left out); each action makes it SHA-256 of the previous 32
    /// bytes and of the action as packed in `peer.Record`. Devices compare the first 8 bytes, big-endian. Revision, result, sides
    /// and times are not covered.
    pub fn digest(&self) -> u64 {
        self.actions.iter().fold(Chain::new(&self.setup), |chain, action| chain.then(*action)).digest()
    }
}

/// How a match ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchResult {
    /// By the rules of the game.
    Played(Outcome),
    /// This side resigned.
    Resigned(Side),
    /// This side lost on time.
    TimedOut(Side),
    /// By consent.
    DrawAgreed,
}

impl MatchResult {
    /// The side that won; `None` of a draw.
    pub fn winner(self) -> Option<Side> {
        match self {
            Self::Played(outcome) => outcome.winner,
            Self::DrawAgreed => None,
            Self::Resigned(side) | Self::TimedOut(side) => Some(side.other()),
        }
    }

    /// The side that resigned or lost on time, which only its own device can decide.
    pub fn given_up_by(self) -> Option<Side> {
        match self {
            Self::Resigned(side) | Self::TimedOut(side) => Some(side),
            Self::Played(_) | Self::DrawAgreed => None,
        }
    }
}

/// Offers, which need the other side's consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OfferKind {
    /// Back to the offering side's last decision, whoever has moved since.
    TakeBack,
    /// End the match as a draw.
    Draw,
    /// Another match with the same setup and pace and swapped colours, after the end.
    NewGame,
    /// The same, with the same colours.
    NewGameSame,
    /// Nobody plays, and no clock runs, until both want to go on.
    Pause,
    /// Ends a pause.
    Continue,
    /// A pause until another day: both leave the match.
    Adjourn,
}

impl OfferKind {
    /// Whether acceptance begins another match and leaves this one unchanged.
    pub fn begins_another(self) -> bool {
        matches!(self, Self::NewGame | Self::NewGameSame)
    }
}

/// The own open offer, as consent given in advance. The consent is in the journal before the offer is sent: after a crash the
/// peer may have accepted already, and only this consent allows adopting its newer record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Consent {
    /// The kind of offer.
    pub kind: OfferKind,
    /// The record's revision when the offer was made. The consent is void at any other revision.
    pub revision: u32,
    /// The record's length when the offer was made.
    pub ply: u32,
    /// Take back: length of the record afterwards.
    pub to_ply: u32,
}

/// The whole hash chain that [`MatchRecord::digest`] describes.
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
