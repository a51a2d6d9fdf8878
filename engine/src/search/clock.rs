//! When to stop.

use std::sync::atomic::Ordering;

use crate::Limits;

/// Counts positions and says when the limits are reached. Once over it stays over.
pub struct Clock<'a> {
    limits: &'a Limits<'a>,
    nodes: u64,
    next_look: u64,
    over: bool,
}

/// Positions between two looks at the time and the stop flag. At 100,000 positions a second, the least seen on a handheld's
/// core, that is 1.3 ms; the promise is 5 ms.
const LOOK_EVERY: u64 = 128;

impl<'a> Clock<'a> {
    /// A clock that starts now by the limits' own `elapsed`.
    pub fn new(limits: &'a Limits<'a>) -> Self {
        let mut clock = Self { limits, nodes: 0, next_look: 0, over: false };
        clock.look();
        clock
    }

    /// Counts one position; `true` when it is time to stop. What is still asked on the way out of a search that is over does not
    /// count.
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

    /// Whether it is time to stop.
    #[inline]
    pub const fn is_over(&self) -> bool {
        self.over
    }

    /// What it counts against.
    pub(super) const fn limits(&self) -> &'a Limits<'a> {
        self.limits
    }

    /// Positions counted.
    pub const fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Whether this depth is more than was asked for.
    pub fn is_too_deep(&self, depth: u32) -> bool {
        self.limits.depth.is_some_and(|limit| depth > limit)
    }

    /// Whether this share (in percent) of the time or of the positions is used up.
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
