//! Pages that are slow, silent or too many. Each host here has one short time limit, and none of the others is reached.

use std::net::Ipv4Addr;
use std::time::Duration;

use engine::Action;
use proto::board::{Game, Side};
use proto::control::{self, ClubResult, club_player::Who, club_request::Deed, reply, request};
use serde_json::{Value, json};
use session::wire;
use tests::house::{Client, House, Seen};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use super::gate::until_connections;
use super::{OTHER_TAB, TAB, code, device_with, home_code, open, patient, with_guest};
use crate::page::{Code, PATIENCE, Page, connect_from, connect_narrow, until_closed};

/// A limit that a test waits for.
const SHORT: Duration = Duration::from_millis(300);

/// Sends bytes now and then until the host closes the connection; what the host has sent.
async fn drip(mut stream: TcpStream, bytes: &[u8]) -> Vec<u8> {
    let mut sent = vec![0; 64];
    timeout(PATIENCE, async {
        loop {
            let read = timeout(SHORT / 20, stream.read(&mut sent)).await;
            if let Ok(read) = read {
                sent.truncate(read.unwrap_or(0));
                return sent;
            }
            let _ = stream.write_all(bytes).await;
        }
    })
    .await
    .expect("the host closes it")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_that_do_not_end_are_dropped_although_a_byte_comes_now_and_then() {
    let mut house = House::new(30);
    let mut device = device_with(&mut house, |guests| {
        patient(guests);
        guests.times.headers = SHORT;
    })
    .await;
    let (id, code, mut page) = with_guest(&mut device.client).await;
    let begun = format!("GET / HTTP/1.1\r\nHost: {}\r\nX: ", code.authority);
    for begun in ["", "G", &begun] {
        let mut stream = TcpStream::connect(code.address()).await.expect("the port is open");
        stream.write_all(begun.as_bytes()).await.expect("it takes them");
        assert_eq!(drip(stream, b"y").await, b"", "{begun}");
    }
    assert_eq!(page.ask("look", json!({"room": id, "ply": 0})).await["ply"], json!(0), "the guest stays");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_never_becomes_a_websocket_is_dropped_whatever_it_fetches() {
    let mut house = House::new(31);
    let mut device = device_with(&mut house, |guests| {
        patient(guests);
        guests.times.fetch = SHORT;
    })
    .await;
    let (id, code, mut page) = with_guest(&mut device.client).await;
    let connect = async || TcpStream::connect(code.address()).await.expect("the port is open");
    assert_eq!(until_closed(&mut connect().await).await, b"", "nothing was asked");
    assert_eq!(drip(connect().await, b"y").await, b"");
    // One file after the other.
    let mut stream = connect().await;
    let request = format!("GET /nothing.js HTTP/1.1\r\nHost: {}\r\n\r\n", code.authority);
    let (mut answers, mut buffer) = (0, [0; 4_096]);
    let fetch = async {
        while stream.write_all(request.as_bytes()).await.is_ok()
            && let Ok(1..) = stream.read(&mut buffer).await
        {
            answers += 1;
            sleep(SHORT / 20).await;
        }
    };
    timeout(PATIENCE, fetch).await.expect("the host closes it");
    assert!(answers > 0 && buffer.starts_with(b"HTTP/1.1 404"), "{answers} answers");
    assert_eq!(page.ask("look", json!({"room": id, "ply": 0})).await["ply"], json!(0), "the guest stays");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_without_a_hello_is_told_so_and_closed() {
    let mut house = House::new(32);
    let mut device = device_with(&mut house, |guests| {
        patient(guests);
        guests.times.hello = SHORT;
    })
    .await;
    let (id, code, mut page) = with_guest(&mut device.client).await;
    let origin = format!("http://{}", code.authority);
    let mut mute = Page::connect(&code, &code.authority, &origin).await.expect("the host lets pages in");
    assert_eq!(mute.closed().await, "no_hello");
    assert_eq!(mute.heard.len(), 1);
    assert_eq!(page.ask("look", json!({"room": id, "ply": 0})).await["ply"], json!(0), "the guest stays");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_page_is_cut_and_its_guest_away_while_one_that_pings_stays() {
    let mut house = House::new(33);
    let mut device = device_with(&mut house, |guests| {
        patient(guests);
        guests.times.silence = 4 * SHORT;
    })
    .await;
    let client = &mut device.client;
    let id = open(client, Game::Gomoku, &[], Side::Second).await;
    let bench = code(client, &id, true).await;
    // The one that pings is older.
    let mut pings = Page::come(&bench, TAB, 0).await;
    pings.until_room(|_| true).await;
    let mut silent = Page::come(&code(client, &id, false).await, TAB, 0).await;
    silent.until_room(|_| true).await;
    let away = |seen: &Seen| seen.rooms[&id].second.as_ref().is_some_and(|seat| seat.away);
    client.until("the guest is here", |seen| !away(seen)).await;
    let cut = silent.is_cut();
    tokio::pin!(cut);
    let mut count = 0;
    let is_cut = loop {
        tokio::select! {
            is_cut = &mut cut => break is_cut,
            () = sleep(SHORT / 3) => {
                count += 1;
                pings.say(&json!({ "ping": count })).await;
                assert_eq!(pings.until("pong", |_| true).await, json!(count));
            }
        }
    };
    assert!(is_cut && count > 0);
    client.until("the guest is away", away).await;
    pings.say(&json!({ "ping": 1_000 })).await;
    assert_eq!(pings.until("pong", |_| true).await, json!(1_000));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thirty_two_may_watch_ten_of_one_address_and_another_when_one_leaves() {
    let mut house = House::new(34);
    let mut device = device_with(&mut house, patient).await;
    let client = &mut device.client;
    let mut benches = Vec::new();
    for _ in 0..2 {
        let id = open(client, Game::Gomoku, &[], Side::Second).await;
        let bench = home_code(client, &id, true).await;
        benches.push((id, bench));
    }
    let [(first_room, first), (second_room, second)] = &benches[..] else { panic!("two") };
    let port = first.address().port();
    let come = async |code: &Code, address: u8| {
        Page::come_by(connect_from(Ipv4Addr::new(127, 0, 0, address), port).await, code, TAB).await
    };
    let mut pages = Vec::new();
    // 127.0.0.2 to 127.0.0.5, ten each and two: 24 watch one room, and 8 the other.
    for number in 0..32 {
        let address = 2 + number / 10;
        if number == 10 {
            assert_eq!(come(first, 2).await.closed().await, "full", "ten of this address are watching");
        }
        until_connections(port, number.into()).await;
        let mut page = come(if number < 24 { first } else { second }, address).await;
        assert_eq!(page.until("welcome", |_| true).await["as"], json!("watcher"), "page {number}");
        pages.push(page);
    }
    for bench in [first, second] {
        assert_eq!(come(bench, 6).await.closed().await, "full", "32 are watching");
    }
    let count = |seen: &Seen, room: &str| seen.guests[&(room.to_owned(), 0)].watchers;
    client
        .until("all are counted", |seen| (count(seen, first_room), count(seen, second_room)) == (24, 8))
        .await;
    // Who plays takes no place of those who watch, also at an address of which ten are watching.
    let mut player = come(&home_code(client, first_room, false).await, 2).await;
    assert_eq!(player.until("welcome", |_| true).await["as"], json!("seat"));
    drop(pages.remove(0));
    until_connections(port, 32).await;
    let mut next = come(second, 6).await;
    assert_eq!(next.until("welcome", |_| true).await["as"], json!("watcher"));
    client
        .until("one has gone, and one come", |seen| {
            (count(seen, first_room), count(seen, second_room)) == (23, 9)
        })
        .await;
}

/// A club evening of sixteen, whose list is 20 KB to each page of its match after each change.
struct Evening {
    club_id: String,
    /// The match between the host's person and the guest.
    room: String,
    changes: usize,
}

/// Results that are put down by turns.
const RESULTS: [(ClubResult, &str); 2] =
    [(ClubResult::ClubFirstWins, "first_wins"), (ClubResult::ClubDraw, "draw")];

impl Evening {
    async fn begin(client: &mut Client) -> Self {
        let mut evening = Self { club_id: String::new(), room: String::new(), changes: 0 };
        let add =
            |who, name: String| Deed::Add(control::ClubPlayer { who: Some(who), name, ..Default::default() });
        let open = control::OpenClub { name: "Friday".into(), twice: true, ..Default::default() };
        let nobodies = (0..14).map(|n| add(Who::Nobody(true), format!("Nobody {n}")));
        let begin = Deed::Begin(control::ClubBoard { round: 1, board: 1 });
        let deeds =
            [Deed::Open(open), add(Who::Here(true), String::new())].into_iter().chain(nobodies).chain([
                add(Who::Guest(true), "Guo".into()),
                Deed::Start(control::StartClub { lots: false }),
                begin,
            ]);
        for deed in deeds {
            match evening.ask(client, deed).await {
                reply::Body::ClubId(id) => evening.club_id = id,
                reply::Body::RoomId(id) => evening.room = id,
                _ => {}
            }
        }
        evening
    }

    async fn ask(&self, client: &mut Client, deed: Deed) -> reply::Body {
        let asked = control::ClubRequest { club_id: self.club_id.clone(), deed: Some(deed) };
        client.ask(request::Body::Club(asked)).await.expect("not refused")
    }

    /// Puts down another result of the second board, as often.
    async fn change(&mut self, client: &mut Client, times: usize) {
        for _ in 0..times {
            let (result, _) = RESULTS[self.changes % RESULTS.len()];
            self.changes += 1;
            let verdict = control::ClubVerdict { round: 1, board: 2, result: result.into() };
            self.ask(client, Deed::Result(verdict)).await;
        }
    }

    /// Whether this is the evening after its last change.
    fn is_last(&self, club: &Value) -> bool {
        *changed(club) == json!(RESULTS[(self.changes - 1) % RESULTS.len()].1)
    }
}

/// The result that changes.
fn changed(club: &Value) -> &Value {
    let game = &club["rounds"][0]["games"][1];
    assert_eq!(game["board"], json!(2));
    &game["result"]
}

/// The evenings that a page has heard of are those after the first changes, each once; returns how many of them.
fn changes_heard(page: &Page) -> usize {
    let heard: Vec<&Value> =
        page.heard.iter().filter_map(|message| message.get("club")).map(changed).collect();
    let expected = RESULTS.iter().map(|(_, word)| json!(word)).cycle();
    let expected: Vec<Value> = std::iter::once(Value::Null).chain(expected).take(heard.len()).collect();
    assert_eq!(heard, expected.iter().collect::<Vec<_>>());
    heard.len() - 1
}

/// Waits until a page has heard of each of so many changes.
async fn until_changes(page: &mut Page, count: usize) {
    while page.heard.iter().filter(|message| message.get("club").is_some()).count() <= count {
        page.next().await.expect("the connection stands");
    }
    assert_eq!(changes_heard(page), count);
}

/// The lengths of the record that a page has been shown, each as often as it changes.
fn plies_heard(page: &Page) -> Vec<u64> {
    let rooms = page.heard.iter().filter_map(|message| message["room"]["ply"].as_u64());
    let mut plies: Vec<u64> = rooms.collect();
    plies.dedup();
    plies
}

/// Six moves that the guest's page sees one by one.
async fn play(client: &mut Client, page: &mut Page, room: &str) {
    for (ply, point) in (1..).zip([0, 1, 5, 7, 1024, 2048]) {
        if ply % 2 == 1 {
            let action = Some(wire::action(Action::Place(wire::read_point(point).expect("a point"))));
            let act = control::Act { room_id: room.into(), action, notation: String::new() };
            client.done(request::Body::Act(act)).await;
        } else {
            assert_eq!(page.act(&json!({ "place": point })).await["ok"], json!(true));
        }
        page.until_room(|room| room["ply"] == json!(ply)).await;
    }
    assert_eq!(plies_heard(page), [0, 1, 2, 3, 4, 5, 6], "the guest sees each move");
}

/// More changes than the buffers of a connection take.
const BLOCKING: usize = 12;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watcher_that_reads_nothing_is_cut_and_the_others_see_each_move() {
    let mut house = House::new(35);
    let mut device = device_with(&mut house, |guests| {
        patient(guests);
        guests.times.send = SHORT;
    })
    .await;
    let client = &mut device.client;
    let mut evening = Evening::begin(client).await;
    let mut guest = Page::come(&code(client, &evening.room, false).await, TAB, 0).await;
    guest.until_room(|_| true).await;
    let bench = code(client, &evening.room, true).await;
    let mut watcher = Page::come(&bench, TAB, 0).await;
    watcher.until_room(|_| true).await;
    let mut deaf = Page::come_by(connect_narrow(&bench).await, &bench, TAB).await;
    let watchers =
        |seen: &Seen, room: &str| seen.guests.get(&(room.to_owned(), 0)).map(|guest| guest.watchers);
    let room = evening.room.clone();
    client.until("both watch", |seen| watchers(seen, &room) == Some(2)).await;
    evening.change(client, BLOCKING).await;
    play(client, &mut guest, &room).await;
    client.until("one is cut", |seen| watchers(seen, &room) == Some(1)).await;
    watcher.until_room(|room| room["ply"] == json!(6)).await;
    for page in [&mut guest, &mut watcher] {
        until_changes(page, BLOCKING).await;
    }
    assert!(deaf.is_cut().await);
    assert!(changes_heard(&deaf) < BLOCKING, "what the buffers held");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watcher_that_reads_late_misses_only_states_of_the_room_in_between() {
    let mut house = House::new(36);
    let mut device = device_with(&mut house, patient).await;
    let client = &mut device.client;
    let mut evening = Evening::begin(client).await;
    let room = evening.room.clone();
    let mut guest = Page::come(&code(client, &room, false).await, TAB, 0).await;
    guest.until_room(|_| true).await;
    let bench = code(client, &room, true).await;
    let mut late = Page::come_by(connect_narrow(&bench).await, &bench, TAB).await;
    late.until_room(|_| true).await;
    let mut watcher = Page::come(&bench, TAB, 0).await;
    watcher.until_room(|_| true).await;
    evening.change(client, BLOCKING).await;
    play(client, &mut guest, &room).await;
    watcher.until_room(|room| room["ply"] == json!(6)).await;
    late.until_room(|room| room["ply"] == json!(6)).await;
    assert_eq!(plies_heard(&late), [0, 6]);
    until_changes(&mut late, BLOCKING).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guest_for_whom_too_much_waits_is_told_and_comes_again_while_a_watcher_misses_messages() {
    /// More than a connection's buffers take and 1 MiB that waits.
    const CHANGES: usize = 90;
    let mut house = House::new(37);
    let mut device = device_with(&mut house, patient).await;
    let client = &mut device.client;
    let mut evening = Evening::begin(client).await;
    let room = evening.room.clone();
    let (seat, bench) = (code(client, &room, false).await, code(client, &room, true).await);
    let mut guest = Page::come_by(connect_narrow(&seat).await, &seat, TAB).await;
    let mut watcher = Page::come_by(connect_narrow(&bench).await, &bench, OTHER_TAB).await;
    for page in [&mut guest, &mut watcher] {
        page.until("club", |_| true).await;
    }
    evening.change(client, CHANGES).await;
    assert_eq!(guest.closed().await, "too_slow");
    let heard = changes_heard(&guest);
    assert!((32..CHANGES).contains(&heard), "{heard}");
    // The same seat, and the evening as it is.
    let mut guest = Page::come(&seat, TAB, 0).await;
    assert_eq!(guest.until("welcome", |_| true).await["side"], json!("second"));
    assert!(evening.is_last(&guest.until("club", |_| true).await));
    // A watcher stays, and is told of the next change.
    assert!(watcher.ask("rules", json!({ "room": room })).await.get("words").is_some());
    let heard = changes_heard(&watcher);
    assert!((32..CHANGES).contains(&heard), "{heard}");
    evening.change(client, 1).await;
    assert!(evening.is_last(&watcher.until("club", |_| true).await));
}
