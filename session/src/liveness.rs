//! Liveness of the peer: keep-alive pings on an idle link, detection of a weak and of a dead link.

use std::time::Duration;

use crate::{Instant, Role};

/// Silence after which the dialer pings. A shorter time would cost battery on a link that idles between moves.
const PING_AFTER: Duration = Duration::from_secs(5);

/// The listener waits a little longer, so that on an idle link one side pings and the other answers.
const LISTENER_PING_AFTER: Duration = Duration::from_secs(6);

/// Longest wait for an acknowledgement before the person is told. A move takes well below a second, so 2 s are several
/// retransmissions.
const WEAK_AFTER: Duration = Duration::from_secs(2);

/// Silence after which the link counts as dead: an unanswered ping and 4 s of grace.
const DEAD_AFTER: Duration = Duration::from_secs(9);

/// Liveness of one link.
#[derive(Default)]
pub(crate) struct Liveness {
    heard: Instant,
    /// Since when an acknowledgement is outstanding.
    awaited: Option<Instant>,
    weak: bool,
    /// The last ping, while unanswered.
    ping: Option<(u64, Instant)>,
    pinged: Instant,
    pings: u64,
    ping_after: Duration,
    round_trip: Option<Duration>,
}

/// What is to be done now.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Nothing,
    Ping(u64),
    Weak,
    Dead,
}

impl Liveness {
    /// Starts with a new link: silence counts from here.
    pub(crate) fn start(now: Instant, role: Role) -> Self {
        let ping_after = match role {
            Role::Dialer => PING_AFTER,
            Role::Listener => LISTENER_PING_AFTER,
        };
        Self { heard: now, pinged: now, ping_after, ..Self::default() }
    }

    pub(crate) fn is_weak(&self) -> bool {
        self.weak
    }

    pub(crate) fn round_trip(&self) -> Option<Duration> {
        self.round_trip
    }

    /// A message was sent that the peer's device acknowledges by itself.
    pub(crate) fn awaits(&mut self, now: Instant) {
        self.awaited.get_or_insert(now);
    }

    /// A message has arrived. Returns whether that ends a weak spell.
    pub(crate) fn heard(&mut self, now: Instant, acknowledges: bool) -> bool {
        self.heard = now;
        if acknowledges {
            self.awaited = None;
        }
        acknowledges && std::mem::take(&mut self.weak)
    }

    /// Handles a pong: returns the round trip if it answers the outstanding ping.
    pub(crate) fn pong(&mut self, now: Instant, token: u64) -> Option<Duration> {
        let (_, sent) = self.ping.take_if(|(awaited, _)| *awaited == token)?;
        self.round_trip = Some(now.since(sent));
        self.round_trip
    }

    /// The next due step; `Nothing` when none is left. `may_ping` is false before the peer's hello.
    pub(crate) fn due(&mut self, now: Instant, may_ping: bool) -> Due {
        if now.since(self.heard) >= DEAD_AFTER {
            return Due::Dead;
        }
        if self.weak_at().is_some_and(|at| at <= now) {
            self.weak = true;
            return Due::Weak;
        }
        if may_ping && self.ping_at() <= now {
            self.pings += 1;
            self.ping = Some((self.pings, now));
            self.pinged = now;
            self.awaits(now);
            return Due::Ping(self.pings);
        }
        Due::Nothing
    }

    /// When `due` is to be called again.
    pub(crate) fn next(&self, may_ping: bool) -> Instant {
        let dead = Some(self.heard + DEAD_AFTER);
        let ping = may_ping.then(|| self.ping_at());
        [dead, self.weak_at(), ping].into_iter().flatten().min().expect("one of them is there")
    }

    fn weak_at(&self) -> Option<Instant> {
        self.awaited.filter(|_| !self.weak).map(|since| since + WEAK_AFTER)
    }

    fn ping_at(&self) -> Instant {
        self.heard.max(self.pinged) + self.ping_after
    }
}
