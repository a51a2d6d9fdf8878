//! Starts as text.
//!
//! | format | games | content |
//! |---|---|---|
//! | line | all | the line of a position: a FEN in xiangqi. A missing side is the first; counters and prisoners are passed over |
//! | SGF | Go, gomoku | `AB`, `AW` and `PL` of the root |
//! | `.psq` | gomoku | the stones in turn |
//!
//! Of a file with moves the start is its last position.

use super::{Start, StartPhase, StartPiece};
use crate::files::{Format, GameFile, text};
use crate::gomoku::{GomokuSetup, Psq};
use crate::sgf;
use crate::text::{read_rows, words, write_rows};
use crate::xiangqi::{self, Kind, Notation};
use crate::{GameKind, Point, Setup, Side, TextError};

/// A text form of starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartText {
    /// One line, such as a FEN.
    Line,
    /// SGF.
    Sgf,
    /// Gomocup's `.psq`.
    Psq,
}

impl Start {
    /// Reads a start of this game in any of its formats. It may be illegal: see [`Start::check`].
    pub fn read(game: GameKind, bytes: &[u8]) -> Result<Self, TextError> {
        let begin = TextError { line: 1, column: 1, expected: "a position" };
        let content = text(bytes);
        let content = content.trim_start_matches('\u{feff}').trim();
        let last_of = |format| {
            let file = GameFile::read(game, format, bytes).map_err(|stopped| stopped.error)?;
            Self::of(&file.game)
                .ok_or(TextError { expected: "a position from which a match can begin", ..begin })
        };
        match (content.chars().next(), game) {
            (Some('('), GameKind::Go | GameKind::Gomoku) => match sgf::read_start(game, bytes)? {
                Some(start) => Ok(start),
                None => last_of(Format::Sgf),
            },
            (Some('P'), GameKind::Gomoku) if content.starts_with("Piskvorky") => last_of(Format::Psq),
            (Some('['), _) => last_of(Format::Record(Notation::Iccs)),
            _ => Self::read_line(game, content),
        }
    }

    /// The start in this format; `None` if the format cannot express it. A `.psq` has no stones beside those placed in turn, and
    /// no line of five.
    pub fn write(&self, format: StartText) -> Option<String> {
        match (format, self.game()) {
            (StartText::Line, _) => Some(self.line()),
            (StartText::Sgf, GameKind::Go | GameKind::Gomoku) => Some(sgf::write_start(self)),
            (StartText::Psq, GameKind::Gomoku) => self.psq(),
            (StartText::Sgf | StartText::Psq, _) => None,
        }
    }

    /// The line, which [`crate::AnyGame::from_position`] reads too.
    pub fn line(&self) -> String {
        let letter = |at: Point| self.at(at).map(Self::letter);
        let rows = write_rows(self.columns().into(), self.rows().into(), letter);
        let (first, rest) = match (self.game(), self.phase()) {
            (GameKind::Xiangqi, _) => ('w', " - - 0 1"),
            (GameKind::Liuzhou, StartPhase::Opening) => ('b', " p 0 0 0"),
            (GameKind::Liuzhou, StartPhase::Moving) => ('b', " m 0 0 0"),
            (GameKind::Gomoku | GameKind::Go | GameKind::LightsOut, _) => ('b', ""),
        };
        let second = if first == 'w' { 'b' } else { 'w' };
        let side = if self.turn() == Side::First { first } else { second };
        format!("{rows} {side}{rest}")
    }

    fn letter(StartPiece { side, piece, marked }: StartPiece) -> char {
        match Kind::of(piece) {
            Some(kind) => xiangqi::letter(side, kind),
            None => LIUZHOU_LETTERS[usize::from(marked) * 2 + side.index()],
        }
    }

    fn read_line(game: GameKind, line: &str) -> Result<Self, TextError> {
        let mut fields = words(line);
        let (at, rows) = fields.next().ok_or(TextError::at(line, 0, "the rows of a position"))?;
        let size = u8::try_from(rows.matches('/').count() + 1).unwrap_or(u8::MAX);
        let mut start =
            Self::empty(game, size).ok_or(TextError::at(line, at, "a board of a size that is played"))?;
        let (columns, count) = (usize::from(start.columns()), usize::from(start.rows()));
        read_rows(line, at, rows, (columns, count), |sign, point| {
            let piece = read_letter(game, sign)?;
            start = start.clone().with(point, Some(piece)).ok_or("a piece of this game")?;
            Ok(())
        })?;
        if let Some((at, side)) = fields.next() {
            start = start.with_turn(match (game, side) {
                (GameKind::Xiangqi, "w" | "r") => Side::First,
                (GameKind::Xiangqi, "b") => Side::Second,
                (GameKind::Gomoku | GameKind::Go | GameKind::Liuzhou, "b") => Side::First,
                (GameKind::Gomoku | GameKind::Go | GameKind::Liuzhou, "w") => Side::Second,
                _ => return Err(TextError::at(line, at, "w or b, the side to move")),
            });
        }
        if game == GameKind::Liuzhou
            && let Some((at, phase)) = fields.next()
        {
            start = start.with_phase(match phase {
                "p" => StartPhase::Opening,
                "m" => StartPhase::Moving,
                _ => return Err(TextError::at(line, at, "p or m, the phase")),
            });
            if let Some((at, _)) = fields.next().filter(|(_, due)| *due != "0") {
                return Err(TextError::at(line, at, "0, since no capture is due at a start"));
            }
        }
        // Counters and prisoners: a start has none.
        let rest = fields.filter(|(_, word)| *word != "-" && word.parse::<u32>().is_err());
        match rest.into_iter().next() {
            Some((at, _)) => Err(TextError::at(line, at, "the end of the line")),
            None => Ok(start),
        }
    }

    fn psq(&self) -> Option<String> {
        let setup = GomokuSetup { size: self.rows(), ..GomokuSetup::default() };
        self.check(&Setup::Gomoku(setup.clone())).ok()?;
        let moves = self.in_turn().map(|(at, _)| (at, std::time::Duration::ZERO)).collect();
        Some(Psq { setup, moves, names: None }.write())
    }
}

/// Live black, live white, captured black, captured white.
const LIUZHOU_LETTERS: [char; 4] = ['b', 'w', 'x', 'o'];

fn read_letter(game: GameKind, sign: char) -> Result<StartPiece, &'static str> {
    let stone = |of: &[char]| {
        let index = of.iter().position(|&letter| letter == sign)?;
        Some(StartPiece { marked: index > 1, ..StartPiece::stone(Side::BOTH[index % 2]) })
    };
    match game {
        GameKind::Xiangqi => {
            let found = xiangqi::of_letter(sign);
            found.map(|(side, kind)| StartPiece::of(side, kind.piece())).ok_or("a piece, a digit or /")
        }
        GameKind::Liuzhou => stone(&LIUZHOU_LETTERS).ok_or("b, w, x, o, a digit or /"),
        GameKind::Gomoku | GameKind::Go => {
            let plain = match sign.to_ascii_lowercase() {
                'x' => 'b',
                'o' => 'w',
                other => other,
            };
            let side = ['b', 'w'].iter().position(|&letter| letter == plain);
            side.map(|side| StartPiece::stone(Side::BOTH[side])).ok_or("b, w, a number or /")
        }
        GameKind::LightsOut => Err("a game with starts"),
    }
}
