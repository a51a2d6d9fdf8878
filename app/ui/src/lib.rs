//! Qiyou's touch app: pages, dialogs and the adapters between them and the host.
//!
//! The app is a client of [`host`] over a byte stream that carries `proto::control`: it sends requests and shows the state
//! that events contain. What it deliberately does not do: rules of games (events say what a touch means), radios, storage of
//! matches. The user interface thread never blocks: a tokio thread reads and writes the stream, and one local task handles
//! incoming messages.
//!
//! [`headless`] runs the same app without a display, for tests and pictures.

#![deny(unsafe_code)]

mod adapters;
mod app;
mod art;
mod awake;
mod clipboard;
mod feel;
mod files;
mod fonts;
pub mod headless;
mod memory;
mod preferences;
mod thumbnail;

pub use ::client::{Client, FromHost, HandOfHost, Lost, connect};
pub use ::screens;
pub use adapters::manual::manual_pictures;
pub use app::{App, AppError, Work};
pub use clipboard::{Clipboard, DesktopClipboard, Picture};
pub use feel::{Devices, Senses, press};
pub use preferences::{
    Confirm, Language, LastColour, LastGame, LastOpponent, OwnPace, Paper, PieceSet, Preferences, Store,
};
pub use thumbnail::{MOST_PIXELS, ThumbnailError, thumbnail};
