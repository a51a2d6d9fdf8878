//! Removes names, keys and addresses from text that a person sends to others.
//!
//! What the host knows is replaced wherever it stands: names, ids, notes, accounts. What it does not know is recognised by its
//! form: Bluetooth and IP addresses, accounts, keys, friend codes, and the values of fields of the log that carry names.

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::HostState;

/// In the place of what was removed.
const HIDDEN: &str = "<hidden>";

/// Fields of the log whose values name people, devices or keys.
const FIELDS: [&str; 16] = [
    "name", "peer", "who", "player", "friend", "address", "account", "key", "id", "room", "match", "from",
    "to", "tag", "path", "folder",
];

/// Words that are removed wherever they stand.
#[derive(Default)]
pub struct Redactor {
    /// Longest first, so that a name within a longer one leaves no remainder.
    words: Vec<String>,
}

impl Redactor {
    /// `state`: of the host, where one runs. Also the user's own names: home, login, host name.
    pub fn new(state: Option<&HostState>) -> Self {
        let mut words = BTreeSet::new();
        let mut add = |word: &str| {
            // A single letter is no name that anybody would be found by, and stands in every word.
            if word.chars().count() > 1 || !word.is_ascii() {
                words.insert(word.to_owned());
            }
        };
        if let Some(state) = state {
            for word in known(state) {
                add(word);
            }
        }
        for variable in ["HOME", "USER", "LOGNAME"] {
            if let Ok(value) = std::env::var(variable)
                && value != "root"
                && value != "/root"
                && value != "/"
            {
                add(&value);
            }
        }
        if let Ok(name) = std::fs::read_to_string("/etc/hostname")
            && name.trim() != "localhost"
        {
            add(name.trim());
        }
        let mut words: Vec<String> = words.into_iter().collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        Self { words }
    }

    /// The text without what identifies anybody.
    pub fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for word in &self.words {
            text = without(&text, word);
        }
        text.lines().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// All names, ids and addresses in the host's state.
fn known(state: &HostState) -> impl Iterator<Item = &str> {
    let me = [state.me.name.as_str(), state.me.fingerprint.as_str()];
    let friends = state
        .friends
        .values()
        .flat_map(|one| [one.id.as_str(), one.name.as_str(), one.note.as_str(), one.account.as_str()]);
    let nearby = state.nearby.values().flat_map(|one| [one.id.as_str(), one.name.as_str()]);
    let strangers = state.strangers.values().flat_map(|one| [one.id.as_str(), one.name.as_str()]);
    let blocked = state.blocked.values().flat_map(|one| [one.id.as_str(), one.name.as_str()]);
    let contacts = state.contacts.values().map(|one| one.account.as_str());
    let account = state.account.iter().map(|one| one.account.as_str());
    let rooms = state.rooms.values().flat_map(|room| {
        let names = [&room.first, &room.second].into_iter().flatten().map(|seat| seat.name.as_str());
        names.chain([room.id.as_str()])
    });
    let connecting = state.connecting.values().flat_map(|one| [one.peer.as_str(), one.name.as_str()]);
    let people = me.into_iter().chain(friends).chain(nearby).chain(strangers).chain(blocked);
    people.chain(contacts).chain(account).chain(rooms).chain(connecting).filter(|word| !word.is_empty())
}

/// `word` removed where it is not a part of a longer ASCII word: a player called "on" does not empty the text.
fn without(text: &str, word: &str) -> String {
    let is_part = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_alphanumeric());
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, after) = (&rest[..at], &rest[at + word.len()..]);
        let joins = |inner: Option<char>, outer: Option<char>| is_part(inner) && is_part(outer);
        let inside =
            joins(word.chars().next(), before.chars().next_back().or_else(|| out.chars().next_back()))
                || joins(word.chars().next_back(), after.chars().next());
        out.push_str(before);
        out.push_str(if inside { word } else { HIDDEN });
        rest = after;
    }
    out + rest
}

/// One line, word by word.
fn line(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if is_delimiter(first) {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let end = rest.find(is_delimiter).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if let Some(value) = after.strip_prefix('=').filter(|_| FIELDS.contains(&word)) {
            out.push_str(word);
            out.push('=');
            out.push_str(HIDDEN);
            rest = skip_value(value);
        } else {
            out.push_str(if identifies(word) { HIDDEN } else { word });
            rest = after;
        }
    }
    out
}

fn is_delimiter(letter: char) -> bool {
    letter.is_whitespace() || "\"'=,;()[]{}<>/|`".contains(letter)
}

/// What follows the value of a field: a quoted text, or everything up to the next blank.
fn skip_value(value: &str) -> &str {
    if let Some(quoted) = value.strip_prefix('"') {
        let mut escaped = false;
        for (at, letter) in quoted.char_indices() {
            match letter {
                '"' if !escaped => return &quoted[at + 1..],
                '\\' => escaped = !escaped,
                _ => escaped = false,
            }
        }
        return "";
    }
    value.find(char::is_whitespace).map_or("", |end| &value[end..])
}

/// Whether a word has the form of an address, an account, a key or a friend code.
fn identifies(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ':', '!', '?']);
    let only_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts: Vec<&str> = word.split([':', '-', '_']).collect();
    // In a path of BlueZ: dev_00_AA_01_00_00_42.
    let pairs = parts.iter().filter(|part| part.len() == 2 && only_hex(part)).count();
    let is_mac = pairs >= 6;
    let is_ip = |text: &str| text.split('%').next().unwrap_or(text).parse::<IpAddr>().is_ok();
    let has_ip = is_ip(word)
        || word.rsplit_once(':').is_some_and(|(host, port)| {
            port.parse::<u16>().is_ok() && is_ip(host)
                || is_ip(port) && host.bytes().all(|byte| byte.is_ascii_alphabetic())
        })
        || word.split(':').any(|part| part.contains('.') && is_ip(part));
    let is_account =
        word.split_once('@').is_some_and(|(user, server)| !user.is_empty() && server.contains('.'));
    let is_code = word.starts_with("qiyou:");
    // Keys in base32 and hexadecimal, whole or in groups.
    let dense = |text: &str, least: usize| {
        let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        text.len() >= least && letters + digits == text.len() && letters > 0 && digits > 0
    };
    let is_key = parts.iter().any(|part| dense(part, 20) || (part.len() >= 12 && only_hex(part)));
    let groups =
        parts.iter().filter(|part| part.len() == 4 && part.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    is_mac || has_ip || is_account || is_code || is_key || groups.count() >= 3
}

#[cfg(test)]
mod tests {
    use proto::control::{Friend, Me};

    use super::*;

    fn redactor() -> Redactor {
        let mut state = HostState {
            me: Me { name: "Anna".into(), fingerprint: "ouly-7fpw-4sab-cdef".into(), ..Me::default() },
            ..HostState::default()
        };
        for (id, name, note) in [("k1", "Ben", "from the train"), ("k2", "琳", ""), ("k3", "on", "")] {
            let friend = Friend { id: id.into(), name: name.into(), note: note.into(), ..Friend::default() };
            state.friends.insert(id.into(), friend);
        }
        Redactor::new(Some(&state))
    }

    #[test]
    fn what_the_host_knows_of_people_is_removed_wherever_it_stands() {
        let text = redactor()
            .redact("Ben plays Anna; k1: from the train, 琳说, Bentley and Anna2 stay, connection on");
        assert_eq!(
            text,
            "<hidden> plays <hidden>; <hidden>: <hidden>, <hidden>说, Bentley and Anna2 stay, connection <hidden>"
        );
    }

    #[test]
    fn addresses_accounts_keys_and_codes_are_recognised_by_their_form() {
        for secret in [
            "00:AA:01:00:00:42",
            "/org/bluez/hci0/dev_00_AA_01_00_00_42",
            "192.168.1.5",
            "192.168.1.5:47415",
            "[fe80::1%wlan0]:80",
            "fd00::7",
            "Lan:192.168.1.5:47415",
            "ben@example.org",
            "ben@example.org/qiyou",
            "qiyou:friend/1/abc",
            "ouly7fpw4sabcdefghijklmnopqrstuvwxyz234567abcdefghij",
            "3f2a91c05b7e44d1a07be4420c91ff03",
            "3f2a91c05b7e",
            "ouly-7fpw-4sab-cdef-ghij",
            "Bluetooth:00:AA:01:00:00:42",
        ] {
            let text = Redactor::default().redact(&format!("dialing {secret}, soon"));
            assert!(text.starts_with("dialing "), "{text}");
            assert!(text.contains(HIDDEN) && text.ends_with("soon"), "{secret}: {text}");
            for part in secret.split(['/', '[', ']']).filter(|part| part.len() > 6 && *part != "friend") {
                assert!(!text.contains(part) || part == "bluez", "{secret}: {text}");
            }
        }
    }

    #[test]
    fn what_a_developer_needs_stays() {
        for text in [
            "2026-03-01T10:11:12.131415Z  INFO host::reach: a carrier's state carrier=Bluetooth state=Ready",
            "kernel 6.1.0-56-amd64, BlueZ 5.66, qiyouctl 0.3.1",
            "WARN ble_transport::linux::advertising: org.bluez.Error.Failed: Not permitted (0x0c)",
            "round trip 52 ms, MTU 517, hci0",
        ] {
            assert_eq!(Redactor::default().redact(text), text);
        }
    }

    #[test]
    fn fields_of_the_log_that_carry_names_lose_their_values() {
        let text = Redactor::default().redact(
            r#"INFO host: the host has started name="Anna \"the rook\" B" rooms=1 peer=abc def=2 address=x"#,
        );
        assert_eq!(
            text,
            "INFO host: the host has started name=<hidden> rooms=1 peer=<hidden> def=2 address=<hidden>"
        );
    }
}
