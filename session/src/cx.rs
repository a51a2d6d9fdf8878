//! What a match is given with each thing that it takes in.

use std::time::Duration;

use proto::peer;

use crate::effects::Effects;
use crate::liveness::Liveness;
use crate::{Event, Instant};

/// All that a match may read and cause beyond itself.
pub(crate) struct Cx<'a> {
    pub(crate) now: Instant,
    /// How long a message is on its way, as the last ping measured it.
    pub(crate) half_round_trip: Duration,
    pub(crate) effects: &'a mut Effects,
    pub(crate) liveness: &'a mut Liveness,
}

impl Cx<'_> {
    pub(crate) fn send(&mut self, message: impl Into<peer::Envelope>) {
        self.effects.send(message);
    }

    /// Sends what the peer will acknowledge.
    pub(crate) fn send_awaited(&mut self, message: impl Into<peer::Envelope>) {
        self.liveness.awaits(self.now);
        self.effects.send(message);
    }

    pub(crate) fn tell(&mut self, event: Event) {
        self.effects.tell(event);
    }
}
