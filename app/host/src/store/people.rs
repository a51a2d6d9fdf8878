//! Storage of friends and blocked players.

use rusqlite::params;

use super::matches::seat_text;
use super::{ADVERT_KEY, Store, StoreError, readable};
use crate::room::{PlayerId, Seat};

/// A stored friend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SavedFriend {
    pub(crate) key: PlayerId,
    pub(crate) name: String,
    pub(crate) advert_key: [u8; 32],
    pub(crate) met_unix_ms: i64,
    /// Chat messages of this friend are hidden.
    pub(crate) muted: bool,
    /// The user's note; may be empty.
    pub(crate) note: String,
}

/// A blocked player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SavedBlocked {
    pub(crate) key: PlayerId,
    /// The name in its last hello.
    pub(crate) name: String,
    pub(crate) since_unix_ms: i64,
    /// For a former friend: its advertising key, to recognise its tags.
    pub(crate) advert_key: Option<[u8; 32]>,
    /// The address at which the player was last met, in the format of its carrier.
    pub(crate) address: Option<String>,
}

impl Store {
    pub(crate) fn friends(&self) -> Result<Vec<SavedFriend>, StoreError> {
        let read = || {
            let mut statement = self.connection.prepare_cached(
                "SELECT key, name, advert_key, met_unix_ms, muted, note FROM friends ORDER BY name, key",
            )?;
            let rows = statement.query_map([], |row| {
                Ok(SavedFriend {
                    key: PlayerId(row.get(0)?),
                    name: row.get(1)?,
                    advert_key: row.get(2)?,
                    met_unix_ms: row.get(3)?,
                    muted: row.get(4)?,
                    note: row.get(5)?,
                })
            })?;
            readable(rows)
        };
        read().map_err(|error| self.explain(error))
    }

    /// Stores whether a friend's chat messages are hidden.
    pub(crate) fn set_muted(&mut self, key: PlayerId, muted: bool) -> Result<(), StoreError> {
        self.connection
            .execute("UPDATE friends SET muted = ?2 WHERE key = ?1", params![key.0, muted])
            .map(drop)
            .map_err(|error| self.explain(error))
    }

    /// Stores the user's note about a friend.
    pub(crate) fn set_note(&mut self, key: PlayerId, note: &str) -> Result<(), StoreError> {
        self.connection
            .execute("UPDATE friends SET note = ?2 WHERE key = ?1", params![key.0, note])
            .map(drop)
            .map_err(|error| self.explain(error))
    }

    /// Adds a friend, or updates name and advertising key; the other columns are kept.
    pub(crate) fn put_friend(&mut self, friend: &SavedFriend) -> Result<(), StoreError> {
        self.connection
            .execute(
                "INSERT INTO friends (key, name, advert_key, met_unix_ms) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (key) DO UPDATE SET name = excluded.name, advert_key = excluded.advert_key",
                params![friend.key.0, friend.name, friend.advert_key, friend.met_unix_ms],
            )
            .map(drop)
            .map_err(|error| self.explain(error))
    }

    /// Removes a friend, and replaces this device's advertising key. Matches with the friend are closed and kept as records.
    pub(crate) fn forget(&mut self, key: PlayerId, advert_key: &[u8; 32]) -> Result<(), StoreError> {
        self.in_transaction(|transaction| forget(transaction, key, advert_key))
    }

    /// Blocks a player. If the player was a friend, this device's advertising key is replaced.
    pub(crate) fn block(
        &mut self,
        blocked: &SavedBlocked,
        new_advert_key: Option<&[u8; 32]>,
    ) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            if let Some(advert_key) = new_advert_key {
                forget(transaction, blocked.key, advert_key)?;
            }
            transaction
                .execute(
                    "INSERT OR REPLACE INTO blocked (key, name, since_unix_ms, advert_key, address)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                    params![
                        blocked.key.0,
                        blocked.name,
                        blocked.since_unix_ms,
                        blocked.advert_key,
                        blocked.address
                    ],
                )
                .map(drop)
        })
    }

    pub(crate) fn unblock(&mut self, key: PlayerId) -> Result<(), StoreError> {
        self.connection
            .execute("DELETE FROM blocked WHERE key = ?1", [key.0])
            .map(drop)
            .map_err(|error| self.explain(error))
    }

    pub(crate) fn blocked(&self) -> Result<Vec<SavedBlocked>, StoreError> {
        let read = || {
            let mut statement = self
                .connection
                .prepare_cached("SELECT key, name, since_unix_ms, advert_key, address FROM blocked")?;
            let rows = statement.query_map([], |row| {
                Ok(SavedBlocked {
                    key: PlayerId(row.get(0)?),
                    name: row.get(1)?,
                    since_unix_ms: row.get(2)?,
                    advert_key: row.get(3)?,
                    address: row.get(4)?,
                })
            })?;
            readable(rows)
        };
        read().map_err(|error| self.explain(error))
    }

    /// Merges a friend into the friend with the new key: all its matches get the new key, and the old friend is removed. The value of
    /// the old setting becomes that of the new one, unless there is one.
    pub(crate) fn same_person(
        &mut self,
        old: PlayerId,
        new: PlayerId,
        advert_key: &[u8; 32],
        [old_setting, new_setting]: &[String; 2],
    ) -> Result<(), StoreError> {
        let [from, to] = [old, new].map(|key| seat_text(Seat::Peer(key)));
        self.in_transaction(|transaction| {
            for seat in ["first_seat", "second_seat"] {
                transaction.execute(
                    &format!("UPDATE matches SET {seat} = ?2, settled = 0 WHERE {seat} = ?1"),
                    [&from, &to],
                )?;
            }
            // Matches that were settled with the old device do not concern the new one.
            transaction.execute(
                "UPDATE matches SET settled = 1 WHERE ending IS NOT NULL AND (first_seat = ?1 OR second_seat = ?1)",
                [&to],
            )?;
            transaction.execute(
                "UPDATE friends SET note = (SELECT note FROM friends WHERE key = ?1)
                 WHERE key = ?2 AND note = ''",
                params![old.0, new.0],
            )?;
            transaction.execute(
                "INSERT OR IGNORE INTO settings (key, value) SELECT ?2, value FROM settings WHERE key = ?1",
                [old_setting, new_setting],
            )?;
            transaction.execute(
                "UPDATE friends SET muted = 1 WHERE key = ?2 AND (SELECT muted FROM friends WHERE key = ?1)",
                params![old.0, new.0],
            )?;
            forget(transaction, old, advert_key)
        })
    }
}

fn forget(
    transaction: &rusqlite::Transaction<'_>,
    key: PlayerId,
    advert_key: &[u8; 32],
) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM friends WHERE key = ?1", [key.0])?;
    transaction.execute("DELETE FROM promised WHERE peer = ?1", [key.0])?;
    transaction.execute(
        "INSERT OR REPLACE INTO settings (key, value) VALUES (?1, ?2)",
        params![ADVERT_KEY, advert_key],
    )?;
    transaction
        .execute(
            "UPDATE matches SET open = 0 WHERE first_seat = ?1 OR second_seat = ?1",
            [seat_text(Seat::Peer(key))],
        )
        .map(drop)
}

#[cfg(test)]
mod tests {
    use engine::{GameKind, Side};
    use session::{MatchId, MatchRecord};

    use super::*;

    const OLD: PlayerId = PlayerId([7; 32]);
    const NEW: PlayerId = PlayerId([8; 32]);

    fn store() -> (tempfile::TempDir, Store) {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::open(directory.path()).expect("opens");
        (directory, store)
    }

    fn friend(key: PlayerId, note: &str) -> SavedFriend {
        SavedFriend {
            key,
            name: "Ben".into(),
            advert_key: key.0,
            met_unix_ms: 5,
            muted: false,
            note: note.into(),
        }
    }

    fn begin(store: &mut Store, number: u8, with: PlayerId) {
        let record = MatchRecord::new(MatchId([number; 16]), GameKind::Gomoku.default_setup(), Side::First);
        store.begin(&record, [Seat::Here, Seat::Peer(with)], 1).expect("saved");
    }

    #[test]
    fn who_is_blocked_stays_so_and_is_no_friend() {
        let (directory, mut store) = store();
        store.put_friend(&friend(OLD, "")).expect("saved");
        begin(&mut store, 1, OLD);
        let blocked = SavedBlocked {
            key: OLD,
            name: "Ben".into(),
            since_unix_ms: 9,
            advert_key: Some([7; 32]),
            address: Some("Bluetooth:00:11".into()),
        };
        store.block(&blocked, Some(&[3; 32])).expect("saved");
        drop(store);
        let mut store = Store::open(directory.path()).expect("opens again");
        assert_eq!(store.blocked().expect("read"), [blocked]);
        assert!(store.friends().expect("read").is_empty());
        assert_eq!(store.advert_key().expect("read"), Some([3; 32]));
        assert!(store.open_matches().expect("read").is_empty());
        assert!(store.load(MatchId([1; 16])).expect("read").is_some(), "the record stays");
        store.unblock(OLD).expect("saved");
        assert!(store.blocked().expect("read").is_empty());
    }

    #[test]
    fn a_friend_with_a_new_key_takes_over_matches_note_and_silence() {
        let (_directory, mut store) = store();
        for key in [OLD, NEW] {
            store.put_friend(&friend(key, "")).expect("saved");
        }
        store.set_note(OLD, "plays at lunch").expect("saved");
        store.set_muted(OLD, true).expect("saved");
        begin(&mut store, 1, OLD);
        begin(&mut store, 2, OLD);
        let resigned = session::MatchResult::Resigned(Side::First);
        store.end(MatchId([2; 16]), 0, resigned, 2).expect("saved");
        let settings = ["of/old", "of/new"].map(String::from);
        store.set_setting("of/old", "old@example.org").expect("saved");
        store.same_person(OLD, NEW, &[3; 32], &settings).expect("saved");
        let account = ("new".to_owned(), "old@example.org".to_owned());
        assert!(
            store.settings_of("of/").expect("read").contains(&account),
            "the account is the same person's"
        );
        store.set_setting("of/old", "older@example.org").expect("saved");
        store.same_person(OLD, NEW, &[3; 32], &settings).expect("saved");
        assert!(store.settings_of("of/").expect("read").contains(&account), "one that is known is kept");
        let taken_over = SavedFriend { muted: true, ..friend(NEW, "plays at lunch") };
        assert_eq!(store.friends().expect("read"), [taken_over], "who was muted stays so");
        let unfinished = store.load(MatchId([1; 16])).expect("read").expect("there");
        assert_eq!(
            (unfinished.seats[1].clone(), unfinished.open, unfinished.settled),
            (Seat::Peer(NEW), true, false)
        );
        let over = store.load(MatchId([2; 16])).expect("read").expect("there");
        assert_eq!((over.seats[1].clone(), over.settled), (Seat::Peer(NEW), true));
        assert!(store.matches_with(OLD).expect("read").is_empty());
    }
}
