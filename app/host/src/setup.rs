//! What a client asks to be played here: setup and seats of a match without another device.

use engine::{AnyGame, Level, Setup};
use proto::control::{self, RefusalCode};
use proto::limits;
use session::MatchRecord;

use crate::room::Seat;
use crate::show::Refusal;

/// Checks that a setup can be played without another device.
pub(crate) fn needs_one_device(setup: &Setup) -> Result<(), Refusal> {
    if setup.is_race() {
        let why = "a race needs two devices: invite somebody";
        return Err(Refusal::new(RefusalCode::RefusalBadRequest, why));
    }
    Ok(())
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
                .map(Seat::Bot)
                .ok_or_else(|| bad("a bot's level is 1 to 10 in tenths"))
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
