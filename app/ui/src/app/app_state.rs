//! State that all pages may read: the host's state, the present page, preferences; and the player's input on the board,
//! until the board is a page with its own state.

use std::collections::BTreeMap;
use std::path::PathBuf;

use client::HostState;
use proto::board::{Action, Game as WireGame, Setup, action};
use proto::control::{self, GameSheet, Room};

use super::nav_stack::NavStack;
use crate::adapters;
use crate::preferences::{LastGame, Preferences, Store};
use crate::screens::{Dialog, Page};

/// The hint for one position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HintState {
    Asked {
        room: String,
        ply: u32,
        /// Lights Out: the whole solution is requested, to be played, instead of one press to be shown.
        solve: bool,
    },
    Found {
        room: String,
        ply: u32,
        revision: u32,
        action: Action,
        /// Lights Out: number of presses of the solution; below: whether it is minimal.
        presses: u32,
        fewest: bool,
        /// Other variations with their winning chances, best first; below: threats of both sides.
        lines: Vec<control::HintLine>,
        threats: Vec<control::Threat>,
    },
}

/// The piece picked for a step, in one position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Picked {
    pub(crate) room: String,
    pub(crate) ply: u32,
    pub(crate) revision: u32,
    pub(crate) at: u32,
}

/// An action that would lose at once, awaiting the player's confirmation, in one position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Losing {
    pub(crate) room: String,
    pub(crate) ply: u32,
    pub(crate) revision: u32,
    pub(crate) kind: action::Kind,
    /// The reason, if it is not the repetition of a position.
    pub(crate) words: Option<control::Words>,
}

/// An action without a point, awaiting the player's confirmation, in one position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choosing {
    pub(crate) room: String,
    pub(crate) ply: u32,
    pub(crate) revision: u32,
    pub(crate) action: Action,
}

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
    pub(crate) picked: Option<Picked>,
    /// A step that would lose, awaiting the player's confirmation.
    pub(crate) losing: Option<Losing>,
    pub(crate) choosing: Option<Choosing>,
    /// The point of a stone that awaits a second tap.
    pub(crate) waiting: Option<Picked>,
    /// The board is rotated.
    pub(crate) turned: bool,
    /// Last chat message of the opponent and of this device's player, while displayed.
    pub(super) said: [Option<control::Said>; 2],
    /// The board that is being opened is solved as soon as it is there.
    pub(crate) solve_when_there: bool,
    /// Id of a match whose board has no solution, according to the host.
    pub(crate) unsolvable: Option<String>,
    /// The visible part of a large board.
    pub(crate) look: adapters::board::Look,
    pub(crate) hint: Option<HintState>,
    pub(crate) solving: Option<adapters::board::Solving>,
    /// What the host says of the remembered choice for each game, by its number.
    pub(crate) sheets: BTreeMap<i32, GameSheet>,
    /// Time controls that the host offers, the same for all games.
    pub(crate) paces: Vec<control::PacePreset>,
    /// The window is in front, as far as is known.
    pub(super) in_front: bool,
    pub(super) scanning: bool,
    pub(crate) looked_long: bool,
    pub(crate) thought_open: bool,
    /// The app's own files are here instead of among the user's documents.
    pub(crate) own_folder: Option<PathBuf>,
}

impl AppState {
    pub(crate) fn page(&self) -> Page {
        self.nav.page()
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

    /// A taken guest seat of the match on the board whose code a second person has used.
    pub(crate) fn guest_asking(&self) -> Option<&control::Guest> {
        let room = self.room.as_ref()?;
        self.state.guests.values().find(|guest| guest.asks && guest.room_id == room.id)
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

    /// The last chat message of this side's player, while displayed.
    pub(crate) fn said_by(&self, room: &Room, mine: bool) -> Option<&control::Said> {
        self.said[usize::from(mine)].as_ref().filter(|said| said.room_id == room.id)
    }

    /// The last choices for this game, or its defaults.
    pub(crate) fn last(&self, game: WireGame) -> LastGame {
        let word = adapters::game::word(game);
        self.preferences.games.get(word).cloned().unwrap_or_else(|| LastGame::first(word))
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
