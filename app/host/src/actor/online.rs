//! The account: requests of clients, and its stored data.

use std::sync::Arc;

use link::online::{Account, AccountState, ContactDeed, ContactState, View};
use link::{Address, CarrierKind, Outdated, Transport};
use proto::control::{self, RefusalCode, event, request};
use tracing::{info, warn};

use crate::actor::{Actor, Message};
use crate::journal::PARTED_ACCOUNT;
use crate::letters::kept;
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

/// The setting for this account. Its letters may be capital ones where a person has typed it.
fn parted_account(account: &str) -> String {
    format!("{PARTED_ACCOUNT}{}", account.to_lowercase())
}

#[cfg(test)]
mod tests {
    use link::online::{Contact, OnlineConfig, Presence};
    use tokio::sync::mpsc;

    use super::*;
    use crate::config::HostConfig;
    use crate::store::SavedFriend;

    const BENS: &str = "ben@example.org";
    const CARLS: &str = "carl@example.org";
    const BEN: PlayerId = PlayerId([2; 32]);
    const CARL: PlayerId = PlayerId([3; 32]);

    /// A host that does not run by itself, with two friends whose accounts it knows, and its folder.
    fn anna() -> (Actor, tempfile::TempDir) {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let config = HostConfig::new(folder.path()).with_online(OnlineConfig::default());
        let (inbox, messages) = mpsc::unbounded_channel();
        let mut anna = Actor::new(config, inbox, messages).expect("a disk that works");
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
        View { account: "anna@example.org".into(), state: AccountState::Online, contacts, ..View::default() }
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
}
