//! Kept matches that friends show each other, and backups of a device.

use proto::control::{self, RefusalCode, reply, request};
use tests::house::{Client, Device, House, friends};

async fn import(client: &mut Client, text: &str) -> String {
    let file = control::Import { name: "a.sgf".into(), content: text.as_bytes().to_vec().into() };
    match client.ask(request::Body::Import(file)).await.expect("it is a game") {
        reply::Body::RoomId(id) => id,
        other => panic!("a match, not {other:?}"),
    }
}

async fn kept(client: &mut Client) -> Vec<control::MatchSummary> {
    match client.ask(request::Body::ListMatches(control::ListMatches::default())).await.expect("a list") {
        reply::Body::Matches(list) => list.matches,
        other => panic!("a list, not {other:?}"),
    }
}

async fn id_of_friend(device: &mut Device, name: &str) -> String {
    let mut id = String::new();
    device
        .client
        .until("the friend is connected", |seen| {
            let friend = seen.friends.values().find(|one| one.name == name && one.connected);
            friend.inspect(|one| id.clone_from(&one.id)).is_some()
        })
        .await;
    id
}

const GAME: &str = "(;GM[4]SZ[15]RE[B+R];B[hh];W[hg];B[ih];W[ig];B[gh])";

#[tokio::test(start_paused = true)]
async fn a_kept_match_is_shown_to_a_friend_who_keeps_it_or_not() {
    let mut house = House::new(90);
    let (mut anna, mut bert) = (house.device("Anna").await, house.device("Bert").await);
    friends(&mut anna, &mut bert).await;
    let room_id = import(&mut anna.client, GAME).await;
    let peer = id_of_friend(&mut anna, "Bert").await;
    let give = || request::Body::Give(control::Give { room_id: room_id.clone(), peer: peer.clone() });
    anna.client.done(give()).await;
    bert.client.until("a gift", |seen| seen.gifts.len() == 1).await;
    let gift = bert.client.seen.gifts[0].clone();
    assert_eq!(gift.name, "Anna");
    let shown = gift.r#match.expect("what it is");
    assert_eq!(shown.ply, 5);
    assert!(shown.board.is_some() && shown.result.is_some());
    assert!(kept(&mut bert.client).await.is_empty(), "nothing is kept before he says so");

    // A client that attaches later sees it too.
    bert.close_app();
    bert.open_app().await;
    bert.client.until("the gift again", |seen| seen.gifts.len() == 1).await;
    let answer = |keep| control::AnswerGift { gift_id: gift.gift_id.clone(), keep };
    let reply::Body::RoomId(new) =
        bert.client.ask(request::Body::AnswerGift(answer(true))).await.expect("kept")
    else {
        panic!("a match")
    };
    bert.client.until("answered", |seen| seen.gifts.is_empty()).await;
    let (hers, his) = (kept(&mut anna.client).await, kept(&mut bert.client).await);
    assert_eq!((his.len(), his[0].room_id.as_str()), (1, new.as_str()));
    assert_eq!((his[0].digest, his[0].ply, his[0].result), (hers[0].digest, hers[0].ply, hers[0].result));
    assert_ne!(his[0].room_id, hers[0].room_id, "it is a match of his own");
    let again = bert.client.ask(request::Body::AnswerGift(answer(true))).await.expect_err("it is gone");
    assert_eq!(again.code(), RefusalCode::RefusalNoOffer);

    anna.client.done(give()).await;
    bert.client.until("another gift", |seen| seen.gifts.len() == 1).await;
    let gift_id = bert.client.seen.gifts[0].gift_id.clone();
    bert.client.done(request::Body::AnswerGift(control::AnswerGift { gift_id, keep: false })).await;
    assert_eq!(kept(&mut bert.client).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn only_so_many_gifts_wait_and_a_muted_friends_are_not_shown() {
    let mut house = House::new(91);
    let (mut anna, mut bert) = (house.device("Anna").await, house.device("Bert").await);
    friends(&mut anna, &mut bert).await;
    let room_id = import(&mut anna.client, GAME).await;
    let (peer, annas) = (id_of_friend(&mut anna, "Bert").await, id_of_friend(&mut bert, "Anna").await);
    let give = || request::Body::Give(control::Give { room_id: room_id.clone(), peer: peer.clone() });
    let mut refused = None;
    for _ in 0..12 {
        refused = refused.or(anna.client.ask(give()).await.err());
    }
    assert_eq!(refused.map(|refusal| refusal.code()), Some(RefusalCode::RefusalBusy), "too much at once");
    bert.client.until("eight of them", |seen| seen.gifts.len() == 8).await;
    bert.client.done(request::Body::SetMuted(control::SetMuted { peer: annas, muted: true })).await;
    for gift in bert.client.seen.gifts.clone() {
        let answer = control::AnswerGift { gift_id: gift.gift_id, keep: false };
        bert.client.done(request::Body::AnswerGift(answer)).await;
    }
    tokio::time::sleep(std::time::Duration::from_secs(11)).await;
    anna.client.done(give()).await;
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert!(kept(&mut bert.client).await.is_empty() && bert.client.seen.gifts.is_empty());
}

async fn save(device: &mut Device, path: &str, passphrase: &str) -> Result<reply::Body, control::Refusal> {
    let asked = control::SaveBackup { path: path.into(), passphrase: passphrase.into() };
    device.client.ask(request::Body::SaveBackup(asked)).await
}

async fn take(device: &mut Device, path: &str, passphrase: &str) -> Result<reply::Body, control::Refusal> {
    let asked = control::RestoreBackup { path: path.into(), passphrase: passphrase.into() };
    device.client.ask(request::Body::RestoreBackup(asked)).await
}

#[tokio::test]
async fn backups_that_are_asked_for_at_once_are_each_written_or_refused_as_too_many() {
    let mut house = House::new(93);
    let mut anna = house.device("Anna").await;
    let folder = tempfile::tempdir().expect("a folder for the test");
    let paths: Vec<_> = (0..4).map(|number| folder.path().join(number.to_string())).collect();
    let asked = paths.iter().map(|path| {
        let (path, passphrase) = (path.display().to_string(), "correct horse".into());
        request::Body::SaveBackup(control::SaveBackup { path, passphrase })
    });
    let answers = anna.client.ask_at_once(asked.collect()).await;
    assert!(answers[0].is_ok(), "{answers:?}");
    for (path, answer) in paths.iter().zip(answers) {
        assert_eq!(path.exists(), answer.is_ok());
        if let Err(refusal) = answer {
            assert_eq!(refusal.code(), RefusalCode::RefusalBusy);
        }
    }
}

#[tokio::test]
async fn a_pipe_and_a_folder_are_no_backups_and_are_not_waited_for() {
    let mut house = House::new(99);
    let mut anna = house.device("Anna").await;
    let folder = tempfile::tempdir().expect("a folder for the test");
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    for path in [pipe.as_path(), folder.path()] {
        let refusal =
            take(&mut anna, &path.display().to_string(), "correct horse").await.expect_err("no backup");
        let words = refusal.reason.expect("said in words");
        assert_eq!(words.en, "This is not a Qiyou backup.", "{}", path.display());
    }
}

/// Names in a folder.
fn names(folder: &std::path::Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| !name.ends_with("-wal") && !name.ends_with("-shm"))
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_backup_and_a_restoration_that_are_stopped_leave_nothing_and_can_be_begun_again() {
    let mut house = House::new(95);
    let mut anna = house.device("Anna").await;
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join("whole").display().to_string();
    save(&mut anna, &path, "correct horse").await.expect("written");
    let before = (names(folder.path()), names(anna.directory()));
    let (new, passphrase) = (folder.path().join("new").display().to_string(), "correct horse".to_owned());
    for body in [
        request::Body::SaveBackup(control::SaveBackup { path: new.clone(), passphrase: passphrase.clone() }),
        request::Body::RestoreBackup(control::RestoreBackup { path: path.clone(), passphrase }),
    ] {
        let work = anna.client.send(body.clone()).await;
        let stop = anna.client.send(request::Body::StopWork(control::StopWork {})).await;
        let answers = [anna.client.answer().await, anna.client.answer().await];
        for (number, answer) in answers {
            match answer {
                Ok(_) => assert_eq!(number, stop),
                Err(refusal) => assert_eq!((number, refusal.code()), (work, RefusalCode::RefusalStopped)),
            }
        }
        assert_eq!((names(folder.path()), names(anna.directory())), before, "{body:?}");
    }
    // A stop without work does nothing, not even to what comes after it.
    anna.client.done(request::Body::StopWork(control::StopWork {})).await;
    save(&mut anna, &new, "correct horse").await.expect("written");
    take(&mut anna, &new, "correct horse").await.expect("taken");
}

#[tokio::test]
async fn a_backup_and_a_restoration_tell_the_client_that_asked_how_far_they_are() {
    let mut house = House::new(98);
    let mut anna = house.device("Anna").await;
    let mut other = tests::house::Client::attach(anna.host().client()).await;
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join("whole").display().to_string();
    let mut parts = Vec::new();
    for body in [
        request::Body::SaveBackup(control::SaveBackup {
            path: path.clone(),
            passphrase: "correct horse".into(),
        }),
        request::Body::RestoreBackup(control::RestoreBackup { path, passphrase: "correct horse".into() }),
    ] {
        let began = anna.client.seen.progress.len();
        anna.client.ask(body).await.expect("done");
        parts.push(anna.client.seen.progress.split_off(began));
    }
    // The saves fit into one piece.
    assert_eq!(parts, [[300, 500, 1000], [300, 500, 900]]);
    other.done(request::Body::Scan(control::Scan { on: false })).await;
    assert!(other.seen.progress.is_empty(), "nobody else is told");
}

#[tokio::test]
async fn the_work_of_a_client_that_has_gone_is_stopped_and_another_clients_goes_on() {
    let mut house = House::new(96);
    let mut anna = house.device("Anna").await;
    let folder = tempfile::tempdir().expect("a folder for the test");
    let asked = |name: &str| {
        let (path, passphrase) = (folder.path().join(name).display().to_string(), "correct horse".into());
        request::Body::SaveBackup(control::SaveBackup { path, passphrase })
    };
    let mut other = tests::house::Client::attach(anna.host().client()).await;
    anna.client.send(asked("gone")).await;
    // The host has read the request once it has answered a later one.
    anna.client.done(request::Body::Scan(control::Scan { on: false })).await;
    anna.close_app();
    loop {
        match other.ask(asked("kept")).await {
            Ok(_) => break,
            Err(refusal) => assert_eq!(refusal.code(), RefusalCode::RefusalBusy),
        }
    }
    assert_eq!(names(folder.path()), ["kept"]);
}

#[tokio::test]
async fn an_import_that_is_stopped_is_not_kept() {
    let mut house = House::new(97);
    let mut anna = house.device("Anna").await;
    let mut matches = 0;
    let mut stopped = 0;
    // A stop can come after the file was read, though hardly each time.
    for number in 0..10 {
        let text =
            format!("(;GM[4]SZ[15]C[{number}]{})", ";C[a comment that takes a while to read]".repeat(13_000));
        let file = control::Import { name: "a.sgf".into(), content: text.into_bytes().into() };
        let work = anna.client.send(request::Body::Import(file)).await;
        anna.client.send(request::Body::StopWork(control::StopWork {})).await;
        let answers = [anna.client.answer().await, anna.client.answer().await];
        match answers.into_iter().find(|(number, _)| *number == work).expect("answered").1 {
            Err(refusal) => {
                assert_eq!(refusal.code(), RefusalCode::RefusalStopped);
                stopped += 1;
            }
            Ok(_) => matches += 1,
        }
        assert_eq!(kept(&mut anna.client).await.len(), matches);
    }
    assert!(stopped > 0, "each file was read to its end");
}

#[tokio::test]
async fn a_host_that_has_ended_leaves_its_directory_alone_even_in_the_middle_of_a_backup() {
    let mut house = House::new(94);
    let mut anna = house.device("Anna").await;
    let folder = tempfile::tempdir().expect("a folder for the test");
    for number in 0..3 {
        let paths = ["kept", "refused"].map(|name| folder.path().join(format!("{name} {number}")));
        for path in &paths {
            let (path, passphrase) = (path.display().to_string(), "correct horse".into());
            let asked = control::SaveBackup { path, passphrase };
            anna.client.send(request::Body::SaveBackup(asked)).await;
        }
        // An answer to either says that the first has begun.
        let _ = anna.client.answer().await;
        if number % 2 == 0 {
            anna.kill().await;
        } else {
            anna.stop().await;
        }
        assert!(paths[0].exists(), "nothing of it is still at work");
        std::fs::remove_dir_all(anna.directory()).expect("nobody writes into it");
        anna.start().await;
    }
}

#[tokio::test]
async fn a_device_goes_on_in_another_with_its_friends_and_matches_and_nothing_is_lost_there() {
    let mut house = House::new(92);
    let (mut anna, mut bert) = (house.device("Anna").await, house.device("Bert").await);
    friends(&mut anna, &mut bert).await;
    import(&mut anna.client, GAME).await;
    import(&mut anna.client, &format!("{GAME}\n")).await;
    let mut new = house.device("Handheld").await;
    import(&mut new.client, GAME).await;
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join("all.qiyou-backup").display().to_string();

    let short = save(&mut anna, &path, "short").await.expect_err("too easily guessed");
    assert!(short.reason.is_some_and(|words| words.en.contains('8')));
    save(&mut anna, &path, "correct horse").await.expect("written");
    let before = std::fs::read(&path).expect("the file");
    let over = save(&mut anna, &path, "correct horse").await.expect_err("nothing is written over");
    assert_eq!(over.code(), RefusalCode::RefusalDisk);
    assert_eq!(std::fs::read(&path).expect("the file"), before);
    assert!(!before.windows(4).any(|part| part == b"Bert"), "nothing of it is readable");

    let fingerprint = |device: &Device| device.client.seen.me.fingerprint.clone();
    let (annas, news) = (fingerprint(&anna), fingerprint(&new));
    let wrong = take(&mut new, &path, "battery staple").await.expect_err("wrong");
    assert!(wrong.reason.is_some_and(|words| words.en.contains("Wrong passphrase")));
    let damaged = folder.path().join("damaged.qiyou-backup").display().to_string();
    std::fs::write(&damaged, &before[..before.len() - 9]).expect("written");
    let damaged = take(&mut new, &damaged, "correct horse").await.expect_err("damaged");
    assert!(damaged.reason.is_some_and(|words| words.en.contains("damaged")));
    new.stop().await;
    new.start().await;
    assert_eq!(
        (fingerprint(&new), kept(&mut new.client).await.len()),
        (news.clone(), 1),
        "nothing has changed"
    );

    let reply::Body::Taken(taken) = take(&mut new, &path, "correct horse").await.expect("it opens") else {
        panic!("what it holds")
    };
    assert_eq!((taken.matches, taken.friends, taken.name.as_str()), (2, 1, "Anna"));
    assert_eq!(kept(&mut new.client).await.len(), 1, "before the next start all is as it was");
    anna.stop().await;
    new.kill().await;
    new.start().await;
    assert_eq!((fingerprint(&new), kept(&mut new.client).await.len()), (annas, 2));
    assert!(new.client.seen.friends.values().any(|friend| friend.name == "Bert"));

    // The replaced data directory is kept beside it, whole: a host can open it.
    let aside = new.directory().join("before-import-1");
    let old = link::identity::Identity::load(&aside.join("identity")).expect("readable").expect("there");
    assert_eq!(old.fingerprint(), news);
    assert!(aside.join("qiyou.db").exists());
}
