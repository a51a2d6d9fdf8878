//! The rules of Lights Out: one player presses until every light is off, or two race on equal boards.
//!
//! A race consists of two runs, the first side's and then the second's, each from the initial board and ended by
//! [`Action::Done`] with its time. Between two devices both run at the same time: the record gets a run as a whole once it
//! is that side's turn in the record. So the record of a race is an ordinary list of actions.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::{Lights, Neighbours, Solution, solve};
use crate::text::{TextError, words};
use crate::words::numbered;
use crate::{
    Action, BoardView, Fact, Game, GameKind, IllegalAction, Language, Names, Outcome, Piece, PieceView,
    Point, Reason, Rng, SetupError, Side, Touch,
};

/// The setup of a game of Lights Out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LightsOutSetup {
    /// The neighbours that a press toggles.
    pub neighbours: Neighbours,
    /// The initial board.
    pub start: Start,
    /// A race: two sides try to be faster on equal, solvable boards of at most [`LightsOutSetup::RACE_SIDE`] columns and
    /// rows. Otherwise [`Side::First`] plays alone.
    pub race: bool,
}

/// An initial board.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Start {
    /// A solvable board made by random presses, reproducible by seed.
    Random {
        /// Columns, within [`Lights::SIZES`].
        columns: u16,
        /// Rows, within [`Lights::SIZES`].
        rows: u16,
        /// Seed of the presses.
        seed: u64,
    },
    /// This board, solvable or not.
    Board(Lights),
}

impl Default for LightsOutSetup {
    fn default() -> Self {
        // 5 x 5 is the size of the toy of 1995 that gave the game its name.
        let start = Start::Random { columns: 5, rows: 5, seed: 0 };
        Self { neighbours: Neighbours::default(), start, race: false }
    }
}

/// Size and seed, followed by options with other than default values: `5x5 seed=7`, `9x9 seed=1 torus diagonals race`. A
/// board that was set up is written as its size alone, because the board is the position.
impl fmt::Display for LightsOutSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.start {
            Start::Random { columns, rows, seed } => write!(f, "{columns}x{rows} seed={seed}")?,
            Start::Board(lights) => write!(f, "{}x{}", lights.columns(), lights.rows())?,
        }
        let Neighbours { torus, diagonals } = self.neighbours;
        let words = [(torus, " torus"), (diagonals, " diagonals"), (self.race, " race")];
        words.into_iter().filter(|(on, _)| *on).try_for_each(|(_, word)| f.write_str(word))
    }
}

/// Parses the format of `Display`, in any order; defaults are 5x5 and seed 0.
impl FromStr for LightsOutSetup {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let (mut neighbours, mut race) = (Neighbours::default(), false);
        let (mut columns, mut rows, mut seed) = (5, 5, 0);
        for (at, word) in words(text) {
            let wrong = TextError::at(text, at, "a size such as 5x5, seed=, torus, diagonals or race");
            match (word, word.strip_prefix("seed="), word.split_once('x')) {
                ("torus", ..) => neighbours.torus = true,
                ("diagonals", ..) => neighbours.diagonals = true,
                ("race", ..) => race = true,
                (_, Some(number), _) => seed = number.parse().map_err(|_| wrong)?,
                (_, None, Some((c, r))) => {
                    columns = c.parse().map_err(|_| wrong)?;
                    rows = r.parse().map_err(|_| wrong)?;
                }
                _ => return Err(wrong),
            }
        }
        let setup = Self { neighbours, start: Start::Random { columns, rows, seed }, race };
        setup.board().map_err(|error| TextError::at(text, 0, error.0))?;
        Ok(setup)
    }
}

impl LightsOutSetup {
    /// Maximum columns and rows of a race's board. Minimal solutions have at most one press per cell, so that two runs stay
    /// far below the limit of a record between two devices.
    pub const RACE_SIDE: u16 = 15;
    /// Maximum number of presses in a run: a little more than twice the cells of the largest board.
    pub const RACE_PRESSES: u32 = 500;
    /// Maximum time of a run, in tenths of a second: thirty days.
    pub const RACE_TENTHS: u32 = 30 * 24 * 60 * 60 * 10;

    /// The same board and neighbours for one player: the board of each side in a race.
    #[must_use]
    pub fn alone(&self) -> Self {
        Self { race: false, ..self.clone() }
    }

    fn board(&self) -> Result<Lights, SetupError> {
        let longest = match &self.start {
            Start::Random { columns, rows, .. } => *columns.max(rows),
            Start::Board(board) => board.columns().max(board.rows()),
        };
        if self.race && longest > Self::RACE_SIDE {
            return Err(SetupError("a race is on a board of at most 15 columns and rows"));
        }
        let board = match &self.start {
            Start::Board(board) => board.clone(),
            Start::Random { columns, rows, seed } => {
                let mut presses = Lights::new(*columns, *rows)
                    .ok_or(SetupError("a board of lights has 1 to 1,000 columns and rows"))?;
                self.check_torus(&presses)?;
                let mut rng = Rng::new(*seed);
                loop {
                    for row in 0..*rows {
                        for column in 0..*columns {
                            if rng.next_u64() >> 63 == 1 {
                                presses.toggle(Point::new(column, row));
                            }
                        }
                    }
                    let board = Lights::toggled_by(&presses, self.neighbours);
                    if board.count() > 0 {
                        break board;
                    }
                }
            }
        };
        self.check_torus(&board)?;
        if board.count() == 0 {
            return Err(SetupError("a game begins with a light that is on"));
        }
        let given = matches!(self.start, Start::Board(_));
        if self.race && given && solve(&board, self.neighbours) == Solution::Unsolvable {
            return Err(SetupError("no presses put this board out"));
        }
        Ok(board)
    }

    /// With fewer than three columns or rows both neighbours of a cell would be the same cell.
    fn check_torus(&self, board: &Lights) -> Result<(), SetupError> {
        if self.neighbours.torus && board.columns().min(board.rows()) < 3 {
            return Err(SetupError("joined edges need at least 3 columns and rows"));
        }
        Ok(())
    }
}

/// A press on a cell, or the end of a run, in the position that the move was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LightMove(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Press(Point),
    /// The end of the run, with its time in tenths of a second.
    Done(u32),
}

/// A finished run of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    /// Number of presses.
    pub presses: u32,
    /// Time in tenths of a second.
    pub tenths: u32,
    /// Whether every light is off; otherwise the side gave up.
    pub finished: bool,
}

/// A position of Lights Out. Without a race it is always [`Side::First`]'s turn; in a race it is the first side's until its
/// run is finished.
///
/// The key covers size, neighbours, lights and finished runs. It leaves out the presses in the present run and the initial
/// board.
#[derive(Clone, Debug)]
pub struct LightsOut {
    setup: LightsOutSetup,
    lights: Lights,
    /// Number of presses in this run.
    presses: u32,
    /// Race: the finished runs.
    runs: [Option<Run>; 2],
    ply: u32,
    last: Option<LightMove>,
    lights_key: u64,
    /// Minimal number of presses for the initial board, if known; computed when the last light goes off.
    fewest: Option<u32>,
}

impl LightsOut {
    /// The present lights.
    pub fn lights(&self) -> &Lights {
        &self.lights
    }

    /// The solution of the present lights.
    pub fn solution(&self) -> Solution {
        solve(&self.lights, self.setup.neighbours)
    }

    /// Number of presses on this board.
    pub fn presses(&self) -> u32 {
        self.presses
    }

    /// The finished runs of a race, the first side's first.
    pub fn runs(&self) -> [Option<Run>; 2] {
        self.runs
    }

    /// Whether a run has started and is not finished in this position.
    pub fn is_within_run(&self) -> bool {
        self.setup.race && self.presses > 0 && self.outcome().is_none()
    }

    /// The winner of the race, once both runs are finished.
    fn race_outcome(&self) -> Option<Outcome> {
        let [Some(first), Some(second)] = self.runs else { return None };
        if !first.finished && !second.finished {
            return Some(Outcome { winner: None, reason: Reason::TooLong });
        }
        let rank = |run: Run| (!run.finished, run.tenths, run.presses);
        let winner = match rank(first).cmp(&rank(second)) {
            Ordering::Less => Some(Side::First),
            Ordering::Greater => Some(Side::Second),
            Ordering::Equal => None,
        };
        let reason = if winner.is_none() {
            Reason::AllOut
        } else if (first.finished, first.tenths) == (second.finished, second.tenths) {
            Reason::FewerPresses
        } else {
            Reason::Faster
        };
        Some(Outcome { winner, reason })
    }

    fn race_key(&self) -> u64 {
        if !self.setup.race {
            return 0;
        }
        let mix = |key: u64, number: u64| Rng::new(key ^ number).next_u64();
        self.runs.iter().fold(0x7261_6365_0000_0000, |key, run| match run {
            None => mix(key, 1 << 63),
            Some(Run { presses, tenths, finished }) => {
                mix(mix(key, u64::from(*tenths) << 1 | u64::from(*finished)), u64::from(*presses))
            }
        })
    }

    /// Whether the maximum number of presses in this run is reached.
    fn run_is_full(&self) -> bool {
        self.setup.race && self.presses >= LightsOutSetup::RACE_PRESSES
    }

    /// Whether the run of the side to move may end: with every light off, or by giving up. Both sides cannot give up, unless
    /// no presses are left.
    fn may_be_done(&self) -> bool {
        let other_finished = self.runs[0].is_none_or(|first| first.finished);
        self.setup.race && (self.lights.count() == 0 || other_finished || self.run_is_full())
    }

    fn toggle_key(&mut self, before: &Lights, around: Point) {
        // A press changes cells in three rows and columns, also across joined edges.
        let near = |place: u16, length: u16| {
            let mut list = vec![place, (place + 1) % length, (place + length - 1) % length];
            list.sort_unstable();
            list.dedup();
            list
        };
        for row in near(around.row, self.lights.rows()) {
            for column in near(around.column, self.lights.columns()) {
                let at = Point::new(column, row);
                if before.get(at) != self.lights.get(at) {
                    self.lights_key ^= light_key(at);
                }
            }
        }
    }
}

/// Zobrist key of a light that is on, the same on every machine.
const fn light_key(at: Point) -> u64 {
    Rng::new(0x6c69_6768_7400_0000 | (at.row as u64) << 16 | at.column as u64).next_u64()
}

fn lights_key(lights: &Lights) -> u64 {
    lights.points().fold(0, |key, at| key ^ light_key(at))
}

fn rest_key(lights: &Lights, neighbours: Neighbours) -> u64 {
    let options = u64::from(neighbours.torus) << 1 | u64::from(neighbours.diagonals);
    let size = u64::from(lights.columns()) << 16 | u64::from(lights.rows());
    Rng::new(0x6c69_6768_7473_0000 ^ size << 8 ^ options).next_u64()
}

impl Game for LightsOut {
    type Setup = LightsOutSetup;
    type Move = LightMove;

    fn new(setup: &LightsOutSetup) -> Result<Self, SetupError> {
        let lights = setup.board()?;
        let lights_key = lights_key(&lights);
        let (setup, runs) = (setup.clone(), [None; 2]);
        Ok(Self { setup, lights, presses: 0, runs, ply: 0, last: None, lights_key, fewest: None })
    }

    fn setup(&self) -> &LightsOutSetup {
        &self.setup
    }

    fn turn(&self) -> Side {
        if self.runs[0].is_some() { Side::Second } else { Side::First }
    }

    fn ply(&self) -> u32 {
        self.ply
    }

    fn outcome(&self) -> Option<Outcome> {
        if self.setup.race {
            return self.race_outcome();
        }
        (self.lights.count() == 0).then_some(Outcome { winner: Some(Side::First), reason: Reason::AllOut })
    }

    /// Contains only the end of the run with time 0, although ends with other times are legal.
    fn legal_moves(&self, into: &mut Vec<LightMove>) {
        into.clear();
        if self.outcome().is_some() {
            return;
        }
        if self.lights.count() > 0 && !self.run_is_full() {
            let points = crate::game::points(self.lights.columns(), self.lights.rows());
            into.extend(points.map(|at| LightMove(Kind::Press(at))));
        }
        if self.may_be_done() {
            into.push(LightMove(Kind::Done(0)));
        }
    }

    fn legal_move(&self, action: Action) -> Result<LightMove, IllegalAction> {
        match action {
            _ if self.outcome().is_some() => Err(IllegalAction::Ended),
            Action::Press(point) if !self.lights.has(point) => Err(IllegalAction::OffBoard(point)),
            Action::Press(_) if self.lights.count() == 0 || self.run_is_full() => {
                Err(IllegalAction::WrongKind)
            }
            Action::Press(point) => Ok(LightMove(Kind::Press(point))),
            Action::Done(tenths) if self.may_be_done() && tenths <= LightsOutSetup::RACE_TENTHS => {
                Ok(LightMove(Kind::Done(tenths)))
            }
            _ => Err(IllegalAction::WrongKind),
        }
    }

    fn action(LightMove(kind): LightMove) -> Action {
        match kind {
            Kind::Press(at) => Action::Press(at),
            Kind::Done(tenths) => Action::Done(tenths),
        }
    }

    fn play(&mut self, mv: LightMove) {
        self.ply += 1;
        self.last = Some(mv);
        match mv.0 {
            Kind::Press(at) => {
                let before = self.lights.clone();
                self.lights.press(at, self.setup.neighbours);
                self.toggle_key(&before, at);
                self.presses += 1;
                if self.lights.count() == 0 {
                    let start = self.setup.board().expect("the game began with it");
                    if let Solution::Presses { presses, fewest: true } = solve(&start, self.setup.neighbours)
                    {
                        self.fewest = Some(presses.count());
                    }
                }
            }
            Kind::Done(tenths) => {
                let (side, finished) = (self.turn(), self.lights.count() == 0);
                self.runs[side.index()] = Some(Run { presses: self.presses, tenths, finished });
                if side == Side::First {
                    self.lights = self.setup.board().expect("the game began with it");
                    self.lights_key = lights_key(&self.lights);
                    self.presses = 0;
                }
            }
        }
    }

    fn key(&self) -> u64 {
        self.lights_key ^ rest_key(&self.lights, self.setup.neighbours) ^ self.race_key()
    }

    fn fresh_key(&self) -> u64 {
        lights_key(&self.lights) ^ rest_key(&self.lights, self.setup.neighbours) ^ self.race_key()
    }

    fn view(&self) -> BoardView {
        let outcome = self.outcome();
        let pieces = self.lights.points();
        BoardView {
            game: GameKind::LightsOut,
            columns: self.lights.columns(),
            rows: self.lights.rows(),
            pieces: pieces.map(|at| PieceView { at, side: Side::First, piece: Piece::Light }).collect(),
            last: self.last.map(Self::action),
            marks: Vec::new(),
            facts: std::iter::once(Fact::Presses(self.presses))
                .chain(self.fewest.map(Fact::Fewest))
                .collect(),
            steps: Vec::new(),
            losing_steps: Vec::new(),
            choices: Vec::new(),
            touch: if outcome.is_none() { Touch::Press } else { Touch::Nothing },
            turn: outcome.is_none().then_some(self.turn()),
            outcome,
            ply: self.ply,
        }
    }

    /// The point: `c3`; the end of a run as its time: `12.3s`.
    fn notation(&self, action: Action) -> String {
        action.to_string()
    }

    fn parse(&self, text: &str) -> Option<Action> {
        let text = text.trim();
        if let Some((seconds, tenth)) = text.strip_suffix('s').and_then(|time| time.split_once('.')) {
            let (seconds, tenth) = (seconds.parse::<u32>().ok()?, tenth.parse::<u32>().ok()?);
            return seconds.checked_mul(10)?.checked_add(tenth).filter(|_| tenth < 10).map(Action::Done);
        }
        text.parse().ok().map(Action::Press)
    }

    fn names(language: Language) -> Names {
        match language {
            Language::Chinese => Names { game: "关灯", first: "玩家", second: "对手" },
            Language::English => Names { game: "Lights Out", first: "The player", second: "The rival" },
        }
    }

    fn rule_sheet(setup: &LightsOutSetup, language: Language) -> String {
        let pick = |chinese: &'static str, english: &'static str| language.pick(chinese, english).to_owned();
        let mut sentences = vec![pick("目标：把灯全关掉。", "The aim: turn all the lights off.")];
        sentences.push(match (&setup.start, language) {
            (Start::Random { columns, rows, seed: 0 }, Language::Chinese) if setup.race => {
                format!("棋盘 {columns} × {rows}，开局时由双方设备共同抽取，一定有解。")
            }
            (Start::Random { columns, rows, seed: 0 }, Language::English) if setup.race => format!(
                "The board is {columns} x {rows}, drawn by both devices when the game begins; it can be solved."
            ),
            (Start::Random { columns, rows, seed }, Language::Chinese) => {
                format!("棋盘 {columns} × {rows}，第 {seed} 号随机题，一定有解。")
            }
            (Start::Random { columns, rows, seed }, Language::English) => {
                format!("The board is {columns} x {rows}, random board number {seed}, which can be solved.")
            }
            (Start::Board(board), Language::Chinese) => {
                let (columns, rows, count) = (board.columns(), board.rows(), board.count());
                format!("棋盘 {columns} × {rows}，自定局面，亮 {count} 盏（编号 {:016x}）。", lights_key(board))
            }
            (Start::Board(board), Language::English) => {
                let (columns, rows, count) = (board.columns(), board.rows(), board.count());
                format!(
                    "The board is {columns} x {rows}, set up by hand with {count} lights on (number {:016x}).",
                    lights_key(board)
                )
            }
        });
        sentences.push(if setup.neighbours.diagonals {
            pick("按一盏灯，它和周围八盏都改变亮灭。", "A press changes a light and the eight around it.")
        } else {
            pick(
                "按一盏灯，它和上下左右四盏都改变亮灭。",
                "A press changes a light and those above, below, left and right of it.",
            )
        });
        if setup.neighbours.torus {
            sentences.push(pick(
                "左边与右边相连，上边与下边相连。",
                "The left edge is joined to the right one, the top to the bottom.",
            ));
        }
        if setup.race {
            sentences.push(pick(
                "两人同时各按各的棋盘，开始时亮灯相同。",
                "Both press at the same time, each on a board of their own; the boards begin alike.",
            ));
            sentences.push(pick(
                "先关掉全部灯者胜：用时少者胜，计到十分之一秒；用时相同，按得少者胜。",
                "Whoever turns all the lights off in less time wins, counted in tenths of a second; if the times are \
                 equal, whoever pressed less.",
            ));
            sentences.push(pick(
                "各人用时由自己的设备计；连接中断或商定暂停时，双方的表都停，不能按。",
                "Each device measures its own player's time. While the connection is lost or the game is paused, both \
                 clocks stop and nothing can be pressed.",
            ));
        } else {
            sentences.push(pick("灯全灭即完成。", "The board is solved when all the lights are off."));
        }
        numbered(&sentences)
    }
}
