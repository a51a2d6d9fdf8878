//! The secret in a code.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;

/// 128 random bits that give access to one seat of one room, to watching it, or to the view of a club evening.
#[derive(Clone, Copy)]
pub struct Token([u8; 16]);

impl Token {
    /// A token of these bits, which must be secret.
    pub const fn new(bits: [u8; 16]) -> Self {
        Self(bits)
    }

    /// Parses the format of `Display`: 22 characters of base64url.
    pub fn read(text: &str) -> Option<Self> {
        let mut bits = [0; 16];
        // The decoder requires a buffer longer than its output.
        let mut buffer = [0; 18];
        if text.len() != 22 {
            return None;
        }
        let length = URL_SAFE_NO_PAD.decode_slice(text, &mut buffer).ok()?;
        bits.copy_from_slice(buffer.get(..length).filter(|read| read.len() == 16)?);
        Some(Self(bits))
    }

    /// Compares in constant time.
    pub fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

/// Prints no secret, because debug output gets into logs.
impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_as_it_was_written_and_in_no_other_way() {
        let token = Token::new(std::array::from_fn(|at| (at * 17 + 3) as u8));
        let text = token.to_string();
        assert_eq!(text.len(), 22);
        assert!(Token::read(&text).is_some_and(|read| read.is(&token)));
        assert!(!Token::new([0; 16]).is(&token));
        let cut = &text[..21];
        for wrong in [
            "",
            cut,
            &format!("{text}="),
            &format!("{text}A"),
            &text.replace(&text[3..4], "*"),
            "棋".repeat(8).as_str(),
        ] {
            assert!(Token::read(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_log_does_not_say_the_secret() {
        let token = Token::new([7; 16]);
        assert!(!format!("{token:?}").contains(&token.to_string()[..4]));
    }
}
