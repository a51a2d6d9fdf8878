//! Which open matches wait for a move of the person here.

use proto::control::{Room, seat};

use super::game;
use crate::app::AppState;

/// Whether it is the turn of the person here, in a match with somebody else: a friend, a guest or the device.
pub(super) fn waits_for_me(room: &Room) -> bool {
    let [mine] = room.mine[..] else { return false };
    let seats = [&room.first, &room.second];
    // A bot that assists plays for the same person.
    let is_other = |seat: &seat::Who| !matches!(seat, seat::Who::Here(_));
    let with_somebody = seats.into_iter().flatten().any(|seat| seat.who.as_ref().is_some_and(is_other));
    let over_or_alone = room.result.is_some()
        || room.puzzle.is_some()
        || room.paused
        || room.race.is_some()
        || game::is_solo(super::wire_game(room.setup.as_ref()));
    with_somebody && !over_or_alone && room.board.as_ref().is_some_and(|board| board.turn == mine)
}

/// Matches that wait, the present one left out, in the order in which one touch after another visits all.
pub(super) fn waiting(known: &AppState) -> Vec<&Room> {
    let present = known.room.as_ref().map_or("", |room| &room.id);
    let others = || known.state.rooms.values().filter(|room| room.id != present && waits_for_me(room));
    let after = others().filter(|room| room.id.as_str() > present);
    after.chain(others().filter(|room| room.id.as_str() < present)).collect()
}
