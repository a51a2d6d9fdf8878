//! Club evenings of hosts, each in a network namespace of its own: one of sixteen, and a smaller one to which more happens.
//!
//! `make test-carriers` runs this; it needs root and `ip`.

#[expect(dead_code, reason = "the tests of the LAN use the rest of it")]
mod network;

use network::{Daemon, Network};
use proto::board::Game;
use proto::control::{
    self, ClubBoard, ClubPlayer, ClubResult, ClubState, PeerLink, club_player::Who, club_request::Deed,
    reply, request,
};
use tests::house::{Client, Seen, meet};

/// The players' names, the first of whom keeps the list.
const NAMES: [&str; 16] = [
    "a01", "a02", "a03", "a04", "a05", "a06", "a07", "a08", "a09", "a10", "a11", "a12", "a13", "a14", "a15",
    "a16",
];

/// The players of the smaller evening who have a device, the first of whom keeps the list; the last one comes late.
const FEW: [&str; 5] = ["b1", "b2", "b3", "b5", "b6"];

/// A match that the one who begins wins by five in a row.
const FIVE: [&str; 9] = ["h8", "a1", "h9", "a3", "h10", "a5", "h11", "a7", "h12"];

/// The first of these devices, and the others, who are its friends.
async fn gather(network: &Network, names: &[&str]) -> (Daemon, Vec<Daemon>) {
    let mut keeper = Daemon::start(network, names[0]).await;
    let mut friends = Vec::new();
    for name in &names[1..] {
        let mut friend = Daemon::start(network, name).await;
        meet(&mut keeper.client, &mut friend.client, name).await;
        friends.push(friend);
    }
    keeper.client.until("all are friends", |seen| seen.friends.len() == friends.len()).await;
    (keeper, friends)
}

async fn ask(client: &mut Client, deed: Deed) -> reply::Body {
    let club_id = client.seen.clubs.values().next_back().map(|club| club.id.clone()).unwrap_or_default();
    let asked = control::ClubRequest { club_id, deed: Some(deed) };
    client.ask(request::Body::Club(asked)).await.expect("not refused")
}

fn club(client: &Client) -> &control::Club {
    client.seen.clubs.values().next_back().expect("an evening")
}

async fn add(keeper: &mut Client, who: Who, name: &str) {
    let player = ClubPlayer { who: Some(who), name: name.into(), ..Default::default() };
    ask(keeper, Deed::Add(player)).await;
}

async fn add_friend(keeper: &mut Client, name: &str) {
    let id = keeper.seen.friends.values().find(|one| one.name == name).expect("a friend").id.clone();
    add(keeper, Who::Friend(id), "").await;
}

/// Player, place, half points and Sonneborn-Berger in quarters, the best first.
fn rows(club: &control::Club) -> Vec<(u32, u32, u32, u32)> {
    let row = |row: &control::ClubStanding| (row.player, row.place, row.half_points, row.sonneborn_berger);
    club.standings.iter().map(row).collect()
}

/// The lower number wins, but the last player draws with everybody.
fn result(first: u32, second: u32) -> ClubResult {
    match (first.max(second) == 16, first < second) {
        (true, _) => ClubResult::ClubDraw,
        (false, true) => ClubResult::ClubFirstWins,
        (false, false) => ClubResult::ClubSecondWins,
    }
}

/// The friend accepts the invitation, and both have the match.
async fn accept(keeper: &mut Client, friend: &mut Client, id: &str) {
    friend.until("an invitation", |seen| seen.invitations.iter().any(|one| one.invite_id == id)).await;
    let answer = control::AnswerInvite { invite_id: id.into(), accept: true, reason: 0 };
    friend.done(request::Body::AnswerInvite(answer)).await;
    for client in [keeper, friend] {
        client.until("a room", |seen| seen.rooms.contains_key(id)).await;
    }
}

/// Plays the invitation's match to its result: by resigning, or by an accepted offer of a draw.
async fn play(keeper: &mut Client, friend: &mut Client, id: &str, result: ClubResult, keeper_first: bool) {
    accept(keeper, friend, id).await;
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
    let (mut keeper, mut friends) = gather(&network, &NAMES).await;
    let keeper = &mut keeper.client;
    ask(keeper, Deed::Open(control::OpenClub { name: "Friday".into(), ..Default::default() })).await;
    add(keeper, Who::Here(true), "").await;
    for name in &NAMES[1..] {
        add_friend(keeper, name).await;
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
    // Player n of 1 to 15 beats the 15 - n after it and draws with 16, who has 7.5: 15.5 - n points. Sonneborn-Berger of n: the
    // sum of 15.5 - m for m from n + 1 to 15, which is (15 - n)^2 / 2, and half of 7.5. 16: half of 112.5, which is
    // the sum of the others' points.
    let mut by_points: Vec<(u32, u32, u32)> =
        (1..=15_u32).map(|n| (n, 31 - 2 * n, 2 * (15 - n).pow(2) + 15)).collect();
    by_points.push((16, 15, 225));
    by_points.sort_by_key(|(player, points, sb)| (std::cmp::Reverse((*points, *sb)), *player));
    let expected: Vec<(u32, u32, u32, u32)> =
        (1..).zip(by_points).map(|(place, (player, points, sb))| (player, place, points, sb)).collect();
    assert_eq!(rows(club(keeper)), expected);
    // Every friend's device shows the same, read from its own place.
    let standings = club(keeper).standings.clone();
    for friend in &mut friends {
        sees_the_end(&mut friend.client, &standings).await;
    }
}

/// A friend's device shows that the evening is over, and the same standings.
async fn sees_the_end(friend: &mut Client, standings: &[control::ClubStanding]) {
    let is_over = |club: &control::Club| club.state() == ClubState::ClubFinished && !club.keeper.is_empty();
    friend.until("the end", |seen| seen.clubs.values().any(is_over)).await;
    assert_eq!(club(friend).standings, standings);
}

/// The rounds as the handbook writes them, and in brackets who has no game.
fn table(club: &control::Club) -> Vec<String> {
    let round = |round: &control::ClubRound| {
        let games = round.games.iter().map(|game| format!("{}-{}", game.first, game.second));
        let free = round.free.iter().map(|player| format!("({player})"));
        games.chain(free).collect::<Vec<_>>().join(" ")
    };
    club.rounds.iter().map(round).collect()
}

/// Where in the table this pairing stands, and its result.
fn pairing(club: &control::Club, first: u32, second: u32) -> (ClubBoard, ClubResult) {
    let games = club.rounds.iter().flat_map(|round| round.games.iter().map(move |game| (round.round, game)));
    let mut of_both = games.filter(|(_, game)| (game.first, game.second) == (first, second));
    let (round, game) = of_both.next().expect("a pairing");
    (ClubBoard { round, board: game.board }, game.result())
}

async fn by_hand(keeper: &mut Client, first: u32, second: u32, result: ClubResult) {
    let (ClubBoard { round, board }, _) = pairing(club(keeper), first, second);
    let verdict = control::ClubVerdict { round, board, result: result.into() };
    ask(keeper, Deed::Result(verdict)).await;
    assert_eq!(pairing(club(keeper), first, second).1, result);
}

/// Begins the match of this pairing between two devices; returns its id.
async fn begin(keeper: &mut Client, friend: &mut Client, first: u32, second: u32) -> String {
    let (at, _) = pairing(club(keeper), first, second);
    let reply::Body::InviteId(id) = ask(keeper, Deed::Begin(at)).await else { panic!("no invitation") };
    accept(keeper, friend, &id).await;
    id
}

async fn act(client: &mut Client, id: &str, notation: &str) {
    let act = control::Act { room_id: id.into(), action: None, notation: notation.into() };
    client.done(request::Body::Act(act)).await;
}

/// Plays these moves, each once both devices have the one before. `first` moves first in the match.
async fn play_on(first: &mut Client, second: &mut Client, id: &str, moves: &[&str]) {
    for notation in moves {
        let ply = first.seen.rooms[id].record.len();
        let firsts_turn = ply.is_multiple_of(2);
        let mover = if firsts_turn { &mut *first } else { &mut *second };
        mover.until("its turn", |seen| seen.rooms[id].can_act).await;
        act(mover, id, notation).await;
        for client in [&mut *first, &mut *second] {
            client.until("the move", |seen| seen.rooms[id].record.len() == ply + 1).await;
        }
    }
}

async fn until_won(keeper: &mut Client, first: u32, second: u32) {
    let is_won = |club: &control::Club| pairing(club, first, second).1 == ClubResult::ClubFirstWins;
    keeper.until("its result", |seen| seen.clubs.values().any(is_won)).await;
}

fn is_up(seen: &Seen, id: &str) -> bool {
    let link = seen.rooms.get(id).and_then(|room| room.link);
    link.is_some_and(|link| link.state() == PeerLink::Up)
}

/// Ends a device's program as a crash does; returns what it has left.
fn killed(daemon: Daemon) -> tempfile::TempDir {
    daemon.home
}

#[tokio::test]
#[ignore = "network namespaces need root; `make test-carriers` runs it"]
async fn an_evening_has_byes_a_late_comer_a_leaver_a_player_without_a_device_and_a_crash_of_its_keeper() {
    use ClubResult::{
        ClubDraw as Draw, ClubFirstForfeits as FirstForfeits, ClubFirstWins as First,
        ClubNotPlayed as NotPlayed, ClubSecondForfeits as SecondForfeits, ClubSecondWins as Second,
    };
    let network = Network::new(&FEW);
    let (mut keeper, mut friends) = gather(&network, &FEW).await;
    let [b2, b3, _, b6] = &mut friends[..] else { panic!("four friends") };
    let list = &mut keeper.client;
    let choice = control::GameChoice { game: Game::Gomoku.into(), ..Default::default() };
    let evening = control::OpenClub { name: "Saturday".into(), choice: Some(choice), ..Default::default() };
    ask(list, Deed::Open(evening)).await;
    // Players 1 to 5; the fourth has no device.
    add(list, Who::Here(true), "").await;
    add_friend(list, "b2").await;
    add_friend(list, "b3").await;
    add(list, Who::Nobody(true), "Lin").await;
    add_friend(list, "b5").await;
    ask(list, Deed::Start(control::StartClub { lots: false })).await;
    assert_eq!(
        table(club(list)),
        ["2-5 3-4 (1)", "5-3 1-2 (4)", "3-1 4-5 (2)", "1-4 2-3 (5)", "4-2 5-1 (3)"]
    );

    // Round 1. After it the sixth comes, and takes the place of the bye.
    by_hand(list, 2, 5, First).await;
    by_hand(list, 3, 4, Draw).await;
    assert_eq!(club(list).round, 2);
    add_friend(list, "b6").await;
    assert_eq!(
        table(club(list)),
        ["2-5 3-4 1-6", "6-4 5-3 1-2", "2-6 3-1 4-5", "6-5 1-4 2-3", "3-6 4-2 5-1"]
    );
    assert_eq!((pairing(club(list), 1, 6).1, club(list).round), (NotPlayed, 2));
    let has_six = |seen: &Seen| seen.clubs.values().any(|club| club.players.len() == 6);
    b6.client.until("the evening that goes on", has_six).await;

    // Round 2: the keeper wins a whole match.
    by_hand(list, 6, 4, First).await;
    by_hand(list, 5, 3, First).await;
    let id = begin(list, &mut b2.client, 1, 2).await;
    play_on(list, &mut b2.client, &id, &FIVE).await;
    until_won(list, 1, 2).await;

    // Round 3: the keeper's program crashes in the middle of a match, which it then loses.
    by_hand(list, 2, 6, Second).await;
    by_hand(list, 4, 5, Draw).await;
    let id = begin(list, &mut b3.client, 3, 1).await;
    play_on(&mut b3.client, list, &id, &FIVE[..4]).await;
    let before = club(list).clone();
    let home = killed(keeper);
    b3.client.until("the keeper is away", |seen| !is_up(seen, &id)).await;
    let mut keeper = Daemon::start_in(&network, FEW[0], home).await;
    let list = &mut keeper.client;
    assert_eq!(club(list), &before, "nothing is lost");
    for client in [&mut *list, &mut b3.client] {
        client.until("they are connected", |seen| is_up(seen, &id)).await;
    }
    assert_eq!(list.seen.rooms[&id].record, FIVE[..4]);
    play_on(&mut b3.client, list, &id, &FIVE[4..]).await;
    until_won(list, 3, 1).await;

    // Round 4: the fifth has left after three of five games, which count. The fourth plays at the keeper's device.
    ask(list, Deed::Remove(5)).await;
    by_hand(list, 2, 3, Draw).await;
    let (at, _) = pairing(club(list), 1, 4);
    let reply::Body::RoomId(here) = ask(list, Deed::Begin(at)).await else { panic!("no room") };
    for notation in FIVE {
        act(list, &here, notation).await;
    }
    until_won(list, 1, 4).await;

    // Round 5, of which one game is forfeit.
    assert_eq!(club(list).round, 5);
    by_hand(list, 3, 6, Second).await;
    by_hand(list, 4, 2, First).await;
    assert_eq!(club(list).round, 0, "all is played");
    ask(list, Deed::Finish(true)).await;
    let shown = club(list).clone();
    let games = || shown.rounds.iter().map(|round| &round.games);
    let results: Vec<Vec<ClubResult>> =
        games().map(|games| games.iter().map(control::ClubGame::result).collect()).collect();
    assert_eq!(
        results,
        [
            [First, Draw, NotPlayed],
            [First, First, First],
            [Second, First, Draw],
            [SecondForfeits, First, Draw],
            [Second, First, FirstForfeits],
        ]
    );
    assert_eq!(games().flatten().filter(|game| !game.room_id.is_empty()).count(), 3, "nine are by hand");
    // Half points: 6 beat 4, 2, 3 and, without a game, 5; 1 beat 2, 4 and, without a game, 5; 3 beat 1, and drew with 4 and 2; 4 beat 2,
    // and drew with 3 and 5; 5 beat 3, and drew with 4; 2 beat 5, and drew with 3: 8, 6, 4, 4, 3 and 3.
    // Sonneborn-Berger in quarters, twice the half points of who was beaten and once those of who drew: 6: 8 + 6 + 8 + 6. 1: 6 + 8 + 6.
    // 3: 12 + 4 + 3. 4: 6 + 4 + 3. 5: 8 + 4. 2: 6 + 4.
    assert_eq!(
        rows(&shown),
        [(6, 1, 8, 28), (1, 2, 6, 20), (3, 3, 4, 19), (4, 4, 4, 13), (5, 5, 3, 12), (2, 6, 3, 10)]
    );
    sees_the_end(&mut b3.client, &shown.standings).await;
}
