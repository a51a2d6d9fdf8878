//! What carries bytes to a peer.
//!
//! A [`Transport`] finds peers and gives a [`Duplex`] to one of them: a reliable ordered byte stream, nothing more. `secure`
//! wraps it in Noise records; `memory` is a whole network inside one process, for tests and for the app's own host.
//!
//! What this crate deliberately does not do: it knows no game, no match and no friend, and it never decides whom to trust.

#![forbid(unsafe_code)]

mod carrier;

pub use carrier::{
    Address, Card, CarrierKind, CarrierState, Duplex, Finding, LinkError, Listener, PRESENCE_LENGTH,
    Sighting, Tag, Transport, Verdict, Watch, WatchEvent,
};
