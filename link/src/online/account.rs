//! The task that owns the XMPP stream to the server: sign-in with retries, contacts, presence, and the messages of links.

mod harness;
mod letters;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_xmpp::Stanza;
use tokio_xmpp::jid::{BareJid, FullJid, Jid};
use tokio_xmpp::minidom::Element;
use tokio_xmpp::minidom::rxml::NcName;
use tokio_xmpp::parsers::iq::Iq;
use tokio_xmpp::parsers::message::{Message, MessageType};
use tokio_xmpp::parsers::presence::{self, Show, Type};
use tokio_xmpp::parsers::roster::{Ask, Item, Roster, Subscription};
use tokio_xmpp::parsers::stanza_error::{DefinedCondition, ErrorType, StanzaError};
use tokio_xmpp::parsers::{blocking, ping};
use tokio_xmpp::stanzastream::{Connection, Event, StanzaStream, StreamEvent};
use tracing::{debug, info, warn};

pub use self::harness::Harness;
use self::letters::Letters;
use super::link::{self, LinkName, LinkStream, Said, ToSend, Told};
use super::server::{self, Failed, LastWords};
use super::versions::Layer;
use super::{
    Account, AccountState, Contact, ContactDeed, ContactState, Incoming, LetterNews, OnlineConfig, Presence,
    RefusedStanza, View,
};
use crate::lan::{card_strings, read_card};
use crate::secure::Versions;
use crate::{Accepted, Address, Card, CarrierKind, Outdated};

/// Bounds of the exponential back-off for a server that does not answer. A random factor of a half to one and a half spreads the
/// reconnects of all players when a server restarts.
const FIRST_BACKOFF: Duration = Duration::from_millis(500);
const LONGEST_BACKOFF: Duration = Duration::from_mins(1);

/// Stanzas between this task and the stream's.
const QUEUE: usize = 64;

/// Most contacts kept: more than anybody plays with.
const MAX_CONTACTS: usize = 512;

/// Most links at a time, with all peers together.
const MAX_LINKS: usize = 64;

/// Recently ended links that are remembered: a late message of such a link opens no new one.
const ENDED: usize = 64;

/// The namespace of the card in presence stanzas.
const CARD: &str = "urn:qiyou:card:1";

/// Versions of cards. The strings in the card have a version of their own, which is the same number.
const CARDS: Layer = Layer { word: "card", element: "card", spoken: Versions { lowest: 1, highest: 1 } };

const ROSTER_ID: &str = "qiyou-roster";

/// Commands to the account's task.
pub(super) enum Order {
    SignIn {
        account: Account,
        make: bool,
    },
    SignOut,
    TakeOver,
    /// Disconnect from the server, and report when that is done.
    Part(oneshot::Sender<()>),
    Away(bool),
    Card(Option<Card>),
    Contact(BareJid, ContactDeed),
    Letter {
        number: u64,
        to: BareJid,
        sealed: Vec<u8>,
    },
    /// This device has processed the letter of this id.
    Receipt {
        to: BareJid,
        id: String,
    },
    /// The last message read from the account's archive.
    Archive(Option<String>),
    Open(BareJid, oneshot::Sender<Option<LinkStream>>),
}

/// Reports of the sign-in tasks: the attempt's number and its result.
enum Report {
    Failed { failed: Failed, retry_in: Option<Duration> },
    Made(Result<(), Failed>),
}

/// Runs until the transport is dropped.
pub(super) async fn run(
    config: OnlineConfig,
    mut orders: mpsc::UnboundedReceiver<Order>,
    shown: watch::Sender<View>,
    incoming: Incoming,
    letters: mpsc::UnboundedSender<LetterNews>,
) {
    let (reports, mut reported) = mpsc::unbounded_channel();
    let (outgoing, mut to_send) = mpsc::unbounded_channel();
    let mut task = Task::new(config, shown, incoming, letters, reports, outgoing);
    loop {
        let event = async {
            match &mut task.stream {
                Some(stream) => stream.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            order = orders.recv() => match order {
                Some(order) => task.obey(order).await,
                None => return task.leave().await,
            },
            event = event => {
                if let Some(event) = event {
                    task.hear(event).await;
                } else {
                    warn!("the stream to the server ended");
                    task.stream = None;
                    task.nobody_is_online();
                    task.show(Failed::new(AccountState::ServerGone, "the stream ended"), None);
                }
            }
            Some((era, report)) = reported.recv() => {
                if era == task.era {
                    task.reported(report);
                }
            }
            Some(message) = to_send.recv() => task.pass_on(message).await,
        }
    }
}

struct Task {
    config: OnlineConfig,
    shown: watch::Sender<View>,
    incoming: Incoming,
    reports: mpsc::UnboundedSender<(u64, Report)>,
    outgoing: mpsc::UnboundedSender<ToSend>,
    /// Counts sign-ins, so that a report of an earlier one is ignored.
    era: u64,
    account: Option<Account>,
    stream: Option<StanzaStream>,
    /// Shared with the supply of the present stream.
    last_words: LastWords,
    /// Whether the server has accepted the last connection's stream management; see `supply`.
    settled: Arc<AtomicBool>,
    card: Option<Card>,
    away: bool,
    links: BTreeMap<(FullJid, LinkName), mpsc::Sender<Told>>,
    ended: VecDeque<LinkName>,
    blocked_ids: u64,
    /// Changes of contacts that wait for a connection.
    deeds: VecDeque<(BareJid, ContactDeed)>,
    /// Contacts shown as asked before the server has confirmed the request.
    unconfirmed: BTreeSet<BareJid>,
    letters: Letters,
}

impl Task {
    fn new(
        config: OnlineConfig,
        shown: watch::Sender<View>,
        incoming: Incoming,
        letters: mpsc::UnboundedSender<LetterNews>,
        reports: mpsc::UnboundedSender<(u64, Report)>,
        outgoing: mpsc::UnboundedSender<ToSend>,
    ) -> Self {
        Self {
            config,
            shown,
            incoming,
            reports,
            outgoing,
            era: 0,
            account: None,
            stream: None,
            last_words: LastWords::default(),
            settled: Arc::default(),
            card: None,
            away: false,
            links: BTreeMap::new(),
            ended: VecDeque::new(),
            blocked_ids: 0,
            deeds: VecDeque::new(),
            unconfirmed: BTreeSet::new(),
            letters: Letters::new(letters),
        }
    }

    async fn obey(&mut self, order: Order) {
        match order {
            Order::SignIn { account, make } => {
                self.leave().await;
                self.era += 1;
                if self.account.as_ref().is_none_or(|before| before.jid != account.jid) {
                    self.deeds.clear();
                }
                let (account_text, era) = (account.jid(), self.era);
                self.account = Some(account.clone());
                self.shown.send_modify(|view| {
                    *view =
                        View { account: account_text, state: AccountState::Connecting, ..View::default() };
                });
                if make {
                    let (config, reports) = (self.config.clone(), self.reports.clone());
                    tokio::spawn(async move {
                        let made = server::make_account(&account, &config).await;
                        let _ = reports.send((era, Report::Made(made)));
                    });
                } else {
                    self.begin();
                }
            }
            Order::SignOut => {
                self.leave().await;
                self.era += 1;
                self.account = None;
                self.deeds.clear();
                self.shown.send_replace(View::default());
            }
            Order::TakeOver => {
                if self.account.is_some() {
                    self.leave().await;
                    self.era += 1;
                    self.shown.send_modify(|view| view.refused = None);
                    self.show(AccountState::Connecting, None);
                    self.begin();
                }
            }
            Order::Part(parted) => {
                self.leave().await;
                // The caller may have given up.
                let _ = parted.send(());
            }
            Order::Away(away) => {
                self.away = away;
                self.tell_presence().await;
            }
            Order::Card(card) => {
                self.card = card;
                self.tell_presence().await;
            }
            Order::Contact(account, deed) => self.contact(account, deed).await,
            Order::Letter { number, to, sealed } => self.send_letter(number, to, &sealed).await,
            Order::Receipt { to, id } => self.send_receipt(&to, id).await,
            Order::Archive(last) => self.archive_read_to(last),
            Order::Open(account, reply) => {
                // The caller may have given up.
                let _ = reply.send(self.open(account));
            }
        }
    }

    /// Starts signing in, and again whenever the connection is lost.
    fn begin(&mut self) {
        let Some(account) = self.account.clone() else { return };
        let supply = Supply {
            account,
            config: self.config.clone(),
            era: self.era,
            reports: self.reports.clone(),
            settled: self.settled.clone(),
            last_words: LastWords::new(self.shown.clone()),
        };
        self.last_words = supply.last_words.clone();
        self.settled.store(true, Ordering::Release);
        let connector = move |_location, slot| drop(tokio::spawn(supply.clone().run(slot)));
        self.stream = Some(StanzaStream::new(Box::new(connector), QUEUE));
    }

    /// Disconnects from the server, if connected.
    async fn leave(&mut self) {
        /// Limit for a server that does not answer.
        const PATIENCE: Duration = Duration::from_secs(2);
        self.break_links();
        if let Some(stream) = self.stream.take() {
            let online = self.shown.borrow().state == AccountState::Online;
            let goodbye = async {
                if online {
                    stream.send(Box::new(presence::Presence::unavailable().into())).await;
                }
                stream.close().await;
            };
            let _ = tokio::time::timeout(PATIENCE, goodbye).await;
        }
    }

    fn reported(&mut self, report: Report) {
        match report {
            Report::Made(Ok(())) => {
                info!("the account was made");
                self.begin();
            }
            Report::Made(Err(failed)) => self.show(failed, None),
            Report::Failed { failed, retry_in } => {
                info!(state = ?failed.state, detail = failed.detail, "not signed in");
                if retry_in.is_none() {
                    // This stream makes no further attempt.
                    self.stream = None;
                    self.break_links();
                }
                self.nobody_is_online();
                self.show(failed, retry_in.map(|retry_in| Instant::now() + retry_in));
            }
        }
    }

    /// Shows the result of the last attempt.
    fn show(&self, outcome: impl Into<Failed>, retry_at: Option<Instant>) {
        let Failed { state, detail, said } = outcome.into();
        self.shown.send_modify(|view| {
            (view.state, view.detail, view.said, view.retry_at) = (state, detail, said, retry_at);
        });
    }

    /// Without a connection every contact counts as offline.
    fn nobody_is_online(&self) {
        self.shown.send_modify(|view| {
            for contact in view.contacts.values_mut() {
                (contact.presence, contact.card, contact.outdated) = (Presence::Offline, None, None);
            }
        });
    }

    async fn send(&self, stanza: impl Into<Stanza>) {
        if let Some(stream) = &self.stream {
            stream.send(Box::new(stanza.into())).await;
        }
    }

    // Stanzas from the server.

    async fn hear(&mut self, event: Event) {
        match event {
            Event::Stream(StreamEvent::Reset { bound_jid, .. }) => {
                self.settled.store(true, Ordering::Release);
                info!(%bound_jid, "signed in");
                self.show(AccountState::Online, None);
                let ask = Roster { ver: None, items: Vec::new() };
                self.send(Iq::Get { from: None, to: None, id: ROSTER_ID.into(), payload: ask.into() }).await;
                self.tell_presence().await;
                for (account, deed) in std::mem::take(&mut self.deeds) {
                    self.contact(account, deed).await;
                }
                self.ask_archive().await;
                for link in self.links.values() {
                    // A link whose queue is full is about to end.
                    let _ = link.try_send(Told::SendAgain);
                }
            }
            Event::Stream(StreamEvent::Resumed) => {
                self.settled.store(true, Ordering::Release);
                self.show(AccountState::Online, None);
                for (account, deed) in std::mem::take(&mut self.deeds) {
                    self.contact(account, deed).await;
                }
            }
            Event::Stream(StreamEvent::Suspended) => {
                debug!("the connection to the server is lost");
                let refused = self.last_words.take_overtime().then_some(RefusedStanza::Overtime);
                self.shown.send_modify(|view| view.refused = refused);
                self.show(AccountState::Connecting, None);
            }
            Event::Stanza(Stanza::Presence(presence)) => self.hear_presence(presence).await,
            Event::Stanza(Stanza::Message(message)) => {
                self.hear_message(message);
                self.refuse_letters().await;
            }
            Event::Stanza(Stanza::Iq(iq)) => self.hear_iq(iq).await,
        }
    }

    async fn hear_iq(&mut self, iq: Iq) {
        if self.hear_archive(&iq).await {
            return;
        }
        let own = self.account.as_ref().map(|account| account.jid.clone());
        let ours = |from: &Option<Jid>| from.as_ref().is_none_or(|from| Some(from.to_bare()) == own);
        match iq {
            Iq::Result { from, id, payload: Some(payload), .. } if id == ROSTER_ID && ours(&from) => {
                if let Ok(roster) = Roster::try_from(payload) {
                    self.unconfirmed.clear();
                    // Requests to this account are not in the roster: their entries stay.
                    self.shown.send_modify(|view| {
                        view.contacts.retain(|_, contact| {
                            let is_seen = contact.card.is_some() || contact.outdated.is_some();
                            contact.state == ContactState::Asks || is_seen
                        });
                    });
                    self.roster_items(roster.items).await;
                }
            }
            Iq::Set { from, id, payload, .. }
                if ours(&from) && payload.is("query", tokio_xmpp::parsers::ns::ROSTER) =>
            {
                if let Ok(roster) = Roster::try_from(payload) {
                    self.roster_items(roster.items).await;
                }
                self.send(Iq::Result { from: None, to: from, id, payload: None }).await;
            }
            Iq::Get { from, id, payload, .. } if ping::Ping::try_from(payload.clone()).is_ok() => {
                self.send(Iq::Result { from: None, to: from, id, payload: None }).await;
            }
            Iq::Get { from, id, .. } | Iq::Set { from, id, .. } => {
                let error =
                    StanzaError::new(ErrorType::Cancel, DefinedCondition::ServiceUnavailable, "en", "");
                self.send(Iq::Error { from: None, to: from, id, error, payload: None }).await;
            }
            Iq::Result { .. } | Iq::Error { .. } => {}
        }
    }

    async fn roster_items(&mut self, items: Vec<Item>) {
        for item in items {
            let account = item.jid.clone();
            let state = |view: &View| view.contacts.get(&account.to_string()).map(|contact| contact.state);
            let before = state(&self.shown.borrow());
            self.roster_item(item);
            if before == Some(ContactState::Asks) && state(&self.shown.borrow()) == Some(ContactState::Asked)
            {
                // Both have asked: the two requests crossed.
                self.send(presence::Presence::subscribed().with_to(Jid::from(account))).await;
            }
        }
    }

    fn roster_item(&mut self, item: Item) {
        if self.unconfirmed.contains(&item.jid) {
            // Sent before the server handled this account's request: the push that answers the request follows.
            if item.ask != Ask::Subscribe && item.subscription != Subscription::Both {
                return;
            }
            self.unconfirmed.remove(&item.jid);
        }
        let account = item.jid.to_string();
        self.shown.send_modify(|view| {
            let state = match (item.subscription, &item.ask) {
                (Subscription::Remove, _) => {
                    view.contacts.remove(&account);
                    return;
                }
                (Subscription::Both, _) => ContactState::Mutual,
                (_, Ask::Subscribe) => ContactState::Asked,
                (Subscription::From | Subscription::To, _) => ContactState::OneWay,
                (Subscription::None, _) => {
                    // The other side has removed this account from its list.
                    view.contacts
                        .retain(|jid, contact| *jid != account || contact.state == ContactState::Asks);
                    return;
                }
            };
            if view.contacts.len() >= MAX_CONTACTS && !view.contacts.contains_key(&account) {
                return;
            }
            let contact = view.contacts.entry(account).or_insert_with(|| new_contact(state));
            contact.state = state;
            contact.name = proto::limits::fit_name(item.name.as_deref().unwrap_or_default());
        });
    }

    async fn hear_presence(&mut self, presence: presence::Presence) {
        let Some(from) = presence.from.clone() else { return };
        let (account, ours) = (from.to_bare(), from.resource() == Some(super::resource()));
        match presence.type_ {
            presence::Type::Subscribe => {
                // A contact that this account has asked, and that asks back, is already accepted.
                let asked = self.shown.borrow().contacts.get(&account.to_string()).is_some_and(|contact| {
                    matches!(contact.state, ContactState::Asked | ContactState::OneWay | ContactState::Mutual)
                });
                if asked {
                    self.send(presence::Presence::subscribed().with_to(Jid::from(account))).await;
                    return;
                }
                self.shown.send_modify(|view| {
                    if view.contacts.len() < MAX_CONTACTS {
                        let asks = new_contact(ContactState::Asks);
                        view.contacts.entry(account.to_string()).or_insert(asks);
                    }
                });
            }
            presence::Type::None if ours && Some(&account) != self.account.as_ref().map(|own| &own.jid) => {
                let card = presence.payloads.iter().find_map(card_of);
                // A newer device may send a card of each version that it speaks.
                let newest = card.is_none().then(|| newest_other_card(&presence.payloads)).flatten();
                let outdated = newest.map(|newest| CARDS.outdated(newest));
                let shown = match (&card, presence.show) {
                    (_, Some(Show::Away | Show::Xa)) => Presence::Away,
                    (Some(card), _) if card.busy => Presence::Playing,
                    _ => Presence::Online,
                };
                self.set_presence(&account, shown, card, outdated);
            }
            presence::Type::Unavailable | presence::Type::Error if ours => {
                self.set_presence(&account, Presence::Offline, None, None);
                if let Ok(full) = FullJid::try_from(from) {
                    // Messages in flight to that device would come back as errors, one by one.
                    self.links.retain(|(peer, _), _| *peer != full);
                }
            }
            _ => {}
        }
    }

    fn set_presence(
        &self,
        account: &BareJid,
        presence: Presence,
        card: Option<Card>,
        outdated: Option<Outdated>,
    ) {
        self.shown.send_if_modified(|view| {
            let Some(contact) = view.contacts.get_mut(&account.to_string()) else { return false };
            let changed = (contact.presence, &contact.card, contact.outdated) != (presence, &card, outdated);
            (contact.presence, contact.card, contact.outdated) = (presence, card, outdated);
            changed
        });
    }

    /// Sends this player's presence to the contacts; unavailable while nobody listens.
    async fn tell_presence(&self) {
        if self.shown.borrow().state != AccountState::Online {
            return;
        }
        let Some(card) = &self.card else {
            return self.send(presence::Presence::unavailable()).await;
        };
        let mut presence = presence::Presence::available();
        presence.show = self.away.then_some(Show::Away);
        presence.payloads.push(card_element(card));
        self.send(presence).await;
    }

    async fn contact(&mut self, account: BareJid, deed: ContactDeed) {
        if self.shown.borrow().state != AccountState::Online {
            self.deeds.retain(|(other, _)| *other != account);
            if self.account.is_some() && self.deeds.len() < MAX_CONTACTS {
                self.deeds.push_back((account, deed));
            }
            return;
        }
        let to = Jid::from(account.clone());
        match deed {
            ContactDeed::Ask => {
                let state =
                    self.shown.borrow().contacts.get(&account.to_string()).map(|contact| contact.state);
                match state {
                    Some(ContactState::Mutual) => return,
                    Some(ContactState::Asks) => {
                        self.send(presence::Presence::subscribed().with_to(to.clone())).await;
                    }
                    // Set now, not on the server's confirmation: the contact's own request may arrive earlier, and this one
                    // answers it.
                    None => {
                        self.shown.send_modify(|view| {
                            if view.contacts.len() < MAX_CONTACTS {
                                view.contacts.insert(account.to_string(), new_contact(ContactState::Asked));
                            }
                        });
                        self.unconfirmed.insert(account);
                    }
                    Some(ContactState::Asked | ContactState::OneWay) => {}
                }
                self.lift_block(&to).await;
                self.send(presence::Presence::subscribe().with_to(to)).await;
            }
            ContactDeed::Accept => {
                self.lift_block(&to).await;
                self.send(presence::Presence::subscribed().with_to(to.clone())).await;
                self.send(presence::Presence::subscribe().with_to(to)).await;
            }
            ContactDeed::Remove | ContactDeed::Block => {
                self.unconfirmed.remove(&account);
                let state =
                    self.shown.borrow().contacts.get(&account.to_string()).map(|contact| contact.state);
                if state == Some(ContactState::Asks) {
                    // A requesting account is not in the roster; the refusal is enough. A removal from the roster would follow
                    // the refusal and delete the next request too.
                    self.send(presence::Presence::new(Type::Unsubscribed).with_to(to.clone())).await;
                } else {
                    // The server informs the contact and ends both subscriptions.
                    let item = Item {
                        jid: account.clone(),
                        name: None,
                        subscription: Subscription::Remove,
                        ask: Ask::None,
                        groups: Vec::new(),
                        approved: None,
                    };
                    self.set("remove", Roster { ver: None, items: vec![item] }).await;
                }
                if deed == ContactDeed::Block {
                    // The block comes last: the server sends nothing to a blocked account, which would go on believing in the
                    // subscription.
                    self.set("block", blocking::Block { items: vec![to] }).await;
                }
                self.shown.send_modify(|view| drop(view.contacts.remove(&account.to_string())));
                self.links.retain(|(peer, _), _| peer.to_bare() != account);
            }
        }
    }

    /// A server that still blocks the account would keep its answer away.
    async fn lift_block(&mut self, account: &Jid) {
        self.set("unblock", blocking::Unblock { items: vec![account.clone()] }).await;
    }

    async fn set(&mut self, what: &str, payload: impl Into<Element>) {
        self.blocked_ids += 1;
        let id = format!("qiyou-{what}-{}", self.blocked_ids);
        self.send(Iq::Set { from: None, to: None, id, payload: payload.into() }).await;
    }

    // Links.

    /// Opens a link to an online contact.
    fn open(&mut self, account: BareJid) -> Option<LinkStream> {
        let view = self.shown.borrow();
        let contact = view.contacts.get(&account.to_string())?;
        let reachable = view.state == AccountState::Online && contact.presence != Presence::Offline;
        drop(view);
        if !reachable || self.links.len() >= MAX_LINKS {
            return None;
        }
        Some(self.new_link(account.with_resource(super::resource()), new_random()?, true))
    }

    fn new_link(&mut self, peer: FullJid, name: LinkName, opened_here: bool) -> LinkStream {
        let (stream, tell) = link::new(peer.clone(), name.clone(), opened_here, self.outgoing.clone());
        self.links.insert((peer, name), tell);
        stream
    }

    fn break_links(&mut self) {
        self.links.clear();
    }

    fn hear_message(&mut self, message: Message) {
        if self.hear_letter(&message) {
            return;
        }
        let Some(from) = message.from.and_then(|from| FullJid::try_from(from).ok()) else { return };
        let Some((name, said)) = message.payloads.iter().find_map(link::read) else {
            let other = message.payloads.iter().find_map(link::name_in_other_version);
            // An error is never answered (RFC 6120, section 8.3.1).
            if let Some(link) = other.filter(|_| message.type_ != MessageType::Error)
                && self.is_shown_to(&from.to_bare())
            {
                debug!(%from, "a link of a version that is not spoken here");
                let said = Some(Said::Speaks(link::VERSIONS));
                let _ = self.outgoing.send(ToSend { to: from, link, said });
            }
            return;
        };
        let at = (from, name);
        if message.type_ == MessageType::Error {
            // A bounced message: the peer is not there.
            self.links.remove(&at);
            return;
        }
        match said {
            Said::Reset => drop(self.links.remove(&at)),
            Said::Speaks(versions) => {
                if let Some(link) = self.links.get(&at) {
                    // With a full queue the link hears it again: whoever opens repeats it.
                    let _ = link.try_send(Told::Speaks(versions));
                }
            }
            Said::Segment { opens, segment } => {
                if !self.links.contains_key(&at) {
                    let stranger = !self.accepts_links_of(&at.0.to_bare());
                    if !opens || self.ended.contains(&at.1) || self.links.len() >= MAX_LINKS || stranger {
                        // A stranger gets no reset, and so learns nothing.
                        if !stranger {
                            let _ =
                                self.outgoing.send(ToSend { to: at.0, link: at.1, said: Some(Said::Reset) });
                        }
                        return;
                    }
                    let accepting = self.incoming.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    let Some(place) = accepting.and_then(|accepting| accepting.try_reserve_owned().ok())
                    else {
                        return;
                    };
                    let text = at.0.to_bare().to_string();
                    let source = Some(Address { kind: CarrierKind::Online, text });
                    let duplex = Box::new(self.new_link(at.0.clone(), at.1.clone(), false));
                    place.send(Accepted { duplex, source });
                }
                if let Some(link) = self.links.get(&at) {
                    // With a full queue the link gets the segment again later.
                    let _ = link.try_send(Told::Segment(segment));
                }
            }
        }
    }

    fn accepts_links_of(&self, account: &BareJid) -> bool {
        let view = self.shown.borrow();
        view.contacts.get(&account.to_string()).is_some_and(|contact| contact.state == ContactState::Mutual)
    }

    /// Whether this contact may learn from an answer that this device is here, as it does from the presence.
    fn is_shown_to(&self, account: &BareJid) -> bool {
        self.card.is_some() && self.accepts_links_of(account)
    }

    /// Sends a message of a link, or its end.
    async fn pass_on(&mut self, ToSend { to, link, said }: ToSend) {
        let Some(said) = said else {
            if self.ended.len() == ENDED {
                self.ended.pop_front();
            }
            self.ended.push_back(link.clone());
            self.links.remove(&(to, link));
            return;
        };
        if self.shown.borrow().state != AccountState::Online {
            // Retransmitted once there is a server.
            return;
        }
        self.send(link_message(to, &link, &said)).await;
    }
}

/// A message of a link. It is for a device that is online now: the server need neither store it nor copy it to the account's other
/// clients (XEP-0334).
fn link_message(to: FullJid, link: &str, said: &Said) -> Message {
    let mut message = Message::chat(Jid::from(to));
    message.payloads.push(link::element(link, said));
    for hint in ["no-store", "no-copy"] {
        message.payloads.push(Element::builder(hint, "urn:xmpp:hints").build());
    }
    message
}

/// A random link name of 64 bits.
fn new_random() -> Option<String> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).ok()?;
    Some(crate::hex::text(&random))
}

fn card_element(card: &Card) -> Element {
    let mut builder = Element::builder(CARDS.element, CARD);
    for (key, value) in card_strings(card) {
        builder = builder.attr(NcName::try_from(key).expect("a letter is a name in XML"), value);
    }
    builder.build()
}

fn card_of(payload: &Element) -> Option<Card> {
    if !payload.is(CARDS.element, CARD) {
        return None;
    }
    let strings: BTreeMap<&str, &[u8]> =
        payload.attrs().iter().map(|((_, key), value)| (key.as_str(), value.as_bytes())).collect();
    read_card(|key| strings.get(key).copied())
}

/// The newest version of the cards that this device cannot read.
fn newest_other_card(payloads: &[Element]) -> Option<u32> {
    let of_strings = |payload: &Element| -> Option<u32> {
        let version = payload.attr("v").filter(|_| payload.is(CARDS.element, CARD))?.parse().ok()?;
        (!CARDS.speaks(version)).then_some(version)
    };
    payloads.iter().filter_map(|payload| CARDS.other_version(payload).or_else(|| of_strings(payload))).max()
}

fn new_contact(state: ContactState) -> Contact {
    Contact { state, presence: Presence::Offline, name: String::new(), card: None, outdated: None }
}

/// Makes a connection whenever the XMPP stream requests one.
#[derive(Clone)]
struct Supply {
    account: Account,
    config: OnlineConfig,
    era: u64,
    reports: mpsc::UnboundedSender<(u64, Report)>,
    settled: Arc<AtomicBool>,
    last_words: LastWords,
}

impl Supply {
    async fn run(self, mut slot: oneshot::Sender<Connection>) {
        let mut backoff = FIRST_BACKOFF;
        // Why the server ended the previous connection, if it said so.
        let mut failed = self.last_words.take().filter(|said| !said.may_pass());
        loop {
            let connected = if let Some(failed) = failed.take() {
                Err(failed)
            } else {
                tokio::select! {
                    connected = server::sign_in(&self.account, &self.config, &self.last_words) => connected,
                    () = slot.closed() => return,
                }
            };
            let failed = match connected {
                Ok(mut connection) => {
                    // The server never accepted the previous connection's stream management. Resuming it would fail in a way
                    // that the stream does not understand, for ever.
                    if !self.settled.swap(false, Ordering::AcqRel) {
                        connection.features.stream_management = None;
                    }
                    // Fails if the stream is gone: then nobody needs the connection.
                    let _ = slot.send(connection);
                    return;
                }
                Err(failed) => failed,
            };
            let retry_in = failed.may_pass().then(|| jittered(backoff));
            let _ = self.reports.send((self.era, Report::Failed { failed, retry_in }));
            let Some(retry_in) = retry_in else {
                // A person has to act. Dropping the slot earlier would make the stream fail for good.
                return slot.closed().await;
            };
            backoff = (backoff * 2).min(LONGEST_BACKOFF);
            tokio::select! {
                () = tokio::time::sleep(retry_in) => {}
                () = slot.closed() => return,
            }
        }
    }
}

/// A random time from 0.5 to 1.5 times `time`.
fn jittered(time: Duration) -> Duration {
    let mut random = [0; 2];
    // Without randomness there is no jitter; nothing else depends on it.
    let fraction =
        getrandom::fill(&mut random).map_or(0.5, |()| f64::from(u16::from_le_bytes(random)) / 65_536.0);
    time.mul_f64(0.5 + fraction)
}

#[cfg(test)]
mod tests;
