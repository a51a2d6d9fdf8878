//! The files of games that people choose.

use std::fs::{self, File};
use std::io::{Error, ErrorKind, Read as _, Result};
use std::path::Path;

/// Reads the file of a game, at most [`FILE_BYTES`](proto::limits::FILE_BYTES). A device, which may be endless, and a pipe, which
/// would be waited for, are refused.
pub fn read_game(path: &Path) -> Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "this is no file of a game"));
    }
    let limit = proto::limits::FILE_BYTES as u64;
    let mut content = Vec::new();
    File::open(path)?.take(limit + 1).read_to_end(&mut content)?;
    if content.len() as u64 > limit {
        return Err(Error::new(ErrorKind::FileTooLarge, "larger than any game"));
    }
    Ok(content)
}
