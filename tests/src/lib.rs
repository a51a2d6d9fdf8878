//! Shared code of the whole-system tests.
//!
//! [`house`] is several hosts in one process, [`programs`] the programs as people start them, [`seed`] the seeds of random tests,
//! [`skip`] reports what is left out, [`bus`] is a private D-Bus; the tests themselves are in `tests/`, the Bluetooth lab is the binary `ble-lab`.

#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
pub mod bus;
pub mod house;
pub mod programs;
pub mod seed;
mod skip;

pub use skip::skip;
