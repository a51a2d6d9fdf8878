//! A device's announcement on the local network: the strings of a TXT record, written and parsed.
//!
//! It carries as much as a Bluetooth advertisement, for the same reason: a listener learns that somebody plays here, and no
//! more. The names of the service instance and of its host are random and change with each tag, so that they reveal nothing
//! either.

use crate::{Card, Tag, hex};

/// The service type (RFC 6763, section 7): a network browser shows it as "Qiyou".
pub const SERVICE: &str = "_qiyou._tcp.local.";

/// Keys of the TXT record, one letter each (RFC 6763, section 6.4 advises at most nine).
const VERSION_KEY: &str = "v";
const STATE_KEY: &str = "s";
const TAG_KEY: &str = "t";
const NAME_KEY: &str = "n";
/// One hexadecimal digit; left out for 0.
const WISH_KEY: &str = "w";

/// Version of this layout. Another version counts as another program.
const VERSION: &str = "1";

const OPEN_TO_ALL: u8 = 0b01;
const BUSY: u8 = 0b10;

/// Bytes of an announced name: a TXT string has 255, the key included.
const LONGEST_NAME: usize = proto::limits::NAME_BYTES;

/// The TXT record of a card: about 20 bytes, plus the name if announced.
pub fn card_strings(card: &Card) -> Vec<(&'static str, String)> {
    let mut state = 0;
    state |= if card.open_to_all { OPEN_TO_ALL } else { 0 };
    state |= if card.busy { BUSY } else { 0 };
    let mut strings = vec![
        (VERSION_KEY, VERSION.to_owned()),
        (STATE_KEY, format!("{state:x}")),
        (TAG_KEY, hex::text(&card.tag.0)),
    ];
    if card.wish != 0 {
        strings.push((WISH_KEY, format!("{:x}", card.wish & 0xF)));
    }
    if let Some(name) = &card.name {
        strings.push((NAME_KEY, fitting(name).to_owned()));
    }
    strings
}

/// Parses a card from a TXT record. `None` for another version and for anything that is no card.
pub fn read_card<'a>(string: impl Fn(&str) -> Option<&'a [u8]>) -> Option<Card> {
    if string(VERSION_KEY)? != VERSION.as_bytes() {
        return None;
    }
    let state = match string(STATE_KEY)? {
        &[digit] => char::from(digit).to_digit(16)? as u8,
        _ => return None,
    };
    let wish = match string(WISH_KEY) {
        Some(&[digit]) => char::from(digit).to_digit(16).unwrap_or(0) as u8,
        _ => 0,
    };
    let name = string(NAME_KEY).and_then(|name| std::str::from_utf8(name).ok());
    Some(Card {
        tag: Tag(hex::bytes(string(TAG_KEY)?)?),
        open_to_all: state & OPEN_TO_ALL != 0,
        busy: state & BUSY != 0,
        wish,
        name: name.map(|name| fitting(name).to_owned()),
        seldom: false,
    })
}

/// The longest prefix of the name that fits, cut between characters.
fn fitting(name: &str) -> &str {
    let mut end = name.len().min(LONGEST_NAME);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn read(strings: &BTreeMap<String, Vec<u8>>) -> Option<Card> {
        read_card(|key| strings.get(key).map(Vec::as_slice))
    }

    fn written(card: &Card) -> BTreeMap<String, Vec<u8>> {
        card_strings(card).into_iter().map(|(key, value)| (key.to_owned(), value.into_bytes())).collect()
    }

    #[test]
    fn a_card_without_a_name_takes_as_little_as_a_bluetooth_advert() {
        let card = Card {
            tag: Tag([0, 1, 0xAB, 0xFF, 9]),
            open_to_all: false,
            busy: true,
            wish: 0,
            name: None,
            seldom: false,
        };
        let strings = card_strings(&card);
        assert_eq!(strings, [("v", "1".to_owned()), ("s", "2".to_owned()), ("t", "0001abff09".to_owned())]);
        // A length byte and an equals sign each: 22 bytes.
        let bytes: usize = strings.iter().map(|(key, value)| 2 + key.len() + value.len()).sum();
        assert!(bytes < 31);
    }

    #[test]
    fn another_version_and_broken_strings_are_no_card() {
        let card = Card {
            tag: Tag([1; 5]),
            open_to_all: true,
            busy: false,
            wish: 3,
            name: Some("Anna".into()),
            seldom: false,
        };
        let good = written(&card);
        assert_eq!(read(&good), Some(card));
        for (key, value) in [
            ("v", "2"),
            ("v", ""),
            ("s", ""),
            ("s", "10"),
            ("s", "x"),
            ("t", ""),
            ("t", "010101010"),
            ("t", "01010101010"),
            ("t", "010101010g"),
            ("t", "+1+1+1+1+1"),
            ("t", "é010101é"),
        ] {
            let mut bad = good.clone();
            bad.insert(key.to_owned(), value.as_bytes().to_vec());
            assert_eq!(read(&bad), None, "{key}={value}");
        }
        for key in ["v", "s", "t"] {
            let mut bad = good.clone();
            bad.remove(key);
            assert_eq!(read(&bad), None, "without {key}");
        }
        // An invalid extra field never hides the card.
        let mut odd = good.clone();
        odd.insert("w".to_owned(), b"zz".to_vec());
        assert_eq!(read(&odd).expect("still a card").wish, 0);
        let mut nameless = good;
        nameless.insert("n".to_owned(), vec![0xFF]);
        assert_eq!(read(&nameless).expect("still a card").name, None);
    }

    proptest! {
        #[test]
        fn a_card_comes_back_from_the_network(tag: [u8; 5], open_to_all: bool, busy: bool, wish in 0_u8..16, name in "[^\u{0}]{0,32}") {
            let card = Card { tag: Tag(tag), open_to_all, busy, wish, name: Some(name), seldom: false };
            prop_assert_eq!(read(&written(&card)), Some(card));
        }

        #[test]
        fn a_string_never_exceeds_what_a_txt_record_holds(name in ".{0,400}") {
            let card = Card { tag: Tag([0; 5]), open_to_all: true, busy: true, wish: 15, name: Some(name), seldom: false };
            for (key, value) in card_strings(&card) {
                prop_assert!(key.len() + 1 + value.len() <= 255);
            }
        }
    }
}
