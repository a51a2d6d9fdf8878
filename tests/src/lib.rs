//! What the whole-system tests share.
//!
//! [`house`] is several hosts in one process, [`programs`] the programs as people start them, [`seed`] where chance begins, [`skip`] says what
//! is left out; the tests themselves are in `tests/`, the Bluetooth lab is the binary `ble-lab`.

#![forbid(unsafe_code)]

pub mod house;
pub mod programs;
pub mod seed;
mod skip;

pub use skip::skip;
