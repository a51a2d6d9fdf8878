//! What touches and keys ask of the host, and what its answers show. The host is in the test's hand.

use std::time::Duration;

use i_slint_backend_testing::ElementHandle;
use proto::board::Side;
use proto::control::{self, event, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::{Dialog, Navigation, Page, Remark};
use slint::ComponentHandle;
use slint::platform::Key;

use crate::support::{SIZES, Told, body, bot, gomoku, here, link, peer, place, room};

/// Taps the middle of what a screen reader calls by this name.
pub(crate) fn tap(stage: &Stage, told: &Told, name: &str) {
    let element = ElementHandle::find_by_accessible_label(told.app.window(), name)
        .find(|element| element.accessible_role().is_some())
        .unwrap_or_else(|| panic!("nothing is called {name}"));
    let (position, size) = (element.absolute_position(), element.size());
    told.scene.tap(position.x + size.width / 2.0, position.y + size.height / 2.0);
    stage.settle(&told.scene);
}

fn page(told: &Told) -> Page {
    told.app.window().global::<Navigation<'_>>().get_page()
}

fn dialog(told: &Told) -> Dialog {
    told.app.window().global::<Navigation<'_>>().get_dialog()
}

fn remark(told: &Told) -> Remark {
    told.app.window().global::<Navigation<'_>>().get_remark()
}

fn started(stage: &Stage) -> Told {
    let mut told = Told::new(stage, SIZES[0]);
    told.prefer(false, false, 0);
    stage.settle(&told.scene);
    told.asked();
    told
}

fn playing(stage: &Stage, room: control::Room) -> Told {
    let mut told = started(stage);
    told.say(event::Body::Room(room));
    stage.pass(Duration::ZERO);
    told.app.open_room("room");
    stage.settle(&told.scene);
    told.asked();
    told
}

/// The only request that was made, by its body.
fn only(told: &mut Told) -> request::Body {
    let asked = told.asked();
    let [one] = &asked[..] else { panic!("one request was expected: {asked:?}") };
    body(one).clone()
}

fn mine() -> control::Room {
    room(bot(3), here(), &[Side::Second])
}

#[test]
fn the_app_attaches_first_and_looks_around_once_it_knows_the_state() {
    let stage = Stage::new();
    let mut told = Told::new(&stage, SIZES[0]);
    let first = told.asked();
    assert!(matches!(body(&first[0]), request::Body::Attach(attach) if attach.version == 1), "{first:?}");
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
    told.asked();
    tap(&stage, &told, "Stronger");
    tap(&stage, &told, "White");
    tap(&stage, &told, "Standard");
    tap(&stage, &told, "Five along the edge counts");
    tap(&stage, &told, "Start");
    let asked = told.asked();
    let open = asked.iter().find_map(|one| match body(one) {
        request::Body::OpenRoom(open) => Some((one.id, open.clone())),
        _ => None,
    });
    let (id, open) = open.expect("a match was asked for");
    assert_eq!(open.first.expect("a seat").who, bot(4).who);
    assert_eq!(open.second.expect("a seat").who, here().who);
    let mut setup = gomoku(proto::board::GomokuRule::Standard);
    let Some(proto::board::setup::Game::Gomoku(rules)) = &mut setup.game else { panic!("it is gomoku") };
    rules.edge_five_wins = false;
    assert_eq!(open.setup, Some(setup));

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
fn a_finger_may_slide_to_its_point_before_it_is_lifted() {
    let stage = Stage::new();
    let mut told = playing(&stage, mine());
    let middle = |name: &str| {
        let element =
            ElementHandle::find_by_accessible_label(told.app.window(), name).next().expect("a point");
        let (position, size) = (element.absolute_position(), element.size());
        (position.x + size.width / 2.0, position.y + size.height / 2.0)
    };
    let (from, to) = (middle("A1 empty"), middle("C2 empty"));
    told.scene.slide(from, to);
    stage.settle(&told.scene);
    assert!(matches!(only(&mut told), request::Body::Act(act) if act.action == Some(place(2, 1))));
    let away = (to.0, 700.0);
    told.scene.slide(to, away);
    stage.settle(&told.scene);
    assert_eq!(told.asked(), [], "lifted off the board, nothing is played");
}

#[test]
fn while_nothing_may_be_done_a_touch_asks_nothing() {
    let stage = Stage::new();
    let mut waiting = mine();
    waiting.can_act = false;
    let mut told = playing(&stage, waiting);
    tap(&stage, &told, "A1 empty");
    assert_eq!(told.asked(), []);
}

#[test]
fn arrows_move_a_cursor_and_enter_plays_there() {
    let stage = Stage::new();
    let mut told = playing(&stage, mine());
    // The first arrow comes to the board; its cursor begins in the middle.
    for key in [Key::RightArrow, Key::RightArrow, Key::UpArrow, Key::UpArrow, Key::LeftArrow, Key::Return] {
        told.scene.key(key);
        stage.settle(&told.scene);
    }
    assert!(matches!(only(&mut told), request::Body::Act(act) if act.action == Some(place(7, 9))));
    for _ in 0..40 {
        told.scene.key(Key::DownArrow);
        told.scene.key(Key::RightArrow);
    }
    told.scene.key(" ");
    stage.settle(&told.scene);
    assert!(
        matches!(only(&mut told), request::Body::Act(act) if act.action == Some(place(14, 0))),
        "the edge holds"
    );
}

#[test]
fn tab_reaches_every_action_and_escape_leads_back() {
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
fn a_hint_is_shown_for_its_position_only() {
    let stage = Stage::new();
    let mut told = playing(&stage, mine());
    tap(&stage, &told, "Hint");
    let asked = told.asked();
    assert!(matches!(body(&asked[0]), request::Body::Hint(_)));
    told.reply(
        asked[0].id,
        reply::Body::Hint(control::HintFound {
            action: Some(place(3, 3)),
            notation: "d4".into(),
            ..Default::default()
        }),
    );
    stage.settle(&told.scene);
    let points = || {
        use slint::Model;
        told.app
            .window()
            .global::<qiyou::screens::BoardAdapter<'_>>()
            .get_points()
            .iter()
            .filter(|point| point.hint)
            .count()
    };
    assert_eq!(points(), 1);
    let mut moved = mine();
    moved.board.as_mut().expect("a board").ply += 1;
    told.say(event::Body::Room(moved));
    stage.settle(&told.scene);
    assert_eq!(points(), 0);
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
    told.scene.key(Key::Escape);
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::Invitation, "a person waits for an answer");
    told.asked();
    tap(&stage, &told, "Play");
    assert_eq!(
        only(&mut told),
        request::Body::AnswerInvite(control::AnswerInvite { invite_id: "i".into(), accept: true })
    );
    told.say(event::Body::InvitationGone(control::InvitationGone {
        invite_id: "i".into(),
        end: control::InvitationEnd::InvitationAccepted.into(),
        room_id: "room".into(),
    }));
    told.say(event::Body::Room(room(here(), peer("Librem 5"), &[Side::First])));
    stage.settle(&told.scene);
    assert_eq!((page(&told), dialog(&told)), (Page::Board, Dialog::None));
}

#[test]
fn two_people_compare_before_anything_else() {
    let stage = Stage::new();
    let mut told = started(&stage);
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
    tap(&stage, &told, "They differ");
    assert_eq!(only(&mut told), request::Body::Compare(control::Compare { peer: "p".into(), same: false }));
    told.say(event::Body::ComparisonGone(control::Gone { id: "p".into() }));
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::None);
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
        room_id: String::new(),
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
fn bluetooth_that_is_off_has_a_button_and_comes_on() {
    let stage = Stage::new();
    let mut told = started(&stage);
    let radio = |state: control::RadioState| {
        event::Body::Radio(control::Radio {
            carrier: control::Carrier::Bluetooth.into(),
            state: state.into(),
            ..Default::default()
        })
    };
    told.say(radio(control::RadioState::RadioOff));
    told.app.go(Page::Nearby);
    stage.settle(&told.scene);
    told.asked();
    tap(&stage, &told, "Switch Bluetooth on");
    assert_eq!(only(&mut told), request::Body::PowerOn(control::PowerOn {}));
    told.say(radio(control::RadioState::RadioReady));
    stage.settle(&told.scene);
    assert!(ElementHandle::find_by_accessible_label(told.app.window(), "Looking around…").next().is_some());
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
    let away =
        |told: &Told| told.app.window().global::<qiyou::screens::BoardAdapter<'_>>().get_away_seconds();
    let before = away(&told);
    assert!(before >= 12, "{before}");
    stage.pass(Duration::from_secs(1));
    stage.pass(Duration::from_secs(1));
    assert!(away(&told) >= before + 2);
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
    });
    let mut told = playing(&stage, offered);
    assert_eq!(dialog(&told), Dialog::Offer);
    tap(&stage, &told, "Rather not");
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
    tap(&stage, &told, "Once more");
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
    tap(&stage, &told, "Take back");
    assert!(matches!(only(&mut told), request::Body::Offer(offer) if offer.room_id == "next"));
}

#[test]
fn a_host_that_is_gone_is_said_and_stays_said() {
    let stage = Stage::new();
    let told = started(&stage);
    told.hand.say.send(qiyou::FromHost::Lost("for the test".into())).expect("the app listens");
    stage.settle(&told.scene);
    for _ in 0..5 {
        stage.pass(Duration::from_secs(5));
    }
    assert_eq!(remark(&told), Remark::HostLost);
}
