//! The app as one object: the window, the host's state, the pages, and open requests.

mod app_state;
mod nav_stack;
mod page;
mod receive;

use std::cell::{Cell, Ref, RefCell, RefMut};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::time::Duration;

use client::{Client, FromHost, HostState};
use proto::control::{self, GameChoice, request};
use slint::{ComponentHandle, PlatformError};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::adapters;
use crate::art::Sprites;
use crate::awake::{Shown, keeps_screen_on};
use crate::clipboard::Clipboard;
use crate::feel::{Nothing, Senses};
use crate::fonts;
use crate::memory;
use crate::preferences::{LastOpponent, PieceSet, Preferences, Store};
use crate::screens::{Dialog, Game, MainWindow, Navigation, Page, Remark};

use nav_stack::NavStack;
use page::{Questions, Sensation, Step};

pub(crate) use app_state::AppState;
pub(crate) use page::{Answer, Asked, Cx, Pages};

/// Time of scanning before the page says that nobody is near: three advertising rounds of a device whose carriers take
/// turns.
const LOOKS_ALONE_AFTER: Duration = Duration::from_secs(10);

/// Duration of the start: pictures drawn within it are cached for the next start, and afterwards code that only the start
/// needs is unmapped.
const STARTING: Duration = Duration::from_secs(3);

/// Why the app could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// There is no window system, or it failed.
    #[error(transparent)]
    Screen(#[from] PlatformError),
    /// The receiving task could not be started.
    #[error("the window system takes no tasks: {0}")]
    EventLoop(#[from] slint::EventLoopError),
}

/// Counters of work on the user interface thread since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Messages of the host received.
    pub taken: u64,
    /// Updates of all pages.
    pub shown: u64,
    /// Model rows changed on this thread.
    pub rows: u64,
}

/// The touch app. Must stay on the user interface thread.
pub struct App {
    window: MainWindow,
    controller: Rc<Controller>,
}

impl App {
    /// Opens the app with a connection to the host. `locale` is the environment's, such as `zh_CN.UTF-8`. The window is
    /// created but not shown yet.
    pub fn new(
        client: Client,
        from_host: UnboundedReceiver<FromHost>,
        store: Store,
        locale: &str,
    ) -> Result<Self, AppError> {
        let window = MainWindow::new()?;
        fonts::fall_back();
        let sprites = Sprites::attach(&window);
        let known = AppState {
            preferences: store.load(),
            store,
            locale: locale.to_owned(),
            state: HostState::default(),
            nav: NavStack::default(),
            question: Dialog::None,
            room: None,
            open_when_there: None,
            room_sheet: None,
            sheets: BTreeMap::new(),
            paces: Vec::new(),
            in_front: true,
            scanning: false,
            looked_long: false,
            own_folder: None,
        };
        let controller = Rc::new(Controller {
            window: window.as_weak(),
            sprites,
            state: RefCell::new(State { known, pages: Pages::default(), questions: Questions::new(client) }),
            turns: Cell::new(0),
            stale: Cell::new(false),
            looking: slint::Timer::default(),
            saying: slint::Timer::default(),
            senses: RefCell::new(Rc::new(Nothing)),
            clipboard: RefCell::new(None),
            work: Cell::default(),
            board: adapters::board::Rows::default(),
        });
        adapters::attach(&window, &controller);
        controller.tell(client::attach(concat!("qiyou ", env!("CARGO_PKG_VERSION"))));
        controller.tell_front();
        controller.on_page_changed();
        controller.show();
        let listener = Rc::downgrade(&controller);
        slint::spawn_local(listen(listener, from_host))?;
        Ok(Self { window, controller })
    }

    /// Shows the window, and returns when it is closed.
    pub fn run(&self) -> Result<(), AppError> {
        if let Some(folders) = directories::ProjectDirs::from("", "", "qiyou") {
            self.controller.sprites.starts(folders.cache_dir().join("pictures"));
            let sprites = self.controller.sprites.clone();
            slint::Timer::single_shot(STARTING, move || sprites.started());
        }
        slint::Timer::single_shot(STARTING, memory::let_go_of_code);
        Ok(self.window.run()?)
    }

    /// Calls `call` once the first frame is on the screen.
    pub fn after_first_frame(&self, call: impl FnOnce() + 'static) {
        self.controller.sprites.at_first_drawing(move || {
            // The next iteration of the event loop comes after the frame.
            slint::Timer::single_shot(Duration::ZERO, call);
        });
    }

    /// The work so far, for tests and measurements.
    pub fn work(&self) -> Work {
        Work { rows: adapters::rows_changed(), ..self.controller.work.get() }
    }

    /// For tests: requests to the host whose replies are still to come.
    pub fn waits_for(&self) -> usize {
        self.controller.state.borrow().questions.open()
    }

    /// For tests: what people save, and what they look for, is in this folder instead of `Qiyou` among their documents.
    pub fn keep_files_in(&self, folder: &Path) {
        self.controller.known_mut().own_folder = Some(folder.to_owned());
    }

    /// Begins a match of this game against a bot, which moves first, with the game's default rules except for these options
    /// and values.
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
        self.controller.ask(request::Body::OpenRoom(open), Asked::Room);
    }

    /// The window, for tests and measurements.
    pub fn window(&self) -> &MainWindow {
        &self.window
    }

    /// Sends sounds and vibration to `senses` from now on; before, there are none.
    pub fn give_senses(&self, senses: Rc<dyn Senses>) {
        senses.music(self.controller.read().preferences.music_level);
        *self.controller.senses.borrow_mut() = senses;
        self.controller.show();
    }

    /// Copies pictures to this clipboard from now on; before, they cannot be copied.
    pub fn give_clipboard(&self, clipboard: Rc<dyn Clipboard>) {
        *self.controller.clipboard.borrow_mut() = Some(clipboard);
    }

    /// Shows the manual's pictures from this folder; before, captions take their place.
    pub fn show_manual_pictures(&self, folder: PathBuf) {
        self.controller.turn(|pages, _cx| pages.manual.set_pictures(folder));
    }

    /// Replaces the preferences, as the settings page does.
    pub fn prefer(&self, preferences: Preferences) {
        self.controller.prefer(|known| *known = preferences);
    }

    /// Opens a page, as a button does.
    pub fn go(&self, page: Page) {
        self.controller.go(page);
    }

    /// Opens one of the app's own dialogs, as a button does.
    pub fn ask(&self, dialog: Dialog) {
        self.controller.open(dialog);
    }

    /// Opens a room, which the host's events contain already or next.
    pub fn open_room(&self, id: &str) {
        self.controller.open_room(id);
    }

    /// Shows the bot's thoughts, as a touch on its seat does.
    pub fn show_thought(&self) {
        self.controller.turn(|pages, _cx| pages.board.show_thought());
    }

    /// Turns the far side's pieces around when two people play at this device.
    pub fn prefer_facing(&self) {
        self.controller.prefer(|known| known.face_to_face = true);
    }

    /// Turns the board to whoever is to move when two people play at this device.
    pub fn prefer_turning(&self) {
        self.controller.prefer(|known| known.turn_to_mover = true);
    }

    /// Draws xiangqi's pieces with pictograms.
    pub fn prefer_pictograms(&self) {
        self.controller.prefer(|known| known.piece_set = PieceSet::Pictures);
    }

    /// Puts the actions to the left in landscape.
    pub fn prefer_left_hand(&self) {
        self.controller.prefer(|known| known.left_handed = true);
    }

    /// Opens the page for a new match of this game, as its tile does.
    pub fn new_game(&self, game: Game) {
        self.controller.turn(|pages, cx| pages.new_game.open(adapters::game::of(game), cx));
    }

    /// Imports this file, and opens it for review.
    pub fn look_at_file(&self, path: &Path) {
        self.controller.turn(|_pages, cx| adapters::records::look_at(path, cx));
    }

    /// Opens the lesson of this game, as its button does.
    pub fn learn(&self, game: Game) {
        self.controller.turn(|pages, cx| pages.lesson.open(adapters::game::of(game), cx));
    }

    /// Sets the opponent of a new match of this game, as its page does.
    pub fn prefer_opponent(&self, game: Game, opponent: LastOpponent) {
        let word = adapters::game::word(adapters::game::of(game));
        self.controller.prefer(|known| known.games.entry(word.into()).or_default().opponent = opponent);
    }
}

/// The task that receives the host's messages.
async fn listen(controller: Weak<Controller>, mut from_host: UnboundedReceiver<FromHost>) {
    while let Some(said) = from_host.recv().await {
        let Some(controller) = controller.upgrade() else { return };
        controller.receive(said);
    }
}

/// The mutable state.
struct State {
    known: AppState,
    pages: Pages,
    questions: Questions,
}

/// Marks the handling of a touch or a message, until dropped; can be nested.
pub(crate) struct Turn<'a>(&'a Controller);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.turns.set(self.0.turns.get() - 1);
        if self.0.turns.get() == 0 && self.0.stale.take() {
            self.0.show();
        }
    }
}

/// The app behind its window. Callbacks hold it weakly.
pub(crate) struct Controller {
    pub(crate) window: slint::Weak<MainWindow>,
    pub(crate) sprites: Rc<Sprites>,
    state: RefCell<State>,
    /// Depth of nested turns; below: whether the pages must be updated when the outermost turn ends.
    turns: Cell<u32>,
    stale: Cell<bool>,
    looking: slint::Timer,
    /// Ends the display of chat messages.
    saying: slint::Timer,
    senses: RefCell<Rc<dyn Senses>>,
    clipboard: RefCell<Option<Rc<dyn Clipboard>>>,
    /// Without the rows.
    work: Cell<Work>,
    pub(crate) board: adapters::board::Rows,
}

impl Controller {
    pub(crate) fn read(&self) -> Ref<'_, AppState> {
        Ref::map(self.state.borrow(), |state| &state.known)
    }

    /// Changes the known state, then updates the pages.
    pub(crate) fn change(&self, change: impl FnOnce(&mut AppState)) {
        change(&mut self.known_mut());
        self.show();
    }

    /// Sends a request; its reply is passed to the page that `asked` names.
    pub(crate) fn ask(&self, body: request::Body, asked: impl Into<Asked>) {
        self.state.borrow_mut().questions.send(body, asked);
    }

    /// Sends a request whose reply is ignored, except for a refusal; a refusal because of a radio is ignored too.
    pub(crate) fn tell(&self, body: request::Body) {
        self.state.borrow_mut().questions.tell(body);
    }

    fn known_mut(&self) -> RefMut<'_, AppState> {
        RefMut::map(self.state.borrow_mut(), |state| &mut state.known)
    }

    pub(crate) fn pages(&self) -> Ref<'_, Pages> {
        Ref::map(self.state.borrow(), |state| &state.pages)
    }

    /// The dialog that is shown.
    pub(crate) fn dialog(&self) -> Dialog {
        let State { known, pages, .. } = &*self.state.borrow();
        known.dialog(&pages.invitation)
    }

    /// Defers updates of the pages until the guard is dropped, so that they are updated once per touch or message.
    pub(crate) fn begin_turn(&self) -> Turn<'_> {
        self.turns.set(self.turns.get() + 1);
        Turn(self)
    }

    /// Runs a page's method, then carries out what it requested.
    pub(crate) fn turn(&self, act: impl FnOnce(&mut Pages, &mut Cx<'_>)) {
        let _turn = self.begin_turn();
        let effects = {
            let State { known, pages, questions } = &mut *self.state.borrow_mut();
            let mut cx = Cx::new(known, questions);
            act(pages, &mut cx);
            cx.into_effects()
        };
        self.show();
        for change in effects.preferences {
            self.prefer(change);
        }
        for sensation in effects.felt {
            match sensation {
                Sensation::Heard(cue) => self.hear(cue),
                Sensation::Felt(feel) => self.feel(feel),
            }
        }
        for step in effects.steps {
            self.take_step(step);
        }
    }

    fn take_step(&self, step: Step) {
        match step {
            Step::Page(page) => self.go(page),
            Step::Back => self.back(),
            Step::Leave(page) => self.leave(page),
            Step::Dialog(dialog) => self.open(dialog),
            Step::Remark(remark, name) => self.remark(remark, &name),
            Step::Refused(refusal, otherwise) => self.tell_refusal(&refusal, otherwise),
            Step::Room(id) => self.open_room(&id),
            Step::LeaveRoom => self.leave_board(true),
            Step::PutAside => self.leave_board(false),
            Step::CodeWhenThere(room) => {
                self.state.borrow_mut().pages.board.set_code_when_there(room);
            }
            Step::NewGame(game) => self.turn(|pages, cx| pages.new_game.open(game, cx)),
            Step::BeginFrom(choice) => {
                self.known_mut().nav.start = Some((*choice).clone());
                self.turn(|pages, cx| pages.new_game.open_started(*choice, cx));
            }
            Step::SetStart(choice) => self.known_mut().nav.start = choice.map(|choice| *choice),
            Step::Describe(game) => self.turn(|_pages, cx| adapters::new_game::describe(game, cx)),
            Step::RememberSheet(game, sheet) => {
                let known = &mut *self.known_mut();
                known.paces.clone_from(&sheet.paces);
                known.sheets.insert(i32::from(game), *sheet);
            }
            Step::TellWish => self.tell_wish(),
            Step::Puzzles(game) => {
                self.turn(|pages, _cx| pages.puzzles.choose_game(game));
                self.go(Page::Puzzles);
            }
            Step::Replay(summary) => self.turn(|pages, cx| pages.replay.open(*summary, cx)),
            Step::SearchRecords => self.turn(|pages, cx| pages.records.search(cx)),
            Step::LookForBackups => self.turn(|pages, cx| pages.records.look_for(true, cx)),
            Step::TakeBackup(path) => self.turn(|pages, cx| pages.backup.chosen(path, cx)),
            Step::Invite(peer) => self.turn(|pages, cx| {
                pages.invitation.propose(&peer, cx.known.nearby_game(), "", cx);
            }),
            Step::Counter { peer, game, invite } => {
                self.turn(|pages, cx| pages.invitation.propose(&peer, game, &invite, cx));
            }
            Step::ForgetProgress(peer) => drop(self.known_mut().state.connecting.remove(&peer)),
            Step::Flash(points) => self.board.flash.light(self, &points),
            Step::RememberRules(rules) => self.known_mut().room_sheet = Some(*rules),
            Step::SavePicture(subject, match_file) => adapters::picture::save(self, &subject, &match_file),
            Step::SolveWhenThere(solve) => {
                self.state.borrow_mut().pages.board.set_solve_when_there(solve);
            }
        }
    }

    /// Changes and stores the preferences, and updates the pages.
    pub(crate) fn prefer(&self, change: impl FnOnce(&mut Preferences)) {
        let told = |known: &AppState| (known.chinese(), known.preferences.unhurried);
        let before_told = told(&self.read());
        let music = {
            let known = &mut *self.known_mut();
            let before = known.preferences.music_level;
            change(&mut known.preferences);
            known.store.save(&known.preferences);
            let now = known.preferences.music_level;
            (now != before).then_some(now)
        };
        if let Some(level) = music {
            self.senses.borrow().music(level);
        }
        if told(&self.read()) != before_told {
            self.tell_front();
        }
        self.show();
    }

    /// Plays a sound at the player's volume.
    pub(crate) fn hear(&self, cue: senses::Cue) {
        let level = self.read().preferences.sound_level;
        if level > 0 {
            self.senses.borrow().hear(cue, level);
        }
    }

    /// Vibrates, if the player has enabled it and there is a motor.
    pub(crate) fn feel(&self, feel: senses::Feel) {
        if self.read().preferences.vibration {
            self.senses.borrow().feel(feel);
        }
    }

    /// The clipboard for pictures, where there is one.
    pub(crate) fn clipboard(&self) -> Option<Rc<dyn Clipboard>> {
        self.clipboard.borrow().clone().filter(|clipboard| clipboard.is_there())
    }

    pub(crate) fn has_motor(&self) -> bool {
        self.senses.borrow().has_motor()
    }

    /// Tells the host whether somebody looks at the app (if not, it uses notifications), the language of notifications, and
    /// whether bots answer with a delay.
    fn tell_front(&self) {
        let chinese = self.read().chinese();
        let language = if chinese { control::Language::Chinese } else { control::Language::English };
        let (on, unhurried) = {
            let known = self.read();
            (known.in_front, known.preferences.unhurried)
        };
        let front = control::Front { on, language: language.into(), unhurried };
        self.tell(request::Body::Front(front));
    }

    /// Sends the host the game for invitations, which people nearby are told.
    pub(crate) fn tell_wish(&self) {
        let game = self.read().nearby_game().into();
        self.tell(request::Body::SetWish(control::SetWish { game }));
    }

    /// Sets whether the window is in front; while it is not, the host uses notifications.
    pub(crate) fn set_in_front(&self, on: bool) {
        let changed = std::mem::replace(&mut self.known_mut().in_front, on) != on;
        if changed {
            self.tell_front();
            self.show();
        }
    }

    pub(crate) fn go(&self, page: Page) {
        {
            let known = &mut *self.known_mut();
            known.question = Dialog::None;
            known.nav.go(page);
        }
        self.on_page_changed();
        self.show();
    }

    /// Handles Escape and the back button.
    pub(crate) fn back(&self) {
        let (dialog, page, question) = {
            let known = self.read();
            (self.dialog(), known.page(), known.question)
        };
        if dialog != Dialog::None {
            // A dialog that another person caused needs an answer; the app's own can be dismissed.
            if dialog == question {
                self.open(Dialog::None);
            }
            return;
        }
        if page == Page::Board {
            let mut put_down = false;
            self.turn(|pages, cx| put_down = pages.board.put_down(cx.known));
            if put_down {
                return;
            }
        }
        match page {
            Page::Home => {}
            Page::Board => self.turn(|_pages, cx| adapters::board::ask_to_leave(cx)),
            _ => self.known_mut().nav.back(),
        }
        self.on_page_changed();
        self.show();
    }

    /// Closes this page, because its subject is gone.
    fn leave(&self, page: Page) {
        self.known_mut().nav.leave(page);
        self.on_page_changed();
        self.show();
    }

    pub(crate) fn open(&self, dialog: Dialog) {
        self.change(|known| known.question = dialog);
    }

    /// Opens a room, which the host's events contain already or next.
    pub(crate) fn open_room(&self, id: &str) {
        let room = self.read().state.rooms.get(id).cloned();
        let Some(room) = room else {
            self.known_mut().open_when_there = Some(id.to_owned());
            return;
        };
        let left = {
            let State { known, pages, .. } = &mut *self.state.borrow_mut();
            pages.board.on_opened();
            known.question = Dialog::None;
            known.open_when_there = None;
            known.nav.sit_down(room.puzzle.is_some());
            // A puzzle that the next one replaces need not be kept, nor a match that is over for a puzzle.
            let before = known.room.replace(adapters::board::seen(&room));
            before.filter(|before| {
                before.id != room.id
                    && (before.puzzle.is_some() || room.puzzle.is_some() && before.result.is_some())
            })
        };
        if let Some(left) = left {
            self.tell(request::Body::CloseRoom(control::CloseRoom { room_id: left.id }));
        }
        self.ask_rules();
        self.on_page_changed();
        self.show();
        self.turn(|pages, cx| pages.board.on_there(cx));
    }

    /// Requests the rules of the match on the board, unless they are known.
    fn ask_rules(&self) {
        let setup = {
            let known = self.read();
            let is_known = known.room_sheet().is_some();
            known.room.as_ref().filter(|_| !is_known).and_then(|room| room.setup.clone())
        };
        if let Some(setup) = setup {
            let asked = control::Describe { setup: Some(setup.clone()), ..Default::default() };
            self.ask(request::Body::Describe(asked), adapters::board::Question::Rules { setup });
        }
    }

    /// Closes the board page, for the club evening's page if the match is a game of it. `closes`: the room too, of which the
    /// host keeps an unfinished match.
    fn leave_board(&self, closes: bool) {
        let left = {
            let State { known, pages, .. } = &mut *self.state.borrow_mut();
            known.question = Dialog::None;
            known.nav.leave(Page::Board);
            let left = known.room.take();
            if left.as_ref().is_some_and(|room| pages.club.turn_to_game(&room.id, known)) {
                known.nav.go(Page::Club);
            }
            // A room that the host has already closed, such as an adjourned match, is not closed again.
            left.filter(|room| closes && known.state.rooms.contains_key(&room.id))
        };
        if let Some(room) = left {
            self.tell(request::Body::CloseRoom(control::CloseRoom { room_id: room.id }));
        }
        self.on_page_changed();
        self.show();
    }

    /// After a change of page: starts or stops scanning, and requests what the page shows.
    fn on_page_changed(&self) {
        let (page, scanning, ready) = {
            let known = &mut *self.known_mut();
            (known.page(), known.scanning, known.state.ready)
        };
        if page != Page::NewGame {
            self.state.borrow_mut().pages.invitation.stop_composing();
        }
        let scan = matches!(page, Page::Home | Page::Nearby | Page::Friends);
        if scan != scanning && ready {
            self.known_mut().scanning = scan;
            self.tell(request::Body::Scan(control::Scan { on: scan }));
        }
        if ready {
            self.turn(|pages, cx| match page {
                Page::Home => adapters::home::list_matches(cx),
                Page::Puzzles => pages.puzzles.list(cx),
                Page::Settings => adapters::settings::list_adapters(cx),
                _ => {}
            });
            self.turn(|pages, cx| pages.new_game.page_turned(cx));
        }
    }

    /// Restarts the delay before "nobody near" is shown.
    fn look_afresh(self: &Rc<Self>) {
        self.known_mut().looked_long = false;
        let controller = Rc::downgrade(self);
        self.looking.start(slint::TimerMode::SingleShot, LOOKS_ALONE_AFTER, move || {
            if let Some(controller) = controller.upgrade() {
                controller.change(|known| known.looked_long = true);
            }
        });
    }

    pub(crate) fn remark(&self, remark: Remark, name: &str) {
        let Some(window) = self.window.upgrade() else { return };
        let navigation = window.global::<Navigation>();
        navigation.set_remark_name(name.into());
        // The same remark again restarts its time.
        navigation.set_remark(Remark::None);
        navigation.set_remark(remark);
    }

    /// Updates all pages from the present state. Unchanged values cost nothing, because Slint compares them.
    pub(crate) fn show(&self) {
        if self.turns.get() > 0 {
            self.stale.set(true);
            return;
        }
        self.work.update(|work| Work { shown: work.shown + 1, ..work });
        if let Some(window) = self.window.upgrade() {
            adapters::show(&window, self);
        }
        let on = {
            let known = self.read();
            let field_test = self.pages().field_test.runs();
            keeps_screen_on(&Shown {
                wanted: known.preferences.keep_screen_on,
                in_front: known.in_front,
                field_test,
                page: known.page(),
                room: known.room.as_ref(),
            })
        };
        self.senses.borrow().keep_screen_on(on);
    }
}
