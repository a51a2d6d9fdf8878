//! Whom a link is wanted to, when each of them is dialed, and when that is given up.
//!
//! A state machine without I/O: it is given the time, what was heard and a view of the others, and says what is to be done.

use std::collections::{BTreeMap, BTreeSet};
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

/// A device that is not found for so long makes its links itself; a shorter silence comes with every start.
const SILENT_FOR: Duration = Duration::from_secs(3);

/// The longest wait before another try to link to a friend whom nobody has asked for.
const LONGEST_UNFOUND: Duration = Duration::from_secs(30);

/// A match counts as just played for so long after its link was lost: a person thinks about another one, or comes back for more.
const JUST_PLAYED: Duration = Duration::from_mins(1);

/// A try in which nothing is connected after so long is one that looks: most connect within two seconds of an advert.
const LOOKS_AFTER: Duration = Duration::from_secs(4);

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
    /// This device cannot be found, so that no friend can link to it.
    Unfound,
    /// This host has started with a match that is not finished: the other side may not have noticed that it was gone.
    Started,
}

/// Names a try to dial while the host runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt(u64);

/// What this device is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Here {
    /// Others can find it, on every radio that it has.
    pub(crate) is_found: bool,
    /// The friends to whom it makes the link while it cannot be found: see [`is_sought`].
    pub(crate) sought: BTreeSet<PlayerId>,
}

/// A friend, as [`is_sought`] sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acquaintance {
    pub(crate) is_linked: bool,
    /// It says that it plays with somebody.
    pub(crate) plays: bool,
    /// There is an unfinished match with it.
    pub(crate) unfinished: bool,
    /// A match with it is on the screen.
    pub(crate) has_room: bool,
    /// For how long its last link has been lost.
    pub(crate) lost_for: Option<Duration>,
}

/// What the person here does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About {
    /// Looks at who is near.
    pub(crate) looks_around: bool,
    /// Looks at the app at all.
    pub(crate) is_here: bool,
}

/// Whether a device that cannot be found makes the link to this friend itself: its person is about, and may want to play with it.
pub(crate) fn is_sought(friend: Acquaintance, person: About) -> bool {
    let just_played = friend.has_room && friend.lost_for.is_some_and(|lost| lost < JUST_PLAYED);
    let wanted = person.looks_around || (person.is_here && friend.unfinished) || just_played;
    wanted && !friend.is_linked && !friend.plays
}

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
    /// What this device is doing now.
    Here(Here),
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
    /// Since when this device cannot be found.
    silent_since: Option<Instant>,
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
    /// The carrier is connected.
    greets: bool,
}

impl Dialing {
    pub(crate) fn handle(&mut self, now: Instant, heard: Heard, who: &dyn Standing, out: &mut Vec<Effect>) {
        self.penalties.retain(|_, until| *until > now);
        match heard {
            Heard::Wanted(target, why) => self.want(now, target, why, out),
            Heard::Here(here) => self.is_here(now, &here, out),
            Heard::IsAt(address, key) => self.is_at(&address, key, out),
            Heard::Greeting(attempt) => {
                if let Some(goal) = self.dialed_by(attempt) {
                    goal.greets();
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
                for goal in self.goals.iter_mut().filter(|goal| goal.looks_from().is_some_and(|at| at <= now))
                {
                    goal.tell(ConnectState::ConnectLooking, out);
                }
                self.pursue(now, who, out);
            }
        }
    }

    /// When [`Heard::Time`] has something to do, if nothing is heard before.
    pub(crate) fn due(&self, now: Instant) -> Option<Instant> {
        // What is due already waits for something to be heard.
        let due = self.goals.iter().flat_map(|goal| {
            let dial = goal.ready.filter(|_| goal.dialing.is_none());
            let penalty = goal.friend().and_then(|key| self.penalties.get(&key).copied());
            [Some(goal.until), dial, penalty, goal.looks_from()]
        });
        let silent = self.silent_since.map(|since| since + SILENT_FOR);
        due.chain([silent]).flatten().filter(|at| *at > now).min()
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
        // Two look for each other from now on: the tries before were this side's alone.
        if let Some(goal) = self.goal(&target).filter(|goal| goal.why == Why::Unfound) {
            goal.why = why;
        }
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

    fn is_unfound(&self, now: Instant) -> bool {
        self.silent_since.is_some_and(|since| since + SILENT_FOR <= now)
    }

    fn is_here(&mut self, now: Instant, here: &Here, out: &mut Vec<Effect>) {
        self.silent_since = if here.is_found { None } else { self.silent_since.or(Some(now)) };
        let sought = if self.is_unfound(now) { here.sought.clone() } else { BTreeSet::new() };
        let is_over = |goal: &mut Goal| {
            goal.why == Why::Unfound && !goal.friend().is_some_and(|key| sought.contains(&key))
        };
        for goal in self.goals.extract_if(.., is_over) {
            out.extend(goal.hang_up());
        }
        for key in sought {
            match self.goal(&Target::Friend(key)) {
                Some(goal) if goal.why == Why::Unfound => goal.until = now + RESUME_WINDOW,
                Some(_) => {}
                None => self.want(now, Target::Friend(key), Why::Unfound, out),
            }
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
        let is_heard = !self.is_unfound(now);
        // Of two goals that lead to one place, one is dialed.
        let mut taken: Vec<Address> =
            self.goals.iter().filter_map(|goal| Some(goal.dialing.as_ref()?.address.clone())).collect();
        // Whom nobody has asked for comes last, one at a time, and first of these who was tried least.
        let mut order: Vec<usize> = (0..self.goals.len()).collect();
        order.sort_by_key(|index| {
            let goal = &self.goals[*index];
            (goal.why == Why::Unfound).then_some(goal.attempts)
        });
        for index in order {
            let goal = &mut self.goals[index];
            let is_out =
                |key: PlayerId| who.is_linked(key) || who.is_barred(key) || self.penalties.contains_key(&key);
            let waits_its_turn = goal.why == Why::Unfound && !taken.is_empty();
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

    /// The carrier of the try is connected.
    fn greets(&mut self) {
        if let Some(one) = &mut self.dialing {
            one.greets = true;
        }
    }

    /// From when on the try that is under way is one that looks.
    fn looks_from(&self) -> Option<Instant> {
        self.dialing.as_ref().filter(|one| !one.greets).map(|one| one.since + LOOKS_AFTER)
    }

    /// For how long the other side, which looks too, is left to dial.
    fn gives_way(&self, who: &dyn Standing) -> Duration {
        let is_others = self.friend().is_some_and(|key| who.has_lower_key(key));
        // Whom a person asked for may not look at all, but if it does, both have dialed.
        let looks_too = match self.why {
            Why::Lost | Why::Started => true,
            Why::Person => self.hung,
            Why::Unfound => false,
        };
        if is_others && looks_too { FALLBACK } else { Duration::ZERO }
    }

    /// A try has come to nothing: the next one waits, and the target is to be heard anew.
    fn back_off(&mut self, now: Instant, jitter: f64) {
        self.hung = self.dialing.take().is_some_and(|one| now - one.since >= FALLBACK);
        (self.seen, self.ready) = (None, None);
        self.since = now;
        let doubled = FIRST_BACKOFF * 2u32.pow(self.attempts.min(8));
        let longest = if self.why == Why::Unfound { LONGEST_UNFOUND } else { LONGEST_BACKOFF };
        self.not_before = Some(now + doubled.min(longest).mul_f64(0.75 + jitter / 2.0));
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
