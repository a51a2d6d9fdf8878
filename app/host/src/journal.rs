//! The journal: all persistent state, and the only way to write it.

use std::ops::Deref;

use proto::control;
use session::{Capabilities, Entry};
use tracing::{info, warn};

use crate::room::PlayerId;
use crate::store::{SavedFriend, Store, StoreError};

/// Prefix of settings keys, followed by a friend's key: carrier of the pairing.
pub(crate) const MET_BY: &str = "met_by/";

/// Prefix of settings keys, followed by a friend's key: the friend's XMPP address.
pub(crate) const ACCOUNT_OF: &str = "account_of/";

/// Prefix of settings keys, followed by the account of a player that the user has removed or blocked: the player's key.
#[cfg(feature = "online")]
pub(crate) const PARTED_ACCOUNT: &str = "parted_account/";

/// One of the capabilities.
type Capability = fn(&mut Capabilities) -> &mut bool;

/// Prefixes of settings keys, followed by a friend's key: `yes` or `no`, whether the friend's version has this capability by its
/// last hello.
pub(crate) const CAPABILITIES: [(&str, Capability); 4] = [
    ("knows_hints/", |they| &mut they.hints),
    ("knows_starts/", |they| &mut they.starts),
    ("knows_openings/", |they| &mut they.openings),
    ("knows_chinese_repetition/", |they| &mut they.chinese_repetition),
];

/// Dereferences to [`Store`] for reading; writing is possible through [`Journal::keep`] only, so that every failed write is
/// reported.
pub(crate) struct Journal {
    store: Store,
    /// Whether the last write succeeded.
    works: bool,
    /// Why writing has started to fail, until reported.
    trouble: Option<String>,
}

impl Journal {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, works: true, trouble: None }
    }

    /// A journal in a folder of its own, which is removed with the second value.
    #[cfg(test)]
    pub(crate) fn for_test() -> (Self, tempfile::TempDir) {
        let folder = tempfile::tempdir().expect("a folder for the test");
        (Self::new(Store::open(folder.path()).expect("a disk that works")), folder)
    }

    /// Writes in one transaction. When it returns `Ok` the data is on disk; otherwise nothing of it is.
    pub(crate) fn keep<T>(
        &mut self,
        write: impl FnOnce(&mut Store) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let written = write(&mut self.store);
        match &written {
            Ok(_) if !self.works => {
                info!("saving works again");
                self.works = true;
                self.trouble = None;
            }
            Err(error) if self.works => {
                warn!(%error, "could not save: play stops until it can be");
                self.works = false;
                self.trouble = Some(error.to_string());
            }
            Ok(_) | Err(_) => {}
        }
        written
    }

    /// A line of the doctor's report: whether matches can be saved, by a write.
    pub(crate) fn check(&mut self) -> control::Check {
        let (state, found, remedy) = match self.keep(Store::probe) {
            Ok(()) => match &self.set_aside {
                None => (control::CheckState::CheckOk, "matches can be saved".into(), ""),
                Some(aside) => (
                    control::CheckState::CheckWarning,
                    format!(
                        "the file was damaged: it lies at {}, and what could be read is kept",
                        aside.display()
                    ),
                    "Keep that file until you are sure that you miss nothing.",
                ),
            },
            Err(error) => (
                control::CheckState::CheckFailed,
                error.to_string(),
                "Free some space, or see to the permissions of the data directory: nothing is lost.",
            ),
        };
        control::Check { subject: "storage".into(), state: state.into(), found, remedy: remedy.into() }
    }

    /// Why writing has started to fail; returned once per failure period.
    pub(crate) fn take_trouble(&mut self) -> Option<String> {
        self.trouble.take()
    }
}

impl Deref for Journal {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

/// The journal as [`session::Journal`] of one peer's session.
pub(crate) struct OfPeer<'a> {
    pub(crate) journal: &'a mut Journal,
    pub(crate) key: PlayerId,
    /// Unix time in milliseconds.
    pub(crate) now: i64,
    pub(crate) friend: Option<&'a SavedFriend>,
    /// Carrier of the link.
    pub(crate) carrier: Option<control::Carrier>,
    /// Whether the carrier of the pairing is known; for a friend added by code it is not.
    pub(crate) met_by: bool,
    /// Friends written so far.
    pub(crate) met: Vec<Met>,
}

/// A friend that was written.
pub(crate) struct Met {
    pub(crate) friend: SavedFriend,
    /// Carrier of the pairing, if it was unknown before.
    pub(crate) carrier: Option<control::Carrier>,
    /// The previous name, if it has changed; empty if this is the first one.
    pub(crate) renamed: Option<String>,
}

impl session::Journal for OfPeer<'_> {
    type Error = StoreError;

    fn keep(&mut self, entry: &Entry) -> Result<(), StoreError> {
        let (key, now) = (self.key, self.now);
        let Entry::Friend { name, advert_key } = entry else {
            return self.journal.keep(|store| store.write_entry(key, entry, now));
        };
        let met = self.met.last().map(|met| &met.friend).or(self.friend);
        let renamed = met.map(|friend| friend.name.clone()).filter(|before| before != name);
        let friend = SavedFriend {
            key,
            name: name.clone(),
            advert_key: *advert_key,
            met_unix_ms: met.map_or(now, |friend| friend.met_unix_ms),
            muted: met.is_some_and(|friend| friend.muted),
            note: met.map_or_else(String::new, |friend| friend.note.clone()),
        };
        self.journal.keep(|store| store.put_friend(&friend))?;
        let carrier = self.carrier.filter(|_| !self.met_by);
        if let Some(carrier) = carrier {
            let name = carrier.as_str_name();
            self.journal.keep(|store| store.set_setting(&format!("{MET_BY}{key}"), name))?;
            self.met_by = true;
        }
        self.met.push(Met { friend, carrier, renamed });
        Ok(())
    }
}

/// The journal as [`session::Journal`] of a match without a peer.
pub(crate) struct OfRoom<'a> {
    pub(crate) journal: &'a mut Journal,
    /// Unix time in milliseconds.
    pub(crate) now: i64,
}

impl session::Journal for OfRoom<'_> {
    type Error = StoreError;

    fn keep(&mut self, entry: &Entry) -> Result<(), StoreError> {
        let now = self.now;
        self.journal.keep(|store| store.write_change(entry, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_with_the_disk_is_told_once_each_time_it_begins() {
        let (mut journal, _folder) = Journal::for_test();
        let full = |_: &mut Store| -> Result<(), StoreError> { Err(StoreError::DiskFull) };
        assert!(journal.keep(|store| store.set_setting("name", "Anna")).is_ok());
        assert_eq!(journal.take_trouble(), None);
        for begins in [true, false] {
            assert!(journal.keep(full).is_err());
            assert_eq!(journal.take_trouble().is_some(), begins);
        }
        assert!(journal.keep(|store| store.set_setting("name", "Ann")).is_ok());
        assert!(journal.keep(full).is_err());
        assert!(journal.take_trouble().is_some(), "it began again");
        assert_eq!(journal.setting("name").ok().flatten().as_deref(), Some("Ann"));
    }
}
