//! The page for a friend with a browser: HTTP and WebSocket in the local network, and the gate to one seat of one room.
//!
//! `docs/guest.md` describes the protocol. [`Server`] listens, serves the embedded page, and hands what pages send to whoever
//! started it; [`Message`] is all that a page can say; [`Codes`] decides who has which seat; [`form`] writes what pages are sent.
//! `Codes`, the gate and the limits are machines without I/O.
//!
//! What this crate deliberately does not do: it knows no rule of a game, keeps nothing, and does not speak `proto::control`:
//! the host turns a [`Message`] into what one seat of one room may do.

#![forbid(unsafe_code)]

mod admission;
mod codes;
mod files;
pub mod form;
mod gate;
mod outbox;
mod rate;
mod server;
mod token;

pub use codes::{Codes, Denied, Effect, Place, Role, Why};
pub use gate::{
    Act, Action, Answer, File, Hello, Look, Malformed, Message, Name, Offer, Resign, Rules, Say, read,
};
pub use outbox::Outbox;
pub use rate::Rate;
pub use server::{News, Permit, Server};
pub use token::Token;

/// A WebSocket of one page, as long as it is connected.
pub type ConnectionId = u64;

/// Version of the protocol in `docs/guest.md`.
pub const VERSION: u32 = 1;

/// Bytes of a message from a page: the longest, 200 characters said as JSON escapes, takes 2.5 KiB.
pub const MESSAGE_BYTES: usize = 4_096;

/// Columns and rows of the largest board that is shown to guests: more than a browser's page shows, and 64 x 64 cells are sent
/// in 5 KiB.
pub const BOARD_SIDE: u32 = 64;
