//! Links to peers: handshakes, admission, the choice between two links, and the loss of a link.

use std::sync::Arc;

use link::secure::AcceptedPeers;
use link::{Accepted, CarrierKind, Outdated};
use proto::control::{self, ComparisonEnd, NoticeKind, Visibility};
use proto::peer::{ByeReason, Envelope};
use session::{Command, Input, Role};
use tokio::time::Instant;
use tracing::{debug, warn};

use crate::actor::{Actor, Message, notice};
use crate::admission::{self, Caller, Rules, Standing, Verdict, Waiting, Why};
use crate::dialing::{DialingEvent, Target};
use crate::link_task::{LinkTask, Place};
use crate::links::{Down, HandshakeRole, LinkEnds, LinkId, LinkNews, Order};
use crate::peer::{Interest, Peer, PeerLink};
use crate::room::PlayerId;

impl Actor {
    /// Handles an incoming connection.
    pub(crate) fn accepted(&mut self, Accepted { duplex, source }: Accepted, kind: CarrierKind) {
        match self.links.place(kind, source.as_ref(), Instant::now()) {
            Place::Free => {}
            Place::InPlaceOf(slow) => {
                debug!("a handshake that takes too long gives way to another link");
                self.abort_link(slow);
            }
            Place::Full => return debug!("too many handshakes at once: a link is refused"),
        }
        let id = self.links.next_id();
        let (identity, tell) = (Arc::clone(self.profile.identity()), self.link_teller(id));
        let role = HandshakeRole::Listener(self.accepted_peers_on(kind));
        let task = self.tasks.spawn(crate::links::run(duplex, role, kind, identity, tell));
        self.links.insert(id, LinkTask::accepted(task, kind, source));
    }

    /// A peer was turned away because incoming links occupy all places of this carrier: ends a link that may be ended for it.
    pub(crate) fn make_place(&mut self, kind: CarrierKind) {
        if let Some(id) = self.links.slow(kind, Instant::now()) {
            debug!("a handshake that takes too long gives way to a peer that was turned away");
            return self.abort_link(id);
        }
        let strangers: Vec<Waiting> = self.waiting_strangers(Some(kind)).collect();
        if let Some(key) = admission::gives_way(&strangers) {
            debug!("a stranger gives way to a peer that was turned away");
            self.end_link_of_stranger(key);
        }
    }

    /// The stranger who has to give up Bluetooth, and when: all its links are of strangers, and a friend may want to connect. Beside
    /// such a link nobody hears this device, so it learns of no friend's wish.
    fn bluetooth_is_held(&self) -> Option<(PlayerId, Instant)> {
        let kind = CarrierKind::Bluetooth;
        let strangers: Vec<Waiting> = self.waiting_strangers(Some(kind)).collect();
        let linked = |peer: &&Peer| peer.link.as_ref().is_some_and(|link| link.kind == kind);
        let may_come = |peer: &Peer| peer.friend.is_some() && peer.link.is_none();
        let links = self.people.values().filter(linked).count();
        let friend_may_come = || self.people.values().any(may_come);
        admission::gives_up_held_air(&strangers, links, friend_may_come)
            .map(|(key, left)| (key, Instant::now() + left))
    }

    /// When a stranger has to give up a carrier.
    pub(crate) fn air_deadline(&self) -> Option<Instant> {
        self.bluetooth_is_held().map(|(_, at)| at)
    }

    /// Ends the link of a stranger whose time on a carrier is over.
    pub(crate) fn free_the_air(&mut self) {
        if let Some((key, _)) = self.bluetooth_is_held().filter(|(_, at)| *at <= Instant::now()) {
            debug!("a stranger gives up the radio, on which a friend may come");
            self.strangers.send_away(key, Instant::now());
            self.strangers.keep_air_for_friends(Instant::now());
            self.end_link_of_stranger(key);
        }
    }

    fn end_link_of_stranger(&mut self, key: PlayerId) {
        self.drop_link(key, Some(ByeReason::ByeLeaving));
        self.link_is_gone(key);
        let _ = self.drive(key, Input::LinkDown);
    }

    /// The connected strangers, on all carriers or on one.
    fn waiting_strangers(&self, on: Option<CarrierKind>) -> impl Iterator<Item = Waiting> {
        self.people.values().filter(|peer| peer.friend.is_none()).filter_map(move |peer| {
            let link = peer.link.as_ref().filter(|link| on.is_none_or(|kind| kind == link.kind))?;
            Some(Waiting {
                key: peer.key,
                age: link.since.elapsed(),
                is_wanted: link.role == Role::Dialer || peer.has_answered(),
                is_shown: peer.is_comparing(),
            })
        })
    }

    /// To whom this device reveals its key in the handshake. Whether the link is kept is decided after the handshake.
    fn accepted_peers_on(&self, kind: CarrierKind) -> AcceptedPeers {
        let for_friends = kind == CarrierKind::Bluetooth && self.strangers.is_air_for_friends(Instant::now());
        AcceptedPeers {
            friends: self
                .people
                .values()
                .filter(|peer| peer.friend.is_some())
                .map(|peer| peer.key.0)
                .collect(),
            // Accepting a contact of the account includes the permission to connect.
            strangers: kind == CarrierKind::Online
                || (self.exposure().to == Visibility::Everyone && !for_friends),
        }
    }

    pub(crate) fn link_teller(&self, id: LinkId) -> impl Fn(LinkNews) + Send + Sync + 'static {
        let inbox = self.inbox.clone();
        move |news| {
            // Sending fails only after the actor has ended, and the link with it.
            let _ = inbox.send(Message::Link(id, news));
        }
    }

    pub(crate) fn link_said(&mut self, id: LinkId, news: LinkNews) {
        match news {
            LinkNews::Greeting => {
                let dialed = self.links.get(id).and_then(|link| link.dialed.as_ref());
                if let Some(attempt) = dialed.map(|dialed| dialed.attempt) {
                    self.handle_dialing(DialingEvent::Greeting(attempt));
                }
            }
            LinkNews::Up { key, handshake_hash, ends } => self.link_up(id, key, handshake_hash, ends),
            LinkNews::Received(envelope, _permit) => {
                let Some(key) = self.links.peer(id) else { return };
                if self.people.get(&key).is_some_and(|peer| peer.uses(id)) {
                    if self.claims_anothers_match(key, &envelope) {
                        warn!(peer = self.name_of(key), "a match of this id stands elsewhere: not heard");
                        return;
                    }
                    // A violation has been handled, a refusal cannot come from the peer, and a full disk has been reported.
                    let _ = self.drive(key, Input::Received(*envelope));
                }
            }
            LinkNews::Underway => {
                let peer = self.links.peer(id);
                if let Some(key) = peer.filter(|key| self.people.get(key).is_some_and(|peer| peer.uses(id))) {
                    // Cannot be refused; a full disk has been reported.
                    let _ = self.drive(key, Input::Underway);
                }
            }
            LinkNews::Down(down) => self.link_down(id, &down),
        }
    }

    /// Whether the peer uses the id of a match or invitation outside its own session; see [`admission::claimed`].
    fn claims_anothers_match(&self, key: PlayerId, envelope: &Envelope) -> bool {
        let Some(id) = admission::claimed(envelope) else { return false };
        if self.people.get(&key).is_some_and(|peer| peer.session.match_state(id).is_some()) {
            return false;
        }
        let invited_elsewhere =
            self.invitations.get(id).is_some_and(|invitation| invitation.target != Target::Friend(key));
        // If the journal cannot be read, the id is assumed to be in use.
        invited_elsewhere || self.rooms.contains_key(&id) || !matches!(self.journal.has_match(id), Ok(false))
    }

    fn link_up(&mut self, id: LinkId, key: PlayerId, handshake_hash: [u8; 32], ends: LinkEnds) {
        let Some(link) = self.links.identify(id, key) else { return };
        let (role, kind, dialed) = (link.role, link.kind, link.dialed.clone());
        let refuse = |ends: &LinkEnds, reason: ByeReason| {
            let bye = proto::peer::Bye { reason: reason.into() };
            let _ = ends.orders.try_send(Order::Send(Box::new(bye.into())));
            let _ = ends.orders.try_send(Order::Close);
        };
        let mut caller = self.caller(key, role, kind, dialed.as_ref().map(|dialed| &dialed.target));
        let standing = caller.standing;
        if standing == Standing::Friend && role == Role::Listener {
            caller.connects_too_often = !self.rings.friend_connects(key, Instant::now());
        }
        match admission::admit(&caller, &self.admission_rules(key)) {
            Verdict::Take => {}
            Verdict::InPlaceOf(other) => {
                debug!("a stranger who has waited gives way to another one");
                self.end_link_of_stranger(other);
            }
            Verdict::Refuse(why) => {
                debug!(?why, "a link is refused");
                let glare = why == Why::Glare;
                refuse(&ends, if glare { ByeReason::ByeReplaced } else { ByeReason::ByeLeaving });
                match (why, &dialed) {
                    (Why::Glare, _) => self.reached(key),
                    (Why::Blocked, Some(dialed)) => self.give_up(&dialed.target),
                    _ => {}
                }
                return;
            }
        }
        if role == Role::Dialer {
            self.strangers.want(key);
        }
        if caller.in_use.is_some() {
            debug!("another link to the same peer takes over");
            self.drop_link(key, Some(ByeReason::ByeReplaced));
        }
        let known = standing == Standing::Friend;
        if !self.people.contains_key(&key) {
            match self.new_peer(key, None) {
                Ok(peer) => self.people.insert(key, peer),
                Err(error) => {
                    warn!(%error, "a peer cannot be looked up");
                    return refuse(&ends, ByeReason::ByeLeaving);
                }
            }
        }
        if self.people[&key].told_name != self.profile.name() {
            match self.new_session(key, known) {
                Ok(session) => {
                    let name = self.profile.name().to_owned();
                    let peer = self.people.get_mut(&key).expect("it was there above");
                    (peer.session, peer.told_name) = (session, name);
                }
                Err(error) => debug!(%error, "the session keeps our old name"),
            }
        }
        let rssi_dbm = dialed.as_ref().and_then(|dialed| self.rssi_at(&dialed.address)).unwrap_or(0);
        if let Some(dialed) = &dialed {
            self.is_at(&dialed.address, key);
        }
        ends.traffic.trusted.send_replace(known);
        let peer = self.people.get_mut(&key).expect("it was made above");
        peer.session.set_wish(self.profile.wish());
        peer.link = Some(PeerLink { id, role, kind, since: Instant::now(), ends, rssi_dbm });
        peer.interest = if role == Role::Dialer { Interest::Waits } else { Interest::Nothing };
        #[cfg(feature = "online")]
        self.learn_account_of_link(key);
        let role_in_session = role;
        // Cannot be refused; a full disk has been reported.
        let _ = self.drive(key, Input::LinkUp { role: role_in_session, handshake_hash });
    }

    /// The caller's properties for admission.
    fn caller(&self, key: PlayerId, role: Role, carrier: CarrierKind, dialed: Option<&Target>) -> Caller {
        let peer = self.people.get(&key);
        let standing = match peer {
            _ if self.blocked.contains(key) => Standing::Blocked,
            Some(peer) if peer.rebuild.is_some() => Standing::Unwritable,
            Some(peer) if peer.friend.is_some() => Standing::Friend,
            _ if self.strangers.is_sent_away(key, Instant::now()) => Standing::SentAway,
            _ => Standing::Stranger,
        };
        let link = peer.and_then(|peer| peer.link.as_ref());
        Caller {
            role,
            carrier,
            standing,
            is_another: matches!(dialed, Some(Target::Friend(wanted)) if *wanted != key),
            in_use: link.map(|link| (link.role, link.since.elapsed())),
            connects_too_often: false,
        }
    }

    /// The host's state for admission of a link with this player.
    fn admission_rules(&self, key: PlayerId) -> Rules {
        Rules {
            open_to_strangers: self.exposure().to == Visibility::Everyone,
            may_ring: self.rings.stranger_may_ring(Instant::now()),
            strangers: self.waiting_strangers(None).filter(|one| one.key != key).collect(),
            has_lower_key: self.profile.identity().public_key() < key.0,
        }
    }

    fn link_down(&mut self, id: LinkId, down: &Down) {
        let Some(link) = self.links.remove(id) else { return };
        debug!(%down, "a link is over");
        let key = link.peer;
        if let Some(dialed) = &link.dialed {
            self.dial_ended(dialed.attempt);
            if let Down::Outdated(outdated) = down {
                let name = self.target_name(&dialed.target);
                self.update_needed(name, *outdated);
                // Every further attempt would fail in the same way.
                self.give_up(&dialed.target);
            }
        }
        let Some(key) = key else {
            if let Down::Misbehaved(what) = down {
                warn!(what, "somebody who connected does not speak our protocol");
            }
            return;
        };
        if !self.people.get(&key).is_some_and(|peer| peer.uses(id)) {
            return;
        }
        if let Down::Outdated(outdated) = down
            && link.dialed.is_none()
        {
            // A person who dials is told above. Whoever dials from there is paced.
            self.peer_outdated(key, *outdated);
        }
        if let Down::Misbehaved(detail) = down {
            let (name, detail) = (self.name_of(key), detail.clone());
            warn!(peer = name, detail, "the peer broke the protocol: the link is closed");
            self.handle_dialing(DialingEvent::BrokeProtocol(key));
            self.notice_about(
                key,
                control::Notice { name, detail, ..notice(NoticeKind::NoticePeerMisbehaved) },
            );
        }
        self.link_is_gone(key);
        let _ = self.drive(key, Input::LinkDown);
    }

    /// Tells clients which of the two devices needs an update.
    pub(crate) fn update_needed(&mut self, name: String, outdated: Outdated) {
        self.notice(control::Notice { name, ..notice(update_of(outdated)) });
    }

    /// Tells clients which of the two devices needs an update, because of what this peer has done of its own accord.
    pub(crate) fn peer_outdated(&mut self, key: PlayerId, outdated: Outdated) {
        let name = self.name_of(key);
        self.notice_about(key, control::Notice { name, ..notice(update_of(outdated)) });
    }

    /// Closes the peer's link, after `last_word` if given. The caller informs the session.
    pub(crate) fn drop_link(&mut self, key: PlayerId, last_word: Option<ByeReason>) {
        let Some(peer) = self.people.get_mut(&key) else { return };
        let Some(link) = peer.link.take() else { return };
        peer.lost_on = Some(link.kind);
        if let Some(reason) = last_word {
            let bye = proto::peer::Bye { reason: reason.into() };
            let _ = link.ends.orders.try_send(Order::Send(Box::new(bye.into())));
        }
        if link.ends.orders.try_send(Order::Close).is_err() {
            // The task no longer reads its orders.
            self.abort_link(link.id);
        }
        if last_word.is_none() {
            self.link_is_gone(key);
        }
    }

    pub(crate) fn abort_link(&mut self, id: LinkId) {
        if let Some(link) = self.links.remove(id) {
            link.task.abort();
            if let Some(dialed) = &link.dialed {
                self.dial_ended(dialed.attempt);
            }
        }
    }

    pub(crate) fn link_is_gone(&mut self, key: PlayerId) {
        // A short string is valid for one link. A comparison with a friend, which the other side requested, ends with the
        // link.
        self.comparison_over(key, ComparisonEnd::Unspecified);
        if let Some(peer) = self.people.get_mut(&key) {
            peer.lost_on = peer.link.take().map(|link| link.kind).or(peer.lost_on);
            peer.lost = Some(Instant::now());
            if !peer.left {
                self.look_again(key);
            }
        }
        self.touch_rooms_with(key);
        #[cfg(feature = "online")]
        self.letters_soon();
    }

    /// Sends a goodbye to all peers.
    pub(crate) fn say_goodbye(&mut self, reason: ByeReason) {
        for key in self.people.keys().copied().collect::<Vec<_>>() {
            if self.people.get(&key).is_some_and(|peer| peer.link.is_some()) {
                let _ = self.drive(key, Input::Command(Command::Leave(reason)));
            }
        }
    }
}

/// The notice of which device needs an update.
fn update_of(outdated: Outdated) -> NoticeKind {
    match outdated {
        Outdated::There => NoticeKind::NoticeUpdateNeeded,
        Outdated::Here => NoticeKind::NoticeUpdateHere,
    }
}
