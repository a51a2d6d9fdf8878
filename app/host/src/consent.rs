//! Offers between the two people of a match with a guest. A state machine without I/O: the caller carries out accepted
//! offers.

use engine::Side;
use session::OfferKind;

/// The offers of one room.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offers {
    open: Option<Open>,
    /// Number of offers so far.
    count: u32,
    /// Number of the offer that was answered last, and the answer.
    answered: Option<(u32, bool)>,
}

/// An offer without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    /// Counts the offers of a room, from 1.
    pub(crate) number: u32,
    pub(crate) kind: OfferKind,
    pub(crate) by: Side,
}

/// The result of an offer or an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The other side is asked.
    Asked,
    /// A repetition of an earlier message: nothing changes.
    Known,
    /// Both sides agree: to be carried out for the side that offered.
    Agreed(OfferKind, Side),
    /// It was declined.
    Declined(OfferKind, Side),
}

/// Another offer is open and must be answered first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Busy;

/// There is no open offer with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoOffer;

impl Offers {
    pub(crate) fn open(&self) -> Option<Open> {
        self.open
    }

    /// Whether this side may make this offer now: no offer is open, or the other side has made the same one.
    pub(crate) fn may(&self, by: Side, kind: OfferKind) -> bool {
        self.open.is_none_or(|open| open.by != by && open.kind == kind)
    }

    /// Handles an offer. If the other side has made the same one, both are accepted.
    pub(crate) fn offer(&mut self, by: Side, kind: OfferKind) -> Result<Outcome, Busy> {
        match self.open {
            Some(open) if open.kind == kind && open.by == by => Ok(Outcome::Known),
            Some(open) if open.kind == kind => {
                self.end(open, true);
                Ok(Outcome::Agreed(open.kind, open.by))
            }
            Some(_) => Err(Busy),
            None => {
                self.count += 1;
                self.open = Some(Open { number: self.count, kind, by });
                Ok(Outcome::Asked)
            }
        }
    }

    /// Handles an answer to the other side's offer; without a number, to the open one.
    pub(crate) fn answer(&mut self, by: Side, number: Option<u32>, accept: bool) -> Result<Outcome, NoOffer> {
        let open =
            self.open.filter(|open| open.by != by && number.is_none_or(|number| number == open.number));
        let Some(open) = open else {
            let known = number.is_some_and(|number| self.answered == Some((number, accept)));
            return if known { Ok(Outcome::Known) } else { Err(NoOffer) };
        };
        self.end(open, accept);
        Ok(if accept { Outcome::Agreed(open.kind, open.by) } else { Outcome::Declined(open.kind, open.by) })
    }

    /// Cancels the open offer, because the record has changed.
    pub(crate) fn lapse(&mut self) {
        self.open = None;
    }

    fn end(&mut self, open: Open, accepted: bool) {
        self.open = None;
        self.answered = Some((open.number, accepted));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_is_answered_once_by_the_other_side() {
        let mut offers = Offers::default();
        assert_eq!(offers.offer(Side::First, OfferKind::Draw), Ok(Outcome::Asked));
        assert_eq!(offers.offer(Side::First, OfferKind::Draw), Ok(Outcome::Known), "the same again");
        assert_eq!(offers.answer(Side::First, None, true), Err(NoOffer), "nobody answers an own offer");
        assert_eq!(offers.answer(Side::Second, Some(2), true), Err(NoOffer), "another number");
        let agreed = Ok(Outcome::Agreed(OfferKind::Draw, Side::First));
        assert_eq!(offers.answer(Side::Second, Some(1), true), agreed);
        assert_eq!(offers.answer(Side::Second, Some(1), true), Ok(Outcome::Known), "a repeated answer");
        assert_eq!(offers.answer(Side::Second, Some(1), false), Err(NoOffer), "another answer to the same");
        assert_eq!(offers.answer(Side::Second, None, true), Err(NoOffer));
    }

    #[test]
    fn who_offers_the_same_accepts_and_who_offers_otherwise_answers_first() {
        let mut offers = Offers::default();
        assert_eq!(offers.offer(Side::Second, OfferKind::TakeBack), Ok(Outcome::Asked));
        assert!(!offers.may(Side::First, OfferKind::Draw) && !offers.may(Side::Second, OfferKind::Draw));
        assert_eq!(offers.offer(Side::First, OfferKind::Draw), Err(Busy));
        assert!(offers.may(Side::First, OfferKind::TakeBack));
        let agreed = Ok(Outcome::Agreed(OfferKind::TakeBack, Side::Second));
        assert_eq!(offers.offer(Side::First, OfferKind::TakeBack), agreed);
        assert_eq!(offers.open(), None);
    }

    #[test]
    fn an_offer_lapses_with_the_position_and_its_number_never_comes_again() {
        let mut offers = Offers::default();
        assert_eq!(offers.offer(Side::First, OfferKind::Draw), Ok(Outcome::Asked));
        offers.lapse();
        assert_eq!(offers.answer(Side::Second, Some(1), true), Err(NoOffer));
        assert_eq!(offers.offer(Side::First, OfferKind::Draw), Ok(Outcome::Asked));
        assert_eq!(offers.open().map(|open| open.number), Some(2));
        assert_eq!(
            offers.answer(Side::Second, Some(2), false),
            Ok(Outcome::Declined(OfferKind::Draw, Side::First))
        );
    }
}
