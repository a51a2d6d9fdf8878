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
    let (said, report) = (String::from_utf8_lossy(&child.stderr), String::from_utf8_lossy(&child.stdout));
    assert!(child.status.success(), "{said}");
    assert!(report.contains("1 passed"), "{report}");
    assert_eq!(said, "");
}

/// Waits until so many threads of this process serve players.
#[cfg(all(target_os = "linux", feature = "sound"))]
fn until_sound_threads_are(count: usize) {
    let begun = std::time::Instant::now();
    loop {
        let tasks = std::fs::read_dir("/proc/self/task").expect("proc(5)").flatten();
        let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
        let found = names.filter(|name| name == "sound\n").count();
        if found == count {
            return;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "{found} threads instead of {count}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// They are not looked at here.
#[cfg(not(all(target_os = "linux", feature = "sound")))]
fn until_sound_threads_are(_count: usize) {}

#[test]
fn a_player_that_is_dropped_ends_its_thread_and_asking_never_waits() {
    let (done, ended) = channel();
    let asking = std::thread::spawn(move || {
        let players: Vec<Player> = (0..50).map(Player::new).collect();
        for player in &players {
            for _ in 0..1_000 {
                // Both are silent, and the second is sent to the thread all the same.
                player.play(Cue::Stone, 0);
                player.music(0);
            }
        }
        done.send(players).expect("the test waits");
    });
    let players = ended.recv_timeout(Duration::from_mins(1)).expect("nothing was waited for");
    asking.join().expect("no panic");
    until_sound_threads_are(players.len());
    drop(players);
    until_sound_threads_are(0);
}
