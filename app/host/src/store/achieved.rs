//! What the end of a match was to a person: decided from the match and from those before it.

use engine::{Action, AnyGame, Fact, Level, Setup, Side};
use proto::control::{Achieved, Help};

use super::{Store, StoreError, strength};
use crate::room::{Room, Seat};
use crate::show;

/// In fewer moves there is nothing to look for.
const TURNS: u32 = 8;

/// For the guest of this side; without one for the person here. `None` while the match goes on, and where it was not that of
/// one person here.
pub(crate) fn achieved(
    store: &Store,
    room: &Room,
    guest: Option<Side>,
) -> Result<Option<Achieved>, StoreError> {
    let record = room.record();
    let Some(result) = record.result else { return Ok(None) };
    let help = store.help(record.id)?;
    let mut achieved = Achieved { help: help.into(), ..Achieved::default() };
    let own = help == Help::None;
    let alone = match guest {
        None => room.seats == Seat::BOTH_HERE,
        Some(_) => !record.setup.is_race(),
    };
    if let (Setup::LightsOut(setup), true) = (&record.setup, alone) {
        if own && result.winner().is_some() {
            let presses =
                record.actions.iter().filter(|action| matches!(action, Action::Press(_))).count() as u32;
            achieved.fewest = fewest(room.game()) == Some(presses);
            match store.fewest_before(record.id, &room.seats, setup)? {
                None => achieved.first_win = true,
                Some(before) if presses < before => achieved.best_before = before,
                Some(_) => {}
            }
        }
        return Ok(Some(achieved));
    }
    let mut own_sides = Side::BOTH.into_iter().filter(|side| match guest {
        None => *room.seat(*side) == Seat::Here,
        Some(guest) => *side == guest,
    });
    let (Some(me), None) = (own_sides.next(), own_sides.next()) else { return Ok(None) };
    let adaptive = store.is_adaptive(record.id)?;
    if adaptive && let Some(strength) = strength(store, &record.setup)? {
        achieved.adapted_tenths = strength.level_tenths;
    }
    if result.winner() != Some(me) {
        achieved.review = show::moves(&record.actions) >= TURNS && !record.setup.is_race();
        return Ok(Some(achieved));
    }
    let opponent = room.seat(me.other());
    if let (Seat::Bot(level), false) = (opponent, adaptive) {
        achieved.next_level = Level::new(level.number() + 1).map_or(0, |next| next.number().into());
    }
    if own {
        let before = store.wins_before(record.id, record.setup.kind(), [room.seat(me), opponent])?;
        achieved.first_win = matches!(opponent, Seat::Bot(_)) && !adaptive && !before.any;
        achieved.streak = if before.in_a_row == 0 { 0 } else { before.in_a_row + 1 };
    }
    Ok(Some(achieved))
}

/// Lights Out: the fewest presses that would have done, where that is known.
fn fewest(game: &AnyGame) -> Option<u32> {
    game.view().facts.iter().find_map(|fact| if let Fact::Fewest(count) = fact { Some(*count) } else { None })
}

#[cfg(test)]
mod tests {
    use engine::{GameKind, Outcome, Point, Reason};
    use session::{MatchId, MatchRecord, MatchResult};

    use super::*;

    /// What the end of a match was, whose setup, seats, actions and winner these are.
    fn told(
        store: &mut Store,
        number: u8,
        (setup, seats): (&Setup, [Seat; 2]),
        actions: &[Action],
        result: Option<MatchResult>,
        help: Help,
    ) -> Option<Achieved> {
        let id = MatchId([number; 16]);
        let mut record = MatchRecord::new(id, setup.clone(), Side::First);
        record.actions = actions.to_vec();
        record.result = result;
        store.begin(&record, seats.clone(), number.into()).expect("saved");
        store.add_help(id, help).expect("saved");
        achieved(store, &Room::new(record, seats).expect("a record"), None).expect("read")
    }

    fn against(level: u8) -> [Seat; 2] {
        [Seat::Here, Seat::Bot(Level::new(level).expect("a level"))]
    }

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("opens");
        (folder, store)
    }

    #[test]
    fn the_first_win_at_a_level_the_second_in_a_row_and_the_next_level_are_told() {
        let (_folder, mut store) = store();
        let setup = GameKind::Xiangqi.default_setup();
        let won = Some(MatchResult::Resigned(Side::Second));
        let mut tell = |number, level, result, help| {
            told(&mut store, number, (&setup, against(level)), &[], result, help)
        };
        assert_eq!(tell(1, 3, None, Help::None), None, "it goes on");
        let of = Achieved { next_level: 4, ..Achieved::default() };
        assert_eq!(tell(2, 3, won, Help::None), Some(Achieved { first_win: true, ..of }));
        assert_eq!(tell(3, 3, won, Help::None), Some(Achieved { streak: 2, ..of }));
        let helped = Achieved { help: Help::Hints.into(), ..of };
        assert_eq!(tell(4, 3, won, Help::Hints), Some(helped), "not its own doing");
        assert_eq!(tell(5, 3, won, Help::None), Some(of), "the row was broken");
        let first = Achieved { first_win: true, ..Achieved::default() };
        assert_eq!(tell(6, 10, won, Help::None), Some(first), "there is no higher level");
    }

    #[test]
    fn where_the_level_follows_the_player_the_next_one_is_told_instead_of_a_first_win() {
        let (_folder, mut store) = store();
        let setup = GameKind::Gomoku.default_setup();
        let id = MatchId([1; 16]);
        let seats = against(1);
        let mut record = MatchRecord::new(id, setup.clone(), Side::First);
        store.begin(&record, seats.clone(), 1).expect("saved");
        store.set_adaptive(id, true).expect("saved");
        record.result = Some(MatchResult::Resigned(Side::Second));
        store.end(id, 0, MatchResult::Resigned(Side::Second), 2).expect("saved");
        let next = strength(&store, &setup).expect("read").expect("a game with levels").level_tenths;
        let told = achieved(&store, &Room::new(record, seats).expect("a record"), None).expect("read");
        assert_eq!(told, Some(Achieved { adapted_tenths: next, ..Achieved::default() }));
        assert!(next > 10, "after a win");
    }

    #[test]
    fn a_guests_wins_in_a_row_are_those_of_that_name_and_not_the_hosts() {
        let (_folder, mut store) = store();
        let setup = GameKind::Gomoku.default_setup();
        let mut end = |number: u8, name: &str, loser| {
            let id = MatchId([number; 16]);
            let seats = [Seat::Guest(name.into()), Seat::Here];
            let mut record = MatchRecord::new(id, setup.clone(), Side::First);
            record.result = Some(MatchResult::Resigned(loser));
            store.begin(&record, seats.clone(), number.into()).expect("saved");
            let room = Room::new(record, seats).expect("a record");
            let of = |guest| achieved(&store, &room, guest).expect("read").expect("it is over").streak;
            (of(Some(Side::First)), of(None))
        };
        assert_eq!(end(1, "Ben", Side::Second), (0, 0));
        assert_eq!(end(2, "Ben", Side::Second), (2, 0));
        assert_eq!(end(3, "Cleo", Side::Second), (0, 0), "another guest begins anew");
        assert_eq!(end(4, "Ben", Side::First), (0, 0));
        assert_eq!(end(5, "Ben", Side::First), (0, 2), "those of the person here");
    }

    #[test]
    fn what_was_not_won_offers_a_look_back_once_it_is_long_enough() {
        let (_folder, mut store) = store();
        let setup = GameKind::Gomoku.default_setup();
        let place = |column| Action::Place(Point::new(column, 3 + column % 2));
        let lost = Some(MatchResult::Resigned(Side::First));
        let short: Vec<Action> = (0..7).map(place).collect();
        let long: Vec<Action> = (0..8).map(place).collect();
        let seats = (&setup, against(3));
        let of = |review| Some(Achieved { review, ..Achieved::default() });
        assert_eq!(told(&mut store, 1, seats.clone(), &short, lost, Help::None), of(false));
        assert_eq!(told(&mut store, 2, seats.clone(), &long, lost, Help::None), of(true));
        assert_eq!(told(&mut store, 3, seats, &long, Some(MatchResult::DrawAgreed), Help::None), of(true));
        let two = (&setup, Seat::BOTH_HERE);
        assert_eq!(told(&mut store, 4, two, &long, lost, Help::None), None, "whose would it be?");
    }

    #[test]
    fn presses_are_counted_and_a_solution_that_was_shown_is_not_ones_own() {
        let (_folder, mut store) = store();
        let setup = GameKind::LightsOut.default_setup();
        let game = AnyGame::new(&setup).expect("the default is valid");
        let AnyGame::LightsOut(lights) = &game else { panic!("it is lights out") };
        let engine::lights_out::Solution::Presses { presses, .. } = lights.solution() else {
            panic!("a random board can be put out")
        };
        let fewest: Vec<Action> = presses.points().map(Action::Press).collect();
        let corner = Action::Press(Point::new(0, 0));
        let more: Vec<Action> = [corner, corner].into_iter().chain(fewest.clone()).collect();
        let won = Some(MatchResult::Played(Outcome { winner: Some(Side::First), reason: Reason::AllOut }));
        let mut tell = |number, actions: &[Action], help| {
            told(&mut store, number, (&setup, Seat::BOTH_HERE), actions, won, help).expect("one person here")
        };
        assert_eq!(tell(1, &more, Help::None), Achieved { first_win: true, ..Achieved::default() });
        let shown = Achieved { help: Help::Solved.into(), ..Achieved::default() };
        assert_eq!(tell(2, &fewest, Help::Solved), shown);
        let best = Achieved { fewest: true, best_before: more.len() as u32, ..Achieved::default() };
        assert_eq!(tell(3, &fewest, Help::None), best);
        assert_eq!(tell(4, &fewest, Help::None), Achieved { fewest: true, ..Achieved::default() });
    }
}
