//! An engine as a bot.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use engine::{Action, AnyGame, Bot, Limits, Report};
use tracing::info;

use crate::conversation::{Conversation, Heard, Protocol, Question, plays};
use crate::fault::Fault;
use crate::process::{Process, Program};
use crate::sandbox::Sandbox;

/// Time for the greeting: a network of hundreds of megabytes is read before it.
pub(crate) const GREETING: Duration = Duration::from_secs(30);

/// Time for an answer beyond its own: engines look at the clock seldom, and on a busy device late. GNU Go needs it all at its
/// usual level on 19 x 19, because it has no time for a move.
const GRACE: Duration = Duration::from_secs(10);

/// Part of the grace after which an engine is asked to answer at once.
const HURRY: Duration = Duration::from_secs(1);

/// Time for an answer without a limit.
const DEFAULT_TIME: Duration = Duration::from_secs(1);

/// Bytes of all lines for one answer: a hundred times those of a verbose engine that thinks for a minute.
const ANSWER_BYTES: usize = 16 << 20;

/// Failures after which an engine is not started again: one could be chance.
const FAILURES: u32 = 2;

/// The longest time for which a stopped search goes on unnoticed.
const STEP: Duration = Duration::from_millis(15);

/// News for whoever uses the bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineNews {
    /// The engine has failed; the bot of ours stands in for this decision, or from now on if `for_good`.
    Failed {
        /// Why.
        fault: Fault,
        /// It is not started again.
        for_good: bool,
    },
    /// The engine resigns the position after this many actions. The decision has no result.
    Resigns {
        /// The number of actions.
        ply: u32,
    },
}

/// Makes the bot that stands in.
pub type StandIn = Box<dyn FnOnce() -> Box<dyn Bot> + Send>;

/// An engine as a bot. [`Bot::set_record`] tells it the match before each decision.
pub struct EngineBot {
    program: Program,
    protocol: Protocol,
    sandbox: Sandbox,
    session: Option<Session>,
    /// The actions so far.
    record: Vec<Action>,
    failures: u32,
    make_stand_in: Option<StandIn>,
    stand_in: Option<Box<dyn Bot>>,
    tell: Box<dyn FnMut(EngineNews) + Send>,
}

impl EngineBot {
    /// A bot that starts the program at its first decision. Without a stand-in a failure is a decision without a result.
    pub fn new(
        program: Program,
        protocol: Protocol,
        sandbox: Sandbox,
        stand_in: Option<StandIn>,
        tell: impl FnMut(EngineNews) + Send + 'static,
    ) -> Self {
        Self {
            program,
            protocol,
            sandbox,
            session: None,
            record: Vec::new(),
            failures: 0,
            make_stand_in: stand_in,
            stand_in: None,
            tell: Box::new(tell),
        }
    }

    fn ask(
        &mut self,
        game: &AnyGame,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Report),
    ) -> Result<Option<Heard>, Fault> {
        let setup = game.setup();
        let time = limits.time.unwrap_or(DEFAULT_TIME);
        // An analysis also looks at positions beside the match.
        let question = Question::new(&setup, &self.record, time)
            .filter(|question| question.game().key() == game.key())
            .or_else(|| Question::at(game, time))
            .filter(|_| plays(self.protocol, &setup))
            .ok_or(Fault::Unsupported)?;
        let stopped = || limits.stop.load(Ordering::Relaxed);
        if self.session.is_none() {
            let mut session = Session::start(&self.program, self.protocol, &self.sandbox)?;
            if !session.greet(GREETING, &stopped)? {
                // It is not asked for any more; the next decision starts it again.
                return Ok(None);
            }
            self.session = Some(session);
        }
        let session = self.session.as_mut().expect("it was started above");
        session.answer(&question, &stopped, report)
    }

    fn stand_in(&mut self) -> Option<&mut Box<dyn Bot>> {
        if self.stand_in.is_none() {
            self.stand_in = self.make_stand_in.take().map(|make| make());
        }
        self.stand_in.as_mut()
    }
}

impl Bot for EngineBot {
    fn choose(
        &mut self,
        game: &AnyGame,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Report),
    ) -> Option<Report> {
        if game.outcome().is_some() {
            return None;
        }
        if is_for_engines(game) && self.failures < FAILURES {
            match self.ask(game, limits, report) {
                Ok(Some(Heard::Answer(found))) => {
                    self.failures = 0;
                    return Some(found);
                }
                Ok(Some(Heard::Resigns)) => {
                    (self.tell)(EngineNews::Resigns { ply: game.ply() });
                    return None;
                }
                // Stopped.
                Ok(_) => return None,
                Err(fault) => {
                    info!(program = ?self.program.path, %fault, "an engine failed");
                    self.session = None;
                    self.failures += if fault == Fault::Unsupported { FAILURES } else { 1 };
                    (self.tell)(EngineNews::Failed { fault, for_good: self.failures >= FAILURES });
                }
            }
        }
        self.stand_in()?.choose(game, limits, report)
    }

    fn set_record(&mut self, actions: &[Action]) {
        self.record = actions.to_vec();
    }
}

/// Whether the decision is one that engines make: not choices of an opening, not marks of dead stones.
fn is_for_engines(game: &AnyGame) -> bool {
    match game {
        AnyGame::Gomoku(game) => !game.is_opening(),
        // After two passes.
        AnyGame::Go(_) => game.legal_move(Action::Agree).is_err(),
        _ => true,
    }
}

/// A process with its conversation.
pub(crate) struct Session {
    process: Process,
    conversation: Conversation,
    /// Until then the engine may be busy with a question whose answer nobody waits for.
    busy_until: Instant,
}

impl Session {
    pub(crate) fn start(program: &Program, protocol: Protocol, sandbox: &Sandbox) -> Result<Self, Fault> {
        let process = Process::start(program, sandbox)?;
        Ok(Self { process, conversation: Conversation::new(protocol), busy_until: Instant::now() })
    }

    /// The name that the engine has given itself.
    pub(crate) fn name(&self) -> String {
        self.conversation.name()
    }

    /// Waits until the engine is ready; `false` if it was stopped before.
    pub(crate) fn greet(&mut self, within: Duration, stopped: &dyn Fn() -> bool) -> Result<bool, Fault> {
        let until = Instant::now() + within;
        let mut bytes = 0;
        while !self.conversation.is_ready() {
            if stopped() {
                return Ok(false);
            }
            self.hear(until, &mut bytes)?;
        }
        Ok(true)
    }

    /// The answer to a question; `None` if it was stopped before.
    pub(crate) fn answer(
        &mut self,
        question: &Question,
        stopped: &dyn Fn() -> bool,
        report: &mut dyn FnMut(&Report),
    ) -> Result<Option<Heard>, Fault> {
        self.conversation.ask(question)?;
        let began = Instant::now().max(self.busy_until);
        let (hurry, until) = (began + question.time + HURRY, began + question.time + GRACE);
        let (mut hurried, mut bytes) = (false, 0);
        loop {
            if stopped() {
                self.conversation.hurry();
                self.send();
                self.busy_until = until;
                return Ok(None);
            }
            if !hurried && Instant::now() >= hurry {
                self.conversation.hurry();
                hurried = true;
            }
            match self.hear(until, &mut bytes)? {
                Heard::Progress(found) => report(&found),
                heard @ (Heard::Answer(_) | Heard::Resigns) => return Ok(Some(heard)),
                Heard::Nothing | Heard::Ready => {}
            }
        }
    }

    fn send(&mut self) {
        while let Some(line) = self.conversation.poll() {
            self.process.say(line);
        }
    }

    /// Sends what is to be sent, and handles at most one line.
    fn hear(&mut self, until: Instant, bytes: &mut usize) -> Result<Heard, Fault> {
        self.send();
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Fault::Silent);
        }
        let Some(line) = self.process.line(left.min(STEP))? else { return Ok(Heard::Nothing) };
        *bytes += line.len() + 1;
        if *bytes > ANSWER_BYTES {
            return Err(Fault::Endless);
        }
        self.conversation.handle(&line)
    }
}
