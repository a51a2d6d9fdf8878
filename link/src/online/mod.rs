//! Play over the internet: XMPP (RFC 6120), with any account on any server.
//!
//! Servers carry stanzas whose payload is Noise records in base64; they see who plays with whom and when, never what. A link is
//! a [`pipe`] of its own, since what a server has acknowledged is not what the peer has. Friends find each other by presence:
//! it carries the same card as a Bluetooth advert, and only contacts that both people have accepted get it.
//!
//! One task owns the stream to the server. A resource of ours that is always the same means that an account is in use on one
//! device at a time: who signs in second takes over, and the first stops and says so.

mod account;
mod link;
mod pipe;
mod prune;
mod server;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_xmpp::jid::{BareJid, ResourcePart};

use crate::{
    Address, Card, CarrierKind, CarrierState, Duplex, Finding, LinkError, Listener, Sighting, Transport,
    Verdict, Watch, WatchEvent,
};

pub use self::server::OnlineConfig;

/// How often a contact that is online is seen again, as an advert is heard about once a second.
const SIGHTING_PERIOD: Duration = Duration::from_secs(1);

/// An account, and how to reach its server.
#[derive(Clone)]
pub struct Account {
    jid: BareJid,
    password: String,
    /// host:port, where the domain's own records do not say.
    server: Option<String>,
}

impl Account {
    /// `None` when it does not look like `name@server`.
    pub fn new(jid: &str, password: &str, server: Option<&str>) -> Option<Self> {
        let jid = BareJid::new(jid).ok().filter(|jid| jid.node().is_some())?;
        let server = server.filter(|server| !server.is_empty()).map(str::to_owned);
        Some(Self { jid, password: password.to_owned(), server })
    }

    /// As it is written: lower case, normalised.
    pub fn jid(&self) -> String {
        self.jid.to_string()
    }

    fn name(&self) -> &str {
        self.jid.node().map_or("", |name| name.as_str())
    }
}

impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Account")
            .field("jid", &self.jid)
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

/// How the account is. Each but the first three asks a person, or passes by itself, as it says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccountState {
    /// No account, or left.
    #[default]
    SignedOut,
    /// On the way, for the first time or again.
    Connecting,
    /// Signed in.
    Online,
    /// The server does not take the password.
    WrongPassword,
    /// Disabled or deleted.
    Gone,
    /// Another device has signed in: this one stops until a person takes over.
    Elsewhere,
    /// No answer: tried again, ever more slowly.
    ServerGone,
    /// The server cannot prove who it is.
    Certificate,
    /// The server refuses for a reason of its own, or offers no safe way to sign in.
    Policy,
    /// A new account: somebody has that name.
    Taken,
    /// A new account: the server makes none here.
    NotMade,
}

/// What is between this account and another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactState {
    /// It asks to see when this player is online.
    Asks,
    /// It was asked, and has not answered.
    Asked,
    /// Both see each other.
    Mutual,
    /// One sees the other only.
    OneWay,
}

/// How a contact is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    /// Not here with Qiyou.
    #[default]
    Offline,
    /// Free.
    Online,
    /// In a match.
    Playing,
    /// Said so, or its device did.
    Away,
}

/// Somebody on the account's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contact {
    /// What is between the two.
    pub state: ContactState,
    /// How it is.
    pub presence: Presence,
    /// What this account's list calls it; mostly empty.
    pub name: String,
    /// What its presence tells.
    pub card: Option<Card>,
}

/// Everything that people are shown of the account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Empty without one.
    pub account: String,
    /// How it is.
    pub state: AccountState,
    /// English, for logs: what the server or the system said.
    pub detail: String,
    /// For people: the reason as whoever runs the server has written it; mostly empty.
    pub said: String,
    /// When the next try is; `None`: none is planned.
    pub retry_at: Option<Instant>,
    /// By account.
    pub contacts: BTreeMap<String, Contact>,
}

/// What is done with a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactDeed {
    /// Ask to see each other.
    Ask,
    /// Say yes, and ask as well.
    Accept,
    /// Off the list, both ways.
    Remove,
    /// Off the list, and nothing from it any more.
    Block,
}

/// What is heard of letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LetterNews {
    /// One has come, perhaps not for the first time.
    Came {
        /// Whose server says that it is from there. What is in it says who wrote it.
        account: String,
        /// For [`OnlineTransport::letter_taken_in`].
        id: String,
        /// See [`crate::letter::open`].
        sealed: Vec<u8>,
    },
    /// How far one of ours has come.
    Stage {
        /// As it was given to [`OnlineTransport::send_letter`].
        number: u64,
        /// How far.
        stage: LetterStage,
    },
    /// The account's archive was read up to the message of this name.
    Archive(String),
}

/// How far a letter has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetterStage {
    /// The account's own server has it, and acknowledged so.
    AtServer,
    /// The other device has said that it was taken in, or a server says so in its name.
    Delivered,
    /// It came back: there is no such account, or its server keeps nothing more for it.
    Refused,
    /// Whether it went out is not known.
    Lost,
}

/// XMPP as a carrier. Without an account it does nothing.
pub struct OnlineTransport {
    orders: mpsc::UnboundedSender<account::Order>,
    view: watch::Receiver<View>,
    incoming: Incoming,
    letters: Mutex<Option<mpsc::UnboundedReceiver<LetterNews>>>,
}

/// Where links that others open go: to the listener, if there is one.
type Incoming = Arc<Mutex<Option<mpsc::Sender<Box<dyn Duplex>>>>>;

impl OnlineTransport {
    /// Must be called within a runtime.
    pub fn new(config: OnlineConfig) -> Self {
        let (orders, waiting) = mpsc::unbounded_channel();
        let (shown, view) = watch::channel(View::default());
        let incoming = Incoming::default();
        let (news, letters) = mpsc::unbounded_channel();
        tokio::spawn(account::run(config, waiting, shown, incoming.clone(), news));
        Self { orders, view, incoming, letters: Mutex::new(Some(letters)) }
    }

    /// What is heard of letters from now on; `None` for everyone but the first who asks.
    pub fn letters(&self) -> Option<mpsc::UnboundedReceiver<LetterNews>> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Sends sealed bytes ([`crate::letter::seal`]) to whatever device the account is used on next. How far they come is told
    /// with this number. `false` when it is no account.
    #[must_use]
    pub fn send_letter(&self, number: u64, account: &str, sealed: Vec<u8>) -> bool {
        let Ok(to) = BareJid::new(account) else { return false };
        self.order(account::Order::Letter { number, to, sealed });
        true
    }

    /// A letter that came was taken in, and is on disk: its sender is told.
    pub fn letter_taken_in(&self, account: &str, id: &str) {
        if let Ok(to) = BareJid::new(account) {
            self.order(account::Order::Receipt { to, id: id.to_owned() });
        }
    }

    /// What the last [`LetterNews::Archive`] of this account said, before it is signed in; `None` for one that is new here.
    pub fn set_archive(&self, last: Option<String>) {
        self.order(account::Order::Archive(last));
    }

    /// What is so now, and each change.
    pub fn view(&self) -> watch::Receiver<View> {
        self.view.clone()
    }

    /// Signs in, and stays so until told otherwise; makes the account before, if wanted. What comes of it is in the view.
    pub fn sign_in(&self, account: Account, make: bool) {
        self.order(account::Order::SignIn { account, make });
    }

    /// Leaves the account. Its links break.
    pub fn sign_out(&self) {
        self.order(account::Order::SignOut);
    }

    /// Sends what waits, says goodbye to the server, and stays away. Returns when the server has taken it, or after some seconds.
    pub async fn part(&self) {
        let (parted, done) = oneshot::channel();
        self.order(account::Order::Part(parted));
        // Dropped with the task.
        let _ = done.await;
    }

    /// Signs in again with the same account, as after [`AccountState::Elsewhere`]: the other device stops.
    pub fn take_over(&self) {
        self.order(account::Order::TakeOver);
    }

    /// Tells contacts that this player is away, or back.
    pub fn set_away(&self, away: bool) {
        self.order(account::Order::Away(away));
    }

    /// Does something with a contact. `false` when it is no account.
    #[must_use]
    pub fn contact(&self, account: &str, deed: ContactDeed) -> bool {
        let Ok(jid) = BareJid::new(account) else { return false };
        self.order(account::Order::Contact(jid, deed));
        true
    }

    fn order(&self, order: account::Order) {
        // The task ends with this.
        let _ = self.orders.send(order);
    }
}

fn resource() -> &'static tokio_xmpp::jid::ResourceRef {
    static RESOURCE: std::sync::OnceLock<ResourcePart> = std::sync::OnceLock::new();
    RESOURCE.get_or_init(|| ResourcePart::new("qiyou").expect("letters are a resource").into_owned())
}

fn carrier_state(state: AccountState) -> CarrierState {
    match state {
        AccountState::Online => CarrierState::Ready,
        AccountState::SignedOut => CarrierState::Off,
        AccountState::Connecting | AccountState::ServerGone => CarrierState::Connecting,
        AccountState::WrongPassword
        | AccountState::Gone
        | AccountState::Elsewhere
        | AccountState::Certificate
        | AccountState::Policy
        | AccountState::Taken
        | AccountState::NotMade => CarrierState::NeedsPerson,
    }
}

#[async_trait]
impl Transport for OnlineTransport {
    fn kind(&self) -> CarrierKind {
        CarrierKind::Online
    }

    async fn listen(&self, card: Card) -> Result<Box<dyn Listener>, LinkError> {
        /// Links that may wait to be accepted.
        const BACKLOG: usize = 8;
        let (accepted, accepting) = mpsc::channel(BACKLOG);
        *self.incoming.lock().unwrap_or_else(PoisonError::into_inner) = Some(accepted.clone());
        self.order(account::Order::Card(Some(card)));
        let (orders, incoming) = (self.orders.clone(), self.incoming.clone());
        Ok(Box::new(OnlineListener { orders, incoming, accepted, accepting }))
    }

    fn watch(&self, scan: bool) -> Watch {
        let mut view = self.view.clone();
        // A view is news at first.
        view.mark_changed();
        let events = futures::stream::unfold(
            (view, None, false),
            move |(mut view, told, seen): (_, Option<CarrierState>, bool)| async move {
                let again = async {
                    if seen {
                        tokio::time::sleep(SIGHTING_PERIOD).await;
                    } else {
                        std::future::pending::<()>().await;
                    }
                };
                tokio::select! {
                    changed = view.changed() => changed.ok()?,
                    () = again => {}
                }
                let now = view.borrow_and_update().clone();
                let state = carrier_state(now.state);
                let mut events = Vec::new();
                if told != Some(state) {
                    events.push(WatchEvent::State(state));
                }
                let ready = scan && state == CarrierState::Ready;
                let contacts = now.contacts.into_iter().filter(|_| ready);
                let before = events.len();
                events.extend(contacts.filter_map(|(account, contact)| sighting(account, contact)));
                let seen = events.len() > before;
                Some((futures::stream::iter(events), (view, Some(state), seen)))
            },
        );
        Box::pin(events.flatten())
    }

    async fn connect(&self, address: &Address) -> Result<Box<dyn Duplex>, LinkError> {
        let account = BareJid::new(&address.text).ok().filter(|_| address.kind == CarrierKind::Online);
        let account = account.ok_or_else(|| LinkError::WrongAddress(address.clone()))?;
        let (reply, opened) = oneshot::channel();
        self.order(account::Order::Open(account, reply));
        match opened.await {
            Ok(Some(stream)) => Ok(Box::new(stream)),
            _ => Err(LinkError::Unreachable(address.clone())),
        }
    }

    async fn power_on(&self) -> Result<(), LinkError> {
        let state = carrier_state(self.view.borrow().state);
        if state == CarrierState::Ready { Ok(()) } else { Err(LinkError::Carrier(state)) }
    }

    fn places(&self) -> Vec<Address> {
        let account = self.view.borrow().account.clone();
        (!account.is_empty())
            .then_some(Address { kind: CarrierKind::Online, text: account })
            .into_iter()
            .collect()
    }

    async fn diagnose(&self) -> Vec<Finding> {
        let view = self.view.borrow().clone();
        let name = if view.account.is_empty() { "no account" } else { &view.account };
        let (verdict, remedy) = match view.state {
            AccountState::Online => (Verdict::Good, ""),
            AccountState::SignedOut => (Verdict::Limited, "Sign in to play over the internet."),
            AccountState::Connecting => (Verdict::Limited, ""),
            AccountState::ServerGone => {
                (Verdict::Limited, "Is the device online? It is tried again by itself.")
            }
            AccountState::WrongPassword => (Verdict::Limited, "Sign in with the right password."),
            AccountState::Gone => (Verdict::Limited, "Ask whoever runs the server, or use another account."),
            AccountState::Elsewhere => (Verdict::Limited, "Take over, or leave it to the other device."),
            AccountState::Certificate => (
                Verdict::Limited,
                "Do not sign in: somebody may be in between. Check the date and the network.",
            ),
            AccountState::Policy => (Verdict::Limited, "Ask whoever runs the server."),
            AccountState::Taken => (Verdict::Limited, "Choose another name."),
            AccountState::NotMade => (Verdict::Limited, "Make the account on the server's web page."),
        };
        let detail = if view.detail.is_empty() { String::new() } else { format!(": {}", view.detail) };
        vec![Finding {
            subject: "account",
            verdict,
            found: format!("{name}, {:?}{detail}", view.state),
            remedy: remedy.to_owned(),
        }]
    }
}

fn sighting(account: String, contact: Contact) -> Option<WatchEvent> {
    let card = contact.card?;
    // Both people have accepted each other: that is leave enough to be seen.
    Some(WatchEvent::Seen(Sighting {
        tag: card.tag,
        open_to_all: true,
        wish: None,
        busy: card.busy,
        name: card.name.or_else(|| account.split_once('@').map(|(name, _)| name.to_owned())),
        rssi_dbm: None,
        address: Address { kind: CarrierKind::Online, text: account },
    }))
}

struct OnlineListener {
    orders: mpsc::UnboundedSender<account::Order>,
    incoming: Incoming,
    accepted: mpsc::Sender<Box<dyn Duplex>>,
    accepting: mpsc::Receiver<Box<dyn Duplex>>,
}

#[async_trait]
impl Listener for OnlineListener {
    async fn accept(&mut self) -> Result<Box<dyn Duplex>, LinkError> {
        // Cannot end: this holds a sender.
        self.accepting.recv().await.ok_or_else(|| LinkError::Lost("the account's task has ended".into()))
    }

    async fn update(&mut self, card: Card) -> Result<(), LinkError> {
        self.orders
            .send(account::Order::Card(Some(card)))
            .map_err(|_| LinkError::Lost("the account's task has ended".into()))
    }
}

impl Drop for OnlineListener {
    fn drop(&mut self) {
        let mut incoming = self.incoming.lock().unwrap_or_else(PoisonError::into_inner);
        // Another may listen already.
        if incoming.as_ref().is_some_and(|other| other.same_channel(&self.accepted)) {
            *incoming = None;
            let _ = self.orders.send(account::Order::Card(None));
        }
    }
}
