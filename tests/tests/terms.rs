//! Time controls, colours, counter-offers, pauses and analysis between whole hosts, and on one device.

use std::time::Duration;

use proto::board::{Ending, Pace, PaceKind, Side};
use proto::control::{self, ColourChoice, InvitationEnd, NoticeKind, OfferKind, reply, request};
use proto::peer::DeclineReason;
use tests::house::{Device, House, Seen, pair};

fn pace(kind: PaceKind, main_s: u32, step_s: u32) -> Pace {
    Pace { kind: kind.into(), main_s, step_s, periods: 0 }
}

/// Anna invites Ben; returns the id of her invitation.
async fn invite(from: &mut Device, colours: ColourChoice, pace: Option<Pace>) -> String {
    let peer = from.client.seen.friends.values().next().expect("a friend").id.clone();
    let invite = control::Invite { peer, colours: colours.into(), pace, ..control::Invite::default() };
    match from.client.ask(request::Body::Invite(invite)).await {
        Ok(reply::Body::InviteId(id)) => id,
        other => panic!("no invitation: {other:?}"),
    }
}

async fn asked(device: &mut Device) -> control::Invitation {
    device.client.until("an invitation", |seen| seen.invitations.iter().any(|one| !one.mine)).await;
    device.client.seen.invitations.iter().find(|one| !one.mine).expect("it was there").clone()
}

async fn answer(device: &mut Device, invite_id: String, accept: bool, reason: DeclineReason) {
    let answer = control::AnswerInvite { invite_id, accept, reason: reason.into() };
    device.client.done(request::Body::AnswerInvite(answer)).await;
}

async fn begin(anna: &mut Device, ben: &mut Device, colours: ColourChoice, pace: Option<Pace>) -> String {
    invite(anna, colours, pace).await;
    let id = asked(ben).await.invite_id;
    answer(ben, id.clone(), true, DeclineReason::DeclineUnspecified).await;
    let begun = |seen: &Seen| seen.rooms.contains_key(&id);
    anna.client.until("a room", begun).await;
    ben.client.until("a room", begun).await;
    id
}

async fn offer(device: &mut Device, kind: OfferKind, id: &str) {
    let offer = control::Offer { room_id: id.into(), kind: kind.into() };
    device.client.done(request::Body::Offer(offer)).await;
}

async fn agree(device: &mut Device, id: &str) {
    let offered =
        |seen: &Seen| seen.rooms.get(id).and_then(|room| room.offer).is_some_and(|offer| !offer.mine);
    device.client.until("an offer", offered).await;
    let answer = control::AnswerOffer { room_id: id.into(), accept: true };
    device.client.done(request::Body::AnswerOffer(answer)).await;
}

async fn resign(one: &mut Device, other: &mut Device, id: &str) {
    one.client.done(request::Body::Resign(control::Resign { room_id: id.into(), side: 0 })).await;
    for device in [one, other] {
        let over = |seen: &Seen| seen.rooms.get(id).is_some_and(|room| room.result.is_some());
        device.client.until("it is over", over).await;
    }
}

fn clocks(device: &Device, id: &str) -> Vec<u32> {
    device.client.seen.rooms[id].clocks.iter().map(|clock| clock.left_ms).collect()
}

#[tokio::test(start_paused = true)]
async fn both_devices_show_the_same_clocks_and_the_flag_ends_the_match_on_both() {
    let mut house = House::new(21);
    let (mut anna, mut ben) = pair(&mut house).await;
    let id =
        begin(&mut anna, &mut ben, ColourChoice::ColourFirst, Some(pace(PaceKind::PaceFischer, 60, 5))).await;
    assert!(ben.client.seen.rooms[&id].pace_name.as_ref().is_some_and(|name| name.zh.contains("每手加5秒")));
    tokio::time::sleep(Duration::from_secs(10)).await;
    anna.client.play("h8").await.expect("played");
    let moved = |seen: &Seen| seen.rooms[&id].record == ["h8"];
    ben.client.until("h8", moved).await;
    anna.client.until("it is seen", |seen| seen.rooms[&id].seen_ply == 1).await;
    for device in [&anna, &ben] {
        let [first, second] = clocks(device, &id)[..] else { panic!("two clocks") };
        assert!((54_000..=55_000).contains(&first), "{first}");
        assert!((59_000..=60_000).contains(&second), "{second}");
    }
    let over = |seen: &Seen| {
        seen.rooms[&id]
            .result
            .is_some_and(|result| (result.ending(), result.winner()) == (Ending::Time, Side::First))
    };
    ben.client.until("his time is over", over).await;
    anna.client.until("his time is over", over).await;
    assert_eq!(anna.record(), ben.record());
}

#[tokio::test(start_paused = true)]
async fn a_match_on_one_device_has_clocks_that_rest_while_it_is_paused_or_closed() {
    let mut house = House::new(22);
    let mut anna = house.device("Anna").await;
    let open = control::OpenRoom {
        pace: Some(pace(PaceKind::PaceSuddenDeath, 60, 0)),
        ..control::OpenRoom::default()
    };
    let Ok(reply::Body::RoomId(id)) = anna.client.ask(request::Body::OpenRoom(open)).await else {
        panic!("no room")
    };
    tokio::time::sleep(Duration::from_secs(10)).await;
    anna.client.play("h8").await.expect("played");
    assert_eq!(clocks(&anna, &id), [50_000, 60_000]);
    tokio::time::sleep(Duration::from_secs(5)).await;
    offer(&mut anna, OfferKind::OfferPause, &id).await;
    assert_eq!(clocks(&anna, &id), [50_000, 55_000]);
    let refused = anna.client.play("i9").await.expect_err("it rests");
    assert_eq!(refused.code(), control::RefusalCode::RefusalPaused);
    tokio::time::sleep(Duration::from_hours(1)).await;
    offer(&mut anna, OfferKind::OfferContinue, &id).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    // After adjourning, stopping and restarting the host, the clock shows the same time.
    offer(&mut anna, OfferKind::OfferAdjourn, &id).await;
    anna.stop().await;
    tokio::time::sleep(Duration::from_hours(1)).await;
    anna.start().await;
    let resume = request::Body::ResumeRoom(control::ResumeRoom { room_id: id.clone() });
    anna.client.ask(resume).await.expect("it was kept");
    anna.client.until("the room", |seen| seen.rooms.contains_key(&id)).await;
    assert_eq!(clocks(&anna, &id), [50_000, 50_000]);
    offer(&mut anna, OfferKind::OfferContinue, &id).await;
    let over = |seen: &Seen| seen.rooms[&id].result.is_some_and(|over| over.ending() == Ending::Time);
    anna.client.until("the time is over", over).await;
    assert_eq!(clocks(&anna, &id), [50_000, 0]);
}

/// In real time, because a bot searches on its own thread while a paused clock would advance. Level 10 takes three seconds
/// per decision if it has them, and here it has two.
#[tokio::test]
async fn a_bot_keeps_within_its_clock() {
    let mut house = House::new(23);
    let mut anna = house.device("Anna").await;
    let bot = || {
        let who = Some(control::seat::Who::BotLevel(10));
        Some(control::Seat { who, ..control::Seat::default() })
    };
    let open = control::OpenRoom {
        first: bot(),
        second: bot(),
        pace: Some(pace(PaceKind::PacePerMove, 0, 4)),
        ..control::OpenRoom::default()
    };
    anna.client.ask(request::Body::OpenRoom(open)).await.expect("a room");
    anna.client.until_over().await;
    let over = anna.client.seen.room().and_then(|room| room.result).expect("over");
    assert_ne!(over.ending(), Ending::Time);
}

#[tokio::test(start_paused = true)]
async fn drawn_colours_fall_alike_on_both_and_alternate_afterwards() {
    let mut house = House::new(24);
    let (mut anna, mut ben) = pair(&mut house).await;
    invite(&mut anna, ColourChoice::ColourAlternate, None).await;
    let one = asked(&mut ben).await;
    assert_eq!(
        (one.colours(), one.my_side()),
        (ColourChoice::ColourRandom, Side::Unspecified),
        "no match yet"
    );
    answer(&mut ben, one.invite_id.clone(), true, DeclineReason::DeclineUnspecified).await;
    let id = one.invite_id;
    anna.client.until("a room", |seen| seen.rooms.contains_key(&id)).await;
    ben.client.until("a room", |seen| seen.rooms.contains_key(&id)).await;
    let mine = |device: &Device, id: &str| device.client.seen.rooms[id].mine.clone();
    assert_ne!(mine(&anna, &id), mine(&ben, &id));
    let before = mine(&anna, &id);
    resign(&mut anna, &mut ben, &id).await;
    let next = begin(&mut ben, &mut anna, ColourChoice::ColourAlternate, None).await;
    assert_ne!(mine(&anna, &next), before, "not as the last time");
}

#[tokio::test(start_paused = true)]
async fn an_invitation_is_declined_with_a_reason_or_answered_with_other_terms() {
    let mut house = House::new(25);
    let (mut anna, mut ben) = pair(&mut house).await;
    let id = invite(&mut anna, ColourChoice::ColourFirst, None).await;
    let one = asked(&mut ben).await;
    answer(&mut ben, one.invite_id, false, DeclineReason::DeclineOtherGame).await;
    anna.client.until("a no", |seen| seen.ended.iter().any(|gone| gone.invite_id == id)).await;
    let gone = anna.client.seen.ended.last().expect("it was there").clone();
    assert_eq!(
        (gone.end(), gone.reason()),
        (InvitationEnd::InvitationDeclined, DeclineReason::DeclineOtherGame)
    );

    let id = invite(&mut anna, ColourChoice::ColourFirst, None).await;
    let one = asked(&mut ben).await;
    let counter = control::Invite {
        counters: one.invite_id,
        colours: ColourChoice::ColourSecond.into(),
        pace: Some(pace(PaceKind::PacePerMove, 0, 60)),
        ..control::Invite::default()
    };
    ben.client.ask(request::Body::Invite(counter)).await.expect("it is open");
    let theirs = asked(&mut anna).await;
    assert_eq!((theirs.counters.clone(), theirs.colours()), (id.clone(), ColourChoice::ColourFirst));
    let gone = anna.client.seen.ended.iter().find(|gone| gone.invite_id == id).expect("countered").clone();
    assert_eq!(gone.end(), InvitationEnd::InvitationCountered);
    assert_eq!(gone.countered_by, theirs.invite_id);
    answer(&mut anna, theirs.invite_id.clone(), true, DeclineReason::DeclineUnspecified).await;
    for device in [&mut anna, &mut ben] {
        let room = |seen: &Seen| seen.rooms.get(&theirs.invite_id).is_some_and(|room| room.pace.is_some());
        device.client.until("a room", room).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_invitation_outlives_its_link() {
    let mut house = House::new(26);
    let (mut anna, mut ben) = pair(&mut house).await;
    let id = invite(&mut anna, ColourChoice::ColourFirst, None).await;
    asked(&mut ben).await;
    house.air.cut_all();
    answer(&mut ben, id.clone(), true, DeclineReason::DeclineUnspecified).await;
    let begun = |seen: &Seen| seen.rooms.contains_key(&id);
    anna.client.until("a room", begun).await;
    ben.client.until("a room", begun).await;
}

#[tokio::test(start_paused = true)]
async fn a_match_is_adjourned_by_both_and_goes_on_another_day_beside_another() {
    let mut house = House::new(27);
    let (mut anna, mut ben) = pair(&mut house).await;
    let timed = Some(pace(PaceKind::PaceSuddenDeath, 300, 0));
    let id = begin(&mut anna, &mut ben, ColourChoice::ColourFirst, timed).await;
    anna.client.play("h8").await.expect("played");
    ben.client.until("h8", |seen| seen.rooms[&id].record == ["h8"]).await;
    offer(&mut anna, OfferKind::OfferAdjourn, &id).await;
    agree(&mut ben, &id).await;
    for device in [&mut anna, &mut ben] {
        device.client.until("the room is closed", |seen| !seen.rooms.contains_key(&id)).await;
        let told =
            |seen: &Seen| seen.notices.iter().any(|notice| notice.kind() == NoticeKind::NoticeAdjourned);
        device.client.until("it is told", told).await;
    }
    let second = begin(&mut anna, &mut ben, ColourChoice::ColourFirst, None).await;
    for device in [&mut anna, &mut ben] {
        device.stop().await;
    }
    tokio::time::sleep(Duration::from_hours(20)).await;
    for device in [&mut anna, &mut ben] {
        device.start().await;
        let resume = request::Body::ResumeRoom(control::ResumeRoom { room_id: id.clone() });
        device.client.ask(resume).await.expect("it was kept");
    }
    let can = |seen: &Seen| seen.rooms.get(&id).is_some_and(|room| room.paused && room.can_continue);
    ben.client.until("both are there", can).await;
    anna.client.until("both are there", can).await;
    offer(&mut ben, OfferKind::OfferContinue, &id).await;
    agree(&mut anna, &id).await;
    let goes_on = |seen: &Seen| seen.rooms.get(&id).is_some_and(|room| !room.paused && room.can_act);
    ben.client.until("it goes on", goes_on).await;
    assert!(ben.client.seen.rooms.contains_key(&second), "the other match is there too");
    assert!(clocks(&ben, &id)[1] > 290_000, "nobody's clock ran meanwhile");
    resign(&mut ben, &mut anna, &id).await;
    assert_eq!(anna.record(), ben.record());
}

#[tokio::test(start_paused = true)]
async fn after_the_end_both_look_at_the_same_and_either_may_try_moves() {
    let mut house = House::new(28);
    let (mut anna, mut ben) = pair(&mut house).await;
    let id = begin(&mut anna, &mut ben, ColourChoice::ColourFirst, None).await;
    anna.client.play("h8").await.expect("played");
    ben.client.until("h8", |seen| seen.rooms[&id].record == ["h8"]).await;
    resign(&mut ben, &mut anna, &id).await;
    let analyse = |step| request::Body::Analyse(control::Analyse { room_id: id.clone(), step: Some(step) });
    use control::analyse::Step;
    anna.client.done(analyse(Step::ToPly(1))).await;
    anna.client.done(analyse(Step::TryNotation("i9".into()))).await;
    let tried = |moves: &[&str]| {
        let moves: Vec<String> = moves.iter().map(|text| (*text).into()).collect();
        let id = id.clone();
        move |seen: &Seen| {
            seen.rooms[&id].analysis.as_ref().is_some_and(|shown| shown.shared && shown.tried == moves)
        }
    };
    ben.client.until("her move", tried(&["i9"])).await;
    ben.client.done(analyse(Step::TryNotation("g7".into()))).await;
    anna.client.until("his move", tried(&["i9", "g7"])).await;
    let refused = anna.client.ask(analyse(Step::TryNotation("h8".into()))).await;
    assert!(refused.is_err(), "a stone stands there");
    ben.client.done(analyse(Step::Back(true))).await;
    anna.client.until("one back", tried(&["i9"])).await;
    anna.client.done(analyse(Step::Close(true))).await;
    ben.client.until("back to the record", |seen| seen.rooms[&id].analysis.is_none()).await;
    assert_eq!(anna.record(), ben.record());
}

#[tokio::test(start_paused = true)]
async fn a_new_game_may_keep_the_colours() {
    let mut house = House::new(29);
    let (mut anna, mut ben) = pair(&mut house).await;
    let id = begin(&mut anna, &mut ben, ColourChoice::ColourFirst, None).await;
    resign(&mut ben, &mut anna, &id).await;
    offer(&mut anna, OfferKind::OfferNewGameSame, &id).await;
    agree(&mut ben, &id).await;
    let new = |seen: &Seen| seen.room().is_some_and(|room| room.follows == id);
    anna.client.until("a new game", new).await;
    let mine = anna.client.seen.room().expect("one room").mine.clone();
    assert_eq!(mine, [i32::from(Side::First)]);
}

async fn hint(device: &mut Device, room_id: &str) -> Result<reply::Body, control::Refusal> {
    let asked = control::Hint { room_id: room_id.into(), ..control::Hint::default() };
    device.client.ask(request::Body::Hint(asked)).await
}

#[tokio::test(start_paused = true)]
async fn hints_that_both_have_agreed_to_are_given_shown_to_the_other_and_kept() {
    let mut house = House::new(30);
    let (mut anna, mut ben) = pair(&mut house).await;
    let peer = anna.client.seen.friends.values().next().expect("a friend").id.clone();
    let colours = ColourChoice::ColourFirst.into();
    let invite = control::Invite { peer, colours, hints: true, ..control::Invite::default() };
    let invited = anna.client.ask(request::Body::Invite(invite)).await;
    assert!(matches!(invited, Ok(reply::Body::InviteId(_))), "{invited:?}");
    let invitation = asked(&mut ben).await;
    assert!(invitation.hints, "he reads it before he answers");
    answer(&mut ben, invitation.invite_id, true, DeclineReason::DeclineUnspecified).await;
    for device in [&mut anna, &mut ben] {
        device.client.until("a room", |seen| seen.room().is_some()).await;
    }
    let id = anna.client.seen.room().expect("one room").id.clone();
    assert_eq!(anna.client.seen.room().expect("one room").hints, Some(control::Hints::default()));

    let early = hint(&mut ben, &id).await.expect_err("it is her turn");
    assert_eq!(early.code(), control::RefusalCode::RefusalNotYourTurn);
    assert!(matches!(hint(&mut anna, &id).await, Ok(reply::Body::Hint(_))));
    let taken =
        |seen: &Seen| seen.room().is_some_and(|room| room.hints.is_some_and(|hints| hints.first == 1));
    for device in [&mut anna, &mut ben] {
        device.client.until("her hint", taken).await;
    }
    let told = |seen: &Seen| {
        seen.notices.iter().any(|notice| {
            notice.kind() == NoticeKind::NoticeHintTaken && notice.name == "Anna" && notice.room_id == id
        })
    };
    ben.client.until("it is told", told).await;
    anna.kill().await;
    anna.start().await;
    anna.client.until("her hint is kept", taken).await;
}
