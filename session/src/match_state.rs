//! One match as this device knows it: the record, the position it makes, and what is known of the peer's record.

use std::time::Duration;

use bytes::Bytes;
use engine::{Action, AnyGame, AnyMove, Side};
use proto::limits::{RECORD_ACTIONS, REVISIONS};
use proto::peer;

use crate::analysis::Shared;
use crate::cx::Cx;
use crate::line::{Line, Unplayable};
use crate::race::Racing;
use crate::resume;
use crate::{
    Consent, Entry, Event, Instant, MatchId, MatchRecord, MatchResult, OfferKind, Refused, ShownClock,
};

/// One match: record, position, open offers, and what may be done now.
#[derive(Clone)]
pub struct MatchState {
    pub(crate) line: Line,
    pub(crate) settled: bool,
    pub(crate) reach: Reach,
    /// What the peer is known to hold. It may be ahead of ours while the rest is on its way.
    pub(crate) there: Option<Standing>,
    /// The length of the peer's record when it gave up: what it played before that still counts when it comes later.
    pub(crate) gave_up_at: u32,
    /// The number under which the own offer was sent on this link; the offer itself is `record.offered`.
    pub(crate) my_offer: Option<u32>,
    /// The own offer is sent again once the peer has come to our revision.
    pub(crate) offer_waits: bool,
    pub(crate) their_offer: Option<TheirOffer>,
    /// Numbers of the last offers of both sides on this link.
    pub(crate) last_offer: u32,
    pub(crate) last_offer_there: u32,
    /// A new game has followed at this revision.
    pub(crate) followed: bool,
    /// The whole record was sent on this link.
    pub(crate) record_sent: bool,
    /// What both look at after the end.
    pub(crate) shared: Shared,
    /// What the peer looks at, told before the match was level here.
    pub(crate) analysis_waits: Option<proto::peer::Analysis>,
    /// A drop stopped the clock within the present action: the two sides may have noticed it at different times.
    pub(crate) interrupted: bool,
    /// The person was told that the peer's clock cannot be right, in the present action.
    pub(crate) doubted: bool,
    /// What a race has beside its record.
    pub(crate) racing: Option<Racing>,
}

/// How far the peer can be reached in one match.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reach {
    /// No link, or the hellos and strings are still to come.
    Away,
    /// The peer did not name the match; it was sent the record and has not answered.
    Asked,
    /// What is done here is sent at once.
    Level,
    /// The records have gone different ways.
    Differs {
        /// The peer's, once it has come.
        theirs: Option<Box<MatchRecord>>,
    },
}

/// An offer of the peer's that waits for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TheirOffer {
    pub(crate) id: u32,
    pub(crate) kind: OfferKind,
    /// Take back: the length of the record afterwards.
    pub(crate) to_ply: u32,
    /// Whether the user was told. Not while an own offer waits for its answer: the two could be accepted at the same time.
    pub(crate) shown: bool,
}

/// A record in short: equal standings mean equal records.
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

    /// What the journal holds.
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

    /// The digest of the record: equal on both devices when the lists of actions are.
    pub fn digest(&self) -> u64 {
        self.line.digest()
    }

    /// Whose decision each action was, oldest first. In some games a side decides several times in a row.
    pub fn decided_by(&self) -> impl ExactSizeIterator<Item = Side> + '_ {
        self.line.decided_by()
    }

    /// How many of the record's actions the peer is known to hold. `None`: nothing was heard of it since this session began.
    pub fn seen_ply(&self) -> Option<u32> {
        self.there
            .filter(|there| there.revision == self.line.record.revision)
            .map(|there| there.ply.min(self.ply()))
    }

    /// Whether the match is over and the peer is known to hold the same record.
    pub fn is_settled(&self) -> bool {
        self.settled
    }

    /// Whether the peer gets at once what is done here.
    pub fn is_level(&self) -> bool {
        self.reach == Reach::Level
    }

    /// Whether play has stopped because both records went different ways; see [`crate::Event::RecordsDiffer`].
    pub fn differs(&self) -> bool {
        matches!(self.reach, Reach::Differs { .. })
    }

    /// The own offer that waits for its answer.
    pub fn my_offer(&self) -> Option<OfferKind> {
        self.line.record.offered.map(|offered| offered.kind)
    }

    /// The peer's offer that waits for an answer.
    pub fn their_offer(&self) -> Option<OfferKind> {
        self.their_offer.filter(|offer| offer.shown).map(|offer| offer.kind)
    }

    /// Whether an action of this side's may be legal now.
    pub fn can_act(&self) -> bool {
        self.check_can_act().is_ok()
    }

    /// Whether this side may ask to take back its last decision now.
    pub fn can_take_back(&self) -> bool {
        self.check_can_offer(OfferKind::TakeBack).is_ok()
    }

    /// Whether this side may offer a draw now.
    pub fn can_offer_draw(&self) -> bool {
        self.check_can_offer(OfferKind::Draw).is_ok()
    }

    /// Whether this side may ask for a new game now.
    pub fn can_new_game(&self) -> bool {
        self.check_can_offer(OfferKind::NewGame).is_ok()
    }

    /// Whether this side may make an offer of this kind now.
    pub fn can_offer(&self, kind: OfferKind) -> bool {
        self.check_can_offer(kind).is_ok()
    }

    /// A side's clock at this moment; `None` without a pace.
    pub fn clock(&self, side: Side, now: Instant) -> Option<ShownClock> {
        self.line.clock(side, now)
    }

    /// Whether this side may give up now.
    pub fn can_resign(&self) -> bool {
        self.line.record.result.is_none() && !self.differs()
    }
}

impl MatchState {
    /// The match that a record makes. A result that the record lacks although its position is over is put in.
    pub(crate) fn new(record: MatchRecord) -> Result<Self, Unplayable> {
        // From here on the revision can be counted up without a thought of its end.
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
            // What the journal holds is of a clock that a drop or an end of the program has stopped.
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
            record_sent: false,
        };
        if state.is_race() {
            if matches!(state.line.game(), AnyGame::LightsOut(race) if race.is_within_run()) {
                return Err(Unplayable);
            }
            state.line.record.run = run;
            if state.restore_race().is_none() {
                // Rather a run from the beginning than no match.
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

    /// Whether an action of the peer's that makes the record this long still counts now.
    pub(crate) fn counts(&self, ply: u32) -> bool {
        !self.line.record.paused
            && match self.line.record.result {
                None => true,
                // It may have been on its way when this side gave up: then it still counts, and may even have won.
                Some(MatchResult::Resigned(side) | MatchResult::TimedOut(side)) => {
                    side == self.my_side() || ply <= self.gave_up_at
                }
                Some(MatchResult::Played(_) | MatchResult::DrawAgreed) => false,
            }
    }

    /// What this side has pressed in a race, and what that has taken.
    pub(crate) fn add_to_run(&mut self, actions: &[Action], spent_ms: u32) {
        self.line.record.run.extend(actions);
        self.line.record.spent_ms = spent_ms;
    }

    pub(crate) fn set_run(&mut self, run: Vec<Action>) {
        self.line.record.run = run;
    }

    /// Whether the peer's record, as far as it is told, is a beginning of ours or just as long.
    pub(crate) fn begins_with(&self, there: &Standing) -> bool {
        self.line.digest_at(there.ply) == Some(there.digest)
    }

    /// The move of an action that this side, and not the other, may play now.
    pub(crate) fn legal_move(&self, side: Side, action: Action) -> Result<AnyMove, Refused> {
        if self.line.game().outcome().is_none() && self.line.game().turn() != side {
            return Err(Refused::NotYourTurn);
        }
        if self.line.record.actions.len() >= RECORD_ACTIONS {
            return Err(Refused::RecordFull);
        }
        Ok(self.line.game().legal_move(action)?)
    }

    /// Adds a move that took so many milliseconds, for which there must be time; the rules may end the match with it, whatever
    /// its result was before.
    pub(crate) fn push(&mut self, action: Action, mv: AnyMove, took_ms: u32) {
        let by = self.line.game().turn();
        self.line.push(action, mv, took_ms);
        // In a race the own clock runs on while the other's run comes in.
        if !self.is_race() || by == self.my_side() {
            self.line.new_action();
            self.interrupted = false;
            self.doubted = false;
        }
    }

    /// Cuts the record by consent. The result is gone, and so is the own offer.
    pub(crate) fn cut(&mut self, ply: u32, revision: u32) {
        let raced = self.is_race().then(|| (self.my_run(), self.line.timing()));
        self.line.cut(ply, revision);
        self.interrupted = false;
        self.doubted = false;
        self.shared = Shared::default();
        if let Some((run, (spent, since))) = raced {
            // What this side pressed stays pressed; it comes into the record again.
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

    /// Whether the clock of whoever has the turn is to run: both are known to have the position.
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

    /// The peer is known to hold just this record.
    fn there_is_here(&self) -> bool {
        self.there.is_some_and(|there| there.revision == self.line.record.revision && there.ply == self.ply())
    }

    /// Takes over what whoever has the turn says it has spent.
    pub(crate) fn set_spent(&mut self, spent_ms: u32) {
        self.line.set_spent(Duration::from_millis(spent_ms.into()));
        self.interrupted = false;
    }

    /// Forgets what belongs to one link.
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

    /// The link is gone: the clock stops, and nothing that belonged to the link holds.
    pub(crate) fn link_lost(&mut self, cx: &mut Cx<'_>) {
        self.stop_clock(cx);
        let was_level = self.is_level();
        self.forget_link();
        if was_level {
            cx.tell(Event::MatchChanged(self.id()));
        }
    }

    /// Writes down something of this match, which is then no longer settled.
    pub(crate) fn keep(&mut self, cx: &mut Cx<'_>, entry: Entry) {
        self.settled = false;
        cx.effects.keep(entry);
    }

    /// The peer has begun this match, just as it stands.
    pub(crate) fn begun_there(&mut self, cx: &mut Cx<'_>) {
        self.there = Some(self.standing());
        self.settle(cx);
        self.send_ack(cx, false);
    }

    /// The match goes on from the peer's record, which may have grown.
    pub(crate) fn ask_for_rest(&mut self, cx: &mut Cx<'_>) {
        self.there = Some(self.standing());
        self.send_ack(cx, true);
    }

    /// Tells with what this device had committed itself when colours were drawn, if they were.
    pub(crate) fn send_reveal(&mut self, cx: &mut Cx<'_>) {
        if let Some(nonce) = self.line.record.reveal {
            let (invite_id, nonce) = (resume::id_bytes(self.id()), Bytes::copy_from_slice(&nonce));
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

    /// Whether an offer of this kind makes sense now, whoever makes it. What was ended by agreement or by giving up is not
    /// taken back.
    pub(crate) fn check_phase(&self, kind: OfferKind) -> Result<(), Refused> {
        let goes_on = self.line.record.result.is_none();
        let right = match kind {
            OfferKind::TakeBack => {
                // A press is undone by another.
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
