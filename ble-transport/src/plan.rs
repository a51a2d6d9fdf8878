//! Decides what the radio should do now: pure functions without effects.
//!
//! [`plan`] maps the state of the system and the wants to a [`Plan`]. [`Turns`] alternates on an adapter that cannot advertise
//! and scan at once. [`Ability`] is what the adapter can do, by its claims and by trials.

use std::time::{Duration, Instant};

use link::CarrierState;

/// The state of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct World {
    /// bluetoothd is on the bus.
    pub(crate) service: bool,
    /// D-Bus lets this user talk to bluetoothd.
    pub(crate) permitted: bool,
    /// The adapter to use, if present.
    pub(crate) adapter: Option<Power>,
    /// A Bluetooth switch of rfkill is off.
    pub(crate) blocked: bool,
    /// What the adapter can do.
    pub(crate) ability: Ability,
    /// The system is about to sleep.
    pub(crate) asleep: bool,
}

/// Whether an adapter is switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Power {
    /// Switched on.
    On,
    /// Switched off, by the user or the desktop.
    Off,
}

/// What an adapter can do at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ability {
    /// Advertise and scan at once.
    Both,
    /// Advertise, and scan, but not at once.
    InTurns,
    /// Scan and connect; it has no advertising at all.
    ScanOnly,
}

/// What this program wants of the radio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wants {
    /// A listener has a card to advertise.
    pub(crate) listening: bool,
    /// Number of users of discovery.
    pub(crate) scanning: u32,
    /// Number of connection attempts.
    pub(crate) connecting: u32,
    /// Connection attempts that have found their peer and wait for BlueZ to connect.
    pub(crate) dialing: u32,
    /// Number of links that are up.
    pub(crate) links: u32,
}

/// The wanted state of the radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The state that the user sees.
    pub(crate) state: CarrierState,
    /// The GATT service is offered.
    pub(crate) serve: bool,
    /// The card is advertised.
    pub(crate) advertise: bool,
    /// Discovery runs.
    pub(crate) scan: bool,
    /// Advertising and scanning are both wanted but exclude each other: [`Turns`] decides.
    pub(crate) contended: bool,
}

/// Makes the plan. `turn` counts only when advertising and scanning exclude each other.
pub(crate) fn plan(world: World, wants: Wants, turn: Turn) -> Plan {
    let quiet = |state| Plan { state, serve: false, advertise: false, scan: false, contended: false };
    if !world.permitted {
        return quiet(CarrierState::NoPermission);
    }
    if !world.service {
        return quiet(CarrierState::NoService);
    }
    match world.adapter {
        // Some rfkill switches remove the whole adapter from its bus.
        None if world.blocked => return quiet(CarrierState::Blocked),
        None => return quiet(CarrierState::NoAdapter),
        Some(Power::Off) if world.blocked => return quiet(CarrierState::Blocked),
        Some(Power::Off) => return quiet(CarrierState::Off),
        Some(Power::On) => {}
    }
    let state = match world.ability {
        Ability::Both => CarrierState::Ready,
        Ability::InTurns => CarrierState::TakingTurns,
        Ability::ScanOnly => CarrierState::NoAdvertising,
    };
    // A link has the radio to itself: advertising beside a link costs the link air time, is refused by many controllers, and
    // invites a second central, which would receive the notifications too.
    let free = wants.links == 0 && !world.asleep;
    // While advertising, controllers that cannot do both drop a new link or answer a connect with InProgress.
    let advert_possible = match world.ability {
        Ability::Both => true,
        Ability::InTurns => wants.connecting == 0,
        Ability::ScanOnly => false,
    };
    let wants_advert = wants.listening && free && advert_possible;
    // Discovery runs until BlueZ has accepted the connect: once discovery stops, BlueZ forgets devices with random addresses
    // ("doesn't exist"). Then discovery must stop: the kernel connects on the peer's next advertisement, which a controller that
    // filters duplicates does not report again before BlueZ restarts its discovery, 10 s later.
    let wants_scan = (wants.scanning > 0 || wants.connecting > 0) && wants.dialing == 0 && free;
    let contended = wants_advert && wants_scan && world.ability == Ability::InTurns;
    let (advertise, scan) =
        if contended { (turn == Turn::Advertise, turn == Turn::Scan) } else { (wants_advert, wants_scan) };
    Plan { state, serve: wants.listening, advertise, scan, contended }
}

/// On some controllers (BCM43455) advertising stays off after a scan, a disconnect or a resume while BlueZ reports it as on:
/// registered again this often while visible.
const RENEW_ADVERT: Duration = Duration::from_mins(1);
/// A kernel that rotates advertising instances (on every controller without extended advertising) counts a new instance's turn as
/// running for 2 s. An instance registered while a central is connected, or connects and leaves, is then kept and not sent, or
/// sent as non-connectable, for good, and BlueZ reports it as on. One and a half turns.
const TURN_IS_OVER: Duration = Duration::from_secs(3);

/// When an advertisement registered at `since` is to be registered again. `left`: when a central last disconnected.
pub(crate) fn renewal(since: Instant, left: Option<Instant>) -> Instant {
    match left {
        Some(left) if since < left + TURN_IS_OVER => since.max(left) + TURN_IS_OVER,
        _ => since + RENEW_ADVERT,
    }
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Being found.
    Advertise,
    /// Finding.
    Scan,
}

/// Shortest and longest turn. Each length is random: two devices with equal fixed turns could advertise and scan in step for ever
/// and never meet. The shortest holds several advertisements of 100 ms and BlueZ's start of a scan.
const SHORTEST_TURN: Duration = Duration::from_millis(700);
const LONGEST_TURN: Duration = Duration::from_millis(2500);

/// Alternates between advertising and scanning.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    turn: Turn,
    until: Option<Instant>,
    seed: u64,
}

impl Turns {
    /// Two devices should have different seeds.
    pub(crate) fn new(seed: u64) -> Turns {
        let turn = if seed & 1 == 0 { Turn::Advertise } else { Turn::Scan };
        Turns { turn, until: None, seed }
    }

    /// The present turn and its end, while `contended`.
    pub(crate) fn at(&mut self, now: Instant, contended: bool) -> (Turn, Option<Instant>) {
        if !contended {
            self.until = None;
            return (self.turn, None);
        }
        if let Some(until) = self.until
            && now >= until
        {
            self.turn = match self.turn {
                Turn::Advertise => Turn::Scan,
                Turn::Scan => Turn::Advertise,
            };
            self.until = None;
        }
        let until = match self.until {
            Some(until) => until,
            None => now + self.draw(),
        };
        self.until = Some(until);
        (self.turn, Some(until))
    }

    fn draw(&mut self) -> Duration {
        // Knuth's MMIX generator; its high bits are random enough to break the step.
        self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let span = LONGEST_TURN.saturating_sub(SHORTEST_TURN).as_millis() as u64;
        SHORTEST_TURN + Duration::from_millis((self.seed >> 33) % span)
    }
}

/// The result of starting advertising or scanning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trial {
    /// Which of the two was started.
    pub(crate) started: Turn,
    /// Whether the other one was running.
    pub(crate) other_ran: bool,
    /// Whether BlueZ accepted.
    pub(crate) worked: bool,
}

/// How often starting the second beside the first must fail before the adapter takes turns. One failure may be chance: BlueZ
/// answers InProgress while it still cleans up.
const FAILURES_THAT_COUNT: u32 = 3;

/// Learns an adapter's [`Ability`] from its claims and from trials.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SelfTest {
    claimed: Ability,
    failures_together: u32,
    adverts_failed_alone: u32,
    both_worked: bool,
}

impl SelfTest {
    /// From the adapter's `Roles` and its number of advertising instances, active and free; `None` where BlueZ is too old to
    /// report them.
    pub(crate) fn new(roles: Option<&[String]>, instances: Option<u8>) -> SelfTest {
        let has = |role: &str| roles.is_none_or(|roles| roles.iter().any(|known| known == role));
        // The role "central-peripheral" is ignored: it stands for an experimental kernel switch that is off by default, and
        // adapters without it advertise and scan at once well. Trials show what works.
        let claimed =
            if instances == Some(0) || !has("peripheral") { Ability::ScanOnly } else { Ability::Both };
        SelfTest { claimed, failures_together: 0, adverts_failed_alone: 0, both_worked: false }
    }

    /// Takes a result into account.
    pub(crate) fn learn(&mut self, trial: Trial) {
        let count = match (trial.other_ran, trial.started) {
            (true, _) => &mut self.failures_together,
            (false, Turn::Advertise) => &mut self.adverts_failed_alone,
            (false, Turn::Scan) => return,
        };
        *count = if trial.worked { 0 } else { *count + 1 };
        if trial.other_ran {
            self.both_worked = trial.worked;
        }
    }

    /// Whether advertising and scanning at once has worked.
    pub(crate) fn both_worked(&self) -> bool {
        self.both_worked
    }

    /// The ability, as far as known.
    pub(crate) fn ability(&self) -> Ability {
        if self.claimed == Ability::ScanOnly || self.adverts_failed_alone >= FAILURES_THAT_COUNT {
            Ability::ScanOnly
        } else if self.failures_together >= FAILURES_THAT_COUNT {
            Ability::InTurns
        } else {
            self.claimed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: World = World {
        service: true,
        permitted: true,
        adapter: Some(Power::On),
        blocked: false,
        ability: Ability::Both,
        asleep: false,
    };
    const NEARBY_PAGE: Wants = Wants { listening: true, scanning: 1, connecting: 0, dialing: 0, links: 0 };

    fn decide(world: World, wants: Wants) -> Plan {
        plan(world, wants, Turn::Scan)
    }

    #[test]
    fn each_trouble_has_its_own_state_and_keeps_the_radio_quiet() {
        let cases = [
            (World { permitted: false, ..GOOD }, CarrierState::NoPermission),
            (World { service: false, adapter: None, ..GOOD }, CarrierState::NoService),
            (World { adapter: None, ..GOOD }, CarrierState::NoAdapter),
            (World { adapter: None, blocked: true, ..GOOD }, CarrierState::Blocked),
            (World { adapter: Some(Power::Off), ..GOOD }, CarrierState::Off),
            (World { adapter: Some(Power::Off), blocked: true, ..GOOD }, CarrierState::Blocked),
        ];
        for (world, state) in cases {
            let plan = decide(world, NEARBY_PAGE);
            assert_eq!(plan.state, state);
            assert!(!plan.serve && !plan.advertise && !plan.scan, "{state:?}");
        }
    }

    #[test]
    fn a_good_adapter_finds_and_is_found_at_once() {
        let plan = decide(GOOD, NEARBY_PAGE);
        assert_eq!(plan.state, CarrierState::Ready);
        assert!(plan.serve && plan.advertise && plan.scan && !plan.contended);
    }

    #[test]
    fn nothing_is_on_the_air_that_nobody_asked_for() {
        let idle = decide(GOOD, Wants::default());
        assert!(!idle.serve && !idle.advertise && !idle.scan);
        let listening = decide(GOOD, Wants { listening: true, ..Wants::default() });
        assert!(listening.advertise && !listening.scan);
        let looking = decide(GOOD, Wants { scanning: 2, ..Wants::default() });
        assert!(!looking.advertise && looking.scan && !looking.serve);
    }

    #[test]
    fn while_a_link_is_up_nothing_else_but_the_service_stays() {
        for wants in [Wants { links: 1, ..NEARBY_PAGE }, Wants { links: 1, connecting: 1, ..NEARBY_PAGE }] {
            let plan = decide(GOOD, wants);
            assert!(plan.serve && !plan.advertise && !plan.scan);
        }
    }

    #[test]
    fn a_sleeping_system_is_left_in_peace() {
        let plan = decide(World { asleep: true, ..GOOD }, NEARBY_PAGE);
        assert!(!plan.advertise && !plan.scan);
    }

    #[test]
    fn discovery_runs_while_connecting() {
        assert!(decide(GOOD, Wants { connecting: 1, ..Wants::default() }).scan);
    }

    #[test]
    fn discovery_makes_way_once_the_peer_is_dialed() {
        assert!(!decide(GOOD, Wants { connecting: 1, dialing: 1, ..NEARBY_PAGE }).scan);
    }

    #[test]
    fn an_adapter_that_cannot_do_both_does_one_at_a_time() {
        let world = World { ability: Ability::InTurns, ..GOOD };
        for turn in [Turn::Advertise, Turn::Scan] {
            let plan = plan(world, NEARBY_PAGE, turn);
            assert_eq!(plan.state, CarrierState::TakingTurns);
            assert!(plan.contended && plan.advertise != plan.scan);
            assert_eq!(plan.scan, turn == Turn::Scan);
        }
        let alone = plan(world, Wants { scanning: 0, ..NEARBY_PAGE }, Turn::Scan);
        assert!(alone.advertise && !alone.contended, "nobody looks: no turns");
        let connecting = plan(world, Wants { connecting: 1, ..NEARBY_PAGE }, Turn::Advertise);
        assert!(connecting.scan && !connecting.advertise && !connecting.contended);
    }

    #[test]
    fn an_adapter_without_adverts_still_finds() {
        let plan = decide(World { ability: Ability::ScanOnly, ..GOOD }, NEARBY_PAGE);
        assert_eq!(plan.state, CarrierState::NoAdvertising);
        assert!(plan.scan && !plan.advertise && !plan.contended);
    }

    #[test]
    fn an_advert_is_renewed_soon_after_a_central_has_left_and_then_seldom() {
        let left = Instant::now();
        let after = |seconds| left + Duration::from_secs(seconds);
        assert_eq!(renewal(left, None), after(60));
        // The advertisement existed when the central left, or came while the kernel may still count its turn.
        assert_eq!(renewal(left, Some(after(30))), after(33));
        assert_eq!(renewal(after(1), Some(left)), after(4));
        // The renewed advertisement stays.
        assert_eq!(renewal(after(4), Some(left)), after(64));
    }

    #[test]
    fn turns_alternate_and_last_within_bounds() {
        let start = Instant::now();
        let mut turns = Turns::new(4);
        let mut now = start;
        let (mut last, _) = turns.at(now, true);
        for _ in 0..1000 {
            let (turn, until) = turns.at(now, true);
            assert_eq!(turn, last);
            let until = until.expect("contended");
            let shortly_before = now + (until - now) / 2;
            assert!((SHORTEST_TURN..=LONGEST_TURN).contains(&(until - now)));
            assert_eq!(turns.at(shortly_before, true), (turn, Some(until)), "not before its end");
            now = until;
            last = turns.at(now, true).0;
            assert_ne!(last, turn);
        }
    }

    #[test]
    fn two_that_take_turns_meet_soon() {
        let now = Instant::now();
        // That two meet within 20 s is likely, and not certain: with always other seeds some pair would not.
        for seed in 0..200 {
            let mut both = [Turns::new(seed), Turns::new(seed.wrapping_mul(77) + 2)];
            let step = Duration::from_millis(50);
            // The devices meet if one advertises while the other scans, for half a second without a break, within 20 s.
            let mut together = 0;
            let met = (0..400).any(|i| {
                let [a, b] = [0, 1].map(|side: usize| both[side].at(now + step * i, true).0);
                together = if a == b { 0 } else { together + 1 };
                together >= 10
            });
            assert!(met, "seed {seed}");
        }
    }

    #[test]
    fn what_an_adapter_claims_is_believed_until_it_fails() {
        let roles = |list: &[&str]| list.iter().map(|&role| role.to_owned()).collect::<Vec<_>>();
        let all = roles(&["central", "peripheral", "central-peripheral"]);
        let mut test = SelfTest::new(Some(&all), Some(5));
        assert_eq!(test.ability(), Ability::Both);
        let failure = Trial { started: Turn::Scan, other_ran: true, worked: false };
        test.learn(failure);
        test.learn(failure);
        test.learn(Trial { worked: true, ..failure });
        assert_eq!(test.ability(), Ability::Both, "BlueZ was only busy");
        assert!(test.both_worked());
        for _ in 0..3 {
            test.learn(failure);
        }
        assert_eq!(test.ability(), Ability::InTurns);
        assert!(!test.both_worked());
        for _ in 0..3 {
            test.learn(Trial { started: Turn::Advertise, other_ran: false, worked: false });
        }
        assert_eq!(test.ability(), Ability::ScanOnly);

        let usual = roles(&["central", "peripheral"]);
        assert_eq!(SelfTest::new(Some(&usual), Some(1)).ability(), Ability::Both);
        assert_eq!(SelfTest::new(Some(&roles(&["central"])), Some(1)).ability(), Ability::ScanOnly);
        assert_eq!(SelfTest::new(Some(&all), Some(0)).ability(), Ability::ScanOnly);
        assert_eq!(SelfTest::new(None, None).ability(), Ability::Both, "old BlueZ says nothing");
    }
}
