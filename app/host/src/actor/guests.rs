//! Guests: people with a browser, each in one seat of one room, or watching it. Translates each [`guest::Message`] into an
//! action of the guest's seat. `docs/guest.md` describes the protocol.

mod hotspot;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use engine::{Action, AnyGame, Language, Side};
use guest::{Codes, ConnectionId, Denied, Effect, News, Outbox, Place, Rate, Role, Server, Token, Why, form};
use link::friend_code::Qr;
use proto::control::{self, RefusalCode, Words, event};
use proto::limits;
use proto::peer::Phrase;
use session::{MatchId, MatchResult, Saying, wire};
use tokio::time::Instant;
use tracing::{debug, info, warn};

use crate::actor::{Actor, Message};
use crate::config::{GuestConfig, HostConfig};
use crate::desktop::{AccessPointNews, BeforeFile, make_access_point, return_after_crash};
use crate::games;
use crate::refusal::Refusal;
use crate::responder::{Answer, done};
use crate::room::{Room, Seat, parse_match_name};
use crate::room_view::Viewer;
use crate::show;
use hotspot::Hotspot;

/// Number of chat messages that a reconnecting guest is sent again.
const SAID: usize = 8;

/// Rate limit of chat messages per side, as for a peer: this many at once, then (below) per second.
const SAY_AT_ONCE: u32 = 8;
const SAY_A_SECOND: f64 = 0.8;

/// Rate limit of expensive requests (positions, files, rules) of all guests together.
const READ_AT_ONCE: u32 = 20;
const READ_A_SECOND: f64 = 20.0;

/// State of all guests. Nothing listens while no code is active.
pub(crate) struct Guests {
    config: Option<GuestConfig>,
    codes: Codes,
    server: Option<Server>,
    pages: BTreeMap<ConnectionId, Page>,
    /// Last chat messages of each room.
    said: BTreeMap<MatchId, VecDeque<Said>>,
    last_said: u64,
    /// Rate limit of chat messages from this device's user to guests.
    says_here: Rate,
    reads: Rate,
    hotspot: Hotspot,
}

struct Page {
    outbox: Outbox,
    /// The guest's name from the hello.
    name: String,
    says: Rate,
}

struct Said {
    number: u64,
    /// The sender; `None`: this device's user.
    by: Option<Side>,
    name: String,
    phrase: Phrase,
    text: String,
}

impl Guests {
    pub(crate) fn new(config: &HostConfig) -> Self {
        Self {
            config: config.guests.clone(),
            codes: Codes::default(),
            server: None,
            pages: BTreeMap::new(),
            said: BTreeMap::new(),
            last_said: 0,
            says_here: Rate::new(SAY_AT_ONCE, SAY_A_SECOND),
            reads: Rate::new(READ_AT_ONCE, READ_A_SECOND),
            hotspot: Hotspot::new(Self::before(config)),
        }
    }

    fn before(config: &HostConfig) -> BeforeFile {
        BeforeFile::at(config.data_dir.join("before-hotspot"))
    }

    /// What is left to do after a network that ended with its process.
    pub(crate) fn after_crash(config: &HostConfig) -> Option<impl Future<Output = ()> + Send + use<>> {
        let bus = config.guests.as_ref()?.network_manager.clone()?;
        let before = Self::before(config);
        before.exists().then(|| return_after_crash(bus, before))
    }

    /// Whether this host may show codes.
    pub(crate) fn are_possible(&self) -> bool {
        self.config.is_some()
    }

    /// Sends a message to one page. A guest that reads too slowly is disconnected and gets the present state when it
    /// reconnects; a spectator only misses the message.
    fn send(&self, connection: ConnectionId, message: impl Into<Arc<str>>) {
        let Some(page) = self.pages.get(&connection) else { return };
        let watches = self.codes.place_of(connection).is_some_and(|place| place.role == Role::Watcher);
        if !page.outbox.send(message) && !watches {
            page.outbox.close(Why::TooSlow, std::time::Duration::ZERO);
        }
    }
}

fn now() -> std::time::Instant {
    Instant::now().into_std()
}

/// How much later than the players a watcher sees a move. Writing to 32 pages takes a slow device tens of milliseconds: by then the move
/// has gone to the other player and come back acknowledged (two Bluetooth connection intervals of 30 ms), the pages take turns, and one
/// that follows soon is sent with it. In the lab a move is seen after 57 ms without watchers and 60 ms with 32; without the delay 182 ms.
fn watchers_delay(connection: ConnectionId) -> std::time::Duration {
    std::time::Duration::from_millis(300 + 20 * (connection % 8))
}

fn seat_of(room: MatchId, side: Side) -> Place {
    Place { room: room.to_string(), role: Role::Seat(show::side(side)) }
}

fn watchers_of(room: MatchId) -> Place {
    Place { room: room.to_string(), role: Role::Watcher }
}

/// The room of a place, and the side of its seat; `None` for spectators.
fn room_and_side(place: &Place) -> Option<(MatchId, Option<Side>)> {
    let side = match place.role {
        Role::Watcher => None,
        Role::Seat(side) => Some(show::parse_side(side.into())?),
    };
    Some((parse_match_name(&place.room)?, side))
}

/// The error that no code can be shown: Chinese and English text for the user, and a detail for logs.
fn no_code(code: RefusalCode, zh: &str, en: &str, detail: &str) -> Refusal {
    Refusal { reason: Some(Words { zh: zh.into(), en: en.into() }), ..Refusal::new(code, detail) }
}

fn bad(why: &str) -> Refusal {
    Refusal::new(RefusalCode::RefusalBadRequest, why)
}

// Requests of clients.
impl Actor {
    pub(crate) fn show_guest_code(&mut self, show: &control::ShowGuestCode) -> Result<Answer, Refusal> {
        let id = self.room_id(&show.room_id)?;
        let place = self.place_meant(id, show.side, show.watch)?;
        let config = self.guests.config.clone().ok_or_else(|| {
            let [zh, en] = ["这里不能用网页来下棋。", "Nobody can come by a browser here."];
            no_code(RefusalCode::RefusalBadRequest, zh, en, "this host was started without guests")
        })?;
        let board = show::board(self.rooms[&id].game(), true);
        if board.columns.max(board.rows) > guest::BOARD_SIDE {
            let [zh, en] = ["棋盘太大，网页上放不下。", "This board is too large for a browser."];
            return Err(no_code(RefusalCode::RefusalBadRequest, zh, en, en));
        }
        let radio = |why: &str| {
            let [zh, en] = [
                "这台设备没有连上网络。先连上 Wi-Fi，再试一次。",
                "This device is in no network. Connect it to a Wi-Fi, then try again.",
            ];
            no_code(RefusalCode::RefusalRadio, zh, en, why)
        };
        let server = if let Some(server) = self.guests.server.take() {
            server
        } else {
            let inbox = self.inbox.clone();
            let tell = Arc::new(move |news| {
                // Sending fails only after the actor has ended.
                let _ = inbox.send(Message::Guest(news));
            });
            Server::start(config.port, config.loopback, &mut self.tasks, tell)
                .map_err(|error| radio(&format!("nobody can be let in: {error}")))?
        };
        let mut authorities = server.authorities();
        // Whoever joins the network of this device reaches it by that address only.
        if let Some(address) = self.guests.hotspot.address() {
            authorities.sort_by_key(|one| !one.starts_with(&format!("{address}:")));
        }
        let Some((best, others)) = authorities.split_first() else {
            // Dropped if no code is active yet; otherwise existing codes wait for a network.
            self.guests.server = Some(server).filter(|_| self.guests.codes.is_open());
            return Err(radio("this device is in no network that a browser could reach it by"));
        };
        self.guests.server = Some(server);
        if show.renew {
            let effects = self.guests.codes.close(&place);
            self.do_effects(effects);
        }
        let token = self.guests.codes.show(place.clone(), Token::new(self.chance.bytes()));
        info!(room = place.room, role = ?place.role, "a code for a guest is shown");
        self.guests.hotspot.set_used(true, Instant::now());
        self.tell_guest(&place);
        let url = |authority: &String| format!("http://{authority}/#{token}");
        let qr = Qr::of(&url(best));
        Ok(Answer::GuestCode(control::GuestCode {
            url: url(best),
            others: others.iter().take(limits::GUEST_ADDRESSES).map(url).collect(),
            side: qr.side as u32,
            dark: qr.packed().into(),
        }))
    }

    pub(crate) fn close_guest_code(&mut self, close: &control::CloseGuestCode) -> Result<Answer, Refusal> {
        let id = self.room_id(&close.room_id)?;
        let place = self.place_meant(id, close.side, close.watch)?;
        if !self.guests.codes.shows(&place) {
            return Err(Refusal::new(RefusalCode::RefusalNoOffer, "no such code is shown"));
        }
        self.close_place(&place);
        self.room_changed(id);
        Ok(done())
    }

    pub(crate) fn answer_guest(&mut self, answer: &control::AnswerGuest) -> Result<Answer, Refusal> {
        let id = self.room_id(&answer.room_id)?;
        let place = self.place_meant(id, answer.side, false)?;
        let nobody = || Refusal::new(RefusalCode::RefusalNoOffer, "nobody asks for this seat");
        let effects = self.guests.codes.answer(&place, answer.accept).ok_or_else(nobody)?;
        self.do_effects(effects);
        Ok(done())
    }

    /// The place that a client means: the guest's seat of this side, or the only one; or the spectators.
    fn place_meant(&self, id: MatchId, side: i32, watch: bool) -> Result<Place, Refusal> {
        if watch {
            return Ok(watchers_of(id));
        }
        let room = &self.rooms[&id];
        let is_guest = |side: &Side| matches!(room.seat(*side), Seat::Guest(_));
        let seats: Vec<Side> = Side::BOTH.into_iter().filter(is_guest).collect();
        match (show::parse_side(side), seats.as_slice()) {
            (Some(side), seats) if seats.contains(&side) => Ok(seat_of(id, side)),
            (None, [side]) => Ok(seat_of(id, *side)),
            (_, []) => Err(bad("no seat of this room is a guest's")),
            _ => Err(bad("say which side is the guest's")),
        }
    }

    fn close_place(&mut self, place: &Place) {
        let effects = self.guests.codes.close(place);
        self.do_effects(effects);
        if let Some((id, side)) = room_and_side(place) {
            let side = side.map_or(proto::board::Side::Unspecified, show::side).into();
            self.tell(event::Body::GuestGone(control::GuestGone { room_id: id.to_string(), side }));
        }
        if !self.guests.codes.is_open() {
            self.guests.server = None;
            self.guests.said.clear();
            self.end_hotspot();
        }
    }

    /// Makes a network for guests, or ends it.
    pub(crate) fn set_hotspot(&mut self, on: bool) -> Result<Answer, Refusal> {
        if !on {
            self.end_hotspot();
            return Ok(done());
        }
        let bus = self.guests.config.as_ref().and_then(|config| config.network_manager.clone());
        let Some(bus) = bus else {
            let [zh, en] = ["这里不能开热点。", "No Wi-Fi can be made here."];
            return Err(no_code(RefusalCode::RefusalBadRequest, zh, en, "this host was started without"));
        };
        if let Some(start) = self.guests.hotspot.start(self.chance.bytes()) {
            let (inbox, ticket) = (self.inbox.clone(), start.ticket);
            let tell = move |news| {
                // Sending fails only after the actor has ended.
                let _ = inbox.send(Message::Hotspot(ticket, news));
            };
            self.tasks.spawn(make_access_point(bus, start.network, start.before, start.stop, tell));
            self.tell_hotspot();
        }
        Ok(done())
    }

    fn end_hotspot(&mut self) {
        if self.guests.hotspot.stop() {
            self.tell_hotspot();
        }
    }

    fn tell_hotspot(&mut self) {
        self.tell(event::Body::Hotspot(self.guests.hotspot.shown()));
    }

    pub(crate) fn hotspot_said(&mut self, ticket: u64, news: AccessPointNews) {
        if self.guests.hotspot.on_news(ticket, news, Instant::now()) {
            let used = self.guests.codes.is_open();
            self.guests.hotspot.set_used(used, Instant::now());
            self.tell_hotspot();
        }
    }
}

// Queries and events from other parts of the host.
impl Actor {
    /// Whether the match waits for a guest who is not connected.
    pub(crate) fn waits_for_guest(&self, room: &Room) -> bool {
        let absent = |side: &Side| {
            matches!(room.seat(*side), Seat::Guest(_)) && !self.guest_is_present(room.id(), *side)
        };
        Side::BOTH.iter().any(absent)
    }

    pub(crate) fn guest_is_present(&self, id: MatchId, side: Side) -> bool {
        self.guests.codes.is_present(&seat_of(id, side))
    }

    /// Sends a chat message of this device's user to the guests of this room.
    pub(crate) fn say_to_guests(&mut self, id: MatchId, saying: &Saying) -> Result<(), Refusal> {
        if let Saying::Phrase(Phrase::Unspecified) = saying {
            return Err(bad("a phrase or a text"));
        }
        if !Side::BOTH.into_iter().any(|side| self.guest_is_present(id, side)) {
            return Err(Refusal::new(RefusalCode::RefusalLinkLost, "the guest is away"));
        }
        if !self.guests.says_here.may(now()) {
            return Err(Refusal::new(RefusalCode::RefusalBusy, "that was too fast"));
        }
        self.said_in(id, None, saying);
        Ok(())
    }

    /// Sends the room to all its connections.
    pub(crate) fn show_guests(&mut self, id: MatchId) {
        let name = id.to_string();
        let mut shown: BTreeMap<Role, Arc<str>> = BTreeMap::new();
        for (place, connection) in self.guests.codes.in_room(&name) {
            let Some(page) = self.guests.pages.get(&connection) else { continue };
            let text = shown.entry(place.role).or_insert_with(|| self.room_for(id, place.role).into());
            match place.role {
                Role::Watcher => page.outbox.show_later(text.clone(), watchers_delay(connection)),
                Role::Seat(_) => page.outbox.show(text.clone()),
            }
        }
    }

    /// Sends a club evening to the pages of its matches.
    pub(crate) fn show_club_to_guests(&self, number: u32) {
        if !self.guests.codes.is_open() {
            return;
        }
        let Some(shown) = self.clubs.shown(number) else { return };
        let text: Arc<str> = form::club(&shown).into();
        for id in self.rooms.keys().filter(|id| self.clubs.evening_with(**id) == Some(number)) {
            for (_, connection) in self.guests.codes.in_room(&id.to_string()) {
                self.guests.send(connection, text.clone());
            }
        }
    }

    /// Moves the codes of a room to its next match.
    pub(crate) fn guests_follow(&mut self, from: MatchId, to: MatchId, swaps: bool) {
        self.guests.codes.move_to(&watchers_of(from), watchers_of(to));
        for side in Side::BOTH {
            let there = if swaps { side.other() } else { side };
            self.guests.codes.move_to(&seat_of(from, side), seat_of(to, there));
        }
        if let Some(mut said) = self.guests.said.remove(&from) {
            for one in said.iter_mut().filter(|_| swaps) {
                one.by = one.by.map(Side::other);
            }
            self.guests.said.insert(to, said);
        }
        for side in [None, Some(Side::First), Some(Side::Second)] {
            let (old, new) = match side {
                None => (watchers_of(from), watchers_of(to)),
                Some(side) => (seat_of(from, side), seat_of(to, if swaps { side.other() } else { side })),
            };
            if self.guests.codes.shows(&new) {
                let side = side.map_or(proto::board::Side::Unspecified, show::side).into();
                self.tell(event::Body::GuestGone(control::GuestGone { room_id: old.room, side }));
                self.tell_guest(&new);
            }
        }
    }

    /// Closes the codes of a closed room.
    pub(crate) fn guests_leave(&mut self, id: MatchId) {
        let name = id.to_string();
        let places: Vec<Place> =
            self.guests.codes.places().filter(|place| place.room == name).cloned().collect();
        for place in places {
            self.close_place(&place);
        }
        self.guests.said.remove(&id);
    }

    /// Closes the codes of seats that are no longer guest seats.
    pub(crate) fn guest_seats_changed(&mut self, id: MatchId) {
        for side in Side::BOTH {
            let place = seat_of(id, side);
            let is_guest = self.rooms.get(&id).is_some_and(|room| matches!(room.seat(side), Seat::Guest(_)));
            if self.guests.codes.shows(&place) && !is_guest {
                self.close_place(&place);
            }
        }
    }

    pub(crate) fn guest_events(&self) -> Vec<event::Body> {
        let hotspot = &self.guests.hotspot;
        let guests = self.guests.codes.places().filter_map(|place| self.shown_guest(place));
        let hotspot = Some(hotspot.shown()).filter(|shown| *shown != control::Hotspot::default());
        guests.map(event::Body::Guest).chain(hotspot.map(event::Body::Hotspot)).collect()
    }

    pub(crate) fn guests_deadline(&self) -> Option<Instant> {
        let codes = self.guests.codes.due().map(Instant::from_std);
        codes.into_iter().chain(self.guests.hotspot.deadline()).min()
    }

    pub(crate) fn guests_on_time(&mut self) {
        let effects = self.guests.codes.on_time(now());
        self.do_effects(effects);
        if self.guests.hotspot.deadline().is_some_and(|at| at <= Instant::now()) {
            info!("nobody uses the access point");
            self.end_hotspot();
        }
    }

    /// Disconnects all guests, because the host stops.
    pub(crate) fn send_guests_home(&mut self) {
        let effects = self.guests.codes.stop();
        self.do_effects(effects);
        self.guests.pages.clear();
        self.guests.server = None;
        self.guests.hotspot.stop();
    }
}

// Messages from pages.
impl Actor {
    pub(crate) fn guest_said(&mut self, news: News) {
        match news {
            News::Hello { connection, from, hello, outbox } => {
                let says = Rate::new(SAY_AT_ONCE, SAY_A_SECOND);
                let page = Page { outbox, name: limits::fit_name(&hello.name), says };
                self.guests.pages.insert(connection, page);
                let effects = self.guests.codes.hello(now(), connection, from, &hello);
                self.do_effects(effects);
            }
            News::Asked { connection, message, permit: _permit } => self.guest_asked(connection, message),
            News::Gone { connection } => {
                self.guests.pages.remove(&connection);
                let effects = self.guests.codes.gone(connection);
                self.do_effects(effects);
            }
        }
    }

    fn do_effects(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Welcome(connection) => self.welcome_guest(connection),
                Effect::Taken(connection, wait) => self.guests.send(connection, form::taken(wait)),
                Effect::Close(connection, why, wait) => {
                    debug!(connection, ?why, "a page is closed");
                    if let Some(page) = self.guests.pages.remove(&connection) {
                        page.outbox.close(why, wait);
                    }
                }
                Effect::Changed(place) => {
                    self.tell_guest(&place);
                    if let (Some((id, _)), Role::Seat(_)) = (room_and_side(&place), place.role)
                        && self.rooms.contains_key(&id)
                    {
                        self.room_changed(id);
                    }
                }
            }
        }
    }

    fn welcome_guest(&mut self, connection: ConnectionId) {
        let Some(place) = self.guests.codes.place_of(connection).cloned() else { return };
        let Some((id, side)) = room_and_side(&place) else { return };
        let asked = self.guests.pages.get(&connection).map_or_else(String::new, |page| page.name.clone());
        let name = match side {
            Some(side) => self.name_guest(id, side, asked),
            None => String::new(),
        };
        info!(room = place.room, role = ?place.role, name, "a guest has come");
        let program = concat!("qiyou ", env!("CARGO_PKG_VERSION"));
        self.guests.send(connection, form::welcome(place.role, &name, self.profile.name(), program));
        let room = self.room_for(id, place.role);
        if let Some(page) = self.guests.pages.get(&connection) {
            page.outbox.show(room.into());
        }
        if let Some(shown) = self.clubs.evening_with(id).and_then(|number| self.clubs.shown(number)) {
            self.guests.send(connection, form::club(&shown));
        }
        if let Some(side) = side {
            for said in self.guests.said.get(&id).into_iter().flatten() {
                self.guests.send(connection, written(said, side, self.profile.name()));
            }
        }
    }

    /// Sets the name of the guest of this seat, if it is a guest seat; returns the resulting name.
    fn name_guest(&mut self, id: MatchId, side: Side, name: String) -> String {
        let Some(room) = self.rooms.get(&id) else { return name };
        let Seat::Guest(before) = room.seat(side).clone() else { return name };
        if name.is_empty() || name == before {
            return before;
        }
        let mut seats = room.seats.clone();
        seats[side.index()] = Seat::Guest(name.clone());
        if let Err(error) = self.journal.keep(|store| store.set_seats(id, seats.clone())) {
            warn!(%error, "a guest's name could not be saved");
            return before;
        }
        if let Some(room) = self.rooms.get_mut(&id) {
            room.seats = seats;
        }
        self.mark_for_display(id);
        self.tell_guest(&seat_of(id, side));
        name
    }

    fn guest_asked(&mut self, connection: ConnectionId, message: guest::Message) {
        let Some(number) = message.id() else {
            return self.do_effects(vec![Effect::Close(
                connection,
                Why::BadMessage,
                std::time::Duration::ZERO,
            )]);
        };
        let denied = match self.guests.codes.admit(connection, &message) {
            Ok(place) => match room_and_side(place).filter(|(id, _)| self.rooms.contains_key(id)) {
                Some(_) if matches!(message, guest::Message::File(_)) => {
                    return self.guest_exports(connection, number, message);
                }
                Some((id, side)) => {
                    let answer = self.guest_does(connection, id, side, message);
                    // Changes are shown before the next message is processed.
                    self.show_changes();
                    let text = answer.unwrap_or_else(|refusal| refusal.written(number));
                    return self.guests.send(connection, text);
                }
                None => Denied::OtherRoom,
            },
            Err(denied) => denied,
        };
        let refusal = match denied {
            Denied::BadMessage => {
                let close = Effect::Close(connection, Why::BadMessage, std::time::Duration::ZERO);
                return self.do_effects(vec![close]);
            }
            Denied::OtherRoom => Not::new("other_room", "这一页已经过时。", "This page shows another game."),
            Denied::Watching => Not::new("watching", "你只是在旁观。", "You only watch this game."),
        };
        self.guests.send(connection, refusal.written(number));
    }

    /// Exports the match of a page, and replies when the file is written.
    fn guest_exports(&mut self, connection: ConnectionId, number: u64, message: guest::Message) {
        let guest::Message::File(file) = message else { return };
        if !self.guests.reads.may(now()) {
            return self.guests.send(connection, Not::busy().written(number));
        }
        let export = control::Export { room_id: file.room, format: file.format, ply: None };
        let inbox = self.inbox.clone();
        let written = move |(), file: Result<control::File, Refusal>| {
            let text = match file {
                Ok(file) => form::file(number, &file.name, &String::from_utf8_lossy(&file.content)),
                Err(refusal) => Not::from(refusal).written(number),
            };
            // Sending fails only after the actor has ended.
            let _ = inbox.send(Message::GuestFile(connection, text));
        };
        if let Err(((), refusal)) = self.export_to(&export, (), written) {
            self.guests.send(connection, Not::from(refusal).written(number));
        }
    }

    pub(crate) fn guest_file_written(&mut self, connection: ConnectionId, text: String) {
        self.guests.send(connection, text);
    }

    /// Executes a message of a page in this room; returns the reply.
    fn guest_does(
        &mut self,
        connection: ConnectionId,
        id: MatchId,
        side: Option<Side>,
        message: guest::Message,
    ) -> Result<String, Not> {
        use guest::Message as Asked;
        let number = message.id().unwrap_or(0);
        if matches!(message, Asked::Look(_) | Asked::Rules(_)) && !self.guests.reads.may(now()) {
            return Err(Not::busy());
        }
        let room = &self.rooms[&id];
        let record = room.record();
        let watching = || Not::new("watching", "你只是在旁观。", "You only watch this game.");
        let side = side.filter(|side| matches!(room.seat(*side), Seat::Guest(_)));
        let stale = || Not::new("stale", "棋局已经变了。", "The game has changed meanwhile.");
        match message {
            Asked::Hello(_) => return Err(watching()),
            Asked::Ping(id) => return Ok(form::pong(id.number())),
            Asked::Look(look) => {
                let total = room.ply();
                let ply = look.ply.min(total);
                let game = crate::setup::replayed(record, ply)?;
                let over = ply == total && record.result.is_some();
                let board = show::board(&game, over);
                return Ok(form::position(number, &look.room, ply, total, &board));
            }
            Asked::File(_) => unreachable!("`guest_asked` has answered it"),
            Asked::Rules(_) => {
                let setup = Some(wire::setup(&record.setup));
                let sheet = games::describe(&control::Describe { setup, ..Default::default() })?;
                let words = Words { zh: sheet.rule_sheet_zh, en: sheet.rule_sheet_en };
                return Ok(form::rules(number, &words));
            }
            Asked::Act(act) => {
                let side = side.ok_or_else(watching)?;
                let action = wire::read_action(Some(&act.action.into()))
                    .map_err(|_| Not::from(bad("that is no action of this game")))?;
                let at = act.ply as usize;
                let same_revision = act.revision == record.revision;
                let race = record.setup.is_race();
                let (is_there, ply) = if race {
                    let presses = room.run_of(side).iter().filter(|one| matches!(one, Action::Press(_)));
                    (room.run_of(side).get(at) == Some(&action), presses.count() as u32)
                } else {
                    let mine = room.deciders().get(at) == Some(&side);
                    (mine && record.actions.get(at) == Some(&action), room.ply())
                };
                if same_revision && is_there {
                    return Ok(form::done(number));
                }
                if !same_revision || act.ply != ply {
                    return Err(stale());
                }
                if self.waits_for_guest(room) {
                    let why = "somebody is away: the match waits";
                    return Err(Refusal::new(RefusalCode::RefusalLinkLost, why).into());
                }
                if race {
                    self.press(id, side, action)?;
                    return Ok(form::done(number));
                }
                if room.turn().is_some_and(|turn| turn != side) {
                    return Err(Refusal::new(RefusalCode::RefusalNotYourTurn, "it is not your turn").into());
                }
                self.play(id, action)?;
            }
            Asked::Offer(offer) => {
                let side = side.ok_or_else(watching)?;
                if (offer.ply, offer.revision) != (room.ply(), record.revision) {
                    return Err(stale());
                }
                let kind = show::parse_offer_kind(offer.kind.into()).ok_or_else(stale)?;
                if room.needs_consent() {
                    self.offer_by(id, side, kind)?;
                } else {
                    self.offer_to_bot(id, side, kind)?;
                }
            }
            Asked::Answer(answer) => {
                let side = side.ok_or_else(watching)?;
                self.answer_offer_of(id, side, Some(answer.number), answer.accept)?;
            }
            Asked::Resign(resign) => {
                let side = side.ok_or_else(watching)?;
                if record.result == Some(MatchResult::Resigned(side)) {
                    return Ok(form::done(number));
                }
                if resign.revision != record.revision {
                    return Err(stale());
                }
                self.give_in(id, side)?;
            }
            Asked::Say(say) => {
                let side = side.ok_or_else(watching)?;
                let saying = match say.phrase {
                    Phrase::Unspecified if !limits::is_said(&say.text) => {
                        return Err(Not::from(bad("that text cannot be said")));
                    }
                    Phrase::Unspecified => Saying::Text(say.text),
                    phrase => Saying::Phrase(phrase),
                };
                if !self.guests.codes.is_new(connection, number) {
                    return Ok(form::done(number));
                }
                self.may_speak(connection)?;
                let name = self.said_in(id, Some(side), &saying);
                self.tell_said(id, false, saying, name);
            }
            Asked::Name(name) => {
                let side = side.ok_or_else(watching)?;
                if !self.guests.codes.is_new(connection, number) {
                    return Ok(form::done(number));
                }
                let name = limits::fit_name(&name.name);
                if name.is_empty() {
                    return Err(Not::from(bad("a name has at least one character")));
                }
                // Renaming writes to disk and notifies every client.
                self.may_speak(connection)?;
                self.name_guest(id, side, name);
            }
        }
        Ok(form::done(number))
    }

    fn may_speak(&mut self, connection: ConnectionId) -> Result<(), Not> {
        let page = self.guests.pages.get_mut(&connection);
        if page.is_some_and(|page| page.says.may(now())) {
            return Ok(());
        }
        Err(Not::new("too_fast", "说得太快了。", "That was too fast."))
    }

    /// An offer of a guest who plays against a bot: done at once or refused.
    fn offer_to_bot(&mut self, id: MatchId, side: Side, kind: session::OfferKind) -> Result<(), Refusal> {
        use session::{LocalCommand, OfferKind};
        let no = |why: &str| Refusal::new(RefusalCode::RefusalIllegal, why);
        match kind {
            OfferKind::TakeBack => {
                let nothing =
                    || Refusal::new(RefusalCode::RefusalNothingToTakeBack, "no action to take back");
                let ply = self.rooms[&id].last_decision_of(side).ok_or_else(nothing)?;
                self.command_here(id, LocalCommand::TakeBack { ply })
            }
            OfferKind::Pause => self.command_here(id, LocalCommand::Pause(true)),
            OfferKind::Continue => self.command_here(id, LocalCommand::Pause(false)),
            OfferKind::NewGame | OfferKind::NewGameSame => self.next_game(id, kind).map(drop),
            OfferKind::Draw => Err(no("a bot does not agree to a draw")),
            OfferKind::Adjourn => Err(no("that cannot be offered")),
        }
    }

    /// Distributes a chat message in a room. Returns the sender's name.
    fn said_in(&mut self, id: MatchId, by: Option<Side>, saying: &Saying) -> String {
        let name = match (by, self.rooms.get(&id)) {
            (Some(side), Some(room)) => self.shown_seat(room, side).name,
            _ => self.profile.name().to_owned(),
        };
        let (phrase, text) = match saying {
            Saying::Phrase(phrase) => (*phrase, String::new()),
            Saying::Text(text) => (Phrase::Unspecified, text.clone()),
        };
        self.guests.last_said += 1;
        let said = Said { number: self.guests.last_said, by, name: name.clone(), phrase, text };
        for side in Side::BOTH {
            for connection in self.guests.codes.at(&seat_of(id, side)) {
                self.guests.send(connection, written(&said, side, self.profile.name()));
            }
        }
        let words = self.guests.said.entry(id).or_default();
        if words.len() == SAID {
            words.pop_front();
        }
        words.push_back(said);
        name
    }

    fn tell_guest(&mut self, place: &Place) {
        if let Some(shown) = self.shown_guest(place) {
            self.tell(event::Body::Guest(shown));
        }
    }

    /// The state of a code for clients; `None` if the place has no active code.
    fn shown_guest(&self, place: &Place) -> Option<control::Guest> {
        let codes = &self.guests.codes;
        let (id, side) = room_and_side(place).filter(|_| codes.shows(place))?;
        let room = self.rooms.get(&id)?;
        let name = side.map_or_else(String::new, |side| self.shown_seat(room, side).name);
        let here = codes.at(place).count() as u32;
        Some(control::Guest {
            room_id: place.room.clone(),
            side: side.map_or(proto::board::Side::Unspecified, show::side).into(),
            name,
            present: side.is_some() && here > 0,
            asks: codes.asks(place),
            watchers: if side.is_none() { here } else { 0 },
            came: codes.came(place),
        })
    }

    /// The room as JSON for a page of this role.
    fn room_for(&self, id: MatchId, role: Role) -> String {
        let (viewer, you) = match role {
            Role::Watcher => (Viewer::Watcher, proto::board::Side::Unspecified),
            Role::Seat(side) => match show::parse_side(side.into()) {
                Some(own) => (Viewer::Guest(own), side),
                None => (Viewer::Watcher, side),
            },
        };
        let room = &self.rooms[&id];
        let kind = room.game().kind();
        let name = |of: fn(&engine::Names) -> &'static str| Words {
            zh: of(&kind.names(Language::Chinese)).into(),
            en: of(&kind.names(Language::English)).into(),
        };
        let around = form::Around {
            you,
            host: self.profile.name().to_owned(),
            game: name(|names| names.game),
            sides: [name(|names| names.first), name(|names| names.second)],
            rule: games::preset_name(&room.record().setup),
            result: room.record().result.map(|result| result_words(result, room.game())),
        };
        form::room(&self.shown(room, viewer), &around)
    }
}

/// A chat message as JSON for the guest of this side.
fn written(said: &Said, side: Side, host: &str) -> String {
    let name = if said.by.is_none() { host } else { &said.name };
    form::said(said.number, said.by == Some(side), name, said.phrase, &said.text)
}

/// The result as a sentence.
fn result_words(result: MatchResult, game: &AnyGame) -> Words {
    let say = |language: Language| {
        let names = game.kind().names(language);
        let colour = |side: Side| names.side(game.color(side));
        match (result, language) {
            (MatchResult::Played(outcome), language) => outcome.words_in(game, language),
            (MatchResult::Resigned(side), Language::Chinese) => {
                format!("{}胜：{}认输。", colour(side.other()), colour(side))
            }
            (MatchResult::Resigned(side), Language::English) => {
                format!("{} wins: {} resigned.", colour(side.other()), colour(side))
            }
            (MatchResult::TimedOut(side), Language::Chinese) => {
                format!("{}胜：{}超时。", colour(side.other()), colour(side))
            }
            (MatchResult::TimedOut(side), Language::English) => {
                format!("{} wins: {} ran out of time.", colour(side.other()), colour(side))
            }
            (MatchResult::DrawAgreed, Language::Chinese) => "和棋：双方同意。".into(),
            (MatchResult::DrawAgreed, Language::English) => "A draw: both agreed.".into(),
        }
    };
    Words { zh: say(Language::Chinese), en: say(Language::English) }
}

/// Why a message of a page was not executed.
struct Not {
    word: String,
    words: Words,
    points: Vec<u32>,
}

impl Not {
    fn new(word: &str, zh: &str, en: &str) -> Self {
        Self { word: word.into(), words: Words { zh: zh.into(), en: en.into() }, points: Vec::new() }
    }

    fn busy() -> Self {
        Self::new("busy", "请稍等。", "Wait a moment.")
    }

    fn written(&self, number: u64) -> String {
        form::refused(number, &self.word, &self.words, &self.points)
    }
}

impl From<Refusal> for Not {
    fn from(refusal: Refusal) -> Self {
        let word = refusal.code.as_str_name().trim_start_matches("REFUSAL_").to_lowercase();
        let words = refusal.reason.unwrap_or_else(|| refusal_words(refusal.code));
        let points = refusal.points.into_iter().map(wire::point).collect();
        Self { word, words, points }
    }
}

/// The sentence for a refusal that is not by the rules of the game.
fn refusal_words(code: RefusalCode) -> Words {
    let (zh, en) = match code {
        RefusalCode::RefusalNotYourTurn => ("还没轮到你。", "It is not your turn."),
        RefusalCode::RefusalGameOver => ("对局已经结束。", "The game is over."),
        RefusalCode::RefusalNothingToTakeBack => ("没有可悔的棋。", "There is no move to undo."),
        RefusalCode::RefusalNoOffer => ("对方没有提议。", "Nothing is offered."),
        RefusalCode::RefusalBusy => ("请先回答对方的提议。", "Answer the other's offer first."),
        RefusalCode::RefusalDisk => ("主人的设备无法保存。", "The host's device could not save this."),
        RefusalCode::RefusalLinkLost => ("对方不在，棋局等着。", "The other player is away: the game waits."),
        RefusalCode::RefusalPaused => ("对局暂停中。", "The game is paused."),
        RefusalCode::RefusalTime => ("时间到了。", "The time is over."),
        RefusalCode::RefusalStopped => ("已取消。", "Cancelled."),
        _ => ("现在不能这样做。", "That is not possible now."),
    };
    Words { zh: zh.into(), en: en.into() }
}
