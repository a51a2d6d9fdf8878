//! Matches by letter with friends who are away: writes what [`crate::letters`] schedules, and processes what arrives.

use std::time::Duration;

use bytes::Bytes;
use link::online::{LetterNews, LetterStage};
use link::{Outdated, letter};
use proto::EnvelopeError;
use proto::control::{self, ColourChoice, LetterState, NoticeKind, RefusalCode};
use proto::peer::{DeclineReason, Envelope, InviteAnswer, Record, invite_answer};
use session::{Command, Input, MatchId};
use tokio::time::Instant;
use tracing::{debug, info, warn};

use crate::actor::{Actor, Message, notice};
use crate::dialing::Target;
use crate::invitations::{Invitation, Wish};
use crate::journal::ACCOUNT_OF;
use crate::letters::envelope::{Writer, decode, encode, hex, signed, unhex, writer};
use crate::letters::kept;
use crate::letters::schedule::{self, standing};
use crate::refusal::Refusal;
use crate::room::PlayerId;
use crate::store::letter_written;

/// Lifetime of an unanswered invitation by letter.
const ASKED_FOR: Duration = Duration::from_hours(24 * 30);

impl Actor {
    // Accounts of friends.

    /// Restores stored accounts and invitations by letter.
    pub(crate) fn load_letters(&mut self) {
        let unreadable =
            |error: &crate::store::StoreError| warn!(%error, "what is kept of letters cannot be read");
        let accounts = self.journal.settings_of(ACCOUNT_OF).inspect_err(unreadable);
        for (key, account) in accounts.unwrap_or_default() {
            if let Some(key) = PlayerId::parse(&key) {
                self.people.set_account(key, account);
            }
        }
        for (key, text) in kept::asked(&self.journal).inspect_err(unreadable).unwrap_or_default() {
            if let Some(record) = unhex(&text)
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
        kept::archive_of(&self.journal, jid)
    }

    // Writing letters.

    /// Schedules letters after a change that friends who are away may need to know.
    pub(crate) fn letters_soon(&mut self) {
        if let Some(online) = &mut self.online {
            online.letters.on_change(Instant::now());
        }
    }

    pub(crate) fn letters_deadline(&self) -> Option<Instant> {
        self.online.as_ref()?.letters.due()
    }

    pub(crate) fn letters_on_time(&mut self) {
        let now = Instant::now();
        let Some(online) = &mut self.online else { return };
        // While the account is offline, they are written when it is online again.
        if online.letters.take_due(now) && online.is_signed_in() {
            self.write_letters(now);
        }
    }

    /// Writes scheduled letters at once, because the device may be suspended right after a move.
    pub(crate) fn last_letters(&mut self) {
        if self.online.as_ref().is_some_and(|online| online.is_signed_in() && online.letters.due().is_some())
        {
            self.write_letters(Instant::now());
        }
    }

    fn write_letters(&mut self, now: Instant) {
        let times = (now, self.wall_clock.unix_ms());
        for key in self.people.keys().copied().collect::<Vec<_>>() {
            let Some(peer) = self.people.get(&key).filter(|peer| peer.friend.is_some()) else { continue };
            if peer.link.is_some() || peer.rebuild.is_some() || self.people.account(key).is_none() {
                continue;
            }
            let lacking: Vec<(MatchId, String)> = peer
                .unsettled()
                .filter(|state| schedule::may_lack(state))
                .filter(|state| self.rooms.contains_key(&state.id()) || state.record().result.is_some())
                .map(|state| (state.id(), standing(state)))
                .collect();
            for (id, standing) in lacking {
                let Some(online) = &mut self.online else { return };
                let kept = || self.journal.setting(&letter_written(id)).ok().flatten();
                if online.letters.is_wanted(id, &standing, kept, times) {
                    self.write_record(key, id, standing);
                }
            }
        }
    }

    fn write_record(&mut self, key: PlayerId, id: MatchId, standing: String) {
        let Some(record) = self.people.get(&key).and_then(|peer| peer.session.letter(id)) else { return };
        let number = self.write_letter(key, &Envelope::Record(record));
        let Some(online) = &mut self.online else { return };
        online.letters.wrote(id, standing, number, Instant::now());
        self.mark_for_display(id);
    }

    /// Queues a letter; returns its number, which later reports refer to.
    fn write_letter(&mut self, key: PlayerId, envelope: &Envelope) -> Option<u64> {
        let account = self.people.account(key)?;
        let online = self.online.as_mut()?;
        let text = encode(&signed(envelope.clone(), online.account()));
        let sealed = letter::seal(self.profile.identity(), &key.0, &text)?;
        let number = online.letters.number();
        info!(account, number, bytes = sealed.len(), "a letter is written");
        online.transport.send_letter(number, account, sealed).then_some(number)
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
            LetterNews::OtherVersion { account, outdated } => self.account_outdated(&account, outdated),
            LetterNews::Stage { number, stage } => self.letter_stage(number, stage),
            LetterNews::Archive(last) => {
                let Some(jid) = self.online.as_ref().map(|online| online.account().to_owned()) else {
                    return;
                };
                let _ = kept::read_archive(&mut self.journal, &jid, &last);
            }
        }
    }

    fn letter_stage(&mut self, number: u64, stage: LetterStage) {
        let Some(online) = &mut self.online else { return };
        let Some((id, keep)) = online.letters.on_stage(number, stage, Instant::now()) else { return };
        debug!(number, ?stage, "a letter of ours");
        if let Some(standing) = keep {
            let text = schedule::kept(self.wall_clock.unix_ms(), &standing);
            let _ = self.journal.keep(|store| store.set_setting(&letter_written(id), &text));
        }
        self.mark_for_display(id);
    }

    /// Handles a received letter. Returns true if it is done with, and need not be delivered again.
    fn letter_came(&mut self, account: &str, sealed: &[u8]) -> bool {
        let Some((key, text)) = self.open_letter(account, sealed) else {
            debug!(account, "a letter that no friend has written");
            return false;
        };
        let decoded = decode(&text);
        match decoded.as_ref().map_or(Writer::Unnamed, |envelope| writer(envelope, account)) {
            Writer::Named => self.account_claimed(key, account),
            // Of an earlier version: it may be a copy.
            Writer::Unnamed => {}
            Writer::Another => {
                debug!(account, "a copy of a letter from another account");
                return false;
            }
        }
        match decoded {
            Ok(Envelope::Record(record)) => self.record_came(key, record),
            Ok(Envelope::InviteAnswer(answer)) => {
                self.answer_came(key, &answer);
                true
            }
            // Of a newer version. Without a receipt it is written again after days, when this device may have been updated.
            Err(EnvelopeError::UnknownMessage(1..)) => {
                self.peer_outdated(key, Outdated::Here);
                false
            }
            // A second delivery would not help.
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
        let declined = kept::is_declined(&self.journal, id);
        if self.invitations.contains(id) || !matches!(declined, Ok(false)) {
            return true;
        }
        if self.invitations.by_letter_of(key) >= kept::MOST_ASKED
            || session::asked_by_letter(&record).is_none()
        {
            debug!(%id, "a letter asks for what cannot be");
            return true;
        }
        if !self.peer_rings(key) {
            debug!(%id, "an invitation by letter does not ring: it is declined");
            return self.answer_letter(key, Box::new(record), Some(DeclineReason::DeclineNotNow)).is_ok();
        }
        let text = hex(&encode(&Envelope::Record(record.clone())));
        match kept::ask(&mut self.journal, key, id, &text) {
            Ok(true) => self.ask_person(key, record),
            Ok(false) => debug!(%id, "too many invitations by letter"),
            Err(_) => return false,
        }
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
        let begun_here_only = peer.match_state(id).is_some_and(schedule::is_begun_here_only);
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
            kept::decline(&mut self.journal, key, id, self.wall_clock.unix_ms())?;
            let answer = Some(invite_answer::Answer::Decline(reason.into()));
            let invite_id = Bytes::copy_from_slice(&id.0);
            let answer = InviteAnswer { invite_id, answer, ..InviteAnswer::default() };
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
        let _ = kept::answered(&mut self.journal, id);
    }

    /// State of the last letter about the match, while the friend is away.
    pub(crate) fn letter_state(&self, id: MatchId) -> LetterState {
        let state = self.people.values().find_map(|peer| peer.match_state(id)).map(standing);
        let shown = |online: &crate::account::Online| online.letters.shown(id, state.as_deref());
        self.online.as_ref().map_or(LetterState::Unspecified, shown)
    }
}

#[cfg(test)]
mod tests {
    use engine::{Action, GameKind, Point};
    use link::online::OnlineConfig;
    use tokio::sync::mpsc;

    use super::*;
    use crate::config::HostConfig;
    use crate::store::SavedFriend;

    const ANNAS: &str = "anna@example.org";
    const BENS: &str = "ben@example.org";
    const EVES: &str = "eve@example.org";

    /// A host that does not run by itself, and its folder, which is removed with the second value.
    fn host(name: &str) -> (Actor, tempfile::TempDir) {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let mut config = HostConfig::new(folder.path()).with_online(OnlineConfig::default());
        config.name = Some(name.to_owned());
        let (inbox, messages) = mpsc::unbounded_channel();
        (Actor::new(config, inbox, messages).expect("a disk that works"), folder)
    }

    fn key_of(host: &Actor) -> PlayerId {
        PlayerId(host.profile.identity().public_key())
    }

    fn befriend(host: &mut Actor, key: PlayerId) {
        let friend = SavedFriend {
            key,
            name: "A friend".into(),
            advert_key: [7; 32],
            met_unix_ms: 0,
            muted: false,
            note: String::new(),
        };
        host.journal.keep(|store| store.put_friend(&friend)).expect("a disk that works");
        host.load_people().expect("a disk that works");
    }

    /// The friend's account, which a restart would not change.
    fn account(host: &Actor, key: PlayerId) -> Option<String> {
        let account = host.people.account(key).cloned();
        assert_eq!(host.journal.setting(&format!("{ACCOUNT_OF}{key}")).expect("read"), account);
        account
    }

    /// The letter about a match, of whoever has this account.
    fn record(by: &Actor, account: &str, to: PlayerId, id: MatchId) -> Vec<u8> {
        let record = by.people[&to].session.letter(id).expect("a match without clocks");
        sealed(by, account, to, Envelope::Record(record))
    }

    /// The answer that declines an invitation by letter, of whoever has this account.
    fn declined(by: &Actor, account: &str, to: PlayerId, id: MatchId) -> Vec<u8> {
        let answer = InviteAnswer {
            invite_id: Bytes::copy_from_slice(&id.0),
            answer: Some(invite_answer::Answer::Decline(DeclineReason::DeclineLater.into())),
            ..InviteAnswer::default()
        };
        sealed(by, account, to, Envelope::InviteAnswer(answer))
    }

    fn sealed(by: &Actor, account: &str, to: PlayerId, envelope: Envelope) -> Vec<u8> {
        let text = encode(&signed(envelope, account));
        letter::seal(by.profile.identity(), &to.0, &text).expect("a short letter")
    }

    #[tokio::test]
    async fn a_copy_of_a_letter_from_another_account_neither_becomes_the_friends_account_nor_acts() {
        let ((mut anna, _annas_folder), (mut ben, _bens_folder)) = (host("Anna"), host("Ben"));
        let (annas_key, bens_key, eves_key) = (key_of(&anna), key_of(&ben), PlayerId([9; 32]));
        befriend(&mut anna, bens_key);
        anna.learn_account(bens_key, BENS);
        befriend(&mut ben, annas_key);
        // Eve, a friend of Ben's too, has got hold of their letters.
        befriend(&mut ben, eves_key);
        ben.learn_account(eves_key, EVES);
        let wish = Wish {
            setup: GameKind::Gomoku.default_setup(),
            pace: None,
            colours: ColourChoice::ColourFirst,
            hints: false,
            counters: None,
        };

        // An invitation, while Ben knows no account of Anna's. A letter of an earlier program names none, and tells none.
        let id = anna.invite_by_letter(bens_key, &wish).expect("Ben's account is known");
        assert!(ben.letter_came(EVES, &declined(&anna, "", bens_key, id)));
        let letter = record(&anna, ANNAS, bens_key, id);
        assert!(!ben.letter_came(EVES, &letter));
        assert_eq!((account(&ben, annas_key), ben.invitations.contains(id)), (None, false));
        assert!(ben.letter_came(ANNAS, &letter));
        assert_eq!(account(&ben, annas_key).as_deref(), Some(ANNAS));
        let asked = ben.invitations.get(id).and_then(|one| one.letter.clone()).expect("it is shown");
        ben.answer_letter(annas_key, asked, None).expect("it is accepted");

        // A move.
        let h8 = Action::Place(Point::new(7, 7));
        anna.command(bens_key, Command::Act { id, action: h8 }).expect("it is Anna's turn");
        let letter = record(&anna, ANNAS, bens_key, id);
        let played = |ben: &Actor| {
            let state = ben.people[&annas_key].match_state(id).expect("it was accepted");
            state.record().actions.clone()
        };
        assert!(!ben.letter_came(EVES, &letter));
        assert_eq!(played(&ben), []);
        assert!(ben.letter_came(ANNAS, &letter));
        assert_eq!(played(&ben), [h8]);
        assert!(ben.letter_came(EVES, &record(&anna, "", bens_key, id)), "nothing new in it");
        assert_eq!(account(&ben, annas_key).as_deref(), Some(ANNAS));
        assert_eq!(account(&ben, eves_key).as_deref(), Some(EVES));

        // An answer.
        let second = anna.invite_by_letter(bens_key, &wish).expect("Ben's account is known");
        let letter = declined(&ben, BENS, annas_key, second);
        assert!(!anna.letter_came(EVES, &letter));
        assert!(anna.people[&bens_key].match_state(second).is_some(), "it is still asked about");
        assert!(anna.letter_came(BENS, &letter));
        assert!(anna.people[&bens_key].match_state(second).is_none());
        assert_eq!(account(&anna, bens_key).as_deref(), Some(BENS));
    }
}
