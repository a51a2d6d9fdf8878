//! What an adapter was connected to before it became an access point: kept in a file until the adapter is connected again, for
//! the next start after a crash.

use std::fs;
use std::path::PathBuf;

use tracing::warn;

/// The file. Without a path nothing is kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct BeforeFile(Option<PathBuf>);

/// What is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Before {
    /// The adapter's interface, such as `wlan0`.
    pub(super) interface: String,
    /// UUID of the connection profile.
    pub(super) uuid: String,
    /// The name of the access point's profile, which is that of its network: known before there is one.
    pub(super) ours: String,
}

impl BeforeFile {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self(Some(path))
    }

    pub(crate) fn exists(&self) -> bool {
        self.0.as_ref().is_some_and(|path| path.exists())
    }

    pub(super) fn keep(&self, before: &Before) {
        let Some(path) = &self.0 else { return };
        let text = format!("{}\n{}\n{}\n", before.interface, before.uuid, before.ours);
        if let Err(error) = fs::write(path, text) {
            warn!(%error, "after a crash the network of before would not come back");
        }
    }

    /// `None` also if the file is damaged.
    pub(super) fn read(&self) -> Option<Before> {
        let text = fs::read_to_string(self.0.as_ref()?).ok()?;
        let mut lines = text.lines().map(str::to_owned);
        Some(Before { interface: lines.next()?, uuid: lines.next()?, ours: lines.next()? })
    }

    /// Forgets what was read, unless another access point has begun since.
    pub(super) fn forget_if(&self, read: Option<&Before>) {
        if self.read().as_ref() == read {
            self.forget();
        }
    }

    fn forget(&self) {
        if let Some(path) = &self.0 {
            // It may not exist.
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_read_until_it_is_forgotten_and_half_a_file_is_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("hotspot");
        let file = BeforeFile::at(path.clone());
        assert_eq!((file.exists(), file.read()), (false, None));
        let before = Before { interface: "wlan0".into(), uuid: "one".into(), ours: "two".into() };
        file.keep(&before);
        assert_eq!(file.read(), Some(before));
        fs::write(&path, "wlan0\n").expect("written");
        assert_eq!(file.read(), None);
        file.forget();
        assert!(!file.exists());
    }

    #[test]
    fn what_another_access_point_has_kept_since_is_not_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = BeforeFile::at(folder.path().join("hotspot"));
        let before = |uuid: &str| Before { interface: "wlan0".into(), uuid: uuid.into(), ours: "two".into() };
        file.keep(&before("one"));
        let read = file.read();
        file.keep(&before("other"));
        file.forget_if(read.as_ref());
        assert_eq!(file.read(), Some(before("other")));
        file.forget_if(file.read().as_ref());
        assert!(!file.exists());
    }
}
