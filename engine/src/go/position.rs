//! One-line notation of positions, similar to FEN in chess.
//!
//! ```text
//! position  = rows " " side [" " ko [" " passes [" " prisoners " " prisoners]]]
//! rows      = as many rows as the board has, from the top, "/" between them; numbers are empty points, "b" and "w" stones
//! side      = "b" | "w"     whose decision is next
//! ko        = point | "-"   where a lone stone may not be taken back at once: `D4`
//! passes    = "0" | "1" | "2"   in a row; after two the dead stones are agreed on
//! prisoners = number        what Black has captured, what White has captured
//! ```
//! Defaults of missing fields are no ko, no pass, no prisoners. The initial position on 9 x 9 is `9/9/9/9/9/9/9/9/9 b - 0 0
//! 0`. Earlier positions (for superko), dead stones and agreements are not part of the line.

use std::fmt::Write as _;

use super::rules::Circumstances;
use super::{Go, GoSetup, Handicap};
use crate::text::{Stones, TextError, read_stones, stone_letter, words, write_rows};
use crate::{Action, Game, Point};

impl Go {
    /// Parses a position of this setup, whose handicap only affects the score. Fails if the line is malformed, a chain has
    /// no liberty, or the ko is impossible.
    pub fn from_position(setup: &GoSetup, line: &str) -> Result<Self, TextError> {
        let empty = GoSetup { handicap: Handicap::None, start: None, ..setup.clone() };
        setup.check().map_err(|error| TextError { line: 1, column: 1, expected: error.0 })?;
        let start = Self::new(&empty).map_err(|error| TextError { line: 1, column: 1, expected: error.0 })?;
        let mut fields = words(line);
        let Stones { at, placed: stones, next } =
            read_stones(line, &mut fields, setup.size, "b or w, the side to move")?;
        let mut go = start
            .edited(&stones, next)
            .map_err(|_| TextError::at(line, at, "stones of which each chain has a liberty"))?;
        go.restore_setup(&GoSetup { start: None, ..setup.clone() });
        let mut circumstances = Circumstances::default();
        let mut ko_at = line.len();
        if let Some((at, word)) = fields.next().filter(|(_, word)| *word != "-") {
            match go.parse(word) {
                Some(Action::Place(point)) => circumstances.ko = Some(point),
                _ => return Err(TextError::at(line, at, "the point of a ko, or -")),
            }
            ko_at = at;
        }
        if let Some((at, word)) = fields.next() {
            circumstances.passes = match word {
                "0" => 0,
                "1" => 1,
                "2" => 2,
                _ => return Err(TextError::at(line, at, "0, 1 or 2 passes")),
            };
        }
        for prisoners in &mut circumstances.prisoners {
            if let Some((at, word)) = fields.next() {
                let number: Option<u16> = word.parse().ok();
                *prisoners = number.ok_or(TextError::at(line, at, "a number of prisoners"))?.into();
            }
        }
        if let Some((at, _)) = fields.next() {
            return Err(TextError::at(line, at, "the end of the line"));
        }
        if go.set_circumstances(circumstances) {
            Ok(go)
        } else {
            Err(TextError::at(line, ko_at, "an empty point beside the lone stone that took the ko, or -"))
        }
    }

    /// The position as a line; see [`Self::from_position`].
    pub fn position(&self) -> String {
        let size = u16::from(self.setup().size);
        let mut line = write_rows(size, size, |at: Point| self.at(at).map(stone_letter));
        let Circumstances { ko, passes, prisoners } = self.circumstances();
        let ko = ko.map_or("-".into(), |point| self.notation(Action::Place(point)));
        let side = stone_letter(self.turn());
        write!(line, " {side} {ko} {passes} {} {}", prisoners[0], prisoners[1])
            .expect("writing to a String cannot fail");
        line
    }
}
