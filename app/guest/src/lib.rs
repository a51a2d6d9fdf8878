//! The page for a guest with a browser: an HTTP and WebSocket server in the local network, and the access to one seat of one
//! room, or to the view of a club evening.
//!
//! `docs/guest.md` specifies the protocol. [`Server`] listens, serves the embedded page, and passes messages of pages to its
//! owner; [`Message`] is the set of valid messages; [`Codes`] decides who holds which seat; [`form`] writes the messages to
//! pages. `Codes`, the parser and the limits do no I/O.
//!
//! What this crate deliberately does not do: it knows no rule of a game, stores nothing, and does not speak
//! `proto::control`: the host translates a [`Message`] into the actions that one seat of one room may take.

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
pub use server::{News, Permit, Server, ServerConfig, Times};
pub use token::Token;

/// Identifies one page's WebSocket while it is connected.
pub type ConnectionId = u64;

/// Version of the protocol in `docs/guest.md`.
pub const VERSION: u32 = 1;

/// Maximum size of a message from a page, in bytes. The longest valid message, 200 characters as JSON escapes, takes 2.5
/// KiB.
pub const MESSAGE_BYTES: usize = 4_096;

/// Maximum columns and rows of a board that guests are shown: more than a page shows at once; 64 x 64 cells take 5 KiB.
pub const BOARD_SIDE: u32 = 64;
