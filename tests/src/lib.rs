//! What the whole-system tests share.
//!
//! [`house`] is several hosts in one process, [`programs`] the programs as people start them; the tests themselves are in `tests/`, the Bluetooth lab is the binary `ble-lab`.

#![forbid(unsafe_code)]

pub mod house;
pub mod programs;
