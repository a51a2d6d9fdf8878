//! Whole matches between whole hosts.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use link::memory::MemoryNetwork;
use link::{CarrierKind, Transport};
use proto::board::{Game, Side};
use proto::control::{self, NoticeKind, PeerLink, Visibility, reply, request};
use tests::house::{Device, House, begin_match, begin_match_of, friends, pair};

const FAST: u32 = 1;

/// The seeds of random runs, starting with this test's first seed: `QIYOU_SEEDS` of them, or few enough for a quick test.
fn seeds(test: &str, usual: u64, quick: u64) -> Range<u64> {
    let count = std::env::var("QIYOU_SEEDS").map_or(quick, |text| text.parse().expect("a number"));
    let first = tests::seed::begin(test, usual);
    first..first + count
}

fn check_equal(anna: &Device, ben: &Device, matches: usize) {
    let (here, there) = (anna.record(), ben.record());
    assert_eq!(here, there, "both devices hold the same");
    assert_eq!(here.len(), matches);
}

async fn play_to_the_end(anna: &mut Device, ben: &mut Device) {
    anna.client.hand_over(FAST).await;
    ben.client.hand_over(FAST).await;
    anna.client.until_over().await;
    ben.client.until_over().await;
    // The last acknowledgement may still be in flight.
    let all = |room: &control::Room| room.seen_ply as usize == room.record.len();
    anna.client.until("everything is acknowledged", |seen| seen.room().is_some_and(all)).await;
    ben.client.until("everything is acknowledged", |seen| seen.room().is_some_and(all)).await;
}

#[tokio::test(start_paused = true)]
async fn two_who_meet_compare_one_string_and_find_each_other_again() {
    let mut house = House::new(1);
    let (mut anna, mut ben) = pair(&mut house).await;
    assert!(anna.client.seen.notices.iter().any(|notice| notice.kind() == NoticeKind::NoticeNewFriend));
    assert_eq!(anna.client.seen.compared, [control::ComparisonEnd::ComparisonFriends]);
    // From here on the two are friends: no short string, after a restart too.
    anna.stop().await;
    ben.client.until("Anna is away", |seen| seen.friends.values().all(|friend| !friend.connected)).await;
    anna.start().await;
    let id = anna.client.find("Ben").await;
    assert!(anna.client.seen.friends.contains_key(&id), "the tag tells who it is");
    anna.client.done(request::Body::Meet(control::Meet { peer: id })).await;
    ben.client.until("Anna is back", |seen| seen.friends.values().any(|friend| friend.connected)).await;
    assert!(ben.client.seen.comparisons.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_whole_game_between_two_devices_ends_with_equal_records() {
    let mut house = House::new(2);
    let (mut anna, mut ben) = pair(&mut house).await;
    begin_match(&mut anna, &mut ben).await;
    play_to_the_end(&mut anna, &mut ben).await;
    check_equal(&anna, &ben, 1);
    let room = anna.client.seen.room().expect("one room");
    let link = room.link.expect("a link");
    assert!(link.bytes_sent > 0 && link.messages_received > 0);
    assert!(link.seen_action_ply > 0, "the time to the acknowledgement was measured");
}

#[tokio::test(start_paused = true)]
async fn no_hint_is_given_in_a_match_with_another_person() {
    let mut house = House::new(10);
    let (mut anna, mut ben) = pair(&mut house).await;
    begin_match(&mut anna, &mut ben).await;
    let room_id = anna.client.seen.room().expect("one room").id.clone();
    for solve in [false, true] {
        let hint = control::Hint { room_id: room_id.clone(), solve, ..Default::default() };
        let refused = anna.client.ask(request::Body::Hint(hint)).await.expect_err("it is Anna's turn");
        assert!(refused.detail.contains("without hints"), "{}", refused.detail);
    }
    anna.client.play("h8").await.expect("the match goes on");
}

/// What thinks about the positions of a kept match, or goes on from them.
fn to_study(room_id: &str) -> [request::Body; 4] {
    let room_id = || room_id.to_owned();
    let from = control::SetUpFrom { room_id: room_id(), ply: 1, lesson: None };
    let change = Some(control::set_up::Change::From(from));
    [
        request::Body::AnalyseMatch(control::AnalyseMatch {
            room_id: room_id(),
            on: true,
            ..Default::default()
        }),
        request::Body::Explore(control::Explore { room_id: room_id(), ply: 1, line: Vec::new() }),
        request::Body::SetUp(control::SetUp { choice: None, change }),
        // Last, because it opens a second room.
        request::Body::Branch(control::Branch { room_id: room_id(), ply: 1, ..Default::default() }),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_match_with_another_person_is_analysed_and_played_on_from_only_after_its_end() {
    let mut house = House::new(11);
    let (mut anna, mut ben) = pair(&mut house).await;
    begin_match(&mut anna, &mut ben).await;
    anna.client.play("h8").await.expect("it is Anna's turn");
    let one = |seen: &tests::house::Seen| seen.room().is_some_and(|room| room.record.len() == 1);
    anna.client.until("h8", one).await;
    ben.client.until("h8", one).await;
    let room_id = anna.client.seen.room().expect("one room").id.clone();
    for asked in to_study(&room_id) {
        let what = format!("{asked:?}");
        let refused = anna.client.ask(asked).await.expect_err(&what);
        assert!(refused.detail.contains("goes on"), "{what}: {}", refused.detail);
        let words = refused.reason.expect("in both languages");
        assert!(!words.zh.is_empty() && words.en.contains("afterwards"), "{words:?}");
    }
    // Closing the room does not change it.
    anna.client.done(request::Body::CloseRoom(control::CloseRoom { room_id: room_id.clone() })).await;
    for asked in to_study(&room_id) {
        assert!(anna.client.ask(asked).await.is_err());
    }
    let resume = control::ResumeRoom { room_id: room_id.clone() };
    anna.client.ask(request::Body::ResumeRoom(resume)).await.expect("it opens again");
    anna.client.until("the match", one).await;

    let resign = control::Resign { room_id: room_id.clone(), side: 0 };
    anna.client.done(request::Body::Resign(resign)).await;
    anna.client.until_over().await;
    for asked in to_study(&room_id) {
        let what = format!("{asked:?}");
        assert!(anna.client.ask(asked).await.is_ok(), "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn no_bot_plays_for_a_person_against_another_person() {
    let mut house = House::new(12);
    let mut anna = house.device_with("Anna", |config| config.stand_ins = false).await;
    let mut ben = house.device("Ben").await;
    friends(&mut anna, &mut ben).await;
    begin_match(&mut anna, &mut ben).await;
    let room = anna.client.seen.room().expect("one room").clone();
    let is_peers = |seat: &Option<control::Seat>| {
        matches!(seat.as_ref().and_then(|seat| seat.who.as_ref()), Some(control::seat::Who::Peer(_)))
    };
    let side = if is_peers(&room.first) { Side::Second } else { Side::First };
    for bot_assists in [false, true] {
        let who = Some(control::seat::Who::BotLevel(FAST));
        let seat = Some(control::Seat { who, bot_assists, ..control::Seat::default() });
        let set = control::SetSeat { room_id: room.id.clone(), side: side.into(), seat };
        let refused = anna.client.ask(request::Body::SetSeat(set)).await.expect_err("untold");
        assert!(refused.detail.contains("no bot plays for you"), "{}", refused.detail);
    }
    assert!(anna.client.seen.room().is_some_and(|room| room.record.is_empty()));
}

#[tokio::test(start_paused = true)]
async fn every_game_is_played_between_two_devices_by_the_rules_they_agreed_on() {
    // Number of plies to compare: in Liuzhou chess and Go enough for the first captures.
    const PLIES: usize = 24;
    let chosen =
        |option: &str, value: &str| control::ChosenOption { option: option.into(), value: value.into() };
    let games = [
        (Game::Liuzhou, vec![chosen("edge-six", "2")], "A whole line along an edge captures 2."),
        (Game::Go, vec![chosen("size", "5"), chosen("scoring", "territory")], "Territory counts"),
        (Game::Xiangqi, vec![chosen("quiet-limit", "20")], "10 moves each without a capture"),
        (Game::Gomoku, vec![chosen("rule", "standard"), chosen("size", "13")], "exactly five"),
        (Game::LightsOut, vec![chosen("columns", "6"), chosen("torus", "yes")], "drawn by both devices"),
    ];
    for (seed, (game, options, sentence)) in (4_000_000..).zip(games) {
        let mut house = House::new(seed);
        let (mut anna, mut ben) = pair(&mut house).await;
        let choice =
            control::GameChoice { game: game.into(), preset: String::new(), options, ..Default::default() };
        let sheet = begin_match_of(&mut anna, &mut ben, Some(choice)).await;
        assert!(sheet.contains(sentence), "{sheet}");
        let setup = |device: &Device| device.client.seen.room().and_then(|room| room.setup.clone());
        assert_eq!(setup(&anna), setup(&ben));
        use proto::board::setup::Game as Of;
        let agreed = match setup(&anna).and_then(|setup| setup.game).expect("a setup") {
            Of::Liuzhou(liuzhou) => liuzhou.edge_six == 2,
            Of::Go(go) => go.size == 5 && go.territory,
            Of::Xiangqi(xiangqi) => xiangqi.quiet_limit == 20,
            Of::Gomoku(gomoku) => gomoku.size == 13 && gomoku.rule() == proto::board::GomokuRule::Standard,
            Of::LightsOut(lights) => lights.columns == 6 && lights.torus,
            Of::XiangqiChinese(_) | Of::Started(_) => false,
        };
        assert!(agreed, "{game:?}: {:?}", setup(&anna));
        anna.client.hand_over(FAST).await;
        ben.client.hand_over(FAST).await;
        let some = |seen: &tests::house::Seen| {
            seen.room().is_some_and(|room| room.record.len() >= PLIES || room.result.is_some())
        };
        anna.client.until("some plies", some).await;
        // Refused if the game has ended by itself.
        let room_id = ben.client.seen.room().expect("one room").id.clone();
        let _ = ben.client.ask(request::Body::Resign(control::Resign { room_id, side: 0 })).await;
        let over = |seen: &tests::house::Seen| {
            let all = |room: &control::Room| room.seen_ply as usize == room.record.len();
            seen.room().is_some_and(|room| room.result.is_some() && all(room))
        };
        anna.client.until("the match is over", over).await;
        ben.client.until("the match is over", over).await;
        check_equal(&anna, &ben, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_match_from_a_position_is_the_same_on_both_devices_after_restarts_and_is_replayed_from_there() {
    const WITHOUT_A_HORSE: &str = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/R1BAKABNR w";
    let mut house = House::new(7_000_000);
    let (mut anna, mut ben) = pair(&mut house).await;
    let choice = control::GameChoice {
        game: Game::Xiangqi.into(),
        start: WITHOUT_A_HORSE.as_bytes().to_vec().into(),
        ..Default::default()
    };
    let sheet = begin_match_of(&mut anna, &mut ben, Some(choice)).await;
    assert!(sheet.contains("Red plays without the left horse, and moves first"), "{sheet}");
    let pieces = |device: &Device| {
        let board = device.client.seen.room().and_then(|room| room.board.clone()).expect("a board");
        board.pieces.len()
    };
    assert_eq!((pieces(&anna), pieces(&ben)), (31, 31));
    ben.stop().await;
    ben.start().await;
    play_to_the_end(&mut anna, &mut ben).await;
    check_equal(&anna, &ben, 1);
    let room_id = anna.client.seen.room().expect("one room").id.clone();
    let look = control::Look { room_id: room_id.clone(), ply: 0, record: false, line: Vec::new() };
    let Ok(reply::Body::Position(first)) = anna.client.ask(request::Body::Look(look)).await else {
        panic!("the match is kept");
    };
    assert_eq!(first.board.expect("a board").pieces.len(), 31);
    let from = control::SetUpFrom { room_id, ply: 2, lesson: None };
    let asked = control::SetUp { choice: None, change: Some(control::set_up::Change::From(from)) };
    let Ok(reply::Body::SetUp(told)) = anna.client.ask(request::Body::SetUp(asked)).await else {
        panic!("a match can begin from each position");
    };
    assert_eq!(told.problem, None);
    let open = control::OpenRoom { choice: told.choice, ..Default::default() };
    let Ok(reply::Body::RoomId(_)) = anna.client.ask(request::Body::OpenRoom(open)).await else {
        panic!("it begins from there");
    };
}

#[tokio::test(start_paused = true)]
async fn a_race_is_pressed_on_ones_own_board_and_kept_as_won_and_lost() {
    let mut house = House::new(5_000_000);
    let (mut anna, mut ben) = pair(&mut house).await;
    let choice = control::GameChoice { game: Game::LightsOut.into(), ..Default::default() };
    let alone = control::OpenRoom {
        setup: Some(proto::board::Setup {
            game: Some(proto::board::setup::Game::LightsOut(proto::board::LightsOutSetup {
                columns: 5,
                rows: 5,
                race: true,
                start: Some(proto::board::lights_out_setup::Start::Seed(1)),
                ..Default::default()
            })),
        }),
        ..Default::default()
    };
    let refused = anna.client.ask(request::Body::OpenRoom(alone)).await;
    assert!(refused.is_err_and(|refusal| refusal.detail.contains("invite somebody")));
    begin_match_of(&mut anna, &mut ben, Some(choice)).await;
    let lights = |seen: &tests::house::Seen| {
        seen.room().and_then(|room| room.board.clone()).map(|board| board.lights).expect("lights")
    };
    assert_eq!(lights(&anna.client.seen), lights(&ben.client.seen), "both begin alike");
    let room_id = anna.client.seen.room().expect("one room").id.clone();
    let hint = anna
        .client
        .ask(request::Body::Hint(control::Hint { room_id: room_id.clone(), ..Default::default() }))
        .await;
    assert!(hint.is_err_and(|refusal| refusal.detail.contains("without hints")));
    let before = lights(&ben.client.seen);
    assert!(anna.client.play("0.1s").await.is_err(), "only the host ends a run");
    anna.client.play("a1").await.expect("both press at once");
    ben.client
        .until("Ben hears of it", |seen| {
            seen.room().is_some_and(|room| {
                room.race
                    .is_some_and(|race| race.their_presses == 1 && race.my_presses == 0 && race.my_clock_runs)
            })
        })
        .await;
    assert_eq!(lights(&ben.client.seen), before, "his own board is as it was");
    assert_ne!(lights(&anna.client.seen), before);
    assert!(ben.client.seen.room().is_some_and(|room| room.can_act && room.record.is_empty()));
    // After a kill and restart the presses are still there.
    let pressed = lights(&anna.client.seen);
    anna.kill().await;
    anna.start().await;
    assert_eq!(lights(&anna.client.seen), pressed);
    anna.client.until("the link is back", |seen| seen.room().is_some_and(|room| room.can_act)).await;
    ben.client.hand_over(FAST).await;
    ben.client
        .until("Ben is done", |seen| {
            seen.room().and_then(|room| room.race).is_some_and(|race| race.i_finished)
        })
        .await;
    anna.client.until_over().await;
    ben.client.until_over().await;
    let race = anna.client.seen.room().and_then(|room| room.race).expect("a race");
    assert!(race.i_stopped && race.they_finished && race.their_lit == 0, "{race:?}");
    let all = |seen: &tests::house::Seen| {
        seen.room().is_some_and(|room| room.seen_ply as usize == room.record.len())
    };
    anna.client.until("all is acknowledged", all).await;
    ben.client.until("all is acknowledged", all).await;
    check_equal(&anna, &ben, 1);
    for (device, outcome) in [(&mut anna, control::Outcome::Lost), (&mut ben, control::Outcome::Won)] {
        let list = control::ListMatches { limit: 9, outcome: outcome.into(), ..Default::default() };
        let Ok(reply::Body::Matches(found)) = device.client.ask(request::Body::ListMatches(list)).await
        else {
            panic!("no list")
        };
        assert_eq!(found.matches.len(), 1);
    }
    // Another race, on another board.
    let offer = control::Offer { room_id, kind: control::OfferKind::OfferNewGame.into() };
    assert!(anna.client.ask(request::Body::Offer(offer)).await.is_ok());
    ben.client.until("an offer", |seen| seen.room().is_some_and(|room| room.offer.is_some())).await;
    let room_id = ben.client.seen.room().expect("one room").id.clone();
    ben.client.done(request::Body::AnswerOffer(control::AnswerOffer { room_id, accept: true })).await;
    for device in [&mut anna, &mut ben] {
        let next = |seen: &tests::house::Seen| {
            seen.room().is_some_and(|room| !room.follows.is_empty() && room.result.is_none() && room.can_act)
        };
        device.client.until("the next race takes the place of the first", next).await;
    }
    assert_eq!(lights(&anna.client.seen), lights(&ben.client.seen));
}

#[tokio::test(start_paused = true)]
async fn a_match_survives_links_that_break_at_random_moments() {
    for seed in seeds("links that break", 1_000_000, 12) {
        let mut house = House::new(seed);
        let (mut anna, mut ben) = pair(&mut house).await;
        begin_match(&mut anna, &mut ben).await;
        house.air.set_delay(Duration::ZERO..Duration::from_millis(40));
        house.air.set_lives(Some(300..3_000));
        house.air.cut_all();
        play_to_the_end(&mut anna, &mut ben).await;
        check_equal(&anna, &ben, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_killed_in_the_middle_goes_on_from_its_directory() {
    for seed in seeds("killed hosts", 2_000_000, 6) {
        let mut house = House::new(seed);
        let (mut anna, mut ben) = pair(&mut house).await;
        begin_match(&mut anna, &mut ben).await;
        anna.client.hand_over(FAST).await;
        ben.client.hand_over(FAST).await;
        for plies in [3, 7, 12] {
            let played = |seen: &tests::house::Seen| {
                seen.room().is_some_and(|room| room.record.len() >= plies || room.result.is_some())
            };
            anna.client.until("some plies", played).await;
            let killed = if seed % 2 == 0 { &mut anna } else { &mut ben };
            killed.kill().await;
            killed.start().await;
            if killed.client.seen.room().is_some_and(|room| room.result.is_none()) {
                killed.client.hand_over(FAST).await;
            }
        }
        play_to_the_end(&mut anna, &mut ben).await;
        check_equal(&anna, &ben, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn both_killed_at_once_find_each_other_and_finish() {
    let mut house = House::new(3);
    let (mut anna, mut ben) = pair(&mut house).await;
    begin_match(&mut anna, &mut ben).await;
    anna.client.play("h8").await.expect("played");
    ben.client.until("h8", |seen| seen.room().is_some_and(|room| room.record == ["h8"])).await;
    anna.kill().await;
    ben.kill().await;
    anna.start().await;
    ben.start().await;
    ben.client.play("i9").await.expect("kept until Anna is there");
    anna.client.until("i9", |seen| seen.room().is_some_and(|room| room.record == ["h8", "i9"])).await;
    play_to_the_end(&mut anna, &mut ben).await;
    check_equal(&anna, &ben, 1);
}

#[tokio::test(start_paused = true)]
async fn a_move_made_while_the_peer_is_away_arrives_when_it_is_back() {
    let mut house = House::new(4);
    let (mut anna, mut ben) = pair(&mut house).await;
    begin_match(&mut anna, &mut ben).await;
    house.air.set_reach("Ben", false);
    let lost = |seen: &tests::house::Seen| seen.link_is(PeerLink::Lost);
    anna.client.until("the link is lost", lost).await;
    anna.client.play("h8").await.expect("kept");
    house.air.set_reach("Ben", true);
    ben.client.until("h8", |seen| seen.room().is_some_and(|room| room.record == ["h8"])).await;
    check_equal(&anna, &ben, 1);
}

/// A device with the house's radio and another carrier.
async fn with_second_carrier(house: &mut House, second: &MemoryNetwork, name: &str) -> Device {
    let transport = Arc::new(second.transport(name));
    house.device_with(name, |config| config.transports.push(transport)).await
}

fn carrier_of(seen: &tests::house::Seen) -> Option<(control::Carrier, PeerLink)> {
    let link = seen.room().and_then(|room| room.link)?;
    Some((link.carrier(), link.state()))
}

#[tokio::test(start_paused = true)]
async fn who_is_in_reach_by_two_carriers_is_shown_once() {
    let mut house = House::new(6);
    let second = MemoryNetwork::posing_as(CarrierKind::Bluetooth, 6);
    let mut anna = with_second_carrier(&mut house, &second, "Anna").await;
    let mut ben = with_second_carrier(&mut house, &second, "Ben").await;
    let both = |seen: &tests::house::Seen| {
        let mut found = seen.nearby.values().filter(|one| one.name == "Ben");
        let one = found.next().is_some_and(|one| one.carriers.len() == 2);
        assert!(found.next().is_none(), "never twice");
        one
    };
    anna.client.scan(true).await;
    anna.client.until("Ben on both carriers, a stranger", both).await;
    friends(&mut anna, &mut ben).await;
    anna.client.scan(true).await;
    anna.client
        .until("Ben on both carriers, a friend", |seen| {
            both(seen) && seen.nearby.values().all(|one| one.is_friend)
        })
        .await;
    let friend = anna.client.seen.friends.values().next().expect("a friend");
    assert_eq!(friend.carrier(), control::Carrier::Memory, "connected by the better one");
    // One carrier falls silent: the device is still near, by the other one.
    house.air.set_reach("Ben", false);
    anna.client
        .until("Ben on the second carrier only", |seen| {
            seen.nearby.values().any(|one| one.carriers == [i32::from(control::Carrier::Bluetooth)])
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_match_moves_to_the_other_carrier_when_one_drops() {
    for seed in seeds("two carriers", 5_000_000, 4) {
        let mut house = House::new(seed);
        let second = MemoryNetwork::posing_as(CarrierKind::Bluetooth, seed);
        let mut anna = with_second_carrier(&mut house, &second, "Anna").await;
        let mut ben = with_second_carrier(&mut house, &second, "Ben").await;
        friends(&mut anna, &mut ben).await;
        begin_match(&mut anna, &mut ben).await;
        anna.client.play("h8").await.expect("played");
        ben.client.until("h8", |seen| seen.room().is_some_and(|room| room.record == ["h8"])).await;
        for (round, network) in [&house.air, &second, &house.air].into_iter().enumerate() {
            let expected =
                if round % 2 == 0 { control::Carrier::Bluetooth } else { control::Carrier::Memory };
            network.set_reach("Ben", false);
            anna.client
                .until("it goes on by the other", |seen| carrier_of(seen) == Some((expected, PeerLink::Up)))
                .await;
            ben.client
                .until("it goes on by the other", |seen| carrier_of(seen) == Some((expected, PeerLink::Up)))
                .await;
            network.set_reach("Ben", true);
        }
        play_to_the_end(&mut anna, &mut ben).await;
        check_equal(&anna, &ben, 1);
    }
}

/// The contents of the device's own friend code.
async fn code_of(device: &mut Device) -> String {
    match device.client.ask(request::Body::ShowFriendCode(control::ShowFriendCode {})).await {
        Ok(reply::Body::FriendCode(code)) => code.text,
        other => panic!("no code: {other:?}"),
    }
}

async fn add(device: &mut Device, code: &str) -> Result<reply::Body, control::Refusal> {
    device.client.ask(request::Body::AddFriend(control::AddFriend { code: code.into() })).await
}

fn connected(seen: &tests::house::Seen) -> bool {
    seen.friends.values().any(|friend| friend.connected)
}

#[tokio::test(start_paused = true)]
async fn two_who_scan_each_others_code_are_friends_without_comparing() {
    let mut house = House::new(7);
    let (mut anna, mut ben) = (house.device("Anna").await, house.device("Ben").await);
    let codes = [code_of(&mut anna).await, code_of(&mut ben).await];
    add(&mut ben, &codes[0]).await.expect("added");
    add(&mut anna, &codes[1]).await.expect("added");
    anna.client.until("connected", connected).await;
    ben.client.until("connected", connected).await;
    assert!(anna.client.seen.comparisons.is_empty() && ben.client.seen.comparisons.is_empty());
    begin_match(&mut anna, &mut ben).await;
    play_to_the_end(&mut anna, &mut ben).await;
    check_equal(&anna, &ben, 1);
    // The same friend after a restart, recognised by its tag.
    ben.stop().await;
    ben.start().await;
    assert_eq!(ben.client.seen.friends.values().next().expect("a friend").name, "Anna");
    let id = ben.client.find("Anna").await;
    assert!(ben.client.seen.friends.contains_key(&id));
}

#[tokio::test(start_paused = true)]
async fn a_code_on_one_side_finds_the_other_who_compares_strings() {
    let mut house = House::new(8);
    let (mut anna, mut ben) = (house.device("Anna").await, house.device("Ben").await);
    let code = code_of(&mut anna).await;
    add(&mut ben, &code).await.expect("added");
    for device in [&mut ben, &mut anna] {
        device.client.until("a string to compare", |seen| !seen.comparisons.is_empty()).await;
        let peer = device.client.seen.comparisons.first().expect("one").peer.clone();
        device.client.done(request::Body::Compare(control::Compare { peer, same: true })).await;
    }
    anna.client.until("connected", connected).await;
    ben.client.until("connected", connected).await;
}

#[tokio::test(start_paused = true)]
async fn a_code_is_refused_when_it_is_ones_own_or_none() {
    let mut house = House::new(9);
    let mut anna = house.device("Anna").await;
    let own = code_of(&mut anna).await;
    for text in [own.as_str(), "", "qiyou:friend/1/abc", "https://example.org"] {
        let refusal = add(&mut anna, text).await.expect_err("refused");
        assert_eq!(refusal.code(), control::RefusalCode::RefusalBadRequest, "{text}");
    }
    assert!(anna.client.seen.friends.is_empty());
}

#[tokio::test(start_paused = true)]
async fn who_answers_in_a_friends_place_with_another_key_is_not_let_in() {
    let mut house = House::new(10);
    let (mut anna, mut ben) = (house.device("Anna").await, house.device("Ben").await);
    // Anna's key with Ben's tag, as an attacker would replay it.
    let (annas, bens) = (code_of(&mut anna).await, code_of(&mut ben).await);
    let tag = bens.split_once("t=").expect("a tag").1;
    let forged = format!("{}t={tag}", annas.split_once("t=").expect("a tag").0);
    let mut eve = house.device("Eve").await;
    anna.stop().await;
    add(&mut eve, &forged).await.expect("added");
    let missed = |seen: &tests::house::Seen| {
        seen.notices.iter().any(|notice| notice.kind() == NoticeKind::NoticeCannotReach)
    };
    eve.client.until("given up", missed).await;
    assert!(eve.client.seen.comparisons.is_empty(), "Ben was never asked about");
    assert!(eve.client.seen.friends.values().all(|friend| !friend.connected));
    assert!(ben.client.seen.comparisons.is_empty() && ben.client.seen.friends.is_empty());
}

#[tokio::test(start_paused = true)]
async fn silence_on_the_air_is_noticed_and_healed() {
    let mut house = House::new(5);
    let (mut anna, mut ben) = pair(&mut house).await;
    begin_match(&mut anna, &mut ben).await;
    house.air.mute("Anna", "Ben", true);
    anna.client.play("h8").await.expect("played");
    let lost = |seen: &tests::house::Seen| seen.link_is(PeerLink::Lost);
    anna.client.until("the link is given up", lost).await;
    house.air.mute("Anna", "Ben", false);
    ben.client.until("h8", |seen| seen.room().is_some_and(|room| room.record == ["h8"])).await;
    check_equal(&anna, &ben, 1);
}

#[tokio::test(start_paused = true)]
async fn both_dialing_at_once_leaves_one_link() {
    for seed in seeds("both dial", 3_000_000, 8) {
        let mut house = House::new(seed);
        let (mut anna, mut ben) = pair(&mut house).await;
        house.air.set_delay(Duration::from_millis(1)..Duration::from_millis(50));
        house.air.cut_all();
        let (to_ben, to_anna) = (anna.client.find("Ben").await, ben.client.find("Anna").await);
        anna.client.done(request::Body::Meet(control::Meet { peer: to_ben })).await;
        ben.client.done(request::Body::Meet(control::Meet { peer: to_anna })).await;
        let there = |seen: &tests::house::Seen| seen.friends.values().any(|friend| friend.connected);
        // The surviving link of the two is decided within a few delays.
        tokio::time::sleep(Duration::from_secs(20)).await;
        anna.client.until("Ben", there).await;
        ben.client.until("Anna", there).await;
        begin_match(&mut anna, &mut ben).await;
        assert_eq!(house.air.links("Anna", "Ben"), 1, "seed {seed}");
    }
}

#[tokio::test(start_paused = true)]
async fn take_back_draw_and_new_game_need_the_others_consent() {
    let mut house = House::new(6);
    let (mut anna, mut ben) = pair(&mut house).await;
    begin_match(&mut anna, &mut ben).await;
    let id = anna.client.seen.room().expect("one room").id.clone();
    let offer = |kind: control::OfferKind, room_id: &str| {
        request::Body::Offer(control::Offer { room_id: room_id.into(), kind: kind.into() })
    };
    let answer = |accept, room_id: &str| {
        request::Body::AnswerOffer(control::AnswerOffer { room_id: room_id.into(), accept })
    };
    let offered =
        |seen: &tests::house::Seen| seen.room().and_then(|room| room.offer).is_some_and(|offer| !offer.mine);
    anna.client.play("h8").await.expect("played");
    anna.client.done(offer(control::OfferKind::OfferTakeBack, &id)).await;
    ben.client.until("an offer", offered).await;
    ben.client.done(answer(true, &id)).await;
    anna.client.until("taken back", |seen| seen.room().is_some_and(|room| room.record.is_empty())).await;

    anna.client.play("i9").await.expect("played");
    anna.client.done(offer(control::OfferKind::OfferDraw, &id)).await;
    ben.client.until("an offer", offered).await;
    ben.client.done(answer(false, &id)).await;
    let declined = |seen: &tests::house::Seen| {
        seen.notices.iter().any(|notice| notice.kind() == NoticeKind::NoticeOfferDeclined)
    };
    anna.client.until("no", declined).await;

    ben.client.done(request::Body::Resign(control::Resign { room_id: id.clone(), side: 0 })).await;
    anna.client.until_over().await;
    anna.client.done(offer(control::OfferKind::OfferNewGame, &id)).await;
    ben.client.until("an offer", offered).await;
    ben.client.done(answer(true, &id)).await;
    let new = |seen: &tests::house::Seen| seen.room().is_some_and(|room| room.follows == id);
    anna.client.until("a new game", new).await;
    ben.client.until("a new game", new).await;
    let mine = |device: &Device| device.client.seen.room().expect("one room").mine.clone();
    assert_eq!(mine(&ben), [i32::from(proto::board::Side::First)], "colours are swapped");
    play_to_the_end(&mut anna, &mut ben).await;
    check_equal(&anna, &ben, 2);
}

/// What a listening device receives about another one within three seconds, the latest last.
async fn overheard(house: &House, name: &str) -> Vec<link::Sighting> {
    use futures::StreamExt;
    let mut watch = house.air.transport("Spy").watch(true);
    let mut heard = Vec::new();
    let listen = async {
        while let Some(event) = watch.next().await {
            if let link::WatchEvent::Seen(sighting) = event
                && sighting.address.text == name
            {
                heard.push(sighting);
            }
        }
    };
    // The watch stream has no end of its own.
    let _ = tokio::time::timeout(Duration::from_secs(3), listen).await;
    heard
}

#[tokio::test(start_paused = true)]
async fn the_tag_changes_every_quarter_of_an_hour_and_friends_still_know_it() {
    let mut house = House::new(10);
    let (mut anna, mut ben) = pair(&mut house).await;
    anna.stop().await;
    anna.start().await;
    let before = overheard(&house, "Anna").await;
    tokio::time::sleep(Duration::from_mins(15)).await;
    let after = overheard(&house, "Anna").await;
    assert_ne!(before[0].tag, after[0].tag);
    let id = ben.client.find("Anna").await;
    assert!(ben.client.seen.nearby[&id].is_friend);
}

/// Anna, by the house's clock, and Ben, whose clock is ahead by so many minutes, or behind: friends whom only friends find.
async fn pair_with_clocks_apart(house: &mut House, minutes: i64) -> (Device, Device) {
    let mut anna = house.device("Anna").await;
    let change = |config: &mut host::HostConfig| {
        let right = Arc::clone(&config.wall_clock);
        let off = Duration::from_mins(minutes.unsigned_abs());
        config.wall_clock = Arc::new(move || if minutes < 0 { right() - off } else { right() + off });
    };
    let mut ben = house.device_with("Ben", change).await;
    friends(&mut anna, &mut ben).await;
    for device in [&mut anna, &mut ben] {
        let set = control::SetVisibility { visibility: Visibility::Friends.into() };
        device.client.done(request::Body::SetVisibility(set)).await;
    }
    (anna, ben)
}

/// Anna's device is switched off and on again; then her link to Ben is gone.
async fn part(anna: &mut Device, ben: &mut Device) {
    anna.stop().await;
    ben.client.until("Anna is away", |seen| !connected(seen)).await;
    anna.start().await;
}

/// A quarter of an hour is the length of an epoch: the epochs of the two are then always neighbours.
#[tokio::test(start_paused = true)]
async fn friends_whose_clocks_are_a_quarter_of_an_hour_apart_find_and_meet_each_other() {
    for minutes in [-15, 15] {
        let mut house = House::new(7_000_000);
        let (mut anna, mut ben) = pair_with_clocks_apart(&mut house, minutes).await;
        // Twenty minutes: each tag changes on the way, at each device.
        for _ in 0..5 {
            part(&mut anna, &mut ben).await;
            tokio::time::sleep(Duration::from_mins(4)).await;
            let annas = ben.client.find("Anna").await;
            assert!(ben.client.seen.nearby[&annas].is_friend, "{minutes} minutes");
            let bens = anna.client.find("Ben").await;
            assert!(anna.client.seen.nearby[&bens].is_friend, "{minutes} minutes");
            anna.client.done(request::Body::Meet(control::Meet { peer: bens })).await;
            for device in [&mut anna, &mut ben] {
                device.client.until("a link", connected).await;
                assert!(device.client.seen.comparisons.is_empty(), "they are friends already");
            }
        }
        begin_match(&mut anna, &mut ben).await;
    }
}

/// The bound: between a quarter and half an hour it depends on the moment; from half an hour on nobody is recognised.
#[tokio::test(start_paused = true)]
async fn friends_whose_clocks_are_half_an_hour_apart_do_not_recognise_each_other() {
    for minutes in [-30, 30] {
        let mut house = House::new(7_000_001);
        let (mut anna, mut ben) = pair_with_clocks_apart(&mut house, minutes).await;
        for _ in 0..5 {
            part(&mut anna, &mut ben).await;
            tokio::time::sleep(Duration::from_mins(4)).await;
            for device in [&mut anna, &mut ben] {
                device.client.scan(true).await;
                tokio::time::sleep(Duration::from_secs(5)).await;
                device.client.scan(false).await;
                assert!(device.client.seen.nearby.is_empty(), "{minutes} minutes");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_strangers_hear_follows_the_visibility() {
    let mut house = House::new(11);
    let mut anna = house.device("Anna").await;
    let mut see = async |visibility: Visibility| {
        let set = control::SetVisibility { visibility: visibility.into() };
        anna.client.done(request::Body::SetVisibility(set)).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        overheard(&house, "Anna").await.pop().map(|sighting| (sighting.open_to_all, sighting.name))
    };
    assert_eq!(see(Visibility::Everyone).await, Some((true, Some("Anna".into()))));
    assert_eq!(see(Visibility::Friends).await, Some((false, None)));
    assert_eq!(see(Visibility::Nobody).await, None);
}

#[tokio::test(start_paused = true)]
async fn the_radio_scans_only_while_somebody_wants_it() {
    let mut house = House::new(12);
    let (mut anna, mut ben) = pair(&mut house).await;
    begin_match(&mut anna, &mut ben).await;
    let scans = |seen: &tests::house::Seen| seen.radio().is_some_and(|radio| radio.scanning);
    assert!(!scans(&anna.client.seen), "a match that goes on needs no scanning");
    house.air.set_reach("Ben", false);
    anna.client.until("it looks for Ben", scans).await;
    anna.client.until("it has given up for now", |seen| !scans(seen)).await;
    anna.client.scan(true).await;
    anna.client.until("a person looks around", scans).await;
    anna.client.scan(false).await;
    anna.client.until("nobody does", |seen| !scans(seen)).await;
    // A pending move for Ben is a new reason to dial him.
    anna.client.play("h8").await.expect("kept");
    anna.client.until("it looks for Ben", scans).await;
    house.air.set_reach("Ben", true);
    ben.client.until("h8", |seen| seen.room().is_some_and(|room| room.record == ["h8"])).await;
}

#[tokio::test(start_paused = true)]
async fn strings_that_differ_make_no_friends() {
    let mut house = House::new(7);
    let (mut anna, mut ben) = (house.device("Anna").await, house.device("Ben").await);
    let id = anna.client.find("Ben").await;
    anna.client.done(request::Body::Meet(control::Meet { peer: id })).await;
    ben.client.until("a string", |seen| !seen.comparisons.is_empty()).await;
    let peer = ben.client.seen.comparisons.first().expect("one").peer.clone();
    ben.client.done(request::Body::Compare(control::Compare { peer, same: false })).await;
    let differ = |seen: &tests::house::Seen| {
        seen.comparisons.is_empty()
            && seen.notices.iter().any(|notice| notice.kind() == NoticeKind::NoticeStringsDiffer)
    };
    anna.client.until("they differ", differ).await;
    ben.client.until("they differ", differ).await;
    assert!(anna.client.seen.friends.is_empty() && ben.client.seen.friends.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_stranger_never_rings_while_only_friends_may() {
    let mut house = House::new(8);
    let (mut anna, mut ben) = (house.device("Anna").await, house.device("Ben").await);
    let id = anna.client.find("Ben").await;
    let set = control::SetVisibility { visibility: Visibility::Friends.into() };
    ben.client.done(request::Body::SetVisibility(set)).await;
    anna.client.done(request::Body::Meet(control::Meet { peer: id.clone() })).await;
    let failed = |seen: &tests::house::Seen| {
        seen.connecting.get(&id).is_some_and(|one| one.state() == control::ConnectState::ConnectFailed)
    };
    anna.client.until("it came to nothing", failed).await;
    ben.client.scan(false).await;
    assert!(ben.client.seen.comparisons.is_empty() && ben.client.seen.notices.is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_invitation_to_a_stranger_waits_for_the_comparison() {
    let mut house = House::new(9);
    let (mut anna, mut ben) = (house.device("Anna").await, house.device("Ben").await);
    let peer = anna.client.find("Ben").await;
    let invite = control::Invite { peer, ..control::Invite::default() };
    anna.client.ask(request::Body::Invite(invite)).await.expect("invited");
    for device in [&mut anna, &mut ben] {
        device.client.until("a string", |seen| !seen.comparisons.is_empty()).await;
        let peer = device.client.seen.comparisons.first().expect("one").peer.clone();
        device.client.done(request::Body::Compare(control::Compare { peer, same: true })).await;
    }
    ben.client.until("an invitation", |seen| !seen.invitations.is_empty()).await;
    let invite_id = ben.client.seen.invitations.first().expect("one").invite_id.clone();
    ben.client
        .done(request::Body::AnswerInvite(control::AnswerInvite { invite_id, accept: false, reason: 0 }))
        .await;
    anna.client.until("declined", |seen| seen.invitations.is_empty()).await;
    assert!(anna.client.seen.rooms.is_empty() && ben.client.seen.rooms.is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_friends_say_is_heard_unless_they_are_muted() {
    let mut house = House::new(5_000_000);
    let (mut anna, mut ben) = pair(&mut house).await;
    begin_match(&mut anna, &mut ben).await;
    let room_id = anna.client.seen.room().expect("one room").id.clone();
    let text = |text: &str| {
        request::Body::Say(control::Say { room_id: room_id.clone(), phrase: 0, text: text.into() })
    };
    anna.client.done(text("手下留情")).await;
    ben.client
        .until("words", |seen| seen.said.iter().any(|said| said.text == "手下留情" && !said.mine))
        .await;
    assert!(anna.client.seen.said.iter().any(|said| said.mine), "what is said is shown here too");

    let friend = ben.client.seen.friends.keys().next().expect("Anna").clone();
    let mute = |muted| request::Body::SetMuted(control::SetMuted { peer: friend.clone(), muted });
    ben.client.done(mute(true)).await;
    ben.client.until("muted", |seen| seen.friends.values().any(|friend| friend.muted)).await;
    // It stays so after a restart.
    ben.kill().await;
    anna.client.until("Ben is away", |seen| seen.friends.values().all(|friend| !friend.connected)).await;
    ben.start().await;
    ben.client.until("still muted", |seen| seen.friends.values().any(|friend| friend.muted)).await;
    anna.client.until("Ben is back", |seen| seen.friends.values().any(|friend| friend.connected)).await;
    anna.client.done(text("not heard")).await;
    anna.client.play("h8").await.expect("played");
    ben.client.until("h8", |seen| seen.room().is_some_and(|room| room.record == ["h8"])).await;
    assert!(ben.client.seen.said.is_empty(), "{:?}", ben.client.seen.said);
}

#[tokio::test(start_paused = true)]
async fn who_is_forgotten_does_not_recognise_this_device_any_more() {
    let mut house = House::new(6_000_000);
    let (mut anna, mut ben) = pair(&mut house).await;
    let friend = anna.client.seen.friends.keys().next().expect("Ben").clone();
    anna.client.done(request::Body::Forget(control::Forget { peer: friend })).await;
    ben.client.until("Anna is gone", |seen| seen.friends.values().all(|friend| !friend.connected)).await;
    let id = ben.client.find("Anna").await;
    assert!(!ben.client.seen.friends.contains_key(&id), "her tag says nothing to Ben now");
}
