//! The 31 bytes of an advertisement and the 31 of its scan response, written and parsed.
//!
//! Flags take 3 bytes, a 128-bit UUID 18, so 10 are left: a manufacturer field with 6 bytes of ours. The name travels in
//! the scan response, because BlueZ refuses an advertisement that is too long, or cuts the name.

use link::{Card, PRESENCE_LENGTH, Tag};
use uuid::Uuid;

/// UUID of Qiyou's GATT service. The characteristics of this UUID never change: with `Cache = always`, BlueZ caches the
/// attribute handles by the UUID and would use stale ones.
pub const SERVICE: Uuid = Uuid::from_u128(0x1aea3cda_90c7_4f92_a929_83e7e62f688e);

/// Characteristic from central to peripheral: write without response.
pub const TO_PERIPHERAL: Uuid = Uuid::from_u128(0x1aea3cdb_90c7_4f92_a929_83e7e62f688e);

/// Characteristic from peripheral to central: notification.
pub const TO_CENTRAL: Uuid = Uuid::from_u128(0x1aea3cdc_90c7_4f92_a929_83e7e62f688e);

/// Company identifier that the Bluetooth SIG assigns to nobody and reserves for internal use.
pub const COMPANY: u16 = 0xFFFF;

/// Layout of the six bytes: the version in the high nibble of the first byte, state bits in its low nibble, then the tag.
const VERSION: u8 = 1;
const OPEN_TO_ALL: u8 = 0b0001;
const BUSY: u8 = 0b0010;
const NAMED: u8 = 0b0100;

/// Longest name in a scan response of 31 bytes: two go to length and type.
pub(crate) const LONGEST_NAME: usize = 29;

/// The six bytes of a card's manufacturer field.
pub fn card_payload(card: &Card) -> [u8; 1 + PRESENCE_LENGTH] {
    let mut state = VERSION << 4;
    state |= if card.open_to_all { OPEN_TO_ALL } else { 0 };
    state |= if card.busy { BUSY } else { 0 };
    state |= if card.name.is_some() { NAMED } else { 0 };
    let mut payload = [state; 1 + PRESENCE_LENGTH];
    payload[1..].copy_from_slice(&card.tag.0);
    payload
}

/// Parses a card from an advertisement. `None` for another version, which counts as another program, and for any other
/// payload.
///
/// `name` is the device name from the system; it counts only if the card says that it carries a name, because after a
/// connection BlueZ reports the peer's GAP name, its host name, instead.
pub fn read_card(payload: &[u8], name: Option<String>) -> Option<Card> {
    let (&state, tag) = payload.split_first()?;
    if state >> 4 != VERSION {
        return None;
    }
    Some(Card {
        tag: Tag(tag.try_into().ok()?),
        open_to_all: state & OPEN_TO_ALL != 0,
        busy: state & BUSY != 0,
        // The payload has no bit for a wish.
        wish: 0,
        name: name.filter(|_| state & NAMED != 0),
        seldom: false,
    })
}

/// The longest prefix of the name that fits, cut between characters.
pub fn fitting_name(name: &str) -> &str {
    let mut end = name.len().min(LONGEST_NAME);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_card_comes_back_from_the_air(tag: [u8; 5], open_to_all: bool, busy: bool, name: Option<String>) {
            let card = Card { tag: Tag(tag), open_to_all, busy, wish: 0, name, seldom: false };
            prop_assert_eq!(read_card(&card_payload(&card), card.name.clone()), Some(card));
        }

        #[test]
        fn anybody_elses_bytes_are_read_without_panic(bytes: Vec<u8>, name: Option<String>) {
            let _ = read_card(&bytes, name);
        }

        #[test]
        fn a_cut_name_is_whole_characters_and_fits(name: String) {
            let cut = fitting_name(&name);
            prop_assert!(cut.len() <= LONGEST_NAME && name.starts_with(cut));
            let next = name[cut.len()..].chars().next();
            prop_assert!(next.is_none_or(|next| cut.len() + next.len_utf8() > LONGEST_NAME));
        }
    }

    #[test]
    fn the_bytes_on_the_air_are_these() {
        let card = Card {
            tag: Tag([1, 2, 3, 4, 5]),
            open_to_all: true,
            busy: false,
            wish: 0,
            name: Some("阿明".into()),
            seldom: false,
        };
        assert_eq!(card_payload(&card), [0x15, 1, 2, 3, 4, 5]);
        assert_eq!(fitting_name("棋友棋友棋友棋友棋友"), "棋友棋友棋友棋友棋");
    }

    #[test]
    fn a_name_that_the_card_does_not_announce_is_somebody_elses() {
        let card =
            Card { tag: Tag([9; 5]), open_to_all: false, busy: true, wish: 0, name: None, seldom: false };
        assert_eq!(read_card(&card_payload(&card), Some("localhost".into())), Some(card));
    }

    #[test]
    fn another_version_is_not_ours() {
        assert_eq!(read_card(&[0x25, 1, 2, 3, 4, 5], None), None);
        assert_eq!(read_card(&[0x15, 1, 2, 3, 4], None), None);
        assert_eq!(read_card(&[0x15, 1, 2, 3, 4, 5, 6], None), None);
        assert_eq!(read_card(&[], None), None);
    }
}
