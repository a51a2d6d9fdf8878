//! A session's effects, in the order in which they must happen.

use std::collections::VecDeque;

use proto::peer;

use crate::{Entry, Event, Journal, Output};

/// The effect queue of a session. Journal entries wait in it with all other effects but are never handed out: an effect
/// behind an entry leaves the queue only after the journal has kept the entry (write-ahead).
#[derive(Default)]
pub(crate) struct Effects(VecDeque<Effect>);

enum Effect {
    Keep(Entry),
    Send(peer::Envelope),
    Tell(Event),
    Close(peer::ByeReason),
}

impl Effects {
    pub(crate) fn keep(&mut self, entry: Entry) {
        self.0.push_back(Effect::Keep(entry));
    }

    pub(crate) fn send(&mut self, message: impl Into<peer::Envelope>) {
        self.0.push_back(Effect::Send(message.into()));
    }

    pub(crate) fn tell(&mut self, event: Event) {
        self.0.push_back(Effect::Tell(event));
    }

    pub(crate) fn close(&mut self, reason: peer::ByeReason) {
        self.0.push_back(Effect::Close(reason));
    }

    /// Unsent messages belong to the lost link and are dropped; the next link starts with a hello.
    pub(crate) fn link_lost(&mut self) {
        self.0.retain(|effect| !matches!(effect, Effect::Send(_) | Effect::Close(_)));
    }

    pub(crate) fn drop_sends(&mut self) {
        self.0.retain(|effect| !matches!(effect, Effect::Send(_)));
    }

    /// Writes the entries at the front to the journal, and returns the first effect behind them. An entry that cannot be
    /// written stays at the front.
    pub(crate) fn next<J: Journal>(&mut self, journal: &mut J) -> Result<Option<Output>, J::Error> {
        while let Some(Effect::Keep(entry)) = self.0.front() {
            journal.keep(entry)?;
            self.0.pop_front();
        }
        Ok(self.0.pop_front().map(|effect| match effect {
            Effect::Send(envelope) => Output::Send(envelope),
            Effect::Tell(event) => Output::Event(event),
            Effect::Close(reason) => Output::Close(reason),
            Effect::Keep(_) => unreachable!("entries in front were kept"),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MatchId;

    /// A journal with a limited number of entries.
    struct Small(Vec<Entry>, usize);

    impl Journal for Small {
        type Error = &'static str;

        fn keep(&mut self, entry: &Entry) -> Result<(), Self::Error> {
            if self.0.len() == self.1 {
                return Err("the disk is full");
            }
            self.0.push(entry.clone());
            Ok(())
        }
    }

    #[test]
    fn nothing_behind_an_entry_comes_out_before_the_entry_is_kept() {
        let mut effects = Effects::default();
        let (one, two) = (Entry::Settled(MatchId([1; 16])), Entry::Settled(MatchId([2; 16])));
        effects.keep(one.clone());
        effects.tell(Event::Friends);
        effects.keep(two.clone());
        effects.send(peer::Ping { token: 1 });
        let mut journal = Small(Vec::new(), 1);
        assert_eq!(effects.next(&mut journal), Ok(Some(Output::Event(Event::Friends))));
        assert_eq!(journal.0, std::slice::from_ref(&one));
        for _ in 0..2 {
            assert_eq!(effects.next(&mut journal), Err("the disk is full"), "it stays in front");
        }
        journal.1 = 2;
        let ping = peer::Ping { token: 1 };
        assert_eq!(effects.next(&mut journal), Ok(Some(Output::Send(ping.into()))));
        assert_eq!(journal.0, [one, two], "each is kept once, in order");
        assert_eq!(effects.next(&mut journal), Ok(None));
    }
}
