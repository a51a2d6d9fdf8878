//! Rate limits of what a peer can show the user of its own accord: invitations and comparisons, notices about it, and that it is here.
//! One of each per friend; all strangers share one of invitations and comparisons, and one of notices.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::room::PlayerId;

/// The size of a token bucket.
#[derive(Clone, Copy, Debug)]
struct Rate {
    at_once: u32,
    /// Time to refill one token.
    one_more_after: Duration,
}

/// An invitation that is declined and sent again with other terms, a few times.
const FRIEND_RINGS: Rate = Rate { at_once: 6, one_more_after: Duration::from_secs(20) };

/// As many strangers as may be connected.
const STRANGERS_RING: Rate = Rate { at_once: 3, one_more_after: Duration::from_secs(20) };

/// A fault of its program, an old version, records that differ: each of them once, and again after a mend.
const FRIEND_NOTICES: Rate = Rate { at_once: 3, one_more_after: Duration::from_mins(1) };

/// New names of a friend, apart from its other notices, which it could cause to hide a name.
const FRIEND_NAMES: Rate = Rate { at_once: 3, one_more_after: Duration::from_mins(1) };

/// A friend's new name that looks like one certain other friend's: the user knows for a while that it does.
const FRIEND_LIKENESS: Rate = Rate { at_once: 1, one_more_after: Duration::from_mins(10) };

/// The notices about strangers: as many as may be connected.
const STRANGERS_NOTICES: Rate = Rate { at_once: 3, one_more_after: Duration::from_mins(1) };

/// Links that a friend opens. A bad radio link breaks every few seconds for minutes; every client is told of each.
const FRIEND_LINKS: Rate = Rate { at_once: 60, one_more_after: Duration::from_secs(1) };

/// Token buckets per friend, and those of all strangers together.
#[derive(Default)]
pub(crate) struct Rings {
    friends: Buckets,
    notices: Buckets,
    names: Buckets,
    /// Per friend, and per other friend whose name it takes.
    likenesses: Buckets<(PlayerId, PlayerId)>,
    links: Buckets,
    strangers: Bucket,
    strangers_notices: Bucket,
}

type Buckets<K = PlayerId> = BTreeMap<K, Bucket>;

fn take<K: Ord>(buckets: &mut Buckets<K>, key: K, now: Instant, rate: Rate) -> bool {
    // A full bucket is equivalent to none.
    buckets.retain(|_, bucket| bucket.spent(now, rate) > 0);
    buckets.entry(key).or_default().take(now, rate)
}

impl Rings {
    /// Whether a friend may alert the user now; takes a token if so.
    pub(crate) fn friend_rings(&mut self, key: PlayerId, now: Instant) -> bool {
        take(&mut self.friends, key, now, FRIEND_RINGS)
    }

    /// Whether a notice about a friend is shown; takes a token if so.
    pub(crate) fn friend_is_noticed(&mut self, key: PlayerId, now: Instant) -> bool {
        take(&mut self.notices, key, now, FRIEND_NOTICES)
    }

    /// Whether a new name of a friend is told; takes a token if so.
    pub(crate) fn friend_is_renamed(&mut self, key: PlayerId, now: Instant) -> bool {
        take(&mut self.names, key, now, FRIEND_NAMES)
    }

    /// Whether a friend's new name is told because it looks like that of the friend `other`; takes a token if so.
    pub(crate) fn friend_looks_like(&mut self, key: PlayerId, other: PlayerId, now: Instant) -> bool {
        take(&mut self.likenesses, (key, other), now, FRIEND_LIKENESS)
    }

    /// Whether a notice about a stranger is shown; takes a token if so.
    pub(crate) fn stranger_is_noticed(&mut self, now: Instant) -> bool {
        self.strangers_notices.take(now, STRANGERS_NOTICES)
    }

    /// Whether a link that a friend has opened is used; takes a token if so.
    pub(crate) fn friend_connects(&mut self, key: PlayerId, now: Instant) -> bool {
        take(&mut self.links, key, now, FRIEND_LINKS)
    }

    /// The user accepted an invitation of this friend, which therefore did not disturb: it gives its token back.
    pub(crate) fn friend_was_welcome(&mut self, key: PlayerId) {
        if let Some(bucket) = self.friends.get_mut(&key) {
            bucket.give_back(FRIEND_RINGS);
        }
    }

    /// Whether a stranger may alert the user now; takes a token if so.
    pub(crate) fn stranger_rings(&mut self, now: Instant) -> bool {
        self.strangers.take(now, STRANGERS_RING)
    }

    /// Whether a stranger may alert the user now.
    pub(crate) fn stranger_may_ring(&self, now: Instant) -> bool {
        self.strangers.spent(now, STRANGERS_RING) < STRANGERS_RING.at_once
    }
}

/// A token bucket, represented by the time at which it is full again; `None`: full.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    full_at: Option<Instant>,
}

impl Bucket {
    /// Number of missing tokens.
    fn spent(self, now: Instant, rate: Rate) -> u32 {
        let missing = self.full_at.map_or(Duration::ZERO, |full| full.saturating_duration_since(now));
        missing.as_millis().div_ceil(rate.one_more_after.as_millis()) as u32
    }

    fn take(&mut self, now: Instant, rate: Rate) -> bool {
        let may = self.spent(now, rate) < rate.at_once;
        if may {
            self.full_at = Some(self.full_at.map_or(now, |full| full.max(now)) + rate.one_more_after);
        }
        may
    }

    fn give_back(&mut self, rate: Rate) {
        self.full_at = self.full_at.and_then(|full| full.checked_sub(rate.one_more_after));
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
    async fn a_friend_whose_invitations_are_accepted_may_send_the_next_at_once() {
        let (mut rings, start) = (Rings::default(), Instant::now());
        for _ in 0..100 {
            assert!(rings.friend_rings(ANNA, start));
            rings.friend_was_welcome(ANNA);
        }
        let rung = (0..100).filter(|_| rings.friend_rings(ANNA, start)).count();
        assert_eq!(rung, 6, "no more than one token comes back for each");
        rings.friend_was_welcome(BEN);
        assert_eq!((0..100).filter(|_| rings.friend_rings(BEN, start)).count(), 6);
    }

    #[tokio::test(start_paused = true)]
    async fn all_strangers_share_what_one_of_them_may() {
        let (mut rings, start) = (Rings::default(), Instant::now());
        assert!((0..3).all(|_| rings.stranger_rings(start)));
        assert!(!rings.stranger_may_ring(start) && !rings.stranger_rings(start));
        assert!(rings.friend_rings(ANNA, start));
        assert!(rings.stranger_may_ring(start + STRANGERS_RING.one_more_after));
    }

    #[tokio::test(start_paused = true)]
    async fn all_strangers_are_noticed_three_times_at_once_and_then_once_a_minute() {
        let (mut rings, start) = (Rings::default(), Instant::now());
        // Ten links per second for ten minutes.
        let noticed = (0..6_000)
            .filter(|tenth| rings.stranger_is_noticed(start + Duration::from_millis(100 * tenth)))
            .count();
        assert_eq!(noticed, 3 + 10 - 1);
        assert!(rings.friend_is_noticed(ANNA, start), "a friend is told of beside them");
    }

    #[tokio::test(start_paused = true)]
    async fn a_friend_who_reconnects_all_the_time_is_told_of_at_most_once_a_second_and_noticed_once_a_minute()
    {
        let (mut rings, start) = (Rings::default(), Instant::now());
        let (mut linked, mut noticed) = (0, 0);
        for hundredth in 0..60_000 {
            let now = start + Duration::from_millis(10 * hundredth);
            linked += u32::from(rings.friend_connects(ANNA, now));
            noticed += u32::from(rings.friend_is_noticed(ANNA, now));
        }
        assert_eq!((linked, noticed), (60 + 600 - 1, 3 + 10 - 1));
        assert!(rings.friend_connects(BEN, start) && rings.friend_rings(ANNA, start));
        let slowly =
            (0..1_000).filter(|second| rings.friend_connects(BEN, start + Duration::from_secs(*second)));
        assert_eq!(slowly.count(), 1_000, "a bad radio link is no flood");
    }

    #[tokio::test(start_paused = true)]
    async fn no_other_notice_hides_a_new_name_and_no_new_name_hides_one_that_looks_like_another_friends() {
        let (mut rings, now) = (Rings::default(), Instant::now());
        assert_eq!((0..100).filter(|_| rings.friend_is_noticed(ANNA, now)).count(), 3);
        assert_eq!((0..100).filter(|_| rings.friend_is_renamed(ANNA, now)).count(), 3);
        for other in [BEN, PlayerId([3; 32])] {
            assert_eq!((0..100).filter(|_| rings.friend_looks_like(ANNA, other, now)).count(), 1);
        }
        assert!(rings.friend_looks_like(ANNA, BEN, now + FRIEND_LIKENESS.one_more_after));
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
