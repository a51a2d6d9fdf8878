//! A whole device: requests of a hostile client, a journal with any values in its rows, a backup of somebody who knows its
//! passphrase. Whatever came, the host answers its other clients, and starts again from what is on disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

use argon2::{Algorithm, Argon2, Params, Version};
use bytes::BytesMut;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use client::Connection;
use host::{DATABASE, Entropy, Host, HostConfig};
use prost::Message as _;
use proto::control::{self, Request, request};
use proto::frame::{FrameCodec, FrameLimit, Outgoing};
use rusqlite::types::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Runtime;
use tokio::time::timeout;
use tokio_util::codec::Encoder;

/// Everything of a device of today's schema: friends, matches of all kinds, puzzles, notes, clubs.
const SAVES: &str = include_str!("../../../app/host/src/store/fixtures/schema-18.sql");

/// Number of a request on the control socket.
const REQUEST: u32 = 1;

/// Most bytes that one input may add on disk. A whole copy of what was there is 150 KB; a restored backup or damaged saves leave one
/// or two.
const MOST_ADDED: u64 = 2 << 20;

/// Most bytes in SQLite's logs, should one stay: it is merged at 1,000 pages of 4 KiB, after the change that reaches them.
const MOST_IN_LOGS: u64 = 5 << 20;

/// A device as it was when it was last switched off.
struct Saved {
    identity: Vec<u8>,
    database: Vec<u8>,
    /// Its tables, with their columns.
    tables: Vec<(String, Vec<String>)>,
}

static SAVED: LazyLock<Saved> = LazyLock::new(|| {
    let folder = folder();
    let path = folder.path().join(DATABASE);
    let database = rusqlite::Connection::open(&path).expect("opens");
    database.execute_batch(SAVES).expect("a script");
    let names: Vec<String> = {
        let mut tables = database
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
            .expect("readable");
        let names = tables.query_map([], |row| row.get(0)).expect("readable");
        names.collect::<Result<_, _>>().expect("readable")
    };
    let columns = |name: &String| {
        let columns = database.prepare(&format!("SELECT * FROM {name}")).expect("readable");
        let columns = columns.column_names().map(str::to_owned).collect();
        (name.clone(), columns)
    };
    let tables = names.iter().map(columns).collect();
    drop(database);
    let runtime = runtime();
    runtime.block_on(async {
        let host = Host::start(config(folder.path())).expect("a usable device");
        host.stop().await;
    });
    let read = |name: &str| fs::read(folder.path().join(name)).expect("written");
    // The log is merged when the last connection closes.
    Saved { identity: read("identity"), database: read(DATABASE), tables }
});

/// A folder for a device, in memory where there is such a file system.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    folder.expect("a folder")
}

/// Bytes of the files in a folder and the folders in that: of all but SQLite's logs, and of the logs.
fn bytes_in(folder: &Path) -> (u64, u64) {
    let (mut bytes, mut in_logs) = (0, 0);
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            let (more, more_in_logs) = bytes_in(&path);
            bytes += more;
            in_logs += more_in_logs;
        } else {
            let length = fs::metadata(&path).map_or(0, |data| data.len());
            let is_log = path.to_string_lossy().ends_with("-wal");
            *(if is_log { &mut in_logs } else { &mut bytes }) += length;
        }
    }
    (bytes, in_logs)
}

fn runtime() -> Runtime {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().start_paused(true).build().expect("a runtime")
}

fn config(folder: &Path) -> HostConfig {
    /// Of a bot's transposition table.
    const TABLE_BYTES: usize = 1 << 20;
    let mut config = HostConfig::new(folder);
    config.entropy = Entropy::Seeded(7);
    config.bots = Arc::new(|kind, level, seed| engine::partner(kind, level, seed, TABLE_BYTES));
    config.bot_time = Duration::from_millis(1);
    config.wall_clock = Arc::new(|| SystemTime::UNIX_EPOCH + Duration::from_hours(500_000));
    config
}

/// A device whose files are a copy of [`SAVED`].
struct Device {
    folder: tempfile::TempDir,
    runtime: Runtime,
}

impl Device {
    fn new() -> Self {
        let device = Self { folder: folder(), runtime: runtime() };
        fs::write(device.path("identity"), &SAVED.identity).expect("written");
        fs::write(device.path(DATABASE), &SAVED.database).expect("written");
        device
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts a host, lets `with` use it, and stops it as a power cut would.
    fn run(&self, with: impl AsyncFnOnce(&Host)) {
        self.runtime.block_on(async {
            let host = Host::start(config(self.folder.path())).expect("the device starts");
            with(&host).await;
            host.kill().await;
        });
        let (bytes, in_logs) = bytes_in(self.folder.path());
        let before = (SAVED.identity.len() + SAVED.database.len()) as u64;
        assert!(bytes <= before + MOST_ADDED, "{bytes} bytes on disk, before {before}");
        assert!(in_logs <= MOST_IN_LOGS, "{in_logs} bytes in logs");
    }

    /// The device starts, tells its whole state, and answers what a person looks at first.
    fn is_usable(&self) {
        self.run(async |host| {
            let mut client = Connection::attach(host.client(), "fuzz").await.expect("the whole state");
            let asked = [
                request::Body::ListMatches(control::ListMatches::default()),
                request::Body::ListPuzzles(control::ListPuzzles::default()),
                request::Body::ListPuzzles(control::ListPuzzles { yours: true, ..Default::default() }),
                request::Body::Describe(control::Describe::default()),
            ];
            for body in asked {
                answered(&mut client, body).await;
            }
            let rooms: Vec<String> = client.state().rooms.keys().cloned().collect();
            for room_id in rooms.into_iter().chain(KEPT.map(str::to_owned)) {
                let look = control::Look { room_id: room_id.clone(), ..Default::default() };
                answered(&mut client, request::Body::Look(look)).await;
                answered(&mut client, request::Body::ResumeRoom(control::ResumeRoom { room_id })).await;
            }
        });
    }
}

/// Asks, and takes any answer.
async fn answered<S: tokio::io::AsyncRead + tokio::io::AsyncWrite>(
    client: &mut Connection<S>,
    body: request::Body,
) {
    match client.ask(body.clone()).await {
        Ok(_) | Err(client::Failure::Refused(_)) => {}
        Err(lost) => panic!("the host is gone: {lost:?} after {body:?}"),
    }
}

/// Matches on [`SAVES`].
const KEPT: [&str; 3] = [
    "01010101010101010101010101010101",
    "02020202020202020202020202020202",
    "03030303030303030303030303030303",
];

/// Takes pieces off an input.
struct Pieces<'a>(&'a [u8]);

impl<'a> Pieces<'a> {
    fn byte(&mut self) -> Option<usize> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(usize::from(*first))
    }

    /// At most this many bytes.
    fn most(&mut self, length: usize) -> &'a [u8] {
        let (piece, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        piece
    }

    /// Bytes with their length, two bytes, before them.
    fn sized(&mut self) -> Option<&'a [u8]> {
        let length = self.byte()? | self.byte()? << 8;
        Some(self.most(length))
    }
}

/// What a client may ask without making the host write outside its folder, start programs, compute for minutes, or end.
fn is_harmless(body: &request::Body) -> bool {
    use request::Body;
    !matches!(
        body,
        Body::Stop(_)
            | Body::SaveBackup(_)
            | Body::RestoreBackup(_)
            | Body::AddEngine(_)
            | Body::FindEngines(_)
            | Body::SetEndings(_)
            | Body::MakePuzzles(_)
            | Body::SetHotspot(_)
            | Body::PowerOn(_)
    )
}

/// Requests of a client, each with its length before it: the host answers other clients, and its saves can be read.
pub(crate) fn socket(input: &[u8]) {
    let (mut codec, mut frames) = (FrameCodec::new(FrameLimit::Local), BytesMut::new());
    let mut put = |payload: Vec<u8>| {
        let _ = codec.encode(Outgoing { msgid: REQUEST, payload: payload.into() }, &mut frames);
    };
    put(Request { id: 1, body: Some(client::attach("fuzz")) }.encode_to_vec());
    let mut pieces = Pieces(input);
    while let Some(payload) = pieces.sized() {
        let harmless = |request: Request| request.body.as_ref().is_none_or(is_harmless);
        if Request::decode(payload).map_or(true, harmless) {
            put(payload.to_vec());
        }
    }
    let device = Device::new();
    device.run(async |host| {
        let mut other = Connection::attach(host.client(), "another").await.expect("the whole state");
        let mut stream = host.client();
        // The host may close the connection in the middle.
        let _ = stream.write_all(&frames).await;
        let mut answer = vec![0; 64 << 10];
        while let Ok(Ok(1..)) = timeout(Duration::from_millis(100), stream.read(&mut answer)).await {}
        drop(stream);
        answered(&mut other, request::Body::Scan(control::Scan { on: false })).await;
    });
    device.is_usable();
}

/// Changes of [`SAVED`]'s rows, each a table, a column, a row, a type and a value: the device starts, and the rest of it is usable.
pub(crate) fn journal(input: &[u8]) {
    let device = Device::new();
    change_rows(&device.path(DATABASE), &mut Pieces(input));
    device.is_usable();
}

fn change_rows(path: &Path, pieces: &mut Pieces<'_>) {
    let database = rusqlite::Connection::open(path).expect("opens");
    database
        .execute_batch(
            "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA synchronous = OFF",
        )
        .expect("settings");
    while let Some(change) = next_change(pieces) {
        // Columns have types, which SQLite keeps.
        let _ = database.execute(&change.0, rusqlite::params![change.1, change.2]);
    }
    drop(database);
}

/// A statement, its value, and the number of its row.
fn next_change(pieces: &mut Pieces<'_>) -> Option<(String, Value, i64)> {
    let (table, columns) = &SAVED.tables[pieces.byte()? % SAVED.tables.len()];
    let column = &columns[pieces.byte()? % columns.len()];
    let row = pieces.byte()? as i64;
    let (kind, length) = (pieces.byte()?, pieces.byte()?);
    let bytes = pieces.most(length);
    let value = match kind % 5 {
        0 => Value::Null,
        1 => {
            let mut number = [0; 8];
            let length = bytes.len().min(8);
            number[..length].copy_from_slice(&bytes[..length]);
            Value::Integer(i64::from_le_bytes(number))
        }
        2 => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
        _ => Value::Blob(bytes.to_vec()),
    };
    // A table's first column identifies a row, at least with its second.
    let first = &columns[0];
    let which =
        format!("(SELECT {first} FROM {table} LIMIT 1 OFFSET ?2 % max(1, (SELECT count(*) FROM {table})))");
    // Text that is not UTF-8, which a bound value cannot be.
    let new = if kind % 5 == 4 { "CAST(?1 AS TEXT)" } else { "?1" };
    Some((format!("UPDATE {table} SET {column} = {new} WHERE {first} = {which}"), value, row))
}

const PASSPHRASE: &str = "correct horse";

/// A backup: the bytes of a file; or, after a zero, the content of one under the right passphrase; or, after a one, changed rows
/// in one. What is restored is a device that starts; what is not leaves the device as it was.
pub(crate) fn backup(input: &[u8]) {
    let device = Device::new();
    let mut pieces = Pieces(input);
    let file = match pieces.0.first() {
        Some(0) => sealed(&pieces.0[1..]),
        Some(1) => {
            pieces.0 = &pieces.0[1..];
            let saves = folder();
            let path = saves.path().join(DATABASE);
            fs::write(&path, &SAVED.database).expect("written");
            change_rows(&path, &mut pieces);
            sealed(&packed(&SAVED.identity, &fs::read(&path).expect("readable")))
        }
        // The price of a passphrase is bounded (`KdfParams`) and not what is looked for here.
        _ if price(input).is_some_and(|cost| cost > 1 << 10) => return,
        _ => input.to_vec(),
    };
    let from = folder();
    let path = from.path().join("backup");
    fs::write(&path, &file).expect("written");
    device.run(async |host| {
        let mut client = Connection::attach(host.client(), "fuzz").await.expect("the whole state");
        let (path, passphrase) = (path.display().to_string(), PASSPHRASE.to_owned());
        let asked = control::RestoreBackup { path, passphrase };
        answered(&mut client, request::Body::RestoreBackup(asked)).await;
    });
    assert_eq!(fs::read(&path).expect("readable"), file, "the backup stays as it is");
    device.is_usable();
}

/// The file format of app/host/src/backup.rs.
const FIRST_LINE: &[u8] = b"qiyou backup 1\n";
const PARAMS: usize = FIRST_LINE.len();
const SALT: [u8; 16] = [1; 16];
const NONCE: [u8; 24] = [2; 24];
/// As cheap as Argon2id allows, and one pass.
const MEMORY_KIB: u32 = 8;

/// Cost of deriving the key of this file: memory in KiB, times passes.
fn price(file: &[u8]) -> Option<u64> {
    let number = |at| Some(u64::from(u32::from_be_bytes(file.get(at..at + 4)?.try_into().ok()?)));
    Some(number(PARAMS)? * number(PARAMS + 4)?.max(1)).filter(|_| file.starts_with(FIRST_LINE))
}

fn packed(identity: &[u8], saves: &[u8]) -> Vec<u8> {
    [&(identity.len() as u32).to_be_bytes(), identity, saves].concat()
}

fn sealed(content: &[u8]) -> Vec<u8> {
    let mut keys = [0; 48];
    let params = Params::new(MEMORY_KIB, 1, 1, Some(keys.len())).expect("allowed");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(PASSPHRASE.as_bytes(), &SALT, &mut keys)
        .expect("derived");
    let (key, check) = keys.split_at(32);
    let price = [MEMORY_KIB.to_be_bytes(), 1_u32.to_be_bytes()].concat();
    let head = [FIRST_LINE, &price, &SALT, check, &NONCE].concat();
    let payload = Payload { msg: content, aad: &head };
    let hidden = XChaCha20Poly1305::new(Key::from_slice(key)).encrypt(XNonce::from_slice(&NONCE), payload);
    [head, hidden.expect("sealed")].concat()
}

#[cfg(test)]
mod tests {
    use proto::board;

    use super::*;

    fn gomoku() -> control::GameChoice {
        control::GameChoice { game: board::Game::Gomoku.into(), ..Default::default() }
    }

    /// Conversations that reach much of the host.
    fn conversations() -> Vec<(&'static str, Vec<request::Body>)> {
        use request::Body;
        let id = KEPT[1].to_owned();
        let place = |place: u32| board::Action { kind: Some(board::action::Kind::Place(place)) };
        let act = |room_id: &str, point: u32| {
            Body::Act(control::Act {
                room_id: room_id.to_owned(),
                action: Some(place(point)),
                ..Default::default()
            })
        };
        let kept = |room_id: &str| {
            vec![
                Body::Look(control::Look {
                    room_id: room_id.to_owned(),
                    ply: 2,
                    record: true,
                    line: vec![place(7)],
                }),
                Body::Export(control::Export {
                    room_id: room_id.to_owned(),
                    format: "sgf".into(),
                    ..Default::default()
                }),
                Body::Branch(control::Branch { room_id: room_id.to_owned(), ply: 1, ..Default::default() }),
                Body::Discard(control::Discard { room_id: room_id.to_owned() }),
            ]
        };
        let sgf = b"(;GM[4]SZ[15];B[hh];W[ii](;B[gg]C[better])(;B[jj]))".to_vec();
        vec![
            (
                "act",
                vec![
                    Body::ResumeRoom(control::ResumeRoom { room_id: id.clone() }),
                    act(&id, 7 * 1024 + 7),
                    Body::Hint(control::Hint { room_id: id.clone(), ..Default::default() }),
                    Body::Resign(control::Resign { room_id: id.clone(), ..Default::default() }),
                    Body::CloseRoom(control::CloseRoom { room_id: id.clone() }),
                ],
            ),
            (
                "import",
                vec![
                    Body::Import(control::Import { name: "a.sgf".into(), content: sgf.into() }),
                    Body::ListMatches(control::ListMatches::default()),
                ],
            ),
            ("kept", kept(KEPT[2])),
            ("kept-with-friend", kept(KEPT[0])),
            (
                "open",
                vec![Body::OpenRoom(control::OpenRoom { choice: Some(gomoku()), ..Default::default() })],
            ),
            (
                "puzzles",
                vec![
                    Body::ListPuzzles(control::ListPuzzles {
                        game: board::Game::Gomoku.into(),
                        yours: false,
                    }),
                    Body::OpenPuzzle(control::OpenPuzzle {
                        game: board::Game::Gomoku.into(),
                        ..Default::default()
                    }),
                ],
            ),
            (
                "settings",
                vec![
                    Body::SetName(control::SetName { name: "棋友".into() }),
                    Body::SetVisibility(control::SetVisibility {
                        visibility: control::Visibility::Nobody.into(),
                    }),
                    Body::SetQuietHours(control::SetQuietHours::default()),
                    Body::ShowFriendCode(control::ShowFriendCode::default()),
                    Body::AddFriend(control::AddFriend::default()),
                ],
            ),
        ]
    }

    /// Changed conversations need the seeds written anew: `WRITE_SEEDS=1 cargo test -p fuzz`.
    #[test]
    fn the_seeds_of_the_socket_are_conversations() {
        let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds/socket");
        for (name, bodies) in conversations() {
            let sized = |body: request::Body| {
                let request = Request { id: 2, body: Some(body) }.encode_to_vec();
                [&(request.len() as u16).to_le_bytes(), &request[..]].concat()
            };
            let bytes = bodies.into_iter().map(sized).collect::<Vec<_>>().concat();
            if std::env::var_os("WRITE_SEEDS").is_some() {
                fs::create_dir_all(&seeds).expect("written");
                fs::write(seeds.join(name), &bytes).expect("written");
            }
            assert_eq!(fs::read(seeds.join(name)).expect("a seed"), bytes, "{name}");
        }
    }

    #[test]
    fn what_is_packed_and_sealed_here_is_a_backup_and_other_bytes_are_not() {
        for (content, taken) in [(packed(&SAVED.identity, &SAVED.database), true), (vec![0; 9], false)] {
            let device = Device::new();
            let path = device.path("backup");
            fs::write(&path, sealed(&content)).expect("written");
            device.run(async |host| {
                let mut client = Connection::attach(host.client(), "fuzz").await.expect("the whole state");
                let (path, passphrase) = (path.display().to_string(), PASSPHRASE.to_owned());
                let asked = request::Body::RestoreBackup(control::RestoreBackup { path, passphrase });
                assert_eq!(client.ask(asked).await.is_ok(), taken);
            });
        }
    }

    #[test]
    fn a_change_of_a_row_is_found_in_the_saves() {
        let device = Device::new();
        let table = SAVED.tables.iter().position(|(name, _)| name == "blocked").expect("a table");
        let column = SAVED.tables[table].1.iter().position(|name| name == "name").expect("a column");
        let change = [&[table as u8, column as u8, 0, 2, 4][..], b"Eve!"].concat();
        change_rows(&device.path(DATABASE), &mut Pieces(&change));
        let name = |path| {
            let database = rusqlite::Connection::open(path).expect("opens");
            database.query_row("SELECT name FROM blocked", [], |row| row.get::<_, String>(0)).expect("a row")
        };
        assert_eq!(name(device.path(DATABASE)), "Eve!");
    }
}
