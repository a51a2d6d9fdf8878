//! Several hosts in one process, on an in-memory network: no radio, no waiting.
//!
//! Run it under tokio's paused clock: time then advances only when every task is idle. Bots think on their own threads in real
//! time, so give them levels that decide at once. `QIYOU_LOG=debug` shows the hosts' logs.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Deref;
use std::path::Path;
use std::time::{Duration, SystemTime};

use client::{FromHost, HostState, Messages, Requests};
use host::{Entropy, Host, HostConfig};
use link::memory::MemoryNetwork;
use proto::control::{
    self, Event, Notice, PeerLink, Refusal, Request, Room, Seat, event, reply, request, seat,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadHalf, WriteHalf};
use tokio::time::{Instant, timeout};

/// Limit for a step in real time: on the paused clock, hours pass while a bot thinks.
const PATIENCE: Duration = Duration::from_mins(1);

/// After this long without an event on the paused clock, the real-time limit is checked.
const SILENCE: Duration = Duration::from_secs(10);

/// The devices and the network between them.
pub struct House {
    /// The network; tests inject cuts and losses here.
    pub air: MemoryNetwork,
    directory: tempfile::TempDir,
    began: Instant,
    seed: u64,
}

/// A device, switched on or off, with its player's client.
pub struct Device {
    /// The name that others see.
    pub name: String,
    host: Option<Host>,
    /// The player's client.
    pub client: Client,
    config: HostConfig,
}

impl House {
    /// A house without devices. `seed` determines all randomness except the devices' keys.
    pub fn new(seed: u64) -> Self {
        if let Ok(filter) = tracing_subscriber::EnvFilter::try_from_env("QIYOU_LOG") {
            // Another house of this process may have initialised the log.
            let _ = tracing_subscriber::fmt().with_env_filter(filter).with_test_writer().try_init();
        }
        Self {
            air: MemoryNetwork::new(seed),
            directory: tempfile::tempdir().expect("a directory for the saves"),
            began: Instant::now(),
            seed,
        }
    }

    /// Adds a device that is switched on.
    pub async fn device(&mut self, name: &str) -> Device {
        self.device_with(name, |_| {}).await
    }

    /// Adds a device with a changed configuration.
    pub async fn device_with(&mut self, name: &str, change: impl FnOnce(&mut HostConfig)) -> Device {
        let mut config = HostConfig::new(self.directory.path().join(name));
        config.name = Some(name.to_owned());
        // `hand_over`.
        config.stand_ins = true;
        config.transports = vec![std::sync::Arc::new(self.air.transport(name))];
        self.seed += 1;
        config.entropy = Entropy::Seeded(self.seed);
        // The same wall-clock time on all devices, which advances with the paused clock.
        let (began, hour) = (self.began, SystemTime::UNIX_EPOCH + Duration::from_hours(500_000));
        config.wall_clock = std::sync::Arc::new(move || hour + began.elapsed());
        change(&mut config);
        let host = Host::start(config.clone()).expect("the host starts");
        let client = Client::attach(host.client()).await;
        Device { name: name.to_owned(), host: Some(host), client, config }
    }
}

impl Device {
    /// The device's data folder.
    pub fn directory(&self) -> &Path {
        &self.config.data_dir
    }

    /// The running host.
    pub fn host(&self) -> &Host {
        self.host.as_ref().expect("the device is switched on")
    }

    /// Switches off without a goodbye.
    pub async fn kill(&mut self) {
        self.host.take().expect("the device is switched on").kill().await;
    }

    /// Says goodbye and switches off.
    pub async fn stop(&mut self) {
        self.host.take().expect("the device is switched on").stop().await;
    }

    /// Closes the player's client; the host keeps running.
    pub fn close_app(&mut self) {
        self.client = Client::of(tokio::io::duplex(1).0);
    }

    /// Opens another client.
    pub async fn open_app(&mut self) {
        self.client = Client::attach(self.host().client()).await;
    }

    /// Switches on again, with the data on disk.
    pub async fn start(&mut self) {
        // A host that draws the same numbers again would draw the ids of its earlier matches.
        if let Entropy::Seeded(seed) = &mut self.config.entropy {
            *seed += 1 << 32;
        }
        let host = Host::start(self.config.clone()).expect("the host starts again");
        self.client = Client::attach(host.client()).await;
        self.host = Some(host);
    }

    /// The view `record`: one row per match, without device-specific columns.
    pub fn record(&self) -> Vec<Vec<rusqlite::types::Value>> {
        let database = rusqlite::Connection::open_with_flags(
            self.directory().join(host::DATABASE),
            rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY,
        )
        .expect("the saves open");
        let mut rows = database.prepare("SELECT * FROM record ORDER BY match_id").expect("the view is there");
        let columns = rows.column_count();
        rows.query_map([], |row| (0..columns).map(|column| row.get(column)).collect())
            .expect("the view can be read")
            .collect::<Result<_, _>>()
            .expect("the view can be read")
    }
}

/// A client's stream to the host: in this process, or over a daemon's socket.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A client of a host, with the state built from events.
pub struct Client {
    requests: Requests<WriteHalf<Box<dyn Stream>>>,
    messages: Messages<ReadHalf<Box<dyn Stream>>>,
    last_request: u64,
    unseen: VecDeque<Event>,
    /// The state built from events.
    pub seen: Seen,
}

/// The state built from events, and the events that are news.
#[derive(Default)]
pub struct Seen {
    /// As the host tells it.
    pub state: HostState,
    /// All so far.
    pub notices: Vec<Notice>,
    /// Notifications that the person has activated, all so far.
    pub activated: Vec<control::Activated>,
    /// Results of comparisons, all so far.
    pub compared: Vec<control::ComparisonEnd>,
    /// Reports of bots, all so far.
    pub thoughts: Vec<control::Thinking>,
    /// All so far.
    pub said: Vec<control::Said>,
    /// Progress of this client's own work, in thousandths, all so far.
    pub progress: Vec<u32>,
    /// Ended invitations, all so far.
    pub ended: Vec<control::InvitationGone>,
}

impl Deref for Seen {
    type Target = HostState;

    fn deref(&self) -> &HostState {
        &self.state
    }
}

impl Seen {
    /// The only room.
    pub fn room(&self) -> Option<&Room> {
        (self.rooms.len() == 1).then(|| self.rooms.values().next()).flatten()
    }

    /// The actions in the only room.
    pub fn record(&self) -> &[String] {
        self.room().map_or(&[], |room| room.record.as_slice())
    }

    /// Whether the link of the only room is in this state.
    pub fn link_is(&self, state: PeerLink) -> bool {
        self.room().and_then(|room| room.link).is_some_and(|link| link.state() == state)
    }

    /// The state of the only carrier.
    pub fn radio(&self) -> Option<&control::Radio> {
        self.radios.values().next()
    }

    fn rooms_in_short(&self) -> String {
        let rooms = self.rooms.values().map(|room| {
            let link = room.link.map(|link| link.state());
            let (plies, seen) = (room.record.len(), room.seen_ply);
            format!("{plies} plies, {seen} seen, result {:?}, link {link:?}", room.result)
        });
        rooms.collect::<Vec<_>>().join("; ")
    }

    fn apply(&mut self, event: &Event) {
        use event::Body;
        self.state.apply(event);
        match event.body.clone().expect("an event that this client knows") {
            Body::Thinking(one) => self.thoughts.push(one),
            Body::Activated(one) => self.activated.push(one),
            Body::ComparisonGone(gone) => self.compared.push(gone.end()),
            Body::InvitationGone(gone) => self.ended.push(gone),
            Body::Notice(notice) => self.notices.push(notice),
            Body::Said(said) => self.said.push(said),
            Body::WorkProgress(one) => self.progress.push(one.permille),
            _ => {}
        }
    }
}

impl Client {
    fn of(stream: impl Stream + 'static) -> Self {
        let (requests, messages) = client::open(Box::new(stream) as Box<dyn Stream>);
        Self { requests, messages, last_request: 0, unseen: VecDeque::new(), seen: Seen::default() }
    }

    /// Attaches and reads the present state.
    pub async fn attach(stream: impl Stream + 'static) -> Self {
        let mut client = Self::of(stream);
        client.done(client::attach("house")).await;
        loop {
            if let Some(event::Body::Ready(_)) = client.next().await.body {
                return client;
            }
        }
    }

    async fn read(&mut self) -> FromHost {
        let begun = std::time::Instant::now();
        let said = loop {
            if let Ok(said) = timeout(SILENCE, self.messages.next()).await {
                break said;
            }
            assert!(begun.elapsed() < PATIENCE, "the host says nothing; {}", self.seen.rooms_in_short());
            std::thread::sleep(Duration::from_millis(1));
        };
        if let FromHost::Event(event) = &said {
            self.seen.apply(event);
        }
        said
    }

    /// The next event; `seen` includes it.
    pub async fn next(&mut self) -> Event {
        if let Some(event) = self.unseen.pop_front() {
            return event;
        }
        loop {
            match self.read().await {
                FromHost::Event(event) => return *event,
                FromHost::Reply(_) => {}
                FromHost::Lost(lost) => panic!("the host is there: {lost}"),
            }
        }
    }

    /// Sends a request and waits for the answer.
    pub async fn ask(&mut self, body: request::Body) -> Result<reply::Body, Refusal> {
        let id = self.send(body).await;
        let (answered, answer) = self.answer().await;
        assert_eq!(answered, id, "replies come in order");
        answer
    }

    /// Sends all requests without waiting in between; returns the answers in the order of the requests.
    pub async fn ask_at_once(&mut self, bodies: Vec<request::Body>) -> Vec<Result<reply::Body, Refusal>> {
        let mut answers = BTreeMap::new();
        let count = bodies.len();
        for body in bodies {
            self.send(body).await;
        }
        while answers.len() < count {
            let (id, answer) = self.answer().await;
            assert!(answers.insert(id, answer).is_none(), "request {id} is answered once");
        }
        answers.into_values().collect()
    }

    /// Sends a request; returns its number.
    pub async fn send(&mut self, body: request::Body) -> u64 {
        self.last_request += 1;
        let request = Request { id: self.last_request, body: Some(body) };
        self.requests.send(request).await.expect("the host is there");
        self.last_request
    }

    /// Reads up to the next answer; returns the request's number and the answer.
    pub async fn answer(&mut self) -> (u64, Result<reply::Body, Refusal>) {
        loop {
            match self.read().await {
                FromHost::Event(event) => self.unseen.push_back(*event),
                FromHost::Reply(reply) => {
                    let answer = match reply.body.expect("a reply that this client knows") {
                        reply::Body::Refusal(refusal) => Err(refusal),
                        body => Ok(body),
                    };
                    return (reply.id, answer);
                }
                FromHost::Lost(lost) => panic!("the host is there: {lost}"),
            }
        }
    }

    /// Sends a request that must succeed.
    pub async fn done(&mut self, body: request::Body) {
        let what = format!("{body:?}");
        match self.ask(body).await {
            Ok(reply::Body::Done(_)) => {}
            other => panic!("{what} came to {other:?}"),
        }
    }

    /// Reads events until a condition on the state holds.
    pub async fn until(&mut self, what: &str, mut so: impl FnMut(&Seen) -> bool) {
        let begun = std::time::Instant::now();
        while !so(&self.seen) {
            let rooms = || self.seen.rooms_in_short();
            assert!(begun.elapsed() < PATIENCE, "waited in vain for: {what}; {}", rooms());
            self.next().await;
        }
        self.unseen.clear();
    }

    /// Switches scanning on or off.
    pub async fn scan(&mut self, on: bool) {
        self.done(request::Body::Scan(control::Scan { on })).await;
    }

    /// Scans for a device of this name; returns its id.
    pub async fn find(&mut self, name: &str) -> String {
        self.scan(true).await;
        let here = |seen: &Seen| seen.nearby.values().find(|one| one.name == name).map(|one| one.id.clone());
        self.until(&format!("{name} is near"), |seen| here(seen).is_some()).await;
        self.scan(false).await;
        here(&self.seen).expect("it was there a line above")
    }

    /// Opens a gomoku match on this device; returns the room's id.
    pub async fn open_room(&mut self, first: Option<u32>, second: Option<u32>) -> String {
        let open = control::OpenRoom {
            first: Some(bot(first)),
            second: Some(bot(second)),
            ..control::OpenRoom::default()
        };
        match self.ask(request::Body::OpenRoom(open)).await {
            Ok(reply::Body::RoomId(id)) => id,
            other => panic!("no room: {other:?}"),
        }
    }

    /// Plays in the only room.
    pub async fn play(&mut self, notation: &str) -> Result<reply::Body, Refusal> {
        let room_id = self.seen.room().expect("one room").id.clone();
        self.ask(request::Body::Act(control::Act { room_id, action: None, notation: notation.into() })).await
    }

    /// Lets a bot play this device's side of the only room.
    pub async fn hand_over(&mut self, level: u32) {
        let room = self.seen.room().expect("one room");
        let is_here = |seat: &Option<Seat>| {
            !matches!(seat.as_ref().and_then(|seat| seat.who.as_ref()), Some(seat::Who::Peer(_)))
        };
        let side = if is_here(&room.first) { proto::board::Side::First } else { proto::board::Side::Second };
        let seat = Seat { bot_assists: true, ..bot(Some(level)) };
        let set = control::SetSeat { room_id: room.id.clone(), side: side.into(), seat: Some(seat) };
        self.done(request::Body::SetSeat(set)).await;
    }

    /// Reads events until the only room's match is over.
    pub async fn until_over(&mut self) {
        self.until("the match is over", |seen| seen.room().is_some_and(|room| room.result.is_some())).await;
    }
}

fn bot(level: Option<u32>) -> Seat {
    let who = level.map_or(seat::Who::Here(true), seat::Who::BotLevel);
    Seat { who: Some(who), ..Seat::default() }
}

/// Two devices whose players have compared strings.
pub async fn friends(one: &mut Device, other: &mut Device) {
    meet(&mut one.client, &mut other.client, &other.name).await;
}

/// Anna and Ben, who have compared strings.
pub async fn pair(house: &mut House) -> (Device, Device) {
    let (mut anna, mut ben) = (house.device("Anna").await, house.device("Ben").await);
    friends(&mut anna, &mut ben).await;
    (anna, ben)
}

/// The first client searches for the other by name, and both compare strings.
pub async fn meet(one: &mut Client, other: &mut Client, others_name: &str) {
    let id = one.find(others_name).await;
    one.done(request::Body::Meet(control::Meet { peer: id })).await;
    let mut strings = Vec::new();
    for client in [&mut *one, &mut *other] {
        client.until("a string to compare", |seen| !seen.comparisons.is_empty()).await;
        let shown = client.seen.comparisons.first().expect("it was there a line above").clone();
        strings.push((shown.emoji, shown.digits));
        let compare = control::Compare { peer: shown.peer, same: true };
        client.done(request::Body::Compare(compare)).await;
    }
    assert_eq!(strings[0], strings[1], "both screens show the same");
    for client in [one, other] {
        client.until("a friend", |seen| seen.friends.values().any(|friend| friend.connected)).await;
    }
}

/// A match between two friends, the inviter first.
pub async fn begin_match(one: &mut Device, other: &mut Device) {
    begin_match_of(one, other, None).await;
}

/// A match with this choice between two friends, the inviter first. Returns the rules as the invited client reads them.
pub async fn begin_match_of(
    one: &mut Device,
    other: &mut Device,
    choice: Option<control::GameChoice>,
) -> String {
    begin(&mut one.client, &mut other.client, choice).await
}

/// The same between two clients, wherever their hosts are.
pub async fn begin(one: &mut Client, other: &mut Client, choice: Option<control::GameChoice>) -> String {
    let peer = one.seen.friends.values().next().expect("a friend").id.clone();
    let invite = control::Invite {
        peer,
        setup: None,
        my_side: proto::board::Side::First.into(),
        choice,
        ..control::Invite::default()
    };
    let invited = one.ask(request::Body::Invite(invite)).await;
    assert!(matches!(invited, Ok(reply::Body::InviteId(_))), "{invited:?}");
    other.until("an invitation", |seen| seen.invitations.iter().any(|one| !one.mine)).await;
    let invitation = other.seen.invitations.first().expect("it was there a line above").clone();
    let (invite_id, sheet) = (invitation.invite_id, invitation.rule_sheet_en);
    let answer = control::AnswerInvite { invite_id, accept: true, reason: 0 };
    other.done(request::Body::AnswerInvite(answer)).await;
    for client in [one, other] {
        client.until("a room", |seen| seen.room().is_some()).await;
    }
    sheet
}

/// Waits until both show the link of their only room as up.
pub async fn connected(one: &mut Device, other: &mut Device) {
    for device in [one, other] {
        device.client.until("the link", |seen| seen.link_is(PeerLink::Up)).await;
    }
}

/// Waits until a thread has made a condition true, while the hosts keep running. Fails after a minute of real time, which is a
/// limit for hangs, not a bound on speed.
///
/// # Panics
/// When the condition stays false.
pub async fn settle(what: &str, so: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !so() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain for: {what}");
        tokio::task::yield_now().await;
        std::thread::sleep(Duration::from_millis(1));
    }
}
