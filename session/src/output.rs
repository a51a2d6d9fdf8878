//! What comes out of a session.

use std::time::Duration;

use engine::{Action, GameKind};
use proto::peer;

use crate::{Consent, Instant, MatchId, MatchRecord, MatchResult, OfferKind, Saying, Terms};

/// What is to be done, in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Give this to the link. If there is none any more, drop it: resuming sends again what is needed.
    Send(peer::Envelope),
    /// Tell the user.
    Event(Event),
    /// Close the link after what was sent. A `LinkDown` is expected from the carrier; until then the peer is not heard.
    Close(peer::ByeReason),
    /// Nothing more until an input, or until this moment, when a `Tick` is due.
    Idle {
        /// `None`: nothing is waited for.
        until: Option<Instant>,
    },
}

/// Where a session keeps what must not be lost. Given to [`crate::Session::poll`], which keeps an entry before it gives out
/// anything that depends on it.
pub trait Journal {
    /// Why an entry could not be kept.
    type Error;

    /// Writes an entry: durably and whole, or not at all.
    fn keep(&mut self, entry: &Entry) -> Result<(), Self::Error>;
}

/// In memory, for tests and examples.
impl Journal for Vec<Entry> {
    type Error = std::convert::Infallible;

    fn keep(&mut self, entry: &Entry) -> Result<(), Self::Error> {
        self.push(entry.clone());
        Ok(())
    }
}

/// A line of the journal. Each is written whole or not at all.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A person has compared strings: this key is a friend from now on. Replaces an earlier entry for the same key.
    Friend {
        /// As the peer calls itself.
        name: String,
        /// Recognises its rotating tag.
        advert_key: [u8; 32],
    },
    /// A match begins (rarely with actions: one that only the peer's journal still had). Replaces a match of the same id.
    Began(MatchRecord),
    /// The action number `ply` (1-based) of a match.
    Acted {
        /// Which match.
        id: MatchId,
        /// Length of the record with this action.
        ply: u32,
        /// What.
        action: Action,
        /// With a pace: milliseconds that it took. [`MatchRecord::spent_ms`] is 0 again.
        took_ms: u32,
        /// The result of the match with this action: mostly `None`.
        result: Option<MatchResult>,
    },
    /// In a race this side has pressed: [`MatchRecord::run`] has these actions more, and [`MatchRecord::spent_ms`] is this.
    Pressed {
        /// Which match.
        id: MatchId,
        /// What comes after the rest of the run.
        pressed: Vec<Action>,
        /// Milliseconds.
        spent_ms: u32,
    },
    /// In a race a whole run has entered the record.
    Ran {
        /// Which match.
        id: MatchId,
        /// Length of the record with the run.
        ply: u32,
        /// The run's actions.
        run: Vec<Action>,
        /// It is this side's: [`MatchRecord::run`] is empty and [`MatchRecord::spent_ms`] 0 again.
        mine: bool,
        /// The result of the match with this run.
        result: Option<MatchResult>,
    },
    /// The record was cut to `ply` actions; a result, if any, is gone, and so are an own offer and [`MatchRecord::spent_ms`].
    TakenBack {
        /// Which match.
        id: MatchId,
        /// New length.
        ply: u32,
        /// New revision.
        revision: u32,
    },
    /// The match is over, and no longer paused.
    Ended {
        /// Which match.
        id: MatchId,
        /// Grows when the end was agreed upon; an own offer is void then, as always when the revision is another.
        revision: u32,
        /// How.
        result: MatchResult,
    },
    /// The match is paused, or goes on, by consent.
    Paused {
        /// Which match.
        id: MatchId,
        /// New revision; an own offer is void.
        revision: u32,
        /// Whether it is paused now.
        paused: bool,
    },
    /// [`MatchRecord::spent_ms`] is this from now on: the clock was stopped.
    Spent {
        /// Which match.
        id: MatchId,
        /// Milliseconds.
        spent_ms: u32,
    },
    /// [`MatchRecord::offered`] is this from now on.
    Offered {
        /// Which match.
        id: MatchId,
        /// `None`: answered.
        offered: Option<Consent>,
    },
    /// The whole record is this from now on.
    Replaced(MatchRecord),
    /// This device has asked for a match or for a new game, or has accepted one whose colours are still drawn: should the peer
    /// begin it and give it up before this device hears of either, it may be learnt. The last [`crate::PROMISES`] with each peer are kept, and given
    /// to [`crate::Config::promised`].
    Promised(MatchId),
    /// A promised match that the peer has begun and given up before this device knew of either. Written, as settled, only if
    /// the journal has none of this id: a peer must not rewrite the past. It ends the promise.
    Learned(MatchRecord),
    /// The match is over and the peer is known to hold the same record: it need not be given to [`crate::Config::matches`]
    /// any more. Every later entry about the match ends that.
    Settled(MatchId),
}

impl Entry {
    /// Which match the line is about.
    pub fn match_id(&self) -> Option<MatchId> {
        match self {
            Self::Friend { .. } | Self::Promised(_) => None,
            Self::Began(record) | Self::Replaced(record) | Self::Learned(record) => Some(record.id),
            Self::Acted { id, .. }
            | Self::Pressed { id, .. }
            | Self::Ran { id, .. }
            | Self::TakenBack { id, .. }
            | Self::Ended { id, .. }
            | Self::Paused { id, .. }
            | Self::Spent { id, .. }
            | Self::Offered { id, .. }
            | Self::Settled(id) => Some(*id),
        }
    }
}

/// What the user is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Hellos were exchanged: the peer is here under this name. Unless strings are compared first, matches are level as far as
    /// one side can say.
    Greeted {
        /// As the peer calls itself.
        name: String,
        /// What its person would like to play, if it says.
        wish: Option<GameKind>,
    },
    /// No common protocol version: an update is needed on one side.
    NoCommonVersion {
        /// The other device has to be updated, else this one.
        peer_is_older: bool,
    },
    /// Show this string and ask whether the other screen shows the same.
    Comparing {
        /// What to show.
        string: ShortString,
        /// The name belongs to a friend with another key.
        known_name_new_key: bool,
    },
    /// The other person has answered (with yes; a no ends the comparison).
    ComparedThere,
    /// Both said the same: a friend.
    Friends,
    /// One said different, or went away before an answer.
    NotCompared,
    /// The peer asks for a match.
    Invited {
        /// Becomes the match's.
        id: MatchId,
        /// What to play, with the colours as this device would have them.
        terms: Terms,
        /// The own invitation that this one answers; that has ended.
        counters: Option<MatchId>,
        /// More than 0: a match that only the peer's journal knows, to be continued from this ply.
        ply: u32,
        /// It ends by itself then.
        until: Instant,
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
    /// A match began, or its record, result, offer, reach or acknowledgement changed: look at `Session::matches`.
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
    /// The peer says something beside the board.
    Said {
        /// In which match.
        id: MatchId,
        /// What.
        saying: Saying,
    },
    /// The peer shows a kept match of its own, whole and legal. Nothing of it is saved; its id may be one that is known here.
    Gift(Box<MatchRecord>),
    /// What both look at after the end has changed: see [`crate::MatchState::analysis`].
    AnalysisChanged(MatchId),
    /// The peer's own measure of a turn is not what was seen here, by more than the link explains. Its word counts all the same.
    ClocksDiffer {
        /// In which match.
        id: MatchId,
        /// What the peer says that it used.
        said: Duration,
        /// What was seen here.
        seen: Duration,
    },
    /// Records differ in a way that neither device may decide alone; play stops at the last common ply until one person takes
    /// the other's record ([`crate::Command::TakeTheirs`]).
    RecordsDiffer {
        /// Which match.
        id: MatchId,
        /// How many actions are the same.
        common: u32,
    },
    /// The journal's record of this match cannot be replayed; it is left out.
    RecordUnreadable(MatchId),
    /// No acknowledgement for 2 s (`true`), or it came (`false`).
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
    /// Both invited at the same time, and this invitation of the other's stands. If both asked for the same it is accepted with
    /// that.
    Crossed(MatchId),
    /// The other would rather play otherwise: this invitation of theirs takes its place.
    Countered(MatchId),
    /// Colours were to be drawn, and the peer broke the rules of drawing.
    Cheated,
}

/// What two people compare, cut from the handshake and both nonces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortString {
    /// Four of 64 pictures.
    pub emoji: [u8; 4],
    /// `482091`.
    pub digits: String,
}
