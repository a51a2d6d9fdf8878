//! The field test by touch: what each person is told, and the report.

use proto::control::{self, ComparisonEnd, PeerLink, RadioState, event, request};
use qiyou::headless::Stage;
use qiyou::screens::{Dialog, FieldTestAdapter, Page};
use slint::ComponentHandle;

use crate::support::field_test::{examined, field_match, leads, walks};
use crate::support::{SIZES, Told, body, radio};
use crate::touches::{dialog, names, says, tap};

fn at_settings(stage: &Stage) -> Told {
    let mut told = Told::new(stage, SIZES[0]);
    told.say(radio(RadioState::RadioReady));
    told.app.go(Page::Settings);
    stage.settle(&told.scene);
    told.asked();
    told
}

fn bodies(stage: &Stage, told: &mut Told) -> Vec<request::Body> {
    told.answer(stage).iter().map(|request| body(request).clone()).collect()
}

#[test]
fn who_leads_is_told_each_step_and_gets_a_report_without_names() {
    let stage = Stage::new();
    let mut told = at_settings(&stage);
    let folder = tempfile::tempdir().expect("a folder for the test");
    told.app.keep_files_in(folder.path());
    leads(&stage, &mut told);
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::FieldTest);
    assert!(says(&told, "The devices play by themselves. Leave them side by side."), "{:?}", names(&told));
    walks(&stage, &mut told);
    stage.settle(&told.scene);
    assert!(says(&told, "A move arrives and is confirmed after: 52 ms"), "{:?}", names(&told));
    assert!(
        says(&told, "One of you: take a device and walk until the connection drops. Both screens say so."),
        "{:?}",
        names(&told)
    );
    field_match(&told, 22, true, PeerLink::Lost);
    stage.settle(&told.scene);
    tap(&stage, &told, "Back again");
    field_match(&told, 22, true, PeerLink::Up);
    stage.settle(&told.scene);
    assert!(
        names(&told).iter().any(|name| name.starts_with("Back in range, it goes on after: ")),
        "{:?}",
        names(&told)
    );
    tap(&stage, &told, "Stop");
    let asked = bodies(&stage, &mut told);
    let resigns =
        |body: &request::Body| matches!(body, request::Body::Resign(resign) if resign.room_id == "field");
    assert!(asked.iter().any(resigns), "{asked:?}");
    assert!(says(&told, "You stopped the test."), "{:?}", names(&told));
    let report = std::fs::read_to_string(folder.path().join("qiyou-field-test.md")).expect("a report");
    assert!(report.contains("this device: leads\n") && report.contains("echo p50: 52 ms\n"), "{report}");
    assert!(report.contains("out of range: play went on "), "{report}");
    assert!(report.contains("trouble: the test was stopped\n"), "{report}");
    for name in ["Librem 5", "Steam Deck"] {
        assert!(!report.contains(name), "{report}");
    }
    tap(&stage, &told, "Once more");
    assert!(says(&told, "Start with Librem 5"), "{:?}", names(&told));
}

#[test]
fn who_follows_accepts_answers_and_is_told_of_a_lost_connection() {
    let stage = Stage::new();
    let mut told = at_settings(&stage);
    let folder = tempfile::tempdir().expect("a folder for the test");
    told.app.keep_files_in(folder.path());
    told.app.window().global::<FieldTestAdapter<'_>>().invoke_open();
    stage.settle(&told.scene);
    tap(&stage, &told, "Wait for the other device");
    examined(&stage, &mut told);
    assert!(says(&told, "Waiting. On the other device, choose this one…"), "{:?}", names(&told));
    told.say(event::Body::Invitation(control::Invitation {
        invite_id: "field".into(),
        peer: "a".into(),
        name: "Librem 5".into(),
        expires_ms: 60_000,
        ..Default::default()
    }));
    let asked = bodies(&stage, &mut told);
    let accepts = |body: &request::Body| matches!(body, request::Body::AnswerInvite(answer) if answer.accept);
    assert!(asked.iter().any(accepts), "{asked:?}");
    told.say(event::Body::InvitationGone(control::InvitationGone {
        invite_id: "field".into(),
        ..Default::default()
    }));
    field_match(&told, 1, true, PeerLink::Up);
    let asked = bodies(&stage, &mut told);
    let answers = |body: &request::Body| matches!(body, request::Body::Act(act) if act.notation == "b1");
    assert!(asked.iter().any(answers), "{asked:?}");
    field_match(&told, 2, false, PeerLink::Lost);
    stage.settle(&told.scene);
    let words = "The connection has dropped. The other screen says what to do.";
    assert!(says(&told, words), "{:?}", names(&told));
    // The other device ends it.
    told.say(event::Body::RoomGone(control::Gone { id: "field".into() }));
    stage.settle(&told.scene);
    assert!(says(&told, "Done. Thank you!"), "{:?}", names(&told));
}

#[test]
fn pictures_that_differ_end_the_test_with_a_sentence() {
    let stage = Stage::new();
    let mut told = at_settings(&stage);
    let folder = tempfile::tempdir().expect("a folder for the test");
    told.app.keep_files_in(folder.path());
    told.app.window().global::<FieldTestAdapter<'_>>().invoke_open();
    told.app.window().global::<FieldTestAdapter<'_>>().invoke_follow();
    examined(&stage, &mut told);
    told.say(event::Body::ComparisonGone(control::ComparisonGone {
        id: "key".into(),
        end: ComparisonEnd::ComparisonDifferent.into(),
    }));
    stage.settle(&told.scene);
    assert!(says(&told, "The pictures weren't the same."), "{:?}", names(&told));
}

#[test]
fn the_host_looks_for_devices_while_one_is_chosen_and_no_longer() {
    let stage = Stage::new();
    let mut told = at_settings(&stage);
    let scans = |asked: Vec<request::Body>| -> Vec<bool> {
        let each = asked.into_iter().filter_map(|body| match body {
            request::Body::Scan(scan) => Some(scan.on),
            _ => None,
        });
        each.collect()
    };
    told.app.window().global::<FieldTestAdapter<'_>>().invoke_open();
    assert_eq!(scans(bodies(&stage, &mut told)), [true]);
    stage.settle(&told.scene);
    tap(&stage, &told, "Close");
    told.say(radio(RadioState::RadioReady));
    assert_eq!(scans(bodies(&stage, &mut told)), [false]);
    // The page of people nearby goes on looking.
    told.app.go(Page::Nearby);
    assert_eq!(scans(bodies(&stage, &mut told)), [true]);
    told.app.window().global::<FieldTestAdapter<'_>>().invoke_open();
    stage.settle(&told.scene);
    tap(&stage, &told, "Close");
    told.say(radio(RadioState::RadioReady));
    assert_eq!(scans(bodies(&stage, &mut told)), [] as [bool; 0]);
}
