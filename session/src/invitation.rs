//! Asking for a match, and the answer.
//!
//! A match begins, in the journal, first with whoever accepts; the inviter follows when the answer arrives. So an answer that
//! is lost leaves a match that only one side knows: the inviter remembers what it asked for, and takes the match over when
//! the links next stand (see `resume`). For the same reason an answer that crosses a withdrawal wins.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use engine::{AnyGame, Setup, Side};
use proto::peer::{self, invite_answer::Answer};

use crate::match_state::Reach;
use crate::session::{Link, Session};
use crate::{
    Entry, Event, Instant, InvitationEnd, MatchId, MatchRecord, MatchState, Refused, Violation, resume, wire,
};

/// An invitation ends by itself after this. Long enough to fetch the person whose device rings.
const OPEN_FOR: Duration = Duration::from_mins(1);

/// Own invitations that are over but might still turn out to have been accepted: more than are sent in one stay.
const REMEMBERED: usize = 8;

/// At most one of each side's is open.
#[derive(Default)]
pub(crate) struct Invitations {
    mine: Option<Mine>,
    theirs: Option<Theirs>,
    /// The oldest first.
    over: VecDeque<Mine>,
}

/// What this device asked for.
#[derive(Clone)]
struct Mine {
    id: MatchId,
    setup: Setup,
    my_side: Side,
    until: Instant,
}

/// What the peer asks for.
struct Theirs {
    /// The match that accepting begins.
    record: MatchRecord,
    /// The match goes on already in the peer's journal.
    continued: bool,
    until: Instant,
}

impl Invitations {
    /// When an invitation ends by itself.
    pub(crate) fn next(&self) -> Option<Instant> {
        let mine = self.mine.as_ref().map(|mine| mine.until);
        let theirs = self.theirs.as_ref().map(|theirs| theirs.until);
        [mine, theirs].into_iter().flatten().min()
    }

    fn remember(&mut self, mine: Mine) {
        if self.over.len() == REMEMBERED {
            self.over.pop_front();
        }
        self.over.push_back(mine);
    }

    /// Takes out the own invitation with this id, open or over.
    fn take_mine(&mut self, id: MatchId) -> Option<Mine> {
        if let Some(mine) = self.mine.take_if(|mine| mine.id == id) {
            return Some(mine);
        }
        let index = self.over.iter().position(|mine| mine.id == id)?;
        self.over.remove(index)
    }

    /// Whether the person here is being asked about this match.
    pub(crate) fn considers(&self, id: MatchId) -> bool {
        self.theirs.as_ref().is_some_and(|theirs| theirs.record.id == id)
    }

    /// Whether this device asked for just this match.
    pub(crate) fn asked_for(&self, record: &MatchRecord) -> bool {
        self.mine
            .iter()
            .chain(&self.over)
            .any(|mine| mine.id == record.id && mine.setup == record.setup && mine.my_side == record.my_side)
    }
}

impl Session {
    pub(crate) fn invite(&mut self, id: MatchId, setup: Setup, my_side: Side) -> Result<(), Refused> {
        match self.link {
            Link::Up => {}
            Link::Comparing { .. } => return Err(Refused::NotCompared),
            _ => return Err(Refused::Away),
        }
        if self.invitations.mine.is_some() || self.invitations.theirs.is_some() {
            return Err(Refused::InvitationOpen);
        }
        if !self.peer_games.contains(&setup.kind()) {
            return Err(Refused::UnknownGame);
        }
        AnyGame::new(&setup)?;
        if self.index_of(id).is_some() || self.invitations.over.iter().any(|mine| mine.id == id) {
            return Err(Refused::IdTaken);
        }
        if !self.has_room() {
            return Err(Refused::TooManyMatches);
        }
        let colours = match my_side {
            Side::First => peer::Colours::InviterFirst,
            Side::Second => peer::Colours::InviterSecond,
        };
        self.send(peer::Invite {
            invite_id: resume::id_bytes(id),
            setup: Some(wire::setup(&setup)),
            colours: colours.into(),
            ..peer::Invite::default()
        });
        self.invitations.mine = Some(Mine { id, setup, my_side, until: self.now + OPEN_FOR });
        Ok(())
    }

    pub(crate) fn withdraw(&mut self, id: MatchId) -> Result<(), Refused> {
        let mine = self.invitations.mine.take_if(|mine| mine.id == id).ok_or(Refused::NoSuchInvitation)?;
        self.end_mine(mine, InvitationEnd::Withdrawn);
        self.send(peer::Withdraw { invite_id: resume::id_bytes(id) });
        Ok(())
    }

    pub(crate) fn answer_invite(
        &mut self,
        id: MatchId,
        decline: Option<peer::DeclineReason>,
    ) -> Result<(), Refused> {
        if self.invitations.theirs.as_ref().is_none_or(|theirs| theirs.record.id != id) {
            return Err(Refused::NoSuchInvitation);
        }
        if decline.is_none() && !self.has_room() {
            return Err(Refused::TooManyMatches);
        }
        let theirs = self.invitations.theirs.take().ok_or(Refused::NoSuchInvitation)?;
        match decline {
            Some(reason) => self.send_answer(id, Answer::Decline(reason.into())),
            None => self.accept(theirs.record, theirs.continued),
        }
        Ok(())
    }

    pub(crate) fn received_invite(&mut self, invite: peer::Invite) -> Result<(), Violation> {
        let id = resume::read_id(&invite.invite_id)?;
        let my_side = match peer::Colours::try_from(invite.colours) {
            Ok(peer::Colours::InviterFirst) => Side::Second,
            Ok(peer::Colours::InviterSecond) => Side::First,
            Ok(peer::Colours::Random) | Err(_) => return Err(Violation::OutOfBounds("colours")),
        };
        if self.invitations.mine.as_ref().is_some_and(|mine| mine.id == id) {
            return Err(Violation::OutOfBounds("invitation id"));
        }
        if self.index_of(id).is_some()
            || self.invitations.theirs.as_ref().is_some_and(|theirs| theirs.record.id == id)
        {
            return Ok(());
        }
        // A setup that makes no game here may make one in a newer version there.
        let setup = wire::read_setup(invite.setup.as_ref()).ok().filter(|setup| AnyGame::new(setup).is_ok());
        let Some(setup) = setup else {
            self.send_answer(id, Answer::Decline(peer::DeclineReason::DeclineUnknownGame.into()));
            return Ok(());
        };
        let crossing = self.invitations.mine.as_ref().map(|mine| (mine.id, mine.setup == setup));
        if let Some((mine, _)) = crossing
            && mine < id
        {
            // Ours stands, and the peer, who sees the same two ids, answers it.
            return Ok(());
        }
        let mut agreed = false;
        if let Some(mine) = self.invitations.mine.take() {
            // Both asked for the same: that is consent enough.
            agreed = mine.setup == setup;
            let mine_id = mine.id;
            self.end_mine(mine, InvitationEnd::Crossed);
            self.send(peer::Withdraw { invite_id: resume::id_bytes(mine_id) });
        }
        let record = MatchRecord::new(id, setup, my_side);
        if agreed && self.has_room() {
            self.accept(record, false);
        } else {
            self.consider(record, false);
        }
        Ok(())
    }

    pub(crate) fn received_invite_answer(&mut self, answer: peer::InviteAnswer) -> Result<(), Violation> {
        let id = resume::read_id(&answer.invite_id)?;
        let decline = match answer.answer {
            Some(Answer::Accept(true)) => None,
            Some(Answer::Accept(false)) | None => Some(peer::DeclineReason::DeclineUnspecified),
            Some(Answer::Decline(reason)) => Some(peer::DeclineReason::try_from(reason).unwrap_or_default()),
        };
        match decline {
            None => {
                if let Some(mine) = self.invitations.take_mine(id) {
                    self.adopt(MatchRecord::new(id, mine.setup, mine.my_side));
                } else if self.index_of(id).is_none() {
                    self.send_answer(id, Answer::Decline(peer::DeclineReason::DeclineNotNow.into()));
                }
            }
            Some(reason) => {
                let end = match reason {
                    peer::DeclineReason::DeclineTimedOut => InvitationEnd::TimedOut,
                    reason => InvitationEnd::Declined(reason),
                };
                if self.invitations.mine.take_if(|mine| mine.id == id).is_some() {
                    self.tell(Event::InvitationEnded { id, mine: true, end });
                } else if let Some(index) = self.index_of(id)
                    && self.matches[index].reach == Reach::Asked
                {
                    // A match that the peer's journal has lost, and its person does not want back.
                    self.tell(Event::InvitationEnded { id, mine: true, end });
                }
            }
        }
        Ok(())
    }

    pub(crate) fn received_withdraw(&mut self, withdraw: peer::Withdraw) -> Result<(), Violation> {
        let id = resume::read_id(&withdraw.invite_id)?;
        if self.invitations.theirs.take_if(|theirs| theirs.record.id == id).is_some() {
            self.tell(Event::InvitationEnded { id, mine: false, end: InvitationEnd::Withdrawn });
        }
        Ok(())
    }

    pub(crate) fn invitations_due(&mut self) {
        let now = self.now;
        if let Some(mine) = self.invitations.mine.take_if(|mine| mine.until <= now) {
            let id = mine.id;
            self.end_mine(mine, InvitationEnd::TimedOut);
            self.send(peer::Withdraw { invite_id: resume::id_bytes(id) });
        }
        if let Some(theirs) = self.invitations.theirs.take_if(|theirs| theirs.until <= now) {
            let id = theirs.record.id;
            self.tell(Event::InvitationEnded { id, mine: false, end: InvitationEnd::TimedOut });
            self.send_answer(id, Answer::Decline(peer::DeclineReason::DeclineTimedOut.into()));
        }
    }

    pub(crate) fn invitations_lost(&mut self) {
        if let Some(mine) = self.invitations.mine.take() {
            self.end_mine(mine, InvitationEnd::LinkLost);
        }
        if let Some(theirs) = self.invitations.theirs.take() {
            let id = theirs.record.id;
            self.tell(Event::InvitationEnded { id, mine: false, end: InvitationEnd::LinkLost });
        }
    }

    /// Asks the person here, unless another invitation waits already.
    pub(crate) fn consider(&mut self, record: MatchRecord, continued: bool) {
        let id = record.id;
        if self.invitations.theirs.is_some() || !self.has_room() {
            self.send_answer(id, Answer::Decline(peer::DeclineReason::DeclineBusy.into()));
            return;
        }
        let until = self.now + OPEN_FOR;
        self.tell(Event::Invited {
            id,
            setup: record.setup.clone(),
            my_side: record.my_side,
            ply: record.actions.len() as u32,
            until,
        });
        self.invitations.theirs = Some(Theirs { record, continued, until });
    }

    fn accept(&mut self, record: MatchRecord, continued: bool) {
        let id = record.id;
        let Some(index) = self.begin(record) else { return };
        if continued {
            self.send_ack(index, true);
        } else {
            self.send_answer(id, Answer::Accept(true));
        }
    }

    /// Begins a match that the peer has begun already.
    pub(crate) fn adopt(&mut self, record: MatchRecord) {
        if let Some(index) = self.begin(record) {
            self.matches[index].there = Some(self.matches[index].standing());
            self.settle(index);
            self.send_ack(index, false);
        }
    }

    /// Writes down a match and makes it one of the session's. `None` if it cannot be played, which was checked before.
    pub(crate) fn begin(&mut self, record: MatchRecord) -> Option<usize> {
        let id = record.id;
        self.invitations.take_mine(id);
        let mut state = MatchState::new(record).ok()?;
        state.reach = Reach::Level;
        self.save(Entry::Began(state.record().clone()));
        let index = self.add_match(state);
        self.tell(Event::MatchChanged(id));
        Some(index)
    }

    fn end_mine(&mut self, mine: Mine, end: InvitationEnd) {
        self.tell(Event::InvitationEnded { id: mine.id, mine: true, end });
        self.invitations.remember(mine);
    }

    fn send_answer(&mut self, id: MatchId, answer: Answer) {
        self.send(peer::InviteAnswer {
            invite_id: resume::id_bytes(id),
            answer: Some(answer),
            nonce: Bytes::new(),
        });
    }
}
