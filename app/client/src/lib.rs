//! A client of the host: frames over a stream, the host's state, and what a client sees as JSON.

#![forbid(unsafe_code)]

mod background;
pub mod json;
pub mod pace;
mod state;
pub mod words;

pub use background::{Client, FromHost, HandOfHost, connect};
pub use state::HostState;
