//! Every kept match: searched, opened, and exchanged with other programs as files.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use proto::board as wire;
use proto::control::{self, request, seat};
use slint::{ComponentHandle, ModelRc, VecModel};

use super::{backup, game, game_of, home, replay, side, update, when};
use crate::app::{Desk, Purpose};
use crate::screens::{Dialog, FileRow, Game, MainWindow, Page, RecordRow, RecordsAdapter, Remark, Went};

/// Matches asked for at a time: three screens of a phone.
const PAGE: u32 = 24;

/// Endings of the files that hosts read.
const ENDINGS: [&str; 6] = ["sgf", "pgn", "psq", "qiyou", "lights", "fen"];

/// Files of one name beside each other.
const SAME_NAME: u32 = 1_000;

/// Rows of the models that the page draws from.
#[derive(Default)]
pub(crate) struct Rows {
    rows: Rc<VecModel<RecordRow>>,
    files: Rc<VecModel<FileRow>>,
}

/// What is searched for, and what was found.
#[derive(Default)]
pub(crate) struct Search {
    game: wire::Game,
    outcome: i32,
    opponent: String,
    /// Grows with each search, so that what is found for an old one is not shown.
    number: u32,
    found: Vec<control::MatchSummary>,
    total: u32,
    known: bool,
    /// The match that is looked through as soon as it is found.
    awaited: Option<String>,
    folder: PathBuf,
    /// Files with everything of a device are looked for, rather than matches.
    backups: bool,
    files: Vec<(String, bool)>,
}

pub(super) fn attach(window: &MainWindow, desk: &Rc<Desk>) {
    let page = window.global::<RecordsAdapter>();
    page.set_rows(ModelRc::from(desk.records.rows.clone()));
    page.set_files(ModelRc::from(desk.records.files.clone()));
    page.on_choose_game(when!(desk, |desk, game| {
        desk.change(|inner| inner.records.game = game::of(game));
        search(&desk);
    }));
    page.on_choose_outcome(when!(desk, |desk, outcome| {
        desk.change(|inner| inner.records.outcome = outcome);
        search(&desk);
    }));
    page.on_search(when!(desk, |desk, opponent| {
        desk.change(|inner| opponent.trim().clone_into(&mut inner.records.opponent));
        search(&desk);
    }));
    page.on_more(when!(desk, |desk| ask(&desk)));
    page.on_open(when!(desk, |desk, room| {
        let found = desk.see().records.found.iter().find(|one| one.room_id == room.as_str()).cloned();
        if let Some(found) = found {
            replay::open(&desk, found);
        }
    }));
    page.on_look_for_files(when!(desk, |desk| look_for(&desk, false)));
    page.on_leave_folder(when!(desk, |desk| {
        let above = desk.see().records.folder.parent().map(PathBuf::from);
        if let Some(above) = above {
            look_into(&desk, above);
        }
    }));
    page.on_enter(when!(desk, |desk, index| enter(&desk, index)));
}

/// Turns to the page, and looks anew.
pub(super) fn open(desk: &Desk) {
    desk.go(Page::Records);
    search(desk);
}

/// Looks for what is chosen, from the first on.
pub(crate) fn search(desk: &Desk) {
    desk.change(|inner| {
        let records = &mut inner.records;
        records.number += 1;
        records.found.clear();
        records.known = false;
    });
    ask(desk);
}

fn ask(desk: &Desk) {
    let (asked, search) = {
        let inner = desk.see();
        let records = &inner.records;
        let asked = control::ListMatches {
            limit: PAGE,
            game: records.game.into(),
            opponent: records.opponent.clone(),
            outcome: records.outcome,
            skip: records.found.len() as u32,
            boards: true,
        };
        (asked, records.number)
    };
    desk.ask(request::Body::ListMatches(asked), Purpose::Records { search });
}

/// The host has found the next of them.
pub(crate) fn found(desk: &Desk, search: u32, list: control::Matches) {
    let mut awaited = None;
    desk.change(|inner| {
        let records = &mut inner.records;
        if records.number == search {
            records.found.extend(list.matches);
            records.total = list.total;
            records.known = true;
            let room = records.awaited.take();
            awaited = room.and_then(|room| records.found.iter().find(|one| one.room_id == room).cloned());
        }
    });
    if let Some(awaited) = awaited {
        replay::open(desk, awaited);
    }
}

/// Where people keep what they have got: what the app has saved, downloads, documents, or else everything of theirs.
fn files_folder() -> PathBuf {
    if let Some(own) = own_folder().filter(|folder| folder.is_dir()) {
        return own;
    }
    let user = directories::UserDirs::new();
    let user = user.as_ref();
    let folder = user.and_then(|user| user.download_dir().or(user.document_dir()));
    let folder = folder.filter(|folder| folder.is_dir()).or(user.map(directories::UserDirs::home_dir));
    folder.map_or_else(|| PathBuf::from("/"), PathBuf::from)
}

/// Opens the choice of a file with everything of a device.
pub(crate) fn look_for_backups(desk: &Desk) {
    look_for(desk, true);
}

fn look_for(desk: &Desk, backups: bool) {
    desk.change(|inner| inner.records.backups = backups);
    let folder = desk.see().records.folder.clone();
    let folder = if folder.is_dir() { folder } else { files_folder() };
    look_into(desk, folder);
    desk.open(Dialog::Files);
}

fn look_into(desk: &Desk, folder: PathBuf) {
    let backups = desk.see().records.backups;
    let wanted = |ending: &str| {
        let known = if backups { &[backup::ENDING][..] } else { &ENDINGS[..] };
        known.iter().any(|known| known.eq_ignore_ascii_case(ending))
    };
    let mut files: Vec<(String, bool)> = Vec::new();
    // A folder that may not be read is shown as an empty one; the way up stays.
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let is_folder = entry.path().is_dir();
        let known = name.rsplit_once('.').is_some_and(|(_, ending)| wanted(ending));
        if !name.starts_with('.') && (is_folder || known) {
            files.push((name, is_folder));
        }
    }
    // Files first: they are what is looked for.
    files.sort_by_key(|(name, is_folder)| (*is_folder, name.to_lowercase()));
    desk.change(|inner| {
        inner.records.folder = folder;
        inner.records.files = files;
    });
}

fn enter(desk: &Desk, index: i32) {
    let chosen = {
        let inner = desk.see();
        let files = &inner.records.files;
        usize::try_from(index)
            .ok()
            .and_then(|index| files.get(index))
            .map(|(name, is_folder)| (inner.records.folder.join(name), *is_folder))
    };
    let Some((path, is_folder)) = chosen else { return };
    if is_folder {
        look_into(desk, path);
        return;
    }
    if desk.see().records.backups {
        return desk.turn(|pages, cx| pages.backup.chosen(path, cx));
    }
    desk.open(Dialog::None);
    take_in(desk, &path, Purpose::Import);
}

fn take_in(desk: &Desk, path: &Path, purpose: Purpose) {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match read(path) {
        Ok(content) => {
            let import = control::Import { name, content: content.into() };
            desk.ask(request::Body::Import(import), purpose);
        }
        Err(error) => {
            tracing::warn!(%error, path = %path.display(), "a file of a game cannot be read");
            desk.remark(Remark::BadRequest, "");
        }
    }
}

/// A file without an end, such as a device, is not read to the end of memory.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    let limit = proto::limits::FILE_BYTES as u64;
    fs::File::open(path)?.take(limit + 1).read_to_end(&mut content)?;
    if content.len() as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than any game"));
    }
    Ok(content)
}

/// Keeps what this file holds, and looks it through as soon as it is there.
pub(crate) fn look_at(desk: &Desk, path: &Path) {
    take_in(desk, path, Purpose::LookAt);
}

/// The match of a file is kept under this id.
pub(crate) fn kept(desk: &Desk, room: String) {
    desk.change(|inner| {
        inner.records = Search {
            awaited: Some(room),
            folder: inner.records.folder.clone(),
            number: inner.records.number,
            ..Search::default()
        };
    });
    open(desk);
}

/// Where the app's own files go: `Qiyou` among the documents, or at home where there is no such folder. It may not be there yet.
fn own_folder() -> Option<PathBuf> {
    let user = directories::UserDirs::new()?;
    let documents = user.document_dir().filter(|folder| folder.is_dir());
    Some(documents.unwrap_or_else(|| user.home_dir()).join("Qiyou"))
}

/// A path in the app's folder that no file has, as near to this name as can be.
pub(super) fn free_file(name: &str) -> Option<PathBuf> {
    Some(free_in(&own_folder()?, name))
}

fn free_in(folder: &Path, name: &str) -> PathBuf {
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, "txt"));
    let name = |number: u32| match number {
        1 => folder.join(name),
        _ => folder.join(format!("{stem}-{number}.{ending}")),
    };
    // A match that has been saved a thousand times takes the place of the last.
    (1..SAME_NAME).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(SAME_NAME))
}

/// A match as a file of its own in the app's folder. A file of that name is not written over.
pub(crate) fn save(desk: &Desk, file: &control::File) {
    let Some(free) = free_file(&file.name) else { return desk.remark(Remark::Disk, "") };
    let folder = free.parent().unwrap_or(Path::new("/"));
    match fs::create_dir_all(folder).and_then(|()| fs::write(&free, &file.content)) {
        Ok(()) => desk.remark(Remark::SavedFile, &free.display().to_string()),
        Err(error) => {
            tracing::warn!(%error, path = %free.display(), "a match could not be written");
            desk.remark(Remark::Disk, "");
        }
    }
}

pub(super) fn show(window: &MainWindow, desk: &Desk) {
    let inner = desk.see();
    let page = window.global::<RecordsAdapter>();
    let records = &inner.records;
    page.set_folder(records.folder.display().to_string().into());
    page.set_backups(records.backups);
    let files: Vec<FileRow> =
        records.files.iter().map(|(name, folder)| FileRow { name: name.into(), folder: *folder }).collect();
    update(&desk.records.files, &files);
    if inner.page() != Page::Records {
        return;
    }
    page.set_total(records.total as i32);
    page.set_known(records.known);
    page.set_game(super::game::shown(records.game));
    page.set_outcome(records.outcome);
    page.set_opponent(records.opponent.as_str().into());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
    let rows: Vec<RecordRow> = records.found.iter().map(|one| row(desk, one, now)).collect();
    update(&desk.records.rows, &rows);
}

fn row(desk: &Desk, one: &control::MatchSummary, now_unix_ms: u64) -> RecordRow {
    let (opponent, name, level) = home::opponent([&one.first, &one.second]);
    let (names, occasion) = from_file(one);
    RecordRow {
        file: one.origin.is_some(),
        names: names.into(),
        occasion: occasion.into(),
        room: one.room_id.as_str().into(),
        game: game_of(one.setup.as_ref()),
        opponent,
        name: name.into(),
        level,
        ply: one.ply as i32,
        went: went(one),
        winner: one.result.as_ref().map_or(crate::screens::Side::None, |result| side(result.winner())),
        minutes: (now_unix_ms.saturating_sub(one.changed_unix_ms) / 60_000).try_into().unwrap_or(i32::MAX),
        revision: desk.sprites.set_thumbnail(&one.room_id, one.board.as_ref()),
    }
}

/// Who played a match from a file, and when and at what occasion.
pub(super) fn from_file(one: &control::MatchSummary) -> (String, String) {
    let Some(origin) = &one.origin else { return Default::default() };
    let join = |parts: [&str; 2], between: &str| -> String {
        let said: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        said.join(between)
    };
    (join([&origin.first, &origin.second], " – "), join([&origin.date, &origin.event], " · "))
}

fn went(one: &control::MatchSummary) -> Went {
    let here = |seat: &Option<control::Seat>| {
        matches!(seat.as_ref().and_then(|seat| seat.who.as_ref()), Some(seat::Who::Here(_)))
    };
    let Some(result) = &one.result else { return Went::Unfinished };
    match (result.winner(), here(&one.first), here(&one.second)) {
        (wire::Side::Unspecified, ..) => Went::Drawn,
        (wire::Side::First, true, false) | (wire::Side::Second, false, true) => Went::Won,
        (wire::Side::First, false, true) | (wire::Side::Second, true, false) => Went::Lost,
        _ if game_of(one.setup.as_ref()) == Game::LightsOut => Went::Won,
        _ => Went::Over,
    }
}
