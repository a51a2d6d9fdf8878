//! Fair play: while a match against another person goes on, this device does not think for the person here. Hints that both have
//! agreed to are the exception: they are counted and told.

use session::MatchRecord;

use crate::refusal::{self, Refusal};
use crate::room::Seat;

/// Whether a player at another device or a guest takes part. Two people at one device see all that either of them is shown.
fn has_another(seats: &[Seat; 2]) -> bool {
    seats.iter().any(|seat| matches!(seat, Seat::Peer(_) | Seat::Guest(_)))
}

/// Whether hints are given in this match.
pub(crate) fn may_take_hints(record: &MatchRecord, seats: &[Seat; 2]) -> Result<(), Refusal> {
    if has_another(seats) && record.hints.is_none() { Err(refusal::no_hints()) } else { Ok(()) }
}

/// Whether the positions of this match may be analysed, looked up in the opening book, and played on from: not while it goes on
/// against another person. Agreed hints do not change that, because here nothing is counted or told.
pub(crate) fn may_study(record: &MatchRecord, seats: &[Seat; 2]) -> Result<(), Refusal> {
    if has_another(seats) && record.result.is_none() { Err(refusal::goes_on()) } else { Ok(()) }
}

/// Whether a bot may play for a person here, who keeps the seat. Another device would not be told. Against a guest a bot can take
/// the seat itself, which the guest sees.
pub(crate) fn may_stand_in(seats: &[Seat; 2]) -> Result<(), Refusal> {
    if has_another(seats) { Err(refusal::no_stand_in()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use engine::{GameKind, Side};
    use session::{MatchId, MatchResult};

    use super::*;
    use crate::room::PlayerId;

    fn record(hints: Option<[u32; 2]>, result: Option<MatchResult>) -> MatchRecord {
        let record = MatchRecord::new(MatchId([1; 16]), GameKind::Gomoku.default_setup(), Side::First);
        MatchRecord { hints, result, ..record }
    }

    #[test]
    fn a_match_against_another_person_is_studied_only_after_its_end() {
        let over = Some(MatchResult::DrawAgreed);
        for other in [Seat::Peer(PlayerId([7; 32])), Seat::Guest(String::new())] {
            for seats in [[Seat::Here, other.clone()], [other, Seat::Here]] {
                for hints in [None, Some([0, 0])] {
                    assert!(may_study(&record(hints, None), &seats).is_err());
                    assert!(may_study(&record(hints, over), &seats).is_ok());
                    assert_eq!(may_take_hints(&record(hints, None), &seats).is_ok(), hints.is_some());
                }
                assert!(may_stand_in(&seats).is_err());
            }
        }
        for seats in [Seat::BOTH_HERE, [Seat::Here, Seat::Bot(engine::Level::MIN)]] {
            assert!(may_study(&record(None, None), &seats).is_ok());
            assert!(may_take_hints(&record(None, None), &seats).is_ok());
            assert!(may_stand_in(&seats).is_ok());
        }
    }
}
