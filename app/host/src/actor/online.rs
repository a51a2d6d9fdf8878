//! The account: requests of clients, and its stored data.

use std::sync::Arc;

use link::online::{Account, AccountState, ContactDeed, View};
use link::{Address, CarrierKind, Outdated, Transport};
use proto::control::{self, RefusalCode, event, request};
use tracing::{info, warn};

use crate::actor::{Actor, Message};
use crate::refusal::Refusal;
use crate::responder::{Answer, done};
use crate::room::PlayerId;

/// Keys of settings.
const ACCOUNT: &str = "account";
const SERVER: &str = "account_server";

impl Actor {
    /// Signs in with the stored account, and follows its state.
    pub(crate) fn start_online(&mut self) {
        self.load_letters();
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
        let archive = self.archive_of(&jid);
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
                transport.set_archive(self.archive_of(&jid));
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
        let Some(online) = &self.online else { return };
        for place in code.places.iter().filter(|place| place.kind == CarrierKind::Online) {
            // An entry that is no valid account is ignored.
            let _ = online.transport.contact(&place.text, ContactDeed::Ask);
        }
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
