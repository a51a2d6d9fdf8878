//! When the screen stays on without a touch.

use proto::control::{Clock, Room, Seat, seat};

use crate::screens::Page;

/// What is shown, as far as it decides whether the screen stays on.
pub(crate) struct Shown<'a> {
    /// The player wants it.
    pub(crate) wanted: bool,
    /// The window is in front: neither hidden nor minimised nor behind another.
    pub(crate) in_front: bool,
    /// A field test is in progress.
    pub(crate) field_test: bool,
    pub(crate) page: Page,
    /// The match of the board page.
    pub(crate) room: Option<&'a Room>,
}

/// Whether the screen stays on: during a field test, while a kept match is looked through, a clock of the match on the board runs, the player is
/// to move, or two bots are watched.
pub(crate) fn keeps_screen_on(shown: &Shown<'_>) -> bool {
    if !shown.wanted || !shown.in_front {
        return false;
    }
    match (shown.page, shown.room) {
        _ if shown.field_test => true,
        (Page::Replay, _) => true,
        (Page::Board, Some(room)) => is_followed(room),
        _ => false,
    }
}

fn is_followed(room: &Room) -> bool {
    if room.result.is_some() {
        return room.analysis.is_some();
    }
    let is_bot = |seat: &Option<Seat>| {
        matches!(seat.as_ref().and_then(|seat| seat.who.as_ref()), Some(seat::Who::BotLevel(_)))
    };
    let bots_play = is_bot(&room.first) && is_bot(&room.second);
    !room.paused && (room.can_act || room.clocks.iter().any(|clock: &Clock| clock.running) || bots_play)
}

#[cfg(test)]
mod tests {
    use proto::board::Result as Outcome;
    use proto::control::Analysis;

    use super::*;

    fn on(page: Page, room: &Room) -> bool {
        keeps_screen_on(&Shown { wanted: true, in_front: true, field_test: false, page, room: Some(room) })
    }

    fn clocked(running: bool) -> Room {
        let clock = |running| Clock { left_ms: 60_000, running, ..Clock::default() };
        Room { clocks: vec![clock(false), clock(running)], ..Room::default() }
    }

    #[test]
    fn the_screen_stays_on_while_i_am_to_move_and_no_longer() {
        let mine = Room { can_act: true, ..Room::default() };
        assert!(on(Page::Board, &mine));
        assert!(!on(Page::Board, &Room::default()), "the other side is to move");
        assert!(!on(Page::Board, &Room { paused: true, ..mine.clone() }));
        let over = Room { result: Some(Outcome::default()), ..mine };
        assert!(!on(Page::Board, &over));
    }

    #[test]
    fn a_running_clock_keeps_the_screen_on_whoever_is_to_move() {
        assert!(on(Page::Board, &clocked(true)));
        assert!(!on(Page::Board, &clocked(false)));
        assert!(!on(Page::Board, &Room { paused: true, ..clocked(true) }));
    }

    #[test]
    fn a_match_that_is_looked_through_keeps_the_screen_on() {
        let over = Room { result: Some(Outcome::default()), ..Room::default() };
        assert!(on(Page::Board, &Room { analysis: Some(Analysis::default()), ..over.clone() }));
        assert!(keeps_screen_on(&Shown {
            wanted: true,
            in_front: true,
            field_test: false,
            page: Page::Replay,
            room: None
        }));
    }

    #[test]
    fn two_bots_that_are_watched_keep_the_screen_on_until_their_match_is_over() {
        let bot = Some(Seat { who: Some(seat::Who::BotLevel(3)), ..Seat::default() });
        let watched = Room { first: bot.clone(), second: bot.clone(), ..Room::default() };
        assert!(on(Page::Board, &watched));
        assert!(!on(Page::Board, &Room { result: Some(Outcome::default()), ..watched }));
        assert!(
            !on(Page::Board, &Room { first: bot, ..Room::default() }),
            "a bot that thinks needs no screen"
        );
    }

    #[test]
    fn other_pages_a_window_behind_others_and_the_player_who_does_not_want_it_let_the_screen_go_off() {
        let room = Room { can_act: true, ..clocked(true) };
        for page in [
            Page::Home,
            Page::NewGame,
            Page::Nearby,
            Page::Settings,
            Page::Records,
            Page::Editor,
            Page::Friends,
            Page::Lesson,
            Page::Puzzles,
            Page::Position,
        ] {
            assert!(!on(page, &room), "{page:?}");
        }
        let shown =
            Shown { wanted: true, in_front: true, field_test: false, page: Page::Board, room: Some(&room) };
        assert!(!keeps_screen_on(&Shown { in_front: false, ..shown }));
        let shown =
            Shown { wanted: true, in_front: true, field_test: false, page: Page::Board, room: Some(&room) };
        assert!(!keeps_screen_on(&Shown { wanted: false, ..shown }));
        assert!(!keeps_screen_on(&Shown {
            wanted: true,
            in_front: true,
            field_test: false,
            page: Page::Board,
            room: None
        }));
    }
}
