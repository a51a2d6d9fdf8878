//! Copies of kept matches as gifts: what may be given, and the offers of friends until the user keeps or declines them.

use engine::Side;
use proto::control::{self, RefusalCode};
use session::{MatchId, MatchRecord};

use crate::journal::Journal;
use crate::refusal::Refusal;
use crate::room::{PlayerId, Seat};
use crate::store::SavedMatch;

/// Maximum number of unanswered offers. Further ones are not shown, so that nobody can flood the user.
const MOST_GIFTS: usize = 8;

/// An offered match.
pub(crate) struct Gift {
    number: u64,
    from: PlayerId,
    record: MatchRecord,
    came_unix_ms: i64,
    /// The match as in a list; `None` until it was replayed.
    summary: Option<control::MatchSummary>,
}

impl Gift {
    /// Identifies the offer while the host runs.
    #[cfg(test)]
    fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn from(&self) -> PlayerId {
        self.from
    }

    /// The match as it would be kept.
    pub(crate) fn as_saved(&self) -> SavedMatch {
        SavedMatch {
            record: self.record.clone(),
            seats: Seat::BOTH_HERE,
            open: false,
            settled: true,
            changed_unix_ms: self.came_unix_ms,
            origin: None,
        }
    }

    /// The gift for clients, once it was replayed. `name`: who gives it.
    pub(crate) fn shown(&self, name: String) -> Option<control::Gift> {
        let summary = self.summary.clone()?;
        Some(control::Gift {
            gift_id: self.number.to_string(),
            peer: self.from.to_string(),
            name,
            r#match: Some(summary),
        })
    }

    /// The record as kept here: like an imported file, a match of this device with a new id.
    fn copy(&self, id: MatchId) -> MatchRecord {
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
    is_replaying: bool,
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
        self.open.push(Gift { number: self.last, from, record, came_unix_ms, summary: None });
        self.open.last()
    }

    /// The next offer to replay: one after another, so that clients see them in the order in which they came. `None` while one
    /// is replayed, which [`replayed`](Self::replayed) ends.
    pub(crate) fn next_to_replay(&mut self) -> Option<(u64, SavedMatch)> {
        if self.is_replaying {
            return None;
        }
        let gift = self.open.iter().find(|gift| gift.summary.is_none())?;
        self.is_replaying = true;
        Some((gift.number, gift.as_saved()))
    }

    /// Adds what was replayed to its offer, if that is still open. `None`: the offer cannot be shown, and is removed.
    pub(crate) fn replayed(&mut self, number: u64, summary: Option<control::MatchSummary>) {
        self.is_replaying = false;
        if summary.is_none() {
            self.remove(number);
        }
        if let Some(gift) = self.open.iter_mut().find(|gift| gift.number == number) {
            gift.summary = summary;
        }
    }

    pub(crate) fn get(&self, number: u64) -> Option<&Gift> {
        self.open.iter().find(|gift| gift.number == number)
    }

    pub(crate) fn all(&self) -> &[Gift] {
        &self.open
    }

    /// Handles the user's answer, and keeps the match under this id if the user wants it. Returns the offer's number, and
    /// whether the match was kept.
    pub(crate) fn answer(
        &mut self,
        answer: &control::AnswerGift,
        id: MatchId,
        journal: &mut Journal,
        unix_ms: i64,
    ) -> Result<(u64, bool), Refusal> {
        let no_such = || Refusal::new(RefusalCode::RefusalNoOffer, "no such gift");
        let number: u64 = answer.gift_id.parse().map_err(|_| no_such())?;
        let gift = self.get(number).ok_or_else(no_such)?;
        if answer.keep {
            let record = gift.copy(id);
            journal.keep(|store| store.put_away(&record, Seat::BOTH_HERE, unix_ms))?;
        }
        self.remove(number);
        Ok((number, answer.keep))
    }

    /// Removes an offer that was answered, or cannot be shown.
    pub(crate) fn remove(&mut self, number: u64) {
        self.open.retain(|gift| gift.number != number);
    }
}

/// Whether a kept match may be given to a friend.
pub(crate) fn may_give(saved: &SavedMatch) -> Result<(), Refusal> {
    let with_peer = saved.seats.iter().any(|seat| matches!(seat, Seat::Peer(_)));
    if saved.record.result.is_none() && with_peer {
        let why = "a match with another device is given when it is over";
        return Err(Refusal::new(RefusalCode::RefusalBadRequest, why));
    }
    Ok(())
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
    fn offers_are_replayed_one_after_another_and_shown_once_they_were() {
        let mut gifts = Gifts::default();
        for number in 1..=3 {
            assert_eq!(gifts.offer(ANNA, false, record(), 0).map(Gift::number), Some(number));
        }
        let next = |gifts: &mut Gifts| gifts.next_to_replay().map(|(number, _)| number);
        let shown = |gifts: &Gifts| -> Vec<String> {
            let all = gifts.all().iter().filter_map(|gift| gift.shown("Anna".into()));
            all.map(|gift| gift.gift_id).collect()
        };
        assert_eq!((next(&mut gifts), next(&mut gifts)), (Some(1), None), "one at a time");
        assert!(shown(&gifts).is_empty());
        gifts.replayed(1, Some(control::MatchSummary::default()));
        assert_eq!((next(&mut gifts), shown(&gifts)), (Some(2), vec!["1".to_owned()]));
        // It cannot be shown.
        gifts.replayed(2, None);
        assert_eq!(next(&mut gifts), Some(3));
        // It was answered meanwhile.
        gifts.remove(3);
        gifts.replayed(3, Some(control::MatchSummary::default()));
        assert_eq!((next(&mut gifts), shown(&gifts)), (None, vec!["1".to_owned()]));
    }

    #[test]
    fn a_number_names_one_offer_for_ever() {
        let mut gifts = Gifts::default();
        let first = gifts.offer(ANNA, false, record(), 1).expect("shown").number();
        gifts.remove(first);
        let second = gifts.offer(ANNA, false, record(), 2).expect("shown").number();
        assert_ne!(first, second);
        assert!(gifts.get(first).is_none());
        assert_eq!(gifts.get(second).map(|gift| gift.came_unix_ms), Some(2));
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
            (&gift.record.actions, 3, &gift.record.setup)
        );
    }

    fn answer(gift_id: &str, keep: bool) -> control::AnswerGift {
        control::AnswerGift { gift_id: gift_id.into(), keep }
    }

    #[test]
    fn a_gift_is_answered_once_and_kept_only_if_it_is_wanted() {
        let (mut journal, _folder) = Journal::for_test();
        let mut gifts = Gifts::default();
        for number in [1, 2] {
            assert_eq!(gifts.offer(ANNA, false, record(), 0).map(Gift::number), Some(number));
        }
        let (kept, left) = (MatchId([9; 16]), MatchId([8; 16]));
        assert_eq!(gifts.answer(&answer("1", true), kept, &mut journal, 5).ok(), Some((1, true)));
        assert_eq!(gifts.answer(&answer("2", false), left, &mut journal, 5).ok(), Some((2, false)));
        for gone in ["1", "2", "3", "", "-1"] {
            let code =
                gifts.answer(&answer(gone, true), left, &mut journal, 5).err().map(|refusal| refusal.code);
            assert_eq!(code, Some(RefusalCode::RefusalNoOffer), "{gone}");
        }
        let is_kept =
            |id| journal.load(id).ok().flatten().is_some_and(|saved| saved.seats == Seat::BOTH_HERE);
        assert!(is_kept(kept) && !is_kept(left));
    }

    #[test]
    fn a_match_with_another_device_is_given_when_it_is_over() {
        let mut gifts = Gifts::default();
        let mut saved = gifts.offer(ANNA, false, record(), 0).expect("shown").as_saved();
        assert!(may_give(&saved).is_ok(), "of this device alone");
        saved.seats = [Seat::Here, Seat::Peer(ANNA)];
        assert!(may_give(&saved).is_err());
        saved.record.result = Some(session::MatchResult::DrawAgreed);
        assert!(may_give(&saved).is_ok());
    }
}
