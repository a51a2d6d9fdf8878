//! The first page.

use std::rc::Rc;

use proto::board as wire;
use proto::control::{self, Seat, request, seat};
use slint::ComponentHandle;

use super::{nearby, rules, when};
use crate::app::{Desk, Inner, Purpose, Unfinished};
use crate::screens::{Game, HomeAdapter, MainWindow, Opponent, Page, UnfinishedMatch};

pub(super) fn attach(window: &MainWindow, desk: &Rc<Desk>) {
    let home = window.global::<HomeAdapter>();
    home.on_choose(when!(desk, |desk, game| {
        if game == Game::Gomoku {
            desk.go(Page::NewGame);
        }
    }));
    home.on_open_nearby(when!(desk, |desk| desk.go(Page::Nearby)));
    home.on_open_settings(when!(desk, |desk| desk.go(Page::Settings)));
    home.on_resume(when!(desk, |desk| resume(&desk)));
}

fn resume(desk: &Desk) {
    let (id, open) = match desk.see().unfinished() {
        None => return,
        Some(Unfinished::Open(room)) => (room.id.clone(), true),
        Some(Unfinished::Kept(kept)) => (kept.room_id.clone(), false),
    };
    desk.open_room(&id);
    if !open {
        desk.ask(request::Body::ResumeRoom(control::ResumeRoom { room_id: id }), Purpose::OpenRoom);
    }
}

pub(super) fn show(window: &MainWindow, desk: &Desk) {
    let home = window.global::<HomeAdapter>();
    let (unfinished, board) = {
        let inner = desk.see();
        home.set_nearby(nearby::state(&inner));
        home.set_nearby_count(inner.state.nearby.len().try_into().unwrap_or(i32::MAX));
        let names: Vec<&str> = inner
            .state
            .nearby
            .values()
            .map(|near| near.name.as_str())
            .filter(|name| !name.is_empty())
            .collect();
        home.set_nearby_names(names.join(" · ").into());
        card(&inner)
    };
    home.set_has_unfinished(unfinished.is_some());
    if let Some(mut unfinished) = unfinished {
        let known = home.get_unfinished();
        unfinished.revision = known.revision;
        // A position is told apart by its match and its number of moves; taking back and playing another way changes the
        // small picture with the next move.
        if (&known.room, known.ply) != (&unfinished.room, unfinished.ply) {
            desk.sprites.set_thumbnail(board);
            unfinished.revision += 1;
        }
        home.set_unfinished(unfinished);
    }
}

fn card(inner: &Inner) -> (Option<UnfinishedMatch>, control::Board) {
    let (id, setup, seats, ply, board, mine) = match inner.unfinished() {
        None => return (None, control::Board::default()),
        Some(Unfinished::Open(room)) => {
            let board = room.board.clone().unwrap_or_default();
            let ply = board.ply;
            (
                &room.id,
                &room.setup,
                [&room.first, &room.second],
                ply,
                board,
                room.mine.contains(&turn_at(ply)),
            )
        }
        Some(Unfinished::Kept(kept)) => {
            let board = kept.board.clone().unwrap_or_else(|| control::Board {
                columns: 15,
                rows: 15,
                ..Default::default()
            });
            let seat = if turn_at(kept.ply) == wire::Side::First as i32 { &kept.first } else { &kept.second };
            let mine = seat.as_ref().is_some_and(|seat| matches!(seat.who, Some(seat::Who::Here(_))));
            (&kept.room_id, &kept.setup, [&kept.first, &kept.second], kept.ply, board, mine)
        }
    };
    let (opponent, name, level) = opponent(seats);
    let card = UnfinishedMatch {
        room: id.into(),
        game: rules(setup.as_ref()).game,
        ply: ply.try_into().unwrap_or(i32::MAX),
        opponent,
        name: name.into(),
        level,
        my_turn: mine,
        revision: 0,
    };
    (Some(card), board)
}

/// Whose move it is after so many, in games in which the sides move by turns.
fn turn_at(ply: u32) -> i32 {
    if ply.is_multiple_of(2) { wire::Side::First as i32 } else { wire::Side::Second as i32 }
}

/// Who sits opposite: a peer before a device before a second person here.
fn opponent(seats: [&Option<Seat>; 2]) -> (Opponent, String, i32) {
    let mut found = (Opponent::Here, String::new(), 0);
    for seat in seats.into_iter().flatten() {
        match &seat.who {
            Some(seat::Who::Peer(_)) => return (Opponent::Peer, seat.name.clone(), 0),
            Some(seat::Who::BotLevel(level)) if !seat.bot_assists => {
                found = (Opponent::Bot, String::new(), *level as i32);
            }
            _ => {}
        }
    }
    found
}
