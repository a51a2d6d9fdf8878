//! Bots on their own threads.
//!
//! One thread per bot's seat, for as long as the seat lasts, so that the bot keeps its tables. The actor never waits for
//! one: it sends a job and goes on; news come back through its inbox with the job's ticket, and news of an old ticket are
//! ignored.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use engine::{AnyGame, Bot, GameKind, Level, Limits, Report};

use crate::rhythm::Rhythm;

/// Makes a bot. The engine's own, unless a test wants another.
pub type BotMaker = Arc<dyn Fn(GameKind, Level, u64) -> Box<dyn Bot> + Send + Sync>;

/// How often a thinking bot tells what it found: more than a person can read, less than a screen would notice.
const REPORT_INTERVAL: Duration = Duration::from_millis(200);

/// Stack of a bot's thread: an alpha-beta of 200 plies with a kilobyte or two a ply takes a tenth.
const STACK_BYTES: usize = 4 << 20;

/// Time for one decision. A child that plays level 1 expects an answer at once; a player of level 10 waits three seconds
/// gladly, and longer is felt as lag.
pub(crate) fn time_for(level: Level) -> Duration {
    const MILLISECONDS: [u64; 10] = [100, 200, 300, 400, 500, 750, 1000, 1500, 2000, 3000];
    Duration::from_millis(MILLISECONDS[usize::from(level.number() - 1)])
}

/// What a bot's thread says.
pub(crate) enum BotNews {
    /// Still thinking.
    Report(Report, Duration),
    /// Its decision, and how long it took. `None`: it has none here, which is a bug of the bot.
    Chosen(Option<Report>, Duration),
    /// It panicked; its thread has ended.
    Panicked,
}

/// A bot at work. Dropping it stops the thread within the engine's 5 ms.
pub(crate) struct BotThread {
    pub(crate) level: Level,
    jobs: mpsc::Sender<Job>,
    stop: Arc<AtomicBool>,
    ticket: u64,
    /// Length and revision of the record that it thinks about.
    pub(crate) about: Option<(u32, u32)>,
}

struct Job {
    ticket: u64,
    game: AnyGame,
    time: Duration,
    rhythm: Rhythm,
    stop: Arc<AtomicBool>,
}

impl BotThread {
    /// Starts the thread; `tell` is called on it with the ticket that each piece of news is about.
    pub(crate) fn start(
        level: Level,
        make: impl FnOnce() -> Box<dyn Bot> + Send + 'static,
        tell: impl Fn(u64, BotNews) + Send + 'static,
    ) -> std::io::Result<Self> {
        let (jobs, inbox) = mpsc::channel();
        std::thread::Builder::new()
            .name("bot".into())
            .stack_size(STACK_BYTES)
            .spawn(move || work(make, &inbox, &tell))?;
        Ok(Self { level, jobs, stop: Arc::default(), ticket: 0, about: None })
    }

    /// Thinks about this position from now on; what it thought about before is dropped.
    pub(crate) fn think(&mut self, game: AnyGame, revision: u32, time: Duration, rhythm: Rhythm) {
        self.stop();
        self.about = Some((game.ply(), revision));
        self.ticket += 1;
        self.stop = Arc::default();
        // A thread that has ended has said so, and that news is on its way.
        let _ = self.jobs.send(Job { ticket: self.ticket, game, time, rhythm, stop: self.stop.clone() });
    }

    /// Ends the present search, if any. What it still says has an old ticket.
    pub(crate) fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.about = None;
        self.ticket += 1;
    }

    /// Whether news with this ticket are about what it was last asked.
    pub(crate) fn is_current(&self, ticket: u64) -> bool {
        self.ticket == ticket && self.about.is_some()
    }
}

impl Drop for BotThread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// All cores but one, which the person's screen has for itself.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().saturating_sub(1).max(1))
}

fn work(make: impl FnOnce() -> Box<dyn Bot>, inbox: &mpsc::Receiver<Job>, tell: &impl Fn(u64, BotNews)) {
    let Ok(first) = inbox.recv() else { return };
    let mut ticket = first.ticket;
    let all = catch_unwind(AssertUnwindSafe(|| {
        let mut bot = make();
        bot.set_threads(threads());
        let mut next = Some(first);
        while let Some(job) = next {
            ticket = job.ticket;
            if !job.stop.load(Ordering::Relaxed) {
                let began = Instant::now();
                let chosen = choose(&mut *bot, &job, tell);
                let thought = began.elapsed();
                if let Some(answer) = chosen.as_ref().and_then(|report| report.line.first()) {
                    wait(&job, began + job.rhythm.least(&job.game, *answer));
                }
                tell(job.ticket, BotNews::Chosen(chosen, thought));
            }
            next = inbox.recv().ok();
        }
    }));
    if all.is_err() {
        tell(ticket, BotNews::Panicked);
    }
}

/// Waits until then, or until the job is given up.
fn wait(job: &Job, until: Instant) {
    /// A frame: no one sees that an answer which is not wanted any more goes on for so long.
    const STEP: Duration = Duration::from_millis(15);
    while !job.stop.load(Ordering::Relaxed) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(STEP));
    }
}

fn choose(bot: &mut dyn Bot, job: &Job, tell: &impl Fn(u64, BotNews)) -> Option<Report> {
    let started = Instant::now();
    let elapsed = || started.elapsed();
    let limits =
        Limits { time: Some(job.time), nodes: None, depth: None, stop: &job.stop, elapsed: &elapsed };
    let mut told: Option<Instant> = None;
    bot.choose(&job.game, &limits, &mut |report| {
        let now = Instant::now();
        if told.is_none_or(|told| now.duration_since(told) >= REPORT_INTERVAL) {
            told = Some(now);
            tell(job.ticket, BotNews::Report(report.clone(), started.elapsed()));
        }
    })
}
