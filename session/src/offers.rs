//! Offers, which need the other side's consent: take back, draw, new game, pause and its end.
//!
//! Each offer is answered exactly once, or ends with the link. The accepting side writes the acceptance to its journal first,
//! the offering side when the answer arrives; an acceptance increments the record's revision. If the answer is lost, the
//! offering side finds a newer record at the peer, and adopts that record because of its own offer, which is in the journal
//! since before it was sent.
//!
//! The session begins a new game, because adding a match may drop another: a match's transitions return a [`Following`].
//!
//! Two offers are never accepted at the same time: a side with an open offer does not see the other's until its own is
//! answered; if both have an open offer, the first side declines automatically.

use proto::peer;

use crate::cx::Cx;
use crate::match_state::{Standing, TheirOffer};
use crate::{
    Consent, Entry, Event, MatchId, MatchRecord, MatchResult, MatchState, OfferKind, Refused, Violation,
    race, wire,
};

/// A match that follows another by consent, for the session to begin.
#[must_use = "both people were told that it begins"]
pub(crate) struct Following {
    /// The match before it.
    pub(crate) before: MatchId,
    pub(crate) record: MatchRecord,
    /// The peer's offer that is accepted, with the other match's ply and revision; `None`: the peer has already begun the new
    /// match.
    pub(crate) answers: Option<(TheirOffer, u32, u32)>,
}

impl MatchState {
    /// Makes an offer; the same open offer of the peer is accepted instead. An offer of a new game is promised in the
    /// journal.
    pub(crate) fn offer(&mut self, cx: &mut Cx<'_>, kind: OfferKind) -> Result<Option<Following>, Refused> {
        self.check_can_offer(kind)?;
        if self.their_offer() == Some(kind) {
            return self.answer_offer(cx, true);
        }
        let ply = self.ply();
        let to_ply = match kind {
            OfferKind::TakeBack => {
                self.line.last_decision(self.my_side(), ply).ok_or(Refused::NothingToTakeBack)?
            }
            OfferKind::Draw
            | OfferKind::NewGame
            | OfferKind::NewGameSame
            | OfferKind::Pause
            | OfferKind::Continue
            | OfferKind::Adjourn => ply,
        };
        self.set_offered(cx, Some(Consent { kind, revision: self.revision(), ply, to_ply }));
        self.send_offer(cx);
        cx.tell(Event::MatchChanged(self.id()));
        Ok(None)
    }

    /// Answers an offer for this device's person. The caller has checked the room for a new game.
    pub(crate) fn answer_offer(
        &mut self,
        cx: &mut Cx<'_>,
        accept: bool,
    ) -> Result<Option<Following>, Refused> {
        let offer = self.their_offer.filter(|offer| offer.shown).ok_or(Refused::NoSuchOffer)?;
        if !accept {
            self.decline_theirs(cx);
            return Ok(None);
        }
        Ok(self.accept_theirs(cx, offer))
    }

    pub(crate) fn received_offer(&mut self, cx: &mut Cx<'_>, offer: &peer::Offer) -> Result<(), Violation> {
        let id = self.id();
        let kind = match peer::OfferKind::try_from(offer.kind) {
            Ok(peer::OfferKind::OfferTakeBack) => OfferKind::TakeBack,
            Ok(peer::OfferKind::OfferDraw) => OfferKind::Draw,
            Ok(peer::OfferKind::OfferNewGame) => OfferKind::NewGame,
            Ok(peer::OfferKind::OfferNewGameSame) => OfferKind::NewGameSame,
            Ok(peer::OfferKind::OfferPause) => OfferKind::Pause,
            Ok(peer::OfferKind::OfferContinue) => OfferKind::Continue,
            Ok(peer::OfferKind::OfferAdjourn) => OfferKind::Adjourn,
            // A newer peer may know more kinds of offer.
            Ok(peer::OfferKind::OfferUnspecified) | Err(_) => {
                answer_offer(cx, id, offer.offer_id, None);
                return Ok(());
            }
        };
        if !self.is_level() {
            answer_offer(cx, id, offer.offer_id, None);
            return Ok(());
        }
        if offer.offer_id <= self.last_offer_there {
            return Ok(());
        }
        if self.their_offer.is_some() || offer.revision > self.revision() {
            return Err(Violation::OutOfOrder("offer"));
        }
        let wrong = offer.ply > self.ply()
            || kind == OfferKind::TakeBack
                && offer.revision == self.revision()
                && self.line.last_decision(self.their_side(), offer.ply) != Some(offer.to_ply);
        if wrong {
            return Err(Violation::OutOfBounds("offer"));
        }
        self.last_offer_there = offer.offer_id;
        let untimely = offer.revision < self.revision()
            || self.check_phase(kind).is_err()
            || kind == OfferKind::TakeBack
                && self.line.last_decision(self.their_side(), self.ply()) != Some(offer.to_ply);
        let mine_out = self.my_offer().is_some();
        let crossed = mine_out && self.my_side() == engine::Side::First;
        if untimely || crossed {
            answer_offer(cx, id, offer.offer_id, None);
            return Ok(());
        }
        self.their_offer =
            Some(TheirOffer { id: offer.offer_id, kind, to_ply: offer.to_ply, shown: !mine_out });
        if !mine_out {
            cx.tell(Event::Offered { id, kind });
            cx.tell(Event::MatchChanged(id));
        }
        Ok(())
    }

    pub(crate) fn received_offer_answer(
        &mut self,
        cx: &mut Cx<'_>,
        answer: &peer::OfferAnswer,
    ) -> Result<Option<Following>, Violation> {
        let id = self.id();
        if !self.is_level() {
            return Ok(None);
        }
        let Some(consent) = self.offered().filter(|_| self.my_offer == Some(answer.offer_id)) else {
            return Ok(None);
        };
        if !answer.accept {
            self.set_offered(cx, None);
            cx.tell(Event::OfferEnded { id, kind: consent.kind, mine: true, accepted: false });
            let following = self.show_theirs(cx, consent.kind);
            self.settle(cx);
            cx.tell(Event::MatchChanged(id));
            return Ok(following);
        }
        let digest = self.line.digest_at(answer.ply).ok_or(Violation::OutOfBounds("offer answer"))?;
        let there = Standing {
            revision: answer.revision,
            ply: answer.ply,
            digest,
            result: (consent.kind == OfferKind::Draw).then_some(MatchResult::DrawAgreed),
            paused: matches!(consent.kind, OfferKind::Pause | OfferKind::Adjourn),
        };
        if consent.kind.begins_another() {
            if answer.revision != self.revision() {
                return Err(Violation::OutOfBounds("offer answer"));
            }
            return Ok(Some(Following { before: id, record: self.new_game(consent.kind), answers: None }));
        }
        if !self.take_consent(cx, &there) {
            return Err(Violation::OutOfBounds("offer answer"));
        }
        self.send_ack(cx, false);
        self.clock_check(cx);
        Ok(None)
    }

    /// If the peer's record is the result of accepting the own offer, applies the offer here too. Returns whether it did.
    pub(crate) fn take_consent(&mut self, cx: &mut Cx<'_>, there: &Standing) -> bool {
        let Some(consent) = self.offered() else { return false };
        let revision = self.revision().saturating_add(1);
        if there.revision != revision || !self.begins_with(there) {
            return false;
        }
        let id = self.id();
        let gave_up = self.result().filter(|result| result.given_up_by() == Some(self.my_side()));
        let draws = there.result == Some(MatchResult::DrawAgreed);
        match consent.kind {
            OfferKind::TakeBack if there.ply == consent.to_ply && !draws && !there.paused => {
                self.cut(there.ply, revision);
                if let Some(result) = gave_up {
                    // The resignation came after the offer and stands.
                    self.set_result(revision, result);
                    let record = self.record().clone();
                    self.keep(cx, Entry::Replaced(record));
                } else {
                    self.keep(cx, Entry::TakenBack { id, ply: there.ply, revision });
                }
            }
            OfferKind::Draw if draws && there.ply >= consent.ply => {
                // Later actions of this device are void: the peer accepted before it received them.
                let shorter = there.ply < self.ply();
                if shorter {
                    self.cut(there.ply, revision);
                }
                self.set_result(revision, MatchResult::DrawAgreed);
                self.record_offered(None);
                if shorter {
                    let record = self.record().clone();
                    self.keep(cx, Entry::Replaced(record));
                } else {
                    self.keep(cx, Entry::Ended { id, revision, result: MatchResult::DrawAgreed });
                }
            }
            OfferKind::Pause | OfferKind::Adjourn | OfferKind::Continue
                if self.would_agree(there) && there.ply >= consent.ply =>
            {
                let paused = consent.kind != OfferKind::Continue;
                let shorter = there.ply < self.ply();
                if shorter {
                    self.cut(there.ply, revision);
                }
                self.set_paused(revision, paused && gave_up.is_none());
                if let Some(result) = gave_up {
                    self.set_result(revision, result);
                }
                self.record_offered(None);
                if shorter || gave_up.is_some() {
                    let record = self.record().clone();
                    self.keep(cx, Entry::Replaced(record));
                } else {
                    self.keep(cx, Entry::Paused { id, revision, paused });
                }
            }
            OfferKind::TakeBack
            | OfferKind::Draw
            | OfferKind::NewGame
            | OfferKind::NewGameSame
            | OfferKind::Pause
            | OfferKind::Adjourn
            | OfferKind::Continue => return false,
        }
        self.there = Some(*there);
        self.clock_check(cx);
        self.decline_theirs(cx);
        self.settle(cx);
        cx.tell(Event::OfferEnded { id, kind: consent.kind, mine: true, accepted: true });
        cx.tell(Event::MatchChanged(id));
        true
    }

    /// If the peer has accepted the own offer of a draw or a pause after unseen actions of its own, or has continued after a
    /// pause, adopts the actions and the agreement.
    pub(crate) fn take_agreed(&mut self, cx: &mut Cx<'_>, theirs: &MatchState) -> bool {
        let (ply, there) = (self.ply(), theirs.standing());
        let unseen = there.ply > ply
            && theirs.begins_with(&self.standing())
            && theirs.line.rest(ply).all(|(by, _)| by == self.their_side());
        let kind = self.offered().map_or(OfferKind::Draw, |consent| consent.kind);
        let gave_up = self.result().filter(|result| result.given_up_by() == Some(self.my_side()));
        if !unseen || !self.would_agree(&there) {
            return false;
        }
        for (number, (_, action)) in (ply..).zip(theirs.line.rest(ply)) {
            let mv = self.legal_move(self.their_side(), action).expect("the peer's record was replayed");
            self.push(action, mv, theirs.line.took(number));
        }
        self.set_paused(there.revision, there.paused);
        match (there.result, gave_up) {
            (Some(result), _) => self.set_result(there.revision, result),
            // The resignation came after the offer and stands, unless the peer's unseen actions have won.
            (None, Some(result)) => self.set_result(there.revision, result),
            (None, None) => {}
        }
        self.record_offered(None);
        self.there = Some(there);
        let (id, record) = (self.id(), self.record().clone());
        self.keep(cx, Entry::Replaced(record));
        self.decline_theirs(cx);
        cx.tell(Event::OfferEnded { id, kind, mine: true, accepted: true });
        true
    }

    /// Sends the own offer again after a drop, if it is still valid; the peer has not accepted it, or its record would be
    /// newer. `accepted_there`: the peer has accepted after all, and is about to send the result.
    pub(crate) fn offer_again(&mut self, cx: &mut Cx<'_>, accepted_there: bool) {
        let Some(consent) = self.offered().filter(|_| self.is_level() && self.my_offer.is_none()) else {
            return;
        };
        let id = self.id();
        if accepted_there && !self.followed {
            return;
        }
        let meaningful = self.check_phase(consent.kind).is_ok()
            && match consent.kind {
                OfferKind::TakeBack => {
                    self.line.last_decision(self.my_side(), self.ply()) == Some(consent.to_ply)
                }
                OfferKind::Draw
                | OfferKind::NewGame
                | OfferKind::NewGameSame
                | OfferKind::Pause
                | OfferKind::Continue
                | OfferKind::Adjourn => consent.ply == self.ply(),
            };
        if meaningful {
            self.send_offer(cx);
        } else {
            self.set_offered(cx, None);
            cx.tell(Event::OfferEnded { id, kind: consent.kind, mine: true, accepted: false });
            self.show_held_back(cx);
            self.settle(cx);
        }
    }

    /// The peer's offer ends with the link; the peer sends a valid offer again.
    pub(crate) fn offer_lost(&mut self, cx: &mut Cx<'_>) {
        if let Some(offer) = self.their_offer.take()
            && offer.shown
        {
            cx.tell(Event::OfferEnded { id: self.id(), kind: offer.kind, mine: false, accepted: false });
        }
    }

    /// Declines the peer's open offer, if there is one.
    pub(crate) fn decline_theirs(&mut self, cx: &mut Cx<'_>) {
        if let Some(offer) = self.their_offer.take() {
            let id = self.id();
            answer_offer(cx, id, offer.id, None);
            if offer.shown {
                cx.tell(Event::OfferEnded { id, kind: offer.kind, mine: false, accepted: false });
                cx.tell(Event::MatchChanged(id));
            }
        }
    }

    /// Declines the peer's open offer if a later action has made it pointless.
    pub(crate) fn decline_pointless(&mut self, cx: &mut Cx<'_>) {
        if self.their_offer.is_some_and(|offer| self.check_phase(offer.kind).is_err()) {
            self.decline_theirs(cx);
        }
    }

    /// The new game of this match has begun, in whatever way.
    pub(crate) fn new_game_began(&mut self, cx: &mut Cx<'_>) {
        self.followed = true;
        if let Some(kind) = self.my_offer().filter(|kind| kind.begins_another()) {
            self.set_offered(cx, None);
            cx.tell(Event::OfferEnded { id: self.id(), kind, mine: true, accepted: true });
        }
        self.decline_pointless(cx);
        self.show_held_back(cx);
        self.settle(cx);
        cx.tell(Event::MatchChanged(self.id()));
    }

    /// Accepts the peer's offer. Returns the match to begin, together with which the answer is sent.
    fn accept_theirs(&mut self, cx: &mut Cx<'_>, offer: TheirOffer) -> Option<Following> {
        self.their_offer = None;
        let id = self.id();
        match offer.kind {
            OfferKind::TakeBack => {
                let revision = self.revision() + 1;
                self.cut(offer.to_ply, revision);
                self.keep(cx, Entry::TakenBack { id, ply: offer.to_ply, revision });
            }
            OfferKind::Draw => {
                let (revision, result) = (self.revision() + 1, MatchResult::DrawAgreed);
                self.set_result(revision, result);
                self.there = None;
                self.keep(cx, Entry::Ended { id, revision, result });
            }
            OfferKind::NewGame | OfferKind::NewGameSame => {
                let answers = Some((offer, self.ply(), self.revision()));
                return Some(Following { before: id, record: self.new_game(offer.kind), answers });
            }
            OfferKind::Pause | OfferKind::Adjourn | OfferKind::Continue => {
                let (revision, paused) = (self.revision() + 1, offer.kind != OfferKind::Continue);
                self.stop_clock(cx);
                self.set_paused(revision, paused);
                self.there = None;
                self.keep(cx, Entry::Paused { id, revision, paused });
            }
        }
        let (ply, revision) = (self.ply(), self.revision());
        answer_offer(cx, id, offer.id, Some((ply, revision)));
        self.clock_check(cx);
        cx.tell(Event::OfferEnded { id, kind: offer.kind, mine: false, accepted: true });
        cx.tell(Event::MatchChanged(id));
        None
    }

    /// The own offer was declined: shows the peer's offer, if one was held back. If both offered the same, it is accepted.
    fn show_theirs(&mut self, cx: &mut Cx<'_>, declined: OfferKind) -> Option<Following> {
        let same = |offer: &TheirOffer| offer.kind == declined && offer.kind != OfferKind::TakeBack;
        if let Some(offer) = self.their_offer.filter(same) {
            return self.accept_theirs(cx, offer);
        }
        self.show_held_back(cx);
        None
    }

    /// The own offer is no longer open: shows the peer's offer, if it was held back until then.
    fn show_held_back(&mut self, cx: &mut Cx<'_>) {
        let id = self.id();
        if let Some(offer) = self.their_offer.as_mut().filter(|offer| !offer.shown) {
            offer.shown = true;
            cx.tell(Event::Offered { id, kind: offer.kind });
        }
    }

    fn set_offered(&mut self, cx: &mut Cx<'_>, offered: Option<Consent>) {
        self.record_offered(offered);
        self.keep(cx, Entry::Offered { id: self.id(), offered });
    }

    fn send_offer(&mut self, cx: &mut Cx<'_>) {
        let Some(consent) = self.offered() else { return };
        self.last_offer += 1;
        self.my_offer = Some(self.last_offer);
        let offer = peer::Offer {
            match_id: wire::id_bytes(self.id()),
            offer_id: self.last_offer,
            kind: match consent.kind {
                OfferKind::TakeBack => peer::OfferKind::OfferTakeBack,
                OfferKind::Draw => peer::OfferKind::OfferDraw,
                OfferKind::NewGame => peer::OfferKind::OfferNewGame,
                OfferKind::NewGameSame => peer::OfferKind::OfferNewGameSame,
                OfferKind::Pause => peer::OfferKind::OfferPause,
                OfferKind::Continue => peer::OfferKind::OfferContinue,
                OfferKind::Adjourn => peer::OfferKind::OfferAdjourn,
            }
            .into(),
            ply: consent.ply,
            to_ply: consent.to_ply,
            revision: consent.revision,
        };
        cx.send(offer);
    }
}

/// `accepted`: length and revision of the record afterwards.
pub(crate) fn answer_offer(cx: &mut Cx<'_>, id: MatchId, offer_id: u32, accepted: Option<(u32, u32)>) {
    let (ply, revision) = accepted.unwrap_or_default();
    cx.send(peer::OfferAnswer {
        match_id: wire::id_bytes(id),
        offer_id,
        accept: accepted.is_some(),
        ply,
        revision,
    });
}

impl MatchState {
    /// Whether the peer's record, as summarised, is the result of accepting the own offer of a draw, a pause or its end.
    /// Either side may have resigned since, and after a pause the peer may have continued.
    pub(crate) fn would_agree(&self, there: &Standing) -> bool {
        let Some(consent) = self.offered() else { return false };
        let gave_up = |one: MatchResult| {
            one.given_up_by() == Some(self.their_side())
                || one.given_up_by() == Some(self.my_side()) && self.result() == Some(one)
        };
        let (given_up, by_me) = (there.result.is_some_and(gave_up), Some(self.my_side()));
        if !given_up && there.result.is_some_and(|one| one.given_up_by() == by_me) {
            return false;
        }
        there.revision == self.revision().saturating_add(1)
            && match consent.kind {
                OfferKind::Draw => there.result == Some(MatchResult::DrawAgreed),
                OfferKind::Pause | OfferKind::Adjourn => there.paused && there.result.is_none() || given_up,
                OfferKind::Continue => !there.paused && there.result != Some(MatchResult::DrawAgreed),
                OfferKind::TakeBack | OfferKind::NewGame | OfferKind::NewGameSame => false,
            }
    }

    /// Whether this is the id of a new game that would follow this match now.
    pub(crate) fn is_followed_by(&self, id: MatchId) -> bool {
        [false, true].into_iter().any(|swapped| self.id().of_new_game(self.revision(), swapped) == id)
    }

    /// Whether this is the new game that this device has offered after this match.
    pub(crate) fn asked_for_new_game(&self, theirs: &MatchRecord) -> bool {
        self.my_offer().filter(|kind| kind.begins_another()).is_some_and(|kind| {
            let new = self.new_game(kind);
            new.id == theirs.id
                && new.setup == theirs.setup
                && new.my_side == theirs.my_side
                && new.pace == theirs.pace
                && new.hints.is_some() == theirs.hints.is_some()
        })
    }

    /// The new game after this match: the same setup, pace and agreement on hints, with swapped or equal colours.
    pub(crate) fn new_game(&self, kind: OfferKind) -> MatchRecord {
        let swapped = kind != OfferKind::NewGameSame;
        let id = self.id().of_new_game(self.revision(), swapped);
        let my_side = if swapped { self.their_side() } else { self.my_side() };
        let setup = race::next_setup(&self.record().setup, id, self.digest());
        let record = MatchRecord::new(id, setup, my_side).with_pace(self.record().pace);
        record.with_hints(self.record().hints.is_some())
    }
}
