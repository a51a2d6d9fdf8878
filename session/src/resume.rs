//! Bringing both records level: what hellos tell of matches, acknowledgements, whole records, and what happens when records
//! have gone different ways.
//!
//! What makes this safe: everything is in the journal before it is sent, so no device forgets what it said. With equal
//! revisions one list of actions is then always a beginning of the other, since only the side to move may play; a newer
//! revision comes from an offer that the older side has written down. Whatever else is found (a restored backup, a lost
//! journal, a lie) is not decided here: both people are told.

use std::time::Duration;

use bytes::Bytes;
use engine::Side;
use proto::peer;

use crate::match_state::{Reach, Standing};
use crate::session::Session;
use crate::{
    Entry, Event, MatchId, MatchRecord, MatchResult, MatchState, OfferKind, Refused, Violation, wire,
};

/// Missing actions are sent one by one up to this many, more as a whole record. One by one is the common case (one or two)
/// and is refereed like play; many would come near the burst of frames that closes a link.
const REST_BY_PLAYS: usize = 16;

/// A record that two people have revised more often than once a second for a day was made up; what counts up from here
/// does not overflow.
const MOST_REVISIONS: u32 = 86_400;

impl Session {
    /// Both hellos are here, and the strings are known to be the same: brings every match level.
    pub(crate) fn resume(&mut self, told: &[(MatchId, Standing)]) {
        for index in 0..self.matches.len() {
            let id = self.matches[index].id();
            let before = self.matches[index].standing();
            let settled = self.matches[index].settled;
            if let Some((_, there)) = told.iter().find(|(told, _)| *told == id) {
                self.matches[index].reach = Reach::Level;
                self.learn(index, *there, true);
                // Our hello told of an older state, or left the match out.
                if self.matches[index].is_level() && (settled || self.matches[index].standing() != before) {
                    self.send_ack(index, false);
                }
            } else if settled {
                self.matches[index].reach = Reach::Level;
                self.matches[index].there = Some(before);
            } else {
                self.matches[index].reach = Reach::Asked;
                self.send_record(index);
            }
            let (next, revision) = (self.matches[index].new_game_id(), self.matches[index].revision());
            let there = told.iter().find(|(told, _)| *told == id).map(|(_, there)| there.revision);
            if there.is_some_and(|there| there < revision) {
                self.matches[index].offer_waits = true;
            } else {
                let followed = told.iter().any(|(told, _)| *told == next);
                self.offer_again(index, followed || there.is_some_and(|there| there > revision));
            }
            self.tell(Event::MatchChanged(id));
        }
    }

    /// Takes in how the peer's record stands. `rest`: and sends what the peer lacks.
    pub(crate) fn learn(&mut self, index: usize, there: Standing, rest: bool) {
        self.take_consent(index, &there);
        let state = &mut self.matches[index];
        let mine = state.standing();
        let (my_side, their_side) = (state.my_side(), state.their_side());
        let same_revision = there.revision == mine.revision;
        if there.revision > mine.revision {
            if state.would_draw(&there) && there.ply > mine.ply {
                // Our draw offer was accepted after an action that we have not seen: it comes with the record.
                return self.send_ack(index, true);
            }
            return self.differ(index);
        }
        if same_revision && there.ply <= mine.ply && !state.begins_with(&there) {
            return self.differ(index);
        }
        // An acknowledgement that comes twice, the second time late, says nothing new.
        let stale = state.there.is_some_and(|known| {
            known.revision == there.revision
                && (known.ply > there.ply || known.ply == there.ply && there.result.is_none())
        });
        if same_revision && (rest || !stale && there.ply <= mine.ply) {
            state.there = Some(there);
        }
        match there.result {
            Some(MatchResult::Resigned(side)) if side == their_side => {
                self.join_resigned(index, side, there.ply);
            }
            Some(MatchResult::Resigned(_)) if same_revision && mine.result.is_none() => {
                return self.differ(index);
            }
            Some(MatchResult::DrawAgreed) if same_revision && mine.result != there.result => {
                return self.differ(index);
            }
            Some(MatchResult::Played(_))
                if same_revision && there.ply == mine.ply && mine.result != there.result =>
            {
                return self.differ(index);
            }
            Some(MatchResult::Resigned(_) | MatchResult::DrawAgreed | MatchResult::Played(_)) | None => {}
        }
        if rest {
            if same_revision {
                self.send_rest(index, there.ply);
            }
            // Giving up is told whatever the revision: the peer may still be about to take over what was agreed.
            let gave_up = Some(MatchResult::Resigned(my_side));
            if self.matches[index].result() == gave_up && there.result != gave_up {
                self.send_resign(index);
            }
        }
        self.settle(index);
    }

    /// Sends what comes after the first `ply` actions.
    fn send_rest(&mut self, index: usize, ply: u32) {
        let state = &self.matches[index];
        let rest: Vec<_> = state.rest(ply).collect();
        if rest.is_empty() {
            return;
        }
        let their_side = state.their_side();
        // The peer would rightly refuse to be sent its own actions: it has lost them, and its person has to be asked.
        if rest.len() > REST_BY_PLAYS || rest.iter().any(|(by, _)| *by == their_side) {
            self.send_record(index);
            return;
        }
        for (number, (_, action)) in (ply + 1..).zip(rest) {
            // The thinking time was told with the first sending, if that arrived, and does not outlive it.
            let play = self.play_message(index, number, action, Duration::ZERO);
            self.send_awaited(play);
        }
    }

    pub(crate) fn send_ack(&mut self, index: usize, wants_rest: bool) {
        let state = &self.matches[index];
        let peer::ResumePoint { match_id, ply, digest, revision, result, .. } = point(state);
        self.send(peer::Ack { match_id, ply, digest, revision, result, wants_rest, ..peer::Ack::default() });
    }

    pub(crate) fn received_ack(&mut self, ack: peer::Ack) -> Result<(), Violation> {
        let id = read_id(&ack.match_id)?;
        let there = standing(ack.revision, ack.ply, ack.digest, ack.result.as_ref())?;
        let Some(index) = self.index_of(id) else { return Ok(()) };
        let state = &mut self.matches[index];
        match state.reach {
            Reach::Away => {}
            Reach::Level => {
                let before = (state.there, state.result());
                self.learn(index, there, ack.wants_rest);
                if ack.wants_rest && there.revision < self.matches[index].revision() {
                    self.send_record(index);
                }
                let state = &mut self.matches[index];
                if there.revision == state.revision() && std::mem::take(&mut state.offer_waits) {
                    self.offer_again(index, false);
                }
                let state = &self.matches[index];
                if (state.there, state.result()) != before {
                    self.tell(Event::MatchChanged(id));
                }
            }
            // The peer has taken the record that it was sent.
            Reach::Asked => {
                state.reach = Reach::Level;
                self.learn(index, there, true);
                self.offer_again(index, false);
                self.tell(Event::MatchChanged(id));
            }
            Reach::Differs { .. } => {
                if there == state.standing() {
                    state.reach = Reach::Level;
                    state.there = Some(there);
                    self.settle(index);
                    self.offer_again(index, false);
                    self.tell(Event::MatchChanged(id));
                }
            }
        }
        Ok(())
    }

    fn send_record(&mut self, index: usize) {
        let state = &mut self.matches[index];
        // Once on each link: two devices must not answer records with records.
        if std::mem::replace(&mut state.record_sent, true) {
            return;
        }
        let record = state.record();
        let message = peer::Record {
            match_id: id_bytes(record.id),
            setup: Some(wire::setup(&record.setup)),
            sender_side: wire::side(record.my_side).into(),
            revision: record.revision,
            actions: wire::pack_actions(&record.actions).into(),
            result: record.result.map(wire::result),
            ..peer::Record::default()
        };
        self.send_awaited(message);
    }

    pub(crate) fn received_record(&mut self, record: peer::Record) -> Result<(), Violation> {
        const WRONG: Violation = Violation::OutOfBounds("record");
        let id = read_id(&record.match_id)?;
        let their_side = wire::read_side(record.sender_side).map_err(|_| WRONG)?;
        let result = record.result.as_ref().map(wire::read_result).transpose().map_err(|_| WRONG)?;
        let theirs = MatchState::new(MatchRecord {
            id,
            setup: wire::read_setup(record.setup.as_ref()).map_err(|_| WRONG)?,
            my_side: their_side.other(),
            actions: wire::unpack_actions(&record.actions).map_err(|_| WRONG)?,
            revision: record.revision,
            result,
            offered: None,
        })
        .map_err(|_| WRONG)?;
        if theirs.result() != result || record.revision > MOST_REVISIONS {
            return Err(WRONG);
        }
        match self.index_of(id) {
            Some(index) => {
                let mine = self.matches[index].record();
                if mine.setup != theirs.record().setup || mine.my_side != theirs.my_side() {
                    return Err(WRONG);
                }
                self.compare_record(index, theirs);
            }
            None => self.unknown_record(theirs),
        }
        Ok(())
    }

    /// The peer's journal holds a match that ours does not.
    fn unknown_record(&mut self, theirs: MatchState) {
        let id = theirs.id();
        // What has actions of this device's was not merely accepted there: this device has forgotten it.
        let untouched = theirs.decided_by().all(|by| by != theirs.my_side()) && theirs.revision() == 0;
        let follows = self.matches.iter().find(|before| {
            before.my_offer() == Some(OfferKind::NewGame)
                && before.new_game_id() == id
                && before.new_game().setup == theirs.record().setup
                && before.new_game().my_side == theirs.my_side()
        });
        let follows = follows.map(MatchState::id);
        if untouched && (follows.is_some() || self.invitations.asked_for(theirs.record())) {
            self.adopt(theirs.record().clone());
            if let Some(before) = follows {
                self.new_game_began(before);
            }
        } else if theirs.result().is_some() {
            // Over and unknown: settled here and put away, or never heard of. Either way there is nothing left to play.
            if untouched && theirs.result() == Some(MatchResult::Resigned(theirs.their_side())) {
                self.save(Entry::Learned(theirs.record().clone()));
            }
            let peer::ResumePoint { match_id, ply, digest, revision, result, .. } = point(&theirs);
            self.send(peer::Ack {
                match_id,
                ply,
                digest,
                revision,
                result,
                wants_rest: false,
                ..peer::Ack::default()
            });
        } else if !self.invitations.considers(id) {
            self.consider(theirs.record().clone(), true);
        }
    }

    /// The peer's whole record beside ours.
    fn compare_record(&mut self, index: usize, theirs: MatchState) {
        let there = theirs.standing();
        if !self.take_draw(index, &theirs) {
            self.take_consent(index, &there);
        }
        let state = &self.matches[index];
        let mine = state.standing();
        let (my_side, their_side) = (state.my_side(), state.their_side());
        if there == mine {
            self.matches[index].reach = Reach::Level;
            self.matches[index].there = Some(there);
            self.settle(index);
            self.send_ack(index, false);
            self.tell(Event::MatchChanged(state_id(self, index)));
            return;
        }
        let result_fits = match (mine.result, there.result) {
            (_, Some(MatchResult::Resigned(side))) if side == my_side => mine.result == there.result,
            (None, Some(MatchResult::DrawAgreed)) => false,
            (None, _) => true,
            (Some(MatchResult::Resigned(side)), _) if side == my_side => {
                there.result != Some(MatchResult::DrawAgreed)
            }
            (Some(mine), theirs) => Some(mine) == theirs || there.ply < state.ply(),
        };
        let ours_first = theirs.begins_with(&mine);
        let only_theirs = theirs.rest(mine.ply).all(|(by, _)| by == their_side);
        if there.revision != mine.revision || !result_fits {
            self.differ_with(index, theirs);
        } else if ours_first && only_theirs {
            self.matches[index].reach = Reach::Level;
            for (_, action) in theirs.rest(mine.ply) {
                let Ok(mv) = self.matches[index].legal_move(their_side, action) else { break };
                self.take_action(index, action, mv);
            }
            self.learn(index, there, true);
            if self.matches[index].is_level() {
                self.send_ack(index, false);
            }
        } else if state.begins_with(&there) && !(state.record_sent && rest_has(state, there.ply, their_side))
        {
            self.matches[index].reach = Reach::Level;
            self.learn(index, there, true);
        } else {
            self.differ_with(index, theirs);
        }
        let id = self.matches[index].id();
        self.tell(Event::MatchChanged(id));
    }

    /// Neither device may decide which record holds. The peer is sent ours, so that both people can be told how far the
    /// records are the same.
    fn differ(&mut self, index: usize) {
        let state = &mut self.matches[index];
        if !state.differs() {
            state.reach = Reach::Differs { theirs: None };
            state.my_offer = None;
        }
        let id = state.id();
        self.decline_theirs(index);
        self.send_record(index);
        self.tell(Event::MatchChanged(id));
    }

    fn differ_with(&mut self, index: usize, theirs: MatchState) {
        self.differ(index);
        let state = &mut self.matches[index];
        let id = state.id();
        let common = state.common(&theirs.record().actions);
        state.reach = Reach::Differs { theirs: Some(theirs.record().clone()) };
        self.tell(Event::RecordsDiffer { id, common });
    }

    /// The person here gives way.
    pub(crate) fn take_theirs(&mut self, id: MatchId) -> Result<(), Refused> {
        let index = self.index_of(id).ok_or(Refused::NoSuchMatch)?;
        let Reach::Differs { theirs: Some(theirs) } = &self.matches[index].reach else {
            return Err(Refused::WrongPhase);
        };
        let mut state = MatchState::new(theirs.clone()).map_err(|_| Refused::WrongPhase)?;
        state.reach = Reach::Level;
        state.there = Some(state.standing());
        state.last_offer = self.matches[index].last_offer;
        state.last_offer_there = self.matches[index].last_offer_there;
        self.save(Entry::Replaced(state.record().clone()));
        self.matches[index] = state;
        self.settle(index);
        self.send_ack(index, false);
        self.tell(Event::MatchChanged(id));
        Ok(())
    }

    /// Notes that a match is over on both devices, once that is known.
    pub(crate) fn settle(&mut self, index: usize) {
        let state = &mut self.matches[index];
        let level = state.there == Some(state.standing());
        if level && state.result().is_some() && state.offered().is_none() && !state.settled {
            let id = state.id();
            self.save(Entry::Settled(id));
            self.matches[index].settled = true;
        }
    }
}

fn state_id(session: &Session, index: usize) -> MatchId {
    session.matches[index].id()
}

/// Whether the actions after the first `ply` hold a decision of this side's.
fn rest_has(state: &MatchState, ply: u32, side: Side) -> bool {
    state.rest(ply).any(|(by, _)| by == side)
}

/// A match as a hello tells it.
pub(crate) fn point(state: &MatchState) -> peer::ResumePoint {
    let Standing { revision, ply, digest, result } = state.standing();
    peer::ResumePoint {
        match_id: id_bytes(state.id()),
        ply,
        digest,
        revision,
        result: result.map(wire::result),
        ..peer::ResumePoint::default()
    }
}

/// The matches that a hello tells; each at most once.
pub(crate) fn read_points(hello: &peer::Hello) -> Result<Vec<(MatchId, Standing)>, Violation> {
    let mut told = Vec::new();
    for point in hello.matches.iter().take(proto::limits::RESUME_POINTS) {
        let id = read_id(&point.match_id)?;
        if told.iter().any(|(other, _)| *other == id) {
            return Err(Violation::OutOfBounds("match id"));
        }
        told.push((id, standing(point.revision, point.ply, point.digest, point.result.as_ref())?));
    }
    Ok(told)
}

fn standing(
    revision: u32,
    ply: u32,
    digest: u64,
    result: Option<&proto::board::Result>,
) -> Result<Standing, Violation> {
    let result = result.map(wire::read_result).transpose().map_err(|_| Violation::OutOfBounds("result"))?;
    Ok(Standing { revision, ply, digest, result })
}

pub(crate) fn id_bytes(id: MatchId) -> Bytes {
    Bytes::copy_from_slice(&id.0)
}

pub(crate) fn read_id(bytes: &[u8]) -> Result<MatchId, Violation> {
    bytes.try_into().map(MatchId).map_err(|_| Violation::OutOfBounds("id"))
}
