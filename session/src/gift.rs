//! A kept match shown to the peer, who may keep it too. It is told once and is nobody's turn: the sender learns nothing of what
//! becomes of it.

use proto::peer;

use crate::session::{Link, Session};
use crate::{Event, MatchRecord, Refused, resume, wire};

impl Session {
    /// Gives the whole record of any match, to a friend who is here.
    pub(crate) fn give(&mut self, record: &MatchRecord) -> Result<(), Refused> {
        if !matches!(self.link, Link::Up) {
            return Err(Refused::Away);
        }
        if !wire::is_for_peers(&record.setup) {
            return Err(Refused::RecordFull);
        }
        let message = peer::Gift {
            record: Some(resume::record_message(&MatchRecord { reveal: None, ..record.clone() }, 0)),
        };
        // A match without a peer may have grown longer than what goes between two devices.
        if peer::Envelope::from(message.clone()).check().is_err() {
            return Err(Refused::RecordFull);
        }
        if !self.said_here.may_say(self.now) {
            return Err(Refused::TooFast);
        }
        self.send(message);
        Ok(())
    }

    /// What cannot be read here, of a newer version perhaps, or comes too fast is not heard: it decides nothing.
    pub(crate) fn received_gift(&mut self, gift: &peer::Gift) {
        // Before it is unpacked and played through, which is what costs.
        if !self.said_there.may_say(self.now) {
            return;
        }
        if let Some(state) = gift.record.as_ref().and_then(|record| resume::read_record(record).ok()) {
            self.tell(Event::Gift(Box::new(state.record().clone())));
        }
    }
}
