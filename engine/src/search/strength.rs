//! Limits of a level, for bots that only search.

use super::Options;
use crate::Limits;

/// Limits of a level, in addition to the caller's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strength {
    /// Full plies.
    pub(crate) depth: u32,
    /// Nodes.
    pub(crate) nodes: u64,
    /// Maximum noise of a static evaluation.
    pub(crate) noise: i32,
    /// Whether leaves are resolved by quiescence search.
    pub(crate) quiescence: bool,
    pub(crate) table_bytes: usize,
}

/// Bytes of table per node of a limited search, with some reserve.
const BYTES_PER_NODE: usize = 32;
/// Minimum size of the table.
const TABLE_MIN: usize = 64 << 10;

impl Strength {
    /// The search options of this level; the seed determines its noise.
    pub(crate) fn options(&self, seed: u64) -> Options {
        Options { noise: self.noise, seed, quiescence: self.quiescence, ..Options::default() }
    }

    /// The stricter of the caller's limits and the level's own.
    pub(crate) fn limit<'a>(&self, limits: &Limits<'a>) -> Limits<'a> {
        Limits {
            nodes: Some(limits.nodes.map_or(self.nodes, |nodes| nodes.min(self.nodes))),
            depth: Some(limits.depth.map_or(self.depth, |depth| depth.min(self.depth))),
            ..*limits
        }
    }

    /// The number of bytes that a search within these limits can fill, at most `table_bytes`.
    pub(crate) fn room(table_bytes: usize, limits: &Limits<'_>) -> usize {
        let enough = limits.nodes.map_or(usize::MAX, |nodes| (nodes as usize).saturating_mul(BYTES_PER_NODE));
        table_bytes.min(enough).max(TABLE_MIN)
    }
}
