//! The same position in other matches: also reached by another order of moves, rotated or reflected.

use crate::point::way_back;
use crate::{Action, AnyGame, BoardView, Point, Rng};

/// Finds a position in other matches by its pieces and side to move. What rules remember beside them, such as a ko, does not count.
#[derive(Clone, Debug)]
pub struct PositionMatcher {
    /// Hash of the position under each symmetry of its board: see [`Point::turned`].
    hashes: Vec<u64>,
    size: [u16; 2],
}

impl PositionMatcher {
    /// This position.
    pub fn new(game: &AnyGame) -> Self {
        let view = game.view();
        Self { hashes: hashes(&view).collect(), size: [view.columns, view.rows] }
    }

    /// `action` in this position, if `game` is the same one up to a symmetry. Actions that the symmetry of the position itself
    /// makes equal are the same.
    pub fn matching(&self, game: &AnyGame, action: Action) -> Option<Action> {
        // Fifth moves that are offered are not played.
        if matches!(game, AnyGame::Gomoku(gomoku) if gomoku.is_offering()) {
            return None;
        }
        let view = game.view();
        if [view.columns, view.rows] != self.size {
            return None;
        }
        let hash = hash_turned(&view, 0);
        let ways = (0..).zip(&self.hashes).filter(|(_, turned)| **turned == hash);
        let here = ways.map(|(way, _)| self.turned(action, way_back(way)));
        here.min_by_key(|action| points(*action).map(|at| at.map(|at| (at.row, at.column))))
    }

    fn turned(&self, action: Action, way: u8) -> Action {
        let turn = |at: Point| at.turned(way, self.size);
        match action {
            Action::Place(at) => Action::Place(turn(at)),
            Action::Step { from, to } => Action::Step { from: turn(from), to: turn(to) },
            Action::Capture(at) => Action::Capture(turn(at)),
            Action::Press(at) => Action::Press(turn(at)),
            Action::Toggle(at) => Action::Toggle(turn(at)),
            Action::Pass | Action::Agree | Action::Resume | Action::Choose(_) | Action::Done(_) => action,
        }
    }
}

fn points(action: Action) -> [Option<Point>; 2] {
    match action {
        Action::Place(at) | Action::Capture(at) | Action::Press(at) | Action::Toggle(at) => [Some(at), None],
        Action::Step { from, to } => [Some(from), Some(to)],
        Action::Pass | Action::Agree | Action::Resume | Action::Choose(_) | Action::Done(_) => [None; 2],
    }
}

/// Hash of the pieces under each symmetry of the board: eight of a square, two of others.
pub(crate) fn hashes(view: &BoardView) -> impl Iterator<Item = u64> {
    let ways = if view.columns == view.rows { 8 } else { 2 };
    (0..ways).map(|way| hash_turned(view, way))
}

/// Hash of the pieces under this symmetry: see [`Point::turned`].
fn hash_turned(view: &BoardView, way: u8) -> u64 {
    let turn = view.turn.map_or(2, |side| side as u64);
    view.pieces.iter().fold(turn, |sum, piece| {
        let Point { column, row } = piece.at.turned(way, [view.columns, view.rows]);
        let what = (piece.side as u64) << 40 | (piece.piece as u64) << 32;
        sum.wrapping_add(Rng::new(what | u64::from(column) << 16 | u64::from(row)).next_u64())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GameKind;

    /// The position after these actions in the notation of the game.
    fn after(kind: GameKind, written: &[&str]) -> AnyGame {
        let mut game = AnyGame::new(&kind.default_setup()).expect("a setup");
        for action in written {
            let action = game.parse(action).expect("notation");
            game.act(action).expect("legal");
        }
        game
    }

    /// What `action` after `there` is in the position after `here`.
    fn same(kind: GameKind, here: &[&str], there: &[&str], action: &str) -> Option<String> {
        let (here, there) = (after(kind, here), after(kind, there));
        let action = there.parse(action).expect("notation");
        PositionMatcher::new(&here).matching(&there, action).map(|action| here.notation(action))
    }

    #[test]
    fn a_position_is_the_same_in_another_order_rotated_or_reflected_and_so_is_its_next_move() {
        let gomoku = |here: &[&str], there: &[&str], action| same(GameKind::Gomoku, here, there, action);
        let here = ["h8", "i9", "j6"];
        assert_eq!(gomoku(&here, &["j6", "i9", "h8"], "a1").as_deref(), Some("a1"));
        // Reflected left to right, and rotated by a quarter.
        assert_eq!(gomoku(&here, &["h8", "g9", "f6"], "o1").as_deref(), Some("a1"));
        assert_eq!(gomoku(&here, &["h8", "i7", "f6"], "a15").as_deref(), Some("a1"));
        assert_eq!(gomoku(&here, &["h8", "i9", "j7"], "a1"), None, "another one");
        assert_eq!(gomoku(&here, &["h8", "i9"], "j6"), None, "one stone less");
    }

    #[test]
    fn moves_that_a_symmetric_position_makes_equal_are_one() {
        let first = |action| same(GameKind::Gomoku, &[], &[], action);
        assert_eq!(first("a1"), first("o15"));
        assert_eq!(first("b1"), first("o14"));
        assert_ne!(first("a1"), first("b1"));
    }

    #[test]
    fn xiangqi_is_reflected_left_to_right_only() {
        let first = |action| same(GameKind::Xiangqi, &[], &[], action);
        assert_eq!(first("h2e2"), first("b2e2"));
        assert_ne!(first("h2e2"), first("h2d2"));
    }

    #[test]
    fn another_size_is_another_position() {
        let small = engine_of_size(9);
        let there = after(GameKind::Go, &[]);
        let action = there.parse("C3").expect("notation");
        assert_eq!(PositionMatcher::new(&small).matching(&there, action), None);
    }

    fn engine_of_size(size: u8) -> AnyGame {
        AnyGame::new(&crate::Setup::Go(crate::go::GoSetup { size, ..Default::default() })).expect("a setup")
    }
}
