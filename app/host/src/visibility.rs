//! Who may find this device now: as the person said, and less while nobody uses it.

use std::time::Duration;

use proto::control::{RefusalCode, Visibility, event};
use tokio::time::Instant;

use crate::actor::{Actor, FOUND_WHEN_CLOSED, VISIBILITY};
use crate::responder::{Answer, done};
use crate::show::Refusal;

/// A device of which the last client has left counts as used for this long: as long as an interrupted match is looked for,
/// and long enough for a person who types one command after another.
const STILL_OPEN: Duration = Duration::from_mins(5);

/// How this device may be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exposure {
    pub(crate) to: Visibility,
    /// By adverts that spare the battery.
    pub(crate) seldom: bool,
}

impl Actor {
    pub(crate) fn exposure(&self) -> Exposure {
        let exposed = |to, seldom| Exposure { to, seldom };
        match (self.visibility, self.used_until() > Instant::now(), self.found_when_closed) {
            (visibility, true, _) => exposed(visibility, false),
            (Visibility::Nobody, false, _) | (_, false, false) => exposed(Visibility::Nobody, false),
            (Visibility::Friends | Visibility::Everyone, false, true) => exposed(Visibility::Friends, true),
        }
    }

    /// Until when this device counts as used, if no client comes.
    fn used_until(&self) -> Instant {
        self.last_used + STILL_OPEN
    }

    /// When the exposure changes by itself.
    pub(crate) fn exposure_deadline(&self) -> Option<Instant> {
        let until = self.used_until();
        (!self.clients.anyone_attached() && until > Instant::now() && !self.radios.is_empty())
            .then_some(until)
    }

    /// Called after every message: somebody uses this device now.
    pub(crate) fn note_use(&mut self) {
        if self.clients.anyone_attached() {
            self.last_used = Instant::now();
        }
    }

    pub(crate) fn set_visibility(&mut self, number: i32) -> Result<Answer, Refusal> {
        let visibility = Visibility::try_from(number)
            .map_err(|_| Refusal::new(RefusalCode::RefusalBadRequest, "no such visibility"))?;
        self.journal.keep(|store| store.set_setting(VISIBILITY, visibility.as_str_name()))?;
        self.visibility = visibility;
        let me = self.me();
        self.tell(event::Body::Me(me));
        Ok(done())
    }

    pub(crate) fn set_found_when_closed(&mut self, on: bool) -> Result<Answer, Refusal> {
        self.journal.keep(|store| store.set_setting(FOUND_WHEN_CLOSED, if on { "yes" } else { "no" }))?;
        self.found_when_closed = on;
        let me = self.me();
        self.tell(event::Body::Me(me));
        Ok(done())
    }
}
