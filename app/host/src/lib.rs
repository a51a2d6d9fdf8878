//! Qiyou's host: everything that must outlive a screen, which is rooms, bots, saved games, identity, friends and radios.
//!
//! [`Host::start`] runs a host in this process; `qiyoud` serves one behind a Unix socket. Clients, in this process or
//! another, speak `proto::control` in frames: after `Attach` they receive the present state as events, then every change.
//!
//! What this crate deliberately does not do: it implements no rule of a game (`engine` does) and no rule of the protocol
//! between two devices (`session` does), and it draws nothing.
//!
//! ```
//! use futures::{SinkExt, StreamExt};
//! use host::{Host, HostConfig};
//! use proto::control::{Attach, Message, Request, event, request};
//! use proto::frame::{Arrival, FrameCodec, FrameLimit, Outgoing};
//! use tokio_util::codec::Framed;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! # let directory = tempfile::tempdir()?;
//! # let data_dir = directory.path();
//! let host = Host::start(HostConfig::new(data_dir))?;
//! let mut client = Framed::new(host.client(), FrameCodec::new(FrameLimit::Local));
//! let attach = request::Body::Attach(Attach { client: "example".into(), version: 1 });
//! client.send(Outgoing::from(&Message::Request(Request { id: 1, body: Some(attach) }))).await?;
//! while let Some(Arrival::Next(frame)) = client.next().await.transpose()? {
//!     if let Message::Event(event) = Message::decode(frame.msgid, &frame.payload)?
//!         && let Some(event::Body::Ready(_)) = event.body
//!     {
//!         break;
//!     }
//! }
//! host.stop().await;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

#[cfg(feature = "online")]
mod account;
mod actor;
mod admission;
mod alarm;
mod answer_delay;
mod archive;
mod backup;
mod blocked;
mod bots;
mod chance;
mod clients;
mod clubs;
mod codes;
mod config;
mod connection;
mod consent;
mod counting;
mod desktop;
mod dialing;
mod exchange;
mod explore;
mod fair_play;
mod games;
mod gifts;
#[cfg(feature = "guest")]
mod guests;
#[cfg(not(feature = "guest"))]
#[path = "guests/absent.rs"]
mod guests;
mod host;
mod installed;
mod invitations;
mod journal;
mod judging;
mod leitner;
mod lessons;
#[cfg(feature = "online")]
mod letters;
mod link_task;
mod links;
mod mistakes;
mod names;
mod nearby;
mod notes;
mod notifying;
mod peer;
mod power;
mod profile;
mod puzzles;
mod questions;
mod quiet;
mod radios;
mod refusal;
mod registry;
mod responder;
mod rings;
mod room;
mod room_requests;
mod room_view;
#[cfg(feature = "online")]
mod secrets;
#[cfg(test)]
#[path = "../../../tests/src/seed.rs"]
mod seed;
mod set_up;
mod setup;
mod show;
mod store;
mod strangers;
mod suspend;
mod tablebase;
mod unreached;
mod visibility;
mod wall_clock;
mod work;

pub use bots::BotMaker;
pub use chance::Entropy;
#[cfg(feature = "guest")]
pub use config::GuestConfig;
pub use config::{HostConfig, HostError};
pub use desktop::Bus;
pub use exchange::position_in_file;
pub use host::{Connector, Host};
pub use power::Sensors;
pub use puzzles::tried;
pub use room::{EngineSeat, PlayerId, Seat};
pub use set_up::set_up;
pub use show::position;
pub use store::{DATABASE, StoreError};
