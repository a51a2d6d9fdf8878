//! Bluetooth LE as one more carrier.
#![forbid(unsafe_code)]

mod duplex;
pub mod stream;

pub use duplex::{BleStream, Outgoing, Pipe};
