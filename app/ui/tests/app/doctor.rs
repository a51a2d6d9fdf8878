//! "Check this device": what the host finds, and what helps.

use std::time::Duration;

use proto::control::{CheckState, RadioState};
use qiyou::headless::Stage;
use qiyou::screens::{Dialog, DoctorAdapter, Page};
use slint::{ComponentHandle, Model};

use crate::support::doctor::{found, in_flight_mode};
use crate::support::{SIZES, Told, radio};
use crate::touches::{dialog, names, says, tap};

fn subjects(told: &Told) -> Vec<String> {
    told.app
        .window()
        .global::<DoctorAdapter<'_>>()
        .get_checks()
        .iter()
        .map(|row| row.subject.into())
        .collect()
}

#[test]
fn the_worst_finding_comes_first_with_what_helps() {
    let stage = Stage::new();
    let mut told = Told::new(&stage, SIZES[0]);
    told.app.go(Page::Settings);
    stage.settle(&told.scene);
    told.app.window().global::<DoctorAdapter<'_>>().invoke_open();
    stage.settle(&told.scene);
    assert_eq!(dialog(&told), Dialog::Doctor);
    assert!(says(&told, "Checking…"), "{:?}", names(&told));
    assert_eq!(found(&stage, &mut told, &in_flight_mode()), 1);
    stage.settle(&told.scene);
    assert_eq!(subjects(&told), ["rfkill", "privacy", "storage", "bluez", "network"]);
    assert!(says(&told, "2 problems found."), "{:?}", names(&told));
    assert!(says(&told, "Flight mode and wireless switch: doesn't work"), "{:?}", names(&told));
    assert!(says(&told, "Leave flight mode, or turn the wireless switch on."), "{:?}", names(&told));
    assert!(says(&told, "→ leave flight mode, or: rfkill unblock bluetooth"), "{:?}", names(&told));
    assert!(says(&told, "Saved games: all right"));
}

#[test]
fn a_device_is_examined_again_when_its_person_has_done_something_and_not_twice_at_once() {
    let stage = Stage::new();
    let mut told = Told::new(&stage, SIZES[0]);
    told.app.go(Page::Settings);
    let doctor = || told.app.window().global::<DoctorAdapter<'_>>();
    doctor().invoke_open();
    doctor().invoke_again();
    assert!(doctor().get_busy());
    assert_eq!(found(&stage, &mut told, &in_flight_mode()), 1, "while it is asked, it is not asked again");
    stage.settle(&told.scene);
    tap(&stage, &told, "Check again");
    let mut well = in_flight_mode();
    for check in &mut well {
        check.state = CheckState::CheckOk.into();
    }
    assert_eq!(found(&stage, &mut told, &well), 1);
    stage.settle(&told.scene);
    assert!(says(&told, "Everything works."), "{:?}", names(&told));
    assert!(!says(&told, "→ leave flight mode, or: rfkill unblock bluetooth"));
}

#[test]
fn every_subject_of_the_host_has_words_for_players() {
    let stage = Stage::new();
    let told = Told::new(&stage, SIZES[0]);
    let doctor = told.app.window().global::<DoctorAdapter<'_>>();
    let known = [
        "storage",
        "power",
        "links",
        "bluez",
        "rfkill",
        "permission",
        "adapter",
        "roles",
        "advert_instances",
        "privacy",
        "device_name",
        "supervision",
        "discovery",
        "pairing",
        "network",
        "lan_port",
        "firewall",
        "guest_port",
        "account",
    ];
    for subject in known {
        assert_ne!(doctor.invoke_title(subject.into()), subject, "it has a title");
        // A port is never a problem.
        assert_eq!(doctor.invoke_advice(subject.into()).is_empty(), subject == "lan_port", "{subject}");
    }
    assert_eq!(doctor.invoke_title("of a later version".into()), "of a later version");
}

#[test]
fn who_finds_nobody_can_have_the_device_checked_from_there() {
    let stage = Stage::new();
    let mut told = Told::new(&stage, SIZES[0]);
    told.say(radio(RadioState::RadioReady));
    told.app.go(Page::Nearby);
    stage.pass(Duration::ZERO);
    stage.pass(Duration::from_secs(11));
    stage.settle(&told.scene);
    tap(&stage, &told, "Check this device");
    assert_eq!(dialog(&told), Dialog::Doctor);
    assert_eq!(found(&stage, &mut told, &in_flight_mode()), 1);
}
