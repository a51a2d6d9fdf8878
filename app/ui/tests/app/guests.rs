//! Somebody with a browser: the code in the app, and who comes by it.

use proto::board::Side;
use proto::control::{self, event, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::{Dialog, GuestAdapter, Page};
use slint::ComponentHandle;

use crate::support::hotspot::hotspot;
use crate::support::{body, guest, here, show_guest_code, with_guest};
use crate::touches::{dialog, only, page, playing, says, started, tap};

#[test]
fn somebody_without_qiyou_is_given_a_code_and_the_match_begins_when_they_come() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.app.go(Page::Nearby);
    stage.settle(&told.scene);
    told.asked();
    told.app.window().global::<GuestAdapter<'_>>().invoke_open();
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
