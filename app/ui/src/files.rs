//! Writing of the app's own files: preferences and caches.

use std::fs;
use std::io;
use std::path::Path;

/// Replaces a file atomically: writes a new file beside it and renames that, so that a crash leaves the old or the new
/// content.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let beside = path.with_extension("new");
    fs::write(&beside, bytes)?;
    fs::rename(beside, path)
}
