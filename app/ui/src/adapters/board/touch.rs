//! What a touch on a point means by what the host has said of the position: an action, a piece that is picked or put down, or
//! a question first. Whether the action is legal the host says.

use proto::board::{self as wire, Action, action};
use proto::control::{self, MarkKind, Room};

use super::layout::Layout;
use super::{act, is_agreeing};
use crate::app::{Desk, Inner, Losing, Picked};
use crate::preferences::Confirm;
use crate::screens::{Dialog, Remark};

/// What a touch comes to.
pub(crate) enum Touch {
    Act(action::Kind),
    Pick(u32),
    PutDown,
    /// There are steps to choose from, but no piece was picked to make one with.
    PickFirst,
    /// An action that would lose at once, and why where that is not the repetition of a position.
    Warn(action::Kind, Option<control::Words>),
}

/// A finger on points that may be smaller than it: a stone there may have to be confirmed first.
pub(super) fn aim(desk: &Desk, index: i32, small: bool) {
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
pub(super) fn waiting(inner: &Inner, room: &Room, board: &control::Board) -> Option<u32> {
    let waiting = inner.waiting.as_ref()?;
    let same = (&waiting.room, waiting.ply, waiting.revision) == (&room.id, board.ply, room.revision);
    (same && room.can_act).then_some(waiting.at)
}

/// A stone on this point, unless it loses at once: then it is asked first.
pub(super) fn act_or_warn(desk: &Desk, at: u32) {
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

pub(super) fn touch(desk: &Desk, index: i32) {
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
pub(crate) fn meaning(board: &control::Board, picked: Option<u32>, at: u32) -> Touch {
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

/// The picked piece, as long as the position is the one in which it was picked.
pub(super) fn picked(inner: &Inner, room: &Room, board: &control::Board) -> Option<u32> {
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
