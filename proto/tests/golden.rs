//! The golden encoding of every message: what peers of an earlier version understand. They are also the seeds of the fuzz
//! targets (tests/fuzz).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proto::{control, peer};

mod samples;

#[test]
fn every_message_has_a_seed_and_is_still_written_as_it_was() {
    let mut numbers = BTreeMap::<&str, Vec<u32>>::new();
    for (target, name, bytes) in samples::all() {
        numbers.entry(target).or_default().push(u32::from(bytes[0]));
        let path = folder(target).join(&name);
        if std::env::var_os("WRITE_SEEDS").is_some() {
            fs::create_dir_all(folder(target)).expect("the source tree is writable");
            fs::write(&path, &bytes).expect("the source tree is writable");
        }
        let seed = fs::read(&path)
            .unwrap_or_else(|error| panic!("{}: {error}; see tests/fuzz/README.md", path.display()));
        assert_eq!(seed, bytes, "{target}/{name}: peers of the version before would not understand this");
    }
    for (target, known) in [("peer", peer::Envelope::MSGIDS), ("control", control::Message::MSGIDS)] {
        let numbers = numbers.get_mut(target).expect("has samples");
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers, known, "one message without a sample, or more");
    }
}

fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/seeds").join(target)
}
