//! Whom a link is wanted to, when each of them is dialed, and when that is given up.
//!
//! A state machine without I/O: it is given the time, what was heard and a view of the others, and says what is to be done.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use link::Address;
use proto::control::ConnectState;

use crate::room::PlayerId;

/// Time to find and connect to somebody whom a person asked for. A scan at Bluetooth's slowest advert interval takes ten
/// seconds to hear a device, a connect up to fifteen.
const PERSON_WAITS: Duration = Duration::from_secs(45);

/// Looking after a match was interrupted: as long as two people wait for each other without putting the device away.
const RESUME_WINDOW: Duration = Duration::from_mins(5);

/// Of two that look for each other, the one with the lower key dials at once, the other only after this: two links at a time
/// confuse Bluetooth stacks, and who dials hears nobody. Longer than hearing, dialing and greeting take on a slow device (4 s were
/// seen), so that the other one dials only a peer that cannot dial itself. A try that lasted so long hung, as it does when both
/// sides dial.
const FALLBACK: Duration = Duration::from_secs(5);

/// Waiting before another try to dial: doubled each time, from this.
const FIRST_BACKOFF: Duration = Duration::from_millis(300);

/// Up to this; then about four tries fall into the time that a person waits.
const LONGEST_BACKOFF: Duration = Duration::from_secs(5);

/// After a peer broke the protocol: it will not have been mended sooner.
const PENALTY: Duration = Duration::from_secs(30);

/// Whom a link is wanted to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A player whose key is known, wherever it is.
    Friend(PlayerId),
    /// Whoever is at this address.
    Address(Address),
}

/// Why a link is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// A person asked.
    Person,
    /// The link to a match was lost a moment ago: the other side looks as well.
    Lost,
    /// This host has started with a match that is not finished: the other side may not have noticed that it was gone.
    Started,
}

/// Names a try to dial while the host runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt(u64);

/// What dialing may know of the others.
pub(crate) trait Standing {
    /// A link to this player is up, whoever dialed it.
    fn is_linked(&self, key: PlayerId) -> bool;
    /// The person here wants nothing to do with this player, or its moves cannot be kept just now.
    fn is_barred(&self, key: PlayerId) -> bool;
    /// The player's key is lower than this device's.
    fn has_lower_key(&self, key: PlayerId) -> bool;
    /// Where the target may be, the best place first, on carriers that are in use. `since`: heard at this time or later.
    fn ways(&self, target: &Target, since: Option<Instant>) -> Vec<Address>;
}

/// What dialing is told.
#[derive(Clone, Debug)]
pub(crate) enum Heard {
    /// A link is wanted.
    Wanted(Target, Why),
    /// The device at this address turned out to be this player.
    IsAt(Address, PlayerId),
    /// The carrier of this try is connected.
    Greeting(Attempt),
    /// This try is over, whether its link ever stood or not. `jitter`: evenly drawn from `0.0..1.0`.
    Ended { attempt: Attempt, jitter: f64 },
    /// The player is here.
    Reached(PlayerId),
    /// The player has said goodbye.
    Left(PlayerId),
    /// A link to this player was closed because it broke the protocol.
    BrokeProtocol(PlayerId),
    /// Nobody wants this link any more, or it cannot be had.
    Unwanted(Target),
    /// No link is wanted at all, until the next one is.
    AllUnwanted,
    /// Time has passed, or somebody was heard near.
    Time,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Dial {
        attempt: Attempt,
        address: Address,
        target: Target,
    },
    /// Ends this try, unless its link is up by now.
    HangUp(Attempt),
    /// Clients see how far it is.
    Tell(Target, ConnectState),
    /// The target is not looked for any more. `in_vain`: a person waited for it until now.
    GivenUp {
        target: Target,
        in_vain: bool,
    },
}

/// Every link that is wanted and not there.
#[derive(Default)]
pub(crate) struct Dialing {
    goals: Vec<Goal>,
    last_attempt: u64,
    /// Who broke the protocol, and until when nobody dials it for that.
    penalties: BTreeMap<PlayerId, Instant>,
}

/// A link that is wanted.
struct Goal {
    target: Target,
    why: Why,
    until: Instant,
    /// Since when it is looked for. Heard before this, it counts as gone: a radio that dials a peer which went out of reach a
    /// moment ago hangs in that for ten seconds, deaf to its return.
    since: Instant,
    attempts: u32,
    /// The last try was long, as if both sides had dialed.
    hung: bool,
    /// When the target was seen first since the last try.
    seen: Option<Instant>,
    /// The back-off after the last try.
    not_before: Option<Instant>,
    /// When it is dialed, as things were at the last [`Heard::Time`]. `None`: the target has not been seen.
    ready: Option<Instant>,
    dialing: Option<Try>,
    /// What clients were last told.
    told: ConnectState,
}

/// A try that is under way.
struct Try {
    attempt: Attempt,
    address: Address,
    since: Instant,
}

impl Dialing {
    pub(crate) fn handle(&mut self, now: Instant, heard: Heard, who: &dyn Standing, out: &mut Vec<Effect>) {
        self.penalties.retain(|_, until| *until > now);
        match heard {
            Heard::Wanted(target, why) => self.want(now, target, why, out),
            Heard::IsAt(address, key) => self.is_at(&address, key, out),
            Heard::Greeting(attempt) => {
                if let Some(goal) = self.dialed_by(attempt) {
                    goal.tell(ConnectState::ConnectGreeting, out);
                }
            }
            Heard::Ended { attempt, jitter } => {
                if let Some(goal) = self.dialed_by(attempt) {
                    goal.back_off(now, jitter);
                    goal.tell(ConnectState::ConnectLooking, out);
                }
            }
            Heard::Reached(key) => self.reached(key, out),
            Heard::Left(key) => {
                // It looks for us itself when it is back, unless a person asked for it.
                let target = Target::Friend(key);
                if self.goal(&target).is_some_and(|goal| goal.why != Why::Person) {
                    self.give_up(&target, false, out);
                }
            }
            Heard::BrokeProtocol(key) => {
                self.penalties.insert(key, now + PENALTY);
            }
            Heard::Unwanted(target) => self.give_up(&target, false, out),
            Heard::AllUnwanted => {
                for target in self.targets(|_| true) {
                    self.give_up(&target, false, out);
                }
            }
            Heard::Time => {
                for target in self.targets(|goal| goal.until <= now) {
                    self.give_up(&target, true, out);
                }
                self.pursue(now, who, out);
            }
        }
    }

    /// When [`Heard::Time`] has something to do, if nothing is heard before.
    pub(crate) fn due(&self, now: Instant) -> Option<Instant> {
        let due = self.goals.iter().flat_map(|goal| {
            // Who may be dialed already has not been heard.
            let dial = goal.ready.filter(|at| goal.dialing.is_none() && *at > now);
            let penalty = goal.friend().and_then(|key| self.penalties.get(&key).copied());
            [Some(goal.until), dial, penalty.filter(|at| *at > now)]
        });
        due.flatten().min()
    }

    /// Somebody is looked for.
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

    fn want(&mut self, now: Instant, target: Target, why: Why, out: &mut Vec<Effect>) {
        let until = now + if why == Why::Person { PERSON_WAITS } else { RESUME_WINDOW };
        if self.goal(&target).is_none() {
            self.goals.push(Goal {
                target: target.clone(),
                why,
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
        if why == Why::Person {
            goal.why = why;
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

    fn is_at(&mut self, address: &Address, key: PlayerId, out: &mut Vec<Effect>) {
        let at = Target::Address(address.clone());
        let friend = Target::Friend(key);
        let Some(index) = self.goals.iter().position(|goal| goal.target == at) else { return };
        let asked = self.goals[index].why == Why::Person;
        let until = self.goals[index].until;
        match self.goal(&friend) {
            None => self.goals[index].target = friend,
            // Looked for because of a match already, and now by a person too.
            Some(goal) => {
                if asked {
                    (goal.why, goal.until) = (Why::Person, goal.until.max(until));
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
                // A dial that goes on would take the radio, and the peer, from the link that is up.
                out.extend(goal.hang_up());
            }
            // A peer that came by itself is up all the same.
            None => out.push(Effect::Tell(target, ConnectState::ConnectUp)),
        }
    }

    fn give_up(&mut self, target: &Target, in_vain: bool, out: &mut Vec<Effect>) {
        let Some(index) = self.goals.iter().position(|goal| goal.target == *target) else { return };
        let goal = self.goals.remove(index);
        out.extend(goal.hang_up());
        let asked = goal.why == Why::Person;
        if asked {
            out.push(Effect::Tell(target.clone(), ConnectState::ConnectFailed));
        }
        out.push(Effect::GivenUp { target: target.clone(), in_vain: in_vain && asked });
    }

    /// Dials whoever is wanted, seen and due.
    fn pursue(&mut self, now: Instant, who: &dyn Standing, out: &mut Vec<Effect>) {
        // Of two goals that lead to one place, one is dialed.
        let mut taken: Vec<Address> =
            self.goals.iter().filter_map(|goal| Some(goal.dialing.as_ref()?.address.clone())).collect();
        for goal in &mut self.goals {
            let is_out =
                |key: PlayerId| who.is_linked(key) || who.is_barred(key) || self.penalties.contains_key(&key);
            if goal.dialing.is_some() || goal.friend().is_some_and(is_out) {
                continue;
            }
            let Some(address) = goal.way(who).filter(|address| !taken.contains(address)) else { continue };
            let seen = *goal.seen.get_or_insert(now);
            let ready = goal.not_before.map_or(seen, |at| at.max(seen)) + goal.gives_way(who);
            goal.ready = Some(ready);
            if ready > now {
                continue;
            }
            self.last_attempt += 1;
            let attempt = Attempt(self.last_attempt);
            goal.attempts += 1;
            goal.dialing = Some(Try { attempt, address: address.clone(), since: now });
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

    /// Ends the try that is under way.
    fn hang_up(&self) -> Option<Effect> {
        self.dialing.as_ref().map(|one| Effect::HangUp(one.attempt))
    }

    /// Where to dial: on the best carrier that hears it, and after a try that failed on the next.
    fn way(&self, who: &dyn Standing) -> Option<Address> {
        let heard_since = self.friend().and((self.why != Why::Person).then_some(self.since));
        let mut ways = who.ways(&self.target, heard_since);
        let turn = self.attempts as usize % ways.len().max(1);
        (!ways.is_empty()).then(|| ways.swap_remove(turn))
    }

    /// For how long the other side, which looks too, is left to dial.
    fn gives_way(&self, who: &dyn Standing) -> Duration {
        let is_others = self.friend().is_some_and(|key| who.has_lower_key(key));
        // Whom a person asked for may not look at all, but if it does, both have dialed.
        let looks_too = self.why != Why::Person || self.hung;
        if is_others && looks_too { FALLBACK } else { Duration::ZERO }
    }

    /// A try has come to nothing: the next one waits, and the target is to be heard anew.
    fn back_off(&mut self, now: Instant, jitter: f64) {
        self.hung = self.dialing.take().is_some_and(|one| now - one.since >= FALLBACK);
        (self.seen, self.ready) = (None, None);
        self.since = now;
        let doubled = FIRST_BACKOFF * 2u32.pow(self.attempts.min(8));
        self.not_before = Some(now + doubled.min(LONGEST_BACKOFF).mul_f64(0.75 + jitter / 2.0));
    }

    fn tell(&mut self, state: ConnectState, out: &mut Vec<Effect>) {
        // The way back to an interrupted match is seen in its room.
        if self.told != state && (self.why == Why::Person || state == ConnectState::ConnectUp) {
            self.told = state;
            out.push(Effect::Tell(self.target.clone(), state));
        }
    }
}

#[cfg(test)]
mod tests;
