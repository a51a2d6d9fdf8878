//! Engines as processes: small shell scripts that do what engines should not.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use engine::{AnyGame, Bot, GameKind, Limits, Report};
use engines::{EngineBot, EngineNews, Fault, Program, Protocol, Sandbox, try_out};

/// Generous: a machine under load is slow.
const PATIENCE: Duration = Duration::from_mins(1);

/// A folder with a script that plays xiangqi by UCI.
struct Script {
    folder: tempfile::TempDir,
}

impl Script {
    /// `at_go`: what it does when it is asked for a move.
    fn new(at_go: &str) -> Self {
        let script = Self { folder: tempfile::tempdir().expect("a folder") };
        let text = format!(
            "#!/bin/sh\nwhile read -r word rest; do case $word in\n\
             uci) echo id name Script; echo uciok;;\nisready) echo readyok;;\n\
             go) {at_go};;\nquit) exit;;\nesac; done\n"
        );
        std::fs::write(script.path(), text).expect("written");
        std::fs::set_permissions(script.path(), std::fs::Permissions::from_mode(0o755)).expect("set");
        script
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("engine")
    }

    fn program(&self) -> Program {
        Program { path: self.path(), arguments: Vec::new() }
    }
}

/// A bot of ours that answers at once.
fn stand_in() -> Box<dyn Bot> {
    engine::bot(GameKind::Xiangqi, engine::Tier::MIN, 1)
}

/// The answer to the first position, and the news. Each thread that ends has ended its process.
fn first_move(program: &Program, with_stand_in: bool) -> (Option<Report>, Vec<EngineNews>) {
    let news = Arc::new(Mutex::new(Vec::new()));
    let told = news.clone();
    let stand_in = with_stand_in.then(|| Box::new(stand_in) as Box<dyn FnOnce() -> Box<dyn Bot> + Send>);
    let tell = move |one| told.lock().expect("unpoisoned").push(one);
    let mut bot = EngineBot::new(program.clone(), Protocol::Uci, Sandbox::None, stand_in, tell);
    let found = ask(&mut bot);
    drop(bot);
    let news = std::mem::take(&mut *news.lock().expect("unpoisoned"));
    (found, news)
}

fn ask(bot: &mut EngineBot) -> Option<Report> {
    let game = AnyGame::new(&GameKind::Xiangqi.default_setup()).expect("a setup");
    let (began, stop) = (Instant::now(), AtomicBool::new(false));
    let elapsed = || began.elapsed();
    let time = Some(Duration::from_millis(1));
    let limits = Limits { time, nodes: None, depth: None, stop: &stop, elapsed: &elapsed };
    bot.set_record(&[]);
    bot.choose(&game, &limits, &mut |_| {})
}

fn failure(news: &[EngineNews]) -> &Fault {
    match news {
        [EngineNews::Failed { fault, for_good: false }] => fault,
        other => panic!("one failure: {other:?}"),
    }
}

/// Waits until the file is there.
fn wait_for(path: &Path) -> String {
    let began = Instant::now();
    loop {
        match std::fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text,
            _ => assert!(began.elapsed() < PATIENCE, "{} was not written", path.display()),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_engine_answers() {
    let (found, news) = first_move(&Script::new("echo bestmove h3e3").program(), false);
    assert_eq!(found.map(|found| found.line[0].to_string()), Some("h3e3".into()));
    assert_eq!(news, []);
}

#[test]
fn whatever_an_engine_does_wrong_a_bot_of_ours_stands_in() {
    type Right = fn(&Fault) -> bool;
    let wrongs: [(&str, Right); 5] = [
        ("exit 3", |fault| *fault == Fault::Ended),
        ("kill -SEGV $$", |fault| *fault == Fault::Ended),
        ("echo bestmove h3h9", |fault| matches!(fault, Fault::Illegal(word) if word == "h3h9")),
        ("while :; do printf xxxxxxxxxxxxxxxx; done", |fault| *fault == Fault::Endless),
        ("while :; do echo info string xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", |fault| {
            // Whichever bound comes first.
            matches!(fault, Fault::Endless | Fault::Silent)
        }),
    ];
    for (wrong, is_right) in wrongs {
        let (found, news) = first_move(&Script::new(wrong).program(), true);
        assert!(found.is_some(), "{wrong}");
        assert!(is_right(failure(&news)), "{wrong}: {news:?}");
    }
    let nowhere = Program { path: "/nowhere/engine".into(), arguments: Vec::new() };
    let (found, news) = first_move(&nowhere, true);
    assert!(found.is_some() && matches!(failure(&news), Fault::NotStarted(_)), "{news:?}");
}

#[test]
fn one_that_hangs_is_killed_with_all_that_it_has_started() {
    let script = Script::new("sleep 100000 & echo $! >child; wait");
    let (found, news) = first_move(&script.program(), true);
    assert!(found.is_some());
    assert_eq!(*failure(&news), Fault::Silent);
    let child = wait_for(&script.folder.path().join("child"));
    let (process, began) = (Path::new("/proc").join(child.trim()), Instant::now());
    // What is left of it is nobody's, or waits for its end to be noticed.
    let is_over = || {
        let stat = std::fs::read_to_string(process.join("stat"));
        stat.map_or(true, |stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X'])))
    };
    while !is_over() {
        assert!(began.elapsed() < PATIENCE, "it goes on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_engine_that_fails_twice_is_not_started_again() {
    let script = Script::new("exit");
    let news = Arc::new(Mutex::new(Vec::new()));
    let told = news.clone();
    let tell = move |one| told.lock().expect("unpoisoned").push(one);
    let stand_in: Box<dyn FnOnce() -> Box<dyn Bot> + Send> = Box::new(stand_in);
    let mut bot = EngineBot::new(script.program(), Protocol::Uci, Sandbox::None, Some(stand_in), tell);
    for _ in 0..4 {
        assert!(ask(&mut bot).is_some(), "the match goes on");
    }
    let news = news.lock().expect("unpoisoned");
    let failed = |for_good| EngineNews::Failed { fault: Fault::Ended, for_good };
    assert_eq!(*news, [failed(false), failed(true)]);
}

#[test]
fn a_search_that_is_stopped_ends_at_once_and_the_engine_stays() {
    // It says how often it was started, and answers only when it is told to stop.
    let script = Script::new(
        "read -r stop; echo $stop >>stops; echo bestmove a4a5; read -r new; read -r position; read -r go; echo bestmove h3e3",
    );
    let mut bot =
        EngineBot::new(script.program(), Protocol::Uci, Sandbox::None, None, |news| panic!("{news:?}"));
    let game = AnyGame::new(&GameKind::Xiangqi.default_setup()).expect("a setup");
    let (began, stop) = (Instant::now(), Arc::new(AtomicBool::new(false)));
    let elapsed = || began.elapsed();
    let limits = Limits { time: Some(PATIENCE), nodes: None, depth: None, stop: &stop, elapsed: &elapsed };
    let stopping = stop.clone();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        stopping.store(true, Ordering::Relaxed);
    });
    let found = bot.choose(&game, &limits, &mut |_| {});
    stopper.join().expect("it stopped");
    assert_eq!(found, None);
    stop.store(false, Ordering::Relaxed);
    let found = bot.choose(&game, &limits, &mut |_| {}).expect("the next answer");
    assert_eq!(found.line[0].to_string(), "h3e3", "the answer to the next question");
}

#[test]
fn an_engine_has_limits_before_its_first_instruction() {
    let script = Script::new("ulimit -d >limits; ulimit -n >>limits; ulimit -c >>limits; echo bestmove h3e3");
    let (found, _) = first_move(&script.program(), false);
    assert!(found.is_some());
    let text = wait_for(&script.folder.path().join("limits"));
    let limits: Vec<u64> = text.lines().map(|line| line.parse().expect("a number")).collect();
    assert!(limits[0] <= 8 << 20, "kilobytes of memory: {text}");
    assert!(limits[1] <= 256 && limits[2] == 0, "{text}");
}

#[test]
fn a_program_is_tried_before_it_is_an_engine() {
    let never = || false;
    let engine = Script::new("echo bestmove h3e3");
    let tried = try_out(&engine.program(), Some(Protocol::Uci), &Sandbox::None, &never).expect("an engine");
    assert_eq!((tried.protocol, tried.name.as_str()), (Protocol::Uci, "Script"));
    assert_eq!(try_out(&engine.program(), None, &Sandbox::None, &never), Ok(tried), "found out");
    let chess = Script::new("echo bestmove e2e4");
    let refused = try_out(&chess.program(), Some(Protocol::Uci), &Sandbox::None, &never);
    assert_eq!(refused, Err(Fault::Illegal("e2e4".into())));
    let none = Program { path: "/bin/true".into(), arguments: Vec::new() };
    assert_eq!(try_out(&none, None, &Sandbox::None, &never), Err(Fault::Ended));
}

#[test]
#[ignore = "make test-engines, which needs bubblewrap"]
fn inside_bubblewrap_there_is_neither_a_home_directory_nor_a_network() {
    let home = tempfile::tempdir().expect("a folder");
    let secret = home.path().join("secret");
    std::fs::write(&secret, "a key").expect("written");
    let sandbox = Sandbox::find(vec![home.path().to_owned()]);
    assert!(sandbox.confines(), "bubblewrap works here");
    let script = Script::new(&format!(
        "if [ -e {} ] || [ -e /etc/passwd ]; then echo bestmove seen; \
         elif [ $(grep -c : /proc/net/dev) != 1 ]; then echo bestmove network; \
         elif touch \"$0.written\" 2>/dev/null; then echo bestmove written; else echo bestmove h3e3; fi",
        secret.display()
    ));
    assert!(try_out(&script.program(), Some(Protocol::Uci), &Sandbox::None, &|| false).is_err(), "it looks");
    let tried = try_out(&script.program(), Some(Protocol::Uci), &sandbox, &|| false);
    assert_eq!(tried.map(|tried| tried.protocol), Ok(Protocol::Uci));
}

#[test]
#[ignore = "make test-engines, which needs bubblewrap"]
fn a_killed_sandbox_takes_everything_with_it() {
    let script = Script::new("sleep 86399; echo bestmove h3e3");
    let sandbox = Sandbox::find(Vec::new());
    assert!(sandbox.confines(), "bubblewrap works here");
    let sleeps = || {
        let processes = Path::new("/proc").read_dir().expect("processes");
        let lines = processes.filter_map(|one| std::fs::read(one.ok()?.path().join("cmdline")).ok());
        lines.filter(|line| line == b"sleep\x0086399\x00").count()
    };
    assert_eq!(try_out(&script.program(), Some(Protocol::Uci), &sandbox, &|| false), Err(Fault::Silent));
    let began = Instant::now();
    while sleeps() > 0 {
        assert!(began.elapsed() < PATIENCE, "it goes on");
        std::thread::sleep(Duration::from_millis(5));
    }
}
