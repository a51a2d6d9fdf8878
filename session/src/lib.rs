//! Two people at one board, as a machine without I/O.
//!
//! A [`Session`] is everything between this device and one peer, over all links that ever join them: hello, first meeting,
//! invitations, matches, offers, resume. It has no clock, no socket, no disk and no randomness: time and seeds come in with
//! each [`Input`], and what is to be done comes out of [`Session::poll`], in the order in which it must be done. Above all, an
//! [`Output::Save`] comes before the [`Output::Send`] that depends on it.
//!
//! The drive loop: after each `handle`, `poll` until it says `Idle`.
//!
//! ```text
//! session.handle(now, input)?;
//! loop {
//!     match session.poll() {
//!         Output::Save(entry) => journal.write(entry)?,   // must be on disk before the next poll
//!         Output::Send(envelope) => link.send(envelope),
//!         Output::Event(event) => tell(event),
//!         Output::Close(reason) => link.close(reason),
//!         Output::Idle { until } => break until,
//!     }
//! }
//! ```

#![forbid(unsafe_code)]

mod words;

pub use words::*;
