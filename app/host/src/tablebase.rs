//! Liuzhou chess's endgame table for the default rules: computed once at the user's request, on a thread of its own.
//!
//! It is stored in the data directory, where level 10 and hints read it for positions with few stones.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::liuzhou::LiuzhouSetup;
use engine::liuzhou::tablebase::Tablebase;
use proto::control::{self, EndingsState, RefusalCode, event};
use tracing::{debug, warn};

use crate::actor::{Actor, Message};
use crate::responder::{Answer, done};
use crate::show::Refusal;

/// Interval of progress reports: as often as a percentage can be read.
const TOLD_EVERY: Duration = Duration::from_millis(500);

/// Niceness of the thread: play has priority.
const NICENESS: i32 = 15;

/// State of the table, and its computation.
#[derive(Default)]
pub(crate) struct TablebaseJob {
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

impl TablebaseJob {
    /// Stops the computation; its progress is lost.
    pub(crate) fn stop(&mut self) {
        self.working = None;
    }
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

impl Actor {
    /// Starts the computation, or stops it or deletes the table.
    pub(crate) fn set_tablebase(&mut self, on: bool) -> Result<Answer, Refusal> {
        self.tablebase.failed = false;
        if on && self.tablebase.working.is_none() && self.table_bytes().is_none() {
            self.build_tablebase()?;
        } else if !on {
            self.tablebase.stop();
            if let Some(path) = self.table_path()
                && let Err(error) = std::fs::remove_file(path)
                && error.kind() != std::io::ErrorKind::NotFound
            {
                return Err(Refusal::new(RefusalCode::RefusalDisk, error.to_string()));
            }
        }
        self.tell_tablebase();
        Ok(done())
    }

    fn build_tablebase(&mut self) -> Result<(), Refusal> {
        self.tablebase.last += 1;
        let (ticket, stop) = (self.tablebase.last, Arc::new(AtomicBool::new(false)));
        let (folder, inbox, stopped) = (self.data_dir.clone(), self.inbox.clone(), stop.clone());
        // Sending fails only after the actor has ended.
        let tell = move |news| drop(inbox.send(Message::Tablebase(ticket, news)));
        let in_directory = self.work.in_directory.token();
        let work = move || {
            if let Err(error) = rustix::process::nice(NICENESS) {
                debug!(%error, "the tablebase is built at normal priority");
            }
            let mut told: Option<Instant> = None;
            let ended =
                Tablebase::put_into(&LiuzhouSetup::default(), &folder, &stopped, &mut |plies, part| {
                    if told.is_none_or(|told| told.elapsed() >= TOLD_EVERY) {
                        told = Some(Instant::now());
                        tell(TablebaseNews::Progress(plies, part));
                    }
                });
            drop(in_directory);
            tell(TablebaseNews::Ended(ended));
        };
        std::thread::Builder::new()
            .name("tablebase".into())
            .spawn(work)
            .map_err(|error| Refusal::new(RefusalCode::RefusalBusy, error.to_string()))?;
        self.tablebase.working = Some(Working { ticket, stop, plies: 0, permille: 0 });
        Ok(())
    }

    /// Handles a message from the thread with this ticket.
    pub(crate) fn on_tablebase_news(&mut self, ticket: u64, news: TablebaseNews) {
        let Some(working) = self.tablebase.working.as_mut().filter(|working| working.ticket == ticket) else {
            return;
        };
        match news {
            TablebaseNews::Progress(plies, permille) => (working.plies, working.permille) = (plies, permille),
            TablebaseNews::Ended(ended) => {
                if let Err(error) = &ended {
                    warn!(%error, "the tablebase could not be written");
                }
                self.tablebase.failed = ended.is_err();
                self.tablebase.stop();
            }
        }
        self.tell_tablebase();
    }

    fn tell_tablebase(&mut self) {
        let shown = self.shown_tablebase();
        self.tell(event::Body::Endings(shown));
    }

    pub(crate) fn shown_tablebase(&self) -> control::Endings {
        if let Some(working) = &self.tablebase.working {
            return control::Endings {
                state: EndingsState::EndingsWorking.into(),
                plies: working.plies.into(),
                permille: working.permille.into(),
                bytes: 0,
            };
        }
        let (state, bytes) = match self.table_bytes() {
            Some(bytes) => (EndingsState::EndingsThere, bytes),
            None if self.tablebase.failed => (EndingsState::EndingsFailed, 0),
            None => (EndingsState::EndingsNone, 0),
        };
        control::Endings { state: state.into(), bytes, ..control::Endings::default() }
    }

    fn table_path(&self) -> Option<PathBuf> {
        Tablebase::file_name(&LiuzhouSetup::default()).map(|name| self.data_dir.join(name))
    }

    fn table_bytes(&self) -> Option<u64> {
        self.table_path().and_then(|path| path.metadata().ok()).map(|about| about.len())
    }
}
