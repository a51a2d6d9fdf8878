//! Bluetooth LE as one more carrier: finds peers, is found, and gives a byte stream to one of them.
//!
//! [`BleTransport`] implements [`link::Transport`]. A supervisor keeps adverts, service and discovery as they are wanted,
//! whatever bluetoothd, the adapter and the user do; whoever calls `connect` is the central (btleplug), the other side the
//! peripheral (bluer). Between GATT, which loses, doubles and reorders, and everything above lies [`stream`].
//!
//! What this crate deliberately does not do: it knows no game and no friend, it encrypts nothing (that is `link::secure`),
//! it asks nobody whether they are still there (the session pings), and it never switches an adapter on unasked. On other
//! systems than Linux it is a central only: it finds and cannot be found, and says so. That it compiles for Windows and macOS is
//! what `scripts/portable` checks; it was never run there.
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

// Being found, and sharing an adapter between two roles, are used on Linux only; they are tested everywhere.
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
pub use duplex::BleStream;
pub use transport::{BleConfig, BleTransport};

#[cfg(not(target_os = "linux"))]
use elsewhere as system;
#[cfg(target_os = "linux")]
use linux as system;
