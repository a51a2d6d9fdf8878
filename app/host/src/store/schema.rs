//! The database schema, and its migrations.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::{StoreError, explain};

/// Another process that reads (a backup, `sqlite3`) may lock the file for a moment.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// Each entry migrates the schema by one version. Entries are never changed, not even their comments: a test compares
/// digests.
pub(super) const MIGRATIONS: &[&str] = &["
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
", "
    -- Matches that this device asked for or accepted: those alone may be learnt from the peer. The last ones with each peer.
    CREATE TABLE promised (
        number   INTEGER PRIMARY KEY,
        match_id BLOB NOT NULL UNIQUE CHECK (length(match_id) = 16),
        peer     BLOB NOT NULL CHECK (length(peer) = 32)
    ) STRICT;
    CREATE INDEX promised_by_peer ON promised (peer, number);
    -- What lists are filtered by. The game is the field of qiyou.board.Setup: its tag is the first byte.
    ALTER TABLE matches ADD COLUMN game INTEGER GENERATED ALWAYS AS (
        CASE hex(substr(setup, 1, 1)) WHEN '0A' THEN 1 WHEN '12' THEN 2 WHEN '1A' THEN 3 WHEN '22' THEN 4 WHEN '2A' THEN 5
        ELSE 0 END) VIRTUAL;
    -- Indexes of what a move does not change: one with the time of the change would be written again with each move.
    CREATE INDEX matches_by_first_seat ON matches (first_seat);
    CREATE INDEX matches_by_second_seat ON matches (second_seat);
    CREATE INDEX matches_open ON matches (open) WHERE open = 1;
", "
    ALTER TABLE matches ADD COLUMN origin BLOB;                           -- qiyou.control.Origin of a match from a file; NULL of others
    ALTER TABLE matches ADD COLUMN said TEXT;                             -- the same as small letters, to be searched
    ALTER TABLE matches ADD COLUMN said_winner INTEGER;                   -- as winner, where the file tells it and the record does not
    -- The file as it came in, with its comments and variations: given back while the record is still what was read of it.
    CREATE TABLE files (
        match_id BLOB PRIMARY KEY REFERENCES matches ON DELETE CASCADE,
        ending   TEXT NOT NULL,                                           -- of its name: sgf
        actions  INTEGER NOT NULL,                                        -- that were read of it
        content  BLOB NOT NULL
    ) STRICT, WITHOUT ROWID;
", "
    -- From here on a seat may be guest:NAME, which earlier programs take for damage: they say that the file is newer instead.
", "
    ALTER TABLE matches ADD COLUMN help INTEGER NOT NULL DEFAULT 0;       -- qiyou.control.Help: what was done for the person here
", "
    -- From here on a seat may be bot:5.5. Earlier matches were against levels of another scale: they are not rated.
    ALTER TABLE matches ADD COLUMN rated INTEGER NOT NULL DEFAULT 0;      -- played from its start by the same seats
    ALTER TABLE matches ADD COLUMN adaptive INTEGER NOT NULL DEFAULT 0;   -- the bot's level follows the rating of the person here
    CREATE INDEX matches_rated ON matches (game, changed_unix_ms) WHERE rated = 1 AND ending IS NOT NULL;
", "
    -- The result for the person here, as qiyou.control.Outcome; 5 where it is neither won nor lost, and no draw.
    ALTER TABLE matches ADD COLUMN went INTEGER GENERATED ALWAYS AS (
        CASE WHEN ending IS NULL THEN CASE WHEN said_winner IS NULL THEN 1 WHEN said_winner = 0 THEN 4 ELSE 5 END
        WHEN coalesce(winner, 0) = 0 THEN 4
        WHEN winner NOT IN (1, 2) THEN 5
        WHEN game = 5 AND substr(first_seat, 1, 5) <> 'peer:' AND substr(second_seat, 1, 5) <> 'peer:'
            AND substr(first_seat, 1, 6) <> 'guest:' AND substr(second_seat, 1, 6) <> 'guest:' THEN 2
        WHEN (first_seat = 'here') = (second_seat = 'here') THEN 5
        WHEN (winner = 1) = (first_seat = 'here') THEN 2
        ELSE 3 END) VIRTUAL;
    -- 1 a bot, 2 both sides here, 0 others.
    ALTER TABLE matches ADD COLUMN against INTEGER GENERATED ALWAYS AS (
        CASE WHEN substr(first_seat, 1, 4) = 'bot:' OR substr(second_seat, 1, 4) = 'bot:' THEN 1
        WHEN first_seat = 'here' AND second_seat = 'here' AND said IS NULL THEN 2
        ELSE 0 END) VIRTUAL;
    -- Pages of the list. Only matches without an open room: a move writes none of these indexes.
    CREATE INDEX matches_against ON matches (against, game, went, changed_unix_ms) WHERE open = 0;
    CREATE INDEX matches_of_first ON matches (first_seat, game, went, changed_unix_ms) WHERE open = 0 AND first_seat <> 'here';
    CREATE INDEX matches_of_second ON matches (second_seat, game, went, changed_unix_ms) WHERE open = 0 AND second_seat <> 'here';
    CREATE INDEX matches_said ON matches (game, went, changed_unix_ms, match_id, said) WHERE open = 0 AND said IS NOT NULL;
", "
    -- Hints that each side has taken in a match with another person, where they are agreed; NULL in others.
    ALTER TABLE matches ADD COLUMN first_hints INTEGER;
    ALTER TABLE matches ADD COLUMN second_hints INTEGER;
", "
    -- Positions in which the person here made a mistake, to be tried again in Leitner's boxes.
    CREATE TABLE mistakes (
        mistake       TEXT PRIMARY KEY,                                -- yours-DIGEST, of setup and actions
        match_id      BLOB NOT NULL REFERENCES matches ON DELETE CASCADE, -- the last one with it
        game          INTEGER NOT NULL,                                -- qiyou.board.Game
        setup         BLOB NOT NULL,                                   -- qiyou.board.Setup
        actions       BLOB NOT NULL,                                   -- of the record before it, packed as in qiyou.peer.Record
        played        BLOB NOT NULL,                                   -- qiyou.board.Action
        better        BLOB NOT NULL,                                   -- qiyou.board.Action, the best one known
        chance        INTEGER NOT NULL,                                -- with the best one, -1000 to 1000
        lost          INTEGER NOT NULL,                                -- of it, by what was played
        why_zh        TEXT,                                            -- NULL where no reason is known
        why_en        TEXT,
        level         INTEGER NOT NULL,                                -- 0 new, 1 to 5 the boxes, 6 learnt
        due_day       INTEGER NOT NULL,                                -- local days since 1 January 1970
        added_unix_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX mistakes_of_game ON mistakes (game, level, due_day);
    CREATE INDEX mistakes_of_match ON mistakes (match_id);
", "
    CREATE TABLE clubs (
        club  INTEGER PRIMARY KEY,
        name  TEXT NOT NULL,
        setup BLOB NOT NULL,                        -- qiyou.board.Setup
        pace  BLOB,                                 -- qiyou.board.Pace; NULL without clocks
        twice INTEGER NOT NULL,                     -- a double round robin
        phase INTEGER NOT NULL                      -- 0 gathering, 1 running, 2 finished
    ) STRICT;
    CREATE TABLE club_players (
        club   INTEGER NOT NULL REFERENCES clubs ON DELETE CASCADE,
        player INTEGER NOT NULL,                    -- 1 to 255, in the order in which they came
        name   TEXT NOT NULL,
        kind   TEXT NOT NULL,                       -- here, friend:KEY, guest or nobody
        number INTEGER NOT NULL,                    -- in the table; 0 before the start
        gone   INTEGER NOT NULL,                    -- left after the start
        PRIMARY KEY (club, player)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE club_games (
        club   INTEGER NOT NULL REFERENCES clubs ON DELETE CASCADE,
        round  INTEGER NOT NULL,
        board  INTEGER NOT NULL,
        first  INTEGER NOT NULL,                    -- player
        second INTEGER NOT NULL,
        begun  INTEGER NOT NULL,
        room   BLOB CHECK (length(room) = 16),      -- the match; it may be deleted or never have begun
        result INTEGER,                             -- qiyou.control.ClubResult; NULL while it is not over
        PRIMARY KEY (club, round, board)
    ) STRICT, WITHOUT ROWID;
", super::standing::TABLES, "
    -- Comments and side lines. They are on this device alone: no part of the record, and not in the view of it.
    CREATE TABLE notes (
        match_id BLOB PRIMARY KEY REFERENCES matches ON DELETE CASCADE,
        content  BLOB NOT NULL,                     -- as store/notes.rs has it
        edited   INTEGER NOT NULL                   -- they are no longer what the file has
    ) STRICT, WITHOUT ROWID;
", super::made_puzzles::TABLES,
];

/// Opens the database, and migrates it to the present schema.
pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    let mut connection = Connection::open(path).map_err(|error| explain(path, &error))?;
    match prepare(&mut connection, path) {
        Ok(()) => Ok(connection),
        Err(Prepare::Sqlite(error)) => Err(explain(path, &error)),
        Err(Prepare::Store(error)) => Err(error),
    }
}

/// Opens a database to be read, also while [`connect`]'s connection writes it.
pub(super) fn connect_to_read(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    distrust(&connection)?;
    Ok(connection)
}

/// Refuses the database of a newer program, which stays as it is. Anything else that is wrong with a file is found when it is opened
/// to be used.
pub(crate) fn refuse_newer(path: &Path) -> Result<(), StoreError> {
    // SQLite would follow a link, and wait for a pipe.
    let is_file = |path: &Path| fs::symlink_metadata(path).map(|found| found.is_file());
    if !is_file(path).unwrap_or(false) || !is_file(&log_of(path)).unwrap_or(true) {
        return Ok(());
    }
    let look = || -> Result<i64, Prepare> {
        let connection = Connection::open(path)?;
        // Set before anything is read, so that the log's index is kept in memory: the one beside the file stays as it is, too.
        connection.pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(()))?;
        version(&connection, path)
    };
    match look() {
        Err(Prepare::Store(error)) => Err(error),
        Ok(_) | Err(Prepare::Sqlite(_)) => Ok(()),
    }
}

/// The file may come from anywhere (such as a restored backup): its schema is not trusted, and cannot be modified.
fn distrust(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.pragma_update(None, "trusted_schema", false)
}

fn log_of(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    PathBuf::from(log)
}

/// The version of the schema, of a file that is not newer than this program. The file stays as it is.
fn version(connection: &Connection, path: &Path) -> Result<i64, Prepare> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    distrust(connection)?;
    // The log of a program that was killed stays beside a file that is newer or damaged: closing would merge the two.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, log_of(path).exists())?;
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let known = MIGRATIONS.len() as i64;
    if found > known {
        return Err(Prepare::Store(StoreError::Newer { path: path.to_owned(), found, known }));
    }
    Ok(found)
}

fn prepare(connection: &mut Connection, path: &Path) -> Result<(), Prepare> {
    // The version is read before anything is written, so that a newer file stays unchanged.
    let found = version(connection, path)?;
    let check: String = connection.pragma_query_value(None, "quick_check", |row| row.get(0))?;
    if check != "ok" {
        return Err(Prepare::Store(StoreError::Damaged { path: path.to_owned(), what: check }));
    }
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    if found != MIGRATIONS.len() as i64 {
        migrate(connection, path, found)?;
    }
    // The journal mode is a byte of the file: changed last, so that a file that cannot be used stays unchanged.
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    Ok(())
}

/// All migrations after version `found`, or none.
fn migrate(connection: &mut Connection, path: &Path, found: i64) -> Result<(), Prepare> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for migration in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        transaction.execute_batch(migration).map_err(|error| {
            if !says_no_such_schema(&error) {
                return Prepare::Sqlite(error);
            }
            let what = format!("the tables are not those of version {found}");
            Prepare::Store(StoreError::Damaged { path: path.to_owned(), what })
        })?;
    }
    transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
    Ok(transaction.commit()?)
}

/// SQLITE_ERROR: a table or column exists already, or does not exist. `quick_check` does not see that.
fn says_no_such_schema(error: &rusqlite::Error) -> bool {
    let (rusqlite::Error::SqliteFailure(error, _) | rusqlite::Error::SqlInputError { error, .. }) = error
    else {
        return false;
    };
    error.code == ErrorCode::Unknown
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
