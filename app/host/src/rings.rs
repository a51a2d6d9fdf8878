//! Rate limits of invitations and comparisons that alert the user: one per friend, and one for all strangers.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::room::PlayerId;

/// Burst of a friend: an invitation that is declined and sent again with other terms, a few times.
const FRIENDS_AT_ONCE: u32 = 6;

/// Burst of all strangers together: as many as may be connected.
const STRANGERS_AT_ONCE: u32 = 3;

/// Time to refill one token.
const ONE_MORE_AFTER: Duration = Duration::from_secs(20);

/// A token bucket per friend, and one for all strangers.
#[derive(Default)]
pub(crate) struct Rings {
    friends: BTreeMap<PlayerId, Bucket>,
    strangers: Bucket,
}

impl Rings {
    /// Whether a friend may alert the user now; takes a token if so.
    pub(crate) fn friend_rings(&mut self, key: PlayerId, now: Instant) -> bool {
        // A full bucket is equivalent to none.
        self.friends.retain(|_, bucket| bucket.spent(now) > 0);
        self.friends.entry(key).or_default().take(now, FRIENDS_AT_ONCE)
    }

    /// Whether a stranger may alert the user now; takes a token if so.
    pub(crate) fn stranger_rings(&mut self, now: Instant) -> bool {
        self.strangers.take(now, STRANGERS_AT_ONCE)
    }

    /// Whether a stranger may alert the user now.
    pub(crate) fn stranger_may_ring(&self, now: Instant) -> bool {
        self.strangers.spent(now) < STRANGERS_AT_ONCE
    }
}

/// A token bucket, represented by the time at which it is full again; `None`: full.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    full_at: Option<Instant>,
}

impl Bucket {
    /// Number of missing tokens.
    fn spent(self, now: Instant) -> u32 {
        let missing = self.full_at.map_or(Duration::ZERO, |full| full.saturating_duration_since(now));
        missing.as_millis().div_ceil(ONE_MORE_AFTER.as_millis()) as u32
    }

    fn take(&mut self, now: Instant, at_once: u32) -> bool {
        let may = self.spent(now) < at_once;
        if may {
            self.full_at = Some(self.full_at.map_or(now, |full| full.max(now)) + ONE_MORE_AFTER);
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANNA: PlayerId = PlayerId([1; 32]);
    const BEN: PlayerId = PlayerId([2; 32]);

    #[tokio::test(start_paused = true)]
    async fn a_friend_rings_six_times_at_once_and_then_once_every_twenty_seconds() {
        let (mut rings, start) = (Rings::default(), Instant::now());
        // Ten attempts per second for ten minutes.
        let rung = (0..6_000)
            .filter(|tenth| rings.friend_rings(ANNA, start + Duration::from_millis(100 * tenth)))
            .count();
        assert_eq!(rung, 6 + 600 / 20 - 1);
        assert!(rings.friend_rings(BEN, start), "another friend is not its fault");
    }

    #[tokio::test(start_paused = true)]
    async fn all_strangers_share_what_one_of_them_may() {
        let (mut rings, start) = (Rings::default(), Instant::now());
        assert!((0..3).all(|_| rings.stranger_rings(start)));
        assert!(!rings.stranger_may_ring(start) && !rings.stranger_rings(start));
        assert!(rings.friend_rings(ANNA, start));
        assert!(rings.stranger_may_ring(start + ONE_MORE_AFTER));
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_not_rung_for_a_while_is_not_remembered() {
        let (mut rings, start) = (Rings::default(), Instant::now());
        for number in 0..100 {
            rings.friend_rings(PlayerId([number; 32]), start);
        }
        rings.friend_rings(ANNA, start + Duration::from_mins(1));
        assert_eq!(rings.friends.len(), 1);
    }
}
