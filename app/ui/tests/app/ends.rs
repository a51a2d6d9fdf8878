//! Matches to their end by taps alone against the device, a match nearby that is interrupted and goes on, and an app that is
//! killed: on the real host, in this process or in a child.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::{Action, AnyGame, GameKind, Limits, Point, Setup, Side, Tier};
use host::{Host, HostConfig};
use i_slint_backend_testing::{ElementHandle, ElementQuery};
use proto::board::Ending;
use proto::control::{self, event, request};
use qiyou::headless::Stage;
use qiyou::screens::{BoardAdapter, NearbyAdapter, Page, SettingsAdapter};
use qiyou::{App, Client, Confirm, FromHost, Language, Preferences, Store, connect};
use slint::{ComponentHandle, Model};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::play::{Table, met, until_both};
use crate::seed;
use crate::support::SIZES;

/// Somebody who only looks: a second client of the same host, for the record in its notation.
pub(crate) struct Watcher {
    _client: Client,
    said: UnboundedReceiver<FromHost>,
    room: Option<control::Room>,
}

impl Watcher {
    pub(crate) fn new(table: &Table<'_>) -> Self {
        let _inside = table.runtime.enter();
        let stream = table.host.as_ref().expect("there is a host").client();
        let (client, said) = connect(async { Ok(stream) });
        client.send(control::Request {
            id: 1,
            body: Some(request::Body::Attach(control::Attach { client: "watcher".into(), version: 1 })),
        });
        Self { _client: client, said, room: None }
    }

    /// The match as it is now.
    pub(crate) fn look(&mut self) -> Option<&control::Room> {
        while let Ok(said) = self.said.try_recv() {
            if let FromHost::Event(event) = said
                && let Some(event::Body::Room(room)) = event.body
            {
                self.room = Some(room);
            }
        }
        self.room.as_ref()
    }
}

/// Which of the points on the page this is, where the board is seen from the first side.
pub(crate) fn index_for_first(table: &Table<'_>, at: Point) -> usize {
    let board = table.app.window().global::<BoardAdapter<'_>>();
    ((board.get_rows() - 1 - i32::from(at.row)) * board.get_columns() + i32::from(at.column)) as usize
}

/// The middle of a point of the board on the page.
pub(crate) fn tap_index(table: &Table<'_>, index: usize) {
    let points = ElementQuery::from_root(table.app.window()).match_inherits("Point").find_all();
    let point = &points[index];
    let (position, size) = (point.absolute_position(), point.size());
    table.scene.tap(position.x + size.width / 2.0, position.y + size.height / 2.0);
}

fn tap_point(table: &Table<'_>, at: Point) {
    tap_index(table, index_for_first(table, at));
}

fn tap_action(table: &Table<'_>, action: Action) {
    match action {
        Action::Place(at) | Action::Capture(at) | Action::Press(at) | Action::Toggle(at) => {
            tap_point(table, at);
        }
        Action::Step { from, to } => {
            tap_point(table, from);
            table.stage.settle(&table.scene);
            tap_point(table, to);
        }
        Action::Pass => table.pass(),
        Action::Agree => table.tap("Agree and count"),
        // The player sees stones as dead or alive that the device does not, and plays it out.
        Action::Resume => table.tap("Play on"),
        Action::Choose(_) | Action::Done(_) => panic!("{action:?} is not needed here"),
    }
}

/// The game after these actions, which its rules must all allow.
pub(crate) fn replayed(setup: &Setup, record: &[String]) -> AnyGame {
    let mut game = AnyGame::new(setup).expect("a valid setup");
    for text in record {
        let action = game.parse(text).unwrap_or_else(|| panic!("{text} is not of this game"));
        game.act(action).unwrap_or_else(|why| panic!("{text}: {why}"));
    }
    game
}

/// Plays the first side by taps until the match is over: what a bot of this strength would do. The match at its end.
///
/// The opponent draws a seed of its own and may lose in four moves: what is sure is that the record ends as the rules say, since no
/// bot resigns.
fn play_to_the_end(table: &Table<'_>, kind: GameKind, options: &[(&str, &str)], nodes: u64) -> control::Room {
    let mut setup = kind.default_setup();
    for (option, value) in options {
        setup.choose(option, value).expect("an option of the game");
    }
    let mut watcher = Watcher::new(table);
    let mut bot = engine::bot(kind, Tier::new(6).expect("a level"), 7);
    loop {
        let mut done = 0;
        table.until("our turn or the end", || {
            let Some(room) = watcher.look() else { return false };
            done = room.record.len();
            room.result.is_some() || (room.can_act && table.ply() as usize == done && table.live())
        });
        let room = watcher.look().expect("just seen").clone();
        if room.result.is_some() {
            table.until("the end on the page", || table.over());
            table.stage.settle(&table.scene);
            let ended = replayed(&setup, &room.record).outcome().is_some();
            assert!(ended, "the rules end it: {:?}, {:?}", room.result, room.record);
            return room;
        }
        let game = replayed(&setup, &room.record);
        assert_eq!(game.turn(), Side::First);
        let limits = Limits {
            time: None,
            nodes: Some(nodes),
            depth: None,
            stop: &AtomicBool::new(false),
            elapsed: &|| Duration::ZERO,
        };
        let found = bot.choose(&game, &limits, &mut |_| {}).expect("the game goes on");
        tap_action(table, found.line[0]);
        table.until("the action is made", || watcher.look().is_some_and(|room| room.record.len() > done));
        table.stage.settle(&table.scene);
    }
}

fn ended(table: &Table<'_>) {
    assert!(table.over());
    assert!(
        ["You won", "You lost", "A draw"].into_iter().any(|words| table.says(words)),
        "the end is said on the page"
    );
}

#[test]
fn go_against_level_1_is_played_to_its_count_by_taps() {
    let stage = Stage::new();
    let table = Table::new(&stage);
    table.new_game("Go");
    table.tap("Weaker");
    assert!(table.says("Level 1"));
    // Below what is seen at once.
    table.app.window().global::<qiyou::screens::NewGameAdapter<'_>>().invoke_choose_value(0, 0);
    table.until("the small board", || {
        table.app.window().global::<qiyou::screens::NewGameAdapter<'_>>().get_go_size() == 9
    });
    table.stage.settle(&table.scene);
    table.start();
    let last = play_to_the_end(&table, GameKind::Go, &[("size", "9")], 600);
    assert_eq!(last.result.map(|result| result.ending()), Some(Ending::Score));
    ended(&table);
    table.end();
}

#[test]
fn xiangqi_against_level_1_is_played_to_its_end_by_taps() {
    let stage = Stage::new();
    let table = Table::new(&stage);
    table.new_game("Xiangqi");
    table.tap("Weaker");
    assert!(table.says("Level 1"));
    table.start();
    play_to_the_end(&table, GameKind::Xiangqi, &[], 20_000);
    ended(&table);
    table.end();
}

#[test]
fn liuzhou_chess_against_level_1_is_played_to_its_end_by_taps() {
    let stage = Stage::new();
    let table = Table::new(&stage);
    table.new_game("Liuzhou");
    table.tap("Weaker");
    assert!(table.says("Level 1"));
    table.start();
    let moves = play_to_the_end(&table, GameKind::Liuzhou, &[], 8_000).record.len();
    assert!(moves > 36, "the stones were placed and walked: {moves}");
    ended(&table);
    table.end();
}

/// The link is lost in the middle of a match, both see it, it comes back, and the match goes on to its end.
#[test]
fn a_match_nearby_survives_its_link() {
    let stage = Stage::new();
    let air = link::memory::MemoryNetwork::new(2);
    let (anna, ben) = met(&stage, &air);
    let both = |what: &str, condition: &dyn Fn() -> bool| until_both(&anna, &ben, what, condition);

    let stones = |table: &Table<'_>| table.points().iter().filter(|point| point.stone != 0).count();
    let turn = |mover: &Table<'_>, other: &Table<'_>, point: &str| {
        let before = stones(mover);
        both("the turn", &|| mover.live());
        stage.settle(&mover.scene);
        mover.tap(&format!("{point} empty"));
        both("the stone on both boards", &|| stones(mover) == before + 1 && stones(other) == before + 1);
    };
    let link = |table: &Table<'_>| table.app.window().global::<BoardAdapter<'_>>().get_link();
    for n in 0..4 {
        // Between any two stones the link is gone, for a moment or for long.
        if n % 2 == 0 {
            air.set_reach("Ben", false);
            air.cut_all();
            both("both see that the link is lost", &|| {
                link(&anna) == qiyou::screens::Link::Lost && link(&ben) == qiyou::screens::Link::Lost
            });
            air.set_reach("Ben", true);
        } else {
            air.cut_all();
        }
        turn(&anna, &ben, &format!("{}8", ["G", "H", "I", "J"][n]));
        air.cut_all();
        turn(&ben, &anna, &format!("{}3", ["A", "C", "E", "G"][n]));
    }
    turn(&anna, &ben, "K8");
    both("both see the end", &|| anna.over() && ben.over());
    stage.settle(&anna.scene);
    stage.settle(&ben.scene);
    assert!(anna.says("You won") && ben.says("You lost"));
    assert_eq!(anna.app.window().global::<BoardAdapter<'_>>().get_ply(), 9);
    anna.end();
    ben.end();
}

/// Says where the child keeps its matches; only then the test below is the child.
const CHILD: &str = "QIYOU_TEST_CHILD";

/// An app on a host of its own with saves in a folder; plays Black's stones at the points it is told on standard input, and
/// says on standard output after each what is on its board.
#[test]
#[ignore = "the child of the test below"]
fn the_child_of_the_test_below() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let stage = Stage::new();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a thread");
    let _inside = runtime.enter();
    let host = Host::start(HostConfig::new(folder)).expect("a host");
    let stream = host.client();
    let (client, from_host) = connect(async { Ok(stream) });
    let app = App::new(client, from_host, Store::nowhere(), "en_GB.UTF-8").expect("a window in memory");
    app.window().show().expect("shown in memory");
    app.prefer(Preferences {
        language: Language::English,
        reduced_motion: true,
        unhurried: false,
        confirm_moves: Confirm::Never,
        ..Preferences::default()
    });
    let scene = stage.scene(SIZES[0].0, SIZES[0].1, SIZES[0].2);
    stage.settle(&scene);
    let tap = |name: &str| {
        let element = ElementHandle::find_by_accessible_label(app.window(), name)
            .find(|element| element.accessible_role().is_some())
            .unwrap_or_else(|| panic!("nothing is called {name}"));
        let (at, size) = (element.absolute_position(), element.size());
        scene.tap(at.x + size.width / 2.0, at.y + size.height / 2.0);
        stage.settle(&scene);
    };
    let board = || app.window().global::<BoardAdapter<'_>>();
    let page = || app.window().global::<qiyou::screens::Navigation<'_>>().get_page();
    let home = || app.window().global::<qiyou::screens::HomeAdapter<'_>>().get_unfinished();
    let shown = || {
        let mut seen: Vec<String> = board()
            .get_points()
            .iter()
            .filter(|point| point.stone != 0)
            .map(|point| point.name.to_string())
            .collect();
        seen.sort();
        seen.join(" ")
    };
    let my_name = || app.window().global::<NearbyAdapter<'_>>().get_my_name().to_string();
    let say = |what: &str| {
        let mut out = std::io::stdout();
        writeln!(out, "child: {what}").and_then(|()| out.flush()).expect("somebody listens");
    };
    let mut lines = std::io::stdin().lines();
    while let Some(Ok(line)) = lines.next() {
        match line.split_once(' ') {
            None if line == "new" => {
                tap("Gomoku");
                assert!(stage.until(&[&scene], || {
                    let terms = "Rules and clock: Freestyle, 15 × 15, no clock.";
                    ElementHandle::find_by_accessible_label(app.window(), terms).next().is_some()
                }));
                stage.settle(&scene);
                tap("Same screen");
                tap("Start");
                assert!(stage.until(&[&scene], || page() == Page::Board));
                say("begun");
            }
            None if line == "name" => {
                assert!(stage.until(&[&scene], || !my_name().is_empty()));
                say(&my_name());
            }
            None if line == "resume" => {
                assert!(stage.until(&[&scene], || home().row_count() > 0), "the match is kept");
                stage.settle(&scene);
                let room = home().row_data(0).expect("just counted").room;
                app.window().global::<qiyou::screens::HomeAdapter<'_>>().invoke_resume(room);
                assert!(stage.until(&[&scene], || page() == Page::Board && !shown().is_empty()));
                stage.settle(&scene);
                say(&shown());
            }
            Some(("play", point)) => {
                let before = board().get_ply();
                assert!(stage.until(&[&scene], || board().get_live()));
                stage.settle(&scene);
                tap(&format!("{point} empty"));
                assert!(stage.until(&[&scene], || board().get_ply() == before + 1));
                say(&shown());
            }
            // Stone after stone, and now and then another name for this device, saying each as it is seen.
            Some(("run", points)) => {
                for (index, point) in points.split(' ').enumerate() {
                    let before = board().get_ply();
                    assert!(stage.until(&[&scene], || board().get_live()));
                    stage.settle(&scene);
                    tap(&format!("{point} empty"));
                    assert!(stage.until(&[&scene], || board().get_ply() == before + 1));
                    say(&shown());
                    if index % 2 == 1 {
                        let name = format!("Name {}", before + 1);
                        app.window().global::<SettingsAdapter<'_>>().invoke_set_name(name.as_str().into());
                        assert!(stage.until(&[&scene], || my_name() == name));
                        say(&name);
                    }
                }
                say("run out");
            }
            // The stone is asked for, and nobody waits for what comes of it.
            Some(("drop", point)) => {
                tap(&format!("{point} empty"));
                say("dropped");
            }
            _ => panic!("{line} is not understood"),
        }
    }
}

/// A child that is asked and killed.
struct Child {
    process: std::process::Child,
    said: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Child {
    fn new(folder: &std::path::Path) -> Self {
        let mut process = Command::new(std::env::current_exe().expect("this test has a file"))
            .args([
                "ends::the_child_of_the_test_below",
                "--exact",
                "--ignored",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(CHILD, folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this test runs again");
        let said = BufReader::new(process.stdout.take().expect("piped")).lines();
        Self { process, said }
    }

    fn ask(&mut self, what: &str) -> String {
        self.tell(what);
        self.hear()
    }

    fn tell(&mut self, what: &str) {
        let to = self.process.stdin.as_mut().expect("piped");
        writeln!(to, "{what}").and_then(|()| to.flush()).expect("the child listens");
    }

    fn hear(&mut self) -> String {
        loop {
            let line = self.said.next().expect("the child answers").expect("words");
            if let Some(answer) = line.split("child: ").nth(1) {
                return answer.into();
            }
        }
    }

    /// As `kill -9`.
    fn kill(mut self) {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it is gone");
    }
}

#[test]
fn an_app_that_is_killed_has_every_stone_that_was_seen_on_its_board() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = Child::new(folder.path());
    child.ask("new");
    let points = ["H8", "I9", "G7", "I7", "I8", "G8", "H6", "J5", "F9", "E3"];
    let mut seen = child.ask("play H8");
    assert_eq!(seen, "H8");
    for (index, point) in points.iter().enumerate().skip(1) {
        match index % 3 {
            // Killed as soon as the stone was seen.
            0 => {
                seen = child.ask(&format!("play {point}"));
                child.kill();
            }
            // Killed between the touch and whatever would come of it: the stone may be there or not, the others are.
            1 => {
                child.ask(&format!("drop {point}"));
                child.kill();
            }
            _ => {
                seen = child.ask(&format!("play {point}"));
                continue;
            }
        }
        child = Child::new(folder.path());
        let now = child.ask("resume");
        let missing: Vec<&str> =
            seen.split(' ').filter(|one| !now.split(' ').any(|there| there == *one)).collect();
        assert!(missing.is_empty(), "{missing:?} are lost: {now}");
        let more = now.split(' ').count() - seen.split(' ').count();
        assert!(more == 0 || (more == 1 && now.contains(point)), "{seen} became {now}");
        if index % 3 == 1 && more == 0 {
            child.ask(&format!("play {point}"));
        }
        seen = now;
    }
    child.kill();
}

/// Twelve kills at moments that a seed draws, while stones are put and names changed without a pause: what was seen before is
/// there after, and beyond it only what was under way, in its order.
#[test]
fn a_dozen_kills_at_drawn_moments_lose_nothing_that_was_seen() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut chance = engine::Rng::new(seed::begin("a dozen kills", 20_261_122));
    // Rows so far apart that no five can be made, and colours by turns along each.
    let points: Vec<String> = [1, 4, 7, 10, 13]
        .iter()
        .flat_map(|row| ('A'..='O').map(move |column| format!("{column}{row}")))
        .collect();
    let mut child = Child::new(folder.path());
    child.ask("new");
    let mut there = 0;
    let mut names = 0;
    for kill in 0..12 {
        let rest = &points[there..];
        child.tell(&format!("run {}", rest[..rest.len().min(6)].join(" ")));
        let mut seen = there;
        for _ in 0..=chance.next_u64() % 4 {
            let said = child.hear();
            match said.strip_prefix("Name ") {
                Some(number) => names = number.parse().expect("a number"),
                None if said == "run out" => break,
                None => seen = said.split(' ').count(),
            }
        }
        // Somewhere between two things that are seen.
        std::thread::sleep(Duration::from_micros(chance.next_u64() % 12_000));
        child.kill();
        child = Child::new(folder.path());
        let now = child.ask("resume");
        let stones: Vec<&str> = now.split(' ').collect();
        assert!(stones.len() >= seen, "kill {kill}: {seen} were seen, {} are left", stones.len());
        let mut expected: Vec<&str> = points[..stones.len()].iter().map(String::as_str).collect();
        expected.sort_unstable();
        assert_eq!(stones, expected, "kill {kill}: the stones that were put, in their order");
        let name = child.ask("name");
        let number: usize = name.strip_prefix("Name ").map_or(0, |number| number.parse().expect("a number"));
        assert!(number >= names && number <= stones.len(), "kill {kill}: {name} after {names}");
        there = stones.len();
    }
    child.kill();
}
