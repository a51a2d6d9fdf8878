//! A room: two seats at one record.

use std::fmt;
use std::time::Duration;

use engine::{Action, AnyGame, IllegalAction, Level, Side};
use proto::control;
use session::{Analysis, Clocks, MatchId, MatchRecord, MatchResult, ShownClock};
use tokio::time::Instant;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seat {
    /// A person at this device.
    Here,
    /// This device.
    Bot(Level),
    /// A person, or whatever plays for that person, at another device.
    Peer(PlayerId),
}

impl Seat {
    /// Who sits where in a match with this player.
    pub(crate) fn with(peer: PlayerId, record: &MatchRecord) -> [Self; 2] {
        let mut seats = [Self::Peer(peer); 2];
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

/// One match as this device shows it. For a match with a peer the session owns the record and this is a copy; otherwise it
/// is the original.
pub(crate) struct Room {
    pub(crate) seats: [Seat; 2],
    /// A bot that plays for the person at this device, who may take the seat back.
    pub(crate) assists: [Option<Level>; 2],
    /// The match that this one is the next game of.
    pub(crate) follows: Option<MatchId>,
    /// What is looked at after the end of a match without a peer; with one the session knows.
    pub(crate) analysis: Option<Analysis>,
    /// Without a peer, of the action that is being thought about: what it took before its clock last stopped, and since when
    /// the clock runs.
    spent: Duration,
    since: Option<Instant>,
    /// The clocks after each action, if there are any.
    clocks: Vec<Clocks>,
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
        let spent = Duration::from_millis(record.spent_ms.into());
        let mut room = Self {
            seats,
            assists: [None; 2],
            follows: None,
            analysis: None,
            spent: Duration::ZERO,
            since: None,
            clocks: Vec::new(),
            seen_action: (0, 0),
            record: empty,
            game,
            deciders: Vec::new(),
            notation: Vec::new(),
            spoken: Vec::new(),
        };
        room.set_record(record)?;
        room.spent = spent;
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
            self.clocks.truncate(common);
            self.spoken.truncate(common);
        }
        for (ply, action) in (1..).zip(&record.actions).skip(common) {
            let notation = self.game.notation(*action);
            let spoken = show::spoken(&self.game, *action);
            let (by, took) = (self.game.turn(), record.times.get(ply as usize - 1).copied().unwrap_or(0));
            self.game.act(*action).map_err(|why| BadRecord::Action { ply, why })?;
            self.deciders.push(by);
            self.notation.push(notation);
            self.spoken.extend(spoken);
            let before = self.clocks.last().copied().or_else(|| record.pace.map(Clocks::new));
            let took = Duration::from_millis(took.into());
            self.clocks.extend(before.map(|clocks| clocks.after(by, took, self.game.turn() != by)));
        }
        if self.record.actions.len() != record.actions.len() {
            (self.spent, self.since) = (Duration::ZERO, None);
        }
        if self.record.actions != record.actions || self.record.result != record.result {
            self.analysis = None;
        }
        self.record = record;
        Ok(())
    }

    /// The record after one more action, with its result if the game ends by it.
    pub(crate) fn after(&self, action: Action) -> Result<MatchRecord, IllegalAction> {
        if self.record.result.is_some() {
            return Err(IllegalAction::Ended);
        }
        let mut game = self.game.clone();
        game.act(action)?;
        let mut record = self.record.clone();
        record.actions.push(action);
        if record.pace.is_some() {
            record.times.push(if self.is_timed() { self.spent_ms() } else { 0 });
        }
        record.spent_ms = 0;
        record.result = game.outcome().map(MatchResult::Played);
        Ok(record)
    }

    // Clocks of a match without a peer. With a peer the session has them.

    fn clocks_now(&self) -> Option<Clocks> {
        self.clocks.last().copied().or_else(|| self.record.pace.map(Clocks::new))
    }

    /// Whether thinking costs time now: not while dead stones are agreed on.
    fn is_timed(&self) -> bool {
        self.record.pace.is_some() && self.game.legal_move(Action::Agree).is_err()
    }

    fn spent(&self) -> Duration {
        self.spent + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Milliseconds that the present action has taken.
    pub(crate) fn spent_ms(&self) -> u32 {
        u32::try_from(self.spent().as_millis()).unwrap_or(u32::MAX)
    }

    /// Starts the clock of whoever has the turn, or stops it. Returns whether it was stopped.
    pub(crate) fn check_clock(&mut self, stands: bool) -> bool {
        let should = !stands && self.turn().is_some() && !self.record.paused && self.is_timed();
        match (should, self.since) {
            (true, None) => self.since = Some(Instant::now()),
            (false, Some(_)) => {
                (self.spent, self.since) = (self.spent(), None);
                self.record.spent_ms = self.spent_ms();
                return true;
            }
            _ => {}
        }
        false
    }

    /// When the running clock comes to the end of what it shows.
    pub(crate) fn clock_deadline(&self) -> Option<Instant> {
        self.since?;
        let left = self.clock(self.game.turn())?.left;
        Some(Instant::now() + left)
    }

    /// Whether the time of whoever has the turn is over.
    pub(crate) fn time_is_over(&self) -> bool {
        let turn = self.game.turn();
        self.since.is_some() && self.clocks_now().is_some_and(|clocks| clocks.is_over(turn, self.spent()))
    }

    /// How long the present action may take in all, if there is a clock.
    pub(crate) fn left_for_action(&self) -> Option<Duration> {
        Some(self.clocks_now()?.left_for_action(self.game.turn()))
    }

    /// A side's clock; `None` without a pace.
    pub(crate) fn clock(&self, side: Side) -> Option<ShownClock> {
        let clocks = self.clocks_now()?;
        if self.record.result == Some(MatchResult::TimedOut(side)) {
            return Some(ShownClock { left: Duration::ZERO, byo_yomi: false, periods: 0, running: false });
        }
        let has_turn = self.turn() == Some(side);
        Some(clocks.shown(side, has_turn.then(|| self.spent()), has_turn && self.since.is_some()))
    }

    pub(crate) fn ply(&self) -> u32 {
        self.record.actions.len() as u32
    }

    /// Whose decision is next; `None` when the match is over.
    pub(crate) fn turn(&self) -> Option<Side> {
        (self.record.result.is_none() && self.game.outcome().is_none()).then(|| self.game.turn())
    }

    pub(crate) fn seat(&self, side: Side) -> Seat {
        self.seats[side.index()]
    }

    /// The bot that decides for this side, if one does.
    pub(crate) fn bot(&self, side: Side) -> Option<Level> {
        match self.seat(side) {
            Seat::Bot(level) => Some(level),
            Seat::Here => self.assists[side.index()],
            Seat::Peer(_) => None,
        }
    }

    /// The other device, if there is one.
    pub(crate) fn peer(&self) -> Option<PlayerId> {
        self.seats.iter().find_map(|seat| match seat {
            Seat::Peer(key) => Some(*key),
            Seat::Here | Seat::Bot(_) => None,
        })
    }

    /// Sides that a person at this device decides for now.
    pub(crate) fn mine(&self) -> impl Iterator<Item = Side> + '_ {
        Side::BOTH
            .into_iter()
            .filter(|side| self.seat(*side) == Seat::Here && self.assists[side.index()].is_none())
    }

    /// Alone: the length of the record before the last decision of a person here.
    pub(crate) fn last_decision_here(&self) -> Option<u32> {
        if self.peer().is_some() {
            return None;
        }
        let last = self.deciders.iter().rposition(|side| self.seat(*side) == Seat::Here)?;
        u32::try_from(last).ok()
    }
}
