//! Reading of files that people choose; writing of the app's own: preferences and caches.

use std::fs;
use std::io::{self, Read as _};
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

/// Reads the file of a game: a limited number of bytes, because a path may be an endless file such as a device.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    let limit = proto::limits::FILE_BYTES as u64;
    fs::File::open(path)?.take(limit + 1).read_to_end(&mut content)?;
    if content.len() as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than any game"));
    }
    Ok(content)
}
