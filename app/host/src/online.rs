//! The account: requests of clients, its displayed state, and its stored data.

use std::collections::BTreeMap;
use std::sync::Arc;

use link::online::{
    Account, AccountState, Contact, ContactDeed, ContactState, OnlineTransport, Presence, RefusedStanza, View,
};
use link::{CarrierKind, Transport};
use proto::control::{self, RefusalCode, event, request};
use session::MatchId;
use tokio::time::Instant;
use tracing::warn;

use crate::actor::{Actor, Message};
use crate::letters::Written;
use crate::responder::{Answer, done};
use crate::room::PlayerId;
use crate::secrets::Secrets;
use crate::show::Refusal;

/// Keys of settings.
const ACCOUNT: &str = "account";
const SERVER: &str = "account_server";

/// The host's state of the account.
pub(crate) struct Online {
    pub(crate) transport: Arc<OnlineTransport>,
    /// Store of the password.
    secrets: Secrets,
    /// The state that clients were last sent.
    view: View,
    /// Counter of letters.
    pub(crate) letters: u64,
    /// The last letter about each match, in this run.
    pub(crate) written: BTreeMap<MatchId, Written>,
    /// Next check for letters to write.
    pub(crate) write_at: Option<Instant>,
}

impl Online {
    pub(crate) fn new(transport: Arc<OnlineTransport>, secrets: Secrets) -> Self {
        let (letters, written, write_at) = (0, BTreeMap::new(), None);
        Self { transport, secrets, view: View::default(), letters, written, write_at }
    }

    /// Schedules a check for letters to write, at this time or earlier.
    pub(crate) fn look_at_letters(&mut self, at: Instant) {
        self.write_at = Some(self.write_at.map_or(at, |planned| planned.min(at)));
    }

    pub(crate) fn is_signed_in(&self) -> bool {
        self.view.state == AccountState::Online
    }

    pub(crate) fn contacts(&self) -> impl Iterator<Item = (&String, &Contact)> {
        self.view.contacts.iter()
    }

    /// The account that is signed in; may be empty.
    pub(crate) fn account(&self) -> &str {
        &self.view.account
    }
}

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
        let (secrets, inbox) = (online.secrets.clone(), self.inbox.clone());
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
        let Some(online) = self.online.as_ref().filter(|online| same && online.view.account.is_empty())
        else {
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
                let (secrets, inbox) = (online.secrets.clone(), self.inbox.clone());
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
                        let secrets = online.secrets.clone();
                        self.tasks.spawn(async move { secrets.forget(&jid).await });
                    }
                    self.journal.keep(|store| store.remove_setting(ACCOUNT))?;
                }
            }
            request::Body::TakeOver(_) => {
                let now = online.view.clone();
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
        let old = std::mem::replace(&mut online.view, view);
        let view = online.view.clone();
        self.learn_accounts();
        let account = shown_account(&view);
        if view.state == AccountState::Online && old.state != AccountState::Online {
            self.letters_soon();
        }
        let mut events = Vec::new();
        if shown_account(&old) != account || old == View::default() {
            events.push(event::Body::Account(account));
        }
        for gone in old.contacts.keys().filter(|jid| !view.contacts.contains_key(*jid)) {
            events.push(event::Body::ContactGone(control::Gone { id: gone.clone() }));
        }
        for (jid, contact) in &view.contacts {
            if old.contacts.get(jid) != Some(contact) {
                events.push(event::Body::Contact(self.shown_contact(jid, contact)));
            }
        }
        for body in events {
            self.tell(body);
        }
    }

    fn shown_contact(&self, jid: &str, contact: &Contact) -> control::Contact {
        let friend = self.people.of_account(jid).map(|key| key.to_string());
        control::Contact {
            account: jid.to_owned(),
            state: match contact.state {
                ContactState::Asks => control::ContactState::ContactAsks,
                ContactState::Asked => control::ContactState::ContactAsked,
                ContactState::Mutual => control::ContactState::ContactMutual,
                ContactState::OneWay => control::ContactState::ContactOneWay,
            }
            .into(),
            presence: presence(contact.presence).into(),
            name: contact.name.clone(),
            friend: friend.unwrap_or_default(),
        }
    }

    /// Presence of a friend's account.
    pub(crate) fn presence_of(&self, account: &str) -> control::Presence {
        let contact = self.online.as_ref().and_then(|online| online.view.contacts.get(account));
        contact.map_or(control::Presence::Unspecified, |contact| presence(contact.presence))
    }

    pub(crate) fn online_events(&self) -> Vec<event::Body> {
        let Some(online) = &self.online else { return Vec::new() };
        let contacts = online.view.contacts.iter().map(|(jid, contact)| self.shown_contact(jid, contact));
        std::iter::once(event::Body::Account(shown_account(&online.view)))
            .chain(contacts.map(event::Body::Contact))
            .collect()
    }

    /// The transport, for the list of carriers.
    pub(crate) fn online_transport(&self) -> Option<Arc<dyn Transport>> {
        self.online.as_ref().map(|online| online.transport.clone() as Arc<dyn Transport>)
    }
}

fn presence(presence: Presence) -> control::Presence {
    match presence {
        Presence::Offline => control::Presence::Offline,
        Presence::Online => control::Presence::Online,
        Presence::Playing => control::Presence::Playing,
        Presence::Away => control::Presence::Away,
    }
}

fn shown_account(view: &View) -> control::Account {
    let (state, sentence) = words(view.state);
    let sentence = view.refused.and_then(|refused| refused_words(refused, view.state)).or(sentence);
    let now = Instant::now();
    control::Account {
        account: view.account.clone(),
        state: state.into(),
        sentence: sentence.map(|(zh, en)| {
            let said: String =
                view.said.chars().filter(|letter| !letter.is_control()).take(MAX_SAID).collect();
            if said.is_empty() {
                return control::Words { zh: zh.into(), en: en.into() };
            }
            control::Words {
                zh: format!("{zh}服务器说：{said}"),
                en: format!("{en} The server says: {said}"),
            }
        }),
        detail: view.detail.chars().take(MAX_DETAIL).collect(),
        can_make: false,
        retry_ms: view.retry_at.map_or(0, |at| at.saturating_duration_since(now).as_millis() as u32),
    }
}

/// Maximum length of a server's message that is passed on, in characters.
const MAX_DETAIL: usize = 500;

/// Maximum length of a reason that is displayed, in characters: a sentence.
const MAX_SAID: usize = 120;

/// The state, with a Chinese and English sentence about the problem and its remedy.
fn words(state: AccountState) -> (control::AccountState, Option<(&'static str, &'static str)>) {
    use control::AccountState as Shown;
    match state {
        AccountState::SignedOut => (Shown::AccountSignedOut, None),
        AccountState::Connecting => (Shown::AccountConnecting, None),
        AccountState::Online => (Shown::AccountOnline, None),
        AccountState::WrongPassword => {
            (Shown::AccountWrongPassword, Some(("密码不对，请重新登录。", "Wrong password. Sign in again.")))
        }
        AccountState::Gone => (
            Shown::AccountGone,
            Some((
                "这个账号已被停用或删除，请联系服务器管理员，或换一个账号。",
                "This account was disabled or deleted. Ask the server's administrator, or use another account.",
            )),
        ),
        AccountState::Elsewhere => (
            Shown::AccountElsewhere,
            Some((
                "账号在另一台设备上登录了，这台设备已停止在线下棋。可以在这里重新登录。",
                "The account is in use on another device, so this one has stopped. You can sign in here again.",
            )),
        ),
        AccountState::ServerGone => (
            Shown::AccountServerGone,
            Some(("连不上服务器，正在自动重试。", "Can't reach the server. Retrying…")),
        ),
        AccountState::Certificate => (
            Shown::AccountCertificate,
            Some((
                "服务器的证书无效，可能有人在中间冒充，因此没有登录。请检查日期和网络。",
                "The server's certificate is not valid. Someone may be pretending to be the server, so nothing was sent. Check the date and the network.",
            )),
        ),
        AccountState::Policy => (
            Shown::AccountPolicy,
            Some((
                "服务器按其规定拒绝了登录，请联系服务器管理员。",
                "The server refused to sign you in. Ask its administrator.",
            )),
        ),
        AccountState::Taken => (
            Shown::AccountTaken,
            Some(("这个名字已有人使用，请换一个。", "That name is taken. Choose another.")),
        ),
        AccountState::NotMade => (
            Shown::AccountNotMade,
            Some((
                "这个服务器不允许在这里注册账号，请到它的网站注册。",
                "This server doesn't allow sign-up in apps. Register on its website.",
            )),
        ),
    }
}

/// What was refused, and what becomes of the connection; `None` where the state has a sentence of its own.
fn refused_words(refused: RefusedStanza, state: AccountState) -> Option<(&'static str, &'static str)> {
    match (refused, state) {
        (RefusedStanza::Pruned, AccountState::Online) => Some((
            "收到的一份内容太大或层次太深，多出的部分没有接收；账号仍然在线。",
            "Something that was sent to you was too large or too deeply nested. The excess was left out; you are still online.",
        )),
        (RefusedStanza::Overtime, AccountState::Connecting | AccountState::ServerGone) => Some((
            "服务器发来的内容一直没有发完，连接已断开，正在重新连接。",
            "The server didn't finish what it was sending, so the connection was closed. Connecting again…",
        )),
        (RefusedStanza::Overtime, AccountState::Online) => Some((
            "服务器发来的内容一直没有发完，连接断开后已重新连上。",
            "The server didn't finish what it was sending, so the connection was closed and made again.",
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_reads_what_was_refused_and_that_the_account_goes_on() {
        let english = |state, refused| {
            let view = View { state, refused, ..View::default() };
            shown_account(&view).sentence.map(|words| {
                assert!(!words.zh.is_empty());
                words.en
            })
        };
        let says = |state, refused, what: &str| {
            let sentence = english(state, Some(refused)).expect("a sentence");
            assert!(sentence.contains(what), "{state:?}: {sentence}");
        };
        says(AccountState::Online, RefusedStanza::Pruned, "still online");
        says(AccountState::Connecting, RefusedStanza::Overtime, "Connecting again");
        says(AccountState::ServerGone, RefusedStanza::Overtime, "Connecting again");
        says(AccountState::Online, RefusedStanza::Overtime, "made again");
        // What a person has to do comes first.
        says(AccountState::WrongPassword, RefusedStanza::Overtime, "Wrong password");
        assert_eq!(english(AccountState::Online, None), None);
    }
}
