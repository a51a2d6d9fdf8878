//! Gomoku: fives, fours and open threes.

use engine::{Action, AnyGame, Point, Side};

use super::{Board, Look, acted, letter, other};

const DIRECTIONS: [(i32, i32); 4] = [(1, 0), (0, 1), (1, 1), (1, -1)];

fn run(board: &Board, at: Point, (dx, dy): (i32, i32)) -> i32 {
    let own = board.at(at);
    let reach = |sign: i32| {
        let is_own = |n: &i32| {
            let (x, y) = (i32::from(at.column) + sign * n * dx, i32::from(at.row) + sign * n * dy);
            board.get(x, y) == Some(own)
        };
        (1..20).take_while(is_own).count() as i32
    };
    1 + reach(1) + reach(-1)
}

/// Empty points of the line through `at` in this direction, near enough for a five.
fn gaps(board: &Board, at: Point, (dx, dy): (i32, i32)) -> Vec<Point> {
    (-4..=4)
        .map(|n| (i32::from(at.column) + n * dx, i32::from(at.row) + n * dy))
        .filter(|&(x, y)| board.get(x, y) == Some('.'))
        .map(|(x, y)| Point::new(x as u16, y as u16))
        .collect()
}

/// Points that complete a five through a stone in a direction.
fn fives_through(board: &mut Board, at: Point, direction: (i32, i32)) -> usize {
    let own = board.at(at);
    gaps(board, at, direction)
        .into_iter()
        .filter(|&gap| {
            board.put(gap, own);
            let five = (i32::from(gap.column) - i32::from(at.column))
                .abs()
                .max((i32::from(gap.row) - i32::from(at.row)).abs())
                < run(board, at, direction)
                && run(board, at, direction) >= 5;
            board.put(gap, '.');
            five
        })
        .count()
}

/// All points at which a side completes five.
fn fives(board: &mut Board, own: char) -> Vec<Point> {
    board
        .points()
        .filter(|&at| {
            if board.at(at) != '.' {
                return false;
            }
            board.put(at, own);
            let five = DIRECTIONS.iter().any(|&direction| run(board, at, direction) >= 5);
            board.put(at, '.');
            five
        })
        .collect()
}

/// Directions in which a stone has a four, and in which it has an open three: one move more makes two points that complete
/// five.
fn fours_and_threes(board: &mut Board, at: Point) -> (usize, usize) {
    let own = board.at(at);
    let (mut fours, mut threes) = (0, 0);
    for direction in DIRECTIONS {
        if fives_through(board, at, direction) > 0 {
            fours += 1;
        } else if gaps(board, at, direction).into_iter().any(|gap| {
            board.put(gap, own);
            let open = fives_through(board, at, direction) == 2;
            board.put(gap, '.');
            open
        }) {
            threes += 1;
        }
    }
    (fours, threes)
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Double {
    /// Two points complete five.
    Fours,
    /// A four and a three, or two threes.
    WithThree,
}

/// The double threat that a stone makes.
fn double(game: &AnyGame, action: Action) -> Option<Double> {
    let (Action::Place(at), AnyGame::Gomoku(_)) = (action, game) else { return None };
    let own = letter(game, game.turn());
    let mut board = Board::of(game);
    board.put(at, own);
    if DIRECTIONS.iter().any(|&direction| run(&board, at, direction) >= 5) {
        return None;
    }
    let through: usize = DIRECTIONS.iter().map(|&direction| fives_through(&mut board, at, direction)).sum();
    let (fours, threes) = fours_and_threes(&mut board, at);
    if through >= 2 { Some(Double::Fours) } else { (fours + threes >= 2).then_some(Double::WithThree) }
}

/// The first double threat of the side to move along a line.
pub(super) fn first_double(game: &AnyGame, line: &[Action]) -> Option<Double> {
    let (side, mut game) = (game.turn(), game.clone());
    for &action in line.iter().take(12) {
        if game.turn() == side
            && let Some(found) = double(&game, action)
        {
            return Some(found);
        }
        game.act(action).ok()?;
    }
    None
}

/// Whether a stone makes a four or an open three, and no double threat.
pub(super) fn attacks(game: &AnyGame, action: Action) -> bool {
    let (Action::Place(at), AnyGame::Gomoku(_)) = (action, game) else { return false };
    let mut board = Board::of(game);
    board.put(at, letter(game, game.turn()));
    double(game, action).is_none()
        && DIRECTIONS.iter().all(|&direction| run(&board, at, direction) < 5)
        && fours_and_threes(&mut board, at) != (0, 0)
}

/// Whether a side to move wins by fours, each of which the other side has to stop.
pub(super) fn by_fours(board: &mut Board, own: char, moves: u32) -> bool {
    if !fives(board, own).is_empty() {
        return true;
    }
    let threatened = fives(board, other(own));
    if moves == 0 || threatened.len() > 1 {
        return false;
    }
    for at in board.points() {
        if board.at(at) != '.' || threatened.first().is_some_and(|&must| must != at) {
            continue;
        }
        board.put(at, own);
        let stops = if DIRECTIONS.iter().any(|&direction| fives_through(board, at, direction) > 0) {
            fives(board, own)
        } else {
            Vec::new()
        };
        let wins = match stops[..] {
            [] => false,
            [stop] => {
                board.put(stop, other(own));
                let wins = by_fours(board, own, moves - 1);
                board.put(stop, '.');
                wins
            }
            _ => true,
        };
        board.put(at, '.');
        if wins {
            return true;
        }
    }
    false
}

impl Look<'_> {
    /// Whether a side makes three fours and open threes in the line in which it does well, and two more than in the other one.
    pub(super) fn attacks_more(&self, side: Side) -> bool {
        let AnyGame::Gomoku(_) = self.before else { return false };
        let count = |line: &mut dyn Iterator<Item = Action>| {
            let (mut game, mut count) = (self.before.clone(), 0);
            for action in line.take(12) {
                if let (true, Action::Place(at)) = (game.turn() == side, action) {
                    let mut board = Board::of(&game);
                    board.put(at, letter(&game, side));
                    count += u32::from(fours_and_threes(&mut board, at) != (0, 0));
                }
                if game.act(action).is_err() {
                    break;
                }
            }
            count
        };
        let played = count(&mut std::iter::once(self.played).chain(self.reply.line.iter().copied()));
        let could = count(&mut self.better.line.iter().copied());
        let (well, ill) = if side == self.mover() { (could, played) } else { (played, could) };
        well >= 3 && well >= ill + 2
    }

    /// A four of White in the line, and the only point that stops it is forbidden for Black.
    pub(super) fn forbidden(&self) -> bool {
        let mut game = self.after.clone();
        for &action in self.reply.line.iter().take(12) {
            let white = game.color(game.turn()) == Side::Second;
            if game.act(action).is_err() || game.outcome().is_some() {
                return false;
            }
            let (AnyGame::Gomoku(gomoku), true) = (&game, white) else { continue };
            let mut board = Board::of(&game);
            if let [stop] = fives(&mut board, 'w')[..]
                && gomoku.fault(stop).is_some()
                && !game.legal_actions().into_iter().any(|action| {
                    acted(&game, action)
                        .and_then(|next| next.outcome())
                        .is_some_and(|outcome| outcome.winner == Some(game.turn()))
                })
            {
                return true;
            }
        }
        false
    }
}
