//! What goes into a session, and why it may be refused.

use std::time::Duration;

use engine::{Action, Setup, Side};
use proto::peer;

use crate::{MatchId, MatchRecord, OfferKind, Pace, Saying};

/// Time on this device since some fixed moment. Only differences mean anything; it never goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(pub Duration);

impl Instant {
    /// How long ago that was; zero if it is still to come.
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl std::ops::Add<Duration> for Instant {
    type Output = Self;

    fn add(self, later: Duration) -> Self {
        Self(self.0.saturating_add(later))
    }
}

/// Who this device is to the peer, and what of the past the session starts from.
#[derive(Clone, Debug)]
pub struct Config {
    /// Shown to the peer; made to fit [`proto::limits::fit_name`].
    pub name: String,
    /// Told to a compared peer, so that it recognises our rotating tag.
    pub advert_key: [u8; 32],
    /// Whether a person has compared strings with this key before.
    pub known: bool,
    /// A friend's name is claimed by this unknown key: the comparison says so.
    pub known_name_new_key: bool,
    /// Every match with this peer that is not settled (see [`crate::Entry::Settled`]), the oldest first. Settled ones may be
    /// among them, with `true`: the last one, say, so that a new game may follow it after a restart.
    pub matches: Vec<(MatchRecord, Settled)>,
    /// Matches that this device asked for or accepted (see [`crate::Entry::Promised`]), the oldest first.
    pub promised: Vec<MatchId>,
    /// Fresh randomness for nonces: 32 bytes of which nothing else is made.
    pub seed: [u8; 32],
}

/// Whether the journal's last word on a match was [`crate::Entry::Settled`].
pub type Settled = bool;

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
    /// A secure link to the peer stands. Replaces an older one, if any; nothing of the older one may be handed in any more.
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
    /// The peer is saying something that is not whole yet: a long message over a slow carrier is no silence.
    Underway,
    /// The peer has written about a match, by a way on which no link stands. What is not about a match of the session's, or adds
    /// nothing that may be taken in without asking back, changes nothing.
    Letter(Box<peer::Record>),
    /// The user, or a bot in the user's seat, wants something.
    Command(Command),
    /// The moment that `Idle` named has come. Harmless at any other time.
    Tick,
}

/// What two agree to play.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The game and its rules.
    pub setup: Setup,
    /// The clocks; `None` for none.
    pub pace: Option<Pace>,
    /// Who begins.
    pub colours: Colours,
}

/// Who has which side, as this device says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// This device has this side.
    Mine(Side),
    /// This device has this side, because it had the other the last time.
    Alternate(Side),
    /// Drawn by both devices when the invitation is accepted: each adds a number that the other cannot foresee.
    Random,
}

impl Colours {
    /// This device's side, if it is settled.
    pub fn my_side(self) -> Option<Side> {
        match self {
            Self::Mine(side) | Self::Alternate(side) => Some(side),
            Self::Random => None,
        }
    }
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
        /// Fresh random bytes; becomes the match's.
        id: MatchId,
        /// What to play, and how.
        terms: Terms,
        /// The peer's open invitation that this one answers: the same, but otherwise.
        counters: Option<MatchId>,
    },
    /// Take the invitation back.
    Withdraw(MatchId),
    /// Begin a match with a friend who is away and will be asked by letter ([`crate::Session::letter`]). No clocks, and the sides
    /// are settled.
    BeginByLetter {
        /// Fresh random bytes.
        id: MatchId,
        /// What to play.
        setup: Setup,
        /// This device's side.
        my_side: Side,
    },
    /// Play the match that a letter of the peer's asks for; see [`crate::asked_by_letter`].
    AcceptLetter(Box<peer::Record>),
    /// Answer the peer's invitation.
    AnswerInvite {
        /// Which.
        id: MatchId,
        /// `None` accepts.
        decline: Option<peer::DeclineReason>,
    },
    /// Play in a match. Possible while the peer is away: it is kept, and sent when the peer is back.
    Act {
        /// Which match.
        id: MatchId,
        /// What.
        action: Action,
    },
    /// Look at a position after the end, together: the whole of it, or `None` for the end of the record. See [`crate::Analysis`].
    Analyse {
        /// Which match.
        id: MatchId,
        /// The length of the record from which moves are tried, and these.
        at: Option<(u32, Vec<Action>)>,
    },
    /// Ask for consent. The same offer of the peer's, if open, is accepted by this.
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
    /// Give up. Possible while the peer is away.
    Resign(MatchId),
    /// Say something to the peer beside the board of a match.
    Say {
        /// Which match.
        id: MatchId,
        /// What.
        saying: Saying,
    },
    /// Show the peer a kept match, whichever it is, for its person to keep too.
    Give(Box<MatchRecord>),
    /// The records differ ([`crate::Event::RecordsDiffer`]), and this device's person gives way: the peer's replaces ours.
    TakeTheirs(MatchId),
    /// Say goodbye and close the link; matches are kept.
    Leave(peer::ByeReason),
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
    /// There is no offer to answer.
    #[error("no such offer")]
    NoSuchOffer,
    /// An offer of either side waits for its answer already.
    #[error("another offer is open")]
    OfferOpen,
    /// The other side decides now.
    #[error("it is not your turn")]
    NotYourTurn,
    /// The rules refuse the action.
    #[error(transparent)]
    Illegal(#[from] engine::IllegalAction),
    /// The match is over (or, for a new game, is not), or its records differ.
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
    /// The peer is away. Actions are kept and sent later; invitations and offers need it here.
    #[error("the peer is away")]
    Away,
    /// The strings have not been compared yet.
    #[error("compare the short string first")]
    NotCompared,
    /// No string is being compared, or it was answered already.
    #[error("there is nothing to compare")]
    NothingToCompare,
    /// One invitation is open already.
    #[error("one invitation is open already")]
    InvitationOpen,
    /// The peer's device does not play this game.
    #[error("the peer does not have this game")]
    UnknownGame,
    /// The setup makes no game.
    #[error(transparent)]
    Setup(#[from] engine::SetupError),
    /// As many matches with this peer go on as may ([`crate::MAX_MATCHES`]).
    #[error("too many unfinished matches with this peer")]
    TooManyMatches,
    /// A match or an invitation has this id already.
    #[error("the id is taken")]
    IdTaken,
    /// Nothing is said, or too much at once: see [`Saying`].
    #[error("nothing that can be said")]
    Unsayable,
    /// Too much was said within a few seconds.
    #[error("too much at once: wait a moment")]
    TooFast,
}

/// Why the peer's doing ends the link. Not the user's fault; the match waits for better behaviour.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// Something before its hello.
    #[error("spoke before hello")]
    BeforeHello,
    /// A second hello, or a step out of order.
    #[error("{0} out of order")]
    OutOfOrder(&'static str),
    /// The revealed nonce, of a comparison or of drawn colours, is not the committed one.
    #[error("the revealed nonce does not match its commitment")]
    BadReveal,
    /// A match action by the side that is not to move, or an illegal one, or with a wrong digest.
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
