//! Long computations: each on a thread of its own, with a limited number at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use proto::control::{RefusalCode, Words};
use tokio::sync::{Semaphore, oneshot};
use tokio_util::task::TaskTracker;
use tracing::{info, warn};

use crate::connection::ClientId;
use crate::refusal::Refusal;

/// The kind of computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    /// A hint, in a match or a puzzle.
    Hint,
    /// Import of a file.
    File,
    /// Export of a file.
    Export,
    /// A backup, or its restoration.
    Backup,
    /// The trial of an engine.
    Engine,
}

impl Job {
    /// Maximum number of threads of this kind. A hint occupies a core for a second; files are imported one after another; a
    /// page asks for several files of a match at once; a backup takes 64 MiB of memory.
    fn most(self) -> usize {
        match self {
            Self::Hint => 2,
            Self::File | Self::Backup | Self::Engine => 1,
            Self::Export => 4,
        }
    }
}

/// Maximum number of threads that read kept matches. Whoever leafs through a match asks faster than a slow device answers: further
/// ones wait.
const MOST_REVIEWS: usize = 2;

/// Counts the running threads.
#[derive(Default)]
pub(crate) struct Work {
    /// Of all threads that read or write the data directory: it is free once they have ended.
    pub(crate) in_directory: TaskTracker,
    hints: usize,
    files: usize,
    exports: usize,
    backups: usize,
    trials: usize,
    reviews: Reviews,
    /// Closed once the last [`review_in_order`](Self::review_in_order) has ended.
    last_in_order: Option<oneshot::Receiver<()>>,
    /// Computations that their client can stop.
    stoppable: Vec<(Job, ClientId, JobContext)>,
}

/// Turns of those who read kept matches.
struct Reviews(Arc<Semaphore>);

impl Default for Reviews {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MOST_REVIEWS)))
    }
}

/// What a computation is told and tells while it runs: that its client does not want it any more, and how far it is.
#[derive(Clone, Default)]
pub(crate) struct JobContext {
    stopped: Arc<AtomicBool>,
    /// Sends the progress in thousandths to the client.
    teller: Option<Arc<dyn Fn(u32) + Send + Sync>>,
    /// What was sent last.
    told: Arc<AtomicU32>,
}

impl JobContext {
    /// Interval of the progress that is sent, in thousandths: a bar that a person sees move.
    const STEP: u32 = 10;

    /// As [`default`](Self::default); `teller` is given the progress in thousandths, growing.
    pub(crate) fn reporting_to(teller: impl Fn(u32) + Send + Sync + 'static) -> Self {
        Self { teller: Some(Arc::new(teller)), ..Self::default() }
    }

    /// Asks it to stop.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Reports that `done` of `all` of the part from `begin` to `end`, in thousandths of the computation, is over.
    pub(crate) fn report(&self, begin: u32, end: u32, done: u64, all: u64) {
        let share = u64::from(end.saturating_sub(begin)) * done.min(all) / all.max(1);
        let permille = begin + share as u32;
        let Some(teller) = &self.teller else { return };
        if permille >= self.told.load(Ordering::SeqCst) + Self::STEP {
            self.told.store(permille, Ordering::SeqCst);
            teller(permille);
        }
    }

    /// Fails with the refusal of the request if the computation is to stop. Called before each step; what the earlier steps
    /// left is removed by the caller.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        if !self.is_stopped() {
            return Ok(());
        }
        let reason = Words {
            zh: "已取消，什么都没有改动。".into(),
            en: "Cancelled. Nothing was changed.".into(),
        };
        let refusal = Refusal::new(RefusalCode::RefusalStopped, "stopped by its client");
        Err(Refusal { reason: Some(reason), ..refusal })
    }
}

impl Work {
    /// Whether one more computation of this kind may start.
    pub(crate) fn has_room(&self, job: Job) -> bool {
        self.count(job) < job.most()
    }

    /// A task that reads a kept match on a thread of its own once it is its turn: replaying a long match takes milliseconds. If
    /// `read` panics, a responder in it refuses its request.
    pub(crate) fn review<F: FnOnce() + Send + 'static>(
        &self,
        read: F,
    ) -> impl Future<Output = ()> + Send + use<F> {
        let turns = Arc::clone(&self.reviews.0);
        async move {
            let Ok(_turn) = turns.acquire().await else { return };
            if tokio::task::spawn_blocking(read).await.is_err() {
                warn!("a kept match could not be read");
            }
        }
    }

    /// As [`review`](Self::review), but one after the other, in the order of the calls.
    pub(crate) fn review_in_order<F: FnOnce() + Send + 'static>(
        &mut self,
        read: F,
    ) -> impl Future<Output = ()> + Send + use<F> {
        let (ended, end) = oneshot::channel::<()>();
        let before = self.last_in_order.replace(end);
        let review = self.review(read);
        async move {
            if let Some(before) = before {
                // Nothing is ever sent: this waits until the other end is dropped.
                let _ = before.await;
            }
            review.await;
            drop(ended);
        }
    }

    /// Starts a computation; the handler of its end calls [`Work::ended`]. If no thread can be started, `work` is dropped,
    /// and a responder in it refuses its request.
    pub(crate) fn begin(&mut self, job: Job, work: impl FnOnce() + Send + 'static) {
        let in_directory = (job == Job::Backup).then(|| self.in_directory.token());
        let work = move || {
            work();
            drop(in_directory);
        };
        match std::thread::Builder::new().name(format!("{job:?}").to_lowercase()).spawn(work) {
            Ok(_) => *self.counter(job) += 1,
            Err(error) => warn!(%error, ?job, "no thread"),
        }
    }

    /// As [`begin`](Self::begin), for a computation that its client can stop through `context`. At most one of its kind runs.
    pub(crate) fn begin_stoppable(
        &mut self,
        job: Job,
        client: ClientId,
        context: JobContext,
        work: impl FnOnce(&JobContext) + Send + 'static,
    ) {
        self.stoppable.push((job, client, context.clone()));
        self.begin(job, move || work(&context));
    }

    /// Stops the computations of this client.
    pub(crate) fn stop(&self, client: ClientId) {
        for (job, _, context) in self.stoppable.iter().filter(|(_, of, _)| *of == client) {
            info!(?job, "stopped by its client");
            context.stop();
        }
    }

    /// Handles the end of a computation.
    pub(crate) fn ended(&mut self, job: Job) {
        self.stoppable.retain(|(of, _, _)| *of != job);
        let counter = self.counter(job);
        debug_assert!(*counter > 0, "it was begun");
        *counter = counter.saturating_sub(1);
    }

    fn count(&self, job: Job) -> usize {
        match job {
            Job::Hint => self.hints,
            Job::File => self.files,
            Job::Export => self.exports,
            Job::Backup => self.backups,
            Job::Engine => self.trials,
        }
    }

    fn counter(&mut self, job: Job) -> &mut usize {
        match job {
            Job::Hint => &mut self.hints,
            Job::File => &mut self.files,
            Job::Export => &mut self.exports,
            Job::Backup => &mut self.backups,
            Job::Engine => &mut self.trials,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_threads_than_a_job_may_have_and_one_more_when_one_is_over() {
        let mut work = Work::default();
        for job in [Job::Hint, Job::File, Job::Export, Job::Backup, Job::Engine] {
            for _ in 0..job.most() {
                assert!(work.has_room(job));
                work.begin(job, || ());
            }
            assert!(!work.has_room(job));
            work.ended(job);
            assert!(work.has_room(job));
        }
    }

    #[tokio::test]
    async fn who_reads_kept_matches_waits_for_a_turn_and_none_is_left_out() {
        let work = Work::default();
        let (began, mut begun) = tokio::sync::mpsc::unbounded_channel();
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let wait = Arc::new(std::sync::Mutex::new(wait));
        for number in 0..5 {
            let (began, wait) = (began.clone(), Arc::clone(&wait));
            tokio::spawn(work.review(move || {
                began.send(number).expect("heard");
                wait.lock().expect("no panic").recv().expect("let go");
            }));
        }
        let first = [begun.recv().await, begun.recv().await].map(|number| number.expect("begun"));
        tokio::task::yield_now().await;
        assert!(begun.try_recv().is_err(), "two at a time: {first:?}");
        (0..5).for_each(|_| go.send(()).expect("they wait"));
        let mut all = first.to_vec();
        for _ in 2..5 {
            all.push(begun.recv().await.expect("begun"));
        }
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4]);
    }

    #[tokio::test]
    async fn what_is_in_order_begins_after_the_one_before_has_ended_even_by_a_panic() {
        let mut work = Work::default();
        let (began, mut begun) = tokio::sync::mpsc::unbounded_channel();
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let wait = Arc::new(std::sync::Mutex::new(wait));
        let mut all = Vec::new();
        for number in 0..4 {
            let (began, wait) = (began.clone(), Arc::clone(&wait));
            all.push(work.review_in_order(move || {
                began.send(number).expect("heard");
                wait.lock().expect("no panic").recv().expect("let go");
                assert_ne!(number, 1, "this one panics, once it has let go of the lock");
            }));
        }
        // Whichever is polled first.
        for one in all.into_iter().rev() {
            tokio::spawn(one);
        }
        for number in 0..4 {
            assert_eq!(begun.recv().await, Some(number));
            tokio::task::yield_now().await;
            assert!(begun.try_recv().is_err(), "one at a time");
            go.send(()).expect("it waits");
        }
    }

    #[test]
    fn a_client_stops_its_own_work_and_no_other() {
        let mut work = Work::default();
        let (told, stops) = std::sync::mpsc::channel();
        for (job, client) in [(Job::File, 1), (Job::Backup, 2)] {
            let told = told.clone();
            work.begin_stoppable(job, ClientId(client), JobContext::default(), move |context| {
                told.send((job, context.clone())).expect("heard");
            });
        }
        let stops: Vec<(Job, JobContext)> = stops.iter().take(2).collect();
        let stopped = |of: Job| stops.iter().any(|(job, context)| *job == of && context.check().is_err());
        work.stop(ClientId(2));
        assert!(stopped(Job::Backup) && !stopped(Job::File));
        work.ended(Job::File);
        work.stop(ClientId(1));
        assert!(!stopped(Job::File), "it has ended");
    }

    #[test]
    fn progress_grows_in_steps_that_can_be_seen_and_ends_at_the_end_of_its_part() {
        let (told, heard) = std::sync::mpsc::channel();
        let context = JobContext::reporting_to(move |permille| told.send(permille).expect("heard"));
        for done in 0..=1000 {
            context.report(100, 200, done, 1000);
        }
        // Less than before, and more than there is.
        context.report(0, 150, 1, 1);
        context.report(200, 1000, 7, 5);
        context.report(0, 1000, 0, 0);
        drop(context);
        let heard: Vec<u32> = heard.iter().collect();
        assert_eq!(heard, [100, 110, 120, 130, 140, 150, 160, 170, 180, 190, 200, 1000]);
    }
}
