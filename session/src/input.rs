//! The inputs of a session, and the reasons to refuse them.

use std::ops::RangeInclusive;

use engine::{Action, Setup, Side};
use proto::peer;

use crate::{MatchId, MatchRecord, OfferKind, Pace, Saying};

/// This device's identity towards the peer, and the state to start from.
#[derive(Clone, Debug)]
pub struct Config {
    /// The protocol versions to speak: [`crate::VERSIONS`]. Tests alone say others, to be a program of another year.
    pub versions: RangeInclusive<u32>,
    /// Sent to the peer; cut by [`proto::limits::fit_name`].
    pub name: String,
    /// Sent to a compared peer, so that it recognises this device's rotating tag.
    pub advert_key: [u8; 32],
    /// Whether a person has compared strings with this key before.
    pub known: bool,
    /// The unknown key uses a friend's name; the comparison warns about that.
    pub known_name_new_key: bool,
    /// Every match with this peer that is not settled (see [`crate::Entry::Settled`]), the oldest first. Settled matches may be
    /// included, marked `true`: the last one, for example, so that a new game may follow it after a restart.
    pub matches: Vec<(MatchRecord, Settled)>,
    /// Matches that this device has requested or accepted (see [`crate::Entry::Promised`]), the oldest first.
    pub promised: Vec<MatchId>,
    /// Fresh randomness for nonces: 32 bytes used for nothing else.
    pub seed: [u8; 32],
}

/// Whether the journal's last entry about a match was [`crate::Entry::Settled`].
pub type Settled = bool;

/// This device's role in opening the link; breaks symmetry in protocol steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// This device connected.
    Dialer,
    /// The peer connected.
    Listener,
}

/// Inputs of a session.
#[derive(Clone, Debug)]
pub enum Input {
    /// A secure link to the peer is up, and replaces an older link, whose messages must not be handed in any more.
    LinkUp {
        /// This device's role.
        role: Role,
        /// The Noise handshake hash, from which the short string is derived.
        handshake_hash: [u8; 32],
    },
    /// The link is down.
    LinkDown,
    /// A message from the peer.
    Received(peer::Envelope),
    /// Part of a message has arrived: a long message over a slow carrier is no silence.
    Underway,
    /// A record that the peer sent by letter, without a link. A letter about an unknown match, or with nothing that applies
    /// without asking back, changes nothing.
    Letter(Box<peer::Record>),
    /// A command of the user, or of a bot in the user's seat.
    Command(Command),
    /// The time from `Idle` has come. Harmless at any other time.
    Tick,
}

/// The terms of a match.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The game and its rules.
    pub setup: Setup,
    /// The clocks; `None` for none.
    pub pace: Option<Pace>,
    /// Who moves first.
    pub colours: Colours,
    /// Whether both may take hints of their device, which the other is told of.
    pub hints: bool,
}

/// Who has which side, from this device's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// This device has this side.
    Mine(Side),
    /// This device has this side, the opposite of its side in the last match.
    Alternate(Side),
    /// Drawn by both devices when the invitation is accepted: each contributes a nonce that the other cannot predict.
    Random,
}

impl Colours {
    /// This device's side, if decided.
    pub fn my_side(self) -> Option<Side> {
        match self {
            Self::Mine(side) | Self::Alternate(side) => Some(side),
            Self::Random => None,
        }
    }
}

/// Commands of the user.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// The person's answer about the short string.
    Compare {
        /// The strings are the same on both screens.
        same: bool,
    },
    /// Invite the peer to a match.
    Invite {
        /// Fresh random bytes; becomes the match's id.
        id: MatchId,
        /// What to play, and how.
        terms: Terms,
        /// The peer's open invitation that this one counters with other terms.
        counters: Option<MatchId>,
    },
    /// Withdraw the invitation.
    Withdraw(MatchId),
    /// Start a match with an absent friend, who is asked by letter ([`crate::Session::letter`]). Without clocks and with decided
    /// sides.
    BeginByLetter {
        /// Fresh random bytes; becomes the match's id.
        id: MatchId,
        /// What to play.
        setup: Setup,
        /// This device's side.
        my_side: Side,
    },
    /// Accept the match proposed by a letter of the peer; see [`crate::asked_by_letter`].
    AcceptLetter(Box<peer::Record>),
    /// Answer the peer's invitation.
    AnswerInvite {
        /// The invitation's id.
        id: MatchId,
        /// `None` accepts.
        decline: Option<peer::DeclineReason>,
    },
    /// Play an action. Possible while the peer is away: the action is saved, and sent when the peer is back.
    Act {
        /// Which match.
        id: MatchId,
        /// The action.
        action: Action,
    },
    /// Count a hint for this side, which is to move, and tell the peer. At most one is counted for a position. Refused if the terms
    /// allow no hints.
    TakeHint(MatchId),
    /// Show a position to both after the end: the whole analysis, or `None` for the end of the record. See [`crate::Analysis`].
    Analyse {
        /// Which match.
        id: MatchId,
        /// The number of the record's actions, and the moves tried after them.
        at: Option<(u32, Vec<Action>)>,
    },
    /// Make an offer. If the peer has the same offer open, this accepts the peer's offer.
    Offer {
        /// Which match.
        id: MatchId,
        /// The kind of offer.
        kind: OfferKind,
    },
    /// Answer the peer's open offer.
    AnswerOffer {
        /// Whether to accept.
        id: MatchId,
        /// Yes or no.
        accept: bool,
    },
    /// Resign. Possible while the peer is away.
    Resign(MatchId),
    /// Chat with the peer in a match.
    Say {
        /// Which match.
        id: MatchId,
        /// The phrase or text.
        saying: Saying,
    },
    /// Show the peer any kept match, which its person may keep too.
    Give(Box<MatchRecord>),
    /// Tell the peer a club evening: see [`crate::club::message`]. Nothing is kept; tell it again on the next link.
    TellClub(Box<peer::Club>),
    /// Resolve diverged records ([`crate::Event::RecordsDiffer`]) in favour of the peer: its record replaces this device's.
    TakeTheirs(MatchId),
    /// Say goodbye and close the link; matches are saved.
    Leave(peer::ByeReason),
}

/// Why a command was refused, for the user. Nothing changed and nothing was sent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refused {
    /// No such match.
    #[error("no such match")]
    NoSuchMatch,
    /// No such open invitation.
    #[error("no such invitation")]
    NoSuchInvitation,
    /// There is no offer to answer.
    #[error("no such offer")]
    NoSuchOffer,
    /// An offer of either side is open already.
    #[error("another offer is open")]
    OfferOpen,
    /// The other side decides now.
    #[error("it is not your turn")]
    NotYourTurn,
    /// The rules refuse the action.
    #[error(transparent)]
    Illegal(#[from] engine::IllegalAction),
    /// The match is over (or, for a new game, is not over), or its records differ.
    #[error("not in this phase of the match")]
    WrongPhase,
    /// The match is paused.
    #[error("the match is paused")]
    Paused,
    /// This side's time is over.
    #[error("the time is over")]
    TimeOver,
    /// Nothing of this side's to take back.
    #[error("nothing to take back")]
    NothingToTakeBack,
    /// The record is as long as one may be ([`proto::limits::RECORD_ACTIONS`]).
    #[error("the record is full")]
    RecordFull,
    /// The peer is away. Actions are kept and sent later; invitations and offers need a connected peer.
    #[error("the peer is away")]
    Away,
    /// The strings have not been compared yet.
    #[error("compare the short string first")]
    NotCompared,
    /// No string waits for an answer.
    #[error("there is nothing to compare")]
    NothingToCompare,
    /// One invitation is open already.
    #[error("one invitation is open already")]
    InvitationOpen,
    /// The peer's device does not play this game.
    #[error("the peer does not have this game")]
    UnknownGame,
    /// The terms of this match allow no hints.
    #[error("no hints are agreed")]
    NoHints,
    /// The peer's version does not know hints in a match.
    #[error("the peer's version does not know hints in a match")]
    HintsUnknown,
    /// The peer's version does not know matches that begin from a position.
    #[error("the peer's version does not know matches from a position")]
    StartsUnknown,
    /// The peer's version does not know this opening rule of gomoku.
    #[error("the peer's version does not know this opening")]
    OpeningUnknown,
    /// The peer's version does not know xiangqi with repetition by the Chinese rules.
    #[error("the peer's version does not know repetition by the Chinese rules")]
    RepetitionUnknown,
    /// The setup makes no game.
    #[error(transparent)]
    Setup(#[from] engine::SetupError),
    /// The limit of matches with this peer is reached ([`crate::MAX_MATCHES`]).
    #[error("too many unfinished matches with this peer")]
    TooManyMatches,
    /// A match or an invitation has this id already.
    #[error("the id is taken")]
    IdTaken,
    /// The text is empty or too long: see [`Saying`].
    #[error("nothing that can be said")]
    Unsayable,
    /// Too many messages within a few seconds.
    #[error("too much at once: wait a moment")]
    TooFast,
}

/// A protocol violation of the peer, which ends the link. The matches stay for the next link.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// A message before the peer's hello.
    #[error("spoke before hello")]
    BeforeHello,
    /// A second hello, or a step out of order.
    #[error("{0} out of order")]
    OutOfOrder(&'static str),
    /// The revealed nonce, of a comparison or of drawn colours, does not match its commitment.
    #[error("the revealed nonce does not match its commitment")]
    BadReveal,
    /// An action by the side that is not to move, an illegal action, or a wrong digest.
    #[error("impossible action at ply {ply}")]
    BadPlay {
        /// The peer's ply number.
        ply: u32,
    },
    /// A field outside its bounds, checked here because the codec cannot know them.
    #[error("{0} is out of bounds")]
    OutOfBounds(&'static str),
    /// A message about a match from a peer that has not compared strings.
    #[error("{0} before the strings were compared")]
    NotCompared(&'static str),
}

/// The two kinds of error from `handle`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The user's command was refused.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The peer violated the protocol; `poll` returns a `Bye` and a `Close`.
    #[error(transparent)]
    Violation(#[from] Violation),
}
