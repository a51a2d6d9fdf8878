//! What a page may touch beside its own state, and what it wants done.
//!
//! A page is a struct with private state. It is touched, hears of events, gets the replies to what it has asked, and shows
//! itself; each time it is lent a [`Cx`]. What it wants of others it says there, and the app does it when the page is done.

use std::collections::BTreeMap;
use std::path::PathBuf;

use client::Client;
use proto::board::Game;
use proto::control::{GameSheet, MatchSummary, Refusal, RefusalCode, Request, reply, request};
use senses::{Cue, Feel};

use super::Known;
use crate::adapters;
use crate::preferences::Preferences;
use crate::screens::{Dialog, Page, Remark};

/// The pages and dialogs, each with its own state.
#[derive(Default)]
pub(crate) struct Pages {
    pub(crate) backup: adapters::backup::Backup,
    pub(crate) editor: adapters::editor::Editor,
    pub(crate) friends: adapters::friends::Friends,
    pub(crate) gifts: adapters::gifts::Gifts,
    pub(crate) guest: adapters::guest::Guest,
    pub(crate) home: adapters::home::Home,
    pub(crate) invitation: adapters::invitation::Invitation,
    pub(crate) lesson: adapters::lesson::Lesson,
    pub(crate) nearby: adapters::nearby::Nearby,
    pub(crate) new_game: adapters::new_game::NewGame,
    pub(crate) puzzles: adapters::puzzles::Puzzles,
    pub(crate) records: adapters::records::Records,
    pub(crate) replay: adapters::replay::Replay,
    pub(crate) settings: adapters::settings::Settings,
}

/// All that a page may touch beside its own state.
pub(crate) struct Cx<'a> {
    /// What the host has told, where the player is, and what was chosen.
    pub(crate) known: &'a Known,
    /// Requests to the host.
    pub(crate) ask: &'a mut Questions,
    /// Other pages, dialogs, remarks.
    pub(crate) go: Go,
    pub(crate) preferences: Changes,
    pub(crate) feel: Felt,
}

impl<'a> Cx<'a> {
    pub(super) fn new(known: &'a Known, ask: &'a mut Questions) -> Self {
        Self { known, ask, go: Go::default(), preferences: Changes::default(), feel: Felt::default() }
    }

    pub(super) fn into_wishes(self) -> Wishes {
        Wishes { preferences: self.preferences.0, felt: self.feel.0, steps: self.go.0 }
    }
}

/// What a page wants done.
pub(super) struct Wishes {
    pub(super) preferences: Vec<Change>,
    pub(super) felt: Vec<Sensation>,
    pub(super) steps: Vec<Step>,
}

pub(super) type Change = Box<dyn FnOnce(&mut Preferences)>;

/// Preferences to be changed and kept.
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

/// What the player is to hear and to feel, as far as they want to.
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
    NewGame(Game),
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
    BoardReply(adapters::board::Question, Box<Answer>),
}

/// Steps that the app takes, one after another, when the page is done.
#[derive(Default)]
pub(crate) struct Go(Vec<Step>);

impl Go {
    /// Turns to a page.
    pub(crate) fn page(&mut self, page: Page) {
        self.0.push(Step::Page(page));
    }

    /// Back by one page.
    pub(crate) fn back(&mut self) {
        self.0.push(Step::Back);
    }

    /// What this page shows is gone.
    pub(crate) fn leave(&mut self, page: Page) {
        self.0.push(Step::Leave(page));
    }

    /// Opens a dialog; `Dialog::None`: closes it.
    pub(crate) fn dialog(&mut self, dialog: Dialog) {
        self.0.push(Step::Dialog(dialog));
    }

    /// Says something in passing. `name`: whom or what it is about.
    pub(crate) fn remark(&mut self, remark: Remark, name: &str) {
        self.0.push(Step::Remark(remark, name.to_owned()));
    }

    /// Says why the host refused. `otherwise`: what is said of a request that it did not understand.
    pub(crate) fn refused(&mut self, refusal: Refusal, otherwise: Remark) {
        self.0.push(Step::Refused(Box::new(refusal), otherwise));
    }

    /// The same of a request that nobody has made by a touch: the pages about people show the trouble of a radio by themselves.
    pub(crate) fn refused_unasked(&mut self, refusal: Refusal) {
        if refusal.code() != RefusalCode::RefusalRadio || refusal.reason.is_some() {
            self.refused(refusal, Remark::BadRequest);
        }
    }

    /// To the board of a room that the host has told, or will tell.
    pub(crate) fn room(&mut self, id: &str) {
        self.0.push(Step::Room(id.to_owned()));
    }

    /// Away from the board.
    pub(crate) fn leave_room(&mut self) {
        self.0.push(Step::LeaveRoom);
    }

    /// To the page for a new match of this game.
    pub(crate) fn new_game(&mut self, game: Game) {
        self.0.push(Step::NewGame(game));
    }

    /// Asks what the remembered choice of this game amounts to, once it is remembered.
    pub(crate) fn describe(&mut self, game: Game) {
        self.0.push(Step::Describe(game));
    }

    /// What the host has said of the remembered choice of this game.
    pub(crate) fn remember_sheet(&mut self, game: Game, sheet: GameSheet) {
        self.0.push(Step::RememberSheet(game, Box::new(sheet)));
    }

    /// People near are told what they would be invited to.
    pub(crate) fn tell_wish(&mut self) {
        self.0.push(Step::TellWish);
    }

    /// To the puzzles of this game.
    pub(crate) fn puzzles(&mut self, game: Game) {
        self.0.push(Step::Puzzles(game));
    }

    /// To a kept match, at its end.
    pub(crate) fn replay(&mut self, summary: MatchSummary) {
        self.0.push(Step::Replay(Box::new(summary)));
    }

    /// The kept matches are others than before.
    pub(crate) fn search_records(&mut self) {
        self.0.push(Step::SearchRecords);
    }

    /// To the choice of a file with everything of a device.
    pub(crate) fn look_for_backups(&mut self) {
        self.0.push(Step::LookForBackups);
    }

    /// To the question whether this file takes the place of what is here.
    pub(crate) fn take_backup(&mut self, path: PathBuf) {
        self.0.push(Step::TakeBackup(path));
    }

    /// Asks this person for a match of the game that people are invited to.
    pub(crate) fn invite(&mut self, peer: &str) {
        self.0.push(Step::Invite(peer.to_owned()));
    }

    /// Asks this person for a match of this game instead of what their invitation says.
    pub(crate) fn counter(&mut self, peer: &str, game: Game, invite: &str) {
        self.0.push(Step::Counter { peer: peer.to_owned(), game, invite: invite.to_owned() });
    }

    /// What an earlier try to connect to this person came to is of no more interest.
    pub(crate) fn forget_progress(&mut self, peer: &str) {
        self.0.push(Step::ForgetProgress(peer.to_owned()));
    }

    /// The reply to what the board has asked.
    pub(super) fn board_reply(&mut self, question: adapters::board::Question, answer: Answer) {
        self.0.push(Step::BoardReply(question, Box::new(answer)));
    }

    /// Whether the board that is being opened is solved at once.
    pub(crate) fn solve_when_there(&mut self, solve: bool) {
        self.0.push(Step::SolveWhenThere(solve));
    }
}

/// Whose question a reply answers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Asked {
    /// Nobody waits for the answer; a refusal is told, but for the radio's, which the pages show.
    Nothing,
    /// Nobody waits for the answer; a refusal is told.
    Done,
    /// The room that it opens is shown.
    Room,
    Backup(adapters::backup::Question),
    Board(adapters::board::Question),
    Editor(adapters::editor::Question),
    Friends(adapters::friends::Question),
    Gifts(adapters::gifts::Question),
    Guest(adapters::guest::Question),
    Home(adapters::home::Question),
    Invitation(adapters::invitation::Question),
    Lesson(adapters::lesson::Question),
    Nearby(adapters::nearby::Question),
    NewGame(adapters::new_game::Question),
    Puzzles(adapters::puzzles::Question),
    Records(adapters::records::Question),
    Replay(adapters::replay::Question),
    Settings(adapters::settings::Question),
}

/// Requests whose answers are still to come.
pub(crate) struct Questions {
    client: Client,
    last: u64,
    open: BTreeMap<u64, Asked>,
}

impl Questions {
    pub(super) fn new(client: Client) -> Self {
        Self { client, last: 0, open: BTreeMap::new() }
    }

    /// Sends a request; its reply goes to the page whose question this is.
    pub(crate) fn send(&mut self, body: request::Body, asked: impl Into<Asked>) {
        self.last += 1;
        self.open.insert(self.last, asked.into());
        self.client.send(Request { id: self.last, body: Some(body) });
    }

    /// Sends a request of which only a refusal is of interest.
    pub(crate) fn done(&mut self, body: request::Body) {
        self.send(body, Asked::Done);
    }

    /// Sends a request of which only a refusal is of interest, and a radio's not even that.
    pub(crate) fn tell(&mut self, body: request::Body) {
        self.send(body, Asked::Nothing);
    }

    /// How many replies are still to come.
    pub(super) fn open(&self) -> usize {
        self.open.len()
    }

    /// Whose question this reply answers.
    pub(super) fn take(&mut self, id: u64) -> Option<Asked> {
        self.open.remove(&id)
    }
}

/// What the host answers.
pub(crate) type Answer = Result<reply::Body, Refusal>;
