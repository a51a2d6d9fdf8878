//! Every page looks as it did when somebody last looked at it. `make screens BLESS=1` takes the present pages for good; look at
//! the contact sheets first.

use std::path::{Path, PathBuf};

use qiyou::headless::Stage;

use crate::support::golden::{self, Golden, LOOKS};
use crate::support::{SIZES, Tell, stories, tell};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn drawn(stage: &Stage, size: (u32, u32, f32), story: Tell) -> Golden {
    golden::reduced(
        &LOOKS.map(|(chinese, dark)| tell(stage, size, (chinese, dark, 0), story).scene.picture()),
    )
}

/// Compares, or blesses, every page in one size.
fn look(size: (u32, u32, f32)) {
    let stage = Stage::new();
    let bless = std::env::var_os("QIYOU_BLESS").is_some();
    let mut changed = Vec::new();
    for (name, story) in stories().filter(|(name, _)| golden::is_kept(name)) {
        let file = folder().join(format!("{name}-{}x{}.png", size.0, size.1));
        let now = drawn(&stage, size, story);
        if bless {
            golden::write(&file, &now);
            continue;
        }
        match golden::read(&file) {
            None => changed.push(format!("{name}: there is no picture of it yet")),
            Some(then) => {
                changed.extend(golden::difference(&then, &now).map(|what| format!("{name}: {what}")))
            }
        }
    }
    assert!(
        changed.is_empty(),
        "{} pages look otherwise in {}x{}. Look at them (make screens), and if they are meant: make screens BLESS=1\n{}",
        changed.len(),
        size.0,
        size.1,
        changed.join("\n")
    );
}

#[test]
fn every_page_looks_as_it_was_blessed_on_a_phone() {
    look(SIZES[0]);
}

#[test]
fn every_page_looks_as_it_was_blessed_on_a_small_handheld() {
    look(SIZES[1]);
}

#[test]
fn every_page_looks_as_it_was_blessed_on_a_handheld() {
    look(SIZES[2]);
}

#[test]
fn every_page_looks_as_it_was_blessed_on_a_tablet() {
    look(SIZES[3]);
}

#[test]
fn a_word_that_changes_is_noticed_and_the_pictures_stay_small() {
    let stage = Stage::new();
    let (_, home) = stories().next().expect("a story");
    let then = drawn(&stage, SIZES[1], home);
    let file = tempfile::tempdir().expect("a folder");
    golden::write(&file.path().join("home.png"), &then);
    let kept = golden::read(&file.path().join("home.png")).expect("just written");
    assert_eq!(golden::difference(&kept, &then), None, "few colours are no difference");
    let mut other = drawn(&stage, SIZES[1], home);
    // One small letter gone: a spot of the paper over it.
    let paper = other.pixels[0];
    let width = other.width as usize;
    let letter = (0..other.pixels.len()).find(|at| other.pixels[*at][0] < 90).expect("there is ink");
    for line in 0..8 {
        for pixel in &mut other.pixels[letter + line * width..][..8] {
            *pixel = paper;
        }
    }
    assert!(golden::difference(&kept, &other).is_some());
    let small: u64 = std::fs::read_dir(folder())
        .expect("the pictures")
        .map(|entry| entry.and_then(|entry| entry.metadata()).map_or(0, |known| known.len()))
        .sum();
    assert!(small < 10_000_000, "{small} bytes");
}
