//! The outputs of a session.

use std::time::Duration;

use engine::{Action, GameKind};
use proto::peer;

use crate::{Consent, Instant, MatchId, MatchRecord, MatchResult, OfferKind, Saying, Terms};

/// An output, to be carried out in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Send this over the link. Without a link, drop it: resuming sends again what is needed.
    Send(peer::Envelope),
    /// Tell the user.
    Event(Event),
    /// Close the link after the sent messages. The carrier then causes a `LinkDown`; until then the peer's messages are ignored.
    Close(peer::ByeReason),
    /// Nothing to do until the next input, or until this time, when a `Tick` is due.
    Idle {
        /// `None`: no timer.
        until: Option<Instant>,
    },
}

/// Durable storage of a session (a write-ahead log). [`crate::Session::poll`] keeps an entry before it returns anything that
/// depends on the entry.
pub trait Journal {
    /// Why an entry could not be kept.
    type Error;

    /// Writes an entry durably and atomically.
    fn keep(&mut self, entry: &Entry) -> Result<(), Self::Error>;
}

/// A journal in memory, for tests and examples.
impl Journal for Vec<Entry> {
    type Error = std::convert::Infallible;

    fn keep(&mut self, entry: &Entry) -> Result<(), Self::Error> {
        self.push(entry.clone());
        Ok(())
    }
}

/// An entry of the journal. Each is written atomically.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A person has compared strings: this key is a friend from now on. Replaces an earlier entry of the same key.
    Friend {
        /// The peer's name for itself.
        name: String,
        /// Recognises the peer's rotating tag.
        advert_key: [u8; 32],
    },
    /// A match begins (rarely with actions: a match that only the peer's journal still had). Replaces a match of the same id.
    Began(MatchRecord),
    /// The action number `ply` (1-based) of a match.
    Acted {
        /// Which match.
        id: MatchId,
        /// Length of the record with this action.
        ply: u32,
        /// The action.
        action: Action,
        /// With a pace: time of the action in milliseconds. [`MatchRecord::spent_ms`] becomes 0.
        took_ms: u32,
        /// The result after this action: mostly `None`.
        result: Option<MatchResult>,
    },
    /// This side has pressed in a race: the presses are appended to [`MatchRecord::run`], and [`MatchRecord::spent_ms`] is set.
    Pressed {
        /// Which match.
        id: MatchId,
        /// The new presses.
        pressed: Vec<Action>,
        /// The new `spent_ms`, in milliseconds.
        spent_ms: u32,
    },
    /// A whole run of a race has entered the record.
    Ran {
        /// Which match.
        id: MatchId,
        /// Length of the record with the run.
        ply: u32,
        /// The run's actions.
        run: Vec<Action>,
        /// Whether it is this side's run: then [`MatchRecord::run`] becomes empty and [`MatchRecord::spent_ms`] 0.
        mine: bool,
        /// The result after this run.
        result: Option<MatchResult>,
    },
    /// The record was truncated to `ply` actions; this clears the result, an own offer and [`MatchRecord::spent_ms`].
    TakenBack {
        /// Which match.
        id: MatchId,
        /// New length.
        ply: u32,
        /// New revision.
        revision: u32,
    },
    /// The match is over; this clears a pause.
    Ended {
        /// Which match.
        id: MatchId,
        /// Incremented if the end was agreed, which makes an own offer void, as every new revision does.
        revision: u32,
        /// The result.
        result: MatchResult,
    },
    /// The match is paused, or continues, by consent.
    Paused {
        /// Which match.
        id: MatchId,
        /// New revision; an own offer is void.
        revision: u32,
        /// Whether it is paused.
        paused: bool,
    },
    /// The clock was stopped: sets [`MatchRecord::spent_ms`].
    Spent {
        /// Which match.
        id: MatchId,
        /// The new value in milliseconds.
        spent_ms: u32,
    },
    /// Sets [`MatchRecord::offered`].
    Offered {
        /// Which match.
        id: MatchId,
        /// `None`: answered.
        offered: Option<Consent>,
    },
    /// Sets [`MatchRecord::hints`].
    Hinted {
        /// Which match.
        id: MatchId,
        /// The number of hints that each side has taken, first side first.
        hints: [u32; 2],
    },
    /// Replaces the whole record.
    Replaced(MatchRecord),
    /// This device has requested a match or a new game, or has accepted one whose colours are still being drawn. If the peer
    /// begins the match and resigns it before this device hears of either, the match may be learned. The last [`crate::PROMISES`]
    /// with each peer are kept, and given to [`crate::Config::promised`].
    Promised(MatchId),
    /// A promised match that the peer has begun and resigned before this device knew of either. Written, as settled, only if the
    /// journal has no match of this id: a peer must not rewrite the past. Fulfils the promise.
    Learned(MatchRecord),
    /// The match is over and the peer is known to have the same record: [`crate::Config::matches`] no longer needs it. A later
    /// entry about the match ends this state.
    Settled(MatchId),
}

impl Entry {
    /// The match of this entry.
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
            | Self::Hinted { id, .. }
            | Self::Settled(id) => Some(*id),
        }
    }
}

/// Events for the user.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Hellos were exchanged: the peer is connected. With a friend, the matches are in sync as far as this side can tell.
    Greeted {
        /// The peer's name for itself.
        name: String,
        /// The game that the peer's person would like to play, if sent.
        wish: Option<GameKind>,
    },
    /// No common protocol version: one device needs an update.
    NoCommonVersion {
        /// Whether the peer needs the update.
        peer_is_older: bool,
    },
    /// Show this string and ask whether the other screen shows the same.
    Comparing {
        /// What to show.
        string: ShortString,
        /// The name belongs to a friend with another key.
        known_name_new_key: bool,
    },
    /// The other person has answered yes (a no ends the comparison).
    ComparedThere,
    /// Both answered yes: a friend.
    Friends,
    /// One answered no, or left before answering.
    NotCompared,
    /// The peer invites to a match.
    Invited {
        /// Becomes the match's id.
        id: MatchId,
        /// The terms, with the colours from this device's point of view.
        terms: Terms,
        /// The own invitation that this one counters; it has ended.
        counters: Option<MatchId>,
        /// A match that only the peer's journal has, to be continued from `ply`.
        continued: bool,
        /// Above 0 only in a continued match.
        ply: u32,
        /// When the invitation expires.
        until: Instant,
    },
    /// An invitation of either side ended without a match.
    InvitationEnded {
        /// Which.
        id: MatchId,
        /// Whether it was this device's.
        mine: bool,
        /// Why.
        end: InvitationEnd,
    },
    /// A match has begun, or its record, result, offer, sync state or acknowledgement has changed: read `Session::matches`.
    MatchChanged(MatchId),
    /// The peer made an offer.
    Offered {
        /// In which match.
        id: MatchId,
        /// The kind.
        kind: OfferKind,
    },
    /// An offer of either side has ended.
    OfferEnded {
        /// In which match.
        id: MatchId,
        /// The kind.
        kind: OfferKind,
        /// Whether it was this device's.
        mine: bool,
        /// Whether it was accepted.
        accepted: bool,
    },
    /// The peer has taken a hint.
    HintTaken {
        /// In which match.
        id: MatchId,
    },
    /// The peer sent a chat message.
    Said {
        /// In which match.
        id: MatchId,
        /// The phrase or text.
        saying: Saying,
    },
    /// The peer shows a kept match, complete and legal. The session does not save the match, whose id may be known on this
    /// device.
    Gift(Box<MatchRecord>),
    /// The peer tells a club evening on its list, on which this device's person is. Nothing is saved.
    Club {
        /// Of the evening on the peer's device.
        number: u32,
        /// `None`: it is gone, or this person is not on the list any more.
        told: Option<Box<crate::club::ToldClub>>,
    },
    /// The shared analysis has changed: see [`crate::MatchState::analysis`].
    AnalysisChanged(MatchId),
    /// The peer reports a time for its turn that differs from this device's measurement by more than the link explains. The
    /// reported time counts anyway.
    ClocksDiffer {
        /// In which match.
        id: MatchId,
        /// The time that the peer reports.
        said: Duration,
        /// The time measured here.
        seen: Duration,
    },
    /// The records have diverged and neither device may decide alone; play stops at the last common ply until one person takes
    /// the other's record ([`crate::Command::TakeTheirs`]).
    RecordsDiffer {
        /// Which match.
        id: MatchId,
        /// Length of the common prefix.
        common: u32,
    },
    /// The journal's record of this match cannot be replayed; the match is left out.
    RecordUnreadable(MatchId),
    /// An acknowledgement is outstanding for 2 s (`true`), or has arrived (`false`).
    Weak(bool),
    /// The RTT, measured by a ping.
    RoundTrip(Duration),
    /// The peer said goodbye; the carrier then causes a `LinkDown`.
    Left(peer::ByeReason),
}

/// Why an invitation ended without a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvitationEnd {
    /// The other side declined.
    Declined(peer::DeclineReason),
    /// The inviter withdrew the invitation.
    Withdrawn,
    /// No answer for 60 s.
    TimedOut,
    /// Both invited at the same time, and this invitation of the other side stands. On equal terms it is accepted at once.
    Crossed(MatchId),
    /// The other side prefers other terms: its invitation replaces this one.
    Countered(MatchId),
    /// Colours were to be drawn, and the peer's reveal did not match its commitment.
    Cheated,
}

/// The short authentication string (SAS) that two people compare, derived from the handshake hash and both nonces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortString {
    /// Four of 64 pictures.
    pub emoji: [u8; 4],
    /// `482091`.
    pub digits: String,
}
