//! A kept match that goes from friend to friend.

use std::rc::Rc;

use proto::control::{self, request};
use slint::{ComponentHandle, ModelRc, VecModel};

use super::{game_of, replay, side, update, when};
use crate::app::{Desk, Purpose};
use crate::screens::{GiftAdapter, GiftFriend, MainWindow, Page, Remark, Side};

/// Rows of the model that the dialog draws from.
#[derive(Default)]
pub(crate) struct Rows {
    friends: Rc<VecModel<GiftFriend>>,
}

/// A match for a friend who is being connected.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Giving {
    peer: String,
    room: String,
}

pub(super) fn attach(window: &MainWindow, desk: &Rc<Desk>) {
    let dialog = window.global::<GiftAdapter>();
    dialog.set_friends(ModelRc::from(desk.gifts.friends.clone()));
    dialog.on_answer(when!(desk, |desk, keep| {
        let gift = desk.see().state.gifts.first().map(|gift| gift.gift_id.clone());
        if let Some(gift_id) = gift {
            let purpose = if keep { Purpose::Import } else { Purpose::Nothing };
            desk.ask(request::Body::AnswerGift(control::AnswerGift { gift_id, keep }), purpose);
        }
    }));
    dialog.on_give(when!(desk, |desk, peer| {
        let Some(room) = replay::room(&desk) else { return };
        let connected = desk.see().state.friends.get(peer.as_str()).is_some_and(|friend| friend.connected);
        if connected {
            give(&desk, &Giving { peer: peer.into(), room });
        } else {
            desk.ask(request::Body::Meet(control::Meet { peer: peer.to_string() }), Purpose::Person);
            desk.change(|inner| inner.giving = Some(Giving { peer: peer.into(), room }));
        }
    }));
}

fn give(desk: &Desk, giving: &Giving) {
    let give = control::Give { room_id: giving.room.clone(), peer: giving.peer.clone() };
    desk.ask(request::Body::Give(give), Purpose::Give { peer: giving.peer.clone() });
}

/// A friend's state has changed: whoever was waited for is given what was meant for them.
pub(crate) fn friend_changed(desk: &Desk, friend: &control::Friend) {
    let ready = desk.see().giving.as_ref().is_some_and(|giving| giving.peer == friend.id && friend.connected);
    if ready {
        let mut giving = None;
        desk.change(|inner| giving = inner.giving.take());
        if let Some(giving) = giving {
            give(desk, &giving);
        }
    }
}

/// The friend has been told of it.
pub(crate) fn given(desk: &Desk, peer: &str) {
    let name = desk.see().state.friends.get(peer).map(|friend| friend.name.clone()).unwrap_or_default();
    desk.remark(Remark::Given, &name);
}

pub(super) fn show(window: &MainWindow, desk: &Desk) {
    let inner = desk.see();
    let dialog = window.global::<GiftAdapter>();
    if inner.page() == Page::Replay {
        let friends: Vec<GiftFriend> = (inner.state.friends.values())
            .filter(|friend| friend.near)
            .map(|friend| GiftFriend { id: friend.id.as_str().into(), name: friend.name.as_str().into() })
            .collect();
        update(&desk.gifts.friends, &friends);
    }
    let Some(gift) = inner.state.gifts.first() else { return };
    dialog.set_name(gift.name.as_str().into());
    let Some(shown) = &gift.r#match else { return };
    dialog.set_game(game_of(shown.setup.as_ref()));
    dialog.set_moves(shown.moves as i32);
    dialog.set_over(shown.result.is_some());
    dialog.set_winner(shown.result.as_ref().map_or(Side::None, |result| side(result.winner())));
    let id = format!("gift {}", gift.gift_id);
    dialog.set_revision(desk.sprites.set_thumbnail(&id, shown.board.as_ref()));
    dialog.set_id(id.into());
}
