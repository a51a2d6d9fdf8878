//! The Go Text Protocol: commands on standard input, one per line; replies on standard output.
//!
//! Sources: G. Farnebäck, "Specification of the Go Text Protocol, version 2, draft 2" (2002); `kgs-` commands as in the
//! documentation of kgsGtp; `lz-` and `kata-` commands as in the documentation of KataGo's GTP extensions.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{BufRead, Write as _};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

mod begin;
mod clock;
mod thinking;
mod wishes;

use engine::go::{Analysis, Fate, Go, GoBot, GoMove, GoSetup, Handicap, PassWhen, Resigning, Status};
use engine::{Action, Bot, Game, Limits, Point, Side, Tier};

use self::clock::{Allotted, Clock};
use crate::tune;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Playing strength, 1 to 10.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=10))]
    level: u8,
    /// Seed of the playouts.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Use this many playouts per move instead of time, for matches that repeat exactly.
    #[arg(long)]
    playouts: Option<u64>,
    /// Maximum time per move, in milliseconds, even if the clock allows more.
    #[arg(long)]
    time_ms: Option<u64>,
    /// Maximum size of the search tree, in megabytes.
    #[arg(long, default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=65536))]
    memory_mb: u32,
    /// Number of search threads at level 10; with more than one, results do not repeat exactly.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=64))]
    threads: u8,
    /// Ponder: keep searching on the opponent's time. Has no effect with `--playouts`.
    #[arg(long)]
    ponder: bool,
    /// Resign when the winning chance stays below this, in percent, far behind and late in the game; 0 never resigns.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(0..=50))]
    resign: u8,
    /// Pass as soon as the score is decided, leaving dead stones on the board, for scoring that removes them.
    #[arg(long)]
    leave_dead: bool,
    /// Set a search parameter, as NAME=VALUE; may be given several times. See EXPERIMENTS.md.
    #[arg(long)]
    tune: Vec<String>,
}

/// Plays until `quit` or the end of input.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let level = Tier::new(arguments.level).unwrap_or(Tier::MAX);
    let mut bot = GoBot::new(level, arguments.seed)
        .with_memory((arguments.memory_mb as usize) << 20)
        .passing(if arguments.leave_dead { PassWhen::Settled } else { PassWhen::CleanedUp });
    if let Err(why) = tune::set(&mut bot, &arguments.tune) {
        eprintln!("--tune: {why}");
        return ExitCode::from(2);
    }
    bot.set_threads(usize::from(arguments.threads));
    let asked = Arc::new(Asked::default());
    let mut table = Table {
        bot,
        lines: read_lines(Arc::clone(&asked)),
        waiting: VecDeque::new(),
        asked,
        setup: GoSetup::default(),
        start: Go::new(&GoSetup::default()).expect("the default setup is valid"),
        game: Go::new(&GoSetup::default()).expect("the default setup is valid"),
        actions: Vec::new(),
        moves: Vec::new(),
        clock: Clock::new(arguments.time_ms.map(Duration::from_millis), arguments.playouts.is_some()),
        playouts: arguments.playouts,
        resigning: Side::BOTH.map(|_| Resigning::new(f32::from(arguments.resign) / 100.0)),
        // What a fixed number of playouts finds shall not depend on how long the other side thinks.
        ponder: arguments.ponder && arguments.playouts.is_none(),
    };
    while let Some((line, arrived)) = table.next_line() {
        match table.obey(&line, arrived) {
            Next::Line => {}
            Next::Turn => table.think_on(&mut |_, _| {}),
            Next::End => break,
        }
    }
    ExitCode::SUCCESS
}

/// Moves are thought out whatever comes in meanwhile: a script that is piped in gets all its answers.
static NEVER: AtomicBool = AtomicBool::new(false);

/// Whether something has come in: a line, or the end.
#[derive(Default)]
struct Asked {
    flag: AtomicBool,
    /// Held while a line is sent and the flag is set, and while the flag is cleared and the lines are looked through: a line
    /// that is being obeyed must not stop its own analysis.
    both: Mutex<()>,
}

fn lock(asked: &Asked) -> MutexGuard<'_, ()> {
    asked.both.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lines with the moment of their arrival. A thread reads them, so that they are heard while the engine thinks; each sets the
/// flag.
fn read_lines(asked: Arc<Asked>) -> Receiver<(String, Instant)> {
    let (send, lines) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            let _both = lock(&asked);
            if send.send((line, Instant::now())).is_err() {
                break;
            }
            asked.flag.store(true, Ordering::Relaxed);
        }
        let _both = lock(&asked);
        drop(send);
        asked.flag.store(true, Ordering::Relaxed);
    });
    lines
}

#[derive(PartialEq, Eq)]
enum Next {
    Line,
    /// The engine has moved: the opponent's time starts.
    Turn,
    End,
}

/// Playouts for queries of the status of stones.
const STATUS_PLAYOUTS: u64 = 2_000;

struct Table {
    bot: GoBot,
    lines: Receiver<(String, Instant)>,
    /// Lines received but not processed yet.
    waiting: VecDeque<(String, Instant)>,
    /// Whether a line has arrived since an analysis started.
    asked: Arc<Asked>,
    setup: GoSetup,
    /// The position before the first action: an empty board, handicap stones, or a setup from a file.
    start: Go,
    game: Go,
    actions: Vec<Action>,
    /// Number of actions before each requested move, so that undo also removes actions that only changed the turn.
    moves: Vec<usize>,
    clock: Clock,
    playouts: Option<u64>,
    /// By side, because the engine may be asked to move for both.
    resigning: [Resigning; 2],
    /// Whether to search on the opponent's time.
    ponder: bool,
}

/// The reply to a command: text after `=`, or an error.
type Answer = Result<String, String>;

const COMMANDS: [&str; 32] = [
    "boardsize",
    "clear_board",
    "final_score",
    "final_status_list",
    "fixed_handicap",
    "genmove",
    "get_komi",
    "kata-analyze",
    "kata-genmove_analyze",
    "kgs-genmove_cleanup",
    "kgs-time_settings",
    "known_command",
    "komi",
    "list_commands",
    "loadsgf",
    "lz-analyze",
    "lz-genmove_analyze",
    "name",
    "place_free_handicap",
    "play",
    "protocol_version",
    "query_boardsize",
    "quit",
    "reg_genmove",
    "set_free_handicap",
    "showboard",
    "stop",
    "time_left",
    "time_settings",
    "undo",
    "version",
    "winrate",
];

impl Table {
    fn next_line(&mut self) -> Option<(String, Instant)> {
        self.waiting.pop_front().or_else(|| self.lines.recv().ok())
    }

    fn obey(&mut self, line: &str, arrived: Instant) -> Next {
        // Comments, control characters and tabs as in sections 2.6 and 3.1 of the specification.
        let line: String = line
            .split('#')
            .next()
            .unwrap_or_default()
            .chars()
            .filter_map(|c| if c == '\t' { Some(' ') } else { Some(c).filter(|c| !c.is_control()) })
            .collect();
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let Some(&first) = words.first() else { return Next::Line };
        let id = if first.bytes().all(|byte| byte.is_ascii_digit()) { words.remove(0) } else { "" };
        let Some((&command, rest)) = words.split_first() else { return Next::Line };
        match command {
            "lz-analyze" | "kata-analyze" => self.analyse(id, command, rest),
            "lz-genmove_analyze" | "kata-genmove_analyze" => self.genmove_analyse(id, command, rest, arrived),
            _ => {
                let answer = self.answer(command, rest, arrived);
                say(&match answer {
                    Ok(text) => format!("={id} {text}\n"),
                    Err(why) => format!("?{id} {why}\n"),
                });
            }
        }
        match command {
            "quit" => Next::End,
            "genmove" | "lz-genmove_analyze" | "kata-genmove_analyze" if self.ponder => Next::Turn,
            _ => Next::Line,
        }
    }

    fn answer(&mut self, command: &str, words: &[&str], arrived: Instant) -> Answer {
        match command {
            "protocol_version" => Ok("2".into()),
            "name" => Ok("Qiyou".into()),
            "version" => Ok(env!("CARGO_PKG_VERSION").into()),
            "known_command" => Ok(words.first().is_some_and(|word| COMMANDS.contains(word)).to_string()),
            "list_commands" => Ok(COMMANDS.join("\n")),
            "quit" | "stop" => Ok(String::new()),
            "boardsize" => self.board_size(words),
            "query_boardsize" => Ok(self.setup.size.to_string()),
            "clear_board" => {
                let setup = GoSetup { handicap: Handicap::None, ..self.setup.clone() };
                self.start(setup)
            }
            "komi" => self.komi(words),
            "get_komi" => Ok(format!("{}", f32::from(self.setup.komi_half_points) / 2.0)),
            "play" => self.play(words),
            "genmove" => self.genmove(words, arrived, true),
            "reg_genmove" => self.genmove(words, arrived, false),
            "kgs-genmove_cleanup" => {
                let resigning =
                    std::mem::replace(&mut self.resigning, Side::BOTH.map(|_| Resigning::new(0.0)));
                let answer = self.genmove(words, arrived, true);
                self.resigning = resigning;
                answer
            }
            "undo" => self.undo(),
            "fixed_handicap" => self.fixed_handicap(words),
            "place_free_handicap" => self.place_free_handicap(words),
            "set_free_handicap" => self.set_free_handicap(words),
            "time_settings" => self.clock.time_settings(words).map(|()| String::new()),
            "kgs-time_settings" => self.clock.kgs_time_settings(words).map(|()| String::new()),
            "time_left" => self.clock.time_left(words).map(|()| String::new()),
            "final_score" => Ok(score_words(self.status().margin)),
            "final_status_list" => self.final_status_list(words),
            "showboard" => Ok(self.show()),
            "winrate" => self.winrate(),
            "loadsgf" => self.load_sgf(words),
            _ => Err("unknown command".into()),
        }
    }

    fn start(&mut self, setup: GoSetup) -> Answer {
        self.start = Go::new(&setup).map_err(|error| error.to_string())?;
        self.begin(setup);
        Ok(String::new())
    }

    fn begin(&mut self, setup: GoSetup) {
        self.game = self.start.clone();
        self.setup = setup;
        self.actions.clear();
        self.moves.clear();
        self.resigning.iter_mut().for_each(Resigning::forget);
        self.clock.begin();
    }

    fn replay(&mut self) -> Answer {
        let mut game = self.start.clone();
        for &action in &self.actions {
            game.play_without_superko(action).map_err(|refusal| refusal.to_string())?;
        }
        self.game = game;
        Ok(String::new())
    }

    /// Superko is not enforced on moves of the other program, because many programs, such as GNU Go, play without it. The
    /// engine's own moves respect it.
    fn act(&mut self, action: Action) -> Result<(), String> {
        self.game.play_without_superko(action).map_err(|refusal| format!("illegal move: {refusal}"))?;
        self.actions.push(action);
        Ok(())
    }

    /// Gives the turn to a side: the protocol allows a side to move twice in a row, and play after two passes.
    fn give_turn(&mut self, side: Side) -> Result<(), String> {
        if matches!(self.game.legal_move(Action::Agree), Ok(GoMove::Agree)) {
            if self.game.turn() == side {
                self.act(Action::Agree)?;
            }
            self.act(Action::Resume)?;
        }
        if self.game.turn() != side {
            self.act(Action::Pass)?;
            // Two passes, if the other side has just passed.
            if self.game.turn() != side || self.game.legal_move(Action::Agree).is_ok() {
                return self.give_turn(side);
            }
        }
        Ok(())
    }

    fn play(&mut self, words: &[&str]) -> Answer {
        let &[colour, vertex] = words else { return Err("syntax error".into()) };
        let side = parse_side(colour)?;
        if vertex.eq_ignore_ascii_case("resign") {
            return Ok(String::new());
        }
        let before = self.actions.len();
        let Some(action @ (Action::Place(_) | Action::Pass)) = self.game.parse(vertex) else {
            return Err("syntax error".into());
        };
        let played = self.give_turn(side).and_then(|()| self.act(action));
        if let Err(why) = played {
            self.actions.truncate(before);
            self.replay()?;
            return Err(why);
        }
        self.moves.push(before);
        Ok(String::new())
    }

    fn undo(&mut self) -> Answer {
        let before = self.moves.pop().ok_or("cannot undo")?;
        self.actions.truncate(before);
        self.replay()
    }

    fn genmove(&mut self, words: &[&str], arrived: Instant, plays: bool) -> Answer {
        let side = parse_side(words.first().copied().unwrap_or_default())?;
        let before = self.actions.len();
        self.give_turn(side)?;
        let chosen = self.choose(side, arrived, &mut |_, _| {});
        if chosen == Chosen::Resign || !plays {
            self.actions.truncate(before);
            self.replay()?;
        }
        match chosen {
            Chosen::Resign => Ok("resign".into()),
            Chosen::Move(action) => {
                if plays {
                    self.act(action)?;
                    self.moves.push(before);
                }
                Ok(self.game.notation(action))
            }
        }
    }

    fn choose(&mut self, side: Side, arrived: Instant, tell: Tell<'_>) -> Chosen {
        let Allotted { most, usual } = self.allotted(side);
        let elapsed = move || arrived.elapsed();
        let limits =
            Limits { time: most, nodes: self.playouts, depth: None, stop: &NEVER, elapsed: &elapsed };
        let game = &self.game;
        self.bot.set_usual_time(usual);
        // Unused time per move is lost, while a clock keeps it.
        self.bot.set_ends_early(most.is_none() || usual.is_some());
        let found = self.bot.decide_with(game, &limits, &mut |analysis| tell(game, analysis));
        let Some(found) = found else { return Chosen::Move(Action::Pass) };
        if self.resigning[side.index()].sees(game, &found) {
            return Chosen::Resign;
        }
        Chosen::Move(found.line[0])
    }

    /// The time for the next move of this side.
    fn allotted(&self, side: Side) -> Allotted {
        self.clock.allotted(side, self.game.ply(), u32::from(self.setup.size).pow(2))
    }

    fn points(&self) -> impl Iterator<Item = Point> + use<> {
        let size = u16::from(self.setup.size);
        (0..size).flat_map(move |row| (0..size).map(move |column| Point::new(column, row)))
    }

    fn status(&mut self) -> Status {
        let elapsed = || Duration::ZERO;
        let limits =
            Limits { time: None, nodes: Some(STATUS_PLAYOUTS), depth: None, stop: &NEVER, elapsed: &elapsed };
        self.bot.status(&self.game, &limits)
    }

    fn final_status_list(&mut self, words: &[&str]) -> Answer {
        let wanted = match words {
            ["dead"] => Fate::Dead,
            ["alive"] => Fate::Alive,
            ["seki"] => Fate::Seki,
            _ => return Err("expected alive, dead or seki".into()),
        };
        let status = self.status();
        let name = |&point: &Point| self.game.notation(Action::Place(point));
        let chains = status.chains.iter().filter(|chain| chain.fate == wanted);
        let lines: Vec<String> =
            chains.map(|chain| chain.stones.iter().map(name).collect::<Vec<_>>().join(" ")).collect();
        Ok(lines.join("\n"))
    }

    fn winrate(&mut self) -> Answer {
        let elapsed = || Duration::ZERO;
        let nodes = Some(self.playouts.unwrap_or(STATUS_PLAYOUTS));
        let limits = Limits { time: None, nodes, depth: None, stop: &NEVER, elapsed: &elapsed };
        let found = self.bot.analyse(&self.game, &limits, &mut |_| {}).ok_or("the game is over")?;
        Ok(format!("{:.3} {:+.1}", found.chance, found.lead))
    }

    fn show(&self) -> String {
        const COLUMNS: &str = "ABCDEFGHJKLMNOPQRSTUVWXYZ";
        let size = u16::from(self.setup.size);
        let letters: Vec<String> =
            COLUMNS.chars().take(size.into()).map(|letter| letter.to_string()).collect();
        let letters = format!("   {}", letters.join(" "));
        let mut text = format!("\n{letters}\n");
        for row in (0..size).rev() {
            let cells = (0..size).map(|column| match self.game.at(Point::new(column, row)) {
                Some(Side::First) => "X",
                Some(Side::Second) => "O",
                None => ".",
            });
            let cells: Vec<&str> = cells.collect();
            let _ = writeln!(text, "{:2} {} {}", row + 1, cells.join(" "), row + 1);
        }
        let taken = |side| self.game.prisoners(side);
        let turn = if self.game.turn() == Side::First { "black" } else { "white" };
        let _ = write!(
            text,
            "{letters}\n{turn} to move, captured by black {}, by white {}",
            taken(Side::First),
            taken(Side::Second)
        );
        text
    }
}

/// A callback for intermediate results.
type Tell<'a> = &'a mut dyn FnMut(&Go, &Analysis);

#[derive(PartialEq, Eq)]
enum Chosen {
    Move(Action),
    Resign,
}

fn parse<T: std::str::FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| "syntax error".into())
}

fn number<T: std::str::FromStr>(words: &[&str]) -> Result<T, String> {
    parse(words.first().copied().unwrap_or_default())
}

fn seconds(word: &str) -> Result<Duration, String> {
    /// A day: longer times are treated as this, so that products stay in range.
    const MOST: f64 = 86_400.0;
    let seconds: f64 = parse(word)?;
    if seconds.is_finite() {
        Ok(Duration::from_secs_f64(seconds.clamp(0.0, MOST)))
    } else {
        Err("syntax error".into())
    }
}

fn parse_side(word: &str) -> Result<Side, String> {
    match word.to_ascii_lowercase().as_str() {
        "b" | "black" => Ok(Side::First),
        "w" | "white" => Ok(Side::Second),
        _ => Err("syntax error".into()),
    }
}

fn score_words(margin: f32) -> String {
    if margin > 0.0 {
        format!("B+{margin}")
    } else if margin < 0.0 {
        format!("W+{}", -margin)
    } else {
        "0".into()
    }
}

/// Prints lines. Errors are ignored, because then the other program is gone.
fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}
