//! UCI for xiangqi, with a reader thread that receives `stop` during a search.
//!
//! Sources: "Description of the universal chess interface" (Huber, Meyer-Kahlen 2006); squares as in Fairy-Stockfish's
//! `UCI_Variant xiangqi`, files a to i and ranks 1 to 10 from Red's side. `ucci` is the same program with the other
//! protocol, where ranks are 0 to 9.

use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use engine::search::Finding;
use engine::xiangqi::{Xiangqi, XiangqiBot, XiangqiMove, XiangqiSetup};
use engine::{Action, Bot, Game, Limits, Point, Score, Side, Tier};

use crate::timer::Stalls;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Playing strength, 1 to 10.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=10))]
    level: u8,
    /// Seed of the deliberate mistakes of lower levels.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The protocol.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Uci,
    Ucci,
}

/// Runs until `quit` or the end of input.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    speak(Dialect::Uci, arguments)
}

pub(crate) fn speak(dialect: Dialect, arguments: &Arguments) -> ExitCode {
    let ear = Arc::new(Ear::default());
    let lines = listen(Arc::clone(&ear));
    let mut player = Player::new(dialect, arguments, ear);
    for (line, arrived) in &lines {
        if line == "quit" {
            break;
        }
        player.obey(&line, arrived);
    }
    if dialect == Dialect::Ucci {
        say("bye");
    }
    ExitCode::SUCCESS
}

/// State shared with the reader thread.
#[derive(Default)]
struct Ear {
    stop: AtomicBool,
    thinking: AtomicBool,
    /// Whether the search is a ponder search; cleared by `ponderhit`.
    pondering: AtomicBool,
    /// Time of `ponderhit`.
    hit: Mutex<Option<Instant>>,
}

impl Ear {
    fn hit(&self) -> Option<Instant> {
        *self.hit.lock().expect("nobody panics with the lock held")
    }
}

/// Reads lines with their time of arrival on a thread. Commands that concern a running search take effect at once.
fn listen(ear: Arc<Ear>) -> Receiver<(String, Instant)> {
    let (send, lines) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            let (line, now) = (line.trim().to_owned(), Instant::now());
            match line.split_whitespace().next() {
                Some("stop" | "quit") => ear.stop.store(true, Ordering::SeqCst),
                Some("go") => {
                    // Done here and not at the start of the search; otherwise a `stop` right after `go` could be lost.
                    *ear.hit.lock().expect("nobody panics with the lock held") = None;
                    let ponder = line.split_whitespace().any(|word| word == "ponder");
                    ear.pondering.store(ponder, Ordering::SeqCst);
                    ear.stop.store(false, Ordering::SeqCst);
                    ear.thinking.store(true, Ordering::SeqCst);
                }
                Some("ponderhit") => {
                    *ear.hit.lock().expect("nobody panics with the lock held") = Some(now);
                    ear.pondering.store(false, Ordering::SeqCst);
                    continue;
                }
                Some("isready") if ear.thinking.load(Ordering::SeqCst) => {
                    say("readyok");
                    continue;
                }
                _ => {}
            }
            let quit = line == "quit";
            if send.send((line, now)).is_err() || quit {
                return;
            }
        }
        // The other program is gone: stops the search.
        ear.stop.store(true, Ordering::SeqCst);
    });
    lines
}

/// Reserve per move for the latency of pipes.
const OVERHEAD: Duration = Duration::from_millis(5);
/// Expected number of further own moves, among which the remaining time is divided.
const MOVES_TO_GO: u32 = 28;
const TABLE_MB: usize = 64;
const TABLE_MB_MAX: usize = 1024;
const THREADS_MAX: usize = 64;
const LINES_MAX: usize = 20;

struct Player {
    dialect: Dialect,
    arguments: (Tier, u64),
    ear: Arc<Ear>,
    bot: XiangqiBot,
    game: Xiangqi,
    lines: usize,
    threads: usize,
    overhead: Duration,
    stalls: Stalls,
    /// UCCI clocks are in seconds by default.
    milliseconds: bool,
    /// UCCI: forbidden moves.
    banned: Vec<XiangqiMove>,
    /// The last `position` was invalid: `game` is not the position that the other program means.
    refused: bool,
}

/// The parameters of `go`.
#[derive(Default)]
struct Go {
    depth: Option<u32>,
    nodes: Option<u64>,
    time: Option<Duration>,
    /// Own remaining time and increment.
    clock: Option<(Duration, Duration)>,
    moves_left: Option<u32>,
    /// Do not reply before `stop`.
    infinite: bool,
    among: Vec<XiangqiMove>,
}

impl Player {
    fn new(dialect: Dialect, arguments: &Arguments, ear: Arc<Ear>) -> Self {
        let level = Tier::new(arguments.level).unwrap_or(Tier::MAX);
        Self {
            dialect,
            arguments: (level, arguments.seed),
            ear,
            bot: XiangqiBot::with_table(level, arguments.seed, Some(TABLE_MB << 20)),
            game: Xiangqi::new(&XiangqiSetup::default()).expect("the default setup is valid"),
            lines: 1,
            threads: 1,
            overhead: OVERHEAD,
            stalls: Stalls::default(),
            milliseconds: false,
            banned: Vec::new(),
            refused: false,
        }
    }

    fn obey(&mut self, line: &str, arrived: Instant) {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match (word, self.dialect) {
            ("uci", Dialect::Uci) => self.greet("uciok"),
            ("ucci", Dialect::Ucci) => self.greet("ucciok"),
            ("isready", _) => {
                self.bot.prepare();
                say("readyok");
            }
            ("ucinewgame" | "uccinewgame", _) => self.bot.forget(),
            ("setoption", _) => self.set(rest),
            ("position", _) => self.position(rest),
            ("banmoves", Dialect::Ucci) => {
                self.banned = rest.split_whitespace().filter_map(|word| self.legal(word)).collect();
            }
            ("go", _) => {
                self.go(rest, arrived);
                self.ear.thinking.store(false, Ordering::SeqCst);
            }
            ("d", Dialect::Uci) => say(&self.game.position()),
            _ => {}
        }
    }

    fn greet(&self, end: &str) {
        let version = env!("CARGO_PKG_VERSION");
        match self.dialect {
            Dialect::Uci => {
                say(&format!("id name Qiyou {version}"));
                say("id author The Qiyou authors");
                say(&format!("option name Hash type spin default {TABLE_MB} min 1 max {TABLE_MB_MAX}"));
                say(&format!("option name Threads type spin default 1 min 1 max {THREADS_MAX}"));
                say(&format!("option name MultiPV type spin default 1 min 1 max {LINES_MAX}"));
                say("option name Ponder type check default false");
                say(&format!(
                    "option name Move Overhead type spin default {} min 0 max 5000",
                    OVERHEAD.as_millis()
                ));
                say("option name UCI_Variant type combo default xiangqi var xiangqi");
                say("option name Clear Hash type button");
            }
            Dialect::Ucci => {
                say(&format!("id name Qiyou {version}"));
                say("id author The Qiyou authors");
                say("option usemillisec type check default false");
                say(&format!("option hashsize type spin min 1 max {TABLE_MB_MAX} default {TABLE_MB}"));
                say("option ponder type check default false");
                say("option newgame type button");
            }
        }
        say(end);
    }

    /// `setoption name N value V` in UCI, `setoption N V` in UCCI.
    fn set(&mut self, rest: &str) {
        let (name, value) = match self.dialect {
            Dialect::Uci => {
                let rest = rest.trim_start().strip_prefix("name").unwrap_or(rest).trim();
                rest.split_once(" value ").unwrap_or((rest, ""))
            }
            Dialect::Ucci => rest.trim().split_once(' ').unwrap_or((rest.trim(), "")),
        };
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
        let number = value.parse::<usize>();
        match (name.as_str(), number) {
            ("hash" | "hashsize", Ok(megabytes)) => {
                let bytes = megabytes.clamp(1, TABLE_MB_MAX) << 20;
                self.bot = XiangqiBot::with_table(self.arguments.0, self.arguments.1, Some(bytes));
                self.bot.set_threads(self.threads);
            }
            ("threads", Ok(threads)) => {
                self.threads = threads.clamp(1, THREADS_MAX);
                self.bot.set_threads(self.threads);
            }
            ("multipv", Ok(lines)) => self.lines = lines.clamp(1, LINES_MAX),
            ("move overhead", Ok(ms)) => self.overhead = Duration::from_millis(ms.min(5_000) as u64),
            ("clear hash" | "newgame", _) => self.bot.forget(),
            ("usemillisec", _) => self.milliseconds = matches!(value, "true" | "on"),
            _ => {}
        }
    }

    /// `startpos` or `fen …`, then `moves …`, which may go on beyond a draw by our rules. An invalid command prints a message;
    /// until the next valid one, `go` answers that there is no move.
    fn position(&mut self, rest: &str) {
        let (start, moves) = match rest.split_once("moves") {
            Some((start, moves)) => (start.trim(), moves),
            None => (rest.trim(), ""),
        };
        let setup = XiangqiSetup::default();
        let game = match start.strip_prefix("fen") {
            Some(fen) => Xiangqi::from_position(&setup, fen.trim()).map_err(|error| error.to_string()),
            None if start == "startpos" => Xiangqi::new(&setup).map_err(|error| error.to_string()),
            None => Err("expected startpos or fen".into()),
        };
        self.banned.clear();
        self.refused = true;
        match game {
            Ok(game) => self.game = game,
            Err(why) => return say(&format!("info string {why}")),
        }
        for word in moves.split_whitespace() {
            // The other program's rules may not have this draw.
            self.game.play_on();
            let Some(mv) = self.legal(word) else {
                return say(&format!("info string {word} is not legal here"));
            };
            self.game.play(mv);
        }
        self.game.play_on();
        self.refused = false;
    }

    fn legal(&self, word: &str) -> Option<XiangqiMove> {
        let action = match self.dialect {
            Dialect::Ucci => self.game.parse(word)?,
            Dialect::Uci => read_step(word)?,
        };
        self.game.legal_move(action).ok()
    }

    fn write(&self, mv: XiangqiMove) -> String {
        match self.dialect {
            Dialect::Ucci => self.game.notation(Xiangqi::action(mv)),
            Dialect::Uci => Xiangqi::action(mv).to_string(),
        }
    }

    fn read_go(&self, rest: &str) -> Go {
        let mut go = Go::default();
        let mut words = rest.split_whitespace().peekable();
        let unit = |count: u64| match self.dialect {
            Dialect::Ucci if !self.milliseconds => Duration::from_secs(count),
            _ => Duration::from_millis(count),
        };
        let red = self.game.turn() == Side::First;
        let (mut left, mut bonus) = (None, Duration::ZERO);
        while let Some(word) = words.next() {
            if word == "searchmoves" {
                while let Some(mv) = words.peek().and_then(|word| self.legal(word)) {
                    go.among.push(mv);
                    words.next();
                }
                continue;
            }
            if word == "infinite" || (word == "depth" && words.peek() == Some(&"infinite")) {
                go.infinite = true;
                continue;
            }
            let Some(number) = words.peek().and_then(|word| word.parse::<i64>().ok()) else { continue };
            // A clock may be negative.
            let number = number.max(0) as u64;
            match word {
                "depth" => go.depth = Some(number as u32),
                "nodes" => go.nodes = Some(number),
                "movetime" => go.time = Some(Duration::from_millis(number)),
                "wtime" if red => left = Some(Duration::from_millis(number)),
                "btime" if !red => left = Some(Duration::from_millis(number)),
                "winc" if red => bonus = Duration::from_millis(number),
                "binc" if !red => bonus = Duration::from_millis(number),
                "time" => left = Some(unit(number)),
                "increment" => bonus = unit(number),
                "movestogo" => go.moves_left = Some(number as u32),
                _ => {}
            }
        }
        go.clock = left.map(|left| (left, bonus));
        go
    }

    /// Time for this move; `None` without a limit.
    fn time(&self, go: &Go) -> Option<Duration> {
        let own = |time: Duration| time.saturating_sub(self.overhead + self.stalls.reserve(time));
        let time = go.time.map(own).or_else(|| {
            let (left, bonus) = go.clock?;
            let left = left.saturating_sub(self.overhead);
            let moves = go.moves_left.map_or(MOVES_TO_GO, |moves| moves.clamp(1, MOVES_TO_GO));
            // At most a third of the remaining time, whatever the increment, unless it is the last move before more time.
            Some((left / moves + bonus * 3 / 4).min(if moves == 1 { left * 9 / 10 } else { left / 3 }))
        })?;
        Some(time.max(Duration::from_millis(1)))
    }

    fn go(&mut self, rest: &str, arrived: Instant) {
        let go = self.read_go(rest);
        let time = self.time(&go);
        let ear = Arc::clone(&self.ear);
        let mut stalls = std::mem::take(&mut self.stalls);
        stalls.begin(arrived.elapsed());
        let elapsed = || {
            stalls.look(arrived.elapsed());
            match (ear.pondering.load(Ordering::SeqCst), ear.hit()) {
                (true, _) => Duration::ZERO,
                (false, Some(hit)) => hit.elapsed(),
                (false, None) => arrived.elapsed(),
            }
        };
        let limits = Limits { time, nodes: go.nodes, depth: go.depth, stop: &ear.stop, elapsed: &elapsed };
        let banned = std::mem::take(&mut self.banned);
        let allowed =
            |mv: XiangqiMove| (go.among.is_empty() || go.among.contains(&mv)) && !banned.contains(&mv);
        let found = if self.refused {
            // A move for another position could be illegal.
            None
        } else if self.lines > 1 {
            self.several(&allowed, &limits, arrived)
        } else {
            let (game, dialect) = (self.game.clone(), self.dialect);
            self.bot.think(&game, &allowed, &limits, &mut |finding| {
                say(&info(dialect, &game, finding, None, arrived));
            })
        };
        stalls.end();
        self.stalls = stalls;
        // A reply to `infinite` or `ponder` that comes too early would be taken for the reply to a later command.
        while (go.infinite || self.ear.pondering.load(Ordering::SeqCst))
            && !self.ear.stop.load(Ordering::SeqCst)
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        let Some(found) = found else {
            say(if self.dialect == Dialect::Uci { "bestmove (none)" } else { "nobestmove" });
            return;
        };
        let best = self.write(found.line[0]);
        match found.line.get(1) {
            Some(&answer) => say(&format!("bestmove {best} ponder {}", self.write(answer))),
            None => say(&format!("bestmove {best}")),
        }
    }

    /// MultiPV: each variation is searched without the first moves of the earlier ones.
    fn several(
        &mut self,
        allowed: &dyn Fn(XiangqiMove) -> bool,
        limits: &Limits<'_>,
        arrived: Instant,
    ) -> Option<Finding<XiangqiMove>> {
        let mut legal = Vec::new();
        self.game.legal_moves(&mut legal);
        let wanted = self.lines.min(legal.into_iter().filter(|&mv| allowed(mv)).count());
        let mut best: Option<Finding<XiangqiMove>> = None;
        let mut nodes = 0;
        for depth in 1..=limits.depth.unwrap_or(60).min(60) {
            let mut found: Vec<Finding<XiangqiMove>> = Vec::new();
            for _ in 0..wanted {
                let left = limits.nodes.map(|all| all.saturating_sub(nodes));
                let limits = Limits { nodes: left, depth: Some(depth), ..*limits };
                let among = |mv| allowed(mv) && found.iter().all(|earlier| earlier.line[0] != mv);
                let Some(finding) = self.bot.think(&self.game, &among, &limits, &mut |_| {}) else { break };
                nodes += finding.nodes;
                found.push(finding);
            }
            let over = limits.stop.load(Ordering::SeqCst)
                || limits.time.is_some_and(|time| (limits.elapsed)() >= time)
                || limits.nodes.is_some_and(|all| nodes >= all);
            if over && best.is_some() {
                break;
            }
            found.sort_by_key(|finding| -finding.value);
            for (n, finding) in found.iter().enumerate() {
                let finding = Finding { nodes, ..finding.clone() };
                say(&info(self.dialect, &self.game, &finding, Some(n + 1), arrived));
            }
            best = found.into_iter().next();
            if over || best.is_none() {
                break;
            }
        }
        best
    }
}

/// An `info` line with the present result.
fn info(
    dialect: Dialect,
    game: &Xiangqi,
    finding: &Finding<XiangqiMove>,
    line: Option<usize>,
    since: Instant,
) -> String {
    let spent = since.elapsed();
    let moves: Vec<String> = finding
        .line
        .iter()
        .map(|&mv| match dialect {
            Dialect::Ucci => game.notation(Xiangqi::action(mv)),
            Dialect::Uci => Xiangqi::action(mv).to_string(),
        })
        .collect();
    let moves = moves.join(" ");
    let ms = spent.as_millis();
    if dialect == Dialect::Ucci {
        let points = match XiangqiBot::score(finding) {
            Score::Points(points) | Score::Chance { points, .. } => points,
            // UCCI has no mate scores; boards interpret scores near 10,000 as mates.
            Score::WinIn(plies) => 10_000 - plies as i32,
            Score::LossIn(plies) => plies as i32 - 10_000,
        };
        return format!(
            "info depth {} score {points} time {ms} nodes {} pv {moves}",
            finding.depth, finding.nodes
        );
    }
    let score = match XiangqiBot::score(finding) {
        Score::Points(points) | Score::Chance { points, .. } => format!("cp {points}"),
        Score::WinIn(plies) => format!("mate {}", plies.div_ceil(2)),
        Score::LossIn(plies) => format!("mate -{}", plies.div_ceil(2)),
    };
    let rate = finding.nodes as f64 / spent.as_secs_f64().max(0.001);
    format!(
        "info depth {} multipv {} score {score} nodes {} nps {rate:.0} time {ms} pv {moves}",
        finding.depth,
        line.unwrap_or(1),
        finding.nodes
    )
}

/// Parses `h3e3` or `b10c8`: two points, the second from its letter on.
fn read_step(word: &str) -> Option<Action> {
    let letter = word.char_indices().skip(1).find(|(_, c)| c.is_ascii_alphabetic())?.0;
    let (from, to) = word.split_at(letter);
    Some(Action::Step { from: from.parse::<Point>().ok()?, to: to.parse::<Point>().ok()? })
}

/// Prints a line. Errors are ignored, because then the other program is gone.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
