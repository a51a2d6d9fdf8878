//! HCI packets on a serial line (H4; Bluetooth Core, Vol 4, Part A): a type byte, then the packet.

use anyhow::{Result, bail};

/// The relevant type bytes.
pub(crate) const COMMAND: u8 = 1;
pub(crate) const ACL: u8 = 2;
pub(crate) const EVENT: u8 = 4;

/// Splits a byte stream into packets, independent of how the stream arrives.
#[derive(Default)]
pub(crate) struct Splitter(Vec<u8>);

impl Splitter {
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The next whole packet, or `None` until more bytes arrive. An unknown type means that the stream has lost
    /// its packet boundary.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let buffer = &self.0;
        let byte = |at: usize| buffer.get(at).map(|&b| b as usize);
        let word = |at: usize| Some(byte(at)? | byte(at + 1)? << 8);
        let length = match buffer.first() {
            None => return Ok(None),
            Some(&COMMAND | 3) => byte(3).map(|n| 4 + n),
            Some(&ACL) => word(3).map(|n| 5 + n),
            Some(&EVENT) => byte(2).map(|n| 3 + n),
            Some(5) => word(3).map(|n| 5 + (n & 0x3fff)),
            Some(kind) => bail!("HCI line out of step: packet type {kind:#04x}"),
        };
        Ok(match length {
            Some(length) if buffer.len() >= length => Some(self.0.drain(..length).collect()),
            _ => None,
        })
    }
}

/// A host's command, as far as the lab parses it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Command {
    /// Advertising on or off.
    Advertise(bool),
    /// Scanning on or off.
    Scan(bool),
    /// Everything off, as after power on.
    Reset,
    Other,
}

/// Parses a command packet, type byte included.
pub(crate) fn command(packet: &[u8]) -> Command {
    let on = packet.get(4) == Some(&1);
    match packet.get(1..3) {
        // LE Set (Extended) Advertising Enable, LE Set (Extended) Scan Enable.
        Some([0x0a | 0x39, 0x20]) => Command::Advertise(on),
        Some([0x0c | 0x42, 0x20]) => Command::Scan(on),
        Some([0x03, 0x0c]) => Command::Reset,
        _ => Command::Other,
    }
}

/// The answer "command disallowed" to this command.
pub(crate) fn disallowed(command: &[u8]) -> [u8; 7] {
    let byte = |at| command.get(at).copied().unwrap_or_default();
    [EVENT, 0x0e, 4, 1, byte(1), byte(2), 0x0c]
}

/// Commands that silence a controller: advertising off, scanning off, reset.
pub(crate) const SILENCE: [&[u8]; 3] =
    [&[COMMAND, 0x0a, 0x20, 1, 0], &[COMMAND, 0x0c, 0x20, 2, 0, 0], &[COMMAND, 0x03, 0x0c, 0]];

/// A controller's event, as far as the lab parses it.
#[derive(Debug, PartialEq)]
pub(crate) enum Event {
    /// An LE link is up, with this handle.
    Connected(u16),
    /// A link ended.
    Disconnected(u16),
    /// The controller has accepted or rejected a Disconnect command.
    DisconnectStatus,
    /// An advertisement was heard.
    Advert,
    Other,
}

/// Parses an event packet, type byte included.
pub(crate) fn event(packet: &[u8]) -> Event {
    let handle = |at: usize| Some(u16::from_le_bytes([*packet.get(at)?, *packet.get(at + 1)?]) & 0x0fff);
    let read = || {
        Some(match (*packet.get(1)?, packet.get(3)) {
            (0x05, Some(0)) => Event::Disconnected(handle(4)?),
            (0x0f, _) if packet.get(5..7) == Some(&[0x06, 0x04]) => Event::DisconnectStatus,
            (0x3e, Some(0x01 | 0x0a | 0x29)) if packet.get(4) == Some(&0) => Event::Connected(handle(5)?),
            (0x3e, Some(0x02 | 0x0b | 0x0d)) => Event::Advert,
            _ => Event::Other,
        })
    };
    read().unwrap_or(Event::Other)
}

/// Lowers the MTU in ATT's Exchange MTU request or response to `most`, if the data packet is one.
pub(crate) fn lower_mtu(packet: &mut [u8], most: u16) {
    // Link, length; L2CAP's length and ATT's channel; opcode, MTU.
    if let [ACL, _, _, _, _, 3, 0, 4, 0, 2 | 3, low, high] = packet {
        [*low, *high] = u16::from_le_bytes([*low, *high]).min(most).to_le_bytes();
    }
}

/// A command of BR/EDR that looks for devices.
pub(crate) fn is_inquiry(command: &[u8]) -> bool {
    command.get(1..3) == Some(&[0x01, 0x04])
}

/// Whether a command that begins advertising is one of Bluetooth 5's extended advertising.
pub(crate) fn is_extended(command: &[u8]) -> bool {
    command.get(1..3) == Some(&[0x39, 0x20])
}

/// What an address tells of its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AddressKind {
    /// Always the same one.
    Public,
    /// Changes; only who holds the device's key can recognise it.
    ResolvablePrivate,
    /// Static, or private and not resolvable.
    OtherRandom,
}

/// The kind of the peer's address in a connection event.
pub(crate) fn peer_address(packet: &[u8]) -> Option<AddressKind> {
    let highest = *packet.get(14)?;
    Some(match packet.get(8)? {
        0 => AddressKind::Public,
        _ if highest >> 6 == 0b01 => AddressKind::ResolvablePrivate,
        _ => AddressKind::OtherRandom,
    })
}

/// Whether a connection event says that this end is the peripheral.
pub(crate) fn is_peripheral(packet: &[u8]) -> bool {
    packet.get(7) == Some(&1)
}

/// Offset of the reason in a disconnection event.
pub(crate) const DISCONNECTION_REASON: usize = 6;

/// A Disconnect command as the host would send it ("remote user terminated").
pub(crate) fn disconnect(handle: u16) -> [u8; 7] {
    let [low, high] = handle.to_le_bytes();
    [COMMAND, 0x06, 0x04, 3, low, high, 0x13]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_cut_gives_the_same_packets() {
        let packets: [&[u8]; 3] = [&[1, 3, 12, 0], &[2, 1, 0, 3, 0, 7, 8, 9], &[4, 5, 4, 0, 1, 0, 0x13]];
        let line = packets.concat();
        for cut in 0..=line.len() {
            let mut splitter = Splitter::default();
            let mut got = Vec::new();
            for part in [&line[..cut], &line[cut..]] {
                splitter.feed(part);
                while let Some(packet) = splitter.next().expect("in step") {
                    got.push(packet);
                }
            }
            assert_eq!(got, packets);
        }
    }

    #[test]
    fn a_line_out_of_step_is_an_error() {
        let mut splitter = Splitter::default();
        splitter.feed(&[9, 9, 9]);
        assert!(splitter.next().is_err());
    }

    #[test]
    fn adverts_and_scans_are_seen_and_refused() {
        assert_eq!(command(&[1, 0x0a, 0x20, 1, 1]), Command::Advertise(true));
        assert_eq!(command(&[1, 0x42, 0x20, 6, 0, 0, 0, 0, 0, 0]), Command::Scan(false));
        assert_eq!(command(&[1, 3, 12, 0]), Command::Reset);
        assert_eq!(command(&[1, 1, 0x10, 0]), Command::Other);
        assert_eq!(command(&[1]), Command::Other);
        assert_eq!(disallowed(&[1, 0x0c, 0x20, 2, 1, 1]), [4, 0x0e, 4, 1, 0x0c, 0x20, 0x0c]);
    }

    #[test]
    fn it_is_seen_how_a_device_advertises_and_is_addressed() {
        assert!(is_extended(&[1, 0x39, 0x20, 6, 1]) && !is_extended(&[1, 0x0a, 0x20, 1, 1]));
        assert!(is_inquiry(&[1, 0x01, 0x04, 5]) && !is_inquiry(&[1, 0x01, 0x20, 5]));
        let peer = |kind, highest| peer_address(&[4, 0x3e, 19, 1, 0, 42, 0, 0, kind, 1, 2, 3, 4, 5, highest]);
        assert_eq!(peer(0, 0x40), Some(AddressKind::Public));
        assert_eq!(peer(1, 0x7f), Some(AddressKind::ResolvablePrivate));
        assert_eq!(peer(1, 0xc0), Some(AddressKind::OtherRandom));
        assert_eq!(peer_address(&[4, 0x3e, 4, 1, 0, 42, 0]), None);
    }

    #[test]
    fn an_mtu_is_lowered_and_nothing_else_is_touched() {
        let lowered = |mut packet: Vec<u8>| {
            lower_mtu(&mut packet, 23);
            packet
        };
        let exchange = |opcode, [low, high]: [u8; 2]| vec![2, 7, 0x20, 7, 0, 3, 0, 4, 0, opcode, low, high];
        assert_eq!(lowered(exchange(2, [5, 2])), exchange(2, [23, 0]));
        assert_eq!(lowered(exchange(3, [5, 2])), exchange(3, [23, 0]));
        assert_eq!(lowered(exchange(3, [20, 0])), exchange(3, [20, 0]));
        // A read request of the same length.
        assert_eq!(lowered(exchange(0x0a, [5, 2])), exchange(0x0a, [5, 2]));
    }

    #[test]
    fn links_are_seen_coming_and_going() {
        assert_eq!(event(&[4, 0x3e, 19, 1, 0, 42, 0, 0]), Event::Connected(42));
        assert_eq!(event(&[4, 0x3e, 19, 1, 2, 42, 0, 0]), Event::Other, "a failed connection is none");
        assert_eq!(event(&[4, 5, 4, 0, 42, 0, 0x13]), Event::Disconnected(42));
        assert_eq!(event(&[4, 0x0f, 4, 0, 1, 6, 4]), Event::DisconnectStatus);
        assert_eq!(event(&[4, 0x3e]), Event::Other);
    }
}
