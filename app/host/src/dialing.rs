//! Which peers a link is wanted to, when each is dialed, and when the attempt is abandoned.
//!
//! A state machine without I/O: its inputs are the time, events and a view of the other players; its outputs are
//! [`Effect`]s.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use link::Address;
use proto::control::ConnectState;

use crate::room::PlayerId;

/// Time limit for a link that the user asked for. Scanning at Bluetooth's slowest advertising interval takes ten seconds to
/// see a device, connecting up to fifteen.
const PERSON_WAITS: Duration = Duration::from_secs(45);

/// Time limit for reconnecting after a match was interrupted: as long as two people wait for each other without putting the
/// device away.
const RESUME_WINDOW: Duration = Duration::from_mins(5);

/// If two devices look for each other, the one with the lower key dials at once, the other one after this delay:
/// simultaneous links confuse Bluetooth stacks, and a dialing device does not scan. Longer than scanning, dialing and
/// handshake on a slow device (measured: 4 s), so that the other device only dials a peer that cannot dial itself. A dial
/// that took this long is counted as hung, as when both sides dial.
const FALLBACK: Duration = Duration::from_secs(5);

/// First back-off delay; it doubles with each failed attempt.
const FIRST_BACKOFF: Duration = Duration::from_millis(300);

/// Maximum back-off delay, which allows about four attempts while a user waits.
const LONGEST_BACKOFF: Duration = Duration::from_secs(5);

/// No dialing for this time after the peer violated the protocol.
const PENALTY: Duration = Duration::from_secs(30);

/// A device that has been undiscoverable for this time dials its friends itself; shorter gaps occur at every start.
const SILENT_FOR: Duration = Duration::from_secs(3);

/// Maximum back-off delay for friends that nobody asked for.
const LONGEST_UNFOUND: Duration = Duration::from_secs(30);

/// For this time after its link was lost a friend may still want something, such as another match; the board of the last one may
/// be closed by then.
const JUST_THERE: Duration = Duration::from_mins(1);

/// An attempt that is not connected after this time is reported as scanning: connects usually finish within two seconds of
/// an advertisement.
const LOOKS_AFTER: Duration = Duration::from_secs(4);

/// The peer that a link is wanted to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A player with a known key, at any address.
    Friend(PlayerId),
    /// The device at this address.
    Address(Address),
}

impl Target {
    /// The id that clients use.
    pub(crate) fn id(&self) -> String {
        match self {
            Self::Friend(key) => key.to_string(),
            Self::Address(address) => address.to_string(),
        }
    }
}

/// Why a link is wanted; determines time limit and priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The user asked for it.
    Person,
    /// The link of a match was lost: the other side is looking too.
    Lost,
    /// This device is not discoverable, so that no friend can dial it.
    Unfound,
    /// The host has started with an unfinished match: the peer may not have noticed its absence.
    Started,
}

/// Identifies an attempt to dial while the host runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt(u64);

/// This device's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LocalState {
    /// Other devices can discover this one, on each of its radios.
    pub(crate) is_found: bool,
    /// Friends that this device dials itself while it is not discoverable: see [`is_sought`].
    pub(crate) sought: BTreeSet<PlayerId>,
}

/// The facts about a friend that [`is_sought`] depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acquaintance {
    pub(crate) is_linked: bool,
    /// Its advertisement says that it is in a match.
    pub(crate) plays: bool,
    /// There is an unfinished match with it.
    pub(crate) unfinished: bool,
    /// Time since its last link was lost.
    pub(crate) lost_for: Option<Duration>,
}

/// The user's activity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About {
    /// A client scans for nearby devices.
    pub(crate) looks_around: bool,
    /// A client is looked at.
    pub(crate) is_here: bool,
}

/// Whether a device that is not discoverable dials this friend itself: its user is active and may want to play with the
/// friend.
pub(crate) fn is_sought(friend: Acquaintance, person: About) -> bool {
    let just_there = friend.lost_for.is_some_and(|lost| lost < JUST_THERE);
    let wanted = person.looks_around || (person.is_here && friend.unfinished) || just_there;
    wanted && !friend.is_linked && !friend.plays
}

/// What dialing may query about other players.
pub(crate) trait Standing {
    /// A link to this player is up, dialed by either side.
    fn is_linked(&self, key: PlayerId) -> bool;
    /// The player is blocked, or its matches cannot be written at present.
    fn is_barred(&self, key: PlayerId) -> bool;
    /// The player's key is lower than this device's.
    fn has_lower_key(&self, key: PlayerId) -> bool;
    /// Addresses of the target on carriers in use, best first. `since`: only those seen at this time or later.
    fn ways(&self, target: &Target, since: Option<Instant>) -> Vec<Address>;
}

/// An input.
#[derive(Clone, Debug)]
pub(crate) enum DialingEvent {
    /// A link is wanted.
    Wanted(Target, Reason),
    /// This device's state has changed.
    LocalState(LocalState),
    /// The device at this address has this key.
    IsAt(Address, PlayerId),
    /// The carrier of this attempt is connected, and the handshake begins.
    Greeting(Attempt),
    /// This attempt has ended, whether its link came up or not. `jitter`: uniform in `0.0..1.0`.
    Ended { attempt: Attempt, jitter: f64 },
    /// A link to the player is up.
    Reached(PlayerId),
    /// The player has said goodbye.
    Left(PlayerId),
    /// A link to this player was closed because it broke the protocol.
    BrokeProtocol(PlayerId),
    /// The link is no longer wanted, or is impossible.
    Unwanted(Target),
    /// No links are wanted any more.
    AllUnwanted,
    /// Time has passed, or a device was seen.
    Time,
}

/// An output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Dial {
        attempt: Attempt,
        address: Address,
        target: Target,
    },
    /// Aborts this attempt, unless its link is up already.
    HangUp(Attempt),
    /// Shows clients the state of the attempt.
    Tell(Target, ConnectState),
    /// The target is no longer looked for. `in_vain`: the user was still waiting for it.
    GivenUp {
        target: Target,
        in_vain: bool,
    },
}

/// All wanted links that are not up.
#[derive(Default)]
pub(crate) struct Dialing {
    goals: Vec<Goal>,
    last_attempt: u64,
    /// Peers that violated the protocol, and until when they are not dialed.
    penalties: BTreeMap<PlayerId, Instant>,
    /// Since when this device has not been discoverable.
    silent_since: Option<Instant>,
}

/// A wanted link.
struct Goal {
    target: Target,
    reason: Reason,
    until: Instant,
    /// Start of the search. Earlier sightings do not count: a radio that dials a peer which has just left its range blocks
    /// for ten seconds, in which it cannot see the peer return.
    since: Instant,
    attempts: u32,
    /// The last attempt took as long as one where both sides dial.
    hung: bool,
    /// First sighting of the target after the last attempt.
    seen: Option<Instant>,
    /// End of the back-off delay.
    not_before: Option<Instant>,
    /// When the target will be dialed, as computed at the last [`DialingEvent::Time`]. `None`: the target has not been seen.
    ready: Option<Instant>,
    dialing: Option<Try>,
    /// The state that clients were last shown.
    told: ConnectState,
}

/// An attempt in progress.
struct Try {
    attempt: Attempt,
    address: Address,
    since: Instant,
    /// The carrier is connected, and the handshake is in progress.
    greets: bool,
}

impl Dialing {
    pub(crate) fn handle(
        &mut self,
        now: Instant,
        event: DialingEvent,
        who: &dyn Standing,
        out: &mut Vec<Effect>,
    ) {
        self.penalties.retain(|_, until| *until > now);
        match event {
            DialingEvent::Wanted(target, reason) => self.want(now, target, reason, out),
            DialingEvent::LocalState(here) => self.set_local_state(now, &here, out),
            DialingEvent::IsAt(address, key) => self.identify_address(&address, key, out),
            DialingEvent::Greeting(attempt) => {
                if let Some(goal) = self.dialed_by(attempt) {
                    goal.greets();
                    goal.tell(ConnectState::ConnectGreeting, out);
                }
            }
            DialingEvent::Ended { attempt, jitter } => {
                if let Some(goal) = self.dialed_by(attempt) {
                    goal.back_off(now, jitter);
                    goal.tell(ConnectState::ConnectLooking, out);
                }
            }
            DialingEvent::Reached(key) => self.reached(key, out),
            DialingEvent::Left(key) => {
                // After a goodbye the peer reconnects itself when it is back, unless the user asked for the link.
                let target = Target::Friend(key);
                if self.goal(&target).is_some_and(|goal| goal.reason != Reason::Person) {
                    self.give_up(&target, false, out);
                }
            }
            DialingEvent::BrokeProtocol(key) => {
                self.penalties.insert(key, now + PENALTY);
            }
            DialingEvent::Unwanted(target) => self.give_up(&target, false, out),
            DialingEvent::AllUnwanted => {
                for target in self.targets(|_| true) {
                    self.give_up(&target, false, out);
                }
            }
            DialingEvent::Time => {
                for target in self.targets(|goal| goal.until <= now) {
                    self.give_up(&target, true, out);
                }
                for goal in self.goals.iter_mut().filter(|goal| goal.looks_from().is_some_and(|at| at <= now))
                {
                    goal.tell(ConnectState::ConnectLooking, out);
                }
                self.pursue(now, who, out);
            }
        }
    }

    /// When [`DialingEvent::Time`] has something to do, if no other input comes first.
    pub(crate) fn due(&self, now: Instant) -> Option<Instant> {
        // Goals that are already due wait for a sighting.
        let due = self.goals.iter().flat_map(|goal| {
            let dial = goal.ready.filter(|_| goal.dialing.is_none());
            let penalty = goal.friend().and_then(|key| self.penalties.get(&key).copied());
            [Some(goal.until), dial, penalty, goal.looks_from()]
        });
        let silent = self.silent_since.map(|since| since + SILENT_FOR);
        due.chain([silent]).flatten().filter(|at| *at > now).min()
    }

    /// Whether any link is wanted.
    pub(crate) fn is_looking(&self) -> bool {
        !self.goals.is_empty()
    }

    fn goal(&mut self, target: &Target) -> Option<&mut Goal> {
        self.goals.iter_mut().find(|goal| goal.target == *target)
    }

    fn dialed_by(&mut self, attempt: Attempt) -> Option<&mut Goal> {
        self.goals.iter_mut().find(|goal| goal.dialing.as_ref().is_some_and(|one| one.attempt == attempt))
    }

    fn targets(&self, which: impl Fn(&Goal) -> bool) -> Vec<Target> {
        self.goals.iter().filter(|goal| which(goal)).map(|goal| goal.target.clone()).collect()
    }

    fn want(&mut self, now: Instant, target: Target, reason: Reason, out: &mut Vec<Effect>) {
        let until = now + if reason == Reason::Person { PERSON_WAITS } else { RESUME_WINDOW };
        // From now on both sides are looking; earlier attempts were one-sided.
        if let Some(goal) = self.goal(&target).filter(|goal| goal.reason == Reason::Unfound) {
            goal.reason = reason;
        }
        if self.goal(&target).is_none() {
            self.goals.push(Goal {
                target: target.clone(),
                reason,
                until,
                since: now,
                attempts: 0,
                hung: false,
                seen: None,
                not_before: None,
                ready: None,
                dialing: None,
                told: ConnectState::ConnectUnspecified,
            });
        }
        let Some(goal) = self.goal(&target) else { return };
        goal.until = goal.until.max(until);
        if reason == Reason::Person {
            goal.reason = reason;
            (goal.not_before, goal.hung) = (None, false);
            if let Target::Friend(key) = target {
                self.penalties.remove(&key);
            }
        }
        let Some(goal) = self.goal(&target) else { return };
        if goal.dialing.is_none() {
            goal.tell(ConnectState::ConnectLooking, out);
        }
    }

    fn is_unfound(&self, now: Instant) -> bool {
        self.silent_since.is_some_and(|since| since + SILENT_FOR <= now)
    }

    fn set_local_state(&mut self, now: Instant, here: &LocalState, out: &mut Vec<Effect>) {
        self.silent_since = if here.is_found { None } else { self.silent_since.or(Some(now)) };
        let sought = if self.is_unfound(now) { here.sought.clone() } else { BTreeSet::new() };
        let is_over = |goal: &mut Goal| {
            goal.reason == Reason::Unfound && !goal.friend().is_some_and(|key| sought.contains(&key))
        };
        for goal in self.goals.extract_if(.., is_over) {
            out.extend(goal.hang_up());
        }
        for key in sought {
            match self.goal(&Target::Friend(key)) {
                Some(goal) if goal.reason == Reason::Unfound => goal.until = now + RESUME_WINDOW,
                Some(_) => {}
                None => self.want(now, Target::Friend(key), Reason::Unfound, out),
            }
        }
    }

    fn identify_address(&mut self, address: &Address, key: PlayerId, out: &mut Vec<Effect>) {
        let at = Target::Address(address.clone());
        let friend = Target::Friend(key);
        let Some(index) = self.goals.iter().position(|goal| goal.target == at) else { return };
        let asked = self.goals[index].reason == Reason::Person;
        let until = self.goals[index].until;
        match self.goal(&friend) {
            None => self.goals[index].target = friend,
            // Already wanted because of a match, and now by the user too.
            Some(goal) => {
                if asked {
                    (goal.reason, goal.until) = (Reason::Person, goal.until.max(until));
                }
                let goal = self.goals.remove(index);
                out.extend(goal.hang_up());
            }
        }
    }

    fn reached(&mut self, key: PlayerId, out: &mut Vec<Effect>) {
        let target = Target::Friend(key);
        match self.goals.iter().position(|goal| goal.target == target) {
            Some(index) => {
                let mut goal = self.goals.remove(index);
                goal.tell(ConnectState::ConnectUp, out);
                // A dial in progress would occupy the radio and the peer.
                out.extend(goal.hang_up());
            }
            // Wanted after the peer had connected: report it as up.
            None => out.push(Effect::Tell(target, ConnectState::ConnectUp)),
        }
    }

    fn give_up(&mut self, target: &Target, in_vain: bool, out: &mut Vec<Effect>) {
        let Some(index) = self.goals.iter().position(|goal| goal.target == *target) else { return };
        let goal = self.goals.remove(index);
        out.extend(goal.hang_up());
        let asked = goal.reason == Reason::Person;
        if asked {
            out.push(Effect::Tell(target.clone(), ConnectState::ConnectFailed));
        }
        out.push(Effect::GivenUp { target: target.clone(), in_vain: in_vain && asked });
    }

    /// Dials the targets that are seen and due.
    fn pursue(&mut self, now: Instant, who: &dyn Standing, out: &mut Vec<Effect>) {
        let is_heard = !self.is_unfound(now);
        // If two goals lead to the same address, only one is dialed.
        let mut taken: Vec<Address> =
            self.goals.iter().filter_map(|goal| Some(goal.dialing.as_ref()?.address.clone())).collect();
        // Goals that nobody asked for come last, one at a time, those with the fewest attempts first.
        let mut order: Vec<usize> = (0..self.goals.len()).collect();
        order.sort_by_key(|index| {
            let goal = &self.goals[*index];
            (goal.reason == Reason::Unfound).then_some(goal.attempts)
        });
        for index in order {
            let goal = &mut self.goals[index];
            let is_out =
                |key: PlayerId| who.is_linked(key) || who.is_barred(key) || self.penalties.contains_key(&key);
            let waits_its_turn = goal.reason == Reason::Unfound && !taken.is_empty();
            if goal.dialing.is_some() || waits_its_turn || goal.friend().is_some_and(is_out) {
                continue;
            }
            let Some(address) = goal.way(who).filter(|address| !taken.contains(address)) else { continue };
            let seen = *goal.seen.get_or_insert(now);
            let gives_way = if is_heard { goal.gives_way(who) } else { Duration::ZERO };
            let ready = goal.not_before.map_or(seen, |at| at.max(seen)) + gives_way;
            goal.ready = Some(ready);
            if ready > now {
                continue;
            }
            self.last_attempt += 1;
            let attempt = Attempt(self.last_attempt);
            goal.attempts += 1;
            goal.dialing = Some(Try { attempt, address: address.clone(), since: now, greets: false });
            taken.push(address.clone());
            out.push(Effect::Dial { attempt, address, target: goal.target.clone() });
            goal.tell(ConnectState::ConnectDialing, out);
        }
    }
}

impl Goal {
    fn friend(&self) -> Option<PlayerId> {
        match self.target {
            Target::Friend(key) => Some(key),
            Target::Address(_) => None,
        }
    }

    /// Aborts the attempt in progress.
    fn hang_up(&self) -> Option<Effect> {
        self.dialing.as_ref().map(|one| Effect::HangUp(one.attempt))
    }

    /// The address to dial: on the best carrier that sees the target; after a failed attempt, on the next one.
    fn way(&self, who: &dyn Standing) -> Option<Address> {
        let heard_since = self.friend().and((self.reason != Reason::Person).then_some(self.since));
        let mut ways = who.ways(&self.target, heard_since);
        let turn = self.attempts as usize % ways.len().max(1);
        (!ways.is_empty()).then(|| ways.swap_remove(turn))
    }

    /// Handles that the carrier is connected.
    fn greets(&mut self) {
        if let Some(one) = &mut self.dialing {
            one.greets = true;
        }
    }

    /// When the attempt in progress starts to be reported as scanning.
    fn looks_from(&self) -> Option<Instant> {
        self.dialing.as_ref().filter(|one| !one.greets).map(|one| one.since + LOOKS_AFTER)
    }

    /// How long this side waits for the other one, which is looking too, to dial.
    fn gives_way(&self, who: &dyn Standing) -> Duration {
        let is_others = self.friend().is_some_and(|key| who.has_lower_key(key));
        // A peer that the user asked for may not be looking; if it is, both sides dial.
        let looks_too = match self.reason {
            Reason::Lost | Reason::Started => true,
            Reason::Person => self.hung,
            Reason::Unfound => false,
        };
        if is_others && looks_too { FALLBACK } else { Duration::ZERO }
    }

    /// Handles a failed attempt: sets the back-off delay, and requires a new sighting of the target.
    fn back_off(&mut self, now: Instant, jitter: f64) {
        self.hung = self.dialing.take().is_some_and(|one| now - one.since >= FALLBACK);
        (self.seen, self.ready) = (None, None);
        self.since = now;
        let doubled = FIRST_BACKOFF * 2u32.pow(self.attempts.min(8));
        let longest = if self.reason == Reason::Unfound { LONGEST_UNFOUND } else { LONGEST_BACKOFF };
        self.not_before = Some(now + doubled.min(longest).mul_f64(0.75 + jitter / 2.0));
    }

    fn tell(&mut self, state: ConnectState, out: &mut Vec<Effect>) {
        // The reconnection of an interrupted match is shown in its room instead.
        if self.told != state && (self.reason == Reason::Person || state == ConnectState::ConnectUp) {
            self.told = state;
            out.push(Effect::Tell(self.target.clone(), state));
        }
    }
}

#[cfg(test)]
mod tests;
