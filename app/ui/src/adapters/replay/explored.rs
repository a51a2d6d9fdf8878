//! What was played in the position that is seen, in the review of a match.

use std::rc::Rc;

use proto::board as wire;
use proto::control;
use slint::{ModelRc, VecModel};

use super::Place;
use super::notes::written;
use crate::adapters::update;
use crate::screens::{ExploredAdapter, Game, PlayedMove};

/// State of the list.
#[derive(Default)]
pub(super) struct Explorer {
    on: bool,
    asked: Option<Place>,
    found: Option<(Place, control::Explored)>,
    moves: Rc<VecModel<PlayedMove>>,
}

impl Explorer {
    pub(super) fn attach(&self, page: &ExploredAdapter<'_>) {
        page.set_moves(ModelRc::from(self.moves.clone()));
    }

    /// Shows or hides it.
    pub(super) fn turn(&mut self, on: bool) {
        self.on = on;
    }

    /// The review of another match begins.
    pub(super) fn begin(&mut self) {
        (self.asked, self.found) = (None, None);
    }

    /// What to ask about the position that is seen, one question at a time.
    pub(super) fn ask(&mut self, here: &Place, room_id: &str) -> Option<control::Explore> {
        let known = self.found.as_ref().is_some_and(|(place, _)| place == here);
        if !self.on || known || self.asked.is_some() {
            return None;
        }
        self.asked = Some(here.clone());
        Some(control::Explore { room_id: room_id.to_owned(), ply: here.ply, line: here.line.clone() })
    }

    /// Handles the answer; `None`: it was refused.
    pub(super) fn answered(&mut self, explored: Option<control::Explored>) {
        self.found = self.asked.take().map(|place| (place, explored.unwrap_or_default()));
    }

    /// The move of this row, at the position that is seen.
    pub(super) fn action(&self, here: &Place, index: usize) -> Option<wire::Action> {
        let (place, explored) = self.found.as_ref()?;
        explored.moves.get(index).filter(|_| place == here)?.r#move.as_ref()?.action
    }

    pub(super) fn show(&self, page: &ExploredAdapter<'_>, here: Option<&Place>, game: Game, chinese: bool) {
        page.set_on(self.on);
        page.set_game(game);
        let found = self.found.as_ref().filter(|(place, _)| Some(place) == here);
        page.set_here(found.is_some());
        let none = control::Explored::default();
        let explored = found.map_or(&none, |(_, explored)| explored);
        page.set_games(explored.games as i32);
        let row = |one: &control::ExploredMove| PlayedMove {
            r#move: one.r#move.as_ref().map(|side| written(side, chinese)).unwrap_or_default().into(),
            games: one.games as i32,
            first: one.first_won as i32,
            drawn: one.drawn as i32,
            second: one.second_won as i32,
            in_book: one.in_book,
        };
        update(&self.moves, &explored.moves.iter().map(row).collect::<Vec<_>>());
    }
}
