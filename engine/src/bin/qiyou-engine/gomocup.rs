//! The Gomocup protocol: commands on standard input, one per line; replies on standard output.
//!
//! Source: "Gomoku AI Protocol", plastovicka.github.io/protocl2en.htm. Columns and rows count from 0; rows are counted from
//! the top, unlike ours, which makes no difference in gomoku.

use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use engine::gomoku::GomokuBot;
use engine::{
    Action, AnyGame, Bot, Choice, GomokuOpening, GomokuRule, GomokuSetup, Limits, Point, Report, Score,
    Setup, Tier,
};

use crate::timer::Stalls;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Playing strength, 1 to 10.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=10))]
    level: u8,
    /// Seed of the choice among equal moves.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Search this many positions per move instead of using time, for matches that repeat exactly.
    #[arg(long)]
    nodes: Option<u64>,
}

/// Runs until END or the end of input.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let stop = Arc::new(AtomicBool::new(false));
    let lines = read_lines(Arc::clone(&stop));
    let mut brain = Brain::new(Tier::new(arguments.level).unwrap_or(Tier::MAX), arguments, stop);
    for (line, arrived) in &lines {
        if brain.obey(line.trim(), arrived, &lines) == Next::End {
            break;
        }
    }
    ExitCode::SUCCESS
}

/// Reads lines with their time of arrival on a thread, so that END is received during a search.
fn read_lines(stop: Arc<AtomicBool>) -> Receiver<(String, Instant)> {
    let (send, lines) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            let end = line.trim().eq_ignore_ascii_case("END");
            if end {
                stop.store(true, Ordering::Relaxed);
            }
            if send.send((line, Instant::now())).is_err() || end {
                break;
            }
        }
    });
    lines
}

#[derive(PartialEq, Eq)]
enum Next {
    Line,
    End,
}

/// Time settings by INFO, in milliseconds.
struct Pace {
    /// Per move; 0: as fast as possible.
    turn: Option<Duration>,
    /// For the match; `None`: unlimited.
    whole: Option<Duration>,
    left: Option<Duration>,
}

/// Reserve per move for the latency of pipes and of the other program.
const RESERVE: Duration = Duration::from_millis(5);
/// Without any INFO: the protocol's default.
const DEFAULT_TURN: Duration = Duration::from_secs(30);
/// Expected number of further own moves, among which the remaining time is divided.
const MOVES_TO_GO: u32 = 20;
/// Before START, and after a BOARD that was refused.
const NO_POSITION: &str = "no position: START, RESTART or BOARD first";
/// Part of `max_memory` that is not for the transposition table: program, stacks, pattern tables.
const BESIDE_TABLE: usize = 16 << 20;

struct Brain {
    level: Tier,
    seed: u64,
    nodes: Option<u64>,
    stop: Arc<AtomicBool>,
    bot: GomokuBot,
    setup: GomokuSetup,
    /// INFO rule has requested rules that this engine does not support.
    unknown_rule: bool,
    pace: Pace,
    stalls: Stalls,
    game: Option<AnyGame>,
    /// The actions so far, for TAKEBACK.
    actions: Vec<Action>,
}

impl Brain {
    fn new(level: Tier, &Arguments { seed, nodes, .. }: &Arguments, stop: Arc<AtomicBool>) -> Self {
        Self {
            level,
            seed,
            nodes,
            stop,
            bot: GomokuBot::new(level, seed),
            setup: GomokuSetup::default(),
            unknown_rule: false,
            pace: Pace { turn: Some(DEFAULT_TURN), whole: None, left: None },
            stalls: Stalls::default(),
            game: None,
            actions: Vec::new(),
        }
    }

    fn obey(&mut self, line: &str, arrived: Instant, more: &Receiver<(String, Instant)>) -> Next {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match word.to_ascii_uppercase().as_str() {
            "" => {}
            "START" => self.start(rest.trim()),
            "RECTSTART" => match rest.split_once(',') {
                Some((width, height)) if width.trim() == height.trim() => self.start(width.trim()),
                _ => say("ERROR only square boards"),
            },
            "RESTART" => {
                self.restart();
                say("OK");
            }
            "BEGIN" => self.think(arrived),
            "TURN" => match self.play(rest) {
                Ok(()) => self.think(arrived),
                Err(why) => say(&format!("ERROR {why}")),
            },
            "BOARD" => self.board(more),
            "SWAP2BOARD" => self.swap2_board(more),
            "TAKEBACK" => match self.take_back(rest) {
                Ok(()) => say("OK"),
                Err(why) => say(&format!("ERROR {why}")),
            },
            "INFO" => self.info(rest),
            "ABOUT" => say(&format!(
                "name=\"Qiyou\", version=\"{}\", author=\"The Qiyou authors\", country=\"CN\"",
                env!("CARGO_PKG_VERSION")
            )),
            "END" => return Next::End,
            _ => say("UNKNOWN command"),
        }
        Next::Line
    }

    fn start(&mut self, size: &str) {
        match size.parse().map(|size| GomokuSetup { size, ..self.setup.clone() }) {
            Ok(setup) if AnyGame::new(&Setup::Gomoku(setup.clone())).is_ok() => {
                self.setup = setup;
                self.bot.prepare(self.setup.rule);
                self.restart();
                say("OK");
            }
            _ => say("ERROR unsupported size"),
        }
    }

    fn restart(&mut self) {
        self.actions.clear();
        self.game = AnyGame::new(&Setup::Gomoku(self.setup.clone())).ok();
    }

    /// Plays a move of the protocol, `x,y`.
    fn play(&mut self, text: &str) -> Result<(), String> {
        let point = parse_point(text).ok_or("expected X,Y")?;
        let game = self.game.as_mut().ok_or(NO_POSITION)?;
        let action = Action::Place(point);
        game.act(action).map_err(|refusal| refusal.to_string())?;
        self.actions.push(action);
        Ok(())
    }

    fn take_back(&mut self, text: &str) -> Result<(), String> {
        let point = parse_point(text).ok_or("expected X,Y")?;
        if self.actions.last() != Some(&Action::Place(point)) {
            return Err("not the last move".into());
        }
        self.actions.pop();
        self.replay()
    }

    fn replay(&mut self) -> Result<(), String> {
        let mut game = AnyGame::new(&Setup::Gomoku(self.setup.clone())).map_err(|error| error.to_string())?;
        for &action in &self.actions {
            game.act(action).map_err(|refusal| refusal.to_string())?;
        }
        self.game = Some(game);
        Ok(())
    }

    /// BOARD: lines `x,y,field` until DONE, in any order; field 1 for our stones, 2 for the opponent's. Then searches. After a
    /// board that cannot be there is no position.
    fn board(&mut self, more: &Receiver<(String, Instant)>) {
        let (mut own, mut theirs) = (Vec::new(), Vec::new());
        let mut wrong = false;
        let arrived = loop {
            let Ok((line, arrived)) = more.recv() else { return };
            let line = line.trim();
            if line.eq_ignore_ascii_case("DONE") {
                break arrived;
            }
            match line.rsplit_once(',').map(|(point, field)| (parse_point(point), field.trim())) {
                Some((Some(point), "1")) => own.push(Action::Place(point)),
                Some((Some(point), "2")) => theirs.push(Action::Place(point)),
                _ => wrong = true,
            }
        };
        // It is our turn: with equal numbers of stones we have moved first.
        let (first, second) = match (theirs.len().checked_sub(own.len()), wrong) {
            (Some(0), false) => (own, theirs),
            (Some(1), false) => (theirs, own),
            _ => return self.refuse("no position of gomoku"),
        };
        let mut second = second.into_iter();
        self.actions = first.into_iter().flat_map(|action| [Some(action), second.next()]).flatten().collect();
        match self.replay() {
            Ok(()) => self.think(arrived),
            Err(why) => self.refuse(&why),
        }
    }

    /// The manager's position is unknown, and a move for the one before could be illegal.
    fn refuse(&mut self, why: &str) {
        self.game = None;
        self.actions.clear();
        say(&format!("ERROR {why}"));
    }

    /// SWAP2BOARD: the stones of the opening so far, one `x,y` per line in the order of play, until DONE. Without stones the
    /// reply is the first three; with three or five it is `SWAP` (to play Black) or the next stone (to play White); with
    /// three also two more stones, after which the opponent chooses.
    ///
    /// Source: gomocup.org, "Experimental Tournament update 2020".
    fn swap2_board(&mut self, more: &Receiver<(String, Instant)>) {
        let setup = GomokuSetup { opening: GomokuOpening::Swap2, ..self.setup.clone() };
        let game = AnyGame::new(&Setup::Gomoku(setup));
        let (mut stones, mut wrong) = (Vec::new(), false);
        let arrived = loop {
            let Ok((line, arrived)) = more.recv() else { return };
            match line.trim() {
                line if line.eq_ignore_ascii_case("DONE") => break arrived,
                line => match parse_point(line) {
                    Some(point) => stones.push(Action::Place(point)),
                    None => wrong = true,
                },
            }
        };
        let (Ok(mut game), false, 0 | 3 | 5) = (game, wrong || self.unknown_rule, stones.len()) else {
            return say("ERROR no opening of swap2");
        };
        for (n, &stone) in stones.iter().enumerate() {
            // The fourth stone is placed by the player who has chosen to place two.
            if n == 3 && game.act(Action::Choose(Choice::TwoMore)).is_err() {
                return say("ERROR no opening of swap2");
            }
            if let Err(refusal) = game.act(stone) {
                return say(&format!("ERROR {refusal}"));
            }
        }
        let mut answer: Vec<String> = Vec::new();
        // The first decision takes most of the time; the following stone gets the rest.
        let time = self.time();
        loop {
            let Some(found) = self.decide(&game, Some(time), arrived) else { return say("ERROR no choice") };
            let Some(&action) = found.line.first() else { return say("ERROR no choice") };
            if game.act(action).is_err() {
                return say("ERROR no choice");
            }
            match action {
                Action::Choose(Choice::Black) => return say("SWAP"),
                Action::Place(point) => answer.push(format!("{},{}", point.column, point.row)),
                _ => {}
            }
            let AnyGame::Gomoku(gomoku) = &game else { return say("ERROR no choice") };
            // White's next stone, or the stones that the opponent chooses from.
            let settled = !answer.is_empty() && !gomoku.is_opening();
            let all = settled || answer.len() == if stones.is_empty() { 3 } else { 2 };
            if all {
                return say(&answer.join(" "));
            }
        }
    }

    /// Asks the bot, and records scheduling delays of the system.
    fn decide(&mut self, game: &AnyGame, time: Option<Duration>, arrived: Instant) -> Option<Report> {
        self.stalls.begin(arrived.elapsed());
        let elapsed = || self.stalls.look(arrived.elapsed());
        let time = if self.nodes.is_some() { None } else { time };
        let limits = Limits { time, nodes: self.nodes, depth: None, stop: &self.stop, elapsed: &elapsed };
        let found = self.bot.choose(game, &limits, &mut |_| {});
        self.stalls.end();
        found
    }

    fn info(&mut self, rest: &str) {
        let Some((key, value)) = rest.trim().split_once(char::is_whitespace) else { return };
        let Ok(number) = value.trim().parse::<i64>() else { return };
        let time = Duration::from_millis(number.max(0) as u64);
        match key.to_ascii_lowercase().as_str() {
            "timeout_turn" => self.pace.turn = Some(time),
            "timeout_match" => self.pace.whole = (number > 0).then_some(time),
            // The maximum of 32 bits stands for "unlimited".
            "time_left" => self.pace.left = (number < i64::from(i32::MAX)).then_some(time),
            "max_memory" if number > 0 => {
                let table = (number as usize).saturating_sub(BESIDE_TABLE).clamp(1 << 20, 1 << 30);
                self.bot = GomokuBot::with_table(self.level, self.seed, Some(table.min(64 << 20)));
            }
            "rule" => {
                // Bit 0: exactly five. Bit 1: continuous game, which is ignored. Bit 2: renju, which implies its own rule of
                // five. Bit 3: caro.
                self.unknown_rule = number & 0b1000 != 0;
                self.setup.rule = match (number & 0b100 != 0, number & 1 != 0) {
                    (true, _) => GomokuRule::Renju,
                    (false, true) => GomokuRule::Standard,
                    (false, false) => GomokuRule::Freestyle,
                };
                if self.game.is_some() && self.replay().is_err() {
                    self.restart();
                }
            }
            _ => {}
        }
    }

    fn time(&self) -> Duration {
        let turn = self.pace.turn.unwrap_or(DEFAULT_TURN);
        let share = match (self.pace.left, self.pace.whole) {
            (Some(left), _) => left.saturating_sub(RESERVE * 4) / MOVES_TO_GO,
            (None, Some(whole)) => whole / (2 * MOVES_TO_GO),
            (None, None) => turn,
        };
        let time = turn.min(share);
        time.saturating_sub(RESERVE + self.stalls.reserve(time)).max(Duration::from_millis(1))
    }

    /// Chooses, plays and prints a move.
    fn think(&mut self, arrived: Instant) {
        if self.unknown_rule {
            return say("ERROR rule not supported");
        }
        let time = self.time();
        let Some(mut game) = self.game.take() else { return say(&format!("ERROR {NO_POSITION}")) };
        let found = self.decide(&game, Some(time), arrived);
        let Some(found) = found else {
            self.game = Some(game);
            return say("ERROR the game is over");
        };
        say(&message(&found, arrived.elapsed()));
        let played = match found.line.first() {
            Some(&Action::Place(point)) => game.act(Action::Place(point)).map(|()| point).ok(),
            _ => None,
        };
        self.game = Some(game);
        let Some(point) = played else { return say("ERROR no move") };
        self.actions.push(Action::Place(point));
        say(&format!("{},{}", point.column, point.row));
    }
}

fn parse_point(text: &str) -> Option<Point> {
    let (column, row) = text.trim().split_once(',')?;
    Some(Point::new(column.trim().parse().ok()?, row.trim().parse().ok()?))
}

/// A MESSAGE for spectators: depth, score and variation.
fn message(found: &Report, elapsed: Duration) -> String {
    let score = match found.score {
        Score::Points(points) | Score::Chance { points, .. } => points.to_string(),
        Score::WinIn(plies) => format!("+M{plies}"),
        Score::LossIn(plies) => format!("-M{plies}"),
    };
    let line: Vec<String> = found
        .line
        .iter()
        .take(12)
        .map(|action| match action {
            Action::Place(point) => point.to_string(),
            _ => "?".into(),
        })
        .collect();
    format!(
        "MESSAGE depth {} ev {score} n {} ms {} pv {}",
        found.depth,
        found.nodes,
        elapsed.as_millis(),
        line.join(" ")
    )
}

/// Prints a line. Errors are ignored, because then the other program is gone.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
