//! Asking for a match, the answer, and other terms instead of an answer.
//!
//! A match with settled colours begins, in the journal, first with whoever accepts; the inviter follows when the answer
//! arrives. So an answer that is lost leaves a match that only one side knows: the inviter remembers what it asked for, and
//! takes the match over when the links next stand (see `resume`). For the same reason an answer that crosses a withdrawal wins.
//!
//! Colours are drawn by commit and reveal: the invitation commits to a number of the inviter's, the acceptance adds one of the
//! other's, and the hash of both says who begins. Then the match begins first with the inviter, who alone can know, and the
//! other follows when the reveal, or a record with it, arrives and fits the commitment.
//!
//! An invitation outlives its link for as long as it is open: it is sent again, and answered again in the same way.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use engine::{AnyGame, Setup, Side};
use proto::peer::{self, invite_answer::Answer};
use sha2::{Digest, Sha256};

use crate::match_state::Reach;
use crate::session::{Link, Session};
use crate::{
    Colours, Entry, Event, Instant, InvitationEnd, MatchId, MatchRecord, MatchState, Pace, Refused, Terms,
    Violation, race, resume, wire,
};

/// An invitation ends by itself after this. Long enough to fetch the person whose device rings.
const OPEN_FOR: Duration = Duration::from_mins(1);

/// How many of each are remembered with a peer: own invitations that are over but might still turn out to have been accepted,
/// invitations of the peer's whose answer might be asked for again, and matches that this device asked for or accepted. More
/// than are sent in one stay.
pub const PROMISES: usize = 8;

/// At most one of each side's is open.
#[derive(Default)]
pub(crate) struct Invitations {
    mine: Option<Mine>,
    theirs: Option<Theirs>,
    /// Own ones. The oldest first.
    over: VecDeque<Mine>,
    /// Taken back while the peer was away.
    withdrawn: VecDeque<MatchId>,
    /// The peer's that were answered with no.
    declined: VecDeque<(MatchId, peer::DeclineReason)>,
    /// The peer's that were accepted and whose colours are being drawn. The oldest first.
    drawing: VecDeque<Drawing>,
    /// Matches that this device asked for or accepted, in this life or an earlier one. The oldest first.
    promised: VecDeque<MatchId>,
}

/// What this device asked for.
#[derive(Clone)]
struct Mine {
    id: MatchId,
    terms: Terms,
    /// What was committed to, when colours are drawn.
    nonce: [u8; 32],
    /// The invitation of the peer's that this one answers.
    counters: Option<MatchId>,
    until: Instant,
}

/// What the peer asks for.
struct Theirs {
    id: MatchId,
    terms: Terms,
    /// To what the peer has committed itself, when colours are drawn.
    commitment: [u8; 32],
    /// The match goes on already in the peer's journal: this is it.
    continued: Option<MatchRecord>,
    until: Instant,
}

/// An invitation of the peer's that was accepted: the reveal is awaited.
struct Drawing {
    id: MatchId,
    terms: Terms,
    commitment: [u8; 32],
    nonce: [u8; 32],
    /// Until then the person waits; later the match may still come about.
    until: Option<Instant>,
}

fn remember<T>(list: &mut VecDeque<T>, one: T) {
    if list.len() == PROMISES {
        list.pop_front();
    }
    list.push_back(one);
}

impl Invitations {
    /// None is open; these matches were promised before.
    pub(crate) fn promising(promised: Vec<MatchId>) -> Self {
        let mut invitations = Self::default();
        for id in promised {
            remember(&mut invitations.promised, id);
        }
        invitations
    }

    /// Whether this device has asked for this match or accepted it. No longer afterwards.
    pub(crate) fn take_promise(&mut self, id: MatchId) -> bool {
        let promised = self.promised.iter().position(|promised| *promised == id);
        promised.and_then(|index| self.promised.remove(index)).is_some()
    }

    /// A match with this id begins: what was asked for came about.
    pub(crate) fn began(&mut self, id: MatchId) {
        self.take_mine(id);
        self.drawing.retain(|drawing| drawing.id != id);
    }

    /// When an invitation ends by itself.
    pub(crate) fn next(&self) -> Option<Instant> {
        let mine = self.mine.as_ref().map(|mine| mine.until);
        let theirs = self.theirs.as_ref().map(|theirs| theirs.until);
        let drawing = self.drawing.iter().filter_map(|drawing| drawing.until).min();
        [mine, theirs, drawing].into_iter().flatten().min()
    }

    /// Matches that may begin without another question.
    pub(crate) fn promised(&self) -> usize {
        self.drawing.iter().filter(|drawing| drawing.until.is_some()).count()
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
        self.theirs.as_ref().is_some_and(|theirs| theirs.id == id)
    }

    /// Whether this device asked for just this match.
    pub(crate) fn asked_for(&self, record: &MatchRecord) -> bool {
        self.mine.iter().chain(&self.over).any(|mine| {
            mine.id == record.id
                && mine.terms.setup == record.setup
                && mine.terms.pace == record.pace
                && mine.terms.colours.my_side() == Some(record.my_side)
        })
    }

    /// If the colours of this match are being drawn: whether its record is what the drawing makes.
    pub(crate) fn drawn(&self, record: &MatchRecord, reveal: Option<[u8; 32]>) -> Option<bool> {
        let drawing = self.drawing.iter().find(|drawing| drawing.id == record.id)?;
        let side = reveal.and_then(|reveal| drawing.side(reveal));
        Some(
            side == Some(record.my_side)
                && reveal.is_some_and(|reveal| drawing.setup(reveal) == record.setup)
                && drawing.terms.pace == record.pace,
        )
    }
}

impl Drawing {
    /// The side of the one who was invited; `None` if the reveal does not fit the commitment.
    fn side(&self, reveal: [u8; 32]) -> Option<Side> {
        let kept = Sha256::digest(reveal)[..] == self.commitment;
        kept.then(|| inviter_side(self.id, reveal, self.nonce).other())
    }

    /// What is played: the board of a race is drawn too.
    fn setup(&self, reveal: [u8; 32]) -> Setup {
        race::drawn_setup(&self.terms.setup, self.id, reveal, self.nonce)
    }
}

/// Who the drawing gives the first move: neither knew the other's number when it chose its own.
fn inviter_side(id: MatchId, inviter: [u8; 32], invited: [u8; 32]) -> Side {
    let hash = Sha256::new()
        .chain_update(b"qiyou colours 1")
        .chain_update(id.0)
        .chain_update(inviter)
        .chain_update(invited)
        .finalize();
    Side::BOTH[usize::from(hash[31] & 1)]
}

fn bytes_32(bytes: &[u8]) -> Result<[u8; 32], Violation> {
    bytes.try_into().map_err(|_| Violation::OutOfBounds("nonce"))
}

impl Session {
    pub(crate) fn invite(
        &mut self,
        id: MatchId,
        terms: Terms,
        counters: Option<MatchId>,
    ) -> Result<(), Refused> {
        match self.link {
            Link::Up => {}
            Link::Comparing { .. } => return Err(Refused::NotCompared),
            _ => return Err(Refused::Away),
        }
        if counters.is_some_and(|theirs| !self.invitations.considers(theirs)) {
            return Err(Refused::NoSuchInvitation);
        }
        if self.invitations.mine.is_some() || self.invitations.theirs.is_some() && counters.is_none() {
            return Err(Refused::InvitationOpen);
        }
        let terms = terms.for_two();
        if !self.peer_games.contains(&terms.setup.kind()) {
            return Err(Refused::UnknownGame);
        }
        if !wire::is_for_peers(&terms.setup) {
            return Err(Refused::UnknownGame);
        }
        AnyGame::new(&terms.setup)?;
        if self.index_of(id).is_some() || self.invitations.over.iter().any(|mine| mine.id == id) {
            return Err(Refused::IdTaken);
        }
        if !self.has_room() {
            return Err(Refused::TooManyMatches);
        }
        if let Some(theirs) = self.invitations.theirs.take() {
            // Should it be sent again, it was answered by this one.
            let end = InvitationEnd::Countered(id);
            self.tell(Event::InvitationEnded { id: theirs.id, mine: false, end });
        }
        let (nonce, until) = (self.draw_nonce(), self.now + OPEN_FOR);
        self.promise(id);
        self.invitations.mine = Some(Mine { id, terms, nonce, counters, until });
        self.send_invitation();
        Ok(())
    }

    /// The own open invitation goes out, for the first time or again.
    fn send_invitation(&mut self) {
        let Some(mine) = &self.invitations.mine else { return };
        let (colours, alternates) = match mine.terms.colours {
            Colours::Mine(Side::First) => (peer::Colours::InviterFirst, false),
            Colours::Mine(Side::Second) => (peer::Colours::InviterSecond, false),
            Colours::Alternate(Side::First) => (peer::Colours::InviterFirst, true),
            Colours::Alternate(Side::Second) => (peer::Colours::InviterSecond, true),
            Colours::Random => (peer::Colours::Random, false),
        };
        let commitment = match mine.terms.colours {
            Colours::Random => Bytes::copy_from_slice(&Sha256::digest(mine.nonce)),
            Colours::Mine(_) | Colours::Alternate(_) => Bytes::new(),
        };
        let invite = peer::Invite {
            invite_id: resume::id_bytes(mine.id),
            setup: Some(wire::setup(&mine.terms.setup)),
            colours: colours.into(),
            pace: Pace::write(mine.terms.pace),
            commitment,
            counters: mine.counters.map_or_else(Bytes::new, resume::id_bytes),
            alternates,
        };
        self.send(invite);
    }

    /// A link stands again: what was said of invitations into the void is said again.
    pub(crate) fn invitations_again(&mut self) {
        for id in std::mem::take(&mut self.invitations.withdrawn) {
            self.send(peer::Withdraw { invite_id: resume::id_bytes(id) });
        }
        self.send_invitation();
    }

    pub(crate) fn withdraw(&mut self, id: MatchId) -> Result<(), Refused> {
        let mine = self.invitations.mine.take_if(|mine| mine.id == id).ok_or(Refused::NoSuchInvitation)?;
        self.end_mine(mine, InvitationEnd::Withdrawn);
        self.send_withdraw(id);
        Ok(())
    }

    fn send_withdraw(&mut self, id: MatchId) {
        if matches!(self.link, Link::Up) {
            self.send(peer::Withdraw { invite_id: resume::id_bytes(id) });
        } else {
            remember(&mut self.invitations.withdrawn, id);
        }
    }

    pub(crate) fn answer_invite(
        &mut self,
        id: MatchId,
        decline: Option<peer::DeclineReason>,
    ) -> Result<(), Refused> {
        if !self.invitations.considers(id) {
            return Err(Refused::NoSuchInvitation);
        }
        if decline.is_none() && !self.has_room() {
            return Err(Refused::TooManyMatches);
        }
        let theirs = self.invitations.theirs.take().ok_or(Refused::NoSuchInvitation)?;
        match decline {
            Some(reason) => self.decline(id, reason),
            None => self.accept(theirs),
        }
        Ok(())
    }

    pub(crate) fn received_invite(&mut self, invite: peer::Invite) -> Result<(), Violation> {
        let id = resume::read_id(&invite.invite_id)?;
        let colours = match peer::Colours::try_from(invite.colours) {
            Ok(peer::Colours::Random) => Colours::Random,
            Ok(peer::Colours::InviterFirst) if invite.alternates => Colours::Alternate(Side::Second),
            Ok(peer::Colours::InviterFirst) => Colours::Mine(Side::Second),
            Ok(peer::Colours::InviterSecond) if invite.alternates => Colours::Alternate(Side::First),
            Ok(peer::Colours::InviterSecond) => Colours::Mine(Side::First),
            Err(_) => return Err(Violation::OutOfBounds("colours")),
        };
        let commitment = match colours {
            Colours::Random => bytes_32(&invite.commitment)?,
            Colours::Mine(_) | Colours::Alternate(_) => [0; 32],
        };
        let counters = match &invite.counters[..] {
            [] => None,
            bytes => Some(resume::read_id(bytes)?),
        };
        if self.invitations.mine.as_ref().is_some_and(|mine| mine.id == id) {
            return Err(Violation::OutOfBounds("invitation id"));
        }
        // Sent again, after a drop or by accident: answered again in the same way.
        if let Some(nonce) = self.invitations.drawing.iter().find(|one| one.id == id).map(|one| one.nonce) {
            self.send_answer(id, Answer::Accept(true), Some(nonce));
            return Ok(());
        }
        if let Some((_, reason)) = self.invitations.declined.iter().find(|(declined, _)| *declined == id) {
            self.send_answer(id, Answer::Decline((*reason).into()), None);
            return Ok(());
        }
        let countered = self.invitations.mine.iter().chain(&self.invitations.over);
        if self.index_of(id).is_some()
            || self.invitations.considers(id)
            || countered.into_iter().any(|mine| mine.counters == Some(id))
        {
            return Ok(());
        }
        // A setup that makes no game here may make one in a newer version there; so with a pace.
        let setup =
            wire::read_peer_setup(invite.setup.as_ref()).ok().filter(|setup| AnyGame::new(setup).is_ok());
        let (Some(setup), Ok(pace)) = (setup, Pace::read(invite.pace.as_ref())) else {
            self.decline(id, peer::DeclineReason::DeclineUnknownGame);
            return Ok(());
        };
        let until = self.now + OPEN_FOR;
        let terms = Terms { setup, pace, colours };
        if terms != terms.clone().for_two() {
            // A race is as fair as its drawing.
            self.decline(id, peer::DeclineReason::DeclineUnknownGame);
            return Ok(());
        }
        let theirs = Theirs { id, terms, commitment, continued: None, until };
        if let Some(mine) = self.invitations.mine.take_if(|mine| counters == Some(mine.id)) {
            self.end_mine(mine, InvitationEnd::Countered(id));
            self.consider(theirs, counters);
            return Ok(());
        }
        if self.invitations.mine.as_ref().is_some_and(|mine| mine.id < id) {
            // Ours stands, and the peer, who sees the same two ids, answers it.
            return Ok(());
        }
        let mut agreed = false;
        if let Some(mine) = self.invitations.mine.take() {
            // Both asked for the same: that is consent enough, whatever colours each had in mind.
            agreed = mine.terms.setup == theirs.terms.setup && mine.terms.pace == theirs.terms.pace;
            let mine_id = mine.id;
            self.end_mine(mine, InvitationEnd::Crossed(id));
            self.send_withdraw(mine_id);
        }
        if agreed && self.has_room() {
            self.accept(theirs);
        } else {
            self.consider(theirs, None);
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
            None => self.accepted_there(id, &answer.nonce)?,
            Some(reason) => {
                let end = match reason {
                    peer::DeclineReason::DeclineTimedOut => InvitationEnd::TimedOut,
                    reason => InvitationEnd::Declined(reason),
                };
                let here = self.invitations.drawing.iter_mut().find(|drawing| drawing.id == id);
                if here.is_some_and(|drawing| drawing.until.take().is_some()) {
                    // It was taken back, or forgotten, while the answer was on its way.
                    self.tell(Event::InvitationEnded { id, mine: false, end: InvitationEnd::Withdrawn });
                } else if self.invitations.mine.take_if(|mine| mine.id == id).is_some() {
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

    fn accepted_there(&mut self, id: MatchId, nonce: &[u8]) -> Result<(), Violation> {
        if let Some(index) = self.index_of(id) {
            // Said again: what it did not know is said again too.
            self.send_reveal(index);
            return Ok(());
        }
        let known = self.invitations.mine.iter().chain(&self.invitations.over).find(|mine| mine.id == id);
        let Some(mine) = known.cloned() else {
            self.send_answer(id, Answer::Decline(peer::DeclineReason::DeclineNotNow.into()), None);
            return Ok(());
        };
        let Terms { setup, pace, colours } = mine.terms;
        if let Some(my_side) = colours.my_side() {
            self.adopt(MatchRecord::new(id, setup, my_side).with_pace(pace));
            return Ok(());
        }
        let their_nonce = bytes_32(nonce)?;
        let my_side = inviter_side(id, mine.nonce, their_nonce);
        let setup = race::drawn_setup(&setup, id, mine.nonce, their_nonce);
        let mut record = MatchRecord::new(id, setup, my_side).with_pace(pace);
        record.reveal = Some(mine.nonce);
        if let Some(index) = self.begin(record) {
            self.send_reveal(index);
            self.step(index, MatchState::clock_check);
        }
        Ok(())
    }

    fn send_reveal(&mut self, index: usize) {
        let record = self.matches[index].record();
        if let Some(nonce) = record.reveal {
            let (invite_id, nonce) = (resume::id_bytes(record.id), Bytes::copy_from_slice(&nonce));
            self.send_awaited(peer::Reveal { invite_id, nonce });
        }
    }

    pub(crate) fn received_reveal(&mut self, reveal: peer::Reveal) -> Result<(), Violation> {
        let id = resume::read_id(&reveal.invite_id)?;
        let nonce = bytes_32(&reveal.nonce)?;
        let Some(at) = self.invitations.drawing.iter().position(|drawing| drawing.id == id) else {
            return Ok(());
        };
        let drawing = &self.invitations.drawing[at];
        let Some(my_side) = drawing.side(nonce) else {
            self.drawing_cheated(id);
            return Err(Violation::BadReveal);
        };
        let (setup, pace) = (drawing.setup(nonce), drawing.terms.pace);
        self.adopt(MatchRecord::new(id, setup, my_side).with_pace(pace));
        Ok(())
    }

    /// The peer did not keep to what it had committed itself to.
    pub(crate) fn drawing_cheated(&mut self, id: MatchId) {
        self.invitations.drawing.retain(|drawing| drawing.id != id);
        self.tell(Event::InvitationEnded { id, mine: false, end: InvitationEnd::Cheated });
    }

    pub(crate) fn received_withdraw(&mut self, withdraw: peer::Withdraw) -> Result<(), Violation> {
        let id = resume::read_id(&withdraw.invite_id)?;
        if self.invitations.theirs.take_if(|theirs| theirs.id == id).is_some() {
            self.tell(Event::InvitationEnded { id, mine: false, end: InvitationEnd::Withdrawn });
        }
        Ok(())
    }

    pub(crate) fn invitations_due(&mut self) {
        let now = self.now;
        if let Some(mine) = self.invitations.mine.take_if(|mine| mine.until <= now) {
            let id = mine.id;
            self.end_mine(mine, InvitationEnd::TimedOut);
            self.send_withdraw(id);
        }
        if let Some(theirs) = self.invitations.theirs.take_if(|theirs| theirs.until <= now) {
            let id = theirs.id;
            self.tell(Event::InvitationEnded { id, mine: false, end: InvitationEnd::TimedOut });
            self.decline(id, peer::DeclineReason::DeclineTimedOut);
        }
        let late = |drawing: &mut Drawing| drawing.until.take_if(|until| *until <= now).map(|_| drawing.id);
        let late: Vec<_> = self.invitations.drawing.iter_mut().filter_map(late).collect();
        for id in late {
            self.tell(Event::InvitationEnded { id, mine: false, end: InvitationEnd::TimedOut });
        }
    }

    /// Asks the person here whether to go on with a match that only the peer's journal knows.
    pub(crate) fn consider_continued(&mut self, record: MatchRecord) {
        let terms =
            Terms { setup: record.setup.clone(), pace: record.pace, colours: Colours::Mine(record.my_side) };
        let until = self.now + OPEN_FOR;
        let theirs = Theirs { id: record.id, terms, commitment: [0; 32], continued: Some(record), until };
        self.consider(theirs, None);
    }

    /// Asks the person here, unless another invitation waits already.
    fn consider(&mut self, theirs: Theirs, counters: Option<MatchId>) {
        if self.invitations.theirs.is_some() || !self.has_room() {
            self.send_answer(theirs.id, Answer::Decline(peer::DeclineReason::DeclineBusy.into()), None);
            return;
        }
        self.tell(Event::Invited {
            id: theirs.id,
            terms: theirs.terms.clone(),
            counters,
            ply: theirs.continued.as_ref().map_or(0, |record| record.actions.len() as u32),
            until: theirs.until,
        });
        self.invitations.theirs = Some(theirs);
    }

    fn decline(&mut self, id: MatchId, reason: peer::DeclineReason) {
        remember(&mut self.invitations.declined, (id, reason));
        self.send_answer(id, Answer::Decline(reason.into()), None);
    }

    fn accept(&mut self, theirs: Theirs) {
        let Theirs { id, terms, commitment, continued, .. } = theirs;
        if let Some(record) = continued {
            if let Some(index) = self.begin(record)
                && self.matches[index].is_level()
            {
                self.step(index, MatchState::ask_for_rest);
            }
        } else if let Some(my_side) = terms.colours.my_side() {
            let record = MatchRecord::new(id, terms.setup, my_side).with_pace(terms.pace);
            if let Some(index) = self.begin(record) {
                self.send_answer(id, Answer::Accept(true), None);
                self.step(index, MatchState::clock_check);
            }
        } else {
            let (nonce, until) = (self.draw_nonce(), Some(self.now + OPEN_FOR));
            let drawing = Drawing { id, terms, commitment, nonce, until };
            self.promise(id);
            remember(&mut self.invitations.drawing, drawing);
            self.send_answer(id, Answer::Accept(true), Some(nonce));
        }
    }

    /// Writes down that this device wants this match.
    pub(crate) fn promise(&mut self, id: MatchId) {
        if self.invitations.promised.contains(&id) {
            return;
        }
        remember(&mut self.invitations.promised, id);
        self.effects.keep(Entry::Promised(id));
    }

    fn end_mine(&mut self, mine: Mine, end: InvitationEnd) {
        self.tell(Event::InvitationEnded { id: mine.id, mine: true, end });
        remember(&mut self.invitations.over, mine);
    }

    /// Into the void if the peer is away: it asks again, and is answered again.
    fn send_answer(&mut self, id: MatchId, answer: Answer, nonce: Option<[u8; 32]>) {
        if matches!(self.link, Link::Up) {
            let nonce = nonce.map_or_else(Bytes::new, |nonce| Bytes::copy_from_slice(&nonce));
            let invite_id = resume::id_bytes(id);
            self.send(peer::InviteAnswer { invite_id, answer: Some(answer), nonce });
        }
    }
}
