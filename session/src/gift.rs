//! Showing the peer a kept match, which its person may keep too. The match is sent once and needs no answer: the sender does
//! not learn whether the peer keeps it.

use proto::peer;

use crate::session::{Link, Session};
use crate::{Event, MatchRecord, Refused, resume, wire};

impl Session {
    /// Sends the whole record of any match to a connected friend.
    pub(crate) fn give(&mut self, record: &MatchRecord) -> Result<(), Refused> {
        if !matches!(self.link, Link::Up) {
            return Err(Refused::Away);
        }
        if !wire::is_for_peers(&record.setup) {
            return Err(Refused::RecordFull);
        }
        self.peer_capabilities.check_setup(&record.setup)?;
        let message = peer::Gift {
            record: Some(resume::record_message(&MatchRecord { reveal: None, ..record.clone() }, 0)),
        };
        // A match without a peer may be longer than a message between devices allows.
        if peer::Envelope::from(message.clone()).check().is_err() {
            return Err(Refused::RecordFull);
        }
        if !self.said_here.may_say(self.now) {
            return Err(Refused::TooFast);
        }
        self.send(message);
        Ok(())
    }

    /// A gift that is unreadable, perhaps of a newer version, or that exceeds the rate limit, is dropped: nothing depends on
    /// it.
    pub(crate) fn received_gift(&mut self, gift: &peer::Gift) {
        // Checked before unpacking and replaying the record, which are the expensive part.
        if !self.said_there.may_say(self.now) {
            return;
        }
        if let Some(state) = gift.record.as_ref().and_then(|record| resume::read_record(record).ok()) {
            self.tell(Event::Gift(Box::new(state.record().clone())));
        }
    }
}
