//! Where friends are: codes that a person scans or pastes, and cards that devices announce on the local network.

use std::collections::BTreeMap;

use link::friend_code::{FriendCode, LONGEST};
use link::lan::{card_strings, read_card};
use proto::limits;

/// Whatever is accepted is written as a code that means the same.
pub(crate) fn friend_code(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match FriendCode::read(&text) {
        Ok(code) => {
            assert!(text.trim().len() <= LONGEST);
            let written = code.to_string();
            // A place may be longer in its canonical form, so that a code of the greatest length cannot be written again.
            if written.len() <= LONGEST {
                assert_eq!(FriendCode::read(&written).as_ref(), Ok(&code), "{written}");
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A TXT record, a string `key=value` a line: a card that is read is written as one that is read the same.
pub(crate) fn card(bytes: &[u8]) {
    let lines = bytes.split(|byte| *byte == b'\n');
    let strings: BTreeMap<&[u8], &[u8]> = lines
        .filter_map(|line| {
            let (key, value) = line.split_at(line.iter().position(|byte| *byte == b'=')?);
            Some((key, &value[1..]))
        })
        .collect();
    let Some(card) = read_card(|key| strings.get(key.as_bytes()).copied()) else { return };
    assert!(card.name.as_ref().is_none_or(|name| name.len() <= limits::NAME_BYTES));
    let written: BTreeMap<&str, String> = card_strings(&card).into_iter().collect();
    assert!(
        written.iter().all(|(key, value)| key.len() + 1 + value.len() <= 255),
        "a string of DNS: {written:?}"
    );
    assert_eq!(read_card(|key| written.get(key).map(String::as_bytes)).as_ref(), Some(&card));
}
