//! The handshake's retransmission timer and deadline.

use std::time::{Duration, Instant};

use super::sending::MAX_RTO;

/// Both greetings must pass within this time. BlueZ answers a first write in 0.3 s, and in 2 s when it is busy.
pub const GREETING_DEADLINE: Duration = Duration::from_secs(6);

/// Initial retransmission timeout of a greeting; it doubles up to [`MAX_RTO`]. BlueZ sometimes swallows the first
/// write of a link, and no later fragment can reveal that loss, so a timer must.
pub(super) const GREETING_WAIT: Duration = Duration::from_millis(300);

/// When to send the greeting (again), and when to give up.
#[derive(Debug)]
pub(super) struct Greeting {
    pub(super) next: Instant,
    pub(super) wait: Duration,
    pub(super) deadline: Instant,
    pub(super) sent: u32,
    pub(super) first_sent: Instant,
}

pub(super) enum Greet {
    Now,
    Later(Instant),
}

impl Greeting {
    pub(super) fn new(now: Instant) -> Greeting {
        Greeting {
            next: now,
            wait: GREETING_WAIT,
            deadline: now + GREETING_DEADLINE,
            sent: 0,
            first_sent: now,
        }
    }

    pub(super) fn poll(&mut self, now: Instant) -> Greet {
        if now < self.next {
            return Greet::Later(self.next.min(self.deadline));
        }
        if self.sent == 0 {
            self.first_sent = now;
        }
        self.sent += 1;
        self.next = now + self.wait;
        self.wait = (self.wait * 2).min(MAX_RTO);
        Greet::Now
    }
}
