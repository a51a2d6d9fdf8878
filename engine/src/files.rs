//! Files of games, independent of game and format, as needed to open, show and convert them.
//!
//! | ending | format | games |
//! |---|---|---|
//! | `.sgf` | SGF `FF[4]`, see [`crate::sgf`] | go, gomoku |
//! | `.psq` | Gomocup, see [`crate::gomoku::Psq`] | gomoku |
//! | `.pgn` | PGN, see [`crate::record`] | xiangqi |
//! | `.qiyou` | tags and moves with the same grammar | all |
//! | `.fen`, `.pos` | the line of a position | all |
//! | `.lights` | rows of `.` and `#` | lights-out |

use std::fmt::Write as _;

use crate::go::{Go, GoSetup};
use crate::gomoku::Psq;
use crate::heading::Heading;
use crate::lights_out::{Lights, LightsOut, LightsOutSetup, Start};
use crate::liuzhou::Liuzhou;
use crate::notes::{self, Notes};
use crate::record::{Interrupted, Record, write_record};
use crate::sgf::{self, Collection, GoRecord, GomokuRecord};
use crate::xiangqi::{Notation, Xiangqi};
use crate::{Action, AnyGame, Game, GameKind, Gomoku, GomokuSetup, Setup, TextError};

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// SGF.
    Sgf,
    /// Gomocup's `.psq`.
    Psq,
    /// Tags and moves: PGN for xiangqi, written in this notation; the same form for other games.
    Record(Notation),
    /// The line of one position, such as a FEN.
    Position,
    /// Rows of a Lights Out board.
    Lights,
}

impl Format {
    /// The format for a file name extension, with or without its dot.
    pub fn by_extension(extension: &str) -> Option<Self> {
        Some(match extension.trim_start_matches('.').to_ascii_lowercase().as_str() {
            "sgf" => Self::Sgf,
            "psq" => Self::Psq,
            "pgn" | "qiyou" => Self::Record(Notation::Iccs),
            "fen" | "pos" => Self::Position,
            "lights" => Self::Lights,
            _ => return None,
        })
    }

    /// The format that the content of a file of this game looks like.
    pub fn by_content(game: GameKind, bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
        let text = text.trim_start_matches('\u{feff}').trim_start();
        match game {
            GameKind::Gomoku if text.starts_with("Piskvorky") => Self::Psq,
            GameKind::Gomoku | GameKind::Go if !text.starts_with('[') => Self::Sgf,
            GameKind::LightsOut if !text.starts_with('[') => Self::Lights,
            _ => Self::Record(Notation::Iccs),
        }
    }
}

/// A game read from a file.
#[derive(Clone)]
pub struct GameFile {
    /// The position before the first action.
    pub start: AnyGame,
    /// The main line.
    pub actions: Vec<Action>,
    /// The final position.
    pub game: AnyGame,
    /// The result in the file's own form, if there is one.
    pub result: Option<String>,
    /// Header data: players, date, event, result.
    pub heading: Heading,
    /// Further header data, by the names of the file's format.
    pub tags: Vec<(String, String)>,
    /// Comments and variations beside the main line.
    pub notes: Notes,
    /// How many comments and moves of variations were left out of the notes: illegal, or beyond their limits.
    pub left_out: u32,
    /// SGF: the whole file with its variations.
    pub collection: Option<Collection>,
}

/// The result of a failed read: the error, and the readable part if it makes a game.
pub type Unread = Box<Interrupted<Option<GameFile>>>;

impl GameKind {
    /// Parses a setup in this game's words; the default for an empty text. See the `Display` of each setup.
    pub fn read_setup(self, text: &str) -> Result<Setup, TextError> {
        Ok(match self {
            Self::Gomoku => Setup::Gomoku(text.parse()?),
            Self::Liuzhou => Setup::Liuzhou(text.parse()?),
            Self::Go => Setup::Go(text.parse()?),
            Self::Xiangqi => Setup::Xiangqi(text.parse()?),
            Self::LightsOut => Setup::LightsOut(text.parse()?),
        })
    }
}

/// The setup as text that [`GameKind::read_setup`] parses.
impl std::fmt::Display for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Gomoku(setup) => setup.fmt(f),
            Self::Liuzhou(setup) => setup.fmt(f),
            Self::Go(setup) => setup.fmt(f),
            Self::Xiangqi(setup) => setup.fmt(f),
            Self::LightsOut(setup) => setup.fmt(f),
        }
    }
}

impl AnyGame {
    /// Parses a position of this setup from the game's one-line notation.
    pub fn from_position(setup: &Setup, line: &str) -> Result<Self, TextError> {
        Ok(match setup {
            Setup::Gomoku(setup) => Self::Gomoku(Gomoku::from_position(setup, line)?),
            Setup::Liuzhou(setup) => Self::Liuzhou(Liuzhou::from_position(setup, line)?),
            Setup::Go(setup) => Self::Go(Go::from_position(setup, line)?),
            Setup::Xiangqi(setup) => Self::Xiangqi(Xiangqi::from_position(setup, line)?),
            Setup::LightsOut(setup) => {
                let lights: Lights =
                    line.trim_end().replace('/', "\n").parse().map_err(|error: TextError| {
                        // Rows are joined by spaces in a single line.
                        let before: usize = line
                            .split('/')
                            .take(error.line as usize - 1)
                            .map(|row| row.chars().count() + 1)
                            .sum();
                        TextError { line: 1, column: error.column + before as u32, ..error }
                    })?;
                let setup = LightsOutSetup { start: Start::Board(lights), ..setup.clone() };
                let game = LightsOut::new(&setup);
                Self::LightsOut(game.map_err(|error| TextError { line: 1, column: 1, expected: error.0 })?)
            }
        })
    }

    /// The position as a line; see [`Self::from_position`]. Each game documents what it leaves out.
    pub fn position(&self) -> String {
        match self {
            Self::Gomoku(game) => game.position(),
            Self::Liuzhou(game) => game.position(),
            Self::Go(game) => game.position(),
            Self::Xiangqi(game) => game.position(),
            Self::LightsOut(game) => game.lights().to_string().trim_end().replace('\n', "/"),
        }
    }
}

impl GameFile {
    /// Reads a file of this game.
    pub fn read(game: GameKind, format: Format, bytes: &[u8]) -> Result<Self, Unread> {
        let read = match format {
            Format::Sgf => read_sgf(game, bytes),
            Format::Psq => read_psq(game, bytes),
            Format::Record(_) => read_record(game, bytes),
            Format::Position | Format::Lights => read_position(game, format, bytes),
        };
        let headed = |file: Self| Self { heading: file.read_heading(), ..file };
        match read {
            Ok(file) => Ok(headed(file)),
            Err(stopped) => {
                let Interrupted { error, refusal, read } = *stopped;
                Err(Box::new(Interrupted { error, refusal, read: read.map(headed) }))
            }
        }
    }

    /// The content of a file. `Err` says why the format cannot express this game.
    pub fn write(&self, format: Format) -> Result<String, &'static str> {
        match (format, &self.start) {
            (Format::Sgf, _) if self.collection.is_some() => {
                Ok(self.collection.as_ref().expect("it was just looked at").write())
            }
            (Format::Sgf, start) => sgf::notes::write(start, &self.actions, &self.notes)
                .map(|tree| self.with_tags(tree))
                .ok_or("SGF has games of go and gomoku only"),
            (Format::Psq, AnyGame::Gomoku(start)) => self.write_psq(start),
            (Format::Psq, _) => Err("a .psq holds gomoku only"),
            (Format::Record(notation), AnyGame::Xiangqi(start)) => {
                let record = start.noted_record(&self.actions, notation, &self.notes);
                Ok(headed(&record, &self.record_heading(), self.score()))
            }
            (Format::Record(_), AnyGame::Liuzhou(start)) => {
                let record = start.noted_record(&self.actions, &self.notes);
                Ok(headed(&record, &self.record_heading(), self.score()))
            }
            (Format::Record(_), AnyGame::Gomoku(start)) => Ok(self.record(start)),
            (Format::Record(_), AnyGame::Go(start)) => Ok(self.record(start)),
            (Format::Record(_), AnyGame::LightsOut(start)) => Ok(self.record(start)),
            (Format::Position, _) => Ok(self.game.position() + "\n"),
            (Format::Lights, AnyGame::LightsOut(_)) => match &self.game {
                AnyGame::LightsOut(game) => Ok(game.lights().to_string()),
                _ => Err("only boards of lights are rows of lights"),
            },
            (Format::Lights, _) => Err("only boards of lights are rows of lights"),
        }
    }

    fn record<G: Game>(&self, start: &G) -> String {
        let (game, rules) = (self.start.kind().word(), self.start.setup().to_string());
        // A position in an opening with a choice of colours cannot be written.
        let fresh = AnyGame::new(&self.start.setup());
        // A board that was set up is not part of the text of its setup.
        let setup = self.start.setup();
        let is_board = setup.start().is_some()
            || matches!(setup, Setup::LightsOut(LightsOutSetup { start: Start::Board(_), .. }));
        let is_fresh = !is_board && fresh.is_ok_and(|fresh| fresh.key() == self.start.key());
        let position = self.start.position();
        let mut tags = vec![("Game", game), ("Rules", rules.as_str())];
        if !is_fresh {
            tags.push(("Position", &position));
        }
        // Spaces separate moves.
        let record = write_record(start.clone(), &tags, &self.actions, &self.notes, |game, mv| {
            game.notation(G::action(mv)).replace(' ', "")
        });
        headed(&record, &self.record_heading(), self.score())
    }

    fn with_tags(&self, mut tree: crate::sgf::Tree) -> String {
        for (name, value) in &self.tags {
            if matches!(name.as_str(), "PB" | "PW" | "EV" | "DT" | "PC") {
                tree.root_mut().set_text(name, value);
            }
        }
        for (name, value) in self.sgf_heading() {
            tree.root_mut().set_text(name, &value);
        }
        Collection { games: vec![tree] }.write()
    }

    fn write_psq(&self, start: &Gomoku) -> Result<String, &'static str> {
        if start.ply() > 0 || !start.view().pieces.is_empty() || start.next_color() != crate::Side::First {
            return Err("a .psq begins with the empty board");
        }
        let mut game = start.clone();
        let mut points = Vec::new();
        for action in &self.actions {
            let Ok(mv) = game.legal_move(*action) else { break };
            // Fifth moves that are offered are no stones.
            points.extend(mv.placement().map(|stone| (stone.point(), std::time::Duration::ZERO)));
            game.play(mv);
        }
        let heading = self.sgf_heading();
        let name = |tag: &str| heading.iter().find(|(name, _)| *name == tag).map(|(_, value)| value.clone());
        let names = name("PB").zip(name("PW")).map(|(black, white)| [black, white]);
        Ok(Psq { setup: start.setup().clone(), moves: points, names }.write())
    }
}

fn read_sgf(game: GameKind, bytes: &[u8]) -> Result<GameFile, Unread> {
    // The readable part of a damaged file is replayed; its error is reported if the replay has none.
    let (collection, error) = match Collection::read(bytes) {
        Ok(collection) => (collection, None),
        Err(stopped) => (stopped.read, Some(stopped.error)),
    };
    let begin = TextError { line: 1, column: 1, expected: "(; to begin a game" };
    let Some(tree) = collection.games.first() else {
        let error = error.unwrap_or(begin);
        return Err(Box::new(Interrupted { error, refusal: None, read: None }));
    };
    let tags = tree
        .root()
        .properties
        .iter()
        .filter(|property| property.name.len() == 2)
        .filter_map(|property| Some((property.name.clone(), property.values.first()?.text())))
        .collect();
    let file = |start: AnyGame, actions, game: AnyGame, result, (notes, left_out)| GameFile {
        start,
        actions,
        game,
        result,
        heading: Heading::default(),
        tags,
        notes,
        left_out,
        collection: Some(collection.clone()),
    };
    let read = match game {
        GameKind::Go => match GoRecord::read(tree) {
            Ok(record) => {
                let notes = record.notes(tree);
                let GoRecord { start, actions, game, result, .. } = record;
                Ok(file(AnyGame::Go(start), actions, AnyGame::Go(game), result, notes))
            }
            Err(stopped) => {
                let Interrupted { error, refusal, read } = *stopped;
                let read = read.map(|record| {
                    let notes = record.notes(tree);
                    let GoRecord { start, actions, game, result, .. } = record;
                    file(AnyGame::Go(start), actions, AnyGame::Go(game), result, notes)
                });
                Err(Box::new(Interrupted { error, refusal, read }))
            }
        },
        GameKind::Gomoku => match GomokuRecord::read(tree) {
            Ok(record) => {
                let notes = record.notes(tree);
                let GomokuRecord { start, actions, game, result, .. } = record;
                Ok(file(AnyGame::Gomoku(start), actions, AnyGame::Gomoku(game), result, notes))
            }
            Err(stopped) => {
                let Interrupted { error, refusal, read } = *stopped;
                let read = read.map(|record| {
                    let notes = record.notes(tree);
                    let GomokuRecord { start, actions, game, result, .. } = record;
                    file(AnyGame::Gomoku(start), actions, AnyGame::Gomoku(game), result, notes)
                });
                Err(Box::new(Interrupted { error, refusal, read }))
            }
        },
        GameKind::Liuzhou | GameKind::Xiangqi | GameKind::LightsOut => {
            let error =
                TextError { expected: "another format: SGF has games of go and gomoku only", ..begin };
            return Err(Box::new(Interrupted { error, refusal: None, read: None }));
        }
    };
    match (read, error) {
        (Ok(file), None) => Ok(file),
        (Ok(file), Some(error)) => Err(Box::new(Interrupted { error, refusal: None, read: Some(file) })),
        (Err(stopped), _) => Err(stopped),
    }
}

fn read_psq(game: GameKind, bytes: &[u8]) -> Result<GameFile, Unread> {
    if game != GameKind::Gomoku {
        let error = TextError { line: 1, column: 1, expected: "another format: a .psq holds gomoku only" };
        return Err(Box::new(Interrupted { error, refusal: None, read: None }));
    }
    let file = |psq: Psq| {
        let start = Gomoku::new(&psq.setup).expect("a setup that was read is valid");
        let names = psq.names.clone().into_iter().flatten();
        GameFile {
            start: AnyGame::Gomoku(start),
            actions: psq.actions(),
            game: AnyGame::Gomoku(psq.game()),
            result: None,
            heading: Heading::default(),
            tags: ["PB", "PW"].into_iter().map(str::to_owned).zip(names).collect(),
            notes: Notes::default(),
            left_out: 0,
            collection: None,
        }
    };
    match Psq::read(&String::from_utf8_lossy(bytes)) {
        Ok(psq) => Ok(file(psq)),
        Err(stopped) => {
            let Interrupted { error, refusal, read } = *stopped;
            Err(Box::new(Interrupted { error, refusal, read: Some(file(read)) }))
        }
    }
}

/// Decodes a text file: UTF-8, otherwise GB18030, whose subset GBK Chinese Windows programs write.
pub fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => encoding_rs::GB18030.decode(bytes).0,
    }
}

fn read_record(game: GameKind, bytes: &[u8]) -> Result<GameFile, Unread> {
    let text = text(bytes);
    let (record, broken) = match Record::read(&text) {
        Ok(record) => (record, None),
        Err(stopped) => (stopped.read, Some(stopped.error)),
    };
    let nothing = |error| Box::new(Interrupted { error, refusal: None, read: None });
    let setup = game.read_setup(record.tag("Rules").unwrap_or_default()).map_err(nothing)?;
    let start = match record.tag("Position").or(record.tag("FEN")) {
        Some(line) => AnyGame::from_position(&setup, line),
        None => AnyGame::new(&setup).map_err(|error| TextError { line: 1, column: 1, expected: error.0 }),
    }
    .map_err(nothing)?;
    let mut file = GameFile {
        game: start.clone(),
        start,
        actions: Vec::new(),
        result: record.result.clone(),
        heading: Heading::default(),
        tags: record.tags.clone(),
        notes: Notes::default(),
        left_out: 0,
        collection: None,
    };
    let mut stopped = broken.map(|error| (error, None));
    for written in &record.moves {
        let error = |expected| TextError { line: written.line, column: written.column, expected };
        let wrong = match file.game.parse(&written.text) {
            None => (error("a move"), None),
            Some(action) => match file.game.act(action) {
                Ok(()) => {
                    file.actions.push(action);
                    continue;
                }
                Err(refusal) => (error("a legal move"), Some(refusal)),
            },
        };
        stopped = Some(wrong);
        break;
    }
    let (notes, left_out) = notes::fit(
        &file.start,
        &file.actions,
        record.comments,
        &record.side,
        |game: &AnyGame, text: &String| game.parse(text).map(|action| vec![action]),
    );
    (file.notes, file.left_out) = (notes, left_out + record.left_out);
    match stopped {
        None => Ok(file),
        Some((error, refusal)) => Err(Box::new(Interrupted { error, refusal, read: Some(file) })),
    }
}

fn read_position(game: GameKind, format: Format, bytes: &[u8]) -> Result<GameFile, Unread> {
    let text = String::from_utf8_lossy(bytes);
    let nothing = |error| Box::new(Interrupted { error, refusal: None, read: None });
    let start = if format == Format::Lights && game == GameKind::LightsOut {
        let lights: Lights = text.parse().map_err(nothing)?;
        let setup = LightsOutSetup { start: Start::Board(lights), ..LightsOutSetup::default() };
        let game = LightsOut::new(&setup);
        AnyGame::LightsOut(
            game.map_err(|error| nothing(TextError { line: 1, column: 1, expected: error.0 }))?,
        )
    } else {
        AnyGame::from_position(&game.default_setup_for(&text), text.trim_end()).map_err(nothing)?
    };
    Ok(GameFile {
        game: start.clone(),
        start,
        actions: Vec::new(),
        result: None,
        heading: Heading::default(),
        tags: Vec::new(),
        notes: Notes::default(),
        left_out: 0,
        collection: None,
    })
}

/// A record with header tags and this result.
fn headed(record: &str, heading: &[(&'static str, String)], score: &str) -> String {
    let mut text = String::new();
    // Comments may look like tags and results: the header ends with an empty line, and the last line is the result.
    let (tags, moves) = record.split_once("\n\n").unwrap_or((record, ""));
    for line in tags.lines() {
        if line.starts_with("[Result ") {
            for (name, value) in heading {
                let value = value.replace(['\r', '\n'], " ").replace('\\', "\\\\").replace('"', "\\\"");
                writeln!(text, "[{name} \"{value}\"]").expect("writing to a String cannot fail");
            }
            writeln!(text, "[Result \"{score}\"]").expect("writing to a String cannot fail");
        } else {
            text += line;
            text.push('\n');
        }
    }
    text.push('\n');
    let moves = moves.trim_end_matches('\n');
    let moves = moves.rsplit_once('\n').map_or("", |(moves, _)| moves);
    if !moves.is_empty() {
        text += moves;
        text.push('\n');
    }
    text += score;
    text.push('\n');
    text
}

impl GameKind {
    /// The default setup, with the board size of the position's line for games with several sizes.
    pub fn default_setup_for(self, position: &str) -> Setup {
        let rows = position.split_whitespace().next().unwrap_or_default().matches('/').count() + 1;
        let size = u8::try_from(rows).ok();
        let mut setup = self.default_setup();
        match &mut setup {
            Setup::Gomoku(gomoku) => {
                gomoku.size = size.filter(|size| GomokuSetup::SIZES.contains(size)).unwrap_or(gomoku.size);
            }
            Setup::Go(go) => go.size = size.filter(|size| GoSetup::SIZES.contains(size)).unwrap_or(go.size),
            Setup::Liuzhou(_) | Setup::Xiangqi(_) | Setup::LightsOut(_) => {}
        }
        setup
    }
}
