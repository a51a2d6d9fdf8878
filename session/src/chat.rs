//! Chat in a match. A message is sent once, not saved, and lost with the link.

use proto::limits;
use proto::peer::{self, Phrase, say};

use crate::session::{Link, Session};
use crate::{Event, MatchId, Refused, Saying};

impl Session {
    pub(crate) fn say(&mut self, id: MatchId, saying: Saying) -> Result<(), Refused> {
        if self.index_of(id).is_none() {
            return Err(Refused::NoSuchMatch);
        }
        let what = match saying {
            Saying::Phrase(Phrase::Unspecified) => return Err(Refused::Unsayable),
            Saying::Phrase(phrase) => say::What::Phrase(phrase.into()),
            Saying::Text(text) if limits::is_said(&text) => say::What::Text(text),
            Saying::Text(_) => return Err(Refused::Unsayable),
        };
        if !matches!(self.link, Link::Up) {
            return Err(Refused::Away);
        }
        if !self.said_here.may_say(self.now) {
            return Err(Refused::TooFast);
        }
        self.send(peer::Say { match_id: id.0.to_vec().into(), what: Some(what) });
        Ok(())
    }

    /// A message about an unknown match, of a newer version, or beyond the rate limit is dropped: nothing depends on it.
    pub(crate) fn received_say(&mut self, say: peer::Say) {
        let id = say.match_id[..].try_into().map(MatchId).ok().filter(|id| self.index_of(*id).is_some());
        let saying = match say.what {
            Some(say::What::Text(text)) => Some(Saying::Text(text)),
            Some(say::What::Phrase(number)) => Phrase::try_from(number)
                .ok()
                .filter(|phrase| *phrase != Phrase::Unspecified)
                .map(Saying::Phrase),
            None => None,
        };
        if let (Some(id), Some(saying)) = (id, saying)
            && self.said_there.may_say(self.now)
        {
            self.tell(Event::Said { id, saying });
        }
    }
}
