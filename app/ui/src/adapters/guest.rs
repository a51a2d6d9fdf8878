//! Guests with a browser: the code for a seat, for spectators or for a club evening, and its state.

use std::rc::Rc;

use proto::board as wire;
use proto::control::{self, Seat, event, reply, request, seat};
use senses::Cue;
use slint::{ComponentHandle, Image};

use super::friends::code_picture;
use super::{board, new_game, touched};
use crate::app::{Answer, AppState, Asked, Controller, Cx};
use crate::preferences::LastColour;
use crate::screens::{Dialog, GuestAdapter, HotspotPhase, MainWindow, Remark};

/// The code that was shown last, if any.
#[derive(Default)]
pub(crate) struct Guest {
    shown: Option<Shown>,
    /// The match whose code was closed last while its dialog was open, and whether that was for spectators: its rematch takes the
    /// code along.
    closed: Option<(String, bool)>,
    picture: Image,
    /// QR code of this device's Wi-Fi.
    join_picture: Image,
}

/// A code of one match, for a seat or for spectators, or of an evening.
struct Shown {
    /// Empty: it is of an evening.
    room: String,
    /// The id of the evening; empty: it is of a match.
    club: String,
    watch: bool,
    /// The guest's seat; unspecified for spectators.
    side: wire::Side,
    url: String,
    /// Why there is no code.
    trouble: Option<control::Words>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Question {
    /// A match with a guest seat was opened.
    Open,
    Code {
        room: String,
        club: String,
        watch: bool,
        side: wire::Side,
    },
}

impl From<Question> for Asked {
    fn from(question: Question) -> Self {
        Self::Guest(question)
    }
}

impl Guest {
    pub(super) fn attach(window: &MainWindow, app: &Rc<Controller>) {
        let dialog = window.global::<GuestAdapter>();
        dialog.on_open(touched!(app, |_pages, cx| open(cx)));
        dialog.on_show(touched!(app, |_pages, cx, watch| {
            if let Some(room) = cx.known.room.as_ref().map(|room| room.id.clone()) {
                show_code(room, watch, cx);
            }
        }));
        dialog.on_renew(touched!(app, |pages, cx| {
            if let Some(shown) = &pages.guest.shown {
                shown.ask(true, cx);
            }
        }));
        dialog.on_stop(touched!(app, |pages, cx| {
            if let Some(Shown { room, club, watch, side, .. }) = pages.guest.shown.take() {
                let close =
                    control::CloseGuestCode { room_id: room, club_id: club, watch, side: side.into() };
                cx.ask.done(request::Body::CloseGuestCode(close));
            }
        }));
        dialog.on_set_hotspot(touched!(app, |_pages, cx, on| {
            cx.ask.done(request::Body::SetHotspot(control::SetHotspot { on }));
        }));
        dialog.on_answer(touched!(app, |_pages, cx, accept| {
            if let Some(asking) = cx.known.guest_asking() {
                let answer =
                    control::AnswerGuest { room_id: asking.room_id.clone(), side: asking.side, accept };
                cx.ask.done(request::Body::AnswerGuest(answer));
            }
        }));
    }

    /// Closes the code's dialog once the guest is present; asks for the code again when this device has another address.
    pub(crate) fn hear(&mut self, event: &event::Body, cx: &mut Cx<'_>) {
        let is_open = cx.known.question == Dialog::GuestCode;
        if let event::Body::Hotspot(hotspot) = event {
            self.join_picture = code_picture(hotspot.side, &hotspot.dark);
            let asks = is_open && hotspot.state() != control::HotspotState::HotspotStarting;
            let is_wanted = |shown: &&Shown| shown.trouble.is_some() || shown.is_there(cx.known);
            if let Some(shown) = self.shown.as_ref().filter(|_| asks).filter(is_wanted) {
                shown.ask(false, cx);
            }
        }
        // Another program, or the end of the match, has closed the code.
        if let event::Body::GuestGone(gone) = event
            && let Some(shown) = self.shown.take_if(|shown| shown.has_gone(gone))
        {
            self.closed = is_open.then_some((shown.room, shown.watch)).filter(|(room, _)| !room.is_empty());
            if is_open {
                cx.go.dialog(Dialog::None);
            }
        }
        if let event::Body::Room(room) = event
            && let Some((before, watch)) =
                self.closed.take_if(|(before, _)| *before == room.follows || *before == room.id)
            && before == room.follows
        {
            show_moved(room, watch, cx);
        }
        let event::Body::Guest(guest) = event else { return };
        let came = |shown: &Shown| shown.room == guest.room_id && !shown.watch && guest.side() == shown.side;
        let closes = is_open && self.shown.as_ref().is_some_and(came);
        if guest.present && closes {
            cx.feel.hear(Cue::YourTurn);
            cx.go.dialog(Dialog::None);
            cx.go.remark(Remark::GuestCame, &guest.name);
            if waits_for_another(cx.known, guest) {
                show_code(guest.room_id.clone(), false, cx);
            }
        }
    }

    pub(crate) fn reply(&mut self, question: Question, answer: Answer, cx: &mut Cx<'_>) {
        match (answer, question) {
            (Ok(reply::Body::RoomId(room)), Question::Open) => {
                cx.go.room(&room);
                show_code(room, false, cx);
            }
            (Ok(reply::Body::GuestCode(code)), Question::Code { room, club, watch, .. }) => {
                self.picture = code_picture(code.side, &code.dark);
                let side = code.seat();
                self.shown = Some(Shown { room, club, watch, side, url: code.url, trouble: None });
                cx.go.dialog(Dialog::GuestCode);
            }
            (Err(refusal), Question::Code { room, club, watch, side }) if refusal.reason.is_some() => {
                let (url, trouble) = (String::new(), refusal.reason);
                self.shown = Some(Shown { room, club, watch, side, url, trouble });
                cx.go.dialog(Dialog::GuestCode);
            }
            (Err(refusal), _) => cx.go.refused(refusal, Remark::BadRequest),
            (Ok(_), _) => {}
        }
    }

    pub(super) fn show(&self, window: &MainWindow, known: &AppState) {
        let dialog = window.global::<GuestAdapter>();
        let seats = known.room.iter().flat_map(|room| [&room.first, &room.second]).flatten();
        dialog.set_has_seat(seats.into_iter().any(is_guest));
        let offered = known.state.me.has_guests;
        dialog.set_offered(offered);
        dialog.set_can_watch(offered && known.room.as_ref().is_some_and(|room| room.puzzle.is_none()));
        dialog.set_goes_on(known.room.as_ref().is_some_and(|room| board::outlasts_page(known, room)));
        if let Some(asking) = known.guest_asking() {
            dialog.set_name(asking.name.as_str().into());
        }
        let hotspot = &known.state.hotspot;
        dialog.set_hotspot(match hotspot.state() {
            control::HotspotState::HotspotOff => HotspotPhase::Off,
            control::HotspotState::HotspotStarting => HotspotPhase::Starting,
            control::HotspotState::HotspotOn => HotspotPhase::On,
        });
        dialog.set_join_code(self.join_picture.clone());
        dialog.set_ssid(hotspot.ssid.as_str().into());
        dialog.set_passphrase(hotspot.passphrase.as_str().into());
        dialog.set_hotspot_trouble(new_game::said(hotspot.trouble.as_ref(), known.chinese()).into());
        let Some(shown) = &self.shown else { return };
        dialog.set_code(self.picture.clone());
        dialog.set_url(shown.url.as_str().into());
        dialog.set_watch(shown.watch);
        dialog.set_evening(!shown.club.is_empty());
        dialog.set_trouble(new_game::said(shown.trouble.as_ref(), known.chinese()).into());
        let mut guests = known.state.guests.values();
        let is_shown = |guest: &&control::Guest| {
            (guest.room_id.as_str(), guest.club_id.as_str(), guest.side())
                == (shown.room.as_str(), shown.club.as_str(), shown.side)
        };
        let guest = guests.find(is_shown);
        let room = known.state.rooms.get(&shown.room);
        let expected = room.and_then(|room| seat_of(room, shown.side)).map_or("", |seat| &seat.name);
        dialog.set_expected(expected.into());
        dialog.set_present(guest.is_some_and(|guest| guest.present));
        dialog.set_came(guest.is_some_and(|guest| guest.came));
        dialog.set_watchers(guest.map_or(0, |guest| guest.watchers as i32));
        // The guest who is asked about may be of another match.
        if known.guest_asking().is_none() {
            dialog.set_name(guest.map_or("", |guest| &guest.name).into());
        }
    }
}

/// Opens a match of the game chosen for invitations, with a guest on the other side.
fn open(cx: &mut Cx<'_>) {
    let game = cx.known.nearby_game();
    let here = Seat { who: Some(seat::Who::Here(true)), ..Default::default() };
    let guest = Seat { who: Some(seat::Who::Guest(true)), ..Default::default() };
    let begins = match cx.known.last(game).colour {
        LastColour::First => true,
        LastColour::Second => false,
        LastColour::Random | LastColour::Turns => new_game::by_lot(),
    };
    let (first, second) = if begins { (here, guest) } else { (guest, here) };
    let open = control::OpenRoom {
        first: Some(first),
        second: Some(second),
        choice: Some(new_game::choice(cx.known, game)),
        pace: new_game::pace(cx.known, game),
        ..Default::default()
    };
    cx.ask.send(request::Body::OpenRoom(open), Question::Open);
}

/// Whether a guest of this match, which is not over, is not here.
pub(super) fn is_awaited(known: &AppState, room: &control::Room) -> bool {
    let mut seats = [&room.first, &room.second].into_iter().flatten();
    known.state.me.has_guests && room.result.is_none() && seats.any(|seat| is_guest(seat) && seat.away)
}

pub(super) fn is_guest(seat: &Seat) -> bool {
    matches!(seat.who, Some(seat::Who::Guest(_)))
}

/// Asks for the code for spectators, or of the first guest's seat in which nobody is.
pub(super) fn show_code(room: String, watch: bool, cx: &mut Cx<'_>) {
    ask_for(room, String::new(), watch, wire::Side::Unspecified, false, cx);
}

/// Asks for the code by which everybody present sees this evening.
pub(super) fn show_evening(club: String, cx: &mut Cx<'_>) {
    ask_for(String::new(), club, true, wire::Side::Unspecified, false, cx);
}

/// Shows the code that this match has from the one before it: the one for spectators, or the only seat's.
fn show_moved(room: &control::Room, watch: bool, cx: &mut Cx<'_>) {
    let is_it = |guest: &&control::Guest| {
        guest.room_id == room.id && watch == (guest.side() == wire::Side::Unspecified)
    };
    let mut codes = cx.known.state.guests.values().filter(is_it);
    if let (Some(code), None) = (codes.next(), codes.next()) {
        let side = code.side();
        ask_for(room.id.clone(), String::new(), watch, side, false, cx);
    }
}

fn ask_for(room: String, club: String, watch: bool, side: wire::Side, renew: bool, cx: &mut Cx<'_>) {
    let (room_id, club_id) = (room.clone(), club.clone());
    let code = control::ShowGuestCode { room_id, club_id, side: side.into(), watch, renew };
    cx.ask.send(request::Body::ShowGuestCode(code), Question::Code { room, club, watch, side });
}

impl Shown {
    /// Whether the host has this code.
    fn is_there(&self, known: &AppState) -> bool {
        known.state.guests.contains_key(&(format!("{}{}", self.room, self.club), self.side.into()))
    }

    /// Whether it is the code that is closed now.
    fn has_gone(&self, gone: &control::GuestGone) -> bool {
        let is_for_watchers = gone.side() == wire::Side::Unspecified;
        self.trouble.is_none()
            && (self.room.as_str(), self.side) == (gone.room_id.as_str(), gone.side())
            && self.club == gone.club_id
            && self.watch == is_for_watchers
    }

    /// Asks for this code again; `renew`: for another one in its place.
    fn ask(&self, renew: bool, cx: &mut Cx<'_>) {
        ask_for(self.room.clone(), self.club.clone(), self.watch, self.side, renew, cx);
    }
}

/// Whether the match of this guest has another guest's seat, in which nobody is.
fn waits_for_another(known: &AppState, guest: &control::Guest) -> bool {
    let other = match guest.side() {
        wire::Side::First => wire::Side::Second,
        _ => wire::Side::First,
    };
    let seat = known.state.rooms.get(&guest.room_id).and_then(|room| seat_of(room, other));
    let there = known.state.guests.get(&(guest.room_id.clone(), other.into()));
    seat.is_some_and(is_guest) && there.is_none_or(|there| !there.present)
}

/// The seat of this side; none for spectators.
fn seat_of(room: &control::Room, side: wire::Side) -> Option<&Seat> {
    match side {
        wire::Side::First => room.first.as_ref(),
        wire::Side::Second => room.second.as_ref(),
        wire::Side::Unspecified => None,
    }
}
