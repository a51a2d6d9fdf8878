//! What such a friend makes a person see and hear: rings, notices and strings to compare come a few times, those of a muted friend
//! never, and a new name that looks like another friend's always, once.

use std::time::Duration;

use bytes::Bytes;
use proto::board;
use proto::control::{self, NoticeKind, request};
use proto::peer::{self, ByeReason, Envelope, Hello, pair};
use sha2::{Digest, Sha256};

use super::{Scene, id, invite, rings};

/// Whatever he calls himself by now.
async fn mute_ben(scene: &mut Scene) {
    let ben = scene.anna.client.seen.friends.values().find(|friend| friend.name != "Carl").expect("a friend");
    let mute = control::SetMuted { peer: ben.id.clone(), muted: true };
    scene.anna.client.done(request::Body::SetMuted(mute)).await;
}

#[tokio::test(start_paused = true)]
async fn ten_invitations_a_second_ring_once() {
    let mut scene = Scene::new(114).await;
    let before = scene.anna.client.seen.ended.len();
    scene.say((1..=10).map(invite).collect()).await;
    let shown = &scene.anna.client.seen.invitations;
    assert!(shown.len() <= 1, "{} invitations are shown", shown.len());
    scene.anna.client.until("it goes with its device", |seen| seen.invitations.is_empty()).await;
    let rung = scene.anna.client.seen.ended.len() - before;
    assert_eq!(rung, 1, "{rung} rings");
    scene.check_undisturbed().await;
}

#[tokio::test(start_paused = true)]
async fn invitations_that_are_taken_back_at_once_ring_a_few_times_and_a_muted_friends_never() {
    let mut scene = Scene::new(126).await;
    let before = scene.anna.client.seen.ended.len();
    scene.say(rings(1, 45)).await;
    let rung = scene.anna.client.seen.ended.len();
    assert!((1..=6).contains(&(rung - before)), "{} rings", rung - before);
    mute_ben(&mut scene).await;
    tokio::time::sleep(Duration::from_mins(5)).await;
    scene.say(rings(50, 45)).await;
    assert_eq!(scene.anna.client.seen.ended.len(), rung, "a muted friend rings");
    scene.check_undisturbed().await;
}

/// What asks a friend to compare strings again.
fn compare_again(scene: &Scene) -> Vec<Envelope> {
    let nonce = [5; 32];
    let commitment = Bytes::copy_from_slice(&Sha256::digest(nonce));
    let step = |step| peer::Pair { step: Some(step) }.into();
    vec![
        Hello { wants_comparison: true, ..scene.hello() }.into(),
        step(pair::Step::Commitment(commitment)),
        step(pair::Step::Reveal(Bytes::copy_from_slice(&nonce))),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_friend_who_asks_for_a_comparison_again_and_again_is_shown_a_few_times_and_a_muted_one_never() {
    let mut scene = Scene::new(127).await;
    let ended = |scene: &Scene| scene.anna.client.seen.compared.len();
    for _ in 0..20 {
        let again = compare_again(&scene);
        scene.say_from_the_start(again).await;
    }
    // In 80 s: six at once, and one more each 20 s.
    let shown = ended(&scene);
    assert!((1..=10).contains(&shown), "{shown} strings were shown");
    mute_ben(&mut scene).await;
    tokio::time::sleep(Duration::from_mins(5)).await;
    for _ in 0..3 {
        let again = compare_again(&scene);
        scene.say_from_the_start(again).await;
    }
    assert_eq!(ended(&scene), shown, "a muted friend's string is shown");
    scene.check_undisturbed().await;
}

#[tokio::test(start_paused = true)]
async fn a_friend_of_another_version_who_calls_for_ever_is_told_a_few_times_and_a_muted_one_never() {
    let mut scene = Scene::new(128).await;
    let told = |scene: &Scene| {
        let notices = scene.anna.client.seen.notices.iter();
        notices.filter(|one| one.kind() == NoticeKind::NoticeUpdateNeeded).count()
    };
    let old = |scene: &Scene| vec![Hello { lowest_version: 0, highest_version: 0, ..scene.hello() }.into()];
    for _ in 0..40 {
        let hello = old(&scene);
        scene.say_from_the_start(hello).await;
    }
    let shown = told(&scene);
    assert!((1..=10).contains(&shown), "{shown} notices");
    mute_ben(&mut scene).await;
    tokio::time::sleep(Duration::from_mins(5)).await;
    let hello = old(&scene);
    scene.say_from_the_start(hello).await;
    assert_eq!(told(&scene), shown, "a muted friend rings");
    scene.check_undisturbed().await;
}

#[tokio::test(start_paused = true)]
async fn faults_and_new_names_of_a_friend_who_calls_for_ever_are_told_a_few_times_and_a_muted_ones_never() {
    let mut scene = Scene::new(130).await;
    let told = |scene: &Scene| {
        [NoticeKind::NoticePeerMisbehaved, NoticeKind::NoticeRenamed]
            .map(|kind| scene.anna.client.seen.notices.iter().filter(|one| one.kind() == kind).count())
    };
    scene.anna.client.seen.notices.clear();
    for number in 0..20 {
        let renamed = Hello { name: format!("Ben {number}"), ..scene.hello() };
        scene.say_from_the_start(vec![renamed.clone().into(), renamed.into()]).await;
    }
    // In less than two minutes: three at once, and one more each minute.
    let shown = told(&scene);
    assert!(shown.iter().all(|shown| (1..=5).contains(shown)), "{shown:?} notices");
    mute_ben(&mut scene).await;
    tokio::time::sleep(Duration::from_mins(5)).await;
    let hello = scene.hello();
    scene.say_from_the_start(vec![hello.clone().into(), hello.into()]).await;
    assert_eq!(told(&scene), shown, "a muted friend is noticed");
    scene.check_undisturbed().await;
}

/// The new names that Anna was told.
fn new_names(scene: &Scene) -> Vec<&str> {
    let notices = scene.anna.client.seen.notices.iter();
    notices.filter(|one| one.kind() == NoticeKind::NoticeRenamed).map(|one| one.detail.as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_new_name_is_told_after_any_number_of_other_notices() {
    let mut scene = Scene::new(136).await;
    for _ in 0..5 {
        let hello = scene.hello();
        let bye = peer::Bye { reason: ByeReason::ByeLeaving.into() };
        scene.say_from_the_start(vec![hello.into(), bye.into()]).await;
    }
    assert!(new_names(&scene).is_empty());
    let renamed = Hello { name: "Zoe".into(), ..scene.hello() };
    scene.say_from_the_start(vec![renamed.into()]).await;
    assert_eq!(new_names(&scene), ["Zoe"]);
    scene.check_undisturbed().await;
}

#[tokio::test(start_paused = true)]
async fn a_new_name_that_looks_like_another_friends_is_told_of_a_muted_friend_and_after_any_number_of_others()
{
    let mut scene = Scene::new(137).await;
    for number in 0..10 {
        let renamed = Hello { name: format!("Ben {number}"), ..scene.hello() };
        scene.say_from_the_start(vec![renamed.into()]).await;
    }
    let harmless = new_names(&scene).len();
    mute_ben(&mut scene).await;
    // Again and again: once is enough.
    for name in ["Carl", "Ben", "carl", "Ben", "C\u{430}rl"] {
        let renamed = Hello { name: name.into(), ..scene.hello() };
        scene.say_from_the_start(vec![renamed.into()]).await;
    }
    let told = new_names(&scene);
    assert_eq!(told.len(), harmless + 1, "{told:?}");
    assert!(told[harmless].starts_with("Carl ("), "{told:?}");
    scene.check_undisturbed().await;
}

#[tokio::test(start_paused = true)]
async fn a_first_name_is_told_only_if_it_looks_like_another_friends_and_no_name_is_told_as_nothing() {
    let mut scene = Scene::new(138).await;
    let ben = scene.anna.client.seen.friends.values().find(|friend| friend.name == "Ben").expect("a friend");
    let key = ben.id[..5].to_owned();
    for name in ["", "Zoe", "", "Carl"] {
        let named = Hello { name: name.into(), ..scene.hello() };
        scene.say_from_the_start(vec![named.into()]).await;
    }
    let told = scene.anna.client.seen.notices.iter().filter(|one| one.kind() == NoticeKind::NoticeRenamed);
    let told: Vec<(&str, &str)> = told.map(|one| (one.name.as_str(), one.detail.as_str())).collect();
    let (key, alike) = (key.as_str(), format!("Carl ({key})"));
    assert_eq!(told, [("Ben", key), ("Zoe", key), (key, alike.as_str())]);
    scene.check_undisturbed().await;
}

/// The record of the attacked match with another revision, and an acknowledgement that takes the difference back, repeatedly.
fn differences(scene: &Scene, count: u32) -> Vec<Envelope> {
    let room = &scene.anna.client.seen.rooms[&scene.attacked];
    let h8 = engine::Action::Place(engine::Point::new(7, 7));
    let record = peer::Record {
        match_id: id(&scene.attacked),
        setup: room.setup.clone(),
        sender_side: board::Side::Second.into(),
        revision: 1,
        actions: session::wire::pack_actions(&[h8]).into(),
        ..peer::Record::default()
    };
    let ack =
        peer::Ack { match_id: id(&scene.attacked), ply: 1, digest: scene.digest(), ..peer::Ack::default() };
    (0..count).flat_map(|_| [Envelope::from(record.clone()), ack.clone().into()]).collect()
}

#[tokio::test(start_paused = true)]
async fn records_that_differ_again_and_again_are_told_a_few_times_and_a_muted_friends_never() {
    let mut scene = Scene::new(135).await;
    let told = |scene: &Scene| {
        let notices = scene.anna.client.seen.notices.iter();
        notices.filter(|one| one.kind() == NoticeKind::NoticeRecordsDiffer).count()
    };
    let began = tokio::time::Instant::now();
    // A hundred, in bursts that no limit of frames ends.
    for _ in 0..10 {
        let pairs = differences(&scene, 10);
        let heard = scene.say(pairs).await;
        assert_eq!(heard.bye, None, "no offence");
    }
    let shown = told(&scene);
    // Three at once, then one a minute.
    let most = 3 + began.elapsed().as_secs() as usize / 60;
    assert!(most <= 5 && (1..=most).contains(&shown), "{shown} notices of at most {most}");
    mute_ben(&mut scene).await;
    tokio::time::sleep(Duration::from_mins(5)).await;
    let pairs = differences(&scene, 10);
    scene.say(pairs).await;
    assert_eq!(told(&scene), shown, "a muted friend is noticed");
    scene.check_undisturbed().await;
}
