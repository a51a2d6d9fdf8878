//! The position that both players of a finished match look at; `joint_analysis` changes it.

use engine::Action;

/// The position being analysed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analysis {
    /// The length of the record from which moves are tried.
    pub ply: u32,
    /// The moves tried from there, of both sides.
    pub tried: Vec<Action>,
}

/// The shared analysis, with its version.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared {
    pub(crate) version: u32,
    pub(crate) at: Option<Analysis>,
}
