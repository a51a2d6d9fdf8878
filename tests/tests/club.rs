//! A club evening on whole hosts: invitations, results from matches, restarts.

use proto::control::{
    self, Club, ClubPlayer, ClubResult, ClubState, RefusalCode, club_player::Who, club_request::Deed, reply,
    request,
};
use tests::house::{Client, Device, House, pair};

async fn ask(client: &mut Client, deed: Deed) -> Result<reply::Body, control::Refusal> {
    let club_id = client.seen.clubs.values().next_back().map(|club| club.id.clone()).unwrap_or_default();
    client.ask(request::Body::Club(control::ClubRequest { club_id, deed: Some(deed) })).await
}

async fn done(client: &mut Client, deed: Deed) {
    let answer = ask(client, deed).await;
    assert!(matches!(answer, Ok(reply::Body::Done(_))), "{answer:?}");
}

fn player(who: Who, name: &str) -> Deed {
    Deed::Add(ClubPlayer { who: Some(who), name: name.into(), ..Default::default() })
}

fn the_club(client: &Client) -> &Club {
    client.seen.clubs.values().next_back().expect("an evening")
}

/// An evening of Anna, her friend Ben, and Carl without a device: 2-3, 1-2, 3-1.
async fn evening(anna: &mut Device) {
    let open = control::OpenClub { name: "Friday".into(), ..Default::default() };
    assert!(
        matches!(ask(&mut anna.client, Deed::Open(open)).await, Ok(reply::Body::ClubId(id)) if id == "1")
    );
    let friend = anna.client.seen.friends.values().next().expect("a friend").id.clone();
    done(&mut anna.client, player(Who::Here(true), "")).await;
    done(&mut anna.client, player(Who::Friend(friend), "")).await;
    done(&mut anna.client, player(Who::Nobody(true), "Carl")).await;
    done(&mut anna.client, Deed::Start(control::StartClub { lots: false })).await;
}

/// Begins a pairing whose reply is an invitation, which Ben answers. Returns its id.
async fn invite(anna: &mut Device, ben: &mut Device, at: control::ClubBoard, accept: bool) -> String {
    let Ok(reply::Body::InviteId(id)) = ask(&mut anna.client, Deed::Begin(at)).await else {
        panic!("no invitation");
    };
    ben.client.until("an invitation", |seen| seen.invitations.iter().any(|one| one.invite_id == id)).await;
    let answer = control::AnswerInvite { invite_id: id.clone(), accept, reason: 0 };
    ben.client.done(request::Body::AnswerInvite(answer)).await;
    id
}

#[tokio::test(start_paused = true)]
async fn an_evening_is_played_by_invitation_here_and_by_hand_and_outlives_restarts() {
    let mut house = House::new(61);
    let (mut anna, mut ben) = pair(&mut house).await;
    evening(&mut anna).await;
    let names: Vec<&str> = the_club(&anna.client).players.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["Anna", "Ben", "Carl"]);

    // Ben plays Carl, who sits at Anna's device: Ben moves first. Ben resigns.
    let at = control::ClubBoard { round: 1, board: 1 };
    let id = invite(&mut anna, &mut ben, at, true).await;
    ben.client.until("a room", |seen| seen.rooms.contains_key(&id)).await;
    assert_eq!(ben.client.seen.rooms[&id].mine, [proto::board::Side::First as i32]);
    anna.client.until("a room", |seen| seen.rooms.contains_key(&id)).await;
    assert_eq!(the_club(&anna.client).rounds[0].games[0].room_id, id);
    let before = the_club(&anna.client).clone();
    anna.kill().await;
    anna.start().await;
    assert_eq!(the_club(&anna.client), &before, "nothing is lost by a crash");
    ben.client.done(request::Body::Resign(control::Resign { room_id: id.clone(), side: 0 })).await;
    let result = |club: &Club, round: usize| club.rounds[round - 1].games[0].result();
    anna.client
        .until("the result", |seen| {
            seen.clubs.values().any(|club| result(club, 1) == ClubResult::ClubSecondWins)
        })
        .await;

    // Carl against Anna, both here.
    let at = control::ClubBoard { round: 3, board: 1 };
    let Ok(reply::Body::RoomId(here)) = ask(&mut anna.client, Deed::Begin(at)).await else {
        panic!("no room")
    };
    let again = ask(&mut anna.client, Deed::Begin(at)).await;
    assert!(matches!(again, Ok(reply::Body::RoomId(id)) if id == here), "it is the same room");
    let resign = control::Resign { room_id: here.clone(), side: proto::board::Side::First.into() };
    anna.client.done(request::Body::Resign(resign)).await;
    assert_eq!(result(the_club(&anna.client), 3), ClubResult::ClubSecondWins);
    assert_eq!(the_club(&anna.client).round, 2);

    // The last one by hand, corrected.
    for given in [ClubResult::ClubFirstWins, ClubResult::ClubDraw] {
        let verdict = control::ClubVerdict { round: 2, board: 1, result: given.into() };
        done(&mut anna.client, Deed::Result(verdict)).await;
    }
    done(&mut anna.client, Deed::Finish(true)).await;
    let rows: Vec<(u32, u32, u32, u32)> = the_club(&anna.client)
        .standings
        .iter()
        .map(|row| (row.player, row.place, row.half_points, row.sonneborn_berger))
        .collect();
    // Anna: beat Carl (1), drew with Ben (half of 0.5): 1.25. Carl: beat Ben (0.5). Ben: half of 1.5.
    assert_eq!(rows, [(1, 1, 3, 5), (3, 2, 2, 2), (2, 3, 1, 3)]);
    let before = the_club(&anna.client).clone();
    assert_eq!((before.state(), before.round), (ClubState::ClubFinished, 0));
    anna.stop().await;
    anna.start().await;
    assert_eq!(the_club(&anna.client), &before);
}

#[tokio::test(start_paused = true)]
async fn a_declined_pairing_can_be_begun_again_and_a_match_of_their_own_counts() {
    let mut house = House::new(62);
    let (mut anna, mut ben) = pair(&mut house).await;
    evening(&mut anna).await;
    let before = the_club(&anna.client).clone();
    let at = control::ClubBoard { round: 2, board: 1 };
    let id = invite(&mut anna, &mut ben, at, false).await;
    anna.client.until("the answer", |seen| seen.ended.iter().any(|gone| gone.invite_id == id)).await;
    assert_eq!(the_club(&anna.client), &before);

    // Ben invites Anna by himself, to move first: with the colours exchanged.
    let peer = ben.client.seen.friends.values().next().expect("a friend").id.clone();
    let invite = control::Invite {
        peer,
        colours: control::ColourChoice::ColourFirst.into(),
        choice: Some(control::GameChoice { game: 1, ..Default::default() }),
        ..Default::default()
    };
    let Ok(reply::Body::InviteId(own)) = ben.client.ask(request::Body::Invite(invite)).await else {
        panic!("no invitation");
    };
    anna.client.until("an invitation", |seen| seen.invitations.iter().any(|one| one.invite_id == own)).await;
    let answer = control::AnswerInvite { invite_id: own.clone(), accept: true, reason: 0 };
    anna.client.done(request::Body::AnswerInvite(answer)).await;
    anna.client.until("a room", |seen| seen.rooms.contains_key(&own)).await;
    let game = |club: &Club| club.rounds[1].games[0].clone();
    assert_eq!((game(the_club(&anna.client)).room_id, game(the_club(&anna.client)).first), (own.clone(), 1));
    anna.client.done(request::Body::Resign(control::Resign { room_id: own, side: 0 })).await;
    anna.client
        .until("the result", |seen| {
            seen.clubs.values().any(|club| game(club).result() == ClubResult::ClubSecondWins)
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_late_client_sees_the_evening_and_what_is_refused_says_why() {
    let mut house = House::new(63);
    let (mut anna, _ben) = pair(&mut house).await;
    evening(&mut anna).await;
    let late = Client::attach(anna.host().client()).await;
    assert_eq!(late.seen.clubs, anna.client.seen.clubs);
    let refused = ask(&mut anna.client, player(Who::Nobody(true), "Carl")).await.expect_err("on the list");
    assert_eq!(refused.code(), RefusalCode::RefusalBadRequest);
    assert_eq!(refused.reason.map(|words| words.en).as_deref(), Some("This player is on the list already."));
    let open = control::OpenClub { name: "Saturday".into(), ..Default::default() };
    let refused = ask(&mut anna.client, Deed::Open(open)).await.expect_err("one at a time");
    assert_eq!(refused.code(), RefusalCode::RefusalBusy);
    let stranger = ask(&mut anna.client, player(Who::Friend("ff".repeat(32)), "")).await;
    assert_eq!(stranger.expect_err("no friend").code(), RefusalCode::RefusalNoSuchPeer);
    done(&mut anna.client, Deed::Discard(true)).await;
    assert!(anna.client.seen.clubs.is_empty());
    anna.stop().await;
    anna.start().await;
    assert!(anna.client.seen.clubs.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_friend_on_the_list_sees_the_evening_at_home_and_begins_the_own_pairing_there() {
    let mut house = House::new(64);
    let (mut anna, mut ben) = pair(&mut house).await;
    evening(&mut anna).await;
    let keeper = ben.client.seen.friends.values().next().expect("a friend").id.clone();
    let runs = |club: &Club| club.state() == ClubState::ClubRunning;
    ben.client.until("the evening", |seen| seen.clubs.values().any(runs)).await;
    let seen = the_club(&ben.client).clone();
    assert_eq!((seen.name.as_str(), &seen.keeper), ("Friday", &keeper));
    assert_eq!(seen.players[0].who, Some(Who::Friend(keeper.clone())));
    assert_eq!(seen.players[1].who, Some(Who::Here(true)));
    assert_eq!(seen.players[2].who, Some(Who::Nobody(true)));
    assert_eq!(seen.standings, the_club(&anna.client).standings);
    assert_eq!(seen.next, the_club(&anna.client).next, "who plays whom next");
    // 2-3, 1-2, 3-1: only the second is between Ben's device and Anna's.
    let ways: Vec<control::ClubWay> =
        seen.rounds.iter().flat_map(|round| &round.games).map(control::ClubGame::way).collect();
    use control::ClubWay::{Invite, None as Not};
    assert_eq!(ways, [Not, Invite, Not]);

    // The list is Anna's to change.
    for deed in [
        player(Who::Nobody(true), "Eve"),
        Deed::Remove(3),
        Deed::Result(control::ClubVerdict { round: 2, board: 1, result: ClubResult::ClubSecondWins.into() }),
        Deed::Begin(control::ClubBoard { round: 1, board: 1 }),
        Deed::Finish(true),
    ] {
        let refusal = ask(&mut ben.client, deed).await.expect_err("it is Anna's list");
        assert_eq!((refusal.code(), refusal.reason.is_some()), (RefusalCode::RefusalBadRequest, true));
    }

    // Ben begins their pairing; its match counts, and both see the result.
    let at = control::ClubBoard { round: 2, board: 1 };
    let id = invite(&mut ben, &mut anna, at, true).await;
    ben.client.until("a room", |seen| seen.rooms.contains_key(&id)).await;
    assert_eq!(ben.client.seen.rooms[&id].mine, [proto::board::Side::Second as i32], "as the table says");
    ben.client.done(request::Body::Resign(control::Resign { room_id: id.clone(), side: 0 })).await;
    let over = |club: &Club| club.rounds[1].games[0].result() == ClubResult::ClubFirstWins;
    anna.client.until("the result", |seen| seen.clubs.values().any(over)).await;
    ben.client.until("the result", |seen| seen.clubs.values().any(over)).await;

    // What he missed he is told on the next link. A restart of his device forgets the evening until then.
    ben.stop().await;
    let verdict = control::ClubVerdict { round: 3, board: 1, result: ClubResult::ClubDraw.into() };
    done(&mut anna.client, Deed::Result(verdict)).await;
    ben.start().await;
    ben.client.done(request::Body::Meet(control::Meet { peer: keeper.clone() })).await;
    let drawn = |club: &Club| club.rounds[2].games[0].result() == ClubResult::ClubDraw;
    ben.client.until("what he missed", |seen| seen.clubs.values().any(drawn)).await;

    // Hidden until the next change; gone with the evening.
    done(&mut ben.client, Deed::Discard(true)).await;
    ben.client.until("it is hidden", |seen| seen.clubs.is_empty()).await;
    done(&mut anna.client, Deed::Finish(true)).await;
    ben.client.until("it is back", |seen| !seen.clubs.is_empty()).await;
    // Deleted while he is away: his device still shows it until they meet.
    house.air.set_reach("Ben", false);
    anna.client.until("Ben is away", |seen| seen.friends.values().all(|friend| !friend.connected)).await;
    done(&mut anna.client, Deed::Discard(true)).await;
    house.air.set_reach("Ben", true);
    ben.client.done(request::Body::Meet(control::Meet { peer: keeper })).await;
    ben.client.until("it is gone", |seen| seen.clubs.is_empty()).await;
}

#[tokio::test(start_paused = true)]
async fn an_evening_is_gone_for_a_friend_taken_off_the_list_forgotten_or_muted() {
    let mut house = House::new(65);
    let (mut anna, mut ben) = pair(&mut house).await;
    let open = control::OpenClub { name: "Friday".into(), ..Default::default() };
    ask(&mut anna.client, Deed::Open(open)).await.expect("none is open");
    let friend = anna.client.seen.friends.values().next().expect("a friend").id.clone();
    done(&mut anna.client, player(Who::Friend(friend.clone()), "")).await;
    ben.client.until("the list", |seen| !seen.clubs.is_empty()).await;
    done(&mut anna.client, Deed::Remove(1)).await;
    ben.client.until("off the list", |seen| seen.clubs.is_empty()).await;

    let peer = ben.client.seen.friends.values().next().expect("a friend").id.clone();
    ben.client.done(request::Body::SetMuted(control::SetMuted { peer: peer.clone(), muted: true })).await;
    done(&mut anna.client, player(Who::Friend(friend.clone()), "")).await;
    tokio::time::sleep(std::time::Duration::from_secs(10)).await;
    ben.client.done(request::Body::SetMuted(control::SetMuted { peer: peer.clone(), muted: false })).await;
    assert!(ben.client.seen.clubs.is_empty(), "of a muted friend nothing is shown");
    done(&mut anna.client, player(Who::Nobody(true), "Carl")).await;
    ben.client.until("the list", |seen| !seen.clubs.is_empty()).await;
    ben.client.done(request::Body::Forget(control::Forget { peer })).await;
    ben.client.until("it went with the friend", |seen| seen.clubs.is_empty()).await;
}

#[tokio::test(start_paused = true)]
async fn a_result_from_a_match_goes_with_its_end_if_both_take_the_last_move_back() {
    let mut house = House::new(66);
    let (mut anna, mut ben) = pair(&mut house).await;
    evening(&mut anna).await;
    let at = control::ClubBoard { round: 2, board: 1 };
    let id = invite(&mut anna, &mut ben, at, true).await;
    for client in [&mut anna.client, &mut ben.client] {
        client.until("a room", |seen| seen.rooms.contains_key(&id)).await;
    }
    for (number, points) in ["h8", "a1", "i8", "a2", "j8", "a3", "k8", "a4", "l8"].iter().enumerate() {
        let (mover, other) = if number % 2 == 0 { (&mut anna, &mut ben) } else { (&mut ben, &mut anna) };
        let act = control::Act { room_id: id.clone(), notation: (*points).into(), action: None };
        mover.client.done(request::Body::Act(act)).await;
        let played = |seen: &tests::house::Seen| seen.rooms[&id].moves == number as u32 + 1;
        other.client.until("the move", played).await;
    }
    let result = |club: &Club| club.rounds[1].games[0].result();
    anna.client
        .until("five", |seen| seen.clubs.values().any(|club| result(club) != ClubResult::Unspecified))
        .await;
    let offer = control::Offer { room_id: id.clone(), kind: control::OfferKind::OfferTakeBack.into() };
    anna.client.done(request::Body::Offer(offer)).await;
    ben.client.until("the offer", |seen| seen.rooms[&id].offer.is_some()).await;
    ben.client
        .done(request::Body::AnswerOffer(control::AnswerOffer { room_id: id.clone(), accept: true }))
        .await;
    anna.client
        .until("open", |seen| seen.clubs.values().any(|club| result(club) == ClubResult::Unspecified))
        .await;
    // What is entered by hand stays.
    let verdict = control::ClubVerdict { round: 2, board: 1, result: ClubResult::ClubDraw.into() };
    done(&mut anna.client, Deed::Result(verdict)).await;
    ben.client.done(request::Body::Resign(control::Resign { room_id: id.clone(), side: 0 })).await;
    anna.client.until("the end", |seen| seen.rooms[&id].result.is_some()).await;
    assert_eq!(result(the_club(&anna.client)), ClubResult::ClubDraw);
}
