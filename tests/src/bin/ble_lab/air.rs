//! The simulated radio between the handhelds: every HCI packet between a guest and its emulated controller passes
//! here.
//!
//! Data waits for connection events as on a real radio, and faults are injected here. One thread, one queue: the handling
//! of a packet depends only on earlier packets.

use crate::h4::{self, AddressKind, Event, Splitter};
use crate::meter::{Meter, Traffic};
use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::OwnedWriteHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

/// The connection interval. BlueZ itself chooses 30 to 50 ms.
pub(crate) const INTERVAL: Duration = Duration::from_millis(30);
/// Data packets per device and connection event, unless the lab is told otherwise: what small controllers manage.
pub(crate) const PACKETS_PER_EVENT: u32 = 6;
/// The kernel's default supervision timeout: how long a lost link is silent before both ends are told.
const SUPERVISION: Duration = Duration::from_millis(420);
/// The HCI reason "connection timeout", reported to both ends.
const CONNECTION_TIMEOUT: u8 = 0x08;

/// What links can carry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Data packets per side and connection event.
    pub(crate) packets: u32,
    /// The highest ATT MTU that either side is told of.
    pub(crate) mtu: Option<u16>,
}

/// One handheld's side of the radio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Side {
    A = 0,
    B = 1,
    C = 2,
    D = 3,
    E = 4,
}

impl Side {
    /// As many as a lab can have.
    pub(crate) const ALL: [Side; 5] = [Side::A, Side::B, Side::C, Side::D, Side::E];

    /// The other one of the two that a network cable joins; the others have none.
    pub(crate) fn cable_peer(self) -> Option<Side> {
        match self {
            Side::A => Some(Side::B),
            Side::B => Some(Side::A),
            _ => None,
        }
    }

    /// Its address in the network of the two guests.
    pub(crate) fn address(self) -> &'static str {
        match self {
            Side::A => "10.77.0.1",
            _ => "10.77.0.2",
        }
    }
}

/// Faults of the radio.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// Loses every link: silence, and after the supervision timeout both ends are told. Nobody hears another's
    /// advertisements for `away`, which begins with the silence.
    Cut {
        away: Duration,
    },
    /// Ends every link as if the other side had disconnected.
    Kick,
    /// Delays all data without an error, until `Unmute`.
    Mute,
    Unmute,
    /// Removes a side's controller; the other side hears nothing of it. The side's own host is not told here: its cable is
    /// unplugged separately.
    Unplug(Side),
    /// Restores the controller, in its state after power on and without a [`Quirk`].
    Plug(Side),
}

/// Limitations of a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Quirk {
    /// It cannot advertise and scan at once.
    OneAtATime,
    /// It cannot advertise.
    NoAdverts,
}

/// A handle of the radio's task.
#[derive(Clone)]
pub(crate) struct Air(mpsc::UnboundedSender<Input>);

impl Air {
    /// Listens on `hci-A`, `hci-B` and so on in `directory`, one for each controller.
    pub(crate) fn start(
        directory: &Path,
        controllers: Vec<std::os::unix::net::UnixStream>,
        limits: Limits,
    ) -> Result<Air> {
        let listen =
            |side: Side| std::os::unix::net::UnixListener::bind(directory.join(format!("hci-{side:?}")));
        let ends: Vec<_> =
            Side::ALL.into_iter().zip(controllers).map(|(side, end)| (side, listen(side), end)).collect();
        let (sender, inputs) = mpsc::unbounded_channel();
        let air = Air(sender.clone());
        std::thread::Builder::new().name("air".into()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a timer and a poller");
            runtime.block_on(async move {
                let mut seats = Vec::new();
                for (side, listener, controller) in ends {
                    match seat(listener, side, controller, sender.clone()).await {
                        Ok(seat) => seats.push(seat),
                        Err(error) => return eprintln!("air: side {side:?}: {error:#}"),
                    }
                }
                drop(sender);
                if let Err(error) = State::new(seats, limits).run(inputs).await {
                    eprintln!("air: {error:#}");
                }
            });
        })?;
        Ok(air)
    }

    /// Injects `fault` and returns when it is complete; for a cut, when both ends have been told.
    pub(crate) async fn fault(&self, fault: Fault) -> Result<Struck> {
        let (done, wait) = oneshot::channel();
        self.0.send(Input::Fault(fault, done)).ok().context("the air is gone")?;
        wait.await.context("the air is gone")
    }

    /// Stops the radio; running guests see their controllers vanish.
    pub(crate) fn stop(&self) {
        // Already stopped is fine.
        let _ = self.0.send(Input::Stop);
    }

    /// From now on this side's controller rejects the commands that the quirk excludes.
    pub(crate) fn limit(&self, side: Side, quirk: Quirk) -> Result<()> {
        self.0.send(Input::Limit(side, quirk)).ok().context("the air is gone")
    }

    pub(crate) async fn reading(&self) -> Result<Reading> {
        let (answer, wait) = oneshot::channel();
        self.0.send(Input::Read(answer)).ok().context("the air is gone")?;
        wait.await.context("the air is gone")
    }
}

/// Whether a fault hit a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Struck {
    Link,
    Nothing,
}

/// What hosts did with their controllers since the start of the radio.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Habits {
    /// Whether an advertisement was begun with the commands of before Bluetooth 5, and whether with those of extended advertising.
    pub(crate) advertised_plainly: bool,
    pub(crate) advertised_extended: bool,
    /// Whether BR/EDR devices were looked for.
    pub(crate) inquired: bool,
    /// Kinds of the addresses that peers had on links.
    pub(crate) addresses: BTreeSet<AddressKind>,
    /// Most data packets that a side sent in one connection event.
    pub(crate) most_packets: u32,
}

/// The meters' values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) traffic: Traffic,
    /// Longest value of an ATT write or notification since the last reading, in bytes.
    pub(crate) longest_value: usize,
    /// Links that are up.
    pub(crate) links: usize,
    /// Whether each side's controller scans, and whether it advertises.
    pub(crate) scans: Vec<bool>,
    pub(crate) advertises: Vec<bool>,
    pub(crate) habits: Habits,
}

enum Input {
    Packet(Side, From, Vec<u8>),
    Gone(Side, String),
    Fault(Fault, oneshot::Sender<Struck>),
    Limit(Side, Quirk),
    Read(oneshot::Sender<Reading>),
    Stop,
}

#[derive(Clone, Copy, Debug)]
enum From {
    Host,
    Controller,
}

/// Waits for a guest and connects it to its controller.
async fn seat(
    listener: std::io::Result<std::os::unix::net::UnixListener>,
    side: Side,
    controller: std::os::unix::net::UnixStream,
    inputs: mpsc::UnboundedSender<Input>,
) -> Result<Seat> {
    let listener = listener?;
    listener.set_nonblocking(true)?;
    let (host, _) = UnixListener::from_std(listener)?.accept().await?;
    controller.set_nonblocking(true)?;
    let controller = UnixStream::from_std(controller)?;
    let ((from_host, to_host), (from_controller, to_controller)) =
        (host.into_split(), controller.into_split());
    for (mut stream, from) in [(from_host, From::Host), (from_controller, From::Controller)] {
        let inputs = inputs.clone();
        tokio::spawn(async move {
            let (mut splitter, mut buffer) = (Splitter::default(), [0; 4096]);
            let why = 'read: loop {
                match stream.read(&mut buffer).await {
                    Ok(0) => break "closed".to_owned(),
                    Err(error) => break error.to_string(),
                    Ok(length) => splitter.feed(&buffer[..length]),
                }
                loop {
                    match splitter.next() {
                        Ok(Some(packet)) => {
                            if inputs.send(Input::Packet(side, from, packet)).is_err() {
                                return;
                            }
                        }
                        Ok(None) => break,
                        Err(error) => break 'read error.to_string(),
                    }
                }
            };
            let _ = inputs.send(Input::Gone(side, format!("{from:?} {why}")));
        });
    }
    Ok(Seat {
        to_host,
        to_controller,
        waiting: VecDeque::new(),
        event: None,
        sent: 0,
        links: BTreeMap::new(),
        statuses_to_hide: 0,
        reason: None,
        quirk: None,
        advertises: false,
        scans: false,
        unplugged: false,
        meter: Meter::default(),
    })
}

/// The state of one side.
struct Seat {
    to_host: OwnedWriteHalf,
    to_controller: OwnedWriteHalf,
    /// Data that waits for a connection event.
    waiting: VecDeque<Vec<u8>>,
    /// The connection event in which this side sends, by number, and how much of it is used.
    event: Option<u64>,
    sent: u32,
    /// The links that are up, and whether this side is the peripheral of each.
    links: BTreeMap<u16, bool>,
    /// Answers to the radio's own commands, hidden from the host.
    statuses_to_hide: u32,
    /// Reported to the host once, in place of the controller's reason.
    reason: Option<u8>,
    quirk: Option<Quirk>,
    /// The last advertising state that the host requested and the controller accepted.
    advertises: bool,
    scans: bool,
    unplugged: bool,
    meter: Meter,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Weather {
    Clear,
    /// Data is delayed.
    Muted,
    /// Data is lost.
    Lost,
}

struct State {
    seats: Vec<Seat>,
    limits: Limits,
    habits: Habits,
    weather: Weather,
    begun: Instant,
    /// A cut in progress: the end of the silence, and the channel to report when the links have ended.
    cut: Option<(Instant, oneshot::Sender<Struck>)>,
    /// Advertisements are dropped before this time.
    away_until: Option<Instant>,
}

impl State {
    fn new(seats: Vec<Seat>, limits: Limits) -> State {
        let (weather, begun) = (Weather::Clear, Instant::now());
        State { seats, limits, habits: Habits::default(), weather, begun, cut: None, away_until: None }
    }

    async fn run(&mut self, mut inputs: mpsc::UnboundedReceiver<Input>) -> Result<()> {
        loop {
            let tick = self.next_event().filter(|_| {
                self.weather == Weather::Clear && self.seats.iter().any(|s| !s.waiting.is_empty())
            });
            let silence_ends = self.cut.as_ref().map(|(at, _)| *at);
            tokio::select! {
                biased;
                () = sleep_until(tick.unwrap_or(self.begun)), if tick.is_some() => self.connection_event().await?,
                () = sleep_until(silence_ends.unwrap_or(self.begun)), if silence_ends.is_some() => self.tell_of_the_cut().await?,
                input = inputs.recv() => match input {
                    None | Some(Input::Stop) => return Ok(()),
                    Some(Input::Packet(side, From::Host, packet)) => self.host_sends(side, packet).await?,
                    Some(Input::Packet(side, From::Controller, packet)) => self.controller_sends(side, packet).await?,
                    Some(Input::Gone(side, why)) => bail!("side {side:?}: {why}"),
                    Some(Input::Fault(fault, done)) => self.strike(fault, done).await?,
                    Some(Input::Limit(side, quirk)) => self.seats[side as usize].quirk = Some(quirk),
                    Some(Input::Read(answer)) => {
                        let _ = answer.send(self.reading());
                        self.seats.iter_mut().for_each(|seat| seat.meter.longest_value = 0);
                    }
                }
            }
        }
    }

    /// The number of the connection interval at `now`.
    fn interval(&self, now: Instant) -> u64 {
        (now.duration_since(self.begun).as_micros() / INTERVAL.as_micros()) as u64
    }

    fn next_event(&self) -> Option<Instant> {
        let next = self.interval(Instant::now()) + 1;
        Some(self.begun + INTERVAL * u32::try_from(next).ok()?)
    }

    /// All sides send their queues, up to the limit; a side with an empty queue is silent until the next event.
    async fn connection_event(&mut self) -> Result<()> {
        let now = self.interval(Instant::now());
        for side in Side::ALL.into_iter().take(self.seats.len()) {
            let seat = &mut self.seats[side as usize];
            if !seat.waiting.is_empty() {
                (seat.event, seat.sent) = (Some(now), 0);
                self.send_waiting(side).await?;
            }
        }
        Ok(())
    }

    async fn send_waiting(&mut self, side: Side) -> Result<()> {
        let seat = &mut self.seats[side as usize];
        while seat.sent < self.limits.packets
            && let Some(packet) = seat.waiting.pop_front()
        {
            seat.sent += 1;
            self.habits.most_packets = self.habits.most_packets.max(seat.sent);
            seat.meter.data(&packet);
            seat.to_controller.write_all(&packet).await?;
        }
        Ok(())
    }

    async fn host_sends(&mut self, side: Side, mut packet: Vec<u8>) -> Result<()> {
        let now = self.interval(Instant::now());
        let seat = &mut self.seats[side as usize];
        if seat.unplugged {
            return Ok(());
        }
        if packet[0] == h4::COMMAND {
            let command = h4::command(&packet);
            let refused = match (seat.quirk, command) {
                (Some(Quirk::NoAdverts), h4::Command::Advertise(on)) => on,
                (Some(Quirk::OneAtATime), h4::Command::Advertise(on)) => on && seat.scans,
                (Some(Quirk::OneAtATime), h4::Command::Scan(on)) => on && seat.advertises,
                _ => false,
            };
            if refused {
                return Ok(seat.to_host.write_all(&h4::disallowed(&packet)).await?);
            }
            self.habits.inquired |= h4::is_inquiry(&packet);
            if command == h4::Command::Advertise(true) {
                let extended = h4::is_extended(&packet);
                self.habits.advertised_extended |= extended;
                self.habits.advertised_plainly |= !extended;
            }
            match command {
                h4::Command::Advertise(on) => seat.advertises = on,
                h4::Command::Scan(on) => seat.scans = on,
                h4::Command::Reset => (seat.advertises, seat.scans) = (false, false),
                h4::Command::Other => {}
            }
        }
        match (packet[0], self.weather) {
            (h4::ACL, Weather::Lost) => {}
            (h4::ACL, weather) => {
                if let Some(most) = self.limits.mtu {
                    h4::lower_mtu(&mut packet, most);
                }
                seat.waiting.push_back(packet);
                // An event that this side opened continues while it has more to send.
                if weather == Weather::Clear && seat.event == Some(now) {
                    self.send_waiting(side).await?;
                }
            }
            _ => seat.to_controller.write_all(&packet).await?,
        }
        Ok(())
    }

    async fn controller_sends(&mut self, side: Side, mut packet: Vec<u8>) -> Result<()> {
        let seat = &mut self.seats[side as usize];
        if packet[0] == h4::EVENT {
            match h4::event(&packet) {
                Event::Connected(link) => {
                    seat.links.insert(link, h4::is_peripheral(&packet));
                    self.habits.addresses.extend(h4::peer_address(&packet));
                    // A controller stops advertising by itself when it becomes the peripheral.
                    seat.advertises &= !h4::is_peripheral(&packet);
                }
                Event::Disconnected(link) => {
                    seat.links.remove(&link);
                    seat.meter.link_ended(link);
                    seat.waiting.retain(|data| {
                        data.get(1..3).is_none_or(|h| u16::from_le_bytes([h[0], h[1]]) & 0x0fff != link)
                    });
                    if let (Some(reason), Some(byte)) =
                        (seat.reason.take(), packet.get_mut(h4::DISCONNECTION_REASON))
                    {
                        *byte = reason;
                    }
                }
                Event::DisconnectStatus if seat.statuses_to_hide > 0 => {
                    seat.statuses_to_hide -= 1;
                    return Ok(());
                }
                Event::Advert if self.away_until.is_some_and(|until| Instant::now() < until) => return Ok(()),
                Event::DisconnectStatus | Event::Advert | Event::Other => {}
            }
        }
        if !seat.unplugged {
            seat.to_host.write_all(&packet).await?;
        }
        if self.weather == Weather::Lost
            && self.cut.is_none()
            && self.seats.iter().all(|s| s.links.is_empty())
        {
            self.weather = Weather::Clear;
        }
        Ok(())
    }

    async fn strike(&mut self, fault: Fault, done: oneshot::Sender<Struck>) -> Result<()> {
        let struck =
            if self.seats.iter().any(|s| !s.links.is_empty()) { Struck::Link } else { Struck::Nothing };
        match fault {
            Fault::Mute => self.weather = Weather::Muted,
            Fault::Unmute => self.weather = Weather::Clear,
            Fault::Kick => self.hang_up(None).await?,
            Fault::Unplug(side) => {
                self.hang_up(Some(CONNECTION_TIMEOUT)).await?;
                let seat = &mut self.seats[side as usize];
                seat.unplugged = true;
                for command in h4::SILENCE {
                    seat.to_controller.write_all(command).await?;
                }
            }
            Fault::Plug(side) => {
                let seat = &mut self.seats[side as usize];
                (seat.unplugged, seat.quirk, seat.advertises, seat.scans) = (false, None, false, false);
            }
            Fault::Cut { away } => {
                self.away_until = Some(Instant::now() + away);
                if struck == Struck::Link {
                    self.weather = Weather::Lost;
                    self.seats.iter_mut().for_each(|s| s.waiting.clear());
                    self.cut = Some((Instant::now() + SUPERVISION, done));
                    return Ok(());
                }
            }
        }
        let _ = done.send(struck);
        Ok(())
    }

    /// The supervision timeout has passed. Data stays lost until both hosts have been told.
    async fn tell_of_the_cut(&mut self) -> Result<()> {
        let Some((_, done)) = self.cut.take() else { return Ok(()) };
        if self.seats.iter().all(|s| s.links.is_empty()) {
            self.weather = Weather::Clear;
        }
        self.hang_up(Some(CONNECTION_TIMEOUT)).await?;
        let _ = done.send(Struck::Link);
        Ok(())
    }

    /// Ends every link through one side's controller, hidden from its host; each host is told `reason` if given.
    async fn hang_up(&mut self, reason: Option<u8>) -> Result<()> {
        for seat in &mut self.seats {
            if !seat.links.is_empty() {
                seat.reason = reason;
            }
        }
        // A command at either end ends the link at both: centrals end theirs. The central of a link that no side has is a stranger
        // beside the lab.
        let any_central = self.seats.iter().any(|seat| seat.links.values().any(|&peripheral| !peripheral));
        for seat in &mut self.seats {
            for (&link, _) in seat.links.iter().filter(|&(_, &peripheral)| peripheral != any_central) {
                seat.statuses_to_hide += 1;
                seat.to_controller.write_all(&h4::disconnect(link)).await?;
            }
        }
        Ok(())
    }

    fn reading(&self) -> Reading {
        let seats = &self.seats;
        Reading {
            traffic: seats.iter().map(|seat| seat.meter.traffic).sum(),
            longest_value: seats.iter().map(|seat| seat.meter.longest_value).max().unwrap_or(0),
            // Each has two ends; a stranger's end is not seen.
            links: seats.iter().map(|seat| seat.links.len()).sum::<usize>().div_ceil(2),
            scans: seats.iter().map(|seat| seat.scans).collect(),
            advertises: seats.iter().map(|seat| seat.advertises).collect(),
            habits: self.habits.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    const LINK_UP: [u8; 8] = [h4::EVENT, 0x3e, 5, 1, 0, 7, 0, 0];
    const LINK_ENDED_BY_PEER: [u8; 7] = [h4::EVENT, 5, 4, 0, 7, 0, 0x13];
    const DISCONNECT_TAKEN: [u8; 7] = [h4::EVENT, 0x0f, 4, 0, 1, 6, 4];
    const ADVERT: [u8; 5] = [h4::EVENT, 0x3e, 2, 2, 0];

    /// Both ends of both sides: the sockets of a guest and an emulator.
    struct Ends {
        air: Air,
        hosts: [UnixStream; 2],
        controllers: [UnixStream; 2],
        _directory: tempfile::TempDir,
    }

    fn ends() -> Ends {
        ends_with(Limits { packets: PACKETS_PER_EVENT, mtu: None })
    }

    fn ends_with(limits: Limits) -> Ends {
        let directory = tempfile::tempdir().unwrap();
        let pairs = [(); 2].map(|()| UnixStream::pair().unwrap());
        let [(a, at_a), (b, at_b)] = pairs;
        let air = Air::start(directory.path(), vec![at_a, at_b], limits).unwrap();
        let hosts = ["hci-A", "hci-B"].map(|name| UnixStream::connect(directory.path().join(name)).unwrap());
        Ends { air, hosts, controllers: [a, b], _directory: directory }
    }

    fn data(number: u8) -> [u8; 6] {
        [h4::ACL, 7, 0, 1, 0, number]
    }

    fn expect(from: &mut UnixStream, packet: &[u8]) {
        let mut got = vec![0; packet.len()];
        from.read_exact(&mut got).unwrap();
        assert_eq!(got, packet);
    }

    fn links_up(ends: &mut Ends) {
        for side in 0..2 {
            // B is the peripheral.
            let mut up = LINK_UP;
            up[7] = side as u8;
            ends.controllers[side].write_all(&up).unwrap();
            expect(&mut ends.hosts[side], &up);
        }
    }

    /// A barrier: afterwards the radio has handled the host's earlier packets.
    fn pass_a_command(ends: &mut Ends, side: usize) {
        let reset = [h4::COMMAND, 3, 12, 0];
        ends.hosts[side].write_all(&reset).unwrap();
        expect(&mut ends.controllers[side], &reset);
    }

    fn wait<T>(what: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(what)
    }

    #[test]
    fn no_more_packets_go_in_an_event_than_the_controller_sends() {
        for packets in [1, 3] {
            let mut ends = ends_with(Limits { packets, mtu: None });
            links_up(&mut ends);
            for number in 0..12 {
                ends.hosts[0].write_all(&data(number)).unwrap();
            }
            for number in 0..12 {
                expect(&mut ends.controllers[0], &data(number));
            }
            assert_eq!(wait(ends.air.reading()).unwrap().habits.most_packets, packets);
        }
    }

    #[test]
    fn data_arrives_in_order_whatever_waits() {
        let mut ends = ends();
        links_up(&mut ends);
        for number in 0..20 {
            ends.hosts[0].write_all(&data(number)).unwrap();
        }
        for number in 0..20 {
            expect(&mut ends.controllers[0], &data(number));
        }
        assert_eq!(wait(ends.air.reading()).unwrap().traffic.packets, 20);
    }

    #[test]
    fn a_cut_loses_data_and_tells_both_ends_that_the_link_was_lost() {
        let mut ends = ends();
        links_up(&mut ends);
        let air = ends.air.clone();
        let cut = std::thread::spawn(move || wait(air.fault(Fault::Cut { away: Duration::ZERO })).unwrap());
        // The radio disconnects at one side, with a command that its host has not sent.
        expect(&mut ends.controllers[0], &h4::disconnect(7));
        ends.hosts[1].write_all(&data(1)).unwrap();
        pass_a_command(&mut ends, 1);
        ends.controllers[0].write_all(&DISCONNECT_TAKEN).unwrap();
        for side in 0..2 {
            ends.controllers[side].write_all(&LINK_ENDED_BY_PEER).unwrap();
            let mut told = LINK_ENDED_BY_PEER;
            told[h4::DISCONNECTION_REASON] = CONNECTION_TIMEOUT;
            expect(&mut ends.hosts[side], &told);
        }
        assert_eq!(cut.join().unwrap(), Struck::Link);
        // The next link works, and the data sent in between never arrives.
        links_up(&mut ends);
        ends.hosts[1].write_all(&data(2)).unwrap();
        expect(&mut ends.controllers[1], &data(2));
    }

    #[test]
    fn who_is_out_of_range_is_not_heard() {
        let mut ends = ends();
        let hour = Duration::from_hours(1);
        assert_eq!(wait(ends.air.fault(Fault::Cut { away: hour })).unwrap(), Struck::Nothing);
        ends.controllers[0].write_all(&ADVERT).unwrap();
        ends.controllers[0].write_all(&LINK_UP).unwrap();
        expect(&mut ends.hosts[0], &LINK_UP);
    }

    #[test]
    fn a_limited_controller_refuses_what_it_cannot_do_and_only_that() {
        let mut ends = ends();
        ends.air.limit(Side::A, Quirk::OneAtATime).unwrap();
        let (advertise, scan) = ([h4::COMMAND, 0x0a, 0x20, 1, 1], [h4::COMMAND, 0x0c, 0x20, 2, 1, 1]);
        ends.hosts[0].write_all(&advertise).unwrap();
        expect(&mut ends.controllers[0], &advertise);
        ends.hosts[0].write_all(&scan).unwrap();
        expect(&mut ends.hosts[0], &h4::disallowed(&scan));
        let no_advert = [h4::COMMAND, 0x0a, 0x20, 1, 0];
        for command in [&no_advert[..], &scan] {
            ends.hosts[0].write_all(command).unwrap();
            expect(&mut ends.controllers[0], command);
        }
        ends.air.limit(Side::B, Quirk::NoAdverts).unwrap();
        ends.hosts[1].write_all(&advertise).unwrap();
        expect(&mut ends.hosts[1], &h4::disallowed(&advertise));
        ends.hosts[1].write_all(&scan).unwrap();
        expect(&mut ends.controllers[1], &scan);
    }

    #[test]
    fn a_controller_that_was_taken_away_is_silent_until_it_is_given_back() {
        let mut ends = ends();
        wait(ends.air.fault(Fault::Unplug(Side::A))).unwrap();
        for command in h4::SILENCE {
            expect(&mut ends.controllers[0], command);
        }
        ends.controllers[0].write_all(&ADVERT).unwrap();
        ends.hosts[0].write_all(&data(1)).unwrap();
        // In the reverse order, so that both have been handled.
        ends.controllers[0].write_all(&LINK_UP).unwrap();
        pass_a_command(&mut ends, 1);
        wait(ends.air.fault(Fault::Plug(Side::A))).unwrap();
        pass_a_command(&mut ends, 0);
        ends.controllers[0].write_all(&ADVERT).unwrap();
        expect(&mut ends.hosts[0], &ADVERT);
    }

    #[test]
    fn silence_holds_data_back_and_loses_none() {
        let mut ends = ends();
        links_up(&mut ends);
        wait(ends.air.fault(Fault::Mute)).unwrap();
        ends.hosts[0].write_all(&data(1)).unwrap();
        pass_a_command(&mut ends, 0);
        wait(ends.air.fault(Fault::Unmute)).unwrap();
        expect(&mut ends.controllers[0], &data(1));
    }
}
