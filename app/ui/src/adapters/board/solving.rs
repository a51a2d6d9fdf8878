//! A solution of Lights Out that the app plays press by press, as found by the host.

use proto::board::{Action, action};
use proto::control::Room;

use super::layout::ROW_STEP;

/// The remaining presses of one match's solution.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Solving {
    room: String,
    revision: u32,
    /// The ply at which the next press is due.
    ply: u32,
    /// Column and row from the bottom, the first press last.
    left: Vec<(u32, u32)>,
    fewest: bool,
    paused: bool,
}

impl Solving {
    /// A solution found in this position. `presses`: packed as `Board.lights`. `fewest`: the solution is minimal.
    pub(super) fn new(
        room: &str,
        (ply, revision): (u32, u32),
        columns: u32,
        presses: &[u8],
        fewest: bool,
    ) -> Self {
        let line = columns.div_ceil(8).max(1) as usize;
        let bits = presses.iter().enumerate().flat_map(|(byte, bits)| {
            (0..8).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| {
                let (row, column) = (byte / line, byte % line * 8 + bit);
                (column as u32, row as u32)
            })
        });
        let mut left: Vec<(u32, u32)> = bits.collect();
        left.reverse();
        Self { room: room.to_owned(), revision, ply, left, fewest, paused: false }
    }

    /// Whether this is still the match's solution. A press or take-back by the player ends it.
    pub(super) fn is_of(&self, room: &Room) -> bool {
        let ply = room.board.as_ref().map_or(0, |board| board.ply);
        // The last press may not have reached the host yet.
        let follows = ply == self.ply || ply + 1 == self.ply;
        (&self.room, self.revision, room.result.is_none()) == (&room.id, room.revision, true) && follows
    }

    /// The press to make now, which is removed from the list; `None` while paused, or until the previous press is on the board.
    pub(super) fn step(&mut self, room: &Room) -> Option<Action> {
        let ply = room.board.as_ref().map_or(0, |board| board.ply);
        if self.paused || ply != self.ply || !self.is_of(room) {
            return None;
        }
        let (column, row) = self.left.pop()?;
        self.ply += 1;
        Some(Action { kind: Some(action::Kind::Press(row * ROW_STEP + column)) })
    }

    pub(super) fn pause_or_go_on(&mut self) {
        self.paused = !self.paused;
    }

    pub(super) fn paused(&self) -> bool {
        self.paused
    }

    /// Number of remaining presses, and whether the solution was minimal.
    pub(super) fn left(&self) -> (usize, bool) {
        (self.left.len(), self.fewest)
    }

    /// The light to be pressed next.
    pub(super) fn next(&self) -> Option<u32> {
        self.left.last().map(|(column, row)| row * ROW_STEP + column)
    }
}

#[cfg(test)]
mod tests {
    use proto::control::Board;

    use super::*;

    fn room(ply: u32, revision: u32) -> Room {
        let board = Board { ply, columns: 9, ..Board::default() };
        Room { id: "lamps".into(), revision, board: Some(board), ..Room::default() }
    }

    /// Presses at A1, I1 and B2 of a board nine wide: two bytes a row.
    fn three() -> Solving {
        Solving::new("lamps", (4, 1), 9, &[0b1, 0b1, 0b10, 0], true)
    }

    fn press(column: u32, row: u32) -> Action {
        Action { kind: Some(action::Kind::Press(row * ROW_STEP + column)) }
    }

    #[test]
    fn presses_come_one_by_one_each_once_the_one_before_is_on_the_board() {
        let mut solving = three();
        assert_eq!(solving.left(), (3, true));
        assert_eq!(solving.step(&room(4, 1)), Some(press(0, 0)));
        assert_eq!(solving.step(&room(4, 1)), None, "the first press is on its way");
        assert_eq!(solving.step(&room(5, 1)), Some(press(8, 0)));
        assert_eq!(solving.step(&room(6, 1)), Some(press(1, 1)));
        assert_eq!((solving.step(&room(7, 1)), solving.left().0), (None, 0));
    }

    #[test]
    fn it_rests_on_request_and_ends_with_a_press_or_an_undo_of_the_players() {
        let mut solving = three();
        solving.pause_or_go_on();
        assert_eq!((solving.paused(), solving.step(&room(4, 1))), (true, None));
        solving.pause_or_go_on();
        assert!(solving.is_of(&room(4, 1)));
        assert!(!solving.is_of(&room(5, 1)), "somebody else has pressed");
        assert!(!solving.is_of(&room(4, 2)), "something was undone");
        let other = Room { id: "others".into(), ..room(4, 1) };
        assert!(!solving.is_of(&other));
    }
}
