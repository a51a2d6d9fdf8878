//! Finding and being found: adverts, scanning, and getting a link to somebody who is wanted.
//!
//! The radio scans only while a client looks around, while somebody whom a person asked for is being connected to, and for a
//! while after a match was interrupted. It advertises as long as this device may be seen.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use link::secure::Wanted;
use link::{Address, Card, CarrierKind, CarrierState, Duplex, Epoch, Sighting, Tag, Transport, WatchEvent};
use proto::control::{self, ConnectState, NoticeKind, RefusalCode, Visibility, event};
use session::{Role, wire};
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::{debug, info, warn};

use crate::actor::{Actor, Message, notice};
use crate::contact::LinkTask;
use crate::links::{self, Down, LinkId, LinkNews};
use crate::responder::{Answer, done};
use crate::room::PlayerId;
use crate::show::{self, Refusal};
use crate::visibility::Exposure;

/// Time to find and connect to somebody whom a person asked for. A scan at Bluetooth's slowest advert interval takes ten
/// seconds to hear a device, a connect up to fifteen.
const PERSON_WAITS: Duration = Duration::from_secs(45);

/// Scanning after a match was interrupted: as long as two people wait for each other without putting the device away.
const RESUME_WINDOW: Duration = Duration::from_mins(5);

/// Of two that look for each other, the one with the lower key dials at once, the other only after this: two links at a time
/// confuse Bluetooth stacks. Longer than hearing, dialing and greeting take on a slow device (4 s were seen), so that the other
/// one dials only a peer that cannot dial itself.
const FALLBACK: Duration = Duration::from_secs(5);

/// Waiting before another try to dial: doubled each time, from this.
const FIRST_BACKOFF: Duration = Duration::from_millis(300);

/// Up to this; then about four tries fall into the time that a person waits.
const LONGEST_BACKOFF: Duration = Duration::from_secs(5);

/// After a peer broke the protocol: it will not have been mended sooner.
const PENALTY: Duration = Duration::from_secs(30);

/// Keys of settings.
const UNUSED_BLUETOOTH: &str = "unused_bluetooth";
const UNUSED_LAN: &str = "unused_lan";

/// Before a carrier that gave up is asked to listen again.
const LISTEN_AGAIN: Duration = Duration::from_secs(2);

/// Whom a link is wanted to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A player whose key is known, wherever it is.
    Friend(PlayerId),
    /// Whoever is at this address.
    Address(Address),
}

/// A link that is wanted.
pub(crate) struct Goal {
    target: Target,
    why: Why,
    until: Instant,
    /// Since when it is looked for. Heard before this, it counts as gone: a radio that dials a peer which went out of reach a
    /// moment ago hangs in that for ten seconds, deaf to its return.
    since: Instant,
    attempts: u32,
    /// Not dialed before this. `None`: not decided, since the target has not been seen.
    not_before: Option<Instant>,
    dialing: Option<LinkId>,
    /// What clients were last told.
    told: ConnectState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    /// A person asked.
    Person,
    /// The link to a match was lost a moment ago: the other side looks as well.
    Lost,
    /// This host has started with a match that is not finished: the other side may not have noticed that it was gone.
    Started,
}

/// A carrier.
pub(crate) struct Radio {
    transport: Arc<dyn Transport>,
    wants: watch::Sender<Wants>,
    state: Option<CarrierState>,
    advertising: bool,
    /// A person wants it left alone.
    unused: bool,
    /// As clients were last told.
    told: Option<control::Radio>,
}

impl Radio {
    pub(crate) fn kind(&self) -> CarrierKind {
        self.transport.kind()
    }
}

/// What a carrier is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wants {
    scan: bool,
    /// `None`: be silent.
    card: Option<Card>,
}

/// What a carrier's tasks tell.
pub(crate) enum RadioNews {
    Watched(WatchEvent),
    Advertising(bool),
    Accepted(Box<dyn Duplex>),
}

impl Actor {
    pub(crate) fn start_radios(&mut self, transports: Vec<Arc<dyn Transport>>) {
        for (index, transport) in transports.into_iter().enumerate() {
            let (wants, wanted) = watch::channel(Wants { scan: false, card: None });
            let inbox = self.inbox.clone();
            let tell = move |news| {
                // When the actor has ended, so does this carrier.
                let _ = inbox.send(Message::Radio(index, news));
            };
            self.tasks.spawn(look(transport.clone(), wanted.clone(), tell.clone()));
            self.tasks.spawn(be_found(transport.clone(), wanted, tell));
            let unused = self.is_unused(transport.kind());
            self.radios.push(Radio { transport, wants, state: None, advertising: false, unused, told: None });
        }
        self.look_for_everyone();
    }

    /// Looks for all peers of unfinished matches, of which none may know that this device is here again.
    pub(crate) fn look_for_everyone(&mut self) {
        for key in self.people.keys().copied().collect::<Vec<_>>() {
            self.want_match(key, Why::Started);
        }
    }

    /// Nobody is looked for any more, until somebody is wanted again.
    pub(crate) fn stop_looking(&mut self) {
        for target in self.goals.iter().map(|goal| goal.target.clone()).collect::<Vec<_>>() {
            self.give_up(&target);
        }
    }

    /// Tells carriers what is wanted of them now.
    pub(crate) fn steer_radios(&mut self) {
        let epoch = self.epoch();
        let scan = !self.is_resting() && (self.clients.anyone_scans() || !self.goals.is_empty());
        let busy = self.people.values().any(|peer| peer.link.is_some() && peer.friend.is_some());
        let Exposure { to, seldom } = self.exposure();
        let card = (to != Visibility::Nobody && !self.is_resting()).then(|| Card {
            tag: Tag::of(&self.advert_key, epoch),
            open_to_all: to == Visibility::Everyone,
            busy,
            wish: self.wish.filter(|_| to == Visibility::Everyone).map_or(0, |kind| kind as u8),
            name: (to == Visibility::Everyone).then(|| self.name.clone()),
            seldom,
        });
        let wants = Wants { scan, card };
        let nothing = Wants { scan: false, card: None };
        for radio in &self.radios {
            let wants = if radio.unused { &nothing } else { &wants };
            radio.wants.send_if_modified(|old| {
                let changed = old != wants;
                if changed {
                    old.clone_from(wants);
                }
                changed
            });
        }
    }

    /// Uses a carrier from now on, or leaves it alone.
    pub(crate) fn set_carrier(&mut self, carrier: control::Carrier, on: bool) -> Result<Answer, Refusal> {
        let (kind, key) = match carrier {
            control::Carrier::Bluetooth => (CarrierKind::Bluetooth, UNUSED_BLUETOOTH),
            control::Carrier::Lan => (CarrierKind::Lan, UNUSED_LAN),
            control::Carrier::Online | control::Carrier::Memory | control::Carrier::Unspecified => {
                return Err(Refusal::new(
                    RefusalCode::RefusalBadRequest,
                    "only Bluetooth and the local network are switched",
                ));
            }
        };
        self.journal.keep(|store| store.set_setting(key, if on { "no" } else { "yes" }))?;
        for radio in self.radios.iter_mut().filter(|radio| radio.kind() == kind) {
            radio.unused = !on;
        }
        Ok(done())
    }

    fn is_unused(&self, kind: CarrierKind) -> bool {
        let key = match kind {
            CarrierKind::Bluetooth => UNUSED_BLUETOOTH,
            CarrierKind::Lan => UNUSED_LAN,
            CarrierKind::Online | CarrierKind::Memory => return false,
        };
        // A setting that cannot be read is as if it had not been made.
        self.journal.setting(key).ok().flatten().as_deref() == Some("yes")
    }

    pub(crate) fn epoch(&self) -> Epoch {
        Epoch::at(self.since_1970())
    }

    fn since_1970(&self) -> Duration {
        (self.wall_clock)().duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap_or_default()
    }

    /// When a card, a goal or somebody nearby is due.
    pub(crate) fn reach_deadline(&self) -> Option<Instant> {
        let now = Instant::now();
        let card = (!self.radios.is_empty() && self.exposure().to != Visibility::Nobody)
            .then(|| now + self.epoch().end().saturating_sub(self.since_1970()) + Duration::from_millis(1));
        let goals = self.goals.iter().flat_map(|goal| {
            let dial = goal.not_before.filter(|at| goal.dialing.is_none() && *at > now);
            [Some(goal.until), dial]
        });
        goals.flatten().chain(card).chain(self.nearby.deadline()).min()
    }

    pub(crate) fn radio_said(&mut self, index: usize, news: RadioNews) {
        match news {
            RadioNews::Watched(WatchEvent::Seen(sighting)) => self.seen(sighting),
            RadioNews::Watched(WatchEvent::State(state)) => {
                if let Some(radio) = self.radios.get_mut(index)
                    && radio.state != Some(state)
                {
                    info!(carrier = ?radio.transport.kind(), ?state, "a carrier's state");
                    // Networks come and go as one walks; what a person should hear of is the Bluetooth adapter.
                    let changed = radio.state.is_some()
                        && !matches!(radio.kind(), CarrierKind::Lan | CarrierKind::Online);
                    radio.state = Some(state);
                    if changed {
                        self.notice(notice(NoticeKind::NoticeRadioChanged));
                    }
                }
            }
            RadioNews::Advertising(on) => {
                if let Some(radio) = self.radios.get_mut(index) {
                    radio.advertising = on;
                }
            }
            RadioNews::Accepted(duplex) => {
                if let Some(kind) = self.radios.get(index).map(|radio| radio.transport.kind()) {
                    self.accepted(duplex, kind);
                }
            }
        }
    }

    fn seen(&mut self, sighting: Sighting) {
        let now = Instant::now();
        let epoch = self.epoch();
        if self.is_blocked(&sighting, epoch) {
            return;
        }
        let friend = self
            .people
            .values()
            .filter_map(|peer| peer.friend.as_ref())
            .find(|friend| sighting.tag.is_of(&friend.advert_key, epoch))
            .map(|friend| friend.key);
        if friend.is_none() && !sighting.open_to_all {
            // It plays with its own friends only.
            return;
        }
        if let (Some(key), CarrierKind::Online) = (friend, sighting.address.kind) {
            #[cfg(feature = "online")]
            self.learn_account(key, &sighting.address.text);
            #[cfg(not(feature = "online"))]
            self.accounts.insert(key, sighting.address.text.clone());
        }
        let friend = friend.and_then(|key| Some((key, self.people.get(&key)?.name.as_str())));
        let heard = self.nearby.hear(sighting, friend, now);
        for id in heard.gone {
            self.tell(event::Body::NearbyGone(control::Gone { id }));
        }
        if let Some(shown) = heard.shown.and_then(|id| self.shown_nearby(&id)) {
            self.tell(event::Body::Nearby(shown));
        }
    }

    pub(crate) fn reach_on_time(&mut self) {
        let now = Instant::now();
        let (gone, fewer) = self.nearby.expire(now);
        for id in gone {
            self.tell(event::Body::NearbyGone(control::Gone { id }));
        }
        for shown in fewer.iter().filter_map(|id| self.shown_nearby(id)).collect::<Vec<_>>() {
            self.tell(event::Body::Nearby(shown));
        }
        let late: Vec<Target> =
            self.goals.iter().filter(|goal| goal.until <= now).map(|goal| goal.target.clone()).collect();
        for target in late {
            self.failed(&target);
        }
        self.pursue(now);
    }

    /// Dials whoever is wanted, seen and due.
    fn pursue(&mut self, now: Instant) {
        for index in 0..self.goals.len() {
            let goal = &self.goals[index];
            let linked = match &goal.target {
                Target::Friend(key) => self.people.get(key).is_some_and(|peer| peer.link.is_some()),
                Target::Address(_) => false,
            };
            if goal.dialing.is_some() || linked {
                continue;
            }
            let address = self.way_to(goal);
            let Some(address) = address else { continue };
            let waits = match (&goal.target, goal.why) {
                (Target::Friend(key), Why::Lost) if key.0 < self.identity.public_key() => FALLBACK,
                _ => Duration::ZERO,
            };
            let goal = &mut self.goals[index];
            if *goal.not_before.get_or_insert(now + waits) > now {
                continue;
            }
            goal.attempts += 1;
            let target = goal.target.clone();
            let Some(id) = self.dial(address, &target) else { continue };
            self.goals[index].dialing = Some(id);
            self.tell_connecting(&target, ConnectState::ConnectDialing);
        }
    }

    /// Where to dial whoever is wanted: on the best carrier that hears it, and after a try that failed on the next.
    fn way_to(&self, goal: &Goal) -> Option<Address> {
        let (near, since) = match &goal.target {
            Target::Address(address) => (self.nearby.at(address), None),
            Target::Friend(key) => {
                (self.nearby.get(&key.to_string()), (goal.why != Why::Person).then_some(goal.since))
            }
        };
        let mut ways: Vec<Address> = near.map_or_else(Vec::new, |near| near.places(since).cloned().collect());
        match &goal.target {
            Target::Address(address) if ways.is_empty() => ways.push(address.clone()),
            Target::Friend(key) if ways.is_empty() => ways = self.ways_of_code(*key),
            Target::Address(_) | Target::Friend(_) => {}
        }
        let turn = goal.attempts as usize % ways.len().max(1);
        (!ways.is_empty()).then(|| ways.swap_remove(turn))
    }

    fn dial(&mut self, address: Address, target: &Target) -> Option<LinkId> {
        let used = |radio: &&Radio| radio.transport.kind() == address.kind && !radio.unused;
        let radio = self.radios.iter().find(used)?;
        let (transport, kind) = (radio.transport.clone(), address.kind);
        let id = self.next_link();
        let (tell, identity) = (self.link_teller(id), self.identity.clone());
        debug!(%address, "dialing");
        let dialed = Some((address.clone(), target.clone()));
        let wanted = match target {
            Target::Friend(key) => Wanted::Key(key.0),
            // A person has chosen a device of which nothing is known.
            Target::Address(_) => Wanted::Anybody,
        };
        let task = self.tasks.spawn(async move {
            match transport.connect(&address).await {
                Ok(duplex) => links::run(duplex, links::End::Dialer(wanted), kind, identity, tell).await,
                Err(error) => tell(LinkNews::Down(Down::Lost(error.to_string()))),
            }
        });
        self.links.insert(id, LinkTask::new(task, Role::Dialer, kind, dialed));
        Some(id)
    }

    /// A dialed link is over, whether it ever stood or not.
    pub(crate) fn dial_ended(&mut self, id: LinkId, address: &Address, target: &Target, stood: bool) {
        let jitter = 0.75 + self.chance.fraction() / 2.0;
        let now = Instant::now();
        let Some(goal) = self.goals.iter_mut().find(|goal| goal.dialing == Some(id)) else { return };
        goal.dialing = None;
        goal.since = now;
        let doubled = FIRST_BACKOFF * 2u32.pow(goal.attempts.min(8));
        goal.not_before = Some(now + doubled.min(LONGEST_BACKOFF).mul_f64(jitter));
        debug!(%address, stood, attempts = goal.attempts, "dialing came to nothing");
        self.tell_connecting(target, ConnectState::ConnectLooking);
    }

    // Goals.

    /// A person wants to be connected.
    pub(crate) fn seek(&mut self, target: Target) {
        let until = Instant::now() + PERSON_WAITS;
        self.want(target, Why::Person, until);
    }

    /// A match with this peer goes on: look for it, if it is not here.
    pub(crate) fn look_again(&mut self, key: PlayerId) {
        self.want_match(key, Why::Lost);
    }

    fn want_match(&mut self, key: PlayerId, why: Why) {
        let Some(peer) = self.people.get(&key) else { return };
        let unfinished = self
            .rooms
            .values()
            .any(|room| room.peer() == Some(key) && peer.unsettled().any(|state| state.id() == room.id()));
        // Either side sends its open invitation again.
        let asked = self.invitations.values().any(|one| one.sent && one.target == Target::Friend(key));
        let possible = !self.radios.is_empty() && !self.is_resting();
        if peer.link.is_none() && peer.rebuild.is_none() && (unfinished || asked) && possible {
            self.want(Target::Friend(key), why, Instant::now() + RESUME_WINDOW);
        }
    }

    fn want(&mut self, target: Target, why: Why, until: Instant) {
        match self.goals.iter_mut().find(|goal| goal.target == target) {
            Some(goal) => {
                goal.until = goal.until.max(until);
                if why == Why::Person {
                    goal.why = why;
                    goal.not_before = None;
                }
            }
            None => self.goals.push(Goal {
                target: target.clone(),
                why,
                until,
                since: Instant::now(),
                attempts: 0,
                not_before: None,
                dialing: None,
                told: ConnectState::ConnectUnspecified,
            }),
        }
        self.tell_connecting(&target, ConnectState::ConnectLooking);
    }

    /// The player is here: nobody needs to look for it.
    pub(crate) fn reached(&mut self, key: PlayerId) {
        let target = Target::Friend(key);
        self.tell_connecting(&target, ConnectState::ConnectUp);
        let (over, goals) =
            std::mem::take(&mut self.goals).into_iter().partition(|goal| goal.target == target);
        self.goals = goals;
        // A dial that goes on would take the radio, and the peer, from the link that is up.
        for id in Vec::into_iter(over).filter_map(|goal: Goal| goal.dialing) {
            if self.links.get(&id).is_some_and(|link| link.peer.is_none()) {
                self.abort_link(id);
            }
        }
    }

    /// The device at this address turned out to be this player.
    pub(crate) fn is_at(&mut self, address: &Address, key: PlayerId) {
        let at = Target::Address(address.clone());
        let known = self.goals.iter().any(|goal| goal.target == Target::Friend(key));
        let person = self.goals.iter().find(|goal| goal.target == at && goal.why == Why::Person);
        let person_waits = person.map(|goal| goal.until);
        for goal in &mut self.goals {
            if goal.target == at && !known {
                goal.target = Target::Friend(key);
            }
            // Looked for because of a match already, and now by a person too.
            if goal.target == Target::Friend(key)
                && let Some(until) = person_waits
            {
                (goal.why, goal.until) = (Why::Person, goal.until.max(until));
            }
        }
        self.goals.retain(|goal| goal.target != at);
        self.nearby.is_player(address, key);
        self.met_at.insert(key, address.clone());
        self.invitations_meant(address, key);
    }

    /// Nobody wants this link any more, or it cannot be had.
    pub(crate) fn give_up(&mut self, target: &Target) {
        let Some(index) = self.goals.iter().position(|goal| goal.target == *target) else { return };
        let goal = self.goals.remove(index);
        if let Some(id) = goal.dialing
            && self.links.get(&id).is_some_and(|link| link.peer.is_none())
        {
            self.abort_link(id);
        }
        if goal.why == Why::Person {
            self.tell_connecting_now(target, ConnectState::ConnectFailed);
        }
        self.invitations_over(target, control::InvitationEnd::InvitationLinkLost);
    }

    /// The player has said goodbye, and looks for us itself when it is back: unless a person asked for it, it is not looked for.
    pub(crate) fn let_go(&mut self, key: PlayerId) {
        let target = Target::Friend(key);
        if self.goals.iter().any(|goal| goal.target == target && goal.why != Why::Person) {
            self.give_up(&target);
        }
    }

    fn failed(&mut self, target: &Target) {
        let person = self.goals.iter().any(|goal| goal.target == *target && goal.why == Why::Person);
        let name = self.target_name(target);
        self.give_up(target);
        if person {
            self.notice(control::Notice { name, ..notice(NoticeKind::NoticeCannotReach) });
        }
    }

    /// The next try waits, since it would end as the last one did.
    pub(crate) fn back_off(&mut self, target: &Target) {
        if let Some(goal) = self.goals.iter_mut().find(|goal| goal.target == *target) {
            goal.not_before = Some(Instant::now() + PENALTY);
        }
    }

    pub(crate) fn meet(&mut self, who: &str) -> Result<(), Refusal> {
        let target = self.target(who)?;
        if let Target::Friend(key) = target
            && self.people.get(&key).is_some_and(|peer| peer.link.is_some())
        {
            self.tell_connecting_now(&target, ConnectState::ConnectUp);
            return Ok(());
        }
        if self.radios.is_empty() {
            return Err(Refusal::new(RefusalCode::RefusalRadio, "this host has no links"));
        }
        self.seek(target);
        Ok(())
    }

    /// Whom a client names: a friend, or a device nearby.
    pub(crate) fn target(&self, who: &str) -> Result<Target, Refusal> {
        if let Ok(key) = self.player(who) {
            return Ok(Target::Friend(key));
        }
        self.nearby
            .get(who)
            .map(|near| match near.player {
                Some(key) if self.people.contains_key(&key) => Target::Friend(key),
                _ => Target::Address(near.first().clone()),
            })
            .ok_or_else(|| Refusal::new(RefusalCode::RefusalNoSuchPeer, "nobody of that id is near"))
    }

    // Showing.

    pub(crate) fn target_name(&self, target: &Target) -> String {
        match target {
            Target::Friend(key) => self.names.shown(*key),
            Target::Address(address) => {
                self.nearby.at(address).map_or_else(String::new, |near| near.name.clone())
            }
        }
    }

    pub(crate) fn tell_connecting(&mut self, target: &Target, state: ConnectState) {
        let Some(goal) = self.goals.iter_mut().find(|goal| goal.target == *target) else {
            // A peer that came by itself is up all the same.
            if state == ConnectState::ConnectUp {
                self.tell_connecting_now(target, state);
            }
            return;
        };
        // The way back to an interrupted match is seen in its room.
        if goal.told != state && (goal.why == Why::Person || state == ConnectState::ConnectUp) {
            goal.told = state;
            self.tell_connecting_now(target, state);
        }
    }

    /// Told under both ids of a device that was found by its address and turned out to be a player.
    fn tell_connecting_now(&mut self, target: &Target, state: ConnectState) {
        let name = self.target_name(target);
        let mut ids = vec![target_id(target)];
        if let Target::Friend(key) = target {
            ids.extend(self.met_at.get(key).map(ToString::to_string));
        }
        for peer in ids {
            self.tell(event::Body::Connecting(control::Connecting {
                peer,
                name: name.clone(),
                state: state.into(),
            }));
        }
    }

    pub(crate) fn rssi_at(&self, address: &Address) -> Option<i16> {
        self.nearby.rssi_at(address)
    }

    fn shown_nearby(&self, id: &str) -> Option<control::Nearby> {
        let near = self.nearby.get(id)?;
        let player = near.player.and_then(|key| self.people.get(&key));
        let connected = player.is_some_and(|peer| peer.link.is_some());
        // The card is newer than the hello, where the carrier has room for it.
        let wish = engine::GameKind::from_number(near.wish).or(player.and_then(|peer| peer.wish));
        Some(control::Nearby {
            id: id.to_owned(),
            name: near.name.clone(),
            is_friend: near.is_friend,
            rssi_dbm: near.rssi_dbm().into(),
            age_ms: near.heard().elapsed().as_millis() as u32,
            carrier: near.carriers().next().map_or(control::Carrier::Unspecified, show::carrier).into(),
            carriers: near.carriers().map(|kind| show::carrier(kind).into()).collect(),
            connected,
            busy: near.busy,
            wish: wish.map_or(0, |kind| wire::game(kind).into()),
        })
    }

    pub(crate) fn reach_events(&self) -> Vec<event::Body> {
        let radios = self.radios.iter().map(|radio| event::Body::Radio(shown_radio(radio)));
        let friends = self.people.values().filter_map(|peer| self.shown_friend(peer));
        let nearby = self.nearby.ids().filter_map(|id| self.shown_nearby(id));
        radios.chain(friends.map(event::Body::Friend)).chain(nearby.map(event::Body::Nearby)).collect()
    }

    /// Tells what has changed of radios and friends since it was told.
    pub(crate) fn show_reach(&mut self) {
        for index in 0..self.radios.len() {
            let shown = shown_radio(&self.radios[index]);
            if self.radios[index].told.as_ref() != Some(&shown) {
                self.radios[index].told = Some(shown.clone());
                self.tell(event::Body::Radio(shown));
            }
        }
        let friends: Vec<(PlayerId, control::Friend)> =
            self.people.values().filter_map(|peer| Some((peer.key, self.shown_friend(peer)?))).collect();
        let gone: Vec<PlayerId> = self
            .told_friends
            .keys()
            .filter(|key| !friends.iter().any(|(friend, _)| friend == *key))
            .copied()
            .collect();
        for key in gone {
            self.told_friends.remove(&key);
            self.tell(event::Body::FriendGone(control::Gone { id: key.to_string() }));
        }
        for (key, friend) in friends {
            if self.told_friends.get(&key) != Some(&friend) {
                self.told_friends.insert(key, friend.clone());
                self.tell(event::Body::Friend(friend));
            }
        }
    }

    pub(crate) fn transports(&self) -> Vec<Arc<dyn Transport>> {
        self.radios.iter().map(|radio| radio.transport.clone()).collect()
    }

    /// Those that are not left alone.
    pub(crate) fn used_transports(&self) -> impl Iterator<Item = &Arc<dyn Transport>> {
        self.radios.iter().filter(|radio| !radio.unused).map(|radio| &radio.transport)
    }

    pub(crate) fn main_carrier(&self) -> CarrierKind {
        self.radios.first().map_or(CarrierKind::Memory, |radio| radio.transport.kind())
    }
}

/// The id by which clients know whom a link is wanted to.
pub(crate) fn target_id(target: &Target) -> String {
    match target {
        Target::Friend(key) => key.to_string(),
        Target::Address(address) => address.to_string(),
    }
}

fn shown_radio(radio: &Radio) -> control::Radio {
    let works = matches!(radio.state, Some(CarrierState::Ready | CarrierState::TakingTurns));
    control::Radio {
        carrier: show::carrier(radio.transport.kind()).into(),
        state: radio.state.map_or(control::RadioState::RadioUnspecified, show::carrier_state).into(),
        detail: radio.state.map_or("", sentence).into(),
        scanning: radio.wants.borrow().scan && (works || radio.state == Some(CarrierState::NoAdvertising)),
        advertising: radio.advertising && works,
        unused: radio.unused,
    }
}

/// A carrier's state for logs and terminals; the app has its own words for it.
fn sentence(state: CarrierState) -> &'static str {
    match state {
        CarrierState::Ready => "finds others and is found",
        CarrierState::TakingTurns => "finds others and is found in turns: the adapter cannot do both at once",
        CarrierState::NoAdvertising => "finds others and cannot be found: the adapter does not advertise",
        CarrierState::Off => "the adapter is switched off",
        CarrierState::Blocked => "the adapter is blocked by flight mode or a switch",
        CarrierState::NoAdapter => {
            "no adapter is there, or it was taken away; for the local network: no address"
        }
        CarrierState::NoService => "bluetoothd isn't running",
        CarrierState::NoPermission => "this user may not use it",
        CarrierState::Connecting => "not connected just now; it goes on trying",
        CarrierState::NeedsPerson => "waits for a person: see the account",
    }
}

/// Watches a carrier, scanning or not as wanted.
async fn look(
    transport: Arc<dyn Transport>,
    mut wanted: watch::Receiver<Wants>,
    tell: impl Fn(RadioNews) + Send,
) {
    loop {
        let scan = wanted.borrow_and_update().scan;
        let mut watch = transport.watch(scan);
        loop {
            tokio::select! {
                event = watch.next() => {
                    let Some(event) = event else {
                        // The carrier's end of it; asked again after a pause.
                        tokio::time::sleep(LISTEN_AGAIN).await;
                        break;
                    };
                    tell(RadioNews::Watched(event));
                }
                changed = wanted.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    if wanted.borrow_and_update().scan != scan {
                        break;
                    }
                }
            }
        }
    }
}

/// Lets others find and connect, with the card that is wanted.
async fn be_found(
    transport: Arc<dyn Transport>,
    mut wanted: watch::Receiver<Wants>,
    tell: impl Fn(RadioNews) + Send,
) {
    loop {
        let card = wanted.borrow_and_update().card.clone();
        let Some(mut card) = card else {
            if wanted.changed().await.is_err() {
                return;
            }
            continue;
        };
        let mut listener = match transport.listen(card.clone()).await {
            Ok(listener) => listener,
            Err(error) => {
                debug!(%error, "a carrier does not listen");
                tokio::select! {
                    () = tokio::time::sleep(LISTEN_AGAIN) => {}
                    changed = wanted.changed() => if changed.is_err() { return },
                }
                continue;
            }
        };
        tell(RadioNews::Advertising(true));
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok(duplex) => tell(RadioNews::Accepted(duplex)),
                    Err(error) => {
                        warn!(%error, "a carrier stopped listening");
                        tokio::time::sleep(LISTEN_AGAIN).await;
                        break;
                    }
                },
                changed = wanted.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    let new = wanted.borrow_and_update().card.clone();
                    match new {
                        None => break,
                        Some(new) if new == card => {}
                        Some(new) => {
                            if let Err(error) = listener.update(new.clone()).await {
                                debug!(%error, "a card could not be changed");
                                break;
                            }
                            card = new;
                        }
                    }
                }
            }
        }
        drop(listener);
        tell(RadioNews::Advertising(false));
    }
}
