//! A room: two seats at one record.

use std::fmt;
use std::time::Duration;

use engine::{Action, AnyGame, IllegalAction, Level, Side};
use proto::control;
use session::{Analysis, LocalCommand, LocalMatch, MatchId, MatchRecord, ShownClock, Undone};

use crate::consent::Offers;
use crate::show;

/// A player on another device: its static key as the secure channel proved it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlayerId(pub [u8; 32]);

impl PlayerId {
    /// Reads what `Display` prints: 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        parse_hex(text).map(Self)
    }
}

impl fmt::Display for PlayerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for PlayerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..4].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Who decides for one side of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seat {
    /// A person at this device.
    Here,
    /// This device.
    Bot(Level),
    /// A person, or whatever plays for that person, at another device.
    Peer(PlayerId),
    /// A person with a browser, by the name that they gave; empty: none yet. This device is the referee.
    Guest(String),
}

impl Seat {
    /// Two people at this device, or one alone.
    pub(crate) const BOTH_HERE: [Self; 2] = [Self::Here, Self::Here];

    /// Who sits where in a match with this player.
    pub(crate) fn with(peer: PlayerId, record: &MatchRecord) -> [Self; 2] {
        let mut seats = [Self::Peer(peer), Self::Peer(peer)];
        seats[record.my_side.index()] = Self::Here;
        seats
    }
}

/// Reads what a match's id prints.
pub(crate) fn parse_match_name(text: &str) -> Option<MatchId> {
    parse_hex(text).map(MatchId)
}

fn parse_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        let digit = |c: u8| (c as char).to_digit(16);
        *byte = (digit(pair[0])? * 16 + digit(pair[1])?) as u8;
    }
    Some(bytes)
}

/// What the record says cannot have been played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadRecord {
    #[error("the setup makes no game")]
    Setup,
    #[error("action {ply} is illegal: {why}")]
    Action { ply: u32, why: IllegalAction },
}

/// One match as this device shows it. The record is a copy: the peer's session owns it, or the local match.
pub(crate) struct Room {
    pub(crate) seats: [Seat; 2],
    /// A bot that plays for the person at this device, who may take the seat back.
    pub(crate) assists: [Option<Level>; 2],
    /// The match that this one is the next game of.
    pub(crate) follows: Option<MatchId>,
    /// What the two people offer each other, where one is a guest.
    pub(crate) offers: Offers,
    /// The match itself, where it is one without a peer.
    local: Option<LocalMatch>,
    /// Go, after two passes: for which ply and revision dead stones were proposed, or are being.
    pub(crate) counted: Option<(u32, u32)>,
    /// With a peer: the last action of this device that it has acknowledged, and the microseconds that took. 0 of none.
    pub(crate) seen_action: (u32, u32),
    record: MatchRecord,
    /// The record played from its setup.
    game: AnyGame,
    /// Whose decision each action was.
    deciders: Vec<Side>,
    /// The record in the game's notation.
    notation: Vec<String>,
    /// The record as players write it, where that is not the notation; else empty.
    spoken: Vec<control::Words>,
}

impl Room {
    /// Plays the record from its setup.
    pub(crate) fn new(record: MatchRecord, seats: [Seat; 2]) -> Result<Self, BadRecord> {
        let game = AnyGame::new(&record.setup).map_err(|_| BadRecord::Setup)?;
        let empty = MatchRecord { actions: Vec::new(), times: Vec::new(), ..record.clone() };
        let with_peer = seats.iter().any(|seat| matches!(seat, Seat::Peer(_)));
        let local = if with_peer { None } else { Some(LocalMatch::new(record.clone())) };
        let mut room = Self {
            seats,
            assists: [None; 2],
            follows: None,
            offers: Offers::default(),
            local: None,
            counted: None,
            seen_action: (0, 0),
            record: empty,
            game,
            deciders: Vec::new(),
            notation: Vec::new(),
            spoken: Vec::new(),
        };
        room.set_record(record)?;
        // What can be shown can be played.
        room.local = local.transpose().map_err(|_| BadRecord::Setup)?;
        Ok(room)
    }

    pub(crate) fn id(&self) -> MatchId {
        self.record.id
    }

    pub(crate) fn record(&self) -> &MatchRecord {
        &self.record
    }

    pub(crate) fn game(&self) -> &AnyGame {
        &self.game
    }

    pub(crate) fn notation(&self) -> &[String] {
        &self.notation
    }

    pub(crate) fn spoken(&self) -> &[control::Words] {
        &self.spoken
    }

    /// Takes over a record; what it has in common with the present one is not played again.
    pub(crate) fn set_record(&mut self, record: MatchRecord) -> Result<(), BadRecord> {
        let common = self.record.actions.iter().zip(&record.actions).take_while(|(a, b)| a == b).count();
        if common < self.record.actions.len() {
            self.game = AnyGame::new(&record.setup).map_err(|_| BadRecord::Setup)?;
            for action in &record.actions[..common] {
                self.game.act(*action).expect("it was played before");
            }
            self.deciders.truncate(common);
            self.notation.truncate(common);
            self.spoken.truncate(common);
        }
        for (ply, action) in (1..).zip(&record.actions).skip(common) {
            let notation = self.game.notation(*action);
            let spoken = show::spoken(&self.game, *action);
            let by = self.game.turn();
            self.game.act(*action).map_err(|why| BadRecord::Action { ply, why })?;
            self.deciders.push(by);
            self.notation.push(notation);
            self.spoken.extend(spoken);
        }
        self.record = record;
        Ok(())
    }

    /// Whether the rules allow this action now.
    pub(crate) fn may(&self, action: Action) -> Result<(), IllegalAction> {
        if self.record.result.is_some() {
            return Err(IllegalAction::Ended);
        }
        self.game.legal_move(action).map(drop)
    }

    // A match without a peer. With one the session has all this.

    /// Lets the match without a peer do something. Returns whether anything that is shown has changed.
    pub(crate) fn command<J: session::Journal>(
        &mut self,
        now: session::Instant,
        command: LocalCommand,
        journal: &mut J,
    ) -> Result<bool, Undone<J::Error>> {
        let Some(local) = &mut self.local else { return Ok(false) };
        let changed = local.handle(now, command, journal)?;
        let record = local.record().clone();
        let standing = |record: &MatchRecord| (record.actions.len(), record.revision, record.result);
        if standing(&record) != standing(&self.record) {
            self.offers.lapse();
        }
        self.set_record(record).expect("the match has played it");
        Ok(changed)
    }

    /// When the running clock comes to the end of what it shows.
    pub(crate) fn clock_due(&self, now: session::Instant) -> Option<session::Instant> {
        self.local.as_ref()?.due(now)
    }

    /// How long the present action may take in all, if there is a clock.
    pub(crate) fn left_for_action(&self) -> Option<Duration> {
        self.local.as_ref()?.left_for_action()
    }

    /// A side's clock; `None` without a pace.
    pub(crate) fn clock(&self, side: Side, now: session::Instant) -> Option<ShownClock> {
        self.local.as_ref()?.clock(side, now)
    }

    /// What is looked at after the end.
    pub(crate) fn analysis(&self) -> Option<&Analysis> {
        self.local.as_ref()?.analysis()
    }

    pub(crate) fn ply(&self) -> u32 {
        self.record.actions.len() as u32
    }

    /// Whose decision is next; `None` when the match is over.
    pub(crate) fn turn(&self) -> Option<Side> {
        (self.record.result.is_none() && self.game.outcome().is_none()).then(|| self.game.turn())
    }

    pub(crate) fn seat(&self, side: Side) -> &Seat {
        &self.seats[side.index()]
    }

    /// Whether what one side offers needs the other's consent: two people, of whom one is a guest.
    pub(crate) fn needs_consent(&self) -> bool {
        let person = |seat: &Seat| matches!(seat, Seat::Here | Seat::Guest(_));
        self.seats.iter().all(person) && self.seats != Seat::BOTH_HERE
    }

    /// The bot that decides for this side, if one does.
    pub(crate) fn bot(&self, side: Side) -> Option<Level> {
        match self.seat(side) {
            Seat::Bot(level) => Some(*level),
            Seat::Here => self.assists[side.index()],
            Seat::Peer(_) | Seat::Guest(_) => None,
        }
    }

    /// The other device, if there is one.
    /// A match against the device or of two people here in which nobody has made a move: whatever stands there, the device has put
    /// it. A race never is: what its people press is no action of the record before their runs are over.
    pub(crate) fn is_untouched(&self) -> bool {
        let begun_by_bot = matches!(self.seats[0], Seat::Bot(_));
        self.seats.iter().all(|seat| matches!(seat, Seat::Here | Seat::Bot(_)))
            && !self.record.setup.is_race()
            && self.record.result.is_none()
            && !self.record.paused
            && self.record.revision == 0
            && self.record.actions.len() <= usize::from(begun_by_bot)
    }

    pub(crate) fn peer(&self) -> Option<PlayerId> {
        self.seats.iter().find_map(|seat| match seat {
            Seat::Peer(key) => Some(*key),
            Seat::Here | Seat::Bot(_) | Seat::Guest(_) => None,
        })
    }

    /// Sides that a person at this device decides for now.
    pub(crate) fn mine(&self) -> impl Iterator<Item = Side> + '_ {
        Side::BOTH
            .into_iter()
            .filter(|side| *self.seat(*side) == Seat::Here && self.assists[side.index()].is_none())
    }

    /// Alone: the length of the record before the last decision of a person here.
    pub(crate) fn last_decision_here(&self) -> Option<u32> {
        self.local.as_ref()?.before_last_of(|side| *self.seat(side) == Seat::Here)
    }

    /// Without a peer: the length of the record before the last decision of this side.
    pub(crate) fn last_decision_of(&self, side: Side) -> Option<u32> {
        self.local.as_ref()?.before_last_of(|one| one == side)
    }

    /// A race without a peer, from this side's point of view.
    pub(crate) fn race(&self, side: Side, now: session::Instant) -> Option<session::Race> {
        self.local.as_ref()?.race(side, now)
    }

    /// Whether this side may press a light in a race without a peer.
    pub(crate) fn can_press(&self, side: Side) -> bool {
        self.local.as_ref().is_some_and(|local| local.can_press(side))
    }

    /// The presses of this side in a race without a peer.
    #[cfg(feature = "guest")]
    pub(crate) fn run_of(&self, side: Side) -> &[Action] {
        self.local.as_ref().map_or(&[], |local| local.run_of(side))
    }

    /// The side of the person at this device, where it is one alone, or of the first of two.
    pub(crate) fn side_here(&self) -> Option<Side> {
        Side::BOTH.into_iter().find(|side| *self.seat(*side) == Seat::Here)
    }

    /// Whose decision each action was.
    #[cfg(feature = "guest")]
    pub(crate) fn deciders(&self) -> &[Side] {
        &self.deciders
    }
}
