mod from_starts;
mod pages;

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::{Action, GameKind, Level, Outcome, Point, Reason, Side};
use proto::control::{Help, Outcome as Went};
use rusqlite::{Connection, params};
use session::{Consent, Entry, MatchId, MatchRecord, MatchResult, OfferKind, Pace};

use super::list::Merge;
use super::matches::{action_bytes, letter_written, seat_text, setup_bytes};
use super::schema::MIGRATIONS;
use super::*;
use crate::room::{PlayerId, Seat};

fn store() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().expect("a directory");
    let store = Store::open(directory.path()).expect("opens");
    (directory, store)
}

fn record(number: u8) -> MatchRecord {
    MatchRecord::new(MatchId([number; 16]), GameKind::Gomoku.default_setup(), Side::First)
}

fn place(column: u16) -> Action {
    Action::Place(Point::new(column, 3))
}

const SEATS: [Seat; 2] = [Seat::Here, Seat::Peer(PlayerId([7; 32]))];

#[test]
fn with_a_match_goes_what_its_last_letter_said_and_no_other() {
    let (_directory, mut store) = store();
    for number in 1..=2 {
        store.begin(&record(number), SEATS, 5).expect("saved");
        store.set_setting(&letter_written(MatchId([number; 16])), "five moves").expect("kept");
    }
    store.delete(MatchId([1; 16])).expect("deleted");
    let left = store.settings_of("letter_written/").expect("read");
    assert_eq!(left, [(MatchId([2; 16]).to_string(), "five moves".to_owned())]);
}

#[test]
fn what_was_saved_is_read_again_after_a_restart() {
    let (directory, mut store) = store();
    let id = MatchId([1; 16]);
    let friend = SavedFriend {
        key: PlayerId([7; 32]),
        name: "小明".into(),
        advert_key: [9; 32],
        met_unix_ms: 5,
        muted: false,
        note: String::new(),
    };
    store.put_friend(&friend).expect("saved");
    store.set_setting("name", "Anna").expect("saved");
    store.begin(&record(1), SEATS, 10).expect("saved");
    for ply in 1..=9 {
        store.append(id, ply, (place(ply as u16), ply * 100), None, 10 + i64::from(ply)).expect("saved");
    }
    store.take_back(id, 7, 1, 30).expect("saved");
    let offered = Consent { kind: OfferKind::TakeBack, revision: 1, ply: 7, to_ply: 6 };
    store.set_offered(id, Some(offered), 31).expect("saved");
    let won = MatchResult::Played(Outcome { winner: Some(Side::Second), reason: Reason::FiveInARow });
    store.append(id, 8, (place(12), 900), Some(won), 40).expect("saved");
    drop(store);

    let store = Store::open(directory.path()).expect("opens again");
    assert_eq!(store.friends().expect("read"), [friend]);
    assert_eq!(store.setting("name").expect("read").as_deref(), Some("Anna"));
    let saved = store.load(id).expect("read").expect("there");
    let mut expected = record(1);
    expected.actions = (1..=7).map(place).chain([place(12)]).collect();
    (expected.revision, expected.result, expected.offered) = (1, Some(won), Some(offered));
    assert_eq!(saved.record, expected);
    assert_eq!((saved.seats, saved.open, saved.settled, saved.changed_unix_ms), (SEATS, true, false, 40));
}

#[test]
fn whether_a_match_is_there_is_answered_without_reading_the_match() {
    let (_directory, mut store) = store();
    for number in 1..=2 {
        store.begin(&record(number), SEATS, 1).expect("saved");
    }
    store.append(MatchId([1; 16]), 1, (place(1), 0), None, 2).expect("saved");
    store.connection.execute("UPDATE actions SET action = x'FF'", []).expect("damaged");
    assert!(store.load(MatchId([1; 16])).is_err(), "its only action is none");
    let there = [1, 2, 3].map(|number| store.has_match(MatchId([number; 16])).expect("read"));
    assert_eq!(there, [true, true, false]);
}

#[test]
fn clocks_pauses_and_drawn_numbers_read_back() {
    let (_directory, mut store) = store();
    let pace = Pace::ByoYomi { main: Duration::from_mins(1), period: Duration::from_secs(30), periods: 3 };
    let mut expected = record(1).with_pace(Some(pace));
    expected.reveal = Some([8; 32]);
    store.begin(&expected, SEATS, 1).expect("saved");
    store.append(expected.id, 1, (place(1), 4_200), None, 2).expect("saved");
    store.set_spent(expected.id, 700).expect("saved");
    store.set_paused(expected.id, 1, true, 3).expect("saved");
    (expected.actions, expected.times) = (vec![place(1)], vec![4_200]);
    (expected.spent_ms, expected.revision, expected.paused) = (700, 1, true);
    assert_eq!(store.load(expected.id).expect("read").expect("there").record, expected);
    store.append(expected.id, 2, (place(2), 1), None, 4).expect("saved");
    assert_eq!(store.load(expected.id).expect("read").expect("there").record.spent_ms, 0);
    for kind in [OfferKind::NewGameSame, OfferKind::Pause, OfferKind::Continue, OfferKind::Adjourn] {
        let offered = Some(Consent { kind, revision: 1, ply: 2, to_ply: 2 });
        store.set_offered(expected.id, offered, 5).expect("saved");
        assert_eq!(store.load(expected.id).expect("read").expect("there").record.offered, offered);
    }
}

#[test]
fn what_was_pressed_in_a_race_reads_back_before_and_within_the_record() {
    let (_directory, mut store) = store();
    let mut expected = MatchRecord { setup: GameKind::LightsOut.default_setup(), ..record(1) };
    store.begin(&expected, SEATS, 1).expect("saved");
    let press = |column| Action::Press(Point::new(column, 3));
    let read = |store: &Store| store.load(MatchId([1; 16])).expect("read").expect("there").record;
    store.add_to_run(expected.id, &[press(1)], 700, 2).expect("saved");
    store.add_to_run(expected.id, &[press(14), Action::Done(12)], 1_250, 3).expect("saved");
    (expected.run, expected.spent_ms) = (vec![press(1), press(14), Action::Done(12)], 1_250);
    assert_eq!(read(&store), expected);
    let theirs = [press(2), Action::Done(9)];
    assert!(store.enter_run(expected.id, 3, (&theirs, false), None, 4).is_err(), "it is two actions long");
    store.enter_run(expected.id, 2, (&theirs, false), None, 4).expect("saved");
    expected.actions = theirs.to_vec();
    assert_eq!(read(&store), expected);
    let won = MatchResult::Played(Outcome { winner: Some(Side::First), reason: Reason::Faster });
    let mine = std::mem::take(&mut expected.run);
    store.enter_run(expected.id, 5, (&mine, true), Some(won), 5).expect("saved");
    expected.actions.extend(mine);
    (expected.spent_ms, expected.result) = (0, Some(won));
    assert_eq!(read(&store), expected);
    (expected.run, expected.spent_ms) = (vec![press(3)], 5);
    store.replace(&expected, 6).expect("saved");
    assert_eq!(read(&store), expected);
}

#[test]
fn a_migration_that_is_out_is_never_changed() {
    // FNV-1a digests of the migrations. Files exist that were made by them: a change of the schema needs a new migration.
    let digest = |text: &str| {
        let step = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        text.bytes().fold(0xCBF2_9CE4_8422_2325, step)
    };
    let digests: Vec<u64> = MIGRATIONS.iter().map(|one| digest(one)).collect();
    let known: &[u64] = &[
        0x451D_3E4E_524A_F6C3,
        0x1107_6CF5_1FAD_C8B6,
        0x6F49_84DA_3CBF_282F,
        0x29E6_FBD4_7647_6A78,
        0x805F_C6AC_4B7B_2268,
        0x20EE_B7F8_1985_0B32,
        0xA7E2_CFC6_C77E_272D,
        0x0116_9F90_AB7E_5D23,
        0x0E21_16CD_3047_098C,
        0x514E_E3CF_705F_4317,
        0x747D_5EA8_A1BD_9FFD,
        0xC1C0_4C96_0CB8_A880,
        0x210E_9662_FF6F_518D,
        0x6645_7AF5_1F4D_3B2B,
        0xC892_F743_2E5F_74E2,
        0x49E5_07B5_7FE9_DC59,
        0x2CF5_1EFB_E592_D4C2,
        0xDB9D_8250_A3A5_7CE1,
    ];
    assert_eq!(digests, known);
}

#[test]
fn a_file_from_before_matches_had_an_origin_opens_and_takes_files_in() {
    let directory = tempfile::tempdir().expect("a directory");
    {
        let old = Connection::open(directory.path().join(DATABASE)).expect("opens");
        for migration in &MIGRATIONS[..6] {
            old.execute_batch(migration).expect("as it was then");
        }
        old.pragma_update(None, "user_version", 6).expect("set");
        old.execute(
            "INSERT INTO matches (match_id, setup, first_seat, second_seat, began_unix_ms, changed_unix_ms)
             VALUES (?1, ?2, 'here', 'here', 1, 1)",
            params![[1u8; 16], setup_bytes(&record(1).setup)],
        )
        .expect("written");
    }
    let origin = proto::control::Origin {
        first: "许银川".into(),
        second: "吕钦".into(),
        score: "1-0".into(),
        ..Default::default()
    };
    let file = KeptFile { ending: "sgf".into(), actions: 1, content: b"(;B[aa]C[a])".to_vec() };
    let taken = MatchRecord { actions: vec![place(1)], ..record(2) };
    {
        let mut store = Store::open(directory.path()).expect("opens");
        let known = store.load(MatchId([1; 16])).expect("read").expect("there");
        assert_eq!((known.origin, known.open), (None, true));
        assert!(store.file_of(MatchId([1; 16])).expect("read").is_none());
        store.take_in(&taken, Seat::BOTH_HERE, (&origin, &file, &KeptNotes::default()), 2).expect("saved");
    }
    let mut store = Store::open(directory.path()).expect("opens");
    let saved = store.load(taken.id).expect("read").expect("there");
    assert_eq!((saved.record, saved.origin, saved.open), (taken.clone(), Some(origin), false));
    let kept = store.file_of(taken.id).expect("read").expect("there");
    assert_eq!((kept.ending.as_str(), kept.actions, kept.content), ("sgf", 1, file.content));
    let listed = |opponent: Opponent, outcome: Went| {
        let filter = MatchFilter { game: None, opponent, outcome };
        store.page(&filter, 0, 10).expect("read").0.into_iter().map(|id| id.0[0]).collect::<Vec<_>>()
    };
    let called = |part: &str| Opponent::Called { players: Vec::new(), part: part.into() };
    assert_eq!(listed(Opponent::Anyone, Went::Unfinished), [1], "what its file says is its end");
    assert_eq!(listed(Opponent::Here, Went::Any), [1], "who played is said by the file");
    assert_eq!(listed(called("吕钦"), Went::Any), [2]);
    assert_eq!(listed(called("1-0"), Went::Any), [2]);
    assert_eq!(listed(called("be"), Went::Any), [0_u8; 0]);
    assert_eq!(store.day_of(1_793_000_000_000).expect("a day"), "2026-10-26");
    store.delete(taken.id).expect("deleted");
    assert!(store.file_of(taken.id).expect("read").is_none(), "the file goes with its match");
}

#[test]
fn a_file_from_before_the_clocks_opens_and_goes_on() {
    let directory = tempfile::tempdir().expect("a directory");
    {
        let old = Connection::open(directory.path().join(DATABASE)).expect("opens");
        for migration in &MIGRATIONS[..2] {
            old.execute_batch(migration).expect("as it was then");
        }
        old.pragma_update(None, "user_version", 2).expect("set");
        let seat = seat_text(SEATS[1].clone());
        let setup = setup_bytes(&record(1).setup);
        old.execute(
            "INSERT INTO matches (match_id, setup, first_seat, second_seat, began_unix_ms, changed_unix_ms)
             VALUES (?1, ?2, 'here', ?3, 1, 1)",
            params![[1u8; 16], setup, seat],
        )
        .expect("written");
        old.execute(
            "INSERT INTO actions (match_id, ply, action) VALUES (?1, 1, ?2)",
            params![[1u8; 16], action_bytes(place(1))],
        )
        .expect("written");
    }
    let mut store = Store::open(directory.path()).expect("opens");
    let id = MatchId([1; 16]);
    let saved = store.load(id).expect("read").expect("there");
    let expected = MatchRecord { actions: vec![place(1)], ..record(1) };
    assert_eq!((saved.record, saved.seats), (expected, SEATS));
    store.append(id, 2, (place(2), 0), None, 2).expect("it goes on");
    let shown: String = store
        .connection
        .query_row("SELECT times FROM record", [], |row| row.get(0))
        .expect("the view is there");
    assert_eq!(shown, "0 0");
}

#[test]
fn the_side_of_the_last_match_of_a_game_is_known() {
    let (_directory, mut store) = store();
    let (peer, gomoku) = (PlayerId([7; 32]), GameKind::Gomoku);
    assert_eq!(store.last_side(peer, gomoku).expect("read"), None);
    store.begin(&record(1), SEATS, 1).expect("saved");
    store.begin(&record(2), [SEATS[1].clone(), SEATS[0].clone()], 2).expect("saved");
    assert_eq!(store.last_side(peer, gomoku).expect("read"), Some(Side::Second));
    assert_eq!(store.last_side(peer, GameKind::Go).expect("read"), None);
    assert_eq!(store.last_side(PlayerId([8; 32]), gomoku).expect("read"), None);
}

#[test]
fn results_of_every_kind_and_a_bots_seat_read_back() {
    let (_directory, mut store) = store();
    let results = [
        MatchResult::Played(Outcome { winner: None, reason: Reason::BoardFull }),
        MatchResult::Resigned(Side::First),
        MatchResult::Resigned(Side::Second),
        MatchResult::TimedOut(Side::First),
        MatchResult::TimedOut(Side::Second),
        MatchResult::DrawAgreed,
    ];
    for (number, result) in (1..).zip(results) {
        let seats = [Seat::Bot(Level::MAX), Seat::Here];
        store.begin(&record(number), seats.clone(), 1).expect("saved");
        store.end(MatchId([number; 16]), 3, result, 2).expect("saved");
        let saved = store.load(MatchId([number; 16])).expect("read").expect("there");
        assert_eq!((saved.record.result, saved.record.revision), (Some(result), 3));
        assert_eq!((saved.seats, saved.record.my_side), (seats, Side::Second));
    }
}

#[test]
fn hints_are_kept_with_the_match_and_do_not_unsettle_it() {
    let (_directory, mut store) = store();
    let agreed = record(1).with_hints(true);
    store.begin(&agreed, SEATS, 1).expect("saved");
    store.begin(&record(2), SEATS, 1).expect("saved");
    store.end(agreed.id, 0, MatchResult::Resigned(Side::First), 2).expect("saved");
    store.settle(agreed.id).expect("saved");
    store.write_entry(PlayerId([7; 32]), &Entry::Hinted { id: agreed.id, hints: [3, 1] }, 3).expect("saved");
    let saved = store.load(agreed.id).expect("read").expect("there");
    assert_eq!((saved.record.hints, saved.settled, saved.changed_unix_ms), (Some([3, 1]), true, 2));
    assert_eq!(store.load(MatchId([2; 16])).expect("read").expect("there").record.hints, None);
}

#[test]
fn a_match_is_settled_until_it_changes_again() {
    let (_directory, mut store) = store();
    let (id, peer) = (MatchId([1; 16]), PlayerId([7; 32]));
    store.begin(&record(1), SEATS, 1).expect("saved");
    store.begin(&record(2), SEATS, 2).expect("saved");
    store.settle(id).expect("saved");
    store.settle(MatchId([2; 16])).expect("saved");
    let with_peer = store.matches_with(peer).expect("read");
    assert_eq!(with_peer.len(), 1, "the last settled one only");
    store.set_offered(id, None, 3).expect("saved");
    let with_peer = store.matches_with(peer).expect("read");
    assert_eq!(with_peer.iter().map(|saved| saved.settled).collect::<Vec<_>>(), [true, false]);
    assert!(store.matches_with(PlayerId([8; 32])).expect("read").is_empty());
}

#[test]
fn what_a_peer_tells_of_the_past_changes_nothing_that_is_known() {
    let (_directory, mut store) = store();
    let mut told = record(1);
    told.result = Some(MatchResult::Resigned(Side::Second));
    store.learn(&told, SEATS, 1).expect("saved");
    let saved = store.load(told.id).expect("read").expect("there");
    assert_eq!((&saved.record, saved.settled, saved.open), (&told, true, false));
    told.result = Some(MatchResult::DrawAgreed);
    store.learn(&told, SEATS, 2).expect("nothing to do");
    assert_eq!(store.load(told.id).expect("read").expect("there"), saved);
}

#[test]
fn an_action_out_of_step_is_refused() {
    let (_directory, mut store) = store();
    store.begin(&record(1), SEATS, 1).expect("saved");
    let id = MatchId([1; 16]);
    store.append(id, 1, (place(1), 0), None, 2).expect("saved");
    for ply in [0, 1, 3] {
        assert!(store.append(id, ply, (place(2), 0), None, 3).is_err());
    }
    assert_eq!(store.load(id).expect("read").expect("there").record.actions, [place(1)]);
}

#[test]
fn a_full_disk_is_told_and_loses_nothing() {
    let (directory, mut store) = store();
    store.begin(&record(1), SEATS, 1).expect("saved");
    store.limit_pages(1);
    let mut saved = 0;
    let error = loop {
        match store.append(MatchId([1; 16]), saved + 1, (place(1), 0), None, 2) {
            Ok(()) => saved += 1,
            Err(error) => break error,
        }
        assert!(saved < 100_000, "the limit is never reached");
    };
    assert!(matches!(error, StoreError::DiskFull), "{error}");
    assert!(matches!(store.set_setting("big", &"x".repeat(100_000)), Err(StoreError::DiskFull)));
    drop(store);
    let store = Store::open(directory.path()).expect("opens again");
    let actions = store.load(MatchId([1; 16])).expect("read").expect("there").record.actions;
    assert_eq!(actions.len() as u32, saved);
}

#[test]
fn a_write_is_on_the_disk_before_anybody_is_told() {
    let (_directory, store) = store();
    let ask = |pragma: &str| {
        let read = |row: &rusqlite::Row<'_>| row.get::<_, rusqlite::types::Value>(0);
        store.connection.query_row(&format!("PRAGMA {pragma}"), [], read).expect("asked")
    };
    // 2 is FULL: with less, a power cut may lose the last writes, though the peer was told that they are stored.
    assert_eq!(ask("synchronous"), rusqlite::types::Value::Integer(2));
    assert_eq!(ask("journal_mode"), rusqlite::types::Value::Text("wal".into()));
}

#[test]
fn a_connection_that_only_reads_trusts_no_files_schema_either() {
    use rusqlite::config::DbConfig;
    let (directory, _store) = store();
    let reading = connect_to_read(&directory.path().join(DATABASE)).expect("opens");
    let trusted: bool = reading.pragma_query_value(None, "trusted_schema", |row| row.get(0)).expect("asked");
    assert!(!trusted);
    assert!(reading.db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE).expect("asked"));
    assert!(reading.execute("DELETE FROM settings", []).is_err(), "it only reads");
}

#[test]
fn two_hosts_do_not_share_a_directory() {
    let (directory, store) = store();
    assert!(matches!(Store::open(directory.path()), Err(StoreError::InUse(_))));
    drop(store);
    Store::open(directory.path()).expect("it is free again");
}

#[test]
fn what_lies_in_place_of_the_file_is_neither_followed_nor_waited_for() {
    let directory = tempfile::tempdir().expect("a directory");
    let elsewhere = tempfile::NamedTempFile::new().expect("a file");
    fs::set_permissions(elsewhere.path(), fs::Permissions::from_mode(0o644)).expect("its mode is set");
    let mode = || fs::metadata(elsewhere.path()).expect("it is there").permissions().mode() & 0o777;
    for name in [LOCK, DATABASE, "qiyou.db-wal"] {
        let path = directory.path().join(name);
        std::os::unix::fs::symlink(elsewhere.path(), &path).expect("a link");
        let error = Store::open(directory.path()).err().expect("it is no file of its own");
        assert!(error.to_string().contains("is a link or no ordinary file"), "{name}: {error}");
        assert_eq!(mode(), 0o644, "{name}: the other file is left alone");
        fs::remove_file(&path).expect("it was there");
        let pipe = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo runs");
        assert!(pipe.success());
        assert!(Store::open(directory.path()).is_err(), "{name}: a pipe");
        fs::remove_file(&path).expect("it was there");
    }
    Store::open(directory.path()).expect("it opens without them");
}

#[test]
fn a_folder_in_which_others_may_write_is_taken_from_them() {
    let directory = tempfile::tempdir().expect("a directory");
    for (before, after) in [(0o777, 0o700), (0o775, 0o700), (0o755, 0o755), (0o750, 0o750)] {
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(before)).expect("its mode is set");
        drop(Store::open(directory.path()).expect("it opens"));
        let mode = fs::metadata(directory.path()).expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode, after, "{before:o}");
    }
}

#[test]
fn nobody_else_can_read_what_is_kept_whatever_mode_an_older_program_left() {
    let directory = tempfile::tempdir().expect("a directory");
    let names = [DATABASE.to_owned(), format!("{DATABASE}-wal"), format!("{DATABASE}-shm"), LOCK.to_owned()];
    let open = |name: &String| {
        let mode = fs::metadata(directory.path().join(name)).expect("it is there").permissions().mode();
        mode & 0o777
    };
    let mut store = Store::open(directory.path()).expect("opens");
    store.begin(&record(1), SEATS, 1).expect("saved");
    assert_eq!(names.each_ref().map(open), [0o600; 4]);
    drop(store);
    for name in &names {
        let path = directory.path().join(name);
        if path.exists() {
            fs::set_permissions(path, fs::Permissions::from_mode(0o644)).expect("its mode is set");
        }
    }
    let mut store = Store::open(directory.path()).expect("opens");
    store.begin(&record(2), SEATS, 1).expect("saved");
    assert_eq!(names.each_ref().map(open), [0o600; 4]);
}

#[test]
fn a_schema_from_elsewhere_is_not_trusted_and_cannot_be_rewritten() {
    let (_directory, store) = store();
    let trusted: bool =
        store.connection.pragma_query_value(None, "trusted_schema", |row| row.get(0)).expect("a setting");
    assert!(!trusted);
    let rewrite = store.connection.execute_batch("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema");
    assert!(rewrite.is_err());
}

/// Names and contents of the files in this folder. Of SQLite's index of the log (`-shm`) the name: each first opening builds it
/// anew. Without the lock, which whoever looks at the folder creates.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file"));
    let named = entries.map(|entry| (entry.file_name().into_string().expect("a plain name"), entry.path()));
    named
        .filter(|(name, _)| name != LOCK)
        .map(|(name, path)| {
            let content = if name.ends_with("-shm") { Vec::new() } else { fs::read(path).expect("read") };
            (name, content)
        })
        .collect()
}

#[test]
fn a_folder_of_a_newer_program_is_left_as_it_is() {
    let (directory, mut store) = store();
    store.begin(&record(1), SEATS, 1).expect("saved");
    store.connection.pragma_update(None, "user_version", 99).expect("set");
    fs::write(directory.path().join("of the future"), "unknown here").expect("written");
    // Another one, as the power went: version and match are in the log.
    let cut = tempfile::tempdir().expect("a directory");
    for name in files(directory.path()).keys() {
        fs::copy(directory.path().join(name), cut.path().join(name)).expect("copied");
    }
    drop(store);
    for (folder, has_log) in [(directory.path(), false), (cut.path(), true)] {
        let before = files(folder);
        let log = before.get(&format!("{DATABASE}-wal"));
        assert_eq!(log.is_some_and(|log| !log.is_empty()), has_log);
        for _ in 0..2 {
            let result = Store::open(folder);
            assert!(matches!(result, Err(StoreError::Newer { found: 99, .. })), "{:?}", result.err());
            let after = files(folder);
            assert!(before.keys().eq(after.keys()), "{:?}", after.keys());
            for (name, content) in &before {
                assert!(after[name] == *content, "{name} was changed");
            }
        }
        // Whoever knows that version finds all of it.
        let newer = Connection::open(folder.join(DATABASE)).expect("opens");
        let count = newer.query_row("SELECT count(*) FROM matches", [], |row| row.get::<_, u32>(0));
        assert_eq!(count.expect("read"), 1);
    }
}

#[test]
fn a_damaged_file_is_set_aside_as_it_is_and_what_can_be_read_is_kept() {
    let (directory, mut store) = store();
    for number in 0..100 {
        store.begin(&record(number), SEATS, 1).expect("saved");
    }
    store.set_setting("name", "Anna").expect("saved");
    drop(store);
    let path = directory.path().join(DATABASE);
    let whole = fs::read(&path).expect("read");
    let mut torn = whole.clone();
    // The last page with matches; the pages after it are indexes, which can be rebuilt.
    let setup = setup_bytes(&record(1).setup);
    let holds_matches = |page: &&mut [u8]| page.windows(setup.len()).any(|bytes| bytes == setup);
    torn.chunks_mut(4096).rfind(holds_matches).expect("a page of matches").fill(0x5A);
    let cases = [(b"not a database, but long enough to be looked at".to_vec(), 0), (torn, 1)];
    for (number, (bytes, least)) in (1..).zip(cases) {
        fs::write(&path, &bytes).expect("written");
        let store = Store::open(directory.path()).expect("goes on with a new one");
        let aside = store.set_aside.clone().expect("set aside");
        assert_eq!(aside, directory.path().join(format!("{DATABASE}.damaged-{number}")));
        assert_eq!(fs::read(&aside).expect("read"), bytes);
        let saved = store.open_matches().expect("read").len();
        assert!(saved >= least && saved < 100, "{saved} of 100");
        drop(store);
        assert!(Store::open(directory.path()).expect("whole").set_aside.is_none());
    }
    fs::write(&path, whole).expect("written");
    Store::open(directory.path()).expect("whole again");
}

#[test]
fn of_a_damaged_file_what_is_only_in_its_log_is_kept_too() {
    let (directory, mut store) = store();
    for number in 1..=200 {
        store.begin(&record(number), SEATS, 1).expect("saved");
    }
    // Closing merges the log.
    drop(store);
    let path = directory.path().join(DATABASE);
    let log_path = directory.path().join(format!("{DATABASE}-wal"));
    let mut torn = fs::read(&path).expect("read");
    // The last page with matches: not that of the match with the lowest number.
    let setup = setup_bytes(&record(1).setup);
    let holds_matches = |page: &&mut [u8]| page.windows(setup.len()).any(|bytes| bytes == setup);
    torn.chunks_mut(4096).rfind(holds_matches).expect("a page of matches").fill(0x5A);
    let mut store = Store::open(directory.path()).expect("whole");
    store.begin(&record(0), SEATS, 2).expect("saved");
    // The power fails here.
    let log = fs::read(&log_path).expect("a log");
    drop(store);
    for (log, is_kept) in [(log, true), (b"no log".to_vec(), false)] {
        fs::write(&path, &torn).expect("written");
        fs::write(&log_path, &log).expect("written");
        let store = Store::open(directory.path()).expect("goes on with a new one");
        let aside = store.set_aside.clone().expect("set aside");
        assert!(fs::read(&aside).expect("read") == torn, "the file as it was");
        let aside_log = format!("{}-wal", aside.display());
        assert!(fs::read(aside_log).expect("read") == log, "the log as it was");
        assert_eq!(store.load(MatchId([0; 16])).expect("read").is_some(), is_kept);
        let saved = store.open_matches().expect("read").len();
        assert!(saved > 1 && saved < 200, "{saved} of 201");
        let names = fs::read_dir(directory.path()).expect("read").map(|one| one.expect("read").file_name());
        let left: Vec<_> = names.filter(|name| name.to_string_lossy().contains(".work")).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn a_file_with_the_number_of_another_version_is_set_aside_as_it_is_and_all_of_it_is_kept() {
    for version in [-1, 0, 1, 8, i64::from(i32::MIN), MIGRATIONS.len() as i64 - 1] {
        let (directory, mut store) = store();
        store.begin(&record(1), SEATS, 1).expect("saved");
        store.write_entry(PlayerId([7; 32]), &Entry::Promised(MatchId([2; 16])), 1).expect("saved");
        store.set_setting("name", "Anna").expect("saved");
        store.connection.pragma_update(None, "user_version", version).expect("set");
        // As a copy made by another program: the file then tells that it has no log.
        store
            .connection
            .pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))
            .expect("one file");
        drop(store);
        let before = fs::read(directory.path().join(DATABASE)).expect("read");
        let store = Store::open(directory.path()).expect("goes on with a new one");
        let aside = store.set_aside.clone().expect("set aside");
        assert!(fs::read(&aside).expect("read") == before, "version {version}: as it was");
        assert_eq!(store.setting("name").expect("read").as_deref(), Some("Anna"), "version {version}");
        assert_eq!(store.open_matches().expect("read").len(), 1, "version {version}");
        assert_eq!(store.promised(PlayerId([7; 32])).expect("read"), [MatchId([2; 16])], "version {version}");
    }
}

#[test]
fn of_what_was_promised_with_each_peer_the_last_is_kept_and_what_is_learnt_is_promised_no_more() {
    let (_directory, mut store) = store();
    let (ben, carl) = (PlayerId([7; 32]), PlayerId([8; 32]));
    let promised = |store: &Store, peer| {
        store.promised(peer).expect("read").into_iter().map(|id| id.0[0]).collect::<Vec<_>>()
    };
    for number in 1..=20 {
        let peer = if number == 2 { carl } else { ben };
        store.write_entry(peer, &Entry::Promised(MatchId([number; 16])), 1).expect("saved");
    }
    assert_eq!(promised(&store, ben), (13..=20).collect::<Vec<u8>>());
    assert_eq!(promised(&store, carl), [2]);
    let mut lost = record(15);
    lost.result = Some(MatchResult::Resigned(Side::Second));
    store.write_entry(ben, &Entry::Learned(lost), 2).expect("saved");
    assert_eq!(promised(&store, ben), [13, 14, 16, 17, 18, 19, 20]);
    store.forget(ben, &[1; 32]).expect("saved");
    assert_eq!((promised(&store, ben), promised(&store, carl)), (vec![], vec![2]));
}

/// One match of each kind: number, game, seats, and result.
fn all_kinds(store: &mut Store) {
    const HERE: Seat = Seat::Here;
    const BEN: Seat = Seat::Peer(PlayerId([7; 32]));
    let bot = Seat::Bot(Level::new(3).expect("a level"));
    let won = |side| Some(MatchResult::Resigned(side));
    let kinds = [
        (1, GameKind::Gomoku, [HERE, BEN], None),
        (2, GameKind::Gomoku, [BEN, HERE], won(Side::First)),
        (3, GameKind::Go, [HERE, BEN], won(Side::First)),
        (4, GameKind::Xiangqi, [HERE, bot], won(Side::Second)),
        (5, GameKind::Liuzhou, [HERE, HERE], won(Side::Second)),
        (6, GameKind::Liuzhou, [HERE, BEN], Some(MatchResult::DrawAgreed)),
        (7, GameKind::LightsOut, [HERE, HERE], won(Side::Second)),
    ];
    for (number, game, seats, result) in kinds {
        let my_side = if seats[1] == HERE && seats[0] != HERE { Side::Second } else { Side::First };
        let mut record = MatchRecord::new(MatchId([number; 16]), game.default_setup(), my_side);
        record.result = result;
        store.begin(&record, seats, i64::from(number)).expect("saved");
    }
}

#[test]
fn the_saves_are_copied_on_another_thread_while_they_are_written() {
    let (directory, mut store) = store();
    store.set_setting("name", "Anna").expect("saved");
    let copier = store.copier();
    store.connection.execute_batch("BEGIN IMMEDIATE; UPDATE settings SET value = 'Ben'").expect("writing");
    let copy = std::thread::spawn(move || copier.whole(&JobContext::default(), 0..1))
        .join()
        .expect("no panic")
        .expect("copied");
    store.connection.execute_batch("COMMIT").expect("written");
    let path = directory.path().join("copied");
    std::fs::write(&path, copy).expect("written");
    let name: String = Connection::open(&path)
        .and_then(|copy| {
            copy.query_row("SELECT value FROM settings WHERE key = 'name'", [], |row| row.get(0))
        })
        .expect("a whole database");
    assert_eq!(name, "Anna", "what was committed when the copy began");
    assert_eq!(store.setting("name").expect("read").as_deref(), Some("Ben"));
    assert!(!directory.path().join("qiyou.copy").exists());
}

#[test]
fn a_setting_that_is_no_text_counts_as_missing() {
    for value in ["12", "x'00ff'", "CAST(x'ff' AS TEXT)"] {
        let (_directory, mut store) = store();
        store.set_setting("name", "Anna").expect("saved");
        let change = format!(
            "INSERT INTO settings VALUES ('game 1', 'kept'), ('game 2', {value}), ('advert_key', {value}), ('seat', {value})"
        );
        store.connection.execute_batch(&change).expect("values of any type are allowed");
        assert_eq!(store.setting("seat").expect("read"), None, "{value}");
        assert_eq!(store.advert_key().expect("read"), None, "{value}");
        assert_eq!(
            store.settings_of("game ").expect("read"),
            [("1".to_owned(), "kept".to_owned())],
            "{value}"
        );
        assert_eq!(store.setting("name").expect("read").as_deref(), Some("Anna"), "{value}");
    }
}

#[test]
fn a_copy_of_the_saves_tells_how_far_it_is_and_stops_in_the_middle_leaving_nothing() {
    let (directory, mut store) = store();
    for number in 0..2_000 {
        store.set_setting(&format!("setting {number}"), &"long ".repeat(1_000)).expect("saved");
    }
    let (told, heard) = std::sync::mpsc::channel();
    let context = JobContext::reporting_to(move |permille| told.send(permille).expect("heard"));
    store.copier().whole(&context, 0..500).expect("copied");
    drop(context);
    let heard: Vec<u32> = heard.iter().collect();
    assert!(heard.len() >= 5 && heard.is_sorted() && heard[heard.len() - 1] <= 500, "{heard:?}");

    let stopped = Arc::new(Mutex::new(None::<JobContext>));
    let of = Arc::clone(&stopped);
    let context = JobContext::reporting_to(move |permille| {
        if let Some(context) = of.lock().expect("no panic").as_ref().filter(|_| permille >= 100) {
            context.stop();
        }
    });
    *stopped.lock().expect("no panic") = Some(context.clone());
    store.copier().whole(&context, 0..500).expect_err("stopped");
    assert!(!directory.path().join("qiyou.copy").exists());
}

/// What a program of each schema left, kept as it was.
const FIXTURES: [&str; 18] = [
    include_str!("fixtures/schema-1.sql"),
    include_str!("fixtures/schema-2.sql"),
    include_str!("fixtures/schema-3.sql"),
    include_str!("fixtures/schema-4.sql"),
    include_str!("fixtures/schema-5.sql"),
    include_str!("fixtures/schema-6.sql"),
    include_str!("fixtures/schema-7.sql"),
    include_str!("fixtures/schema-8.sql"),
    include_str!("fixtures/schema-9.sql"),
    include_str!("fixtures/schema-10.sql"),
    include_str!("fixtures/schema-11.sql"),
    include_str!("fixtures/schema-12.sql"),
    include_str!("fixtures/schema-13.sql"),
    include_str!("fixtures/schema-14.sql"),
    include_str!("fixtures/schema-15.sql"),
    include_str!("fixtures/schema-16.sql"),
    include_str!("fixtures/schema-17.sql"),
    include_str!("fixtures/schema-18.sql"),
];

#[test]
fn what_a_program_of_any_schema_left_is_read_and_played_on() {
    assert_eq!(FIXTURES.len(), MIGRATIONS.len(), "each schema has its file: add one with a migration");
    for (schema, fixture) in (1..).zip(FIXTURES) {
        let directory = tempfile::tempdir().expect("a directory");
        {
            let old = Connection::open(directory.path().join(DATABASE)).expect("made");
            old.execute_batch(fixture).expect("as it was then");
        }
        let mut store = Store::open(directory.path()).expect("a schema is brought to the present one");
        assert!(store.set_aside.is_none(), "schema {schema}");
        assert_eq!(store.setting("name").expect("read").as_deref(), Some("Anna"));
        let friend = SavedFriend {
            key: PlayerId([7; 32]),
            name: "小明".into(),
            advert_key: [9; 32],
            met_unix_ms: 5,
            muted: schema >= 2,
            note: if schema >= 4 { "from the club".into() } else { String::new() },
        };
        assert_eq!(store.friends().expect("read"), [friend], "schema {schema}");
        let open = store.load(MatchId([1; 16])).expect("read").expect("there");
        assert_eq!(open.record.actions, (1..=3).map(place).collect::<Vec<_>>(), "schema {schema}");
        assert_eq!((open.seats, open.open, open.changed_unix_ms), (SEATS, true, 12));
        assert_eq!(
            (open.record.paused, open.record.spent_ms),
            (schema >= 3, if schema >= 3 { 700 } else { 0 })
        );
        let over = store.load(MatchId([2; 16])).expect("read").expect("there");
        assert_eq!(over.record.result, Some(MatchResult::Resigned(Side::Second)), "schema {schema}");
        assert_eq!((over.settled, over.open, over.record.revision), (true, false, 1));
        assert_eq!(store.blocked().expect("read").len(), usize::from(schema >= 4));
        let puzzles = store.puzzles().expect("read");
        assert_eq!(puzzles.get("go/1").map(|puzzle| puzzle.tries), (schema >= 5).then_some(4));
        let fares = store.puzzle_player(GameKind::Go).expect("read").map(|player| player.rated);
        assert_eq!(fares, (schema >= 16).then_some(12), "schema {schema}");
        assert_eq!(store.tried_puzzles().expect("read").len(), usize::from(schema >= 16));
        assert_eq!(store.done_days().expect("read"), if schema >= 16 { vec![20_000] } else { vec![] });
        let made = store.made_counts().expect("read").get(&(GameKind::Go as i32)).map(|count| count.all);
        assert_eq!(made, (schema >= 18).then_some(1));
        let promised = store.promised(PlayerId([7; 32])).expect("read");
        assert_eq!(promised, if schema >= 7 { vec![MatchId([5; 16])] } else { vec![] }, "schema {schema}");
        let file = store.file_of(over.record.id).expect("read").map(|file| file.content);
        assert_eq!(file, (schema >= 8).then(|| b"(;GM[1]C[kept])".to_vec()));
        let notes = store.notes_of(over.record.id).expect("read").map(|kept| kept.notes);
        let comment = notes.map(|notes| notes.comment(engine::notes::At::Main(1)).to_owned());
        assert_eq!(comment, (schema >= 17).then(|| "kept".to_owned()));
        let mistake = store.mistake("yours-0123456789abcdef").expect("read");
        assert_eq!(
            mistake.map(|one| (one.mistake.played, one.card.level)),
            (schema >= 14).then_some((place(1), 2))
        );
        let clubs: Vec<(u32, String, usize, usize)> = store
            .clubs()
            .expect("read")
            .into_iter()
            .map(|(number, club)| {
                (number, club.record().name.clone(), club.players().len(), club.games().len())
            })
            .collect();
        assert_eq!(clubs, if schema >= 15 { vec![(3, "星期五".to_owned(), 3, 3)] } else { vec![] });
        store.append(MatchId([1; 16]), 4, (place(4), 0), None, 30).expect("it is played on");
        let any = MatchFilter { game: None, opponent: Opponent::Anyone, outcome: Went::Any };
        let page = store.page(&any, 0, 10).expect("read");
        assert_eq!(page.0.len(), if schema >= 9 { 3 } else { 2 }, "schema {schema}");
        let help = if schema >= 10 { Help::Hints } else { Help::None };
        assert_eq!(store.help(over.record.id).expect("read"), help, "schema {schema}");
        let bot = Seat::Bot(if schema >= 11 { "3.5" } else { "3" }.parse().expect("a level"));
        assert_eq!(over.seats[0], bot, "schema {schema}");
        assert_eq!(over.record.hints, (schema >= 13).then_some([2, 0]), "schema {schema}");
        assert_eq!(store.is_adaptive(over.record.id).expect("read"), schema >= 11, "schema {schema}");
        let guest = store.load(MatchId([3; 16])).expect("read").map(|saved| saved.seats[1].clone());
        let named = Seat::Guest("Ben: \"棋友\"".into());
        assert_eq!(guest, (schema >= 9).then_some(named), "schema {schema}");
    }
}

/// A match of xiangqi of this person against the computer, over: won, lost or drawn.
fn over(store: &mut Store, number: u8, level: u8, winner: Option<Side>, help: Help) -> MatchId {
    let id = MatchId([number; 16]);
    let bot = Seat::Bot(Level::new(level).expect("a level"));
    let record = MatchRecord::new(id, GameKind::Xiangqi.default_setup(), Side::First);
    store.begin(&record, [Seat::Here, bot], number.into()).expect("saved");
    store.add_help(id, help).expect("saved");
    let result = winner.map_or(MatchResult::DrawAgreed, |winner| MatchResult::Resigned(winner.other()));
    store.end(id, 0, result, number.into()).expect("saved");
    id
}

#[test]
fn wins_count_without_help_against_the_same_opponent_and_up_to_the_match_in_question() {
    let (_directory, mut store) = store();
    let (me, them) = (Some(Side::First), Some(Side::Second));
    let against = |level| Seat::Bot(Level::new(level).expect("a level"));
    let asked = over(&mut store, 9, 3, me, Help::None);
    let wins = |store: &Store, level| {
        store.wins_before(asked, GameKind::Xiangqi, [&Seat::Here, &against(level)]).expect("read")
    };
    let of = |any, in_a_row| super::past::Wins { any, in_a_row };
    assert_eq!(wins(&store, 3), of(false, 0), "the match itself is not before itself");
    over(&mut store, 1, 3, me, Help::Hints);
    over(&mut store, 10, 3, me, Help::None);
    assert_eq!(wins(&store, 3), of(false, 0), "with a hint, and later");
    over(&mut store, 2, 3, me, Help::None);
    over(&mut store, 3, 3, them, Help::None);
    assert_eq!(wins(&store, 3), of(true, 0), "lost since");
    over(&mut store, 4, 3, me, Help::None);
    over(&mut store, 5, 4, them, Help::None);
    over(&mut store, 6, 3, me, Help::None);
    assert_eq!((wins(&store, 3), wins(&store, 4)), (of(true, 2), of(false, 0)));
    over(&mut store, 7, 3, None, Help::None);
    assert_eq!(wins(&store, 3), of(true, 0), "a draw is no win");
}

#[test]
fn the_most_that_was_done_for_somebody_counts() {
    let (_directory, mut store) = store();
    let id = over(&mut store, 1, 3, None, Help::None);
    for (done, counts) in
        [(Help::Hints, Help::Hints), (Help::Solved, Help::Solved), (Help::Hints, Help::Solved)]
    {
        store.add_help(id, done).expect("saved");
        assert_eq!(store.help(id).expect("read"), counts);
    }
}

#[test]
fn presses_are_compared_on_boards_of_the_same_size_that_were_solved_without_help() {
    let (_directory, mut store) = store();
    let setup = |size: &str| {
        let mut setup = GameKind::LightsOut.default_setup();
        setup.choose("columns", size).expect("an option");
        setup
    };
    let mut solved = |number: u8, size: &str, presses: u32, help: Help| {
        let id = MatchId([number; 16]);
        let record = MatchRecord::new(id, setup(size), Side::First);
        store.begin(&record, Seat::BOTH_HERE, number.into()).expect("saved");
        let won = MatchResult::Played(Outcome { winner: Some(Side::First), reason: Reason::AllOut });
        for ply in 1..=presses {
            let result = (ply == presses).then_some(won);
            store
                .append(id, ply, (Action::Press(Point::new(0, 0)), 0), result, number.into())
                .expect("saved");
        }
        store.add_help(id, help).expect("saved");
        let engine::Setup::LightsOut(board) = setup("5") else { panic!("it is lights out") };
        store.fewest_before(MatchId([9; 16]), &Seat::BOTH_HERE, &board).expect("read")
    };
    assert_eq!(solved(9, "5", 8, Help::None), None, "the match itself is not before itself");
    assert_eq!(solved(1, "4", 3, Help::None), None, "another size");
    assert_eq!(solved(2, "5", 2, Help::Solved), None, "the solution was shown");
    assert_eq!(solved(3, "5", 12, Help::None), Some(12));
    assert_eq!(solved(4, "5", 10, Help::None), Some(10));
    assert_eq!(solved(5, "5", 11, Help::None), Some(10));
}
