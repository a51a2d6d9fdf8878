//! Thumbnails of game files for file managers: the last position, drawn without a display, a host or saves.

use std::io;
use std::path::Path;

use crate::art;
use crate::clipboard::Picture;

/// Maximum length of the longer edge, in pixels; the thumbnail specification's largest size is 1,024.
pub const MOST_PIXELS: u32 = 2_048;

/// Why a file has no thumbnail.
#[derive(Debug, thiserror::Error)]
pub enum ThumbnailError {
    /// The file cannot be read, or the PNG not be made.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is not one of the games, or has a mistake.
    #[error("{0}")]
    Unreadable(String),
}

/// Draws the last position of a game file as PNG, `pixels` along its longer edge, at most [`MOST_PIXELS`].
///
/// # Errors
/// If the file cannot be read, or is not one of the games.
pub fn thumbnail(file: &Path, pixels: u32) -> Result<Vec<u8>, ThumbnailError> {
    let content = client::files::read_game(file)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let board = host::position_in_file(&name, &content).map_err(ThumbnailError::Unreadable)?;
    let drawn = art::of_file(&board, pixels.min(MOST_PIXELS));
    let drawn = drawn.ok_or_else(|| ThumbnailError::Unreadable("its board cannot be drawn".into()))?;
    let (width, height, rgba) = (drawn.width(), drawn.height(), drawn.as_bytes().to_vec());
    Ok(Picture { width, height, rgba }.png()?)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Width and height of the PNG, and the colour at a point of the board given in parts of its width and height.
    fn drawn(name: &str, content: &str, pixels: u32) -> (u32, u32, impl Fn(f64, f64) -> [u8; 3] + use<>) {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(name);
        fs::write(&file, content).expect("written");
        let png = thumbnail(&file, pixels).expect("drawn");
        let mut reader = png::Decoder::new(io::Cursor::new(png)).read_info().expect("a PNG");
        let mut bytes = vec![0; reader.output_buffer_size().expect("it has a size")];
        let info = reader.next_frame(&mut bytes).expect("a frame");
        let at = move |x: f64, y: f64| {
            let column = (x * f64::from(info.width)) as usize;
            let index = ((y * f64::from(info.height)) as usize * info.width as usize + column) * 4;
            [bytes[index], bytes[index + 1], bytes[index + 2]]
        };
        (info.width, info.height, at)
    }

    fn is_dark(colour: [u8; 3]) -> bool {
        colour.iter().all(|part| *part < 0x60)
    }

    fn is_light(colour: [u8; 3]) -> bool {
        colour.iter().all(|part| *part > 0xD0)
    }

    #[test]
    fn a_thumbnail_has_the_stones_of_the_last_position() {
        let (width, height, at) = drawn("a game.sgf", "(;FF[4]GM[4]SZ[15];B[hh];W[ii])", 300);
        assert_eq!((width, height), (300, 300));
        assert!(is_dark(at(0.5, 0.49)), "{:?}", at(0.5, 0.49));
        assert!(is_light(at(8.5 / 15.0, 8.45 / 15.0)), "{:?}", at(8.5 / 15.0, 8.45 / 15.0));
        let wood = at(3.2 / 15.0, 3.2 / 15.0);
        assert!(!is_dark(wood) && !is_light(wood), "{wood:?}");
    }

    #[test]
    fn a_capture_is_gone_from_the_thumbnail_and_a_set_up_stone_is_on_it() {
        let capture = "(;FF[4]GM[1]SZ[9]AB[bb];W[aa];B[ab];W[ii];B[ba])";
        let (_, _, at) = drawn("capture.sgf", capture, 270);
        let point = |column: f64, row: f64| at((column + 0.62) / 9.0, (row + 0.4) / 9.0);
        assert!(is_dark(point(1.0, 1.0)), "set up: {:?}", point(1.0, 1.0));
        assert!(!is_light(point(0.0, 0.0)), "captured: {:?}", point(0.0, 0.0));
        assert!(is_light(point(8.0, 8.0)), "played: {:?}", point(8.0, 8.0));
    }

    #[test]
    fn a_board_that_is_higher_than_wide_has_the_asked_height() {
        let text = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1";
        let (width, height, _) = drawn("start.fen", text, 500);
        assert_eq!((width, height), (450, 500));
    }

    #[test]
    fn what_is_no_game_has_no_thumbnail_but_a_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, content) in [("chess.pgn", "1. e4 e5 2. Nf3 *"), ("x.sgf", "(;GM[1]"), ("y.txt", "hello")]
        {
            let file = folder.path().join(name);
            fs::write(&file, content).expect("written");
            let refused = thumbnail(&file, 128).expect_err(name);
            assert!(!refused.to_string().is_empty(), "{name}");
        }
        assert!(matches!(thumbnail(&folder.path().join("none.sgf"), 128), Err(ThumbnailError::Io(_))));
        assert!(matches!(thumbnail(Path::new("/dev/zero"), 128), Err(ThumbnailError::Io(_))));
    }
}
