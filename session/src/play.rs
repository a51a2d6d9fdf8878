//! Actions and giving up. Whoever receives an action is its referee: turn, number, legality and digest are checked before
//! anything is written.

use std::time::Duration;

use engine::{Action, Side};
use proto::peer;

use crate::match_state::{Standing, Unplayable};
use crate::session::Session;
use crate::{
    Entry, Event, MatchId, MatchRecord, MatchResult, MatchState, Refused, Settled, Violation, resume, wire,
};

impl Session {
    /// Puts back a match from the journal.
    pub(crate) fn restore(&mut self, record: MatchRecord, settled: Settled) {
        let id = record.id;
        let ended = record.result.is_some();
        match MatchState::new(record) {
            Ok(mut state) => {
                let result = state.result();
                let revision = state.revision();
                state.settled = settled && ended;
                let before = self.matches.iter_mut().find(|other| other.new_game_id() == id);
                if let Some(before) = before {
                    before.followed = true;
                }
                self.add_match(state);
                if let Some(result) = result
                    && !ended
                {
                    self.save(Entry::Ended { id, revision, result });
                }
            }
            Err(Unplayable) => self.tell(Event::RecordUnreadable(id)),
        }
    }

    pub(crate) fn act(&mut self, id: MatchId, action: Action, thought: Duration) -> Result<(), Refused> {
        let index = self.index_of(id).ok_or(Refused::NoSuchMatch)?;
        let state = &self.matches[index];
        state.check_can_act()?;
        let mv = state.legal_move(state.my_side(), action)?;
        // Playing on is an answer too. It goes out first, so that the peer never waits for one.
        self.decline_theirs(index);
        let state = &mut self.matches[index];
        state.push(action, mv);
        let (ply, result) = (state.ply(), state.result());
        self.save(Entry::Acted { id, ply, action, result });
        if self.matches[index].is_level() {
            let play = self.play_message(index, ply, action, thought);
            self.send_awaited(play);
        }
        self.tell(Event::MatchChanged(id));
        Ok(())
    }

    pub(crate) fn play_message(
        &self,
        index: usize,
        ply: u32,
        action: Action,
        thought: Duration,
    ) -> peer::Play {
        let state = &self.matches[index];
        peer::Play {
            match_id: resume::id_bytes(state.id()),
            ply,
            action: Some(wire::action(action)),
            thought_ms: u32::try_from(thought.as_millis()).unwrap_or(u32::MAX),
            digest: state.digest_at(ply).unwrap_or_default(),
            revision: state.revision(),
        }
    }

    pub(crate) fn received_play(&mut self, play: peer::Play) -> Result<(), Violation> {
        let id = resume::read_id(&play.match_id)?;
        let action = wire::read_action(play.action.as_ref()).map_err(|_| Violation::OutOfBounds("action"))?;
        let bad = Violation::BadPlay { ply: play.ply };
        // A match that is not level is brought level by its record, not by single actions.
        let Some(index) = self.index_of(id).filter(|index| self.matches[*index].is_level()) else {
            return Ok(());
        };
        let state = &self.matches[index];
        if play.revision < state.revision() {
            // It was on its way when an offer of the peer's was accepted here; the peer's record is cut by the answer.
            return Ok(());
        }
        if play.revision > state.revision() {
            return Err(bad);
        }
        let ply = state.ply();
        if play.ply <= ply {
            if play.ply == 0 || state.digest_at(play.ply) != Some(play.digest) {
                return Err(bad);
            }
            // Sent twice.
            self.send_ack(index, false);
            return Ok(());
        }
        if play.ply > ply + 1 {
            self.send_ack(index, true);
            return Ok(());
        }
        let counts = match state.result() {
            None => true,
            // It may have been on its way when this side gave up: then it still counts, and may even have won.
            Some(MatchResult::Resigned(side)) => side == state.my_side() || play.ply <= state.gave_up_at,
            Some(MatchResult::Played(_) | MatchResult::DrawAgreed) => false,
        };
        if !counts {
            return Err(bad);
        }
        let mv = state.legal_move(state.their_side(), action).map_err(|_| bad.clone())?;
        if state.digest_with(action) != play.digest {
            return Err(bad);
        }
        let told = state.there.filter(|there| there.revision == state.revision());
        self.take_action(index, action, mv);
        let state = &mut self.matches[index];
        if told.is_none_or(|told| told.ply <= state.ply()) {
            // That this side gave up, the peer may not know yet.
            let unknown = MatchResult::Resigned(state.my_side());
            let known = told.is_some_and(|told| told.result == Some(unknown));
            let result = state.result().filter(|result| *result != unknown || known);
            state.there = Some(Standing { result, ..state.standing() });
        }
        self.settle(index);
        self.send_ack(index, false);
        Ok(())
    }

    /// Writes down an action of the peer's that was found legal.
    pub(crate) fn take_action(&mut self, index: usize, action: Action, mv: engine::AnyMove) {
        let state = &mut self.matches[index];
        state.push(action, mv);
        let (id, ply, result) = (state.id(), state.ply(), state.result());
        self.save(Entry::Acted { id, ply, action, result });
        // Who plays on no longer asks to go back.
        if self.matches[index].their_offer.is_some_and(|offer| offer.kind == crate::OfferKind::TakeBack) {
            self.decline_theirs(index);
        }
        self.decline_pointless(index);
        self.tell(Event::MatchChanged(id));
    }

    pub(crate) fn resign(&mut self, id: MatchId) -> Result<(), Refused> {
        let index = self.index_of(id).ok_or(Refused::NoSuchMatch)?;
        if !self.matches[index].can_resign() {
            return Err(Refused::WrongPhase);
        }
        self.decline_theirs(index);
        let state = &mut self.matches[index];
        let (revision, result) = (state.revision(), MatchResult::Resigned(state.my_side()));
        state.set_result(revision, result);
        self.save(Entry::Ended { id, revision, result });
        if self.matches[index].is_level() {
            self.send_resign(index);
        }
        self.tell(Event::MatchChanged(id));
        Ok(())
    }

    pub(crate) fn send_resign(&mut self, index: usize) {
        let state = &self.matches[index];
        let resign = peer::Resign {
            match_id: resume::id_bytes(state.id()),
            ply: state.ply(),
            revision: state.revision(),
        };
        self.send_awaited(resign);
    }

    pub(crate) fn received_resign(&mut self, resign: peer::Resign) -> Result<(), Violation> {
        let id = resume::read_id(&resign.match_id)?;
        let Some(index) = self.index_of(id).filter(|index| self.matches[*index].is_level()) else {
            return Ok(());
        };
        // An older revision is fine: giving up outlives a take back that was accepted here in the meantime.
        if resign.revision > self.matches[index].revision() {
            return Err(Violation::OutOfBounds("revision"));
        }
        let side = self.matches[index].their_side();
        let ply = resign.ply.min(self.matches[index].ply());
        self.join_resigned(index, side, ply);
        let state = &mut self.matches[index];
        if resign.revision == state.revision() && resign.ply == state.ply() && state.there.is_some() {
            state.there = Some(Standing { result: Some(MatchResult::Resigned(side)), ..state.standing() });
        }
        self.settle(index);
        self.send_ack(index, false);
        Ok(())
    }

    /// The peer has given up, with so many actions in its record. Whoever learns what in whatever order comes to the same result: the rules' own end goes before
    /// giving up, an agreed draw (which has a newer revision) too, and if both have given up, the first side has.
    pub(crate) fn join_resigned(&mut self, index: usize, side: Side, ply: u32) {
        let state = &mut self.matches[index];
        state.gave_up_at = ply;
        let gives_way = match state.result() {
            None => true,
            Some(MatchResult::Resigned(other)) => other == Side::Second && side == Side::First,
            Some(MatchResult::Played(_) | MatchResult::DrawAgreed) => false,
        };
        if !gives_way {
            return;
        }
        let (id, revision, result) = (state.id(), state.revision(), MatchResult::Resigned(side));
        state.set_result(revision, result);
        self.save(Entry::Ended { id, revision, result });
        self.decline_pointless(index);
        self.tell(Event::MatchChanged(id));
    }
}
