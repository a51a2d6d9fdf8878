//! What touches and keys ask of the host, and what its answers show. The test plays the host. Touches on the points of a board are in
//! `board`.

use std::time::Duration;

use i_slint_backend_testing::{AccessibleRole, ElementHandle};
use proto::board::{Side, action};
use proto::control::{self, event, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::{
    BoardAdapter, Dialog, Game, LessonAdapter, Navigation, NewGameAdapter, Page, Remark, Words,
};
use slint::platform::Key;
use slint::{ComponentHandle, Model};

use crate::support::{SIZES, Told, body, bot, games, gomoku, here, link, peer, place, room};

/// What a screen reader calls everything that can be used.
pub(crate) fn names(told: &Told) -> Vec<String> {
    let all = i_slint_backend_testing::ElementQuery::from_root(told.app.window()).find_all();
    let named = all.iter().filter(|element| element.accessible_role().is_some());
    named
        .filter_map(i_slint_backend_testing::ElementHandle::accessible_label)
        .map(|label| label.to_string())
        .collect()
}

/// Taps the middle of what a screen reader calls by this name.
pub(crate) fn tap(stage: &Stage, told: &Told, name: &str) {
    let element = ElementHandle::find_by_accessible_label(told.app.window(), name)
        .find(|element| element.accessible_role().is_some())
        .unwrap_or_else(|| panic!("nothing is called {name}, but {:?}", names(told)));
    let (position, size) = (element.absolute_position(), element.size());
    told.scene.tap(position.x + size.width / 2.0, position.y + size.height / 2.0);
    stage.settle(&told.scene);
}

/// Unfolds or folds rules and clock on the page for a new match.
pub(crate) fn turn_terms(stage: &Stage, told: &Told) {
    tap(stage, told, &terms(told));
}

/// The row that says what is chosen of rules and clock.
fn terms(told: &Told) -> String {
    names(told).into_iter().find(|name| name.starts_with("Rules")).expect("the row of rules and clock")
}

pub(crate) fn says(told: &Told, words: &str) -> bool {
    ElementHandle::find_by_accessible_label(told.app.window(), words).next().is_some()
}

pub(crate) fn page(told: &Told) -> Page {
    told.app.window().global::<Navigation<'_>>().get_page()
}

pub(crate) fn dialog(told: &Told) -> Dialog {
    told.app.window().global::<Navigation<'_>>().get_dialog()
}

pub(crate) fn remark(told: &Told) -> Remark {
    told.app.window().global::<Navigation<'_>>().get_remark()
}

pub(crate) fn started(stage: &Stage) -> Told {
    started_at(stage, SIZES[0])
}

fn started_at(stage: &Stage, size: (u32, u32, f32)) -> Told {
    let mut told = Told::new(stage, size);
    told.prefer(false, false, 0);
    stage.settle(&told.scene);
    told.asked();
    told
}

pub(crate) fn playing(stage: &Stage, room: control::Room) -> Told {
    playing_at(stage, SIZES[0], room)
}

/// A match on a screen of this size.
pub(crate) fn playing_at(stage: &Stage, size: (u32, u32, f32), room: control::Room) -> Told {
    let mut told = started_at(stage, size);
    told.say(event::Body::Room(room));
    stage.pass(Duration::ZERO);
    told.app.open_room("room");
    told.answer(stage);
    stage.settle(&told.scene);
    told
}

/// The only request that was made, by its body.
pub(crate) fn only(told: &mut Told) -> request::Body {
    let asked = told.asked();
    let [one] = &asked[..] else { panic!("one request was expected: {asked:?}") };
    body(one).clone()
}

pub(crate) fn mine() -> control::Room {
    room(bot(3), here(), &[Side::Second])
}

#[test]
fn the_app_attaches_first_and_looks_around_once_it_knows_the_state() {
    let stage = Stage::new();
    let mut told = Told::new(&stage, SIZES[0]);
    let first = told.asked();
    assert!(matches!(body(&first[0]), request::Body::Attach(attach) if attach.version == 1), "{first:?}");
    let looks = |one: &control::Request| {
        matches!(body(one), request::Body::Scan(_) | request::Body::ListMatches(_) | request::Body::Attach(_))
    };
    assert!(!first[1..].iter().any(looks), "the state is not known yet: {first:?}");
    stage.settle(&told.scene);
    let then = told.asked();
    assert!(then.iter().any(|one| matches!(body(one), request::Body::Scan(scan) if scan.on)), "{then:?}");
    assert!(then.iter().any(|one| matches!(body(one), request::Body::ListMatches(_))), "{then:?}");
}

#[test]
fn a_new_match_is_opened_as_it_was_chosen_and_shown_when_the_host_tells_it() {
    let stage = Stage::new();
    let mut told = started(&stage);
    tap(&stage, &told, "Gomoku");
    assert_eq!(page(&told), Page::NewGame);
    let row = "Rules and clock: Freestyle, 15 × 15, no clock.";
    for touched in ["Stronger", "Stronger", "White", row, "Standard"] {
        told.answer(&stage);
        stage.settle(&told.scene);
        tap(&stage, &told, touched);
    }
    told.answer(&stage);
    // A five on the edge wins, below what is seen at once: no.
    told.app.window().global::<NewGameAdapter<'_>>().invoke_choose_value(2, 1);
    told.answer(&stage);
    tap(&stage, &told, "Start");
    let asked = told.asked();
    let open = asked.iter().find_map(|one| match body(one) {
        request::Body::OpenRoom(open) => Some((one.id, open.clone())),
        _ => None,
    });
    let (id, open) = open.expect("a match was asked for");
    let first = open.first.expect("a seat");
    assert_eq!((first.who, first.bot_tenths), (bot(3).who, 4), "two fifths of a level above 3");
    assert_eq!(open.second.expect("a seat").who, here().who);
    let options = [("edge-five", "no")]
        .map(|(option, value)| control::ChosenOption { option: option.into(), value: value.into() });
    let choice = control::GameChoice {
        game: proto::board::Game::Gomoku.into(),
        preset: "standard".into(),
        options: options.into(),
        ..Default::default()
    };
    assert_eq!((open.setup, open.choice), (None, Some(choice)));

    told.reply(id, reply::Body::RoomId("room".into()));
    stage.settle(&told.scene);
    assert_eq!(page(&told), Page::NewGame, "there is nothing to show yet");
    told.say(event::Body::Room(mine()));
    stage.settle(&told.scene);
    assert_eq!(page(&told), Page::Board);
}

#[test]
fn a_touched_point_is_put_before_the_host_and_a_refusal_is_said() {
    let stage = Stage::new();
    let mut told = playing(&stage, mine());
    tap(&stage, &told, "A1 empty");
    assert!(told.asked().is_empty(), "points smaller than a finger: the stone waits until it is meant");
    tap(&stage, &told, "B2 empty");
    assert!(told.asked().is_empty(), "another point instead");
    tap(&stage, &told, "A1 empty");
    tap(&stage, &told, "A1 empty");
    assert_eq!(
        only(&mut told),
        request::Body::Act(control::Act {
            room_id: "room".into(),
            action: Some(place(0, 0)),
            ..Default::default()
        })
    );
    // Rules are the host's: an occupied point is asked for too.
    tap(&stage, &told, "H8 Black");
    let asked = told.asked();
    assert!(matches!(body(&asked[0]), request::Body::Act(act) if act.action == Some(place(7, 7))));
    let refusal =
        control::Refusal { code: control::RefusalCode::RefusalOccupied.into(), ..Default::default() };
    told.reply(asked[0].id, reply::Body::Refusal(refusal));
    stage.pass(Duration::ZERO);
    assert_eq!(remark(&told), Remark::Occupied);
    stage.pass(Duration::from_secs(5));
    told.scene.draw();
    stage.pass(Duration::from_secs(5));
    assert_eq!(remark(&told), Remark::None, "a remark passes");
}

#[test]
fn what_a_friend_says_is_read_for_a_while_and_a_word_is_said_with_one_touch() {
    let stage = Stage::new();
    let mut room = mine();
    room.first = Some(crate::support::peer("Librem 5"));
    room.link = Some(crate::support::link(control::PeerLink::Up, 0));
    let mut told = playing(&stage, room);
    told.say(event::Body::Said(control::Said {
        room_id: "room".into(),
        phrase: proto::peer::Phrase::GoodMove.into(),
        ..Default::default()
    }));
    stage.settle(&told.scene);
    let says = |told: &Told| told.app.window().global::<BoardAdapter<'_>>().get_theirs().phrase;
    assert_eq!(says(&told), 3);
    stage.pass(Duration::from_secs(9));
    assert_eq!(says(&told), 0);
    told.app.ask(Dialog::Say);
    stage.settle(&told.scene);
    tap(&stage, &told, "Thank you!");
    assert!(matches!(only(&mut told), request::Body::Say(say) if say.phrase == 8 && say.text.is_empty()));
}

#[test]
fn tab_reaches_offer_hint_new_game_and_board_and_escape_leads_back() {
    let stage = Stage::new();
    let mut told = playing(&stage, mine());
    let mut asked = Vec::new();
    for _ in 0..12 {
        told.scene.key(Key::Tab);
        stage.settle(&told.scene);
        told.scene.key(Key::Return);
        stage.settle(&told.scene);
        if dialog(&told) != Dialog::None {
            asked.push(format!("{:?}", dialog(&told)));
            told.scene.key(Key::Escape);
            stage.settle(&told.scene);
            assert_eq!(dialog(&told), Dialog::None);
            assert_eq!(page(&told), Page::Board);
            // The dialog took the focus with it: go on from where it was.
            for _ in 0..asked.len() + 3 {
                told.scene.key(Key::Tab);
            }
        }
        if page(&told) != Page::Board {
            told.app.open_room("room");
            stage.settle(&told.scene);
            told.scene.key(Key::Tab);
        }
        asked.extend(told.asked().iter().map(|one| format!("{:?}", body(one))));
    }
    let all = asked.join("\n");
    for wanted in ["Offer(", "Hint(", "ConfirmNewGame", "Act("] {
        assert!(all.contains(wanted), "{wanted} was not reached:\n{all}");
    }
}

#[test]
fn resigning_asks_first_and_an_unfinished_game_is_not_dropped_unasked() {
    let stage = Stage::new();
    let mut told = playing(&stage, mine());
    tap(&stage, &told, "Resign");
    assert_eq!(dialog(&told), Dialog::ConfirmResign);
    assert_eq!(told.asked(), []);
    tap(&stage, &told, "Play on");
    assert_eq!(dialog(&told), Dialog::None);
    tap(&stage, &told, "New");
    assert_eq!(dialog(&told), Dialog::ConfirmNewGame);
    assert_eq!(told.asked(), []);
    told.scene.key(Key::Escape);
    stage.settle(&told.scene);
    told.app.ask(Dialog::ConfirmResign);
    stage.settle(&told.scene);
    // In the dialog the keyboard reaches only its own buttons: the first is the resignation.
    told.scene.key(Key::Tab);
    told.scene.key(Key::Return);
    stage.settle(&told.scene);
    assert_eq!(
        only(&mut told),
        request::Body::Resign(control::Resign { room_id: "room".into(), side: Side::Second.into() })
    );
}

#[test]
fn an_invitation_comes_to_any_page_and_its_acceptance_opens_the_board() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.app.go(Page::Settings);
    told.say(event::Body::Invitation(control::Invitation {
        invite_id: "i".into(),
        peer: "p".into(),
        name: "Librem 5".into(),
        setup: Some(gomoku(proto::board::GomokuRule::Freestyle)),
        my_side: Side::First.into(),
        ..Default::default()
    }));
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::Invitation);
    for any in [
        Page::Home,
        Page::Nearby,
        Page::Friends,
        Page::Records,
        Page::Puzzles,
        Page::Manual,
        Page::Club,
        Page::Settings,
    ] {
        told.app.go(any);
        stage.settle(&told.scene);
        assert_eq!((page(&told), dialog(&told)), (any, Dialog::Invitation));
    }
    told.scene.key(Key::Escape);
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::Invitation, "a person waits for an answer");
    told.asked();
    tap(&stage, &told, "Play");
    assert_eq!(
        only(&mut told),
        request::Body::AnswerInvite(control::AnswerInvite { invite_id: "i".into(), accept: true, reason: 0 })
    );
    told.say(event::Body::InvitationGone(control::InvitationGone {
        invite_id: "i".into(),
        end: control::InvitationEnd::InvitationAccepted.into(),
        room_id: "room".into(),
        ..Default::default()
    }));
    told.say(event::Body::Room(room(here(), peer("Librem 5"), &[Side::First])));
    stage.settle(&told.scene);
    assert_eq!((page(&told), dialog(&told)), (Page::Board, Dialog::None));
}

#[test]
fn two_people_compare_before_anything_else() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.say(event::Body::Invitation(control::Invitation {
        invite_id: "i".into(),
        peer: "p".into(),
        name: "Librem 5".into(),
        setup: Some(gomoku(proto::board::GomokuRule::Freestyle)),
        my_side: Side::First.into(),
        ..Default::default()
    }));
    told.answer(&stage);
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::Invitation);
    told.say(event::Body::Comparison(control::Comparison {
        peer: "p".into(),
        name: "Librem 5".into(),
        emoji: vec![0, 1, 62, 63],
        digits: "123456".into(),
        ..Default::default()
    }));
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::Comparison);
    for shown in ["dog", "cat", "diamond", "thumb", "123 456"] {
        assert!(
            ElementHandle::find_by_accessible_label(told.app.window(), shown).next().is_some(),
            "{shown}"
        );
    }
    tap(&stage, &told, "They don't match");
    assert_eq!(only(&mut told), request::Body::Compare(control::Compare { peer: "p".into(), same: false }));
    told.say(event::Body::ComparisonGone(control::ComparisonGone { id: "p".into(), ..Default::default() }));
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::Invitation, "it has waited");
}

#[test]
fn an_invitation_of_ours_waits_can_be_withdrawn_and_its_end_is_said() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.say(event::Body::Nearby(control::Nearby {
        id: "p".into(),
        name: "Librem 5".into(),
        rssi_dbm: -50,
        ..Default::default()
    }));
    told.app.go(Page::Nearby);
    stage.settle(&told.scene);
    told.asked();
    tap(&stage, &told, "Invite Librem 5");
    let asked = told.asked();
    assert!(matches!(body(&asked[0]), request::Body::Invite(invite) if invite.peer == "p"), "{asked:?}");
    assert_eq!(dialog(&told), Dialog::Waiting);
    told.reply(asked[0].id, reply::Body::InviteId("i".into()));
    stage.settle(&told.scene);
    told.say(event::Body::InvitationGone(control::InvitationGone {
        invite_id: "i".into(),
        end: control::InvitationEnd::InvitationDeclined.into(),
        ..Default::default()
    }));
    stage.pass(Duration::ZERO);
    assert_eq!((dialog(&told), remark(&told)), (Dialog::None, Remark::InvitationDeclined));

    tap(&stage, &told, "Invite Librem 5");
    let again = told.asked().last().expect("a request").id;
    told.reply(again, reply::Body::InviteId("j".into()));
    stage.settle(&told.scene);
    tap(&stage, &told, "Withdraw");
    assert_eq!(only(&mut told), request::Body::Withdraw(control::Withdraw { invite_id: "j".into() }));
    assert_eq!(dialog(&told), Dialog::None);
}

#[test]
fn bluetooth_that_is_off_or_whose_service_does_not_run_has_a_button_and_comes_on() {
    let stage = Stage::new();
    let mut told = started(&stage);
    let radio = |state: control::RadioState| {
        event::Body::Radio(control::Radio {
            carrier: control::Carrier::Bluetooth.into(),
            state: state.into(),
            ..Default::default()
        })
    };
    told.app.go(Page::Nearby);
    for state in [control::RadioState::RadioOff, control::RadioState::RadioNoService] {
        told.say(radio(state));
        stage.settle(&told.scene);
        told.asked();
        tap(&stage, &told, "Turn Bluetooth on");
        assert_eq!(only(&mut told), request::Body::PowerOn(control::PowerOn {}));
        told.say(radio(control::RadioState::RadioReady));
        stage.settle(&told.scene);
        assert!(
            ElementHandle::find_by_accessible_label(told.app.window(), "Looking around…").next().is_some()
        );
    }
}

#[test]
fn a_peer_who_is_away_is_counted_by_the_second_and_leaving_asks_first() {
    let stage = Stage::new();
    let mut lost = room(here(), peer("Librem 5"), &[Side::First]);
    lost.link = Some(link(control::PeerLink::Lost, 12_000));
    let mut told = playing(&stage, lost.clone());
    let says = |told: &Told, words: &str| {
        ElementHandle::find_by_accessible_label(told.app.window(), words).next().is_some()
    };
    let away = |told: &Told| told.app.window().global::<BoardAdapter<'_>>().get_away_seconds();
    let before = away(&told);
    assert!(before >= 12, "{before}");
    stage.pass(Duration::from_secs(1));
    stage.pass(Duration::from_secs(1));
    assert_eq!(away(&told), before + 2);
    told.scene.key(Key::Escape);
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::ConfirmLeave);
    tap(&stage, &told, "Stay");
    assert_eq!((page(&told), told.asked().len()), (Page::Board, 0));
    lost.link = Some(link(control::PeerLink::Up, 0));
    told.say(event::Body::Room(lost));
    stage.settle(&told.scene);
    assert!(says(&told, "Bluetooth · good signal · encrypted"));
}

#[test]
fn an_offer_of_the_other_side_is_answered_in_a_dialog() {
    let stage = Stage::new();
    let mut offered = room(here(), peer("Librem 5"), &[Side::First]);
    offered.offer = Some(control::PendingOffer {
        kind: control::OfferKind::OfferDraw.into(),
        mine: false,
        by: Side::Second.into(),
        number: 0,
    });
    let mut told = playing(&stage, offered);
    assert_eq!(dialog(&told), Dialog::Offer);
    tap(&stage, &told, "Decline");
    assert_eq!(
        only(&mut told),
        request::Body::AnswerOffer(control::AnswerOffer { room_id: "room".into(), accept: false })
    );
}

#[test]
fn a_rematch_is_followed_to_its_new_room() {
    let stage = Stage::new();
    let mut over = mine();
    over.result = Some(proto::board::Result {
        winner: Side::First.into(),
        ending: proto::board::Ending::FiveInARow.into(),
    });
    let mut told = playing(&stage, over);
    tap(&stage, &told, "Rematch as Black");
    assert_eq!(
        only(&mut told),
        request::Body::Offer(control::Offer {
            room_id: "room".into(),
            kind: control::OfferKind::OfferNewGame.into()
        })
    );
    let mut next = room(here(), bot(3), &[Side::First]);
    next.id = "next".into();
    next.follows = "room".into();
    told.say(event::Body::Room(next));
    stage.settle(&told.scene);
    tap(&stage, &told, "Undo");
    assert!(matches!(only(&mut told), request::Body::Offer(offer) if offer.room_id == "next"));
}

#[test]
fn a_host_that_is_gone_is_said_and_stays_said() {
    let stage = Stage::new();
    let told = started(&stage);
    told.hand.say.send(qiyou::FromHost::Lost(qiyou::Lost::Closed)).expect("the app listens");
    stage.settle(&told.scene);
    for _ in 0..5 {
        stage.pass(Duration::from_secs(5));
    }
    assert_eq!(remark(&told), Remark::HostLost);
}

/// The action that was asked for, and nothing else was.
pub(crate) fn acted(told: &mut Told) -> action::Kind {
    let request::Body::Act(act) = only(told) else { panic!("an action was expected") };
    act.action.expect("an action").kind.expect("of some kind")
}

/// A point as the wire numbers it.
pub(crate) const fn at(column: u32, row: u32) -> u32 {
    row * 1_024 + column
}

#[test]
fn why_the_rules_refuse_is_said_in_the_players_language() {
    let stage = Stage::new();
    let mut told = playing(&stage, games::against_the_device(&games::go(), engine::Side::Second));
    tap(&stage, &told, "Pass");
    tap(&stage, &told, "Yes, pass");
    let asked = told.asked();
    let refusal = control::Refusal {
        code: control::RefusalCode::RefusalIllegal.into(),
        reason: Some(control::Words { zh: "这里不入气".into(), en: "A7 would be suicide".into() }),
        ..Default::default()
    };
    told.reply(asked[0].id, reply::Body::Refusal(refusal.clone()));
    stage.pass(Duration::ZERO);
    assert_eq!((remark(&told), remark_says(&told).as_str()), (Remark::Told, "A7 would be suicide"));
    told.prefer(true, false, 0);
    stage.settle(&told.scene);
    told.asked();
    told.app.window().global::<BoardAdapter<'_>>().invoke_touch(0);
    let asked = told.asked();
    told.reply(asked[0].id, reply::Body::Refusal(refusal));
    stage.pass(Duration::ZERO);
    assert_eq!((remark(&told), remark_says(&told).as_str()), (Remark::Told, "这里不入气"));
}

#[test]
fn rules_that_the_host_no_longer_knows_are_forgotten() {
    let stage = Stage::new();
    let mut told = Told::new(&stage, SIZES[0]);
    let last = qiyou::LastGame { preset: "korean".into(), ..Default::default() };
    told.app.prefer(qiyou::Preferences {
        language: qiyou::Language::English,
        games: [("go".to_owned(), last)].into(),
        ..Default::default()
    });
    told.app.new_game(qiyou::screens::Game::Go);
    stage.settle(&told.scene);
    let asked = told.asked();
    let describe = asked.iter().find(|one| matches!(body(one), request::Body::Describe(_))).expect("asked");
    let request::Body::Describe(of) = body(describe) else { unreachable!("just found") };
    assert_eq!(
        of.choice.as_ref().map(|choice| choice.preset.as_str()),
        Some("korean"),
        "they are remembered"
    );
    let refusal =
        control::Refusal { code: control::RefusalCode::RefusalBadRequest.into(), ..Default::default() };
    told.reply(describe.id, reply::Body::Refusal(refusal));
    told.answer(&stage);
    stage.settle(&told.scene);
    assert_eq!(remark(&told), Remark::None);
    tap(&stage, &told, "Start");
    let open = told.answer(&stage).into_iter().find_map(|one| match one.body {
        Some(request::Body::OpenRoom(open)) => open.choice,
        _ => None,
    });
    assert_eq!(open.expect("a match is opened").preset, "");
}

#[test]
fn what_one_option_brings_with_it_goes_again_with_it() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.app.new_game(qiyou::screens::Game::Go);
    let touch = |told: &mut Told, touch: &dyn Fn(&NewGameAdapter<'_>)| {
        told.answer(&stage);
        touch(&told.app.window().global::<NewGameAdapter<'_>>());
        told.answer(&stage);
        stage.settle(&told.scene);
    };
    let names = |told: &Told| -> Vec<String> {
        let options = told.app.window().global::<NewGameAdapter<'_>>().get_options();
        options.iter().map(|option| option.name.to_string()).collect()
    };
    touch(&mut told, &|page| page.invoke_choose_preset(1));
    assert_eq!(names(&told), ["Board", "Handicap", "Komi"], "scoring is the rules, superko is for few");
    touch(&mut told, &|page| page.invoke_choose_value(0, 0));
    touch(&mut told, &|page| page.invoke_step_value(1, 1));
    assert_eq!(names(&told), ["Board", "Handicap", "Handicap stones", "Komi"]);
    touch(&mut told, &|page| page.invoke_choose_value(2, 1));
    touch(&mut told, &|page| page.invoke_step_value(1, -1));
    assert_eq!(names(&told), ["Board", "Handicap", "Komi"]);
    tap(&stage, &told, "Start");
    let open = told.answer(&stage).into_iter().find_map(|one| match one.body {
        Some(request::Body::OpenRoom(open)) => open.choice,
        _ => None,
    });
    let open = open.expect("a match is opened");
    let options: Vec<_> = open.options.iter().map(|one| (one.option.as_str(), one.value.as_str())).collect();
    assert_eq!((open.preset.as_str(), options), ("japanese", vec![("size", "9"), ("handicap", "0")]));
}

#[test]
fn odds_in_xiangqi_are_a_row_of_the_page_and_the_colour_says_who_gives_them() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.scene.resize(720, 3_000, 2.0);
    told.app.new_game(qiyou::screens::Game::Xiangqi);
    told.answer(&stage);
    told.app.window().global::<NewGameAdapter<'_>>().invoke_toggle_terms();
    told.answer(&stage);
    stage.settle(&told.scene);
    assert!(!says(&told, "You give the odds."));
    for _ in 0..3 {
        tap(&stage, &told, "Odds: more");
        told.answer(&stage);
        stage.settle(&told.scene);
    }
    for said in ["Red gives a horse", "You give the odds."] {
        assert!(says(&told, said), "{said}");
    }
    for (colour, said) in [
        (qiyou::screens::Colour::Second, "The computer gives you odds."),
        (qiyou::screens::Colour::Random, "Your colour decides who gives the odds."),
    ] {
        told.app.window().global::<NewGameAdapter<'_>>().invoke_choose_colour(colour);
        told.answer(&stage);
        stage.settle(&told.scene);
        assert!(says(&told, said), "{said}");
    }
    told.app.window().global::<NewGameAdapter<'_>>().invoke_choose_colour(qiyou::screens::Colour::Second);
    tap(&stage, &told, "Start");
    let open = told.answer(&stage).into_iter().find_map(|one| match one.body {
        Some(request::Body::OpenRoom(open)) => open.choice,
        _ => None,
    });
    let open = open.expect("a match is opened");
    let options: Vec<_> = open.options.iter().map(|one| (one.option.as_str(), one.value.as_str())).collect();
    assert_eq!(options, [("odds", "horse")]);
}

#[test]
fn rules_and_clock_are_one_row_that_says_what_is_chosen_and_unfolds_at_a_tap() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.scene.resize(720, 3_000, 2.0);
    let open = |told: &mut Told, game| {
        told.app.new_game(game);
        told.answer(&stage);
        stage.settle(&told.scene);
    };
    let choices = ["Standard", "Board", "Opening", "No clock"];
    let shown = |told: &Told| choices.map(|choice| says(told, choice));
    open(&mut told, Game::Gomoku);
    assert_eq!(terms(&told), "Rules and clock: Freestyle, 15 × 15, no clock.");
    assert_eq!(shown(&told), [false; 4], "a novice meets opponent, level, colour and start");
    for kept in ["Computer", "Level 3", "Random", "Start", "Quick lesson", "Read the rules"] {
        assert!(says(&told, kept), "{kept}: {:?}", names(&told));
    }
    turn_terms(&stage, &told);
    assert_eq!(shown(&told), [true; 4]);
    for touched in ["Standard", "Opening: more", "Opening: more", "Opening: more", "Opening: more"] {
        tap(&stage, &told, touched);
        told.answer(&stage);
        stage.settle(&told.scene);
    }
    told.app.window().global::<NewGameAdapter<'_>>().invoke_choose_pace(2);
    stage.settle(&told.scene);
    let said = terms(&told);
    assert_eq!(said, "Rules and clock: Standard, 15 × 15, opening: Swap2, 10 min + 5 s per move.");
    turn_terms(&stage, &told);
    assert_eq!((shown(&told), terms(&told)), ([false; 4], said), "folded, it says the same");
    // Whether it was open is not kept.
    turn_terms(&stage, &told);
    open(&mut told, Game::Gomoku);
    assert_eq!(shown(&told), [false; 4]);
    for (game, said) in [
        (Game::Go, "Rules and clock: Chinese rules, 9 × 9, no clock."),
        (Game::Xiangqi, "Rules and clock: The usual rules, no clock."),
        (Game::LightsOut, "Rules: 5 × 5."),
    ] {
        open(&mut told, game);
        assert_eq!(terms(&told), said);
    }
    told.prefer(true, false, 0);
    open(&mut told, Game::Go);
    assert!(says(&told, "规则和计时：中国规则，9 路，不计时。"), "{:?}", names(&told));
}

#[test]
fn the_size_of_a_go_board_and_its_rules_are_chosen_apart() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.app.new_game(qiyou::screens::Game::Go);
    let touch = |told: &mut Told, touch: &dyn Fn(&NewGameAdapter<'_>)| {
        told.answer(&stage);
        touch(&told.app.window().global::<NewGameAdapter<'_>>());
        told.answer(&stage);
        stage.settle(&told.scene);
    };
    let seen = |told: &Told| {
        let page = told.app.window().global::<NewGameAdapter<'_>>();
        let chosen = |name: &str| {
            let option = page.get_options().iter().find(|option| option.name == name);
            option.unwrap_or_else(|| panic!("{name} is not offered")).value.to_string()
        };
        (chosen("Board"), page.get_preset(), chosen("Komi"))
    };
    touch(&mut told, &|_| {});
    assert_eq!(
        seen(&told),
        ("9 × 9".into(), 0, "7.5".into()),
        "a first match: a small board by Chinese rules"
    );
    touch(&mut told, &|page| page.invoke_choose_preset(1));
    assert_eq!(seen(&told), ("9 × 9".into(), 1, "6.5".into()));
    touch(&mut told, &|page| page.invoke_choose_value(0, 2));
    assert_eq!(seen(&told), ("19 × 19".into(), 1, "6.5".into()));
    touch(&mut told, &|page| page.invoke_step_value(1, 1));
    assert_eq!(
        seen(&told),
        ("19 × 19".into(), 1, "0.5".into()),
        "full komi would take back what two stones give"
    );
    touch(&mut told, &|page| page.invoke_choose_preset(0));
    assert_eq!(seen(&told), ("19 × 19".into(), 0, "0.5".into()));
    touch(&mut told, &|page| page.invoke_step_value(1, -1));
    assert_eq!(seen(&told), ("19 × 19".into(), 0, "7.5".into()));
}

pub(crate) fn remark_says(told: &Told) -> String {
    told.app.window().global::<Navigation<'_>>().get_remark_name().to_string()
}

#[test]
fn a_friend_without_a_name_is_called_something_in_a_remark() {
    let stage = Stage::new();
    let told = playing(&stage, games::against_the_device(&games::go_counting(), engine::Side::Second));
    let kind = control::NoticeKind::NoticeNewFriend.into();
    told.say(event::Body::Notice(control::Notice { kind, ..Default::default() }));
    stage.pass(Duration::ZERO);
    told.scene.draw();
    assert_eq!((remark(&told), remark_says(&told).as_str()), (Remark::NewFriend, ""));
    let said = told.app.window().global::<Words<'_>>().invoke_remark(Remark::NewFriend, "".into());
    assert_eq!(said, "You and Unnamed player are friends now");
}

#[test]
fn a_passing_remark_takes_no_tap_from_what_stands_under_it() {
    let stage = Stage::new();
    let mut told = playing(&stage, games::against_the_device(&games::go_counting(), engine::Side::Second));
    told.say(event::Body::Notice(control::Notice {
        kind: control::NoticeKind::NoticeRenamed.into(),
        name: "Ben".into(),
        detail: "Benjamin".into(),
        ..Default::default()
    }));
    stage.pass(Duration::ZERO);
    told.scene.draw();
    let mut covered = Vec::new();
    for name in ["Agree and count", "Play on", "Undo", "Hint", "New", "Resign", "More"] {
        if !says(&told, name) {
            continue;
        }
        assert_eq!(remark(&told), Remark::Renamed, "it is still read");
        told.asked();
        let before = dialog(&told);
        let at = tap_at_once(&told, name);
        stage.pass(Duration::from_millis(150));
        let (asked, now) = (told.asked(), dialog(&told));
        assert!(!asked.is_empty() || now != before, "{name} at {at:?} does nothing");
        covered.push(name);
        told.app.ask(Dialog::None);
        stage.pass(Duration::ZERO);
        told.scene.draw();
    }
    assert!(covered.len() >= 5, "{covered:?}");
}

/// As `tap`, but no time passes. Where it was.
fn tap_at_once(told: &Told, name: &str) -> (f32, f32) {
    let element = ElementHandle::find_by_accessible_label(told.app.window(), name)
        .find(|element| element.accessible_role().is_some())
        .unwrap_or_else(|| panic!("nothing is called {name}"));
    let (position, size) = (element.absolute_position(), element.size());
    let at = (position.x + size.width / 2.0, position.y + size.height / 2.0);
    told.scene.tap(at.0, at.1);
    at
}

#[test]
fn whether_the_computer_takes_its_time_is_chosen_in_the_settings_and_told_to_the_host() {
    let stage = Stage::new();
    let mut told = Told::new(&stage, SIZES[0]);
    told.prefer(false, false, 0);
    stage.settle(&told.scene);
    let fronts = |told: &mut Told| -> Vec<bool> {
        let asked = told.asked();
        let fronts = asked.iter().filter_map(|one| match body(one) {
            request::Body::Front(front) => Some(front.unhurried),
            _ => None,
        });
        fronts.collect()
    };
    assert_eq!(fronts(&mut told).last(), Some(&true), "from the beginning");
    told.app.go(Page::Settings);
    stage.settle(&told.scene);
    told.app.window().global::<qiyou::screens::SettingsAdapter<'_>>().invoke_toggle_unhurried();
    stage.settle(&told.scene);
    assert_eq!(fronts(&mut told), [false]);
}

#[test]
fn the_buttons_at_the_end_of_a_match_are_seen_whole_on_a_phone_and_say_the_colours_of_the_next() {
    let stage = Stage::new();
    let setup = engine::GameKind::Xiangqi.default_setup();
    let game = engine::AnyGame::from_position(&setup, "3k5/4R4/9/9/9/9/9/9/9/4K4 w").expect("a position");
    let mut room = games::against_the_device(&game, engine::Side::First);
    room.result = Some(proto::board::Result {
        winner: Side::First.into(),
        ending: proto::board::Ending::Resigned.into(),
    });
    (room.can_act, room.can_analyse) = (false, true);
    let told = playing(&stage, room);
    for name in ["Rematch as Black", "Rematch with the same colours", "Review", "Try moves", "Home"] {
        let button =
            ElementHandle::find_by_accessible_label(told.app.window(), name).next().expect("a button");
        let (at, size) = (button.absolute_position(), button.size());
        assert!(at.y + size.height <= 720.0, "{name} ends at {}", at.y + size.height);
        assert!(at.x >= 0.0 && at.x + size.width <= 360.0, "{name} from {} is {} wide", at.x, size.width);
    }
}

#[test]
fn seconds_that_the_other_person_is_away_only_grow_between_what_the_host_tells() {
    let stage = Stage::new();
    let mut away = room(here(), peer("Librem 5"), &[Side::First]);
    away.link = Some(link(control::PeerLink::Lost, 1_000));
    let told = playing(&stage, away);
    let seconds = |told: &Told| told.app.window().global::<BoardAdapter<'_>>().get_away_seconds();
    assert_eq!(seconds(&told), 1);
    for _ in 0..3 {
        stage.pass(Duration::from_millis(1_100));
    }
    stage.settle(&told.scene);
    let counted = seconds(&told);
    assert!(counted >= 3, "{counted}");
    // Something else is told, which shows the page again.
    told.say(event::Body::Friend(control::Friend {
        id: "x".into(),
        name: "Xu".into(),
        ..Default::default()
    }));
    stage.settle(&told.scene);
    assert!(seconds(&told) >= counted, "{} after {counted}", seconds(&told));
}

#[test]
fn a_touch_beside_a_text_field_ends_the_typing() {
    let stage = Stage::new();
    for beside in ["Nobody", "Quiet hours"] {
        let mut told = Told::new(&stage, SIZES[0]);
        told.app.go(Page::Settings);
        stage.settle(&told.scene);
        let field = ElementHandle::find_by_accessible_label(told.app.window(), "My name")
            .find(|element| element.accessible_role() == Some(AccessibleRole::TextInput))
            .expect("the field");
        let (position, size) = (field.absolute_position(), field.size());
        told.scene.tap(position.x + size.width / 2.0, position.y + size.height / 2.0);
        stage.settle(&told.scene);
        told.scene.key('x');
        stage.settle(&told.scene);
        told.asked();
        tap(&stage, &told, beside);
        told.scene.key('y');
        stage.settle(&told.scene);
        let named = told.asked().into_iter().filter_map(|request| match request.body {
            Some(request::Body::SetName(set)) => Some(set.name),
            _ => None,
        });
        let named: Vec<_> = named.collect();
        assert!(named.len() == 1 && named[0].ends_with('x'), "after {beside}: {named:?}");
    }
}

#[test]
fn a_lesson_takes_no_touch_before_the_one_before_is_answered() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.app.learn(Game::Gomoku);
    told.answer(&stage);
    let touch = |told: &Told, index| {
        told.app.window().global::<LessonAdapter<'_>>().invoke_touch(index);
        stage.pass(Duration::ZERO);
    };
    // A finger that hits twice, and one that hits elsewhere in between.
    for index in [7 * 15 + 7, 7 * 15 + 7, 3] {
        touch(&told, index);
    }
    let asked = told.asked();
    let [request] = &asked[..] else { panic!("one touch is asked about: {asked:?}") };
    let request::Body::Teach(teach) = body(request) else { panic!("{request:?}") };
    assert_eq!(teach.actions.len(), 1);
    told.reply(request.id, reply::Body::Lesson(games::lesson(teach)));
    stage.pass(Duration::ZERO);
    assert!(told.app.window().global::<LessonAdapter<'_>>().get_finished());
}
