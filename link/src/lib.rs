//! Carriers: what carries bytes to a peer.
//!
//! A [`Transport`] finds peers and gives a [`Duplex`] to one of them: a reliable ordered byte stream. [`secure`] wraps it in
//! Noise records with the device's [`identity`]; [`frames`] reads and writes whole messages on it within their limits; [`lan`] is
//! the local network by multicast DNS and TCP; [`memory`] is a whole network inside one process, for tests and for the app's own
//! host.
//!
//! What this crate deliberately does not do: it knows no game, no match and no friend, and it never decides whom to trust.
//! `scripts/portable` checks that it compiles for Windows and macOS; for WebAssembly it does not, and the script says why.
//!
//! ```
//! use link::secure::{self, ExpectedPeer, AcceptedPeers};
//! use link::{identity::Identity, memory, CarrierKind};
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
//! let (anna, ben) = (Identity::generate()?, Identity::generate()?);
//! let (here, there) = memory::pair();
//! let friends = AcceptedPeers { friends: [anna.public_key()].into(), strangers: false };
//! let (dialed, accepted) = tokio::join!(
//!     secure::dial(here, &anna, CarrierKind::Memory, ExpectedPeer::Key(ben.public_key())),
//!     secure::accept(there, &ben, CarrierKind::Memory, &friends),
//! );
//! let (mut dialed, mut accepted) = (dialed?, accepted?);
//! assert_eq!(dialed.peer_key(), ben.public_key());
//! assert_eq!(dialed.handshake_hash(), accepted.handshake_hash());
//!
//! dialed.write_all(b"h8").await?;
//! dialed.flush().await?;
//! let mut heard = [0; 2];
//! accepted.read_exact(&mut heard).await?;
//! assert_eq!(&heard, b"h8");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod carrier;
pub mod frames;
pub mod friend_code;
mod hex;
pub mod identity;
pub mod lan;
pub mod letter;
mod local;
pub mod memory;
#[cfg(feature = "online")]
pub mod online;
mod owners;
pub mod prune;
pub mod secure;
mod tag;

pub use carrier::{
    Accepted, Adapter, Address, Card, CarrierKind, CarrierState, Duplex, Finding, LinkError, Listener,
    Outdated, PRESENCE_LENGTH, Sighting, Tag, Transport, Verdict, Watch, WatchEvent,
};
pub use local::{CONTROL_DIRECTORY, control_socket, control_socket_in};
pub use tag::Epoch;
