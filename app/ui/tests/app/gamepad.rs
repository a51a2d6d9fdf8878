//! The pages of guests and club evenings by the buttons of a gamepad alone. The test plays the host.

use i_slint_backend_testing::ElementHandle;
use proto::board::Side;
use proto::control::{
    ClubRequest, ClubResult, ClubVerdict, RadioState, club_request::Deed, event, reply, request, seat,
};
use qiyou::headless::Stage;
use qiyou::press;
use qiyou::screens::{Dialog, Page};
use senses::Press;

use crate::support::club::{running, show};
use crate::support::{SIZES, Told, body, guest, here, radio, show_guest_code, with_guest};
use crate::touches::{dialog, names, page, says, started};

/// More presses than any of these pages has controls.
const PATIENCE: usize = 40;

fn push(stage: &Stage, told: &Told, button: Press) {
    press(told.app.window(), button);
    stage.settle(&told.scene);
}

/// Whether the ring of the focus is around what a screen reader calls by this name.
fn has_focus(told: &Told, name: &str) -> bool {
    let window = told.app.window();
    let Some(ring) = ElementHandle::find_by_element_type_name(window, "FocusRing").next() else {
        return false;
    };
    let is_near = |one: &ElementHandle| {
        let (at, around) = (one.absolute_position(), ring.absolute_position());
        (at.x - around.x).abs() <= 1.0 && (at.y - around.y).abs() <= 1.0
    };
    ElementHandle::find_by_accessible_label(window, name)
        .any(|one| one.accessible_role().is_some() && is_near(&one))
}

/// Goes down to the control of this name.
fn reach(stage: &Stage, told: &Told, name: &str) {
    for _ in 0..PATIENCE {
        if has_focus(told, name) {
            return;
        }
        push(stage, told, Press::Down);
    }
    panic!("{name} is not reached among {:?}", names(told));
}

fn choose(stage: &Stage, told: &Told, name: &str) {
    reach(stage, told, name);
    push(stage, told, Press::Confirm);
}

/// What has been asked about club evenings since the last call.
fn deeds(stage: &Stage, told: &mut Told) -> Vec<Deed> {
    let all = told.answer(stage);
    let club = all.iter().filter_map(|one| match body(one) {
        request::Body::Club(ClubRequest { deed, .. }) => deed.clone(),
        _ => None,
    });
    club.collect()
}

#[test]
fn a_gamepad_invites_somebody_without_qiyou_and_leads_back() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.say(radio(RadioState::RadioReady));
    told.app.go(Page::Nearby);
    stage.settle(&told.scene);
    told.asked();
    choose(&stage, &told, "Someone without Qiyou");
    let asked = told.asked();
    let opened = asked.iter().find_map(|one| match body(one) {
        request::Body::OpenRoom(open) => Some((one.id, open.clone())),
        _ => None,
    });
    let (id, open) = opened.unwrap_or_else(|| panic!("no match is opened: {asked:?}"));
    let seats = [open.first, open.second].map(|seat| seat.expect("a seat").who);
    assert_eq!(seats, [here().who, Some(seat::Who::Guest(true))]);
    told.say(event::Body::Room(with_guest("")));
    told.reply(id, reply::Body::RoomId("room".into()));
    stage.settle(&told.scene);
    show_guest_code(&mut told);
    told.say(event::Body::Guest(guest("", false)));
    stage.settle(&told.scene);
    assert_eq!((page(&told), dialog(&told)), (Page::Board, Dialog::GuestCode));

    choose(&stage, &told, "New code");
    let renewed = show_guest_code(&mut told);
    assert_eq!((renewed.side(), renewed.renew), (Side::Second, true));
    stage.settle(&told.scene);
    push(&stage, &told, Press::Back);
    assert_eq!((page(&told), dialog(&told)), (Page::Board, Dialog::None), "the code is put away");
    push(&stage, &told, Press::Back);
    assert_ne!(
        (page(&told), dialog(&told)),
        (Page::Board, Dialog::None),
        "the board is left, or asked about"
    );
}

#[test]
fn a_gamepad_enters_a_result_turns_the_rounds_and_leads_back_from_a_club_evening() {
    let stage = Stage::new();
    // As a handheld is held.
    let mut told = Told::new(&stage, SIZES[2]);
    told.prefer(false, false, 0);
    told.answer(&stage);
    show(&stage, &told, running());
    told.answer(&stage);
    stage.settle(&told.scene);

    choose(&stage, &told, "Result: Carla – Ben");
    assert_eq!(dialog(&told), Dialog::ClubResult);
    push(&stage, &told, Press::Back);
    assert_eq!((page(&told), dialog(&told)), (Page::Club, Dialog::None));
    assert!(!has_focus(&told, "Result: Carla – Ben"), "no ring without a focus");
    assert!(deeds(&stage, &mut told).is_empty(), "nothing is entered");
    choose(&stage, &told, "Result: Carla – Ben");
    choose(&stage, &told, "A draw");
    assert_eq!(dialog(&told), Dialog::None);
    let verdict = ClubVerdict { round: 2, board: 1, result: ClubResult::ClubDraw.into() };
    assert_eq!(deeds(&stage, &mut told), [Deed::Result(verdict)]);

    choose(&stage, &told, "Round after");
    assert!(says(&told, "Round 3 of 5"), "{:?}", names(&told));
    choose(&stage, &told, "Somebody leaves");
    choose(&stage, &told, "Carla");
    assert_eq!(dialog(&told), Dialog::ClubLeaver);
    choose(&stage, &told, "Cancel");
    choose(&stage, &told, "Finish the evening");
    assert_eq!(dialog(&told), Dialog::ClubFinish);
    push(&stage, &told, Press::Back);
    assert_eq!((page(&told), dialog(&told)), (Page::Club, Dialog::None));
    assert!(deeds(&stage, &mut told).is_empty(), "nobody leaves, and the evening goes on");

    push(&stage, &told, Press::Menu);
    assert_eq!(page(&told), Page::Settings);
    push(&stage, &told, Press::Back);
    assert_eq!(page(&told), Page::Club);
    push(&stage, &told, Press::Back);
    assert_eq!(page(&told), Page::Home);
}
