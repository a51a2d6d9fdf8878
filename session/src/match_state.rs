//! One match as this device knows it: the record, the position it makes, and what is known of the peer's record.

use engine::{Action, AnyGame, AnyMove, Side};
use proto::limits::{RECORD_ACTIONS, REVISIONS};

use crate::record::Chain;
use crate::{Consent, MatchId, MatchRecord, MatchResult, OfferKind, Refused};

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
}

/// One action of the record.
#[derive(Clone, Copy)]
struct Step {
    /// Whose decision it was.
    by: Side,
    /// The digest with this action.
    chain: Chain,
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
        theirs: Option<MatchRecord>,
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
        let mut state = Self {
            record: MatchRecord { actions: Vec::with_capacity(record.actions.len()), ..record },
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
        for action in record.actions {
            if state.steps.len() == RECORD_ACTIONS {
                return Err(Unplayable);
            }
            let mv = state.game.legal_move(action).map_err(|_| Unplayable)?;
            state.push(action, mv);
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

    pub(crate) fn set_offered(&mut self, offered: Option<Consent>) {
        self.record.offered = offered;
        self.my_offer = None;
    }

    pub(crate) fn set_result(&mut self, revision: u32, result: MatchResult) {
        self.record.revision = revision;
        self.record.result = Some(result);
    }

    pub(crate) fn standing(&self) -> Standing {
        Standing {
            revision: self.record.revision,
            ply: self.ply(),
            digest: self.digest(),
            result: self.record.result,
        }
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

    /// Adds a move; the rules may end the match with it, whatever its result was before.
    pub(crate) fn push(&mut self, action: Action, mv: AnyMove) {
        let by = self.game.turn();
        let chain = self.steps.last().map_or(self.start, |step| step.chain).then(action);
        self.game.play(mv);
        self.steps.push(Step { by, chain });
        self.record.actions.push(action);
        if let Some(outcome) = self.game.outcome() {
            self.record.result = Some(MatchResult::Played(outcome));
        }
    }

    /// Cuts the record by consent. The result is gone, and so is the own offer.
    pub(crate) fn cut(&mut self, ply: u32, revision: u32) {
        self.record.actions.truncate(ply as usize);
        self.steps.truncate(ply as usize);
        self.game = AnyGame::new(&self.record.setup).expect("the setup made a game before");
        for action in &self.record.actions {
            self.game.act(*action).expect("the action was legal before");
        }
        self.record.result = None;
        self.record.revision = revision;
        self.set_offered(None);
        self.followed = false;
        self.there = None;
    }

    /// Forgets what belongs to one link.
    pub(crate) fn link_lost(&mut self) {
        self.reach = Reach::Away;
        self.my_offer = None;
        self.offer_waits = false;
        self.their_offer = None;
        self.last_offer = 0;
        self.last_offer_there = 0;
        self.record_sent = false;
    }

    pub(crate) fn check_can_act(&self) -> Result<(), Refused> {
        if self.record.result.is_some() || self.differs() {
            Err(Refused::WrongPhase)
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
        let right = match kind {
            OfferKind::TakeBack => matches!(self.record.result, None | Some(MatchResult::Played(_))),
            OfferKind::Draw => self.record.result.is_none(),
            OfferKind::NewGame => self.record.result.is_some() && !self.followed,
        };
        if right { Ok(()) } else { Err(Refused::WrongPhase) }
    }
}
