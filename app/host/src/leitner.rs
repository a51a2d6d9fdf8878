//! Spaced repetition by Leitner's boxes (Sebastian Leitner, „So lernt man lernen“, 1972).
//!
//! What is known when it is due moves on by one box, what is missed goes back to the first. Each box waits twice as long as the one
//! before; what comes through the last one is learnt. The boxes are of days, and so is time here.

/// Days until a card in each box is due.
const INTERVALS: [u32; 5] = [1, 2, 4, 8, 16];

/// Where a card is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Card {
    /// 0 for a new card, 1 to 5 for the boxes, 6 once it is learnt.
    pub(crate) level: u8,
    /// The day on which it is due, counted from 1 January 1970. Without meaning once it is learnt.
    pub(crate) due_day: u32,
}

/// How a card was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// At the first try and without help.
    Known,
    Missed,
}

/// [`Card::level`] of what is learnt.
pub(crate) const LEARNT: u8 = INTERVALS.len() as u8 + 1;

impl Card {
    /// A new card is due at once.
    pub(crate) const fn new(today: u32) -> Self {
        Self { level: 0, due_day: today }
    }

    pub(crate) const fn is_learnt(self) -> bool {
        self.level >= LEARNT
    }

    pub(crate) const fn is_due(self, today: u32) -> bool {
        !self.is_learnt() && self.due_day <= today
    }

    /// Days from today until it is due; `None` once it is learnt.
    pub(crate) fn due_in(self, today: u32) -> Option<u32> {
        (!self.is_learnt()).then(|| self.due_day.saturating_sub(today))
    }

    /// The card after an answer today. An answer ahead of its day says nothing about memory over that time: known then, it stays.
    pub(crate) fn after(self, answered: Answered, today: u32) -> Self {
        let level = match answered {
            Answered::Missed => 1,
            Answered::Known if !self.is_due(today) => return self,
            Answered::Known => self.level + 1,
        };
        let wait = INTERVALS.get(usize::from(level) - 1).copied().unwrap_or(0);
        Self { level, due_day: today + wait }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_each_time_comes_back_after_twice_as_long_until_it_is_learnt() {
        let mut card = Card::new(100);
        let mut waits = Vec::new();
        let mut today = 100;
        while card.is_due(today) {
            card = card.after(Answered::Known, today);
            if let Some(wait) = card.due_in(today) {
                waits.push(wait);
                today = card.due_day;
            }
        }
        assert_eq!(waits, INTERVALS);
        assert!(card.is_learnt() && card.due_in(today).is_none() && !card.is_due(u32::MAX));
    }

    #[test]
    fn what_is_missed_comes_back_tomorrow_from_wherever_it_was() {
        for level in 0..=LEARNT {
            for due_day in [90, 100, 200] {
                let card = Card { level, due_day }.after(Answered::Missed, 100);
                assert_eq!(card, Card { level: 1, due_day: 101 });
                assert!(!card.is_due(100) && card.is_due(101));
            }
        }
    }

    #[test]
    fn what_is_known_ahead_of_its_day_stays_where_it_is() {
        let card = Card { level: 3, due_day: 104 };
        assert_eq!(card.after(Answered::Known, 103), card);
        assert_eq!(card.after(Answered::Known, 104), Card { level: 4, due_day: 112 });
        assert_eq!(card.after(Answered::Known, 400), Card { level: 4, due_day: 408 }, "late is as good");
    }
}
