//! Accounts of friends, and letters to and from them: what [`crate::letters`] decides is done.

use link::Outdated;
use link::online::{LetterNews, LetterStage};
use proto::control::{self, LetterState, NoticeKind};
use proto::peer::{DeclineReason, Envelope, InviteAnswer, Record};
use session::{Command, Input, MatchId};
use tokio::time::Instant;
use tracing::{debug, info, warn};

use crate::actor::{Actor, Message, notice};
use crate::invitations::Wish;
use crate::journal::ACCOUNT_OF;
use crate::letters::arrival::{self, Content, Verdict};
use crate::letters::schedule::{Addressee, Clocks, Draft, standing, state_to_tell};
use crate::letters::{Occasion, asking, kept};
use crate::peer::DriveError;
use crate::refusal::Refusal;
use crate::room::PlayerId;

// Accounts of friends.
impl Actor {
    pub(super) fn load_accounts(&mut self) {
        let accounts = self.journal.settings_of(ACCOUNT_OF);
        let accounts = accounts.inspect_err(|error| warn!(%error, "the accounts of friends cannot be read"));
        for (key, account) in accounts.unwrap_or_default() {
            if let Some(key) = PlayerId::parse(&key) {
                self.people.set_account(key, account);
            }
        }
    }

    /// Handles that a tag or a letter claims that a friend has this account.
    pub(crate) fn account_claimed(&mut self, key: PlayerId, account: &str) {
        if self.people.take_claimed_account(key, account) {
            self.keep_account(key, account);
        }
    }

    /// Handles that a friend has this account: a handshake there has proven it, or the user has read a friend code that holds it.
    pub(crate) fn learn_account(&mut self, key: PlayerId, account: &str) {
        if self.people.account(key).is_some_and(|known| known == account) {
            return;
        }
        self.people.set_account(key, account.to_owned());
        self.keep_account(key, account);
    }

    fn keep_account(&mut self, key: PlayerId, account: &str) {
        // If storing fails, letters to this friend wait until the account is seen again.
        let _ = self.journal.keep(|store| store.set_setting(&format!("{ACCOUNT_OF}{key}"), account));
    }

    /// Looks for friends among the contacts, whose presence tells their tags.
    pub(crate) fn learn_accounts(&mut self) {
        let (Some(online), epoch) = (&self.online, self.wall_clock.epoch()) else { return };
        let friends = self.people.values().filter_map(|peer| peer.friend.as_ref());
        for (key, account) in online.recognised(friends, epoch) {
            self.account_claimed(key, &account);
        }
    }
}

// Letters that this device writes.
impl Actor {
    /// Schedules letters after a change that friends who are away may need to know.
    pub(crate) fn letters_soon(&mut self) {
        if let Some(online) = &mut self.online {
            online.letters.on_change(Instant::now().into_std());
        }
    }

    pub(crate) fn letters_deadline(&self) -> Option<Instant> {
        self.online.as_ref()?.letters.due().map(Instant::from_std)
    }

    /// Writes the letters that the schedule wants on this occasion.
    pub(crate) fn write_letters(&mut self, occasion: Occasion) {
        let clocks = self.clocks();
        let Some(online) = &mut self.online else { return };
        let people = self.people.values().map(|peer| {
            let addressee = Addressee {
                key: peer.key,
                is_friend: peer.friend.is_some(),
                is_linked: peer.link.is_some(),
                is_broken: peer.rebuild.is_some(),
                has_account: self.people.account(peer.key).is_some(),
            };
            let is_open = |id| self.rooms.contains_key(&id);
            let told = peer.unsettled().filter_map(move |state| state_to_tell(state, is_open(state.id())));
            (addressee, told)
        });
        let (is_signed_in, kept) = (online.is_signed_in(), |id| kept::written(&self.journal, id));
        for draft in online.letters.check(occasion, clocks, is_signed_in, people, kept) {
            self.write_record(draft, clocks);
        }
    }

    fn clocks(&self) -> Clocks {
        Clocks { now: Instant::now().into_std(), unix_ms: self.wall_clock.unix_ms() }
    }

    fn write_record(&mut self, draft: Draft, clocks: Clocks) {
        let (to, id) = (draft.to, draft.id);
        let Some(record) = self.people.get(&to).and_then(|peer| peer.session.letter(id)) else { return };
        let number = self.write_letter(to, Envelope::Record(record));
        let Some(online) = &mut self.online else { return };
        online.letters.wrote(draft, number, clocks.now);
        self.mark_for_display(id);
    }

    fn write_letter(&mut self, to: PlayerId, letter: Envelope) -> Option<u64> {
        let account = self.people.account(to)?;
        self.online.as_mut()?.send_letter(letter, self.profile.identity(), to, account)
    }

    fn letter_stage(&mut self, number: u64, stage: LetterStage) {
        let clocks = self.clocks();
        let Some(online) = &mut self.online else { return };
        let Some((id, keep)) = online.letters.on_stage(number, stage, clocks) else { return };
        debug!(number, ?stage, "a letter of ours");
        if let Some(text) = keep {
            let _ = kept::wrote(&mut self.journal, id, &text);
        }
        self.mark_for_display(id);
    }

    /// State of the last letter about the match, while the friend is away.
    pub(crate) fn letter_state(&self, id: MatchId) -> LetterState {
        let Some(online) = &self.online else { return LetterState::Unspecified };
        let state = self.people.values().find_map(|peer| peer.match_state(id)).map(standing);
        online.letters.shown(id, state.as_deref())
    }
}

// Letters that arrive.
impl Actor {
    pub(super) fn follow_letters(&mut self) {
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
                let Some(online) = &self.online else { return };
                let _ = kept::read_archive(&mut self.journal, online.account(), &last);
            }
        }
    }

    /// Handles a received letter. Returns true if it is done with, and need not be delivered again.
    fn letter_came(&mut self, account: &str, sealed: &[u8]) -> bool {
        let friends = self.people.values().filter(|peer| peer.friend.is_some());
        let friends = friends.map(|peer| (peer.key, self.people.account(peer.key).map(String::as_str)));
        let Some(letter) = arrival::open(account, sealed, self.profile.identity(), friends) else {
            return false;
        };
        if letter.claims_account {
            self.account_claimed(letter.from, account);
        }
        match letter.content {
            Content::Record(record) => return self.record_came(letter.from, record),
            Content::Answer(answer) => self.answer_came(letter.from, &answer),
            Content::Newer => {
                self.peer_outdated(letter.from, Outdated::Here);
                return false;
            }
            Content::Unknown => {}
        }
        true
    }

    fn record_came(&mut self, from: PlayerId, record: Box<Record>) -> bool {
        let peer = self.people.get(&from);
        let is_known = |id| peer.is_some_and(|peer| peer.match_state(id).is_some());
        match arrival::on_record(from, &record, is_known, &self.journal, &self.invitations) {
            Verdict::Update(id) => {
                info!(%id, "a letter about a match");
                // A violation was detected, and had no effect.
                !matches!(self.drive(from, Input::Letter(record)), Err(DriveError::Disk(_)))
            }
            Verdict::Invitation(id) if !self.peer_rings(from) => {
                debug!(%id, "an invitation by letter does not ring: it is declined");
                self.answer_letter(from, record, Some(DeclineReason::DeclineNotNow)).is_ok()
            }
            Verdict::Invitation(id) => match kept::ask(&mut self.journal, from, id, &record) {
                Ok(true) => {
                    self.invited_by_letter(from, *record);
                    true
                }
                Ok(false) => {
                    debug!(%id, "too many invitations by letter");
                    true
                }
                Err(_) => false,
            },
            Verdict::Nothing => true,
            Verdict::Later => false,
        }
    }

    pub(super) fn invited_by_letter(&mut self, from: PlayerId, record: Record) {
        let Some((id, invitation)) = asking::invitation(from, record, Instant::now()) else { return };
        if self.people.get(&from).is_some_and(|peer| peer.friend.is_some()) {
            self.invitations.insert(id, invitation);
            self.tell_invitation(id);
        }
    }

    /// Handles the answer to an invitation by letter: if it is declined, the match that was begun for it is deleted.
    fn answer_came(&mut self, from: PlayerId, answer: &InviteAnswer) {
        let Some(peer) = self.people.get(&from) else { return };
        let Some(id) = arrival::on_answer(answer, peer.link.is_some(), |id| peer.match_state(id)) else {
            return;
        };
        if self.rooms.contains_key(&id)
            && let Err(refusal) = self.close_room(id)
        {
            debug!(detail = refusal.detail, "a room could not be closed");
        }
        if self.journal.keep(|store| store.delete(id)).is_ok() {
            self.rebuild(from);
        }
        let (name, room_id) = (self.name_of(from), id.to_string());
        self.notice(control::Notice { name, room_id, ..notice(NoticeKind::NoticeOfferDeclined) });
    }
}

// Requests of the user about letters.
impl Actor {
    /// Begins a match with a friend who is away, and queues the invitation.
    pub(crate) fn invite_by_letter(&mut self, key: PlayerId, wish: &Wish) -> Result<MatchId, Refusal> {
        asking::check(wish, self.people.account(key).is_some(), self.online.is_some())?;
        let last = || self.journal.last_side(key, wish.setup.kind());
        let my_side = asking::my_side(wish.colours, last, || self.chance.fraction())?;
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
            let _ = self.write_letter(key, asking::decline(id, reason));
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
}

#[cfg(test)]
mod tests {
    use engine::{Action, GameKind, Point};
    use link::online::OnlineConfig;
    use proto::control::ColourChoice;
    use tokio::sync::mpsc;

    use super::*;
    use crate::config::HostConfig;
    use crate::letters::envelope;
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
        sealed(by, account, to, asking::decline(id, DeclineReason::DeclineLater))
    }

    fn sealed(by: &Actor, account: &str, to: PlayerId, envelope: Envelope) -> Vec<u8> {
        envelope::seal(envelope, account, by.profile.identity(), to).expect("a short letter")
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
