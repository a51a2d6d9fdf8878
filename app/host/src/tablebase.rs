//! Liuzhou chess's endgame table for the default rules: computed once at the user's request, on a thread of its own.
//!
//! It is stored in the data directory, where level 10 and hints read it for positions with few stones.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::liuzhou::LiuzhouSetup;
use engine::liuzhou::tablebase::Tablebase;
use proto::control::{self, EndingsState, RefusalCode};
use tracing::{debug, warn};

use crate::power::Engines;
use crate::refusal::Refusal;

/// Interval of progress reports: as often as a percentage can be read.
const TOLD_EVERY: Duration = Duration::from_millis(500);

/// Niceness of the thread: play has priority.
const NICENESS: i32 = 15;

/// State of the table, and its computation.
pub(crate) struct TablebaseJob {
    folder: PathBuf,
    engines: Engines,
    working: Option<Working>,
    last: u64,
    failed: bool,
}

struct Working {
    ticket: u64,
    stop: Arc<AtomicBool>,
    plies: u8,
    permille: u16,
}

impl Drop for Working {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// A message from the computing thread.
pub(crate) enum TablebaseNews {
    /// Number of finished plies, and progress of the next one in thousandths.
    Progress(u8, u16),
    /// The end, and whether the table exists.
    Ended(std::io::Result<bool>),
}

impl TablebaseJob {
    /// `folder`: the data directory. The computation rests while `engines` do.
    pub(crate) fn new(folder: PathBuf, engines: Engines) -> Self {
        Self { folder, engines, working: None, last: 0, failed: false }
    }

    /// Starts the computation, or stops it and deletes the table. `tell` gets the thread's messages with the number of the
    /// computation; `guard` is dropped when the thread no longer uses the folder.
    pub(crate) fn set(
        &mut self,
        on: bool,
        guard: impl Send + 'static,
        tell: impl Fn(u64, TablebaseNews) + Send + 'static,
    ) -> Result<(), Refusal> {
        self.failed = false;
        if !on {
            return self.delete();
        }
        if self.working.is_some() || self.bytes().is_some() {
            return Ok(());
        }
        let working = self.next();
        self.spawn(&working, guard, tell)?;
        self.working = Some(working);
        Ok(())
    }

    fn next(&mut self) -> Working {
        self.last += 1;
        Working { ticket: self.last, stop: Arc::default(), plies: 0, permille: 0 }
    }

    fn spawn(
        &self,
        working: &Working,
        guard: impl Send + 'static,
        tell: impl Fn(u64, TablebaseNews) + Send + 'static,
    ) -> Result<(), Refusal> {
        let (ticket, folder, stop) = (working.ticket, self.folder.clone(), working.stop.clone());
        let engines = self.engines.clone();
        let work = move || {
            if let Err(error) = rustix::process::nice(NICENESS) {
                debug!(%error, "the tablebase is built at normal priority");
            }
            let mut told: Option<Instant> = None;
            let ended = Tablebase::put_into(&LiuzhouSetup::default(), &folder, &stop, &mut |plies, part| {
                engines.wait_while_resting(&stop);
                if told.is_none_or(|told| told.elapsed() >= TOLD_EVERY) {
                    told = Some(Instant::now());
                    tell(ticket, TablebaseNews::Progress(plies, part));
                }
            });
            drop(guard);
            tell(ticket, TablebaseNews::Ended(ended));
        };
        let thread = std::thread::Builder::new().name("tablebase".into()).spawn(work);
        thread.map(drop).map_err(|error| Refusal::new(RefusalCode::RefusalBusy, error.to_string()))
    }

    fn delete(&mut self) -> Result<(), Refusal> {
        self.stop();
        match self.path().map(std::fs::remove_file) {
            Some(Err(error)) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Refusal::new(RefusalCode::RefusalDisk, error.to_string()))
            }
            _ => Ok(()),
        }
    }

    /// Stops the computation; its progress is lost.
    pub(crate) fn stop(&mut self) {
        self.working = None;
    }

    /// Handles a message of the computation with this number. Returns whether the state has changed.
    pub(crate) fn handle(&mut self, ticket: u64, news: TablebaseNews) -> bool {
        let Some(working) = self.working.as_mut().filter(|working| working.ticket == ticket) else {
            return false;
        };
        match news {
            TablebaseNews::Progress(plies, permille) => (working.plies, working.permille) = (plies, permille),
            TablebaseNews::Ended(ended) => {
                if let Err(error) = &ended {
                    warn!(%error, "the tablebase could not be written");
                }
                self.failed = ended.is_err();
                self.stop();
            }
        }
        true
    }

    /// The state as clients see it.
    pub(crate) fn shown(&self) -> control::Endings {
        if let Some(working) = &self.working {
            return control::Endings {
                state: EndingsState::EndingsWorking.into(),
                plies: working.plies.into(),
                permille: working.permille.into(),
                bytes: 0,
            };
        }
        let (state, bytes) = match self.bytes() {
            Some(bytes) => (EndingsState::EndingsThere, bytes),
            None if self.failed => (EndingsState::EndingsFailed, 0),
            None => (EndingsState::EndingsNone, 0),
        };
        control::Endings { state: state.into(), bytes, ..control::Endings::default() }
    }

    fn path(&self) -> Option<PathBuf> {
        Tablebase::file_name(&LiuzhouSetup::default()).map(|name| self.folder.join(name))
    }

    fn bytes(&self) -> Option<u64> {
        self.path().and_then(|path| path.metadata().ok()).map(|about| about.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::power::Sensors;

    fn job() -> (TablebaseJob, tempfile::TempDir) {
        let folder = tempfile::tempdir().expect("a folder for the test");
        (TablebaseJob::new(folder.path().to_owned(), Engines::new(Sensors::default())), folder)
    }

    /// A computation without its thread.
    fn begin(job: &mut TablebaseJob) -> (u64, Arc<AtomicBool>) {
        let working = job.next();
        let begun = (working.ticket, working.stop.clone());
        job.working = Some(working);
        begun
    }

    #[test]
    fn a_table_in_the_folder_is_there_and_is_deleted_when_it_is_not_wanted() {
        let (mut job, _folder) = job();
        assert_eq!(job.shown().state(), EndingsState::EndingsNone);
        std::fs::write(job.path().expect("the default rules have a table"), [0; 7]).expect("written");
        assert_eq!((job.shown().state(), job.shown().bytes), (EndingsState::EndingsThere, 7));
        job.set(true, (), |_, _| panic!("it is not computed again")).expect("nothing to do");
        job.set(false, (), |_, _| {}).expect("deleted");
        assert_eq!(job.shown().state(), EndingsState::EndingsNone);
        job.set(false, (), |_, _| {}).expect("nothing to delete");
    }

    #[test]
    fn what_a_stopped_computation_says_changes_nothing() {
        let (mut job, _folder) = job();
        let (first, stopped) = begin(&mut job);
        job.stop();
        assert!(stopped.load(Ordering::Relaxed), "its thread is told to end");
        let (second, goes_on) = begin(&mut job);
        assert!(!job.handle(first, TablebaseNews::Progress(9, 900)));
        assert!(!job.handle(first, TablebaseNews::Ended(Ok(false))));
        assert_eq!(job.shown().plies, 0);
        assert!(job.handle(second, TablebaseNews::Progress(3, 250)));
        assert_eq!((job.shown().plies, job.shown().permille), (3, 250));
        assert!(!goes_on.load(Ordering::Relaxed));
    }

    #[test]
    fn a_failure_is_shown_until_the_table_is_asked_for_again_or_given_up() {
        let (mut job, _folder) = job();
        let (ticket, _) = begin(&mut job);
        assert!(job.handle(ticket, TablebaseNews::Ended(Err(std::io::ErrorKind::StorageFull.into()))));
        assert_eq!(job.shown().state(), EndingsState::EndingsFailed);
        job.set(false, (), |_, _| {}).expect("nothing to delete");
        assert_eq!(job.shown().state(), EndingsState::EndingsNone);
    }
}
