//! Hints in a match whose terms allow them: each side counts its own, and the other side is shown the number.
//!
//! The number only grows, and each side reports its own: a lost [`peer::HintTaken`] is made up for by the next hello or record.

use proto::{limits, peer};

use crate::cx::Cx;
use crate::{Entry, Event, MatchState, Refused, wire};

impl MatchState {
    /// Whether this side may take a hint now.
    pub fn can_take_hint(&self) -> bool {
        self.check_can_take_hint().is_ok()
    }

    fn check_can_take_hint(&self) -> Result<[u32; 2], Refused> {
        let hints = self.record().hints.ok_or(Refused::NoHints)?;
        self.check_can_act().map(|()| hints)
    }

    /// Counts a hint for this side before it is given. A further hint for the same position counts as the same.
    pub(crate) fn take_hint(&mut self, cx: &mut Cx<'_>) -> Result<(), Refused> {
        let mut hints = self.check_can_take_hint()?;
        let here = (self.revision(), self.ply());
        let mine = &mut hints[self.my_side().index()];
        if self.hinted_at == Some(here) || *mine == limits::HINTS {
            return Ok(());
        }
        *mine += 1;
        let taken = *mine;
        self.hinted_at = Some(here);
        self.set_hints(cx, hints);
        if self.is_level() {
            cx.send(peer::HintTaken { match_id: wire::id_bytes(self.id()), hints: taken });
        }
        Ok(())
    }

    /// The peer reports the number of hints that its side has taken.
    pub(crate) fn hear_hints(&mut self, cx: &mut Cx<'_>, taken: u32) {
        let Some(mut hints) = self.record().hints else { return };
        let theirs = &mut hints[self.their_side().index()];
        if taken <= *theirs || taken > limits::HINTS {
            return;
        }
        *theirs = taken;
        self.set_hints(cx, hints);
        cx.tell(Event::HintTaken { id: self.id() });
    }

    /// Does not end the settled state: the record that both have is the same.
    fn set_hints(&mut self, cx: &mut Cx<'_>, hints: [u32; 2]) {
        let id = self.id();
        self.line.record.hints = Some(hints);
        cx.effects.keep(Entry::Hinted { id, hints });
        cx.tell(Event::MatchChanged(id));
    }
}
