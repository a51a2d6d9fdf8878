//! The context of a match's transitions.

use std::time::Duration;

use proto::peer;

use crate::buckets::Bucket;
use crate::effects::Effects;
use crate::liveness::Liveness;
use crate::{Event, Instant};

/// Everything outside itself that a match may read, and the effects that it may cause.
pub(crate) struct Cx<'a> {
    pub(crate) now: Instant,
    /// One-way delay of a message, as half of the last ping's round trip.
    pub(crate) half_round_trip: Duration,
    pub(crate) effects: &'a mut Effects,
    pub(crate) liveness: &'a mut Liveness,
    /// See [`crate::buckets::Buckets`].
    pub(crate) analyses: &'a mut Bucket,
}

impl Cx<'_> {
    pub(crate) fn send(&mut self, message: impl Into<peer::Envelope>) {
        self.effects.send(message);
    }

    /// Sends a message that the peer will acknowledge.
    pub(crate) fn send_awaited(&mut self, message: impl Into<peer::Envelope>) {
        self.liveness.awaits(self.now);
        self.effects.send(message);
    }

    pub(crate) fn tell(&mut self, event: Event) {
        self.effects.tell(event);
    }
}
