//! One comparison of short strings; `pairing` takes it through its stages.

use bytes::Bytes;
use hkdf::Hkdf;
use proto::peer::pair;
use proto::short_string;
use sha2::{Digest, Sha256};

use crate::{Instant, Role, ShortString};

/// One comparison, from the commitment to both verdicts.
pub(crate) struct Comparison {
    pub(crate) role: Role,
    pub(crate) handshake_hash: [u8; 32],
    pub(crate) nonce: [u8; 32],
    pub(crate) stage: Stage,
    /// When this stage times out: without the string, or without both answers.
    pub(crate) until: Instant,
}

pub(crate) enum Stage {
    /// B waits for A's commitment.
    Commitment,
    /// A waits for B's nonce.
    Nonce,
    /// B waits for A's nonce.
    Reveal { commitment: Bytes },
    /// Both screens show the string.
    Shown {
        /// Whether this device's person has said yes. (A no ends the comparison.)
        yes_here: bool,
        /// The advert key that came with the other person's yes.
        yes_there: Option<[u8; 32]>,
    },
}

impl Comparison {
    /// Starts with a fresh nonce. A's commitment must be sent at once.
    pub(crate) fn new(
        role: Role,
        handshake_hash: [u8; 32],
        nonce: [u8; 32],
        string_by: Instant,
    ) -> (Self, Option<pair::Step>) {
        let (stage, first) = match role {
            Role::Dialer => {
                (Stage::Nonce, Some(pair::Step::Commitment(Bytes::copy_from_slice(&Sha256::digest(nonce)))))
            }
            Role::Listener => (Stage::Commitment, None),
        };
        (Self { role, handshake_hash, nonce, stage, until: string_by }, first)
    }

    /// Derives the short string: HKDF-SHA256 over A's and B's nonces, salted with the handshake hash. Four bytes choose the
    /// pictures, eight more the digits.
    pub(crate) fn string(&self, theirs: &[u8]) -> ShortString {
        let material = match self.role {
            Role::Dialer => [&self.nonce[..], theirs].concat(),
            Role::Listener => [theirs, &self.nonce[..]].concat(),
        };
        let mut okm = [0; 12];
        Hkdf::<Sha256>::new(Some(&self.handshake_hash), &material)
            .expand(b"qiyou short string 1", &mut okm)
            .expect("12 bytes are within what HKDF gives");
        let [e0, e1, e2, e3, digits @ ..] = okm;
        let pictures = short_string::PICTURES.len() as u8;
        ShortString {
            emoji: [e0, e1, e2, e3].map(|byte| byte % pictures),
            digits: format!("{:06}", u64::from_be_bytes(digits) % 1_000_000),
        }
    }
}
