//! Import and export of files.

use engine::files::{self, Format, GameFile};
use engine::heading::{Cause, Ended, Heading};
use engine::notes::Notes;
use engine::record::Record;
use engine::start::Start;
use engine::xiangqi::Notation;
use engine::{AnyGame, GameKind, Setup, Side};
use proto::control::{self, RefusalCode};
use proto::limits;
use session::{MatchId, MatchRecord, MatchResult};

use crate::games;
use crate::journal::Journal;
use crate::refusal::Refusal;
use crate::responder::Responder;
use crate::room::{PlayerId, Seat};
use crate::setup::replayed;
use crate::show;
use crate::store::{KeptFile, KeptNotes, SavedMatch};
use crate::work::{Job, JobContext, Work};

/// A match read from a file.
pub(crate) struct Imported {
    record: MatchRecord,
    origin: control::Origin,
    file: KeptFile,
    notes: KeptNotes,
}

/// The setup of a file's match, with its start if the file begins from a position.
fn begun_setup(file: &GameFile) -> Result<Setup, Refusal> {
    let setup = file.start.setup();
    let fresh = AnyGame::new(&setup).map_err(|error| unreadable("规则无法识别", error.0))?;
    if fresh.key() == file.start.key() {
        return Ok(setup);
    }
    let no_start = || unreadable("文件从一个不能开局的局面开始", "no match can begin where the file begins");
    let start = Start::of(&file.start).ok_or_else(no_start)?;
    let setup = setup.begin_from(start).map_err(|error| {
        let words = games::start_problem(error, file.start.kind());
        Refusal { reason: Some(words), ..unreadable("", "no match can begin where the file begins") }
    })?;
    // Counters and prisoners of the file are not part of a start, so the moves may end the match at another place.
    let mut game = AnyGame::new(&setup).map_err(|error| unreadable("规则无法识别", error.0))?;
    let goes_on = file.actions.iter().all(|&action| game.act(action).is_ok());
    if goes_on { Ok(setup) } else { Err(no_start()) }
}

impl Imported {
    /// Reads a file as a match of this id.
    fn read(id: MatchId, import: &control::Import) -> Result<Self, Refusal> {
        let file = read_file(&import.name, &import.content)?;
        let setup = begun_setup(&file)?;
        if file.actions.len() > limits::SHOWN_ACTIONS {
            return Err(unreadable("步数太多", "the game is too long"));
        }
        let mut record = MatchRecord::new(id, setup, Side::First);
        record.result = match file.game.outcome() {
            Some(outcome) => Some(MatchResult::Played(outcome)),
            None => file.heading.ended.and_then(explained),
        };
        record.actions = file.actions;
        let notes = KeptNotes { notes: file.notes, left_out: file.left_out, edited: false };
        let Heading { first, second, event, date, ended } = file.heading;
        // A result that the record does not show is taken from the file.
        let unexplained = ended.filter(|_| record.result.is_none());
        let score = unexplained.map_or("", Ended::score).to_owned();
        let [first, second, event, date] = [first, second, event, date].map(|said| short(&said));
        let origin = control::Origin { first, second, event, date, score };
        let ending = import.name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
        let actions = record.actions.len() as u32;
        let file = KeptFile { ending, actions, content: import.content.to_vec() };
        Ok(Self { record, origin, file, notes })
    }

    /// Keeps the match; returns its id. Importing the same file again returns the same match.
    pub(crate) fn keep(self, journal: &mut Journal, unix_ms: i64) -> Result<MatchId, Refusal> {
        let Self { record, origin, file, notes } = self;
        if let Some(known) = journal.taken_from(&file)? {
            // A program before notes may have taken it in.
            if journal.notes_of(known)?.is_none() {
                journal.keep(|store| store.set_notes(known, &notes))?;
            }
            return Ok(known);
        }
        journal.keep(|store| store.take_in(&record, Seat::BOTH_HERE, (&origin, &file, &notes), unix_ms))?;
        Ok(record.id)
    }
}

/// Reads a file on a thread of its own, because reading a hostile file may take long. `tell` gets the match, with this id, on
/// that thread.
pub(crate) fn import(
    work: &mut Work,
    responder: Responder,
    id: MatchId,
    import: control::Import,
    tell: impl FnOnce(Responder, Result<Box<Imported>, Refusal>) + Send + 'static,
) {
    if import.content.len() > limits::FILE_BYTES {
        return responder.refuse(unreadable("文件太大", "the file is too large"));
    }
    if !work.has_room(Job::File) {
        let busy = Refusal::new(RefusalCode::RefusalBusy, "another file is being read");
        return responder.refuse(busy);
    }
    work.begin_stoppable(Job::File, responder.client, JobContext::default(), move |context| {
        let read = std::panic::catch_unwind(|| Imported::read(id, &import));
        let broken = || Err(unreadable("文件无法读取", "it cannot be read"));
        let read = context.check().and_then(|()| read.unwrap_or_else(|_| broken()));
        tell(responder, read.map(Box::new));
    });
}

/// Writes a file: the match is played through twice, which takes long for a long match.
pub(crate) type Export = Box<dyn FnOnce() -> Result<control::File, Refusal> + Send>;

/// Reads what an export needs from the saves. `own` is the name of this device's user, `name_of` that of another player.
pub(crate) fn to_export(
    saved: SavedMatch,
    export: &control::Export,
    journal: &Journal,
    own: &str,
    name_of: impl Fn(&PlayerId) -> String,
) -> Result<Export, Refusal> {
    let heading = heading(&saved, journal.day_of(saved.changed_unix_ms)?, own, name_of);
    let notes = journal.notes_of(saved.record.id)?.unwrap_or_default();
    let original = if notes.edited { None } else { journal.file_of(saved.record.id)? };
    let (format, ply, record) = (export.format.clone(), export.ply, saved.record);
    Ok(Box::new(move || exported(&format, ply, &record, heading, (original, notes.notes))))
}

/// Writes a file on a thread of its own. `told` gets `to` and the file there, after `ended` was called; `to` comes back with a
/// refusal.
pub(crate) fn export<T: Send + 'static>(
    work: &mut Work,
    to: T,
    file: impl FnOnce() -> Result<Export, Refusal>,
    ended: impl FnOnce() + Send + 'static,
    told: impl FnOnce(T, Result<control::File, Refusal>) + Send + 'static,
) -> Result<(), (T, Refusal)> {
    if !work.has_room(Job::Export) {
        let busy = Refusal::new(RefusalCode::RefusalBusy, "other files are being written");
        return Err((to, busy));
    }
    let file = match file() {
        Ok(file) => file,
        Err(refusal) => return Err((to, refusal)),
    };
    work.begin(Job::Export, move || {
        let file = std::panic::catch_unwind(std::panic::AssertUnwindSafe(file));
        ended();
        let broken = || Err(Refusal::new(RefusalCode::RefusalBadRequest, "it cannot be written"));
        told(to, file.unwrap_or_else(|_| broken()));
    });
    Ok(())
}

/// The header of an exported file: players, date, result. `day`: when the match was last changed.
fn heading(saved: &SavedMatch, day: String, own: &str, name_of: impl Fn(&PlayerId) -> String) -> Heading {
    let (alone, origin) = (saved.seats == Seat::BOTH_HERE, saved.origin.clone());
    let name = |seat: &Seat| match seat {
        // Two people at this device have no names.
        Seat::Here if alone => String::new(),
        Seat::Here => own.to_owned(),
        Seat::Bot(level) => format!("{BOT}{level}"),
        Seat::Engine(engine) => engine.name.clone(),
        Seat::Peer(key) => name_of(key),
        Seat::Guest(name) => name.clone(),
    };
    let [first, second] = saved.seats.each_ref().map(name);
    let ended = saved.record.result.and_then(told).or_else(|| show::said_end(origin.as_ref()?));
    match origin {
        Some(control::Origin { first, second, event, date, .. }) => {
            Heading { first, second, event, date, ended }
        }
        None => Heading { first, second, event: String::new(), date: day, ended },
    }
}

/// The file of a match. An unchanged imported match is exported as the original file; every other one with its notes.
fn exported(
    format: &str,
    ply: Option<u32>,
    record: &MatchRecord,
    heading: Heading,
    (original, notes): (Option<KeptFile>, Notes),
) -> Result<control::File, Refusal> {
    let game = replayed(record, ply.unwrap_or(u32::MAX))?;
    let kind = game.kind();
    let given = format;
    let ending = match (format.trim_start_matches('.'), kind) {
        ("", GameKind::Go | GameKind::Gomoku) => "sgf",
        ("", GameKind::Xiangqi) => "pgn",
        ("", GameKind::Liuzhou | GameKind::LightsOut) => "qiyou",
        (given, _) => given,
    };
    let bad = |what: &str| Refusal::new(RefusalCode::RefusalBadRequest, what);
    let format = Format::by_extension(ending).ok_or_else(|| bad("no such format"))?;
    let name = |ending: &str| file_name(kind, &heading, &ending.to_ascii_lowercase());
    if let Some(kept) = original.filter(|kept| {
        ply.is_none()
            && (given.is_empty() || Format::by_extension(&kept.ending) == Some(format))
            && kept.actions as usize == record.actions.len()
    }) {
        return Ok(control::File { name: name(&kept.ending), content: kept.content.into() });
    }
    let name = name(ending);
    let (start, actions) = (replayed(record, 0)?, &record.actions);
    let actions = actions[..actions.len().min(ply.unwrap_or(u32::MAX) as usize)].to_vec();
    let (notes, left_out) = notes.until(actions.len() as u32).fitted(&start, &actions);
    let file = GameFile {
        start,
        actions,
        game,
        notes,
        left_out,
        result: None,
        heading,
        tags: Vec::new(),
        collection: None,
    };
    let content = file.write(format).map_err(bad)?;
    if content.len() > limits::FILE_BYTES {
        return Err(bad("it is too long for a file"));
    }
    Ok(control::File { name, content: content.into_bytes().into() })
}

fn unreadable(zh: &str, en: &str) -> Refusal {
    let reason = Some(control::Words {
        zh: format!("读不了这个文件：{zh}。"),
        en: format!("Can't read this file: {en}."),
    });
    Refusal { reason, ..Refusal::new(RefusalCode::RefusalBadRequest, en) }
}

/// Reads a file, whose format follows from its extension and its header.
fn read_file(name: &str, content: &[u8]) -> Result<GameFile, Refusal> {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let format =
        Format::by_extension(ending).ok_or_else(|| unreadable("不认识这种格式", "unknown format"))?;
    let text = files::text(content);
    let kind = match format {
        // In SGF, GM[4] is gomoku (Gomoku+Renju) and GM[1], the default, is Go.
        Format::Sgf if text.contains("GM[4]") => GameKind::Gomoku,
        Format::Sgf => GameKind::Go,
        Format::Psq => GameKind::Gomoku,
        Format::Record(_) => {
            let record = match Record::read(&text) {
                Ok(record) => record,
                Err(stopped) => stopped.read,
            };
            let word = record.tag("Game").map(str::to_ascii_lowercase);
            word.as_deref().and_then(GameKind::from_word).unwrap_or(GameKind::Xiangqi)
        }
        Format::Position => GameKind::Xiangqi,
        Format::Lights => GameKind::LightsOut,
    };
    // Both notations are recognised.
    let format = if matches!(format, Format::Record(_)) { Format::Record(Notation::Iccs) } else { format };
    GameFile::read(kind, format, content).map_err(|stopped| {
        let at = &stopped.error;
        unreadable(
            &format!("第 {} 行第 {} 个字符处不对", at.line, at.column),
            &format!("line {}, column {}: expected {}", at.line, at.column, at.expected),
        )
    })
}

/// The board of the last position in a file, for callers that draw it without a host. The format follows from the extension of
/// `name`. The error is a sentence in English.
pub fn position_in_file(name: &str, content: &[u8]) -> Result<control::Board, String> {
    if content.len() > limits::FILE_BYTES {
        return Err("the file is too large".into());
    }
    match read_file(name, content) {
        Ok(file) => Ok(show::position(&file.game)),
        Err(refusal) => Err(refusal.reason.map_or(refusal.detail, |reason| reason.en)),
    }
}

/// The file name of an exported match, such as `2026-11-24 Ann – Level 3.pgn`; the game takes the place of unknown players.
fn file_name(kind: GameKind, heading: &Heading, ending: &str) -> String {
    /// Characters that every file system allows, and their maximum number: a name has at most 255 bytes.
    const SIGNS: usize = 24;
    let plain = |text: &str| {
        let text = text.replace(BOT, "Level ");
        let allowed = text.chars().filter(|sign| !sign.is_control() && !"/\\:*?\"<>|".contains(*sign));
        allowed.take(SIGNS).collect::<String>().trim_matches([' ', '.']).to_owned()
    };
    let named = [&heading.first, &heading.second].map(|name| plain(name));
    let named: Vec<&str> = named.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
    let (date, named) = (plain(&heading.date), named.join(" – "));
    let who = if named.is_empty() { kind.word() } else { &named };
    let parts: Vec<&str> = [date.as_str(), who].into_iter().filter(|part| !part.is_empty()).collect();
    format!("{}.{ending}", parts.join(" "))
}

/// Name of a bot in files, followed by its level.
const BOT: &str = "Qiyou, level ";

/// A name or event for a list: one line, shortened. The file keeps the full text.
fn short(said: &str) -> String {
    const MOST: usize = proto::limits::CLIENT_ID_BYTES / 4;
    said.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MOST).collect()
}

/// The match result for a file's result, if the reason is known too.
fn explained(ended: Ended) -> Option<MatchResult> {
    match (ended.cause, ended.winner) {
        (Cause::Resigned, Some(winner)) => Some(MatchResult::Resigned(winner.other())),
        (Cause::Time, Some(winner)) => Some(MatchResult::TimedOut(winner.other())),
        (Cause::Agreed, None) => Some(MatchResult::DrawAgreed),
        _ => None,
    }
}

/// The inverse: the result for a file, if the rules do not show it.
fn told(result: MatchResult) -> Option<Ended> {
    let (winner, cause) = match result {
        MatchResult::Played(_) => return None,
        MatchResult::Resigned(side) => (Some(side.other()), Cause::Resigned),
        MatchResult::TimedOut(side) => (Some(side.other()), Cause::Time),
        MatchResult::DrawAgreed => (None, Cause::Agreed),
    };
    Some(Ended { winner, cause })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_match_is_called_after_its_day_and_who_played_it() {
        let heading = |first: &str, second: &str, date: &str| Heading {
            first: first.into(),
            second: second.into(),
            event: String::new(),
            date: date.into(),
            ended: None,
        };
        let name = |heading| file_name(GameKind::Xiangqi, &heading, "pgn");
        assert_eq!(name(heading("Ann", "Qiyou, level 3", "2026-11-24")), "2026-11-24 Ann – Level 3.pgn");
        assert_eq!(name(heading("", "", "2026-11-24")), "2026-11-24 xiangqi.pgn", "of two people here");
        assert_eq!(name(heading("", "", "")), "xiangqi.pgn");
        let hostile = name(heading("../a/b\u{7}", &"很".repeat(300), "1.1.?"));
        assert_eq!(hostile, format!("1.1 ab – {}.pgn", "很".repeat(24)), "it stays in its folder and fits");
    }

    #[test]
    fn a_game_is_told_by_the_files_name_and_content() {
        let kind =
            |name: &str, text: &str| read_file(name, text.as_bytes()).map(|file| file.start.kind()).ok();
        assert_eq!(kind("a.sgf", "(;GM[1]SZ[9];B[ee];W[gc])"), Some(GameKind::Go));
        assert_eq!(kind("a.SGF", "(;GM[4]SZ[15];B[hh])"), Some(GameKind::Gomoku));
        assert_eq!(kind("a.pgn", "1. 炮二平五 马8进7 *"), Some(GameKind::Xiangqi));
        assert_eq!(kind("a.qiyou", "[Game \"liuzhou\"]\n\n1. c3 a6 *"), Some(GameKind::Liuzhou));
        assert_eq!(kind("a.lights", ".#.\n###\n.#.\n"), Some(GameKind::LightsOut));
        assert_eq!(kind("a.doc", "something"), None);
        assert_eq!(kind("a.pgn", "1. 炮九平一 *"), None);
    }

    #[test]
    fn an_end_is_told_and_understood_alike_and_one_without_a_cause_is_left_unexplained() {
        for side in Side::BOTH {
            for result in [MatchResult::Resigned(side), MatchResult::TimedOut(side), MatchResult::DrawAgreed]
            {
                assert_eq!(told(result).and_then(explained), Some(result));
            }
        }
        let unsaid = |winner| explained(Ended { winner, cause: Cause::Unsaid });
        assert_eq!([Some(Side::First), Some(Side::Second), None].map(unsaid), [None; 3]);
    }

    fn file(name: &str, text: &'static str) -> control::Import {
        control::Import { name: name.into(), content: text.as_bytes().into() }
    }

    #[test]
    fn the_same_file_is_kept_once() {
        let (mut journal, _folder) = Journal::for_test();
        let mut keep = |id: u8, text| {
            let read = Imported::read(MatchId([id; 16]), &file("a.sgf", text)).expect("a game");
            read.keep(&mut journal, 5).ok()
        };
        assert_eq!(keep(1, "(;GM[1]SZ[9];B[ee];W[gc])"), Some(MatchId([1; 16])));
        assert_eq!(keep(2, "(;GM[1]SZ[9];B[ee];W[gc])"), Some(MatchId([1; 16])), "the match that is there");
        assert_eq!(keep(3, "(;GM[1]SZ[9];B[ee])"), Some(MatchId([3; 16])));
    }

    #[test]
    fn who_played_is_named_in_a_file_by_the_seats_or_as_the_imported_file_says() {
        let record = MatchRecord::new(MatchId([1; 16]), GameKind::Go.default_setup(), Side::First);
        let named = |seats: [Seat; 2], origin| {
            let saved = SavedMatch {
                record: record.clone(),
                seats,
                open: false,
                settled: true,
                changed_unix_ms: 0,
                origin,
            };
            let Heading { first, second, date, .. } =
                heading(&saved, "1970-01-01".into(), "Ann", |key| format!("peer {}", key.0[0]));
            [first, second, date]
        };
        let peer = Seat::Peer(PlayerId([7; 32]));
        assert_eq!(named([Seat::Here, peer], None), ["Ann", "peer 7", "1970-01-01"]);
        assert_eq!(named(Seat::BOTH_HERE, None), ["", "", "1970-01-01"], "two people here");
        let level = engine::Level::MIN;
        let bot = named([Seat::Bot(level), Seat::Guest("Ben".into())], None);
        assert_eq!(bot, [format!("{BOT}{level}"), "Ben".into(), "1970-01-01".into()]);
        let origin = control::Origin { first: "Go Seigen".into(), date: "1933".into(), ..Default::default() };
        assert_eq!(named(Seat::BOTH_HERE, Some(origin)), ["Go Seigen", "", "1933"]);
    }

    #[test]
    fn a_file_that_begins_with_a_board_set_up_by_hand_is_a_match_from_there_if_one_can_begin_there() {
        let read = |name: &str, text: &str| {
            let import = control::Import { name: name.into(), content: text.as_bytes().to_vec().into() };
            let imported = Imported::read(MatchId([1; 16]), &import);
            imported.map(|imported| imported.record.setup.start().map(Start::line))
        };
        let started = read("a.sgf", "(;GM[1]SZ[9]AB[aa];W[gc])").expect("a match");
        assert_eq!(started.as_deref(), Some("b8/9/9/9/9/9/9/9/9 w"));
        assert_eq!(read("a.sgf", "(;GM[1]SZ[9];B[gc])").expect("a match"), None);
        let pgn = |fen: &str| format!("[Game \"Chinese Chess\"]\n[FEN \"{fen}\"]\n\n*\n");
        assert!(read("a.pgn", &pgn("3k5/9/9/9/9/9/9/9/9/3R1K3 b - - 12 30")).expect("a match").is_some());
        let mate = read("a.pgn", &pgn("3k5/4R4/9/9/9/9/9/9/9/3RK4 b")).expect_err("it is over");
        assert_eq!(mate.reason.map(|words| words.en).as_deref(), Some("Black has no move."));
    }

    #[test]
    fn an_unchanged_import_is_exported_as_the_file_that_it_was() {
        let text = "(;GM[1]SZ[9]C[a comment];B[ee];W[gc])";
        let Imported { record, file, .. } =
            Imported::read(MatchId([1; 16]), &file("a.sgf", text)).expect("a game");
        let heading = || Heading {
            first: String::new(),
            second: String::new(),
            event: String::new(),
            date: String::new(),
            ended: None,
        };
        let kept = || {
            Some(KeptFile {
                ending: file.ending.clone(),
                actions: file.actions,
                content: file.content.clone(),
            })
        };
        let content = |ply, record: &MatchRecord| {
            exported("", ply, record, heading(), (kept(), Notes::default()))
                .ok()
                .map(|file| file.content.to_vec())
        };
        assert_eq!(content(None, &record).as_deref(), Some(text.as_bytes()));
        assert_ne!(content(Some(1), &record).as_deref(), Some(text.as_bytes()), "a part of it");
        let mut longer = record.clone();
        longer.actions.push(engine::Action::Pass);
        assert_ne!(content(None, &longer).as_deref(), Some(text.as_bytes()), "it was played on");
        assert!(
            exported("doc", None, &record, heading(), (None, Notes::default())).is_err(),
            "no such format"
        );
    }
}
