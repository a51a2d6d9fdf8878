//! An attempt at a puzzle: verifies the solver's moves, and answers with the best defence.

use super::goal::Way;
use super::{Goal, NODES, Puzzle};
use crate::lights_out::Solution;
use crate::prover::Stand;
use crate::{Action, AnyGame, IllegalAction, Side};

/// The verdict on a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The goal is reached.
    Solved,
    /// The goal can still be reached in time. The defender has answered with these actions; the position tells whose turn it
    /// is.
    Onward(Vec<Action>),
    /// The goal can no longer be reached in time. The defender has answered with these actions, if an answer shows why.
    Wrong(Vec<Action>),
}

/// The state of an attempt.
#[derive(Clone)]
pub struct Attempt {
    puzzle: Puzzle,
    game: AnyGame,
    left: u32,
    /// Whether it succeeded; `None` while in progress.
    end: Option<bool>,
    line: Vec<Action>,
    /// Position, moves left and length of the line before each decision of the solver.
    before: Vec<(AnyGame, u32, usize)>,
}

/// Maximum number of the defender's actions in reply to one move: a step and its captures are several.
const MOST_ANSWERS: usize = 12;

impl Attempt {
    /// An attempt from the puzzle's initial position.
    pub fn new(puzzle: Puzzle) -> Self {
        let (game, left) = (puzzle.start.clone(), puzzle.moves);
        Self { puzzle, game, left, end: None, line: Vec::new(), before: Vec::new() }
    }

    /// The puzzle.
    pub fn puzzle(&self) -> &Puzzle {
        &self.puzzle
    }

    /// The present position.
    pub fn game(&self) -> &AnyGame {
        &self.game
    }

    /// The side that solves the puzzle.
    pub fn solver(&self) -> Side {
        self.puzzle.start.turn()
    }

    /// Number of own moves left.
    pub fn left(&self) -> u32 {
        self.left
    }

    /// `Some(true)` after a solution, `Some(false)` after a wrong move that was not undone.
    pub fn end(&self) -> Option<bool> {
        self.end
    }

    /// All actions so far, of both sides.
    pub fn line(&self) -> &[Action] {
        &self.line
    }

    /// Makes the solver's move and the defender's reply. May search for about a second.
    pub fn act(&mut self, action: Action) -> Result<Verdict, IllegalAction> {
        if self.end.is_some() {
            return Err(IllegalAction::Ended);
        }
        let mut game = self.game.clone();
        game.act(action)?;
        self.before.push((std::mem::replace(&mut self.game, game), self.left, self.line.len()));
        self.line.push(action);
        // In Liuzhou chess a capture belongs to the step before it.
        self.left -= u32::from(!matches!(action, Action::Capture(_)));
        let verdict = if self.puzzle.goal == Goal::Lights { self.judge_lights() } else { self.judge() };
        self.end = match &verdict {
            Verdict::Solved => Some(true),
            Verdict::Onward(_) => None,
            Verdict::Wrong(_) => Some(false),
        };
        Ok(verdict)
    }

    /// Undoes the solver's last decision; false if there is none.
    pub fn take_back(&mut self) -> bool {
        let Some((game, left, length)) = self.before.pop() else { return false };
        (self.game, self.left, self.end) = (game, left, None);
        self.line.truncate(length);
        true
    }

    /// A move that reaches the goal in time; `None` after the end, or if there is none.
    pub fn hint(&self) -> Option<Action> {
        if self.end.is_some() {
            return None;
        }
        if self.before.is_empty() {
            return Some(self.puzzle.solution);
        }
        if let AnyGame::LightsOut(lights) = &self.game {
            let Solution::Presses { presses, .. } = lights.solution() else { return None };
            return presses.points().next().map(Action::Press);
        }
        self.way().best(self.left, NODES)?
    }

    fn way(&self) -> Way<'_> {
        Way { start: &self.puzzle.start, goal: self.puzzle.goal, game: &self.game }
    }

    fn judge_lights(&self) -> Verdict {
        if self.game.outcome().is_some() {
            Verdict::Solved
        } else if self.left == 0 {
            Verdict::Wrong(Vec::new())
        } else {
            Verdict::Onward(Vec::new())
        }
    }

    fn judge(&mut self) -> Verdict {
        let mut answers = Vec::new();
        let mut holds = false;
        loop {
            match self.way().stand() {
                Stand::Reached => return Verdict::Solved,
                Stand::Failed => return Verdict::Wrong(answers),
                Stand::Attack => {
                    holds |= self.way().reaches(self.left, NODES) != Some(true);
                    return if holds { Verdict::Wrong(answers) } else { Verdict::Onward(answers) };
                }
                Stand::Defence if answers.len() >= MOST_ANSWERS => return Verdict::Wrong(answers),
                Stand::Defence => {}
            }
            let Some(reply) = self.way().reply(self.left, NODES) else {
                return Verdict::Wrong(answers);
            };
            holds |= reply.needs.is_none();
            if self.game.act(reply.action).is_err() {
                // A repetition, which the position without its history does not show.
                return Verdict::Wrong(answers);
            }
            self.line.push(reply.action);
            answers.push(reply.action);
        }
    }
}
