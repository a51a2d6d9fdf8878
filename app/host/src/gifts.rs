//! Offers of copies of kept matches by friends, until the user keeps or declines them.

use engine::Side;
use session::{MatchId, MatchRecord};

use crate::room::PlayerId;

/// Maximum number of unanswered offers. Further ones are not shown, so that nobody can flood the user.
const MOST_GIFTS: usize = 8;

/// An offered match.
pub(crate) struct Gift {
    number: u64,
    from: PlayerId,
    record: MatchRecord,
    came_unix_ms: i64,
}

impl Gift {
    /// Identifies the offer while the host runs.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn from(&self) -> PlayerId {
        self.from
    }

    pub(crate) fn record(&self) -> &MatchRecord {
        &self.record
    }

    pub(crate) fn came_unix_ms(&self) -> i64 {
        self.came_unix_ms
    }

    /// The record as kept here: like an imported file, a match of this device with a new id.
    pub(crate) fn copy(&self, id: MatchId) -> MatchRecord {
        MatchRecord {
            id,
            my_side: Side::First,
            paused: false,
            reveal: None,
            offered: None,
            ..self.record.clone()
        }
    }
}

/// The unanswered offers, oldest first.
#[derive(Default)]
pub(crate) struct Gifts {
    open: Vec<Gift>,
    last: u64,
}

impl Gifts {
    /// Adds an offer; returns it, unless it is not shown.
    pub(crate) fn offer(
        &mut self,
        from: PlayerId,
        muted: bool,
        record: MatchRecord,
        came_unix_ms: i64,
    ) -> Option<&Gift> {
        if muted || self.open.len() >= MOST_GIFTS {
            return None;
        }
        self.last += 1;
        self.open.push(Gift { number: self.last, from, record, came_unix_ms });
        self.open.last()
    }

    pub(crate) fn get(&self, number: u64) -> Option<&Gift> {
        self.open.iter().find(|gift| gift.number == number)
    }

    pub(crate) fn all(&self) -> &[Gift] {
        &self.open
    }

    /// Removes an offer that was answered, or cannot be shown.
    pub(crate) fn remove(&mut self, number: u64) {
        self.open.retain(|gift| gift.number != number);
    }
}

#[cfg(test)]
mod tests {
    use engine::{Action, GameKind, Point};

    use super::*;

    const ANNA: PlayerId = PlayerId([1; 32]);

    fn record() -> MatchRecord {
        let setup = GameKind::Gomoku.default_setup();
        MatchRecord {
            my_side: Side::Second,
            paused: true,
            revision: 3,
            actions: vec![Action::Place(Point::new(7, 7))],
            ..MatchRecord::new(MatchId([7; 16]), setup, Side::First)
        }
    }

    #[test]
    fn a_flood_of_offers_is_shown_up_to_a_limit_and_an_answer_makes_room() {
        let mut gifts = Gifts::default();
        let shown = (0..3 * MOST_GIFTS).filter(|_| gifts.offer(ANNA, false, record(), 0).is_some()).count();
        assert_eq!((shown, gifts.all().len()), (MOST_GIFTS, MOST_GIFTS));
        gifts.remove(gifts.all()[2].number());
        assert!(gifts.offer(ANNA, false, record(), 0).is_some());
        assert!(gifts.offer(ANNA, false, record(), 0).is_none());
    }

    #[test]
    fn an_offer_of_a_muted_friend_is_not_shown() {
        let mut gifts = Gifts::default();
        assert!(gifts.offer(ANNA, true, record(), 0).is_none());
        assert!(gifts.all().is_empty());
    }

    #[test]
    fn a_number_names_one_offer_for_ever() {
        let mut gifts = Gifts::default();
        let first = gifts.offer(ANNA, false, record(), 1).expect("shown").number();
        gifts.remove(first);
        let second = gifts.offer(ANNA, false, record(), 2).expect("shown").number();
        assert_ne!(first, second);
        assert!(gifts.get(first).is_none());
        assert_eq!(gifts.get(second).map(Gift::came_unix_ms), Some(2));
    }

    #[test]
    fn a_copy_is_a_match_of_this_device_with_the_same_actions() {
        let mut gifts = Gifts::default();
        let gift = gifts.offer(ANNA, false, record(), 0).expect("shown");
        let copy = gift.copy(MatchId([9; 16]));
        assert_eq!((copy.id, copy.my_side, copy.paused), (MatchId([9; 16]), Side::First, false));
        assert!(copy.actions.len() == 1 && copy.offered.is_none() && copy.reveal.is_none());
        assert_eq!(
            (&copy.actions, copy.revision, &copy.setup),
            (&gift.record().actions, 3, &gift.record().setup)
        );
    }
}
