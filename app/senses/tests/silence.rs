//! A machine without a device is silent: it plays nothing and prints nothing.

use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Duration;

use senses::{Cue, Feel, LOUDEST, Motor, Player, pads};

const ASKED: &str = "QIYOU_SENSES_CHILD";

/// Runs only in the process of the test below.
#[test]
#[ignore = "the child of the test below"]
fn everything_is_tried_once() {
    if std::env::var_os(ASKED).is_none() {
        return;
    }
    let player = Player::new(1);
    for cue in Cue::ALL {
        player.play(cue, LOUDEST);
    }
    player.music(LOUDEST);
    let motor = Motor::find();
    motor.shake(Feel::Strong);
    pads::listen(|_| true);
    // Threads that search for devices would print the messages.
    std::thread::sleep(Duration::from_millis(1_500));
    player.music(0);
}

#[test]
fn what_is_missing_prints_nothing() {
    let child = Command::new(std::env::current_exe().expect("this test has a file"))
        .args(["everything_is_tried_once", "--exact", "--ignored", "--nocapture"])
        .env(ASKED, "1")
        .env("ALSA_CONFIG_PATH", "/nonexistent")
        .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
        .output()
        .expect("this test runs again");
    let said = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{said}");
    assert_eq!(said, "");
}

#[test]
fn a_player_that_is_dropped_ends_its_thread_and_asking_never_waits() {
    let (done, ended) = channel();
    std::thread::spawn(move || {
        for seed in 0..50 {
            let player = Player::new(seed);
            for _ in 0..1_000 {
                player.play(Cue::Stone, 0);
            }
        }
        done.send(()).expect("the test waits");
    });
    ended.recv_timeout(Duration::from_mins(1)).expect("nothing was waited for");
}
