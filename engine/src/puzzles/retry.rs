//! A position of a game in which a player made a mistake, to look for a better move.
//!
//! Unlike a [`Puzzle`](super::Puzzle) it is not proven: a move is compared with the best one known by a search, which the caller
//! makes.

use super::Verdict;
use crate::{Action, AnyGame, IllegalAction, Language, Side};

/// A mistake of a game.
#[derive(Clone)]
pub struct Mistake {
    /// The position before it.
    pub before: AnyGame,
    /// What was played.
    pub played: Action,
    /// The best move known.
    pub better: Action,
    /// Winning chance with the best move, -1000 to 1000 for the side to move.
    pub chance: i32,
    /// How much of it was lost by what was played.
    pub lost: i32,
}

/// What a search found in a position, for the side to move there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Winning chance, -1000 to 1000.
    pub chance: i32,
    /// The best move.
    pub best: Option<Action>,
}

/// A move other than the best one may lose this part of what the mistake lost: one quarter.
const MAY_LOSE: i32 = 4;

/// An attempt to find the better move.
#[derive(Clone)]
pub struct Retry {
    mistake: Mistake,
    game: AnyGame,
    line: Vec<Action>,
    end: Option<bool>,
}

impl Retry {
    /// An attempt from the position before the mistake.
    pub fn new(mistake: Mistake) -> Self {
        Self { game: mistake.before.clone(), mistake, line: Vec::new(), end: None }
    }

    /// What is tried again.
    pub fn mistake(&self) -> &Mistake {
        &self.mistake
    }

    /// The present position.
    pub fn game(&self) -> &AnyGame {
        &self.game
    }

    /// The side that looks for the better move.
    pub fn solver(&self) -> Side {
        self.mistake.before.turn()
    }

    /// `Some(true)` after a better move, `Some(false)` after one that is not good enough.
    pub fn end(&self) -> Option<bool> {
        self.end
    }

    /// The actions so far: one's own, and the reply that shows why it is not good enough.
    pub fn line(&self) -> &[Action] {
        &self.line
    }

    /// Makes a move. `judge` searches the position after it.
    pub fn act(
        &mut self,
        action: Action,
        judge: impl FnOnce(&AnyGame) -> Option<Judged>,
    ) -> Result<Verdict, IllegalAction> {
        if self.end.is_some() {
            return Err(IllegalAction::Ended);
        }
        let mut game = self.game.clone();
        game.act(action)?;
        self.game = game;
        self.line.push(action);
        let solver = self.solver();
        let found = if action == self.mistake.better { None } else { self.judged(judge) };
        let (is_good, reply) = match found {
            None => (action == self.mistake.better, None),
            Some(judged) => {
                let own = if self.game.turn() == solver { judged.chance } else { -judged.chance };
                let may_lose = self.mistake.lost / MAY_LOSE;
                let is_good = action != self.mistake.played && self.mistake.chance - own <= may_lose;
                (is_good, judged.best.filter(|_| self.game.turn() != solver))
            }
        };
        self.end = Some(is_good);
        if is_good {
            return Ok(Verdict::Solved);
        }
        let answers: Vec<Action> = reply.into_iter().filter(|reply| self.game.act(*reply).is_ok()).collect();
        self.line.extend(&answers);
        Ok(Verdict::Wrong(answers))
    }

    /// The value of the position after a move that is not the best one known. By the rules, where the game is over.
    fn judged(&self, judge: impl FnOnce(&AnyGame) -> Option<Judged>) -> Option<Judged> {
        if let Some(outcome) = self.game.outcome() {
            let chance = match outcome.winner {
                Some(winner) if winner == self.game.turn() => 1_000,
                Some(_) => -1_000,
                None => 0,
            };
            return Some(Judged { chance, best: None });
        }
        judge(&self.game)
    }

    /// Goes back to the position before the mistake; false if nothing was tried.
    pub fn take_back(&mut self) -> bool {
        let tried = !self.line.is_empty();
        *self = Self::new(self.mistake.clone());
        tried
    }

    /// The best move known; `None` after a try.
    pub fn hint(&self) -> Option<Action> {
        self.line.is_empty().then_some(self.mistake.better)
    }
}

impl Mistake {
    /// The task as a sentence.
    pub fn words(&self, language: Language) -> String {
        let played = self.spoken(self.played, language);
        match language {
            Language::Chinese => format!("这一步你走了 {played}。找一步更好的。"),
            Language::English => format!("You played {played} here. Find a better move."),
        }
    }

    /// A move in the position before the mistake, as players write it.
    pub fn spoken(&self, action: Action, language: Language) -> String {
        let index = usize::from(language == Language::English);
        let spoken = self.before.spoken(action);
        spoken.map_or_else(|| self.before.notation(action), |words| words[index].clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GameKind, Point};

    /// Black can make five at i8 and played elsewhere.
    fn missed_five() -> Mistake {
        let mut before = AnyGame::new(&GameKind::Gomoku.default_setup()).expect("the default rules");
        for text in ["e8", "e1", "f8", "f1", "g8", "a1", "h8", "a15"] {
            before.act(before.parse(text).expect("a point")).expect("legal");
        }
        let at = |text: &str| before.parse(text).expect("a point");
        let (played, better) = (at("o15"), at("i8"));
        Mistake { played, better, chance: 1_000, lost: 900, before }
    }

    fn at(text: &str) -> Action {
        missed_five().before.parse(text).expect("a point")
    }

    fn never(_: &AnyGame) -> Option<Judged> {
        panic!("it needs no search")
    }

    #[test]
    fn the_best_move_known_solves_it_without_a_search_and_so_does_another_win() {
        for five in ["i8", "d8"] {
            let mut retry = Retry::new(missed_five());
            assert_eq!(retry.act(at(five), never), Ok(Verdict::Solved), "{five}");
            assert_eq!(retry.end(), Some(true));
        }
    }

    #[test]
    fn the_move_of_the_game_is_wrong_whatever_a_search_says_and_the_reply_is_shown() {
        let mut retry = Retry::new(missed_five());
        let reply = at("i8");
        let mild = |_: &AnyGame| Some(Judged { chance: -1_000, best: Some(reply) });
        assert_eq!(retry.act(at("o15"), mild), Ok(Verdict::Wrong(vec![reply])));
        assert_eq!((retry.end(), retry.line().len()), (Some(false), 2));
        assert_eq!(retry.act(at("a2"), never), Err(IllegalAction::Ended), "it is taken back first");
        assert!(retry.take_back() && retry.line().is_empty() && retry.end().is_none());
        assert!(!retry.take_back(), "there is nothing more to take back");
    }

    #[test]
    fn another_move_is_good_if_it_keeps_three_quarters_of_what_was_lost() {
        for (chance, is_good) in [(-775, true), (-774, false), (0, false), (1_000, false)] {
            let mut retry = Retry::new(missed_five());
            let judged = retry.act(at("c8"), |_| Some(Judged { chance, best: None })).expect("legal");
            assert_eq!(judged == Verdict::Solved, is_good, "{chance}");
        }
    }

    #[test]
    fn a_move_that_no_search_has_judged_is_no_solution() {
        let mut retry = Retry::new(missed_five());
        assert_eq!(retry.act(at("c8"), |_| None), Ok(Verdict::Wrong(Vec::new())));
        let occupied = Action::Place(Point::new(4, 7));
        assert!(Retry::new(missed_five()).act(occupied, never).is_err());
    }

    #[test]
    fn the_task_names_what_was_played() {
        let mistake = missed_five();
        assert_eq!(mistake.words(Language::English), "You played O15 here. Find a better move.");
        assert!(mistake.words(Language::Chinese).contains("O15"));
    }
}
