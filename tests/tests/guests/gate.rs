//! Who is let in: ports, origins, codes, and hostile clients.

use std::collections::BTreeSet;

use engine::Rng;
use proto::board::{Game, Side};
use proto::control::{self, reply, request};
use serde_json::{Value, json};
use tests::house::House;

use super::{TAB, code, device, here, open, with_guest};
use crate::page::{Code, Page, raw};

/// TCP ports on which this process listens.
fn listening() -> BTreeSet<String> {
    let own: BTreeSet<String> = std::fs::read_dir("/proc/self/fd")
        .expect("Linux")
        .filter_map(|fd| std::fs::read_link(fd.ok()?.path()).ok()?.to_str().map(str::to_owned))
        .filter_map(|link| Some(link.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    ["/proc/net/tcp", "/proc/net/tcp6"]
        .into_iter()
        .flat_map(|table| {
            std::fs::read_to_string(table).unwrap_or_default().lines().map(str::to_owned).collect::<Vec<_>>()
        })
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
            // 0A is TCP_LISTEN.
            (*state == "0A" && own.contains(*inode)).then(|| (*local).to_owned())
        })
        .collect()
}

#[test]
fn nothing_listens_before_a_code_is_shown_nor_after_the_last_is_closed() {
    // In a process of its own: other tests of this program listen concurrently.
    const ALONE: &str = "QIYOU_TEST_ALONE";
    let name = "gate::nothing_listens_before_a_code_is_shown_nor_after_the_last_is_closed";
    if std::env::var_os(ALONE).is_none() {
        let program = std::env::current_exe().expect("this program");
        let run = std::process::Command::new(program)
            .args(["--exact", name])
            .env(ALONE, "1")
            .output()
            .expect("it runs");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
        return;
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let mut house = House::new(10);
        let mut device = device(&mut house).await;
        let client = &mut device.client;
        let id = open(client, Game::Gomoku, &[], Side::Second).await;
        assert_eq!(listening(), BTreeSet::new(), "a room with a guest's seat opens no port");
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
        for _ in 0..500 {
            if listening().is_empty() {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert_eq!(listening(), BTreeSet::new());
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hostile_client_costs_bounded_memory_and_disturbs_nobody() {
    let mut house = House::new(13);
    let mut device = device(&mut house).await;
    let client = &mut device.client;
    let (id, code, mut page) = with_guest(client).await;
    let other = open(client, Game::Go, &[("size", "9")], Side::First).await;
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
    // Valid messages with random bytes changed.
    let mut rng = Rng::new(13);
    let examples: Value =
        serde_json::from_str(include_str!("../../../docs/guest-examples.json")).expect("JSON");
    let examples = examples["from_page"].as_array().expect("a list").clone();
    for round in 0..60 {
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
        drop(fuzzed);
        assert!(client.seen.rooms.len() == 2, "round {round}");
    }
    // Floods.
    let before = resident();
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
    // A thousand idle connections.
    let mut crowd = Vec::new();
    for _ in 0..1_000 {
        crowd.push(tokio::net::TcpStream::connect(code.address()).await.ok());
    }
    // The other match goes on meanwhile.
    let opened = control::OpenRoom { first: Some(here()), second: Some(here()), ..Default::default() };
    let Ok(reply::Body::RoomId(third)) = client.ask(request::Body::OpenRoom(opened)).await else {
        panic!("no room")
    };
    for notation in ["a1", "b1", "c1"] {
        let act = control::Act { room_id: third.clone(), notation: notation.into(), action: None };
        client.done(request::Body::Act(act)).await;
    }
    let grown = resident().saturating_sub(before);
    // Other tests of this program run concurrently in this process.
    assert!(grown < 96 << 20, "{} KiB", grown >> 10);
    drop(crowd);
    // A guest can connect again after the idle connections are closed.
    let mut back = loop {
        let origin = format!("http://{}", code.authority);
        match Page::connect(&code, &code.authority, &origin).await {
            Some(_) => break Page::come(&code, TAB, 0).await,
            None => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
        }
    };
    back.until_room(|room| room["id"] == json!(id)).await;
}
