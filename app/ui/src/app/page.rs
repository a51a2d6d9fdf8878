//! The interface between a page and the rest of the app.
//!
//! A page is a struct with private state. Its methods handle touches, events and replies to its requests, and update the
//! view. Each call gets a [`Cx`], which collects what the page wants from others; the app carries that out afterwards.

use std::collections::BTreeMap;
use std::path::PathBuf;

use client::Client;
use proto::board::{Game, Setup};
use proto::control::{GameChoice, GameSheet, MatchSummary, Refusal, RefusalCode, Request, reply, request};
use senses::{Cue, Feel};

use super::AppState;
use crate::adapters;
use crate::preferences::Preferences;
use crate::screens::{Dialog, Page, Remark};

/// All pages and dialogs, each with its own state.
#[derive(Default)]
pub(crate) struct Pages {
    pub(crate) address: adapters::address::ByAddress,
    pub(crate) backup: adapters::backup::Backup,
    pub(crate) board: adapters::board::BoardPage,
    pub(crate) club: adapters::club::ClubPage,
    pub(crate) doctor: adapters::doctor::Doctor,
    pub(crate) editor: adapters::editor::Editor,
    pub(crate) engines: adapters::engines::Engines,
    pub(crate) field_test: adapters::field_test::FieldTestDialog,
    pub(crate) friends: adapters::friends::Friends,
    pub(crate) gifts: adapters::gifts::Gifts,
    pub(crate) guest: adapters::guest::Guest,
    pub(crate) home: adapters::home::Home,
    pub(crate) invitation: adapters::invitation::Invitation,
    pub(crate) lesson: adapters::lesson::Lesson,
    pub(crate) manual: adapters::manual::Manual,
    pub(crate) nearby: adapters::nearby::Nearby,
    pub(crate) new_game: adapters::new_game::NewGame,
    pub(crate) position: adapters::position::Position,
    pub(crate) puzzles: adapters::puzzles::Puzzles,
    pub(crate) records: adapters::records::Records,
    pub(crate) replay: adapters::replay::Replay,
    pub(crate) settings: adapters::settings::Settings,
}

/// Everything besides its own state that a page may use.
pub(crate) struct Cx<'a> {
    /// The host's state, the present page, preferences.
    pub(crate) known: &'a AppState,
    /// Requests to the host.
    pub(crate) ask: &'a mut Questions,
    /// Navigation: pages, dialogs, remarks.
    pub(crate) go: Go,
    pub(crate) preferences: Changes,
    pub(crate) feel: Felt,
}

impl<'a> Cx<'a> {
    pub(super) fn new(known: &'a AppState, ask: &'a mut Questions) -> Self {
        Self { known, ask, go: Go::default(), preferences: Changes::default(), feel: Felt::default() }
    }

    pub(super) fn into_effects(self) -> PageEffects {
        PageEffects { preferences: self.preferences.0, felt: self.feel.0, steps: self.go.0 }
    }
}

/// What a page has requested from the app.
pub(super) struct PageEffects {
    pub(super) preferences: Vec<Change>,
    pub(super) felt: Vec<Sensation>,
    pub(super) steps: Vec<Step>,
}

pub(super) type Change = Box<dyn FnOnce(&mut Preferences)>;

/// Changes of preferences.
#[derive(Default)]
pub(crate) struct Changes(Vec<Change>);

impl Changes {
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Preferences) + 'static) {
        self.0.push(Box::new(change));
    }
}

pub(super) enum Sensation {
    Heard(Cue),
    Felt(Feel),
}

/// Sounds and vibration, as far as the player has enabled them.
#[derive(Default)]
pub(crate) struct Felt(Vec<Sensation>);

impl Felt {
    pub(crate) fn hear(&mut self, cue: Cue) {
        self.0.push(Sensation::Heard(cue));
    }

    pub(crate) fn shake(&mut self, feel: Feel) {
        self.0.push(Sensation::Felt(feel));
    }
}

pub(super) enum Step {
    Page(Page),
    Back,
    Leave(Page),
    Dialog(Dialog),
    Remark(Remark, String),
    Refused(Box<Refusal>, Remark),
    Room(String),
    LeaveRoom,
    PutAside,
    CodeWhenThere(String),
    NewGame(Game),
    BeginFrom(Box<GameChoice>),
    SetStart(Option<Box<GameChoice>>),
    Describe(Game),
    RememberSheet(Game, Box<GameSheet>),
    TellWish,
    Puzzles(Game),
    Replay(Box<MatchSummary>),
    SearchRecords,
    LookForBackups,
    TakeBackup(PathBuf),
    Invite(String),
    Counter { peer: String, game: Game, invite: String },
    ForgetProgress(String),
    SolveWhenThere(bool),
    SavePicture(Box<adapters::picture::Subject>, String),
    Flash(Vec<u32>),
    RememberRules(Box<(Setup, GameSheet)>),
}

/// Steps that the app carries out in order after the page's method.
#[derive(Default)]
pub(crate) struct Go(Vec<Step>);

impl Go {
    /// Opens a page.
    pub(crate) fn page(&mut self, page: Page) {
        self.0.push(Step::Page(page));
    }

    /// Goes back by one page.
    pub(crate) fn back(&mut self) {
        self.0.push(Step::Back);
    }

    /// Closes this page, because its subject is gone.
    pub(crate) fn leave(&mut self, page: Page) {
        self.0.push(Step::Leave(page));
    }

    /// Opens a dialog; `Dialog::None` closes it.
    pub(crate) fn dialog(&mut self, dialog: Dialog) {
        self.0.push(Step::Dialog(dialog));
    }

    /// Shows a short remark. `name`: its subject.
    pub(crate) fn remark(&mut self, remark: Remark, name: &str) {
        self.0.push(Step::Remark(remark, name.to_owned()));
    }

    /// Shows the reason of a refusal. `otherwise`: the remark for a request that the host did not understand.
    pub(crate) fn refused(&mut self, refusal: Refusal, otherwise: Remark) {
        self.0.push(Step::Refused(Box::new(refusal), otherwise));
    }

    /// As [`refused`](Self::refused), for a request that no touch has caused: problems of radios are left to the pages about
    /// people.
    pub(crate) fn refused_unasked(&mut self, refusal: Refusal) {
        if refusal.code() != RefusalCode::RefusalRadio || refusal.reason.is_some() {
            self.refused(refusal, Remark::BadRequest);
        }
    }

    /// Opens the board of a room, which the host's events contain already or next.
    pub(crate) fn room(&mut self, id: &str) {
        self.0.push(Step::Room(id.to_owned()));
    }

    /// Closes the board page and its room.
    pub(crate) fn leave_room(&mut self) {
        self.0.push(Step::LeaveRoom);
    }

    /// Closes the board page; its room stays open.
    pub(crate) fn put_aside(&mut self) {
        self.0.push(Step::PutAside);
    }

    /// Shows the code of this match once its board is opened, if its guest is not here.
    pub(crate) fn code_when_there(&mut self, id: &str) {
        self.0.push(Step::CodeWhenThere(id.to_owned()));
    }

    /// Opens the page for a new match of this game.
    pub(crate) fn new_game(&mut self, game: Game) {
        self.0.push(Step::NewGame(game));
    }

    /// Opens the page for a new match that begins from the position of this choice.
    pub(crate) fn begin_from(&mut self, choice: GameChoice) {
        self.0.push(Step::BeginFrom(Box::new(choice)));
    }

    /// Stores the choice with a position from which new matches of its game begin; `None`: from their usual beginning.
    pub(crate) fn set_start(&mut self, choice: Option<GameChoice>) {
        self.0.push(Step::SetStart(choice.map(Box::new)));
    }

    /// Requests the sheet of the remembered choice of this game, after it is stored.
    pub(crate) fn describe(&mut self, game: Game) {
        self.0.push(Step::Describe(game));
    }

    /// Stores the sheet of the remembered choice of this game.
    pub(crate) fn remember_sheet(&mut self, game: Game, sheet: GameSheet) {
        self.0.push(Step::RememberSheet(game, Box::new(sheet)));
    }

    /// Sends the host the game for invitations, which people nearby are told.
    pub(crate) fn tell_wish(&mut self) {
        self.0.push(Step::TellWish);
    }

    /// Opens the puzzles of this game.
    pub(crate) fn puzzles(&mut self, game: Game) {
        self.0.push(Step::Puzzles(game));
    }

    /// Opens the review of a kept match at its final position.
    pub(crate) fn replay(&mut self, summary: MatchSummary) {
        self.0.push(Step::Replay(Box::new(summary)));
    }

    /// Repeats the search of kept matches, because they have changed.
    pub(crate) fn search_records(&mut self) {
        self.0.push(Step::SearchRecords);
    }

    /// Opens the file dialog for backups.
    pub(crate) fn look_for_backups(&mut self) {
        self.0.push(Step::LookForBackups);
    }

    /// Opens the dialog for restoring this backup.
    pub(crate) fn take_backup(&mut self, path: PathBuf) {
        self.0.push(Step::TakeBackup(path));
    }

    /// Invites this person to a match of the game for invitations.
    pub(crate) fn invite(&mut self, peer: &str) {
        self.0.push(Step::Invite(peer.to_owned()));
    }

    /// Answers an invitation of this person with a counter-offer for this game.
    pub(crate) fn counter(&mut self, peer: &str, game: Game, invite: &str) {
        self.0.push(Step::Counter { peer: peer.to_owned(), game, invite: invite.to_owned() });
    }

    /// Discards the progress of an earlier attempt to connect to this person.
    pub(crate) fn forget_progress(&mut self, peer: &str) {
        self.0.push(Step::ForgetProgress(peer.to_owned()));
    }

    /// Lights these points of the board for a moment.
    pub(crate) fn flash(&mut self, points: &[u32]) {
        self.0.push(Step::Flash(points.to_vec()));
    }

    /// Stores the sheet of the match on the board, which has this setup.
    pub(crate) fn remember_rules(&mut self, setup: Setup, sheet: GameSheet) {
        self.0.push(Step::RememberRules(Box::new((setup, sheet))));
    }

    /// Saves a picture of a position, named as the match's own file.
    pub(crate) fn save_picture(&mut self, subject: adapters::picture::Subject, match_file: &str) {
        self.0.push(Step::SavePicture(Box::new(subject), match_file.to_owned()));
    }

    /// Sets whether the board that is being opened is solved at once.
    pub(crate) fn solve_when_there(&mut self, solve: bool) {
        self.0.push(Step::SolveWhenThere(solve));
    }
}

/// The recipient of a reply.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Asked {
    /// None; a refusal is shown, unless it is because of a radio.
    Nothing,
    /// None; a refusal is shown.
    Done,
    /// The room in the reply is opened.
    Room,
    Address(adapters::address::Question),
    Backup(adapters::backup::Question),
    Board(adapters::board::Question),
    Club(adapters::club::Question),
    Doctor(adapters::doctor::Question),
    Editor(adapters::editor::Question),
    Engines(adapters::engines::Question),
    FieldTest(adapters::field_test::Question),
    Friends(adapters::friends::Question),
    Gifts(adapters::gifts::Question),
    Guest(adapters::guest::Question),
    Home(adapters::home::Question),
    Invitation(adapters::invitation::Question),
    Lesson(adapters::lesson::Question),
    Nearby(adapters::nearby::Question),
    NewGame(adapters::new_game::Question),
    Position(adapters::position::Question),
    Puzzles(adapters::puzzles::Question),
    Records(adapters::records::Question),
    Replay(adapters::replay::Question),
    Settings(adapters::settings::Question),
}

/// Requests without a reply so far.
pub(crate) struct Questions {
    client: Client,
    last: u64,
    open: BTreeMap<u64, Asked>,
}

impl Questions {
    pub(super) fn new(client: Client) -> Self {
        Self { client, last: 0, open: BTreeMap::new() }
    }

    /// Sends a request; its reply is passed to the page that `asked` names.
    pub(crate) fn send(&mut self, body: request::Body, asked: impl Into<Asked>) {
        self.last += 1;
        self.open.insert(self.last, asked.into());
        self.client.send(Request { id: self.last, body: Some(body) });
    }

    /// Sends a request whose reply is ignored, except for a refusal.
    pub(crate) fn done(&mut self, body: request::Body) {
        self.send(body, Asked::Done);
    }

    /// Sends a request whose reply is ignored, except for a refusal; a refusal because of a radio is ignored too.
    pub(crate) fn tell(&mut self, body: request::Body) {
        self.send(body, Asked::Nothing);
    }

    /// How many replies are still to come.
    pub(super) fn open(&self) -> usize {
        self.open.len()
    }

    /// Removes and returns the recipient of this reply.
    pub(super) fn take(&mut self, id: u64) -> Option<Asked> {
        self.open.remove(&id)
    }
}

/// A reply of the host.
pub(crate) type Answer = Result<reply::Body, Refusal>;
