//! The home page.

use std::rc::Rc;

use proto::board as wire;
use proto::control::{self, Seat, reply, request, seat};
use slint::{ComponentHandle, ModelRc, VecModel};

use super::waiting::waits_for_me;
use super::{board, game, game_of, guest, nearby, touched, update};
use crate::app::{Answer, AppState, Asked, Controller, Cx};
use crate::art::Sprites;
use crate::screens::{HomeAdapter, Letter, MainWindow, Opponent, Page, Remark, UnfinishedMatch};

/// Maximum number of unfinished matches requested for the page; the list of matches has all.
const MATCHES_ASKED: u32 = 12;

/// State of the page.
#[derive(Default)]
pub(crate) struct Home {
    /// Kept unfinished matches, latest first.
    matches: Vec<control::MatchSummary>,
    unfinished: Rc<VecModel<UnfinishedMatch>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Question {
    Matches,
    Resume,
}

impl From<Question> for Asked {
    fn from(question: Question) -> Self {
        Self::Home(question)
    }
}

impl Home {
    pub(super) fn attach(&self, window: &MainWindow, app: &Rc<Controller>) {
        let home = window.global::<HomeAdapter>();
        home.on_choose(touched!(app, |_pages, cx, game| cx.go.new_game(game::of(game))));
        home.on_open_nearby(touched!(app, |_pages, cx| cx.go.page(Page::Nearby)));
        home.on_open_settings(touched!(app, |_pages, cx| cx.go.page(Page::Settings)));
        home.on_open_puzzles(touched!(app, |pages, cx| cx.go.puzzles(pages.puzzles.game())));
        home.on_open_friends(touched!(app, |_pages, cx| cx.go.page(Page::Friends)));
        home.set_unfinished(ModelRc::from(self.unfinished.clone()));
        home.on_resume(touched!(app, |_pages, cx, room| resume(&room, cx)));
        home.on_open_records(touched!(app, |pages, cx| pages.records.open(cx)));
    }

    pub(crate) fn reply(&mut self, question: &Question, answer: Answer, cx: &mut Cx<'_>) {
        match (answer, question) {
            (Ok(reply::Body::Matches(list)), Question::Matches) => self.matches = list.matches,
            (Ok(reply::Body::RoomId(room)), Question::Resume) => cx.go.room(&room),
            (Err(refusal), Question::Matches) => cx.go.refused_unasked(refusal),
            (Err(refusal), Question::Resume) => cx.go.refused(refusal, Remark::BadRequest),
            (Ok(_), _) => {}
        }
    }

    pub(super) fn show(&self, window: &MainWindow, known: &AppState, sprites: &Sprites) {
        let home = window.global::<HomeAdapter>();
        home.set_nearby(nearby::state(known));
        let near = &known.state.nearby;
        home.set_nearby_count(near.len().try_into().unwrap_or(i32::MAX));
        let names: Vec<&str> =
            near.values().map(|near| near.name.as_str()).filter(|name| !name.is_empty()).collect();
        home.set_nearby_names(names.join(" · ").into());
        // The small boards are drawn only while the page is visible.
        if known.page() == Page::Home {
            let rows: Vec<UnfinishedMatch> =
                unfinished(known, &self.matches).into_iter().map(|one| card(sprites, &one)).collect();
            update(&self.unfinished, &rows);
        }
    }
}

/// Requests the unfinished matches; called when the page is opened.
pub(crate) fn list_matches(cx: &mut Cx<'_>) {
    let list = control::ListMatches {
        limit: MATCHES_ASKED,
        outcome: control::Outcome::Unfinished.into(),
        ..Default::default()
    };
    cx.ask.send(request::Body::ListMatches(list), Question::Matches);
}

/// Continues a match, with or without an open room. Where a guest is missing, the code is shown at once.
pub(crate) fn resume(id: &str, cx: &mut Cx<'_>) {
    cx.go.code_when_there(id);
    cx.go.room(id);
    if !cx.known.state.rooms.contains_key(id) {
        let resume = control::ResumeRoom { room_id: id.to_owned() };
        cx.ask.send(request::Body::ResumeRoom(resume), Question::Resume);
    }
}

/// A match that can be continued.
struct Unfinished<'a> {
    id: &'a str,
    setup: Option<&'a wire::Setup>,
    seats: [&'a Option<Seat>; 2],
    moves: u32,
    board: Option<&'a control::Board>,
    mine: bool,
    /// Its end may be seen, and a guest may still be here.
    over: bool,
    letter: Letter,
}

/// Open matches, those with a friend or a guest first, of these those that wait for the person here; followed by kept ones,
/// latest first. A match that is over is among the open ones as long as its code is.
fn unfinished<'a>(known: &'a AppState, matches: &'a [control::MatchSummary]) -> Vec<Unfinished<'a>> {
    let mut open: Vec<&control::Room> = known
        .state
        .rooms
        .values()
        .filter(|room| {
            let goes_on = room.result.is_none() && (!room.mine.is_empty() || has_guest(room));
            room.puzzle.is_none() && (goes_on || known.has_code(&room.id))
        })
        .collect();
    let latest =
        |room: &control::Room| matches.iter().position(|kept| kept.room_id == room.id).unwrap_or(usize::MAX);
    let with_others = |room: &control::Room| room.link.is_some() || has_guest(room);
    open.sort_by_key(|room| (!with_others(room), !waits_for_me(room), latest(room)));
    let open = open.into_iter().map(|room| Unfinished {
        id: &room.id,
        setup: room.setup.as_ref(),
        seats: [&room.first, &room.second],
        moves: room.moves,
        board: room.board.as_ref(),
        mine: room.board.as_ref().is_some_and(|board| room.mine.contains(&board.turn)),
        over: room.result.is_some(),
        letter: board::letter(room).unwrap_or(Letter::None),
    });
    // An imported match is not this player's.
    let kept = matches.iter().filter(|kept| kept.result.is_none() && !kept.open && kept.origin.is_none());
    let kept = kept.filter(|kept| !known.state.rooms.contains_key(&kept.room_id));
    let kept = kept.map(|kept| {
        let turn = kept.board.as_ref().map_or(wire::Side::First, control::Board::turn);
        let seat = if turn == wire::Side::Second { &kept.second } else { &kept.first };
        Unfinished {
            id: &kept.room_id,
            setup: kept.setup.as_ref(),
            seats: [&kept.first, &kept.second],
            moves: kept.moves,
            board: kept.board.as_ref(),
            mine: seat.as_ref().is_some_and(|seat| matches!(seat.who, Some(seat::Who::Here(_)))),
            over: false,
            letter: Letter::None,
        }
    });
    open.chain(kept).collect()
}

fn has_guest(room: &control::Room) -> bool {
    [&room.first, &room.second].into_iter().flatten().any(guest::is_guest)
}

fn card(sprites: &Sprites, one: &Unfinished<'_>) -> UnfinishedMatch {
    let (opponent, name, level) = opponent(one.seats);
    UnfinishedMatch {
        room: one.id.into(),
        game: game_of(one.setup),
        moves: one.moves.try_into().unwrap_or(i32::MAX),
        opponent,
        name: name.into(),
        level,
        my_turn: one.mine,
        over: one.over,
        letter: one.letter,
        revision: sprites.set_thumbnail(one.id, one.board),
    }
}

/// The opponent to show: a peer, otherwise a bot, otherwise a second person at this device.
pub(super) fn opponent(seats: [&Option<Seat>; 2]) -> (Opponent, String, f32) {
    let mut found = (Opponent::Here, String::new(), 0.0);
    for seat in seats.into_iter().flatten() {
        match &seat.who {
            Some(seat::Who::Peer(_) | seat::Who::Guest(_)) => {
                return (Opponent::Peer, seat.name.clone(), 0.0);
            }
            Some(seat::Who::BotLevel(_)) if !seat.bot_assists => {
                found = (Opponent::Bot, seat.engine.clone(), game::level_of(seat));
            }
            _ => {}
        }
    }
    found
}
