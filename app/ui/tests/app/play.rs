//! Whole matches on a real host in this process, by taps alone and by keys alone.

use std::cell::Cell;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::{Action, AnyGame, GameKind, Limits, Point, Side, Tier};
use host::{Host, HostConfig};
use i_slint_backend_testing::{ElementHandle, ElementQuery};
use qiyou::headless::{Scene, Stage};
use qiyou::screens::{
    BoardAdapter, ComparisonAdapter, Dialog, HomeAdapter, LessonAdapter, Navigation, NewGameAdapter, Page,
    PointView, RecordsAdapter, ReplayAdapter,
};
use qiyou::{App, Confirm, Language, LastGame, Preferences, Store, connect};
use slint::platform::Key;
use slint::{ComponentHandle, Model};
use tokio::runtime::Runtime;

use crate::support::SIZES;

/// The words of the games in preferences.
const GAMES: [&str; 5] = ["gomoku", "go", "xiangqi", "liuzhou", "lights-out"];

/// An app with a host of its own, as `qiyou` runs them. Several may share a stage.
pub(crate) struct Table<'a> {
    pub(crate) stage: &'a Stage,
    pub(crate) scene: Scene,
    pub(crate) app: App,
    pub(crate) runtime: Runtime,
    pub(crate) host: Option<Host>,
    _saves: tempfile::TempDir,
}

impl<'a> Table<'a> {
    pub(crate) fn new(stage: &'a Stage) -> Self {
        Self::with(stage, |config| config)
    }

    pub(crate) fn with(stage: &'a Stage, configured: impl FnOnce(HostConfig) -> HostConfig) -> Self {
        // QIYOU_LOG=debug shows the log of a failing test. Only the first app of a process can set it.
        let filter = tracing_subscriber::EnvFilter::try_from_env("QIYOU_LOG").unwrap_or_default();
        tracing_subscriber::fmt().with_env_filter(filter).with_test_writer().try_init().ok();
        let saves = tempfile::tempdir().expect("a folder for the test");
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a thread");
        let (host, (client, from_host)) = {
            let _inside = runtime.enter();
            let host =
                Host::start(configured(HostConfig::new(saves.path()))).expect("a host in an empty folder");
            let stream = host.client();
            (host, connect(async { Ok(stream) }))
        };
        let app = App::new(client, from_host, Store::nowhere(), "en_GB.UTF-8").expect("a window in memory");
        app.window().show().expect("shown in memory");
        app.prefer(Preferences {
            language: Language::English,
            reduced_motion: true,
            unhurried: false,
            confirm_moves: Confirm::Never,
            games: GAMES.map(|game| (game.to_owned(), LastGame { level: 1.2, ..LastGame::default() })).into(),
            ..Preferences::default()
        });
        let scene = stage.scene(SIZES[0].0, SIZES[0].1, SIZES[0].2);
        stage.settle(&scene);
        Self { stage, scene, app, runtime, host: Some(host), _saves: saves }
    }

    pub(crate) fn page(&self) -> Page {
        self.app.window().global::<Navigation<'_>>().get_page()
    }

    pub(crate) fn until(&self, what: &str, condition: impl FnMut() -> bool) {
        let so = self.stage.until(&[&self.scene], condition);
        assert!(so, "waited in vain: {what}\n{}", self.told());
    }

    /// All texts in the window, for failure messages.
    fn told(&self) -> String {
        let navigation = self.app.window().global::<Navigation<'_>>();
        let labels: Vec<String> = ElementQuery::from_root(self.app.window())
            .find_all()
            .iter()
            .filter(|element| element.accessible_role().is_some())
            .filter_map(|element| {
                let (label, enabled) = (element.accessible_label()?, element.accessible_enabled());
                Some(if enabled == Some(false) { format!("({label})") } else { label.to_string() })
            })
            .filter(|label| !label.ends_with(" empty"))
            .collect();
        let (page, dialog, remark) =
            (navigation.get_page(), navigation.get_dialog(), navigation.get_remark());
        format!("{page:?}, {dialog:?}, {remark:?}: {}", labels.join(" | "))
    }

    /// Passes, with the confirmation.
    pub(crate) fn pass(&self) {
        self.tap("Pass");
        self.tap("Yes, pass");
    }

    /// Taps a control, after waiting for it: controls beside the board follow a move by a frame.
    pub(crate) fn tap(&self, name: &str) {
        let named = || {
            ElementHandle::find_by_accessible_label(self.app.window(), name)
                .find(|element| element.accessible_role().is_some())
                .unwrap_or_else(|| panic!("nothing is called {name}\n{}", self.told()))
        };
        if named().accessible_enabled() == Some(false) {
            self.until("it can be touched", || named().accessible_enabled() != Some(false));
        }
        let element = named();
        let (position, size) = (element.absolute_position(), element.size());
        self.scene.tap(position.x + size.width / 2.0, position.y + size.height / 2.0);
        self.stage.settle(&self.scene);
    }

    /// Opens the page for a new match of this game, and waits for its options.
    pub(crate) fn new_game(&self, game: &str) {
        self.tap(game);
        self.until("the options", || {
            self.app.window().global::<NewGameAdapter<'_>>().get_options().row_count() > 0
        });
        self.stage.settle(&self.scene);
    }

    /// Unfolds rules and clock on the page for a new match.
    pub(crate) fn unfold_terms(&self) {
        self.app.window().global::<NewGameAdapter<'_>>().invoke_toggle_terms();
        self.stage.settle(&self.scene);
    }

    pub(crate) fn start(&self) {
        self.tap("Start");
        self.until("the board", || self.page() == Page::Board);
        self.stage.settle(&self.scene);
    }

    pub(crate) fn ply(&self) -> i32 {
        self.app.window().global::<BoardAdapter<'_>>().get_ply()
    }

    pub(crate) fn points(&self) -> Vec<PointView> {
        self.app.window().global::<BoardAdapter<'_>>().get_points().iter().collect()
    }

    /// Waits until this number of actions was made and it is our turn.
    fn my_turn_after(&self, ply: i32) {
        self.until("our turn", || self.live() && self.ply() >= ply);
        self.stage.settle(&self.scene);
    }

    /// Moves the cursor to a point with arrow keys, and plays there.
    fn go_to(&self, cursor: &Cell<(i32, i32)>, to: (i32, i32)) {
        let (mut column, mut row) = cursor.get();
        while (column, row) != to {
            let key = if column < to.0 {
                column += 1;
                Key::RightArrow
            } else if column > to.0 {
                column -= 1;
                Key::LeftArrow
            } else if row < to.1 {
                row += 1;
                Key::UpArrow
            } else {
                row -= 1;
                Key::DownArrow
            };
            self.scene.key(key);
        }
        cursor.set(to);
        self.key(Key::Return);
    }

    pub(crate) fn key(&self, key: Key) {
        self.scene.key(key);
        self.stage.settle(&self.scene);
    }

    pub(crate) fn says(&self, name: &str) -> bool {
        ElementHandle::find_by_accessible_label(self.app.window(), name).next().is_some()
    }

    pub(crate) fn over(&self) -> bool {
        self.app.window().global::<BoardAdapter<'_>>().get_over()
    }

    pub(crate) fn live(&self) -> bool {
        self.app.window().global::<BoardAdapter<'_>>().get_live()
    }

    /// The visible stones, with points and sides.
    fn stones(&self) -> Vec<(Point, Side)> {
        let board = self.app.window().global::<BoardAdapter<'_>>();
        board
            .get_points()
            .iter()
            .enumerate()
            .filter(|(_, point)| point.stone != 0)
            .map(|(index, point)| {
                let at = Point::new((index % 15) as u16, 14 - (index / 15) as u16);
                (at, if point.stone == 1 { Side::First } else { Side::Second })
            })
            .collect()
    }

    /// Plays Black to the end of the match; `play` places the stone. Black searches a little deeper than the bot.
    fn play_to_the_end(&self, play: impl Fn(Point)) {
        let mut game = AnyGame::new(&GameKind::Gomoku.default_setup()).expect("the default is valid");
        let mut black = engine::bot(GameKind::Gomoku, Tier::new(4).expect("a level"), 7);
        while !self.over() {
            self.until("the turn or the end", || self.over() || self.live());
            if self.over() {
                break;
            }
            for (at, side) in self.stones() {
                if side == Side::Second
                    && game.turn() == Side::Second
                    && game.legal_move(Action::Place(at)).is_ok()
                {
                    game.act(Action::Place(at)).expect("just found legal");
                }
            }
            assert_eq!((game.turn(), game.ply() as usize), (Side::First, self.stones().len()));
            let limits = Limits {
                time: None,
                nodes: Some(3_000),
                depth: None,
                stop: &AtomicBool::new(false),
                elapsed: &|| Duration::ZERO,
            };
            let found = black.choose(&game, &limits, &mut |_| {}).expect("the game goes on");
            let Action::Place(at) = found.line[0] else { panic!("gomoku is played by placing") };
            let before = self.stones().len();
            play(at);
            game.act(found.line[0]).expect("the bot plays by the rules");
            self.until("the stone", || self.stones().len() > before);
        }
    }

    pub(crate) fn end(mut self) {
        let host = self.host.take().expect("still there");
        drop(self.app);
        self.runtime.block_on(host.stop());
    }

    pub(crate) fn dialog(&self) -> Dialog {
        self.app.window().global::<Navigation<'_>>().get_dialog()
    }
}

#[test]
fn a_whole_match_against_level_1_is_played_by_taps_alone_and_then_another_begins() {
    let stage = Stage::new();
    let table = Table::new(&stage);
    table.new_game("Gomoku");
    assert_eq!(table.page(), Page::NewGame);
    table.tap("Weaker");
    assert!(table.says("Level 1"));
    table.start();
    table.play_to_the_end(|at| table.tap(&format!("{} empty", at.to_string().to_uppercase())));
    table.stage.settle(&table.scene);
    assert!(table.says("You won") || table.says("You lost") || table.says("A draw"));
    if !table.says("A draw") {
        let winning = table
            .app
            .window()
            .global::<BoardAdapter<'_>>()
            .get_points()
            .iter()
            .filter(|one| one.winning)
            .count();
        assert!(winning >= 5, "the winning row is shown: {winning}");
        assert!(table.says("Five in a row"));
    }
    let stones = table.stones().len();
    table.tap("Rematch as White");
    // Colours are swapped: the bot moves first.
    table.until("the new game", || table.stones().len() < stones && table.live());
    assert!(!table.over());
    assert_eq!(table.stones().iter().filter(|(_, side)| *side == Side::First).count(), 1);
    table.tap("A1 empty");
    table.until("a stone of one's own", || table.live() && table.stones().len() == 3);
    table.tap("Back");
    table.until("home with the match to go on with", || {
        table.page() == Page::Home && table.says("Continue: Gomoku · level 1")
    });
    table.tap("Continue: Gomoku · level 1");
    table.until("the board again", || table.page() == Page::Board && !table.stones().is_empty());
    table.end();
}

#[test]
fn a_whole_match_against_level_1_is_played_by_keys_alone() {
    let stage = Stage::new();
    let table = Table::new(&stage);
    // Order of the focus: puzzles, matches, settings, friends, the nearby card, the first tile.
    for _ in 0..6 {
        table.key(Key::Tab);
    }
    table.key(Key::Return);
    assert_eq!(table.page(), Page::NewGame);
    table.until("the options", || table.says("Rules and clock: Freestyle, 15 × 15, no clock."));
    table.stage.settle(&table.scene);
    // Back, three opponents, a level like one's own or chosen, weaker.
    for _ in 0..7 {
        table.key(Key::Tab);
    }
    table.key(Key::Return);
    assert!(table.says("Level 1"));
    // Stronger, the slider, three colours, rules and clock, which open and close.
    for _ in 0..6 {
        table.key(Key::Tab);
    }
    table.key(Key::Return);
    assert!(table.says("Standard"));
    table.key(Key::Return);
    assert!(!table.says("Standard"));
    // From a position, puzzles, a first lesson, how it is played, start.
    for _ in 0..5 {
        table.key(Key::Tab);
    }
    table.key(Key::Return);
    table.until("the board", || table.page() == Page::Board);
    let cursor = Cell::new((7, 7));
    // The first arrow key shows the cursor on the board.
    table.key(Key::RightArrow);
    table.play_to_the_end(|to| table.go_to(&cursor, (to.column.into(), to.row.into())));
    table.stage.settle(&table.scene);
    assert!(table.says("You won") || table.says("You lost") || table.says("A draw"));
    table.end();
}

#[test]
fn a_stone_can_be_taken_back_and_a_hint_is_given() {
    let stage = Stage::new();
    let table = Table::new(&stage);
    table.new_game("Gomoku");
    table.tap("Weaker");
    table.start();
    table.tap("H8 empty");
    table.until("the answer", || table.stones().len() == 2 && table.live());
    table.tap("Undo");
    table.until("my turn again", || table.stones().is_empty() && table.live());
    table.tap("Hint");
    table.until("a hint", || {
        table.app.window().global::<BoardAdapter<'_>>().get_points().iter().any(|point| point.hint)
    });
    table.end();
}

#[test]
fn go_is_played_by_taps_to_its_count_and_by_keys() {
    let stage = Stage::new();
    let table = Table::new(&stage);
    table.new_game("Go");
    table.tap("Same screen");
    table.unfold_terms();
    table.tap("9 × 9");
    table.until("the small board", || table.app.window().global::<NewGameAdapter<'_>>().get_go_size() == 9);
    table.start();
    for (ply, point) in (1..).zip(["E5 empty", "D5 empty", "J9 empty", "E6 empty"]) {
        table.tap(point);
        table.my_turn_after(ply);
    }
    // The cursor starts at the centre of the board, E5.
    let cursor = Cell::new((4, 4));
    table.key(Key::RightArrow);
    for (ply, point) in (5..).zip([(0, 0), (5, 4), (1, 0), (4, 3)]) {
        table.go_to(&cursor, point);
        table.my_turn_after(ply);
    }
    assert!(table.says("E5 empty"), "the black stone is taken");
    table.pass();
    table.my_turn_after(9);
    table.pass();
    table.my_turn_after(10);
    // The proposal of dead stones comes at once; a tap on the stone removes its mark, and another sets it again.
    table.until("it is marked as dead", || table.points().iter().any(|point| point.dead));
    table.stage.settle(&table.scene);
    let told = table.app.window().global::<BoardAdapter<'_>>().get_told();
    assert!(told.contains("with 7.5 komi: White is ") && table.says(&told), "{told}");
    let marked = table.ply();
    for (ply, dead) in [(1, false), (2, true)] {
        table.tap(if dead { "J9 Black last move" } else { "J9 Black last move dead" });
        table.until("the touch", || table.ply() == marked + ply);
        table.stage.settle(&table.scene);
        assert_eq!(table.points().iter().any(|point| point.dead && point.name == "J9"), dead);
    }
    table.tap("Agree and count");
    table.my_turn_after(marked + 3);
    table.tap("Agree and count");
    table.until("the end", || table.over());
    table.stage.settle(&table.scene);
    assert!(table.says("White won"), "five stones and the komi against three");
    table.end();
}

#[test]
fn xiangqi_is_played_against_the_device_by_taps_and_by_keys() {
    let stage = Stage::new();
    let table = Table::new(&stage);
    table.new_game("Xiangqi");
    table.tap("Weaker");
    table.start();
    table.tap("File 2, row 3 red cannon");
    table.tap("File 5, row 3 empty possible");
    table.my_turn_after(2);
    // The answer may be a black cannon on the file that ours has left.
    assert!(
        table.says("File 5, row 3 red cannon") && !table.says("File 2, row 3 red cannon"),
        "{}",
        table.told()
    );
    let cursor = Cell::new((4, 4));
    table.key(Key::UpArrow);
    table.go_to(&cursor, (0, 0));
    table.go_to(&cursor, (0, 1));
    table.my_turn_after(4);
    assert!(table.says("File 9, row 2 red chariot"));
    table.tap("Hint");
    table.until("a step is advised", || {
        let board = table.app.window().global::<BoardAdapter<'_>>();
        board.get_arrow_from() >= 0 && board.get_arrow_to() >= 0
    });
    table.tap("Undo");
    table.until("the step is taken back", || table.ply() == 2 && table.live());
    table.end();
}

#[test]
fn liuzhou_chess_is_played_with_a_capture_by_taps_and_by_keys() {
    let stage = Stage::new();
    let table = Table::new(&stage);
    table.new_game("Liuzhou");
    table.tap("Same screen");
    table.start();
    for (ply, point) in (1..).zip(["C3 empty", "A6 empty", "D3 empty", "F6 empty", "C4 empty", "A1 empty"]) {
        table.tap(point);
        table.my_turn_after(ply);
    }
    let cursor = Cell::new((3, 2));
    table.key(Key::UpArrow);
    table.go_to(&cursor, (3, 3));
    table.my_turn_after(7);
    let board = || table.app.window().global::<BoardAdapter<'_>>();
    assert_eq!(board().get_captures_due(), 1, "a square was made");
    assert_eq!(table.points().iter().filter(|point| point.formation).count(), 4);
    table.go_to(&cursor, (0, 0));
    table.my_turn_after(8);
    assert_eq!(board().get_captures_due(), 0);
    assert_eq!(table.points().iter().filter(|point| point.captured).count(), 1);
    table.end();
}

#[test]
fn lights_out_is_solved_by_hints_in_the_fewest_presses_and_then_another_board_begins() {
    let stage = Stage::new();
    let table = Table::new(&stage);
    table.new_game("Lights Out");
    assert!(!table.says("Same screen") && !table.says("My colour"), "it is played alone");
    table.unfold_terms();
    table.tap("Columns: less");
    table.start();
    let board = || table.app.window().global::<BoardAdapter<'_>>();
    let lit = |table: &Table<'_>| table.points().iter().filter(|point| point.lamp == 2).count();
    let first: Vec<i32> = table.points().iter().map(|point| point.lamp).collect();
    let mut left = None;
    while !table.over() {
        table.tap("Hint");
        table.until("a press that helps", || board().get_solution() > 0);
        let now = board().get_solution();
        assert!(left.is_none_or(|before: i32| now == before - 1), "{left:?}, then {now}");
        left = Some(now);
        let point = table.points().into_iter().find(|point| point.hint).expect("something blinks");
        table.tap(&format!("{} {}", point.name, if point.lamp == 2 { "lit" } else { "dark" }));
        table.until("it is pressed", || table.over() || board().get_solution() < 0);
        table.stage.settle(&table.scene);
    }
    assert_eq!(left, Some(1));
    let fewest = board().get_presses();
    assert!(table.over() && lit(&table) == 0);
    assert_eq!(board().get_fewest(), fewest);
    assert!(table.says("All the lights are off"));
    table.tap("Another board");
    table.until("the next", || !table.over() && lit(&table) > 0);
    let second: Vec<i32> = table.points().iter().map(|point| point.lamp).collect();
    assert!(second.len() == first.len() && second != first);
    table.end();
}

/// Runs both apps until the condition holds.
pub(crate) fn until_both(anna: &Table<'_>, ben: &Table<'_>, what: &str, condition: &dyn Fn() -> bool) {
    let so = anna.stage.until(&[&anna.scene, &ben.scene], condition);
    assert!(so, "waited in vain: {what}\nAnna: {}\nBen: {}", anna.told(), ben.told());
}

/// Anna and Ben on one in-memory network: they discover each other, compare strings, and start a match in which Anna moves
/// first.
pub(crate) fn met<'a>(stage: &'a Stage, air: &link::memory::MemoryNetwork) -> (Table<'a>, Table<'a>) {
    met_to(stage, air, |anna| anna.app.go(Page::Nearby))
}

/// As [`met`], for a game that Anna chooses on her way to the page of people nearby.
pub(crate) fn met_to<'a>(
    stage: &'a Stage,
    air: &link::memory::MemoryNetwork,
    choose: impl Fn(&Table<'_>),
) -> (Table<'a>, Table<'a>) {
    let sit = |name: &str| {
        Table::with(stage, |config| HostConfig {
            name: Some(name.into()),
            transports: vec![std::sync::Arc::new(air.transport(name))],
            ..config
        })
    };
    let (anna, ben) = (sit("Anna"), sit("Ben"));
    let both = |what: &str, condition: &dyn Fn() -> bool| until_both(&anna, &ben, what, condition);
    choose(&anna);
    both("Anna sees Ben", &|| anna.says("Invite Ben"));
    anna.tap("Invite Ben");
    both("both compare", &|| anna.dialog() == Dialog::Comparison && ben.dialog() == Dialog::Comparison);
    let pictures = |table: &Table<'_>| {
        let shown = table.app.window().global::<ComparisonAdapter<'_>>();
        let names: Vec<_> = shown.get_pictures().iter().map(|picture| picture.name).collect();
        (names, shown.get_digits())
    };
    assert_eq!(pictures(&anna), pictures(&ben), "the same on both");
    anna.tap("They match");
    ben.tap("They match");
    both("Ben is invited, and Anna waits", &|| {
        ben.dialog() == Dialog::Invitation && anna.dialog() == Dialog::Waiting
    });
    ben.tap("Play");
    both("both at the board", &|| anna.page() == Page::Board && ben.page() == Page::Board);
    (anna, ben)
}

/// Two apps on one in-memory network, from discovery to the end of the match, by taps alone.
#[test]
fn two_people_nearby_meet_compare_and_play_a_match_in_which_a_stone_is_taken_back() {
    let stage = Stage::new();
    let air = link::memory::MemoryNetwork::new(1);
    let (anna, ben) = met(&stage, &air);
    let both = |what: &str, condition: &dyn Fn() -> bool| until_both(&anna, &ben, what, condition);
    both("Anna has Black and begins", &|| anna.live() && !ben.live());

    // Five in a row for Anna, with one undo.
    let turn = |mover: &Table<'_>, other: &Table<'_>, point: &str| {
        let before = mover.stones().len();
        both("the turn", &|| mover.live());
        mover.tap(&format!("{point} empty"));
        both("the stone on both boards", &|| {
            mover.stones().len() == before + 1 && other.stones().len() == before + 1
        });
    };
    turn(&anna, &ben, "H8");
    anna.tap("Undo");
    both("Ben is asked", &|| ben.dialog() == Dialog::Offer);
    ben.tap("Agree");
    both("the board is empty again", &|| anna.stones().is_empty() && ben.stones().is_empty());
    for n in 0..4 {
        turn(&anna, &ben, &format!("{}8", ["G", "H", "I", "J"][n]));
        turn(&ben, &anna, &format!("{}3", ["A", "C", "E", "G"][n]));
    }
    turn(&anna, &ben, "K8");
    both("both see the end", &|| anna.over() && ben.over());
    stage.settle(&anna.scene);
    stage.settle(&ben.scene);
    assert!(anna.says("You won") && ben.says("You lost"));
    assert_eq!(anna.stones(), ben.stones());
    anna.end();
    ben.end();
}

#[test]
fn every_lesson_is_played_to_its_end_by_taps_and_leads_to_a_match() {
    let stage = Stage::new();
    let table = Table::new(&stage);
    let shown = || table.app.window().global::<LessonAdapter<'_>>();
    let games = ["Gomoku", "Go", "Xiangqi", "Liuzhou", "Lights Out"];
    let mut touches = 0;
    for name in games {
        table.tap("Learn to play");
        assert_eq!(table.dialog(), Dialog::PickLesson);
        let button = ElementHandle::find_by_accessible_label(table.app.window(), name)
            .filter(|one| one.type_name().is_some_and(|name| name == "Button"))
            .last()
            .expect("the game's button");
        let (at, size) = (button.absolute_position(), button.size());
        table.scene.tap(at.x + size.width / 2.0, at.y + size.height / 2.0);
        table.until("the lesson", || {
            table.page() == Page::Lesson
                && shown().get_step() == 0
                && shown().get_points().iter().any(|point| point.hint)
        });
        table.stage.settle(&table.scene);
        loop {
            while !shown().get_finished() {
                let points: Vec<PointView> = shown().get_points().iter().collect();
                let wanted =
                    points.iter().position(|point| point.hint).expect("something to touch is marked");
                let shown_points =
                    ElementQuery::from_root(table.app.window()).match_inherits("Point").find_all();
                let element = &shown_points[wanted];
                let (at, size) = (element.absolute_position(), element.size());
                table.scene.tap(at.x + size.width / 2.0, at.y + size.height / 2.0);
                touches += 1;
                table.until("the touch is taken", || {
                    shown().get_points().iter().collect::<Vec<_>>() != points || shown().get_finished()
                });
                table.stage.settle(&table.scene);
            }
            let step = shown().get_step();
            if step + 1 == shown().get_steps() {
                break;
            }
            table.tap("Next");
            table.until("the next step", || shown().get_step() == step + 1 && !shown().get_finished());
            table.stage.settle(&table.scene);
        }
        table.tap("Play a game");
        table.until("the page for a match", || table.page() == Page::NewGame);
        table.app.go(Page::Home);
        table.stage.settle(&table.scene);
    }
    assert!(touches > 25, "{touches}");
    table.end();
}

#[test]
fn what_a_lesson_does_not_want_is_said_and_changes_nothing() {
    let stage = Stage::new();
    let table = Table::new(&stage);
    table.app.learn(qiyou::screens::Game::Gomoku);
    let shown = || table.app.window().global::<LessonAdapter<'_>>();
    table.until("the lesson", || shown().get_points().iter().any(|point| point.hint));
    table.stage.settle(&table.scene);
    let before: Vec<PointView> = shown().get_points().iter().collect();
    table.tap("A1 empty");
    let navigation = || table.app.window().global::<Navigation<'_>>();
    table.until("why not", || navigation().get_remark() == qiyou::screens::Remark::Told);
    assert_eq!(navigation().get_remark_name(), "Not wrong, but tap what is marked.");
    assert_eq!(shown().get_points().iter().collect::<Vec<_>>(), before);
    // The requested touch is accepted as if there had been no other.
    table.tap("H8 empty");
    table.until("it is taken", || shown().get_finished());
    table.end();
}

#[test]
fn a_file_that_the_app_is_opened_with_is_kept_and_looked_through() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [
        ("a game.sgf", "(;FF[4]GM[4]SZ[15];B[hh];W[ii];B[hi])", qiyou::screens::Game::Gomoku, 3),
        ("Partie.PGN", "[Game \"Chinese Chess\"]\n\n1. h2e2 h9g7 *\n", qiyou::screens::Game::Xiangqi, 2),
        ("b.psq", "Piskvorky 15x15, 11:11, 1\n8,8,0\n9,9,0\n", qiyou::screens::Game::Gomoku, 2),
    ];
    let stage = Stage::new();
    for (name, content, game, plies) in files {
        let table = Table::new(&stage);
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("a folder of our own");
        table.app.look_at_file(&path);
        table.until("it is looked through", || table.page() == Page::Replay);
        let shown = || table.app.window().global::<ReplayAdapter<'_>>();
        table.until("its end is shown", || shown().get_total() == plies && shown().get_ply() == plies);
        assert_eq!(shown().get_game(), game, "{name}");
        table.app.window().global::<Navigation<'_>>().invoke_back();
        assert_eq!(table.page(), Page::Records, "it stands among those that are kept");
        table.until("one is kept", || table.app.window().global::<RecordsAdapter<'_>>().get_total() == 1);
        table.end();
    }
}

#[test]
fn a_file_that_is_no_game_says_so_and_keeps_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let stage = Stage::new();
    let table = Table::new(&stage);
    let navigation = || table.app.window().global::<Navigation<'_>>();
    table.app.look_at_file(&folder.path().join("not there.sgf"));
    assert_eq!(navigation().get_remark(), qiyou::screens::Remark::BadRequest);
    let prose = folder.path().join("prose.sgf");
    std::fs::write(&prose, "Once upon a time").expect("a folder of our own");
    table.app.look_at_file(&prose);
    table.until("why not", || navigation().get_remark() == qiyou::screens::Remark::Told);
    assert_eq!(table.page(), Page::Home);
    table.app.window().global::<HomeAdapter<'_>>().invoke_open_records();
    let records = || table.app.window().global::<RecordsAdapter<'_>>();
    table.until("the records", || records().get_known());
    assert_eq!(records().get_total(), 0);
    table.end();
}
