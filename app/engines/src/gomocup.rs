//! The Gomocup protocol.
//!
//! Source: "Gomoku AI Protocol", plastovicka.github.io/protocl2en.htm. Columns and rows count from 0. The whole position is
//! sent for each move, so the engine's board never differs from ours.

use std::collections::VecDeque;

use engine::start::{Start, StartPiece};
use engine::{Action, AnyGame, Game, GomokuRule, Point, Side};

use crate::conversation::{Dialect, Heard, Question, unjudged};
use crate::fault::{Fault, shown};

/// Memory that the engine is told to keep to, in bytes: the tournament's usual 350 MB.
const MEMORY: u32 = 350 << 20;

/// The maximum of 32 bits: no limit for the match.
const UNLIMITED_MS: i32 = i32::MAX;

/// The protocol's state.
#[derive(Default)]
pub(crate) struct Gomocup {
    name: String,
    greeted: bool,
    question: Option<Question>,
    /// The engine has not yet confirmed START; then these lines follow.
    starting: Option<Vec<String>>,
    /// Outstanding moves of earlier questions.
    stale: u32,
}

impl Gomocup {
    fn hear_move(&mut self, point: Point) -> Result<Heard, Fault> {
        if self.stale > 0 {
            self.stale -= 1;
            return Ok(Heard::Nothing);
        }
        if self.starting.is_some() {
            return Ok(Heard::Nothing);
        }
        let Some(question) = self.question.take() else { return Ok(Heard::Nothing) };
        let action = Action::Place(point);
        match question.game.legal_move(action) {
            Ok(_) => Ok(Heard::Answer(unjudged(action))),
            Err(_) => Err(Fault::Illegal(format!("{},{}", point.column, point.row))),
        }
    }
}

impl Dialect for Gomocup {
    fn greet(&mut self, out: &mut VecDeque<String>) {
        out.push_back("ABOUT".into());
    }

    fn ask(&mut self, question: &Question, out: &mut VecDeque<String>) -> Result<(), Fault> {
        let AnyGame::Gomoku(now) = &question.game else { return Err(Fault::Unsupported) };
        let setup = Game::setup(now).clone();
        if now.is_opening() {
            return Err(Fault::Unsupported);
        }
        let before = self.question.replace(question.clone());
        // A question whose START is not confirmed was never asked.
        self.stale += u32::from(before.is_some() && self.starting.is_none());
        let rule = match setup.rule {
            GomokuRule::Freestyle => 0,
            GomokuRule::Standard => 1,
            GomokuRule::Renju => 4,
        };
        let ms = question.time.as_millis();
        let mut lines = vec![
            format!("INFO timeout_turn {ms}"),
            "INFO timeout_match 0".to_owned(),
            format!("INFO time_left {UNLIMITED_MS}"),
            format!("INFO max_memory {MEMORY}"),
            format!("INFO rule {rule}"),
        ];
        let mine = question.game.color(question.game.turn());
        let field = |side: Side| if side == mine { 1 } else { 2 };
        // The stones of a position that was set up, in turn, since the order says who has placed the last one.
        let start = Start::of(&question.start);
        let line =
            |(at, piece): (Point, StartPiece)| format!("{},{},{}", at.column, at.row, field(piece.side));
        let mut stones: Vec<String> = start.iter().flat_map(Start::in_turn).map(line).collect();
        let mut game = question.start.clone();
        for action in &question.actions {
            if let (Action::Place(at), AnyGame::Gomoku(gomoku)) = (action, &game) {
                let field = field(gomoku.next_color());
                stones.push(format!("{},{},{field}", at.column, at.row));
            }
            game.act(*action).map_err(|_| Fault::Unsupported)?;
        }
        if stones.is_empty() {
            lines.push("BEGIN".to_owned());
        } else {
            lines.push("BOARD".to_owned());
            lines.append(&mut stones);
            lines.push("DONE".to_owned());
        }
        out.push_back(format!("START {}", setup.size));
        self.starting = Some(lines);
        Ok(())
    }

    fn hear(&mut self, line: &str, out: &mut VecDeque<String>) -> Result<Heard, Fault> {
        let word = line.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
        match word.as_str() {
            "MESSAGE" | "DEBUG" | "SUGGEST" | "" => return Ok(Heard::Nothing),
            "ERROR" | "UNKNOWN" if self.greeted && self.question.is_some() => {
                // An unknown INFO is no error; engines that answer it go on all the same.
                let is_info = word == "UNKNOWN" && self.starting.is_none();
                if is_info {
                    return Ok(Heard::Nothing);
                }
                self.question = None;
                self.starting = None;
                return Err(Fault::Refused(shown(line)));
            }
            "OK" => {
                if let Some(lines) = self.starting.take() {
                    out.extend(lines);
                }
                return Ok(Heard::Nothing);
            }
            _ => {}
        }
        if let Some(point) = read_point(line) {
            return self.hear_move(point);
        }
        // The answer to ABOUT: name="Rapfi", version="0.43", …
        if !self.greeted
            && let Some(name) = field(line, "name")
        {
            self.greeted = true;
            self.name = name;
            return Ok(Heard::Ready);
        }
        Ok(Heard::Nothing)
    }

    fn name(&self) -> &str {
        &self.name
    }
}

fn read_point(text: &str) -> Option<Point> {
    let (column, row) = text.split_once(',')?;
    let (column, row) = (column.trim().parse().ok()?, row.trim().parse().ok()?);
    // Points on no board at all.
    const MOST: u16 = 1_000;
    (column < MOST && row < MOST).then(|| Point::new(column, row))
}

/// The value of `name="value"` in a list of such fields; quotes may be missing.
fn field(line: &str, name: &str) -> Option<String> {
    let line = line.trim();
    let at = line.to_ascii_lowercase().find(&format!("{name}="))?;
    // ASCII letters keep their place in lower case.
    let rest = line.get(at + name.len() + 1..)?;
    let value = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => rest.split(',').next()?,
    };
    Some(value.trim().to_owned())
}
