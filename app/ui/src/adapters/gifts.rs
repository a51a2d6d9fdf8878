//! Copies of kept matches that friends offer each other.

use std::rc::Rc;

use proto::control::{self, event, reply, request};
use slint::{ComponentHandle, ModelRc, VecModel};

use super::{game_of, side, touched, update};
use crate::app::{Answer, AppState, Asked, Controller, Cx};
use crate::art::Sprites;
use crate::screens::{GiftAdapter, GiftFriend, MainWindow, Page, Remark, Side};

/// Offers in progress.
#[derive(Default)]
pub(crate) struct Gifts {
    /// A match to offer to a friend as soon as the friend is connected.
    waiting: Option<Giving>,
    friends: Rc<VecModel<GiftFriend>>,
}

#[derive(Clone, Debug, PartialEq)]
struct Giving {
    peer: String,
    room: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Question {
    /// The match was offered to this friend.
    Give { peer: String },
    /// An offered match is kept.
    Keep,
}

impl From<Question> for Asked {
    fn from(question: Question) -> Self {
        Self::Gifts(question)
    }
}

impl Gifts {
    pub(super) fn attach(&self, window: &MainWindow, app: &Rc<Controller>) {
        let dialog = window.global::<GiftAdapter>();
        dialog.set_friends(ModelRc::from(self.friends.clone()));
        dialog.on_answer(touched!(app, |_pages, cx, keep| answer(keep, cx)));
        dialog.on_give(touched!(app, |pages, cx, peer| {
            if let Some(room) = pages.replay.room() {
                pages.gifts.give_once_connected(Giving { peer: peer.into(), room }, cx);
            }
        }));
    }

    fn give_once_connected(&mut self, giving: Giving, cx: &mut Cx<'_>) {
        if cx.known.state.friends.get(&giving.peer).is_some_and(|friend| friend.connected) {
            give(giving, cx);
        } else {
            cx.ask.done(request::Body::Meet(control::Meet { peer: giving.peer.clone() }));
            self.waiting = Some(giving);
        }
    }

    /// Sends the waiting offer once its friend is connected, or drops it if the friend cannot be reached.
    pub(crate) fn hear(&mut self, event: &event::Body, cx: &mut Cx<'_>) {
        match event {
            event::Body::Friend(friend) => {
                let ready = |giving: &mut Giving| giving.peer == friend.id && friend.connected;
                if let Some(giving) = self.waiting.take_if(ready) {
                    give(giving, cx);
                }
            }
            event::Body::Connecting(connecting)
                if connecting.state() == control::ConnectState::ConnectFailed =>
            {
                self.waiting = None;
            }
            _ => {}
        }
    }

    pub(super) fn show(&self, window: &MainWindow, known: &AppState, sprites: &Sprites) {
        let dialog = window.global::<GiftAdapter>();
        if known.page() == Page::Replay {
            let friends: Vec<GiftFriend> = (known.state.friends.values())
                .filter(|friend| friend.near)
                .map(|friend| GiftFriend { id: friend.id.as_str().into(), name: friend.name.as_str().into() })
                .collect();
            update(&self.friends, &friends);
        }
        let Some(gift) = known.state.gifts.first() else { return };
        dialog.set_name(gift.name.as_str().into());
        let Some(shown) = &gift.r#match else { return };
        dialog.set_game(game_of(shown.setup.as_ref()));
        dialog.set_moves(shown.moves as i32);
        dialog.set_over(shown.result.is_some());
        dialog.set_winner(shown.result.as_ref().map_or(Side::None, |result| side(result.winner())));
        let id = format!("gift {}", gift.gift_id);
        dialog.set_revision(sprites.set_thumbnail(&id, shown.board.as_ref()));
        dialog.set_id(id.into());
    }
}

/// Answers the offer that is shown.
fn answer(keep: bool, cx: &mut Cx<'_>) {
    let Some(gift) = cx.known.state.gifts.first() else { return };
    let answer = request::Body::AnswerGift(control::AnswerGift { gift_id: gift.gift_id.clone(), keep });
    if keep {
        cx.ask.send(answer, Question::Keep);
    } else {
        cx.ask.tell(answer);
    }
}

fn give(giving: Giving, cx: &mut Cx<'_>) {
    let give = control::Give { room_id: giving.room, peer: giving.peer.clone() };
    cx.ask.send(request::Body::Give(give), Question::Give { peer: giving.peer });
}

pub(crate) fn reply(question: Question, answer: Answer, cx: &mut Cx<'_>) {
    match (answer, question) {
        (Ok(reply::Body::Done(_)), Question::Give { peer }) => {
            let name = cx.known.state.friends.get(&peer).map_or("", |friend| &friend.name);
            cx.go.remark(Remark::Given, name);
        }
        (Ok(reply::Body::RoomId(_)), Question::Keep) => {
            cx.go.remark(Remark::Copied, "");
            cx.go.search_records();
        }
        (Err(refusal), _) => cx.go.refused(refusal, Remark::BadRequest),
        (Ok(_), _) => {}
    }
}
