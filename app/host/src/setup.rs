//! What a client asks to be played here: setup and seats of a match without another device.

use engine::lights_out::{LightsOutSetup, Start};
use engine::{AnyGame, Level, Setup};
use proto::control::{self, RefusalCode};
use proto::limits;
use session::{Colours, MatchRecord, Pace, Terms};

use crate::installed::read_seat;
use crate::refusal::Refusal;
use crate::room::Seat;

/// Checks that a setup can be played without another device.
pub(crate) fn needs_one_device(setup: &Setup) -> Result<(), Refusal> {
    if setup.is_race() {
        let why = "a race needs two devices: invite somebody";
        return Err(Refusal::new(RefusalCode::RefusalBadRequest, why));
    }
    Ok(())
}

/// Setup and pace of a match without another device, as its seats need them. A match of two people, one of them a guest, has
/// the rules for two devices: Lights Out becomes a race.
pub(crate) fn terms_here(
    setup: Setup,
    pace: Option<Pace>,
    seats: &[Seat; 2],
) -> Result<(Setup, Option<Pace>), Refusal> {
    let people = seats.iter().all(|seat| matches!(seat, Seat::Here | Seat::Guest(_)));
    let (setup, pace) = if people && *seats != Seat::BOTH_HERE {
        let Terms { setup, pace, .. } =
            Terms { setup, pace, colours: Colours::Random, hints: false }.for_two();
        (setup, pace)
    } else {
        needs_one_device(&setup)?;
        (setup, pace)
    };
    AnyGame::new(&setup).map_err(|error| Refusal::new(RefusalCode::RefusalBadRequest, error.to_string()))?;
    Ok((setup, pace))
}

/// Draws a new random board for a race, so that nobody knows it in advance.
pub(crate) fn drawn(mut setup: Setup, draw: impl FnOnce() -> u64) -> Setup {
    if let Setup::LightsOut(LightsOutSetup { start: Start::Random { seed, .. }, race: true, .. }) = &mut setup
    {
        // As in the draw between two devices: 32 bits, where 0 stands for a board that is not drawn yet.
        *seed = u64::from((draw() as u32).max(1));
    }
    setup
}

/// The seat that a client means, if it needs no other device.
pub(crate) fn local_seat(seat: Option<&control::Seat>) -> Result<Seat, Refusal> {
    use control::seat::Who;
    let bad = |what: &str| Refusal::new(RefusalCode::RefusalBadRequest, what);
    match seat.and_then(|seat| seat.who.as_ref()) {
        None | Some(Who::Here(_)) => Ok(Seat::Here),
        Some(Who::BotLevel(level)) => {
            let tenths = seat.map_or(0, |seat| seat.bot_tenths).min(10);
            u8::try_from(level.saturating_mul(10).saturating_add(tenths))
                .ok()
                .filter(|_| tenths < 10)
                .and_then(Level::from_tenths)
                .ok_or_else(|| bad("a bot's level is 1 to 10 in tenths"))
                .and_then(|level| read_seat(seat, level))
        }
        Some(Who::Guest(_)) => Ok(Seat::Guest(limits::fit_name(seat.map_or("", |seat| seat.name.as_str())))),
        Some(Who::Peer(_)) => Err(bad("a match with another device begins with an invitation")),
    }
}

/// The position after `ply` actions, or after all if there are fewer.
pub(crate) fn replayed(record: &MatchRecord, ply: u32) -> Result<AnyGame, Refusal> {
    let broken = |what: String| Refusal::new(RefusalCode::RefusalNoSuchRoom, what);
    let mut game = AnyGame::new(&record.setup).map_err(|error| broken(error.to_string()))?;
    for action in record.actions.iter().take(ply as usize) {
        game.act(*action).map_err(|error| broken(error.to_string()))?;
    }
    Ok(game)
}

#[cfg(test)]
mod tests {
    use engine::{Action, GameKind, Point, Side};
    use session::MatchId;

    use super::*;

    fn lights() -> Setup {
        GameKind::LightsOut.default_setup()
    }

    #[test]
    fn lights_out_with_a_guest_is_a_race_on_a_board_that_is_drawn_anew() {
        let guest = [Seat::Here, Seat::Guest("Ben".into())];
        let (setup, _) = terms_here(lights(), None, &guest).expect("terms");
        assert!(setup.is_race());
        let seeds: Vec<Setup> = [5, 6].map(|seed| drawn(setup.clone(), || seed)).into();
        assert_ne!(seeds[0], seeds[1]);
        assert_eq!(drawn(setup.clone(), || 0), drawn(setup.clone(), || 1), "0 is no board");
        let (alone, _) = terms_here(lights(), None, &Seat::BOTH_HERE).expect("terms");
        assert_eq!(drawn(alone.clone(), || unreachable!("the person has chosen the board")), alone);
        assert!(terms_here(setup, None, &Seat::BOTH_HERE).is_err(), "nobody to race with");
    }

    #[test]
    fn a_seat_without_another_device_is_a_person_a_bot_or_a_guest() {
        use control::seat::Who;
        let seat = |who, bot_tenths| control::Seat {
            who: Some(who),
            name: "Ben".into(),
            bot_tenths,
            ..control::Seat::default()
        };
        let read = |seat| local_seat(Some(&seat)).ok();
        assert_eq!(local_seat(None).ok(), Some(Seat::Here));
        assert_eq!(read(seat(Who::BotLevel(3), 5)), Level::from_tenths(35).map(Seat::Bot));
        for (level, tenths) in [(0, 0), (11, 0), (3, 10), (u32::MAX, 0), (10, 1)] {
            assert_eq!(read(seat(Who::BotLevel(level), tenths)), None, "{level}.{tenths}");
        }
        assert_eq!(read(seat(Who::Guest(true), 0)), Some(Seat::Guest("Ben".into())));
        assert_eq!(read(seat(Who::Peer("somebody".into()), 0)), None);
    }

    #[test]
    fn a_record_is_replayed_as_far_as_asked_and_a_broken_one_is_refused() {
        let mut record = MatchRecord::new(MatchId([1; 16]), GameKind::Go.default_setup(), Side::First);
        record.actions = vec![Action::Pass, Action::Place(Point::new(40, 40))];
        assert!(replayed(&record, 1).is_ok_and(|game| game.ply() == 1));
        assert!(replayed(&record, 2).is_err() && replayed(&record, u32::MAX).is_err());
    }
}
