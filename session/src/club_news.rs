//! Telling the peer a club evening, and hearing of the peer's. Nothing is saved, and there is no answer.

use proto::peer;

use crate::session::{Link, Session};
use crate::{Event, Refused, club};

impl Session {
    /// Tells the peer an evening, in place of an earlier state that it was not told yet.
    pub(crate) fn tell_of_club(&mut self, message: peer::Club) -> Result<(), Refused> {
        if !matches!(self.link, Link::Up) {
            return Err(Refused::Away);
        }
        self.telling.put(message);
        self.clubs_due();
        Ok(())
    }

    /// Sends what is due, if it is time.
    pub(crate) fn clubs_due(&mut self) {
        if let Some(message) = self.telling.take_due(self.now) {
            self.send(message);
        }
    }

    /// What is unreadable, perhaps of a newer version, or exceeds the rate limit, is dropped.
    pub(crate) fn received_club(&mut self, message: &peer::Club) {
        // The limit is checked before reading, which is the expensive part.
        if self.telling.hears(self.now)
            && let Ok(told) = club::read(message)
        {
            self.tell(Event::Club { number: message.number, told: told.map(Box::new) });
        }
    }
}
