//! Engines that the user has installed, as bots of ours: UCI and UCCI for xiangqi, GTP for Go, the Gomocup protocol for
//! gomoku.
//!
//! An [`EngineBot`] is an [`engine::Bot`], so whatever uses our bots can use an engine: a seat, a hint, an analysis. Each
//! runs in a process of its own, within limits of memory and time, and in a sandbox where the system has one. What a
//! process does wrong ends the process, and never the match: a bot of ours stands in.
//!
//! The protocols ([`Conversation`]) know no process, no time and no thread, so tests can say every line. The crate knows no
//! match, no seat and no client, and keeps no list of engines.
#![forbid(unsafe_code)]

mod bot;
mod conversation;
mod fault;
mod find;
mod gomocup;
mod gtp;
mod process;
mod sandbox;
mod trial;
mod uci;

pub use bot::{EngineBot, EngineNews, StandIn};
pub use conversation::{Conversation, Heard, Protocol, Question, plays};
pub use fault::Fault;
pub use find::{Found, known, search};
pub use process::Program;
pub use sandbox::Sandbox;
pub use trial::{Tried, try_out};
