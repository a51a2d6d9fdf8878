//! The list of kept matches: filters, opening, and import and export of files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use proto::board as wire;
use proto::control::{self, reply, request, seat};
use slint::{ComponentHandle, ModelRc, VecModel};

use super::{backup, game, game_of, home, side, touched, update};
use crate::app::{Answer, AppState, Asked, Controller, Cx};
use crate::art::Sprites;
use crate::screens::{Dialog, FileRow, Game, MainWindow, Page, RecordRow, RecordsAdapter, Remark, Went};

/// Matches per request: three screens of a phone.
const PAGE: u32 = 24;

/// Extensions of the files that hosts can read.
const ENDINGS: [&str; 6] = ["sgf", "pgn", "psq", "qiyou", "lights", "fen"];

/// Maximum number of files with the same base name.
const SAME_NAME: u32 = 1_000;

/// State of the page: filters, and the matches found.
#[derive(Default)]
pub(crate) struct Records {
    game: wire::Game,
    outcome: i32,
    opponent: String,
    /// Grows with each search, so that replies to earlier ones are ignored.
    number: u32,
    found: Vec<control::MatchSummary>,
    total: u32,
    known: bool,
    /// Id of the match that is opened for review as soon as it is found.
    awaited: Option<String>,
    folder: PathBuf,
    /// The file dialog is looking for backups instead of matches.
    backups: bool,
    files: Vec<(String, bool)>,
    rows: Rc<VecModel<RecordRow>>,
    file_rows: Rc<VecModel<FileRow>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Question {
    /// A page of the list, for the search with this number.
    List {
        search: u32,
    },
    Import,
    /// The file that the app was started with was imported.
    LookAt,
}

impl From<Question> for Asked {
    fn from(question: Question) -> Self {
        Self::Records(question)
    }
}

impl Records {
    pub(super) fn attach(&self, window: &MainWindow, app: &Rc<Controller>) {
        let page = window.global::<RecordsAdapter>();
        page.set_rows(ModelRc::from(self.rows.clone()));
        page.set_files(ModelRc::from(self.file_rows.clone()));
        page.on_choose_game(touched!(app, |pages, cx, game| {
            pages.records.game = game::of(game);
            pages.records.search(cx);
        }));
        page.on_choose_outcome(touched!(app, |pages, cx, outcome| {
            pages.records.outcome = outcome;
            pages.records.search(cx);
        }));
        page.on_search(touched!(app, |pages, cx, opponent| {
            opponent.trim().clone_into(&mut pages.records.opponent);
            pages.records.search(cx);
        }));
        page.on_more(touched!(app, |pages, cx| pages.records.ask(cx)));
        page.on_open(touched!(app, |pages, cx, room| {
            if let Some(found) = pages.records.found.iter().find(|one| one.room_id == room.as_str()) {
                cx.go.replay(found.clone());
            }
        }));
        page.on_look_for_files(touched!(app, |pages, cx| pages.records.look_for(false, cx)));
        page.on_leave_folder(touched!(app, |pages, _cx| pages.records.leave_folder()));
        page.on_enter(touched!(app, |pages, cx, index| pages.records.enter(index, cx)));
    }

    /// Opens the page, and searches again.
    pub(crate) fn open(&mut self, cx: &mut Cx<'_>) {
        cx.go.page(Page::Records);
        self.search(cx);
    }

    /// Searches with the present filters, from the first match on.
    pub(crate) fn search(&mut self, cx: &mut Cx<'_>) {
        self.number += 1;
        self.found.clear();
        self.known = false;
        self.ask(cx);
    }

    fn ask(&self, cx: &mut Cx<'_>) {
        let asked = control::ListMatches {
            limit: PAGE,
            game: self.game.into(),
            opponent: self.opponent.clone(),
            outcome: self.outcome,
            skip: self.found.len() as u32,
            boards: true,
        };
        cx.ask.send(request::Body::ListMatches(asked), Question::List { search: self.number });
    }

    /// Opens the file dialog, for backups or for matches.
    pub(crate) fn look_for(&mut self, backups: bool, cx: &mut Cx<'_>) {
        self.backups = backups;
        let folder = self.folder.clone();
        self.look_into(if folder.is_dir() { folder } else { files_folder(cx.known) });
        cx.go.dialog(Dialog::Files);
    }

    fn leave_folder(&mut self) {
        if let Some(above) = self.folder.parent().map(PathBuf::from) {
            self.look_into(above);
        }
    }

    fn look_into(&mut self, folder: PathBuf) {
        let known = if self.backups { &[backup::ENDING][..] } else { &ENDINGS[..] };
        let wanted = |ending: &str| known.iter().any(|known| known.eq_ignore_ascii_case(ending));
        let mut files: Vec<(String, bool)> = Vec::new();
        // An unreadable folder is shown as empty; the way up stays.
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let is_folder = entry.path().is_dir();
            let known = name.rsplit_once('.').is_some_and(|(_, ending)| wanted(ending));
            if !name.starts_with('.') && (is_folder || known) {
                files.push((name, is_folder));
            }
        }
        // Files first, because they are what the user looks for.
        files.sort_by_key(|(name, is_folder)| (*is_folder, name.to_lowercase()));
        (self.folder, self.files) = (folder, files);
    }

    fn enter(&mut self, index: i32, cx: &mut Cx<'_>) {
        let chosen = usize::try_from(index).ok().and_then(|index| self.files.get(index));
        let Some((path, is_folder)) = chosen.map(|(name, is_folder)| (self.folder.join(name), *is_folder))
        else {
            return;
        };
        if is_folder {
            self.look_into(path);
        } else if self.backups {
            cx.go.take_backup(path);
        } else {
            cx.go.dialog(Dialog::None);
            take_in(&path, Question::Import, cx);
        }
    }

    pub(crate) fn reply(&mut self, question: &Question, answer: Answer, cx: &mut Cx<'_>) {
        match (answer, question) {
            (Ok(reply::Body::Matches(list)), Question::List { search }) => self.found(*search, list, cx),
            (Ok(reply::Body::RoomId(_)), Question::Import) => {
                cx.go.remark(Remark::Copied, "");
                self.search(cx);
            }
            (Ok(reply::Body::RoomId(room)), Question::LookAt) => self.kept(room, cx),
            (Err(refusal), _) => cx.go.refused(refusal, Remark::BadRequest),
            (Ok(_), _) => {}
        }
    }

    /// Handles a page of search results.
    fn found(&mut self, search: u32, list: control::Matches, cx: &mut Cx<'_>) {
        if self.number != search {
            return;
        }
        self.found.extend(list.matches);
        self.total = list.total;
        self.known = true;
        if let Some(room) = self.awaited.take()
            && let Some(awaited) = self.found.iter().find(|one| one.room_id == room)
        {
            cx.go.replay(awaited.clone());
        }
    }

    /// Handles that an imported file is kept under this id.
    fn kept(&mut self, room: String, cx: &mut Cx<'_>) {
        (self.game, self.outcome) = Default::default();
        self.opponent.clear();
        self.awaited = Some(room);
        self.open(cx);
    }

    pub(super) fn show(&self, window: &MainWindow, known: &AppState, sprites: &Sprites) {
        let page = window.global::<RecordsAdapter>();
        page.set_folder(self.folder.display().to_string().into());
        page.set_backups(self.backups);
        let files: Vec<FileRow> = (self.files.iter())
            .map(|(name, folder)| FileRow { name: name.into(), folder: *folder })
            .collect();
        update(&self.file_rows, &files);
        if known.page() != Page::Records {
            return;
        }
        page.set_total(self.total as i32);
        page.set_known(self.known);
        page.set_game(super::game::shown(self.game));
        page.set_outcome(self.outcome);
        page.set_opponent(self.opponent.as_str().into());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let rows: Vec<RecordRow> = self.found.iter().map(|one| row(sprites, one, now)).collect();
        update(&self.rows, &rows);
    }
}

/// Imports a file, and opens it for review as soon as it is kept.
pub(crate) fn look_at(path: &Path, cx: &mut Cx<'_>) {
    take_in(path, Question::LookAt, cx);
}

fn take_in(path: &Path, question: Question, cx: &mut Cx<'_>) {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match client::files::read_game(path) {
        Ok(content) => {
            let import = control::Import { name, content: content.into() };
            cx.ask.send(request::Body::Import(import), question);
        }
        Err(error) => {
            tracing::warn!(%error, path = %path.display(), "a file of a game cannot be read");
            cx.go.remark(Remark::BadRequest, "");
        }
    }
}

/// Where people keep what they have got: what the app has saved, downloads, documents, or else everything of theirs.
fn files_folder(known: &AppState) -> PathBuf {
    if let Some(own) = own_folder(known).filter(|folder| folder.is_dir()) {
        return own;
    }
    let user = directories::UserDirs::new();
    let user = user.as_ref();
    let folder = user.and_then(|user| user.download_dir().or(user.document_dir()));
    let folder = folder.filter(|folder| folder.is_dir()).or(user.map(directories::UserDirs::home_dir));
    folder.map_or_else(|| PathBuf::from("/"), PathBuf::from)
}

/// Where the app's own files go: `Qiyou` among the documents, or at home where there is no such folder. It may not be there yet.
fn own_folder(known: &AppState) -> Option<PathBuf> {
    if known.own_folder.is_some() {
        return known.own_folder.clone();
    }
    let user = directories::UserDirs::new()?;
    let documents = user.document_dir().filter(|folder| folder.is_dir());
    Some(documents.unwrap_or_else(|| user.home_dir()).join("Qiyou"))
}

/// Where pictures of boards go: `Qiyou` among the pictures, or to the app's other files where there is no such folder.
fn pictures_folder(known: &AppState) -> Option<PathBuf> {
    let user = directories::UserDirs::new();
    let pictures = user.as_ref().and_then(directories::UserDirs::picture_dir);
    // A folder that was set for the app's files is for all of them.
    among_pictures(pictures.filter(|_| known.own_folder.is_none())).or_else(|| own_folder(known))
}

fn among_pictures(pictures: Option<&Path>) -> Option<PathBuf> {
    pictures.filter(|folder| folder.is_dir()).map(|folder| folder.join("Qiyou"))
}

/// A path in the app's folder that no file has, as near to this name as can be.
pub(super) fn free_file(name: &str, known: &AppState) -> Option<PathBuf> {
    Some(free_in(&own_folder(known)?, name))
}

fn free_in(folder: &Path, name: &str) -> PathBuf {
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, "txt"));
    let name = |number: u32| match number {
        1 => folder.join(name),
        _ => folder.join(format!("{stem}-{number}.{ending}")),
    };
    // After a thousand files the last one is overwritten.
    (1..SAME_NAME).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(SAME_NAME))
}

/// Writes a match to a new file in the app's folder.
pub(crate) fn save(file: &control::File, cx: &mut Cx<'_>) {
    match write_new(&file.name, &file.content, cx.known) {
        Ok(path) => cx.go.remark(Remark::SavedFile, &path.display().to_string()),
        Err(error) => {
            tracing::warn!(%error, name = file.name, "a match could not be written");
            cx.go.remark(Remark::Disk, "");
        }
    }
}

/// Writes a new file into the app's folder, without overwriting another. Its path.
pub(super) fn write_new(name: &str, content: &[u8], known: &AppState) -> io::Result<PathBuf> {
    write_new_in(own_folder(known), name, content)
}

/// Writes a new picture into the folder for them, without overwriting another. Its path.
pub(super) fn write_picture(name: &str, png: &[u8], known: &AppState) -> io::Result<PathBuf> {
    write_new_in(pictures_folder(known), name, png)
}

fn write_new_in(folder: Option<PathBuf>, name: &str, content: &[u8]) -> io::Result<PathBuf> {
    let folder = folder.ok_or_else(|| io::Error::other("no home directory"))?;
    let free = free_in(&folder, name);
    fs::create_dir_all(&folder)?;
    fs::write(&free, content)?;
    Ok(free)
}

fn row(sprites: &Sprites, one: &control::MatchSummary, now_unix_ms: u64) -> RecordRow {
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
        moves: one.moves as i32,
        went: went(one),
        winner: one.result.as_ref().map_or(crate::screens::Side::None, |result| side(result.winner())),
        minutes: (now_unix_ms.saturating_sub(one.changed_unix_ms) / 60_000).try_into().unwrap_or(i32::MAX),
        revision: sprites.set_thumbnail(&one.room_id, one.board.as_ref()),
    }
}

/// Players, and date and event, of an imported match.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_goes_among_the_pictures_where_there_is_such_a_folder_and_overwrites_none() {
        let home = tempfile::tempdir().expect("a folder for the test");
        let pictures = home.path().join("Pictures");
        assert_eq!(among_pictures(Some(&pictures)), None, "it is not there");
        fs::create_dir(&pictures).expect("created");
        let folder = among_pictures(Some(&pictures));
        assert_eq!(folder, Some(pictures.join("Qiyou")));
        let write = |png: &[u8]| write_new_in(folder.clone(), "gomoku.png", png).expect("written");
        assert_eq!(write(b"one"), pictures.join("Qiyou/gomoku.png"));
        assert_eq!(write(b"two"), pictures.join("Qiyou/gomoku-2.png"));
        assert_eq!(fs::read(pictures.join("Qiyou/gomoku.png")).expect("kept"), b"one");
    }
}
