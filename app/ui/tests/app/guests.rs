//! Somebody with a browser: the code in the app, and who comes by it.

use proto::board::Side;
use proto::control::{self, Request, event, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::{Dialog, GuestAdapter, Page, Remark};
use slint::ComponentHandle;

use crate::support::guests::with_two_guests;
use crate::support::hotspot::hotspot;
use crate::support::{Told, body, guest, here, radio, show_guest_code, show_guest_code_of, with_guest};
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
    let close =
        control::CloseGuestCode { room_id: "room".into(), side: Side::Second.into(), ..Default::default() };
    assert_eq!(only(&mut told), request::Body::CloseGuestCode(close));
    assert_eq!(dialog(&told), Dialog::None);
}

/// A match in which Ben plays with a browser.
fn with_ben(stage: &Stage) -> Told {
    let mut told = playing_at(stage, TALL, with_guest("Ben"));
    told.say(event::Body::Guest(guest("Ben", true)));
    stage.settle(&told.scene);
    told.asked();
    told
}

fn closes(asked: &[Request]) -> bool {
    asked.iter().any(|one| matches!(body(one), request::Body::CloseRoom(_)))
}

#[test]
fn a_guests_match_goes_on_when_its_board_is_left_and_one_touch_on_the_first_page_leads_back() {
    let stage = Stage::new();
    let mut told = with_ben(&stage);
    tap(&stage, &told, "Back");
    assert_eq!((page(&told), dialog(&told)), (Page::Home, Dialog::None));
    assert!(!closes(&told.answer(&stage)), "the guest plays on");
    // Ben moves, and somebody else has scanned his code.
    let mut moved = with_guest("Ben");
    moved.moves += 1;
    moved.board.as_mut().expect("a board").turn = Side::First.into();
    told.say(event::Body::Room(moved));
    stage.settle(&told.scene);
    assert!(says(&told, "Move 18 · your turn"));
    told.say(event::Body::Guest(control::Guest { asks: true, ..guest("Ben", true) }));
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::GuestAsks, "on every page");
    tap(&stage, &told, "No");
    told.say(event::Body::Guest(guest("Ben", true)));
    stage.settle(&told.scene);
    told.asked();
    tap(&stage, &told, "Continue: Gomoku · Ben");
    assert_eq!((page(&told), dialog(&told)), (Page::Board, Dialog::None));
    let asked = told.answer(&stage);
    let others =
        |one: &Request| matches!(body(one), request::Body::ResumeRoom(_) | request::Body::ShowGuestCode(_));
    assert!(!asked.iter().any(others), "the room is open, and Ben is here: {asked:?}");
}

#[test]
fn a_guests_match_that_ended_unseen_is_found_on_the_first_page_and_leaving_it_closes_it() {
    let stage = Stage::new();
    let mut told = with_ben(&stage);
    tap(&stage, &told, "Back");
    let result = Some(proto::board::Result::default());
    told.say(event::Body::Room(control::Room { result, ..with_guest("Ben") }));
    stage.settle(&told.scene);
    assert!(says(&told, "Finished · its code is still open"));
    tap(&stage, &told, "Continue: Gomoku · Ben");
    assert_eq!(page(&told), Page::Board);
    assert!(!closes(&told.answer(&stage)));
    tap(&stage, &told, "Back");
    assert_eq!(page(&told), Page::Home);
    assert!(closes(&told.answer(&stage)));
}

#[test]
fn a_guests_match_is_ended_only_by_the_one_who_says_so() {
    let stage = Stage::new();
    let mut told = with_ben(&stage);
    tap(&stage, &told, "More");
    tap(&stage, &told, "Leave and close the code");
    assert_eq!(dialog(&told), Dialog::ConfirmLeave);
    assert!(told.asked().is_empty());
    tap(&stage, &told, "Stay");
    assert_eq!((page(&told), dialog(&told)), (Page::Board, Dialog::None));
    told.app.ask(Dialog::ConfirmLeave);
    stage.settle(&told.scene);
    tap(&stage, &told, "Close the code and leave");
    assert_eq!(page(&told), Page::Home);
    assert!(closes(&told.answer(&stage)));
}

#[test]
fn where_nobody_has_come_by_the_code_back_asks_whether_it_stays_open() {
    let stage = Stage::new();
    let mut untouched = with_guest("");
    untouched.board.as_mut().expect("a board").ply = 0;
    let mut told = playing_at(&stage, TALL, untouched);
    told.say(event::Body::Guest(guest("", false)));
    stage.settle(&told.scene);
    told.asked();
    tap(&stage, &told, "Back");
    assert_eq!((page(&told), dialog(&told)), (Page::Board, Dialog::ConfirmLeave));
    tap(&stage, &told, "Leave it open for now");
    assert_eq!((page(&told), dialog(&told)), (Page::Home, Dialog::None));
    assert!(!closes(&told.answer(&stage)));
    tap(&stage, &told, "Continue: Gomoku · Unnamed player");
    show_guest_code(&mut told);
    stage.settle(&told.scene);
    assert_eq!((page(&told), dialog(&told)), (Page::Board, Dialog::GuestCode));
    tap(&stage, &told, "Close");
    tap(&stage, &told, "Back");
    tap(&stage, &told, "Close the code and leave");
    assert!(closes(&told.answer(&stage)));
}

#[test]
fn a_match_with_a_guest_that_is_continued_another_day_shows_its_code_at_once() {
    let stage = Stage::new();
    let mut told = Told::new(&stage, TALL);
    told.prefer(false, false, 0);
    stage.settle(&told.scene);
    let mut room = with_guest("Ben");
    room.second.as_mut().expect("a seat").away = true;
    // The first page is told of it when it is opened.
    told.app.go(Page::Settings);
    told.app.go(Page::Home);
    let asked = told.answer(&stage);
    let list = asked.iter().rfind(|one| matches!(body(one), request::Body::ListMatches(_)));
    let kept = control::MatchSummary {
        room_id: room.id.clone(),
        setup: room.setup.clone(),
        first: room.first.clone(),
        second: room.second.clone(),
        moves: room.moves,
        ply: 17,
        board: room.board.clone(),
        ..Default::default()
    };
    let matches = control::Matches { matches: vec![kept], total: 1 };
    told.reply(list.expect("the list").id, reply::Body::Matches(matches));
    stage.settle(&told.scene);
    tap(&stage, &told, "Continue: Gomoku · Ben");
    let asked = told.answer(&stage);
    let resume = asked.iter().find(|one| matches!(body(one), request::Body::ResumeRoom(_)));
    told.reply(resume.expect("it is continued").id, reply::Body::RoomId("room".into()));
    told.say(event::Body::Room(room));
    stage.settle(&told.scene);
    let shown = show_guest_code(&mut told);
    assert_eq!((shown.room_id.as_str(), shown.watch, shown.renew), ("room", false, false));
    stage.settle(&told.scene);
    assert_eq!((page(&told), dialog(&told)), (Page::Board, Dialog::GuestCode));
    assert!(says(&told, "This code is for Ben, who has not come yet."));
    told.scene.key(slint::platform::Key::Escape);
    stage.settle(&told.scene);
    assert_eq!((page(&told), dialog(&told)), (Page::Board, Dialog::None));
}

#[test]
fn a_code_that_another_program_closes_is_not_opened_again_unasked() {
    let stage = Stage::new();
    let mut told = playing(&stage, with_guest(""));
    told.say(event::Body::Hotspot(hotspot()));
    told.app.window().global::<GuestAdapter<'_>>().invoke_show(false);
    show_guest_code(&mut told);
    told.say(event::Body::Guest(guest("", false)));
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::GuestCode);
    told.asked();
    told.say(event::Body::GuestGone(control::GuestGone {
        room_id: "room".into(),
        side: Side::Second.into(),
        ..Default::default()
    }));
    told.say(event::Body::Hotspot(control::Hotspot::default()));
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::None);
    assert!(told.asked().is_empty());
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

/// What the host says when guests agree on a rematch: the codes of these sides move to the new match.
fn rematch(told: &Told, sides: &[Side]) {
    for &side in sides {
        told.say(event::Body::GuestGone(control::GuestGone {
            room_id: "room".into(),
            side: side.into(),
            ..Default::default()
        }));
        let moved = control::Guest { room_id: "next".into(), side: side.into(), ..Default::default() };
        told.say(event::Body::Guest(moved));
    }
    told.say(event::Body::RoomGone(control::Gone { id: "room".into() }));
    told.say(event::Body::Room(control::Room {
        id: "next".into(),
        follows: "room".into(),
        ..with_two_guests("Guo", "Ben")
    }));
}

#[test]
fn the_code_for_watching_stays_on_the_screen_when_two_guests_begin_a_rematch() {
    let stage = Stage::new();
    let mut told = playing_at(&stage, TALL, with_two_guests("Guo", "Ben"));
    told.app.window().global::<GuestAdapter<'_>>().invoke_show(true);
    show_guest_code(&mut told);
    told.say(event::Body::Guest(control::Guest { room_id: "room".into(), ..Default::default() }));
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::GuestCode);
    rematch(&told, &[Side::Unspecified, Side::First, Side::Second]);
    stage.settle(&told.scene);
    let show = show_guest_code(&mut told);
    assert_eq!((show.room_id.as_str(), show.watch, show.renew), ("next", true, false));
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::GuestCode);
    assert!(says(&told, "Scan to watch"));
}

/// Whether no code is on the screen or asked for.
fn shows_no_code(told: &mut Told) -> bool {
    let asked = told.asked();
    let asks = asked.iter().any(|one| matches!(body(one), request::Body::ShowGuestCode(_)));
    !asks && dialog(told) == Dialog::None
}

#[test]
fn a_rematch_shows_no_code_whose_dialog_was_closed() {
    let stage = Stage::new();
    let mut told = playing_at(&stage, TALL, with_two_guests("Guo", "Ben"));
    told.app.window().global::<GuestAdapter<'_>>().invoke_show(true);
    show_guest_code(&mut told);
    stage.settle(&told.scene);
    told.scene.key(slint::platform::Key::Escape);
    stage.settle(&told.scene);
    rematch(&told, &[Side::Unspecified]);
    stage.settle(&told.scene);
    assert!(shows_no_code(&mut told));
}

#[test]
fn a_rematch_shows_no_code_that_it_has_not_taken_along() {
    let stage = Stage::new();
    let mut told = playing_at(&stage, TALL, with_two_guests("Guo", "Ben"));
    told.app.window().global::<GuestAdapter<'_>>().invoke_show(true);
    show_guest_code(&mut told);
    stage.settle(&told.scene);
    // Another program ends it.
    told.say(event::Body::GuestGone(control::GuestGone { room_id: "room".into(), ..Default::default() }));
    rematch(&told, &[]);
    stage.settle(&told.scene);
    assert!(shows_no_code(&mut told));
}
