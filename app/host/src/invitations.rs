//! Invitations of either side, from being asked for to their end. The session has its own word on each; here they also wait
//! for a link that does not stand yet.

use std::time::Duration;

use engine::{Language, Setup, Side};
use link::Address;
use proto::control::{self, RefusalCode, event};
use proto::peer::DeclineReason;
use session::{Command, MatchId, wire};
use tokio::time::Instant;
use tracing::debug;

use crate::actor::Actor;
use crate::people::Peer;
use crate::reach::{Target, target_id};
use crate::room::PlayerId;
use crate::show::{self, Refusal};

/// An invitation that waits for its link is given up after this; longer than any goal of `reach` lasts.
const UNSENT: Duration = Duration::from_mins(5);

/// The session's own time for an invitation that was sent.
const OPEN_FOR: Duration = Duration::from_mins(1);

/// An invitation of either side.
pub(crate) struct Invitation {
    pub(crate) target: Target,
    pub(crate) mine: bool,
    pub(crate) setup: Setup,
    pub(crate) my_side: Side,
    pub(crate) until: Instant,
    /// Only of ours: the session has it.
    pub(crate) sent: bool,
}

impl Actor {
    pub(crate) fn invite(
        &mut self,
        target: Target,
        setup: Setup,
        my_side: Option<Side>,
    ) -> Result<MatchId, Refusal> {
        if self.invitations.values().any(|one| one.mine && one.target == target) {
            return Err(Refusal::new(RefusalCode::RefusalBusy, "one invitation is open already"));
        }
        let id = MatchId(self.chance.bytes());
        let my_side = my_side.unwrap_or_else(|| Side::BOTH[(self.chance.seed() & 1) as usize]);
        let up = match &target {
            Target::Friend(key) => self.people.get(key).is_some_and(Peer::session_up),
            Target::Address(_) => false,
        };
        let now = Instant::now();
        let mut invitation = Invitation {
            target: target.clone(),
            mine: true,
            setup: setup.clone(),
            my_side,
            until: now + UNSENT,
            sent: false,
        };
        if let (true, Target::Friend(key)) = (up, &target) {
            self.command(*key, Command::Invite { id, setup, my_side })?;
            (invitation.sent, invitation.until) = (true, now + OPEN_FOR);
            self.invitations.insert(id, invitation);
        } else {
            self.invitations.insert(id, invitation);
            self.seek(target);
        }
        self.tell_invitation(id);
        Ok(id)
    }

    /// Sends what waited for the link or for the comparison.
    pub(crate) fn send_invitations(&mut self, key: PlayerId) {
        if !self.people.get(&key).is_some_and(Peer::session_up) {
            return;
        }
        let waiting: Vec<MatchId> = self
            .invitations
            .iter()
            .filter(|(_, one)| one.mine && !one.sent && one.target == Target::Friend(key))
            .map(|(id, _)| *id)
            .collect();
        for id in waiting {
            let Some(one) = self.invitations.get_mut(&id) else { continue };
            (one.sent, one.until) = (true, Instant::now() + OPEN_FOR);
            let command = Command::Invite { id, setup: one.setup.clone(), my_side: one.my_side };
            match self.command(key, command) {
                Ok(()) => self.tell_invitation(id),
                Err(refusal) => {
                    debug!(detail = refusal.detail, "an invitation could not be sent");
                    let end = match refusal.code {
                        RefusalCode::RefusalBusy => control::InvitationEnd::InvitationBusy,
                        RefusalCode::RefusalBadRequest => control::InvitationEnd::InvitationUnknownGame,
                        _ => control::InvitationEnd::InvitationLinkLost,
                    };
                    self.invitation_gone(id, end, None);
                }
            }
        }
    }

    /// Invitations to a device at this address are invitations to this player, now that it is known.
    pub(crate) fn invitations_meant(&mut self, address: &Address, key: PlayerId) {
        for one in self.invitations.values_mut() {
            if one.target == Target::Address(address.clone()) {
                one.target = Target::Friend(key);
            }
        }
    }

    pub(crate) fn end_invitations(&mut self, key: PlayerId) {
        self.invitations_over(&Target::Friend(key), control::InvitationEnd::InvitationDeclined);
    }

    /// Invitations that were never sent end with what they waited for.
    pub(crate) fn invitations_over(&mut self, target: &Target, end: control::InvitationEnd) {
        let gone: Vec<MatchId> = self
            .invitations
            .iter()
            .filter(|(_, one)| one.mine && !one.sent && one.target == *target)
            .map(|(id, _)| *id)
            .collect();
        for id in gone {
            self.invitation_gone(id, end, None);
        }
    }

    pub(crate) fn withdraw(&mut self, id: MatchId) -> Result<(), Refusal> {
        let no_such = || Refusal::new(RefusalCode::RefusalNoOffer, "no such invitation");
        let one = self.invitations.get(&id).filter(|one| one.mine).ok_or_else(no_such)?;
        match (one.sent, one.target.clone()) {
            (true, Target::Friend(key)) => self.command(key, Command::Withdraw(id))?,
            (_, target) => self.give_up(&target),
        }
        self.invitation_gone(id, control::InvitationEnd::InvitationWithdrawn, None);
        Ok(())
    }

    pub(crate) fn answer_invite(&mut self, id: MatchId, accept: bool) -> Result<(), Refusal> {
        let no_such = || Refusal::new(RefusalCode::RefusalNoOffer, "no such invitation");
        let one = self.invitations.get(&id).filter(|one| !one.mine).ok_or_else(no_such)?;
        let Target::Friend(key) = one.target else { return Err(no_such()) };
        let decline = (!accept).then_some(DeclineReason::DeclineNotNow);
        self.command(key, Command::AnswerInvite { id, decline })?;
        if !accept {
            self.invitation_gone(id, control::InvitationEnd::InvitationDeclined, None);
        }
        Ok(())
    }

    pub(crate) fn shown_invitation(&self, id: MatchId) -> Option<control::Invitation> {
        let one = self.invitations.get(&id)?;
        Some(control::Invitation {
            invite_id: id.to_string(),
            peer: target_id(&one.target),
            name: self.target_name(&one.target),
            mine: one.mine,
            setup: Some(wire::setup(&one.setup)),
            my_side: show::side(one.my_side).into(),
            expires_ms: one.until.saturating_duration_since(Instant::now()).as_millis() as u32,
            rule_sheet_en: one.setup.rule_sheet(Language::English),
            rule_sheet_zh: one.setup.rule_sheet(Language::Chinese),
            ..control::Invitation::default()
        })
    }

    pub(crate) fn tell_invitation(&mut self, id: MatchId) {
        if let Some(shown) = self.shown_invitation(id) {
            self.tell(event::Body::Invitation(shown));
        }
    }

    pub(crate) fn invitation_gone(
        &mut self,
        id: MatchId,
        end: control::InvitationEnd,
        room: Option<MatchId>,
    ) {
        if self.invitations.remove(&id).is_none() {
            return;
        }
        self.show_changes();
        self.tell(event::Body::InvitationGone(control::InvitationGone {
            invite_id: id.to_string(),
            end: end.into(),
            room_id: room.map_or_else(String::new, |id| id.to_string()),
            ..control::InvitationGone::default()
        }));
    }
}
