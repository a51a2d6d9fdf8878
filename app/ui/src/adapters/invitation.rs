//! Invitations, sent and received.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use proto::board as wire;
use proto::control::{self, GameSheet, InvitationEnd, NoticeKind, event, reply, request};
use proto::peer::DeclineReason;
use slint::{ComponentHandle, ModelRc, SharedString, VecModel};

use super::{game, game_of, nearby, new_game, side, touched, update, wire_game};
use crate::app::{Answer, AppState, Asked, Controller, Cx};
use crate::preferences::LastColour;
use crate::screens::{Dialog, InvitationAdapter, MainWindow, Page, Progress, Remark, Side};

/// State of the dialogs of invitations.
#[derive(Default)]
pub(crate) struct Invitation {
    inviting: Option<Inviting>,
    /// The received invitation to which a counter-offer is being composed.
    countering: Option<control::Invitation>,
    /// Id of the received invitation to which a counter-offer is on its way.
    answered: Option<String>,
    /// The friend to whom an invitation by letter is being composed.
    writing: Option<String>,
    /// Ids of invitations by letter that wait for another day: until the app is closed, or the friend's dialog is used.
    set_aside: BTreeSet<String>,
    /// Rules of received invitations, by invitation id.
    sheets: BTreeMap<String, GameSheet>,
    terms: Rc<VecModel<SharedString>>,
}

/// A person whom the player invites, from the touch until the host's event for the invitation.
struct Inviting {
    peer: String,
    /// Id of the invitation, once the host has replied.
    invite: Option<String>,
    game: wire::Game,
    my_side: i32,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Question {
    Invite,
    /// By letter.
    Letter,
    /// The rules of this received invitation.
    Describe {
        invite: String,
    },
}

impl From<Question> for Asked {
    fn from(question: Question) -> Self {
        Self::Invitation(question)
    }
}

impl Invitation {
    pub(super) fn attach(&self, window: &MainWindow, app: &Rc<Controller>) {
        let dialog = window.global::<InvitationAdapter>();
        dialog.set_terms(ModelRc::from(self.terms.clone()));
        dialog.on_answer(touched!(app, |pages, cx, accept| {
            pages.invitation.answer(accept, DeclineReason::DeclineNotNow, cx);
        }));
        dialog.on_decline(touched!(app, |pages, cx, reason| {
            let reason = match reason {
                2 => DeclineReason::DeclineBusy,
                3 => DeclineReason::DeclineOtherGame,
                4 => DeclineReason::DeclineLater,
                _ => DeclineReason::DeclineNotNow,
            };
            pages.invitation.answer(false, reason, cx);
        }));
        dialog.on_counter(touched!(app, |pages, cx| pages.invitation.counter(cx)));
        dialog.on_later(touched!(app, |pages, cx| pages.invitation.set_aside(cx.known)));
        dialog.on_write(touched!(app, |pages, cx, of| {
            let friend = pages.friends.shown().to_owned();
            pages.invitation.write(friend, game::of(of), cx);
        }));
        dialog.on_withdraw(touched!(app, |pages, cx| pages.invitation.withdraw(cx)));
    }

    /// The received invitation that is waiting for an answer.
    fn incoming<'a>(&self, known: &'a AppState) -> Option<&'a control::Invitation> {
        let countering = self.countering.as_ref().map(|theirs| theirs.invite_id.as_str());
        let answered = self.answered.as_deref();
        known.state.invitations.iter().find(|invitation| {
            let id = Some(invitation.invite_id.as_str());
            let waits = self.set_aside.contains(&invitation.invite_id);
            !invitation.mine && id != countering && id != answered && !waits
        })
    }

    /// The invitation whose rules are shown: a received one, otherwise a sent one if no board is open.
    pub(super) fn of_rules<'a>(&self, known: &'a AppState) -> Option<&'a control::Invitation> {
        self.incoming(known).or_else(|| outgoing(known).filter(|_| known.page() != Page::Board))
    }

    /// The dialog for the present invitations. `question`: the app's own dialog.
    pub(crate) fn dialog(&self, known: &AppState, question: Dialog) -> Option<Dialog> {
        if self.incoming(known).is_some() {
            // Keeps the dialog of the invitation, and dialogs opened from it.
            Some(match question {
                Dialog::Decline | Dialog::Rules => question,
                _ => Dialog::Invitation,
            })
        } else if self.inviting.is_some() || outgoing(known).is_some() {
            Some(Dialog::Waiting)
        } else {
            None
        }
    }

    /// The received invitation to which a counter-offer is being composed.
    pub(super) fn countering(&self) -> Option<&control::Invitation> {
        self.countering.as_ref()
    }

    /// The name of the friend to whom an invitation by letter is being composed.
    pub(super) fn writing_to<'a>(&self, known: &'a AppState) -> Option<&'a str> {
        let friend = known.state.friends.get(self.writing.as_ref()?)?;
        Some(&friend.name)
    }

    /// Discards what is being composed, because the page was left.
    pub(crate) fn stop_composing(&mut self) {
        (self.countering, self.writing) = (None, None);
    }

    /// Sets the shown invitation by letter aside, because it can be answered days later.
    fn set_aside(&mut self, known: &AppState) {
        if let Some(id) = self.incoming(known).filter(|one| one.by_letter).map(|one| one.invite_id.clone()) {
            self.set_aside.insert(id);
        }
    }

    /// Shows this friend's invitations by letter again.
    pub(super) fn take_up(&mut self, known: &AppState, peer: &str) {
        let theirs =
            |id: &String| known.state.invitations.iter().any(|one| one.peer == peer && one.invite_id == *id);
        self.set_aside.retain(|id| !theirs(id));
    }

    /// Opens the page for a new match, for an invitation by letter.
    fn write(&mut self, friend: String, of: wire::Game, cx: &mut Cx<'_>) {
        cx.go.new_game(of);
        self.countering = None;
        self.writing = Some(friend);
    }

    fn answer(&self, accept: bool, reason: DeclineReason, cx: &mut Cx<'_>) {
        if let Some(theirs) = self.incoming(cx.known) {
            let reason = if accept { 0 } else { reason.into() };
            let answer = control::AnswerInvite { invite_id: theirs.invite_id.clone(), accept, reason };
            cx.ask.tell(request::Body::AnswerInvite(answer));
        }
    }

    /// Opens the page for a new match with the terms of the invitation, to be changed and sent back.
    fn counter(&mut self, cx: &mut Cx<'_>) {
        let Some(theirs) = self.incoming(cx.known).cloned() else { return };
        let of = wire_game(theirs.setup.as_ref());
        if let Some(sheet) = self.sheets.get(&theirs.invite_id) {
            new_game::adopt(of, sheet, &theirs, cx);
        }
        cx.go.new_game(of);
        self.countering = Some(theirs);
    }

    /// Sends the counter-offer or the invitation by letter; returns false if none is being composed.
    pub(super) fn send_terms(&mut self, game: wire::Game, cx: &mut Cx<'_>) -> bool {
        if let Some(peer) = &self.writing {
            // The page stays until the host has begun the match.
            let invite = control::Invite {
                by_letter: true,
                pace: None,
                hints: false,
                ..proposal(cx.known, peer, game)
            };
            cx.ask.send(request::Body::Invite(invite), Question::Letter);
            return true;
        }
        let Some(theirs) = self.countering.take() else { return false };
        self.answered = Some(theirs.invite_id.clone());
        cx.go.leave(Page::NewGame);
        cx.go.counter(&theirs.peer, game, &theirs.invite_id);
        true
    }

    /// Invites someone with the last choices for this game; `counters`: as a counter-offer to this invitation.
    pub(crate) fn propose(&mut self, peer: &str, game: wire::Game, counters: &str, cx: &mut Cx<'_>) {
        let invite = control::Invite { counters: counters.to_owned(), ..proposal(cx.known, peer, game) };
        let side = invite.my_side();
        cx.ask.send(request::Body::Invite(invite), Question::Invite);
        cx.go.forget_progress(peer);
        self.inviting = Some(Inviting { peer: peer.to_owned(), invite: None, game, my_side: side.into() });
    }

    fn withdraw(&mut self, cx: &mut Cx<'_>) {
        let inviting = self.inviting.take();
        let ours = outgoing(cx.known).map(|ours| ours.invite_id.clone());
        if let Some(invite_id) = ours.or_else(|| inviting.and_then(|inviting| inviting.invite)) {
            cx.ask.tell(request::Body::Withdraw(control::Withdraw { invite_id }));
        }
    }

    pub(crate) fn hear(&mut self, event: &event::Body, cx: &mut Cx<'_>) {
        match event {
            // From here on the host's event describes the invitation.
            event::Body::Invitation(invitation) if invitation.mine => self.inviting = None,
            event::Body::Invitation(invitation) => self.arrived(invitation, cx),
            event::Body::Connecting(connecting)
                if connecting.state() == control::ConnectState::ConnectFailed =>
            {
                let asked = |inviting: &mut Inviting| inviting.peer == connecting.peer;
                if self.inviting.take_if(asked).is_some() {
                    cx.go.remark(Remark::CannotReach, &connecting.name);
                }
            }
            event::Body::Notice(notice) if notice.kind() == NoticeKind::NoticeCannotReach => {
                self.inviting = None;
            }
            _ => {}
        }
    }

    /// Requests the rules of a received invitation.
    fn arrived(&self, invitation: &control::Invitation, cx: &mut Cx<'_>) {
        if let Some(setup) = &invitation.setup
            && !self.sheets.contains_key(&invitation.invite_id)
        {
            let asked = control::Describe { setup: Some(setup.clone()), ..Default::default() };
            let question = Question::Describe { invite: invitation.invite_id.clone() };
            cx.ask.send(request::Body::Describe(asked), question);
        }
    }

    /// Handles the end of an invitation. `name`: the other person's, if known.
    pub(crate) fn gone(&mut self, gone: &control::InvitationGone, name: Option<String>, cx: &mut Cx<'_>) {
        self.sheets.remove(&gone.invite_id);
        self.set_aside.remove(&gone.invite_id);
        let answered = self.answered.take_if(|id| *id == gone.invite_id).is_some();
        let countering = self.countering.take_if(|theirs| theirs.invite_id == gone.invite_id).is_some();
        if answered && !countering && gone.end() == InvitationEnd::InvitationCountered {
            return;
        }
        let ours = self.inviting.take_if(|inviting| inviting.invite.as_deref() == Some(&gone.invite_id));
        let near = ours.and_then(|inviting| cx.known.state.nearby.get(&inviting.peer));
        let name = near.map(|near| near.name.clone()).or(name).unwrap_or_default();
        if gone.end() == InvitationEnd::InvitationAccepted {
            cx.go.room(&gone.room_id);
        } else if let Some(remark) = remark(gone) {
            cx.go.remark(remark, &name);
        }
    }

    pub(crate) fn reply(&mut self, question: Question, answer: Answer, cx: &mut Cx<'_>) {
        match (answer, question) {
            (Ok(reply::Body::InviteId(invite)), Question::Invite) => {
                // The event of the invitation may have arrived first.
                if let Some(inviting) = &mut self.inviting {
                    inviting.invite = Some(invite);
                }
            }
            // The match has begun here already; to a friend who has come meanwhile this is the id of a usual invitation.
            (Ok(reply::Body::InviteId(room)), Question::Letter) => cx.go.room(&room),
            (Ok(reply::Body::Sheet(sheet)), Question::Describe { invite }) => {
                if cx.known.state.invitations.iter().any(|open| open.invite_id == invite) {
                    self.sheets.insert(invite, sheet);
                }
            }
            (Err(refusal), Question::Invite) => {
                (self.inviting, self.answered) = (None, None);
                cx.go.refused(refusal, Remark::BadRequest);
            }
            (Err(refusal), Question::Letter) => cx.go.refused(refusal, Remark::BadRequest),
            // The invitation of a newer host can be for an unknown game.
            (Err(_), Question::Describe { .. }) | (Ok(_), _) => {}
        }
    }

    pub(super) fn show(&self, window: &MainWindow, known: &AppState) {
        let dialog = window.global::<InvitationAdapter>();
        if let Some(invitation) = self.incoming(known).or(outgoing(known)) {
            self.show_offer(&dialog, known, invitation);
            dialog.set_progress(Progress::Up);
        } else if let Some(inviting) = &self.inviting {
            let near = known.state.nearby.get(&inviting.peer).map(|near| near.name.as_str());
            let friend = known.state.friends.get(&inviting.peer).map(|friend| friend.name.as_str());
            dialog.set_name(near.or(friend).unwrap_or_default().into());
            dialog.set_game(game::shown(inviting.game));
            dialog.set_my_side(side(wire::Side::try_from(inviting.my_side).unwrap_or_default()));
            dialog.set_pace(new_game::pace_name(known, inviting.game).into());
            let sheet = known.sheets.get(&i32::from(inviting.game));
            dialog.set_rule_name(new_game::rule_name(sheet, known.chinese()).into());
            dialog.set_by_turns(false);
            dialog.set_hints(known.last(inviting.game).hints && !game::is_solo(inviting.game));
            update(&self.terms, &terms(sheet, known.chinese()));
            // Shown as looking until the host reports progress.
            let progress = match nearby::progress(known, &inviting.peer, false) {
                Progress::None => Progress::Looking,
                told => told,
            };
            dialog.set_progress(progress);
        }
    }

    fn show_offer(&self, dialog: &InvitationAdapter<'_>, known: &AppState, invitation: &control::Invitation) {
        let chinese = known.chinese();
        dialog.set_name(invitation.name.as_str().into());
        dialog.set_game(game_of(invitation.setup.as_ref()));
        // A game for one player has no colours.
        let solo = game::is_solo(wire_game(invitation.setup.as_ref()));
        dialog.set_my_side(if solo { Side::None } else { side(invitation.my_side()) });
        dialog.set_by_turns(invitation.colours() == control::ColourChoice::ColourAlternate);
        dialog.set_counters(!invitation.counters.is_empty());
        dialog.set_hints(invitation.hints);
        dialog.set_by_letter(invitation.by_letter);
        dialog.set_pace(new_game::said(invitation.pace_name.as_ref(), chinese).into());
        let sheet = self.sheets.get(&invitation.invite_id);
        dialog.set_rule_name(new_game::rule_name(sheet, chinese).into());
        update(&self.terms, &terms(sheet, chinese));
        dialog.set_leaves_match(
            known.page() == Page::Board && known.room.as_ref().is_some_and(|room| room.result.is_none()),
        );
    }
}

/// An invitation with the last choices for this game.
fn proposal(known: &AppState, peer: &str, game: wire::Game) -> control::Invite {
    let last = known.last(game);
    let colours = match last.colour {
        LastColour::Turns => control::ColourChoice::ColourAlternate,
        LastColour::First | LastColour::Second | LastColour::Random => {
            control::ColourChoice::ColourUnspecified
        }
    };
    control::Invite {
        peer: peer.to_owned(),
        my_side: new_game::my_side(last.colour).into(),
        choice: Some(new_game::choice(known, game)),
        pace: new_game::pace(known, game),
        colours: colours.into(),
        hints: last.hints && !game::is_solo(game),
        ..control::Invite::default()
    }
}

/// The unanswered invitation by letter of this friend.
pub(super) fn asks_by_letter<'a>(known: &'a AppState, peer: &str) -> Option<&'a control::Invitation> {
    known.state.invitations.iter().find(|one| !one.mine && one.by_letter && one.peer == peer)
}

fn outgoing(known: &AppState) -> Option<&control::Invitation> {
    known.state.invitations.iter().find(|invitation| invitation.mine)
}

/// The remark for an invitation that has ended without a match.
fn remark(gone: &control::InvitationGone) -> Option<Remark> {
    Some(match gone.end() {
        InvitationEnd::InvitationDeclined => match gone.reason() {
            DeclineReason::DeclineOtherGame => Remark::InvitationOtherGame,
            DeclineReason::DeclineOtherRules => Remark::InvitationOtherRules,
            DeclineReason::DeclineLater => Remark::InvitationLater,
            DeclineReason::DeclineBusy => Remark::InvitationBusy,
            _ => Remark::InvitationDeclined,
        },
        InvitationEnd::InvitationBusy => Remark::InvitationBusy,
        InvitationEnd::InvitationTimedOut => Remark::InvitationTimedOut,
        InvitationEnd::InvitationWithdrawn => Remark::InvitationWithdrawn,
        InvitationEnd::InvitationLinkLost => Remark::InvitationLost,
        InvitationEnd::InvitationUnknownGame => Remark::InvitationUnknownGame,
        // The counter-offer that replaces it rings itself.
        InvitationEnd::InvitationCountered => Remark::InvitationCountered,
        InvitationEnd::InvitationAccepted | InvitationEnd::Unspecified => return None,
    })
}

/// What was chosen about the game, beside the name of its rules: each option with its value.
fn terms(sheet: Option<&GameSheet>, chinese: bool) -> Vec<SharedString> {
    let Some(sheet) = sheet else { return Vec::new() };
    let said = |words: Option<&control::Words>| new_game::said(words, chinese).to_owned();
    let term = |option: &control::GameOption| {
        let value = option.values.iter().find(|value| value.value == option.chosen);
        let value = value.map_or_else(|| option.chosen.clone(), |value| said(value.name.as_ref()));
        let between = if chinese { "：" } else { ": " };
        SharedString::from(format!("{}{between}{value}", said(option.name.as_ref())))
    };
    new_game::offered(sheet).map(term).collect()
}
