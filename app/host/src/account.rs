//! The state of the account, and how clients are shown it.

use std::collections::BTreeMap;
use std::sync::Arc;

use link::identity::Identity;
use link::online::{AccountState, Contact, ContactState, OnlineTransport, Presence, RefusedStanza, View};
use link::{Epoch, Outdated};
use proto::control::{self, event};
use proto::peer::Envelope;
use tokio::time::Instant;
use tracing::info;

use crate::letters::{LetterSchedule, envelope};
use crate::room::PlayerId;
use crate::secrets::Secrets;
use crate::store::SavedFriend;

/// The host's state of the account.
pub(crate) struct Online {
    pub(crate) transport: Arc<OnlineTransport>,
    /// Store of the password.
    secrets: Secrets,
    /// The state that clients were last sent.
    view: View,
    /// Contacts whose cards cannot be read, with what the user was told of them.
    outdated: BTreeMap<String, Outdated>,
    pub(crate) letters: LetterSchedule,
}

impl Online {
    pub(crate) fn new(transport: Arc<OnlineTransport>, secrets: Secrets) -> Self {
        let (view, outdated) = (View::default(), BTreeMap::new());
        Self { transport, secrets, view, outdated, letters: LetterSchedule::default() }
    }

    pub(crate) fn secrets(&self) -> Secrets {
        self.secrets.clone()
    }

    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    /// Sets the state; returns the one before.
    pub(crate) fn change(&mut self, view: View) -> View {
        std::mem::replace(&mut self.view, view)
    }

    pub(crate) fn is_signed_in(&self) -> bool {
        self.view.state == AccountState::Online
    }

    pub(crate) fn contacts(&self) -> impl Iterator<Item = (&String, &Contact)> {
        self.view.contacts.iter()
    }

    /// Contacts whose cards were found to be of another version since the last call. Each is told once: devices come and go many
    /// times a day, and an update is an event of the week.
    pub(crate) fn newly_outdated(&mut self) -> Vec<(String, Outdated)> {
        newly_outdated(&self.view, &mut self.outdated)
    }

    /// Whether the account is that of a contact who is online and whose card cannot be read, so that no sighting leads to it.
    pub(crate) fn is_unsighted(&self, account: &str) -> bool {
        self.view.contacts.get(account).is_some_and(|contact| contact.outdated.is_some())
    }

    /// The account that is signed in; may be empty.
    pub(crate) fn account(&self) -> &str {
        &self.view.account
    }

    /// The friends whose tags are in the presence of contacts, with their accounts. Anyone can repeat a tag: these are claims.
    pub(crate) fn recognised<'a>(
        &self,
        friends: impl Iterator<Item = &'a SavedFriend> + Clone,
        epoch: Epoch,
    ) -> Vec<(PlayerId, String)> {
        recognised(&self.view, friends, epoch)
    }

    /// Encrypts and queues a letter to the friend with this account. Returns its number, which reports refer to; `None` if it is
    /// too long.
    pub(crate) fn send_letter(
        &mut self,
        letter: Envelope,
        identity: &Identity,
        to: PlayerId,
        account: &str,
    ) -> Option<u64> {
        let sealed = envelope::seal(letter, self.account(), identity, to)?;
        let number = self.letters.number();
        info!(account, number, bytes = sealed.len(), "a letter is written");
        self.transport.send_letter(number, account, sealed).then_some(number)
    }

    /// Presence of a friend's account.
    pub(crate) fn presence(&self, account: &str) -> control::Presence {
        let contact = self.view.contacts.get(account);
        contact.map_or(control::Presence::Unspecified, |contact| presence(contact.presence))
    }

    /// What clients are told of the change from this state. `friend` is the friend with an account.
    pub(crate) fn news(&self, old: &View, friend: impl Fn(&str) -> Option<PlayerId>) -> Vec<event::Body> {
        news(old, &self.view, friend)
    }

    /// The state for a client that attaches.
    pub(crate) fn events(&self, friend: impl Fn(&str) -> Option<PlayerId>) -> Vec<event::Body> {
        let contacts = self.contacts().map(|(jid, contact)| shown_contact(jid, contact, friend(jid)));
        std::iter::once(event::Body::Account(shown_account(&self.view)))
            .chain(contacts.map(event::Body::Contact))
            .collect()
    }
}

fn newly_outdated(view: &View, told: &mut BTreeMap<String, Outdated>) -> Vec<(String, Outdated)> {
    told.retain(|account, _| view.contacts.get(account).is_some_and(|contact| contact.card.is_none()));
    let outdated =
        view.contacts.iter().filter_map(|(account, contact)| Some((account.clone(), contact.outdated?)));
    outdated
        .filter(|(account, outdated)| told.insert(account.clone(), *outdated) != Some(*outdated))
        .collect()
}

fn recognised<'a>(
    view: &View,
    friends: impl Iterator<Item = &'a SavedFriend> + Clone,
    epoch: Epoch,
) -> Vec<(PlayerId, String)> {
    let cards = view.contacts.iter().filter_map(|(account, contact)| Some((account, contact.card.as_ref()?)));
    cards
        .filter_map(|(account, card)| {
            let friend = friends.clone().find(|friend| card.tag.is_of(&friend.advert_key, epoch))?;
            Some((friend.key, account.clone()))
        })
        .collect()
}

fn news(old: &View, new: &View, friend: impl Fn(&str) -> Option<PlayerId>) -> Vec<event::Body> {
    let mut events = Vec::new();
    let account = shown_account(new);
    if shown_account(old) != account || *old == View::default() {
        events.push(event::Body::Account(account));
    }
    for gone in old.contacts.keys().filter(|jid| !new.contacts.contains_key(*jid)) {
        events.push(event::Body::ContactGone(control::Gone { id: gone.clone() }));
    }
    for (jid, contact) in &new.contacts {
        if old.contacts.get(jid) != Some(contact) {
            events.push(event::Body::Contact(shown_contact(jid, contact, friend(jid))));
        }
    }
    events
}

fn shown_contact(jid: &str, contact: &Contact, friend: Option<PlayerId>) -> control::Contact {
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
        friend: friend.map_or_else(String::new, |key| key.to_string()),
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
    use link::{Card, Tag};

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

    fn contact(state: ContactState) -> Contact {
        Contact { state, presence: Presence::Online, name: "Ben".into(), card: None, outdated: None }
    }

    fn view(contacts: &[(&str, ContactState)]) -> View {
        let contacts = contacts.iter().map(|(jid, state)| ((*jid).to_owned(), contact(*state))).collect();
        View { account: "anna@example.org".into(), state: AccountState::Online, contacts, ..View::default() }
    }

    #[test]
    fn a_contact_is_recognised_as_the_friend_whose_tag_is_in_its_presence() {
        let friend = |number: u8| SavedFriend {
            key: PlayerId([number; 32]),
            name: String::new(),
            advert_key: [number; 32],
            met_unix_ms: 0,
            muted: false,
            note: String::new(),
        };
        let friends = [friend(1), friend(2)];
        let mut view = view(&[
            ("ben@example.org", ContactState::Mutual),
            ("carl@example.org", ContactState::Mutual),
            ("eve@example.org", ContactState::Mutual),
        ]);
        let epoch = Epoch(1_000);
        for (account, number) in [("ben@example.org", 2), ("eve@example.org", 3)] {
            let contact = view.contacts.get_mut(account).expect("as above");
            contact.card = Some(Card {
                tag: Tag::of(&[number; 32], epoch),
                open_to_all: false,
                busy: false,
                wish: 0,
                name: None,
                seldom: false,
            });
        }
        let found = recognised(&view, friends.iter(), epoch);
        assert_eq!(found, [(PlayerId([2; 32]), "ben@example.org".to_owned())]);
        assert_eq!(recognised(&view, friends.iter(), Epoch(2_000)), [], "an old tag");
    }

    #[test]
    fn clients_are_told_what_has_changed_and_of_the_first_state_in_any_case() {
        let nobody = |_: &str| None;
        let accounts = |events: &[event::Body]| {
            events.iter().filter(|body| matches!(body, event::Body::Account(_))).count()
        };
        let first = news(&View::default(), &View::default(), nobody);
        assert_eq!((first.len(), accounts(&first)), (1, 1));
        let (old, same) = (view(&[("ben@example.org", ContactState::Asked)]), view(&[]));
        assert_eq!(news(&old, &old, nobody), []);
        let gone = event::Body::ContactGone(control::Gone { id: "ben@example.org".into() });
        assert_eq!(news(&old, &same, nobody), [gone]);
        let offline = View { state: AccountState::Connecting, ..old.clone() };
        assert_eq!(accounts(&news(&old, &offline, nobody)), 1);
    }

    #[test]
    fn a_contact_whose_card_cannot_be_read_is_told_of_once_until_one_can() {
        const BEN: &str = "ben@example.org";
        let seen = |outdated, card| {
            let mut view = view(&[(BEN, ContactState::Mutual)]);
            let contact = view.contacts.get_mut(BEN).expect("a contact");
            (contact.outdated, contact.card) = (outdated, card);
            view
        };
        let tag = link::Tag([7; 5]);
        let card = link::Card { tag, open_to_all: false, busy: false, wish: 0, name: None, seldom: false };
        let (here, there) = (Some(Outdated::Here), Some(Outdated::There));
        let mut told = BTreeMap::new();
        for (step, (outdated, card, expected)) in [
            (here, None, here),
            (here, None, None),
            // Away, and back.
            (None, None, None),
            (here, None, None),
            (there, None, there),
            // One of the two was updated.
            (None, Some(card), None),
            (here, None, here),
        ]
        .into_iter()
        .enumerate()
        {
            let expected: Vec<_> = expected.map(|outdated| (BEN.to_owned(), outdated)).into_iter().collect();
            assert_eq!(newly_outdated(&seen(outdated, card), &mut told), expected, "{step}");
        }
        newly_outdated(&view(&[]), &mut told);
        assert_eq!(newly_outdated(&seen(here, None), &mut told).len(), 1, "removed, and a contact again");
    }

    #[test]
    fn a_contact_is_shown_with_the_friend_whose_account_it_is() {
        let ben = PlayerId([2; 32]);
        let friend = |jid: &str| (jid == "ben@example.org").then_some(ben);
        let old = view(&[("ben@example.org", ContactState::Asked), ("carl@example.org", ContactState::Asks)]);
        let new =
            view(&[("ben@example.org", ContactState::Mutual), ("carl@example.org", ContactState::Asks)]);
        let told = news(&old, &new, friend);
        let [event::Body::Contact(shown)] = &told[..] else { panic!("one contact has changed: {told:?}") };
        assert_eq!((shown.account.as_str(), &shown.friend), ("ben@example.org", &ben.to_string()));
        assert_eq!(shown.state(), control::ContactState::ContactMutual);
        let stranger = shown_contact("carl@example.org", &contact(ContactState::Asks), None);
        assert_eq!((stranger.friend.as_str(), stranger.presence()), ("", control::Presence::Online));
    }
}
