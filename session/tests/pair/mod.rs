//! Two sessions with their journals, and a link that can be cut at any message; no clock, no radio, no disk.

#![allow(dead_code, reason = "each test file uses its own part")]

mod journal;
mod setups;

use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::time::Duration;

use engine::{Action, GameKind, Setup, Side};
use proto::peer::{ByeReason, Envelope};
use session::{
    Command, Config, Error, Event, Input, Instant, LinkState, MatchId, MatchRecord, MatchState, OfferKind,
    Output, Refused, Role, Session, Terms,
};

use journal::{Disk, step};

pub(crate) use journal::Journal;
#[allow(unused_imports, reason = "each test file uses its own part")]
pub(crate) use setups::{
    any_colours, any_pace, any_small, choices, invite, place, small, small_race, solution,
};

/// Index of a device.
pub(crate) const ANNA: usize = 0;
pub(crate) const BERT: usize = 1;

/// A person's action: the records must contain it, unless truncated by consent.
#[derive(Clone, Copy, Debug)]
struct Acted {
    id: MatchId,
    revision: u32,
    ply: u32,
    action: Action,
}

pub(crate) struct Device {
    pub(crate) session: Session,
    pub(crate) journal: Journal,
    /// Events since the last look.
    pub(crate) events: Vec<Event>,
    pub(crate) tick: Option<Instant>,
    pub(crate) linked: bool,
    /// Number of effects until the device is killed.
    pub(crate) dies_at: Option<usize>,
    pub(crate) deaths: usize,
    /// Messages in flight to this device.
    pub(crate) inbox: VecDeque<Envelope>,
    /// The link goes down on this side once the inbox is empty.
    hangs_up: bool,
    /// All messages that the session has sent, for assertions.
    pub(crate) sent: Vec<Envelope>,
}

pub(crate) struct Pair {
    pub(crate) devices: [Device; 2],
    pub(crate) now: Instant,
    links: u8,
    acted: Vec<Acted>,
    /// All presses in races: device, match, action.
    pressed: Vec<(usize, MatchId, Action)>,
    ids: u8,
    /// The message of this number, counted over both directions, is lost together with the link.
    pub(crate) cut_at: Option<(usize, Cut)>,
    pub(crate) messages: usize,
    /// The link was cut: no message arrives any more, whether the ends know that or not.
    dead: bool,
    /// `QIYOU_TRACE` is set: print everything.
    trace: bool,
    /// A real link under the simulated one; see [`Carrier`].
    pub(crate) carrier: Option<Box<dyn Carrier>>,
}

/// A real link under the pair's schedule: a message is written when it is sent, and read when the pair delivers it. The schedule
/// therefore decides how full the two streams are and where they are cut.
pub(crate) trait Carrier {
    /// Opens a link, dialed by this device, and drops the old one.
    fn connect(&mut self, dialer: usize);
    /// Writes a message to the other device.
    fn send(&mut self, from: usize, envelope: &Envelope);
    /// Reads the next message to this device.
    fn receive(&mut self, to: usize) -> Envelope;
}

/// The effect of a cut on messages in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// All messages in flight are lost, both ways.
    All,
    /// Earlier messages still arrive, both ways.
    Clean,
    /// The sender detects the cut at once; the receiver only with the next link.
    SenderNotices,
    /// The reverse: the receiver detects the cut at once, and the sender's messages are lost.
    ReceiverNotices,
}

pub(crate) const CUTS: [Cut; 4] = [Cut::All, Cut::Clean, Cut::SenderNotices, Cut::ReceiverNotices];

/// An unfinished match is resigned after this many actions.
const PATIENCE: usize = 30;

fn config(device: usize, journal: &Journal, life: usize) -> Config {
    Config {
        versions: session::VERSIONS,
        name: ["Anna", "Bert"][device].into(),
        advert_key: [device as u8 + 1; 32],
        known: journal.friend.is_some(),
        known_name_new_key: false,
        // All unsettled matches; Bert's host includes the last settled one.
        matches: journal
            .matches
            .iter()
            .filter(|(record, settled)| {
                let last = journal.matches.iter().rfind(|(_, settled)| *settled);
                !settled || device == BERT && last.is_some_and(|(last, _)| last.id == record.id)
            })
            .cloned()
            .collect(),
        promised: journal.promised.clone(),
        seed: [device as u8 * 100 + life as u8; 32],
    }
}

impl Device {
    fn new(device: usize, journal: Journal) -> Self {
        Self {
            session: Session::new(config(device, &journal, 0)),
            journal,
            events: Vec::new(),
            tick: None,
            linked: false,
            dies_at: None,
            deaths: 0,
            inbox: VecDeque::new(),
            hangs_up: false,
            sent: Vec::new(),
        }
    }

    pub(crate) fn state(&self, id: MatchId) -> &MatchState {
        self.session.match_state(id).expect("the match is known")
    }

    pub(crate) fn told(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}

impl Pair {
    /// Two devices that have never met.
    pub(crate) fn strangers() -> Self {
        Self::with([Journal::default(), Journal::default()])
    }

    /// Two friends without a link.
    pub(crate) fn friends() -> Self {
        Self::with([ANNA, BERT].map(|device| Journal {
            friend: Some((["Bert", "Anna"][device].into(), [2 - device as u8; 32])),
            ..Journal::default()
        }))
    }

    pub(crate) fn with(journals: [Journal; 2]) -> Self {
        let [anna, bert] = journals;
        Self {
            devices: [Device::new(ANNA, anna), Device::new(BERT, bert)],
            now: Instant(Duration::from_secs(1_000)),
            links: 0,
            acted: Vec::new(),
            pressed: Vec::new(),
            ids: 0,
            cut_at: None,
            messages: 0,
            dead: false,
            trace: std::env::var_os("QIYOU_TRACE").is_some(),
            carrier: None,
        }
    }

    /// Friends with a link and a match, in which Anna is first.
    pub(crate) fn playing() -> (Self, MatchId) {
        let mut pair = Self::friends();
        pair.connect();
        pair.run();
        let id = pair.begin(ANNA, small(), Side::First);
        (pair, id)
    }

    pub(crate) fn connect(&mut self) {
        self.connect_from(ANNA);
    }

    /// A new link, replacing an older one.
    pub(crate) fn connect_from(&mut self, dialer: usize) {
        self.links = self.links.wrapping_add(1);
        self.dead = false;
        if let Some(carrier) = &mut self.carrier {
            carrier.connect(dialer);
        }
        for device in &mut self.devices {
            device.inbox.clear();
            device.hangs_up = false;
            device.linked = true;
        }
        for device in [dialer, 1 - dialer] {
            let role = if device == dialer { Role::Dialer } else { Role::Listener };
            self.input(device, Input::LinkUp { role, handshake_hash: [self.links; 32] });
        }
    }

    /// One side's link goes down; the other has not detected it yet.
    pub(crate) fn lose_link(&mut self, device: usize) {
        if std::mem::take(&mut self.devices[device].linked) {
            self.devices[device].inbox.clear();
            self.devices[device].hangs_up = false;
            self.input(device, Input::LinkDown);
        }
    }

    pub(crate) fn lose_links(&mut self) {
        self.lose_link(ANNA);
        self.lose_link(BERT);
    }

    /// `kill -9` and a restart from the journal.
    pub(crate) fn restart(&mut self, device: usize) {
        let there = &mut self.devices[device];
        there.linked = false;
        there.hangs_up = false;
        there.inbox.clear();
        there.events.clear();
        there.dies_at = None;
        there.deaths += 1;
        there.session = Session::new(config(device, &there.journal, there.deaths));
        self.drain(device);
        // The carrier informs the other side.
        self.devices[1 - device].hangs_up = true;
    }

    /// Another program on this device, which speaks these versions, until the next restart.
    pub(crate) fn speaks(&mut self, device: usize, versions: RangeInclusive<u32>) {
        let there = &mut self.devices[device];
        there.session = Session::new(Config { versions, ..config(device, &there.journal, there.deaths) });
        self.drain(device);
    }

    /// Hands in one input and carries out the outputs. The peer is honest here: a violation is a bug.
    pub(crate) fn input(&mut self, device: usize, input: Input) {
        let context = format!("{input:?}");
        if self.trace {
            eprintln!("{device} <- {context}");
        }
        if let Err(Error::Violation(violation)) = self.try_input(device, input) {
            panic!("an honest peer was found guilty: {violation} after {context}");
        }
    }

    pub(crate) fn try_input(&mut self, device: usize, input: Input) -> Result<(), Error> {
        let done = self.devices[device].session.handle(self.now, input);
        self.drain(device);
        done
    }

    pub(crate) fn command(&mut self, device: usize, command: Command) -> Result<(), Refused> {
        match self.try_input(device, Input::Command(command)) {
            Ok(()) => Ok(()),
            Err(Error::Refused(refused)) => Err(refused),
            Err(Error::Violation(violation)) => panic!("a command is no violation: {violation}"),
        }
    }

    pub(crate) fn drain(&mut self, device: usize) {
        loop {
            let trace = self.trace;
            let Device { session, journal, dies_at, .. } = &mut self.devices[device];
            let polled = session.poll(&mut Disk { journal, dies_at, trace });
            let Ok(output) = polled.and_then(|output| step(dies_at).map(|()| output)) else {
                return self.restart(device);
            };
            if self.trace && !matches!(output, Output::Idle { .. }) {
                eprintln!("{device} {output:?}");
            }
            match output {
                Output::Send(envelope) => self.transmit(device, envelope),
                Output::Event(event) => self.devices[device].events.push(event),
                Output::Close(_) => {
                    // Earlier messages still arrive.
                    self.devices[1 - device].hangs_up = true;
                    self.devices[device].hangs_up = true;
                    self.devices[device].inbox.clear();
                }
                Output::Idle { until } => {
                    self.devices[device].tick = until;
                    break;
                }
            }
        }
        self.check_journal(device);
    }

    fn transmit(&mut self, from: usize, envelope: Envelope) {
        let to = 1 - from;
        self.devices[from].sent.push(envelope.clone());
        if self.dead || !self.devices[from].linked || !self.devices[to].linked || self.devices[to].hangs_up {
            return;
        }
        let number = self.messages;
        self.messages += 1;
        match self.cut_at {
            Some((at, cut)) if at == number => {
                match cut {
                    Cut::All => {
                        for device in &mut self.devices {
                            device.inbox.clear();
                            device.hangs_up = true;
                        }
                    }
                    Cut::Clean => self.devices.iter_mut().for_each(|device| device.hangs_up = true),
                    Cut::SenderNotices => self.devices[from].hangs_up = true,
                    Cut::ReceiverNotices => self.devices[to].hangs_up = true,
                }
                self.cut_at = None;
                self.dead = true;
                if matches!(cut, Cut::SenderNotices | Cut::ReceiverNotices) {
                    // From here on no message arrives, and one side does not know.
                    self.devices[to].inbox.clear();
                    self.devices[from].inbox.clear();
                }
            }
            _ => {
                if let Some(carrier) = &mut self.carrier {
                    carrier.send(from, &envelope);
                }
                self.devices[to].inbox.push_back(envelope);
            }
        }
    }

    /// Invariant: an idle session's state equals its journal.
    fn check_journal(&self, device: usize) {
        let Device { session, journal, .. } = &self.devices[device];
        for state in session.matches() {
            let (record, settled) = journal
                .matches
                .iter()
                .find(|(record, _)| record.id == state.id())
                .expect("a match was saved");
            // An own offer is void at any other revision; the journal need not remove it.
            let offered = record.offered.filter(|offered| offered.revision == record.revision);
            let record = MatchRecord { offered, ..record.clone() };
            assert_eq!(*state.record(), record, "memory and journal of device {device}");
            assert_eq!(state.is_settled(), *settled, "settled in memory and journal of device {device}");
            assert_eq!(state.digest(), record.digest());
            assert_eq!(state.position().ply() as usize, record.actions.len());
        }
    }

    /// Delivers one message, or lets the link end where scheduled. Returns whether there was anything.
    pub(crate) fn deliver(&mut self, device: usize) -> bool {
        if let Some(envelope) = self.devices[device].inbox.pop_front() {
            if let Some(carrier) = &mut self.carrier {
                assert_eq!(carrier.receive(device), envelope, "what was said is what is heard");
            }
            self.input(device, Input::Received(envelope));
            return true;
        }
        if std::mem::take(&mut self.devices[device].hangs_up) {
            self.lose_link(device);
            return true;
        }
        false
    }

    /// Delivers until nothing is in flight. No time passes.
    pub(crate) fn run(&mut self) {
        for _ in 0..10_000 {
            let (anna, bert) = (self.deliver(ANNA), self.deliver(BERT));
            if !anna && !bert {
                return;
            }
        }
        panic!("the devices never stop talking");
    }

    /// Lets time pass, with ticks when they are due and everything delivered at once.
    pub(crate) fn wait(&mut self, duration: Duration) {
        let end = self.now + duration;
        loop {
            self.run();
            let next = self.devices.iter().filter_map(|device| device.tick).min().unwrap_or(end);
            if next > end {
                break;
            }
            assert!(next >= self.now || self.now == end, "a tick in the past");
            self.now = self.now.max(next);
            for device in [ANNA, BERT] {
                if self.devices[device].tick.is_some_and(|tick| tick <= self.now) {
                    self.input(device, Input::Tick);
                }
            }
            if self.now >= end && self.devices.iter().all(|device| device.tick.is_none_or(|tick| tick > end))
            {
                break;
            }
        }
        self.now = end;
    }

    /// Lets time pass with ticks when they are due, without delivery.
    pub(crate) fn delay(&mut self, duration: Duration) {
        let end = self.now + duration;
        while self.now < end {
            let next = self.devices.iter().filter_map(|device| device.tick).min().unwrap_or(end);
            self.now = self.now.max(next.min(end));
            for device in [ANNA, BERT] {
                if self.devices[device].tick.is_some_and(|tick| tick <= self.now) {
                    self.input(device, Input::Tick);
                }
            }
        }
    }

    pub(crate) fn fresh_id(&mut self) -> MatchId {
        self.ids = self.ids.wrapping_add(1);
        MatchId([self.ids; 16])
    }

    /// Invites, accepts, and runs.
    pub(crate) fn begin(&mut self, device: usize, setup: Setup, my_side: Side) -> MatchId {
        let id = self.fresh_id();
        self.command(device, invite(id, setup, my_side)).expect("the peer is here");
        self.run();
        self.command(1 - device, Command::AnswerInvite { id, decline: None }).expect("it was invited");
        self.run();
        self.check_level(id);
        id
    }

    /// The same with these terms.
    pub(crate) fn begin_with(&mut self, device: usize, terms: Terms) -> MatchId {
        let id = self.fresh_id();
        self.command(device, Command::Invite { id, terms, counters: None }).expect("the peer is here");
        self.run();
        self.command(1 - device, Command::AnswerInvite { id, decline: None }).expect("it was invited");
        self.run();
        self.check_level(id);
        id
    }

    /// Lets time pass without delivery.
    pub(crate) fn wait_without_delivery(&mut self, duration: Duration) {
        self.now = self.now + duration;
    }

    /// Plays an action, and remembers that it must not be lost.
    pub(crate) fn act(&mut self, device: usize, id: MatchId, action: Action) -> Result<(), Refused> {
        let state = self.devices[device].session.match_state(id).ok_or(Refused::NoSuchMatch)?;
        let (revision, ply) = (state.record().revision, state.ply() + 1);
        let deaths = self.devices[device].deaths;
        if state.is_race() {
            let before = self.pressed_of(device, id);
            self.command(device, Command::Act { id, action })?;
            let after = self.pressed_of(device, id);
            if after.len() > before.len() {
                self.pressed.push((device, id, action));
            }
            assert!(
                after.len() > before.len() || self.devices[device].deaths > deaths,
                "taken but not written"
            );
            return Ok(());
        }
        self.command(device, Command::Act { id, action })?;
        let saved = self.devices[device].journal.record(id).is_some_and(|record| {
            record.revision == revision && record.actions.get(ply as usize - 1) == Some(&action)
        });
        // A crash before the write: the person sees that the action was not played.
        assert!(saved || self.devices[device].deaths > deaths, "an action was taken but not written");
        if saved {
            self.acted.push(Acted { id, revision, ply, action });
        }
        Ok(())
    }

    /// All presses of this device's person in a race that its journal has, in the record or before it.
    fn pressed_of(&self, device: usize, id: MatchId) -> Vec<Action> {
        let Some(record) = self.devices[device].journal.record(id) else { return Vec::new() };
        let second =
            record.actions.iter().position(|one| matches!(one, Action::Done(_))).map_or(0, |at| at + 1);
        let entered = match record.my_side {
            Side::First => &record.actions[..second],
            Side::Second => &record.actions[second..],
        };
        let all = entered.iter().chain(&record.run);
        all.filter(|action| matches!(action, Action::Press(_))).copied().collect()
    }

    pub(crate) fn offer(&mut self, device: usize, id: MatchId, kind: OfferKind) -> Result<(), Refused> {
        self.command(device, Command::Offer { id, kind })
    }

    pub(crate) fn answer(&mut self, device: usize, id: MatchId, accept: bool) -> Result<(), Refused> {
        self.command(device, Command::AnswerOffer { id, accept })
    }

    /// Both devices have the same record of this match, and know that.
    pub(crate) fn check_level(&self, id: MatchId) {
        let [anna, bert] = [ANNA, BERT].map(|device| self.devices[device].state(id));
        assert!(anna.record().agrees_with(bert.record()), "{:?}\n{:?}", anna.record(), bert.record());
        assert_eq!(anna.seen_ply(), Some(anna.ply()), "Anna knows what Bert holds");
        assert_eq!(bert.seen_ply(), Some(bert.ply()), "Bert knows what Anna holds");
        assert!(anna.is_level() && bert.is_level());
    }

    /// A stable link, all records in sync, all open questions answered.
    pub(crate) fn heal(&mut self) {
        self.cut_at = None;
        for device in &mut self.devices {
            device.dies_at = None;
        }
        self.lose_links();
        self.connect();
        self.run();
        if self.devices[ANNA].session.link() == LinkState::Comparing {
            for device in [ANNA, BERT] {
                self.command(device, Command::Compare { same: true }).expect("the string is shown");
                self.run();
            }
        }
        // A match that only one journal has comes as an invitation; several come one after another.
        for _ in 0..session::MAX_MATCHES {
            let asked = self.answer_everything();
            if !asked {
                break;
            }
            self.lose_links();
            self.connect();
            self.run();
        }
    }

    fn answer_everything(&mut self) -> bool {
        let mut asked = false;
        for device in [ANNA, BERT] {
            for event in self.devices[device].told() {
                if let Event::Invited { id, .. } = event {
                    asked |= self.command(device, Command::AnswerInvite { id, decline: None }).is_ok();
                    self.run();
                }
            }
            let offers: Vec<_> = self.devices[device]
                .session
                .matches()
                .filter(|state| state.their_offer().is_some())
                .map(MatchState::id)
                .collect();
            for id in offers {
                self.answer(device, id, false).expect("the offer is shown");
                self.run();
            }
        }
        asked
    }

    /// Asserts that every record is equal on both sides, with nothing lost or duplicated.
    pub(crate) fn check_equal(&self) {
        let [anna, bert] = [ANNA, BERT].map(|device| &self.devices[device].journal.matches);
        assert_eq!(anna.len(), bert.len(), "both journals know the same matches");
        for (mine, _) in anna {
            let (theirs, _) =
                bert.iter().find(|(theirs, _)| theirs.id == mine.id).expect("both journals know the match");
            assert!(mine.agrees_with(theirs), "records differ:\n{mine:?}\n{theirs:?}");
            for device in [ANNA, BERT] {
                let of_this = |one: &&(usize, MatchId, Action)| (one.0, one.1) == (device, mine.id);
                let made: Vec<_> = self.pressed.iter().filter(of_this).map(|(_, _, press)| *press).collect();
                if mine.setup.kind() == GameKind::LightsOut {
                    assert_eq!(
                        self.pressed_of(device, mine.id),
                        made,
                        "no press is lost or doubled: {mine:?}"
                    );
                }
            }
            for (index, action) in mine.actions.iter().enumerate() {
                if mine.setup.kind() == GameKind::LightsOut {
                    break;
                }
                let made = self.acted.iter().any(|acted| {
                    acted.id == mine.id && acted.ply as usize == index + 1 && acted.action == *action
                });
                assert!(made, "nobody played {action} at ply {}", index + 1);
            }
        }
        for acted in &self.acted {
            let (record, _) = anna.iter().find(|(record, _)| record.id == acted.id).expect("checked above");
            let cut =
                self.devices.iter().flat_map(|device| &device.journal.cuts).any(|(id, ply, revision)| {
                    *id == acted.id && *revision > acted.revision && *ply < acted.ply
                });
            let there = record.actions.get(acted.ply as usize - 1) == Some(&acted.action);
            assert!(there || cut, "an action was lost: {acted:?} in {record:?}");
        }
        // With a link and nothing in flight, both show the same clocks.
        for mine in self.devices[ANNA].session.matches() {
            let Some(theirs) = self.devices[BERT].session.match_state(mine.id()) else { continue };
            for side in Side::BOTH {
                let clocks = [mine, theirs].map(|state| state.clock(side, self.now));
                assert_eq!(clocks[0], clocks[1], "the clocks of {side:?} in {:?}", mine.record());
            }
            if mine.record().result.is_some() {
                assert_eq!(mine.analysis(), theirs.analysis(), "both look at the same");
            }
        }
        for device in &self.devices {
            for state in device.session.matches() {
                assert!(state.is_level() && !state.differs(), "not level: {:?}", state.record());
                assert!(state.my_offer().is_none() && state.their_offer().is_none());
            }
        }
    }

    /// Plays every match to its end, and asserts that it is settled on both sides.
    pub(crate) fn finish(&mut self) {
        // A settled match may be missing after a restart.
        let open = |state: &&MatchState| state.record().result.is_none();
        let ids: Vec<_> = self.devices[ANNA].session.matches().filter(open).map(MatchState::id).collect();
        for id in ids {
            // A flag may fall at this very moment.
            self.wait(Duration::ZERO);
            self.run();
            if self.devices[ANNA].state(id).record().paused {
                self.offer(BERT, id, OfferKind::Continue).expect("it is paused");
                self.run();
                self.answer(ANNA, id, true).expect("asked");
                self.run();
                // Paused with nothing left on the clock.
                self.wait(Duration::ZERO);
                self.run();
            }
            // Enough for a full board of gomoku. Other games may go on for ever and end by resignation.
            for _ in 0..PATIENCE {
                if self.devices[ANNA].state(id).record().result.is_some() {
                    break;
                }
                let actor = usize::from(!self.devices[ANNA].state(id).can_act());
                let action = choices(self.devices[actor].state(id), self.now)[0];
                self.act(actor, id, action).expect("one of them is to move, and the action is legal");
                self.run();
            }
            if self.devices[ANNA].state(id).record().result.is_none() {
                self.command(BERT, Command::Resign(id)).expect("the match goes on");
                self.run();
            }
            self.check_level(id);
        }
        self.check_equal();
        for device in [ANNA, BERT] {
            assert!(
                self.devices[device].journal.matches.iter().all(|(_, settled)| *settled),
                "all is over and known to be: {:?}",
                self.devices[device].journal.matches
            );
        }
    }

    /// Heals, checks, finishes, checks.
    pub(crate) fn conclude(&mut self) {
        self.heal();
        self.check_equal();
        self.finish();
    }

    /// The invitation that this device's person has to answer.
    pub(crate) fn invited(&self, device: usize) -> Option<MatchId> {
        let mut open = None;
        for event in &self.devices[device].events {
            match event {
                Event::Invited { id, .. } => open = Some(*id),
                Event::InvitationEnded { mine: false, .. } => open = None,
                _ => {}
            }
        }
        open
    }

    /// The last invitation that this device sent.
    pub(crate) fn inviting(&self, device: usize) -> Option<MatchId> {
        self.devices[device].sent.iter().rev().find_map(|envelope| match envelope {
            Envelope::Invite(invite) => invite.invite_id[..].try_into().map(MatchId).ok(),
            _ => None,
        })
    }

    pub(crate) fn closed(&self, device: usize) -> Option<ByeReason> {
        match self.devices[device].session.link() {
            LinkState::Closed(reason) => Some(reason),
            _ => None,
        }
    }
}
