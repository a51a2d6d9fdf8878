//! The traits between a carrier and everything above it.

use std::fmt;
use std::pin::Pin;

use async_trait::async_trait;
use futures::Stream;
use tokio::io::{AsyncRead, AsyncWrite};

/// A reliable ordered byte stream to one peer. Ends like a socket: reading gives 0 bytes or an error once the link is gone.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Duplex for T {}

/// Which kind of carrier: decides words and icons on the screen, and goes into the Noise prologue.
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

/// Length of a [`Tag`] in bytes: what is left in a 31-byte advert beside flags, a 128-bit UUID and a state byte.
pub const PRESENCE_LENGTH: usize = 5;

/// Forty bits that a friend recognises and a stranger cannot link from one quarter of an hour to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(pub [u8; PRESENCE_LENGTH]);

/// What this device tells everyone in reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// Changes every 15 minutes; the transport is given a new card then.
    pub tag: Tag,
    /// Whether strangers may ask for a match.
    pub open_to_all: bool,
    /// Whether a match is going on.
    pub busy: bool,
    /// What this device would like, in numbers of the application's: 0 is nothing, 15 the largest. Carriers without room for it
    /// leave it out.
    pub wish: u8,
    /// Shown to strangers; `None` while only friends may see us. Cut by the carrier to what fits.
    pub name: Option<String>,
    /// Told seldom, to spare the battery while nobody uses this device: found in seconds rather than at once. Not on the air.
    pub seldom: bool,
}

/// Where a transport reaches a peer. Opaque above the transport; equal for the same peer while it is near.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    /// Which carrier understands it.
    pub kind: CarrierKind,
    /// The carrier's own text, such as a Bluetooth device id.
    pub text: String,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}:{}", self.kind, self.text)
    }
}

/// A peer was heard just now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// Where to reach it.
    pub address: Address,
    /// Its tag now.
    pub tag: Tag,
    /// Takes requests from strangers.
    pub open_to_all: bool,
    /// Plays already.
    pub busy: bool,
    /// What it would like, as in [`Card::wish`]; `None` on a carrier that does not tell.
    pub wish: Option<u8>,
    /// What it calls itself, if it says.
    pub name: Option<String>,
    /// Signal in dBm, if the carrier knows it.
    pub rssi_dbm: Option<i16>,
}

/// Whether a carrier can work, and if not, why: each has a sentence and a remedy on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CarrierState {
    /// Finds and is found.
    Ready,
    /// Works, but advertises and scans in turns because the adapter cannot do both at once.
    TakingTurns,
    /// Finds others and cannot be found.
    NoAdvertising,
    /// Switched off by the user or the desktop.
    Off,
    /// Blocked by rfkill or a hardware switch.
    Blocked,
    /// No adapter in this device, or it was taken away.
    NoAdapter,
    /// bluetoothd does not run.
    NoService,
    /// This user may not use it.
    NoPermission,
    /// Not yet, or not just now; it goes on trying by itself.
    Connecting,
    /// It waits until a person does something: signs in, mends a password, decides which device stays.
    NeedsPerson,
}

/// What a watch tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchEvent {
    /// Heard now. Repeated while it is near; whoever was not heard for a while is gone.
    Seen(Sighting),
    /// The carrier's state: first thing told, and at every change.
    State(CarrierState),
}

/// Looking for peers lasts as long as this stream is held.
pub type Watch = Pin<Box<dyn Stream<Item = WatchEvent> + Send>>;

/// Which of two devices has to be updated before they understand each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Outdated {
    /// This one.
    #[error("this device needs an update")]
    Here,
    /// The other one.
    #[error("the other device needs an update")]
    There,
}

impl Outdated {
    /// Of a layer that has no version in common, from the newest version that the peer speaks and the oldest that this device does.
    pub fn of(newest_there: u8, oldest_here: u8) -> Self {
        if newest_there < oldest_here { Self::There } else { Self::Here }
    }
}

/// Why there is no link, or no longer. Retry or tell the user; never our own bug.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The carrier cannot work at all now.
    #[error("the carrier is not ready: {0:?}")]
    Carrier(CarrierState),
    /// Nobody answered at that address in time.
    #[error("nobody answered at {0}")]
    Unreachable(Address),
    /// The other side went away or the air was too bad.
    #[error("the link was lost: {0}")]
    Lost(String),
    /// The two devices have no version of the carrier's own protocol in common.
    #[error(transparent)]
    Outdated(#[from] Outdated),
    /// The carrier does not understand this address.
    #[error("not an address of this carrier: {0}")]
    WrongAddress(Address),
    /// Anything that the system said.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// A kind of link: how peers are found and reached.
#[async_trait]
pub trait Transport: Send + Sync + 'static {
    /// Which kind.
    fn kind(&self) -> CarrierKind;

    /// Lets others find this device and connect, until the listener is dropped. It survives everything that the carrier
    /// does, such as an adapter that goes and comes: then it becomes findable again by itself.
    async fn listen(&self, card: Card) -> Result<Box<dyn Listener>, LinkError>;

    /// Tells the carrier's state and, if `scan`, who is near, until the stream is dropped. Watching without scanning costs
    /// no radio.
    fn watch(&self, scan: bool) -> Watch;

    /// Opens a link. Gives up by itself within the carrier's own deadline; dropping the future gives up at once.
    async fn connect(&self, address: &Address) -> Result<Box<dyn Duplex>, LinkError>;

    /// Switches the carrier on, when the user asked for just that. Never called unasked.
    async fn power_on(&self) -> Result<(), LinkError>;

    /// What a person may choose from, those in use and those chosen among them; empty for a carrier without a choice.
    async fn adapters(&self) -> Vec<Adapter> {
        Vec::new()
    }

    /// Uses the adapter of this name from now on, as soon as it is there; `None`: the first that is there. Links over
    /// another one end. No effect on a carrier without a choice.
    fn use_adapter(&self, _name: Option<String>) {}

    /// Where this device can be dialed by somebody who was told, for its friend code. Empty where only finding helps.
    fn places(&self) -> Vec<Address> {
        Vec::new()
    }

    /// What is right and wrong with this carrier, for `qiyouctl doctor`: subject, whether it is well, what was found, remedy.
    async fn diagnose(&self) -> Vec<Finding>;
}

/// A piece of hardware that a carrier may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adapter {
    /// `hci0`.
    pub name: String,
    /// `00:AA:01:00:00:42`; empty when it is not there.
    pub address: String,
    /// Switched on.
    pub powered: bool,
    /// The one that is used now.
    pub in_use: bool,
    /// Asked for by name.
    pub chosen: bool,
    /// In this device now.
    pub here: bool,
}

/// One line of a carrier's own diagnosis, in English.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// `adapter`, `bluez`, `roles`, `advert_instances`, `rfkill`, `permission`; `network`; `account`.
    pub subject: &'static str,
    /// How it is.
    pub verdict: Verdict,
    /// `hci0, 00:AA:01:00:00:42, powered`.
    pub found: String,
    /// What to do; empty when nothing is wrong.
    pub remedy: String,
}

/// How one subject of a diagnosis is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// As it should be.
    Good,
    /// Play works, with a limit that is said.
    Limited,
    /// Play does not work until it is mended.
    Broken,
}

/// Being found and connected to.
#[async_trait]
pub trait Listener: Send {
    /// Waits for the next peer. Cancel-safe. An error is final.
    async fn accept(&mut self) -> Result<Box<dyn Duplex>, LinkError>;

    /// Tells a new card from now on.
    async fn update(&mut self, card: Card) -> Result<(), LinkError>;
}
