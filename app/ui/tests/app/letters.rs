//! Matches by letter: an invitation to a friend who is away, its answer, and how far each letter has come.

use std::time::Duration;

use proto::board::Side;
use proto::control::{self, InvitationEnd, LetterState, event, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::{Dialog, FriendsAdapter, Page};
use slint::ComponentHandle;

use crate::support::people::{asked_by_letter, away, by_letter, friend};
use crate::support::{Told, body, here, open, peer, room};
use crate::touches::{dialog, names, page, says, started, tap};

fn friends_dialog(stage: &Stage, told: &Told) {
    told.app.go(Page::Friends);
    told.app.window().global::<FriendsAdapter<'_>>().invoke_open_friend("c".into());
    stage.settle(&told.scene);
}

/// The only invitation that was asked for, with the number of its request.
fn invited(stage: &Stage, told: &mut Told) -> (u64, control::Invite) {
    let asked = told.answer(stage);
    let mut found = asked.iter().filter_map(|one| match body(one) {
        request::Body::Invite(invite) => Some((one.id, invite.clone())),
        _ => None,
    });
    let first = found.next().unwrap_or_else(|| panic!("nobody is invited: {asked:?}"));
    assert_eq!(found.next(), None);
    first
}

#[test]
fn a_friend_who_is_away_is_invited_by_letter_without_a_clock_and_the_match_opens_at_once() {
    let stage = Stage::new();
    let mut told = started(&stage);
    away(&told);
    friends_dialog(&stage, &told);
    tap(&stage, &told, "Invite by letter…");
    assert_eq!(dialog(&told), Dialog::Letter);
    tap(&stage, &told, "Xiangqi");
    told.answer(&stage);
    stage.settle(&told.scene);
    assert_eq!((page(&told), dialog(&told)), (Page::NewGame, Dialog::None));
    let all = names(&told);
    assert!(all.iter().any(|name| name.starts_with("Rules: ")), "no clock stands beside the rules: {all:?}");
    assert!(!all.iter().any(|name| name == "Clock" || name == "Computer"), "{all:?}");
    tap(&stage, &told, "Black");
    tap(&stage, &told, "Send to Anna");
    let (id, invite) = invited(&stage, &mut told);
    assert!(invite.by_letter);
    assert_eq!((invite.peer.as_str(), invite.pace, invite.hints), ("c", None, false));
    assert_eq!(invite.my_side(), Side::Second);
    assert_eq!(invite.choice.expect("a choice").game(), proto::board::Game::Xiangqi);
    assert_eq!(page(&told), Page::NewGame, "until the host has begun the match");
    told.say(event::Body::Room(by_letter(LetterState::Waiting)));
    told.reply(id, reply::Body::InviteId("room".into()));
    stage.settle(&told.scene);
    assert_eq!(page(&told), Page::Board);
    assert!(says(&told, "letter waits on this device"));
}

#[test]
fn a_letter_is_offered_only_where_both_have_accounts_and_the_friend_is_away() {
    let stage = Stage::new();
    let offered = |told: &Told| {
        friends_dialog(&stage, told);
        names(told).iter().any(|name| name == "Invite by letter…")
    };
    let told = started(&stage);
    told.say(event::Body::Friend(friend("c", "Anna")));
    assert!(!offered(&told), "no account at all");
    away(&told);
    assert!(offered(&told));
    let account = || "anna@example.org".to_owned();
    told.say(event::Body::Friend(control::Friend {
        connected: true,
        account: account(),
        ..friend("c", "Anna")
    }));
    assert!(!offered(&told), "she is here");
    told.say(event::Body::Friend(friend("c", "Anna")));
    assert!(!offered(&told), "her account is not known");
    let told = started(&stage);
    told.say(event::Body::Friend(control::Friend { account: account(), ..friend("c", "Anna") }));
    assert!(!offered(&told), "no account here");
}

#[test]
fn leaving_the_page_of_an_invitation_by_letter_begins_no_match_by_letter() {
    let stage = Stage::new();
    let mut told = started(&stage);
    away(&told);
    friends_dialog(&stage, &told);
    tap(&stage, &told, "Invite by letter…");
    tap(&stage, &told, "Gomoku");
    told.answer(&stage);
    stage.settle(&told.scene);
    tap(&stage, &told, "Back");
    told.app.new_game(qiyou::screens::Game::Gomoku);
    told.answer(&stage);
    stage.settle(&told.scene);
    tap(&stage, &told, "Start");
    let asked = told.answer(&stage);
    assert!(!asked.iter().any(|one| matches!(body(one), request::Body::Invite(_))), "{asked:?}");
    assert!(asked.iter().any(|one| matches!(body(one), request::Body::OpenRoom(_))), "{asked:?}");
}

#[test]
fn an_invitation_by_letter_can_wait_and_is_answered_from_the_friends_page() {
    let stage = Stage::new();
    let mut told = started(&stage);
    away(&told);
    told.say(asked_by_letter());
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::Invitation);
    assert!(says(&told, "Anna invites you by letter"));
    assert!(!names(&told).iter().any(|name| name == "Suggest changes…"), "nobody is there to bargain with");
    tap(&stage, &told, "Later");
    assert_eq!(dialog(&told), Dialog::None);
    told.answer(&stage);
    // Another event does not bring it back.
    told.say(event::Body::Friend(friend("x", "Ben")));
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::None);
    friends_dialog(&stage, &told);
    tap(&stage, &told, "Answer the invitation");
    assert_eq!(dialog(&told), Dialog::Invitation);
    tap(&stage, &told, "Play");
    let asked = told.answer(&stage);
    let answer = asked.iter().find_map(|one| match body(one) {
        request::Body::AnswerInvite(answer) => Some(answer.clone()),
        _ => None,
    });
    let answer = answer.unwrap_or_else(|| panic!("no answer is sent: {asked:?}"));
    assert!(answer.accept && answer.invite_id == "letter");
    told.say(event::Body::Room(room(peer("Anna"), here(), &[Side::Second])));
    told.say(event::Body::InvitationGone(control::InvitationGone {
        invite_id: "letter".into(),
        end: InvitationEnd::InvitationAccepted.into(),
        room_id: "room".into(),
        ..Default::default()
    }));
    stage.settle(&told.scene);
    assert_eq!(page(&told), Page::Board);
}

#[test]
fn the_board_and_the_first_page_say_how_far_a_letter_has_come_while_it_is_the_friends_turn() {
    let stage = Stage::new();
    let mut told = started(&stage);
    let states = [
        (LetterState::Waiting, "letter waits on this device"),
        (LetterState::AtServer, "letter is on the server"),
        (LetterState::Delivered, "letter received"),
    ];
    open(&stage, &mut told, by_letter(LetterState::Waiting));
    for (state, words) in states {
        told.say(event::Body::Room(by_letter(state)));
        stage.pass(Duration::from_secs(1));
        stage.settle(&told.scene);
        assert!(says(&told, words), "{state:?}");
    }
    let mut mine = by_letter(LetterState::Waiting);
    mine.board.as_mut().expect("a board").turn = Side::First.into();
    told.say(event::Body::Room(mine));
    stage.pass(Duration::from_secs(1));
    stage.settle(&told.scene);
    assert!(!says(&told, "letter waits on this device"), "there is nothing to send");
    assert!(says(&told, "not here"), "rather than a count of seconds or days");
    told.say(event::Body::Room(by_letter(LetterState::AtServer)));
    told.app.go(Page::Home);
    stage.settle(&told.scene);
    assert!(says(&told, "Move 17 · letter is on the server"), "{:?}", names(&told));
}
