//! Sends, shows and answers invitations; the open ones are in `invitations`.

use proto::control::{self, NoticeKind, RefusalCode, event};
use proto::peer::DeclineReason;
use session::{Command, InvitationEnd, MatchId, Terms};
use tokio::time::Instant;
use tracing::debug;

use crate::actor::{Actor, notice};
use crate::dialing::Target;
use crate::invitations::{self, Invitation, Wish};
use crate::peer::Peer;
use crate::refusal::Refusal;
use crate::room::PlayerId;
use crate::show;

impl Actor {
    pub(crate) fn invite(&mut self, target: Target, wish: Wish) -> Result<MatchId, Refusal> {
        if self.invitations.is_inviting(&target) {
            return Err(Refusal::new(RefusalCode::RefusalBusy, "one invitation is open already"));
        }
        let id = MatchId(self.chance.bytes());
        let key = match &target {
            Target::Friend(key) => {
                Some(*key).filter(|key| self.people.get(key).is_some_and(Peer::session_up))
            }
            Target::Address(_) => None,
        };
        let mut invitation = Invitation::of(target.clone(), wish, Instant::now());
        if let Some(key) = key {
            let terms = self.terms(key, &invitation)?;
            let (my_side, colours) = (terms.colours.my_side(), show::colours(terms.colours));
            self.command(key, Command::Invite { id, terms, counters: invitation.counters })?;
            invitation.mark_sent(my_side, colours, Instant::now());
            self.invitations.insert(id, invitation);
        } else {
            self.invitations.insert(id, invitation);
            self.seek(target);
        }
        self.tell_invitation(id);
        Ok(id)
    }

    /// The terms of an invitation to this player.
    fn terms(&self, key: PlayerId, invitation: &Invitation) -> Result<Terms, Refusal> {
        Ok(invitation.terms(|| self.journal.last_side(key, invitation.setup.kind()))?)
    }

    /// Handles an invitation of the peer.
    pub(crate) fn invited(
        &mut self,
        key: PlayerId,
        id: MatchId,
        terms: Terms,
        counters: Option<MatchId>,
        until: Instant,
    ) {
        let muted =
            self.people.get(&key).and_then(|peer| peer.friend.as_ref()).is_some_and(|friend| friend.muted);
        // A counter-offer does not ring, because its user is waiting for the answer. Others are subject to the rate limit.
        if counters.is_none() && (muted || !self.rings.friend_rings(key, Instant::now())) {
            debug!(muted, "an invitation does not ring: it is declined");
            let decline = Some(DeclineReason::DeclineNotNow);
            let _ = self.command(key, Command::AnswerInvite { id, decline });
            return;
        }
        let kind = terms.setup.kind();
        let last = || self.journal.last_side(key, kind).ok().flatten();
        let invitation = Invitation::received(key, terms, counters, until, last);
        self.invitations.insert(id, invitation);
        self.tell_invitation(id);
    }

    /// Sends the invitations that waited for the link or for the comparison.
    pub(crate) fn send_invitations(&mut self, key: PlayerId) {
        if !self.people.get(&key).is_some_and(Peer::session_up) {
            return;
        }
        for id in self.invitations.waiting_for(&Target::Friend(key)) {
            let Some(one) = self.invitations.get(id) else { continue };
            let counters = one.counters;
            let done = self.terms(key, one).and_then(|terms| {
                let (my_side, colours) = (terms.colours.my_side(), show::colours(terms.colours));
                self.command(key, Command::Invite { id, terms, counters }).map(|()| (my_side, colours))
            });
            match done {
                Ok((my_side, colours)) => {
                    self.invitations.mark_sent(id, my_side, colours, Instant::now());
                    self.tell_invitation(id);
                }
                Err(refusal) => {
                    debug!(detail = refusal.detail, "an invitation could not be sent");
                    if refusal.code == RefusalCode::RefusalVersion {
                        let name = self.name_of(key);
                        self.notice(control::Notice { name, ..notice(NoticeKind::NoticeUpdateNeeded) });
                    }
                    let end = invitations::unsent(refusal.code);
                    self.invitation_over(id, end);
                }
            }
        }
    }

    /// Handles that the session of this player was rebuilt, without invitations: this device's are sent again, and so are
    /// the peer's.
    pub(crate) fn session_forgotten(&mut self, key: PlayerId) {
        for id in self.invitations.on_session_rebuilt(key, Instant::now()) {
            self.invitation_over(id, control::InvitationEnd::InvitationLinkLost);
        }
    }

    pub(crate) fn end_invitations(&mut self, key: PlayerId) {
        self.invitations_over(&Target::Friend(key), control::InvitationEnd::InvitationDeclined);
    }

    /// Ends the invitations to this target that were never sent.
    pub(crate) fn invitations_over(&mut self, target: &Target, end: control::InvitationEnd) {
        for id in self.invitations.waiting_for(target) {
            self.invitation_over(id, end);
        }
    }

    pub(crate) fn withdraw(&mut self, id: MatchId) -> Result<(), Refusal> {
        let no_such = || Refusal::new(RefusalCode::RefusalNoOffer, "no such invitation");
        let one = self.invitations.mine(id).ok_or_else(no_such)?;
        match (one.sent, one.target.clone()) {
            (true, Target::Friend(key)) => self.command(key, Command::Withdraw(id))?,
            (_, target) => self.give_up(&target),
        }
        self.invitation_over(id, control::InvitationEnd::InvitationWithdrawn);
        Ok(())
    }

    /// Answers a received invitation. `decline`: the reason; `None` accepts.
    pub(crate) fn answer_invite(
        &mut self,
        id: MatchId,
        decline: Option<DeclineReason>,
    ) -> Result<(), Refusal> {
        let no_such = || Refusal::new(RefusalCode::RefusalNoOffer, "no such invitation");
        let one = self.invitations.theirs(id).ok_or_else(no_such)?;
        let Target::Friend(key) = one.target else { return Err(no_such()) };
        #[cfg(feature = "online")]
        if let Some(record) = one.letter.clone() {
            return self.answer_letter(key, record, decline);
        }
        self.command(key, Command::AnswerInvite { id, decline })?;
        if let Some(reason) = decline {
            self.invitation_gone(id, show::invitation_end(InvitationEnd::Declined(reason)));
        }
        Ok(())
    }

    pub(crate) fn shown_invitation(&self, id: MatchId) -> Option<control::Invitation> {
        let one = self.invitations.get(id)?;
        Some(one.shown(id, self.target_name(&one.target), Instant::now()))
    }

    pub(crate) fn tell_invitation(&mut self, id: MatchId) {
        if let Some(shown) = self.shown_invitation(id) {
            self.tell(event::Body::Invitation(shown));
        }
    }

    /// Removes an invitation that has ended, and tells clients.
    pub(crate) fn invitation_over(&mut self, id: MatchId, end: control::InvitationEnd) {
        self.invitation_gone(id, control::InvitationGone { end: end.into(), ..Default::default() });
    }

    pub(crate) fn invitation_gone(&mut self, id: MatchId, gone: control::InvitationGone) {
        let Some(gone_one) = self.invitations.remove(id) else { return };
        #[cfg(feature = "online")]
        if gone_one.letter.is_some() {
            self.letter_answered(id);
        }
        #[cfg(not(feature = "online"))]
        drop(gone_one);
        self.show_changes();
        let invite_id = id.to_string();
        self.tell(event::Body::InvitationGone(control::InvitationGone { invite_id, ..gone }));
    }
}
