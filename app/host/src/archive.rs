//! Kept matches: lists, review, branches, analysis, and import and export of files.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::files::{self, Format, GameFile};
use engine::heading::{Cause, Ended, Heading};
use engine::reasons::{self, Mistake};
use engine::record::Record;
use engine::xiangqi::Notation;
use engine::{AnyGame, GameKind, Level, Limits, Report, Side};
use proto::control::{self, RefusalCode, event};
use proto::limits;
use session::{MatchId, MatchRecord, MatchResult, Pace, wire};
use tracing::warn;

use crate::actor::{Actor, Message};
use crate::bots::BotMaker;
use crate::mistakes;
use crate::peer::Peer;
use crate::power::Engines;
use crate::requests::{local_seat, needs_one_device};
use crate::responder::{Answer, Responder, done, in_room};
use crate::room::{Room, Seat, parse_match_name};
use crate::show::{self, Refusal};
use crate::store::{KeptFile, MatchFilter, Opponent, SavedMatch, StoreError};
use crate::work::Job;

/// Default number of matches in a list.
const LISTED: u32 = 20;

/// Maximum size of a Lights Out board in a list, in bytes: a hundred of them fit into a frame, and thumbnails show no more
/// detail.
const MOST_LIGHTS: usize = 4_096;

/// Search time per position of an analysis: a match of sixty moves takes 15 seconds.
const JUDGING_TIME: Duration = Duration::from_millis(250);

/// An analysis in progress, on a thread of its own.
pub(crate) struct Judging {
    id: MatchId,
    ticket: u64,
    stop: Arc<AtomicBool>,
    shown: control::Judgements,
    mistakes: Vec<mistakes::Found>,
}

/// What an analysis found in the next position.
pub(crate) struct PositionJudged {
    shown: control::Judgement,
    /// The move before it, if it was a mistake.
    mistake: Option<mistakes::Found>,
}

impl Drop for Judging {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// A match read from a file.
pub(crate) struct Imported {
    record: MatchRecord,
    origin: control::Origin,
    file: KeptFile,
}

impl Imported {
    /// Reads a file as a match of this id.
    fn read(id: MatchId, import: &control::Import) -> Result<Self, Refusal> {
        let file = read_file(&import.name, &import.content)?;
        let setup = file.start.setup();
        let fresh = AnyGame::new(&setup).map_err(|error| unreadable("规则无法识别", error.0))?;
        if fresh.key() != file.start.key() {
            let why = "it begins with a position that was set up by hand";
            return Err(unreadable("文件从摆好的局面开始，暂时不能导入", why));
        }
        if file.actions.len() > limits::SHOWN_ACTIONS {
            return Err(unreadable("步数太多", "the game is too long"));
        }
        let mut record = MatchRecord::new(id, setup, Side::First);
        record.result = match file.game.outcome() {
            Some(outcome) => Some(MatchResult::Played(outcome)),
            None => file.heading.ended.and_then(explained),
        };
        record.actions = file.actions;
        let Heading { first, second, event, date, ended } = file.heading;
        // A result that the record does not show is taken from the file.
        let unexplained = ended.filter(|_| record.result.is_none());
        let score = unexplained.map_or("", Ended::score).to_owned();
        let [first, second, event, date] = [first, second, event, date].map(|said| short(&said));
        let origin = control::Origin { first, second, event, date, score };
        let ending = import.name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
        let actions = record.actions.len() as u32;
        let file = KeptFile { ending, actions, content: import.content.to_vec() };
        Ok(Self { record, origin, file })
    }
}

impl Actor {
    pub(crate) fn list_matches(&mut self, asked: &control::ListMatches) -> Result<Answer, Refusal> {
        let limit = if asked.limit == 0 { LISTED } else { asked.limit };
        let (page, total) = self.journal.page(&self.match_filter(asked), asked.skip, limit)?;
        let mut matches = Vec::new();
        for id in page {
            match self.journal.load(id) {
                Ok(Some(saved)) => matches.extend(self.summary(saved, asked.boards)),
                Ok(None) => {}
                Err(error @ StoreError::Damaged { .. }) => warn!(%error, "a match is left out of the list"),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Answer::Matches(control::Matches { matches, total }))
    }

    /// The filter for a client's list request.
    fn match_filter(&self, asked: &control::ListMatches) -> MatchFilter {
        let sought = asked.opponent.trim().to_lowercase();
        let opponent = match sought.as_str() {
            "" => Opponent::Anyone,
            "bot" => Opponent::Bot,
            "here" => Opponent::Here,
            part => {
                let called = |peer: &&Peer| peer.name.to_lowercase().contains(part);
                let players = self.people.values().filter(called).map(|peer| peer.key).collect();
                Opponent::Called { players, part: part.to_owned() }
            }
        };
        MatchFilter { game: wire::read_game(asked.game), opponent, outcome: asked.outcome() }
    }

    /// `None` if the match cannot be replayed: then it is not shown, but stays in the file.
    pub(crate) fn summary(&self, saved: SavedMatch, with_board: bool) -> Option<control::MatchSummary> {
        let (open, changed, origin) = (saved.open, saved.changed_unix_ms, saved.origin);
        let room = Room::new(saved.record, saved.seats).ok()?;
        let record = room.record();
        let result = show::result(record, origin.as_ref());
        let over = result.is_some();
        let seat = |side: Side| {
            let named = origin.as_ref().map(|origin| match side {
                Side::First => origin.first.clone(),
                Side::Second => origin.second.clone(),
            });
            let seat = self.shown_seat(&room, side);
            match named {
                Some(name) => control::Seat { name: proto::limits::fit_name(&name), ..seat },
                None => seat,
            }
        };
        let seats = Side::BOTH.map(seat);
        let [first, second] = seats;
        Some(control::MatchSummary {
            room_id: record.id.to_string(),
            setup: Some(wire::setup(&record.setup)),
            first: Some(first),
            second: Some(second),
            ply: room.ply(),
            moves: show::moves(&record.actions),
            result,
            changed_unix_ms: changed.try_into().unwrap_or(0),
            digest: record.digest(),
            record: room.notation().to_vec(),
            revision: record.revision,
            open,
            board: (!over || with_board)
                .then(|| show::board(room.game(), over))
                .filter(|board| board.lights.len() <= MOST_LIGHTS),
            pace: Pace::write(record.pace),
            paused: record.paused,
            origin,
        })
    }

    pub(crate) fn saved_match(&self, name: &str) -> Result<SavedMatch, Refusal> {
        let no_such = || Refusal::new(RefusalCode::RefusalNoSuchRoom, "no such match");
        let id = parse_match_name(name).ok_or_else(no_such)?;
        self.journal.load(id)?.ok_or_else(no_such)
    }

    pub(crate) fn look(&mut self, look: &control::Look) -> Result<Answer, Refusal> {
        let saved = self.saved_match(&look.room_id)?;
        let ply = look.ply.min(saved.record.actions.len() as u32);
        let over = ply as usize == saved.record.actions.len() && saved.record.result.is_some();
        let game = replayed(&saved.record, ply)?;
        let mut position = control::Position {
            room_id: look.room_id.clone(),
            ply,
            board: Some(show::board(&game, over)),
            total: saved.record.actions.len() as u32,
            moves: show::moves(&saved.record.actions[..ply as usize]),
            total_moves: show::moves(&saved.record.actions),
            ..Default::default()
        };
        if look.record {
            let whole = Room::new(saved.record, saved.seats)
                .map_err(|error| Refusal::new(RefusalCode::RefusalNoSuchRoom, error.to_string()))?;
            position.record = whole.notation().to_vec();
            position.spoken = whole.spoken().to_vec();
        }
        Ok(Answer::Position(position))
    }

    pub(crate) fn branch(&mut self, branch: &control::Branch) -> Result<Answer, Refusal> {
        let saved = self.saved_match(&branch.room_id)?;
        needs_one_device(&saved.record.setup)?;
        let seats = [local_seat(branch.first.as_ref())?, local_seat(branch.second.as_ref())?];
        let game = replayed(&saved.record, branch.ply)?;
        let mut record =
            MatchRecord::new(MatchId(self.chance.bytes()), saved.record.setup.clone(), Side::First);
        record.actions = saved.record.actions;
        record.actions.truncate(branch.ply as usize);
        record.result = game.outcome().map(MatchResult::Played);
        self.begin(record, seats, None, false).map(in_room)
    }

    pub(crate) fn discard(&mut self, name: &str) -> Result<Answer, Refusal> {
        let saved = self.saved_match(name)?;
        if saved.seats.iter().any(|seat| matches!(seat, Seat::Peer(_))) {
            // The other device may still send something about this match.
            return Err(Refusal::new(RefusalCode::RefusalIllegal, "a match with another device is kept"));
        }
        let id = saved.record.id;
        if self.rooms.contains_key(&id) {
            self.close_room(id)?;
        }
        self.end_judging(Some(id));
        self.journal.keep(|store| store.delete(id))?;
        Ok(done())
    }

    /// Imports a file on a thread of its own, because reading a hostile file may take long.
    pub(crate) fn import(&mut self, responder: Responder, import: control::Import) {
        if import.content.len() > limits::FILE_BYTES {
            return responder.refuse(unreadable("文件太大", "the file is too large"));
        }
        if !self.work.has_room(Job::File) {
            let busy = Refusal::new(RefusalCode::RefusalBusy, "another file is being read");
            return responder.refuse(busy);
        }
        let (inbox, id) = (self.inbox.clone(), MatchId(self.chance.bytes()));
        self.work.begin_stoppable(Job::File, responder.client, move |stop| {
            let read = std::panic::catch_unwind(|| Imported::read(id, &import));
            let broken = || Err(unreadable("文件无法读取", "it cannot be read"));
            let read = stop.check().and_then(|()| read.unwrap_or_else(|_| broken()));
            // Sending fails only after the actor has ended, and the client with it.
            let _ = inbox.send(Message::Imported(responder, read.map(Box::new)));
        });
    }

    pub(crate) fn imported(&mut self, responder: Responder, read: Result<Box<Imported>, Refusal>) {
        self.work.ended(Job::File);
        let now = self.now_unix_ms();
        responder.answer(read.and_then(|read| {
            let Imported { record, origin, file } = *read;
            // Importing the same file again returns the same match.
            if let Some(known) = self.journal.taken_from(&file)? {
                return Ok(in_room(known));
            }
            self.journal.keep(|store| store.take_in(&record, Seat::BOTH_HERE, (&origin, &file), now))?;
            Ok(in_room(record.id))
        }));
    }

    /// Exports a match on a thread of its own: a long match is played through twice.
    pub(crate) fn export(&mut self, responder: Responder, export: &control::Export) {
        if let Err((responder, refusal)) =
            self.begin_export(export, responder, |responder, file| responder.answer(file.map(Answer::File)))
        {
            responder.refuse(refusal);
        }
    }

    /// Starts an export. `told` gets `to` and the file on the export's thread; `to` comes back with a refusal.
    pub(crate) fn begin_export<T: Send + 'static>(
        &mut self,
        export: &control::Export,
        to: T,
        told: impl FnOnce(T, Result<control::File, Refusal>) + Send + 'static,
    ) -> Result<(), (T, Refusal)> {
        if !self.work.has_room(Job::Export) {
            let busy = Refusal::new(RefusalCode::RefusalBusy, "other files are being written");
            return Err((to, busy));
        }
        let work = match self.exporting(export) {
            Ok(work) => work,
            Err(refusal) => return Err((to, refusal)),
        };
        let inbox = self.inbox.clone();
        self.work.begin(Job::Export, move || {
            let file = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            // Sending fails only after the actor has ended.
            let _ = inbox.send(Message::WorkEnded(Job::Export));
            let broken = || Err(Refusal::new(RefusalCode::RefusalBadRequest, "it cannot be written"));
            told(to, file.unwrap_or_else(|_| broken()));
        });
        Ok(())
    }

    /// Reads what an export needs from the saves; the match is played through and written by the returned closure.
    fn exporting(
        &self,
        export: &control::Export,
    ) -> Result<impl FnOnce() -> Result<control::File, Refusal> + Send + 'static, Refusal> {
        let saved = self.saved_match(&export.room_id)?;
        let heading = self.heading(&saved)?;
        let original = self.journal.file_of(saved.record.id)?;
        let (format, ply, record) = (export.format.clone(), export.ply, saved.record);
        Ok(move || exported(&format, ply, &record, heading, original))
    }

    /// The header of an exported file: players, date, result.
    fn heading(&self, saved: &SavedMatch) -> Result<Heading, Refusal> {
        let (alone, origin) = (saved.seats == Seat::BOTH_HERE, saved.origin.clone());
        let name = |seat: &Seat| match seat {
            // Two people at this device have no names.
            Seat::Here if alone => String::new(),
            Seat::Here => self.profile.name().to_owned(),
            Seat::Bot(level) => format!("{BOT}{level}"),
            Seat::Peer(key) => self.people.get(key).map_or_else(String::new, |peer| peer.name.clone()),
            Seat::Guest(name) => name.clone(),
        };
        let [first, second] = saved.seats.each_ref().map(name);
        let day = self.journal.day_of(saved.changed_unix_ms)?;
        let ended = saved.record.result.and_then(told).or_else(|| show::said_end(origin.as_ref()?));
        Ok(match origin {
            Some(control::Origin { first, second, event, date, .. }) => {
                Heading { first, second, event, date, ended }
            }
            None => Heading { first, second, event: String::new(), date: day, ended },
        })
    }

    /// Starts an analysis; it replaces one in progress.
    pub(crate) fn analyse_match(&mut self, asked: &control::AnalyseMatch) -> Result<Answer, Refusal> {
        if !asked.on {
            self.end_judging(parse_match_name(&asked.room_id));
            return Ok(done());
        }
        let saved = self.saved_match(&asked.room_id)?;
        let (id, actions) = (saved.record.id, saved.record.actions.clone());
        let start = replayed(&saved.record, 0)?;
        if start.kind() == GameKind::LightsOut {
            return Err(Refusal::new(
                RefusalCode::RefusalIllegal,
                "there is nobody to be better or worse than",
            ));
        }
        self.end_judging(None);
        self.last_judging += 1;
        let ticket = self.last_judging;
        let total = actions.len() as u32 + 1;
        let stop = Arc::new(AtomicBool::new(false));
        let shown = control::Judgements { room_id: asked.room_id.clone(), total, ..Default::default() };
        let (maker, seed, inbox) = (self.bot_maker.clone(), self.chance.seed(), self.inbox.clone());
        let (time, stopped) = (JUDGING_TIME.min(self.bot_time), stop.clone());
        let engines = self.power.engines.clone();
        let tell = move |judged| {
            // Sending fails only after the actor has ended.
            let _ = inbox.send(Message::Judged(ticket, judged));
        };
        let work = move || {
            let all = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let options = JudgingOptions { time, engines: &engines, stop: &stopped };
                judge_all(&maker, seed, start, &actions, &options, &tell);
            }));
            drop(all);
            tell(None);
        };
        std::thread::Builder::new()
            .name("judging".into())
            .spawn(work)
            .map_err(|error| Refusal::new(RefusalCode::RefusalBusy, error.to_string()))?;
        self.judging = Some(Judging { id, ticket, stop, shown, mistakes: Vec::new() });
        Ok(done())
    }

    /// Stops the analysis of this match, or any analysis, and reports its end to clients.
    fn end_judging(&mut self, of: Option<MatchId>) {
        if let Some(mut ended) = self.judging.take_if(|analysis| of.is_none_or(|id| id == analysis.id)) {
            ended.shown.ended = true;
            if let Err(error) = self.keep_mistakes(&mut ended) {
                warn!(%error, "the mistakes of an analysed match are not kept");
            }
            self.tell(event::Body::Judgements(std::mem::take(&mut ended.shown)));
        }
    }

    /// Keeps the mistakes of the person here, to be tried again, and names them to clients.
    fn keep_mistakes(&mut self, ended: &mut Judging) -> Result<(), StoreError> {
        let Some(saved) = self.journal.load(ended.id)? else { return Ok(()) };
        let keep = mistakes::to_keep(&saved.record, &saved.seats, &ended.mistakes);
        if keep.is_empty() {
            return Ok(());
        }
        let (plies, new): (Vec<u32>, Vec<_>) = keep.into_iter().unzip();
        let (today, now) = (self.local_day(), self.now_unix_ms());
        self.journal.keep(|store| store.add_mistakes(&new, today, now))?;
        for (ply, mistake) in plies.into_iter().zip(new) {
            if let Some(judged) = ended.shown.positions.get_mut(ply as usize + 1) {
                judged.try_again = mistake.id;
            }
        }
        Ok(())
    }

    /// Handles the evaluation of the next position, or the end of the analysis.
    pub(crate) fn judged(&mut self, ticket: u64, judged: Option<Box<PositionJudged>>) {
        let Some(analysis) = self.judging.as_mut().filter(|analysis| analysis.ticket == ticket) else {
            return;
        };
        match judged {
            Some(judged) => {
                let PositionJudged { shown, mistake } = *judged;
                analysis.mistakes.extend(mistake);
                analysis.shown.positions.push(shown);
                let shown = analysis.shown.clone();
                self.tell(event::Body::Judgements(shown));
            }
            None => self.end_judging(None),
        }
    }
}

/// The file of a match. An unchanged imported match is exported as the original file, with its comments and variations.
fn exported(
    format: &str,
    ply: Option<u32>,
    record: &MatchRecord,
    heading: Heading,
    original: Option<KeptFile>,
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
    let file = GameFile {
        start: replayed(record, 0)?,
        actions: record.actions[..game.ply() as usize].to_vec(),
        game,
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

/// The position after `ply` actions, or after all if there are fewer.
pub(crate) fn replayed(record: &MatchRecord, ply: u32) -> Result<AnyGame, Refusal> {
    let broken = |what: String| Refusal::new(RefusalCode::RefusalNoSuchRoom, what);
    let mut game = AnyGame::new(&record.setup).map_err(|error| broken(error.to_string()))?;
    for action in record.actions.iter().take(ply as usize) {
        game.act(*action).map_err(|error| broken(error.to_string()))?;
    }
    Ok(game)
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

/// How an analysis proceeds.
struct JudgingOptions<'a> {
    /// Time for each position.
    time: Duration,
    /// While they rest, the analysis waits.
    engines: &'a Engines,
    stop: &'a AtomicBool,
}

fn judge_all(
    maker: &BotMaker,
    seed: u64,
    mut game: AnyGame,
    actions: &[engine::Action],
    options: &JudgingOptions<'_>,
    tell: &impl Fn(Option<Box<PositionJudged>>),
) {
    let &JudgingOptions { time, engines, stop } = options;
    let mut bot = maker(game.kind(), Level::MAX, seed);
    let mut next = actions.iter();
    let (mut moves, mut ply) = (0, 0);
    // The position before the last action, with what was found there.
    let mut before: Option<Before> = None;
    loop {
        engines.wait_while_resting(stop);
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let (mut found, mut mistake) = (None, None);
        let judgement = if let Some(outcome) = game.outcome() {
            let permille = match outcome.winner {
                Some(Side::First) => 1_000,
                Some(Side::Second) => -1_000,
                None => 0,
            };
            mistake = before.as_ref().and_then(|before| mistaken(before, permille, None));
            control::Judgement { permille, moves, ..Default::default() }
        } else {
            let began = Instant::now();
            let elapsed = || began.elapsed();
            let limits = Limits { time: Some(time), nodes: None, depth: None, stop, elapsed: &elapsed };
            let report = bot.judge(&game, &limits);
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let mut judged = control::Judgement { moves, ..judgement(&game, report.as_ref()) };
            judged.why = before
                .as_ref()
                .zip(report.as_ref())
                .filter(|((_, was, _, _, permille), _)| fell(was.turn(), *permille, judged.permille))
                .and_then(|((_, was, played, better, _), reply)| {
                    let [mut better, mut reply] = [better.clone(), reply.clone()];
                    let mut further = |game: &AnyGame| {
                        let began = Instant::now();
                        let elapsed = || began.elapsed();
                        let time = Some(time / FURTHER);
                        bot.judge(game, &Limits { time, nodes: None, depth: None, stop, elapsed: &elapsed })
                    };
                    reasons::complete(was, &mut better, &mut further);
                    reasons::complete(&game, &mut reply, &mut further);
                    reasons::reason(&Mistake { before: was, played: *played, better: &better, reply: &reply })
                })
                .map(|reason| {
                    let [zh, en] = reason.words;
                    control::Words { zh, en }
                });
            if let Some(before) = &before {
                mistake = mistaken(before, judged.permille, judged.why.clone());
            }
            found = report.map(|report| (report, judged.permille));
            judged
        };
        tell(Some(Box::new(PositionJudged { shown: judgement, mistake })));
        let Some(action) = next.next() else { return };
        before = found.map(|(report, permille)| (ply, game.clone(), *action, report, permille));
        moves += u32::from(action.is_move());
        ply += 1;
        if game.act(*action).is_err() {
            return;
        }
    }
}

/// A position after so many actions, with the action played there, what a search found, and its value for the first side.
type Before = (u32, AnyGame, engine::Action, Report, i32);

/// The action after `before`, if it was a mistake. `after`: the value of the position after it, for the first side.
fn mistaken(before: &Before, after: i32, why: Option<control::Words>) -> Option<mistakes::Found> {
    let (ply, was, played, report, permille) = before;
    if !fell(was.turn(), *permille, after) {
        return None;
    }
    let values = [*permille, after].map(|value| if was.turn() == Side::First { value } else { -value });
    mistakes::found(was, *ply, *played, report, values, why)
}

/// The lines around a mistake are completed by searches of this part of the time for a position.
const FURTHER: u32 = 8;

/// Loss by a move that is a mistake: a tenth of the winning chance, of 2,000 between a sure win and a sure loss.
const MISTAKE: i32 = 200;

/// Whether a move cost its side much. Both values are the first side's.
const fn fell(mover: Side, before: i32, after: i32) -> bool {
    let lost = match mover {
        Side::First => before - after,
        Side::Second => after - before,
    };
    lost >= MISTAKE
}

fn judgement(game: &AnyGame, report: Option<&Report>) -> control::Judgement {
    let Some(report) = report else { return control::Judgement::default() };
    let permille = show::chances(game.kind(), report.score);
    let best = report.line.first().copied();
    control::Judgement {
        permille: if game.turn() == Side::First { permille } else { -permille },
        best: best.map_or_else(String::new, |best| game.notation(best)),
        best_spoken: best.and_then(|best| show::spoken(game, best)),
        best_action: best.map(wire::action),
        turn: show::side(game.turn()).into(),
        ..Default::default()
    }
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
}
