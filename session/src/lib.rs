//! Two people at one board, as a state machine without I/O.
//!
//! A [`Session`] is everything between this device and one peer, over all links that ever join them: hello, first meeting,
//! invitations, matches, offers, resume. It has no clock, no socket, no disk and no randomness: time and seeds come in with each
//! [`Input`], and [`Session::poll`] returns what is to be done, in order. The journal is write-ahead: `poll` writes an entry to
//! the [`Journal`] before it returns an [`Output::Send`] that depends on the entry.
//!
//! A [`LocalMatch`] is a match without a peer: the same record, entries and clocks, without agreement. A [`club::Club`] is the
//! list of a club evening: who plays whom, and who is ahead.
//!
//! The drive loop: after each `handle`, `poll` until it returns `Idle`. After an error of the journal, drop the session and make
//! a new one from the journal.
//!
//! ```
//! use session::{Config, Input, Instant, Output, Role, Session};
//!
//! let mut session = Session::new(Config {
//!     versions: session::VERSIONS,
//!     name: "Anna".into(),
//!     advert_key: [1; 32],
//!     known: false,
//!     known_name_new_key: false,
//!     matches: Vec::new(),
//!     promised: vec![],
//!     seed: [2; 32],
//! });
//! session.handle(Instant::default(), Input::LinkUp { role: Role::Dialer, handshake_hash: [3; 32] })?;
//! let mut journal = Vec::new(); // a file, in a host
//! let mut sent = 0;
//! let tick = loop {
//!     match session.poll(&mut journal)? {
//!         Output::Send(_envelope) => sent += 1,
//!         Output::Event(event) => println!("{event:?}"),
//!         Output::Close(reason) => println!("the link is to be closed: {reason:?}"),
//!         Output::Idle { until } => break until,
//!     }
//! };
//! assert_eq!(sent, 1, "the hello");
//! assert!(tick.is_some(), "a silent peer is given up");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod analysis;
mod buckets;
mod capabilities;
mod chat;
mod clock;
pub mod club;
mod club_news;
mod comparison;
mod cx;
mod effects;
mod gift;
mod hints;
mod input;
mod invitation;
mod joint_analysis;
mod letter;
mod line;
mod liveness;
mod local;
mod local_race;
mod match_state;
mod matches;
mod offers;
mod output;
mod pairing;
mod play;
mod race;
mod racing;
mod record;
mod resume;
mod saying;
mod session;
mod time;
mod unreadable;
pub mod wire;

pub use analysis::Analysis;
pub use capabilities::Capabilities;
pub use clock::{Clocks, Pace, ShownClock};
pub use input::{Colours, Command, Config, Error, Input, Refused, Role, Settled, Terms, Violation};
pub use invitation::PROMISES;
pub use letter::asked_by_letter;
pub use line::Unplayable;
pub use local::{LocalCommand, LocalMatch, Undone};
pub use match_state::{MAX_MATCHES, MatchState};
pub use output::{Entry, Event, InvitationEnd, Journal, Output, ShortString};
pub use race::Race;
pub use record::{Consent, MatchId, MatchRecord, MatchResult, OfferKind};
pub use saying::Saying;
pub use session::{HIGHEST_VERSION, LOWEST_VERSION, LinkState, Session, VERSIONS};
pub use time::Instant;
