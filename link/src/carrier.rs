//! The traits between a carrier and the layers above.

use std::fmt;
use std::pin::Pin;

use async_trait::async_trait;
use futures::Stream;
use tokio::io::{AsyncRead, AsyncWrite};

/// A reliable ordered byte stream to one peer. Ends like a socket: once the link is gone, a read gives 0 bytes or an error.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Duplex for T {}

/// The kind of carrier, which selects words and icons on the screen and is part of the Noise prologue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CarrierKind {
    /// Bluetooth LE.
    Bluetooth,
    /// TCP in the local network.
    Lan,
    /// XMPP.
    Online,
    /// Inside one process.
    Memory,
}

/// Length of a [`Tag`] in bytes: what a 31-byte advertisement has left beside flags, a 128-bit UUID and a state byte.
pub const PRESENCE_LENGTH: usize = 5;

/// Forty bits that friends recognise. Strangers cannot link the tags of two quarters of an hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(pub [u8; PRESENCE_LENGTH]);

/// What this device advertises to everyone in range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// Changes every 15 minutes, each time with a new card for the transport.
    pub tag: Tag,
    /// Whether strangers may invite this device.
    pub open_to_all: bool,
    /// Whether a match is in progress.
    pub busy: bool,
    /// What this device would like to play, as a number of the application's: 0 is nothing, 15 the largest. Carriers without
    /// space for the number omit it.
    pub wish: u8,
    /// Shown to strangers; `None` while only friends may see this device. The carrier cuts the name to fit.
    pub name: Option<String>,
    /// Advertised at a long interval, to save the battery while nobody uses this device: found in seconds instead of at once. Not
    /// transmitted.
    pub seldom: bool,
}

/// Where a transport reaches a peer. Opaque above the transport; stays equal for one peer while the peer is in range.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    /// The carrier that understands this address.
    pub kind: CarrierKind,
    /// The carrier's own text, such as a Bluetooth device id.
    pub text: String,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}:{}", self.kind, self.text)
    }
}

/// A peer heard just now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// Where to reach the peer.
    pub address: Address,
    /// The peer's present tag.
    pub tag: Tag,
    /// Accepts invitations from strangers.
    pub open_to_all: bool,
    /// Has a match in progress.
    pub busy: bool,
    /// As in [`Card::wish`]; `None` on a carrier that does not transmit the wish.
    pub wish: Option<u8>,
    /// The peer's name, if transmitted.
    pub name: Option<String>,
    /// Signal in dBm, if the carrier knows it.
    pub rssi_dbm: Option<i16>,
}

/// Whether a carrier can work, and if not, why. The screen has a sentence and a remedy for each state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CarrierState {
    /// Can find and be found.
    Ready,
    /// Works, but alternates between advertising and scanning because the adapter cannot do both at once.
    TakingTurns,
    /// Can find but not be found.
    NoAdvertising,
    /// Switched off by the user or the desktop.
    Off,
    /// Blocked by rfkill or a hardware switch.
    Blocked,
    /// No adapter in this device, or the adapter was removed.
    NoAdapter,
    /// bluetoothd does not run.
    NoService,
    /// This user lacks the permission.
    NoPermission,
    /// Not connected now; retries by itself.
    Connecting,
    /// Waits for a person: to sign in, correct a password, or decide which device stays.
    NeedsPerson,
}

/// An item of a [`Watch`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchEvent {
    /// A peer was heard. Repeated while the peer is in range; a peer not heard for some time is gone.
    Seen(Sighting),
    /// The carrier's state: the first item, and at every change.
    State(CarrierState),
    /// A peer was turned away because links occupy all places that this carrier has for incoming links. Repeated when the peer
    /// tries again.
    TurnedAway,
}

/// Scanning lasts as long as this stream is held.
pub type Watch = Pin<Box<dyn Stream<Item = WatchEvent> + Send>>;

/// The device that has to be updated before the two have a common version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Outdated {
    /// This device.
    #[error("this device needs an update")]
    Here,
    /// The peer.
    #[error("the other device needs an update")]
    There,
}

impl Outdated {
    /// For a layer without a common version: compares the newest version that the peer speaks with the oldest that this device
    /// speaks.
    pub fn of(newest_there: impl Into<u32>, oldest_here: impl Into<u32>) -> Self {
        let (newest_there, oldest_here) = (newest_there.into(), oldest_here.into());
        if newest_there < oldest_here { Self::There } else { Self::Here }
    }
}

/// Why a link failed or ended. Retry or tell the user; never our own bug.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The carrier cannot work at all now.
    #[error("the carrier is not ready: {0:?}")]
    Carrier(CarrierState),
    /// Nobody answered at that address in time.
    #[error("nobody answered at {0}")]
    Unreachable(Address),
    /// The peer went away or the radio link was too bad.
    #[error("the link was lost: {0}")]
    Lost(String),
    /// The two devices have no version of the carrier's own protocol in common.
    #[error(transparent)]
    Outdated(#[from] Outdated),
    /// The carrier does not understand this address.
    #[error("not an address of this carrier: {0}")]
    WrongAddress(Address),
    /// Any other error of the system.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// A carrier: how peers are found and reached.
#[async_trait]
pub trait Transport: Send + Sync + 'static {
    /// Which kind.
    fn kind(&self) -> CarrierKind;

    /// Makes this device findable and connectable until the listener is dropped. The listener survives changes of the carrier,
    /// such as an adapter that goes and comes: the device then becomes findable again by itself.
    async fn listen(&self, card: Card) -> Result<Box<dyn Listener>, LinkError>;

    /// Reports the carrier's state and, if `scan`, the peers in range, until the stream is dropped. Watching without scanning
    /// uses no radio.
    fn watch(&self, scan: bool) -> Watch;

    /// Opens a link. Fails after the carrier's own deadline; dropping the future cancels at once.
    async fn connect(&self, address: &Address) -> Result<Box<dyn Duplex>, LinkError>;

    /// Before the program ends: stops finding and being found, lets the links that are up end, and tells servers and services that
    /// this device leaves. Called once; returns when all that is done.
    async fn part(&self) {}

    /// Switches the carrier on, at the user's explicit request, and starts its service if need be. Never called unasked.
    async fn power_on(&self) -> Result<(), LinkError>;

    /// The adapters that a person may choose from, including those in use and those chosen; empty for a carrier without a choice.
    async fn adapters(&self) -> Vec<Adapter> {
        Vec::new()
    }

    /// Uses the adapter of this name from now on, as soon as it is present; `None`: the first present. Links over another adapter
    /// end. No effect on a carrier without a choice.
    fn use_adapter(&self, _name: Option<String>) {}

    /// Addresses for this device's friend code, at which somebody who has the code can dial. Empty for a carrier that only
    /// discovers.
    fn places(&self) -> Vec<Address> {
        Vec::new()
    }

    /// Diagnoses this carrier, for `qiyouctl doctor`: subject, verdict, finding, remedy.
    async fn diagnose(&self) -> Vec<Finding>;
}

/// A piece of hardware that a carrier may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adapter {
    /// `hci0`.
    pub name: String,
    /// `00:AA:01:00:00:42`; empty when the adapter is absent.
    pub address: String,
    /// Switched on.
    pub powered: bool,
    /// Used now.
    pub in_use: bool,
    /// Chosen by name.
    pub chosen: bool,
    /// Present now.
    pub here: bool,
}

/// One line of a carrier's own diagnosis, in English.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// `adapter`, `bluez`, `roles`, `advert_instances`, `rfkill`, `permission`, `privacy`, `device_name`, `supervision`,
    /// `discovery`, `pairing`; `network`, `lan_port`, `firewall`; `account`.
    pub subject: &'static str,
    /// The verdict.
    pub verdict: Verdict,
    /// `hci0, 00:AA:01:00:00:42, powered`.
    pub found: String,
    /// What to do; empty when nothing is wrong.
    pub remedy: String,
}

/// The verdict on one subject of a diagnosis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Works without limits.
    Good,
    /// Play works, with a limit stated in the finding.
    Limited,
    /// Play does not work until this is repaired.
    Broken,
}

/// A link that a peer has opened.
pub struct Accepted {
    /// Before any handshake.
    pub duplex: Box<dyn Duplex>,
    /// Where it comes from, without what differs between two links of one device; `None` if the carrier does not know, or has few
    /// links anyway. Whoever limits links before their peers are known has to count by source: one of them may open any number.
    pub source: Option<Address>,
}

impl Accepted {
    /// A link from a source that the carrier does not know.
    pub fn from_anywhere(duplex: impl Duplex) -> Self {
        Self { duplex: Box::new(duplex), source: None }
    }
}

/// Accepts links from peers.
#[async_trait]
pub trait Listener: Send {
    /// Waits for the next peer. Cancel-safe. An error is final.
    async fn accept(&mut self) -> Result<Accepted, LinkError>;

    /// Advertises a new card from now on.
    async fn update(&mut self, card: Card) -> Result<(), LinkError>;
}
