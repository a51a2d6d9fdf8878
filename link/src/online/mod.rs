//! Play over the internet: XMPP (RFC 6120), with any account on any server.
//!
//! Stanzas carry Noise records in base64. Servers see who plays with whom and when, and no content. A link is a `pipe` with its
//! own acknowledgements, since a server's acknowledgement does not mean that the peer has the data. Friends find each other by
//! presence, which carries the same card as a Bluetooth advertisement and goes only to contacts that both people have accepted.
//!
//! One task owns the stream to the server. The XMPP resource is always the same, so an account is in use on one device at a time:
//! a new sign-in replaces the older one, which then stops and reports the conflict.

mod account;
mod link;
mod pipe;
mod server;
mod versions;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_xmpp::jid::{BareJid, ResourcePart};

use crate::{
    Accepted, Address, Card, CarrierKind, CarrierState, Duplex, Finding, LinkError, Listener, Outdated,
    Sighting, Transport, Verdict, Watch, WatchEvent,
};

#[doc(hidden)]
pub use self::account::Harness;
pub use self::server::OnlineConfig;

/// How often an online contact is reported again, as a Bluetooth advertisement is heard about once a second.
const SIGHTING_PERIOD: Duration = Duration::from_secs(1);

/// An account, and how to reach its server.
#[derive(Clone)]
pub struct Account {
    jid: BareJid,
    password: String,
    /// host:port, if the domain's DNS records do not give them.
    server: Option<String>,
}

impl Account {
    /// `None` unless it looks like `name@server`.
    pub fn new(jid: &str, password: &str, server: Option<&str>) -> Option<Self> {
        let jid = BareJid::new(jid).ok().filter(|jid| jid.node().is_some())?;
        let server = server.filter(|server| !server.is_empty()).map(str::to_owned);
        Some(Self { jid, password: password.to_owned(), server })
    }

    /// The normalised JID, in lower case.
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

/// State of the account. The first three are normal; each other state needs a person, or passes by itself, as described.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccountState {
    /// No account, or signed out.
    #[default]
    SignedOut,
    /// Signing in, for the first time or again.
    Connecting,
    /// Signed in.
    Online,
    /// The server rejects the password.
    WrongPassword,
    /// The account is disabled or deleted.
    Gone,
    /// Another device has signed in: this one stops until a person takes over.
    Elsewhere,
    /// No answer: retried with back-off.
    ServerGone,
    /// The server's TLS certificate is invalid.
    Certificate,
    /// The server refuses for another reason, or offers no safe mechanism to sign in.
    Policy,
    /// New account: the name is taken.
    Taken,
    /// New account: the server allows no registration.
    NotMade,
}

/// The presence subscription between this account and another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactState {
    /// The contact asks to subscribe to this player's presence.
    Asks,
    /// This account has asked; no answer yet.
    Asked,
    /// Both see each other.
    Mutual,
    /// Only one sees the other.
    OneWay,
}

/// Presence of a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    /// Not online with Qiyou.
    #[default]
    Offline,
    /// Free.
    Online,
    /// A match is in progress.
    Playing,
    /// Set by the person or the device.
    Away,
}

/// An entry of the account's roster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contact {
    /// The subscription.
    pub state: ContactState,
    /// The presence.
    pub presence: Presence,
    /// The name in the roster; mostly empty.
    pub name: String,
    /// The card in the presence.
    pub card: Option<Card>,
    /// The presence has no card that this device can read, but one of another version: this device needs an update.
    pub outdated: Option<Outdated>,
}

/// The account as shown to people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Empty without an account.
    pub account: String,
    /// The state of the account.
    pub state: AccountState,
    /// English, for logs: the error of the server or the system.
    pub detail: String,
    /// For people: the reason in the server operator's own words; mostly empty.
    pub said: String,
    /// When the next attempt starts; `None`: none is planned.
    pub retry_at: Option<Instant>,
    /// What the server sent that was not accepted.
    pub refused: Option<RefusedStanza>,
    /// By account.
    pub contacts: BTreeMap<String, Contact>,
}

/// A stanza beyond this device's limits, which a stranger can cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedStanza {
    /// On the present connection: a stanza was too deep or too long. What exceeded the limit was dropped; the connection stands.
    Pruned,
    /// A stanza took too long, which ended the previous connection. The next attempt follows by itself.
    Overtime,
}

/// Actions on a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactDeed {
    /// Ask for a subscription both ways, and lift a block.
    Ask,
    /// Accept, ask as well, and lift a block.
    Accept,
    /// Remove from the roster, both ways.
    Remove,
    /// Remove from the roster and block all messages.
    Block,
}

/// News about letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LetterNews {
    /// A letter has arrived, perhaps not for the first time.
    Came {
        /// The account named by the sending server. Only the letter itself authenticates the author.
        account: String,
        /// For [`OnlineTransport::letter_taken_in`].
        id: String,
        /// For [`crate::letter::open`].
        sealed: Vec<u8>,
    },
    /// A letter has arrived that this device cannot read, or the device of this account could not read one of this device's: they
    /// have no version of letters in common. A letter that cannot be read is refused.
    OtherVersion {
        /// The account named by the sending server.
        account: String,
        /// Which of the two devices needs an update.
        outdated: Outdated,
    },
    /// A letter of this device has reached a stage.
    Stage {
        /// The number given to [`OnlineTransport::send_letter`].
        number: u64,
        /// The stage.
        stage: LetterStage,
    },
    /// The account's archive was read up to the message of this id.
    Archive(String),
}

/// Stages of a letter in transit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetterStage {
    /// The account's own server has acknowledged it.
    AtServer,
    /// A receipt has arrived, from the other device or forged by a server.
    Delivered,
    /// The letter bounced: there is no such account, or its server stores no more for it.
    Refused,
    /// Unknown whether it was sent.
    Lost,
}

/// XMPP as a carrier. Does nothing without an account.
pub struct OnlineTransport {
    orders: mpsc::UnboundedSender<account::Order>,
    view: watch::Receiver<View>,
    incoming: Incoming,
    letters: Mutex<Option<mpsc::UnboundedReceiver<LetterNews>>>,
}

/// Where incoming links go: to the listener, if there is one.
type Incoming = Arc<Mutex<Option<mpsc::Sender<Accepted>>>>;

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

    /// The stream of news about letters; `None` after the first call.
    pub fn letters(&self) -> Option<mpsc::UnboundedReceiver<LetterNews>> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Sends encrypted bytes ([`crate::letter::seal`]) to the account's next device. Progress is reported with this number.
    /// `false` for an invalid account.
    #[must_use]
    pub fn send_letter(&self, number: u64, account: &str, sealed: Vec<u8>) -> bool {
        let Ok(to) = BareJid::new(account) else { return false };
        self.order(account::Order::Letter { number, to, sealed });
        true
    }

    /// Confirms a received letter once it is on disk: its sender gets a receipt.
    pub fn letter_taken_in(&self, account: &str, id: &str) {
        if let Ok(to) = BareJid::new(account) {
            self.order(account::Order::Receipt { to, id: id.to_owned() });
        }
    }

    /// Restores the content of the account's last [`LetterNews::Archive`] before signing in; `None` for an account that is new on
    /// this device.
    pub fn set_archive(&self, last: Option<String>) {
        self.order(account::Order::Archive(last));
    }

    /// The present state and each change.
    pub fn view(&self) -> watch::Receiver<View> {
        self.view.clone()
    }

    /// Signs in, and stays signed in until told otherwise; registers the account first if `make`. The view shows the result.
    pub fn sign_in(&self, account: Account, make: bool) {
        self.order(account::Order::SignIn { account, make });
    }

    /// Signs out. The account's links break.
    pub fn sign_out(&self) {
        self.order(account::Order::SignOut);
    }

    /// Signs in again with the same account, as after [`AccountState::Elsewhere`]: the other device stops.
    pub fn take_over(&self) {
        self.order(account::Order::TakeOver);
    }

    /// Sets this player's presence to away, or back.
    pub fn set_away(&self, away: bool) {
        self.order(account::Order::Away(away));
    }

    /// Applies an action to a contact. `false` for an invalid account.
    #[must_use]
    pub fn contact(&self, account: &str, deed: ContactDeed) -> bool {
        let Ok(jid) = BareJid::new(account) else { return false };
        self.order(account::Order::Contact(jid, deed));
        true
    }

    fn order(&self, order: account::Order) {
        // Fails only when the task has ended.
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
        /// Links that wait to be accepted.
        const BACKLOG: usize = 8;
        let (accepted, accepting) = mpsc::channel(BACKLOG);
        *self.incoming.lock().unwrap_or_else(PoisonError::into_inner) = Some(accepted.clone());
        self.order(account::Order::Card(Some(card)));
        let (orders, incoming) = (self.orders.clone(), self.incoming.clone());
        Ok(Box::new(OnlineListener { orders, incoming, accepted, accepting }))
    }

    fn watch(&self, scan: bool) -> Watch {
        let mut view = self.view.clone();
        // The first view counts as a change.
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

    /// Sends the queue, disconnects, and stays offline. Returns when the server has accepted it, or after some seconds.
    async fn part(&self) {
        let (parted, done) = oneshot::channel();
        self.order(account::Order::Part(parted));
        // The sender is dropped with the task.
        let _ = done.await;
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
    // Both people have accepted each other, so both may be seen.
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
    accepted: mpsc::Sender<Accepted>,
    accepting: mpsc::Receiver<Accepted>,
}

#[async_trait]
impl Listener for OnlineListener {
    async fn accept(&mut self) -> Result<Accepted, LinkError> {
        // Cannot end: `self` holds a sender.
        let accepted = self.accepting.recv().await;
        accepted.ok_or_else(|| LinkError::Lost("the account's task has ended".into()))
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
        // Another listener may have replaced this one.
        if incoming.as_ref().is_some_and(|other| other.same_channel(&self.accepted)) {
            *incoming = None;
            let _ = self.orders.send(account::Order::Card(None));
        }
    }
}
