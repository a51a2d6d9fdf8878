//! Friends, codes, accounts, invitations with their terms, and shared analysis after the end.

use std::time::Duration;

use i_slint_backend_testing::{AccessibleRole, ElementHandle};
use proto::board::Side;
use proto::control::{self, event, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::{AddressAdapter, BoardAdapter, Dialog, FriendsAdapter, Navigation, Page, Remark};
use slint::platform::WindowEvent;
use slint::{ComponentHandle, Model};

use crate::support::people::{
    account, befriended, code, friend, invitation, looked_through, race, tell_own_address,
};
use crate::support::{Told, body, bot, here, place, room};
use crate::touches::{dialog, page, remark, says, started, tap, turn_terms};

/// The requests since the last call, except those about rules, which are answered.
fn asked(stage: &Stage, told: &mut Told) -> Vec<request::Body> {
    told.answer(stage).iter().map(|one| body(one).clone()).collect()
}

fn among_friends(stage: &Stage) -> Told {
    let mut told = started(stage);
    befriended(&told);
    told.app.go(Page::Friends);
    stage.settle(&told.scene);
    told.asked();
    told
}

#[test]
fn friends_who_are_here_come_first_and_each_says_where() {
    let stage = Stage::new();
    let told = among_friends(&stage);
    let names: Vec<String> = told
        .app
        .window()
        .global::<FriendsAdapter<'_>>()
        .get_friends()
        .iter()
        .map(|friend| friend.id.to_string())
        .collect();
    assert_eq!(names, ["c", "a", "b", "e", "d"]);
    for said in [
        "Librem 5, connected · Bluetooth, 棋社认识的",
        "客厅的平板, nearby · Local network",
        "Anna, online · playing",
        "Pocket, not here",
        "ben@example.org, wants to see when you're online",
    ] {
        assert!(says(&told, said), "{said}");
    }
}

#[test]
fn a_friends_page_says_where_the_two_first_met() {
    let stage = Stage::new();
    let told = among_friends(&stage);
    for (met_by, said) in [
        (control::Carrier::Bluetooth, "not here · met 40 days ago, first via Bluetooth"),
        (control::Carrier::Lan, "not here · met 40 days ago, first via Local network"),
        (control::Carrier::Online, "not here · met 40 days ago, first via Internet"),
        (control::Carrier::Unspecified, "not here · met 40 days ago"),
    ] {
        let pocket = control::Friend { met_by: met_by.into(), ..friend("d", "Pocket") };
        told.say(event::Body::Friend(pocket));
        stage.settle(&told.scene);
        tap(&stage, &told, "Pocket, not here");
        assert!(says(&told, said), "{said}");
        told.app.ask(Dialog::None);
        stage.settle(&told.scene);
    }
}

#[test]
fn a_friend_is_noted_muted_parted_from_and_refused() {
    let stage = Stage::new();
    let mut told = among_friends(&stage);
    tap(&stage, &told, "Pocket, not here");
    assert_eq!(dialog(&told), Dialog::Friend);
    tap(&stage, &told, "Mute Pocket");
    let mute = control::SetMuted { peer: "d".into(), muted: false };
    assert_eq!(asked(&stage, &mut told), [request::Body::SetMuted(mute)]);
    told.app.window().global::<FriendsAdapter<'_>>().invoke_set_note(" plays fast ".into());
    let note = control::SetNote { peer: "d".into(), note: "plays fast".into() };
    assert_eq!(asked(&stage, &mut told), [request::Body::SetNote(note)]);
    told.app.ask(Dialog::ConfirmUnfriend);
    stage.settle(&told.scene);
    tap(&stage, &told, "Remove friend");
    assert_eq!(dialog(&told), Dialog::None);
    assert_eq!(asked(&stage, &mut told), [request::Body::Forget(control::Forget { peer: "d".into() })]);
    told.app.ask(Dialog::ConfirmBlock);
    stage.settle(&told.scene);
    tap(&stage, &told, "Block");
    assert_eq!(asked(&stage, &mut told), [request::Body::Block(control::Block { peer: "d".into() })]);
    told.app.window().global::<FriendsAdapter<'_>>().invoke_unblock("z".into());
    assert_eq!(asked(&stage, &mut told), [request::Body::Unblock(control::Unblock { peer: "z".into() })]);
}

#[test]
fn a_friend_with_a_new_key_is_said_to_be_the_earlier_one_after_a_question() {
    let stage = Stage::new();
    let mut told = among_friends(&stage);
    tap(&stage, &told, "Librem 5, connected · Bluetooth, 棋社认识的");
    tap(&stage, &told, "The same person as the earlier Librem 5…");
    assert_eq!(dialog(&told), Dialog::SamePerson);
    assert_eq!(asked(&stage, &mut told), []);
    tap(&stage, &told, "Yes, the same person");
    let same = control::SamePerson { old: "e".into(), new: "a".into() };
    assert_eq!(asked(&stage, &mut told), [request::Body::SamePerson(same)]);
}

#[test]
fn this_devices_code_is_shown_and_anothers_is_read_before_it_is_sent() {
    let stage = Stage::new();
    let mut told = among_friends(&stage);
    told.app.window().global::<FriendsAdapter<'_>>().invoke_show_code();
    let ask = told.asked();
    assert!(matches!(body(&ask[0]), request::Body::ShowFriendCode(_)));
    let mine = code("Steam Deck", 7);
    told.reply(ask[0].id, reply::Body::FriendCode(mine.clone()));
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::MyCode);
    let shown = told.app.window().global::<FriendsAdapter<'_>>().get_code().size();
    assert_eq!(shown.width, (mine.side + 8) * 8);
    tap(&stage, &told, "Close");

    let adapter = || told.app.window().global::<FriendsAdapter<'_>>();
    adapter().invoke_begin_adding();
    for (typed, trouble) in
        [("hello", 1), ("qiyou:friend/2/00", 2), ("qiyou:friend/1/00", 3), (&mine.text, 4)]
    {
        adapter().invoke_try_code(typed.into());
        assert_eq!((adapter().get_code_good(), adapter().get_code_trouble()), (false, trouble), "{typed}");
    }
    let theirs = code("Anna", 9).text;
    adapter().invoke_try_code(format!("  {theirs}\n").into());
    stage.settle(&told.scene);
    assert!(says(&told, "This is Anna's friend code."));
    tap(&stage, &told, "Add friend");
    let ask = told.asked();
    assert_eq!(body(&ask[0]), &request::Body::AddFriend(control::AddFriend { code: theirs }));
    told.reply(ask[0].id, reply::Body::Done(control::Done {}));
    stage.pass(Duration::ZERO);
    assert_eq!((dialog(&told), remark(&told)), (Dialog::None, Remark::FriendAdded));
}

#[test]
fn the_account_is_seen_only_where_the_host_can_play_online() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.app.go(Page::Friends);
    stage.settle(&told.scene);
    assert!(!says(&told, "Sign in"));
    told.say(account(control::AccountState::AccountSignedOut));
    stage.settle(&told.scene);
    told.asked();
    tap(&stage, &told, "Sign in");
    assert_eq!(dialog(&told), Dialog::Account);
    let adapter = told.app.window().global::<FriendsAdapter<'_>>();
    adapter.invoke_sign_in("anna@example.org".into(), "".into(), false, "".into());
    adapter.invoke_sign_in(" anna@example.org ".into(), "secret".into(), true, "".into());
    let sign_in = control::SignIn {
        account: "anna@example.org".into(),
        password: "secret".into(),
        make_it: true,
        server: String::new(),
    };
    assert_eq!(asked(&stage, &mut told), [request::Body::SignIn(sign_in)]);
    told.say(account(control::AccountState::AccountElsewhere));
    stage.settle(&told.scene);
    tap(&stage, &told, "Sign in here");
    assert_eq!(asked(&stage, &mut told), [request::Body::TakeOver(control::TakeOver {})]);
    told.say(account(control::AccountState::AccountOnline));
    stage.settle(&told.scene);
    tap(&stage, &told, "Sign out");
    assert_eq!(asked(&stage, &mut told), [request::Body::SignOut(control::SignOut { forget: false })]);
}

#[test]
fn who_asks_to_be_a_contact_is_answered() {
    let stage = Stage::new();
    let mut told = among_friends(&stage);
    let adapter = told.app.window().global::<FriendsAdapter<'_>>();
    adapter.invoke_open_contact("ben@example.org".into());
    stage.settle(&told.scene);
    tap(&stage, &told, "Accept");
    let yes = control::AnswerContact {
        account: "ben@example.org".into(),
        answer: control::ContactAnswer::ContactAccept.into(),
    };
    assert_eq!(asked(&stage, &mut told), [request::Body::AnswerContact(yes)]);
}

#[test]
fn an_invitation_says_who_which_side_clock_and_handicap_and_a_no_says_why() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.say(event::Body::Invitation(invitation("")));
    told.answer(&stage);
    stage.settle(&told.scene);
    for said in ["Librem 5 invites you", "3 min + 2 s per move", "You play White", "Handicap: 2"] {
        assert!(says(&told, said), "{said}");
    }
    tap(&stage, &told, "Rules");
    assert_eq!(dialog(&told), Dialog::Rules);
    tap(&stage, &told, "Close");
    assert_eq!(dialog(&told), Dialog::Invitation, "the question waits for its answer");
    tap(&stage, &told, "Decline…");
    assert_eq!(dialog(&told), Dialog::Decline);
    tap(&stage, &told, "Maybe later");
    let no = control::AnswerInvite {
        invite_id: "invite".into(),
        accept: false,
        reason: proto::peer::DeclineReason::DeclineLater.into(),
    };
    assert_eq!(asked(&stage, &mut told), [request::Body::AnswerInvite(no)]);
}

#[test]
fn an_invitation_is_answered_with_other_terms() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.say(event::Body::Invitation(invitation("")));
    told.answer(&stage);
    stage.settle(&told.scene);
    tap(&stage, &told, "Suggest changes…");
    told.answer(&stage);
    stage.settle(&told.scene);
    assert_eq!((page(&told), dialog(&told)), (Page::NewGame, Dialog::None));
    let new_game = told.app.window().global::<qiyou::screens::NewGameAdapter<'_>>();
    let size = new_game.get_options().iter().position(|option| option.name == "Board").expect("a size");
    new_game.invoke_choose_value(size as i32, 1);
    told.answer(&stage);
    stage.settle(&told.scene);
    tap(&stage, &told, "Suggest this to Librem 5");
    let asked = asked(&stage, &mut told);
    let Some(request::Body::Invite(counter)) = asked.last() else { panic!("{asked:?}") };
    assert_eq!((counter.peer.as_str(), counter.counters.as_str()), ("a", "invite"));
    assert_eq!(counter.pace, invitation("").pace, "their clock, unless another is chosen");
    let options = &counter.choice.as_ref().expect("a choice").options;
    let asks = |option: &str, value: &str| {
        options.iter().any(|one| (one.option.as_str(), one.value.as_str()) == (option, value))
    };
    assert!(asks("handicap", "2"), "as they have it: {options:?}");
    assert!(asks("size", "13") && !asks("size", "9"), "what is suggested: {options:?}");
    assert_eq!(dialog(&told), Dialog::Waiting);
    told.say(event::Body::InvitationGone(control::InvitationGone {
        invite_id: "invite".into(),
        end: control::InvitationEnd::InvitationCountered.into(),
        ..Default::default()
    }));
    stage.settle(&told.scene);
    assert_eq!((dialog(&told), remark(&told)), (Dialog::Waiting, Remark::None), "our own answer is no news");
}

#[test]
fn why_they_would_not_is_said_with_their_name() {
    let stage = Stage::new();
    let told = started(&stage);
    for (reason, said) in [
        (proto::peer::DeclineReason::DeclineOtherGame, Remark::InvitationOtherGame),
        (proto::peer::DeclineReason::DeclineLater, Remark::InvitationLater),
        (proto::peer::DeclineReason::DeclineNotNow, Remark::InvitationDeclined),
    ] {
        told.say(event::Body::Invitation(control::Invitation { mine: true, ..invitation("") }));
        told.say(event::Body::InvitationGone(control::InvitationGone {
            invite_id: "invite".into(),
            end: control::InvitationEnd::InvitationDeclined.into(),
            reason: reason.into(),
            ..Default::default()
        }));
        stage.settle(&told.scene);
        assert_eq!(remark(&told), said);
        let name = told.app.window().global::<Navigation<'_>>().get_remark_name();
        assert_eq!(name, "Librem 5");
    }
}

#[test]
fn what_is_said_about_another_device_names_its_person_where_a_name_is_known() {
    let stage = Stage::new();
    let told = started(&stage);
    let notice = |kind: control::NoticeKind, name: &str| {
        let notice = control::Notice { kind: kind.into(), name: name.into(), ..Default::default() };
        told.say(event::Body::Notice(notice));
        stage.settle(&told.scene);
    };
    notice(control::NoticeKind::NoticePeerLeft, "");
    assert_eq!(remark(&told), Remark::None, "nobody has left");
    for (kind, name, said) in [
        (control::NoticeKind::NoticePeerLeft, "Librem 5", "Librem 5 has left"),
        (
            control::NoticeKind::NoticeUpdateNeeded,
            "Librem 5",
            "The Qiyou of Librem 5 is too old for yours: ask them to update it",
        ),
        (
            control::NoticeKind::NoticeUpdateNeeded,
            "",
            "Their Qiyou is too old for yours: ask them to update it",
        ),
        (
            control::NoticeKind::NoticeUpdateHere,
            "Librem 5",
            "This Qiyou is too old to play with Librem 5: update it",
        ),
        (control::NoticeKind::NoticeUpdateHere, "", "This Qiyou is too old for theirs: update it"),
    ] {
        notice(kind, name);
        assert!(says(&told, said), "{said}");
    }
}

fn opened(stage: &Stage, room: control::Room) -> Told {
    let mut told = started(stage);
    told.say(event::Body::Room(room));
    stage.pass(Duration::ZERO);
    told.app.open_room("room");
    told.answer(stage);
    stage.settle(&told.scene);
    told
}

#[test]
fn after_the_end_both_look_back_try_moves_and_return() {
    use control::analyse::Step;
    let stage = Stage::new();
    let mut told = opened(&stage, looked_through());
    assert!(says(&told, "2 moves tried from move 12"));
    assert!(says(&told, "Librem 5 sees the same and can try moves too."));
    let step = |told: &mut Told| match &asked(&stage, told)[..] {
        [request::Body::Analyse(analyse)] => analyse.step.clone().expect("a step"),
        other => panic!("{other:?}"),
    };
    told.app.window().global::<BoardAdapter<'_>>().invoke_touch(14 * 15);
    assert_eq!(step(&mut told), Step::TryAction(place(0, 0)));
    tap(&stage, &told, "Previous move");
    assert_eq!(step(&mut told), Step::Back(true));
    tap(&stage, &told, "To the beginning");
    assert_eq!(step(&mut told), Step::ToPly(0));
    tap(&stage, &told, "Next move");
    assert_eq!(step(&mut told), Step::ToPly(13));
    tap(&stage, &told, "Back to the result");
    assert_eq!(step(&mut told), Step::Close(true));
    let mut end = looked_through();
    end.analysis = None;
    told.say(event::Body::Room(end));
    stage.settle(&told.scene);
    assert!(says(&told, "You won"));
    tap(&stage, &told, "Try moves");
    assert_eq!(step(&mut told), Step::ToPly(17));
    tap(&stage, &told, "Rematch with the same colours");
    let same = control::Offer { room_id: "room".into(), kind: control::OfferKind::OfferNewGameSame.into() };
    assert_eq!(asked(&stage, &mut told), [request::Body::Offer(same)]);
}

#[test]
fn a_race_shows_both_runs_and_counts_on() {
    let stage = Stage::new();
    let mut told = opened(&stage, race(false));
    for said in ["Me, Black, 0:34 · 8 presses", "Librem 5, White, 5 lights still on"] {
        assert!(says(&told, said), "{said}");
    }
    for _ in 0..4 {
        stage.pass(Duration::from_millis(500));
    }
    stage.settle(&told.scene);
    assert!(!says(&told, "Me, Black, 0:34 · 8 presses"), "the seconds go on");
    told.say(event::Body::Room(race(true)));
    stage.settle(&told.scene);
    assert!(says(&told, "Librem 5, White, done in 0:41 with 9 presses"));
    tap(&stage, &told, "A1 dark");
    assert!(matches!(&asked(&stage, &mut told)[..], [request::Body::Act(_)]));
}

#[test]
fn what_leaves_the_board_is_seen_to_leave_and_no_longer_than_its_position() {
    let stage = Stage::new();
    let told = opened(&stage, room(bot(3), here(), &[Side::Second]));
    let gone = || {
        let board = told.app.window().global::<BoardAdapter<'_>>();
        board.get_points().iter().filter(|point| point.gone != 0).count()
    };
    assert_eq!(gone(), 0);
    let mut taken = room(bot(3), here(), &[Side::Second]);
    let board = taken.board.as_mut().expect("a board");
    board.pieces.remove(0);
    board.ply += 1;
    told.say(event::Body::Room(taken.clone()));
    stage.settle(&told.scene);
    assert_eq!(gone(), 1);
    told.say(event::Body::Room(taken.clone()));
    stage.settle(&told.scene);
    assert_eq!(gone(), 1, "the same position keeps it");
    taken.board.as_mut().expect("a board").ply += 1;
    told.say(event::Body::Room(taken));
    stage.settle(&told.scene);
    assert_eq!(gone(), 0);
}

#[test]
fn the_host_is_told_whether_the_window_is_in_front() {
    let stage = Stage::new();
    let mut told = started(&stage);
    let window = told.app.window();
    window.window().dispatch_event(WindowEvent::WindowActiveChanged(true));
    stage.settle(&told.scene);
    told.asked();
    let fronts = |told: &mut Told| -> Vec<bool> {
        let front = |body: request::Body| match body {
            request::Body::Front(front) => Some(front.on),
            _ => None,
        };
        asked(&stage, told).into_iter().filter_map(front).collect()
    };
    told.app.window().window().dispatch_event(WindowEvent::WindowActiveChanged(false));
    assert_eq!(fronts(&mut told), [false]);
    told.app.window().window().dispatch_event(WindowEvent::WindowActiveChanged(true));
    assert_eq!(fronts(&mut told), [true]);
}

#[test]
fn a_match_is_timed_as_chosen() {
    let stage = Stage::new();
    let mut told = started(&stage);
    tap(&stage, &told, "Gomoku");
    told.answer(&stage);
    stage.settle(&told.scene);
    turn_terms(&stage, &told);
    tap(&stage, &told, "No clock");
    assert_eq!(dialog(&told), Dialog::Pace);
    tap(&stage, &told, "10 min + 5 s per move");
    stage.settle(&told.scene);
    tap(&stage, &told, "Start");
    let asked = asked(&stage, &mut told);
    let Some(request::Body::OpenRoom(open)) = asked.last() else { panic!("{asked:?}") };
    assert_eq!(open.pace.map(|pace| (pace.main_s, pace.step_s)), Some((600, 5)));
    assert_eq!(open.second.as_ref().and_then(|seat| seat.who.clone()), bot(3).who);
}

#[test]
fn damaged_saves_are_said_until_they_are_understood() {
    let stage = Stage::new();
    let told = started(&stage);
    told.say(event::Body::Notice(control::Notice {
        kind: control::NoticeKind::NoticeSavesSetAside.into(),
        detail: "/saves/matches.damaged".into(),
        ..Default::default()
    }));
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::Saves);
    assert!(says(&told, "/saves/matches.damaged"));
    for _ in 0..5 {
        stage.pass(Duration::from_secs(5));
    }
    assert_eq!(dialog(&told), Dialog::Saves, "it does not pass as a remark does");
    tap(&stage, &told, "Got it");
    assert_eq!(dialog(&told), Dialog::None);
}

#[test]
fn carriers_are_switched_and_their_trouble_is_said_beside_others() {
    let stage = Stage::new();
    let mut told = started(&stage);
    let radio = |carrier: control::Carrier, state: control::RadioState, unused: bool| {
        event::Body::Radio(control::Radio {
            carrier: carrier.into(),
            state: state.into(),
            unused,
            ..Default::default()
        })
    };
    told.say(radio(control::Carrier::Bluetooth, control::RadioState::RadioReady, true));
    told.say(radio(control::Carrier::Lan, control::RadioState::RadioReady, false));
    told.app.go(Page::Nearby);
    stage.settle(&told.scene);
    told.asked();
    tap(&stage, &told, "Use Bluetooth");
    let use_it = control::SetCarrier { carrier: control::Carrier::Bluetooth.into(), on: true };
    assert_eq!(asked(&stage, &mut told), [request::Body::SetCarrier(use_it)]);
    told.say(radio(control::Carrier::Bluetooth, control::RadioState::RadioOff, false));
    stage.settle(&told.scene);
    assert!(says(&told, "Looking around…") && says(&told, "Turn Bluetooth on"));
    told.app.go(Page::Settings);
    stage.settle(&told.scene);
    told.asked();
    let window = told.app.window().clone_strong();
    let page = window.global::<qiyou::screens::SettingsAdapter<'_>>();
    page.invoke_toggle_lan();
    page.invoke_toggle_found_when_closed();
    page.invoke_toggle_quiet_hours();
    let night = control::QuietHours { from_minute: 22 * 60, until_minute: 8 * 60 };
    let quiet = control::SetQuietHours { hours: Some(night) };
    let leave_it = control::SetCarrier { carrier: control::Carrier::Lan.into(), on: false };
    let found = control::SetFoundWhenClosed { on: true };
    assert_eq!(
        asked(&stage, &mut told),
        [
            request::Body::SetCarrier(leave_it),
            request::Body::SetFoundWhenClosed(found),
            request::Body::SetQuietHours(quiet)
        ]
    );
    told.say(event::Body::Me(control::Me { quiet_hours: Some(night), ..Default::default() }));
    stage.settle(&told.scene);
    assert!(says(&told, "From 22:00") && says(&told, "Until 8:00"));
    page.invoke_step_quiet_hours(0, -1);
    let longer = control::QuietHours { until_minute: 7 * 60, ..night };
    let quiet = control::SetQuietHours { hours: Some(longer) };
    assert_eq!(asked(&stage, &mut told), [request::Body::SetQuietHours(quiet)]);
    page.invoke_toggle_quiet_hours();
    let none = control::SetQuietHours { hours: None };
    assert_eq!(asked(&stage, &mut told), [request::Body::SetQuietHours(none)]);
}

#[test]
fn a_stranger_who_has_connected_is_shown_nearby_and_sent_away_by_a_touch() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.app.go(Page::Nearby);
    let stranger = |id: &str, name: &str, mine| {
        event::Body::Stranger(control::Stranger {
            id: id.into(),
            name: name.into(),
            mine,
            ..Default::default()
        })
    };
    told.say(stranger("a", "", false));
    told.say(stranger("b", "Mallory", false));
    told.say(stranger("c", "Carl", true));
    stage.settle(&told.scene);
    assert!(says(&told, "Someone is connecting to this device"));
    assert!(says(&told, "Mallory is connecting to this device"));
    assert!(!says(&told, "Carl is connecting to this device"), "this device has asked for it");
    told.asked();
    tap(&stage, &told, "Send Mallory away");
    let away = control::SendAway { peer: "b".into() };
    assert_eq!(asked(&stage, &mut told), [request::Body::SendAway(away)]);
    told.say(event::Body::StrangerGone(control::Gone { id: "b".into() }));
    stage.settle(&told.scene);
    assert!(!says(&told, "Mallory is connecting to this device"));
}

#[test]
fn a_friend_who_cannot_be_reached_has_the_reason_in_the_row() {
    let stage = Stage::new();
    let told = started(&stage);
    told.app.go(Page::Friends);
    for (unreached, said) in [
        (control::Unreached::NotHeard, "Librem 5, not here"),
        (control::Unreached::Left, "Librem 5, has left"),
        (control::Unreached::NoCarrier, "Librem 5, out of reach: Bluetooth and the network don't work here"),
        (control::Unreached::NotFound, "Librem 5, not here, and can't find this device"),
    ] {
        told.say(event::Body::Friend(control::Friend {
            id: "a".into(),
            name: "Librem 5".into(),
            unreached: unreached.into(),
            ..Default::default()
        }));
        stage.settle(&told.scene);
        assert!(says(&told, said), "{said}");
    }
}

#[test]
fn a_browser_guest_is_offered_only_where_the_host_has_guests() {
    let stage = Stage::new();
    let told = started(&stage);
    told.app.go(Page::Nearby);
    for has_guests in [true, false] {
        told.say(event::Body::Me(control::Me { has_guests, ..Default::default() }));
        stage.settle(&told.scene);
        assert_eq!(says(&told, "Someone without Qiyou"), has_guests);
    }
}

#[test]
fn being_found_while_the_app_is_closed_is_offered_only_where_the_host_outlives_the_app() {
    let stage = Stage::new();
    let told = started(&stage);
    told.app.go(Page::Settings);
    let offer = "Friends can find me when the app is closed";
    let needed = "For this, install the package qiyoud, run “systemctl --user enable --now qiyoud.service” in a \
        terminal, and open Qiyou again.";
    for (ends_with_app, visibility, offered, explained) in [
        (false, control::Visibility::Friends, true, false),
        (true, control::Visibility::Friends, false, true),
        (true, control::Visibility::Nobody, false, false),
    ] {
        let visibility = visibility.into();
        told.say(event::Body::Me(control::Me { ends_with_app, visibility, ..Default::default() }));
        stage.settle(&told.scene);
        let switches = ElementHandle::find_by_accessible_label(told.app.window(), offer)
            .filter(|element| element.accessible_role() == Some(AccessibleRole::Switch));
        assert_eq!(switches.count(), usize::from(offered));
        assert_eq!(says(&told, needed), explained);
    }
}

#[test]
fn what_people_near_would_like_to_play_is_said_and_ours_is_told() {
    let stage = Stage::new();
    let mut told = started(&stage);
    let near = |id: &str, busy: bool, wish: proto::board::Game| {
        event::Body::Nearby(control::Nearby {
            id: id.into(),
            name: id.into(),
            busy,
            wish: wish.into(),
            ..Default::default()
        })
    };
    told.say(near("Anna", false, proto::board::Game::Go));
    told.say(near("Ben", true, proto::board::Game::Go));
    told.say(near("Cleo", false, proto::board::Game::Unspecified));
    told.app.go(Page::Nearby);
    stage.settle(&told.scene);
    told.asked();
    for said in ["wants to play Go", "in a game", "open to a game"] {
        assert!(says(&told, said), "{said}");
    }
    // Who is connected with this device plays with somebody here, if at all.
    let event::Body::Nearby(ben) = near("Ben", true, proto::board::Game::Go) else { unreachable!() };
    told.say(event::Body::Nearby(control::Nearby { connected: true, ..ben }));
    stage.settle(&told.scene);
    assert!(!says(&told, "in a game"));
    // Opening the people page for another game changes the wish.
    told.app.prefer_opponent(qiyou::screens::Game::Xiangqi, qiyou::LastOpponent::Peer);
    told.app.new_game(qiyou::screens::Game::Xiangqi);
    told.answer(&stage);
    told.app.window().global::<qiyou::screens::NewGameAdapter<'_>>().invoke_start();
    let wish = control::SetWish { game: proto::board::Game::Xiangqi.into() };
    assert!(asked(&stage, &mut told).contains(&request::Body::SetWish(wish)));
}

#[test]
fn only_who_is_heard_by_radio_has_a_strength() {
    let stage = Stage::new();
    let told = started(&stage);
    told.app.go(Page::Nearby);
    let bars = |told: &Told| {
        i_slint_backend_testing::ElementQuery::from_root(told.app.window())
            .match_type_name("SignalBars")
            .find_all()
            .len()
    };
    for (carrier, expected) in [(control::Carrier::Lan, 0), (control::Carrier::Bluetooth, 1)] {
        let near = control::Nearby {
            id: "Anna".into(),
            name: "Anna".into(),
            carrier: carrier.into(),
            carriers: vec![carrier.into()],
            ..Default::default()
        };
        told.say(event::Body::Nearby(near));
        stage.settle(&told.scene);
        assert_eq!(bars(&told), expected, "{carrier:?}");
    }
}

#[test]
fn endings_are_worked_out_stopped_and_deleted_by_one_switch() {
    use control::EndingsState as State;
    let stage = Stage::new();
    let mut told = started(&stage);
    // So tall that nothing is scrolled out of view.
    told.scene.resize(720, 6_000, 2.0);
    told.app.go(Page::Settings);
    stage.settle(&told.scene);
    told.asked();
    for (state, on, said) in [
        (State::EndingsNone, true, "Takes a few minutes once"),
        (State::EndingsWorking, false, "7 moves done, 43% of the next"),
        (State::EndingsThere, false, "145 MB; turning it off deletes"),
        (State::EndingsFailed, true, "is there room on the disk?"),
    ] {
        let endings = control::Endings { state: state.into(), plies: 7, permille: 430, bytes: 145_300_000 };
        told.say(event::Body::Endings(endings));
        stage.settle(&told.scene);
        let seen = i_slint_backend_testing::ElementQuery::from_root(told.app.window())
            .match_type_name("SmallText")
            .find_all()
            .iter()
            .any(|text| text.accessible_label().is_some_and(|words| words.contains(said)));
        assert!(seen, "{said}");
        told.app.window().global::<qiyou::screens::SettingsAdapter<'_>>().invoke_toggle_endings();
        let wanted = request::Body::SetEndings(control::SetEndings { on });
        assert_eq!(asked(&stage, &mut told), [wanted], "{state:?}");
    }
}

#[test]
fn a_stranger_is_met_without_a_game_or_refused() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.say(event::Body::Nearby(control::Nearby {
        id: "p".into(),
        name: "Ben".into(),
        ..Default::default()
    }));
    told.app.go(Page::Nearby);
    stage.settle(&told.scene);
    told.answer(&stage);
    tap(&stage, &told, "About Ben");
    assert_eq!(dialog(&told), Dialog::Neighbour);
    tap(&stage, &told, "Become friends without a game");
    assert_eq!(asked(&stage, &mut told), [request::Body::Meet(control::Meet { peer: "p".into() })]);
    tap(&stage, &told, "About Ben");
    tap(&stage, &told, "Block");
    assert_eq!(asked(&stage, &mut told), [request::Body::Block(control::Block { peer: "p".into() })]);
}

#[test]
fn a_device_that_is_not_found_is_reached_by_the_address_that_its_person_reads_out() {
    use control::ConnectState::{ConnectDialing, ConnectFailed, ConnectUp};
    let stage = Stage::new();
    let mut told = started(&stage);
    told.app.go(Page::Nearby);
    stage.settle(&told.scene);
    assert!(!says(&told, "By address…"), "there is no local network");
    let lan = control::Radio {
        carrier: control::Carrier::Lan.into(),
        state: control::RadioState::RadioReady.into(),
        ..Default::default()
    };
    told.say(event::Body::Radio(lan));
    stage.settle(&told.scene);
    told.asked();
    tap(&stage, &told, "By address…");
    assert_eq!(dialog(&told), Dialog::Address);
    tell_own_address(&stage, &mut told);
    stage.settle(&told.scene);
    assert!(says(&told, "This device: 192.168.1.5:47415"));
    let connect = |told: &mut Told| {
        told.app.window().global::<AddressAdapter<'_>>().invoke_connect(" 192.168.1.20:47415 ".into());
        stage.settle(&told.scene);
        let asked = told.asked();
        let meet = control::MeetAddress { address: "192.168.1.20:47415".into() };
        assert_eq!(body(&asked[0]), &request::Body::MeetAddress(meet));
        asked[0].id
    };
    let progress = |told: &Told, state: control::ConnectState| {
        let connecting =
            control::Connecting { peer: "Lan:x".into(), state: state.into(), ..Default::default() };
        told.say(event::Body::Connecting(connecting));
        stage.settle(&told.scene);
    };
    let id = connect(&mut told);
    told.reply(id, reply::Body::Peer("Lan:x".into()));
    progress(&told, ConnectDialing);
    assert!(says(&told, "connecting…"));
    progress(&told, ConnectFailed);
    assert!(says(&told, "Couldn't connect. Is the address right, and is Qiyou open there?"));
    assert_eq!(dialog(&told), Dialog::Address, "another address can be typed");
    let id = connect(&mut told);
    assert!(!says(&told, "Couldn't connect. Is the address right, and is Qiyou open there?"));
    told.reply(id, reply::Body::Peer("Lan:x".into()));
    progress(&told, ConnectUp);
    assert_eq!((dialog(&told), page(&told)), (Dialog::None, Page::Friends));
}
