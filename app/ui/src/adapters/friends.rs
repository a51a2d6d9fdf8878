//! Friends, who is refused, the account for play over the internet, and codes to be shown and put in.

use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use link::friend_code::{FriendCode, NotACode};
use proto::control::{self, request};
use slint::{ComponentHandle, Image, ModelRc, Rgb8Pixel, SharedPixelBuffer, VecModel};

use super::{carrier, nearby, update, when};
use crate::app::{Desk, Inner, Purpose};
use crate::screens::{
    AccountState, Acquaintance, BlockedView, ContactView, Dialog, FriendView, FriendsAdapter, MainWindow,
    Page, Presence, Remark, Visibility,
};

/// Device pixels of one module of the code: a whole number of them, so that its edges are sharp on every screen.
const MODULE_PIXELS: usize = 8;

/// Modules of light around a code, as ISO/IEC 18004 asks for.
const MARGIN: usize = 4;

const DAY_MS: u64 = 86_400_000;

/// Rows of the models that the page draws from.
#[derive(Default)]
pub(crate) struct Rows {
    friends: Rc<VecModel<FriendView>>,
    blocked: Rc<VecModel<BlockedView>>,
    contacts: Rc<VecModel<ContactView>>,
    twins: Rc<VecModel<FriendView>>,
}

/// What the page is in the middle of.
#[derive(Default)]
pub(crate) struct People {
    /// The friend who is looked at, and the one who may be the same person.
    shown: String,
    twin: String,
    contact: String,
    /// This device's code as it was last told.
    code: Option<control::FriendCode>,
    /// What is being put in.
    tried: String,
    away: bool,
}

pub(super) fn attach(window: &MainWindow, desk: &Rc<Desk>) {
    let page = window.global::<FriendsAdapter>();
    page.set_friends(ModelRc::from(desk.friends.friends.clone()));
    page.set_blocked(ModelRc::from(desk.friends.blocked.clone()));
    page.set_contacts(ModelRc::from(desk.friends.contacts.clone()));
    page.set_twins(ModelRc::from(desk.friends.twins.clone()));
    page.on_open_friend(when!(desk, |desk, id| open_friend(&desk, &id)));
    page.on_set_note(when!(desk, |desk, note| {
        let note: String = note.trim().chars().take(proto::limits::NOTE_CHARS).collect();
        about_shown(&desk, |peer| request::Body::SetNote(control::SetNote { peer, note }));
    }));
    page.on_toggle_muted(when!(desk, |desk| {
        let muted = desk.see().shown_friend().is_some_and(|friend| !friend.muted);
        about_shown(&desk, |peer| request::Body::SetMuted(control::SetMuted { peer, muted }));
    }));
    page.on_unfriend(when!(desk, |desk| {
        about_shown(&desk, |peer| request::Body::Forget(control::Forget { peer }));
    }));
    page.on_block(when!(desk, |desk| {
        about_shown(&desk, |peer| request::Body::Block(control::Block { peer }));
    }));
    page.on_choose_twin(when!(desk, |desk, id| {
        desk.change(|inner| inner.people.twin = id.into());
        desk.open(Dialog::SamePerson);
    }));
    page.on_same_person(when!(desk, |desk| {
        let old = desk.see().people.twin.clone();
        about_shown(&desk, |new| request::Body::SamePerson(control::SamePerson { old, new }));
    }));
    page.on_invite(when!(desk, |desk| {
        let peer = desk.see().people.shown.clone();
        nearby::invite(&desk, &peer);
    }));
    page.on_unblock(when!(desk, |desk, id| {
        let unblock = control::Unblock { peer: id.into() };
        desk.ask(request::Body::Unblock(unblock), Purpose::Person);
    }));
    page.on_show_code(when!(desk, |desk| {
        desk.ask(request::Body::ShowFriendCode(control::ShowFriendCode {}), Purpose::ShowCode);
    }));
    page.on_begin_adding(when!(desk, |desk| {
        desk.change(|inner| inner.people.tried.clear());
        desk.open(Dialog::AddFriend);
    }));
    page.on_try_code(when!(desk, |desk, text| {
        desk.change(|inner| text.trim().clone_into(&mut inner.people.tried));
    }));
    page.on_add(when!(desk, |desk| {
        let code = desk.see().people.tried.clone();
        desk.open(Dialog::None);
        desk.ask(request::Body::AddFriend(control::AddFriend { code }), Purpose::AddFriend);
    }));
    page.on_open_visibility(when!(desk, |desk| desk.go(Page::Settings)));
    attach_account(&page, desk);
}

fn attach_account(page: &FriendsAdapter<'_>, desk: &Rc<Desk>) {
    page.on_open_account(when!(desk, |desk| desk.open(Dialog::Account)));
    page.on_sign_in(when!(desk, |desk, account, password, make, server| {
        let (account, server) = (account.trim().to_owned(), server.trim().to_owned());
        if account.is_empty() || password.is_empty() {
            return;
        }
        let sign_in = control::SignIn { account, password: password.into(), make_it: make, server };
        desk.ask(request::Body::SignIn(sign_in), Purpose::Account);
    }));
    page.on_sign_out(when!(desk, |desk, forget| {
        desk.open(Dialog::None);
        desk.ask(request::Body::SignOut(control::SignOut { forget }), Purpose::Account);
    }));
    page.on_take_over(when!(desk, |desk| {
        desk.ask(request::Body::TakeOver(control::TakeOver {}), Purpose::Account);
    }));
    page.on_toggle_away(when!(desk, |desk| {
        desk.change(|inner| inner.people.away = !inner.people.away);
        let away = desk.see().people.away;
        desk.ask(request::Body::SetAway(control::SetAway { away }), Purpose::Account);
    }));
    page.on_ask_contact(when!(desk, |desk, account| {
        let account = account.trim().to_owned();
        desk.ask(request::Body::AskContact(control::AskContact { account }), Purpose::Contact);
    }));
    page.on_open_contact(when!(desk, |desk, account| {
        desk.change(|inner| inner.people.contact = account.into());
        desk.open(Dialog::Contact);
    }));
    page.on_answer_contact(when!(desk, |desk, answer| {
        let account = desk.see().people.contact.clone();
        let answer = control::AnswerContact { account, answer };
        desk.ask(request::Body::AnswerContact(answer), Purpose::Person);
    }));
}

/// Opens what can be done about a friend.
pub(super) fn open_friend(desk: &Desk, id: &str) {
    desk.change(|inner| id.clone_into(&mut inner.people.shown));
    desk.open(Dialog::Friend);
}

fn about_shown(desk: &Desk, body: impl FnOnce(String) -> request::Body) {
    let peer = desk.see().people.shown.clone();
    desk.ask(body(peer), Purpose::Person);
}

/// The host has told this device's code: it is shown.
pub(crate) fn code_told(desk: &Desk, code: control::FriendCode) {
    desk.change(|inner| inner.people.code = Some(code));
    desk.open(Dialog::MyCode);
}

/// The host has taken the other's code.
pub(crate) fn added(desk: &Desk) {
    let name = FriendCode::read(&desk.see().people.tried).map(|code| code.name).unwrap_or_default();
    desk.remark(Remark::FriendAdded, &name);
}

impl Inner {
    fn shown_friend(&self) -> Option<&control::Friend> {
        self.state.friends.get(&self.people.shown)
    }
}

pub(super) fn show(window: &MainWindow, desk: &Desk) {
    let inner = desk.see();
    let page = window.global::<FriendsAdapter>();
    show_account(&page, &inner);
    page.set_visibility(visibility(&inner));
    if let Some(code) = &inner.people.code
        && inner.dialog() == Dialog::MyCode
        && page.get_code_text() != code.text.as_str()
    {
        page.set_code(picture(code));
        page.set_code_text(code.text.as_str().into());
    }
    show_tried(&page, &inner);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
    if let Some(friend) = inner.shown_friend() {
        page.set_shown(view(&inner, friend, now));
        update(&desk.friends.twins, &twins(&inner, friend, now));
    }
    if let Some(twin) = inner.state.friends.get(&inner.people.twin) {
        page.set_twin(view(&inner, twin, now));
    }
    if inner.page() != Page::Friends {
        return;
    }
    let mut friends: Vec<FriendView> =
        inner.state.friends.values().map(|friend| view(&inner, friend, now)).collect();
    // Who is here comes first; within that by name, so that no row moves from under a finger.
    friends.sort_by_key(|one| (one.presence == Presence::Gone, one.name.clone(), one.id.clone()));
    update(&desk.friends.friends, &friends);
    let blocked: Vec<BlockedView> = inner
        .state
        .blocked
        .values()
        .map(|one| BlockedView {
            id: one.id.as_str().into(),
            name: one.name.as_str().into(),
            days: days(one.since_unix_ms, now),
        })
        .collect();
    update(&desk.friends.blocked, &blocked);
    let contacts: Vec<ContactView> =
        inner.state.contacts.values().filter(|one| one.friend.is_empty()).map(contact).collect();
    update(&desk.friends.contacts, &contacts);
    if let Some(one) = inner.state.contacts.get(&inner.people.contact) {
        page.set_contact(contact(one));
    }
}

/// Who may find this device, as the host says.
pub(super) fn visibility(inner: &Inner) -> Visibility {
    match inner.state.me.visibility() {
        control::Visibility::Nobody => Visibility::Nobody,
        control::Visibility::Friends => Visibility::Friends,
        control::Visibility::Everyone => Visibility::Everyone,
    }
}

fn view(inner: &Inner, friend: &control::Friend, now_unix_ms: u64) -> FriendView {
    let presence = match (friend.connected, friend.near, friend.presence()) {
        (true, ..) => Presence::Connected,
        (_, true, _) => Presence::Near,
        (.., control::Presence::Playing) => Presence::Playing,
        (.., control::Presence::Away) => Presence::Away,
        (.., control::Presence::Online) => Presence::Online,
        (.., control::Presence::Unspecified | control::Presence::Offline) => Presence::Gone,
    };
    let mut others = inner.state.friends.values();
    FriendView {
        id: friend.id.as_str().into(),
        name: friend.name.as_str().into(),
        note: friend.note.as_str().into(),
        presence,
        carrier: carrier(friend.carrier()),
        days: days(friend.met_unix_ms, now_unix_ms),
        met_by: carrier(friend.met_by()),
        muted: friend.muted,
        twin: others.any(|other| other.id != friend.id && other.name == friend.name),
    }
}

/// Friends met before this one who are nowhere now: this one may be one of them with another key. Those of the same
/// name come first; a few are enough.
fn twins(inner: &Inner, friend: &control::Friend, now_unix_ms: u64) -> Vec<FriendView> {
    const OFFERED: usize = 3;
    let mut others: Vec<&control::Friend> = (inner.state.friends.values())
        .filter(|other| other.id != friend.id && other.met_unix_ms <= friend.met_unix_ms)
        .filter(|other| view(inner, other, now_unix_ms).presence == Presence::Gone)
        .collect();
    others.sort_by_key(|other| (other.name != friend.name, std::cmp::Reverse(other.met_unix_ms)));
    others.into_iter().take(OFFERED).map(|other| view(inner, other, now_unix_ms)).collect()
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

fn show_account(page: &FriendsAdapter<'_>, inner: &Inner) {
    let account = inner.state.account.as_ref();
    page.set_can_online(account.is_some());
    page.set_account_away(inner.people.away);
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
    page.set_account_sentence(super::new_game::said(account.sentence.as_ref(), inner.chinese()).into());
}

fn show_tried(page: &FriendsAdapter<'_>, inner: &Inner) {
    let tried = &inner.people.tried;
    let own = inner.people.code.as_ref().is_some_and(|code| same_key(&code.text, tried));
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

fn same_key(one: &str, other: &str) -> bool {
    let key = |text| FriendCode::read(text).ok().map(|code| code.key);
    key(one).is_some() && key(one) == key(other)
}

/// The code with its light margin, each module a whole number of pixels. A code that is not whole is all light.
fn picture(code: &control::FriendCode) -> Image {
    // The largest QR code has 177 modules on a side.
    let side = code.side.min(177) as usize;
    let line = side.div_ceil(8);
    let dark = |column: usize, row: usize| {
        column < side
            && row < side
            && code.dark.get(row * line + column / 8).is_some_and(|byte| byte >> (column % 8) & 1 == 1)
    };
    let pixels = (side + 2 * MARGIN) * MODULE_PIXELS;
    let mut buffer = SharedPixelBuffer::<Rgb8Pixel>::new(pixels as u32, pixels as u32);
    for (index, pixel) in buffer.make_mut_slice().iter_mut().enumerate() {
        let place = |at: usize| (at / MODULE_PIXELS).wrapping_sub(MARGIN);
        let light = if dark(place(index % pixels), place(index / pixels)) { 0 } else { 255 };
        *pixel = Rgb8Pixel { r: light, g: light, b: light };
    }
    Image::from_rgb8(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_drawn_with_its_margin_and_whole_modules() {
        // The left column dark, the rest light.
        let code =
            control::FriendCode { text: String::new(), side: 3, dark: vec![0b001, 0b001, 0b001].into() };
        let image = picture(&code).to_rgb8().expect("pixels");
        assert_eq!((image.width(), image.height()), (88, 88));
        let at = |column: usize, row: usize| image.as_slice()[(row * 8 + 3) * 88 + column * 8 + 3].r;
        assert_eq!([at(3, 4), at(4, 4), at(5, 4), at(4, 6), at(4, 7)], [255, 0, 255, 0, 255]);
        assert_eq!(picture(&control::FriendCode { side: 21, ..Default::default() }).size().width, 232);
    }
}
