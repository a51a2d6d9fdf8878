//! Who is let in: ports, origins, codes, and hostile clients.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::process::Command;

use engine::Rng;
use proto::board::{Game, Side};
use proto::control::{self, reply, request};
use serde_json::{Value, json};
use tests::house::{Client, Device, House, settle};
use tokio::net::TcpStream;

use super::{OTHER_TAB, TAB, code, device, device_with, here, home_code, open, patient, with_guest};
use crate::page::{Code, Page, connect_from, raw, until_closed};

/// A TCP socket of this process.
struct Socket {
    /// As in `/proc/net/tcp`.
    state: String,
    port: u16,
    /// Address of the other end; hexadecimal, as in `/proc/net/tcp6`.
    from: String,
}

const ESTABLISHED: &str = "01";
const LISTEN: &str = "0A";

fn sockets() -> Vec<Socket> {
    let own: BTreeSet<String> = std::fs::read_dir("/proc/self/fd")
        .expect("Linux")
        .filter_map(|fd| std::fs::read_link(fd.ok()?.path()).ok()?.to_str().map(str::to_owned))
        .filter_map(|link| Some(link.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let read = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (local, remote, state) = (fields.get(1)?, fields.get(2)?, fields.get(3)?);
        let port = u16::from_str_radix(local.rsplit_once(':')?.1, 16).ok()?;
        let from = remote.rsplit_once(':')?.0.to_owned();
        own.contains(*fields.get(9)?).then(|| Socket { state: (*state).to_owned(), port, from })
    };
    let tables =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| std::fs::read_to_string(table).unwrap_or_default());
    tables.iter().flat_map(|table| table.lines().filter_map(read)).collect()
}

/// The ports of this process's listening sockets.
fn listening() -> Vec<u16> {
    sockets().into_iter().filter(|socket| socket.state == LISTEN).map(|socket| socket.port).collect()
}

/// The open connections of a server in this process, by the other ends' addresses.
fn connections(port: u16) -> BTreeMap<String, usize> {
    let mut of = BTreeMap::new();
    for socket in sockets().into_iter().filter(|socket| socket.state == ESTABLISHED && socket.port == port) {
        *of.entry(socket.from).or_default() += 1;
    }
    of
}

/// Waits until the server has this many open connections.
pub(crate) async fn until_connections(port: u16, count: usize) {
    settle("connections", || connections(port).values().sum::<usize>() == count).await;
}

/// Runs a test in a process of its own, because other tests of this program listen and take memory at the same time. `name` is the
/// test's.
fn alone(name: &str, test: impl Future<Output = ()>) {
    const ALONE: &str = "QIYOU_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        return runtime.expect("a runtime").block_on(test);
    }
    let program = std::env::current_exe().expect("this program");
    let run = Command::new(program).args(["--exact", name]).env(ALONE, "1").output().expect("it runs");
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(
        run.status.success() && said.contains(" 1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&run.stderr)
    );
}

#[test]
fn nothing_listens_before_a_code_is_shown_nor_after_the_last_is_closed() {
    alone("gate::nothing_listens_before_a_code_is_shown_nor_after_the_last_is_closed", async {
        let mut house = House::new(10);
        let mut device = device(&mut house).await;
        let client = &mut device.client;
        let id = open(client, Game::Gomoku, &[], Side::Second).await;
        assert_eq!(listening().len(), 0, "a room with a guest's seat opens no port");
        let seat = code(client, &id, false).await;
        assert_eq!(listening().len(), 1);
        let bench = code(client, &id, true).await;
        assert_eq!(
            (seat.authority == bench.authority, listening().len()),
            (true, 1),
            "one port for all codes"
        );
        let mut page = Page::come(&seat, TAB, 0).await;
        page.until_room(|_| true).await;
        let close = |watch| {
            request::Body::CloseGuestCode(control::CloseGuestCode {
                room_id: id.clone(),
                watch,
                ..Default::default()
            })
        };
        client.done(close(false)).await;
        assert_eq!(page.closed().await, "code_closed");
        assert_eq!(listening().len(), 1, "watchers may still come");
        client.done(request::Body::CloseRoom(control::CloseRoom { room_id: id.clone() })).await;
        settle("nothing listens", || listening().is_empty()).await;
        assert!(
            client.seen.guests.is_empty() || {
                client.until("told", |seen| seen.guests.is_empty()).await;
                true
            }
        );
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_hosts_and_origins_are_refused_and_the_page_says_what_it_may_load() {
    let mut house = House::new(11);
    let mut device = device(&mut house).await;
    let (_, code, _page) = with_guest(&mut device.client).await;
    let (host, port) = (code.authority.clone(), code.address().port());
    let own = format!("http://{host}");
    assert!(Page::connect(&code, &host, &own).await.is_some(), "the control");
    for (host, origin) in [
        (format!("evil.example:{port}"), own.clone()),
        (host.clone(), "http://evil.example".into()),
        (host.clone(), "null".into()),
        (host.clone(), format!("https://{host}")),
        (host.clone(), format!("http://{host}.evil.example")),
        (format!("localhost:{port}"), format!("http://localhost:{port}")),
    ] {
        assert!(Page::connect(&code, &host, &origin).await.is_none(), "{host} {origin}");
    }
    let own = format!("Host: {host}");
    for (request, status) in [
        (get("/nothing.js", &own), 404),
        (get("/../Cargo.toml", &own), 404),
        (get("/%2e%2e/Cargo.toml", &own), 404),
        (get("/", "Host: evil.example"), 403),
        (get("/", "X: y"), 403),
        (get("/", &format!("{own}\r\n{own}")), 403),
        (get("/play", &format!("{own}\r\nOrigin: http://{host}")), 426),
        (get("/", &own).replacen("GET", "POST", 1), 405),
        (get("/", &own).replacen("GET", "HEAD", 1), 405),
        (get("/", &format!("{own}\r\nX: {}", "y".repeat(20_000))), 431),
        ("\u{0}\u{1}\u{2}\r\n\r\n".to_owned(), 400),
    ] {
        let answer = raw(&code, &request).await;
        assert_eq!((answer.status, answer.body.as_slice()), (status, &b""[..]), "{request:.60}");
    }
    let page = raw(&code, &get("/", &own)).await;
    assert_eq!(page.status, 200);
    for (name, value) in [
        (
            "content-security-policy",
            &*format!(
                "default-src 'self'; connect-src 'self' ws://{host}; base-uri 'none'; form-action 'none'; \
                 frame-ancestors 'none'"
            ),
        ),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-cache"),
        ("content-type", "text/html; charset=utf-8"),
        ("set-cookie", ""),
        ("access-control-allow-origin", ""),
    ] {
        assert_eq!(page.header(name), value, "{name}");
    }
}

/// A request, after whose answer the host closes the connection.
fn get(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n\r\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_sent_again_only_if_it_has_changed_and_compressed_only_if_the_browser_accepts_it() {
    let mut house = House::new(15);
    let mut device = device(&mut house).await;
    let (_, code, _page) = with_guest(&mut device.client).await;
    let own = format!("Host: {}", code.authority);
    let mut tags = BTreeSet::new();
    for (path, content_type, content) in [
        ("/", "text/html; charset=utf-8", include_str!("../../../app/guest/page/index.html")),
        ("/main.js", "text/javascript; charset=utf-8", include_str!("../../../app/guest/page/main.js")),
        ("/style.css", "text/css; charset=utf-8", include_str!("../../../app/guest/page/style.css")),
        ("/icon.svg", "image/svg+xml; charset=utf-8", include_str!("../../../app/guest/page/icon.svg")),
    ] {
        let fetch = async |more: &str| raw(&code, &get(path, &format!("{own}{more}"))).await;
        let plain = fetch("").await;
        assert_eq!(String::from_utf8_lossy(&plain.body), content, "{path}");
        assert_eq!((plain.header("content-type"), plain.header("vary")), (content_type, "accept-encoding"));
        for accepted in ["gzip", "deflate, gzip;q=0.5, br", "GZIP"] {
            let answer = fetch(&format!("\r\nAccept-Encoding: {accepted}")).await;
            assert_eq!(
                (answer.status, answer.header("content-encoding")),
                (200, "gzip"),
                "{path} {accepted}"
            );
            assert!(answer.body.starts_with(&[0x1F, 0x8B, 8]) && answer.body.len() < content.len());
            // RFC 1952: the last four bytes are the length of what was compressed.
            assert!(answer.body.ends_with(&(content.len() as u32).to_le_bytes()), "{path}");
        }
        for refused in ["br", "identity", "gzip;q=0", "gzip; q=0.0", "x-gzip"] {
            let answer = fetch(&format!("\r\nAccept-Encoding: {refused}")).await;
            assert_eq!(
                (answer.header("content-encoding"), &answer.body),
                ("", &plain.body),
                "{path} {refused}"
            );
        }
        let tag = plain.header("etag");
        assert!(tag.len() > 2 && tag.starts_with('"') && tag.ends_with('"'), "{tag}");
        for (tags, status) in
            [(tag.to_owned(), 304), (format!("\"other\", {tag}"), 304), ("\"other\"".into(), 200)]
        {
            let answer = fetch(&format!("\r\nAccept-Encoding: gzip\r\nIf-None-Match: {tags}")).await;
            assert_eq!((answer.status, answer.body.is_empty()), (status, status == 304), "{path} {tags}");
            assert_eq!((answer.header("etag"), answer.header("cache-control")), (tag, "no-cache"));
        }
        tags.insert(tag.to_owned());
    }
    assert_eq!(tags.len(), 4, "each file has its own");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_wrong_codes_wait_and_a_closed_one_says_so() {
    let mut house = House::new(12);
    let mut device = device(&mut house).await;
    let (id, code, mut page) = with_guest(&mut device.client).await;
    let renew = control::ShowGuestCode { room_id: id, renew: true, ..Default::default() };
    let Ok(reply::Body::GuestCode(new)) = device.client.ask(request::Body::ShowGuestCode(renew)).await else {
        panic!("no code")
    };
    assert_eq!(page.closed().await, "code_closed");
    assert_eq!(Page::come(&code, TAB, 0).await.closed().await, "code_closed");
    let wrong = Code { token: "AAAAAAAAAAAAAAAAAAAAAA".into(), ..code.clone() };
    for _ in 0..4 {
        assert_eq!(Page::come(&wrong, TAB, 0).await.closed().await, "wrong_code");
    }
    assert_eq!(Page::come(&wrong, TAB, 0).await.closed().await, "wait");
    assert_eq!(
        Page::come(&Code::read(&new.url), TAB, 0).await.closed().await,
        "wait",
        "even with the right one"
    );
}

/// Resident memory of this process in bytes.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).expect("pages") * 4_096
}

/// Rooms as the host shows them to a client that comes now: record, revision, digest.
async fn shown(device: &Device, rooms: &[&String]) -> Vec<(Vec<String>, u32, u64)> {
    let seen = Client::attach(device.host().client()).await.seen;
    assert_eq!(seen.rooms.len(), rooms.len(), "no room has come or gone");
    let shown = |id: &&String| {
        let room = &seen.rooms[*id];
        (room.record.clone(), room.revision, room.digest)
    };
    rooms.iter().map(shown).collect()
}

#[test]
fn a_hostile_client_costs_bounded_memory_and_disturbs_nobody() {
    alone("gate::a_hostile_client_costs_bounded_memory_and_disturbs_nobody", hostile_client());
}

async fn hostile_client() {
    /// What all that follows may cost. It is 4 to 6 MiB in a debug build.
    const MEMORY: u64 = 12 << 20;
    let mut house = House::new(13);
    // Idle connections stay as long as they can.
    let mut device = device_with(&mut house, patient).await;
    let (id, code, mut page) = with_guest(&mut device.client).await;
    device.client.play("h8").await.expect("Anna's turn");
    page.until_room(|room| room["ply"] == json!(1)).await;
    assert_eq!(page.act(&json!({"place": 3})).await["ok"], json!(true));
    let other = open(&mut device.client, Game::Go, &[("size", "9")], Side::First).await;
    let before = shown(&device, &[&id, &other]).await;
    assert_eq!((before[0].0.len(), before[1].0.len()), (2, 0));
    let memory = resident();
    // Invalid messages, and the ids of other rooms.
    for message in [
        "",
        "null",
        "[]",
        "{}",
        "{\"stop\":{}}",
        "{\"room\":{}}",
        "\u{0}",
        "{\"act\":null}",
        "{\"hello\":{}}",
        "{\"ping\":1e400}",
        "{\"say\":{\"id\":1,\"text\":\"\\ud800\"}}",
        "{\"list_matches\":{\"limit\":1}}",
    ] {
        let mut bad = Page::come(&code, TAB, 0).await;
        bad.until("welcome", |_| true).await;
        bad.send(message).await;
        assert_eq!(bad.closed().await, "bad_message", "{message}");
    }
    assert_eq!(page.closed().await, "replaced");
    let mut page = Page::come(&code, TAB, 0).await;
    page.until_room(|_| true).await;
    for (kind, fields) in [
        ("act", json!({"room": other, "ply": 0, "revision": 0, "action": {"pass": true}})),
        ("resign", json!({"room": other, "revision": 0})),
        ("look", json!({"room": other, "ply": 0})),
        ("file", json!({"room": other})),
        ("offer", json!({"room": "", "ply": 0, "revision": 0, "kind": "draw"})),
    ] {
        assert_eq!(page.ask(kind, fields).await["refused"], json!("other_room"), "{kind}");
    }
    // Valid messages about another room, with random bytes changed.
    let mut rng = Rng::new(tests::seed::begin("gate", 13));
    let examples: Value =
        serde_json::from_str(include_str!("../../../docs/guest-examples.json")).expect("JSON");
    let mut examples = examples["from_page"].as_array().expect("a list").clone();
    for fields in examples.iter_mut().filter_map(Value::as_object_mut).flat_map(|one| one.values_mut()) {
        if let Some(room) = fields.get_mut("room") {
            *room = json!(other);
        }
    }
    for _ in 0..60 {
        let mut fuzzed = Page::come(&code, TAB, 0).await;
        fuzzed.until("welcome", |_| true).await;
        for _ in 0..10 {
            let mut text = examples[rng.below(examples.len() as u32) as usize].to_string().into_bytes();
            for _ in 0..=rng.below(3) {
                let at = rng.below(text.len() as u32) as usize;
                text[at] = b" 0123456789{}[]\",:-etrufalsn"[rng.below(28) as usize];
            }
            fuzzed.send(&String::from_utf8_lossy(&text)).await;
        }
    }
    // Floods.
    let mut flood = Page::come(&code, TAB, 0).await;
    flood.until("welcome", |_| true).await;
    for n in 1..200 {
        flood.say(&json!({ "ping": n })).await;
    }
    assert_eq!(flood.closed().await, "too_fast");
    let mut long = Page::come(&code, TAB, 0).await;
    long.until("welcome", |_| true).await;
    long.send(&format!("{{\"ping\":1{}}}", " ".repeat(100_000))).await;
    assert_eq!(long.closed().await, "bad_message");
    drop((flood, long));
    // A thousand idle connections of ten addresses, while the guest is there and another match goes on.
    let port = code.address().port();
    let mut page = Page::come(&code, TAB, 0).await;
    page.until_room(|_| true).await;
    until_connections(port, 1).await;
    let crowd = crowd(&code, (1_000, 127), 10).await;
    until_connections(port, 128).await;
    let of = connections(port);
    assert!(of.len() == 11 && of.values().all(|count| *count < 24), "not for one address's limit: {of:?}");
    let own = format!("http://{}", code.authority);
    assert!(Page::connect(&code, &code.authority, &own).await.is_some(), "one of the crowd gives way");
    let opened = control::OpenRoom { first: Some(here()), second: Some(here()), ..Default::default() };
    let Ok(reply::Body::RoomId(third)) = device.client.ask(request::Body::OpenRoom(opened)).await else {
        panic!("no room")
    };
    for notation in ["a1", "b1", "c1"] {
        let act = control::Act { room_id: third.clone(), notation: notation.into(), action: None };
        device.client.done(request::Body::Act(act)).await;
    }
    assert_eq!(page.ask("look", json!({"room": id, "ply": 2})).await["ply"], json!(2), "the guest stays");
    let grown = resident().saturating_sub(memory);
    assert!(grown < MEMORY, "{} KiB", grown >> 10);
    drop(crowd);
    until_connections(port, 1).await;
    // Of one address.
    let greedy = self::crowd(&code, (100, 24), 1).await;
    until_connections(port, 25).await;
    let of = connections(port);
    assert_eq!(of.values().copied().collect::<BTreeSet<_>>(), BTreeSet::from([1, 24]), "{of:?}");
    let after = shown(&device, &[&id, &other, &third]).await;
    assert_eq!(after[..2], before);
    assert_eq!(after[2].0, ["a1", "b1", "c1"]);
    // The guest can come again, and play.
    drop(page);
    let mut back = Page::come(&code, TAB, 100).await;
    back.until_room(|room| room["id"] == json!(id)).await;
    drop(greedy);
}

/// Connections that say nothing, from this many addresses by turns: more than the host takes. It has decided about each: the last ones,
/// so many, stay, and the others gave way.
async fn crowd(code: &Code, (count, stay): (usize, usize), addresses: u8) -> Vec<TcpStream> {
    let mut crowd = Vec::new();
    for address in (0..addresses).cycle().take(count) {
        crowd.push(connect_from(Ipv4Addr::new(127, 0, 0, 2 + address), code.address().port()).await);
    }
    // The host accepts them in order, and the oldest gives way first.
    until_closed(&mut crowd[count - stay - 1]).await;
    crowd
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_player_is_back_at_once_while_as_many_as_may_are_watching_and_a_crowd_says_nothing() {
    let mut house = House::new(17);
    // Nobody's time runs out.
    let mut device = device_with(&mut house, patient).await;
    let client = &mut device.client;
    let id = open(client, Game::Gomoku, &[], Side::Second).await;
    let (code, bench) = (home_code(client, &id, false).await, home_code(client, &id, true).await);
    let connect = async |from: u8| connect_from(Ipv4Addr::new(127, 0, 0, from), code.address().port()).await;
    let mut player = Page::come_by(connect(1).await, &code, TAB).await;
    player.until_room(|_| true).await;
    let (mut watchers, mut silent, mut crowd) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..32 {
        let mut watcher = Page::come_by(connect(2 + number % 4).await, &bench, OTHER_TAB).await;
        watcher.until_room(|_| true).await;
        watchers.push(watcher);
    }
    // WebSockets without a hello, ten of each address, and sockets without a request, of other addresses too.
    let own = format!("http://{}", code.authority);
    for number in 0..40 {
        let page = Page::connect_by(connect(2 + number % 4).await, &code, &code.authority, &own).await;
        silent.push(page.expect("the host lets pages in"));
    }
    for number in 0..240 {
        crowd.push(connect(2 + number % 10).await);
    }
    // From an address of its own, and from one that has all its connections.
    for from in [1, 2] {
        let mut back = Page::come_by(connect(from).await, &code, TAB).await;
        back.until_room(|room| room["you"] == json!("second")).await;
        assert_eq!(player.closed().await, "replaced");
        player = back;
    }
    assert!(silent[0].is_cut().await, "the oldest has given way");
    for watcher in &mut watchers {
        watcher.say(&json!({ "ping": 1 })).await;
        assert_eq!(watcher.until("pong", |_| true).await, json!(1), "who watches stays");
    }
    drop((silent, crowd));
    client.play("h8").await.expect("Anna's turn");
    player.until_room(|room| room["ply"] == json!(1)).await;
}
