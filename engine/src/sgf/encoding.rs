//! The characters of a file.
//!
//! SGF declares its encoding inside of the file, in `CA` of the root; without it the specification says Latin-1. Files
//! without it that are valid UTF-8 are read as that, since programs that forget `CA` write it. The whole file is decoded
//! before it is parsed: in GBK, Big5 and Shift_JIS the second byte of a character may be `]` or a backslash.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// The text, and whether the file declares an encoding that is not known. Bytes that the encoding does not have become
/// U+FFFD: a name that is spelled wrong is no reason to lose the game.
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

/// What the first `CA` in the first node says. Every encoding that may be declared so has ASCII's letters where ASCII has them.
fn declared(bytes: &[u8]) -> Option<String> {
    /// Real root nodes, comments included, are shorter.
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
            // The same name as the reader makes of it, or a file could declare one encoding here and another there.
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

/// The Encoding Standard's names, and those of Windows and of Java that files use.
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
    // A file in UTF-16 has its byte order mark; without it the bytes that declare it are none.
    Some(found).filter(|encoding| encoding.is_ascii_compatible())
}
