//! The short string that two people compare.

use std::rc::Rc;

use proto::control::{self, request};
use proto::short_string::PICTURES;
use slint::{ComponentHandle, ModelRc, SharedString, VecModel};

use super::when;
use crate::app::{Desk, Purpose};
use crate::screens::{ComparisonAdapter, MainWindow, Picture};

pub(super) fn attach(window: &MainWindow, desk: &Rc<Desk>) {
    window.global::<ComparisonAdapter>().on_answer(when!(desk, |desk, same| {
        let peer = desk.see().state.comparisons.first().map(|shown| shown.peer.clone());
        if let Some(peer) = peer {
            desk.ask(request::Body::Compare(control::Compare { peer, same }), Purpose::Nothing);
        }
    }));
}

pub(super) fn show(window: &MainWindow, desk: &Desk) {
    let inner = desk.see();
    let Some(shown) = inner.state.comparisons.first() else { return };
    let dialog = window.global::<ComparisonAdapter>();
    dialog.set_name(shown.name.as_str().into());
    dialog.set_answered_here(shown.answered_here);
    dialog.set_answered_there(shown.answered_there);
    dialog.set_known_name_new_key(shown.known_name_new_key);
    dialog.set_digits(grouped(&shown.digits));
    let chinese = inner.chinese();
    // A number from a newer host than this app shows no picture, and is then not the same on both screens.
    let pictures: VecModel<Picture> = shown
        .emoji
        .iter()
        .filter_map(|&number| PICTURES.get(number as usize))
        .map(|picture| Picture {
            sign: picture.emoji.to_string().into(),
            name: if chinese { picture.chinese } else { picture.english }.into(),
        })
        .collect();
    dialog.set_pictures(ModelRc::new(pictures));
}

/// Six digits are read aloud by threes.
fn grouped(digits: &str) -> SharedString {
    match digits.split_at_checked(3) {
        Some((first, rest)) => format!("{first} {rest}").into(),
        None => digits.into(),
    }
}
