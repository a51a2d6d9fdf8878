//! What every client of Qiyou's host shares: the touch app, `qiyouctl`, tests.
//!
//! - A connection over any byte stream: [`Connection`] sends one request at a time, [`connect`] runs on tasks of its
//!   own, [`open`] returns the two directions.
//! - [`HostState`]: the host's state, built by [`apply`](HostState::apply) alone, and turned back into events by
//!   [`replicate`](HostState::replicate).
//! - [`field_test`]: the machine by which two people measure how play goes over the air.
//! - What a report to others says: this [`device`], and text without what [identifies](redact) anybody.
//! - [`json`]: the JSON form of the host's state, with the words ([`words`], [`pace`]) that scripts and pages read.
//!
//! What this crate deliberately does not do: it computes no rule, and draws nothing.
//!
//! ```
//! use client::HostState;
//! use proto::control::{Event, Friend, Gone, Ready, event::Body};
//!
//! let told = |body| Event { body: Some(body), ..Event::default() };
//! let mut early = HostState::default();
//! early.apply(&told(Body::Ready(Ready {})));
//! early.apply(&told(Body::Friend(Friend { id: "anna".into(), ..Friend::default() })));
//! early.apply(&told(Body::Friend(Friend { id: "ben".into(), near: true, ..Friend::default() })));
//! early.apply(&told(Body::FriendGone(Gone { id: "anna".into() })));
//!
//! let mut late = HostState::default();
//! early.replicate().iter().for_each(|event| late.apply(event));
//! assert_eq!(late, early);
//! assert!(late.friends["ben"].near);
//! ```

#![forbid(unsafe_code)]

mod background;
mod connection;
pub mod device;
pub mod field_test;
pub mod files;
pub mod json;
pub mod pace;
pub mod redact;
mod state;
mod stream;
pub mod words;

pub use background::{Client, HandOfHost, connect};
pub use connection::{Connection, Failure};
pub use state::HostState;
pub use stream::{FromHost, Lost, Messages, Requests, VERSION, attach, open};
