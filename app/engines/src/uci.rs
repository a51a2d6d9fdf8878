//! UCI and UCCI for xiangqi.
//!
//! Sources: "Description of the universal chess interface" (Huber, Meyer-Kahlen 2006), with the squares of Fairy-Stockfish's
//! `UCI_Variant xiangqi`: files a to i and ranks 1 to 10 from Red's side; "UCCI 3.0" (Huang Chen 2007), with ranks 0 to 9.

use std::collections::VecDeque;

use engine::{Action, AnyGame, Point, Report, Score};

use crate::conversation::{Dialect, Heard, Protocol, Question, unjudged};
use crate::fault::{Fault, shown};

/// Transposition table of the engine, in megabytes.
const HASH_MB: u32 = 64;

/// Actions of a variation that are kept: more than anybody is shown.
const LINE: usize = 16;

/// The protocol's state.
pub(crate) struct Uci {
    protocol: Protocol,
    name: String,
    /// Options of the engine that are set.
    options: Vec<&'static str>,
    /// The engine has variants, among them xiangqi or not.
    variants: Option<bool>,
    question: Option<Question>,
    /// Outstanding answers of earlier questions.
    stale: u32,
    /// The latest result of the present search.
    found: Option<Report>,
    greeted: bool,
}

impl Uci {
    pub(crate) fn new(protocol: Protocol) -> Self {
        Self {
            protocol,
            name: String::new(),
            options: Vec::new(),
            variants: None,
            question: None,
            stale: 0,
            found: None,
            greeted: false,
        }
    }

    /// `option name Hash type spin …` in UCI, `option hashsize type spin …` in UCCI.
    fn hear_option(&mut self, rest: &str) {
        let rest = rest.strip_prefix("name ").unwrap_or(rest);
        let (name, of) = rest.split_once(" type ").unwrap_or((rest, ""));
        match (self.protocol, name.trim()) {
            (Protocol::Uci, "UCI_Variant") => {
                let mut words = of.split_whitespace();
                self.variants = Some(words.any(|word| word == "xiangqi"));
            }
            (Protocol::Uci, "Hash") => self.options.push("Hash"),
            (Protocol::Ucci, "hashsize") => self.options.push("hashsize"),
            (Protocol::Ucci, "usemillisec") => self.options.push("usemillisec"),
            _ => {}
        }
    }

    fn set_options(&mut self, out: &mut VecDeque<String>) -> Result<(), Fault> {
        match self.variants {
            Some(false) => return Err(Fault::Unsupported),
            Some(true) => out.push_back("setoption name UCI_Variant value xiangqi".into()),
            // A program for xiangqi alone, or one for chess: a trial tells.
            None => {}
        }
        for option in &self.options {
            out.push_back(match *option {
                "Hash" => format!("setoption name Hash value {HASH_MB}"),
                "hashsize" => format!("setoption hashsize {HASH_MB}"),
                _ => "setoption usemillisec true".into(),
            });
        }
        Ok(())
    }

    fn read(&self, word: &str, game: &AnyGame) -> Option<Action> {
        let action = match self.protocol {
            Protocol::Ucci => game.parse(word)?,
            _ => read_step(word)?,
        };
        game.legal_move(action).is_ok().then_some(action)
    }

    fn write(&self, action: Action, game: &AnyGame) -> String {
        match self.protocol {
            Protocol::Ucci => game.notation(action),
            _ => action.to_string(),
        }
    }

    /// `info depth 12 score cp 31 nodes 4711 pv h3e3 h10g8`.
    fn hear_info(&mut self, rest: &str) -> Option<Report> {
        let question = self.question.as_ref().filter(|_| self.stale == 0)?;
        let mut words = rest.split_whitespace();
        let (mut depth, mut nodes, mut score, mut line) = (0, 0, None, Vec::new());
        while let Some(word) = words.next() {
            match word {
                "string" => break,
                "depth" => depth = words.next()?.parse().ok()?,
                "nodes" => nodes = words.next()?.parse().ok()?,
                // Another line than the best.
                "multipv" if words.next()? != "1" => return None,
                "score" => {
                    score = Some(match words.next()? {
                        "cp" => Score::Points(read_points(words.next()?)?),
                        "mate" => read_mate(words.next()?)?,
                        points => Score::Points(read_points(points)?),
                    });
                }
                // A bound is no value.
                "lowerbound" | "upperbound" => return None,
                "pv" => {
                    let mut game = question.game.clone();
                    for word in words.by_ref().take(LINE) {
                        let Some(action) = self.read(word, &game) else { break };
                        line.push(action);
                        if game.act(action).is_err() {
                            break;
                        }
                    }
                    break;
                }
                _ => {}
            }
        }
        let report = Report { line, score: score?, depth, nodes };
        if report.line.is_empty() {
            return None;
        }
        self.found = Some(report.clone());
        Some(report)
    }

    /// `bestmove h3e3 ponder h10g8`; in UCCI also `bestmove h2e2 resign`, and `nobestmove`.
    fn hear_best(&mut self, rest: &str) -> Result<Heard, Fault> {
        if self.stale > 0 {
            self.stale -= 1;
            return Ok(Heard::Nothing);
        }
        let Some(question) = self.question.take() else { return Ok(Heard::Nothing) };
        let found = self.found.take();
        let mut words = rest.split_whitespace();
        let word = words.next().unwrap_or_default();
        if self.protocol == Protocol::Ucci && words.any(|word| word == "resign") {
            return Ok(Heard::Resigns);
        }
        let action = self.read(word, &question.game).ok_or_else(|| Fault::Illegal(shown(word)))?;
        Ok(Heard::Answer(match found.filter(|found| found.line.first() == Some(&action)) {
            Some(found) => found,
            None => unjudged(action),
        }))
    }
}

impl Dialect for Uci {
    fn greet(&mut self, out: &mut VecDeque<String>) {
        out.push_back(self.protocol.word().into());
    }

    fn ask(&mut self, question: &Question, out: &mut VecDeque<String>) -> Result<(), Fault> {
        let AnyGame::Xiangqi(start) = &question.start else { return Err(Fault::Unsupported) };
        let before = self.question.replace(question.clone());
        self.stale += u32::from(before.is_some());
        self.found = None;
        if self.protocol == Protocol::Uci && question.actions.len() < 2 {
            out.push_back("ucinewgame".into());
        }
        let mut line = format!("position fen {}", start.position());
        let mut game = question.start.clone();
        for (n, action) in question.actions.iter().enumerate() {
            line.push_str(if n == 0 { " moves " } else { " " });
            line.push_str(&self.write(*action, &game));
            game.act(*action).map_err(|_| Fault::Unsupported)?;
        }
        out.push_back(line);
        let ms = question.time.as_millis().max(1);
        out.push_back(match self.protocol {
            // All of the time, for one move.
            Protocol::Ucci => format!("go time {ms} movestogo 1"),
            _ => format!("go movetime {ms}"),
        });
        Ok(())
    }

    fn hear(&mut self, line: &str, out: &mut VecDeque<String>) -> Result<Heard, Fault> {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match word {
            "id" => {
                if let Some(name) = rest.strip_prefix("name ") {
                    name.trim().clone_into(&mut self.name);
                }
            }
            "option" if !self.greeted => self.hear_option(rest),
            "uciok" | "ucciok" if !self.greeted => {
                self.greeted = true;
                self.set_options(out)?;
                out.push_back("isready".into());
            }
            // Of a program that speaks another protocol.
            "?" | "UNKNOWN" | "ERROR" if !self.greeted => return Err(Fault::Refused(shown(line))),
            "readyok" if self.greeted => return Ok(Heard::Ready),
            "info" => return Ok(self.hear_info(rest).map_or(Heard::Nothing, Heard::Progress)),
            "bestmove" => return self.hear_best(rest),
            "nobestmove" => return self.hear_best("none"),
            _ => {}
        }
        Ok(Heard::Nothing)
    }

    fn hurry(&mut self, out: &mut VecDeque<String>) {
        out.push_back("stop".into());
    }

    fn name(&self) -> &str {
        &self.name
    }
}

/// Hundredths of a pawn; beyond this a value is a mate in UCCI.
fn read_points(word: &str) -> Option<i32> {
    const MOST: i32 = 100_000;
    word.parse::<i32>().ok().map(|points| points.clamp(-MOST, MOST))
}

/// Moves to mate, of the side to move; negative if it is mated.
fn read_mate(word: &str) -> Option<Score> {
    const MOST: u32 = 1_000;
    let moves: i32 = word.parse().ok()?;
    let count = moves.unsigned_abs().min(MOST);
    Some(if moves > 0 { Score::WinIn((2 * count).saturating_sub(1)) } else { Score::LossIn(2 * count) })
}

/// Parses `h3e3` or `b10c8`: two points, the second from its letter on.
fn read_step(word: &str) -> Option<Action> {
    let letter = word.char_indices().skip(1).find(|(_, c)| c.is_ascii_alphabetic())?.0;
    let (from, to) = word.split_at(letter);
    Some(Action::Step { from: from.parse::<Point>().ok()?, to: to.parse::<Point>().ok()? })
}
