//! Tools for positions and files: `perft`, legal actions (`legal`), contents of a file (`show`), result of a game
//! (`replay`), and conversion (`convert`).

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use engine::files::{Format, GameFile, Unread};
use engine::record::Interrupted;
use engine::xiangqi::Notation;
use engine::{AnyGame, BoardView, GameKind, Language, Piece, PieceView, Point, Side, TextError};

#[derive(clap::Args)]
pub(crate) struct Start {
    /// Game to play.
    #[arg(long)]
    game: Which,
    /// Rules of the game, such as `shandong quiet=off`, `15 renju swap2`, `9 territory komi=6.5`, `quiet=off` or `5x5
    /// seed=7` [default: the game's default rules]
    #[arg(long)]
    rules: Option<String>,
    /// Position in the game's notation: FEN for xiangqi, a similar line for the others [default: the start position]
    #[arg(long)]
    position: Option<String>,
}

#[derive(clap::Args)]
pub(crate) struct Perft {
    #[command(flatten)]
    start: Start,
    /// Depth, in decisions (half-moves).
    #[arg(long)]
    depth: u32,
}

#[derive(clap::Args)]
pub(crate) struct OneFile {
    /// Game of the file.
    #[arg(long)]
    game: Which,
    /// File to read: .sgf, .psq, .pgn, .qiyou, .fen or .lights; with another extension, its content tells the format.
    file: PathBuf,
}

#[derive(clap::Args)]
pub(crate) struct Convert {
    /// Game of the file; required if the file does not name it.
    #[arg(long)]
    game: Option<Which>,
    /// Notation of moves in a xiangqi .pgn.
    #[arg(long, value_enum, default_value_t = Moves::Iccs)]
    notation: Moves,
    /// Write the readable part of a damaged file; the exit code still reports the error.
    #[arg(long)]
    partial: bool,
    /// File to read.
    from: PathBuf,
    /// File to write; its extension selects the format.
    to: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum Which {
    Gomoku,
    Liuzhou,
    Go,
    Xiangqi,
    LightsOut,
}

#[derive(Clone, Copy, ValueEnum)]
enum Moves {
    Iccs,
    Wxf,
    Chinese,
}

impl Which {
    const fn kind(self) -> GameKind {
        match self {
            Self::Gomoku => GameKind::Gomoku,
            Self::Liuzhou => GameKind::Liuzhou,
            Self::Go => GameKind::Go,
            Self::Xiangqi => GameKind::Xiangqi,
            Self::LightsOut => GameKind::LightsOut,
        }
    }
}

/// Prints the number of sequences of legal decisions of this length, alone on the last line.
pub(crate) fn perft(arguments: &Perft) -> ExitCode {
    answer(arguments.start.open().map(|position| match position {
        // The last ply is bulk-counted; repetitions are ignored, as in other programs.
        AnyGame::Xiangqi(game) => engine::xiangqi::perft(game.board(), arguments.depth),
        position => count(&position, arguments.depth),
    }))
}

/// Prints all legal actions, one per line.
pub(crate) fn legal(arguments: &Start) -> ExitCode {
    answer(arguments.open().map(|game| {
        let texts: Vec<String> =
            game.legal_actions().into_iter().map(|action| game.notation(action)).collect();
        texts.join("\n")
    }))
}

/// Replays a record; prints the result with its reason on the last line.
pub(crate) fn replay(arguments: &OneFile) -> ExitCode {
    let read = read(arguments.game.kind(), &arguments.file);
    answer(read.map(|file| ending(&file)).map_err(|stopped| stopped.0))
}

/// Prints header, moves, final board and result of a file; of a damaged file the readable part.
pub(crate) fn show(arguments: &OneFile) -> ExitCode {
    match read(arguments.game.kind(), &arguments.file) {
        Ok(file) => answer(Ok::<_, Unreadable>(shown(&file))),
        Err(stopped) => {
            let (unreadable, partial) = *stopped;
            if let Some(file) = partial {
                print(shown(&file));
            }
            answer(Err::<String, _>(unreadable))
        }
    }
}

/// Converts a file to the format of the other file's extension.
pub(crate) fn convert(arguments: &Convert) -> ExitCode {
    answer(converted(arguments))
}

fn converted(arguments: &Convert) -> Result<String, Unreadable> {
    let ending = |path: &Path| path.extension().map(|ending| ending.to_string_lossy().into_owned());
    let to = ending(&arguments.to).and_then(|ending| Format::by_extension(&ending));
    let format = match to.ok_or(Unreadable::argument("TO", "expected an ending of a known format"))? {
        Format::Record(_) => Format::Record(match arguments.notation {
            Moves::Iccs => Notation::Iccs,
            Moves::Wxf => Notation::Wxf,
            Moves::Chinese => Notation::Chinese,
        }),
        format => format,
    };
    let game = match arguments.game {
        Some(which) => which.kind(),
        None => game_of(&arguments.from)?,
    };
    let (file, broken) = match read(game, &arguments.from) {
        Ok(file) => (file, None),
        Err(stopped) => match *stopped {
            (unreadable, Some(file)) if arguments.partial => (file, Some(unreadable)),
            (unreadable, _) => return Err(unreadable),
        },
    };
    let text = file.write(format).map_err(|why| Unreadable::argument("TO", why))?;
    std::fs::write(&arguments.to, text).map_err(|error| Unreadable::file(&arguments.to, error))?;
    broken.map_or_else(|| Ok(format!("{} actions", file.actions.len())), Err)
}

/// The game by a file's extension or content.
fn game_of(path: &Path) -> Result<GameKind, Unreadable> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    let unknown = || Unreadable::argument("--game", "the file does not say which game it is of");
    let bytes = || std::fs::read(path).map_err(|error| Unreadable::file(path, error));
    match ending.as_deref() {
        Some("psq") => Ok(GameKind::Gomoku),
        Some("pgn" | "fen") => Ok(GameKind::Xiangqi),
        Some("lights") => Ok(GameKind::LightsOut),
        Some("sgf") => {
            let collection = match engine::sgf::Collection::read(&bytes()?) {
                Ok(collection) => collection,
                Err(stopped) => stopped.read,
            };
            let tree = collection.games.into_iter().next();
            match tree.and_then(|tree| tree.game_number()) {
                Some(4) => Ok(GameKind::Gomoku),
                _ => Ok(GameKind::Go),
            }
        }
        Some("qiyou") => {
            let text = String::from_utf8_lossy(&bytes()?).into_owned();
            let record = match engine::record::Record::read(&text) {
                Ok(record) => record,
                Err(stopped) => stopped.read,
            };
            let word = record.tag("Game").map(str::to_ascii_lowercase).ok_or_else(unknown)?;
            GameKind::from_word(&word).ok_or_else(unknown)
        }
        _ => Err(unknown()),
    }
}

/// A file or argument that cannot be read, and the reason.
struct Unreadable(String, String);

impl Unreadable {
    fn argument(name: &str, why: impl Into<String>) -> Self {
        Self(name.into(), why.into())
    }

    fn file(path: &Path, why: impl std::fmt::Display) -> Self {
        Self(path.display().to_string(), why.to_string())
    }
}

/// Reads a file; on an error returns the readable part too.
fn read(game: GameKind, path: &Path) -> Result<GameFile, Box<(Unreadable, Option<GameFile>)>> {
    let bytes = std::fs::read(path).map_err(|error| Box::new((Unreadable::file(path, error), None)))?;
    let ending = path.extension().map(|ending| ending.to_string_lossy().into_owned());
    let format = ending.and_then(|ending| Format::by_extension(&ending));
    let format = format.unwrap_or_else(|| Format::by_content(game, &bytes));
    GameFile::read(game, format, &bytes).map_err(|stopped: Unread| {
        let Interrupted { error, refusal, read } = *stopped;
        let why = refusal
            .map_or_else(String::new, |refusal| format!(" ({})", refusal.words_in(game, Language::English)));
        let before = read
            .as_ref()
            .map_or_else(String::new, |file| format!("; {} actions before it are legal", file.actions.len()));
        Box::new((Unreadable::file(path, format_args!("{error}{why}{before}")), read))
    })
}

fn ending(file: &GameFile) -> String {
    match (file.game.outcome(), &file.result) {
        (Some(outcome), _) => outcome.words_in(&file.game, Language::English),
        (None, Some(result)) => {
            format!("The game is not over by its rules; the record says {}.", printable(result))
        }
        (None, None) => "The game is not over.".into(),
    }
}

/// Replaces control characters, which a terminal would interpret, and the marks of line ends and of text direction, with which the
/// words around could be made to read as something else.
fn printable(text: &str) -> String {
    let misleads = |c: char| {
        c.is_control()
            || matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if misleads(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn shown(file: &GameFile) -> String {
    let mut text = String::new();
    let mut line = |words: &str| {
        writeln!(text, "{words}").expect("writing to a String cannot fail");
    };
    line(&format!("{}: {}", file.game.kind().word(), file.start.setup()));
    for (name, value) in &file.tags {
        line(&format!("{}: {}", printable(name), printable(&value.replace('\n', " "))));
    }
    if let Some(collection) = &file.collection {
        let tree = collection.games.first();
        let variations = tree.map_or(0, engine::sgf::Tree::variations);
        line(&format!("games: {}, variations of the first: {variations}", collection.games.len()));
    }
    let mut game = file.start.clone();
    let mut moves = Vec::new();
    for &action in &file.actions {
        moves.push(game.notation(action));
        game.act(action).expect("the actions of a file that was read are legal");
    }
    for (n, ten) in moves.chunks(10).enumerate() {
        line(&format!("{:>4}  {}", 10 * n + 1, ten.join(" ")));
    }
    let view = file.game.view();
    if u32::from(view.columns) * u32::from(view.rows) <= MOST_CELLS {
        line(&board(&view));
    }
    line(&file.game.position());
    text + &ending(file)
}

/// Larger boards do not fit a screen.
const MOST_CELLS: u32 = 2_500;

/// Rows from the top: stones as X and O, xiangqi pieces as in a FEN, lights as `#`.
fn board(view: &BoardView) -> String {
    let mut text = String::new();
    for row in (0..view.rows).rev() {
        for column in 0..view.columns {
            let piece = view.pieces.iter().copied().find(|piece| piece.at == Point::new(column, row));
            text.push(piece.map_or('.', letter));
            text.push(' ');
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

fn letter(PieceView { side, piece, .. }: PieceView) -> char {
    let letter = match piece {
        Piece::Stone => return if side == Side::First { 'X' } else { 'O' },
        Piece::Light => return '#',
        Piece::General => 'k',
        Piece::Adviser => 'a',
        Piece::Elephant => 'b',
        Piece::Horse => 'n',
        Piece::Chariot => 'r',
        Piece::Cannon => 'c',
        Piece::Soldier => 'p',
    };
    if side == Side::First { letter.to_ascii_uppercase() } else { letter }
}

impl Start {
    fn open(&self) -> Result<AnyGame, Unreadable> {
        let kind = self.game.kind();
        let rules = |error: TextError| Unreadable::argument("--rules", error.to_string());
        let setup = match (&self.rules, &self.position) {
            (Some(text), _) => kind.read_setup(text).map_err(rules)?,
            // Without rules the board size follows from the position.
            (None, Some(line)) => kind.default_setup_for(line),
            (None, None) => kind.default_setup(),
        };
        match &self.position {
            Some(line) => AnyGame::from_position(&setup, line)
                .map_err(|error| Unreadable::argument("--position", error.to_string())),
            None => AnyGame::new(&setup).map_err(|error| Unreadable::argument("--rules", error.to_string())),
        }
    }
}

fn print(text: impl std::fmt::Display) {
    // A closed pipe is no error.
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Exit code 0, or 2 if an argument or a file cannot be read.
fn answer(result: Result<impl std::fmt::Display, Unreadable>) -> ExitCode {
    match result {
        Ok(text) => {
            print(text);
            ExitCode::SUCCESS
        }
        Err(Unreadable(what, why)) => {
            eprintln!("{}: {}", printable(&what), printable(&why));
            ExitCode::from(2)
        }
    }
}

fn count(game: &AnyGame, depth: u32) -> u64 {
    let actions = game.legal_actions();
    if depth == 0 {
        return 1;
    }
    let total = actions.len();
    let watched = std::io::stderr().is_terminal() && depth > 2;
    let mut sum = 0;
    for (n, action) in (1..).zip(actions) {
        sum += below(game, action, depth - 1);
        if watched {
            eprint!("\r{n} of {total}, {sum} so far");
        }
    }
    if watched {
        eprintln!();
    }
    sum
}

fn below(game: &AnyGame, action: engine::Action, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let mut after = game.clone();
    after.act(action).expect("it was in the list of legal actions");
    let actions = after.legal_actions();
    if depth == 1 {
        return actions.len() as u64;
    }
    actions.into_iter().map(|action| below(&after, action, depth - 1)).sum()
}
