//! Long computations: each on a thread of its own, with a limited number at a time.

use tokio_util::task::TaskTracker;
use tracing::warn;

/// The kind of computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    /// A hint, in a match or a puzzle.
    Hint,
    /// Import of a file.
    File,
    /// A backup, or its restoration.
    Backup,
}

impl Job {
    /// Maximum number of threads of this kind. A hint occupies a core for a second; files are imported one after another; a
    /// backup takes 64 MiB of memory.
    fn most(self) -> usize {
        match self {
            Self::Hint => 2,
            Self::File | Self::Backup => 1,
        }
    }
}

/// Counts the running threads.
#[derive(Default)]
pub(crate) struct Work {
    /// Of all threads that read or write the data directory: it is free once they have ended.
    pub(crate) in_directory: TaskTracker,
    hints: usize,
    files: usize,
    backups: usize,
}

impl Work {
    /// Whether one more computation of this kind may start.
    pub(crate) fn has_room(&self, job: Job) -> bool {
        self.count(job) < job.most()
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

    /// Handles the end of a computation.
    pub(crate) fn ended(&mut self, job: Job) {
        let counter = self.counter(job);
        debug_assert!(*counter > 0, "it was begun");
        *counter = counter.saturating_sub(1);
    }

    fn count(&self, job: Job) -> usize {
        match job {
            Job::Hint => self.hints,
            Job::File => self.files,
            Job::Backup => self.backups,
        }
    }

    fn counter(&mut self, job: Job) -> &mut usize {
        match job {
            Job::Hint => &mut self.hints,
            Job::File => &mut self.files,
            Job::Backup => &mut self.backups,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_threads_than_a_job_may_have_and_one_more_when_one_is_over() {
        let mut work = Work::default();
        for job in [Job::Hint, Job::File, Job::Backup] {
            for _ in 0..job.most() {
                assert!(work.has_room(job));
                work.begin(job, || ());
            }
            assert!(!work.has_room(job));
            work.ended(job);
            assert!(work.has_room(job));
        }
    }
}
