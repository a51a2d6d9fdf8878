//! What is kept, and the only way to write it.

use std::ops::Deref;

use tracing::{info, warn};

use crate::store::{Store, StoreError};

/// Reads as the [`Store`] does; writes through [`Journal::keep`] alone, so that no failed write goes unreported.
pub(crate) struct Journal {
    store: Store,
    /// Whether the last write succeeded.
    works: bool,
    /// Why writing stopped to work, until it has been told.
    trouble: Option<String>,
}

impl Journal {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, works: true, trouble: None }
    }

    /// Writes something. It is on disk when this returns `Ok`, and not at all otherwise.
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

    /// Why writing has stopped to work. Told once for each time that it stops.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn journal() -> (Journal, tempfile::TempDir) {
        let folder = tempfile::tempdir().expect("a folder for the test");
        (Journal::new(Store::open(folder.path()).expect("a disk that works")), folder)
    }

    #[test]
    fn trouble_with_the_disk_is_told_once_each_time_it_begins() {
        let (mut journal, _folder) = journal();
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
