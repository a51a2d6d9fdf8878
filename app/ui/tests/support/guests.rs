//! What the dialog of a guest's code says in each of its states.

use proto::board::Side;
use proto::control::{self, event, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::{ClubAdapter, GuestAdapter};
use slint::ComponentHandle;

use super::club::{running, show};
use super::{Tell, Told, body, guest, open, room, show_guest_code, show_guest_code_of, with_guest};

/// A match of two guests, who were given these names.
pub(crate) fn with_two_guests(first: &str, second: &str) -> control::Room {
    let guest = |name: &str| control::Seat {
        who: Some(control::seat::Who::Guest(true)),
        name: name.into(),
        away: true,
        ..Default::default()
    };
    room(guest(first), guest(second), &[])
}

/// Answers the pending request for a code: this device is in no network.
fn refuse_guest_code(told: &mut Told) {
    let all = told.asked();
    let asked = all.iter().find(|one| matches!(body(one), request::Body::ShowGuestCode(_)));
    let id = asked.unwrap_or_else(|| panic!("no code was asked for: {all:?}")).id;
    let reason = control::Words {
        zh: "这台设备没有连任何网络。".into(),
        en: "This device is in no network. Join a Wi-Fi first.".into(),
    };
    let code = control::RefusalCode::RefusalRadio.into();
    told.reply(
        id,
        reply::Body::Refusal(control::Refusal { code, reason: Some(reason), ..Default::default() }),
    );
}

/// At the board of this match, its code or that for spectators is asked for.
fn ask(stage: &Stage, told: &mut Told, room: control::Room, watch: bool) {
    open(stage, told, room);
    told.app.window().global::<GuestAdapter<'_>>().invoke_show(watch);
}

/// As [`ask`], with the code, after somebody has come by it.
fn after_arrival(stage: &Stage, told: &mut Told, present: bool) {
    told.say(event::Body::Guest(guest("Ben", present)));
    let mut room = with_guest("Ben");
    room.second = room.second.map(|seat| control::Seat { away: !present, ..seat });
    ask(stage, told, room, false);
    show_guest_code(told);
}

pub(crate) const GUESTS: [(&str, Tell); 7] = [
    ("guest-watchers", |stage, told| {
        ask(stage, told, with_guest("Ben"), true);
        show_guest_code(told);
        let watchers = control::Guest { room_id: "room".into(), watchers: 3, ..Default::default() };
        told.say(event::Body::Guest(watchers));
    }),
    ("guest-trouble", |stage, told| {
        ask(stage, told, with_guest(""), false);
        refuse_guest_code(told);
    }),
    ("guest-starting", |stage, told| {
        ask(stage, told, with_guest(""), false);
        refuse_guest_code(told);
        let starting = control::HotspotState::HotspotStarting.into();
        told.say(event::Body::Hotspot(control::Hotspot { state: starting, ..Default::default() }));
    }),
    ("guest-present", |stage, told| after_arrival(stage, told, true)),
    ("guest-gone", |stage, told| after_arrival(stage, told, false)),
    ("guest-two", |stage, told| {
        ask(stage, told, with_two_guests("Guo", "Ben"), false);
        show_guest_code_of(told, Side::First);
    }),
    ("guest-evening", |stage, told| {
        show(stage, told, running());
        told.app.window().global::<ClubAdapter<'_>>().invoke_show_everyone();
        show_guest_code(told);
        let looking = control::Guest { club_id: "3".into(), watchers: 3, ..Default::default() };
        told.say(event::Body::Guest(looking));
    }),
];
