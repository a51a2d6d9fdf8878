//! What comes to a player and goes to another beside a match: a chosen notification, a race, a clock of one's own, a kept match
//! that is shown, everything in a file.

use std::time::Duration;

use i_slint_backend_testing::{AccessibleRole, ElementQuery};
use proto::board;
use proto::control::{self, event, reply, request};
use qiyou::headless::Stage;
use qiyou::screens::{BackupAdapter, BoardAdapter, Dialog, Game, Page, Remark};
use slint::platform::Key;
use slint::{ComponentHandle, Model};

use crate::support::people::{advice, gift, hinted, invitation};
use crate::support::{Told, body, games, here, peer, room};
use crate::touches::{dialog, names, page, remark, says, started, tap, turn_terms};

fn asked(stage: &Stage, told: &mut Told) -> Vec<request::Body> {
    told.answer(stage).iter().map(|one| body(one).clone()).collect()
}

fn chosen(room: &str) -> event::Body {
    event::Body::Activated(control::Activated { room_id: room.into(), ..Default::default() })
}

#[test]
fn a_chosen_notification_opens_what_it_was_about() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.say(event::Body::Room(room(here(), peer("Librem 5"), &[board::Side::First])));
    told.app.go(Page::Settings);
    told.app.ask(Dialog::Licences);
    told.say(chosen("room"));
    stage.settle(&told.scene);
    assert_eq!((page(&told), dialog(&told)), (Page::Board, Dialog::None));
    // One that is not open is opened first.
    told.asked();
    told.say(chosen("kept"));
    let resume = control::ResumeRoom { room_id: "kept".into() };
    assert!(asked(&stage, &mut told).contains(&request::Body::ResumeRoom(resume)));
    // Something about the device: where people are found.
    told.say(chosen(""));
    stage.settle(&told.scene);
    assert_eq!(page(&told), Page::Nearby);
}

#[test]
fn a_race_is_chosen_on_the_page_of_the_game_and_offered_to_whoever_is_near() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.say(event::Body::Nearby(control::Nearby {
        id: "a".into(),
        name: "Librem 5".into(),
        is_friend: true,
        ..Default::default()
    }));
    told.app.new_game(Game::LightsOut);
    told.answer(&stage);
    stage.settle(&told.scene);
    tap(&stage, &told, "Race nearby");
    let with_peer = told
        .asked()
        .iter()
        .any(|one| matches!(body(one), request::Body::Describe(describe) if describe.with_peer));
    assert!(with_peer, "its options and rules are those of a race");
    told.answer(&stage);
    tap(&stage, &told, "See who is there");
    assert_eq!(page(&told), Page::Nearby);
    told.answer(&stage);
    stage.settle(&told.scene);
    tap(&stage, &told, "Invite Librem 5");
    let invite = asked(&stage, &mut told).into_iter().find_map(|one| match one {
        request::Body::Invite(invite) => Some(invite),
        _ => None,
    });
    let invite = invite.expect("somebody is invited");
    assert_eq!(invite.choice.map(|choice| choice.game()), Some(board::Game::LightsOut));
    assert_eq!(invite.pace, None, "its time is what is compared");
}

#[test]
fn hints_for_both_are_chosen_on_the_page_of_the_game_and_asked_for_in_the_invitation() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.say(event::Body::Nearby(control::Nearby {
        id: "a".into(),
        name: "Librem 5".into(),
        is_friend: true,
        ..control::Nearby::default()
    }));
    // Tall enough for every row.
    told.scene.resize(720, 3_000, 2.0);
    // A game without further options of its own.
    told.app.new_game(Game::Gomoku);
    told.answer(&stage);
    stage.settle(&told.scene);
    assert!(
        !names(&told).iter().any(|name| name.contains("more option")),
        "nobody is there to agree on hints with"
    );
    tap(&stage, &told, "Two devices");
    told.answer(&stage);
    turn_terms(&stage, &told);
    tap(&stage, &told, "1 more option");
    fn new_game(told: &Told) -> qiyou::screens::NewGameAdapter<'_> {
        told.app.window().global()
    }

    assert!(!new_game(&told).get_hints(), "who wants none agrees to none");
    tap(&stage, &told, "Hints for both");
    assert!(new_game(&told).get_hints());
    tap(&stage, &told, "See who is there");
    told.answer(&stage);
    stage.settle(&told.scene);
    tap(&stage, &told, "Invite Librem 5");
    let invite = asked(&stage, &mut told).into_iter().find_map(|one| match one {
        request::Body::Invite(invite) => Some(invite),
        _ => None,
    });
    assert!(invite.is_some_and(|invite| invite.hints));
}

#[test]
fn agreed_hints_are_read_before_the_answer_and_counted_at_both_seats() {
    let stage = Stage::new();
    let mut told = started(&stage);
    let offered = "Both may take hints. Each sees how many the other takes.";
    for hints in [false, true] {
        told.say(event::Body::Invitation(control::Invitation { hints, ..invitation("") }));
        told.answer(&stage);
        stage.settle(&told.scene);
        assert_eq!(says(&told, offered), hints);
    }
    told.say(event::Body::InvitationGone(control::InvitationGone {
        invite_id: invitation("").invite_id,
        end: control::InvitationEnd::InvitationWithdrawn.into(),
        ..Default::default()
    }));

    let board = |told: &Told| told.app.window().global::<BoardAdapter<'_>>().get_can_hint();
    let without = control::Room { can_act: true, ..room(here(), peer("Librem 5"), &[board::Side::First]) };
    let id = without.id.clone();
    told.say(event::Body::Room(without.clone()));
    told.app.open_room(&id);
    stage.settle(&told.scene);
    assert!(!board(&told), "no hints were agreed");
    assert!(names(&told).iter().all(|name| !name.contains("hint")), "{:?}", names(&told));
    for (first, second, me, them) in [
        (0, 0, "Me · hints allowed", "Librem 5 · hints allowed"),
        (1, 2, "Me · 1 hint", "Librem 5 · 2 hints"),
    ] {
        let hints = Some(control::Hints { first, second });
        told.say(event::Body::Room(control::Room { hints, ..without.clone() }));
        stage.settle(&told.scene);
        assert!(board(&told), "a hint can be had");
        for seat in [me, them] {
            let seats = names(&told);
            assert!(seats.iter().any(|name| name.starts_with(seat)), "{seat}: {seats:?}");
        }
    }
    told.say(event::Body::Notice(control::Notice {
        kind: control::NoticeKind::NoticeHintTaken.into(),
        name: "Librem 5".into(),
        room_id: id,
        ..Default::default()
    }));
    stage.settle(&told.scene);
    assert!(remark(&told) == Remark::HintTaken && says(&told, "Librem 5 took a hint"));
}

#[test]
fn a_clock_of_ones_own_is_named_by_the_host_and_played_by() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.app.new_game(Game::Go);
    told.answer(&stage);
    stage.settle(&told.scene);
    turn_terms(&stage, &told);
    tap(&stage, &told, "No clock");
    tap(&stage, &told, "Custom clock…");
    tap(&stage, &told, "Then extra periods");
    told.answer(&stage);
    stage.settle(&told.scene);
    tap(&stage, &told, "Minutes: more");
    told.answer(&stage);
    stage.settle(&told.scene);
    assert!(says(&told, "25 min, then 3 periods of 10 s"));
    tap(&stage, &told, "Use this clock");
    assert_eq!(dialog(&told), Dialog::None);
    assert!(says(&told, "25 min, then 3 periods of 10 s"), "the page says it too");
    tap(&stage, &told, "Start");
    let open = asked(&stage, &mut told).into_iter().find_map(|one| match one {
        request::Body::OpenRoom(open) => Some(open),
        _ => None,
    });
    let pace = open.expect("a match is begun").pace.expect("with a clock");
    assert_eq!(
        (pace.kind(), pace.main_s, pace.step_s, pace.periods),
        (board::PaceKind::PaceByoYomi, 1_500, 10, 3)
    );
}

#[test]
fn a_hint_tells_ways_to_go_on_and_what_is_threatened_until_the_board_changes() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.say(event::Body::Room(games::against_the_device(&hinted(), engine::Side::First)));
    stage.pass(Duration::ZERO);
    told.app.open_room("room");
    told.answer(&stage);
    stage.settle(&told.scene);
    tap(&stage, &told, "Hint");
    for request in told.answer(&stage) {
        if let request::Body::Hint(hint) = body(&request) {
            assert_eq!(hint.lines, 3);
            told.reply(request.id, reply::Body::Hint(advice(&hinted())));
        }
    }
    stage.settle(&told.scene);
    let board = || told.app.window().global::<BoardAdapter<'_>>();
    assert!(says(&told, "54% to win") && board().get_advice().row_count() == 3);
    assert!(board().get_threats().row_count() > 0, "a three is a threat");
    assert!(board().get_points().iter().any(|point| point.threat));
    let mut next = hinted();
    next.act(next.parse("g10").expect("a point")).expect("free");
    told.say(event::Body::Room(games::against_the_device(&next, engine::Side::First)));
    stage.settle(&told.scene);
    assert_eq!((board().get_advice().row_count(), board().get_threats().row_count()), (0, 0));
}

#[test]
fn a_hint_in_go_is_told_in_points_of_whoever_is_to_move() {
    let stage = Stage::new();
    let mut told = started(&stage);
    let game = games::played(&engine::GameKind::Go.default_setup(), "Q16 D4");
    told.say(event::Body::Room(games::against_the_device(&game, engine::Side::First)));
    stage.pass(Duration::ZERO);
    told.app.open_room("room");
    told.answer(&stage);
    stage.settle(&told.scene);
    tap(&stage, &told, "Hint");
    let line = |point: &str, judged, permille, lead_tenths| control::HintLine {
        line: vec![point.into()],
        judged,
        permille,
        lead_tenths,
        ..Default::default()
    };
    let lines = vec![
        line("D16", true, 640, 125),
        line("Q3", true, 500, 3),
        line("K10", true, 380, -70),
        line("A1", false, 500, 0),
    ];
    for request in told.answer(&stage) {
        if let request::Body::Hint(_) = body(&request) {
            let found = control::HintFound {
                action: Some(crate::support::place(3, 15)),
                lines: lines.clone(),
                ..Default::default()
            };
            told.reply(request.id, reply::Body::Hint(found));
        }
    }
    stage.settle(&told.scene);
    let said: Vec<String> = names(&told)
        .into_iter()
        .filter(|name| name.contains('%') || name.contains("points") || name.contains("even"))
        .collect();
    assert_eq!(
        said,
        ["12.5 points ahead", "about even", "7 points behind"],
        "no chance in percent, and nothing of what was not weighed"
    );
}

#[test]
fn a_game_that_a_friend_shows_is_kept_or_not_and_never_covers_a_board() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.say(event::Body::Room(room(here(), here(), &[board::Side::First, board::Side::Second])));
    stage.pass(Duration::ZERO);
    told.app.open_room("room");
    told.say(event::Body::Gift(gift()));
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::None, "somebody plays");
    told.app.go(Page::Home);
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::Gift);
    told.answer(&stage);
    tap(&stage, &told, "Save to my games");
    let answered = told.asked();
    let keep = control::AnswerGift { gift_id: "1".into(), keep: true };
    assert_eq!(body(&answered[0]), &request::Body::AnswerGift(keep));
    told.say(event::Body::GiftGone(control::Gone { id: "1".into() }));
    told.reply(answered[0].id, reply::Body::RoomId("new".into()));
    stage.settle(&told.scene);
    assert_eq!((dialog(&told), remark(&told)), (Dialog::None, Remark::Copied));
    told.answer(&stage);
    told.say(event::Body::Gift(gift()));
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::Gift);
    tap(&stage, &told, "No, thank you");
    let declined = control::AnswerGift { gift_id: "1".into(), keep: false };
    assert_eq!(asked(&stage, &mut told), [request::Body::AnswerGift(declined)]);
    told.say(event::Body::GiftGone(control::Gone { id: "1".into() }));
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::None);
}

/// The requests for a backup since the last call.
fn saves(told: &mut Told) -> Vec<control::Request> {
    let asked = told.asked().into_iter();
    asked.filter(|one| matches!(body(one), request::Body::SaveBackup(_))).collect()
}

#[test]
fn a_file_with_everything_is_written_once_its_passphrase_was_typed_twice() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.app.go(Page::Settings);
    told.answer(&stage);
    told.app.window().global::<BackupAdapter<'_>>().invoke_begin_save();
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::SaveAll);
    let path = told.app.window().global::<BackupAdapter<'_>>().get_path();
    assert!(path.ends_with(".qiyou-backup"), "{path}");
    let add = |told: &Told, field: &str, words: &str| {
        tap(&stage, told, field);
        told.scene.key(Key::End);
        for letter in words.chars() {
            told.scene.key(letter);
        }
        stage.settle(&told.scene);
    };
    for (field, words) in [("Passphrase", "correct-horse"), ("The passphrase again", "correct-")] {
        add(&told, field, words);
        tap(&stage, &told, "Save");
        assert_eq!(saves(&mut told), [], "it was not typed twice: {field}");
    }
    assert!(says(&told, "The two don't match yet."), "{:?}", names(&told));
    add(&told, "The passphrase again", "horse");
    tap(&stage, &told, "Save");
    told.app.window().global::<BackupAdapter<'_>>().invoke_save("correct-horse".into());
    let saves = saves(&mut told);
    assert_eq!(saves.len(), 1, "once is enough");
    let save = control::SaveBackup { path: path.into(), passphrase: "correct-horse".into() };
    assert_eq!(body(&saves[0]), &request::Body::SaveBackup(save));
    for (permille, done) in [(0, 0), (730, 73), (7_000, 100)] {
        told.say(event::Body::WorkProgress(control::WorkProgress { permille }));
        stage.settle(&told.scene);
        let shown = told.app.window().global::<BackupAdapter<'_>>().get_done();
        assert_eq!((shown * 100.0).round() as i32, done, "{permille}");
    }
    let reason = control::Words { zh: "磁盘满了。".into(), en: "The disk is full.".into() };
    let refusal = control::Refusal { reason: Some(reason), ..Default::default() };
    told.reply(saves[0].id, reply::Body::Refusal(refusal));
    stage.settle(&told.scene);
    assert!(dialog(&told) == Dialog::SaveAll && says(&told, "The disk is full."));
    told.app.window().global::<BackupAdapter<'_>>().invoke_save("correct-horse".into());
    let again = told.asked();
    told.reply(again[0].id, reply::Body::Done(control::Done {}));
    stage.settle(&told.scene);
    assert_eq!((dialog(&told), remark(&told)), (Dialog::None, Remark::SavedFile));
}

#[test]
fn a_backup_is_stopped_by_cancelling_its_dialog_and_what_was_done_already_is_told() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.app.go(Page::Settings);
    told.answer(&stage);
    let backup = |told: &Told| {
        let dialog = told.app.window().global::<BackupAdapter<'_>>();
        dialog.invoke_begin_save();
        dialog.invoke_save("correct horse".into());
    };
    let stops = |asked: &[control::Request]| {
        asked.iter().filter(|one| matches!(body(one), request::Body::StopWork(_))).count()
    };
    // Stopped.
    backup(&told);
    stage.settle(&told.scene);
    let saving = told.asked();
    tap(&stage, &told, "Cancel");
    assert_eq!((stops(&told.asked()), dialog(&told)), (1, Dialog::None));
    let stopped =
        control::Refusal { code: control::RefusalCode::RefusalStopped.into(), ..Default::default() };
    told.reply(saving[0].id, reply::Body::Refusal(stopped));
    stage.settle(&told.scene);
    assert_eq!((dialog(&told), remark(&told)), (Dialog::None, Remark::None));
    // Stopped too late.
    backup(&told);
    stage.settle(&told.scene);
    let saving = told.asked();
    tap(&stage, &told, "Cancel");
    told.reply(saving[0].id, reply::Body::Done(control::Done {}));
    stage.settle(&told.scene);
    assert_eq!((dialog(&told), remark(&told)), (Dialog::None, Remark::SavedFile));
    // Without work there is nothing to stop.
    told.asked();
    told.app.window().global::<BackupAdapter<'_>>().invoke_begin_save();
    stage.settle(&told.scene);
    tap(&stage, &told, "Cancel");
    assert_eq!(stops(&told.asked()), 0);
}

#[test]
fn keys_leave_a_line_of_text_and_a_board_of_lights_that_is_seen_in_part() {
    let stage = Stage::new();
    let mut told = started(&stage);
    told.app.window().global::<qiyou::screens::HomeAdapter<'_>>().invoke_open_records();
    told.answer(&stage);
    stage.settle(&told.scene);
    let ring = || {
        let rings = ElementQuery::from_root(told.app.window()).match_type_name("FocusRing").find_all();
        rings.first().map(|ring| {
            let at = ring.absolute_position();
            (at.x.round() as i32, at.y.round() as i32)
        })
    };
    let line = ElementQuery::from_root(told.app.window())
        .match_accessible_role(AccessibleRole::TextInput)
        .find_first()
        .expect("the search for an opponent")
        .absolute_position();
    // The ring is around the field, in which the text begins a little to the right.
    let field = Some((line.x.round() as i32 - 12, line.y.round() as i32));
    let mut places = Vec::new();
    for _ in 0..6 {
        told.scene.key(Key::DownArrow);
        stage.settle(&told.scene);
        places.push(ring());
    }
    places.dedup();
    assert!(places.len() >= 5, "each press goes on: {places:?}");
    let at = places.iter().position(|place| *place == field).expect("the line of text is come to");
    assert!(at + 1 < places.len(), "and left: {places:?}");

    let mut told = started(&stage);
    told.say(event::Body::Room(games::alone(&games::lights("100", "60"))));
    stage.pass(Duration::ZERO);
    told.app.open_room("room");
    told.answer(&stage);
    stage.settle(&told.scene);
    told.scene.key(Key::UpArrow);
    stage.settle(&told.scene);
    // Top and foot of the first element of this kind.
    let seen = |kind: &str| {
        let all = ElementQuery::from_root(told.app.window()).match_inherits(kind).find_all();
        let first = all.first().unwrap_or_else(|| panic!("a {kind} is seen: {:?}", names(&told)));
        let top = first.absolute_position().y;
        (top, top + first.size().height)
    };
    let on_board = || {
        let (board, ring) = (seen("BoardView"), seen("FocusRing"));
        ring.0 < board.0 + 8.0 && ring.1 > board.1 - 8.0
    };
    assert!(on_board(), "the first arrow comes to the board");
    // Sixty rows are not as many as these presses: the cursor comes to the end of the board, and then leaves it.
    let mut presses = 0;
    while on_board() && presses < 80 {
        told.scene.key(Key::DownArrow);
        stage.settle(&told.scene);
        presses += 1;
    }
    let board = told.app.window().global::<BoardAdapter<'_>>();
    let first = board.get_points().row_data(0).expect("a lamp").name;
    assert_eq!(first, "A20", "the lowest rows are seen: {}", board.get_seen_part());
    assert!(seen("FocusRing").0 > seen("BoardView").1 - 8.0, "what is below the board has the focus");
    assert!(presses > 10, "{presses}");
}
