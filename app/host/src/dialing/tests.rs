//! Tests of single decisions, and a model test: random events, with the invariants checked after each.

use std::collections::{BTreeMap, BTreeSet};

use link::CarrierKind;

use super::*;
use crate::seed;

const ANNA: PlayerId = PlayerId([1; 32]);
const BEN: PlayerId = PlayerId([2; 32]);
/// The device under test is Anna's; the peer is Ben's.
const HERE: [u8; 32] =
    [1, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9];

fn at(text: &str) -> Address {
    Address { kind: CarrierKind::Memory, text: text.to_owned() }
}

fn second(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// Fake of the [`Standing`] view.
#[derive(Default)]
struct Others {
    /// Sightings: target, address, latest time.
    heard: Vec<(Target, Address, Instant)>,
    linked: BTreeSet<PlayerId>,
    barred: BTreeSet<PlayerId>,
}

impl Standing for Others {
    fn is_linked(&self, key: PlayerId) -> bool {
        self.linked.contains(&key)
    }

    fn is_barred(&self, key: PlayerId) -> bool {
        self.barred.contains(&key)
    }

    fn has_lower_key(&self, key: PlayerId) -> bool {
        key.0 < HERE
    }

    fn ways(&self, target: &Target, since: Option<Instant>) -> Vec<Address> {
        let late = |heard: Instant| since.is_none_or(|since| heard >= since);
        let ways = self.heard.iter().filter(|(one, _, heard)| one == target && late(*heard));
        ways.map(|(_, address, _)| address.clone()).collect()
    }
}

/// A machine with its view, and a clock that only tests advance.
struct Device {
    dialing: Dialing,
    others: Others,
    now: Instant,
    start: Instant,
}

impl Device {
    fn new() -> Self {
        let now = Instant::now();
        Self { dialing: Dialing::default(), others: Others::default(), now, start: now }
    }

    fn handle(&mut self, event: DialingEvent) -> Vec<Effect> {
        let mut out = Vec::new();
        self.dialing.handle(self.now, event, &self.others, &mut out);
        out
    }

    fn want(&mut self, key: PlayerId, reason: Reason) -> Vec<Effect> {
        self.handle(DialingEvent::Wanted(Target::Friend(key), reason))
    }

    /// The friend is seen at this address, now.
    fn sight(&mut self, key: PlayerId, place: &str) {
        let target = Target::Friend(key);
        self.others.heard.retain(|(one, address, _)| *one != target || *address != at(place));
        self.others.heard.push((target, at(place), self.now));
    }

    fn time(&mut self) -> Vec<Effect> {
        self.handle(DialingEvent::Time)
    }

    /// Advances the time until something is dialed or nothing is due: the attempt, the address, and the elapsed
    /// milliseconds.
    fn until_dialed(&mut self) -> Option<(Attempt, String, u128)> {
        let from = self.now;
        for _ in 0..100 {
            for effect in self.time() {
                if let Effect::Dial { attempt, address, .. } = effect {
                    return Some((attempt, address.text, (self.now - from).as_millis()));
                }
            }
            self.now = self.dialing.due(self.now)?;
        }
        panic!("always due, and nothing comes of it");
    }

    /// The attempt fails with medium jitter; the friend is seen again at once.
    fn fail(&mut self, attempt: Attempt) {
        self.handle(DialingEvent::Ended { attempt, jitter: 0.5 });
        for (_, _, heard) in &mut self.others.heard {
            *heard = self.now;
        }
    }
}

fn told(state: ConnectState) -> Effect {
    Effect::Tell(Target::Friend(BEN), state)
}

#[test]
fn who_is_wanted_by_a_person_is_dialed_once_when_seen_and_the_person_sees_how_far_it_is() {
    let mut device = Device::new();
    assert_eq!(device.want(BEN, Reason::Person), [told(ConnectState::ConnectLooking)]);
    assert_eq!(device.time(), [], "not seen yet");
    assert_eq!(device.dialing.due(device.now), Some(device.start + PERSON_WAITS));
    device.sight(BEN, "b");
    let dial = Effect::Dial { attempt: Attempt(1), address: at("b"), target: Target::Friend(BEN) };
    assert_eq!(device.time(), [dial, told(ConnectState::ConnectDialing)]);
    assert_eq!(device.time(), [], "it is being dialed");
    assert_eq!(device.handle(DialingEvent::Greeting(Attempt(1))), [told(ConnectState::ConnectGreeting)]);
    assert_eq!(
        device.handle(DialingEvent::Reached(BEN)),
        [told(ConnectState::ConnectUp), Effect::HangUp(Attempt(1))],
        "unless that is the link that is up, which the host knows"
    );
    assert!(!device.dialing.is_looking());
    assert_eq!(device.dialing.due(device.now), None);
}

#[test]
fn who_cannot_be_had_is_given_up_in_time_and_only_a_person_hears_of_it() {
    let given_up = |in_vain| Effect::GivenUp { target: Target::Friend(BEN), in_vain };
    let mut device = Device::new();
    device.want(BEN, Reason::Person);
    device.now = device.start + PERSON_WAITS;
    assert_eq!(device.time(), [told(ConnectState::ConnectFailed), given_up(true)]);
    let mut device = Device::new();
    assert_eq!(device.want(BEN, Reason::Lost), []);
    device.now += second(299);
    assert_eq!(device.time(), []);
    device.now += second(1);
    assert_eq!(device.time(), [given_up(false)]);
    assert_eq!(device.dialing.due(device.now), None);
}

#[test]
fn the_next_try_waits_twice_as_long_up_to_five_seconds_and_never_longer() {
    let mut device = Device::new();
    device.want(BEN, Reason::Person);
    device.sight(BEN, "b");
    let mut waits = Vec::new();
    for _ in 0..7 {
        let (attempt, _, wait) = device.until_dialed().expect("the person still waits");
        waits.push(wait);
        device.fail(attempt);
    }
    assert_eq!(waits, [0, 600, 1_200, 2_400, 4_800, 5_000, 5_000]);
}

#[test]
fn a_wait_is_a_quarter_longer_or_shorter_by_lot() {
    for (jitter, wait) in [(0.0, 450), (0.5, 600), (1.0, 750)] {
        let mut device = Device::new();
        device.want(BEN, Reason::Person);
        device.sight(BEN, "b");
        let (attempt, ..) = device.until_dialed().expect("seen");
        device.handle(DialingEvent::Ended { attempt, jitter });
        assert_eq!(device.until_dialed().map(|(.., wait)| wait), Some(wait));
    }
}

#[test]
fn each_try_takes_the_next_of_the_places_where_somebody_is_heard() {
    let mut device = Device::new();
    device.want(BEN, Reason::Person);
    device.sight(BEN, "lan");
    device.sight(BEN, "air");
    let places: Vec<String> = (0..4)
        .map(|_| {
            let (attempt, place, _) = device.until_dialed().expect("seen");
            device.fail(attempt);
            place
        })
        .collect();
    assert_eq!(places, ["lan", "air", "lan", "air"]);
}

#[test]
fn of_two_that_look_for_each_other_the_lower_key_dials_at_once_and_the_higher_one_only_a_peer_that_does_not()
{
    for reason in [Reason::Lost, Reason::Started] {
        for (peer, wait) in [(BEN, 0), (ANNA, FALLBACK.as_millis())] {
            let mut device = Device::new();
            device.want(peer, reason);
            device.sight(peer, "p");
            assert_eq!(device.until_dialed().map(|(.., wait)| wait), Some(wait), "{reason:?}");
        }
    }
}

#[test]
fn after_a_try_that_hung_the_higher_key_leaves_the_next_one_to_the_other_side_even_if_a_person_waits() {
    for (peer, lasted, wait) in [(ANNA, 15, 5_600), (ANNA, 1, 600), (BEN, 15, 600)] {
        let mut device = Device::new();
        device.want(peer, Reason::Person);
        device.sight(peer, "p");
        let (attempt, ..) = device.until_dialed().expect("seen");
        device.now += second(lasted);
        device.fail(attempt);
        assert_eq!(device.until_dialed().map(|(.., wait)| wait), Some(wait));
    }
}

#[test]
fn a_person_who_asks_waits_for_no_rule_of_giving_way() {
    let mut device = Device::new();
    device.want(ANNA, Reason::Lost);
    device.sight(ANNA, "a");
    assert_eq!(device.time(), []);
    device.want(ANNA, Reason::Person);
    assert!(matches!(device.time()[..], [Effect::Dial { .. }, Effect::Tell(..)]));
}

#[test]
fn heard_before_it_was_lost_it_counts_as_gone_but_not_for_a_person() {
    let mut device = Device::new();
    device.sight(BEN, "b");
    device.now += second(1);
    device.want(BEN, Reason::Lost);
    assert_eq!(device.time(), []);
    device.sight(BEN, "b");
    assert!(matches!(device.time()[..], [Effect::Dial { .. }]));
    let mut device = Device::new();
    device.sight(BEN, "b");
    device.now += second(1);
    device.want(BEN, Reason::Person);
    assert!(matches!(device.time()[..], [Effect::Dial { .. }, Effect::Tell(..)]));
}

#[test]
fn who_says_goodbye_is_looked_for_only_by_a_person() {
    let mut device = Device::new();
    device.want(BEN, Reason::Lost);
    assert_eq!(
        device.handle(DialingEvent::Left(BEN)),
        [Effect::GivenUp { target: Target::Friend(BEN), in_vain: false }]
    );
    device.want(BEN, Reason::Person);
    assert_eq!(device.handle(DialingEvent::Left(BEN)), []);
    assert!(device.dialing.is_looking());
}

#[test]
fn who_broke_the_protocol_is_left_alone_for_half_a_minute_unless_a_person_asks() {
    for looked_for_before in [true, false] {
        let mut device = Device::new();
        if looked_for_before {
            device.want(BEN, Reason::Lost);
        }
        device.handle(DialingEvent::BrokeProtocol(BEN));
        device.want(BEN, Reason::Lost);
        device.sight(BEN, "b");
        assert_eq!(device.until_dialed().map(|(.., wait)| wait), Some(PENALTY.as_millis()));
    }
    let mut device = Device::new();
    device.want(BEN, Reason::Lost);
    device.sight(BEN, "b");
    device.handle(DialingEvent::BrokeProtocol(BEN));
    device.want(BEN, Reason::Person);
    assert_eq!(device.until_dialed().map(|(.., wait)| wait), Some(0));
}

#[test]
fn a_device_that_turns_out_to_be_a_friend_is_one_goal_and_the_person_goes_on_waiting() {
    for known in [false, true] {
        let mut device = Device::new();
        let place = Target::Address(at("b"));
        if known {
            device.want(BEN, Reason::Lost);
        }
        device.handle(DialingEvent::Wanted(place.clone(), Reason::Person));
        device.handle(DialingEvent::IsAt(at("b"), BEN));
        assert_eq!(device.handle(DialingEvent::Unwanted(place)), [], "nobody is wanted by the address");
        let expected = Effect::GivenUp { target: Target::Friend(BEN), in_vain: false };
        let over = device.handle(DialingEvent::Unwanted(Target::Friend(BEN)));
        assert_eq!(over, [told(ConnectState::ConnectFailed), expected], "known: {known}");
        assert!(!device.dialing.is_looking());
    }
}

#[test]
fn who_is_linked_is_not_dialed() {
    let mut device = Device::new();
    device.want(BEN, Reason::Lost);
    device.sight(BEN, "b");
    device.others.linked.insert(BEN);
    assert_eq!(device.time(), []);
    device.others.linked.clear();
    assert!(matches!(device.time()[..], [Effect::Dial { .. }]));
}

#[test]
fn who_is_blocked_or_cannot_be_written_down_is_not_dialed_even_if_a_person_waits_for_it() {
    let mut device = Device::new();
    device.want(BEN, Reason::Person);
    device.sight(BEN, "b");
    device.others.barred.insert(BEN);
    assert_eq!(device.until_dialed(), None);
    assert!(!device.dialing.is_looking(), "given up in the end");
}

#[test]
fn one_place_is_dialed_by_one_goal_at_a_time() {
    let mut device = Device::new();
    device.handle(DialingEvent::Wanted(Target::Address(at("p")), Reason::Person));
    device.others.heard.push((Target::Address(at("p")), at("p"), device.now));
    device.want(BEN, Reason::Person);
    device.sight(BEN, "p");
    let (first, ..) = device.until_dialed().expect("seen");
    assert_eq!(device.time(), []);
    device.handle(DialingEvent::Unwanted(Target::Address(at("p"))));
    let (second, ..) = device.until_dialed().expect("the place is free");
    assert_ne!(first, second);
}

#[test]
fn before_the_system_sleeps_everyone_is_given_up_and_every_try_is_ended() {
    let mut device = Device::new();
    for key in [ANNA, BEN] {
        device.want(key, Reason::Person);
        device.sight(key, &key.to_string());
    }
    device.time();
    let over = device.handle(DialingEvent::AllUnwanted);
    let hung_up = over.iter().filter(|effect| matches!(effect, Effect::HangUp(_))).count();
    let given_up = over.iter().filter(|effect| matches!(effect, Effect::GivenUp { .. })).count();
    assert_eq!((hung_up, given_up), (2, 2));
    assert!(!device.dialing.is_looking());
}

#[test]
fn news_of_a_try_that_is_over_changes_nothing() {
    let mut device = Device::new();
    device.want(BEN, Reason::Person);
    device.sight(BEN, "b");
    let (attempt, ..) = device.until_dialed().expect("seen");
    device.handle(DialingEvent::Unwanted(Target::Friend(BEN)));
    device.want(BEN, Reason::Person);
    let (again, ..) = device.until_dialed().expect("seen");
    assert_eq!(device.handle(DialingEvent::Ended { attempt, jitter: 0.5 }), []);
    assert_eq!(device.handle(DialingEvent::Greeting(attempt)), []);
    assert_eq!(device.handle(DialingEvent::Greeting(again)), [told(ConnectState::ConnectGreeting)]);
}

#[test]
fn a_try_that_meets_nobody_for_a_while_is_shown_as_looking() {
    let mut device = Device::new();
    device.want(BEN, Reason::Person);
    device.sight(BEN, "b");
    device.time();
    assert_eq!(device.dialing.due(device.now), Some(device.start + LOOKS_AFTER));
    device.now += LOOKS_AFTER;
    assert!(device.now - device.start < second(5), "what the person reads within five seconds");
    assert_eq!(device.time(), [told(ConnectState::ConnectLooking)]);
    assert_eq!(device.time(), []);
    // A stranger that is connected only needs time.
    let mut device = Device::new();
    device.want(BEN, Reason::Person);
    device.sight(BEN, "b");
    let (attempt, ..) = device.until_dialed().expect("seen");
    device.handle(DialingEvent::Greeting(attempt));
    device.now += LOOKS_AFTER;
    assert_eq!(device.time(), []);
}

fn here(is_found: bool, sought: impl IntoIterator<Item = PlayerId>) -> DialingEvent {
    DialingEvent::LocalState(LocalState { is_found, sought: sought.into_iter().collect() })
}

#[test]
fn a_device_that_cannot_be_found_links_to_its_friends_itself_and_no_longer_than_that() {
    let mut device = Device::new();
    assert_eq!(device.handle(here(false, [BEN])), []);
    assert!(!device.dialing.is_looking(), "every start is silent for a moment");
    device.now = device.dialing.due(device.now).expect("looks at it again");
    device.handle(here(false, [BEN]));
    assert!(device.dialing.is_looking());
    device.sight(BEN, "b");
    let (attempt, place, wait) = device.until_dialed().expect("seen");
    assert_eq!((&*place, wait), ("b", 0));
    // Its absence was longer than any goal lasts, and its user is still active.
    device.fail(attempt);
    for _ in 0..20 {
        device.now += second(60);
        device.handle(here(false, [BEN]));
        device.time();
    }
    assert!(device.dialing.is_looking());
    assert!(matches!(device.handle(here(true, [BEN]))[..], [Effect::HangUp(_)]), "and nobody is told of it");
    assert!(!device.dialing.is_looking());
    assert_eq!(device.dialing.due(device.now), None);
}

#[test]
fn of_the_friends_whom_nobody_has_asked_for_one_is_dialed_at_a_time_and_each_in_turn() {
    let all = [ANNA, BEN, PlayerId([3; 32])];
    let mut device = Device::new();
    device.handle(here(false, all));
    device.now += SILENT_FOR;
    device.handle(here(false, all));
    for key in all {
        device.sight(key, &key.0[0].to_string());
    }
    let mut places = Vec::new();
    for _ in 0..9 {
        let (attempt, place, _) = device.until_dialed().expect("seen");
        assert_eq!(device.time(), [], "one at a time");
        places.push(place);
        device.fail(attempt);
    }
    for round in places.chunks(3) {
        assert_eq!(round.iter().collect::<BTreeSet<_>>().len(), 3, "{places:?}");
    }
    // A link that the user asked for does not wait.
    device.until_dialed().expect("seen");
    device.want(PlayerId([4; 32]), Reason::Person);
    device.sight(PlayerId([4; 32]), "4");
    assert_eq!(device.until_dialed().map(|(_, place, wait)| (place, wait)), Some(("4".to_owned(), 0)));
}

#[test]
fn whom_nobody_has_asked_for_is_tried_twice_a_minute_in_the_end() {
    let mut device = Device::new();
    device.handle(here(false, [BEN]));
    device.now += SILENT_FOR;
    device.handle(here(false, [BEN]));
    device.sight(BEN, "b");
    let mut waits = Vec::new();
    for _ in 0..9 {
        let (attempt, _, wait) = device.until_dialed().expect("seen");
        waits.push(wait);
        device.fail(attempt);
    }
    assert_eq!(waits, [0, 600, 1_200, 2_400, 4_800, 9_600, 19_200, 30_000, 30_000]);
}

#[test]
fn a_device_that_cannot_be_found_gives_way_to_nobody() {
    for (is_found, wait) in [(true, FALLBACK.as_millis()), (false, 0)] {
        let mut device = Device::new();
        device.handle(here(is_found, []));
        device.now += SILENT_FOR;
        device.want(ANNA, Reason::Lost);
        device.sight(ANNA, "a");
        assert_eq!(device.until_dialed().map(|(.., wait)| wait), Some(wait));
    }
}

#[test]
fn who_was_looked_for_without_being_asked_for_and_is_lost_in_a_match_then_is_looked_for_as_that() {
    for reason in [Reason::Lost, Reason::Started, Reason::Person] {
        let mut device = Device::new();
        device.handle(here(false, [BEN]));
        device.now += SILENT_FOR;
        device.handle(here(false, [BEN]));
        device.want(BEN, reason);
        device.handle(here(true, []));
        assert!(device.dialing.is_looking(), "{reason:?}");
    }
}

#[test]
fn a_friend_is_sought_while_the_person_is_about() {
    let friend = Acquaintance { is_linked: false, plays: false, unfinished: false, lost_for: None };
    let away = About { looks_around: false, is_here: false };
    let here = About { is_here: true, ..away };
    let near = About { looks_around: true, is_here: true };
    let unfinished = Acquaintance { unfinished: true, ..friend };
    let lost = |seconds| Acquaintance { lost_for: Some(second(seconds)), ..friend };
    for (case, person, expected) in [
        (friend, away, false),
        (friend, here, false),
        (friend, near, true),
        (Acquaintance { is_linked: true, ..friend }, near, false),
        (Acquaintance { plays: true, ..friend }, near, false),
        (unfinished, away, false),
        (unfinished, here, true),
        (lost(59), away, true),
        (lost(60), here, false),
        (Acquaintance { plays: true, ..lost(1) }, here, false),
    ] {
        assert_eq!(is_sought(case, person), expected, "{case:?} {person:?}");
    }
}

/// One machine in a random environment; the invariants are checked after each event.
#[test]
fn whatever_happens_nobody_is_dialed_twice_and_every_goal_ends() {
    let mut random = engine::Rng::new(seed::begin("dialing", 1));
    for _ in 0..200 {
        let mut device = Device::new();
        let mut tries: BTreeMap<u64, Target> = BTreeMap::new();
        for _ in 0..300 {
            one_event(&mut device, &mut tries, &mut random);
        }
        // Without further input every goal ends.
        for _ in 0..1_000 {
            let Some(due) = device.dialing.due(device.now) else { break };
            assert!(due > device.now, "due at once, and for ever");
            device.now = due;
            check(&mut tries, &device.time());
        }
        assert!(!device.dialing.is_looking(), "a goal without an end");
    }
}

fn one_event(device: &mut Device, tries: &mut BTreeMap<u64, Target>, random: &mut engine::Rng) {
    let key = [ANNA, BEN, PlayerId([3; 32])][random.next_u64() as usize % 3];
    let place = format!("{}", key.0[0]);
    let target =
        if random.next_u64().is_multiple_of(3) { Target::Address(at(&place)) } else { Target::Friend(key) };
    let attempt = tries.keys().nth(random.next_u64() as usize % tries.len().max(1)).copied();
    let event = match random.next_u64() % 20 {
        0..3 => {
            let reason = [Reason::Person, Reason::Lost, Reason::Started][random.next_u64() as usize % 3];
            // Only the user can ask for an unknown device.
            let reason = if matches!(target, Target::Address(_)) { Reason::Person } else { reason };
            DialingEvent::Wanted(target, reason)
        }
        3 => {
            device.others.heard.push((target, at(&place), device.now));
            DialingEvent::Time
        }
        4 => {
            device.others.heard.clear();
            DialingEvent::Time
        }
        5 => {
            device.others.linked.insert(key);
            DialingEvent::Reached(key)
        }
        6 => {
            device.others.linked.remove(&key);
            DialingEvent::Wanted(Target::Friend(key), Reason::Lost)
        }
        7 => DialingEvent::IsAt(at(&place), key),
        8 => DialingEvent::Left(key),
        9 => DialingEvent::BrokeProtocol(key),
        10 => DialingEvent::Unwanted(target),
        11 | 12 => match attempt {
            Some(attempt) => {
                tries.remove(&attempt);
                let jitter = (random.next_u64() % 1_000) as f64 / 1_000.0;
                DialingEvent::Ended { attempt: Attempt(attempt), jitter }
            }
            None => DialingEvent::Time,
        },
        13 => {
            if !device.others.barred.remove(&key) {
                device.others.barred.insert(key);
            }
            DialingEvent::Time
        }
        15 => {
            let sought = [ANNA, BEN].into_iter().filter(|_| random.next_u64().is_multiple_of(2)).collect();
            DialingEvent::LocalState(LocalState { is_found: random.next_u64().is_multiple_of(3), sought })
        }
        14 => attempt.map_or(DialingEvent::Time, |attempt| DialingEvent::Greeting(Attempt(attempt))),
        _ => {
            device.now += Duration::from_millis(random.next_u64() % 3_000);
            DialingEvent::Time
        }
    };
    if let DialingEvent::IsAt(address, key) = &event {
        // The attempt at the address counts for the player now.
        for target in tries.values_mut().filter(|target| **target == Target::Address(address.clone())) {
            *target = Target::Friend(*key);
        }
    }
    let before = device.now;
    let effects = device.handle(event);
    for effect in &effects {
        if let Effect::Dial { target: Target::Friend(key), .. } = effect {
            assert!(!device.others.linked.contains(key), "dialed although a link is up");
            assert!(!device.others.barred.contains(key), "dialed although it is blocked");
        }
    }
    check(tries, &effects);
    if let Some(due) = device.dialing.due(device.now) {
        assert!(due - before <= RESUME_WINDOW, "due later than any goal lasts");
    }
    for goal in &device.dialing.goals {
        let wait = goal.ready.map_or(Duration::ZERO, |at| at.saturating_duration_since(device.now));
        assert!(wait <= LONGEST_BACKOFF.mul_f64(1.25) + FALLBACK, "waits longer than any rule says");
        let one_place = |other: &&Goal| match (&goal.dialing, &other.dialing) {
            (Some(here), Some(there)) => here.address == there.address,
            _ => false,
        };
        assert!(device.dialing.goals.iter().filter(one_place).count() < 2, "one place is dialed twice");
        let same = device.dialing.goals.iter().filter(|other| other.target == goal.target);
        assert_eq!(same.count(), 1, "two goals for one target");
    }
}

/// Tracks attempts: each has a new number, and no target has two at a time.
fn check(tries: &mut BTreeMap<u64, Target>, effects: &[Effect]) {
    for effect in effects {
        match effect {
            Effect::Dial { attempt, target, .. } => {
                assert!(!tries.values().any(|other| other == target), "dialed twice at once: {target:?}");
                assert!(tries.insert(attempt.0, target.clone()).is_none(), "a number given twice");
            }
            Effect::HangUp(attempt) => drop(tries.remove(&attempt.0)),
            Effect::Tell(..) | Effect::GivenUp { .. } => {}
        }
    }
}

// Two machines with a simulated radio.

/// An attempt waits this long for an advertisement of the peer, which sends none while it dials itself.
const GIVES_UP: Duration = Duration::from_secs(8);

/// Time to connect to an advertising device, and to finish the handshake.
const CONNECTS: Duration = Duration::from_millis(1_500);

/// Maximum delay until an advertisement is reported, in milliseconds.
const TOLD_WITHIN: u32 = 1_000;

const STEP: Duration = Duration::from_millis(50);

/// One of two devices that look for each other.
struct Machine {
    dialing: Dialing,
    key: PlayerId,
    /// Why it looks, and from when on. Before that, a starting host is absent, and a host that has lost its link has not
    /// noticed.
    reason: Reason,
    from: Instant,
    /// Phase of its advertisements, which are sent once per second.
    phase: Instant,
    /// Last time the peer was seen.
    heard: Option<Instant>,
    /// When a past advertisement of the peer will be reported.
    coming: Option<Instant>,
    /// The attempt in progress, and its start.
    trying: Option<(Attempt, Instant)>,
    tries: usize,
    /// Start of the present uninterrupted advertising.
    heard_since: Instant,
}

impl Standing for Machine {
    fn is_linked(&self, _key: PlayerId) -> bool {
        false
    }

    fn is_barred(&self, _key: PlayerId) -> bool {
        false
    }

    fn has_lower_key(&self, key: PlayerId) -> bool {
        key < self.key
    }

    fn ways(&self, _target: &Target, since: Option<Instant>) -> Vec<Address> {
        let late = |heard: Instant| since.is_none_or(|since| heard >= since);
        self.heard.filter(|heard| late(*heard)).map(|_| at("the other")).into_iter().collect()
    }
}

impl Machine {
    fn handle(&mut self, now: Instant, event: DialingEvent, out: &mut Vec<Effect>) {
        let mut dialing = std::mem::take(&mut self.dialing);
        dialing.handle(now, event, self, out);
        self.dialing = dialing;
    }
}

/// Simulates two devices that look for each other. As on a real controller, a dialing device neither advertises nor scans;
/// one advertisement in five is lost. Returns the time from the later start until the link is up, and the number of
/// attempts.
fn two_look(whys: [(Reason, Duration); 2], random: &mut engine::Rng) -> (Duration, usize) {
    let start = Instant::now();
    let mut number = 0;
    let mut two = whys.map(|(reason, after)| {
        number += 1;
        Machine {
            dialing: Dialing::default(),
            key: PlayerId([number; 32]),
            reason,
            from: start + after,
            phase: start + STEP * random.below(20),
            heard: None,
            coming: None,
            trying: None,
            tries: 0,
            heard_since: if reason == Reason::Started { start + after } else { start },
        }
    });
    let all_there = two.iter().map(|one| one.heard_since).max().unwrap_or(start);
    let mut now = start;
    while now < start + RESUME_WINDOW {
        for here in 0..2 {
            let other = &two[1 - here];
            let (key, quiet) = (other.key, other.trying.is_some() || now < other.heard_since);
            let advert = now >= other.phase && (now - other.phase).as_millis().is_multiple_of(1_000);
            let lag = at_most(random, TOLD_WITHIN);
            let missed = random.below(5) == 0;
            let one = &mut two[here];
            if advert && !quiet && !missed {
                one.coming = Some(now + lag);
            }
            let told = one.coming.filter(|at| *at <= now && now >= one.heard_since);
            if told.is_some() && one.trying.is_none() {
                (one.heard, one.coming) = (Some(now), None);
            }
            let mut out = Vec::new();
            if now == one.from {
                one.handle(now, DialingEvent::Wanted(Target::Friend(key), one.reason), &mut out);
            }
            if let Some((attempt, since)) = one.trying
                && now - since >= GIVES_UP
            {
                (one.trying, one.heard_since) = (None, now);
                let jitter = f64::from(random.below(1_000)) / 1_000.0;
                one.handle(now, DialingEvent::Ended { attempt, jitter }, &mut out);
            }
            one.handle(now, DialingEvent::Time, &mut out);
            for effect in out {
                if let Effect::Dial { attempt, .. } = effect {
                    one.trying = Some((attempt, now));
                    one.tries += 1;
                }
            }
        }
        for (one, other) in [(0, 1), (1, 0)] {
            let Some((_, since)) = two[one].trying else { continue };
            if two[other].trying.is_none() && now >= two[other].heard_since.max(since) + CONNECTS {
                let tries = two.iter().map(|one| one.tries).sum();
                return (now.saturating_duration_since(all_there), tries);
            }
        }
        now += STEP;
    }
    panic!("they never meet");
}

/// Runs 500 simulations: the 95th percentile and the maximum of the time in milliseconds, and the maximum number of
/// attempts.
fn many_look(mut begin: impl FnMut(&mut engine::Rng) -> [(Reason, Duration); 2]) -> (u128, u128, usize) {
    let mut random = engine::Rng::new(seed::begin("dialing", 1));
    let mut times = Vec::new();
    let mut most = 0;
    for _ in 0..500 {
        let whys = begin(&mut random);
        let (time, tries) = two_look(whys, &mut random);
        times.push(time.as_millis());
        most = most.max(tries);
    }
    times.sort_unstable();
    (times[475], times[499], most)
}

fn at_most(random: &mut engine::Rng, ms: u32) -> Duration {
    STEP * random.below(ms / STEP.as_millis() as u32)
}

#[test]
fn a_host_that_starts_again_and_the_peer_that_has_lost_it_do_not_dial_across_each_other() {
    for starts in [0, 1] {
        let (p95, ..) = many_look(|random| {
            let mut two = [(Reason::Lost, Duration::ZERO); 2];
            two[starts] = (Reason::Started, at_most(random, 4_000));
            two
        });
        assert!(p95 < 5_000, "key {starts}: {p95} ms");
    }
}

#[test]
fn whatever_two_look_for_each_other_for_they_neither_wait_nor_dial_across_each_other_for_ever() {
    let whys = [Reason::Person, Reason::Lost, Reason::Started];
    for one in whys {
        for other in whys {
            // It takes up to nine seconds to notice a lost link.
            let (_, longest, tries) =
                many_look(|random| [(one, at_most(random, 9_000)), (other, at_most(random, 9_000))]);
            let case = format!("{one:?} and {other:?}: {longest} ms, {tries} tries");
            // One round of looking more than a person waits: of 16 million runs, three took 48 s.
            let limit = PERSON_WAITS.as_millis() + 15_000;
            assert!(longest < limit && tries < 9, "{case}");
        }
    }
}
