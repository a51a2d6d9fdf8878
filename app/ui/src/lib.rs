//! Qiyou's touch app: pages, dialogs and the adapters between them and the host.
//!
//! The app is a client of [`host`] over a byte stream that carries `proto::control`: it asks with requests, shows what
//! events say, and draws. What it deliberately does not do: no rule of any game, no radio, no saved match; what may be
//! touched comes in events. The user interface thread never waits: the stream is read and written by a tokio thread, and
//! one local task takes what has arrived.
//!
//! [`headless`] drives the same app with no display, for tests and for pictures of it.

#![deny(unsafe_code)]

mod adapters;
mod app;
mod art;
mod feel;
mod files;
mod fonts;
pub mod headless;
mod memory;
mod preferences;

pub use ::client::{Client, FromHost, HandOfHost, Lost, connect};
pub use ::screens;
pub use app::{App, AppError, Work};
pub use feel::{Devices, Senses, press};
pub use preferences::{
    Confirm, Language, LastColour, LastGame, LastOpponent, OwnPace, Paper, Preferences, Store,
};
