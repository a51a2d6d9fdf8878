//! Go: chains, ladders, nets, life and death.

use std::collections::HashMap;

use engine::{Action, AnyGame, Point, Side};

use super::{Board, Look, acted, letter, to};

/// A chain and its liberties.
fn chain(board: &Board, from: Point) -> (Vec<Point>, Vec<Point>) {
    let own = board.at(from);
    let (mut stones, mut liberties, mut next) = (vec![from], Vec::new(), 0);
    while let Some(&at) = stones.get(next) {
        next += 1;
        for (dx, dy) in [(1, 0), (-1, 0), (0, 1), (0, -1)] {
            let (column, row) = (i32::from(at.column) + dx, i32::from(at.row) + dy);
            let Some(cell) = board.get(column, row) else { continue };
            let beside = Point::new(column as u16, row as u16);
            if cell == own && !stones.contains(&beside) {
                stones.push(beside);
            } else if cell == '.' && !liberties.contains(&beside) {
                liberties.push(beside);
            }
        }
    }
    (stones, liberties)
}

/// Liberties of the chain on a point; 0 if it was captured.
fn liberties(game: &AnyGame, at: Point) -> Vec<Point> {
    let board = Board::of(game);
    if board.at(at) == '.' { Vec::new() } else { chain(&board, at).1 }
}

/// Stones of the side that is not to move which an action captures.
pub(super) fn taken(game: &AnyGame, action: Action) -> usize {
    let AnyGame::Go(_) = game else { return 0 };
    let theirs = letter(game, game.turn().other());
    let count = |game: &AnyGame| Board::of(game).0.iter().flatten().filter(|cell| **cell == theirs).count();
    acted(game, action).map_or(0, |next| count(game) - count(&next))
}

/// Whether the chain on a point, in atari with its side to move, is captured in a ladder whatever its side plays.
fn caught_in_atari(game: &AnyGame, at: Point, left: u32) -> bool {
    left > 0
        && game.legal_actions().into_iter().all(|action| {
            let next = acted(game, action).expect("legal");
            match liberties(&next, at)[..] {
                [last] => next.legal_move(Action::Place(last)).is_ok(),
                [_, _] => caught(&next, at, left - 1),
                _ => false,
            }
        })
}

/// Whether the chain on a point with two liberties is captured in a ladder by the other side to move.
fn caught(game: &AnyGame, at: Point, left: u32) -> bool {
    liberties(game, at).into_iter().any(|liberty| {
        acted(game, Action::Place(liberty))
            .is_some_and(|next| liberties(&next, at).len() == 1 && caught_in_atari(&next, at, left))
    })
}

/// Whether the chain on a point is captured, its side to move, by so many moves of the other side on its liberties or beside
/// them.
fn netted(game: &AnyGame, at: Point, moves: usize) -> bool {
    liberties(game, at).len() <= moves
        && game.legal_actions().into_iter().all(|action| {
            let next = acted(game, action).expect("legal");
            if next.turn() == game.turn() || next.outcome().is_some() {
                return false;
            }
            nets(&next, at, moves)
        })
}

fn nets(game: &AnyGame, at: Point, moves: usize) -> bool {
    let free = liberties(game, at);
    if free.len() > moves {
        return false;
    }
    let size = Board::of(game).0.len() as i32;
    let mut tries = free.clone();
    for liberty in free {
        for (dx, dy) in [(1, 0), (-1, 0), (0, 1), (0, -1)] {
            let (column, row) = (i32::from(liberty.column) + dx, i32::from(liberty.row) + dy);
            let beside = Point::new(column.max(0) as u16, row.max(0) as u16);
            if (0..size).contains(&column) && (0..size).contains(&row) && !tries.contains(&beside) {
                tries.push(beside);
            }
        }
    }
    tries.into_iter().filter_map(|point| acted(game, Action::Place(point))).any(|next| {
        let left = liberties(&next, at).len();
        left == 0 || left < moves && netted(&next, at, moves - 1)
    })
}

/// Whether a stone is placed beside another one.
pub(crate) fn touches(game: &AnyGame, action: Action) -> bool {
    let (board, Some(at)) = (Board::of(game), to(action)) else { return false };
    [(1, 0), (-1, 0), (0, 1), (0, -1)].into_iter().any(|(dx, dy)| {
        board.get(i32::from(at.column) + dx, i32::from(at.row) + dy).is_some_and(|cell| cell != '.')
    })
}

/// Board, side to move and what it may play (which tells a ko), plies left.
type Key = (Vec<Vec<char>>, Side, Vec<Point>, u32);

/// A chain that is shut in, and the points inside: all that do not belong to the other side, and stones of that side without a
/// liberty outside.
struct Enclosure {
    at: Point,
    own: char,
    inside: Vec<Point>,
    memory: HashMap<Key, bool>,
}

impl Enclosure {
    /// Empty points inside, and plies that are looked at: few enough to look at all.
    const MOST_EMPTY: usize = 7;
    const PLIES: u32 = 13;

    fn of(game: &AnyGame, at: Point) -> Option<Self> {
        let board = Board::of(game);
        let own = board.at(at);
        let (mut inside, mut next) = (vec![at], 0);
        while let Some(&from) = inside.get(next) {
            next += 1;
            for (dx, dy) in [(1, 0), (-1, 0), (0, 1), (0, -1)] {
                let (column, row) = (i32::from(from.column) + dx, i32::from(from.row) + dy);
                let beside = Point::new(column.max(0) as u16, row.max(0) as u16);
                if board.get(column, row).is_some_and(|cell| cell == own || cell == '.')
                    && !inside.contains(&beside)
                {
                    inside.push(beside);
                }
            }
        }
        let empty = inside.iter().filter(|&&at| board.at(at) == '.').count();
        let shut_in = |&at: &Point| {
            let cell = board.at(at);
            cell != own && cell != '.' && chain(&board, at).1.iter().all(|free| inside.contains(free))
        };
        let shut_in: Vec<Point> = board.points().filter(shut_in).collect();
        inside.extend(shut_in);
        (empty <= Self::MOST_EMPTY).then(|| Self { at, own, inside, memory: HashMap::new() })
    }

    /// Whether the chain is captured by the other side, whatever its own plays inside.
    fn captured(&mut self, game: &AnyGame, left: u32) -> bool {
        let board = Board::of(game);
        if board.at(self.at) != self.own {
            return true;
        }
        if left == 0 || game.outcome().is_some() {
            return false;
        }
        let legal = |&&at: &&Point| board.at(at) == '.' && game.legal_move(Action::Place(at)).is_ok();
        let legal: Vec<Point> = self.inside.iter().filter(legal).copied().collect();
        let key = (board.0, game.turn(), legal.clone(), left);
        if let Some(&known) = self.memory.get(&key) {
            return known;
        }
        let own = letter(game, game.turn()) == self.own;
        let mut tries = legal.into_iter().map(Action::Place).chain([Action::Pass]);
        let mut captured = |action| acted(game, action).is_some_and(|next| self.captured(&next, left - 1));
        let found = if own { tries.all(&mut captured) } else { tries.any(&mut captured) };
        self.memory.insert(key, found);
        found
    }
}

/// How a chain in atari is caught.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Hunt {
    /// It can extend, and is put in atari again and again.
    Ladder,
    /// Connecting to other stones does not help.
    Connected,
    /// It cannot even extend.
    Held,
}

impl Look<'_> {
    /// Stones of the mover that the reply captures, where the better move keeps one and what was played captured nothing.
    pub(super) fn captured(&self) -> bool {
        let mover = letter(self.before, self.mover());
        let (was, now) = (Board::of(self.after), Board::of(&self.replied()));
        taken(self.before, self.played) == 0
            && was.points().filter(|&at| was.at(at) == mover && now.at(at) != mover).any(|at| self.keeps(at))
    }

    /// Whether the better move keeps the chain on a point out of atari and of ladders.
    fn keeps(&self, at: Point) -> bool {
        if Some(at) == to(self.played) {
            return true;
        }
        let Some(could) =
            acted(self.before, self.better.line[0]).filter(|_| self.better.line[0] != self.played)
        else {
            return true;
        };
        if Board::of(&could).at(at) != letter(self.before, self.mover()) {
            return false;
        }
        match liberties(&could, at).len() {
            0 | 1 => false,
            2 => !caught(&could, at, 40),
            _ => true,
        }
    }

    pub(super) fn hunted(&self) -> Option<Hunt> {
        let AnyGame::Go(_) = self.before else { return None };
        let (at, replied) = (to(self.reply.line[0])?, self.replied());
        let board = Board::of(&replied);
        let mover = letter(self.before, self.mover());
        let beside = [(1, 0), (-1, 0), (0, 1), (0, -1)].into_iter().filter_map(|(dx, dy)| {
            let (column, row) = (i32::from(at.column) + dx, i32::from(at.row) + dy);
            (board.get(column, row) == Some(mover)).then(|| Point::new(column as u16, row as u16))
        });
        let hunted: Vec<Point> = beside
            .filter(|&at| {
                let (stones, free) = chain(&board, at);
                stones.len() > 1 && free.len() == 1 && caught_in_atari(&replied, at, 40) && self.keeps(at)
            })
            .collect();
        let &at = hunted.first()?;
        let (stones, free) = chain(&board, at);
        let Some(extended) = acted(&replied, Action::Place(free[0])) else { return Some(Hunt::Held) };
        let (joined, free) = chain(&Board::of(&extended), at);
        Some(match (joined.len() > stones.len() + 1, free.len()) {
            (_, 2..) => Hunt::Ladder,
            (true, _) => Hunt::Connected,
            (false, _) => Hunt::Held,
        })
    }

    pub(super) fn snapback(&self) -> bool {
        let (Some(own), Some(at)) = (to(self.played), to(self.reply.line[0])) else { return false };
        let (AnyGame::Go(_), theirs) = (self.before, letter(self.before, self.mover().other())) else {
            return false;
        };
        let (first, back) = (taken(self.before, self.played), taken(self.after, self.reply.line[0]));
        first > 0
            && back > first
            && Board::of(self.before).at(at) == theirs
            && Board::of(&self.replied()).at(own) == '.'
    }

    /// A chain at a distance from the reply, not in atari, is captured whatever its side plays.
    pub(super) fn net(&self) -> bool {
        let (AnyGame::Go(_), Some(by)) = (self.before, to(self.reply.line[0])) else { return false };
        let replied = self.replied();
        let board = Board::of(&replied);
        let mover = letter(self.before, self.mover());
        board.points().any(|at| {
            let near = at.column.abs_diff(by.column).max(at.row.abs_diff(by.row)) <= 2;
            let (stones, free) = if board.at(at) == mover { chain(&board, at) } else { return false };
            let touches = |stone: &Point| stone.column.abs_diff(by.column) + stone.row.abs_diff(by.row) == 1;
            near && stones.len() > 1
                && (2..=3).contains(&free.len())
                && !stones.iter().any(touches)
                && netted(&replied, at, 3)
        })
    }

    /// A chain near the reply lives in one of the two lines and dies in the other.
    pub(super) fn life_and_death(&self) -> bool {
        let (AnyGame::Go(_), Some(by)) = (self.before, to(self.reply.line[0])) else { return false };
        let (replied, Some(could)) = (self.replied(), acted(self.before, self.better.line[0])) else {
            return false;
        };
        let (board, after) = (Board::of(&replied), Board::of(self.after));
        let mover = letter(self.before, self.mover());
        board.points().any(|at| {
            let near = at.column.abs_diff(by.column).max(at.row.abs_diff(by.row)) <= 2;
            let own = after.at(at);
            if !near
                || own == '.'
                || chain(&after, at).0.len() < 4
                || [&board, &Board::of(&could)].into_iter().any(|board| board.at(at) != own)
            {
                return false;
            }
            let dies = |game: &AnyGame| {
                Enclosure::of(game, at)
                    .is_some_and(|mut enclosure| enclosure.captured(game, Enclosure::PLIES))
            };
            let lives = |game: &AnyGame| {
                Enclosure::of(game, at)
                    .is_some_and(|mut enclosure| !enclosure.captured(game, Enclosure::PLIES))
            };
            if own == mover { dies(&replied) && lives(&could) } else { lives(&replied) && dies(&could) }
        })
    }
}
