//! Storage of matches: writing while they are played, and reading.

use engine::{Action, GameKind, Setup, Side};
use prost::Message as _;
use proto::{board, control};
use rusqlite::{OptionalExtension as _, Row, params};
use session::{Consent, Entry, MatchId, MatchRecord, MatchResult, OfferKind, PROMISES, Pace, wire};
use tracing::warn;

use super::notes::{self, KeptNotes};
use super::{Store, StoreError, readable};
use crate::room::{EngineSeat, PlayerId, Seat};
use crate::show;

/// A stored match.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SavedMatch {
    pub(crate) record: MatchRecord,
    pub(crate) seats: [Seat; 2],
    /// Finished, and known to be equal on the peer's device.
    pub(crate) settled: bool,
    /// A room is open.
    pub(crate) open: bool,
    pub(crate) changed_unix_ms: i64,
    /// For an imported match: the file's header.
    pub(crate) origin: Option<control::Origin>,
}

/// The original file of an imported match.
pub(crate) struct KeptFile {
    /// Extension of the file name, such as sgf.
    pub(crate) ending: String,
    /// Number of actions read from the file.
    pub(crate) actions: u32,
    pub(crate) content: Vec<u8>,
}

/// Key of the setting that keeps what the last letter about a match said.
pub(crate) fn letter_written(id: MatchId) -> String {
    format!("letter_written/{id}")
}

impl Store {
    /// Stores a new match with the actions of its record. Replaces a match with the same id.
    pub(crate) fn begin(
        &mut self,
        record: &MatchRecord,
        seats: [Seat; 2],
        now_unix_ms: i64,
    ) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            transaction.execute("DELETE FROM matches WHERE match_id = ?1", [record.id.0])?;
            write_match(transaction, record, seats, now_unix_ms)?;
            transaction
                .execute(
                    "UPDATE matches SET rated = ?2 WHERE match_id = ?1",
                    params![record.id.0, record.actions.is_empty()],
                )
                .map(drop)
        })
    }

    /// Stores an entry of the session with this player.
    pub(crate) fn write_entry(&mut self, peer: PlayerId, entry: &Entry, now: i64) -> Result<(), StoreError> {
        match entry {
            Entry::Friend { .. } => unreachable!("a friend is no match"),
            Entry::Promised(id) => self.promise(peer, *id),
            Entry::Began(record) => self.begin(record, Seat::with(peer, record), now),
            Entry::Learned(record) => self.learn(record, Seat::with(peer, record), now),
            entry => self.write_change(entry, now),
        }
    }

    /// Stores a change of an existing match, with or without a peer.
    pub(crate) fn write_change(&mut self, entry: &Entry, now: i64) -> Result<(), StoreError> {
        match entry {
            Entry::Friend { .. } | Entry::Promised(_) | Entry::Began(_) | Entry::Learned(_) => {
                unreachable!("it changes no match")
            }
            Entry::Acted { id, ply, action, took_ms, result } => {
                self.append(*id, *ply, (*action, *took_ms), *result, now)
            }
            Entry::Pressed { id, pressed, spent_ms } => self.add_to_run(*id, pressed, *spent_ms, now),
            Entry::Ran { id, ply, run, mine, result } => {
                self.enter_run(*id, *ply, (run, *mine), *result, now)
            }
            Entry::TakenBack { id, ply, revision } => self.take_back(*id, *ply, *revision, now),
            Entry::Ended { id, revision, result } => self.end(*id, *revision, *result, now),
            Entry::Paused { id, revision, paused } => self.set_paused(*id, *revision, *paused, now),
            Entry::Spent { id, spent_ms } => self.set_spent(*id, *spent_ms),
            Entry::Offered { id, offered } => self.set_offered(*id, *offered, now),
            Entry::Hinted { id, hints } => self.set_hints(*id, *hints),
            Entry::Replaced(record) => self.replace(record, now),
            Entry::Settled(id) => self.settle(*id),
        }
    }

    /// Stores a copy of a friend's match, without a room.
    pub(crate) fn put_away(
        &mut self,
        record: &MatchRecord,
        seats: [Seat; 2],
        now_unix_ms: i64,
    ) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            write_match(transaction, record, seats, now_unix_ms)?;
            let put_away = "UPDATE matches SET open = 0 WHERE match_id = ?1";
            transaction.execute(put_away, [record.id.0]).map(drop)
        })
    }

    /// Allows a match to be learnt from this peer later. The last [`PROMISES`] with each peer are kept.
    fn promise(&mut self, peer: PlayerId, id: MatchId) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            transaction.execute(
                "INSERT OR REPLACE INTO promised (match_id, peer) VALUES (?1, ?2)",
                params![id.0, peer.0],
            )?;
            transaction
                .execute(
                    "DELETE FROM promised WHERE peer = ?1 AND number NOT IN
                         (SELECT number FROM promised WHERE peer = ?1 ORDER BY number DESC LIMIT ?2)",
                    params![peer.0, PROMISES as i64],
                )
                .map(drop)
        })
    }

    /// Ids of promised matches with this peer, oldest first.
    pub(crate) fn promised(&self, peer: PlayerId) -> Result<Vec<MatchId>, StoreError> {
        let read = || {
            let mut statement = self
                .connection
                .prepare_cached("SELECT match_id FROM promised WHERE peer = ?1 ORDER BY number")?;
            readable(statement.query_map([peer.0], |row| row.get(0).map(MatchId))?)
        };
        read().map_err(|error| self.explain(error))
    }

    /// Stores an imported match with its file and its notes, without a room.
    pub(crate) fn take_in(
        &mut self,
        record: &MatchRecord,
        seats: [Seat; 2],
        (origin, file, notes): (&control::Origin, &KeptFile, &KeptNotes),
        now_unix_ms: i64,
    ) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            write_match(transaction, record, seats, now_unix_ms)?;
            let control::Origin { first, second, event, date, score } = origin;
            let said = [first, second, event, date, score].map(|said| said.to_lowercase()).join("\n");
            let winner =
                show::said_end(origin).map(|end| end.winner.map_or(0, |side| 1 + side.index() as i64));
            transaction.execute(
                "UPDATE matches SET open = 0, origin = ?2, said = ?3, said_winner = ?4 WHERE match_id = ?1",
                params![record.id.0, origin.encode_to_vec(), said, winner],
            )?;
            transaction.execute(
                "INSERT INTO files (match_id, ending, actions, content) VALUES (?1, ?2, ?3, ?4)",
                params![record.id.0, file.ending, file.actions, file.content],
            )?;
            notes::write(transaction, record.id, notes)
        })
    }

    /// The original file of an imported match, if it is one.
    pub(crate) fn file_of(&self, id: MatchId) -> Result<Option<KeptFile>, StoreError> {
        let read =
            |row: &Row<'_>| Ok(KeptFile { ending: row.get(0)?, actions: row.get(1)?, content: row.get(2)? });
        self.connection
            .prepare_cached("SELECT ending, actions, content FROM files WHERE match_id = ?1")
            .and_then(|mut statement| statement.query_row([id.0], read).optional())
            .map_err(|error| self.explain(error))
    }

    /// The match that was imported from an identical file, if there is one.
    pub(crate) fn taken_from(&self, file: &KeptFile) -> Result<Option<MatchId>, StoreError> {
        self.connection
            .prepare_cached("SELECT match_id FROM files WHERE ending = ?1 AND content = ?2")
            .and_then(|mut statement| {
                statement
                    .query_row(params![file.ending, file.content], |row| row.get(0).map(MatchId))
                    .optional()
            })
            .map_err(|error| self.explain(error))
    }

    /// The UTC day of a time, such as 2026-11-24.
    pub(crate) fn day_of(&self, unix_ms: i64) -> Result<String, StoreError> {
        self.connection
            .query_row("SELECT date(?1, 'unixepoch')", [unix_ms / 1_000], |row| row.get(0))
            .map_err(|error| self.explain(error))
    }

    /// Stores a match that is already finished and settled when this device learns of it, without a room. Does nothing if a
    /// match with this id exists.
    pub(crate) fn learn(
        &mut self,
        record: &MatchRecord,
        seats: [Seat; 2],
        now_unix_ms: i64,
    ) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            transaction.execute("DELETE FROM promised WHERE match_id = ?1", [record.id.0])?;
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

    /// Replaces the record of a match.
    pub(crate) fn replace(&mut self, record: &MatchRecord, now_unix_ms: i64) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            transaction.execute("DELETE FROM actions WHERE match_id = ?1", [record.id.0])?;
            write_record(transaction, record, now_unix_ms)
        })
    }

    /// Appends action number `ply` (1-based), which must be the next one, with its time (0 without a pace), and the result
    /// if the match ends with it.
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
            write(transaction, id, Column::Spent, 0)?;
            result.map_or(Ok(()), |result| write_result(transaction, id, Some(result)))
        })
    }

    /// Race: appends a press of this device to its run, with the total time so far.
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
            write(transaction, id, Column::Run, &run)?;
            touch(transaction, id, now_unix_ms)?;
            write(transaction, id, Column::Spent, spent_ms)
        })
    }

    /// Race: appends a whole run to the record, which then has `ply` actions, and the result if the match ends with it.
    /// `mine`: the run of this device.
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
                write(transaction, id, Column::Run, [0_u8; 0])?;
                write(transaction, id, Column::Spent, 0)?;
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

    /// Truncates the record to `ply` actions, and removes the result.
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
            write(transaction, id, Column::Revision, revision)?;
            write(transaction, id, Column::Offered, None::<Vec<u8>>)?;
            write(transaction, id, Column::Spent, 0)?;
            write(transaction, id, Column::Paused, false)?;
            touch(transaction, id, now_unix_ms)?;
            write_result(transaction, id, None)
        })
    }

    /// Stores the result of a match.
    pub(crate) fn end(
        &mut self,
        id: MatchId,
        revision: u32,
        result: MatchResult,
        now_unix_ms: i64,
    ) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            write(transaction, id, Column::Revision, revision)?;
            write(transaction, id, Column::Paused, false)?;
            touch(transaction, id, now_unix_ms)?;
            write_result(transaction, id, Some(result))
        })
    }

    /// Stores whether the match is paused.
    pub(crate) fn set_paused(
        &mut self,
        id: MatchId,
        revision: u32,
        paused: bool,
        now_unix_ms: i64,
    ) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            write(transaction, id, Column::Revision, revision)?;
            write(transaction, id, Column::Paused, paused)?;
            touch(transaction, id, now_unix_ms)
        })
    }

    /// Stores the time used of the present action, when the clock stops.
    pub(crate) fn set_spent(&mut self, id: MatchId, spent_ms: u32) -> Result<(), StoreError> {
        self.in_transaction(|transaction| write(transaction, id, Column::Spent, spent_ms))
    }

    /// This device's side in the last match of this game with this player.
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

    /// Stores an offer of this device, which is its consent in advance.
    pub(crate) fn set_offered(
        &mut self,
        id: MatchId,
        offered: Option<Consent>,
        now_unix_ms: i64,
    ) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            touch(transaction, id, now_unix_ms)?;
            write(transaction, id, Column::Offered, offered.map(consent_bytes))
        })
    }

    /// Stores the number of hints that each side has taken. The match stays settled.
    pub(crate) fn set_hints(&mut self, id: MatchId, hints: [u32; 2]) -> Result<(), StoreError> {
        self.in_transaction(|transaction| write_hints(transaction, id, Some(hints)))
    }

    /// Marks the match as settled: finished, and known to be equal on the peer's device. Every later write clears the mark.
    pub(crate) fn settle(&mut self, id: MatchId) -> Result<(), StoreError> {
        self.connection
            .execute("UPDATE matches SET settled = 1 WHERE match_id = ?1", [id.0])
            .map(drop)
            .map_err(|error| self.explain(error))
    }

    /// Stores whether the match has an open room, now and after the next start.
    pub(crate) fn set_open(&mut self, id: MatchId, open: bool) -> Result<(), StoreError> {
        self.connection
            .execute("UPDATE matches SET open = ?2 WHERE match_id = ?1", params![id.0, open])
            .map(drop)
            .map_err(|error| self.explain(error))
    }

    /// Stores the seats.
    pub(crate) fn set_seats(&mut self, id: MatchId, seats: [Seat; 2]) -> Result<(), StoreError> {
        let [first, second] = seats.map(seat_text);
        self.connection
            .execute(
                "UPDATE matches SET first_seat = ?2, second_seat = ?3, rated =
                     rated AND NOT EXISTS (SELECT 1 FROM actions WHERE actions.match_id = matches.match_id)
                 WHERE match_id = ?1",
                params![id.0, first, second],
            )
            .map(drop)
            .map_err(|error| self.explain(error))
    }

    /// Matches with an open room.
    pub(crate) fn open_matches(&self) -> Result<Vec<SavedMatch>, StoreError> {
        self.matches("WHERE open = 1 ORDER BY changed_unix_ms", [])
    }

    /// The unsettled matches with this peer, with or without a room, and the last settled one; oldest first.
    pub(crate) fn matches_with(&self, peer: PlayerId) -> Result<Vec<SavedMatch>, StoreError> {
        self.matches(
            "WHERE (first_seat = ?1 OR second_seat = ?1) AND (settled = 0 OR match_id = (
                 SELECT match_id FROM matches WHERE settled = 1 AND (first_seat = ?1 OR second_seat = ?1)
                 ORDER BY changed_unix_ms DESC LIMIT 1))
             ORDER BY changed_unix_ms",
            [seat_text(Seat::Peer(peer))],
        )
    }

    /// Deletes a match permanently, with what is kept of letters about it.
    pub(crate) fn delete(&mut self, id: MatchId) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            transaction.execute("DELETE FROM settings WHERE key = ?1", [letter_written(id)])?;
            transaction.execute("DELETE FROM matches WHERE match_id = ?1", [id.0]).map(drop)
        })
    }

    /// The match with this id.
    pub(crate) fn load(&self, id: MatchId) -> Result<Option<SavedMatch>, StoreError> {
        self.each_match("WHERE match_id = ?1", [id.0])?.pop().transpose()
    }

    /// Whether there is a match with this id, also one that cannot be read. Reads nothing of the match, so that whoever asks for it
    /// again and again costs little.
    pub(crate) fn has_match(&self, id: MatchId) -> Result<bool, StoreError> {
        self.connection
            .prepare_cached("SELECT 1 FROM matches WHERE match_id = ?1 LIMIT 1")
            .and_then(|mut statement| statement.exists([id.0]))
            .map_err(|error| self.explain(error))
    }

    /// The selected matches that can be read. Unreadable ones stay in the file, for a program that can read them.
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
            origin: Option<Vec<u8>>,
            hints: [Option<u32>; 2],
        }
        let read = || -> rusqlite::Result<Vec<rusqlite::Result<Raw>>> {
            let sql = format!(
                "SELECT match_id, setup, first_seat, second_seat, revision, ending, winner, open, changed_unix_ms,
                     offered, settled, pace, paused, spent_ms, reveal, run, origin, first_hints, second_hints
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
                    origin: row.get(16)?,
                    hints: [row.get(17)?, row.get(18)?],
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
                        hints: match raw.hints {
                            [Some(first), Some(second)] => Some([first, second]),
                            _ => None,
                        },
                        offered,
                    },
                    seats: [first, second],
                    settled: raw.settled,
                    open: raw.open,
                    changed_unix_ms: raw.changed,
                    origin: parse_origin(raw.origin),
                })
            })
            .collect())
    }

    /// The actions of a match, with the time of each.
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
    write(transaction, record.id, Column::Run, wire::pack_actions(&record.run))?;
    write(transaction, record.id, Column::Spent, record.spent_ms)?;
    write(transaction, record.id, Column::Paused, record.paused)?;
    write(transaction, record.id, Column::Revision, record.revision)?;
    write(transaction, record.id, Column::Offered, record.offered.map(consent_bytes))?;
    write_hints(transaction, record.id, record.hints)?;
    touch(transaction, record.id, now_unix_ms)?;
    write_result(transaction, record.id, record.result)
}

fn write_hints(
    transaction: &rusqlite::Transaction<'_>,
    id: MatchId,
    hints: Option<[u32; 2]>,
) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("UPDATE matches SET first_hints = ?2, second_hints = ?3 WHERE match_id = ?1")?
        .execute(params![id.0, hints.map(|[first, _]| first), hints.map(|[_, second]| second)])
        .map(drop)
}

/// A column of `matches` that is updated alone.
#[derive(Clone, Copy)]
enum Column {
    Offered,
    Paused,
    Revision,
    Run,
    Spent,
}

fn write(
    transaction: &rusqlite::Transaction<'_>,
    id: MatchId,
    column: Column,
    value: impl rusqlite::ToSql,
) -> rusqlite::Result<()> {
    let statement = match column {
        Column::Offered => "UPDATE matches SET offered = ?2 WHERE match_id = ?1",
        Column::Paused => "UPDATE matches SET paused = ?2 WHERE match_id = ?1",
        Column::Revision => "UPDATE matches SET revision = ?2 WHERE match_id = ?1",
        Column::Run => "UPDATE matches SET run = ?2 WHERE match_id = ?1",
        Column::Spent => "UPDATE matches SET spent_ms = ?2 WHERE match_id = ?1",
    };
    transaction.prepare_cached(statement)?.execute(params![id.0, value]).map(drop)
}

/// Called by every write except `settle`: a changed match is not settled.
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

pub(super) fn setup_bytes(setup: &Setup) -> Vec<u8> {
    wire::setup(setup).encode_to_vec()
}

pub(super) fn parse_setup(bytes: &[u8]) -> Option<Setup> {
    wire::read_setup(Some(&board::Setup::decode(bytes).ok()?)).ok()
}

pub(super) fn parse_pace(bytes: &[u8]) -> Option<Pace> {
    Pace::read(Some(&board::Pace::decode(bytes).ok()?)).ok()?
}

/// An unreadable header counts as empty; the match itself is intact.
fn parse_origin(bytes: Option<Vec<u8>>) -> Option<control::Origin> {
    control::Origin::decode(bytes?.as_slice()).ok()
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

pub(super) fn seat_text(seat: Seat) -> String {
    match seat {
        Seat::Here => "here".into(),
        Seat::Bot(level) => format!("bot:{level}"),
        // As a bot, so that lists find it among the matches against the computer.
        Seat::Engine(engine) => format!("bot:{}|{}|{}", engine.stand_in, engine.seconds, engine.name),
        Seat::Peer(key) => format!("peer:{key}"),
        Seat::Guest(name) => format!("guest:{name}"),
    }
}

pub(super) fn parse_seat(text: &str) -> Option<Seat> {
    match text.split_once(':') {
        None => (text == "here").then_some(Seat::Here),
        Some(("bot", rest)) => match rest.split_once('|') {
            None => rest.parse().ok().map(Seat::Bot),
            Some((level, rest)) => {
                let (seconds, name) = rest.split_once('|')?;
                let (stand_in, seconds) = (level.parse().ok()?, seconds.parse().ok()?);
                let name = proto::limits::fit_name(name);
                Some(Seat::Engine(EngineSeat { name, seconds, stand_in }))
            }
        },
        Some(("peer", key)) => PlayerId::parse(key).map(Seat::Peer),
        // A file from elsewhere can contain any name.
        Some(("guest", name)) => Some(Seat::Guest(proto::limits::fit_name(name))),
        Some(_) => None,
    }
}

pub(super) fn action_bytes(action: Action) -> Vec<u8> {
    wire::action(action).encode_to_vec()
}

pub(super) fn parse_action(bytes: &[u8]) -> Option<Action> {
    wire::read_action(Some(&board::Action::decode(bytes).ok()?)).ok()
}
