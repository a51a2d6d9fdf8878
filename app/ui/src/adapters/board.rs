//! The match on the board page.

use std::rc::Rc;

use proto::board::{self as wire, Action, action};
use proto::control::{
    self, MarkKind, OfferKind as WireOffer, PeerLink, Room, Seat as WireSeat, Thinking, request, score, seat,
};
use slint::{ComponentHandle, ModelRc, SharedString, VecModel};

use super::{rules, side, update, when};
use crate::app::{Desk, HintState, Inner, Purpose};
use crate::screens::{
    BoardAdapter, Carrier, Dialog, Ending, Link, MainWindow, OfferKind, Opponent, PointView, Seat, Side,
    Thought,
};

/// A point on the wire is `row * 1024 + column`, the row from the bottom.
const ROW_STEP: u32 = 1_024;

/// Rows of the models that the page draws from. They live as long as the app: only what differs is changed.
#[derive(Default)]
pub(crate) struct Rows {
    points: Rc<VecModel<PointView>>,
    columns: Rc<VecModel<SharedString>>,
    numbers: Rc<VecModel<SharedString>>,
    record: Rc<VecModel<SharedString>>,
}

pub(super) fn attach(window: &MainWindow, desk: &Rc<Desk>) {
    let page = window.global::<BoardAdapter>();
    page.set_points(ModelRc::from(desk.board.points.clone()));
    page.set_column_names(ModelRc::from(desk.board.columns.clone()));
    page.set_row_names(ModelRc::from(desk.board.numbers.clone()));
    page.set_record(ModelRc::from(desk.board.record.clone()));
    page.on_touch(when!(desk, |desk, index| touch(&desk, index)));
    page.on_take_back(when!(desk, |desk| offer(&desk, WireOffer::OfferTakeBack)));
    page.on_offer_draw(when!(desk, |desk| offer(&desk, WireOffer::OfferDraw)));
    page.on_new_game(when!(desk, |desk| new_game(&desk)));
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

/// A touched point is put before the host as it is; the rules are the host's.
fn touch(desk: &Desk, index: i32) {
    let act = {
        let inner = desk.see();
        let Some(room) = &inner.room else { return };
        let Some(board) = &room.board else { return };
        let Ok(index) = u32::try_from(index) else { return };
        let (row, column) = (index / board.columns.max(1), index % board.columns.max(1));
        let Some(row) = board.rows.checked_sub(1 + row) else { return };
        let place = Action { kind: Some(action::Kind::Place(row * ROW_STEP + column)) };
        control::Act { room_id: room.id.clone(), action: Some(place), notation: String::new() }
    };
    desk.ask(request::Body::Act(act), Purpose::Nothing);
}

fn offer(desk: &Desk, kind: WireOffer) {
    if let Some(room_id) = room_id(desk) {
        desk.ask(request::Body::Offer(control::Offer { room_id, kind: kind.into() }), Purpose::Nothing);
    }
}

/// An unfinished game is only left for a new one after a question.
fn new_game(desk: &Desk) {
    let begun = desk.see().room.as_ref().is_some_and(|room| {
        // Between two devices the other person is asked, which is question enough.
        room.result.is_none() && room.link.is_none() && room.board.as_ref().is_some_and(|board| board.ply > 0)
    });
    if begun {
        desk.open(Dialog::ConfirmNewGame);
    } else {
        desk.open(Dialog::None);
        offer(desk, WireOffer::OfferNewGame);
    }
}

fn hint(desk: &Desk) {
    let asked = {
        let inner = desk.see();
        let Some(room) = &inner.room else { return };
        let ply = room.board.as_ref().map_or(0, |board| board.ply);
        (room.id.clone(), ply, room.revision)
    };
    let (room, ply, revision) = asked;
    desk.ask(
        request::Body::Hint(control::Hint { room_id: room.clone() }),
        Purpose::Hint { room: room.clone(), ply, revision },
    );
    desk.change(|inner| inner.hint = Some(HintState::Asked { room, ply }));
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
pub(crate) fn point_of(action: &Action) -> Option<u32> {
    match action.kind.as_ref()? {
        action::Kind::Place(at) | action::Kind::Capture(at) => Some(*at),
        action::Kind::Step(step) => Some(step.to),
        _ => None,
    }
}

pub(super) fn show(window: &MainWindow, desk: &Desk) {
    let inner = desk.see();
    let Some(room) = &inner.room else { return };
    let page = window.global::<BoardAdapter>();
    let board = room.board.clone().unwrap_or_default();
    let playing = rules(room.setup.as_ref());
    page.set_game(playing.game);
    page.set_standard(playing.standard);
    page.set_edge_five_wins(playing.edge_five_wins);
    page.set_coordinates(inner.preferences.coordinates);
    page.set_ply(board.ply as i32);
    show_points(&page, desk, &inner, room, &board);

    let me = match room.mine[..] {
        [only] => wire::Side::try_from(only).unwrap_or_default(),
        _ => wire::Side::Unspecified,
    };
    let near = if me == wire::Side::Second { wire::Side::Second } else { wire::Side::First };
    let far = if near == wire::Side::First { wire::Side::Second } else { wire::Side::First };
    page.set_mine(seat_of(room, &board, near));
    page.set_theirs(seat_of(room, &board, far));
    page.set_me(side(me));
    page.set_live(room.can_act);
    page.set_next_stone(if room.can_act { board.turn } else { 0 });
    page.set_thought(inner.state.thinking.get(&room.id).map(thought).unwrap_or_default());
    page.set_thought_open(inner.thought_open);

    let result = room.result.as_ref();
    page.set_over(result.is_some());
    page.set_winner(result.map_or(Side::None, |result| side(result.winner())));
    page.set_ending(result.map_or(Ending::None, |result| ending(result.ending())));

    show_link(&page, room);
    let offer = room.offer.as_ref();
    page.set_offer(match offer.map(control::PendingOffer::kind) {
        Some(WireOffer::OfferTakeBack) => OfferKind::TakeBack,
        Some(WireOffer::OfferDraw) => OfferKind::Draw,
        Some(WireOffer::OfferNewGame) => OfferKind::NewGame,
        Some(WireOffer::OfferUnspecified) | None => OfferKind::None,
    });
    page.set_offer_mine(offer.is_some_and(|offer| offer.mine));
    page.set_can_take_back(room.can_take_back);
    page.set_can_draw(room.can_offer_draw);
    page.set_can_resign(room.can_resign);
    page.set_can_new_game(room.can_new_game);
    page.set_can_hint(room.can_act);
    page.set_hint_pending(matches!(&inner.hint, Some(HintState::Asked { room: of, ply }) if *of == room.id && *ply == board.ply));

    let pairs: Vec<SharedString> = room
        .record
        .chunks(2)
        .enumerate()
        .map(|(index, pair)| format!("{}. {}", index + 1, pair.join(" ")).into())
        .collect();
    update(&desk.board.record, &pairs);
}

fn show_points(page: &BoardAdapter<'_>, desk: &Desk, inner: &Inner, room: &Room, board: &control::Board) {
    let (columns, rows) = (board.columns as usize, board.rows as usize);
    let names: Vec<SharedString> = (0..columns).map(|column| column_name(column).into()).collect();
    update(&desk.board.columns, &names);
    let numbers: Vec<SharedString> = (0..rows).rev().map(|row| (row + 1).to_string().into()).collect();
    update(&desk.board.numbers, &numbers);

    let mut points: Vec<PointView> = (0..rows)
        .rev()
        .flat_map(|row| (0..columns).map(move |column| (row, column)))
        .map(|(row, column)| PointView {
            name: format!("{}{}", column_name(column), row + 1).into(),
            ..Default::default()
        })
        .collect();
    let mut mark = |at: u32, set: &dyn Fn(&mut PointView)| {
        let (row, column) = ((at / ROW_STEP) as usize, (at % ROW_STEP) as usize);
        if row < rows && column < columns {
            set(&mut points[(rows - 1 - row) * columns + column]);
        }
    };
    for piece in &board.pieces {
        mark(piece.at, &|point| point.stone = piece.side);
    }
    for one in board.marks.iter().filter(|one| one.kind() == MarkKind::MarkWinning) {
        mark(one.at, &|point| point.winning = true);
    }
    if let Some(last) = board.last.as_ref().and_then(point_of) {
        mark(last, &|point| point.last = true);
    }
    if let Some(HintState::Found { room: of, ply, revision, at }) = &inner.hint
        && (of, *ply, *revision) == (&room.id, board.ply, room.revision)
    {
        mark(*at, &|point| point.hint = true);
    }
    update(&desk.board.points, &points);
    // After the rows, so that no point is laid out by another board's columns.
    page.set_columns(board.columns.max(1) as i32);
    page.set_rows(board.rows.max(1) as i32);
}

/// a, b, … z, aa: gomoku's custom, in capitals as printed boards have them.
fn column_name(column: usize) -> String {
    let mut name = String::new();
    let mut rest = column + 1;
    while rest > 0 {
        name.insert(0, char::from(b'A' + ((rest - 1) % 26) as u8));
        rest = (rest - 1) / 26;
    }
    name
}

fn seat_of(room: &Room, board: &control::Board, of: wire::Side) -> Seat {
    let seat: Option<&WireSeat> =
        if of == wire::Side::Second { room.second.as_ref() } else { room.first.as_ref() };
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
        to_move: room.result.is_none() && board.turn() == of,
        mine: room.mine.contains(&(of as i32)),
    }
}

fn ending(ending: wire::Ending) -> Ending {
    match ending {
        wire::Ending::FiveInARow => Ending::FiveInARow,
        wire::Ending::BoardFull => Ending::BoardFull,
        wire::Ending::Resigned => Ending::Resigned,
        wire::Ending::DrawAgreed => Ending::DrawAgreed,
        wire::Ending::Time => Ending::Time,
        wire::Ending::Abandoned => Ending::Abandoned,
        _ => Ending::Other,
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
    page.set_carrier(match link.map(control::LinkState::carrier) {
        Some(control::Carrier::Bluetooth) => Carrier::Bluetooth,
        Some(control::Carrier::Lan) => Carrier::Lan,
        Some(control::Carrier::Online) => Carrier::Online,
        Some(control::Carrier::Memory) => Carrier::Memory,
        _ => Carrier::None,
    });
    if let Some(link) = link {
        page.set_away_seconds((link.away_ms / 1_000) as i32);
    }
}

fn thought(thinking: &Thinking) -> Thought {
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
        line: thinking.line.join(" ").into(),
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
    fn columns_are_named_as_on_printed_boards() {
        assert_eq!([0, 8, 14, 25, 26].map(column_name), ["A", "I", "O", "Z", "AA"]);
    }

    #[test]
    fn large_numbers_are_short() {
        assert_eq!([0, 9_999, 10_049, 1_254_567].map(short), ["0", "9999", "10.0k", "1.2M"]);
    }
}
