//! The first page.

use std::rc::Rc;

use proto::board as wire;
use proto::control::{self, Seat, request, seat};
use slint::ComponentHandle;

use super::{game_of, nearby, new_game, when};
use crate::app::{Desk, Inner, Purpose, Unfinished};
use crate::screens::{HomeAdapter, MainWindow, Opponent, Page, UnfinishedMatch};

pub(super) fn attach(window: &MainWindow, desk: &Rc<Desk>) {
    let home = window.global::<HomeAdapter>();
    home.on_choose(when!(desk, |desk, game| new_game::open(&desk, game.into())));
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
            let mine = room.mine.contains(&board.turn);
            (&room.id, &room.setup, [&room.first, &room.second], ply, board, mine)
        }
        Some(Unfinished::Kept(kept)) => {
            let board = kept.board.clone().unwrap_or_else(|| control::Board {
                columns: 15,
                rows: 15,
                ..Default::default()
            });
            let seat = if board.turn() == wire::Side::Second { &kept.second } else { &kept.first };
            let mine = seat.as_ref().is_some_and(|seat| matches!(seat.who, Some(seat::Who::Here(_))));
            (&kept.room_id, &kept.setup, [&kept.first, &kept.second], kept.ply, board, mine)
        }
    };
    let (opponent, name, level) = opponent(seats);
    let card = UnfinishedMatch {
        room: id.into(),
        game: game_of(setup.as_ref()),
        ply: ply.try_into().unwrap_or(i32::MAX),
        opponent,
        name: name.into(),
        level,
        my_turn: mine,
        revision: 0,
    };
    (Some(card), board)
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
