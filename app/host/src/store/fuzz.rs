//! Fuzz test with databases whose bytes and rows are modified: no panic, no loss of data, and intact rows are read. The
//! seeds in `seeds/` are SQL scripts, from which a database of each schema can be made. Runs for `FUZZ_SECONDS`, or a fixed
//! number of modifications.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use engine::Rng;
use session::MatchId;

use super::*;
use crate::room::PlayerId;
use crate::seed;

/// Without `FUZZ_SECONDS`: takes about a second.
const CHANGES: u32 = 60;

/// Each is a file written by an earlier version.
pub(crate) const SEEDS: [(&str, &str); 2] =
    [("two-friends", include_str!("seeds/two-friends.sql")), ("empty", include_str!("seeds/empty.sql"))];

/// A deterministic random number below `end`, which must be at least 1.
pub(crate) fn below(random: &mut Rng, end: usize) -> usize {
    random.below(u32::try_from(end.max(1)).unwrap_or(u32::MAX)) as usize
}

/// The database that a seed makes, in the present schema.
pub(crate) fn seed_file(script: &str) -> Vec<u8> {
    let directory = tempfile::tempdir().expect("a directory");
    let store = Store::open(directory.path()).expect("opens");
    store.connection.execute_batch(script).expect("a seed is a script of the present schema");
    store.connection.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(())).expect("one file");
    drop(store);
    fs::read(directory.path().join(DATABASE)).expect("read")
}

pub(crate) fn for_a_while(target: &str, mut change: impl FnMut(&mut Rng)) {
    let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut random = Rng::new(seed::begin(target, 1));
    let mut done = 0;
    while end.map_or(done < CHANGES, |end| Instant::now() < end) {
        change(&mut random);
        done += 1;
    }
    println!("{target}: {done} changes");
}

fn read_all(store: &Store) -> usize {
    let _ = store.friends().map(|friends| friends.len());
    let _ = store.blocked().map(|blocked| blocked.len());
    let _ = store.advert_key();
    let _ = store.matches_with(PlayerId([7; 32])).map(|matches| matches.len());
    store.open_matches().map_or(0, |matches| matches.len())
}

#[test]
fn no_bytes_in_the_file_break_the_host_and_none_are_lost() {
    let seeds = SEEDS.map(|(_, script)| seed_file(script));
    let mut set_aside = 0;
    for_a_while("journal file", |random| {
        let mut bytes = seeds[below(random, seeds.len())].clone();
        modify(&mut bytes, random);
        set_aside += u32::from(check_bytes(&bytes));
    });
    assert!(set_aside > 0, "nothing was damaged");
}

/// Changes, cuts or takes out some bytes; leaves one at least.
pub(crate) fn modify(bytes: &mut Vec<u8>, random: &mut Rng) {
    for _ in 0..=below(random, 6) {
        let at = below(random, bytes.len());
        let length = below(random, 64).min(bytes.len() - at);
        match below(random, 5) {
            0 => bytes.truncate(at),
            1 => bytes[at..at + length].fill(0),
            2 => bytes[at..at + length].fill(0xFF),
            3 => drop(bytes.drain(at..at + length)),
            _ if at < bytes.len() => bytes[at] ^= 1 << below(random, 8),
            _ => {}
        }
        if bytes.is_empty() {
            bytes.push(0);
        }
    }
}

/// Returns whether the file was set aside.
fn check_bytes(bytes: &[u8]) -> bool {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join(DATABASE), bytes).expect("written");
    match Store::open(directory.path()) {
        Ok(store) => {
            read_all(&store);
            if let Some(aside) = &store.set_aside {
                assert_eq!(fs::read(aside).expect("it is there"), bytes, "set aside as it was");
            }
            store.set_aside.is_some()
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert!(holds(directory.path(), bytes), "{error}: and the file has changed");
            false
        }
    }
}

fn holds(directory: &Path, bytes: &[u8]) -> bool {
    let files = fs::read_dir(directory).expect("read").map(|entry| entry.expect("read").path());
    files.into_iter().any(|path| fs::read(path).is_ok_and(|found| found == bytes))
}

#[test]
fn a_row_that_is_none_is_left_out_and_the_others_are_read() {
    const COLUMNS: [&str; 9] =
        ["setup", "first_seat", "second_seat", "revision", "ending", "winner", "offered", "pace", "spent_ms"];
    const VALUES: [&str; 7] =
        ["randomblob(9)", "zeroblob(0)", "'nobody'", "''", "-1", "9223372036854775807", "12"];
    let file = seed_file(SEEDS[0].1);
    let mut left_out = 0;
    for_a_while("journal rows", |random| {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join(DATABASE), &file).expect("written");
        let store = Store::open(directory.path()).expect("whole");
        let whole = read_all(&store);
        assert!(whole >= 2);
        let value = VALUES[below(random, VALUES.len())];
        let change = match below(random, 3) {
            0 => format!(
                "UPDATE actions SET action = {value} WHERE match_id = x'{}' AND ply = 2",
                "01".repeat(16)
            ),
            1 => format!("DELETE FROM actions WHERE match_id = x'{}' AND ply = 1", "01".repeat(16)),
            _ => {
                let column = COLUMNS[below(random, COLUMNS.len())];
                format!("UPDATE matches SET {column} = {value} WHERE match_id = x'{}'", "01".repeat(16))
            }
        };
        // STRICT tables reject some changes.
        let _ = store.connection.execute_batch(&change);
        drop(store);
        let store = Store::open(directory.path()).expect("whole as a file");
        assert!(store.set_aside.is_none());
        let left = read_all(&store);
        assert!(left == whole || left == whole - 1, "{change}: {left} of {whole}");
        if left < whole {
            left_out += 1;
            assert!(store.load(MatchId([1; 16])).is_err(), "{change}: told, and not taken for unknown");
        }
        assert!(store.load(MatchId([2; 16])).expect("whole").is_some());
    });
    assert!(left_out > 0, "no row was damaged");
}
