//! The Go Text Protocol, version 2.
//!
//! Source: "Specification of the Go Text Protocol, version 2, draft 2" (Farnebäck 2002). Commands have ids, and an answer
//! belongs to the command of its id.

use std::collections::VecDeque;

use engine::go::Scoring;
use engine::{Action, AnyGame, Game, Point, Setup, Side};

use crate::conversation::{Dialect, Heard, Question, unjudged};
use crate::fault::{Fault, shown};

/// What an answer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Name,
    /// An error means that the engine cannot play this.
    Needed,
    /// An error changes nothing.
    Wanted,
    Move,
}

/// The protocol's state.
#[derive(Default)]
pub(crate) struct Gtp {
    name: String,
    last_id: u32,
    /// Commands without an answer, oldest first.
    pending: VecDeque<(u32, Purpose)>,
    /// The setup and the moves on the engine's board; `None`: unknown.
    board: Option<(Setup, Vec<Action>)>,
    /// The question, and the id of its `genmove`.
    question: Option<(Question, u32)>,
    /// The time of the last `time_settings`, in seconds.
    seconds: Option<u64>,
}

impl Gtp {
    fn say(&mut self, purpose: Purpose, command: &str, out: &mut VecDeque<String>) -> u32 {
        self.last_id += 1;
        self.pending.push_back((self.last_id, purpose));
        out.push_back(format!("{} {command}", self.last_id));
        self.last_id
    }

    fn play(&mut self, side: Side, action: Action, game: &AnyGame, out: &mut VecDeque<String>) {
        let vertex = game.notation(action);
        self.say(Purpose::Needed, &format!("play {} {vertex}", letter(side)), out);
    }

    /// Sets up an empty board with the stones of the setup.
    fn begin(&mut self, start: &AnyGame, out: &mut VecDeque<String>) -> Result<(), Fault> {
        let AnyGame::Go(go) = start else { return Err(Fault::Unsupported) };
        let setup = Game::setup(go).clone();
        self.say(Purpose::Needed, &format!("boardsize {}", setup.size), out);
        self.say(Purpose::Needed, "clear_board", out);
        let komi = f32::from(setup.komi_half_points) / 2.0;
        self.say(Purpose::Wanted, &format!("komi {komi}"), out);
        let rules = match setup.scoring {
            Scoring::Area => "chinese",
            Scoring::Territory => "japanese",
        };
        self.say(Purpose::Wanted, &format!("kata-set-rules {rules}"), out);
        let size = u16::from(setup.size);
        for row in 0..size {
            for column in 0..size {
                let point = Point::new(column, row);
                if let Some(side) = go.at(point) {
                    self.play(side, Action::Place(point), start, out);
                }
            }
        }
        Ok(())
    }

    fn hear_move(&mut self, id: u32, text: &str) -> Result<Heard, Fault> {
        let Some((question, _)) = self.question.take_if(|(_, asked)| *asked == id) else {
            return Ok(Heard::Nothing);
        };
        let word = text.split_whitespace().next().unwrap_or_default();
        if word.eq_ignore_ascii_case("resign") {
            return Ok(Heard::Resigns);
        }
        let action = question.game.parse(&word.to_ascii_uppercase()).or_else(|| question.game.parse(word));
        let legal = action
            .filter(|action| matches!(action, Action::Place(_) | Action::Pass))
            .filter(|action| question.game.legal_move(*action).is_ok());
        let action = legal.ok_or_else(|| Fault::Illegal(shown(word)))?;
        // The engine has played it on its own board.
        let mut actions = question.actions;
        actions.push(action);
        self.board = Some((question.start.setup(), actions));
        Ok(Heard::Answer(unjudged(action)))
    }
}

impl Dialect for Gtp {
    fn greet(&mut self, out: &mut VecDeque<String>) {
        self.say(Purpose::Name, "name", out);
    }

    fn ask(&mut self, question: &Question, out: &mut VecDeque<String>) -> Result<(), Fault> {
        let setup = question.start.setup();
        let known = self.board.take().and_then(|(of, actions)| {
            let goes_on = of == setup && question.actions.starts_with(&actions);
            (goes_on && self.question.is_none()).then_some(actions.len())
        });
        if known.is_none() {
            self.begin(&question.start, out)?;
        }
        // One stone in each period of this length, without main time: a time for each move.
        let seconds = question.time.as_secs().max(1);
        if self.seconds.replace(seconds) != Some(seconds) || known.is_none() {
            self.say(Purpose::Wanted, &format!("time_settings 0 {seconds} 1"), out);
        }
        let mut game = question.start.clone();
        for (n, action) in question.actions.iter().enumerate() {
            if matches!(action, Action::Place(_) | Action::Pass) && known.is_none_or(|known| n >= known) {
                self.play(game.turn(), *action, &game, out);
            }
            game.act(*action).map_err(|_| Fault::Unsupported)?;
        }
        let id = self.say(Purpose::Move, &format!("genmove {}", letter(game.turn())), out);
        self.question = Some((question.clone(), id));
        Ok(())
    }

    fn hear(&mut self, line: &str, _out: &mut VecDeque<String>) -> Result<Heard, Fault> {
        // Of a program that speaks another protocol.
        if self.name.is_empty() && (line.starts_with("UNKNOWN") || line.starts_with("ERROR")) {
            return Err(Fault::Refused(shown(line)));
        }
        // Lines without a mark go on with the last answer, or are comments.
        let is_error = line.starts_with('?');
        let Some(rest) = line.strip_prefix(['=', '?']) else { return Ok(Heard::Nothing) };
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (id, text) = rest.split_at(digits);
        let Ok(id) = id.parse::<u32>() else { return Ok(Heard::Nothing) };
        let text = text.trim();
        let Some(at) = self.pending.iter().position(|(of, _)| *of == id) else { return Ok(Heard::Nothing) };
        let (_, purpose) = self.pending.remove(at).expect("it was found there");
        match (purpose, is_error) {
            (Purpose::Name, _) => {
                if !is_error {
                    text.clone_into(&mut self.name);
                }
                Ok(Heard::Ready)
            }
            (Purpose::Needed | Purpose::Move, true) => {
                self.board = None;
                self.question = None;
                Err(Fault::Refused(shown(text)))
            }
            (Purpose::Move, false) => self.hear_move(id, text),
            (Purpose::Needed | Purpose::Wanted, _) => Ok(Heard::Nothing),
        }
    }

    fn name(&self) -> &str {
        &self.name
    }
}

const fn letter(side: Side) -> char {
    match side {
        Side::First => 'B',
        Side::Second => 'W',
    }
}
