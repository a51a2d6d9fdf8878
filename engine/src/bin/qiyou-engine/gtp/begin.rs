//! Start of a game: board, komi, handicap, or a file.

use std::time::Instant;

use engine::go::{Go, GoSetup, Handicap};
use engine::sgf::{Collection, GoRecord};
use engine::{Action, Game, Side};

use super::{Answer, Chosen, Table, number, parse};

impl Table {
    pub(super) fn board_size(&mut self, words: &[&str]) -> Answer {
        let size: u8 = number(words)?;
        let setup = GoSetup { size, handicap: Handicap::None, ..self.setup.clone() };
        self.start(setup).map_err(|_| "unacceptable size".into())
    }

    pub(super) fn komi(&mut self, words: &[&str]) -> Answer {
        let komi: f32 = number(words)?;
        let half_points = (komi * 2.0).round();
        if !(0.0..=255.0).contains(&half_points) {
            return Err("komi is 0 to 127.5 here".into());
        }
        if self.setup.komi_half_points == half_points as u8 {
            return Ok(String::new());
        }
        // A position from a file may not be reachable from an empty board.
        let empty = Go::new(&self.setup).map_err(|error| error.to_string())?;
        if empty.key() != self.start.key() {
            return Err("the komi of a loaded game stays".into());
        }
        self.setup.komi_half_points = half_points as u8;
        self.start = Go::new(&self.setup).map_err(|error| error.to_string())?;
        self.replay()
    }

    /// The main line of a file's first game, up to before a move number if one is given.
    pub(super) fn load_sgf(&mut self, words: &[&str]) -> Answer {
        let &[file, ref rest @ ..] = words else { return Err("syntax error".into()) };
        let most = match rest {
            [] => usize::MAX,
            [number, ..] => parse::<usize>(number)?.saturating_sub(1),
        };
        let cannot = |why: String| format!("cannot load file: {why}");
        let bytes = std::fs::read(file).map_err(|error| cannot(error.to_string()))?;
        let games = Collection::read(&bytes).map_err(|stopped| cannot(stopped.error.to_string()))?.games;
        let tree = games.first().ok_or_else(|| cannot("no game".into()))?;
        let mut record = GoRecord::read(tree).map_err(|stopped| cannot(stopped.error.to_string()))?;
        // Marks and agreements in the file are not moves.
        while matches!(record.actions.last(), Some(Action::Toggle(_) | Action::Agree)) {
            record.actions.pop();
        }
        let setup = record.start.setup().clone();
        self.start = record.start;
        self.begin(setup);
        for action in record.actions {
            if self.moves.len() == most {
                break;
            }
            // Actions that resume play after two passes belong to the following move.
            let is_move = matches!(action, Action::Place(_) | Action::Pass);
            let before = self.actions.len();
            self.act(action)?;
            if is_move {
                self.moves.push(before);
            }
        }
        Ok(String::new())
    }

    pub(super) fn fixed_handicap(&mut self, words: &[&str]) -> Answer {
        let stones: u8 = number(words)?;
        if !self.actions.is_empty() {
            return Err("board not empty".into());
        }
        let setup = GoSetup { handicap: Handicap::Stars(stones), ..self.setup.clone() };
        self.start(setup).map_err(|_| "invalid number of stones".to_owned())?;
        Ok(self.stones_on_board())
    }

    pub(super) fn place_free_handicap(&mut self, words: &[&str]) -> Answer {
        let stones: u8 = number(words)?;
        if !self.actions.is_empty() {
            return Err("board not empty".into());
        }
        let setup = GoSetup { handicap: Handicap::Free(stones), ..self.setup.clone() };
        self.start(setup).map_err(|_| "invalid number of stones".to_owned())?;
        for _ in 0..stones {
            match self.choose(Side::First, Instant::now(), &mut |_, _| {}) {
                Chosen::Move(action) => self.act(action)?,
                Chosen::Resign => return Err("no move".into()),
            }
        }
        Ok(self.stones_on_board())
    }

    pub(super) fn set_free_handicap(&mut self, words: &[&str]) -> Answer {
        if !self.actions.is_empty() {
            return Err("board not empty".into());
        }
        let stones = u8::try_from(words.len()).map_err(|_| "invalid number of stones")?;
        let old = self.setup.clone();
        let setup = GoSetup { handicap: Handicap::Free(stones), ..old.clone() };
        self.start(setup).map_err(|_| "invalid number of stones".to_owned())?;
        for word in words {
            let placed = match self.game.parse(word) {
                Some(action @ Action::Place(_)) => self.act(action),
                _ => Err("syntax error".into()),
            };
            if let Err(why) = placed {
                self.start(old)?;
                return Err(why);
            }
        }
        Ok(String::new())
    }

    fn stones_on_board(&self) -> String {
        let stones = self.points().filter(|&point| self.game.at(point).is_some());
        stones.map(|point| self.game.notation(Action::Place(point))).collect::<Vec<_>>().join(" ")
    }
}
