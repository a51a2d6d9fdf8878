//! Letters: a match told to a friend who is not there, and read by the friend's device whenever it comes by.
//!
//! A letter is the sender's whole record. What it adds is taken in as if it had been played: only actions that the sender
//! decides, and only behind a record that is the same up to there. Whatever else two records may have between them, such as an
//! offer or two different pasts, waits for the next link, where both devices can ask back. So a letter that comes late, twice,
//! or out of order does no harm. Without a link no clock runs: matches by letter have none.

use engine::{AnyGame, GameKind, Setup, Side};
use proto::peer;

use crate::cx::Cx;
use crate::match_state::Standing;
use crate::session::{Link, Session};
use crate::{Event, MatchId, MatchRecord, MatchResult, MatchState, Refused, Violation, resume};

impl Session {
    /// What to write to the peer about a match, as it stands here; `None` when the match is not one of the session's, has clocks,
    /// is a race, or is one whose records differ.
    pub fn letter(&self, id: MatchId) -> Option<peer::Record> {
        let state = self.match_state(id)?;
        (may_be_written(state) && !state.differs()).then(|| resume::record_message(state.record(), 0))
    }

    /// Takes in a letter about a match of the session's.
    pub(crate) fn received_letter(&mut self, record: &peer::Record) -> Result<(), Violation> {
        if !matches!(self.link, Link::Down | Link::Closed(_)) {
            // The link says it better.
            return Ok(());
        }
        let theirs = resume::read_record(record)?;
        if let Some(index) = self.index_of(theirs.id()) {
            self.step(index, |state, cx| state.received_letter(cx, &theirs));
            // There is nobody to send anything to.
            self.effects.drop_sends();
        }
        Ok(())
    }

    /// Begins a match that the peer will be asked about by letter.
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

    /// The person here wants to play the match that a letter of the peer's is about.
    pub(crate) fn accept_letter(&mut self, record: &peer::Record) -> Result<(), Refused> {
        let theirs = resume::read_record(record).map_err(|_| Refused::NoSuchInvitation)?;
        if !self.known || !may_begin(&theirs) || self.index_of(theirs.id()).is_some() {
            return Err(Refused::NoSuchInvitation);
        }
        if !self.has_room() {
            return Err(Refused::TooManyMatches);
        }
        // A link that stands in the meantime hears of it at once.
        if let Some(index) = self.begin(theirs.record().clone())
            && self.matches[index].is_level()
        {
            self.step(index, MatchState::ask_for_rest);
        }
        Ok(())
    }
}

impl MatchState {
    /// Takes in the peer's record as a letter tells it, as far as it adds to this one.
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

/// The match that a letter of a peer's asks for, if it asks for one that is not known here: its id, what is played, and this
/// device's side.
pub fn asked_by_letter(record: &peer::Record) -> Option<(MatchId, Setup, Side)> {
    let theirs = resume::read_record(record).ok().filter(may_begin)?;
    Some((theirs.id(), theirs.record().setup.clone(), theirs.my_side()))
}

/// Whether time plays no part in it: a match with clocks is not told by letter, nor is a race.
fn may_be_written(state: &MatchState) -> bool {
    state.record().pace.is_none() && !state.is_race()
}

/// Whether only the sender has acted, nothing was agreed upon, and there is something left to play.
fn may_begin(theirs: &MatchState) -> bool {
    let record = theirs.record();
    may_be_written(theirs)
        && record.revision == 0
        && record.result.is_none()
        && !record.paused
        && theirs.decided_by().all(|by| by != theirs.my_side())
}

/// Whether the peer's longer record may follow ours: ours goes on, or its end is one that the peer did not know of when it acted.
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
