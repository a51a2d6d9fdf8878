//! Games as text: tags and moves, in a form of PGN.
//!
//! For xiangqi this is PGN as xiangqi programs write it (`[Game "Chinese Chess"]`, moves in ICCS, WXF or Chinese notation);
//! for Liuzhou chess it is the project's own record, with the same grammar:
//!
//! ```text
//! record  = { tag } { item } [ result ]
//! tag     = "[" name '"' value '"' "]"          \" and \\ stand for " and \ in a value
//! item    = number | move | comment | variation | note
//! number  = digits "." { "." }                  may touch the move that follows
//! comment = "{" text "}" | ";" text to the end of the line
//! note    = "$" digits
//! variation = "(" { item } ")"                  stands beside the move before it
//! result  = "1-0" | "0-1" | "1/2-1/2" | "*"
//! ```
//! Tags with a meaning here: `Rules` (the setup as text) and `FEN` or `Position` (where the game began). In
//! Liuzhou chess every action is a move of its own: `1. c3 d4 2. c4 xd4 e5`. Comments and variations are [`crate::notes`].

use std::fmt::Write as _;

use crate::liuzhou::{Liuzhou, LiuzhouSetup};
use crate::notes::{At, MOST_MOVES, Notes, Said, Walked, written_moves};
use crate::xiangqi::{Notation, Xiangqi, XiangqiSetup};
use crate::{Action, Game, IllegalAction, Outcome, Side, TextError};

/// A parsed record; its moves are not checked yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Names and values, in order.
    pub tags: Vec<(String, String)>,
    /// The moves of the main line, as text.
    pub moves: Vec<WrittenMove>,
    /// Comments on the main line, with the number of moves before each.
    pub(crate) comments: Vec<(u32, String)>,
    /// The moves of variations, not checked either.
    pub(crate) side: Vec<Said<String>>,
    /// How many moves and comments of variations were left out, because there are too many or nothing is before them.
    pub(crate) left_out: u32,
    /// The result: `1-0`, `0-1`, `1/2-1/2`; `None` for `*` or no result.
    pub result: Option<String>,
}

/// Where a parser is in the main line or in a variation.
#[derive(Clone, Copy)]
enum Line {
    /// In the main line.
    Main,
    /// After `here`, whose last move followed `before`; a comment without a move before it waits for one.
    Side { here: At, before: Option<At> },
    /// In a variation that is left out.
    Left,
}

/// A move with its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenMove {
    /// The move as it is written.
    pub text: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// An error, with the part before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupted<T> {
    /// The place, and what was expected.
    pub error: TextError,
    /// Why the move there is illegal, if the error is a move.
    pub refusal: Option<IllegalAction>,
    /// The part before the error.
    pub read: T,
}

impl Record {
    /// Parses a record. Moves are checked only by replaying, not here.
    pub fn read(text: &str) -> Result<Self, Box<Interrupted<Self>>> {
        let mut reader = Reader { rest: text, line: 1, column: 1 };
        let mut record = Self::default();
        match record.fill(&mut reader) {
            Ok(()) => Ok(record),
            Err(error) => Err(Box::new(Interrupted { error, refusal: None, read: record })),
        }
    }

    /// The value of a tag, if it exists; names are case-insensitive.
    pub fn tag(&self, name: &str) -> Option<&str> {
        let found = self.tags.iter().find(|(tag, _)| tag.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), TextError> {
        // The lines around the present one.
        let mut open: Vec<Line> = Vec::new();
        let mut line = Line::Main;
        // A comment before the first move of a variation.
        let mut waiting = String::new();
        loop {
            reader.skip(|c| c.is_whitespace() || c == '\u{feff}');
            let Some(c) = reader.rest.chars().next() else {
                return if open.is_empty() { Ok(()) } else { Err(reader.error(") to end the variation")) };
            };
            match c {
                '[' if open.is_empty() && self.moves.is_empty() => {
                    let tag = reader.tag()?;
                    self.tags.push(tag);
                }
                '{' => {
                    let comment = reader.comment()?;
                    self.comment(line, comment, &mut waiting);
                }
                ';' => {
                    let comment = reader.take(|c| c != '\n');
                    self.comment(line, &comment[1..], &mut waiting);
                }
                '(' => {
                    reader.next();
                    open.push(line);
                    waiting.clear();
                    line = self.beside(line);
                }
                ')' if !open.is_empty() => {
                    reader.next();
                    waiting.clear();
                    line = open.pop().expect("a variation is open");
                }
                ')' => return Err(reader.error("a move, since no variation is open")),
                _ => {
                    let (row, column) = (reader.line, reader.column);
                    let word = reader.take(|c| !c.is_whitespace() && !"{}();[]".contains(c));
                    if word.is_empty() {
                        return Err(reader.error("a tag, a move or a result"));
                    }
                    let is_result = matches!(word, "*" | "1-0" | "0-1" | "1/2-1/2");
                    if word.starts_with('$') || (is_result && !open.is_empty()) {
                        continue;
                    }
                    if is_result {
                        self.result = (word != "*").then(|| word.to_owned());
                        return Ok(());
                    }
                    let number = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
                    let dots = word[number..].len() - word[number..].trim_start_matches('.').len();
                    let before = if number > 0 && dots > 0 { number + dots } else { 0 };
                    let bare_number = number == word.len();
                    if before < word.len() && !bare_number {
                        let text = word[before..].to_owned();
                        line = if open.is_empty() {
                            self.moves.push(WrittenMove { text, line: row, column: column + before as u32 });
                            Line::Main
                        } else {
                            self.go_on(line, text, &mut waiting)
                        };
                    }
                }
            }
        }
    }

    /// The line of a variation that begins here: it stands beside the last move of `line`.
    fn beside(&self, line: Line) -> Line {
        let last = match line {
            Line::Main => self.moves.len().checked_sub(1).map(|ply| At::Main(ply as u32)),
            Line::Side { before, .. } => before,
            Line::Left => None,
        };
        last.map_or(Line::Left, |here| Line::Side { here, before: None })
    }

    /// A move of a variation.
    fn go_on(&mut self, line: Line, what: String, waiting: &mut String) -> Line {
        match line {
            // Illegal ones are among them: the limit of legal ones is checked later.
            Line::Side { here, .. } if self.side.len() < 2 * MOST_MOVES => {
                self.side.push(Said { after: here, what, comment: std::mem::take(waiting) });
                Line::Side { here: At::Side(self.side.len() as u32 - 1), before: Some(here) }
            }
            _ => {
                self.left_out += 1;
                Line::Left
            }
        }
    }

    fn comment(&mut self, line: Line, comment: &str, waiting: &mut String) {
        let add = |text: &mut String| {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(comment.trim());
        };
        match line {
            _ if comment.trim().is_empty() => {}
            Line::Main => {
                let ply = self.moves.len() as u32;
                self.comments.push((ply, comment.trim().to_owned()));
            }
            Line::Side { here: At::Side(index), before: Some(_) } => {
                add(&mut self.side[index as usize].comment);
            }
            Line::Side { .. } => add(waiting),
            Line::Left => self.left_out += 1,
        }
    }
}

/// Replays the moves of a record from `start`. Stops at the first invalid one, with the game before it.
pub fn replay<G: Game>(start: G, record: &Record) -> Result<G, Box<Interrupted<G>>> {
    let mut game = start;
    for WrittenMove { text, line, column } in &record.moves {
        let action = game.parse(text);
        match action.map(|action| game.legal_move(action)) {
            Some(Ok(mv)) => game.play(mv),
            wrong => {
                let expected = if wrong.is_some() { "a legal move" } else { "a move" };
                let error = TextError { line: *line, column: *column, expected };
                return Err(Box::new(Interrupted {
                    error,
                    refusal: wrong.and_then(Result::err),
                    read: game,
                }));
            }
        }
    }
    Ok(game)
}

impl Liuzhou {
    /// The initial position of a record. An error is in the value of a tag, and its column counts from there.
    pub fn start_of(record: &Record) -> Result<Self, TextError> {
        let setup: LiuzhouSetup = record.tag("Rules").unwrap_or_default().parse()?;
        match record.tag("Position") {
            Some(line) => Self::from_position(&setup, line),
            None => Ok(Self::new(&setup).expect("a setup that was read is valid")),
        }
    }

    /// A record of these actions from this position; further tags may be inserted before it.
    ///
    /// # Panics
    /// If an action is illegal, which is a bug of the caller.
    pub fn record(&self, actions: &[Action]) -> String {
        self.noted_record(actions, &Notes::default())
    }

    /// As [`Self::record`], with comments and variations.
    pub(crate) fn noted_record(&self, actions: &[Action], notes: &Notes) -> String {
        let setup = self.setup().to_string();
        let tags = [("Game", "Liuzhou"), ("Rules", setup.as_str()), ("Position", &self.position())];
        write_record(self.clone(), &tags, actions, notes, |game, mv| game.notation(Self::action(mv)))
    }
}

impl Xiangqi {
    /// The initial position of a record. An error is in the value of a tag, and its column counts from there.
    pub fn start_of(record: &Record) -> Result<Self, TextError> {
        let setup: XiangqiSetup = record.tag("Rules").unwrap_or_default().parse()?;
        match record.tag("FEN") {
            Some(fen) => Self::from_position(&setup, fen),
            None => Ok(Self::new(&setup).expect("a setup that was read is valid")),
        }
    }

    /// A PGN of these moves from this position, in this notation; further tags may be inserted before it.
    ///
    /// # Panics
    /// If an action is illegal, which is a bug of the caller.
    pub fn record(&self, actions: &[Action], notation: Notation) -> String {
        self.noted_record(actions, notation, &Notes::default())
    }

    /// As [`Self::record`], with comments and variations.
    pub(crate) fn noted_record(&self, actions: &[Action], notation: Notation, notes: &Notes) -> String {
        let format = match notation {
            Notation::Iccs => "ICCS",
            Notation::Wxf => "WXF",
            Notation::Chinese => "Chinese",
        };
        let setup = self.setup().to_string();
        let mut tags = vec![("Game", "Chinese Chess"), ("Format", format)];
        // Omitted for default rules, because other programs do not know the tag.
        if *self.setup() != XiangqiSetup::default() {
            tags.push(("Rules", &setup));
        }
        let position = self.position();
        tags.push(("FEN", &position));
        write_record(self.clone(), &tags, actions, notes, |game, mv| game.write(mv, notation))
    }
}

/// A move with its number, where a line begins or it is the first side's.
pub(crate) fn numbered(text: &str, number: u32, turn: Side, begins: bool) -> String {
    match turn {
        Side::First => format!("{number}. {text}"),
        // If the second side moves first, its move number is followed by dots.
        Side::Second if begins => format!("{number}... {text}"),
        Side::Second => text.to_owned(),
    }
}

pub(crate) fn write_record<G: Game + Walked>(
    mut game: G,
    tags: &[(&str, &str)],
    actions: &[Action],
    notes: &Notes,
    write: impl Fn(&G, G::Move) -> String,
) -> String {
    let mut moves = String::new();
    let mut width = 0;
    for text in written_moves(&game, actions, notes, write) {
        // PGN lines are shorter than 80 columns; a comment keeps its own.
        if width > 0 {
            let fits = width + 1 + text.chars().count() < 80;
            moves.push(if fits { ' ' } else { '\n' });
            width = if fits { width + 1 } else { 0 };
        }
        let last = text.rsplit('\n').next().unwrap_or_default().chars().count();
        width = if text.contains('\n') { last } else { width + last };
        moves += &text;
    }
    for &action in actions {
        let mv = game.legal_move(action).expect("the caller gives the actions of a game");
        game.play(mv);
    }
    let result = match game.outcome() {
        None => "*",
        Some(Outcome { winner: None, .. }) => "1/2-1/2",
        Some(Outcome { winner: Some(Side::First), .. }) => "1-0",
        Some(Outcome { winner: Some(Side::Second), .. }) => "0-1",
    };
    let mut record = String::new();
    for (name, value) in tags.iter().chain(&[("Result", result)]) {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        writeln!(record, "[{name} \"{value}\"]").expect("writing to a String cannot fail");
    }
    writeln!(record, "\n{moves}{}{result}", if moves.is_empty() { "" } else { "\n" })
        .expect("writing to a String cannot fail");
    record
}

/// A text being parsed, with the present place.
struct Reader<'a> {
    rest: &'a str,
    line: u32,
    column: u32,
}

impl<'a> Reader<'a> {
    fn error(&self, expected: &'static str) -> TextError {
        TextError { line: self.line, column: self.column, expected }
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        if c == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(c)
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let text = self.rest;
        while self.rest.chars().next().is_some_and(&wanted) {
            self.next();
        }
        &text[..text.len() - self.rest.len()]
    }

    fn skip(&mut self, unwanted: impl Fn(char) -> bool) {
        self.take(unwanted);
    }

    /// The text of a comment.
    fn comment(&mut self) -> Result<&'a str, TextError> {
        let start = self.error("} to end the comment that begins here");
        let text = self.take(|c| c != '}');
        self.next().map(|_| &text[1..]).ok_or(start)
    }

    fn tag(&mut self) -> Result<(String, String), TextError> {
        self.next();
        self.skip(char::is_whitespace);
        let name = self.take(|c| c.is_alphanumeric() || c == '_');
        if name.is_empty() {
            return Err(self.error("the name of a tag"));
        }
        self.skip(char::is_whitespace);
        let mut value = String::new();
        if self.rest.starts_with('"') {
            self.next();
        } else {
            return Err(self.error("\" before the value of the tag"));
        }
        loop {
            let end = self.error("\" after the value of the tag");
            match self.next() {
                Some('"') => break,
                Some('\\') => value.push(self.next().ok_or(end)?),
                Some('\n') | None => return Err(end),
                Some(c) => value.push(c),
            }
        }
        self.skip(char::is_whitespace);
        if self.rest.starts_with(']') {
            self.next();
            Ok((name.to_owned(), value))
        } else {
            Err(self.error("] to end the tag"))
        }
    }
}
