//! A club evening of sixteen hosts, each in a network namespace of its own.
//!
//! `make test-carriers` runs this; it needs root and `ip`.

#[expect(dead_code, reason = "the tests of the LAN use the rest of it")]
mod network;

use network::{Daemon, Network};
use proto::control::{
    self, ClubBoard, ClubPlayer, ClubResult, ClubState, club_player::Who, club_request::Deed, reply, request,
};
use tests::house::{Client, meet};

/// The players' names, the first of whom keeps the list.
const NAMES: [&str; 16] = [
    "a01", "a02", "a03", "a04", "a05", "a06", "a07", "a08", "a09", "a10", "a11", "a12", "a13", "a14", "a15",
    "a16",
];

async fn ask(client: &mut Client, deed: Deed) -> reply::Body {
    let club_id = client.seen.clubs.values().next_back().map(|club| club.id.clone()).unwrap_or_default();
    let asked = control::ClubRequest { club_id, deed: Some(deed) };
    client.ask(request::Body::Club(asked)).await.expect("not refused")
}

fn club(client: &Client) -> &control::Club {
    client.seen.clubs.values().next_back().expect("an evening")
}

/// The lower number wins, but the last player draws with everybody.
fn result(first: u32, second: u32) -> ClubResult {
    match (first.max(second) == 16, first < second) {
        (true, _) => ClubResult::ClubDraw,
        (false, true) => ClubResult::ClubFirstWins,
        (false, false) => ClubResult::ClubSecondWins,
    }
}

/// Plays the invitation's match to its result: by resigning, or by an accepted offer of a draw.
async fn play(keeper: &mut Client, friend: &mut Client, id: &str, result: ClubResult, keeper_first: bool) {
    friend.until("an invitation", |seen| seen.invitations.iter().any(|one| one.invite_id == id)).await;
    let answer = control::AnswerInvite { invite_id: id.into(), accept: true, reason: 0 };
    friend.done(request::Body::AnswerInvite(answer)).await;
    for client in [&mut *keeper, &mut *friend] {
        client.until("a room", |seen| seen.rooms.contains_key(id)).await;
    }
    let mover = if keeper_first { &mut *keeper } else { &mut *friend };
    assert!(mover.seen.rooms[id].can_act, "the colours are those of the table");
    if result == ClubResult::ClubDraw {
        let offer = control::Offer { room_id: id.into(), kind: control::OfferKind::OfferDraw.into() };
        friend.done(request::Body::Offer(offer)).await;
        keeper.until("the offer", |seen| seen.rooms[id].offer.is_some()).await;
        let answer = control::AnswerOffer { room_id: id.into(), accept: true };
        keeper.done(request::Body::AnswerOffer(answer)).await;
    } else {
        let resign = control::Resign { room_id: id.into(), side: 0 };
        let keeper_wins = (result == ClubResult::ClubFirstWins) == keeper_first;
        let loser = if keeper_wins { &mut *friend } else { &mut *keeper };
        loser.done(request::Body::Resign(resign)).await;
    }
    for client in [keeper, friend] {
        client.until("its end", |seen| seen.rooms[id].result.is_some()).await;
        client.done(request::Body::CloseRoom(control::CloseRoom { room_id: id.into() })).await;
    }
}

#[tokio::test]
#[ignore = "network namespaces need root; `make test-carriers` runs it"]
async fn sixteen_hosts_play_a_round_robin() {
    let network = Network::new(&NAMES);
    let mut keeper = Daemon::start(&network, NAMES[0]).await;
    let mut friends = Vec::new();
    for name in &NAMES[1..] {
        let mut friend = Daemon::start(&network, name).await;
        meet(&mut keeper.client, &mut friend.client, name).await;
        friends.push(friend);
    }
    let keeper = &mut keeper.client;
    keeper.until("fifteen friends", |seen| seen.friends.len() == 15).await;
    ask(keeper, Deed::Open(control::OpenClub { name: "Friday".into(), ..Default::default() })).await;
    let add = |who| Deed::Add(ClubPlayer { who: Some(who), ..Default::default() });
    ask(keeper, add(Who::Here(true))).await;
    for name in &NAMES[1..] {
        let id = keeper.seen.friends.values().find(|one| one.name == *name).expect("a friend").id.clone();
        ask(keeper, add(Who::Friend(id))).await;
    }
    ask(keeper, Deed::Start(control::StartClub { lots: false })).await;
    assert_eq!((club(keeper).rounds.len(), club(keeper).players.len()), (15, 16));
    let (mut matches, mut by_hand) = (0, 0);
    for round in 1..=15_u32 {
        let games = club(keeper).rounds[round as usize - 1].games.clone();
        assert_eq!((games.len(), club(keeper).round), (8, round));
        for game in games {
            let result = result(game.first, game.second);
            let at = ClubBoard { round, board: game.board };
            let answer = ask(keeper, Deed::Begin(at)).await;
            if let reply::Body::InviteId(id) = answer {
                let friend = &mut friends[game.first.max(game.second) as usize - 2].client;
                play(keeper, friend, &id, result, game.first == 1).await;
                matches += 1;
            } else {
                let verdict = control::ClubVerdict { round, board: game.board, result: result.into() };
                ask(keeper, Deed::Result(verdict)).await;
                by_hand += 1;
            }
            let known = club(keeper).rounds[round as usize - 1].games[game.board as usize - 1].result();
            assert_eq!(known, result, "round {round}, board {}", game.board);
        }
    }
    assert_eq!((matches, by_hand), (15, 105));
    ask(keeper, Deed::Finish(true)).await;
    assert_eq!(club(keeper).state(), ClubState::ClubFinished);
    let rows: Vec<(u32, u32, u32, u32)> = club(keeper)
        .standings
        .iter()
        .map(|row| (row.player, row.place, row.half_points, row.sonneborn_berger))
        .collect();
    // Player n of 1 to 15 beats the 15 - n after it and draws with 16, who has 7.5: 15.5 - n points. Sonneborn-Berger of n: the
    // sum of 15.5 - m for m from n + 1 to 15, which is (15 - n)^2 / 2, and half of 7.5. 16: half of 112.5, which is
    // the sum of the others' points.
    let mut by_points: Vec<(u32, u32, u32)> =
        (1..=15_u32).map(|n| (n, 31 - 2 * n, 2 * (15 - n).pow(2) + 15)).collect();
    by_points.push((16, 15, 225));
    by_points.sort_by_key(|(player, points, sb)| (std::cmp::Reverse((*points, *sb)), *player));
    let expected: Vec<(u32, u32, u32, u32)> =
        (1..).zip(by_points).map(|(place, (player, points, sb))| (player, place, points, sb)).collect();
    assert_eq!(rows, expected);
    // Every friend's device shows the same, read from its own place.
    let standings = club(keeper).standings.clone();
    for friend in &mut friends {
        let is_over =
            |club: &control::Club| club.state() == ClubState::ClubFinished && !club.keeper.is_empty();
        friend.client.until("the end", |seen| seen.clubs.values().any(is_over)).await;
        assert_eq!(club(&friend.client).standings, standings);
    }
}
