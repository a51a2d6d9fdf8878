//! Traffic counters of the radio, which parse the data packets as they pass and need no support from the
//! programs.

use serde::Serialize;
use std::collections::HashMap;
use std::iter::Sum;
use std::ops::Sub;

/// Totals since the start of the radio, both directions together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Traffic {
    /// HCI data packets.
    pub(crate) packets: u64,
    /// Bytes in them: L2CAP headers, ATT and everything in it.
    pub(crate) bytes: u64,
    /// ATT writes and notifications.
    pub(crate) values: u64,
    /// Of those, values on an enhanced (EATT) channel; order between channels is not kept.
    pub(crate) values_on_eatt: u64,
}

impl Sub for Traffic {
    type Output = Traffic;
    fn sub(self, earlier: Traffic) -> Traffic {
        Traffic {
            packets: self.packets - earlier.packets,
            bytes: self.bytes - earlier.bytes,
            values: self.values - earlier.values,
            values_on_eatt: self.values_on_eatt - earlier.values_on_eatt,
        }
    }
}

impl Sum for Traffic {
    fn sum<I: Iterator<Item = Traffic>>(all: I) -> Traffic {
        all.fold(Traffic::default(), |sum, one| Traffic {
            packets: sum.packets + one.packets,
            bytes: sum.bytes + one.bytes,
            values: sum.values + one.values,
            values_on_eatt: sum.values_on_eatt + one.values_on_eatt,
        })
    }
}

/// One direction of one device's links.
#[derive(Default)]
pub(crate) struct Meter {
    pub(crate) traffic: Traffic,
    /// Longest value seen in an ATT write or notification, in bytes.
    pub(crate) longest_value: usize,
    /// Incomplete L2CAP frames, by link.
    frames: HashMap<u16, Vec<u8>>,
    /// Missing bytes of an EATT message, by link and channel.
    messages: HashMap<(u16, u16), usize>,
}

/// ATT's fixed channel; channels from `DYNAMIC` on are EATT here, since the game uses no other.
const ATT: u16 = 4;
const DYNAMIC: u16 = 0x40;

impl Meter {
    /// Counts a data packet, type byte included. An unparsable packet counts as bytes only.
    pub(crate) fn data(&mut self, packet: &[u8]) {
        let Some((header, body)) = packet.get(1..).and_then(|p| p.split_at_checked(4)) else { return };
        self.traffic.packets += 1;
        self.traffic.bytes += body.len() as u64;
        let flags = u16::from_le_bytes([header[0], header[1]]);
        let (link, begins) = (flags & 0x0fff, flags >> 12 & 3 != 1);
        let frame = self.frames.entry(link).or_default();
        if begins {
            frame.clear();
        }
        frame.extend_from_slice(body);
        let Some(&[l0, l1, c0, c1]) = frame.first_chunk::<4>() else { return };
        if frame.len() < 4 + u16::from_le_bytes([l0, l1]) as usize {
            return;
        }
        let frame = self.frames.remove(&link).expect("it was just filled");
        self.frame(link, u16::from_le_bytes([c0, c1]), &frame[4..]);
    }

    pub(crate) fn link_ended(&mut self, link: u16) {
        self.frames.remove(&link);
        self.messages.retain(|(of, _), _| *of != link);
    }

    fn frame(&mut self, link: u16, channel: u16, frame: &[u8]) {
        match channel {
            ATT => self.att(frame, frame.len(), false),
            DYNAMIC.. => {
                let rest = self.messages.remove(&(link, channel)).unwrap_or(0);
                if rest > 0 {
                    self.messages.insert((link, channel), rest.saturating_sub(frame.len()));
                } else if let Some((length, part)) = frame.split_first_chunk::<2>() {
                    let length = u16::from_le_bytes(*length) as usize;
                    self.messages.insert((link, channel), length.saturating_sub(part.len()));
                    self.att(part, length, true);
                }
            }
            _ => {}
        }
    }

    /// Counts the beginning of an ATT message of `length` bytes.
    fn att(&mut self, part: &[u8], length: usize, eatt: bool) {
        // Write request, notification, write command: a byte, a handle, the value.
        if let Some(0x12 | 0x1b | 0x52) = part.first() {
            self.traffic.values += 1;
            self.traffic.values_on_eatt += u64::from(eatt);
            self.longest_value = self.longest_value.max(length.saturating_sub(3));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_in_two_packets_is_one_value() {
        let mut meter = Meter::default();
        // Link 1, L2CAP length 8, channel 4: write command, handle, five bytes.
        meter.data(&[2, 1, 0x20, 6, 0, 8, 0, 4, 0, 0x52, 1]);
        meter.data(&[2, 1, 0x10, 6, 0, 0, 1, 2, 3, 4, 5]);
        assert_eq!((meter.traffic.values, meter.longest_value, meter.traffic.values_on_eatt), (1, 5, 0));
    }

    #[test]
    fn an_eatt_message_in_two_frames_is_one_value() {
        let mut meter = Meter::default();
        // Channel 0x40: message length 6, of which four bytes are in the first frame.
        meter.data(&[2, 1, 0x20, 10, 0, 6, 0, 0x40, 0, 6, 0, 0x1b, 1, 0, 9]);
        meter.data(&[2, 1, 0x20, 6, 0, 2, 0, 0x40, 0, 9, 9]);
        meter.data(&[2, 1, 0x20, 10, 0, 6, 0, 0x40, 0, 4, 0, 0x1b, 1, 0, 9]);
        assert_eq!((meter.traffic.values, meter.longest_value, meter.traffic.values_on_eatt), (2, 3, 2));
    }

    #[test]
    fn a_cut_packet_is_no_panic() {
        let whole = [2, 1, 0x20, 10, 0, 6, 0, 0x40, 0, 6, 0, 0x1b, 1, 0, 9];
        for cut in 0..whole.len() {
            Meter::default().data(&whole[..cut]);
        }
    }
}
