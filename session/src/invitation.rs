//! Invitations, their answers, and counter-proposals.
//!
//! If the colours are decided, the accepting side begins the match first, in its journal; the inviter begins it when the answer
//! arrives. If the answer is lost, only one side has the match: the inviter remembers its invitation and adopts the match on
//! the next link (see `resume`). For the same reason an acceptance that crosses a withdrawal wins.
//!
//! Colours are drawn by commit and reveal: the invitation commits to the inviter's nonce, the acceptance adds the other side's
//! nonce, and the hash of both decides who moves first. The inviter alone can compute it and begins the match first; the other
//! side follows when the reveal, or a record containing it, arrives and matches the commitment.
//!
//! An open invitation outlives its link: it is sent again, and a duplicate gets the same answer again, so that answering is
//! idempotent.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use engine::{AnyGame, GameKind, Setup, Side};
use proto::peer::{self, invite_answer::Answer};
use sha2::{Digest, Sha256};

use crate::buckets::Bucket;
use crate::effects::Effects;
use crate::match_state::Reach;
use crate::{
    Capabilities, Colours, Entry, Event, Instant, InvitationEnd, MAX_MATCHES, MatchId, MatchRecord,
    MatchState, Pace, Refused, Terms, Violation, race, resume, wire,
};

/// Lifetime of an invitation: long enough to fetch the person whose device rings.
const OPEN_FOR: Duration = Duration::from_mins(1);

/// How many of each are remembered per peer: own ended invitations that may still turn out to be accepted, the peer's answered
/// invitations whose answer may be needed again, and matches that this device has requested or accepted. More than are sent in
/// one stay.
pub const PROMISES: usize = 8;

/// The context of the invitations' transitions: everything outside themselves that they may read, and the effects that they may
/// cause.
pub(crate) struct Around<'a> {
    pub(crate) now: Instant,
    pub(crate) link_is_up: bool,
    pub(crate) peer_games: &'a [GameKind],
    pub(crate) peer_capabilities: Capabilities,
    pub(crate) matches: &'a [MatchState],
    pub(crate) nonces: &'a mut Nonces,
    /// See [`crate::buckets::Buckets`].
    pub(crate) invites: &'a mut Bucket,
    pub(crate) effects: &'a mut Effects,
}

impl Around<'_> {
    fn match_state(&self, id: MatchId) -> Option<&MatchState> {
        self.matches.iter().find(|state| state.id() == id)
    }

    fn send(&mut self, message: impl Into<peer::Envelope>) {
        self.effects.send(message);
    }

    fn tell(&mut self, event: Event) {
        self.effects.tell(event);
    }

    /// The peer's invitation is accepted, and the match is in the journal.
    pub(crate) fn accepted(&mut self, id: MatchId) {
        self.answer(id, Answer::Accept(true), None);
    }

    /// Sends an answer. With the peer away the answer is dropped: the peer sends its invitation again and gets the answer
    /// again.
    fn answer(&mut self, id: MatchId, answer: Answer, nonce: Option<[u8; 32]>) {
        if self.link_is_up {
            let nonce = nonce.map_or_else(Bytes::new, |nonce| Bytes::copy_from_slice(&nonce));
            let invite_id = wire::id_bytes(id);
            self.send(peer::InviteAnswer { invite_id, answer: Some(answer), nonce, account: String::new() });
        }
    }
}

/// A match for the session to begin, as the result of an invitation.
#[must_use = "both people were told that it begins"]
pub(crate) enum Begin {
    /// The peer has begun the match.
    Adopted(MatchRecord),
    /// This device accepts the match, and answers once the match is in the journal.
    Accepted(MatchRecord),
    /// This device can compute the colours, and reveals its nonce once the match is in the journal.
    Drawn(MatchRecord),
    /// A match that the peer's journal still had.
    Continued(MatchRecord),
    /// The match has begun, and the peer may not know the reveal.
    Already(MatchId),
}

/// Derives unpredictable nonces from one seed.
pub(crate) struct Nonces {
    seed: [u8; 32],
    drawn: u64,
}

impl Nonces {
    pub(crate) fn new(seed: [u8; 32]) -> Self {
        Self { seed, drawn: 0 }
    }

    /// The next 32 bytes, never repeated.
    pub(crate) fn draw(&mut self) -> [u8; 32] {
        self.drawn += 1;
        Sha256::new()
            .chain_update(b"qiyou nonce 1")
            .chain_update(self.seed)
            .chain_update(self.drawn.to_be_bytes())
            .finalize()
            .into()
    }
}

/// All invitations. At most one of each side is open.
#[derive(Default)]
pub(crate) struct Invitations {
    mine: Option<Mine>,
    theirs: Option<Theirs>,
    /// Own invitations that have ended. The oldest first.
    over: VecDeque<Mine>,
    /// Withdrawn while the peer was away.
    withdrawn: VecDeque<MatchId>,
    /// The peer's declined invitations.
    declined: VecDeque<(MatchId, peer::DeclineReason)>,
    /// The peer's accepted invitations whose colours are being drawn. The oldest first.
    drawing: VecDeque<Drawing>,
    /// Matches that this device has requested or accepted, also before a restart. The oldest first.
    promised: VecDeque<MatchId>,
}

/// An own invitation.
#[derive(Clone)]
struct Mine {
    id: MatchId,
    terms: Terms,
    /// The nonce of the commitment, for drawn colours.
    nonce: [u8; 32],
    /// The peer's invitation that this one counters.
    counters: Option<MatchId>,
    until: Instant,
}

/// An invitation of the peer.
struct Theirs {
    id: MatchId,
    terms: Terms,
    /// The peer's commitment, for drawn colours.
    commitment: [u8; 32],
    /// The record of a match that only the peer's journal has, if the invitation is to continue it.
    continued: Option<MatchRecord>,
    until: Instant,
}

/// An accepted invitation of the peer whose reveal is awaited.
struct Drawing {
    id: MatchId,
    terms: Terms,
    commitment: [u8; 32],
    nonce: [u8; 32],
    /// Until then the person waits; the match may still begin later.
    until: Option<Instant>,
}

fn remember<T>(list: &mut VecDeque<T>, one: T) {
    if list.len() == PROMISES {
        list.pop_front();
    }
    list.push_back(one);
}

impl Invitations {
    /// No open invitation; these matches were promised earlier.
    pub(crate) fn promising(promised: Vec<MatchId>) -> Self {
        let mut invitations = Self::default();
        for id in promised {
            remember(&mut invitations.promised, id);
        }
        invitations
    }

    /// Whether this device has requested or accepted this match. Removes the promise.
    pub(crate) fn take_promise(&mut self, id: MatchId) -> bool {
        let promised = self.promised.iter().position(|promised| *promised == id);
        promised.and_then(|index| self.promised.remove(index)).is_some()
    }

    /// A match with this id has begun: its promise is fulfilled, and nobody has to be asked about it any more, who could begin it
    /// anew by the answer.
    pub(crate) fn began(&mut self, id: MatchId) {
        self.take_mine(id);
        self.theirs.take_if(|theirs| theirs.id == id);
        self.drawing.retain(|drawing| drawing.id != id);
    }

    /// When the next invitation expires.
    pub(crate) fn next(&self) -> Option<Instant> {
        let mine = self.mine.as_ref().map(|mine| mine.until);
        let theirs = self.theirs.as_ref().map(|theirs| theirs.until);
        let drawing = self.drawing.iter().filter_map(|drawing| drawing.until).min();
        [mine, theirs, drawing].into_iter().flatten().min()
    }

    /// Whether there is room for one more match.
    fn has_room(&self, cx: &Around<'_>) -> bool {
        self.has_room_beside(cx.matches)
    }

    /// Whether there is room for one more match beside these.
    pub(crate) fn has_room_beside(&self, matches: &[MatchState]) -> bool {
        let open = matches.iter().filter(|state| !state.settled).count();
        open + self.promised() < MAX_MATCHES
    }

    /// Number of matches that may begin without another question.
    fn promised(&self) -> usize {
        self.drawing.iter().filter(|drawing| drawing.until.is_some()).count()
    }

    /// Removes the own invitation with this id, open or ended.
    fn take_mine(&mut self, id: MatchId) -> Option<Mine> {
        if let Some(mine) = self.mine.take_if(|mine| mine.id == id) {
            return Some(mine);
        }
        let index = self.over.iter().position(|mine| mine.id == id)?;
        self.over.remove(index)
    }

    /// Whether this device's person is being asked about this match.
    pub(crate) fn considers(&self, id: MatchId) -> bool {
        self.theirs.as_ref().is_some_and(|theirs| theirs.id == id)
    }

    /// Whether this device has invited to exactly this match.
    pub(crate) fn asked_for(&self, record: &MatchRecord) -> bool {
        self.mine.iter().chain(&self.over).any(|mine| {
            mine.id == record.id
                && mine.terms.setup == record.setup
                && mine.terms.pace == record.pace
                && mine.terms.hints == record.hints.is_some()
                && mine.terms.colours.my_side() == Some(record.my_side)
        })
    }

    /// Whether the record matches the drawing of this match's colours; `None` if no drawing is in progress.
    pub(crate) fn drawn(&self, record: &MatchRecord, reveal: Option<[u8; 32]>) -> Option<bool> {
        let drawing = self.drawing.iter().find(|drawing| drawing.id == record.id)?;
        let side = reveal.and_then(|reveal| drawing.side(reveal));
        Some(
            side == Some(record.my_side)
                && reveal.is_some_and(|reveal| drawing.setup(reveal) == record.setup)
                && drawing.terms.pace == record.pace
                && drawing.terms.hints == record.hints.is_some(),
        )
    }
}

impl Drawing {
    /// The invited device's side; `None` if the reveal does not match the commitment.
    fn side(&self, reveal: [u8; 32]) -> Option<Side> {
        let kept = Sha256::digest(reveal)[..] == self.commitment;
        kept.then(|| inviter_side(self.id, reveal, self.nonce).other())
    }

    /// The setup: for a race the board is drawn too.
    fn setup(&self, reveal: [u8; 32]) -> Setup {
        race::drawn_setup(&self.terms.setup, self.id, reveal, self.nonce)
    }
}

/// The inviter's side, by a hash of both nonces: neither side knew the other's nonce when it chose its own.
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

impl Invitations {
    pub(crate) fn invite(
        &mut self,
        cx: &mut Around<'_>,
        id: MatchId,
        terms: Terms,
        counters: Option<MatchId>,
    ) -> Result<(), Refused> {
        if counters.is_some_and(|theirs| !self.considers(theirs)) {
            return Err(Refused::NoSuchInvitation);
        }
        if self.mine.is_some() || self.theirs.is_some() && counters.is_none() {
            return Err(Refused::InvitationOpen);
        }
        let terms = terms.for_two();
        if !cx.peer_games.contains(&terms.setup.kind()) {
            return Err(Refused::UnknownGame);
        }
        if !wire::is_for_peers(&terms.setup) {
            return Err(Refused::UnknownGame);
        }
        AnyGame::new(&terms.setup)?;
        cx.peer_capabilities.check(&terms)?;
        if cx.match_state(id).is_some() || self.over.iter().any(|mine| mine.id == id) {
            return Err(Refused::IdTaken);
        }
        if !self.has_room(cx) {
            return Err(Refused::TooManyMatches);
        }
        if let Some(theirs) = self.theirs.take() {
            // A repetition of the countered invitation is answered by the counter-invitation.
            let end = InvitationEnd::Countered(id);
            cx.tell(Event::InvitationEnded { id: theirs.id, mine: false, end });
        }
        let (nonce, until) = (cx.nonces.draw(), cx.now + OPEN_FOR);
        self.promise(cx.effects, id);
        self.mine = Some(Mine { id, terms, nonce, counters, until });
        self.send_invitation(cx);
        Ok(())
    }

    /// Sends the own open invitation, for the first time or again.
    pub(crate) fn send_invitation(&mut self, cx: &mut Around<'_>) {
        let is_known = |mine: &&Mine| cx.peer_capabilities.check(&mine.terms).is_ok();
        let Some(mine) = self.mine.as_ref().filter(is_known) else { return };
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
            invite_id: wire::id_bytes(mine.id),
            setup: Some(wire::setup(&mine.terms.setup)),
            colours: colours.into(),
            pace: Pace::write(mine.terms.pace),
            commitment,
            counters: mine.counters.map_or_else(Bytes::new, wire::id_bytes),
            alternates,
            hints: mine.terms.hints,
        };
        cx.send(invite);
    }

    /// On a new link, before the matches: what was withdrawn while the peer was away, so that the peer is not still busy with it when
    /// a match comes as a question.
    pub(crate) fn send_withdrawn(&mut self, cx: &mut Around<'_>) {
        for id in std::mem::take(&mut self.withdrawn) {
            cx.send(peer::Withdraw { invite_id: wire::id_bytes(id) });
        }
    }

    pub(crate) fn withdraw(&mut self, cx: &mut Around<'_>, id: MatchId) -> Result<(), Refused> {
        let mine = self.mine.take_if(|mine| mine.id == id).ok_or(Refused::NoSuchInvitation)?;
        self.end_mine(cx, mine, InvitationEnd::Withdrawn);
        self.send_withdraw(cx, id);
        Ok(())
    }

    fn send_withdraw(&mut self, cx: &mut Around<'_>, id: MatchId) {
        if cx.link_is_up {
            cx.send(peer::Withdraw { invite_id: wire::id_bytes(id) });
        } else {
            remember(&mut self.withdrawn, id);
        }
    }

    pub(crate) fn answer_invite(
        &mut self,
        cx: &mut Around<'_>,
        id: MatchId,
        decline: Option<peer::DeclineReason>,
    ) -> Result<Option<Begin>, Refused> {
        if !self.considers(id) {
            return Err(Refused::NoSuchInvitation);
        }
        if decline.is_none() && !self.has_room(cx) {
            return Err(Refused::TooManyMatches);
        }
        let theirs = self.theirs.take().ok_or(Refused::NoSuchInvitation)?;
        Ok(match decline {
            Some(reason) => {
                self.decline(cx, id, reason);
                None
            }
            None => self.accept(cx, theirs),
        })
    }

    pub(crate) fn received_invite(
        &mut self,
        cx: &mut Around<'_>,
        invite: &peer::Invite,
    ) -> Result<Option<Begin>, Violation> {
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
        if self.mine.as_ref().is_some_and(|mine| mine.id == id) {
            return Err(Violation::OutOfBounds("invitation id"));
        }
        // A duplicate, after a drop or by accident, gets the same answer again.
        if let Some(nonce) = self.drawing.iter().find(|one| one.id == id).map(|one| one.nonce) {
            cx.answer(id, Answer::Accept(true), Some(nonce));
            return Ok(None);
        }
        if let Some((_, reason)) = self.declined.iter().find(|(declined, _)| *declined == id) {
            cx.answer(id, Answer::Decline((*reason).into()), None);
            return Ok(None);
        }
        let countered = self.mine.iter().chain(&self.over);
        if cx.match_state(id).is_some()
            || self.considers(id)
            || countered.into_iter().any(|mine| mine.counters == Some(id))
        {
            return Ok(None);
        }
        // Checked before the board is looked at, which is the expensive part.
        if !cx.invites.take(cx.now) {
            cx.answer(id, Answer::Decline(peer::DeclineReason::DeclineBusy.into()), None);
            return Ok(None);
        }
        // An unknown setup or pace may be valid in a newer version.
        let setup =
            wire::read_peer_setup(invite.setup.as_ref()).ok().filter(|setup| AnyGame::new(setup).is_ok());
        let (Some(setup), Ok(pace)) = (setup, Pace::read(invite.pace.as_ref())) else {
            self.decline(cx, id, peer::DeclineReason::DeclineUnknownGame);
            return Ok(None);
        };
        let until = cx.now + OPEN_FOR;
        let terms = Terms { setup, pace, colours, hints: invite.hints };
        if terms != terms.clone().for_two() {
            // A race is as fair as the drawing of its board.
            self.decline(cx, id, peer::DeclineReason::DeclineUnknownGame);
            return Ok(None);
        }
        let theirs = Theirs { id, terms, commitment, continued: None, until };
        if let Some(mine) = self.mine.take_if(|mine| counters == Some(mine.id)) {
            self.end_mine(cx, mine, InvitationEnd::Countered(id));
            self.consider(cx, theirs, counters);
            return Ok(None);
        }
        if self.mine.as_ref().is_some_and(|mine| mine.id < id) {
            // Of two crossing invitations this device's stands; the peer sees the same two ids and answers this invitation.
            return Ok(None);
        }
        let mut agreed = false;
        if let Some(mine) = self.mine.take() {
            // Both invitations ask for the same setup, pace and hints: that is consent, whatever colours each asked for.
            agreed = Terms { colours: theirs.terms.colours, ..mine.terms.clone() } == theirs.terms;
            let mine_id = mine.id;
            self.end_mine(cx, mine, InvitationEnd::Crossed(id));
            self.send_withdraw(cx, mine_id);
        }
        if agreed && self.has_room(cx) {
            return Ok(self.accept(cx, theirs));
        }
        self.consider(cx, theirs, None);
        Ok(None)
    }

    pub(crate) fn received_invite_answer(
        &mut self,
        cx: &mut Around<'_>,
        answer: &peer::InviteAnswer,
    ) -> Result<Option<Begin>, Violation> {
        let id = resume::read_id(&answer.invite_id)?;
        let reason = match answer.answer {
            Some(Answer::Accept(true)) => return self.accepted_there(cx, id, &answer.nonce),
            Some(Answer::Accept(false)) | None => peer::DeclineReason::DeclineUnspecified,
            Some(Answer::Decline(reason)) => peer::DeclineReason::try_from(reason).unwrap_or_default(),
        };
        let end = match reason {
            peer::DeclineReason::DeclineTimedOut => InvitationEnd::TimedOut,
            reason => InvitationEnd::Declined(reason),
        };
        let here = self.drawing.iter_mut().find(|drawing| drawing.id == id);
        // A match that the peer's journal has lost, and that its person does not want back.
        let unwanted = || cx.match_state(id).is_some_and(|state| state.reach == Reach::Asked);
        if here.is_some_and(|drawing| drawing.until.take().is_some()) {
            // The invitation was withdrawn, or forgotten, while the answer was in flight.
            cx.tell(Event::InvitationEnded { id, mine: false, end: InvitationEnd::Withdrawn });
        } else if self.mine.take_if(|mine| mine.id == id).is_some() || unwanted() {
            cx.tell(Event::InvitationEnded { id, mine: true, end });
        }
        Ok(None)
    }

    fn accepted_there(
        &mut self,
        cx: &mut Around<'_>,
        id: MatchId,
        nonce: &[u8],
    ) -> Result<Option<Begin>, Violation> {
        if cx.match_state(id).is_some() {
            return Ok(Some(Begin::Already(id)));
        }
        let known = self.mine.iter().chain(&self.over).find(|mine| mine.id == id);
        let Some(mine) = known.cloned() else {
            cx.answer(id, Answer::Decline(peer::DeclineReason::DeclineNotNow.into()), None);
            return Ok(None);
        };
        let Terms { setup, pace, colours, hints } = mine.terms;
        let begun = |setup, my_side| MatchRecord::new(id, setup, my_side).with_pace(pace).with_hints(hints);
        if let Some(my_side) = colours.my_side() {
            return Ok(Some(Begin::Adopted(begun(setup, my_side))));
        }
        let their_nonce = bytes_32(nonce)?;
        let my_side = inviter_side(id, mine.nonce, their_nonce);
        let setup = race::drawn_setup(&setup, id, mine.nonce, their_nonce);
        let mut record = begun(setup, my_side);
        record.reveal = Some(mine.nonce);
        Ok(Some(Begin::Drawn(record)))
    }

    pub(crate) fn received_reveal(
        &mut self,
        cx: &mut Around<'_>,
        reveal: &peer::Reveal,
    ) -> Result<Option<Begin>, Violation> {
        let id = resume::read_id(&reveal.invite_id)?;
        let nonce = bytes_32(&reveal.nonce)?;
        let Some(drawing) = self.drawing.iter().find(|drawing| drawing.id == id) else {
            return Ok(None);
        };
        let Some(my_side) = drawing.side(nonce) else {
            self.drawing_cheated(cx, id);
            return Err(Violation::BadReveal);
        };
        let Terms { pace, hints, .. } = drawing.terms;
        let record = MatchRecord::new(id, drawing.setup(nonce), my_side);
        Ok(Some(Begin::Adopted(record.with_pace(pace).with_hints(hints))))
    }

    /// The peer's reveal does not match its commitment.
    pub(crate) fn drawing_cheated(&mut self, cx: &mut Around<'_>, id: MatchId) {
        self.drawing.retain(|drawing| drawing.id != id);
        cx.tell(Event::InvitationEnded { id, mine: false, end: InvitationEnd::Cheated });
    }

    /// The peer has withdrawn this invitation, or ended the match, which is unknown here: nobody has to be asked about it any more,
    /// who would begin it anew by the answer.
    pub(crate) fn ended_there(&mut self, cx: &mut Around<'_>, id: MatchId) {
        if self.theirs.take_if(|theirs| theirs.id == id).is_some() {
            cx.tell(Event::InvitationEnded { id, mine: false, end: InvitationEnd::Withdrawn });
        }
    }

    pub(crate) fn received_withdraw(
        &mut self,
        cx: &mut Around<'_>,
        withdraw: &peer::Withdraw,
    ) -> Result<(), Violation> {
        self.ended_there(cx, resume::read_id(&withdraw.invite_id)?);
        Ok(())
    }

    pub(crate) fn due(&mut self, cx: &mut Around<'_>) {
        let now = cx.now;
        if let Some(mine) = self.mine.take_if(|mine| mine.until <= now) {
            let id = mine.id;
            self.end_mine(cx, mine, InvitationEnd::TimedOut);
            self.send_withdraw(cx, id);
        }
        if let Some(theirs) = self.theirs.take_if(|theirs| theirs.until <= now) {
            let id = theirs.id;
            cx.tell(Event::InvitationEnded { id, mine: false, end: InvitationEnd::TimedOut });
            self.decline(cx, id, peer::DeclineReason::DeclineTimedOut);
        }
        let late = |drawing: &mut Drawing| drawing.until.take_if(|until| *until <= now).map(|_| drawing.id);
        let late: Vec<_> = self.drawing.iter_mut().filter_map(late).collect();
        for id in late {
            cx.tell(Event::InvitationEnded { id, mine: false, end: InvitationEnd::TimedOut });
        }
    }

    /// Asks this device's person whether to continue a match that only the peer's journal has.
    pub(crate) fn consider_continued(&mut self, cx: &mut Around<'_>, record: MatchRecord) {
        let terms = Terms {
            setup: record.setup.clone(),
            pace: record.pace,
            colours: Colours::Mine(record.my_side),
            hints: record.hints.is_some(),
        };
        if record.setup.kind() == GameKind::LightsOut && !record.setup.is_race() {
            // Two play it as a race only, as an invitation to it says.
            self.decline(cx, record.id, peer::DeclineReason::DeclineUnknownGame);
            return;
        }
        let until = cx.now + OPEN_FOR;
        let theirs = Theirs { id: record.id, terms, commitment: [0; 32], continued: Some(record), until };
        self.consider(cx, theirs, None);
    }

    /// Asks this device's person, unless another invitation is open.
    fn consider(&mut self, cx: &mut Around<'_>, theirs: Theirs, counters: Option<MatchId>) {
        if self.theirs.is_some() || !self.has_room(cx) {
            cx.answer(theirs.id, Answer::Decline(peer::DeclineReason::DeclineBusy.into()), None);
            return;
        }
        cx.tell(Event::Invited {
            id: theirs.id,
            terms: theirs.terms.clone(),
            counters,
            continued: theirs.continued.is_some(),
            ply: theirs.continued.as_ref().map_or(0, |record| record.actions.len() as u32),
            until: theirs.until,
        });
        self.theirs = Some(theirs);
    }

    fn decline(&mut self, cx: &mut Around<'_>, id: MatchId, reason: peer::DeclineReason) {
        remember(&mut self.declined, (id, reason));
        cx.answer(id, Answer::Decline(reason.into()), None);
    }

    fn accept(&mut self, cx: &mut Around<'_>, theirs: Theirs) -> Option<Begin> {
        let Theirs { id, terms, commitment, continued, .. } = theirs;
        if let Some(record) = continued {
            return Some(Begin::Continued(record));
        }
        if let Some(my_side) = terms.colours.my_side() {
            let record = MatchRecord::new(id, terms.setup, my_side);
            return Some(Begin::Accepted(record.with_pace(terms.pace).with_hints(terms.hints)));
        }
        let (nonce, until) = (cx.nonces.draw(), Some(cx.now + OPEN_FOR));
        self.promise(cx.effects, id);
        remember(&mut self.drawing, Drawing { id, terms, commitment, nonce, until });
        cx.answer(id, Answer::Accept(true), Some(nonce));
        None
    }

    /// Writes to the journal that this device wants this match.
    pub(crate) fn promise(&mut self, effects: &mut Effects, id: MatchId) {
        if self.promised.contains(&id) {
            return;
        }
        remember(&mut self.promised, id);
        effects.keep(Entry::Promised(id));
    }

    fn end_mine(&mut self, cx: &mut Around<'_>, mine: Mine, end: InvitationEnd) {
        cx.tell(Event::InvitationEnded { id: mine.id, mine: true, end });
        remember(&mut self.over, mine);
    }
}
