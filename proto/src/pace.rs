//! Rate limits: how fast and how slowly a peer may send frames.

use std::time::Duration;

/// A frame that has begun must be complete within this plus the time that its bytes take at [`SLOWEST`]: a peer that dribbles
/// bytes (as in Slowloris) would hold a buffer and a link.
pub const FRAME_GRACE: Duration = Duration::from_secs(5);

/// Bytes a second of the slowest carrier of an honest peer: Bluetooth's smallest fragments carry 9 bytes of payload in 18; one
/// in each connection interval of 100 ms gives 90.
pub const SLOWEST: u32 = 64;

/// The deadline of a frame, counted from its first byte, given the bytes received so far.
pub fn frame_deadline(received: usize) -> Duration {
    FRAME_GRACE + Duration::from_secs(received as u64) / SLOWEST
}

/// Most frames in one burst. Resuming sends the most: a hello, twelve records and their acknowledgements, which is a quarter of
/// this.
pub const BURST: u32 = 100;

/// Sustained time per frame: 50 frames a second. The fastest game, between two bots that move at once, sends a move and an
/// acknowledgement per round trip, and no carrier but memory has round trips below 40 ms.
pub const SUSTAINED: Duration = Duration::from_millis(20);

/// The peer exceeds [`BURST`] frames at once or one per [`SUSTAINED`]. The link is to be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than 100 frames at once or 50 a second")]
pub struct TooFast;

/// Rate limiter for the frames of one link and direction (GCRA, a leaky bucket). Has no clock: the caller passes the time.
#[derive(Clone, Debug, Default)]
pub struct RateLimit {
    /// Theoretical arrival time of the next frame from a sender that keeps exactly to [`SUSTAINED`] (the "virtual scheduling
    /// algorithm" of ITU-T I.371, annex A). A sender may be ahead of this time by the burst tolerance.
    due: Duration,
}

impl RateLimit {
    /// Counts one complete frame. `now` is the time since a fixed moment and never goes back.
    pub fn count(&mut self, now: Duration) -> Result<(), TooFast> {
        self.due = self.due.max(now).saturating_add(SUSTAINED);
        if self.due.saturating_sub(now) > SUSTAINED * BURST { Err(TooFast) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many frames pass when they arrive `apart` from each other.
    fn passed(limit: &mut RateLimit, from: Duration, apart: Duration, count: u32) -> u32 {
        (0..count).take_while(|at| limit.count(from + apart * *at).is_ok()).count() as u32
    }

    #[test]
    fn a_hundred_at_once_pass_and_the_next_does_not() {
        for start in [Duration::ZERO, Duration::from_hours(9)] {
            assert_eq!(passed(&mut RateLimit::default(), start, Duration::ZERO, 500), BURST);
        }
    }

    #[test]
    fn fifty_a_second_pass_for_ever() {
        assert_eq!(passed(&mut RateLimit::default(), Duration::ZERO, SUSTAINED, 20_000), 20_000);
    }

    #[test]
    fn a_little_more_than_fifty_a_second_does_not_pass_for_ever() {
        let count = passed(&mut RateLimit::default(), Duration::ZERO, Duration::from_millis(19), 20_000);
        assert!((1_000..3_000).contains(&count), "{count}");
    }

    #[test]
    fn after_two_quiet_seconds_a_burst_is_allowed_again() {
        let mut limit = RateLimit::default();
        assert_eq!(passed(&mut limit, Duration::ZERO, Duration::ZERO, BURST), BURST);
        assert_eq!(passed(&mut limit, SUSTAINED * BURST, Duration::ZERO, 500), BURST);
    }
}
