//! The app as one object: the window, what the host has said, where the player is, and what was asked.

mod heard;
mod known;
mod way;

use std::cell::{Cell, Ref, RefCell};
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::{Rc, Weak};
use std::time::Duration;

use client::{Client, FromHost, HostState};
use proto::board::Game as WireGame;
use proto::control::{self, GameChoice, Request, request};
use slint::{ComponentHandle, PlatformError};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::adapters;
use crate::art::Sprites;
use crate::feel::{Nothing, Senses};
use crate::fonts;
use crate::memory;
use crate::preferences::{LastOpponent, Preferences, Store};
use crate::screens::{Dialog, Game, MainWindow, Navigation, Page, Remark};

use way::Way;

pub(crate) use known::{Choosing, HintState, Inner, Inviting, Losing, Picked, Purpose};

/// How long the app looks around before it says that nobody is near: three advertising rounds of a device that takes turns.
const LOOKS_ALONE_AFTER: Duration = Duration::from_secs(10);

/// Unfinished matches that the first page offers to go on with; the records have all.
const MATCHES_ASKED: u32 = 12;

/// Pictures that are drawn within this time are kept for the next start, those of the first page, and code that was needed only
/// until then is let go of.
const STARTING: Duration = Duration::from_secs(3);

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
        fonts::fall_back();
        let sprites = Sprites::attach(&window);
        let inner = Inner {
            preferences: store.load(),
            store,
            locale: locale.to_owned(),
            client,
            state: HostState::default(),
            matches: Vec::new(),
            next_request: 1,
            asked: BTreeMap::new(),
            way: Way::default(),
            question: Dialog::None,
            room: None,
            open_when_there: None,
            room_sheet: None,
            picked: None,
            losing: None,
            choosing: None,
            waiting: None,
            turned: false,
            said: [None, None],
            records: adapters::records::Search::default(),
            replay: None,
            editor: adapters::editor::Editor::default(),
            people: adapters::friends::People::default(),
            giving: None,
            backup: adapters::backup::Backup::default(),
            puzzles: adapters::puzzles::Puzzles::default(),
            adapters: Vec::new(),
            lesson: adapters::lesson::Lesson::default(),
            solve_when_there: false,
            unsolvable: None,
            look: adapters::board::Look::default(),
            hint: None,
            solving: None,
            shown_solution: None,
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
            gifts: adapters::gifts::Rows::default(),
            puzzles: adapters::puzzles::Rows::default(),
            settings: adapters::settings::Rows::default(),
            invitation: adapters::invitation::Rows::default(),
            new_game: adapters::new_game::Rows::default(),
        });
        adapters::attach(&window, &desk);
        desk.ask(client::attach(concat!("qiyou ", env!("CARGO_PKG_VERSION"))), Purpose::Nothing);
        desk.tell_front();
        desk.moved();
        desk.show();
        let listener = Rc::downgrade(&desk);
        slint::spawn_local(listen(listener, from_host))?;
        Ok(Self { window, desk })
    }

    /// Shows the window and stays until it is closed.
    pub fn run(&self) -> Result<(), AppError> {
        if let Some(folders) = directories::ProjectDirs::from("", "", "qiyou") {
            self.desk.sprites.starts(folders.cache_dir().join("pictures"));
            let sprites = self.desk.sprites.clone();
            slint::Timer::single_shot(STARTING, move || sprites.started());
        }
        slint::Timer::single_shot(STARTING, memory::let_go_of_code);
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

    /// Begins a match of this game against the device, which has the first move, by the game's usual rules but for these options
    /// and their values.
    pub fn challenge(&self, game: Game, level: u32, options: &[(&str, &str)]) {
        let seat = |who| Some(control::Seat { who: Some(who), ..Default::default() });
        let game = adapters::game::of(game);
        let chosen = |&(option, value): &(&str, &str)| control::ChosenOption {
            option: option.to_owned(),
            value: value.to_owned(),
        };
        let options = options.iter().map(chosen).collect();
        let open = control::OpenRoom {
            choice: Some(GameChoice { game: game.into(), options, ..Default::default() }),
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

    /// Lying screens have the actions at the left.
    pub fn prefer_left_hand(&self) {
        self.desk.prefer(|known| known.left_handed = true);
    }

    /// Turns to the page for a new match of this game, as its tile does.
    pub fn new_game(&self, game: Game) {
        adapters::new_game::open(&self.desk, adapters::game::of(game));
    }

    /// Keeps the match in this file among the records, and looks it through.
    pub fn look_at_file(&self, path: &Path) {
        adapters::records::look_at(&self.desk, path);
    }

    /// Turns to the lesson of this game, as its button does.
    pub fn learn(&self, game: Game) {
        adapters::lesson::open(&self.desk, adapters::game::of(game));
    }

    /// Whom a new match of this game is against, as chosen on its page.
    pub fn prefer_opponent(&self, game: Game, opponent: LastOpponent) {
        let word = adapters::game::word(adapters::game::of(game));
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
    pub(crate) gifts: adapters::gifts::Rows,
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
        let told = |inner: &Inner| (inner.chinese(), inner.preferences.unhurried);
        let before_told = told(&self.see());
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
        if told(&self.see()) != before_told {
            self.tell_front();
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

    /// Tells the host that somebody looks, so that the desktop need not notify, in which language it would, and whether bots are to
    /// answer unhurried.
    fn tell_front(&self) {
        let chinese = self.inner.borrow().chinese();
        let language = if chinese { control::Language::Chinese } else { control::Language::English };
        let (on, unhurried) = {
            let inner = self.see();
            (inner.in_front, inner.preferences.unhurried)
        };
        let front = control::Front { on, language: language.into(), unhurried };
        self.ask(request::Body::Front(front), Purpose::Nothing);
    }

    /// Tells the host what people near may be told: the game that they would be invited to.
    pub(crate) fn tell_wish(&self) {
        let game = self.see().nearby_game().into();
        self.ask(request::Body::SetWish(control::SetWish { game }), Purpose::Nothing);
    }

    /// Whether the window is the one that the person looks at: while it is not, the desktop notifies.
    pub(crate) fn set_in_front(&self, on: bool) {
        let changed = std::mem::replace(&mut self.inner.borrow_mut().in_front, on) != on;
        if changed {
            self.tell_front();
        }
    }

    pub(crate) fn go(&self, page: Page) {
        {
            let inner = &mut *self.inner.borrow_mut();
            inner.question = Dialog::None;
            inner.way.go(page);
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
            _ => self.inner.borrow_mut().way.back(),
        }
        self.moved();
        self.show();
    }

    /// What this page shows is gone.
    fn leave(&self, page: Page) {
        self.inner.borrow_mut().way.leave(page);
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
        let left = {
            let inner = &mut *self.inner.borrow_mut();
            inner.question = Dialog::None;
            inner.open_when_there = None;
            inner.hint = None;
            inner.picked = None;
            inner.waiting = None;
            inner.turned = false;
            inner.look = adapters::board::Look::default();
            inner.way.sit_down(room.puzzle.is_some());
            // Nobody goes on with a puzzle that the next has taken the place of.
            let before = inner.room.replace(adapters::board::seen(&room));
            before.filter(|before| before.puzzle.is_some() && before.id != room.id)
        };
        if let Some(left) = left {
            self.ask(request::Body::CloseRoom(control::CloseRoom { room_id: left.id }), Purpose::Nothing);
        }
        self.ask_rules();
        self.moved();
        self.show();
        if std::mem::take(&mut self.inner.borrow_mut().solve_when_there) {
            adapters::board::solve(self);
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

    /// Leaves the board page for the one before it. The host closes the room, and keeps an unfinished match.
    pub(crate) fn leave_room(&self) {
        let left = {
            let inner = &mut *self.inner.borrow_mut();
            inner.question = Dialog::None;
            inner.way.leave(Page::Board);
            // What the host has closed already, as a match that was put off, need not be closed.
            inner.room.take().filter(|room| inner.state.rooms.contains_key(&room.id))
        };
        if let Some(room) = left {
            self.ask(request::Body::CloseRoom(control::CloseRoom { room_id: room.id }), Purpose::Nothing);
        }
        self.moved();
        self.show();
    }

    /// After the page has changed: look around where that is of use, and ask for what the page shows.
    fn moved(self: &Desk) {
        let (page, scanning, ready) = {
            let inner = &mut *self.inner.borrow_mut();
            // Whoever turns away from the page of other terms has not sent them.
            if inner.page() != Page::NewGame {
                inner.countering = None;
            }
            (inner.page(), inner.scanning, inner.state.ready)
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
        if page == Page::Puzzles && ready {
            adapters::puzzles::ask(self);
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
}
