//! The journal of a device, and its disk, which may fail before a write.

use engine::{Action, GameKind};
use session::{Entry, MatchId, MatchRecord, Settled};

/// The contents of a device's disk after a crash.
#[derive(Clone, Default)]
pub(crate) struct Journal {
    pub(crate) friend: Option<(String, [u8; 32])>,
    pub(crate) matches: Vec<(MatchRecord, Settled)>,
    pub(crate) promised: Vec<MatchId>,
    /// Every truncation of a record: match, new length, new revision.
    pub(crate) cuts: Vec<(MatchId, u32, u32)>,
}

impl Journal {
    /// Writes an entry as a host does; panics on an entry that a host could not write.
    pub(crate) fn write(&mut self, entry: Entry) {
        let settles = matches!(entry, Entry::Settled(_) | Entry::Learned(_));
        if let Entry::Hinted { id, hints } = entry {
            // The actions are as they were: what is settled stays so.
            let before = self.record_mut(id).hints.replace(hints).expect("hints were agreed");
            assert!(before[0] <= hints[0] && before[1] <= hints[1] && before != hints, "the numbers grow");
            return;
        }
        let id = entry.match_id();
        match entry {
            Entry::Friend { name, advert_key } => self.friend = Some((name, advert_key)),
            Entry::Began(record) => {
                self.matches.retain(|(other, _)| other.id != record.id);
                self.matches.push((record, false));
            }
            Entry::Acted { id, ply, action, took_ms, result } => {
                let record = self.record_mut(id);
                assert_eq!(record.actions.len() as u32 + 1, ply, "an action follows the last one");
                record.actions.push(action);
                if record.pace.is_some() {
                    record.times.push(took_ms);
                } else {
                    assert_eq!(took_ms, 0, "without a pace nothing is measured");
                }
                record.spent_ms = 0;
                record.result = result;
            }
            Entry::Pressed { id, pressed, spent_ms } => {
                let record = self.record_mut(id);
                record.run.extend(pressed);
                record.spent_ms = spent_ms;
            }
            Entry::Ran { id, ply, run, mine, result } => {
                let record = self.record_mut(id);
                record.actions.extend(&run);
                assert_eq!(record.actions.len() as u32, ply, "a run follows the last one");
                assert!(matches!(run.last(), Some(Action::Done(_))), "a run is whole");
                if mine {
                    assert!(run.starts_with(&record.run), "what was pressed is in it");
                    record.run.clear();
                    record.spent_ms = 0;
                }
                record.result = result;
            }
            Entry::TakenBack { id, ply, revision } => {
                let record = self.record_mut(id);
                assert!(ply < record.actions.len() as u32 && revision == record.revision + 1);
                record.actions.truncate(ply as usize);
                record.times.truncate(ply as usize);
                record.spent_ms = 0;
                record.paused = false;
                record.revision = revision;
                record.result = None;
                record.offered = None;
                self.cuts.push((id, ply, revision));
            }
            Entry::Ended { id, revision, result } => {
                let record = self.record_mut(id);
                record.result = Some(result);
                record.revision = revision;
                record.paused = false;
            }
            Entry::Paused { id, revision, paused } => {
                let record = self.record_mut(id);
                assert!(revision == record.revision + 1 && paused != record.paused);
                record.revision = revision;
                record.paused = paused;
            }
            Entry::Spent { id, spent_ms } => {
                let record = self.record_mut(id);
                let timed = record.pace.is_some() || record.setup.kind() == GameKind::LightsOut;
                assert!(timed && record.result.is_none());
                record.spent_ms = spent_ms;
            }
            Entry::Offered { id, offered } => self.record_mut(id).offered = offered,
            Entry::Replaced(record) => {
                self.cuts.push((record.id, record.actions.len() as u32, record.revision));
                let id = record.id;
                *self.record_mut(id) = record;
            }
            Entry::Promised(id) => self.promised.push(id),
            Entry::Learned(record) => {
                let promised = self.promised.iter().position(|promised| *promised == record.id);
                self.promised.remove(promised.expect("only what was promised is learnt"));
                if self.record(record.id).is_none() {
                    self.matches.push((record, true));
                }
            }
            Entry::Hinted { .. } => unreachable!("written above"),
            Entry::Settled(id) => assert!(self.record_mut(id).result.is_some()),
        }
        if let Some(id) = id {
            let settled =
                self.matches.iter_mut().find(|(record, _)| record.id == id).map(|(_, settled)| settled);
            *settled.expect("the match was begun") = settles;
        }
    }

    pub(super) fn record_mut(&mut self, id: MatchId) -> &mut MatchRecord {
        &mut self.matches.iter_mut().find(|(record, _)| record.id == id).expect("the match was begun").0
    }

    pub(crate) fn record(&self, id: MatchId) -> Option<&MatchRecord> {
        self.matches.iter().find(|(record, _)| record.id == id).map(|(record, _)| record)
    }
}

/// The journal of a device that may be killed before a write.
pub(super) struct Disk<'a> {
    pub(super) journal: &'a mut Journal,
    pub(super) dies_at: &'a mut Option<usize>,
    pub(super) trace: bool,
}

/// The device was killed: the write did not happen.
#[derive(Debug)]
pub(super) struct Died;

/// Counts one effect, before it happens.
pub(super) fn step(dies_at: &mut Option<usize>) -> Result<(), Died> {
    match dies_at {
        Some(0) => Err(Died),
        Some(left) => {
            *left -= 1;
            Ok(())
        }
        None => Ok(()),
    }
}

impl session::Journal for Disk<'_> {
    type Error = Died;

    fn keep(&mut self, entry: &Entry) -> Result<(), Died> {
        step(self.dies_at)?;
        if self.trace {
            eprintln!("  keeps {entry:?}");
        }
        self.journal.write(entry.clone());
        Ok(())
    }
}
