//! What goes into a session and what comes out.

use std::time::Duration;

use engine::{Action, Outcome, Setup, Side};
use proto::peer;

/// Time on this device since some fixed moment. Only differences mean anything; it never goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(pub Duration);

/// Names a match on both devices: 16 random bytes drawn by the inviter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MatchId(pub [u8; 16]);

/// Who this device is to the peer, and what of the past the session starts from.
#[derive(Clone, Debug)]
pub struct Config {
    /// Shown to the peer; at most 32 characters.
    pub name: String,
    /// Told to a compared peer, so that it recognises our rotating tag.
    pub advert_key: [u8; 32],
    /// The peer's static key as the secure channel proved it.
    pub peer_key: [u8; 32],
    /// Whether a person has compared strings with this key before.
    pub known: bool,
    /// A friend's name is claimed by this unknown key: the comparison says so.
    pub known_name_new_key: bool,
    /// Unfinished matches with this peer, from the journal.
    pub matches: Vec<MatchRecord>,
    /// Fresh randomness for nonces and match ids; 32 bytes of which nothing else is made.
    pub seed: [u8; 32],
}

/// A match as the journal keeps it: both devices' are equal.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchRecord {
    /// Same on both devices.
    pub id: MatchId,
    /// What is played.
    pub setup: Setup,
    /// This device's side.
    pub my_side: Side,
    /// Every action so far, oldest first. A match is its setup plus this list.
    pub actions: Vec<Action>,
    /// Grows with every take back, so that a shorter record can be the newer one.
    pub revision: u32,
    /// `None` while it goes on.
    pub result: Option<MatchResult>,
}

/// How a match ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchResult {
    /// By the rules of the game.
    Played(Outcome),
    /// This side gave up.
    Resigned(Side),
    /// By consent.
    DrawAgreed,
}

/// How this end of the link came to be; decides who speaks first where somebody must.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// This device connected.
    Dialer,
    /// The peer connected.
    Listener,
}

/// What happens to a session.
#[derive(Clone, Debug)]
pub enum Input {
    /// A secure link to the peer stands. Replaces an older one, if any.
    LinkUp {
        /// Which end this is.
        role: Role,
        /// Of the Noise handshake: what the short string is cut from.
        handshake_hash: [u8; 32],
    },
    /// The link is gone.
    LinkDown,
    /// The peer says something.
    Received(peer::Envelope),
    /// The user, or a bot in the user's seat, wants something.
    Command(Command),
    /// The moment that `Idle` named has come. Harmless at any other time.
    Tick,
}

/// What the user wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// The person's verdict on the short string.
    Compare {
        /// The strings are the same on both screens.
        same: bool,
    },
    /// Ask for a match.
    Invite {
        /// Fresh; becomes the match's.
        id: MatchId,
        /// What to play.
        setup: Setup,
        /// The side that this device takes.
        my_side: Side,
    },
    /// Take the invitation back.
    Withdraw(MatchId),
    /// Answer the peer's invitation.
    AnswerInvite {
        /// Which.
        id: MatchId,
        /// `None` accepts.
        decline: Option<peer::DeclineReason>,
    },
    /// Play in a match.
    Act {
        /// Which match.
        id: MatchId,
        /// What.
        action: Action,
        /// Own measure of the thinking time.
        thought: Duration,
    },
    /// Ask for consent.
    Offer {
        /// Which match.
        id: MatchId,
        /// To what.
        kind: OfferKind,
    },
    /// Answer the peer's open offer.
    AnswerOffer {
        /// Which match.
        id: MatchId,
        /// Yes or no.
        accept: bool,
    },
    /// Give up.
    Resign(MatchId),
    /// Say goodbye and close the link; matches are kept.
    Leave(peer::ByeReason),
}

/// What needs the other's consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OfferKind {
    /// Back to the offerer's last decision, whoever has moved since.
    TakeBack,
    /// End the match as a draw.
    Draw,
    /// Another match of the same setup with colours swapped, after the end.
    NewGame,
}

/// Why a command was not done. The user's affair: shown and forgotten; nothing changed and nothing was sent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refused {
    /// No such match.
    #[error("no such match")]
    NoSuchMatch,
    /// No such invitation, or it is over.
    #[error("no such invitation")]
    NoSuchInvitation,
    /// There is no offer to answer, or one of this side's is open already.
    #[error("no such offer")]
    NoSuchOffer,
    /// The other side decides now.
    #[error("it is not your turn")]
    NotYourTurn,
    /// The rules refuse the action.
    #[error(transparent)]
    Illegal(#[from] engine::IllegalAction),
    /// The match is over (or, for a new game, is not).
    #[error("not in this phase of the match")]
    WrongPhase,
    /// Nothing of this side's to take back.
    #[error("nothing to take back")]
    NothingToTakeBack,
    /// The peer is away. Actions are kept and sent later; invitations and offers need it here.
    #[error("the peer is away")]
    Away,
    /// The strings have not been compared yet.
    #[error("compare the short string first")]
    NotCompared,
    /// One invitation is open already.
    #[error("one invitation is open already")]
    InvitationOpen,
}

/// Why the peer's doing ends the link. Not the user's fault; the match waits for better behaviour.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// Something before its hello.
    #[error("spoke before hello")]
    BeforeHello,
    /// A second hello, or a pairing step out of order.
    #[error("{0} out of order")]
    OutOfOrder(&'static str),
    /// The revealed nonce is not the committed one.
    #[error("the revealed nonce does not match its commitment")]
    BadReveal,
    /// A match action by the side that is not to move, or an illegal one, or with a wrong number.
    #[error("impossible action at ply {ply}")]
    BadPlay {
        /// As the peer numbered it.
        ply: u32,
    },
    /// A field out of its bounds that the codec cannot know.
    #[error("{0} is out of bounds")]
    OutOfBounds(&'static str),
    /// Play without having compared strings.
    #[error("{0} before the strings were compared")]
    NotCompared(&'static str),
}

/// Both errors that `handle` may give.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The user's command was not done.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The peer broke the protocol; `poll` gives a `Bye` and a `Close`.
    #[error(transparent)]
    Violation(#[from] Violation),
}

/// What is to be done, in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Write this before polling again. If that fails, drop the session and start it again from what the journal holds.
    Save(Entry),
    /// Give this to the link. If there is none any more, drop it: resuming sends again what is needed.
    Send(peer::Envelope),
    /// Tell the user.
    Event(Event),
    /// Close the link after what was sent.
    Close(peer::ByeReason),
    /// Nothing more until an input, or until this moment, when a `Tick` is due.
    Idle {
        /// `None`: nothing is waited for.
        until: Option<Instant>,
    },
}

/// A line of the journal.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A person has compared strings: this key is a friend from now on.
    Friend {
        /// As the peer calls itself.
        name: String,
        /// Recognises its rotating tag.
        advert_key: [u8; 32],
    },
    /// A match begins.
    Began(MatchRecord),
    /// The action number `ply` (1-based) of a match.
    Acted {
        /// Which match.
        id: MatchId,
        /// Length of the record with this action.
        ply: u32,
        /// What.
        action: Action,
    },
    /// The record was cut to `ply` actions; a result, if any, is gone.
    TakenBack {
        /// Which match.
        id: MatchId,
        /// New length.
        ply: u32,
        /// New revision.
        revision: u32,
    },
    /// The match is over.
    Ended {
        /// Which match.
        id: MatchId,
        /// How.
        result: MatchResult,
    },
    /// The whole record was replaced by the peer's newer one.
    Replaced(MatchRecord),
}

/// What the user is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Hellos were exchanged: the peer is here under this name. Matches are being brought level.
    Greeted {
        /// As the peer calls itself.
        name: String,
    },
    /// No common protocol version: an update is needed on one side.
    NoCommonVersion,
    /// Show this string and ask whether the other screen shows the same.
    Comparing {
        /// What to show.
        string: ShortString,
        /// The name belongs to a friend with another key.
        known_name_new_key: bool,
    },
    /// The other person has answered.
    ComparedThere,
    /// Both said the same: a friend.
    Friends,
    /// One said different, or went away before an answer.
    NotCompared,
    /// The peer asks for a match.
    Invited {
        /// Becomes the match's.
        id: MatchId,
        /// What to play.
        setup: Setup,
        /// The side this device would take.
        my_side: Side,
    },
    /// An invitation of either side ended without a match.
    InvitationEnded {
        /// Which.
        id: MatchId,
        /// Whose.
        mine: bool,
        /// How.
        end: InvitationEnd,
    },
    /// A match began, or its record, result or acknowledgement changed: look at `Session::matches`.
    MatchChanged(MatchId),
    /// The peer made an offer.
    Offered {
        /// In which match.
        id: MatchId,
        /// What.
        kind: OfferKind,
    },
    /// An offer of either side is over.
    OfferEnded {
        /// In which match.
        id: MatchId,
        /// What.
        kind: OfferKind,
        /// Whose.
        mine: bool,
        /// Whether it was accepted.
        accepted: bool,
    },
    /// Records differ in a way that neither side may decide alone; play stops at the last common ply.
    RecordsDiffer {
        /// Which match.
        id: MatchId,
        /// How many actions are the same.
        common: u32,
    },
    /// No answer for a while, or answers come again.
    Weak(bool),
    /// Measured by a ping.
    RoundTrip(Duration),
    /// The peer says goodbye; a `LinkDown` follows from the carrier.
    Left(peer::ByeReason),
}

/// How an invitation ended without a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvitationEnd {
    /// The other said no.
    Declined(peer::DeclineReason),
    /// The inviter took it back.
    Withdrawn,
    /// Nobody answered for 60 s.
    TimedOut,
    /// The link was lost.
    LinkLost,
}

/// What two people compare, cut from the handshake and both nonces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortString {
    /// Four of 64 pictures.
    pub emoji: [u8; 4],
    /// `482091`.
    pub digits: String,
}
