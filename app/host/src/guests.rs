//! The department of guests: people with a browser, each in one seat of one room, watching it, or looking at a club evening. Owns
//! codes, pages, what is said to them and the network that is made for them; what else is to be done is returned as
//! [`GuestEffect`]s. `docs/guest.md` describes the protocol.

mod asked;
mod hotspot;
mod spectators;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use engine::Side;
use guest::{Codes, ConnectionId, Effect, Outbox, Place, Rate, Role, Server, ServerConfig, Token, Why, form};
use link::friend_code::Qr;
use proto::control::{self, RefusalCode, Words, event};
use proto::limits;
use proto::peer::Phrase;
use session::{MatchId, Saying};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::{debug, info};

use crate::config::{GuestConfig, HostConfig};
use crate::desktop::{AccessPointNews, BeforeFile, Bus, return_after_crash};
use crate::refusal::Refusal;
use crate::room::{Room, Seat, parse_match_name};
use crate::show;
use hotspot::Hotspot;
use spectators::Spectators;

pub(crate) use asked::{Asked, Deed, Not, decide, result_words};
pub(crate) use hotspot::Start as HotspotStart;

/// Number of chat messages that a reconnecting guest is sent again.
const SAID: usize = 8;

/// Rate limit of chat messages per side, as for a peer: this many at once, then (below) per second.
const SAY_AT_ONCE: u32 = 8;
const SAY_A_SECOND: f64 = 0.8;

/// Rate limit of expensive requests (positions, files, rules) of all guests together.
const READ_AT_ONCE: u32 = 20;
const READ_A_SECOND: f64 = 20.0;

type Rooms = BTreeMap<MatchId, Room>;

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
    spectators: Spectators,
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

/// What the host has to do after a change among guests.
#[derive(Debug, PartialEq)]
pub(crate) enum GuestEffect {
    /// Clients are told.
    Tell(Box<event::Body>),
    /// A guest has come to a seat of this room, or has left it.
    RoomChanged(MatchId),
    /// This page was let in and waits to be shown its room.
    Welcome(ConnectionId),
    /// Spectators are shown this room.
    ShowSpectators(MatchId),
}

impl GuestEffect {
    fn tell(body: event::Body) -> Self {
        Self::Tell(Box::new(body))
    }
}

impl Guests {
    pub(crate) fn new(config: &HostConfig) -> Self {
        Self::of(config.guests.clone(), Self::before(config))
    }

    fn of(config: Option<GuestConfig>, before: BeforeFile) -> Self {
        Self {
            config,
            codes: Codes::default(),
            server: None,
            pages: BTreeMap::new(),
            said: BTreeMap::new(),
            last_said: 0,
            says_here: Rate::new(SAY_AT_ONCE, SAY_A_SECOND),
            reads: Rate::new(READ_AT_ONCE, READ_A_SECOND),
            spectators: Spectators::default(),
            hotspot: Hotspot::new(before),
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

    /// The TCP port on which browsers are awaited, and whether it is the same after a restart. `None`: nobody is awaited.
    pub(crate) fn port(&self) -> Option<(u16, bool)> {
        let is_fixed = self.config.as_ref().is_some_and(|config| config.port != 0);
        self.server.as_ref().map(|server| (server.port(), is_fixed))
    }

    pub(crate) fn is_present(&self, id: MatchId, side: Side) -> bool {
        self.codes.is_present(&seat_of(id, side))
    }

    /// Whether the match waits for a guest who is not connected.
    pub(crate) fn keep_waiting(&self, room: &Room) -> bool {
        let is_absent =
            |side: &Side| matches!(room.seat(*side), Seat::Guest(_)) && !self.is_present(room.id(), *side);
        Side::BOTH.iter().any(is_absent)
    }

    /// All codes and the network, for clients.
    pub(crate) fn events(&self, rooms: &Rooms) -> Vec<event::Body> {
        let guests = self.codes.places().filter_map(|place| self.shown(place, rooms));
        let hotspot = Some(self.hotspot.shown()).filter(|shown| *shown != control::Hotspot::default());
        guests.map(event::Body::Guest).chain(hotspot.map(event::Body::Hotspot)).collect()
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        let codes = self.codes.due().map(Instant::from_std);
        codes.into_iter().chain(self.spectators.deadline()).chain(self.hotspot.deadline()).min()
    }

    pub(crate) fn on_time(&mut self, rooms: &Rooms) -> Vec<GuestEffect> {
        let effects = self.codes.on_time(now());
        let mut effects = self.done(effects, rooms);
        effects.extend(self.spectators.take_due(Instant::now()).into_iter().map(GuestEffect::ShowSpectators));
        if self.hotspot.deadline().is_some_and(|at| at <= Instant::now()) {
            info!("nobody uses the access point");
            effects.extend(self.end_hotspot());
        }
        effects
    }

    /// Disconnects all guests, because the host stops.
    pub(crate) fn stop(&mut self, rooms: &Rooms) -> Vec<GuestEffect> {
        let effects = self.codes.stop();
        let effects = self.done(effects, rooms);
        self.pages.clear();
        self.server = None;
        self.hotspot.stop();
        effects
    }

    /// Does what concerns pages alone, and returns the rest.
    fn done(&mut self, effects: Vec<Effect>, rooms: &Rooms) -> Vec<GuestEffect> {
        let mut rest = Vec::new();
        for effect in effects {
            match effect {
                Effect::Welcome(connection) => rest.push(GuestEffect::Welcome(connection)),
                Effect::Taken(connection, wait) => self.send(connection, form::taken(wait)),
                Effect::Close(connection, why, wait) => self.close_page(connection, why, wait),
                Effect::Changed(place) => {
                    rest.extend(self.told(&place, rooms));
                    if let (Some((id, _)), Role::Seat(_)) = (room_and_side(&place), place.role)
                        && rooms.contains_key(&id)
                    {
                        rest.push(GuestEffect::RoomChanged(id));
                    }
                }
            }
        }
        rest
    }

    /// The state of a seat's code is told to clients, if it has one.
    pub(crate) fn told_seat(&self, id: MatchId, side: Side, rooms: &Rooms) -> Option<GuestEffect> {
        self.told(&seat_of(id, side), rooms)
    }

    fn told(&self, place: &Place, rooms: &Rooms) -> Option<GuestEffect> {
        self.shown(place, rooms).map(|shown| GuestEffect::tell(event::Body::Guest(shown)))
    }

    /// The state of a code for clients; `None` if the place has no active code.
    fn shown(&self, place: &Place, rooms: &Rooms) -> Option<control::Guest> {
        if !self.codes.shows(place) {
            return None;
        }
        let here = self.codes.at(place).count() as u32;
        if place.role == Role::Evening {
            let (club_id, came) = (place.room.clone(), self.codes.came(place));
            return Some(control::Guest { club_id, watchers: here, came, ..Default::default() });
        }
        let (id, side) = room_and_side(place)?;
        let room = rooms.get(&id)?;
        let name = match side.map(|side| room.seat(side)) {
            Some(Seat::Guest(name)) => name.clone(),
            _ => String::new(),
        };
        Some(control::Guest {
            room_id: place.room.clone(),
            club_id: String::new(),
            side: side_number(side),
            name,
            present: side.is_some() && here > 0,
            asks: self.codes.asks(place),
            watchers: if side.is_none() { here } else { 0 },
            came: self.codes.came(place),
        })
    }
}

// Codes.
impl Guests {
    /// Why no code can be shown here, if so.
    pub(crate) fn may_come(&self) -> Result<(), Refusal> {
        if self.config.is_none() {
            let [zh, en] = ["这里不能用网页来下棋。", "Nobody can come by a browser here."];
            return Err(no_code(
                RefusalCode::RefusalBadRequest,
                zh,
                en,
                "this host was started without guests",
            ));
        }
        Ok(())
    }

    /// Why no code can be shown for this room, if so.
    pub(crate) fn may_show(&self, room: &Room) -> Result<(), Refusal> {
        self.may_come()?;
        let board = show::board(room.game(), true);
        if board.columns.max(board.rows) > guest::BOARD_SIDE {
            let [zh, en] = ["棋盘太大，网页上放不下。", "This board is too large for a browser."];
            return Err(no_code(RefusalCode::RefusalBadRequest, zh, en, en));
        }
        Ok(())
    }

    /// Begins to listen, unless it does.
    pub(crate) fn listen(
        &mut self,
        tasks: &mut JoinSet<()>,
        tell: impl Fn(guest::News) + Send + Sync + 'static,
    ) -> Result<(), Refusal> {
        let Some(config) = self.config.as_ref().filter(|_| self.server.is_none()) else { return Ok(()) };
        let GuestConfig { port, loopback, times, .. } = *config;
        let server = Server::start(ServerConfig { port, loopback, times }, tasks, Arc::new(tell));
        self.server = Some(server.map_err(|error| no_network(&format!("nobody can be let in: {error}")))?);
        Ok(())
    }

    /// Shows a code of this place, or the one that is shown already unless `renew`. `bits`: random ones, for a new code.
    pub(crate) fn show_code(
        &mut self,
        place: &Place,
        renew: bool,
        bits: [u8; 16],
        rooms: &Rooms,
    ) -> Result<(control::GuestCode, Vec<GuestEffect>), Refusal> {
        let mut authorities = self.server.as_ref().map(Server::authorities).unwrap_or_default();
        // Whoever joins the network of this device reaches it by that address only.
        if let Some(address) = self.hotspot.address() {
            authorities.sort_by_key(|one| !one.starts_with(&format!("{address}:")));
        }
        let Some((best, others)) = authorities.split_first() else {
            // Existing codes wait for a network.
            if !self.codes.is_open() {
                self.server = None;
            }
            return Err(no_network("this device is in no network that a browser could reach it by"));
        };
        let mut effects = Vec::new();
        if renew {
            let closed = self.codes.close(place);
            effects = self.done(closed, rooms);
        }
        let token = self.codes.show(place.clone(), Token::new(bits));
        info!(room = place.room, role = ?place.role, "a code for a guest is shown");
        self.hotspot.set_used(true, Instant::now());
        effects.extend(self.told(place, rooms));
        let url = |authority: &String| format!("http://{authority}/#{token}");
        let qr = Qr::of(&url(best));
        let code = control::GuestCode {
            url: url(best),
            others: others.iter().take(limits::GUEST_ADDRESSES).map(url).collect(),
            side: qr.side as u32,
            dark: qr.packed().into(),
            seat: side_number(room_and_side(place).and_then(|(_, side)| side)),
        };
        Ok((code, effects))
    }

    /// Answers who asks for this seat; `None`: nobody does.
    pub(crate) fn answer(&mut self, place: &Place, accept: bool, rooms: &Rooms) -> Option<Vec<GuestEffect>> {
        let effects = self.codes.answer(now(), place, accept)?;
        Some(self.done(effects, rooms))
    }

    pub(crate) fn shows(&self, place: &Place) -> bool {
        self.codes.shows(place)
    }

    /// Closes the code of this place; with the last one everything that listens.
    pub(crate) fn close(&mut self, place: &Place, rooms: &Rooms) -> Vec<GuestEffect> {
        let effects = self.codes.close(place);
        let mut effects = self.done(effects, rooms);
        if place.role == Role::Evening {
            let gone = control::GuestGone { club_id: place.room.clone(), ..Default::default() };
            effects.push(GuestEffect::tell(event::Body::GuestGone(gone)));
        } else if let Some((_, side)) = room_and_side(place) {
            effects.push(gone(&place.room, side));
        }
        if !self.codes.is_open() {
            self.server = None;
            self.said.clear();
            effects.extend(self.end_hotspot());
        }
        effects
    }

    /// Closes the codes of a closed room.
    pub(crate) fn leave(&mut self, id: MatchId, rooms: &Rooms) -> Vec<GuestEffect> {
        let name = id.to_string();
        let places: Vec<Place> = self.codes.places().filter(|place| place.room == name).cloned().collect();
        let effects = places.iter().flat_map(|place| self.close(place, rooms)).collect();
        self.said.remove(&id);
        effects
    }

    /// Closes the codes of seats that are no longer guest seats.
    pub(crate) fn seats_changed(&mut self, id: MatchId, rooms: &Rooms) -> Vec<GuestEffect> {
        let is_guest = |side| rooms.get(&id).is_some_and(|room| matches!(room.seat(side), Seat::Guest(_)));
        let places: Vec<Place> = Side::BOTH
            .into_iter()
            .filter(|side| !is_guest(*side))
            .map(|side| seat_of(id, side))
            .filter(|place| self.codes.shows(place))
            .collect();
        places.iter().flat_map(|place| self.close(place, rooms)).collect()
    }

    /// Moves the codes of a room to its next match.
    pub(crate) fn follow(
        &mut self,
        from: MatchId,
        to: MatchId,
        swaps: bool,
        rooms: &Rooms,
    ) -> Vec<GuestEffect> {
        let there = |side: Side| if swaps { side.other() } else { side };
        let moves = [
            (watchers_of(from), watchers_of(to), None),
            (seat_of(from, Side::First), seat_of(to, there(Side::First)), Some(Side::First)),
            (seat_of(from, Side::Second), seat_of(to, there(Side::Second)), Some(Side::Second)),
        ];
        for (old, new, _) in &moves {
            self.codes.move_to(old, new.clone());
        }
        if let Some(mut said) = self.said.remove(&from) {
            for one in said.iter_mut().filter(|_| swaps) {
                one.by = one.by.map(Side::other);
            }
            self.said.insert(to, said);
        }
        let mut effects = Vec::new();
        for (old, new, side) in moves {
            if self.codes.shows(&new) {
                effects.push(gone(&old.room, side));
                effects.extend(self.told(&new, rooms));
            }
        }
        effects
    }
}

// Pages.
impl Guests {
    /// Sends a message to one page. A guest that reads too slowly is disconnected and gets the present state when it
    /// reconnects; a spectator only misses the message.
    pub(crate) fn send(&self, connection: ConnectionId, message: impl Into<Arc<str>>) {
        let Some(page) = self.pages.get(&connection) else { return };
        let watches = self.codes.place_of(connection).is_some_and(|place| !place.role.is_seat());
        if !page.outbox.send(message) && !watches {
            page.outbox.close(Why::TooSlow, Duration::ZERO);
        }
    }

    pub(crate) fn close_page(&mut self, connection: ConnectionId, why: Why, wait: Duration) {
        debug!(connection, ?why, "a page is closed");
        if let Some(page) = self.pages.remove(&connection) {
            page.outbox.close(why, wait);
        }
    }

    pub(crate) fn hello(
        &mut self,
        connection: ConnectionId,
        from: std::net::IpAddr,
        hello: &guest::Hello,
        outbox: Outbox,
        rooms: &Rooms,
    ) -> Vec<GuestEffect> {
        let says = Rate::new(SAY_AT_ONCE, SAY_A_SECOND);
        let page = Page { outbox, name: limits::fit_name(&hello.name), says };
        self.pages.insert(connection, page);
        let effects = self.codes.hello(now(), connection, from, hello);
        self.done(effects, rooms)
    }

    pub(crate) fn gone(&mut self, connection: ConnectionId, rooms: &Rooms) -> Vec<GuestEffect> {
        self.pages.remove(&connection);
        let effects = self.codes.gone(connection);
        self.done(effects, rooms)
    }

    /// The place of a page that was let in: role, room and side, and the name from its hello.
    pub(crate) fn place_of(&self, connection: ConnectionId) -> Option<(Role, MatchId, Option<Side>, String)> {
        let place = self.codes.place_of(connection)?;
        let (id, side) = room_and_side(place)?;
        let name = self.pages.get(&connection).map_or_else(String::new, |page| page.name.clone());
        Some((place.role, id, side, name))
    }

    /// Whether the room has any page to be shown to.
    pub(crate) fn roles_in(&self, id: MatchId) -> Vec<Role> {
        let mut roles: Vec<Role> = self.codes.in_room(&id.to_string()).map(|(place, _)| place.role).collect();
        roles.sort();
        roles.dedup();
        roles
    }

    /// The room is to be shown to its spectators: soon, with what else changes until then.
    pub(crate) fn show_spectators_soon(&mut self, id: MatchId) {
        self.spectators.room_changed(id, Instant::now());
    }

    /// Whether spectators have not seen all of this room; they are shown it now, because their pages may be closed next.
    pub(crate) fn take_unseen(&mut self, id: MatchId) -> bool {
        self.spectators.take(id)
    }

    /// As [`take_unseen`](Self::take_unseen), for all rooms.
    pub(crate) fn take_all_unseen(&mut self) -> Vec<MatchId> {
        self.spectators.take_all()
    }

    /// Shows the room as it is for this role to all pages of the role.
    pub(crate) fn show_room(&self, id: MatchId, role: Role, text: &Arc<str>) {
        for (_, connection) in self.codes.in_room(&id.to_string()).filter(|(place, _)| place.role == role) {
            let Some(page) = self.pages.get(&connection) else { continue };
            match role {
                Role::Watcher | Role::Evening => {
                    page.outbox.show_later(text.clone(), spectators::turn(connection));
                }
                Role::Seat(_) => page.outbox.show(text.clone()),
            }
        }
    }

    /// Shows a page that was let in its room, or its evening, at once.
    pub(crate) fn show_to(&self, connection: ConnectionId, shown: String) {
        if let Some(page) = self.pages.get(&connection) {
            page.outbox.show(shown.into());
        }
    }

    /// The number of the evening that this page looks at, if it does.
    pub(crate) fn evening_of(&self, connection: ConnectionId) -> Option<u32> {
        let place = self.codes.place_of(connection).filter(|place| place.role == Role::Evening)?;
        place.room.parse().ok()
    }

    /// Shows the evening of this number to all pages that look at it. A slow one gets only the latest state.
    pub(crate) fn show_evening(&self, number: u32, text: &Arc<str>) {
        for connection in self.codes.at(&evening_place(number)) {
            if let Some(page) = self.pages.get(&connection) {
                page.outbox.show_later(text.clone(), spectators::turn(connection));
            }
        }
    }

    /// The token of a seat's code while nobody is at the seat.
    pub(crate) fn free_seat(&self, id: MatchId, side: Side) -> Option<Token> {
        let place = seat_of(id, side);
        self.codes.token(&place).filter(|_| !self.codes.is_present(&place))
    }

    /// Sends a message to all pages of these rooms.
    pub(crate) fn send_to_rooms(&self, rooms: impl Iterator<Item = MatchId>, text: &Arc<str>) {
        for id in rooms {
            for (_, connection) in self.codes.in_room(&id.to_string()) {
                self.send(connection, text.clone());
            }
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.codes.is_open()
    }
}

// Chat.
impl Guests {
    /// Whether this device's user may say this to the guests of this room now.
    pub(crate) fn may_hear(&mut self, id: MatchId, saying: &Saying) -> Result<(), Refusal> {
        if let Saying::Phrase(Phrase::Unspecified) = saying {
            return Err(bad("a phrase or a text"));
        }
        if !Side::BOTH.into_iter().any(|side| self.is_present(id, side)) {
            return Err(Refusal::new(RefusalCode::RefusalLinkLost, "the guest is away"));
        }
        if !self.says_here.may(now()) {
            return Err(Refusal::new(RefusalCode::RefusalBusy, "that was too fast"));
        }
        Ok(())
    }

    /// Sends a chat message to the guests of this room, and keeps it for those who come back. `by`: the guest who says it, `None`
    /// for this device's user, whose name is `host`.
    pub(crate) fn say(&mut self, id: MatchId, by: Option<Side>, name: String, saying: &Saying, host: &str) {
        let (phrase, text) = match saying {
            Saying::Phrase(phrase) => (*phrase, String::new()),
            Saying::Text(text) => (Phrase::Unspecified, text.clone()),
        };
        self.last_said += 1;
        let said = Said { number: self.last_said, by, name, phrase, text };
        for side in Side::BOTH {
            for connection in self.codes.at(&seat_of(id, side)) {
                self.send(connection, written(&said, side, host));
            }
        }
        let words = self.said.entry(id).or_default();
        if words.len() == SAID {
            words.pop_front();
        }
        words.push_back(said);
    }

    /// Sends the last chat messages of the room to the guest of this side.
    pub(crate) fn say_again(&self, connection: ConnectionId, id: MatchId, side: Side, host: &str) {
        for said in self.said.get(&id).into_iter().flatten() {
            self.send(connection, written(said, side, host));
        }
    }
}

// The network for guests.
impl Guests {
    /// Begins to make a network, with a name and a passphrase from random bytes. `None`: there is one.
    pub(crate) fn start_hotspot(&mut self, random: [u8; 16]) -> Result<Option<(Bus, HotspotStart)>, Refusal> {
        let Some(bus) = self.config.as_ref().and_then(|config| config.network_manager.clone()) else {
            let [zh, en] = ["这里不能开热点。", "No Wi-Fi can be made here."];
            return Err(no_code(RefusalCode::RefusalBadRequest, zh, en, "this host was started without"));
        };
        Ok(self.hotspot.start(random).map(|start| (bus, start)))
    }

    pub(crate) fn end_hotspot(&mut self) -> Option<GuestEffect> {
        self.hotspot.stop().then(|| self.told_hotspot())
    }

    pub(crate) fn on_hotspot_news(&mut self, ticket: u64, news: AccessPointNews) -> Option<GuestEffect> {
        self.hotspot.on_news(ticket, news, Instant::now()).then(|| {
            self.hotspot.set_used(self.codes.is_open(), Instant::now());
            self.told_hotspot()
        })
    }

    pub(crate) fn told_hotspot(&self) -> GuestEffect {
        GuestEffect::tell(event::Body::Hotspot(self.hotspot.shown()))
    }
}

fn now() -> std::time::Instant {
    Instant::now().into_std()
}

fn seat_of(room: MatchId, side: Side) -> Place {
    Place { room: room.to_string(), role: Role::Seat(show::side(side)) }
}

fn watchers_of(room: MatchId) -> Place {
    Place { room: room.to_string(), role: Role::Watcher }
}

/// The place of those who look at the evening of this number.
pub(crate) fn evening_place(number: u32) -> Place {
    Place { room: number.to_string(), role: Role::Evening }
}

/// The room of a place, and the side of its seat, `None` for spectators; an evening is no room.
fn room_and_side(place: &Place) -> Option<(MatchId, Option<Side>)> {
    let side = match place.role {
        Role::Evening => return None,
        Role::Watcher => None,
        Role::Seat(side) => Some(show::parse_side(side.into())?),
    };
    Some((parse_match_name(&place.room)?, side))
}

fn side_number(side: Option<Side>) -> i32 {
    side.map_or(proto::board::Side::Unspecified, show::side).into()
}

fn gone(room: &str, side: Option<Side>) -> GuestEffect {
    GuestEffect::tell(event::Body::GuestGone(control::GuestGone {
        room_id: room.to_owned(),
        side: side_number(side),
        club_id: String::new(),
    }))
}

/// The guest's seat of which a client wants a code: that of this side; without one, the first in which nobody is, so that two guests
/// get theirs in turn.
pub(crate) fn place_shown(
    room: &Room,
    side: i32,
    watch: bool,
    is_present: impl Fn(Side) -> bool,
) -> Result<Place, Refusal> {
    let waits = |side: &Side| matches!(room.seat(*side), Seat::Guest(_)) && !is_present(*side);
    match Side::BOTH.into_iter().find(waits) {
        Some(waiting) if !watch && show::parse_side(side).is_none() => Ok(seat_of(room.id(), waiting)),
        _ => place_meant(room, side, watch),
    }
}

/// The place that a client means: the guest's seat of this side, or the only one; or the spectators.
pub(crate) fn place_meant(room: &Room, side: i32, watch: bool) -> Result<Place, Refusal> {
    if watch {
        return Ok(watchers_of(room.id()));
    }
    let is_guest = |side: &Side| matches!(room.seat(*side), Seat::Guest(_));
    let seats: Vec<Side> = Side::BOTH.into_iter().filter(is_guest).collect();
    match (show::parse_side(side), seats.as_slice()) {
        (Some(side), seats) if seats.contains(&side) => Ok(seat_of(room.id(), side)),
        (None, [side]) => Ok(seat_of(room.id(), *side)),
        (_, []) => Err(bad("no seat of this room is a guest's")),
        _ => Err(bad("say which side is the guest's")),
    }
}

/// A chat message as JSON for the guest of this side.
fn written(said: &Said, side: Side, host: &str) -> String {
    let name = if said.by.is_none() { host } else { &said.name };
    form::said(said.number, said.by == Some(side), name, said.phrase, &said.text)
}

/// The error that no code can be shown: Chinese and English text for the user, and a detail for logs.
fn no_code(code: RefusalCode, zh: &str, en: &str, detail: &str) -> Refusal {
    Refusal { reason: Some(Words { zh: zh.into(), en: en.into() }), ..Refusal::new(code, detail) }
}

fn no_network(why: &str) -> Refusal {
    let [zh, en] = [
        "这台设备没有连上网络。先连上 Wi-Fi，再试一次。",
        "This device is in no network. Connect it to a Wi-Fi, then try again.",
    ];
    no_code(RefusalCode::RefusalRadio, zh, en, why)
}

fn bad(why: &str) -> Refusal {
    Refusal::new(RefusalCode::RefusalBadRequest, why)
}
