//! The rotating tag of an advertisement.

use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::{PRESENCE_LENGTH, Tag};

/// A quarter of an hour, counted from the beginning of 1970 in UTC. Friends whose clocks are at most one epoch apart always know
/// each other's tags; from two epochs on they never do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Epoch(pub u64);

impl Epoch {
    /// The interval that Bluetooth recommends for changing a private address (Core 5.4, volume 3, part C, appendix A:
    /// TGAP(private_addr_int)): a tag with a longer life would link the changed addresses.
    pub const LENGTH: Duration = Duration::from_mins(15);

    /// The epoch of this moment.
    pub fn at(since_1970: Duration) -> Self {
        Self(since_1970.as_secs() / Self::LENGTH.as_secs())
    }

    /// The start of the next epoch, since 1970: the moment to give a transport the next tag.
    pub fn end(self) -> Duration {
        Duration::from_secs(self.0.saturating_add(1).saturating_mul(Self::LENGTH.as_secs()))
    }
}

impl Tag {
    /// First 40 bits of HMAC-SHA256 of the epoch, as eight bytes, big-endian, under the device's advert key.
    pub fn of(advert_key: &[u8; 32], epoch: Epoch) -> Self {
        let mut mac = Hmac::<Sha256>::new_from_slice(advert_key).expect("HMAC takes a key of any length");
        mac.update(&epoch.0.to_be_bytes());
        let code = mac.finalize().into_bytes();
        let mut tag = [0; PRESENCE_LENGTH];
        tag.copy_from_slice(&code[..PRESENCE_LENGTH]);
        Self(tag)
    }

    /// Whether this tag is of the device with this advert key: now, or with a clock that is up to one epoch wrong. A
    /// stranger's tag matches once in 2^38 checks, and then the handshake fails.
    pub fn is_of(self, advert_key: &[u8; 32], now: Epoch) -> bool {
        let near = now.0.saturating_sub(1)..=now.0.saturating_add(1);
        near.into_iter().any(|epoch| Self::of(advert_key, Epoch(epoch)) == self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_the_beginning_of_an_hmac() {
        // Computed with Python: hmac.new(bytes(range(32)), struct.pack('>Q', 1_950_000), 'sha256').digest()[:5]
        let key: [u8; 32] = std::array::from_fn(|at| at as u8);
        assert_eq!(Tag::of(&key, Epoch(1_950_000)), Tag(GOLDEN));
    }

    const GOLDEN: [u8; 5] = [0x52, 0xD4, 0x8C, 0x9E, 0x18];

    #[test]
    fn a_friend_is_recognised_by_a_clock_that_is_one_epoch_wrong_and_no_more() {
        let (friend, stranger) = ([7; 32], [8; 32]);
        let now = Epoch::at(Duration::from_secs(1_755_000_007));
        for (epoch, known) in [(-2, false), (-1, true), (0, true), (1, true), (2, false)] {
            let tag = Tag::of(&friend, Epoch(now.0.saturating_add_signed(epoch)));
            assert_eq!(tag.is_of(&friend, now), known, "{epoch} epochs away");
            assert!(!tag.is_of(&stranger, now));
        }
    }

    #[test]
    fn an_epoch_ends_where_the_next_begins() {
        let epoch = Epoch::at(Duration::from_secs(1_755_000_123));
        assert_eq!(Epoch::at(epoch.end()), Epoch(epoch.0 + 1));
        assert_eq!(Epoch::at(epoch.end().saturating_sub(Duration::from_secs(1))), epoch);
        assert!(!Tag([0; 5]).is_of(&[1; 32], Epoch(0)), "the first epoch has none before it");
        assert!(!Tag([0; 5]).is_of(&[1; 32], Epoch(u64::MAX)), "nor the last one after it");
    }
}
