//! The points of the board: pieces, marks, pieces that have just left, and hints.

use proto::board::{self as wire, action};
use proto::control::{self, MarkKind, Room};
use slint::{Model, SharedString};

use super::layout::{FIRST_ZOOM, Layout, Names, ZOOMS, names};
use super::show::{moves, thinking_of};
use super::{HintState, Rows, View, near_side, other, point_of};
use crate::adapters::{game, new_game, update};
use crate::app::Controller;
use crate::screens::{Advice, BoardAdapter, LineView, PointView};

/// The position shown, and its layout: while both are unchanged, the fading pieces stay the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shown {
    room: String,
    ply: u32,
    revision: u32,
    /// Turned, left, top, wide, high.
    part: (bool, usize, usize, usize, usize),
}

impl Shown {
    pub(super) fn of(room: &Room, board: &control::Board, layout: &Layout) -> Self {
        let Layout { turned, left, top, wide, high, .. } = *layout;
        let part = (turned, left, top, wide, high);
        Self { room: room.id.clone(), ply: board.ply, revision: room.revision, part }
    }
}

/// Pieces removed by the last change, by their points: they fade out.
#[derive(Default)]
pub(super) struct Faded {
    shown: Shown,
    pieces: Vec<(usize, i32, i32)>,
}

impl Rows {
    /// Marks pieces removed since the previous position, which the rows still show. A piece that moved is not removed.
    pub(super) fn fade(&self, points: &mut [PointView], shown: &Shown) {
        let mut faded = self.faded.borrow_mut();
        if faded.shown != *shown {
            let follows = (&faded.shown.room, faded.shown.part) == (&shown.room, shown.part)
                && points.len() == self.points.row_count();
            let left = |(index, new): (usize, &PointView)| {
                let old = self.points.row_data(index)?;
                let gone = old.stone != 0 && new.stone != old.stone && !new.left;
                (follows && gone).then_some((index, old.stone, old.piece))
            };
            faded.pieces = points.iter().enumerate().filter_map(left).collect();
            faded.shown = shown.clone();
        }
        for (index, stone, piece) in &faded.pieces {
            (points[*index].gone, points[*index].gone_piece) = (*stone, *piece);
        }
    }
}

/// Updates the description of the visible part, for boards larger than the page.
pub(super) fn show_part(page: &BoardAdapter<'_>, view: View<'_>, layout: &Layout) {
    let zoom = view.page.look.zoom;
    let larger = layout.columns.max(layout.rows) > ZOOMS[FIRST_ZOOM];
    page.set_larger(larger);
    page.set_can_see_more(layout.is_part() && zoom + 1 < ZOOMS.len());
    page.set_can_see_less(larger && zoom > 0);
    let Layout { left, top, wide, high, columns, rows, .. } = layout;
    page.set_seen_part(
        format!("{}–{} / {columns} × {}–{} / {rows}", left + 1, left + wide, top + 1, top + high).into(),
    );
}

pub(super) fn show_points(
    page: &BoardAdapter<'_>,
    app: &Controller,
    view: View<'_>,
    room: &Room,
    board: &control::Board,
    layout: &Layout,
) {
    let kind = board.game();
    let Names { below, above, left } = names(kind, layout, view.known.chinese());
    update(&app.board.columns, &below);
    update(&app.board.upper, &above);
    update(&app.board.numbers, &left);
    let facing = (view.known.preferences.face_to_face && room.mine.len() == 2)
        .then(|| other(near_side(view.known, room)));
    let mut points = plain_points(board, layout, view.known.chinese());
    let mut mark = |at: u32, set: &dyn Fn(&mut PointView)| {
        if let Some(index) = layout.index(at) {
            set(&mut points[index]);
        }
    };
    if let Some(far) = facing {
        for piece in &board.pieces {
            mark(piece.at, &|point| point.turned = (far == piece.side()) != view.page.turned);
        }
    }
    for at in app.board.flash.lit(room, board) {
        mark(at, &|point| (point.marked, point.flash) = (true, true));
    }
    if let Some(from) = view.page.picked(room, board) {
        mark_picked(from, board, layout, &mut points);
    }
    let arrow = show_hint(page, view, room, board, layout, &mut points);
    let arrow = arrow.or(show_thought(view, room, board, layout, &mut points));
    show_advice(app, view, room, board, layout, &mut points);
    let drawn = app.board.moment.draw(room, &mut points, layout);
    update(&app.board.lines, &if drawn { lines(board, layout) } else { Vec::new() });
    page.set_arrow_from(arrow.map_or(-1, |(from, _)| from as i32));
    page.set_arrow_to(arrow.map_or(-1, |(_, to)| to as i32));
    app.board.fade(&mut points, &Shown::of(room, board, layout));
    // Before the rows, so that no row is drawn on another game's background.
    page.set_ground(game::ground(kind));
    update(&app.board.points, &points);
    // After the rows, so that no row is laid out with another board's columns.
    page.set_columns(layout.wide as i32);
    page.set_rows(layout.high as i32);
}

/// Marks a piece that is picked for a step, and where it can go.
pub(crate) fn mark_picked(from: u32, board: &control::Board, layout: &Layout, points: &mut [PointView]) {
    let mut mark = |at: u32, set: &dyn Fn(&mut PointView)| {
        if let Some(point) = layout.index(at).and_then(|index| points.get_mut(index)) {
            set(point);
        }
    };
    mark(from, &|point| (point.marked, point.picked) = (true, true));
    for step in board.steps.iter().filter(|step| step.from == from) {
        mark(step.to, &|point| {
            (point.marked, point.target) = (true, if point.stone == 0 { 1 } else { 2 });
        });
    }
}

/// The visible points with their pieces, and the marks given by the rules.
pub(crate) fn plain_points(board: &control::Board, layout: &Layout, chinese: bool) -> Vec<PointView> {
    let kind = board.game();
    let mut points: Vec<PointView> = (0..layout.wide * layout.high)
        .map(|index| {
            let (column, row) = layout.place(index);
            let (name, row_from_near) = layout.point_name(kind, index, chinese);
            PointView {
                name,
                row: row_from_near,
                lamp: if kind == wire::Game::LightsOut {
                    1 + i32::from(is_set(&board.lights, board, column, row))
                } else {
                    0
                },
                ..Default::default()
            }
        })
        .collect();
    let mut mark = |at: u32, set: &dyn Fn(&mut PointView)| {
        if let Some(index) = layout.index(at) {
            set(&mut points[index]);
        }
    };
    for piece in &board.pieces {
        mark(piece.at, &|point| (point.stone, point.piece) = (piece.side, piece.kind));
    }
    for one in &board.marks {
        mark(one.at, &|point| {
            point.marked = true;
            match one.kind() {
                MarkKind::MarkWinning => point.winning = true,
                MarkKind::MarkFormation => point.formation = true,
                MarkKind::MarkCaptured => point.captured = true,
                MarkKind::MarkTarget => point.target = 2,
                MarkKind::MarkTaken => point.taken = true,
                MarkKind::MarkChecker => point.checker = true,
                MarkKind::MarkHelper => point.helper = true,
                MarkKind::MarkCheck => point.check = true,
                MarkKind::MarkKo => point.ko = true,
                MarkKind::MarkDead => point.dead = true,
                MarkKind::MarkTerritory => point.territory = one.side,
                MarkKind::MarkPress => point.hint = true,
                MarkKind::MarkForbidden => point.forbidden = true,
                MarkKind::MarkRefutes => point.refutes = true,
                MarkKind::MarkNear => point.near = true,
                MarkKind::MarkFault => point.fault = true,
                MarkKind::MarkOffered => point.target = 1,
            }
        });
    }
    if let Some(last) = &board.last {
        if let Some(at) = point_of(last) {
            mark(at, &|point| (point.marked, point.last) = (true, true));
        }
        if let Some(action::Kind::Step(step)) = &last.kind {
            let from = layout.spot(step.from).zip(layout.spot(step.to));
            mark(step.from, &|point| (point.marked, point.left) = (true, true));
            mark(step.to, &|point| {
                if let Some(((from_x, from_y), (to_x, to_y))) = from {
                    point.slid = 1 + (board.ply % 2) as i32;
                    point.slide_x = from_x as i32 - to_x as i32;
                    point.slide_y = from_y as i32 - to_y as i32;
                }
            });
        }
    }
    points
}

/// Lines drawn between points.
fn lines(board: &control::Board, layout: &Layout) -> Vec<LineView> {
    // Attacks on a general, and moves that stop an attack.
    let refutes = board.marks.iter().any(|mark| mark.kind() == MarkKind::MarkRefutes);
    let grave = board.game() == wire::Game::Xiangqi || refutes;
    let ends = |line: &wire::Step| layout.index(line.from).zip(layout.index(line.to));
    let view = |(from, to): (usize, usize)| LineView {
        from: from as i32,
        to: to as i32,
        ply: board.ply as i32,
        grave,
    };
    board.lines.iter().filter_map(ends).map(view).collect()
}

/// The hint for this position, once received.
fn hint_here<'a>(view: View<'a>, room: &Room, board: &control::Board) -> Option<&'a HintState> {
    view.page.hint.as_ref().filter(|hint| match hint {
        HintState::Found { room: of, ply, revision, .. } => {
            (of, *ply, *revision) == (&room.id, board.ply, room.revision)
        }
        HintState::Asked { .. } => false,
    })
}

/// Shows the variations of a hint beside the board, and threats on the board and as text.
fn show_advice(
    app: &Controller,
    view: View<'_>,
    room: &Room,
    board: &control::Board,
    layout: &Layout,
    points: &mut [PointView],
) {
    let Some(HintState::Found { lines, threats, .. }) = hint_here(view, room, board) else {
        update(&app.board.advice, &[]);
        update(&app.board.threats, &[]);
        return;
    };
    let chinese = view.known.chinese();
    let advice: Vec<Advice> = lines
        .iter()
        .map(|line| Advice {
            line: moves(&line.line, &line.spoken, chinese).join(" ").into(),
            percent: if line.judged { (line.permille as i32 + 5) / 10 } else { -1 },
            lead_tenths: line.lead_tenths,
        })
        .collect();
    update(&app.board.advice, &advice);
    let mut said: Vec<SharedString> = Vec::new();
    for threat in threats {
        let words = new_game::said(threat.words.as_ref(), chinese);
        if said.len() < MOST_THREATS && !said.iter().any(|known| known == words) {
            said.push(words.into());
        }
        for index in threat.at.iter().filter_map(|at| layout.index(*at)) {
            (points[index].marked, points[index].threat) = (true, true);
        }
    }
    update(&app.board.threats, &said);
}

/// Maximum number of threats as text; the others are only marked on the board.
const MOST_THREATS: usize = 4;

/// Number of moves of the bot's line that are drawn: more would hide the board.
const DRAWN: usize = 5;

/// Draws the bot's principal variation, once found and while its card is open: numbered from the next move on, stones as stones, the first
/// step as an arrow between two visible points.
fn show_thought(
    view: View<'_>,
    room: &Room,
    board: &control::Board,
    layout: &Layout,
    points: &mut [PointView],
) -> Option<(usize, usize)> {
    let thinking = thinking_of(view, room, board).filter(|one| view.page.thought_open && !one.on)?;
    let played = board.ply.saturating_sub(thinking.ply) as usize;
    let mut arrow = None;
    let line = thinking.actions.iter().zip(&thinking.stones).skip(played).take(DRAWN);
    for (number, (action, &stone)) in (1..).zip(line) {
        if let (1, Some(action::Kind::Step(step))) = (number, &action.kind) {
            arrow = layout.index(step.from).zip(layout.index(step.to));
        }
        let Some(index) = point_of(action).and_then(|at| layout.index(at)) else { continue };
        let point = &mut points[index];
        // A point visited twice keeps the number of the first move.
        if point.order == 0 {
            point.marked = true;
            point.order = number;
            point.ghost = if point.stone == 0 { stone } else { 0 };
        }
    }
    arrow
}

/// Marks the hint's move; a step is an arrow between two visible points.
fn show_hint(
    page: &BoardAdapter<'_>,
    view: View<'_>,
    room: &Room,
    board: &control::Board,
    layout: &Layout,
    points: &mut [PointView],
) -> Option<(usize, usize)> {
    let solving = view.page.solving.as_ref().filter(|solving| solving.is_of(room));
    if let Some(solving) = solving {
        let (left, fewest) = solving.left();
        page.set_solution(left as i32);
        page.set_solution_fewest(fewest);
        if let Some(index) = solving.next().and_then(|at| layout.index(at)) {
            points[index].hint = true;
        }
        return None;
    }
    let (advised, presses, fewest) = match &view.page.hint {
        Some(HintState::Found { room: of, ply, revision, action, presses, fewest, .. })
            if (of, *ply, *revision) == (&room.id, board.ply, room.revision) =>
        {
            (Some(action), *presses, *fewest)
        }
        _ => (None, 0, false),
    };
    page.set_solution(if presses == 0 { -1 } else { presses as i32 });
    page.set_solution_fewest(fewest);
    let advised = advised?;
    if let Some(action::Kind::Step(step)) = &advised.kind {
        return layout.index(step.from).zip(layout.index(step.to));
    }
    if let Some(index) = point_of(advised).and_then(|at| layout.index(at)) {
        (points[index].marked, points[index].hint) = (true, true);
    }
    None
}

/// Whether the bit of this cell is set in lights packed as `Board.lights`.
fn is_set(lights: &[u8], board: &control::Board, column: usize, row: usize) -> bool {
    let line = (board.columns as usize).div_ceil(8);
    lights.get(row * line + column / 8).is_some_and(|byte| byte >> (column % 8) & 1 == 1)
}
