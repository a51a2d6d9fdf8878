//! Guests with a browser: whole matches over real sockets, unknown clients, and no listening port unless requested.

mod ends;
mod gate;
#[cfg(target_os = "linux")]
mod hotspot;
mod page;
mod slow;

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use engine::{Action, AnyGame, Rng};
use host::GuestConfig;
use page::{Code, Page, only};
use proto::board::{Game, Side};
use proto::control::{self, OfferKind, reply, request, seat};
use serde_json::{Value, json};
use session::wire;
use tests::house::{Client, Device, House};
use tests::skip;

const TAB: &str = "0123456789abcdef";
const OTHER_TAB: &str = "another-browser-";

async fn device(house: &mut House) -> Device {
    device_with(house, |_| {}).await
}

async fn device_with(house: &mut House, change: impl FnOnce(&mut GuestConfig)) -> Device {
    let mut guests = GuestConfig { loopback: true, ..GuestConfig::default() };
    change(&mut guests);
    house.device_with("Anna", |config| config.guests = Some(guests)).await
}

/// A host that closes no connection for its slowness. Tests shorten one of the times.
fn patient(guests: &mut GuestConfig) {
    let times = &mut guests.times;
    for time in [&mut times.headers, &mut times.fetch, &mut times.hello, &mut times.silence, &mut times.send]
    {
        *time = Duration::from_hours(1);
    }
}

fn here() -> control::Seat {
    control::Seat { who: Some(seat::Who::Here(true)), ..Default::default() }
}

fn a_guest() -> control::Seat {
    control::Seat { who: Some(seat::Who::Guest(true)), ..Default::default() }
}

/// A room of this game with a guest seat at this side.
async fn open(client: &mut Client, game: Game, options: &[(&str, &str)], guest: Side) -> String {
    let options = options
        .iter()
        .map(|(option, value)| control::ChosenOption { option: (*option).into(), value: (*value).into() });
    let choice = control::GameChoice {
        game: game.into(),
        preset: String::new(),
        options: options.collect(),
        ..Default::default()
    };
    let (first, second) = if guest == Side::First { (a_guest(), here()) } else { (here(), a_guest()) };
    let (first, second) = (Some(first), Some(second));
    let open = control::OpenRoom { first, second, choice: Some(choice), ..Default::default() };
    match client.ask(request::Body::OpenRoom(open)).await {
        Ok(reply::Body::RoomId(id)) => id,
        other => panic!("no room: {other:?}"),
    }
}

async fn code(client: &mut Client, room: &str, watch: bool) -> Code {
    codes(client, room, watch).await.remove(0)
}

/// One code by each address of the device, the best first.
async fn codes(client: &mut Client, room: &str, watch: bool) -> Vec<Code> {
    let show = control::ShowGuestCode { room_id: room.into(), watch, ..Default::default() };
    match client.ask(request::Body::ShowGuestCode(show)).await {
        Ok(reply::Body::GuestCode(shown)) => {
            assert!(shown.side >= 21 && !shown.dark.is_empty(), "with its QR code");
            std::iter::once(&shown.url).chain(&shown.others).map(|url| Code::read(url)).collect()
        }
        other => panic!("no code: {other:?}"),
    }
}

/// The code by the loopback interface, where a test's pages come from many addresses.
async fn home_code(client: &mut Client, room: &str, watch: bool) -> Code {
    let mut codes = codes(client, room, watch).await.into_iter();
    codes.find(|code| code.address().ip() == Ipv4Addr::LOCALHOST).expect("the loopback interface has it")
}

/// A room whose guest has connected.
async fn with_guest(client: &mut Client) -> (String, Code, Page) {
    let room = open(client, Game::Gomoku, &[], Side::Second).await;
    let code = code(client, &room, false).await;
    let mut page = Page::come(&code, TAB, 0).await;
    page.until_room(|_| true).await;
    (room, code, page)
}

/// The position of a room as the host's client sees it.
fn game_of(room: &control::Room) -> AnyGame {
    let setup = wire::read_setup(room.setup.as_ref()).expect("a setup");
    let mut game = AnyGame::new(&setup).expect("a game");
    for notation in &room.record {
        let action = game.parse(notation).expect("its own notation");
        game.act(action).expect("legal");
    }
    game
}

/// The action in the page's JSON form.
fn said(action: Action) -> Value {
    let point = wire::point;
    match action {
        Action::Place(at) => json!({"place": point(at)}),
        Action::Step { from, to } => json!({"step": [point(from), point(to)]}),
        Action::Capture(at) => json!({"capture": point(at)}),
        Action::Press(at) => json!({"press": point(at)}),
        Action::Toggle(at) => json!({"toggle": point(at)}),
        Action::Pass => json!({"pass": true}),
        Action::Agree => json!({"agree": true}),
        Action::Resume => json!({"resume": true}),
        other => panic!("no page says {other:?} here"),
    }
}

/// Whether nobody is at the guest's seat of this side.
fn is_away(room: &control::Room, guest: Side) -> bool {
    let seat = if guest == Side::First { &room.first } else { &room.second };
    seat.as_ref().is_none_or(|seat| seat.away)
}

/// A random action that eventually ends a game: in Go both sides pass after a while and agree.
fn any_action(game: &AnyGame, rng: &mut Rng) -> Action {
    let legal = game.legal_actions();
    let calm = |action: &Action| !matches!(action, Action::Pass | Action::Toggle(_) | Action::Resume);
    if legal.contains(&Action::Agree) {
        return Action::Agree;
    }
    if legal.contains(&Action::Pass) && game.ply() >= 20 {
        return Action::Pass;
    }
    let calm: Vec<Action> = legal.iter().copied().filter(calm).collect();
    let from = if calm.is_empty() { &legal } else { &calm };
    from[rng.below(from.len() as u32) as usize]
}

/// Plays a match to its end by random moves. At each ply of the guest the page is reloaded, after the reply or before it, and each of
/// its actions is sent twice; every fourth ply of the host is refused, because the page's connection is lost.
async fn whole_match(game: Game, options: &[(&str, &str)], guest: Side, seed: u64) -> Vec<Value> {
    let mut house = House::new(seed);
    let mut device = device(&mut house).await;
    let client = &mut device.client;
    let id = open(client, game, options, guest).await;
    let code = code(client, &id, false).await;
    let mut rng = Rng::new(seed);
    let mut page = Page::come(&code, TAB, 0).await;
    let (mut heard, mut reloads, mut cuts) = (Vec::new(), 0, 0);
    page.until_room(|_| true).await;
    loop {
        client
            .until("the guest is here", |seen| seen.rooms.get(&id).is_some_and(|room| !is_away(room, guest)))
            .await;
        let room = client.seen.rooms[&id].clone();
        if room.result.is_some() {
            break;
        }
        let (position, before) = (game_of(&room), room.record.len());
        let action = any_action(&position, &mut rng);
        let turn = room.board.as_ref().expect("a board").turn();
        if turn == guest {
            page.until_room(|shown| shown["ply"] == json!(before)).await;
            assert_eq!(page.room["can_act"], json!(true), "{}", page.room);
            let mut act = page.position();
            act["action"] = said(action);
            // The host has proposed dead stones meanwhile.
            let is_stale = |reply: &Value| game == Game::Go && reply["refused"] == json!("stale");
            if reloads % 2 == 0 {
                let reply = page.ask("act", act.clone()).await;
                if is_stale(&reply) {
                    client.until("the marks", |seen| seen.rooms[&id].record.len() > before).await;
                    continue;
                }
                assert_eq!(reply["ok"], json!(true), "{action:?}: {reply}");
            } else {
                // The connection is lost before the reply, perhaps before the host has read the action.
                page.tell("act", act.clone()).await;
            }
            // A reload at every ply: the guest gets the same seat, and a repeated action is not played again.
            heard.append(&mut page.heard);
            page = Page::come(&code, TAB, page.id()).await;
            reloads += 1;
            page.until_room(|_| true).await;
            assert_eq!(page.room["you"], json!(if guest == Side::First { "first" } else { "second" }));
            let again = page.ask("act", act).await;
            if is_stale(&again) {
                client.until("the marks", |seen| seen.rooms[&id].record.len() > before).await;
                continue;
            }
            let over = page.room["result"] != Value::Null;
            assert!(again["ok"] == json!(true), "{action:?} again, over: {over}: {again}");
            client.until("the guest's action", |seen| seen.rooms[&id].record.len() > before).await;
        } else {
            let act = control::Act {
                room_id: id.clone(),
                action: Some(wire::action(action)),
                notation: String::new(),
            };
            let is_cut = before % 8 < 2;
            if is_cut {
                let first_id = page.id();
                heard.append(&mut page.heard);
                // All of the last reload has been read, so that the next absence is this one.
                let few = control::ListMatches { limit: 1, ..Default::default() };
                client.ask(request::Body::ListMatches(few)).await.expect("a list");
                drop(page);
                client.until("the guest is away", |seen| is_away(&seen.rooms[&id], guest)).await;
                let refusal = client.ask(request::Body::Act(act.clone())).await.expect_err("the match waits");
                assert_eq!(refusal.code(), control::RefusalCode::RefusalLinkLost);
                cuts += 1;
                page = Page::come(&code, TAB, first_id).await;
                page.until_room(|_| true).await;
                client.until("the guest is back", |seen| !is_away(&seen.rooms[&id], guest)).await;
            }
            if let Err(refusal) = client.ask(request::Body::Act(act)).await {
                // A race between this test and the host's proposal of dead stones, or the page that is being reloaded.
                assert!(
                    game == Game::Go || refusal.code() == control::RefusalCode::RefusalLinkLost,
                    "{action:?}: {refusal:?}"
                );
            }
        }
    }
    page.until_room(|room| !room["result"].is_null()).await;
    let room = client.seen.rooms[&id].clone();
    assert_eq!(page.room["record"], json!(room.record), "nothing is lost or doubled");
    assert_eq!(page.room["digest"], json!(format!("{:016x}", room.digest)));
    assert!(!page.room["result"]["words"]["zh"].as_str().unwrap_or("").is_empty());
    assert!(reloads > 3 && cuts > 0, "{reloads} reloads, {cuts} cuts");
    // The record names the guest.
    let listed = control::ListMatches { limit: 10, opponent: "ben".into(), ..Default::default() };
    let Ok(reply::Body::Matches(list)) = client.ask(request::Body::ListMatches(listed)).await else {
        panic!("no list")
    };
    let [one] = list.matches.as_slice() else { panic!("one match of Ben's, not {}", list.matches.len()) };
    let seat = if guest == Side::First { &one.first } else { &one.second };
    assert_eq!(
        seat.as_ref().map(|seat| (seat.name.as_str(), seat.who.clone())),
        Some(("Ben", Some(seat::Who::Guest(true))))
    );
    let file = page.ask("file", json!({"room": id})).await;
    assert!(file["text"].as_str().is_some_and(|text| text.contains("Ben")), "{file}");
    let look = page.ask("look", json!({"room": id, "ply": 1})).await;
    assert_eq!((&look["ply"], &look["board"]["ply"]), (&json!(1), &json!(1)));
    heard.append(&mut page.heard);
    heard
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whole_matches_of_the_board_games_with_a_reload_at_every_ply() {
    for (game, options, guest) in [
        (Game::Gomoku, &[][..], Side::Second),
        (Game::Liuzhou, &[], Side::First),
        (Game::Go, &[("size", "9")], Side::Second),
        (Game::Xiangqi, &[], Side::First),
    ] {
        let heard = whole_match(game, options, guest, 7).await;
        compare_with_examples(&heard);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_race_is_run_on_both_boards_and_a_reload_loses_no_press() {
    let mut house = House::new(3);
    let mut device = device(&mut house).await;
    let client = &mut device.client;
    let id = open(client, Game::LightsOut, &[("columns", "4"), ("rows", "3")], Side::Second).await;
    let press = |at| {
        let act = control::Act { room_id: id.clone(), action: Some(at), notation: String::new() };
        request::Body::Act(act)
    };
    let board = |room: &control::Room| room.board.clone().expect("a board");
    let solution = {
        let setup = wire::read_setup(client.seen.rooms[&id].setup.as_ref()).expect("a setup");
        let engine::Setup::LightsOut(setup) = setup else { panic!("not the game") };
        assert!(setup.race);
        let alone = AnyGame::new(&engine::Setup::LightsOut(setup.alone())).expect("a game");
        let AnyGame::LightsOut(lights) = &alone else { panic!("not the game") };
        let engine::lights_out::Solution::Presses { presses, .. } = lights.solution() else { panic!("none") };
        presses.points().map(Action::Press).collect::<Vec<_>>()
    };
    // No clock runs while the guest is away.
    let refused = client.ask(press(wire::action(solution[0]))).await.expect_err("the match waits");
    assert_eq!(refused.code(), control::RefusalCode::RefusalLinkLost);
    let code = code(client, &id, false).await;
    let mut page = Page::come(&code, TAB, 0).await;
    page.until_room(|room| room["race"]["my_clock_runs"] == json!(true)).await;
    assert_eq!(page.room["board"]["lights"].as_array().map(Vec::len), Some(3));
    // The host's player presses once; the guest's board is unchanged.
    let before = page.room["board"]["lights"].clone();
    client.done(press(wire::action(solution[0]))).await;
    page.until_room(|room| room["race"]["their_presses"] == json!(1)).await;
    assert_eq!((&page.room["board"]["lights"], &page.room["record"]), (&before, &json!([])));
    for (presses, action) in (1..).zip(&solution) {
        let act = {
            let mut act = page.position();
            act["action"] = said(*action);
            act
        };
        if presses % 2 == 1 {
            assert_eq!(page.ask("act", act.clone()).await["ok"], json!(true));
        } else {
            // The connection is lost before the reply, perhaps before the host has read the press.
            page.tell("act", act.clone()).await;
        }
        page = Page::come(&code, TAB, page.id()).await;
        page.until_room(|_| true).await;
        assert_eq!(page.ask("act", act).await["ok"], json!(true));
        page.until_room(|room| room["race"]["my_presses"] != json!(presses - 1)).await;
        assert_eq!(page.room["race"]["my_presses"], json!(presses), "none is lost, and none doubled");
    }
    page.until_room(|room| room["race"]["i_finished"] == json!(true)).await;
    // The host's player is slower: the run ends by itself, and the guest has won.
    client.until("the race is over", |seen| seen.rooms[&id].result.is_some()).await;
    let room = client.seen.rooms[&id].clone();
    let result = room.result.expect("over");
    assert_eq!((result.winner(), result.ending()), (Side::Second, proto::board::Ending::Faster));
    assert_eq!(room.record.len(), 2 + solution.len() + 1, "{:?}", room.record);
    assert_eq!(board(&room).touch.expect("told").kind(), control::TouchKind::TouchNothing);
    page.until_room(|room| !room["result"].is_null()).await;
    compare_with_examples(&page.heard);
    // The next game has another board, and the colours are swapped.
    let fields = page.position();
    let offer = json!({"room": fields["room"], "ply": page.room["ply"], "revision": fields["revision"], "kind": "new_game"});
    assert_eq!(page.ask("offer", offer).await["ok"], json!(true));
    client.until("the offer", |seen| seen.rooms[&id].offer.is_some()).await;
    client.done(request::Body::AnswerOffer(control::AnswerOffer { room_id: id.clone(), accept: true })).await;
    page.until_room(|room| room["follows"] == json!(id)).await;
    assert_eq!((&page.room["you"], &page.room["race"]["my_presses"]), (&json!("first"), &json!(0)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_race_goes_on_after_the_host_starts_again_and_the_guest_comes_with_a_new_code() {
    let mut house = House::new(4);
    let mut device = device(&mut house).await;
    let id = open(&mut device.client, Game::LightsOut, &[], Side::First).await;
    let shown = code(&mut device.client, &id, false).await;
    let mut page = Page::come(&shown, TAB, 0).await;
    page.until_room(|room| room["race"]["my_clock_runs"] == json!(true)).await;
    for (presses, at) in (1..).zip([0, 1, 1024]) {
        let reply = page.act(&json!({ "press": at })).await;
        assert_eq!(reply["ok"], json!(true), "{reply}");
        // The room event may arrive before the reply.
        page.until_room(|room| room["race"]["my_presses"] == json!(presses)).await;
    }
    let press = control::Act { room_id: id.clone(), notation: "b2".into(), action: None };
    device.client.done(request::Body::Act(press)).await;
    page.until_room(|room| room["race"]["their_presses"] == json!(1)).await;
    let board = page.room["board"]["lights"].clone();
    device.kill().await;
    device.start().await;
    let room = device.client.seen.rooms[&id].clone();
    let seat = room.first.clone().expect("a seat");
    assert_eq!((seat.name.as_str(), seat.away), ("Ben", true));
    assert_eq!(room.race.map(|race| (race.my_presses, race.their_presses)), Some((1, 3)));
    let shown = code(&mut device.client, &id, false).await;
    let mut page = Page::come(&shown, TAB, 0).await;
    page.until_room(|room| room["race"]["my_clock_runs"] == json!(true)).await;
    assert_eq!((&page.room["board"]["lights"], &page.room["race"]["my_presses"]), (&board, &json!(3)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guest_plays_over_each_protocol_that_the_device_has() {
    let mut house = House::new(16);
    let mut device = device(&mut house).await;
    let client = &mut device.client;
    let id = open(client, Game::Gomoku, &[], Side::Second).await;
    let all = codes(client, &id, false).await;
    let of = |ip: IpAddr| all.iter().find(|code| code.address().ip() == ip);
    let own_v6 = of(Ipv6Addr::LOCALHOST.into());
    if own_v6.is_none() {
        skip("a guest's moves over IPv6", "the loopback interface of this machine has no ::1");
    }
    let own = [of(Ipv4Addr::LOCALHOST.into()), own_v6];
    let mut record = Vec::new();
    for (code, [mine, theirs]) in own.into_iter().flatten().zip([["h8", "i9"], ["h9", "i10"]]) {
        let mut page = Page::come(code, TAB, 0).await;
        page.until_room(|_| true).await;
        client.until("the guest is here", |seen| seen.rooms[&id].can_act).await;
        client.play(mine).await.expect("Anna's turn");
        record.push(mine);
        page.until_room(|room| room["record"] == json!(record)).await;
        let (column, row) = theirs.split_at(1);
        let point = (row.parse::<u32>().expect("a row") - 1) * 1024 + u32::from(column.as_bytes()[0] - b'a');
        assert_eq!(page.act(&json!({ "place": point })).await["ok"], json!(true));
        record.push(theirs);
        page.until_room(|room| room["record"] == json!(record)).await;
        client.until("the guest's move", |seen| seen.rooms[&id].record == record).await;
        drop(page);
        let away = |room: &control::Room| room.second.as_ref().is_some_and(|seat| seat.away);
        client.until("the guest is away", |seen| away(&seen.rooms[&id])).await;
    }
    assert_eq!(record.len(), if own_v6.is_some() { 4 } else { 2 });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_needs_consent_waits_for_the_other_person() {
    let mut house = House::new(5);
    let mut device = device(&mut house).await;
    let client = &mut device.client;
    let (id, _, mut page) = with_guest(client).await;
    client.play("h8").await.expect("Anna's turn");
    page.until_room(|room| room["ply"] == json!(1)).await;
    assert_eq!(page.act(&json!({"place": 8 * 1024 + 8})).await["ok"], json!(true));
    page.until_room(|room| room["ply"] == json!(2)).await;
    // The guest requests a take-back; Anna declines, then offers a draw, which the guest accepts by offering one.
    let offer = |page: &Page, kind: &str| {
        let mut offer = page.position();
        offer["kind"] = kind.into();
        offer
    };
    let take_back = offer(&page, "take_back");
    assert_eq!(page.ask("offer", take_back.clone()).await["ok"], json!(true));
    assert_eq!(page.ask("offer", take_back).await["ok"], json!(true), "the same again");
    client.until("the offer", |seen| seen.rooms[&id].offer.is_some()).await;
    let open = client.seen.rooms[&id].offer.expect("open");
    assert_eq!((open.kind(), open.mine, open.number), (OfferKind::OfferTakeBack, false, 1));
    client
        .done(request::Body::AnswerOffer(control::AnswerOffer { room_id: id.clone(), accept: false }))
        .await;
    page.until_room(|room| room["offer"].is_null()).await;
    assert_eq!(page.room["ply"], json!(2));
    let ours = control::Offer { room_id: id.clone(), kind: OfferKind::OfferTakeBack.into() };
    client.done(request::Body::Offer(ours)).await;
    page.until_room(|room| room["offer"]["mine"] == json!(false)).await;
    let number = page.room["offer"]["number"].clone();
    let draw = offer(&page, "draw");
    assert_eq!(page.ask("offer", draw).await["refused"], json!("busy"), "first the answer");
    let answer = json!({"room": id, "number": number, "accept": true});
    assert_eq!(page.ask("answer", answer.clone()).await["ok"], json!(true));
    page.until_room(|room| room["ply"] == json!(0)).await;
    assert_eq!(page.ask("answer", answer.clone()).await["ok"], json!(true), "a repeated answer does nothing");
    assert_eq!((&page.room["revision"], &page.room["offer"]), (&json!(1), &Value::Null));
    // An action in an old position is refused.
    let stale = json!({"room": id, "ply": 0, "revision": 0, "action": {"place": 0}});
    assert_eq!(page.ask("act", stale).await["refused"], json!("stale"));
    let draw = offer(&page, "draw");
    assert_eq!(page.ask("offer", draw).await["ok"], json!(true));
    client.until("the offer", |seen| seen.rooms[&id].offer.is_some()).await;
    let ours = control::Offer { room_id: id.clone(), kind: OfferKind::OfferDraw.into() };
    client.done(request::Body::Offer(ours)).await;
    page.until_room(|room| room["result"]["ending"] == json!("draw_agreed")).await;
    // Chat messages pass in both directions, once each.
    client
        .done(request::Body::Say(control::Say {
            room_id: id.clone(),
            text: "well played".into(),
            ..Default::default()
        }))
        .await;
    let heard = page.until("said", |_| true).await;
    assert_eq!(
        (&heard["text"], &heard["mine"], &heard["name"]),
        (&json!("well played"), &json!(false), &json!("Anna"))
    );
    assert_eq!(page.ask("say", json!({"phrase": "thanks"})).await["ok"], json!(true));
    client.until("the words", |seen| seen.said.iter().any(|said| !said.mine)).await;
    let thanks = client.seen.said.iter().filter(|said| !said.mine).collect::<Vec<_>>();
    assert_eq!(thanks.len(), 1);
    assert_eq!((thanks[0].phrase(), thanks[0].name.as_str()), (proto::peer::Phrase::Thanks, "Ben"));
    for bad in [json!({"text": "x".repeat(201)}), json!({"text": "a\u{202E}b"})] {
        assert_eq!(page.ask("say", bad).await["refused"], json!("bad_request"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_match_waits_for_an_absent_guest_and_no_clock_runs() {
    let mut house = House::new(6);
    let mut device = device(&mut house).await;
    let client = &mut device.client;
    let pace = proto::board::Pace {
        kind: proto::board::PaceKind::PaceSuddenDeath.into(),
        main_s: 600,
        ..Default::default()
    };
    let open = control::OpenRoom {
        first: Some(here()),
        second: Some(a_guest()),
        pace: Some(pace),
        ..Default::default()
    };
    let Ok(reply::Body::RoomId(id)) = client.ask(request::Body::OpenRoom(open)).await else {
        panic!("no room")
    };
    let running = |room: &control::Room| room.clocks.iter().any(|clock| clock.running);
    assert!(!running(&client.seen.rooms[&id]) && !client.seen.rooms[&id].can_act);
    let refused = client.play("h8").await.expect_err("it waits");
    assert_eq!(refused.code(), control::RefusalCode::RefusalLinkLost);
    let code = code(client, &id, false).await;
    let mut page = Page::come(&code, TAB, 0).await;
    page.until_room(|room| room["clocks"][0]["running"] == json!(true)).await;
    client.until("it goes on", |seen| running(&seen.rooms[&id]) && seen.rooms[&id].can_act).await;
    client.play("h8").await.expect("Anna's turn");
    drop(page);
    client
        .until("it waits", |seen| {
            let room = &seen.rooms[&id];
            !running(room) && room.second.as_ref().is_some_and(|seat| seat.away)
        })
        .await;
    let mut page = Page::come(&code, TAB, 0).await;
    page.until_room(|room| room["clocks"][1]["running"] == json!(true)).await;
    assert_eq!(page.room["ply"], json!(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_person_with_the_same_code_is_told_and_the_host_decides() {
    let mut house = House::new(8);
    let mut device = device(&mut house).await;
    let client = &mut device.client;
    let (id, code, mut first) = with_guest(client).await;
    let key = (id.clone(), i32::from(Side::Second));
    let mut other = Page::come(&code, OTHER_TAB, 0).await;
    other.until("taken", |_| true).await;
    client.until("it is asked", |seen| seen.guests[&key].asks).await;
    let answer = |accept| {
        request::Body::AnswerGuest(control::AnswerGuest {
            room_id: id.clone(),
            side: Side::Second.into(),
            accept,
        })
    };
    client.done(answer(false)).await;
    assert_eq!(other.closed().await, "seat_taken");
    assert_eq!(first.ask("look", json!({"room": id, "ply": 0})).await["ply"], json!(0), "the first keeps it");
    let nobody = client.ask(answer(true)).await.expect_err("nobody asks");
    assert_eq!(nobody.code(), control::RefusalCode::RefusalNoOffer);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_person_whom_the_host_lets_take_the_seat_has_it_from_then_on() {
    let mut house = House::new(23);
    let mut device = device(&mut house).await;
    let client = &mut device.client;
    let (id, code, mut first) = with_guest(client).await;
    let key = (id.clone(), i32::from(Side::Second));
    let mut other = Page::come(&code, OTHER_TAB, 0).await;
    client.until("it is asked", |seen| seen.guests[&key].asks).await;
    let answer = control::AnswerGuest { room_id: id.clone(), side: Side::Second.into(), accept: true };
    client.done(request::Body::AnswerGuest(answer)).await;
    assert_eq!(first.closed().await, "given");
    other.until_room(|room| room["you"] == json!("second")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_was_told_no_and_asks_again_at_once_is_told_so_and_the_hosts_person_is_not_asked() {
    let mut house = House::new(24);
    let mut device = device(&mut house).await;
    let client = &mut device.client;
    let (id, code, _first) = with_guest(client).await;
    let key = (id.clone(), i32::from(Side::Second));
    let mut other = Page::come(&code, OTHER_TAB, 0).await;
    client.until("it is asked", |seen| seen.guests[&key].asks).await;
    let no = control::AnswerGuest { room_id: id, side: Side::Second.into(), accept: false };
    client.done(request::Body::AnswerGuest(no.clone())).await;
    assert_eq!(other.closed().await, "seat_taken");
    for _ in 0..3 {
        let mut again = Page::come(&code, OTHER_TAB, 0).await;
        let closed = again.until("closed", |_| true).await;
        assert_eq!(closed["why"], json!("seat_taken"));
        assert!(closed["seconds"].as_u64().is_some_and(|seconds| (60..=120).contains(&seconds)), "{closed}");
        assert!(again.heard.iter().all(|message| message.get("taken").is_none()), "{:?}", again.heard);
    }
    let nobody = client.ask(request::Body::AnswerGuest(no)).await.expect_err("nobody asks");
    assert_eq!(nobody.code(), control::RefusalCode::RefusalNoOffer);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guest_from_another_network_asks_as_another_browser_and_has_seat_and_record_again() {
    let mut house = House::new(22);
    let mut device = device(&mut house).await;
    let client = &mut device.client;
    let (id, before, mut page) = with_guest(client).await;
    client.play("h8").await.expect("Anna's turn");
    page.until_room(|room| room["ply"] == json!(1)).await;
    assert_eq!(page.act(&json!({"place": 3})).await["ok"], json!(true));
    drop(page);
    let key = (id.clone(), i32::from(Side::Second));
    client.until("the guest is away", |seen| !seen.guests[&key].present).await;
    // The code that is shown again has the same token, and the addresses of now. At another one the browser has stored nothing: it
    // comes with another tab.
    let shown = codes(client, &id, false).await;
    assert!(shown.iter().all(|code| code.token == before.token) && client.seen.guests[&key].came);
    let code = home_code(client, &id, false).await;
    let mut again = Page::come(&code, OTHER_TAB, 0).await;
    let taken = again.until("taken", |_| true).await;
    assert!(taken["words"]["en"].as_str().is_some_and(|said| said.contains("The host is asked")), "{taken}");
    client.until("it is asked", |seen| seen.guests[&key].asks).await;
    // Whoever has seen the code is not let in by a guest's absence.
    assert!(!client.seen.guests[&key].present && is_away(&client.seen.rooms[&id], Side::Second));
    assert!(again.heard.iter().all(|message| message.get("room").is_none()), "{:?}", again.heard);
    let answer = control::AnswerGuest { room_id: id.clone(), side: Side::Second.into(), accept: true };
    client.done(request::Body::AnswerGuest(answer)).await;
    assert_eq!(again.until("welcome", |_| true).await["side"], json!("second"));
    again.until_room(|room| room["id"] == json!(id)).await;
    assert_eq!(again.room["record"], json!(client.seen.rooms[&id].record));
    assert_eq!(again.room["ply"], json!(2), "{}", again.room);
    client.until("the guest is back", |seen| !is_away(&seen.rooms[&id], Side::Second)).await;
    client.play("h9").await.expect("Anna's turn");
    again.until_room(|room| room["ply"] == json!(3)).await;
    assert_eq!(again.act(&json!({"place": 5})).await["ok"], json!(true));
    // From there on the seat is this browser's.
    drop(again);
    let mut again = Page::come(&code, OTHER_TAB, 1_000).await;
    again.until_room(|room| room["ply"] == json!(4)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watchers_see_every_change_and_can_do_nothing() {
    let mut house = House::new(9);
    let mut device = device(&mut house).await;
    let client = &mut device.client;
    let (id, _, mut guest) = with_guest(client).await;
    let bench = code(client, &id, true).await;
    let mut watchers = Vec::new();
    for _ in 0..8 {
        let mut watcher = Page::come(&bench, TAB, 0).await;
        assert_eq!(watcher.until("welcome", |_| true).await["as"], json!("watcher"));
        watchers.push(watcher);
    }
    let count = |seen: &tests::house::Seen| seen.guests.get(&(id.clone(), 0)).map(|guest| guest.watchers);
    client.until("all are counted", |seen| count(seen) == Some(8)).await;
    client.play("h8").await.expect("Anna's turn");
    guest.until_room(|room| room["ply"] == json!(1)).await;
    assert_eq!(guest.act(&json!({"place": 1})).await["ok"], json!(true));
    for watcher in &mut watchers {
        watcher.until_room(|room| room["ply"] == json!(2)).await;
        let room = &watcher.room;
        assert_eq!(
            (&room["you"], &room["can_act"], &room["can_resign"]),
            (&json!("unspecified"), &json!(false), &json!(false))
        );
    }
    let mut watcher = watchers.remove(0);
    let act = watcher.act(&json!({"place": 2})).await;
    assert_eq!(act["refused"], json!("watching"));
    for (kind, fields) in [
        ("resign", json!({"room": id, "revision": 0})),
        ("say", json!({"phrase": "hello"})),
        ("name", json!({"name": "Eve"})),
    ] {
        assert_eq!(watcher.ask(kind, fields).await["refused"], json!("watching"), "{kind}");
    }
    client.until("the guest's move", |seen| seen.rooms[&id].record.len() == 2).await;
    assert_eq!(client.seen.rooms[&id].result, None);
    client.play("h9").await.expect("Anna's turn");
    let close = control::CloseGuestCode { room_id: id.clone(), watch: true, ..Default::default() };
    client.done(request::Body::CloseGuestCode(close)).await;
    watcher.until_room(|room| room["ply"] == json!(3)).await;
    assert_eq!(
        watcher.closed().await,
        "code_closed",
        "after the last move, although spectators see moves later"
    );
    assert_eq!(guest.ask("look", json!({"room": id, "ply": 0})).await["ply"], json!(0), "the guest stays");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_seat_that_is_no_guests_any_more_lets_nobody_play() {
    let mut house = House::new(14);
    let mut device = device(&mut house).await;
    let client = &mut device.client;
    let (id, _, mut page) = with_guest(client).await;
    client.play("h8").await.expect("Anna's turn");
    page.until_room(|room| room["ply"] == json!(1)).await;
    let act = {
        let mut act = page.position();
        act["action"] = json!({"place": 3});
        act["id"] = json!(1);
        json!({ "act": act })
    };
    let set = control::SetSeat { room_id: id.clone(), side: Side::Second.into(), seat: Some(here()) };
    client.done(request::Body::SetSeat(set)).await;
    page.say(&act).await;
    assert_eq!(page.closed().await, "code_closed");
    client.until("told", |seen| seen.guests.is_empty()).await;
    assert_eq!(client.seen.rooms[&id].record.len(), 1);
    // A guest who returns another day has a new code, and the same match.
    let seat = control::Seat { name: "Ben".into(), ..a_guest() };
    let set = control::SetSeat { room_id: id.clone(), side: Side::Second.into(), seat: Some(seat) };
    client.done(request::Body::SetSeat(set)).await;
    client.done(request::Body::CloseRoom(control::CloseRoom { room_id: id.clone() })).await;
    let resume = request::Body::ResumeRoom(control::ResumeRoom { room_id: id.clone() });
    assert_eq!(client.ask(resume).await, Ok(reply::Body::RoomId(id.clone())));
    let code = self::code(client, &id, false).await;
    let mut page = Page::come(&code, OTHER_TAB, 0).await;
    page.until_room(|room| room["second"]["name"] == json!("Ben")).await;
    assert_eq!(page.act(&json!({"place": 3})).await["ok"], json!(true));
}

#[tokio::test]
async fn a_host_says_whether_it_can_have_guests() {
    let mut house = House::new(640);
    assert!(device(&mut house).await.client.seen.me.has_guests);
    assert!(!house.device("Ben").await.client.seen.me.has_guests);
}

#[test]
fn the_documentation_names_games_and_sides_as_players_read_them() {
    let examples: Value =
        serde_json::from_str(include_str!("../../../docs/guest-examples.json")).expect("JSON");
    let mut compared = BTreeSet::new();
    for example in examples["from_host"].as_array().expect("a list") {
        let Some(room) = example.get("room") else { continue };
        let word = room["game"].as_str().expect("a game");
        let kind = engine::GameKind::from_word(&word.replace('_', "-")).expect("a game that there is");
        for (language, code) in [(engine::Language::Chinese, "zh"), (engine::Language::English, "en")] {
            let names = kind.names(language);
            for (field, name) in [("game", names.game), ("first", names.first), ("second", names.second)] {
                assert_eq!(room["names"][field][code], json!(name), "{word}");
            }
        }
        compared.insert(word.to_owned());
    }
    assert_eq!(compared.len(), engine::GameKind::ALL.len(), "{compared:?}");
}

/// Checks that the host's messages have the form of the documentation's examples, and that every kind of message is documented.
fn compare_with_examples(heard: &[Value]) {
    let examples: Value =
        serde_json::from_str(include_str!("../../../docs/guest-examples.json")).expect("JSON");
    let examples = examples["from_host"].as_array().expect("a list");
    let mut compared = BTreeSet::new();
    for message in heard {
        let (kind, content) = only(message);
        let mut of_kind = examples.iter().filter(|example| only(example).0 == kind);
        let same_case = |example: &Value| {
            let example = &only(example).1;
            let key = |value: &Value| match kind {
                "room" => value["game"].to_string(),
                "reply" => value["ok"].to_string(),
                _ => String::new(),
            };
            key(example) == key(content)
        };
        let example = of_kind.clone().find(|example| same_case(example)).or_else(|| of_kind.next());
        let example = example.unwrap_or_else(|| panic!("the documentation has no {kind}"));
        same_form(only(example).1, content, kind);
        compared.insert(kind.to_owned());
    }
    assert!(compared.contains("room") && compared.contains("reply"), "{compared:?}");
}

fn same_form(example: &Value, sent: &Value, path: &str) {
    match (example, sent) {
        (Value::Object(example), Value::Object(sent)) => {
            let alternatives =
                path.ends_with("action") || path.ends_with("last") || path.ends_with("choices");
            let keys = |map: &serde_json::Map<String, Value>| map.keys().cloned().collect::<BTreeSet<_>>();
            if alternatives {
                return;
            }
            assert_eq!(keys(example), keys(sent), "{path}");
            for (key, example) in example {
                same_form(example, &sent[key], &format!("{path}.{key}"));
            }
        }
        (Value::Array(example), Value::Array(sent)) => {
            if let (Some(example), Some(sent)) = (example.first(), sent.first()) {
                same_form(example, sent, path);
            }
        }
        (Value::Null, _) | (_, Value::Null) => {}
        (Value::Bool(_), Value::Bool(_))
        | (Value::Number(_), Value::Number(_))
        | (Value::String(_), Value::String(_)) => {}
        (example, sent) => panic!("{path}: {sent} where the documentation has {example}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_without_guests_says_so_in_both_languages_when_a_code_is_wanted() {
    let mut house = House::new(21);
    let mut device = house.device("Anna").await;
    let id = open(&mut device.client, Game::Gomoku, &[], Side::Second).await;
    let show = control::ShowGuestCode { room_id: id, ..Default::default() };
    let refusal = device.client.ask(request::Body::ShowGuestCode(show)).await.expect_err("no guests");
    let reason = refusal.reason.expect("a sentence for the person");
    assert_eq!(reason.en, "Nobody can come by a browser here.");
    assert!(!reason.zh.is_empty());
}

#[tokio::test]
async fn a_guest_of_a_club_evening_sees_its_table_without_keys_and_rooms() {
    use control::{club_player::Who, club_request::Deed};
    let mut house = House::new(71);
    let mut anna = device(&mut house).await;
    let client = &mut anna.client;
    let mut club_id = String::new();
    let evening = control::OpenClub { name: "Friday".into(), ..Default::default() };
    let add = |who, name: &str| {
        Deed::Add(control::ClubPlayer { who: Some(who), name: name.into(), ..Default::default() })
    };
    let deeds = [
        Deed::Open(evening),
        add(Who::Here(true), ""),
        add(Who::Guest(true), "Guo"),
        Deed::Start(control::StartClub { lots: false }),
        Deed::Begin(control::ClubBoard { round: 1, board: 1 }),
    ];
    let mut room = String::new();
    for deed in deeds {
        let asked = control::ClubRequest { club_id: club_id.clone(), deed: Some(deed) };
        match client.ask(request::Body::Club(asked)).await.expect("done") {
            reply::Body::ClubId(id) => club_id = id,
            reply::Body::RoomId(id) => room = id,
            _ => {}
        }
    }
    // Another room's page hears nothing of the evening.
    let other = open(client, Game::Go, &[], Side::Second).await;
    let code_of_room = code(client, &room, false).await;
    let mut page = Page::come(&code_of_room, TAB, 0).await;
    let running = |club: &Value| club["state"] == "running";
    let club = page.until("club", running).await;
    assert_eq!(
        club["players"][1],
        json!({"id": 2, "name": "Guo", "who": "guest", "number": 2, "left": false})
    );
    assert_eq!(
        club["rounds"][0]["games"][0],
        json!({"board": 1, "first": 1, "second": 2, "result": null, "begun": true})
    );
    let resign = control::Resign { room_id: room, side: Side::First.into() };
    client.done(request::Body::Resign(resign)).await;
    let club = page.until("club", |club| club["round"].is_null()).await;
    assert_eq!(club["standings"][0]["player"], 2);
    assert_eq!(club["standings"][0]["cross"], json!(["1", ""]));
    let mut watcher = Page::come(&code(client, &other, true).await, OTHER_TAB, 0).await;
    watcher.until_room(|_| true).await;
    assert!(watcher.ask("rules", json!({ "room": other })).await.get("words").is_some());
    assert!(watcher.heard.iter().all(|one| one.get("club").is_none()));
}
