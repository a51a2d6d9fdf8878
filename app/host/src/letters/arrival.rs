//! What a received letter leads to, as decisions without effects.

use link::identity::Identity;
use link::letter;
use proto::EnvelopeError;
use proto::peer::{Envelope, InviteAnswer, Record, invite_answer};
use session::{MatchId, MatchState};
use tracing::debug;

use super::envelope::{Writer, decode, writer};
use super::kept;
use crate::invitations::Invitations;
use crate::journal::Journal;
use crate::room::PlayerId;

/// A letter that a friend has written.
#[derive(Debug, PartialEq)]
pub(crate) struct Letter {
    pub(crate) from: PlayerId,
    /// The friend names in it the account from which it came.
    pub(crate) names_account: bool,
    pub(crate) content: Content,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Content {
    Record(Box<Record>),
    Answer(InviteAnswer),
    /// Of a newer version. Without a receipt it is written again after days, when this device may have been updated.
    Newer,
    /// Nothing that a letter says: a second delivery would not help.
    Unknown,
}

/// Opens a letter that came from this account. Finds the writer by the key that decrypts the letter; the accounts of the `friends`
/// tell which key to try first. `None` if no friend has written it, or if it is a copy: then it is not acknowledged.
pub(crate) fn open<'a>(
    account: &str,
    sealed: &[u8],
    identity: &Identity,
    friends: impl Iterator<Item = (PlayerId, Option<&'a str>)>,
) -> Option<Letter> {
    let (first, rest): (Vec<_>, Vec<_>) = friends.partition(|(_, known)| *known == Some(account));
    let opened = first
        .into_iter()
        .chain(rest)
        .find_map(|(key, _)| Some((key, letter::open(identity, &key.0, sealed)?)));
    let Some((from, text)) = opened else {
        debug!(account, "a letter that no friend has written");
        return None;
    };
    let decoded = decode(&text);
    let writer = decoded.as_ref().map_or(Writer::Unnamed, |envelope| writer(envelope, account));
    if writer == Writer::Another {
        debug!(account, "a copy of a letter from another account");
        return None;
    }
    let content = match decoded {
        Ok(Envelope::Record(record)) => Content::Record(Box::new(record)),
        Ok(Envelope::InviteAnswer(answer)) => Content::Answer(answer),
        Err(EnvelopeError::UnknownMessage(1..)) => Content::Newer,
        Ok(_) | Err(_) => Content::Unknown,
    };
    Some(Letter { from, names_account: writer == Writer::Named, content })
}

/// What to do with the record in a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The session of its writer knows the match, and decides.
    Update(MatchId),
    /// An unknown match: an invitation.
    Invitation(MatchId),
    /// Nothing, also if it is delivered again.
    Nothing,
    /// The journal cannot be read: it is not acknowledged, and delivered again.
    Later,
}

/// `is_known`: whether the session of the writer has the match.
pub(crate) fn on_record(
    from: PlayerId,
    record: &Record,
    is_known: impl FnOnce(MatchId) -> bool,
    journal: &Journal,
    invitations: &Invitations,
) -> Verdict {
    let Ok(id) = <[u8; 16]>::try_from(&record.match_id[..]).map(MatchId) else { return Verdict::Nothing };
    if is_known(id) {
        return Verdict::Update(id);
    }
    match journal.has_match(id) {
        Ok(false) => {}
        // The match is over and closed, belongs to somebody else, or cannot be read.
        Ok(true) => return Verdict::Nothing,
        Err(_) => return Verdict::Later,
    }
    let declined = kept::is_declined(journal, id);
    if invitations.contains(id) || !matches!(declined, Ok(false)) {
        return Verdict::Nothing;
    }
    if invitations.by_letter_of(from) >= kept::MOST_ASKED || session::asked_by_letter(record).is_none() {
        debug!(%id, "a letter asks for what cannot be");
        return Verdict::Nothing;
    }
    Verdict::Invitation(id)
}

/// The match that is to be deleted because its invitation by letter is declined: nothing of it came from the friend. While a link
/// is up, the sessions agree about the match themselves.
pub(crate) fn on_answer<'a>(
    answer: &InviteAnswer,
    is_linked: bool,
    state: impl FnOnce(MatchId) -> Option<&'a MatchState>,
) -> Option<MatchId> {
    let id = <[u8; 16]>::try_from(&answer.invite_id[..]).map(MatchId).ok()?;
    let is_declined = matches!(answer.answer, Some(invite_answer::Answer::Decline(_)));
    (is_declined && !is_linked && state(id).is_some_and(is_begun_here_only)).then_some(id)
}

/// Whether nothing of a match came from the friend.
fn is_begun_here_only(state: &MatchState) -> bool {
    let mine = state.record().my_side;
    let nothing_heard = state.seen_ply().is_none() && state.record().revision == 0;
    nothing_heard && state.decided_by().all(|by| by == mine)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use engine::{GameKind, Side};
    use proto::peer::DeclineReason;
    use session::MatchRecord;

    use super::super::envelope::seal;
    use super::super::{asking, fixture};
    use super::*;
    use crate::room::Seat;

    const ID: MatchId = MatchId([1; 16]);
    const BEN: PlayerId = PlayerId([2; 32]);

    /// A friend's letter about a match that only the friend has.
    fn letter(id: MatchId) -> Record {
        fixture::session(id, 1, |_| {}).letter(id).expect("it may be written")
    }

    #[test]
    fn a_letter_is_read_by_whom_it_is_for_and_its_writer_is_found_at_any_account() {
        let [anna, ben, eve] = [(); 3].map(|()| Identity::generate().expect("a key"));
        let [bens, eves] = [&ben, &eve].map(|one| PlayerId(one.public_key()));
        let from_ben = |account: &str| {
            let to = PlayerId(anna.public_key());
            seal(Envelope::Record(letter(ID)), account, &ben, to).expect("short enough")
        };
        let home = "ben@example.org";
        for accounts in [[Some("eve@example.org"), Some(home)], [Some(home), None], [None, None]] {
            let friends = || [eves, bens].into_iter().zip(accounts);
            let opened = open(home, &from_ben(home), &anna, friends()).expect("for her, of a friend");
            assert_eq!((opened.from, opened.names_account), (bens, true));
            assert!(matches!(opened.content, Content::Record(record) if record.match_id[..] == ID.0[..]));
            let earlier = open(home, &from_ben(""), &anna, friends()).expect("of an earlier version");
            assert!(!earlier.names_account);
            assert_eq!(open("eve@example.org", &from_ben(home), &anna, friends()), None, "a copy");
            assert_eq!(open(home, &from_ben(home), &eve, friends()), None, "for somebody else");
        }
        let strangers = [(eves, Some(home))].into_iter();
        assert_eq!(open(home, &from_ben(home), &anna, strangers), None, "of nobody who is a friend");
        for (text, content) in [
            (&[0xFF; 9][..], Content::Newer),
            // No number, a record that is none, and a message that no letter says.
            (&[1][..], Content::Unknown),
            (&[0, 0, 0, 11, 0xFF][..], Content::Unknown),
            (&[0, 0, 0, 12][..], Content::Unknown),
        ] {
            let sealed = link::letter::seal(&ben, &anna.public_key(), text).expect("short enough");
            let opened = open(home, &sealed, &anna, [(bens, None)].into_iter()).expect("of a friend");
            assert_eq!((opened.names_account, opened.content), (false, content), "{text:?}");
        }
    }

    #[test]
    fn an_unknown_match_is_an_invitation_once_and_only_so_many_are_open() {
        let (mut journal, folder) = Journal::for_test();
        let mut invitations = Invitations::default();
        let unknown = |journal: &Journal, invitations: &Invitations, record: &Record| {
            on_record(BEN, record, |_| false, journal, invitations)
        };
        let record = letter(ID);
        assert_eq!(unknown(&journal, &invitations, &record), Verdict::Invitation(ID));
        assert_eq!(on_record(BEN, &record, |_| true, &journal, &invitations), Verdict::Update(ID));
        let broken = Record { match_id: Bytes::from_static(&[1; 15]), ..record.clone() };
        assert_eq!(unknown(&journal, &invitations, &broken), Verdict::Nothing);
        let over = Record { revision: 1, ..record.clone() };
        assert_eq!(unknown(&journal, &invitations, &over), Verdict::Nothing, "not the beginning of a match");

        kept::decline(&mut journal, BEN, MatchId([3; 16]), 0).expect("a disk");
        assert_eq!(unknown(&journal, &invitations, &letter(MatchId([3; 16]))), Verdict::Nothing, "declined");
        let theirs = MatchRecord::new(MatchId([4; 16]), GameKind::Gomoku.default_setup(), Side::First);
        journal.keep(|store| store.begin(&theirs, [Seat::Here, Seat::Here], 0)).expect("a disk");
        assert_eq!(unknown(&journal, &invitations, &letter(theirs.id)), Verdict::Nothing, "another's match");
        let file = rusqlite::Connection::open(folder.path().join(crate::DATABASE)).expect("the saves open");
        file.execute("UPDATE matches SET first_seat = 'nobody'", []).expect("damaged");
        assert!(journal.load(theirs.id).is_err());
        assert_eq!(unknown(&journal, &invitations, &letter(theirs.id)), Verdict::Nothing, "it is not read");

        for number in 0..kept::MOST_ASKED as u8 {
            let record = letter(MatchId([10 + number; 16]));
            assert!(matches!(unknown(&journal, &invitations, &record), Verdict::Invitation(_)));
            let now = tokio::time::Instant::now();
            let (id, invitation) = asking::invitation(BEN, record.clone(), now).expect("an invitation");
            invitations.insert(id, invitation);
            assert_eq!(unknown(&journal, &invitations, &record), Verdict::Nothing, "it is open");
        }
        assert_eq!(unknown(&journal, &invitations, &record), Verdict::Nothing, "one too many");
        let of_another = on_record(PlayerId([5; 32]), &record, |_| false, &journal, &invitations);
        assert_eq!(of_another, Verdict::Invitation(ID));
    }

    #[test]
    fn only_a_match_of_which_nothing_was_heard_is_deleted_when_it_is_declined() {
        let decline = Some(invite_answer::Answer::Decline(DeclineReason::DeclineNotNow.into()));
        let invite_id = Bytes::copy_from_slice(&ID.0);
        let answer = InviteAnswer { invite_id, answer: decline, ..InviteAnswer::default() };
        let deleted = |actions: u16, change: &dyn Fn(&mut MatchRecord)| {
            let session = fixture::session(ID, actions, change);
            on_answer(&answer, false, |id| session.match_state(id))
        };
        assert_eq!(deleted(0, &|_| {}), Some(ID));
        assert_eq!(deleted(1, &|_| {}), Some(ID), "the own first move");
        assert_eq!(deleted(2, &|_| {}), None, "the friend has moved");
        assert_eq!(deleted(1, &|record| record.revision = 1), None, "they have agreed on something");
        assert_eq!(deleted(1, &|record| record.my_side = Side::Second), None);

        let session = fixture::session(ID, 0, |_| {});
        let state = |id| session.match_state(id);
        assert_eq!(on_answer(&answer, true, state), None, "over a link it is asked again");
        let other = InviteAnswer { invite_id: Bytes::from_static(&[9; 16]), ..answer.clone() };
        assert_eq!(on_answer(&other, false, state), None);
        let accepted = InviteAnswer { answer: None, ..answer.clone() };
        assert_eq!(on_answer(&accepted, false, state), None);
    }
}
