//! Matches with guests as any other match: clocks that run out, pauses, analysis and export afterwards, evenings of guests only.

use std::collections::BTreeMap;

use proto::board::{self, Ending, PaceKind, Side};
use proto::control::{
    self, ClubPlayer, ClubRequest, OfferKind, RefusalCode, club_player::Who, club_request::Deed, event,
    reply, request,
};
use serde_json::{Value, json};
use tests::house::{Client, House};

use super::{OTHER_TAB, TAB, a_guest, code, device, here, with_guest};
use crate::page::{Code, Page};

/// Opens a match with a guest at the second side, and one second for the whole match for each.
async fn with_one_second(client: &mut Client) -> String {
    let pace = board::Pace { kind: PaceKind::PaceSuddenDeath.into(), main_s: 1, ..Default::default() };
    let open = control::OpenRoom {
        first: Some(here()),
        second: Some(a_guest()),
        pace: Some(pace),
        ..Default::default()
    };
    match client.ask(request::Body::OpenRoom(open)).await {
        Ok(reply::Body::RoomId(id)) => id,
        other => panic!("no room: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whose_time_runs_out_loses_and_both_are_told_in_words() {
    for (loser, plies) in [(Side::First, 0), (Side::Second, 1)] {
        let mut house = House::new(30 + plies);
        let mut device = device(&mut house).await;
        let client = &mut device.client;
        let id = with_one_second(client).await;
        let code = code(client, &id, false).await;
        let mut page = Page::come(&code, TAB, 0).await;
        page.until_room(|_| true).await;
        client.until("the guest is here", |seen| seen.rooms[&id].can_act).await;
        if loser == Side::Second {
            client.play("h8").await.expect("in time");
        }
        client.until("the flag falls", |seen| seen.rooms[&id].result.is_some()).await;
        let room = client.seen.rooms[&id].clone();
        let result = room.result.expect("over");
        assert_eq!((result.ending(), result.winner()), (Ending::Time, other(loser)));
        assert_eq!(room.record.len() as u64, plies);
        page.until_room(|room| !room["result"].is_null()).await;
        let shown = &page.room["result"];
        let winner = if loser == Side::First { "second" } else { "first" };
        assert_eq!((&shown["ending"], &shown["winner"]), (&json!("time"), &json!(winner)));
        for language in ["zh", "en"] {
            assert!(shown["words"][language].as_str().is_some_and(|words| !words.is_empty()), "{shown}");
        }
        let late = page.act(&json!({ "place": 0 })).await;
        assert!(late.get("refused").is_some(), "{late}");
    }
}

fn other(side: Side) -> Side {
    if side == Side::First { Side::Second } else { Side::First }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_and_its_end_need_the_consent_of_the_other_person() {
    let mut house = House::new(32);
    let mut device = device(&mut house).await;
    let client = &mut device.client;
    let (id, _, mut page) = with_guest(client).await;
    client.play("h8").await.expect("Anna's turn");
    page.until_room(|room| room["ply"] == json!(1)).await;
    let offer = |page: &Page, kind: &str| {
        let mut offer = page.position();
        offer["kind"] = kind.into();
        offer
    };
    // The guest asks, and goes on waiting until Anna agrees.
    let pause = offer(&page, "pause");
    assert_eq!(page.ask("offer", pause).await["ok"], json!(true));
    client.until("the offer", |seen| seen.rooms[&id].offer.is_some()).await;
    let open = client.seen.rooms[&id].offer.expect("open");
    assert_eq!((open.kind(), open.mine), (OfferKind::OfferPause, false));
    assert!(!client.seen.rooms[&id].paused, "before the answer");
    let answer = |accept| request::Body::AnswerOffer(control::AnswerOffer { room_id: id.clone(), accept });
    client.done(answer(true)).await;
    page.until_room(|room| room["paused"] == json!(true)).await;
    assert_eq!((&page.room["can_act"], &page.room["can_continue"]), (&json!(false), &json!(true)));
    let act = page.act(&json!({ "place": 0 })).await;
    assert_eq!(act["refused"], json!("paused"));
    // The other way round: Anna asks to go on; the guest declines first, then agrees.
    for accept in [false, true] {
        let ours = control::Offer { room_id: id.clone(), kind: OfferKind::OfferContinue.into() };
        client.done(request::Body::Offer(ours)).await;
        page.until_room(|room| room["offer"]["mine"] == json!(false)).await;
        assert_eq!((&page.room["offer"]["kind"], &page.room["paused"]), (&json!("continue"), &json!(true)));
        let number = page.room["offer"]["number"].clone();
        let answer = json!({"room": id, "number": number, "accept": accept});
        assert_eq!(page.ask("answer", answer).await["ok"], json!(true));
        page.until_room(|room| room["offer"].is_null()).await;
        assert_eq!(page.room["paused"], json!(!accept));
    }
    client.until("it goes on", |seen| !seen.rooms[&id].paused).await;
    assert_eq!(page.act(&json!({ "place": 0 })).await["ok"], json!(true));
    client.until("the guest's move", |seen| seen.rooms[&id].record.len() == 2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_finished_match_with_a_guest_is_judged_and_exported_as_any_other() {
    let mut house = House::new(33);
    let mut device = device(&mut house).await;
    let client = &mut device.client;
    let (id, _, mut page) = with_guest(client).await;
    let line = |row: u32| (0..5).map(move |column| row * 1_024 + column);
    for (turn, (ours, theirs)) in line(0).zip(line(8)).enumerate() {
        let place = board::action::Kind::Place(ours);
        let action = Some(board::Action { kind: Some(place) });
        let act = control::Act { room_id: id.clone(), action, notation: String::new() };
        client.done(request::Body::Act(act)).await;
        page.until_room(|room| room["ply"] == json!(2 * turn + 1)).await;
        if turn < 4 {
            assert_eq!(page.act(&json!({ "place": theirs })).await["ok"], json!(true));
            client.until("the guest's move", |seen| seen.rooms[&id].record.len() == 2 * turn + 2).await;
        }
    }
    client.until("five in a row", |seen| seen.rooms[&id].result.is_some()).await;
    page.until_room(|room| !room["result"].is_null()).await;
    client.done(request::Body::CloseRoom(control::CloseRoom { room_id: id.clone() })).await;

    let on = control::AnalyseMatch { room_id: id.clone(), on: true, ..Default::default() };
    client.done(request::Body::AnalyseMatch(on)).await;
    let judged = loop {
        if let Some(event::Body::Judgements(all)) = client.next().await.body
            && all.ended
        {
            break all;
        }
    };
    assert_eq!((judged.total, judged.positions.len()), (10, 10));
    assert_eq!(judged.positions[9].permille, 1_000, "the first side has won");
    let missed = &judged.positions[8];
    assert_eq!(missed.permille, 1_000, "the guest had to stop four in a row: {judged:?}");
    assert!(missed.why.is_some() && missed.try_again.is_empty(), "told, but nobody here made this mistake");

    let export = control::Export { room_id: id, format: "sgf".into(), ply: None };
    let Ok(reply::Body::File(file)) = client.ask(request::Body::Export(export)).await else {
        panic!("a file")
    };
    let text = String::from_utf8(file.content.to_vec()).expect("text");
    assert!(text.contains("PB[Anna]") && text.contains("PW[Ben]") && text.contains("RE[B+"), "{text}");
    assert_eq!(text.matches(";B[").count() + text.matches(";W[").count(), 9, "{text}");
}

/// Sends this to the host as an evening's deed; returns the id that it answers with.
async fn deed(client: &mut Client, club: &str, deed: Deed) -> String {
    let asked = ClubRequest { club_id: club.into(), deed: Some(deed) };
    match client.ask(request::Body::Club(asked)).await.expect("done") {
        reply::Body::ClubId(id) | reply::Body::RoomId(id) => id,
        _ => String::new(),
    }
}

/// A code of this room, and the seat that it is for.
async fn next_code(client: &mut Client, room: &str) -> (Side, Code) {
    let show = control::ShowGuestCode { room_id: room.into(), ..Default::default() };
    match client.ask(request::Body::ShowGuestCode(show)).await {
        Ok(reply::Body::GuestCode(shown)) => (shown.seat(), Code::read(&shown.url)),
        other => panic!("no code: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_guests_of_an_evening_get_their_codes_in_turn_and_their_game_counts() {
    let mut house = House::new(34);
    let mut device = device(&mut house).await;
    let client = &mut device.client;
    let evening = control::OpenClub { name: "Friday".into(), ..Default::default() };
    let club = deed(client, "", Deed::Open(evening)).await;
    for (who, name) in [(Who::Guest(true), "Guo"), (Who::Guest(true), "Mia"), (Who::Nobody(true), "Otto")] {
        let player = ClubPlayer { who: Some(who), name: name.into(), ..Default::default() };
        deed(client, &club, Deed::Add(player)).await;
    }
    deed(client, &club, Deed::Start(control::StartClub { lots: false })).await;
    let number: u32 = club.parse().expect("a number");
    client
        .until("the rounds", |seen| seen.clubs.get(&number).is_some_and(|club| club.rounds.len() == 3))
        .await;
    let shown = client.seen.clubs[&number].clone();
    let names: BTreeMap<u32, &str> = shown.players.iter().map(|one| (one.id, one.name.as_str())).collect();
    let (round, game) = shown
        .rounds
        .iter()
        .flat_map(|round| round.games.iter().map(move |game| (round.round, game)))
        .find(|(_, game)| [game.first, game.second].iter().all(|id| names[id] != "Otto"))
        .expect("the guests meet");
    let board = control::ClubBoard { round, board: game.board };
    let room = deed(client, &club, Deed::Begin(board)).await;

    // Without a side, the code is that of the seat where somebody is missing.
    let mut pages = Vec::new();
    for (side, tab) in [(Side::First, TAB), (Side::Second, OTHER_TAB)] {
        let (seat, code) = next_code(client, &room).await;
        assert_eq!(seat, side);
        assert_eq!(next_code(client, &room).await.0, side, "the same until somebody has come");
        let mut page = Page::come(&code, tab, 0).await;
        let you = if side == Side::First { "first" } else { "second" };
        page.until_room(|shown| shown["you"] == json!(you)).await;
        let key = (room.clone(), i32::from(side));
        client.until("somebody has come", |seen| seen.guests[&key].present).await;
        pages.push(page);
    }
    let show = control::ShowGuestCode { room_id: room.clone(), ..Default::default() };
    let refusal = client.ask(request::Body::ShowGuestCode(show)).await.expect_err("nobody is missing");
    assert_eq!(refusal.code(), control::RefusalCode::RefusalBadRequest);

    for (ply, place) in [(0, 0), (1, 1_024), (2, 1)] {
        let page = &mut pages[ply % 2];
        page.until_room(|room| room["ply"] == json!(ply)).await;
        assert_eq!(page.act(&json!({ "place": place })).await["ok"], json!(true), "ply {ply}");
    }
    pages[1].until_room(|room| room["ply"] == json!(3)).await;
    let mut resign = pages[1].position();
    resign.as_object_mut().expect("fields").remove("ply");
    assert_eq!(pages[1].ask("resign", resign).await["ok"], json!(true));
    client
        .until("the result counts", |seen| {
            let games = seen.clubs[&number].rounds.iter().flat_map(|round| &round.games);
            games.filter(|one| one.result() == control::ClubResult::ClubFirstWins).count() == 1
        })
        .await;
    let standings = client.seen.clubs[&number].standings.clone();
    let points = |name: &str| {
        let row = standings.iter().find(|row| names[&row.player] == name).expect("listed");
        row.half_points
    };
    assert_eq!((points(names[&game.first]), points(names[&game.second]), points("Otto")), (2, 0, 0));
    for page in &mut pages {
        while !page.heard.iter().filter_map(|one| one.get("club")).any(ended) {
            page.next().await.expect("the evening is told");
        }
    }
}

/// The code of this evening.
async fn evening_code(client: &mut Client, club: &str) -> Code {
    let show = control::ShowGuestCode { club_id: club.into(), ..Default::default() };
    match client.ask(request::Body::ShowGuestCode(show)).await {
        Ok(reply::Body::GuestCode(shown)) => Code::read(&shown.url),
        other => panic!("no code: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everybody_sees_an_evening_by_its_code_and_nothing_else_and_guests_sit_down_from_there() {
    let mut house = House::new(35);
    let mut device = device(&mut house).await;
    let client = &mut device.client;
    let evening = control::OpenClub { name: "Friday".into(), ..Default::default() };
    let club = deed(client, "", Deed::Open(evening)).await;
    for (who, name) in [(Who::Here(true), "Anna"), (Who::Guest(true), "Guo")] {
        let player = ClubPlayer { who: Some(who), name: name.into(), ..Default::default() };
        deed(client, &club, Deed::Add(player)).await;
    }
    // Before it begins; a second time it is the same code.
    let code = evening_code(client, &club).await;
    assert_eq!(evening_code(client, &club).await.token, code.token);
    let mut page = Page::come(&code, TAB, 0).await;
    let welcome = page.until("welcome", |_| true).await;
    assert_eq!((&welcome["as"], &welcome["side"]), (&json!("evening"), &json!("unspecified")));
    let list = page.until("club", |club| club["state"] == "gathering").await;
    assert_eq!((&list["players"][1]["name"], &list["seats"]), (&json!("Guo"), &json!([])));
    let key = (club.clone(), 0);
    client.until("somebody looks", |seen| seen.guests.get(&key).is_some_and(|one| one.watchers == 1)).await;

    deed(client, &club, Deed::Start(control::StartClub { lots: false })).await;
    page.until("club", |club| club["state"] == "running").await;
    let room = deed(client, &club, Deed::Begin(control::ClubBoard { round: 1, board: 1 })).await;
    let begun = page.until("club", |club| club["rounds"][0]["games"][0]["begun"] == true).await;
    assert_eq!(begun["seats"], json!([]), "its seat has no code");
    assert!(begun["rounds"][0]["games"][0].get("room_id").is_none(), "{begun}");

    // Nothing of any room is to be had by it.
    for (kind, fields) in [
        ("look", json!({"room": room, "ply": 0})),
        ("rules", json!({"room": room})),
        ("file", json!({"room": club})),
        ("resign", json!({"room": room, "revision": 0})),
    ] {
        assert_eq!(page.ask(kind, fields).await["refused"], json!("other_room"), "{kind}");
    }
    assert_eq!(page.ask("say", json!({"phrase": "hello"})).await["refused"], json!("watching"));
    page.say(&json!({"ping": 900})).await;
    assert_eq!(page.until("pong", |_| true).await, json!(900));

    // The seat's code is shown at the host: whoever looks at the evening may take it, while it is free.
    let (_, seat) = next_code(client, &room).await;
    let free = page.until("club", |club| club["seats"] != json!([])).await;
    let expected = json!({"round": 1, "board": 1, "name": "Guo", "side": "second", "token": seat.token});
    assert_eq!(free["seats"], json!([expected]));
    let origin = format!("http://{}", seat.authority);
    let mut guo = Page::connect(&seat, &seat.authority, &origin).await.expect("pages are let in");
    guo.say(&json!({"hello": {"version": 1, "token": seat.token, "tab": OTHER_TAB, "name": ""}})).await;
    assert_eq!(guo.until("welcome", |_| true).await["name"], json!("Guo"), "as on the list");
    page.until("club", |club| club["seats"] == json!([])).await;
    // A browser that has the token from before asks, as by the code on the screen.
    let mut other = Page::come(&seat, TAB, 0).await;
    other.until("taken", |_| true).await;
    drop(other);

    client.done(request::Body::Resign(control::Resign { room_id: room, side: Side::First.into() })).await;
    let over = page.until("club", |club| club["round"].is_null()).await;
    assert_eq!((&over["standings"][0]["player"], &over["seats"]), (&json!(2), &json!([])));
    assert!(page.heard.iter().all(|one| one.get("room").is_none() && one.get("said").is_none()));

    // The last state, and then nothing: the code ends with the evening.
    deed(client, &club, Deed::Finish(true)).await;
    page.until("club", |club| club["state"] == "finished").await;
    assert_eq!(page.closed().await, "code_closed");
    client.until("its code is gone", |seen| !seen.guests.contains_key(&key)).await;
    let mut late = Page::come(&code, TAB, 0).await;
    assert_eq!(late.closed().await, "code_closed", "the guest's code is open still, and the port");
    let show = control::ShowGuestCode { club_id: club.clone(), ..Default::default() };
    let refusal = client.ask(request::Body::ShowGuestCode(show)).await.expect_err("it is over");
    assert_eq!(refusal.code(), RefusalCode::RefusalGameOver);
    let close = control::CloseGuestCode { club_id: club, ..Default::default() };
    let refusal = client.ask(request::Body::CloseGuestCode(close)).await.expect_err("there is none");
    assert_eq!(refusal.code(), RefusalCode::RefusalNoOffer);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_code_of_an_evening_is_replaced_closed_and_gone_with_the_evening_that_is_deleted() {
    let mut house = House::new(36);
    let mut device = device(&mut house).await;
    let client = &mut device.client;
    let evening = control::OpenClub { name: "Friday".into(), ..Default::default() };
    let club = deed(client, "", Deed::Open(evening)).await;
    let code = evening_code(client, &club).await;
    let mut page = Page::come(&code, TAB, 0).await;
    page.until("club", |_| true).await;
    let renew = control::ShowGuestCode { club_id: club.clone(), renew: true, ..Default::default() };
    let Ok(reply::Body::GuestCode(new)) = client.ask(request::Body::ShowGuestCode(renew)).await else {
        panic!("no code")
    };
    assert_ne!(Code::read(&new.url).token, code.token);
    assert_eq!(page.closed().await, "code_closed");
    let mut page = Page::come(&Code::read(&new.url), TAB, 0).await;
    page.until("club", |_| true).await;
    let close = control::CloseGuestCode { club_id: club.clone(), ..Default::default() };
    client.done(request::Body::CloseGuestCode(close)).await;
    assert_eq!(page.closed().await, "code_closed");
    client.until("its code is gone", |seen| seen.guests.is_empty()).await;
    let mut page = Page::come(&evening_code(client, &club).await, TAB, 0).await;
    page.until("club", |_| true).await;
    deed(client, &club, Deed::Discard(true)).await;
    assert_eq!(page.closed().await, "code_closed");
    client.until("its code is gone", |seen| seen.guests.is_empty() && seen.clubs.is_empty()).await;
}

/// Whether a game of the evening has a result.
fn ended(club: &Value) -> bool {
    let rounds = club["rounds"].as_array().into_iter().flatten();
    rounds
        .flat_map(|round| round["games"].as_array().into_iter().flatten())
        .any(|game| !game["result"].is_null())
}
