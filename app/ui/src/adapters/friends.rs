//! Friends, blocked people, the XMPP account, and friend codes.

use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use link::friend_code::{FriendCode, NotACode};
use proto::control::{self, reply, request};
use slint::{ComponentHandle, Image, ModelRc, Rgb8Pixel, SharedPixelBuffer, VecModel};

use super::invitation::asks_by_letter;
use super::{carrier, touched, update};
use crate::app::{Answer, AppState, Asked, Controller, Cx};
use crate::screens::{
    AccountState, Acquaintance, BlockedView, ContactView, Dialog, FriendView, FriendsAdapter, MainWindow,
    Page, Presence, Remark, Unreached, Visibility,
};

/// Size of one module of the QR code in device pixels; an integer, so that its edges are sharp on every screen.
const MODULE_PIXELS: usize = 8;

/// Width of the quiet zone in modules, as ISO/IEC 18004 requires.
const MARGIN: usize = 4;

const DAY_MS: u64 = 86_400_000;

/// State of the page.
#[derive(Default)]
pub(crate) struct Friends {
    /// Id of the friend whose dialog is open; below: id of the friend who may be the same person.
    shown: String,
    twin: String,
    contact: String,
    /// This device's friend code, as last received.
    code: Option<control::FriendCode>,
    /// The friend code being entered.
    tried: String,
    away: bool,
    rows: Rc<VecModel<FriendView>>,
    blocked: Rc<VecModel<BlockedView>>,
    contacts: Rc<VecModel<ContactView>>,
    twins: Rc<VecModel<FriendView>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Question {
    ShowCode,
    /// The friend code is added.
    Add,
    /// The account is signed in, signed out or changed.
    Account,
    /// A contact request is sent.
    Contact,
}

impl From<Question> for Asked {
    fn from(question: Question) -> Self {
        Self::Friends(question)
    }
}

impl Friends {
    pub(super) fn attach(&self, window: &MainWindow, app: &Rc<Controller>) {
        let page = window.global::<FriendsAdapter>();
        page.set_friends(ModelRc::from(self.rows.clone()));
        page.set_blocked(ModelRc::from(self.blocked.clone()));
        page.set_contacts(ModelRc::from(self.contacts.clone()));
        page.set_twins(ModelRc::from(self.twins.clone()));
        page.on_open_friend(touched!(app, |pages, cx, id| pages.friends.open_friend(&id, cx)));
        page.on_set_note(touched!(app, |pages, cx, note| {
            let note: String = note.trim().chars().take(proto::limits::NOTE_CHARS).collect();
            pages.friends.about_shown(cx, |peer| request::Body::SetNote(control::SetNote { peer, note }));
        }));
        page.on_toggle_muted(touched!(app, |pages, cx| {
            let muted = pages.friends.shown_friend(cx.known).is_some_and(|friend| !friend.muted);
            pages.friends.about_shown(cx, |peer| request::Body::SetMuted(control::SetMuted { peer, muted }));
        }));
        page.on_unfriend(touched!(app, |pages, cx| {
            pages.friends.about_shown(cx, |peer| request::Body::Forget(control::Forget { peer }));
        }));
        page.on_block(touched!(app, |pages, cx| {
            pages.friends.about_shown(cx, |peer| request::Body::Block(control::Block { peer }));
        }));
        page.on_choose_twin(touched!(app, |pages, cx, id| {
            pages.friends.twin = id.into();
            cx.go.dialog(Dialog::SamePerson);
        }));
        page.on_same_person(touched!(app, |pages, cx| {
            let old = pages.friends.twin.clone();
            pages.friends.about_shown(cx, |new| request::Body::SamePerson(control::SamePerson { old, new }));
        }));
        page.on_invite(touched!(app, |pages, cx| cx.go.invite(&pages.friends.shown)));
        page.on_answer_letter(touched!(app, |pages, cx| {
            pages.invitation.take_up(cx.known, &pages.friends.shown);
        }));
        page.on_unblock(touched!(app, |_pages, cx, id| {
            cx.ask.done(request::Body::Unblock(control::Unblock { peer: id.into() }));
        }));
        page.on_show_code(touched!(app, |_pages, cx| {
            let show = control::ShowFriendCode {};
            cx.ask.send(request::Body::ShowFriendCode(show), Question::ShowCode);
        }));
        page.on_begin_adding(touched!(app, |pages, cx| {
            pages.friends.tried.clear();
            cx.go.dialog(Dialog::AddFriend);
        }));
        page.on_try_code(touched!(app, |pages, _cx, text| {
            text.trim().clone_into(&mut pages.friends.tried);
        }));
        page.on_add(touched!(app, |pages, cx| {
            let code = pages.friends.tried.clone();
            cx.go.dialog(Dialog::None);
            cx.ask.send(request::Body::AddFriend(control::AddFriend { code }), Question::Add);
        }));
        page.on_open_visibility(touched!(app, |_pages, cx| cx.go.page(Page::Settings)));
        Self::attach_account(&page, app);
    }

    fn attach_account(page: &FriendsAdapter<'_>, app: &Rc<Controller>) {
        page.on_open_account(touched!(app, |_pages, cx| cx.go.dialog(Dialog::Account)));
        page.on_sign_in(touched!(app, |_pages, cx, account, password, make, server| {
            let (account, server) = (account.trim().to_owned(), server.trim().to_owned());
            if account.is_empty() || password.is_empty() {
                return;
            }
            let sign_in = control::SignIn { account, password: password.into(), make_it: make, server };
            cx.ask.send(request::Body::SignIn(sign_in), Question::Account);
        }));
        page.on_sign_out(touched!(app, |_pages, cx, forget| {
            cx.go.dialog(Dialog::None);
            cx.ask.send(request::Body::SignOut(control::SignOut { forget }), Question::Account);
        }));
        page.on_take_over(touched!(app, |_pages, cx| {
            cx.ask.send(request::Body::TakeOver(control::TakeOver {}), Question::Account);
        }));
        page.on_toggle_away(touched!(app, |pages, cx| {
            let away = !pages.friends.away;
            pages.friends.away = away;
            cx.ask.send(request::Body::SetAway(control::SetAway { away }), Question::Account);
        }));
        page.on_ask_contact(touched!(app, |_pages, cx, account| {
            let account = account.trim().to_owned();
            cx.ask.send(request::Body::AskContact(control::AskContact { account }), Question::Contact);
        }));
        page.on_open_contact(touched!(app, |pages, cx, account| {
            pages.friends.contact = account.into();
            cx.go.dialog(Dialog::Contact);
        }));
        page.on_answer_contact(touched!(app, |pages, cx, answer| {
            let account = pages.friends.contact.clone();
            let answer = control::AnswerContact { account, answer };
            cx.ask.done(request::Body::AnswerContact(answer));
        }));
    }

    /// Opens the dialog of a friend.
    pub(crate) fn open_friend(&mut self, id: &str, cx: &mut Cx<'_>) {
        id.clone_into(&mut self.shown);
        cx.go.dialog(Dialog::Friend);
    }

    /// Id of the friend whose dialog is open.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    fn about_shown(&self, cx: &mut Cx<'_>, body: impl FnOnce(String) -> request::Body) {
        cx.ask.done(body(self.shown.clone()));
    }

    fn shown_friend<'a>(&self, known: &'a AppState) -> Option<&'a control::Friend> {
        known.state.friends.get(&self.shown)
    }

    pub(crate) fn reply(&mut self, question: &Question, answer: Answer, cx: &mut Cx<'_>) {
        match (answer, question) {
            (Ok(reply::Body::FriendCode(code)), Question::ShowCode) => {
                self.code = Some(code);
                cx.go.dialog(Dialog::MyCode);
            }
            (Ok(reply::Body::Done(_)), Question::Add) => {
                let name = FriendCode::read(&self.tried).map(|code| code.name).unwrap_or_default();
                cx.go.remark(Remark::FriendAdded, &name);
            }
            (Ok(reply::Body::Done(_)), Question::Contact) => cx.go.remark(Remark::ContactAsked, ""),
            (Ok(_), _) => {}
            (Err(refusal), question) => {
                let otherwise = match question {
                    Question::ShowCode => Remark::BadRequest,
                    Question::Add => Remark::NotAdded,
                    Question::Account | Question::Contact => Remark::AccountTrouble,
                };
                cx.go.refused(refusal, otherwise);
            }
        }
    }

    pub(super) fn show(&self, window: &MainWindow, known: &AppState) {
        let page = window.global::<FriendsAdapter>();
        self.show_account(&page, known);
        page.set_visibility(visibility(known));
        if let Some(code) = &self.code
            && known.question() == Dialog::MyCode
            && page.get_code_text() != code.text.as_str()
        {
            page.set_code(code_picture(code.side, &code.dark));
            page.set_code_text(code.text.as_str().into());
        }
        self.show_tried(&page);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        if let Some(friend) = self.shown_friend(known) {
            page.set_shown(view(known, friend, now));
            update(&self.twins, &twins(known, friend, now));
        }
        if let Some(twin) = known.state.friends.get(&self.twin) {
            page.set_twin(view(known, twin, now));
        }
        if known.page() != Page::Friends {
            return;
        }
        let mut friends: Vec<FriendView> =
            known.state.friends.values().map(|friend| view(known, friend, now)).collect();
        // Present friends first, then by name: the order does not depend on the signal, so that no row moves under a finger.
        friends.sort_by_key(|one| (one.presence == Presence::Gone, one.name.clone(), one.id.clone()));
        update(&self.rows, &friends);
        let blocked: Vec<BlockedView> = known
            .state
            .blocked
            .values()
            .map(|one| BlockedView {
                id: one.id.as_str().into(),
                name: one.name.as_str().into(),
                days: days(one.since_unix_ms, now),
            })
            .collect();
        update(&self.blocked, &blocked);
        let contacts: Vec<ContactView> =
            known.state.contacts.values().filter(|one| one.friend.is_empty()).map(contact).collect();
        update(&self.contacts, &contacts);
        if let Some(one) = known.state.contacts.get(&self.contact) {
            page.set_contact(contact(one));
        }
    }

    fn show_account(&self, page: &FriendsAdapter<'_>, known: &AppState) {
        let account = known.state.account.as_ref();
        page.set_can_online(account.is_some());
        page.set_account_away(self.away);
        let Some(account) = account else { return };
        use control::AccountState as Told;
        page.set_account_state(match account.state() {
            Told::AccountUnspecified | Told::AccountSignedOut => AccountState::SignedOut,
            Told::AccountConnecting => AccountState::Connecting,
            Told::AccountOnline => AccountState::Online,
            Told::AccountElsewhere => AccountState::Elsewhere,
            Told::AccountServerGone => AccountState::Waiting,
            Told::AccountWrongPassword
            | Told::AccountGone
            | Told::AccountCertificate
            | Told::AccountPolicy
            | Told::AccountTaken
            | Told::AccountNotMade => AccountState::Wrong,
        });
        page.set_account(account.account.as_str().into());
        page.set_account_sentence(super::new_game::said(account.sentence.as_ref(), known.chinese()).into());
    }

    fn show_tried(&self, page: &FriendsAdapter<'_>) {
        let tried = &self.tried;
        let own = self.code.as_ref().is_some_and(|code| same_key(&code.text, tried));
        let (good, name, trouble) = match FriendCode::read(tried) {
            _ if tried.is_empty() => (false, String::new(), 0),
            Ok(_) if own => (false, String::new(), 4),
            Ok(code) => (true, code.name, 0),
            Err(NotACode::Newer) => (false, String::new(), 2),
            Err(NotACode::OtherLink) => (false, String::new(), 1),
            Err(_) => (false, String::new(), 3),
        };
        page.set_code_good(good);
        page.set_code_name(name.into());
        page.set_code_trouble(trouble);
    }
}

/// The present visibility of this device.
pub(super) fn visibility(known: &AppState) -> Visibility {
    match known.state.me.visibility() {
        control::Visibility::Nobody => Visibility::Nobody,
        control::Visibility::Friends => Visibility::Friends,
        control::Visibility::Everyone => Visibility::Everyone,
    }
}

fn view(known: &AppState, friend: &control::Friend, now_unix_ms: u64) -> FriendView {
    let presence = match (friend.connected, friend.near, friend.presence()) {
        (true, ..) => Presence::Connected,
        (_, true, _) => Presence::Near,
        (.., control::Presence::Playing) => Presence::Playing,
        (.., control::Presence::Away) => Presence::Away,
        (.., control::Presence::Online) => Presence::Online,
        (.., control::Presence::Unspecified | control::Presence::Offline) => Presence::Gone,
    };
    let mut others = known.state.friends.values();
    FriendView {
        id: friend.id.as_str().into(),
        name: friend.name.as_str().into(),
        note: friend.note.as_str().into(),
        presence,
        unreached: match friend.unreached() {
            control::Unreached::Left => Unreached::Left,
            control::Unreached::NoCarrier => Unreached::NoCarrier,
            control::Unreached::NotFound => Unreached::NotFound,
            control::Unreached::NotHeard | control::Unreached::Unspecified => Unreached::None,
        },
        carrier: carrier(friend.carrier()),
        days: days(friend.met_unix_ms, now_unix_ms),
        met_by: carrier(friend.met_by()),
        muted: friend.muted,
        by_letter: presence == Presence::Gone && can_be_written_to(known, friend),
        asks: asks_by_letter(known, &friend.id).is_some(),
        twin: others.any(|other| other.id != friend.id && other.name == friend.name),
    }
}

/// Letters go from account to account.
fn can_be_written_to(known: &AppState, friend: &control::Friend) -> bool {
    let own = known.state.account.as_ref().is_some_and(|own| !own.account.is_empty());
    own && !friend.account.is_empty()
}

/// Absent friends that were met before this one, who may be the same person with an old key; those with the same name first,
/// limited to a few.
fn twins(known: &AppState, friend: &control::Friend, now_unix_ms: u64) -> Vec<FriendView> {
    const OFFERED: usize = 3;
    let mut others: Vec<&control::Friend> = (known.state.friends.values())
        .filter(|other| other.id != friend.id && other.met_unix_ms <= friend.met_unix_ms)
        .filter(|other| view(known, other, now_unix_ms).presence == Presence::Gone)
        .collect();
    others.sort_by_key(|other| (other.name != friend.name, std::cmp::Reverse(other.met_unix_ms)));
    others.into_iter().take(OFFERED).map(|other| view(known, other, now_unix_ms)).collect()
}

fn days(since_unix_ms: u64, now_unix_ms: u64) -> i32 {
    (now_unix_ms.saturating_sub(since_unix_ms) / DAY_MS).try_into().unwrap_or(i32::MAX)
}

fn contact(one: &control::Contact) -> ContactView {
    ContactView {
        account: one.account.as_str().into(),
        name: one.name.as_str().into(),
        acquaintance: match one.state() {
            control::ContactState::ContactAsks => Acquaintance::Asks,
            control::ContactState::ContactAsked => Acquaintance::Asked,
            control::ContactState::ContactMutual => Acquaintance::Mutual,
            control::ContactState::ContactOneWay | control::ContactState::ContactUnspecified => {
                Acquaintance::OneWay
            }
        },
        presence: match one.presence() {
            control::Presence::Online => Presence::Online,
            control::Presence::Playing => Presence::Playing,
            control::Presence::Away => Presence::Away,
            control::Presence::Offline | control::Presence::Unspecified => Presence::Gone,
        },
    }
}

fn same_key(one: &str, other: &str) -> bool {
    let key = |text| FriendCode::read(text).ok().map(|code| code.key);
    key(one).is_some() && key(one) == key(other)
}

/// A QR code of `side` modules per side with its quiet zone, each module an integer number of pixels. `dark`: encoded as
/// `FriendCode.dark`; an incomplete code is drawn blank.
pub(super) fn code_picture(side: u32, dark: &[u8]) -> Image {
    // The largest QR code (version 40) has 177 modules per side.
    let side = side.min(177) as usize;
    let line = side.div_ceil(8);
    let is_dark = |column: usize, row: usize| {
        column < side
            && row < side
            && dark.get(row * line + column / 8).is_some_and(|byte| byte >> (column % 8) & 1 == 1)
    };
    let pixels = (side + 2 * MARGIN) * MODULE_PIXELS;
    let mut buffer = SharedPixelBuffer::<Rgb8Pixel>::new(pixels as u32, pixels as u32);
    for (index, pixel) in buffer.make_mut_slice().iter_mut().enumerate() {
        let place = |at: usize| (at / MODULE_PIXELS).wrapping_sub(MARGIN);
        let light = if is_dark(place(index % pixels), place(index / pixels)) { 0 } else { 255 };
        *pixel = Rgb8Pixel { r: light, g: light, b: light };
    }
    Image::from_rgb8(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_drawn_with_its_margin_and_whole_modules() {
        // The left column is dark, the rest light.
        let code =
            control::FriendCode { text: String::new(), side: 3, dark: vec![0b001, 0b001, 0b001].into() };
        let image = code_picture(code.side, &code.dark).to_rgb8().expect("pixels");
        assert_eq!((image.width(), image.height()), (88, 88));
        let at = |column: usize, row: usize| image.as_slice()[(row * 8 + 3) * 88 + column * 8 + 3].r;
        assert_eq!([at(3, 4), at(4, 4), at(5, 4), at(4, 6), at(4, 7)], [255, 0, 255, 0, 255]);
        assert_eq!(code_picture(21, &[]).size().width, 232);
    }
}
