//! Making of puzzles on this device: for a person who asks for more, and unasked while nobody uses the device, on mains power, for the
//! games whose puzzles are being solved. One thread of low priority at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::GameKind;
use engine::puzzles::{self, Progress, Puzzle};
use proto::control::{self, RefusalCode};
use tokio::time::Instant;
use tracing::{debug, info, warn};

use crate::journal::Journal;
use crate::power::Engines;
use crate::refusal::Refusal;
use crate::store::{MOST_MADE, StoreError};

/// Number of puzzles for which a person asks at once.
const ASKED: u32 = 20;
/// Number that is made unasked before they are kept.
const UNASKED: u32 = 4;
/// So many unsolved puzzles of a game are enough: nobody solves that many on a day.
const ENOUGH: u32 = 100;
/// Nobody uses the device after so long without a request.
const QUIET: Duration = Duration::from_mins(3);
/// Pause between two batches that nobody asked for: the device cools down, and a person who comes back is served at once.
const PAUSE: Duration = Duration::from_secs(30);
/// Interval in which the thread looks whether the device is still on mains power and cool.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Niceness of the thread: play has priority.
const NICENESS: i32 = 15;

/// What is being made, and when that begins unasked.
pub(crate) struct Maker {
    engines: Engines,
    working: Option<Working>,
    last: u64,
    /// When it is looked whether puzzles are to be made unasked. `None`: after the next use of the device, or when it is charged.
    next_look: Option<Instant>,
}

struct Working {
    ticket: u64,
    kind: GameKind,
    /// A person has asked for them.
    asked: bool,
    found: u32,
    stop: Arc<AtomicBool>,
}

impl Drop for Working {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// A message from the thread.
pub(crate) enum MakerNews {
    /// Number of puzzles found so far.
    Found(u32),
    /// The end: all that were found.
    Ended(Vec<Puzzle>),
}

impl Maker {
    /// The thread rests while `engines` do.
    pub(crate) fn new(engines: Engines) -> Self {
        Self { engines, working: None, last: 0, next_look: None }
    }

    /// A person uses the device: what is made unasked ends, with what was found so far kept, and begins again when it is quiet.
    pub(crate) fn note_use(&mut self, now: Instant) {
        if let Some(working) = self.working.as_ref().filter(|working| !working.asked) {
            working.stop.store(true, Ordering::Relaxed);
        }
        self.next_look = Some(now + QUIET);
    }

    /// The device is on mains power, or no longer: who has put it on the charger has put it away.
    pub(crate) fn note_power(&mut self, now: Instant) {
        if !self.engines.on_battery() && self.next_look.is_none() {
            self.next_look = Some(now + QUIET);
        }
    }

    /// When [`on_time`](Self::on_time) has something to do.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.next_look.filter(|_| self.working.is_none())
    }

    /// Makes puzzles for the person who asks, beginning with `seed`.
    pub(crate) fn ask(
        &mut self,
        kind: GameKind,
        seed: u64,
        tell: impl Fn(u64, MakerNews) + Send + 'static,
    ) -> Result<(), Refusal> {
        match &self.working {
            Some(working) if working.asked && working.kind == kind => return Ok(()),
            Some(working) if working.asked => {
                let (zh, en) = (
                    "正在出别的棋的题，请等它出完。",
                    "Puzzles of another game are being made. Wait until they are done.",
                );
                let reason = Some(control::Words { zh: zh.into(), en: en.into() });
                return Err(Refusal {
                    reason,
                    ..Refusal::new(RefusalCode::RefusalBusy, "one game at a time")
                });
            }
            // What nobody has asked for gives way.
            Some(_) | None => self.working = None,
        }
        self.begin(kind, true, seed, tell)
    }

    /// Ends what a person has asked for; what was found so far is kept.
    pub(crate) fn stop_asked(&mut self) {
        if let Some(working) = self.working.as_ref().filter(|working| working.asked) {
            working.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Ends everything; what was found is lost.
    pub(crate) fn stop(&mut self) {
        (self.working, self.next_look) = (None, None);
    }

    /// Begins to make puzzles unasked, if it is time and `wanted` names a game that needs some.
    pub(crate) fn on_time(
        &mut self,
        now: Instant,
        wanted: impl FnOnce() -> Option<GameKind>,
        seed: impl FnOnce() -> u64,
        tell: impl Fn(u64, MakerNews) + Send + 'static,
    ) {
        if self.deadline().is_none_or(|due| due > now) {
            return;
        }
        self.next_look = None;
        if self.engines.on_battery() {
            return;
        }
        if let Some(kind) = wanted()
            && let Err(refusal) = self.begin(kind, false, seed(), tell)
        {
            debug!(?refusal, "no puzzles are made");
        }
    }

    fn begin(
        &mut self,
        kind: GameKind,
        asked: bool,
        seed: u64,
        tell: impl Fn(u64, MakerNews) + Send + 'static,
    ) -> Result<(), Refusal> {
        self.last += 1;
        let (ticket, stop) = (self.last, Arc::<AtomicBool>::default());
        let working = Working { ticket, kind, asked, found: 0, stop: stop.clone() };
        let engines = self.engines.clone();
        let work = move || {
            if let Err(error) = rustix::process::nice(NICENESS) {
                debug!(%error, "puzzles are made at normal priority");
            }
            let made =
                make(kind, asked, seed, &engines, &stop, &|found| tell(ticket, MakerNews::Found(found)));
            tell(ticket, MakerNews::Ended(made));
        };
        let thread = std::thread::Builder::new().name("puzzles".into()).spawn(work);
        thread.map_err(|error| Refusal::new(RefusalCode::RefusalBusy, error.to_string()))?;
        self.working = Some(working);
        Ok(())
    }

    /// Handles a message of the thread with this number. Returns whether clients are to be told; at the end the puzzles are kept, at
    /// `now` on the `unix_ms` clock.
    pub(crate) fn handle(
        &mut self,
        ticket: u64,
        news: MakerNews,
        journal: &mut Journal,
        now: Instant,
        unix_ms: i64,
    ) -> bool {
        let Some(working) = self.working.as_mut().filter(|working| working.ticket == ticket) else {
            return false;
        };
        match news {
            MakerNews::Found(found) => working.found = found,
            MakerNews::Ended(made) => {
                let (kind, asked) = (working.kind, working.asked);
                let stopped = working.stop.load(Ordering::Relaxed);
                self.working = None;
                // A full disk has been reported.
                let new = journal.keep(|store| store.keep_made(kind, &made, unix_ms)).unwrap_or(0);
                info!(game = kind.word(), new, asked, "puzzles were made");
                if !asked && stopped {
                    // By a person, who has been noted; by heat, which passes; or by the end of mains power, which is looked at then.
                    self.next_look = self.next_look.or(Some(now + QUIET));
                } else if !asked && new > 0 {
                    self.next_look = Some(now + PAUSE);
                }
                // After a batch without a new one, nothing more is made until the device has been used again.
            }
        }
        true
    }

    /// The state as clients see it.
    pub(crate) fn shown(&self) -> control::PuzzleMaking {
        let Some(working) = self.working.as_ref().filter(|working| working.asked) else {
            return control::PuzzleMaking::default();
        };
        let game = i32::from(working.kind as u8);
        control::PuzzleMaking { game, found: working.found, wanted: ASKED }
    }
}

/// The game that needs puzzles most: one whose puzzles the player solves, with the fewest unsolved ones. `None`: there are enough.
pub(crate) fn wanted(journal: &Journal) -> Result<Option<GameKind>, StoreError> {
    let (saved, made) = (journal.puzzles()?, journal.made_counts()?);
    let mut needs = Vec::new();
    for &kind in GameKind::ALL {
        let of = made.get(&i32::from(kind as u8)).copied().unwrap_or_default();
        let unsolved = |puzzle: &&Puzzle| saved.get(&puzzle.id).is_none_or(|one| one.solved_unix_ms == 0);
        let open = puzzles::all(kind).iter().filter(unsolved).count() as u32 + of.all - of.solved;
        if journal.puzzle_player(kind)?.is_some() && open < ENOUGH && of.all < MOST_MADE {
            needs.push((open, kind));
        }
    }
    Ok(needs.into_iter().min_by_key(|(open, _)| *open).map(|(_, kind)| kind))
}

/// Makes a batch on this thread, without those of the built-in set.
fn make(
    kind: GameKind,
    asked: bool,
    seed: u64,
    engines: &Engines,
    stop: &AtomicBool,
    found: &dyn Fn(u32),
) -> Vec<Puzzle> {
    let (mut told, mut looked) = (0, None::<std::time::Instant>);
    let mut watch = |progress: Progress| {
        engines.wait_while_resting(stop);
        if !asked && looked.is_none_or(|at| at.elapsed() >= LOOK_EVERY) {
            looked = Some(std::time::Instant::now());
            let state = engines.state();
            if state.on_battery || state.hot {
                stop.store(true, Ordering::Relaxed);
            }
        }
        if progress.found > told {
            told = progress.found;
            found(told as u32);
        }
        !stop.load(Ordering::Relaxed)
    };
    let count = if asked { ASKED } else { UNASKED } as usize;
    let made = catch_unwind(AssertUnwindSafe(|| puzzles::make(kind, count, seed, &mut watch)));
    let mut made = made.unwrap_or_else(|_| {
        warn!(game = kind.word(), seed, "the making of puzzles has panicked");
        Vec::new()
    });
    made.retain(|puzzle| {
        puzzles::all(kind).iter().all(|one| one.id != puzzle.id && one.shape() != puzzle.shape())
    });
    made
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use engine::glicko::Glicko;

    use super::*;
    use crate::power::{PowerNews, Sensors};
    use crate::store::{Player, Verdict};

    const KIND: GameKind = GameKind::LightsOut;

    type Heard = mpsc::Receiver<(u64, MakerNews)>;

    fn maker() -> (Maker, Engines) {
        // However warm this machine is.
        let sensors = Sensors { thermal: "/nowhere".into(), ..Sensors::default() };
        let engines = Engines::new(sensors);
        (Maker::new(engines.clone()), engines)
    }

    fn line() -> (impl Fn(u64, MakerNews) + Send + 'static, Heard) {
        let (tell, heard) = mpsc::channel();
        (move |ticket, news| drop(tell.send((ticket, news))), heard)
    }

    /// Passes on what the thread says until it has ended; returns all that it made.
    fn finish(maker: &mut Maker, heard: &Heard, journal: &mut Journal, now: Instant) -> Vec<Puzzle> {
        loop {
            let (ticket, news) = heard.recv().expect("its end is told");
            let made = match &news {
                MakerNews::Found(_) => None,
                MakerNews::Ended(made) => Some(made.clone()),
            };
            assert!(maker.handle(ticket, news, journal, now, 5));
            if let Some(made) = made {
                return made;
            }
        }
    }

    /// The player has solved so many puzzles of the game's set.
    fn solves(count: usize, journal: &mut Journal) {
        let rating = Glicko::novice();
        let player = Player { rating, rated_day: 1, rated: 1, run: 0, best_run: 0 };
        let verdict = Verdict { player: Some((KIND, player)), ..Verdict::default() };
        journal.keep(|store| store.keep_verdict(&verdict)).expect("saved");
        for puzzle in &puzzles::all(KIND)[..count] {
            journal.keep(|store| store.solve_puzzle(&puzzle.id, 5)).expect("saved");
        }
    }

    #[test]
    fn a_person_who_asks_gets_puzzles_that_are_new_and_proven() {
        let ((mut maker, _), (tell, heard)) = (maker(), line());
        let (mut journal, _folder) = Journal::for_test();
        maker.ask(KIND, 7, tell).expect("a thread");
        let shown = maker.shown();
        assert_eq!((shown.game, shown.wanted), (i32::from(KIND as u8), ASKED));
        let (again, nothing) = line();
        maker.ask(KIND, 8, again).expect("they are being made");
        let (other, _) = line();
        assert!(maker.ask(GameKind::Gomoku, 9, other).is_err(), "one game at a time");
        let made = finish(&mut maker, &heard, &mut journal, Instant::now());
        assert!(nothing.recv().is_err(), "nothing is begun twice");
        assert_eq!(maker.shown(), control::PuzzleMaking::default());
        assert!(!made.is_empty() && made.len() <= ASKED as usize);
        for puzzle in &made {
            puzzle.verify(1_000_000).expect("proven");
            assert!(puzzles::find(&puzzle.id).is_none(), "not one of the set");
            assert!(journal.made_puzzle(&puzzle.id).expect("read").is_some());
        }
        assert!(maker.deadline().is_none(), "nothing is made unasked after it");
    }

    #[test]
    fn whoever_stops_it_keeps_what_was_found_so_far() {
        let (mut maker, _) = maker();
        let (mut journal, _folder) = Journal::for_test();
        // The thread goes on only when what it says is read, so it cannot find the next puzzles before it is stopped.
        let (tell, heard) = mpsc::sync_channel(0);
        maker.ask(KIND, 7, move |ticket, news| drop(tell.send((ticket, news)))).expect("a thread");
        let (ticket, news) = heard.recv().expect("one is found");
        assert!(matches!(news, MakerNews::Found(1)));
        assert!(maker.handle(ticket, news, &mut journal, Instant::now(), 5));
        assert_eq!(maker.shown().found, 1);
        maker.stop_asked();
        let made = finish(&mut maker, &heard, &mut journal, Instant::now());
        assert!(!made.is_empty() && made.len() < ASKED as usize, "{}", made.len());
        let kept = journal.made_counts().expect("read").get(&(KIND as i32)).map_or(0, |of| of.all);
        assert_eq!(kept as usize, made.len());
    }

    #[test]
    fn puzzles_are_wanted_for_the_games_whose_puzzles_are_solved_when_few_are_left() {
        let (mut journal, _folder) = Journal::for_test();
        assert_eq!(wanted(&journal).expect("read"), None);
        let all = puzzles::all(KIND).len();
        solves(all - ENOUGH as usize, &mut journal);
        assert_eq!(wanted(&journal).expect("read"), None, "there are enough");
        solves(all - ENOUGH as usize + 1, &mut journal);
        assert_eq!(wanted(&journal).expect("read"), Some(KIND));
        let made = puzzles::make(KIND, 1, 3, &mut |_| true);
        journal.keep(|store| store.keep_made(KIND, &made, 5)).expect("saved");
        assert_eq!(wanted(&journal).expect("read"), None, "one was made");
    }

    #[test]
    fn unasked_ones_are_made_in_quiet_times_and_only_on_mains_power() {
        let ((mut maker, engines), now) = (maker(), Instant::now());
        let (mut journal, _folder) = Journal::for_test();
        let not_yet = || -> Option<GameKind> { panic!("it is not looked") };
        maker.on_time(now, not_yet, || 1, line().0);
        maker.note_use(now);
        assert_eq!(maker.deadline(), Some(now + QUIET));
        maker.on_time(now + QUIET - Duration::from_secs(1), not_yet, || 1, line().0);
        let _ = engines.on_news(PowerNews { on_battery: true, lid_closed: false });
        maker.on_time(now + QUIET, not_yet, || 1, line().0);
        assert_eq!(maker.deadline(), None, "on battery nothing wakes the device");
        maker.note_power(now);
        assert_eq!(maker.deadline(), None, "nor does other news of the battery");
        let _ = engines.on_news(PowerNews::default());
        maker.note_power(now);
        assert_eq!(maker.deadline(), Some(now + QUIET), "it was put on the charger");
        maker.on_time(now + QUIET, || None, || panic!("no puzzles are wanted"), line().0);
        assert_eq!(maker.deadline(), None);
        maker.note_use(now);
        let (tell, heard) = line();
        maker.on_time(now + QUIET, || Some(KIND), || 7, tell);
        assert_eq!(maker.shown(), control::PuzzleMaking::default(), "nobody waits for them");
        assert_eq!(maker.deadline(), None, "while they are made");
        finish(&mut maker, &heard, &mut journal, now);
        assert_eq!(maker.deadline(), Some(now + PAUSE), "then it is looked again");
    }

    #[test]
    fn what_nobody_asked_for_ends_when_the_device_is_used_and_gives_way_to_what_is_asked_for() {
        let ((mut maker, _), now) = (maker(), Instant::now());
        let (mut journal, _folder) = Journal::for_test();
        let begin = |maker: &mut Maker| {
            let (tell, heard) = line();
            maker.note_use(now);
            maker.on_time(now + QUIET, || Some(GameKind::Xiangqi), || 7, tell);
            heard
        };
        let heard = begin(&mut maker);
        maker.note_use(now);
        finish(&mut maker, &heard, &mut journal, now);
        assert_eq!(maker.deadline(), Some(now + QUIET));
        let first = begin(&mut maker);
        let (tell, heard) = line();
        maker.ask(KIND, 7, tell).expect("it gives way");
        finish(&mut maker, &heard, &mut journal, now);
        for (ticket, news) in first {
            assert!(!maker.handle(ticket, news, &mut journal, now, 5), "of an earlier thread");
        }
    }
}
