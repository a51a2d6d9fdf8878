//! Test of power cuts at any moment, with disk contents derived from the system calls of a real store.
//!
//! The test runs itself under `strace` as a writer that acknowledges each change in a file. From the trace, images of the
//! directory at a thousand moments are made: all synced data is present; of unsynced data each 512-byte sector is present or
//! not, a file may be longer than what was written to it, a new name may be missing, and a removed one may still exist.
//! Every image must open and contain a prefix of the changes: all acknowledged ones, and at most the one in progress.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use engine::{Action, GameKind, Point, Rng, Side};
use proto::control;
use rusqlite::types::Value;
use session::club::{Club, ClubRecord, GameResult, PlayerKind};
use session::{Entry, MatchId, MatchRecord, MatchResult};

use super::{KeptFile, KeptNotes, SavedFriend, Store};
use crate::room::{PlayerId, Seat};
use crate::seed;

/// Environment variable with the directory of the writer.
const WRITER: &str = "QIYOU_TEST_POWER_CUT_WRITER";
const NAME: &str = "store::power_cut::a_power_cut_loses_nothing_acknowledged_and_leaves_nothing_by_halves";
/// Enough changes to fill the log, so that a checkpoint copies it into the database.
const CHANGES: usize = 420;
const CUTS: usize = 1_000;
const SECTOR: usize = 512;
/// File to which the writer acknowledges each change.
const ACKNOWLEDGED: &str = "acknowledged";

/// Makes the change with this number, deterministically.
fn change(store: &mut Store, number: usize) {
    let mut rng = Rng::new(number as u64);
    let now = number as i64;
    let id = MatchId([(number / 20) as u8; 16]);
    let record = || MatchRecord::new(id, GameKind::Gomoku.default_setup(), Side::First);
    let seats = [Seat::Here, Seat::Peer(PlayerId([7; 32]))];
    let ply = |number: usize| (number % 20) as u32;
    let place = |number: usize| Action::Place(Point::new((number % 20) as u16 % 15, 3));
    let done = match number % 20 {
        0 => store.begin(&record(), seats, now),
        12 => store.take_back(id, 9, 1, now),
        13 => store.set_paused(id, 2, true, now),
        14 => store.set_setting("name", &format!("{number}").repeat(rng.below(400) as usize)),
        15 => store.put_friend(&SavedFriend {
            key: PlayerId([rng.below(5) as u8; 32]),
            name: format!("friend {number}"),
            advert_key: [number as u8; 32],
            met_unix_ms: now,
            muted: false,
            note: String::new(),
        }),
        16 => {
            let friend = PlayerId([rng.below(5) as u8; 32]);
            store.forget(friend, &[number as u8; 32])
        }
        17 => {
            let taken = MatchId([(128 + number / 20) as u8; 16]);
            let origin = control::Origin { first: format!("player {number}"), ..Default::default() };
            let content = (0..60_000).map(|_| rng.below(256) as u8).collect();
            let file = KeptFile { ending: "sgf".into(), actions: 0, content };
            let record = MatchRecord { id: taken, ..record() };
            store.take_in(&record, Seat::BOTH_HERE, (&origin, &file, &noted(number)), now)
        }
        18 => store.write_change(&Entry::Ended { id, revision: 2, result: MatchResult::DrawAgreed }, now),
        19 if number % 40 == 39 => store.put_club(1 + number as u32 / 120, &evening(number), &[]),
        19 => store.settle(id),
        _ => store.append(id, ply(number), (place(number), 0), None, now),
    };
    done.expect("the disk is not full");
}

/// Notes with one comment.
fn noted(number: usize) -> KeptNotes {
    let mut kept = KeptNotes::default();
    kept.notes.set_comment(engine::notes::At::Main(0), &format!("move {number}")).expect("a short one");
    kept
}

/// A club evening that grows from one number to the next.
fn evening(number: usize) -> ClubRecord {
    let mut club = Club::empty("Friday".into(), GameKind::Gomoku.default_setup(), None, false);
    for player in 1..=4 + number as u8 / 80 {
        club.add(&format!("player {player}"), PlayerKind::Nobody).expect("not full");
    }
    if number % 120 > 40 {
        club.start(Some(number as u64)).expect("enough players");
        for board in 1..=2 {
            club.set_result(1, board, Some(GameResult::Draw)).expect("a game");
        }
    }
    club.record().clone()
}

/// The contents of the store.
fn dump(store: &Store) -> Vec<String> {
    let mut rows = Vec::new();
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name";
    let mut statement = store.connection.prepare(tables).expect("a schema");
    let names: Vec<String> =
        statement.query_map([], |row| row.get(0)).expect("tables").map(|name| name.expect("text")).collect();
    for name in names {
        let mut all =
            store.connection.prepare(&format!("SELECT * FROM {name} ORDER BY 1, 2")).expect("a table");
        let columns = all.column_count();
        let mut read = all.query([]).expect("rows");
        while let Some(row) = read.next().expect("a row") {
            let values: Vec<Value> = (0..columns).map(|column| row.get(column).expect("a value")).collect();
            rows.push(format!("{name}: {values:?}"));
        }
    }
    rows
}

/// A system call of the writer.
enum Call {
    Create(String),
    Write { file: String, at: usize, bytes: Vec<u8> },
    Truncate { file: String, length: usize },
    Sync(String),
    SyncNames,
    Remove(String),
    Acknowledge,
}

/// The bytes of a string in the output of `strace -xx`.
fn bytes_of(text: &str) -> Vec<u8> {
    let hex = text.trim_matches('"').split("\\x").skip(1);
    hex.map(|pair| u8::from_str_radix(pair, 16).expect("strace prints bytes in hexadecimal")).collect()
}

/// The calls in a trace that concern this directory, in order.
fn calls(trace: &str, directory: &Path) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut made: Vec<String> = Vec::new();
    let here = |path: &str| {
        let path = String::from_utf8(bytes_of(path)).expect("our paths are text");
        let name = Path::new(&path).strip_prefix(directory).ok()?.to_str()?.to_owned();
        Some(name)
    };
    for line in trace.lines() {
        assert!(!line.contains("unfinished"), "the writer has one thread: {line}");
        let Some((call, result)) = line.rsplit_once(" = ") else { continue };
        let call = call.trim_end().trim_end_matches(')');
        let Some((call, arguments)) = call.split_once('(') else { continue };
        let call = call.rsplit(' ').next().expect("a name");
        if result.starts_with('-') {
            continue;
        }
        let arguments: Vec<&str> = arguments.split(", ").collect();
        let named = |index: usize| names.get(arguments[index]).cloned();
        match call {
            "openat" => {
                let fd = result.split(' ').next().expect("a number").to_owned();
                names.remove(&fd);
                if let Some(name) = here(arguments[1]) {
                    if arguments[2].contains("O_CREAT") && !made.contains(&name) {
                        made.push(name.clone());
                        calls.push(Call::Create(name.clone()));
                    }
                    names.insert(fd, name);
                }
            }
            "close" => drop(names.remove(arguments[0])),
            "write" if named(0).as_deref() == Some(ACKNOWLEDGED) => calls.push(Call::Acknowledge),
            "pwrite64" => {
                if let Some(file) = named(0) {
                    let at = arguments[3].parse().expect("an offset");
                    calls.push(Call::Write { file, at, bytes: bytes_of(arguments[1]) });
                }
            }
            "ftruncate" => {
                if let Some(file) = named(0) {
                    calls.push(Call::Truncate { file, length: arguments[1].parse().expect("a length") });
                }
            }
            "fsync" | "fdatasync" => match named(0).as_deref() {
                Some("") => calls.push(Call::SyncNames),
                Some(file) => calls.push(Call::Sync(file.to_owned())),
                None => {}
            },
            "unlink" => {
                if let Some(name) = here(arguments[0]) {
                    made.retain(|other| *other != name);
                    calls.push(Call::Remove(name));
                }
            }
            _ => {}
        }
    }
    calls
}

/// The state of a disk: synced and unsynced data.
#[derive(Default)]
struct Disk {
    files: BTreeMap<String, Vec<u8>>,
    /// Unsynced writes and truncations, oldest first.
    unsynced: Vec<(String, Unsynced)>,
    /// Names created or removed since the last sync of the directory. A removed file keeps its bytes until then.
    names: Vec<(String, bool)>,
}

#[derive(Clone)]
enum Unsynced {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

fn put(file: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    if file.len() < at + bytes.len() {
        file.resize(at + bytes.len(), 0);
    }
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

impl Disk {
    /// Applies a call. Returns whether it was an acknowledgement.
    fn take(&mut self, call: Call) -> bool {
        match call {
            Call::Create(name) => {
                self.files.entry(name.clone()).or_default();
                self.names.push((name, true));
            }
            Call::Remove(name) => {
                self.unsynced.retain(|(file, _)| *file != name);
                self.names.push((name, false));
            }
            Call::Write { file, at, bytes } => self.unsynced.push((file, Unsynced::Write(at, bytes))),
            Call::Truncate { file, length } => self.unsynced.push((file, Unsynced::Truncate(length))),
            Call::Sync(name) => {
                let (synced, rest) =
                    std::mem::take(&mut self.unsynced).into_iter().partition(|(file, _)| *file == name);
                self.unsynced = rest;
                let file = self.files.entry(name).or_default();
                for (_, change) in Vec::from_iter::<Vec<_>>(synced) {
                    match change {
                        Unsynced::Write(at, bytes) => put(file, at, &bytes),
                        Unsynced::Truncate(length) => file.resize(length, 0),
                    }
                }
            }
            Call::SyncNames => {
                for (name, made) in std::mem::take(&mut self.names) {
                    if !made {
                        self.files.remove(&name);
                    }
                }
            }
            Call::Acknowledge => return true,
        }
        false
    }

    /// A possible content of the disk after a power cut now.
    fn cut(&self, rng: &mut Rng) -> BTreeMap<String, Vec<u8>> {
        let mut found = self.files.clone();
        // Some cuts keep none of the unsynced data, some keep nearly all.
        let kept = rng.below(5);
        let is_kept = |rng: &mut Rng| rng.below(4) < kept;
        for (name, change) in &self.unsynced {
            let file = found.entry(name.clone()).or_default();
            match change {
                Unsynced::Write(at, bytes) => {
                    if is_kept(rng) && file.len() < at + bytes.len() {
                        file.resize(at + bytes.len(), 0);
                    }
                    for (number, sector) in bytes.chunks(SECTOR).enumerate() {
                        if is_kept(rng) {
                            put(file, at + number * SECTOR, sector);
                        }
                    }
                }
                Unsynced::Truncate(length) if is_kept(rng) => file.resize(*length, 0),
                Unsynced::Truncate(_) => {}
            }
        }
        for (name, made) in &self.names {
            if is_kept(rng) != *made {
                found.remove(name);
            }
        }
        found.remove(ACKNOWLEDGED);
        found
    }
}

/// Runs the writer under `strace`.
fn write(directory: &Path) {
    use std::io::Write as _;
    let mut store = Store::open(directory).expect("opens");
    let mut acknowledged = fs::File::create(directory.join(ACKNOWLEDGED)).expect("made");
    for number in 0..CHANGES {
        change(&mut store, number);
        acknowledged.write_all(b".").expect("written");
    }
    // A cut comes before the end of the process.
    std::process::exit(0);
}

#[test]
fn a_power_cut_loses_nothing_acknowledged_and_leaves_nothing_by_halves() {
    if let Some(directory) = std::env::var_os(WRITER) {
        return write(Path::new(&directory));
    }
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path().canonicalize().expect("a path");
    let (data, log) = (directory.join("data"), directory.join("trace"));
    fs::create_dir(&data).expect("made");
    let traced = "trace=openat,close,write,pwrite64,ftruncate,fsync,fdatasync,unlink";
    let run = Command::new("strace")
        .args(["-qq", "-f", "-xx", "-s", "1048576", "-e", traced, "-o"])
        .arg(&log)
        .arg(std::env::current_exe().expect("a test is a program"))
        .args(["--exact", NAME, "--test-threads=1"])
        .env(WRITER, &data)
        .output()
        .expect("strace is installed: see scripts/need");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));

    // The contents of the store after each change.
    let mut dumps = Vec::new();
    let (_aside, mut store) = {
        let aside = tempfile::tempdir().expect("a directory");
        let store = Store::open(aside.path()).expect("opens");
        (aside, store)
    };
    dumps.push(dump(&store));
    for number in 0..CHANGES {
        change(&mut store, number);
        dumps.push(dump(&store));
    }

    let calls = calls(&fs::read_to_string(&log).expect("a trace"), &data);
    let writes = calls.iter().filter(|call| matches!(call, Call::Write { .. })).count();
    let carried_over = calls
        .iter()
        .any(|call| matches!(call, Call::Write { file, at, .. } if file == "qiyou.db" && *at > 100_000));
    assert!(
        writes > 2 * CHANGES && carried_over,
        "the log was carried over into the database: {writes} writes"
    );
    let seed = seed::begin("power cut", 16);
    let mut rng = Rng::new(seed);
    let total = calls.len();
    let (mut disk, mut acknowledged, mut cuts, mut under_way) = (Disk::default(), 0, 0, 0);
    let image = directory.join("image");
    for (number, call) in calls.into_iter().enumerate() {
        acknowledged += usize::from(disk.take(call));
        // Distributes a thousand cuts evenly over the calls.
        while cuts * total < (number + 1) * CUTS {
            cuts += 1;
            let _ = fs::remove_dir_all(&image);
            fs::create_dir(&image).expect("made");
            for (name, bytes) in disk.cut(&mut rng) {
                fs::write(image.join(name), bytes).expect("written");
            }
            let context =
                format!("QIYOU_SEED={seed}, cut {cuts} at call {number}, {acknowledged} acknowledged");
            let store = Store::open(&image).unwrap_or_else(|error| panic!("{error}: {context}"));
            assert!(store.set_aside.is_none(), "it was taken for damaged: {context}");
            let found = dump(&store);
            let next = dumps.get(acknowledged + 1);
            under_way += usize::from(next == Some(&found));
            assert!(found == dumps[acknowledged] || next == Some(&found), "{context}");
        }
    }
    assert_eq!((cuts, acknowledged), (CUTS, CHANGES));
    println!("{cuts} cuts over {total} calls; in {under_way} the change under way was there");
}
