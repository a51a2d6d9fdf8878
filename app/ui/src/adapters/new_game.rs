//! What to play, against whom, by which rules. Every choice is remembered.

use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

use proto::board as wire;
use proto::control::{self, Seat, request, seat};
use slint::ComponentHandle;

use super::when;
use crate::app::{Desk, Purpose};
use crate::preferences::{LastColour, LastOpponent};
use crate::screens::{Colour, Game, MainWindow, NewGameAdapter, Opponent, Page};

pub(super) fn attach(window: &MainWindow, desk: &Rc<Desk>) {
    let page = window.global::<NewGameAdapter>();
    page.on_choose_opponent(when!(desk, |desk, opponent| {
        desk.prefer(|known| {
            known.opponent = match opponent {
                Opponent::Bot => LastOpponent::Bot,
                Opponent::Here => LastOpponent::Here,
                Opponent::Peer => LastOpponent::Peer,
            };
        });
    }));
    page.on_choose_level(when!(desk, |desk, level| {
        desk.prefer(|known| known.level = level.clamp(1, 10) as u32);
    }));
    page.on_choose_colour(when!(desk, |desk, colour| {
        desk.prefer(|known| {
            known.colour = match colour {
                Colour::Black => LastColour::Black,
                Colour::White => LastColour::White,
                Colour::Random => LastColour::Random,
            };
        });
    }));
    page.on_choose_standard(when!(desk, |desk, standard| desk.prefer(|known| known.standard = standard)));
    page.on_toggle_edge_five(when!(desk, |desk| {
        desk.prefer(|known| known.edge_five_wins = !known.edge_five_wins);
    }));
    page.on_start(when!(desk, |desk| start(&desk)));
}

fn start(desk: &Desk) {
    let (preferences, setup) = {
        let inner = desk.see();
        (inner.preferences.clone(), inner.setup())
    };
    let here = || Seat { who: Some(seat::Who::Here(true)), ..Default::default() };
    let (first, second) = match preferences.opponent {
        LastOpponent::Peer => {
            desk.go(Page::Nearby);
            return;
        }
        LastOpponent::Here => (here(), here()),
        LastOpponent::Bot => {
            let bot = Seat { who: Some(seat::Who::BotLevel(preferences.level)), ..Default::default() };
            let black = match preferences.colour {
                LastColour::Black => true,
                LastColour::White => false,
                // The standard library seeds each map's hasher at random: enough for a lot between two colours.
                LastColour::Random => RandomState::new().hash_one(0).is_multiple_of(2),
            };
            if black { (here(), bot) } else { (bot, here()) }
        }
    };
    let open =
        control::OpenRoom { setup: Some(setup), first: Some(first), second: Some(second), choice: None };
    desk.ask(request::Body::OpenRoom(open), Purpose::OpenRoom);
}

/// The colour asked for, as the wire says it; by lot is the host's to draw.
pub(super) fn my_side(colour: LastColour) -> wire::Side {
    match colour {
        LastColour::Black => wire::Side::First,
        LastColour::White => wire::Side::Second,
        LastColour::Random => wire::Side::Unspecified,
    }
}

pub(super) fn show(window: &MainWindow, desk: &Desk) {
    let inner = desk.see();
    let known = &inner.preferences;
    let page = window.global::<NewGameAdapter>();
    page.set_game(Game::Gomoku);
    page.set_opponent(match known.opponent {
        LastOpponent::Bot => Opponent::Bot,
        LastOpponent::Here => Opponent::Here,
        LastOpponent::Peer => Opponent::Peer,
    });
    page.set_level(known.level as i32);
    page.set_colour(match known.colour {
        LastColour::Black => Colour::Black,
        LastColour::White => Colour::White,
        LastColour::Random => Colour::Random,
    });
    page.set_standard(known.standard);
    page.set_edge_five_wins(known.edge_five_wins);
}
