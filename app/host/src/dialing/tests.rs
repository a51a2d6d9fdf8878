//! Tests of single decisions, and a model test: random events, with the invariants checked after each.

use std::collections::{BTreeMap, BTreeSet};

use link::CarrierKind;

use super::*;

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
struct Desk {
    dialing: Dialing,
    others: Others,
    now: Instant,
    start: Instant,
}

impl Desk {
    fn new() -> Self {
        let now = Instant::now();
        Self { dialing: Dialing::default(), others: Others::default(), now, start: now }
    }

    fn hear(&mut self, heard: Heard) -> Vec<Effect> {
        let mut out = Vec::new();
        self.dialing.handle(self.now, heard, &self.others, &mut out);
        out
    }

    fn want(&mut self, key: PlayerId, why: Why) -> Vec<Effect> {
        self.hear(Heard::Wanted(Target::Friend(key), why))
    }

    /// The friend is seen at this address, now.
    fn sight(&mut self, key: PlayerId, place: &str) {
        let target = Target::Friend(key);
        self.others.heard.retain(|(one, address, _)| *one != target || *address != at(place));
        self.others.heard.push((target, at(place), self.now));
    }

    fn time(&mut self) -> Vec<Effect> {
        self.hear(Heard::Time)
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
        self.hear(Heard::Ended { attempt, jitter: 0.5 });
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
    let mut desk = Desk::new();
    assert_eq!(desk.want(BEN, Why::Person), [told(ConnectState::ConnectLooking)]);
    assert_eq!(desk.time(), [], "not seen yet");
    assert_eq!(desk.dialing.due(desk.now), Some(desk.start + PERSON_WAITS));
    desk.sight(BEN, "b");
    let dial = Effect::Dial { attempt: Attempt(1), address: at("b"), target: Target::Friend(BEN) };
    assert_eq!(desk.time(), [dial, told(ConnectState::ConnectDialing)]);
    assert_eq!(desk.time(), [], "it is being dialed");
    assert_eq!(desk.hear(Heard::Greeting(Attempt(1))), [told(ConnectState::ConnectGreeting)]);
    assert_eq!(
        desk.hear(Heard::Reached(BEN)),
        [told(ConnectState::ConnectUp), Effect::HangUp(Attempt(1))],
        "unless that is the link that is up, which the host knows"
    );
    assert!(!desk.dialing.is_looking());
    assert_eq!(desk.dialing.due(desk.now), None);
}

#[test]
fn who_cannot_be_had_is_given_up_in_time_and_only_a_person_hears_of_it() {
    let given_up = |in_vain| Effect::GivenUp { target: Target::Friend(BEN), in_vain };
    let mut desk = Desk::new();
    desk.want(BEN, Why::Person);
    desk.now = desk.start + PERSON_WAITS;
    assert_eq!(desk.time(), [told(ConnectState::ConnectFailed), given_up(true)]);
    let mut desk = Desk::new();
    assert_eq!(desk.want(BEN, Why::Lost), []);
    desk.now += second(299);
    assert_eq!(desk.time(), []);
    desk.now += second(1);
    assert_eq!(desk.time(), [given_up(false)]);
    assert_eq!(desk.dialing.due(desk.now), None);
}

#[test]
fn the_next_try_waits_twice_as_long_up_to_five_seconds_and_never_longer() {
    let mut desk = Desk::new();
    desk.want(BEN, Why::Person);
    desk.sight(BEN, "b");
    let mut waits = Vec::new();
    for _ in 0..7 {
        let (attempt, _, wait) = desk.until_dialed().expect("the person still waits");
        waits.push(wait);
        desk.fail(attempt);
    }
    assert_eq!(waits, [0, 600, 1_200, 2_400, 4_800, 5_000, 5_000]);
}

#[test]
fn a_wait_is_a_quarter_longer_or_shorter_by_lot() {
    for (jitter, wait) in [(0.0, 450), (0.5, 600), (1.0, 750)] {
        let mut desk = Desk::new();
        desk.want(BEN, Why::Person);
        desk.sight(BEN, "b");
        let (attempt, ..) = desk.until_dialed().expect("seen");
        desk.hear(Heard::Ended { attempt, jitter });
        assert_eq!(desk.until_dialed().map(|(.., wait)| wait), Some(wait));
    }
}

#[test]
fn each_try_takes_the_next_of_the_places_where_somebody_is_heard() {
    let mut desk = Desk::new();
    desk.want(BEN, Why::Person);
    desk.sight(BEN, "lan");
    desk.sight(BEN, "air");
    let places: Vec<String> = (0..4)
        .map(|_| {
            let (attempt, place, _) = desk.until_dialed().expect("seen");
            desk.fail(attempt);
            place
        })
        .collect();
    assert_eq!(places, ["lan", "air", "lan", "air"]);
}

#[test]
fn of_two_that_look_for_each_other_the_lower_key_dials_at_once_and_the_higher_one_only_a_peer_that_does_not()
{
    for why in [Why::Lost, Why::Started] {
        for (peer, wait) in [(BEN, 0), (ANNA, FALLBACK.as_millis())] {
            let mut desk = Desk::new();
            desk.want(peer, why);
            desk.sight(peer, "p");
            assert_eq!(desk.until_dialed().map(|(.., wait)| wait), Some(wait), "{why:?}");
        }
    }
}

#[test]
fn after_a_try_that_hung_the_higher_key_leaves_the_next_one_to_the_other_side_even_if_a_person_waits() {
    for (peer, lasted, wait) in [(ANNA, 15, 5_600), (ANNA, 1, 600), (BEN, 15, 600)] {
        let mut desk = Desk::new();
        desk.want(peer, Why::Person);
        desk.sight(peer, "p");
        let (attempt, ..) = desk.until_dialed().expect("seen");
        desk.now += second(lasted);
        desk.fail(attempt);
        assert_eq!(desk.until_dialed().map(|(.., wait)| wait), Some(wait));
    }
}

#[test]
fn a_person_who_asks_waits_for_no_rule_of_giving_way() {
    let mut desk = Desk::new();
    desk.want(ANNA, Why::Lost);
    desk.sight(ANNA, "a");
    assert_eq!(desk.time(), []);
    desk.want(ANNA, Why::Person);
    assert!(matches!(desk.time()[..], [Effect::Dial { .. }, Effect::Tell(..)]));
}

#[test]
fn heard_before_it_was_lost_it_counts_as_gone_but_not_for_a_person() {
    let mut desk = Desk::new();
    desk.sight(BEN, "b");
    desk.now += second(1);
    desk.want(BEN, Why::Lost);
    assert_eq!(desk.time(), []);
    desk.sight(BEN, "b");
    assert!(matches!(desk.time()[..], [Effect::Dial { .. }]));
    let mut desk = Desk::new();
    desk.sight(BEN, "b");
    desk.now += second(1);
    desk.want(BEN, Why::Person);
    assert!(matches!(desk.time()[..], [Effect::Dial { .. }, Effect::Tell(..)]));
}

#[test]
fn who_says_goodbye_is_looked_for_only_by_a_person() {
    let mut desk = Desk::new();
    desk.want(BEN, Why::Lost);
    assert_eq!(
        desk.hear(Heard::Left(BEN)),
        [Effect::GivenUp { target: Target::Friend(BEN), in_vain: false }]
    );
    desk.want(BEN, Why::Person);
    assert_eq!(desk.hear(Heard::Left(BEN)), []);
    assert!(desk.dialing.is_looking());
}

#[test]
fn who_broke_the_protocol_is_left_alone_for_half_a_minute_unless_a_person_asks() {
    for looked_for_before in [true, false] {
        let mut desk = Desk::new();
        if looked_for_before {
            desk.want(BEN, Why::Lost);
        }
        desk.hear(Heard::BrokeProtocol(BEN));
        desk.want(BEN, Why::Lost);
        desk.sight(BEN, "b");
        assert_eq!(desk.until_dialed().map(|(.., wait)| wait), Some(PENALTY.as_millis()));
    }
    let mut desk = Desk::new();
    desk.want(BEN, Why::Lost);
    desk.sight(BEN, "b");
    desk.hear(Heard::BrokeProtocol(BEN));
    desk.want(BEN, Why::Person);
    assert_eq!(desk.until_dialed().map(|(.., wait)| wait), Some(0));
}

#[test]
fn a_device_that_turns_out_to_be_a_friend_is_one_goal_and_the_person_goes_on_waiting() {
    for known in [false, true] {
        let mut desk = Desk::new();
        let place = Target::Address(at("b"));
        if known {
            desk.want(BEN, Why::Lost);
        }
        desk.hear(Heard::Wanted(place.clone(), Why::Person));
        desk.hear(Heard::IsAt(at("b"), BEN));
        assert_eq!(desk.hear(Heard::Unwanted(place)), [], "nobody is wanted by the address");
        let expected = Effect::GivenUp { target: Target::Friend(BEN), in_vain: false };
        let over = desk.hear(Heard::Unwanted(Target::Friend(BEN)));
        assert_eq!(over, [told(ConnectState::ConnectFailed), expected], "known: {known}");
        assert!(!desk.dialing.is_looking());
    }
}

#[test]
fn who_is_linked_is_not_dialed() {
    let mut desk = Desk::new();
    desk.want(BEN, Why::Lost);
    desk.sight(BEN, "b");
    desk.others.linked.insert(BEN);
    assert_eq!(desk.time(), []);
    desk.others.linked.clear();
    assert!(matches!(desk.time()[..], [Effect::Dial { .. }]));
}

#[test]
fn who_is_blocked_or_cannot_be_written_down_is_not_dialed_even_if_a_person_waits_for_it() {
    let mut desk = Desk::new();
    desk.want(BEN, Why::Person);
    desk.sight(BEN, "b");
    desk.others.barred.insert(BEN);
    assert_eq!(desk.until_dialed(), None);
    assert!(!desk.dialing.is_looking(), "given up in the end");
}

#[test]
fn one_place_is_dialed_by_one_goal_at_a_time() {
    let mut desk = Desk::new();
    desk.hear(Heard::Wanted(Target::Address(at("p")), Why::Person));
    desk.others.heard.push((Target::Address(at("p")), at("p"), desk.now));
    desk.want(BEN, Why::Person);
    desk.sight(BEN, "p");
    let (first, ..) = desk.until_dialed().expect("seen");
    assert_eq!(desk.time(), []);
    desk.hear(Heard::Unwanted(Target::Address(at("p"))));
    let (second, ..) = desk.until_dialed().expect("the place is free");
    assert_ne!(first, second);
}

#[test]
fn before_the_system_sleeps_everyone_is_given_up_and_every_try_is_ended() {
    let mut desk = Desk::new();
    for key in [ANNA, BEN] {
        desk.want(key, Why::Person);
        desk.sight(key, &key.to_string());
    }
    desk.time();
    let over = desk.hear(Heard::AllUnwanted);
    let hung_up = over.iter().filter(|effect| matches!(effect, Effect::HangUp(_))).count();
    let given_up = over.iter().filter(|effect| matches!(effect, Effect::GivenUp { .. })).count();
    assert_eq!((hung_up, given_up), (2, 2));
    assert!(!desk.dialing.is_looking());
}

#[test]
fn news_of_a_try_that_is_over_changes_nothing() {
    let mut desk = Desk::new();
    desk.want(BEN, Why::Person);
    desk.sight(BEN, "b");
    let (attempt, ..) = desk.until_dialed().expect("seen");
    desk.hear(Heard::Unwanted(Target::Friend(BEN)));
    desk.want(BEN, Why::Person);
    let (again, ..) = desk.until_dialed().expect("seen");
    assert_eq!(desk.hear(Heard::Ended { attempt, jitter: 0.5 }), []);
    assert_eq!(desk.hear(Heard::Greeting(attempt)), []);
    assert_eq!(desk.hear(Heard::Greeting(again)), [told(ConnectState::ConnectGreeting)]);
}

#[test]
fn a_try_that_meets_nobody_for_a_while_is_shown_as_looking() {
    let mut desk = Desk::new();
    desk.want(BEN, Why::Person);
    desk.sight(BEN, "b");
    desk.time();
    assert_eq!(desk.dialing.due(desk.now), Some(desk.start + LOOKS_AFTER));
    desk.now += LOOKS_AFTER;
    assert!(desk.now - desk.start < second(5), "what the person reads within five seconds");
    assert_eq!(desk.time(), [told(ConnectState::ConnectLooking)]);
    assert_eq!(desk.time(), []);
    // A stranger that is connected only needs time.
    let mut desk = Desk::new();
    desk.want(BEN, Why::Person);
    desk.sight(BEN, "b");
    let (attempt, ..) = desk.until_dialed().expect("seen");
    desk.hear(Heard::Greeting(attempt));
    desk.now += LOOKS_AFTER;
    assert_eq!(desk.time(), []);
}

fn here(is_found: bool, sought: impl IntoIterator<Item = PlayerId>) -> Heard {
    Heard::Here(Here { is_found, sought: sought.into_iter().collect() })
}

#[test]
fn a_device_that_cannot_be_found_links_to_its_friends_itself_and_no_longer_than_that() {
    let mut desk = Desk::new();
    assert_eq!(desk.hear(here(false, [BEN])), []);
    assert!(!desk.dialing.is_looking(), "every start is silent for a moment");
    desk.now = desk.dialing.due(desk.now).expect("looks at it again");
    desk.hear(here(false, [BEN]));
    assert!(desk.dialing.is_looking());
    desk.sight(BEN, "b");
    let (attempt, place, wait) = desk.until_dialed().expect("seen");
    assert_eq!((&*place, wait), ("b", 0));
    // Its absence was longer than any goal lasts, and its user is still active.
    desk.fail(attempt);
    for _ in 0..20 {
        desk.now += second(60);
        desk.hear(here(false, [BEN]));
        desk.time();
    }
    assert!(desk.dialing.is_looking());
    assert!(matches!(desk.hear(here(true, [BEN]))[..], [Effect::HangUp(_)]), "and nobody is told of it");
    assert!(!desk.dialing.is_looking());
    assert_eq!(desk.dialing.due(desk.now), None);
}

#[test]
fn of_the_friends_whom_nobody_has_asked_for_one_is_dialed_at_a_time_and_each_in_turn() {
    let all = [ANNA, BEN, PlayerId([3; 32])];
    let mut desk = Desk::new();
    desk.hear(here(false, all));
    desk.now += SILENT_FOR;
    desk.hear(here(false, all));
    for key in all {
        desk.sight(key, &key.0[0].to_string());
    }
    let mut places = Vec::new();
    for _ in 0..9 {
        let (attempt, place, _) = desk.until_dialed().expect("seen");
        assert_eq!(desk.time(), [], "one at a time");
        places.push(place);
        desk.fail(attempt);
    }
    for round in places.chunks(3) {
        assert_eq!(round.iter().collect::<BTreeSet<_>>().len(), 3, "{places:?}");
    }
    // A link that the user asked for does not wait.
    desk.until_dialed().expect("seen");
    desk.want(PlayerId([4; 32]), Why::Person);
    desk.sight(PlayerId([4; 32]), "4");
    assert_eq!(desk.until_dialed().map(|(_, place, wait)| (place, wait)), Some(("4".to_owned(), 0)));
}

#[test]
fn whom_nobody_has_asked_for_is_tried_twice_a_minute_in_the_end() {
    let mut desk = Desk::new();
    desk.hear(here(false, [BEN]));
    desk.now += SILENT_FOR;
    desk.hear(here(false, [BEN]));
    desk.sight(BEN, "b");
    let mut waits = Vec::new();
    for _ in 0..9 {
        let (attempt, _, wait) = desk.until_dialed().expect("seen");
        waits.push(wait);
        desk.fail(attempt);
    }
    assert_eq!(waits, [0, 600, 1_200, 2_400, 4_800, 9_600, 19_200, 30_000, 30_000]);
}

#[test]
fn a_device_that_cannot_be_found_gives_way_to_nobody() {
    for (is_found, wait) in [(true, FALLBACK.as_millis()), (false, 0)] {
        let mut desk = Desk::new();
        desk.hear(here(is_found, []));
        desk.now += SILENT_FOR;
        desk.want(ANNA, Why::Lost);
        desk.sight(ANNA, "a");
        assert_eq!(desk.until_dialed().map(|(.., wait)| wait), Some(wait));
    }
}

#[test]
fn who_was_looked_for_without_being_asked_for_and_is_lost_in_a_match_then_is_looked_for_as_that() {
    for why in [Why::Lost, Why::Started, Why::Person] {
        let mut desk = Desk::new();
        desk.hear(here(false, [BEN]));
        desk.now += SILENT_FOR;
        desk.hear(here(false, [BEN]));
        desk.want(BEN, why);
        desk.hear(here(true, []));
        assert!(desk.dialing.is_looking(), "{why:?}");
    }
}

#[test]
fn a_friend_is_sought_while_the_person_is_about() {
    let friend =
        Acquaintance { is_linked: false, plays: false, unfinished: false, has_room: false, lost_for: None };
    let away = About { looks_around: false, is_here: false };
    let here = About { is_here: true, ..away };
    let near = About { looks_around: true, is_here: true };
    let unfinished = Acquaintance { unfinished: true, has_room: true, ..friend };
    let lost = |seconds| Acquaintance { has_room: true, lost_for: Some(second(seconds)), ..friend };
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
        (Acquaintance { has_room: false, ..lost(1) }, here, false),
    ] {
        assert_eq!(is_sought(case, person), expected, "{case:?} {person:?}");
    }
}

/// The seed is printed; `QIYOU_DIALING_SEED=17 cargo test -p host dialing` repeats a run.
fn seed() -> u64 {
    let given = std::env::var("QIYOU_DIALING_SEED").ok();
    let seed = given.map_or_else(
        || {
            let mut bytes = [0; 8];
            getrandom::fill(&mut bytes).expect("the system has randomness");
            u64::from_le_bytes(bytes)
        },
        |text| text.parse().expect("a number"),
    );
    println!("QIYOU_DIALING_SEED={seed}");
    seed
}

/// One machine in a random environment; the invariants are checked after each event.
#[test]
fn whatever_happens_nobody_is_dialed_twice_and_every_goal_ends() {
    let mut random = engine::Rng::new(seed());
    for _ in 0..200 {
        let mut desk = Desk::new();
        let mut tries: BTreeMap<u64, Target> = BTreeMap::new();
        for _ in 0..300 {
            one_event(&mut desk, &mut tries, &mut random);
        }
        // Without further input every goal ends.
        for _ in 0..1_000 {
            let Some(due) = desk.dialing.due(desk.now) else { break };
            assert!(due > desk.now, "due at once, and for ever");
            desk.now = due;
            check(&mut tries, &desk.time());
        }
        assert!(!desk.dialing.is_looking(), "a goal without an end");
    }
}

fn one_event(desk: &mut Desk, tries: &mut BTreeMap<u64, Target>, random: &mut engine::Rng) {
    let key = [ANNA, BEN, PlayerId([3; 32])][random.next_u64() as usize % 3];
    let place = format!("{}", key.0[0]);
    let target =
        if random.next_u64().is_multiple_of(3) { Target::Address(at(&place)) } else { Target::Friend(key) };
    let attempt = tries.keys().nth(random.next_u64() as usize % tries.len().max(1)).copied();
    let heard = match random.next_u64() % 20 {
        0..3 => {
            let why = [Why::Person, Why::Lost, Why::Started][random.next_u64() as usize % 3];
            // Only the user can ask for an unknown device.
            let why = if matches!(target, Target::Address(_)) { Why::Person } else { why };
            Heard::Wanted(target, why)
        }
        3 => {
            desk.others.heard.push((target, at(&place), desk.now));
            Heard::Time
        }
        4 => {
            desk.others.heard.clear();
            Heard::Time
        }
        5 => {
            desk.others.linked.insert(key);
            Heard::Reached(key)
        }
        6 => {
            desk.others.linked.remove(&key);
            Heard::Wanted(Target::Friend(key), Why::Lost)
        }
        7 => Heard::IsAt(at(&place), key),
        8 => Heard::Left(key),
        9 => Heard::BrokeProtocol(key),
        10 => Heard::Unwanted(target),
        11 | 12 => match attempt {
            Some(attempt) => {
                tries.remove(&attempt);
                let jitter = (random.next_u64() % 1_000) as f64 / 1_000.0;
                Heard::Ended { attempt: Attempt(attempt), jitter }
            }
            None => Heard::Time,
        },
        13 => {
            if !desk.others.barred.remove(&key) {
                desk.others.barred.insert(key);
            }
            Heard::Time
        }
        15 => {
            let sought = [ANNA, BEN].into_iter().filter(|_| random.next_u64().is_multiple_of(2)).collect();
            Heard::Here(Here { is_found: random.next_u64().is_multiple_of(3), sought })
        }
        14 => attempt.map_or(Heard::Time, |attempt| Heard::Greeting(Attempt(attempt))),
        _ => {
            desk.now += Duration::from_millis(random.next_u64() % 3_000);
            Heard::Time
        }
    };
    if let Heard::IsAt(address, key) = &heard {
        // The attempt at the address counts for the player now.
        for target in tries.values_mut().filter(|target| **target == Target::Address(address.clone())) {
            *target = Target::Friend(*key);
        }
    }
    let before = desk.now;
    let effects = desk.hear(heard);
    for effect in &effects {
        if let Effect::Dial { target: Target::Friend(key), .. } = effect {
            assert!(!desk.others.linked.contains(key), "dialed although a link is up");
            assert!(!desk.others.barred.contains(key), "dialed although it is blocked");
        }
    }
    check(tries, &effects);
    if let Some(due) = desk.dialing.due(desk.now) {
        assert!(due - before <= RESUME_WINDOW, "due later than any goal lasts");
    }
    for goal in &desk.dialing.goals {
        let wait = goal.ready.map_or(Duration::ZERO, |at| at.saturating_duration_since(desk.now));
        assert!(wait <= LONGEST_BACKOFF.mul_f64(1.25) + FALLBACK, "waits longer than any rule says");
        let one_place = |other: &&Goal| match (&goal.dialing, &other.dialing) {
            (Some(here), Some(there)) => here.address == there.address,
            _ => false,
        };
        assert!(desk.dialing.goals.iter().filter(one_place).count() < 2, "one place is dialed twice");
        let same = desk.dialing.goals.iter().filter(|other| other.target == goal.target);
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
    why: Why,
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
    fn hear(&mut self, now: Instant, heard: Heard, out: &mut Vec<Effect>) {
        let mut dialing = std::mem::take(&mut self.dialing);
        dialing.handle(now, heard, self, out);
        self.dialing = dialing;
    }
}

/// Simulates two devices that look for each other. As on a real controller, a dialing device neither advertises nor scans;
/// one advertisement in five is lost. Returns the time from the later start until the link is up, and the number of
/// attempts.
fn two_look(whys: [(Why, Duration); 2], random: &mut engine::Rng) -> (Duration, usize) {
    let start = Instant::now();
    let mut number = 0;
    let mut two = whys.map(|(why, after)| {
        number += 1;
        Machine {
            dialing: Dialing::default(),
            key: PlayerId([number; 32]),
            why,
            from: start + after,
            phase: start + STEP * random.below(20),
            heard: None,
            coming: None,
            trying: None,
            tries: 0,
            heard_since: if why == Why::Started { start + after } else { start },
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
                one.hear(now, Heard::Wanted(Target::Friend(key), one.why), &mut out);
            }
            if let Some((attempt, since)) = one.trying
                && now - since >= GIVES_UP
            {
                (one.trying, one.heard_since) = (None, now);
                let jitter = f64::from(random.below(1_000)) / 1_000.0;
                one.hear(now, Heard::Ended { attempt, jitter }, &mut out);
            }
            one.hear(now, Heard::Time, &mut out);
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
fn many_look(mut begin: impl FnMut(&mut engine::Rng) -> [(Why, Duration); 2]) -> (u128, u128, usize) {
    let mut random = engine::Rng::new(seed());
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
            let mut two = [(Why::Lost, Duration::ZERO); 2];
            two[starts] = (Why::Started, at_most(random, 4_000));
            two
        });
        assert!(p95 < 5_000, "key {starts}: {p95} ms");
    }
}

#[test]
fn whatever_two_look_for_each_other_for_they_neither_wait_nor_dial_across_each_other_for_ever() {
    let whys = [Why::Person, Why::Lost, Why::Started];
    for one in whys {
        for other in whys {
            // It takes up to nine seconds to notice a lost link.
            let (_, longest, tries) =
                many_look(|random| [(one, at_most(random, 9_000)), (other, at_most(random, 9_000))]);
            let case = format!("{one:?} and {other:?}: {longest} ms, {tries} tries");
            assert!(longest < PERSON_WAITS.as_millis() && tries < 9, "{case}");
        }
    }
}
