//! Letters: a match sent to an absent friend, whose device reads it later.
//!
//! A letter is the sender's whole record. The receiver applies its additional actions as if they were played live: only actions
//! of the sender, and only after an equal prefix. Other differences of the two records, such as an offer or a divergence, wait
//! for the next link, on which both devices can ask back. Letters are therefore idempotent: a late, duplicate or reordered letter
//! does no harm. Without a link no clock runs: matches by letter have no clocks.

use engine::{AnyGame, GameKind, Setup, Side};
use proto::peer;

use crate::cx::Cx;
use crate::match_state::Standing;
use crate::session::{Link, Session};
use crate::{Event, MatchId, MatchRecord, MatchResult, MatchState, Refused, Violation, resume};

impl Session {
    /// The letter about a match in its present state; `None` if the match is unknown to the session, has clocks, is a race, or
    /// has diverged records.
    pub fn letter(&self, id: MatchId) -> Option<peer::Record> {
        let state = self.match_state(id)?;
        (may_be_written(state) && !state.differs()).then(|| resume::record_message(state.record(), 0))
    }

    /// Applies a letter about a match of the session.
    pub(crate) fn received_letter(&mut self, record: &peer::Record) -> Result<(), Violation> {
        if !matches!(self.link, Link::Down | Link::Closed(_)) {
            // The link already carries newer data.
            return Ok(());
        }
        let theirs = resume::read_record(record)?;
        if let Some(index) = self.index_of(theirs.id()) {
            self.step(index, |state, cx| state.received_letter(cx, &theirs));
            // Without a link nothing can be sent.
            self.effects.drop_sends();
        }
        Ok(())
    }

    /// Begins a match that the peer is asked about by letter.
    pub(crate) fn begin_by_letter(
        &mut self,
        id: MatchId,
        setup: Setup,
        my_side: Side,
    ) -> Result<(), Refused> {
        if !self.known || !matches!(self.link, Link::Down | Link::Closed(_)) || self.index_of(id).is_some() {
            return Err(Refused::WrongPhase);
        }
        if AnyGame::new(&setup).is_err() || setup.kind() == GameKind::LightsOut {
            return Err(Refused::UnknownGame);
        }
        if !self.has_room() {
            return Err(Refused::TooManyMatches);
        }
        self.begin(MatchRecord::new(id, setup, my_side));
        Ok(())
    }

    /// Accepts the match proposed by a letter of the peer.
    pub(crate) fn accept_letter(&mut self, record: &peer::Record) -> Result<(), Refused> {
        let theirs = resume::read_record(record).map_err(|_| Refused::NoSuchInvitation)?;
        if !self.known || !may_begin(&theirs) || self.index_of(theirs.id()).is_some() {
            return Err(Refused::NoSuchInvitation);
        }
        if !self.has_room() {
            return Err(Refused::TooManyMatches);
        }
        // A link that is up by now carries the news at once.
        if let Some(index) = self.begin(theirs.record().clone())
            && self.matches[index].is_level()
        {
            self.step(index, MatchState::ask_for_rest);
        }
        Ok(())
    }
}

impl MatchState {
    /// Applies the peer's record from a letter, as far as it extends this record.
    fn received_letter(&mut self, cx: &mut Cx<'_>, theirs: &MatchState) {
        let (ours, told) = (self.record(), theirs.record());
        let same = ours.setup == told.setup && ours.my_side == told.my_side && ours.pace == told.pace;
        let (mine, there) = (self.standing(), theirs.standing());
        let (my_side, their_side) = (self.my_side(), self.their_side());
        if !same
            || !may_be_written(self)
            || self.differs()
            || mine.revision != there.revision
            || mine.paused != there.paused
        {
            return;
        }
        if theirs.begins_with(&mine) {
            if theirs.line.rest(mine.ply).any(|(by, _)| by == my_side) || !fits(&mine, &there, my_side) {
                return;
            }
            for (_, action) in theirs.line.rest(mine.ply) {
                let Ok(mv) = self.legal_move(their_side, action) else { break };
                self.take_action(cx, action, mv, 0);
            }
        } else if !self.begins_with(&there) {
            return;
        }
        if let Some(result) = there.result.filter(|result| result.given_up_by() == Some(their_side)) {
            self.join_given_up(cx, result, there.ply);
        }
        let news = self.there.is_none_or(|known| {
            known.revision != there.revision
                || known.ply < there.ply
                || known.ply == there.ply && known.result.is_none()
        });
        if news {
            self.there = Some(there);
        }
        let id = self.id();
        self.settle(cx);
        cx.tell(Event::MatchChanged(id));
    }
}

/// The match that a peer's letter proposes, if it proposes an unknown one: id, setup, and this device's side.
pub fn asked_by_letter(record: &peer::Record) -> Option<(MatchId, Setup, Side)> {
    let theirs = resume::read_record(record).ok().filter(may_begin)?;
    Some((theirs.id(), theirs.record().setup.clone(), theirs.my_side()))
}

/// Whether the match has no clocks: a match with clocks, or of Lights Out, is not played by letter.
fn may_be_written(state: &MatchState) -> bool {
    state.record().pace.is_none() && state.record().setup.kind() != GameKind::LightsOut
}

/// Whether only the sender has acted, no offer was accepted, no hints are agreed, and the match is not over.
fn may_begin(theirs: &MatchState) -> bool {
    let record = theirs.record();
    may_be_written(theirs)
        && record.revision == 0
        && record.result.is_none()
        && !record.paused
        && record.hints.is_none()
        && theirs.decided_by().all(|by| by != theirs.my_side())
}

/// Whether the peer's longer record may extend this record: this match is not over, or its result is one that the peer did not
/// know when it acted.
fn fits(mine: &Standing, there: &Standing, my_side: Side) -> bool {
    match (mine.result, there.result) {
        (_, Some(theirs)) if theirs.given_up_by() == Some(my_side) => mine.result == there.result,
        (None, Some(MatchResult::DrawAgreed)) => false,
        (None, _) => true,
        (Some(mine), theirs) if mine.given_up_by() == Some(my_side) => {
            theirs != Some(MatchResult::DrawAgreed)
        }
        (Some(mine), theirs) => Some(mine) == theirs,
    }
}
