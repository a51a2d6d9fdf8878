//! The fuzz targets on stable Rust: each check over its seeds and over random mutations of the seeds. A fixed number of
//! mutations, or as many as fit `FUZZ_SECONDS` seconds for each target.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use proto::{control, peer};

#[path = "../fuzz/checks.rs"]
mod checks;
#[path = "../fuzz/samples.rs"]
mod samples;
#[path = "../../tests/src/seed.rs"]
mod seed;

/// Mutations without `FUZZ_SECONDS`: some hundred for each seed, below a second in a debug build.
const CHANGES: u32 = 15_000;

/// The targets run in parallel, however few tests the harness runs in parallel: a long run takes as long as one target.
#[test]
fn no_bytes_break_frames_messages_between_devices_or_messages_on_the_local_socket() {
    std::thread::scope(|scope| {
        for (target, _) in checks::CHECKS {
            scope.spawn(move || fuzz(target));
        }
    });
}

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
        let seed =
            fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}; see fuzz/README.md", path.display()));
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
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target)
}

fn fuzz(target: &str) {
    let (_, check) = checks::CHECKS.into_iter().find(|(name, _)| *name == target).expect("has a check");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder(target))
        .expect("has seeds")
        .map(|entry| entry.expect("readable").path())
        .collect();
    // Sorted, because the file system's order varies.
    paths.sort();
    let seeds: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).expect("readable")).collect();
    assert!(!seeds.is_empty());
    for seed in &seeds {
        run(check, seed);
    }

    let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut changer = Changer { random: seed::begin(target, 1).max(1), seeds: &seeds };
    let mut done = 0_u32;
    while end.map_or(done < CHANGES, |end| Instant::now() < end) {
        run(check, &changer.changed_seed());
        done += 1;
    }
    println!("{target}: {} seeds, {done} changes", seeds.len());
}

fn run(check: checks::Check, input: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(input))) {
        let hex: Vec<String> = input.iter().map(|byte| format!("{byte:02x}")).collect();
        eprintln!("failing input: {}", hex.join(" "));
        resume_unwind(panic);
    }
}

struct Changer<'seeds> {
    random: u64,
    seeds: &'seeds [Vec<u8>],
}

impl Changer<'_> {
    fn changed_seed(&mut self) -> Vec<u8> {
        let mut bytes = self.any_seed().clone();
        for _ in 0..=self.below(4) {
            self.change(&mut bytes);
        }
        bytes
    }

    /// One mutation: a transmission error or a typical attack.
    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() + 1);
        let end = at + self.below((bytes.len() - at + 1).min(40));
        match self.below(9) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            3 => {
                let other = self.any_seed().clone();
                let from = self.below(other.len());
                bytes.splice(at.., other[from..].iter().copied());
            }
            // Boundary values of lengths and numbers: zero, one byte, a varint of ten bytes, a word of ones.
            4 => drop(bytes.splice(at..end, [0; 4])),
            5 => drop(bytes.splice(at..end, [0xFF; 10])),
            6 => drop(bytes.splice(at..end, [0xFF, 0xFF, 0xFF, 0xFF, 0x0F])),
            7 => bytes.insert(at, self.next() as u8),
            _ if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            _ => {}
        }
    }

    fn any_seed(&mut self) -> &Vec<u8> {
        let at = self.below(self.seeds.len());
        &self.seeds[at]
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// Xorshift64 (Marsaglia 2003): needs no crate.
    fn next(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }
}
