//! Fuzz targets: for each, a check that holds for any bytes, and seeds to begin from.
//!
//! `cargo test` runs each check over its seeds and over a fixed number of random [mutations](Mutator) of them; `make fuzz` lets
//! libFuzzer search for inputs that reach new code, and measures time and memory of each (`examples/qiyou-fuzz.rs`).

#![forbid(unsafe_code)]

mod device;
mod files;
mod mutator;
mod page;
mod peer;
mod places;
mod stream;
mod wire;
mod xmpp;

use std::fs;
use std::path::{Path, PathBuf};

pub use mutator::Mutator;

/// What is tried.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, which is also the name of its folder of seeds.
    pub name: &'static str,
    /// Panics when an invariant does not hold for these bytes.
    pub check: fn(&[u8]),
    /// Number of mutations in `cargo test`: about a second without optimisation.
    pub mutations: u32,
    /// The folder that has its folder of seeds, from this crate's own.
    seeds: &'static str,
}

/// Seeds of this crate.
const HERE: &str = "seeds";
/// Golden encodings of all messages.
const GOLDEN: &str = "../../proto/tests/seeds";

/// All targets.
pub const TARGETS: [Target; 20] = [
    Target { name: "frame", check: wire::frame, mutations: 15_000, seeds: GOLDEN },
    Target { name: "peer", check: wire::peer, mutations: 15_000, seeds: GOLDEN },
    Target { name: "control", check: wire::control, mutations: 15_000, seeds: GOLDEN },
    Target { name: "wire-setup", check: wire::setup, mutations: 5_000, seeds: HERE },
    Target { name: "wire-actions", check: wire::actions, mutations: 15_000, seeds: HERE },
    Target { name: "sgf", check: files::sgf, mutations: 3_000, seeds: HERE },
    Target { name: "psq", check: files::psq, mutations: 3_000, seeds: HERE },
    Target { name: "record", check: files::record, mutations: 3_000, seeds: HERE },
    Target { name: "position", check: files::position, mutations: 3_000, seeds: HERE },
    Target { name: "setup", check: files::setup, mutations: 3_000, seeds: HERE },
    Target { name: "notation", check: files::notation, mutations: 3_000, seeds: HERE },
    Target { name: "stream", check: stream::check, mutations: 5_000, seeds: HERE },
    Target { name: "session", check: peer::check, mutations: 500, seeds: HERE },
    Target { name: "friend-code", check: places::friend_code, mutations: 15_000, seeds: HERE },
    Target { name: "card", check: places::card, mutations: 15_000, seeds: HERE },
    Target { name: "xmpp", check: xmpp::check, mutations: 3_000, seeds: HERE },
    Target { name: "socket", check: device::socket, mutations: 40, seeds: HERE },
    Target { name: "journal", check: device::journal, mutations: 40, seeds: HERE },
    Target { name: "backup", check: device::backup, mutations: 40, seeds: HERE },
    Target { name: "guest", check: page::check, mutations: 15_000, seeds: HERE },
];

impl Target {
    /// The target of this name.
    pub fn of(name: &str) -> Option<Target> {
        TARGETS.into_iter().find(|target| target.name == name)
    }

    /// The folder of its seeds.
    pub fn folder(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join(self.seeds).join(self.name)
    }

    /// Its seeds, in the order of their names.
    ///
    /// # Panics
    /// When the folder has none or cannot be read.
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        let entries = fs::read_dir(self.folder()).expect("has seeds");
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
        paths.sort();
        let seeds: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).expect("readable")).collect();
        assert!(!seeds.is_empty(), "{} has no seeds", self.name);
        seeds
    }
}
