//! A chat message, and how fast one side may send them.

use std::collections::VecDeque;
use std::time::Duration;

use proto::peer::Phrase;

use crate::Instant;

/// A chat message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saying {
    /// A prepared phrase, shown in the receiver's language.
    Phrase(Phrase),
    /// The text as typed; see [`proto::limits::is_said`].
    Text(String),
}

/// Rate limit: most messages within [`WHILE`]. Faster than anybody types or taps on purpose; further messages are dropped, so
/// that a peer cannot cover the board with text.
const AT_ONCE: usize = 8;
/// See [`AT_ONCE`].
const WHILE: Duration = Duration::from_secs(10);

/// Times of one side's last messages.
#[derive(Default)]
pub(crate) struct Pace(VecDeque<Instant>);

impl Pace {
    pub(crate) fn may_say(&mut self, now: Instant) -> bool {
        while self.0.front().is_some_and(|&then| now.since(then) >= WHILE) {
            self.0.pop_front();
        }
        if self.0.len() >= AT_ONCE {
            return false;
        }
        self.0.push_back(now);
        true
    }
}
