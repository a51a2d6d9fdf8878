//! An error of reading messages.

/// A message of `proto::board` with unknown content: of a newer version, or wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} says nothing known")]
pub struct Unreadable(pub &'static str);
