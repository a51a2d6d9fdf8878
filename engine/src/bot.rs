//! Bots: computer players.

use std::fmt;
use std::num::ParseIntError;
use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::parameters::{Parameter, ParameterError};
use crate::{Action, AnyGame, GameKind};

/// How much an engine may search: 1 (hardly ahead) to 10 (without limit). [`Level`](crate::Level) is the scale for players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tier(u8);

impl Tier {
    /// The weakest.
    pub const MIN: Self = Self(1);
    /// No limit but the caller's.
    pub const MAX: Self = Self(10);

    /// `None` unless `number` is 1 to 10.
    pub const fn new(number: u8) -> Option<Self> {
        if number >= 1 && number <= 10 { Some(Self(number)) } else { None }
    }

    /// The tier as a number, 1 to 10.
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// Limits of a search. It ends when the first limit is reached, or within 5 ms after `stop` is set.
pub struct Limits<'a> {
    /// Time per decision, measured by `elapsed`; `None`: unlimited.
    pub time: Option<Duration>,
    /// Positions to visit; `None`: unlimited. With this limit and no time limit the result depends on seed and position
    /// only.
    pub nodes: Option<u64>,
    /// Full plies to search; `None`: unlimited.
    pub depth: Option<u32>,
    /// Set by the caller to end the search early with the best move so far.
    pub stop: &'a AtomicBool,
    /// Time since the start of the decision. The engine owns no clock.
    pub elapsed: &'a (dyn Fn() -> Duration + Sync),
}

/// A value of a position, from the point of view of the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// In hundredths of the game's unit; positive is good for the side to move.
    Points(i32),
    /// Proven: the side to move wins in this many plies.
    WinIn(u32),
    /// Proven: the side to move loses in this many plies.
    LossIn(u32),
    /// An estimate of winning chance and lead.
    Chance {
        /// Winning chance of the side to move, in thousandths.
        permille: u16,
        /// Expected lead at the end, in hundredths of the game's unit; positive is good for the side to move.
        points: i32,
    },
}

/// `35`; `W5` is a win in five plies, `L4` a loss in four; `512:-250` a chance and points.
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Points(points) => write!(f, "{points}"),
            Self::WinIn(plies) => write!(f, "W{plies}"),
            Self::LossIn(plies) => write!(f, "L{plies}"),
            Self::Chance { permille, points } => write!(f, "{permille}:{points}"),
        }
    }
}

/// Reads what `Display` writes.
impl FromStr for Score {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        Ok(match (text.strip_prefix('W'), text.strip_prefix('L'), text.split_once(':')) {
            (Some(plies), ..) => Self::WinIn(plies.parse()?),
            (_, Some(plies), _) => Self::LossIn(plies.parse()?),
            (.., Some((permille, points))) => {
                Self::Chance { permille: permille.parse()?, points: points.parse()? }
            }
            _ => Self::Points(text.parse()?),
        })
    }
}

/// The result of a search, intermediate or final.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Principal variation, best action first. Never empty.
    pub line: Vec<Action>,
    /// From the point of view of the side to move.
    pub score: Score,
    /// Full plies completed.
    pub depth: u32,
    /// Positions visited.
    pub nodes: u64,
}

impl Report {
    /// Score and line in a game's notation, `35 h2e2 h9g7`; `from` is the position that was searched.
    pub fn text(&self, from: &AnyGame) -> String {
        let (mut game, mut text) = (from.clone(), self.score.to_string());
        for &action in &self.line {
            text.push(' ');
            text += &game.notation(action);
            if game.act(action).is_err() {
                break;
            }
        }
        text
    }

    /// Reads what [`Self::text`] writes, without depth and nodes. The line ends before what is no legal move: it goes by the history
    /// of its game, which the text of a position does not tell. `None` without a score, or without a first move.
    pub fn from_text(from: &AnyGame, text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let score = words.next()?.parse().ok()?;
        let (mut game, mut line) = (from.clone(), Vec::new());
        for word in words {
            let Some(action) = game.parse(word).filter(|&action| game.act(action).is_ok()) else { break };
            line.push(action);
        }
        (!line.is_empty()).then_some(Self { line, score, depth: 0, nodes: 0 })
    }
}

/// A computer player of one game. Used by one thread at a time; keeps its tables between decisions.
pub trait Bot: Send {
    /// Chooses an action for the side to move. `report` is called during the search whenever the result changes. Returns
    /// `None` only if the game is over or is not this bot's game.
    fn choose(
        &mut self,
        game: &AnyGame,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Report),
    ) -> Option<Report>;

    /// As [`Self::choose`] without the opening book, so that scores of successive positions are comparable.
    fn judge(&mut self, game: &AnyGame, limits: &Limits<'_>) -> Option<Report> {
        self.choose(game, limits, &mut |_| {})
    }

    /// As [`Self::choose`] among the legal actions that are accepted. `None` also if the bot knows none of them.
    fn choose_among(
        &mut self,
        game: &AnyGame,
        among: &dyn Fn(Action) -> bool,
        limits: &Limits<'_>,
    ) -> Option<Report> {
        self.choose(game, limits, &mut |_| {}).filter(|found| among(found.line[0]))
    }

    /// Principal variations for the side to move with different first actions, best first (MultiPV): at most `count`, at
    /// least one unless the game is over. The limits apply to all together. Bots that cannot compare return one.
    /// Reports go out as in [`Self::choose`], of the best line alone.
    fn choose_lines(
        &mut self,
        game: &AnyGame,
        _count: usize,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(&Report),
    ) -> Vec<Report> {
        self.choose(game, limits, report).into_iter().collect()
    }

    /// Sets the number of search threads, at least 1 (the default). With more than one, results are not reproducible. Levels
    /// below the highest, and games with a single-threaded search, use only one.
    fn set_threads(&mut self, _threads: usize) {}

    /// Tells the actions of the match up to the position of the next decision, for bots that need more than the position.
    fn set_record(&mut self, _actions: &[Action]) {}

    /// Sets the folder of tables that are too large for the program, such as endgame tables. A bot opens a table when a game
    /// approaches its positions.
    fn set_folder(&mut self, _folder: &Path) {}

    /// The search parameters, for matches that compare values (`qiyou-engine tune`).
    fn parameters(&mut self) -> Vec<Parameter> {
        Vec::new()
    }

    /// Sets one of [`Self::parameters`] for subsequent decisions.
    ///
    /// # Errors
    /// If there is no such parameter, or the value is out of range.
    fn set_parameter(&mut self, name: &str, _value: f64) -> Result<(), ParameterError> {
        Err(ParameterError::Unknown(name.to_owned()))
    }
}

/// The bot for this game at this tier. The same seed, position and node limit give the same choice.
pub fn bot(kind: GameKind, tier: Tier, seed: u64) -> Box<dyn Bot> {
    match kind {
        GameKind::Gomoku => Box::new(crate::gomoku::GomokuBot::new(tier, seed)),
        GameKind::Xiangqi => Box::new(crate::xiangqi::XiangqiBot::new(tier, seed)),
        GameKind::Liuzhou => Box::new(crate::liuzhou::LiuzhouBot::new(tier, seed)),
        GameKind::Go => Box::new(crate::go::GoBot::new(tier, seed)),
        GameKind::LightsOut => Box::new(crate::lights_out::LightsOutBot),
    }
}

/// As [`bot`], remembering positions in at most about this many bytes: for a device whose memory others need too. Weaker only
/// where a tier would fill more than that in the time it is given.
pub fn bot_within(kind: GameKind, tier: Tier, seed: u64, bytes: usize) -> Box<dyn Bot> {
    // Tiers below the strongest take 16 MB at the most by themselves.
    let table = (tier.number() == 10).then_some(bytes);
    match kind {
        GameKind::Gomoku => Box::new(crate::gomoku::GomokuBot::with_table(tier, seed, table)),
        GameKind::Xiangqi => Box::new(crate::xiangqi::XiangqiBot::with_table(tier, seed, table)),
        GameKind::Liuzhou => Box::new(crate::liuzhou::LiuzhouBot::within(tier, seed, bytes)),
        GameKind::Go => Box::new(crate::go::GoBot::new(tier, seed).with_memory(bytes)),
        GameKind::LightsOut => Box::new(crate::lights_out::LightsOutBot),
    }
}

/// Searches one variation after another, each without the first actions of the earlier ones, and returns them best first.
/// Each may use an equal part of the limits.
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
    /// A sort key for scores of one game: larger is better for the side to move.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_search_found_is_read_as_it_was_written_and_nonsense_is_not() {
        let game = AnyGame::new(&GameKind::Xiangqi.default_setup()).expect("a game");
        let line = ["h2e2", "h9g7"].iter().scan(game.clone(), |game, word| {
            let action = game.parse(word).expect("a move");
            game.act(action).expect("legal");
            Some(action)
        });
        let line: Vec<Action> = line.collect();
        for (score, word) in [
            (Score::Points(-35), "-35"),
            (Score::WinIn(5), "W5"),
            (Score::LossIn(4), "L4"),
            (Score::Chance { permille: 512, points: -250 }, "512:-250"),
        ] {
            let report = Report { line: line.clone(), score, depth: 0, nodes: 0 };
            assert_eq!(
                report.text(&game),
                format!("{word} {} {}", game.notation(line[0]), {
                    let mut next = game.clone();
                    next.act(line[0]).expect("legal");
                    next.notation(line[1])
                })
            );
            assert_eq!(Report::from_text(&game, &report.text(&game)), Some(report));
        }
        let cut = Report::from_text(&game, "35 h2e2 h2e2").expect("a first move");
        assert_eq!(cut.line, line[..1], "up to what is no legal move");
        for text in ["", "35", "W h2e2", "1:2:3 h2e2", "70000:1 h2e2", "35 a1a9"] {
            assert_eq!(Report::from_text(&game, text), None, "{text}");
        }
    }
}
