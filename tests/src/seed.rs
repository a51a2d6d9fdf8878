//! Seeds of random tests. Tests of other crates include this file by its path.
#![allow(unreachable_pub, reason = "where it is taken in by its path it is a private module")]

use std::hash::{BuildHasher, RandomState};

/// The seed of a random test, which is printed: `QIYOU_SEED=…` repeats a failure. Without that variable it is `usual`, so that a
/// change on a developer's machine always runs the same cases; in CI, or with `QIYOU_SEED=new`, it is a new one.
///
/// # Panics
/// When the variable is neither a number nor `new`.
pub fn begin(test: &str, usual: u64) -> u64 {
    let asked = std::env::var("QIYOU_SEED").ok();
    let seed = match asked.as_deref() {
        Some("new") => fresh(),
        Some(number) => number.parse().expect("QIYOU_SEED is a number, or `new`"),
        None if std::env::var_os("CI").is_some() => fresh(),
        None => usual,
    };
    println!("{test}: QIYOU_SEED={seed}");
    seed
}

/// Below 2^32, so that a test may count on from here, and above zero, a fixed point of some generators.
fn fresh() -> u64 {
    (RandomState::new().hash_one("seed") >> 32).max(1)
}
