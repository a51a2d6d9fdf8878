//! Qiyou's words on the wire: the 20-byte frame codec and the envelopes inside the frames.
//!
//! What this crate deliberately does not do: no sockets, no timers, no meaning. It turns bytes into frames and frames into
//! typed messages whose sizes are bounded, and back.

#![forbid(unsafe_code)]

/// What peer and control envelopes say of games. Generated from `schema/board.proto`.
#[allow(missing_docs, clippy::all, clippy::pedantic, reason = "generated; the schema carries the docs")]
pub mod board {
    include!(concat!(env!("OUT_DIR"), "/qiyou.board.rs"));
}

/// Device to device. Generated from `schema/peer.proto`.
#[allow(missing_docs, clippy::all, clippy::pedantic, reason = "generated; the schema carries the docs")]
pub mod peer {
    include!(concat!(env!("OUT_DIR"), "/qiyou.peer.rs"));
}

/// Client to host. Generated from `schema/control.proto`.
#[allow(missing_docs, clippy::all, clippy::pedantic, reason = "generated; the schema carries the docs")]
pub mod control {
    include!(concat!(env!("OUT_DIR"), "/qiyou.control.rs"));
}
