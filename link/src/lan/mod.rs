//! The local network as a carrier: devices find each other by multicast DNS (RFC 6762, RFC 6763) and connect by TCP.
//!
//! A listening device announces the service [`SERVICE`] on every interface, by IPv4 and IPv6, and follows interfaces that come
//! and go. Multicast DNS itself resolves name conflicts; nothing of ours depends on the names. Only devices in the same
//! network may connect: a handheld with a public address does not answer the whole internet.
//!
//! Other responders on the same device, such as Avahi or systemd-resolved, keep working: several share the port.

mod advert;
#[cfg(target_os = "linux")]
mod changes;
#[cfg(not(target_os = "linux"))]
#[path = "untold.rs"]
mod changes;
mod dial;
mod discovery;
mod firewall;
mod interfaces;
mod stream;

use std::collections::{BTreeMap, VecDeque};
use std::future::pending;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use if_addrs::Interface;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::debug;

use self::changes::Changes;
use self::discovery::{Announced, Browsing, Mdns};
use self::firewall::{Firewalls, Needed};
use self::stream::LanStream;
use crate::{
    Accepted, Address, Card, CarrierKind, CarrierState, Duplex, Finding, LinkError, Listener, Sighting, Tag,
    Transport, Verdict, Watch, WatchEvent,
};

pub use self::advert::{SERVICE, card_strings, read_card};
pub use self::interfaces::{is_local, is_neighbour};

/// The port of multicast DNS (RFC 6762, section 3).
pub const MDNS_PORT: u16 = 5353;

/// How often a device in range is reported again: several times before a host takes it for gone. News of it are reported at once.
const REPEAT: Duration = Duration::from_secs(4);

/// How often interfaces are polled if the kernel does not report their changes, and a search that failed is begun again.
const LOOK_PERIOD: Duration = Duration::from_secs(1);

/// How a device uses the local network.
#[derive(Clone, Debug)]
pub struct LanConfig {
    /// The TCP port to listen on; 0: any that is free.
    pub port: u16,
    /// The port of multicast DNS: [`MDNS_PORT`], or another for isolated tests.
    pub mdns_port: u16,
    /// Whether the loopback interface is used like any other, for tests on one device.
    pub loopback: bool,
}

impl Default for LanConfig {
    fn default() -> Self {
        Self { port: 0, mdns_port: MDNS_PORT, loopback: false }
    }
}

/// The local network as a transport, which sends nothing and opens no port until it listens, scans or connects.
pub struct LanTransport {
    shared: Arc<Shared>,
}

/// State shared by listeners, watches and dials of one transport.
struct Shared {
    config: LanConfig,
    state: Mutex<LanState>,
    /// This device's addresses, as last read.
    own: watch::Sender<Vec<IpAddr>>,
}

#[derive(Default)]
struct LanState {
    /// Lives as long as the last listener or scan.
    mdns: std::sync::Weak<Mdns>,
    /// Lives as long as the last scan.
    browsing: std::sync::Weak<Browsing>,
    /// This device's own tags, so that it ignores its own announcements.
    own: Vec<Tag>,
    /// Addresses of the instances seen last; kept when a scan ends, because dialing follows a scan.
    known: BTreeMap<String, Vec<SocketAddr>>,
    /// The port on which this device listens.
    listens: Option<u16>,
}

impl LanTransport {
    /// Uses all networks of the device, present and future.
    pub fn new(config: LanConfig) -> Self {
        Self { shared: Arc::new(Shared { config, state: Mutex::default(), own: watch::Sender::default() }) }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, LanState> {
        // A panic elsewhere leaves the state valid.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mdns(&self) -> Result<Arc<Mdns>, LinkError> {
        let mut state = self.lock();
        if let Some(running) = state.mdns.upgrade() {
            return Ok(running);
        }
        let mdns = Arc::new(Mdns::start(&self.config)?);
        state.mdns = Arc::downgrade(&mdns);
        Ok(mdns)
    }

    fn browsing(&self) -> Result<Arc<Browsing>, LinkError> {
        let mdns = self.mdns()?;
        let mut state = self.lock();
        if let Some(running) = state.browsing.upgrade() {
            return Ok(running);
        }
        let browsing = Arc::new(Browsing::start(mdns)?);
        state.browsing = Arc::downgrade(&browsing);
        Ok(browsing)
    }

    fn state(&self) -> CarrierState {
        let usable = interfaces::usable(self.config.loopback);
        let own: Vec<IpAddr> = usable.iter().map(Interface::ip).collect();
        let changed = self.own.send_if_modified(|before| {
            *before != own && {
                *before = own;
                true
            }
        });
        let mdns = if changed { self.lock().mdns.upgrade() } else { None };
        if let Some(mdns) = mdns {
            mdns.network_has_changed();
        }
        if usable.is_empty() { CarrierState::NoAdapter } else { CarrierState::Ready }
    }

    fn link(&self, stream: TcpStream) -> Result<Box<dyn Duplex>, LinkError> {
        Ok(Box::new(LanStream::new(stream, self.own.subscribe())?))
    }

    fn addresses(&self) -> Vec<SocketAddr> {
        let Some(port) = self.lock().listens else { return Vec::new() };
        interfaces::usable(self.config.loopback)
            .into_iter()
            // A link-local address needs an interface number, which differs on another device.
            .filter(|interface| !dial::is_link_local(&interface.ip()))
            .map(|interface| SocketAddr::new(interface.ip(), port))
            .collect()
    }
}

#[async_trait]
impl Transport for LanTransport {
    fn kind(&self) -> CarrierKind {
        CarrierKind::Lan
    }

    async fn listen(&self, card: Card) -> Result<Box<dyn Listener>, LinkError> {
        let tcp = bind(self.shared.config.port)?;
        let port = tcp.local_addr()?.port();
        let mdns = self.shared.mdns()?;
        let announced = mdns.announce(&card, port)?;
        let mut state = self.shared.lock();
        state.own.push(card.tag);
        state.listens = Some(port);
        drop(state);
        Ok(Box::new(LanListener {
            shared: self.shared.clone(),
            tcp,
            port,
            card,
            announced: Some(announced),
            mdns,
        }))
    }

    fn watch(&self, scan: bool) -> Watch {
        let watching = Watching {
            shared: self.shared.clone(),
            scan,
            browsing: None,
            told: None,
            changes: Changes::listen(),
            looked: false,
            looks_on: None,
            next_look: None,
            waiting: VecDeque::new(),
        };
        Box::pin(futures::stream::unfold(watching, |mut watching| async {
            let event = watching.next().await;
            Some((event, watching))
        }))
    }

    async fn connect(&self, address: &Address) -> Result<Box<dyn Duplex>, LinkError> {
        if address.kind != CarrierKind::Lan {
            return Err(LinkError::WrongAddress(address.clone()));
        }
        let state = self.shared.state();
        if state != CarrierState::Ready {
            return Err(LinkError::Carrier(state));
        }
        let known = self.shared.lock().known.get(&address.text).cloned();
        let mut reached_at = match known {
            Some(known) => known,
            None => vec![address.text.parse().map_err(|_| LinkError::Unreachable(address.clone()))?],
        };
        let loopback = self.shared.config.loopback;
        reached_at.retain(|at| interfaces::may_dial(at.ip(), loopback));
        let stream =
            dial::first_of(reached_at).await.ok_or_else(|| LinkError::Unreachable(address.clone()))?;
        self.shared.link(stream)
    }

    async fn power_on(&self) -> Result<(), LinkError> {
        // The owner and the desktop decide which network a device joins.
        match self.shared.state() {
            CarrierState::Ready => Ok(()),
            state => Err(LinkError::Carrier(state)),
        }
    }

    fn places(&self) -> Vec<Address> {
        let place = |at: SocketAddr| Address { kind: CarrierKind::Lan, text: at.to_string() };
        self.shared.addresses().into_iter().map(place).collect()
    }

    async fn diagnose(&self) -> Vec<Finding> {
        let usable = interfaces::usable(self.shared.config.loopback);
        let found = |text: String, verdict, remedy: &str| Finding {
            subject: "network",
            verdict,
            found: text,
            remedy: remedy.to_owned(),
        };
        if usable.is_empty() {
            let remedy = "Connect the device to a network, such as a Wi-Fi that the other one is in too.";
            return vec![found("no network interface has an address".into(), Verdict::Limited, remedy)];
        }
        let mut findings: Vec<Finding> = (usable.iter())
            .map(|interface| found(format!("{}, {}", interface.name, interface.ip()), Verdict::Good, ""))
            .collect();
        let config = &self.shared.config;
        let (port, is_fixed) = (self.shared.lock().listens, config.port != 0);
        let Some(port) = port else {
            let text = "none: this device is not visible now, and others cannot connect to it".into();
            findings.push(Finding { subject: "lan_port", ..found(text, Verdict::Good, "") });
            return findings;
        };
        let text = if is_fixed {
            format!("TCP port {port}, always")
        } else {
            format!("TCP port {port}, until the next start: --lan-port fixes it")
        };
        findings.push(Finding { subject: "lan_port", ..found(text, Verdict::Good, "") });
        let mdns_port = config.mdns_port;
        let interfaces: Vec<_> = usable.into_iter().map(|one| (one.name.clone(), one.ip())).collect();
        let examined = tokio::task::spawn_blocking(move || {
            let fixed_by = (!is_fixed).then_some("--lan-port");
            let (subject, whom, mdns_port) = ("firewall", "others", Some(mdns_port));
            let needed = Needed { subject, whom, port, fixed_by, mdns_port, interfaces: &interfaces };
            Firewalls::default().examine(&needed)
        });
        // An error is a panic there.
        findings.extend(examined.await);
        findings
    }
}

/// Whether a firewall of this device keeps guests' browsers out of this TCP port. `fixed_by`: the option by which the port stays the
/// same after a restart; `None`: it does. Programs are started, which may take a second.
pub fn examine_guest_port(port: u16, fixed_by: Option<&'static str>) -> Finding {
    let interfaces = interfaces::usable(false).into_iter().map(|one| (one.name.clone(), one.ip()));
    let interfaces: Vec<(String, IpAddr)> = interfaces.collect();
    let (subject, whom) = ("guest_port", "guests");
    Firewalls::default().examine(&Needed {
        subject,
        whom,
        port,
        fixed_by,
        mdns_port: None,
        interfaces: &interfaces,
    })
}

/// This device's addresses in its networks, IPv4 first, without those that need an interface number; `loopback`: also of the
/// loopback interface.
pub fn own_addresses(loopback: bool) -> Vec<IpAddr> {
    let own = interfaces::usable(loopback).into_iter().map(|interface| interface.ip());
    let mut own: Vec<IpAddr> = own.filter(|ip| !dial::is_link_local(ip)).collect();
    own.sort_by_key(|ip| (ip.is_loopback(), ip.is_ipv6()));
    own
}

/// One listening socket for both protocols, or for IPv4 alone on a device without IPv6. Port 0: any that is free.
pub fn bind(port: u16) -> std::io::Result<TcpListener> {
    /// Connections that wait to be accepted.
    const BACKLOG: i32 = 8;
    let listen = |ip: IpAddr| {
        let domain = if ip.is_ipv6() { socket2::Domain::IPV6 } else { socket2::Domain::IPV4 };
        let socket = socket2::Socket::new(domain, socket2::Type::STREAM, Some(socket2::Protocol::TCP))?;
        if ip.is_ipv6() {
            socket.set_only_v6(false)?;
        }
        // A restart needs a chosen port again at once.
        socket.set_reuse_address(true)?;
        socket.set_nonblocking(true)?;
        socket.bind(&SocketAddr::new(ip, port).into())?;
        socket.listen(BACKLOG)?;
        TcpListener::from_std(socket.into())
    };
    listen(Ipv6Addr::UNSPECIFIED.into()).or_else(|_| listen(Ipv4Addr::UNSPECIFIED.into()))
}

struct LanListener {
    shared: Arc<Shared>,
    tcp: TcpListener,
    port: u16,
    card: Card,
    /// `None` while it is replaced.
    announced: Option<Announced>,
    mdns: Arc<Mdns>,
}

#[async_trait]
impl Listener for LanListener {
    async fn accept(&mut self) -> Result<Accepted, LinkError> {
        /// Pause after a temporary error, such as too many open files: accepting again at once would spin.
        const PAUSE: Duration = Duration::from_millis(200);
        loop {
            match self.tcp.accept().await {
                Ok((stream, from)) if interfaces::is_neighbour(from.ip()) => {
                    let text = from.ip().to_canonical().to_string();
                    let source = Some(Address { kind: CarrierKind::Lan, text });
                    return self.shared.link(stream).map(|duplex| Accepted { duplex, source });
                }
                Ok((_, from)) => debug!(%from, "somebody outside the local network was refused"),
                Err(error) => {
                    debug!(%error, "a link could not be accepted");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    async fn update(&mut self, card: Card) -> Result<(), LinkError> {
        if card.tag == self.card.tag {
            if let Some(announced) = &self.announced {
                announced.update(&card)?;
            }
        } else {
            // Under new names, because equal names would link this tag to the previous one.
            self.announced = None;
            self.shared.lock().own.push(card.tag);
            self.announced = Some(self.mdns.announce(&card, self.port)?);
            self.forget_tag();
        }
        self.card = card;
        Ok(())
    }
}

impl LanListener {
    fn forget_tag(&self) {
        let mut state = self.shared.lock();
        if let Some(index) = state.own.iter().position(|tag| *tag == self.card.tag) {
            state.own.swap_remove(index);
        }
    }
}

impl Drop for LanListener {
    fn drop(&mut self) {
        self.forget_tag();
        let mut state = self.shared.lock();
        if state.listens == Some(self.port) {
            state.listens = None;
        }
    }
}

struct Watching {
    shared: Arc<Shared>,
    scan: bool,
    browsing: Option<(Arc<Browsing>, watch::Receiver<()>)>,
    told: Option<CarrierState>,
    changes: Changes,
    looked: bool,
    /// The time until another poll is due although nothing changes: the last one found a peer, or failed.
    looks_on: Option<Duration>,
    /// `None`: no poll until a change.
    next_look: Option<Instant>,
    waiting: VecDeque<WatchEvent>,
}

impl Watching {
    async fn next(&mut self) -> WatchEvent {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return event;
            }
            if self.looked {
                self.until_another_look().await;
            }
            self.look();
            self.looked = true;
            let polls = (!self.changes.are_told()).then_some(LOOK_PERIOD);
            let next = [self.looks_on, polls].into_iter().flatten().min();
            self.next_look = next.map(|period| Instant::now() + period);
        }
    }

    async fn until_another_look(&mut self) {
        let found_others = async {
            match &mut self.browsing {
                // Cannot fail: the sender is held beside the receiver.
                Some((_, changed)) => drop(changed.changed().await),
                None => pending().await,
            }
        };
        let time = async {
            match self.next_look {
                Some(at) => tokio::time::sleep_until(at).await,
                None => pending().await,
            }
        };
        tokio::select! {
            () = found_others => {}
            () = time => {}
            () = self.changes.next() => {}
        }
    }

    fn look(&mut self) {
        let state = self.shared.state();
        if self.told != Some(state) {
            self.told = Some(state);
            self.waiting.push_back(WatchEvent::State(state));
        }
        self.looks_on = None;
        if !self.scan || state != CarrierState::Ready {
            return;
        }
        if self.browsing.is_none() {
            match self.shared.browsing() {
                Ok(browsing) => {
                    let changed = browsing.changed();
                    self.browsing = Some((browsing, changed));
                }
                Err(error) => debug!(%error, "the network cannot be searched"),
            }
        }
        let Some((browsing, changed)) = &mut self.browsing else {
            self.looks_on = Some(LOOK_PERIOD);
            return;
        };
        // A change from here on causes another poll.
        changed.mark_unchanged();
        let found = browsing.found();
        let mut state = self.shared.lock();
        state.known.retain(|instance, _| found.contains_key(instance));
        for (instance, one) in found {
            state.known.insert(instance.clone(), one.addresses);
            if state.own.contains(&one.card.tag) {
                continue;
            }
            self.looks_on = Some(REPEAT);
            self.waiting.push_back(WatchEvent::Seen(Sighting {
                address: Address { kind: CarrierKind::Lan, text: instance },
                tag: one.card.tag,
                open_to_all: one.card.open_to_all,
                wish: Some(one.card.wish),
                busy: one.card.busy,
                name: one.card.name,
                rssi_dbm: None,
            }));
        }
    }
}
