//! Players that need no person.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::numbers::{Number, NumberError};
use crate::{Action, AnyGame, GameKind};

/// How strong a bot plays: 1 (a child wins) to 10 (everything it has).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(u8);

impl Level {
    /// The weakest.
    pub const MIN: Self = Self(1);
    /// Full strength.
    pub const MAX: Self = Self(10);

    /// `None` unless 1 to 10.
    pub const fn new(number: u8) -> Option<Self> {
        if number >= 1 && number <= 10 { Some(Self(number)) } else { None }
    }

    /// 1 to 10.
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// What a search may use. It ends at whichever limit comes first, and at once (within 5 ms) when `stop` is set.
pub struct Limits<'a> {
    /// Time for this decision, measured by `elapsed`; `None`: no limit.
    pub time: Option<Duration>,
    /// Positions to visit; `None`: no limit. With a node limit and no time limit the result depends on seed and position only.
    pub nodes: Option<u64>,
    /// Plies of full search; `None`: no limit.
    pub depth: Option<u32>,
    /// Set by anyone to end the search; the best move so far is the answer.
    pub stop: &'a AtomicBool,
    /// Time since the search was asked for. The engine owns no clock: the caller lends one.
    pub elapsed: &'a (dyn Fn() -> Duration + Sync),
}

/// How good a position is for the side that the bot plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// In hundredths of the game's own unit; positive is good for the side to move.
    Points(i32),
    /// The side to move wins in this many plies, proven.
    WinIn(u32),
    /// The side to move loses in this many plies, proven.
    LossIn(u32),
    /// An estimate of both how likely and how high the side to move wins.
    Chance {
        /// Chance of winning, in thousandths.
        permille: u16,
        /// Lead at the end on average, in hundredths of the game's own unit; positive is good for the side to move.
        points: i32,
    },
}

/// What a search has found so far: given while it thinks, and at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Expected play, the best action first. Never empty.
    pub line: Vec<Action>,
    /// For the side to move.
    pub score: Score,
    /// Plies of full search completed.
    pub depth: u32,
    /// Positions visited.
    pub nodes: u64,
}

/// A player of one game. Lives on one thread of the caller's; keeps its tables between decisions.
pub trait Bot: Send {
    /// Chooses for the side to move. `report` is called while thinking whenever the finding changes. `None` only when the
    /// game is over or is not this bot's game.
    fn choose(
        &mut self,
        game: &AnyGame,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Report),
    ) -> Option<Report>;

    /// What it thinks of a position by looking at it alone: as [`Self::choose`], but without a book of openings, so that what is
    /// said of one position compares with what is said of the next.
    fn judge(&mut self, game: &AnyGame, limits: &Limits<'_>) -> Option<Report> {
        self.choose(game, limits, &mut |_| {})
    }

    /// The best lines of play for the side to move, each with another first move, the best first: at most `count`, at least
    /// one unless the game is over. The limits are for all of them together. Players that cannot compare give one.
    fn choose_lines(&mut self, game: &AnyGame, _count: usize, limits: &Limits<'_>) -> Vec<Report> {
        self.choose(game, limits, &mut |_| {}).into_iter().collect()
    }

    /// How many threads may think from now on, at least 1, which is what a bot begins with. With more than one the choice
    /// depends on chance. Players below full strength, and games whose search has one thread, do not use more.
    fn set_threads(&mut self, _threads: usize) {}

    /// Where tables lie that are too large for the program, if they were ever made. A player that knows of one opens it when a
    /// game comes near.
    fn set_folder(&mut self, _folder: &Path) {}

    /// The numbers that its search goes by, for matches that compare values of them (`qiyou-engine tune`).
    fn numbers(&mut self) -> Vec<Number> {
        Vec::new()
    }

    /// Changes one of [`Self::numbers`] for the decisions to come.
    ///
    /// # Errors
    /// When there is no such number, or the value makes no sense.
    fn set_number(&mut self, name: &str, _value: f64) -> Result<(), NumberError> {
        Err(NumberError::Unknown(name.to_owned()))
    }
}

/// How many plies a level looks ahead in full. `None` where it is not plies that limit it: at full strength, and in games that
/// are not searched so.
pub fn plies_ahead(kind: GameKind, level: Level) -> Option<u32> {
    match kind {
        GameKind::Gomoku => crate::gomoku::GomokuBot::plies_ahead(level),
        GameKind::Xiangqi => crate::xiangqi::XiangqiBot::plies_ahead(level),
        GameKind::Liuzhou => crate::liuzhou::LiuzhouBot::plies_ahead(level),
        GameKind::Go | GameKind::LightsOut => None,
    }
}

/// The bot for this game at this level. The same seed, position and node limit give the same choice.
pub fn bot(kind: GameKind, level: Level, seed: u64) -> Box<dyn Bot> {
    match kind {
        GameKind::Gomoku => Box::new(crate::gomoku::GomokuBot::new(level, seed)),
        GameKind::Xiangqi => Box::new(crate::xiangqi::XiangqiBot::new(level, seed)),
        GameKind::Liuzhou => Box::new(crate::liuzhou::LiuzhouBot::new(level, seed)),
        GameKind::Go => Box::new(crate::go::GoBot::new(level, seed)),
        GameKind::LightsOut => Box::new(crate::lights_out::LightsOutBot),
    }
}

/// As [`bot`], remembering positions in at most about this many bytes: for a device whose memory others need too. Weaker only
/// where a level would fill more than that in the time it is given.
pub fn bot_within(kind: GameKind, level: Level, seed: u64, bytes: usize) -> Box<dyn Bot> {
    // Levels below the strongest take 16 MB at the most by themselves.
    let table = (level.number() == 10).then_some(bytes);
    match kind {
        GameKind::Gomoku => Box::new(crate::gomoku::GomokuBot::with_table(level, seed, table)),
        GameKind::Xiangqi => Box::new(crate::xiangqi::XiangqiBot::with_table(level, seed, table)),
        GameKind::Liuzhou => Box::new(crate::liuzhou::LiuzhouBot::within(level, seed, bytes)),
        GameKind::Go => Box::new(crate::go::GoBot::new(level, seed).with_memory(bytes)),
        GameKind::LightsOut => Box::new(crate::lights_out::LightsOutBot),
    }
}

/// Asks for one line after the other, each without the first moves of those before, and puts the best first. Each may use an
/// equal part of the limits.
pub(crate) fn lines_apart(
    count: usize,
    limits: &Limits<'_>,
    next: &mut dyn FnMut(&[Action], &Limits<'_>) -> Option<Report>,
) -> Vec<Report> {
    let mut lines: Vec<Report> = Vec::new();
    for _ in 0..count {
        let began = (limits.elapsed)();
        let elapsed = || (limits.elapsed)().saturating_sub(began);
        let own = Limits {
            time: limits.time.map(|time| time / count as u32),
            nodes: limits.nodes.map(|nodes| (nodes / count as u64).max(1)),
            depth: limits.depth,
            stop: limits.stop,
            elapsed: &elapsed,
        };
        let taken: Vec<Action> = lines.iter().map(|line| line.line[0]).collect();
        let Some(line) = next(&taken, &own) else { break };
        lines.push(line);
        if limits.stop.load(std::sync::atomic::Ordering::Relaxed) {
            break;
        }
    }
    lines.sort_by_key(|line| std::cmp::Reverse(line.score.rank()));
    lines
}

impl Score {
    /// Larger is better for the side to move. Only for scores of one game.
    fn rank(self) -> i64 {
        const WON: i64 = 1 << 40;
        match self {
            Self::WinIn(plies) => WON - i64::from(plies),
            Self::LossIn(plies) => i64::from(plies) - WON,
            Self::Points(points) => points.into(),
            Self::Chance { permille, points } => {
                i64::from(permille) << 32 | i64::from(points.clamp(0, 1 << 30))
            }
        }
    }
}
