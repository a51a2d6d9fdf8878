//! One match as this device knows it: the record, the position it makes, and what is known of the peer's record.

use std::time::Duration;

use bytes::Bytes;
use engine::{Action, AnyGame, AnyMove, Side};
use proto::limits::{RECORD_ACTIONS, REVISIONS};
use proto::peer;

use crate::analysis::Shared;
use crate::clock::Clocks;
use crate::cx::Cx;
use crate::race::Racing;
use crate::record::Chain;
use crate::resume;
use crate::{
    Consent, Entry, Event, Instant, MatchId, MatchRecord, MatchResult, OfferKind, Refused, ShownClock,
};

/// One match: record, position, open offers, and what may be done now.
#[derive(Clone)]
pub struct MatchState {
    record: MatchRecord,
    game: AnyGame,
    /// The digest before the first action.
    start: Chain,
    /// One for each action of the record.
    steps: Vec<Step>,
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
    /// The clocks before the first action.
    clocks: Option<Clocks>,
    /// What the present action took before the clock last stopped.
    spent: Duration,
    /// Since when the clock runs.
    since: Option<Instant>,
    /// A drop stopped the clock within the present action: the two sides may have noticed it at different times.
    pub(crate) interrupted: bool,
    /// Which part of its time the running clock was last seen in: byo-yomi, and periods left.
    phase: (bool, u32),
    /// The person was told that the peer's clock cannot be right, in the present action.
    pub(crate) doubted: bool,
    /// What a race has beside its record.
    pub(crate) racing: Option<Racing>,
}

/// One action of the record.
#[derive(Clone, Copy)]
struct Step {
    /// Whose decision it was.
    by: Side,
    /// The digest with this action.
    chain: Chain,
    /// The clocks after it.
    clocks: Option<Clocks>,
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

/// The list of actions is not one that the rules allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unplayable;

/// What the user sees.
impl MatchState {
    /// The match's id.
    pub fn id(&self) -> MatchId {
        self.record.id
    }

    /// What the journal holds.
    pub fn record(&self) -> &MatchRecord {
        &self.record
    }

    /// The position that the record makes.
    pub fn position(&self) -> &AnyGame {
        &self.game
    }

    /// Actions in the record.
    pub fn ply(&self) -> u32 {
        self.steps.len() as u32
    }

    /// The digest of the record: equal on both devices when the lists of actions are.
    pub fn digest(&self) -> u64 {
        self.steps.last().map_or(self.start, |step| step.chain).digest()
    }

    /// Whose decision each action was, oldest first. In some games a side decides several times in a row.
    pub fn decided_by(&self) -> impl ExactSizeIterator<Item = Side> + '_ {
        self.steps.iter().map(|step| step.by)
    }

    /// How many of the record's actions the peer is known to hold. `None`: nothing was heard of it since this session began.
    pub fn seen_ply(&self) -> Option<u32> {
        self.there
            .filter(|there| there.revision == self.record.revision)
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
        self.record.offered.map(|offered| offered.kind)
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
        let clocks = self.clocks_now()?;
        if self.record.result == Some(MatchResult::TimedOut(side)) {
            return Some(ShownClock { left: Duration::ZERO, byo_yomi: false, periods: 0, running: false });
        }
        let has_turn = self.record.result.is_none() && self.game.turn() == side;
        Some(clocks.shown(side, has_turn.then(|| self.spent_at(now)), has_turn && self.since.is_some()))
    }

    /// Whether this side may give up now.
    pub fn can_resign(&self) -> bool {
        self.record.result.is_none() && !self.differs()
    }
}

impl MatchState {
    /// The match that a record makes. A result that the record lacks although its position is over is put in.
    pub(crate) fn new(record: MatchRecord) -> Result<Self, Unplayable> {
        // From here on the revision can be counted up without a thought of its end.
        if record.revision > REVISIONS {
            return Err(Unplayable);
        }
        let game = AnyGame::new(&record.setup).map_err(|_| Unplayable)?;
        let start = Chain::new(&record.setup);
        let times = if record.pace.is_some() { record.times.len() } else { record.actions.len() };
        if times != record.actions.len() || record.paused && record.result.is_some() {
            return Err(Unplayable);
        }
        let mut state = Self {
            record: MatchRecord {
                actions: Vec::with_capacity(record.actions.len()),
                times: Vec::with_capacity(record.times.len()),
                ..record
            },
            shared: Shared::default(),
            analysis_waits: None,
            clocks: record.pace.map(Clocks::new),
            spent: Duration::from_millis(record.spent_ms.into()),
            since: None,
            // What the journal holds is of a clock that a drop or an end of the program has stopped.
            interrupted: true,
            doubted: false,
            phase: (false, 0),
            racing: Racing::new(&game),
            game,
            start,
            steps: Vec::new(),
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
        let (spent_ms, run) = (record.spent_ms, std::mem::take(&mut state.record.run));
        for (index, action) in record.actions.into_iter().enumerate() {
            if state.steps.len() == RECORD_ACTIONS {
                return Err(Unplayable);
            }
            let took = record.times.get(index).copied().unwrap_or(0);
            let mv = state.game.legal_move(action).map_err(|_| Unplayable)?;
            if !state.has_time_for(took) {
                return Err(Unplayable);
            }
            state.push(action, mv, took);
        }
        state.record.spent_ms = spent_ms;
        state.spent = Duration::from_millis(spent_ms.into());
        state.interrupted = true;
        if state.is_race() {
            if matches!(&state.game, AnyGame::LightsOut(race) if race.is_within_run()) {
                return Err(Unplayable);
            }
            state.record.run = run;
            if state.restore_race().is_none() {
                // Rather a run from the beginning than no match.
                state.record.run.clear();
                state.restore_race().expect("nothing was pressed");
            }
            state.rewatch();
        }
        let played = matches!(state.record.result, Some(MatchResult::Played(_)));
        if played && state.game.outcome().is_none() {
            return Err(Unplayable);
        }
        if state.record.offered.is_some_and(|offered| offered.revision != state.record.revision) {
            state.record.offered = None;
        }
        Ok(state)
    }

    pub(crate) fn my_side(&self) -> Side {
        self.record.my_side
    }

    pub(crate) fn their_side(&self) -> Side {
        self.record.my_side.other()
    }

    pub(crate) fn result(&self) -> Option<MatchResult> {
        self.record.result
    }

    pub(crate) fn revision(&self) -> u32 {
        self.record.revision
    }

    pub(crate) fn offered(&self) -> Option<Consent> {
        self.record.offered
    }

    pub(crate) fn record_offered(&mut self, offered: Option<Consent>) {
        self.record.offered = offered;
        self.my_offer = None;
    }

    pub(crate) fn set_result(&mut self, revision: u32, result: MatchResult) {
        self.record.revision = revision;
        self.record.result = Some(result);
        self.record.paused = false;
    }

    pub(crate) fn set_paused(&mut self, revision: u32, paused: bool) {
        self.record.revision = revision;
        self.record.paused = paused;
    }

    pub(crate) fn standing(&self) -> Standing {
        Standing {
            revision: self.record.revision,
            ply: self.ply(),
            digest: self.digest(),
            result: self.record.result,
            paused: self.record.paused,
        }
    }

    /// The digest that the record would have with these actions.
    pub(crate) fn digest_with_all(&self, actions: &[Action]) -> u64 {
        let chain = self.steps.last().map_or(self.start, |step| step.chain);
        actions.iter().fold(chain, |chain, action| chain.then(*action)).digest()
    }

    /// Whether an action of the peer's that makes the record this long still counts now.
    pub(crate) fn counts(&self, ply: u32) -> bool {
        !self.record.paused
            && match self.record.result {
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
        self.record.run.extend(actions);
        self.record.spent_ms = spent_ms;
    }

    pub(crate) fn set_run(&mut self, run: Vec<Action>) {
        self.record.run = run;
    }

    /// The digest of the first `ply` actions; `None` if there are not so many.
    pub(crate) fn digest_at(&self, ply: u32) -> Option<u64> {
        match (ply as usize).checked_sub(1) {
            None => Some(self.start.digest()),
            Some(last) => self.steps.get(last).map(|step| step.chain.digest()),
        }
    }

    /// The digest that the record would have with this action.
    pub(crate) fn digest_with(&self, action: Action) -> u64 {
        self.steps.last().map_or(self.start, |step| step.chain).then(action).digest()
    }

    /// Whether the peer's record, as far as it is told, is a beginning of ours or just as long.
    pub(crate) fn begins_with(&self, there: &Standing) -> bool {
        self.digest_at(there.ply) == Some(there.digest)
    }

    /// The actions after the first `ply`, with whose decision each was.
    pub(crate) fn rest(&self, ply: u32) -> impl ExactSizeIterator<Item = (Side, Action)> + '_ {
        let from = (ply as usize).min(self.steps.len());
        self.steps[from..].iter().map(|step| step.by).zip(self.record.actions[from..].iter().copied())
    }

    /// What the action after the first `ply` took, in milliseconds; 0 without a pace.
    pub(crate) fn took(&self, ply: u32) -> u32 {
        self.record.times.get(ply as usize).copied().unwrap_or(0)
    }

    /// How many actions both lists begin with.
    pub(crate) fn common(&self, actions: &[Action]) -> u32 {
        self.record.actions.iter().zip(actions).take_while(|(ours, theirs)| ours == theirs).count() as u32
    }

    /// The index of the last decision of a side's among the first `ply`: the length of the record without it.
    pub(crate) fn last_decision(&self, side: Side, ply: u32) -> Option<u32> {
        let steps = &self.steps[..(ply as usize).min(self.steps.len())];
        steps.iter().rposition(|step| step.by == side).map(|index| index as u32)
    }

    /// The move of an action that this side, and not the other, may play now.
    pub(crate) fn legal_move(&self, side: Side, action: Action) -> Result<AnyMove, Refused> {
        if self.game.outcome().is_none() && self.game.turn() != side {
            return Err(Refused::NotYourTurn);
        }
        if self.steps.len() >= RECORD_ACTIONS {
            return Err(Refused::RecordFull);
        }
        Ok(self.game.legal_move(action)?)
    }

    /// Adds a move that took so many milliseconds, for which there must be time; the rules may end the match with it, whatever
    /// its result was before.
    pub(crate) fn push(&mut self, action: Action, mv: AnyMove, took_ms: u32) {
        let by = self.game.turn();
        let chain = self.steps.last().map_or(self.start, |step| step.chain).then(action);
        let clocks = self.clocks_now();
        let took = Duration::from_millis(if self.is_timed() { took_ms.into() } else { 0 });
        self.game.play(mv);
        let clocks = clocks.map(|clocks| clocks.after(by, took, self.game.turn() != by));
        self.steps.push(Step { by, chain, clocks });
        self.record.actions.push(action);
        if self.record.pace.is_some() {
            self.record.times.push(took.as_millis() as u32);
        }
        // In a race the own clock runs on while the other's run comes in.
        if !self.is_race() || by == self.my_side() {
            self.new_action();
        }
        if let Some(outcome) = self.game.outcome() {
            self.record.result = Some(MatchResult::Played(outcome));
        }
    }

    /// Cuts the record by consent. The result is gone, and so is the own offer.
    pub(crate) fn cut(&mut self, ply: u32, revision: u32) {
        let raced = self.is_race().then(|| (self.my_run(), self.spent, self.since));
        self.record.actions.truncate(ply as usize);
        self.record.times.truncate(ply as usize);
        self.steps.truncate(ply as usize);
        self.game = AnyGame::new(&self.record.setup).expect("the setup made a game before");
        for action in &self.record.actions {
            self.game.act(*action).expect("the action was legal before");
        }
        self.record.result = None;
        self.record.paused = false;
        self.record.revision = revision;
        self.shared = Shared::default();
        self.new_action();
        if let Some((run, spent, since)) = raced {
            // What this side pressed stays pressed; it comes into the record again.
            let took = match run.last() {
                Some(Action::Done(tenths)) => Duration::from_millis(u64::from(*tenths) * 100),
                _ => spent,
            };
            (self.record.run, self.spent, self.since) = (run, took, since);
            self.record.spent_ms = u32::try_from(took.as_millis()).unwrap_or(u32::MAX);
            self.restore_race().expect("it was pressed before");
        }
        self.record_offered(None);
        self.followed = false;
        self.there = None;
    }

    // Clocks.

    fn clocks_now(&self) -> Option<Clocks> {
        self.steps.last().map_or(self.clocks, |step| step.clocks)
    }

    /// Whether thinking costs time now: not while two agree on dead stones.
    fn is_timed(&self) -> bool {
        self.record.pace.is_some() && self.game.legal_move(Action::Agree).is_err()
    }

    /// Whether whoever has the turn may have taken so long for an action.
    pub(crate) fn has_time_for(&self, took_ms: u32) -> bool {
        let took = Duration::from_millis(took_ms.into());
        !self.is_timed() || self.clocks_now().is_none_or(|clocks| !clocks.is_over(self.game.turn(), took))
    }

    /// What the present action has taken.
    pub(crate) fn spent_at(&self, now: Instant) -> Duration {
        self.spent + self.since.map_or(Duration::ZERO, |since| now.since(since))
    }

    /// The same in milliseconds, as records say it.
    pub(crate) fn spent_ms_at(&self, now: Instant) -> u32 {
        u32::try_from(self.spent_at(now).as_millis()).unwrap_or(u32::MAX)
    }

    pub(crate) fn clock_runs(&self) -> bool {
        self.since.is_some()
    }

    /// Whether the clock of whoever has the turn is to run: both are known to have the position.
    pub(crate) fn clock_should_run(&self) -> bool {
        if self.is_race() {
            return self.race_goes_on();
        }
        self.record.result.is_none()
            && !self.record.paused
            && self.is_level()
            && self.is_timed()
            && self.game.outcome().is_none()
            && (self.game.turn() == self.record.my_side || self.there_is_here())
    }

    /// The peer is known to hold just this record.
    fn there_is_here(&self) -> bool {
        self.there.is_some_and(|there| there.revision == self.record.revision && there.ply == self.ply())
    }

    pub(crate) fn start_clock(&mut self, at: Instant) {
        self.since = Some(at);
    }

    /// Stops the clock. What the present action has taken is to be written down.
    pub(crate) fn halt_clock(&mut self, now: Instant) -> u32 {
        self.spent = self.spent_at(now);
        self.since = None;
        self.record.spent_ms = self.spent_ms_at(now);
        self.record.spent_ms
    }

    /// The match is over: what the last action has taken means nothing more.
    pub(crate) fn forget_clock(&mut self) {
        self.since = None;
    }

    /// Takes over what whoever has the turn says it has spent.
    pub(crate) fn set_spent(&mut self, spent_ms: u32) {
        self.spent = Duration::from_millis(spent_ms.into());
        self.interrupted = false;
    }

    /// How long until whoever has the turn comes to the end of what its clock shows, if the clock runs; zero at the end of all.
    pub(crate) fn clock_change(&self, now: Instant) -> Option<Duration> {
        self.since?;
        let clocks = self.clocks_now()?;
        Some(clocks.shown(self.game.turn(), Some(self.spent_at(now)), true).left)
    }

    /// Whether the running clock has come to another part of its time since this was last asked.
    pub(crate) fn enters_phase(&mut self, now: Instant) -> bool {
        let Some(clock) = self.clock(self.game.turn(), now) else { return false };
        let phase = (clock.byo_yomi, clock.periods);
        std::mem::replace(&mut self.phase, phase) != phase
    }

    /// What the present action took beyond the time of whoever has the turn.
    pub(crate) fn overtime(&self, now: Instant) -> Option<Duration> {
        let left = self.clocks_now()?.left_for_action(self.game.turn());
        self.spent_at(now).checked_sub(left).filter(|_| self.is_timed())
    }

    /// Whoever decides next begins to think.
    fn new_action(&mut self) {
        self.spent = Duration::ZERO;
        self.since = None;
        self.record.spent_ms = 0;
        self.interrupted = false;
        self.doubted = false;
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
        if let Some(nonce) = self.record.reveal {
            let (invite_id, nonce) = (resume::id_bytes(self.id()), Bytes::copy_from_slice(&nonce));
            cx.send_awaited(peer::Reveal { invite_id, nonce });
        }
    }

    pub(crate) fn check_can_act(&self) -> Result<(), Refused> {
        if self.is_race() {
            return self.check_can_press();
        }
        if self.record.result.is_some() || self.differs() {
            Err(Refused::WrongPhase)
        } else if self.record.paused {
            Err(Refused::Paused)
        } else if self.game.turn() != self.record.my_side {
            Err(Refused::NotYourTurn)
        } else if self.steps.len() >= RECORD_ACTIONS {
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
        if kind == OfferKind::TakeBack && self.last_decision(self.my_side(), self.ply()).is_none() {
            return Err(Refused::NothingToTakeBack);
        }
        let same = self.their_offer().is_some_and(|theirs| theirs == kind && kind != OfferKind::TakeBack);
        if self.record.offered.is_some() || (self.their_offer.is_some() && !same) {
            return Err(Refused::OfferOpen);
        }
        Ok(())
    }

    /// Whether an offer of this kind makes sense now, whoever makes it. What was ended by agreement or by giving up is not
    /// taken back.
    pub(crate) fn check_phase(&self, kind: OfferKind) -> Result<(), Refused> {
        let goes_on = self.record.result.is_none();
        let right = match kind {
            OfferKind::TakeBack => {
                // A press is undone by another.
                !self.is_race()
                    && !self.record.paused
                    && matches!(self.record.result, None | Some(MatchResult::Played(_)))
            }
            OfferKind::Draw => goes_on,
            OfferKind::NewGame | OfferKind::NewGameSame => !goes_on && !self.followed,
            OfferKind::Pause | OfferKind::Adjourn => goes_on && !self.record.paused,
            OfferKind::Continue => goes_on && self.record.paused,
        };
        if right { Ok(()) } else { Err(Refused::WrongPhase) }
    }
}
