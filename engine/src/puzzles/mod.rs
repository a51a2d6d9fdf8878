//! Puzzles: positions in which one move, and no other, reaches a goal by force. All are made by this engine from its own
//! games ([`make()`]), kept as text beside the source, and proven again by `tests/puzzles.rs`.
//!
//! | game | goal |
//! |---|---|
//! | gomoku | five by fours without end, or by fours and open threes |
//! | xiangqi | mate by checks without end |
//! | Liuzhou chess | a formation before the other side makes one; the game |
//! | Go | a chain captured; an enclosed group killed, or made to live |
//! | Lights Out | every light out with the fewest presses; a new board each day |
//!
//! A goal has a number of own moves. Within it the first move is the only one that works; later ones are all accepted that
//! still get there in time. What "no other" means is said by each goal: a gomoku puzzle of fours may have a slower win of
//! another kind.

mod attempt;
mod goal;
mod make;
mod prover;

use std::sync::OnceLock;

use crate::lights_out::Solution;
use crate::{Action, AnyGame, BoardView, GameKind, Language, Point, Rng};

pub use attempt::{Attempt, Verdict};
pub use goal::Goal;
pub use make::{Progress, make};
pub(crate) use prover::{Contest, Stand};

/// One puzzle. Whoever is to move at the start has to find the way.
#[derive(Clone)]
pub struct Puzzle {
    /// The same for the same puzzle, wherever it stands in its set: `gomoku-1f0c2a9b`.
    pub id: String,
    /// What is to be reached.
    pub goal: Goal,
    /// Own moves within which it can be reached.
    pub moves: u32,
    /// The only first move that works; in Lights Out one of those that do.
    pub solution: Action,
    /// Where it begins.
    pub start: AnyGame,
}

/// A line that is no puzzle: which of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a puzzle: {0}")]
pub struct NotAPuzzle(pub &'static str);

impl Puzzle {
    /// Reads a line of a set: goal, moves, first move, position. Whether the moves are right is not looked at.
    pub fn read(kind: GameKind, line: &str) -> Result<Self, NotAPuzzle> {
        let mut parts = line.trim().splitn(4, ' ');
        let mut part = |what| parts.next().ok_or(NotAPuzzle(what));
        let (goal, moves, solution) = (part("a goal")?, part("a number of moves")?, part("a first move")?);
        let position = part("a position")?;
        let moves = moves.parse().ok().filter(|moves| (1..=MOST_MOVES).contains(moves));
        let moves = moves.ok_or(NotAPuzzle("a number of moves"))?;
        let start = AnyGame::from_position(&kind.default_setup_for(position), position)
            .map_err(|_| NotAPuzzle("a position"))?;
        let goal = Goal::read(&start, goal).ok_or(NotAPuzzle("a goal of this game"))?;
        let solution = start.parse(solution).filter(|action| start.legal_move(*action).is_ok());
        let solution = solution.ok_or(NotAPuzzle("a legal first move"))?;
        Ok(Self { id: id(&start, goal), goal, moves, solution, start })
    }

    /// The line that [`Self::read`] reads.
    pub fn write(&self) -> String {
        let Self { goal, moves, solution, start, .. } = self;
        format!("{} {moves} {} {}", goal.write(start), start.notation(*solution), start.position())
    }

    /// Which game it is of.
    pub fn kind(&self) -> GameKind {
        self.start.kind()
    }

    /// Whether it is the board of a day.
    pub fn is_daily(&self) -> bool {
        self.id.starts_with(DAILY)
    }

    /// How hard it is, 1 to 5, by the moves that have to be foreseen.
    pub fn grade(&self) -> u32 {
        let (easiest, step) = match self.goal {
            Goal::Fours => (3, 1),
            Goal::Threes => (4, 1),
            Goal::Mate => (1, 1),
            Goal::Formation | Goal::Win | Goal::Capture(_) | Goal::Kill(_) | Goal::Live(_) => (2, 1),
            Goal::Lights => (4, 2),
        };
        (self.moves.saturating_sub(easiest) / step + 1).min(5)
    }

    /// What is asked, as one sentence.
    pub fn words(&self, language: Language) -> String {
        self.goal.words(&self.start, self.moves, language)
    }

    /// Why it is solved, as one sentence. `end`: the position to which a solution has led.
    pub fn why(&self, end: &AnyGame, language: Language) -> String {
        self.goal.why(&self.start, end, language)
    }

    /// Proves it again: the goal is reached in so many moves and not in fewer, and by no other first move. `nodes` positions
    /// may be visited.
    pub fn verify(&self, nodes: u64) -> Result<(), String> {
        let out = || format!("{}: not decided within {nodes} positions", self.id);
        if self.goal == Goal::Lights {
            return verify_lights(self);
        }
        let fewest = goal::fewest(&self.start, self.goal, self.moves, nodes).ok_or_else(out)?;
        if fewest != Some(self.moves) {
            return Err(format!("{}: {fewest:?} moves rather than {}", self.id, self.moves));
        }
        let firsts = goal::firsts(&self.start, self.goal, self.moves, nodes).ok_or_else(out)?;
        if firsts != [self.solution] {
            return Err(format!("{}: {firsts:?} all work", self.id));
        }
        if let Goal::Live(target) = self.goal
            && !goal::others_die(&self.start, target, self.solution, MOST_KILLING, nodes).ok_or_else(out)?
        {
            return Err(format!("{}: it does not die otherwise", self.id));
        }
        Ok(())
    }

    /// The same for all positions that are this one turned or mirrored.
    pub fn shape(&self) -> u64 {
        shape(&self.start)
    }
}

/// A group that does not live is taken within so many moves of the other side, or the position is no puzzle.
const MOST_KILLING: u32 = 9;

/// More than any puzzle has.
pub const MOST_MOVES: u32 = 40;

/// Positions that a look at one decision of a puzzle may take: more than any in the sets has needed.
pub(crate) const NODES: u64 = 1_000_000;

/// The set of a game, the easier ones first.
pub fn all(kind: GameKind) -> &'static [Puzzle] {
    static SETS: OnceLock<Vec<Vec<Puzzle>>> = OnceLock::new();
    let read = |&kind: &GameKind| {
        let lines = text(kind).lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut set: Vec<Puzzle> =
            lines.map(|line| Puzzle::read(kind, line).expect("the sets are tested")).collect();
        set.sort_by_key(|puzzle| (puzzle.grade(), puzzle.moves));
        set
    };
    let sets = SETS.get_or_init(|| GameKind::ALL.iter().map(read).collect());
    let at = GameKind::ALL.iter().position(|&one| one == kind).expect("every game is in the list");
    &sets[at]
}

const fn text(kind: GameKind) -> &'static str {
    match kind {
        GameKind::Gomoku => include_str!("../../puzzles/gomoku.txt"),
        GameKind::Liuzhou => include_str!("../../puzzles/liuzhou.txt"),
        GameKind::Go => include_str!("../../puzzles/go.txt"),
        GameKind::Xiangqi => include_str!("../../puzzles/xiangqi.txt"),
        GameKind::LightsOut => include_str!("../../puzzles/lights-out.txt"),
    }
}

/// The puzzle with this id: of a set, or of a day.
pub fn find(id: &str) -> Option<Puzzle> {
    if let Some(day) = id.strip_prefix(DAILY) {
        // Ten thousand years are enough.
        return day.parse().ok().filter(|day| *day < 3_650_000).map(daily);
    }
    let kind = GameKind::ALL
        .iter()
        .copied()
        .find(|kind| id.strip_prefix(kind.word()).is_some_and(|rest| rest.starts_with('-')))?;
    all(kind).iter().find(|puzzle| puzzle.id == id).cloned()
}

const DAILY: &str = "daily-";

/// The board of lights of a day, counted from 1 January 1970: the same on every device. Larger towards Sunday.
pub fn daily(day: u32) -> Puzzle {
    // That day was a Thursday.
    let side = match (day + 3) % 7 {
        0 | 1 => 5,
        2 | 3 => 6,
        4 | 5 => 7,
        _ => 8,
    };
    let mut rng = Rng::new(0x6461_696c_7900_0000 ^ u64::from(day));
    let puzzle = std::iter::repeat_with(|| make::lights(side, &mut rng)).flatten().next();
    let puzzle = puzzle.expect("some random board has a light on");
    Puzzle { id: format!("{DAILY}{day}"), ..puzzle }
}

fn id(start: &AnyGame, goal: Goal) -> String {
    // FNV-1a over what decides the puzzle.
    let text = format!("{} {}", goal.write(start), start.position());
    let hash =
        text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{}-{hash:08x}", start.kind().word())
}

fn verify_lights(puzzle: &Puzzle) -> Result<(), String> {
    let AnyGame::LightsOut(game) = &puzzle.start else { return Err("no board of lights".into()) };
    match game.solution() {
        Solution::Presses { presses, fewest: true } if presses.count() == puzzle.moves => {
            let Action::Press(at) = puzzle.solution else { return Err("no press".into()) };
            if presses.get(at) { Ok(()) } else { Err(format!("{}: {at} is not pressed", puzzle.id)) }
        }
        other => Err(format!("{}: {other:?}", puzzle.id)),
    }
}

fn shape(game: &AnyGame) -> u64 {
    let view = game.view();
    let mirrored_only = view.columns != view.rows;
    let turns = if mirrored_only { 2 } else { 8 };
    (0..turns).map(|n| hash_turned(&view, n)).min().expect("there is at least one way to look at it")
}

/// Hash of the pieces with the board turned the n-th way: see [`Point::turned`].
fn hash_turned(view: &BoardView, n: u8) -> u64 {
    let turn = view.turn.map_or(2, |side| side as u64);
    view.pieces.iter().fold(turn, |sum, piece| {
        let Point { column, row } = piece.at.turned(n, [view.columns, view.rows]);
        let what = (piece.side as u64) << 40 | (piece.piece as u64) << 32;
        sum.wrapping_add(Rng::new(what | u64::from(column) << 16 | u64::from(row)).next_u64())
    })
}
