//! Everything that must survive a power cut: friends, matches, settings, in one SQLite file.
//!
//! Every write is one transaction and is on disk when the call returns (WAL with `synchronous=FULL`): the session sends
//! nothing before that. A match is its setup and a list of actions, one row each; the view `record` shows it without what
//! differs from device to device, so that both devices' rows are equal.

#[cfg(test)]
mod fuzz;
mod people;
mod puzzles;
mod salvage;

use std::fs::{self, File};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::{Action, GameKind, Level, Setup, Side};
use prost::Message as _;
use proto::board;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, TransactionBehavior, params};
use session::{Consent, MatchId, MatchRecord, MatchResult, OfferKind, Pace};
use tracing::warn;

use crate::backup;
use crate::room::{PlayerId, Seat};
use crate::show;
pub(crate) use people::{SavedBlocked, SavedFriend};
pub(crate) use puzzles::SavedPuzzle;
use session::wire;

/// Name of the database in the data directory.
pub const DATABASE: &str = "qiyou.db";
/// Key of a setting.
const ADVERT_KEY: &str = "advert_key";
/// Held while a host uses the directory.
const LOCK: &str = "lock";
/// Another process that only reads (a backup, `sqlite3`) may hold the file for a moment.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// Each entry takes the schema one version further. Entries are never changed, only added.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE settings (
        key   TEXT PRIMARY KEY,
        value ANY NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE friends (
        key         BLOB PRIMARY KEY CHECK (length(key) = 32),
        name        TEXT NOT NULL,
        advert_key  BLOB NOT NULL CHECK (length(advert_key) = 32),
        met_unix_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE matches (
        match_id        BLOB PRIMARY KEY CHECK (length(match_id) = 16),
        setup           BLOB NOT NULL,              -- qiyou.board.Setup
        first_seat      TEXT NOT NULL,              -- here, bot:LEVEL or peer:KEY
        second_seat     TEXT NOT NULL,
        revision        INTEGER NOT NULL DEFAULT 0,
        ending          INTEGER,                    -- qiyou.board.Ending; NULL while it goes on
        winner          INTEGER,                    -- qiyou.board.Side; NULL while it goes on, 0 for a draw
        offered         BLOB,                       -- what this device agrees to in advance: four 32-bit numbers
        settled         INTEGER NOT NULL DEFAULT 0, -- over, and the peer is known to hold the same
        open            INTEGER NOT NULL DEFAULT 1, -- a room shows it
        began_unix_ms   INTEGER NOT NULL,
        changed_unix_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX matches_by_change ON matches (changed_unix_ms);
    CREATE TABLE actions (
        match_id BLOB NOT NULL REFERENCES matches ON DELETE CASCADE,
        ply      INTEGER NOT NULL CHECK (ply >= 1),
        action   BLOB NOT NULL,                     -- qiyou.board.Action
        PRIMARY KEY (match_id, ply)
    ) STRICT, WITHOUT ROWID;
    CREATE VIEW record AS SELECT
        lower(hex(match_id)) AS match_id,
        lower(hex(setup)) AS setup,
        CASE first_seat WHEN 'here' THEN 'peer:' || (SELECT value FROM settings WHERE key = 'player')
            ELSE first_seat END AS first_player,
        CASE second_seat WHEN 'here' THEN 'peer:' || (SELECT value FROM settings WHERE key = 'player')
            ELSE second_seat END AS second_player,
        coalesce((SELECT group_concat(action, ' ') FROM
            (SELECT lower(hex(action)) AS action FROM actions WHERE actions.match_id = matches.match_id ORDER BY ply)), '') AS actions,
        revision, ending, winner
        FROM matches;
", "
    ALTER TABLE friends ADD COLUMN muted INTEGER NOT NULL DEFAULT 0; -- what this friend says is not shown
", "
    ALTER TABLE matches ADD COLUMN pace BLOB;                             -- qiyou.board.Pace; NULL without clocks
    ALTER TABLE matches ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE matches ADD COLUMN spent_ms INTEGER NOT NULL DEFAULT 0;   -- by the present action when its clock last stopped
    ALTER TABLE matches ADD COLUMN reveal BLOB CHECK (length(reveal) = 32); -- what this device drew for the colours
    ALTER TABLE actions ADD COLUMN took_ms INTEGER NOT NULL DEFAULT 0;    -- 0 without a pace
    DROP VIEW record;
    CREATE VIEW record AS SELECT
        lower(hex(match_id)) AS match_id,
        lower(hex(setup)) AS setup,
        CASE first_seat WHEN 'here' THEN 'peer:' || (SELECT value FROM settings WHERE key = 'player')
            ELSE first_seat END AS first_player,
        CASE second_seat WHEN 'here' THEN 'peer:' || (SELECT value FROM settings WHERE key = 'player')
            ELSE second_seat END AS second_player,
        coalesce((SELECT group_concat(action, ' ') FROM
            (SELECT lower(hex(action)) AS action FROM actions WHERE actions.match_id = matches.match_id ORDER BY ply)), '') AS actions,
        revision, ending, winner,
        lower(hex(pace)) AS pace, paused,
        coalesce((SELECT group_concat(took_ms, ' ') FROM
            (SELECT took_ms FROM actions WHERE actions.match_id = matches.match_id ORDER BY ply)), '') AS times
        FROM matches;
", "
    ALTER TABLE friends ADD COLUMN note TEXT NOT NULL DEFAULT '';    -- seen by nobody else
    CREATE TABLE blocked (
        key           BLOB PRIMARY KEY CHECK (length(key) = 32),
        name          TEXT NOT NULL,
        since_unix_ms INTEGER NOT NULL,
        advert_key    BLOB CHECK (length(advert_key) = 32),           -- of a former friend
        address       TEXT                                            -- where it was last met
    ) STRICT, WITHOUT ROWID;
", "
    CREATE TABLE puzzles (
        puzzle         TEXT PRIMARY KEY,
        tries          INTEGER NOT NULL DEFAULT 0,
        solved_unix_ms INTEGER                                        -- the first time; NULL until then
    ) STRICT, WITHOUT ROWID;
", "
    -- What this device has pressed in a race while that is not among the actions, packed as in qiyou.peer.Record.
    ALTER TABLE matches ADD COLUMN run BLOB NOT NULL DEFAULT x'';
"];

/// Why something could not be saved or read. Nothing that was saved before is lost by any of these.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No space is left, or a quota is used up.
    #[error("the disk is full")]
    DiskFull,
    /// The directory or the file may not be written.
    #[error("cannot write to {0}")]
    Unwritable(PathBuf),
    /// Another host uses the same directory.
    #[error("another qiyou uses {0} already")]
    InUse(PathBuf),
    /// What the file holds cannot be what was written. It is left as it is.
    #[error("{path} is damaged: {what}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// A newer Qiyou has written the file. It is left as it is.
    #[error("{path} was written by a newer Qiyou (schema {found}, this one knows {known})")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Schema version of the file.
        found: i64,
        /// The newest that this program knows.
        known: i64,
    },
    /// Anything else that SQLite or the system said.
    #[error("the saved games cannot be used: {0}")]
    Other(String),
}

/// A match as the file keeps it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SavedMatch {
    pub(crate) record: MatchRecord,
    pub(crate) seats: [Seat; 2],
    /// Over, and the peer is known to hold the same.
    pub(crate) settled: bool,
    /// A room shows it.
    pub(crate) open: bool,
    pub(crate) changed_unix_ms: i64,
}

/// What there is of a match to choose by.
pub(crate) struct Header {
    pub(crate) id: MatchId,
    /// The game's number.
    pub(crate) game: i32,
    pub(crate) seats: [Seat; 2],
    pub(crate) over: bool,
    /// `None` of one that is over is a draw.
    pub(crate) winner: Option<Side>,
}

/// The open file. One at a time per directory.
pub(crate) struct Store {
    connection: Connection,
    path: PathBuf,
    /// Where a damaged file lies since this start. What could be read of it is in the new one.
    pub(crate) set_aside: Option<PathBuf>,
    /// The lock ends when this is dropped, or with the process.
    _lock: File,
}

impl Store {
    /// Opens or makes the file in this directory, which is made with mode 0700 when it is missing.
    pub(crate) fn open(directory: &Path) -> Result<Self, StoreError> {
        let unwritable = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => StoreError::DiskFull,
            _ => StoreError::Unwritable(directory.to_owned()),
        };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(unwritable)?;
        let lock = File::options()
            .create(true)
            .write(true)
            .truncate(false)
            .open(directory.join(LOCK))
            .map_err(unwritable)?;
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).map_err(|error| {
            if error == rustix::io::Errno::WOULDBLOCK {
                StoreError::InUse(directory.to_owned())
            } else {
                StoreError::Other(format!("locking {}: {error}", directory.display()))
            }
        })?;
        backup::take_incoming(directory).map_err(unwritable)?;
        let path = directory.join(DATABASE);
        let (connection, set_aside) = match connect(&path) {
            Err(StoreError::Damaged { what, .. }) => {
                warn!(what, "the file of saves is damaged: it is set aside");
                let aside = salvage::set_aside(&path).map_err(unwritable)?;
                let mut connection = connect(&path)?;
                salvage::copy_readable(&aside, &mut connection).map_err(|error| explain(&path, &error))?;
                (connection, Some(aside))
            }
            connected => (connected?, None),
        };
        let store = Self { connection, path, set_aside, _lock: lock };
        // Names and moves are nobody else's business on a shared machine.
        fs::set_permissions(&store.path, fs::Permissions::from_mode(0o600)).map_err(unwritable)?;
        Ok(store)
    }

    /// The whole file as it is now, with what its log holds.
    pub(crate) fn whole(&self) -> Result<Vec<u8>, StoreError> {
        let copy = self.path.with_extension("copy");
        let _ = fs::remove_file(&copy);
        let into = copy.to_string_lossy();
        self.connection.execute("VACUUM INTO ?1", [&into]).map_err(|error| self.explain(error))?;
        let read = fs::read(&copy);
        let _ = fs::remove_file(&copy);
        read.map_err(|error| StoreError::Other(error.to_string()))
    }

    fn explain(&self, error: rusqlite::Error) -> StoreError {
        explain(&self.path, &error)
    }

    fn damaged(&self, what: impl Into<String>) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), what: what.into() }
    }

    /// Writes something of no meaning: whether saving would work now.
    pub(crate) fn probe(&mut self) -> Result<(), StoreError> {
        /// Several times what an action takes, so that a disk on which nothing can be played does not pass.
        const BYTES: usize = 16 * 1024;
        self.connection
            .execute(
                "INSERT OR REPLACE INTO settings (key, value) VALUES ('probe', randomblob(?1))",
                [BYTES as i64],
            )
            .map(drop)
            .map_err(|error| self.explain(error))
    }

    pub(crate) fn setting(&self, key: &str) -> Result<Option<String>, StoreError> {
        self.connection
            .query_row("SELECT value FROM settings WHERE key = ?1", [key], |row| row.get(0))
            .optional()
            .map_err(|error| self.explain(error))
    }

    pub(crate) fn set_setting(&mut self, key: &str, value: &str) -> Result<(), StoreError> {
        self.connection
            .execute("INSERT OR REPLACE INTO settings (key, value) VALUES (?1, ?2)", [key, value])
            .map(drop)
            .map_err(|error| self.explain(error))
    }

    /// Settings whose keys begin so, without that beginning.
    pub(crate) fn settings_of(&self, prefix: &str) -> Result<Vec<(String, String)>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(String, String)>> {
            let mut rows = self
                .connection
                .prepare("SELECT substr(key, length(?1) + 1), value FROM settings WHERE substr(key, 1, length(?1)) = ?1")?;
            rows.query_map([prefix], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        read().map_err(|error| self.explain(error))
    }

    pub(crate) fn remove_setting(&mut self, key: &str) -> Result<(), StoreError> {
        self.connection
            .execute("DELETE FROM settings WHERE key = ?1", [key])
            .map(drop)
            .map_err(|error| self.explain(error))
    }

    /// The advert key since a friend was first forgotten; `None` before: the identity's own.
    pub(crate) fn advert_key(&self) -> Result<Option<[u8; 32]>, StoreError> {
        self.connection
            .query_row("SELECT value FROM settings WHERE key = ?1", [ADVERT_KEY], |row| row.get(0))
            .optional()
            .map_err(|error| self.explain(error))
    }

    /// A match begins, with the actions that its record holds already. Replaces a match of the same id.
    pub(crate) fn begin(
        &mut self,
        record: &MatchRecord,
        seats: [Seat; 2],
        now_unix_ms: i64,
    ) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            transaction.execute("DELETE FROM matches WHERE match_id = ?1", [record.id.0])?;
            write_match(transaction, record, seats, now_unix_ms)
        })
    }

    /// A match that is over and settled before this device hears of it, and that no room shows. Nothing is written if the
    /// file knows a match of this id.
    pub(crate) fn learn(
        &mut self,
        record: &MatchRecord,
        seats: [Seat; 2],
        now_unix_ms: i64,
    ) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            let known: bool = transaction.query_row(
                "SELECT EXISTS (SELECT 1 FROM matches WHERE match_id = ?1)",
                [record.id.0],
                |row| row.get(0),
            )?;
            if known {
                return Ok(());
            }
            write_match(transaction, record, seats, now_unix_ms)?;
            transaction
                .execute("UPDATE matches SET settled = 1, open = 0 WHERE match_id = ?1", [record.id.0])
                .map(drop)
        })
    }

    /// The whole record becomes another one.
    pub(crate) fn replace(&mut self, record: &MatchRecord, now_unix_ms: i64) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            transaction.execute("DELETE FROM actions WHERE match_id = ?1", [record.id.0])?;
            write_record(transaction, record, now_unix_ms)
        })
    }

    /// Action number `ply` (1-based), which must be the next one, what it took (0 without a pace), and how the match ended if it
    /// ended with it.
    pub(crate) fn append(
        &mut self,
        id: MatchId,
        ply: u32,
        (action, took_ms): (Action, u32),
        result: Option<MatchResult>,
        now_unix_ms: i64,
    ) -> Result<(), StoreError> {
        let last = self.last_ply(id)?;
        if last + 1 != ply {
            return Err(self.damaged(format!("action {ply} does not follow action {last}")));
        }
        self.in_transaction(|transaction| {
            transaction
                .prepare_cached(
                    "INSERT INTO actions (match_id, ply, action, took_ms) VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute(params![id.0, ply, action_bytes(action), took_ms])?;
            touch(transaction, id, now_unix_ms)?;
            write_spent(transaction, id, 0)?;
            result.map_or(Ok(()), |result| write_result(transaction, id, Some(result)))
        })
    }

    /// In a race this device has pressed this too, which took so long in all.
    pub(crate) fn add_to_run(
        &mut self,
        id: MatchId,
        pressed: &[Action],
        spent_ms: u32,
        now_unix_ms: i64,
    ) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            let mut run: Vec<u8> = transaction
                .prepare_cached("SELECT run FROM matches WHERE match_id = ?1")?
                .query_row([id.0], |row| row.get(0))?;
            run.extend(wire::pack_actions(pressed));
            write_run(transaction, id, &run)?;
            touch(transaction, id, now_unix_ms)?;
            write_spent(transaction, id, spent_ms)
        })
    }

    /// In a race a whole run enters the record, which then has `ply` actions, and how the match ended if it ended with it.
    /// `mine`: it is this device's.
    pub(crate) fn enter_run(
        &mut self,
        id: MatchId,
        ply: u32,
        (run, mine): (&[Action], bool),
        result: Option<MatchResult>,
        now_unix_ms: i64,
    ) -> Result<(), StoreError> {
        let last = self.last_ply(id)?;
        if last as usize + run.len() != ply as usize {
            return Err(self.damaged(format!("a run up to {ply} does not follow action {last}")));
        }
        self.in_transaction(|transaction| {
            let mut insert = transaction
                .prepare_cached("INSERT INTO actions (match_id, ply, action) VALUES (?1, ?2, ?3)")?;
            for (ply, action) in (last + 1..).zip(run) {
                insert.execute(params![id.0, ply, action_bytes(*action)])?;
            }
            if mine {
                write_run(transaction, id, &[])?;
                write_spent(transaction, id, 0)?;
            }
            touch(transaction, id, now_unix_ms)?;
            result.map_or(Ok(()), |result| write_result(transaction, id, Some(result)))
        })
    }

    fn last_ply(&self, id: MatchId) -> Result<u32, StoreError> {
        self.connection
            .prepare_cached("SELECT coalesce(max(ply), 0) FROM actions WHERE match_id = ?1")
            .and_then(|mut statement| statement.query_row([id.0], |row| row.get(0)))
            .map_err(|error| self.explain(error))
    }

    /// The record is cut to `ply` actions; a result, if any, is gone.
    pub(crate) fn take_back(
        &mut self,
        id: MatchId,
        ply: u32,
        revision: u32,
        now_unix_ms: i64,
    ) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            transaction
                .execute("DELETE FROM actions WHERE match_id = ?1 AND ply > ?2", params![id.0, ply])?;
            write_revision(transaction, id, revision)?;
            write_offered(transaction, id, None)?;
            write_spent(transaction, id, 0)?;
            write_paused(transaction, id, false)?;
            touch(transaction, id, now_unix_ms)?;
            write_result(transaction, id, None)
        })
    }

    /// The match is over.
    pub(crate) fn end(
        &mut self,
        id: MatchId,
        revision: u32,
        result: MatchResult,
        now_unix_ms: i64,
    ) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            write_revision(transaction, id, revision)?;
            write_paused(transaction, id, false)?;
            touch(transaction, id, now_unix_ms)?;
            write_result(transaction, id, Some(result))
        })
    }

    /// The match is paused, or goes on.
    pub(crate) fn set_paused(
        &mut self,
        id: MatchId,
        revision: u32,
        paused: bool,
        now_unix_ms: i64,
    ) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            write_revision(transaction, id, revision)?;
            write_paused(transaction, id, paused)?;
            touch(transaction, id, now_unix_ms)
        })
    }

    /// What the present action has taken now that its clock stands.
    pub(crate) fn set_spent(&mut self, id: MatchId, spent_ms: u32) -> Result<(), StoreError> {
        self.in_transaction(|transaction| write_spent(transaction, id, spent_ms))
    }

    /// The side that this device had in the last match of this game with this player.
    pub(crate) fn last_side(&self, peer: PlayerId, game: GameKind) -> Result<Option<Side>, StoreError> {
        let read = || -> rusqlite::Result<Option<Side>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT setup, first_seat FROM matches WHERE first_seat = ?1 OR second_seat = ?1
                 ORDER BY began_unix_ms DESC, changed_unix_ms DESC",
            )?;
            let peers = seat_text(Seat::Peer(peer));
            let mut rows = statement.query([&peers])?;
            while let Some(row) = rows.next()? {
                let (setup, first): (Vec<u8>, String) = (row.get(0)?, row.get(1)?);
                if parse_setup(&setup).is_some_and(|setup| setup.kind() == game) {
                    return Ok(Some(if first == peers { Side::Second } else { Side::First }));
                }
            }
            Ok(None)
        };
        read().map_err(|error| self.explain(error))
    }

    /// What this device agrees to in advance by having offered it.
    pub(crate) fn set_offered(
        &mut self,
        id: MatchId,
        offered: Option<Consent>,
        now_unix_ms: i64,
    ) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            touch(transaction, id, now_unix_ms)?;
            write_offered(transaction, id, offered)
        })
    }

    /// The match is over, and the peer is known to hold the same record. Any later write ends that.
    pub(crate) fn settle(&mut self, id: MatchId) -> Result<(), StoreError> {
        self.connection
            .execute("UPDATE matches SET settled = 1 WHERE match_id = ?1", [id.0])
            .map(drop)
            .map_err(|error| self.explain(error))
    }

    /// Whether a room shows the match, now and after the next start.
    pub(crate) fn set_open(&mut self, id: MatchId, open: bool) -> Result<(), StoreError> {
        self.connection
            .execute("UPDATE matches SET open = ?2 WHERE match_id = ?1", params![id.0, open])
            .map(drop)
            .map_err(|error| self.explain(error))
    }

    /// Who sits where from now on.
    pub(crate) fn set_seats(&mut self, id: MatchId, seats: [Seat; 2]) -> Result<(), StoreError> {
        let [first, second] = seats.map(seat_text);
        self.connection
            .execute(
                "UPDATE matches SET first_seat = ?2, second_seat = ?3 WHERE match_id = ?1",
                params![id.0, first, second],
            )
            .map(drop)
            .map_err(|error| self.explain(error))
    }

    /// Matches that a room shows.
    pub(crate) fn open_matches(&self) -> Result<Vec<SavedMatch>, StoreError> {
        self.matches("WHERE open = 1 ORDER BY changed_unix_ms", [])
    }

    /// Matches with this peer that are not settled, whether a room shows them or not, and the last settled one; the oldest
    /// first.
    pub(crate) fn matches_with(&self, peer: PlayerId) -> Result<Vec<SavedMatch>, StoreError> {
        self.matches(
            "WHERE (first_seat = ?1 OR second_seat = ?1) AND (settled = 0 OR match_id = (
                 SELECT match_id FROM matches WHERE settled = 1 AND (first_seat = ?1 OR second_seat = ?1)
                 ORDER BY changed_unix_ms DESC LIMIT 1))
             ORDER BY changed_unix_ms",
            [seat_text(Seat::Peer(peer))],
        )
    }

    /// What there is of every match to choose by, the latest change first. One whose row makes no sense is left out.
    pub(crate) fn headers(&self) -> Result<Vec<Header>, StoreError> {
        let read = || {
            let mut statement = self.connection.prepare_cached(
                "SELECT match_id, setup, first_seat, second_seat, ending, winner FROM matches
                 ORDER BY changed_unix_ms DESC, match_id",
            )?;
            statement
                .query_map([], |row| {
                    let (setup, first, second): (Vec<u8>, String, String) =
                        (row.get(1)?, row.get(2)?, row.get(3)?);
                    let (ending, winner): (Option<i32>, Option<i32>) = (row.get(4)?, row.get(5)?);
                    let header = || {
                        Some(Header {
                            id: MatchId(row.get(0).ok()?),
                            game: i32::from(parse_setup(&setup)?.kind() as u8),
                            seats: [parse_seat(&first)?, parse_seat(&second)?],
                            over: ending.is_some(),
                            winner: winner.and_then(show::parse_side),
                        })
                    };
                    Ok(header())
                })?
                .filter_map(Result::transpose)
                .collect::<Result<_, _>>()
        };
        read().map_err(|error| self.explain(error))
    }

    /// A match is gone for good.
    pub(crate) fn delete(&mut self, id: MatchId) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            transaction.execute("DELETE FROM matches WHERE match_id = ?1", [id.0]).map(drop)
        })
    }

    /// One match.
    pub(crate) fn load(&self, id: MatchId) -> Result<Option<SavedMatch>, StoreError> {
        self.each_match("WHERE match_id = ?1", [id.0])?.pop().transpose()
    }

    /// Those of them that can be read. One that cannot stays in the file, for a program that can.
    fn matches(&self, which: &str, values: impl rusqlite::Params) -> Result<Vec<SavedMatch>, StoreError> {
        let mut readable = Vec::new();
        for one in self.each_match(which, values)? {
            match one {
                Err(error @ StoreError::Damaged { .. }) => warn!(%error, "a match is left out"),
                one => readable.push(one?),
            }
        }
        Ok(readable)
    }

    fn each_match(
        &self,
        which: &str,
        values: impl rusqlite::Params,
    ) -> Result<Vec<Result<SavedMatch, StoreError>>, StoreError> {
        struct Raw {
            id: [u8; 16],
            setup: Vec<u8>,
            seats: [String; 2],
            revision: u32,
            ending: Option<i32>,
            winner: Option<i32>,
            open: bool,
            changed: i64,
            offered: Option<Vec<u8>>,
            settled: bool,
            pace: Option<Vec<u8>>,
            paused: bool,
            spent_ms: u32,
            reveal: Option<[u8; 32]>,
            run: Vec<u8>,
        }
        let read = || -> rusqlite::Result<Vec<rusqlite::Result<Raw>>> {
            let sql = format!(
                "SELECT match_id, setup, first_seat, second_seat, revision, ending, winner, open, changed_unix_ms,
                     offered, settled, pace, paused, spent_ms, reveal, run
                 FROM matches {which}"
            );
            let mut statement = self.connection.prepare_cached(&sql)?;
            let raw = |row: &Row<'_>| {
                Ok(Raw {
                    id: row.get(0)?,
                    setup: row.get(1)?,
                    seats: [row.get(2)?, row.get(3)?],
                    revision: row.get(4)?,
                    ending: row.get(5)?,
                    winner: row.get(6)?,
                    open: row.get(7)?,
                    changed: row.get(8)?,
                    offered: row.get(9)?,
                    settled: row.get(10)?,
                    pace: row.get(11)?,
                    paused: row.get(12)?,
                    spent_ms: row.get(13)?,
                    reveal: row.get(14)?,
                    run: row.get(15)?,
                })
            };
            Ok(statement.query_map(values, raw)?.collect())
        };
        let rows = read().map_err(|error| self.explain(error))?;
        Ok(rows
            .into_iter()
            .map(|raw| {
                let raw = raw.map_err(|error| self.explain(error))?;
                let id = MatchId(raw.id);
                let seats = [parse_seat(&raw.seats[0]), parse_seat(&raw.seats[1])];
                let [Some(first), Some(second)] = seats else {
                    return Err(self.damaged("a seat that is none"));
                };
                let setup = parse_setup(&raw.setup).ok_or_else(|| self.damaged("a setup that is none"))?;
                let result = match (raw.ending, raw.winner) {
                    (None, _) => None,
                    (Some(ending), winner) => Some(
                        parse_result(ending, winner.unwrap_or(0))
                            .ok_or_else(|| self.damaged("a result that is none"))?,
                    ),
                };
                let offered = match raw.offered {
                    None => None,
                    Some(bytes) => {
                        Some(parse_consent(&bytes).ok_or_else(|| self.damaged("an offer that is none"))?)
                    }
                };
                let pace = match raw.pace {
                    None => None,
                    Some(bytes) => {
                        Some(parse_pace(&bytes).ok_or_else(|| self.damaged("a pace that is none"))?)
                    }
                };
                let run = wire::unpack_actions(&raw.run).map_err(|_| self.damaged("a run that is none"))?;
                let (actions, times) = self.actions(id)?;
                let my_side =
                    if second == Seat::Here && first != Seat::Here { Side::Second } else { Side::First };
                Ok(SavedMatch {
                    record: MatchRecord {
                        id,
                        setup,
                        my_side,
                        actions,
                        revision: raw.revision,
                        result,
                        times: if pace.is_some() { times } else { Vec::new() },
                        pace,
                        paused: raw.paused,
                        spent_ms: raw.spent_ms,
                        run,
                        reveal: raw.reveal,
                        offered,
                    },
                    seats: [first, second],
                    settled: raw.settled,
                    open: raw.open,
                    changed_unix_ms: raw.changed,
                })
            })
            .collect())
    }

    /// The actions of a match, and what each took.
    fn actions(&self, id: MatchId) -> Result<(Vec<Action>, Vec<u32>), StoreError> {
        let read = || -> rusqlite::Result<Vec<(u32, Vec<u8>, u32)>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT ply, action, took_ms FROM actions WHERE match_id = ?1 ORDER BY ply",
            )?;
            statement.query_map([id.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
        };
        let rows = read().map_err(|error| self.explain(error))?;
        (1u32..)
            .zip(rows)
            .map(|(expected, (ply, bytes, took_ms))| {
                parse_action(&bytes)
                    .filter(|_| ply == expected)
                    .map(|action| (action, took_ms))
                    .ok_or_else(|| self.damaged(format!("action {expected} is missing or unreadable")))
            })
            .collect()
    }

    fn in_transaction(
        &mut self,
        work: impl FnOnce(&rusqlite::Transaction<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), StoreError> {
        let run = |connection: &mut Connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            work(&transaction)?;
            transaction.commit()
        };
        waiting_for_the_disk(|| run(&mut self.connection)).map_err(|error| explain(&self.path, &error))
    }

    /// Lets the file grow to this many pages at most, as if the disk were that small.
    #[cfg(test)]
    pub(crate) fn limit_pages(&mut self, pages: u32) {
        self.connection
            .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
            .expect("a limit can be set");
    }
}

/// Does what may take long, such as bringing a move to a slow card, while other tasks go on: links acknowledge what arrives
/// even though the daemon has one thread for all of them.
fn waiting_for_the_disk<T>(work: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    match Handle::try_current().map(|here| here.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// Opens the file, and brings it to the present schema.
fn connect(path: &Path) -> Result<Connection, StoreError> {
    let mut connection = Connection::open(path).map_err(|error| explain(path, &error))?;
    match prepare(&mut connection, path) {
        Ok(()) => Ok(connection),
        Err(Prepare::Sqlite(error)) => Err(explain(path, &error)),
        Err(Prepare::Store(error)) => Err(error),
    }
}

/// What a file of saves holds.
pub(crate) struct Held {
    pub(crate) matches: u32,
    pub(crate) friends: u32,
    /// The value of the setting that was asked for; empty when there is none.
    pub(crate) name: String,
}

/// Looks whether a file can be opened as saves, and what it holds. It is brought to the present version and left without a log.
pub(crate) fn look_into(path: &Path, setting: &str) -> Result<Held, StoreError> {
    let connection = connect(path)?;
    let read = || -> rusqlite::Result<Held> {
        let count = |table: &str| {
            connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, u32>(0))
        };
        let name = connection
            .query_row("SELECT value FROM settings WHERE key = ?1", [setting], |row| row.get(0))
            .optional()?;
        let held =
            Held { matches: count("matches")?, friends: count("friends")?, name: name.unwrap_or_default() };
        connection.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
        Ok(held)
    };
    read().map_err(|error| explain(path, &error))
}

fn prepare(connection: &mut Connection, path: &Path) -> Result<(), Prepare> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // The version is read before anything is written, so that a newer file stays untouched.
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let known = MIGRATIONS.len() as i64;
    if found > known {
        return Err(Prepare::Store(StoreError::Newer { path: path.to_owned(), found, known }));
    }
    let check: String = connection.pragma_query_value(None, "quick_check", |row| row.get(0))?;
    if check != "ok" {
        return Err(Prepare::Store(StoreError::Damaged { path: path.to_owned(), what: check }));
    }
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    for (version, migration) in (1..).zip(MIGRATIONS).skip(usize::try_from(found).unwrap_or(0)) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(migration)?;
        transaction.pragma_update(None, "user_version", version as i64)?;
        transaction.commit()?;
    }
    Ok(())
}

enum Prepare {
    Sqlite(rusqlite::Error),
    Store(StoreError),
}

impl From<rusqlite::Error> for Prepare {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

fn explain(path: &Path, error: &rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::DiskFull,
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            StoreError::Unwritable(path.to_owned())
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            StoreError::Damaged { path: path.to_owned(), what: error.to_string() }
        }
        // A value that no column of ours holds.
        None if is_value(error) => StoreError::Damaged { path: path.to_owned(), what: error.to_string() },
        _ => StoreError::Other(error.to_string()),
    }
}

/// Whether the file was read, but what stood there is none of our values.
fn is_value(error: &rusqlite::Error) -> bool {
    use rusqlite::Error;
    matches!(
        error,
        Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
            | Error::Utf8Error(..)
    )
}

/// The rows that can be read; the others stay in the file.
fn readable<T>(rows: impl Iterator<Item = rusqlite::Result<T>>) -> rusqlite::Result<Vec<T>> {
    rows.filter(|row| match row {
        Err(error) if is_value(error) => {
            warn!(%error, "a row is left out");
            false
        }
        _ => true,
    })
    .collect()
}

fn write_match(
    transaction: &rusqlite::Transaction<'_>,
    record: &MatchRecord,
    seats: [Seat; 2],
    now_unix_ms: i64,
) -> rusqlite::Result<()> {
    let [first, second] = seats.map(seat_text);
    transaction.execute(
        "INSERT INTO matches (match_id, setup, first_seat, second_seat, began_unix_ms, changed_unix_ms, pace, reveal)
         VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7)",
        params![
            record.id.0,
            setup_bytes(&record.setup),
            first,
            second,
            now_unix_ms,
            Pace::write(record.pace).map(|pace| pace.encode_to_vec()),
            record.reveal
        ],
    )?;
    write_record(transaction, record, now_unix_ms)
}

fn write_record(
    transaction: &rusqlite::Transaction<'_>,
    record: &MatchRecord,
    now_unix_ms: i64,
) -> rusqlite::Result<()> {
    let mut insert = transaction
        .prepare_cached("INSERT INTO actions (match_id, ply, action, took_ms) VALUES (?1, ?2, ?3, ?4)")?;
    for (ply, action) in (1u32..).zip(&record.actions) {
        let took_ms = record.times.get(ply as usize - 1).copied().unwrap_or(0);
        insert.execute(params![record.id.0, ply, action_bytes(*action), took_ms])?;
    }
    write_run(transaction, record.id, &wire::pack_actions(&record.run))?;
    write_spent(transaction, record.id, record.spent_ms)?;
    write_paused(transaction, record.id, record.paused)?;
    write_revision(transaction, record.id, record.revision)?;
    write_offered(transaction, record.id, record.offered)?;
    touch(transaction, record.id, now_unix_ms)?;
    write_result(transaction, record.id, record.result)
}

fn write_revision(
    transaction: &rusqlite::Transaction<'_>,
    id: MatchId,
    revision: u32,
) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("UPDATE matches SET revision = ?2 WHERE match_id = ?1")?
        .execute(params![id.0, revision])
        .map(drop)
}

fn write_paused(transaction: &rusqlite::Transaction<'_>, id: MatchId, paused: bool) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("UPDATE matches SET paused = ?2 WHERE match_id = ?1")?
        .execute(params![id.0, paused])
        .map(drop)
}

fn write_run(transaction: &rusqlite::Transaction<'_>, id: MatchId, run: &[u8]) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("UPDATE matches SET run = ?2 WHERE match_id = ?1")?
        .execute(params![id.0, run])
        .map(drop)
}

fn write_spent(transaction: &rusqlite::Transaction<'_>, id: MatchId, spent_ms: u32) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("UPDATE matches SET spent_ms = ?2 WHERE match_id = ?1")?
        .execute(params![id.0, spent_ms])
        .map(drop)
}

fn write_offered(
    transaction: &rusqlite::Transaction<'_>,
    id: MatchId,
    offered: Option<Consent>,
) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("UPDATE matches SET offered = ?2 WHERE match_id = ?1")?
        .execute(params![id.0, offered.map(consent_bytes)])
        .map(drop)
}

/// Every write but `settle` goes through here: what has changed is not settled.
fn touch(transaction: &rusqlite::Transaction<'_>, id: MatchId, now_unix_ms: i64) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("UPDATE matches SET changed_unix_ms = ?2, settled = 0 WHERE match_id = ?1")?
        .execute(params![id.0, now_unix_ms])
        .map(drop)
}

fn write_result(
    transaction: &rusqlite::Transaction<'_>,
    id: MatchId,
    result: Option<MatchResult>,
) -> rusqlite::Result<()> {
    let (ending, winner) = match result {
        None => (None, None),
        Some(result) => {
            let result = wire::result(result);
            (Some(result.ending), Some(result.winner))
        }
    };
    transaction
        .prepare_cached("UPDATE matches SET ending = ?2, winner = ?3 WHERE match_id = ?1")?
        .execute(params![id.0, ending, winner])
        .map(drop)
}

fn setup_bytes(setup: &Setup) -> Vec<u8> {
    wire::setup(setup).encode_to_vec()
}

fn parse_setup(bytes: &[u8]) -> Option<Setup> {
    wire::read_setup(Some(&board::Setup::decode(bytes).ok()?)).ok()
}

fn parse_pace(bytes: &[u8]) -> Option<Pace> {
    Pace::read(Some(&board::Pace::decode(bytes).ok()?)).ok()?
}

fn parse_result(ending: i32, winner: i32) -> Option<MatchResult> {
    wire::read_result(&board::Result { winner, ending }).ok()
}

fn consent_bytes(consent: Consent) -> Vec<u8> {
    let kind: u32 = match consent.kind {
        OfferKind::TakeBack => 1,
        OfferKind::Draw => 2,
        OfferKind::NewGame => 3,
        OfferKind::NewGameSame => 4,
        OfferKind::Pause => 5,
        OfferKind::Continue => 6,
        OfferKind::Adjourn => 7,
    };
    [kind, consent.revision, consent.ply, consent.to_ply].iter().flat_map(|n| n.to_be_bytes()).collect()
}

fn parse_consent(bytes: &[u8]) -> Option<Consent> {
    let bytes: &[u8; 16] = bytes.try_into().ok()?;
    let number = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let kind = match number(0) {
        1 => OfferKind::TakeBack,
        2 => OfferKind::Draw,
        3 => OfferKind::NewGame,
        4 => OfferKind::NewGameSame,
        5 => OfferKind::Pause,
        6 => OfferKind::Continue,
        7 => OfferKind::Adjourn,
        _ => return None,
    };
    Some(Consent { kind, revision: number(4), ply: number(8), to_ply: number(12) })
}

fn seat_text(seat: Seat) -> String {
    match seat {
        Seat::Here => "here".into(),
        Seat::Bot(level) => format!("bot:{}", level.number()),
        Seat::Peer(key) => format!("peer:{key}"),
    }
}

fn parse_seat(text: &str) -> Option<Seat> {
    match text.split_once(':') {
        None => (text == "here").then_some(Seat::Here),
        Some(("bot", level)) => Level::new(level.parse().ok()?).map(Seat::Bot),
        Some(("peer", key)) => PlayerId::parse(key).map(Seat::Peer),
        Some(_) => None,
    }
}

fn action_bytes(action: Action) -> Vec<u8> {
    wire::action(action).encode_to_vec()
}

fn parse_action(bytes: &[u8]) -> Option<Action> {
    wire::read_action(Some(&board::Action::decode(bytes).ok()?)).ok()
}

#[cfg(test)]
mod tests {
    use engine::{Outcome, Point, Reason};

    use super::*;

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
    fn clocks_pauses_and_drawn_numbers_read_back() {
        let (_directory, mut store) = store();
        let pace =
            Pace::ByoYomi { main: Duration::from_mins(1), period: Duration::from_secs(30), periods: 3 };
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
        assert!(
            store.enter_run(expected.id, 3, (&theirs, false), None, 4).is_err(),
            "it is two actions long"
        );
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
    fn a_file_from_before_the_clocks_opens_and_goes_on() {
        let directory = tempfile::tempdir().expect("a directory");
        {
            let old = Connection::open(directory.path().join(DATABASE)).expect("opens");
            for migration in &MIGRATIONS[..2] {
                old.execute_batch(migration).expect("as it was then");
            }
            old.pragma_update(None, "user_version", 2).expect("set");
            let seat = seat_text(SEATS[1]);
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
        store.begin(&record(2), [SEATS[1], SEATS[0]], 2).expect("saved");
        assert_eq!(store.last_side(peer, gomoku).expect("read"), Some(Side::Second));
        assert_eq!(store.last_side(peer, GameKind::Go).expect("read"), None);
        assert_eq!(store.last_side(PlayerId([8; 32]), gomoku).expect("read"), None);
    }

    #[test]
    fn every_result_and_seat_reads_back() {
        let (_directory, mut store) = store();
        let results = [
            MatchResult::Played(Outcome { winner: None, reason: Reason::BoardFull }),
            MatchResult::Resigned(Side::First),
            MatchResult::Resigned(Side::Second),
            MatchResult::TimedOut(Side::First),
            MatchResult::DrawAgreed,
        ];
        for (number, result) in (1..).zip(results) {
            let seats = [Seat::Bot(Level::MAX), Seat::Here];
            store.begin(&record(number), seats, 1).expect("saved");
            store.end(MatchId([number; 16]), 3, result, 2).expect("saved");
            let saved = store.load(MatchId([number; 16])).expect("read").expect("there");
            assert_eq!((saved.record.result, saved.record.revision), (Some(result), 3));
            assert_eq!((saved.seats, saved.record.my_side), (seats, Side::Second));
        }
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
    fn two_hosts_do_not_share_a_directory() {
        let (directory, store) = store();
        assert!(matches!(Store::open(directory.path()), Err(StoreError::InUse(_))));
        drop(store);
        Store::open(directory.path()).expect("it is free again");
    }

    #[test]
    fn a_file_of_a_newer_program_is_left_as_it_is() {
        let (directory, store) = store();
        store.connection.pragma_update(None, "user_version", 99).expect("set");
        drop(store);
        let before = fs::read(directory.path().join(DATABASE)).expect("read");
        let result = Store::open(directory.path());
        assert!(matches!(result, Err(StoreError::Newer { found: 99, .. })), "{:?}", result.err());
        assert_eq!(fs::read(directory.path().join(DATABASE)).expect("read"), before);
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
        let last_page = torn.len() - 4096;
        torn[last_page..].fill(0x5A);
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
}
