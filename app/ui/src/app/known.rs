//! What all pages may read: what the host has said, where the player is, what was chosen; and, until the board has a state of its
//! own, what the player does there.

use std::collections::BTreeMap;
use std::path::PathBuf;

use client::HostState;
use proto::board::{Action, Game as WireGame, Setup, action};
use proto::control::{self, GameSheet, Room};

use super::way::Way;
use crate::adapters;
use crate::preferences::{LastGame, Preferences, Store};
use crate::screens::{Dialog, Page};

/// The hint that is shown, good for one position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HintState {
    Asked {
        room: String,
        ply: u32,
        /// The solution of the position before, shown until the new one is there.
        /// Lights Out: the solution is to be played out, not one press to be shown.
        solve: bool,
    },
    Found {
        room: String,
        ply: u32,
        revision: u32,
        action: Action,
        /// Lights Out: how many presses the solution has, and whether none has fewer.
        presses: u32,
        fewest: bool,
        /// Other ways with their chances, the best first, and what either side threatens.
        lines: Vec<control::HintLine>,
        threats: Vec<control::Threat>,
    },
}

/// The piece that a step is to be made with, in one position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Picked {
    pub(crate) room: String,
    pub(crate) ply: u32,
    pub(crate) revision: u32,
    pub(crate) at: u32,
}

/// An action that would lose at once, until the player has said whether it is meant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Losing {
    pub(crate) kind: action::Kind,
    /// Why, where it is not the repetition of a position.
    pub(crate) words: Option<control::Words>,
}

/// A choice beside the points that is asked about before it counts, in one position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choosing {
    pub(crate) room: String,
    pub(crate) ply: u32,
    pub(crate) revision: u32,
    pub(crate) action: Action,
}

/// What all pages may read. The controller alone changes it.
pub(crate) struct Known {
    pub(crate) preferences: Preferences,
    pub(super) store: Store,
    pub(crate) locale: String,
    pub(crate) state: HostState,
    pub(super) way: Way,
    /// A dialog of our own; others' come first.
    pub(crate) question: Dialog,
    /// The match on the board page: kept when the host has closed it, so that its end stays to be seen.
    pub(crate) room: Option<Room>,
    pub(super) open_when_there: Option<String>,
    /// By which rules a match is played: the last that was asked for.
    pub(crate) room_sheet: Option<(Setup, GameSheet)>,
    pub(crate) picked: Option<Picked>,
    /// A step that would lose, until the player has said whether it is meant.
    pub(crate) losing: Option<Losing>,
    pub(crate) choosing: Option<Choosing>,
    /// A stone that waits to be meant.
    pub(crate) waiting: Option<Picked>,
    /// The board is seen from its other side.
    pub(crate) turned: bool,
    /// What was last said at the board, by the other and by this device's player, while it is shown.
    pub(super) said: [Option<control::Said>; 2],
    /// The board that is being opened is to be solved at once.
    pub(crate) solve_when_there: bool,
    /// A match whose board no presses put out, as the host has found.
    pub(crate) unsolvable: Option<String>,
    /// Which part of a large board is seen.
    pub(crate) look: adapters::board::Look,
    pub(crate) hint: Option<HintState>,
    pub(crate) solving: Option<adapters::board::Solving>,
    /// The match whose solution was shown: it is not the player's own.
    pub(crate) shown_solution: Option<String>,
    /// What the host says of the remembered choice for each game, by its number.
    pub(crate) sheets: BTreeMap<i32, GameSheet>,
    /// The time controls that the host offers, whichever game it was asked about.
    pub(crate) paces: Vec<control::PacePreset>,
    /// Somebody looks at the window, as far as is known.
    pub(super) in_front: bool,
    pub(super) scanning: bool,
    pub(crate) looked_long: bool,
    pub(crate) thought_open: bool,
    /// The app's own files are here instead of among the user's documents.
    pub(crate) own_folder: Option<PathBuf>,
}

impl Known {
    pub(crate) fn page(&self) -> Page {
        self.way.page()
    }

    pub(crate) fn chinese(&self) -> bool {
        self.preferences.language.is_chinese(&self.locale)
    }

    /// The dialog of our own that is open, though others' may be seen before it.
    pub(crate) fn question(&self) -> Dialog {
        self.question
    }

    /// The one dialog that is seen: what comes from a person first, then our own questions.
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
            // Nobody waits for the answer: it comes when nothing else is asked.
            Dialog::Gift
        } else {
            self.question
        }
    }

    /// A taken seat of the match on the board whose code somebody else has come by.
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

    /// What the player of this side has last said, while it is shown.
    pub(crate) fn said_by(&self, room: &Room, mine: bool) -> Option<&control::Said> {
        self.said[usize::from(mine)].as_ref().filter(|said| said.room_id == room.id)
    }

    /// How this game was last begun, or is the first time.
    pub(crate) fn last(&self, game: WireGame) -> LastGame {
        let word = adapters::game::word(game);
        self.preferences.games.get(word).cloned().unwrap_or_else(|| LastGame::first(word))
    }

    /// The game that people nearby are invited to.
    pub(crate) fn nearby_game(&self) -> WireGame {
        adapters::game::of_word(&self.preferences.nearby_game)
    }

    /// The rules of the match on the board, once the host has said them.
    pub(crate) fn room_sheet(&self) -> Option<&GameSheet> {
        let setup = self.room.as_ref()?.setup.as_ref()?;
        self.room_sheet.as_ref().filter(|(of, _)| of == setup).map(|(_, sheet)| sheet)
    }
}
