//! How much of the device engines may use: by battery, heat, lid and free memory.
//!
//! The host never ponders: no position is searched while a person thinks. What is saved here is threads and memory of
//! searches, and work that nobody can see behind a closed lid.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use proto::control::{Check, CheckState};

use crate::desktop::{AbortOnDrop, Bus, SleepNews, watch_power, watch_sleep};

/// What decides how much engines may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PowerState {
    /// Cores that this process may use.
    pub(crate) cores: usize,
    pub(crate) on_battery: bool,
    /// A part is close to the temperature at which the kernel slows the device down.
    pub(crate) hot: bool,
    /// The lid is closed and no other display shows anything, or the system is about to sleep.
    pub(crate) dark: bool,
    /// Memory that programs can take without swapping, in bytes. `None`: unknown.
    pub(crate) free_bytes: Option<u64>,
}

/// What engines may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EngineBudget {
    /// Threads of a bot's search, at least 1.
    pub(crate) threads: usize,
    /// Size of a transposition table, in bytes.
    pub(crate) table_bytes: usize,
    /// Only searches with a running clock may go on.
    pub(crate) rests: bool,
}

/// Largest transposition table. In the three seconds of level 10 a handheld's core visits at most a million positions, which
/// fill it; with the app the total stays under half of what the leanest other board game uses.
const TABLE_MOST: usize = 12 << 20;
/// Smallest transposition table. It holds the positions of a few tenths of a second.
const TABLE_LEAST: usize = 2 << 20;
/// A table takes at most this part of the free memory: an analysis, a hint and two bots can run at the same time.
const TABLE_PART: u64 = 32;

impl PowerState {
    pub(crate) fn budget(&self) -> EngineBudget {
        // One core is left to the user interface.
        let spare = self.cores.saturating_sub(1).max(1);
        let threads = match (self.hot, self.on_battery) {
            (true, _) => 1,
            (false, true) => (spare / 2).max(1),
            (false, false) => spare,
        };
        let table_bytes = self.free_bytes.map_or(TABLE_MOST, |free| {
            usize::try_from(free / TABLE_PART).unwrap_or(TABLE_MOST).clamp(TABLE_LEAST, TABLE_MOST)
        });
        EngineBudget { threads, table_bytes, rests: self.dark }
    }
}

/// News of the desktop's services about power.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PowerNews {
    /// UPower's OnBattery.
    pub(crate) on_battery: bool,
    /// The lid is closed, and no other display is connected.
    pub(crate) lid_closed: bool,
}

/// The present state, shared with the threads of engines.
#[derive(Clone)]
pub(crate) struct Engines(Arc<Shared>);

struct Shared {
    told: Mutex<Told>,
    changed: Condvar,
    sensors: Sensors,
}

#[derive(Clone, Copy, Default)]
struct Told {
    news: PowerNews,
    asleep: bool,
}

impl Engines {
    pub(crate) fn new(sensors: Sensors) -> Self {
        Self(Arc::new(Shared { told: Mutex::default(), changed: Condvar::new(), sensors }))
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.0.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what was told; returns whether engines begin or end to rest.
    fn tell(&self, change: impl FnOnce(&mut Told)) -> bool {
        let mut told = self.told();
        let before = told.is_dark();
        change(&mut told);
        let is_changed = told.is_dark() != before;
        drop(told);
        self.0.changed.notify_all();
        is_changed
    }

    /// Handles news of the desktop; returns whether engines begin or end to rest.
    #[must_use]
    pub(crate) fn on_news(&self, news: PowerNews) -> bool {
        self.tell(|told| told.news = news)
    }

    /// The system is about to sleep, or has woken up; returns whether engines begin or end to rest.
    #[must_use]
    pub(crate) fn set_asleep(&self, asleep: bool) -> bool {
        self.tell(|told| told.asleep = asleep)
    }

    /// Whether engines rest, except where a clock runs.
    pub(crate) fn rest(&self) -> bool {
        self.told().is_dark()
    }

    /// As UPower has said.
    pub(crate) fn on_battery(&self) -> bool {
        self.told().news.on_battery
    }

    /// Reads the sensors, which may take milliseconds: not for the actor.
    pub(crate) fn state(&self) -> PowerState {
        let told = *self.told();
        let sensors = &self.0.sensors;
        PowerState {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            on_battery: told.news.on_battery,
            hot: sensors.warmest().is_some_and(Zone::is_hot),
            dark: told.is_dark(),
            free_bytes: sensors.free_bytes(),
        }
    }

    /// Waits until engines may work again, or the computation is to stop.
    pub(crate) fn wait_while_resting(&self, stop: &AtomicBool) {
        /// Nobody announces that a computation is to stop.
        const LOOK_EVERY: Duration = Duration::from_secs(1);
        let mut told = self.told();
        while told.is_dark() && !stop.load(Ordering::Relaxed) {
            let waited = self.0.changed.wait_timeout(told, LOOK_EVERY);
            told = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A line of the doctor's report. Reads the sensors.
    pub(crate) fn check(&self) -> Check {
        let (state, told) = (self.state(), *self.told());
        let budget = state.budget();
        let supply = if state.on_battery { "on battery" } else { "on mains power" };
        let heat = match self.0.sensors.warmest() {
            Some(zone) => {
                let (now, limit) = (zone.millidegrees / 1_000, zone.passive / 1_000);
                format!("{now} °C of {limit} °C, at which the device slows down")
            }
            None => "no temperature with a limit".into(),
        };
        let memory = match state.free_bytes {
            Some(free) => format!("{} MiB of memory free", free >> 20),
            None => "free memory unknown".into(),
        };
        let lid = if told.news.lid_closed { ", lid closed: engines rest" } else { "" };
        let (threads, cores, table) = (budget.threads, state.cores, budget.table_bytes >> 20);
        let found = format!(
            "{supply}; {heat}; {memory}; level 10 thinks on {threads} of {cores} cores with tables of {table} MiB{lid}"
        );
        let remedy =
            if state.hot { "Let the device cool down: until then engines use one core." } else { "" };
        let checked = if state.hot { CheckState::CheckWarning } else { CheckState::CheckOk };
        Check { subject: "power".into(), state: checked.into(), found, remedy: remedy.into() }
    }
}

impl Told {
    fn is_dark(self) -> bool {
        self.asleep || self.news.lid_closed
    }
}

/// The host's part: the shared state, and the tasks that listen to the desktop's services.
pub(crate) struct Power {
    pub(crate) engines: Engines,
    watches: Vec<AbortOnDrop>,
}

impl Power {
    pub(crate) fn new(sensors: Sensors) -> Self {
        Self { engines: Engines::new(sensors), watches: Vec::new() }
    }

    /// Reports the system's sleep until `tell` returns false.
    pub(crate) fn watch_sleep(&mut self, bus: Bus, tell: impl Fn(SleepNews) -> bool + Send + Sync + 'static) {
        self.keep(watch_sleep(bus, tell));
    }

    /// Reports changes of battery and lid until `tell` returns false.
    pub(crate) fn watch(&mut self, bus: Bus, tell: impl Fn(PowerNews) -> bool + Send + Sync + 'static) {
        self.keep(watch_power(bus, tell));
    }

    /// Runs a task until the host ends; nothing waits for it, and it only waits for the bus.
    fn keep(&mut self, watch: impl Future<Output = ()> + Send + 'static) {
        self.watches.push(AbortOnDrop(tokio::spawn(watch).abort_handle()));
    }
}

/// Files of the kernel that tell of heat and memory.
#[derive(Clone, Debug)]
pub struct Sensors {
    /// Folder of the thermal zones.
    pub thermal: PathBuf,
    /// File of the memory's state (proc_meminfo(5)).
    pub memory: PathBuf,
}

impl Default for Sensors {
    /// Those of this machine.
    fn default() -> Self {
        Self { thermal: "/sys/class/thermal".into(), memory: "/proc/meminfo".into() }
    }
}

/// A thermal zone with a passive trip point, in thousandths of a degree Celsius.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Zone {
    millidegrees: i64,
    /// The temperature at which the kernel begins to slow the device down.
    passive: i64,
}

/// Distance from the passive trip point at which a zone counts as hot: the search of one decision on all cores warms a
/// handheld by a few degrees.
const MARGIN: i64 = 5_000;

impl Zone {
    fn read(folder: &Path) -> Option<Self> {
        let number = |file: &str| -> Option<i64> {
            std::fs::read_to_string(folder.join(file)).ok()?.trim().parse().ok()
        };
        let is_passive = |trip: &u32| {
            std::fs::read_to_string(folder.join(format!("trip_point_{trip}_type")))
                .is_ok_and(|kind| kind.trim() == "passive")
        };
        /// Maximum number of trip points of a zone (THERMAL_MAX_TRIPS of older kernels).
        const TRIPS: u32 = 12;
        let passive = (0..TRIPS)
            .filter(is_passive)
            .filter_map(|trip| number(&format!("trip_point_{trip}_temp")))
            // Firmware that does not use a trip point sets it to 0 or below.
            .filter(|temperature| *temperature > 0)
            .min()?;
        Some(Self { millidegrees: number("temp")?, passive })
    }

    fn is_hot(self) -> bool {
        self.distance() <= MARGIN
    }

    fn distance(self) -> i64 {
        self.passive.saturating_sub(self.millidegrees)
    }
}

impl Sensors {
    /// The zone closest to its passive trip point.
    fn warmest(&self) -> Option<Zone> {
        let folders = std::fs::read_dir(&self.thermal).ok()?;
        folders.flatten().filter_map(|folder| Zone::read(&folder.path())).min_by_key(|zone| zone.distance())
    }

    /// MemAvailable.
    fn free_bytes(&self) -> Option<u64> {
        let text = std::fs::read_to_string(&self.memory).ok()?;
        let kib = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        Some(kib.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
    }

    /// Size of a new transposition table, in bytes.
    pub(crate) fn table_bytes(&self) -> usize {
        let free_bytes = self.free_bytes();
        PowerState { cores: 1, on_battery: false, hot: false, dark: false, free_bytes }.budget().table_bytes
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::mpsc;

    use super::*;

    const PLUGGED: PowerState =
        PowerState { cores: 8, on_battery: false, hot: false, dark: false, free_bytes: Some(4 << 30) };

    #[test]
    fn on_battery_half_of_the_threads_search_and_in_the_heat_one() {
        let threads = |state: PowerState| state.budget().threads;
        assert_eq!(threads(PLUGGED), 7);
        assert_eq!(threads(PowerState { on_battery: true, ..PLUGGED }), 3);
        assert_eq!(threads(PowerState { hot: true, ..PLUGGED }), 1);
        assert_eq!(threads(PowerState { hot: true, on_battery: true, ..PLUGGED }), 1);
        for cores in 1..=64 {
            let (plugged, battery) = (
                threads(PowerState { cores, ..PLUGGED }),
                threads(PowerState { cores, on_battery: true, ..PLUGGED }),
            );
            assert!(1 <= battery && battery <= plugged && plugged <= cores, "{cores} cores");
        }
    }

    #[test]
    fn tables_shrink_with_the_free_memory_but_not_below_what_a_search_needs() {
        let table = |free_bytes| PowerState { free_bytes, ..PLUGGED }.budget().table_bytes;
        assert_eq!(table(None), TABLE_MOST);
        assert_eq!(table(Some(4 << 30)), TABLE_MOST);
        assert_eq!(table(Some(128 << 20)), 4 << 20);
        assert_eq!(table(Some(0)), TABLE_LEAST);
    }

    #[test]
    fn every_game_is_played_at_the_highest_level_with_the_smallest_table() {
        for kind in engine::GameKind::ALL {
            let mut bot = engine::partner(*kind, engine::Level::MAX, 1, TABLE_LEAST);
            let game = engine::AnyGame::new(&kind.default_setup()).expect("the default rules");
            let limits = engine::Limits {
                time: None,
                nodes: Some(200),
                depth: None,
                stop: &AtomicBool::new(false),
                elapsed: &|| Duration::ZERO,
            };
            let chosen = bot.choose(&game, &limits, &mut |_| {}).expect("an action");
            assert!(!chosen.line.is_empty(), "{kind:?}");
        }
    }

    /// Sensors in a folder of the test.
    fn sensors(folder: &Path, zones: &[&[(&str, &str)]], memory: &str) -> Sensors {
        let thermal = folder.join("thermal");
        for (number, files) in zones.iter().enumerate() {
            let zone = thermal.join(format!("thermal_zone{number}"));
            fs::create_dir_all(&zone).expect("a folder");
            for (file, text) in *files {
                fs::write(zone.join(file), format!("{text}\n")).expect("written");
            }
        }
        let file = folder.join("meminfo");
        fs::write(&file, memory).expect("written");
        Sensors { thermal, memory: file }
    }

    const MEMORY: &str =
        "MemTotal:       16000000 kB\nMemFree:          100000 kB\nMemAvailable:     131072 kB\n";

    #[test]
    fn heat_is_measured_against_the_passive_trip_point_of_the_zone_that_is_closest_to_its_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let cpu = |temp: &'static str| {
            [
                ("temp", temp),
                ("trip_point_0_type", "critical"),
                ("trip_point_0_temp", "105000"),
                ("trip_point_1_type", "passive"),
                ("trip_point_1_temp", "95000"),
            ]
        };
        let battery = [("temp", "31000"), ("trip_point_0_type", "passive"), ("trip_point_0_temp", "60000")];
        // A zone without a passive trip point, and one whose firmware does not use it.
        let wifi = [("temp", "99000"), ("trip_point_0_type", "critical"), ("trip_point_0_temp", "100000")];
        let unused = [("temp", "50000"), ("trip_point_0_type", "passive"), ("trip_point_0_temp", "-273200")];
        let at = |temp| {
            let engines =
                Engines::new(sensors(folder.path(), &[&battery, &cpu(temp), &wifi, &unused], MEMORY));
            engines.state().hot
        };
        assert!(!at("89000"));
        assert!(at("90000"));
        assert!(at("97000"));
        assert!(
            !Engines::new(Sensors { thermal: folder.path().join("none"), memory: "none".into() }).state().hot
        );
    }

    #[test]
    fn free_memory_is_what_programs_can_take_without_swapping() {
        let folder = tempfile::tempdir().expect("a folder");
        let sensors = sensors(folder.path(), &[], MEMORY);
        assert_eq!(sensors.free_bytes(), Some(128 << 20));
        assert_eq!(sensors.table_bytes(), 4 << 20);
        fs::write(&sensors.memory, "MemAvailable: lots\n").expect("written");
        assert_eq!(sensors.free_bytes(), None);
    }

    #[test]
    fn engines_rest_behind_a_closed_lid_and_before_sleep_and_each_change_is_told_once() {
        let engines = Engines::new(Sensors::default());
        let closed = PowerNews { lid_closed: true, ..PowerNews::default() };
        assert!(!engines.rest());
        assert!(
            !engines.on_news(PowerNews { on_battery: true, ..PowerNews::default() }),
            "a battery is no lid"
        );
        assert!(engines.on_news(closed) && engines.rest());
        assert!(!engines.set_asleep(true), "they rest already");
        assert!(!engines.on_news(PowerNews::default()), "the system is still asleep");
        assert!(engines.set_asleep(false) && !engines.rest());
    }

    #[test]
    fn a_computation_waits_behind_a_closed_lid_until_it_opens_or_it_is_to_stop() {
        let engines = Engines::new(Sensors::default());
        let stop = Arc::new(AtomicBool::new(false));
        engines.wait_while_resting(&stop);
        // Waits on this thread, while another one does this.
        let wait_until = |deed: Box<dyn FnOnce() + Send>| {
            let (say, begins) = mpsc::channel();
            let helper = std::thread::spawn(move || {
                begins.recv().expect("the test waits");
                // A wait that does not wait returns long before.
                std::thread::sleep(Duration::from_millis(20));
                deed();
            });
            say.send(()).expect("the helper listens");
            engines.wait_while_resting(&stop);
            let found = (engines.rest(), stop.load(Ordering::Relaxed));
            helper.join().expect("no panic");
            found
        };
        let closed = PowerNews { lid_closed: true, ..PowerNews::default() };
        assert!(engines.on_news(closed));
        let lid = engines.clone();
        let opened = wait_until(Box::new(move || assert!(lid.on_news(PowerNews::default()))));
        assert_eq!(opened, (false, false), "it was woken by the lid");
        assert!(engines.on_news(closed));
        let to_stop = stop.clone();
        let stopped = wait_until(Box::new(move || to_stop.store(true, Ordering::Relaxed)));
        assert_eq!(stopped, (true, true), "it was to stop");
    }

    #[test]
    fn the_doctor_says_what_was_read_and_what_follows() {
        let folder = tempfile::tempdir().expect("a folder");
        let hot = [("temp", "94000"), ("trip_point_0_type", "passive"), ("trip_point_0_temp", "95000")];
        let engines = Engines::new(sensors(folder.path(), &[&hot], MEMORY));
        assert!(!engines.on_news(PowerNews { on_battery: true, lid_closed: false }));
        let check = engines.check();
        assert_eq!(check.state(), CheckState::CheckWarning);
        for part in ["on battery", "94 °C of 95 °C", "128 MiB of memory free", "on 1 of ", "tables of 4 MiB"]
        {
            assert!(check.found.contains(part), "{part}: {}", check.found);
        }
        assert!(!check.remedy.is_empty());
    }
}
