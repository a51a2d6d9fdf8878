//! A club evening on whole hosts: invitations, results from matches, restarts.

use proto::control::{
    self, Club, ClubPlayer, ClubResult, ClubState, RefusalCode, club_player::Who, club_request::Deed, reply,
    request,
};
use tests::house::{Client, Device, House, friends};

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
    let (mut anna, mut ben) = (house.device("Anna").await, house.device("Ben").await);
    friends(&mut anna, &mut ben).await;
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
    let (mut anna, mut ben) = (house.device("Anna").await, house.device("Ben").await);
    friends(&mut anna, &mut ben).await;
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
    let (mut anna, mut ben) = (house.device("Anna").await, house.device("Ben").await);
    friends(&mut anna, &mut ben).await;
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
