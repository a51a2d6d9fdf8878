//! Letters: a few bytes encrypted to an absent friend, for servers to store and deliver later.
//!
//! The one-way handshake pattern K of Noise: only the friend can read a letter, and only the owner of the sender's key can have
//! written it. Without an answer a letter lacks two properties of a link: no forward secrecy (whoever steals the receiver's key
//! can read earlier letters), and no replay protection (a letter can be delivered twice). Its content must tolerate both;
//! records of matches do.

use snow::Builder;

use crate::identity::Identity;

const PATTERN: &str = "Noise_K_25519_ChaChaPoly_BLAKE2s";
const PROLOGUE: &[u8] = b"qiyou letter 1";

/// Longest plaintext in bytes: encrypted and in base64 it fits a stanza that every server accepts.
pub const MAX_LETTER: usize = 6_000;

/// Ephemeral key and authentication tag.
const OVERHEAD: usize = 32 + 16;

/// Encrypts a text to the owner of this public key. `None` if the text is too long or the key invalid.
pub fn seal(identity: &Identity, to: &[u8; 32], text: &[u8]) -> Option<Vec<u8>> {
    if text.len() > MAX_LETTER {
        return None;
    }
    let mut noise = builder(identity, to)?.build_initiator().ok()?;
    let mut sealed = vec![0; text.len() + OVERHEAD];
    let length = noise.write_message(text, &mut sealed).ok()?;
    sealed.truncate(length);
    Some(sealed)
}

/// Decrypts a letter from the owner of this public key to this device; `None` if it does not authenticate.
pub fn open(identity: &Identity, from: &[u8; 32], sealed: &[u8]) -> Option<Vec<u8>> {
    if sealed.len() > MAX_LETTER + OVERHEAD {
        return None;
    }
    let mut noise = builder(identity, from)?.build_responder().ok()?;
    let mut text = vec![0; sealed.len()];
    let length = noise.read_message(sealed, &mut text).ok()?;
    text.truncate(length);
    Some(text)
}

fn builder<'a>(identity: &'a Identity, peer: &'a [u8; 32]) -> Option<Builder<'a>> {
    let builder = Builder::new(PATTERN.parse().ok()?).prologue(PROLOGUE).ok()?;
    builder.local_private_key(identity.secret_key()).ok()?.remote_public_key(peer).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_read_by_whom_it_is_for_and_is_from_whom_it_says() {
        let [anna, ben, eve] = [(); 3].map(|()| Identity::generate().expect("a key"));
        let sealed = seal(&anna, &ben.public_key(), b"h8").expect("sealed");
        assert_eq!(open(&ben, &anna.public_key(), &sealed).as_deref(), Some(&b"h8"[..]));
        assert_eq!(open(&ben, &eve.public_key(), &sealed), None);
        assert_eq!(open(&eve, &anna.public_key(), &sealed), None);
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert_eq!(open(&ben, &anna.public_key(), &changed), None, "byte {at}");
            assert_eq!(open(&ben, &anna.public_key(), &sealed[..at]), None, "cut at {at}");
        }
        assert_ne!(sealed, seal(&anna, &ben.public_key(), b"h8").expect("sealed"), "no two are the same");
    }

    #[test]
    fn a_letter_has_a_longest_length() {
        let [anna, ben] = [(); 2].map(|()| Identity::generate().expect("a key"));
        let longest = vec![7; MAX_LETTER];
        let sealed = seal(&anna, &ben.public_key(), &longest).expect("sealed");
        assert_eq!(open(&ben, &anna.public_key(), &sealed), Some(longest));
        assert_eq!(seal(&anna, &ben.public_key(), &[7; MAX_LETTER + 1]), None);
        assert_eq!(open(&ben, &anna.public_key(), &vec![0; 70_000]), None);
    }
}
