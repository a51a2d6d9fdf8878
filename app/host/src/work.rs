//! Long computations: each on a thread of its own, with a limited number at a time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use proto::control::{RefusalCode, Words};
use tokio::sync::Semaphore;
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
    /// Computations that their client can stop.
    stoppable: Vec<(Job, ClientId, Stop)>,
}

/// Turns of those who read kept matches.
struct Reviews(Arc<Semaphore>);

impl Default for Reviews {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MOST_REVIEWS)))
    }
}

/// Tells a computation that its client does not want it any more.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<Stopping>);

#[derive(Default)]
struct Stopping {
    asked: AtomicBool,
    /// Interrupts the present call of the computation.
    interrupt: Mutex<Option<Box<dyn Fn() + Send>>>,
}

impl Stop {
    fn ask(&self) {
        self.0.asked.store(true, Ordering::SeqCst);
        if let Some(interrupt) = &*self.0.interrupt.lock().unwrap_or_else(PoisonError::into_inner) {
            interrupt();
        }
    }

    /// Fails with the refusal of the request if the computation is to stop. Called before each step; what the earlier steps
    /// left is removed by the caller.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        if !self.0.asked.load(Ordering::SeqCst) {
            return Ok(());
        }
        let reason = Words {
            zh: "已取消，什么都没有改动。".into(),
            en: "Cancelled. Nothing was changed.".into(),
        };
        let refusal = Refusal::new(RefusalCode::RefusalStopped, "stopped by its client");
        Err(Refusal { reason: Some(reason), ..refusal })
    }

    /// Runs a call that `interrupt` ends early from another thread.
    pub(crate) fn during<T>(&self, interrupt: impl Fn() + Send + 'static, call: impl FnOnce() -> T) -> T {
        let set = |to| *self.0.interrupt.lock().unwrap_or_else(PoisonError::into_inner) = to;
        set(Some(Box::new(interrupt)));
        let result = call();
        set(None);
        result
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

    /// As [`begin`](Self::begin), for a computation that its client can stop. At most one of its kind runs.
    pub(crate) fn begin_stoppable(
        &mut self,
        job: Job,
        client: ClientId,
        work: impl FnOnce(&Stop) + Send + 'static,
    ) {
        let stop = Stop::default();
        self.stoppable.push((job, client, stop.clone()));
        self.begin(job, move || work(&stop));
    }

    /// Stops the computations of this client.
    pub(crate) fn stop(&self, client: ClientId) {
        for (job, _, stop) in self.stoppable.iter().filter(|(_, of, _)| *of == client) {
            info!(?job, "stopped by its client");
            stop.ask();
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
        let wait = Arc::new(Mutex::new(wait));
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

    #[test]
    fn a_client_stops_its_own_work_and_no_other() {
        let mut work = Work::default();
        let (told, stops) = std::sync::mpsc::channel();
        for (job, client) in [(Job::File, 1), (Job::Backup, 2)] {
            let told = told.clone();
            work.begin_stoppable(job, ClientId(client), move |stop| {
                told.send((job, stop.clone())).expect("heard");
            });
        }
        let stops: Vec<(Job, Stop)> = stops.iter().take(2).collect();
        let stopped = |of: Job| stops.iter().any(|(job, stop)| *job == of && stop.check().is_err());
        work.stop(ClientId(2));
        assert!(stopped(Job::Backup) && !stopped(Job::File));
        work.ended(Job::File);
        work.stop(ClientId(1));
        assert!(!stopped(Job::File), "it has ended");
    }

    #[test]
    fn a_stop_ends_the_call_that_is_running() {
        let stop = Stop::default();
        let (interrupt, interrupted) = std::sync::mpsc::channel();
        let interrupt = move || interrupt.send(()).expect("waited for");
        let asking = stop.clone();
        stop.during(interrupt, || {
            asking.ask();
            interrupted.recv().expect("the call ends");
        });
        assert!(stop.check().is_err());
    }
}
