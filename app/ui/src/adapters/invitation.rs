//! An invitation from somebody, or ours to somebody.

use std::rc::Rc;

use proto::board as wire;
use proto::control::{self, request};
use slint::ComponentHandle;

use super::{game, game_of, nearby, side, when};
use crate::app::{Desk, Purpose};
use crate::screens::{InvitationAdapter, MainWindow, Page, Progress};

pub(super) fn attach(window: &MainWindow, desk: &Rc<Desk>) {
    let dialog = window.global::<InvitationAdapter>();
    dialog.on_answer(when!(desk, |desk, accept| {
        let invite = desk.see().incoming().map(|invitation| invitation.invite_id.clone());
        if let Some(invite_id) = invite {
            let answer = control::AnswerInvite { invite_id, accept, reason: 0 };
            desk.ask(request::Body::AnswerInvite(answer), Purpose::Nothing);
        }
    }));
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

pub(super) fn show(window: &MainWindow, desk: &Desk) {
    let inner = desk.see();
    let dialog = window.global::<InvitationAdapter>();
    if let Some(invitation) = inner.incoming().or(inner.outgoing()) {
        dialog.set_name(invitation.name.as_str().into());
        dialog.set_game(game_of(invitation.setup.as_ref()));
        dialog.set_my_side(side(invitation.my_side()));
        let sheet = if inner.chinese() { &invitation.rule_sheet_zh } else { &invitation.rule_sheet_en };
        dialog.set_sheet(if invitation.mine { "" } else { sheet.trim() }.into());
        dialog.set_leaves_match(
            inner.page() == Page::Board && inner.room.as_ref().is_some_and(|room| room.result.is_none()),
        );
        dialog.set_progress(Progress::Up);
    } else if let Some(inviting) = &inner.inviting {
        let near = inner.state.nearby.get(&inviting.peer);
        dialog.set_name(near.map(|near| near.name.as_str()).unwrap_or_default().into());
        dialog.set_game(game::shown(inviting.game));
        dialog.set_my_side(side(wire::Side::try_from(inviting.my_side).unwrap_or_default()));
        dialog.set_sheet("".into());
        // Until the host says how far it is, it looks.
        let progress = match nearby::progress(&inner, &inviting.peer, false) {
            Progress::None => Progress::Looking,
            known => known,
        };
        dialog.set_progress(progress);
    }
}
