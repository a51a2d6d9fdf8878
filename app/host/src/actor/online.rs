//! The account: requests of clients, its stored data, the accounts of friends, and letters to and from them.

use std::sync::Arc;

use link::online::{Account, AccountState, ContactDeed, ContactState, LetterNews, LetterStage, View};
use link::{Address, CarrierKind, Outdated, Transport};
use proto::control::{self, LetterState, NoticeKind, RefusalCode, event, request};
use proto::peer::{DeclineReason, Envelope, InviteAnswer, Record};
use session::{Command, Input, MatchId};
use tokio::time::Instant;
use tracing::{debug, info, warn};

use crate::actor::{Actor, Message, notice};
use crate::invitations::Wish;
use crate::journal::{ACCOUNT_OF, PARTED_ACCOUNT};
use crate::letters::arrival::{self, Content, Verdict};
use crate::letters::schedule::{Addressee, Clocks, Draft, standing, state_to_tell};
use crate::letters::{Occasion, asking, kept};
use crate::link_task::LinkTask;
use crate::peer::DriveError;
use crate::refusal::Refusal;
use crate::responder::{Answer, done};
use crate::room::PlayerId;

/// Keys of settings.
const ACCOUNT: &str = "account";
const SERVER: &str = "account_server";

impl Actor {
    /// Signs in with the stored account, and follows its state.
    pub(crate) fn start_online(&mut self) {
        self.load_accounts();
        for (key, record) in kept::open_invitations(&mut self.journal) {
            self.invited_by_letter(key, record);
        }
        self.follow_letters();
        let Some(online) = &self.online else { return };
        let (mut view, inbox) = (online.transport.view(), self.inbox.clone());
        self.tasks.spawn(async move {
            loop {
                // Bound to a variable, so that the borrow ends before sending.
                let now = view.borrow_and_update().clone();
                if inbox.send(Message::Online(now)).is_err() || view.changed().await.is_err() {
                    return;
                }
            }
        });
        let setting = |key| self.journal.setting(key).ok().flatten();
        let Some(jid) = setting(ACCOUNT) else { return };
        let server = setting(SERVER);
        let archive = kept::archive_of(&self.journal, &jid);
        let (secrets, inbox) = (online.secrets(), self.inbox.clone());
        // A keyring may ask the user first; meanwhile the user may sign in by hand.
        self.tasks.spawn(async move {
            let Some(password) = secrets.load(&jid).await else {
                warn!(jid, "the account's password is not kept: sign in again");
                return;
            };
            if let Some(account) = Account::new(&jid, &password, server.as_deref()) {
                let _ = inbox.send(Message::Password(account, archive));
            }
        });
    }

    /// Handles that the stored password has been loaded.
    pub(crate) fn password_found(&mut self, account: Account, archive: Option<String>) {
        let same = self.journal.setting(ACCOUNT).ok().flatten() == Some(account.jid());
        let Some(online) = self.online.as_ref().filter(|online| same && online.account().is_empty()) else {
            return;
        };
        online.transport.set_archive(archive);
        online.transport.sign_in(account, false);
    }

    pub(crate) fn online_asked(&mut self, body: request::Body) -> Result<Answer, Refusal> {
        let Some(online) = &self.online else {
            return Err(Refusal::new(
                RefusalCode::RefusalBadRequest,
                "this host was started without online play",
            ));
        };
        let not_an_account =
            || Refusal::new(RefusalCode::RefusalBadRequest, "an account looks like name@server");
        let transport = online.transport.clone();
        match body {
            request::Body::SignIn(asked) => {
                let server = (!asked.server.is_empty()).then_some(asked.server.as_str());
                let account =
                    Account::new(&asked.account, &asked.password, server).ok_or_else(not_an_account)?;
                let jid = account.jid();
                if asked.password.contains(['\n', '\r']) {
                    return Err(Refusal::new(RefusalCode::RefusalBadRequest, "a password is one line"));
                }
                let (secrets, inbox) = (online.secrets(), self.inbox.clone());
                let (kept_for, password) = (jid.clone(), asked.password.clone());
                self.tasks.spawn(async move {
                    if let Err(error) = secrets.keep(&kept_for, &password).await {
                        let _ = inbox.send(Message::PasswordNotKept(error.to_string()));
                    }
                });
                let server = server.unwrap_or_default();
                self.journal.keep(|store| {
                    store.set_setting(ACCOUNT, &jid)?;
                    store.set_setting(SERVER, server)
                })?;
                transport.set_archive(kept::archive_of(&self.journal, &jid));
                transport.sign_in(account, asked.make_it);
                // Sent at once, so that a client does not mistake an old state for the result of its request.
                self.online_changed(View {
                    account: jid,
                    state: AccountState::Connecting,
                    ..View::default()
                });
            }
            request::Body::SignOut(asked) => {
                transport.sign_out();
                if asked.forget {
                    if let Ok(Some(jid)) = self.journal.setting(ACCOUNT) {
                        let secrets = online.secrets();
                        self.tasks.spawn(async move { secrets.forget(&jid).await });
                    }
                    self.journal.keep(|store| store.remove_setting(ACCOUNT))?;
                }
            }
            request::Body::TakeOver(_) => {
                let now = online.view().clone();
                transport.take_over();
                if !now.account.is_empty() {
                    let (detail, said) = (String::new(), String::new());
                    let state = AccountState::Connecting;
                    self.online_changed(View { state, detail, said, retry_at: None, ..now });
                }
            }
            request::Body::SetAway(asked) => transport.set_away(asked.away),
            request::Body::AskContact(asked) => {
                if !transport.contact(&asked.account, ContactDeed::Ask) {
                    return Err(not_an_account());
                }
                self.wants_contact(&asked.account);
            }
            request::Body::AnswerContact(asked) => {
                let deed = match asked.answer() {
                    control::ContactAnswer::ContactAccept => ContactDeed::Accept,
                    control::ContactAnswer::ContactRemove => ContactDeed::Remove,
                    control::ContactAnswer::ContactBlock => ContactDeed::Block,
                    control::ContactAnswer::Unspecified => {
                        return Err(Refusal::new(RefusalCode::RefusalBadRequest, "no answer is given"));
                    }
                };
                if !transport.contact(&asked.account, deed) {
                    return Err(not_an_account());
                }
                if deed == ContactDeed::Accept {
                    self.wants_contact(&asked.account);
                }
            }
            _ => return Err(Refusal::new(RefusalCode::RefusalBadRequest, "not about an account")),
        }
        Ok(done())
    }

    /// Requests the accounts in a friend code as contacts, and allows them.
    pub(crate) fn ask_accounts_of_code(&mut self, code: &link::friend_code::FriendCode) {
        let mut places = code.places.iter().filter(|place| place.kind == CarrierKind::Online);
        if let Some(place) = places.next_back() {
            self.learn_account(PlayerId(code.key), &place.text);
        }
        for place in code.places.iter().filter(|place| place.kind == CarrierKind::Online) {
            self.wants_contact(&place.text);
        }
        let Some(online) = &self.online else { return };
        for place in code.places.iter().filter(|place| place.kind == CarrierKind::Online) {
            // An entry that is no valid account is ignored.
            let _ = online.transport.contact(&place.text, ContactDeed::Ask);
        }
    }

    /// Handles that the user has removed or blocked the player with this account: the account is removed from the contacts, or
    /// blocked by the server; see also [`contacts_to_part`](Self::contacts_to_part).
    pub(crate) fn part_from_account(&mut self, key: PlayerId, account: &str) {
        if self.people.of_account(account).is_some() {
            // Another device of the same person is still a friend's.
            return;
        }
        // If storing fails, the account is removed from the contacts only if it is signed in now.
        let _ = self.journal.keep(|store| store.set_setting(&parted_account(account), &key.to_string()));
        let is_blocked = self.blocked.contains(key);
        let deed = if is_blocked { ContactDeed::Block } else { ContactDeed::Remove };
        if let Some(online) = &self.online {
            // What is no valid account cannot be a contact.
            let _ = online.transport.contact(account, deed);
        }
    }

    /// Handles that the user asks or accepts this account as a contact.
    fn wants_contact(&mut self, account: &str) {
        // If the removal fails, the user has to ask once more.
        let _ = self.journal.keep(|store| store.remove_setting(&parted_account(account)));
    }

    /// Contacts that are new or changed since `old`, of players that the user has removed or blocked: while the account was
    /// signed out, or the server did not hear of it.
    fn contacts_to_part(&self, old: &View) -> Vec<(String, ContactDeed)> {
        let Some(online) = &self.online else { return Vec::new() };
        let mut to_part = Vec::new();
        for (account, contact) in online.contacts() {
            if old.contacts.get(account).is_some_and(|before| before.state == contact.state) {
                continue;
            }
            if let Some(deed) = self.parting(account, contact.state) {
                to_part.push((account.clone(), deed));
            }
        }
        to_part
    }

    fn parting(&self, account: &str, state: ContactState) -> Option<ContactDeed> {
        let key = PlayerId::parse(&self.journal.setting(&parted_account(account)).ok().flatten()?)?;
        if self.blocked.contains(key) {
            return Some(ContactDeed::Block);
        }
        let is_friend = self.people.get(&key).is_some_and(|peer| peer.friend.is_some());
        // Whoever was removed may ask again.
        (!is_friend && state != ContactState::Asks).then_some(ContactDeed::Remove)
    }

    pub(crate) fn online_changed(&mut self, view: View) {
        let Some(online) = &mut self.online else { return };
        let old = online.change(view);
        let came_online = online.is_signed_in() && old.state != AccountState::Online;
        let outdated = online.newly_outdated();
        self.learn_accounts();
        if came_online {
            self.letters_soon();
        }
        let events = self.online.as_ref().map(|online| online.news(&old, self.friend_of_account()));
        for body in events.unwrap_or_default() {
            self.tell(body);
        }
        for (account, outdated) in outdated {
            self.account_outdated(&account, outdated);
        }
        for (account, deed) in self.contacts_to_part(&old) {
            info!(account, "a contact of a player who was removed or blocked is removed");
            if let Some(online) = &self.online {
                let _ = online.transport.contact(&account, deed);
            }
        }
    }

    /// Handles that this device and the one with this account have no version of cards or of letters in common. The user is told
    /// if it is a friend's.
    pub(crate) fn account_outdated(&mut self, account: &str, outdated: Outdated) {
        info!(account, %outdated, "no version in common");
        if let Some(key) = self.people.of_account(account) {
            self.peer_outdated(key, outdated);
        }
    }

    /// Where a friend can be dialed whose card cannot be read: the device may still speak this one's version of links, and says so
    /// otherwise.
    pub(crate) fn unsighted(&self, key: PlayerId) -> Option<Address> {
        let account = self.people.account(key)?;
        let is_unsighted = self.online.as_ref()?.is_unsighted(account);
        is_unsighted.then(|| Address { kind: CarrierKind::Online, text: account.clone() })
    }

    fn friend_of_account(&self) -> impl Fn(&str) -> Option<PlayerId> {
        |jid| self.people.of_account(jid)
    }

    /// Presence of a friend's account.
    pub(crate) fn presence_of(&self, account: &str) -> control::Presence {
        self.online.as_ref().map_or(control::Presence::Unspecified, |online| online.presence(account))
    }

    pub(crate) fn online_events(&self) -> Vec<event::Body> {
        self.online.as_ref().map(|online| online.events(self.friend_of_account())).unwrap_or_default()
    }

    /// The transport, for the list of carriers.
    pub(crate) fn online_transport(&self) -> Option<Arc<dyn Transport>> {
        self.online.as_ref().map(|online| online.transport.clone() as Arc<dyn Transport>)
    }
}

// Accounts of friends.
impl Actor {
    fn load_accounts(&mut self) {
        let accounts = self.journal.settings_of(ACCOUNT_OF);
        let accounts = accounts.inspect_err(|error| warn!(%error, "the accounts of friends cannot be read"));
        for (key, account) in accounts.unwrap_or_default() {
            if let Some(key) = PlayerId::parse(&key) {
                self.people.set_account(key, account);
            }
        }
    }

    /// Handles that a tag claims that a friend has this account. Nothing is kept on disk: the tag may be a copy.
    pub(crate) fn account_claimed(&mut self, key: PlayerId, account: &str) {
        if self.people.take_claimed_account(key, account) {
            self.letters_soon();
        }
    }

    /// Handles that a friend has this account: a handshake there or a letter from there has proven it, or the user has read a
    /// friend code that holds it.
    pub(crate) fn learn_account(&mut self, key: PlayerId, account: &str) {
        if self.people.proven_account(key).is_some_and(|known| known == account) {
            return;
        }
        self.people.set_account(key, account.to_owned());
        // If storing fails, letters to this friend wait after a restart until the account is seen again.
        let _ = self.journal.keep(|store| store.set_setting(&format!("{ACCOUNT_OF}{key}"), account));
        self.letters_soon();
    }

    /// Learns the account at the other end of a friend's link, which the handshake there has proven.
    pub(crate) fn learn_account_of_link(&mut self, key: PlayerId) {
        let peer = self.people.get(&key).filter(|peer| peer.friend.is_some());
        let link = peer.and_then(|peer| peer.link.as_ref()).and_then(|link| self.links.get(link.id));
        let place = link.and_then(LinkTask::other_end).filter(|place| place.kind == CarrierKind::Online);
        if let Some(account) = place.map(|place| place.text.clone()) {
            self.learn_account(key, &account);
        }
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
    fn follow_letters(&mut self) {
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
        // An old letter may come again from an account that its writer has left: it replaces no account that is proven.
        if letter.names_account && self.people.proven_account(letter.from).is_none() {
            self.learn_account(letter.from, account);
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

    fn invited_by_letter(&mut self, from: PlayerId, record: Record) {
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

/// The setting for this account. Its letters may be capital ones where a person has typed it.
fn parted_account(account: &str) -> String {
    format!("{PARTED_ACCOUNT}{}", account.to_lowercase())
}

#[cfg(test)]
mod tests {
    use engine::{Action, GameKind, Point};
    use link::online::{Contact, OnlineConfig, Presence};
    use link::{Card, Tag};
    use proto::control::ColourChoice;
    use tokio::sync::mpsc;

    use super::*;
    use crate::config::HostConfig;
    use crate::letters::envelope;
    use crate::links::{LinkEnds, LinkNews};
    use crate::store::SavedFriend;

    const ANNAS: &str = "anna@example.org";
    const BENS: &str = "ben@example.org";
    const CARLS: &str = "carl@example.org";
    const EVES: &str = "eve@example.org";
    const BEN: PlayerId = PlayerId([2; 32]);
    const CARL: PlayerId = PlayerId([3; 32]);

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

    /// A host with two friends whose accounts it knows, and its folder.
    fn anna() -> (Actor, tempfile::TempDir) {
        let (mut anna, folder) = host("Anna");
        for (key, account) in [(BEN, BENS), (CARL, CARLS)] {
            befriend(&mut anna, key);
            anna.learn_account(key, account);
        }
        (anna, folder)
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
        let peer = host.new_peer(key, Some(friend)).expect("a disk that works");
        host.people.insert(key, peer);
    }

    fn view(state: ContactState) -> View {
        let contact =
            Contact { state, presence: Presence::Offline, name: String::new(), card: None, outdated: None };
        let contacts = [BENS, CARLS].map(|account| (account.to_owned(), contact.clone())).into();
        View { account: ANNAS.into(), state: AccountState::Online, contacts, ..View::default() }
    }

    /// What is done to the contacts that the server names once the account is signed in.
    fn parted(host: &mut Actor, state: ContactState) -> Vec<(String, ContactDeed)> {
        host.online_changed(View::default());
        host.online_changed(view(state));
        let to_part = host.contacts_to_part(&View::default());
        assert!(host.contacts_to_part(&view(state)).is_empty(), "only when they have changed");
        to_part
    }

    #[tokio::test]
    async fn who_was_removed_or_blocked_while_signed_out_is_no_contact_after_the_next_sign_in() {
        let (mut anna, _folder) = anna();
        assert!(parted(&mut anna, ContactState::Mutual).is_empty());
        anna.online_changed(View::default());
        anna.forget(BEN).expect("a friend");
        anna.block(&CARL.to_string()).expect("a friend");
        let removed = (BENS.to_owned(), ContactDeed::Remove);
        let blocked = (CARLS.to_owned(), ContactDeed::Block);
        for state in [ContactState::Mutual, ContactState::OneWay, ContactState::Asked] {
            assert_eq!(parted(&mut anna, state), [removed.clone(), blocked.clone()], "{state:?}");
        }
        assert_eq!(parted(&mut anna, ContactState::Asks), [blocked], "who was removed may ask again");

        // Asked or accepted by the user, or a friend again.
        let ask = control::AskContact { account: "Ben@example.org".into() };
        assert!(anna.online_asked(request::Body::AskContact(ask)).is_ok());
        anna.unblock(&CARL.to_string()).expect("blocked");
        befriend(&mut anna, CARL);
        assert!(parted(&mut anna, ContactState::Mutual).is_empty());
    }

    #[tokio::test]
    async fn the_account_of_a_friend_stays_a_contact_when_another_device_of_it_is_removed() {
        let (mut anna, _folder) = anna();
        let bens_old_device = PlayerId([4; 32]);
        befriend(&mut anna, bens_old_device);
        anna.learn_account(bens_old_device, BENS);
        anna.forget(bens_old_device).expect("a friend");
        assert!(parted(&mut anna, ContactState::Mutual).is_empty());
        anna.forget(BEN).expect("a friend");
        assert_eq!(parted(&mut anna, ContactState::Mutual), [(BENS.to_owned(), ContactDeed::Remove)]);
    }

    /// The friend's account, which a restart would not change.
    fn account(host: &Actor, key: PlayerId) -> Option<String> {
        let account = host.people.account(key).cloned();
        assert_eq!(host.journal.setting(&format!("{ACCOUNT_OF}{key}")).expect("read"), account);
        account
    }

    /// A friend's link through this account is accepted.
    fn links(host: &mut Actor, key: PlayerId, account: &str) {
        let id = host.links.next_id();
        let task = host.tasks.spawn(std::future::pending::<()>());
        let source = Some(Address { kind: CarrierKind::Online, text: account.to_owned() });
        host.links.insert(id, LinkTask::accepted(task, CarrierKind::Online, source));
        let (orders, _sent) = mpsc::channel(64);
        let ends = LinkEnds { orders, traffic: Arc::default() };
        host.link_said(id, LinkNews::Up { key, handshake_hash: [0; 32], ends });
    }

    #[tokio::test]
    async fn an_account_that_a_tag_claims_is_on_disk_only_once_a_link_or_a_letter_has_proven_it() {
        let ((mut anna, _annas_folder), (ben, _bens_folder)) = (host("Anna"), host("Ben"));
        let (annas_key, bens_key) = (key_of(&anna), key_of(&ben));
        befriend(&mut anna, bens_key);
        befriend(&mut anna, CARL);
        let carl = anna.people.get_mut(&CARL).and_then(|peer| peer.friend.as_mut());
        carl.expect("a friend").advert_key = [8; 32];
        // Eve repeats both tags at her accounts.
        let tag_of = |host: &Actor, key: [u8; 32]| Tag::of(&key, host.wall_clock.epoch());
        let contact = |tag: Tag| Contact {
            state: ContactState::Mutual,
            presence: Presence::Online,
            name: String::new(),
            card: Some(Card { tag, open_to_all: false, busy: false, wish: 0, name: None, seldom: false }),
            outdated: None,
        };
        let contacts = [(EVES, [7; 32]), ("eve@example.net", [8; 32])]
            .map(|(account, key)| (account.to_owned(), contact(tag_of(&anna, key))))
            .into();
        let seen = View { account: ANNAS.into(), state: AccountState::Online, contacts, ..View::default() };
        anna.online_changed(seen);
        let kept = |host: &Actor, key| host.journal.setting(&format!("{ACCOUNT_OF}{key}")).expect("read");
        for (key, claimed) in [(bens_key, EVES), (CARL, "eve@example.net")] {
            assert_eq!(anna.people.account(key).map(String::as_str), Some(claimed), "it may be tried");
            assert_eq!(kept(&anna, key), None);
        }

        let letter = declined(&ben, BENS, annas_key, MatchId([1; 16]));
        assert!(anna.letter_came(BENS, &letter));
        assert_eq!(account(&anna, bens_key).as_deref(), Some(BENS));
        let of_before = declined(&ben, "ben@example.com", annas_key, MatchId([2; 16]));
        assert!(anna.letter_came("ben@example.com", &of_before));
        assert_eq!(account(&anna, bens_key).as_deref(), Some(BENS), "an old letter may come again");
        links(&mut anna, CARL, CARLS);
        assert_eq!(account(&anna, CARL).as_deref(), Some(CARLS));
        anna.account_claimed(CARL, EVES);
        assert_eq!(account(&anna, CARL).as_deref(), Some(CARLS), "a proven one stays");
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
        assert_eq!(anna.letters_deadline(), None);
        anna.learn_account(bens_key, BENS);
        assert!(anna.letters_deadline().is_some(), "what Ben lacks can be written to him now");
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
