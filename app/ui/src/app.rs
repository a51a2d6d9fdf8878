//! The app as one object: the window, what the host has said, where the player is, and what was asked.

mod known;
mod page;
mod receive;
mod way;

use std::cell::{Cell, Ref, RefCell, RefMut};
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::{Rc, Weak};
use std::time::Duration;

use client::{Client, FromHost, HostState};
use proto::control::{self, GameChoice, request};
use slint::{ComponentHandle, PlatformError};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::adapters;
use crate::art::Sprites;
use crate::feel::{Nothing, Senses};
use crate::fonts;
use crate::memory;
use crate::preferences::{LastOpponent, Preferences, Store};
use crate::screens::{Dialog, Game, MainWindow, Navigation, Page, Remark};

use page::{Questions, Sensation, Step};
use way::Way;

pub(crate) use known::{Choosing, HintState, Known, Losing, Picked};
pub(crate) use page::{Answer, Asked, Cx, Pages};

/// How long the app looks around before it says that nobody is near: three advertising rounds of a device that takes turns.
const LOOKS_ALONE_AFTER: Duration = Duration::from_secs(10);

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
    controller: Rc<Controller>,
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
        let known = Known {
            preferences: store.load(),
            store,
            locale: locale.to_owned(),
            state: HostState::default(),
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
            solve_when_there: false,
            unsolvable: None,
            look: adapters::board::Look::default(),
            hint: None,
            solving: None,
            shown_solution: None,
            sheets: BTreeMap::new(),
            paces: Vec::new(),
            in_front: true,
            scanning: false,
            looked_long: false,
            thought_open: false,
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
            taken: Cell::new(0),
            shown: Cell::new(0),
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

    /// Shows the window and stays until it is closed.
    pub fn run(&self) -> Result<(), AppError> {
        if let Some(folders) = directories::ProjectDirs::from("", "", "qiyou") {
            self.controller.sprites.starts(folders.cache_dir().join("pictures"));
            let sprites = self.controller.sprites.clone();
            slint::Timer::single_shot(STARTING, move || sprites.started());
        }
        slint::Timer::single_shot(STARTING, memory::let_go_of_code);
        Ok(self.window.run()?)
    }

    /// Calls once the first frame is on the screen.
    pub fn after_first_frame(&self, call: impl FnOnce() + 'static) {
        self.controller.sprites.at_first_drawing(move || {
            // The next turn of the event loop comes when the frame is on the screen.
            slint::Timer::single_shot(Duration::ZERO, call);
        });
    }

    /// For tests and for measuring: what the app has done so far.
    pub fn work(&self) -> Work {
        Work {
            taken: self.controller.taken.get(),
            shown: self.controller.shown.get(),
            rows: adapters::rows_changed(),
        }
    }

    /// For tests: requests to the host whose replies are still to come.
    pub fn waits_for(&self) -> usize {
        self.controller.state.borrow().questions.open()
    }

    /// For tests: what people save, and what they look for, is in this folder instead of `Qiyou` among their documents.
    pub fn keep_files_in(&self, folder: &Path) {
        self.controller.known_mut().own_folder = Some(folder.to_owned());
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
        self.controller.ask(request::Body::OpenRoom(open), Asked::Room);
    }

    /// For tests and for measuring: the window itself.
    pub fn window(&self) -> &MainWindow {
        &self.window
    }

    /// What is heard and felt goes there from now on; nowhere before.
    pub fn give_senses(&self, senses: Rc<dyn Senses>) {
        senses.music(self.controller.read().preferences.music_level);
        *self.controller.senses.borrow_mut() = senses;
        self.controller.show();
    }

    /// Takes these preferences from now on, as if they had been chosen on the settings page.
    pub fn prefer(&self, preferences: Preferences) {
        self.controller.prefer(|known| *known = preferences);
    }

    /// Turns to a page as its buttons do.
    pub fn go(&self, page: Page) {
        self.controller.go(page);
    }

    /// Opens one of the app's own questions as its button does.
    pub fn ask(&self, dialog: Dialog) {
        self.controller.open(dialog);
    }

    /// Shows a match that the host has told of, or tells of next.
    pub fn open_room(&self, id: &str) {
        self.controller.open_room(id);
    }

    /// Shows what the device thinks, as a touch on its seat does.
    pub fn show_thought(&self) {
        self.controller.change(|known| known.thought_open = true);
    }

    /// Pieces of the far side face it where two people play here.
    pub fn prefer_facing(&self) {
        self.controller.prefer(|known| known.face_to_face = true);
    }

    /// Lying screens have the actions at the left.
    pub fn prefer_left_hand(&self) {
        self.controller.prefer(|known| known.left_handed = true);
    }

    /// Turns to the page for a new match of this game, as its tile does.
    pub fn new_game(&self, game: Game) {
        self.controller.turn(|pages, cx| pages.new_game.open(adapters::game::of(game), cx));
    }

    /// Keeps the match in this file among the records, and looks it through.
    pub fn look_at_file(&self, path: &Path) {
        self.controller.turn(|_pages, cx| adapters::records::look_at(path, cx));
    }

    /// Turns to the lesson of this game, as its button does.
    pub fn learn(&self, game: Game) {
        self.controller.turn(|pages, cx| pages.lesson.open(adapters::game::of(game), cx));
    }

    /// Whom a new match of this game is against, as chosen on its page.
    pub fn prefer_opponent(&self, game: Game, opponent: LastOpponent) {
        let word = adapters::game::word(adapters::game::of(game));
        self.controller.prefer(|known| known.games.entry(word.into()).or_default().opponent = opponent);
    }
}

/// The one task that takes in what the host says.
async fn listen(controller: Weak<Controller>, mut from_host: UnboundedReceiver<FromHost>) {
    while let Some(said) = from_host.recv().await {
        let Some(controller) = controller.upgrade() else { return };
        controller.receive(said);
    }
}

/// All that changes.
struct State {
    known: Known,
    pages: Pages,
    questions: Questions,
}

/// A touch or a message that is being handled.
pub(crate) struct Turn<'a>(&'a Controller);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.turns.set(self.0.turns.get() - 1);
        if self.0.turns.get() == 0 && self.0.stale.take() {
            self.0.show();
        }
    }
}

/// The app behind its window. Adapters hold it weakly in their callbacks.
pub(crate) struct Controller {
    pub(crate) window: slint::Weak<MainWindow>,
    pub(crate) sprites: Rc<Sprites>,
    state: RefCell<State>,
    /// How many turns are under way, one within another, and whether the pages are to be shown when the outermost ends.
    turns: Cell<u32>,
    stale: Cell<bool>,
    looking: slint::Timer,
    /// What was said stays to be read for a while.
    saying: slint::Timer,
    senses: RefCell<Rc<dyn Senses>>,
    taken: Cell<u64>,
    shown: Cell<u64>,
    pub(crate) board: adapters::board::Rows,
}

impl Controller {
    pub(crate) fn read(&self) -> Ref<'_, Known> {
        Ref::map(self.state.borrow(), |state| &state.known)
    }

    /// Changes what is known, then shows it.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Known)) {
        change(&mut self.known_mut());
        self.show();
    }

    /// Sends a request; its reply goes to the page whose question this is.
    pub(crate) fn ask(&self, body: request::Body, asked: impl Into<Asked>) {
        self.state.borrow_mut().questions.send(body, asked);
    }

    /// Sends a request of which only a refusal is of interest, and a radio's not even that.
    pub(crate) fn tell(&self, body: request::Body) {
        self.state.borrow_mut().questions.tell(body);
    }

    fn known_mut(&self) -> RefMut<'_, Known> {
        RefMut::map(self.state.borrow_mut(), |state| &mut state.known)
    }

    pub(crate) fn pages(&self) -> Ref<'_, Pages> {
        Ref::map(self.state.borrow(), |state| &state.pages)
    }

    /// The one dialog that is seen.
    pub(crate) fn dialog(&self) -> Dialog {
        let State { known, pages, .. } = &*self.state.borrow();
        known.dialog(&pages.invitation)
    }

    /// Until the guard is dropped, what is to be shown is put off: pages are shown once for each touch and each message.
    pub(crate) fn begin_turn(&self) -> Turn<'_> {
        self.turns.set(self.turns.get() + 1);
        Turn(self)
    }

    /// Lets a page do its part, then does what it wants done.
    pub(crate) fn turn(&self, act: impl FnOnce(&mut Pages, &mut Cx<'_>)) {
        let _turn = self.begin_turn();
        let wishes = {
            let State { known, pages, questions } = &mut *self.state.borrow_mut();
            let mut cx = Cx::new(known, questions);
            act(pages, &mut cx);
            cx.into_wishes()
        };
        self.show();
        for change in wishes.preferences {
            self.prefer(change);
        }
        for sensation in wishes.felt {
            match sensation {
                Sensation::Heard(cue) => self.hear(cue),
                Sensation::Felt(feel) => self.feel(feel),
            }
        }
        for step in wishes.steps {
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
            Step::LeaveRoom => self.leave_room(),
            Step::NewGame(game) => self.turn(|pages, cx| pages.new_game.open(game, cx)),
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
            Step::BoardReply(question, answer) => adapters::board::reply(self, question, *answer),
            Step::SolveWhenThere(solve) => self.known_mut().solve_when_there = solve,
        }
    }

    /// Changes preferences, keeps them, and shows them.
    pub(crate) fn prefer(&self, change: impl FnOnce(&mut Preferences)) {
        let told = |known: &Known| (known.chinese(), known.preferences.unhurried);
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

    /// Plays this as loud as the player wants it.
    pub(crate) fn hear(&self, cue: senses::Cue) {
        let level = self.read().preferences.sound_level;
        if level > 0 {
            self.senses.borrow().hear(cue, level);
        }
    }

    /// Shakes the device where the player wants it and it can be.
    pub(crate) fn feel(&self, feel: senses::Feel) {
        if self.read().preferences.vibration {
            self.senses.borrow().feel(feel);
        }
    }

    pub(crate) fn has_motor(&self) -> bool {
        self.senses.borrow().has_motor()
    }

    /// Tells the host that somebody looks, so that the desktop need not notify, in which language it would, and whether bots are to
    /// answer unhurried.
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

    /// Tells the host what people near may be told: the game that they would be invited to.
    pub(crate) fn tell_wish(&self) {
        let game = self.read().nearby_game().into();
        self.tell(request::Body::SetWish(control::SetWish { game }));
    }

    /// Whether the window is the one that the person looks at: while it is not, the desktop notifies.
    pub(crate) fn set_in_front(&self, on: bool) {
        let changed = std::mem::replace(&mut self.known_mut().in_front, on) != on;
        if changed {
            self.tell_front();
        }
    }

    pub(crate) fn go(&self, page: Page) {
        {
            let known = &mut *self.known_mut();
            known.question = Dialog::None;
            known.way.go(page);
        }
        self.on_page_changed();
        self.show();
    }

    /// Escape, or the way back in a corner.
    pub(crate) fn back(&self) {
        let (dialog, page, question) = {
            let known = self.read();
            (self.dialog(), known.page(), known.question)
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
            _ => self.known_mut().way.back(),
        }
        self.on_page_changed();
        self.show();
    }

    /// What this page shows is gone.
    fn leave(&self, page: Page) {
        self.known_mut().way.leave(page);
        self.on_page_changed();
        self.show();
    }

    pub(crate) fn open(&self, dialog: Dialog) {
        self.change(|known| known.question = dialog);
    }

    /// Shows a match that the host has told, or will tell.
    pub(crate) fn open_room(&self, id: &str) {
        let room = self.read().state.rooms.get(id).cloned();
        let Some(room) = room else {
            self.known_mut().open_when_there = Some(id.to_owned());
            return;
        };
        let left = {
            let known = &mut *self.known_mut();
            known.question = Dialog::None;
            known.open_when_there = None;
            known.hint = None;
            known.picked = None;
            known.waiting = None;
            known.turned = false;
            known.look = adapters::board::Look::default();
            known.way.sit_down(room.puzzle.is_some());
            // Nobody goes on with a puzzle that the next has taken the place of.
            let before = known.room.replace(adapters::board::seen(&room));
            before.filter(|before| before.puzzle.is_some() && before.id != room.id)
        };
        if let Some(left) = left {
            self.tell(request::Body::CloseRoom(control::CloseRoom { room_id: left.id }));
        }
        self.ask_rules();
        self.on_page_changed();
        self.show();
        if std::mem::take(&mut self.known_mut().solve_when_there) {
            adapters::board::solve(self);
        }
    }

    /// Asks by which rules the match on the board is played, unless that is known.
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

    /// Leaves the board page for the one before it. The host closes the room, and keeps an unfinished match.
    pub(crate) fn leave_room(&self) {
        let left = {
            let known = &mut *self.known_mut();
            known.question = Dialog::None;
            known.way.leave(Page::Board);
            // What the host has closed already, as a match that was put off, need not be closed.
            known.room.take().filter(|room| known.state.rooms.contains_key(&room.id))
        };
        if let Some(room) = left {
            self.tell(request::Body::CloseRoom(control::CloseRoom { room_id: room.id }));
        }
        self.on_page_changed();
        self.show();
    }

    /// After the page has changed: look around where that is of use, and ask for what the page shows.
    fn on_page_changed(&self) {
        let (page, scanning, ready) = {
            let known = &mut *self.known_mut();
            (known.page(), known.scanning, known.state.ready)
        };
        if page != Page::NewGame {
            self.state.borrow_mut().pages.invitation.stop_countering();
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

    /// From now on "nobody near" is only said after a while.
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
        // The same remark again starts its time again.
        navigation.set_remark(Remark::None);
        navigation.set_remark(remark);
    }

    /// Lets every adapter show what is known now. Values that have not changed cost nothing: Slint compares them.
    pub(crate) fn show(&self) {
        if self.turns.get() > 0 {
            self.stale.set(true);
            return;
        }
        self.shown.set(self.shown.get() + 1);
        if let Some(window) = self.window.upgrade() {
            adapters::show(&window, self);
        }
    }
}
