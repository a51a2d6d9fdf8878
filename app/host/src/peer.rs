//! A player at another device: friend or stranger, session, link, comparison of short strings.

use std::sync::atomic::Ordering;
use std::time::Duration;

use engine::GameKind;
use link::CarrierKind;
use proto::control;
use session::{LinkState, MatchId, MatchState, Role, Session, ShortString};
use tokio::time::Instant;

use crate::links::{LinkEnds, LinkId, Traffic};
use crate::refusal::Refusal;
use crate::room::PlayerId;
use crate::show;
use crate::store::{SavedFriend, StoreError};

/// The current link of a peer.
pub(crate) struct PeerLink {
    pub(crate) id: LinkId,
    pub(crate) role: Role,
    pub(crate) kind: CarrierKind,
    pub(crate) since: Instant,
    pub(crate) ends: LinkEnds,
    pub(crate) rssi_dbm: i16,
}

/// A player at another device.
pub(crate) struct Peer {
    pub(crate) key: PlayerId,
    /// The name in its last hello; may be empty before the first one.
    pub(crate) name: String,
    pub(crate) friend: Option<SavedFriend>,
    pub(crate) session: Session,
    /// This device's name in the session's hello; when the name changes, the session is rebuilt.
    pub(crate) told_name: String,
    /// The wish in its last hello.
    pub(crate) wish: Option<GameKind>,
    pub(crate) link: Option<PeerLink>,
    /// When the last link was lost.
    pub(crate) lost: Option<Instant>,
    /// Carrier of the last link that was lost.
    pub(crate) lost_on: Option<CarrierKind>,
    /// It has said goodbye.
    pub(crate) left: bool,
    /// When the session needs its next tick.
    pub(crate) tick: Option<Instant>,
    /// Set after a failed write: the session is rebuilt from the journal at this time, and does nothing before.
    pub(crate) rebuild: Option<Instant>,
    pub(crate) comparison: Option<Comparison>,
    /// In the present link, or in the last one.
    pub(crate) interest: Interest,
    /// The last action of this device: match, ply, and when the host received the request.
    pub(crate) given: Option<(MatchId, u32, Instant)>,
}

/// What the user of this device has to do with a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Interest {
    /// Nothing: the peer has opened it.
    #[default]
    Nothing,
    /// The user was shown a short string.
    Shown,
    /// The user waits for what comes of it: this device has dialed, or the user has answered the comparison.
    Waits,
}

pub(crate) struct Comparison {
    pub(crate) string: ShortString,
    pub(crate) answered_here: bool,
    pub(crate) answered_there: bool,
    pub(crate) known_name_new_key: bool,
}

impl Peer {
    pub(crate) fn session_up(&self) -> bool {
        matches!(self.session.link(), LinkState::Up { .. })
    }

    pub(crate) fn match_state(&self, id: MatchId) -> Option<&MatchState> {
        self.session.match_state(id)
    }

    /// Matches that are not settled: not known to be equal and finished on both sides.
    pub(crate) fn unsettled(&self) -> impl Iterator<Item = &MatchState> {
        self.session.matches().filter(|state| !state.is_settled())
    }

    pub(crate) fn shown_link(&self, now: Instant, kind: CarrierKind) -> control::LinkState {
        use control::PeerLink as Shown;
        let state = match (self.session.link(), &self.link) {
            (LinkState::Up { weak: false }, Some(_)) => Shown::Up,
            (LinkState::Up { weak: true }, Some(_)) => Shown::Weak,
            _ if self.left => Shown::Left,
            _ => Shown::Lost,
        };
        let away = self.lost.filter(|_| self.link.is_none()).map_or(Duration::ZERO, |lost| now - lost);
        let mut shown = control::LinkState {
            carrier: show::carrier(self.link.as_ref().map(|link| link.kind).or(self.lost_on).unwrap_or(kind))
                .into(),
            state: state.into(),
            away_ms: away.as_millis() as u32,
            round_trip_ms: self.session.round_trip().map_or(0, |time| time.as_millis() as u32),
            ..control::LinkState::default()
        };
        if let Some(link) = &self.link {
            let Traffic { bytes_sent, bytes_received, messages_sent, messages_received, .. } =
                &*link.ends.traffic;
            shown.rssi_dbm = link.rssi_dbm.into();
            shown.bytes_sent = bytes_sent.load(Ordering::Relaxed);
            shown.bytes_received = bytes_received.load(Ordering::Relaxed);
            shown.messages_sent = messages_sent.load(Ordering::Relaxed);
            shown.messages_received = messages_received.load(Ordering::Relaxed);
        }
        shown
    }

    /// Whether a short string is shown.
    pub(crate) fn is_comparing(&self) -> bool {
        self.comparison.is_some()
    }

    /// Whether the user has confirmed the short string.
    pub(crate) fn has_answered(&self) -> bool {
        self.comparison.as_ref().is_some_and(|comparison| comparison.answered_here)
    }

    /// `name`: the displayed name.
    pub(crate) fn shown_comparison(&self, name: String) -> Option<control::Comparison> {
        self.comparison.as_ref().map(|comparison| control::Comparison {
            peer: self.key.to_string(),
            name,
            emoji: comparison.string.emoji.iter().map(|number| u32::from(*number)).collect(),
            digits: comparison.string.digits.clone(),
            answered_here: comparison.answered_here,
            answered_there: comparison.answered_there,
            known_name_new_key: comparison.known_name_new_key,
        })
    }

    pub(crate) fn uses(&self, id: LinkId) -> bool {
        self.link.as_ref().is_some_and(|link| link.id == id)
    }
}

/// Why a session did not execute a command.
pub(crate) enum DriveError {
    Refused(session::Refused),
    Disk(StoreError),
}

impl From<DriveError> for Refusal {
    fn from(error: DriveError) -> Self {
        match error {
            DriveError::Refused(refused) => refused.into(),
            DriveError::Disk(error) => error.into(),
        }
    }
}
