//! Discovery and connecting: advertising, scanning, and links that are wanted.
//!
//! The radio scans only while a client looks for nearby devices, while the user waits for a link, and for a while after a
//! match was interrupted. It advertises as long as this device may be visible.

use std::collections::BTreeSet;
use std::sync::Arc;

use link::secure::ExpectedPeer;
use link::{Address, CarrierKind, LinkError, Sighting, Transport, WatchEvent};
use proto::control::{self, ConnectState, NoticeKind, RefusalCode, Visibility, event};
use session::{Role, wire};
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::{debug, info};

use crate::actor::{Actor, Message, notice};
use crate::codes;
use crate::dialing::{self, About, Acquaintance, Attempt, DialingEvent, Effect, LocalState, Target};
use crate::link_task::{Dialed, LinkTask};
use crate::links::{self, Down, LinkNews};
use crate::peer::Peer;
use crate::radios::{Radio, RadioNews, Wants, be_found, look, shown_radio};
use crate::refusal::Refusal;
use crate::responder::{Answer, done};
use crate::room::{PlayerId, Room};
use crate::show;
use crate::unreached::Means;
use crate::visibility::Exposure;

/// Keys of settings.
const UNUSED_BLUETOOTH: &str = "unused_bluetooth";
const UNUSED_LAN: &str = "unused_lan";

/// The view of other players for dialing.
impl dialing::Standing for Actor {
    fn is_linked(&self, key: PlayerId) -> bool {
        self.people.get(&key).is_some_and(|peer| peer.link.is_some())
    }

    fn is_barred(&self, key: PlayerId) -> bool {
        self.blocked.contains(key) || self.people.get(&key).is_some_and(|peer| peer.rebuild.is_some())
    }

    fn has_lower_key(&self, key: PlayerId) -> bool {
        key.0 < self.profile.identity().public_key()
    }

    fn ways(&self, target: &Target, since: Option<std::time::Instant>) -> Vec<Address> {
        let near = match target {
            Target::Address(address) => self.nearby.at(address),
            // Who is no friend yet is listed under its address.
            Target::Friend(key) => self.nearby.get(&key.to_string()).or_else(|| self.nearby.of_player(*key)),
        };
        let since = since.map(Instant::from_std);
        let mut ways: Vec<Address> = near.map_or_else(Vec::new, |near| near.places(since).cloned().collect());
        match target {
            Target::Address(address) if ways.is_empty() && !self.blocked.is_at(address) => {
                ways.push(address.clone());
            }
            Target::Friend(key) if ways.is_empty() => {
                let near = |tag| self.nearby.with_tag(tag).into_iter().flat_map(|near| near.places(None));
                let in_use: Vec<CarrierKind> = self.radios.iter().map(Radio::kind).collect();
                let with_tag = |tag| near(tag).cloned().collect();
                ways = codes::ways(self.people.code(*key), self.people.met_at(*key), with_tag, &in_use);
                // Only for a person: nothing tells when another attempt would be of use.
                #[cfg(feature = "online")]
                if since.is_none() {
                    let unsighted = self.unsighted(*key).filter(|way| !ways.contains(way));
                    ways.extend(unsighted);
                }
            }
            Target::Address(_) | Target::Friend(_) => {}
        }
        ways.retain(|way| self.radios.iter().any(|radio| radio.kind() == way.kind && !radio.unused));
        ways
    }
}

impl Actor {
    pub(crate) fn start_radios(&mut self, transports: Vec<Arc<dyn Transport>>) {
        for (index, transport) in transports.into_iter().enumerate() {
            let (wants, wanted) = watch::channel(Wants { scan: false, card: None });
            let inbox = self.inbox.clone();
            let tell = move |news| {
                // Sending fails only after the actor has ended.
                let _ = inbox.send(Message::Radio(index, news));
            };
            self.tasks.spawn(look(transport.clone(), wanted.clone(), tell.clone()));
            self.tasks.spawn(be_found(transport.clone(), wanted, tell));
            let unused = self.is_unused(transport.kind());
            self.radios.push(Radio { transport, wants, state: None, advertising: false, unused, told: None });
        }
        self.look_for_everyone();
    }

    pub(crate) fn exposure(&self) -> Exposure {
        self.profile.exposure(Instant::now())
    }

    /// When the exposure changes without a message.
    pub(crate) fn exposure_deadline(&self) -> Option<Instant> {
        let alone = !self.clients.anyone_attached() && !self.radios.is_empty();
        self.profile.exposure_changes_at(Instant::now()).filter(|_| alone)
    }

    /// Called after every message.
    pub(crate) fn note_use(&mut self) {
        if self.clients.anyone_attached() {
            self.profile.note_use(Instant::now());
        }
    }

    /// Looks for the peers of all unfinished matches, which may not know that this device is back.
    pub(crate) fn look_for_everyone(&mut self) {
        for key in self.people.keys().copied().collect::<Vec<_>>() {
            self.want_match(key, dialing::Reason::Started);
        }
    }

    /// Passes the present requirements to the carriers.
    pub(crate) fn steer_radios(&mut self) {
        self.say_what_is_done_here();
        let epoch = self.wall_clock.epoch();
        let scan = !self.suspend.is_present() && (self.clients.anyone_scans() || self.dialing.is_looking());
        let busy = self.people.values().any(|peer| peer.link.is_some() && peer.friend.is_some());
        let exposed = Some(self.exposure()).filter(|_| !self.suspend.is_present());
        let card = exposed.and_then(|exposure| self.profile.card(exposure, epoch, busy));
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

    /// Tells dialing whether this device is discoverable, and which friends it has to dial itself.
    fn say_what_is_done_here(&mut self) {
        let hides = self.exposure().to == Visibility::Nobody;
        let is_found = !hides && !self.radios.iter().any(Radio::is_unheard);
        let mut sought = BTreeSet::new();
        if !is_found && !hides && !self.suspend.is_present() {
            let now = Instant::now();
            let person = self.about();
            let friends = self.people.values().filter(|peer| peer.friend.is_some() && peer.rebuild.is_none());
            sought.extend(
                friends
                    .map(|peer| (peer.key, self.acquaintance(peer, now)))
                    .filter_map(|(key, friend)| dialing::is_sought(friend, person).then_some(key)),
            );
        }
        self.handle_dialing(DialingEvent::LocalState(LocalState { is_found, sought }));
    }

    /// Which kinds of carriers work.
    pub(crate) fn means(&self) -> Means {
        let works = |radio: &&Radio| radio.works() && !radio.unused;
        let is_near = |kind: CarrierKind| kind != CarrierKind::Online;
        Means {
            near: self.radios.iter().filter(works).any(|radio| is_near(radio.kind())),
            online: self.radios.iter().filter(works).any(|radio| !is_near(radio.kind())),
            is_found: !self.radios.iter().any(Radio::is_unheard),
        }
    }

    /// The user's activity.
    fn about(&self) -> About {
        let is_here = self.clients.anyone_in_front()
            || (self.clients.anyone_attached() && !self.clients.anyone_has_window());
        About { looks_around: self.clients.anyone_scans(), is_here }
    }

    fn acquaintance(&self, peer: &Peer, now: Instant) -> Acquaintance {
        let key = peer.key;
        Acquaintance {
            is_linked: peer.link.is_some(),
            plays: self.nearby.get(&key.to_string()).is_some_and(|near| near.busy),
            unfinished: self.has_unfinished(peer),
            lost_for: peer.lost.map(|lost| now - lost),
        }
    }

    /// Turns a carrier on or off.
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
        // An unreadable setting counts as unset.
        self.journal.setting(key).ok().flatten().as_deref() == Some("yes")
    }

    /// The next deadline of the card, of dialing, or of a nearby device.
    pub(crate) fn reach_deadline(&self) -> Option<Instant> {
        let now = Instant::now();
        let card = (!self.radios.is_empty() && self.exposure().to != Visibility::Nobody)
            .then(|| now + self.wall_clock.until_next_epoch());
        let dial = self.dialing.due(now.into_std()).map(Instant::from_std);
        [card, dial, self.nearby.deadline()].into_iter().flatten().min()
    }

    pub(crate) fn radio_said(&mut self, index: usize, news: RadioNews) {
        match news {
            RadioNews::Watched(WatchEvent::Seen(sighting)) => self.seen(sighting),
            RadioNews::Watched(WatchEvent::State(state)) => {
                if let Some(radio) = self.radios.get_mut(index)
                    && radio.state != Some(state)
                {
                    info!(carrier = ?radio.transport.kind(), ?state, "a carrier's state");
                    // Networks change as the user walks; only a change of the Bluetooth adapter is worth a notification.
                    let changed = radio.state.is_some()
                        && !matches!(radio.kind(), CarrierKind::Lan | CarrierKind::Online);
                    radio.state = Some(state);
                    if changed {
                        self.notice(notice(NoticeKind::NoticeRadioChanged));
                    }
                }
            }
            RadioNews::Watched(WatchEvent::TurnedAway) => {
                if let Some(kind) = self.radios.get(index).map(Radio::kind) {
                    self.make_place(kind);
                }
            }
            RadioNews::Advertising(on) => {
                if let Some(radio) = self.radios.get_mut(index) {
                    radio.advertising = on;
                }
            }
            RadioNews::Accepted(link) => {
                if let Some(kind) = self.radios.get(index).map(|radio| radio.transport.kind()) {
                    self.accepted(link, kind);
                }
            }
        }
    }

    fn seen(&mut self, sighting: Sighting) {
        let now = Instant::now();
        let epoch = self.wall_clock.epoch();
        if self.blocked.is_seen(&sighting, epoch) {
            return;
        }
        let friend = self
            .people
            .values()
            .filter_map(|peer| peer.friend.as_ref())
            .find(|friend| sighting.tag.is_of(&friend.advert_key, epoch))
            .map(|friend| friend.key);
        if friend.is_none() && !sighting.open_to_all {
            // A device that is visible to its own friends only.
            return;
        }
        if let (Some(key), CarrierKind::Online) = (friend, sighting.address.kind) {
            #[cfg(feature = "online")]
            self.account_claimed(key, &sighting.address.text);
            #[cfg(not(feature = "online"))]
            self.people.take_claimed_account(key, &sighting.address.text);
        }
        let friend = friend.and_then(|key| Some((key, self.people.get(&key)?.name.as_str())));
        let heard = self.nearby.hear(sighting, friend, now);
        for id in heard.gone {
            self.tell(event::Body::NearbyGone(control::Gone { id }));
        }
        if let Some(shown) = heard.shown.and_then(|id| self.shown_nearby(&id)) {
            self.tell_nearby(shown);
        }
    }

    pub(crate) fn reach_on_time(&mut self) {
        let now = Instant::now();
        let (gone, fewer) = self.nearby.expire(now);
        for id in gone {
            self.tell(event::Body::NearbyGone(control::Gone { id }));
        }
        for shown in fewer.iter().filter_map(|id| self.shown_nearby(id)).collect::<Vec<_>>() {
            self.tell_nearby(shown);
        }
        self.handle_dialing(DialingEvent::Time);
    }

    // Driving the dialing machine.

    pub(crate) fn handle_dialing(&mut self, event: DialingEvent) {
        let mut effects = Vec::new();
        // Taken out, because dialing reads the rest of the host; nothing there calls back into it.
        let mut dialing = std::mem::take(&mut self.dialing);
        dialing.handle(Instant::now().into_std(), event, self, &mut effects);
        self.dialing = dialing;
        for effect in effects {
            self.perform(effect);
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Dial { attempt, address, target } => self.dial(attempt, address, target),
            Effect::HangUp(attempt) => {
                let found = self.links.dialing(attempt);
                if let Some(id) = found {
                    self.abort_link(id);
                }
            }
            Effect::Tell(target, state) => self.tell_connecting(&target, state),
            Effect::GivenUp { target, in_vain } => {
                let name = self.target_name(&target);
                self.invitations_over(&target, control::InvitationEnd::InvitationLinkLost);
                if in_vain {
                    self.notice(control::Notice { name, ..notice(NoticeKind::NoticeCannotReach) });
                }
            }
        }
    }

    fn dial(&mut self, attempt: Attempt, address: Address, target: Target) {
        let used = |radio: &&Radio| radio.transport.kind() == address.kind && !radio.unused;
        let Some(radio) = self.radios.iter().find(used) else {
            return self.dial_ended(attempt);
        };
        let (transport, kind) = (radio.transport.clone(), address.kind);
        let id = self.links.next_id();
        let (tell, identity) = (self.link_teller(id), self.profile.identity().clone());
        debug!(%address, "dialing");
        let wanted = match target {
            Target::Friend(key) => ExpectedPeer::Key(key.0),
            // The user has chosen an unknown device.
            Target::Address(_) => ExpectedPeer::Anybody,
        };
        let dialed = Dialed { attempt, address: address.clone(), target };
        let task = self.tasks.spawn(async move {
            match transport.connect(&address).await {
                Ok(duplex) => {
                    links::run(duplex, links::HandshakeRole::Dialer(wanted), kind, identity, tell).await;
                }
                Err(LinkError::Outdated(outdated)) => tell(LinkNews::Down(Down::Outdated(outdated))),
                Err(error) => tell(LinkNews::Down(Down::Lost(error.to_string()))),
            }
        });
        self.links.insert(id, LinkTask::new(task, Role::Dialer, kind, Some(dialed)));
    }

    /// Handles the end of a dialed link, whether it came up or not.
    pub(crate) fn dial_ended(&mut self, attempt: Attempt) {
        let jitter = self.chance.fraction();
        self.handle_dialing(DialingEvent::Ended { attempt, jitter });
    }

    /// Handles that the user wants a link.
    pub(crate) fn seek(&mut self, target: Target) {
        self.handle_dialing(DialingEvent::Wanted(target, dialing::Reason::Person));
    }

    /// Looks for the peer of an unfinished match, if it is not connected.
    pub(crate) fn look_again(&mut self, key: PlayerId) {
        self.want_match(key, dialing::Reason::Lost);
    }

    fn want_match(&mut self, key: PlayerId, why: dialing::Reason) {
        let Some(peer) = self.people.get(&key) else { return };
        let unfinished = self.has_unfinished(peer);
        // Either side resends its open invitation.
        let asked = self.invitations.is_open_with(key);
        let possible = !self.radios.is_empty() && !self.suspend.is_present();
        if peer.link.is_none() && peer.rebuild.is_none() && (unfinished || asked) && possible {
            self.handle_dialing(DialingEvent::Wanted(Target::Friend(key), why));
        }
    }

    pub(crate) fn has_unfinished(&self, peer: &Peer) -> bool {
        let goes_on = |room: &Room| peer.unsettled().any(|state| state.id() == room.id());
        self.rooms.values().any(|room| room.peer() == Some(peer.key) && goes_on(room))
    }

    /// Handles that a link to the player is up.
    pub(crate) fn reached(&mut self, key: PlayerId) {
        self.handle_dialing(DialingEvent::Reached(key));
    }

    /// Handles that the device at this address has this key.
    pub(crate) fn is_at(&mut self, address: &Address, key: PlayerId) {
        self.handle_dialing(DialingEvent::IsAt(address.clone(), key));
        self.nearby.is_player(address, key);
        self.people.set_met_at(key, address.clone());
        self.invitations.identify(address, key);
    }

    /// Handles that a link is no longer wanted, or is impossible.
    pub(crate) fn give_up(&mut self, target: &Target) {
        self.handle_dialing(DialingEvent::Unwanted(target.clone()));
    }

    /// Connects to the device at an address that the user has typed; returns its id.
    pub(crate) fn meet_address(&mut self, text: &str) -> Result<String, Refusal> {
        let is_lan = self.used_transports().any(|transport| transport.kind() == CarrierKind::Lan);
        let own: Vec<Address> = self.own_places(Some(CarrierKind::Lan)).collect();
        let address = codes::typed(text, is_lan.then_some(&own))?;
        let is_there = |key: &PlayerId| {
            let is_linked = self.people.get(key).is_some_and(|peer| peer.link.is_some());
            is_linked && self.people.met_at(*key) == Some(&address)
        };
        let linked = self.people.values().map(|peer| peer.key).find(is_there);
        match linked {
            Some(key) => self.meet(&key.to_string())?,
            None => self.seek(Target::Address(address.clone())),
        }
        Ok(Target::Address(address).id())
    }

    /// Addresses of this device, on all carriers in use or on one.
    pub(crate) fn own_places(&self, on: Option<CarrierKind>) -> impl Iterator<Item = Address> {
        let of_kind = move |transport: &&Arc<dyn Transport>| on.is_none_or(|kind| kind == transport.kind());
        self.used_transports().filter(of_kind).flat_map(|transport| transport.places())
    }

    pub(crate) fn meet(&mut self, who: &str) -> Result<(), Refusal> {
        let target = self.target(who)?;
        if let Target::Friend(key) = target
            && self.people.get(&key).is_some_and(|peer| peer.link.is_some())
        {
            self.tell_connecting(&target, ConnectState::ConnectUp);
            return Ok(());
        }
        if self.radios.is_empty() {
            return Err(Refusal::new(RefusalCode::RefusalRadio, "this host has no links"));
        }
        self.seek(target);
        Ok(())
    }

    /// The target that a client means: a friend, or a nearby device.
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

    // Events for clients.

    pub(crate) fn target_name(&self, target: &Target) -> String {
        match target {
            Target::Friend(key) => self.names.shown(*key),
            Target::Address(address) => {
                self.nearby.at(address).map_or_else(String::new, |near| near.name.clone())
            }
        }
    }

    /// Sent for both ids of a device that was dialed by address and turned out to be a known player.
    fn tell_connecting(&mut self, target: &Target, state: ConnectState) {
        let name = self.target_name(target);
        let mut ids = vec![target.id()];
        if let Target::Friend(key) = target {
            ids.extend(self.people.met_at(*key).map(ToString::to_string));
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

    fn tell_nearby(&mut self, shown: control::Nearby) {
        self.nearby.note_told_of_player(&shown.id, (shown.connected, shown.wish));
        self.tell(event::Body::Nearby(shown));
    }

    fn shown_nearby(&self, id: &str) -> Option<control::Nearby> {
        let near = self.nearby.get(id)?;
        let player = near.player.and_then(|key| self.people.get(&key));
        let connected = player.is_some_and(|peer| peer.link.is_some());
        // The card is newer than the hello, if the carrier's card has room for it.
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

    /// Sends clients the changes of radios, nearby devices and friends.
    pub(crate) fn show_reach(&mut self) {
        for index in 0..self.radios.len() {
            let shown = shown_radio(&self.radios[index]);
            if self.radios[index].told.as_ref() != Some(&shown) {
                self.radios[index].told = Some(shown.clone());
                self.tell(event::Body::Radio(shown));
            }
        }
        for shown in self.nearby.ids().filter_map(|id| self.shown_nearby(id)).collect::<Vec<_>>() {
            if self.nearby.note_told_of_player(&shown.id, (shown.connected, shown.wish)) {
                self.tell(event::Body::Nearby(shown));
            }
        }
        self.show_strangers();
        let shown =
            self.people.values().filter_map(|peer| Some((peer.key, self.shown_friend(peer)?))).collect();
        for body in self.people.news(shown) {
            self.tell(body);
        }
    }

    pub(crate) fn transports(&self) -> Vec<Arc<dyn Transport>> {
        self.radios.iter().map(|radio| radio.transport.clone()).collect()
    }

    /// The carriers that are not turned off.
    pub(crate) fn used_transports(&self) -> impl Iterator<Item = &Arc<dyn Transport>> {
        self.radios.iter().filter(|radio| !radio.unused).map(|radio| &radio.transport)
    }

    pub(crate) fn main_carrier(&self) -> CarrierKind {
        self.radios.first().map_or(CarrierKind::Memory, |radio| radio.transport.kind())
    }
}
