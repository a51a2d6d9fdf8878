//! The match on the board page.
//!
//! A touch on a point becomes an action by what the host has said of the position: where there are steps it picks a piece and
//! then a target, where captures are due it captures, and so on. Whether the action is legal the host says.

use std::cell::RefCell;
use std::rc::Rc;

use proto::board::{self as wire, Action, action};
use proto::control::{
    self, FactKind, MarkKind, OfferKind as WireOffer, PeerLink, Room, Seat as WireSeat, Thinking, request,
    score, seat,
};
use slint::{ComponentHandle, Model, ModelRc, SharedString, VecModel};

use super::{carrier, editor, game, new_game, side, update, when};
use crate::app::{Desk, HintState, Inner, Losing, Picked, Purpose};
use crate::preferences::Confirm;
use crate::screens::{
    BoardAdapter, ChoiceKind, Dialog, Ending, Link, MainWindow, OfferKind, Opponent, PointView, Remark, Run,
    Seat, Side, Task, Thought,
};

/// A point on the wire is `row * 1024 + column`, the row from the bottom.
const ROW_STEP: u32 = 1_024;

/// Rows of the models that the page draws from. They live as long as the app: only what differs is changed.
#[derive(Default)]
pub(crate) struct Rows {
    points: Rc<VecModel<PointView>>,
    columns: Rc<VecModel<SharedString>>,
    upper: Rc<VecModel<SharedString>>,
    numbers: Rc<VecModel<SharedString>>,
    choices: Rc<VecModel<ChoiceKind>>,
    their_taken: Rc<VecModel<i32>>,
    my_taken: Rc<VecModel<i32>>,
    record: Rc<VecModel<SharedString>>,
    faded: RefCell<Faded>,
}

/// Which position is shown, and how: while it stays the same, so does what has just left the board.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Shown {
    room: String,
    ply: u32,
    revision: u32,
    /// Turned, left, top, wide, high.
    part: (bool, usize, usize, usize, usize),
}

impl Shown {
    fn of(room: &Room, board: &control::Board, layout: &Layout) -> Self {
        let Layout { turned, left, top, wide, high, .. } = *layout;
        let part = (turned, left, top, wide, high);
        Self { room: room.id.clone(), ply: board.ply, revision: room.revision, part }
    }
}

/// Pieces that the last change took off the board, by their points: they leave visibly.
#[derive(Default)]
struct Faded {
    shown: Shown,
    pieces: Vec<(usize, i32, i32)>,
}

impl Rows {
    /// Marks what has left since the position before, which the rows still show. A piece that stepped away has not left.
    fn fade(&self, points: &mut [PointView], shown: &Shown) {
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

/// Which part of a board of lamps is seen: its left and top in lamps from the board's, and how many across at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    left: usize,
    top: usize,
    zoom: usize,
}

/// Lamps across that may be chosen. Twenty are still touched by sliding on the narrowest phone (16 logical px each); with
/// forty a board of a thousand is looked over, not played.
const ZOOMS: [usize; 5] = [8, 12, 20, 28, 40];
const FIRST_ZOOM: usize = 2;

impl Default for Look {
    fn default() -> Self {
        Self { left: 0, top: 0, zoom: FIRST_ZOOM }
    }
}

/// Where the points of a board stand on the screen: index 0 is at the top left.
pub(super) struct Layout {
    /// Of the whole board.
    columns: usize,
    rows: usize,
    /// Seen from the second side.
    turned: bool,
    /// The part that is seen.
    left: usize,
    top: usize,
    wide: usize,
    high: usize,
}

impl Layout {
    /// A board to be looked at: as much of it as is ever shown at once, from the first side.
    pub(super) fn still(board: &control::Board) -> Self {
        let most = *ZOOMS.last().expect("there are some");
        let (columns, rows) = (board.columns.max(1) as usize, board.rows.max(1) as usize);
        Self { columns, rows, turned: false, left: 0, top: 0, wide: columns.min(most), high: rows.min(most) }
    }

    /// Columns and rows that are seen.
    pub(super) fn seen(&self) -> (i32, i32) {
        (self.wide as i32, self.high as i32)
    }

    fn of(inner: &Inner, room: &Room, board: &control::Board) -> Self {
        let (columns, rows) = (board.columns.max(1) as usize, board.rows.max(1) as usize);
        // Each side of a xiangqi board belongs to a player; other boards look the same from everywhere.
        let across = board.game() == wire::Game::Xiangqi && near_side(room) == wire::Side::Second;
        let turned = across != inner.turned;
        let most = if board.game() == wire::Game::LightsOut { ZOOMS[inner.look.zoom] } else { usize::MAX };
        let (wide, high) = (columns.min(most), rows.min(most));
        let (left, top) = (inner.look.left.min(columns - wide), inner.look.top.min(rows - high));
        Self { columns, rows, turned, left, top, wide, high }
    }

    fn is_part(&self) -> bool {
        (self.wide, self.high) != (self.columns, self.rows)
    }

    /// Column and row from the bottom left, of an index that is seen.
    fn place(&self, index: usize) -> (usize, usize) {
        let (x, y) = (self.left + index % self.wide, self.top + index / self.wide);
        if self.turned { (self.columns - 1 - x, y) } else { (x, self.rows - 1 - y) }
    }

    /// The point on the wire of an index that is seen.
    pub(super) fn point(&self, index: i32) -> Option<u32> {
        let index = usize::try_from(index).ok().filter(|index| *index < self.wide * self.high)?;
        let (column, row) = self.place(index);
        Some(row as u32 * ROW_STEP + column as u32)
    }

    /// Across and down from the top left of the whole board.
    fn spot(&self, at: u32) -> Option<(usize, usize)> {
        let (row, column) = ((at / ROW_STEP) as usize, (at % ROW_STEP) as usize);
        if row >= self.rows || column >= self.columns {
            return None;
        }
        Some(if self.turned { (self.columns - 1 - column, row) } else { (column, self.rows - 1 - row) })
    }

    /// The index of a point, if it is seen.
    pub(super) fn index(&self, at: u32) -> Option<usize> {
        let (x, y) = self.spot(at)?;
        let (x, y) = (x.checked_sub(self.left)?, y.checked_sub(self.top)?);
        (x < self.wide && y < self.high).then_some(y * self.wide + x)
    }
}

pub(super) fn attach(window: &MainWindow, desk: &Rc<Desk>) {
    let page = window.global::<BoardAdapter>();
    page.set_points(ModelRc::from(desk.board.points.clone()));
    page.set_column_names(ModelRc::from(desk.board.columns.clone()));
    page.set_upper_names(ModelRc::from(desk.board.upper.clone()));
    page.set_row_names(ModelRc::from(desk.board.numbers.clone()));
    page.set_choices(ModelRc::from(desk.board.choices.clone()));
    page.set_record(ModelRc::from(desk.board.record.clone()));
    page.set_their_taken(ModelRc::from(desk.board.their_taken.clone()));
    page.set_my_taken(ModelRc::from(desk.board.my_taken.clone()));
    page.on_touch(when!(desk, |desk, index| touch(&desk, index)));
    page.on_aim(when!(desk, |desk, index, small| aim(&desk, index, small)));
    page.on_confirm_move(when!(desk, |desk, yes| {
        let mut meant = None;
        desk.change(|inner| meant = inner.waiting.take());
        if let Some(waiting) = meant.filter(|_| yes) {
            act_or_warn(&desk, waiting.at);
        }
    }));
    page.on_turn(when!(desk, |desk| desk.change(|inner| inner.turned = !inner.turned)));
    page.on_toggle_facing(when!(desk, |desk| {
        desk.prefer(|known| known.face_to_face = !known.face_to_face);
    }));
    page.on_say(when!(desk, |desk, phrase, text| say(&desk, phrase, text.trim())));
    page.on_toggle_muted(when!(desk, |desk| {
        let muted = desk.see().friend_at_board().map(|friend| (friend.id.clone(), !friend.muted));
        if let Some((peer, muted)) = muted {
            let set = control::SetMuted { peer, muted };
            desk.ask(request::Body::SetMuted(set), Purpose::Nothing);
        }
    }));
    page.on_take_theirs(when!(desk, |desk| {
        if let Some(room_id) = room_id(&desk) {
            let take = control::TakeTheirs { room_id };
            desk.ask(request::Body::TakeTheirs(take), Purpose::Nothing);
        }
    }));
    page.on_pause(when!(desk, |desk| {
        let paused = desk.see().room.as_ref().is_some_and(|room| room.paused);
        offer(&desk, if paused { WireOffer::OfferContinue } else { WireOffer::OfferPause });
    }));
    page.on_change_board(when!(desk, |desk| editor::change(&desk)));
    page.on_adjourn(when!(desk, |desk| offer(&desk, WireOffer::OfferAdjourn)));
    page.on_choose(when!(desk, |desk, index| {
        let chosen = {
            let inner = desk.see();
            let board = inner.room.as_ref().and_then(|room| room.board.as_ref());
            usize::try_from(index).ok().and_then(|index| board?.choices.get(index).copied())
        };
        if let Some(action) = chosen {
            act(&desk, action);
        }
    }));
    page.on_step_anyway(when!(desk, |desk| {
        let mut meant = None;
        desk.change(|inner| meant = inner.losing.take());
        if let Some(losing) = meant {
            act(&desk, Action { kind: Some(losing.kind) });
        }
    }));
    page.on_look(when!(desk, |desk, columns, rows| look(&desk, columns, rows)));
    page.on_zoom(when!(desk, |desk, step| {
        desk.change(|inner| {
            inner.look.zoom = inner.look.zoom.saturating_add_signed(step as isize).min(ZOOMS.len() - 1);
        });
    }));
    page.on_take_back(when!(desk, |desk| offer(&desk, WireOffer::OfferTakeBack)));
    page.on_analyse(when!(desk, |desk, step| analyse(&desk, step)));
    page.on_new_game_same(when!(desk, |desk| offer(&desk, WireOffer::OfferNewGameSame)));
    page.on_offer_draw(when!(desk, |desk| offer(&desk, WireOffer::OfferDraw)));
    page.on_new_game(when!(desk, |desk| begin_again(&desk)));
    page.on_new_game_confirmed(when!(desk, |desk| offer(&desk, WireOffer::OfferNewGame)));
    page.on_hint(when!(desk, |desk| hint(&desk)));
    page.on_resign(when!(desk, |desk| resign(&desk)));
    page.on_answer_offer(when!(desk, |desk, accept| {
        if let Some(room_id) = room_id(&desk) {
            let answer = control::AnswerOffer { room_id, accept };
            desk.ask(request::Body::AnswerOffer(answer), Purpose::Nothing);
        }
    }));
    page.on_leave(when!(desk, |desk| desk.leave_room()));
    page.on_toggle_thought(when!(desk, |desk| desk.change(|inner| inner.thought_open = !inner.thought_open)));
    page.on_toggle_coordinates(when!(desk, |desk| {
        desk.prefer(|known| known.coordinates = !known.coordinates);
    }));
}

fn room_id(desk: &Desk) -> Option<String> {
    desk.see().room.as_ref().map(|room| room.id.clone())
}

/// What a touch comes to.
pub(super) enum Touch {
    Act(action::Kind),
    Pick(u32),
    PutDown,
    /// There are steps to choose from, but no piece was picked to make one with.
    PickFirst,
    /// An action that would lose at once, and why where that is not the repetition of a position.
    Warn(action::Kind, Option<control::Words>),
}

/// A finger on points that may be smaller than it: a stone there may have to be confirmed first.
fn aim(desk: &Desk, index: i32, small: bool) {
    let asks = match desk.see().preferences.confirm_moves {
        Confirm::Small => small,
        Confirm::Always => true,
        Confirm::Never => false,
    };
    let waiting = {
        let inner = desk.see();
        let Some(room) = &inner.room else { return };
        let Some(board) = &room.board else { return };
        let Some(at) = Layout::of(&inner, room, board).point(index) else { return };
        let stone =
            matches!(meaning(board, picked(&inner, room, board), at), Touch::Act(action::Kind::Place(_)));
        let empty = board.pieces.iter().all(|piece| piece.at != at);
        let again = waiting(&inner, room, board) == Some(at);
        (asks && room.can_act && stone && empty && !again).then(|| Picked {
            room: room.id.clone(),
            ply: board.ply,
            revision: room.revision,
            at,
        })
    };
    let touched = waiting.is_none();
    desk.change(|inner| inner.waiting = waiting);
    if touched {
        touch(desk, index);
    }
}

/// The stone that waits to be meant, as long as the position is the one in which it was aimed.
fn waiting(inner: &Inner, room: &Room, board: &control::Board) -> Option<u32> {
    let waiting = inner.waiting.as_ref()?;
    let same = (&waiting.room, waiting.ply, waiting.revision) == (&room.id, board.ply, room.revision);
    (same && room.can_act).then_some(waiting.at)
}

/// A stone on this point, unless it loses at once: then it is asked first.
fn act_or_warn(desk: &Desk, at: u32) {
    let index = {
        let inner = desk.see();
        let Some(room) = &inner.room else { return };
        let Some(board) = &room.board else { return };
        Layout::of(&inner, room, board).index(at)
    };
    if let Some(index) = index {
        touch(desk, index as i32);
    }
}

fn say(desk: &Desk, phrase: i32, text: &str) {
    if let Some(room_id) = room_id(desk) {
        let say = control::Say { room_id, phrase, text: text.into() };
        desk.ask(request::Body::Say(say), Purpose::Nothing);
    }
}

fn touch(desk: &Desk, index: i32) {
    let meant = {
        let inner = desk.see();
        let Some(room) = &inner.room else { return };
        let Some(board) = &room.board else { return };
        let Some(at) = Layout::of(&inner, room, board).point(index) else { return };
        meaning(board, picked(&inner, room, board), at)
    };
    match meant {
        Touch::Act(kind) => act(desk, Action { kind: Some(kind) }),
        Touch::Pick(at) => desk.change(|inner| {
            let Some(room) = &inner.room else { return };
            let ply = room.board.as_ref().map_or(0, |board| board.ply);
            inner.picked = Some(Picked { room: room.id.clone(), ply, revision: room.revision, at });
        }),
        Touch::PutDown => desk.change(|inner| inner.picked = None),
        Touch::PickFirst => desk.remark(Remark::PickFirst, ""),
        Touch::Warn(kind, words) => {
            desk.change(|inner| inner.losing = Some(Losing { kind, words }));
            desk.open(Dialog::Losing);
        }
    }
}

/// What a touch at this point means in the position as the host has told it. Whether it is legal the host says.
pub(super) fn meaning(board: &control::Board, picked: Option<u32>, at: u32) -> Touch {
    if board.game() == wire::Game::LightsOut {
        return Touch::Act(action::Kind::Press(at));
    }
    if board.marks.iter().any(|mark| mark.kind() == MarkKind::MarkTarget) {
        return Touch::Act(action::Kind::Capture(at));
    }
    if !board.steps.is_empty() {
        let own = board.pieces.iter().any(|piece| piece.at == at && piece.side == board.turn);
        return match picked {
            Some(from) if from == at => Touch::PutDown,
            _ if own => Touch::Pick(at),
            Some(from) => {
                let step = wire::Step { from, to: at };
                if board.losing_steps.contains(&step) {
                    Touch::Warn(action::Kind::Step(step), None)
                } else {
                    Touch::Act(action::Kind::Step(step))
                }
            }
            None => Touch::PickFirst,
        };
    }
    if is_agreeing(board) {
        return Touch::Act(action::Kind::Toggle(at));
    }
    let forbidden = |mark: &&control::Mark| mark.at == at && mark.kind() == MarkKind::MarkForbidden;
    match board.marks.iter().find(forbidden) {
        Some(mark) => Touch::Warn(action::Kind::Place(at), mark.words.clone()),
        None => Touch::Act(action::Kind::Place(at)),
    }
}

/// Gomoku: the players have exchanged colours, so that the second has the black stones.
fn is_swapped(board: &control::Board) -> bool {
    board.facts.iter().any(|fact| fact.kind() == FactKind::FactSwapped)
}

fn other(side: wire::Side) -> wire::Side {
    match side {
        wire::Side::First => wire::Side::Second,
        wire::Side::Second => wire::Side::First,
        wire::Side::Unspecified => wire::Side::Unspecified,
    }
}

/// Go: both have passed, and the dead stones are to be agreed upon.
fn is_agreeing(board: &control::Board) -> bool {
    board.choices.iter().any(|choice| matches!(choice.kind, Some(action::Kind::Agree(_))))
}

/// The picked piece, as long as the position is the one in which it was picked.
fn picked(inner: &Inner, room: &Room, board: &control::Board) -> Option<u32> {
    let picked = inner.picked.as_ref()?;
    let same = (&picked.room, picked.ply, picked.revision) == (&room.id, board.ply, room.revision);
    (same && room.can_act).then_some(picked.at)
}

/// Puts a picked piece down again. False when none was picked.
pub(crate) fn put_down(desk: &Desk) -> bool {
    let held = {
        let inner = desk.see();
        let room = inner.room.as_ref();
        room.and_then(|room| picked(&inner, room, room.board.as_ref()?)).is_some()
    };
    if held {
        desk.change(|inner| inner.picked = None);
    }
    held
}

/// A match as its page shows it: what is looked at after the end takes the place of the end.
pub(crate) fn seen(room: &Room) -> Room {
    let mut seen = room.clone();
    if let Some(analysis) = &room.analysis {
        seen.can_act = analysis.can_act;
        if analysis.board.is_some() {
            seen.board.clone_from(&analysis.board);
        }
    }
    seen
}

/// Looks at another position after the end: 0 the last one, -1 and 1 a move back and on, -2 the first, 2 the last, 3 no more.
fn analyse(desk: &Desk, step: i32) {
    use control::analyse::Step;
    let asked = {
        let inner = desk.see();
        let Some(room) = &inner.room else { return };
        let total = room.record.len() as u32;
        let at = room.analysis.as_ref().map_or(total, |analysis| analysis.ply);
        let step = match step {
            -2 => Step::ToPly(0),
            -1 => Step::Back(true),
            1 => Step::ToPly((at + 1).min(total)),
            3 => Step::Close(true),
            _ => Step::ToPly(total),
        };
        control::Analyse { room_id: room.id.clone(), step: Some(step) }
    };
    desk.ask(request::Body::Analyse(asked), Purpose::Nothing);
}

fn act(desk: &Desk, action: Action) {
    let analysing = desk.see().room.as_ref().is_some_and(|room| room.analysis.is_some());
    if let (true, Some(room_id)) = (analysing, room_id(desk)) {
        let step = Some(control::analyse::Step::TryAction(action));
        desk.ask(request::Body::Analyse(control::Analyse { room_id, step }), Purpose::Nothing);
    } else if let Some(room_id) = room_id(desk) {
        let act = control::Act { room_id, action: Some(action), notation: String::new() };
        desk.ask(request::Body::Act(act), Purpose::Nothing);
    }
}

/// Moves the part of the board that is seen: by half of it, so that what was at the edge stays in sight.
fn look(desk: &Desk, columns: i32, rows: i32) {
    desk.change(|inner| {
        let Some(room) = &inner.room else { return };
        let Some(board) = &room.board else { return };
        let layout = Layout::of(inner, room, board);
        let by = |from: usize, step: i32, seen: usize, whole: usize| {
            from.saturating_add_signed(step as isize * seen.div_ceil(2) as isize).min(whole - seen)
        };
        inner.look.left = by(layout.left, columns, layout.wide, layout.columns);
        inner.look.top = by(layout.top, rows, layout.high, layout.rows);
    });
}

fn offer(desk: &Desk, kind: WireOffer) {
    if let Some(room_id) = room_id(desk) {
        desk.ask(request::Body::Offer(control::Offer { room_id, kind: kind.into() }), Purpose::Nothing);
    }
}

/// An unfinished game is only left for a new one after a question.
fn begin_again(desk: &Desk) {
    let begun = desk.see().room.as_ref().is_some_and(|room| {
        // Between two devices the other person is asked, which is question enough.
        room.puzzle.is_none()
            && room.result.is_none()
            && room.link.is_none()
            && room.board.as_ref().is_some_and(|board| board.ply > 0)
    });
    if begun {
        desk.open(Dialog::ConfirmNewGame);
    } else {
        desk.open(Dialog::None);
        offer(desk, WireOffer::OfferNewGame);
    }
}

pub(crate) fn hint(desk: &Desk) {
    ask_hint(desk, Vec::new());
}

fn ask_hint(desk: &Desk, presses: Vec<u8>) {
    let asked = {
        let inner = desk.see();
        let Some(room) = &inner.room else { return };
        let ply = room.board.as_ref().map_or(0, |board| board.ply);
        (room.id.clone(), ply, room.revision)
    };
    let (room, ply, revision) = asked;
    desk.ask(
        request::Body::Hint(control::Hint { room_id: room.clone(), lines: 0 }),
        Purpose::Hint { room: room.clone(), ply, revision },
    );
    desk.change(|inner| inner.hint = Some(HintState::Asked { room, ply, presses }));
}

/// The host's advice about this match at this ply and revision.
pub(crate) fn advised(desk: &Desk, about: (String, u32, u32), found: control::HintFound) {
    let (room, ply, revision) = about;
    match found.action.as_ref().and_then(|action| action.kind.as_ref()) {
        Some(action::Kind::Pass(_)) => desk.remark(Remark::HintPass, ""),
        Some(action::Kind::Agree(_)) => desk.remark(Remark::HintAgree, ""),
        _ => {}
    }
    desk.change(|inner| {
        inner.hint = found.action.map(|action| HintState::Found {
            room,
            ply,
            revision,
            action,
            presses: found.presses.to_vec(),
            fewest: found.fewest,
        });
    });
}

/// Once a board of lamps is being solved, each press asks how it goes on from there.
pub(crate) fn solve_on(desk: &Desk) {
    let following = {
        let inner = desk.see();
        let Some(room) = &inner.room else { return };
        let ply = room.board.as_ref().map_or(0, |board| board.ply);
        match &inner.hint {
            Some(HintState::Found { room: of, ply: at, revision, presses, .. })
                if *of == room.id && !presses.is_empty() && (*at, *revision) != (ply, room.revision) =>
            {
                room.result.is_none().then(|| presses.clone())
            }
            _ => None,
        }
    };
    if let Some(presses) = following {
        ask_hint(desk, presses);
    }
}

fn resign(desk: &Desk) {
    let resign = {
        let inner = desk.see();
        let Some(room) = &inner.room else { return };
        // Where both seats are here, the one to move resigns.
        let side = match room.mine[..] {
            [only] => only,
            _ => room.board.as_ref().map_or(0, |board| board.turn),
        };
        control::Resign { room_id: room.id.clone(), side }
    };
    desk.ask(request::Body::Resign(resign), Purpose::Nothing);
}

/// The way back from a board: with somebody at the other side of it, a question first.
pub(crate) fn ask_to_leave(desk: &Desk) {
    let with_someone = desk.see().room.as_ref().is_some_and(|room| {
        room.result.is_none() && room.link.as_ref().is_some_and(|link| link.state() != PeerLink::Left)
    });
    if with_someone {
        desk.open(Dialog::ConfirmLeave);
    } else {
        desk.leave_room();
    }
}

/// The point that an action shows at, if it has one.
pub(super) fn point_of(action: &Action) -> Option<u32> {
    match action.kind.as_ref()? {
        action::Kind::Place(at)
        | action::Kind::Capture(at)
        | action::Kind::Press(at)
        | action::Kind::Toggle(at) => Some(*at),
        action::Kind::Step(step) => Some(step.to),
        _ => None,
    }
}

/// The side that sits at this device's side of the board; the first where both do.
fn near_side(room: &Room) -> wire::Side {
    match room.mine[..] {
        [only] if only == i32::from(wire::Side::Second) => wire::Side::Second,
        _ => wire::Side::First,
    }
}

pub(super) fn show(window: &MainWindow, desk: &Desk) {
    let inner = desk.see();
    let Some(room) = &inner.room else { return };
    let page = window.global::<BoardAdapter>();
    let board = room.board.clone().unwrap_or_default();
    let playing = super::wire_game(room.setup.as_ref());
    page.set_game(game::shown(playing));
    page.set_solo(game::is_solo(playing) && room.race.is_none());
    show_analysis(&page, room);
    show_race(&page, room);
    page.set_rule_name(new_game::rule_name(inner.room_sheet(), inner.chinese()).into());
    page.set_coordinates(inner.preferences.coordinates);
    page.set_ply(board.ply as i32);

    let me = match room.mine[..] {
        [only] => wire::Side::try_from(only).unwrap_or_default(),
        _ => wire::Side::Unspecified,
    };
    let near = near_side(room);
    let far = other(near);
    page.set_swapped(is_swapped(&board));
    show_facts(&page, desk, &inner, room, &board, near);
    page.set_mine(seat_of(&inner, room, &board, near));
    page.set_theirs(seat_of(&inner, room, &board, far));
    page.set_me(side(me));
    let layout = Layout::of(&inner, room, &board);
    show_points(&page, desk, &inner, room, &board, &layout);
    show_part(&page, &inner, &layout);
    show_choices(&page, desk, &inner, room, &board);
    let thinking = inner.state.thinking.get(&room.id);
    page.set_thought(thinking.map(|one| thought(one, inner.chinese())).unwrap_or_default());
    page.set_thought_open(inner.thought_open);

    let result = room.result.as_ref();
    page.set_over(result.is_some());
    page.set_winner(result.map_or(Side::None, |result| side(result.winner())));
    page.set_ending(result.map_or(Ending::None, |result| ending(result.ending())));
    let points = |of| fact(&board, FactKind::FactHalfPoints, of).unwrap_or(0);
    page.set_lead(points(wire::Side::First).abs_diff(points(wire::Side::Second)) as i32);

    show_link(&page, room);
    let offer = room.offer.as_ref();
    page.set_offer(match offer.map(control::PendingOffer::kind) {
        Some(WireOffer::OfferTakeBack) => OfferKind::TakeBack,
        Some(WireOffer::OfferDraw) => OfferKind::Draw,
        Some(WireOffer::OfferNewGame) => OfferKind::NewGame,
        Some(WireOffer::OfferNewGameSame) => OfferKind::NewGameSame,
        Some(WireOffer::OfferPause) => OfferKind::Pause,
        Some(WireOffer::OfferContinue) => OfferKind::Continue,
        Some(WireOffer::OfferAdjourn) => OfferKind::Adjourn,
        Some(WireOffer::OfferUnspecified) | None => OfferKind::None,
    });
    page.set_offer_mine(offer.is_some_and(|offer| offer.mine));
    page.set_can_take_back(room.can_take_back);
    page.set_can_draw(room.can_offer_draw);
    page.set_can_resign(room.can_resign);
    page.set_can_new_game(room.can_new_game);
    page.set_can_hint(room.can_act && room.analysis.is_none() && room.race.is_none());
    page.set_hint_pending(matches!(&inner.hint, Some(HintState::Asked { room: of, ply, .. }) if *of == room.id && *ply == board.ply));

    update(&desk.board.record, &pairs(&room.record, &room.spoken, inner.chinese()));
}

/// What is looked at after the end, and how far.
fn show_analysis(page: &BoardAdapter<'_>, room: &Room) {
    let analysis = room.analysis.as_ref();
    page.set_can_analyse(room.can_analyse);
    page.set_analysing(analysis.is_some());
    page.set_analysis_shared(analysis.is_some_and(|analysis| analysis.shared));
    page.set_analysis_ply(analysis.map_or(0, |analysis| analysis.ply as i32));
    page.set_analysis_tried(analysis.map_or(0, |analysis| analysis.tried.len() as i32));
    page.set_total(room.record.len() as i32);
}

/// How the race stands.
fn show_race(page: &BoardAdapter<'_>, room: &Room) {
    page.set_race(room.race.is_some());
    let Some(race) = &room.race else { return };
    page.set_my_run(Run {
        presses: race.my_presses as i32,
        seconds: (race.my_elapsed_ms / 1_000) as i32,
        runs: race.my_clock_runs,
        done: race.i_finished,
        lit: 0,
    });
    page.set_their_run(Run {
        presses: race.their_presses as i32,
        seconds: (race.their_elapsed_ms / 1_000) as i32,
        runs: false,
        done: race.they_finished,
        lit: race.their_lit as i32,
    });
}

/// Numbered pairs of moves, as players write them where that is known.
pub(super) fn pairs(record: &[String], spoken: &[control::Words], chinese: bool) -> Vec<SharedString> {
    let said: Vec<&str> = if spoken.len() == record.len() {
        spoken.iter().map(|words| new_game::said(Some(words), chinese)).collect()
    } else {
        record.iter().map(String::as_str).collect()
    };
    let numbered = |(index, pair): (usize, &[&str])| format!("{}. {}", index + 1, pair.join(" ")).into();
    said.chunks(2).enumerate().map(numbered).collect()
}

/// What is said of the position beside its points.
fn show_facts(
    page: &BoardAdapter<'_>,
    desk: &Desk,
    inner: &Inner,
    room: &Room,
    board: &control::Board,
    near: wire::Side,
) {
    let chinese = inner.chinese();
    let said = |kind: FactKind| {
        let fact = board.facts.iter().find(|fact| fact.kind() == kind);
        new_game::said(fact.and_then(|fact| fact.words.as_ref()), chinese)
    };
    page.set_formed(said(FactKind::FactFormed).into());
    let opening = said(FactKind::FactOpening);
    page.set_fact(if opening.is_empty() { said(FactKind::FactPhase) } else { opening }.into());
    // What a side has taken is what the other has lost.
    let taken = |by: wire::Side| -> Vec<i32> {
        board.taken.iter().filter(|piece| piece.side() == other(by)).map(|piece| piece.kind).collect()
    };
    update(&desk.board.their_taken, &taken(other(near)));
    update(&desk.board.my_taken, &taken(near));
    page.set_turned(inner.turned);
    let both_here = room.mine.len() == 2;
    page.set_can_face(both_here && board.game() == wire::Game::Xiangqi);
    page.set_face_to_face(inner.preferences.face_to_face);
    page.set_can_say(room.link.as_ref().is_some_and(|link| link.state() == PeerLink::Up));
    page.set_muted(inner.friend_at_board().is_some_and(|friend| friend.muted));
    page.set_differs(room.differs);
    page.set_can_change(editor::can_change(inner));
    page.set_unsolvable(inner.unsolvable.as_ref() == Some(&room.id));
    page.set_paused(room.paused);
    page.set_can_pause(room.can_pause);
    page.set_can_continue(room.can_continue);
    page.set_can_adjourn(room.can_adjourn);
    let losing = inner.losing.as_ref().and_then(|losing| losing.words.as_ref());
    page.set_losing_words(new_game::said(losing, chinese).into());
    let point = waiting(inner, room, board).and_then(|at| Layout::of(inner, room, board).index(at));
    page.set_waiting_point(point.map_or(-1, |index| index as i32));
}

/// What is to be done now, and what can be done beside the points.
fn show_choices(page: &BoardAdapter<'_>, desk: &Desk, inner: &Inner, room: &Room, board: &control::Board) {
    let task = if !room.can_act {
        Task::None
    } else if board.game() == wire::Game::LightsOut {
        Task::Press
    } else if board.marks.iter().any(|mark| mark.kind() == MarkKind::MarkTarget) {
        Task::Capture
    } else if !board.steps.is_empty() {
        if picked(inner, room, board).is_some() { Task::Aim } else { Task::Pick }
    } else if is_agreeing(board) {
        Task::MarkDead
    } else {
        Task::Place
    };
    page.set_task(task);
    page.set_live(room.can_act);
    page.set_next_stone(match (task, board.game()) {
        // Stones of both colours come by turns, whoever places them: in swap2 one player does.
        (Task::Place, wire::Game::Gomoku) => 1 + (board.pieces.len() % 2) as i32,
        (Task::Place, _) => board.turn,
        _ => 0,
    });
    page.set_captures_due(
        fact(board, FactKind::FactCapturesDue, wire::Side::Unspecified).unwrap_or(0) as i32
    );
    page.set_presses(fact(board, FactKind::FactPresses, wire::Side::Unspecified).unwrap_or(0) as i32);
    let fewest = fact(board, FactKind::FactFewest, wire::Side::Unspecified);
    page.set_fewest(fewest.map_or(-1, |count| count as i32));
    let choices: Vec<ChoiceKind> = board
        .choices
        .iter()
        .map(|choice| match choice.kind {
            Some(action::Kind::Pass(_)) => ChoiceKind::Pass,
            Some(action::Kind::Agree(_)) => ChoiceKind::Agree,
            Some(action::Kind::Resume(_)) => ChoiceKind::Resume,
            Some(action::Kind::Choose(which)) => match wire::Choice::try_from(which) {
                Ok(wire::Choice::Black) => ChoiceKind::Black,
                Ok(wire::Choice::White) => ChoiceKind::White,
                Ok(wire::Choice::TwoMore) => ChoiceKind::TwoMore,
                _ => ChoiceKind::Other,
            },
            _ => ChoiceKind::Other,
        })
        .collect();
    update(&desk.board.choices, &choices);
}

/// The number that a fact of this kind tells of a side, if it is told.
fn fact(board: &control::Board, kind: FactKind, of: wire::Side) -> Option<u32> {
    let mut facts = board.facts.iter();
    facts.find(|fact| fact.kind() == kind && fact.side() == of).map(|fact| fact.number)
}

/// For boards of which only a part is seen: which.
fn show_part(page: &BoardAdapter<'_>, inner: &Inner, layout: &Layout) {
    let zoom = inner.look.zoom;
    let larger = layout.columns.max(layout.rows) > ZOOMS[FIRST_ZOOM];
    page.set_larger(larger);
    page.set_can_see_more(layout.is_part() && zoom + 1 < ZOOMS.len());
    page.set_can_see_less(larger && zoom > 0);
    let Layout { left, top, wide, high, columns, rows, .. } = layout;
    page.set_seen_part(
        format!("{}–{} / {columns} × {}–{} / {rows}", left + 1, left + wide, top + 1, top + high).into(),
    );
}

fn show_points(
    page: &BoardAdapter<'_>,
    desk: &Desk,
    inner: &Inner,
    room: &Room,
    board: &control::Board,
    layout: &Layout,
) {
    let kind = board.game();
    let Names { below, above, left } = names(kind, layout);
    update(&desk.board.columns, &below);
    update(&desk.board.upper, &above);
    update(&desk.board.numbers, &left);
    let facing = (inner.preferences.face_to_face && room.mine.len() == 2).then(|| other(near_side(room)));
    let mut points = plain_points(board, layout);
    let mut mark = |at: u32, set: &dyn Fn(&mut PointView)| {
        if let Some(index) = layout.index(at) {
            set(&mut points[index]);
        }
    };
    if let Some(far) = facing {
        for piece in &board.pieces {
            mark(piece.at, &|point| point.turned = (far == piece.side()) != inner.turned);
        }
    }
    if let Some(from) = picked(inner, room, board) {
        mark(from, &|point| (point.marked, point.picked) = (true, true));
        for step in board.steps.iter().filter(|step| step.from == from) {
            mark(step.to, &|point| {
                point.marked = true;
                point.target = if point.stone == 0 { 1 } else { 2 };
            });
        }
    }
    let arrow = show_hint(page, inner, room, board, layout, &mut points);
    page.set_arrow_from(arrow.map_or(-1, |(from, _)| from as i32));
    page.set_arrow_to(arrow.map_or(-1, |(_, to)| to as i32));
    desk.board.fade(&mut points, &Shown::of(room, board, layout));
    // Before the rows, so that nothing is drawn as what another ground has.
    page.set_ground(game::ground(kind));
    update(&desk.board.points, &points);
    // After the rows, so that no point is laid out by another board's columns.
    page.set_columns(layout.wide as i32);
    page.set_rows(layout.high as i32);
}

/// The points that are seen, with what stands there and what is marked by the rules alone.
pub(super) fn plain_points(board: &control::Board, layout: &Layout) -> Vec<PointView> {
    let kind = board.game();
    let mut points: Vec<PointView> = (0..layout.wide * layout.high)
        .map(|index| {
            let (column, row) = layout.place(index);
            PointView {
                name: format!("{}{}", game::column_name(kind, column), game::row_name(kind, row)).into(),
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
                MarkKind::MarkCheck => point.check = true,
                MarkKind::MarkKo => point.ko = true,
                MarkKind::MarkDead => point.dead = true,
                MarkKind::MarkTerritory => point.territory = one.side,
                MarkKind::MarkPress => point.hint = true,
                MarkKind::MarkForbidden => point.forbidden = true,
                MarkKind::MarkFault => point.fault = true,
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

/// Marks what is advised; a step is an arrow between two of the points that are seen.
fn show_hint(
    page: &BoardAdapter<'_>,
    inner: &Inner,
    room: &Room,
    board: &control::Board,
    layout: &Layout,
    points: &mut [PointView],
) -> Option<(usize, usize)> {
    let (advised, presses, fewest) = match &inner.hint {
        Some(HintState::Found { room: of, ply, revision, action, presses, fewest })
            if (of, *ply, *revision) == (&room.id, board.ply, room.revision) =>
        {
            (Some(action), presses.as_slice(), *fewest)
        }
        Some(HintState::Asked { room: of, presses, .. }) if *of == room.id => {
            (None, presses.as_slice(), false)
        }
        _ => (None, &[][..], false),
    };
    if presses.is_empty() {
        page.set_solution(-1);
    } else {
        page.set_solution(presses.iter().map(|byte| byte.count_ones()).sum::<u32>() as i32);
        page.set_solution_fewest(fewest);
        for (index, point) in points.iter_mut().enumerate() {
            let (column, row) = layout.place(index);
            point.hint = is_set(presses, board, column, row);
        }
        return None;
    }
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

/// Letters and numbers at the edges of a board: under it, above it, and at its left.
#[derive(Default)]
pub(super) struct Names {
    pub(super) below: Vec<SharedString>,
    pub(super) above: Vec<SharedString>,
    pub(super) left: Vec<SharedString>,
}

pub(super) fn names(kind: wire::Game, layout: &Layout) -> Names {
    match kind {
        // A lamp is touched, not talked about.
        wire::Game::LightsOut => Names::default(),
        wire::Game::Xiangqi => Names {
            below: game::file_names(layout.turned).into_iter().map(Into::into).collect(),
            above: game::file_names(!layout.turned).into_iter().rev().map(Into::into).collect(),
            left: Vec::new(),
        },
        _ => {
            let mut below: Vec<SharedString> =
                (0..layout.columns).map(|column| game::column_name(kind, column).into()).collect();
            let mut left: Vec<SharedString> =
                (0..layout.rows).rev().map(|row| game::row_name(kind, row).into()).collect();
            if layout.turned {
                below.reverse();
                left.reverse();
            }
            Names { below, above: Vec::new(), left }
        }
    }
}

fn seat_of(inner: &Inner, room: &Room, board: &control::Board, of: wire::Side) -> Seat {
    let seat: Option<&WireSeat> =
        if of == wire::Side::Second { room.second.as_ref() } else { room.first.as_ref() };
    let clock = room.clocks.get(usize::from(of == wire::Side::Second));
    let said = inner.said_by(room, room.mine.contains(&(of as i32)));
    let (who, level) = match seat.and_then(|seat| seat.who.as_ref()) {
        Some(seat::Who::BotLevel(level)) => (Opponent::Bot, *level as i32),
        Some(seat::Who::Peer(_)) => (Opponent::Peer, 0),
        Some(seat::Who::Here(_)) | None => (Opponent::Here, 0),
    };
    Seat {
        who,
        level,
        name: seat.map(|seat| seat.name.as_str()).unwrap_or_default().into(),
        side: side(of),
        colour: side(if is_swapped(board) { other(of) } else { of }),
        to_move: room.result.is_none() && room.race.is_none() && board.turn() == of,
        mine: room.mine.contains(&(of as i32)),
        in_hand: fact(board, FactKind::FactInHand, of).unwrap_or(0) as i32,
        taken: fact(board, FactKind::FactTaken, of).unwrap_or(0) as i32,
        half_points: fact(board, FactKind::FactHalfPoints, of).map_or(-1, |points| points as i32),
        agreed: fact(board, FactKind::FactAgreed, of).is_some(),
        said: said.map(|said| said.text.as_str()).unwrap_or_default().into(),
        phrase: said.map_or(0, |said| said.phrase),
        // A second that has begun counts whole, so that 0:00 is the end.
        clock: clock.map_or(-1, |clock| clock.left_ms.div_ceil(1_000) as i32),
        clock_runs: clock.is_some_and(|clock| clock.running),
        periods: clock.filter(|clock| clock.byo_yomi).map_or(0, |clock| clock.periods as i32),
    }
}

pub(super) fn ending(ending: wire::Ending) -> Ending {
    match ending {
        wire::Ending::FiveInARow => Ending::FiveInARow,
        wire::Ending::BoardFull => Ending::BoardFull,
        wire::Ending::TooFewStones => Ending::TooFewStones,
        wire::Ending::NoMoves => Ending::NoMoves,
        wire::Ending::Repetition => Ending::Repetition,
        wire::Ending::TooLong => Ending::TooLong,
        wire::Ending::Checkmate => Ending::Checkmate,
        wire::Ending::PerpetualCheck => Ending::PerpetualCheck,
        wire::Ending::PerpetualChase => Ending::PerpetualChase,
        wire::Ending::BareMaterial => Ending::BareMaterial,
        wire::Ending::Score => Ending::Score,
        wire::Ending::AllOut => Ending::AllOut,
        wire::Ending::Faster => Ending::Faster,
        wire::Ending::FewerPresses => Ending::FewerPresses,
        wire::Ending::ForbiddenOverline => Ending::Overline,
        wire::Ending::ForbiddenDoubleFour => Ending::DoubleFour,
        wire::Ending::ForbiddenDoubleThree => Ending::DoubleThree,
        wire::Ending::Resigned => Ending::Resigned,
        wire::Ending::DrawAgreed => Ending::DrawAgreed,
        wire::Ending::Time => Ending::Time,
        wire::Ending::Abandoned => Ending::Abandoned,
        wire::Ending::Unspecified => Ending::Other,
    }
}

fn show_link(page: &BoardAdapter<'_>, room: &Room) {
    let link = room.link.as_ref();
    page.set_link(match link.map(control::LinkState::state) {
        None | Some(PeerLink::Unspecified) => Link::None,
        Some(PeerLink::Up) => Link::Up,
        Some(PeerLink::Weak) => Link::Weak,
        Some(PeerLink::Lost) => Link::Lost,
        Some(PeerLink::Left) => Link::Left,
    });
    page.set_carrier(carrier(link.map(control::LinkState::carrier).unwrap_or_default()));
    if let Some(link) = link {
        page.set_away_seconds((link.away_ms / 1_000) as i32);
    }
}

fn thought(thinking: &Thinking, chinese: bool) -> Thought {
    let (points, win_in, loss_in) = match thinking.score.as_ref().and_then(|score| score.score.as_ref()) {
        Some(score::Score::Points(points)) => (*points, 0, 0),
        Some(score::Score::WinIn(plies)) => (0, plies.div_ceil(2) as i32, 0),
        Some(score::Score::LossIn(plies)) => (0, 0, plies.div_ceil(2) as i32),
        None => (0, 0, 0),
    };
    Thought {
        on: thinking.on,
        depth: thinking.depth as i32,
        tenths: (thinking.elapsed_ms / 100) as i32,
        nodes: short(thinking.nodes).into(),
        points,
        win_in,
        loss_in,
        line: if thinking.spoken.is_empty() {
            thinking.line.join(" ")
        } else {
            let said: Vec<&str> =
                thinking.spoken.iter().map(|words| new_game::said(Some(words), chinese)).collect();
            said.join(" ")
        }
        .into(),
        known: thinking.depth > 0,
    }
}

/// 1234567 as 1.2M, which every language reads.
fn short(number: u64) -> String {
    let tenths = |unit: u64, sign: char| format!("{}.{}{sign}", number / unit, number % unit * 10 / unit);
    match number {
        0..10_000 => number.to_string(),
        10_000..1_000_000 => tenths(1_000, 'k'),
        _ => tenths(1_000_000, 'M'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_short() {
        assert_eq!([0, 9_999, 10_049, 1_254_567].map(short), ["0", "9999", "10.0k", "1.2M"]);
    }
}
