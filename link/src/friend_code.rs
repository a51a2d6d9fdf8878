//! A friend code: a device's key and addresses, as a link that fits a QR code:
//! `qiyou:friend/1/KEY?n=NAME&t=TAG&lan=PLACE&xmpp=JID`.
//!
//! The key authenticates the friend: whoever scans the code from the friend's screen excludes a man in the middle. Nothing in
//! the code is secret. The name and the places are hints and may be outdated; the tag lets Bluetooth find the device during the
//! quarter of an hour in which the code was shown.

use std::fmt::{self, Write as _};
use std::net::SocketAddr;

use proto::limits;
use qrcode::{EcLevel, QrCode};

use crate::{Address, CarrierKind, PRESENCE_LENGTH, Tag};

/// Prefix of every code: a URI scheme of our own, so that a phone's camera offers to open the app, then the layout's version.
const BEGINNING: &str = "qiyou:friend/1/";

/// Longest accepted code. A code with a long name and eight places has about 700 bytes; a QR code at this level holds 2,331.
pub const LONGEST: usize = limits::FRIEND_CODE_BYTES;

/// Places in one code: two of each protocol on two interfaces, and accounts.
pub const PLACES: usize = 8;

/// The contents of a friend code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FriendCode {
    /// The device's static public key.
    pub key: [u8; 32],
    /// The device's name; may be empty.
    pub name: String,
    /// The device's tag when the code was made.
    pub tag: Option<Tag>,
    /// Where the device can be dialed: socket addresses of the local network, and accounts. At most [`PLACES`].
    pub places: Vec<Address>,
}

/// Why a text is no friend code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotACode {
    /// Another kind of link, or no link at all.
    #[error("not a qiyou:friend link")]
    OtherLink,
    /// Of a later layout.
    #[error("made by a newer Qiyou")]
    Newer,
    /// More than [`LONGEST`] bytes or [`PLACES`] places.
    #[error("too long")]
    TooLong,
    /// The key is not 64 hexadecimal digits.
    #[error("the key is not whole")]
    Key,
    /// A field with an invalid value.
    #[error("{0} cannot be read")]
    Field(&'static str),
}

const NAME: &str = "n";
const TAG: &str = "t";
const LAN: &str = "lan";
const XMPP: &str = "xmpp";

impl fmt::Display for FriendCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(BEGINNING)?;
        f.write_str(&crate::hex::text(&self.key))?;
        let mut before = '?';
        let mut field = |f: &mut fmt::Formatter<'_>, key: &str, value: &str| {
            write!(f, "{before}{key}=")?;
            before = '&';
            escape(f, value)
        };
        if !self.name.is_empty() {
            field(f, NAME, &self.name)?;
        }
        if let Some(tag) = self.tag {
            field(f, TAG, &crate::hex::text(&tag.0))?;
        }
        for place in self.places.iter().take(PLACES) {
            match place.kind {
                CarrierKind::Lan => field(f, LAN, &place.text)?,
                CarrierKind::Online => field(f, XMPP, &place.text)?,
                // Bluetooth finds the device by the tag.
                CarrierKind::Bluetooth | CarrierKind::Memory => {}
            }
        }
        Ok(())
    }
}

impl FriendCode {
    /// Parses a code as typed, pasted or scanned; surrounding space and unknown fields are ignored.
    pub fn read(text: &str) -> Result<Self, NotACode> {
        let text = text.trim();
        if text.len() > LONGEST {
            return Err(NotACode::TooLong);
        }
        let Some(rest) = text.strip_prefix(BEGINNING) else {
            let newer = text.starts_with(BEGINNING.trim_end_matches("1/"));
            return Err(if newer { NotACode::Newer } else { NotACode::OtherLink });
        };
        let (key, fields) = rest.split_once('?').unwrap_or((rest, ""));
        let key = crate::hex::bytes(key.as_bytes()).ok_or(NotACode::Key)?;
        let mut code = Self { key, name: String::new(), tag: None, places: Vec::new() };
        for field in fields.split('&').filter(|field| !field.is_empty()) {
            let (key, value) = field.split_once('=').unwrap_or((field, ""));
            let value = || unescape(value);
            match key {
                NAME => code.name = limits::fit_name(&value().ok_or(NotACode::Field("the name"))?),
                TAG => {
                    let tag = value().and_then(|text| crate::hex::bytes::<PRESENCE_LENGTH>(text.as_bytes()));
                    code.tag = Some(Tag(tag.ok_or(NotACode::Field("the tag"))?));
                }
                LAN => {
                    let place = value().and_then(|text| text.parse::<SocketAddr>().ok());
                    let place = place.ok_or(NotACode::Field("a network address"))?;
                    code.places.push(Address { kind: CarrierKind::Lan, text: place.to_string() });
                }
                XMPP => {
                    let account = value().filter(|text| is_account(text));
                    let text = account.ok_or(NotACode::Field("an account"))?;
                    code.places.push(Address { kind: CarrierKind::Online, text });
                }
                _ => {}
            }
        }
        if code.places.len() > PLACES {
            return Err(NotACode::TooLong);
        }
        Ok(code)
    }

    /// The code as a QR code.
    pub fn qr(&self) -> Qr {
        Qr::of(&self.to_string())
    }
}

/// Whether the text looks like `name@server`; the carrier makes the final check.
fn is_account(text: &str) -> bool {
    /// Each of a JID's three parts has at most 1,023 bytes (RFC 7622); real JIDs are far below.
    const LONGEST_ACCOUNT: usize = 256;
    let parts = text.split_once('@');
    text.len() <= LONGEST_ACCOUNT
        && parts.is_some_and(|(name, server)| !name.is_empty() && !server.is_empty() && !server.contains('@'))
        && !text.chars().any(|c| c.is_control() || c.is_whitespace() || c == '/')
}

/// A square of dark and light modules, without the quiet zone of four modules that readers need around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qr {
    /// Modules of one side: 21 to 177.
    pub side: usize,
    /// Row by row from the top, each from the left: whether the module is dark.
    pub dark: Vec<bool>,
}

impl Qr {
    /// The code of a text of at most 2,000 bytes.
    pub fn of(text: &str) -> Self {
        // Level M corrects 15 % errors, enough for a scratched or reflecting screen, without making the modules much smaller.
        let code = QrCode::with_error_correction_level(text, EcLevel::M)
            .expect("a code is shorter than what the largest QR code holds");
        Self {
            side: code.width(),
            dark: code.into_colors().into_iter().map(|color| color == qrcode::Color::Dark).collect(),
        }
    }

    /// One bit per module, each row in whole bytes, the lowest bit first; 1 is dark.
    pub fn packed(&self) -> Vec<u8> {
        let rows = self.dark.chunks(self.side);
        let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, dark| byte << 1 | u8::from(*dark));
        rows.flat_map(|row| row.chunks(8).map(byte)).collect()
    }
}

/// Percent-encodes all characters except those allowed in a query (RFC 3986, section 3.4) that cannot end a field.
fn escape(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    text.bytes().try_for_each(|byte| {
        if byte.is_ascii_alphanumeric() || b"-._~:@[]".contains(&byte) {
            f.write_char(char::from(byte))
        } else {
            write!(f, "%{byte:02X}")
        }
    })
}

fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first == b'%' {
            let (digits, after) = after.split_at_checked(2)?;
            bytes.push(crate::hex::bytes::<1>(digits)?[0]);
            rest = after;
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lan(text: &str) -> Address {
        Address { kind: CarrierKind::Lan, text: text.into() }
    }

    fn online(text: &str) -> Address {
        Address { kind: CarrierKind::Online, text: text.into() }
    }

    #[test]
    fn a_code_looks_like_this() {
        let code = FriendCode {
            key: [0xA1; 32],
            name: "小明 & co".into(),
            tag: Some(Tag([1, 2, 3, 4, 255])),
            places: vec![lan("10.0.0.7:4711"), lan("[fd77::7]:4711"), online("ming@example.org")],
        };
        let text = code.to_string();
        let key = "a1".repeat(32);
        assert_eq!(
            text,
            format!(
                "qiyou:friend/1/{key}?n=%E5%B0%8F%E6%98%8E%20%26%20co&t=01020304ff&lan=10.0.0.7:4711\
                 &lan=[fd77::7]:4711&xmpp=ming@example.org"
            )
        );
        assert_eq!(FriendCode::read(&format!("  {text}\n")), Ok(code));
        let bare = FriendCode { key: [7; 32], name: String::new(), tag: None, places: Vec::new() };
        assert_eq!(FriendCode::read(&bare.to_string()), Ok(bare));
    }

    #[test]
    fn what_is_no_code_says_why() {
        let key = "a1".repeat(32);
        let with = |fields: &str| format!("{BEGINNING}{key}?{fields}");
        for (text, why) in [
            (String::new(), NotACode::OtherLink),
            ("https://example.org".into(), NotACode::OtherLink),
            (format!("qiyou:friend/2/{key}"), NotACode::Newer),
            (format!("{BEGINNING}{}", &key[1..]), NotACode::Key),
            (format!("{BEGINNING}{key}a1"), NotACode::Key),
            (format!("{BEGINNING}{}g", &key[1..]), NotACode::Key),
            (with("n=%"), NotACode::Field("the name")),
            (with("n=%FF"), NotACode::Field("the name")),
            (with("t=0102"), NotACode::Field("the tag")),
            (with("lan=somewhere"), NotACode::Field("a network address")),
            (with("lan=10.0.0.1"), NotACode::Field("a network address")),
            (with("xmpp=example.org"), NotACode::Field("an account")),
            (with("xmpp=a@b/c"), NotACode::Field("an account")),
            (with("xmpp=a@b@c"), NotACode::Field("an account")),
            (with(&"xmpp=a@b&".repeat(9)), NotACode::TooLong),
            (with(&"x".repeat(2_000)), NotACode::TooLong),
        ] {
            assert_eq!(FriendCode::read(&text), Err(why), "{text}");
        }
    }

    #[test]
    fn fields_of_the_future_are_passed_over_and_names_cannot_break_out_of_a_line() {
        let text = format!("{BEGINNING}{}?later=yes&&n=a%0Ab%E2%80%AEc&flag", "00".repeat(32));
        assert_eq!(FriendCode::read(&text).expect("a code").name, "abc");
    }

    proptest! {
        #[test]
        fn a_code_comes_back_as_it_was_made(key: [u8; 32], name in ".{0,32}", tag: Option<[u8; 5]>, port: u16, ip: u32) {
            let place = SocketAddr::from((std::net::Ipv4Addr::from(ip), port)).to_string();
            let name = limits::fit_name(&name);
            let code = FriendCode { key, name, tag: tag.map(Tag), places: vec![lan(&place)] };
            prop_assert_eq!(FriendCode::read(&code.to_string()), Ok(code));
        }

        #[test]
        fn no_text_panics(text in "(qiyou:friend/1/)?[0-9a-f]{60,66}(\\?[ntlanxmp=&%@.:0-9\\PC]{0,80})?") {
            let _ = FriendCode::read(&text);
        }
    }

    #[test]
    fn the_longest_code_fits_a_qr_code_and_has_its_finders() {
        let code = FriendCode {
            key: [0xA1; 32],
            name: "😀".repeat(32),
            tag: Some(Tag([1; 5])),
            places: vec![lan("[fd77:1234:5678:9abc:def0:1234:5678:9abc]:65535"); PLACES],
        };
        let text = code.to_string();
        assert!(text.len() <= LONGEST, "{}", text.len());
        let qr = code.qr();
        assert_eq!(qr.dark.len(), qr.side * qr.side);
        // The ring of the finder pattern in three corners (ISO/IEC 18004, section 6.3.3).
        for (row, column) in [(0, 0), (0, qr.side - 7), (qr.side - 7, 0)] {
            for at in 0..7 {
                assert!(qr.dark[row * qr.side + column + at] && qr.dark[(row + at) * qr.side + column]);
            }
            assert!(!qr.dark[(row + 1) * qr.side + column + 1]);
        }
        let packed = qr.packed();
        assert_eq!(packed.len(), qr.side * qr.side.div_ceil(8));
        for (at, dark) in qr.dark.iter().enumerate() {
            let (row, column) = (at / qr.side, at % qr.side);
            assert_eq!(packed[row * qr.side.div_ceil(8) + column / 8] >> (column % 8) & 1 == 1, *dark);
        }
    }
}
