//! Commands about invitations.

use client::{json, pace, words};
use proto::board::Side;
use proto::control::{self, ColourChoice, ConnectState, InvitationEnd, event, reply, request};
use proto::peer::DeclineReason;
use serde_json::json;
use tokio::time::Instant;

use crate::arguments::{Colour, GameChoice, TermsChoice};
use crate::connection::Failure;
use crate::conversation::{Conversation, unexpected, within};
use crate::meeting::comparison_text;
use crate::playing::choice;

/// Seconds to wait for an answer: an invitation expires after a minute, and the answer travels for some seconds.
pub(crate) const ANSWER_SECONDS: u64 = 75;

/// Seconds for two people to compare their strings before an invitation can be sent.
const COMPARE_SECONDS: u64 = 180;

impl Conversation {
    pub(crate) async fn invite(
        &mut self,
        who: &str,
        invite: control::Invite,
        no_wait: bool,
        mut deadline: Instant,
    ) -> Result<(), Failure> {
        let reply::Body::InviteId(mut id) = self.host.ask(request::Body::Invite(invite)).await? else {
            return Err(unexpected());
        };
        if no_wait {
            return self.print(|| format!("invited: {id}"), || json!({"invite_id": id}));
        }
        let mut sent = false;
        while let Some(event) = self.host.next_until(deadline).await? {
            match &event.body {
                // Both have invited, and the peer's invitation stands: on equal terms it is accepted, else it needs an answer.
                Some(event::Body::InvitationGone(gone))
                    if gone.invite_id == id
                        && gone.end() == InvitationEnd::InvitationWithdrawn
                        && !gone.countered_by.is_empty() =>
                {
                    id.clone_from(&gone.countered_by);
                }
                Some(event::Body::Invitation(theirs)) if theirs.invite_id == id && !theirs.mine => {
                    let by = theirs.invite_id.get(..8).unwrap_or_default();
                    return Err(Failure::NotToBe(format!(
                        "{who} asked at the same time, see `qiyouctl invitations` for theirs, {by}"
                    )));
                }
                Some(event::Body::Room(room)) if room.id == id => {
                    let end = InvitationEnd::InvitationAccepted.into();
                    let room_id = room.id.clone();
                    let gone = control::InvitationGone { invite_id: id, end, room_id, ..Default::default() };
                    return self.invitation_over(&gone);
                }
                Some(event::Body::InvitationGone(gone)) if gone.invite_id == id => {
                    return self.invitation_over(gone);
                }
                Some(event::Body::Comparison(comparison)) if !comparison.answered_here => {
                    deadline = deadline.max(within(COMPARE_SECONDS));
                    self.print(|| comparison_text(comparison), || json::event(&event))?;
                }
                Some(event::Body::Connecting(connecting))
                    if connecting.state() == ConnectState::ConnectUp && !sent =>
                {
                    sent = true;
                    deadline = deadline.max(within(ANSWER_SECONDS));
                }
                Some(event::Body::Friend(friend)) if friend.connected => {
                    deadline = deadline.max(within(ANSWER_SECONDS));
                }
                _ => {}
            }
        }
        Err(Failure::NotToBe(format!("{who} has not answered")))
    }

    fn invitation_over(&self, gone: &control::InvitationGone) -> Result<(), Failure> {
        if gone.end() == InvitationEnd::InvitationAccepted {
            return self.print(
                || format!("accepted: room {}", gone.room_id),
                || json!({"end": "accepted", "room_id": gone.room_id, "invite_id": gone.invite_id}),
            );
        }
        let reason = match gone.reason() {
            DeclineReason::DeclineUnspecified => String::new(),
            _ => format!(" ({})", words::decline_reason(gone.reason)),
        };
        let by = match gone.countered_by.get(..8) {
            Some(by) => format!(", see `qiyouctl invitations` for theirs, {by}"),
            None => String::new(),
        };
        let end = words::invitation_end(gone.end);
        Err(Failure::NotToBe(format!("the invitation ended: {end}{reason}{by}")))
    }

    pub(crate) fn invitations(&self) -> Result<(), Failure> {
        self.host.state().invitations.iter().try_for_each(|one| {
            let text = || {
                let to = if one.mine { "to" } else { "from" };
                let side = match one.my_side() {
                    Side::Unspecified => "colours are drawn".into(),
                    side => format!("you play {}", words::side(side.into())),
                };
                let id = one.invite_id.get(..8).unwrap_or(&one.invite_id);
                let pace = pace::text(one.pace.as_ref());
                let hints = if one.hints { ", hints allowed" } else { "" };
                let setup = words::setup(one.setup.as_ref());
                format!("{id}  {to} {}: {setup}, clock {pace}, {side}{hints}", one.name)
            };
            self.print(text, || json::invitation(one))
        })
    }

    pub(crate) async fn accept(&mut self, which: Option<&str>, wait: u64) -> Result<(), Failure> {
        let deadline = within(wait);
        let invitation = loop {
            match self.invitation(which, false) {
                Err(Failure::NotToBe(why)) => {
                    if self.host.next_until(deadline).await?.is_none() {
                        return Err(Failure::NotToBe(why));
                    }
                }
                found => break found?,
            }
        };
        let invite_id = invitation.invite_id;
        let answer = control::AnswerInvite { invite_id: invite_id.clone(), accept: true, reason: 0 };
        self.host.ask(request::Body::AnswerInvite(answer)).await?;
        let deadline = within(ANSWER_SECONDS);
        while let Some(event) = self.host.next_until(deadline).await? {
            if let Some(event::Body::InvitationGone(gone)) = &event.body
                && gone.invite_id == invite_id
            {
                return self.invitation_over(gone);
            }
        }
        Err(Failure::NotToBe("the match did not begin".into()))
    }
}

/// An invitation without an addressee yet.
pub(crate) fn asked_for(game: &GameChoice, terms: &TermsChoice) -> Result<control::Invite, Failure> {
    let colours = match terms.colour {
        Colour::First => ColourChoice::ColourFirst,
        Colour::Second => ColourChoice::ColourSecond,
        Colour::Random => ColourChoice::ColourRandom,
        Colour::Alternate => ColourChoice::ColourAlternate,
    };
    Ok(control::Invite {
        choice: Some(choice(game)),
        colours: colours.into(),
        pace: pace::parse(&terms.pace).map_err(Failure::Usage)?,
        hints: terms.hints,
        ..control::Invite::default()
    })
}
