//! The task that owns the host's state. Other tasks and threads share nothing with it and send it messages.
//!
//! The inbox is unbounded because each sender is limited: a client by its open requests, a link by its frame rate, a bot to
//! five reports per second, carriers by the devices in range.

mod contact;
mod friends;
#[cfg(feature = "guest")]
mod guests;
#[cfg(not(feature = "guest"))]
#[path = "actor/guests/absent.rs"]
mod guests;
mod inviting;
mod kept;
#[cfg(feature = "online")]
mod online;
mod people;
mod play;
mod reach;
mod requests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use engine::{Action, AnyGame, Level, Point, Side};
use link::Duplex;
use link::identity::Identity;
use proto::control::{self, NoticeKind, RefusalCode, event};
use proto::peer::ByeReason;
use session::MatchId;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use tracing::{debug, error, info, warn};

use crate::alarm::Alarm;
use crate::backup;
use crate::blocked::Blocked;
use crate::bots::{BotMaker, BotNews, BotThread};
use crate::chance::Chance;
use crate::clients::Clients;
use crate::clubs::Clubs;
use crate::config::{HostConfig, HostError, IDENTITY};
use crate::connection::{ClientId, ClientNews};
use crate::counting;
use crate::desktop::{self, Bus, SleepNews};
use crate::dialing::{Dialing, DialingEvent};
use crate::exchange::Imported;
use crate::gifts::Gifts;
use crate::guests::Guests;
use crate::installed::Installed;
use crate::invitations::Invitations;
use crate::journal::Journal;
use crate::judging::{Judge, PositionJudged};
use crate::link_task::LinkTasks;
use crate::links::{LinkId, LinkNews};
use crate::names::Names;
use crate::nearby::Neighbourhood;
use crate::notes;
use crate::notifying::{self, Notifying};
use crate::power::{Engines, Power, PowerNews};
use crate::profile::Profile;
use crate::puzzles::{self, Maker, Puzzles};
use crate::radios::{Radio, RadioNews};
use crate::refusal::Refusal;
use crate::registry::People;
use crate::responder::{Responder, done, in_room};
use crate::rings::Rings;
use crate::room::{PlayerId, Room, Seat};
use crate::room_view::{self, Around, Outside, Viewer};
use crate::store::{self, SavedMatch, Store};
use crate::strangers::Strangers;
use crate::suspend::Suspend;
use crate::tablebase::{TablebaseJob, TablebaseNews};
use crate::wall_clock::WallClock;
use crate::work::{Job, Work};

/// Delay before a bot or a peer is retried after a failed write. Short, so that play resumes soon after the user frees disk
/// space.
pub(crate) const DISK_RETRY: Duration = Duration::from_secs(5);

/// Time for clients and peers to receive what is queued when the host stops.
const FAREWELL: Duration = Duration::from_secs(3);

/// A message to the actor.
pub(crate) enum Message {
    /// A client has connected.
    NewClient(Box<dyn Duplex>),
    /// From the connection of this client.
    Client(ClientId, ClientNews),
    /// From the thread of this seat's bot. The number is the ticket of the search.
    Bot(BotSeat, u64, BotNews),
    /// The result of a hint search in this room, for this responder.
    Hint(Responder, MatchId, Result<control::HintFound, Refusal>),
    /// From a link to a peer.
    Link(LinkId, LinkNews),
    /// From the carrier with this index.
    Radio(usize, RadioNews),
    /// The match that an import thread has read from a file.
    Imported(Responder, Result<Box<Imported>, Refusal>),
    /// A kept match that was replayed for this responder.
    Replayed(Responder, Result<Replayed, Refusal>),
    /// The offered copy of a match with this number was replayed; `None` if it cannot be shown.
    GiftReplayed(u64, Option<Box<control::MatchSummary>>),
    /// The thread of an export, a backup or a restoration has ended.
    WorkEnded(crate::work::Job),
    /// From the analysis with this ticket: the evaluation of the next position, or `None` at the end.
    Judged(u64, Option<Box<PositionJudged>>),
    /// From the thread that computes the endgame table with this ticket.
    Tablebase(u64, TablebaseNews),
    /// The user clicked the notification of this subject.
    Activated(desktop::Subject),
    /// The system is about to sleep, or has woken up.
    Sleep(SleepNews),
    /// Battery or lid have changed.
    Power(PowerNews),
    /// The state of the account has changed.
    #[cfg(feature = "online")]
    Online(link::online::View),
    /// At the start: the stored account with its password, and the position up to which its archive was read.
    #[cfg(feature = "online")]
    Password(link::online::Account, Option<String>),
    /// The password could not be stored, for this reason: the user must enter it at the next start.
    #[cfg(feature = "online")]
    PasswordNotKept(String),
    /// A letter has arrived, or the state of a sent one has changed.
    #[cfg(feature = "online")]
    Letter(link::online::LetterNews),
    /// From a guest's page.
    #[cfg(feature = "guest")]
    Guest(guest::News),
    /// The reply to a guest's request for a file.
    #[cfg(feature = "guest")]
    GuestFile(guest::ConnectionId, String),
    /// From the task that makes the access point with this ticket.
    #[cfg(feature = "guest")]
    Hotspot(u64, crate::desktop::AccessPointNews),
    /// From an engine that the user has added, or is about to.
    Installed(crate::installed::News),
    /// From the thread with this number that makes puzzles.
    PuzzlesMade(u64, puzzles::MakerNews),
    /// The verdict on a move in this puzzle room.
    PuzzleJudged(MatchId, puzzles::Judged),
    /// The result of a hint search in this puzzle room, for this responder.
    PuzzleHint(Responder, MatchId, Result<puzzles::HintFound, Refusal>),
    /// Go: one stone of each chain that the engine considers dead, in this position.
    DeadProposed(counting::About, Vec<Point>),
    /// Says goodbye and stops. The sender is dropped when the actor has ended.
    Stop(oneshot::Sender<()>),
}

/// What a replayed match is for.
pub(crate) enum Replayed {
    /// The match that a client asks for, to begin.
    New(Box<Room>, Box<control::OpenRoom>),
    /// A new match, to begin.
    Branch(Box<Room>),
    /// A kept one, whose room opens.
    Kept(Box<Room>),
    /// A kept one, whose notes are changed.
    Notes(Box<notes::Edited>),
}

/// A seat played by a bot.
pub(crate) type BotSeat = (MatchId, Side);

/// The host's state.
pub(crate) struct Actor {
    inbox: mpsc::UnboundedSender<Message>,
    messages: mpsc::UnboundedReceiver<Message>,
    /// Tasks of connections, links and radios; aborted when the actor is dropped.
    tasks: JoinSet<()>,
    journal: Journal,
    data_dir: PathBuf,
    ends_with_app: bool,
    chance: Chance,
    work: Work,
    judge: Judge,
    tablebase: TablebaseJob,
    wall_clock: WallClock,
    started: Instant,
    profile: Profile,
    blocked: Blocked,
    clients: Clients,
    people: People,
    names: Names,
    links: LinkTasks,
    invitations: Invitations,
    gifts: Gifts,
    rings: Rings,
    strangers: Strangers,
    guests: Guests,
    clubs: Clubs,
    alarm: Alarm,
    nearby: Neighbourhood,
    #[cfg(feature = "online")]
    online: Option<crate::account::Online>,
    dialing: Dialing,
    radios: Vec<Radio>,
    rooms: BTreeMap<MatchId, Room>,
    puzzles: Puzzles,
    maker: Maker,
    /// Rooms that have changed since clients were last shown them.
    dirty: BTreeSet<MatchId>,
    bot_maker: BotMaker,
    bot_time: Duration,
    /// Whether bots may play for people against others: [`HostConfig::stand_ins`](crate::HostConfig::stand_ins).
    stand_ins: bool,
    /// Engines that the user has added.
    installed: Installed,
    bots: BTreeMap<(MatchId, usize), BotThread>,
    /// Number of panics of each seat's bot.
    panics: BTreeMap<(MatchId, usize), u32>,
    /// Rooms whose bot could not save its action, with the time of the next attempt.
    stalled: BTreeMap<MatchId, Instant>,
    notifying: Notifying,
    power: Power,
    suspend: Suspend,
    stopping: Option<oneshot::Sender<()>>,
}

impl Actor {
    pub(crate) fn new(
        config: HostConfig,
        inbox: mpsc::UnboundedSender<Message>,
        messages: mpsc::UnboundedReceiver<Message>,
    ) -> Result<Self, HostError> {
        let mut store = Store::open_after(&config.data_dir, backup::take_incoming)?;
        let chance = Chance::new(config.entropy).map_err(|error| HostError::Entropy(error.to_string()))?;
        let identity = Identity::load_or_create(&config.data_dir.join(IDENTITY))
            .map_err(|error| HostError::Identity(error.to_string()))?;
        // The SQL view `record` uses it as the name of this device's player.
        let player = PlayerId(identity.public_key()).to_string();
        if store.setting(PLAYER)?.as_deref() != Some(&player) {
            store.set_setting(PLAYER, &player)?;
        }
        let profile = Profile::load(
            &mut store,
            config.name.as_deref(),
            desktop::environment_language(),
            identity,
            Instant::now(),
        )?;
        if config.adapter.is_none()
            && let Some(adapter) = store.setting(ADAPTER)?.filter(|adapter| !adapter.is_empty())
        {
            for transport in &config.transports {
                transport.use_adapter(Some(adapter.clone()));
            }
        }
        let blocked = Blocked::new(store.blocked()?);
        let guests = Guests::new(&config);
        let after_crash = Guests::after_crash(&config);
        let clubs = Clubs::new(store.clubs()?);
        let power = Power::new(config.sensors);
        let mut actor = Self {
            inbox,
            messages,
            tasks: JoinSet::new(),
            journal: Journal::new(store),
            chance,
            work: Work::default(),
            judge: Judge::default(),
            tablebase: TablebaseJob::new(config.data_dir.clone(), power.engines.clone()),
            wall_clock: WallClock::new(config.wall_clock, config.local_minute),
            started: Instant::now(),
            profile,
            blocked,
            clients: Clients::default(),
            people: People::default(),
            names: Names::default(),
            links: LinkTasks::default(),
            invitations: Invitations::default(),
            gifts: Gifts::default(),
            rings: Rings::default(),
            strangers: Strangers::default(),
            guests,
            clubs,
            data_dir: config.data_dir.clone(),
            ends_with_app: config.ends_with_app,
            alarm: if config.kernel_timer { Alarm::of_kernel() } else { Alarm::of_tokio() },
            nearby: Neighbourhood::default(),
            #[cfg(feature = "online")]
            online: config.online.map(|online| {
                let transport = std::sync::Arc::new(link::online::OnlineTransport::new(online));
                let secrets = crate::secrets::Secrets::new(config.data_dir.clone(), config.secrets.clone());
                crate::account::Online::new(transport, secrets)
            }),
            dialing: Dialing::default(),
            radios: Vec::new(),
            rooms: BTreeMap::new(),
            puzzles: Puzzles::default(),
            maker: Maker::new(power.engines.clone()),
            dirty: BTreeSet::new(),
            bot_maker: config.bots,
            bot_time: config.bot_time,
            stand_ins: config.stand_ins,
            installed: Installed::load(&config.data_dir),
            bots: BTreeMap::new(),
            panics: BTreeMap::new(),
            stalled: BTreeMap::new(),
            notifying: Notifying::new(config.app),
            power,
            suspend: Suspend::default(),
            stopping: None,
        };
        for saved in actor.journal.open_matches()? {
            let id = saved.record.id;
            match Room::new(saved.record, saved.seats) {
                // Nothing was played before the app was closed.
                Ok(room) if room.is_untouched() => actor.journal.keep(|store| store.delete(id))?,
                Ok(room) => {
                    actor.rooms.insert(id, room);
                }
                // It is kept in the file, for a program that can read it.
                Err(error) => warn!(%id, %error, "a saved match cannot be shown"),
            }
        }
        actor.load_people()?;
        actor.catch_up_clubs();
        #[cfg_attr(not(feature = "online"), expect(unused_mut, reason = "only online play adds to them"))]
        let mut transports = config.transports;
        #[cfg(feature = "online")]
        {
            transports.extend(actor.online_transport());
            actor.start_online();
        }
        actor.start_radios(transports);
        actor.start_desktop(config.notifications, config.sleep, config.power);
        actor.tasks.extend(after_crash);
        info!(name = actor.profile.name(), rooms = actor.rooms.len(), "the host has started");
        Ok(actor)
    }

    /// The threads that read or write the data directory.
    pub(crate) fn in_directory(&self) -> TaskTracker {
        self.work.in_directory.clone()
    }

    pub(crate) async fn run(mut self) {
        for id in self.rooms.keys().copied().collect::<Vec<_>>() {
            self.room_changed(id);
        }
        loop {
            let deadline = self.next_deadline();
            tokio::select! {
                message = self.messages.recv() => {
                    let Some(message) = message else { break };
                    self.hear(message);
                }
                Some(ended) = self.tasks.join_next(), if !self.tasks.is_empty() => {
                    if let Err(error) = ended && error.is_panic() {
                        error!(%error, "a task of the host panicked");
                    }
                }
                () = self.alarm.until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {}
            }
            self.note_use();
            self.on_time();
            self.steer_radios();
            self.show_changes();
            self.show_reach();
            if let Some(done) = self.stopping.take() {
                self.part().await;
                drop(done);
                return;
            }
        }
    }

    fn hear(&mut self, message: Message) {
        match message {
            Message::NewClient(stream) => self.welcome(stream),
            Message::Client(id, ClientNews::Asked(request, _permit)) => self.asked(id, *request),
            Message::Client(id, ClientNews::Gone) => {
                self.work.stop(id);
                self.clients.gone(id);
            }
            Message::Bot(seat, ticket, news) => self.bot_said(seat, ticket, news),
            Message::Hint(responder, room, found) => self.hint_found(responder, room, found),
            Message::Imported(responder, read) => {
                self.work.ended(Job::File);
                let now = self.wall_clock.unix_ms();
                let kept = read.and_then(|read| read.keep(&mut self.journal, now));
                responder.answer(kept.map(in_room));
            }
            Message::Replayed(responder, replayed) => self.replayed(responder, replayed),
            Message::GiftReplayed(number, summary) => self.gift_replayed(number, summary),
            Message::WorkEnded(job) => self.work.ended(job),
            Message::Judged(ticket, judged) => {
                let told = self.judge.judged(ticket, judged, &mut self.journal, &self.wall_clock);
                if let Some(told) = told {
                    self.tell(event::Body::Judgements(told));
                }
            }
            Message::Tablebase(ticket, news) => {
                if self.tablebase.handle(ticket, news) {
                    self.tell_tablebase();
                }
            }
            Message::Link(id, news) => self.link_said(id, news),
            Message::Radio(index, news) => self.radio_said(index, news),
            Message::Activated(subject) => {
                self.tell(event::Body::Activated(notifying::activated(subject)));
                self.notifying.start_app(self.clients.anyone_has_window());
            }
            Message::Sleep(news) => self.on_sleep_news(news),
            Message::Power(news) => {
                self.rest_or_wake(|engines| engines.on_news(news));
                self.maker.note_power(Instant::now());
            }
            #[cfg(feature = "guest")]
            Message::Guest(news) => self.guest_said(news),
            #[cfg(feature = "guest")]
            Message::GuestFile(connection, text) => self.guest_file_written(connection, text),
            #[cfg(feature = "guest")]
            Message::Hotspot(ticket, news) => self.hotspot_said(ticket, news),
            #[cfg(feature = "online")]
            Message::Online(view) => self.online_changed(view),
            Message::Installed(news) => self.installed_said(news),
            Message::PuzzlesMade(ticket, news) => self.puzzles_made(ticket, news),
            Message::PuzzleJudged(id, judged) => self.puzzle_judged(id, judged),
            Message::PuzzleHint(responder, id, found) => self.puzzle_hint_found(responder, id, found),
            Message::DeadProposed(about, stones) => self.dead_proposed(about, &stones),
            #[cfg(feature = "online")]
            Message::Letter(news) => self.letter_said(news),
            #[cfg(feature = "online")]
            Message::Password(account, archive) => self.password_found(account, archive),
            #[cfg(feature = "online")]
            Message::PasswordNotKept(detail) => {
                self.notice(control::Notice { detail, ..notice(NoticeKind::NoticeDiskFull) });
            }
            Message::Stop(done) => self.stopping = Some(done),
        }
    }

    // The desktop.

    fn start_desktop(&mut self, notifications: Option<Bus>, sleep: Option<Bus>, power: Option<Bus>) {
        // Sending fails only after the actor has ended.
        if let Some(bus) = notifications {
            let inbox = self.inbox.clone();
            let activated = move |subject| drop(inbox.send(Message::Activated(subject)));
            self.tasks.spawn(self.notifying.connect(bus, activated));
        }
        if let Some(bus) = sleep {
            let inbox = self.inbox.clone();
            self.power.watch_sleep(bus, move |news| inbox.send(Message::Sleep(news)).is_ok());
        }
        if let Some(bus) = power {
            let inbox = self.inbox.clone();
            self.power.watch(bus, move |news| inbox.send(Message::Power(news)).is_ok());
        }
    }

    /// A goodbye before the system's sleep, and reconnecting after it. Engines rest meanwhile.
    fn on_sleep_news(&mut self, news: SleepNews) {
        match news {
            SleepNews::Soon(held) => {
                self.suspend.begin(held, Instant::now());
                self.rest_or_wake(|engines| engines.set_asleep(true));
                // Everything is already on disk, because actions are stored before they are sent.
                self.say_goodbye(ByeReason::ByeSuspend);
                self.handle_dialing(DialingEvent::AllUnwanted);
            }
            SleepNews::Over => {
                if self.suspend.end() {
                    self.rest_or_wake(|engines| engines.set_asleep(false));
                    self.look_for_everyone();
                }
            }
        }
    }

    /// `change` returns whether engines begin or end to rest.
    fn rest_or_wake(&mut self, change: impl FnOnce(&Engines) -> bool) {
        if change(&self.power.engines) {
            info!(rest = self.power.engines.rest(), "engines");
            for id in self.rooms.keys().copied().collect::<Vec<_>>() {
                self.wake_bots(id);
            }
        }
    }

    // Time.

    /// The earliest deadline of any part of the host.
    fn next_deadline(&self) -> Option<Instant> {
        let stalled = self.stalled.values().min().copied();
        let people = [stalled, self.clock_deadline(), self.people_deadline(), self.reach_deadline()];
        #[cfg(feature = "online")]
        let letters = self.letters_deadline();
        #[cfg(not(feature = "online"))]
        let letters = None;
        let others = [self.exposure_deadline(), self.suspend.due(), self.guests.deadline(), letters];
        let others = others.into_iter().chain([self.air_deadline(), self.maker.deadline()]);
        people.into_iter().chain(others).flatten().min()
    }

    fn on_time(&mut self) {
        let now = Instant::now();
        self.free_the_air();
        let due: Vec<_> = self.stalled.iter().filter(|(_, at)| **at <= now).map(|(room, _)| *room).collect();
        for room in due {
            self.stalled.remove(&room);
            self.room_changed(room);
        }
        self.clocks_on_time();
        self.people_on_time();
        self.reach_on_time();
        let told = self.links.is_empty();
        if self.suspend.on_time(now, told) {
            info!(told, "the system may sleep");
        }
        let effects = self.guests.on_time(&self.rooms);
        self.do_guest_effects(effects);
        self.make_puzzles_unasked(now);
        #[cfg(feature = "online")]
        self.write_letters(crate::letters::Occasion::Time);
    }

    /// Stops all work, says goodbye to peers, and flushes the send queues for at most [`FAREWELL`].
    async fn part(&mut self) {
        info!("the host says goodbye");
        self.bots.clear();
        self.judge.stop();
        self.tablebase.stop();
        self.maker.stop();
        for id in self.rooms.keys().copied().collect::<Vec<_>>() {
            self.stop_clock(id);
        }
        self.notifying.close();
        #[cfg(feature = "online")]
        self.write_letters(crate::letters::Occasion::Stop);
        self.say_goodbye(ByeReason::ByeLeaving);
        self.show_changes();
        self.show_all_unseen();
        let effects = self.guests.stop(&self.rooms);
        self.do_guest_effects(effects);
        let transports = self.transports();
        // Connections and links end when their queues are dropped.
        self.people.clear();
        self.radios.clear();
        self.clients.close();
        for transport in transports {
            self.tasks.spawn(async move { transport.part().await });
        }
        let farewell = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(FAREWELL, farewell).await.is_err() {
            debug!("somebody did not take the goodbye");
        }
    }

    // Clients.

    fn welcome(&mut self, stream: Box<dyn Duplex>) {
        let inbox = self.inbox.clone();
        self.clients.welcome(stream, &mut self.tasks, move |id, news| {
            // Sending fails only after the actor has ended, which ends the connection too.
            let _ = inbox.send(Message::Client(id, news));
        });
    }

    fn asked(&mut self, id: ClientId, request: control::Request) {
        use control::request::Body;
        let Some(responder) = self.clients.responder(id, request.id) else { return };
        let bad = |why: &str| Refusal::new(RefusalCode::RefusalBadRequest, why);
        let answer = match request.body {
            None => Err(bad("this host does not know that request")),
            Some(Body::Attach(attach)) if attach.version != CONTROL_VERSION => Err(Refusal::new(
                RefusalCode::RefusalVersion,
                format!("this host speaks version {CONTROL_VERSION}, the client {}", attach.version),
            )),
            Some(Body::Attach(attach)) => {
                info!(client = attach.client, "a client attaches");
                self.clients.attach(id, attach.client);
                responder.done(done());
                return self.show_everything(id);
            }
            Some(_) if !self.clients.is_attached(id) => Err(bad("attach first")),
            Some(Body::Front(front)) => {
                self.clients.set_front(id, front.on);
                self.clients.set_unhurried(id, front.unhurried);
                let kept = self.profile.set_language(&mut self.journal, front.language());
                if kept.is_ok() && self.clients.anyone_in_front() {
                    self.notifying.withdraw_all();
                }
                kept.map(|()| done()).map_err(Refusal::from)
            }
            Some(Body::Scan(scan)) => {
                self.clients.set_scanning(id, scan.on);
                Ok(done())
            }
            Some(Body::StopWork(_)) => {
                self.work.stop(id);
                Ok(done())
            }
            Some(body) => {
                self.maker.note_use(Instant::now());
                return self.request(responder, body);
            }
        };
        // Events are sent before the reply, so that a client knows the effects of its request when the reply arrives.
        self.show_changes();
        responder.answer(answer);
    }

    /// Sends an event to every attached client, and to the desktop, which may show a notification.
    pub(crate) fn tell(&mut self, body: event::Body) {
        let hours = self.profile.quiet_hours();
        let is_quiet = || self.wall_clock.is_quiet(hours);
        let quiet = rings(&body) && is_quiet();
        self.notifying.heard(&body, self.profile.language(), self.clients.anyone_in_front(), is_quiet);
        self.clients.tell(body, quiet);
    }

    pub(crate) fn notice(&mut self, notice: control::Notice) {
        self.tell(event::Body::Notice(notice));
    }

    /// Sends the present state as events, followed by Ready.
    fn show_everything(&mut self, id: ClientId) {
        let mut events = vec![event::Body::Me(self.me())];
        events.extend(self.reach_events());
        events.extend(self.people_events());
        events.extend(self.blocked.events());
        events.extend(self.strangers.events());
        let gifts = self.gifts.all().iter().filter_map(|gift| self.shown_gift(gift));
        events.extend(gifts.map(event::Body::Gift));
        events.extend(self.guests.events(&self.rooms));
        events.extend(self.clubs.events());
        events.extend(self.rooms.values().map(|room| event::Body::Room(self.shown(room, Viewer::Here))));
        let today = self.wall_clock.local_day();
        let puzzles = self.puzzles.ids().filter_map(|id| self.puzzles.shown(id, &self.journal, today));
        events.extend(puzzles.map(event::Body::Room));
        #[cfg(feature = "online")]
        events.extend(self.online_events());
        events.push(event::Body::Endings(self.tablebase.shown()));
        events.push(event::Body::PuzzleMaking(self.maker.shown()));
        events.extend(self.installed.event());
        events.push(event::Body::Ready(control::Ready {}));
        // To every client that attaches, because none may have been attached when it happened.
        if let Some(aside) = &self.journal.set_aside {
            let detail = aside.display().to_string();
            let aside = notice(NoticeKind::NoticeSavesSetAside);
            events.push(event::Body::Notice(control::Notice { detail, ..aside }));
        }
        for body in events {
            self.clients.tell_one(id, body);
        }
    }

    pub(crate) fn me(&self) -> control::Me {
        control::Me { ends_with_app: self.ends_with_app, ..self.profile.shown(self.guests.are_possible()) }
    }

    // Rooms.

    /// The record, the seats or the state of the peer have changed: schedules the display of the room and its bots.
    pub(crate) fn room_changed(&mut self, id: MatchId) {
        self.dirty.insert(id);
        self.check_clock(id);
        self.wake_bots(id);
        self.propose_dead(id);
        self.tell_club_of_room(id);
    }

    /// Asks the engine for dead stones after two passes, when it is the turn of a user of this device.
    fn propose_dead(&mut self, id: MatchId) {
        let Some(room) = self.rooms.get(&id) else { return };
        let at = room.waits_for_marks(self.turn(room));
        let room = self.rooms.get_mut(&id).expect("just seen");
        let (true, Some((ply, revision))) = (room.proposal.is_due(at), at) else { return };
        let AnyGame::Go(go) = room.game().clone() else { return };
        let (inbox, about) = (self.inbox.clone(), (id, ply, revision));
        // Sending fails only after the actor has ended.
        let tell = move |dead| drop(inbox.send(Message::DeadProposed(about, dead)));
        match counting::ask(go, self.chance.seed(), self.bot_time, tell) {
            Ok(()) => room.proposal.begun((ply, revision)),
            Err(error) => warn!(%error, "no thread for a proposal of dead stones"),
        }
    }

    /// Marks the proposed chains for the user whose turn it is, unless the position has changed.
    fn dead_proposed(&mut self, (id, ply, revision): counting::About, stones: &[Point]) {
        let Some(room) = self.rooms.get(&id) else { return };
        if (room.ply(), room.record().revision) != (ply, revision) {
            return;
        }
        if room.waits_for_marks(self.turn(room)).is_none() {
            self.rooms.get_mut(&id).expect("just seen").proposal.missed();
            return;
        }
        for &stone in stones {
            if let Err(refusal) = self.play(id, Action::Toggle(stone)) {
                debug!(%id, detail = refusal.detail, "the dead stones could not be marked");
                return;
            }
        }
    }

    /// Only the display has changed: schedules the display of the room.
    pub(crate) fn mark_for_display(&mut self, id: MatchId) {
        self.dirty.insert(id);
    }

    pub(crate) fn show_changes(&mut self) {
        if let Some(detail) = self.journal.take_trouble() {
            self.notice(control::Notice { detail, ..notice(NoticeKind::NoticeDiskFull) });
        }
        for id in std::mem::take(&mut self.dirty) {
            if let Some(room) = self.rooms.get(&id) {
                let shown = self.shown(room, Viewer::Here);
                self.tell(event::Body::Room(shown));
                self.show_guests(id);
            } else if let Some(shown) = self.puzzles.shown(id, &self.journal, self.wall_clock.local_day()) {
                self.tell(event::Body::Room(shown));
            }
        }
    }

    /// The room from the point of view of a client, a guest or a spectator.
    pub(crate) fn shown(&self, room: &Room, viewer: Viewer) -> control::Room {
        let achieved = store::achieved(&self.journal, room, viewer.guest()).unwrap_or_else(|error| {
            warn!(%error, "what was achieved is not known");
            None
        });
        let link = room.peer().and_then(|key| {
            let peer = self.people.get(&key)?;
            let link = peer.shown_link(Instant::now(), self.main_carrier());
            #[cfg(feature = "online")]
            if peer.link.is_none() {
                return Some(control::LinkState { letter: self.letter_state(room.id()).into(), ..link });
            }
            Some(link)
        });
        let seats = Side::BOTH.map(|side| self.shown_seat(room, side));
        room_view::shown(room, viewer, &self.around(room), Outside { seats, achieved, link })
    }

    fn around(&self, room: &Room) -> Around<'_> {
        let peer = room.peer().and_then(|key| self.people.get(&key));
        Around {
            now: self.session_now(),
            waits: self.guests.keep_waiting(room),
            state: peer.and_then(|peer| peer.match_state(room.id())),
            is_broken: peer.is_some_and(|peer| peer.rebuild.is_some()),
        }
    }

    /// The race from the point of view of this device's user, if the room is one.
    pub(crate) fn race(&self, room: &Room) -> Option<session::Race> {
        room_view::race(room, &self.around(room))
    }

    /// The side to move, if it may act now. In a race: this device's side, while it may press.
    pub(crate) fn turn(&self, room: &Room) -> Option<Side> {
        room_view::turn(room, &self.around(room))
    }

    pub(crate) fn shown_seat(&self, room: &Room, side: Side) -> control::Seat {
        self.seat_of(room.id(), side, room.seat(side), room.assists[side.index()])
    }

    /// The seats of a kept match.
    pub(crate) fn shown_seats(&self, saved: &SavedMatch) -> [control::Seat; 2] {
        Side::BOTH.map(|side| self.seat_of(saved.record.id, side, &saved.seats[side.index()], None))
    }

    fn seat_of(&self, id: MatchId, side: Side, seat: &Seat, assist: Option<Level>) -> control::Seat {
        let name = match seat {
            Seat::Peer(key) => self.names.shown(*key),
            Seat::Guest(name) => name.clone(),
            Seat::Here | Seat::Bot(_) | Seat::Engine(_) => String::new(),
        };
        let away = matches!(seat, Seat::Guest(_)) && !self.guests.is_present(id, side);
        let mut shown = crate::show::seat(seat, assist, name, away);
        if matches!(seat, Seat::Bot(_)) {
            shown.bot_adapts = self.journal.is_adaptive(id).unwrap_or_else(|error| {
                warn!(%error, "whether the level adapts is not known");
                false
            });
        }
        shown
    }
}

/// Version of the client protocol, see `control.proto`.
const CONTROL_VERSION: u32 = 1;

/// Keys in the table of settings.
const PLAYER: &str = "player";
pub(crate) const ADAPTER: &str = "adapter";

/// Whether clients may make a sound for this event at any time of the day.
fn rings(body: &event::Body) -> bool {
    use event::Body;
    matches!(body, Body::Invitation(_) | Body::Comparison(_) | Body::Gift(_) | Body::Said(_))
}

pub(crate) fn notice(kind: NoticeKind) -> control::Notice {
    control::Notice { kind: kind.into(), ..control::Notice::default() }
}
