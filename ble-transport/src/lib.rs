//! Bluetooth LE as a carrier: finds peers, is found by them, and gives a byte stream to one peer.
//!
//! [`BleTransport`] implements [`link::Transport`]. A supervisor keeps advertising, GATT service and discovery as wanted,
//! through restarts of bluetoothd, changes of the adapter and acts of the user. The side that calls `connect` is the
//! central (btleplug), the other the peripheral (bluer). GATT loses, duplicates and reorders; [`stream`] makes it
//! reliable.
//!
//! What this crate deliberately does not do: it knows no game and no friend, it encrypts nothing (that is `link::secure`),
//! it sends no keep-alive (the session pings), and it never switches an adapter on unasked. On systems other than Linux it
//! is a central only: it finds and cannot be found. `scripts/portable` checks that it compiles for Windows and macOS; it was
//! never run there. For WebAssembly it does not compile: btleplug has no back end for it, and [`link`] needs sockets.
//!
//! ```no_run
//! # async fn example() -> Result<(), link::LinkError> {
//! use ble_transport::{BleConfig, BleTransport};
//! use futures::StreamExt;
//! use link::{Transport, WatchEvent};
//!
//! let bluetooth = BleTransport::new(BleConfig::default());
//! let mut watch = bluetooth.watch(true);
//! while let Some(event) = watch.next().await {
//!     if let WatchEvent::Seen(peer) = event {
//!         let stream = bluetooth.connect(&peer.address).await?;
//!         # drop(stream);
//!     }
//! }
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

// The peripheral role, and sharing an adapter between two roles, are used on Linux only; their pure parts are tested
// everywhere.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
mod advert;
mod central;
mod duplex;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
mod plan;
mod retry;
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
mod shared;
pub mod stream;
mod transport;

pub use advert::{SERVICE, TO_CENTRAL, TO_PERIPHERAL};
// For the test of docs/vectors.json.
#[doc(hidden)]
pub use advert::{COMPANY, card_payload, fitting_name, read_card};
pub use duplex::BleStream;
pub use transport::{BleConfig, BleTransport};

#[cfg(not(target_os = "linux"))]
use elsewhere as system;
#[cfg(target_os = "linux")]
use linux as system;
