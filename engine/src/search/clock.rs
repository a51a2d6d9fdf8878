//! Limits of a search.

use std::sync::atomic::Ordering;

use crate::Limits;

/// Counts nodes, and tells when a limit is reached. Once over, it stays over.
pub struct Clock<'a> {
    limits: &'a Limits<'a>,
    nodes: u64,
    next_look: u64,
    over: bool,
}

/// Nodes between two checks of the time and the stop flag. At 100,000 nodes per second, the slowest measured on a handheld's
/// core, that is 1.3 ms; the promise is 5 ms.
const LOOK_EVERY: u64 = 128;

impl<'a> Clock<'a> {
    /// A clock that starts now, on the `elapsed` of the limits.
    pub fn new(limits: &'a Limits<'a>) -> Self {
        let mut clock = Self { limits, nodes: 0, next_look: 0, over: false };
        clock.look();
        clock
    }

    /// Counts a node; returns `true` when the search must stop. Nodes visited while a stopped search unwinds are not
    /// counted.
    #[inline]
    pub fn tick(&mut self) -> bool {
        if self.over {
            return true;
        }
        self.nodes += 1;
        if self.nodes >= self.next_look {
            self.look();
        }
        self.over
    }

    /// Whether the search must stop.
    #[inline]
    pub const fn is_over(&self) -> bool {
        self.over
    }

    /// The limits.
    pub(super) const fn limits(&self) -> &'a Limits<'a> {
        self.limits
    }

    /// Nodes counted.
    pub const fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Whether this depth is above the limit.
    pub fn is_too_deep(&self, depth: u32) -> bool {
        self.limits.depth.is_some_and(|limit| depth > limit)
    }

    /// Whether this share of the time or of the nodes, in percent, is used up.
    pub fn has_used(&self, percent: u32) -> bool {
        let time = self.limits.time.is_some_and(|time| (self.limits.elapsed)() * 100 >= time * percent);
        let nodes =
            self.limits.nodes.is_some_and(|nodes| self.nodes / u64::from(percent.max(1)) >= nodes / 100);
        time || nodes
    }

    fn look(&mut self) {
        self.over = self.over
            || self.limits.stop.load(Ordering::Relaxed)
            || self.limits.nodes.is_some_and(|nodes| self.nodes >= nodes)
            || self.limits.time.is_some_and(|time| (self.limits.elapsed)() >= time);
        self.next_look = self.nodes + LOOK_EVERY;
        if let Some(nodes) = self.limits.nodes {
            self.next_look = self.next_look.min(nodes);
        }
    }
}
