//! Character encodings of SGF files.
//!
//! An SGF file declares its encoding in the property `CA` of the root; the default is Latin-1. Files without a declaration
//! that are valid UTF-8 are read as UTF-8, because some programs write it without `CA`. The whole file is decoded before
//! parsing: in GBK, Big5 and Shift_JIS the second byte of a character can be `]` or a backslash.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// The decoded text, and whether the file declares an unknown encoding. Invalid bytes become U+FFFD: a misspelled name is no
/// reason to reject the game.
pub(super) fn decode(bytes: &[u8]) -> (String, bool) {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return (encoding.decode_without_bom_handling(&bytes[length..]).0.into_owned(), false);
    }
    let (encoding, unknown) = match declared(bytes).as_deref() {
        None => (None, false),
        Some(label) => {
            let known = by_label(label);
            (known, known.is_none())
        }
    };
    let fallback = || if std::str::from_utf8(bytes).is_ok() { UTF_8 } else { WINDOWS_1252 };
    (encoding.unwrap_or_else(fallback).decode_without_bom_handling(bytes).0.into_owned(), unknown)
}

/// The value of the first `CA` in the first node. All encodings that can be declared in this way are supersets of ASCII.
fn declared(bytes: &[u8]) -> Option<String> {
    /// Maximum length of a root node that is searched: real ones, with comments, are shorter.
    const ROOT_BYTES: usize = 64 * 1024;
    let bytes = &bytes[..bytes.len().min(ROOT_BYTES)];
    let mut value = false;
    let mut escaped = false;
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if value {
            value = byte != b']' || escaped;
            escaped = byte == b'\\' && !escaped;
        } else if byte == b'[' {
            let name = bytes[..at].trim_ascii_end();
            // Compares the whole name, as the parser does, so that a file cannot declare different encodings to the two.
            let begins = name.iter().rposition(|byte| !byte.is_ascii_alphanumeric()).map_or(0, |n| n + 1);
            let name = name[begins..].iter().copied().filter(|byte| !byte.is_ascii_lowercase());
            if name.skip_while(u8::is_ascii_digit).eq(*b"CA") {
                let label = &bytes[at + 1..];
                let end = label.iter().position(|&byte| byte == b']')?;
                return Some(String::from_utf8_lossy(&label[..end]).trim().to_owned())
                    .filter(|label| !label.is_empty());
            }
            value = true;
        }
        at += 1;
    }
    None
}

/// Labels of the Encoding Standard, and those of Windows and Java that occur in files.
fn by_label(label: &str) -> Option<&'static Encoding> {
    let lower = label.to_ascii_lowercase();
    let name = match lower.as_str() {
        "cp936" | "ms936" | "windows-936" | "gb-2312" | "euc-cn" | "gb" => "gbk",
        "gb-18030" => "gb18030",
        "cp950" | "ms950" | "windows-950" | "big5-eten" => "big5",
        "cp932" | "ms932" | "windows-932" | "shiftjis" => "shift_jis",
        "eucjp" | "euc_jp" => "euc-jp",
        "cp949" | "ms949" | "windows-949" | "euckr" | "euc_kr" => "euc-kr",
        "iso8859_1" | "iso-latin-1" | "latin-1" | "iso 8859-1" => "latin1",
        "utf_8" | "utf 8" => "utf-8",
        "koi8r" => "koi8-r",
        name => name,
    };
    let found = Encoding::for_label(name.as_bytes())?;
    // A UTF-16 file needs a byte order mark; an ASCII `CA` in it would be a contradiction.
    Some(found).filter(|encoding| encoding.is_ascii_compatible())
}
