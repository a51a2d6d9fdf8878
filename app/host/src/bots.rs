//! Bots on threads of their own.
//!
//! One thread per bot seat, for the lifetime of the seat, so that the bot keeps its tables. The actor never blocks on a bot:
//! it sends a job; results arrive in its inbox with the ticket of the job, and those with an old ticket are ignored.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use engine::{Action, AnyGame, Bot, GameKind, Level, Limits, Report};

use crate::answer_delay::AnswerDelay;
use crate::power::Engines;
use crate::room::EngineSeat;

/// Constructs a bot for a game, a level and a seed. Tests replace the engine's bots.
pub type BotMaker = Arc<dyn Fn(GameKind, Level, u64) -> Box<dyn Bot> + Send + Sync>;

/// Constructs one bot, on the thread that uses it.
pub(crate) type BotOnce = Box<dyn FnOnce() -> Box<dyn Bot> + Send>;

/// Interval of progress reports: more often than a person can read, seldom enough for any screen.
const REPORT_INTERVAL: Duration = Duration::from_millis(200);

/// Stack of a bot's thread, in bytes: an alpha-beta search of 200 plies at one or two kilobytes per ply uses a tenth.
const STACK_BYTES: usize = 4 << 20;

/// Default time per decision. A child at level 1 expects an answer at once; three seconds at level 10 are accepted, more is
/// felt as lag.
pub(crate) fn time_for(level: Level) -> Duration {
    const MILLISECONDS: [u64; 10] = [100, 200, 300, 400, 500, 750, 1000, 1500, 2000, 3000];
    Duration::from_millis(MILLISECONDS[usize::from(level.number() - 1)])
}

/// A message from a bot's thread.
pub(crate) enum BotNews {
    /// Progress of the search, with its duration so far.
    Report(Report, Duration),
    /// The result, with the duration of the search. `None`: the bot found no action, which is a bug.
    Chosen(Option<Report>, Duration),
    /// The bot panicked, and its thread has ended.
    Panicked,
}

/// A running bot. Dropping it stops the search within the engine's 5 ms.
pub(crate) struct BotThread {
    pub(crate) level: Level,
    /// The engine that plays instead of a bot of ours.
    pub(crate) engine: Option<EngineSeat>,
    jobs: mpsc::Sender<Job>,
    stop: Arc<AtomicBool>,
    ticket: u64,
    /// Length and revision of the record whose position is searched.
    pub(crate) about: Option<(u32, u32)>,
}

struct Job {
    ticket: u64,
    game: AnyGame,
    /// The actions before it.
    record: Vec<Action>,
    time: Duration,
    delay: AnswerDelay,
    stop: Arc<AtomicBool>,
}

impl BotThread {
    /// Starts the thread, which calls `tell` with the ticket of the job of each message. `engines` say how many threads a
    /// search may use.
    pub(crate) fn start(
        level: Level,
        engine: Option<EngineSeat>,
        engines: Engines,
        make: impl FnOnce() -> Box<dyn Bot> + Send + 'static,
        tell: impl Fn(u64, BotNews) + Send + 'static,
    ) -> std::io::Result<Self> {
        let (jobs, inbox) = mpsc::channel();
        std::thread::Builder::new()
            .name("bot".into())
            .stack_size(STACK_BYTES)
            .spawn(move || work(make, &engines, &inbox, &tell))?;
        Ok(Self { level, engine, jobs, stop: Arc::default(), ticket: 0, about: None })
    }

    /// Searches this position after these actions; an earlier search is stopped.
    pub(crate) fn think(
        &mut self,
        (game, record): (AnyGame, Vec<Action>),
        revision: u32,
        time: Duration,
        delay: AnswerDelay,
    ) {
        self.stop();
        self.about = Some((game.ply(), revision));
        self.ticket += 1;
        self.stop = Arc::default();
        // Sending fails after the thread has ended; its report of that is in the inbox.
        let _ =
            self.jobs.send(Job { ticket: self.ticket, game, record, time, delay, stop: self.stop.clone() });
    }

    /// Stops the present search, if any. Its later messages have an old ticket.
    pub(crate) fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.about = None;
        self.ticket += 1;
    }

    /// Whether a message with this ticket is about the present job.
    pub(crate) fn is_current(&self, ticket: u64) -> bool {
        self.ticket == ticket && self.about.is_some()
    }
}

impl Drop for BotThread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn work(
    make: impl FnOnce() -> Box<dyn Bot>,
    engines: &Engines,
    inbox: &mpsc::Receiver<Job>,
    tell: &impl Fn(u64, BotNews),
) {
    let Ok(first) = inbox.recv() else { return };
    let mut ticket = first.ticket;
    let all = catch_unwind(AssertUnwindSafe(|| {
        let mut bot = make();
        let mut next = Some(first);
        while let Some(job) = next {
            ticket = job.ticket;
            if !job.stop.load(Ordering::Relaxed) {
                let began = Instant::now();
                bot.set_record(&job.record);
                bot.set_threads(engines.state().budget().threads);
                let chosen = choose(&mut *bot, &job, tell);
                let thought = began.elapsed();
                if let Some(answer) = chosen.as_ref().and_then(|report| report.line.first()) {
                    wait(&job, began + job.delay.minimum(&job.game, *answer));
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

/// Sleeps until `until`, or until the job is stopped.
fn wait(job: &Job, until: Instant) {
    /// One frame: the longest time for which a stopped job goes on unnoticed.
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
