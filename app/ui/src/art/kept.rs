//! Cache of sprites between starts: rasterising those of the home page takes half of the time until the window is visible.
//!
//! Entries that are unreadable, damaged or outdated are ignored, and the sprites are drawn again.

use std::collections::HashMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use prost::Message;
use slint::{Rgba8Pixel, SharedPixelBuffer};

use crate::files;

/// Maximum size of the cache in bytes: several times the sprites of a window that fills a handheld's screen.
const LARGEST: usize = 8 << 20;

/// Size of the CRC-32 at the beginning of the file, in bytes.
const SUM: usize = 4;

/// Hash of a drawing, which includes its size.
pub(super) type Drawn = u64;

/// The key of a drawing. It may change with the version of Rust or of the app, which only costs a redraw.
pub(super) fn of(svg: &str) -> Drawn {
    let mut hasher = DefaultHasher::new();
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    svg.hash(&mut hasher);
    hasher.finish()
}

#[derive(Clone, PartialEq, Message)]
struct File {
    #[prost(message, repeated, tag = "1")]
    pictures: Vec<Picture>,
}

/// Rows from the top, four bytes per pixel (RGBA), premultiplied alpha.
#[derive(Clone, PartialEq, Message)]
struct Picture {
    #[prost(fixed64, tag = "1")]
    drawn: u64,
    #[prost(uint32, tag = "2")]
    width: u32,
    #[prost(uint32, tag = "3")]
    height: u32,
    #[prost(bytes = "vec", tag = "4")]
    pixels: Vec<u8>,
}

type Buffer = SharedPixelBuffer<Rgba8Pixel>;

/// Sprites of earlier starts, and new ones of this start until they are written.
pub(super) struct Kept {
    path: PathBuf,
    earlier: HashMap<Drawn, Buffer>,
    used: HashMap<Drawn, Buffer>,
    drawn: bool,
}

impl Kept {
    /// Reads the cache file.
    pub(super) fn read(path: PathBuf) -> Self {
        let earlier = read(&path).unwrap_or_else(|error| {
            if error.kind() != io::ErrorKind::NotFound {
                tracing::debug!(%error, path = %path.display(), "no pictures of an earlier start");
            }
            HashMap::new()
        });
        Self { path, earlier, used: HashMap::new(), drawn: false }
    }

    /// The sprite of this drawing, if it is cached in this size.
    pub(super) fn take(&mut self, drawn: Drawn, width: u32, height: u32) -> Option<Buffer> {
        let found = self.earlier.get(&drawn).filter(|one| (one.width(), one.height()) == (width, height))?;
        self.used.insert(drawn, found.clone());
        Some(found.clone())
    }

    /// Adds a sprite that had to be drawn.
    pub(super) fn put(&mut self, drawn: Drawn, pixels: &Buffer) {
        self.drawn = true;
        self.used.insert(drawn, pixels.clone());
    }

    /// Writes the sprites used in this start, if any had to be drawn, on a thread of its own.
    pub(super) fn write(self) {
        let bytes: usize = self.used.values().map(|one| one.as_bytes().len()).sum();
        if !self.drawn || bytes > LARGEST {
            return;
        }
        let work = move || {
            if let Err(error) = write(&self.path, &self.used) {
                tracing::debug!(%error, path = %self.path.display(), "pictures cannot be kept");
            }
        };
        if let Err(error) = std::thread::Builder::new().name("pictures".into()).spawn(work) {
            tracing::debug!(%error, "no thread to keep pictures");
        }
    }
}

fn read(path: &Path) -> io::Result<HashMap<Drawn, Buffer>> {
    let size = fs::metadata(path)?.len();
    if size > 2 * LARGEST as u64 {
        return Err(io::Error::other("the file is too large"));
    }
    let bytes = fs::read(path)?;
    let (sum, message) = bytes.split_first_chunk::<SUM>().ok_or(io::ErrorKind::UnexpectedEof)?;
    if crc32fast::hash(message) != u32::from_le_bytes(*sum) {
        return Err(io::Error::other("the file is damaged"));
    }
    let file = File::decode(message)?;
    let sized = file.pictures.into_iter().filter_map(|one| {
        let expected = u64::from(one.width).checked_mul(u64::from(one.height) * 4);
        (expected == Some(one.pixels.len() as u64))
            .then(|| (one.drawn, Buffer::clone_from_slice(&one.pixels, one.width, one.height)))
    });
    Ok(sized.collect())
}

fn write(path: &Path, pictures: &HashMap<Drawn, Buffer>) -> io::Result<()> {
    let picture = |(&drawn, one): (&Drawn, &Buffer)| Picture {
        drawn,
        width: one.width(),
        height: one.height(),
        pixels: one.as_bytes().to_vec(),
    };
    let message = File { pictures: pictures.iter().map(picture).collect() }.encode_to_vec();
    let mut bytes = crc32fast::hash(&message).to_le_bytes().to_vec();
    bytes.extend_from_slice(&message);
    files::replace(path, &bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(byte: u8) -> Buffer {
        Buffer::clone_from_slice(&[byte; 24], 3, 2)
    }

    #[test]
    fn a_picture_is_there_at_the_next_start_in_the_size_it_was_drawn_in() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("deep").join("pictures");
        assert!(Kept::read(path.clone()).take(1, 3, 2).is_none(), "there is nothing yet");
        write(&path, &[(1, picture(7)), (2, picture(9))].into()).expect("written");
        let mut kept = Kept::read(path);
        assert_eq!(kept.take(1, 3, 2).expect("kept").as_bytes(), [7; 24]);
        assert!(kept.take(1, 2, 3).is_none() && kept.take(3, 3, 2).is_none());
        assert!(!kept.drawn && kept.used.len() == 1, "what is no longer used is not written again");
    }

    #[test]
    fn of_a_damaged_file_nothing_is_taken() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("pictures");
        write(&path, &[(1, picture(7))].into()).expect("written");
        let whole = fs::read(&path).expect("read");
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            fs::write(&path, &bytes).expect("written");
            assert!(read(&path).is_err(), "byte {at}");
            fs::write(&path, &whole[..at]).expect("written");
            assert!(read(&path).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn a_picture_that_is_not_as_large_as_it_says_is_left_out() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("pictures");
        let wrong = Picture { drawn: 1, width: u32::MAX, height: u32::MAX, pixels: vec![0; 4] };
        let message = File { pictures: vec![wrong] }.encode_to_vec();
        fs::write(&path, [&crc32fast::hash(&message).to_le_bytes()[..], &message].concat()).expect("written");
        assert!(read(&path).expect("undamaged").is_empty());
    }
}
