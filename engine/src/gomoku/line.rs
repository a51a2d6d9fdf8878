//! One-line notation of positions, similar to FEN in chess.
//!
//! ```text
//! position = rows " " side
//! rows     = as many rows as the board has, from the top, "/" between them; numbers are empty points, "b" and "w" stones
//! side     = "b" | "w"      the colour of the next stone
//! ```
//! The initial position on 15 x 15 is `15/15/…/15 b`. The players have their original colours, and the opening is over. No
//! line may have won yet.

use super::{Gomoku, GomokuSetup};
use crate::Game;
use crate::text::{Stones, TextError, read_stones, stone_letter, words, write_rows};

impl Gomoku {
    /// Parses a position of this setup. Fails if the line is malformed or the game would be over.
    pub fn from_position(setup: &GomokuSetup, line: &str) -> Result<Self, TextError> {
        setup.check().map_err(|error| TextError { line: 1, column: 1, expected: error.0 })?;
        let game = Self::empty(&GomokuSetup { start: None, ..setup.clone() });
        let mut fields = words(line);
        let Stones { at, placed: stones, next } =
            read_stones(line, &mut fields, setup.size, "b or w, the colour of the next stone")?;
        if let Some((at, _)) = fields.next() {
            return Err(TextError::at(line, at, "the end of the line"));
        }
        let game = game.edited(&stones, next);
        if game.winner_of_a_line().is_some() {
            return Err(TextError::at(line, at, "stones of which no line has won"));
        }
        Ok(game)
    }

    /// The position as a line; see [`Self::from_position`].
    pub fn position(&self) -> String {
        let size = u16::from(self.setup().size);
        let rows = write_rows(size, size, |at| self.at(at.column.into(), at.row.into()).map(stone_letter));
        format!("{rows} {}", stone_letter(self.next_color()))
    }
}
