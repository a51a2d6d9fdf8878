//! Somebody with a browser: the code in the app, and who comes by it.

use proto::board::Side;
use proto::control::{self, event, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::{Dialog, GuestAdapter, Page, Remark};
use slint::ComponentHandle;

use crate::support::guests::with_two_guests;
use crate::support::hotspot::hotspot;
use crate::support::{body, guest, here, radio, show_guest_code, show_guest_code_of, with_guest};
use crate::touches::{dialog, only, page, playing, playing_at, remark, says, started, tap};

/// So tall that nothing has to be scrolled to.
const TALL: (u32, u32, f32) = (720, 3_000, 2.0);

#[test]
fn somebody_without_qiyou_is_given_a_code_and_the_match_begins_when_they_come() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.say(radio(control::RadioState::RadioReady));
    told.app.go(Page::Nearby);
    stage.settle(&told.scene);
    told.asked();
    tap(&stage, &told, "Someone without Qiyou");
    let asked = told.asked();
    let request::Body::OpenRoom(opened) = body(&asked[0]).clone() else { panic!("{asked:?}") };
    let seats = [opened.first, opened.second].map(|seat| seat.expect("a seat").who);
    assert_eq!(seats, [here().who, Some(control::seat::Who::Guest(true))]);
    told.say(event::Body::Room(with_guest("")));
    told.reply(asked[0].id, reply::Body::RoomId("room".into()));
    stage.settle(&told.scene);
    let shown = show_guest_code(&mut told);
    assert_eq!((shown.room_id.as_str(), shown.watch, shown.renew), ("room", false, false));
    told.say(event::Body::Guest(guest("", false)));
    stage.settle(&told.scene);
    assert_eq!((page(&told), dialog(&told)), (Page::Board, Dialog::GuestCode));
    assert!(says(&told, "Nobody has come yet."));
    told.say(event::Body::Guest(guest("Ben", true)));
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::None, "the board is free for the first move");
    told.asked();
    told.say(event::Body::Guest(control::Guest { asks: true, ..guest("Ben", true) }));
    stage.settle(&told.scene);
    tap(&stage, &told, "Let them take it");
    let answer = control::AnswerGuest { room_id: "room".into(), side: Side::Second.into(), accept: true };
    assert_eq!(only(&mut told), request::Body::AnswerGuest(answer));
}

#[test]
fn a_host_that_cannot_show_a_code_says_why() {
    let stage = Stage::new();
    let mut told = playing(&stage, with_guest(""));
    told.app.window().global::<GuestAdapter<'_>>().invoke_show(false);
    let asked = told.asked();
    let refusal = control::Refusal {
        code: control::RefusalCode::RefusalRadio.into(),
        reason: Some(control::Words {
            zh: "没有网络".into(), en: "This device is in no network.".into()
        }),
        ..Default::default()
    };
    told.reply(asked[0].id, reply::Body::Refusal(refusal));
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::GuestCode);
    assert!(says(&told, "This device is in no network."));
}

#[test]
fn where_there_is_no_wifi_one_is_made_by_a_touch_and_its_code_comes_before_the_pages() {
    let stage = Stage::new();
    let mut told = playing(&stage, with_guest(""));
    told.app.window().global::<GuestAdapter<'_>>().invoke_show(false);
    let asked = told.asked();
    let refusal = control::Refusal {
        code: control::RefusalCode::RefusalRadio.into(),
        reason: Some(control::Words {
            zh: "没有网络".into(), en: "This device is in no network.".into()
        }),
        ..Default::default()
    };
    told.reply(asked[0].id, reply::Body::Refusal(refusal));
    stage.settle(&told.scene);
    tap(&stage, &told, "No Wi-Fi here? Make one");
    assert_eq!(only(&mut told), request::Body::SetHotspot(control::SetHotspot { on: true }));
    let starting = control::HotspotState::HotspotStarting.into();
    told.say(event::Body::Hotspot(control::Hotspot { state: starting, ..Default::default() }));
    stage.settle(&told.scene);
    assert!(says(&told, "Making a Wi-Fi…") && told.asked().is_empty());

    // The page's address is another one in the new network.
    told.say(event::Body::Hotspot(hotspot()));
    stage.settle(&told.scene);
    show_guest_code(&mut told);
    stage.settle(&told.scene);
    assert!(says(&told, "First join this Wi-Fi") && says(&told, "Qiyou-k3wz · password n7hcq4yb2xdm"));
    tap(&stage, &told, "Next: the page");
    stage.settle(&told.scene);
    assert!(says(&told, "Scan to play") && says(&told, "Nobody has come yet."));
    tap(&stage, &told, "End the Wi-Fi");
    assert_eq!(only(&mut told), request::Body::SetHotspot(control::SetHotspot { on: false }));

    // Why it came to nothing is said where it was asked for.
    let trouble = Some(control::Words { zh: "Wi-Fi 关着。".into(), en: "Wi-Fi is off.".into() });
    told.say(event::Body::Hotspot(control::Hotspot { trouble, ..Default::default() }));
    stage.settle(&told.scene);
    assert!(says(&told, "Wi-Fi is off."));
}

#[test]
fn two_guests_are_given_their_codes_one_after_the_other() {
    let stage = Stage::new();
    let mut told = playing(&stage, with_two_guests("Guo", "Ben"));
    told.app.window().global::<GuestAdapter<'_>>().invoke_show(false);
    let show = show_guest_code_of(&mut told, Side::First);
    assert_eq!(show.side(), Side::Unspecified, "the host knows who is missing");
    stage.settle(&told.scene);
    assert!(says(&told, "This code is for Guo, who has not come yet."));
    tap(&stage, &told, "New code");
    let renewed = show_guest_code(&mut told);
    assert_eq!((renewed.side(), renewed.renew), (Side::First, true), "the same seat's");

    // Another one at the other seat does not close the code of this one.
    let came = |side: Side, name: &str| {
        event::Body::Guest(control::Guest { side: side.into(), ..guest(name, true) })
    };
    told.say(event::Body::Guest(guest("", false)));
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::GuestCode);
    told.say(came(Side::First, "Guo"));
    stage.settle(&told.scene);
    let show = show_guest_code(&mut told);
    assert_eq!((show.watch, show.renew), (false, false), "the next one's code follows by itself");
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::GuestCode);
    assert!(says(&told, "This code is for Ben, who has not come yet."));
    told.say(came(Side::Second, "Ben"));
    stage.settle(&told.scene);
    assert_eq!((dialog(&told), remark(&told)), (Dialog::None, Remark::GuestCame));
    assert!(told.asked().is_empty(), "both are here");
}

#[test]
fn the_code_of_a_seat_is_shown_again_replaced_and_closed() {
    let stage = Stage::new();
    let mut told = playing_at(&stage, TALL, with_guest(""));
    told.app.window().global::<GuestAdapter<'_>>().invoke_show(false);
    show_guest_code(&mut told);
    stage.settle(&told.scene);
    tap(&stage, &told, "Close");
    assert_eq!(dialog(&told), Dialog::None);
    assert!(told.asked().is_empty(), "the code stays valid");
    tap(&stage, &told, "More");
    tap(&stage, &told, "Show the code again");
    let again = show_guest_code(&mut told);
    assert_eq!((again.room_id.as_str(), again.watch, again.renew), ("room", false, false));
    stage.settle(&told.scene);
    tap(&stage, &told, "New code");
    let new = show_guest_code(&mut told);
    assert_eq!((new.side(), new.watch, new.renew), (Side::Second, false, true));
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::GuestCode, "whoever comes next scans this one");
    tap(&stage, &told, "Close the code");
    let close = control::CloseGuestCode { room_id: "room".into(), side: Side::Second.into(), watch: false };
    assert_eq!(only(&mut told), request::Body::CloseGuestCode(close));
    assert_eq!(dialog(&told), Dialog::None);
}

#[test]
fn others_watch_by_a_code_of_their_own_and_are_counted() {
    let stage = Stage::new();
    let mut told = playing_at(&stage, TALL, with_guest("Ben"));
    tap(&stage, &told, "More");
    tap(&stage, &told, "Let others watch");
    let show = show_guest_code(&mut told);
    assert_eq!((show.room_id.as_str(), show.watch, show.renew), ("room", true, false));
    let watchers = |watchers| {
        event::Body::Guest(control::Guest { room_id: "room".into(), watchers, ..Default::default() })
    };
    told.say(watchers(0));
    stage.settle(&told.scene);
    assert!(says(&told, "Scan to watch") && says(&told, "Nobody is watching yet."));
    told.say(watchers(1));
    stage.settle(&told.scene);
    assert!(says(&told, "1 person is watching."));
    told.say(watchers(32));
    told.say(event::Body::Guest(guest("Ben", true)));
    stage.settle(&told.scene);
    assert!(says(&told, "32 people are watching."), "a player who comes does not close it");
    tap(&stage, &told, "Stop showing the game");
    let close = control::CloseGuestCode { room_id: "room".into(), watch: true, ..Default::default() };
    assert_eq!(only(&mut told), request::Body::CloseGuestCode(close));
}
