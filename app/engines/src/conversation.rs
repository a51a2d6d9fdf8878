//! A conversation with an engine as a machine without I/O: lines go in and come out.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use engine::{Action, AnyGame, GameKind, Report, Score, Setup};

use crate::fault::{Fault, shown};
use crate::gomocup::Gomocup;
use crate::gtp::Gtp;
use crate::uci::Uci;

/// The language of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The Universal Chess Interface, for xiangqi as in Fairy-Stockfish.
    Uci,
    /// The Universal Chinese Chess Protocol.
    Ucci,
    /// The Go Text Protocol, version 2.
    Gtp,
    /// The protocol of the Gomocup tournaments.
    Gomocup,
}

impl Protocol {
    /// All protocols, in the order in which an unknown program is tried.
    pub const ALL: [Self; 4] = [Self::Uci, Self::Gtp, Self::Gomocup, Self::Ucci];

    /// The game that is played by this protocol.
    pub const fn game(self) -> GameKind {
        match self {
            Self::Uci | Self::Ucci => GameKind::Xiangqi,
            Self::Gtp => GameKind::Go,
            Self::Gomocup => GameKind::Gomoku,
        }
    }

    /// Its name on command lines and in files: `uci`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Uci => "uci",
            Self::Ucci => "ucci",
            Self::Gtp => "gtp",
            Self::Gomocup => "gomocup",
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// There is no such protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the protocols are uci, ucci, gtp and gomocup")]
pub struct NoProtocol;

impl FromStr for Protocol {
    type Err = NoProtocol;

    fn from_str(word: &str) -> Result<Self, NoProtocol> {
        Self::ALL.into_iter().find(|protocol| protocol.word() == word).ok_or(NoProtocol)
    }
}

/// Whether this protocol can express these rules.
pub fn plays(protocol: Protocol, setup: &Setup) -> bool {
    match (protocol, setup) {
        (Protocol::Uci | Protocol::Ucci, Setup::Xiangqi(_)) | (Protocol::Gtp, Setup::Go(_)) => true,
        // Lines along the edge win in each program.
        (Protocol::Gomocup, Setup::Gomoku(setup)) => setup.edge_five_wins && !setup.opening.is_of_renju(),
        _ => false,
    }
}

/// A position to play in, with its history, and the time for it.
#[derive(Clone)]
pub struct Question {
    /// The position before the first action.
    pub(crate) start: AnyGame,
    /// The actions so far.
    pub(crate) actions: Vec<Action>,
    /// The position after them.
    pub(crate) game: AnyGame,
    pub(crate) time: Duration,
}

impl Question {
    /// The position after these actions, with this time for the answer; `None` if they do not make it.
    pub fn new(setup: &Setup, actions: &[Action], time: Duration) -> Option<Self> {
        let start = AnyGame::new(setup).ok()?;
        let mut game = start.clone();
        for action in actions {
            game.act(*action).ok()?;
        }
        Some(Self { start, actions: actions.to_vec(), game, time })
    }

    /// A position without its history; of a game whose protocol can say such a position.
    pub(crate) fn at(game: &AnyGame, time: Duration) -> Option<Self> {
        let is_said = matches!(game, AnyGame::Xiangqi(_));
        is_said.then(|| Self { start: game.clone(), actions: Vec::new(), game: game.clone(), time })
    }

    /// The position.
    pub fn game(&self) -> &AnyGame {
        &self.game
    }
}

/// What a line meant.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// Nothing that matters here.
    Nothing,
    /// The engine is ready for questions.
    Ready,
    /// What the search has found so far.
    Progress(Report),
    /// The answer, a legal action first.
    Answer(Report),
    /// The engine resigns.
    Resigns,
}

/// The part of a conversation that depends on the protocol. Lines to send are pushed onto `out`, without their ends.
pub(crate) trait Dialect: Send {
    /// Begins the conversation.
    fn greet(&mut self, out: &mut VecDeque<String>);
    /// Asks for a move. Called once the engine is ready; an unanswered question may be outstanding, whose answer
    /// is to be ignored.
    fn ask(&mut self, question: &Question, out: &mut VecDeque<String>) -> Result<(), Fault>;
    /// Handles a line.
    fn hear(&mut self, line: &str, out: &mut VecDeque<String>) -> Result<Heard, Fault>;
    /// Asks to answer at once, if the protocol can say that.
    fn hurry(&mut self, _out: &mut VecDeque<String>) {}
    /// The name that the engine has given itself.
    fn name(&self) -> &str;
}

/// A conversation: greeting, then questions with one answer each.
pub struct Conversation {
    dialect: Box<dyn Dialect>,
    out: VecDeque<String>,
    is_ready: bool,
}

impl Conversation {
    /// Begins with the greeting.
    pub fn new(protocol: Protocol) -> Self {
        let dialect: Box<dyn Dialect> = match protocol {
            Protocol::Uci | Protocol::Ucci => Box::new(Uci::new(protocol)),
            Protocol::Gtp => Box::new(Gtp::default()),
            Protocol::Gomocup => Box::new(Gomocup::default()),
        };
        let mut conversation = Self { dialect, out: VecDeque::new(), is_ready: false };
        conversation.dialect.greet(&mut conversation.out);
        conversation
    }

    /// The next line to send, without its end.
    pub fn poll(&mut self) -> Option<String> {
        self.out.pop_front()
    }

    /// Whether the engine is ready for questions.
    pub fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// Asks for a move; the answer to an earlier question is ignored from now on.
    ///
    /// # Errors
    /// [`Fault::Unsupported`] if the protocol cannot express the position.
    pub fn ask(&mut self, question: &Question) -> Result<(), Fault> {
        self.dialect.ask(question, &mut self.out)
    }

    /// Handles a line, without its end.
    pub fn handle(&mut self, line: &str) -> Result<Heard, Fault> {
        let heard = self.dialect.hear(line.trim(), &mut self.out)?;
        self.is_ready |= heard == Heard::Ready;
        Ok(heard)
    }

    /// Asks to answer at once, if the protocol can say that.
    pub fn hurry(&mut self) {
        self.dialect.hurry(&mut self.out);
    }

    /// The name that the engine has given itself, for display; empty if it has none.
    pub fn name(&self) -> String {
        shown(self.dialect.name())
    }
}

/// An answer without a judgement.
pub(crate) fn unjudged(action: Action) -> Report {
    Report { line: vec![action], score: Score::Points(0), depth: 0, nodes: 0 }
}
