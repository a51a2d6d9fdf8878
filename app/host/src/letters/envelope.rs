//! The text of a letter before it is sealed: a message of the peer protocol that names the account of its writer.

use std::fmt::Write as _;

use link::identity::Identity;
use link::letter;
use proto::EnvelopeError;
use proto::peer::{Envelope, InviteAnswer, Record};

use crate::room::PlayerId;

/// Encrypts a letter from this account to a friend. `None` if it is too long.
pub(crate) fn seal(envelope: Envelope, account: &str, identity: &Identity, to: PlayerId) -> Option<Vec<u8>> {
    letter::seal(identity, &to.0, &encode(&signed(envelope, account)))
}

/// What a letter says about the account that has written it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Writer {
    /// The one from which it came.
    Named,
    /// None; a letter of an earlier version, which may be a copy.
    Unnamed,
    /// Another one: somebody sends a copy.
    Another,
}

pub(super) fn writer(envelope: &Envelope, came_from: &str) -> Writer {
    match envelope {
        Envelope::Record(Record { account, .. }) | Envelope::InviteAnswer(InviteAnswer { account, .. })
            if !account.is_empty() =>
        {
            if account.eq_ignore_ascii_case(came_from) {
                Writer::Named
            } else {
                Writer::Another
            }
        }
        _ => Writer::Unnamed,
    }
}

/// The envelope of a letter, which names the account that writes it.
fn signed(mut envelope: Envelope, by: &str) -> Envelope {
    if let Envelope::Record(Record { account, .. }) | Envelope::InviteAnswer(InviteAnswer { account, .. }) =
        &mut envelope
    {
        by.clone_into(account);
    }
    envelope
}

/// The message id, followed by the encoded message.
pub(super) fn encode(envelope: &Envelope) -> Vec<u8> {
    let (number, payload) = envelope.encode();
    [&number.to_be_bytes()[..], &payload[..]].concat()
}

pub(super) fn decode(text: &[u8]) -> Result<Envelope, EnvelopeError> {
    let (number, payload) = text.split_first_chunk::<4>().unwrap_or((&[0; 4], &[]));
    Envelope::decode(u32::from_be_bytes(*number), payload)
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(super) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> =
        text.chars().map(|digit| digit.to_digit(16).map(|digit| digit as u8)).collect::<Option<_>>()?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn a_copy_of_a_letter_from_another_account_is_known_by_what_is_sealed_in_it() {
        let record = Record { match_id: Bytes::from_static(&[7; 16]), ..Record::default() };
        let answer = InviteAnswer { invite_id: Bytes::from_static(&[7; 16]), ..InviteAnswer::default() };
        for envelope in [Envelope::Record(record), Envelope::InviteAnswer(answer)] {
            let earlier = decode(&encode(&envelope)).expect("readable");
            assert_eq!(writer(&earlier, "eve@example.org"), Writer::Unnamed);
            let written = encode(&signed(envelope, "anna@example.org"));
            let read = decode(&written).expect("readable");
            assert_eq!(writer(&read, "anna@example.org"), Writer::Named);
            assert_eq!(writer(&read, "Anna@Example.org"), Writer::Named, "as she has typed it");
            assert_eq!(writer(&read, "eve@example.org"), Writer::Another);
        }
    }

    #[test]
    fn what_is_written_is_read_and_nonsense_is_not() {
        let record = Record { match_id: Bytes::from_static(&[7; 16]), revision: 3, ..Record::default() };
        let text = encode(&Envelope::Record(record.clone()));
        assert_eq!(unhex(&hex(&text)).as_deref(), Some(&text[..]));
        assert!(matches!(decode(&text), Ok(Envelope::Record(read)) if read == record));
        assert!(unhex("zz").is_none());
        for text in [&[][..], &[1], &[0, 0, 0], &[0xFF; 60]] {
            assert!(decode(text).is_err(), "{text:?}");
        }
    }
}
