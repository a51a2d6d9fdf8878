//! The sender: sequence numbers, congestion window, loss detection and retransmission.

use std::time::{Duration, Instant};

use bytes::Bytes;

use super::receiving::ACK_DELAY_IN_BULK;
use super::{Kind, LinkId, MAX_WINDOW, OVERHEAD, Output, SACK, Segment, Stream, is_before};

/// Bounds of the retransmission timeout (RTO). The radio itself retransmits, so an unacknowledged fragment is more often
/// late than lost: bluetoothd and D-Bus on a busy device sometimes take some 100 ms more. With a higher ceiling a link that
/// was silent for some seconds would take too long to continue.
const MIN_RTO: Duration = Duration::from_millis(400);
pub(super) const MAX_RTO: Duration = Duration::from_millis(1500);
/// Largest RTT that raises the RTO's ceiling: a fragment can still be retransmitted before the link counts as dead.
const LONGEST_ROUND_TRIP: Duration = Duration::from_secs(4);
/// Initial RTO, before the first RTT sample.
const INITIAL_RTO: Duration = Duration::from_millis(700);

/// Interval of window probes while the peer has no room.
pub(super) const PROBE_EVERY: Duration = Duration::from_millis(500);

pub(super) const SMALLEST_WINDOW: f64 = 2.0;

#[derive(Debug)]
pub(super) struct InFlight {
    pub(super) kind: Kind,
    pub(super) payload: Bytes,
    pub(super) first_sent_at: Instant,
    pub(super) sent_at: Instant,
    /// Order of the latest transmission among all.
    pub(super) transmission: u64,
    pub(super) retransmitted: bool,
    pub(super) acknowledged: bool,
    pub(super) lost: bool,
}

/// RTT estimator as in RFC 6298.
#[derive(Debug, Default)]
pub(super) struct RttEstimator {
    pub(super) smooth: Option<Duration>,
    pub(super) least: Option<Duration>,
    pub(super) variation: Duration,
}

impl RttEstimator {
    pub(super) fn measure(&mut self, sample: Duration) {
        self.least = Some(self.least.map_or(sample, |least| least.min(sample)));
        match self.smooth {
            None => {
                self.smooth = Some(sample);
                self.variation = sample / 2;
            }
            Some(smooth) => {
                self.variation = (self.variation * 3 + smooth.abs_diff(sample)) / 4;
                self.smooth = Some((smooth * 7 + sample) / 8);
            }
        }
    }

    pub(super) fn rto(&self, backoff: u32) -> Duration {
        let base = match self.smooth {
            None => INITIAL_RTO,
            Some(smooth) => (smooth + self.variation * 4 + ACK_DELAY_IN_BULK).max(MIN_RTO),
        };
        // The ceiling bounds the exponential back-off only: an RTO below the RTT would retransmit everything for ever.
        (base * 2u32.pow(backoff.min(4))).min(MAX_RTO.max(base.min(LONGEST_ROUND_TRIP)))
    }

    /// Reordering window: a fragment later than its successors by more than this counts as lost. EATT's channels overtake
    /// each other by about a connection interval.
    pub(super) fn reordering(&self) -> Duration {
        self.smooth.unwrap_or(INITIAL_RTO) / 2
    }
}

impl Stream {
    pub(super) fn retransmit(&mut self, now: Instant, link: LinkId, index: usize) -> Output {
        self.transmissions += 1;
        self.counts.retransmitted += 1;
        let order = self.transmissions;
        let number = self.base.wrapping_add(index as u16);
        let flight = &mut self.flight[index];
        flight.lost = false;
        flight.retransmitted = true;
        flight.sent_at = now;
        flight.transmission = order;
        let (kind, payload) = (flight.kind, flight.payload.clone());
        self.send_segment(link, kind, number, payload)
    }

    pub(super) fn send_new(&mut self, now: Instant, link: LinkId) -> Option<Output> {
        if !self.has_room() || self.end_sent {
            return None;
        }
        let sack = if self.reorder_buffer.is_empty() { 0 } else { SACK };
        let largest = usize::from(self.limit) - OVERHEAD - sack;
        let pressed = self.flushed > 0 || self.finishing || self.linger_until.is_some_and(|at| now >= at);
        let ready = self.outgoing.len() >= largest || (pressed && !self.outgoing.is_empty());
        let ends = self.finishing && self.outgoing.is_empty();
        if !ready && !ends {
            return None;
        }
        let taken = self.outgoing.len().min(largest);
        let payload: Bytes = self.outgoing.drain(..taken).collect();
        self.flushed = self.flushed.saturating_sub(taken);
        if self.outgoing.is_empty() {
            self.linger_until = None;
        }
        let kind = if self.finishing && self.outgoing.is_empty() { Kind::End } else { Kind::Data };
        self.end_sent = kind == Kind::End;
        if self.flight.is_empty() {
            self.progress_at = now;
        }
        let number = self.next_number();
        self.transmissions += 1;
        self.flight.push_back(InFlight {
            kind,
            payload: payload.clone(),
            first_sent_at: now,
            sent_at: now,
            transmission: self.transmissions,
            retransmitted: false,
            acknowledged: false,
            lost: false,
        });
        Some(self.send_segment(link, kind, number, payload))
    }

    pub(super) fn send_segment(&mut self, link: LinkId, kind: Kind, number: u16, payload: Bytes) -> Output {
        let mut segment = self.segment(kind, number, payload);
        self.advertised_limit = self.next_expected.wrapping_add(u16::from(segment.room));
        if segment.length() > usize::from(self.limit) {
            // A retransmission for which the SACK has grown too long: an ACK follows by itself.
            segment.sack = 0;
        } else {
            self.ack_now = false;
            self.ack_due = None;
            self.unacknowledged = 0;
        }
        Output::Send(segment.write(link, self.role))
    }

    pub(super) fn next_number(&self) -> u16 {
        self.base.wrapping_add(self.flight.len() as u16)
    }

    pub(super) fn has_room(&self) -> bool {
        is_before(self.next_number(), self.peer_limit) && self.flight.len() < usize::from(MAX_WINDOW)
    }

    /// Starts the probe timer when there is data to send, nothing in flight, and no room at the peer.
    pub(super) fn plan_probe(&mut self, now: Instant) {
        let wants = !self.outgoing.is_empty() || (self.finishing && !self.end_sent);
        if wants && self.flight.is_empty() && !self.has_room() {
            if self.probe_at.is_none() {
                self.probe_at = Some(now + PROBE_EVERY);
                self.progress_at = now;
            }
        } else {
            self.probe_at = None;
        }
    }

    /// Marks lost fragments for retransmission; returns when to look again.
    pub(super) fn find_losses(&mut self, now: Instant) -> Option<Instant> {
        let mut next: Option<Instant> = None;
        let mut found = false;
        // Time-based loss detection (as RACK, RFC 8985): a later-sent fragment arrived, so everything older by more than
        // the reordering window is lost.
        if let Some((newest, round_trip)) = self.newest_arrived {
            // The RTT of a retransmitted fragment may be far too short.
            let patience = round_trip.max(self.rtt.smooth.unwrap_or(INITIAL_RTO)) + self.rtt.reordering();
            for flight in self.flight.iter_mut().filter(|flight| !flight.acknowledged && !flight.lost) {
                if flight.transmission < newest {
                    let at = flight.sent_at + patience;
                    if now >= at {
                        flight.lost = true;
                        found = true;
                    } else {
                        next = Some(next.map_or(at, |next| next.min(at)));
                    }
                }
            }
        }
        if found && self.recovery_point.is_none() {
            self.on_loss(self.congestion_window / 2.0);
        }
        // Retransmission timeout: no acknowledgement at all.
        let oldest = self
            .flight
            .iter()
            .filter(|flight| !flight.acknowledged && !flight.lost)
            .map(|flight| flight.sent_at)
            .min();
        if let Some(oldest) = oldest {
            let at = oldest.max(self.progress_at) + self.rtt.rto(self.backoff);
            if now >= at {
                // The first timeout retransmits one fragment as a probe: if the others were only late, nothing else is
                // repeated and the window stays. The second timeout counts all as lost.
                let asks = if self.backoff == 0 { 1 } else { self.flight.len() };
                for flight in self.flight.iter_mut().filter(|flight| !flight.acknowledged).take(asks) {
                    flight.lost = true;
                }
                if self.backoff > 0 {
                    self.on_loss(SMALLEST_WINDOW);
                }
                self.probing = self.backoff == 0;
                self.backoff += 1;
                let again = now + self.rtt.rto(self.backoff);
                next = Some(next.map_or(again, |next| next.min(again)));
            } else {
                next = Some(next.map_or(at, |next| next.min(at)));
            }
        }
        next
    }

    pub(super) fn on_loss(&mut self, to: f64) {
        self.ssthresh = (self.congestion_window / 2.0).max(SMALLEST_WINDOW);
        self.congestion_window = to.max(SMALLEST_WINDOW);
        self.recovery_point = Some(self.next_number());
    }

    pub(super) fn handle_ack(&mut self, now: Instant, segment: &Segment) {
        let in_order = usize::from(segment.ack.wrapping_sub(self.base));
        // An old ACK that was overtaken, or an ACK of a number never sent.
        if in_order > self.flight.len() {
            return;
        }
        let mut arrived = 0;
        let mut newest: Option<(u64, Duration, bool)> = None;
        let mut slowest = Duration::ZERO;
        for (index, flight) in self.flight.iter_mut().enumerate() {
            let early = index > in_order && (index - in_order - 1) < 32;
            let is_here = index < in_order || (early && segment.sack >> (index - in_order - 1) & 1 == 1);
            if is_here && !flight.acknowledged {
                flight.acknowledged = true;
                flight.lost = false;
                arrived += 1;
                slowest = slowest.max(now - flight.first_sent_at);
                if newest.is_none_or(|(order, _, _)| flight.transmission > order) {
                    newest = Some((flight.transmission, now - flight.sent_at, flight.retransmitted));
                }
            }
        }
        if let Some((order, round_trip, again)) = newest {
            // Karn's algorithm: a retransmitted fragment gives no RTT sample, because its ACK is ambiguous. An ACK sooner
            // than the least RTT belongs to the earlier transmission, and says nothing about fragments sent in between.
            if !again {
                self.rtt.measure(round_trip);
            } else if self.rtt.smooth.is_none() {
                // If the initial RTO is below the RTT, every fragment is retransmitted and no sample would ever come: a
                // sample that is too long is better than none.
                self.rtt.measure(slowest);
            }
            let plausible = !again || self.rtt.least.is_none_or(|least| round_trip >= least);
            if plausible && self.newest_arrived.is_none_or(|(known, _)| order > known) {
                self.newest_arrived = Some((order, round_trip));
            }
            self.progress_at = now;
            self.backoff = 0;
            let limited = self.flight.len() as f64 + 1.0 >= self.congestion_window;
            if self.recovery_point.is_none() && limited {
                self.on_ack(arrived);
            }
        }
        self.flight.drain(..in_order);
        self.base = segment.ack;
        if self.recovery_point.is_some_and(|until| !is_before(self.base, until)) {
            self.recovery_point = None;
        }
        let edge = segment.ack.wrapping_add(u16::from(segment.room));
        if is_before(self.peer_limit, edge) {
            self.peer_limit = edge;
        }
        if self.probe_at.is_some() {
            self.progress_at = now;
        }
    }

    /// Slow start up to the threshold (ssthresh) of the last loss, then congestion avoidance: one fragment per RTT.
    pub(super) fn on_ack(&mut self, arrived: u32) {
        for _ in 0..arrived {
            self.congestion_window +=
                if self.congestion_window < self.ssthresh { 1.0 } else { 1.0 / self.congestion_window };
        }
        self.congestion_window = self.congestion_window.min(f64::from(MAX_WINDOW));
    }
}
