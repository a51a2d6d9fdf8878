//! Everything that the app knows and that changes: what the host has said, where the player is, what was asked.

use std::collections::BTreeMap;

use client::{Client, HostState};
use proto::board::{Action, Game as WireGame, Setup, action};
use proto::control::{self, GameChoice, GameSheet, Room};

use super::way::Way;
use crate::adapters;
use crate::preferences::{LastGame, Preferences, Store};
use crate::screens::{Dialog, Page};

/// What a reply will be about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Purpose {
    Nothing,
    /// An action on the board that is seen.
    Act,
    OpenRoom,
    /// For this match, at this ply and revision.
    Hint {
        room: String,
        ply: u32,
        revision: u32,
    },
    Invite,
    ListMatches,
    PowerOn,
    /// What a choice of rules for this game amounts to.
    DescribeChoice {
        game: WireGame,
        choice: GameChoice,
    },
    /// By which rules the match on the board is played.
    DescribeRoom {
        setup: Setup,
    },
    /// A page of the records, with the number of the search that it is for.
    Records {
        search: u32,
    },
    /// A position of the match that is looked through.
    Look,
    /// A step of a lesson.
    Teach(control::Teach),
    Export,
    Import,
    /// A file that the app was opened with.
    LookAt,
    /// A match was shown to this friend.
    Give {
        peer: String,
    },
    SaveEverything,
    TakeEverything,
    /// A match that was looked through is gone.
    Discard,
    /// Something about a person was changed.
    Person,
    ShowCode,
    AddFriend,
    Account,
    Contact,
    ListAdapters,
    /// Those of this game.
    Puzzles {
        game: WireGame,
    },
    /// What an invitation of theirs would be played by.
    DescribeInvitation {
        invite: String,
    },
}

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

/// Whom we have asked for a game, from the touch until the answer.
#[derive(Clone, Debug)]
pub(crate) struct Inviting {
    pub(crate) peer: String,
    /// Once the host has told it.
    pub(crate) invite: Option<String>,
    pub(crate) game: WireGame,
    pub(crate) my_side: i32,
}

/// Everything that changes.
pub(crate) struct Inner {
    pub(crate) preferences: Preferences,
    pub(super) store: Store,
    pub(crate) locale: String,
    pub(super) client: Client,
    pub(crate) state: HostState,
    /// Unfinished matches for the first page, the latest first.
    pub(crate) matches: Vec<control::MatchSummary>,
    pub(super) next_request: u64,
    pub(super) asked: BTreeMap<u64, Purpose>,
    pub(super) way: Way,
    /// A dialog of our own; others' come first.
    pub(super) question: Dialog,
    /// The match on the board page: kept when the host has closed it, so that its end stays to be seen.
    pub(crate) room: Option<Room>,
    pub(super) open_when_there: Option<String>,
    /// By which rules a match is played: the last that was asked for.
    pub(super) room_sheet: Option<(Setup, GameSheet)>,
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
    pub(crate) records: adapters::records::Search,
    pub(crate) replay: Option<adapters::replay::Replay>,
    pub(crate) editor: adapters::editor::Editor,
    pub(crate) people: adapters::friends::People,
    /// A match for a friend who is being connected.
    pub(crate) giving: Option<adapters::gifts::Giving>,
    pub(crate) backup: adapters::backup::Backup,
    pub(crate) puzzles: adapters::puzzles::Puzzles,
    /// Bluetooth adapters as they were last told.
    pub(crate) adapters: Vec<control::Adapter>,
    pub(crate) lesson: adapters::lesson::Lesson,
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
    /// The game of the page for a new match, and what the host says of the remembered choice for each game, by its number.
    pub(crate) new_game: WireGame,
    pub(crate) sheets: BTreeMap<i32, GameSheet>,
    pub(crate) all_options: bool,
    pub(crate) inviting: Option<Inviting>,
    pub(crate) switching_on: bool,
    /// Where a damaged file of saves was put.
    pub(crate) set_aside: Option<String>,
    /// Somebody near who is looked at.
    pub(crate) neighbour: String,
    /// An invitation of theirs that is being answered with other terms.
    pub(crate) countering: Option<control::Invitation>,
    /// What invitations of theirs would be played by, by their ids.
    pub(crate) invite_sheets: BTreeMap<String, GameSheet>,
    /// An invitation of theirs to which other terms are on their way.
    pub(crate) answered: Option<String>,
    /// Somebody looks at the window, as far as is known.
    pub(super) in_front: bool,
    pub(super) scanning: bool,
    pub(crate) looked_long: bool,
    pub(crate) thought_open: bool,
}

impl Inner {
    pub(crate) fn page(&self) -> Page {
        self.way.page()
    }

    pub(crate) fn chinese(&self) -> bool {
        self.preferences.language.is_chinese(&self.locale)
    }

    /// The one dialog that is seen: what comes from a person first, then our own questions.
    pub(crate) fn dialog(&self) -> Dialog {
        let offered = self.page() == Page::Board
            && self.room.as_ref().and_then(|room| room.offer.as_ref()).is_some_and(|offer| !offer.mine);
        if !self.state.comparisons.is_empty() {
            Dialog::Comparison
        } else if self.incoming().is_some() {
            adapters::invitation::dialog_of(self.question)
        } else if self.inviting.is_some() || self.outgoing().is_some() {
            Dialog::Waiting
        } else if offered {
            Dialog::Offer
        } else if self.question == Dialog::None && self.page() != Page::Board && !self.state.gifts.is_empty()
        {
            // Nobody waits for the answer: it comes when nothing else is asked.
            Dialog::Gift
        } else {
            self.question
        }
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

    pub(crate) fn incoming(&self) -> Option<&control::Invitation> {
        let countering = self.countering.as_ref().map(|theirs| theirs.invite_id.as_str());
        let answered = self.answered.as_deref();
        self.state.invitations.iter().find(|invitation| {
            let id = Some(invitation.invite_id.as_str());
            !invitation.mine && id != countering && id != answered
        })
    }

    pub(crate) fn outgoing(&self) -> Option<&control::Invitation> {
        self.state.invitations.iter().find(|invitation| invitation.mine)
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
