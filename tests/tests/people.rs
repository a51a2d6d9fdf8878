//! Who can discover this device, and what a user decides about others.

use std::time::Duration;

use host::PlayerId;
use link::identity::Identity;
use link::secure::{self, ExpectedPeer, SecureError};
use link::{CarrierKind, CarrierState, Transport};
use proto::board::Game;
use proto::control::{self, PeerLink, RefusalCode, Unreached, Visibility, request};
use tests::house::{Device, House, begin_match, friends, pair};

fn block(peer: &str) -> request::Body {
    request::Body::Block(control::Block { peer: peer.into() })
}

fn meet(peer: &str) -> request::Body {
    request::Body::Meet(control::Meet { peer: peer.into() })
}

fn only_friend(device: &Device) -> control::Friend {
    device.client.seen.friends.values().next().expect("a friend").clone()
}

/// Scans for a while; returns the names that were seen.
async fn seen_around(device: &mut Device) -> Vec<String> {
    device.client.scan(true).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    device.client.scan(false).await;
    device.client.seen.nearby.values().map(|near| near.name.clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn who_is_blocked_is_refused_without_a_word_and_not_listed_over_restarts() {
    let mut house = House::new(60);
    let (mut anna, mut ben) = pair(&mut house).await;
    begin_match(&mut anna, &mut ben).await;
    let ben_id = only_friend(&anna).id;
    anna.client.done(block(&ben_id)).await;
    anna.client.until("Ben is gone", |seen| seen.friends.is_empty() && seen.rooms.is_empty()).await;
    assert_eq!(anna.client.seen.blocked[&ben_id].name, "Ben");
    for restarted in [false, true] {
        if restarted {
            anna.kill().await;
            anna.start().await;
        }
        assert!(anna.client.seen.blocked.contains_key(&ben_id));
        assert!(seen_around(&mut anna).await.is_empty(), "Ben is not listed");
        // Ben sees an Anna whom he does not recognise, and cannot connect to her.
        let id = ben.client.find("Anna").await;
        assert!(PlayerId::parse(&id).is_none(), "her tag is another now");
        ben.client.done(meet(&id)).await;
        let failed = |seen: &tests::house::Seen| {
            seen.connecting.get(&id).is_some_and(|one| one.state() == control::ConnectState::ConnectFailed)
        };
        ben.client.until("it came to nothing", failed).await;
        ben.client.seen.state.connecting.clear();
        anna.client.scan(false).await;
        let seen = &anna.client.seen;
        assert!(
            seen.comparisons.is_empty() && seen.invitations.is_empty() && seen.notices.iter().all(is_old)
        );
    }
}

/// Requests that could have been sent before the block.
fn is_old(notice: &control::Notice) -> bool {
    notice.kind() == control::NoticeKind::NoticeNewFriend
}

#[tokio::test(start_paused = true)]
async fn who_is_unblocked_may_ask_again_and_compares_again() {
    let mut house = House::new(61);
    let (mut anna, mut ben) = pair(&mut house).await;
    let peer = only_friend(&anna).id;
    anna.client.done(block(&peer)).await;
    // Ben's device must notice first: it forgets nothing by itself.
    let forget = control::Forget { peer: only_friend(&ben).id };
    ben.client.done(request::Body::Forget(forget)).await;
    anna.client.done(request::Body::Unblock(control::Unblock { peer: peer.clone() })).await;
    assert!(anna.client.seen.blocked.is_empty());
    friends(&mut ben, &mut anna).await;
    assert_eq!(only_friend(&anna).id, peer);
    let refused = anna.client.ask(request::Body::Unblock(control::Unblock { peer })).await;
    assert_eq!(refused.expect_err("nobody is").code(), RefusalCode::RefusalNoSuchPeer);
}

#[tokio::test(start_paused = true)]
async fn a_stranger_who_asks_can_be_blocked_instead_of_compared() {
    let mut house = House::new(62);
    let (mut anna, mut ben) = (house.device("Anna").await, house.device("Ben").await);
    let id = ben.client.find("Anna").await;
    ben.client.done(meet(&id)).await;
    anna.client.until("a string", |seen| !seen.comparisons.is_empty()).await;
    let peer = anna.client.seen.comparisons.first().expect("one").peer.clone();
    anna.client.done(block(&peer)).await;
    assert!(anna.client.seen.comparisons.is_empty());
    ben.client.until("it is over", |seen| seen.comparisons.is_empty()).await;
    ben.client.done(meet(&id)).await;
    let failed = |seen: &tests::house::Seen| {
        seen.connecting.get(&id).is_some_and(|one| one.state() == control::ConnectState::ConnectFailed)
    };
    ben.client.until("it came to nothing", failed).await;
    anna.client.scan(false).await;
    assert!(anna.client.seen.comparisons.is_empty(), "nothing rings");
}

#[tokio::test(start_paused = true)]
async fn a_stranger_who_was_met_and_blocked_is_not_listed_any_more() {
    let mut house = House::new(63);
    let (mut anna, mut ben) = (house.device("Anna").await, house.device("Ben").await);
    let id = anna.client.find("Ben").await;
    // Without an earlier connection no key is known to recognise the device by.
    let refused = anna.client.ask(block(&id)).await.expect_err("only an address");
    assert_eq!(refused.code(), RefusalCode::RefusalNoSuchPeer);
    anna.client.done(meet(&id)).await;
    ben.client.until("a string", |seen| !seen.comparisons.is_empty()).await;
    anna.client.until("a string", |seen| !seen.comparisons.is_empty()).await;
    anna.client.done(block(&id)).await;
    assert!(anna.client.seen.nearby.is_empty() && anna.client.seen.comparisons.is_empty());
    assert!(seen_around(&mut anna).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_note_about_a_friend_stays_when_the_friend_comes_and_goes() {
    let mut house = House::new(64);
    let (mut anna, mut ben) = pair(&mut house).await;
    let peer = only_friend(&anna).id;
    let note =
        |note: &str| request::Body::SetNote(control::SetNote { peer: peer.clone(), note: note.into() });
    anna.client.done(note(" 午休时下棋 ")).await;
    anna.client.until("noted", |seen| seen.friends[&peer].note == "午休时下棋").await;
    let refused = anna.client.ask(note("\u{202E}")).await;
    assert!(refused.is_err(), "{refused:?}");
    ben.stop().await;
    anna.kill().await;
    anna.start().await;
    ben.start().await;
    let near = ben.client.find("Anna").await;
    ben.client.done(meet(&near)).await;
    anna.client.until("Ben is here", |seen| seen.friends[&peer].connected).await;
    assert_eq!(only_friend(&anna).note, "午休时下棋");
    anna.client.done(note("")).await;
    anna.client.until("no note", |seen| seen.friends[&peer].note.is_empty()).await;
}

#[tokio::test(start_paused = true)]
async fn a_device_that_nobody_uses_is_not_found_unless_its_person_wants_it() {
    let minutes = |minutes| tokio::time::sleep(Duration::from_mins(minutes));
    let mut house = House::new(65);
    let (mut anna, mut ben) = pair(&mut house).await;
    let card = |house: &House| house.air.card("Anna");
    anna.close_app();
    minutes(1).await;
    assert!(card(&house).is_some_and(|card| card.open_to_all && !card.seldom), "a while more as before");
    minutes(5).await;
    assert_eq!(card(&house), None);

    anna.open_app().await;
    minutes(1).await;
    assert!(card(&house).is_some_and(|card| card.open_to_all));
    let set = control::SetFoundWhenClosed { on: true };
    anna.client.done(request::Body::SetFoundWhenClosed(set)).await;
    assert!(anna.client.seen.me.found_when_closed);
    for restarted in [false, true] {
        if restarted {
            anna.kill().await;
            anna.start().await;
            assert!(anna.client.seen.me.found_when_closed, "kept");
        }
        anna.close_app();
        minutes(6).await;
        let card = card(&house).expect("found");
        assert!(card.seldom && !card.open_to_all && card.name.is_none(), "by friends only: {card:?}");
        let id = ben.client.find("Anna").await;
        assert!(ben.client.seen.nearby[&id].is_friend);
        let mut carl = house.device(if restarted { "Carl" } else { "Cleo" }).await;
        assert_eq!(seen_around(&mut carl).await.iter().filter(|name| *name == "Anna").count(), 0);
        anna.open_app().await;
    }

    let nobody = control::SetVisibility { visibility: Visibility::Nobody.into() };
    anna.client.done(request::Body::SetVisibility(nobody)).await;
    anna.close_app();
    minutes(6).await;
    assert_eq!(card(&house), None, "nobody is nobody");
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_match_is_gone_on_with_while_the_app_is_closed_for_a_moment() {
    let mut house = House::new(66);
    let (mut anna, mut ben) = pair(&mut house).await;
    begin_match(&mut anna, &mut ben).await;
    anna.close_app();
    house.air.cut_all();
    for state in [PeerLink::Lost, PeerLink::Up] {
        let is = |seen: &tests::house::Seen| seen.link_is(state);
        ben.client.until("they come together without her app", is).await;
    }
    anna.open_app().await;
    anna.client.play("h8").await.expect("played");
    ben.client.until("h8", |seen| seen.room().is_some_and(|room| room.record == ["h8"])).await;
}

#[tokio::test(start_paused = true)]
async fn what_somebody_would_like_to_play_is_seen_near_and_kept_over_restarts() {
    let mut house = House::new(67);
    let (mut anna, mut ben) = (house.device("Anna").await, house.device("Ben").await);
    let wish = |game: Game| request::Body::SetWish(control::SetWish { game: game.into() });
    let wishes = |seen: &tests::house::Seen, game: Game| {
        seen.nearby.values().any(|near| near.name == "Ben" && near.wish() == game)
    };
    ben.client.done(wish(Game::Go)).await;
    anna.client.scan(true).await;
    anna.client.until("Ben would like to play Go", |seen| wishes(seen, Game::Go)).await;
    ben.client.done(wish(Game::Xiangqi)).await;
    anna.client.until("now xiangqi", |seen| wishes(seen, Game::Xiangqi)).await;
    ben.kill().await;
    ben.start().await;
    anna.client.seen.state.nearby.clear();
    anna.client.until("still xiangqi", |seen| wishes(seen, Game::Xiangqi)).await;
    ben.client.done(wish(Game::Unspecified)).await;
    anna.client.until("nothing in particular", |seen| wishes(seen, Game::Unspecified)).await;
}

#[tokio::test(start_paused = true)]
async fn a_friend_who_takes_another_friends_name_is_told_and_both_are_shown_with_their_keys() {
    let mut house = House::new(66);
    let (mut anna, mut carl) = (house.device("Anna").await, house.device("Carl").await);
    friends(&mut anna, &mut carl).await;
    begin_match(&mut anna, &mut carl).await;
    let mut ben = house.device("Ben").await;
    friends(&mut ben, &mut anna).await;
    carl.client.done(request::Body::SetName(control::SetName { name: "Ben ".into() })).await;
    // A new name is sent with the next hello, and the match goes on.
    house.air.cut("Anna", "Carl");
    let renamed = |seen: &tests::house::Seen| {
        seen.notices.iter().any(|notice| notice.kind() == control::NoticeKind::NoticeRenamed)
    };
    anna.client.until("the new name is told", renamed).await;
    let notice =
        anna.client.seen.notices.iter().rfind(|notice| !notice.detail.is_empty()).expect("it was told");
    assert_eq!(notice.name, "Carl");
    assert!(notice.detail.starts_with("Ben ("), "{}", notice.detail);
    let with_key = |friend: &control::Friend| friend.name == format!("Ben ({})", &friend.id[..5]);
    anna.client.until("both have their keys", |seen| seen.friends.values().all(with_key)).await;
    ben.client.scan(false).await;
}

#[tokio::test(start_paused = true)]
async fn a_friend_added_by_code_under_another_friends_name_is_shown_with_its_key_as_the_other_is() {
    let mut house = House::new(68);
    let (mut anna, ben) = pair(&mut house).await;
    // The second Ben's name has a Cyrillic letter.
    let mut other = house.device_with("Other", |config| config.name = Some("B\u{435}n".into())).await;
    let shown = other.client.ask(request::Body::ShowFriendCode(control::ShowFriendCode {})).await;
    let Ok(control::reply::Body::FriendCode(code)) = shown else { panic!("no code: {shown:?}") };
    anna.client.done(request::Body::AddFriend(control::AddFriend { code: code.text })).await;
    anna.client.until("two friends", |seen| seen.friends.len() == 2).await;
    let with_keys = |seen: &tests::house::Seen| {
        ["Ben", "B\u{435}n"].into_iter().all(|said| {
            seen.friends.values().filter(|one| one.name == format!("{said} ({})", &one.id[..5])).count() == 1
        })
    };
    anna.client.until("both have their keys", with_keys).await;
    // The same after a restart.
    anna.kill().await;
    anna.start().await;
    anna.client.until("both have their keys", with_keys).await;
    drop(ben);
}

#[tokio::test(start_paused = true)]
async fn who_was_a_friend_cannot_tell_the_device_by_dialing_it() {
    let mut house = House::new(67);
    let (mut anna, mut ben) = pair(&mut house).await;
    let mut carl = house.device("Carl").await;
    friends(&mut anna, &mut carl).await;
    let both =
        |seen: &tests::house::Seen| seen.friends.values().filter(|friend| friend.connected).count() == 2;
    anna.client.until("two friends", both).await;
    let [ben_id, carl_id] = ["Ben", "Carl"].map(|name| {
        let mut friends = anna.client.seen.friends.values();
        friends.find(|friend| friend.name == name).expect("a friend").id.clone()
    });
    anna.client.done(request::Body::Forget(control::Forget { peer: ben_id })).await;
    let friends_only = control::SetVisibility { visibility: Visibility::Friends.into() };
    anna.client.done(request::Body::SetVisibility(friends_only)).await;
    ben.kill().await;
    let key_of =
        |device: &Device| Identity::load_or_create(&device.directory().join("identity")).expect("a key");
    let (anna_key, ben_key, nobody) =
        (key_of(&anna).public_key(), key_of(&ben), Identity::generate().expect("randomness"));
    let address = house.air.transport("Anna").address();
    let mut answers = Vec::new();
    for (dialer, wanted) in [
        (&ben_key, ExpectedPeer::Key(anna_key)),
        (&ben_key, ExpectedPeer::Anybody),
        (&nobody, ExpectedPeer::Key(anna_key)),
        (&nobody, ExpectedPeer::Key(nobody.public_key())),
        (&nobody, ExpectedPeer::Anybody),
    ] {
        let duplex = house.air.transport("Ben").connect(&address).await.expect("in reach");
        let result = secure::dial(duplex, dialer, CarrierKind::Memory, wanted).await;
        answers.push(matches!(result, Err(SecureError::Truncated)));
    }
    assert_eq!(answers, [true; 5], "each is hung up on, and told nothing");
    // A friend connects as before.
    carl.kill().await;
    let is_here = |id: &str, seen: &tests::house::Seen| seen.friends.get(id).is_some_and(|one| one.connected);
    anna.client.until("Carl is away", |seen| !is_here(&carl_id, seen)).await;
    carl.start().await;
    anna.client.done(meet(&carl_id)).await;
    anna.client.until("Carl is back", |seen| is_here(&carl_id, seen)).await;
}

#[tokio::test(start_paused = true)]
async fn a_device_that_cannot_be_found_links_to_its_friends_itself_while_its_person_is_about() {
    let is_linked = |device: &Device| only_friend(device).connected;
    let mut house = House::new(70);
    let (mut anna, mut ben) = pair(&mut house).await;
    house.air.set_state("Anna", CarrierState::NoAdvertising);
    // Out of reach for longer than the minute in which she looks for a friend whose link was lost.
    house.air.set_reach("Ben", false);
    anna.client.until("the link is gone", |seen| seen.friends.values().all(|one| !one.connected)).await;
    tokio::time::sleep(Duration::from_mins(2)).await;
    house.air.set_reach("Ben", true);
    tokio::time::sleep(Duration::from_mins(2)).await;
    anna.client.done(request::Body::SetWish(control::SetWish::default())).await;
    assert!(!is_linked(&anna), "nobody here wants anything of anybody");
    // Her user scans: her device dials, and so he can invite her.
    anna.client.scan(true).await;
    anna.client.until("a link", |seen| seen.friends.values().all(|one| one.connected)).await;
    begin_match(&mut ben, &mut anna).await;
    anna.client.scan(false).await;
    // The match goes on after the time limit for lost links, because she is looking at it.
    house.air.set_reach("Ben", false);
    anna.client.until("the link is gone", |seen| seen.friends.values().all(|one| !one.connected)).await;
    tokio::time::sleep(Duration::from_mins(20)).await;
    house.air.set_reach("Ben", true);
    anna.client.until("a link again", |seen| seen.friends.values().all(|one| one.connected)).await;
}

#[tokio::test(start_paused = true)]
async fn the_list_of_friends_says_at_once_who_cannot_be_reached_and_why() {
    let is = |why: Unreached| {
        move |seen: &tests::house::Seen| seen.friends.values().all(|friend| friend.unreached() == why)
    };
    let mut house = House::new(71);
    let (mut anna, mut ben) = pair(&mut house).await;
    anna.client.until("connected", is(Unreached::Unspecified)).await;
    ben.stop().await;
    anna.client.until("Ben has said goodbye", is(Unreached::Left)).await;
    house.air.set_state("Anna", CarrierState::Off);
    anna.client.until("her adapter is off", is(Unreached::NoCarrier)).await;
    house.air.set_state("Anna", CarrierState::Ready);
    anna.client.until("her adapter is on", is(Unreached::Left)).await;
    ben.start().await;
    anna.client.scan(true).await;
    anna.client.until("Ben is near", is(Unreached::Unspecified)).await;
    anna.kill().await;
    house.air.set_reach("Ben", false);
    anna.start().await;
    anna.client.until("nothing is heard of Ben", is(Unreached::NotHeard)).await;
    house.air.set_state("Anna", CarrierState::NoAdvertising);
    anna.client.until("nor does he hear her", is(Unreached::NotFound)).await;
}
