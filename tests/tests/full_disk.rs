//! A disk that becomes full in the middle of a match with another device: a small in-memory file system, filled completely.
//!
//! The test runs itself again in its own user and mount namespace (`unshare`), so that it needs no root and leaves no
//! mounts. If the kernel does not allow the namespace, the test reports that it is skipped, which is an error in CI.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use proto::control::{NoticeKind, PeerLink, RefusalCode};
use tests::house::{Device, House, Seen, begin_match, connected, friends};

/// Mount point of the small file system, for the test within the namespace.
const SMALL: &str = "QIYOU_TEST_SMALL_DISK";
const NAME: &str = "play_stops_while_the_disk_is_full_and_goes_on_when_there_is_room";

#[test]
fn play_stops_while_the_disk_is_full_and_goes_on_when_there_is_room() {
    if let Some(small) = std::env::var_os(SMALL) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        return runtime.expect("a runtime").block_on(on_a_small_disk(Path::new(&small)));
    }
    let directory = tempfile::tempdir().expect("a directory");
    let within = |line: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", line, "sh"]);
        command.arg(directory.path()).env(SMALL, directory.path());
        command
    };
    let mount = "mount -t tmpfs -o size=2m none \"$1\"";
    if !within(mount).status().is_ok_and(|status| status.success()) {
        return tests::skip("a full disk", "no file system can be mounted here (unshare)");
    }
    let exe = std::env::current_exe().expect("a test is a program");
    let mut again = within(&format!("{mount} && exec \"$2\" --exact {NAME} --nocapture"));
    assert!(again.arg(exe).status().expect("it runs").success(), "see above");
}

/// Fills the free space of a file system.
struct Filler(PathBuf);

impl Filler {
    fn fill(disk: &Path) -> Self {
        let path = disk.join("filler");
        let mut file = std::fs::File::create(&path).expect("made");
        while file.write_all(&[0x5A; 4096]).is_ok() {}
        Self(path)
    }

    fn make_room(self) {
        std::fs::remove_file(self.0).expect("removed");
    }
}

async fn both_hold(anna: &mut Device, ben: &mut Device, actions: &[&str]) {
    for device in [&mut *anna, &mut *ben] {
        device.client.until("the record", |seen| seen.record() == actions).await;
        let all = |seen: &Seen| seen.room().is_some_and(|room| room.seen_ply as usize == actions.len());
        device.client.until("acknowledged", all).await;
    }
    assert_eq!(anna.record(), ben.record());
}

async fn on_a_small_disk(disk: &Path) {
    let mut house = House::new(400);
    let mut anna = house.device_with("Anna", |config| config.data_dir = disk.join("Anna")).await;
    let mut ben = house.device("Ben").await;
    friends(&mut anna, &mut ben).await;
    begin_match(&mut anna, &mut ben).await;
    anna.client.play("h8").await.expect("played");
    both_hold(&mut anna, &mut ben, &["h8"]).await;

    // The peer's action cannot be written: it is not acknowledged, and the user is told.
    let filler = Filler::fill(disk);
    ben.client.play("i9").await.expect("his disk has room");
    let told = |seen: &Seen| seen.notices.iter().any(|one| one.kind() == NoticeKind::NoticeDiskFull);
    anna.client.until("a person is told", told).await;
    ben.client.until("Ben waits", |seen| !seen.link_is(PeerLink::Up)).await;
    assert_eq!(anna.client.seen.record(), ["h8"], "what is not kept is not shown");
    let seen_ply = ben.client.seen.room().expect("one room").seen_ply;
    assert_eq!(seen_ply, 1, "what is not kept is not acknowledged");
    filler.make_room();
    both_hold(&mut anna, &mut ben, &["h8", "i9"]).await;

    // A local action is refused too.
    connected(&mut anna, &mut ben).await;
    let filler = Filler::fill(disk);
    let refused = anna.client.play("j8").await.expect_err("not saved, so not played");
    assert_eq!(refused.code(), RefusalCode::RefusalDisk);
    assert_eq!(anna.client.seen.record(), ["h8", "i9"]);
    filler.make_room();
    connected(&mut anna, &mut ben).await;
    anna.client.play("j8").await.expect("played");
    both_hold(&mut anna, &mut ben, &["h8", "i9", "j8"]).await;

    // Killed while the disk is full, and restarted when there is space.
    anna.client.seen.notices.clear();
    let filler = Filler::fill(disk);
    ben.client.play("g7").await.expect("his disk has room");
    anna.client.until("a person is told", told).await;
    ben.client.until("Ben waits", |seen| !seen.link_is(PeerLink::Up)).await;
    assert_eq!(anna.client.seen.record(), ["h8", "i9", "j8"], "what is not kept is not shown");
    anna.kill().await;
    filler.make_room();
    anna.start().await;
    both_hold(&mut anna, &mut ben, &["h8", "i9", "j8", "g7"]).await;
}
