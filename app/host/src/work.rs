//! Work that takes longer than the host's task may: each piece on a thread of its own, a bounded number at a time.

use tracing::warn;

/// What a thread works at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    /// A move that is good, in a match or in a puzzle.
    Hint,
    /// Reading a file of another program.
    File,
}

impl Job {
    /// Threads at a time. A hint takes a core for a second; a person takes in one file after another.
    fn most(self) -> usize {
        match self {
            Self::Hint => 2,
            Self::File => 1,
        }
    }
}

/// Counts the threads that are under way.
#[derive(Default)]
pub(crate) struct Work {
    hints: usize,
    files: usize,
}

impl Work {
    /// Whether one more piece of this work may begin.
    pub(crate) fn has_room(&self, job: Job) -> bool {
        self.count(job) < job.most()
    }

    /// Begins a piece of work; whoever hears of its end calls [`Work::ended`]. Without a thread `work` is dropped, and a responder
    /// within it refuses.
    pub(crate) fn begin(&mut self, job: Job, work: impl FnOnce() + Send + 'static) {
        match std::thread::Builder::new().name(format!("{job:?}").to_lowercase()).spawn(work) {
            Ok(_) => *self.counter(job) += 1,
            Err(error) => warn!(%error, ?job, "no thread"),
        }
    }

    /// A piece of work is over.
    pub(crate) fn ended(&mut self, job: Job) {
        let counter = self.counter(job);
        debug_assert!(*counter > 0, "it was begun");
        *counter = counter.saturating_sub(1);
    }

    fn count(&self, job: Job) -> usize {
        match job {
            Job::Hint => self.hints,
            Job::File => self.files,
        }
    }

    fn counter(&mut self, job: Job) -> &mut usize {
        match job {
            Job::Hint => &mut self.hints,
            Job::File => &mut self.files,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_threads_than_a_job_may_have_and_one_more_when_one_is_over() {
        let mut work = Work::default();
        for job in [Job::Hint, Job::File] {
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
