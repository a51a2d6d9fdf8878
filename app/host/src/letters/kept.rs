//! What is kept of letters over restarts: unanswered invitations, the ids of declined ones, how far an account's archive was
//! read, and what the last letter about a match said. Friends and servers decide what comes here, so each has a limit.

use proto::peer::{Envelope, Record};
use session::MatchId;
use tracing::warn;

use super::envelope::{decode, encode, hex, unhex};
use crate::journal::Journal;
use crate::room::PlayerId;
use crate::store::{StoreError, letter_written};

/// Maximum number of unanswered invitations by letter from one friend.
pub(crate) const MOST_ASKED: usize = 4;

/// Maximum number of a friend's declined invitations that are remembered. A server may deliver a letter again; one that was
/// declined before so many others would be asked about again.
const MOST_DECLINED: usize = 64;

/// Maximum length of an archive's id of a message: a server chooses it. Servers use up to 36 characters.
const MOST_ARCHIVE_ID: usize = 256;

/// Prefixes of settings keys: an unanswered invitation by letter; one that was declined; the position up to which an account's
/// archive was read.
const ASKED: &str = "letter_asked/";
const DECLINED: &str = "letter_declined/";
const ARCHIVE: &str = "letter_archive/";

/// Keeps an invitation. Returns false if the friend has too many already.
pub(crate) fn ask(
    journal: &mut Journal,
    key: PlayerId,
    id: MatchId,
    record: &Record,
) -> Result<bool, StoreError> {
    let text = hex(&encode(&Envelope::Record(record.clone())));
    if asked(journal)?.iter().filter(|(from, _)| *from == key).count() >= MOST_ASKED {
        return Ok(false);
    }
    journal.keep(|store| store.set_setting(&format!("{ASKED}{id}"), &format!("{key} {text}")))?;
    Ok(true)
}

/// The invitations that are still open. One whose match exists was answered over a link, and is removed.
pub(crate) fn open_invitations(journal: &mut Journal) -> Vec<(PlayerId, Record)> {
    let rows = asked(journal).inspect_err(|error| warn!(%error, "what is kept of letters cannot be read"));
    let mut open = Vec::new();
    for (key, text) in rows.unwrap_or_default() {
        if let Some(text) = unhex(&text)
            && let Ok(Envelope::Record(record)) = decode(&text)
            && let Some((id, ..)) = session::asked_by_letter(&record)
        {
            match journal.load(id) {
                Ok(None) => open.push((key, record)),
                // If that fails, it is tried again at the next start.
                Ok(Some(_)) => drop(answered(journal, id)),
                Err(error) => warn!(%error, "a match cannot be read"),
            }
        }
    }
    open
}

/// The kept invitations: from whom, and the text.
fn asked(journal: &Journal) -> Result<Vec<(PlayerId, String)>, StoreError> {
    let rows = journal.settings_of(ASKED)?.into_iter();
    Ok(rows
        .filter_map(|(_, row)| {
            let (key, text) = row.split_once(' ')?;
            Some((PlayerId::parse(key)?, text.to_owned()))
        })
        .collect())
}

/// The invitation is answered or obsolete.
pub(crate) fn answered(journal: &mut Journal, id: MatchId) -> Result<(), StoreError> {
    journal.keep(|store| store.remove_setting(&format!("{ASKED}{id}")))
}

/// Remembers that this friend's invitation was declined, and forgets the oldest one beyond the limit.
pub(crate) fn decline(
    journal: &mut Journal,
    key: PlayerId,
    id: MatchId,
    unix_ms: i64,
) -> Result<(), StoreError> {
    journal.keep(|store| store.set_setting(&format!("{DECLINED}{id}"), &format!("{key} {unix_ms}")))?;
    // Rows of earlier programs, which tell neither friend nor time, are the first to go.
    let mut theirs: Vec<(i64, String)> = journal
        .settings_of(DECLINED)?
        .into_iter()
        .filter_map(|(id, row)| match row.split_once(' ') {
            Some((from, at)) => (PlayerId::parse(from) == Some(key)).then(|| (at.parse().unwrap_or(0), id)),
            None => Some((0, id)),
        })
        .filter(|(_, other)| *other != id.to_string())
        .collect();
    theirs.sort();
    let too_many = (theirs.len() + 1).saturating_sub(MOST_DECLINED);
    for (_, old) in theirs.into_iter().take(too_many) {
        journal.keep(|store| store.remove_setting(&format!("{DECLINED}{old}")))?;
    }
    Ok(())
}

/// Whether this invitation was declined.
pub(crate) fn is_declined(journal: &Journal, id: MatchId) -> Result<bool, StoreError> {
    Ok(journal.setting(&format!("{DECLINED}{id}"))?.is_some())
}

/// Keeps the last message that was read in an account's archive. An id that is too long is not kept: the page is read again.
pub(crate) fn read_archive(journal: &mut Journal, jid: &str, last: &str) -> Result<(), StoreError> {
    if last.len() > MOST_ARCHIVE_ID {
        return Ok(());
    }
    journal.keep(|store| store.set_setting(&format!("{ARCHIVE}{jid}"), last))
}

/// The last message that was read in an account's archive.
pub(crate) fn archive_of(journal: &Journal, jid: &str) -> Option<String> {
    journal.setting(&format!("{ARCHIVE}{jid}")).ok().flatten()
}

/// Keeps what [`super::LetterSchedule`] gives to be kept of a match's last letter.
pub(crate) fn wrote(journal: &mut Journal, id: MatchId, text: &str) -> Result<(), StoreError> {
    journal.keep(|store| store.set_setting(&letter_written(id), text))
}

/// What is kept of a match's last letter.
pub(crate) fn written(journal: &Journal, id: MatchId) -> Option<String> {
    journal.setting(&letter_written(id)).ok().flatten()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use bytes::Bytes;
    use engine::{GameKind, Side};
    use session::MatchRecord;

    use super::super::fixture;
    use super::*;
    use crate::room::Seat;

    const ANNA: PlayerId = PlayerId([1; 32]);
    const BEN: PlayerId = PlayerId([2; 32]);

    fn id(number: u32) -> MatchId {
        let mut id = [0; 16];
        id[..4].copy_from_slice(&number.to_be_bytes());
        MatchId(id)
    }

    /// Size of the database, with the write-ahead log brought in.
    fn file(folder: &Path) -> u64 {
        let path = folder.join(crate::DATABASE);
        let database = rusqlite::Connection::open(&path).expect("the saves open");
        database.pragma_update(None, "wal_checkpoint", "TRUNCATE").expect("the log is brought in");
        std::fs::metadata(path).expect("the file is there").len()
    }

    #[test]
    fn a_friend_cannot_fill_the_file_with_invitations_by_letter() {
        let (mut journal, folder) = Journal::for_test();
        let before = file(folder.path());
        let actions = Bytes::from(vec![0xAA; link::letter::MAX_LETTER - 7]);
        let longest = Record { actions, ..Record::default() };
        assert_eq!(encode(&Envelope::Record(longest.clone())).len(), link::letter::MAX_LETTER);
        let taken = |journal: &mut Journal, key, from: u32| {
            (from..from + 300)
                .filter(|number| ask(journal, key, id(*number), &longest).expect("a disk"))
                .count()
        };
        assert_eq!(taken(&mut journal, ANNA, 0), MOST_ASKED);
        assert_eq!(taken(&mut journal, BEN, 1_000), MOST_ASKED, "another friend's are not its fault");
        let more = file(folder.path()) - before;
        assert!(more <= 2 * MOST_ASKED as u64 * (16 << 10), "{more} bytes more");
        answered(&mut journal, id(0)).expect("a disk");
        assert_eq!(taken(&mut journal, ANNA, 2_000), 1, "an answer makes room");
    }

    #[test]
    fn an_invitation_is_open_after_a_restart_unless_its_match_exists() {
        let (mut journal, _folder) = Journal::for_test();
        let [open, begun] = [id(1), id(2)].map(|id| {
            let record = MatchRecord::new(id, GameKind::Gomoku.default_setup(), Side::First);
            let session = fixture::session(id, 0, |_| {});
            (record, session.letter(id).expect("it may be written"))
        });
        for (record, letter) in [&open, &begun] {
            assert!(ask(&mut journal, BEN, record.id, letter).expect("a disk"));
        }
        let seats = [Seat::Here, Seat::Peer(BEN)];
        journal.keep(|store| store.begin(&begun.0, seats, 0)).expect("a disk");
        for _ in 0..2 {
            assert_eq!(open_invitations(&mut journal), [(BEN, open.1.clone())]);
            assert_eq!(asked(&journal).expect("read").len(), 1, "the other one is removed");
        }
    }

    #[test]
    fn a_friend_cannot_fill_the_file_with_invitations_by_letter_that_are_declined() {
        let (mut journal, folder) = Journal::for_test();
        decline(&mut journal, BEN, id(9_999), 5).expect("a disk");
        let before = file(folder.path());
        for number in 0..600 {
            decline(&mut journal, ANNA, id(number), number.into()).expect("a disk");
        }
        let more = file(folder.path()) - before;
        assert!(more <= 32 << 10, "{more} bytes more");
        let known: Vec<u32> =
            (0..600).filter(|number| is_declined(&journal, id(*number)).expect("read")).collect();
        assert!(known.into_iter().eq(600 - MOST_DECLINED as u32..600), "the last ones are known");
        assert!(is_declined(&journal, id(9_999)).expect("read"), "another friend's stay");
        decline(&mut journal, ANNA, id(599), 600).expect("a disk");
        assert!(
            is_declined(&journal, id(600 - MOST_DECLINED as u32)).expect("read"),
            "twice the same is one"
        );
    }

    #[test]
    fn what_an_earlier_program_has_declined_is_known_until_there_are_too_many() {
        let (mut journal, _folder) = Journal::for_test();
        journal.keep(|store| store.set_setting(&format!("{DECLINED}{}", id(7)), "1")).expect("a disk");
        decline(&mut journal, ANNA, id(8), 1).expect("a disk");
        assert!(is_declined(&journal, id(7)).expect("read"));
        for number in 100..200 {
            decline(&mut journal, ANNA, id(number), number.into()).expect("a disk");
        }
        assert!(!is_declined(&journal, id(7)).expect("read"));
    }

    #[test]
    fn a_server_cannot_fill_the_file_with_its_name_of_a_message() {
        let (mut journal, _folder) = Journal::for_test();
        read_archive(&mut journal, "anna@example.org", "28482-98726-73623").expect("a disk");
        read_archive(&mut journal, "anna@example.org", &"7".repeat(500_000)).expect("a disk");
        assert_eq!(archive_of(&journal, "anna@example.org").as_deref(), Some("28482-98726-73623"));
    }
}
