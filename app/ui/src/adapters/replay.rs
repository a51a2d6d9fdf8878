//! Review of a kept match. The host sends each requested position, and evaluates them on request.

mod explored;
mod notes;
mod turning;

use std::rc::Rc;

use proto::board as wire;
use proto::control::{self, Seat, edit_notes, event, reply, request, seat};
use senses::Cue;
use slint::{ComponentHandle, ModelRc, SharedString, VecModel};

use explored::Explorer;
use notes::{Place, Tried};
use turning::{beside, turning_points};

use super::board::{
    Layout, Names, Touch, counts_area, ending, fact, mark_picked, names, pairs, plain_points, point_of,
};
use super::{game, game_of, home, new_game, picture, records, side, touched, update, when};
use crate::app::{Answer, AppState, Asked, Controller, Cx};
use crate::screens::{
    Dialog, Ending, ExploredAdapter, MainWindow, NotesAdapter, Opponent, Page, PointView, RecordRow,
    RecordsAdapter, Remark, ReplayAdapter, Side, TurningPoint,
};

/// State of the page.
#[derive(Default)]
pub(crate) struct Replay {
    shown: Option<Shown>,
    /// The whole record and the position that is seen as texts, once they were asked for.
    copies: [String; 2],
    points: Rc<VecModel<PointView>>,
    columns: Rc<VecModel<SharedString>>,
    upper: Rc<VecModel<SharedString>>,
    numbers: Rc<VecModel<SharedString>>,
    record: Rc<VecModel<SharedString>>,
    bars: Rc<VecModel<i32>>,
    turning_points: Rc<VecModel<TurningPoint>>,
    notes: NoteModels,
    explorer: Explorer,
}

/// Lists of what is noted.
#[derive(Default)]
struct NoteModels {
    beside: Rc<VecModel<SharedString>>,
    marked: Rc<VecModel<i32>>,
    rows: Rc<VecModel<bool>>,
}

struct Shown {
    summary: control::MatchSummary,
    /// The position to show, which may not have arrived yet; below: the one that has been requested.
    wanted: Place,
    asked: Option<Place>,
    /// What is seen is no longer what is noted there.
    stale: bool,
    /// A piece that is picked for a move of a variation, and where.
    picked: Option<(Place, u32)>,
    seen: Option<control::Position>,
    record: Vec<String>,
    spoken: Vec<control::Words>,
    judged: control::Judgements,
    judging: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Question {
    /// A position.
    Look,
    Export,
    /// What the match's file is called, for a picture of this position.
    Picture(Box<picture::Subject>),
    /// The record, or a position of it, as a text for the clipboard.
    Copy {
        position: bool,
    },
    /// A comment or a variation is changed.
    Note,
    /// What was played in a position.
    Explore,
    /// The match is deleted.
    Discard,
    PlayOn,
}

impl From<Question> for Asked {
    fn from(question: Question) -> Self {
        Self::Replay(question)
    }
}

impl Shown {
    fn ply(&self) -> u32 {
        self.seen.as_ref().map_or(0, |seen| seen.ply)
    }

    /// Whether it goes on against another person. The host refuses then to analyse it and to play on from it.
    fn goes_on(&self) -> bool {
        let summary = &self.summary;
        let opponent = home::opponent([&summary.first, &summary.second]).0;
        summary.result.is_none() && opponent == Opponent::Peer
    }

    /// The position before the next turning point in this direction.
    fn turn(&self, forward: bool) -> Option<u32> {
        let points = turning_points(&self.judged.positions);
        let ply = beside(&points, self.ply() as usize + 1, forward)?;
        Some(ply as u32 - 1)
    }

    /// The better move, if a turning point follows the position.
    fn better(&self) -> Option<&wire::Action> {
        let ply = self.ply() as usize;
        let turns = turning_points(&self.judged.positions).iter().any(|point| point.ply == ply + 1);
        self.judged.positions.get(ply).filter(|_| turns)?.best_action.as_ref()
    }

    /// The move after `ply` actions, in players' notation.
    fn written(&self, ply: usize, chinese: bool) -> String {
        let Some(last) = ply.checked_sub(1) else { return String::new() };
        match self.spoken.get(last) {
            Some(words) => new_game::said(Some(words), chinese).to_owned(),
            None => self.record.get(last).map(|one| game::written(one)).unwrap_or_default(),
        }
    }
}

impl Replay {
    pub(super) fn attach(&self, window: &MainWindow, app: &Rc<Controller>) {
        let page = window.global::<ReplayAdapter>();
        page.set_points(ModelRc::from(self.points.clone()));
        page.set_column_names(ModelRc::from(self.columns.clone()));
        page.set_upper_names(ModelRc::from(self.upper.clone()));
        page.set_row_names(ModelRc::from(self.numbers.clone()));
        page.set_record(ModelRc::from(self.record.clone()));
        page.set_bars(ModelRc::from(self.bars.clone()));
        page.set_turning_points(ModelRc::from(self.turning_points.clone()));
        page.on_go(touched!(app, |pages, cx, ply| pages.replay.go_to(Place::main(ply.max(0) as u32), cx)));
        page.on_turn(touched!(app, |pages, cx, forward| {
            if let Some(ply) = pages.replay.shown.as_ref().and_then(|shown| shown.turn(forward)) {
                pages.replay.go_to(Place::main(ply), cx);
            }
        }));
        self.attach_notes(window, app);
        page.on_try_again(touched!(app, |_pages, cx, id| {
            let open = control::OpenPuzzle { puzzle: id.into(), ..control::OpenPuzzle::default() };
            cx.ask.send(request::Body::OpenPuzzle(open), Question::PlayOn);
        }));
        page.on_judge(touched!(app, |pages, cx, on| pages.replay.judge(on, cx)));
        page.on_play_on(touched!(app, |pages, cx, against_device| {
            pages.replay.play_on(against_device, cx);
        }));
        page.on_set_up(touched!(app, |pages, cx, with_friend| {
            match pages.replay.set_up_from() {
                Some((game, from)) if with_friend => pages.position.with_friend_from(game, from, cx),
                Some((game, from)) => pages.position.open_from(game, from, cx),
                None => {}
            }
        }));
        page.on_save(touched!(app, |pages, cx| {
            if let Some(room_id) = pages.replay.room() {
                let export = control::Export { room_id, format: String::new(), ply: None };
                cx.ask.send(request::Body::Export(export), Question::Export);
            }
        }));
        page.on_open_share(when!(app, |app| {
            if let Some(window) = app.window.upgrade() {
                let can_copy = app.clipboard().is_some();
                window.global::<ReplayAdapter>().set_can_copy_picture(can_copy);
            }
            app.turn(|pages, cx| pages.replay.open_share(cx));
        }));
        page.on_save_picture(touched!(app, |pages, cx| {
            if let Some(subject) = pages.replay.subject() {
                ask_file_name(subject, cx);
            }
        }));
        let weak = Rc::downgrade(app);
        page.on_copy_picture(move || {
            weak.upgrade().is_some_and(|app| {
                let subject = app.pages().replay.subject();
                subject.is_some_and(|subject| picture::copy(&app, &subject))
            })
        });
        page.on_discard(touched!(app, |pages, cx| {
            if let Some(room_id) = pages.replay.room() {
                cx.ask.send(request::Body::Discard(control::Discard { room_id }), Question::Discard);
            }
        }));
    }

    fn attach_notes(&self, window: &MainWindow, app: &Rc<Controller>) {
        let page = window.global::<NotesAdapter>();
        page.set_beside(ModelRc::from(self.notes.beside.clone()));
        page.set_marked(ModelRc::from(self.notes.marked.clone()));
        page.set_marked_rows(ModelRc::from(self.notes.rows.clone()));
        page.on_step(touched!(app, |pages, cx, forward| {
            pages.replay.go(|shown| shown.step(forward), cx);
        }));
        page.on_enter(touched!(app, |pages, cx, index| {
            pages.replay.go(|shown| shown.enter(usize::try_from(index).ok()?), cx);
        }));
        page.on_leave(touched!(app, |pages, cx| pages.replay.go(|shown| Some(Place::main(shown.ply())), cx)));
        page.on_turn(touched!(app, |pages, cx, forward| {
            pages.replay.go(|shown| shown.marked(forward).map(Place::main), cx);
        }));
        page.on_set_comment(touched!(app, |pages, cx, comment| {
            pages.replay.note(edit_notes::Change::Comment(comment.into()), cx);
        }));
        page.on_try_move(touched!(app, |pages, cx, index| pages.replay.try_move(index, cx)));
        page.on_remove(touched!(app, |pages, cx| pages.replay.note(edit_notes::Change::Remove(true), cx)));
        let page = window.global::<ExploredAdapter>();
        self.explorer.attach(&page);
        page.on_show(touched!(app, |pages, cx, on| {
            pages.replay.explorer.turn(on);
            pages.replay.explore(cx);
        }));
        page.on_enter(touched!(app, |pages, cx, index| pages.replay.enter_played(index, cx)));
    }

    /// Goes to the position that `to` finds, if it finds one.
    fn go(&mut self, to: impl FnOnce(&Shown) -> Option<Place>, cx: &mut Cx<'_>) {
        if let Some(place) = self.shown.as_ref().and_then(to) {
            self.go_to(place, cx);
        }
    }

    /// A touch of the board: a move of the game or of a variation, which begins with it if there is none.
    fn try_move(&mut self, index: i32, cx: &mut Cx<'_>) {
        let tried = self.shown.as_mut().and_then(|shown| shown.touch(index));
        self.go_on(tried, cx);
    }

    /// The same with a move that was played here.
    fn enter_played(&mut self, index: i32, cx: &mut Cx<'_>) {
        let tried = self.shown.as_ref().filter(|shown| shown.can_try()).and_then(|shown| {
            let action = self.explorer.action(&shown.here(), usize::try_from(index).ok()?)?;
            Some(shown.tried(action))
        });
        self.go_on(tried, cx);
    }

    fn go_on(&mut self, tried: Option<Tried>, cx: &mut Cx<'_>) {
        match tried {
            Some(Tried::Known(place)) => self.go_to(place, cx),
            Some(Tried::New(action)) => self.note(edit_notes::Change::Add(action), cx),
            Some(Tried::Said(Touch::Stuck(why))) => {
                cx.go.remark(Remark::Told, new_game::said(why.words.as_ref(), cx.known.chinese()));
            }
            Some(Tried::Said(_)) => cx.go.remark(Remark::PickFirst, ""),
            None => {}
        }
    }

    /// Asks what was played in the position that is seen, if that is shown.
    fn explore(&mut self, cx: &mut Cx<'_>) {
        let can_be_asked = |shown: &&Shown| shown.seen.is_some() && !shown.goes_on();
        let Some(shown) = self.shown.as_ref().filter(can_be_asked) else { return };
        if let Some(explore) = self.explorer.ask(&shown.here(), &shown.summary.room_id) {
            cx.ask.send(request::Body::Explore(explore), Question::Explore);
        }
    }

    /// Changes what is noted on the position that is seen.
    fn note(&mut self, change: edit_notes::Change, cx: &mut Cx<'_>) {
        let Some(shown) = &mut self.shown else { return };
        let edit = shown.edit(change);
        // What is deleted is left, what is added is entered.
        match &edit.change {
            Some(edit_notes::Change::Remove(_)) => {
                shown.wanted = shown.here();
                shown.wanted.line.pop();
            }
            Some(edit_notes::Change::Add(action)) => {
                shown.wanted = shown.here();
                shown.wanted.line.push(*action);
            }
            _ => {}
        }
        cx.ask.send(request::Body::EditNotes(edit), Question::Note);
    }

    /// What can be copied: the whole record, and the position that is seen.
    fn open_share(&mut self, cx: &mut Cx<'_>) {
        let Some(shown) = &self.shown else { return };
        let (room_id, ply) = (shown.summary.room_id.clone(), shown.ply());
        self.copies = Default::default();
        let whole = control::Export { room_id: room_id.clone(), format: String::new(), ply: None };
        cx.ask.send(request::Body::Export(whole), Question::Copy { position: false });
        let here = control::Export { room_id, format: "fen".into(), ply: Some(ply) };
        cx.ask.send(request::Body::Export(here), Question::Copy { position: true });
        cx.go.dialog(Dialog::Share);
    }

    /// The position that is seen, for a picture.
    fn subject(&self) -> Option<picture::Subject> {
        let shown = self.shown.as_ref()?;
        let seen = shown.seen.as_ref()?;
        Some(picture::Subject {
            summary: shown.summary.clone(),
            board: seen.board.clone()?,
            moves: seen.moves,
            over: seen.ply == seen.total,
            turned: false,
        })
    }

    /// The match that is looked through, by its id.
    pub(super) fn room(&self) -> Option<String> {
        self.shown.as_ref().map(|shown| shown.summary.room_id.clone())
    }

    /// Opens the page with the final position of this match.
    pub(crate) fn open(&mut self, summary: control::MatchSummary, cx: &mut Cx<'_>) {
        self.explorer.begin();
        self.shown = Some(Shown {
            wanted: Place::main(summary.ply),
            asked: None,
            stale: false,
            picked: None,
            seen: None,
            record: summary.record.clone(),
            spoken: Vec::new(),
            judged: control::Judgements::default(),
            judging: false,
            summary,
        });
        self.look(cx);
        cx.go.page(Page::Replay);
    }

    /// Opens the page with the match on the board, and starts its analysis.
    pub(super) fn review(&mut self, cx: &mut Cx<'_>) {
        let Some(room) = &cx.known.room else { return };
        let summary = summary_of(room);
        self.open(summary, cx);
        self.judge(true, cx);
    }

    fn go_to(&mut self, place: Place, cx: &mut Cx<'_>) {
        if let Some(shown) = &mut self.shown {
            shown.wanted = place;
            self.look(cx);
        }
    }

    /// Requests the position to show, one at a time, so that a fast slider does not queue a hundred requests.
    fn look(&mut self, cx: &mut Cx<'_>) {
        let Some(shown) = &mut self.shown else { return };
        if let Some(seen) = &shown.seen {
            shown.wanted.ply = shown.wanted.ply.min(seen.total);
        }
        let there = shown.seen.is_some() && shown.here() == shown.wanted && !shown.stale;
        if !there && shown.asked.is_none() {
            shown.stale = false;
            shown.asked = Some(shown.wanted.clone());
            let (room_id, record) = (shown.summary.room_id.clone(), shown.seen.is_none());
            let Place { ply, line } = shown.wanted.clone();
            let look = control::Look { room_id, ply, record, line };
            cx.ask.send(request::Body::Look(look), Question::Look);
        }
    }

    fn judge(&mut self, on: bool, cx: &mut Cx<'_>) {
        let Some(shown) = &mut self.shown else { return };
        shown.judging = on;
        let room_id = shown.summary.room_id.clone();
        let engine = cx.known.adviser(super::wire_game(shown.summary.setup.as_ref()), true);
        cx.ask.tell(request::Body::AnalyseMatch(control::AnalyseMatch { room_id, on, engine }));
    }

    /// The position shown, for the editor of positions.
    fn set_up_from(&self) -> Option<(wire::Game, control::SetUpFrom)> {
        let shown = self.shown.as_ref()?;
        let (game, room_id) = (super::wire_game(shown.summary.setup.as_ref()), shown.summary.room_id.clone());
        Some((game, control::SetUpFrom { room_id, ply: shown.seen.as_ref()?.ply, lesson: None }))
    }

    fn play_on(&self, against_device: bool, cx: &mut Cx<'_>) {
        let Some(shown) = &self.shown else { return };
        let Some(seen) = &shown.seen else { return };
        let here = || Seat { who: Some(seat::Who::Here(true)), ..Default::default() };
        let level = cx.known.last(super::wire_game(shown.summary.setup.as_ref())).level;
        let bot = || game::bot_of(level);
        // The player takes over the side to move.
        let second = seen.board.as_ref().is_some_and(|board| board.turn() == wire::Side::Second);
        let (first, second) = match (against_device, second) {
            (false, _) => (here(), here()),
            (true, false) => (here(), bot()),
            (true, true) => (bot(), here()),
        };
        let room_id = shown.summary.room_id.clone();
        let branch = control::Branch { room_id, ply: seen.ply, first: Some(first), second: Some(second) };
        cx.ask.send(request::Body::Branch(branch), Question::PlayOn);
    }

    /// Handles an evaluation, or the end of the analysis.
    pub(crate) fn hear(&mut self, event: &event::Body) {
        let event::Body::Judgements(judged) = event else { return };
        if let Some(shown) = self.shown.as_mut().filter(|shown| shown.summary.room_id == judged.room_id) {
            shown.judging = !judged.ended;
            shown.judged = judged.clone();
        }
    }

    pub(crate) fn reply(&mut self, question: &Question, answer: Answer, cx: &mut Cx<'_>) {
        match (answer, question) {
            (Ok(reply::Body::Position(position)), Question::Look) => self.seen(position, cx),
            (Ok(reply::Body::File(file)), Question::Export) => records::save(&file, cx),
            (Ok(reply::Body::File(file)), Question::Picture(subject)) => {
                cx.go.save_picture(subject.as_ref().clone(), &file.name);
            }
            (Ok(reply::Body::File(file)), Question::Copy { position }) => {
                let text = String::from_utf8_lossy(&file.content).trim_end().to_owned();
                self.copies[usize::from(*position)] = text;
            }
            (Ok(reply::Body::Done(_)), Question::Note) => {
                if let Some(shown) = &mut self.shown {
                    shown.stale = true;
                }
                self.look(cx);
            }
            (Err(refusal), Question::Note) => {
                if let Some(shown) = self.shown.as_mut().filter(|shown| shown.asked.is_none()) {
                    shown.wanted = shown.here();
                }
                cx.go.refused(refusal, Remark::BadRequest);
            }
            (Ok(reply::Body::Explored(explored)), Question::Explore) => {
                self.explorer.answered(Some(explored));
                self.explore(cx);
            }
            (Err(_), Question::Explore) => self.explorer.answered(None),
            (Ok(reply::Body::Done(_)), Question::Discard) => {
                cx.go.leave(Page::Replay);
                cx.go.search_records();
            }
            (Ok(reply::Body::RoomId(room)), Question::PlayOn) => cx.go.room(&room),
            (Err(refusal), _) => cx.go.refused(refusal, Remark::BadRequest),
            (Ok(_), _) => {}
        }
    }

    fn seen(&mut self, mut position: control::Position, cx: &mut Cx<'_>) {
        let is_shown = |shown: &&mut Shown| shown.summary.room_id == position.room_id;
        if let Some(shown) = self.shown.as_mut().filter(is_shown) {
            let asked = shown.asked.take();
            // A step to the next move plays the move's sound.
            let here = shown.here();
            let longer = position.notes.as_ref().is_some_and(|notes| notes.line.len() == here.line.len() + 1);
            let on = if here.ply == position.ply { longer } else { here.ply + 1 == position.ply };
            if shown.seen.is_some() && on {
                cx.feel.hear(Cue::Stone);
            }
            if !position.record.is_empty() {
                shown.record = std::mem::take(&mut position.record);
                shown.spoken = std::mem::take(&mut position.spoken);
            }
            shown.seen = Some(position);
            // A variation may have ended or gone meanwhile.
            if asked.is_some_and(|asked| asked == shown.wanted) {
                shown.wanted = shown.here();
            }
        }
        self.look(cx);
        self.explore(cx);
    }

    pub(super) fn show(&self, window: &MainWindow, known: &AppState) {
        let Some(shown) = self.shown.as_ref().filter(|_| known.page() == Page::Replay) else { return };
        let page = window.global::<ReplayAdapter>();
        page.set_game_text(self.copies[0].as_str().into());
        page.set_position_text(self.copies[1].as_str().into());
        if shown.seen.is_none() {
            // The page was just opened.
            page.set_playing(false);
        }
        let summary = &shown.summary;
        let playing = super::wire_game(summary.setup.as_ref());
        page.set_game(game_of(summary.setup.as_ref()));
        page.set_can_set_up(playing != wire::Game::LightsOut);
        page.set_players(players(window, summary));
        page.set_coordinates(known.preferences.coordinates);
        let result = summary.result.as_ref();
        page.set_over(result.is_some());
        page.set_winner(result.map_or(Side::None, |result| side(result.winner())));
        page.set_ending(result.map_or(Ending::None, |result| ending(result.ending())));
        page.set_can_discard(home::opponent([&summary.first, &summary.second]).0 != Opponent::Peer);
        let rows = pairs(&shown.record, &shown.spoken, known.chinese());
        update(&self.record, &rows);
        let noted = window.global::<NotesAdapter>();
        shown.show_notes(&noted, &self.notes, rows.len(), known.chinese());
        let here = shown.seen.is_some().then(|| shown.here());
        self.explorer.show(&window.global(), here.as_ref(), game_of(summary.setup.as_ref()), known.chinese());
        self.show_judged(&page, shown, known.chinese(), playing);
        let Some(seen) = &shown.seen else { return };
        page.set_ply(seen.ply as i32);
        page.set_total(seen.total as i32);
        page.set_moves(seen.moves as i32);
        page.set_total_moves(seen.total_moves as i32);
        page.set_move(shown.written(seen.ply as usize, known.chinese()).into());
        let Some(board) = &seen.board else { return };
        let layout = Layout::still(board);
        let Names { below, above, left } = names(board.game(), &layout, known.chinese());
        update(&self.columns, &below);
        update(&self.upper, &above);
        update(&self.numbers, &left);
        page.set_ground(game::ground(board.game()));
        let points = |of| fact(board, control::FactKind::FactHalfPoints, of).unwrap_or(0);
        if seen.ply == seen.total {
            page.set_lead(points(wire::Side::First).abs_diff(points(wire::Side::Second)) as i32);
        }
        let opening = board.facts.iter().find(|fact| fact.kind() == control::FactKind::FactOpening);
        let words = opening.and_then(|opening| opening.words.as_ref());
        page.set_opening(new_game::said(words, known.chinese()).into());
        page.set_area(counts_area(summary.setup.as_ref()));
        let mut points = plain_points(board, &layout, known.chinese());
        if let Some(from) = shown.picked() {
            mark_picked(from, board, &layout, &mut points);
        }
        let better = shown.better().filter(|_| !shown.is_beside());
        let arrow = draw_better(better, &layout, &mut points);
        page.set_arrow_from(arrow.map_or(-1, |(from, _)| from as i32));
        page.set_arrow_to(arrow.map_or(-1, |(_, to)| to as i32));
        update(&self.points, &points);
        let (columns, rows) = layout.seen();
        page.set_columns(columns);
        page.set_rows(rows);
    }

    /// Draws the graph: a bar per evaluated position, and marks at the turning points.
    fn show_judged(&self, page: &ReplayAdapter<'_>, shown: &Shown, chinese: bool, playing: wire::Game) {
        let judged = &shown.judged.positions;
        page.set_goes_on(shown.goes_on());
        page.set_can_judge(playing != wire::Game::LightsOut && shown.summary.ply > 0 && !shown.goes_on());
        page.set_judging(shown.judging);
        page.set_judged(judged.len() as i32);
        let moves = shown.summary.ply.max(1) as f32;
        // The middle of a bar.
        let across = |ply: usize| (ply as f32 + 0.5) / (moves + 1.0);
        let down = |permille: i32| (1_000 - permille) as f32 / 2_000.0;
        let bars: Vec<i32> = judged.iter().map(|one| one.permille).collect();
        update(&self.bars, &bars);
        let found = turning_points(judged);
        let row = |point: &turning::TurningPoint| TurningPoint {
            ply: point.ply as i32,
            number: judged[point.ply].moves as i32,
            side: side(point.side),
            r#move: shown.written(point.ply, chinese).into(),
            before: point.before,
            after: point.after,
            across: across(point.ply),
            down: down(judged[point.ply].permille),
            why: new_game::said(judged[point.ply].why.as_ref(), chinese).into(),
            again: judged[point.ply].try_again.as_str().into(),
        };
        update(&self.turning_points, &found.iter().map(row).collect::<Vec<_>>());
        page.set_turns_before(shown.turn(false).is_some());
        page.set_turns_after(shown.turn(true).is_some());
        let seen = shown.seen.as_ref().filter(|_| !shown.is_beside());
        let here = seen.and_then(|seen| judged.get(seen.ply as usize));
        page.set_judged_here(here.is_some());
        page.set_permille(here.map_or(0, |here| here.permille));
        let best = here.map_or("", |here| match &here.best_spoken {
            Some(words) => new_game::said(Some(words), chinese),
            None => &here.best,
        });
        page.set_best(best.into());
    }
}

/// The match on the board as the list of matches has it.
pub(super) fn summary_of(room: &control::Room) -> control::MatchSummary {
    control::MatchSummary {
        room_id: room.id.clone(),
        setup: room.setup.clone(),
        first: room.first.clone(),
        second: room.second.clone(),
        ply: room.record.len() as u32,
        moves: room.moves,
        result: room.result,
        record: room.record.clone(),
        revision: room.revision,
        open: true,
        ..Default::default()
    }
}

/// Asks what the match's file is called, then saves a picture of the position beside it.
pub(super) fn ask_file_name(subject: picture::Subject, cx: &mut Cx<'_>) {
    let room_id = subject.summary.room_id.clone();
    let export = control::Export { room_id, format: String::new(), ply: None };
    cx.ask.send(request::Body::Export(export), Question::Picture(Box::new(subject)));
}

/// Who played, in the displayed language; empty for a game of one player.
pub(super) fn players(window: &MainWindow, summary: &control::MatchSummary) -> SharedString {
    let (opponent, name, level) = home::opponent([&summary.first, &summary.second]);
    let file = summary.origin.is_some();
    if game::is_solo(super::wire_game(summary.setup.as_ref())) && opponent == Opponent::Here && !file {
        return SharedString::default();
    }
    let names = records::from_file(summary).0.into();
    let row = RecordRow { opponent, name: name.into(), level, file, names, ..Default::default() };
    window.global::<RecordsAdapter>().invoke_who(row)
}

/// Draws the better move on the board: a step as an arrow, anything else as a mark.
fn draw_better(
    better: Option<&wire::Action>,
    layout: &Layout,
    points: &mut [PointView],
) -> Option<(usize, usize)> {
    let better = better?;
    if let Some(wire::action::Kind::Step(step)) = &better.kind {
        return layout.index(step.from).zip(layout.index(step.to));
    }
    if let Some(index) = point_of(better).and_then(|at| layout.index(at)) {
        (points[index].marked, points[index].hint) = (true, true);
    }
    None
}
