//! One try at a puzzle: the person's moves are judged, the engine answers with the best defence.

use super::goal::Way;
use super::{Goal, NODES, Puzzle, Stand};
use crate::lights_out::Solution;
use crate::{Action, AnyGame, IllegalAction, Side};

/// What a move came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The goal is reached.
    Solved,
    /// Still on the way; whose decision is next shows in the position. The defender has answered so.
    Onward(Vec<Action>),
    /// The goal is no longer reached in time; the defender has shown why, where one answer does.
    Wrong(Vec<Action>),
}

/// A puzzle being tried.
#[derive(Clone)]
pub struct Attempt {
    puzzle: Puzzle,
    game: AnyGame,
    left: u32,
    /// How it went so far; `None` while it goes on.
    end: Option<bool>,
    line: Vec<Action>,
    /// Position, moves left and length of the line before each decision of the person.
    before: Vec<(AnyGame, u32, usize)>,
}

/// Answers of the defender to one move: a step and what it captures is several.
const MOST_ANSWERS: usize = 12;

impl Attempt {
    /// From the start.
    pub fn new(puzzle: Puzzle) -> Self {
        let (game, left) = (puzzle.start.clone(), puzzle.moves);
        Self { puzzle, game, left, end: None, line: Vec::new(), before: Vec::new() }
    }

    /// What is tried.
    pub fn puzzle(&self) -> &Puzzle {
        &self.puzzle
    }

    /// The position now.
    pub fn game(&self) -> &AnyGame {
        &self.game
    }

    /// Who solves it.
    pub fn solver(&self) -> Side {
        self.puzzle.start.turn()
    }

    /// Own moves that are left.
    pub fn left(&self) -> u32 {
        self.left
    }

    /// `Some(true)` when it is solved, `Some(false)` when a wrong move was made and not taken back.
    pub fn end(&self) -> Option<bool> {
        self.end
    }

    /// Every action so far, of both sides.
    pub fn line(&self) -> &[Action] {
        &self.line
    }

    /// The person's move, with the defender's answer. May search for a second or so.
    pub fn act(&mut self, action: Action) -> Result<Verdict, IllegalAction> {
        if self.end.is_some() {
            return Err(IllegalAction::Ended);
        }
        let mut game = self.game.clone();
        game.act(action)?;
        self.before.push((std::mem::replace(&mut self.game, game), self.left, self.line.len()));
        self.line.push(action);
        // What is captured in Liuzhou chess belongs to the step before it.
        self.left -= u32::from(!matches!(action, Action::Capture(_)));
        let verdict = if self.puzzle.goal == Goal::Lights { self.judge_lights() } else { self.judge() };
        self.end = match &verdict {
            Verdict::Solved => Some(true),
            Verdict::Onward(_) => None,
            Verdict::Wrong(_) => Some(false),
        };
        Ok(verdict)
    }

    /// Takes the last decision of the person back, if there is one.
    pub fn take_back(&mut self) -> bool {
        let Some((game, left, length)) = self.before.pop() else { return false };
        (self.game, self.left, self.end) = (game, left, None);
        self.line.truncate(length);
        true
    }

    /// A move that still gets there; `None` after the end, or when no move does.
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
                // A repetition that only the whole record knows of.
                return Verdict::Wrong(answers);
            }
            self.line.push(reply.action);
            answers.push(reply.action);
        }
    }
}
