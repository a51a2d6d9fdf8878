//! The app's own files: preferences, and what is kept between starts.

use std::path::Path;
use std::{fs, io};

/// Writes beside the old file, whose place it then takes, so that a crash leaves one or the other.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let beside = path.with_extension("new");
    fs::write(&beside, bytes)?;
    fs::rename(beside, path)
}
