//! Matches by letter with friends who are away: when a letter is written, what a received letter leads to, and what is kept.
//!
//! A letter contains one message of the peer protocol, encrypted for the friend: the record of a match (an unknown match is
//! an invitation by letter), or the answer to such an invitation. A record is written once for each state that the friend is
//! not known to have, and again after days without a sign of it; superfluous letters are harmless. None is written while a
//! link is up.

pub(crate) mod arrival;
pub(crate) mod asking;
pub(crate) mod envelope;
#[cfg(test)]
mod fixture;
pub(crate) mod kept;
pub(crate) mod schedule;

pub(crate) use schedule::{LetterSchedule, Occasion};
