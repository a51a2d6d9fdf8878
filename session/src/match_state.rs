//! One match as this device knows it: the record, its position, and the known state of the peer's record.

use std::time::Duration;

use bytes::Bytes;
use engine::{Action, AnyGame, AnyMove, Side};
use proto::limits::{self, RECORD_ACTIONS, REVISIONS};
use proto::peer;

use crate::analysis::Shared;
use crate::cx::Cx;
use crate::line::{Line, Unplayable};
use crate::racing::Racing;
use crate::{
    Consent, Entry, Event, Instant, MatchId, MatchRecord, MatchResult, OfferKind, Refused, ShownClock, wire,
};

/// Matches with one peer that are not settled: as many as a hello can name.
pub const MAX_MATCHES: usize = limits::RESUME_POINTS;

/// One match: record, position, open offers, and what may be done now.
#[derive(Clone)]
pub struct MatchState {
    pub(crate) line: Line,
    pub(crate) settled: bool,
    pub(crate) reach: Reach,
    /// Summary of the peer's record, as far as known. The peer's record may be ahead of this record while actions are in
    /// flight.
    pub(crate) there: Option<Standing>,
    /// Length of the peer's record when it resigned or timed out: its earlier actions still count when they arrive later.
    pub(crate) gave_up_at: u32,
    /// Number of the own offer on this link; the offer itself is `record.offered`.
    pub(crate) my_offer: Option<u32>,
    /// The own offer is sent again once the peer has reached this revision.
    pub(crate) offer_waits: bool,
    pub(crate) their_offer: Option<TheirOffer>,
    /// Last offer numbers of both sides on this link.
    pub(crate) last_offer: u32,
    pub(crate) last_offer_there: u32,
    /// The revision at which a new game has followed.
    pub(crate) followed: bool,
    /// Revision and length of the record for which this side's last hint was counted.
    pub(crate) hinted_at: Option<(u32, u32)>,
    /// Whether the whole record was sent on this link.
    pub(crate) record_sent: bool,
    /// The shared analysis after the end.
    pub(crate) shared: Shared,
    /// An analysis of the peer that arrived before the records were known to be equal, or faster than analyses are replayed.
    pub(crate) analysis_waits: Option<proto::peer::Analysis>,
    /// A drop stopped the clock within the present action: the two sides may have detected it at different times.
    pub(crate) interrupted: bool,
    /// The person was told in the present action that the peer's clock cannot be right.
    pub(crate) doubted: bool,
    /// State of a race beside its record.
    pub(crate) racing: Option<Racing>,
}

/// Synchronisation with the peer's copy of one match.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reach {
    /// No link, or hellos or the comparison are still outstanding.
    Away,
    /// The peer's hello did not list the match; it was sent the record and has not answered.
    Asked,
    /// In sync: each action is sent at once.
    Level,
    /// The records have diverged.
    Differs {
        /// The peer's record, once received.
        theirs: Option<Box<MatchRecord>>,
    },
}

/// An unanswered offer of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TheirOffer {
    pub(crate) id: u32,
    pub(crate) kind: OfferKind,
    /// Take back: length of the record afterwards.
    pub(crate) to_ply: u32,
    /// Whether the user was told. Not while an own offer is open: both could be accepted at the same time.
    pub(crate) shown: bool,
}

/// Summary of a record: equal summaries mean equal records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) revision: u32,
    pub(crate) ply: u32,
    pub(crate) digest: u64,
    pub(crate) result: Option<MatchResult>,
    pub(crate) paused: bool,
}

/// What the user sees.
impl MatchState {
    /// The match's id.
    pub fn id(&self) -> MatchId {
        self.line.record.id
    }

    /// The record in the journal.
    pub fn record(&self) -> &MatchRecord {
        &self.line.record
    }

    /// The position that the record makes.
    pub fn position(&self) -> &AnyGame {
        self.line.game()
    }

    /// Actions in the record.
    pub fn ply(&self) -> u32 {
        self.line.ply()
    }

    /// The digest of the record: equal on both devices if the actions are equal.
    pub fn digest(&self) -> u64 {
        self.line.digest()
    }

    /// The deciding side of each action, oldest first. In some games a side decides several times in a row.
    pub fn decided_by(&self) -> impl ExactSizeIterator<Item = Side> + '_ {
        self.line.decided_by()
    }

    /// How many actions of the record the peer is known to have. `None`: nothing heard of this match since the session began.
    pub fn seen_ply(&self) -> Option<u32> {
        self.there
            .filter(|there| there.revision == self.line.record.revision)
            .map(|there| there.ply.min(self.ply()))
    }

    /// Whether the match is over and the peer is known to have the same record.
    pub fn is_settled(&self) -> bool {
        self.settled
    }

    /// Whether the records are in sync, so that each action is sent at once.
    pub fn is_level(&self) -> bool {
        self.reach == Reach::Level
    }

    /// Whether play has stopped because the records have diverged; see [`crate::Event::RecordsDiffer`].
    pub fn differs(&self) -> bool {
        matches!(self.reach, Reach::Differs { .. })
    }

    /// The own open offer.
    pub fn my_offer(&self) -> Option<OfferKind> {
        self.line.record.offered.map(|offered| offered.kind)
    }

    /// The peer's open offer.
    pub fn their_offer(&self) -> Option<OfferKind> {
        self.their_offer.filter(|offer| offer.shown).map(|offer| offer.kind)
    }

    /// Whether an action of this side may be legal now.
    pub fn can_act(&self) -> bool {
        self.check_can_act().is_ok()
    }

    /// Whether this side may offer a take back of its last decision now.
    pub fn can_take_back(&self) -> bool {
        self.check_can_offer(OfferKind::TakeBack).is_ok()
    }

    /// Whether this side may offer a draw now.
    pub fn can_offer_draw(&self) -> bool {
        self.check_can_offer(OfferKind::Draw).is_ok()
    }

    /// Whether this side may offer a new game now.
    pub fn can_new_game(&self) -> bool {
        self.check_can_offer(OfferKind::NewGame).is_ok()
    }

    /// Whether this side may make an offer of this kind now.
    pub fn can_offer(&self, kind: OfferKind) -> bool {
        self.check_can_offer(kind).is_ok()
    }

    /// A side's clock at `now`; `None` without a pace.
    pub fn clock(&self, side: Side, now: Instant) -> Option<ShownClock> {
        self.line.clock(side, now)
    }

    /// Whether this side may resign now.
    pub fn can_resign(&self) -> bool {
        self.line.record.result.is_none() && !self.differs()
    }
}

impl MatchState {
    /// Makes a match of a record. If the position is over and the record lacks the result, the result is added.
    pub(crate) fn new(record: MatchRecord) -> Result<Self, Unplayable> {
        // With this bound, the revision never overflows later.
        if record.revision > REVISIONS {
            return Err(Unplayable);
        }
        let times = if record.pace.is_some() { record.times.len() } else { record.actions.len() };
        if times != record.actions.len() || record.paused && record.result.is_some() {
            return Err(Unplayable);
        }
        let mut record = record;
        let run = std::mem::take(&mut record.run);
        let line = Line::new(record, RECORD_ACTIONS, true)?;
        let mut state = Self {
            shared: Shared::default(),
            analysis_waits: None,
            // A journal's clock was stopped by a drop or by the end of the program.
            interrupted: true,
            doubted: false,
            racing: Racing::new(line.game()),
            line,
            settled: false,
            reach: Reach::Away,
            there: None,
            gave_up_at: 0,
            my_offer: None,
            offer_waits: false,
            their_offer: None,
            last_offer: 0,
            last_offer_there: 0,
            followed: false,
            hinted_at: None,
            record_sent: false,
        };
        if state.is_race() {
            if matches!(state.line.game(), AnyGame::LightsOut(race) if race.is_within_run()) {
                return Err(Unplayable);
            }
            state.line.record.run = run;
            if state.restore_race().is_none() {
                // A race with an invalid run restarts the run; the match stays.
                state.line.record.run.clear();
                state.restore_race().expect("nothing was pressed");
            }
            state.rewatch();
        }
        let played = matches!(state.line.record.result, Some(MatchResult::Played(_)));
        if played && state.line.game().outcome().is_none() {
            return Err(Unplayable);
        }
        if state.line.record.offered.is_some_and(|offered| offered.revision != state.line.record.revision) {
            state.line.record.offered = None;
        }
        Ok(state)
    }

    pub(crate) fn my_side(&self) -> Side {
        self.line.record.my_side
    }

    pub(crate) fn their_side(&self) -> Side {
        self.line.record.my_side.other()
    }

    pub(crate) fn result(&self) -> Option<MatchResult> {
        self.line.record.result
    }

    pub(crate) fn revision(&self) -> u32 {
        self.line.record.revision
    }

    pub(crate) fn offered(&self) -> Option<Consent> {
        self.line.record.offered
    }

    pub(crate) fn record_offered(&mut self, offered: Option<Consent>) {
        self.line.record.offered = offered;
        self.my_offer = None;
    }

    pub(crate) fn set_result(&mut self, revision: u32, result: MatchResult) {
        self.line.record.revision = revision;
        self.line.record.result = Some(result);
        self.line.record.paused = false;
    }

    pub(crate) fn set_paused(&mut self, revision: u32, paused: bool) {
        self.line.record.revision = revision;
        self.line.record.paused = paused;
    }

    pub(crate) fn standing(&self) -> Standing {
        Standing {
            revision: self.line.record.revision,
            ply: self.ply(),
            digest: self.digest(),
            result: self.line.record.result,
            paused: self.line.record.paused,
        }
    }

    /// Whether an action of the peer that gives the record this length still counts.
    pub(crate) fn counts(&self, ply: u32) -> bool {
        !self.line.record.paused
            && match self.line.record.result {
                None => true,
                // An action that was in flight when this side resigned still counts, and may even have won.
                Some(MatchResult::Resigned(side) | MatchResult::TimedOut(side)) => {
                    side == self.my_side() || ply <= self.gave_up_at
                }
                Some(MatchResult::Played(_) | MatchResult::DrawAgreed) => false,
            }
    }

    /// Appends this side's presses in a race, with the time of the run.
    pub(crate) fn add_to_run(&mut self, actions: &[Action], spent_ms: u32) {
        self.line.record.run.extend(actions);
        self.line.record.spent_ms = spent_ms;
    }

    pub(crate) fn set_run(&mut self, run: Vec<Action>) {
        self.line.record.run = run;
    }

    /// Whether the peer's record, as summarised, is a prefix of this record or equal in length.
    pub(crate) fn begins_with(&self, there: &Standing) -> bool {
        self.line.digest_at(there.ply) == Some(there.digest)
    }

    /// The move of an action that `side` may play now.
    pub(crate) fn legal_move(&self, side: Side, action: Action) -> Result<AnyMove, Refused> {
        if self.line.game().outcome().is_none() && self.line.game().turn() != side {
            return Err(Refused::NotYourTurn);
        }
        if self.line.record.actions.len() >= RECORD_ACTIONS {
            return Err(Refused::RecordFull);
        }
        Ok(self.line.game().legal_move(action)?)
    }

    /// Appends a move that took `took_ms`, for which there must be time. The rules may end the match with it and override the
    /// earlier result.
    pub(crate) fn push(&mut self, action: Action, mv: AnyMove, took_ms: u32) {
        let by = self.line.game().turn();
        self.line.push(action, mv, took_ms);
        // In a race the own clock continues when the other side's run arrives.
        if !self.is_race() || by == self.my_side() {
            self.line.new_action();
            self.interrupted = false;
            self.doubted = false;
        }
    }

    /// Truncates the record by consent. This clears the result and the own offer.
    pub(crate) fn cut(&mut self, ply: u32, revision: u32) {
        let raced = self.is_race().then(|| (self.my_run(), self.line.timing()));
        self.line.cut(ply, revision);
        self.interrupted = false;
        self.doubted = false;
        self.shared = Shared::default();
        if let Some((run, (spent, since))) = raced {
            // This side's presses stay pressed and enter the record again.
            let took = match run.last() {
                Some(Action::Done(tenths)) => Duration::from_millis(u64::from(*tenths) * 100),
                _ => spent,
            };
            self.line.record.run = run;
            self.line.set_timing(took, since);
            self.restore_race().expect("it was pressed before");
        }
        self.record_offered(None);
        self.followed = false;
        self.there = None;
    }

    // Clocks.

    /// Whether the clock of the side to move should run: both sides are known to have the position.
    pub(crate) fn clock_should_run(&self) -> bool {
        if self.is_race() {
            return self.race_goes_on();
        }
        self.line.record.result.is_none()
            && !self.line.record.paused
            && self.is_level()
            && self.line.is_timed()
            && self.line.game().outcome().is_none()
            && (self.line.game().turn() == self.line.record.my_side || self.there_is_here())
    }

    /// Whether the peer is known to have exactly this record.
    fn there_is_here(&self) -> bool {
        self.there.is_some_and(|there| there.revision == self.line.record.revision && there.ply == self.ply())
    }

    /// Adopts the time that the side to move reports for its present action.
    pub(crate) fn set_spent(&mut self, spent_ms: u32) {
        self.line.set_spent(Duration::from_millis(spent_ms.into()));
        self.interrupted = false;
    }

    /// Clears the state of one link.
    fn forget_link(&mut self) {
        self.reach = Reach::Away;
        self.analysis_waits = None;
        self.interrupted = true;
        self.my_offer = None;
        self.offer_waits = false;
        self.their_offer = None;
        self.last_offer = 0;
        self.last_offer_there = 0;
        self.record_sent = false;
        if let Some(racing) = &mut self.racing {
            racing.link_lost();
        }
    }

    /// Handles the loss of the link: stops the clock and clears the link's state.
    pub(crate) fn link_lost(&mut self, cx: &mut Cx<'_>) {
        self.stop_clock(cx);
        let was_level = self.is_level();
        self.forget_link();
        if was_level {
            cx.tell(Event::MatchChanged(self.id()));
        }
    }

    /// Queues a journal entry of this match, which is no longer settled afterwards.
    pub(crate) fn keep(&mut self, cx: &mut Cx<'_>, entry: Entry) {
        self.settled = false;
        cx.effects.keep(entry);
    }

    /// The peer has begun this match with exactly this record.
    pub(crate) fn begun_there(&mut self, cx: &mut Cx<'_>) {
        self.there = Some(self.standing());
        self.settle(cx);
        self.send_ack(cx, false);
    }

    /// Continues from the peer's record, which may have grown.
    pub(crate) fn ask_for_rest(&mut self, cx: &mut Cx<'_>) {
        self.there = Some(self.standing());
        self.send_ack(cx, true);
    }

    /// Sends the reveal of this device's commitment, if colours were drawn.
    pub(crate) fn send_reveal(&mut self, cx: &mut Cx<'_>) {
        if let Some(nonce) = self.line.record.reveal {
            let (invite_id, nonce) = (wire::id_bytes(self.id()), Bytes::copy_from_slice(&nonce));
            cx.send_awaited(peer::Reveal { invite_id, nonce });
        }
    }

    pub(crate) fn check_can_act(&self) -> Result<(), Refused> {
        if self.is_race() {
            return self.check_can_press();
        }
        if self.line.record.result.is_some() || self.differs() {
            Err(Refused::WrongPhase)
        } else if self.line.record.paused {
            Err(Refused::Paused)
        } else if self.line.game().turn() != self.line.record.my_side {
            Err(Refused::NotYourTurn)
        } else if self.line.record.actions.len() >= RECORD_ACTIONS {
            Err(Refused::RecordFull)
        } else {
            Ok(())
        }
    }

    pub(crate) fn check_can_offer(&self, kind: OfferKind) -> Result<(), Refused> {
        if !self.is_level() {
            return Err(if self.differs() { Refused::WrongPhase } else { Refused::Away });
        }
        self.check_phase(kind)?;
        if kind == OfferKind::TakeBack && self.line.last_decision(self.my_side(), self.ply()).is_none() {
            return Err(Refused::NothingToTakeBack);
        }
        let same = self.their_offer().is_some_and(|theirs| theirs == kind && kind != OfferKind::TakeBack);
        if self.line.record.offered.is_some() || (self.their_offer.is_some() && !same) {
            return Err(Refused::OfferOpen);
        }
        Ok(())
    }

    /// Whether an offer of this kind is possible now, from either side. A match that ended by agreement or resignation has no
    /// take back.
    pub(crate) fn check_phase(&self, kind: OfferKind) -> Result<(), Refused> {
        let goes_on = self.line.record.result.is_none();
        let right = match kind {
            OfferKind::TakeBack => {
                // In a race there is no take back: a press is undone by another press.
                !self.is_race()
                    && !self.line.record.paused
                    && matches!(self.line.record.result, None | Some(MatchResult::Played(_)))
            }
            OfferKind::Draw => goes_on,
            OfferKind::NewGame | OfferKind::NewGameSame => !goes_on && !self.followed,
            OfferKind::Pause | OfferKind::Adjourn => goes_on && !self.line.record.paused,
            OfferKind::Continue => goes_on && self.line.record.paused,
        };
        if right { Ok(()) } else { Err(Refused::WrongPhase) }
    }
}
