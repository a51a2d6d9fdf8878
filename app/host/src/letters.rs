//! Matches by letter with friends who are away: when a letter is written, how a received letter is processed, and new
//! matches by letter.
//!
//! A letter contains one message of the peer protocol, encrypted for the friend: the record of a match (an unknown match is
//! an invitation by letter), or the answer to such an invitation. A record is written once for each state that the friend is
//! not known to have, and again after days without a sign of it; superfluous letters are harmless. None is written while a
//! link is up.

use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;
use link::letter;
use link::online::{LetterNews, LetterStage};
use proto::control::{self, ColourChoice, LetterState, NoticeKind, RefusalCode};
use proto::peer::{DeclineReason, Envelope, InviteAnswer, Record, invite_answer};
use session::{Command, Input, MatchId, MatchState};
use tokio::time::Instant;
use tracing::{debug, info, warn};

use crate::actor::{Actor, Message, notice};
use crate::dialing::Target;
use crate::invitations::{Invitation, Wish};
use crate::journal::ACCOUNT_OF;
use crate::room::PlayerId;
use crate::show::Refusal;

/// Delay after the loss of a link or a change of a match before a letter is written: the link may return, or a bot may move.
const PATIENCE: Duration = Duration::from_secs(3);

/// A letter without any response is written again after this time: servers keep letters for weeks, but not all do.
const AGAIN: Duration = Duration::from_hours(72);

/// Delay after a letter that could not be sent, or was returned.
const AFTER_FAILURE: Duration = Duration::from_mins(2);

/// Maximum number of unanswered invitations by letter from one friend.
const MOST_ASKED: usize = 4;

/// Lifetime of an unanswered invitation by letter.
const ASKED_FOR: Duration = Duration::from_hours(24 * 30);

/// Prefixes of settings keys: an unanswered invitation by letter; one that was declined; the state in the last letter about
/// a match; the position up to which an account's archive was read.
const ASKED: &str = "letter_asked/";
const DECLINED: &str = "letter_declined/";
const WRITTEN: &str = "letter_written/";
const ARCHIVE: &str = "letter_archive/";

/// Identifies the state of a match that a letter contains; see [`Written::of`].
type Standing = String;

/// The last letter about a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    standing: Standing,
    number: u64,
    stage: LetterState,
    /// Earliest time of the next letter with the same state.
    again: Instant,
}

impl Written {
    /// Two states with equal values make the same letter.
    fn of(state: &MatchState) -> Standing {
        let record = state.record();
        format!("{} {} {:016x}", record.revision, u8::from(record.result.is_some()), record.digest())
    }
}

impl Actor {
    // Accounts of friends.

    /// Restores stored accounts and invitations by letter.
    pub(crate) fn load_letters(&mut self) {
        let kept = |error: crate::store::StoreError| {
            warn!(%error, "what is kept of letters cannot be read");
            Vec::new()
        };
        for (key, account) in self.journal.settings_of(ACCOUNT_OF).unwrap_or_else(kept) {
            if let Some(key) = PlayerId::parse(&key) {
                self.people.set_account(key, account);
            }
        }
        for (_, text) in self.journal.settings_of(ASKED).unwrap_or_else(kept) {
            let parts =
                text.split_once(' ').and_then(|(key, hex)| Some((PlayerId::parse(key)?, unhex(hex)?)));
            if let Some((key, record)) = parts
                && let Ok(Envelope::Record(record)) = decode(&record)
                && let Some((id, ..)) = session::asked_by_letter(&record)
            {
                // The invitation may have been answered over a link.
                match self.journal.load(id) {
                    Ok(None) => self.ask_person(key, record),
                    Ok(Some(_)) => self.letter_answered(id),
                    Err(error) => warn!(%error, "a match cannot be read"),
                }
            }
        }
    }

    /// Handles that a tag or a letter claims that a friend has this account.
    pub(crate) fn account_claimed(&mut self, key: PlayerId, account: &str) {
        if self.people.take_claimed_account(key, account) {
            self.keep_account(key, account);
        }
    }

    fn keep_account(&mut self, key: PlayerId, account: &str) {
        // If storing fails, letters to this friend wait until the account is seen again.
        let _ = self.journal.keep(|store| store.set_setting(&format!("{ACCOUNT_OF}{key}"), account));
    }

    /// Handles that a friend has this account: a handshake there has proven it, or the user has read a friend code that holds it.
    pub(crate) fn learn_account(&mut self, key: PlayerId, account: &str) {
        if self.people.account(key).is_some_and(|known| known == account) {
            return;
        }
        self.people.set_account(key, account.to_owned());
        self.keep_account(key, account);
    }

    /// Passes the accounts of friends to the transport, whose presence tells their tags.
    pub(crate) fn learn_accounts(&mut self) {
        let (Some(online), epoch) = (&self.online, self.wall_clock.epoch()) else { return };
        let friends: Vec<_> = self.people.values().filter_map(|peer| peer.friend.as_ref()).collect();
        let cards =
            online.contacts().filter_map(|(account, contact)| Some((account, contact.card.as_ref()?)));
        let found: Vec<(PlayerId, String)> = cards
            .filter_map(|(account, card)| {
                let friend = friends.iter().find(|friend| card.tag.is_of(&friend.advert_key, epoch))?;
                Some((friend.key, account.clone()))
            })
            .collect();
        for (key, account) in found {
            self.account_claimed(key, &account);
        }
    }

    pub(crate) fn archive_of(&self, jid: &str) -> Option<String> {
        self.journal.setting(&format!("{ARCHIVE}{jid}")).ok().flatten()
    }

    // Writing letters.

    /// Schedules letters after a change that friends who are away may need to know.
    pub(crate) fn letters_soon(&mut self) {
        if let Some(online) = &mut self.online {
            online.look_at_letters(Instant::now() + PATIENCE);
        }
    }

    pub(crate) fn letters_deadline(&self) -> Option<Instant> {
        self.online.as_ref()?.write_at
    }

    pub(crate) fn letters_on_time(&mut self) {
        let now = Instant::now();
        let Some(online) = self.online.as_mut().filter(|online| online.write_at.is_some_and(|at| at <= now))
        else {
            return;
        };
        online.write_at = None;
        if online.is_signed_in() {
            self.write_letters(now);
        }
        // Otherwise when the account is online.
    }

    /// Writes scheduled letters at once, because the device may be suspended right after a move.
    pub(crate) fn last_letters(&mut self) {
        if self.online.as_ref().is_some_and(|online| online.is_signed_in() && online.write_at.is_some()) {
            self.write_letters(Instant::now());
        }
    }

    fn write_letters(&mut self, now: Instant) {
        let mut next: Option<Instant> = None;
        for key in self.people.keys().copied().collect::<Vec<_>>() {
            let Some(peer) = self.people.get(&key).filter(|peer| peer.friend.is_some()) else { continue };
            if peer.link.is_some() || peer.rebuild.is_some() || self.people.account(key).is_none() {
                continue;
            }
            let lacking: Vec<(MatchId, Standing)> = peer
                .unsettled()
                .filter(|state| {
                    let holds_all = state.seen_ply() == Some(state.ply());
                    !holds_all || state.record().result.is_some()
                })
                .filter(|state| self.rooms.contains_key(&state.id()) || state.record().result.is_some())
                .map(|state| (state.id(), Written::of(state)))
                .collect();
            for (id, standing) in lacking {
                let before = self.written(id);
                match before.filter(|before| before.standing == standing) {
                    Some(before) if before.again > now => {
                        next = Some(next.map_or(before.again, |next| next.min(before.again)));
                    }
                    _ => self.write_record(key, id, standing),
                }
            }
        }
        if let (Some(next), Some(online)) = (next, &mut self.online) {
            online.look_at_letters(next);
        }
    }

    /// The last letter about a match, from this run or an earlier one.
    fn written(&mut self, id: MatchId) -> Option<Written> {
        if let Some(written) = self.online.as_ref()?.written.get(&id) {
            return Some(written.clone());
        }
        let text = self.journal.setting(&format!("{WRITTEN}{id}")).ok().flatten()?;
        let (at, standing) = text.split_once(' ')?;
        let ago =
            Duration::from_millis(u64::try_from(self.wall_clock.unix_ms() - at.parse::<i64>().ok()?).ok()?);
        let again = Instant::now() + AGAIN.saturating_sub(ago);
        Some(Written { standing: standing.to_owned(), number: 0, stage: LetterState::AtServer, again })
    }

    fn write_record(&mut self, key: PlayerId, id: MatchId, standing: Standing) {
        let Some(record) = self.people.get(&key).and_then(|peer| peer.session.letter(id)) else { return };
        let number = self.write_letter(key, &Envelope::Record(record));
        let Some(online) = &mut self.online else { return };
        // A record that is too long for a letter waits for a link.
        let (stage, wait) = match number {
            Some(_) => (LetterState::Waiting, AGAIN),
            None => (LetterState::Unspecified, AGAIN),
        };
        let number = number.unwrap_or(0);
        online.written.insert(id, Written { standing, number, stage, again: Instant::now() + wait });
        self.mark_for_display(id);
    }

    /// Queues a letter; returns its number, which later reports refer to.
    fn write_letter(&mut self, key: PlayerId, envelope: &Envelope) -> Option<u64> {
        let account = self.people.account(key)?;
        let sealed = letter::seal(self.profile.identity(), &key.0, &encode(envelope))?;
        let online = self.online.as_mut()?;
        online.letters += 1;
        info!(account, number = online.letters, bytes = sealed.len(), "a letter is written");
        online.transport.send_letter(online.letters, account, sealed).then_some(online.letters)
    }

    // Reports about letters, and received letters.

    pub(crate) fn follow_letters(&mut self) {
        let Some(mut letters) = self.online.as_ref().and_then(|online| online.transport.letters()) else {
            return;
        };
        let inbox = self.inbox.clone();
        self.tasks.spawn(async move {
            while let Some(news) = letters.recv().await {
                if inbox.send(Message::Letter(news)).is_err() {
                    return;
                }
            }
        });
    }

    pub(crate) fn letter_said(&mut self, news: LetterNews) {
        match news {
            LetterNews::Came { account, id, sealed } => {
                if self.letter_came(&account, &sealed) {
                    if let Some(online) = &self.online {
                        online.transport.letter_taken_in(&account, &id);
                    }
                    self.letters_soon();
                }
            }
            LetterNews::Stage { number, stage } => self.letter_stage(number, stage),
            LetterNews::Archive(last) => {
                let Some(jid) = self.online.as_ref().map(|online| online.account().to_owned()) else {
                    return;
                };
                let _ = self.journal.keep(|store| store.set_setting(&format!("{ARCHIVE}{jid}"), &last));
            }
        }
    }

    fn letter_stage(&mut self, number: u64, stage: LetterStage) {
        let now = (Instant::now(), self.wall_clock.unix_ms());
        let Some(online) = &mut self.online else { return };
        let Some((id, written)) = online.written.iter_mut().find(|(_, written)| written.number == number)
        else {
            return;
        };
        debug!(number, ?stage, "a letter of ours");
        let id = *id;
        match stage {
            LetterStage::AtServer if written.stage == LetterState::Delivered => {}
            LetterStage::AtServer => written.stage = LetterState::AtServer,
            LetterStage::Delivered => written.stage = LetterState::Delivered,
            LetterStage::Refused | LetterStage::Lost => {
                written.stage = LetterState::Waiting;
                written.again = now.0 + AFTER_FAILURE;
                let at = now.0 + AFTER_FAILURE;
                online.write_at = Some(online.write_at.map_or(at, |planned| planned.min(at)));
            }
        }
        if stage == LetterStage::AtServer {
            let text = format!("{} {}", now.1, written.standing);
            let _ = self.journal.keep(|store| store.set_setting(&format!("{WRITTEN}{id}"), &text));
        }
        self.mark_for_display(id);
    }

    /// Handles a received letter. Returns true if it is done with, and need not be delivered again.
    fn letter_came(&mut self, account: &str, sealed: &[u8]) -> bool {
        let Some((key, text)) = self.open_letter(account, sealed) else {
            debug!(account, "a letter that no friend has written");
            return false;
        };
        self.account_claimed(key, account);
        match decode(&text) {
            Ok(Envelope::Record(record)) => self.record_came(key, record),
            Ok(Envelope::InviteAnswer(answer)) => {
                self.answer_came(key, &answer);
                true
            }
            // Perhaps from a newer version; a second delivery would not help.
            Ok(_) | Err(_) => true,
        }
    }

    /// Finds the sender by the key that decrypts the letter; the account tells which key to try first.
    fn open_letter(&self, account: &str, sealed: &[u8]) -> Option<(PlayerId, Vec<u8>)> {
        let friends = || self.people.values().filter(|peer| peer.friend.is_some()).map(|peer| peer.key);
        let expected = |key: &PlayerId| self.people.account(*key).is_some_and(|known| known == account);
        let (first, rest): (Vec<_>, Vec<_>) = friends().partition(expected);
        first
            .into_iter()
            .chain(rest)
            .find_map(|key| Some((key, letter::open(self.profile.identity(), &key.0, sealed)?)))
    }

    fn record_came(&mut self, key: PlayerId, record: Record) -> bool {
        let Ok(id) = <[u8; 16]>::try_from(&record.match_id[..]).map(MatchId) else { return true };
        let known = self.people.get(&key).is_some_and(|peer| peer.session.match_state(id).is_some());
        if known {
            info!(%id, "a letter about a match");
            // A violation was detected, and had no effect.
            return !matches!(
                self.drive(key, Input::Letter(Box::new(record))),
                Err(crate::peer::DriveError::Disk(_))
            );
        }
        match self.journal.load(id) {
            Ok(None) => {}
            // The match is over and closed, or belongs to somebody else.
            Ok(Some(_)) => return true,
            Err(_) => return false,
        }
        let declined = self.journal.setting(&format!("{DECLINED}{id}"));
        if self.invitations.contains(id) || !matches!(declined, Ok(None)) {
            return true;
        }
        if self.invitations.by_letter_of(key) >= MOST_ASKED || session::asked_by_letter(&record).is_none() {
            debug!(%id, "a letter asks for what cannot be");
            return true;
        }
        let text = format!("{key} {}", hex(&encode(&Envelope::Record(record.clone()))));
        if self.journal.keep(|store| store.set_setting(&format!("{ASKED}{id}"), &text)).is_err() {
            return false;
        }
        self.ask_person(key, record);
        true
    }

    fn ask_person(&mut self, key: PlayerId, record: Record) {
        let Some((id, setup, my_side)) = session::asked_by_letter(&record) else { return };
        if self.people.get(&key).is_none_or(|peer| peer.friend.is_none()) {
            return;
        }
        let colours = crate::show::colours(session::Colours::Mine(my_side));
        let invitation = Invitation {
            target: Target::Friend(key),
            mine: false,
            setup,
            pace: None,
            colours,
            hints: false,
            my_side: Some(my_side),
            counters: None,
            until: Instant::now() + ASKED_FOR,
            sent: true,
            letter: Some(Box::new(record)),
        };
        self.invitations.insert(id, invitation);
        self.tell_invitation(id);
    }

    /// Handles a declined invitation by letter: the match that was begun for it is deleted.
    fn answer_came(&mut self, key: PlayerId, answer: &InviteAnswer) {
        let Ok(id) = <[u8; 16]>::try_from(&answer.invite_id[..]).map(MatchId) else { return };
        if !matches!(answer.answer, Some(invite_answer::Answer::Decline(_))) {
            return;
        }
        let Some(peer) = self.people.get(&key).filter(|peer| peer.link.is_none()) else { return };
        let begun_here_only = peer.session.match_state(id).is_some_and(|state| {
            let mine = state.record().my_side;
            let nothing_heard = state.seen_ply().is_none() && state.record().revision == 0;
            nothing_heard && state.decided_by().all(|by| by == mine)
        });
        if !begun_here_only {
            return;
        }
        if self.rooms.contains_key(&id)
            && let Err(refusal) = self.close_room(id)
        {
            debug!(detail = refusal.detail, "a room could not be closed");
        }
        if self.journal.keep(|store| store.delete(id)).is_ok() {
            self.rebuild(key);
        }
        let (name, room_id) = (self.name_of(key), id.to_string());
        self.notice(control::Notice { name, room_id, ..notice(NoticeKind::NoticeOfferDeclined) });
    }

    // Requests of the user.

    /// Begins a match with a friend who is away, and queues the invitation.
    pub(crate) fn invite_by_letter(&mut self, key: PlayerId, wish: &Wish) -> Result<MatchId, Refusal> {
        let bad = |what: &str| Refusal::new(RefusalCode::RefusalBadRequest, what);
        if self.people.account(key).is_none() {
            return Err(Refusal::new(
                RefusalCode::RefusalCannotReach,
                "no account of this friend is known: meet once online, or read a code that holds it",
            ));
        }
        if self.online.is_none() {
            return Err(bad("this host was started without online play"));
        }
        if wish.pace.is_some() {
            return Err(bad("a match by letter has no clocks"));
        }
        // The friend sees the sides before answering, so that a joint draw is impossible.
        let my_side = match wish.colours {
            ColourChoice::ColourFirst => engine::Side::First,
            ColourChoice::ColourSecond => engine::Side::Second,
            ColourChoice::ColourAlternate | ColourChoice::ColourRandom | ColourChoice::ColourUnspecified => {
                let last = self.journal.last_side(key, wish.setup.kind())?;
                match last.filter(|_| wish.colours == ColourChoice::ColourAlternate) {
                    Some(last) => last.other(),
                    None if self.chance.fraction() < 0.5 => engine::Side::First,
                    None => engine::Side::Second,
                }
            }
        };
        let id = MatchId(self.chance.bytes());
        self.command(key, Command::BeginByLetter { id, setup: wish.setup.clone(), my_side })?;
        self.letters_soon();
        Ok(id)
    }

    /// Answers an invitation by letter.
    pub(crate) fn answer_letter(
        &mut self,
        key: PlayerId,
        record: Box<Record>,
        decline: Option<DeclineReason>,
    ) -> Result<(), Refusal> {
        let Ok(id) = <[u8; 16]>::try_from(&record.match_id[..]).map(MatchId) else { return Ok(()) };
        if let Some(reason) = decline {
            self.journal.keep(|store| store.set_setting(&format!("{DECLINED}{id}"), "1"))?;
            let answer = Some(invite_answer::Answer::Decline(reason.into()));
            let answer =
                InviteAnswer { invite_id: Bytes::copy_from_slice(&id.0), answer, nonce: Bytes::new() };
            let _ = self.write_letter(key, &Envelope::InviteAnswer(answer));
            self.invitation_over(id, control::InvitationEnd::InvitationDeclined);
        } else {
            self.command(key, Command::AcceptLetter(record))?;
            self.letters_soon();
        }
        Ok(())
    }

    /// Removes an invitation by letter that is answered or obsolete.
    pub(crate) fn letter_answered(&mut self, id: MatchId) {
        let _ = self.journal.keep(|store| store.remove_setting(&format!("{ASKED}{id}")));
    }

    /// State of the last letter about the match, while the friend is away.
    pub(crate) fn letter_state(&self, id: MatchId) -> LetterState {
        let written = self.online.as_ref().and_then(|online| online.written.get(&id));
        let state = self.people.values().find_map(|peer| peer.match_state(id));
        match written {
            Some(written) if state.is_none_or(|state| Written::of(state) == written.standing) => {
                written.stage
            }
            // The last letter is older than the last move.
            Some(_) => LetterState::Waiting,
            None => LetterState::Unspecified,
        }
    }
}

/// The message id, followed by the encoded message.
fn encode(envelope: &Envelope) -> Vec<u8> {
    let (number, payload) = envelope.encode();
    [&number.to_be_bytes()[..], &payload[..]].concat()
}

fn decode(text: &[u8]) -> Result<Envelope, proto::EnvelopeError> {
    let (number, payload) = text.split_first_chunk::<4>().unwrap_or((&[0; 4], &[]));
    Envelope::decode(u32::from_be_bytes(*number), payload)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> =
        text.chars().map(|digit| digit.to_digit(16).map(|digit| digit as u8)).collect::<Option<_>>()?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

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
