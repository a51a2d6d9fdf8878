//! A model test: random events in a host with three friends, with the invariants checked after each.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use engine::Rng;

use super::*;
use crate::seed;

const RUNS: u64 = 300;
const EVENTS: usize = 400;
const PEOPLE: u32 = 3;
const MATCHES: u32 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    /// Here or by a letter of the friend: the match has another state, which the friend may lack.
    Moved,
    /// The friend's letter says what it has.
    Acknowledged,
    /// The match ends, and its room is closed.
    Over,
    /// It is settled with the friend, or deleted.
    Gone,
    Begun,
    LinkUp,
    LinkDown,
    /// No friend any more, or a friend again, which takes a link.
    Friendship,
    /// A write has failed, or the session is rebuilt.
    Disk,
    /// The friend's account is known from now on.
    Account,
    /// Time passes, at most until the next check.
    Soon,
    /// Time passes until the next check.
    Due,
    /// Up to four days pass.
    Days,
    AtServer,
    Delivered,
    Lost,
    /// Something is said of a letter that is not the last one about its match.
    Stale,
    SignedIn,
    SignedOut,
    /// The host stops, and starts again.
    Restarted,
    /// The host is killed, and starts again.
    Killed,
    /// The wall clock is set.
    ClockSet,
}

const OPS: [Op; 22] = [
    Op::Moved,
    Op::Acknowledged,
    Op::Over,
    Op::Gone,
    Op::Begun,
    Op::LinkUp,
    Op::LinkDown,
    Op::Friendship,
    Op::Disk,
    Op::Account,
    Op::Soon,
    Op::Due,
    Op::Days,
    Op::AtServer,
    Op::Delivered,
    Op::Lost,
    Op::Stale,
    Op::SignedIn,
    Op::SignedOut,
    Op::Restarted,
    Op::Killed,
    Op::ClockSet,
];

/// Half of the events, so that letters are written between the others.
const USUAL: [Op; 6] = [Op::Moved, Op::Due, Op::Due, Op::AtServer, Op::SignedIn, Op::LinkDown];

/// A letter, as the world saw it.
#[derive(Clone, Debug)]
struct Seen {
    standing: String,
    /// `None`: it was too long.
    number: Option<u64>,
    written: Instant,
    /// When it last failed.
    failed: Option<Instant>,
    shown: LetterState,
}

/// A match of a friend.
#[derive(Clone, Debug)]
struct Match {
    standing: String,
    /// The friend may lack something.
    lacks: bool,
    is_over: bool,
    /// What a session never writes: a match with clocks, or with a difference.
    is_written: bool,
    is_too_long: bool,
}

struct World {
    seed: u64,
    random: Rng,
    schedule: LetterSchedule,
    clocks: Clocks,
    signed_in: bool,
    people: Vec<Addressee>,
    matches: BTreeMap<MatchId, Match>,
    /// The last letters of this run of the host.
    seen: BTreeMap<MatchId, Seen>,
    /// All numbers of this run of the host.
    numbers: Vec<u64>,
    /// The journal: what was given to be kept, and the state and the time in it.
    kept: BTreeMap<MatchId, (String, String, i64)>,
    /// By when a check must be planned, since the last one.
    due_by: Option<Instant>,
    states: u32,
    counts: BTreeMap<&'static str, usize>,
    events: Vec<Op>,
}

fn owner(id: MatchId) -> usize {
    usize::from(id.0[0])
}

impl World {
    fn new(seed: u64) -> Self {
        let person = |number: u32| Addressee {
            key: PlayerId([number as u8; 32]),
            is_friend: true,
            is_linked: false,
            is_broken: false,
            has_account: number != 0,
        };
        Self {
            seed,
            random: Rng::new(seed),
            schedule: LetterSchedule::default(),
            clocks: Clocks { now: Instant::now(), unix_ms: 1_800_000_000_000 },
            signed_in: false,
            people: (0..PEOPLE).map(person).collect(),
            matches: BTreeMap::new(),
            seen: BTreeMap::new(),
            numbers: Vec::new(),
            kept: BTreeMap::new(),
            due_by: None,
            states: 0,
            counts: BTreeMap::new(),
            events: Vec::new(),
        }
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    fn change(&mut self) {
        self.schedule.on_change(self.clocks.now);
        self.must_check_within(PATIENCE);
    }

    fn must_check_within(&mut self, wait: Duration) {
        let by = self.clocks.now + wait;
        self.due_by = Some(self.due_by.map_or(by, |before| before.min(by)));
    }

    fn pass(&mut self, time: Duration) {
        self.clocks.now += time;
        self.clocks.unix_ms += time.as_millis() as i64;
    }

    fn new_state(&mut self) -> String {
        self.states += 1;
        format!("{} 0 {:016x}", self.states % 3, self.states)
    }

    fn any_match(&mut self) -> Option<MatchId> {
        let ids: Vec<MatchId> = self.matches.keys().copied().collect();
        (!ids.is_empty()).then(|| ids[self.random.below(ids.len() as u32) as usize])
    }

    /// What the actor tells the schedule of a match, as [`state_to_tell`] does.
    fn told(&self, id: MatchId) -> Option<(MatchId, String)> {
        let one = &self.matches[&id];
        (one.is_over || one.lacks).then(|| (id, one.standing.clone()))
    }

    fn is_away(&self, id: MatchId) -> bool {
        let person = &self.people[owner(id)];
        person.is_friend && person.has_account && !person.is_linked && !person.is_broken
    }

    /// Whether a letter that this match's friend may still get tells its present state, so that no other one is written.
    fn is_told(&self, id: MatchId) -> bool {
        let standing = &self.matches[&id].standing;
        match (self.seen.get(&id), self.kept.get(&id)) {
            (Some(seen), _) => {
                let waits = match seen.failed {
                    Some(failed) => self.clocks.now < failed + AFTER_FAILURE,
                    None => self.clocks.now < seen.written + AGAIN,
                };
                seen.standing == *standing && waits
            }
            (None, Some((_, kept, at))) => {
                let ago = self.clocks.unix_ms - at;
                kept == standing && (0..AGAIN.as_millis() as i64).contains(&ago)
            }
            (None, None) => false,
        }
    }

    /// Makes a check, as the actor does after each message, and checks its letters.
    fn check(&mut self, occasion: Occasion) {
        let is_made = match occasion {
            Occasion::Time => self.schedule.due().is_some_and(|at| at <= self.clocks.now),
            Occasion::Stop => self.schedule.due().is_some(),
        };
        let people: Vec<_> = (0..self.people.len())
            .map(|person| {
                let ids = self.matches.keys().filter(|id| owner(**id) == person);
                (self.people[person], ids.filter_map(|id| self.told(*id)).collect::<Vec<_>>())
            })
            .collect();
        let kept = &self.kept;
        let drafts = self.schedule.check(occasion, self.clocks, self.signed_in, people, |id| {
            kept.get(&id).map(|(text, ..)| text.clone())
        });
        if is_made && occasion == Occasion::Time {
            self.due_by = None;
        }
        assert!(drafts.is_empty() || is_made && self.signed_in, "only at a check, and signed in");
        let mut written = BTreeSet::new();
        for draft in drafts {
            let Draft { to, id, .. } = draft.clone();
            assert_eq!(to, self.people[owner(id)].key, "to the friend of the match");
            assert!(self.is_away(id), "to a friend with an account who is away");
            assert_eq!(self.told(id), Some((id, draft.standing.clone())), "the present state");
            assert!(!self.is_told(id), "not twice while the first may arrive");
            assert!(written.insert(id), "one letter about a match");
            let one = &self.matches[&id];
            if !one.is_written {
                continue;
            }
            let number = (!one.is_too_long).then(|| self.schedule.number());
            let (standing, now) = (draft.standing.clone(), self.clocks.now);
            let before = self.seen.get(&id);
            *self.counts.entry("letters").or_default() += 1;
            if before.is_some_and(|before| before.standing == standing) {
                let failed = before.is_some_and(|before| before.failed.is_some());
                self.count(if failed { "after a failure" } else { "after days" });
            }
            if occasion == Occasion::Stop {
                self.count("at the stop");
            }
            self.schedule.wrote(draft, number, now);
            let shown = number.map_or(LetterState::Unspecified, |_| LetterState::Waiting);
            self.seen.insert(id, Seen { standing, number, written: now, failed: None, shown });
            if let Some(number) = number {
                assert!(self.numbers.last().is_none_or(|last| *last < number), "numbers ascend");
                self.numbers.push(number);
            }
        }
        if !is_made || !self.signed_in {
            return;
        }
        // After a check every friend who is away is told the present state, or its letter is due.
        for id in self.matches.keys().copied().collect::<Vec<_>>() {
            let one = &self.matches[&id];
            if !self.is_away(id) || !one.is_written || self.told(id).is_none() {
                continue;
            }
            assert!(self.is_told(id), "a letter of the present state is under way");
            if !self.seen.contains_key(&id) {
                self.count("kept by an earlier run");
            }
            let due = self.schedule.due().expect("a letter without a response is due");
            let wait = (due - self.clocks.now).saturating_sub(Duration::from_millis(1));
            let before = self.clocks;
            self.pass(wait);
            let waits = self.is_told(id);
            self.clocks = before;
            assert!(waits, "due no later than it is written again");
        }
    }

    /// Something is said of the last letter about a match.
    fn stage(&mut self, stage: LetterStage) {
        let under_way = |seen: &Seen| seen.number.map(|number| (number, seen.standing.clone()));
        let all: Vec<_> = self.seen.iter().filter_map(|(id, seen)| Some((*id, under_way(seen)?))).collect();
        if all.is_empty() {
            return;
        }
        let (id, (number, standing)) = all[self.random.below(all.len() as u32) as usize].clone();
        let (told, keep) = self.schedule.on_stage(number, stage, self.clocks).expect("a letter of this run");
        assert_eq!(told, id);
        assert_eq!(keep.is_some(), stage == LetterStage::AtServer, "kept once a server has it");
        // A full disk keeps nothing.
        if let Some(text) = keep.filter(|_| self.random.below(8) != 0) {
            self.kept.insert(id, (text, standing, self.clocks.unix_ms));
        }
        let now = self.clocks.now;
        let seen = self.seen.get_mut(&id).expect("as above");
        match stage {
            LetterStage::AtServer if seen.shown == LetterState::Delivered => {}
            LetterStage::AtServer => seen.shown = LetterState::AtServer,
            LetterStage::Delivered => seen.shown = LetterState::Delivered,
            LetterStage::Refused | LetterStage::Lost => {
                (seen.shown, seen.failed) = (LetterState::Waiting, Some(now));
                self.must_check_within(AFTER_FAILURE);
            }
        }
    }

    /// Something is said of an older letter, of one of an earlier run, or of none.
    fn stale(&mut self) {
        let last = self.numbers.last().map_or(0, |last| *last as u32);
        let number = u64::from(self.random.below(last + 3));
        let is_last = self.seen.values().any(|seen| seen.number == Some(number));
        if number == 0 || is_last {
            return;
        }
        let due = self.schedule.due();
        let stage = [LetterStage::AtServer, LetterStage::Delivered, LetterStage::Refused, LetterStage::Lost];
        let stage = stage[self.random.below(4) as usize];
        assert_eq!(self.schedule.on_stage(number, stage, self.clocks), None);
        assert_eq!(self.schedule.due(), due, "it changes nothing");
        self.count("stale news");
    }

    /// The next run of the host knows what was kept.
    fn start_again(&mut self) {
        self.schedule = LetterSchedule::default();
        self.signed_in = false;
        self.due_by = None;
        self.seen.clear();
        self.numbers.clear();
        for person in &mut self.people {
            (person.is_linked, person.is_broken) = (false, false);
        }
        let time = self.random.below(90_000).into();
        self.pass(Duration::from_secs(time));
    }

    fn apply(&mut self, op: Op) {
        let person = self.random.below(PEOPLE) as usize;
        match op {
            Op::Moved => {
                let Some(id) = self.any_match() else { return };
                let standing = self.new_state();
                let one = self.matches.get_mut(&id).expect("any of them");
                if !one.is_over {
                    (one.standing, one.lacks) = (standing, true);
                    self.change();
                }
            }
            Op::Acknowledged => {
                let Some(id) = self.any_match() else { return };
                self.matches.get_mut(&id).expect("any of them").lacks = false;
                self.change();
            }
            Op::Over => {
                let Some(id) = self.any_match() else { return };
                let standing = self.new_state();
                let one = self.matches.get_mut(&id).expect("any of them");
                if !one.is_over {
                    (one.standing, one.is_over, one.lacks) = (standing, true, false);
                    self.change();
                }
            }
            Op::Gone => {
                let Some(id) = self.any_match() else { return };
                self.matches.remove(&id);
                self.kept.remove(&id);
            }
            Op::Begun => {
                let number = self.random.below(MATCHES) as u8;
                let mut id = [0; 16];
                (id[0], id[1]) = (person as u8, number);
                let standing = self.new_state();
                let (is_written, is_too_long) = (self.random.below(8) != 0, self.random.below(8) == 0);
                let one = Match { standing, lacks: true, is_over: false, is_written, is_too_long };
                self.matches.entry(MatchId(id)).or_insert(one);
                self.change();
            }
            Op::LinkUp => self.people[person].is_linked = true,
            Op::LinkDown => {
                self.people[person].is_linked = false;
                self.change();
            }
            Op::Friendship => {
                let is_friend = self.random.below(3) != 0;
                self.people[person].is_friend = is_friend;
                self.people[person].is_linked |= is_friend;
            }
            Op::Disk => {
                let is_broken = self.random.below(3) == 0;
                if mem::replace(&mut self.people[person].is_broken, is_broken) && !is_broken {
                    self.change();
                }
            }
            Op::Account => {
                if !mem::replace(&mut self.people[person].has_account, true) {
                    self.change();
                }
            }
            Op::Soon | Op::Due => {
                let now = self.clocks.now;
                let Some(due) = self.schedule.due() else { return };
                let wait = due.saturating_duration_since(now);
                let part = Duration::from_millis(self.random.below(1 + wait.as_millis() as u32).into());
                self.pass(if op == Op::Due { wait } else { part });
            }
            Op::Days => {
                let time = self.random.below(4 * 24 * 60).into();
                self.pass(Duration::from_mins(time));
            }
            Op::AtServer => self.stage(LetterStage::AtServer),
            Op::Delivered => self.stage(LetterStage::Delivered),
            Op::Lost => {
                let refused = self.random.below(2) == 0;
                self.stage(if refused { LetterStage::Refused } else { LetterStage::Lost });
            }
            Op::Stale => self.stale(),
            Op::SignedIn => {
                self.signed_in = true;
                self.change();
            }
            Op::SignedOut => self.signed_in = false,
            Op::Restarted => {
                self.check(Occasion::Stop);
                self.start_again();
            }
            Op::Killed => self.start_again(),
            Op::ClockSet => {
                let hours = i64::from(self.random.below(2 * 100)) - 100;
                self.clocks.unix_ms += hours * 3_600_000;
            }
        }
    }

    /// What holds after every event.
    fn check_invariants(&self) {
        let due = self.schedule.due();
        assert!(due.is_none_or(|at| at > self.clocks.now), "what is due is done");
        assert!(due.is_none_or(|at| at <= self.clocks.now + AGAIN), "no check waits longer than a letter");
        if let Some(by) = self.due_by {
            assert!(due.is_some_and(|at| at <= by), "a change or a failure has planned a check");
        }
        let is_unanswered =
            |(id, one): (&MatchId, &Match)| one.is_written && self.is_away(*id) && self.told(*id).is_some();
        let waits = self.signed_in && self.matches.iter().any(is_unanswered);
        assert!(!waits || due.is_some(), "every unanswered letter is due at some time");
        for (id, one) in &self.matches {
            let shown = self.schedule.shown(*id, Some(&one.standing));
            match self.seen.get(id) {
                None => assert_eq!(shown, LetterState::Unspecified),
                Some(seen) if seen.standing == one.standing => assert_eq!(shown, seen.shown),
                Some(_) => assert_eq!(shown, LetterState::Waiting, "a move since"),
            }
        }
    }

    /// All friends are away, and all letters reach the server: every match is told, and for days none more than once again.
    fn come_to_rest(&mut self) {
        for person in &mut self.people {
            let key = person.key;
            *person =
                Addressee { key, is_friend: true, is_linked: false, is_broken: false, has_account: true };
        }
        self.signed_in = true;
        self.change();
        let due = self.schedule.due().expect("planned");
        self.pass(due.saturating_duration_since(self.clocks.now));
        self.check(Occasion::Time);
        for number in self.seen.values().filter_map(|seen| seen.number) {
            let _ = self.schedule.on_stage(number, LetterStage::AtServer, self.clocks);
        }
        let letters = |world: &Self| world.counts.get("letters").copied().unwrap_or(0);
        let (before, end) = (letters(self), self.clocks.now + AGAIN * 9 / 10);
        let mut checks = 0;
        while let Some(due) = self.schedule.due().filter(|due| *due < end) {
            self.pass(due.saturating_duration_since(self.clocks.now));
            self.check(Occasion::Time);
            checks += 1;
            assert!(checks <= 2 * self.matches.len() + 1, "checks come to an end");
        }
        let more = letters(self) - before;
        assert!(more <= self.matches.len(), "after a failure, or days after an earlier run: {more} letters");
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("QIYOU_SEED={} begins with this run: {:?}", self.seed, self.events);
        }
    }
}

/// Returns how often what was of interest has happened.
fn run(seed: u64) -> BTreeMap<&'static str, usize> {
    let mut world = World::new(seed);
    for _ in 0..EVENTS {
        let ops = if world.random.below(2) == 0 { &USUAL[..] } else { &OPS[..] };
        let op = ops[world.random.below(ops.len() as u32) as usize];
        world.events.push(op);
        world.apply(op);
        world.check(Occasion::Time);
        world.check_invariants();
    }
    world.come_to_rest();
    mem::take(&mut world.counts)
}

#[test]
fn a_friend_who_is_away_is_told_each_state_once_and_again_only_after_days_or_a_failure() {
    let first = seed::begin("letters of a host", 0);
    let mut counts = BTreeMap::new();
    for seed in first..first + RUNS {
        for (what, count) in run(seed) {
            *counts.entry(what).or_insert(0) += count;
        }
    }
    println!("{RUNS} runs of {EVENTS} events: {counts:?}");
    for what in ["after a failure", "after days", "at the stop", "kept by an earlier run", "stale news"] {
        assert!(counts.contains_key(what), "{what} never happened");
    }
}
