//! An invitation from somebody, or ours to somebody.

use std::rc::Rc;

use proto::board as wire;
use proto::control::{self, GameSheet, request};
use proto::peer::DeclineReason;
use slint::{ComponentHandle, ModelRc, SharedString, VecModel};

use super::{game, game_of, nearby, new_game, side, update, when, wire_game};
use crate::app::{Desk, Inner, Purpose};
use crate::screens::{Dialog, InvitationAdapter, MainWindow, Page, Progress, Side};

/// Rows of the models that the dialog draws from.
#[derive(Default)]
pub(crate) struct Rows {
    terms: Rc<VecModel<SharedString>>,
}

pub(super) fn attach(window: &MainWindow, desk: &Rc<Desk>) {
    let dialog = window.global::<InvitationAdapter>();
    dialog.set_terms(ModelRc::from(desk.invitation.terms.clone()));
    dialog.on_answer(when!(desk, |desk, accept| answer(&desk, accept, DeclineReason::DeclineNotNow)));
    dialog.on_decline(when!(desk, |desk, reason| {
        let reason = match reason {
            2 => DeclineReason::DeclineBusy,
            3 => DeclineReason::DeclineOtherGame,
            4 => DeclineReason::DeclineLater,
            _ => DeclineReason::DeclineNotNow,
        };
        answer(&desk, false, reason);
    }));
    dialog.on_counter(when!(desk, |desk| counter(&desk)));
    dialog.on_withdraw(when!(desk, |desk| {
        let invite = {
            let inner = desk.see();
            inner
                .outgoing()
                .map(|ours| ours.invite_id.clone())
                .or_else(|| inner.inviting.as_ref().and_then(|inviting| inviting.invite.clone()))
        };
        if let Some(invite_id) = invite {
            desk.ask(request::Body::Withdraw(control::Withdraw { invite_id }), Purpose::Nothing);
        }
        desk.change(|inner| inner.inviting = None);
    }));
}

fn answer(desk: &Desk, accept: bool, reason: DeclineReason) {
    let invite = desk.see().incoming().map(|invitation| invitation.invite_id.clone());
    if let Some(invite_id) = invite {
        let reason = if accept { 0 } else { reason.into() };
        let answer = control::AnswerInvite { invite_id, accept, reason };
        desk.ask(request::Body::AnswerInvite(answer), Purpose::Nothing);
    }
}

/// Turns to the page for a new match with their terms on it, of which some can be changed and sent back.
fn counter(desk: &Desk) {
    let Some(theirs) = desk.see().incoming().cloned() else { return };
    let of = wire_game(theirs.setup.as_ref());
    let sheet = desk.see().invite_sheets.get(&theirs.invite_id).cloned();
    if let Some(sheet) = sheet {
        new_game::adopt(desk, of, &sheet, &theirs);
    }
    new_game::open(desk, of);
    desk.change(|inner| inner.countering = Some(theirs));
}

/// An invitation of theirs has come: what it amounts to is asked for.
pub(crate) fn arrived(desk: &Desk, invitation: &control::Invitation) {
    let known = desk.see().invite_sheets.contains_key(&invitation.invite_id);
    if let (false, Some(setup)) = (known, invitation.setup.clone()) {
        let asked = control::Describe { setup: Some(setup), ..Default::default() };
        let purpose = Purpose::DescribeInvitation { invite: invitation.invite_id.clone() };
        desk.ask(request::Body::Describe(asked), purpose);
    }
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

pub(super) fn show(window: &MainWindow, desk: &Desk) {
    let inner = desk.see();
    let dialog = window.global::<InvitationAdapter>();
    if let Some(invitation) = inner.incoming().or(inner.outgoing()) {
        show_offer(&dialog, desk, &inner, invitation);
        dialog.set_progress(Progress::Up);
    } else if let Some(inviting) = &inner.inviting {
        let near = inner.state.nearby.get(&inviting.peer).map(|near| near.name.as_str());
        let friend = inner.state.friends.get(&inviting.peer).map(|friend| friend.name.as_str());
        dialog.set_name(near.or(friend).unwrap_or_default().into());
        dialog.set_game(game::shown(inviting.game));
        dialog.set_my_side(side(wire::Side::try_from(inviting.my_side).unwrap_or_default()));
        dialog.set_pace(new_game::pace_name(&inner, inviting.game).into());
        let sheet = inner.sheets.get(&i32::from(inviting.game));
        dialog.set_rule_name(new_game::rule_name(sheet, inner.chinese()).into());
        dialog.set_by_turns(false);
        update(&desk.invitation.terms, &terms(sheet, inner.chinese()));
        // Until the host says how far it is, it looks.
        let progress = match nearby::progress(&inner, &inviting.peer, false) {
            Progress::None => Progress::Looking,
            known => known,
        };
        dialog.set_progress(progress);
    }
}

fn show_offer(dialog: &InvitationAdapter<'_>, desk: &Desk, inner: &Inner, invitation: &control::Invitation) {
    let chinese = inner.chinese();
    dialog.set_name(invitation.name.as_str().into());
    dialog.set_game(game_of(invitation.setup.as_ref()));
    // A game for one has no colours.
    let solo = game::is_solo(wire_game(invitation.setup.as_ref()));
    dialog.set_my_side(if solo { Side::None } else { side(invitation.my_side()) });
    dialog.set_by_turns(invitation.colours() == control::ColourChoice::ColourAlternate);
    dialog.set_counters(!invitation.counters.is_empty());
    dialog.set_pace(new_game::said(invitation.pace_name.as_ref(), chinese).into());
    let sheet = inner.invite_sheets.get(&invitation.invite_id);
    dialog.set_rule_name(new_game::rule_name(sheet, chinese).into());
    update(&desk.invitation.terms, &terms(sheet, chinese));
    dialog.set_leaves_match(
        inner.page() == Page::Board && inner.room.as_ref().is_some_and(|room| room.result.is_none()),
    );
}

/// What is seen of an invitation of theirs: the question itself, or one that it leads to.
pub(crate) fn dialog_of(question: Dialog) -> Dialog {
    match question {
        Dialog::Decline | Dialog::Rules => question,
        _ => Dialog::Invitation,
    }
}
