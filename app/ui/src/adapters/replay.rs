//! A kept match, looked through. The host tells each position that is asked for, and judges them on request.

use std::rc::Rc;

use proto::board as wire;
use proto::control::{self, Seat, request, seat};
use senses::Cue;
use slint::{ComponentHandle, ModelRc, SharedString, VecModel};

use super::board::{Layout, Names, ending, names, pairs, plain_points};
use super::{game, game_of, home, new_game, records, side, update, when};
use crate::app::{Desk, Purpose};
use crate::screens::{
    Ending, MainWindow, Mistake, Opponent, Page, PointView, RecordsAdapter, ReplayAdapter, Side,
};

/// A fall of so much in one move, of 2,000 from sure win to sure loss, is marked as a mistake.
const MISTAKE: i32 = 350;
/// Marks of one match at most: the worst ones.
const MISTAKES: usize = 6;

/// Rows of the models that the page draws from.
#[derive(Default)]
pub(crate) struct Rows {
    points: Rc<VecModel<PointView>>,
    columns: Rc<VecModel<SharedString>>,
    upper: Rc<VecModel<SharedString>>,
    numbers: Rc<VecModel<SharedString>>,
    record: Rc<VecModel<SharedString>>,
    bars: Rc<VecModel<i32>>,
    mistakes: Rc<VecModel<Mistake>>,
}

/// The match that is looked through.
pub(crate) struct Replay {
    summary: control::MatchSummary,
    /// What is to be seen, which may not have been told yet; and whether it has been asked for.
    wanted: u32,
    asked: bool,
    seen: Option<control::Position>,
    record: Vec<String>,
    spoken: Vec<control::Words>,
    judged: control::Judgements,
    judging: bool,
}

impl Replay {
    pub(crate) fn room_id(&self) -> &str {
        &self.summary.room_id
    }
}

pub(super) fn attach(window: &MainWindow, desk: &Rc<Desk>) {
    let page = window.global::<ReplayAdapter>();
    page.set_points(ModelRc::from(desk.replay.points.clone()));
    page.set_column_names(ModelRc::from(desk.replay.columns.clone()));
    page.set_upper_names(ModelRc::from(desk.replay.upper.clone()));
    page.set_row_names(ModelRc::from(desk.replay.numbers.clone()));
    page.set_record(ModelRc::from(desk.replay.record.clone()));
    page.set_bars(ModelRc::from(desk.replay.bars.clone()));
    page.set_mistakes(ModelRc::from(desk.replay.mistakes.clone()));
    page.on_go(when!(desk, |desk, ply| {
        desk.change(|inner| {
            if let Some(replay) = &mut inner.replay {
                replay.wanted = ply.max(0) as u32;
            }
        });
        look(&desk);
    }));
    page.on_judge(when!(desk, |desk, on| judge(&desk, on)));
    page.on_play_on(when!(desk, |desk, against_device| play_on(&desk, against_device)));
    page.on_save(when!(desk, |desk| {
        if let Some(room_id) = room(&desk) {
            let export = control::Export { room_id, format: String::new() };
            desk.ask(request::Body::Export(export), Purpose::Export);
        }
    }));
    page.on_discard(when!(desk, |desk| {
        if let Some(room_id) = room(&desk) {
            desk.ask(request::Body::Discard(control::Discard { room_id }), Purpose::Discard);
        }
    }));
}

pub(super) fn room(desk: &Desk) -> Option<String> {
    desk.see().replay.as_ref().map(|replay| replay.summary.room_id.clone())
}

/// Turns to the page with this match, at its end.
pub(crate) fn open(desk: &Desk, summary: control::MatchSummary) {
    desk.change(|inner| {
        inner.replay = Some(Replay {
            wanted: summary.ply,
            asked: false,
            seen: None,
            record: summary.record.clone(),
            spoken: Vec::new(),
            judged: control::Judgements::default(),
            judging: false,
            summary,
        });
    });
    if let Some(window) = desk.window.upgrade() {
        window.global::<ReplayAdapter>().set_playing(false);
    }
    look(desk);
    desk.go(Page::Replay);
}

/// Asks for the position that is wanted, one at a time, so that a fast slider does not queue up a hundred.
fn look(desk: &Desk) {
    let mut look = None;
    desk.change(|inner| {
        let Some(replay) = &mut inner.replay else { return };
        let there = replay.seen.as_ref().is_some_and(|seen| seen.ply == replay.wanted.min(seen.total));
        if !there && !replay.asked {
            replay.asked = true;
            let record = replay.seen.is_none();
            look =
                Some(control::Look { room_id: replay.summary.room_id.clone(), ply: replay.wanted, record });
        }
    });
    if let Some(look) = look {
        desk.ask(request::Body::Look(look), Purpose::Look);
    }
}

/// The host has told a position.
pub(crate) fn seen(desk: &Desk, mut position: control::Position) {
    let mut stepped = false;
    desk.change(|inner| {
        let Some(replay) = &mut inner.replay else { return };
        if replay.summary.room_id != position.room_id {
            return;
        }
        replay.asked = false;
        // A step to the next move is heard as the move was.
        stepped = replay.seen.as_ref().is_some_and(|seen| seen.ply + 1 == position.ply);
        if !position.record.is_empty() {
            replay.record = std::mem::take(&mut position.record);
            replay.spoken = std::mem::take(&mut position.spoken);
        }
        replay.seen = Some(position);
    });
    if stepped {
        desk.hear(Cue::Stone);
    }
    look(desk);
}

fn judge(desk: &Desk, on: bool) {
    let Some(room_id) = room(desk) else { return };
    desk.ask(request::Body::Judge(control::Judge { room_id, on }), Purpose::Nothing);
    desk.change(|inner| {
        if let Some(replay) = &mut inner.replay {
            replay.judging = on;
        }
    });
}

/// The host has judged one position more, or will judge no more.
pub(crate) fn judged(desk: &Desk, judged: control::Judgements) {
    desk.change(|inner| {
        if let Some(replay) = inner.replay.as_mut().filter(|replay| replay.summary.room_id == judged.room_id)
        {
            replay.judging = !judged.ended;
            replay.judged = judged;
        }
    });
}

fn play_on(desk: &Desk, against_device: bool) {
    let branch = {
        let inner = desk.see();
        let Some(replay) = &inner.replay else { return };
        let Some(seen) = &replay.seen else { return };
        let here = || Seat { who: Some(seat::Who::Here(true)), ..Default::default() };
        let level = inner.last(super::wire_game(replay.summary.setup.as_ref())).level;
        let bot = || Seat { who: Some(seat::Who::BotLevel(level)), ..Default::default() };
        // The person takes over the side that is to move.
        let second = seen.board.as_ref().is_some_and(|board| board.turn() == wire::Side::Second);
        let (first, second) = match (against_device, second) {
            (false, _) => (here(), here()),
            (true, false) => (here(), bot()),
            (true, true) => (bot(), here()),
        };
        let room_id = replay.summary.room_id.clone();
        control::Branch { room_id, ply: seen.ply, first: Some(first), second: Some(second) }
    };
    desk.ask(request::Body::Branch(branch), Purpose::OpenRoom);
}

pub(super) fn show(window: &MainWindow, desk: &Desk) {
    let inner = desk.see();
    let Some(replay) = inner.replay.as_ref().filter(|_| inner.page() == Page::Replay) else { return };
    let page = window.global::<ReplayAdapter>();
    let summary = &replay.summary;
    let playing = super::wire_game(summary.setup.as_ref());
    page.set_game(game_of(summary.setup.as_ref()));
    let (opponent, name, level) = home::opponent([&summary.first, &summary.second]);
    let file = summary.origin.is_some();
    let players = records::from_file(summary).0.into();
    let row = crate::screens::RecordRow {
        opponent,
        name: name.into(),
        level,
        file,
        names: players,
        ..Default::default()
    };
    let solo = game::is_solo(playing) && opponent == Opponent::Here && !file;
    page.set_players(if solo {
        SharedString::default()
    } else {
        window.global::<RecordsAdapter>().invoke_who(row)
    });
    page.set_coordinates(inner.preferences.coordinates);
    let result = summary.result.as_ref();
    page.set_over(result.is_some());
    page.set_winner(result.map_or(Side::None, |result| side(result.winner())));
    page.set_ending(result.map_or(Ending::None, |result| ending(result.ending())));
    page.set_can_discard(opponent != Opponent::Peer);
    update(&desk.replay.record, &pairs(&replay.record, &replay.spoken, inner.chinese()));
    show_judged(&page, desk, replay, inner.chinese(), playing);
    let Some(seen) = &replay.seen else { return };
    page.set_ply(seen.ply as i32);
    page.set_total(seen.total as i32);
    let last = (seen.ply as usize).checked_sub(1);
    let spoken = last.and_then(|last| replay.spoken.get(last));
    let written =
        last.and_then(|last| replay.record.get(last)).map(|one| game::written(one)).unwrap_or_default();
    page.set_move(
        spoken.map_or(written, |words| new_game::said(Some(words), inner.chinese()).to_owned()).into(),
    );
    let Some(board) = &seen.board else { return };
    let layout = Layout::still(board);
    let Names { below, above, left } = names(board.game(), &layout, inner.chinese());
    update(&desk.replay.columns, &below);
    update(&desk.replay.upper, &above);
    update(&desk.replay.numbers, &left);
    page.set_ground(game::ground(board.game()));
    update(&desk.replay.points, &plain_points(board, &layout, inner.chinese()));
    let (columns, rows) = layout.seen();
    page.set_columns(columns);
    page.set_rows(rows);
}

/// The graph: a bar for every judged position, and spots where a move cost most.
fn show_judged(page: &ReplayAdapter<'_>, desk: &Desk, replay: &Replay, chinese: bool, playing: wire::Game) {
    let judged = &replay.judged.positions;
    page.set_can_judge(playing != wire::Game::LightsOut && replay.summary.ply > 0);
    page.set_judging(replay.judging);
    page.set_judged(judged.len() as i32);
    let moves = replay.summary.ply.max(1) as f32;
    // The middle of a bar.
    let across = |ply: usize| (ply as f32 + 0.5) / (moves + 1.0);
    let down = |permille: i32| (1_000 - permille) as f32 / 2_000.0;
    let bars: Vec<i32> = judged.iter().map(|one| one.permille).collect();
    update(&desk.replay.bars, &bars);
    let mut falls: Vec<(i32, usize)> = judged
        .windows(2)
        .enumerate()
        .map(|(before, pair)| ((pair[0].permille - pair[1].permille).abs(), before + 1))
        .filter(|(fall, _)| *fall >= MISTAKE)
        .collect();
    falls.sort_by_key(|(fall, ply)| (-fall, *ply));
    falls.truncate(MISTAKES);
    let mistakes: Vec<Mistake> = falls
        .into_iter()
        .map(|(_, ply)| Mistake { ply: ply as i32, across: across(ply), down: down(judged[ply].permille) })
        .collect();
    update(&desk.replay.mistakes, &mistakes);
    let here = replay.seen.as_ref().and_then(|seen| judged.get(seen.ply as usize));
    page.set_judged_here(here.is_some());
    page.set_permille(here.map_or(0, |here| here.permille));
    let best = here.map_or("", |here| match &here.best_spoken {
        Some(words) => new_game::said(Some(words), chinese),
        None => &here.best,
    });
    page.set_best(best.into());
}
