//! The first page.

use std::rc::Rc;

use proto::board as wire;
use proto::control::{self, Seat, request, seat};
use slint::{ComponentHandle, ModelRc, VecModel};

use super::{game, game_of, nearby, new_game, puzzles, records, update, when};
use crate::app::{Desk, Inner, Purpose};
use crate::screens::{HomeAdapter, MainWindow, Opponent, Page, UnfinishedMatch};

/// Rows of the models that the page draws from.
#[derive(Default)]
pub(crate) struct Rows {
    unfinished: Rc<VecModel<UnfinishedMatch>>,
}

pub(super) fn attach(window: &MainWindow, desk: &Rc<Desk>) {
    let home = window.global::<HomeAdapter>();
    home.on_choose(when!(desk, |desk, game| new_game::open(&desk, game::of(game))));
    home.on_open_nearby(when!(desk, |desk| desk.go(Page::Nearby)));
    home.on_open_settings(when!(desk, |desk| desk.go(Page::Settings)));
    home.on_open_puzzles(when!(desk, |desk| {
        let game = desk.see().puzzles_game();
        puzzles::open_page(&desk, game);
    }));
    home.on_open_friends(when!(desk, |desk| desk.go(Page::Friends)));
    home.set_unfinished(ModelRc::from(desk.home.unfinished.clone()));
    home.on_resume(when!(desk, |desk, room| resume(&desk, &room)));
    home.on_open_records(when!(desk, |desk| records::open(&desk)));
}

/// Goes on with a match, whether a room shows it or it is only kept.
pub(crate) fn resume(desk: &Desk, id: &str) {
    let open = desk.see().state.rooms.contains_key(id);
    desk.open_room(id);
    if !open {
        let resume = control::ResumeRoom { room_id: id.to_owned() };
        desk.ask(request::Body::ResumeRoom(resume), Purpose::OpenRoom);
    }
}

pub(super) fn show(window: &MainWindow, desk: &Desk) {
    let home = window.global::<HomeAdapter>();
    let inner = desk.see();
    home.set_nearby(nearby::state(&inner));
    home.set_nearby_count(inner.state.nearby.len().try_into().unwrap_or(i32::MAX));
    let names: Vec<&str> =
        inner.state.nearby.values().map(|near| near.name.as_str()).filter(|name| !name.is_empty()).collect();
    home.set_nearby_names(names.join(" · ").into());
    // While another page is seen its small boards need not be drawn.
    if inner.page() == Page::Home {
        let rows: Vec<UnfinishedMatch> = unfinished(&inner).into_iter().map(|one| card(desk, &one)).collect();
        update(&desk.home.unfinished, &rows);
    }
}

/// A match to go on with.
struct Unfinished<'a> {
    id: &'a str,
    setup: Option<&'a wire::Setup>,
    seats: [&'a Option<Seat>; 2],
    ply: u32,
    board: Option<&'a control::Board>,
    mine: bool,
}

/// Those that are open, with a person at another device first, then those that were kept, the latest first.
fn unfinished(inner: &Inner) -> Vec<Unfinished<'_>> {
    let mut open: Vec<&control::Room> = inner
        .state
        .rooms
        .values()
        .filter(|room| room.result.is_none() && room.puzzle.is_none() && !room.mine.is_empty())
        .collect();
    let latest = |room: &control::Room| {
        inner.matches.iter().position(|kept| kept.room_id == room.id).unwrap_or(usize::MAX)
    };
    open.sort_by_key(|room| (room.link.is_none(), latest(room)));
    let open = open.into_iter().map(|room| Unfinished {
        id: &room.id,
        setup: room.setup.as_ref(),
        seats: [&room.first, &room.second],
        ply: room.board.as_ref().map_or(0, |board| board.ply),
        board: room.board.as_ref(),
        mine: room.board.as_ref().is_some_and(|board| room.mine.contains(&board.turn)),
    });
    let kept = inner.matches.iter().filter(|kept| kept.result.is_none() && !kept.open);
    let kept = kept.filter(|kept| !inner.state.rooms.contains_key(&kept.room_id));
    let kept = kept.map(|kept| {
        let turn = kept.board.as_ref().map_or(wire::Side::First, control::Board::turn);
        let seat = if turn == wire::Side::Second { &kept.second } else { &kept.first };
        Unfinished {
            id: &kept.room_id,
            setup: kept.setup.as_ref(),
            seats: [&kept.first, &kept.second],
            ply: kept.ply,
            board: kept.board.as_ref(),
            mine: seat.as_ref().is_some_and(|seat| matches!(seat.who, Some(seat::Who::Here(_)))),
        }
    });
    open.chain(kept).collect()
}

fn card(desk: &Desk, one: &Unfinished<'_>) -> UnfinishedMatch {
    let (opponent, name, level) = opponent(one.seats);
    UnfinishedMatch {
        room: one.id.into(),
        game: game_of(one.setup),
        ply: one.ply.try_into().unwrap_or(i32::MAX),
        opponent,
        name: name.into(),
        level,
        my_turn: one.mine,
        revision: desk.sprites.set_thumbnail(one.id, one.board),
    }
}

/// Who sits opposite: a peer before a device before a second person here.
pub(super) fn opponent(seats: [&Option<Seat>; 2]) -> (Opponent, String, i32) {
    let mut found = (Opponent::Here, String::new(), 0);
    for seat in seats.into_iter().flatten() {
        match &seat.who {
            Some(seat::Who::Peer(_) | seat::Who::Guest(_)) => return (Opponent::Peer, seat.name.clone(), 0),
            Some(seat::Who::BotLevel(level)) if !seat.bot_assists => {
                found = (Opponent::Bot, String::new(), *level as i32);
            }
            _ => {}
        }
    }
    found
}
