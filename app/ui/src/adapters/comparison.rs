//! The short string that two people compare.

use std::rc::Rc;

use proto::control::{self, request};
use proto::short_string::PICTURES;
use slint::{ComponentHandle, ModelRc, SharedString, VecModel};

use super::touched;
use crate::app::{AppState, Controller, Cx};
use crate::screens::{ComparisonAdapter, MainWindow, Picture};

pub(super) fn attach(window: &MainWindow, app: &Rc<Controller>) {
    window.global::<ComparisonAdapter>().on_answer(touched!(app, |_pages, cx, same| answer(same, cx)));
}

fn answer(same: bool, cx: &mut Cx<'_>) {
    if let Some(shown) = cx.known.state.comparisons.first() {
        let compare = control::Compare { peer: shown.peer.clone(), same };
        cx.ask.tell(request::Body::Compare(compare));
    }
}

pub(super) fn show(window: &MainWindow, known: &AppState) {
    let Some(shown) = known.state.comparisons.first() else { return };
    let dialog = window.global::<ComparisonAdapter>();
    dialog.set_name(shown.name.as_str().into());
    dialog.set_answered_here(shown.answered_here);
    dialog.set_answered_there(shown.answered_there);
    dialog.set_known_name_new_key(shown.known_name_new_key);
    dialog.set_digits(grouped(&shown.digits));
    let chinese = known.chinese();
    // An unknown number, from a newer host, shows no picture; the two screens then differ.
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

/// Groups the six digits by three, for reading aloud.
fn grouped(digits: &str) -> SharedString {
    match digits.split_at_checked(3) {
        Some((first, rest)) => format!("{first} {rest}").into(),
        None => digits.into(),
    }
}
