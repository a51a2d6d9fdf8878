//! Gives and keeps copies of kept matches; the open offers are in `gifts`.

use proto::control::{self, RefusalCode, event};
use session::{Command, MatchId, MatchRecord};
use tracing::info;

use crate::actor::Actor;
use crate::gifts::Gift;
use crate::responder::{Answer, done, in_room};
use crate::room::{PlayerId, Seat};
use crate::show::Refusal;
use crate::store::SavedMatch;

impl Actor {
    pub(crate) fn give(&mut self, give: &control::Give) -> Result<Answer, Refusal> {
        let key = self.player(&give.peer)?;
        let saved = self.saved_match(&give.room_id)?;
        let with_peer = saved.seats.iter().any(|seat| matches!(seat, Seat::Peer(_)));
        if saved.record.result.is_none() && with_peer {
            let why = "a match with another device is given when it is over";
            return Err(Refusal::new(RefusalCode::RefusalBadRequest, why));
        }
        self.command(key, Command::Give(Box::new(saved.record)))?;
        Ok(done())
    }

    /// Handles an offer.
    pub(crate) fn gift_came(&mut self, from: PlayerId, record: MatchRecord) {
        let muted = self.people.get(&from).and_then(|peer| peer.friend.as_ref()).is_none_or(|one| one.muted);
        let now = self.now_unix_ms();
        let Some(number) = self.gifts.offer(from, muted, record, now).map(Gift::number) else {
            return info!(muted, "a gift is not shown");
        };
        match self.gifts.get(number).and_then(|gift| self.shown_gift(gift)) {
            Some(shown) => self.tell(event::Body::Gift(shown)),
            None => self.gifts.remove(number),
        }
    }

    pub(crate) fn answer_gift(&mut self, answer: &control::AnswerGift) -> Result<Answer, Refusal> {
        let no_such = || Refusal::new(RefusalCode::RefusalNoOffer, "no such gift");
        let number: u64 = answer.gift_id.parse().map_err(|_| no_such())?;
        let gift = self.gifts.get(number).ok_or_else(no_such)?;
        let mut kept = done();
        if answer.keep {
            let record = gift.copy(MatchId(self.chance.bytes()));
            let (id, now) = (record.id, self.now_unix_ms());
            self.journal.keep(|store| store.put_away(&record, Seat::BOTH_HERE, now))?;
            kept = in_room(id);
        }
        self.gifts.remove(number);
        self.tell(event::Body::GiftGone(control::Gone { id: number.to_string() }));
        Ok(kept)
    }

    pub(crate) fn gift_events(&self) -> Vec<event::Body> {
        self.gifts.all().iter().filter_map(|gift| self.shown_gift(gift)).map(event::Body::Gift).collect()
    }

    fn shown_gift(&self, gift: &Gift) -> Option<control::Gift> {
        let saved = SavedMatch {
            record: gift.record().clone(),
            seats: Seat::BOTH_HERE,
            open: false,
            settled: true,
            changed_unix_ms: gift.came_unix_ms(),
            origin: None,
        };
        Some(control::Gift {
            gift_id: gift.number().to_string(),
            peer: gift.from().to_string(),
            name: self.name_of(gift.from()),
            r#match: Some(self.summary(saved, true)?),
        })
    }
}
