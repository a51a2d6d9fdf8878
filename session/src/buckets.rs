//! Token buckets: how often a peer may have this device replay a record or look at a board. Who asks faster than the bucket of its
//! kind is refilled waits or is not heard, without replaying anything and without a violation.

use std::time::Duration;

use proto::limits::RESUME_POINTS;

use crate::Instant;

/// What one resume usually needs of each kind: the record of the match that is played, or its invitation, and one more. A record more
/// is needed for each match in which the two devices differ; only own matches count, so a peer cannot raise that alone. Each new link
/// gives back so much and not all, because a lost link has to be resumed as often as it is lost, also if that is more often than
/// time refills a bucket, while a peer that begins link after link must not have a full bucket for each.
const RESUME: u32 = 2;

/// The buckets of one peer. They outlast its links: time refills them, and each new link gives back what its resume usually needs. The
/// host limits how often a peer may begin a link.
pub(crate) struct Buckets {
    /// Whole records. Each match is sent at most once on a link, as a whole, and the peer has at most 24 of them: the open
    /// ones ([`crate::MAX_MATCHES`]), those that it was promised besides ([`crate::PROMISES`]), and the last settled ones. All of
    /// them fit; what has arrived once need not come again on the next link. What is sent later follows from what a person does.
    pub(crate) records: Bucket,
    /// Positions of a joint analysis: on a new link once or twice for each finished match, then as fast as a person leafs. What
    /// comes faster, such as from a key that is held, waits for its turn, and the latest replaces the earlier ones.
    pub(crate) analyses: Bucket,
    /// Boards of invitations. Two are open at a time, and a person answers each.
    pub(crate) invites: Bucket,
}

impl Default for Buckets {
    fn default() -> Self {
        let second = Duration::from_secs(1);
        Self {
            records: Bucket::new(32, second),
            analyses: Bucket::new(32, second / 10),
            invites: Bucket::new(32, second),
        }
    }
}

impl Buckets {
    /// A new link to the peer begins, with this many matches that are not settled.
    pub(crate) fn link_begins(&mut self, unsettled: usize) {
        self.records.give_back(RESUME.max(unsettled.min(RESUME_POINTS) as u32));
        self.analyses.give_back(RESUME);
        self.invites.give_back(RESUME);
    }
}

/// A token bucket, kept as the theoretical arrival time of GCRA (ITU-T I.371).
pub(crate) struct Bucket {
    size: u32,
    /// Time in which one token comes back.
    refill: Duration,
    /// When all tokens are there again.
    full_at: Instant,
}

impl Bucket {
    fn new(size: u32, refill: Duration) -> Self {
        Self { size, refill, full_at: Instant::default() }
    }

    /// Takes a token. `false` if there is none.
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        let is_there = self.next() <= now;
        if is_there {
            self.full_at = self.full_at.max(now) + self.refill;
        }
        is_there
    }

    /// Gives tokens back, as far as there is room.
    fn give_back(&mut self, tokens: u32) {
        self.full_at = Instant(self.full_at.0.saturating_sub(self.refill * tokens));
    }

    /// When there is a token; in the past if there is one.
    pub(crate) fn next(&self) -> Instant {
        Instant(self.full_at.0.saturating_sub(self.refill * (self.size - 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_gives_all_its_tokens_at_once_and_then_one_whenever_one_has_come_back() {
        let at = |ms| Instant(Duration::from_millis(ms));
        let mut bucket = Bucket::new(3, Duration::from_millis(100));
        let mut taken = |ms| (0..10).filter(|_| bucket.take(at(ms))).count();
        let times = [5_000, 5_099, 5_100, 5_350, 5_399, 5_400, 60_000];
        assert_eq!(times.map(&mut taken), [3, 0, 1, 2, 0, 1, 3]);
        assert_eq!(bucket.next(), at(60_100));
    }

    #[test]
    fn a_new_link_gives_back_what_its_resume_needs_and_never_more_than_there_was() {
        let now = Instant(Duration::from_secs(5));
        let mut buckets = Buckets::default();
        let taken = |bucket: &mut Bucket| (0..100).filter(|_| bucket.take(now)).count();
        for (unsettled, expected) in [(0, [32; 3]), (1, [2; 3]), (5, [5, 2, 2]), (100, [RESUME_POINTS, 2, 2])]
        {
            buckets.link_begins(unsettled);
            let Buckets { records, analyses, invites } = &mut buckets;
            assert_eq!([records, analyses, invites].map(taken), expected);
        }
    }
}
