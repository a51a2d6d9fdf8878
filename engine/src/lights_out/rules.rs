//! The game: one player presses until every light is out.

use std::fmt;
use std::str::FromStr;

use super::{Lights, Neighbours, Solution, solve};
use crate::text::{TextError, words};
use crate::words::numbered;
use crate::{
    Action, BoardView, Fact, Game, GameKind, IllegalAction, Language, Names, Outcome, Piece, PieceView,
    Point, Reason, Rng, SetupError, Side,
};

/// What a game of Lights Out is played by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LightsOutSetup {
    /// Which cells a press toggles beside its own.
    pub neighbours: Neighbours,
    /// The board at the start.
    pub start: Start,
}

/// A board at the start.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Start {
    /// A board that can be put out, by random presses: the same seed gives the same board.
    Random {
        /// Cells from left to right, [`Lights::SIZES`].
        columns: u16,
        /// Cells from bottom to top, [`Lights::SIZES`].
        rows: u16,
        /// What decides the presses.
        seed: u64,
    },
    /// This board, whether or not it can be put out.
    Board(Lights),
}

impl Default for LightsOutSetup {
    fn default() -> Self {
        // 5 x 5 is the size of the toy of 1995 that gave the game its name.
        Self { neighbours: Neighbours::default(), start: Start::Random { columns: 5, rows: 5, seed: 0 } }
    }
}

/// Size and seed, then what is not as usual: `5x5 seed=7`, `9x9 seed=1 torus diagonals`. A board that was set up is written as
/// its size alone: the board is the position.
impl fmt::Display for LightsOutSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.start {
            Start::Random { columns, rows, seed } => write!(f, "{columns}x{rows} seed={seed}")?,
            Start::Board(lights) => write!(f, "{}x{}", lights.columns(), lights.rows())?,
        }
        let words = [(self.neighbours.torus, " torus"), (self.neighbours.diagonals, " diagonals")];
        words.into_iter().filter(|(on, _)| *on).try_for_each(|(_, word)| f.write_str(word))
    }
}

/// Reads what `Display` writes, in any order; without a size 5x5, without a seed 0.
impl FromStr for LightsOutSetup {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let mut neighbours = Neighbours::default();
        let (mut columns, mut rows, mut seed) = (5, 5, 0);
        for (at, word) in words(text) {
            let wrong = TextError::at(text, at, "a size such as 5x5, seed=, torus or diagonals");
            match (word, word.strip_prefix("seed="), word.split_once('x')) {
                ("torus", ..) => neighbours.torus = true,
                ("diagonals", ..) => neighbours.diagonals = true,
                (_, Some(number), _) => seed = number.parse().map_err(|_| wrong)?,
                (_, None, Some((c, r))) => {
                    columns = c.parse().map_err(|_| wrong)?;
                    rows = r.parse().map_err(|_| wrong)?;
                }
                _ => return Err(wrong),
            }
        }
        let setup = Self { neighbours, start: Start::Random { columns, rows, seed } };
        setup.board().map_err(|error| TextError::at(text, 0, error.0))?;
        Ok(setup)
    }
}

impl LightsOutSetup {
    fn board(&self) -> Result<Lights, SetupError> {
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
        Ok(board)
    }

    /// With fewer than three, a cell's neighbours on both sides would be the same cell.
    fn check_torus(&self, board: &Lights) -> Result<(), SetupError> {
        if self.neighbours.torus && board.columns().min(board.rows()) < 3 {
            return Err(SetupError("joined edges need at least 3 columns and rows"));
        }
        Ok(())
    }
}

/// A press on a cell of the board that the move was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LightPress(Point);

/// A position of Lights Out. There is one player, [`Side::First`], whose turn it always is.
///
/// Its key covers size, neighbours and lights. Left out: the presses made so far and the board at the start.
#[derive(Clone, Debug)]
pub struct LightsOut {
    setup: LightsOutSetup,
    lights: Lights,
    presses: u32,
    last: Option<LightPress>,
    lights_key: u64,
    /// Fewest presses for the board at the start, if known; looked for when the last light goes out.
    fewest: Option<u32>,
}

impl LightsOut {
    /// The lights as they are.
    pub fn lights(&self) -> &Lights {
        &self.lights
    }

    /// The presses that put out what is lit now.
    pub fn solution(&self) -> Solution {
        solve(&self.lights, self.setup.neighbours)
    }

    fn toggle_key(&mut self, before: &Lights, around: Point) {
        // A press changes cells of three rows and columns, wherever the edges are joined.
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

/// Key of a light that is on, the same on every machine.
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
    type Move = LightPress;

    fn new(setup: &LightsOutSetup) -> Result<Self, SetupError> {
        let lights = setup.board()?;
        let lights_key = lights_key(&lights);
        Ok(Self { setup: setup.clone(), lights, presses: 0, last: None, lights_key, fewest: None })
    }

    fn setup(&self) -> &LightsOutSetup {
        &self.setup
    }

    fn turn(&self) -> Side {
        Side::First
    }

    fn ply(&self) -> u32 {
        self.presses
    }

    fn outcome(&self) -> Option<Outcome> {
        (self.lights.count() == 0).then_some(Outcome { winner: Some(Side::First), reason: Reason::AllOut })
    }

    fn legal_moves(&self, into: &mut Vec<LightPress>) {
        into.clear();
        if self.outcome().is_none() {
            into.extend(crate::game::points(self.lights.columns(), self.lights.rows()).map(LightPress));
        }
    }

    fn legal_move(&self, action: Action) -> Result<LightPress, IllegalAction> {
        match action {
            _ if self.outcome().is_some() => Err(IllegalAction::Ended),
            Action::Press(point) if self.lights.has(point) => Ok(LightPress(point)),
            Action::Press(point) => Err(IllegalAction::OffBoard(point)),
            _ => Err(IllegalAction::WrongKind),
        }
    }

    fn action(mv: LightPress) -> Action {
        Action::Press(mv.0)
    }

    fn play(&mut self, mv: LightPress) {
        let before = self.lights.clone();
        self.lights.press(mv.0, self.setup.neighbours);
        self.toggle_key(&before, mv.0);
        self.presses += 1;
        self.last = Some(mv);
        if self.lights.count() == 0 {
            let start = self.setup.board().expect("the game began with it");
            if let Solution::Presses { presses, fewest: true } = solve(&start, self.setup.neighbours) {
                self.fewest = Some(presses.count());
            }
        }
    }

    fn key(&self) -> u64 {
        self.lights_key ^ rest_key(&self.lights, self.setup.neighbours)
    }

    fn fresh_key(&self) -> u64 {
        lights_key(&self.lights) ^ rest_key(&self.lights, self.setup.neighbours)
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
            turn: outcome.is_none().then_some(Side::First),
            outcome,
            ply: self.presses,
        }
    }

    /// The point: `c3`.
    fn notation(&self, action: Action) -> String {
        action.to_string()
    }

    fn parse(&self, text: &str) -> Option<Action> {
        text.trim().parse().ok().map(Action::Press)
    }

    fn names(language: Language) -> Names {
        match language {
            Language::Chinese => Names { game: "关灯", first: "玩家", second: "对手" },
            Language::English => Names { game: "Lights Out", first: "The player", second: "The rival" },
        }
    }

    fn rule_sheet(setup: &LightsOutSetup, language: Language) -> String {
        let pick = |chinese: &'static str, english: &'static str| language.pick(chinese, english).to_owned();
        let mut sentences = Vec::new();
        sentences.push(match (&setup.start, language) {
            (Start::Random { columns, rows, seed }, Language::Chinese) => {
                format!("棋盘 {columns} × {rows}，第 {seed} 号随机题，一定有解。")
            }
            (Start::Random { columns, rows, seed }, Language::English) => {
                format!("The board is {columns} x {rows}, random board number {seed}, which can be put out.")
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
            pick("按一盏灯，它和周围八盏都改变亮灭。", "A press toggles a light and the eight around it.")
        } else {
            pick(
                "按一盏灯，它和上下左右四盏都改变亮灭。",
                "A press toggles a light and those above, below, left and right of it.",
            )
        });
        if setup.neighbours.torus {
            sentences.push(pick(
                "左边与右边相连，上边与下边相连。",
                "The left edge is joined to the right one, the top to the bottom.",
            ));
        }
        sentences.push(pick("灯全灭即完成。", "The game is done when every light is out."));
        numbered(&sentences)
    }
}
