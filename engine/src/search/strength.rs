//! What a level means to a player that is nothing but a search.

use super::Options;
use crate::Limits;

/// What a level may use, beside the caller's limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strength {
    /// Plies of full search.
    pub(crate) depth: u32,
    /// Positions visited.
    pub(crate) nodes: u64,
    /// How far off each judgement may be.
    pub(crate) noise: i32,
    /// Whether it looks on from where its depth ends until nothing hangs.
    pub(crate) quiescence: bool,
    pub(crate) table_bytes: usize,
}

/// Room for every position that a search with a limit can visit, and some to spare.
const BYTES_PER_NODE: usize = 32;
/// A table smaller than this saves nothing.
const TABLE_MIN: usize = 64 << 10;

impl Strength {
    /// Plies of full search, if they limit it.
    pub(crate) fn plies_ahead(&self) -> Option<u32> {
        (self.nodes != u64::MAX).then_some(self.depth)
    }

    /// The search's options at this strength; the seed colours its errors.
    pub(crate) fn options(&self, seed: u64) -> Options {
        Options { noise: self.noise, seed, quiescence: self.quiescence, ..Options::default() }
    }

    /// The caller's limits and this strength's own, whichever is less.
    pub(crate) fn limit<'a>(&self, limits: &Limits<'a>) -> Limits<'a> {
        Limits {
            nodes: Some(limits.nodes.map_or(self.nodes, |nodes| nodes.min(self.nodes))),
            depth: Some(limits.depth.map_or(self.depth, |depth| depth.min(self.depth))),
            ..*limits
        }
    }

    /// The most bytes of table that a search within these limits can fill, `table_bytes` at most.
    pub(crate) fn room(table_bytes: usize, limits: &Limits<'_>) -> usize {
        let enough = limits.nodes.map_or(usize::MAX, |nodes| (nodes as usize).saturating_mul(BYTES_PER_NODE));
        table_bytes.min(enough).max(TABLE_MIN)
    }
}
