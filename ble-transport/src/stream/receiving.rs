//! The receiver: order, and acknowledgement policy.

use std::time::{Duration, Instant};

use bytes::Bytes;

use super::{BUFFER, Kind, LARGEST_PAYLOAD, MAX_WINDOW, Segment, Stream, WINDOW_UNIT};

/// Delayed acknowledgement: how long an ACK waits for data to travel with. One default connection interval: sooner the ACK
/// would leave with the same connection event anyway, and a session answers a move within that time.
pub(super) const ACK_DELAY: Duration = Duration::from_millis(30);

/// Every so many fragments an ACK leaves at once, so that the sender's window stays open.
const ACK_EVERY: u32 = 2;

/// The same in a bulk transfer, where the window is wide: each ACK costs both sides a notification through bluetoothd and
/// D-Bus, which on a slow device takes as long as a fragment's share of the air.
const ACK_EVERY_IN_BULK: u32 = 8;
pub(super) const ACK_DELAY_IN_BULK: Duration = Duration::from_millis(100);

/// A pause this long ends a bulk transfer. After it, and after a loss, `quick` fragments are acknowledged quickly, so that
/// the sender's window grows.
const BULK_ENDS_AFTER: Duration = Duration::from_millis(200);
pub(super) const QUICK_FRAGMENTS: u32 = 16;

/// A gap this old is a loss, not reordering: EATT's channels are apart by an interval or two.
const GAP_IS_LOSS: Duration = Duration::from_millis(150);

impl Stream {
    pub(super) fn handle_payload(&mut self, now: Instant, segment: Segment) {
        let lost = self.gap_at.is_some_and(|at| now >= at + GAP_IS_LOSS);
        self.quick = if now >= self.data_at + BULK_ENDS_AFTER || lost {
            QUICK_FRAGMENTS
        } else {
            self.quick.saturating_sub(1)
        };
        self.data_at = now;
        let (every, delay) =
            if self.quick > 0 { (ACK_EVERY, ACK_DELAY) } else { (ACK_EVERY_IN_BULK, ACK_DELAY_IN_BULK) };
        let distance = segment.number.wrapping_sub(self.next_expected);
        if distance >= u16::from(self.receive_window()) {
            // A duplicate, or beyond the receive window: either way the peer needs an ACK.
            self.counts.duplicates += 1;
            self.ack_now = true;
            return;
        }
        if self.ended {
            return;
        }
        if distance > 0 {
            let index = usize::from(distance) - 1;
            if self.reorder_buffer.len() <= index {
                self.reorder_buffer.resize(index + 1, None);
            }
            if self.reorder_buffer[index].is_some() {
                self.counts.duplicates += 1;
            }
            self.reorder_buffer[index] = Some((segment.kind, segment.payload));
            self.counts.reordered += 1;
            self.gap_at.get_or_insert(now);
            if self.quick > 0 {
                self.ack_now = true;
            } else {
                // In a bulk transfer fragments are reordered all the time, and a gap mostly closes within an interval: an
                // immediate ACK for each would cost as much air and work as the data.
                self.count_for_ack(now, every, ACK_DELAY);
            }
            return;
        }
        let filled_a_gap = self.gap_at.take().is_some();
        let mut next = Some((segment.kind, segment.payload));
        while let Some((kind, payload)) = next {
            self.incoming.extend(&payload);
            self.next_expected = self.next_expected.wrapping_add(1);
            if kind == Kind::End {
                self.ended = true;
                self.reorder_buffer.clear();
            }
            next = self.reorder_buffer.pop_front().flatten();
        }
        if !self.reorder_buffer.is_empty() {
            // Another gap follows.
            self.gap_at = Some(now);
        }
        if self.ended || (filled_a_gap && self.quick > 0) {
            self.ack_now = true;
        }
        self.count_for_ack(now, every, delay);
    }

    /// Counts one more unacknowledged fragment: the ACK leaves now after `every` of them, else within `delay`.
    pub(super) fn count_for_ack(&mut self, now: Instant, every: u32, delay: Duration) {
        self.unacknowledged += 1;
        if self.unacknowledged >= every {
            self.ack_now = true;
        } else {
            let due = now + delay;
            self.ack_due = Some(self.ack_due.map_or(due, |at| at.min(due)));
        }
    }

    pub(super) fn segment(&self, kind: Kind, number: u16, payload: Bytes) -> Segment {
        // SACK has 32 bits; fragments beyond them are reported later.
        let told = self.reorder_buffer.iter().take(u32::BITS as usize).enumerate();
        let early = told.filter(|(_, fragment)| fragment.is_some());
        let sack = early.fold(0, |bits, (i, _)| bits | 1 << i);
        // Advertised in whole units; accepted is whatever fits.
        let room = self.receive_window() / WINDOW_UNIT * WINDOW_UNIT;
        Segment { kind, room, number, ack: self.next_expected, sack, payload }
    }

    /// Receive window in full fragments. Fragments in `ahead` already have their place in it.
    pub(super) fn receive_window(&self) -> u8 {
        let free = BUFFER.saturating_sub(self.incoming.len()) / LARGEST_PAYLOAD;
        free.min(usize::from(MAX_WINDOW)) as u8
    }
}
