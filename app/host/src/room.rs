//! A room: a record with its two seats.

use std::fmt;
use std::time::Duration;

use engine::{Action, AnyGame, IllegalAction, Level, Side};
use proto::control;
use session::{Analysis, LocalCommand, LocalMatch, MatchId, MatchRecord, ShownClock, Undone};

use crate::consent::Offers;
use crate::counting::Proposal;
use crate::show;

/// A player at another device, identified by its static public key, which the secure channel has authenticated.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlayerId(pub [u8; 32]);

impl PlayerId {
    /// Parses the format of `Display`: 64 hexadecimal digits.
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
    /// A bot of this device.
    Bot(Level),
    /// An engine that the user has added.
    Engine(EngineSeat),
    /// A player at another device.
    Peer(PlayerId),
    /// A guest with a browser, with the name that the guest has entered; empty before that. This device is the referee.
    Guest(String),
}

/// A seat that an engine plays, which is named in the list of added engines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineSeat {
    /// The engine's name.
    pub name: String,
    /// Time for each move, in seconds, 1 to 60.
    pub seconds: u8,
    /// Level of the bot of this device that stands in if the engine fails.
    pub stand_in: Level,
}

/// Whom an engine works for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlayedBy {
    /// This side of a match.
    Seat(MatchId, Side),
    /// The person in this room, who has asked for a hint.
    Hint(MatchId),
    /// The evaluation of a kept match.
    Judge,
}

impl Seat {
    /// Two people at this device, or one alone.
    pub(crate) const BOTH_HERE: [Self; 2] = [Self::Here, Self::Here];

    /// The seats of a match with this player.
    pub(crate) fn with(peer: PlayerId, record: &MatchRecord) -> [Self; 2] {
        let mut seats = [Self::Peer(peer), Self::Peer(peer)];
        seats[record.my_side.index()] = Self::Here;
        seats
    }
}

/// Parses the printed form of a match id.
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

/// Why a record cannot be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadRecord {
    #[error("the setup makes no game")]
    Setup,
    #[error("action {ply} is illegal: {why}")]
    Action { ply: u32, why: IllegalAction },
}

/// One match as this device shows it. The record is a copy; the original is in the peer's session or in the local match.
pub(crate) struct Room {
    pub(crate) seats: [Seat; 2],
    /// Bots that play for the user of this device, who can take the seat back.
    pub(crate) assists: [Option<Level>; 2],
    /// The match before this rematch.
    pub(crate) follows: Option<MatchId>,
    /// Open offers, if one of the two people is a guest.
    pub(crate) offers: Offers,
    /// The match, if it has no peer.
    local: Option<LocalMatch>,
    /// Go: the proposal of dead stones after two passes.
    pub(crate) proposal: Proposal,
    /// With a peer: the last action of this device that it has acknowledged, and the time that took in microseconds; 0 if
    /// none.
    pub(crate) seen_action: (u32, u32),
    record: MatchRecord,
    /// The position after the record.
    game: AnyGame,
    /// For each action, the side that decided on it.
    deciders: Vec<Side>,
    /// The record in the game's notation.
    notation: Vec<String>,
    /// The record in players' notation, if different from the notation; otherwise empty.
    spoken: Vec<control::Words>,
}

impl Room {
    /// Replays the record from its setup.
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
            proposal: Proposal::default(),
            seen_action: (0, 0),
            record: empty,
            game,
            deciders: Vec::new(),
            notation: Vec::new(),
            spoken: Vec::new(),
        };
        room.set_record(record)?;
        // A record that can be replayed can be played on.
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

    /// Replaces the record; only what differs from the present one is replayed.
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

    /// Whether this action is legal now.
    pub(crate) fn may(&self, action: Action) -> Result<(), IllegalAction> {
        if self.record.result.is_some() {
            return Err(IllegalAction::Ended);
        }
        self.game.legal_move(action).map(drop)
    }

    // Matches without a peer. With a peer, the session does all this.

    /// Executes a command of a match without a peer. Returns whether the display has changed.
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

    /// The next time at which the running clock reaches a limit.
    pub(crate) fn clock_due(&self, now: session::Instant) -> Option<session::Instant> {
        self.local.as_ref()?.due(now)
    }

    /// Total time for the present action; `None` without a clock.
    pub(crate) fn left_for_action(&self) -> Option<Duration> {
        self.local.as_ref()?.left_for_action()
    }

    /// A side's clock; `None` without a pace.
    pub(crate) fn clock(&self, side: Side, now: session::Instant) -> Option<ShownClock> {
        self.local.as_ref()?.clock(side, now)
    }

    /// The state of the analysis after the end.
    pub(crate) fn analysis(&self) -> Option<&Analysis> {
        self.local.as_ref()?.analysis()
    }

    pub(crate) fn ply(&self) -> u32 {
        self.record.actions.len() as u32
    }

    /// The side to move; `None` after the end.
    pub(crate) fn turn(&self) -> Option<Side> {
        (self.record.result.is_none() && self.game.outcome().is_none()).then(|| self.game.turn())
    }

    pub(crate) fn seat(&self, side: Side) -> &Seat {
        &self.seats[side.index()]
    }

    /// Whether offers of one side need the other's consent: two people, one of them a guest.
    pub(crate) fn needs_consent(&self) -> bool {
        let person = |seat: &Seat| matches!(seat, Seat::Here | Seat::Guest(_));
        self.seats.iter().all(person) && self.seats != Seat::BOTH_HERE
    }

    /// The level of the bot that decides for this side, if one does; of an engine that of the bot that stands in.
    pub(crate) fn bot(&self, side: Side) -> Option<Level> {
        match self.seat(side) {
            Seat::Bot(level) => Some(*level),
            Seat::Engine(engine) => Some(engine.stand_in),
            Seat::Here => self.assists[side.index()],
            Seat::Peer(_) | Seat::Guest(_) => None,
        }
    }

    /// The engine that decides for this side, if one does.
    pub(crate) fn engine(&self, side: Side) -> Option<&EngineSeat> {
        match self.seat(side) {
            Seat::Engine(engine) => Some(engine),
            Seat::Here | Seat::Bot(_) | Seat::Peer(_) | Seat::Guest(_) => None,
        }
    }

    /// Whether nobody has made an action in a match without a peer and without guests; what is on the board was placed by
    /// this device. False for races, whose presses enter the record only at the end of a run.
    pub(crate) fn is_untouched(&self) -> bool {
        let begun_by_bot = matches!(self.seats[0], Seat::Bot(_) | Seat::Engine(_));
        self.seats.iter().all(|seat| matches!(seat, Seat::Here | Seat::Bot(_) | Seat::Engine(_)))
            && !self.record.setup.is_race()
            && self.record.result.is_none()
            && !self.record.paused
            && self.record.revision == 0
            && self.record.actions.len() <= usize::from(begun_by_bot)
    }

    pub(crate) fn peer(&self) -> Option<PlayerId> {
        self.seats.iter().find_map(|seat| match seat {
            Seat::Peer(key) => Some(*key),
            Seat::Here | Seat::Bot(_) | Seat::Engine(_) | Seat::Guest(_) => None,
        })
    }

    /// Sides that a user of this device decides for now.
    pub(crate) fn mine(&self) -> impl Iterator<Item = Side> + '_ {
        Side::BOTH
            .into_iter()
            .filter(|side| *self.seat(*side) == Seat::Here && self.assists[side.index()].is_none())
    }

    /// Without a peer: length of the record before the last decision of a user of this device.
    pub(crate) fn last_decision_here(&self) -> Option<u32> {
        self.local.as_ref()?.before_last_of(|side| *self.seat(side) == Seat::Here)
    }

    /// Without a peer: length of the record before the last decision of this side.
    pub(crate) fn last_decision_of(&self, side: Side) -> Option<u32> {
        self.local.as_ref()?.before_last_of(|one| one == side)
    }

    /// The race without a peer, from the point of view of this side.
    pub(crate) fn race(&self, side: Side, now: session::Instant) -> Option<session::Race> {
        self.local.as_ref()?.race(side, now)
    }

    /// Whether this side may press in a race without a peer.
    pub(crate) fn can_press(&self, side: Side) -> bool {
        self.local.as_ref().is_some_and(|local| local.can_press(side))
    }

    /// The presses of this side in a race without a peer.
    #[cfg(feature = "guest")]
    pub(crate) fn run_of(&self, side: Side) -> &[Action] {
        self.local.as_ref().map_or(&[], |local| local.run_of(side))
    }

    /// The side of the user of this device; if both are, the first.
    pub(crate) fn side_here(&self) -> Option<Side> {
        Side::BOTH.into_iter().find(|side| *self.seat(*side) == Seat::Here)
    }

    /// For each action, the side that decided on it.
    #[cfg(feature = "guest")]
    pub(crate) fn deciders(&self) -> &[Side] {
        &self.deciders
    }

    /// Go: the position as ply and revision, if the last two actions are passes and a user of this device may mark dead stones
    /// now. `turn`: the side that may act now.
    pub(crate) fn waits_for_marks(&self, turn: Option<Side>) -> Option<(u32, u32)> {
        let passed = self.record.actions.last_chunk::<2>() == Some(&[Action::Pass; 2]);
        let is_person =
            |side: Side| matches!(self.seat(side), Seat::Here | Seat::Guest(_)) && self.bot(side).is_none();
        let is_go = matches!(self.game, AnyGame::Go(_));
        let waits = is_go && passed && !self.record.paused && is_person(turn?);
        waits.then(|| (self.ply(), self.record.revision))
    }
}

#[cfg(test)]
mod tests {
    use engine::GameKind;

    use super::*;

    fn room(kind: GameKind, actions: &[Action], seats: [Seat; 2]) -> Room {
        let mut record = MatchRecord::new(MatchId([1; 16]), kind.default_setup(), Side::First);
        record.actions = actions.to_vec();
        Room::new(record, seats).expect("a room")
    }

    const PASSES: [Action; 2] = [Action::Pass; 2];

    #[test]
    fn stones_are_proposed_after_two_passes_to_the_person_whose_turn_it_is() {
        let turn = Some(Side::First);
        let here = room(GameKind::Go, &PASSES, Seat::BOTH_HERE);
        assert_eq!(here.waits_for_marks(turn), Some((2, 0)));
        assert_eq!(here.waits_for_marks(None), None, "nobody may act");
        assert_eq!(room(GameKind::Go, &PASSES[..1], Seat::BOTH_HERE).waits_for_marks(turn), None);
        assert_eq!(room(GameKind::Gomoku, &[], Seat::BOTH_HERE).waits_for_marks(turn), None);
        let bot = [Seat::Bot(Level::MIN), Seat::Here];
        assert_eq!(room(GameKind::Go, &PASSES, bot.clone()).waits_for_marks(turn), None);
        assert_eq!(room(GameKind::Go, &PASSES, bot).waits_for_marks(Some(Side::Second)), Some((2, 0)));
        let guest = [Seat::Guest("Ann".into()), Seat::Here];
        assert_eq!(room(GameKind::Go, &PASSES, guest).waits_for_marks(turn), Some((2, 0)));
        let mut helped = room(GameKind::Go, &PASSES, Seat::BOTH_HERE);
        helped.assists[0] = Some(Level::MIN);
        assert_eq!(helped.waits_for_marks(turn), None, "a bot plays for the person");
    }

    #[test]
    fn no_mark_is_proposed_while_the_match_is_paused() {
        let mut record = MatchRecord::new(MatchId([1; 16]), GameKind::Go.default_setup(), Side::First);
        (record.actions, record.paused) = (PASSES.to_vec(), true);
        let paused = Room::new(record, Seat::BOTH_HERE).expect("a room");
        assert_eq!(paused.waits_for_marks(Some(Side::First)), None);
    }
}
