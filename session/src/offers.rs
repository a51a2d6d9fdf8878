//! What needs the other's consent: taking back, a draw, a new game, a pause and its end.
//!
//! Each offer is answered exactly once, or ends with the link. An acceptance is written down by the accepter, then by the
//! offerer when the answer arrives; it raises the record's revision. If the answer is lost, the offerer finds a newer record
//! at the peer and takes it over because its own offer, which it wrote down before sending it, allows just that.
//!
//! A new game is begun by the session once the match that it follows is done with: the steps of a match give back a
//! [`Following`], because a session that takes in one match may drop another.
//!
//! Two offers are never accepted at the same time: whoever has an offer out does not see the other's until its own is
//! answered, and if both have, the first side declines for its person.

use proto::peer;

use crate::match_state::{Standing, TheirOffer};
use crate::session::Session;
use crate::{
    Consent, Entry, Event, MatchId, MatchRecord, MatchResult, MatchState, OfferKind, Refused, Violation,
    race, resume,
};

/// A match that is to begin because both agreed to it in another.
#[must_use = "both people were told that it begins"]
pub(crate) struct Following {
    /// The match that it follows.
    pub(crate) before: MatchId,
    pub(crate) record: MatchRecord,
    /// The peer's offer that this accepts, with the other match's ply and revision; `None`: the peer has begun it already.
    pub(crate) answers: Option<(TheirOffer, u32, u32)>,
}

impl Session {
    pub(crate) fn offer(&mut self, id: MatchId, kind: OfferKind) -> Result<Option<Following>, Refused> {
        let index = self.index_of(id).ok_or(Refused::NoSuchMatch)?;
        let state = &self.matches[index];
        state.check_can_offer(kind)?;
        if state.their_offer() == Some(kind) {
            return self.answer_offer(id, true);
        }
        if kind.begins_another() && !self.has_room() {
            return Err(Refused::TooManyMatches);
        }
        if kind.begins_another() {
            let new = self.matches[index].new_game(kind).id;
            self.promise(new);
        }
        let state = &self.matches[index];
        let ply = state.ply();
        let to_ply = match kind {
            OfferKind::TakeBack => {
                state.last_decision(state.my_side(), ply).ok_or(Refused::NothingToTakeBack)?
            }
            OfferKind::Draw
            | OfferKind::NewGame
            | OfferKind::NewGameSame
            | OfferKind::Pause
            | OfferKind::Continue
            | OfferKind::Adjourn => ply,
        };
        self.set_offered(index, Some(Consent { kind, revision: state.revision(), ply, to_ply }));
        self.send_offer(index);
        self.tell(Event::MatchChanged(id));
        Ok(None)
    }

    pub(crate) fn answer_offer(&mut self, id: MatchId, accept: bool) -> Result<Option<Following>, Refused> {
        let index = self.index_of(id).ok_or(Refused::NoSuchMatch)?;
        let offer =
            self.matches[index].their_offer.filter(|offer| offer.shown).ok_or(Refused::NoSuchOffer)?;
        if !accept {
            self.decline_theirs(index);
            return Ok(None);
        }
        if offer.kind.begins_another() && !self.has_room() {
            return Err(Refused::TooManyMatches);
        }
        Ok(self.accept_theirs(index, offer))
    }

    pub(crate) fn received_offer(&mut self, offer: peer::Offer) -> Result<(), Violation> {
        let id = resume::read_id(&offer.match_id)?;
        let kind = match peer::OfferKind::try_from(offer.kind) {
            Ok(peer::OfferKind::OfferTakeBack) => OfferKind::TakeBack,
            Ok(peer::OfferKind::OfferDraw) => OfferKind::Draw,
            Ok(peer::OfferKind::OfferNewGame) => OfferKind::NewGame,
            Ok(peer::OfferKind::OfferNewGameSame) => OfferKind::NewGameSame,
            Ok(peer::OfferKind::OfferPause) => OfferKind::Pause,
            Ok(peer::OfferKind::OfferContinue) => OfferKind::Continue,
            Ok(peer::OfferKind::OfferAdjourn) => OfferKind::Adjourn,
            // A newer peer may offer more.
            Ok(peer::OfferKind::OfferUnspecified) | Err(_) => {
                self.send_offer_answer(id, offer.offer_id, None);
                return Ok(());
            }
        };
        let Some(index) = self.index_of(id).filter(|index| self.matches[*index].is_level()) else {
            self.send_offer_answer(id, offer.offer_id, None);
            return Ok(());
        };
        let state = &mut self.matches[index];
        if offer.offer_id <= state.last_offer_there {
            return Ok(());
        }
        if state.their_offer.is_some() || offer.revision > state.revision() {
            return Err(Violation::OutOfOrder("offer"));
        }
        let wrong = offer.ply > state.ply()
            || kind == OfferKind::TakeBack
                && offer.revision == state.revision()
                && state.last_decision(state.their_side(), offer.ply) != Some(offer.to_ply);
        if wrong {
            return Err(Violation::OutOfBounds("offer"));
        }
        state.last_offer_there = offer.offer_id;
        let untimely = offer.revision < state.revision()
            || state.check_phase(kind).is_err()
            || kind == OfferKind::TakeBack
                && state.last_decision(state.their_side(), state.ply()) != Some(offer.to_ply);
        let mine_out = state.my_offer().is_some();
        let crossed = mine_out && state.my_side() == engine::Side::First;
        if untimely || crossed {
            self.send_offer_answer(id, offer.offer_id, None);
            return Ok(());
        }
        state.their_offer =
            Some(TheirOffer { id: offer.offer_id, kind, to_ply: offer.to_ply, shown: !mine_out });
        if !mine_out {
            self.tell(Event::Offered { id, kind });
            self.tell(Event::MatchChanged(id));
        }
        Ok(())
    }

    pub(crate) fn received_offer_answer(
        &mut self,
        answer: peer::OfferAnswer,
    ) -> Result<Option<Following>, Violation> {
        let id = resume::read_id(&answer.match_id)?;
        let Some(index) = self.index_of(id).filter(|index| self.matches[*index].is_level()) else {
            return Ok(None);
        };
        let state = &self.matches[index];
        let Some(consent) = state.offered().filter(|_| state.my_offer == Some(answer.offer_id)) else {
            return Ok(None);
        };
        if !answer.accept {
            self.set_offered(index, None);
            self.tell(Event::OfferEnded { id, kind: consent.kind, mine: true, accepted: false });
            let following = self.show_theirs(index, consent.kind);
            self.settle(index);
            self.tell(Event::MatchChanged(id));
            return Ok(following);
        }
        let digest = state.digest_at(answer.ply).ok_or(Violation::OutOfBounds("offer answer"))?;
        let there = Standing {
            revision: answer.revision,
            ply: answer.ply,
            digest,
            result: (consent.kind == OfferKind::Draw).then_some(MatchResult::DrawAgreed),
            paused: matches!(consent.kind, OfferKind::Pause | OfferKind::Adjourn),
        };
        if consent.kind.begins_another() {
            if answer.revision != state.revision() {
                return Err(Violation::OutOfBounds("offer answer"));
            }
            return Ok(Some(Following { before: id, record: state.new_game(consent.kind), answers: None }));
        }
        if !self.take_consent(index, &there) {
            return Err(Violation::OutOfBounds("offer answer"));
        }
        self.send_ack(index, false);
        self.clock_check(index);
        Ok(None)
    }

    /// If the peer's record is what it becomes by accepting our offer, ours becomes the same. Returns whether it did.
    pub(crate) fn take_consent(&mut self, index: usize, there: &Standing) -> bool {
        let state = &mut self.matches[index];
        let Some(consent) = state.offered() else { return false };
        let revision = state.revision().saturating_add(1);
        if there.revision != revision || !state.begins_with(there) {
            return false;
        }
        let id = state.id();
        let gave_up = state.result().filter(|result| result.given_up_by() == Some(state.my_side()));
        let draws = there.result == Some(MatchResult::DrawAgreed);
        match consent.kind {
            OfferKind::TakeBack if there.ply == consent.to_ply && !draws && !there.paused => {
                state.cut(there.ply, revision);
                if let Some(result) = gave_up {
                    // Giving up came after the offer, and is meant.
                    state.set_result(revision, result);
                    let record = state.record().clone();
                    self.save(Entry::Replaced(record));
                } else {
                    self.save(Entry::TakenBack { id, ply: there.ply, revision });
                }
            }
            OfferKind::Draw if draws && there.ply >= consent.ply => {
                // What was played here since is void: the peer agreed before it saw that.
                let shorter = there.ply < state.ply();
                if shorter {
                    state.cut(there.ply, revision);
                }
                state.set_result(revision, MatchResult::DrawAgreed);
                state.set_offered(None);
                if shorter {
                    let record = state.record().clone();
                    self.save(Entry::Replaced(record));
                } else {
                    self.save(Entry::Ended { id, revision, result: MatchResult::DrawAgreed });
                }
            }
            OfferKind::Pause | OfferKind::Adjourn | OfferKind::Continue
                if state.would_agree(there) && there.ply >= consent.ply =>
            {
                let paused = consent.kind != OfferKind::Continue;
                let shorter = there.ply < state.ply();
                if shorter {
                    state.cut(there.ply, revision);
                }
                state.set_paused(revision, paused && gave_up.is_none());
                if let Some(result) = gave_up {
                    state.set_result(revision, result);
                }
                state.set_offered(None);
                if shorter || gave_up.is_some() {
                    let record = state.record().clone();
                    self.save(Entry::Replaced(record));
                } else {
                    self.save(Entry::Paused { id, revision, paused });
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
        self.matches[index].there = Some(*there);
        self.clock_check(index);
        self.decline_theirs(index);
        self.settle(index);
        self.tell(Event::OfferEnded { id, kind: consent.kind, mine: true, accepted: true });
        self.tell(Event::MatchChanged(id));
        true
    }

    /// If the peer has accepted our offer of a draw or a pause after actions of its own that we have not seen, or has gone on
    /// after a pause, takes over these and what was agreed.
    pub(crate) fn take_agreed(&mut self, index: usize, theirs: &MatchState) -> bool {
        let state = &self.matches[index];
        let (ply, there) = (state.ply(), theirs.standing());
        let unseen = there.ply > ply
            && theirs.begins_with(&state.standing())
            && theirs.rest(ply).all(|(by, _)| by == state.their_side());
        let kind = state.offered().map_or(OfferKind::Draw, |consent| consent.kind);
        let gave_up = state.result().filter(|result| result.given_up_by() == Some(state.my_side()));
        if !unseen || !state.would_agree(&there) {
            return false;
        }
        let state = &mut self.matches[index];
        for (number, (_, action)) in (ply..).zip(theirs.rest(ply)) {
            let mv = state.legal_move(state.their_side(), action).expect("the peer's record was replayed");
            state.push(action, mv, theirs.took(number));
        }
        state.set_paused(there.revision, there.paused);
        match (there.result, gave_up) {
            (Some(result), _) => state.set_result(there.revision, result),
            // Giving up came after the offer, and is meant, unless the peer has won meanwhile.
            (None, Some(result)) => state.set_result(there.revision, result),
            (None, None) => {}
        }
        state.set_offered(None);
        state.there = Some(there);
        let (id, record) = (state.id(), state.record().clone());
        self.save(Entry::Replaced(record));
        self.decline_theirs(index);
        self.tell(Event::OfferEnded { id, kind, mine: true, accepted: true });
        true
    }

    /// Sends the own offer again after a drop, if it still means anything; the peer has not accepted it, or the record
    /// would be newer. `accepted_there`: the peer has accepted after all, and is about
    /// to send what that made.
    pub(crate) fn offer_again(&mut self, index: usize, accepted_there: bool) {
        let state = &self.matches[index];
        let Some(consent) = state.offered().filter(|_| state.is_level() && state.my_offer.is_none()) else {
            return;
        };
        let id = state.id();
        if accepted_there && !state.followed {
            return;
        }
        let meaningful = state.check_phase(consent.kind).is_ok()
            && match consent.kind {
                OfferKind::TakeBack => {
                    state.last_decision(state.my_side(), state.ply()) == Some(consent.to_ply)
                }
                OfferKind::Draw
                | OfferKind::NewGame
                | OfferKind::NewGameSame
                | OfferKind::Pause
                | OfferKind::Continue
                | OfferKind::Adjourn => consent.ply == state.ply(),
            };
        if meaningful {
            self.send_offer(index);
        } else {
            self.set_offered(index, None);
            self.tell(Event::OfferEnded { id, kind: consent.kind, mine: true, accepted: false });
            self.settle(index);
        }
    }

    /// The peer's offers end with the link; its session sends again what it still means.
    pub(crate) fn offers_lost(&mut self) {
        for index in 0..self.matches.len() {
            if let Some(offer) = self.matches[index].their_offer.take()
                && offer.shown
            {
                let id = self.matches[index].id();
                self.tell(Event::OfferEnded { id, kind: offer.kind, mine: false, accepted: false });
            }
        }
    }

    /// Says no to the peer's open offer, if there is one.
    pub(crate) fn decline_theirs(&mut self, index: usize) {
        if let Some(offer) = self.matches[index].their_offer.take() {
            let id = self.matches[index].id();
            self.send_offer_answer(id, offer.id, None);
            if offer.shown {
                self.tell(Event::OfferEnded { id, kind: offer.kind, mine: false, accepted: false });
                self.tell(Event::MatchChanged(id));
            }
        }
    }

    /// Says no to the peer's open offer if the match has gone past it.
    pub(crate) fn decline_pointless(&mut self, index: usize) {
        let state = &self.matches[index];
        if state.their_offer.is_some_and(|offer| state.check_phase(offer.kind).is_err()) {
            self.decline_theirs(index);
        }
    }

    /// Begins the match that follows another. Before this returns, the session may drop the other.
    pub(crate) fn begin_following(&mut self, following: Following) {
        let Following { before, record, answers } = following;
        let Some(state) = self.write_down(record) else {
            if let Some((offer, ..)) = answers {
                self.send_offer_answer(before, offer.id, None);
            }
            return;
        };
        // In the journal before the peer is told; told before the session makes room.
        if let Some((offer, ply, revision)) = answers {
            self.send_offer_answer(before, offer.id, Some((ply, revision)));
        }
        self.new_game_began(before);
        if let Some((offer, ..)) = answers {
            self.tell(Event::OfferEnded { id: before, kind: offer.kind, mine: false, accepted: true });
        }
        let index = self.take_in(state);
        if answers.is_none() {
            self.begun_there(index);
        }
        self.clock_check(index);
    }

    /// The new game of this match has begun, by whatever way.
    fn new_game_began(&mut self, before: MatchId) {
        let Some(index) = self.index_of(before) else { return };
        self.matches[index].followed = true;
        if let Some(kind) = self.matches[index].my_offer().filter(|kind| kind.begins_another()) {
            self.set_offered(index, None);
            self.tell(Event::OfferEnded { id: before, kind, mine: true, accepted: true });
        }
        self.decline_pointless(index);
        self.settle(index);
        self.tell(Event::MatchChanged(before));
    }

    /// Says yes to the peer's offer. Gives back the match that is to begin by it: with that the answer leaves.
    fn accept_theirs(&mut self, index: usize, offer: TheirOffer) -> Option<Following> {
        let state = &mut self.matches[index];
        state.their_offer = None;
        let id = state.id();
        match offer.kind {
            OfferKind::TakeBack => {
                let revision = state.revision() + 1;
                state.cut(offer.to_ply, revision);
                self.save(Entry::TakenBack { id, ply: offer.to_ply, revision });
            }
            OfferKind::Draw => {
                let (revision, result) = (state.revision() + 1, MatchResult::DrawAgreed);
                state.set_result(revision, result);
                state.there = None;
                self.save(Entry::Ended { id, revision, result });
            }
            OfferKind::NewGame | OfferKind::NewGameSame => {
                let answers = Some((offer, state.ply(), state.revision()));
                return Some(Following { before: id, record: state.new_game(offer.kind), answers });
            }
            OfferKind::Pause | OfferKind::Adjourn | OfferKind::Continue => {
                let (revision, paused) = (state.revision() + 1, offer.kind != OfferKind::Continue);
                self.stop_clock(index);
                let state = &mut self.matches[index];
                state.set_paused(revision, paused);
                state.there = None;
                self.save(Entry::Paused { id, revision, paused });
            }
        }
        let state = &self.matches[index];
        let (ply, revision) = (state.ply(), state.revision());
        self.send_offer_answer(id, offer.id, Some((ply, revision)));
        self.clock_check(index);
        self.tell(Event::OfferEnded { id, kind: offer.kind, mine: false, accepted: true });
        self.tell(Event::MatchChanged(id));
        None
    }

    /// The own offer was declined: the peer's, if one was held back, comes up. If both asked for the same, both have it.
    fn show_theirs(&mut self, index: usize, declined: OfferKind) -> Option<Following> {
        let id = self.matches[index].id();
        let offer = self.matches[index].their_offer.as_mut()?;
        offer.shown = true;
        let offer = *offer;
        if offer.kind == declined && offer.kind != OfferKind::TakeBack {
            return self.accept_theirs(index, offer);
        }
        self.tell(Event::Offered { id, kind: offer.kind });
        None
    }

    fn set_offered(&mut self, index: usize, offered: Option<Consent>) {
        self.matches[index].set_offered(offered);
        let id = self.matches[index].id();
        self.save(Entry::Offered { id, offered });
    }

    fn send_offer(&mut self, index: usize) {
        let state = &mut self.matches[index];
        let Some(consent) = state.offered() else { return };
        state.last_offer += 1;
        state.my_offer = Some(state.last_offer);
        let offer = peer::Offer {
            match_id: resume::id_bytes(state.id()),
            offer_id: state.last_offer,
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
        self.send(offer);
    }

    /// `Some`: accepted, with the record's length and revision afterwards.
    fn send_offer_answer(&mut self, id: MatchId, offer_id: u32, accepted: Option<(u32, u32)>) {
        let (ply, revision) = accepted.unwrap_or_default();
        self.send(peer::OfferAnswer {
            match_id: resume::id_bytes(id),
            offer_id,
            accept: accepted.is_some(),
            ply,
            revision,
        });
    }
}

impl MatchState {
    /// Whether the peer's record is what it becomes by accepting our offer of a draw, of a pause or of its end, as far as a
    /// standing tells. Either may have given up since, and after a pause the peer may have gone on.
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

    /// The new game that follows this match: the same setup and pace, with swapped colours or the same.
    pub(crate) fn new_game(&self, kind: OfferKind) -> MatchRecord {
        let swapped = kind != OfferKind::NewGameSame;
        let id = self.id().of_new_game(self.revision(), swapped);
        let my_side = if swapped { self.their_side() } else { self.my_side() };
        let setup = race::next_setup(&self.record().setup, id, self.digest());
        MatchRecord::new(id, setup, my_side).with_pace(self.record().pace)
    }
}
