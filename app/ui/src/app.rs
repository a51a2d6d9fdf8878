//! The app as one object: the window, what the host has said, where the player is, and what was asked.

use std::cell::{Cell, Ref, RefCell};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use std::time::Duration;

use proto::board::{Action, Game as WireGame, Setup, action};
use proto::control::{
    self, Event, GameChoice, GameSheet, InvitationEnd, NoticeKind, RefusalCode, Reply, Request, Room, event,
    reply, request,
};
use slint::{ComponentHandle, PlatformError};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::adapters;
use crate::art::Sprites;
use crate::client::{Client, FromHost};
use crate::feel::{Nothing, Senses};
use crate::preferences::{LastGame, LastOpponent, Preferences, Store};
use crate::screens::{BoardAdapter, Dialog, Game, MainWindow, Navigation, Page, Remark};
use crate::state::HostState;

/// How long the app looks around before it says that nobody is near: three advertising rounds of a device that takes turns.
const LOOKS_ALONE_AFTER: Duration = Duration::from_secs(10);

/// How long what was said stays beside its player: a line is read in three seconds, and the eyes are on the board first.
const SAID_STAYS: Duration = Duration::from_secs(8);

/// Unfinished matches that the first page offers to go on with; the records have all.
const MATCHES_ASKED: u32 = 12;

/// The version of `proto::control` that this app speaks.
const CONTROL_VERSION: u32 = 1;

/// Why the app could not open.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// No window system, or one that failed.
    #[error(transparent)]
    Screen(#[from] PlatformError),
    /// The local task could not be started.
    #[error("the window system takes no tasks: {0}")]
    EventLoop(#[from] slint::EventLoopError),
}

/// Work of the user interface thread, counted since the app began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Events and replies of the host that were taken in.
    pub taken: u64,
    /// Times that every page was brought up to date.
    pub shown: u64,
    /// Rows of models that were changed on this thread.
    pub rows: u64,
}

/// The touch app. Lives on the user interface thread.
pub struct App {
    window: MainWindow,
    desk: Rc<Desk>,
}

impl App {
    /// Opens the app over a connection to the host. `locale` is the environment's, such as `zh_CN.UTF-8`. The window is
    /// there but not shown yet.
    pub fn new(
        client: Client,
        from_host: UnboundedReceiver<FromHost>,
        store: Store,
        locale: &str,
    ) -> Result<Self, AppError> {
        let window = MainWindow::new()?;
        let sprites = Sprites::attach(&window);
        let inner = Inner {
            preferences: store.load(),
            store,
            locale: locale.to_owned(),
            client,
            state: HostState::default(),
            ready: false,
            next_request: 1,
            asked: BTreeMap::new(),
            pages: vec![Page::Home],
            question: Dialog::None,
            room: None,
            open_when_there: None,
            room_sheet: None,
            picked: None,
            losing: None,
            waiting: None,
            turned: false,
            said: [None, None],
            records: adapters::records::Search::default(),
            replay: None,
            editor: adapters::editor::Editor::default(),
            people: adapters::friends::People::default(),
            puzzles: adapters::puzzles::Puzzles::default(),
            adapters: Vec::new(),
            lesson: adapters::lesson::Lesson::default(),
            solve_when_there: false,
            unsolvable: None,
            look: adapters::board::Look::default(),
            hint: None,
            new_game: WireGame::Gomoku,
            sheets: BTreeMap::new(),
            all_options: false,
            inviting: None,
            switching_on: false,
            set_aside: None,
            neighbour: String::new(),
            countering: None,
            invite_sheets: BTreeMap::new(),
            answered: None,
            in_front: true,
            scanning: false,
            looked_long: false,
            thought_open: false,
        };
        let desk = Rc::new(Desk {
            window: window.as_weak(),
            sprites,
            inner: RefCell::new(inner),
            looking: slint::Timer::default(),
            saying: slint::Timer::default(),
            home: adapters::home::Rows::default(),
            records: adapters::records::Rows::default(),
            editor: adapters::editor::Rows::default(),
            lesson: adapters::lesson::Rows::default(),
            senses: RefCell::new(Rc::new(Nothing)),
            taken: Cell::new(0),
            shown: Cell::new(0),
            replay: adapters::replay::Rows::default(),
            board: adapters::board::Rows::default(),
            friends: adapters::friends::Rows::default(),
            puzzles: adapters::puzzles::Rows::default(),
            settings: adapters::settings::Rows::default(),
            invitation: adapters::invitation::Rows::default(),
            new_game: adapters::new_game::Rows::default(),
        });
        adapters::attach(&window, &desk);
        desk.ask(
            request::Body::Attach(control::Attach {
                client: format!("qiyou {}", env!("CARGO_PKG_VERSION")),
                version: CONTROL_VERSION,
            }),
            Purpose::Nothing,
        );
        desk.tell_language();
        desk.moved();
        desk.show();
        let listener = Rc::downgrade(&desk);
        slint::spawn_local(listen(listener, from_host))?;
        Ok(Self { window, desk })
    }

    /// Shows the window and stays until it is closed.
    pub fn run(&self) -> Result<(), AppError> {
        Ok(self.window.run()?)
    }

    /// Calls once the first frame is on the screen.
    pub fn after_first_frame(&self, call: impl FnOnce() + 'static) {
        self.desk.sprites.at_first_drawing(move || {
            // The next turn of the event loop comes when the frame is on the screen.
            slint::Timer::single_shot(Duration::ZERO, call);
        });
    }

    /// For tests and for measuring: what the app has done so far.
    pub fn work(&self) -> Work {
        Work { taken: self.desk.taken.get(), shown: self.desk.shown.get(), rows: adapters::rows_changed() }
    }

    /// Begins a match of this game against the device, which has the first move, by the game's usual rules.
    pub fn challenge(&self, game: Game, level: u32) {
        let seat = |who| Some(control::Seat { who: Some(who), ..Default::default() });
        let game: WireGame = game.into();
        let open = control::OpenRoom {
            choice: Some(GameChoice { game: game.into(), ..Default::default() }),
            first: seat(control::seat::Who::BotLevel(level)),
            second: seat(control::seat::Who::Here(true)),
            ..Default::default()
        };
        self.desk.ask(request::Body::OpenRoom(open), Purpose::OpenRoom);
    }

    /// For tests and for measuring: the window itself.
    pub fn window(&self) -> &MainWindow {
        &self.window
    }

    /// What is heard and felt goes there from now on; nowhere before.
    pub fn give_senses(&self, senses: Rc<dyn Senses>) {
        senses.music(self.desk.see().preferences.music_level);
        *self.desk.senses.borrow_mut() = senses;
        self.desk.show();
    }

    /// Takes these preferences from now on, as if they had been chosen on the settings page.
    pub fn prefer(&self, preferences: Preferences) {
        self.desk.prefer(|known| *known = preferences);
    }

    /// Turns to a page as its buttons do.
    pub fn go(&self, page: Page) {
        self.desk.go(page);
    }

    /// Opens one of the app's own questions as its button does.
    pub fn ask(&self, dialog: Dialog) {
        self.desk.open(dialog);
    }

    /// Shows a match that the host has told of, or tells of next.
    pub fn open_room(&self, id: &str) {
        self.desk.open_room(id);
    }

    /// Shows what the device thinks, as a touch on its seat does.
    pub fn show_thought(&self) {
        self.desk.change(|inner| inner.thought_open = true);
    }

    /// Pieces of the far side face it where two people play here.
    pub fn prefer_facing(&self) {
        self.desk.prefer(|known| known.face_to_face = true);
    }

    /// Turns to the page for a new match of this game, as its tile does.
    pub fn new_game(&self, game: Game) {
        adapters::new_game::open(&self.desk, game.into());
    }

    /// Turns to the lesson of this game, as its button does.
    pub fn learn(&self, game: Game) {
        adapters::lesson::open(&self.desk, game.into());
    }

    /// Whom a new match of this game is against, as chosen on its page.
    pub fn prefer_opponent(&self, game: Game, opponent: LastOpponent) {
        let word = adapters::game::word(game.into());
        self.desk.prefer(|known| known.games.entry(word.into()).or_default().opponent = opponent);
    }
}

/// The one task that takes in what the host says.
async fn listen(desk: Weak<Desk>, mut from_host: UnboundedReceiver<FromHost>) {
    while let Some(said) = from_host.recv().await {
        let Some(desk) = desk.upgrade() else { return };
        desk.take(said);
    }
}

/// What a reply will be about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Purpose {
    Nothing,
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
        presses: Vec<u8>,
    },
    Found {
        room: String,
        ply: u32,
        revision: u32,
        action: Action,
        /// Lights Out: every press of the solution, packed as `Board.lights`; and whether none has fewer.
        presses: Vec<u8>,
        fewest: bool,
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
    store: Store,
    pub(crate) locale: String,
    client: Client,
    pub(crate) state: HostState,
    /// The host has told the whole present state.
    pub(crate) ready: bool,
    next_request: u64,
    asked: BTreeMap<u64, Purpose>,
    /// The way here, the present page last; never empty.
    pages: Vec<Page>,
    /// A dialog of our own; others' come first.
    question: Dialog,
    /// The match on the board page: kept when the host has closed it, so that its end stays to be seen.
    pub(crate) room: Option<Room>,
    open_when_there: Option<String>,
    /// By which rules a match is played: the last that was asked for.
    room_sheet: Option<(Setup, GameSheet)>,
    pub(crate) picked: Option<Picked>,
    /// A step that would lose, until the player has said whether it is meant.
    pub(crate) losing: Option<Losing>,
    /// A stone that waits to be meant.
    pub(crate) waiting: Option<Picked>,
    /// The board is seen from its other side.
    pub(crate) turned: bool,
    /// What was last said at the board, by the other and by this device's player, while it is shown.
    said: [Option<control::Said>; 2],
    pub(crate) records: adapters::records::Search,
    pub(crate) replay: Option<adapters::replay::Replay>,
    pub(crate) editor: adapters::editor::Editor,
    pub(crate) people: adapters::friends::People,
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
    in_front: bool,
    scanning: bool,
    pub(crate) looked_long: bool,
    pub(crate) thought_open: bool,
}

impl Inner {
    pub(crate) fn page(&self) -> Page {
        *self.pages.last().expect("there is always a page")
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

    /// How this game was last begun.
    pub(crate) fn last(&self, game: WireGame) -> LastGame {
        self.preferences.games.get(adapters::game::word(game)).cloned().unwrap_or_default()
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

/// The app behind its window. Adapters hold it weakly in their callbacks.
pub(crate) struct Desk {
    pub(crate) window: slint::Weak<MainWindow>,
    pub(crate) sprites: Rc<Sprites>,
    inner: RefCell<Inner>,
    looking: slint::Timer,
    /// What was said stays to be read for a while.
    saying: slint::Timer,
    pub(crate) home: adapters::home::Rows,
    pub(crate) records: adapters::records::Rows,
    pub(crate) editor: adapters::editor::Rows,
    pub(crate) lesson: adapters::lesson::Rows,
    senses: RefCell<Rc<dyn Senses>>,
    taken: Cell<u64>,
    shown: Cell<u64>,
    pub(crate) replay: adapters::replay::Rows,
    pub(crate) board: adapters::board::Rows,
    pub(crate) friends: adapters::friends::Rows,
    pub(crate) puzzles: adapters::puzzles::Rows,
    pub(crate) settings: adapters::settings::Rows,
    pub(crate) invitation: adapters::invitation::Rows,
    pub(crate) new_game: adapters::new_game::Rows,
}

impl Desk {
    pub(crate) fn see(&self) -> Ref<'_, Inner> {
        self.inner.borrow()
    }

    /// Changes what is known, then shows it.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Inner)) {
        change(&mut self.inner.borrow_mut());
        self.show();
    }

    /// Sends a request; `purpose` says what to do with its reply.
    pub(crate) fn ask(&self, body: request::Body, purpose: Purpose) {
        let inner = &mut *self.inner.borrow_mut();
        let id = inner.next_request;
        inner.next_request += 1;
        inner.asked.insert(id, purpose);
        inner.client.send(Request { id, body: Some(body) });
    }

    /// Changes preferences, keeps them, and shows them.
    pub(crate) fn prefer(&self, change: impl FnOnce(&mut Preferences)) {
        let spoke_chinese = self.see().chinese();
        let music = {
            let inner = &mut *self.inner.borrow_mut();
            let before = inner.preferences.music_level;
            change(&mut inner.preferences);
            inner.store.save(&inner.preferences);
            let now = inner.preferences.music_level;
            (now != before).then_some(now)
        };
        if let Some(level) = music {
            self.senses.borrow().music(level);
        }
        let speaks_chinese = self.see().chinese();
        if speaks_chinese != spoke_chinese {
            self.tell_language();
        }
        self.show();
    }

    /// Plays this as loud as the player wants it.
    pub(crate) fn hear(&self, cue: senses::Cue) {
        let level = self.see().preferences.sound_level;
        if level > 0 {
            self.senses.borrow().hear(cue, level);
        }
    }

    /// Shakes the device where the player wants it and it can be.
    pub(crate) fn feel(&self, feel: senses::Feel) {
        if self.see().preferences.vibration {
            self.senses.borrow().feel(feel);
        }
    }

    pub(crate) fn has_motor(&self) -> bool {
        self.senses.borrow().has_motor()
    }

    /// Tells the host that somebody looks, so that the desktop need not notify, and in which language it would.
    fn tell_language(&self) {
        let chinese = self.inner.borrow().chinese();
        let language = if chinese { control::Language::Chinese } else { control::Language::English };
        let on = self.inner.borrow().in_front;
        self.ask(request::Body::Front(control::Front { on, language: language.into() }), Purpose::Nothing);
    }

    /// Whether the window is the one that the person looks at: while it is not, the desktop notifies.
    pub(crate) fn set_in_front(&self, on: bool) {
        let changed = std::mem::replace(&mut self.inner.borrow_mut().in_front, on) != on;
        if changed {
            self.tell_language();
        }
    }

    pub(crate) fn go(&self, page: Page) {
        {
            let inner = &mut *self.inner.borrow_mut();
            inner.question = Dialog::None;
            if page == Page::Home {
                inner.pages.clear();
            } else {
                // No page is in the way twice: going to it again goes back to it.
                if let Some(at) = inner.pages.iter().position(|known| *known == page) {
                    inner.pages.truncate(at);
                }
            }
            inner.pages.push(page);
        }
        self.moved();
        self.show();
    }

    /// Escape, or the way back in a corner.
    pub(crate) fn back(&self) {
        let (dialog, page, question) = {
            let inner = self.see();
            (inner.dialog(), inner.page(), inner.question)
        };
        if dialog != Dialog::None {
            // What a person has asked wants an answer; our own questions may be put away.
            if dialog == question {
                self.open(Dialog::None);
            }
            return;
        }
        if page == Page::Board && adapters::board::put_down(self) {
            return;
        }
        match page {
            Page::Home => {}
            Page::Board => adapters::board::ask_to_leave(self),
            _ => {
                let inner = &mut *self.inner.borrow_mut();
                inner.pages.pop();
                if inner.pages.is_empty() {
                    inner.pages.push(Page::Home);
                }
            }
        }
        self.moved();
        self.show();
    }

    pub(crate) fn open(&self, dialog: Dialog) {
        self.change(|inner| inner.question = dialog);
    }

    /// Shows a match that the host has told, or will tell.
    pub(crate) fn open_room(&self, id: &str) {
        let room = self.see().state.rooms.get(id).cloned();
        let Some(room) = room else {
            self.inner.borrow_mut().open_when_there = Some(id.to_owned());
            return;
        };
        {
            let inner = &mut *self.inner.borrow_mut();
            inner.open_when_there = None;
            inner.hint = None;
            inner.picked = None;
            inner.waiting = None;
            inner.turned = false;
            inner.look = adapters::board::Look::default();
            inner.room = Some(adapters::board::seen(&room));
            // The way back from a match is home, not through the choice that led to it.
            inner.pages = vec![Page::Home];
        }
        self.ask_rules();
        self.go(Page::Board);
        if std::mem::take(&mut self.inner.borrow_mut().solve_when_there) {
            adapters::board::hint(self);
        }
    }

    /// Asks by which rules the match on the board is played, unless that is known.
    fn ask_rules(&self) {
        let setup = {
            let inner = self.see();
            let known = inner.room_sheet().is_some();
            inner.room.as_ref().filter(|_| !known).and_then(|room| room.setup.clone())
        };
        if let Some(setup) = setup {
            let asked = control::Describe { setup: Some(setup.clone()), ..Default::default() };
            self.ask(request::Body::Describe(asked), Purpose::DescribeRoom { setup });
        }
    }

    /// Closes the match on the board page; an unfinished one is kept by the host.
    pub(crate) fn close_room(&self) {
        let room = self.inner.borrow_mut().room.take();
        if let Some(room) = room {
            self.ask(request::Body::CloseRoom(control::CloseRoom { room_id: room.id }), Purpose::Nothing);
        }
    }

    /// Leaves the board page: from a puzzle to the puzzles, else home.
    pub(crate) fn leave_room(&self) {
        let puzzle = self.see().room.as_ref().is_some_and(|room| room.puzzle.is_some());
        self.close_room();
        if puzzle {
            adapters::puzzles::show_page(self);
        } else {
            self.go(Page::Home);
        }
    }

    /// After the page has changed: look around where that is of use, and ask for what the page shows.
    fn moved(self: &Desk) {
        let (page, scanning, ready) = {
            let inner = &mut *self.inner.borrow_mut();
            // Whoever turns away from the page of other terms has not sent them.
            if inner.page() != Page::NewGame {
                inner.countering = None;
            }
            (inner.page(), inner.scanning, inner.ready)
        };
        let scan = matches!(page, Page::Home | Page::Nearby | Page::Friends);
        if scan != scanning && ready {
            self.inner.borrow_mut().scanning = scan;
            self.ask(request::Body::Scan(control::Scan { on: scan }), Purpose::Nothing);
        }
        if page == Page::Home && ready {
            self.ask(
                request::Body::ListMatches(control::ListMatches {
                    limit: MATCHES_ASKED,
                    outcome: control::Outcome::Unfinished.into(),
                    ..Default::default()
                }),
                Purpose::ListMatches,
            );
        }
        if page == Page::Settings && ready {
            self.ask(request::Body::ListAdapters(control::ListAdapters {}), Purpose::ListAdapters);
        }
        let game = {
            let inner = self.see();
            let game = match page {
                Page::NewGame => Some(inner.new_game),
                // The clocks to choose from come with any game.
                Page::Settings if inner.sheets.is_empty() => Some(inner.new_game),
                Page::Nearby => Some(inner.nearby_game()),
                _ => None,
            };
            game.filter(|game| ready && !inner.sheets.contains_key(&i32::from(*game)))
        };
        if let Some(game) = game {
            adapters::new_game::describe(self, game);
        }
    }

    /// From now on "nobody near" is only said after a while.
    fn look_afresh(self: &Rc<Self>) {
        self.inner.borrow_mut().looked_long = false;
        let desk = Rc::downgrade(self);
        self.looking.start(slint::TimerMode::SingleShot, LOOKS_ALONE_AFTER, move || {
            if let Some(desk) = desk.upgrade() {
                desk.change(|inner| inner.looked_long = true);
            }
        });
    }

    pub(crate) fn remark(&self, remark: Remark, name: &str) {
        let Some(window) = self.window.upgrade() else { return };
        let navigation = window.global::<Navigation>();
        navigation.set_remark_name(name.into());
        // The same remark again starts its time again.
        navigation.set_remark(Remark::None);
        navigation.set_remark(remark);
    }

    /// Lets every adapter show what is known now. Values that have not changed cost nothing: Slint compares them.
    pub(crate) fn show(&self) {
        self.shown.set(self.shown.get() + 1);
        if let Some(window) = self.window.upgrade() {
            adapters::show(&window, self);
        }
    }

    fn take(self: &Rc<Self>, said: FromHost) {
        self.taken.set(self.taken.get() + 1);
        match said {
            FromHost::Event(event) => self.event(*event),
            FromHost::Reply(reply) => self.reply(*reply),
            FromHost::Lost(why) => {
                tracing::error!(why, "the host is gone");
                let begun = self.see().ready;
                self.remark(if begun { Remark::HostLost } else { Remark::HostFailed }, "");
            }
        }
        self.show();
    }

    fn event(self: &Rc<Self>, event: Event) {
        let gone_name = match &event.body {
            Some(event::Body::InvitationGone(gone)) => {
                let inner = self.see();
                let mut open = inner.state.invitations.iter();
                open.find(|one| one.invite_id == gone.invite_id).map(|one| one.name.clone())
            }
            _ => None,
        };
        let scanned_before = self.see().state.bluetooth().is_some_and(|radio| radio.scanning);
        self.inner.borrow_mut().state.apply(&event);
        if !scanned_before && self.see().state.bluetooth().is_some_and(|radio| radio.scanning) {
            self.look_afresh();
        }
        match event.body {
            Some(event::Body::Ready(_)) => {
                self.inner.borrow_mut().ready = true;
                self.moved();
            }
            Some(event::Body::Radio(_)) => self.inner.borrow_mut().switching_on = false,
            Some(event::Body::Room(room)) => self.room_changed(&room),
            Some(event::Body::InvitationGone(gone)) => self.invitation_gone(&gone, gone_name),
            Some(event::Body::Invitation(invitation)) if !invitation.mine => {
                adapters::invitation::arrived(self, &invitation);
            }
            Some(event::Body::Invitation(_)) => {
                // The host's own account of it takes over.
                self.inner.borrow_mut().inviting = None;
            }
            Some(event::Body::Said(said)) => self.said(said),
            Some(event::Body::Judgements(judged)) => adapters::replay::judged(self, judged),
            Some(event::Body::Connecting(connecting)) => self.connecting(&connecting),
            Some(event::Body::Notice(notice)) => self.notice(&notice),
            _ => {}
        }
    }

    fn said(self: &Rc<Self>, said: control::Said) {
        let mine = usize::from(said.mine);
        self.inner.borrow_mut().said[mine] = Some(said);
        let desk = Rc::downgrade(self);
        self.saying.start(slint::TimerMode::SingleShot, SAID_STAYS, move || {
            if let Some(desk) = desk.upgrade() {
                desk.change(|inner| inner.said = [None, None]);
            }
        });
    }

    fn room_changed(&self, room: &Room) {
        let (opened, followed, waited) = {
            let inner = self.see();
            let shown = inner.room.as_ref().map(|shown| shown.id.as_str());
            (
                shown == Some(room.id.as_str()),
                shown.is_some_and(|shown| shown == room.follows),
                inner.open_when_there.as_deref() == Some(room.id.as_str()),
            )
        };
        if opened {
            let before = self.see().room.clone();
            if let Some(before) = before {
                adapters::feel::changed(self, &before, room);
            }
        }
        if opened || followed {
            self.inner.borrow_mut().room = Some(adapters::board::seen(room));
            if let Some(window) = self.window.upgrade() {
                window.global::<BoardAdapter>().set_tick(0);
            }
            if followed {
                self.inner.borrow_mut().look = adapters::board::Look::default();
                self.ask_rules();
            }
            adapters::board::solve_on(self);
        } else if waited {
            self.open_room(&room.id);
        }
    }

    fn connecting(&self, connecting: &control::Connecting) {
        let asked = self.see().inviting.as_ref().is_some_and(|inviting| inviting.peer == connecting.peer);
        let failed = matches!(connecting.state(), control::ConnectState::ConnectFailed);
        if asked && failed {
            self.inner.borrow_mut().inviting = None;
            self.remark(Remark::CannotReach, &connecting.name);
        }
    }

    /// `name`: the other person's, as far as the invitation said it.
    fn invitation_gone(&self, gone: &control::InvitationGone, name: Option<String>) {
        let name = {
            let inner = &mut *self.inner.borrow_mut();
            inner.invite_sheets.remove(&gone.invite_id);
            let answered = inner.answered.take_if(|id| *id == gone.invite_id).is_some();
            let countering = inner.countering.take_if(|theirs| theirs.invite_id == gone.invite_id).is_some();
            if answered && !countering && gone.end() == InvitationEnd::InvitationCountered {
                return;
            }
            let ours = inner.inviting.take_if(|inviting| inviting.invite.as_deref() == Some(&gone.invite_id));
            ours.map(|inviting| inviting.peer)
                .and_then(|peer| inner.state.nearby.get(&peer).map(|near| near.name.clone()))
                .or(name)
                .unwrap_or_default()
        };
        let remark = match gone.end() {
            InvitationEnd::InvitationAccepted => {
                self.open_room(&gone.room_id);
                return;
            }
            InvitationEnd::InvitationDeclined => match gone.reason() {
                proto::peer::DeclineReason::DeclineOtherGame => Remark::InvitationOtherGame,
                proto::peer::DeclineReason::DeclineOtherRules => Remark::InvitationOtherRules,
                proto::peer::DeclineReason::DeclineLater => Remark::InvitationLater,
                proto::peer::DeclineReason::DeclineBusy => Remark::InvitationBusy,
                _ => Remark::InvitationDeclined,
            },
            InvitationEnd::InvitationBusy => Remark::InvitationBusy,
            InvitationEnd::InvitationTimedOut => Remark::InvitationTimedOut,
            InvitationEnd::InvitationWithdrawn => Remark::InvitationWithdrawn,
            InvitationEnd::InvitationLinkLost => Remark::InvitationLost,
            InvitationEnd::InvitationUnknownGame => Remark::InvitationUnknownGame,
            // Their own invitation takes its place, and rings.
            InvitationEnd::InvitationCountered => Remark::InvitationCountered,
            InvitationEnd::Unspecified => return,
        };
        self.remark(remark, &name);
    }

    fn notice(&self, notice: &control::Notice) {
        let remark = match notice.kind() {
            NoticeKind::NoticeOfferDeclined => Remark::OfferDeclined,
            NoticeKind::NoticePeerLeft => Remark::PeerLeft,
            NoticeKind::NoticeUpdateNeeded => Remark::UpdateNeeded,
            NoticeKind::NoticeStringsDiffer => Remark::StringsDiffer,
            NoticeKind::NoticeRecordsDiffer => Remark::RecordsDiffer,
            NoticeKind::NoticePeerMisbehaved => Remark::PeerMisbehaved,
            NoticeKind::NoticeDiskFull => Remark::DiskFull,
            NoticeKind::NoticeNewFriend => Remark::NewFriend,
            NoticeKind::NoticeCannotReach => {
                self.inner.borrow_mut().inviting = None;
                Remark::CannotReach
            }
            NoticeKind::NoticeRadioChanged => Remark::RadioChanged,
            NoticeKind::NoticeClocksDiffer => Remark::ClocksDiffer,
            NoticeKind::NoticeAdjourned => Remark::Adjourned,
            NoticeKind::NoticeSavesSetAside => {
                self.inner.borrow_mut().set_aside = Some(notice.detail.clone());
                self.open(Dialog::Saves);
                return;
            }
            NoticeKind::NoticeUnspecified => return,
        };
        self.remark(remark, &notice.name);
    }

    fn reply(self: &Rc<Self>, reply: Reply) {
        let Some(purpose) = self.inner.borrow_mut().asked.remove(&reply.id) else { return };
        match (reply.body, purpose) {
            (Some(reply::Body::Refusal(refusal)), purpose) => self.refused(&refusal, &purpose),
            (Some(reply::Body::RoomId(room)), Purpose::OpenRoom) => self.open_room(&room),
            (Some(reply::Body::InviteId(invite)), Purpose::Invite) => {
                let inner = &mut *self.inner.borrow_mut();
                // The invitation's own event may have come first, and with it taken over.
                if let Some(inviting) = &mut inner.inviting {
                    inviting.invite = Some(invite);
                }
            }
            (Some(reply::Body::Matches(list)), Purpose::ListMatches) => {
                self.inner.borrow_mut().state.matches = list.matches;
            }
            (Some(reply::Body::Matches(list)), Purpose::Records { search }) => {
                adapters::records::found(self, search, list);
            }
            (Some(reply::Body::Lesson(lesson)), Purpose::Teach(asked)) => {
                adapters::lesson::taught(self, &asked, lesson);
            }
            (Some(reply::Body::Position(position)), Purpose::Look) => adapters::replay::seen(self, position),
            (Some(reply::Body::File(file)), Purpose::Export) => adapters::records::save(self, &file),
            (Some(reply::Body::RoomId(_)), Purpose::Import) => {
                self.remark(Remark::Copied, "");
                adapters::records::search(self);
            }
            (Some(reply::Body::FriendCode(code)), Purpose::ShowCode) => {
                adapters::friends::code_told(self, code);
            }
            (Some(reply::Body::Puzzles(list)), Purpose::Puzzles { game }) => {
                adapters::puzzles::found(self, game, list);
            }
            (Some(reply::Body::Done(_)), Purpose::AddFriend) => adapters::friends::added(self),
            (Some(reply::Body::Done(_)), Purpose::Contact) => self.remark(Remark::ContactAsked, ""),
            (Some(reply::Body::Adapters(list)), Purpose::ListAdapters) => {
                self.inner.borrow_mut().adapters = list.adapters;
            }
            (Some(reply::Body::Done(_)), Purpose::Discard) => {
                self.back();
                adapters::records::search(self);
            }
            (Some(reply::Body::Hint(hint)), Purpose::Hint { room, ply, revision }) => {
                adapters::board::advised(self, (room, ply, revision), hint);
            }
            (Some(reply::Body::Sheet(sheet)), Purpose::DescribeChoice { game, choice }) => {
                adapters::new_game::described(self, game, &choice, sheet);
            }
            (Some(reply::Body::Sheet(sheet)), Purpose::DescribeInvitation { invite }) => {
                let inner = &mut *self.inner.borrow_mut();
                if inner.state.invitations.iter().any(|open| open.invite_id == invite) {
                    inner.invite_sheets.insert(invite, sheet);
                }
            }
            (Some(reply::Body::Sheet(sheet)), Purpose::DescribeRoom { setup }) => {
                self.inner.borrow_mut().room_sheet = Some((setup, sheet));
            }
            _ => {}
        }
    }

    fn refused(&self, refusal: &control::Refusal, purpose: &Purpose) {
        tracing::info!(code = ?refusal.code(), detail = refusal.detail, ?purpose, "refused");
        {
            let inner = &mut *self.inner.borrow_mut();
            match purpose {
                Purpose::Invite => (inner.inviting, inner.answered) = (None, None),
                Purpose::PowerOn => inner.switching_on = false,
                Purpose::Hint { room, .. } => {
                    inner.hint = None;
                    if refusal.code() == RefusalCode::RefusalUnsolvable {
                        inner.unsolvable = Some(room.clone());
                    }
                }
                Purpose::OpenRoom => inner.solve_when_there = false,
                _ => {}
            }
        }
        match purpose {
            Purpose::DescribeChoice { game, choice } => {
                adapters::new_game::not_described(self, *game, choice);
                return;
            }
            Purpose::Teach(asked) => adapters::lesson::not_taught(self, asked),
            // A newer host's match may be of a game that has no sheet here.
            Purpose::DescribeRoom { .. } | Purpose::DescribeInvitation { .. } => return,
            _ => {}
        }
        if let Some(reason) = &refusal.reason {
            let said = if self.see().chinese() { &reason.zh } else { &reason.en };
            self.remark(Remark::Told, said);
            return;
        }
        let remark = match refusal.code() {
            RefusalCode::RefusalNoSuchPeer => Remark::NoSuchPeer,
            RefusalCode::RefusalNoSuchRoom => Remark::NoSuchRoom,
            RefusalCode::RefusalNotYourTurn => Remark::NotYourTurn,
            RefusalCode::RefusalOccupied => Remark::Occupied,
            RefusalCode::RefusalOffBoard => Remark::OffBoard,
            RefusalCode::RefusalGameOver => Remark::GameOver,
            RefusalCode::RefusalIllegal => Remark::Illegal,
            RefusalCode::RefusalNothingToTakeBack => Remark::NothingToTakeBack,
            RefusalCode::RefusalNoOffer => Remark::NoOffer,
            RefusalCode::RefusalRadio => Remark::Radio,
            RefusalCode::RefusalCannotReach => Remark::CannotReach,
            RefusalCode::RefusalNotCompared => Remark::NotCompared,
            RefusalCode::RefusalBusy => Remark::Busy,
            RefusalCode::RefusalDisk => Remark::Disk,
            RefusalCode::RefusalVersion => Remark::Version,
            RefusalCode::RefusalLinkLost => Remark::LinkLost,
            RefusalCode::RefusalPaused => Remark::Paused,
            RefusalCode::RefusalTime => Remark::OutOfTime,
            RefusalCode::RefusalBadRequest | RefusalCode::RefusalUnspecified => match purpose {
                Purpose::Hint { .. } => Remark::NoHint,
                Purpose::AddFriend => Remark::NotAdded,
                Purpose::Account | Purpose::Contact => Remark::AccountTrouble,
                _ => Remark::BadRequest,
            },
            RefusalCode::RefusalUnsolvable => Remark::Unsolvable,
        };
        // Asking at the start what nobody has touched needs no remark.
        if !matches!(purpose, Purpose::Nothing | Purpose::ListMatches | Purpose::ListAdapters)
            || !matches!(remark, Remark::Radio)
        {
            self.remark(remark, "");
        }
    }
}
