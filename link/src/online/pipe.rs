//! A reliable ordered byte stream over messages that may be lost, duplicated or reordered: a state machine without I/O.
//!
//! Servers mostly deliver messages well. When a server restarts, some are lost, some are duplicated, some are late (tried with
//! Prosody and ejabberd), and a server's acknowledgement does not mean that the peer has the message. The pipe therefore numbers
//! chunks; the peer itself acknowledges, and unacknowledged chunks are retransmitted.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;

/// Bytes of one chunk: with base64 and its envelope below the 10,000 bytes that every server must accept (RFC 6120, section
/// 13.12).
pub(super) const CHUNK: usize = 6_000;

/// Send window, in chunks.
const WINDOW: usize = 32;

/// Initial retransmission timeout, doubled each time up to [`LONGEST_WAIT`]. Longer than a round trip through two servers.
const FIRST_WAIT: Duration = Duration::from_secs(3);
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// Delayed acknowledgement: how long an acknowledgement waits for a chunk to travel with.
const ACK_DELAY: Duration = Duration::from_millis(150);

/// Without an acknowledgement for this long the peer is gone. The session times out earlier; this cleans up.
const GIVE_UP: Duration = Duration::from_mins(1);

/// The content of one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// Number of the chunk, from 1; `None` for a pure acknowledgement.
    pub(super) number: Option<u32>,
    /// Cumulative acknowledgement: every chunk up to this one has arrived.
    pub(super) acknowledged: u32,
    /// Empty for the last chunk, which is the end of the stream.
    pub(super) chunk: Bytes,
}

/// One end of a link. Times count from the beginning of the link.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    /// Unacknowledged chunks in order; the first has the number `base + 1`.
    unacknowledged: VecDeque<Bytes>,
    base: u32,
    /// How many of them [`Pipe::poll`] has returned since the last full retransmission.
    given: usize,
    resend_at: Option<Duration>,
    wait: Option<Duration>,
    heard: Duration,
    ended_here: bool,

    received: u32,
    early: BTreeMap<u32, Bytes>,
    ended_there: bool,
    ack_at: Option<Duration>,
}

/// What a segment brought for the reader.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Arrived {
    pub(super) chunks: Vec<Bytes>,
    /// The stream ends after these chunks.
    pub(super) end: bool,
}

impl Pipe {
    /// Whether the window has room for another chunk.
    pub(super) fn has_room(&self) -> bool {
        !self.ended_here && self.unacknowledged.len() < WINDOW
    }

    /// Writes a chunk that is not empty.
    pub(super) fn write(&mut self, now: Duration, chunk: Bytes) {
        debug_assert!(self.has_room() && !chunk.is_empty() && chunk.len() <= CHUNK);
        self.push(now, chunk);
    }

    /// Ends the sending direction.
    pub(super) fn end(&mut self, now: Duration) {
        if !self.ended_here {
            self.ended_here = true;
            self.push(now, Bytes::new());
        }
    }

    fn push(&mut self, now: Duration, chunk: Bytes) {
        if self.unacknowledged.is_empty() {
            self.heard = now;
        }
        self.unacknowledged.push_back(chunk);
    }

    /// Whether everything written, the end included, is acknowledged.
    pub(super) fn is_done(&self) -> bool {
        self.ended_here && self.unacknowledged.is_empty()
    }

    /// Whether the peer has stopped acknowledging.
    pub(super) fn is_dead(&self, now: Duration) -> bool {
        !self.unacknowledged.is_empty() && now.saturating_sub(self.heard) >= GIVE_UP
    }

    /// Handles a segment. `None`: no honest peer sends it.
    pub(super) fn handle(&mut self, now: Duration, segment: Segment) -> Option<Arrived> {
        let acknowledged = segment.acknowledged.saturating_sub(self.base) as usize;
        if acknowledged > self.unacknowledged.len() {
            return None;
        }
        if acknowledged > 0 {
            self.unacknowledged.drain(..acknowledged);
            self.base += acknowledged as u32;
            self.given = self.given.saturating_sub(acknowledged);
            (self.heard, self.wait) = (now, None);
            self.resend_at = (self.given > 0).then_some(now + FIRST_WAIT);
        }
        let mut arrived = Arrived::default();
        let Some(number) = segment.number else { return Some(arrived) };
        if segment.chunk.len() > CHUNK {
            return None;
        }
        // A duplicate is acknowledged again: the acknowledgement may have been lost.
        self.ack_at.get_or_insert(now + ACK_DELAY);
        if number > self.received && number - self.received <= WINDOW as u32 {
            self.early.insert(number, segment.chunk);
        }
        while let Some(chunk) = self.early.remove(&(self.received + 1)) {
            self.received += 1;
            if self.ended_there {
                return None;
            }
            if chunk.is_empty() {
                (self.ended_there, arrived.end) = (true, true);
            } else {
                arrived.chunks.push(chunk);
            }
        }
        Some(arrived)
    }

    /// Retransmits all unacknowledged chunks at once, as after the loss of the XMPP stream.
    pub(super) fn send_again(&mut self) {
        self.given = 0;
        self.resend_at = None;
    }

    /// The next segment to send, if one is due.
    pub(super) fn poll(&mut self, now: Duration) -> Option<Segment> {
        if self.resend_at.is_some_and(|at| at <= now) {
            self.given = 0;
            self.wait = Some(self.wait.map_or(FIRST_WAIT * 2, |wait| (wait * 2).min(LONGEST_WAIT)));
            self.resend_at = None;
        }
        if let Some(chunk) = self.unacknowledged.get(self.given) {
            self.given += 1;
            self.ack_at = None;
            self.resend_at.get_or_insert(now + self.wait.unwrap_or(FIRST_WAIT));
            let number = Some(self.base + self.given as u32);
            return Some(Segment { number, acknowledged: self.received, chunk: chunk.clone() });
        }
        if self.ack_at.is_some_and(|at| at <= now) {
            self.ack_at = None;
            return Some(Segment { number: None, acknowledged: self.received, chunk: Bytes::new() });
        }
        None
    }

    /// When to call [`Pipe::poll`] again: the next timer, or the time at which the peer counts as gone.
    pub(super) fn deadline(&self) -> Option<Duration> {
        let dead = (!self.unacknowledged.is_empty()).then_some(self.heard + GIVE_UP);
        [self.resend_at, self.ack_at, dead].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Rng;

    /// Runs a transfer both ways over a channel that loses, duplicates and reorders; returns the bytes read by each side.
    fn transfer(seed: u64, loss: u64) -> [Vec<u8>; 2] {
        let mut random = Rng::new(seed);
        let mut ends = [Pipe::default(), Pipe::default()];
        let mut wires: [Vec<(Duration, Segment)>; 2] = [Vec::new(), Vec::new()];
        let mut written = [0_usize; 2];
        let mut read = [Vec::new(), Vec::new()];
        let mut over = [false; 2];
        let mut now = Duration::ZERO;
        const BYTES: usize = 900;
        while !(over[0] && over[1] && ends[0].is_done() && ends[1].is_done()) {
            for side in [0, 1] {
                while ends[side].has_room() && written[side] < BYTES {
                    let length = (1 + random.next() as usize % 40).min(BYTES - written[side]);
                    let chunk: Vec<u8> = (0..length).map(|at| (written[side] + at) as u8).collect();
                    written[side] += length;
                    ends[side].write(now, chunk.into());
                }
                if written[side] == BYTES && ends[side].has_room() {
                    ends[side].end(now);
                }
                while let Some(segment) = ends[side].poll(now) {
                    for _ in 0..=u64::from(random.next().is_multiple_of(10)) {
                        if random.next() % 100 >= loss {
                            let delay = Duration::from_millis(random.next() % 400);
                            wires[1 - side].push((now + delay, segment.clone()));
                        }
                    }
                }
                if random.next().is_multiple_of(50) {
                    ends[side].send_again();
                }
                assert!(!ends[side].is_dead(now), "seed {seed}");
            }
            now += Duration::from_millis(50);
            assert!(now < Duration::from_mins(50), "seed {seed} does not end");
            for side in [0, 1] {
                let (due, rest): (Vec<_>, Vec<_>) = wires[side].drain(..).partition(|(at, _)| *at <= now);
                wires[side] = rest;
                for (_, segment) in due {
                    let arrived = ends[side].handle(now, segment).expect("an honest peer");
                    arrived.chunks.iter().for_each(|chunk| read[side].extend_from_slice(chunk));
                    over[side] |= arrived.end;
                }
            }
        }
        read
    }

    #[test]
    fn bytes_arrive_once_and_in_order_whatever_the_servers_lose_double_or_reorder() {
        let all: Vec<u8> = (0..900).map(|at: usize| at as u8).collect();
        for seed in 0..60 {
            assert_eq!(transfer(seed, seed % 40), [all.clone(), all.clone()], "seed {seed}");
        }
    }

    #[test]
    fn what_was_never_sent_cannot_be_acknowledged() {
        let mut pipe = Pipe::default();
        pipe.write(Duration::ZERO, Bytes::from_static(b"h8"));
        let forged = Segment { number: None, acknowledged: 2, chunk: Bytes::new() };
        assert_eq!(pipe.handle(Duration::ZERO, forged), None);
    }

    #[test]
    fn nothing_follows_an_end() {
        let mut pipe = Pipe::default();
        let segment = |number, chunk: &'static [u8]| Segment {
            number: Some(number),
            acknowledged: 0,
            chunk: Bytes::from_static(chunk),
        };
        assert!(pipe.handle(Duration::ZERO, segment(1, b"")).expect("an end").end);
        assert_eq!(pipe.handle(Duration::ZERO, segment(2, b"more")), None);
    }

    #[test]
    fn numbers_far_ahead_are_not_kept() {
        let mut pipe = Pipe::default();
        for number in [34, 1_000, u32::MAX] {
            let ahead = Segment { number: Some(number), acknowledged: 0, chunk: Bytes::from_static(b"x") };
            assert_eq!(pipe.handle(Duration::ZERO, ahead), Some(Arrived::default()));
        }
        assert!(pipe.early.is_empty());
    }

    #[test]
    fn a_peer_that_acknowledges_nothing_is_given_up() {
        let mut pipe = Pipe::default();
        pipe.write(Duration::ZERO, Bytes::from_static(b"h8"));
        let (mut now, mut sent) = (Duration::ZERO, 0);
        while !pipe.is_dead(now) {
            sent += u32::from(pipe.poll(now).is_some());
            if let Some(deadline) = pipe.deadline() {
                now = now.max(deadline);
            }
        }
        assert_eq!(now, GIVE_UP);
        assert!((4..8).contains(&sent), "again and again, ever more slowly: {sent}");
    }
}
