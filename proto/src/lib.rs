//! Qiyou's wire format: the 20-byte frame codec and the messages inside the frames.
//!
//! Bytes become [`frame::Frame`]s, frames become typed messages whose sizes are bounded ([`peer::Envelope`] between devices,
//! [`control::Message`] between a client and its host), and back.
//!
//! What this crate deliberately does not do: no sockets, no timers, no semantics. The layers above decide whether a message
//! is allowed now and whether an action is legal.
//!
//! ```
//! use bytes::BytesMut;
//! use proto::{frame::{Arrival, FrameCodec, FrameLimit, Outgoing}, peer};
//! use tokio_util::codec::{Decoder, Encoder};
//!
//! let ping = peer::Envelope::Ping(peer::Ping { token: 7 });
//! let mut wire = BytesMut::new();
//! FrameCodec::new(FrameLimit::Peer).encode(Outgoing::from(&ping), &mut wire)?;
//!
//! let arrival = FrameCodec::new(FrameLimit::Peer).decode(&mut wire)?.expect("it is whole");
//! let Arrival::Next(frame) = arrival else { panic!("it is the first") };
//! assert_eq!(peer::Envelope::decode(frame.msgid, &frame.payload)?, ping);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod control_message;
mod envelope;
pub mod frame;
pub mod limits;
pub mod pace;
mod peer_envelope;
mod setup;
pub mod short_string;

pub use envelope::EnvelopeError;

/// Games and positions in peer and control messages. Generated from `schema/board.proto`.
#[allow(missing_docs, clippy::all, clippy::pedantic, reason = "generated; the schema carries the docs")]
pub mod board {
    include!(concat!(env!("OUT_DIR"), "/qiyou.board.rs"));
}

/// Messages from device to device. Generated from `schema/peer.proto`, except [`Envelope`](peer::Envelope).
#[allow(missing_docs, clippy::all, clippy::pedantic, reason = "generated; the schema carries the docs")]
pub mod peer {
    include!(concat!(env!("OUT_DIR"), "/qiyou.peer.rs"));
    pub use crate::peer_envelope::Envelope;
}

/// Messages between client and host. Generated from `schema/control.proto`, except [`Message`](control::Message).
#[allow(missing_docs, clippy::all, clippy::pedantic, reason = "generated; the schema carries the docs")]
pub mod control {
    include!(concat!(env!("OUT_DIR"), "/qiyou.control.rs"));
    pub use crate::control_message::Message;
}
