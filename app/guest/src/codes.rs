//! Codes, the browsers that hold seats by them, and the browsers that wait for a taken seat. A state machine without I/O.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use proto::board::Side;

use crate::{ConnectionId, Hello, Message, Token, VERSION};

/// Wrong tokens that an address may send before it is locked out: a person who types the address by hand mistypes once or
/// twice.
const WRONG_TOKENS: u32 = 5;

/// Duration of the lockout after [`WRONG_TOKENS`].
const WAIT: Duration = Duration::from_mins(1);

/// Time for which a browser waits for a taken seat.
const ASKED: Duration = Duration::from_mins(2);

/// Maximum number of browsers that wait for one seat.
const WAITING: usize = 4;

/// Time for which the host's user is not asked again about an address to which they said no.
const REST: Duration = ASKED;

/// Time between two questions about one seat, whoever asks.
const BETWEEN: Duration = Duration::from_secs(10);

/// Number of addresses per code whose rest is remembered.
const DECLINED: usize = 64;

/// Maximum number of spectators, in all rooms together and (below) per address. A seat's holder needs none of these places.
const WATCHERS: usize = 32;
const WATCHERS_OF_ONE: usize = 10;

/// Number of closed codes that are remembered, so that their pages are told that the code was closed.
const CLOSED: usize = 64;

/// Number of addresses whose wrong tokens are counted: as many as a small network has.
const ADDRESSES: usize = 256;

/// What a code gives access to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The seat of this side.
    Seat(Side),
    /// Watching.
    Watcher,
    /// Looking at a club evening.
    Evening,
}

impl Role {
    /// Whether whoever comes acts; otherwise they only look, as one of at most 32.
    pub const fn is_seat(self) -> bool {
        matches!(self, Self::Seat(_))
    }
}

/// What one code gives access to: a seat of a room, watching the room, or looking at a club evening.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The id of the room, or of the evening.
    pub room: String,
    /// The kind of access.
    pub role: Role,
}

/// Why the host closes a connection. The words on the wire are in `docs/guest.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The token is unknown.
    WrongCode,
    /// Too many wrong tokens came from this address.
    Wait,
    /// The code was closed.
    CodeClosed,
    /// Somebody else holds the seat, and the host's user did not give it away.
    SeatTaken,
    /// The host's user gave the seat to somebody else.
    Given,
    /// The same browser has connected again.
    Replaced,
    /// As many as possible are watching, here or at this address.
    Full,
    /// The page speaks a version that this host does not support.
    TooOld,
    /// No hello came in time.
    NoHello,
    /// A message violates the protocol.
    BadMessage,
    /// The page sent too many messages.
    TooFast,
    /// The page does not read fast enough.
    TooSlow,
    /// The host stops.
    HostStopping,
}

/// What the host must do for a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The connection is admitted to its place.
    Welcome(ConnectionId),
    /// The seat is taken: the connection waits this long for a decision of the host's user.
    Taken(ConnectionId, Duration),
    /// Close the connection; the page may connect again after this time.
    Close(ConnectionId, Why, Duration),
    /// The presence at this place has changed.
    Changed(Place),
}

/// Why a message is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// A first message that is no hello, a second hello, or a message while waiting for a seat.
    BadMessage,
    /// The message names another room.
    OtherRoom,
    /// A spectator may only read.
    Watching,
}

/// The active codes and their connections.
#[derive(Default)]
pub struct Codes {
    by_place: BTreeMap<Place, Code>,
    closed: Vec<Token>,
    wrong: BTreeMap<IpAddr, Wrong>,
}

struct Code {
    token: Token,
    /// The browser that holds the seat, connected or not; `None` for a code of spectators or of an evening.
    holder: Option<Holder>,
    waiting: Vec<Waiting>,
    /// When the last of them came, unless its question was answered with yes.
    asked: Option<Instant>,
    /// Addresses to which the host's user said no, oldest first, with the end of their rest.
    declined: Vec<(IpAddr, Instant)>,
    watchers: Vec<Watcher>,
    came: bool,
}

struct Holder {
    tab: String,
    connection: Option<ConnectionId>,
    /// The largest id so far of the messages that must not be executed twice.
    last: u64,
}

struct Watcher {
    connection: ConnectionId,
    from: IpAddr,
}

struct Waiting {
    tab: String,
    connection: ConnectionId,
    from: IpAddr,
    until: Instant,
}

#[derive(Clone, Copy)]
struct Wrong {
    count: u32,
    last: Instant,
}

/// Methods for codes.
impl Codes {
    /// The token of the active code of this place; if there is none, `token` becomes the token of a new code.
    pub fn show(&mut self, place: Place, token: Token) -> Token {
        let new = || Code {
            token,
            holder: None,
            waiting: Vec::new(),
            asked: None,
            declined: Vec::new(),
            watchers: Vec::new(),
            came: false,
        };
        self.by_place.entry(place).or_insert_with(new).token
    }

    /// Whether any code is active.
    pub fn is_open(&self) -> bool {
        !self.by_place.is_empty()
    }

    /// The places that have an active code.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.by_place.keys()
    }

    /// Whether this place has an active code.
    pub fn shows(&self, place: &Place) -> bool {
        self.by_place.contains_key(place)
    }

    /// The token of the active code of this place.
    pub fn token(&self, place: &Place) -> Option<Token> {
        self.by_place.get(place).map(|code| code.token)
    }

    /// Closes a code and every connection that used it.
    pub fn close(&mut self, place: &Place) -> Vec<Effect> {
        let Some(code) = self.by_place.remove(place) else { return Vec::new() };
        if self.closed.len() == CLOSED {
            self.closed.remove(0);
        }
        self.closed.push(code.token);
        code.everybody().map(|one| Effect::Close(one, Why::CodeClosed, Duration::ZERO)).collect()
    }

    /// Moves a code with its connections to another place: to the next match of a room.
    pub fn move_to(&mut self, from: &Place, to: Place) {
        if let Some(code) = self.by_place.remove(from) {
            self.by_place.insert(to, code);
        }
    }

    /// Closes every connection and every code.
    pub fn stop(&mut self) -> Vec<Effect> {
        let all = std::mem::take(&mut self.by_place);
        all.values()
            .flat_map(Code::everybody)
            .map(|one| Effect::Close(one, Why::HostStopping, Duration::ZERO))
            .collect()
    }
}

/// Methods for connections.
impl Codes {
    /// Handles the first message of a connection.
    pub fn hello(
        &mut self,
        now: Instant,
        connection: ConnectionId,
        from: IpAddr,
        hello: &Hello,
    ) -> Vec<Effect> {
        let close = |why, wait| vec![Effect::Close(connection, why, wait)];
        if self.place_of(connection).is_some() || self.waits(connection) {
            return close(Why::BadMessage, Duration::ZERO);
        }
        if hello.version != VERSION {
            return close(Why::TooOld, Duration::ZERO);
        }
        if let Some(wait) = self.has_to_wait(now, from) {
            return close(Why::Wait, wait);
        }
        let token = Token::read(&hello.token);
        // Every code is compared, so that the time does not depend on which one matches.
        let fits = |code: &Token| token.is_some_and(|token| token.is(code));
        let place = self
            .by_place
            .iter()
            .fold(None, |found, (place, code)| if fits(&code.token) { Some(place.clone()) } else { found });
        let Some(place) = place else {
            if self.closed.iter().fold(false, |closed, one| closed | fits(one)) {
                return close(Why::CodeClosed, Duration::ZERO);
            }
            self.count_wrong(now, from);
            return match self.has_to_wait(now, from) {
                Some(wait) => close(Why::Wait, wait),
                None => close(Why::WrongCode, Duration::ZERO),
            };
        };
        let is_full = self.is_full_for(from);
        let code = self.by_place.get_mut(&place).expect("it was just found");
        code.came = true;
        if !place.role.is_seat() {
            if is_full {
                return close(Why::Full, Duration::ZERO);
            }
            code.watchers.push(Watcher { connection, from });
            return vec![Effect::Welcome(connection), Effect::Changed(place)];
        }
        match &mut code.holder {
            None => {
                code.holder = Some(Holder { tab: hello.tab.clone(), connection: Some(connection), last: 0 });
                vec![Effect::Welcome(connection), Effect::Changed(place)]
            }
            Some(holder) if holder.tab == hello.tab => {
                let before = holder.connection.replace(connection);
                let before = before.map(|before| Effect::Close(before, Why::Replaced, Duration::ZERO));
                before.into_iter().chain([Effect::Welcome(connection), Effect::Changed(place)]).collect()
            }
            Some(_) => {
                let mut effects = Vec::new();
                let again = code.waiting.iter().position(|one| one.tab == hello.tab);
                if let Some(rest) = code.rests(now, from, again.is_none()) {
                    return close(Why::SeatTaken, rest);
                }
                // A browser takes one place in the queue.
                if let Some(again) = again {
                    let before = code.waiting.remove(again);
                    effects.push(Effect::Close(before.connection, Why::Replaced, Duration::ZERO));
                } else if code.waiting.len() >= WAITING {
                    return close(Why::SeatTaken, Duration::ZERO);
                } else {
                    code.asked = Some(now);
                }
                let waiting = Waiting { tab: hello.tab.clone(), connection, from, until: now + ASKED };
                code.waiting.push(waiting);
                effects.extend([Effect::Taken(connection, ASKED), Effect::Changed(place)]);
                effects
            }
        }
    }

    /// The place where a message may be executed, or why not.
    pub fn admit(&self, connection: ConnectionId, message: &Message) -> Result<&Place, Denied> {
        let place = self.place_of(connection).ok_or(Denied::BadMessage)?;
        if matches!(message, Message::Hello(_)) {
            return Err(Denied::BadMessage);
        }
        // An evening is no room.
        if message.room().is_some_and(|room| room != place.room || place.role == Role::Evening) {
            return Err(Denied::OtherRoom);
        }
        if !place.role.is_seat() && !message.only_reads() {
            return Err(Denied::Watching);
        }
        Ok(place)
    }

    /// Whether the id of this message is larger than all earlier ones of the seat's holder; records it if so.
    pub fn is_new(&mut self, connection: ConnectionId, id: u64) -> bool {
        let holders = self.by_place.values_mut().filter_map(|code| code.holder.as_mut());
        let mut holders = holders.filter(|holder| holder.connection == Some(connection));
        holders.next().is_some_and(|holder| {
            let new = id > holder.last;
            holder.last = holder.last.max(id);
            new
        })
    }

    /// Handles the end of a connection.
    pub fn gone(&mut self, connection: ConnectionId) -> Vec<Effect> {
        let mut effects = Vec::new();
        for (place, code) in &mut self.by_place {
            let before = code.everybody().count();
            code.watchers.retain(|one| one.connection != connection);
            code.waiting.retain(|one| one.connection != connection);
            if let Some(holder) = &mut code.holder
                && holder.connection == Some(connection)
            {
                holder.connection = None;
            }
            if code.everybody().count() != before {
                effects.push(Effect::Changed(place.clone()));
            }
        }
        effects
    }

    /// Handles the decision of the host's user whether the first waiting browser gets the taken seat. `None`: nobody waits. A no
    /// is for all browsers of that address, for a while.
    pub fn answer(&mut self, now: Instant, place: &Place, accept: bool) -> Option<Vec<Effect>> {
        let code = self.by_place.get_mut(place)?;
        if code.waiting.is_empty() {
            return None;
        }
        let waiting = code.waiting.remove(0);
        let mut effects = Vec::new();
        if accept {
            let holder = Holder { tab: waiting.tab, connection: Some(waiting.connection), last: 0 };
            let before = code.holder.replace(holder).and_then(|before| before.connection);
            effects.extend(before.map(|before| Effect::Close(before, Why::Given, Duration::ZERO)));
            effects.push(Effect::Welcome(waiting.connection));
            code.asked = None;
        } else {
            let all = std::mem::take(&mut code.waiting).into_iter();
            let (same, others): (Vec<_>, Vec<_>) = all.partition(|one| one.from == waiting.from);
            code.waiting = others;
            code.decline(now, waiting.from);
            let closed = std::iter::once(waiting).chain(same);
            effects.extend(closed.map(|one| Effect::Close(one.connection, Why::SeatTaken, REST)));
        }
        effects.push(Effect::Changed(place.clone()));
        Some(effects)
    }

    /// The earliest time at which a waiting browser times out.
    pub fn due(&self) -> Option<Instant> {
        self.by_place.values().flat_map(|code| &code.waiting).map(|one| one.until).min()
    }

    /// Closes connections that have timed out.
    pub fn on_time(&mut self, now: Instant) -> Vec<Effect> {
        let mut effects = Vec::new();
        for (place, code) in &mut self.by_place {
            let over = |one: &Waiting| one.until <= now;
            let ended = code.waiting.iter().filter(|one| over(one));
            let before = effects.len();
            effects.extend(ended.map(|one| Effect::Close(one.connection, Why::SeatTaken, Duration::ZERO)));
            code.waiting.retain(|one| !over(one));
            if effects.len() > before {
                effects.push(Effect::Changed(place.clone()));
            }
        }
        effects
    }

    /// The place of this connection, once admitted.
    pub fn place_of(&self, connection: ConnectionId) -> Option<&Place> {
        let found = self.by_place.iter().find(|(_, code)| code.at_place().any(|one| one == connection));
        found.map(|(place, _)| place)
    }

    /// The connections at this place: that of the seat's holder, or those of all spectators.
    pub fn at(&self, place: &Place) -> impl Iterator<Item = ConnectionId> + '_ {
        self.by_place.get(place).into_iter().flat_map(Code::at_place)
    }

    /// All connections of this room, seats and spectators, with their places.
    pub fn in_room<'a>(&'a self, room: &'a str) -> impl Iterator<Item = (&'a Place, ConnectionId)> + 'a {
        let codes = self.by_place.iter().filter(move |(place, _)| place.room == room);
        codes.flat_map(|(place, code)| code.at_place().map(move |one| (place, one)))
    }

    /// Whether the holder of this seat is connected.
    pub fn is_present(&self, place: &Place) -> bool {
        self.at(place).next().is_some()
    }

    /// Whether a browser waits for this taken seat.
    pub fn asks(&self, place: &Place) -> bool {
        self.by_place.get(place).is_some_and(|code| !code.waiting.is_empty())
    }

    /// Whether the code of this place has ever been used.
    pub fn came(&self, place: &Place) -> bool {
        self.by_place.get(place).is_some_and(|code| code.came)
    }

    fn waits(&self, connection: ConnectionId) -> bool {
        self.by_place.values().any(|code| code.waiting.iter().any(|one| one.connection == connection))
    }

    /// Whether nobody more of this address may watch.
    fn is_full_for(&self, from: IpAddr) -> bool {
        let watchers = || self.by_place.values().flat_map(|code| &code.watchers);
        watchers().count() >= WATCHERS || watchers().filter(|one| one.from == from).count() >= WATCHERS_OF_ONE
    }

    fn has_to_wait(&self, now: Instant, from: IpAddr) -> Option<Duration> {
        let wrong = self.wrong.get(&from).filter(|wrong| wrong.count >= WRONG_TOKENS)?;
        let left = (wrong.last + WAIT).saturating_duration_since(now);
        (!left.is_zero()).then_some(left)
    }

    fn count_wrong(&mut self, now: Instant, from: IpAddr) {
        self.wrong.retain(|_, wrong| now.saturating_duration_since(wrong.last) < WAIT);
        if self.wrong.len() >= ADDRESSES && !self.wrong.contains_key(&from) {
            let oldest = self.wrong.iter().min_by_key(|(_, wrong)| wrong.last).map(|(address, _)| *address);
            oldest.and_then(|oldest| self.wrong.remove(&oldest));
        }
        let wrong = self.wrong.entry(from).or_insert(Wrong { count: 0, last: now });
        *wrong = Wrong { count: wrong.count + 1, last: now };
    }
}

impl Code {
    /// The time for which the host's user is not asked about this address; `is_new`: by a browser that does not wait yet.
    fn rests(&self, now: Instant, from: IpAddr, is_new: bool) -> Option<Duration> {
        let declined = self.declined.iter().filter(|(address, _)| *address == from).map(|(_, until)| *until);
        let asked = self.asked.filter(|_| is_new).map(|asked| asked + BETWEEN);
        let rest = declined.chain(asked).max()?.saturating_duration_since(now);
        (!rest.is_zero()).then_some(rest)
    }

    /// The host's user said no to this address.
    fn decline(&mut self, now: Instant, from: IpAddr) {
        self.declined.retain(|(address, until)| *until > now && *address != from);
        if self.declined.len() >= DECLINED {
            self.declined.remove(0);
        }
        self.declined.push((from, now + REST));
    }

    /// Admitted connections.
    fn at_place(&self) -> impl Iterator<Item = ConnectionId> + '_ {
        let holder = self.holder.as_ref().and_then(|holder| holder.connection);
        holder.into_iter().chain(self.watchers.iter().map(|one| one.connection))
    }

    /// Admitted and waiting connections.
    fn everybody(&self) -> impl Iterator<Item = ConnectionId> + '_ {
        self.at_place().chain(self.waiting.iter().map(|one| one.connection))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: [u8; 4] = [192, 168, 1, 20];

    struct World {
        codes: Codes,
        now: Instant,
        last: ConnectionId,
    }

    impl World {
        fn new() -> Self {
            Self { codes: Codes::default(), now: Instant::now(), last: 0 }
        }

        fn come_from(&mut self, from: [u8; 4], token: Token, tab: &str) -> (ConnectionId, Vec<Effect>) {
            self.last += 1;
            let hello =
                Hello { version: VERSION, token: token.to_string(), tab: tab.into(), name: String::new() };
            (self.last, self.codes.hello(self.now, self.last, from.into(), &hello))
        }

        fn come(&mut self, token: Token, tab: &str) -> (ConnectionId, Vec<Effect>) {
            self.come_from(HOME, token, tab)
        }

        /// The host's user answers who waits for the seat of room "a".
        fn answer(&mut self, accept: bool) -> Option<Vec<Effect>> {
            self.codes.answer(self.now, &seat("a"), accept)
        }
    }

    fn seat(room: &str) -> Place {
        Place { room: room.into(), role: Role::Seat(Side::Second) }
    }

    fn bench(room: &str) -> Place {
        Place { room: room.into(), role: Role::Watcher }
    }

    fn token(number: u8) -> Token {
        Token::new([number; 16])
    }

    fn welcome(one: ConnectionId, place: Place) -> Vec<Effect> {
        vec![Effect::Welcome(one), Effect::Changed(place)]
    }

    fn close(one: ConnectionId, why: Why) -> Effect {
        Effect::Close(one, why, Duration::ZERO)
    }

    #[test]
    fn a_guest_who_reloads_has_the_same_seat_and_the_page_before_is_closed() {
        let mut world = World::new();
        world.codes.show(seat("a"), token(1));
        let (first, effects) = world.come(token(1), "phone");
        assert_eq!(effects, welcome(first, seat("a")));
        let (second, effects) = world.come(token(1), "phone");
        let mut expected = vec![close(first, Why::Replaced)];
        expected.extend(welcome(second, seat("a")));
        assert_eq!(effects, expected);
        // The end of the replaced connection is reported late, and changes nothing.
        assert_eq!(world.codes.gone(first), []);
        assert!(world.codes.is_present(&seat("a")));
        assert_eq!(world.codes.gone(second), [Effect::Changed(seat("a"))]);
        assert!(!world.codes.is_present(&seat("a")));
        let (third, effects) = world.come(token(1), "phone");
        assert_eq!(effects, welcome(third, seat("a")));
    }

    #[test]
    fn a_second_person_with_the_same_code_waits_and_the_host_decides() {
        let mut world = World::new();
        world.codes.show(seat("a"), token(1));
        let (first, _) = world.come(token(1), "phone");
        let (other, effects) = world.come(token(1), "tablet");
        assert_eq!(effects, [Effect::Taken(other, ASKED), Effect::Changed(seat("a"))]);
        assert!(world.codes.asks(&seat("a")));
        assert!(world.codes.place_of(other).is_none(), "who waits is nowhere");
        let no = world.answer(false).expect("somebody waits");
        assert_eq!(no, [Effect::Close(other, Why::SeatTaken, REST), Effect::Changed(seat("a"))]);
        assert_eq!(world.answer(true), None, "nobody waits any more");
        world.now += REST;
        let (other, _) = world.come(token(1), "tablet");
        let yes = world.answer(true).expect("somebody waits");
        assert_eq!(yes, [close(first, Why::Given), Effect::Welcome(other), Effect::Changed(seat("a"))]);
        let (back, effects) = world.come(token(1), "phone");
        assert_eq!(effects[0], Effect::Taken(back, ASKED), "the seat is the tablet's now");
    }

    #[test]
    fn a_no_closes_all_browsers_of_the_address_and_it_is_not_asked_about_for_a_while_but_others_are() {
        const NEIGHBOUR: [u8; 4] = [192, 168, 1, 21];
        let mut world = World::new();
        world.codes.show(seat("a"), token(1));
        let (holder, _) = world.come(token(1), "phone");
        let come = |world: &mut World, from: [u8; 4], tab: &str| {
            world.now += BETWEEN;
            world.come_from(from, token(1), tab).0
        };
        let first = come(&mut world, HOME, "tab 1");
        let neighbour = come(&mut world, NEIGHBOUR, "tablet");
        let second = come(&mut world, HOME, "tab 2");
        let no = world.answer(false).expect("somebody waits");
        let closed = [first, second].map(|one| Effect::Close(one, Why::SeatTaken, REST));
        assert_eq!(no, [closed[0].clone(), closed[1].clone(), Effect::Changed(seat("a"))]);
        assert!(world.codes.asks(&seat("a")), "the neighbour waits");
        let waited = Duration::from_secs(20);
        world.now += waited;
        let (again, effects) = world.come(token(1), "tab 3");
        assert_eq!(
            effects,
            [Effect::Close(again, Why::SeatTaken, REST.saturating_sub(waited))],
            "nobody is asked"
        );
        let yes = world.answer(true).expect("the neighbour waits");
        assert_eq!(yes[..2], [close(holder, Why::Given), Effect::Welcome(neighbour)]);
        world.now += REST.saturating_sub(waited);
        let (again, effects) = world.come(token(1), "tab 4");
        assert_eq!(effects[0], Effect::Taken(again, ASKED), "the rest is over");
    }

    #[test]
    fn one_question_about_a_seat_is_asked_in_ten_seconds_however_many_ask_and_leave_again() {
        let mut world = World::new();
        world.codes.show(seat("a"), token(1));
        world.come(token(1), "phone");
        let mut asked = 0;
        for second in 0..60_u8 {
            let (one, effects) = world.come_from([10, 0, 0, second], token(1), "tablet");
            match effects[0] {
                Effect::Taken(..) => asked += 1,
                Effect::Close(_, why, wait) => {
                    assert_eq!(why, Why::SeatTaken);
                    assert!(!wait.is_zero() && wait < BETWEEN, "{wait:?}");
                }
                ref other => panic!("{other:?}"),
            }
            world.codes.gone(one);
            world.now += Duration::from_secs(1);
        }
        assert_eq!(asked, 6);
    }

    #[test]
    fn a_browser_that_waits_and_connects_again_asks_nothing_new() {
        let mut world = World::new();
        world.codes.show(seat("a"), token(1));
        world.come(token(1), "phone");
        let (before, _) = world.come(token(1), "tablet");
        let (again, effects) = world.come(token(1), "tablet");
        let taken = Effect::Taken(again, ASKED);
        assert_eq!(effects, [close(before, Why::Replaced), taken, Effect::Changed(seat("a"))]);
    }

    #[test]
    fn addresses_that_rest_are_remembered_in_bounded_memory_and_a_new_code_knows_none() {
        let mut world = World::new();
        world.codes.show(seat("a"), token(1));
        world.come(token(1), "phone");
        let code = world.codes.by_place.get_mut(&seat("a")).expect("shown");
        for number in 0..=DECLINED as u8 {
            code.decline(world.now, [10, 0, 0, number].into());
        }
        assert_eq!(code.declined.len(), DECLINED);
        let rests = |number: u8| code.rests(world.now, [10, 0, 0, number].into(), true);
        assert_eq!((rests(0), rests(DECLINED as u8)), (None, Some(REST)), "the oldest is forgotten");
        world.codes.close(&seat("a"));
        world.codes.show(seat("a"), token(2));
        world.come(token(2), "phone");
        let (one, effects) = world.come_from([10, 0, 0, DECLINED as u8], token(2), "tablet");
        assert_eq!(effects[0], Effect::Taken(one, ASKED));
    }

    #[test]
    fn a_seat_stays_held_while_its_guest_is_away() {
        let mut world = World::new();
        world.codes.show(seat("a"), token(1));
        let (first, _) = world.come(token(1), "phone");
        world.codes.gone(first);
        let (other, effects) = world.come(token(1), "tablet");
        assert_eq!(effects[0], Effect::Taken(other, ASKED));
    }

    #[test]
    fn whoever_waits_too_long_or_in_a_crowd_is_sent_away() {
        let mut world = World::new();
        world.codes.show(seat("a"), token(1));
        world.come(token(1), "phone");
        let began = world.now;
        let come = |n| {
            let one = world.come(token(1), &format!("tab{n}")).0;
            world.now += BETWEEN;
            one
        };
        let waiting: Vec<_> = (0..WAITING).map(come).collect();
        let (more, effects) = world.come(token(1), "one more");
        assert_eq!(effects, [close(more, Why::SeatTaken)]);
        assert_eq!(world.codes.due(), Some(began + ASKED));
        assert_eq!(world.codes.on_time(world.now), []);
        let ended = world.codes.on_time(world.now + ASKED);
        let mut expected: Vec<_> = waiting.into_iter().map(|one| close(one, Why::SeatTaken)).collect();
        expected.push(Effect::Changed(seat("a")));
        assert_eq!(ended, expected);
        assert_eq!(world.codes.due(), None);
    }

    #[test]
    fn five_wrong_tokens_of_an_address_wait_a_minute_even_with_the_right_one() {
        let mut world = World::new();
        world.codes.show(seat("a"), token(1));
        for n in 0..4 {
            let (one, effects) = world.come(token(50 + n), "phone");
            assert_eq!(effects, [close(one, Why::WrongCode)]);
        }
        let (one, effects) = world.come(token(60), "phone");
        assert_eq!(effects, [Effect::Close(one, Why::Wait, WAIT)], "the fifth");
        world.now += Duration::from_secs(20);
        let (one, effects) = world.come(token(1), "phone");
        assert_eq!(effects, [Effect::Close(one, Why::Wait, Duration::from_secs(40))]);
        let (one, effects) = world.come_from([192, 168, 1, 21], token(1), "neighbour");
        assert_eq!(effects, welcome(one, seat("a")), "another address does not wait");
        world.now += Duration::from_secs(40);
        let (one, effects) = world.come(token(1), "phone");
        assert_eq!(effects[0], Effect::Taken(one, ASKED));
    }

    #[test]
    fn wrong_tokens_of_many_addresses_are_remembered_in_bounded_memory() {
        let mut world = World::new();
        for n in 0..2_000_u16 {
            world.now += Duration::from_millis(1);
            world.come_from([10, 0, (n >> 8) as u8, n as u8], token(9), "phone");
        }
        assert_eq!(world.codes.wrong.len(), ADDRESSES);
    }

    #[test]
    fn a_closed_code_says_so_and_is_no_wrong_token() {
        let mut world = World::new();
        world.codes.show(seat("a"), token(1));
        let (first, _) = world.come(token(1), "phone");
        let (other, _) = world.come(token(1), "tablet");
        assert_eq!(
            world.codes.close(&seat("a")),
            [close(first, Why::CodeClosed), close(other, Why::CodeClosed)]
        );
        assert!(!world.codes.is_open());
        for _ in 0..10 {
            let (one, effects) = world.come(token(1), "phone");
            assert_eq!(effects, [close(one, Why::CodeClosed)]);
        }
    }

    #[test]
    fn one_seat_of_one_room_is_all_that_a_token_opens() {
        let mut world = World::new();
        world.codes.show(seat("a"), token(1));
        world.codes.show(seat("b"), token(2));
        world.codes.show(bench("a"), token(3));
        let (guest, _) = world.come(token(1), "phone");
        let (watcher, _) = world.come(token(3), "phone");
        let say = |text: &str| crate::read(text).expect("a message");
        let look = |room: &str| say(&format!(r#"{{"look":{{"id":1,"room":"{room}","ply":0}}}}"#));
        let resign = say(r#"{"resign":{"id":1,"room":"a","revision":0}}"#);
        assert_eq!(world.codes.admit(guest, &resign), Ok(&seat("a")));
        assert_eq!(world.codes.admit(guest, &look("a")), Ok(&seat("a")));
        assert_eq!(world.codes.admit(guest, &look("b")), Err(Denied::OtherRoom));
        assert_eq!(world.codes.admit(watcher, &look("a")), Ok(&bench("a")));
        assert_eq!(world.codes.admit(watcher, &resign), Err(Denied::Watching));
        assert_eq!(
            world.codes.admit(watcher, &say(r#"{"say":{"id":1,"phrase":"hello"}}"#)),
            Err(Denied::Watching)
        );
        assert_eq!(world.codes.admit(99, &look("a")), Err(Denied::BadMessage), "nobody");
        let (waits, _) = world.come(token(1), "tablet");
        assert_eq!(world.codes.admit(waits, &resign), Err(Denied::BadMessage), "who waits says nothing");
        let again =
            Hello { version: VERSION, token: token(2).to_string(), tab: "phone".into(), name: String::new() };
        assert_eq!(world.codes.hello(world.now, guest, HOME.into(), &again), [close(guest, Why::BadMessage)]);
    }

    #[test]
    fn thirty_two_may_watch_in_all_rooms_ten_of_an_address_and_a_place_is_free_when_one_leaves() {
        let mut world = World::new();
        world.codes.show(bench("a"), token(3));
        world.codes.show(bench("b"), token(4));
        world.codes.show(seat("a"), token(1));
        // One browser may have several spectator connections: it holds nothing.
        let mut come = |number: usize, room: u8| {
            let from = [192, 168, 1, (number / WATCHERS_OF_ONE) as u8];
            world.come_from(from, token(room), "phone")
        };
        let all: Vec<_> = (0..WATCHERS).map(|number| come(number, if number < 25 { 3 } else { 4 })).collect();
        for (number, (one, effects)) in all.iter().enumerate() {
            assert_eq!(*effects, welcome(*one, bench(if number < 25 { "a" } else { "b" })));
        }
        for room in [3, 4] {
            let (more, effects) = come(90, room);
            assert_eq!(effects, [close(more, Why::Full)], "as many as may are watching");
        }
        world.codes.gone(all[7].0);
        let (more, effects) = world.come_from([192, 168, 1, 1], token(3), "phone");
        assert_eq!(effects, [close(more, Why::Full)], "ten of this address are watching");
        let (more, effects) = world.come_from([192, 168, 1, 0], token(3), "phone");
        assert_eq!(effects, welcome(more, bench("a")));
        assert_eq!((world.codes.in_room("a").count(), world.codes.in_room("b").count()), (25, 7));
        let (player, effects) = world.come_from([192, 168, 1, 1], token(1), "phone");
        assert_eq!(effects, welcome(player, seat("a")), "a seat is no place for spectators");
    }

    #[test]
    fn whoever_looks_at_an_evening_sees_no_room_and_takes_a_place_of_those_who_watch() {
        let mut world = World::new();
        let evening = Place { room: "3".into(), role: Role::Evening };
        world.codes.show(bench("a"), token(3));
        let shown = world.codes.show(evening.clone(), token(4));
        assert!(shown.is(&token(4)) && world.codes.token(&evening).is_some_and(|kept| kept.is(&token(4))));
        assert!(world.codes.token(&seat("a")).is_none(), "its seat has no code");
        let (one, effects) = world.come(token(4), "phone");
        assert_eq!(effects, welcome(one, evening.clone()));
        let say = |text: &str| crate::read(text).expect("a message");
        for room in ["a", "3"] {
            let look = say(&format!(r#"{{"look":{{"id":1,"room":"{room}","ply":0}}}}"#));
            assert_eq!(world.codes.admit(one, &look), Err(Denied::OtherRoom), "{room}");
        }
        let hello = say(r#"{"say":{"id":1,"phrase":"hello"}}"#);
        assert_eq!(world.codes.admit(one, &hello), Err(Denied::Watching));
        assert_eq!(world.codes.admit(one, &say(r#"{"ping":1}"#)), Ok(&evening));
        assert_eq!(world.codes.in_room("a").count(), 0);
        for number in 1..WATCHERS {
            let from = [192, 168, 1, (number / WATCHERS_OF_ONE) as u8];
            let (one, effects) = world.come_from(from, token(if number % 2 == 0 { 3 } else { 4 }), "phone");
            assert_eq!(effects[0], Effect::Welcome(one));
        }
        for token in [token(3), token(4)] {
            let (more, effects) = world.come_from([192, 168, 1, 90], token, "phone");
            assert_eq!(effects, [close(more, Why::Full)], "both count together");
        }
        let closed = world.codes.close(&evening);
        assert!(closed.contains(&close(one, Why::CodeClosed)) && closed.len() == WATCHERS / 2 + 1);
        let (late, effects) = world.come(token(4), "phone");
        assert_eq!(effects, [close(late, Why::CodeClosed)]);
    }

    #[test]
    fn what_was_said_is_not_said_again_after_a_reload_but_another_guest_begins_anew() {
        let mut world = World::new();
        world.codes.show(seat("a"), token(1));
        let (first, _) = world.come(token(1), "phone");
        assert!(world.codes.is_new(first, 10));
        assert!(!world.codes.is_new(first, 10));
        let (again, _) = world.come(token(1), "phone");
        assert!(!world.codes.is_new(again, 10));
        assert!(!world.codes.is_new(again, 9));
        assert!(world.codes.is_new(again, 11));
        assert!(!world.codes.is_new(first, 12), "that page is no longer the seat's");
        let (other, _) = world.come(token(1), "tablet");
        world.answer(true).expect("somebody waits");
        assert!(world.codes.is_new(other, 1));
    }

    #[test]
    fn a_code_goes_on_in_the_next_game() {
        let mut world = World::new();
        let shown = world.codes.show(seat("a"), token(1));
        assert!(world.codes.show(seat("a"), token(2)).is(&shown), "a code that is shown is shown again");
        let (guest, _) = world.come(token(1), "phone");
        let next = Place { room: "b".into(), role: Role::Seat(Side::First) };
        world.codes.move_to(&seat("a"), next.clone());
        assert_eq!(world.codes.place_of(guest), Some(&next));
        assert!(!world.codes.shows(&seat("a")));
        let (again, effects) = world.come(token(1), "phone");
        assert_eq!(effects[1..], welcome(again, next)[..]);
    }

    #[test]
    fn an_old_page_and_the_end_of_the_host_are_told() {
        let mut world = World::new();
        world.codes.show(seat("a"), token(1));
        let hello =
            Hello { version: 2, token: token(1).to_string(), tab: "phone".into(), name: String::new() };
        assert_eq!(world.codes.hello(world.now, 1, HOME.into(), &hello), [close(1, Why::TooOld)]);
        world.last = 1;
        let (guest, _) = world.come(token(1), "phone");
        assert_eq!(world.codes.stop(), [close(guest, Why::HostStopping)]);
        assert!(!world.codes.is_open());
    }
}
