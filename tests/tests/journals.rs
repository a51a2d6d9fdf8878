//! Two journals that differ: a restored older one, a deleted one, a device that started anew, a disk that
//! cannot be written. Each case ends in a consistent match, or in a choice that the users are shown.

use std::path::Path;

use proto::control::{self, NoticeKind, PeerLink, RefusalCode, request};
use tests::house::{Device, House, Seen, begin_match, connected, pair};

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("made");
    for entry in std::fs::read_dir(from).expect("read") {
        let entry = entry.expect("read");
        std::fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
    }
}

/// A copy of a device's data, made while it is off.
struct Backup(tempfile::TempDir);

impl Backup {
    async fn of(device: &mut Device) -> Self {
        device.kill().await;
        let backup = Self(tempfile::tempdir().expect("a directory"));
        copy(device.directory(), backup.0.path());
        device.start().await;
        backup
    }

    async fn restore(&self, device: &mut Device) {
        device.kill().await;
        std::fs::remove_dir_all(device.directory()).expect("removed");
        copy(self.0.path(), device.directory());
        device.start().await;
    }
}

/// Plays these moves in turn, `one` first.
async fn play(one: &mut Device, other: &mut Device, actions: &[&str]) {
    for (number, action) in actions.iter().enumerate() {
        let (mover, waiter) =
            if number % 2 == 0 { (&mut *one, &mut *other) } else { (&mut *other, &mut *one) };
        mover.client.play(action).await.expect("played");
        waiter.client.until(action, |seen| seen.record().last().is_some_and(|last| last == action)).await;
    }
    // Wait for acknowledgements, so that nothing is in flight.
    let all = |seen: &Seen| seen.room().is_some_and(|room| room.seen_ply as usize == room.record.len());
    one.client.until("acknowledged", all).await;
    other.client.until("acknowledged", all).await;
}

fn differs(seen: &Seen) -> bool {
    seen.room().is_some_and(|room| room.differs)
}

#[tokio::test(start_paused = true)]
async fn a_backup_that_lacks_only_the_peers_moves_is_healed_unseen() {
    let mut house = House::new(90);
    let (mut anna, mut ben) = pair(&mut house).await;
    begin_match(&mut anna, &mut ben).await;
    play(&mut anna, &mut ben, &["h8", "i9", "j8"]).await;
    let backup = Backup::of(&mut anna).await;
    connected(&mut anna, &mut ben).await;
    play(&mut ben, &mut anna, &["g7"]).await;
    backup.restore(&mut anna).await;
    anna.client.until("g7 again", |seen| seen.record() == ["h8", "i9", "j8", "g7"]).await;
    connected(&mut anna, &mut ben).await;
    play(&mut anna, &mut ben, &["k8"]).await;
    for device in [&anna, &ben] {
        let differ = |notice: &control::Notice| notice.kind() == NoticeKind::NoticeRecordsDiffer;
        assert!(!device.client.seen.notices.iter().any(differ), "nobody was asked anything");
    }
    assert_eq!(anna.record(), ben.record());
}

#[tokio::test(start_paused = true)]
async fn a_backup_that_lacks_own_moves_is_shown_to_both_and_either_may_give_way() {
    for gives_way in 0..2 {
        let mut house = House::new(92 + gives_way);
        let (mut anna, mut ben) = pair(&mut house).await;
        begin_match(&mut anna, &mut ben).await;
        play(&mut anna, &mut ben, &["h8", "i9"]).await;
        let backup = Backup::of(&mut anna).await;
        connected(&mut anna, &mut ben).await;
        play(&mut anna, &mut ben, &["j8", "g7"]).await;
        backup.restore(&mut anna).await;
        for device in [&mut anna, &mut ben] {
            device.client.until("the records differ", differs).await;
            let told = |seen: &Seen| {
                seen.notices.iter().any(|notice| notice.kind() == NoticeKind::NoticeRecordsDiffer)
            };
            device.client.until("a person is told", told).await;
            device.client.play("a1").await.expect_err("play stands still");
        }
        let (device, left) = if gives_way == 0 { (&mut anna, 4) } else { (&mut ben, 2) };
        let room_id = device.client.seen.room().expect("one room").id.clone();
        device.client.done(request::Body::TakeTheirs(control::TakeTheirs { room_id })).await;
        for device in [&mut anna, &mut ben] {
            device.client.until("level", |seen| !differs(seen) && seen.record().len() == left).await;
        }
        play(&mut anna, &mut ben, &["k8", "k9"]).await;
        assert_eq!(anna.record(), ben.record());
    }
}

#[tokio::test(start_paused = true)]
async fn a_backup_from_before_the_match_asks_to_go_on_with_it() {
    let mut house = House::new(94);
    let (mut anna, mut ben) = pair(&mut house).await;
    let backup = Backup::of(&mut anna).await;
    let id = anna.client.find("Ben").await;
    anna.client.done(request::Body::Meet(control::Meet { peer: id })).await;
    anna.client.until("Ben", |seen| seen.friends.values().any(|friend| friend.connected)).await;
    begin_match(&mut anna, &mut ben).await;
    play(&mut anna, &mut ben, &["h8", "i9", "j8"]).await;
    backup.restore(&mut anna).await;
    assert!(anna.client.seen.rooms.is_empty());
    accept_the_only_invitation(&mut anna).await;
    anna.client.until("the match", |seen| seen.record() == ["h8", "i9", "j8"]).await;
    connected(&mut anna, &mut ben).await;
    play(&mut ben, &mut anna, &["g7", "k8"]).await;
    assert_eq!(anna.record(), ben.record());
}

async fn accept_the_only_invitation(device: &mut Device) {
    device.client.until("asked to go on", |seen| seen.invitations.iter().any(|one| !one.mine)).await;
    let invite_id = device.client.seen.invitations.first().expect("one").invite_id.clone();
    let answer = control::AnswerInvite { invite_id, accept: true, ..control::AnswerInvite::default() };
    device.client.done(request::Body::AnswerInvite(answer)).await;
}

#[tokio::test(start_paused = true)]
async fn a_friend_with_a_new_key_is_compared_again_and_the_match_goes_on_if_its_person_is_the_same() {
    let mut house = House::new(96);
    let (mut anna, mut ben) = pair(&mut house).await;
    begin_match(&mut anna, &mut ben).await;
    play(&mut anna, &mut ben, &["h8", "i9", "j8"]).await;
    let old = anna.client.seen.friends.keys().next().expect("Ben").clone();
    // Everything of the old installation is gone, the key too.
    ben.kill().await;
    std::fs::remove_dir_all(ben.directory()).expect("removed");
    ben.start().await;
    assert!(ben.client.seen.friends.is_empty() && ben.client.seen.rooms.is_empty());
    let id = ben.client.find("Anna").await;
    ben.client.done(request::Body::Meet(control::Meet { peer: id })).await;
    for device in [&mut anna, &mut ben] {
        device.client.until("a string", |seen| !seen.comparisons.is_empty()).await;
    }
    let shown = anna.client.seen.comparisons.first().expect("one").clone();
    assert!(shown.known_name_new_key, "Anna is warned: the name is a friend's, the key is not");
    assert_ne!(shown.peer, old);
    for device in [&mut anna, &mut ben] {
        let peer = device.client.seen.comparisons.first().expect("one").peer.clone();
        device.client.done(request::Body::Compare(control::Compare { peer, same: true })).await;
    }
    anna.client.until("two friends of one name", |seen| seen.friends.len() == 2).await;
    // Anna confirms that it is the same person.
    let same = control::SamePerson { old: old.clone(), new: shown.peer.clone() };
    anna.client.done(request::Body::SamePerson(same)).await;
    anna.client.until("one Ben", |seen| seen.friends.keys().eq([&shown.peer])).await;
    accept_the_only_invitation(&mut ben).await;
    ben.client.until("the match", |seen| seen.record() == ["h8", "i9", "j8"]).await;
    connected(&mut anna, &mut ben).await;
    play(&mut ben, &mut anna, &["g7", "k8"]).await;
    assert_eq!(anna.record(), ben.record());
    // A restart loads all of it again.
    anna.kill().await;
    anna.start().await;
    connected(&mut anna, &mut ben).await;
    play(&mut ben, &mut anna, &["g9"]).await;
}

#[tokio::test(start_paused = true)]
async fn several_unfinished_matches_with_one_friend_all_go_on_after_a_restart() {
    let mut house = House::new(98);
    let (mut anna, mut ben) = pair(&mut house).await;
    let mut rooms = Vec::new();
    for number in 0..3 {
        let peer = anna.client.seen.friends.keys().next().expect("Ben").clone();
        let invite = control::Invite { peer, my_side: 1, ..control::Invite::default() };
        anna.client.ask(request::Body::Invite(invite)).await.expect("invited");
        accept_the_only_invitation(&mut ben).await;
        for device in [&mut anna, &mut ben] {
            device.client.until("a room more", |seen| seen.rooms.len() == number + 1).await;
        }
        let new = anna.client.seen.rooms.keys().find(|id| !rooms.contains(*id)).expect("one").clone();
        rooms.push(new);
    }
    anna.kill().await;
    ben.kill().await;
    anna.start().await;
    ben.start().await;
    for (number, room_id) in rooms.into_iter().enumerate() {
        let action = ["h8", "i9", "j10"][number];
        let act = control::Act { room_id: room_id.clone(), action: None, notation: action.into() };
        anna.client.ask(request::Body::Act(act)).await.expect("played");
        ben.client.until(action, |seen| seen.rooms[&room_id].record == [action]).await;
    }
    assert_eq!(anna.record(), ben.record());
    assert_eq!(anna.record().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_journal_that_cannot_be_written_stops_play_with_a_word_and_loses_nothing() {
    let mut house = House::new(100);
    let (mut anna, mut ben) = pair(&mut house).await;
    begin_match(&mut anna, &mut ben).await;
    play(&mut anna, &mut ben, &["h8", "i9"]).await;
    // Another process locks the database: nothing can be written, as on a full disk.
    let other = rusqlite::Connection::open(anna.directory().join(host::DATABASE)).expect("opens");
    other.execute_batch("BEGIN IMMEDIATE").expect("held");
    let refused = anna.client.play("j8").await.expect_err("not saved, so not played");
    assert_eq!(refused.code(), RefusalCode::RefusalDisk);
    let told = |seen: &Seen| seen.notices.iter().any(|one| one.kind() == NoticeKind::NoticeDiskFull);
    anna.client.until("a person is told", told).await;
    ben.client.until("Ben waits", |seen| !seen.link_is(PeerLink::Up)).await;
    assert_eq!(anna.client.seen.record(), ["h8", "i9"]);
    assert_eq!(ben.client.seen.record(), ["h8", "i9"]);
    other.execute_batch("ROLLBACK").expect("let go");
    connected(&mut anna, &mut ben).await;
    play(&mut anna, &mut ben, &["j8", "g7"]).await;
    assert_eq!(anna.record(), ben.record());
}

#[tokio::test(start_paused = true)]
async fn a_damaged_journal_is_set_aside_and_the_match_comes_back_from_the_peer() {
    let mut house = House::new(102);
    let (mut anna, mut ben) = pair(&mut house).await;
    begin_match(&mut anna, &mut ben).await;
    play(&mut anna, &mut ben, &["h8", "i9"]).await;
    anna.stop().await;
    let path = anna.directory().join(host::DATABASE);
    let whole = std::fs::read(&path).expect("read");
    std::fs::write(&path, vec![0x5A; whole.len()]).expect("written");
    anna.start().await;
    let told = |seen: &Seen| seen.notices.iter().any(|one| one.kind() == NoticeKind::NoticeSavesSetAside);
    anna.client.until("a person is told", told).await;
    assert!(anna.client.seen.friends.is_empty(), "nothing could be read");
    // The key is in a separate file: Ben still knows Anna, and she compares strings again.
    let id = anna.client.find("Ben").await;
    anna.client.done(request::Body::Meet(control::Meet { peer: id })).await;
    for device in [&mut anna, &mut ben] {
        device.client.until("a string", |seen| !seen.comparisons.is_empty()).await;
        let peer = device.client.seen.comparisons.first().expect("one").peer.clone();
        device.client.done(request::Body::Compare(control::Compare { peer, same: true })).await;
    }
    accept_the_only_invitation(&mut anna).await;
    anna.client.until("the match", |seen| seen.record() == ["h8", "i9"]).await;
    connected(&mut anna, &mut ben).await;
    play(&mut anna, &mut ben, &["j8"]).await;
    assert_eq!(anna.record(), ben.record());
}
