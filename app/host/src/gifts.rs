//! Copies of kept matches that friends offer each other.

use engine::Side;
use proto::control::{self, RefusalCode, event};
use session::{Command, MatchId, MatchRecord};
use tracing::info;

use crate::actor::Actor;
use crate::responder::{Answer, done, in_room};
use crate::room::{PlayerId, Seat};
use crate::show::Refusal;
use crate::store::SavedMatch;

/// Maximum number of unanswered offers. Further ones are not shown, so that nobody can flood the user.
const MOST_GIFTS: usize = 8;

/// An offered match.
pub(crate) struct Gift {
    number: u64,
    from: PlayerId,
    record: MatchRecord,
    came_unix_ms: i64,
}

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
        if muted || self.gifts.len() >= MOST_GIFTS {
            info!(muted, "a gift is not shown");
            return;
        }
        self.last_gift += 1;
        let gift = Gift { number: self.last_gift, from, record, came_unix_ms: self.now_unix_ms() };
        if let Some(shown) = self.shown_gift(&gift) {
            self.gifts.push(gift);
            self.tell(event::Body::Gift(shown));
        }
    }

    pub(crate) fn answer_gift(&mut self, answer: &control::AnswerGift) -> Result<Answer, Refusal> {
        let no_such = || Refusal::new(RefusalCode::RefusalNoOffer, "no such gift");
        let number: u64 = answer.gift_id.parse().map_err(|_| no_such())?;
        let index = self.gifts.iter().position(|gift| gift.number == number).ok_or_else(no_such)?;
        let mut kept = done();
        if answer.keep {
            // Kept like an imported file: as a match of this device with a new id.
            let mut record = self.gifts[index].record.clone();
            record.id = MatchId(self.chance.bytes());
            (record.my_side, record.paused, record.reveal, record.offered) = (Side::First, false, None, None);
            let (id, now) = (record.id, self.now_unix_ms());
            self.journal.keep(|store| store.put_away(&record, Seat::BOTH_HERE, now))?;
            kept = in_room(id);
        }
        let gone = self.gifts.remove(index);
        self.tell(event::Body::GiftGone(control::Gone { id: gone.number.to_string() }));
        Ok(kept)
    }

    pub(crate) fn gift_events(&self) -> Vec<event::Body> {
        self.gifts.iter().filter_map(|gift| self.shown_gift(gift)).map(event::Body::Gift).collect()
    }

    fn shown_gift(&self, gift: &Gift) -> Option<control::Gift> {
        let saved = SavedMatch {
            record: gift.record.clone(),
            seats: Seat::BOTH_HERE,
            open: false,
            settled: true,
            changed_unix_ms: gift.came_unix_ms,
            origin: None,
        };
        Some(control::Gift {
            gift_id: gift.number.to_string(),
            peer: gift.from.to_string(),
            name: self.name_of(gift.from),
            r#match: Some(self.summary(saved, true)?),
        })
    }
}
