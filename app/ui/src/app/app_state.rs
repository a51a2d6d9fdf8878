//! State that all pages may read: the host's state, the present page, the match on the board, preferences.

use std::collections::BTreeMap;
use std::path::PathBuf;

use client::HostState;
use proto::board::{Game as WireGame, Setup};
use proto::control::{self, GameSheet, Room};

use super::nav_stack::NavStack;
use crate::adapters;
use crate::preferences::{LastGame, Preferences, Store};
use crate::screens::{Dialog, Page};

/// State that all pages may read. Only the controller changes it.
pub(crate) struct AppState {
    pub(crate) preferences: Preferences,
    pub(super) store: Store,
    pub(crate) locale: String,
    pub(crate) state: HostState,
    pub(super) nav: NavStack,
    /// The app's own open dialog; dialogs caused by others take precedence.
    pub(crate) question: Dialog,
    /// The match on the board page; kept after the host has closed its room, so that the end stays visible.
    pub(crate) room: Option<Room>,
    pub(super) open_when_there: Option<String>,
    /// The sheet of a match, with its setup: the last one requested.
    pub(crate) room_sheet: Option<(Setup, GameSheet)>,
    /// What the host says of the remembered choice for each game, by its number.
    pub(crate) sheets: BTreeMap<i32, GameSheet>,
    /// Time controls that the host offers, the same for all games.
    pub(crate) paces: Vec<control::PacePreset>,
    /// The window is in front, as far as is known.
    pub(super) in_front: bool,
    pub(super) scanning: bool,
    pub(crate) looked_long: bool,
    /// The app's own files are here instead of among the user's documents.
    pub(crate) own_folder: Option<PathBuf>,
}

impl AppState {
    pub(crate) fn page(&self) -> Page {
        self.nav.page()
    }

    /// The choice with a position that was set up, from which new matches of its game begin.
    pub(crate) fn start(&self) -> Option<&control::GameChoice> {
        self.nav.start.as_ref()
    }

    /// Whether the board is left for the review of a match.
    pub(crate) fn is_from_review(&self) -> bool {
        self.nav.is_from_review()
    }

    /// Whether the club evening's page leads to the present one.
    pub(crate) fn is_for_club(&self) -> bool {
        self.nav.has(Page::Club)
    }

    pub(crate) fn chinese(&self) -> bool {
        self.preferences.language.is_chinese(&self.locale)
    }

    /// The app's own open dialog; a dialog caused by others may cover it.
    pub(crate) fn question(&self) -> Dialog {
        self.question
    }

    /// The dialog that is shown: one caused by another person first, then the app's own.
    pub(super) fn dialog(&self, invitation: &adapters::invitation::Invitation) -> Dialog {
        let offered = self.page() == Page::Board
            && self.room.as_ref().and_then(|room| room.offer.as_ref()).is_some_and(|offer| !offer.mine);
        if !self.state.comparisons.is_empty() {
            Dialog::Comparison
        } else if let Some(dialog) = invitation.dialog(self, self.question) {
            dialog
        } else if offered {
            Dialog::Offer
        } else if self.guest_asking().is_some() {
            Dialog::GuestAsks
        } else if self.question == Dialog::None && self.page() != Page::Board && !self.state.gifts.is_empty()
        {
            // Not urgent: shown when no other dialog is.
            Dialog::Gift
        } else {
            self.question
        }
    }

    /// A taken guest seat whose code a second person has used: of the match on the board first, because the others go on too.
    pub(crate) fn guest_asking(&self) -> Option<&control::Guest> {
        let is_shown =
            |guest: &&control::Guest| self.room.as_ref().is_some_and(|room| room.id == guest.room_id);
        let asking = || self.state.guests.values().filter(|guest| guest.asks);
        asking().find(is_shown).or_else(|| asking().next())
    }

    /// Whether guests or spectators can come to this match by a code.
    pub(crate) fn has_code(&self, room: &str) -> bool {
        self.state.guests.values().any(|guest| guest.room_id == room)
    }

    /// The friend at the other side of the board.
    pub(crate) fn friend_at_board(&self) -> Option<&control::Friend> {
        let room = self.room.as_ref()?;
        let peer = [&room.first, &room.second].into_iter().flatten().find_map(|seat| match &seat.who {
            Some(control::seat::Who::Peer(key)) => Some(key),
            _ => None,
        })?;
        self.state.friends.get(peer)
    }

    /// The last choices for this game, or its defaults.
    pub(crate) fn last(&self, game: WireGame) -> LastGame {
        let word = adapters::game::word(game);
        self.preferences.games.get(word).cloned().unwrap_or_else(|| LastGame::first(word))
    }

    /// The engine that gives hints in this game, if one is chosen and there; `judges`: one with evaluations.
    pub(crate) fn adviser(&self, game: WireGame, judges: bool) -> String {
        let named = self.last(game).adviser;
        let is_it = |engine: &&control::Engine| {
            engine.name == named
                && engine.game() == game
                && !engine.missing
                && (!judges || adapters::engines::judges(engine))
        };
        self.state.engines.iter().find(is_it).map_or(String::new(), |engine| engine.name.clone())
    }

    /// The game for invitations of people nearby.
    pub(crate) fn nearby_game(&self) -> WireGame {
        adapters::game::of_word(&self.preferences.nearby_game)
    }

    /// The rules of the match on the board, once received.
    pub(crate) fn room_sheet(&self) -> Option<&GameSheet> {
        let setup = self.room.as_ref()?.setup.as_ref()?;
        self.room_sheet.as_ref().filter(|(of, _)| of == setup).map(|(_, sheet)| sheet)
    }
}
